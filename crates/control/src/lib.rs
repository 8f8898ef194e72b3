//! What drives a device without being one: `nic.toml` with its bring-up, and packet scripts.
//!
//! Both read programs through the front ends and load them through the linker, on any device.

pub mod config;
pub mod scripts;

pub use config::{NicConfig, bring_up};

use sluice_device::Capabilities;
use sluice_formats::{EngineId, Target};
use sluice_nic::engines;
use sluice_object::{Linker, XdpCompiler};

/// The linker for a NIC that is not there: with the engines that the file says, and l7 where a tenant has a part of it.
pub fn linker_of(config: &NicConfig) -> Linker {
    described(config, None)
}

/// The same of a NIC in hardware: with rows of its XDP engine.
pub fn hardware_linker_of(config: &NicConfig) -> Linker {
    described(config, Some(sluice_hxdp::rows::compiler))
}

fn described(config: &NicConfig, compile: Option<XdpCompiler>) -> Linker {
    let has_l7 = config.tenants.iter().any(|tenant| tenant.spec.l7.is_some());
    let engines = engines::ids(config.engines).filter(|engine| has_l7 || *engine != EngineId::L7);
    Linker::of(config.target, &engines.collect::<Vec<_>>(), compile).bounded_by(sluice_ebpf::tenant::growth)
}

/// The linker for a device after reset. One with an XDP engine in hardware is given the compiler for its cores; others take
/// XDP programs as they are. A program for an engine that the device does not have is refused.
pub fn linker(target: &'static Target, device: &Capabilities) -> Linker {
    let compile = device.xdp_in_hardware.then_some(sluice_hxdp::rows::compiler as _);
    Linker::of(target, &device.engines, compile).bounded_by(sluice_ebpf::tenant::growth)
}
