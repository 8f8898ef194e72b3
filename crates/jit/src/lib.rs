//! XDP programs compiled to the machine code of x86-64.
//!
//! In goes a [`Runtime`](sluice_ebpf::Runtime) with an image installed, out comes a [`Jit`]: a
//! [`Machine`](sluice_ebpf::vm::Machine) that carries the image's programs out as the interpreter would, several times faster.
//! The interpreter stays the specification: what cannot be compiled is refused by name and interpreted, and each access that no
//! proof covers goes through the interpreter's own checks. The decision is docs/decisions/jit.md.
//!
//! ```
//! use sluice_ebpf::insn::assemble;
//! use sluice_ebpf::vm::Ingress;
//! use sluice_ebpf::{Image, Packet, Runtime, Verdict};
//!
//! let image = Image { programs: vec![assemble("drop", "r0 = 1\nexit", &[])?], ..Image::default() };
//! let mut runtime = Runtime::new(1, 1);
//! let installed = runtime.install(&image, &|_| None)?;
//! let mut jit = sluice_jit::Jit::new();
//! let refused = jit.compile(&runtime, &image, installed);
//! assert_eq!(refused.is_empty(), sluice_jit::AVAILABLE);
//! let outcome = runtime.run_on(&jit, installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
//! assert_eq!(outcome.verdict, Verdict::Drop);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod unsupported;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod bind;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod code;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod compile;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod elsewhere;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod flow;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod machine;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod native;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub use elsewhere::Jit;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use machine::Jit;
pub use unsupported::{Refused, Unsupported};

use sluice_ebpf::vm::{Executor, Installed};
use sluice_ebpf::{Image, Runtime};

/// Makes a [`Jit`] for an engine: `XdpEngine::new(target).executed_by(sluice_jit::executor)`.
pub fn executor() -> Box<dyn Executor> {
    Box::new(Jit::new())
}

impl Executor for Jit {
    fn install(&mut self, runtime: &Runtime, image: &Image, installed: Installed) -> Vec<String> {
        self.compile(runtime, image, installed).iter().map(ToString::to_string).collect()
    }

    fn forget(&mut self, runtime: &Runtime) {
        Self::forget(self, runtime);
    }
}

/// Whether programs are compiled on this machine at all; elsewhere a [`Jit`] interprets.
pub const AVAILABLE: bool = cfg!(all(target_arch = "x86_64", target_os = "linux"));
