//! `--jit`: programs as machine code in the place of the interpreter.

use crate::printable;
use clap::ValueEnum;
use sluice_ebpf::vm::Installed;
use sluice_ebpf::{Image, Runtime};
use sluice_jit::{AVAILABLE, Jit};

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// As machine code, where this machine has some (x86-64 under Linux); else interpreted
    On,
    /// Interpreted
    Off,
}

impl Switch {
    /// An image's programs as machine code, if that is asked for and there is any. A program that stays the interpreter's is named on
    /// standard error.
    pub fn compile(self, runtime: &Runtime, image: &Image, installed: Installed) -> Option<Jit> {
        if self == Self::Off || !AVAILABLE {
            return None;
        }
        let mut jit = Jit::new();
        for refused in jit.compile(runtime, image, installed) {
            printable::tell(format_args!("note: {}", printable::message(&refused.to_string())));
        }
        Some(jit)
    }
}
