//! The one trait of everything that behaves like a Sluice NIC (contract 3).
//!
//! A device is batched and asynchronous: packets are offered and operations submitted,
//! time is advanced by the caller, and what happened is polled. Outcomes of different
//! queues come in any order; those of one queue (destination, module) in queue order.
//! A load takes effect step by step somewhere between its submission and its `OpDone`.

use crate::xdp_counts::XdpCounts;
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::{MapId, MapSpec};
use sluice_formats::{Reason, Target};
use sluice_object::{Load, Step};
use std::collections::BTreeMap;

/// Identifies an operation until its `OpDone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u64);

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
    /// XDP programs run on it.
    pub has_xdp: bool,
}

/// A packet that arrives on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Port, from 0.
    pub port: u8,
    /// Frame without FCS.
    pub bytes: Vec<u8>,
    /// Earliest tick of its first beat; packets of a port start in the order offered, each
    /// at this tick or as soon as the one before it has arrived.
    pub at: u64,
    /// The MAC marks it bad.
    pub bad: bool,
}

/// What became of one packet or copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Left through a port.
    Forwarded {
        /// Port.
        port: u8,
    },
    /// Reached a host queue.
    Delivered {
        /// Host queue.
        queue: u8,
    },
    /// Dropped.
    Dropped {
        /// Why.
        reason: Reason,
        /// Destination of the copy for tail drops.
        destination: Option<u8>,
    },
}

/// One outcome; a multicast packet has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Packet ID: port in bits 31:28, number of the frame on its port below, from 0.
    pub id: u32,
    /// Verdict.
    pub verdict: Verdict,
    /// Module that served the packet.
    pub module: u8,
    /// Its tenant, where the packet got as far as having one in its sideband.
    pub tenant: Option<u16>,
    /// Generation stamped; None for packets dropped at ingress.
    pub generation: Option<u8>,
    /// Tick at which it entered the pipeline and got its generation; None for packets dropped at ingress.
    pub stamp: Option<u64>,
    /// Bytes as they left; empty for drops.
    pub bytes: Vec<u8>,
    /// Queue that the program asked for; 0 for drops.
    pub queue: u8,
    /// Tag of this copy in the program's multicast group; 0 without a group.
    pub tag: u16,
    /// Tick of the first beat in, where the device has cycles.
    pub first_in: Option<u64>,
    /// Tick of the first beat out.
    pub first_out: Option<u64>,
    /// Tick of the last beat out, or of the drop.
    pub last_out: Option<u64>,
}

/// What `poll` reports.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Something became of a packet.
    Outcome(Outcome),
    /// An operation ended.
    OpDone {
        /// Which.
        op: OpId,
        /// How.
        result: Result<(), DeviceError>,
    },
}

/// What an XDP program told the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XdpEvent {
    /// A line of `trace_printk`.
    Trace {
        /// The line.
        line: String,
    },
    /// `perf_event_output`.
    Perf {
        /// Name of the map.
        map: String,
        /// Processor whose buffer it went to.
        cpu: u32,
        /// The bytes.
        data: Vec<u8>,
    },
    /// A record of a ring buffer.
    Ring {
        /// Name of the map.
        map: String,
        /// The bytes.
        data: Vec<u8>,
    },
    /// Events that found no room before they were taken.
    Lost {
        /// How many.
        events: u64,
    },
}

/// A map of a running XDP program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XdpMap {
    /// Names it in operations; the same over replacements that keep it.
    pub id: MapId,
    /// Its declaration.
    pub spec: MapSpec,
}

/// Counters of one module, all of one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ModuleCounters {
    /// Packets that arrived.
    pub offered: u64,
    /// Bytes that arrived, tag included.
    pub offered_bytes: u64,
    /// Copies beyond the first that multicast made.
    pub copies: u64,
    /// Copies that left through ports.
    pub forwarded: u64,
    /// Their bytes, without the tag.
    pub forwarded_bytes: u64,
    /// Copies that reached host queues.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Drops by reason; reasons that never happened are absent.
    pub dropped: BTreeMap<Reason, u64>,
    /// Packets and copies that are in the device.
    pub in_flight: u64,
}

impl ModuleCounters {
    /// Whether contract 4 holds: offered + copies = forwarded + delivered + dropped + in flight.
    pub fn closes(&self) -> bool {
        let dropped: u64 = self.dropped.values().sum();
        self.offered + self.copies == self.forwarded + self.delivered + dropped + self.in_flight
    }
}

/// Counters of the whole device at one instant, by module.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Tick of the snapshot.
    pub tick: u64,
    /// By module; modules that never saw a packet are absent.
    pub modules: BTreeMap<u8, ModuleCounters>,
    /// Times the watchdog fired.
    pub wedges: u64,
}

/// What a device refuses or cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The load is for another format.
    #[error("load `{label}` has format version {found}, the device takes {allowed}")]
    Version {
        /// The load's label.
        label: String,
        /// Found.
        found: u32,
        /// Allowed.
        allowed: u32,
    },
    /// The load is for another target.
    #[error("load `{label}` is placed for target {found:08x}, the device is {allowed:08x}")]
    TargetMismatch {
        /// The load's label.
        label: String,
        /// Found.
        found: u32,
        /// Allowed.
        allowed: u32,
    },
    /// No such port.
    #[error("port {found} does not exist, the device has ports 0 to {max}")]
    NoPort {
        /// Found.
        found: u8,
        /// Highest.
        max: u8,
    },
    /// No such destination.
    #[error("destination {found} does not exist, the device has destinations 0 to {max}")]
    NoDestination {
        /// Found.
        found: u8,
        /// Highest.
        max: u8,
    },
    /// A frame that cannot be offered at all.
    #[error("frame of {found} bytes cannot be offered, 1 to {max} are possible")]
    FrameLength {
        /// Found.
        found: usize,
        /// Longest frame an interface carries.
        max: usize,
    },
    /// The device answered a step with an error.
    #[error("load `{label}`, step {step}: {what}")]
    Step {
        /// The load's label.
        label: String,
        /// Step, from 0.
        step: usize,
        /// What the device said.
        what: String,
    },
    /// A row that cannot be read.
    #[error("row {index} of table `{table}` at {node:?} cannot be read: {what}")]
    Read {
        /// Node.
        node: sluice_formats::Node,
        /// Table.
        table: &'static str,
        /// Index.
        index: u32,
        /// What the device said.
        what: String,
    },
    /// The device did not answer or did not come to rest.
    #[error("{what} did not end within {ticks} ticks")]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long.
        ticks: u64,
    },
    /// The load holds an XDP program.
    #[error("load `{label}`, step {step}: an XDP program, but the device `{device}` has no XDP engine")]
    NoXdp {
        /// The load's label.
        label: String,
        /// Step, from 0.
        step: usize,
        /// Kind of the device.
        device: &'static str,
    },
    /// A map or routes of a module that runs no XDP program.
    #[error("module {module} runs no XDP program")]
    NoProgram {
        /// Module.
        module: u8,
    },
    /// An operation on a map, refused as Linux refuses it.
    #[error("map {map}: {operation}: errno {errno}")]
    Map {
        /// "lookup", "update", "delete", "next key".
        operation: &'static str,
        /// Its ID.
        map: u32,
        /// Linux' error number, positive.
        errno: i32,
    },
    /// The device is not there.
    #[error("{0}")]
    Unavailable(String),
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

/// Refuses a load with an XDP program, for devices without an XDP engine.
pub fn check_no_xdp(load: &Load, device: &'static str) -> Result<(), DeviceError> {
    match load.steps.iter().position(|s| matches!(s, Step::Program { .. })) {
        Some(step) => Err(DeviceError::NoXdp { label: load.label.clone(), step, device }),
        None => Ok(()),
    }
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
    fn read_row(
        &mut self,
        node: sluice_formats::Node,
        table: sluice_formats::Table,
        index: u32,
    ) -> Result<Vec<u32>, DeviceError>;

    /// Maps of the XDP program that new packets of a module run, in the program's order.
    fn maps(&mut self, module: u8) -> Result<Vec<XdpMap>, DeviceError> {
        Err(DeviceError::NoProgram { module })
    }

    /// `BPF_MAP_LOOKUP_ELEM` of bpf(2).
    fn map_lookup(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError> {
        let _ = (map, key);
        Err(DeviceError::NoProgram { module })
    }

    /// `BPF_MAP_UPDATE_ELEM` of bpf(2).
    fn map_update(&mut self, module: u8, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), DeviceError> {
        let _ = (map, key, value, flags);
        Err(DeviceError::NoProgram { module })
    }

    /// `BPF_MAP_DELETE_ELEM` of bpf(2).
    fn map_delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError> {
        let _ = (map, key);
        Err(DeviceError::NoProgram { module })
    }

    /// `BPF_MAP_GET_NEXT_KEY` of bpf(2); without a key the first one, at the end none.
    fn map_next_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        let _ = (map, key);
        Err(DeviceError::NoProgram { module })
    }

    /// The same, where zeros of arrays and places that hold nothing may be left out: what a map of
    /// millions is listed by.
    fn map_next_held_key(
        &mut self,
        module: u8,
        map: MapId,
        key: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, DeviceError> {
        self.map_next_key(module, map, key)
    }

    /// Routes and neighbours that the module's XDP programs see.
    fn set_routes(&mut self, module: u8, routes: Routes) -> Result<(), DeviceError> {
        let _ = routes;
        Err(DeviceError::NoProgram { module })
    }

    /// Takes what the module's XDP programs told since the last call, in order.
    fn take_xdp_events(&mut self, module: u8) -> Vec<XdpEvent> {
        let _ = module;
        Vec::new()
    }

    /// What the module's XDP programs came to since it has had one, over replacements.
    fn xdp_counts(&mut self, module: u8) -> Result<XdpCounts, DeviceError> {
        Err(DeviceError::NoProgram { module })
    }

    /// All that can be read from the device, to compare devices and to save a state: every
    /// configuration row by address. Counters are not part of it.
    fn snapshot(&mut self) -> Result<Rows, DeviceError> {
        use sluice_formats::{Node, Table, address::Access};
        let target = self.capabilities().target;
        let mut rows = BTreeMap::new();
        for node in Node::all(&target) {
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
        let mut load = Load {
            format_version: sluice_formats::limits::FORMAT_VERSION,
            target_hash: 0,
            tenant: 3,
            label: "load red".to_owned(),
            steps: vec![Step::Barrier],
        };
        assert_eq!(check_no_xdp(&load, "rtl"), Ok(()));
        load.steps.push(Step::Program { module: 1, generation: 0, program: None });
        let text = check_no_xdp(&load, "rtl").unwrap_err().to_string();
        assert_eq!(text, "load `load red`, step 1: an XDP program, but the device `rtl` has no XDP engine");
    }
}
