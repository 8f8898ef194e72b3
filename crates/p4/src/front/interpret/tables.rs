//! Entries of tables, and which one a packet finds.

use super::code::{Entry, Key, Match, MatchKind, Table};
use super::shape::Shape;
use super::value::Value;
use std::collections::HashMap;

/// Most entries of a table that does not say its size.
const MOST_ENTRIES: usize = 1 << 20;

/// An entry, and what was counted for it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub entry: Entry,
    /// Actions beside that of the entry, of which a selector takes one.
    pub more: Vec<(usize, Vec<Value>)>,
    /// Number by which it is removed, in the order of adding.
    pub handle: u64,
    pub packets: u64,
    pub bytes: u64,
}

/// The entries of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// The first one that matches wins.
    rows: Vec<Row>,
    /// Where all keys are exact: which row has these.
    exact: Option<HashMap<Box<[Value]>, usize>>,
    pub default: (usize, Vec<Value>),
    next: u64,
}

impl Rows {
    /// Actions with their data: those of the entries, then the default one.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &[Value])> {
        let entries = self.rows.iter().map(|row| (row.entry.action, &row.entry.data[..]));
        entries.chain([(self.default.0, &self.default.1[..])])
    }
}

/// Why an entry is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryRefused {
    Twice,
    Full,
}

/// What wins among entries: the longest prefix, or what has the smallest number where there are other kinds than exact.
pub(crate) fn rank_of(keys: &[Key], matches: &[Match], given: i64) -> i64 {
    let ranked = |key: &Key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
    if keys.iter().any(ranked) {
        return given;
    }
    let prefix = keys.iter().zip(matches).find(|(key, _)| key.kind == MatchKind::Lpm);
    match prefix {
        Some((_, Match::Prefix(_, _, length))) => -i64::from(*length),
        _ => 0,
    }
}

impl Match {
    /// Whether a key's value is meant.
    pub fn holds(&self, key: &Value, shape: &Shape) -> bool {
        match (self, key) {
            (Match::Any, _) => true,
            (Match::Exact(value), _) => value == key,
            (Match::Masked(value, mask) | Match::Prefix(value, mask, _), _) => match (value, mask) {
                (Value::Bits(value), Value::Bits(mask)) => (value ^ key.bits()) & mask == 0,
                _ => (value.big() ^ key.big()) & mask.big() == num_bigint::BigUint::default(),
            },
            (Match::Range(low, high), _) => {
                let number = shape.number();
                let key = key.number(number);
                low.number(number) <= key && key <= high.number(number)
            }
        }
    }
}

impl Rows {
    /// Those that the program gives.
    pub fn new(table: &Table) -> Rows {
        let all_exact = !table.keys.is_empty() && table.keys.iter().all(|key| key.kind == MatchKind::Exact);
        let exact = all_exact.then(HashMap::new);
        let mut rows = Rows { exact, default: table.default.clone(), ..Rows::default() };
        for entry in &table.entries {
            // A second one with the same keys is never found.
            let _ = rows.add(table, entry.clone());
        }
        rows
    }

    /// Takes an entry; a table with a selector takes more actions for the keys of one it has.
    pub fn add(&mut self, table: &Table, entry: Entry) -> Result<u64, EntryRefused> {
        let same = |row: &&mut Row| row.entry.matches == entry.matches && row.entry.rank == entry.rank;
        let handle = self.next;
        if let Some(row) = self.rows.iter_mut().find(same) {
            if !table.has_selector {
                return Err(EntryRefused::Twice);
            }
            row.more.push((entry.action, entry.data));
            return Ok(row.handle);
        }
        let most = table.size.map_or(MOST_ENTRIES, |size| usize::try_from(size).unwrap_or(MOST_ENTRIES));
        if self.rows.len() >= most.min(MOST_ENTRIES) {
            return Err(EntryRefused::Full);
        }
        self.next += 1;
        let at = self.rows.partition_point(|row| row.entry.rank <= entry.rank);
        self.rows.insert(at, Row { entry, more: Vec::new(), handle, packets: 0, bytes: 0 });
        match at + 1 == self.rows.len() {
            true => self.index(at),
            false => self.index_all(),
        }
        Ok(handle)
    }

    /// Finds a row by its keys.
    fn index(&mut self, at: usize) {
        let Some(exact) = &mut self.exact else { return };
        let values = self.rows[at].entry.matches.iter().map(|m| match m {
            Match::Exact(value) => Some(value.clone()),
            _ => None,
        });
        match values.collect::<Option<Box<[Value]>>>() {
            Some(values) => {
                exact.insert(values, at);
            }
            // An entry of the program with `_` for an exact key: all are looked at.
            None => self.exact = None,
        }
    }

    /// Finds all rows by their keys again.
    fn index_all(&mut self) {
        if let Some(exact) = &mut self.exact {
            exact.clear();
        }
        (0..self.rows.len()).for_each(|at| self.index(at));
    }

    /// Removes the entry of that number, or one with these keys.
    pub fn remove(&mut self, wanted: impl Fn(&Row) -> bool) -> bool {
        let before = self.rows.len();
        if let Some(at) = self.rows.iter().position(wanted) {
            self.rows.remove(at);
        }
        self.index_all();
        self.rows.len() < before
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.index_all();
    }

    /// The index of the entry that a packet finds.
    pub fn find(&self, keys: &[Value], table: &Table) -> Option<usize> {
        if let Some(exact) = &self.exact {
            return exact.get(keys).copied();
        }
        let holds = |row: &Row| {
            let all = row.entry.matches.iter().zip(keys).zip(&table.keys);
            all.into_iter().all(|((m, value), key)| m.holds(value, &key.shape))
        };
        self.rows.iter().position(holds)
    }

    pub fn row(&self, at: usize) -> &Row {
        &self.rows[at]
    }

    pub fn row_mut(&mut self, at: usize) -> &mut Row {
        &mut self.rows[at]
    }

    pub fn all(&self) -> &[Row] {
        &self.rows
    }
}
