//! What becomes of one packet before the engines: the pseudocode of docs/design/nic.md as pure functions.
//!
//! The software NIC and the replay of a hardware trace share them.

use crate::tables::Tables;
use sluice_device::headers::{begins_with_tag, ethertype};
use sluice_formats::Reason;
use sluice_formats::limits::{COST_FRACTION_BITS, SYSTEM_MODULE, VLAN_ETHERTYPE};

/// EtherType of a service tag, looked for only behind an outer 0x8100.
const SERVICE_TAG_ETHERTYPE: u16 = 0x88a8;

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

/// What stands beside a frame that leaves, and what is judged with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Module.
    pub module: u8,
    /// PCP, DEI and VLAN ID of the tag that it came with; 0 for untagged frames.
    pub tci: u16,
    /// That tag was taken off, and comes back at a port.
    pub tag_off: bool,
}

/// Destinations of a packet at which its frame would not leave as its tenant's: ports where the VLAN of its outer tag, or the
/// frames without one, are not its module's. Where nobody owns them it may have the VLAN that it came with, and any with
/// the right in `vids`.
#[inline]
pub fn foreign(tables: &Tables, destinations: u8, leaving: Leaving, bytes: &[u8]) -> u8 {
    let Leaving { module, tci, tag_off } = leaving;
    let own = || begins_with_tag(bytes).then(|| u16::from_be_bytes([bytes[14], bytes[15]]));
    let outer = if tag_off { Some(tci) } else { own() }.map(|tci| tci & 0xfff);
    let came = outer.is_some_and(|vid| tag_off || vid != 0 && vid == tci & 0xfff);
    let may_be_free = came || tables.any_vids(module);
    let is_foreign = |port: &u8| {
        let (valid, owner) = match outer {
            Some(vid) => {
                let row = tables.vlan(*port, vid);
                (row.valid, row.module_id)
            }
            None => {
                let policy = tables.policy(*port);
                (policy.untagged_valid, policy.untagged_module)
            }
        };
        match valid && tables.module_exists(owner) {
            true => owner != module,
            false => !may_be_free,
        }
    };
    let ports = (0..tables.target().ports as u8).filter(|port| destinations >> port & 1 == 1);
    ports.filter(is_foreign).fold(0, |mask, port| mask | 1 << port)
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

#[cfg(test)]
#[path = "forward_tests.rs"]
mod tests;
