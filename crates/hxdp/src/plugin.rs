//! The conformance plug-in of `sluice-ebpf`, on bundles, and as rows of the engine in hardware.

mod called;

pub use called::{Called, called};

use crate::compile::compile_unanalysed;
use crate::{CompileError, Cores, Target};
use sluice_ebpf::plugin::{self, Request};
use sluice_ebpf::vm::{Installed, Machine};
use sluice_ebpf::{Image, Runtime};

/// Runs a request on bundles with so many lanes. Gives r0.
pub fn run(lanes: usize, request: &Request, input: &str, debug: &mut String) -> Result<u64, String> {
    let target = Target::new(lanes).map_err(|e| e.to_string())?;
    let make = |image: &Image, runtime: &Runtime, installed: Installed| -> Result<Box<dyn Machine>, String> {
        let mut cores = Cores::new();
        if request.xdp {
            cores.add(image, &target, runtime, installed).map_err(failure)?;
        } else {
            // r1 is the memory then, which the analysis takes for the context.
            let bundles = compile_unanalysed(image, &image.programs[0], &target).map_err(failure)?.bundles;
            cores.bind(bundles, 0, runtime, installed);
        }
        Ok(Box::new(cores))
    };
    plugin::run_on(Some(&make), request, input, debug)
}

fn failure(error: CompileError) -> String {
    format!("[{}] {error}", error.code())
}
