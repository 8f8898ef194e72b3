//! Why a program does not become bundles. Pages: docs/errors/E0801.md and on.

use sluice_ebpf::validate::Refusal;

/// What was found, what is allowed, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// No core has so many lanes.
    #[error("{found} lanes, allowed: 1, 2, 4")]
    Lanes {
        /// Found.
        found: usize,
    },
    /// The program does not fit into the instruction memory.
    #[error("program `{program}` takes {found} rows with {lanes} lanes, the core has {max}")]
    TooLong {
        /// The program.
        program: String,
        /// Its rows.
        found: usize,
        /// Of the target.
        lanes: usize,
        /// Most rows.
        max: usize,
    },
    /// A call that has no form in bundles: a kernel function, or what was not found at load.
    #[error("program `{program}`, instruction {slot}: {what} has no form in bundles, only helpers have")]
    Call {
        /// The program.
        program: String,
        /// Slot of the call.
        slot: u32,
        /// What it calls.
        what: String,
    },
    /// The compiler broke a rule of its own: a fault of ours.
    #[error("program `{program}`: the compiler made bundles that the verifier refuses: {what}")]
    Broken {
        /// The program.
        program: String,
        /// Row, lane and rule.
        what: String,
    },
    /// The program can never run.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl CompileError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Lanes { .. } => "E0801",
            Self::TooLong { .. } => "E0802",
            Self::Call { .. } => "E0805",
            Self::Broken { .. } => "E0803",
            Self::Refused(refusal) => refusal.code(),
        }
    }
}
