//! The tables of a warp engine as they are written, and its counters: what a model of it keeps.

use super::matcher::{self, Seen};
use super::{CHUNK_VALUES, CHUNKS, RULES, STEPS};
use sluice_formats::xdp::codes::XdpWarpKind;
use sluice_formats::xdp::rows::{XdpWarpChunkRow, XdpWarpHitsRow, XdpWarpKeyRow, XdpWarpLeafRow, XdpWarpPredicatesRow};
use sluice_formats::xdp::target::Target as Engine;
use sluice_formats::{Row, Table, Target};

/// A counter's bits.
const HITS: u64 = (1 << 36) - 1;

/// The tables of all modules.
#[derive(Debug)]
pub struct WarpTables {
    modules: u32,
    rules: usize,
    /// By 2 * module + generation.
    banks: Vec<Bank>,
}

/// Those of a module in a generation. Steps are not kept: cores are not here.
#[derive(Clone, Debug)]
struct Bank {
    key: XdpWarpKeyRow,
    predicates: [XdpWarpPredicatesRow; 2],
    chunks: Vec<u64>,
    leaves: Vec<XdpWarpLeafRow>,
    hits: Vec<u64>,
}

/// A packet's leaf, which is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpLeaf {
    /// Its rule.
    pub rule: usize,
    /// The verdict, if it is known.
    pub verdict: Option<u8>,
    /// Back edges and calls that its path has made.
    pub work: u8,
}

/// Module and generation that a row belongs to, as 2 * module + generation, and its place among theirs; none if the table is not the warp engine's.
pub fn place(modules: u32, table: Table, index: u32) -> Option<(u32, usize)> {
    let (rows, chunk) = (CHUNK_VALUES as u32, 2 * modules);
    let split = |each: usize| (index / each as u32, index as usize % each);
    Some(match table {
        Table::XdpWarpKey => split(1),
        Table::XdpWarpPredicates => split(2),
        Table::XdpWarpChunk => {
            let (row, value) = (index / rows, index % rows);
            (row % chunk, (row / chunk * rows + value) as usize)
        }
        Table::XdpWarpLeaf | Table::XdpWarpHits => split(RULES),
        Table::XdpWarpStep => split(STEPS),
        _ => return None,
    })
}

impl WarpTables {
    /// After a reset: nobody has a table.
    pub fn new(target: &Target) -> Self {
        let engine = Engine::by_name(target.name);
        let bank = Bank {
            key: XdpWarpKeyRow::default(),
            predicates: [XdpWarpPredicatesRow::default(); 2],
            chunks: vec![0; CHUNKS * CHUNK_VALUES],
            leaves: vec![XdpWarpLeafRow::default(); engine.warp_rules],
            hits: vec![0; engine.warp_rules],
        };
        Self { modules: target.modules, rules: engine.warp_rules, banks: vec![bank; 2 * target.modules as usize] }
    }

    /// Writes a row; whether the table is the warp engine's. A row that is not there stays so.
    pub fn write(&mut self, table: Table, index: u32, words: &[u32]) -> bool {
        let Some((bank, at)) = place(self.modules, table, index) else { return false };
        let Some(bank) = self.banks.get_mut(bank as usize) else { return true };
        match table {
            Table::XdpWarpKey => bank.key = Row::of_words(words),
            Table::XdpWarpPredicates => bank.predicates[at] = Row::of_words(words),
            Table::XdpWarpChunk => put(&mut bank.chunks, at, XdpWarpChunkRow::of_words(words).rules),
            Table::XdpWarpLeaf => put(&mut bank.leaves, at, Row::of_words(words)),
            Table::XdpWarpHits => put(&mut bank.hits, at, XdpWarpHitsRow::of_words(words).packets),
            _ => {}
        }
        true
    }

    /// Packets of a leaf; one that is not there has none.
    pub fn hits(&self, index: u32) -> XdpWarpHitsRow {
        let row = place(self.modules, Table::XdpWarpHits, index);
        let hits = row.and_then(|(bank, at)| self.banks.get(bank as usize)?.hits.get(at));
        XdpWarpHitsRow { packets: hits.copied().unwrap_or(0) }
    }

    /// A packet's leaf; none if it is plain.
    pub fn leaf(&self, (module, generation): (u8, u8), seen: &Seen) -> Option<WarpLeaf> {
        let bank = self.bank(module, generation)?;
        let rules = |chunk: usize, value: usize| bank.chunks[CHUNK_VALUES * chunk + value];
        let rule = matcher::rule(&bank.key, &bank.predicates, rules, seen).filter(|rule| *rule < self.rules)?;
        let row = bank.leaves.get(rule)?;
        let verdict = match XdpWarpKind::from_code(row.kind)? {
            XdpWarpKind::Plain => return None,
            XdpWarpKind::Verdict => Some(row.verdict),
            XdpWarpKind::Resume => None,
        };
        Some(WarpLeaf { rule, verdict, work: row.work })
    }

    /// A packet of a leaf more.
    pub fn count(&mut self, (module, generation): (u8, u8), leaf: &WarpLeaf) {
        let bank = self.banks.get_mut(2 * usize::from(module) + usize::from(generation & 1));
        if let Some(hits) = bank.and_then(|bank| bank.hits.get_mut(leaf.rule)) {
            *hits = hits.wrapping_add(1) & HITS;
        }
    }

    fn bank(&self, module: u8, generation: u8) -> Option<&Bank> {
        self.banks.get(2 * usize::from(module) + usize::from(generation & 1))
    }
}

fn put<T>(rows: &mut [T], at: usize, row: T) {
    if let Some(place) = rows.get_mut(at) {
        *place = row;
    }
}
