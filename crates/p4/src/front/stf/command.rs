//! Commands as they are written; names and values are looked at when the script runs.

use sluice_packet::text::Span;

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    pub span: Span,
}

/// `NAME:VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub name: Word,
    pub value: Word,
}

/// `ACTION(NAME:VALUE, ...)`; an argument may stand without its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ActionCall {
    pub name: Word,
    pub arguments: Vec<(Option<Word>, Word)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub kind: CommandKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A rate and a burst.
pub(super) type Rate = (f64, u64);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum CommandKind {
    Packet {
        port: u16,
        bytes: Vec<u8>,
    },
    Expect {
        port: u16,
        pattern: Option<Pattern>,
    },
    Add {
        table: Word,
        priority: Option<i64>,
        keys: Vec<Pair>,
        action: ActionCall,
        id: Option<Word>,
    },
    SetDefault {
        table: Word,
        action: ActionCall,
    },
    Remove {
        table: Word,
        priority: Option<i64>,
        keys: Vec<Pair>,
        id: Option<Word>,
    },
    RemoveAll,
    /// Nothing is expected: nor is it without this line.
    NoPacket,
    MirroringAdd {
        session: u32,
        port: u16,
    },
    MirroringAddGroup {
        session: u32,
        group: u16,
    },
    MirroringDelete {
        session: u32,
    },
    GroupCreate {
        group: u16,
    },
    NodeCreate {
        rid: u16,
        ports: Vec<u16>,
    },
    NodeAssociate {
        group: u16,
        node: usize,
    },
    RegisterRead {
        name: Word,
        index: Option<usize>,
        expected: Option<Word>,
    },
    RegisterWrite {
        name: Word,
        index: usize,
        value: Word,
    },
    RegisterReset {
        name: Word,
    },
    CheckCounter {
        name: Word,
        index: Option<Word>,
        bytes: bool,
        check: Option<(Compare, u64)>,
    },
    CounterRead {
        name: Word,
        index: usize,
    },
    MeterRates {
        name: Word,
        index: Option<usize>,
        rates: Box<[Rate; 2]>,
    },
    ValueSetAdd {
        name: Word,
        values: Vec<u128>,
    },
    ValueSetClear {
        name: Word,
    },
    Wait {
        seconds: f64,
    },
}

impl Eq for CommandKind {}

/// Hexadecimal digits that a packet begins with; nothing is any digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub digits: Vec<Option<u8>>,
    /// The packet is no longer.
    pub whole: bool,
}
