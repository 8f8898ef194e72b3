//! A system program: each of its stages is one visit, whose fields lie where the program says and whose words are those of the packet.
//! It has neither parser nor deparser, and no visit has a number: what a tenant's stages do between them is no matter.

use super::phv_allocation::Homes;
use super::{Plan, cells, names, rows, too_much, verify};
use crate::compiler::ir::{Array, Bits, Graph, Loc, LocInfo};
use crate::compiler::middle::Refusal;
use crate::compiler::verify::Effort;
use crate::front::interpret::code::{Code, System};
use sluice_rmt::phv::Container;
use sluice_rmt::target::Target;
use std::collections::BTreeMap;

/// Places the visits of a system program, each in the stage that is said.
pub(crate) fn plan_system(
    code: &Code,
    system: &System,
    graph: Graph,
    stages: Vec<usize>,
    target: &Target,
    effort: Option<&mut Effort>,
) -> Result<Plan, Refusal> {
    let mut fields: BTreeMap<Loc, Container> = BTreeMap::new();
    for control in system.controls {
        let slot = code.controls[control].parameters[0].slot;
        for shared in &system.shared {
            let loc = graph.locs.find(&LocInfo::Leaf(slot, shared.path.clone()));
            fields.extend(loc.map(|loc| (loc, Container(shared.container))));
        }
    }
    let looks = cells::looks(&graph);
    let is_twice = |(at, array): &&(usize, Array)| looks.iter().any(|(other, same)| same == array && other != at);
    if let Some((_, array)) = looks.iter().find(is_twice) {
        return cells::twice(&graph, code, *array);
    }
    let homes = Homes::shared(&graph, &fields);
    let listed = |all: Vec<Loc>| names::listed(all.into_iter().map(|loc| names::name(&graph, loc, code)));
    let keys = match rows::keys(&graph, &homes, &stages, target) {
        Ok(keys) => keys,
        Err(rows::KeyRefused::Compares(at)) => return too_much(graph.spans[at], super::TOO_MANY_COMPARISONS),
        Err(rows::KeyRefused::Move(at, all)) => {
            return too_much(graph.spans[at], format!("{}: {}", super::TOO_MANY_KEYS, listed(all)));
        }
        Err(rows::KeyRefused::Apart(at, _)) => {
            return too_much(graph.spans[at], "a comparison of values that lie at different bits of their containers");
        }
    };
    let cells = cells::places(&graph, code, &stages, target)?;
    let mut plan = Plan::begun(graph, homes, stages, keys, cells, target);
    if let Some((at, leaf, unmade)) = plan.make() {
        let part = unmade.waits.later.first().map(|part| (part.loc, &part.bits as &Bits));
        let span = names::statement(&plan.graph, &leaf, part).unwrap_or(plan.graph.spans[at]);
        return Err(Refusal { span, ..unmade.why });
    }
    (plan.logical, plan.actions) = plan.logical(code)?;
    verify::system(&plan, code, effort)?;
    Ok(plan)
}
