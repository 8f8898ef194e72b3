//! The program as a whole: its maps and who touches them, stack, packet offsets, loops.

use super::graph::{Graph, successors};
use super::regions::{AccessKind, At};
use super::transfer::Code;
use super::value::{Base, MapRef, Value};
use crate::MapSpec;
use crate::address::Region;
use crate::helper::{self, Arg};
use crate::insn::Kind;
use serde::Serialize;
use std::collections::BTreeMap;

/// Who touches a map, by slots.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MapUse {
    /// Name, for people.
    pub name: String,
    /// Loads of its values, and helpers that read them.
    pub reads: Vec<u32>,
    /// Stores to its values, and helpers that write them.
    pub writes: Vec<u32>,
    /// Atomic operations on its values.
    pub atomics: Vec<u32>,
    /// Helper calls with this map, and the helper's name.
    pub calls: Vec<(u32, &'static str)>,
    /// Pairs of a plain read and a plain write behind it that can touch the same bytes of a value
    /// which all CPUs share. Whether the second depends on the first is not looked at.
    pub read_modify_write: Vec<(u32, u32)>,
}

/// What is known of a program as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Instructions that are executed on some way, as far as the analysis can tell.
    pub reached: u32,
    /// Instructions that never are, although branches lead there.
    pub dead: Vec<u32>,
    /// Memory accesses that are reached.
    pub accesses: u32,
    /// Those whose region is not known.
    pub unknown: Vec<u32>,
    /// Those that may be outside of what may be accessed, as far as the analysis can tell.
    pub unproven: Vec<u32>,
    /// Maps that are touched.
    #[serde(serialize_with = "by_name")]
    pub maps: BTreeMap<MapRef, MapUse>,
    /// Whether packets of one flow must wait for each other: there is a plain read-modify-write of
    /// a shared value, or an access that could be one.
    pub flow_serial: bool,
    /// Bytes used of each stack frame, the program's own first. Without what unknown accesses use.
    pub stack: Vec<u32>,
    /// One past the greatest packet offset that is loaded at a fixed place.
    pub packet_read: u32,
    /// One past the greatest packet offset that is stored at a fixed place.
    pub packet_written: u32,
    /// Packet accesses at an offset that is not fixed.
    pub packet_variable: Vec<u32>,
    /// Jumps back: from and to.
    pub loops: Vec<(u32, u32)>,
}

fn by_name<S: serde::Serializer>(maps: &BTreeMap<MapRef, MapUse>, s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(maps.iter().map(|(map, used)| MapEntry { map: *map, used }))
}

#[derive(Serialize)]
struct MapEntry<'a> {
    map: MapRef,
    #[serde(flatten)]
    used: &'a MapUse,
}

/// Bytes of a map's value that an instruction touches.
struct Touch {
    pc: u32,
    map: MapRef,
    from: i64,
    to: i64,
    write: bool,
}

impl Summary {
    pub(super) fn new(code: &Code<'_>, graph: &Graph, slots: &[At]) -> Self {
        let mut s = Self { loops: graph.back_edges.clone(), ..Self::default() };
        let mut touches = Vec::new();
        for (pc, at) in (0u32..).zip(slots) {
            if at.before.is_none() {
                if graph.reached[pc as usize] && code.kind(pc).is_some() {
                    s.dead.push(pc);
                }
                continue;
            }
            s.reached += 1;
            s.access(code, pc, at, &mut touches);
            s.call(code, pc, at, &mut touches);
        }
        s.pairs(code, &touches);
        s.flow_serial = s.maps.values().any(|m| !m.read_modify_write.is_empty()) || !s.unknown.is_empty();
        s
    }

    fn map(&mut self, code: &Code<'_>, map: MapRef) -> &mut MapUse {
        self.maps.entry(map).or_insert_with(|| MapUse { name: map.name(code.image), ..MapUse::default() })
    }

    fn access(&mut self, code: &Code<'_>, pc: u32, at: &At, touches: &mut Vec<Touch>) {
        let Some(access) = &at.access else { return };
        self.accesses += 1;
        let in_values = matches!(access.region, Some(Region::MapValue | Region::ReadOnly));
        if access.region.is_none() || in_values && access.map.is_none() {
            self.unknown.push(pc);
        }
        if !access.in_bounds {
            self.unproven.push(pc);
        }
        let (low, high) = access.address.offsets();
        let (from, to) = (low, high.saturating_add(access.width.into()));
        let write = access.kind != AccessKind::Load;
        match (access.address.base, access.map) {
            (_, Some(maps)) => {
                for map in maps.each() {
                    let used = self.map(code, map);
                    match access.kind {
                        AccessKind::Load => used.reads.push(pc),
                        AccessKind::Store => used.writes.push(pc),
                        AccessKind::Atomic => used.atomics.push(pc),
                    }
                    if access.kind != AccessKind::Atomic {
                        touches.push(Touch { pc, map, from, to, write });
                    }
                }
            }
            (Base::Stack(frame), _) => self.stack_use(frame, from),
            (Base::Packet(_), _) if low == high => {
                let end = u32::try_from(to).unwrap_or(0);
                let greatest = if write { &mut self.packet_written } else { &mut self.packet_read };
                *greatest = end.max(*greatest);
            }
            (Base::Packet(_), _) => self.packet_variable.push(pc),
            _ => {}
        }
    }

    fn stack_use(&mut self, frame: u8, from: i64) {
        let frame = usize::from(frame);
        if self.stack.len() <= frame {
            self.stack.resize(frame + 1, 0);
        }
        let bytes = from.saturating_neg().clamp(0, crate::address::STACK_BYTES.into()) as u32;
        self.stack[frame] = self.stack[frame].max(bytes);
    }

    fn call(&mut self, code: &Code<'_>, pc: u32, at: &At, touches: &mut Vec<Touch>) {
        let Some(call) = &at.call else { return };
        let Some(helper) = helper::find(call.helper) else { return };
        let sizes = |size: fn(&MapSpec) -> u32| {
            let maps = call.map.map_or_else(Vec::new, MapRef::each);
            maps.into_iter().filter_map(|m| m.spec(code.image)).map(size).max().unwrap_or(0).into()
        };
        for map in call.map.map_or_else(Vec::new, MapRef::each) {
            self.map(code, map).calls.push((pc, helper.name));
            // What is popped or looked at may say what is pushed or popped behind it. Alone each is one step.
            let reads = matches!(helper.name, "map_pop_elem" | "map_peek_elem");
            let changes = matches!(helper.name, "map_push_elem" | "map_pop_elem");
            for write in [false, true].into_iter().filter(|write| if *write { changes } else { reads }) {
                touches.push(Touch { pc, map, from: 0, to: i64::MAX, write });
            }
            // An update replaces the whole value; what was read of it before is then modified.
            if helper.name == "map_update_elem" {
                touches.push(Touch { pc, map, from: 0, to: i64::MAX, write: true });
            }
        }
        for (index, (arg, value)) in call.args.iter().enumerate() {
            let sized = || call.args.get(index + 1).map_or(0, |(_, n)| n.as_number().whole.umax);
            let bytes = match arg {
                Arg::Key => sizes(|s| s.key_size),
                Arg::Value | Arg::WriteValue => sizes(|s| s.value_size),
                Arg::Read | Arg::Write => sized(),
                _ => continue,
            };
            self.argument(code, pc, matches!(arg, Arg::Write | Arg::WriteValue), value, bytes, touches);
        }
    }

    fn argument(&mut self, code: &Code<'_>, pc: u32, write: bool, at: &Value, bytes: u64, touches: &mut Vec<Touch>) {
        let (from, high) = at.offsets();
        match at.base {
            Base::Map(map) => {
                let used = self.map(code, map);
                if write {
                    used.writes.push(pc)
                } else {
                    used.reads.push(pc)
                }
                let to = high.saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
                touches.push(Touch { pc, map, from, to, write });
            }
            Base::Stack(frame) => self.stack_use(frame, from),
            _ => {}
        }
    }

    /// Finds reads and writes behind them.
    fn pairs(&mut self, code: &Code<'_>, touches: &[Touch]) {
        let main = code.program.functions.iter().map(|f| f.start).filter(|s| *s > 0).min().unwrap_or(u32::MAX);
        for read in touches.iter().filter(|t| !t.write) {
            if read.map.spec(code.image).is_none_or(|spec| spec.kind.is_per_cpu()) {
                continue;
            }
            let mut behind = None;
            for write in touches.iter().filter(|w| w.write && w.map == read.map && w.from < read.to && read.from < w.to)
            {
                // Other functions may be called in any order.
                let after = read.pc >= main
                    || write.pc >= main
                    || behind.get_or_insert_with(|| reachable(code, read.pc))[write.pc as usize];
                if after {
                    self.map(code, read.map).read_modify_write.push((read.pc, write.pc));
                }
            }
        }
    }
}

/// Slots behind `from` in its function.
fn reachable(code: &Code<'_>, from: u32) -> Vec<bool> {
    let mut seen = vec![false; code.kinds.len()];
    let mut open = vec![from];
    while let Some(pc) = open.pop() {
        if matches!(code.kind(pc), Some(Kind::Exit) | None) {
            continue;
        }
        for to in successors(code, pc).into_iter().flatten() {
            if let Some(seen) = seen.get_mut(to as usize)
                && !*seen
            {
                *seen = true;
                open.push(to);
            }
        }
    }
    seen
}
