//! Verifier of the pass that numbers ports: what the graph did with the program's ports it does with those of the pipeline, where packets and
//! entries have these.

use super::run::{Stop, World};
use super::same::{Changes, Chosen, Once, compared, once};
use super::value::{Value, number, of, slice};
use super::vars::Source;
use crate::compiler::ir::{Alt, Array, Graph, LocInfo, Tree};
use crate::compiler::ports::{PORT_BITS, Ports};
use sluice_formats::random::Rng;
use std::collections::BTreeMap;

/// Entries of the program, as the pipeline has them.
struct Numbered<'a, 'c> {
    once: Once<'c>,
    ports: &'a Ports,
}

impl Numbered<'_, '_> {
    fn changed(&self, value: &[bool]) -> Value {
        let port = number(&slice(value, 0, PORT_BITS)) as u16;
        let mut all = of(PORT_BITS, self.ports.map.to_pipeline(port).into());
        all.extend(value.iter().skip(PORT_BITS as usize));
        all.truncate(value.len());
        all
    }
}

impl World for Numbered<'_, '_> {
    fn look(&mut self, table: usize, keys: &[Value], all: &[(Alt, Tree)]) -> Result<(Alt, Vec<Value>), Stop> {
        let is_port = |at: usize| self.ports.keys.contains(&(table, at));
        let keys: Vec<Value> = keys
            .iter()
            .enumerate()
            .map(|(at, key)| if is_port(at) { self.changed(key) } else { key.clone() })
            .collect();
        let (alt, mut values) = self.once.look(table, &keys, all)?;
        for (at, value) in values.iter_mut().enumerate() {
            if self.ports.params.contains(&(table, alt.action, at as u32)) {
                *value = self.changed(value);
            }
        }
        Ok((alt, values))
    }

    fn hash(&self, bits: &[bool]) -> u32 {
        self.once.hash(bits)
    }

    fn cell(&mut self, array: Array, at: usize) -> u32 {
        self.once.cell(array, at)
    }

    fn set_cell(&mut self, array: Array, at: usize, value: u32) {
        self.once.set_cell(array, at, value);
    }
}

impl Changes for Numbered<'_, '_> {
    fn changes(&self) -> BTreeMap<(Array, usize), u32> {
        self.once.changes()
    }
}

/// Checks a graph with the pipeline's ports against that with the program's, each way of the parser so often.
pub(crate) fn check(before: &Graph, after: &Graph, ports: &Ports, rng: &mut Rng, times: usize) -> Result<(), String> {
    let port = after.locs.find(&LocInfo::Port);
    let copy = after.locs.find(&LocInfo::CopyPort);
    let used: Vec<u16> = ports.map.pairs().map(|(port, _)| port).collect();
    for _ in 0..times {
        for (path, (one, other)) in before.paths.iter().zip(&after.paths).enumerate() {
            let mut source = Source::random(rng.fork(), &after.locs, one, true);
            if let (Some(port), false) = (port, ports.moved) {
                // Packets arrive at ports that keep their numbers.
                let own: Vec<u16> = (0..8).filter(|port| ports.map.to_pipeline(*port) == *port).collect();
                let Some(at) = rng.choose(&own) else { continue };
                source.others.insert(port, of(PORT_BITS, (*at).into()));
            }
            if let Some(copy) = copy {
                // A program that asks for more than whether this is the port of arrival is refused later.
                let Some(at) = rng.choose(&used) else { continue };
                source.others.insert(copy, of(PORT_BITS, (*at).into()));
            }
            let mut chosen = Chosen::new(rng.fork());
            let Ok(mut came) = once(before, &one.next, &mut source, &mut Once::new(&mut chosen)) else { continue };
            if let Some(end) = &mut came.0
                && end.1 == 0
            {
                end.0 = ports.map.to_pipeline(end.0);
            }
            let mut numbered = Numbered { once: Once::new(&mut chosen), ports };
            for loc in [port, copy].into_iter().flatten() {
                if let Some(value) = source.others.get_mut(&loc) {
                    *value = numbered.changed(value);
                }
            }
            let came_after = once(after, &other.next, &mut source, &mut numbered);
            if let Some(what) = compared(&came, came_after) {
                return Err(format!("way {path} of the parser: {what}"));
            }
        }
    }
    Ok(())
}
