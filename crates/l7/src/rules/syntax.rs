//! A file of rules as it is written: names are names, patterns are text, and every piece has its place.

use sluice_packet::text::Span;

/// A name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'t> {
    pub text: &'t str,
    pub span: Span,
    pub line: u32,
}

/// A number, or nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub value: u128,
    pub span: Span,
    pub line: u32,
}

/// What stands between quotes; the span has the quotes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'t> {
    pub raw: &'t str,
    pub span: Span,
    pub line: u32,
}

/// A whole file.
#[derive(Debug, Default)]
pub(super) struct File<'t> {
    pub ports: Vec<Port<'t>>,
    pub groups: Vec<Group<'t>>,
}

/// What comes to a UDP port.
#[derive(Debug)]
pub(super) enum Port<'t> {
    Application(Application<'t>),
    Endpoint { port: Number, goal: Goal<'t>, line: u32 },
}

/// `application NAME { ... }` or `raw NAME { ... }`
#[derive(Debug)]
pub(super) struct Application<'t> {
    pub raw: bool,
    pub name: Name<'t>,
    pub settings: Vec<Setting<'t>>,
    pub messages: Vec<Message<'t>>,
    /// Of a raw application.
    pub rules: Vec<Rule<'t>>,
    /// A statement could not be read, so that something may only seem to be missing.
    pub broken: bool,
}

/// A setting of an application, at its word.
#[derive(Debug)]
pub(super) struct Setting<'t> {
    pub word: Name<'t>,
    pub value: Value<'t>,
}

#[derive(Debug)]
pub(super) enum Value<'t> {
    Port(Number),
    Id(Number),
    Stop(Vec<Text<'t>>),
    Default(Goal<'t>),
    Update,
    Expire(Number),
}

/// `message NAME = NUMBER { ... }`
#[derive(Debug)]
pub(super) struct Message<'t> {
    pub name: Name<'t>,
    pub number: Number,
    pub fields: Vec<(Name<'t>, Number)>,
    pub rules: Vec<Rule<'t>>,
    /// As of an application.
    pub broken: bool,
}

/// `rule NAME: FIELD ~ "..." | "..." and ... -> GOAL`
#[derive(Debug)]
pub(super) struct Rule<'t> {
    pub name: Option<Name<'t>>,
    /// Fields with their alternatives; the field of a raw application has no name.
    pub matches: Vec<(Option<Name<'t>>, Vec<Text<'t>>)>,
    pub goal: Goal<'t>,
    pub line: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Goal<'t> {
    Drop,
    Queue(Number),
    Group(Name<'t>),
}

/// `group NAME by FIELD { queue N ... }`
#[derive(Debug)]
pub(super) struct Group<'t> {
    pub name: Name<'t>,
    pub by: By<'t>,
    pub queues: Vec<Number>,
    /// As of an application.
    pub broken: bool,
}

/// What chooses the slot of a group.
#[derive(Clone, Copy, Debug)]
pub(super) enum By<'t> {
    Message,
    Name(Name<'t>),
    Index(Number),
}
