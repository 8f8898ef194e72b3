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

/// Destinations of a packet at which its frame would leave as another tenant's: ports where the VLAN of its outer tag, or the
/// frames without one, are another module's. `tci` is that of the tag that comes back, if one was taken off.
#[inline]
pub fn foreign(tables: &Tables, destinations: u8, module: u8, tci: Option<u16>, bytes: &[u8]) -> u8 {
    let outer = tci.or_else(|| begins_with_tag(bytes).then(|| u16::from_be_bytes([bytes[14], bytes[15]])));
    let is_foreign = |port: &u8| {
        let (valid, owner) = match outer {
            Some(tci) => {
                let row = tables.vlan(*port, tci & 0xfff);
                (row.valid, row.module_id)
            }
            None => {
                let policy = tables.policy(*port);
                (policy.untagged_valid, policy.untagged_module)
            }
        };
        valid && tables.module_exists(owner) && owner != module
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
