//! Which loads may run beside each other.
//!
//! Loads of one engine, or of one module, run in the order in which they were submitted: the linker has placed the later one where
//! the earlier one leaves room. Loads of different engines share no room but the NIC's own rows, whose writes keep their order by
//! row. So none of them waits for what another one waits for, as packets of a generation that are slow.

use sluice_formats::{EngineId, Node, Table};
use sluice_object::{Load, Step};
use std::collections::BTreeSet;

/// What a load touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Whose programs it changes: the pipeline's where nobody else's. A program of an engine behind it may bring rows there.
    engines: BTreeSet<EngineId>,
    modules: BTreeSet<u8>,
    /// Of the NIC and of the pipeline, where rows are reserved by module for as long as a tenant is there.
    rows: BTreeSet<(Node, Table, u32)>,
    /// It changes a program or its entries, and not who is there.
    of_a_program: bool,
}

impl Footprint {
    /// That of a load.
    pub fn of(load: &Load) -> Self {
        let mut all = Self::default();
        let (mut of_the_nic, mut commits, mut removes) = (false, false, false);
        for step in &load.steps {
            match step {
                Step::Write { node, table, index, .. } => match node.engine() {
                    Some(EngineId::RMT) => drop(all.rows.insert((*node, *table, *index))),
                    Some(engine) => drop(all.engines.insert(engine)),
                    None => {
                        of_the_nic = true;
                        all.rows.insert((*node, *table, *index));
                    }
                },
                Step::Barrier => {}
                Step::WaitDrained { module, .. } => drop(all.modules.insert(*module)),
                Step::Commit { module, .. } => {
                    commits = true;
                    all.modules.insert(*module);
                }
                Step::WaitQueuesEmpty { .. } => removes = true,
                Step::Install { engine, module, .. } => {
                    all.engines.insert(*engine);
                    all.modules.insert(*module);
                }
            }
        }
        if all.engines.is_empty() {
            all.engines.insert(EngineId::RMT);
        }
        all.of_a_program = !removes && (commits || !of_the_nic);
        all
    }

    /// Whether a load need not wait for an earlier one with the footprint `earlier`.
    pub fn is_beside(&self, earlier: &Self) -> bool {
        self.of_a_program
            && earlier.of_a_program
            && self.engines.is_disjoint(&earlier.engines)
            && self.modules.is_disjoint(&earlier.modules)
            && self.rows.is_disjoint(&earlier.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn footprint(steps: Vec<Step>) -> Footprint {
        let label = "test".to_owned();
        Footprint::of(&Load { format_version: 0, target_hash: 0, tenant: 1, label, steps })
    }

    fn row(node: Node, table: Table, index: u32) -> Step {
        Step::Write { node, table, index, words: Vec::new() }
    }

    fn program(engine: EngineId, module: u8) -> Vec<Step> {
        let (generation, install) = (1, None);
        vec![Step::Install { engine, module, generation, install }, Step::Commit { module, generation }]
    }

    #[test]
    fn only_loads_of_other_engines_and_modules_run_beside_each_other() {
        let xdp = footprint(program(EngineId::XDP, 1));
        let rules = |module| {
            let own = [row(Node::L7, Table::L7Port, 3), row(Node::Stage(1), Table::Key, 2 * u32::from(module))];
            footprint(own.into_iter().chain([Step::Commit { module, generation: 1 }]).collect())
        };
        assert!(rules(2).is_beside(&xdp) && xdp.is_beside(&rules(2)));
        let entry = |stage| footprint(vec![row(Node::Stage(stage), Table::Exact(0), 7)]);
        assert!(entry(1).is_beside(&xdp) && entry(1).is_beside(&rules(2)));
        assert!(!entry(1).is_beside(&entry(2)), "one engine");
        assert!(!rules(1).is_beside(&xdp), "one module");
        assert!(!rules(2).is_beside(&rules(3)), "one engine");
        assert!(!footprint(program(EngineId::XDP, 2)).is_beside(&xdp), "one engine");
        let mut shared = program(EngineId::XDP, 1);
        shared.push(row(Node::Stage(1), Table::Key, 4));
        assert!(!rules(2).is_beside(&footprint(shared)), "one row");
    }

    #[test]
    fn who_comes_and_goes_waits_and_is_waited_for() {
        let xdp = footprint(program(EngineId::XDP, 1));
        let mut leaves = program(EngineId::L7, 2);
        leaves.push(Step::WaitQueuesEmpty { module: 2 });
        let leaves = footprint(leaves);
        assert!(!leaves.is_beside(&xdp) && !xdp.is_beside(&leaves));
        let comes = footprint(vec![row(Node::Egress, Table::Quantum, 3)]);
        assert!(!comes.is_beside(&xdp) && !xdp.is_beside(&comes));
    }
}
