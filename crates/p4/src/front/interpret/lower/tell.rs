//! What the control plane is told, beside what runs.

use super::calls::Given;
use super::{Lowered, Lowerer};
use crate::front::check::{DefId, Kind, Type};
use crate::front::interpret::code::{Ex, Table};
use crate::front::interpret::told::{ToldAction, ToldObject, ToldParameter, ToldSet, ToldTable};
use crate::front::source::Span;
use crate::front::syntax::ast::{self, Annotation, Direction, Expr, ExprKind, Name, Property, PropertyValue};

impl<'p> Lowerer<'p> {
    pub(super) fn tell_action(
        &mut self,
        name: &Name,
        parameters: &'p [ast::Parameter],
        annotations: &[Annotation],
    ) -> Lowered<()> {
        let mut data = Vec::new();
        for parameter in parameters.iter().filter(|p| p.direction == Direction::None) {
            let id = self.declared(&parameter.name)?;
            let Kind::Variable { ty, .. } = &self.facts.definition(id).kind else { continue };
            let (name, span) = (parameter.name.text.clone(), parameter.name.span);
            data.push(ToldParameter { name, span, annotations: parameter.annotations.clone(), ty: self.put(ty) });
        }
        let (annotations, global) = (annotations.to_vec(), self.frames.len() == 1);
        self.code.told.actions.push(ToldAction { span: name.span, annotations, data, global });
        Ok(())
    }

    pub(super) fn tell_table(
        &mut self,
        name: &Name,
        properties: &'p [Property],
        annotations: &[Annotation],
        table: &Table,
    ) -> Lowered<()> {
        let (mut keys, mut actions, mut times_out) = (Vec::new(), Vec::new(), false);
        let (mut entries, mut default) = (Vec::new(), None);
        for property in properties {
            match &property.value {
                PropertyValue::Key(all) => {
                    let told =
                        |key: &ast::KeyElement| (key.annotations.clone(), self.type_of(&key.value), key.value.at.span);
                    keys = all.iter().map(told).collect();
                }
                PropertyValue::Actions(all) => actions = all.iter().map(|action| action.annotations.clone()).collect(),
                PropertyValue::Value(value) if &*property.name.text == "support_timeout" => {
                    times_out = matches!(self.value(value, None)?, Ex::Constant(value) if value.is_true());
                }
                PropertyValue::Value(value) if &*property.name.text == "default_action" => {
                    default = Some(value.at.span)
                }
                PropertyValue::Entries(all) => entries = all.iter().map(|entry| entry.span).collect(),
                _ => {}
            }
        }
        // NoAction, where the program names no default action.
        actions.resize_with(table.actions.len(), Vec::new);
        let annotations = annotations.to_vec();
        let span = name.span;
        self.code.told.tables.push(ToldTable { span, annotations, keys, actions, times_out, entries, default });
        Ok(())
    }

    pub(super) fn tell_object(&mut self, types: &[Type], given: &Given<'p>, span: Span) -> Lowered<()> {
        let unit = given.arguments.iter().find_map(|argument| match &argument.value.kind {
            ExprKind::Member(_, member) => Some(member.text.clone()),
            _ => None,
        });
        let size = given.of(if given.arguments.len() == 3 { 1 } else { 0 }, "size");
        let size = match size {
            Some(size) if matches!(self.type_of(size), Type::Bit(_) | Type::Int) => {
                u64::try_from(self.constant_of(size)?).ok()
            }
            _ => None,
        };
        let types = types.iter().map(|ty| self.put(ty)).collect();
        let unit = unit.unwrap_or_else(|| "".into());
        self.code.told.objects.push(ToldObject { span, annotations: Vec::new(), types, unit, size });
        Ok(())
    }

    pub(super) fn tell_value_set(
        &mut self,
        id: DefId,
        name: &Name,
        size: &'p Expr,
        annotations: &[Annotation],
    ) -> Lowered<()> {
        let Kind::ValueSet(element) = &self.facts.definition(id).kind else {
            return self.refuse(name.span, "this value set");
        };
        let element = self.put(element);
        let fields = match &element {
            Type::Named(id, _) => {
                self.fields.get(id).map(|all| all.iter().map(|field| field.annotations.clone()).collect())
            }
            _ => None,
        };
        let size = u64::try_from(self.constant_of(size)?).unwrap_or(u64::MAX);
        let annotations = annotations.to_vec();
        self.code.told.value_sets.push(ToldSet { span: name.span, annotations, element, fields, size });
        Ok(())
    }

    pub(super) fn tell_digest(&mut self, ty: Type, span: Span) {
        let digests = &mut self.code.told.digests;
        if digests.iter().all(|(other, _)| *other != ty) {
            digests.push((ty, span));
        }
    }
}
