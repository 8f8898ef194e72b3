//! The core that bundles are made for.

use crate::CompileError;
use sluice_object::xdp::XdpWarpRoom;
use sluice_object::xdp::warp::{RULES, STEPS};

/// Parameters of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Target {
    /// Instructions of a bundle: 1, 2 or 4.
    pub lanes: usize,
    /// Loads, stores and atomics of a bundle.
    pub ports: usize,
    /// Most rows of a program.
    pub rows: usize,
    /// Most rules of a program's table in the warp engine.
    pub rules: usize,
    /// Most steps of it.
    pub steps: usize,
}

/// Rows of the default instruction memory.
pub const ROWS: usize = 8192;

impl Target {
    /// The core with so many lanes: one memory port, two with four lanes.
    pub fn new(lanes: usize) -> Result<Self, CompileError> {
        match lanes {
            1 | 2 | 4 => Ok(Self { lanes, ports: lanes.div_ceil(2), rows: ROWS, rules: RULES, steps: STEPS }),
            _ => Err(CompileError::Lanes { found: lanes }),
        }
    }

    /// The same with a warp engine of this size.
    pub fn with_warp(self, room: XdpWarpRoom) -> Self {
        Self { rules: room.rules, steps: room.steps, ..self }
    }
}
