//! The package `main`.

use super::{Binding, Lowered, Lowerer};
use crate::check::{Kind, Type};
use crate::interpret::code::Pipeline;
use crate::syntax::ast::{Expr, ExprKind, Instance};

impl<'p> Lowerer<'p> {
    /// The six blocks of `V1Switch`.
    pub(super) fn main(&mut self, main: &'p Instance) -> Lowered<()> {
        let span = main.name.span;
        let id = self.declared(&main.name)?;
        let Kind::Instance(Type::Named(package, _)) = &self.facts.definition(id).kind else {
            return self.refuse(span, "this `main`");
        };
        let name = &self.facts.definition(*package).name;
        if &**name != "V1Switch" || main.arguments.len() != 6 {
            return self.refuse(span, format!("package `{name}`, only `V1Switch` of v1model with its six blocks"));
        }
        let words = ["p", "vr", "ig", "eg", "ck", "dep"];
        let mut blocks = [0; 6];
        for (at, word) in words.iter().enumerate() {
            let given = super::calls::Given { arguments: &main.arguments, defaults: &[] };
            let Some(value) = given.of(at, word) else { return self.refuse(span, format!("no block `{word}`")) };
            blocks[at] = match (self.block_of(value)?, at) {
                (Binding::Parser(parser), 0) => parser,
                (Binding::Control(control), 1..) => control,
                _ => return self.refuse(value.at.span, "this block here"),
            };
        }
        let [parser, verify, ingress, egress, compute, deparser] = blocks;
        self.code.pipeline = Pipeline { parser, verify, ingress, egress, compute, deparser };
        Ok(())
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
