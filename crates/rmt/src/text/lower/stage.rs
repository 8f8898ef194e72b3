//! A stage: memories, tables, what they lead to.

use super::Lower;
use super::covered::Taken;
use super::scope::list;
use crate::program::Stage;
use crate::stage::{Exact, Key, KeySpec, Leads, Order, Ternary};
use crate::target::{DATA, PAGE_WORDS};
use crate::text::Room;
use crate::text::ast::*;
use crate::text::error::{Located, Read, TextProblem, place, unknown, value};
use crate::text::names::{ActionNames, MemoryName, MeterRate, Parameter, StageNames};
use sluice_formats::limits::MIN_FRAME_BYTES;
use sluice_packet::text::Span;

/// What is known of a stage.
pub(super) struct Context {
    pub stage: usize,
    pub key: KeySpec,
    pub predicate_names: [Option<(String, Span)>; 2],
    pub conditions: [Option<(String, Span)>; 2],
    pub memories: Vec<(MemoryName, Span)>,
    /// Parts of the key.
    pub parts: Vec<super::key::Part>,
}

impl Context {
    pub fn too_many_predicates(&self, span: Span) -> Located {
        let found = "a third comparison".to_string();
        let allowed = "the conditions of a stage are made of 2".to_string();
        (span, TextProblem::Stage { stage: self.stage, found, allowed })
    }
}

impl Lower<'_> {
    pub(super) fn stage(&mut self, number: usize, item: &StageItem) -> Stage {
        let at = format!("stages[{number}]");
        self.places.put(&*at, item.number.span);
        let mut context = Context {
            stage: number,
            key: KeySpec::default(),
            predicate_names: [None, None],
            conditions: [None, None],
            memories: Vec::new(),
            parts: Vec::new(),
        };
        self.conditions(&mut context, item);
        self.key(&mut context, item);
        let mut stage = Stage { pages: self.memories(&mut context, item), ..Stage::default() };
        let actions = actions_of(item);
        let mut named: Vec<ActionNames> = Vec::new();
        for (i, action) in actions.iter().enumerate() {
            let before = actions[..i].iter().find(|a| a.name.text == action.name.text).map(|a| a.name.span);
            let fresh = before
                .map_or(Ok(()), |b| Err(self.scope.twice(action.name.span, format!("`{}`", action.name.text), b)));
            self.notes.ok(fresh);
            let parameters = self.parameters(action);
            named.push(ActionNames { name: action.name.text.clone(), parameters });
        }
        for (i, action) in actions.iter().enumerate() {
            self.places.put(format!("{at}.actions[{i}]"), action.name.span);
            self.places.put(format!("{at}.actions"), action.name.span);
            let lowered = self.action(&context, action, &named[i].parameters, &format!("{at}.actions[{i}]"));
            stage.actions.push(lowered);
        }
        self.tables(&context, item, &named, &mut stage, &at);
        let names = |all: &[Option<(String, Span)>; 2]| [0, 1].map(|i| all[i].as_ref().map(|n| n.0.clone()));
        if self.names.stages.len() <= number {
            self.names.stages.resize(number + 1, StageNames::default());
        }
        self.names.stages[number] = StageNames {
            conditions: names(&context.conditions),
            predicates: names(&context.predicate_names),
            memories: context.memories.into_iter().map(|m| m.0).collect(),
            actions: named,
        };
        stage.key = context.key;
        stage
    }

    /// Places the memories one behind the other; the pages of all.
    fn memories(&mut self, context: &mut Context, item: &StageItem) -> u16 {
        let (mut next, mut pages) = (0u64, 0u64);
        for part in &item.items {
            let (name, words, meter) = match part {
                StagePart::Memory(name, words) => (name, words, None),
                StagePart::Meter(m) => (&m.name, &m.words, Some(m)),
                StagePart::Pages(n) => {
                    let read = self.scope.number(n, "the number of pages", 0, 64);
                    pages = pages.max(self.notes.ok(read).unwrap_or(0));
                    self.places.put(format!("stages[{}].pages", context.stage), n.span);
                    continue;
                }
                _ => continue,
            };
            self.places.put(format!("stages[{}].pages", context.stage), name.span);
            let before = context.memories.iter().find(|m| m.0.name == name.text).map(|m| m.1);
            let before = before.or(self.scope.names.get(&name.text).map(|n| n.1));
            let fresh = self.scope.fresh(name, before);
            let read = self.scope.number(words, "the number of words", 1, 4096).and_then(|n| {
                let power = n.is_power_of_two();
                if power { Ok(n) } else { Err(value(words.span, "the number of words", n, "a power of two")) }
            });
            let meter = meter.map(|m| self.meter_rate(m));
            let (Some(()), Some(count)) = (self.notes.ok(fresh), self.notes.ok(read)) else { continue };
            if next + count > 4096 {
                let e = value(words.span, "the sum of all words", next + count, "at most 4096");
                self.notes.push(e);
                continue;
            }
            let memory =
                MemoryName { name: name.text.clone(), base: next as u16, words: count as u16, meter: meter.flatten() };
            context.memories.push((memory, name.span));
            next += count;
        }
        pages.max(next.div_ceil(PAGE_WORDS as u64)) as u16
    }

    /// Entries to reserve, exact and ternary, if it is said.
    pub(super) fn rooms(&mut self, item: &StageItem, stage: &Stage) -> Option<Room> {
        let mut room = Room { exact: stage.tables.exact.len(), ternary: stage.tables.ternary.len() };
        let (mut said, mut first) = (false, [None; 2]);
        for part in &item.items {
            let StagePart::Room { exact, entries } = part else { continue };
            if let Some(first) = first[usize::from(*exact)].replace(entries.span) {
                let what = if *exact { "`room exact`" } else { "`room ternary`" };
                let twice = self.scope.twice(entries.span, what, first);
                self.notes.push(twice);
            }
            let slot = if *exact { &mut room.exact } else { &mut room.ternary };
            let read = self.scope.number(entries, "the room", *slot as u128, 4096);
            let Some(n) = self.notes.ok(read) else { continue };
            *slot = n as usize;
            said = true;
        }
        said.then_some(room)
    }

    fn meter_rate(&mut self, item: &MeterItem) -> Option<MeterRate> {
        let rate = self.scope.number(&item.rate, "the rate", 1, u64::MAX.into());
        // By bits it is in bytes, and the shortest frame has to fit.
        let least = if item.packets { 1 } else { u128::from(MIN_FRAME_BYTES) };
        let burst = self.scope.number(&item.burst, "the burst", least, u32::MAX.into());
        let (rate, burst) = (self.notes.ok(rate)?, self.notes.ok(burst)?);
        let meter = MeterRate { rate, packets: item.packets, burst };
        let row = super::meter::row(&meter).map_err(|(found, allowed)| {
            (item.rate.span, TextProblem::Meter { name: item.name.text.clone(), found, allowed })
        });
        self.notes.ok(row).map(|_| meter)
    }

    fn parameters(&mut self, action: &ActionItem) -> Vec<Parameter> {
        let mut all: Vec<Parameter> = Vec::new();
        let mut at = 0;
        for (i, (name, bytes)) in action.parameters.iter().enumerate() {
            let before = action.parameters[..i].iter().find(|p| p.0.text == name.text).map(|p| p.0.span);
            let fresh = self.scope.fresh(name, before);
            let read = self.scope.number(bytes, "the size of the parameter", 2, 6).and_then(|n| {
                let good = n % 2 == 0;
                if good { Ok(n) } else { Err(value(bytes.span, "the size of the parameter", n, "2, 4 or 6 bytes")) }
            });
            // One that cannot be is one all the same, so that entries are counted right.
            self.notes.ok(fresh);
            let bytes = self.notes.ok(read).unwrap_or(2);
            if at + bytes > DATA as u64 {
                let e = value(name.span, "the sum of all parameters", format!("{} bytes", at + bytes), "at most 16");
                self.notes.push(e);
                return all;
            }
            all.push(Parameter { name: name.text.clone(), at: at as u8, bytes: bytes as u8 });
            at += bytes;
        }
        all
    }

    fn tables(&mut self, context: &Context, item: &StageItem, actions: &[ActionNames], stage: &mut Stage, at: &str) {
        let of = actions_of(item);
        let mut number = 0;
        let mut seen: Vec<(EntryKind, Span)> = Vec::new();
        let mut default: Option<Span> = None;
        for part in &item.items {
            match part {
                StagePart::Default(leads) => {
                    let lowered = self.leads(leads, &of, actions, number);
                    number += 1;
                    self.places.put(format!("{at}.tables.default"), leads.span);
                    if let Some(first) = default.replace(leads.span) {
                        let e = self.scope.twice(leads.span, "the default of this stage", first);
                        self.notes.push(e);
                    }
                    stage.tables.default = self.notes.ok(lowered);
                }
                StagePart::Entries(kind, entries, span) => {
                    let exact = *kind == EntryKind::Exact;
                    let same = seen.iter().find(|s| (s.0 == EntryKind::Exact) == exact).map(|s| s.1);
                    if let Some(first) = same {
                        let what = if exact { "`exact` of this stage" } else { "`ternary` or `lpm` of this stage" };
                        let e = self.scope.twice(*span, what, first);
                        self.notes.push(e);
                    }
                    seen.push((*kind, *span));
                    if matches!(kind, EntryKind::Lpm | EntryKind::Longest) {
                        stage.tables.order = Order::Longest;
                    }
                    self.places.put(format!("{at}.tables.{}", if exact { "exact" } else { "ternary" }), *span);
                    let mut taken = Taken::default();
                    for entry in entries {
                        if self.notes.full() {
                            return;
                        }
                        let lowered = self.entry(context, *kind, entry).and_then(|(value, mask)| {
                            Ok((value, mask, self.leads(&entry.leads, &of, actions, number)?))
                        });
                        number += 1;
                        let Some((value, mask, leads)) = self.notes.ok(lowered) else { continue };
                        if exact {
                            self.places.put(format!("{at}.tables.exact[{}]", stage.tables.exact.len()), entry.span);
                            stage.tables.exact.push(Exact { key: value, leads });
                        } else {
                            let longest = matches!(kind, EntryKind::Lpm | EntryKind::Longest);
                            let before = taken.by(&value.0, &mask.0, entry.span, longest);
                            self.never(entry.span, before, "an entry");
                            self.places.put(format!("{at}.tables.ternary[{}]", stage.tables.ternary.len()), entry.span);
                            stage.tables.ternary.push(Ternary { value, mask, leads });
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn entry(&self, context: &Context, kind: EntryKind, entry: &EntryItem) -> Read<(Key, Key)> {
        let parts = &context.parts;
        let (mut value, mut mask) = (Key::default(), Key::default());
        let any = kind != EntryKind::Exact && matches!(&entry.key[..], [Pattern { value: None, .. }]);
        if any {
            return Ok((value, mask));
        }
        if entry.key.len() != parts.len() {
            let found = format!("{} values", entry.key.len());
            let expected = format!("{}, one for each part of the key", parts.len());
            return Err((entry.span, TextProblem::Entry { found, expected }));
        }
        for (pattern, part) in entry.key.iter().zip(parts) {
            let (v, m) = self.key_value(kind, pattern, part)?;
            value.merge(part.at, v);
            mask.merge(part.at, m);
        }
        Ok((value, mask))
    }

    fn leads(&self, item: &LeadsItem, of: &[&ActionItem], actions: &[ActionNames], number: u16) -> Read<Leads> {
        let position = actions.iter().position(|a| a.name == item.action.text);
        let position = position.ok_or_else(|| {
            unknown(item.action.span, "action", &item.action.text, list(actions.iter().map(|a| &a.name)))
        })?;
        let parameters = &actions[position].parameters;
        let mut data = [0; DATA];
        let given = item.arguments.as_deref().unwrap_or_default();
        if let Some(bytes) = &item.data {
            if item.arguments.is_some() {
                return Err(place(bytes.span, "`data` behind values of parameters", "one of both"));
            }
            self.raw_data(bytes, &mut data)?;
        } else if given.len() != parameters.len() {
            let names: Vec<String> = parameters.iter().map(|p| format!("{}: {}", p.name, p.bytes)).collect();
            let found = format!("{} values for `{}`", given.len(), item.action.text);
            let expected = format!("{} ({})", parameters.len(), names.join(", "));
            return Err((item.span, TextProblem::Entry { found, expected }));
        }
        for (expr, p) in given.iter().zip(parameters) {
            if of.get(position).is_some_and(|action| sends(&action.statements, &p.name)) {
                self.scope.number(expr, &format!("`{}`, a mask of destinations,", p.name), 1, 0xff)?;
            }
            let v = self.scope.bits_value(expr, &format!("`{}`", p.name), 8 * u32::from(p.bytes))?;
            let (at, bytes) = (usize::from(p.at), usize::from(p.bytes));
            data[at..at + bytes].copy_from_slice(&v.to_be_bytes()[8 - bytes..]);
        }
        let number = match &item.number {
            Some(n) => self.scope.number(n, "the number", 0, 2047)? as u16,
            None => number,
        };
        Ok(Leads { action: position as u16, data, number })
    }

    /// `0x0102`: as many bytes as digits say, from the first on.
    fn raw_data(&self, expr: &Expr, data: &mut [u8; DATA]) -> Read<()> {
        let TermKind::Number(n, digits) = expr.first.kind else {
            return Err(value(expr.span, "the data", self.scope.shown(expr.span), "2 to 32 digits behind 0x"));
        };
        let digits = usize::from(digits);
        if !expr.rest.is_empty() || digits % 2 != 0 || !(2..=32).contains(&digits) {
            return Err(value(
                expr.span,
                "the data",
                self.scope.shown(expr.span),
                "2 to 32 digits behind 0x, an even number",
            ));
        }
        let bytes = n.to_be_bytes();
        data[..digits / 2].copy_from_slice(&bytes[16 - digits / 2..]);
        Ok(())
    }
}

fn actions_of(item: &StageItem) -> Vec<&ActionItem> {
    let mut all = Vec::new();
    for part in &item.items {
        if let StagePart::Action(action) = part {
            all.push(action);
        }
    }
    all
}

/// Whether statements send to what the whole of a parameter says; of bits of it the rest may be anything.
fn sends(statements: &[Statement], parameter: &str) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StatementKind::Send(all) => all.iter().any(|expr| {
            matches!(&expr.first.kind, TermKind::Place(place) if expr.rest.is_empty()
                    && place.brackets.is_empty() && place.name.text == parameter)
        }),
        StatementKind::If { then, otherwise, .. } => sends(then, parameter) || sends(otherwise, parameter),
        _ => false,
    })
}
