//! What is read from and written to.

use super::{Binding, Lowered, Lowerer};
use crate::front::check::Type;
use crate::front::interpret::code::{Ex, Less, Place, Step, Target};
use crate::front::syntax::ast::{Expr, ExprKind};

impl<'p> Lowerer<'p> {
    /// The place that an expression names, if it names one.
    pub(super) fn place(&mut self, expression: &'p Expr) -> Lowered<Option<Place>> {
        let mut place = match self.steps(expression)? {
            Some(place) => place,
            None => return Ok(None),
        };
        let known = |step: &Step| match step {
            Step::Part(at) => Some(*at),
            _ => None,
        };
        place.fixed = place.steps.iter().map(known).collect::<Option<Vec<u32>>>().map(Vec::into_boxed_slice);
        Ok(Some(place))
    }

    fn steps(&mut self, expression: &'p Expr) -> Lowered<Option<Place>> {
        match &expression.kind {
            ExprKind::Name { .. } => {
                let binding = self.facts.name(expression).and_then(|id| self.binding(id));
                Ok(match binding {
                    Some(Binding::Slot(slot, shape)) => {
                        Some(Place { slot: *slot, steps: Vec::new(), fixed: None, shape: shape.clone() })
                    }
                    _ => None,
                })
            }
            ExprKind::Member(owner, member) => {
                if self.is_type(owner) {
                    return Ok(None);
                }
                let Some(mut place) = self.steps(owner)? else { return Ok(None) };
                let step = match (self.type_of(owner), &*member.text) {
                    (Type::Stack(_, size), "next") => Step::Next(self.bound(owner, size)),
                    (Type::Stack(..), "last") => Step::Last,
                    (Type::Stack(..), _) => return Ok(None),
                    (ty, name) => match self.field(&ty, name) {
                        Some(at) => Step::Part(at),
                        None => return Ok(None),
                    },
                };
                self.step(&mut place, step);
                Ok(Some(place))
            }
            ExprKind::Index(owner, index) => {
                let Some(mut place) = self.steps(owner)? else { return Ok(None) };
                let step = match self.value(index, None)? {
                    Ex::Constant(value) => Step::Part(u32::try_from(value.bits()).unwrap_or(u32::MAX)),
                    index => Step::Index(index),
                };
                self.step(&mut place, step);
                Ok(Some(place))
            }
            _ => Ok(None),
        }
    }

    /// How many elements of a stack a packet may have, if that is fewer than there are.
    fn bound(&mut self, stack: &Expr, size: u32) -> Option<u32> {
        let mut name = Vec::new();
        let mut rest = stack;
        while let ExprKind::Member(owner, member) = &rest.kind {
            name.push(&*member.text);
            rest = owner;
        }
        if let ExprKind::Name { name: first, .. } = &rest.kind {
            name.push(&*first.text);
        }
        name.reverse();
        let name = name.join(".");
        let bound = self.code.allowed.bound(&name);
        self.code.less.insert(Less::Bound(name), bound.map_or(size, |bound| size.min(bound)));
        bound
    }

    fn step(&self, place: &mut Place, step: Step) {
        place.shape = match &step {
            Step::Part(at) => place.shape.part(*at).clone(),
            _ => place.shape.part(0).clone(),
        };
        place.steps.push(step);
    }

    /// What an expression that is written to names.
    pub(super) fn target(&mut self, expression: &'p Expr) -> Lowered<Target> {
        if let Some(place) = self.place(expression)? {
            return Ok(Target { place, slice: None });
        }
        let (of, low, width) = match &expression.kind {
            ExprKind::Slice(of, high, low) => {
                let (high, low) = (self.constant_of(high)?, self.constant_of(low)?);
                let width = (high.saturating_sub(low) + 1) as u32;
                (of, Ex::Constant(crate::front::interpret::value::Value::Bits(low)), width)
            }
            ExprKind::Part(of, low, width) => {
                let width = self.constant_of(width)? as u32;
                (of, self.value(low, None)?, width)
            }
            _ => return self.refuse(expression.at.span, "a place of this form"),
        };
        let inner = self.target(of)?;
        let low = match inner.slice {
            None => low,
            // A slice of a slice is one that begins higher.
            Some((outer, _)) => self.sum(*outer, low),
        };
        Ok(Target { place: inner.place, slice: Some((Box::new(low), width)) })
    }

    /// The index of a field.
    pub(super) fn field(&self, ty: &Type, name: &str) -> Option<u32> {
        let at = match ty {
            Type::Pairs(all, _) => all.iter().position(|(field, _)| &**field == name),
            _ => self.facts.fields(ty)?.1.iter().position(|(field, _)| &**field == name),
        };
        at.map(|at| at as u32)
    }

    /// Whether an expression is the name of a type.
    pub(super) fn is_type(&self, expression: &Expr) -> bool {
        match &expression.kind {
            ExprKind::Type(_) => true,
            ExprKind::Name { .. } => self.facts.name(expression).is_none(),
            _ => false,
        }
    }
}
