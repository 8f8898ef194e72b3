//! Where no machine code is made: everything is interpreted.

use crate::{Refused, Unsupported};
use sluice_ebpf::vm::{Cpu, Installed, Machine};
use sluice_ebpf::{FaultReason, Image, Runtime};

/// Interprets.
#[derive(Clone, Debug, Default)]
pub struct Jit;

impl Jit {
    /// Without programs.
    pub fn new() -> Self {
        Self
    }

    /// Refuses every program of an image.
    pub fn compile(&mut self, _: &Runtime, image: &Image, _: Installed) -> Vec<Refused> {
        let refused = |name: &String| Refused { program: name.clone(), why: Unsupported::Machine };
        image.programs.iter().map(|program| refused(&program.name)).collect()
    }

    /// Forgets what was compiled of an image.
    pub fn forget(&mut self, _: &Runtime) {}

    /// Bytes of machine code of a program; none here.
    pub fn code_bytes(&self, _: u32) -> Option<usize> {
        None
    }
}

impl Machine for Jit {
    fn execute(&self, cpu: &mut Cpu<'_>, slot: u32) -> Result<(), FaultReason> {
        cpu.interpret(slot)
    }
}
