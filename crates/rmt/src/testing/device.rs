//! A device that holds rows and nothing else: what a placer's writes make of it.

use crate::target::{MODULE_PAGES, NODES, PATHS, PATTERNS, Target};
use sluice_formats::rmt::rows::*;
use sluice_formats::rmt::tables::nodes;
use sluice_formats::row::Row;
use sluice_formats::{Node, Table};
use sluice_object::linker::rmt::RowWrite;
use sluice_object::{RmtExact, RmtPart, RmtStage, RmtTernary};
use std::collections::HashMap;

/// Rows by place; those that nobody wrote are zero.
#[derive(Clone, Debug)]
pub struct Device {
    target: Target,
    rows: HashMap<(Node, Table, u32), Vec<u32>>,
}

impl Device {
    /// All rows zero.
    pub fn new(target: Target) -> Self {
        Self { target, rows: HashMap::new() }
    }

    /// Writes a row, which has to be there.
    pub fn write(&mut self, write: &RowWrite) {
        let (table, index) = (write.table, write.index);
        assert!(nodes(&self.target).contains(&write.node) && table.is_of(write.node), "{write:?}");
        assert!(index < table.rows(self.target.nic()) && write.words.len() == table.words(), "{write:?}");
        if write.words.iter().all(|&w| w == 0) {
            self.rows.remove(&(write.node, table, index));
        } else {
            self.rows.insert((write.node, table, index), write.words.clone());
        }
    }

    /// A row as it is.
    pub fn read<L: Row>(&self, node: Node, table: Table, index: u32) -> L {
        let row = self.rows.get(&(node, table, index)).map(|words| L::unpack(words).expect("a row of its table"));
        row.unwrap_or_default()
    }

    /// Places of all rows that are not zero.
    pub fn places(&self) -> impl Iterator<Item = (Node, Table, u32)> {
        self.rows.keys().copied()
    }

    /// The rows that packets of a module and generation meet, as a part: what the module has in its own stages.
    /// Actions are the rows that an entry or the default names, in rising order.
    pub fn part(&self, module: u8, generation: u8) -> RmtPart {
        let bank = 2 * u32::from(module) + u32::from(generation);
        let beats = self.target.window_beats() as u32;
        let row = |i: u32| {
            let index = |beat| beats * (PATTERNS as u32 * bank + i) + beat;
            (0..beats).map(|beat| self.read(Node::Deparser, Table::Deparse, index(beat))).collect()
        };
        let own = |s: &u8| module == 0 || !self.target.is_system(usize::from(*s));
        let stages = (0..self.target.stages as u8).filter(own).map(|s| (s, self.stage(s, module, generation)));
        RmtPart {
            first: self.read(Node::Parser, Table::First, bank),
            nodes: (0..NODES as u32).map(|i| self.read(Node::Parser, Table::Node, NODES as u32 * bank + i)).collect(),
            paths: (0..PATHS as u32).map(|i| self.read(Node::Parser, Table::Path, PATHS as u32 * bank + i)).collect(),
            patterns: self.read(Node::Deparser, Table::Patterns, bank),
            deparse: (0..PATTERNS as u32).map(row).collect(),
            stages: stages.collect(),
            ..RmtPart::default()
        }
    }

    fn stage(&self, number: u8, module: u8, generation: u8) -> RmtStage {
        let (node, bank) = (Node::Stage(number), 2 * u32::from(module) + u32::from(generation));
        let (sets, exact) = (self.target.sets() as u32, self.target.exact as u32);
        let mut key: KeyRow = self.read(node, Table::Key, bank);
        let data = |index| self.read::<DataRow>(node, Table::Data, index).data;
        let mine = |generations: u8, owner: u8| generations >> generation & 1 == 1 && owner == module;
        let mut stage = RmtStage::default();
        for (way, set) in (0..4).flat_map(|way| (0..sets).map(move |set| (way, set))) {
            let row: ExactRow = self.read(node, Table::Exact(way), set);
            if mine(row.generations, row.module_id) {
                stage.exact.push(RmtExact { row, data: data(u32::from(way) * sets + set) });
            }
        }
        for index in 0..self.target.ternary as u32 {
            let row: TernaryRow = self.read(node, Table::Ternary, index);
            if mine(row.generations, row.module_id) {
                stage.ternary.push(RmtTernary { row, data: data(exact + index) });
            }
        }
        stage.default_data = data(exact + self.target.ternary as u32 + bank);
        let mut named: Vec<u16> = stage.exact.iter().map(|e| e.row.action).collect();
        named.extend(stage.ternary.iter().map(|e| e.row.action));
        named.extend(key.default_valid.then_some(key.default_action));
        named.sort_unstable();
        named.dedup();
        let place = |action: u16| named.binary_search(&action).unwrap_or(0) as u16;
        stage.exact.iter_mut().for_each(|e| e.row.action = place(e.row.action));
        stage.ternary.iter_mut().for_each(|e| e.row.action = place(e.row.action));
        key.default_action = place(key.default_action);
        stage.actions = named.iter().map(|&a| self.read(node, Table::Action, a.into())).collect();
        let page = |i: u32| self.read::<PageRow>(node, Table::Page, MODULE_PAGES as u32 * bank + i).valid;
        stage.pages = (0..MODULE_PAGES as u32).filter(|&i| page(i)).count() as u16;
        stage.key = key;
        stage
    }

    /// The exact entry that the hardware finds, with its way and set: as docs/design/rmt.md says.
    pub fn find_exact(&self, stage: u8, module: u8, generation: u8, key: &[u8; 25]) -> Option<(ExactRow, u32)> {
        let node = Node::Stage(stage);
        let spec: KeyRow = self.read(node, Table::Key, 2 * u32::from(module) + u32::from(generation));
        let h = sluice_formats::hash::crc32c(key);
        let mixed = h ^ (h.rotate_left(7) & h.rotate_left(18)) ^ (h.rotate_left(13) & h.rotate_left(29));
        let sets = (1u32 << spec.set_bits) - 1;
        (0..4).find_map(|way| {
            let hash = if way < 2 { mixed & 0xffff } else { mixed >> 16 };
            let set = (u32::from(spec.set_base) * self.target.base_unit() as u32) | (hash & sets);
            let row: ExactRow = self.read(node, Table::Exact(way), set);
            let here = row.generations >> generation & 1 == 1 && row.module_id == module && row.key.0 == *key;
            here.then_some((row, u32::from(way) * self.target.sets() as u32 + set))
        })
    }

    /// What a packet with this masked key gets: action row, logical number, action data.
    pub fn find(&self, stage: u8, module: u8, generation: u8, key: &[u8; 25]) -> Option<(u16, u16, [u8; 16])> {
        let node = Node::Stage(stage);
        let (exact, entries) = (self.target.exact as u32, self.target.ternary as u32);
        let data = |index| self.read::<DataRow>(node, Table::Data, index).data.0;
        if let Some((row, at)) = self.find_exact(stage, module, generation, key) {
            return Some((row.action, row.number, data(at)));
        }
        let ternary = (0..entries).find_map(|index| {
            let row: TernaryRow = self.read(node, Table::Ternary, index);
            let mine = row.generations >> generation & 1 == 1 && row.module_id == module;
            let agrees = (0..25).all(|i| (key[i] ^ row.value.0[i]) & row.mask.0[i] == 0);
            (mine && agrees).then(|| (row.action, row.number, data(exact + index)))
        });
        let bank = 2 * u32::from(module) + u32::from(generation);
        let spec: KeyRow = self.read(node, Table::Key, bank);
        let default = (spec.default_action, spec.default_number, data(exact + entries + bank));
        ternary.or(spec.default_valid.then_some(default))
    }
}
