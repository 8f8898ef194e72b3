//! What becomes of one packet: the pseudocode of docs/design/nic.md as pure functions.
//!
//! The software NIC and the replay of a hardware trace share them.

use crate::tables::{Stamped, Tables};
use sluice_formats::Reason;
use sluice_formats::hash::crc32c;
use sluice_formats::limits::{COST_FRACTION_BITS, KEY_BYTES, RECONFIG_UDP_PORT, SYSTEM_MODULE, VLAN_ETHERTYPE};
use sluice_rmt::fast::Buffers;
use sluice_rmt::{Arrival, Copy};

/// EtherType of a service tag, looked for only behind an outer 0x8100.
const SERVICE_TAG_ETHERTYPE: u16 = 0x88a8;
/// Version 4, header of five words.
const IPV4_WITHOUT_OPTIONS: u8 = 0x45;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// What ingress makes of a good frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Module that serves it.
    pub module: u8,
    /// Its tenant.
    pub tenant: u16,
    /// PCP, DEI and VLAN ID of the outer tag; 0 for untagged frames.
    pub tci: u16,
    /// The outer tag comes off.
    pub tag_off: bool,
}

/// Ingress' answer: who the frame is counted for, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    /// Module that the port's counters count the frame for.
    pub owner: u8,
    /// Stored, if there is room, or dropped.
    pub result: Result<Accepted, Reason>,
}

/// The EtherType at `at`, where the frame has one.
fn ethertype(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

/// Whether the frame begins with a whole 0x8100 tag.
fn begins_with_tag(bytes: &[u8]) -> bool {
    bytes.len() >= 16 && ethertype(bytes, 12) == Some(VLAN_ETHERTYPE)
}

/// Judges a frame that has arrived on a port; `bad` is the MAC's mark. Room is not looked at.
pub fn classify(port: u8, bytes: &[u8], bad: bool, tables: &Tables) -> Classified {
    let policy = tables.policy(port);
    let tagged = begins_with_tag(bytes);
    let (valid, module, tenant, keep_tag, tci) = if tagged {
        let tci = u16::from_be_bytes([bytes[14], bytes[15]]);
        let row = tables.vlan(port, tci & 0xfff);
        (row.valid, row.module_id, row.tenant, row.keep_tag, tci)
    } else {
        (policy.untagged_valid, policy.untagged_module, policy.untagged_tenant, false, 0)
    };
    let valid = valid && tables.module_exists(module);
    let (shortest, longest) = tables.frame_bounds(port);
    let length = bytes.len() as u32;
    let second_tag = || tagged && matches!(ethertype(bytes, 16), Some(VLAN_ETHERTYPE | SERVICE_TAG_ETHERTYPE));
    let result = if bad {
        Err(Reason::BadFrame)
    } else if length < shortest {
        Err(Reason::Runt)
    } else if length > longest {
        Err(Reason::Giant)
    } else if !valid {
        Err(Reason::Unmapped)
    } else if policy.drop_double_tag && second_tag() {
        Err(Reason::DoubleTag)
    } else {
        Ok(Accepted { module, tenant, tci, tag_off: tagged && !keep_tag })
    };
    Classified { owner: if valid { module } else { SYSTEM_MODULE }, result }
}

/// Asks the module's rate limit and charges it when the packet conforms (GCRA).
///
/// `ticks` counts from the reset without the wrap of a stamp, so that a limiter left alone for
/// however long is exact.
pub fn conforms(tables: &mut Tables, module: u8, ticks: u64, length: u32) -> bool {
    let rate = *tables.rate(module);
    if rate.cost_per_byte == 0 {
        return true;
    }
    let now = u128::from(ticks) << COST_FRACTION_BITS;
    let state = tables.rate_state_mut(module);
    let tat = state.tat.max(now);
    let conform = tat - now <= u128::from(rate.burst) << COST_FRACTION_BITS;
    if conform {
        state.tat = tat + u128::from(length) * u128::from(rate.cost_per_byte);
    }
    conform
}

/// What the entrance reads from the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The IPv4 5-tuple: source, destination, ports, protocol.
    pub tuple: Option<[u8; KEY_BYTES]>,
    /// UDP to the port that once configured NICs.
    pub reconfig: bool,
}

/// Reads the headers of a frame without the tag that ingress took off.
pub fn headers(bytes: &[u8]) -> Headers {
    let o = if begins_with_tag(bytes) { 4 } else { 0 };
    let ipv4 =
        bytes.len() >= o + 34 && ethertype(bytes, 12 + o) == Some(0x0800) && bytes[14 + o] == IPV4_WITHOUT_OPTIONS;
    if !ipv4 {
        return Headers { tuple: None, reconfig: false };
    }
    let protocol = bytes[23 + o];
    let fragment_offset = u16::from_be_bytes([bytes[20 + o], bytes[21 + o]]) & 0x1fff;
    let l4 = matches!(protocol, TCP | UDP) && fragment_offset == 0 && bytes.len() >= o + 38;
    let mut tuple = [0; KEY_BYTES];
    tuple[..8].copy_from_slice(&bytes[26 + o..34 + o]);
    if l4 {
        tuple[8..12].copy_from_slice(&bytes[34 + o..38 + o]);
    }
    tuple[12] = protocol;
    let reconfig = l4 && protocol == UDP && tuple[10..12] == RECONFIG_UDP_PORT.to_be_bytes();
    Headers { tuple: Some(tuple), reconfig }
}

/// The flow hash that travels in the sideband.
pub fn flow_hash(headers: &Headers) -> u32 {
    headers.tuple.map_or(0, |tuple| crc32c(&tuple))
}

/// A packet that was stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entering {
    /// Module.
    pub module: u8,
    /// Tenant.
    pub tenant: u16,
    /// Port of arrival.
    pub port: u8,
    /// Its generations.
    pub stamped: Stamped,
    /// Ticks when it arrived.
    pub arrival: u64,
    /// Ticks when it entered the pipeline.
    pub stamp: u64,
    /// Its rate limit lets it through.
    pub conform: bool,
}

/// A packet's way through entrance and pipeline. What leaves is in `buffers` after `Ok`: the bytes, the
/// same for all copies, and at least one copy. Drops and copies are counted.
pub fn run(tables: &mut Tables, packet: &Entering, bytes: &[u8], buffers: &mut Buffers) -> Result<(), Reason> {
    let refused = if !packet.conform {
        Some(Reason::Rate)
    } else if headers(bytes).reconfig {
        Some(Reason::Reconfig)
    } else {
        None
    };
    if let Some(reason) = refused {
        count(tables, packet.module, reason);
        return Err(reason);
    }
    let arrival = Arrival {
        packet: bytes,
        module: packet.module,
        generation: packet.stamped.generation,
        system_generation: packet.stamped.system_generation,
        tenant: packet.tenant,
        port: packet.port,
        arrival: packet.arrival,
        queueing: packet.stamp,
    };
    tables.rmt_mut().run_into(&arrival, buffers)
}

/// Counts a drop behind ingress by a reason that the pipeline's events have.
pub fn count(tables: &mut Tables, module: u8, reason: Reason) {
    if let Some(event) = reason.event() {
        tables.rmt_mut().count(module, event, 1);
    }
}

/// Destinations of copies as a mask.
pub fn mask(copies: &[Copy]) -> u8 {
    copies.iter().fold(0, |mask, copy| mask | 1u8.checked_shl(copy.destination.into()).unwrap_or(0))
}

#[cfg(test)]
#[path = "forward_tests.rs"]
mod tests;
