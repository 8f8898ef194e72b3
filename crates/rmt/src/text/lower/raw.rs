//! Statements that say rows as they are.

use super::Lower;
use super::action::Work;
use super::scope::Thing;
use crate::action::{A, Alu, B, Cross, Op, Picks, When, WordOp, WordSource};
use crate::phv::{Class, Container};
use crate::state::{Access, Choice, IndexSource, Operand, StateOp, Update};
use crate::text::ast::*;
use crate::text::error::{Read, TextProblem, operation, place, unknown};
use sluice_packet::text::Span;

/// The place in a table of names.
fn one_of<T: Copy>(name: &Name, what: &str, all: &[(&str, T)]) -> Read<T> {
    let found = all.iter().find(|a| a.0 == name.text).map(|a| a.1);
    found.ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|a| a.0).collect();
        unknown(name.span, what, &name.text, names.join(", "))
    })
}

/// The name of an expression that is nothing else.
fn bare(expr: &Expr) -> Option<&Name> {
    match &expr.first {
        Term { kind: TermKind::Place(p), inverted: false, negated: false, shift: None, .. }
            if expr.rest.is_empty() && p.brackets.is_empty() =>
        {
            Some(&p.name)
        }
        _ => None,
    }
}

pub(in crate::text) const OPS: [(&str, Op); 9] = [
    ("add", Op::Add),
    ("sub", Op::Sub),
    ("and", Op::And),
    ("or", Op::Or),
    ("xor", Op::Xor),
    ("move", Op::Move),
    ("andnot", Op::AndNot),
    ("ge", Op::Ge),
    ("lt", Op::Lt),
];

impl Lower<'_> {
    pub(super) fn raw(&mut self, work: &mut Work, kind: &StatementKind, when: When, span: Span) -> Read<()> {
        match kind {
            StatementKind::Picks(raw) => self.raw_picks(work, raw, span),
            StatementKind::Cross(expr, cut) => {
                if let Some(cut) = cut {
                    work.raw.cross_cut = self.scope.number(cut, "the words cut off", 0, 2)? as u8;
                }
                self.raw_cross(work, expr)
            }
            StatementKind::Alu(raw) => {
                let own = self.scope.container(&raw.own)?;
                if let Some(i) = work.raw.alus.iter().position(|a| a.own == own) {
                    let first = work.raw_alus.get(i).copied().unwrap_or(span);
                    return Err(self.second(work, span, own, first));
                }
                let bits = own.class().bits();
                let op = one_of(&raw.op, "operation", &OPS)?;
                let firsts = [("own", A::Own), ("p0", A::P0), ("p1", A::P1), ("x", A::X)];
                let seconds =
                    [("p0", B::P0), ("p1", B::P1), ("r", B::R), ("da", B::DataA), ("db", B::DataB), ("x", B::X)];
                let named = bare(&raw.b).and_then(|n| seconds.iter().find(|s| s.0 == n.text));
                let b = match named {
                    Some(b) => b.1,
                    None => B::Imm(self.scope.bits_value(&raw.b, "the value", bits)?),
                };
                let (a, mask) =
                    (one_of(&raw.a, "operand", &firsts)?, self.scope.bits_value(&raw.mask, "the mask", bits)?);
                work.raw.alus.push(Alu { own, op, a, b, mask, when });
                work.raw_alus.push(span);
                Ok(())
            }
            StatementKind::Word(raw) => {
                let words: Vec<(&str, u8)> =
                    super::scope::WORDS.iter().filter(|w| w.3 == 16).map(|w| (w.0, w.1 as u8)).collect();
                let word = one_of(&raw.word, "metadata word", &words)?;
                let sources = [("da", WordSource::Data), ("p0", WordSource::P0), ("x", WordSource::X)];
                let named = bare(&raw.source).and_then(|n| sources.iter().find(|s| s.0 == n.text));
                let source = match named {
                    Some(source) => source.1,
                    None => WordSource::Imm(self.scope.bits_value(&raw.source, "the value", 16)? as u16),
                };
                let mask = self.scope.bits_value(&raw.mask, "the mask", 16)? as u16;
                work.raw.words.push(WordOp { word, source, mask, when });
                work.raw_words.push(span);
                Ok(())
            }
            StatementKind::Access(raw) => self.raw_access(work, raw, when, span),
            _ => Ok(()),
        }
    }

    fn raw_picks(&mut self, work: &mut Work, raw: &RawPicks, span: Span) -> Read<()> {
        let class = one_of(&raw.class, "size", &[("c2", Class::C2), ("c4", Class::C4), ("c6", Class::C6)])?;
        let containers = raw.containers.iter().map(|p| self.scope.container(p)).collect::<Read<Vec<Container>>>()?;
        let [p0, p1, p2] = containers[..] else {
            return Err(place(span, format!("{} containers", containers.len()), "3"));
        };
        if [p0, p1, p2].iter().any(|c| c.class() != class) {
            return Err(place(span, "a container of another size", format!("containers of {} bytes", class.bytes())));
        }
        let bits = class.bits();
        let mut data = [0; 2];
        for (to, expr) in data.iter_mut().zip(&raw.data) {
            *to = self.scope.number(expr, "the place of action data", 0, 7)? as u8;
        }
        work.raw.picks[class as usize] = Picks {
            container: [p0, p1, p2].map(|c| c.0 % 8),
            amount: self.scope.number(&raw.rotate, "the amount", 0, u128::from(bits) - 1)? as u8,
            rotate_mask: self.scope.bits_value(&raw.mask, "the mask", bits)?,
            data,
        };
        work.fixed[class as usize] = true;
        Ok(())
    }

    fn raw_cross(&mut self, work: &mut Work, expr: &Expr) -> Read<()> {
        let Expr { first: Term { kind: TermKind::Place(p), inverted: false, negated: false, shift, .. }, rest, .. } =
            expr
        else {
            return Err(operation(expr.span, self.scope.shown(expr.span), "a container, words, hash, number or none"));
        };
        work.raw.cross = if p.name.text == "none" && p.brackets.is_empty() {
            Cross::None
        } else {
            match self.scope.thing(p, &[])? {
                Thing::Bits(b) if b.is_whole() => Cross::Container(b.container),
                Thing::Word { word, lo: 0, width: 16 | 32 | 48 } => Cross::Words(word),
                Thing::Hash { lo: 0, width: 32 } => Cross::Hash,
                Thing::Number { lo: 0, width: 16 } => Cross::Number,
                _ => {
                    return Err(operation(
                        expr.span,
                        self.scope.shown(expr.span),
                        "all of a container, words, hash or number",
                    ));
                }
            }
        };
        work.raw.cross_shift = match shift {
            _ if !rest.is_empty() => {
                return Err(operation(expr.span, "an operation", "a container, words, hash or number"));
            }
            None => 0,
            Some((Shift::Right, amount)) => match self.scope.number(amount, "the shift", 0, 32)? {
                n @ (0 | 16 | 32) => (n / 16) as u8,
                n => return Err(crate::text::error::value(amount.span, "the shift", n, "0, 16 or 32")),
            },
            Some(_) => return Err(operation(expr.span, "`<<`", "`>> 16` or `>> 32`")),
        };
        work.fixed_cross = true;
        Ok(())
    }

    fn raw_access(&mut self, work: &mut Work, raw: &RawAccess, when: When, span: Span) -> Read<()> {
        if work.raw.state.is_some() || work.state.is_some() {
            return Err(place(span, "a second access", "one"));
        }
        let sources =
            [("none", IndexSource::None), ("p2", IndexSource::P2), ("da", IndexSource::Data), ("x", IndexSource::X)];
        let access = match &raw.what {
            RawWhat::Meter { limit, cost, top, packets, shift } => {
                let number = |e: &Expr, what: &str| self.scope.number(e, what, 0, u32::MAX.into());
                Access::Meter {
                    limit: number(limit, "the limit")? as u32,
                    cost: number(cost, "the cost")? as u32,
                    top: number(top, "the top")? as u32,
                    per_packet: *packets,
                    shift: self.scope.number(shift, "the shift", 0, 55)? as u8,
                }
            }
            RawWhat::Atom { condition, then, otherwise } => {
                let choice = match condition {
                    Bool::Compare(c) if bare(&c.left).is_some_and(|n| n.text == "old") => {
                        Choice::Old(c.relation, self.raw_operand(&c.right)?)
                    }
                    other => Choice::When(self.when(work.context, When::Always, other, span)?),
                };
                Access::Atom { choice, then: self.raw_update(then)?, otherwise: self.raw_update(otherwise)? }
            }
        };
        work.raw.state = Some(StateOp {
            when,
            source: one_of(&raw.source, "index", &sources)?,
            index_mask: self.scope.number(&raw.mask, "the mask of the index", 0, 0xfff)? as u16,
            base: self.scope.number(&raw.base, "the first word", 0, 0xfff)? as u16,
            access,
            old_to: self.result(&raw.results.old)?,
            new_to: self.result(&raw.results.new)?,
        });
        Ok(())
    }

    fn raw_operand(&self, expr: &Expr) -> Read<Operand> {
        let all = [("x", Operand::X), ("db", Operand::DataB), ("p1", Operand::P1)];
        match bare(expr).and_then(|n| all.iter().find(|a| a.0 == n.text)) {
            Some(operand) => Ok(operand.1),
            None => self.scope.number(expr, "the operand", 0, u32::MAX.into()).map(|n| Operand::Imm(n as u32)),
        }
    }

    /// `old + x`, `old - 5`, `0 + x`, `0 - x`.
    fn raw_update(&self, expr: &Expr) -> Read<Update> {
        let wrong = || {
            let expected = "`old + OPERAND`, `old - OPERAND`, `0 + OPERAND` or `0 - OPERAND`".to_string();
            (expr.span, TextProblem::Operation { found: self.scope.shown(expr.span), expected })
        };
        let [(op @ (BinOp::Add | BinOp::Sub), second)] = &expr.rest[..] else { return Err(wrong()) };
        let old = match &expr.first.kind {
            TermKind::Number(0, _) => false,
            TermKind::Place(p) if p.name.text == "old" && p.brackets.is_empty() => true,
            _ => return Err(wrong()),
        };
        if expr.first.negated || expr.first.inverted || expr.first.shift.is_some() {
            return Err(wrong());
        }
        let operand = Expr { first: second.clone(), rest: Vec::new(), span: second.span };
        Ok(Update { old, value: self.raw_operand(&operand)?, negate: *op == BinOp::Sub })
    }
}
