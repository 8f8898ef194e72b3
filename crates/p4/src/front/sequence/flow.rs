//! A parser as steps, each of which takes bytes of the packet once at most, and does so first.

use super::names::Taken;
use super::part::{PARSER, Part};
use super::rewrite::named;
use super::same::{extracted, given, root};
use super::{Conflict, Joined};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    Body, Declaration, DeclarationKind, Expr, ExprKind, Name, State, Statement, StatementKind, Transition,
};
use crate::front::syntax::change::{self, Change, Role};
use crate::front::warn::walk;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Methods of headers that change nothing.
const READING: [&str; 3] = ["isValid", "minSizeInBits", "minSizeInBytes"];

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum To {
    Step(usize),
    Accept,
    /// With the error that a select without a case for the packet gives.
    NoMatch,
    Reject,
}

#[derive(Clone, Debug)]
pub(super) enum Next {
    Direct(To),
    /// Keys, and for each case a value for each of them, or one for all.
    Select {
        keys: Vec<Expr>,
        cases: Vec<(Vec<Expr>, To)>,
        span: Span,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Of the state that it comes from.
    pub name: Rc<str>,
    /// What takes bytes.
    pub mover: Option<Statement>,
    /// What is done then.
    pub body: Vec<Statement>,
    pub next: Next,
    pub span: Span,
}

/// Headers by their fields.
type Headers = BTreeSet<Rc<str>>;

/// Steps, of which the first is the beginning, and variables of the parser.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub steps: Vec<Step>,
    pub start: To,
    pub locals: Vec<Declaration>,
}

impl Flow {
    /// The parser of a program. Variables of states become the parser's, with names of their own.
    pub fn of(part: &Part, taken: &mut Taken) -> Joined<Flow> {
        let used = &part.blocks[PARSER];
        let (body, packet) = (used.body()?, used.parameter(0)?.name.text.clone());
        if let Some(parameter) = used.block.constructor.iter().flatten().next() {
            let what = "a parser with parameters of its constructor, which a sequence does not have";
            return Err(Conflict::new(parameter.name.span, what));
        }
        let mut locals = body.locals.clone();
        let mut first = HashMap::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut last = Vec::new();
        for state in &body.states {
            let state = hoisted(state, taken, &mut locals);
            first.insert(state.name.text.clone(), steps.len());
            let mut step = Step {
                name: state.name.text.clone(),
                mover: None,
                body: Vec::new(),
                next: Next::Direct(To::Reject),
                span: state.name.span,
            };
            for statement in state.statements {
                if moves(&statement, &packet) {
                    is_plain(part, &statement)?;
                    if step.mover.is_some() || !step.body.is_empty() {
                        let next = Next::Direct(To::Step(steps.len() + 1));
                        let done = std::mem::replace(
                            &mut step,
                            Step {
                                name: state.name.text.clone(),
                                mover: None,
                                body: Vec::new(),
                                next: next.clone(),
                                span: statement.span,
                            },
                        );
                        steps.push(Step { next, ..done });
                    }
                    step.mover = Some(statement);
                } else {
                    writes_own(part, &statement)?;
                    step.body.push(statement);
                }
            }
            last.push((steps.len(), state.transition));
            steps.push(step);
        }
        let to = |name: &Name| match (&*name.text, first.get(&name.text)) {
            ("accept", _) => To::Accept,
            (_, Some(at)) => To::Step(*at),
            _ => To::Reject,
        };
        for (at, transition) in last {
            steps[at].next = match transition {
                None => Next::Direct(To::Reject),
                Some(Transition::Direct(name)) => Next::Direct(to(&name)),
                Some(Transition::Select { keys, cases, span }) => {
                    let cases = cases.into_iter().map(|case| (case.values, to(&case.state))).collect();
                    Next::Select { keys, cases, span }
                }
            };
        }
        let Some(start) = first.get("start") else {
            return Err(Conflict::new(used.block.name.span, format!("parser `{}` without a state `start`", used.name)));
        };
        let start = To::Step(*start);
        let mut flow = Flow { steps, start, locals };
        (0..flow.steps.len()).for_each(|at| flow.draw_near(at));
        flow.once(part)?;
        Ok(flow)
    }

    /// Refuses a header that a packet may have extracted twice: the other program would have one of both.
    fn once(&self, part: &Part) -> Joined<()> {
        let (extracted, before) = self.extracted(part);
        for (at, field) in extracted.iter().enumerate() {
            if let Some(field) = field.as_ref().filter(|field| before[at].contains(*field) && part.is_header(field)) {
                let span = self.steps[at].mover.as_ref().map_or(self.steps[at].span, |mover| mover.span);
                return Err(Conflict::new(span, format!("`{field}` was extracted before on this way")));
            }
        }
        Ok(())
    }

    /// The header that each step extracts, and those that may have been extracted before it.
    pub fn extracted(&self, part: &Part) -> (Vec<Option<Rc<str>>>, Vec<Headers>) {
        let own: Vec<Option<Rc<str>>> =
            self.steps.iter().map(|step| root(extracted(step.mover.as_ref()?)?, part)).collect();
        let mut before: Vec<Headers> = vec![BTreeSet::new(); self.steps.len()];
        let mut left: Vec<usize> = (0..self.steps.len()).collect();
        while let Some(at) = left.pop() {
            let mut then = before[at].clone();
            then.extend(own[at].clone());
            let next: Vec<To> = match &self.steps[at].next {
                Next::Direct(to) => vec![*to],
                Next::Select { cases, .. } => cases.iter().map(|(_, to)| *to).collect(),
            };
            for to in next {
                let To::Step(to) = to else { continue };
                if !then.is_subset(&before[to]) {
                    before[to].extend(then.iter().cloned());
                    left.push(to);
                }
            }
        }
        (own, before)
    }

    /// A step that always leads to one that takes no bytes does what that one does, too.
    fn draw_near(&mut self, at: usize) {
        for _ in 0..self.steps.len() {
            let Next::Direct(To::Step(next)) = self.steps[at].next else { return };
            if next == at || self.steps[next].mover.is_some() {
                return;
            }
            let Step { body, next, .. } = self.steps[next].clone();
            self.steps[at].body.extend(body);
            self.steps[at].next = next;
        }
    }
}

/// Whether a statement takes bytes of the packet, or gives the packet to something that may.
fn moves(statement: &Statement, packet: &Rc<str>) -> bool {
    let is_packet = |value: &Expr| matches!(&value.kind, ExprKind::Name { name, .. } if name.text == *packet);
    let (mut named, mut looked) = (0, 0);
    walk::in_statements(std::slice::from_ref(statement), &mut |value| match &value.kind {
        ExprKind::Member(owner, method) if is_packet(owner) => {
            looked += usize::from(matches!(&*method.text, "lookahead" | "length"));
        }
        _ => named += usize::from(is_packet(value)),
    });
    named > looked
}

/// Takes `extract` of a header and `advance` as they are; what else takes bytes does not show which ones.
fn is_plain(part: &Part, statement: &Statement) -> Joined<()> {
    let is_header = extracted(statement).is_some_and(|value| root(value, part).is_some());
    if is_header || given(statement, "advance").is_some() {
        return Ok(());
    }
    let what = "in a sequence each `extract` of a header and each `advance` is a statement of a state, and nothing else takes bytes of the packet";
    Err(Conflict::new(statement.span, what))
}

/// Refuses a parser that writes what the other programs see: it runs before all of them.
fn writes_own(part: &Part, statement: &Statement) -> Joined<()> {
    let parameters = &part.blocks[PARSER].block.parameters;
    let is_shared = |value: &Expr| {
        let at = parameters.iter().position(|parameter| owner_of_all(value) == Some(&parameter.name.text));
        matches!(at, Some(1 | 3))
    };
    let mut found = None;
    let all = std::slice::from_ref(statement);
    walk::statements(all, &mut |statement| match &statement.kind {
        StatementKind::Assign(left, ..) if is_shared(left) => drop(found.get_or_insert(statement.span)),
        _ => {}
    });
    walk::in_statements(all, &mut |value| {
        let ExprKind::Call(callee, _, arguments) = &value.kind else { return };
        let owner = match &callee.kind {
            ExprKind::Member(owner, method) if !READING.contains(&&*method.text) => Some(&**owner),
            _ => None,
        };
        if arguments.iter().map(|argument| &argument.value).chain(owner).any(is_shared) {
            found.get_or_insert(value.at.span);
        }
    });
    match found {
        Some(span) => Err(Conflict::new(
            span,
            "a parser of a sequence writes its own metadata and variables, for it runs before all programs",
        )),
        None => Ok(()),
    }
}

/// The name that a place is, or is a part of.
fn owner_of_all(value: &Expr) -> Option<&Rc<str>> {
    match &value.kind {
        ExprKind::Name { name, .. } => Some(&name.text),
        ExprKind::Member(owner, _) | ExprKind::Index(owner, _) | ExprKind::Slice(owner, ..) => owner_of_all(owner),
        _ => None,
    }
}

/// Another name for a variable of a state.
struct Rename(HashMap<Rc<str>, Rc<str>>);

impl Change for Rename {
    fn name(&mut self, name: &mut Name, role: Role) {
        if let Some(found) = self.0.get(&name.text).filter(|_| role != Role::Part) {
            name.text = found.clone();
        }
    }
}

/// A state without variables of its own.
fn hoisted(state: &State, taken: &mut Taken, locals: &mut Vec<Declaration>) -> State {
    let mut state = state.clone();
    let mut rename = Rename(HashMap::new());
    for statement in &state.statements {
        let StatementKind::Declaration(declaration) = &statement.kind else { continue };
        if let Some(name) = super::names::declared(declaration) {
            rename.0.insert(name.text.clone(), taken.fresh(&format!("{}_{}", state.name.text, name.text)));
        }
    }
    if rename.0.is_empty() {
        return state;
    }
    change::state(&mut rename, &mut state);
    let mut kept = Vec::with_capacity(state.statements.len());
    for statement in std::mem::take(&mut state.statements) {
        let Statement { kind: StatementKind::Declaration(mut declaration), span } = statement else {
            kept.push(statement);
            continue;
        };
        if let DeclarationKind::Variable { name, value, .. } = &mut declaration.kind
            && let Some(value) = value.take()
        {
            kept.push(Statement { kind: StatementKind::Assign(named(&name.text, name.span), None, value), span });
        }
        locals.push(*declaration);
    }
    state.statements = kept;
    state
}

/// The body of a parser with these states.
pub(super) fn body(locals: Vec<Declaration>, states: Vec<State>, end: Span) -> Body {
    Body { locals, states, apply: Vec::new(), end }
}
