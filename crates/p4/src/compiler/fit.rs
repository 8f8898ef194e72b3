//! What would have to change for a program that does not fit: each thing that is told was tried.

use crate::allowed::Allowed;
use crate::compiler::back::{Wishes, plan};
use crate::compiler::compile::{Compiled, errors};
use crate::compiler::ir::Graph;
use crate::compiler::middle::{NO_ENDS, Refusal, explore, explore_within};
use crate::compiler::ports::Ports;
use crate::compiler::traffic::numbered;
use crate::error::{Note, P4Errors, place};
use crate::front::check::Facts;
use crate::front::interpret::code::{Case, Code, St};
use crate::front::interpret::lower;
use crate::front::source::Span;
use crate::{Program, Reference, Undefined};
use sluice_rmt::Target;
use sluice_rmt::target::WIDE;

/// Most ways through the program that are followed for all tries together, which bounds their time.
pub(crate) const MOST_WAYS: usize = 6_000;
/// Most tries without a statement.
const MOST_TRIES: usize = 40;
/// Most statements that are told.
const MOST_TOLD: usize = 3;

/// What is tried, and what for.
pub(crate) struct Tries<'p> {
    pub(crate) program: &'p Program,
    pub(crate) code: &'p Code,
    entries: Reference,
    /// Ways that may still be followed.
    pub(crate) left: usize,
    /// Those for each flag that is tried.
    pub(crate) each: usize,
}

impl Program {
    /// A refusal of these stages, with what would fit where it is the pipeline's: it has not this (E0750), or too little of it (E0770).
    pub fn with_what_fits(&self, mut errors: P4Errors, target: &Target, (first, last): (usize, usize)) -> P4Errors {
        if let Some(error) = errors.0.first_mut().filter(|error| ["E0750", "E0770"].contains(&error.code())) {
            error.notes.extend(self.would_fit(target, first, last));
        }
        errors
    }

    /// What would fit of a program that does not fit these stages: whether others take it, with which flag that accepts a part it fits, and
    /// which single statements are such that it fits without them, the smallest first. Only what was tried is told.
    pub fn would_fit(&self, target: &Target, first: usize, last: usize) -> Vec<Note> {
        let nothing = Facts::default();
        let Ok(code) = lower(&self.tree, self.facts.as_ref().unwrap_or(&nothing), &self.allowed, true) else {
            return Vec::new();
        };
        // A system program has its own stages, on any target.
        if code.system.is_some() {
            return Vec::new();
        }
        let Ok(entries) = self.reference(Undefined::Zero, 1) else { return Vec::new() };
        let mut notes = Vec::new();
        let mut tries = Tries { program: self, code: &code, entries, left: MOST_WAYS, each: MOST_WAYS };
        let graph = explore(&code);
        // Arrays are placed when all ways were followed.
        let flag = tries.flag(target, (first, last), graph.is_ok());
        let flag = flag.map(|words| Note { place: None, text: format!("with {words} it fits") });
        tries.left = MOST_WAYS;
        // A program that cannot be followed to its end is followed no further on other pipelines.
        let Ok(graph) = graph else { return flag.into_iter().collect() };
        let end = target.stages - 1;
        let mut places = vec![(format!("--stages 0-{end}"), target, (0, end))];
        if target.name != WIDE.name {
            places.push(("--target wide --stages 1-10".to_string(), &WIDE, (1, 10)));
        }
        for (words, target, stages) in places.into_iter().filter(|(.., stages)| *stages != (first, last)) {
            // The ways through the program are the same everywhere.
            let text = match tries.on(graph.clone(), target, stages) {
                Ok(()) => format!("{words} takes it as it is"),
                Err(errors) => format!("{words} does not take it either: {}", errors.0[0].mistake.problem),
            };
            notes.push(Note { place: None, text });
        }
        notes.extend(flag);
        let lines = match tries.placed(Ok(graph), target, (first, last)) {
            Ok(()) => return Vec::new(),
            Err(lines) => lines,
        };
        let mut told = 0;
        for statement in candidates(&code, &lines).into_iter().take(MOST_TRIES) {
            if told == MOST_TOLD || tries.left == 0 {
                break;
            }
            if tries.fits_without(statement, target, (first, last)) {
                let text = "without this statement it fits".to_string();
                notes.push(Note { place: Some(place(statement, &self.sources)), text });
                told += 1;
            }
        }
        notes
    }
}

impl Tries<'_> {
    /// Whether a program fits without a statement.
    fn fits_without(&mut self, statement: Span, target: &Target, stages: (usize, usize)) -> bool {
        let graph = explore_within(self.code, Some(statement), &NO_ENDS, &mut self.left);
        self.placed(graph, target, stages).is_ok()
    }

    /// Whether a program fits if some of it may be had in part.
    pub(crate) fn fits_with(&mut self, allowed: &Allowed, target: &Target, stages: (usize, usize)) -> bool {
        let nothing = Facts::default();
        let Ok(code) = lower(&self.program.tree, self.program.facts.as_ref().unwrap_or(&nothing), allowed, true) else {
            return false;
        };
        let graph = explore_within(&code, None, &NO_ENDS, &mut self.left);
        placed(self.program, &code, &self.entries, graph, target, stages).is_ok()
    }

    /// Whether a graph fits other stages with the program's own entries.
    fn on(&self, mut graph: Graph, target: &Target, stages: (usize, usize)) -> Result<(), P4Errors> {
        let refused = |refusal| errors(refusal, &self.program.sources);
        let ports = numbered(&mut graph, self.code, None).map_err(refused)?;
        let plan = plan(self.code, graph, target, stages, &Wishes::default(), None).map_err(refused)?;
        let compiled = Compiled::new(plan, self.code, self.program.sources.clone(), target, stages, ports);
        compiled.unit(&self.entries).map(drop)
    }

    /// Whether a graph fits; otherwise the lines that say why not.
    fn placed(&self, graph: Result<Graph, Refusal>, target: &Target, stages: (usize, usize)) -> Result<(), Vec<Span>> {
        placed(self.program, self.code, &self.entries, graph, target, stages)
    }
}

fn placed(
    program: &Program,
    code: &Code,
    entries: &Reference,
    graph: Result<Graph, Refusal>,
    target: &Target,
    stages: (usize, usize),
) -> Result<(), Vec<Span>> {
    let plan = graph.and_then(|graph| plan(code, graph, target, stages, &Wishes::default(), None));
    match plan {
        Ok(plan) => {
            let compiled = Compiled::new(plan, code, program.sources.clone(), target, stages, Ports::default());
            compiled.unit(entries).map(drop).map_err(|_| Vec::new())
        }
        Err(refusal) => {
            let notes = refusal.notes.iter().filter_map(|(at, _)| *at);
            Err(std::iter::once(refusal.span).chain(notes).collect())
        }
    }
}

/// Statements in the order in which they are left out: those of the refusal, then smaller ones first.
fn candidates(code: &Code, lines: &[Span]) -> Vec<Span> {
    let mut all = Vec::new();
    let pipeline = code.pipeline;
    for (at, control) in code.controls.iter().enumerate() {
        if ![pipeline.verify, pipeline.compute, pipeline.deparser].contains(&at) {
            each(&control.body, &mut all);
        }
    }
    code.actions.iter().for_each(|action| {
        each(&action.body, &mut all);
    });
    let named = |span: &Span| !lines.iter().any(|line| line.is_at(*span));
    all.sort_by_key(|(span, size)| (named(span), *size, span.text, span.start));
    // An action of two tables has one text.
    all.dedup_by(|a, b| a.0.is_at(b.0));
    all.into_iter().map(|(span, _)| span).collect()
}

/// Statements of a list and of those in it, with how many each is; and how many all are.
fn each(list: &[St], all: &mut Vec<(Span, usize)>) -> usize {
    let mut count = 0;
    let mut here = None;
    for statement in list {
        let within = match statement {
            St::Here(span) => {
                here = Some(*span);
                continue;
            }
            St::If(_, yes, no) => 1 + each(yes, all) + each(no, all),
            St::Block(inner) | St::Program(inner) => each(inner, all),
            St::Switch(_, cases) => 1 + cases.iter().map(|Case { body, .. }| each(body, all)).sum::<usize>(),
            St::For { body, .. } | St::ForRange { body, .. } | St::ForEach { body, .. } => 1 + each(body, all),
            St::Assign(..) | St::Update(..) | St::Evaluate(_) => 1,
            // Without these other statements would mean something else.
            _ => {
                here = None;
                continue;
            }
        };
        count += within;
        if let Some(span) = here.take() {
            all.push((span, within));
        }
    }
    count
}
