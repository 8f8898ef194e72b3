//! Instances of externs, parsers, controls and packages.

use super::calls::{Call, Called};
use super::definitions::{DefId, Kind, Param, Signature};
use super::types::Type;
use super::value::Value;
use super::{Checker, Place, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{Argument, BlockKind, Declaration, DeclarationKind, Instance, Prototype};
use std::rc::Rc;

impl Checker<'_> {
    /// What a constructor makes.
    pub(super) fn construct(&mut self, ty: &Type, arguments: &[Argument], span: Span) -> Type {
        let Type::Named(id, given) = ty else {
            if *ty != Type::Unknown {
                let name = format!("`{}`", self.show(ty));
                let (found, expected) =
                    ("a type without constructor".to_string(), "an extern, parser, control or package");
                self.note(span, Problem::Kind { name, found, expected: expected.to_string() });
            }
            return self.arguments_alone(arguments);
        };
        let id = &self.constructed(*id, arguments);
        let definition = self.definition(*id).clone();
        let call = Call { name: definition.name.clone(), types: &[], arguments, span, id: None };
        // An extern that lives as long as the call that uses it is no instance with a name.
        let is_block = !matches!(definition.kind, Kind::Extern { .. });
        if is_block
            && matches!(
                self.place,
                Place::Apply | Place::Action | Place::State | Place::Function | Place::Key | Place::Argument
            )
        {
            self.misplaced(&format!("an instance of `{}`", definition.name), "made", span);
        }
        let generic = self.type_parameters(*id).to_vec();
        let types: Vec<Type> = match given.is_empty() {
            true => generic.iter().map(|_| self.fresh()).collect(),
            false => given.iter().map(|ty| if *ty == Type::Any { self.fresh() } else { ty.clone() }).collect(),
        };
        let parameters = match &definition.kind {
            Kind::Extern { constructors, .. } => {
                if constructors.is_empty() {
                    let what = "it has no constructor".to_string();
                    self.note(span, Problem::Arguments { callee: format!("`{}`", call.name), what });
                    return self.arguments_alone(arguments);
                }
                match self.overload(constructors, &call) {
                    Some(at) => constructors[at].parameters.clone(),
                    None => return self.arguments_alone(arguments),
                }
            }
            Kind::Block { constructor, has_body: true, .. } => constructor.clone(),
            Kind::Package { parameters, .. } => parameters.clone(),
            kind => {
                let (name, found) = (format!("`{}`", call.name), kind.text().to_string());
                let found = if matches!(kind, Kind::Block { .. }) { format!("{found} without body") } else { found };
                let expected = "something that has a constructor".to_string();
                self.note(span, Problem::Kind { name, found, expected });
                return self.arguments_alone(arguments);
            }
        };
        let put = |ty: &Type| self.substitute(ty, &generic, &types);
        let parameters: Vec<_> =
            parameters.iter().map(|p| super::definitions::Param { ty: put(&p.ty), ..p.clone() }).collect();
        self.bind(&parameters, &[], &call, Called::Constructor);
        self.size_of_instance(*id, &parameters, &call);
        let known: Rc<[Type]> = types.iter().map(|ty| self.known(ty)).collect();
        let is_extern = matches!(definition.kind, Kind::Extern { .. });
        if is_extern && known.iter().any(|ty| matches!(ty, Type::Infer(_))) {
            let what = format!("its {} type arguments are not told by its arguments", known.len());
            self.note(span, Problem::TypeArguments { name: format!("`{}`", call.name), what });
        }
        let all = known.iter().map(|ty| if matches!(ty, Type::Infer(_)) { Type::Any } else { ty.clone() });
        let made = Type::Named(*id, all.collect());
        if let Some(problem) = self.ill_formed(&made) {
            self.note(span, problem);
        }
        made
    }

    /// Notes a size below zero that an extern of the library is given. The width of the parameter would make a large one of it.
    fn size_of_instance(&mut self, id: DefId, parameters: &[Param], call: &Call<'_>) {
        let definition = self.definition(id);
        // By its name: a program that is printed has the library in itself.
        let is_library = crate::front::source::declares(&definition.name).is_some();
        if !is_library || !matches!(definition.kind, Kind::Extern { .. }) {
            return;
        }
        let is_size = |(at, argument): &(usize, &Argument)| match &argument.name {
            Some(name) => &*name.text == "size",
            None => parameters.get(*at).is_some_and(|p| &*p.name == "size"),
        };
        let Some((_, argument)) = call.arguments.iter().enumerate().find(is_size) else { return };
        if let Some(Value::Number(number)) = self.constant(&argument.value) {
            self.not_below(&argument.value, &format!("the size of `{}`", call.name), &number, 0);
        }
    }

    /// Of parsers, controls or packages with one name, the one whose constructor takes the arguments.
    fn constructed(&self, id: DefId, arguments: &[Argument]) -> DefId {
        let all = self.scopes.find(&self.definition(id).name, false);
        let fits = |id: &&DefId| match &self.definition(**id).kind {
            Kind::Block { constructor, .. } => super::overload::takes(constructor, arguments),
            Kind::Package { parameters, .. } => super::overload::takes(parameters, arguments),
            _ => false,
        };
        match all.contains(&id) {
            true => all.iter().find(fits).copied().unwrap_or(id),
            false => id,
        }
    }

    /// What a constructor makes that has no name, and so implements nothing.
    pub(super) fn construct_value(&mut self, ty: &Type, arguments: &[Argument], span: Span) -> Type {
        let made = self.construct(ty, arguments, span);
        let Type::Named(id, _) = &made else { return made };
        let Kind::Extern { methods, .. } = &self.definition(*id).kind else { return made };
        if let Some(method) = methods.iter().find(|m| m.is_abstract && !m.optional) {
            let (object, what) = (self.show(&made), format!("it does not implement {}", method.name));
            self.note(span, Problem::Abstract { object, what });
        }
        made
    }

    pub(super) fn instance(&mut self, instance: &Instance) {
        let span = instance.ty.span.to(instance.name.span);
        let ty = self.ty(&instance.ty);
        let made = self.construct(&ty, &instance.arguments, span);
        if let Type::Named(id, _) = &made {
            self.instance_place(*id, span);
            if &*instance.name.text == "main" && self.place == Place::Top {
                let kind = &self.definition(*id).kind;
                if !matches!(kind, Kind::Package { .. }) {
                    let (name, found) = ("`main`".to_string(), format!("an instance of {}", kind.text()));
                    self.note(span, Problem::Kind { name, found, expected: "one of a package".to_string() });
                }
            }
            self.implementations(instance, *id, &made);
        }
        self.define_named(&instance.name, Kind::Instance(made));
    }

    /// Notes an instance that does not stand there.
    fn instance_place(&mut self, id: DefId, span: Span) {
        let definition = self.definition(id);
        let allowed = match &definition.kind {
            Kind::Package { .. } => self.place == Place::Top,
            Kind::Block { kind: BlockKind::Parser, .. } => self.place == Place::ParserLocals,
            Kind::Block { kind: BlockKind::Control, .. } => self.place == Place::ControlLocals,
            _ => true,
        };
        if !allowed {
            let what = format!("an instance of `{}`", definition.name);
            self.misplaced(&what, "made", span);
        }
    }

    /// Checks that abstract methods, and only those, are implemented.
    fn implementations(&mut self, instance: &Instance, id: DefId, made: &Type) {
        let all: &[Declaration] = instance.implements.as_deref().unwrap_or_default();
        let definition = self.definition(id).clone();
        let object = format!("`{}`", instance.name.text);
        let Kind::Extern { types, methods, .. } = definition.kind else {
            if instance.implements.is_some() {
                let what = "only an extern has methods that are implemented".to_string();
                self.note(instance.name.span, Problem::Abstract { object, what });
            }
            return;
        };
        let mut missing: Vec<Rc<Signature>> = methods.iter().filter(|m| m.is_abstract).cloned().collect();
        let given = match made {
            Type::Named(_, given) => given.clone(),
            _ => Rc::from([]),
        };
        let before = self.this.replace(made.clone());
        self.within(Place::Method, |c| {
            c.scoped(|c| {
                for declaration in all {
                    let DeclarationKind::Function { prototype, body, .. } = &declaration.kind else {
                        c.declaration(declaration);
                        continue;
                    };
                    let signature = Rc::new(c.signature(prototype, false));
                    let wanted = missing.iter().position(|m| is_named_alike(m, &signature));
                    match wanted {
                        Some(at) => {
                            let wanted = missing.remove(at);
                            c.implements(&signature, &wanted, (&types, &given), prototype);
                        }
                        None => {
                            let what =
                                format!("{} has no abstract method `{}` like that", definition.name, signature.name);
                            c.note(prototype.name.span, Problem::Abstract { object: object.clone(), what });
                        }
                    }
                    let function = c.define_named(&prototype.name, Kind::Function(signature.clone()));
                    c.function_body(function, Place::Method, &signature, prototype, body);
                }
            });
        });
        self.this = before;
        missing.retain(|method| !method.optional);
        if !missing.is_empty() {
            let names: Vec<&str> = missing.iter().map(|m| &*m.name).collect();
            let what = format!("it does not implement {}", names.join(", "));
            self.note(instance.name.span, Problem::Abstract { object, what });
        }
    }

    /// Whether an implementation has the types of the abstract method.
    fn implements(
        &mut self,
        found: &Signature,
        wanted: &Signature,
        (types, given): (&[DefId], &[Type]),
        at: &Prototype,
    ) {
        let pairs = found.parameters.iter().zip(&wanted.parameters);
        let mut same = self.unify(&found.result, &self.substitute(&wanted.result, types, given));
        for (one, two) in pairs {
            let ty = self.substitute(&two.ty, types, given);
            same &= one.direction == two.direction && self.unify(&one.ty, &ty);
        }
        if !same {
            let what = format!("`{}` has other types than the abstract method", found.name);
            self.note(at.name.span, Problem::Abstract { object: format!("`{}`", found.name), what });
        }
    }
}

/// Whether an implementation is of that abstract method: it has the name, and all parameters that are not optional.
fn is_named_alike(wanted: &Signature, found: &Signature) -> bool {
    let least = wanted.parameters.iter().filter(|p| !p.absent).count();
    wanted.name == found.name && (least..=wanted.parameters.len()).contains(&found.parameters.len())
}
