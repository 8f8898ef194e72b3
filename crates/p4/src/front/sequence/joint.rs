//! Two parsers side by side: a step of both, or of the one that is not at its end yet.

use super::deparse::{Made, place};
use super::flow::{Flow, Next, Step, To};
use super::names::Taken;
use super::part::{PARSER, Part};
use super::rewrite::Rewrite;
use super::same::{Same, extracted, root};
use super::select::{self, Choice};
use super::{Conflict, Joined};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    At, Expr, ExprKind, Fields, Name, Number, SelectCase, State, Statement, StatementKind, Transition,
};
use crate::front::syntax::change::Change;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Most states of the parser of a sequence.
const MOST_STATES: usize = 4_096;

/// What is found while both parsers are followed.
pub(super) struct Joint<'a> {
    parts: [&'a Part; 2],
    flows: [&'a Flow; 2],
    /// Headers that are one; complete at the end.
    pub same: Same,
    /// States by the steps of both.
    names: HashMap<(To, To), Rc<str>>,
    left: Vec<(To, To)>,
    taken: Taken,
    /// Steps of the second are written as the first writes them.
    is_rewritten: bool,
    pub states: Vec<State>,
    /// Headers of both that one program has not seen where the other extracts them.
    pub missed: BTreeSet<Missed>,
    /// Headers that the second extracts where the first has ended.
    alone: BTreeSet<Rc<str>>,
}

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

impl<'a> Joint<'a> {
    /// Follows both from their beginning. The second's steps are its own text; what is one with the first's is found.
    pub fn find(parts: [&'a Part; 2], flows: [&'a Flow; 2]) -> Joined<Same> {
        let Joint { mut same, alone, .. } = Self::follow(parts, flows, Same::default(), false)?;
        same.first_misses = alone.iter().any(|field| same.fields.contains_key(field));
        Ok(same)
    }

    /// The states of both, where the second's steps are written as the first would write them, and what one of them does not extract.
    pub fn states(parts: [&'a Part; 2], flows: [&'a Flow; 2], same: Same) -> Joined<(Vec<State>, BTreeSet<Missed>)> {
        Self::follow(parts, flows, same, true).map(|joint| (joint.states, joint.missed))
    }

    fn follow(parts: [&'a Part; 2], flows: [&'a Flow; 2], same: Same, is_rewritten: bool) -> Joined<Joint<'a>> {
        let (names, left, taken) = (HashMap::new(), Vec::new(), Taken::default());
        let (states, missed, alone) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut joint = Joint { parts, flows, same, names, left, taken, is_rewritten, states, missed, alone };
        ["accept", "reject"].iter().for_each(|word| drop(joint.taken.fresh(word)));
        let start = joint.taken.fresh("start");
        joint.names.insert((flows[0].start, flows[1].start), start);
        joint.left.push((flows[0].start, flows[1].start));
        while let Some(at) = joint.left.pop() {
            if joint.names.len() > MOST_STATES {
                let span = parts[1].blocks[super::part::PARSER].block.name.span;
                return Err(Conflict::new(span, format!("both parsers have more than {MOST_STATES} states together")));
            }
            joint.state(at)?;
        }
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
        match to {
            (To::Accept, To::Accept) => return "accept".into(),
            (To::Accept | To::Reject, To::Accept | To::Reject) => return "reject".into(),
            _ => {}
        }
        if let Some(name) = self.names.get(&to) {
            return name.clone();
        }
        let word = match (self.step(0, to.0), self.step(1, to.1)) {
            (Some(a), Some(b)) if a.name != b.name => format!("{}_{}", a.name, b.name),
            (Some(a), _) => a.name.to_string(),
            (None, Some(b)) => b.name.to_string(),
            (None, None) => unreachable!("both are at their end"),
        };
        let name = self.taken.fresh(&word);
        self.names.insert(to, name.clone());
        self.left.push(to);
        name
    }

    /// One state: bytes that both take are taken once; who takes none goes first.
    fn state(&mut self, at: (To, To)) -> Joined<()> {
        let (a, b) = (self.step(0, at.0), self.step(1, at.1));
        let goes = |own: Option<&Step>, other: Option<&Step>| match (own, other) {
            (None, _) => false,
            (Some(own), Some(other)) => own.mover.is_none() || other.mover.is_some(),
            (Some(_), None) => true,
        };
        let (first, second) = (a.filter(|_| goes(a, b)), b.filter(|_| goes(b, a)));
        let mover = match (first.and_then(|step| step.mover.as_ref()), second.and_then(|step| step.mover.as_ref())) {
            (Some(one), Some(two)) => {
                if !self.is_rewritten {
                    self.same.meet((self.parts[0], one), (self.parts[1], two))?;
                }
                Some(one)
            }
            (one, two) => one.or(two),
        };
        let said = match (
            mover,
            first.is_some_and(|step| step.mover.is_some()),
            second.is_some_and(|step| step.mover.is_some()),
        ) {
            (Some(mover), true, false) => self.missed(1, mover)?,
            (Some(mover), false, true) => self.missed(0, mover)?,
            _ => None,
        };
        let bodies = [first, second].into_iter().flatten().flat_map(|step| &step.body);
        let statements: Vec<Statement> = mover.cloned().into_iter().chain(said).chain(bodies.cloned()).collect();
        let next = |step: Option<&Step>, to: To| step.map_or(Next::Direct(to), |step| step.next.clone());
        let choice = self.choice(&next(first, at.0), &next(second, at.1))?;
        let transition = self.transition(choice);
        let span = first.or(second).map_or(Span::default(), |step| step.span);
        let name = Name { text: self.names[&at].clone(), span };
        self.states.push(State { annotations: Vec::new(), name, statements, transition: Some(transition) });
        Ok(())
    }

    /// One program extracts here, and the other has ended: if the header is one of both, it is said that this one does not have it.
    fn missed(&mut self, by: usize, mover: &Statement) -> Joined<Option<Statement>> {
        let [first, second] = self.parts;
        let Some(value) = extracted(mover) else { return Ok(None) };
        if !self.is_rewritten {
            self.alone.extend((by == 0).then(|| root(value, second)).flatten());
            return Ok(None);
        }
        // The parameter of both is the first's.
        let headers = &first.blocks[PARSER].parameter(1)?.name.text;
        let Some(field) = field_of(value, headers) else { return Ok(None) };
        let Some((other, (_, met, other_met))) = self.same.fields.iter().find(|(_, (own, ..))| *own == field) else {
            return Ok(None);
        };
        let own = if by == 0 { &field } else { other };
        let part = if by == 0 { first } else { second };
        let ty = part.fields().into_iter().find(|(name, _)| name == own).map(|(_, ty)| ty);
        let is_header = ty.is_some_and(|ty| part.facts.fields(&ty).is_some_and(|(kind, _)| kind == Fields::Header));
        if !is_header || Made::of(part).added.contains(own) {
            let what = format!(
                "`{field}` is extracted by one program here, where `{}` has ended, and by both at another place: {}",
                part.name,
                if is_header { "that one adds it, too" } else { "only a header can be, and no stack or union" }
            );
            return Err(Conflict::with(mover.span, what, if by == 0 { *met } else { *other_met }));
        }
        let missed = Missed { by, field };
        let meta = &first.blocks[PARSER].parameter(2)?.name.text;
        let flag = place(meta, &missed.flag(self.parts), mover.span);
        self.missed.insert(missed);
        let one = Number { value: 1.into(), width: None, signed: false };
        let one = Expr { kind: ExprKind::Number(one), at: At { span: mover.span, ..At::default() } };
        Ok(Some(Statement { kind: StatementKind::Assign(flag, None, one), span: mover.span }))
    }

    fn choice(&mut self, one: &Next, two: &Next) -> Joined<Choice> {
        let [first, second] = self.parts;
        let (same, is_rewritten) = (&self.same, self.is_rewritten);
        select::both((one, &first.facts), (two, &second.facts), &mut |key: &Expr| {
            let mut seen = key.clone();
            if !is_rewritten {
                Rewrite::parser(same, first, second).expression(&mut seen);
            }
            seen
        })
    }

    fn transition(&mut self, choice: Choice) -> Transition {
        let Choice { keys, cases, span } = choice;
        let is_any = |values: &[Expr]| values.iter().all(|value| matches!(value.kind, ExprKind::Any));
        let mut all: Vec<SelectCase> = Vec::with_capacity(cases.len());
        for (values, to) in cases {
            let last = is_any(&values);
            let state = Name { text: self.name(to), span };
            if last && all.iter().all(|case| case.state.text == state.text) {
                return Transition::Direct(state);
            }
            all.push(SelectCase { values, state });
            if last {
                break;
            }
        }
        Transition::Select { keys, cases: all, span }
    }
}

/// The field of a parameter that a value is, or a part of.
fn field_of(value: &Expr, parameter: &Rc<str>) -> Option<Rc<str>> {
    match &value.kind {
        ExprKind::Member(owner, member) => match &owner.kind {
            ExprKind::Name { name, .. } if name.text == *parameter => Some(member.text.clone()),
            _ => field_of(owner, parameter),
        },
        ExprKind::Index(owner, _) => field_of(owner, parameter),
        _ => None,
    }
}
