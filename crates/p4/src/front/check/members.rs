//! Members of values and types, and what can be written to.

use super::definitions::Kind;
use super::scope::nearest;
use super::types::Type;
use super::{Checker, Place, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{Expr, ExprKind, Name};
use std::rc::Rc;

impl Checker<'_> {
    /// The type of `owner.member`, which is no call.
    pub(super) fn member(&mut self, owner: &Expr, member: &Name, span: Span) -> Type {
        if let Some(ty) = self.denotes_type(owner) {
            self.types[owner.at.id as usize] = ty.clone();
            return self.member_of_type(&ty, member);
        }
        let ty = self.infer(owner);
        match (&ty, &*member.text) {
            (Type::Unknown, _) => Type::Unknown,
            (Type::Stack(element, _), "next" | "last") => {
                if self.fields(element).is_none() {
                    return self.no_member(&ty, member, &[]);
                }
                if self.place != Place::State {
                    let what = format!("`{}` of a stack", member.text);
                    self.note(span, Problem::Place { what, place: self.place.text().to_string() });
                }
                Type::clone(element)
            }
            (Type::Stack(..), "lastIndex") if self.place != Place::State => {
                let what = "`lastIndex` of a stack".to_string();
                self.note(span, Problem::Place { what, place: self.place.text().to_string() });
                Type::Unknown
            }
            (Type::Stack(..), "size" | "lastIndex") => Type::Bit(32),
            (Type::Applied(_), "hit" | "miss") => Type::Bool,
            (Type::Applied(id), "action_run") => Type::ActionRun(*id),
            (Type::Pairs(all, _), _) => match all.iter().find(|(name, _)| *name == member.text) {
                Some((_, ty)) => ty.clone(),
                None => self.no_member(&ty, member, &[]),
            },
            _ => {
                let Some((_, fields)) = self.fields(&ty) else { return self.no_member(&ty, member, &[]) };
                match fields.iter().find(|(name, _)| *name == member.text) {
                    Some((_, ty)) => ty.clone(),
                    None => {
                        let names: Vec<Rc<str>> = fields.into_iter().map(|(name, _)| name).collect();
                        self.no_member(&ty, member, &names)
                    }
                }
            }
        }
    }

    /// Notes a member that is not there.
    pub(super) fn no_member(&mut self, owner: &Type, member: &Name, names: &[Rc<str>]) -> Type {
        let near = nearest(&member.text, names.iter());
        let hint = match near {
            Some(near) => format!("; did you mean `{near}`?"),
            None if names.is_empty() => String::new(),
            None => {
                const SHOWN: usize = 8;
                let shown: Vec<&str> = names.iter().take(SHOWN).map(|name| &**name).collect();
                format!("; it has {}{}", shown.join(", "), if names.len() > SHOWN { ", ..." } else { "" })
            }
        };
        let owner = self.show(owner);
        self.note(member.span, Problem::Member { owner, member: member.text.to_string(), hint });
        Type::Unknown
    }

    fn member_of_type(&mut self, ty: &Type, member: &Name) -> Type {
        match ty {
            Type::Error => {
                if self.errors.contains_key(&member.text) {
                    return Type::Error;
                }
                let mut names: Vec<Rc<str>> = self.errors.keys().cloned().collect();
                names.sort();
                self.no_member(ty, member, &names)
            }
            Type::MatchKind => {
                if self.match_kinds.contains_key(&member.text) {
                    return Type::MatchKind;
                }
                let mut names: Vec<Rc<str>> = self.match_kinds.keys().cloned().collect();
                names.sort();
                self.no_member(ty, member, &names)
            }
            Type::Named(id, _) => match &self.definition(*id).kind {
                Kind::Enum { members, .. } => {
                    let names: Vec<Rc<str>> = members.iter().map(|(name, _)| name.clone()).collect();
                    if names.contains(&member.text) {
                        return ty.clone();
                    }
                    self.no_member(ty, member, &names)
                }
                _ => self.no_member(ty, member, &[]),
            },
            _ => self.no_member(ty, member, &[]),
        }
    }

    /// Whether an expression whose type is known can be written to, or why it cannot.
    pub(super) fn writable(&mut self, expression: &Expr) -> Result<(), String> {
        match &expression.kind {
            ExprKind::Name { global, name } => {
                let Some(id) = self.scopes.find(&name.text, *global).last() else { return Ok(()) };
                match &self.definition(*id).kind {
                    Kind::Variable { read_only: None, ty, .. } if !self.is_object(ty) => Ok(()),
                    Kind::Variable { read_only: Some(why), .. } => Err((*why).to_string()),
                    kind => Err(format!("it is {}", kind.text())),
                }
            }
            ExprKind::Member(owner, member) => {
                if self.denotes_type(owner).is_some() {
                    return Err("it is a constant".to_string());
                }
                match (self.type_of(owner), &*member.text) {
                    (Type::Stack(..), "next" | "last") => self.writable(owner),
                    (Type::Stack(..) | Type::Applied(_), _) => Err("it is what the program only reads".to_string()),
                    _ => self.writable(owner),
                }
            }
            ExprKind::Index(owner, _) => match self.type_of(owner) {
                Type::Stack(..) | Type::Unknown => self.writable(owner),
                Type::Tuple(_) => Err("a tuple is written as a whole".to_string()),
                _ => Err("it is no place".to_string()),
            },
            ExprKind::Slice(owner, ..) | ExprKind::Part(owner, ..) => self.writable(owner),
            _ => Err("it is a value, not a place".to_string()),
        }
    }

    /// Checks what is written to: an expression that names a place.
    pub(super) fn place_written(&mut self, expression: &Expr) {
        if let Err(why) = self.writable(expression) {
            let what = sluice_packet::text::quote(self.sources.slice(expression.at.span));
            self.note(expression.at.span, Problem::ReadOnly { what, why });
        }
    }
}
