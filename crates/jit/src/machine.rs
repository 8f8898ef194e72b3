//! Compiled programs as a machine of the interpreter's.

use crate::bind::{self, Binding, Bound};
use crate::code::Code;
use crate::compile::compile;
use crate::{Refused, Unsupported, native};
use sluice_ebpf::analysis::{MAX_SLOTS, analyze};
use sluice_ebpf::vm::{Cpu, Installed, Machine};
use sluice_ebpf::{FaultReason, Image, Runtime, validate};
use std::sync::Arc;

/// A program that is ready.
#[derive(Clone, Debug)]
pub struct Program {
    /// Of the program in its runtime: no other one runs by this code.
    pub stamp: u64,
    /// Its code.
    pub code: Arc<Code>,
    /// Its maps.
    pub maps: Binding,
}

/// Programs as machine code. Whatever it does not have runs interpreted.
///
/// A clone shares the code and may run in another thread.
#[derive(Clone, Debug, Default)]
pub struct Jit {
    /// By the runtime's program number.
    programs: Vec<Option<Program>>,
}

impl Jit {
    /// Without programs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles the programs of an image that is installed; gives those that are refused, and run interpreted.
    pub fn compile(&mut self, runtime: &Runtime, image: &Image, installed: Installed) -> Vec<Refused> {
        self.compile_all(runtime, (image, installed), true)
    }

    /// The same without what the region analysis knows: every access is checked, and a program's own r1 to r5 are what they
    /// are on entry, not a context.
    pub fn compile_unanalysed(&mut self, runtime: &Runtime, image: &Image, installed: Installed) -> Vec<Refused> {
        self.compile_all(runtime, (image, installed), false)
    }

    fn compile_all(
        &mut self,
        runtime: &Runtime,
        (image, installed): (&Image, Installed),
        analysed: bool,
    ) -> Vec<Refused> {
        let maps = bind::maps(runtime, image, installed);
        let mut refused = Vec::new();
        for (index, program) in image.programs.iter().enumerate() {
            let compiled = maps.clone().and_then(|maps| self.add(runtime, (image, installed), index, (maps, analysed)));
            if let Err(why) = compiled {
                refused.push(Refused { program: program.name.clone(), why });
            }
        }
        refused
    }

    fn add(
        &mut self,
        runtime: &Runtime,
        (image, installed): (&Image, Installed),
        index: usize,
        (maps, analysed): (Vec<Bound>, bool),
    ) -> Result<(), Unsupported> {
        let number = runtime.program_number(installed, index).ok_or(Unsupported::NotInstalled)?;
        let program = &image.programs[index];
        validate::validate_program(program, &image.maps, validate::Options { unreachable: true })
            .map_err(|refusal| Unsupported::Invalid(refusal.to_string()))?;
        if program.insns.len() > MAX_SLOTS {
            return Err(Unsupported::Size { found: program.insns.len(), allowed: MAX_SLOTS });
        }
        let known = analysed.then(|| analyze(image, program).slots);
        let code = Arc::new(compile(program, known.as_deref(), &maps)?);
        let at = number as usize;
        if self.programs.len() <= at {
            self.programs.resize_with(at + 1, || None);
        }
        self.programs[at] = Some(Program { stamp: runtime.stamp(number), code, maps: Binding::new(maps) });
        Ok(())
    }

    /// Gives back the code of programs that a runtime does not have any more.
    pub fn forget(&mut self, runtime: &Runtime) {
        for (number, program) in (0..).zip(&mut self.programs) {
            if program.as_ref().is_some_and(|program| program.stamp != runtime.stamp(number)) {
                *program = None;
            }
        }
    }

    /// Bytes of machine code of the program with this number, if it is compiled.
    pub fn code_bytes(&self, number: u32) -> Option<usize> {
        self.programs.get(number as usize)?.as_ref().map(|program| program.code.bytes())
    }
}

impl Machine for Jit {
    #[inline]
    fn execute(&self, cpu: &mut Cpu<'_>, slot: u32) -> Result<(), FaultReason> {
        match self.programs.get(cpu.program() as usize) {
            Some(Some(program)) => native::run(program, cpu, slot, self),
            _ => cpu.interpret(slot),
        }
    }
}
