//! Verifier of the pass that follows a program: its graph, run on packets with entries, gives what the reference gives, and keeps the same.

use super::entries::{Bounds, Entries, bounds, each_table, values};
use super::packets::{packet, wanted};
use super::run::{Gone, Stop, run_path};
use super::vars::{Source, Vars, hardware, takes};
use crate::Reference;
use crate::compiler::ir::{Array, Bits, CELL, Graph};
use crate::front::interpret::code::{Code, ObjectKind};
use crate::front::interpret::tables::Rows;
use crate::front::interpret::{DROP, HashLayouts, Sent, Switch, TICK};
use sluice_formats::random::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Ports at which packets arrive.
const PORTS: u64 = 8;
/// Groups that there are.
const GROUPS: u16 = 4;
/// Most nanoseconds of a time.
const TIME: u64 = 1 << 50;

/// Checks a graph, with so many packets; the reference keeps the entries that were made.
pub(crate) fn check(graph: &Graph, reference: &mut Reference, rng: &mut Rng, packets: usize) -> Result<(), String> {
    let layouts = plain_layouts(graph);
    let switch = &mut reference.switch;
    switch.machine.hashes = layouts.clone();
    let code = &switch.code;
    let (wanted, bounds) = (wanted(graph, code), bounds(graph));
    let mut rows = switch.machine.tables.clone();
    defaults(graph, code, &bounds, &mut rows, rng);
    let mut arrivals = Vec::new();
    let mut entries = Entries {
        code,
        rows: &mut rows,
        layouts: &layouts,
        bounds: &bounds,
        arrival: (0, 0),
        cells: BTreeMap::new(),
        grow: Some(rng.fork()),
    };
    for _ in 0..packets {
        let arrival =
            Arrival { bytes: packet(graph, &wanted, rng), port: rng.below(PORTS) as u16, time: rng.below(TIME) * TICK };
        // Entries are made where it looks for them.
        let _ = arrival.run(graph, &mut entries);
        arrivals.push(arrival);
    }
    entries.grow = None;
    entries.cells.clear();
    let came: Vec<_> = arrivals.iter().map(|arrival| arrival.run(graph, &mut entries)).collect();
    let cells = std::mem::take(&mut entries.cells);
    switch.machine.tables = rows;
    for number in 1..=GROUPS {
        let ports = (0..PORTS as u16).filter(|port| (port ^ number) & 1 == 0).collect();
        switch.replication.nodes.push(crate::front::interpret::Node { rid: number, ports });
        switch.replication.groups.insert(number, vec![switch.replication.nodes.len() - 1]);
    }
    for session in graph.clones.keys() {
        switch.replication.sessions.insert((*session).into(), crate::front::interpret::Session::Port(mirror(*session)));
    }
    for (arrival, came) in arrivals.iter().zip(came) {
        let came = match came {
            Ok(came) => came,
            // From here on its cells would be others.
            Err(Stop::Unknown) => return Ok(()),
            Err(Stop::Wrong(what)) => return Err(format!("{}: {what}", arrival.told())),
        };
        switch.machine.time = arrival.time;
        let Ok(mut meant) = switch.packet(arrival.port, &arrival.bytes) else { return Ok(()) };
        let clone = came.as_ref().and_then(|(gone, bytes)| gone.clone.map(|session| (mirror(session), bytes.clone())));
        let mut found = match came {
            None => Vec::new(),
            Some((gone, bytes)) if gone.group == 0 && u128::from(gone.port) != DROP => {
                vec![Sent { port: gone.port, bytes }]
            }
            Some((gone, _)) if gone.group == 0 => Vec::new(),
            Some((gone, bytes)) => {
                let copies = switch.replication.copies(gone.group).into_iter().map(|(port, _)| port);
                let copies = copies.filter(|port| !(gone.except_arrival && *port == arrival.port));
                copies.map(|port| Sent { port, bytes: bytes.clone() }).collect()
            }
        };
        found.extend(clone.map(|(port, bytes)| Sent { port, bytes }));
        meant.sort_by_key(|sent| sent.port);
        found.sort_by_key(|sent| sent.port);
        if meant != found {
            let told = |all: &[Sent]| {
                all.iter()
                    .map(|sent| format!("{} at port {}", hex(&sent.bytes), sent.port))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            return Err(format!(
                "{}: the program sends [{}], the graph [{}]",
                arrival.told(),
                told(&meant),
                told(&found)
            ));
        }
    }
    same_cells(switch, &cells, "the graph")
}

/// Whether the cells that a graph keeps are the program's.
pub(super) fn same_cells(switch: &Switch, cells: &BTreeMap<(Array, usize), u32>, whose: &str) -> Result<(), String> {
    for (array, count) in arrays(&switch.code) {
        for at in 0..count {
            let mask = switch.cell_mask(array);
            let (meant, found) = (switch.cell(array, at) & mask, cells.get(&(array, at)).copied().unwrap_or(0) & mask);
            if meant != found {
                let name = &switch.code.objects[array.object].name;
                let part = array.part;
                return Err(format!("{name}[{at}], word {part}: the program keeps {meant:#x}, {whose} {found:#x}"));
            }
        }
    }
    Ok(())
}

/// The port of a session.
fn mirror(session: u16) -> u16 {
    300 + session % 100
}

/// A packet with all that is known of it.
struct Arrival {
    bytes: Vec<u8>,
    port: u16,
    time: u64,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Arrival {
    fn told(&self) -> String {
        format!("packet {} from port {}", hex(&self.bytes), self.port)
    }

    fn run(&self, graph: &Graph, entries: &mut Entries) -> Result<Option<(Gone, Vec<u8>)>, Stop> {
        let Some(path) = graph.paths.iter().find(|path| takes(path, &self.bytes)) else {
            return Err(Stop::Wrong("no way of the parser takes it".to_string()));
        };
        entries.arrival = (self.time / TICK, self.bytes.len() as u16);
        let others = hardware(&graph.locs, path, &self.bytes, self.port, (self.time / TICK).into());
        let mut source = Source::of(&self.bytes, &graph.locs, &path.taken, others);
        let mut vars = Vars::new(&mut source);
        let Some(gone) = run_path(graph, &path.next, &mut vars, entries)? else { return Ok(None) };
        let out = vars.packet(&gone.deparse)?;
        Ok(Some((gone, out)))
    }
}

/// Each list that is hashed, from the lowest bit of a key on.
fn plain_layouts(graph: &Graph) -> HashLayouts {
    let mut layouts = HashLayouts::new();
    for node in &graph.nodes {
        node.tree.each_leaf(&mut |leaf| {
            for data in leaf.assigns.values().flat_map(Bits::hashed) {
                let width = data.width() as usize;
                layouts.insert(width, (0..width).map(|at| u8::try_from(at).ok().filter(|at| *at < 194)).collect());
            }
        });
    }
    layouts
}

/// Gives tables other default actions than their own, where an entry may say so.
fn defaults(graph: &Graph, code: &Code, bounds: &Bounds, rows: &mut [Rows], rng: &mut Rng) {
    let mut seen = BTreeSet::new();
    for node in &graph.nodes {
        each_table(&node.tree, &mut |table, all| {
            let described = &code.tables[table];
            if !seen.insert(table) || described.default_constant || !rng.chance(1, 3) {
                return;
            }
            let misses: Vec<_> =
                all.iter().filter(|(alt, _)| !alt.hit && !described.actions[alt.action].table_only).collect();
            let Some((alt, _)) = rng.choose(&misses).copied() else { return };
            let Some(data) = values(code, (table, *alt), bounds, rng) else { return };
            let listed = &described.actions[alt.action];
            let parameters = &code.actions[listed.action].parameters[listed.bound.len()..];
            let data = data.iter().zip(parameters).map(|(v, p)| super::entries::given(v, &p.shape)).collect();
            rows[table].default = (alt.action, data);
        });
    }
}

/// All words that a program keeps, with how many there are of each.
fn arrays(code: &Code) -> Vec<(Array, usize)> {
    let mut all = Vec::new();
    for (object, described) in code.objects.iter().enumerate() {
        let (parts, cells): (Vec<u32>, usize) = match &described.kind {
            ObjectKind::Register { cells, shape } => ((0..shape.bits().unwrap_or(0).div_ceil(CELL)).collect(), *cells),
            ObjectKind::Counter { cells, packets, bytes, .. } => {
                ([(*packets, 0), (*bytes, 1)].into_iter().filter(|(is, _)| *is).map(|(_, part)| part).collect(), *cells)
            }
            ObjectKind::Police { cells, .. } => (vec![0], *cells),
            _ => continue,
        };
        all.extend(parts.into_iter().map(|part| (Array { object, part }, cells)));
    }
    all
}
