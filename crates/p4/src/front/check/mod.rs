//! Names, types and constants of a program: whether it is P4, and what its expressions are.

mod blocks;
mod calls;
mod constants;
mod controlplane;
mod cut;
mod declarations;
mod definitions;
mod enums;
mod expressions;
mod facts;
mod fits;
mod instances;
mod later;
mod library;
mod members;
mod methods;
mod operators;
mod overload;
mod priorities;
mod resolve;
mod scope;
mod statements;
mod tables;
mod types;
mod value;
mod wellformed;

use crate::error::{Notes, Problem, place};
use crate::front::source::{Sources, Span};
use crate::front::syntax::ast::{Expr, Name, Program};
pub(crate) use definitions::{DefId, Definition, Kind, Param, Signature};
pub(crate) use facts::Facts;
use scope::Scopes;
pub(crate) use scope::nearest;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
pub(crate) use types::{Type, substitute};
pub(crate) use value::{Value, compare, saturate, wrap};

/// Checks a program; what is wrong is noted. What was found is complete where nothing is wrong.
pub(crate) fn check(program: &Program, sources: &Sources, notes: &mut Notes) -> Facts {
    let mut checker = Checker {
        sources,
        notes,
        definitions: Vec::new(),
        scopes: Scopes::default(),
        types: vec![Type::Unknown; program.expressions as usize],
        facts: Facts::new(program.expressions as usize),
        found: Vec::new(),
        errors: HashMap::new(),
        match_kinds: HashMap::new(),
        place: Place::Top,
        result: None,
        this: None,
        loops: 0,
        states: Vec::new(),
        inside: Vec::new(),
        measured: HashSet::new(),
        later: later::names(program),
        applied: HashMap::new(),
        controlled: HashSet::new(),
        steps: Cell::new(MOST_STEPS),
        deep: Cell::new(0),
    };
    checker.program(program);
    checker.facts()
}

/// Where a statement or expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Top,
    ParserLocals,
    State,
    ControlLocals,
    Apply,
    Action,
    Function,
    /// The body of an abstract method.
    Method,
    Key,
    /// In an argument of an action.
    Argument,
}

impl Place {
    /// As a message says it.
    fn text(self) -> &'static str {
        match self {
            Place::Top => "outside of parsers and controls",
            Place::ParserLocals => "among the declarations of a parser",
            Place::State => "in a state of a parser",
            Place::ControlLocals => "among the declarations of a control",
            Place::Apply => "in `apply`",
            Place::Action => "in an action",
            Place::Function => "in a function",
            Place::Method => "in a method",
            Place::Key => "in a key",
            Place::Argument => "in an argument of an action",
        }
    }
}

struct Checker<'a> {
    sources: &'a Sources,
    notes: &'a mut Notes,
    definitions: Vec<Definition>,
    scopes: Scopes,
    /// Types of expressions by their numbers.
    types: Vec<Type>,
    /// What is kept beside the types.
    facts: Facts,
    /// What unknown types were found to be.
    found: Vec<Option<Type>>,
    errors: HashMap<Rc<str>, Span>,
    match_kinds: HashMap<Rc<str>, Span>,
    place: Place,
    /// What `return` has to give here.
    result: Option<Type>,
    /// The object whose method is being checked.
    this: Option<Type>,
    /// Loops around a statement.
    loops: usize,
    /// Names of the states of the parser that is being checked.
    states: Vec<Rc<str>>,
    /// Functions, actions and blocks that are being checked: they cannot call themselves.
    inside: Vec<DefId>,
    /// Headers whose varbit has its length from an expression, by `@length`.
    measured: HashSet<DefId>,
    /// Where names are declared, also those that are not yet known.
    later: later::Names,
    /// Parsers and controls that are applied without an instance: where, and in what.
    applied: HashMap<(DefId, DefId), Span>,
    /// Parsers and controls with something that the control plane has a name for.
    controlled: HashSet<DefId>,
    /// Steps into types that are left.
    steps: Cell<u32>,
    /// Levels of a type that are being looked at.
    deep: Cell<u32>,
}

/// Most steps into types in a program.
const MOST_STEPS: u32 = 1_000_000;
/// Deepest nesting of structs that is looked into.
const DEEPEST: u32 = 512;

impl Checker<'_> {
    fn note(&mut self, span: Span, problem: Problem) {
        self.notes.push(span, problem);
    }

    fn program(&mut self, program: &Program) {
        for declaration in &program.declarations {
            if self.notes.full() {
                return;
            }
            self.declaration(declaration);
            self.annotations(&declaration.annotations);
            if self.steps.get() == 0 {
                let what =
                    format!("structs are nested more than {DEEPEST} deep, or have more than {MOST_STEPS} fields");
                return self.note(declaration.span, Problem::Nested { what });
            }
        }
        if let Some(id) = self.scopes.find("main", true).last().copied() {
            let Definition { kind, span, .. } = self.definition(id);
            if !matches!(kind, Kind::Instance(_)) {
                let (span, name, found) = (*span, "`main`".to_string(), kind.text().to_string());
                self.note(span, Problem::Kind { name, found, expected: "an instance of a package".to_string() });
            }
        }
        if self.notes.is_empty() {
            self.control_names(program);
        }
    }

    /// What was found, with nothing left to be found in its types.
    fn facts(mut self) -> Facts {
        let mut facts = std::mem::take(&mut self.facts);
        facts.types = self.types.iter().map(|ty| self.known(ty)).collect();
        for types in facts.arguments.values_mut() {
            *types = types.iter().map(|ty| self.known(ty)).collect();
        }
        facts.definitions = self.definitions;
        facts
    }

    /// Takes note of what a name stands for.
    fn names(&mut self, expression: &Expr, id: DefId) {
        self.facts.names[expression.at.id as usize] = Some(id);
    }

    fn definition(&self, id: DefId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// Names a definition in the innermost scope, unless its name is taken there.
    fn define(&mut self, definition: Definition) -> DefId {
        let id = DefId::new(self.definitions.len());
        let (name, span) = (definition.name.clone(), definition.span);
        let taken = self.scopes.innermost(&name).iter().copied().find(|other| !self.overloads(*other, &definition));
        if let Some(other) = taken {
            let first = place(self.definition(other).span, self.sources);
            self.note(span, Problem::Twice { what: format!("`{name}`"), first });
        }
        self.facts.declare(&name, span, id);
        self.definitions.push(definition);
        self.scopes.declare(&name, id);
        id
    }

    /// Notes a name that stands there twice.
    fn distinct<'n>(&mut self, names: impl Iterator<Item = &'n Name>) {
        let mut seen: HashMap<Rc<str>, Span> = HashMap::new();
        for name in names {
            if let Some(first) = seen.insert(name.text.clone(), name.span) {
                let first = place(first, self.sources);
                self.note(name.span, Problem::Twice { what: format!("`{}`", name.text), first });
            }
        }
    }

    /// Looks into a type, unless too many steps were done or this is too deep in it: then the answer is `otherwise`,
    /// and the program is refused.
    fn look_into<T>(&self, otherwise: T, look: impl FnOnce() -> T) -> T {
        let (left, deep) = (self.steps.get(), self.deep.get());
        if left == 0 || deep == DEEPEST {
            self.steps.set(0);
            return otherwise;
        }
        self.steps.set(left - 1);
        self.deep.set(deep + 1);
        let result = look();
        self.deep.set(deep);
        result
    }

    /// Takes note of an expression's type.
    fn set(&mut self, expression: &Expr, ty: Type) -> Type {
        let ty = self.of_size(ty, expression.at.span);
        self.types[expression.at.id as usize] = ty.clone();
        ty
    }

    /// The type that was found for an expression.
    fn type_of(&self, expression: &Expr) -> Type {
        self.known(&self.types[expression.at.id as usize])
    }

    /// Does something in a place of its own.
    fn within<T>(&mut self, place: Place, check: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.place, place);
        let result = check(self);
        self.place = before;
        result
    }

    /// A constant number, or a mistake that says what it should be.
    fn constant_number(&mut self, expression: &Expr, what: &str) -> Option<num_bigint::BigInt> {
        let base = self.base(&self.type_of(expression));
        match self.constant(expression).map(|value| self.cast_value(value, &base)) {
            Some(Value::Number(number)) => Some(number),
            Some(Value::Known) => None,
            _ => {
                if self.type_of(expression) != Type::Unknown {
                    let why = "which is needed here".to_string();
                    self.note(expression.at.span, Problem::Constant { what: what.to_string(), why });
                }
                None
            }
        }
    }
}
