//! Programs of several modules in the tables of one engine, one behind the other.

use crate::compile::Program;
use crate::rules::Rules;
use crate::tables::Tables;
use sluice_formats::l7::rows::{L7PortRow, L7TargetPart};
use sluice_formats::l7::target::Target;

/// Tables and port rows of an engine.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Match rows, start rows, groups.
    pub tables: Tables,
    /// UDP ports.
    pub ports: Vec<L7PortRow>,
    target: &'static Target,
}

/// A program for which there is no room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it takes {wanted} {what}, {left} of {all} are left on the target {target}")]
pub struct NoRoom {
    /// What there is too little of.
    pub what: &'static str,
    /// How many it takes.
    pub wanted: usize,
    /// How many are left.
    pub left: usize,
    /// How many the target has.
    pub all: usize,
    /// The target.
    pub target: &'static str,
}

impl Placed {
    /// An engine without programs.
    pub fn new(target: &'static Target) -> Self {
        Self { tables: Tables { shape: target.match_shape(), ..Tables::default() }, ports: Vec::new(), target }
    }

    /// Rows that are left for match rows.
    pub fn room(&self) -> usize {
        self.target.rows - self.tables.rows.len()
    }

    /// Puts a module's program behind those that are there, or leaves all as it was.
    pub fn add(&mut self, module: u8, program: &Program, rules: &Rules) -> Result<(), NoRoom> {
        let (tables, ports) = program.tables(rules, module);
        let have = &self.tables;
        let (rows, starts, groups) = (have.rows.len(), have.starts.len(), have.groups.len());
        let fits = |what, wanted, used, all| {
            let error = NoRoom { what, wanted, left: all - used, all, target: self.target.name };
            if wanted > all - used { Err(error) } else { Ok(()) }
        };
        fits("match rows", tables.rows.len(), rows, self.target.rows)?;
        fits("start rows", tables.starts.len(), starts, self.target.starts)?;
        fits("groups", tables.groups.len(), groups, self.target.groups)?;
        fits("UDP ports", ports.len(), self.ports.len(), self.target.ports)?;
        let placed = |target: L7TargetPart| target.moved(rows as u16, groups as u16, 0);
        self.tables.rows.extend(tables.rows.into_iter().map(|mut row| {
            row.miss = placed(row.miss);
            row.alternatives.iter_mut().for_each(|a| a.target = placed(a.target));
            row
        }));
        self.tables.starts.extend(tables.starts.into_iter().map(|mut row| {
            row.target = placed(row.target);
            row
        }));
        self.tables.groups.extend(tables.groups);
        self.ports.extend(ports.into_iter().map(|mut row| {
            row.start += starts as u16;
            row.otherwise = placed(row.otherwise);
            row
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Options, compile};
    use crate::step::{Decision, Identity, run};
    use crate::testing;
    use crate::view::View;
    use sluice_formats::l7::target::{DEFAULT, TINY};

    #[test]
    fn modules_behind_each_other_dispatch_as_alone_and_what_does_not_fit_changes_nothing() {
        let mut placed = Placed::new(&DEFAULT);
        for module in 1..=3 {
            let rules = testing::ping_pong(4, 32);
            placed.add(module, &compile(&rules, &Options::default()).unwrap(), &rules).unwrap();
        }
        let payload = testing::ping_pong_payload(4, 9);
        let view = View::of_message(&payload, 0).unwrap();
        for port in &placed.ports {
            let got = run(&placed.tables, port, 0, Identity::default(), &view, |_| {});
            assert_eq!((got.decision, got.fault), (Decision::Queue(9), false));
        }
        let mut placed = Placed::new(&TINY);
        let rules = testing::ping_pong(60, 2);
        let program = compile(&rules, &Options::default()).unwrap();
        placed.add(1, &program, &rules).unwrap();
        let before = placed.clone();
        let error = placed.add(2, &program, &rules).unwrap_err();
        assert_eq!(error.to_string(), "it takes 60 match rows, 4 of 64 are left on the target tiny");
        assert_eq!((placed.tables, placed.ports), (before.tables, before.ports));
    }
}
