//! A program as a part of a sequence: the blocks of its `main`, and the types that they share.

use super::{Conflict, Joined};
use crate::Program;
use crate::front::check::{DefId, Facts, Kind, Type};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    self, Block, Declaration, DeclarationKind, Expr, ExprKind, Fields, Parameter, TypeExpr, given_name,
};
use std::rc::Rc;

/// Words for the six blocks of `V1Switch`, in their order.
const WORDS: [&str; 6] = ["p", "vr", "ig", "eg", "ck", "dep"];
pub(super) const PARSER: usize = 0;
pub(super) const VERIFY: usize = 1;
pub(super) const INGRESS: usize = 2;
pub(super) const EGRESS: usize = 3;
pub(super) const COMPUTE: usize = 4;
pub(super) const DEPARSER: usize = 5;

/// A block that `main` is made of.
#[derive(Clone)]
pub(super) struct Used {
    /// Of its declaration.
    pub name: Rc<str>,
    /// Of its constructor.
    pub arguments: Vec<ast::Argument>,
    /// Its name for the control plane.
    pub path: String,
    pub block: Block,
}

impl Used {
    pub fn parameter(&self, at: usize) -> Joined<&Parameter> {
        let missing = || Conflict::new(self.block.name.span, format!("`{}` without parameter {at}", self.name));
        self.block.parameters.get(at).ok_or_else(missing)
    }

    pub fn body(&self) -> Joined<&ast::Body> {
        let missing = || Conflict::new(self.block.name.span, format!("`{}` without a body", self.name));
        self.block.body.as_ref().ok_or_else(missing)
    }
}

/// A program with what a sequence needs of it.
pub(super) struct Part {
    /// A word for it, in names of the control plane and of the joined program.
    pub name: Rc<str>,
    pub tree: ast::Program,
    pub facts: Facts,
    pub blocks: [Used; 6],
    /// The struct of its headers, its declaration, and the type of its metadata.
    pub headers: DefId,
    pub struct_of_headers: Declaration,
    pub meta: TypeExpr,
    /// It is a sequence: its names have the programs' names already.
    pub is_sequence: bool,
}

impl Part {
    pub fn of(program: Program, name: Rc<str>, is_sequence: bool) -> Joined<Part> {
        let Program { tree, facts, .. } = program;
        let facts = facts.unwrap_or_default();
        let Some(main) = main(&tree) else {
            return Err(Conflict::new(tree.declarations.last().map_or(Span::default(), |d| d.span), "no `main`"));
        };
        let span = main.name.span;
        if facts.package(main) != Some("V1Switch") || main.arguments.len() != WORDS.len() {
            return Err(Conflict::new(span, "programs for `V1Switch` with its six blocks are joined, and no others"));
        }
        let mut blocks = Vec::with_capacity(WORDS.len());
        for (at, word) in WORDS.iter().enumerate() {
            let named = |argument: &&ast::Argument| argument.name.as_ref().is_some_and(|name| &*name.text == *word);
            let given = main.arguments.iter().find(named).or_else(|| main.arguments.get(at));
            let used = given.and_then(|argument| used(&tree, &facts, &argument.value));
            blocks.push(used.ok_or_else(|| {
                Conflict::new(span, format!("block `{word}` of `main` is no call of a constructor there"))
            })?);
        }
        let Ok(blocks) = <[Used; 6]>::try_from(blocks) else { unreachable!("six were found") };
        let parser = facts.definitions.iter().find_map(|definition| match &definition.kind {
            Kind::Block { parameters, has_body: true, .. } if definition.name == blocks[PARSER].name => {
                parameters.get(1).map(|parameter| parameter.ty.clone())
            }
            _ => None,
        });
        let is_struct = |name: &str| {
            let is = |declaration: &&Declaration| matches!(&declaration.kind, DeclarationKind::Fields { kind: Fields::Struct, name: own, .. } if &*own.text == name);
            tree.declarations.iter().find(is).cloned()
        };
        let headers = match parser {
            Some(Type::Named(id, types)) if types.is_empty() => {
                is_struct(&facts.definition(id).name).map(|declaration| (id, declaration))
            }
            _ => None,
        };
        let Some((headers, struct_of_headers)) = headers else {
            let span = blocks[PARSER].parameter(1)?.ty.span;
            return Err(Conflict::new(span, "headers that are no struct of the program's own"));
        };
        let meta = blocks[PARSER].parameter(2)?.ty.clone();
        Ok(Part { name, tree, facts, blocks, headers, struct_of_headers, meta, is_sequence })
    }

    /// Fields of the headers with their types.
    pub fn fields(&self) -> Vec<(Rc<str>, Type)> {
        self.facts.fields(&Type::Named(self.headers, Rc::from([]))).map(|(_, fields)| fields).unwrap_or_default()
    }

    /// The type of a field of the headers.
    pub fn field(&self, field: &str) -> Option<Type> {
        self.fields().into_iter().find(|(name, _)| &**name == field).map(|(_, ty)| ty)
    }

    /// Whether a field of the headers is one header, and no stack, union or struct.
    pub fn is_header(&self, field: &str) -> bool {
        let fields = self.field(field).and_then(|ty| self.facts.fields(&ty));
        fields.is_some_and(|(kind, _)| kind == Fields::Header)
    }

    /// Name of the type of a field of the headers.
    pub fn type_of_field(&self, field: &str) -> Rc<str> {
        match self.field(field) {
            Some(Type::Named(id, _)) => self.facts.definition(id).name.clone(),
            _ => field.into(),
        }
    }

    /// Whether a value is all of the headers.
    pub fn is_headers(&self, value: &Expr) -> bool {
        matches!(self.facts.types.get(value.at.id as usize), Some(Type::Named(id, _)) if *id == self.headers)
    }

    /// Whether a block does nothing.
    pub fn is_empty(&self, block: usize) -> bool {
        self.blocks[block].block.body.as_ref().is_none_or(|body| body.apply.is_empty())
    }

    /// Name of the struct of the headers.
    pub fn headers_name(&self) -> Rc<str> {
        self.facts.definition(self.headers).name.clone()
    }
}

fn main(tree: &ast::Program) -> Option<&ast::Instance> {
    tree.declarations.iter().find_map(|declaration| match &declaration.kind {
        DeclarationKind::Instance(instance) if &*instance.name.text == "main" => Some(instance),
        _ => None,
    })
}

fn used(tree: &ast::Program, facts: &Facts, value: &ast::Expr) -> Option<Used> {
    let (ExprKind::Call(_, _, arguments), Type::Named(id, types)) = (&value.kind, &facts.types[value.at.id as usize])
    else {
        return None;
    };
    let name = facts.definition(*id).name.clone();
    tree.declarations.iter().find_map(|declaration| match &declaration.kind {
        DeclarationKind::Block(block) if block.name.text == name && block.body.is_some() && types.is_empty() => {
            let path = given_name(&declaration.annotations).unwrap_or(&name).trim_start_matches('.').to_string();
            Some(Used { name: name.clone(), arguments: arguments.clone(), path, block: block.clone() })
        }
        _ => None,
    })
}
