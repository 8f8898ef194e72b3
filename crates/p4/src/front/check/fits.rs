//! Whether a value of one type can stand for another one: the same type, or one of the implicit casts.
//! What was not known of either is found on the way.

use super::Checker;
use super::definitions::{Kind, Param};
use super::types::Type;
use crate::front::syntax::ast::Fields;
use std::rc::Rc;

impl Checker<'_> {
    /// Whether a value of type `from` may stand where `to` is needed.
    pub(super) fn fits(&mut self, from: &Type, to: &Type) -> bool {
        let (from, to) = (self.known(from), self.known(to));
        match (&from, &to) {
            (Type::Unknown, _) | (_, Type::Unknown | Type::Any) => true,
            (Type::Int, Type::Bit(_) | Type::Signed(_)) => true,
            (Type::Int, Type::Named(..)) if matches!(self.renamed(&to), Some(Type::Bit(_) | Type::Signed(_))) => true,
            (Type::Dots, _) => !self.is_object(&to),
            (Type::Invalid, _) => matches!(self.fields(&to), Some((Fields::Header | Fields::Union, _))),
            (Type::Braces(values), _) => self.braces_fit(values, &to),
            (Type::Pairs(values, dots), _) => self.pairs_fit(values, *dots, &to),
            _ if self.unify(&from, &to) => true,
            _ => match self.underlying(&from) {
                Some(underlying) => underlying == to,
                None => false,
            },
        }
    }

    fn braces_fit(&mut self, values: &Rc<[Type]>, to: &Type) -> bool {
        let dots = values.last() == Some(&Type::Dots);
        let given = values.len() - usize::from(dots);
        let each = |checker: &mut Self, wanted: &[Type]| {
            let enough = if dots { given <= wanted.len() } else { given == wanted.len() };
            enough && values[..given].iter().zip(wanted).all(|(value, wanted)| checker.fits(value, wanted))
        };
        match to {
            Type::Tuple(wanted) => each(self, wanted),
            Type::List(element) => values.iter().all(|value| self.fits(value, element)),
            Type::Stack(element, size) => {
                let size = *size as usize;
                given <= size && (dots || given == size || self.fields(element).is_some()) && {
                    values[..given].iter().all(|value| self.fits(value, element))
                }
            }
            Type::Infer(_) => {
                let tuple = Type::Tuple(values.clone());
                self.unify(&tuple, to)
            }
            Type::Braces(other) => {
                other.len() == values.len() && values.iter().zip(other.iter()).all(|(a, b)| self.fits(a, b))
            }
            _ => match self.fields(to) {
                Some((Fields::Struct | Fields::Header, fields)) => {
                    let wanted: Vec<Type> = fields.into_iter().map(|(_, ty)| ty).collect();
                    each(self, &wanted)
                }
                _ => false,
            },
        }
    }

    fn pairs_fit(&mut self, values: &Rc<[(Rc<str>, Type)]>, dots: bool, to: &Type) -> bool {
        if let Type::Infer(_) = to {
            return self.unify(&Type::Pairs(values.clone(), dots), to);
        }
        let Some((Fields::Struct | Fields::Header, fields)) = self.fields(to) else { return false };
        let all = dots || values.len() == fields.len();
        all && values.iter().all(|(name, value)| match fields.iter().find(|(field, _)| field == name) {
            Some((_, wanted)) => self.fits(value, wanted),
            None => false,
        })
    }

    /// Whether two types are the same, once what is not known of them is found.
    pub(super) fn unify(&mut self, one: &Type, two: &Type) -> bool {
        let (one, two) = (self.known(one), self.known(two));
        match (&one, &two) {
            (Type::Unknown | Type::Any, _) | (_, Type::Unknown | Type::Any) => true,
            (Type::Infer(a), Type::Infer(b)) if a == b => true,
            (Type::Infer(n), other) | (other, Type::Infer(n)) => {
                if self.occurs(*n, other) {
                    return false;
                }
                self.found[*n as usize] = Some(match other {
                    Type::Braces(values) => Type::Tuple(values.clone()),
                    other => other.clone(),
                });
                true
            }
            (Type::Named(a, these), Type::Named(b, those)) if a == b => {
                // Without arguments is the bare name of something generic.
                these.is_empty() || those.is_empty() || self.unify_all(these, those)
            }
            (Type::Named(a, these), Type::Named(b, those)) => self.unify_blocks((*a, these), (*b, those)),
            (Type::Stack(a, n), Type::Stack(b, m)) => n == m && self.unify(a, b),
            (Type::Tuple(a) | Type::Braces(a), Type::Tuple(b) | Type::Braces(b)) => self.unify_all(a, b),
            (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) => self.unify(a, b),
            _ => one == two,
        }
    }

    fn unify_all(&mut self, these: &[Type], those: &[Type]) -> bool {
        these.len() == those.len() && these.iter().zip(those).all(|(a, b)| self.unify(a, b))
    }

    /// Whether an unknown type is a part of another one.
    fn occurs(&self, n: u32, ty: &Type) -> bool {
        match ty {
            Type::Infer(other) => *other == n,
            Type::Named(_, all) | Type::Tuple(all) | Type::Braces(all) => all.iter().any(|a| self.occurs(n, a)),
            Type::Stack(element, _) | Type::List(element) | Type::Set(element) => self.occurs(n, element),
            Type::Pairs(all, _) => all.iter().any(|(_, a)| self.occurs(n, a)),
            _ => false,
        }
    }

    /// Whether two parsers or controls take the same parameters.
    fn unify_blocks(&mut self, one: (super::DefId, &Rc<[Type]>), two: (super::DefId, &Rc<[Type]>)) -> bool {
        let (Some((kind, these)), Some((other, those))) = (self.block_parameters(one), self.block_parameters(two))
        else {
            return false;
        };
        let least = those.iter().filter(|p| !p.absent).count();
        if kind != other || !(least..=those.len()).contains(&these.len()) {
            return false;
        }
        these.iter().zip(&those).all(|(a, b)| a.direction == b.direction && self.unify(&a.ty, &b.ty))
    }

    /// Parameters of a parser or control with type arguments put in; what has none takes any.
    fn block_parameters(
        &mut self,
        (id, arguments): (super::DefId, &Rc<[Type]>),
    ) -> Option<(crate::front::syntax::ast::BlockKind, Vec<Param>)> {
        let Kind::Block { kind, types, parameters, .. } = self.definition(id).kind.clone() else { return None };
        let arguments: Vec<Type> = match arguments.is_empty() {
            true => types.iter().map(|_| self.fresh()).collect(),
            false => arguments.to_vec(),
        };
        let put = |checker: &Self, p: Param| Param { ty: checker.substitute(&p.ty, &types, &arguments), ..p };
        Some((kind, parameters.into_iter().map(|p| put(self, p)).collect()))
    }
}
