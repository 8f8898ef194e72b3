//! Verifier of `phv_allocation`: packets run once with variables by themselves and once in containers, as the parser takes them. Where two that
//! are needed at one time share bits, or a field lies elsewhere than it is taken, a packet leaves otherwise.

use super::super::deparse::Shape;
use super::super::live::Live;
use super::super::{Plan, ends_at};
use super::Containers;
use crate::compiler::ir::{Loc, LocInfo, Next};
use crate::compiler::verify::run::{Stop, Store, run_path};
use crate::compiler::verify::same::{Chosen, Once};
use crate::compiler::verify::value::{Value, of, of_bytes};
use crate::compiler::verify::vars::{Source, Vars};
use sluice_formats::random::Rng;
use sluice_rmt::phv::{Container, Phv, Word};

/// Containers on a run, with the number of the visit in one of them.
struct Held<'h> {
    containers: Containers<'h>,
    node: Container,
    expected: Option<u64>,
}

impl Store for Held<'_> {
    fn get(&mut self, loc: Loc) -> Result<Value, Stop> {
        self.containers.get(loc)
    }

    fn put(&mut self, all: Vec<(Loc, Value)>) {
        self.containers.put(all);
    }

    fn leads(&mut self, next: &Next) -> Result<(), Stop> {
        let there = self.containers.phv.get(self.node);
        let number = there & self.containers.homes.number_mask();
        if let Some(expected) = self.expected.filter(|expected| *expected != number) {
            return Err(Stop::Wrong(format!("the number of visit {} is written over", expected - 1)));
        }
        self.expected = match next {
            Next::Node(at) => {
                self.containers.set_number(*at);
                Some(*at as u64 + 1)
            }
            _ => None,
        };
        Ok(())
    }
}

/// Checks the homes of variables, each way of the parser so often.
pub(super) fn check(plan: &Plan, shapes: &[Shape], live: &Live, mut rng: Rng, times: usize) -> Result<(), String> {
    whole(plan)?;
    let graph = &plan.graph;
    for (number, path) in graph.paths.iter().enumerate() {
        for _ in 0..4 * times {
            let mut source = Source::random(rng.fork(), &graph.locs, path, false);
            let mut chosen = Chosen::new(rng.fork());
            let wrong = |what: String| Err(format!("way {number} of the parser: {what}"));
            let mut vars = Vars::new(&mut source);
            let Ok(gone) = run_path(graph, &path.next, &mut vars, &mut Once::new(&mut chosen)) else { continue };
            let mut meant = Vec::new();
            if let Some(gone) = &gone {
                let shape = &shapes[ends_at(&plan.ends, &gone.deparse)];
                for loc in gone.deparse.outs.iter().map(|out| out.loc).filter(|loc| shape.carried.contains(loc)) {
                    // What the packet has not, and nobody writes, is anything.
                    if vars.written.contains_key(&loc) || path.taken.contains_key(&loc) {
                        meant.push((loc, vars.get(loc)));
                    }
                }
            }
            let mut held = Held {
                containers: Containers {
                    phv: taken(plan, live, path, &mut source),
                    homes: &plan.homes,
                    locs: &graph.locs,
                },
                node: Container(plan.homes.node),
                expected: None,
            };
            let same = match run_path(graph, &path.next, &mut held, &mut Once::new(&mut chosen)) {
                Ok(same) => same,
                Err(Stop::Unknown) => continue,
                Err(Stop::Wrong(what)) => return wrong(what),
            };
            let goal = |gone: &Option<_>| {
                gone.as_ref()
                    .map(|gone: &crate::compiler::verify::run::Gone| (gone.port, gone.group, gone.deparse.clone()))
            };
            if goal(&same) != goal(&gone) {
                return wrong("values in containers decide otherwise than by themselves".to_string());
            }
            for (loc, value) in meant {
                let (Ok(value), found) = (value, held.get(loc)) else { continue };
                if found.ok().as_ref() != Some(&value) {
                    return wrong(format!(
                        "{:?} has another value in its container when the packet leaves",
                        graph.locs.info(loc)
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Containers as the parser leaves them.
fn taken(plan: &Plan, live: &Live, path: &crate::compiler::ir::ParserPath, source: &mut Source) -> Phv {
    let (homes, locs) = (&plan.homes, &plan.graph.locs);
    let needed = live.behind(&path.next, &plan.ends);
    let mut phv = Phv::default();
    for chunk in homes.chunks.iter().filter(|chunk| chunk.fields.iter().any(|loc| needed.contains(loc))) {
        if let Some(byte) = homes.taken(chunk, &path.taken) {
            let bits = 8 * chunk.container.bytes() as u32;
            let value = of_bytes(&source.packet, 8 * byte, bits);
            phv.set(chunk.container, crate::compiler::verify::value::number(&value) as u64);
        }
    }
    let mut word = |info: LocInfo| -> u128 {
        let value = locs.find(&info).and_then(|loc| source.get(loc).ok());
        value.map_or(0, |value| crate::compiler::verify::value::number(&value))
    };
    if let Some(port) = homes.port {
        phv.set(Container(port), word(LocInfo::Port) as u64);
    }
    if let Some(length) = homes.length {
        phv.set(Container(length), word(LocInfo::Length) as u64);
    }
    phv.set(Container(homes.node), homes.beside(&plan.graph, &path.ways).into());
    let time = word(LocInfo::Time);
    (0..3).for_each(|at| phv.words[Word::Arrival as usize + at] = (time >> (16 * at)) as u16);
    for of_link in [Word::QueueDepth, Word::LinkUse] {
        phv.words[of_link as usize] = word(LocInfo::Word(of_link, 0)) as u16;
    }
    phv.words[Word::Status as usize] = word(LocInfo::Bad) as u16;
    phv
}

/// Each variable that has a home has one for each of its bits, in containers that are as large.
fn whole(plan: &Plan) -> Result<(), String> {
    let locs = &plan.graph.locs;
    for (loc, pieces) in &plan.homes.pieces {
        let mut bits = of(locs.width(*loc), 0);
        for piece in pieces {
            if piece.at + piece.width > piece.container.class().bits() {
                return Err(format!("{:?} lies beyond its container", locs.info(*loc)));
            }
            for at in piece.low..piece.low + piece.width {
                match bits.get_mut(at as usize) {
                    Some(bit) if !*bit => *bit = true,
                    _ => return Err(format!("bit {at} of {:?} has two places, or is none", locs.info(*loc))),
                }
            }
        }
        if bits.iter().any(|bit| !bit) {
            return Err(format!("{:?} has no place for all of its bits", locs.info(*loc)));
        }
    }
    Ok(())
}
