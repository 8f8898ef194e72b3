//! The package `main`: a switch, or a system program.

use super::{Binding, Lowered, Lowerer};
use crate::front::check::Type;
use crate::front::interpret::code::{Pipeline, Shared, System};
use crate::front::interpret::shape::Shape;
use crate::front::source::Span;
use crate::front::syntax::ast::{Expr, ExprKind, Instance};
use sluice_rmt::phv::{Class, Container};

/// The package of a system program.
pub(crate) const SYSTEM: &str = "System";

impl<'p> Lowerer<'p> {
    /// The six blocks of `V1Switch`.
    pub(super) fn main(&mut self, main: &'p Instance) -> Lowered<()> {
        let span = main.name.span;
        let Some(name) = self.facts.package(main) else { return self.refuse(span, "this `main`") };
        match (name, main.arguments.len()) {
            ("V1Switch", 6) => {
                let words = ["p", "vr", "ig", "eg", "ck", "dep"];
                let [parser, verify, ingress, egress, compute, deparser] = self.blocks(main, words, 1)?;
                self.code.pipeline = Pipeline { parser, verify, ingress, egress, compute, deparser };
                Ok(())
            }
            (SYSTEM, 2) => {
                let controls = self.blocks(main, ["first", "last"], 0)?;
                let shared = self.shared(&self.code.controls[controls[0]].parameters[0].shape.clone(), span)?;
                self.code.system = Some(System { controls, shared });
                Ok(())
            }
            _ => {
                let allowed = "only `V1Switch` of v1model with its six blocks and `System` of sluice.p4 with its two";
                self.refuse(span, format!("package `{name}`, {allowed}"))
            }
        }
    }

    /// The blocks of a package by their names, of which so many are parsers.
    fn blocks<const N: usize>(&mut self, main: &'p Instance, words: [&str; N], parsers: usize) -> Lowered<[usize; N]> {
        let mut blocks = [0; N];
        for (at, word) in words.iter().enumerate() {
            let given = super::calls::Given { arguments: &main.arguments, defaults: &[] };
            let Some(value) = given.of(at, word) else {
                return self.refuse(main.name.span, format!("no block `{word}`"));
            };
            blocks[at] = match self.block_of(value)? {
                Binding::Parser(parser) if at < parsers => parser,
                Binding::Control(control) if at >= parsers => control,
                _ => return self.refuse(value.at.span, "this block here"),
            };
        }
        Ok(blocks)
    }

    /// The fields that a system program shares, with their containers.
    fn shared(&self, shape: &Shape, span: Span) -> Lowered<Vec<Shared>> {
        let mut all = Vec::new();
        if let Err(what) = shared_in(shape, &mut Vec::new(), "", &mut all) {
            return self.refuse(span, what);
        }
        Ok(all)
    }

    fn block_of(&mut self, value: &'p Expr) -> Lowered<Binding> {
        match &value.kind {
            ExprKind::Call(_, _, arguments) => {
                let ty = self.type_of(value);
                let Type::Named(id, types) = &ty else { return self.refuse(value.at.span, "this block") };
                let name = match self.given.get(id) {
                    Some(given) => (*given).to_string(),
                    None => self.facts.definition(*id).name.to_string(),
                };
                self.block_instance(*id, types, arguments, &name)
            }
            _ => match self.facts.name(value).and_then(|id| self.binding(id)) {
                Some(binding) => Ok(binding.clone()),
                None => self.refuse(value.at.span, "this block"),
            },
        }
    }
}

/// The container that `c4[7]` names.
fn container(text: &str) -> Option<Container> {
    let (class, place) = text.strip_prefix('c')?.strip_suffix(']')?.split_once('[')?;
    let class = Class::ALL.into_iter().find(|known| class.parse() == Ok(known.bytes()))?;
    place.parse().ok().filter(|place| *place < 8).map(|place| Container::of(class, place))
}

/// Fields of a struct and of structs in it, each with its container.
fn shared_in(shape: &Shape, path: &mut Vec<u32>, outer: &str, all: &mut Vec<Shared>) -> Result<(), String> {
    let Shape::Struct(fields) = shape else {
        return Err("a system program whose shared fields are no struct of numbers".to_string());
    };
    for at in 0..fields.names.len() {
        let given = fields.given[at].as_ref().unwrap_or(&fields.names[at]);
        let name = if outer.is_empty() { given.to_string() } else { format!("{outer}.{given}") };
        path.push(at as u32);
        match &fields.shapes[at] {
            inner @ Shape::Struct(_) => shared_in(inner, path, &name, all)?,
            shape => {
                let Some(text) = &fields.containers[at] else {
                    return Err(format!("shared field `{name}` without a container, as in `@container(\"c4[7]\")`"));
                };
                let Some(container) = container(text) else {
                    return Err(format!("container `{text}` of `{name}`; there are c2[0] to c2[7], c4 and c6"));
                };
                let bits = container.class().bits();
                if !matches!(shape, Shape::Number(_)) || shape.bits() != Some(bits) {
                    return Err(format!("shared field `{name}`, which is no bit<{bits}> as {text} is"));
                }
                if let Some(other) = all.iter().find(|other: &&Shared| other.container == container.0) {
                    return Err(format!("shared fields `{}` and `{name}`, both in {text}", other.name));
                }
                all.push(Shared { path: path.clone(), name, container: container.0 });
            }
        }
        path.pop();
    }
    Ok(())
}
