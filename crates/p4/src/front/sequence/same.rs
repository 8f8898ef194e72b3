//! Headers of two programs that are one.

use super::part::{PARSER, Part};
use super::{Conflict, Joined};
use crate::front::check::{DefId, Facts, Kind, Type, Value};
use crate::front::source::Span;
use crate::front::syntax::ast::{Argument, Expr, ExprKind, Name, Number, Statement, StatementKind};
use crate::front::syntax::change::{self, Change};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Fields of the second program's type by their names in the first one's.
pub(super) type FieldNames = HashMap<Rc<str>, Rc<str>>;

/// What of the second program is what of the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Same {
    /// Its types by name, with the name in the first and its fields.
    pub types: HashMap<Rc<str>, (Rc<str>, FieldNames)>,
    /// Fields of its headers, and where each was met.
    pub fields: BTreeMap<Rc<str>, (Rc<str>, Span, Span)>,
    /// One of them is extracted by the second program on a way on which the first does not.
    pub first_misses: bool,
}

impl Same {
    /// Two types are one, if they have the same bits in the same fields.
    fn types(&mut self, first: (&Part, &Type), second: (&Part, &Type)) -> Result<(), String> {
        let ((one, a), (two, b)) = (first, second);
        match (a, b) {
            (Type::Stack(a, size), Type::Stack(b, other)) => match size == other {
                true => self.types((one, a), (two, b)),
                false => Err(format!("a stack of {other} is met with one of {size}")),
            },
            (Type::Named(a_id, _), Type::Named(b_id, _)) => {
                let (name, other) = (&one.facts.definition(*a_id).name, &two.facts.definition(*b_id).name);
                if let Some((known, _)) = self.types.get(other) {
                    return match known == name {
                        true => Ok(()),
                        false => Err(format!("`{other}` is `{known}` at another place, and `{name}` here")),
                    };
                }
                let (Some((kind, fields)), Some((other_kind, others))) = (one.facts.fields(a), two.facts.fields(b))
                else {
                    return if name == other { Ok(()) } else { Err(format!("`{other}` is met with `{name}`")) };
                };
                if kind != other_kind || fields.len() != others.len() {
                    return Err(format!(
                        "`{other}` with {} fields is met with `{name}` with {}",
                        others.len(),
                        fields.len()
                    ));
                }
                let names = others.iter().zip(&fields).map(|((b, _), (a, _))| (b.clone(), a.clone())).collect();
                self.types.insert(other.clone(), (name.clone(), names));
                for ((field, a), (other_field, b)) in fields.iter().zip(&others) {
                    self.types((one, a), (two, b)).map_err(|why| {
                        format!("`{other}` is met with `{name}`, field `{other_field}` with `{field}`: {why}")
                    })?;
                }
                Ok(())
            }
            _ if a == b => Ok(()),
            _ => Err(format!("{} is met with {}", shown(b), shown(a))),
        }
    }

    /// The first program's name for a field of the second one's, of an owner of that type.
    pub fn field(&self, facts: &Facts, headers: DefId, owner: &Type, field: &str) -> Option<&Rc<str>> {
        match owner {
            Type::Named(id, _) if *id == headers => self.fields.get(field).map(|(name, ..)| name),
            Type::Named(id, _) => self.types.get(&facts.definition(*id).name)?.1.get(field),
            _ => None,
        }
    }

    /// Takes note that both programs take the same bytes here: they have to be one header.
    pub fn meet(&mut self, one: (&Part, &Statement), two: (&Part, &Statement)) -> Joined<()> {
        let ((first, a), (second, b)) = (one, two);
        if let (Some(x), Some(y)) = (extracted(a), extracted(b))
            && let (Some(field), Some(other)) = (root(x, first), root(y, second))
        {
            self.pair(first, second, (&field, a.span), (&other, b.span))?;
        }
        let seen = |part: &Part, statement: &Statement| {
            let mut seen = statement.clone();
            Plain { same: self, part, first }.statement(&mut seen);
            seen
        };
        match seen(first, a) == seen(second, b) {
            true => Ok(()),
            false => Err(Conflict::with(b.span, "bytes that the other program takes in another way", a.span)),
        }
    }

    /// An expression of a program's parser as both would write it.
    pub fn plain(&self, first: &Part, part: &Part, value: &Expr) -> Expr {
        let mut seen = value.clone();
        Plain { same: self, part, first }.expression(&mut seen);
        seen
    }

    /// A field of the second headers is one of the first.
    fn pair(
        &mut self,
        first: &Part,
        second: &Part,
        (field, at): (&Rc<str>, Span),
        (other, span): (&Rc<str>, Span),
    ) -> Joined<()> {
        if let Some((known, met, _)) = self.fields.get(other) {
            return match known == field {
                true => Ok(()),
                false => {
                    let what =
                        format!("`{other}` is extracted with `{field}` here, and with `{known}` at another place");
                    Err(Conflict::with(span, what, *met))
                }
            };
        }
        if let Some((another, (_, met, _))) = self.fields.iter().find(|(_, (known, ..))| known == field) {
            let what = format!(
                "`{field}` of the other program is extracted with `{other}` here, and with `{another}` at another place"
            );
            return Err(Conflict::with(span, what, *met));
        }
        let (Some(a), Some(b)) = (first.field(field), second.field(other)) else {
            return Err(Conflict::with(span, format!("`{other}` is no header"), at));
        };
        self.types((first, &a), (second, &b)).map_err(|why| {
            Conflict::with(
                span,
                format!("`{other}` takes the bytes that are `{field}` of the other program: {why}"),
                at,
            )
        })?;
        self.fields.insert(other.clone(), (field.clone(), at, span));
        Ok(())
    }
}

/// A program's text as it is compared with another's: fields by the first one's names, constants by their values, parameters by their places, and all else that
/// a program has declared as its own.
struct Plain<'a> {
    same: &'a Same,
    part: &'a Part,
    first: &'a Part,
}

impl Plain<'_> {
    fn is_first(&self) -> bool {
        std::ptr::eq(self.part, self.first)
    }

    /// What a name stands for.
    fn stands(&self, value: &Expr, name: &Rc<str>) -> Option<ExprKind> {
        let definition = self.part.facts.name(value).map(|id| self.part.facts.definition(id));
        let own = |word: String| {
            let text = if self.is_first() { word } else { format!("{word} of the second") };
            Some(ExprKind::Name { global: false, name: Name { text: text.into(), span: value.at.span } })
        };
        match definition.map(|definition| &definition.kind) {
            Some(Kind::Constant { value: Some(Value::Number(number)), .. }) => {
                Some(ExprKind::Number(Number { value: number.clone(), width: None, signed: false }))
            }
            Some(Kind::Constant { value: Some(Value::Bool(value)), .. }) => Some(ExprKind::Bool(*value)),
            Some(Kind::Variable { parameter: true, .. }) => {
                let parameters = &self.part.blocks[PARSER].block.parameters;
                match parameters.iter().position(|parameter| parameter.name.text == *name) {
                    Some(at) if at != 2 => Some(ExprKind::Name {
                        global: false,
                        name: Name { text: format!("parameter {at}").into(), span: value.at.span },
                    }),
                    _ => own(name.to_string()),
                }
            }
            Some(kind) if kind.is_type() => None,
            _ => own(name.to_string()),
        }
    }
}

impl Change for Plain<'_> {
    fn expression(&mut self, value: &mut Expr) {
        match &value.kind {
            ExprKind::Name { name, .. } => {
                if let Some(stands) = self.stands(value, &name.text) {
                    value.kind = stands;
                }
                return;
            }
            // A method, or a field.
            ExprKind::Member(owner, member) if !self.is_first() => {
                let Part { facts, headers, .. } = self.part;
                let ty = facts.types.get(owner.at.id as usize).unwrap_or(&Type::Unknown);
                let known = self.same.field(facts, *headers, ty, &member.text).cloned();
                let own = || self.part.is_headers(owner).then(|| format!("{} of the second", member.text).into());
                let field = known.or_else(own);
                if let (Some(field), ExprKind::Member(_, member)) = (field, &mut value.kind) {
                    member.text = field;
                }
            }
            _ => {}
        }
        change::expression(self, value);
    }
}

fn shown(ty: &Type) -> String {
    match ty {
        Type::Bit(width) => format!("bit<{width}>"),
        Type::Signed(width) => format!("int<{width}>"),
        Type::Varbit(width) => format!("varbit<{width}>"),
        Type::Bool => "bool".to_string(),
        Type::Stack(..) => "a stack".to_string(),
        _ => "another type".to_string(),
    }
}

/// What a statement gives to a method, if it is nothing but a call of it.
pub(super) fn given<'a>(statement: &'a Statement, method: &str) -> Option<&'a [Argument]> {
    let StatementKind::Call(Expr { kind: ExprKind::Call(callee, _, arguments), .. }) = &statement.kind else {
        return None;
    };
    matches!(&callee.kind, ExprKind::Member(_, name) if &*name.text == method).then_some(arguments)
}

/// What is extracted by a statement that is nothing but an `extract`.
pub(super) fn extracted(statement: &Statement) -> Option<&Expr> {
    Some(&given(statement, "extract")?.first()?.value)
}

/// The field of the headers that a value is, or a part of.
pub(super) fn root(value: &Expr, part: &Part) -> Option<Rc<str>> {
    match &value.kind {
        ExprKind::Member(owner, member) if part.is_headers(owner) => Some(member.text.clone()),
        ExprKind::Member(owner, _) | ExprKind::Index(owner, _) => root(owner, part),
        _ => None,
    }
}
