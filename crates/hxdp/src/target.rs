//! The core that bundles are made for.

use crate::CompileError;

/// Parameters of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Target {
    /// Instructions of a bundle: 1, 2 or 4.
    pub lanes: usize,
    /// Loads, stores and atomics of a bundle.
    pub ports: usize,
    /// Most rows of a program.
    pub rows: usize,
}

/// Rows of the default instruction memory.
pub const ROWS: usize = 8192;

impl Target {
    /// The core with so many lanes: one memory port, two with four lanes.
    pub fn new(lanes: usize) -> Result<Self, CompileError> {
        match lanes {
            1 | 2 | 4 => Ok(Self { lanes, ports: lanes.div_ceil(2), rows: ROWS }),
            _ => Err(CompileError::Lanes { found: lanes }),
        }
    }
}
