//! What a packet of one module and generation can find in a stage.

use super::frame::Frame;
use super::key::{Key, KeyPlan, from_bytes};
use super::places::Places;
use super::store::Store;
use super::tuples::Tuples;
use crate::target::{EXACT_WAYS, NUMBERS, Target};
use sluice_formats::rmt::rows::{ExactRow, KeyRow, TernaryRow};

/// Up to this many entries are looked at one by one.
const FEW: usize = 4;
/// Entries of a chunk, which are looked at together as bits. More than these are tuples, if they have few masks.
const CHUNK: usize = 64;

/// What an entry or the default names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Winner {
    /// Action row.
    pub action: u16,
    /// Row of the action data: those of entries are in the order in which entries win.
    pub data: u32,
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
    hits_base: u16,
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
    Many(Places),
}

#[derive(Clone, Debug)]
enum Ternary {
    Few(Vec<(Key, Key, Winner)>),
    Sliced(Vec<Sliced>),
    Tuples(Tuples),
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

impl Exact {
    fn compile(entries: Vec<(Key, Winner)>) -> Self {
        if entries.len() <= FEW {
            return Self::Few(entries);
        }
        let mut places = Places::with_room(entries.len());
        entries.into_iter().for_each(|(key, winner)| places.insert(key, winner));
        Self::Many(places)
    }

    #[inline]
    fn find(&self, key: &Key) -> Option<&Winner> {
        match self {
            Self::Few(entries) => entries.iter().find(|e| e.0 == *key).map(|e| &e.1),
            Self::Many(places) => places.find(key),
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
        let tuples = (entries.len() > CHUNK).then(|| Tuples::of(&entries)).flatten();
        tuples.map_or_else(|| Self::Sliced(entries.chunks(CHUNK).map(Sliced::compile).collect()), Self::Tuples)
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
            Self::Sliced(chunks) => chunks.iter().find_map(|c| c.find(key)),
            Self::Tuples(tuples) => tuples.find(key),
        }
    }
}

/// An entry of a stage, by its memory.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// An exact one at `way * sets + set`.
    Exact(usize, &'a ExactRow),
    /// A ternary one in this row.
    Ternary(usize, &'a TernaryRow),
}

impl Entry<'_> {
    /// The banks (2 * module + generation) whose packets may find it.
    pub fn banks(&self) -> impl Iterator<Item = usize> + use<> {
        let (module, generations) = match self {
            Self::Exact(_, row) => (row.module_id, row.generations),
            Self::Ternary(_, row) => (row.module_id, row.generations),
        };
        (0..2).filter(move |g| generations >> g & 1 == 1).map(move |g| 2 * usize::from(module) + g)
    }
}

impl Match {
    /// What packets of a bank (2 * module + generation) find, given the stage's rows.
    ///
    /// An exact entry counts if the hash of its own key leads to the set it stands in; of two with one key the one
    /// in the lower way. Hit counters and rows are numbered modulo those that there are.
    pub fn compile(
        bank: usize,
        target: &Target,
        row: &KeyRow,
        exact: &Store<ExactRow>,
        ternary: &Store<TernaryRow>,
    ) -> Self {
        let mut new = Self {
            plan: KeyPlan::compile(row, target),
            hits_base: row.hits_base,
            exact: Exact::Few(Vec::new()),
            ternary: Ternary::Few(Vec::new()),
            default: None,
            idle: false,
        };
        let mut found: Vec<(Key, Winner)> = Vec::new();
        for way in 0..EXACT_WAYS {
            for set in new.plan.region(target) {
                let place = way * target.sets() + set;
                if exact.first_word(place) & 0b11 != 0 {
                    let row = exact.row(place);
                    let is_mine = Entry::Exact(place, &row).banks().any(|own| own == bank);
                    found.extend(new.exact_entry(place, &row, target).filter(|_| is_mine));
                }
            }
        }
        let mut mine = Vec::new();
        for place in (0..target.ternary).filter(|place| ternary.first_word(*place) & 0b11 != 0) {
            let row = ternary.row(place);
            let is_mine = Entry::Ternary(place, &row).banks().any(|own| own == bank);
            mine.extend(is_mine.then(|| new.ternary_entry(place, &row, target)));
        }
        let data = target.exact + target.ternary + bank;
        new.default = row.default_valid.then(|| new.winner(target, row.default_action, data, row.default_number));
        new.exact = Exact::compile(found);
        new.ternary = Ternary::compile(mine);
        new.idle = new.is_idle();
        new
    }

    fn winner(&self, target: &Target, action: u16, data: usize, number: u16) -> Winner {
        Winner {
            action: action % target.actions as u16,
            data: data as u32,
            number,
            hits: (self.hits_base + number) % NUMBERS as u16,
        }
    }

    /// An exact entry of the bank, if its key leads to its place.
    fn exact_entry(&self, place: usize, row: &ExactRow, target: &Target) -> Option<(Key, Winner)> {
        let (way, set) = (place / target.sets(), place % target.sets());
        let key = from_bytes(&row.key);
        let is_reached = self.plan.masks(&key) == key && self.plan.sets(self.plan.hash(&key), target)[way] == set;
        is_reached.then(|| (key, self.winner(target, row.action, place, row.number)))
    }

    fn ternary_entry(&self, place: usize, row: &TernaryRow, target: &Target) -> (Key, Key, Winner) {
        let winner = self.winner(target, row.action, target.exact + place, row.number);
        (from_bytes(&row.value), from_bytes(&row.mask), winner)
    }

    fn is_idle(&self) -> bool {
        let nothing = match (&self.exact, &self.ternary) {
            (Exact::Few(exact), Ternary::Few(ternary)) => exact.is_empty() && ternary.is_empty(),
            _ => false,
        };
        nothing && self.default.is_none()
    }

    /// An entry of the bank comes, or goes. False if it has to be compiled anew.
    pub fn change(&mut self, entry: Entry<'_>, comes: bool, target: &Target) -> bool {
        match entry {
            Entry::Exact(place, row) => {
                let Some((key, winner)) = self.exact_entry(place, row, target) else { return true };
                match (&mut self.exact, comes) {
                    (Exact::Few(_), _) => false,
                    (Exact::Many(places), true) => {
                        places.insert(key, winner);
                        true
                    }
                    (Exact::Many(places), false) => places.remove(&key, winner.data) && places.len() > FEW,
                }
            }
            Entry::Ternary(place, row) => {
                let (value, mask, winner) = self.ternary_entry(place, row, target);
                match (&mut self.ternary, comes) {
                    (Ternary::Few(_) | Ternary::Sliced(_), _) => false,
                    (Ternary::Tuples(tuples), true) => tuples.insert(&value, &mask, winner),
                    (Ternary::Tuples(tuples), false) => tuples.remove(&value, &mask, winner.data),
                }
            }
        }
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
