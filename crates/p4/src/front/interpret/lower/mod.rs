//! From the tree of a checked program to what runs. Each instance of a parser or control is lowered by itself, so its
//! variables have slots of their own, its type parameters are types, and its constructor's parameters are values.

mod blocks;
mod calls;
mod constants;
mod expressions;
mod instances;
mod lists;
mod package;
mod places;
mod shapes;
mod statements;
mod tables;
mod tell;

pub(crate) use package::SYSTEM;
pub(crate) use tables::key_name;

use super::code::{Code, Ex};
use super::shape::Shape;
use super::value::Value;
use crate::allowed::Allowed;
use crate::front::check::{DefId, Facts, Type, substitute};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    AliasOf, Block, Declaration, DeclarationKind, Expr, Field, Name, Program, Prototype, Statement,
};
use std::collections::HashMap;

/// What the reference cannot run, and where.
pub(crate) struct Refused {
    pub span: Span,
    pub what: String,
}

pub(crate) type Lowered<T> = Result<T, Refused>;

/// What a name stands for in one instance.
#[derive(Clone, Debug)]
enum Binding {
    Slot(usize, Shape),
    Value(Value),
    Object(usize),
    /// A parameter that is an object: its number is in the slot.
    ObjectSlot(usize),
    Control(usize),
    Parser(usize),
    Table(usize),
    Action(usize),
    ValueSet(usize),
    /// `packet_in` or `packet_out`: there is one packet at a time.
    Packet,
}

/// Names and types of one instance, or of the program.
#[derive(Default)]
struct Frame {
    bindings: HashMap<DefId, Binding>,
    parameters: Vec<DefId>,
    types: Vec<Type>,
    /// Name of the instance for the control plane.
    path: String,
}

struct Lowerer<'p> {
    facts: &'p Facts,
    code: Code,
    /// That of the program first.
    frames: Vec<Frame>,
    blocks: HashMap<DefId, &'p Block>,
    /// Names of blocks for the control plane, where they differ.
    given: HashMap<DefId, &'p str>,
    functions: HashMap<DefId, (&'p Prototype, &'p [Statement])>,
    fields: HashMap<DefId, &'p [Field]>,
    /// Functions that were lowered, with their type arguments.
    made: Vec<(DefId, Vec<Type>, usize)>,
    /// What the functions that are being lowered return.
    results: Vec<Type>,
    /// Whether statements say where they are and what they wrote.
    traced: bool,
}

/// Lowers a program for `V1Switch`; one that is traced can tell what its packets do.
pub(crate) fn lower(tree: &Program, facts: &Facts, allowed: &Allowed, traced: bool) -> Lowered<Code> {
    let mut lowerer = Lowerer {
        facts,
        code: Code { errors: facts.errors.clone(), allowed: allowed.clone(), ..Code::default() },
        frames: vec![Frame::default()],
        blocks: HashMap::new(),
        given: HashMap::new(),
        functions: HashMap::new(),
        fields: HashMap::new(),
        made: Vec::new(),
        results: Vec::new(),
        traced,
    };
    lowerer.program(tree)?;
    match lowerer.code.allowed.unknown() {
        Some(what) => lowerer.refuse(Span::default(), what),
        None => Ok(lowerer.code),
    }
}

impl<'p> Lowerer<'p> {
    fn refuse<T>(&self, span: Span, what: impl Into<String>) -> Lowered<T> {
        Err(Refused { span, what: what.into() })
    }

    /// The definition that a name declares.
    fn declared(&self, name: &Name) -> Lowered<DefId> {
        match self.facts.declared(name) {
            Some(id) => Ok(id),
            None => self.refuse(name.span, format!("the declaration of `{}`", name.text)),
        }
    }

    fn bind(&mut self, id: DefId, binding: Binding) {
        let frame = self.frames.len() - 1;
        self.frames[frame].bindings.insert(id, binding);
    }

    /// What a definition stands for here.
    fn binding(&self, id: DefId) -> Option<&Binding> {
        let own = self.frames.last().and_then(|frame| frame.bindings.get(&id));
        own.or_else(|| self.frames[0].bindings.get(&id))
    }

    /// A type with what this instance makes of its type parameters.
    fn put(&self, ty: &Type) -> Type {
        match self.frames.last() {
            Some(frame) => substitute(ty, &frame.parameters, &frame.types),
            None => ty.clone(),
        }
    }

    fn type_of(&self, expression: &Expr) -> Type {
        self.put(&self.facts.types[expression.at.id as usize])
    }

    /// A slot that nothing else has.
    fn slot(&mut self) -> usize {
        self.code.slots += 1;
        self.code.slots - 1
    }

    /// A name for the control plane, inside of the instance; one that begins with a dot is whole.
    fn path(&self, given: &str) -> String {
        let outer = self.frames.last().map_or("", |frame| &frame.path);
        match given.strip_prefix('.') {
            Some(whole) => whole.to_string(),
            None if outer.is_empty() => given.to_string(),
            None => format!("{outer}.{given}"),
        }
    }

    /// What is outside of parsers and controls.
    fn program(&mut self, tree: &'p Program) -> Lowered<()> {
        let mut main = None;
        for declaration in &tree.declarations {
            self.global(declaration)?;
            if let DeclarationKind::Instance(instance) = &declaration.kind
                && &*instance.name.text == "main"
            {
                main = Some(instance);
            }
        }
        match main {
            Some(main) => self.main(main),
            None => self.refuse(Span::default(), "a program without a package `main`"),
        }
    }

    fn global(&mut self, declaration: &'p Declaration) -> Lowered<()> {
        match &declaration.kind {
            DeclarationKind::Block(block) => {
                let id = self.declared(&block.name)?;
                self.blocks.insert(id, block);
                if let Some(given) = crate::front::syntax::ast::given_name(&declaration.annotations) {
                    self.given.insert(id, given.trim_start_matches('.'));
                }
            }
            DeclarationKind::Function { prototype, body, .. } => {
                let id = self.declared(&prototype.name)?;
                self.functions.insert(id, (prototype, body));
            }
            DeclarationKind::Fields { name, fields, .. } => {
                let id = self.declared(name)?;
                self.fields.insert(id, fields);
            }
            DeclarationKind::Alias { ty: AliasOf::Declared(inner), .. } => self.global(inner)?,
            DeclarationKind::Constant { name, value, .. } => self.constant(name, value)?,
            DeclarationKind::Action { .. } => {
                self.local(declaration)?;
            }
            DeclarationKind::Instance(instance) if &*instance.name.text != "main" => {
                self.instance(instance, &declaration.annotations)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A constant by its name.
    fn constant(&mut self, name: &Name, value: &'p Expr) -> Lowered<()> {
        let id = self.declared(name)?;
        let crate::front::check::Kind::Constant { ty, .. } = &self.facts.definition(id).kind else { return Ok(()) };
        let ty = self.put(ty);
        if let Ex::Constant(value) = self.value(value, Some(&ty))? {
            self.bind(id, Binding::Value(value));
        }
        Ok(())
    }
}
