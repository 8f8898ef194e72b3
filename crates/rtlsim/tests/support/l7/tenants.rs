//! Random tenants: rules, their programs in the engine's tables, ports.

use super::rows::Rows;
use sluice_formats::Table;
use sluice_formats::l7::rows::{L7PortRow, L7QuotaRow, L7SecretRow, L7ShareRow};
use sluice_formats::l7::target::{MATCH_BYTES, Target};
use sluice_formats::random::Rng;
use sluice_l7::compile::{Options, compile};
use sluice_l7::placed::Placed;
use sluice_l7::rules::Application;
use sluice_l7::tables::Tables;
use sluice_l7::testing::{self, Limits};

/// Modules that have rules, from 1 on.
const MODULES: u8 = 4;

/// What tenants have.
#[derive(Clone, Debug, Default)]
pub struct Tenants {
    /// Ports, with the rules behind them.
    pub ports: Vec<(L7PortRow, Application)>,
    /// The engine's tables.
    pub tables: Tables,
}

impl Tenants {
    /// Rules of several modules, as many as there is room for.
    pub fn random(target: &'static Target, rng: &mut Rng) -> Self {
        let mut placed = Placed::new(target);
        let mut applications = Vec::new();
        for module in 1..=MODULES {
            // Texts as long as a row compares, and twice that.
            let text = if target.compare_bytes > MATCH_BYTES { 2 * target.compare_bytes } else { 4 };
            let patterns = target.alternatives;
            let limits = Limits { types: 2, rules: 4, patterns, steps: 4, ..Limits::default() };
            let limits = Limits { text, view: target.view_bytes(), ..limits };
            let rules = testing::rules(rng, &limits);
            let Ok(program) = compile(&rules, &Options { rows: placed.room(), shape: target.match_shape() }) else {
                continue;
            };
            let first = placed.ports.len();
            if placed.add(module, &program, &rules).is_err() {
                continue;
            }
            for row in &mut placed.ports[first..] {
                row.updating = rng.chance(1, 8);
                row.generation = rng.chance(1, 24);
            }
            applications.extend(rules.applications);
        }
        let mut all = Self { ports: placed.ports.into_iter().zip(applications).collect(), tables: placed.tables };
        all.break_some(rng);
        all
    }

    /// Rows that no compiler makes.
    fn break_some(&mut self, rng: &mut Rng) {
        let places = rng.below(2 + self.tables.rows.len() as u64 / 4);
        if rng.chance(3, 4) {
            let mut ports: Vec<_> = self.ports.iter().map(|(row, _)| *row).collect();
            testing::break_tables(rng, &mut self.tables, &mut ports, places);
            self.ports.iter_mut().zip(ports).for_each(|((row, _), broken)| *row = broken);
        }
    }

    /// Writes everything, and quotas, secrets and shares.
    pub fn write(&self, bench: &mut impl Rows, target: &Target, rng: &mut Rng) {
        (0..).zip(&self.tables.rows).for_each(|(index, row)| bench.write_match(index, row));
        (0..).zip(&self.tables.starts).for_each(|(index, row)| bench.write(Table::L7Start, index, row));
        (0..).zip(&self.tables.groups).for_each(|(index, row)| bench.write(Table::L7Group, index, row));
        for (index, (row, _)) in (0..).zip(&self.ports) {
            bench.write(Table::L7Port, index, row);
            bench.engine().ports.push(*row);
        }
        for module in 0..target.modules as u32 {
            quota(bench, module as u8, target.messages as u16);
        }
        secrets(bench, rng);
        let share = L7ShareRow { packets: 2, beats: 24, weight: 0 };
        (1..4).for_each(|module| bench.write(Table::L7Share, module, &share));
    }
}

/// How many messages of a module may be on their way.
pub fn quota(bench: &mut impl Rows, module: u8, messages: u16) {
    bench.write(Table::L7Quota, module.into(), &L7QuotaRow { messages });
    bench.engine().table.set_quota(module, messages);
}

/// New secrets.
pub fn secrets(bench: &mut impl Rows, rng: &mut Rng) {
    for hash in 0..2 {
        let row = L7SecretRow { words: std::array::from_fn(|_| rng.next_u32()) };
        bench.write(Table::L7Secret, hash, &row);
        bench.engine().table.set_secret(hash as usize, &row);
    }
}
