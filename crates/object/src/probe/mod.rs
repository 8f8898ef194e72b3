//! The probe's part of an object: a limit, beside a table or another engine's program.

use crate::bytes::{Reader, Writer};
use crate::error::ObjectError;
use crate::object::Object;
use crate::part::Part;
use serde::{Deserialize, Serialize};
use sluice_formats::EngineId;
use std::fmt::{self, Write};

/// What the probe does for a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbePart {
    /// Most bytes that it lets through; 0 is no limit.
    pub limit: u32,
}

impl Part for ProbePart {
    const ENGINE: EngineId = EngineId::PROBE;
    const SECTION: u32 = 11;

    fn check_in(&self, _: &Object) -> Result<(), ObjectError> {
        Ok(())
    }

    fn write(&self, w: &mut Writer) {
        w.u32(self.limit);
    }

    fn read(r: &mut Reader) -> Result<Self, ObjectError> {
        Ok(Self { limit: r.u32("probe.limit")? })
    }

    fn show(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "{:<9} {} bytes", "limit", self.limit)
    }
}
