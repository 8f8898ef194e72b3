//! Verifier of `deparse`: for each end and path that leads to it, the row that the patterns give makes of any packet and containers the
//! headers that the end lists, their checksums, and the packet's bytes behind what was parsed.

use super::super::Plan;
use super::super::deparse::Shape;
use super::Containers;
use crate::compiler::ir::{Loc, Out};
use crate::compiler::verify::run::{Stop, Store, headers};
use crate::compiler::verify::value::{Value, of_bytes};
use crate::compiler::verify::vars::any;
use sluice_formats::random::Rng;
use sluice_rmt::phv::Word;
use std::collections::BTreeMap;

/// Most bytes behind the headers.
const BEHIND: u64 = 24;

/// Checks the row of each end so often.
pub(super) fn check(plan: &Plan, shapes: &[Shape], mut rng: Rng, times: usize) -> Result<(), String> {
    let written = super::super::written(&plan.graph);
    let locs = &plan.graph.locs;
    for (number, reached) in plan.reached().iter().enumerate() {
        let (end, shape) = (&plan.ends[number], &shapes[number]);
        for path in reached {
            let least = usize::from(plan.parser.paths[*path].least).max(end.parsed as usize).max(1);
            for _ in 0..2 * times {
                let length = least + rng.below(BEHIND) as usize;
                let packet = rng.bytes(length);
                let mut containers = Containers::random(&plan.homes, locs, &mut rng);
                let mut values: BTreeMap<Loc, Value> = BTreeMap::new();
                for out in &end.outs {
                    let value = match out.from.filter(|_| !written.contains(&out.loc)) {
                        // Nobody writes it, so it is what came.
                        Some(from) => of_bytes(&packet, from, out.width),
                        None => any(&mut rng, out.width),
                    };
                    if shape.carried.contains(&out.loc) {
                        containers.write(out.loc, &value);
                    }
                    values.insert(out.loc, value);
                }
                let wrong = |what: String| Err(format!("end {number}, path {path}: {what}"));
                if let Some(loc) = shared(&mut containers, &values, shape) {
                    return wrong(format!("{:?} has not the place for itself with which it leaves", locs.info(loc)));
                }
                let mut get = |out: &Out, _: u32| values.get(&out.loc).cloned().ok_or(Stop::Unknown);
                let Ok(mut meant) = headers(end, &mut get) else { continue };
                meant.extend(packet.get(end.parsed as usize..).unwrap_or_default());
                containers.phv.set_word(Word::Headers, number as u16 + 1);
                let deparser =
                    sluice_rmt::deparser::Deparser { patterns: plan.patterns.clone(), rows: plan.rows.clone() };
                match deparser.deparse(&packet, *path as u8, &containers.phv) {
                    Ok(found) if found == meant => {}
                    Ok(found) => {
                        let at = (0..meant.len()).find(|at| found.get(*at) != meant.get(*at));
                        let (at, count) = (at.unwrap_or(meant.len()), meant.len());
                        let (f, m) = (found.get(at), meant.get(at));
                        return wrong(format!("byte {at} of {count} is {f:02x?}, not {m:02x?}"));
                    }
                    Err(reason) => return wrong(format!("the row drops it, {reason:?}")),
                }
            }
        }
    }
    Ok(())
}

/// A value that goes out and has no place for itself.
fn shared(containers: &mut Containers, values: &BTreeMap<Loc, Value>, shape: &Shape) -> Option<Loc> {
    let carried = values.iter().filter(|(loc, _)| shape.carried.contains(loc));
    let mut other = carried.filter(|(loc, value)| containers.get(**loc).ok().as_ref() != Some(value));
    other.next().map(|(loc, _)| *loc)
}
