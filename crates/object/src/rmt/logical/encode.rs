//! Entries of logical tables as rows of a stage.

use super::slots::{EntrySlot, Slots};
use super::{
    Logical, LogicalCall, LogicalCase, LogicalEntry, LogicalLeads, LogicalLookup, LogicalMatch, LogicalPiece,
    LogicalRoom, LogicalTable, LogicalValue,
};
use crate::error::{ObjectError, bad};
use crate::rmt::part::{RmtData, RmtExact, RmtKey, RmtStage, RmtTernary};
use sluice_formats::rmt::rows::{ExactRow, TernaryRow};
use sluice_formats::rmt::target::NUMBERS;
use sluice_formats::row::Wide;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most cases of a stage, those counted too that no packet finds, and most of them that are ternary: more than any pipeline has.
const MOST_CASES: usize = 1 << 17;
const MOST_TERNARY: usize = 1 << 15;

/// A row: bits of the stage's key, and what it leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogicalRow {
    /// Bits of the key.
    pub value: RmtKey,
    /// Which of them count.
    pub mask: RmtKey,
    /// Action, by its position in the stage.
    pub action: u16,
    /// Its data.
    pub data: RmtData,
    /// Logical number.
    pub number: u16,
}

/// Rows of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogicalRows {
    /// Bits of the key that any row asks for, or that are hashed.
    pub mask: RmtKey,
    /// Rows that ask for all of them, and that no ternary row before them takes packets from.
    pub exact: Vec<LogicalRow>,
    /// The others, the first that matches wins.
    pub ternary: Vec<LogicalRow>,
}

impl LogicalValue {
    /// Whether a bit is set.
    pub fn bit(&self, at: u32) -> bool {
        self.0.0.get((at / 8) as usize).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// The value with this bit set.
    #[must_use]
    pub fn with(mut self, at: u32) -> Self {
        if let Some(byte) = self.0.0.get_mut((at / 8) as usize) {
            *byte |= 1 << (at % 8);
        }
        self
    }

    /// A number.
    pub fn of(number: u128) -> Self {
        let bytes = number.to_le_bytes();
        Self(Wide(std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))))
    }

    /// The lowest bits, all set.
    pub fn ones(bits: u32) -> Self {
        (0..bits).fold(Self::default(), Self::with)
    }

    /// The value moved up by some whole bytes.
    #[must_use]
    pub fn shifted(self, bits: u32) -> Self {
        let by = (bits / 8) as usize;
        Self(Wide(std::array::from_fn(|i| i.checked_sub(by).map_or(0, |from| self.0.0[from]))))
    }

    /// The bits above the lowest 128 left out.
    fn number(&self) -> u128 {
        (0..16).rev().fold(0, |all, i| all << 8 | u128::from(self.0.0[i]))
    }
}

/// Bits of a key, and which count.
pub(crate) type Asked = (RmtKey, RmtKey);

/// The key with one bit more given; nothing if it asks for the other value.
fn given((mut value, mut mask): Asked, at: u32, wanted: bool) -> Option<Asked> {
    let (byte, bit) = ((at / 8) as usize, 1 << (at % 8));
    if mask.0[byte] & bit != 0 && (value.0[byte] & bit != 0) != wanted {
        return None;
    }
    mask.0[byte] |= bit;
    value.0[byte] |= if wanted { bit } else { 0 };
    Some((value, mask))
}

/// What both ask for, if that can be.
fn both(one: Asked, other: Asked) -> Option<Asked> {
    agree(&one, &other).then(|| (join(&one.0, &other.0), join(&one.1, &other.1)))
}

/// The bits of both.
pub(crate) fn join(a: &RmtKey, b: &RmtKey) -> RmtKey {
    Wide(std::array::from_fn(|i| a.0[i] | b.0[i]))
}

pub(crate) fn agree(one: &Asked, other: &Asked) -> bool {
    (0..one.0.0.len()).all(|i| (one.0.0[i] ^ other.0.0[i]) & one.1.0[i] & other.1.0[i] == 0)
}

/// Values and masks that together are what an entry asks of a key.
fn patterns(asked: &LogicalMatch, bits: u32) -> Vec<(LogicalValue, LogicalValue)> {
    match *asked {
        LogicalMatch::Masked { value, mask } => vec![(value, mask)],
        LogicalMatch::Range { low, high } => {
            let (low, high, all) = (low.number(), high.number(), LogicalValue::ones(bits).number());
            match low <= high {
                true => prefixes(low, high, bits),
                false => [prefixes(low, all, bits), prefixes(0, high, bits)].concat(),
            }
        }
    }
}

/// Prefixes that together are the numbers from one to another, of at most 64 bits.
fn prefixes(mut low: u128, high: u128, bits: u32) -> Vec<(LogicalValue, LogicalValue)> {
    let all = LogicalValue::ones(bits).number();
    let mut patterns = Vec::new();
    while low <= high {
        let mut size = if low == 0 { bits } else { low.trailing_zeros().min(bits) };
        while low + LogicalValue::ones(size).number() > high {
            size -= 1;
        }
        let free = LogicalValue::ones(size).number();
        patterns.push((LogicalValue::of(low), LogicalValue::of(all & !free)));
        low += free + 1;
    }
    patterns
}

fn with_key(asked: Asked, pieces: &[LogicalPiece], value: &LogicalValue, mask: &LogicalValue) -> Option<Asked> {
    let mut asked = asked;
    for piece in pieces {
        for i in 0..u32::from(piece.bits) {
            let at = u32::from(piece.low) + i;
            if !mask.bit(at) {
                continue;
            }
            match piece.at {
                Some(first) => asked = given(asked, u32::from(first) + i, value.bit(at))?,
                None if (piece.known >> i & 1 == 1) == value.bit(at) => {}
                None => return None,
            }
        }
    }
    Some(asked)
}

impl LogicalLeads {
    /// Its data with these values of the parameters.
    fn filled(&self, values: &[LogicalValue]) -> RmtData {
        let mut data = self.data;
        for to in &self.moves {
            let Some(value) = values.get(usize::from(to.parameter)) else { continue };
            for i in 0..u32::from(to.bits) {
                let place = u32::from(to.bit) + i;
                if value.bit(u32::from(to.low) + i) {
                    data.0[usize::from(to.byte) - (place / 8) as usize] |= 1 << (place % 8);
                }
            }
        }
        data
    }
}

/// Cases that are looked at, those counted too that no packet finds.
pub(crate) struct Looked {
    so_far: usize,
    most: usize,
}

impl Looked {
    /// None so far, and so many at most.
    pub fn of(most: usize) -> Self {
        Self { so_far: 0, most }
    }

    /// One more; nothing if that is too many.
    fn next(&mut self) -> Option<()> {
        self.so_far += 1;
        (self.so_far <= self.most).then_some(())
    }
}

/// What ternary rows take, by their masks.
#[derive(Default)]
struct Taken(HashMap<[u8; 25], HashSet<[u8; 25]>>);

impl Taken {
    fn add(&mut self, row: &LogicalRow) {
        self.0.entry(row.mask.0).or_default().insert(masked(&row.value, &row.mask.0));
    }

    /// Whether one of them takes packets of a key of which all bits count.
    fn takes(&self, key: &RmtKey) -> bool {
        self.0.iter().any(|(mask, values)| values.contains(&masked(key, mask)))
    }
}

fn masked(value: &RmtKey, mask: &[u8; 25]) -> [u8; 25] {
    std::array::from_fn(|i| value.0[i] & mask[i])
}

/// What packets may meet of some cases that lead somewhere.
fn lead(
    asked: Asked,
    all: &[LogicalLeads],
    (values, number): (&[LogicalValue], u16),
    looked: &mut Looked,
    into: &mut Vec<LogicalRow>,
) -> Option<()> {
    for leads in all {
        looked.next()?;
        let Some((value, mask)) = both(asked, (leads.value, leads.mask)) else { continue };
        into.push(LogicalRow { value, mask, action: leads.action, data: leads.filled(values), number });
    }
    Some(())
}

impl LogicalLookup {
    fn outcome(&self, hit: bool, action: u16) -> &[LogicalLeads] {
        let found = self.outcomes.iter().find(|o| o.hit == hit && o.action == action);
        found.map_or(&[][..], |outcome| outcome.leads.as_slice())
    }

    /// Rows of an entry of the table, in the order in which they win; nothing if too many cases are looked at.
    pub(crate) fn rows_of(
        &self,
        table: &LogicalTable,
        entry: &LogicalEntry,
        slot: EntrySlot,
        looked: &mut Looked,
    ) -> Option<Vec<LogicalRow>> {
        let mut asked = vec![(self.value, self.mask)];
        for ((found, pieces), key) in entry.matches.iter().zip(&self.keys).zip(&table.keys) {
            let patterns = patterns(found, key.bits.into());
            let mut next = Vec::with_capacity(asked.len());
            for one in &asked {
                for (value, mask) in &patterns {
                    looked.next()?;
                    next.extend(with_key(*one, pieces, value, mask));
                }
            }
            asked = next;
        }
        let mut values = entry.call.values.clone();
        values.push(LogicalValue::of(slot.position.into()));
        let mut rows = Vec::with_capacity(1);
        for one in asked {
            lead(one, self.outcome(true, entry.call.action), (&values, slot.number), looked, &mut rows)?;
        }
        Some(rows)
    }

    /// Rows of packets that no entry matches.
    pub(crate) fn rows_of_miss(
        &self,
        default: &LogicalCall,
        nobody: u16,
        looked: &mut Looked,
    ) -> Option<Vec<LogicalRow>> {
        let mut rows = Vec::with_capacity(1);
        let leads = self.outcome(false, default.action);
        lead((self.value, self.mask), leads, (&default.values, nobody), looked, &mut rows)?;
        Some(rows)
    }
}

impl LogicalLeads {
    /// The row of the case.
    pub(crate) fn row(&self, nobody: u16) -> LogicalRow {
        LogicalRow { value: self.value, mask: self.mask, action: self.action, data: self.filled(&[]), number: nobody }
    }
}

impl Logical {
    /// The rows of a stage, with the entries that the tables have. All that is checked before is taken for granted.
    pub fn rows(&self, stage: u8) -> Result<LogicalRows, ObjectError> {
        self.rows_with(stage, &Slots::of(self))
    }

    /// The same with these numbers of the entries.
    pub(crate) fn rows_with(&self, stage: u8, slots: &Slots) -> Result<LogicalRows, ObjectError> {
        let (all, hashed) = self.rows_of_cases(stage, slots)?;
        let mut rows = LogicalRows { mask: hashed, ..LogicalRows::default() };
        for (_, row) in &all {
            rows.mask = join(&rows.mask, &row.mask);
        }
        let mut taken = Taken::default();
        for (_, row) in all {
            if row.mask == rows.mask && !taken.takes(&row.value) {
                rows.exact.push(row);
            } else {
                taken.add(&row);
                rows.ternary.push(row);
            }
            if rows.ternary.len() > MOST_TERNARY {
                let found = format!("more than {MOST_TERNARY} ternary entries");
                return Err(bad(format!("rmt.logical.stages.{stage}"), found, "fewer"));
            }
        }
        Ok(rows)
    }

    /// The same in the order in which they win, each with the position of its case and each key once; and bits that are hashed.
    pub(super) fn rows_of_cases(
        &self,
        stage: u8,
        slots: &Slots,
    ) -> Result<(Vec<(usize, LogicalRow)>, RmtKey), ObjectError> {
        let mut hashed = RmtKey::default();
        let mut all = Vec::new();
        let mut seen: HashSet<([u8; 25], [u8; 25])> = HashSet::new();
        let mut looked = Looked::of(MOST_CASES);
        for (at, case) in self.cases(stage).iter().enumerate() {
            let rows = match case {
                LogicalCase::Leads(leads) => looked.next().map(|()| vec![leads.row(slots.nobody(stage))]),
                LogicalCase::Looks(lookup) => self.look(stage, lookup, slots, &mut looked),
                LogicalCase::Hashes(bits) => {
                    hashed = bits.0;
                    Some(Vec::new())
                }
            };
            let Some(rows) = rows else {
                let at = format!("rmt.logical.stages.{stage}");
                return Err(bad(at, format!("more than {MOST_CASES} cases with their entries"), "fewer"));
            };
            // One with the same key wins before it.
            all.extend(rows.into_iter().filter(|row| seen.insert((row.value.0, row.mask.0))).map(|row| (at, row)));
        }
        Ok((all, hashed))
    }

    /// Cases of a stage.
    pub(crate) fn cases(&self, stage: u8) -> &[LogicalCase] {
        self.stages.get(&stage).map_or(&[][..], Vec::as_slice)
    }

    /// Logical numbers of entries, by table and entry: of those that are counted and looked up in a stage.
    pub fn numbers(&self, stage: u8) -> BTreeMap<(usize, usize), u16> {
        let looked: BTreeSet<usize> = self.cases(stage).iter().filter_map(table_of).collect();
        let counted = looked.into_iter().filter(|table| self.tables[*table].counted);
        let entries = counted.flat_map(|table| (0..self.tables[table].entries.len()).map(move |at| (table, at)));
        entries.zip(0..NUMBERS as u16 - 1).collect()
    }

    fn look(&self, stage: u8, lookup: &LogicalLookup, slots: &Slots, looked: &mut Looked) -> Option<Vec<LogicalRow>> {
        let table = &self.tables[usize::from(lookup.table)];
        let mut rows = Vec::new();
        for (at, entry) in table.entries.iter().enumerate() {
            rows.extend(lookup.rows_of(table, entry, slots.of_entry(stage, lookup.table, at), looked)?);
        }
        rows.extend(lookup.rows_of_miss(&table.default, slots.nobody(stage), looked)?);
        Some(rows)
    }
}

fn table_of(case: &LogicalCase) -> Option<usize> {
    match case {
        LogicalCase::Leads(_) | LogicalCase::Hashes(_) => None,
        LogicalCase::Looks(lookup) => Some(lookup.table.into()),
    }
}

impl RmtStage {
    /// These rows in place of its own.
    pub(crate) fn put(&mut self, rows: &LogicalRows) {
        self.key.mask = rows.mask;
        self.exact = rows.exact.iter().map(LogicalRow::exact).collect();
        self.ternary = rows.ternary.iter().map(LogicalRow::ternary).collect();
    }

    /// The stage with these rows in place of its own, and with this room.
    pub(in crate::rmt) fn take(&mut self, rows: &LogicalRows, room: &LogicalRoom) {
        let number = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
        self.put(rows);
        self.numbers = self.numbers_used().max(number(room.numbers));
        self.longest = false;
        self.exact_room = number(room.exact);
        self.ternary_room = number(room.ternary);
    }
}

impl LogicalRow {
    fn exact(&self) -> RmtExact {
        let row = ExactRow { key: self.value, action: self.action, number: self.number, ..ExactRow::default() };
        RmtExact { row, data: self.data }
    }

    fn ternary(&self) -> RmtTernary {
        let Self { value, mask, action, number, .. } = *self;
        RmtTernary { row: TernaryRow { value, mask, action, number, ..TernaryRow::default() }, data: self.data }
    }
}
