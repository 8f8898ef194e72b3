//! A file of rules, read and checked: what holds for all of it is said with each part.

/// A file of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// UDP ports: applications, raw applications, endpoints. No two have one port and one ID; an endpoint or a raw
    /// application has its port alone.
    pub applications: Vec<Application>,
    /// Groups, by their numbers in goals.
    pub groups: Vec<Group>,
}

/// What comes to a UDP port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its name; an endpoint's is `endpoint` and its port.
    pub name: String,
    /// UDP destination port.
    pub port: u16,
    /// What it is.
    pub kind: Kind,
    /// Stop bytes, two at most, different ones.
    pub stops: Vec<u8>,
    /// Where messages go that no rule takes; an endpoint's queue.
    pub default: Goal,
    /// Packets are dropped while the rules change, in place of going by the old or the new ones.
    pub discard_while_updating: bool,
    /// Nanoseconds after its last packet when a message is given up; none: 1 s.
    pub expiry_ns: Option<u64>,
    /// Message types by rising number. A raw application has one, number 0, with field 1. An endpoint has none.
    pub types: Vec<MessageType>,
    /// Line of the file, from 1.
    pub line: u32,
}

/// What a UDP port is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Messages with QNP headers and this application ID.
    Application(u8),
    /// A process's port for acknowledgements and responses.
    Endpoint,
    /// A packet is a message, its payload is field 1.
    Raw,
}

/// A message type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageType {
    /// Its name.
    pub name: String,
    /// Number in the header.
    pub number: u8,
    /// Names of fields with their indices, 1 to 15, rising.
    pub fields: Vec<(String, u8)>,
    /// Rules; the first that matches wins.
    pub rules: Vec<Rule>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name; without one, its number in its type from 0.
    pub name: String,
    /// Fields that must all match; one at least, and each field at most once.
    pub matches: Vec<FieldMatch>,
    /// Where its messages go.
    pub goal: Goal,
    /// Line of the file, from 1.
    pub line: u32,
}

/// What a rule asks of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMatch {
    /// Index, 1 to 15.
    pub field: u8,
    /// Patterns of which one must match; one at least.
    pub patterns: Vec<Pattern>,
}

/// A pattern. It is matched from the field's first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// What comes, in order. No two texts and no two skips stand side by side, no text is empty, and the last one is no skip to
    /// a stop byte that the text did not write. A written `*` at the end is left out.
    pub steps: Vec<Step>,
    /// The field ends there.
    pub end: bool,
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// These bytes.
    Text(Vec<u8>),
    /// So many bytes of any value, 1 or more: the field has them.
    Skip(u16),
    /// All up to the next byte of this value, and that byte. It is one of the application's stop bytes.
    Until(u8),
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// Nowhere.
    Drop,
    /// To a queue of the tenant's.
    Queue(u8),
    /// To a queue of a group: its place in [`Rules::groups`].
    Group(u8),
}

/// A group of queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Index of the field whose value chooses the slot; none: session and message ID do.
    pub field: Option<u8>,
    /// Queue of each slot.
    pub slots: [u8; 16],
    /// Line of the file, from 1.
    pub line: u32,
}
