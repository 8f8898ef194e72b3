//! Why a running program was stopped. A fault is `XDP_ABORTED`, with its place and registers.

use crate::address::Region;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultReason {
    /// A load or store that no region allows.
    #[error("{access} of {bytes} bytes at {address:#x} is outside of what the {} region holds", .region.name())]
    Access {
        /// "load", "store", "atomic", or the helper's name.
        access: &'static str,
        /// Address.
        address: u64,
        /// Width.
        bytes: u32,
        /// Region of the address.
        region: Region,
    },
    /// A helper was given something it does not take.
    #[error("{helper}: argument {argument} is {value:#x}, expected {expected}")]
    Argument {
        /// Its name.
        helper: &'static str,
        /// Argument, from 1.
        argument: u8,
        /// Value found.
        value: u64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A helper this runtime does not have.
    #[error("helper {id} is not known")]
    UnknownHelper {
        /// Number.
        id: i32,
    },
    /// A call that stands for what a load did not find.
    #[error("what stood here was not found when the program was loaded: {what}")]
    NotFound {
        /// A weak kernel function, or a CO-RE relocation.
        what: &'static str,
    },
    /// Too many instructions: taken back edges and calls together are above the bound.
    #[error("more than {limit} taken back edges and calls")]
    Work {
        /// The bound.
        limit: u64,
    },
    /// Calls nested deeper than eight frames.
    #[error("calls are nested deeper than {limit} frames")]
    CallDepth {
        /// The bound.
        limit: u32,
    },
    /// A jump or call left the program (only unvalidated programs).
    #[error("instruction {0} does not exist")]
    NoInstruction(u64),
    /// An instruction that does not exist (only unvalidated programs).
    #[error("opcode {0:#04x} does not exist")]
    BadOpcode(u8),
    /// The program ended while it held a spin lock or a reserved record, or took a lock twice.
    #[error("{0}")]
    Protocol(&'static str),
}

/// A fault with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub reason: FaultReason,
    /// Program that ran then (after tail calls not the first).
    pub program: String,
    /// Instruction slot, from 0, of the program's `insns`.
    pub pc: u32,
    /// r0 to r10 before the instruction.
    pub registers: [u64; 11],
}
