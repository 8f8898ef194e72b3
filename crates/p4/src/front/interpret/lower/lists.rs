//! `{a, b}` and `{x = a}`, and what keys are compared with.

use super::{Binding, Lowered, Lowerer};
use crate::front::check::Type;
use crate::front::interpret::code::{Ex, Set};
use crate::front::interpret::shape::Shape;
use crate::front::syntax::ast::{Expr, ExprKind, Fields, Name};

impl<'p> Lowerer<'p> {
    /// The type that a literal is of: the one wanted, unless that says nothing.
    pub(super) fn literal_type(&self, ty: &Type, wanted: Option<&Type>) -> Type {
        let open = matches!(ty, Type::Braces(_) | Type::Pairs(..));
        match wanted.map(|wanted| self.put(wanted)) {
            Some(wanted) if open && !matches!(wanted, Type::Any | Type::Unknown | Type::Infer(_)) => wanted,
            _ => ty.clone(),
        }
    }

    pub(super) fn list(&mut self, values: &'p [Expr], of: &Type) -> Lowered<Ex> {
        let given = values.iter().filter(|value| !matches!(value.kind, ExprKind::Dots));
        if let Type::Stack(element, size) = of {
            let all = given.map(|value| self.value(value, Some(element))).collect::<Lowered<Vec<Ex>>>()?;
            return Ok(Ex::Stack(all, self.shape(element), *size));
        }
        if let Type::List(element) = of {
            let all = given.map(|value| self.value(value, Some(element))).collect::<Lowered<Vec<Ex>>>()?;
            return Ok(Ex::Struct(all));
        }
        let (kind, types): (Fields, Vec<Type>) = match (of, self.facts.fields(of)) {
            (_, Some((kind, fields))) => (kind, fields.into_iter().map(|(_, ty)| ty).collect()),
            (Type::Tuple(all) | Type::Braces(all), _) => (Fields::Struct, all.to_vec()),
            (Type::Pairs(all, _), _) => (Fields::Struct, all.iter().map(|(_, ty)| ty.clone()).collect()),
            _ => (Fields::Struct, values.iter().map(|value| self.type_of(value)).collect()),
        };
        let mut given = given;
        let mut all = Vec::with_capacity(types.len());
        for ty in types.iter().filter(|ty| !matches!(ty, Type::Dots)) {
            all.push(match given.next() {
                Some(value) => self.value(value, Some(ty))?,
                None => Ex::Constant(self.shape(ty).zero()),
            });
        }
        Ok(if kind == Fields::Header { Ex::Header(all) } else { Ex::Struct(all) })
    }

    pub(super) fn pairs(&mut self, pairs: &'p [(Name, Expr)], of: &Type) -> Lowered<Ex> {
        let (kind, fields) = match (of, self.facts.fields(of)) {
            (_, Some(found)) => found,
            (Type::Pairs(all, _), None) => (Fields::Struct, all.to_vec()),
            _ => {
                let all = pairs.iter().map(|(name, value)| (name.text.clone(), self.type_of(value)));
                (Fields::Struct, all.collect())
            }
        };
        let mut values: Vec<Option<Ex>> = fields.iter().map(|_| None).collect();
        // They are computed in the order in which they are written, which is seen only if they have effects.
        for (name, value) in pairs {
            if let Some(at) = fields.iter().position(|(field, _)| *field == name.text) {
                values[at] = Some(self.value(value, Some(&fields[at].1))?);
            }
        }
        let shapes: Vec<Shape> = fields.iter().map(|(_, ty)| self.shape(ty)).collect();
        let filled = values.into_iter().zip(&shapes).map(|(value, shape)| value.unwrap_or(Ex::Constant(shape.zero())));
        let all: Vec<Ex> = filled.collect();
        Ok(if kind == Fields::Header { Ex::Header(all) } else { Ex::Struct(all) })
    }

    /// Keys of a select; a list in parentheses of its own is the keys, too.
    pub(super) fn keys(&mut self, keys: &'p [Expr]) -> Lowered<(Vec<Ex>, Vec<Type>)> {
        let keys = match keys {
            [Expr { kind: ExprKind::List(all), .. }] => &all[..],
            keys => keys,
        };
        let types = keys.iter().map(|key| self.type_of(key)).collect();
        Ok((keys.iter().map(|key| self.value(key, None)).collect::<Lowered<_>>()?, types))
    }

    /// What keys are compared with.
    pub(super) fn sets(&mut self, values: &'p [Expr], keys: &[Type]) -> Lowered<Vec<Set>> {
        match values {
            [Expr { kind: ExprKind::List(values), .. }] if !matches!(keys, [Type::Braces(_) | Type::Tuple(_)]) => {
                self.sets(values, keys)
            }
            [value] if keys.len() != 1 => Ok(match self.set(value, &Type::Any)? {
                Set::Any => keys.iter().map(|_| Set::Any).collect(),
                set => vec![set],
            }),
            _ => values.iter().zip(keys).map(|(value, key)| self.set(value, key)).collect(),
        }
    }

    fn set(&mut self, value: &'p Expr, key: &Type) -> Lowered<Set> {
        Ok(match &value.kind {
            ExprKind::Any | ExprKind::Default => Set::Any,
            ExprKind::Mask(value, mask) => Set::Mask(self.value(value, Some(key))?, self.value(mask, Some(key))?),
            ExprKind::Range(low, high) => {
                Set::Range(self.value(low, Some(key))?, self.value(high, Some(key))?, self.number(key))
            }
            ExprKind::Name { .. } => {
                let binding = self.facts.name(value).and_then(|id| self.binding(id)).cloned();
                match binding {
                    Some(Binding::ValueSet(at)) => Set::Named(at),
                    _ => Set::Value(self.value(value, Some(key))?),
                }
            }
            _ => Set::Value(self.value(value, Some(key))?),
        })
    }
}
