//! What the engine does with a packet before a core has it, in the bundle model.

use super::bits::Seen;
use super::encode::{cycles, encode};
use super::lookup::Lookup;
use super::value::More;
use super::walk::Count;
use super::{Action, Table};
use crate::cycles::search::Search;
use crate::cycles::trace::Start;
use crate::op::LOOKUP;
use sluice_ebpf::MapId;
use sluice_ebpf::address::frame_pointer;
use sluice_ebpf::vm::{Cpu, Ingress};
use sluice_formats::xdp::rows::XdpWarpLeafRow;
use sluice_object::xdp::XdpWarp;
use sluice_object::xdp::warp::matcher;

/// A table that is bound to the maps of a runtime.
#[derive(Clone, Debug)]
pub struct Bound {
    table: Table,
    /// Its rows, which say what packets are of which leaf.
    rows: XdpWarp,
    /// Maps that each leaf looks up in, or counts in.
    maps: Vec<Vec<Option<MapId>>>,
    /// Cycles that each leaf's steps take the engine.
    cycles: Vec<u8>,
}

/// Where a packet begins.
pub enum Begin {
    /// At this row.
    Row(u32),
    /// Nowhere: its verdict is in r0.
    Done,
}

impl Bound {
    /// Binds; `map` gives the map with an index of the image.
    pub fn new(table: Table, map: impl Fn(u32) -> Option<MapId>) -> Self {
        let of = |action: &Action| match action {
            Action::Resume { entry, .. } => entry.lookup.iter().map(|lookup| map(lookup.map)).collect(),
            Action::Verdict { counts, .. } => counts.iter().map(|count| map(count.cell.map)).collect(),
            Action::Plain => Vec::new(),
        };
        let maps = table.leaves.iter().map(|leaf| of(&leaf.action)).collect();
        let rows = encode(&table);
        let cycles_of = |leaf: &XdpWarpLeafRow| {
            let first = usize::from(leaf.step);
            cycles(&rows.steps[first..first + usize::from(leaf.steps)], first) as u8
        };
        let cycles = rows.leaves.iter().map(cycles_of).collect();
        Self { rows, table, maps, cycles }
    }

    /// The leaf of a packet.
    pub fn leaf(&self, cpu: &Cpu<'_>) -> Option<usize> {
        let (frame, Ingress { ifindex, queue }) = (cpu.packet.frame(), cpu.ingress);
        let leaf = self.rows.rule(&matcher::Seen { frame, ifindex, queue })?;
        debug_assert_eq!(Some(leaf), self.table.leaf(&Seen::new(frame, cpu.ingress)), "the rows say another leaf");
        // At the limit on work the program itself says where it was.
        Some(leaf).filter(|leaf| self.table.leaves[*leaf].work <= cpu.work_left())
    }

    /// Whether a leaf looks up.
    pub fn looks_up(&self, leaf: Option<usize>) -> bool {
        let action = leaf.map(|leaf| &self.table.leaves[leaf].action);
        matches!(action, Some(Action::Resume { entry, .. }) if entry.lookup.is_some())
    }

    /// How often a leaf counts.
    pub fn counts(&self, leaf: Option<usize>) -> usize {
        match leaf.map(|leaf| &self.table.leaves[leaf].action) {
            Some(Action::Verdict { counts, .. }) => counts.len(),
            _ => 0,
        }
    }

    /// Counts, the first time or a further one.
    pub fn count(&self, cpu: &mut Cpu<'_>, leaf: Option<usize>, at: usize) {
        let Some(leaf) = leaf else { return };
        if let Action::Verdict { counts, .. } = &self.table.leaves[leaf].action
            && let (Some(count), Some(map)) = (counts.get(at), self.maps[leaf].get(at))
        {
            add(cpu, count, *map);
        }
    }

    /// Sets registers as the leaf says, and looks up; what a verdict counts has been counted.
    pub fn begin(&self, cpu: &mut Cpu<'_>, leaf: Option<usize>, plain: u32) -> (Begin, Start) {
        let Some(at) = leaf else { return (Begin::Row(plain), Start::Plain) };
        cpu.work_done(self.table.leaves[at].work);
        match &self.table.leaves[at].action {
            Action::Plain => (Begin::Row(plain), Start::Plain),
            Action::Verdict { r0, .. } => {
                cpu.registers[0] = *r0;
                (Begin::Done, Start::Verdict)
            }
            Action::Resume { row, missed, entry } => {
                let seen = Seen::new(cpu.packet.frame(), cpu.ingress);
                for (r, from) in &entry.registers {
                    cpu.registers[usize::from(*r)] = from.of(&seen);
                }
                for (offset, from) in &entry.stack {
                    // The words lie in the program's own frame.
                    let _ = cpu.store_bytes(frame_pointer(0).wrapping_add(*offset as u64), 8, from.of(&seen));
                }
                let map = self.maps[at].first().copied().flatten();
                let search = entry.lookup.as_ref().zip(map).and_then(|(lookup, map)| search(cpu, &seen, lookup, map));
                let missed = missed.filter(|_| search.is_some() && cpu.registers[0] == 0);
                let (steps, cycles) = (self.rows.leaves[at].steps, self.cycles[at]);
                (Begin::Row(missed.unwrap_or(*row)), Start::Resume { steps, cycles, search })
            }
        }
    }
}

/// Adds to a value of an array.
fn add(cpu: &mut Cpu<'_>, count: &Count, map: Option<MapId>) {
    let cell = count.cell;
    let value = map.and_then(|map| cpu.maps.lookup(map, &cell.index.to_le_bytes(), cpu.world.cpu));
    let Some(address) = value.map(|value| u64::from(value) + u64::from(cell.offset)) else { return };
    let more = match count.more {
        More::Number(number) => number,
        More::Length => cpu.packet.frame().len() as u64,
    };
    // A value that is there can be written.
    if let Ok(before) = cpu.load_bytes(address, cell.bytes) {
        let _ = cpu.store_bytes(address, cell.bytes, before.wrapping_add(more));
    }
}

/// A packet has no processor yet: of a per-CPU map it gets the first copy. No other map asks.
const NO_PROCESSOR: u32 = 0;

/// Carries out a lookup; its answer is in r0.
fn search(cpu: &mut Cpu<'_>, seen: &Seen, lookup: &Lookup, map: MapId) -> Option<Search> {
    let value = cpu.maps.lookup(map, &lookup.key_of(seen), NO_PROCESSOR);
    cpu.registers[0] = value.map_or(0, u64::from);
    cpu.maps.spec(map).map(|spec| Search::new(LOOKUP, spec))
}
