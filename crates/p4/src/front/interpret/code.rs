//! A program as it runs: its tree with each name replaced by what it stands for, in each instance of a block.
//!
//! P4 has no recursion. So each variable of each instance has one slot of its own, and nothing is ever looked up.

use super::Police;
use super::native::Native;
use super::shape::Shape;
use super::told::Told;
use super::value::{Number, Value};
use crate::allowed::Allowed;
use crate::front::source::Span;
use crate::front::syntax::ast::{Binary, Direction, Unary};
use std::collections::BTreeMap;
use std::rc::Rc;

/// One step from a value into a part of it.
#[derive(Debug)]
pub(crate) enum Step {
    Part(u32),
    Index(Ex),
    /// With the number of elements from which on a packet is dropped.
    Next(Option<u32>),
    Last,
}

impl Step {
    /// Whether this element of a stack is one that a packet with is dropped.
    pub fn is_beyond(&self, at: u32) -> bool {
        matches!(self, Step::Next(Some(bound)) if at >= *bound)
    }
}

/// Where a value is kept.
#[derive(Debug)]
pub(crate) struct Place {
    pub slot: usize,
    pub steps: Vec<Step>,
    /// The steps, if they are known before the program runs.
    pub fixed: Option<Box<[u32]>>,
    pub shape: Shape,
}

/// What is written to: a place, or some bits of one.
#[derive(Debug)]
pub(crate) struct Target {
    pub place: Place,
    /// Low bit and number of bits.
    pub slice: Option<(Box<Ex>, u32)>,
}

impl Target {
    /// How many bits are written.
    pub fn width(&self) -> u32 {
        self.slice.as_ref().map_or(self.place.shape.number().width, |(_, width)| *width)
    }
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Ex {
    Constant(Value),
    Read(Place),
    Part(Box<Ex>, u32),
    At(Box<Ex>, Box<Ex>, Shape),
    Unary(Unary, Number, Box<Ex>),
    Binary(Binary, Number, Span, Box<(Ex, Ex)>),
    /// Whether two values of any type are equal.
    Equal(Box<(Ex, Ex)>),
    And(Box<(Ex, Ex)>),
    Or(Box<(Ex, Ex)>),
    Choice(Box<(Ex, Ex, Ex)>),
    Resize(Number, Number, Box<Ex>),
    ToBool(Box<Ex>),
    FromBool(Box<Ex>),
    /// Widths of the lower number and of both.
    Concat(u32, u32, Box<(Ex, Ex)>),
    /// Of a number, from a bit on, so many.
    Slice(Number, u32, Box<(Ex, Ex)>),
    Struct(Vec<Ex>),
    Header(Vec<Ex>),
    /// Elements, and what there is behind them.
    Stack(Vec<Ex>, Shape, u32),
    IsValid(Box<Ex>),
    LastIndex(Place),
    /// Whether it hit, and the number of the action among those of the table.
    Apply(usize),
    Call(Box<Call>),
}

/// A call, and where it is.
#[derive(Debug)]
pub(crate) struct Call {
    pub callee: Callee,
    pub arguments: Vec<Argument>,
    pub span: Span,
}

#[derive(Debug)]
pub(crate) enum Callee {
    Function(usize),
    Action(usize),
    Control(usize),
    Parser(usize),
    Native(NativeCall),
}

/// Whose method is called.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner {
    /// Nobody's, or the packet's.
    None,
    /// An object's.
    Object(usize),
    /// That of the object whose number is in a slot: a parameter.
    Slot(usize),
}

/// A function or method of the architecture, or of the language.
#[derive(Debug)]
pub(crate) struct NativeCall {
    pub what: Native,
    pub object: Owner,
    pub result: Shape,
    /// Fields that a clone, resubmitted or recirculated packet keeps, where the call lists them.
    pub kept: Vec<Place>,
}

#[derive(Debug)]
pub(crate) enum Argument {
    In(Ex, Shape),
    Out(Target),
    InOut(Target),
    Absent,
}

/// A parameter of what is called.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: Rc<str>,
    pub slot: usize,
    pub direction: Direction,
    pub shape: Shape,
    /// Its value where a call or an entry gives none.
    pub default: Option<Value>,
}

#[derive(Debug)]
pub(crate) enum St {
    Evaluate(Ex),
    /// For a trace and the compiler's messages: a statement begins here.
    Here(Span),
    /// For a trace: what a place holds that is written there.
    Show(Span, Place),
    Assign(Target, Ex),
    /// What the target has goes to a slot, the value is computed with it.
    Update(Target, usize, Ex),
    /// A variable without value.
    Fresh(usize, Shape),
    Set(usize, Ex, Shape),
    If(Ex, Vec<St>, Vec<St>),
    Block(Vec<St>),
    /// One program of a sequence: `exit` ends it, and not those after it.
    Program(Vec<St>),
    Return(Option<Ex>),
    Exit,
    Break,
    Continue,
    Switch(Ex, Vec<Case>),
    For {
        init: Vec<St>,
        condition: Ex,
        update: Vec<St>,
        body: Vec<St>,
    },
    /// From low to high, both included.
    ForRange {
        slot: usize,
        number: Number,
        ends: Box<(Ex, Ex)>,
        body: Vec<St>,
    },
    ForEach {
        slot: usize,
        list: Ex,
        body: Vec<St>,
    },
}

/// Labels with the statements of the first that has some. No label is the default.
#[derive(Debug)]
pub(crate) struct Case {
    pub labels: Vec<Value>,
    pub is_default: bool,
    pub body: Vec<St>,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub parameters: Vec<Parameter>,
    pub body: Vec<St>,
}

#[derive(Debug)]
pub(crate) struct Action {
    /// For the control plane, whole.
    pub name: String,
    pub parameters: Vec<Parameter>,
    pub body: Vec<St>,
}

#[derive(Debug, Default)]
pub(crate) struct Control {
    pub parameters: Vec<Parameter>,
    pub locals: Vec<St>,
    pub body: Vec<St>,
}

#[derive(Debug, Default)]
pub(crate) struct Parser {
    pub parameters: Vec<Parameter>,
    pub locals: Vec<St>,
    pub states: Vec<State>,
    pub start: Next,
}

#[derive(Debug)]
pub(crate) struct State {
    pub body: Vec<St>,
    /// Where its transition stands.
    pub span: Span,
    pub transition: Transition,
}

/// Where a parser goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Next {
    State(usize),
    Accept,
    #[default]
    Reject,
}

#[derive(Debug)]
pub(crate) enum Transition {
    Direct(Next),
    Select(Vec<Ex>, Vec<(Vec<Set>, Next)>),
}

/// What a value is compared with.
#[derive(Debug)]
pub(crate) enum Set {
    Any,
    Value(Ex),
    Mask(Ex, Ex),
    Range(Ex, Ex, Number),
    /// A value set, which looks at this key, or at all where it stands alone.
    Named(usize),
}

impl Set {
    /// Whether it is a range that ends before it begins.
    pub fn is_empty(&self) -> bool {
        match self {
            Set::Range(Ex::Constant(low), Ex::Constant(high), number) => low.number(*number) > high.number(*number),
            _ => false,
        }
    }
}

/// How a key is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchKind {
    Exact,
    Lpm,
    Ternary,
    Range,
    Optional,
    Selector,
}

#[derive(Debug)]
pub(crate) struct Key {
    pub name: String,
    pub value: Ex,
    pub kind: MatchKind,
    pub shape: Shape,
    /// Members of a serializable enum, by which an entry may name a value.
    pub members: Vec<(Rc<str>, Value)>,
}

#[derive(Debug)]
pub(crate) struct TableAction {
    pub action: usize,
    /// As the program names it.
    pub word: Rc<str>,
    /// Arguments for the parameters with a direction, which stand first.
    pub bound: Vec<Argument>,
    pub default_only: bool,
    pub table_only: bool,
}

/// What an entry asks of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Match {
    Any,
    Exact(Value),
    /// Value and mask, as numbers.
    Masked(Value, Value),
    /// With the length of the prefix.
    Prefix(Value, Value, u32),
    Range(Value, Value),
}

/// An entry as the program or the control plane gives it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub matches: Vec<Match>,
    /// The smallest wins.
    pub rank: i64,
    pub action: usize,
    pub data: Vec<Value>,
}

#[derive(Debug)]
pub(crate) struct Table {
    pub name: String,
    pub keys: Vec<Key>,
    pub actions: Vec<TableAction>,
    pub default: (usize, Vec<Value>),
    pub default_constant: bool,
    pub entries: Vec<Entry>,
    pub constant: bool,
    /// Most entries, where the program says so.
    pub size: Option<u64>,
    /// Direct counter and meter.
    pub direct: Vec<usize>,
    pub has_selector: bool,
    /// Its action profile or selector.
    pub implementation: Option<usize>,
}

/// An extern that keeps something from packet to packet.
#[derive(Debug)]
pub(crate) struct Object {
    pub name: String,
    pub kind: ObjectKind,
}

#[derive(Debug)]
pub(crate) enum ObjectKind {
    Counter {
        cells: usize,
        packets: bool,
        bytes: bool,
        direct: bool,
    },
    Meter {
        cells: usize,
        bytes: bool,
        direct: bool,
    },
    Register {
        cells: usize,
        shape: Shape,
    },
    /// Meters of two colours, each a word that has the time up to which its rate is used.
    Police {
        cells: usize,
        police: Police,
    },
    /// An action profile or selector.
    Profile {
        selects: bool,
    },
    /// One without state.
    Plain,
}

/// The blocks of `V1Switch`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pipeline {
    pub parser: usize,
    pub verify: usize,
    pub ingress: usize,
    pub egress: usize,
    pub compute: usize,
    pub deparser: usize,
}

/// A field that a system program exchanges with tenants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shared {
    /// In the struct of shared fields.
    pub path: Vec<u32>,
    /// Name for tenants: `ipv4.dst`.
    pub name: String,
    /// Number of its container, which it fills.
    pub container: u8,
}

/// The two stages of a system program, and what it shares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct System {
    pub controls: [usize; 2],
    pub shared: Vec<Shared>,
}

/// Something that a flag accepts less of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Less {
    /// Elements of a stack whose `next` is extracted.
    Bound(String),
    /// Cells of a register or counter.
    Cells(String),
}

/// A program that can run.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub slots: usize,
    pub functions: Vec<Function>,
    pub actions: Vec<Action>,
    pub controls: Vec<Control>,
    pub parsers: Vec<Parser>,
    pub tables: Vec<Table>,
    pub objects: Vec<Object>,
    pub value_sets: Vec<String>,
    pub errors: Vec<Rc<str>>,
    pub pipeline: Pipeline,
    /// Whether something asks for a clone.
    pub has_clones: bool,
    /// In place of the pipeline, if it is a system program.
    pub system: Option<System>,
    pub told: Told,
    /// What may be had in part.
    pub allowed: Allowed,
    /// Of what there might be less, with how much of it there is.
    pub less: BTreeMap<Less, u32>,
}

impl Code {
    /// A parameter of the parser: the packet, headers, the user's metadata, the standard ones. A system program has none.
    pub fn of_parser(&self, at: usize) -> Option<&Parameter> {
        self.parsers.get(self.pipeline.parser)?.parameters.get(at)
    }

    /// Parameters that whole packets go by: the parser's, or those of both stages of a system program.
    pub fn of_packets(&self) -> impl Iterator<Item = &Parameter> {
        let stages = self.system.iter().flat_map(|system| system.controls);
        let stages = stages.flat_map(|at| &self.controls[at].parameters);
        self.parsers.get(self.pipeline.parser).into_iter().flat_map(|parser| &parser.parameters).chain(stages)
    }
}
