//! Types of expressions.

use super::definitions::Kind;
use super::types::Type;
use super::{Checker, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{Expr, ExprKind, Name, TypeKind};
use std::rc::Rc;

impl Checker<'_> {
    /// The type of an expression by itself.
    pub(super) fn infer(&mut self, expression: &Expr) -> Type {
        let ty = self.infer_kind(expression);
        self.set(expression, ty)
    }

    /// Checks an expression where a type is needed.
    pub(super) fn expect(&mut self, expression: &Expr, wanted: &Type, what: &str) -> bool {
        let found = self.infer(expression);
        self.expect_type(expression, &found, wanted, what)
    }

    /// Whether an expression of type `found` fits; it then has the type that is wanted.
    pub(super) fn expect_type(&mut self, expression: &Expr, found: &Type, wanted: &Type, what: &str) -> bool {
        let number = matches!(self.base(found), Type::Bit(_) | Type::Signed(_));
        if number && self.known(wanted) == Type::Int && self.constant(expression).is_some() {
            return true;
        }
        if self.fits(found, wanted) {
            if !matches!(found, Type::Unknown) && !matches!(self.known(wanted), Type::Infer(_) | Type::Any) {
                self.settle(expression, wanted);
            }
            return true;
        }
        let expected = self.show(wanted);
        let found = self.known(found);
        self.mismatch(expression.at.span, what, &found, expected);
        false
    }

    /// Gives literals the type that they are used with.
    fn settle(&mut self, expression: &Expr, wanted: &Type) {
        let wanted = self.known(wanted);
        match &expression.kind {
            ExprKind::List(values) => {
                let each: Vec<Type> = match (&wanted, self.fields(&wanted)) {
                    (_, Some((_, fields))) => fields.into_iter().map(|(_, ty)| ty).collect(),
                    (Type::Tuple(all), _) => all.to_vec(),
                    (Type::List(element) | Type::Stack(element, _), _) => {
                        values.iter().map(|_| Type::clone(element)).collect()
                    }
                    _ => return,
                };
                values.iter().zip(&each).for_each(|(value, ty)| self.settle(value, ty));
            }
            ExprKind::Struct(pairs, _) => {
                let Some((_, fields)) = self.fields(&wanted) else { return };
                for (name, value) in pairs {
                    if let Some((_, ty)) = fields.iter().find(|(field, _)| *field == name.text) {
                        self.settle(value, ty);
                    }
                }
            }
            _ if self.type_of(expression) != Type::Int => return,
            ExprKind::Choice(_, yes, no) => {
                self.settle(yes, &wanted);
                self.settle(no, &wanted);
            }
            _ => return self.cut_to(expression, &wanted),
        }
        self.types[expression.at.id as usize] = wanted;
    }

    fn infer_kind(&mut self, expression: &Expr) -> Type {
        let span = expression.at.span;
        match &expression.kind {
            ExprKind::Bool(_) => Type::Bool,
            ExprKind::Number(number) => match (number.width, number.signed) {
                (None, _) => Type::Int,
                (Some(width), signed) => {
                    let least = u32::from(signed);
                    match self.within_range(span, "a width", &width.into(), least, super::value::MOST_BITS as u32) {
                        Some(width) => {
                            let ty = if signed { Type::Signed(width) } else { Type::Bit(width) };
                            self.cut_literal(span, number, &ty);
                            ty
                        }
                        None => Type::Unknown,
                    }
                }
            },
            ExprKind::Text(_) => Type::Text,
            ExprKind::Name { global, name } => {
                if self.is_match_kind(name, *global) {
                    return Type::MatchKind;
                }
                let Some(id) = self.lookup(name, *global) else { return Type::Unknown };
                self.names(expression, id);
                self.value_of(id, span)
            }
            ExprKind::This => match &self.this {
                Some(this) => this.clone(),
                None => {
                    let what = "`this`".to_string();
                    self.note(span, Problem::Place { what, place: "outside of a method".to_string() });
                    Type::Unknown
                }
            },
            ExprKind::Type(_) => {
                let name = format!("`{}`", self.sources.slice(span));
                self.note(span, Problem::Kind { name, found: "a type".into(), expected: "a value".into() });
                Type::Unknown
            }
            ExprKind::Dots => Type::Dots,
            ExprKind::Any => {
                self.expected_value(span, "`_`", "as an argument of an `out` parameter and among keys");
                Type::Unknown
            }
            ExprKind::Default => Type::Any,
            ExprKind::Invalid => Type::Invalid,
            ExprKind::List(values) => {
                let last = values.len().saturating_sub(1);
                let mut all = Vec::with_capacity(values.len());
                for (i, value) in values.iter().enumerate() {
                    let ty = self.infer(value);
                    if ty == Type::Dots && i < last {
                        self.expected_value(value.at.span, "`...`", "as the last element");
                    }
                    all.push(ty);
                }
                self.no_objects(values.iter().zip(&all));
                Type::Braces(all.into())
            }
            ExprKind::Struct(pairs, dots) => {
                self.distinct(pairs.iter().map(|(name, _)| name));
                let mut all: Vec<(Rc<str>, Type)> = Vec::with_capacity(pairs.len());
                for (name, value) in pairs {
                    let ty = self.infer(value);
                    self.no_objects(std::iter::once((value, &ty)));
                    all.push((name.text.clone(), ty));
                }
                Type::Pairs(all.into(), *dots)
            }
            ExprKind::Unary(operator, value) => self.unary(*operator, value, span),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, span),
            ExprKind::Choice(condition, yes, no) => self.choice(condition, yes, no, span),
            ExprKind::Cast(ty, value) => {
                let wanted = self.value_type(ty, "the type of a cast");
                let found = self.infer(value);
                self.cast(value, &found, &wanted, span);
                wanted
            }
            ExprKind::Member(owner, member) => self.member(owner, member, span),
            ExprKind::Index(owner, index) => self.index(owner, index),
            ExprKind::Slice(value, high, low) => self.slice(value, high, low, span),
            ExprKind::Part(value, low, width) => self.part(value, low, width, span),
            ExprKind::Call(callee, types, arguments) => self.call(callee, types, arguments, span),
            ExprKind::Mask(value, mask) => self.key_pair("&&&", value, mask, span),
            ExprKind::Range(low, high) => self.key_pair("..", low, high, span),
        }
    }

    fn expected_value(&mut self, span: Span, what: &str, where_allowed: &str) {
        let place = format!("here; it stands only {where_allowed}");
        self.note(span, Problem::Place { what: what.to_string(), place });
    }

    fn no_objects<'e>(&mut self, all: impl Iterator<Item = (&'e Expr, &'e Type)>) {
        for (value, ty) in all {
            if self.is_object(ty) || matches!(ty, Type::Void | Type::Set(_) | Type::Applied(_)) {
                self.mismatch(value.at.span, "an element", ty, "a value");
            }
        }
    }

    /// Whether a name is that of a match kind, which stands for itself where nothing else has the name.
    pub(super) fn is_match_kind(&self, name: &Name, global: bool) -> bool {
        self.match_kinds.contains_key(&name.text) && self.scopes.find(&name.text, global).is_empty()
    }

    /// The type of what a name stands for, where a value is needed.
    pub(super) fn value_of(&mut self, id: super::DefId, span: Span) -> Type {
        let definition = self.definition(id);
        match &definition.kind {
            Kind::Constant { ty, .. } | Kind::Variable { ty, .. } | Kind::Instance(ty) => ty.clone(),
            Kind::ValueSet(ty) => Type::Set(Rc::new(ty.clone())),
            Kind::Table(_) => Type::Table(id),
            kind => {
                let (found, name) = (kind.text().to_string(), format!("`{}`", definition.name));
                self.note(span, Problem::Kind { name, found, expected: "a value".to_string() });
                Type::Unknown
            }
        }
    }

    /// The type that an expression names, if it names one.
    pub(super) fn denotes_type(&self, expression: &Expr) -> Option<Type> {
        match &expression.kind {
            ExprKind::Name { global, name } => {
                let id = *self.scopes.find(&name.text, *global).last()?;
                match &self.definition(id).kind {
                    Kind::Alias(ty) => Some(ty.clone()),
                    Kind::TypeParameter => Some(Type::Parameter(id)),
                    kind if kind.is_type() => Some(Type::Named(id, Rc::from([]))),
                    _ => None,
                }
            }
            ExprKind::Type(ty) => match &ty.kind {
                TypeKind::Error => Some(Type::Error),
                TypeKind::MatchKind => Some(Type::MatchKind),
                _ => None,
            },
            _ => None,
        }
    }

    fn choice(&mut self, condition: &Expr, yes: &Expr, no: &Expr, span: Span) -> Type {
        self.expect(condition, &Type::Bool, "the condition");
        let (one, two) = (self.infer(yes), self.infer(no));
        if one == Type::Int && two == Type::Int && self.constant(condition).is_none() {
            self.mismatch(
                yes.at.span,
                "a value that is chosen when the program runs",
                &one,
                "one with a width, as 8w1",
            );
            return Type::Unknown;
        }
        let ty = match (&one, &two) {
            (Type::Unknown, _) | (_, Type::Unknown) => return Type::Unknown,
            _ if self.fits(&one, &two) => two,
            _ if self.fits(&two, &one) => one,
            _ => {
                let expected = format!("{}, as the other value has", self.show(&one));
                self.mismatch(no.at.span, "a value of `?:`", &two, expected);
                return Type::Unknown;
            }
        };
        if self.is_object(&ty) || ty == Type::Void || matches!(ty, Type::Dots) {
            self.mismatch(span, "a value of `?:`", &ty, "a value");
            return Type::Unknown;
        }
        self.settle(yes, &ty);
        self.settle(no, &ty);
        ty
    }

    fn index(&mut self, owner: &Expr, index: &Expr) -> Type {
        let (ty, by) = (self.infer(owner), self.infer(index));
        let by_number = matches!(self.base(&by), Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown);
        if !by_number {
            self.mismatch(index.at.span, "an index", &by, "a number");
            return Type::Unknown;
        }
        let (element, count) = match &ty {
            Type::Stack(element, size) => (Some(Type::clone(element)), *size as usize),
            Type::Tuple(all) | Type::Braces(all) => {
                let Some(number) = self.constant_number(index, "an index of a tuple") else { return Type::Unknown };
                (usize::try_from(&number).ok().and_then(|n| all.get(n).cloned()), all.len())
            }
            Type::Unknown => return Type::Unknown,
            _ => {
                self.mismatch(owner.at.span, "what has an index", &ty, "a stack or a tuple");
                return Type::Unknown;
            }
        };
        if let Some(super::Value::Number(number)) = self.constant(index) {
            if count == 0 {
                let (what, found) = ("an index".to_string(), number.to_string());
                self.note(index.at.span, Problem::Range { what, found, allowed: "nothing, for it is empty".into() });
                return Type::Unknown;
            }
            self.within_range(index.at.span, "an index", &number, 0, count as u32 - 1);
        }
        element.unwrap_or(Type::Unknown)
    }

    /// What a slice may be taken of, and its width; an `int` has none.
    fn sliced(&mut self, value: &Expr) -> Option<Option<u32>> {
        let ty = self.infer(value);
        match self.base(&ty) {
            Type::Bit(width) | Type::Signed(width) => Some(Some(width)),
            Type::Int => Some(None),
            Type::Unknown => None,
            _ => {
                self.mismatch(value.at.span, "what is sliced", &ty, "bit<W> or int<W>");
                None
            }
        }
    }

    fn slice(&mut self, value: &Expr, high: &Expr, low: &Expr, span: Span) -> Type {
        let of = self.sliced(value);
        let mut ends = Vec::new();
        for end in [high, low] {
            let ty = self.infer(end);
            if !matches!(self.base(&ty), Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown) {
                self.mismatch(end.at.span, "an end of a slice", &ty, "a number");
                return Type::Unknown;
            }
            ends.push(self.constant_number(end, "an end of a slice"));
        }
        let (Some(of), [Some(high_bit), Some(low_bit)]) = (of, &ends[..]) else { return Type::Unknown };
        let top = of.map_or(super::value::MOST_BITS as u32, |width| width.saturating_sub(1));
        let (Some(high_bit), Some(low_bit)) = (
            self.within_range(high.at.span, "the high bit of a slice", high_bit, 0, top),
            self.within_range(low.at.span, "the low bit of a slice", low_bit, 0, top),
        ) else {
            return Type::Unknown;
        };
        if high_bit < low_bit {
            let (what, found) = ("the low bit of a slice".to_string(), low_bit.to_string());
            self.note(span, Problem::Range { what, found, allowed: format!("0 to {high_bit}, its high bit") });
            return Type::Unknown;
        }
        Type::Bit(high_bit - low_bit + 1)
    }

    fn part(&mut self, value: &Expr, low: &Expr, width: &Expr, span: Span) -> Type {
        let of = self.sliced(value);
        let from = self.infer(low);
        if !matches!(self.base(&from), Type::Int | Type::Bit(_) | Type::Unknown) {
            self.mismatch(low.at.span, "the low bit of a slice", &from, "a number without sign");
        }
        self.infer(width);
        let Some(number) = self.constant_number(width, "the width of a slice") else { return Type::Unknown };
        let most = of.flatten().unwrap_or(super::value::MOST_BITS as u32);
        let Some(bits) = self.within_range(width.at.span, "the width of a slice", &number, 1, most) else {
            return Type::Unknown;
        };
        if let (Some(Some(most)), Some(super::Value::Number(at))) = (of, self.constant(low)) {
            self.within_range(span, "the low bit of a slice", &at, 0, most - bits);
        }
        Type::Bit(bits)
    }

    /// `value &&& mask` and `low .. high`.
    fn key_pair(&mut self, operator: &str, left: &Expr, right: &Expr, span: Span) -> Type {
        let (one, two) = (self.infer(left), self.infer(right));
        let (low, high) = (self.base(&one), self.base(&two));
        let ty = match (&low, &high) {
            (Type::Unknown, _) | (_, Type::Unknown) => Type::Unknown,
            (Type::Int, Type::Int) => Type::Int,
            (Type::Int, Type::Bit(_) | Type::Signed(_)) => two,
            (Type::Bit(_) | Type::Signed(_), Type::Int) => one,
            (Type::Bit(a), Type::Bit(b)) | (Type::Signed(a), Type::Signed(b)) if a == b => one,
            _ => {
                let found = format!("{} and {}", self.show(&one), self.show(&two));
                let allowed = "it takes two numbers of one type".to_string();
                self.note(span, Problem::Operator { operator: operator.to_string(), found, allowed });
                Type::Unknown
            }
        };
        self.key_pair_values(operator, left, right);
        Type::Set(Rc::new(ty))
    }

    /// Notes what is not known before the program runs. A range that ends before it begins is empty.
    fn key_pair_values(&mut self, operator: &str, left: &Expr, right: &Expr) {
        for side in [left, right] {
            if self.type_of(side) != Type::Unknown && !self.is_known_before(side) {
                let what = sluice_packet::text::quote(self.sources.slice(side.at.span));
                let why = format!("which `{operator}` needs");
                return self.note(side.at.span, Problem::Constant { what, why });
            }
        }
    }
}
