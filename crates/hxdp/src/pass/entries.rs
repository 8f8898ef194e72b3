//! What registers hold where traces are entered, by whichever way.
//!
//! Used by passes that follow facts along a trace. A fact holds at an entry when it holds at the end of each way that leads
//! there, or when the region analysis knows it of that slot. A function is entered with what nobody knows.

use super::Code;
use super::copies::{Fact, Facts};
use crate::op::START;
use sluice_ebpf::analysis::{Base, Regions, Value};
use std::collections::BTreeMap;

/// Facts at the entry of each trace.
pub fn entries(code: &Code) -> BTreeMap<u32, Facts> {
    let mut entries: BTreeMap<u32, Facts> =
        code.functions.iter().map(|function| (*function, Facts::default())).collect();
    let mut open: Vec<u32> = code.functions.clone();
    while let Some(label) = open.pop() {
        let Some(trace) = code.traces.get(&label) else { continue };
        let mut facts = entries[&label];
        let mut ways = Vec::new();
        for step in &trace.steps {
            // A called function is none of the ways: nothing is known there.
            if let Some(to) = step.op.target().filter(|_| !step.op.is_barrier()) {
                ways.push((to, facts));
            }
            facts.pass(&step.op);
        }
        ways.extend(trace.next.map(|next| (next, facts)));
        for (to, facts) in ways {
            let facts = facts.across();
            let before = entries.get(&to).copied();
            let joined = before.map_or(facts, |before| before.both(&facts));
            if before != Some(joined) {
                entries.insert(to, joined);
                open.push(to);
            }
        }
    }
    for (label, facts) in &mut entries {
        analysed(*label, &code.regions, facts);
    }
    entries
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
