//! `.rmt` files on their way to a pipeline.

use sluice_formats::rmt::target::Target;
use sluice_object::linker::rmt::Quota;
use sluice_object::rmt::RmtPart;
use sluice_packet::bounded;
use sluice_rmt::text::{self, Unit};
use sluice_rmt::{Program, Role};
use std::path::Path;
use std::sync::Arc;

/// A module's file, read and encoded.
#[derive(Clone, Debug)]
pub struct ModuleFile {
    /// What it says.
    pub unit: Unit,
    /// Its rows.
    pub part: Arc<RmtPart>,
}

/// Why a file is no module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ModuleError {
    /// Code for `sluice explain`.
    pub code: &'static str,
    /// Errors with their places.
    pub what: String,
}

impl ModuleFile {
    /// Reads a file for a target.
    pub fn read(path: &Path, target: &Target) -> Result<Self, ModuleError> {
        let shown = path.display().to_string();
        let unreadable = |what: String| ModuleError { code: "E0501", what: format!("{shown}: cannot be read: {what}") };
        let bytes = bounded::read(path, bounded::MOST_TEXT).map_err(|e| unreadable(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|e| unreadable(e.utf8_error().to_string()))?;
        let unit =
            text::read(&shown, &text, target).map_err(|e| ModuleError { code: e.code(), what: e.to_string() })?;
        Self::of(unit, target).map_err(|what| ModuleError { code: "E0650", what: format!("{shown}: {what}") })
    }

    /// A unit with its rows.
    pub fn of(unit: Unit, target: &Target) -> Result<Self, String> {
        let part = unit.part(target).map_err(|e| e.to_string())?;
        Ok(Self { unit, part: Arc::new(part) })
    }

    /// Its module's number: 0 for a system module, `next` for others.
    pub fn module(&self, next: &mut u8) -> u8 {
        if self.unit.role == Role::System {
            return 0;
        }
        *next += 1;
        *next - 1
    }

    /// What it runs.
    pub fn program(&self) -> &Program {
        &self.unit.program
    }

    /// Destinations that it demands; all where it demands none.
    pub fn destinations(&self, target: &Target) -> u8 {
        let nic = target.nic();
        let queues = self.unit.demands.queues.keys().filter_map(|d| d.number(nic));
        match queues.fold(0, |mask, bit| mask | 1 << bit) {
            0 => 0xff,
            mask => mask,
        }
    }

    /// Room for it, and for one like it in its place.
    pub fn quota(&self, target: &Target) -> Quota {
        Quota::of(&self.part, self.destinations(target))
    }
}
