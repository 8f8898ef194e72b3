//! What a program makes of the outer tag of its frames, as far as its rows say it.
//!
//! Ingress judges a frame by bytes 12 to 15: type 0x8100 and a VLAN. A program that writes them may make a frame of
//! another tenant's VLAN, which then leaves no port (`foreign_vlan`). [`RmtPart::outer_tags`] says for every path and
//! deparse row which VLANs may stand there. Every packet that the hardware could make is covered; what rows do not
//! tell, [`Outer::Any`] stands for. Where the value of a container depends on the packet, all its values are looked at.

use super::part::{RmtData, RmtPart, RmtStage};
use sluice_formats::rmt::codes::{self, AluA, AluB, AluOp, Cross, LaneSize, StateKind, When};
use sluice_formats::rmt::rows::{ActionRow, DeparseRow, PathRow, SelectRow};
use sluice_formats::rmt::target::{CONTAINERS, DATA};
use std::collections::{BTreeMap, BTreeSet};

/// Ethernet type of a tag.
const TAG: u64 = 0x8100;
/// Bits of a VLAN ID in the word behind it.
const VLAN_BITS: u64 = 0x0fff;
/// Valid headers among the words that an action may write.
const HEADERS: usize = 13 - 9;
/// More values of a container than this are any value.
const MOST_VALUES: usize = 256;
/// Likewise of what is combined from several.
const MOST_STEPS: usize = 1 << 17;

/// What a frame has for an outer tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outer {
    /// This VLAN.
    Vlan(u16),
    /// No tag, where one had come.
    Untagged,
    /// A VLAN that entries to come, packets or state decide.
    Any,
}

/// What one deparse row does to the outer tag of the packets of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuterTag {
    /// Parse path.
    pub path: usize,
    /// Deparse row.
    pub row: usize,
    /// The program writes type 0x8100 itself, so that a frame that had no tag has one.
    pub adds: bool,
    /// Type 0x8100 is certain, and not only possible.
    pub certain: bool,
    /// What the tag may be.
    pub outer: BTreeSet<Outer>,
}

/// What is known of a value: bits with their values, and bits that are still those of the packet bytes it was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Known {
    bits: u64,
    value: u64,
    taken: u64,
}

/// Values that a container may have.
type Values = BTreeSet<Known>;

impl Known {
    const ANY: Self = Self { bits: 0, value: 0, taken: 0 };

    fn constant(value: u64) -> Self {
        Self { bits: u64::MAX, value, taken: 0 }
    }

    fn taken() -> Self {
        Self { bits: 0, value: 0, taken: u64::MAX }
    }

    /// `self` on the bits of the mask, `other` elsewhere.
    fn over(self, other: Self, mask: u64) -> Self {
        let pick = |a: u64, b: u64| a & mask | b & !mask;
        Self {
            bits: pick(self.bits, other.bits),
            value: pick(self.value, other.value),
            taken: pick(self.taken, other.taken),
        }
    }

    /// In another container: no longer beside the bytes that it was taken from.
    fn moved(self) -> Self {
        Self { taken: 0, ..self }
    }

    /// The result of an operation where it is written.
    fn of(op: u8, a: Self, b: Self, mask: u64) -> Self {
        let (ones, zeros) = (b.bits & b.value, b.bits & !b.value);
        let set = |bits: u64, value: u64| Self { bits, value: bits & value, taken: 0 };
        let whole = a.bits & b.bits & mask == mask;
        match op {
            op if op == AluOp::And.code() => set(zeros, 0).over(a.over(Self::ANY, ones), zeros),
            op if op == AluOp::AndNot.code() => set(ones, 0).over(a.over(Self::ANY, zeros), ones),
            op if op == AluOp::Or.code() => set(ones, ones).over(a.over(Self::ANY, zeros), ones),
            op if op == AluOp::Xor.code() => set(a.bits & ones, !a.value).over(a.over(Self::ANY, zeros), ones),
            op if op == AluOp::Add.code() && whole => Self::constant((a.value & mask).wrapping_add(b.value & mask)),
            op if op == AluOp::Sub.code() && whole => Self::constant((a.value & mask).wrapping_sub(b.value & mask)),
            op if op == AluOp::Add.code() || op == AluOp::Sub.code() => Self::ANY,
            // Moves, and what is written on a comparison.
            _ => b,
        }
    }
}

fn class(container: usize) -> usize {
    container / 8
}

/// Bits of a container.
fn ones(container: usize) -> u64 {
    (1 << (16 * (class(container) + 1))) - 1
}

/// Big-endian number of the bytes of action data from a 2-byte position; zeros behind its end.
fn number(data: &RmtData, at: u8, bytes: usize) -> u64 {
    let byte = |i: usize| u64::from(data.0.get(2 * usize::from(at & 7) + i).copied().unwrap_or(0));
    (0..bytes).fold(0, |value, i| value << 8 | byte(i))
}

/// Immediate and mask of a container's ALU.
fn wide(action: &ActionRow, container: usize) -> (u64, u64) {
    let i = container % 8;
    match class(container) {
        0 => (action.immediate2[i].into(), action.mask2[i].into()),
        1 => (action.immediate4[i].into(), action.mask4[i].into()),
        _ => (action.immediate6[i], action.mask6[i]),
    }
}

/// Operands of the size of a container: picks, data, amount, mask of the rotation.
fn shared(action: &ActionRow, container: usize) -> ([u8; 3], [u8; 2], u8, u64) {
    match class(container) {
        0 => (action.class2.pick, action.class2.data, action.class2.amount, action.class2.rotate_mask.into()),
        1 => (action.class4.pick, action.class4.data, action.class4.amount, action.class4.rotate_mask.into()),
        _ => (action.class6.pick, action.class6.data, action.class6.amount, action.class6.rotate_mask),
    }
}

/// All containers.
type Containers = Vec<Values>;

fn joined(values: impl IntoIterator<Item = Known>) -> Values {
    let mut all = Values::new();
    for value in values {
        all.insert(value);
        if all.len() > MOST_VALUES {
            return Values::from([Known::ANY]);
        }
    }
    all
}

fn picked(before: &Containers, container: usize, pick: u8) -> Values {
    before[8 * class(container) + usize::from(pick & 7)].iter().map(|v| v.moved()).collect()
}

fn crossed(before: &Containers, action: &ActionRow) -> Values {
    let (source, shift) = (usize::from(action.cross_source), 16 * u32::from(action.cross_shift));
    let kept = u64::MAX >> (16 + 16 * u32::from(action.cross_cut.min(2)));
    match before.get(source) {
        Some(values) => {
            let shifted = |v: &Known| {
                let v = v.over(Known::constant(0), ones(source) & kept);
                Known { bits: v.bits >> shift | !(u64::MAX >> shift), value: v.value >> shift, taken: 0 }
            };
            values.iter().map(shifted).collect()
        }
        None if action.cross_source == Cross::Zero.code() => Values::from([Known::constant(0)]),
        None => Values::from([Known::ANY]),
    }
}

/// Values of the containers behind an action with this data; none is data that is not there yet.
fn acted(before: &Containers, action: &ActionRow, data: Option<&RmtData>) -> Containers {
    let mut after = before.clone();
    let cross = crossed(before, action);
    for (own, alu) in action.alus.iter().enumerate().filter(|(_, alu)| alu.op != AluOp::None.code()) {
        let (immediate, mask) = wide(action, own);
        let (pick, places, amount, rotate_mask) = shared(action, own);
        let of_data = |i: usize| {
            let known = data.map_or(Known::ANY, |d| Known::constant(number(d, places[i], 2 * (class(own) + 1))));
            Values::from([known])
        };
        let first = match alu.a {
            a if a == AluA::P0.code() => picked(before, own, pick[0]),
            a if a == AluA::P1.code() => picked(before, own, pick[1]),
            a if a == AluA::X.code() => cross.clone(),
            _ => before[own].clone(),
        };
        let second = match alu.b {
            b if b == AluB::Immediate.code() => Values::from([Known::constant(immediate)]),
            b if b == AluB::DataA.code() => of_data(0),
            b if b == AluB::DataB.code() => of_data(1),
            b if b == AluB::P0.code() => picked(before, own, pick[0]),
            b if b == AluB::P1.code() => picked(before, own, pick[1]),
            b if b == AluB::R.code() => {
                let bits = ones(own).count_ones();
                let turn = |v: u64| {
                    let (v, n) = (v & ones(own), u32::from(amount) % bits);
                    v << n | v >> (bits - n)
                };
                let rotated = |v: &Known| {
                    let v = Known { bits: turn(v.bits), value: turn(v.value), taken: 0 };
                    v.over(Known::constant(0), rotate_mask)
                };
                before[8 * class(own) + usize::from(pick[2] & 7)].iter().map(rotated).collect()
            }
            _ => cross.clone(),
        };
        let maybe = alu.when != When::Always.code() || [AluOp::Ge.code(), AluOp::Lt.code()].contains(&alu.op);
        let kept = before[own].iter().copied().filter(|_| maybe);
        let written = before[own].iter().flat_map(|old| {
            let (first, second) = (&first, &second);
            // The container's own value is the same one on both sides.
            let first: Vec<Known> =
                if alu.a == AluA::Own.code() { vec![*old] } else { first.iter().copied().collect() };
            first
                .into_iter()
                .flat_map(move |a| second.iter().map(move |b| Known::of(alu.op, a, *b, mask).over(*old, mask)))
        });
        after[own] = match before[own].len() * first.len() * second.len() > MOST_STEPS {
            true => Values::from([Known::ANY]),
            false => joined(kept.chain(written)),
        };
    }
    if action.state.kind != StateKind::None.code() {
        for to in [action.state.old_to, action.state.new_to].into_iter().filter(|to| to & 8 != 0) {
            after[8 + usize::from(to & 7)] = Values::from([Known::ANY]);
        }
    }
    after
}

/// What entries and default of a stage lead to; entries that may still come, to any action with any data.
fn leads(stage: &RmtStage) -> Vec<(&ActionRow, Option<&RmtData>)> {
    let entries = stage.exact.iter().map(|e| (e.row.action, &e.data));
    let entries = entries.chain(stage.ternary.iter().map(|e| (e.row.action, &e.data)));
    let default = stage.key.default_valid.then_some((stage.key.default_action, &stage.default_data));
    let known: BTreeMap<(u16, [u8; DATA]), &RmtData> =
        entries.chain(default).map(|(action, data)| ((action, data.0), data)).collect();
    let mut all: Vec<_> = known
        .into_iter()
        .filter_map(|((action, _), data)| Some((stage.actions.get(usize::from(action))?, Some(data))))
        .collect();
    let (exact, ternary) = (usize::from(stage.exact_room), usize::from(stage.ternary_room));
    if exact > stage.exact.len() || ternary > stage.ternary.len() {
        all.extend(stage.actions.iter().map(|action| (action, None)));
    }
    all
}

/// Values of the containers, and valid headers that may have changed, behind all stages.
fn behind_stages(part: &RmtPart, path: &PathRow) -> (Containers, u16) {
    // Most programs put no container there, and then only the headers matter.
    let used = part
        .deparse
        .iter()
        .filter_map(|beats| beats.first())
        .any(|row| (12..16).any(|at| matches!(source(row, at), Source::Container(..))));
    let first = |n: usize| match (path.extract[n].taken, codes::Known::from_code(path.extract[n].offset)) {
        (true, _) => Known::taken(),
        (false, Some(codes::Known::Constant)) if n < 8 => Known::constant(path.constant.into()),
        (false, Some(codes::Known::Port | codes::Known::Length)) if n < 8 => Known::ANY,
        (false, _) => Known::constant(0),
    };
    let mut values: Containers = (0..CONTAINERS).map(|n| Values::from([first(n)])).collect();
    for &container in part.shared.values() {
        if let Some(shared) = values.get_mut(usize::from(container)) {
            // The system module may write what it shares, in stages before and behind.
            *shared = Values::from([Known::ANY]);
        }
    }
    let mut headers = 0;
    for stage in part.stages.values() {
        let leads = leads(stage);
        headers |= leads.iter().fold(0, |all, (action, _)| all | action.words[HEADERS].mask);
        let leads = leads.into_iter().filter(|_| used);
        let all: Vec<Containers> = leads.map(|(action, data)| acted(&values, action, data)).collect();
        // Every packet hits or takes the default; without one it may miss and go on unchanged.
        let missed = if stage.key.default_valid { None } else { Some(values.clone()) };
        let ends: Vec<Containers> = all.into_iter().chain(missed).collect();
        if used && !ends.is_empty() {
            values = (0..CONTAINERS).map(|n| joined(ends.iter().flat_map(|end| end[n].iter().copied()))).collect();
        }
    }
    (values, headers)
}

/// Bytes of the packet that are known, each with the bits that count and their value, by the path that it took.
type Selected = BTreeMap<usize, (u8, u8)>;

/// All ways on which a packet comes to a path.
fn ways(part: &RmtPart, path: usize) -> Vec<Selected> {
    let valid = |row: &SelectRow, to: usize| -> Vec<Selected> {
        let alternatives = row.alternatives.iter().filter(|a| a.valid && usize::from(a.to) == to);
        alternatives
            .map(|a| {
                let mut known = Selected::new();
                for k in (0..8).filter(|&k| a.mask.0[k] != 0) {
                    let (mask, value) = known.entry(row.offsets[k].into()).or_default();
                    (*mask, *value) = (*mask | a.mask.0[k], *value | a.value.0[k]);
                }
                known
            })
            .collect()
    };
    let mut all = Vec::new();
    for (n, node) in part.nodes.iter().enumerate() {
        for first in valid(&part.first, n) {
            for second in valid(node, path) {
                let mut both = first.clone();
                for (at, (mask, value)) in second {
                    let known = both.entry(at).or_default();
                    *known = (known.0 | mask, known.1 | value);
                }
                all.push(both);
            }
        }
    }
    all
}

/// Deparse rows that packets of a path may take.
fn rows_of(part: &RmtPart, path: usize, headers: u16, changed: u16) -> BTreeSet<usize> {
    let (found, open) = (path as u32 | u32::from(headers) << 4, u32::from(changed) << 4);
    let mut rows = BTreeSet::new();
    for pattern in part.patterns.patterns.iter().filter(|p| p.valid) {
        if (found ^ pattern.value) & pattern.mask & !open == 0 {
            rows.insert(usize::from(pattern.row));
            if pattern.mask & open == 0 {
                break;
            }
        }
    }
    rows
}

/// Where an outgoing byte comes from.
enum Source {
    /// Byte of a container, first byte 0.
    Container(usize, usize),
    /// Byte of the packet.
    Packet(usize),
    /// A checksum.
    Sum,
}

fn source(row: &DeparseRow, at: usize) -> Source {
    if row.updates.iter().any(|u| u.valid && (at == usize::from(u.at) || at == usize::from(u.at) + 1)) {
        return Source::Sum;
    }
    let lane = &row.lanes[at];
    let place = usize::from(lane.place & 7);
    let (class, rotation) = match lane.size {
        s if s == LaneSize::Two.code() => (0, row.rotate2[place]),
        s if s == LaneSize::Four.code() => (1, row.rotate4[place]),
        s if s == LaneSize::Six.code() => (2, row.rotate6[place]),
        _ => {
            let delta = isize::from(row.delta());
            let behind = at >= usize::from(row.split);
            return Source::Packet(if behind { at.saturating_add_signed(-delta) } else { at });
        }
    };
    let size = 2 * (class + 1);
    Source::Container(8 * class + place, (at + 2 * size - usize::from(rotation)) % size)
}

/// Two bytes as they leave: bits that are known, their values, and bits that are the packet's own at their own place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Word {
    bits: u64,
    value: u64,
    own: u64,
}

impl Word {
    fn beside(self, next: Self) -> Self {
        let join = |a: u64, b: u64| a << 8 | b;
        Self { bits: join(self.bits, next.bits), value: join(self.value, next.value), own: join(self.own, next.own) }
    }
}

/// What bytes 12 and 13, and 14 and 15, may be together.
fn ends(row: &DeparseRow, path: &PathRow, values: &Containers, selected: &Selected) -> BTreeSet<[Word; 2]> {
    let sources = [12, 13, 14, 15].map(|at| (at, source(row, at)));
    let used: BTreeSet<usize> =
        sources.iter().filter_map(|(_, s)| if let Source::Container(c, _) = s { Some(*c) } else { None }).collect();
    let many = used.iter().map(|&c| values[c].len()).product::<usize>() > MOST_STEPS;
    let mut choices: Vec<BTreeMap<usize, Known>> = vec![BTreeMap::new()];
    for &c in &used {
        let any = Values::from([Known::ANY]);
        let of = if many { &any } else { &values[c] };
        let with = |choice: &BTreeMap<usize, Known>| {
            let choice = choice.clone();
            of.iter().map(move |known| choice.clone().into_iter().chain([(c, *known)]).collect()).collect::<Vec<_>>()
        };
        choices = choices.iter().flat_map(with).collect();
    }
    let of_packet = |from: usize, at: usize| {
        let (mask, value) = selected.get(&from).copied().unwrap_or((0, 0));
        Word { bits: mask.into(), value: value.into(), own: if from == at { 0xff } else { 0 } }
    };
    let byte = |choice: &BTreeMap<usize, Known>, at: usize, source: &Source| match *source {
        Source::Packet(from) => of_packet(from, at),
        Source::Sum => Word::default(),
        Source::Container(c, byte) => {
            let shift = 8 * (2 * (class(c) + 1) - 1 - byte);
            let part = |bits: u64| bits >> shift & 0xff;
            let known = choice.get(&c).copied().unwrap_or(Known::ANY);
            let (came, taken) = (of_packet(usize::from(path.extract[c].offset) + byte, at), part(known.taken));
            Word {
                bits: part(known.bits) | taken & came.bits,
                value: part(known.bits & known.value) | taken & came.value,
                own: taken & came.own,
            }
        }
    };
    let pairs = |choice: &BTreeMap<usize, Known>| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| byte(choice, sources[i].0, &sources[i].1));
        [a.beside(b), c.beside(d)]
    };
    choices.iter().map(pairs).collect()
}

impl RmtPart {
    /// Every path and deparse row that writes the outer tag, or takes one away. Frames that leave with bytes 12 to 15 as
    /// they came are not named.
    pub fn outer_tags(&self) -> Vec<OuterTag> {
        let mut found = Vec::new();
        for (number, path) in self.paths.iter().enumerate() {
            let (values, changed) = behind_stages(self, path);
            for row in rows_of(self, number, path.headers, changed) {
                let Some(beat) = self.deparse.get(row).and_then(|beats| beats.first()) else { continue };
                let mut tag = OuterTag { path: number, row, adds: false, certain: true, outer: BTreeSet::new() };
                for selected in ways(self, number) {
                    let came = [12, 13].map(|at| selected.get(&at).copied().unwrap_or((0, 0)));
                    let came_tagged = came == [(0xff, 0x81), (0xff, 0x00)];
                    for [kind, vlan] in ends(beat, path, &values, &selected) {
                        judge(&mut tag, kind, vlan, came_tagged);
                    }
                }
                if !tag.outer.is_empty() {
                    found.push(tag);
                }
            }
        }
        found
    }
}

/// Adds what one pair of words says.
fn judge(tag: &mut OuterTag, kind: Word, vlan: Word, came_tagged: bool) {
    let known = kind.bits == 0xffff;
    if (kind.value ^ TAG) & kind.bits != 0 {
        if came_tagged {
            tag.outer.insert(Outer::Untagged);
        } else if !known {
            tag.certain = false;
        }
        return;
    }
    let own = kind.own == 0xffff;
    // Priority bits decide nothing.
    if own && vlan.own & VLAN_BITS == VLAN_BITS {
        return;
    }
    if came_tagged && !known {
        // What moves to its place is a tag or is none.
        tag.outer.insert(Outer::Untagged);
    }
    tag.certain &= known;
    tag.adds |= known && !own;
    tag.outer.insert(match vlan.bits & VLAN_BITS == VLAN_BITS {
        true => Outer::Vlan((vlan.value & VLAN_BITS) as u16),
        false => Outer::Any,
    });
}
