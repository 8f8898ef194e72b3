//! Parsers and controls.

use super::definitions::Kind;
use super::types::Type;
use super::{Checker, Place, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    Block, BlockKind, Body, Declaration, DeclarationKind as K, Expr, ExprKind, Fields, Name, SelectCase, State,
    Transition,
};

impl Checker<'_> {
    pub(super) fn block(&mut self, block: &Block) {
        let (types, parameters, constructor) = self.scoped(|c| {
            let types = c.type_names(&block.types);
            c.distinct_from_types(&types, &block.parameters);
            let parameters = c.parameters(&block.parameters, false);
            let constructor = c.parameters(block.constructor.as_deref().unwrap_or_default(), false);
            c.without_direction(&constructor, block.name.span);
            c.without_blocks(&parameters, false, block.name.span);
            c.without_blocks(&constructor, true, block.name.span);
            c.without_optional(&constructor, block.name.span);
            (types, parameters, constructor)
        });
        let id = self.define_named(
            &block.name,
            Kind::Block {
                kind: block.kind,
                types: types.clone(),
                parameters: parameters.clone(),
                constructor: constructor.clone(),
                has_body: block.body.is_some(),
            },
        );
        let Some(body) = &block.body else { return };
        let controlled =
            |local: &Declaration| matches!(local.kind, K::Table { .. } | K::ValueSet { .. } | K::Instance(_));
        if body.locals.iter().any(controlled) {
            self.controlled.insert(id);
        }
        let both = block.parameters.iter().chain(block.constructor.iter().flatten());
        self.distinct(both.map(|p| &p.name));
        let place = match block.kind {
            BlockKind::Parser => Place::ParserLocals,
            BlockKind::Control => Place::ControlLocals,
        };
        self.body_of(id, place, Type::Void, |c| {
            for (name, id) in block.types.iter().zip(&types) {
                c.scopes.declare(&name.text, *id);
            }
            c.declare_parameters(&block.parameters, &parameters, false);
            if let Some(written) = &block.constructor {
                c.declare_parameters(written, &constructor, false);
            }
            c.scoped(|c| match block.kind {
                BlockKind::Parser => c.parser_body(&block.name, body),
                BlockKind::Control => c.control_body(body),
            });
        });
    }

    fn control_body(&mut self, body: &Body) {
        for local in &body.locals {
            self.declaration(local);
            self.annotations(&local.annotations);
        }
        self.within(Place::Apply, |c| c.scoped(|c| c.statements(&body.apply)));
    }

    fn parser_body(&mut self, parser: &Name, body: &Body) {
        for local in &body.locals {
            self.declaration(local);
            self.annotations(&local.annotations);
        }
        let before = std::mem::take(&mut self.states);
        self.states = body.states.iter().map(|state| state.name.text.clone()).collect();
        for state in &body.states {
            if matches!(&*state.name.text, "accept" | "reject") {
                let what = format!("state `{}` is there by itself", state.name.text);
                self.note(state.name.span, Problem::State { parser: parser.text.to_string(), what });
            }
            self.define_named(&state.name, Kind::State);
        }
        if !self.states.iter().any(|name| &**name == "start") {
            let what = "it has no state `start`".to_string();
            self.note(parser.span, Problem::State { parser: parser.text.to_string(), what });
        }
        for state in &body.states {
            self.state(parser, state);
        }
        if self.states.iter().any(|name| &**name == "start") && !ends(&body.states) {
            let what = "no way from `start` ends in `accept` or `reject`".to_string();
            self.note(parser.span, Problem::State { parser: parser.text.to_string(), what });
        }
        self.states = before;
    }

    fn state(&mut self, parser: &Name, state: &State) {
        self.annotations(&state.annotations);
        self.within(Place::State, |c| {
            c.scoped(|c| {
                c.statements(&state.statements);
                match &state.transition {
                    None => {}
                    Some(Transition::Direct(name)) => c.state_name(parser, name),
                    Some(Transition::Select { keys, cases, .. }) => {
                        c.select(keys, cases);
                        cases.iter().for_each(|case| c.state_name(parser, &case.state));
                    }
                }
            });
        });
    }

    fn state_name(&mut self, parser: &Name, name: &Name) {
        let known = matches!(&*name.text, "accept" | "reject") || self.states.contains(&name.text);
        if !known {
            let what = format!("it has no state `{}`", name.text);
            self.note(name.span, Problem::State { parser: parser.text.to_string(), what });
        }
    }

    fn select(&mut self, keys: &[Expr], cases: &[SelectCase]) {
        let mut types: Vec<Type> = keys.iter().map(|key| self.infer(key)).collect();
        let mut spans: Vec<Span> = keys.iter().map(|key| key.at.span).collect();
        // A list in braces of its own is the keys, too.
        if let [Type::Braces(all)] = &types[..] {
            spans = vec![spans[0]; all.len()];
            types = all.to_vec();
        }
        let selected = |c: &Self, ty: &Type| c.is_key(ty) && !matches!(ty, Type::Varbit(_));
        for (ty, span) in types.iter_mut().zip(spans) {
            let is_list = matches!(ty, Type::Braces(all) if all.iter().all(|ty| selected(self, ty)));
            if !is_list && !selected(self, ty) {
                self.mismatch(span, "what is selected by", ty, "a number, bool, enum or error");
                *ty = Type::Unknown;
            }
            if *ty == Type::Int {
                self.mismatch(span, "what is selected by", ty, "a number with a width, as 8w1");
                *ty = Type::Unknown;
            }
        }
        for case in cases {
            self.key_set(&case.values, &types, "select");
        }
    }

    /// Whether values of a type can be compared with a set.
    pub(super) fn is_key(&self, ty: &Type) -> bool {
        self.look_into(true, || self.is_key_in(ty))
    }

    fn is_key_in(&self, ty: &Type) -> bool {
        match self.base(ty) {
            Type::Unknown | Type::Bool | Type::Bit(_) | Type::Signed(_) | Type::Int | Type::Error => true,
            Type::Varbit(_) | Type::Parameter(_) | Type::MatchKind => true,
            Type::Named(id, _) => match &self.definition(id).kind {
                Kind::New(of) => self.is_key(of),
                kind => matches!(kind, Kind::Enum { .. }),
            },
            _ => false,
        }
    }

    /// Checks what keys are compared with: one value for each, or one for all.
    pub(super) fn key_set(&mut self, values: &[Expr], keys: &[Type], of: &str) {
        if let [Expr { kind: ExprKind::List(values), .. }] = values
            && !matches!(keys, [Type::Braces(_)])
        {
            return self.key_set(values, keys, of);
        }
        if let ([value], true) = (values, keys.len() != 1) {
            let any = matches!(value.kind, ExprKind::Any | ExprKind::Default);
            if any {
                self.set(value, Type::Any);
                return;
            }
            let ty = self.infer(value);
            let each: Option<Vec<Type>> = match &ty {
                Type::Set(element) => match &**element {
                    Type::Tuple(all) => Some(all.to_vec()),
                    element => self.fields(element).is_some().then(|| self.flattened(element, 8)),
                },
                Type::Braces(all) => Some(all.to_vec()),
                Type::Unknown => return,
                _ => None,
            };
            let same = each.is_some_and(|each| {
                each.len() == keys.len() && each.iter().zip(keys).all(|(value, key)| self.set_fits(value, key))
            });
            if !same {
                let expected = format!("{} values, one for each key", keys.len());
                self.mismatch(value.at.span, format!("what the keys of {of} are compared with"), &ty, expected);
            }
            return;
        }
        if values.len() != keys.len() {
            let (found, expected) = (values.len(), keys.len());
            let what = format!("{found} values for {expected} keys");
            let span = values.first().map_or(Span::default(), |value| value.at.span);
            self.note(span, Problem::Key { what, why: format!("{of} compares each of its keys") });
            return;
        }
        for (value, key) in values.iter().zip(keys) {
            self.key_value(value, key, of);
        }
    }

    /// Types of a struct's fields, and of those of structs in it.
    fn flattened(&self, ty: &Type, depth: usize) -> Vec<Type> {
        self.look_into(Vec::new(), || self.flattened_in(ty, depth))
    }

    fn flattened_in(&self, ty: &Type, depth: usize) -> Vec<Type> {
        match self.fields(ty) {
            Some((Fields::Struct, fields)) if depth > 0 => {
                fields.iter().flat_map(|(_, ty)| self.flattened(ty, depth - 1)).collect()
            }
            _ => vec![ty.clone()],
        }
    }

    /// Whether a set of one type is one of another: values of both are alike.
    fn set_fits(&mut self, element: &Type, key: &Type) -> bool {
        let alike = |checker: &Self, ty: &Type| checker.base(&checker.renamed(ty).unwrap_or_else(|| ty.clone()));
        self.fits(element, key) || alike(self, element) == alike(self, key)
    }

    fn key_value(&mut self, value: &Expr, key: &Type, of: &str) {
        if matches!(value.kind, ExprKind::Any | ExprKind::Default) {
            self.set(value, Type::Any);
            return;
        }
        let found = self.infer(value);
        let what = format!("what a key of {of} is compared with");
        match &found {
            Type::Set(element) => {
                // A set of structs with one field is one of that field.
                let element = match &self.flattened(element, 8)[..] {
                    [one] => one.clone(),
                    _ => Type::clone(element),
                };
                let numeric = |ty: &Type| matches!(ty, Type::Bit(_) | Type::Signed(_) | Type::Int);
                let renamed = self.renamed(key).unwrap_or_else(|| key.clone());
                let is_pair = matches!(value.kind, ExprKind::Mask(..) | ExprKind::Range(..));
                let by_number = is_pair && numeric(&element) && {
                    let base = self.base(&renamed);
                    self.fits(&element, &base)
                };
                if !by_number && !self.set_fits(&element, key) {
                    let expected = self.show(key);
                    self.mismatch(value.at.span, what, &element, expected);
                } else if let ExprKind::Mask(one, two) | ExprKind::Range(one, two) = &value.kind {
                    // Each side is a number of the key's width, as one value is.
                    for side in [one, two] {
                        if self.type_of(side) == Type::Int {
                            self.cut_to(side, key);
                        }
                    }
                }
            }
            _ => {
                self.expect_type(value, &found, key, &what);
                let call = matches!(value.kind, ExprKind::Call(..)) && found != Type::Unknown;
                if call && self.constant(value).is_none() {
                    let shown = sluice_packet::text::quote(self.sources.slice(value.at.span));
                    self.note(
                        value.at.span,
                        Problem::Constant { what: shown, why: "as a value of a key is".to_string() },
                    );
                }
            }
        }
    }
}

/// Whether a way from `start` ends: in a final state, without a transition, or where no case fits.
fn ends(states: &[State]) -> bool {
    let mut left = vec!["start"];
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = left.pop() {
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let Some(state) = states.iter().find(|state| &*state.name.text == name) else { return true };
        match &state.transition {
            None => return true,
            Some(Transition::Direct(next)) => left.push(&next.text),
            Some(Transition::Select { cases, .. }) => {
                let any = |value: &Expr| matches!(value.kind, ExprKind::Any | ExprKind::Default);
                if !cases.iter().any(|case| case.values.iter().all(any)) {
                    return true;
                }
                left.extend(cases.iter().map(|case| &*case.state.text));
            }
        }
    }
    false
}
