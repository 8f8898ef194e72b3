//! The syntax tree to a program: names are looked up, operands are allotted.

mod action;
mod allot;
mod conditions;
mod covered;
mod factors;
mod key;
mod meter;
mod operands;
mod packet;
mod raw;
mod scope;
mod stage;
mod state;
mod words;

pub use meter::row as meter_row;
pub(super) use raw::OPS;
pub(super) use scope::{EGRESS_PORT, WORDS, reserved};

use super::Unit;
use super::ast::*;
use super::error::{Diagnostics, Read, place, unknown, value};
use super::names::Names;
use crate::pipeline::Memory;
use crate::program::Program;
use crate::target;
use scope::{Scope, Thing};
use sluice_formats::Target;
use sluice_object::{Demands, Destination, Rate, RmtGroup};
use sluice_packet::text::Span;
use std::collections::{BTreeMap, HashMap};

/// Where in the text a part of the program stands, by the checker's name of the part.
#[derive(Debug, Default)]
pub(super) struct Places(HashMap<String, Span>);

impl Places {
    pub fn put(&mut self, at: impl Into<String>, span: Span) {
        self.0.insert(at.into(), span);
    }

    /// Place of the part, or of the smallest one around it that is known.
    pub fn find(&self, at: &str) -> Span {
        let mut at = at;
        loop {
            if let Some(span) = self.0.get(at) {
                return *span;
            }
            match at.rfind(['.', '[']) {
                Some(cut) => at = &at[..cut],
                None => return self.0.get("").copied().unwrap_or_default(),
            }
        }
    }
}

/// What lowering carries along.
pub(super) struct Lower<'a> {
    scope: Scope<'a>,
    pub notes: &'a mut Diagnostics,
    pub places: Places,
    pub names: Names,
}

/// The unit of a file, and where its parts stand. With mistakes noted the unit is of no use.
pub(super) fn lower(file: &File, text: &str, target: &'static Target, notes: &mut Diagnostics) -> (Unit, Places) {
    let port_numbers = file.items.iter().any(|item| matches!(item, Item::PortNumbers(_)));
    let scope = Scope { text, target, names: HashMap::new(), headers: HashMap::new(), port_numbers };
    let names = Names { module: file.name.text.clone(), ..Names::default() };
    let mut lower = Lower { scope, notes, places: Places::default(), names };
    lower.places.put("", file.name.span);
    let mut unit = Unit {
        role: file.role,
        program: Program::default(),
        memory: Memory::Zeroed,
        groups: BTreeMap::new(),
        shared: BTreeMap::new(),
        rooms: BTreeMap::new(),
        demands: Demands::default(),
        names: Names::default(),
    };
    for item in &file.items {
        lower.declaration(item, &mut unit);
    }
    let mut once: HashMap<String, Span> = HashMap::new();
    for item in &file.items {
        let (what, span) = match item {
            Item::Parser(p) => ("the parser".to_string(), p.span),
            Item::Deparser(d) => ("the deparser".to_string(), d.span),
            Item::Demands { span, .. } => ("demands".to_string(), *span),
            Item::State { span, .. } => ("state".to_string(), *span),
            Item::PortNumbers(span) => ("port_numbers".to_string(), *span),
            _ => continue,
        };
        if let Some(first) = once.get(&what) {
            let e = lower.scope.twice(span, what, *first);
            lower.notes.push(e);
        } else {
            once.insert(what, span);
        }
    }
    let works = |item: &Item| matches!(item, Item::Parser(_) | Item::Stage(_) | Item::Deparser(_));
    if !file.items.iter().any(works) {
        let found = "a module without parser, stage and deparser";
        lower.notes.warn(place(file.name.span, found, "one of them at least"));
    }
    for item in &file.items {
        if let Item::Parser(p) = item {
            unit.program.parser = lower.parser(p);
        }
    }
    let mut stages = HashMap::new();
    for item in &file.items {
        let Item::Stage(stage) = item else { continue };
        let number = lower.scope.number(&stage.number, "the stage", 0, 31);
        let Some(number) = lower.notes.ok(number) else { continue };
        let number = number as usize;
        if let Some(first) = stages.insert(number, stage.span) {
            let e = lower.scope.twice(stage.number.span, format!("stage {number}"), first);
            lower.notes.push(e);
        }
        let lowered = lower.stage(number, stage);
        if let Some(room) = lower.rooms(stage, &lowered) {
            unit.rooms.insert(number, room);
        }
        let all = &mut unit.program.stages;
        if all.len() <= number {
            all.resize(number + 1, None);
            lower.places.put("stages", stage.number.span);
        }
        all[number] = Some(lowered);
    }
    for item in &file.items {
        if let Item::Deparser(d) = item {
            unit.program.deparser = lower.deparser(d);
        }
    }
    unit.names = lower.names;
    (unit, lower.places)
}

impl Lower<'_> {
    fn declaration(&mut self, item: &Item, unit: &mut Unit) {
        match item {
            Item::Const(all) => {
                for (name, expr) in all {
                    let value = self.scope.value(expr);
                    if let Some(value) = self.notes.ok(value) {
                        self.declare(name, Thing::Value(value));
                    }
                }
            }
            Item::Container(all) => {
                for (name, place) in all {
                    let thing = self.scope.thing(place, &[]).and_then(|t| match t {
                        Thing::Bits(b) => Ok(b),
                        _ => Err(unknown(place.span, "container", &place.name.text, "as in c2[0] or c2[0][7:0]")),
                    });
                    if let Some(bits) = self.notes.ok(thing)
                        && self.declare(name, Thing::Bits(bits))
                    {
                        self.names.containers.push((name.text.clone(), bits));
                    }
                }
            }
            Item::Header(all) => {
                for (name, expr) in all {
                    let number = self.scope.number(expr, "the header", 0, target::HEADERS as u128 - 1);
                    let Some(number) = self.notes.ok(number) else { continue };
                    let fresh = self.scope.fresh(name, self.scope.headers.get(&name.text).map(|h| h.1));
                    if self.notes.ok(fresh).is_some() {
                        self.scope.headers.insert(name.text.clone(), (number as u8, name.span));
                        self.names.headers.push((name.text.clone(), number as u8));
                    }
                }
            }
            Item::Group(group) => {
                if let Some((number, row)) = self.group(group) {
                    self.names.groups.push((group.name.text.clone(), number));
                    if unit.groups.insert(number, row).is_some() {
                        let before = self.names.groups.iter().find(|g| g.1 == number).map(|g| g.0.clone());
                        let found = format!("group {number}, which is `{}`", before.unwrap_or_default());
                        self.notes.push(place(group.number.span, found, "a number for each group"));
                    }
                }
            }
            Item::Share(all) => {
                for place in all {
                    let container = self.scope.container(place);
                    let Some(container) = self.notes.ok(container) else { continue };
                    if !place.brackets.is_empty() {
                        self.notes.push(crate::text::error::place(place.span, "a container by number", "its name"));
                    } else if unit.shared.insert(place.name.text.clone(), container.0).is_some() {
                        let e = self.scope.twice(place.span, format!("`{}`", place.name.text), place.span);
                        self.notes.push(e);
                    }
                }
            }
            Item::State { keep, .. } => unit.memory = if *keep { Memory::Keep } else { Memory::Zeroed },
            Item::Demands { items, .. } => {
                for (at, item) in items.iter().enumerate() {
                    let result = self.demand(item, &items[..at], &mut unit.demands);
                    self.notes.ok(result);
                }
            }
            Item::PortNumbers(_) | Item::Parser(_) | Item::Stage(_) | Item::Deparser(_) => {}
        }
    }

    fn declare(&mut self, name: &Name, thing: Thing) -> bool {
        let fresh = self.scope.fresh(name, self.scope.names.get(&name.text).map(|n| n.1));
        let good = self.notes.ok(fresh).is_some();
        if good {
            self.scope.names.insert(name.text.clone(), (thing, name.span));
        }
        good
    }

    fn destination(&self, name: &Name) -> Read<Destination> {
        let allowed = || {
            let t = self.scope.target;
            unknown(
                name.span,
                "destination",
                &name.text,
                format!("port0 to port{} and host0 to host{}", t.ports - 1, t.hosts - 1),
            )
        };
        name.text.parse().ok().filter(|d: &Destination| d.number(self.scope.target).is_some()).ok_or_else(allowed)
    }

    fn group(&mut self, item: &GroupItem) -> Option<(u16, RmtGroup)> {
        let number = self.scope.number(&item.number, "the group", 1, 0xffff);
        let number = self.notes.ok(number)? as u16;
        let good = self.declare(&item.name, Thing::Value(number.into()));
        let mut row = RmtGroup::default();
        for (name, tag) in &item.members {
            let tag = tag.as_ref().map_or(Ok(0), |t| self.scope.number(t, "the tag", 0, 0xffff));
            let member = self.destination(name).and_then(|d| Ok((d, tag? as u16)));
            let Some((destination, tag)) = self.notes.ok(member) else { continue };
            let bit = destination.number(self.scope.target).unwrap_or(0);
            if row.destinations >> bit & 1 == 1 {
                let e = self.scope.twice(name.span, format!("`{destination}`"), item.name.span);
                self.notes.push(e);
            }
            row.destinations |= 1 << bit;
            row.tags[usize::from(bit)] = tag;
        }
        good.then_some((number, row))
    }

    fn demand(&mut self, item: &Demand, before: &[Demand], demands: &mut Demands) -> Read<()> {
        match item {
            Demand::Quantum(n) => {
                let first = before.iter().find_map(|d| if let Demand::Quantum(n) = d { Some(n.span) } else { None });
                first.map_or(Ok(()), |first| Err(self.scope.twice(n.span, "`quantum`", first)))?;
                demands.quantum = self.scope.number(n, "the quantum", 1, 0xffff)? as u16;
            }
            Demand::Rate { rate, burst } => {
                let first =
                    before.iter().find_map(|d| if let Demand::Rate { rate, .. } = d { Some(rate.span) } else { None });
                first.map_or(Ok(()), |first| Err(self.scope.twice(rate.span, "`rate`", first)))?;
                let rate = self.scope.number(rate, "the rate", 1, u64::MAX.into())?;
                let burst_bytes = self.scope.number(burst, "the burst", 0, u32::MAX.into())? as u32;
                let asked = Rate { bits_per_second: rate, burst_bytes };
                asked.row().map_err(|e| value(burst.span, "the rate", "one that no row says", e))?;
                demands.rate = Some(asked);
            }
            Demand::Queue { destination, cells } => {
                let place = self.destination(destination)?;
                let cells = self.scope.number(cells, "the cells", 0, 0xffff)? as u16;
                if demands.queues.insert(place, cells).is_some() {
                    return Err(self.scope.twice(destination.span, format!("`{place}`"), destination.span));
                }
            }
        }
        Ok(())
    }
}
