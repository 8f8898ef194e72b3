//! The probe: an engine for tests of the seam between engines (docs/decisions/engine-seam.md).
//!
//! It counts the bytes of a module, drops what comes above a limit, and holds every eighth packet that it lets through.
//! Its rows, its part of an object and its place in the linker are folders `probe` of `sluice-formats` and
//! `sluice-object`, with their feature of that name; its RTL is `tb/probe/rtl`.

mod model;

pub use model::Probe;

use sluice_formats::EngineId;
use sluice_nic::engines::{self, Model};
use sluice_rtlsim::Top;

/// The probe's model.
pub static PROBE: Model = Model { id: EngineId::PROBE, new: |target| Box::new(Probe::new(target)), behind: false };

/// The pipeline and the probe behind it, `sluice_probe_top`.
pub static TOP: Top = Top {
    prefix: "probe_",
    engines: &[&engines::RMT, &PROBE],
    is_nic: false,
    tells_steps: false,
    tells_decisions: false,
    shortest_frame: sluice_formats::limits::MIN_FRAME_BYTES,
};
