//! Calls: of functions, actions, tables, blocks, methods.

use super::{Binding, Frame, Lowered, Lowerer};
use crate::front::check::{DefId, Kind, Param, Signature, Type, substitute};
use crate::front::interpret::code::{Argument, Call, Callee, Ex, Function, NativeCall, Owner, Place, Target};
use crate::front::interpret::native::Native;
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::{Number, Value};
use crate::front::syntax::ast::{self, Direction, Expr, ExprKind, Name};
use std::rc::Rc;

/// Arguments as they are written, and defaults of the parameters.
pub(super) struct Given<'p> {
    pub arguments: &'p [ast::Argument],
    pub defaults: &'p [ast::Parameter],
}

impl<'p> Given<'p> {
    /// The argument for a parameter.
    pub fn of(&self, at: usize, name: &str) -> Option<&'p Expr> {
        let named = self.arguments.iter().any(|argument| argument.name.is_some());
        let found = match named {
            true => self.arguments.iter().find(|a| a.name.as_ref().is_some_and(|n| &*n.text == name)),
            false => self.arguments.get(at),
        };
        let default = || self.defaults.get(at).and_then(|p| p.default.as_ref());
        found.map(|argument| &argument.value).or_else(default)
    }
}

impl<'p> Lowerer<'p> {
    pub(super) fn call(
        &mut self,
        expression: &'p Expr,
        callee: &'p Expr,
        arguments: &'p [ast::Argument],
    ) -> Lowered<Ex> {
        let span = expression.at.span;
        let given = Given { arguments, defaults: &[] };
        let (callee, arguments) = match &callee.kind {
            ExprKind::Name { name, .. } => {
                let Some(id) = self.facts.name(callee) else {
                    return self.refuse(span, format!("an instance of `{}` without a name", name.text));
                };
                match &self.facts.definition(id).kind {
                    Kind::Action(_) => return self.call_action(id, given, span),
                    Kind::Function(signature) => {
                        let types = self.type_arguments(callee);
                        let parameters = put_all(&signature.parameters, &signature.types, &types);
                        match self.functions.get(&id).copied() {
                            Some((prototype, _)) => {
                                let given = Given { arguments, defaults: &prototype.parameters };
                                let bound = self.arguments(&parameters, &given, false)?;
                                (Callee::Function(self.function(id, types)?), bound)
                            }
                            None => self.native(("", &name.text), None, signature, &parameters, &given, expression)?,
                        }
                    }
                    _ => return self.refuse(span, format!("a call of `{}`", name.text)),
                }
            }
            ExprKind::Member(owner, member) => {
                return self.call_member(expression, callee, owner, member, arguments);
            }
            _ => return self.refuse(span, "a call of this form"),
        };
        Ok(Ex::Call(Box::new(Call { callee, arguments, span })))
    }

    pub(super) fn call_action(&mut self, id: DefId, given: Given<'p>, span: crate::front::source::Span) -> Lowered<Ex> {
        let (Kind::Action(signature), Some(Binding::Action(at))) =
            (&self.facts.definition(id).kind, self.binding(id).cloned())
        else {
            return self.refuse(span, "this action here");
        };
        let arguments = self.arguments(&signature.parameters, &given, true)?;
        Ok(Ex::Call(Box::new(Call { callee: Callee::Action(at), arguments, span })))
    }

    fn type_arguments(&self, callee: &Expr) -> Vec<Type> {
        let found = self.facts.arguments.get(&callee.at.id);
        found.map_or_else(Vec::new, |all| all.iter().map(|ty| self.put(ty)).collect())
    }

    /// Arguments in the order of their parameters.
    pub(super) fn arguments(
        &mut self,
        parameters: &[Param],
        given: &Given<'p>,
        of_action: bool,
    ) -> Lowered<Vec<Argument>> {
        let mut all = Vec::with_capacity(parameters.len());
        for (at, parameter) in parameters.iter().enumerate() {
            let Some(value) = given.of(at, &parameter.name) else {
                all.push(Argument::Absent);
                continue;
            };
            all.push(self.argument(parameter, value, of_action)?);
        }
        Ok(all)
    }

    pub(super) fn argument(&mut self, parameter: &Param, value: &'p Expr, of_action: bool) -> Lowered<Argument> {
        let shape = self.shape(&parameter.ty);
        if shape == Shape::Nothing && !of_action {
            let number = match self.owner(value)? {
                Owner::Object(at) => Ex::Constant(Value::Bits(at as u128)),
                Owner::Slot(slot) => {
                    let shape = Shape::Number(Number { width: 64, signed: false });
                    Ex::Read(Place { slot, steps: Vec::new(), fixed: Some(Box::default()), shape })
                }
                // The packet: there is one at a time.
                Owner::None => return Ok(Argument::Absent),
            };
            return Ok(Argument::In(number, shape));
        }
        Ok(match parameter.direction {
            Direction::None | Direction::In => Argument::In(self.value(value, Some(&parameter.ty))?, shape),
            Direction::Out if matches!(value.kind, ExprKind::Any) => {
                let place = Place { slot: self.slot(), steps: Vec::new(), fixed: Some(Box::default()), shape };
                Argument::Out(Target { place, slice: None })
            }
            Direction::Out => Argument::Out(self.target(value)?),
            Direction::InOut => Argument::InOut(self.target(value)?),
        })
    }

    /// A function with these type arguments.
    fn function(&mut self, id: DefId, types: Vec<Type>) -> Lowered<usize> {
        if let Some((.., at)) = self.made.iter().find(|(other, with, _)| *other == id && *with == types) {
            return Ok(*at);
        }
        let (prototype, body) = self.functions[&id];
        let Kind::Function(signature) = &self.facts.definition(id).kind else {
            return self.refuse(prototype.name.span, "this function");
        };
        let frame = Frame { parameters: signature.types.clone(), types: types.clone(), ..Frame::default() };
        self.frames.push(frame);
        let parameters = self.parameters(&prototype.parameters)?;
        self.results.push(signature.result.clone());
        let body = self.statements(body)?;
        self.results.pop();
        self.frames.pop();
        self.code.functions.push(Function { parameters, body });
        let at = self.code.functions.len() - 1;
        self.made.push((id, types, at));
        Ok(at)
    }

    fn call_member(
        &mut self,
        expression: &'p Expr,
        callee: &'p Expr,
        owner: &'p Expr,
        member: &'p Name,
        arguments: &'p [ast::Argument],
    ) -> Lowered<Ex> {
        let span = expression.at.span;
        let ty = self.type_of(owner);
        let given = Given { arguments, defaults: &[] };
        if member.text.ends_with("SizeInBits") || member.text.ends_with("SizeInBytes") {
            return self.size(&ty, &member.text, span);
        }
        if let Type::Table(id) = ty {
            return match self.binding(id) {
                Some(Binding::Table(at)) => Ok(Ex::Apply(*at)),
                _ => self.refuse(span, "this table here"),
            };
        }
        let Type::Named(id, types) = &ty else { return self.method_of_value(expression, owner, member, &given) };
        match &self.facts.definition(*id).kind {
            Kind::Extern { types: outer, methods, .. } => {
                let called = self.type_arguments(callee);
                let takes = |s: &&Rc<Signature>| s.name == member.text && s.parameters.len() == arguments.len();
                let signature = methods.iter().find(takes).or_else(|| methods.iter().find(|s| s.name == member.text));
                let Some(signature) = signature.cloned() else {
                    return self.refuse(span, format!("`{}`", member.text));
                };
                let parameters = put_all(&put_all(&signature.parameters, outer, types), &signature.types, &called);
                let extern_name = self.facts.definition(*id).name.clone();
                let names = (&*extern_name, &*member.text);
                let (callee, arguments) =
                    self.native(names, Some(owner), &signature, &parameters, &given, expression)?;
                Ok(Ex::Call(Box::new(Call { callee, arguments, span })))
            }
            Kind::Block { .. } => {
                let Some(block) = self.blocks.get(id).copied() else {
                    return self.refuse(span, "a parser or control without a body");
                };
                let types = match types.is_empty() {
                    true => self.type_arguments(callee),
                    false => types.to_vec(),
                };
                let binding = match self.is_type(owner) {
                    true => self.block_instance(*id, &types, &[], &block.name.text)?,
                    false => match self.facts.name(owner).and_then(|id| self.binding(id)) {
                        Some(binding) => binding.clone(),
                        None => return self.refuse(span, "this instance here"),
                    },
                };
                let Kind::Block { parameters, types: generic, .. } = &self.facts.definition(*id).kind else {
                    return self.refuse(span, "this instance here");
                };
                let parameters = put_all(parameters, generic, &types);
                let given = Given { arguments, defaults: &block.parameters };
                let arguments = self.arguments(&parameters, &given, false)?;
                let callee = match binding {
                    Binding::Control(at) => Callee::Control(at),
                    Binding::Parser(at) => Callee::Parser(at),
                    _ => return self.refuse(span, "this instance here"),
                };
                Ok(Ex::Call(Box::new(Call { callee, arguments, span })))
            }
            _ => self.method_of_value(expression, owner, member, &given),
        }
    }

    /// Bits or bytes of a type.
    fn size(&self, ty: &Type, method: &str, span: crate::front::source::Span) -> Lowered<Ex> {
        fn bits(shape: &Shape, most: bool) -> Option<u64> {
            Some(match shape {
                Shape::Varbit(width) => {
                    if most {
                        u64::from(*width)
                    } else {
                        0
                    }
                }
                Shape::Stack(element, size) => bits(element, most)? * u64::from(*size),
                Shape::Union(fields) => {
                    let all = fields.shapes.iter().map(|shape| bits(shape, most)).collect::<Option<Vec<u64>>>()?;
                    if most { all.into_iter().max()? } else { all.into_iter().min()? }
                }
                Shape::Struct(fields) | Shape::Header(fields) => {
                    fields.shapes.iter().map(|shape| bits(shape, most)).sum::<Option<u64>>()?
                }
                other => u64::from(other.bits()?),
            })
        }
        let Some(bits) = bits(&self.shape(ty), method.starts_with("max")) else {
            return self.refuse(span, "the size of this type");
        };
        let size = if method.ends_with("Bits") { bits } else { bits.div_ceil(8) };
        Ok(Ex::Constant(Value::Int(Box::new(size.into()))))
    }

    /// A method that values have by themselves.
    fn method_of_value(&mut self, expression: &Expr, owner: &'p Expr, member: &Name, given: &Given<'p>) -> Lowered<Ex> {
        let span = expression.at.span;
        if &*member.text == "isValid" {
            return Ok(Ex::IsValid(Box::new(self.value(owner, None)?)));
        }
        let kind = if matches!(self.type_of(owner), Type::Stack(..)) { "stack" } else { "header" };
        let Some(what) = Native::find(kind, &member.text, given.arguments.len()) else {
            return self.refuse(span, format!("method `{}`", member.text));
        };
        let mut arguments = vec![Argument::InOut(self.target(owner)?)];
        for argument in given.arguments {
            let number = Shape::Number(crate::front::interpret::value::Number { width: 32, signed: false });
            arguments.push(Argument::In(self.value(&argument.value, Some(&Type::Bit(32)))?, number));
        }
        let callee = NativeCall { what, object: Owner::None, result: Shape::Nothing, kept: Vec::new() };
        Ok(Ex::Call(Box::new(Call { callee: Callee::Native(callee), arguments, span })))
    }

    fn native(
        &mut self,
        (owner_type, name): (&str, &str),
        owner: Option<&'p Expr>,
        signature: &Signature,
        parameters: &[Param],
        given: &Given<'p>,
        expression: &'p Expr,
    ) -> Lowered<(Callee, Vec<Argument>)> {
        let span = expression.at.span;
        let Some(what) = Native::find(owner_type, name, signature.parameters.len()) else {
            let dot = if owner_type.is_empty() { "" } else { "." };
            return self.refuse(span, format!("`{owner_type}{dot}{name}`, which v1model has not"));
        };
        let object = match owner {
            Some(owner) => self.owner(owner)?,
            None => Owner::None,
        };
        let mut kept = Vec::new();
        if let Native::CloneData | Native::ResubmitData | Native::RecirculateData = what
            && let Some(data) = given.arguments.last()
        {
            self.kept(&data.value, &mut kept)?;
        }
        if what == Native::Digest
            && let Some(data) = given.of(1, "data")
        {
            let ty = self.put(&parameters[1].ty);
            self.tell_digest(ty, data.at.span);
        }
        self.code.has_clones |= matches!(what, Native::Clone | Native::CloneData | Native::CloneKeep);
        let arguments = self.arguments(parameters, given, false)?;
        let result = self.shape(&self.type_of(expression));
        Ok((Callee::Native(NativeCall { what, object, result, kept }), arguments))
    }

    /// The object that an expression is: one with a name, a parameter, or one that is made here.
    fn owner(&mut self, value: &'p Expr) -> Lowered<Owner> {
        let span = value.at.span;
        if let ExprKind::Call(_, _, arguments) = &value.kind {
            let ty = self.type_of(value);
            return match self.made(&ty, arguments, "", span)? {
                Binding::Object(at) => Ok(Owner::Object(at)),
                _ => self.refuse(span, "this instance here"),
            };
        }
        match self.facts.name(value).and_then(|id| self.binding(id)) {
            Some(Binding::Object(at)) => Ok(Owner::Object(*at)),
            Some(Binding::ObjectSlot(slot)) => Ok(Owner::Slot(*slot)),
            Some(Binding::Packet) => Ok(Owner::None),
            _ => self.refuse(span, "this object here"),
        }
    }

    /// Places among what a copy keeps.
    fn kept(&mut self, value: &'p Expr, kept: &mut Vec<Place>) -> Lowered<()> {
        match &value.kind {
            ExprKind::List(all) => all.iter().try_for_each(|value| self.kept(value, kept)),
            ExprKind::Struct(all, _) => all.iter().try_for_each(|(_, value)| self.kept(value, kept)),
            _ => {
                kept.extend(self.place(value)?);
                Ok(())
            }
        }
    }
}

/// Parameters with type arguments put in.
pub(super) fn put_all(parameters: &[Param], generic: &[DefId], types: &[Type]) -> Vec<Param> {
    parameters.iter().map(|p| Param { ty: substitute(&p.ty, generic, types), ..p.clone() }).collect()
}
