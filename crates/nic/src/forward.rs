//! What becomes of one packet: the pseudocode of docs/design/nic.md as pure functions.
//!
//! The software NIC and the replay of a hardware trace share them.

use crate::tables::Tables;
use sluice_formats::hash::{crc32c, set_hashes};
use sluice_formats::limits::{COST_FRACTION_BITS, KEY_BYTES, RECONFIG_UDP_PORT, VLAN_ETHERTYPE, WAYS};
use sluice_formats::rows::{ActionRow, EntryRow, KeyKind, OverlayRow};
use sluice_formats::{Reason, limits::SYSTEM_MODULE};

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

/// What the headers give to the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The IPv4 5-tuple as key bytes.
    pub tuple: Option<[u8; KEY_BYTES]>,
    /// UDP to the port that once configured NICs.
    pub reconfig: bool,
}

/// Reads the headers of a frame as the tables see it.
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

/// The masked key of an overlay, where it looks anything up for this packet.
pub fn key(bytes: &[u8], headers: &Headers, overlay: &OverlayRow) -> Option<[u8; KEY_BYTES]> {
    let mut key = match KeyKind::from_code(overlay.key_kind)? {
        KeyKind::None => return None,
        KeyKind::Dmac => {
            let mut key = [0; KEY_BYTES];
            key[..6].copy_from_slice(bytes.get(..6)?);
            key
        }
        KeyKind::FiveTuple => headers.tuple?,
    };
    for (i, byte) in key.iter_mut().enumerate() {
        if overlay.key_mask >> i & 1 == 0 {
            *byte = 0;
        }
    }
    Some(key)
}

/// The entry that a module's packet of a generation hits.
pub fn lookup<'a>(
    tables: &'a Tables,
    module: u8,
    generation: u8,
    overlay: &OverlayRow,
    key: &[u8; KEY_BYTES],
) -> Option<&'a EntryRow> {
    let (hash0, hash1) = set_hashes(key);
    let within = (1u32 << overlay.set_bits) - 1;
    let base = u32::from(overlay.set_base);
    let sets = [base | (u32::from(hash0) & within), base | (u32::from(hash1) & within)];
    let value = EntryRow::key_from_bytes(key);
    (0..WAYS)
        .map(|way| tables.entry(way, sets[(way / 2) as usize]))
        .find(|entry| entry.generations >> generation & 1 == 1 && entry.module_id == module && entry.key == value)
}

/// What the match pipeline says to a packet that may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forward {
    /// Destinations, at least one.
    pub destinations: u8,
    /// New destination MAC.
    pub dmac: Option<[u8; 6]>,
}

/// The verdict on a frame of a module that was stamped with `generation`.
pub fn verdict(
    tables: &Tables,
    module: u8,
    generation: u8,
    port: u8,
    conform: bool,
    bytes: &[u8],
) -> Result<Forward, Reason> {
    if !conform {
        return Err(Reason::Rate);
    }
    let headers = headers(bytes);
    if headers.reconfig {
        return Err(Reason::Reconfig);
    }
    let overlay = tables.overlay(module, generation);
    if !overlay.valid {
        return Err(Reason::NoModule);
    }
    let hit = key(bytes, &headers, overlay).and_then(|key| lookup(tables, module, generation, overlay, &key));
    let (action, nothing) = match hit {
        Some(entry) => (entry.action(), Reason::Action),
        None => (overlay.action(), Reason::Miss),
    };
    apply(&action, port, tables.target().destinations(), nothing)
}

/// Carries out an action; `nothing` is the reason when it names no destination.
fn apply(action: &ActionRow, port: u8, destinations: u32, nothing: Reason) -> Result<Forward, Reason> {
    let existing = if destinations >= 8 { u8::MAX } else { (1 << destinations) - 1 };
    let mut mask = action.destinations & existing;
    if mask == 0 {
        return Err(nothing);
    }
    if action.except_ingress {
        mask &= !(1u8.checked_shl(u32::from(port)).unwrap_or(0));
    }
    if mask == 0 {
        return Err(Reason::NoDestination);
    }
    let dmac = action.set_dmac.then(|| sluice_formats::rows::mac_bytes(action.dmac));
    Ok(Forward { destinations: mask, dmac })
}

#[cfg(test)]
#[path = "forward_tests.rs"]
mod tests;
