//! Loads of the software NIC: one step after the other, while packets flow.

use crate::tables::Tables;
use sluice_device::{DeviceError, OpId, StepError};
use sluice_formats::{Node, Status, Table};
use sluice_object::{Load, Step};
use std::collections::VecDeque;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// It must wait.
    NotYet,
    /// What it waited for is there.
    Waited,
    /// It wrote a row.
    Wrote(Table, u32),
}

/// What a load has come to.
pub(super) enum Progress {
    /// Nothing could be done now.
    Waits,
    /// A step was done.
    Stepped(Done),
    /// The load has ended.
    Ended(OpId, Result<(), DeviceError>),
}

#[derive(Debug, Default)]
pub(super) struct Loads {
    next: u64,
    queue: VecDeque<(OpId, Load, usize)>,
    ready_at: u64,
    /// A write was answered with `busy`: only what happens elsewhere lets it go on.
    busy: bool,
}

impl Loads {
    pub fn push(&mut self, load: Load, now: u64) -> OpId {
        let op = OpId(self.next);
        self.next += 1;
        if self.queue.is_empty() {
            self.ready_at = self.ready_at.max(now + 1);
        }
        self.queue.push_back((op, load, 0));
        op
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The label of the load that is under way.
    pub fn label(&self) -> Option<&str> {
        self.queue.front().map(|(_, load, _)| load.label.as_str())
    }

    /// Does the next step, if its time has come and what it waits for is there. `is_inside` says
    /// whether any packet of a module is in the device.
    pub fn step(&mut self, now: u64, step_ticks: u64, tables: &mut Tables, is_inside: impl Fn(u8) -> bool) -> Progress {
        let Some((op, load, at)) = self.queue.front_mut() else { return Progress::Waits };
        if self.ready_at > now {
            return Progress::Waits;
        }
        let Some(step) = load.steps.get(*at) else {
            let op = *op;
            self.queue.pop_front();
            return Progress::Ended(op, Ok(()));
        };
        let done = match carry_out(step, tables, is_inside) {
            Ok(Done::NotYet) => {
                self.busy = matches!(step, Step::Write { .. });
                return Progress::Waits;
            }
            Ok(done) => done,
            Err(error) => {
                let failed = DeviceError::Step { label: load.label.clone(), step: *at, error };
                let op = *op;
                self.busy = false;
                self.queue.pop_front();
                return Progress::Ended(op, Err(failed));
            }
        };
        *at += 1;
        self.busy = false;
        self.ready_at = now + step_ticks.max(1);
        Progress::Stepped(done)
    }

    /// When the next step can be done, unless it waits for packets.
    pub fn next_event(&self, tables: &Tables, is_inside: impl Fn(u8) -> bool) -> Option<u64> {
        let (_, load, at) = self.queue.front()?;
        let waits = match load.steps.get(*at) {
            Some(Step::WaitDrained { module, generation }) => !drained(tables, *module, *generation),
            Some(Step::Commit { module, generation }) => {
                let wanted = tables.module_exists(*module) && tables.generation(*module).current != *generation;
                wanted && !drained(tables, *module, *generation)
            }
            Some(Step::WaitQueuesEmpty { module }) => is_inside(*module),
            Some(Step::Write { .. }) => self.busy,
            _ => false,
        };
        (!waits).then_some(self.ready_at)
    }
}

fn drained(tables: &Tables, module: u8, generation: u8) -> bool {
    !tables.module_exists(module) || tables.generation(module).in_flight[usize::from(generation & 1)] == 0
}

/// Does one step, or says what is wrong with it.
fn carry_out(step: &Step, tables: &mut Tables, is_inside: impl Fn(u8) -> bool) -> Result<Done, StepError> {
    let exists = |module: u8, generation: u8, tables: &Tables| {
        if !tables.module_exists(module) {
            return Err(StepError::Module { found: module, max: tables.target().modules - 1 });
        }
        if generation > 1 {
            return Err(StepError::Generation { found: generation });
        }
        Ok(())
    };
    let waited = |there: bool| if there { Done::Waited } else { Done::NotYet };
    let write = |tables: &mut Tables, node: Node, table: Table, index: u32, words: &[u32]| match tables
        .write(node, table, index, words)
    {
        Status::Ok => Ok(Done::Wrote(table, index)),
        Status::Busy => Ok(Done::NotYet),
        status => Err(StepError::Row { node, table, index, status }),
    };
    match step {
        Step::Write { node, table, index, words } => write(tables, *node, *table, *index, words),
        Step::Barrier => Ok(Done::Waited),
        Step::Commit { module, generation } => {
            exists(*module, *generation, tables)?;
            write(tables, Node::Stamp, Table::Generation, u32::from(*module), &[u32::from(*generation)])
        }
        Step::WaitDrained { module, generation } => {
            exists(*module, *generation, tables)?;
            Ok(waited(drained(tables, *module, *generation)))
        }
        Step::WaitQueuesEmpty { module } => {
            exists(*module, 0, tables)?;
            Ok(waited(!is_inside(*module)))
        }
        Step::Install { engine, module, generation, install } => {
            exists(*module, *generation, tables)?;
            tables.engines_mut().install(*engine, *module, *generation, install.as_ref())?;
            Ok(Done::Waited)
        }
    }
}
