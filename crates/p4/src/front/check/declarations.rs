//! Declarations: types, constants, variables, functions, actions, externs.

use super::definitions::{DefId, Definition, Kind, Param, Signature};
use super::scope::differ;
use super::types::Type;
use super::value::Value;
use super::wellformed::role;
use super::{Checker, Place, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    AliasOf, Annotation, Declaration, DeclarationKind, Direction, Expr, Field, Fields, Name, Parameter, Prototype,
    Statement, TypeExpr,
};
use std::rc::Rc;

/// Why a parameter without direction is not written; its value is known before the program runs.
pub(super) const WITHOUT_DIRECTION: &str = "it is a parameter without direction";
/// Why one of an action is not written; its value comes from the control plane.
pub(super) const ACTION_DATA: &str = "it is a parameter of an action without direction";

impl Checker<'_> {
    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        match &declaration.kind {
            DeclarationKind::Constant { ty, name, value } => self.constant_declaration(ty, name, value),
            DeclarationKind::Variable { ty, name, value } => self.variable(ty, name, value.as_ref()),
            DeclarationKind::Instance(instance) => self.instance(instance),
            DeclarationKind::Action { name, parameters, body } => self.action(name, parameters, body),
            DeclarationKind::Function { prototype, body, .. } => self.function(prototype, body),
            DeclarationKind::ExternFunction(prototype) => {
                let signature = self.signature(prototype, true);
                let kind = Kind::Function(Rc::new(signature));
                self.define_named(&prototype.name, kind);
            }
            DeclarationKind::Extern { name, types, methods } => self.external(name, types, methods),
            DeclarationKind::Fields { kind, name, types, fields } => {
                self.fields_declaration(*kind, name, types, fields)
            }
            DeclarationKind::Enum { ty, name, members } => self.enumeration(ty.as_ref(), name, members),
            DeclarationKind::Error(names) => {
                for name in names {
                    self.facts.errors.push(name.text.clone());
                    if let Some(first) = self.errors.insert(name.text.clone(), name.span) {
                        let first = crate::error::place(first, self.sources);
                        self.note(name.span, Problem::Twice { what: format!("error `{}`", name.text), first });
                    }
                }
            }
            DeclarationKind::MatchKind(names) => {
                for name in names {
                    if let Some(first) = self.match_kinds.insert(name.text.clone(), name.span) {
                        let first = crate::error::place(first, self.sources);
                        self.note(name.span, Problem::Twice { what: format!("match kind `{}`", name.text), first });
                    }
                }
            }
            DeclarationKind::Alias { new, ty, name } => self.alias(*new, ty, name),
            DeclarationKind::Block(block) => self.block(block),
            DeclarationKind::Package { name, types, parameters } => {
                let (types, parameters) = self.scoped(|c| {
                    let types = c.type_names(types);
                    c.distinct_from_types(&types, parameters);
                    let parameters = c.parameters(parameters, false);
                    c.without_direction(&parameters, name.span);
                    (types, parameters)
                });
                self.define_named(name, Kind::Package { types, parameters });
            }
            DeclarationKind::Table { name, properties } => self.table(name, properties),
            DeclarationKind::ValueSet { ty, size, name } => self.value_set(ty, size, name),
            DeclarationKind::Empty => {}
        }
    }

    pub(super) fn define_named(&mut self, name: &Name, kind: Kind) -> DefId {
        self.define(Definition { name: name.text.clone(), span: name.span, kind })
    }

    /// Declares type parameters in this scope; those of an outer one are hidden behind them.
    pub(super) fn type_names(&mut self, names: &[Name]) -> Vec<DefId> {
        names.iter().map(|name| self.define_named(name, Kind::TypeParameter)).collect()
    }

    /// Notes parameters that have the name of a type parameter beside them.
    pub(super) fn distinct_from_types(&mut self, types: &[DefId], parameters: &[Parameter]) {
        for parameter in parameters {
            let same = types.iter().map(|id| self.definition(*id)).find(|ty| ty.name == parameter.name.text);
            if let Some(first) = same.map(|ty| ty.span) {
                let first = crate::error::place(first, self.sources);
                self.note(parameter.name.span, Problem::Twice { what: format!("`{}`", parameter.name.text), first });
            }
        }
    }

    /// Notes parameters that have a direction where none may have one.
    pub(super) fn without_direction(&mut self, parameters: &[Param], span: Span) {
        if let Some(p) = parameters.iter().find(|p| p.direction != Direction::None) {
            let what = "a constructor's parameter has no direction".to_string();
            self.note(span, Problem::Parameter { name: p.name.to_string(), what });
        }
    }

    /// Notes parameters that are parsers, controls or packages where none may be; constructors take the former two,
    /// but by a type of parsers or controls, not by one of them.
    pub(super) fn without_blocks(&mut self, parameters: &[Param], of_constructor: bool, span: Span) {
        let why = |checker: &Self, ty: &Type| match ty {
            Type::Named(id, _) => match checker.definition(*id).kind {
                Kind::Block { has_body: true, .. } if of_constructor => Some("it has a body, so it is no type"),
                Kind::Block { .. } if of_constructor => None,
                Kind::Package { .. } | Kind::Block { .. } => Some("those are passed to constructors of their kind"),
                _ => None,
            },
            _ => None,
        };
        let wrong = parameters.iter().find_map(|p| Some((p, why(self, &p.ty)?)));
        if let Some((p, why)) = wrong {
            let what = format!("it cannot be a {}: {why}", self.show(&p.ty));
            self.note(span, Problem::Parameter { name: p.name.to_string(), what });
        }
    }

    /// Notes parameters that are `@optional` where the program itself says what is done without them.
    pub(super) fn without_optional(&mut self, parameters: &[Param], span: Span) {
        if let Some(p) = parameters.iter().find(|p| p.absent) {
            let what = "only those of packages, of types of parsers and controls, and of what is extern are @optional";
            self.note(span, Problem::Parameter { name: p.name.to_string(), what: what.to_string() });
        }
    }

    /// Types and defaults of parameters.
    pub(super) fn parameters(&mut self, all: &[Parameter], of_action: bool) -> Vec<Param> {
        self.distinct(all.iter().map(|p| &p.name));
        let mut without = false;
        let mut out = Vec::with_capacity(all.len());
        for p in all {
            self.annotations(&p.annotations);
            let ty = self.value_type(&p.ty, "the type of a parameter");
            let wrong = |checker: &mut Self, what: &str| {
                checker.note(p.name.span, Problem::Parameter { name: p.name.text.to_string(), what: what.to_string() });
            };
            if p.direction != Direction::None {
                if self.is_object(&ty) {
                    wrong(self, "one of an extern, parser, control or package has no direction");
                } else if matches!(ty, Type::Int | Type::Text) {
                    wrong(self, "one of int or string has no direction");
                } else if of_action && without {
                    wrong(self, "those of an action without direction stand behind those with one");
                }
            } else if of_action && (self.is_object(&ty) || matches!(ty, Type::Int | Type::Text)) {
                wrong(self, "the data of an action is of a type with a size");
            }
            without |= p.direction == Direction::None;
            if let Some(default) = &p.default {
                if matches!(p.direction, Direction::Out | Direction::InOut) {
                    wrong(self, "only one without direction, or of `in`, has a default");
                }
                let open = self.opened(&ty);
                self.expect(default, &open, "a default");
                if !self.is_object(&ty) {
                    self.needs_constant(default, "a default");
                }
            }
            if p.default.is_some() && p.annotations.iter().any(|a| &*a.name.text == "optional") {
                wrong(self, "one that is @optional has no default");
            }
            let absent = p.annotations.iter().any(|a| &*a.name.text == "optional");
            let optional = absent || p.default.is_some();
            out.push(Param { name: p.name.text.clone(), ty, direction: p.direction, optional, absent });
        }
        out
    }

    fn needs_constant(&mut self, value: &Expr, what: &str) {
        if self.type_of(value) != Type::Unknown && !self.is_known_before(value) {
            let why = "which is needed here".to_string();
            self.note(value.at.span, Problem::Constant { what: what.to_string(), why });
        }
    }

    /// Declares parameters as variables of this scope.
    pub(super) fn declare_parameters(&mut self, written: &[Parameter], all: &[Param], of_action: bool) {
        for (name, p) in written.iter().zip(all) {
            let read_only = match p.direction {
                Direction::In => Some("it is an `in` parameter"),
                Direction::None if of_action => Some(ACTION_DATA),
                Direction::None => Some(WITHOUT_DIRECTION),
                Direction::Out | Direction::InOut => None,
            };
            let kind = Kind::Variable { ty: p.ty.clone(), read_only, parameter: true };
            // Two of one name are noted by `parameters`.
            if self.scopes.innermost(&p.name).iter().all(|id| self.definition(*id).kind.is_type()) {
                self.define_named(&name.name, kind);
            }
        }
    }

    pub(super) fn constant_declaration(&mut self, ty: &TypeExpr, name: &Name, value: &Expr) {
        let ty = self.value_type(ty, "the type of a constant");
        if self.is_object(&ty) {
            let found = self.show(&ty);
            let (role, allowed) = ("the type of a constant".to_string(), "a type that values have".to_string());
            self.note(name.span, Problem::TypeUse { found, role, allowed });
        }
        let fits = self.expect(value, &ty, &format!("the value of `{}`", name.text));
        let found = if fits && ty != Type::Unknown { self.constant(value) } else { Some(Value::Known) };
        if found.is_none() && !self.is_known_before(value) && self.type_of(value) != Type::Unknown {
            let what = format!("the value of `{}`", name.text);
            self.note(value.at.span, Problem::Constant { what, why: "as that of a constant is".to_string() });
        }
        let found = found.map(|value| self.cast_value(value, &ty));
        self.define_named(name, Kind::Constant { ty, value: Some(found.unwrap_or(Value::Known)) });
    }

    fn variable(&mut self, ty: &TypeExpr, name: &Name, value: Option<&Expr>) {
        let role = "the type of a variable";
        let declared = self.value_type(ty, role);
        let allowed = match &declared {
            _ if self.is_object(&declared) => Some("a type that values have; an instance has arguments in parentheses"),
            Type::Int => Some("a number with a width, as bit<32>"),
            Type::Text | Type::MatchKind => Some("a type that the program computes with"),
            Type::List(_) => Some("a type of fixed size"),
            _ => None,
        };
        if let Some(allowed) = allowed {
            let found = self.show(&declared);
            self.note(ty.span, Problem::TypeUse { found, role: role.to_string(), allowed: allowed.to_string() });
        }
        if let Some(value) = value {
            self.expect(value, &declared, &format!("the value of `{}`", name.text));
        }
        let outer = self.scopes.find(&name.text, false).last().map(|id| self.definition(*id));
        let inside = !matches!(self.place, Place::ParserLocals | Place::ControlLocals);
        if let Some(Definition { kind: Kind::Variable { parameter: true, .. }, span, .. }) = outer.filter(|_| inside) {
            let first = crate::error::place(*span, self.sources);
            self.note(name.span, Problem::Twice { what: format!("parameter `{}`", name.text), first });
        }
        self.define_named(name, Kind::Variable { ty: declared, read_only: None, parameter: false });
    }

    fn action(&mut self, name: &Name, written: &[Parameter], body: &[Statement]) {
        let parameters = self.parameters(written, true);
        self.without_optional(&parameters, name.span);
        let signature = Signature {
            name: name.text.clone(),
            types: Vec::new(),
            parameters: parameters.clone(),
            result: Type::Void,
            is_abstract: false,
            optional: false,
            external: false,
        };
        let id = self.define_named(name, Kind::Action(Rc::new(signature)));
        self.body_of(id, Place::Action, Type::Void, |c| {
            c.declare_parameters(written, &parameters, true);
            c.scoped(|c| c.statements(body));
        });
    }

    /// Checks a body in a scope of its own.
    pub(super) fn body_of(&mut self, id: DefId, place: Place, result: Type, check: impl FnOnce(&mut Self)) {
        let before = self.result.replace(result);
        let loops = std::mem::take(&mut self.loops);
        self.inside.push(id);
        self.within(place, |c| c.scoped(check));
        self.inside.pop();
        self.loops = loops;
        self.result = before;
    }

    fn function(&mut self, prototype: &Prototype, body: &[Statement]) {
        let signature = Rc::new(self.signature(prototype, false));
        self.without_blocks(&signature.parameters, false, prototype.name.span);
        self.without_optional(&signature.parameters, prototype.name.span);
        let id = self.define_named(&prototype.name, Kind::Function(signature.clone()));
        self.function_body(id, Place::Function, &signature, prototype, body);
    }

    pub(super) fn function_body(
        &mut self,
        id: DefId,
        place: Place,
        signature: &Signature,
        prototype: &Prototype,
        body: &[Statement],
    ) {
        let result = signature.result.clone();
        self.body_of(id, place, result.clone(), |c| {
            // The type parameters are those that the signature was made with.
            for (name, id) in prototype.types.iter().zip(&signature.types) {
                c.scopes.declare(&name.text, *id);
            }
            c.declare_parameters(&prototype.parameters, &signature.parameters, false);
            c.scoped(|c| c.statements(body));
        });
        if result != Type::Void && result != Type::Unknown && !super::statements::leaves(body) {
            let function = format!("`{}`", prototype.name.text);
            let what = format!("not every way through it ends with `return` of {}", self.show(&result));
            self.note(prototype.name.span, Problem::Return { function, what });
        }
    }

    /// Types of a function's parameters and result.
    pub(super) fn signature(&mut self, prototype: &Prototype, external: bool) -> Signature {
        self.scoped(|c| {
            let types = c.type_names(&prototype.types);
            let result = match &prototype.result {
                Some(ty) => c.type_argument(ty),
                None => Type::Void,
            };
            if (c.is_object(&result) && !external) || (result == Type::Int && prototype.result.is_some()) {
                let found = c.show(&result);
                let (role, allowed) = ("the result of a function".to_string(), "a type that values have".to_string());
                c.note(prototype.name.span, Problem::TypeUse { found, role, allowed });
            }
            c.distinct_from_types(&types, &prototype.parameters);
            let parameters = c.parameters(&prototype.parameters, false);
            let name = prototype.name.text.clone();
            let optional = prototype.annotations.iter().any(|a| &*a.name.text == "optional");
            Signature { name, types, parameters, result, is_abstract: prototype.is_abstract, optional, external }
        })
    }

    fn external(&mut self, name: &Name, types: &[Name], methods: &[Prototype]) {
        let empty = Kind::Extern { types: Vec::new(), constructors: Vec::new(), methods: Vec::new() };
        let id = self.define_named(name, empty.clone());
        let (types, all) = self.scoped(|c| {
            let types = c.type_names(types);
            // Methods may name the type that they belong to.
            if let Kind::Extern { types: known, .. } = &mut c.definitions[id.index()].kind {
                known.clone_from(&types);
            }
            let all: Vec<(bool, Signature)> =
                methods.iter().map(|method| (method.result.is_none(), c.signature(method, true))).collect();
            (types, all)
        });
        let (mut constructors, mut named): (Vec<Rc<Signature>>, Vec<Rc<Signature>>) = (Vec::new(), Vec::new());
        for ((is_constructor, signature), method) in all.into_iter().zip(methods) {
            let into = if is_constructor { &mut constructors } else { &mut named };
            // What implements an abstract method is told by its name alone.
            let twice = into.iter().any(|other| {
                let same = !differ(&other.parameters, &signature.parameters);
                other.name == signature.name && (same || other.is_abstract || signature.is_abstract)
            });
            into.push(Rc::new(signature));
            let parameters = into.last().map(|s| s.parameters.clone()).unwrap_or_default();
            if is_constructor {
                self.without_direction(&parameters, method.name.span);
            }
            self.without_blocks(&parameters, false, method.name.span);
            if !is_constructor && method.name.text == name.text {
                let what = "a method has another name than its extern".to_string();
                self.note(method.name.span, Problem::Parameter { name: name.text.to_string(), what });
            }
            if twice {
                let (what, first) = (format!("`{}`", method.name.text), "another place of this extern".to_string());
                self.note(method.name.span, Problem::Twice { what, first });
            }
        }
        self.definitions[id.index()].kind = Kind::Extern { types, constructors, methods: named };
    }

    fn fields_declaration(&mut self, kind: Fields, name: &Name, types: &[Name], written: &[Field]) {
        self.distinct(written.iter().map(|field| &field.name));
        let (types, fields) = self.scoped(|c| {
            let types = c.type_names(types);
            let mut fields = Vec::with_capacity(written.len());
            for field in written {
                let mut ty = c.value_type(&field.ty, role(kind));
                if let Err(allowed) = c.may_stand_in(kind, &ty, 64) {
                    let (found, role) = (c.show(&ty), role(kind).to_string());
                    c.note(field.ty.span, Problem::TypeUse { found, role, allowed: allowed.to_string() });
                    ty = Type::Unknown;
                }
                c.annotations(&field.annotations);
                c.match_annotation(&field.annotations);
                fields.push((field.name.text.clone(), ty));
            }
            (types, fields)
        });
        let id = self.define_named(name, Kind::Fields { kind, types, fields });
        if written.iter().flat_map(|field| &field.annotations).any(|a| &*a.name.text == "length") {
            self.measured.insert(id);
        }
    }

    fn alias(&mut self, new: bool, of: &AliasOf, name: &Name) {
        let (ty, span) = match of {
            AliasOf::Type(written) => {
                let ty =
                    if new { self.value_type(written, "what a type is made of") } else { self.type_argument(written) };
                (ty, written.span)
            }
            AliasOf::Declared(declaration) => {
                self.declaration(declaration);
                (Type::Named(DefId::new(self.definitions.len() - 1), Rc::from([])), declaration.span)
            }
        };
        if !new {
            if matches!(ty, Type::Void | Type::Any | Type::Text | Type::MatchKind) {
                let found = if ty == Type::Any { "void".to_string() } else { self.show(&ty) };
                let role = "what a name is given to".to_string();
                self.note(span, Problem::TypeUse { found, role, allowed: "a type that values have".to_string() });
            }
            self.define_named(name, Kind::Alias(ty));
            return;
        }
        let basic = matches!(ty, Type::Bit(_) | Type::Signed(_) | Type::Bool | Type::Unknown);
        let of = if basic || self.renamed(&ty).is_some() {
            ty
        } else {
            let (found, role) = (self.show(&ty), "what a type is made of".to_string());
            let allowed = "bit<W>, int<W>, bool, and types made of them".to_string();
            self.note(span, Problem::TypeUse { found, role, allowed });
            Type::Unknown
        };
        self.define_named(name, Kind::New(of));
    }

    fn value_set(&mut self, ty: &TypeExpr, size: &Expr, name: &Name) {
        let found = self.value_type(ty, "what a value set holds");
        let fields = matches!(self.fields(&found), Some((Fields::Struct, _)));
        let simple = matches!(
            self.base(&self.renamed(&found).unwrap_or_else(|| found.clone())),
            Type::Bit(_) | Type::Signed(_) | Type::Tuple(_) | Type::Unknown
        );
        if !fields && !simple {
            let (found, role) = (self.show(&found), "what a value set holds".to_string());
            self.note(
                ty.span,
                Problem::TypeUse { found, role, allowed: "numbers, enums with a type, tuples and structs".to_string() },
            );
        }
        let number = self.infer(size);
        if !matches!(self.base(&number), Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown) {
            self.mismatch(size.at.span, "the size of a value set", &number, "a number");
        } else if !self.is_known_before(size) {
            self.needs_constant(size, "the size of a value set");
        }
        self.define_named(name, Kind::ValueSet(found));
    }

    /// Checks annotations in so far as the language gives them a meaning.
    pub(super) fn annotations(&mut self, all: &[Annotation]) {
        use crate::front::syntax::ast::AnnotationBody;
        for (i, annotation) in all.iter().enumerate() {
            let structured =
                |a: &Annotation| matches!(a.body, Some(AnnotationBody::List(_) | AnnotationBody::Pairs(_)));
            let other = all[..i].iter().find(|a| a.name.text == annotation.name.text);
            if let Some(other) = other.filter(|other| structured(other) || structured(annotation)) {
                let first = crate::error::place(other.name.span, self.sources);
                self.note(annotation.name.span, Problem::Twice { what: format!("@{}", other.name.text), first });
            }
            match &annotation.body {
                Some(AnnotationBody::List(values)) => values.iter().for_each(|value| self.annotated(value)),
                Some(AnnotationBody::Pairs(pairs)) => {
                    self.distinct(pairs.iter().map(|(name, _)| name));
                    pairs.iter().for_each(|(_, value)| self.annotated(value));
                }
                Some(AnnotationBody::Words(words))
                    if &*annotation.name.text == "name" && (words.len() != 1 || !words[0].starts_with('"')) =>
                {
                    let found = format!("`@name({})`", words.join(" "));
                    let expected = "a name in quotes".to_string();
                    self.note(annotation.name.span, Problem::Expected { found, expected });
                }
                None if &*annotation.name.text == "name" => {
                    let (found, expected) =
                        ("`@name` alone".to_string(), "a name in parentheses and quotes".to_string());
                    self.note(annotation.name.span, Problem::Expected { found, expected });
                }
                _ => {}
            }
        }
    }

    /// `@match(KIND)` of a field, which says how a value set compares it.
    fn match_annotation(&mut self, all: &[Annotation]) {
        use crate::front::syntax::ast::AnnotationBody;
        for annotation in all.iter().filter(|a| &*a.name.text == "match") {
            let known = match &annotation.body {
                Some(AnnotationBody::Words(words)) => match &words[..] {
                    [kind] => self.match_kinds.contains_key(kind),
                    _ => false,
                },
                _ => false,
            };
            if !known {
                let why = "a match kind is expected in parentheses".to_string();
                self.note(annotation.name.span, Problem::Key { what: "@match".to_string(), why });
            }
        }
    }

    fn annotated(&mut self, value: &Expr) {
        let ty = self.infer(value);
        if !matches!(ty, Type::Unknown | Type::Bool | Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Text) {
            return self.mismatch(value.at.span, "a value of an annotation", &ty, "a number, bool or string");
        }
        if ty != Type::Unknown && !self.is_known_before(value) {
            let what = "a value of an annotation".to_string();
            self.note(value.at.span, Problem::Constant { what, why: "which is needed here".to_string() });
        }
    }
}
