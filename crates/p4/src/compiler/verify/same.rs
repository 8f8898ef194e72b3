//! Whether two graphs do the same: both are run from the same values, with the same entries and cells, and end in the same way.

use super::run::{Stop, World, run_path};
use super::value::Value;
use super::vars::{Source, Vars, any};
use crate::compiler::ir::{Alt, Array, Graph, Next, Tree};
use sluice_formats::random::Rng;
use std::collections::{BTreeMap, HashMap};

/// Most bits that a parameter has here.
const PARAM: u32 = 256;
/// Parameters of an action.
const PARAMS: usize = 24;

/// Entries and cells that are chosen when they are first looked at, the same for both.
#[derive(Clone)]
pub(crate) struct Chosen {
    rng: Rng,
    entries: HashMap<(usize, Vec<Value>), (Alt, Vec<Value>)>,
    cells: HashMap<(Array, usize), u32>,
}

impl Chosen {
    pub fn new(rng: Rng) -> Self {
        Chosen { rng, entries: HashMap::new(), cells: HashMap::new() }
    }
}

/// They, and what one run changes of the cells.
pub(crate) struct Once<'c> {
    chosen: &'c mut Chosen,
    changed: BTreeMap<(Array, usize), u32>,
}

impl<'c> Once<'c> {
    pub fn new(chosen: &'c mut Chosen) -> Self {
        Once { chosen, changed: BTreeMap::new() }
    }
}

impl World for Once<'_> {
    fn look(&mut self, table: usize, keys: &[Value], all: &[(Alt, Tree)]) -> Result<(Alt, Vec<Value>), Stop> {
        let Chosen { rng, entries, .. } = &mut *self.chosen;
        let choose = || {
            let at = rng.index(all.len());
            (all[at].0, (0..PARAMS).map(|_| any(rng, PARAM)).collect())
        };
        Ok(entries.entry((table, keys.to_vec())).or_insert_with(choose).clone())
    }

    fn hash(&self, bits: &[bool]) -> u32 {
        // Any function does, if both have the same.
        let bytes: Vec<u8> = bits.chunks(8).map(|byte| super::value::number(byte) as u8).collect();
        sluice_formats::hash::crc32c(&bytes)
    }

    fn cell(&mut self, array: Array, at: usize) -> u32 {
        let Chosen { rng, cells, .. } = &mut *self.chosen;
        let first = *cells.entry((array, at)).or_insert_with(|| rng.next_u32());
        self.changed.get(&(array, at)).copied().unwrap_or(first)
    }

    fn set_cell(&mut self, array: Array, at: usize, value: u32) {
        self.changed.insert((array, at), value);
    }
}

/// What came of a packet: its port, group, whether the port of arrival gets none, and its bytes.
pub(crate) type End = Option<(u16, u16, bool, Vec<u8>)>;

/// Runs two graphs once, each from where it begins; what is different, in words.
pub(crate) fn differs(
    (one, one_next): (&Graph, &Next),
    (other, other_next): (&Graph, &Next),
    source: &mut Source,
    rng: Rng,
) -> Option<String> {
    let mut chosen = Chosen::new(rng);
    // What cannot be run before is no matter of this.
    let before = once(one, one_next, source, &mut Once::new(&mut chosen)).ok()?;
    compared(&before, once(other, other_next, source, &mut Once::new(&mut chosen)))
}

/// What is different between what came before and after a pass.
pub(crate) fn compared(before: &Came, after: Result<Came, Stop>) -> Option<String> {
    match after {
        Ok(after) if after == *before => None,
        Ok(after) => Some(format!("before {}, after {}", told(before), told(&after))),
        Err(Stop::Unknown) => None,
        Err(Stop::Wrong(what)) => Some(what),
    }
}

/// How a packet ends, and which cells it leaves with other values.
pub(crate) type Came = (End, BTreeMap<(Array, usize), u32>);

/// Cells that a run changes.
pub(crate) trait Changes: World {
    fn changes(&self) -> BTreeMap<(Array, usize), u32>;
}

impl Changes for Once<'_> {
    fn changes(&self) -> BTreeMap<(Array, usize), u32> {
        let mut changed = self.changed.clone();
        changed.retain(|place, value| self.chosen.cells.get(place) != Some(value));
        changed
    }
}

/// Runs a graph once.
pub(crate) fn once(graph: &Graph, next: &Next, source: &mut Source, world: &mut dyn Changes) -> Result<Came, Stop> {
    let mut vars = Vars::new(source);
    let gone = run_path(graph, next, &mut vars, world)?;
    let end = match gone {
        Some(gone) => Some((gone.port, gone.group, gone.except_arrival, vars.packet(&gone.deparse)?)),
        None => None,
    };
    Ok((end, world.changes()))
}

fn told((end, cells): &Came) -> String {
    let words = match end {
        None => "dropped".to_string(),
        Some((port, group, except, bytes)) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let but = if *except { " but the port of arrival" } else { "" };
            format!("port {port} group {group}{but}, {hex}")
        }
    };
    let cells: Vec<String> = cells.iter().map(|((array, at), value)| format!("{array:?}[{at}] = {value:#x}")).collect();
    if cells.is_empty() { words } else { format!("{words}, {}", cells.join(", ")) }
}

/// Paths of the parser that lead to each visit, one of them.
pub(crate) fn path_to(graph: &Graph) -> Vec<Option<usize>> {
    let mut found = vec![None; graph.nodes.len()];
    for (number, path) in graph.paths.iter().enumerate() {
        let mut open = vec![path.next.clone()];
        while let Some(next) = open.pop() {
            let Next::Node(at) = next else { continue };
            if found[at].is_none() {
                found[at] = Some(number);
                graph.nodes[at].tree.each_leaf(&mut |leaf| open.push(leaf.next.clone()));
            }
        }
    }
    found
}
