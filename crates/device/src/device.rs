//! The one trait of everything that behaves like a Sluice NIC (contract 3).
//!
//! A device is batched and asynchronous: packets are offered and operations submitted,
//! time is advanced by the caller, and what happened is polled. Outcomes of different
//! queues come in any order; those of one queue (destination, module) in queue order.
//! A load takes effect step by step somewhere between its submission and its `OpDone`.

use crate::counters::Counters;
use crate::error::DeviceError;
use crate::maps::Maps;
use crate::outcome::{Event, Offer, OpId};
use crate::rings::Rings;
use sluice_formats::address::Access;
use sluice_formats::{EngineId, Node, Table, Target};
use sluice_object::{Load, Step};
use std::collections::BTreeMap;

/// What a device is and can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// "model", "rtl", "mock".
    pub kind: &'static str,
    /// Resources.
    pub target: Target,
    /// Picoseconds a tick.
    pub tick_ps: u64,
    /// Outcomes carry cycle stamps that mean hardware cycles.
    pub has_cycles: bool,
    /// Engines that a packet meets, in their order.
    pub engines: Vec<EngineId>,
    /// Queues stand behind them, so that a destination can be blocked.
    pub queues: bool,
    /// Its XDP engine takes programs as rows, and has limits: the linker is [`sluice_object::Linker::of`] with a compiler.
    pub xdp_in_hardware: bool,
}

/// Configuration rows by address: node number, table number, index.
pub type Rows = BTreeMap<(u8, u8, u32), Vec<u32>>;

/// Longest frame an interface carries: giants up to here can be offered and are dropped.
pub const MAX_OFFER_BYTES: usize = 16_383;

/// Refuses a load that was placed for another format or target.
pub fn check_load(load: &Load, target: &Target) -> Result<(), DeviceError> {
    let (label, version) = (load.label.clone(), sluice_formats::limits::FORMAT_VERSION);
    if load.format_version != version {
        return Err(DeviceError::Version { label, found: load.format_version, allowed: version });
    }
    if load.target_hash != target.hash() {
        return Err(DeviceError::TargetMismatch { label, found: load.target_hash, allowed: target.hash() });
    }
    Ok(())
}

/// Refuses packets that no port can take.
pub fn check_offer(packets: &[Offer], target: &Target) -> Result<(), DeviceError> {
    for packet in packets {
        if u32::from(packet.port) >= target.ports {
            return Err(DeviceError::NoPort { found: packet.port, max: target.ports as u8 - 1 });
        }
        if !(1..=MAX_OFFER_BYTES).contains(&packet.bytes.len()) {
            return Err(DeviceError::FrameLength { found: packet.bytes.len(), max: MAX_OFFER_BYTES });
        }
    }
    Ok(())
}

/// Refuses a load with a program or rows for an engine that the device does not have.
pub fn check_engines(load: &Load, has: &Capabilities) -> Result<(), DeviceError> {
    check_engines_of(load, has.kind, &has.engines)
}

/// The same for a device of this kind with these engines, which need not be there.
pub fn check_engines_of(load: &Load, device: &'static str, engines: &[EngineId]) -> Result<(), DeviceError> {
    for (step, s) in load.steps.iter().enumerate() {
        let (what, needed) = match s {
            Step::Install { engine, .. } => ("a program", Some(*engine)),
            Step::Write { node, .. } => ("a row", node.engine()),
            _ => continue,
        };
        if let Some(engine) = needed.filter(|engine| !engines.contains(engine)) {
            let has = engines.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ");
            return Err(DeviceError::NoEngine { label: load.label.clone(), step, what, engine, device, has });
        }
    }
    Ok(())
}

/// Refuses a destination that the target does not have.
pub fn check_destination(destination: u8, target: &Target) -> Result<(), DeviceError> {
    if u32::from(destination) < target.destinations() {
        return Ok(());
    }
    Err(DeviceError::NoDestination { found: destination, max: target.destinations() as u8 - 1 })
}

/// Anything that behaves like a Sluice NIC.
pub trait Device {
    /// What it is.
    fn capabilities(&self) -> &Capabilities;

    /// Starts a load; its end is an `OpDone`. Loads run one after the other, packets go on.
    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError>;

    /// Offers packets; either all are taken or none is.
    fn offer(&mut self, packets: &[Offer]) -> Result<(), DeviceError>;

    /// Offers packets that the caller does not need any more.
    fn offer_owned(&mut self, packets: Vec<Offer>) -> Result<(), DeviceError> {
        self.offer(&packets)
    }

    /// The present tick.
    fn now(&self) -> u64;

    /// Lets `ticks` pass.
    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError>;

    /// Takes what happened since the last call, at most `max` events.
    fn poll(&mut self, max: usize) -> Vec<Event>;

    /// Stops (true) or lets flow (false) a destination: ports first, host queues follow.
    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError>;

    /// Loses and corrupts so many percent of the messages on the configuration ring, from
    /// `seed`; 0 and 0 ends it. Loads end well all the same. A device without a ring has nothing
    /// to disturb.
    fn disturb_configuration(&mut self, drop_percent: u8, corrupt_percent: u8, seed: u64) -> Result<(), DeviceError> {
        let _ = (drop_percent, corrupt_percent, seed);
        Ok(())
    }

    /// Lets time pass until every offered packet has its outcomes and every load is done.
    /// Packets behind blocked destinations are left where they are.
    fn quiesce(&mut self) -> Result<(), DeviceError>;

    /// Counters of one instant, without stopping anything.
    fn counters(&mut self) -> Result<Counters, DeviceError>;

    /// Reads a row back, all its words: what packets would see.
    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError>;

    /// Host operations on maps, on a device with an engine that has some.
    fn maps(&mut self) -> Result<&mut dyn Maps, DeviceError> {
        Err(DeviceError::NoMaps { device: self.capabilities().kind })
    }

    /// Rings of message dispatch, on a device with an engine that writes into host memory.
    fn rings(&mut self) -> Result<&mut dyn Rings, DeviceError> {
        Err(DeviceError::NoRings { device: self.capabilities().kind })
    }

    /// All that can be read from the device, to compare devices and to save a state: every
    /// configuration row by address. Counters are not part of it.
    fn snapshot(&mut self) -> Result<Rows, DeviceError> {
        let (target, has) = (self.capabilities().target, self.capabilities().clone());
        // XDP programs in software are no rows.
        let has_rows = |node: &Node| match node.engine() {
            Some(EngineId::XDP) => has.xdp_in_hardware,
            engine => engine.is_none_or(|engine| has.engines.contains(&engine)),
        };
        let mut rows = BTreeMap::new();
        for node in Node::every(&target).into_iter().filter(has_rows) {
            for table in Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::ReadWrite) {
                for index in 0..table.rows(&target) {
                    rows.insert((node.number(), table.number(), index), self.read_row(node, table, index)?);
                }
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_without_the_engine_refuses_a_program_and_says_which_step() {
        let target = sluice_formats::target::ALL[0];
        let engines = vec![EngineId::RMT];
        let has = Capabilities {
            kind: "rtl",
            target,
            tick_ps: 4000,
            has_cycles: true,
            engines,
            queues: true,
            xdp_in_hardware: false,
        };
        let mut load = Load {
            format_version: sluice_formats::limits::FORMAT_VERSION,
            target_hash: 0,
            tenant: 3,
            label: "load red".to_owned(),
            steps: vec![Step::Barrier],
        };
        assert_eq!(check_engines(&load, &has), Ok(()));
        load.steps.push(Step::Install { engine: EngineId::XDP, module: 1, generation: 0, install: None });
        let text = check_engines(&load, &has).unwrap_err().to_string();
        let expected = "found a program for the engine xdp, which the device `rtl` does not have; it has rmt";
        assert_eq!(text, format!("load `load red`, step 1: {expected}"));
        let words = vec![0; Table::L7Match.words()];
        load.steps[1] = Step::Write { node: Node::L7, table: Table::L7Match, index: 0, words };
        let refused = check_engines(&load, &has).unwrap_err();
        assert!(refused.to_string().contains("step 1: found a row for the engine l7"), "{refused}");
        assert_eq!((refused.code(), refused.is_refusal()), ("E0309", true));
    }
}
