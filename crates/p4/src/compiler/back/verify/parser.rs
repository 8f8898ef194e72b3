//! Verifier of `parser`: packets of each way, and damaged ones, take by the rows the path of the first way in the list that takes them: the
//! same visit or end, with all that is needed there in its place.

use super::super::live::Live;
use super::super::{NOWHERE, Plan, ends_at};
use super::Containers;
use crate::compiler::ir::{Next, ParserPath};
use crate::compiler::verify::run::Store;
use crate::compiler::verify::value::{number, of_bytes};
use crate::compiler::verify::vars::{hardware, takes};
use sluice_formats::random::Rng;
use sluice_rmt::phv::{Container, Phv, Word};

/// Most bytes behind what a way needs.
const BEHIND: u64 = 8;

/// Checks the rows, with packets of each way.
pub(super) fn check(plan: &Plan, live: &Live, mut rng: Rng, times: usize) -> Result<(), String> {
    for path in &plan.graph.paths {
        for _ in 0..6 * times {
            let packet = packet(&plan.graph.paths, path, &mut rng);
            one(plan, live, &packet, &mut rng).map_err(|what| {
                let hex: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("packet {hex}: {what}")
            })?;
        }
    }
    Ok(())
}

/// A packet of a way, with parts of other ways, and one bit or its end damaged.
pub(super) fn packet(all: &[ParserPath], path: &ParserPath, rng: &mut Rng) -> Vec<u8> {
    let length = 1 + path.least as usize + rng.below(BEHIND) as usize;
    let mut bytes = rng.bytes(length);
    let mut put = |path: &ParserPath| {
        for (byte, (mask, value)) in &path.bytes {
            if let Some(byte) = bytes.get_mut(*byte as usize) {
                *byte = *byte & !mask | value;
            }
        }
    };
    if rng.chance(1, 2)
        && let Some(other) = rng.choose(all)
    {
        put(other);
    }
    put(path);
    if rng.chance(1, 4)
        && let Some((byte, (mask, _))) = path.bytes.iter().nth(rng.index(path.bytes.len()))
        && let Some(byte) = bytes.get_mut(*byte as usize)
    {
        *byte ^= mask & 1 << rng.below(8);
    }
    match rng.below(6) {
        0 => bytes.truncate(path.least as usize),
        1 => bytes.truncate((path.least as usize).saturating_sub(1)),
        2 => bytes.truncate(rng.index(length)),
        _ => {}
    }
    if bytes.is_empty() {
        bytes.push(rng.next_u32() as u8);
    }
    bytes
}

fn one(plan: &Plan, live: &Live, packet: &[u8], rng: &mut Rng) -> Result<(), String> {
    let graph = &plan.graph;
    let port = rng.below(8) as u8;
    let Some(path) = graph.paths.iter().find(|path| takes(path, packet)) else {
        return Err("no way takes it".to_string());
    };
    let mut phv = Phv::default();
    if let Err(reason) = plan.parser.parse(packet, port, &mut phv) {
        return Err(format!("the rows drop it, {reason:?}"));
    }
    let (node, headers) = match &path.next {
        Next::Node(at) => ((*at as u64 + 1) | u64::from(plan.homes.beside(graph, &path.ways)), 0),
        Next::Drop | Next::Onward => (0, NOWHERE),
        Next::End(end) => (0, ends_at(&plan.ends, &end.deparse) as u16 + 1),
    };
    let found = (phv.get(Container(plan.homes.node)), phv.word(Word::Headers));
    if found != (node, headers) {
        return Err(format!("the rows say {found:?} for visit and headers, the way {:?}", (node, headers)));
    }
    let known = hardware(&graph.locs, path, packet, port.into(), 0);
    let mut containers = Containers { phv, homes: &plan.homes, locs: &graph.locs };
    for loc in live.behind(&path.next, &plan.ends) {
        let meant = match (path.taken.get(&loc), known.get(&loc)) {
            (Some(first), _) => of_bytes(packet, *first, graph.locs.width(loc)),
            (None, Some(value)) => value.clone(),
            // What is needed is there, or else a program reads what nobody writes; and that is another pass's matter.
            (None, None) => continue,
        };
        let is_told = !plan.homes.hardware.contains_key(&loc);
        let Ok(found) = containers.get(loc) else { continue };
        if is_told && found != meant {
            let name = graph.locs.info(loc);
            return Err(format!("{name:?} is {:#x} in its container, not {:#x}", number(&found), number(&meant)));
        }
    }
    Ok(())
}
