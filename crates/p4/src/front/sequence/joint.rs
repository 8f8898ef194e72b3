//! Two parsers side by side: a step of both, or of the one that is not at its end yet.

use super::deparse::{Made, place};
use super::flow::{Flow, Next, Step, To};
use super::names::Taken;
use super::part::{PARSER, Part};
use super::rewrite::Rewrite;
use super::same::{Same, extracted, root};
use super::select::{self, Choice, Side};
use super::{Conflict, Joined};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    At, Expr, ExprKind, Name, Number, SelectCase, State, Statement, StatementKind, Transition,
};
use crate::front::syntax::change::Change;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Most states of the parser of a sequence.
const MOST_STATES: usize = 4_096;
/// The state that ends with the error of a select without a case.
pub(super) const NO_MATCH: &str = "no_match";

/// A header of both programs that one of them does not extract on some way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Missed {
    /// Which program: 0 or 1.
    pub by: usize,
    /// The header's field.
    pub field: Rc<str>,
}

impl Missed {
    /// The field of the metadata that says so.
    pub fn flag(&self, parts: [&Part; 2]) -> Rc<str> {
        format!("{}_misses_{}", parts[self.by].name, self.field).into()
    }
}

/// A state of both, in the words of the programs that its parts are from.
struct Both {
    name: Name,
    /// What takes bytes, of which program, and whether the other one has ended.
    mover: Option<(usize, Statement, bool)>,
    body: Vec<(usize, Statement)>,
    choice: Choice,
    /// Where the cases lead.
    names: Vec<Rc<str>>,
}

/// What is found while both parsers are followed.
pub(super) struct Joint<'a> {
    parts: [&'a Part; 2],
    flows: &'a [Flow; 2],
    /// Headers that are one; complete at the end.
    pub same: Same,
    /// States by the steps of both.
    names: HashMap<(To, To), Rc<str>>,
    left: Vec<(To, To)>,
    taken: Taken,
    states: Vec<Both>,
}

impl<'a> Joint<'a> {
    /// Follows both from their beginning.
    pub fn of(parts: [&'a Part; 2], flows: &'a [Flow; 2]) -> Joined<Joint<'a>> {
        let (same, names, left) = (Same::default(), HashMap::new(), Vec::new());
        let mut joint = Joint { parts, flows, same, names, left, taken: Taken::default(), states: Vec::new() };
        ["accept", "reject", NO_MATCH].iter().for_each(|word| drop(joint.taken.fresh(word)));
        let (start, at) = (joint.taken.fresh("start"), (flows[0].start, flows[1].start));
        joint.names.insert(at, start);
        joint.left.push(at);
        while let Some(at) = joint.left.pop() {
            if joint.names.len() > MOST_STATES {
                let span = parts[1].blocks[PARSER].block.name.span;
                return Err(Conflict::new(span, format!("both parsers have more than {MOST_STATES} states together")));
            }
            let state = joint.state(at)?;
            joint.states.push(state);
        }
        let alone = |state: &Both| match &state.mover {
            Some((1, mover, true)) => root(extracted(mover)?, parts[1]),
            _ => None,
        };
        let alone: Vec<Rc<str>> = joint.states.iter().filter_map(alone).collect();
        joint.same.first_misses = alone.iter().any(|field| joint.same.fields.contains_key(field));
        Ok(joint)
    }

    fn step(&self, which: usize, to: To) -> Option<&'a Step> {
        match to {
            To::Step(at) => Some(&self.flows[which].steps[at]),
            _ => None,
        }
    }

    /// Name of the state for two steps; it is looked at later.
    fn name(&mut self, to: (To, To)) -> Rc<str> {
        let word = match (self.step(0, to.0), self.step(1, to.1)) {
            (None, None) => {
                return match to {
                    (To::Accept, To::Accept) => "accept",
                    (To::NoMatch, _) | (_, To::NoMatch) => NO_MATCH,
                    _ => "reject",
                }
                .into();
            }
            (Some(a), Some(b)) if a.name != b.name => format!("{}_{}", a.name, b.name),
            (Some(step), _) | (None, Some(step)) => step.name.to_string(),
        };
        if let Some(name) = self.names.get(&to) {
            return name.clone();
        }
        let name = self.taken.fresh(&word);
        self.names.insert(to, name.clone());
        self.left.push(to);
        name
    }

    /// One state: bytes that both take are taken once; who takes none goes first.
    fn state(&mut self, at: (To, To)) -> Joined<Both> {
        let (a, b) = (self.step(0, at.0), self.step(1, at.1));
        let goes = |own: Option<&Step>, other: Option<&Step>| match (own, other) {
            (None, _) => false,
            (Some(own), Some(other)) => own.mover.is_none() || other.mover.is_some(),
            (Some(_), None) => true,
        };
        let (first, second) = (a.filter(|_| goes(a, b)), b.filter(|_| goes(b, a)));
        let movers = (first.and_then(|step| step.mover.as_ref()), second.and_then(|step| step.mover.as_ref()));
        let mover = match movers {
            (Some(one), Some(two)) => {
                self.same.meet((self.parts[0], one), (self.parts[1], two))?;
                Some((0, one.clone(), false))
            }
            (Some(one), None) => Some((0, one.clone(), true)),
            (None, Some(two)) => Some((1, two.clone(), true)),
            (None, None) => None,
        };
        let bodies = [first, second].into_iter().enumerate();
        let bodies = bodies.filter_map(|(which, step)| Some((which, &step?.body)));
        let body = bodies.flat_map(|(which, body)| body.iter().map(move |one| (which, one.clone()))).collect();
        let next = |step: Option<&Step>, to: To| step.map_or(Next::Direct(to), |step| step.next.clone());
        let choice = self.choice(&next(first, at.0), &next(second, at.1))?;
        let names = choice.cases.iter().map(|(_, to)| self.name(*to)).collect();
        let span = first.or(second).map_or(Span::default(), |step| step.span);
        let name = Name { text: self.names[&at].clone(), span };
        Ok(Both { name, mover, body, choice, names })
    }

    fn choice(&self, one: &Next, two: &Next) -> Joined<Choice> {
        let [first, second] = self.parts;
        let plain = |part: &'a Part| move |value: &Expr| self.same.plain(first, part, value);
        let (of_first, of_second) = (plain(first), plain(second));
        let side = |which, part: &'a Part, plain| Side { which, facts: &part.facts, plain };
        select::both((one, side(0, first, &of_first)), (two, side(1, second, &of_second)))
    }

    /// The states as text of one program, and what one of both does not extract somewhere.
    pub fn states(&self, rewrites: &mut [Rewrite; 2]) -> Joined<(Vec<State>, BTreeSet<Missed>)> {
        let mut missed = BTreeSet::new();
        let mut all = Vec::with_capacity(self.states.len());
        for state in &self.states {
            let mut statements = Vec::with_capacity(state.body.len() + 2);
            if let Some((which, mover, is_alone)) = &state.mover {
                let mut own = mover.clone();
                rewrites[*which].statement(&mut own);
                statements.push(own);
                let alone = if *is_alone { self.missed(*which, mover)? } else { None };
                if let Some(of) = alone {
                    statements.push(self.flagged(&of, mover.span)?);
                    missed.insert(of);
                }
            }
            for (which, statement) in &state.body {
                let mut own = statement.clone();
                rewrites[*which].statement(&mut own);
                statements.push(own);
            }
            let mut written = |(which, value): &(usize, Expr)| {
                let mut own = value.clone();
                rewrites[*which].expression(&mut own);
                own
            };
            let transition = transition(&state.choice, &state.names, &mut written);
            all.push(State {
                annotations: Vec::new(),
                name: state.name.clone(),
                statements,
                transition: Some(transition),
            });
        }
        Ok((all, missed))
    }

    /// One program extracts here, and the other has ended: if the header is one of both, this one does not have it.
    fn missed(&self, which: usize, mover: &Statement) -> Joined<Option<Missed>> {
        let [first, second] = self.parts;
        let Some(own) = extracted(mover).and_then(|value| root(value, self.parts[which])) else { return Ok(None) };
        let is = |one: &(&Rc<str>, &(Rc<str>, Span, Span))| if which == 0 { one.1.0 == own } else { *one.0 == own };
        let Some((other, (field, met, other_met))) = self.same.fields.iter().find(is) else { return Ok(None) };
        let (by, part, name) = if which == 0 { (1, second, other) } else { (0, first, field) };
        let is_added = Made::of(part).added.contains(name);
        if part.is_header(name) && !is_added {
            return Ok(Some(Missed { by, field: field.clone() }));
        }
        let what = format!(
            "`{field}` is extracted by one program here, where `{}` has ended, and by both at another place: {}",
            part.name,
            if is_added { "that one adds it, too" } else { "only a header can be, and no stack or union" }
        );
        Err(Conflict::with(mover.span, what, if by == 0 { *met } else { *other_met }))
    }

    /// `META.FLAG = 1`.
    fn flagged(&self, missed: &Missed, span: Span) -> Joined<Statement> {
        let meta = &self.parts[0].blocks[PARSER].parameter(2)?.name.text;
        let one = Number { value: 1.into(), width: None, signed: false };
        let one = Expr { kind: ExprKind::Number(one), at: At { span, ..At::default() } };
        let flag = place(meta, &missed.flag(self.parts), span);
        Ok(Statement { kind: StatementKind::Assign(flag, None, one), span })
    }
}

fn transition(choice: &Choice, names: &[Rc<str>], written: &mut dyn FnMut(&(usize, Expr)) -> Expr) -> Transition {
    let span = choice.span;
    let mut all: Vec<SelectCase> = Vec::with_capacity(choice.cases.len());
    for ((values, _), name) in choice.cases.iter().zip(names) {
        let is_last = values.iter().all(|(_, value)| matches!(value.kind, ExprKind::Any));
        let state = Name { text: name.clone(), span };
        if is_last && all.iter().all(|case| case.state.text == state.text) {
            return Transition::Direct(state);
        }
        all.push(SelectCase { values: values.iter().map(&mut *written).collect(), state });
        if is_last {
            break;
        }
    }
    Transition::Select { keys: choice.keys.iter().map(&mut *written).collect(), cases: all, span }
}
