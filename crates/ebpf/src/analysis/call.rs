//! What a helper call makes of what is known before it.

use super::num::Num;
use super::state::State;
use super::transfer::{Code, Edge, Step};
use super::value::{Base, Generation, MapRef, Value};
use crate::address::{FUNCTIONS, STACK_BYTES};
use crate::helper::{self, Arg, Helper, Ret};
use crate::{MapSpec, MapType};

/// Helpers with a meaning beyond their signature.
mod number {
    pub const PRANDOM: i32 = 7;
    pub const PROCESSOR_ID: i32 = 8;
    pub const TAIL_CALL: i32 = 12;
    pub const FOR_EACH: i32 = 164;
    pub const LOOP: i32 = 181;
}

/// The map that a helper is called with.
pub(super) fn map_argument(s: &State, helper: &Helper) -> Option<MapRef> {
    let position = helper.args.iter().position(|a| *a == Arg::Map)?;
    let v = s.regs.get(1 + position)?;
    match v.base {
        Base::Handle(map) if !v.nullable && v.offset.as_constant() == Some(0) => Some(map),
        _ => None,
    }
}

impl Code<'_> {
    pub(super) fn helper(&self, mut s: State, pc: u32, id: i32) -> Step {
        // The interpreter stops at a helper that is not there.
        let Some(helper) = helper::find(id) else { return Step::Ways(Vec::new()) };
        let map = map_argument(&s, helper);
        let (before, next) = (s.regs, pc + 1);
        self.written(&mut s, helper, map);
        if helper.args.contains(&Arg::Record) {
            // The record is given back: its address stands for nothing any more.
            let record = |v: &Value| matches!(v.base, Base::Record(_));
            s.change(record, |v| *v = Value::number(v.as_number()));
        }
        if helper.moves_packet {
            s.move_packet(Generation::Call(pc));
        }
        s.regs[0] = self.result(helper, map, &before);
        s.regs[1..6].fill(Value::unknown());
        if id == number::TAIL_CALL && s.frames.len() > 1 {
            // The other program's exit returns from this function, having done what it liked.
            let mut after = s.clone();
            after.forget_stack();
            after.move_packet(Generation::Call(pc));
            return Step::Ways(vec![(Edge::Return, after), (Edge::Slot(next), s)]);
        }
        let Some(position) = helper.args.iter().position(|a| *a == Arg::Callback) else { return Step::Next(s) };
        let args = callback_arguments(id, map, &before, self);
        let mut ways = Vec::new();
        for function in self.callbacks(&before[(1 + position).min(5)]) {
            ways.push((Edge::Enter { function, back: next, callback: Some(Box::new(args)) }, s.clone()));
        }
        ways.push((Edge::Slot(next), s));
        Step::Ways(ways)
    }

    /// Functions that a callback argument may name.
    fn callbacks(&self, v: &Value) -> Vec<u32> {
        let starts = self.program.functions.iter().map(|f| f.start);
        starts.filter(|f| v.as_number().contains(u64::from(FUNCTIONS) + u64::from(*f))).collect()
    }

    /// Forgets what the helper writes of the stack.
    fn written(&self, s: &mut State, helper: &Helper, map: Option<MapRef>) {
        for (index, arg) in helper.args.iter().enumerate() {
            let at = s.regs[(1 + index).min(5)];
            if *arg == Arg::Iterator {
                s.forget_stack();
            }
            if let Arg::WriteExact(bytes) = *arg {
                self.store(s, &at, bytes, None);
            }
            if *arg == Arg::WriteValue {
                match map.and_then(|map| map.spec(self.image)).map(|spec| spec.value_size) {
                    Some(bytes) if bytes <= STACK_BYTES => self.store(s, &at, bytes, None),
                    _ => s.forget_stack(),
                }
            }
            if *arg != Arg::Write {
                continue;
            }
            let bytes = s.regs[(2 + index).min(5)].as_number().whole.umax;
            let sized = helper.args.get(index + 1) == Some(&Arg::Size);
            match u32::try_from(bytes) {
                // More than a frame never succeeds there.
                Ok(bytes) if sized && bytes <= STACK_BYTES => {
                    if bytes > 0 {
                        self.store(s, &at, bytes, None);
                    }
                }
                _ => s.forget_stack(),
            }
        }
    }

    fn result(&self, helper: &Helper, map: Option<MapRef>, before: &[Value; 11]) -> Value {
        match helper.ret {
            Ret::Number => match helper.id {
                number::PRANDOM | number::PROCESSOR_ID => Value::number(Num::of_width(32)),
                _ => Value::unknown(),
            },
            // Where the iterator lies: the stack, of which nothing is known any more.
            Ret::Iterated => Value::unknown(),
            Ret::Value => map.map_or_else(Value::unknown, |map| self.looked_up(map)),
            Ret::Record => match before[2].as_constant().and_then(|n| u32::try_from(n).ok()) {
                Some(bytes) => Value::pointer(Base::Record(bytes)).or_null(),
                None => Value::unknown(),
            },
        }
    }

    fn looked_up(&self, map: MapRef) -> Value {
        use MapType::{ArrayOfMaps, HashOfMaps};
        if let MapRef::Map(index) = map
            && map.all(self.image, |spec| matches!(spec.kind, ArrayOfMaps | HashOfMaps))
        {
            return Value::pointer(Base::Handle(MapRef::Inner(index))).or_null();
        }
        if map.all(self.image, has_values) { Value::pointer(Base::Map(map)).or_null() } else { Value::unknown() }
    }
}

/// Whether a lookup gives the address of a value.
fn has_values(spec: &MapSpec) -> bool {
    matches!(
        spec.kind,
        MapType::Hash
            | MapType::Array
            | MapType::PercpuHash
            | MapType::PercpuArray
            | MapType::LruHash
            | MapType::LruPercpuHash
            | MapType::LpmTrie
            | MapType::Devmap
            | MapType::DevmapHash
    )
}

/// r1 to r5 of the callback.
fn callback_arguments(id: i32, map: Option<MapRef>, before: &[Value; 11], code: &Code<'_>) -> [Value; 5] {
    let nothing = Value::constant(0);
    let unknown = Value::unknown();
    match (id, map.and_then(|m| Some((m, m.spec(code.image)?)))) {
        (number::LOOP, _) => [Value::number(Num::unsigned(0, 1 << 23)), before[3], nothing, nothing, nothing],
        (number::FOR_EACH, Some((map, spec))) => {
            let key = Value::pointer(Base::Key(spec.key_size));
            [before[1], key, Value::pointer(Base::Map(map)), before[3], nothing]
        }
        (number::FOR_EACH, None) => [unknown, unknown, unknown, before[3], nothing],
        _ => [unknown; 5],
    }
}
