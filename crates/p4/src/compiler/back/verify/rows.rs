//! Verifier of `keys`, `logical`, `fewer` and the rows of entries: with any containers, those too that entries ask for, the rows of a visit's stage
//! lead to the action and the data to which its tree leads by its own tests and by the entries one after the other; the rows of other stages lead it
//! nowhere. What holds nothing behind the parser holds nothing in visits to which only the parser leads.

use super::super::{Plan, all_leaves};
use super::Containers;
use super::action::data;
use super::parser::packet;
use crate::compiler::ir::{Alt, Array, Loc, Next, Src, Test, Tree};
use crate::compiler::verify::entries::hash;
use crate::compiler::verify::run::{Stop, Store, World, decide};
use crate::compiler::verify::value::{Value, number, of, slice};
use sluice_formats::random::Rng;
use sluice_object::rmt::logical::{LogicalMatch, LogicalTable};
use sluice_object::rmt::{Logical, LogicalValue};
use sluice_rmt::Program;
use sluice_rmt::phv::{Container, Phv};

/// Bits of an entry's position.
const POSITION: u32 = 16;
/// Packets that are to come to a visit, for one try.
const PACKETS: usize = 8;

/// Tables, looked up entry by entry.
struct Listed<'l> {
    plan: &'l Plan,
    tables: &'l [LogicalTable],
}

fn bits(value: &LogicalValue, width: u32) -> Value {
    (0..width).map(|at| value.bit(at)).collect()
}

fn asks(asked: &LogicalMatch, key: &[bool]) -> bool {
    match asked {
        LogicalMatch::Masked { value, mask } => (0..).zip(key).all(|(at, bit)| !mask.bit(at) || value.bit(at) == *bit),
        LogicalMatch::Range { low, high } => {
            let width = key.len() as u32;
            let [low, high, key] = [bits(low, width), bits(high, width), key.to_vec()].map(|value| number(&value));
            // A range of signed numbers goes past the largest.
            if low <= high { low <= key && key <= high } else { low <= key || key <= high }
        }
    }
}

impl World for Listed<'_> {
    fn look(&mut self, table: usize, keys: &[Value], _: &[(Alt, Tree)]) -> Result<(Alt, Vec<Value>), Stop> {
        let table = &self.tables[table];
        let holds = |entry: &sluice_object::rmt::logical::LogicalEntry| {
            entry.matches.iter().zip(keys).all(|(asked, key)| asks(asked, key))
        };
        let at = table.entries.iter().position(holds);
        let call = at.map_or(&table.default, |at| &table.entries[at].call);
        let action = usize::from(call.action);
        let parameters = call.values.iter().zip(&table.actions[action].parameters);
        let mut values: Vec<Value> = parameters.map(|(value, p)| bits(value, p.bits.into())).collect();
        values.extend(at.map(|at| of(POSITION, at as u128)));
        Ok((Alt { hit: at.is_some(), action }, values))
    }

    fn hash(&self, bits: &[bool]) -> u32 {
        hash(&self.plan.hashes, bits)
    }

    fn cell(&mut self, _: Array, _: usize) -> u32 {
        0
    }

    fn set_cell(&mut self, _: Array, _: usize, _: u32) {}
}

/// Checks the rows of each visit; with the visit what is wrong.
pub(super) fn check(
    plan: &Plan,
    tables: &Logical,
    program: &Program,
    mut rng: Rng,
    times: usize,
) -> Result<(), (usize, String)> {
    for (at, node) in plan.graph.nodes.iter().enumerate() {
        let mut leaves = 0;
        node.tree.each_leaf(&mut |_| leaves += 1);
        for _ in 0..(4 + 2 * leaves) * times {
            let all = one(plan, tables, program, at, &mut rng);
            let all = all.and_then(|()| elsewhere(plan, program, at, &mut rng));
            all.map_err(|what| (at, format!("visit {at}: {what}")))?;
        }
    }
    Ok(())
}

/// What containers hold as packets of some way of the parser come to a visit, if nothing else leads to it.
fn parsed(plan: &Plan, at: usize, rng: &mut Rng) -> Option<Vec<Phv>> {
    let next = Next::Node(at);
    if plan.graph.is_system || all_leaves(&plan.graph).iter().any(|leaf| leaf.next == next) {
        return None;
    }
    let ways: Vec<_> = plan.graph.paths.iter().filter(|path| path.next == next).collect();
    let (mut came, mut taken) = (Vec::new(), None);
    for _ in 0..PACKETS {
        let Some(way) = rng.choose(&ways) else { break };
        let (mut phv, packet) = (Phv::default(), packet(&plan.graph.paths, way, rng));
        let Ok(path) = plan.parser.parse(&packet, rng.below(8) as u8, &mut phv) else { continue };
        let number = phv.get(Container(plan.homes.node)) & plan.homes.number_mask();
        if number == at as u64 + 1 && *taken.get_or_insert(path) == path {
            came.push(phv);
        }
    }
    Some(came)
}

/// A packet on its way to a visit finds no row in other stages, and neither does one that has left.
fn elsewhere(plan: &Plan, program: &Program, at: usize, rng: &mut Rng) -> Result<(), String> {
    let is_other = |number: usize| !plan.graph.is_system && number != plan.stages[at];
    let others = program.stages.iter().enumerate().filter(|(number, _)| is_other(*number));
    for (number, stage) in others.filter_map(|(number, stage)| Some((number, stage.as_ref()?))) {
        let mut containers = Containers::random(&plan.homes, &plan.graph.locs, rng);
        let node = Container(plan.homes.node);
        match rng.chance(1, 4) {
            true => containers.phv.set(node, containers.phv.get(node) & !plan.homes.number_mask()),
            false => containers.set_number(at),
        }
        let conditions = stage.key.conditions(&containers.phv);
        if let (_, Some(leads)) = stage.tables.find(&stage.key.key(&containers.phv, conditions)) {
            return Err(format!("rows of stage {number} lead it to action {}", leads.action));
        }
    }
    Ok(())
}

fn one(plan: &Plan, tables: &Logical, program: &Program, at: usize, rng: &mut Rng) -> Result<(), String> {
    let number = plan.stages[at];
    let Some(Some(stage)) = program.stages.get(number) else { return Err(format!("stage {number} has no rows")) };
    let tree = &plan.graph.nodes[at].tree;
    let mut containers = Containers::random(&plan.homes, &plan.graph.locs, rng);
    steer(tree, &mut containers, tables, rng);
    if let Some(came) = parsed(plan, at, rng) {
        // One that is hardly met.
        let Some(first) = came.first() else { return Ok(()) };
        let is_empty = |container: &Container| came.iter().all(|phv| phv.get(*container) == 0);
        (0..24).map(Container).filter(is_empty).for_each(|container| containers.phv.set(container, 0));
        let node = Container(plan.homes.node);
        containers.phv.set(node, first.get(node));
    }
    match plan.graph.is_system {
        false => containers.set_number(at),
        // Whoever was there before may have written any word.
        true => (11..16).for_each(|word| containers.phv.words[word] = rng.next_u32() as u16),
    }
    let conditions = stage.key.conditions(&containers.phv);
    let key = stage.key.key(&containers.phv, conditions);
    let (_, leads) = stage.tables.find(&key);
    let mut listed = Listed { plan, tables: &tables.tables };
    let (leaf, params) = match decide(tree, &mut containers, &mut listed) {
        Ok(decided) => decided,
        Err(Stop::Unknown) => return Ok(()),
        Err(Stop::Wrong(what)) => return Err(what),
    };
    let Some(leads) = leads else { return Err("no row is found".to_string()) };
    let Some(made) = plan.made[at].get(leaf) else { return Err("a leaf without an action".to_string()) };
    let meant = data(made, &params);
    let Some(action) = stage.actions.get(usize::from(leads.action)) else {
        return Err("an action that is not there".to_string());
    };
    if *action != made.action {
        return Err(format!("its rows lead to action {}, which is another one", leads.action));
    }
    if leads.data != meant {
        return Err(format!("the data of action {} are {:02x?}, not {meant:02x?}", leads.action, leads.data));
    }
    Ok(())
}

/// Has values be such, as often as not, that tests hold and entries are found.
fn steer(tree: &Tree, containers: &mut Containers, tables: &Logical, rng: &mut Rng) {
    match tree {
        Tree::Test(test, yes, no) => {
            let holds = rng.chance(1, 2);
            if holds {
                prefer(test, containers, rng);
            }
            steer(if holds { yes } else { no }, containers, tables, rng);
        }
        Tree::Table(table, keys, all) => {
            let entries = &tables.tables[*table].entries;
            if rng.chance(3, 4)
                && let Some(entry) = rng.choose(entries)
            {
                for (asked, key) in entry.matches.iter().zip(keys) {
                    let width = key.width();
                    let mut value = super::value_of(key, containers);
                    match asked {
                        LogicalMatch::Masked { value: wanted, mask } => {
                            for at in (0..width).filter(|at| mask.bit(*at)) {
                                value[at as usize] = wanted.bit(at);
                            }
                        }
                        LogicalMatch::Range { low, high } => {
                            let end = if rng.chance(1, 2) { low } else { high };
                            let near = number(&bits(end, width)).wrapping_add(rng.below(3).into()).wrapping_sub(1);
                            value = of(width, near);
                        }
                    }
                    if rng.chance(1, 8) && width > 0 {
                        let at = rng.index(width as usize);
                        value[at] = !value[at];
                    }
                    write(key, &value, containers);
                }
            }
            if let Some((_, below)) = rng.choose(all) {
                steer(below, containers, tables, rng);
            }
        }
        Tree::Leaf(_) => {}
    }
}

fn prefer(test: &Test, containers: &mut Containers, rng: &mut Rng) {
    let (a, b, near) = match test {
        Test::Is(a, b) => (a, b, 0),
        Test::Compare { equal: true, a, b } => (a, b, 0),
        Test::Compare { a, b, .. } => (a, b, rng.below(3)),
    };
    let is_var = a.segs.iter().any(|seg| matches!(seg.src, Src::Loc(..)));
    let (to, from) = if is_var { (a, b) } else { (b, a) };
    let value = super::value_of(from, containers);
    let value = match near {
        0 => value,
        near => of(value.len() as u32, number(&value).wrapping_add(u128::from(near)).wrapping_sub(2)),
    };
    write(to, &value, containers);
}

/// Has bits that are variables be these.
fn write(to: &crate::compiler::ir::Bits, value: &[bool], containers: &mut Containers) {
    let mut low = 0;
    for seg in to.segs.iter().rev() {
        if let Src::Loc(loc, from) = seg.src {
            put(loc, from, &slice(value, low, seg.width), containers);
        }
        low += seg.width;
    }
}

fn put(loc: Loc, from: u32, wanted: &[bool], containers: &mut Containers) {
    if let Ok(mut value) = containers.get(loc) {
        value.iter_mut().skip(from as usize).zip(wanted).for_each(|(bit, wanted)| *bit = *wanted);
        containers.write(loc, &value);
    }
}
