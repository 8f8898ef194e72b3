//! Tables: keys, actions, entries and other properties.

use super::calls::{Call, Called};
use super::definitions::{DefId, Kind, Param, Signature, Table};
use super::types::Type;
use super::value::{Value, wrap};
use super::{Checker, Place, Problem};
use crate::front::syntax::ast::{
    ActionRef, Argument, Binary, Direction, Entry, Expr, ExprKind, Fields, KeyElement, Name, Property, PropertyValue,
    given_name,
};
use std::rc::Rc;

/// An action of a table as its list of actions names it.
struct Listed<'e> {
    id: DefId,
    name: Rc<str>,
    signature: Rc<Signature>,
    arguments: &'e [Argument],
    default_only: bool,
    table_only: bool,
}

impl Checker<'_> {
    pub(super) fn table(&mut self, name: &Name, properties: &[Property]) {
        self.distinct(properties.iter().map(|p| &p.name));
        let id = self.define_named(name, Kind::Table(Table::default()));
        let wrong = |checker: &mut Self, span, what: &str| {
            checker.note(span, Problem::Table { table: name.text.to_string(), what: what.to_string() });
        };
        let mut keys: Option<Vec<(Type, Name)>> = None;
        let mut listed: Option<Vec<Listed<'_>>> = None;
        for property in properties {
            match &property.value {
                PropertyValue::Key(elements) => keys = Some(self.keys(elements)),
                PropertyValue::Actions(actions) => {
                    listed = Some(self.within(Place::Argument, |c| c.listed(actions)));
                }
                PropertyValue::Entries(_) | PropertyValue::Value(_) => {}
            }
            if property.constant && matches!(&*property.name.text, "key" | "actions") {
                wrong(self, property.name.span, &format!("`{}` is constant by itself", property.name.text));
            }
        }
        if listed.is_none() {
            wrong(self, name.span, "it has no `actions`");
        }
        let listed = listed.unwrap_or_default();
        let place = |wanted: &str| properties.iter().position(|p| &*p.name.text == wanted);
        match (place("default_action"), place("actions")) {
            (Some(default), Some(actions)) if default < actions => {
                wrong(self, properties[default].name.span, "`default_action` stands behind `actions`");
            }
            (None, _) => self.implicit_default(name),
            _ => {}
        }
        if let (Some(key), Some(entries)) = (place("key"), place("entries"))
            && entries < key
        {
            wrong(self, properties[entries].name.span, "`entries` stand behind `key`");
        }
        for property in properties {
            self.annotations(&property.annotations);
            match (&property.value, &*property.name.text) {
                (PropertyValue::Value(value), "default_action") => {
                    self.within(Place::Argument, |c| c.default_action(value, &listed));
                }
                (PropertyValue::Value(value), "size") => self.size(value),
                (PropertyValue::Value(value), "largest_priority_wins") => self.largest_wins(value),
                (PropertyValue::Value(value), "priority_delta") => self.priority_delta(value),
                (PropertyValue::Value(value), _) => {
                    self.property(value);
                }
                (PropertyValue::Entries(entries), _) => match &keys {
                    Some(keys) if !keys.is_empty() => {
                        self.within(Place::Argument, |c| c.entries(entries, keys, &listed, property.constant, name));
                        if !property.constant {
                            self.priorities(entries, properties);
                        }
                    }
                    _ if entries.is_empty() => {}
                    _ => wrong(self, property.name.span, "it has entries, but no key"),
                },
                _ => {}
            }
        }
        let actions = listed.into_iter().map(|action| action.name).collect();
        self.definitions[id.index()].kind = Kind::Table(Table { actions });
    }

    fn keys(&mut self, elements: &[KeyElement]) -> Vec<(Type, Name)> {
        let mut all = Vec::with_capacity(elements.len());
        for element in elements {
            let mut ty = self.within(Place::Key, |c| c.infer(&element.value));
            if !self.is_key(&ty) {
                self.mismatch(element.value.at.span, "a key", &ty, "a number, bool, enum or error");
                ty = Type::Unknown;
            }
            if !self.match_kinds.contains_key(&element.kind.text) {
                let mut kinds: Vec<&str> = self.match_kinds.keys().map(|kind| &**kind).collect();
                kinds.sort_unstable();
                let hint = match crate::front::source::declares(&element.kind.text) {
                    Some(file) => format!("; {file} declares it: is `#include <{file}>` missing?"),
                    None => String::new(),
                };
                let why = format!("it is no match kind; there are: {}{hint}", kinds.join(", "));
                self.note(element.kind.span, Problem::Key { what: format!("`{}`", element.kind.text), why });
            }
            self.annotations(&element.annotations);
            if matches!(&*element.kind.text, "lpm" | "range") && !self.has_order(&ty) {
                let (what, found) = (format!("`{}`", element.kind.text), self.show(&ty));
                let why = format!("it compares numbers, found {found}");
                self.note(element.value.at.span, Problem::Key { what, why });
                ty = Type::Unknown;
            }
            if let Some(given) = given_name(&element.annotations) {
                let other = all.iter().zip(elements).find(|(_, other)| given_name(&other.annotations) == Some(given));
                if let Some((_, other)) = other {
                    let first = crate::error::place(other.value.at.span, self.sources);
                    let why = format!("another key of the table has that name, at {first}");
                    self.note(element.value.at.span, Problem::ControlName { what: format!("key `{given}`"), why });
                }
            }
            let named = element.annotations.iter().any(|a| &*a.name.text == "name");
            if !named && !has_name(&element.value) {
                let what = sluice_packet::text::quote(self.sources.slice(element.value.at.span));
                let why = "a key that is computed has no name: give it one with @name(\"...\")".to_string();
                self.note(element.value.at.span, Problem::Key { what, why });
            }
            all.push((ty, element.kind.clone()));
        }
        all
    }

    /// Whether values of a type are numbers, whatever they are called.
    fn has_order(&self, ty: &Type) -> bool {
        let of = self.renamed(ty);
        match self.base(of.as_ref().unwrap_or(ty)) {
            Type::Bit(_) | Type::Signed(_) | Type::Int | Type::Unknown | Type::Parameter(_) => true,
            inner => self.renamed(&inner).is_some_and(|of| self.has_order(&of)),
        }
    }

    /// Actions that a table may run.
    fn listed<'e>(&mut self, actions: &'e [ActionRef]) -> Vec<Listed<'e>> {
        let mut all: Vec<Listed<'e>> = Vec::new();
        for action in actions {
            let Some((id, arguments)) = self.action_named(&action.value) else { continue };
            let Kind::Action(signature) = self.definition(id).kind.clone() else { continue };
            self.annotations(&action.annotations);
            if all.iter().any(|other| other.id == id || other.name == signature.name) {
                let what = "an action of that name stands among the actions already".to_string();
                self.note(action.value.at.span, Problem::TableAction { action: format!("`{}`", signature.name), what });
            }
            let given: Vec<Param> =
                signature.parameters.iter().filter(|p| p.direction != Direction::None).cloned().collect();
            let call =
                Call { name: signature.name.clone(), types: &[], arguments, span: action.value.at.span, id: None };
            self.bind(&given, &[], &call, Called::Action);
            self.action_data_types(&signature, action);
            let marked = |word: &str| action.annotations.iter().any(|a| &*a.name.text == word);
            all.push(Listed {
                id,
                name: signature.name.clone(),
                signature,
                arguments,
                default_only: marked("defaultonly"),
                table_only: marked("tableonly"),
            });
        }
        all
    }

    /// The control plane gives values, and structs and headers of them.
    fn action_data_types(&mut self, signature: &Signature, action: &ActionRef) {
        let data = signature.parameters.iter().filter(|p| p.direction == Direction::None);
        if let Some(p) = data.into_iter().find(|p| !self.is_key(&p.ty) && !self.is_composed(&p.ty)) {
            let what = format!("its data `{}` is of {}, which no table entry holds", p.name, self.show(&p.ty));
            self.note(action.value.at.span, Problem::TableAction { action: format!("`{}`", signature.name), what });
        }
    }

    /// Whether a type has fields, all of which the control plane gives.
    fn is_composed(&self, ty: &Type) -> bool {
        self.look_into(true, || match ty {
            Type::Tuple(all) => all.iter().all(|ty| self.is_key(ty) || self.is_composed(ty)),
            _ => match self.fields(ty) {
                Some((Fields::Struct | Fields::Header, fields)) => {
                    fields.iter().all(|(_, ty)| self.is_key(ty) || self.is_composed(ty))
                }
                _ => false,
            },
        })
    }

    /// The action that is named, with its arguments.
    fn action_named<'e>(&mut self, value: &'e Expr) -> Option<(DefId, &'e [Argument])> {
        let (callee, arguments): (&Expr, &[Argument]) = match &value.kind {
            ExprKind::Call(callee, types, arguments) if types.is_empty() => (callee, arguments),
            _ => (value, &[]),
        };
        let ExprKind::Name { global, name } = &callee.kind else {
            let action = sluice_packet::text::quote(self.sources.slice(value.at.span));
            self.note(value.at.span, Problem::TableAction { action, what: "it is no action".to_string() });
            return None;
        };
        let id = self.lookup(name, *global)?;
        if !matches!(self.definition(id).kind, Kind::Action(_)) {
            let what = format!("it is {}, no action", self.definition(id).kind.text());
            self.note(name.span, Problem::TableAction { action: format!("`{}`", name.text), what });
            return None;
        }
        self.names(callee, id);
        Some((id, arguments))
    }

    /// A table without default action runs `NoAction`.
    fn implicit_default(&mut self, table: &Name) {
        let Some(id) = self.scopes.find("NoAction", true).last() else { return };
        let plain = match &self.definition(*id).kind {
            Kind::Action(signature) => signature.parameters.is_empty(),
            _ => false,
        };
        if !plain {
            let what = "it has no default action, and `NoAction` is no action without parameters".to_string();
            self.note(table.span, Problem::Table { table: table.text.to_string(), what });
        }
    }

    fn default_action(&mut self, value: &Expr, listed: &[Listed<'_>]) {
        let Some((id, arguments)) = self.action_named(value) else { return };
        let name = self.definition(id).name.clone();
        let wrong = |checker: &mut Self, what: &str| {
            let what = what.to_string();
            checker.note(value.at.span, Problem::TableAction { action: format!("`{name}`"), what });
        };
        match listed.iter().find(|action| action.id == id) {
            None => wrong(self, "it is the default action, but not among the actions of the table"),
            Some(action) if action.table_only => wrong(self, "it is the default action, but marked @tableonly"),
            Some(action) => self.action_data(action, arguments, value),
        }
    }

    /// Arguments of a default action or entry: those of the list again, and then the data.
    fn action_data(&mut self, action: &Listed<'_>, arguments: &[Argument], value: &Expr) {
        let directed = action.signature.parameters.iter().filter(|p| p.direction != Direction::None).count();
        let call = Call { name: action.name.clone(), types: &[], arguments, span: value.at.span, id: None };
        self.bind(&action.signature.parameters, &[], &call, Called::Action);
        let wrong = |checker: &mut Self, what: &str| {
            let what = what.to_string();
            checker.note(value.at.span, Problem::TableAction { action: format!("`{}`", action.name), what });
        };
        let same = arguments.iter().zip(action.arguments).all(|(one, two)| says_the_same(&one.value, &two.value));
        if directed > 0 && arguments.iter().all(|a| a.name.is_none()) && !same {
            wrong(self, "its arguments with a direction are not those that stand among the actions");
        }
        for (i, argument) in arguments.iter().enumerate() {
            let at = match &argument.name {
                Some(name) => action.signature.parameters.iter().find(|p| p.name == name.text),
                None => action.signature.parameters.get(i),
            };
            let data = at.is_some_and(|p| p.direction == Direction::None);
            if data && self.type_of(&argument.value) != Type::Unknown && !self.is_known_before(&argument.value) {
                let what = "data of an action".to_string();
                self.note(argument.value.at.span, Problem::Constant { what, why: "as a table needs it".to_string() });
            }
        }
    }

    fn size(&mut self, value: &Expr) {
        let ty = self.infer(value);
        if !matches!(self.base(&ty), Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown) {
            return self.mismatch(value.at.span, "the size of a table", &ty, "a number");
        }
        if ty != Type::Unknown && !self.is_known_before(value) {
            let what = "the size of a table".to_string();
            self.note(value.at.span, Problem::Constant { what, why: "which is needed here".to_string() });
        }
        if let Some(Value::Number(number)) = self.constant(value) {
            self.not_below(value, "the size of a table", &number, 0);
        }
    }

    pub(super) fn not_below(&mut self, value: &Expr, what: &str, found: &num_bigint::BigInt, least: u8) {
        if *found < num_bigint::BigInt::from(least) {
            let (what, found) = (what.to_string(), found.to_string());
            self.note(value.at.span, Problem::Range { what, found, allowed: format!("{least} and more") });
        }
    }

    /// A property that belongs to the architecture.
    fn property(&mut self, value: &Expr) {
        let is_action = match &value.kind {
            ExprKind::Name { global, name } => self.scopes.find(&name.text, *global).last().copied(),
            ExprKind::Call(callee, _, _) => match &callee.kind {
                ExprKind::Name { global, name } => self.scopes.find(&name.text, *global).last().copied(),
                _ => None,
            },
            _ => None,
        };
        if is_action.is_some_and(|id| matches!(self.definition(id).kind, Kind::Action(_))) {
            return;
        }
        self.infer(value);
    }

    /// Notes what is not one value where the key is compared whole.
    fn one_value(&mut self, value: &Expr, kind: &Name) {
        let found = match &value.kind {
            ExprKind::Mask(..) => "a value and a mask",
            ExprKind::Range(..) => "a range",
            _ => return,
        };
        if matches!(&*kind.text, "exact" | "optional") {
            let what = format!("an entry of {}", kind.text);
            let why = format!("found {found}, expected one value; `ternary` and `range` are the match kinds for these");
            self.note(value.at.span, Problem::Key { what, why });
        }
    }

    /// Notes what is no prefix of a key: a mask with a hole.
    fn prefix(&mut self, value: &Expr, key: &Type) {
        let (Type::Bit(width), ExprKind::Mask(_, mask)) = (self.base(key), &value.kind) else { return };
        let Some(Value::Number(mask)) = self.constant(mask) else { return };
        let rest = wrap(-mask - 1, &Type::Bit(width));
        if (&rest & (&rest + 1)) != num_bigint::BigInt::from(0) {
            let (what, why) = ("an entry of lpm".to_string(), "its mask has ones behind zeros".to_string());
            self.note(value.at.span, Problem::Key { what, why });
        }
    }

    fn entries(&mut self, all: &[Entry], keys: &[(Type, Name)], listed: &[Listed<'_>], constant: bool, table: &Name) {
        let types: Vec<Type> = keys.iter().map(|(ty, _)| ty.clone()).collect();
        if let ([first, others @ ..], false) = (all, constant)
            && first.priority.is_none()
            && others.iter().any(|entry| entry.priority.is_some())
        {
            let what = "where one of its entries has a priority the first one has, too".to_string();
            self.note(first.span, Problem::Table { table: table.text.to_string(), what });
        }
        for entry in all {
            if self.notes.full() {
                return;
            }
            self.annotations(&entry.action.annotations);
            if let (Some(priority), true) = (&entry.priority, constant) {
                let what = "its entries are constant, so their order is their priority, and none is given".to_string();
                self.note(priority.at.span, Problem::Table { table: table.text.to_string(), what });
                continue;
            }
            if let Some(priority) = &entry.priority {
                self.priority(priority, keys, table);
            }
            self.key_set(&entry.values, &types, &format!("table `{}`", table.text));
            for value in &entry.values {
                let any =
                    matches!(value.kind, ExprKind::Any | ExprKind::Default | ExprKind::Mask(..) | ExprKind::Range(..));
                if !any && self.type_of(value) != Type::Unknown && !self.is_known_before(value) {
                    let what = "what a key is compared with".to_string();
                    self.note(value.at.span, Problem::Constant { what, why: "as entries need it".to_string() });
                }
            }
            for (value, (ty, kind)) in entry.values.iter().zip(keys) {
                if &*kind.text == "lpm" {
                    self.prefix(value, ty);
                }
                self.one_value(value, kind);
            }
            let Some((id, arguments)) = self.action_named(&entry.action.value) else { continue };
            let name = self.definition(id).name.clone();
            let what = match listed.iter().find(|action| action.id == id) {
                Some(action) if action.default_only => "an entry runs it, but it is marked @defaultonly",
                Some(action) => {
                    self.action_data(action, arguments, &entry.action.value);
                    continue;
                }
                None => "an entry runs it, but it is not among the actions of the table",
            };
            let (action, what) = (format!("`{name}`"), what.to_string());
            self.note(entry.action.value.at.span, Problem::TableAction { action, what });
        }
    }
}

/// Whether two arguments are the same; fields of a struct may stand in another order.
fn says_the_same(one: &Expr, two: &Expr) -> bool {
    match (&one.kind, &two.kind) {
        (ExprKind::Struct(these, a), ExprKind::Struct(those, b)) => {
            a == b && these.len() == those.len() && these.iter().all(|field| those.contains(field))
        }
        _ => one == two,
    }
}

/// Whether the control plane has a name for a key by itself: section 18.3.2 of the specification.
fn has_name(key: &Expr) -> bool {
    match &key.kind {
        ExprKind::Binary(Binary::BitAnd, left, right) => has_name(left) && has_name(right),
        ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Choice(..) => false,
        ExprKind::Member(owner, _) | ExprKind::Slice(owner, ..) | ExprKind::Index(owner, _) => has_name(owner),
        ExprKind::Call(callee, _, _) => match &callee.kind {
            ExprKind::Member(owner, member) => &*member.text == "isValid" && has_name(owner),
            _ => false,
        },
        _ => true,
    }
}
