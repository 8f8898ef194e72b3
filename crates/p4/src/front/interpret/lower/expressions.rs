//! Expressions.

use super::constants::fold;
use super::{Binding, Lowered, Lowerer};
use crate::front::check::{Kind, Type};
use crate::front::interpret::code::Ex;
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::{Number, Value};
use crate::front::syntax::ast::{Binary, Expr, ExprKind, Name, Unary};

impl<'p> Lowerer<'p> {
    /// An expression; where a type is wanted, its value is one of that type.
    pub(super) fn value(&mut self, expression: &'p Expr, wanted: Option<&Type>) -> Lowered<Ex> {
        let ty = self.type_of(expression);
        let ex = fold(self.kind(expression, &ty, wanted)?);
        let Ex::Constant(Value::Int(number)) = &ex else { return Ok(ex) };
        Ok(match wanted.map(|wanted| self.shape(wanted)) {
            Some(Shape::Number(to)) => Ex::Constant(Value::of_int(number, to.width)),
            _ => ex,
        })
    }

    /// The number type of what is computed with.
    pub(super) fn number(&self, ty: &Type) -> Number {
        match self.put(ty) {
            Type::Bit(width) => Number { width, signed: false },
            Type::Signed(width) => Number { width, signed: true },
            ty => match self.facts.represented(&ty) {
                Some(of) => self.number(&of),
                None => Number { width: 32, signed: matches!(ty, Type::Int) },
            },
        }
    }

    fn kind(&mut self, expression: &'p Expr, ty: &Type, wanted: Option<&Type>) -> Lowered<Ex> {
        let span = expression.at.span;
        Ok(match &expression.kind {
            ExprKind::Bool(value) => Ex::Constant(Value::Bool(*value)),
            ExprKind::Number(number) => Ex::Constant(match number.width {
                Some(width) => Value::of_int(&number.value, width),
                None => Value::Int(Box::new(number.value.clone())),
            }),
            ExprKind::Text(text) => Ex::Constant(Value::Text(text.clone())),
            ExprKind::Name { name, .. } => self.name(expression, name)?,
            ExprKind::Dots | ExprKind::Invalid => {
                let shape = self.shape(wanted.unwrap_or(ty));
                Ex::Constant(shape.zero())
            }
            ExprKind::List(values) => {
                let of = self.literal_type(ty, wanted);
                self.list(values, &of)?
            }
            ExprKind::Struct(pairs, _) => {
                let of = self.literal_type(ty, wanted);
                self.pairs(pairs, &of)?
            }
            ExprKind::Unary(operator, value) => {
                let of = if *operator == Unary::Not { &Type::Bool } else { ty };
                let value = self.value(value, Some(of))?;
                Ex::Unary(*operator, self.number(ty), Box::new(value))
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, ty, span)?,
            ExprKind::Choice(condition, yes, no) => {
                let of = if *ty == Type::Int { wanted.unwrap_or(ty) } else { ty };
                let condition = self.value(condition, None)?;
                Ex::Choice(Box::new((condition, self.value(yes, Some(of))?, self.value(no, Some(of))?)))
            }
            ExprKind::Cast(_, value) => self.cast(value, ty)?,
            ExprKind::Member(owner, member) => self.member(expression, owner, member, ty)?,
            ExprKind::Index(owner, index) => match self.place(expression)? {
                Some(place) => Ex::Read(place),
                None => {
                    let (owner, index) = (self.value(owner, None)?, self.value(index, None)?);
                    match index {
                        Ex::Constant(at) => Ex::Part(Box::new(owner), at.bits() as u32),
                        index => Ex::At(Box::new(owner), Box::new(index), self.shape(ty)),
                    }
                }
            },
            ExprKind::Slice(of, high, low) => {
                let (high, low) = (self.constant_of(high)?, self.constant_of(low)?);
                let number = self.number(&self.type_of(of));
                let low_bit = Ex::Constant(Value::Bits(low));
                Ex::Slice(number, (high.saturating_sub(low) + 1) as u32, Box::new((self.value(of, None)?, low_bit)))
            }
            ExprKind::Part(of, low, width) => {
                let width = self.constant_of(width)? as u32;
                let number = self.number(&self.type_of(of));
                Ex::Slice(number, width, Box::new((self.value(of, None)?, self.value(low, None)?)))
            }
            ExprKind::Call(callee, _, arguments) => self.call(expression, callee, arguments)?,
            ExprKind::This
            | ExprKind::Type(_)
            | ExprKind::Any
            | ExprKind::Default
            | ExprKind::Mask(..)
            | ExprKind::Range(..) => return self.refuse(span, "an expression of this form here"),
        })
    }

    fn name(&mut self, expression: &'p Expr, name: &Name) -> Lowered<Ex> {
        let binding = self.facts.name(expression).and_then(|id| self.binding(id)).cloned();
        match binding {
            Some(Binding::Value(value)) => Ok(Ex::Constant(value)),
            Some(Binding::Slot(..)) => match self.place(expression)? {
                Some(place) => Ok(Ex::Read(place)),
                None => self.refuse(name.span, format!("`{}` as a value", name.text)),
            },
            _ => match self.facts.name(expression).map(|id| &self.facts.definition(id).kind) {
                // Members of enums with a type are constants, too.
                Some(Kind::Constant { value: Some(crate::front::check::Value::Number(number)), .. }) => {
                    Ok(Ex::Constant(Value::Int(Box::new(number.clone()))))
                }
                _ => self.refuse(name.span, format!("`{}` as a value", name.text)),
            },
        }
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &'p Expr,
        right: &'p Expr,
        ty: &Type,
        span: crate::front::source::Span,
    ) -> Lowered<Ex> {
        use Binary as B;
        let (one, two) = (self.type_of(left), self.type_of(right));
        match operator {
            B::And => return Ok(Ex::And(Box::new((self.value(left, None)?, self.value(right, None)?)))),
            B::Or => return Ok(Ex::Or(Box::new((self.value(left, None)?, self.value(right, None)?)))),
            B::Concat if matches!(ty, Type::Text) => {
                let text = |ex: &Ex| match ex {
                    Ex::Constant(Value::Text(text)) => text.to_string(),
                    _ => String::new(),
                };
                let (one, two) = (self.value(left, None)?, self.value(right, None)?);
                return Ok(Ex::Constant(Value::Text(format!("{}{}", text(&one), text(&two)).into())));
            }
            B::Concat => {
                let (high, low) = (self.number(&one).width, self.number(&two).width);
                let both = (self.value(left, Some(&one))?, self.value(right, Some(&two))?);
                return Ok(Ex::Concat(low, high + low, Box::new(both)));
            }
            B::ShiftLeft | B::ShiftRight => {
                let both = (self.value(left, Some(ty))?, self.value(right, None)?);
                return Ok(Ex::Binary(operator, self.number(ty), span, Box::new(both)));
            }
            _ => {}
        }
        let literal =
            |ty: &Type| matches!(ty, Type::Int | Type::Braces(_) | Type::Pairs(..) | Type::Invalid | Type::Dots);
        let of = if literal(&one) { two } else { one };
        let both = Box::new((self.value(left, Some(&of))?, self.value(right, Some(&of))?));
        let is_number = matches!(self.shape(&of), Shape::Number(_) | Shape::Int);
        Ok(match operator {
            B::Equal if !is_number => Ex::Equal(both),
            B::NotEqual if !is_number => {
                Ex::Unary(Unary::Not, Number { width: 1, signed: false }, Box::new(fold(Ex::Equal(both))))
            }
            _ => Ex::Binary(operator, self.number(&of), span, both),
        })
    }

    fn cast(&mut self, value: &'p Expr, to: &Type) -> Lowered<Ex> {
        let from = self.type_of(value);
        let (target, source) = (self.shape(to), self.shape(&from));
        Ok(match (&source, &target) {
            (Shape::Int, Shape::Bool) | (Shape::Number(_), Shape::Bool) => {
                Ex::ToBool(Box::new(self.value(value, None)?))
            }
            (Shape::Bool, Shape::Number(_)) => Ex::FromBool(Box::new(self.value(value, None)?)),
            (Shape::Number(from), Shape::Number(to)) if from == to => self.value(value, None)?,
            (Shape::Number(from), Shape::Number(to)) => {
                let (from, to) = (*from, *to);
                Ex::Resize(from, to, Box::new(self.value(value, None)?))
            }
            (Shape::Number(from), Shape::Int) => match self.value(value, None)? {
                Ex::Constant(value) => Ex::Constant(Value::Int(Box::new(value.number(*from)))),
                other => other,
            },
            _ => self.value(value, Some(to))?,
        })
    }

    fn member(&mut self, expression: &'p Expr, owner: &'p Expr, member: &Name, ty: &Type) -> Lowered<Ex> {
        if self.is_type(owner) {
            return self.member_of_type(member, ty);
        }
        match (self.type_of(owner), &*member.text) {
            (Type::Stack(_, size), "size") => return Ok(Ex::Constant(Value::Bits(u128::from(size)))),
            (Type::Stack(..), "lastIndex") => {
                return match self.place(owner)? {
                    Some(place) => Ok(Ex::LastIndex(place)),
                    None => self.refuse(member.span, "`lastIndex` of a value"),
                };
            }
            (Type::Applied(_), word) => {
                let applied = Box::new(self.value(owner, None)?);
                let hit = |applied| Ex::Part(applied, 0);
                return Ok(match word {
                    "hit" => hit(applied),
                    "miss" => Ex::Unary(Unary::Not, Number { width: 1, signed: false }, Box::new(hit(applied))),
                    _ => Ex::Part(applied, 1),
                });
            }
            _ => {}
        }
        if let Some(place) = self.place(expression)? {
            return Ok(Ex::Read(place));
        }
        let of = self.type_of(owner);
        match self.field(&of, &member.text) {
            Some(at) => Ok(Ex::Part(Box::new(self.value(owner, None)?), at)),
            None => self.refuse(member.span, format!("member `{}` here", member.text)),
        }
    }

    fn member_of_type(&self, member: &Name, ty: &Type) -> Lowered<Ex> {
        let at = |found: Option<usize>| Ex::Constant(Value::Bits(found.unwrap_or(0) as u128));
        match ty {
            Type::Error => Ok(at(self.facts.errors.iter().position(|error| *error == member.text))),
            Type::Named(id, _) => match &self.facts.definition(*id).kind {
                Kind::Enum { underlying, members } => {
                    let found = members.iter().position(|(name, _)| *name == member.text);
                    Ok(match (underlying, found.and_then(|at| members[at].1.as_ref())) {
                        (Some(of), Some(number)) => Ex::Constant(Value::of_int(number, self.number(of).width)),
                        _ => at(found),
                    })
                }
                _ => self.refuse(member.span, format!("`{}`", member.text)),
            },
            _ => self.refuse(member.span, format!("`{}`", member.text)),
        }
    }
}
