//! From a validated program to bundles.

use crate::pass::liveness::Liveness;
use crate::pass::{self, Code};
use crate::{Bundles, CompileError, Target, verify};
use sluice_ebpf::analysis::{self, Regions, Summary};
use sluice_ebpf::validate::{Options, validate_program};
use sluice_ebpf::{Image, Program};
use std::collections::BTreeMap;

/// A compiled program, and what it was made of.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Rows.
    pub bundles: Bundles,
    /// eBPF instructions of the program; a 64-bit load is one.
    pub instructions: usize,
}

/// Compiles one program of an image for a core.
pub fn compile(image: &Image, program: &Program, target: &Target) -> Result<Compiled, CompileError> {
    validate_program(program, &image.maps, Options { unreachable: true })?;
    finish(optimized(image, program), program, target)
}

/// The same for a program that begins with other registers than r1 = context: nothing is known of any.
pub fn compile_unanalysed(image: &Image, program: &Program, target: &Target) -> Result<Compiled, CompileError> {
    validate_program(program, &image.maps, Options { unreachable: true })?;
    let nothing = Regions {
        program: program.name.clone(),
        slots: Vec::new(),
        complete: false,
        joined_calls: false,
        steps: 0,
        summary: Summary::default(),
    };
    finish(passes(program, nothing), program, target)
}

fn finish(code: Code, program: &Program, target: &Target) -> Result<Compiled, CompileError> {
    let bundles = schedule(&code, target)?;
    Ok(Compiled { bundles, instructions: program.instructions().count() })
}

/// The traces that are scheduled, after all passes before that.
pub fn optimized(image: &Image, program: &Program) -> Code {
    passes(program, analysis::analyze(image, program))
}

fn passes(program: &Program, regions: Regions) -> Code {
    let mut steps = pass::decode::decode(program);
    pass::decided::decided(&mut steps, &regions);
    let mut code = pass::traces::traces(program, &steps, regions);
    pass::copies::copies(&mut code);
    pass::exits::exits(&mut code);
    pass::zeroing::zeroing(&mut code);
    pass::dead::dead(&mut code);
    pass::join::join(&mut code);
    pass::quiet::quiet(&mut code);
    pass::traces::shorten(&mut code);
    code.prune();
    code
}

/// Bundles of traces, verified.
pub fn schedule(code: &Code, target: &Target) -> Result<Bundles, CompileError> {
    let live = Liveness::of(code);
    let schedules: BTreeMap<_, _> = code
        .traces
        .iter()
        .map(|(label, trace)| {
            let edges = pass::dependence::dependences(trace, &code.regions, &live);
            (*label, pass::schedule::schedule(&trace.steps, &edges, target))
        })
        .collect();
    let (bundles, starts) = pass::layout::layout(code, &schedules, *target)?;
    verify::verify(code, &bundles, &starts)
        .map_err(|broken| CompileError::Broken { program: code.program.clone(), what: broken.to_string() })?;
    Ok(bundles)
}
