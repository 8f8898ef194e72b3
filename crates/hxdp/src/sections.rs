//! Sections of flow-serial programs: what packets of a flow do one after the other.
//!
//! A program that reads a value of a map and writes it in another access must not have two packets of a flow in between. Instead of executing such packets one
//! after the other as a whole, the engine lets the next one go on until it *enters* the section, at its first access to a map that the program changes,
//! and makes it wait there until the one before has *left* it: once no change is reachable any more. A packet that does not enter leaves all
//! the same. Needs: all accesses known, no tail call and no loop by a helper, or the program is serial as a whole.

use crate::bundle::reached;
use crate::loops::LOOP;
use crate::op::TAIL_CALL;
use crate::pass::Code;
use crate::rows::is_lock;
use crate::{Bundle, Bundles, Op, Step};
use sluice_ebpf::{Image, MapType};
use std::collections::BTreeSet;

/// By row, whether it is of the section, and whether nothing behind its start is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// A packet that comes here waits for its turn.
    pub enters: Vec<bool>,
    /// A packet that comes here has left the section.
    pub leaves: Vec<bool>,
}

/// What packets of a flow do one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Serial {
    /// Nothing.
    #[default]
    No,
    /// These rows.
    Sections(Sections),
    /// Everything.
    Whole,
}

impl Serial {
    /// Of a compiled program.
    pub fn of(flow_serial: bool, sections: Option<Sections>) -> Self {
        match sections {
            Some(sections) => Self::Sections(sections),
            None if flow_serial => Self::Whole,
            None => Self::No,
        }
    }

    /// Whether a row enters, and whether it leaves.
    pub fn at(&self, row: u32) -> (bool, bool) {
        let marked = |marks: &[bool]| marks.get(row as usize).copied().unwrap_or(false);
        match self {
            Self::Sections(sections) => (marked(&sections.enters), marked(&sections.leaves)),
            _ => (false, false),
        }
    }
}

/// Slots that read or change maps which the program changes, and those that change them.
struct Slots {
    uses: BTreeSet<u32>,
    changes: BTreeSet<u32>,
    /// Pops and peeks of elements of a known size.
    copies: BTreeSet<u32>,
}

impl Slots {
    fn of(code: &Code, image: &Image) -> Self {
        let plain = |step: &&Step| !step.op.is_atomic();
        let left: BTreeSet<u32> =
            code.traces.values().flat_map(|trace| trace.steps.iter().filter(plain)).map(|step| step.slot).collect();
        let (mut uses, mut changes) = (BTreeSet::new(), BTreeSet::new());
        for (map, used) in &code.regions.summary.maps {
            if map.spec(image).is_some_and(|spec| spec.kind.is_per_cpu()) {
                continue;
            }
            let changed =
                |name: &str| matches!(name, "map_update_elem" | "map_delete_elem" | "map_push_elem" | "map_pop_elem");
            let calls: BTreeSet<u32> =
                used.calls.iter().filter(|(_, name)| changed(name)).map(|(slot, _)| *slot).collect();
            if calls.is_empty() && !used.writes.iter().any(|slot| left.contains(slot)) {
                continue;
            }
            changes.extend(calls.into_iter().chain(used.writes.iter().copied()).chain(used.atomics.iter().copied()));
            // Where a value of an array lies, nobody changes.
            let is_array = map.spec(image).is_some_and(|spec| spec.kind == MapType::Array);
            let asks = |name: &str| !(is_array && name == "map_lookup_elem");
            let calls = used.calls.iter().filter(|(_, name)| asks(name)).map(|(slot, _)| *slot);
            uses.extend(used.reads.iter().copied().chain(calls));
        }
        uses.extend(&changes);
        Self { uses, changes, copies: code.maps.elements.keys().copied().collect() }
    }

    /// Whether others see it: of a pop or peek the copy of the element is the context's own.
    fn shares(&self, step: &Step) -> bool {
        matches!(step.op, Op::Helper { .. }) || !self.copies.contains(&step.slot)
    }

    fn is_use(&self, step: &Step) -> bool {
        reaches(step.op) && self.shares(step) && (self.uses.contains(&step.slot) || is_lock(&step.op))
    }

    fn is_change(&self, step: &Step) -> bool {
        reaches(step.op) && self.shares(step) && self.changes.contains(&step.slot)
    }
}

/// Whether an instruction may reach a map's value or entry.
fn reaches(op: Op) -> bool {
    op.is_access() || matches!(op, Op::Helper { .. })
}

impl Sections {
    /// Those of a flow-serial program; none if it is to be serial as a whole.
    pub fn of(code: &Code, image: &Image, bundles: &Bundles) -> Option<Self> {
        let summary = &code.regions.summary;
        let calls = |id: i32| move |step: &Step| matches!(step.op, Op::Helper { id: called, .. } if called == id);
        let mut steps = bundles.rows.iter().flat_map(|row| &row.lanes);
        if !code.regions.complete || !summary.unknown.is_empty() || steps.any(|s| calls(TAIL_CALL)(s) || calls(LOOP)(s))
        {
            return None;
        }
        let slots = Slots::of(code, image);
        let enters = |row: &Bundle| row.lanes.iter().any(|step| slots.is_use(step));
        // Rows of the program itself, not of its functions.
        let own = reached(&bundles.rows, vec![0]);
        // What a function changes is changed where it is called.
        let functions_change =
            bundles.rows.iter().zip(&own).any(|(row, own)| !own && row.lanes.iter().any(|step| slots.is_change(step)));
        let changes = |step: &Step| slots.is_change(step) || functions_change && matches!(step.op, Op::Call { .. });
        let mut changing: Vec<bool> = bundles.rows.iter().map(|row| row.lanes.iter().any(changes)).collect();
        loop {
            let before = changing.clone();
            for (row, bundle) in (0..).zip(&bundles.rows) {
                let changes = |next: u32| before.get(next as usize).copied().unwrap_or(false);
                changing[row as usize] |= bundle.successors(row).any(changes);
            }
            if changing == before {
                break;
            }
        }
        let leaves = changing.iter().zip(&own).map(|(changing, own)| *own && !changing).collect();
        Some(Self { enters: bundles.rows.iter().map(enters).collect(), leaves })
    }
}
