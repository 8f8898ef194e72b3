//! All workers of a data plane as one NIC: loads, homes of tenants, counters and rows.

use super::core::Core;
use super::post::{Boxes, Post};
use crate::loads::{Configured, Loads, Progress};
use crate::readback::Readback;
use sluice_device::{Capabilities, DeviceError, Engines, InstallError, ModuleCounters, OpId, StepError};
use sluice_formats::address::{Access, control};
use sluice_formats::limits::SYSTEM_MODULE;
use sluice_formats::rmt::rows::PageRow;
use sluice_formats::rmt::target::MODULE_PAGES;
use sluice_formats::rows::GenerationRow;
use sluice_formats::{EngineId, Node, Row, Status, Table, Target};
use sluice_object::{Install, Load, Step};
use std::collections::BTreeMap;

/// Steps of loads between two packets at most: a load of many rows does not keep packets waiting.
const STEPS: usize = 256;
/// Counters are 48 bits wide and wrap.
const COUNTER_MASK: u64 = (1 << 48) - 1;

/// The workers, none of which runs a packet meanwhile.
#[derive(Debug)]
pub(super) struct All {
    pub cores: Vec<Core>,
    /// Copies of each value of a per-CPU map.
    pub cpus: u32,
}

impl All {
    /// So many, with engines of their own.
    pub fn new(target: Target, workers: usize, make: impl Fn() -> Engines) -> Self {
        let boxes = Boxes::new(workers);
        let mut cores: Vec<Core> = (0..workers).map(|_| Core::new(target, make())).collect();
        if workers > 1 {
            let posts = (0..).zip(&mut cores);
            posts.for_each(|(worker, core)| {
                core.post = Some(Post::new(worker, boxes.clone()));
                core.number_apart(worker, workers);
            });
        }
        let cpus = cores[0].tables.engines_mut().maps().map_or(1, |maps| maps.cpus());
        Self { cores, cpus }
    }

    fn boxes(&self) -> Option<&Boxes> {
        self.cores[0].post.as_ref().map(|post| post.boxes())
    }

    /// Whether all sources wait until what they have is taken.
    pub fn be_patient(&mut self, patient: bool) {
        self.cores.iter_mut().filter_map(|core| core.post.as_mut()).for_each(|post| post.patient = patient);
    }

    /// Packets of a module that are in the device.
    pub fn in_flight(&self, module: u8) -> u64 {
        let sent = self.boxes().map_or(0, |boxes| boxes.of_module(module));
        self.cores.iter().map(|core| core.in_flight(module)).sum::<u64>() + sent
    }

    /// Nothing is inside but packets behind blocked destinations and, where the entrance is stopped, those before it.
    pub fn is_idle(&self) -> bool {
        self.cores.iter().all(Core::is_idle) && self.boxes().is_none_or(Boxes::is_empty)
    }

    /// Does steps of loads that can be done now; `ended` gets what has ended. Whether there may be more.
    pub fn step_loads(
        &mut self,
        (loads, steps): (&mut Loads, &mut u64),
        mut ended: impl FnMut(OpId, Result<(), DeviceError>),
    ) -> bool {
        for _ in 0..STEPS {
            if loads.is_empty() {
                return false;
            }
            *steps += 1;
            match loads.step(*steps, 1, self) {
                Progress::Waits => return false,
                Progress::Stepped { snapshot } => {
                    if snapshot {
                        self.cores.iter_mut().for_each(|core| core.last_snapshot = core.bank.clone());
                    }
                    self.find_homes();
                }
                Progress::Ended(op, result) => ended(op, result),
            }
        }
        true
    }

    /// A tenant whose packets find what earlier ones have left has one worker for all of them; it keeps it until none of its packets is
    /// inside and nothing of that kind is left.
    fn find_homes(&mut self) {
        let workers = self.cores.len();
        if workers == 1 {
            return;
        }
        // All packets meet the system module's tables.
        let all_at_first = self.is_stateful(SYSTEM_MODULE);
        for module in 0..self.modules() as u8 {
            let home = if all_at_first { 0 } else { module % workers as u8 };
            let has = all_at_first || self.is_stateful(module);
            if has || self.in_flight(module) == 0 {
                let posts = self.cores.iter_mut().filter_map(|core| core.post.as_mut());
                posts.for_each(|post| post.set_home(module, has.then_some(home)));
            }
        }
    }

    /// The same rows are at all workers.
    fn is_stateful(&self, module: u8) -> bool {
        let tables = &self.cores[0].tables;
        tables.rate(module).cost_per_byte != 0 || tables.engines().is_stateful(module)
    }

    /// Refuses state of the system module where tenants have theirs already: the packets of all tenants would be one worker's, and what
    /// they have is at others.
    pub fn check(&self, load: &Load) -> Result<(), DeviceError> {
        let apart = |module: u8| self.is_stateful(module) && self.home(module) != 0;
        if self.is_stateful(SYSTEM_MODULE) || !(1..self.modules() as u8).any(apart) {
            return Ok(());
        }
        let of_system = |step: &Step| match step {
            Step::Install { module, install, .. } => *module == SYSTEM_MODULE && install.is_some(),
            Step::Write { table: Table::Page, index, words, .. } => {
                *index < 2 * MODULE_PAGES as u32 && PageRow::of_words(words).valid
            }
            _ => false,
        };
        let Some(step) = load.steps.iter().position(of_system) else { return Ok(()) };
        let what = format!(
            "state of the system module with {} workers where tenants have state already; load it before them, or use one worker",
            self.cores.len()
        );
        let refused = InstallError { engine: EngineId::RMT, what, code: Some("E0314") };
        Err(DeviceError::Step { label: load.label.clone(), step, error: StepError::Install(refused) })
    }

    /// The worker that has what a module's packets leave: its maps and its state words.
    pub fn home(&self, module: u8) -> usize {
        if self.is_stateful(SYSTEM_MODULE) { 0 } else { usize::from(module) % self.cores.len() }
    }

    /// Packets of a generation that are under way, modulo 2^32.
    fn under_way(&self, module: u8, generation: u8) -> u32 {
        self.cores.iter().fold(0u32, |sum, core| sum.wrapping_add(core.under_way(module, generation)))
    }

    /// The counters by module; modules without packets are absent.
    pub fn counters(&self) -> BTreeMap<u8, ModuleCounters> {
        let mut sum: BTreeMap<u8, ModuleCounters> = BTreeMap::new();
        for core in self.cores.iter() {
            for (module, counters) in core.bank.modules(&BTreeMap::new(), core.tables.engines()) {
                sum.entry(module).or_default().add(&counters);
            }
        }
        for module in 0..self.modules() as u8 {
            let in_flight = self.in_flight(module);
            if in_flight > 0 {
                sum.entry(module).or_default().in_flight = in_flight;
            }
        }
        sum
    }

    /// A row with all its words, or a counter.
    pub fn row(
        &self,
        capabilities: &Capabilities,
        (node, table, index): (Node, Table, u32),
    ) -> Result<Vec<u32>, DeviceError> {
        let of = |core: &Core| {
            let Core { tables, bank, last_snapshot, now, .. } = core;
            Readback { capabilities, tables, bank, last_snapshot, now: *now }.row(node, table, index)
        };
        if self.cores.len() == 1 {
            return of(&self.cores[0]);
        }
        if table.access() == Access::Counter {
            let mut sum = 0;
            for core in self.cores.iter() {
                let words = of(core)?;
                sum += words.iter().rev().fold(0, |value, word| value << 32 | u64::from(*word));
            }
            let sum = sum & COUNTER_MASK;
            return Ok(vec![sum as u32, (sum >> 32) as u32]);
        }
        let changed_by = self.cores[0].tables.engines().changed_by(node, table, index);
        let mut words = of(&self.cores[changed_by.map_or(0, |module| self.home(module))])?;
        if table == Table::Generation {
            let module = index as u8;
            let count = |generation| self.under_way(module, generation).min(255) as u8;
            let row = GenerationRow { in_flight_0: count(0), in_flight_1: count(1), ..Row::of_words(&words) };
            words = row.pack().unwrap_or(words);
        }
        Ok(words)
    }
}

impl Configured for All {
    fn modules(&self) -> u32 {
        self.cores[0].tables.target().modules
    }

    fn epoch(&self) -> u32 {
        self.cores[0].tables.control(control::EPOCH)
    }

    fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status {
        let several = self.cores.len() > 1;
        if several && table == Table::Generation && words.len() == table.words() && index < self.modules() {
            let (module, generation) = (index as u8, (words[0] & 1) as u8);
            if self.cores[0].tables.generation(module).current != generation {
                if self.under_way(module, generation) != 0 {
                    return Status::Busy;
                }
                self.cores.iter_mut().for_each(|core| core.tables.settle(module, generation));
            }
        }
        // All have the same rows, and so the same answer.
        self.cores
            .iter_mut()
            .map(|core| core.tables.write(node, table, index, words))
            .fold(Status::Ok, |all, each| if all == Status::Ok { each } else { all })
    }

    fn install(
        &mut self,
        (engine, module, generation): (EngineId, u8, u8),
        install: Option<&Install>,
    ) -> Result<(), InstallError> {
        let mut engines = self.cores.iter_mut().map(|core| core.tables.engines_mut());
        engines.try_for_each(|engines| engines.install(engine, module, generation, install))
    }

    fn drained(&self, module: u8, generation: u8) -> bool {
        u32::from(module) >= self.modules() || self.under_way(module, generation) == 0
    }

    fn is_inside(&self, module: u8) -> bool {
        self.in_flight(module) > 0
    }
}

#[cfg(test)]
#[path = "all_tests.rs"]
mod tests;
