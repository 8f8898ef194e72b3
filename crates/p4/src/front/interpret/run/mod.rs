//! Runs what was lowered.

mod calls;
mod expressions;
mod natives;
mod packet;
mod parser;
mod places;
mod statements;
mod tables;
mod trace;

use super::code::{Code, ObjectKind};
use super::shape::Noise;
use super::tables::Rows;
use super::v1model::{Cells, HashLayouts, Requests};
use super::value::Value;
use crate::front::source::Span;
pub(crate) use packet::Packet;
pub(crate) use places::{part, part_mut};
pub(crate) use trace::Event;

/// Most statements and states for a packet, with all of its copies.
pub(crate) const MOST_STEPS: u64 = 10_000_000;

/// Why a block ends before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    Exit,
    /// An error of a parser, by its number.
    Parser(u32),
    /// The packet is dropped.
    Drop,
    /// It cannot go on.
    Fatal(Box<(Span, String)>),
}

pub(crate) type Run<T> = Result<T, Stop>;

/// How a statement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Return,
    Break,
    Continue,
}

/// Numbers of the errors that the machine itself finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreErrors {
    pub packet_too_short: u32,
    pub no_match: u32,
    pub stack_out_of_bounds: u32,
    pub header_too_short: u32,
    pub invalid_argument: u32,
}

impl CoreErrors {
    fn new(code: &Code) -> CoreErrors {
        let of = |name: &str| code.errors.iter().position(|error| &**error == name).unwrap_or(0) as u32;
        CoreErrors {
            packet_too_short: of("PacketTooShort"),
            no_match: of("NoMatch"),
            stack_out_of_bounds: of("StackOutOfBounds"),
            header_too_short: of("HeaderTooShort"),
            invalid_argument: of("ParserInvalidArgument"),
        }
    }
}

/// What changes while a program runs.
#[derive(Debug)]
pub(crate) struct Machine {
    pub slots: Vec<Value>,
    pub tables: Vec<Rows>,
    pub objects: Vec<Cells>,
    /// What value sets hold: for each a list of values, one for each key.
    pub value_sets: Vec<Vec<Vec<u128>>>,
    pub packet: Packet,
    /// Where the target's hash has its bits, as far as the compiler has told it.
    pub hashes: HashLayouts,
    /// `hash` gives the target's in place of the algorithms'.
    pub hashes_as_target: bool,
    /// What a packet asks of the architecture.
    pub requests: Requests,
    pub errors: CoreErrors,
    /// What is undefined is noise.
    pub noise: Option<Noise>,
    /// For `random`, and hashes that are.
    pub random: Noise,
    /// Nanoseconds, for meters.
    pub time: u64,
    pub steps: u64,
    /// What a packet does; nothing if nobody asks.
    pub trace: Option<Vec<Event>>,
    returned: Value,
}

impl Machine {
    pub fn new(code: &Code, seed: u64, is_random: bool) -> Machine {
        Machine {
            slots: vec![Value::None; code.slots],
            tables: code.tables.iter().map(Rows::new).collect(),
            objects: code.objects.iter().map(|object| cells(&object.kind)).collect(),
            value_sets: vec![Vec::new(); code.value_sets.len()],
            packet: Packet::default(),
            hashes: HashLayouts::default(),
            hashes_as_target: false,
            requests: Requests::default(),
            errors: CoreErrors::new(code),
            noise: is_random.then(|| Noise::new(seed)),
            random: Noise::new(seed ^ 0x5a5a),
            time: 0,
            steps: 0,
            trace: None,
            returned: Value::None,
        }
    }

    /// Counts a step, unless there were too many.
    pub fn step(&mut self) -> Run<()> {
        self.steps += 1;
        match self.steps > MOST_STEPS {
            true => fatal(Span::default(), format!("a packet takes more than {MOST_STEPS} steps")),
            false => Ok(()),
        }
    }
}

fn cells(kind: &ObjectKind) -> Cells {
    match kind {
        ObjectKind::Counter { cells, .. } => Cells::Counter(vec![(0, 0); *cells]),
        ObjectKind::Meter { cells, bytes, direct } => Cells::meter(*cells, *bytes, *direct),
        ObjectKind::Register { cells, shape } => Cells::Register(vec![shape.zero(); *cells]),
        ObjectKind::Police { cells, police } => Cells::Police(*police, vec![0; *cells]),
        ObjectKind::Profile { .. } | ObjectKind::Plain => Cells::Nothing,
    }
}

pub(crate) fn fatal<T>(span: Span, what: impl Into<String>) -> Run<T> {
    Err(Stop::Fatal(Box::new((span, what.into()))))
}
