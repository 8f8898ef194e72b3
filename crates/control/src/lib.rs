//! What drives a device without being one: `nic.toml` with its bring-up, and packet scripts.
//!
//! Both read programs through the front ends and load them through the linker, on any device.

pub mod config;
pub mod scripts;

pub use config::{NicConfig, bring_up};

use sluice_device::Capabilities;
use sluice_formats::{EngineId, Target};
use sluice_object::Linker;

/// The linker for a device after reset. One with an XDP engine in hardware is given the compiler for its cores; others take
/// XDP programs as they are, or refuse them.
pub fn linker(target: &'static Target, device: &Capabilities) -> Linker {
    let compile = device.xdp_in_hardware.then_some(sluice_hxdp::rows::compiler as _);
    if compile.is_none() && device.engines.contains(&EngineId::RMT) {
        return Linker::new(target);
    }
    Linker::of(target, &device.engines, compile)
}
