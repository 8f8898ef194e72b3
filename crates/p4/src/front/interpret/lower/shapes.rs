//! Shapes of types.

use super::Lowerer;
use crate::front::check::{Kind, Type};
use crate::front::interpret::shape::{Fields, Shape};
use crate::front::interpret::value::Number;
use crate::front::syntax::ast::{self, Annotation, AnnotationBody};
use std::rc::Rc;

impl Lowerer<'_> {
    /// What values of a type look like.
    pub(super) fn shape(&self, ty: &Type) -> Shape {
        let ty = self.put(ty);
        let number = |width, signed| Shape::Number(Number { width, signed });
        let plain = |all: &[Type]| {
            let names = (0..all.len()).map(|i| Rc::from(format!("f{i}"))).collect();
            self.struct_of(names, all)
        };
        match &ty {
            Type::Bool => Shape::Bool,
            Type::Int => Shape::Int,
            Type::Bit(width) => number(*width, false),
            Type::Signed(width) => number(*width, true),
            Type::Varbit(width) => Shape::Varbit(*width),
            Type::Text => Shape::Text,
            Type::Error => Shape::Error,
            Type::Stack(element, size) => Shape::Stack(Rc::new(self.shape(element)), *size),
            Type::Tuple(all) | Type::Braces(all) => plain(all),
            Type::Pairs(all, _) => {
                let types: Vec<Type> = all.iter().map(|(_, ty)| ty.clone()).collect();
                self.struct_of(all.iter().map(|(name, _)| name.clone()).collect(), &types)
            }
            Type::Applied(_) => plain(&[Type::Bool, Type::Bit(32)]),
            Type::ActionRun(_) => number(32, false),
            Type::Set(element) => self.shape(element),
            Type::Named(id, _) => match &self.facts.definition(*id).kind {
                Kind::Enum { underlying: None, members } => {
                    Shape::Enum(members.iter().map(|(name, _)| name.clone()).collect())
                }
                Kind::Enum { underlying: Some(of), .. } | Kind::New(of) => self.shape(of),
                Kind::Fields { .. } => self.declared_fields(*id, &ty),
                _ => Shape::Nothing,
            },
            _ => Shape::Nothing,
        }
    }

    fn struct_of(&self, names: Vec<Rc<str>>, types: &[Type]) -> Shape {
        let count = names.len();
        let shapes = types.iter().map(|ty| self.shape(ty)).collect();
        let fields = Fields {
            names,
            shapes,
            lists: vec![Vec::new(); count],
            given: vec![None; count],
            containers: vec![None; count],
            bits: None,
        };
        Shape::Struct(Rc::new(fields))
    }

    fn declared_fields(&self, id: crate::front::check::DefId, ty: &Type) -> Shape {
        let Some((kind, all)) = self.facts.fields(ty) else { return Shape::Nothing };
        let shapes: Vec<Shape> = all.iter().map(|(_, ty)| self.shape(ty)).collect();
        let written = self.fields.get(&id).copied().unwrap_or_default();
        let of = |i: usize| written.get(i).map_or(&[][..], |field| &field.annotations);
        let fields = Fields {
            lists: (0..all.len()).map(|i| self.field_lists(of(i))).collect(),
            given: (0..all.len()).map(|i| ast::given_name(of(i)).map(Rc::from)).collect(),
            containers: (0..all.len()).map(|i| ast::given(of(i), "container").map(Rc::from)).collect(),
            bits: shapes.iter().try_fold(0u32, |sum, shape| sum.checked_add(shape.bits()?)),
            names: all.into_iter().map(|(name, _)| name).collect(),
            shapes,
        };
        let fields = Rc::new(fields);
        match kind {
            ast::Fields::Struct => Shape::Struct(fields),
            ast::Fields::Header => Shape::Header(fields),
            ast::Fields::Union => Shape::Union(fields),
        }
    }

    /// Numbers of lists that a field is in: `@field_list(1, NAME, Enum.member)`.
    fn field_lists(&self, annotations: &[Annotation]) -> Vec<u8> {
        let mut all = Vec::new();
        for annotation in annotations.iter().filter(|a| &*a.name.text == "field_list") {
            match &annotation.body {
                Some(AnnotationBody::Words(words)) => {
                    all.extend(words.split(|word| &**word == ",").filter_map(|words| self.list_number(words)));
                }
                Some(AnnotationBody::List(values)) => {
                    let number = |e: &ast::Expr| match &e.kind {
                        ast::ExprKind::Number(number) => u8::try_from(&number.value).ok(),
                        ast::ExprKind::Name { name, .. } => self.list_number(std::slice::from_ref(&name.text)),
                        _ => None,
                    };
                    all.extend(values.iter().filter_map(number));
                }
                _ => {}
            }
        }
        all
    }

    fn list_number(&self, words: &[Rc<str>]) -> Option<u8> {
        let [.., word] = words else { return None };
        if let Ok(number) = crate::front::syntax::number(word) {
            return u8::try_from(&number.value).ok();
        }
        // A member of an enum with a type is a constant of its own name, too.
        self.facts.definitions.iter().rev().find_map(|definition| match &definition.kind {
            Kind::Constant { value: Some(crate::front::check::Value::Number(number)), .. }
                if definition.name == *word =>
            {
                u8::try_from(number).ok()
            }
            _ => None,
        })
    }
}
