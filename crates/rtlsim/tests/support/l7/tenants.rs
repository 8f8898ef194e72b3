//! Random tenants: rules, their programs in the engine's tables, ports.

use super::bench::Bench;
use sluice_formats::Table;
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::{L7PortRow, L7QuotaRow, L7SecretRow, L7ShareRow, L7TargetPart};
use sluice_formats::l7::target::Target;
use sluice_formats::random::Rng;
use sluice_l7::compile::{Options, compile};
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

/// A target.
pub fn goal(kind: L7Goal, number: u16) -> L7TargetPart {
    L7TargetPart { kind: kind.code(), number, ..L7TargetPart::default() }
}

impl Tenants {
    /// Rules of several modules, as many as there is room for.
    pub fn random(target: &Target, rng: &mut Rng) -> Self {
        let mut all = Self::default();
        for module in 1..=MODULES {
            let rules = testing::rules(rng, &Limits { types: 2, rules: 4, steps: 4, ..Limits::default() });
            let room = target.rows - all.tables.rows.len();
            let Ok(program) = compile(&rules, &Options { rows: room }) else { continue };
            let (tables, ports) = program.tables(&rules, module);
            let fits = all.tables.starts.len() + tables.starts.len() <= target.starts
                && all.tables.groups.len() + tables.groups.len() <= target.groups
                && all.ports.len() + ports.len() <= target.ports;
            if fits {
                all.place(tables, ports, &rules.applications, rng);
            }
        }
        all.break_some(rng);
        all
    }

    fn place(&mut self, tables: Tables, ports: Vec<L7PortRow>, rules: &[Application], rng: &mut Rng) {
        let (rows, starts, groups) = (self.tables.rows.len(), self.tables.starts.len(), self.tables.groups.len());
        let placed = |mut target: L7TargetPart| {
            let base = match L7Goal::from_code(target.kind) {
                Some(L7Goal::Row | L7Goal::Rows) => rows,
                Some(L7Goal::Group) => groups,
                _ => 0,
            };
            target.number += base as u16;
            target
        };
        for mut row in tables.rows {
            row.miss = placed(row.miss);
            row.alternatives.iter_mut().for_each(|a| a.target = placed(a.target));
            self.tables.rows.push(row);
        }
        for mut row in tables.starts {
            row.target = placed(row.target);
            self.tables.starts.push(row);
        }
        self.tables.groups.extend(tables.groups);
        for (mut row, application) in ports.into_iter().zip(rules) {
            row.start += starts as u16;
            row.otherwise = placed(row.otherwise);
            row.updating = rng.chance(1, 8);
            row.generation = rng.chance(1, 24);
            self.ports.push((row, application.clone()));
        }
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
    pub fn write(&self, bench: &mut Bench, target: &Target, rng: &mut Rng) {
        (0..).zip(&self.tables.rows).for_each(|(index, row)| bench.write(Table::L7Match, index, row));
        (0..).zip(&self.tables.starts).for_each(|(index, row)| bench.write(Table::L7Start, index, row));
        (0..).zip(&self.tables.groups).for_each(|(index, row)| bench.write(Table::L7Group, index, row));
        for (index, (row, _)) in (0..).zip(&self.ports) {
            bench.write(Table::L7Port, index, row);
            bench.model.ports.push(*row);
        }
        for module in 0..target.modules as u32 {
            quota(bench, module as u8, target.messages as u16);
        }
        secrets(bench, rng);
        let share = L7ShareRow { packets: 2, beats: 24 };
        (1..4).for_each(|module| bench.write(Table::L7Share, module, &share));
    }
}

/// How many messages of a module may be on their way.
pub fn quota(bench: &mut Bench, module: u8, messages: u16) {
    bench.write(Table::L7Quota, module.into(), &L7QuotaRow { messages });
    bench.model.table.set_quota(module, messages);
}

/// New secrets.
pub fn secrets(bench: &mut Bench, rng: &mut Rng) {
    for hash in 0..2 {
        let row = L7SecretRow { words: std::array::from_fn(|_| rng.next_u32()) };
        bench.write(Table::L7Secret, hash, &row);
        bench.model.table.set_secret(hash as usize, &row);
    }
}
