//! The passes of the compiler, in the order in which they run.

pub mod decided;
pub mod decode;
pub mod traces;
// One pass a line: what it does stands in docs/design/hxdp.md.
pub mod adds;
pub mod bytes;
pub mod coalesce;
pub mod copies;
pub mod dead;
pub mod dependence;
pub mod elements;
pub mod entries;
pub mod exits;
pub mod flow;
pub mod forward;
pub mod join;
pub mod known;
pub mod layout;
pub mod lengths;
pub mod liveness;
pub mod masks;
pub mod nulls;
pub mod packs;
pub mod pairs;
pub mod plain;
pub mod predict;
pub mod queues;
pub mod quiet;
pub mod rename;
pub mod rotates;
pub mod schedule;
pub mod set;
pub mod starts;
pub mod stores;
pub mod sums;
pub mod superblocks;
pub mod values;
pub mod webs;
pub mod zeroing;

use crate::Step;
use sluice_ebpf::analysis::Regions;
use std::collections::BTreeMap;

/// Instructions that are entered at the first one only, may be left by branches, and end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// In program order.
    pub steps: Vec<Step>,
    /// Slot of the trace that follows, unless an exit or a back edge ends this one.
    pub next: Option<u32>,
}

/// What passes ask of a program's maps.
#[derive(Clone, Debug, Default)]
pub struct Maps {
    /// Bytes of a key and of a value of the map that a helper is called with, by its slot; the greatest of several maps.
    pub sizes: BTreeMap<u32, (u32, u32)>,
    /// Arrays of values, per-CPU ones too, by the map's index.
    pub arrays: BTreeMap<u32, elements::Array>,
    /// Bytes of an element of the queue or stack that a helper pops or looks at, by its slot.
    pub elements: BTreeMap<u32, u32>,
}

/// A program between passes.
#[derive(Clone, Debug)]
pub struct Code {
    /// Name of the program.
    pub program: String,
    /// By the slot that leads to each.
    pub traces: BTreeMap<u32, Trace>,
    /// First slots of functions, rising; the program itself is 0.
    pub functions: Vec<u32>,
    /// What is known of each slot.
    pub regions: Regions,
    /// What is known of its maps.
    pub maps: Maps,
    /// Branches as they compare eBPF's registers, which the analysis knows, by their slots.
    pub branches: BTreeMap<u32, crate::Op>,
    /// Of branches whose packets were counted, by slot: how many of them lead out of their trace, and how many came.
    pub leaving: BTreeMap<u32, (u64, u64)>,
    /// Whether packets of one flow must wait for each other: a plain read-modify-write of a shared value is left, or an
    /// access that could be one.
    pub flow_serial: bool,
    /// What the engine has put into registers where the program begins.
    pub entry: crate::warp::peel::Entry,
}

impl Code {
    /// Whether the trace at a slot belongs to the program itself and not to a function of it.
    pub fn is_main(&self, label: u32) -> bool {
        self.functions.get(1).is_none_or(|function| label < *function)
    }

    /// Drops traces that nothing leads to.
    pub fn prune(&mut self) {
        let mut seen = std::collections::BTreeSet::new();
        let mut open = self.functions.clone();
        while let Some(label) = open.pop() {
            if let Some(trace) = self.traces.get(&label).filter(|_| seen.insert(label)) {
                open.extend(trace.next);
                open.extend(trace.steps.iter().filter_map(|step| step.op.target()));
            }
        }
        self.traces.retain(|label, _| seen.contains(label));
    }
}
