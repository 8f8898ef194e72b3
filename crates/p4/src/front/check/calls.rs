//! Calls: which function is meant, its arguments, and what its type parameters stand for.

use super::definitions::{DefId, Kind, Param, Signature};
use super::types::Type;
use super::{Checker, Place, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{Argument, BlockKind, Direction, Expr, ExprKind, TypeExpr, TypeKind};
use std::rc::Rc;

/// What is called, in so far as its arguments are checked differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    Action,
    Function,
    Constructor,
}

/// A call as it is written.
pub(super) struct Call<'e> {
    pub name: Rc<str>,
    pub types: &'e [TypeExpr],
    pub arguments: &'e [Argument],
    pub span: Span,
    /// The number of what is called, if it is an expression.
    pub id: Option<u32>,
}

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &Expr, types: &[TypeExpr], arguments: &[Argument], span: Span) -> Type {
        match &callee.kind {
            ExprKind::Name { global, name } => {
                let call = Call { name: name.text.clone(), types, arguments, span, id: Some(callee.at.id) };
                let all = self.scopes.find(&name.text, *global).to_vec();
                match all.last().map(|id| (id, &self.definition(*id).kind)) {
                    None => {
                        self.unknown(name);
                        self.arguments_alone(arguments)
                    }
                    Some((id, Kind::Action(signature))) => {
                        let (id, signature) = (*id, signature.clone());
                        self.names(callee, id);
                        self.call_action(id, &signature, &call)
                    }
                    Some((_, Kind::Function(_))) => {
                        let signatures = all.iter().filter_map(|id| match &self.definition(*id).kind {
                            Kind::Function(signature) => Some((*id, signature.clone())),
                            _ => None,
                        });
                        let signatures: Vec<(DefId, Rc<Signature>)> = signatures.collect();
                        self.call_function(callee, signatures, &call)
                    }
                    Some((id, kind)) if kind.is_type() => {
                        let ty = match kind {
                            Kind::Alias(ty) => ty.clone(),
                            _ => Type::Named(*id, Rc::from([])),
                        };
                        self.construct_value(&ty, arguments, span)
                    }
                    Some((_, kind)) => {
                        let (name, found) = (format!("`{}`", name.text), kind.text().to_string());
                        self.note(span, Problem::Kind { name, found, expected: "a function or action".to_string() });
                        self.arguments_alone(arguments)
                    }
                }
            }
            ExprKind::Type(ty) if matches!(ty.kind, TypeKind::Named { .. }) => {
                let ty = self.ty(ty);
                self.construct_value(&ty, arguments, span)
            }
            ExprKind::Member(..) => self.call_member(callee, types, arguments, span),
            _ => {
                let ty = self.infer(callee);
                self.mismatch(callee.at.span, "what is called", &ty, "a function, action or method");
                self.arguments_alone(arguments)
            }
        }
    }

    /// Checks arguments of something that is not there.
    pub(super) fn arguments_alone(&mut self, arguments: &[Argument]) -> Type {
        for argument in arguments.iter().filter(|argument| !matches!(argument.value.kind, ExprKind::Any)) {
            self.infer(&argument.value);
        }
        Type::Unknown
    }

    /// Notes a call that does not stand there.
    pub(super) fn misplaced(&mut self, what: &str, done: &str, span: Span) {
        let (what, done) = (what.to_string(), done.to_string());
        let place = self.place.text().to_string();
        self.note(span, Problem::Call { what, done, place });
    }

    fn call_action(&mut self, id: DefId, signature: &Signature, call: &Call<'_>) -> Type {
        if !matches!(self.place, Place::Apply | Place::Action) {
            self.misplaced(&format!("action `{}`", call.name), "called", call.span);
        }
        self.not_itself(id, call);
        self.within(Place::Argument, |c| c.bind(&signature.parameters, &[], call, Called::Action));
        Type::Void
    }

    fn not_itself(&mut self, id: DefId, call: &Call<'_>) {
        if self.inside.contains(&id) {
            let what = format!("`{}`", call.name);
            let place = "by itself: there is no recursion".to_string();
            self.note(call.span, Problem::Call { what, done: "called".to_string(), place });
        }
    }

    fn call_function(&mut self, callee: &Expr, all: Vec<(DefId, Rc<Signature>)>, call: &Call<'_>) -> Type {
        let signatures: Vec<Rc<Signature>> = all.iter().map(|(_, signature)| signature.clone()).collect();
        let Some(at) = self.overload(&signatures, call) else { return self.arguments_alone(call.arguments) };
        let (id, signature) = &all[at];
        self.names(callee, *id);
        self.not_itself(*id, call);
        self.call_signature(signature, &[], &[], call)
    }

    /// A call of a function or method; `outer` are type parameters of the object's type, `given` what they stand for.
    pub(super) fn call_signature(
        &mut self,
        signature: &Signature,
        outer: &[DefId],
        given: &[Type],
        call: &Call<'_>,
    ) -> Type {
        let put = |checker: &Self, ty: &Type| checker.substitute(ty, outer, given);
        let parameters: Vec<Param> =
            signature.parameters.iter().map(|p| Param { ty: put(self, &p.ty), ..p.clone() }).collect();
        let noted = self.notes.count();
        let Some(types) = self.bind(&parameters, &signature.types, call, Called::Function) else {
            return put(self, &signature.result);
        };
        if let Some(id) = call.id {
            self.facts.arguments.insert(id, types.iter().cloned().collect());
        }
        let result = self.substitute(&put(self, &signature.result), &signature.types, &types);
        let result = self.known(&result);
        if result == Type::Int && signature.result != Type::Int {
            if self.notes.count() > noted {
                return Type::Unknown;
            }
            self.mismatch(
                call.span,
                "the result of a call",
                &result,
                "one with a width: give the arguments one, as 8w1",
            );
            return Type::Unknown;
        }
        if let Some(problem) = self.ill_formed(&result) {
            self.note(call.span, problem);
            return Type::Unknown;
        }
        self.known_arguments(&parameters, call);
        if signature.external {
            self.library_function(&signature.name, call);
        }
        result
    }

    /// What has no direction is known before the program runs, but for data of an action.
    fn known_arguments(&mut self, parameters: &[Param], call: &Call<'_>) {
        for (i, argument) in call.arguments.iter().enumerate() {
            let parameter = match &argument.name {
                Some(name) => parameters.iter().find(|p| p.name == name.text),
                None => parameters.get(i),
            };
            let value = &argument.value;
            let Some(Param { direction: Direction::None, name, .. }) = parameter else { continue };
            let ty = self.known(&self.type_of(value));
            if ty != Type::Unknown && !self.is_object(&ty) && !self.is_known_before(value) && !self.is_data(value) {
                let what = sluice_packet::text::quote(self.sources.slice(value.at.span));
                let why = format!("which `{name}` of `{}` needs, for it has no direction", call.name);
                self.note(value.at.span, Problem::Constant { what, why });
            }
        }
    }

    /// Whether a value is data that the control plane gives to an action.
    fn is_data(&self, value: &Expr) -> bool {
        let ExprKind::Name { global, name } = &value.kind else { return false };
        let found = self.scopes.find(&name.text, *global).last().map(|id| &self.definition(*id).kind);
        let data = super::declarations::ACTION_DATA;
        matches!(found, Some(Kind::Variable { read_only: Some(why), .. }) if *why == data)
    }

    /// Gives parameters their arguments. What comes back are the types that type parameters stand for.
    pub(super) fn bind(
        &mut self,
        parameters: &[Param],
        generic: &[DefId],
        call: &Call<'_>,
        called: Called,
    ) -> Option<Vec<Type>> {
        let types = self.type_arguments(generic, call)?;
        let noted = self.notes.count();
        let types_put = |checker: &Self, ty: &Type| checker.substitute(ty, generic, &types);
        let pairs = self.assign(parameters, call);
        let mut inferred = Vec::with_capacity(pairs.len());
        for (at, argument) in &pairs {
            let parameter = &parameters[*at];
            let ty = match &argument.value.kind {
                ExprKind::Any if parameter.direction == Direction::Out || called == Called::Constructor => {
                    self.set(&argument.value, Type::Any)
                }
                _ => self.infer(&argument.value),
            };
            inferred.push(ty);
        }
        // What has a type of its own comes first: it says what literals are.
        let literal =
            |ty: &Type| matches!(ty, Type::Int | Type::Braces(_) | Type::Pairs(..) | Type::Invalid | Type::Dots);
        for late in [false, true] {
            for ((at, argument), ty) in pairs.iter().zip(&inferred).filter(|(_, ty)| literal(ty) == late) {
                let wanted = types_put(self, &parameters[*at].ty);
                self.argument(&parameters[*at], argument, ty, &wanted, called);
            }
        }
        for (at, argument) in &pairs {
            let parameter = &parameters[*at];
            let ty = self.known(&types_put(self, &parameter.ty));
            let computed = parameter.direction != Direction::None && ty != parameter.ty;
            if computed && matches!(ty, Type::Int | Type::Text) {
                let expected = if ty == Type::Int { "one with a width, as 8w1" } else { "a type with a size" };
                self.mismatch(argument.value.at.span, "an argument that is computed", &ty, expected);
            }
            if let Some(problem) = self.ill_formed(&ty) {
                self.note(argument.value.at.span, problem);
            }
            let generic = matches!(parameter.ty, Type::Parameter(_)) && called == Called::Function;
            let kind = match &ty {
                Type::Named(id, _) => Some(&self.definition(*id).kind),
                _ => None,
            };
            if generic && matches!(kind, Some(Kind::Block { .. } | Kind::Package { .. })) {
                self.mismatch(argument.value.at.span, "an argument", &ty, "a value");
            }
        }
        let mut known = Vec::with_capacity(types.len());
        for (id, ty) in generic.iter().zip(&types) {
            let ty = self.known(ty);
            if matches!(ty, Type::Infer(_)) && called == Called::Function && self.notes.count() == noted {
                let what = format!("its type parameter `{}` is not told by the arguments", self.definition(*id).name);
                self.note(call.span, Problem::TypeArguments { name: format!("`{}`", call.name), what });
            }
            known.push(if matches!(ty, Type::Infer(_)) { Type::Any } else { ty });
        }
        Some(known)
    }

    fn type_arguments(&mut self, generic: &[DefId], call: &Call<'_>) -> Option<Vec<Type>> {
        if call.types.is_empty() {
            return Some(generic.iter().map(|_| self.fresh()).collect());
        }
        let types: Vec<Type> = call.types.iter().map(|ty| self.type_argument(ty)).collect();
        if types.len() != generic.len() {
            let what = format!("it takes {} type arguments, found {}", generic.len(), types.len());
            self.note(call.span, Problem::TypeArguments { name: format!("`{}`", call.name), what });
            self.arguments_alone(call.arguments);
            return None;
        }
        let fresh = |checker: &mut Self, ty| if ty == Type::Any { checker.fresh() } else { ty };
        Some(types.into_iter().map(|ty| fresh(self, ty)).collect())
    }

    /// Which parameter each argument is for.
    fn assign<'e>(&mut self, parameters: &[Param], call: &Call<'e>) -> Vec<(usize, &'e Argument)> {
        let callee = || format!("`{}`", call.name);
        let named = call.arguments.iter().filter(|argument| argument.name.is_some()).count();
        if named != 0 && named != call.arguments.len() {
            let what = "either all arguments have names or none has".to_string();
            self.note(call.span, Problem::Arguments { callee: callee(), what });
            self.arguments_alone(call.arguments);
            return Vec::new();
        }
        let mut pairs: Vec<(usize, &Argument)> = Vec::new();
        for (i, argument) in call.arguments.iter().enumerate() {
            let at = match &argument.name {
                None => Some(i).filter(|i| *i < parameters.len()),
                Some(name) => parameters.iter().position(|p| p.name == name.text),
            };
            match (at, &argument.name) {
                (Some(at), Some(name)) if pairs.iter().any(|(other, _)| *other == at) => {
                    let what = format!("`{}` is given twice", name.text);
                    self.note(name.span, Problem::Arguments { callee: callee(), what });
                }
                (Some(at), _) => pairs.push((at, argument)),
                (None, Some(name)) => {
                    let names: Vec<&str> = parameters.iter().map(|p| &*p.name).collect();
                    let what = format!("it has no parameter `{}`, but {}", name.text, names.join(", "));
                    self.note(name.span, Problem::Arguments { callee: callee(), what });
                }
                (None, None) => {
                    let what = format!("found {} arguments, it takes {}", call.arguments.len(), parameters.len());
                    self.note(argument.value.at.span, Problem::Arguments { callee: callee(), what });
                    break;
                }
            }
        }
        for (at, parameter) in parameters.iter().enumerate() {
            if !parameter.optional && pairs.iter().all(|(other, _)| *other != at) {
                let what = format!("no argument for its parameter `{}`", parameter.name);
                self.note(call.span, Problem::Arguments { callee: callee(), what });
                break;
            }
        }
        pairs
    }

    /// One argument, of type `ty`.
    fn argument(&mut self, parameter: &Param, argument: &Argument, ty: &Type, wanted: &Type, called: Called) {
        let value = &argument.value;
        let what = format!("argument for `{}`", parameter.name);
        if matches!(value.kind, ExprKind::Any) {
            return;
        }
        let written = matches!(parameter.direction, Direction::Out | Direction::InOut);
        if written {
            if *ty == Type::Unknown {
                return;
            }
            self.place_written(value);
            if !self.unify(ty, wanted) {
                let expected = self.show(wanted);
                self.mismatch(value.at.span, what, ty, format!("{expected}, for it is written to"));
            }
            return;
        }
        if matches!(ty, Type::Applied(_) | Type::Set(_) | Type::Table(_) | Type::Void) {
            let expected = self.show(wanted);
            return self.mismatch(value.at.span, what, ty, expected);
        }
        if !self.expect_type(value, ty, wanted, &what) {
            return;
        }
        let constant = called == Called::Constructor && *ty != Type::Unknown;
        if constant && !self.is_object(&self.known(ty)) && !self.is_known_before(value) && !self.is_pure(value) {
            let shown = sluice_packet::text::quote(self.sources.slice(value.at.span));
            let why = format!("which `{}` of a constructor needs", parameter.name);
            self.note(value.at.span, Problem::Constant { what: shown, why });
        }
    }

    /// Whether a value is what an extern function makes of what is known; the architecture knows it then.
    fn is_pure(&mut self, value: &Expr) -> bool {
        let ExprKind::Call(callee, _, arguments) = &value.kind else { return false };
        let ExprKind::Name { global, name } = &callee.kind else { return false };
        let found = self.scopes.find(&name.text, *global).last().map(|id| &self.definition(*id).kind);
        let external = matches!(found, Some(Kind::Function(signature)) if signature.external);
        external && arguments.iter().all(|argument| self.is_known_before(&argument.value))
    }

    /// Whether a value is known before the program runs.
    pub(super) fn is_known_before(&mut self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Name { global, name } if self.is_match_kind(name, *global) => true,
            ExprKind::Name { global, name } => match self.scopes.find(&name.text, *global).last() {
                Some(id) => match &self.definition(*id).kind {
                    Kind::Variable { read_only: Some(why), .. } => *why == super::declarations::WITHOUT_DIRECTION,
                    _ => self.constant(value).is_some(),
                },
                None => true,
            },
            _ => self.constant(value).is_some(),
        }
    }

    fn call_member(&mut self, callee: &Expr, types: &[TypeExpr], arguments: &[Argument], span: Span) -> Type {
        let ExprKind::Member(owner, member) = &callee.kind else { return Type::Unknown };
        let call = Call { name: member.text.clone(), types, arguments, span, id: Some(callee.at.id) };
        let written = match &owner.kind {
            ExprKind::Type(ty) if matches!(ty.kind, TypeKind::Named { .. }) => Some(self.ty(ty)),
            _ => self.denotes_type(owner),
        };
        if let Some(ty) = written {
            self.types[owner.at.id as usize] = ty.clone();
            if let (Type::Named(id, given), "apply") = (&ty, &*member.text) {
                let id = *id;
                if let Kind::Block { constructor, has_body: true, .. } = &self.definition(id).kind {
                    if constructor.iter().any(|p| !p.optional) {
                        let what = "its constructor has parameters: it is applied by way of an instance".to_string();
                        self.note(span, Problem::Arguments { callee: self.show(&ty), what });
                    }
                    self.applied_again(id, span);
                    return self.apply_block(id, given, &call);
                }
            }
            return self.method_of_value(owner, &ty, member, &call);
        }
        let ty = self.infer(owner);
        match (&ty, &*member.text) {
            (Type::Unknown, _) => self.arguments_alone(arguments),
            (Type::Table(id), "apply") => {
                if !matches!(self.place, Place::Apply | Place::Key | Place::ControlLocals) {
                    self.misplaced(&format!("table `{}`", self.definition(*id).name), "applied", span);
                }
                self.bind(&[], &[], &call, Called::Function);
                Type::Applied(*id)
            }
            (Type::Named(id, given), name) => match self.definition(*id).kind.clone() {
                Kind::Extern { types: outer, methods, .. } => {
                    let named: Vec<Rc<Signature>> = methods.iter().filter(|m| *m.name == *name).cloned().collect();
                    if named.is_empty() {
                        let names: Vec<Rc<str>> = methods.iter().map(|m| m.name.clone()).collect();
                        self.no_member(&ty, member, &names);
                        return self.arguments_alone(arguments);
                    }
                    let Some(at) = self.overload(&named, &call) else { return self.arguments_alone(arguments) };
                    let result = self.call_signature(&named[at], &outer, given, &call);
                    self.library_method(*id, member, &call, &result);
                    result
                }
                Kind::Block { .. } if name == "apply" => self.apply_block(*id, given, &call),
                _ => self.method_of_value(owner, &ty, member, &call),
            },
            _ => self.method_of_value(owner, &ty, member, &call),
        }
    }

    /// Notes that a type is applied a second time in one place, if what it has would get the same names for the control plane.
    fn applied_again(&mut self, id: DefId, span: Span) {
        let Some(inside) = self.inside.last().copied() else { return };
        if let Some(first) = self.applied.insert((inside, id), span)
            && self.controlled.contains(&id)
        {
            let (what, first) = (self.definition(id).name.clone(), crate::error::place(first, self.sources));
            let why = format!(
                "it is applied without an instance at {first}, too, so its tables or objects would be there twice with one name; \
                 make instances of it"
            );
            self.note(span, Problem::ControlName { what: format!("`{what}`"), why });
        }
    }

    fn apply_block(&mut self, id: DefId, given: &[Type], call: &Call<'_>) -> Type {
        let definition = self.definition(id).clone();
        let Kind::Block { kind, types, parameters, .. } = definition.kind else { return Type::Unknown };
        let (word, place) = match kind {
            BlockKind::Parser => ("parser", Place::State),
            BlockKind::Control => ("control", Place::Apply),
        };
        if self.place != place {
            self.misplaced(&format!("{word} `{}`", definition.name), "applied", call.span);
        }
        self.not_itself(id, call);
        let given: Vec<Type> = match given.is_empty() {
            true => types.iter().map(|_| self.fresh()).collect(),
            false => given.to_vec(),
        };
        let put = |checker: &Self, p: &Param| Param { ty: checker.substitute(&p.ty, &types, &given), ..p.clone() };
        let parameters: Vec<Param> = parameters.iter().map(|p| put(self, p)).collect();
        self.bind(&parameters, &[], call, Called::Function);
        self.known_arguments(&parameters, call);
        if let Some(id) = call.id {
            self.facts.arguments.insert(id, given.into());
        }
        Type::Void
    }
}
