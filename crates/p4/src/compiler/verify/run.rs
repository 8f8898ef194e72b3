//! The graph as a program that runs: visits one behind the other on values, with entries and cells that somebody gives.

use super::value::{Inputs, Value, compares, evaluate, internet, number, of, put_bytes};
use crate::compiler::ir::{
    Access, Alt, Array, Becomes, Bits, Change, Deparse, End, Graph, Leaf, Loc, Next, Out, Test, Tree,
};

/// Most visits of a packet: more than a way through a graph may have.
const MOST_VISITS: usize = 1_000;

/// Why a run ends before its end.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// It depends on what nobody knows here.
    Unknown,
    /// The graph cannot be meant.
    Wrong(String),
}

/// Where variables are.
pub(crate) trait Store {
    fn get(&mut self, loc: Loc) -> Result<Value, Stop>;
    /// Writes what a visit writes, all at once.
    fn put(&mut self, all: Vec<(Loc, Value)>);
    /// The packet leads on.
    fn leads(&mut self, _next: &Next) -> Result<(), Stop> {
        Ok(())
    }
    /// A test is met; what nobody has looked at may still become such that it holds.
    fn prefer(&mut self, _test: &Test) {}
}

/// What is there beside the packet.
pub(crate) trait World {
    /// What a table comes to with these keys, and the values of the entry, its position behind them.
    fn look(&mut self, table: usize, keys: &[Value], all: &[(Alt, Tree)]) -> Result<(Alt, Vec<Value>), Stop>;
    fn hash(&self, bits: &[bool]) -> u32;
    fn cell(&mut self, array: Array, at: usize) -> u32;
    fn set_cell(&mut self, array: Array, at: usize, value: u32);
    /// When the packet came, in ticks, and its bytes.
    fn arrival(&self) -> (u64, u16) {
        (1 << 33, 100)
    }
}

/// A packet that leaves.
#[derive(Clone, Debug)]
pub(crate) struct Gone {
    /// Only without a group.
    pub port: u16,
    pub group: u16,
    pub except_arrival: bool,
    pub clone: Option<u16>,
    pub deparse: Deparse,
}

fn bits(bits: &Bits, store: &mut dyn Store, params: &[Value], world: &dyn World) -> Result<Value, Stop> {
    evaluate(
        bits,
        &mut Inputs { var: &mut |loc| store.get(loc), params, cell: None, hash: &|bits: &[bool]| world.hash(bits) },
    )
}

/// Whether a test holds.
pub(crate) fn holds(test: &Test, store: &mut dyn Store, world: &dyn World) -> Result<bool, Stop> {
    let mut value = |of: &Bits| bits(of, store, &[], world);
    Ok(match test {
        Test::Is(a, b) => value(a)? == value(b)?,
        Test::Compare { equal, a, b } => {
            let (a, b) = (value(a)?, value(b)?);
            if a.len() != b.len() {
                return Err(Stop::Wrong(format!("it compares {} with {} bits", a.len(), b.len())));
            }
            compares(*equal, &a, &b)
        }
    })
}

/// What a visit decides: a leaf, and an entry's values.
pub(crate) fn decide<'t>(
    tree: &'t Tree,
    store: &mut dyn Store,
    world: &mut dyn World,
) -> Result<(&'t Leaf, Vec<Value>), Stop> {
    let (mut tree, mut params) = (tree, Vec::new());
    loop {
        match tree {
            Tree::Test(test, yes, no) => {
                store.prefer(test);
                tree = if holds(test, store, world)? { yes } else { no };
            }
            Tree::Table(table, keys, all) => {
                let keys = keys.iter().map(|key| bits(key, store, &[], world)).collect::<Result<Vec<_>, _>>()?;
                let (alt, values) = world.look(*table, &keys, all)?;
                params = values;
                match all.iter().find(|(other, _)| *other == alt) {
                    Some((_, below)) => tree = below,
                    None => {
                        let what = format!("table {table} comes to {alt:?}, for which there is no way");
                        return Err(Stop::Wrong(what));
                    }
                }
            }
            Tree::Leaf(leaf) => return Ok((leaf, params)),
        }
    }
}

/// A cell before and behind an access, and what is shown of it then; and where it is.
pub(crate) fn access(
    access: &Access,
    params: &[Value],
    store: &mut dyn Store,
    world: &mut dyn World,
) -> Result<(usize, u32, u32, u32), Stop> {
    if access.more > 0 {
        return Err(Stop::Wrong("it looks at a cell of several words".to_string()));
    }
    let at = number(&bits(&access.index, store, params, world)?) as usize;
    let old = world.cell(access.array, at);
    if let Change::Police(police) = &access.change {
        let (ticks, bytes) = world.arrival();
        let (new, is_red) = police.packet(old, ticks, bytes);
        return Ok((at, old, new, is_red.into()));
    }
    let mut value = |of: &Bits| Ok::<u32, Stop>(number(&bits(of, store, params, world)?) as u32);
    let new = match &access.change {
        Change::Keep | Change::Police(_) => old,
        Change::Set(by) => value(by)?,
        Change::Add { by, negate: false } => old.wrapping_add(value(by)?),
        Change::Add { by, negate: true } => old.wrapping_sub(value(by)?),
        Change::Choose { limit, yes, no } => {
            let Becomes { old: stays, value: by, negate } = if old >= value(limit)? { yes } else { no };
            let (from, by) = (if *stays { old } else { 0 }, value(by)?);
            if *negate { from.wrapping_sub(by) } else { from.wrapping_add(by) }
        }
    };
    Ok((at, old, new, new))
}

/// Where a packet goes.
pub(crate) fn goal(
    end: &End,
    params: &[Value],
    store: &mut dyn Store,
    world: &mut dyn World,
) -> Result<(u16, u16), Stop> {
    let group = number(&bits(&end.group, store, params, world)?) as u16;
    let port = if group == 0 { number(&bits(&end.port, store, params, world)?) as u16 } else { 0 };
    Ok((port, group))
}

/// What a leaf writes to variables, with the cell that it looked at.
pub(crate) fn writes(
    leaf: &Leaf,
    params: &[Value],
    cell: Option<(u32, u32)>,
    store: &mut dyn Store,
    hash: &dyn Fn(&[bool]) -> u32,
) -> Result<Vec<(Loc, Value)>, Stop> {
    let mut all = Vec::new();
    for (loc, bits) in &leaf.assigns {
        let inputs = &mut Inputs { var: &mut |loc| store.get(loc), params, cell, hash };
        all.push((*loc, evaluate(bits, inputs)?));
    }
    Ok(all)
}

/// Runs a packet from where it leads on; nothing of one that is dropped.
pub(crate) fn run(
    graph: &Graph,
    next: &Next,
    store: &mut dyn Store,
    world: &mut dyn World,
) -> Result<Option<Gone>, Stop> {
    let mut next = next;
    let mut gone = (0, 0);
    for _ in 0..MOST_VISITS {
        store.leads(next)?;
        let at = match next {
            Next::Node(at) => *at,
            Next::Drop | Next::Onward => return Ok(None),
            Next::End(end) => {
                return Ok(Some(Gone {
                    port: gone.0,
                    group: gone.1,
                    except_arrival: end.except_arrival,
                    clone: end.clone,
                    deparse: end.deparse.clone(),
                }));
            }
        };
        let Some(node) = graph.nodes.get(at) else {
            return Err(Stop::Wrong(format!("visit {at}, which is not there")));
        };
        let (leaf, params) = decide(&node.tree, store, world)?;
        let mut cell = None;
        if let Some(looks) = &leaf.access {
            let (at, old, new, shown) = access(looks, &params, store, world)?;
            cell = Some((old, shown));
            world.set_cell(looks.array, at, new);
        }
        if let Next::End(end) = &leaf.next {
            gone = goal(end, &params, store, world)?;
        }
        let all = writes(leaf, &params, cell, store, &|bits: &[bool]| world.hash(bits))?;
        store.put(all);
        next = &leaf.next;
    }
    Err(Stop::Wrong("a packet that goes from visit to visit without end".to_string()))
}

/// Runs a packet that the parser leads to an end, of which the port is known.
pub(crate) fn run_path(
    graph: &Graph,
    next: &Next,
    store: &mut dyn Store,
    world: &mut dyn World,
) -> Result<Option<Gone>, Stop> {
    let came = run(graph, next, store, world)?;
    match (next, came) {
        (Next::End(end), Some(gone)) => {
            let (port, group) = goal(end, &[], store, world)?;
            Ok(Some(Gone { port, group, ..gone }))
        }
        (_, came) => Ok(came),
    }
}

/// The headers that go out, whole bytes, with their checksums.
pub(crate) fn headers(
    deparse: &Deparse,
    get: &mut dyn FnMut(&Out, u32) -> Result<Value, Stop>,
) -> Result<Vec<u8>, Stop> {
    let width: u32 = deparse.outs.iter().map(|out| out.width).sum();
    let mut bytes = vec![0; width.div_ceil(8) as usize];
    let mut bit = 0;
    for out in &deparse.outs {
        let is_sum = deparse.sums.iter().any(|(_, _, at)| bit == 8 * at && out.width == 16);
        if !is_sum {
            put_bytes(&mut bytes, bit, &get(out, bit)?);
        }
        bit += out.width;
    }
    // Neither of two sums sees the other.
    let sums: Vec<(u32, u16)> = deparse.sums.iter().map(|sum| (sum.2, internet(&bytes, *sum))).collect();
    sums.into_iter().for_each(|(at, sum)| put_bytes(&mut bytes, 8 * at, &of(16, sum.into())));
    Ok(bytes)
}
