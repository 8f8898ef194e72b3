//! Stack frames byte by byte: stores, loads and what helpers overwrite.

use super::alu::{self, Op};
use super::num::Num;
use super::state::Frame;
use super::value::Value;

/// Bytes `from..to` of a value's slot, as a number.
fn part(value: &Value, from: u32, to: u32) -> Num {
    let shifted = Op::Rsh.apply(64, value.as_number(), Num::constant(u64::from(from) * 8));
    alu::truncate((to - from) * 8, shifted)
}

/// Forgets bytes `from..to` (offsets from the frame's end). What lies beside them is kept.
pub(super) fn forget(frame: &mut Frame, from: i64, to: i64) {
    let start = from.saturating_sub(7).clamp(-512, 0) as i16;
    let end = to.clamp(-512, 0) as i16;
    if start >= end {
        return;
    }
    let hit: Vec<(i16, u8, Value)> = frame
        .slots
        .range(start..end)
        .filter(|(o, (bytes, _))| i64::from(**o) < to && from < i64::from(**o) + i64::from(*bytes))
        .map(|(o, (bytes, v))| (*o, *bytes, *v))
        .collect();
    for (offset, bytes, value) in hit {
        frame.slots.remove(&offset);
        for byte in 0..u32::from(bytes) {
            let at = i64::from(offset) + i64::from(byte);
            if at < from || at >= to {
                frame.slots.insert(at as i16, (1, Value::number(part(&value, byte, byte + 1))));
            }
        }
    }
}

/// Stores a value of `bytes` bytes, which has no more than that.
pub(super) fn store(frame: &mut Frame, offset: i64, bytes: u32, value: Value) {
    forget(frame, offset, offset + i64::from(bytes));
    if value != Value::number(Num::of_width(bytes * 8)) {
        frame.slots.insert(offset as i16, (bytes as u8, value));
    }
}

/// Loads `bytes` bytes, zero-extended.
pub(super) fn load(frame: &Frame, offset: i64, bytes: u32) -> Value {
    if let Some((width, value)) = frame.slots.get(&(offset as i16))
        && u32::from(*width) == bytes
    {
        return *value;
    }
    let mut whole = Num::constant(0);
    let mut at = 0;
    while at < bytes {
        let position = offset + i64::from(at);
        let low = position.saturating_sub(7).clamp(-512, 0) as i16;
        let high = position.clamp(-512, 0) as i16;
        let slot = frame.slots.range(low..=high).next_back();
        let found = slot.filter(|(o, (n, _))| position < i64::from(**o) + i64::from(*n));
        let (piece, n) = match found {
            Some((o, (n, value))) => {
                let from = (position - i64::from(*o)) as u32;
                let to = u32::from(*n).min(from + bytes - at);
                (part(value, from, to), to - from)
            }
            None => (Num::of_width(8), 1),
        };
        let moved = Op::Lsh.apply(64, piece, Num::constant(u64::from(at) * 8));
        whole = Op::Or.apply(64, whole, moved);
        at += n;
    }
    Value::number(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::any_num;
    use sluice_formats::random::{Rng, test_seed};

    #[test]
    fn random_stores_and_loads_hold_what_memory_holds() {
        let mut rng = Rng::new(test_seed("analysis_stack"));
        for _ in 0..300 {
            let mut frame = Frame::new();
            let mut memory = rng.bytes(32);
            for _ in 0..40 {
                let bytes = 1 << rng.below(4);
                let at = rng.below(33 - bytes) as usize;
                let offset = at as i64 - 32;
                match rng.below(6) {
                    0 => {
                        let end = at + bytes as usize;
                        memory[at..end].copy_from_slice(&rng.bytes(end - at));
                        forget(&mut frame, offset, offset + bytes as i64);
                    }
                    1..4 => {
                        let (n, x) = any_num(&mut rng);
                        let value = Value::number(n).truncate(bytes as u32 * 8);
                        memory[at..at + bytes as usize].copy_from_slice(&x.to_le_bytes()[..bytes as usize]);
                        store(&mut frame, offset, bytes as u32, value);
                    }
                    _ => {
                        let mut word = [0; 8];
                        word[..bytes as usize].copy_from_slice(&memory[at..at + bytes as usize]);
                        let loaded = load(&frame, offset, bytes as u32);
                        assert!(loaded.offset.contains(u64::from_le_bytes(word)), "{frame:?} {at} {bytes} {loaded:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_of_known_words_are_known() {
        let mut frame = Frame::new();
        store(&mut frame, -8, 8, Value::constant(0x8877_6655_4433_2211));
        store(&mut frame, -6, 1, Value::constant(0xff));
        assert_eq!(load(&frame, -8, 4).as_constant(), Some(0x44ff_2211));
        assert_eq!(load(&frame, -3, 2).as_constant(), Some(0x7766));
        assert_eq!(load(&frame, -9, 1).as_constant(), None);
    }
}
