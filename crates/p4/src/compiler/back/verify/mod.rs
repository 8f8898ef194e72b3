//! Verifiers of the passes behind the graph; what they share is in `crate::verify`.

mod action;
mod alike;
mod deparse;
mod ends;
mod hash;
mod live;
mod parser;
mod phv_allocation;
mod places;
mod rows;
mod split;

use super::live::Live;
use super::{Placed, Plan, deparse::Shape, phv_allocation::Homes};
use crate::compiler::ir::{Bits, Graph, Loc, LocInfo, Locs};
use crate::compiler::middle::Refusal;
use crate::compiler::verify::run::{Stop, Store};
use crate::compiler::verify::value::{Inputs, Value, evaluate, number, of, slice};
use crate::compiler::verify::{Effort, mistaken};
use crate::front::interpret::code::Code;
use crate::front::source::Span;
use sluice_formats::random::Rng;
use sluice_object::rmt::Logical;
use sluice_rmt::phv::{Container, Phv, Word};

/// Checks what the passes made that give each value its place, before entries are put in.
pub(super) fn plan(
    plan: &Plan,
    code: &Code,
    shapes: &[Shape],
    live: &Live,
    stages: (usize, usize),
    effort: Option<&mut Effort>,
) -> Result<(), Refusal> {
    let Some(effort) = effort else { return Ok(()) };
    let of =
        |pass: &'static str, came: Result<(), String>| came.map_err(|what| mistaken(pass, first(&plan.graph), &what));
    of("live", live::check(plan, live, effort.fork(), effort.times))?;
    of("places", places::check(plan, stages))?;
    of("PHV allocation", phv_allocation::check(plan, shapes, live, effort.fork(), effort.times))?;
    of("hash", hash::check(plan, effort.fork(), effort.times))?;
    of("action", action::check(plan, code, effort.fork(), effort.times))?;
    of("parser", parser::check(plan, live, effort.fork(), effort.times))?;
    of("deparse", deparse::check(plan, shapes, effort.fork(), effort.times))
}

/// Checks the actions of a system program.
pub(super) fn system(plan: &Plan, code: &Code, effort: Option<&mut Effort>) -> Result<(), Refusal> {
    let Some(effort) = effort else { return Ok(()) };
    let span = plan.graph.spans.first().copied().unwrap_or_default();
    action::check(plan, code, effort.fork(), effort.times).map_err(|what| mistaken("action", span, &what))
}

impl Plan {
    /// Checks the rows of the stages, with the entries that tables have.
    pub fn check_rows(&self, tables: &Logical, effort: &mut Effort) -> Result<(), Refusal> {
        // Entries that do not fit are refused where they are asked for.
        let Ok(program) = self.program(tables) else { return Ok(()) };
        rows::check(self, tables, &program, effort.fork(), effort.times)
            .map_err(|(at, what)| mistaken("rows", self.graph.spans.get(at).copied().unwrap_or_default(), &what))
    }
}

/// Containers and words, with variables where they have their homes.
struct Containers<'h> {
    phv: Phv,
    homes: &'h Homes,
    locs: &'h Locs,
}

impl<'h> Containers<'h> {
    fn random(homes: &'h Homes, locs: &'h Locs, rng: &mut Rng) -> Self {
        let mut phv = Phv::default();
        for container in (0..24).map(Container) {
            let few = rng.chance(1, 4);
            phv.set(container, if few { rng.below(4) } else { rng.next_u64() });
        }
        (0..11).for_each(|word| phv.words[word] = rng.next_u32() as u16);
        Containers { phv, homes, locs }
    }

    /// Says which visit is next.
    fn set_number(&mut self, at: usize) {
        let node = Container(self.homes.node);
        self.phv.set(node, self.homes.with_number(self.phv.get(node), at));
    }

    fn write(&mut self, loc: Loc, value: &[bool]) {
        if let LocInfo::Word(word, low) = self.locs.info(loc) {
            let (mask, bits) = (((1u32 << value.len()) - 1) << low, (number(value) as u32) << low);
            self.phv.set_word(*word, self.phv.word(*word) & !mask as u16 | bits as u16);
            return;
        }
        for piece in self.homes.of(loc, 0, value.len() as u32) {
            let mask = ((1u64 << piece.width) - 1) << piece.at;
            let bits = (number(&slice(value, piece.low, piece.width)) as u64) << piece.at;
            self.phv.set(piece.container, self.phv.get(piece.container) & !mask | bits);
        }
    }
}

impl Store for Containers<'_> {
    fn get(&mut self, loc: Loc) -> Result<Value, Stop> {
        let width = self.locs.width(loc);
        let words = |from: usize, count: usize| -> u128 {
            (0..count).fold(0, |all, at| all | u128::from(self.phv.words[from + at]) << (16 * at))
        };
        match self.locs.info(loc) {
            LocInfo::Time => return Ok(of(width, words(Word::Arrival as usize, 3))),
            LocInfo::Word(word, low) => return Ok(of(width, words(*word as usize, 1) >> low)),
            LocInfo::Bad => return Ok(of(width, words(Word::Status as usize, 1) & 1)),
            _ => {}
        }
        let mut bits = vec![None; width as usize];
        for piece in self.homes.of(loc, 0, width) {
            let value = self.phv.get(piece.container);
            for at in 0..piece.width {
                bits[(piece.low + at) as usize] = Some(value >> (piece.at + at) & 1 == 1);
            }
        }
        let bits: Option<Value> = bits.into_iter().collect();
        bits.ok_or_else(|| Stop::Wrong(format!("{:?} has no container", self.locs.info(loc))))
    }

    fn put(&mut self, all: Vec<(Loc, Value)>) {
        all.into_iter().for_each(|(loc, value)| self.write(loc, &value));
    }
}

/// What is wrong, if it is the pass that is.
fn wrong(stop: Stop) -> Option<String> {
    match stop {
        Stop::Unknown => None,
        Stop::Wrong(what) => Some(what),
    }
}

/// Bits that are constants and variables, with what containers hold.
fn value_of(bits: &Bits, containers: &mut Containers) -> Value {
    let inputs = &mut Inputs { var: &mut |loc| containers.get(loc), params: &[], cell: None, hash: &|_| 0 };
    evaluate(bits, inputs).unwrap_or_else(|_| of(bits.width(), 0))
}

/// Checks visits that were made one: with each other (`alike`), with ways that share rows (`shared`), or with the last one behind (`join`).
pub(super) fn alike(
    pass: &'static str,
    before: &Graph,
    after: &Graph,
    effort: Option<&mut Effort>,
) -> Result<(), Refusal> {
    let Some(effort) = effort else { return Ok(()) };
    let (mut rng, times) = (effort.fork(), effort.times);
    alike::check(before, after, &mut rng, times).map_err(|what| mistaken(pass, first(after), &what))
}

/// Checks ends that were made one, and visits that were cut.
pub(super) fn placed(
    before: Option<Graph>,
    placed: &Placed,
    code: &Code,
    effort: Option<&mut Effort>,
) -> Result<(), Refusal> {
    let (Some(before), Some(effort)) = (before, effort) else { return Ok(()) };
    let (mut rng, times) = (effort.fork(), effort.times);
    let mut alike = |after: &Graph| {
        ends::check(&before, after, &mut rng, times).map_err(|what| mistaken("ends", first(after), &what))
    };
    match placed {
        Placed::Plan(plan) => alike(&plan.graph),
        Placed::Delay(after, ..) => alike(after),
        Placed::Split(after, _) => {
            let mut again = rng.clone();
            let Err((at, what)) = split::check(&before, after, &mut rng, times) else { return Ok(()) };
            // Ends that are put together alike may have become one before the cut, which is another verifier's matter.
            let mut alike = before.clone();
            let written = super::written(&alike);
            if super::one_of_each(&mut alike, code, &written).is_ok()
                && split::check(&alike, after, &mut again, times).is_ok()
            {
                return Ok(());
            }
            let span = after.spans.get(at).copied().unwrap_or_default();
            Err(mistaken("split", span, &what))
        }
    }
}

/// A place for what is wrong with no visit.
fn first(graph: &Graph) -> Span {
    graph.paths.first().map_or(Span::default(), |path| path.span)
}
