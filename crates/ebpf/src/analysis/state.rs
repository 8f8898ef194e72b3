//! What is known before an instruction: registers, stack, packet bounds.

use super::value::{Base, Generation, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A stack frame and what its call keeps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    /// r6 to r9 of the caller.
    pub saved: [Value; 4],
    /// r1 to r5 that a callback is entered with each time.
    pub callback: Option<[Value; 5]>,
    /// Values by offset from the frame's end: bytes and value, zero-extended.
    pub slots: BTreeMap<i16, (u8, Value)>,
}

impl Frame {
    pub fn new() -> Self {
        Self { saved: [Value::unknown(); 4], callback: None, slots: BTreeMap::new() }
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        self.saved.iter().chain(self.callback.iter().flatten()).chain(self.slots.values().map(|(_, v)| v))
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let callback = self.callback.iter_mut().flatten();
        self.saved.iter_mut().chain(callback).chain(self.slots.values_mut().map(|(_, v)| v))
    }
}

/// What a packet bound was compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mark {
    /// The frame's start plus the number is not beyond its end.
    Data,
    /// The metadata's start plus the number is not beyond the frame's start.
    Meta,
    /// The value with this id plus the number is not beyond the frame's end.
    Id(u32),
}

/// Largest distance from a packet's start that lengths are proven for: less than the address of
/// the packet region, so that no sum wraps.
pub(super) const FAR: i64 = 1 << 28;

/// What is known before an instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub regs: [Value; 11],
    /// The program's own frame first.
    pub frames: Vec<Rc<Frame>>,
    /// The packet bounds that the context has now.
    pub generation: Generation,
    /// Proven lengths, of these bounds.
    pub proven: BTreeMap<Mark, i64>,
}

impl State {
    /// At the start of a program.
    pub fn entry() -> Self {
        let mut regs = [Value::unknown(); 11];
        regs[1] = Value::constant(crate::address::CONTEXT.into());
        regs[10] = Value::pointer(Base::Stack(0));
        Self { regs, frames: vec![Rc::new(Frame::new())], generation: Generation::Entry, proven: BTreeMap::new() }
    }

    /// Applies `change` to every value for which `of` holds.
    pub fn change(&mut self, of: impl Fn(&Value) -> bool, mut change: impl FnMut(&mut Value)) {
        self.regs.iter_mut().filter(|v| of(v)).for_each(&mut change);
        for frame in &mut self.frames {
            if frame.values().any(&of) {
                Rc::make_mut(frame).values_mut().filter(|v| of(v)).for_each(&mut change);
            }
        }
    }

    /// A new identity made at a slot; what had the same from an earlier time loses it.
    pub fn fresh_id(&mut self, pc: u32) -> u32 {
        self.change(|v| v.id.is_some_and(|(id, _)| id == pc), |v| v.id = None);
        self.proven.remove(&Mark::Id(pc));
        pc
    }

    /// Gives a register that has none an identity, so that what is learnt of its copies is learnt of it.
    pub fn identify(&mut self, register: usize, pc: u32) {
        let v = self.regs[register];
        if v.id.is_none() && (v.nullable || v.offset.as_constant().is_none()) {
            let id = self.fresh_id(pc);
            self.regs[register].id = Some((id, 0));
        }
    }

    /// The packet bounds are new from here on.
    pub fn move_packet(&mut self, to: Generation) {
        self.forget_generation(to);
        self.generation = to;
        self.proven.clear();
    }

    fn forget_generation(&mut self, generation: Generation) {
        self.change(|v| v.has_generation(generation), |v| v.rename(generation, None));
    }

    /// Nothing is known of any stack byte.
    pub fn forget_stack(&mut self) {
        for frame in &mut self.frames {
            if !frame.slots.is_empty() {
                Rc::make_mut(frame).slots.clear();
            }
        }
    }

    /// Records a proven length.
    pub fn prove(&mut self, mark: Mark, bytes: i64) {
        if bytes > 0 {
            let best = self.proven.entry(mark).or_insert(bytes);
            *best = bytes.max(*best);
        }
    }

    /// Makes the bounds of this state those of the slot `pc`, where ways with different ones meet.
    pub fn merge_bounds(&mut self, pc: u32) {
        let merged = Generation::Merge(pc);
        let current = self.generation;
        if current != merged {
            self.forget_generation(merged);
            self.change(|v| v.has_generation(current), |v| v.rename(current, Some(merged)));
            self.generation = merged;
        }
    }

    /// Gives a packet address that differs between two states one identity in both, with what is
    /// proven of it in either, so that it is not lost where they meet.
    fn unite(&mut self, o: &mut Self, r: usize, pc: u32) {
        let (a, b) = (self.regs[r], o.regs[r]);
        let packet = matches!(a.base, Base::Packet(_)) && a.base == b.base && !a.nullable && !b.nullable;
        let same = a.id == b.id && (a.id.is_some() || a.offset == b.offset && a.offset.as_constant().is_some());
        if packet && !same {
            let id = 1 << 31 | pc << 4 | r as u32;
            self.adopt(r, id);
            o.adopt(r, id);
        }
    }

    /// Makes `id` the identity of a register's packet address and of what is known relative to it.
    fn adopt(&mut self, r: usize, id: u32) {
        let v = self.regs[r];
        if v.id == Some((id, 0)) {
            return;
        }
        let known = self.proven_from(&v);
        self.fresh_id(id);
        if let Some((old, delta)) = v.id.filter(|(old, _)| *old != id) {
            let of = |v: &Value| v.id.is_some_and(|(i, _)| i == old);
            self.change(of, |v| v.id = v.id.map(|(_, d)| (id, d.wrapping_sub(delta))));
        }
        self.regs[r].id = Some((id, 0));
        if let Some(bytes) = known {
            self.prove(Mark::Id(id), bytes);
        }
    }

    /// Bytes that the frame surely has from this packet address on.
    pub fn proven_from(&self, v: &Value) -> Option<i64> {
        if !v.has_generation(self.generation) || !matches!(v.base, Base::Packet(_)) || v.nullable {
            return None;
        }
        let (least, greatest) = v.offsets();
        // Sums of addresses so near to the packet do not wrap.
        if least <= -FAR || greatest >= i64::MAX / 2 {
            return None;
        }
        let by_id =
            v.id.filter(|(_, d)| d.unsigned_abs() < FAR as u64)
                .and_then(|(id, d)| Some(self.proven.get(&Mark::Id(id))? - d));
        let by_data = self.proven.get(&Mark::Data).filter(|_| greatest < FAR).map(|n| n - greatest);
        by_id.max(by_data).filter(|n| *n > 0)
    }

    /// Everything that holds in both, which arrive at slot `pc`; widened if thresholds are given.
    /// Both have as many frames.
    pub fn join(&mut self, mut o: Self, pc: u32, thresholds: Option<&[i64]>) {
        if self.generation != o.generation {
            self.merge_bounds(pc);
            o.merge_bounds(pc);
        }
        let join = |a: &Value, b: &Value| match thresholds {
            Some(thresholds) => a.widen(b, thresholds),
            None => a.join(b),
        };
        for r in 0..11 {
            self.unite(&mut o, r, pc);
        }
        for (a, b) in self.regs.iter_mut().zip(&o.regs) {
            *a = join(a, b);
        }
        for (a, b) in self.frames.iter_mut().zip(&o.frames) {
            if !Rc::ptr_eq(a, b) && a != b {
                *a = Rc::new(join_frames(a, b, &join));
            }
        }
        self.proven = self
            .proven
            .iter()
            .filter_map(|(mark, a)| {
                let b = *o.proven.get(mark)?;
                // A length that shrinks in a loop would shrink many times.
                (thresholds.is_none() || b >= *a).then_some((*mark, b.min(*a)))
            })
            .collect();
    }
}

fn join_frames(a: &Frame, b: &Frame, join: &impl Fn(&Value, &Value) -> Value) -> Frame {
    let mut frame = Frame::new();
    for (to, (a, b)) in frame.saved.iter_mut().zip(a.saved.iter().zip(&b.saved)) {
        *to = join(a, b);
    }
    if let (Some(a), Some(b)) = (&a.callback, &b.callback) {
        frame.callback = Some(std::array::from_fn(|i| join(&a[i], &b[i])));
    }
    for (offset, (bytes, value)) in &a.slots {
        let other = super::stack::load(b, (*offset).into(), (*bytes).into());
        let joined = join(value, &other);
        if joined != Value::unknown() {
            frame.slots.insert(*offset, (*bytes, joined));
        }
    }
    frame
}

impl State {
    /// Nothing is known of any register.
    pub fn nothing() -> Self {
        Self {
            regs: [Value::unknown(); 11],
            frames: Vec::new(),
            generation: Generation::Entry,
            proven: BTreeMap::new(),
        }
    }
}
