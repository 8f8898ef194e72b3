//! The probe: an engine that tests of the seam have, and no device that is sold (docs/decisions/engine-seam.md).
//!
//! It counts the bytes of a module, drops what comes above a limit, and holds every eighth packet that it lets through.

use crate::address::{Table, counter, nodes, row, tables};
use crate::engine::{EngineId, Folder};
use crate::reason::events;
use crate::row::{row, rows};
use crate::svgen::Package;

impl EngineId {
    /// Counts bytes, drops above a limit, holds packets.
    pub const PROBE: EngineId = EngineId::new(3);
}

nodes! { Some(EngineId::PROBE);
    /// The probe, on tops that have one.
    Probe "probe" = 7;
}

row! {
    /// Limit of a module. Index: 2 * module + generation.
    #[derive(Copy, Hash)]
    ProbeLimitRow, "probe_limit_row" {
        /// Most bytes that are let through, from reset on; 0 is no limit.
        bytes: u32 = 32,
    }
}

tables! { Some(EngineId::PROBE);
    Probe {
        /// `ProbeLimitRow` by 2 * module + generation.
        ProbeLimit "probe_limit" = 0: row::<ProbeLimitRow>(), |t| 2 * t.modules, "`probe_limit_row`";
        /// Bytes let through, by module.
        LetThrough "let_through" = 1: counter(), |t| t.modules, "bytes let through, by module";
        /// Drops and copies of the probe by module * 16 + kind.
        ProbeEvents "probe_events" = 2: counter(), |t| t.modules * 16, "drops and copies, by module * 16 + kind";
    }
}

events! { EVENTS: Table::ProbeEvents, 60, 16;
    /// Above the module's limit of bytes.
    ProbeLimit "probe_limit" = 0, drop, "above the module's limit of bytes";
    /// Copies beyond the first; no drop.
    ProbeCopies "copies" = 15, count, "copies beyond the first";
}

/// The folder in the registry.
pub(crate) static FOLDER: Folder = Folder {
    engine: Some(EngineId::PROBE),
    name: "probe",
    title: "probe",
    prefix: "Probe",
    everywhere: false,
    nodes: NODES,
    tables: TABLES,
    events: &[EVENTS],
    rows: rows![ProbeLimitRow],
    codes: &[],
    generated: || vec![("tb/probe/gen/sluice_probe_rows_pkg.sv", package())],
};

/// The package as text.
fn package() -> String {
    let mut p = Package::new("sluice_probe_rows_pkg", "Rows and tables of the probe, an engine for tests of the seam.");
    p.rows(FOLDER.rows);
    let kinds: Vec<_> = EVENTS.all.iter().map(|e| (e.name, e.kind)).collect();
    p.enumeration("Kinds of the event counters.", "probe_event", 4, "ProbeEvent", &kinds);
    p.constant("FirstProbeReason", EVENTS.first.into());
    p.constant("EngineProbe", EngineId::PROBE.bit());
    p.address_map(&[&FOLDER], "");
    p.finish()
}
