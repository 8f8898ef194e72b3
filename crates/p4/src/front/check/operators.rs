//! Types of operators and casts.

use super::types::Type;
use super::{Checker, Problem, Value};
use crate::front::source::Span;
use crate::front::syntax::ast::{Binary, Expr, Unary};
use num_bigint::Sign;

impl Checker<'_> {
    pub(super) fn unary(&mut self, operator: Unary, value: &Expr, span: Span) -> Type {
        let ty = self.infer(value);
        let base = self.base(&ty);
        let (text, allowed, takes) = match operator {
            Unary::Not => ("!", "it takes bool", base == Type::Bool),
            Unary::Complement => ("~", "it takes bit<W> and int<W>", matches!(base, Type::Bit(_) | Type::Signed(_))),
            Unary::Minus | Unary::Plus => {
                let text = if operator == Unary::Minus { "-" } else { "+" };
                (text, "it takes numbers", matches!(base, Type::Bit(_) | Type::Signed(_) | Type::Int))
            }
        };
        if takes || base == Type::Unknown {
            return base;
        }
        self.operator(text, self.show(&ty), allowed, span)
    }

    fn operator(&mut self, operator: &str, found: String, allowed: &str, span: Span) -> Type {
        let (operator, allowed) = (operator.to_string(), allowed.to_string());
        self.note(span, Problem::Operator { operator, found, allowed });
        Type::Unknown
    }

    pub(super) fn binary(&mut self, operator: Binary, left: &Expr, right: &Expr, span: Span) -> Type {
        let (one, two) = (self.infer(left), self.infer(right));
        self.binary_types(operator, (left, one), (right, two), span)
    }

    /// The type of an operator's result, once those of its operands are known.
    pub(super) fn binary_types(
        &mut self,
        operator: Binary,
        (left, one): (&Expr, Type),
        (right, two): (&Expr, Type),
        span: Span,
    ) -> Type {
        use Binary as B;
        if one == Type::Unknown || two == Type::Unknown {
            return match operator {
                B::And | B::Or | B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual => {
                    Type::Bool
                }
                _ => Type::Unknown,
            };
        }
        let wrong = |checker: &mut Self, allowed: &str| {
            let found = format!("{} and {}", checker.show(&one), checker.show(&two));
            checker.operator(operator.text(), found, allowed, span)
        };
        let (low, high) = (self.base(&one), self.base(&two));
        if !matches!(operator, B::ShiftLeft | B::ShiftRight | B::Concat) {
            match (&low, &high) {
                (Type::Int, Type::Bit(_) | Type::Signed(_)) => self.cut_to(left, &two),
                (Type::Bit(_) | Type::Signed(_), Type::Int) => self.cut_to(right, &one),
                _ => {}
            }
        }
        match operator {
            B::And | B::Or => match (&one, &two) {
                (Type::Bool, Type::Bool) => Type::Bool,
                _ => wrong(self, "it takes two of bool"),
            },
            B::Equal | B::NotEqual => {
                let same = self.comparable(&one, &two);
                if !same {
                    wrong(self, "it compares values of one type, and no two lists");
                }
                Type::Bool
            }
            B::Less | B::LessEqual | B::Greater | B::GreaterEqual => {
                if numbers(&low, &high).is_none() {
                    wrong(self, "it compares numbers of one type");
                }
                Type::Bool
            }
            B::Concat => match (&low, &high) {
                (Type::Bit(a), Type::Bit(b) | Type::Signed(b)) => self.concatenated(Type::Bit, *a, *b, span),
                (Type::Signed(a), Type::Bit(b) | Type::Signed(b)) => self.concatenated(Type::Signed, *a, *b, span),
                (Type::Text, Type::Text) => Type::Text,
                _ => wrong(self, "it takes bit<W> and int<W>, as 8w1"),
            },
            B::ShiftLeft | B::ShiftRight => self.shift(operator, (left, &one), (right, &two), span),
            B::SaturatingAdd | B::SaturatingSubtract => match numbers(&low, &high) {
                Some(ty) if ty != Type::Int => ty,
                _ => wrong(self, "it takes two of bit<W> or of int<W>, with one W"),
            },
            B::BitAnd | B::BitOr | B::BitXor => match numbers(&low, &high) {
                Some(ty) if ty != Type::Int || self.both_constant(left, right) => ty,
                _ => wrong(self, "it takes two of bit<W> or of int<W>, with one W"),
            },
            B::Add | B::Subtract | B::Multiply => match numbers(&low, &high) {
                Some(ty) => ty,
                None => wrong(self, "it takes numbers of one type"),
            },
            B::Divide | B::Modulo => {
                let Some(ty) = numbers(&low, &high) else { return wrong(self, "it takes numbers of one type") };
                if matches!(ty, Type::Signed(_)) {
                    return wrong(self, "it takes bit<W> and int");
                }
                for (side, is_divisor) in [(left, false), (right, true)] {
                    let Some(Value::Number(number)) = self.constant(side) else { continue };
                    let bad = number.sign() == Sign::Minus || (is_divisor && number.sign() == Sign::NoSign);
                    if bad {
                        let what = if is_divisor { "a divisor" } else { "what is divided" };
                        let allowed = if is_divisor { "1 and more" } else { "0 and more" };
                        let (what, found) = (what.to_string(), number.to_string());
                        self.note(side.at.span, Problem::Range { what, found, allowed: allowed.to_string() });
                        return Type::Unknown;
                    }
                }
                if !self.is_known_before(right) && self.type_of(right) != Type::Unknown {
                    let what = sluice_packet::text::quote(self.sources.slice(right.at.span));
                    let why = format!("as what `{}` divides by is", operator.text());
                    self.note(right.at.span, Problem::Constant { what, why });
                    return Type::Unknown;
                }
                ty
            }
        }
    }

    fn both_constant(&mut self, left: &Expr, right: &Expr) -> bool {
        self.constant(left).is_some() && self.constant(right).is_some()
    }

    fn concatenated(&mut self, make: fn(u32) -> Type, left: u32, right: u32, span: Span) -> Type {
        let width = left + right;
        let most = super::value::MOST_BITS as u32;
        self.within_range(span, "the width of `++`", &width.into(), 0, most).map_or(Type::Unknown, make)
    }

    fn shift(&mut self, operator: Binary, left: (&Expr, &Type), right: (&Expr, &Type), span: Span) -> Type {
        let low = self.base(left.1);
        // A distance may be of a new type, too: the result does not depend on it.
        let high = self.base(&self.renamed(right.1).unwrap_or_else(|| right.1.clone()));
        if !matches!(low, Type::Bit(_) | Type::Signed(_) | Type::Int) {
            return self.operator(operator.text(), self.show(left.1), "it shifts numbers", span);
        }
        let distance = self.constant(right.0);
        // A constant has no sign that matters, whatever its type.
        let known = matches!(distance, Some(Value::Number(_))) && matches!(high, Type::Signed(_));
        if !known && !matches!(high, Type::Bit(_) | Type::Int) {
            let found = format!("a distance of {}", self.show(right.1));
            return self.operator(operator.text(), found, "it shifts by numbers without sign", right.0.at.span);
        }
        match distance {
            Some(Value::Number(number)) if low == Type::Int && number.bits() > 16 => {
                let what = "the result of this operator".to_string();
                let most = super::value::MOST_BITS.to_string();
                self.note(span, Problem::Huge { what, found: "too many".to_string(), most });
                Type::Unknown
            }
            Some(Value::Number(number)) if number.sign() == Sign::Minus => {
                let (what, found) = ("a distance".to_string(), number.to_string());
                self.note(right.0.at.span, Problem::Range { what, found, allowed: "0 and more".to_string() });
                Type::Unknown
            }
            None if low == Type::Int => {
                let found = "an int by what is not constant".to_string();
                self.operator(operator.text(), found, "give the number a width, as 8w1", span)
            }
            _ => low,
        }
    }

    /// Whether `==` takes the two.
    pub(super) fn comparable(&mut self, one: &Type, two: &Type) -> bool {
        let has_dots = |ty: &Type| match ty {
            Type::Dots => true,
            Type::Braces(all) => all.last() == Some(&Type::Dots),
            Type::Pairs(_, dots) => *dots,
            _ => false,
        };
        if has_dots(one) || has_dots(two) {
            return false;
        }
        let literal = |ty: &Type| matches!(ty, Type::Braces(_) | Type::Pairs(..) | Type::Invalid | Type::Int);
        let (one, two) = if literal(one) { (two, one) } else { (one, two) };
        if let Type::Braces(_) | Type::Pairs(..) | Type::Invalid = one {
            return false;
        }
        if !self.is_comparable(one) {
            return false;
        }
        if self.fits(two, one) || self.fits(one, two) {
            return true;
        }
        // A serializable enum is compared with numbers as the number that it is.
        let by_number = self.underlying(one).is_some() != self.underlying(two).is_some();
        by_number && numbers(&self.base(one), &self.base(two)).is_some()
    }

    fn is_comparable(&self, ty: &Type) -> bool {
        self.look_into(true, || self.is_comparable_in(ty))
    }

    fn is_comparable_in(&self, ty: &Type) -> bool {
        match self.known(ty) {
            Type::Void | Type::Set(_) | Type::Applied(_) | Type::ActionRun(_) | Type::Table(_) => false,
            // Values of a type parameter are assigned, and no more.
            Type::Parameter(_) => false,
            Type::Tuple(all) | Type::Braces(all) => all.iter().all(|ty| self.is_comparable(ty)),
            Type::Stack(element, _) | Type::List(element) => self.is_comparable(&element),
            ty => match self.fields(&ty) {
                Some((_, fields)) => fields.iter().all(|(_, ty)| self.is_comparable(ty)),
                None => !self.is_object(&ty),
            },
        }
    }

    /// Notes a cast that is none.
    pub(super) fn cast(&mut self, value: &Expr, found: &Type, wanted: &Type, span: Span) {
        if *found == Type::Unknown || *wanted == Type::Unknown {
            return;
        }
        if self.castable(found, wanted, value) {
            if *found == Type::Int {
                self.cut_to(value, wanted);
            }
            return;
        }
        let why = match (found, wanted) {
            (Type::Bit(_), Type::Signed(_)) | (Type::Signed(_), Type::Bit(_)) => {
                "one cast changes the width or the sign, not both"
            }
            (Type::Int, Type::Bool) => "only the numbers 0 and 1 can be",
            (Type::Bit(_), Type::Bool) | (Type::Bool, Type::Bit(_)) => "bool is cast to bit<1> and from it",
            _ => "numbers are cast to numbers, lists to what has such fields, and new types to what they were made of",
        };
        let (found, wanted) = (self.show(found), self.show(wanted));
        self.note(span, Problem::Cast { found, wanted, why: why.to_string() });
    }

    fn castable(&mut self, found: &Type, wanted: &Type, value: &Expr) -> bool {
        if self.is_object(wanted) || *wanted == Type::Text && *found != Type::Text {
            return false;
        }
        let (from, to) = (self.known(found), self.known(wanted));
        if self.fields(&from).is_some() {
            // What has fields is made of lists of them, not of others.
            return false;
        }
        if self.fits(found, wanted) {
            return true;
        }
        // A new type is cast to what it is made of and from it, no step further.
        if let Some(of) = self.renamed(&to) {
            return self.fits(&from, &of);
        }
        if let Some(of) = self.renamed(&from) {
            return self.unify(&of, &to);
        }
        if let Some(underlying) = self.underlying(&to) {
            // An enum becomes another one by way of its number only if both are represented alike.
            let from = self.underlying(&from).unwrap_or(from);
            return from == Type::Int || from == underlying || self.castable(&from, &underlying, value);
        }
        if let Some(underlying) = self.underlying(&from) {
            return underlying == to || self.castable(&underlying, &to, value);
        }
        match (&from, &to) {
            (Type::Bit(a), Type::Signed(b)) | (Type::Signed(a), Type::Bit(b)) => a == b,
            (Type::Bit(_), Type::Bit(_)) | (Type::Signed(_), Type::Signed(_)) => true,
            (Type::Bit(1), Type::Bool) | (Type::Bool, Type::Bit(1)) => true,
            (Type::Int, Type::Bool) => match self.constant(value) {
                Some(Value::Number(number)) => number.sign() != Sign::Minus && number.bits() <= 1,
                _ => false,
            },
            (Type::Bit(_) | Type::Signed(_), Type::Int) => true,
            _ => false,
        }
    }
}

/// The type that two numbers have together.
fn numbers(one: &Type, two: &Type) -> Option<Type> {
    match (one, two) {
        (Type::Int, Type::Int) => Some(Type::Int),
        (Type::Int, Type::Bit(_) | Type::Signed(_)) => Some(two.clone()),
        (Type::Bit(_) | Type::Signed(_), Type::Int) => Some(one.clone()),
        (Type::Bit(a), Type::Bit(b)) | (Type::Signed(a), Type::Signed(b)) if a == b => Some(one.clone()),
        _ => None,
    }
}
