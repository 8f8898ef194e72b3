//! Statements to the ALUs, words and state access of an action row.

use super::Lower;
use super::operands::{Allotment, Need, Slot, Source, bring};
use super::scope::Thing;
use super::stage::Context;
use super::state::StateWork;
use crate::action::{A, Action, Alu, B, Op, When, WordOp, WordSource};
use crate::phv::{Class, Container, Word};
use crate::state::Relation;
use crate::text::ast::*;
use crate::text::error::{Located, Read, TextProblem, bits, operation};
use crate::text::names::{Bits, Parameter};
use sluice_packet::text::Span;

/// An ALU whose operands are not allotted yet.
struct AluWork {
    own: Container,
    op: Op,
    a: Option<(Source, Span)>,
    b: (Source, Span),
    mask: u64,
    when: When,
    span: Span,
}

/// A metadata write likewise.
struct WordWork {
    word: u8,
    source: (Source, Span),
    mask: u16,
    when: When,
    span: Span,
}

/// An action while it is read.
pub(super) struct Work<'a> {
    pub context: &'a Context,
    pub name: &'a str,
    pub parameters: &'a [Parameter],
    alus: Vec<AluWork>,
    words: Vec<WordWork>,
    pub state: Option<(StateWork, Span)>,
    pub raw: Action,
    /// Places of what `raw` holds.
    pub raw_alus: Vec<Span>,
    pub raw_words: Vec<Span>,
    /// Classes whose picks are fixed, and whether the cross value is.
    pub fixed: [bool; 3],
    pub fixed_cross: bool,
}

/// One operand before it is brought to its place.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    pub what: What,
    pub mask: Option<u64>,
    pub inverted: bool,
    pub negated: bool,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Thing(Thing),
    /// Moved up by so many bits.
    Up(Thing, u8),
    /// Moved down: masks fold into the rotator.
    Down(Thing),
    Rotl(Container, u8),
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

    /// What an expression is made of: constants are folded, moved bits masked.
    pub(super) fn factors(&self, expr: &Expr, parameters: &[Parameter]) -> Read<Vec<(BinOp, Factor)>> {
        let mut all: Vec<(BinOp, Factor)> = Vec::new();
        let terms = std::iter::once((BinOp::Add, &expr.first)).chain(expr.rest.iter().map(|(op, t)| (*op, t)));
        for (op, term) in terms {
            let next = self.factor(term, parameters)?;
            let span = expr.span;
            if let Some((_, last)) = all.last_mut() {
                let moved = !matches!(last.what, What::Thing(_)) && last.mask.is_none();
                match (last.what, next.what) {
                    (What::Thing(Thing::Value(a)), What::Thing(Thing::Value(b))) if !next.inverted && !last.negated => {
                        let folded = match op {
                            BinOp::Add => a.checked_add(b),
                            BinOp::Sub => a.checked_sub(b),
                            BinOp::And => Some(a & b),
                            BinOp::Or => Some(a | b),
                            BinOp::Xor => Some(a ^ b),
                        };
                        let wrong =
                            || crate::text::error::value(span, "the value", "below 0 or above 128 bits", "one between");
                        last.what = What::Thing(Thing::Value(folded.ok_or_else(wrong)?));
                        continue;
                    }
                    (_, What::Thing(Thing::Value(m))) if moved && op == BinOp::And && !next.inverted => {
                        last.mask = Some(u64::try_from(m).unwrap_or(u64::MAX));
                        last.span = span;
                        continue;
                    }
                    _ => {}
                }
            }
            all.push((op, next));
        }
        if all.len() > 2 {
            return Err(operation(expr.span, "more than one operation", "one in a statement"));
        }
        Ok(all)
    }

    fn factor(&self, term: &Term, parameters: &[Parameter]) -> Read<Factor> {
        let plain = |what| Factor { what, mask: None, inverted: term.inverted, negated: term.negated, span: term.span };
        let mut factor = match &term.kind {
            TermKind::Number(n, _) => plain(What::Thing(Thing::Value(*n))),
            TermKind::Place(p) => plain(What::Thing(self.scope.thing(p, parameters)?)),
            TermKind::Group(inner) => {
                let mut factors = self.factors(inner, parameters)?;
                match (factors.len(), factors.pop()) {
                    (1, Some((_, f))) if !(f.inverted || f.negated) => {
                        Factor { inverted: term.inverted, negated: term.negated, span: term.span, ..f }
                    }
                    _ => {
                        return Err(operation(
                            inner.span,
                            "an operation in parentheses",
                            "one operation in a statement",
                        ));
                    }
                }
            }
            TermKind::Call(name, arguments) if name.text == "rotl" && arguments.len() == 2 => {
                let factors = self.factors(&arguments[0], parameters)?;
                let [(_, Factor { what: What::Thing(Thing::Bits(b)), inverted: false, negated: false, .. })] =
                    &factors[..]
                else {
                    return Err(operation(arguments[0].span, self.scope.shown(arguments[0].span), "a whole container"));
                };
                if !b.is_whole() {
                    return Err(bits(arguments[0].span, "bits of a container are rotated", "a whole container"));
                }
                let most = u128::from(b.container.class().bits()) - 1;
                let amount = self.scope.number(&arguments[1], "the amount", 0, most)?;
                plain(What::Rotl(b.container, amount as u8))
            }
            TermKind::Call(name, _) => {
                return Err(operation(
                    term.span,
                    format!("`{}` here", name.text),
                    "`d = min(d, a)`, `d = max(d, a)` or `rotl(a, 4)`",
                ));
            }
        };
        let Some((shift, amount)) = &term.shift else { return Ok(factor) };
        let amount = self.scope.number(amount, "the shift", 0, 127)? as u8;
        let wrong = || operation(term.span, self.scope.shown(term.span), "bits moved once, by less than there are");
        factor.what = match (factor.what, shift) {
            (What::Thing(Thing::Value(v)), Shift::Right) => What::Thing(Thing::Value(v >> amount)),
            (What::Thing(Thing::Value(v)), Shift::Left) if v.leading_zeros() >= amount.into() => {
                What::Thing(Thing::Value(v << amount))
            }
            (What::Thing(t), Shift::Right) if amount < t.width() => What::Down(t.slice(amount, t.width() - amount)),
            (What::Thing(t @ Thing::Bits(b)), Shift::Left) if u32::from(amount) < b.container.class().bits() => {
                What::Up(t, amount)
            }
            _ => return Err(wrong()),
        };
        Ok(factor)
    }

    /// The factor in its place.
    pub(super) fn source(&self, factor: &Factor, slot: Slot) -> Read<Source> {
        let shown = self.scope.shown(factor.span);
        if factor.negated {
            return Err(operation(factor.span, "a sign before an operand", "`d = a - b`"));
        }
        let within = |b: Bits, up: u8| -> Read<Source> {
            if b.container.class() != slot.class {
                return Err(bits(
                    factor.span,
                    format!("bits of {shown} are moved"),
                    "a container of the same size, or no `<<` and no mask",
                ));
            }
            if up >= slot.width {
                return Err(bits(
                    factor.span,
                    format!("{shown} is moved beyond what is written"),
                    format!("{} bits", slot.width),
                ));
            }
            let size = slot.class.bits() as u8;
            // What is moved above the bits written is lost.
            let kept = ((1u64 << b.width.min(slot.width - up)) - 1) << up;
            let mask = (kept & factor.mask.unwrap_or(u64::MAX)) << slot.lo;
            Ok(Source::Rotated(b.container, (size + slot.lo + up - b.lo) % size, mask))
        };
        match (factor.what, factor.mask) {
            (What::Thing(t) | What::Down(t), None) => bring(t, slot, factor.span, &shown),
            (What::Down(Thing::Bits(b)), Some(_)) => {
                let width = b.width.min(64 - factor.mask.unwrap_or(0).leading_zeros() as u8);
                within(Bits { width: width.max(1), ..b }, 0)
            }
            (What::Up(Thing::Bits(b), up), _) => within(b, up),
            (What::Rotl(c, amount), mask) => {
                if c.class() != slot.class {
                    return Err(bits(factor.span, format!("{shown} is rotated"), "a container of the same size"));
                }
                let mask = mask.map_or(slot.class.ones(), |m| (m << slot.lo) & slot.mask());
                Ok(Source::Rotated(c, amount, mask))
            }
            _ => Err(operation(factor.span, format!("a mask on {shown}"), "a container whose bits are moved")),
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

    /// The one operand of an expression, in its place.
    pub(super) fn operand(&self, work: &Work, expr: &Expr, slot: Slot) -> Read<Source> {
        match &self.factors(expr, work.parameters)?[..] {
            [(_, f)] if !f.inverted => self.source(f, slot),
            _ => Err(operation(expr.span, "an operation", "one container or value")),
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

    fn second_write(&self, work: &Work, span: Span, what: String, first: Span, allowed: &str) -> Located {
        let (stage, action, line) = (work.context.stage, work.name.to_string(), self.scope.line(first));
        (span, TextProblem::Second { stage, action, what, line, allowed: allowed.to_string() })
    }

    fn send(&mut self, work: &mut Work, all: &[Expr], when: When, span: Span) -> Read<()> {
        let mut mask = 0;
        for expr in all {
            match &self.factors(expr, work.parameters)?[..] {
                [(_, Factor { what: What::Thing(Thing::Value(v)), inverted: false, negated: false, .. })]
                    if *v <= 0xff =>
                {
                    mask |= *v as u64;
                }
                _ if all.len() == 1 => {
                    let source = self.word_source(work, expr, 0, 8)?;
                    return self.word(work, (Word::Egress, 0, 8), (source, expr.span), when, span);
                }
                _ => {
                    return Err(operation(
                        expr.span,
                        self.scope.shown(expr.span),
                        "destinations as in port0, or one parameter alone",
                    ));
                }
            }
        }
        self.word(work, (Word::Egress, 0, 8), (Source::Imm(mask), span), when, span)
    }

    /// Source of a word's bits; a container or parameter gives its low ones.
    fn word_source(&self, work: &Work, value: &Expr, lo: u8, width: u8) -> Read<Source> {
        let slot = Slot { class: Class::C2, lo, width };
        let mut factors = self.factors(value, work.parameters)?;
        let (1, Some((_, factor))) = (factors.len(), factors.pop()) else {
            return Err(operation(value.span, "an operation on a metadata word", "one container, parameter or value"));
        };
        if factor.inverted {
            return Err(operation(value.span, "`~`", "one container, parameter or value"));
        }
        match factor.what {
            What::Thing(t) if lo == 0 && t.width() > width => {
                bring(t.slice(0, width), slot, value.span, &self.scope.shown(value.span))
            }
            _ => self.source(&factor, slot),
        }
    }

    fn word(
        &mut self,
        work: &mut Work,
        (word, lo, width): (Word, u8, u8),
        source: (Source, Span),
        when: When,
        span: Span,
    ) -> Read<()> {
        self.word_bits(work, (word as u8, lo, width), source, when, span)
    }

    fn word_bits(
        &mut self,
        work: &mut Work,
        (word, lo, width): (u8, u8, u8),
        source: (Source, Span),
        when: When,
        span: Span,
    ) -> Read<()> {
        let mask = (((1u32 << width) - 1) << lo) as u16;
        let name = super::scope::WORDS.iter().find(|w| w.1 as u8 == word && w.3 == 16).map_or("the word", |w| w.0);
        let allowed = "an action has one write for each word, values for different bits of it are one";
        let raw = work.raw.words.iter().position(|w| w.word == word).and_then(|i| work.raw_words.get(i).copied());
        if let Some(first) = raw {
            return Err(self.second_write(work, span, format!("`{name}`"), first, allowed));
        }
        if let Some(before) = work.words.iter_mut().find(|w| w.word == word) {
            if let (Source::Imm(x), Source::Imm(y)) = (before.source.0, source.0)
                && before.when == when
                && before.mask & mask == 0
            {
                before.source.0 = Source::Imm(x | y);
                before.mask |= mask;
                return Ok(());
            }
            let first = before.span;
            return Err(self.second_write(work, span, format!("`{name}`"), first, allowed));
        }
        if let Source::Rotated(..) = source.0 {
            let found = format!("bits of {} are moved", self.scope.shown(source.1));
            return Err(bits(source.1, found, "a 2-byte container whose bits are in place: a word has no rotator"));
        }
        work.words.push(WordWork { word, source, mask, when, span });
        Ok(())
    }

    /// Allots the operands and writes the row.
    fn allot(&mut self, work: Work, at: &str) -> Action {
        let mut action = work.raw;
        let mut shared = Allotment::new(self.scope.text, work.context.stage, work.name);
        for class in Class::ALL {
            if work.fixed[class as usize] {
                shared.fix(class, &action.picks[class as usize]);
            }
        }
        for (i, span) in work.raw_alus.iter().enumerate() {
            self.places.put(format!("{at}.alus[{i}]"), *span);
        }
        for (i, span) in work.raw_words.iter().enumerate() {
            self.places.put(format!("{at}.words[{i}]"), *span);
        }
        if work.fixed_cross {
            let _ = shared.cross(action.cross, action.cross_shift, Need { span: Span::default() });
        }
        // Operands that can be in one place only come first, first operands next.
        for alu in &work.alus {
            for (source, span) in alu.a.iter().chain([&alu.b]) {
                let need = Need { span: *span };
                let result = match *source {
                    Source::Cross(from, shift) => shared.cross(from, shift, need),
                    Source::Rotated(c, amount, mask) => shared.rotated(c, amount, mask, need),
                    _ => Ok(()),
                };
                self.notes.ok(result);
            }
        }
        if let Some((state, span)) = &work.state {
            let op = self.state_row(state, &mut shared);
            action.state = self.notes.ok(op);
            self.places.put(format!("{at}.state"), *span);
        }
        for word in &work.words {
            let need = Need { span: word.source.1 };
            let source = match word.source.0 {
                Source::Imm(v) => Ok(WordSource::Imm(v as u16)),
                Source::Pick(c) => match shared.fixed(c, 0, need) {
                    Ok(()) => Ok(WordSource::P0),
                    Err(e) => {
                        shared.cross(crate::action::Cross::Container(c), 0, need).map(|()| WordSource::X).map_err(|_| e)
                    }
                },
                Source::Data(position) => shared.fixed_data(Class::C2, 0, position, need).map(|()| WordSource::Data),
                Source::Cross(from, shift) => shared.cross(from, shift, need).map(|()| WordSource::X),
                Source::Rotated(..) => continue,
            };
            let Some(source) = self.notes.ok(source) else { continue };
            self.places.put(format!("{at}.words[{}]", action.words.len()), word.span);
            action.words.push(WordOp { word: word.word, source, mask: word.mask, when: word.when });
        }
        self.containers(&work.alus, &mut shared);
        let firsts: Vec<Read<A>> = work
            .alus
            .iter()
            .map(|alu| match alu.a {
                None => Ok(A::Own),
                Some((Source::Pick(c), span)) => shared.first(c, Need { span }),
                Some(_) => Ok(A::X),
            })
            .collect();
        for (alu, a) in work.alus.iter().zip(firsts) {
            let need = Need { span: alu.b.1 };
            let b = match alu.b.0 {
                Source::Imm(v) => Ok(B::Imm(v)),
                Source::Pick(c) => shared.second(c, need),
                Source::Rotated(..) => Ok(B::R),
                Source::Data(position) => shared.any_data(alu.own.class(), position, need),
                Source::Cross(..) => Ok(B::X),
            };
            let (Some(a), Some(b)) = (self.notes.ok(a), self.notes.ok(b)) else { continue };
            self.places.put(format!("{at}.alus[{}]", action.alus.len()), alu.span);
            action.alus.push(Alu { own: alu.own, op: alu.op, a, b, mask: alu.mask, when: alu.when });
        }
        (action.picks, action.cross, action.cross_shift) = shared.rows();
        action
    }
}

impl Lower<'_> {
    /// Picks in the order of the containers, so that the order of statements changes nothing: first
    /// operands before second ones, which may be the rotator too.
    fn containers(&mut self, alus: &[AluWork], shared: &mut Allotment) {
        let picked = |s: &(Source, Span)| match s.0 {
            Source::Pick(c) => Some((c, s.1)),
            _ => None,
        };
        let mut firsts: Vec<(Container, Span)> = alus.iter().filter_map(|a| a.a.as_ref().and_then(picked)).collect();
        let mut seconds: Vec<(Container, Span)> = alus.iter().filter_map(|a| picked(&a.b)).collect();
        firsts.sort_by_key(|f| f.0);
        seconds.sort_by_key(|s| s.0);
        for (c, span) in firsts {
            let result = shared.first(c, Need { span });
            self.notes.ok(result);
        }
        for (c, span) in seconds {
            let result = shared.second(c, Need { span });
            self.notes.ok(result);
        }
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
