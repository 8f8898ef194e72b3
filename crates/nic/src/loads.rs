//! Loads of the software NIC: one step after the other, while packets flow. Those of different engines do not wait for each other.

use crate::tables::Tables;
use sluice_device::{DeviceError, Footprint, InstallError, OpId, StepError};
use sluice_formats::address::control;
use sluice_formats::{EngineId, Node, Status, Table};
use sluice_object::{Install, Load, Step};
use std::collections::VecDeque;

/// What a load has come to.
pub(crate) enum Progress {
    /// Nothing could be done now.
    Waits,
    /// A step was done; with `snapshot` every counter is to be kept as it is now.
    Stepped { snapshot: bool },
    /// The load has ended.
    Ended(OpId, Result<(), DeviceError>),
}

/// A load that runs or waits.
#[derive(Debug)]
struct Pending {
    op: OpId,
    load: Load,
    /// The next step.
    at: usize,
    footprint: Footprint,
    ready_at: u64,
    /// A write was answered with `busy`: only what happens elsewhere lets it go on.
    busy: bool,
}

/// What loads are done to: a NIC with one set of tables, or one whose workers have one each.
pub(crate) trait Configured {
    /// Modules that there are.
    fn modules(&self) -> u32;

    /// The snapshot epoch.
    fn epoch(&self) -> u32;

    /// Writes a row.
    fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status;

    /// Puts a program into a generation of an engine, or takes it away.
    fn install(&mut self, place: (EngineId, u8, u8), install: Option<&Install>) -> Result<(), InstallError>;

    /// Whether no packet of a generation of a module that exists is under way.
    fn drained(&self, module: u8, generation: u8) -> bool;

    /// Whether any packet of a module is in the device.
    fn is_inside(&self, module: u8) -> bool;
}

/// A NIC with one set of tables, and what says whether any packet of a module is in it.
pub(crate) struct Alone<'a, F> {
    pub tables: &'a mut Tables,
    pub is_inside: F,
}

impl<F: Fn(u8) -> bool> Configured for Alone<'_, F> {
    fn modules(&self) -> u32 {
        self.tables.target().modules
    }

    fn epoch(&self) -> u32 {
        self.tables.control(control::EPOCH)
    }

    fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status {
        self.tables.write(node, table, index, words)
    }

    fn install(
        &mut self,
        (engine, module, generation): (EngineId, u8, u8),
        install: Option<&Install>,
    ) -> Result<(), InstallError> {
        self.tables.engines_mut().install(engine, module, generation, install)
    }

    fn drained(&self, module: u8, generation: u8) -> bool {
        drained(self.tables, module, generation)
    }

    fn is_inside(&self, module: u8) -> bool {
        (self.is_inside)(module)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Loads {
    next: u64,
    /// In the order in which they came.
    queue: VecDeque<Pending>,
    ready_at: u64,
}

impl Loads {
    pub fn push(&mut self, load: Load, now: u64) -> OpId {
        let op = OpId(self.next);
        self.next += 1;
        if self.queue.is_empty() {
            self.ready_at = self.ready_at.max(now + 1);
        }
        let (footprint, ready_at) = (Footprint::of(&load), self.ready_at.max(now + 1));
        self.queue.push_back(Pending { op, load, at: 0, footprint, ready_at, busy: false });
        op
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The label of the load that has been under way for longest.
    pub fn label(&self) -> Option<&str> {
        self.queue.front().map(|pending| pending.load.label.as_str())
    }

    /// Whether a load waits for none before it.
    fn runs(&self, number: usize) -> bool {
        let footprint = &self.queue[number].footprint;
        self.queue.iter().take(number).all(|earlier| footprint.is_beside(&earlier.footprint))
    }

    /// Does the next step of a load, if its time has come and what it waits for is there.
    pub fn step(&mut self, now: u64, step_ticks: u64, nic: &mut impl Configured) -> Progress {
        for number in 0..self.queue.len() {
            if self.queue[number].ready_at > now || !self.runs(number) {
                continue;
            }
            let pending = &mut self.queue[number];
            let Some(step) = pending.load.steps.get(pending.at) else { return self.end(number, Ok(())) };
            let epoch = nic.epoch();
            match carry_out(step, nic) {
                Ok(false) => pending.busy = matches!(step, Step::Write { .. }),
                Ok(true) => {
                    pending.at += 1;
                    pending.busy = false;
                    pending.ready_at = now + step_ticks.max(1);
                    return Progress::Stepped { snapshot: nic.epoch() != epoch };
                }
                Err(error) => {
                    let failed = DeviceError::Step { label: pending.load.label.clone(), step: pending.at, error };
                    return self.end(number, Err(failed));
                }
            }
        }
        Progress::Waits
    }

    /// A load has ended: those that waited for it begin no earlier than its next step would have.
    fn end(&mut self, number: usize, result: Result<(), DeviceError>) -> Progress {
        let Some(ended) = self.queue.remove(number) else { return Progress::Waits };
        self.ready_at = self.ready_at.max(ended.ready_at);
        for later in self.queue.iter_mut().skip(number).filter(|later| !later.footprint.is_beside(&ended.footprint)) {
            later.ready_at = later.ready_at.max(ended.ready_at);
        }
        Progress::Ended(ended.op, result)
    }

    /// When a step can be done next, unless all wait for packets.
    pub fn next_event(&self, tables: &Tables, is_inside: impl Fn(u8) -> bool) -> Option<u64> {
        let waits = |pending: &Pending| match pending.load.steps.get(pending.at) {
            Some(Step::WaitDrained { module, generation }) => !drained(tables, *module, *generation),
            Some(Step::Commit { module, generation }) => {
                let wanted = tables.module_exists(*module) && tables.generation(*module).current != *generation;
                wanted && !drained(tables, *module, *generation)
            }
            Some(Step::WaitQueuesEmpty { module }) => is_inside(*module),
            Some(Step::Write { .. }) => pending.busy,
            _ => false,
        };
        let running = self.queue.iter().enumerate().filter(|(number, _)| self.runs(*number));
        running.filter(|(_, pending)| !waits(pending)).map(|(_, pending)| pending.ready_at).min()
    }
}

fn drained(tables: &Tables, module: u8, generation: u8) -> bool {
    !tables.module_exists(module) || tables.generation(module).in_flight[usize::from(generation & 1)] == 0
}

/// Does one step, if what it waits for is there: whether it is done, or what is wrong with it.
fn carry_out(step: &Step, nic: &mut impl Configured) -> Result<bool, StepError> {
    let modules = nic.modules();
    let exists = |module: u8, generation: u8| {
        if u32::from(module) >= modules {
            return Err(StepError::Module { found: module, max: modules - 1 });
        }
        if generation > 1 {
            return Err(StepError::Generation { found: generation });
        }
        Ok(())
    };
    let mut write = |node: Node, table: Table, index: u32, words: &[u32]| match nic.write(node, table, index, words) {
        Status::Ok => Ok(true),
        Status::Busy => Ok(false),
        status => Err(StepError::Row { node, table, index, status }),
    };
    match step {
        Step::Write { node, table, index, words } => write(*node, *table, *index, words),
        Step::Barrier => Ok(true),
        Step::Commit { module, generation } => {
            exists(*module, *generation)?;
            write(Node::Stamp, Table::Generation, u32::from(*module), &[u32::from(*generation)])
        }
        Step::WaitDrained { module, generation } => {
            exists(*module, *generation)?;
            Ok(nic.drained(*module, *generation))
        }
        Step::WaitQueuesEmpty { module } => {
            exists(*module, 0)?;
            Ok(!nic.is_inside(*module))
        }
        Step::Install { engine, module, generation, install } => {
            exists(*module, *generation)?;
            nic.install((*engine, *module, *generation), install.as_ref())?;
            Ok(true)
        }
    }
}
