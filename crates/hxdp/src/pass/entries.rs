//! What registers hold where traces are entered, by whichever way.
//!
//! Used by passes that follow facts along a trace. A fact holds at an entry when it holds at the end of each way that leads
//! there, or when the region analysis knows it of that slot. A function is entered with what nobody knows.

use super::copies::{Fact, Facts};
use super::{Code, flow};
use crate::op::START;
use sluice_ebpf::analysis::{Base, Regions, Value};
use std::collections::BTreeMap;

/// Facts at the entry of each trace.
#[derive(Clone, Debug)]
pub struct Entries(BTreeMap<u32, Facts>);

impl Entries {
    /// Of all traces.
    pub fn of(code: &Code) -> Self {
        let join = |before: Option<&Facts>, way: &Facts| {
            let way = way.across();
            before.map_or(way, |before| before.both(&way))
        };
        let mut entries = flow::entries(code, &Facts::default(), |step, facts: &mut Facts| facts.pass(&step.op), join);
        for (label, facts) in &mut entries {
            analysed(*label, &code.regions, facts);
        }
        Self(entries)
    }

    /// At the entry of one.
    pub fn at(&self, label: u32) -> Facts {
        self.0.get(&label).copied().unwrap_or_default()
    }
}

/// Adds what the region analysis knows of a slot: numbers, and addresses at a known distance from the frame's start.
fn analysed(label: u32, regions: &Regions, facts: &mut Facts) {
    let Some(at) = regions.slots.get(label as usize).filter(|_| regions.complete) else { return };
    let Some(before) = at.before.as_deref() else { return };
    let fact = |value: &Value| {
        let offset = i32::try_from(value.offset.as_constant()? as i64).ok()?;
        match value.base {
            _ if value.nullable => None,
            Base::Number => Some(Fact::Number(offset)),
            Base::Packet(of) if at.generation == Some(of) => Some(Fact::Sum(START, offset)),
            _ => None,
        }
    };
    for (register, value) in (0..10).zip(before) {
        if let Some(fact) = fact(value) {
            facts.learn(register, fact);
        }
    }
}
