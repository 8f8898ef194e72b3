//! The order in which headers of two programs leave.

use super::flow::Flow;
use super::part::{DEPARSER, Part};
use super::rewrite::{Rewrite, named};
use super::same::{Same, given, root};
use super::{Conflict, Joined};
use crate::front::check::Type;
use crate::front::source::Span;
use crate::front::syntax::ast::{Argument, At, Expr, ExprKind, Fields, Name, Statement, StatementKind};
use crate::front::syntax::change::Change;
use crate::front::warn::walk;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

/// A header that leaves.
#[derive(Clone)]
struct Emit {
    value: Expr,
    /// Its field in the program's own headers.
    field: Option<Rc<str>>,
    statement: Statement,
}

/// What a program does with its headers beside changing them.
#[derive(Default)]
pub(super) struct Made {
    pub extracted: BTreeSet<Rc<str>>,
    pub added: BTreeSet<Rc<str>>,
}

/// Statements that emit the headers of both, as the first program's deparser would have them.
pub(super) fn merged(
    first: &Part,
    second: &Part,
    flows: &[Flow; 2],
    (same, rewrite): (&Same, &mut Rewrite),
) -> Joined<Vec<Statement>> {
    let (one, mut two) = (emits(first)?, emits(second)?);
    all_whole(&one, &two, same)?;
    rewrite.parameters(first, second, DEPARSER, &[0, 1]);
    for emit in &mut two {
        rewrite.expression(&mut emit.value);
        rewrite.statement(&mut emit.statement);
    }
    let parts = one.iter().flat_map(|emit| two.iter().map(move |other| (emit, other)));
    let is_part =
        |(a, b): &(&Emit, &Emit)| a.value != b.value && (is_in(&a.value, &b.value) || is_in(&b.value, &a.value));
    if let Some((emit, other)) = parts.into_iter().find(is_part) {
        let what = "what one program emits in parts and the other as a whole";
        return Err(Conflict::with(other.statement.span, what, emit.statement.span));
    }
    // All headers, and which of them each program emits, in its order.
    let mut all = one.clone();
    let of_one: Vec<usize> = (0..one.len()).collect();
    let mut of_two = Vec::with_capacity(two.len());
    for emit in &two {
        of_two.push(all.iter().position(|other| other.value == emit.value).unwrap_or_else(|| {
            all.push(emit.clone());
            all.len() - 1
        }));
    }
    let (made_one, made_two) = (Made::of(first), Made::of(second));
    let mut before = ordered(&of_one, &one, &made_one, &together(first, &flows[0]));
    before.extend(ordered(&of_two, &two, &made_two, &together(second, &flows[1])));
    added(&one, (&of_two, &two), (&made_one, &made_two), &mut before)?;
    let mut left: Vec<usize> = (0..all.len()).collect();
    let mut order = Vec::with_capacity(all.len());
    while !left.is_empty() {
        let is_free = |at: &usize| !left.iter().any(|other| before.contains(&(*other, *at)));
        let Some(next) = left.iter().copied().find(is_free) else {
            // Two of them are in one order here and in the other there.
            let pairs = left.iter().flat_map(|a| left.iter().map(move |b| (*a, *b)));
            let place = |order: &[usize], at: usize| order.iter().position(|own| *own == at);
            let turned = |(a, b): &(usize, usize)| {
                let earlier = |order: &[usize], a, b| place(order, a).zip(place(order, b)).is_some_and(|(a, b)| a < b);
                earlier(&of_one, *a, *b) && earlier(&of_two, *b, *a)
            };
            let (a, b) = pairs.clone().find(turned).unwrap_or((left[0], left[left.len() - 1]));
            let span = place(&of_two, b).map_or(all[b].statement.span, |at| two[at].statement.span);
            let what = "headers that the other program emits in another order";
            return Err(Conflict::with(span, what, all[a].statement.span));
        };
        left.retain(|at| *at != next);
        order.push(all[next].statement.clone());
    }
    Ok(order)
}

/// Headers of one program that have an order: those that a packet may have both, and those that it adds.
fn ordered(
    places: &[usize],
    emits: &[Emit],
    made: &Made,
    together: &HashSet<(Rc<str>, Rc<str>)>,
) -> HashSet<(usize, usize)> {
    let is_added = |emit: &Emit| emit.field.as_ref().is_none_or(|field| made.added.contains(field));
    let pairs = (0..emits.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let matter = |(earlier, later): &(usize, usize)| {
        let (a, b) = (&emits[*earlier], &emits[*later]);
        let both = a.field.clone().zip(b.field.clone());
        is_added(a)
            || is_added(b)
            || both.is_none_or(|(a, b)| together.contains(&(a.clone(), b.clone())) || together.contains(&(b, a)))
    };
    pairs.filter(matter).map(|(earlier, later)| (places[earlier], places[later])).collect()
}

/// What a program adds comes right after the header before it, and what the second adds before what the first has added.
fn added(
    one: &[Emit],
    (places, two): (&[usize], &[Emit]),
    (first, second): (&Made, &Made),
    before: &mut HashSet<(usize, usize)>,
) -> Joined<()> {
    let has = |set: &BTreeSet<Rc<str>>, emit: &Emit| emit.field.as_ref().is_some_and(|field| set.contains(field));
    // The last header of both before one of a program's own.
    let anchor = |order: &[usize], at: usize, is_both: &dyn Fn(usize) -> bool| {
        order[..at].iter().rev().copied().find(|place| is_both(*place))
    };
    let of_one: Vec<usize> = (0..one.len()).collect();
    let in_two = |place: usize| places.contains(&place);
    let in_one = |place: usize| place < one.len();
    for (x, own) in one.iter().enumerate().filter(|(x, _)| !in_two(*x)) {
        for (y, other) in two.iter().enumerate().filter(|(y, _)| !in_one(places[*y])) {
            if anchor(&of_one, x, &in_two) != anchor(places, y, &in_one) {
                continue;
            }
            let (is_extracted, is_added) = (has(&second.extracted, other), has(&second.added, other));
            match (has(&first.added, own), is_added, is_extracted) {
                (true, true, true) => {
                    let what = "a header that may have to leave before or after one that the other program adds";
                    return Err(Conflict::with(other.statement.span, what, own.statement.span));
                }
                (_, true, _) => drop(before.insert((places[y], x))),
                (true, false, _) => drop(before.insert((x, places[y]))),
                (false, false, _) => {}
            }
        }
    }
    Ok(())
}

/// Headers that a program may extract from one packet, the earlier one first.
fn together(part: &Part, flow: &Flow) -> HashSet<(Rc<str>, Rc<str>)> {
    let (extracted, before) = flow.extracted(part);
    let pair = |(at, field): (usize, &Option<Rc<str>>)| {
        let field = field.clone()?;
        Some(before[at].iter().map(move |earlier| (earlier.clone(), field.clone())).collect::<Vec<_>>())
    };
    extracted.iter().enumerate().filter_map(pair).flatten().collect()
}

/// Refuses headers that only one of both emits, or that one emits in parts or twice: what a packet loses or has twice by that is lost and doubled once.
fn all_whole(one: &[Emit], two: &[Emit], same: &Same) -> Joined<()> {
    for (emits, word) in [(one, "the first"), (two, "the second")] {
        for (at, emit) in emits.iter().enumerate() {
            let again =
                emits[..at].iter().find(|other| is_in(&other.value, &emit.value) || is_in(&emit.value, &other.value));
            if let Some(again) = again {
                let what = format!("a header that {word} program emits before, too");
                return Err(Conflict::with(emit.statement.span, what, again.statement.span));
            }
        }
    }
    let find = |emits: &[Emit], field: &Rc<str>| {
        emits.iter().find(|emit| emit.field.as_ref() == Some(field)).map(|emit| emit.statement.span)
    };
    for (other, (field, met, other_met)) in &same.fields {
        match (find(one, field), find(two, other)) {
            (Some(span), None) => {
                let what = format!("`{other}` is extracted here and not emitted, and the other program emits it");
                return Err(Conflict::with(*other_met, what, span));
            }
            (None, Some(span)) => {
                let what = format!(
                    "`{other}` is emitted, and the other program takes it out of the packet by not emitting it"
                );
                return Err(Conflict::with(span, what, *met));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a value is another one, or a part of it.
fn is_in(value: &Expr, of: &Expr) -> bool {
    value == of
        || match &value.kind {
            ExprKind::Member(owner, _) | ExprKind::Index(owner, _) => is_in(owner, of),
            _ => false,
        }
}

fn emits(part: &Part) -> Joined<Vec<Emit>> {
    let used = &part.blocks[DEPARSER];
    let body = used.body()?;
    if let Some(local) = body.locals.first() {
        return Err(Conflict::new(local.span, "a deparser of a sequence emits headers, and declares nothing"));
    }
    let mut all = Vec::new();
    for statement in &body.apply {
        let Some(value) = given(statement, "emit").and_then(|arguments| Some(&arguments.first()?.value)) else {
            return Err(Conflict::new(statement.span, "a deparser of a sequence emits headers, and does nothing else"));
        };
        let values = match &value.kind {
            ExprKind::List(inner) => inner.iter().collect(),
            _ => vec![value],
        };
        for value in values {
            let is_all = part.is_headers(value);
            let fields = if is_all { part.fields() } else { Vec::new() };
            for (field, _) in fields {
                let own = member(value, &field);
                all.push(Emit { statement: emit(statement, own.clone()), value: own, field: Some(field) });
            }
            let field = root(value, part);
            if !is_all && field.is_none() {
                return Err(Conflict::new(
                    value.at.span,
                    "a deparser of a sequence emits headers of the program's, and nothing else",
                ));
            }
            if !is_all {
                all.push(Emit { statement: emit(statement, value.clone()), value: value.clone(), field });
            }
        }
    }
    Ok(all)
}

/// The same statement with another header.
fn emit(statement: &Statement, value: Expr) -> Statement {
    let mut made = statement.clone();
    if let StatementKind::Call(Expr { kind: ExprKind::Call(_, types, arguments), .. }) = &mut made.kind {
        types.clear();
        *arguments = vec![Argument { name: None, value }];
    }
    made
}

/// `OWNER.FIELD`.
pub(super) fn member(owner: &Expr, field: &Rc<str>) -> Expr {
    let name = Name { text: field.clone(), span: owner.at.span };
    Expr {
        kind: ExprKind::Member(Box::new(owner.clone()), name),
        at: At { id: owner.at.id, ..At { span: owner.at.span, ..At::default() } },
    }
}

impl Made {
    pub fn of(part: &Part) -> Made {
        let (seen, mut made) = (Seen { part }, Made::default());
        for declaration in &part.tree.declarations {
            walk::expressions_of(declaration, &mut |value| {
                let ExprKind::Call(callee, _, arguments) = &value.kind else { return };
                let ExprKind::Member(owner, method) = &callee.kind else { return };
                match (&*method.text, arguments.first()) {
                    ("extract", Some(argument)) => made.extracted.extend(seen.fields(&argument.value)),
                    ("setValid" | "push_front", _) => made.added.extend(seen.fields(owner)),
                    _ => {}
                }
            });
            walk::statements_of(declaration, &mut |statement| {
                if let StatementKind::Assign(left, _, _) = &statement.kind
                    && seen.is_header(left)
                {
                    made.added.extend(seen.fields(left));
                }
            });
        }
        made
    }
}

/// A program's own places.
struct Seen<'a> {
    part: &'a Part,
}

impl Seen<'_> {
    /// Fields that a value may be: its own, or all of its type where it is a parameter or a variable.
    fn fields(&self, value: &Expr) -> Vec<Rc<str>> {
        if let Some(field) = root(value, self.part) {
            return vec![field];
        }
        let ty = &self.part.facts.types[value.at.id as usize];
        let is = |(field, own): (Rc<str>, Type)| match &own {
            Type::Stack(element, _) if **element == *ty => Some(field),
            own if own == ty => Some(field),
            _ => None,
        };
        self.part.fields().into_iter().filter_map(is).collect()
    }

    fn is_header(&self, value: &Expr) -> bool {
        let ty = &self.part.facts.types[value.at.id as usize];
        matches!(ty, Type::Stack(..)) || self.part.facts.fields(ty).is_some_and(|(kind, _)| kind != Fields::Struct)
    }
}

/// A place as a statement has it.
pub(super) fn place(name: &Rc<str>, field: &Rc<str>, span: Span) -> Expr {
    member(&named(name, span), field)
}
