//! What a program's own stack frame holds on one path.

use super::bits::{Bit, Bits};
use super::value::Value;
use std::collections::BTreeMap;

/// Bytes by their offset from the frame's end, and what is no number in words of 8 bytes.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    bytes: BTreeMap<i64, Option<[Bit; 8]>>,
    words: BTreeMap<i64, Value>,
    zeros: bool,
}

impl Stack {
    /// As a core has it where a program begins: all zero.
    pub fn zeros() -> Self {
        Self { zeros: true, ..Self::default() }
    }

    /// A store of the low bytes of a value.
    pub fn store(&mut self, offset: i64, bytes: u8, value: &Value) {
        let written = offset..offset + i64::from(bytes);
        self.words.retain(|word, _| word + 8 <= written.start || *word >= written.end);
        let bits = value.as_bits();
        for (n, at) in written.enumerate() {
            let byte = bits.map(|bits| std::array::from_fn(|bit| bits.0[n * 8 + bit]));
            self.bytes.insert(at, byte);
        }
        if bits.is_none() && bytes == 8 {
            self.words.insert(offset, *value);
        }
    }

    /// A load, zero-extended.
    pub fn load(&self, offset: i64, bytes: u8) -> Value {
        if let Some(word) = self.words.get(&offset).filter(|_| bytes == 8) {
            return *word;
        }
        let mut bits = Bits::constant(0);
        for n in 0..usize::from(bytes) {
            match self.bytes.get(&(offset + n as i64)) {
                Some(Some(byte)) => bits.0[n * 8..n * 8 + 8].copy_from_slice(byte),
                None if self.zeros => {}
                _ => return Value::Opaque,
            }
        }
        Value::Number { bits, add: 0 }
    }

    /// What was stored and is known: offset, bytes and value.
    pub fn written(&self) -> Vec<(i64, u8, Value)> {
        let words = self.words.iter().map(|(offset, value)| (*offset, 8, *value));
        let byte = |(offset, byte): (&i64, &Option<[Bit; 8]>)| {
            let mut bits = Bits::constant(0);
            bits.0[..8].copy_from_slice(&(*byte)?);
            Some((*offset, 1, Value::Number { bits, add: 0 }))
        };
        words.chain(self.bytes.iter().filter_map(byte)).collect()
    }
}
