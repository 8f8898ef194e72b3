//! Rows of the parser: paths in their order, on one selection or over two.

use super::{NOWHERE, ends_at, homes::Homes, live::Live, too_much};
use crate::ir::{Deparse, Graph, LocInfo, Next, ParserPath};
use crate::middle::Refusal;
use crate::source::Span;
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
    if let Some((first, nodes)) = told_apart(&ways) {
        return Ok(Parser { first, nodes, paths, port_numbers: true });
    }
    // The first way that is one too many; fewer are told apart where more are.
    let (mut fits, mut over) = (0, ways.len());
    while fits + 1 < over {
        let middle = (fits + over) / 2;
        match told_apart(&ways[..middle]) {
            Some(_) => fits = middle,
            None => over = middle,
        }
    }
    let at = ways.get(over - 1).map_or(Span::default(), |way| way.span);
    let what =
        format!("a parser of {} ways, which two selections of 8 bytes and 8 cases do not tell apart", ways.len());
    too_much(at, format!("{what}; {fits} of them fit, the next ends here"))
}

/// Selections that tell ways apart, if there are some.
fn told_apart(ways: &[Way]) -> Option<(Select, Vec<Select>)> {
    partitions(ways.len(), NODES).iter().find_map(|groups| selections(ways, groups))
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
        Next::Drop => (0, NOWHERE),
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
        let covers = |way: &Way, other: &Way| {
            way.least <= other.least
                && way.bytes.iter().all(|(byte, (mask, value))| {
                    other.bytes.get(byte).is_some_and(|(m, v)| m & mask == *mask && v & mask == *value)
                })
        };
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

/// Ways to cut a list into at most so many pieces, the fewest pieces first.
fn partitions(count: usize, most: usize) -> Vec<Vec<std::ops::Range<usize>>> {
    let mut all = Vec::new();
    for pieces in 1..=most.min(count) {
        let mut cuts: Vec<usize> = (1..pieces).collect();
        loop {
            let mut ends = vec![0];
            ends.extend(&cuts);
            ends.push(count);
            all.push(ends.windows(2).map(|w| w[0]..w[1]).collect());
            // The next choice of cuts.
            let Some(at) = (0..cuts.len()).rev().find(|at| cuts[*at] + (cuts.len() - at) < count) else { break };
            cuts[at] += 1;
            for next in at + 1..cuts.len() {
                cuts[next] = cuts[next - 1] + 1;
            }
        }
    }
    all
}

fn selections(ways: &[Way], groups: &[std::ops::Range<usize>]) -> Option<(Select, Vec<Select>)> {
    let mut first = Vec::new();
    let mut nodes = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        let mut common = ways[group.start].bytes.clone();
        let mut least = ways[group.start].least;
        for way in &ways[group.clone()] {
            least = least.min(way.least);
            common.retain(|byte, pattern| way.bytes.get(byte) == Some(pattern));
        }
        // What comes here and takes none of the group's ways goes on with those behind it.
        let mut list = Vec::new();
        for way in &ways[group.start..] {
            if apart(&way.bytes, &common) {
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
        nodes.push(select(&list)?);
        first.push((common, least, number));
    }
    Some((select(&first)?, nodes))
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
