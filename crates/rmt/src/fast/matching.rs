//! What a packet of one module and generation can find in a stage.

use super::frame::Frame;
use super::key::{Key, KeyPlan, from_bytes};
use crate::target::{EXACT_WAYS, NUMBERS, Target};
use sluice_formats::rmt::rows::{ExactRow, KeyRow, TernaryRow};

/// Up to this many entries are looked at one by one.
const FEW: usize = 4;

/// What an entry or the default names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Winner {
    /// Action row.
    pub action: u16,
    /// Row of the action data.
    pub data: u16,
    /// Logical number.
    pub number: u16,
    /// Hit counter.
    pub hits: u16,
}

/// Rows of one module that only it and its generation see, or those that it shares with its other one.
#[derive(Clone, Debug)]
pub struct Match {
    /// Key, conditions, hash.
    pub plan: KeyPlan,
    exact: Exact,
    ternary: Ternary,
    default: Option<Winner>,
    /// Nothing can be found: no key is made.
    pub idle: bool,
}

/// Entries that the hash of their key leads to.
#[derive(Clone, Debug)]
enum Exact {
    Few(Vec<(Key, Winner)>),
    /// Open addressing; at most half of the places are taken.
    Many(Vec<Option<(Key, Winner)>>),
}

#[derive(Clone, Debug)]
enum Ternary {
    Few(Vec<(Key, Key, Winner)>),
    Many(Vec<Sliced>),
}

/// Up to 64 entries as bits: which of them agree with each value of each byte that any of them looks at.
#[derive(Clone, Debug)]
struct Sliced {
    bytes: Vec<(u8, Box<[u64; 256]>)>,
    all: u64,
    winners: Vec<Winner>,
}

fn byte(key: &Key, i: u8) -> usize {
    usize::from((key[usize::from(i / 8) % 4] >> (8 * (i % 8))) as u8)
}

/// Only spreads; which set an entry stands in is another question.
fn spread(key: &Key) -> usize {
    let mixed = key.iter().fold(0u64, |h, &w| (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    (mixed ^ mixed >> 32) as usize
}

impl Exact {
    fn compile(entries: Vec<(Key, Winner)>) -> Self {
        if entries.len() <= FEW {
            return Self::Few(entries);
        }
        let mut places = vec![None; (2 * entries.len()).next_power_of_two()];
        for (key, winner) in entries {
            let mut at = spread(&key) % places.len();
            while places[at].is_some() {
                at = (at + 1) % places.len();
            }
            places[at] = Some((key, winner));
        }
        Self::Many(places)
    }

    #[inline]
    fn find(&self, key: &Key) -> Option<&Winner> {
        match self {
            Self::Few(entries) => entries.iter().find(|e| e.0 == *key).map(|e| &e.1),
            Self::Many(places) => {
                let last = places.len() - 1;
                let mut at = spread(key) & last;
                while let Some(Some((found, winner))) = places.get(at) {
                    if found == key {
                        return Some(winner);
                    }
                    at = (at + 1) & last;
                }
                None
            }
        }
    }
}

impl Sliced {
    fn compile(entries: &[(Key, Key, Winner)]) -> Self {
        let looked_at = |i: u8| entries.iter().any(|(_, mask, _)| byte(mask, i) != 0);
        let bytes = (0..25).filter(|&i| looked_at(i)).map(|i| {
            let agree = |v: usize| {
                let agrees = |e: &(Key, Key, Winner)| (byte(&e.0, i) ^ v) & byte(&e.1, i) == 0;
                entries.iter().enumerate().fold(0, |bits, (n, e)| bits | u64::from(agrees(e)) << n)
            };
            (i, Box::new(std::array::from_fn(agree)))
        });
        Self {
            bytes: bytes.collect(),
            all: u64::MAX >> (64 - entries.len()),
            winners: entries.iter().map(|e| e.2).collect(),
        }
    }

    #[inline]
    fn find(&self, key: &Key) -> Option<&Winner> {
        let left = self.bytes.iter().fold(self.all, |left, (i, agree)| left & agree[byte(key, *i) % 256]);
        self.winners.get(left.trailing_zeros() as usize)
    }
}

impl Ternary {
    fn compile(entries: Vec<(Key, Key, Winner)>) -> Self {
        if entries.len() <= FEW {
            return Self::Few(entries);
        }
        Self::Many(entries.chunks(64).map(Sliced::compile).collect())
    }

    #[inline]
    fn find(&self, key: &Key) -> Option<&Winner> {
        match self {
            Self::Few(entries) => {
                let agrees = |(value, mask, _): &&(Key, Key, Winner)| {
                    (0..4).fold(0, |differ, i| differ | (key[i] ^ value[i]) & mask[i]) == 0
                };
                entries.iter().find(agrees).map(|e| &e.2)
            }
            Self::Many(chunks) => chunks.iter().find_map(|c| c.find(key)),
        }
    }
}

impl Match {
    /// What packets of a bank (2 * module + generation) find, given the stage's rows.
    ///
    /// An exact entry counts if the hash of its own key leads to the set it stands in; of two with one key the one
    /// in the lower way. Hit counters and rows are numbered modulo those that there are.
    pub fn compile(bank: usize, target: &Target, row: &KeyRow, exact: &[ExactRow], ternary: &[TernaryRow]) -> Self {
        let plan = KeyPlan::compile(row);
        let mine = |module: u8, generations: u8| usize::from(module) == bank / 2 && generations >> (bank % 2) & 1 == 1;
        let winner = |action: u16, data: usize, number: u16| Winner {
            action: action % target.actions as u16,
            data: data as u16,
            number,
            hits: (row.hits_base + number) % NUMBERS as u16,
        };
        let mut found: Vec<(Key, Winner)> = Vec::new();
        for (place, entry) in exact.iter().enumerate().filter(|(_, e)| mine(e.module_id, e.generations)) {
            let (way, set) = (place / target.sets(), place % target.sets());
            let key = from_bytes(&entry.key);
            debug_assert!(way < EXACT_WAYS);
            let reached = plan.masks(&key) == key && plan.sets(plan.hash(&key), target)[way] == set;
            if reached && found.iter().all(|f| f.0 != key) {
                found.push((key, winner(entry.action, place, entry.number)));
            }
        }
        let mine = ternary.iter().enumerate().filter(|(_, e)| mine(e.module_id, e.generations));
        let mine: Vec<_> = mine
            .map(|(i, e)| (from_bytes(&e.value), from_bytes(&e.mask), winner(e.action, target.exact + i, e.number)))
            .collect();
        let data = target.exact + target.ternary + bank;
        let default = row.default_valid.then(|| winner(row.default_action, data, row.default_number));
        let idle = found.is_empty() && mine.is_empty() && default.is_none();
        Self { plan, exact: Exact::compile(found), ternary: Ternary::compile(mine), default, idle }
    }

    /// The winner for a key: exact, else ternary, else the default.
    #[inline]
    pub fn find(&self, key: &Key) -> Option<&Winner> {
        self.exact.find(key).or_else(|| self.ternary.find(key)).or(self.default.as_ref())
    }

    /// Conditions and masked key of a packet.
    #[inline]
    pub fn key(&self, frame: &Frame) -> (u8, Key) {
        let conditions = self.plan.conditions(frame);
        (conditions, self.plan.key(frame, conditions))
    }
}
