//! Verifier of a system program's stages: each visit, run on any fields and words with entries, gives what the reference makes of its control.

use super::entries::{Entries, bits_of, bounds, given};
use super::run::{Stop, Store, access, decide, writes};
use super::value::{Value, number, of};
use super::vars::any;
use crate::Reference;
use crate::compiler::ir::{Graph, Loc, Locs};
use crate::compiler::middle::system::{DISCARD_AT, LENGTH_AT, variable};
use crate::front::interpret::code::Code;
use crate::front::interpret::value::Value as Given;
use crate::front::interpret::{HashLayouts, Shape};
use sluice_formats::random::Rng;
use std::collections::BTreeMap;

/// Variables with their values.
struct Held(BTreeMap<Loc, Value>);

impl Store for Held {
    fn get(&mut self, loc: Loc) -> Result<Value, Stop> {
        self.0.get(&loc).cloned().ok_or(Stop::Wrong(format!("variable {loc:?}, which is none of a packet's")))
    }

    fn put(&mut self, all: Vec<(Loc, Value)>) {
        self.0.extend(all);
    }
}

/// The variables of a control's parameter, with their paths and widths.
fn parts(shape: &Shape, path: &mut Vec<u32>, see: &mut dyn FnMut(&[u32], &Shape)) {
    match shape.fields() {
        Some(fields) => {
            for (at, shape) in fields.shapes.iter().enumerate() {
                path.push(at as u32);
                parts(shape, path, see);
                path.pop();
            }
        }
        None => see(path, shape),
    }
}

/// A packet before a stage of the two.
struct Try {
    stage: usize,
    held: BTreeMap<Loc, Value>,
}

/// What a control of the program makes of a try, run by the reference.
fn meant(reference: &mut Reference, at: usize, held: &BTreeMap<Loc, Value>, locs: &mut Locs) -> Option<Held> {
    let switch = &mut reference.switch;
    let parameters: Vec<_> = switch.code.controls[at].parameters.iter().map(|p| (p.slot, p.shape.clone())).collect();
    for (number, (slot, shape)) in parameters.iter().enumerate() {
        let mut value = shape.zero();
        parts(shape, &mut Vec::new(), &mut |path, shape| {
            let (loc, _) = variable(locs, number == 1, *slot, path, shape.bits().unwrap_or(0));
            let place = path.iter().fold(&mut value, |value, at| &mut value.parts_mut()[*at as usize]);
            *place = held.get(&loc).map_or_else(|| shape.zero(), |bits| given(bits, shape));
        });
        switch.machine.slots[*slot] = value;
    }
    switch.machine.steps = 0;
    switch.machine.requests = Default::default();
    let length = variable(locs, true, parameters[1].0, &[LENGTH_AT], 16).0;
    let length = held.get(&length).map_or(0, |bits| number(bits) as usize);
    if !switch.run_control(at, length) {
        return None;
    }
    let mut after = BTreeMap::new();
    for (number, (slot, shape)) in parameters.iter().enumerate() {
        let value = std::mem::replace(&mut switch.machine.slots[*slot], Given::None);
        parts(shape, &mut Vec::new(), &mut |path, shape| {
            let (loc, width) = variable(locs, number == 1, *slot, path, shape.bits().unwrap_or(0));
            let place = path.iter().fold(&value, |value, at| &value.parts()[*at as usize]);
            after.insert(loc, bits_of(place, width));
        });
    }
    if switch.machine.requests.drop {
        let (discard, _) = variable(locs, true, parameters[1].0, &[DISCARD_AT], 1);
        after.insert(discard, of(1, 1));
    }
    Some(Held(after))
}

/// Checks each stage so often; the reference keeps the entries that were made.
pub(crate) fn check(
    graph: &Graph,
    which: &[usize],
    reference: &mut Reference,
    rng: &mut Rng,
    times: usize,
) -> Result<(), String> {
    let Some(system) = reference.switch.code.system.clone() else { return Ok(()) };
    let mut locs = graph.locs.clone();
    let (bounds, layouts) = (bounds(graph), HashLayouts::new());
    let mut rows = reference.switch.machine.tables.clone();
    let mut tries = Vec::new();
    {
        let code: &Code = &reference.switch.code;
        let (rows, grow) = (&mut rows, Some(rng.fork()));
        let mut entries =
            Entries { code, rows, layouts: &layouts, bounds: &bounds, arrival: (0, 0), cells: BTreeMap::new(), grow };
        for at in 0..2 * times {
            let stage = at % 2;
            let mut held = BTreeMap::new();
            for (number, parameter) in code.controls[system.controls[stage]].parameters.iter().enumerate() {
                parts(&parameter.shape, &mut Vec::new(), &mut |path, shape| {
                    let width = shape.bits().unwrap_or(0);
                    let (loc, width) = variable(&mut locs, number == 1, parameter.slot, path, width);
                    // Half of all words are zero, as those are that nobody has written.
                    let zero = number == 1 && rng.chance(1, 2);
                    held.insert(loc, if zero { of(width, 0) } else { any(rng, width) });
                });
            }
            if let Some(node) = which.iter().position(|of| *of == stage) {
                // Entries are made where it looks for them.
                let _ = decide(&graph.nodes[node].tree, &mut Held(held.clone()), &mut entries);
            }
            tries.push(Try { stage, held });
        }
    }
    reference.switch.machine.tables = rows.clone();
    let mut cells = BTreeMap::new();
    for (turn, Try { stage, held }) in tries.into_iter().enumerate() {
        let mut found = Held(held.clone());
        if let Some(node) = which.iter().position(|of| *of == stage) {
            let code = &reference.switch.code;
            let length =
                variable(&mut locs, true, code.controls[system.controls[stage]].parameters[1].slot, &[LENGTH_AT], 16);
            let arrival = (0, held.get(&length.0).map_or(0, |bits| number(bits) as u16));
            let rows = &mut rows;
            let mut entries = Entries { code, rows, layouts: &layouts, bounds: &bounds, arrival, cells, grow: None };
            let came = visit(graph, node, &mut found, &mut entries);
            cells = entries.cells;
            match came {
                Ok(()) => {}
                Err(Stop::Unknown) => return Ok(()),
                Err(Stop::Wrong(what)) => return Err(format!("try {turn}: {what}")),
            }
        }
        let Some(meant) = meant(reference, system.controls[stage], &held, &mut locs) else { return Ok(()) };
        if let Some((loc, value)) = meant.0.iter().find(|(loc, value)| found.0.get(loc) != Some(value)) {
            let (info, found) = (locs.info(*loc), found.0.get(loc));
            return Err(format!("try {turn}: the program gives {info:?} the bits {value:?}, the visit {found:?}"));
        }
    }
    super::symbolic::same_cells(&reference.switch, &cells, "the visits")
}

fn visit(graph: &Graph, node: usize, store: &mut Held, entries: &mut Entries) -> Result<(), Stop> {
    let (leaf, params) = decide(&graph.nodes[node].tree, store, entries)?;
    let mut cell = None;
    if let Some(looks) = &leaf.access {
        let (at, old, new, shown) = access(looks, &params, store, entries)?;
        cell = Some((old, shown));
        super::run::World::set_cell(entries, looks.array, at, new);
    }
    let all = writes(leaf, &params, cell, store, &|_| 0)?;
    store.put(all);
    Ok(())
}
