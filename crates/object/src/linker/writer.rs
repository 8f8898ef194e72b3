//! Steps of a load under construction.

use super::Linker;
use super::rmt::RowWrite;
use crate::install::Install;
use crate::load::{Load, Step};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::{EngineId, Node, Row, Table};

/// Collects steps in their order.
#[derive(Default)]
pub(super) struct Writer {
    steps: Vec<Step>,
}

impl Writer {
    pub fn write(&mut self, node: Node, table: Table, index: u32, row: &impl Row) {
        let words = row.pack().expect("every value was checked when it was admitted");
        self.words(node, table, index, words);
    }

    pub fn words(&mut self, node: Node, table: Table, index: u32, words: Vec<u32>) {
        self.steps.push(Step::Write { node, table, index, words });
    }

    /// Rows of the pipeline, in any order.
    pub fn rows(&mut self, all: impl IntoIterator<Item = RowWrite>) {
        for RowWrite { node, table, index, words } in all {
            self.words(node, table, index, words);
        }
    }

    pub fn barrier(&mut self) {
        self.steps.push(Step::Barrier);
    }

    pub fn drained(&mut self, module: u8, generation: u8) {
        self.steps.push(Step::WaitDrained { module, generation });
    }

    pub fn commit(&mut self, module: u8, generation: u8) {
        self.steps.push(Step::Commit { module, generation });
    }

    pub fn install(&mut self, engine: EngineId, module: u8, generation: u8, install: Option<Install>) {
        self.steps.push(Step::Install { engine, module, generation, install });
    }

    pub fn queues_empty(&mut self, module: u8) {
        self.steps.push(Step::WaitQueuesEmpty { module });
    }

    pub fn load(self, linker: &Linker, tenant: u16, label: String) -> Load {
        let target_hash = linker.target.hash();
        Load { format_version: FORMAT_VERSION, target_hash, tenant, label, steps: self.steps }
    }
}
