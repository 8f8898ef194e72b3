//! Entries of tables come, change and go.

use super::command::{ActionCall, Command, CommandKind, Pair, Word};
use super::error::StfProblem;
use super::line::Wrong;
use super::{Failure, Script, entries, names};
use crate::front::interpret::tables::Row;
use crate::front::interpret::{Entry, EntryRefused, Switch, Value, rank_of};
use crate::front::reference::Reference;
use sluice_packet::mistake::Problem as _;
use sluice_packet::text::{self, Span};

/// Why a table takes no entry more.
pub(super) const FULL: &str = "it is full";

fn state<T>(switch: &Switch, table: usize, why: &str, span: Span) -> Result<T, Wrong> {
    let what = format!("table `{}`", switch.code.tables[table].name);
    Err((span, StfProblem::State { what, why: why.to_string() }))
}

/// The table that a script names.
pub(super) fn table(switch: &Switch, word: &Word) -> Result<usize, Wrong> {
    let tables = &switch.code.tables;
    names::find("table", word, tables.iter().enumerate().map(|(at, table)| (at, table.name.as_str())))
}

fn is_open(switch: &Switch, table: usize, span: Span) -> Result<(), Wrong> {
    if switch.code.tables[table].constant { state(switch, table, "its entries are const", span) } else { Ok(()) }
}

/// An entry that a script adds.
pub(super) fn added(
    switch: &Switch,
    table: usize,
    (priority, keys): (Option<i64>, &[Pair]),
    action: &ActionCall,
) -> Result<Entry, Wrong> {
    is_open(switch, table, action.name.span)?;
    let described = &switch.code.tables[table];
    let entry = entries::entry(priority, keys, action, described, &switch.code)?;
    if described.actions[entry.action].default_only {
        let (what, why) = (format!("action `{}`", action.name.text), "it is marked @defaultonly".to_string());
        return Err((action.name.span, StfProblem::State { what, why }));
    }
    Ok(entry)
}

/// Adds it; what comes back is its handle.
pub(super) fn add(switch: &mut Switch, table: usize, entry: Entry, span: Span) -> Result<u64, Wrong> {
    match switch.machine.tables[table].add(&switch.code.tables[table], entry) {
        Ok(handle) => Ok(handle),
        Err(EntryRefused::Twice) => state(switch, table, "it has an entry with these keys", span),
        Err(EntryRefused::Full) => {
            let there = switch.machine.tables[table].all().len();
            let why = format!("{FULL}: it has {there} entries, as many as its size says");
            state(switch, table, &why, span)
        }
    }
}

/// The index of the entry with these keys, and with the priority if there is one.
pub(super) fn found(
    switch: &Switch,
    table: usize,
    (priority, keys): (Option<i64>, &[Pair]),
    span: Span,
) -> Result<Option<usize>, Wrong> {
    is_open(switch, table, span)?;
    let described = &switch.code.tables[table];
    let matches = entries::matches(keys, described)?;
    let rank = priority.map(|p| rank_of(&described.keys, &matches, entries::rank(Some(p))));
    Ok(switch.machine.tables[table].same(&matches, rank))
}

/// Removes the entry at an index, if there is one.
pub(super) fn remove(switch: &mut Switch, table: usize, row: Option<usize>, span: Span) -> Result<Row, Wrong> {
    is_open(switch, table, span)?;
    match row {
        Some(row) => Ok(switch.machine.tables[table].remove(row)),
        None => state(switch, table, "it has no entry like that", span),
    }
}

/// Sets a default action; the table and the one before come back.
pub(super) fn set_default(
    switch: &mut Switch,
    word: &Word,
    action: &ActionCall,
) -> Result<(usize, (usize, Vec<Value>)), Wrong> {
    let at = table(switch, word)?;
    let described = &switch.code.tables[at];
    if described.default_constant {
        return state(switch, at, "its default action is const", word.span);
    }
    let (action_at, data) = entries::action(action, described, &switch.code)?;
    if described.actions[action_at].table_only {
        let (what, why) = (format!("action `{}`", action.name.text), "it is marked @tableonly".to_string());
        return Err((action.name.span, StfProblem::State { what, why }));
    }
    Ok((at, std::mem::replace(&mut switch.machine.tables[at].default, (action_at, data))))
}

/// What a reference has done with an entry; [`Reference::undo`] takes it back.
#[derive(Debug)]
pub struct EntryChange {
    pub(crate) table: usize,
    pub(crate) changed: Changed,
}

/// How an entry was changed. Places are those in the table's order.
#[derive(Debug)]
pub(crate) enum Changed {
    /// It came to a place.
    Added(usize),
    /// It went from a place.
    Removed(usize, Row),
    /// It stands where it stood, and this was its action.
    Called(usize, (usize, Vec<Value>)),
    /// It stands at a place now, with another rank; this was the entry.
    Moved(usize, Row),
    /// This was the default action.
    Default((usize, Vec<Value>)),
}

impl Script {
    /// Does what a script of [`Script::change`] says. What is refused changes nothing.
    pub fn change_entry(&self, reference: &mut Reference) -> Result<EntryChange, Failure> {
        let switch = &mut reference.switch;
        let done = match &self.commands[..] {
            [Command { kind: CommandKind::Add { table: word, priority, keys, action, .. }, span }] => {
                table(switch, word).and_then(|table| {
                    let entry = added(switch, table, (*priority, keys), action)?;
                    let (matches, rank) = (entry.matches.clone(), entry.rank);
                    add(switch, table, entry, *span)?;
                    let at = switch.machine.tables[table].same(&matches, Some(rank)).unwrap_or_default();
                    Ok(EntryChange { table, changed: Changed::Added(at) })
                })
            }
            [Command { kind: CommandKind::Remove { table: word, priority, keys, id: None }, span }] => {
                table(switch, word).and_then(|table| {
                    let at = found(switch, table, (*priority, keys), *span)?;
                    let row = remove(switch, table, at, *span)?;
                    Ok(EntryChange { table, changed: Changed::Removed(at.unwrap_or_default(), row) })
                })
            }
            [
                Command { kind: CommandKind::Remove { .. }, span },
                Command { kind: CommandKind::Add { table: word, priority, keys, action, .. }, .. },
            ] => table(switch, word).and_then(|table| {
                let Some(at) = found(switch, table, (*priority, keys), *span)? else {
                    return state(switch, table, "it has no entry like that", *span);
                };
                let entry = added(switch, table, (*priority, keys), action)?;
                let rows = &mut switch.machine.tables[table];
                if rows.row(at).entry.rank == entry.rank {
                    let there = &mut rows.row_mut(at).entry;
                    let before = (there.action, std::mem::replace(&mut there.data, entry.data));
                    there.action = entry.action;
                    return Ok(EntryChange { table, changed: Changed::Called(at, before) });
                }
                if rows.same(&entry.matches, Some(entry.rank)).is_some() {
                    return state(switch, table, "it has an entry with these keys", *span);
                }
                let before = rows.remove(at);
                let at = rows.put(Row { entry, ..before.clone() });
                Ok(EntryChange { table, changed: Changed::Moved(at, before) })
            }),
            [Command { kind: CommandKind::SetDefault { table, action }, .. }] => set_default(switch, table, action)
                .map(|(table, before)| EntryChange { table, changed: Changed::Default(before) }),
            _ => {
                let what = "a command of another kind; entries are add, setdefault and remove".to_string();
                return Err(Failure { line: 1, what });
            }
        };
        done.map_err(|(span, problem)| Failure {
            line: text::position(&self.text, span.start).line,
            what: format!("error[{}]: {problem}", problem.code()),
        })
    }
}

impl Reference {
    /// Takes back what was done last with an entry.
    pub fn undo(&mut self, change: EntryChange) {
        let rows = &mut self.switch.machine.tables[change.table];
        match change.changed {
            Changed::Added(at) => drop(rows.remove(at)),
            Changed::Removed(_, row) => drop(rows.put(row)),
            Changed::Called(at, (action, data)) => {
                let there = &mut rows.row_mut(at).entry;
                (there.action, there.data) = (action, data);
            }
            Changed::Moved(at, row) => {
                rows.remove(at);
                rows.put(row);
            }
            Changed::Default(default) => rows.default = default,
        }
    }
}

impl EntryChange {
    /// The action that packets get by it, with its data.
    pub(crate) fn call<'r>(&self, reference: &'r Reference) -> Option<(usize, &'r [Value])> {
        let rows = &reference.switch.machine.tables[self.table];
        match &self.changed {
            Changed::Added(at) | Changed::Called(at, _) | Changed::Moved(at, _) => {
                let entry = &rows.row(*at).entry;
                Some((entry.action, &entry.data[..]))
            }
            Changed::Removed(..) => None,
            Changed::Default(_) => Some((rows.default.0, &rows.default.1[..])),
        }
    }
}
