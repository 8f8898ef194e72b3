//! What is told of a program beside its rows: where in the source and in a file of entries it is said that packets go to a destination, and
//! where the cells of counters are.

use crate::compiler::back::cells::Place;
use crate::compiler::compile::Compiled;
use crate::compiler::ir::Array;
use crate::error::place;
use crate::front::interpret::{ObjectKind, Value};
use crate::front::stf::Script;
use crate::{Reference, front::source::Span};
use sluice_object::Destination;

impl Compiled {
    /// Destinations that entries and default actions send to, each with the first place that says so: entries of the script of this name
    /// come before those of the program itself.
    pub fn senders(&self, of: &Reference, script: Option<(&str, &Script)>) -> Vec<(Destination, String)> {
        let code = &of.switch.code;
        let mut all: Vec<(Destination, String)> = Vec::new();
        let mut add = |table: usize, action: usize, data: &[Value], at: &dyn Fn() -> String| {
            for to in self.ports.goals_of(table, action, data).filter_map(|port| self.destination(port)) {
                if all.iter().all(|(other, _)| *other != to) {
                    all.push((to, at()));
                }
            }
        };
        let given = script.map_or_else(Vec::new, |(_, script)| script.given(of));
        let file = script.map_or("", |(file, _)| file);
        for one in &given {
            let what = if one.sets_default { "default action" } else { "entry" };
            add(one.table, one.action, &one.data, &|| format!("{what} at {file}:{}", one.line));
        }
        for (at, (table, told)) in code.tables.iter().zip(&code.told.tables).enumerate() {
            let here = |what: &str, span: Span| format!("{what} at {}", place(span, &self.sources));
            for (entry, span) in table.entries.iter().zip(&told.entries) {
                add(at, entry.action, &entry.data, &|| here("entry", *span));
            }
            let is_set = given.iter().any(|one| one.table == at && one.sets_default);
            if let Some(span) = told.default.filter(|_| !is_set) {
                add(at, table.default.0, &table.default.1, &|| here("default action", span));
            }
        }
        all
    }
}

/// Most lines of a kind that a table's report has.
const MOST_LINES: usize = 4;

impl Compiled {
    /// Lines that cost a table rows, in words behind what an entry takes.
    pub(super) fn lines_of(&self, table: usize) -> String {
        let factors = self.plan.factors(table);
        let kinds = [
            (&factors.ways, "packets come to it from"),
            (&factors.decided, "decided in its stage at"),
            (&factors.beside, "its stage also has what is at"),
        ];
        let listed = kinds.into_iter().filter(|(lines, _)| !lines.is_empty()).map(|(lines, words)| {
            let some: Vec<String> = lines.iter().take(MOST_LINES).map(|line| place(*line, &self.sources)).collect();
            let more = if lines.len() > MOST_LINES { ", ..." } else { "" };
            format!("; {words} {}{more}", some.join(", "))
        });
        listed.collect()
    }
}

/// Cells of a counter that the program indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterCells {
    /// Name in the source, with the control's.
    pub name: String,
    /// They count bytes; otherwise packets.
    pub bytes: bool,
    /// The stage that keeps them.
    pub stage: u8,
    /// The first one among the module's words there.
    pub base: u32,
    /// How many.
    pub cells: u32,
}

impl Compiled {
    /// The counters that the program indexes, each with the cells that count packets, bytes, or both.
    pub fn counters(&self, of: &Reference) -> Vec<CounterCells> {
        let objects = &of.switch.code.objects;
        let counter = |(array, place): (&Array, &Place)| {
            let object = &objects[array.object];
            let is_counter = matches!(object.kind, ObjectKind::Counter { direct: false, .. });
            is_counter.then(|| CounterCells {
                name: object.name.clone(),
                bytes: array.part == 1,
                stage: place.stage as u8,
                base: place.base as u32,
                cells: place.cells as u32,
            })
        };
        self.plan.cells.iter().filter_map(counter).collect()
    }
}
