//! The order in which headers of two programs leave.

use super::part::{DEPARSER, Part};
use super::rewrite::{Rewrite, named};
use super::same::root;
use super::{Conflict, Joined};
use crate::front::check::Type;
use crate::front::source::Span;
use crate::front::syntax::ast::{Argument, At, Expr, ExprKind, Fields, Name, Statement, StatementKind};
use crate::front::syntax::change::{self, Change};
use std::collections::BTreeSet;
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
pub(super) fn merged(first: &Part, second: &Part, rewrite: &mut Rewrite) -> Joined<Vec<Statement>> {
    let one = emits(first)?;
    let mut two = emits(second)?;
    rewrite.parameters(first, second, DEPARSER, &[0, 1]);
    for emit in &mut two {
        rewrite.expression(&mut emit.value);
        rewrite.statement(&mut emit.statement);
    }
    let (made_one, made_two) = (Made::of(first), Made::of(second));
    let mut all = Vec::with_capacity(one.len() + two.len());
    let (mut a, mut b) = (0, 0);
    loop {
        // The next header that both emit.
        let both = (b..two.len()).find_map(|at| Some((one.iter().position(|emit| emit.value == two[at].value)?, at)));
        let (end, other_end) = both.unwrap_or((one.len(), two.len()));
        if end < a {
            let what = "headers that the other program emits in another order";
            return Err(Conflict::with(two[other_end].statement.span, what, one[end].statement.span));
        }
        between(&one[a..end], &two[b..other_end], (&made_one, &made_two), &mut all)?;
        let Some((end, other_end)) = both else { break };
        all.push(one[end].statement.clone());
        (a, b) = (end + 1, other_end + 1);
    }
    Ok(all)
}

/// Headers between two that both have. What a program adds comes right after the header before it, and what the second adds before what the first has
/// added; two headers that are only extracted are never there together.
fn between(one: &[Emit], two: &[Emit], (first, second): (&Made, &Made), all: &mut Vec<Statement>) -> Joined<()> {
    let has = |set: &BTreeSet<Rc<str>>, emit: &Emit| emit.field.as_ref().is_some_and(|field| set.contains(field));
    let added = one.iter().find(|emit| has(&first.added, emit));
    let mut behind = Vec::new();
    for emit in two {
        let (is_extracted, is_added) = (has(&second.extracted, emit), has(&second.added, emit));
        let is_behind = added.is_some() && is_extracted && !is_added;
        let undecided = added.filter(|_| is_added && (is_extracted || !behind.is_empty()));
        if let Some(other) = undecided {
            let what = "a header that may have to leave before or after one that the other program adds";
            return Err(Conflict::with(emit.statement.span, what, other.statement.span));
        }
        if is_behind { behind.push(emit.statement.clone()) } else { all.push(emit.statement.clone()) }
    }
    all.extend(one.iter().map(|emit| emit.statement.clone()));
    all.extend(behind);
    Ok(())
}

fn emits(part: &Part) -> Joined<Vec<Emit>> {
    let used = &part.blocks[DEPARSER];
    let body = used.body()?;
    if let Some(local) = body.locals.first() {
        return Err(Conflict::new(local.span, "a deparser of a sequence emits headers, and declares nothing"));
    }
    let mut all = Vec::new();
    for statement in &body.apply {
        let value = emitted(statement);
        let Some(value) = value else {
            return Err(Conflict::new(statement.span, "a deparser of a sequence emits headers, and does nothing else"));
        };
        let is_all = matches!(&part.facts.types[value.at.id as usize], Type::Named(id, _) if *id == part.headers);
        if !is_all {
            all.push(Emit { value: value.clone(), field: root(value, part), statement: statement.clone() });
            continue;
        }
        for (field, _) in part.fields() {
            let own = member(value, &field);
            let statement = emit(statement, own.clone());
            all.push(Emit { value: own, field: Some(field), statement });
        }
    }
    Ok(all)
}

fn emitted(statement: &Statement) -> Option<&Expr> {
    let StatementKind::Call(Expr { kind: ExprKind::Call(callee, _, arguments), .. }) = &statement.kind else {
        return None;
    };
    match &callee.kind {
        ExprKind::Member(_, method) if &*method.text == "emit" => arguments.first().map(|argument| &argument.value),
        _ => None,
    }
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
        let mut seen = Seen { part, made: Made::default() };
        for declaration in &part.tree.declarations {
            change::declaration(&mut seen, &mut declaration.clone());
        }
        seen.made
    }
}

struct Seen<'a> {
    part: &'a Part,
    made: Made,
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

impl Change for Seen<'_> {
    fn expression(&mut self, value: &mut Expr) {
        if let ExprKind::Call(callee, _, arguments) = &value.kind
            && let ExprKind::Member(owner, method) = &callee.kind
        {
            match &*method.text {
                "extract" => {
                    let fields = arguments.first().map(|argument| self.fields(&argument.value));
                    self.made.extracted.extend(fields.unwrap_or_default());
                }
                "setValid" | "push_front" => self.made.added.extend(self.fields(owner)),
                _ => {}
            }
        }
        change::expression(self, value);
    }

    fn statement(&mut self, of: &mut Statement) {
        if let StatementKind::Assign(left, _, _) = &of.kind
            && self.is_header(left)
        {
            self.made.added.extend(self.fields(left));
        }
        change::statement(self, of);
    }
}

/// A place as a statement has it.
pub(super) fn place(name: &Rc<str>, field: &Rc<str>, span: Span) -> Expr {
    member(&named(name, span), field)
}
