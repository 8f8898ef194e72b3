//! Values of statements that this NIC cannot have.

use super::ScriptFailure;
use sluice_device::{MAX_OFFER_BYTES, ModuleCounters};
use sluice_formats::{Reason, Target};

/// That packets can be sent to this port.
pub(super) fn check_port(port: u8, target: &Target) -> Result<(), ScriptFailure> {
    if u32::from(port) < target.ports {
        return Ok(());
    }
    Err(ScriptFailure::value("port", port, format!("0 to {}", target.ports - 1)))
}

/// There is no table that the statement could change.
pub(super) fn no_table(tenant: &str) -> ScriptFailure {
    ScriptFailure::value("table", format!("tenant `{tenant}` has none"), format!("`table {tenant} ...` before"))
}

/// That an interface carries a packet of this length.
pub(super) fn check_length(what: &str, found: usize) -> Result<(), ScriptFailure> {
    if (1..=MAX_OFFER_BYTES).contains(&found) {
        return Ok(());
    }
    Err(ScriptFailure::value(what, format!("{found} bytes"), format!("1 to {MAX_OFFER_BYTES} bytes")))
}

/// A counter by its name in JSON; a reason's name is its drops, `dropped` all of them.
pub(super) fn counter_of(counters: &ModuleCounters, name: &str) -> Result<u64, ScriptFailure> {
    Ok(match name {
        "offered" => counters.offered,
        "offered_bytes" => counters.offered_bytes,
        "copies" => counters.copies,
        "forwarded" => counters.forwarded,
        "forwarded_bytes" => counters.forwarded_bytes,
        "delivered" => counters.delivered,
        "delivered_bytes" => counters.delivered_bytes,
        "consumed" => counters.consumed,
        "in_flight" => counters.in_flight,
        "dropped" => counters.dropped.values().sum(),
        reason => {
            let allowed = "offered, offered_bytes, copies, forwarded, forwarded_bytes, delivered, delivered_bytes, \
                           consumed, in_flight, dropped, or a reason";
            let reason =
                Reason::by_name(reason).ok_or_else(|| ScriptFailure::value("counter", format!("`{name}`"), allowed))?;
            counters.dropped.get(&reason).copied().unwrap_or(0)
        }
    })
}
