//! Configuration writes of a replay, and the doubt about the instant at which they took effect.

use super::Replay;
use super::compare::{Mismatch, mismatch};
use crate::forward::{self, Classified};
use sluice_device::{InstallError, Maps};
use sluice_formats::rows::{LimitRow, ShareRow};
use sluice_formats::{EngineId, Node, Row, Status, Table};
use sluice_object::Install;

/// A row that packets may or may not have seen.
#[derive(Clone, Debug)]
pub(super) struct PendingWrite {
    node: Node,
    table: Table,
    index: u32,
    words: Vec<u32>,
}

impl Replay {
    /// A write was asked for: until it is applied or withdrawn, both rows count for the ports'
    /// VLAN and policy rows, the queues' limits and commits.
    pub fn announce_write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) {
        self.announced.push(PendingWrite { node, table, index, words: words.to_vec() });
    }

    /// The device did not take the write (busy, or an error): nothing has changed.
    pub fn withdraw_write(&mut self, node: Node, table: Table, index: u32) {
        if let Some(at) = self.announced.iter().position(|w| (w.node, w.table, w.index) == (node, table, index)) {
            self.announced.remove(at);
        }
    }

    /// The device answered a write with ok. A write that the model refuses is a mismatch: a
    /// commit that came while the generation was in use, or a row that does not exist.
    pub fn apply_write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Result<(), Mismatch> {
        self.withdraw_write(node, table, index);
        if matches!(table, Table::Vlan | Table::PortPolicy)
            && let Ok(old) = self.tables.read(node, table, index)
        {
            // One frame a port may have begun before the write and end after it.
            self.superseded.push(PendingWrite { node, table, index, words: old });
        }
        match self.tables.write(node, table, index, words) {
            Status::Ok if table == Table::Share => {
                let (port, module) = (node.index(), index as u8);
                let row = self.tables.share_mut(port, module).row;
                self.shares.written(port, module, row);
                Ok(())
            }
            Status::Ok => Ok(()),
            status => Err(Mismatch {
                packet: None,
                at: "write",
                model: format!("{status:?} for {node:?} {} row {index}", table.name()),
                device: "Ok".to_owned(),
            }),
        }
    }

    /// A load of the device has come to a program of an engine.
    pub fn install(
        &mut self,
        engine: EngineId,
        module: u8,
        generation: u8,
        install: Option<&Install>,
    ) -> Result<(), Mismatch> {
        let device = "taken".to_owned();
        let refused = |e: InstallError| Mismatch { packet: None, at: "program", model: e.to_string(), device };
        self.tables.engines_mut().install(engine, module, generation, install).map_err(refused)
    }

    /// Maps of the programs.
    pub fn maps(&mut self) -> Option<&mut dyn Maps> {
        self.tables.engines_mut().maps()
    }

    /// Judges a frame with each row in doubt in place of the present one.
    pub(super) fn classify_during_write(
        &mut self,
        port: u8,
        bytes: &[u8],
        bad: bool,
        agrees: impl Fn(&Classified) -> bool,
    ) -> Option<Classified> {
        let in_doubt: Vec<PendingWrite> =
            self.announced.iter().chain(&self.superseded).filter(|w| w.node == Node::Port(port)).cloned().collect();
        in_doubt.into_iter().find_map(|write| {
            let present = self.tables.read(write.node, write.table, write.index).ok()?;
            self.tables.write(write.node, write.table, write.index, &write.words);
            let classified = forward::classify(port, bytes, bad, &self.tables);
            self.tables.write(write.node, write.table, write.index, &present);
            agrees(&classified).then_some(classified)
        })
    }

    /// A frame of the port has ended: the next one began after all writes applied so far.
    pub(super) fn forget_superseded(&mut self, port: u8) {
        self.superseded.retain(|w| w.node != Node::Port(port));
    }

    /// A packet was stamped with the generation that is not current: only right when a commit
    /// to it is under way, which has then taken effect for good.
    pub(super) fn commit_under_way(&mut self, id: u32, module: u8, generation: u8) -> Result<(), Mismatch> {
        let current = self.tables.generation(module).current;
        let asked = self.announced.iter().any(|w| {
            (w.table, w.index) == (Table::Generation, u32::from(module))
                && w.words.first().map(|w| w & 1) == Some(u32::from(generation))
        });
        if !asked {
            return Err(mismatch(id, "merge", format!("generation {current}"), format!("generation {generation}")));
        }
        match self.tables.write(Node::Stamp, Table::Generation, u32::from(module), &[u32::from(generation)]) {
            Status::Ok => {
                // Taken effect: going back would need another commit.
                self.withdraw_write(Node::Stamp, Table::Generation, u32::from(module));
                Ok(())
            }
            _ => {
                let in_flight = self.tables.generation(module).in_flight[usize::from(generation)];
                let model = format!("{in_flight} packets of generation {generation} in flight, so no commit");
                Err(mismatch(id, "merge", model, format!("generation {generation}")))
            }
        }
    }

    /// Rows of a module's share at a port that were asked for.
    pub(super) fn asked_shares(&self, port: u8, module: u8) -> Vec<ShareRow> {
        let of = |w: &&PendingWrite| (w.node, w.table, w.index) == (Node::Port(port), Table::Share, module.into());
        self.announced.iter().filter(of).map(|w| Row::of_words(&w.words)).collect()
    }

    /// The smallest room for packets beyond their share that a port may have now.
    pub(super) fn least_excess(&self, port: u8) -> u32 {
        let of = |w: &&PendingWrite| (w.node, w.table) == (Node::Port(port), Table::Excess);
        let asked = self.announced.iter().filter(of).filter_map(|w| w.words.first().map(|beats| beats & 0xffff));
        asked.chain([self.tables.excess(port)]).min().unwrap_or(0)
    }

    /// The present limit of a queue and those asked for.
    pub(super) fn possible_limits(&self, queue: usize) -> Vec<LimitRow> {
        let asked = self
            .announced
            .iter()
            .filter(|w| (w.table, w.index as usize) == (Table::Limit, queue))
            .filter_map(|w| LimitRow::unpack(&w.words).ok());
        std::iter::once(self.tables.limit(queue)).chain(asked).collect()
    }
}
