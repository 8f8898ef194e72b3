//! Statements to the ALUs, words and state access of an action row.

use super::Lower;
use super::operands::{Slot, Source};
use super::scope::Thing;
use super::stage::Context;
use super::state::StateWork;
use super::words::WordWork;
use crate::action::{Action, Op, When};
use crate::phv::{Container, Word};
use crate::state::Relation;
use crate::text::ast::*;
use crate::text::error::{Located, Read, TextProblem, bits, operation, place, value};
use crate::text::names::Parameter;
use sluice_packet::text::Span;

/// An ALU whose operands are not allotted yet.
pub(super) struct AluWork {
    pub own: Container,
    pub op: Op,
    pub a: Option<(Source, Span)>,
    pub b: (Source, Span),
    pub mask: u64,
    pub when: When,
    pub span: Span,
}

/// An action while it is read.
pub(super) struct Work<'a> {
    pub context: &'a Context,
    pub name: &'a str,
    pub parameters: &'a [Parameter],
    pub alus: Vec<AluWork>,
    pub words: Vec<WordWork>,
    pub state: Option<(StateWork, Span)>,
    pub raw: Action,
    /// Places of what `raw` holds.
    pub raw_alus: Vec<Span>,
    pub raw_words: Vec<Span>,
    /// Classes whose picks are fixed, and whether the cross value is.
    pub fixed: [bool; 3],
    pub fixed_cross: bool,
}

impl Lower<'_> {
    pub(super) fn action(
        &mut self,
        context: &Context,
        item: &ActionItem,
        parameters: &[Parameter],
        at: &str,
    ) -> Action {
        let mut work = Work {
            context,
            name: &item.name.text,
            parameters,
            alus: Vec::new(),
            words: Vec::new(),
            state: None,
            raw: Action::default(),
            raw_alus: Vec::new(),
            raw_words: Vec::new(),
            fixed: [false; 3],
            fixed_cross: false,
        };
        let always = |of: fn(&StatementKind) -> bool| item.statements.iter().find(|s| s.guard.is_none() && of(&s.kind));
        let sends = always(|kind| matches!(kind, StatementKind::Send(_) | StatementKind::Group(_)));
        if let (Some(send), Some(_)) = (sends, always(|kind| matches!(kind, StatementKind::Discard))) {
            self.notes.warn(place(send.span, "where to send beside `discard`", "one of both"));
        }
        self.statements(&mut work, &item.statements, When::Always);
        self.allot(work, at)
    }

    fn statements(&mut self, work: &mut Work, all: &[Statement], outer: When) {
        for statement in all {
            if let StatementKind::If { condition, then, otherwise } = &statement.kind {
                let when = self.when(work.context, outer, condition, statement.span);
                let Some(when) = self.notes.ok(when) else { continue };
                self.statements(work, then, when);
                let other = match when {
                    When::If(i) => When::Unless(i),
                    When::Unless(i) => When::If(i),
                    When::Always => When::Always,
                };
                if !otherwise.is_empty() && (outer != When::Always || other == When::Always) {
                    let e = operation(statement.span, "`else` that never or always holds", "one condition");
                    self.notes.push(e);
                    continue;
                }
                self.statements(work, otherwise, other);
                continue;
            }
            let result = self.statement(work, statement, outer);
            self.notes.ok(result);
        }
    }

    fn statement(&mut self, work: &mut Work, statement: &Statement, outer: When) -> Read<()> {
        // A comparison of the guard belongs to the statement, the rest are conditions of the stage.
        let pieces: &[Bool] = match &statement.guard {
            None => &[],
            Some(Bool::All(all)) => all,
            Some(one) => std::slice::from_ref(one),
        };
        let mut when = outer;
        let mut compare = None;
        for piece in pieces {
            match piece {
                Bool::Compare(c) if compare.is_none() => compare = Some(&**c),
                other => when = self.when(work.context, when, other, statement.span)?,
            }
        }
        let span = statement.span;
        if let Some(c) = compare
            && !matches!(&statement.kind, StatementKind::Assign { .. })
        {
            return Err(operation(c.span, "a comparison", "a condition of the stage: only `d = b if a >= b` compares"));
        }
        match &statement.kind {
            StatementKind::Assign { to, op, value, results } => {
                let memory = work.context.memories.iter().find(|m| m.0.name == to.name.text).map(|m| &m.0);
                if let Some(memory) = memory {
                    if let Some(c) = compare {
                        return Err(operation(c.span, "a comparison", "a condition of the stage, or `= if old ...`"));
                    }
                    return self.access(work, memory, to, *op, value.as_deref(), results, (when, span));
                }
                if let Some(place) = results.old.as_ref().or(results.new.as_ref()) {
                    return Err(operation(place.span, "`->` behind a container", "it only behind a memory or a meter"));
                }
                let (Some(op), Some(AssignValue::Expr(value))) = (op, value.as_deref()) else {
                    return Err(operation(
                        span,
                        "a choice by `if ... then`",
                        "it only for a memory; `d = a if c` writes by a condition",
                    ));
                };
                self.assign(work, to, *op, value, compare, (when, span))
            }
            StatementKind::Send(all) => self.send(work, all, when, span),
            StatementKind::Queue(queue) => {
                let queue = self.scope.number(queue, "the queue", 0, 7)?;
                self.word(work, (Word::Egress, 8, 3), (Source::Imm(queue << 8), span), when, span)
            }
            StatementKind::Group(group) => {
                let most = self.scope.target.rmt.groups as u128 - 1;
                if let Ok(number @ 1..) = self.scope.value(group)
                    && number > most
                {
                    return Err(value(group.span, "the group", number, format!("at most {most}")));
                }
                let source = self.word_source(work, group, 0, 16)?;
                self.word(work, (Word::Group, 0, 16), (source, group.span), when, span)
            }
            StatementKind::ExceptIngress => {
                self.word(work, (Word::Egress, 11, 1), (Source::Imm(1 << 11), span), when, span)
            }
            StatementKind::Discard => self.word(work, (Word::Egress, 15, 1), (Source::Imm(1 << 15), span), when, span),
            StatementKind::Headers { valid, headers } => {
                for header in headers {
                    let n = self.scope.header(header)?;
                    let value = if *valid { 1 << n } else { 0 };
                    self.word(work, (Word::Headers, n, 1), (Source::Imm(value), span), when, span)?;
                }
                Ok(())
            }
            StatementKind::If { .. } => Ok(()),
            _ => self.raw(work, &statement.kind, when, span),
        }
    }

    fn assign(
        &mut self,
        work: &mut Work,
        to: &Place,
        op: AssignOp,
        value: &Expr,
        compare: Option<&Compare>,
        (when, span): (When, Span),
    ) -> Read<()> {
        let field = match self.scope.thing(to, work.parameters)? {
            Thing::Bits(b) => b,
            Thing::Word { word, lo, width } => {
                if op != AssignOp::Set || compare.is_some() {
                    return Err(operation(span, "an operation on a metadata word", "`=` and a condition of the stage"));
                }
                let (word, lo) = (word + lo / 16, lo % 16);
                if lo + width > 16 {
                    return Err(bits(
                        to.span,
                        format!("{} is more than a word", self.scope.shown(to.span)),
                        "bits of one word",
                    ));
                }
                let source = self.word_source(work, value, lo, width)?;
                return self.word_bits(work, (word, lo, width), (source, value.span), when, span);
            }
            _ => {
                return Err(operation(
                    to.span,
                    format!("a write of {}", self.scope.shown(to.span)),
                    "a container, a word or a memory",
                ));
            }
        };
        let slot = Slot { class: field.container.class(), lo: field.lo, width: field.width };
        let own = Source::Pick(field.container);
        let alu = |op, a, b| AluWork { own: field.container, op, a, b, mask: field.mask(), when, span };
        if let (TermKind::Call(name, arguments), [], AssignOp::Set, None) =
            (&value.first.kind, &value.rest[..], op, compare)
            && (name.text == "min" || name.text == "max")
        {
            let [left, right] = &arguments[..] else {
                return Err(operation(value.span, format!("{} values", arguments.len()), "two"));
            };
            let (l, r) = (self.operand(work, left, slot)?, self.operand(work, right, slot)?);
            let other = if l == own {
                (r, right.span)
            } else if r == own {
                (l, left.span)
            } else {
                return Err(operation(
                    value.span,
                    format!("{} without what is written", self.scope.shown(value.span)),
                    "`d = min(d, a)`",
                ));
            };
            let op = if name.text == "min" { Op::Ge } else { Op::Lt };
            return self.alu(work, alu(op, None, other));
        }
        let factors = self.factors(value, work.parameters)?;
        if let Some(c) = compare {
            let [(_, f)] = &factors[..] else {
                return Err(operation(value.span, "an operation with a comparison", "`d = b if a >= b`"));
            };
            let b = self.source(f, slot)?;
            let (left, right, row) = match c.relation {
                Relation::Ge => (&c.left, &c.right, Op::Ge),
                Relation::Lt => (&c.left, &c.right, Op::Lt),
                Relation::Le => (&c.right, &c.left, Op::Ge),
                Relation::Gt => (&c.right, &c.left, Op::Lt),
                _ => return Err(operation(c.span, "an equality", "`d = b if a >= b` or `d = b if a < b`")),
            };
            let (a, same) = (self.operand(work, left, slot)?, self.operand(work, right, slot)?);
            if op != AssignOp::Set || same != b {
                return Err(operation(
                    c.span,
                    self.scope.shown(c.span),
                    "a comparison with what is written: `d = b if a >= b`",
                ));
            }
            let a = self.first_operand(a, left.span, own)?;
            return self.alu(work, alu(row, a, (b, f.span)));
        }
        match (op, &factors[..]) {
            (AssignOp::By(by), [(_, f)]) => {
                let op = if f.inverted && by == BinOp::And { Op::AndNot } else { op_row(by) };
                if f.inverted && by != BinOp::And {
                    return Err(operation(f.span, "`~`", "it only behind `&`"));
                }
                self.alu(work, alu(op, None, (self.source(f, slot)?, f.span)))
            }
            (AssignOp::Set, [(_, f)]) => {
                if f.inverted {
                    return Err(operation(f.span, "`~` alone", "`a & ~b`, or `a ^ 0xffff`"));
                }
                self.alu(work, alu(Op::Move, None, (self.source(f, slot)?, f.span)))
            }
            (AssignOp::Set, [(_, f), (by, g)]) => {
                let (mut f, mut g) = (f, g);
                if f.inverted && *by == BinOp::And && !g.inverted {
                    (f, g) = (g, f);
                }
                if f.inverted || g.inverted && *by != BinOp::And {
                    return Err(operation(value.span, "`~` here", "`a & ~b`"));
                }
                let op = if g.inverted { Op::AndNot } else { op_row(*by) };
                let mut a = (self.source(f, slot)?, f.span);
                let mut b = (self.source(g, slot)?, g.span);
                let first = |s: &Source| matches!(s, Source::Pick(_) | Source::Cross(..));
                let commutes = !matches!(op, Op::Sub | Op::AndNot);
                if commutes && (b.0 == own || !first(&a.0)) {
                    std::mem::swap(&mut a, &mut b);
                }
                let a = self.first_operand(a.0, a.1, own)?;
                self.alu(work, alu(op, a, b))
            }
            _ => Err(operation(value.span, "more than one operation", "one in a statement")),
        }
    }

    fn first_operand(&self, source: Source, span: Span, own: Source) -> Read<Option<(Source, Span)>> {
        match source {
            s if s == own => Ok(None),
            Source::Pick(_) | Source::Cross(..) => Ok(Some((source, span))),
            _ => {
                let found = format!("{} as first operand", self.scope.shown(span));
                Err(operation(
                    span,
                    found,
                    "what is written, a container with its bits in place, or one of another size; the others are second operands",
                ))
            }
        }
    }

    fn alu(&mut self, work: &mut Work, alu: AluWork) -> Read<()> {
        let raw = work.raw.alus.iter().position(|a| a.own == alu.own).and_then(|i| work.raw_alus.get(i).copied());
        if let Some(first) = raw {
            return Err(self.second(work, alu.span, alu.own, first));
        }
        let Some(before) = work.alus.iter_mut().find(|a| a.own == alu.own) else {
            work.alus.push(alu);
            return Ok(());
        };
        // Values in different bits are one move.
        if let (Source::Imm(x), Source::Imm(y), Op::Move, Op::Move) = (before.b.0, alu.b.0, before.op, alu.op)
            && before.mask & alu.mask == 0
            && before.when == alu.when
        {
            before.b.0 = Source::Imm(x | y);
            before.mask |= alu.mask;
            return Ok(());
        }
        let first = before.span;
        Err(self.second(work, alu.span, alu.own, first))
    }

    pub(super) fn second(&self, work: &Work, span: Span, container: Container, first: Span) -> Located {
        let class = container.class();
        let what = format!("c{}[{}]", class.bytes(), container.0 % 8);
        self.second_write(work, span, what, first, "an action has one operation for each container")
    }

    pub(super) fn second_write(&self, work: &Work, span: Span, what: String, first: Span, allowed: &str) -> Located {
        let (stage, action, line) = (work.context.stage, work.name.to_string(), self.scope.line(first));
        (span, TextProblem::Second { stage, action, what, line, allowed: allowed.to_string() })
    }
}

fn op_row(op: BinOp) -> Op {
    match op {
        BinOp::Add => Op::Add,
        BinOp::Sub => Op::Sub,
        BinOp::And => Op::And,
        BinOp::Or => Op::Or,
        BinOp::Xor => Op::Xor,
    }
}
