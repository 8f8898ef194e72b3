//! Rows of the parser: paths in their order, on one selection or over two.
//!
//! Before: the list of ways. After: selections and paths. It keeps: each packet takes the first way of the list that takes it, with what is needed
//! behind it. Verifier: `back/verify/parser.rs`.

use super::{NOWHERE, ends_at, live::Live, phv_allocation::Homes, too_much};
use crate::compiler::ir::{Deparse, Graph, LocInfo, Next, ParserPath};
use crate::compiler::middle::Refusal;
use crate::front::source::Span;
use sluice_rmt::parser::{Alternative, Known, Parser, Path, Select};
use sluice_rmt::target::{NODES, PATHS, SELECTORS};
use std::collections::{BTreeMap, BTreeSet};

type Bytes = BTreeMap<u32, (u8, u8)>;

/// What tells a way from others, and its path.
struct Way {
    bytes: Bytes,
    least: u32,
    path: usize,
    /// Where it leaves the parser.
    span: Span,
}

pub(super) fn build(graph: &Graph, homes: &Homes, ends: &[Deparse], live: &Live) -> Result<Parser, Refusal> {
    // What a packet has not is looked at, or else only the order of the ways counts.
    let with = parser(graph, homes, ends, live, |found| &found.has);
    with.or_else(|_| parser(graph, homes, ends, live, |found| &found.bytes))
}

fn parser(
    graph: &Graph,
    homes: &Homes,
    ends: &[Deparse],
    live: &Live,
    bytes: impl Fn(&ParserPath) -> &Bytes,
) -> Result<Parser, Refusal> {
    let mut paths: Vec<Path> = Vec::new();
    let mut ways: Vec<Way> = Vec::new();
    for found in &graph.paths {
        let path = path(graph, found, homes, ends, live);
        // Paths that nothing tells apart are one; the larger length is asked for where the way begins.
        let at = match paths.iter().position(|other| *other == path) {
            Some(at) => at,
            None => {
                paths.push(path);
                paths.len() - 1
            }
        };
        ways.push(Way { bytes: bytes(found).clone(), least: found.least, path: at, span: found.span });
    }
    simplify(&mut ways);
    for (at, path) in paths.iter_mut().enumerate() {
        path.least = ways.iter().filter(|way| way.path == at).map(|way| way.least as u8).min().unwrap_or(0);
    }
    if paths.len() > PATHS {
        let over = ways.iter().find(|way| way.path == PATHS).map_or(Span::default(), |way| way.span);
        return too_much(over, format!("{} paths through the parser, and there are {PATHS}", paths.len()));
    }
    if let Some((first, nodes)) = selections(&ways) {
        return Ok(Parser { first, nodes, paths, port_numbers: true });
    }
    // The first way that is one too many; fewer are told apart where more are.
    let (mut fits, mut over) = (0, ways.len());
    while fits + 1 < over {
        let middle = (fits + over) / 2;
        match selections(&ways[..middle]) {
            Some(_) => fits = middle,
            None => over = middle,
        }
    }
    let at = ways.get(over - 1).map_or(Span::default(), |way| way.span);
    let what =
        format!("a parser of {} ways, which two selections of 8 bytes and 8 cases do not tell apart", ways.len());
    too_much(at, format!("{what}; {fits} of them fit, the next ends here"))
}

fn path(graph: &Graph, found: &ParserPath, homes: &Homes, ends: &[Deparse], live: &Live) -> Path {
    let mut path = Path::default();
    let needed = live.behind(&found.next, ends);
    for chunk in &homes.chunks {
        // What nobody looks at any more is not taken, so that ways are told apart by what matters only.
        if !chunk.fields.iter().any(|loc| needed.contains(loc)) {
            continue;
        }
        if let Some(byte) = homes.taken(chunk, &found.taken) {
            path.extract[usize::from(chunk.container.0)] = Some(byte as u8);
        }
    }
    let (node, headers) = match &found.next {
        Next::Node(at) => (*at as u16 + 1, 0),
        Next::Drop | Next::Onward => (0, NOWHERE),
        Next::End(end) => (0, ends_at(ends, &end.deparse) as u16 + 1),
    };
    path.headers = headers;
    // Nobody asks where the program does not look at it.
    if let (Some((start, words)), true) =
        (found.verify, needed.iter().any(|loc| *graph.locs.info(*loc) == LocInfo::Bad))
    {
        path.verify = Some(sluice_rmt::parser::Span { start: start as u8, words: words as u8 });
    }
    if node != 0 {
        path.known[usize::from(homes.node)] = Some(Known::Constant);
        path.constant = node;
        path.constant |= homes.beside(graph, &found.ways);
    }
    for (place, info, known) in
        [(homes.port, LocInfo::Port, Known::Port), (homes.length, LocInfo::Length, Known::Length)]
    {
        if let Some(place) = place
            && needed.iter().any(|loc| *graph.locs.info(*loc) == info)
        {
            path.known[usize::from(place)] = Some(known);
        }
    }
    path
}

/// Leaves out ways whose packets take the same path further down.
fn simplify(ways: &mut Vec<Way>) {
    let mut at = 0;
    while at < ways.len() {
        let covers = |way: &Way, other: &Way| takes(&way.bytes, way.least, other);
        let mut redundant = false;
        for later in at + 1..ways.len() {
            if ways[later].path == ways[at].path && covers(&ways[later], &ways[at]) {
                redundant = true;
                break;
            }
            if !apart(&ways[later].bytes, &ways[at].bytes) && ways[later].path != ways[at].path {
                break;
            }
        }
        // A way that an earlier one takes whole is never taken.
        let hidden = ways[..at].iter().any(|earlier| covers(earlier, &ways[at]));
        if redundant || hidden {
            ways.remove(at);
        } else {
            at += 1;
        }
    }
}

/// Whether no packet has both.
fn apart(a: &Bytes, b: &Bytes) -> bool {
    a.iter().any(|(byte, (mask, value))| b.get(byte).is_some_and(|(m, v)| (v ^ value) & m & mask != 0))
}

/// Some ways in a row, and what they have in common: with it the first selection leads to one of the others.
struct Group {
    range: std::ops::Range<usize>,
    common: Bytes,
    least: u32,
    select: Select,
}

/// Most choices of groups that are tried.
const MOST_TRIES: usize = 2_000;

/// The selections that take each packet the first of its ways.
fn selections(ways: &[Way]) -> Option<(Select, Vec<Select>)> {
    if ways.len() > NODES * SELECTORS {
        return None;
    }
    let mut groups = Vec::new();
    for size in (2..=SELECTORS.min(ways.len())).rev() {
        for from in 0..=ways.len() - size {
            // What ways have in common may be single bits of a byte.
            groups.extend([false, true].into_iter().filter_map(|bits| group(ways, from..from + size, bits)));
        }
    }
    let mut tries = 0;
    (0..NODES).find_map(|count| choose(ways, &groups, count, &mut Vec::new(), &mut tries))
}

/// Chooses so many groups more; what is in none goes to a selection of its own, the last.
fn choose<'g>(
    ways: &[Way],
    groups: &'g [Group],
    count: usize,
    chosen: &mut Vec<&'g Group>,
    tries: &mut usize,
) -> Option<(Select, Vec<Select>)> {
    let covered: usize = chosen.iter().map(|group| group.range.len()).sum();
    // What is left would be too much for the selections that are left.
    if ways.len() > covered + (count + 1) * SELECTORS {
        return None;
    }
    if count > 0 {
        for (at, group) in groups.iter().enumerate() {
            let apart = |other: &&Group| other.range.end <= group.range.start || group.range.end <= other.range.start;
            if chosen.iter().all(apart) {
                chosen.push(group);
                let found = choose(ways, &groups[at + 1..], count - 1, chosen, tries);
                chosen.pop();
                if found.is_some() || *tries > MOST_TRIES {
                    return found;
                }
            }
        }
        return None;
    }
    *tries += 1;
    let rest: Vec<&Way> =
        ways.iter().filter(|way| !chosen.iter().any(|group| takes(&group.common, group.least, way))).collect();
    let last = select(&within(&rest, &Bytes::new(), 0))?;
    let mut first: Vec<(Bytes, u32, usize)> =
        chosen.iter().enumerate().map(|(at, group)| (group.common.clone(), group.least, at)).collect();
    first.push((Bytes::new(), 0, chosen.len()));
    let mut nodes: Vec<Select> = chosen.iter().map(|group| group.select.clone()).collect();
    nodes.push(last);
    Some((select(&first)?, nodes))
}

/// Whether all packets of a way have these bytes, and this length at least.
fn takes(bytes: &Bytes, least: u32, way: &Way) -> bool {
    least <= way.least
        && bytes.iter().all(|(byte, (mask, value))| {
            way.bytes.get(byte).is_some_and(|(m, v)| m & mask == *mask && v & mask == *value)
        })
}

fn group(ways: &[Way], range: std::ops::Range<usize>, bits: bool) -> Option<Group> {
    let mut common = ways[range.start].bytes.clone();
    let mut least = ways[range.start].least;
    let mut parts = false;
    for way in &ways[range.clone()] {
        least = least.min(way.least);
        common.retain(|byte, (mask, value)| {
            let Some((other, is)) = way.bytes.get(byte) else { return false };
            let equal = *mask & other & !(*value ^ is);
            let whole = (*mask, *value) == (*other, *is);
            parts |= !whole && equal != 0;
            (*mask, *value) = (equal, *value & equal);
            equal != 0 && (bits || whole)
        });
    }
    // What only has a length in common is a group, too; without parts of bytes both are one.
    if common.is_empty() && least == 0 || bits && !parts {
        return None;
    }
    let all: Vec<&Way> = ways.iter().collect();
    let select = select(&within(&all, &common, least))?;
    Some(Group { range, common, least, select })
}

/// What is left to be asked of packets that have these bytes and this length, in the order of the ways.
fn within(ways: &[&Way], common: &Bytes, least: u32) -> Vec<(Bytes, u32, usize)> {
    let mut list = Vec::new();
    for way in ways {
        if apart(&way.bytes, common) {
            continue;
        }
        let mut bytes = way.bytes.clone();
        bytes.retain(|byte, pattern| common.get(byte) != Some(pattern));
        let all = bytes.is_empty() && way.least <= least;
        list.push((bytes, if way.least <= least { 0 } else { way.least }, way.path));
        if all {
            break;
        }
    }
    list
}

fn select(list: &[(Bytes, u32, usize)]) -> Option<Select> {
    let bytes: BTreeSet<u32> = list.iter().flat_map(|(bytes, ..)| bytes.keys().copied()).collect();
    if bytes.len() > SELECTORS || list.len() > SELECTORS {
        return None;
    }
    let mut select = Select::default();
    for (place, byte) in select.offsets.iter_mut().zip(&bytes) {
        *place = *byte as u8;
    }
    for (patterns, least, to) in list {
        let mut alternative = Alternative { least: *least as u8, to: *to as u8, ..Alternative::default() };
        for (k, byte) in bytes.iter().enumerate() {
            if let Some((mask, value)) = patterns.get(byte) {
                (alternative.mask[k], alternative.value[k]) = (*mask, *value);
            }
        }
        select.alternatives.push(alternative);
    }
    Some(select)
}
