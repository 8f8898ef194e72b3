//! A stage: key, conditions, match, and what the winner names.

use crate::phv::{Class, Container, Phv};
use crate::state::Relation;
use crate::target::DATA;
use sluice_formats::hash::crc32c;

/// Bits of a key.
pub const KEY_BITS: u32 = 194;
/// Bytes that the hash covers.
pub const KEY_BYTES: usize = 25;

/// A key: bit 0 is bit 0 of byte 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Key(pub [u8; KEY_BYTES]);

impl Key {
    /// Sets `bits` bits from bit `at` to a value.
    pub fn put(&mut self, at: u32, bits: u32, value: u64) {
        for i in 0..bits {
            let (byte, bit) = (((at + i) / 8) as usize, (at + i) % 8);
            self.0[byte] = self.0[byte] & !(1 << bit) | ((value >> i & 1) as u8) << bit;
        }
    }

    /// The same with these bits set.
    pub fn with(mut self, at: u32, bits: u32, value: u64) -> Self {
        self.put(at, bits, value);
        self
    }

    /// Bits that are set in both.
    pub fn and(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// Whether both agree wherever the mask is one.
    pub fn agrees(&self, other: &Self, mask: &Self) -> bool {
        (0..KEY_BYTES).all(|i| (self.0[i] ^ other.0[i]) & mask.0[i] == 0)
    }

    /// Number of bits set.
    pub fn ones(&self) -> u32 {
        self.0.iter().map(|b| b.count_ones()).sum()
    }

    /// CRC-32C over its bytes.
    pub fn hash(&self) -> u32 {
        crc32c(&self.0)
    }
}

/// First bit of each key piece, and of the two conditions.
pub const PIECE_AT: [u32; 6] = [0, 16, 32, 64, 96, 144];
/// First bit of the two conditions.
pub const CONDITION_AT: u32 = 192;

/// Size class of key piece `i`.
pub fn piece_class(i: usize) -> Class {
    Class::ALL[i / 2]
}

/// First operand of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A container.
    Container(Container),
    /// A metadata word.
    Word(u8),
}

/// Second operand of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// A container.
    Container(Container),
    /// Value in the row.
    Imm(u64),
}

/// `(a & mask) REL (b & mask)`, 48 bits, unsigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// First operand.
    pub a: Left,
    /// Second operand.
    pub b: Right,
    /// Bits that count.
    pub mask: u64,
    /// Comparison.
    pub relation: Relation,
}

impl Predicate {
    fn holds(&self, phv: &Phv) -> bool {
        let a = match self.a {
            Left::Container(c) => phv.get(c),
            Left::Word(w) => u64::from(phv.words[usize::from(w)]),
        };
        let b = match self.b {
            Right::Container(c) => phv.get(c),
            Right::Imm(v) => v,
        };
        self.relation.holds(a & self.mask, b & self.mask)
    }
}

/// Key and conditions of one module in a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySpec {
    /// Containers, by place in their class: two of 2, two of 4, two of 6 bytes.
    pub pieces: [u8; 6],
    /// Bits of the key that count.
    pub mask: Key,
    /// Predicates; one that is not there is false.
    pub predicates: [Option<Predicate>; 2],
    /// Condition i is bit `p0 + 2 * p1` of `truth[i]`.
    pub truth: [u8; 2],
}

/// Truth table of predicate 0 alone.
pub const TRUTH_P0: u8 = 0b1010;
/// Truth table of predicate 1 alone.
pub const TRUTH_P1: u8 = 0b1100;

impl KeySpec {
    /// The two conditions.
    pub fn conditions(&self, phv: &Phv) -> [bool; 2] {
        let [p0, p1] = self.predicates.map(|p| p.is_some_and(|p| p.holds(phv)));
        let row = u8::from(p0) + 2 * u8::from(p1);
        self.truth.map(|t| t >> row & 1 == 1)
    }

    /// The masked key.
    pub fn key(&self, phv: &Phv, conditions: [bool; 2]) -> Key {
        let mut key = Key::default();
        for (i, &place) in self.pieces.iter().enumerate() {
            let class = piece_class(i);
            key.put(PIECE_AT[i], class.bits(), phv.get(Container::of(class, place)));
        }
        for (i, condition) in conditions.into_iter().enumerate() {
            key.put(CONDITION_AT + i as u32, 1, u64::from(condition));
        }
        key.and(&self.mask)
    }
}

/// What an entry or the default leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leads {
    /// Action of the stage's program, by position.
    pub action: u16,
    /// Action data.
    pub data: [u8; DATA],
    /// Logical number, for hits.
    pub number: u16,
}

/// An exact entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// Masked key.
    pub key: Key,
    /// Action.
    pub leads: Leads,
}

/// A ternary entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ternary {
    /// Value.
    pub value: Key,
    /// Bits that count.
    pub mask: Key,
    /// Action.
    pub leads: Leads,
}

/// Which of several matching ternary entries wins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The first one listed.
    #[default]
    Listed,
    /// The one with most bits in its mask, of equal ones the first listed: LPM.
    Longest,
}

/// The tables of one module in a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Exact entries.
    pub exact: Vec<Exact>,
    /// Ternary entries.
    pub ternary: Vec<Ternary>,
    /// Order of the ternary entries.
    pub order: Order,
    /// What packets get that match nothing; none leaves the PHV as it is.
    pub default: Option<Leads>,
}

/// Where a packet's action came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Exact entry of this position.
    Exact(usize),
    /// Ternary entry of this position.
    Ternary(usize),
    /// The default.
    Default,
}

impl Tables {
    /// The winner for a key, and what it leads to.
    pub fn find(&self, key: &Key) -> (Hit, Option<&Leads>) {
        if let Some(i) = self.exact.iter().position(|e| e.key == *key) {
            return (Hit::Exact(i), Some(&self.exact[i].leads));
        }
        let mut matching = (0..self.ternary.len()).filter(|&i| {
            let e = &self.ternary[i];
            e.value.agrees(key, &e.mask)
        });
        let winner = match self.order {
            Order::Listed => matching.next(),
            // The last of equal maxima is returned, so the places run backwards.
            Order::Longest => matching.rev().max_by_key(|&i| self.ternary[i].mask.ones()),
        };
        match winner {
            Some(i) => (Hit::Ternary(i), Some(&self.ternary[i].leads)),
            None => (Hit::Default, self.default.as_ref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phv::{Word, c2, c4, c6};

    fn leads(number: u16) -> Leads {
        Leads { number, ..Leads::default() }
    }

    fn number(tables: &Tables, key: &Key) -> Option<u16> {
        tables.find(key).1.map(|l| l.number)
    }

    #[test]
    fn pieces_lie_in_the_key_where_the_page_says() {
        let mut phv = Phv::default();
        for (c, v) in [(c2(1), 0x0102), (c2(2), 0x0304), (c4(3), 5), (c4(4), 6), (c6(5), 7), (c6(6), 8)] {
            phv.set(c, v);
        }
        let spec = KeySpec { pieces: [1, 2, 3, 4, 5, 6], mask: Key([0xff; 25]), ..KeySpec::default() };
        let mut expected = Key::default();
        for (at, v) in [(0, 0x0102), (16, 0x0304), (32, 5), (64, 6), (96, 7), (144, 8), (192, 1)] {
            expected.put(at, if at == 192 { 2 } else { 16 }, v);
        }
        assert_eq!(spec.key(&phv, [true, false]), expected);
        assert_eq!(spec.key(&phv, [true, false]).0[..4], [2, 1, 4, 3]);
        let masked = KeySpec { mask: Key::default().with(4, 8, 0xff), ..spec };
        assert_eq!(masked.key(&phv, [true, true]), Key::default().with(4, 8, 0x10));
    }

    #[test]
    fn predicates_compare_masked_values_unsigned() {
        let mut phv = Phv::default();
        phv.set(c6(0), 0x8000_0000_0001);
        phv.set(c4(0), 2);
        phv.set_word(Word::Length, 64);
        let p = |a, relation, b, mask| Predicate { a, b, mask, relation }.holds(&phv);
        let all = (1 << 48) - 1;
        let six = Left::Container(c6(0));
        assert!(p(six, Relation::Gt, Right::Container(c4(0)), all));
        assert!(p(six, Relation::Lt, Right::Container(c4(0)), 0xf));
        assert!(p(Left::Word(1), Relation::Le, Right::Imm(64), all));
        assert!(!p(Left::Word(1), Relation::Ne, Right::Imm(64), all));
    }

    #[test]
    fn conditions_are_any_function_of_the_predicates() {
        let word = |w| Some(Predicate { a: Left::Word(w), b: Right::Imm(1), mask: 1, relation: Relation::Eq });
        for truth in 0..16u8 {
            let spec = KeySpec { predicates: [word(14), word(15)], truth: [truth, !truth & 15], ..KeySpec::default() };
            for row in 0..4u16 {
                let mut phv = Phv::default();
                (phv.words[14], phv.words[15]) = (row & 1, row >> 1);
                let expected = truth >> row & 1 == 1;
                assert_eq!(spec.conditions(&phv), [expected, !expected]);
            }
        }
    }

    #[test]
    fn exact_wins_over_ternary_and_ternary_over_the_default() {
        let key = |v| Key::default().with(0, 16, v);
        let tables = Tables {
            exact: vec![Exact { key: key(1), leads: leads(1) }],
            ternary: vec![Ternary { value: key(0), mask: key(0xfff0), leads: leads(2) }],
            default: Some(leads(3)),
            ..Tables::default()
        };
        assert_eq!([1, 2, 16].map(|v| number(&tables, &key(v))), [Some(1), Some(2), Some(3)]);
        assert_eq!(number(&Tables::default(), &key(1)), None);
    }

    #[test]
    fn listed_entries_win_by_position_and_lpm_entries_by_length() {
        let entry = |value, mask, n| Ternary {
            value: Key::default().with(32, 32, value),
            mask: Key::default().with(32, 32, mask),
            leads: leads(n),
        };
        let ternary = vec![entry(0, 0, 1), entry(0x0a00_0000, 0xff00_0000, 2), entry(0x0a01_0000, 0xffff_0000, 3)];
        let mut tables = Tables { ternary, order: Order::Longest, ..Tables::default() };
        let of = |t: &Tables, a| number(t, &Key::default().with(32, 32, a));
        assert_eq!([0x0a01_0203, 0x0a02_0203, 0x0b00_0000].map(|a| of(&tables, a)), [Some(3), Some(2), Some(1)]);
        tables.order = Order::Listed;
        assert_eq!(of(&tables, 0x0a01_0203), Some(1));
    }
}
