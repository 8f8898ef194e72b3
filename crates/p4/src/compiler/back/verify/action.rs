//! Verifier of `action`: each action, run as the pipeline runs it on any containers, words, cells and data of an entry, gives what its leaf
//! says, and leaves all other bits of containers and cells as they were.

use super::super::action::Made;
use super::super::{NOWHERE, Plan, ends_at, leaves};
use super::Containers;
use crate::compiler::ir::{Alt, Array, CELL, Change, Leaf, Loc, Next, Src, Tree};
use crate::compiler::verify::entries::{hash, within};
use crate::compiler::verify::run::{Stop, Store, World, access, goal, writes};
use crate::compiler::verify::value::{Value, of, slice};
use crate::compiler::verify::vars::any;
use crate::front::interpret::code::{Code, ObjectKind};
use sluice_formats::random::Rng;
use sluice_rmt::action::{Context, Operands};
use sluice_rmt::phv::{Container, DESTINATION_BITS, DISCARD, EGRESS_PORT, EXCEPT_INGRESS, Phv, Word};
use sluice_rmt::target::DATA;

/// Parameters of an action, and the bits that each has here.
const PARAMS: usize = 24;
const BITS: u32 = 256;

/// Words of a stage, of which an array's are some.
struct Words<'p> {
    plan: &'p Plan,
    words: Vec<u32>,
    /// What the pipeline makes of them.
    found: &'p [u32],
    /// The bits of a cell that count.
    used: u32,
    arrival: (u64, u16),
}

impl World for Words<'_> {
    fn look(&mut self, _: usize, _: &[Value], _: &[(Alt, Tree)]) -> Result<(Alt, Vec<Value>), Stop> {
        Err(Stop::Unknown)
    }

    fn hash(&self, bits: &[bool]) -> u32 {
        hash(&self.plan.hashes, bits)
    }

    fn cell(&mut self, array: Array, at: usize) -> u32 {
        let base = self.plan.cells.get(&array).map_or(0, |place| place.base);
        self.words.get(base + at).copied().unwrap_or(0)
    }

    fn set_cell(&mut self, array: Array, at: usize, value: u32) {
        let base = self.plan.cells.get(&array).map_or(0, |place| place.base);
        if let Some(word) = self.words.get_mut(base + at) {
            *word = value;
        }
    }

    fn arrival(&self) -> (u64, u16) {
        self.arrival
    }
}

/// Checks the action of each leaf so often.
pub(super) fn check(plan: &Plan, code: &Code, mut rng: Rng, times: usize) -> Result<(), String> {
    for (at, leaves) in leaves(&plan.graph).into_iter().enumerate() {
        for leaf in &leaves {
            let Some(made) = plan.made[at].get(leaf) else {
                return Err(format!("visit {at}: a leaf without an action"));
            };
            for _ in 0..2 * times {
                one(plan, code, at, leaf, made, &mut rng).map_err(|what| format!("visit {at}: {what}"))?;
            }
        }
    }
    Ok(())
}

/// The bits of a word of a cell that count.
fn used(code: &Code, array: Array) -> u32 {
    let width = match &code.objects[array.object].kind {
        ObjectKind::Register { shape, .. } => shape.bits().unwrap_or(0).saturating_sub(CELL * array.part).min(CELL),
        _ => CELL,
    };
    ((1u64 << width) - 1) as u32
}

/// The data of an entry with these values.
pub(super) fn data(made: &Made, params: &[Value]) -> [u8; DATA] {
    let (mut data, moves) = made.data();
    for to in moves {
        let Some(value) = params.get(usize::from(to.parameter)) else { continue };
        let bits = slice(value, to.low.into(), to.bits.into());
        for (i, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            let place = usize::from(to.bit) + i;
            data[usize::from(to.byte) - place / 8] |= 1 << (place % 8);
        }
    }
    data
}

fn one(plan: &Plan, code: &Code, at: usize, leaf: &Leaf, made: &Made, rng: &mut Rng) -> Result<(), String> {
    let stage = plan.stages[at];
    let mut containers = Containers::random(&plan.homes, &plan.graph.locs, rng);
    match plan.graph.is_system {
        false => containers.set_number(at),
        // Whoever was there before may have written any word.
        true => (11..16).for_each(|word| containers.phv.words[word] = rng.next_u32() as u16),
    }
    let mut params: Vec<Value> = (0..PARAMS).map(|_| any(rng, BITS)).collect();
    if !within(&leaf.bounds, &mut params, rng) {
        return Ok(());
    }
    if let Some(access) = &leaf.access {
        // Whoever comes here has an index that is there.
        let index = of(access.index.width(), rng.below(access.cells as u64).into());
        let mut low = 0;
        for seg in access.index.segs.iter().rev() {
            if let Src::Loc(loc, from) = seg.src
                && let Ok(mut value) = containers.get(loc)
            {
                let bits = slice(&index, low, seg.width);
                value.iter_mut().skip(from as usize).zip(&bits).for_each(|(bit, wanted)| *bit = *wanted);
                containers.write(loc, &value);
            }
            low += seg.width;
        }
        if let [seg] = &access.index.segs[..]
            && let Src::Param(param, low) = seg.src
            && let Some(value) = params.get_mut(param as usize)
        {
            value.iter_mut().skip(low as usize).zip(&index).for_each(|(bit, wanted)| *bit = *wanted);
        }
    }
    let before = containers.phv.clone();
    let data = data(made, &params);
    let context = Context {
        conditions: [false; 2],
        hash: hash_of(plan, at, leaf, &mut containers),
        number: rng.next_u32() as u16,
        data: &data,
        system_stage: plan.target.is_system(stage),
    };
    let action = &made.action;
    let operands = Operands::read(action, &before, &context);
    let mut after = action.execute(&before, &operands, &context);
    let pages = usize::from(super::super::cells::pages(&plan.cells, stage)) * sluice_rmt::target::PAGE_WORDS;
    let words: Vec<u32> = (0..pages).map(|_| rng.next_u32()).collect();
    let mut kept = words.clone();
    let arrival = (rng.next_u64() >> 16, rng.below(9217) as u16);
    if let Some(state) = &action.state
        && !state.execute(&mut kept, &operands, &context, arrival, &mut after)
    {
        return Err("it looks at a cell that is not there".to_string());
    }
    let mut world = Words {
        plan,
        words,
        found: &kept,
        arrival,
        used: leaf.access.as_ref().map_or(u32::MAX, |a| used(code, a.array)),
    };
    let (all, goal) = match meant(leaf, &params, &mut containers, &mut world) {
        Ok(meant) => meant,
        Err(Stop::Unknown) => return Ok(()),
        Err(Stop::Wrong(what)) => return Err(what),
    };
    if let Some(place) = (0..kept.len()).find(|at| kept[*at] != world.words[*at]) {
        return Err(format!("word {place} becomes {:#x}, not {:#x}", kept[place], world.words[place]));
    }
    let mut wanted = Containers { phv: before.clone(), ..containers };
    wanted.put(all);
    if let Next::Node(next) = leaf.next {
        wanted.set_number(next);
    }
    for container in (0..24).map(Container) {
        let (found, wanted) = (after.get(container), wanted.phv.get(container));
        if found != wanted {
            let (class, place) = (2 * (container.0 / 8 + 1), container.0 % 8);
            return Err(format!("c{class}[{place}] becomes {found:#x}, not {wanted:#x}"));
        }
    }
    leaves_to(plan, leaf, goal, (&before, &wanted.phv), &after)
}

/// The hash of the key that a visit has, of which its number is a part.
fn hash_of(plan: &Plan, at: usize, leaf: &Leaf, containers: &mut Containers) -> u32 {
    use crate::compiler::verify::value::{Inputs, evaluate};
    let data = leaf.assigns.values().flat_map(crate::compiler::ir::Bits::hashed).next();
    let bits = data.and_then(|data| {
        let inputs = &mut Inputs { var: &mut |loc| containers.get(loc), params: &[], cell: None, hash: &|_| 0 };
        evaluate(data, inputs).ok()
    });
    bits.map_or(0, |bits| hash(&plan.hashes, &bits) ^ super::super::hash::of_node(at))
}

type Meant = (Vec<(Loc, Value)>, (u16, u16));

fn meant(leaf: &Leaf, params: &[Value], containers: &mut Containers, world: &mut Words) -> Result<Meant, Stop> {
    let mut cell = None;
    if let Some(looks) = &leaf.access {
        let (at, old, new, shown) = access(looks, params, containers, world)?;
        // Above its bits a cell may have any.
        let base = world.plan.cells.get(&looks.array).map_or(0, |place| place.base);
        let kept = world.found.get(base + at).copied().filter(|found| (found ^ new) & world.used == 0).unwrap_or(new);
        world.set_cell(looks.array, at, kept);
        cell = Some((old, if matches!(looks.change, Change::Police(_)) { shown } else { kept }));
    }
    let goal = match &leaf.next {
        Next::End(end) => goal(end, params, containers, world)?,
        _ => (0, 0),
    };
    let layouts = &world.plan.hashes;
    let all = writes(leaf, params, cell, containers, &|bits: &[bool]| hash(layouts, bits))?;
    Ok((all, goal))
}

/// Where the packet goes, as words say it.
fn leaves_to(
    plan: &Plan,
    leaf: &Leaf,
    (port, group): (u16, u16),
    (before, wanted): (&Phv, &Phv),
    after: &Phv,
) -> Result<(), String> {
    let word = |word: Word| after.word(word);
    let headers = word(Word::Headers);
    let wrong = |what: &str, found: u16, wanted: u16| match found == wanted {
        true => Ok(()),
        false => Err(format!("{what} becomes {found:#x}, not {wanted:#x}")),
    };
    match &leaf.next {
        Next::Onward => match (0..16).find(|at| after.words[*at] != wanted.words[*at]) {
            Some(at) => wrong(&format!("word {at}"), after.words[at], wanted.words[at]),
            None => Ok(()),
        },
        Next::Node(_) => match (0..16).find(|at| after.words[*at] != before.words[*at]) {
            Some(at) => Err(format!("word {at} is written where the packet goes on")),
            None => Ok(()),
        },
        Next::Drop => {
            wrong("`headers`", headers, NOWHERE)?;
            wrong("`discard`", word(Word::Egress) & DISCARD, DISCARD)
        }
        Next::End(end) => {
            wrong("`headers`", headers, ends_at(&plan.ends, &end.deparse) as u16 + 1)?;
            wrong("`discard`", word(Word::Egress) & DISCARD, before.word(Word::Egress) & DISCARD)?;
            let destinations = word(Word::Egress) & DESTINATION_BITS;
            wrong("the session", destinations, end.clone.unwrap_or(before.word(Word::Egress)) & DESTINATION_BITS)?;
            wrong(
                "`except_ingress`",
                word(Word::Egress) & EXCEPT_INGRESS,
                if end.except_arrival { EXCEPT_INGRESS } else { 0 },
            )?;
            match end.group.known() {
                Some(0) => {
                    wrong("the group", word(Word::Group), 0)?;
                    wrong("the port", word(Word::Scratch1) & EGRESS_PORT, port & EGRESS_PORT)
                }
                _ => wrong("the group", word(Word::Group), group),
            }
        }
    }
}
