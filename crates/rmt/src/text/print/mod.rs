//! A unit as text that reads back as the same program.
//!
//! Short forms leave places to the reader: which node a path takes, which containers a key has where, which picks an
//! action has. What comes out is read again, and where it is another program the rows are written as they are.

mod action;
mod names;
mod operand;
mod packet;
mod stage;

use super::error::Diagnostics;
use super::{Unit, lower, parse};
use crate::check::Role;
use crate::pipeline::Memory;
use crate::program::Program;
use crate::target::Target;
use names::Namer;
use sluice_object::Destination;
use std::fmt::Write;

/// Which parts are written in their short form.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Style {
    nodes: bool,
    stages: Vec<StageStyle>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct StageStyle {
    pieces: bool,
    conditions: bool,
    actions: Vec<bool>,
}

/// Lines with their indentation.
#[derive(Debug, Default)]
struct Page {
    text: String,
    depth: usize,
}

impl Page {
    fn line(&mut self, text: impl AsRef<str>) {
        let text = text.as_ref();
        if text.is_empty() {
            self.text.push('\n');
            return;
        }
        // A String takes everything.
        let _ = writeln!(self.text, "{:indent$}{text}", "", indent = 4 * self.depth);
    }

    fn block(&mut self, head: impl AsRef<str>, body: impl FnOnce(&mut Self)) {
        self.line(format!("{} {{", head.as_ref()));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line("}");
    }
}

/// What a page is made from.
struct Printer<'u> {
    unit: &'u Unit,
    names: Namer<'u>,
    target: &'static sluice_formats::Target,
    style: Style,
}

/// The unit as text.
///
/// Text that is read from it gives an equal program for every program that the checker lets through, up to stages
/// behind the last one that is there.
pub fn print(unit: &Unit, target: &Target) -> String {
    let stages = unit.program.stages.iter().map(|s| {
        let actions = s.as_ref().map_or(0, |s| s.actions.len());
        StageStyle { pieces: true, conditions: true, actions: vec![true; actions] }
    });
    let style = Style { nodes: true, stages: stages.collect() };
    let target = target.nic();
    let mut printer = Printer { unit, names: Namer::new(unit), target, style };
    // Each round takes back what was wrong: what acts on another part comes first.
    for _ in 0..3 {
        let text = printer.page();
        let before = printer.style.clone();
        printer.style.correct(&reread(&text, target), &unit.program);
        if printer.style == before {
            return text;
        }
    }
    printer.style.rows();
    printer.page()
}

/// The program that a text gives, whatever is wrong with it.
fn reread(text: &str, target: &'static sluice_formats::Target) -> Program {
    let mut notes = Diagnostics::unbounded();
    let tree = parse::file(text, &mut notes);
    lower::lower(&tree, text, target, &mut notes).0.program
}

impl Style {
    fn correct(&mut self, found: &Program, wanted: &Program) {
        self.nodes &= found.parser == wanted.parser;
        for (number, style) in self.stages.iter_mut().enumerate() {
            let stage = |p: &Program| p.stages.get(number).cloned().flatten();
            let (Some(found), Some(wanted)) = (stage(found), stage(wanted)) else { continue };
            style.pieces &= found.key.pieces == wanted.key.pieces && found.key.mask == wanted.key.mask;
            style.conditions &= found.key.predicates == wanted.key.predicates && found.key.truth == wanted.key.truth;
            for (i, short) in style.actions.iter_mut().enumerate() {
                *short &= found.actions.get(i) == wanted.actions.get(i);
            }
        }
    }

    fn rows(&mut self) {
        self.nodes = false;
        for stage in &mut self.stages {
            *stage = StageStyle { actions: vec![false; stage.actions.len()], ..StageStyle::default() };
        }
    }
}

impl Printer<'_> {
    fn page(&self) -> String {
        let mut page = Page::default();
        let unit = self.unit;
        let kind = if unit.role == Role::System { "system" } else { "module" };
        page.line(format!("{kind} {}", self.names.module));
        self.declarations(&mut page);
        self.parser(&mut page);
        for (number, stage) in unit.program.stages.iter().enumerate() {
            if let Some(stage) = stage {
                page.line("");
                self.stage(&mut page, number, stage);
            }
        }
        self.deparser(&mut page);
        page.text
    }

    fn declarations(&self, page: &mut Page) {
        let unit = self.unit;
        if !self.names.headers.is_empty() {
            page.line("");
            let all: Vec<String> = self.names.headers.iter().map(|(name, n)| format!("{name} = {n}")).collect();
            page.line(format!("header {}", all.join(", ")));
        }
        if !self.names.containers.is_empty() {
            page.line("");
        }
        let mut order: Vec<u8> = Vec::new();
        for (_, bits) in &self.names.containers {
            if !order.contains(&bits.container.0) {
                order.push(bits.container.0);
            }
        }
        for n in order {
            let all = self.names.containers.iter().filter(|c| c.1.container.0 == n);
            let all: Vec<String> = all.map(|(name, bits)| format!("{name} = {}", operand::plain(*bits))).collect();
            for some in all.chunks(3) {
                page.line(format!("container {}", some.join(", ")));
            }
        }
        if !unit.shared.is_empty() {
            let all: Vec<&str> = unit.shared.keys().map(String::as_str).collect();
            page.line(format!("share {}", all.join(", ")));
        }
        for (&number, group) in &unit.groups {
            page.line("");
            page.block(format!("group {} = {number}", self.names.group(number)), |page| {
                for bit in (0..8).filter(|b| group.destinations >> b & 1 == 1) {
                    let Some(destination) = Destination::from_number(bit, self.target) else { continue };
                    match group.tags[usize::from(bit)] {
                        0 => page.line(destination.to_string()),
                        tag => page.line(format!("{destination} tag {tag}")),
                    }
                }
            });
        }
        if unit.memory == Memory::Keep {
            page.line("");
            page.line("state keep");
        }
        if unit.program.parser.port_numbers {
            page.line("");
            page.line("port_numbers");
        }
        let demands = &unit.demands;
        if demands.quantum != 0 || demands.rate.is_some() || !demands.queues.is_empty() {
            page.line("");
            page.block("demands", |page| {
                if demands.quantum != 0 {
                    page.line(format!("quantum {}", demands.quantum));
                }
                if let Some(rate) = &demands.rate {
                    page.line(format!("rate {} burst {}", rate.bits_per_second, rate.burst_bytes));
                }
                for (destination, cells) in &demands.queues {
                    page.line(format!("queue {destination} {cells}"));
                }
            });
        }
    }
}
