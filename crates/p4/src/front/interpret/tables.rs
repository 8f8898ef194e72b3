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
    /// By the place that each keeps.
    rows: Vec<Option<Row>>,
    /// Places, in the order of rank and then of adding; the first one that matches wins.
    order: Vec<u32>,
    free: Vec<u32>,
    /// Places of the rows that ask for the same.
    asked: HashMap<Box<[Match]>, Vec<u32>>,
    /// Where all keys are exact: which row has these.
    exact: Option<HashMap<Box<[Value]>, u32>>,
    pub default: (usize, Vec<Value>),
    next: u64,
}

impl Rows {
    /// Actions with their data: those of the entries, then the default one.
    pub fn calls(&self) -> impl Iterator<Item = (usize, &[Value])> {
        let entries = self.all().map(|row| (row.entry.action, &row.entry.data[..]));
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
        if let Some(at) = self.same(&entry.matches, Some(entry.rank)) {
            if !table.has_selector {
                return Err(EntryRefused::Twice);
            }
            let row = self.row_mut(at);
            row.more.push((entry.action, entry.data));
            return Ok(row.handle);
        }
        let most = table.size.map_or(MOST_ENTRIES, |size| usize::try_from(size).unwrap_or(MOST_ENTRIES));
        if self.order.len() >= most.min(MOST_ENTRIES) {
            return Err(EntryRefused::Full);
        }
        let handle = self.next;
        self.next += 1;
        self.put(Row { entry, more: Vec::new(), handle, packets: 0, bytes: 0 });
        Ok(handle)
    }

    /// Puts a row where its rank and its handle say; what comes back is its index.
    pub fn put(&mut self, row: Row) -> usize {
        let stands = (row.entry.rank, row.handle);
        let at = self.order.partition_point(|place| self.stands(*place) < stands);
        let place = self.free.pop().unwrap_or(self.rows.len() as u32);
        self.order.insert(at, place);
        self.asked.entry(row.entry.matches.clone().into_boxed_slice()).or_default().push(place);
        if let Some(exact) = &mut self.exact {
            let values = row.entry.matches.iter().map(|m| match m {
                Match::Exact(value) => Some(value.clone()),
                _ => None,
            });
            match values.collect::<Option<Box<[Value]>>>() {
                Some(values) => drop(exact.insert(values, place)),
                // An entry of the program with `_` for an exact key: all are looked at.
                None => self.exact = None,
            }
        }
        if self.rows.len() <= place as usize {
            self.rows.resize(place as usize + 1, None);
        }
        self.rows[place as usize] = Some(row);
        at
    }

    fn at_place(&self, place: u32) -> &Row {
        self.rows[place as usize].as_ref().expect("a place in the order has a row")
    }

    fn stands(&self, place: u32) -> (i64, u64) {
        let row = self.at_place(place);
        (row.entry.rank, row.handle)
    }

    fn index(&self, place: u32) -> usize {
        let stands = self.stands(place);
        self.order.partition_point(|other| self.stands(*other) < stands)
    }

    /// The index of the first row that asks for this, and has the rank if one is given.
    pub fn same(&self, matches: &[Match], rank: Option<i64>) -> Option<usize> {
        let places = self.asked.get(matches)?.iter();
        let ranked = places.filter(|place| rank.is_none_or(|rank| self.stands(**place).0 == rank));
        ranked.map(|place| self.index(*place)).min()
    }

    /// The index of the row with a handle.
    pub fn with_handle(&self, handle: u64) -> Option<usize> {
        self.all().position(|row| row.handle == handle)
    }

    /// Removes the row at an index.
    pub fn remove(&mut self, at: usize) -> Row {
        let place = self.order.remove(at);
        self.free.push(place);
        let row = self.rows[place as usize].take().expect("a place in the order has a row");
        if let Some(places) = self.asked.get_mut(&row.entry.matches[..]) {
            places.retain(|other| *other != place);
            if places.is_empty() {
                self.asked.remove(&row.entry.matches[..]);
            }
        }
        if let Some(exact) = &mut self.exact {
            let values = row.entry.matches.iter().filter_map(|m| match m {
                Match::Exact(value) => Some(value.clone()),
                _ => None,
            });
            exact.remove(&values.collect::<Box<[Value]>>());
        }
        row
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.order.clear();
        self.free.clear();
        self.asked.clear();
        if let Some(exact) = &mut self.exact {
            exact.clear();
        }
    }

    /// The index of the entry that a packet finds.
    pub fn find(&self, keys: &[Value], table: &Table) -> Option<usize> {
        if let Some(exact) = &self.exact {
            return exact.get(keys).map(|place| self.index(*place));
        }
        let holds = |row: &Row| -> bool {
            let all = row.entry.matches.iter().zip(keys).zip(&table.keys);
            all.into_iter().all(|((m, value), key)| m.holds(value, &key.shape))
        };
        self.all().position(holds)
    }

    pub fn row(&self, at: usize) -> &Row {
        self.at_place(self.order[at])
    }

    pub fn row_mut(&mut self, at: usize) -> &mut Row {
        self.rows[self.order[at] as usize].as_mut().expect("a place in the order has a row")
    }

    /// Rows in their order.
    pub fn all(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.order.iter().map(|place| self.at_place(*place))
    }
}
