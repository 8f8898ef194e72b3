//! The syntax tree: what stands where, nothing looked up yet.

use crate::check::Role;
use crate::state::Relation;
use sluice_packet::text::Span;

/// A name and its place.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub text: String,
    pub span: Span,
}

/// A file.
#[derive(Debug)]
pub(super) struct File {
    pub role: Role,
    pub name: Name,
    pub items: Vec<Item>,
}

/// A declaration.
#[derive(Debug)]
pub(super) enum Item {
    Const(Vec<(Name, Expr)>),
    Container(Vec<(Name, Place)>),
    Header(Vec<(Name, Expr)>),
    Group(GroupItem),
    Share(Vec<Place>),
    State { keep: bool, span: Span },
    PortNumbers(Span),
    Demands { items: Vec<Demand>, span: Span },
    Parser(ParserItem),
    Stage(StageItem),
    Deparser(DeparserItem),
}

#[derive(Debug)]
pub(super) struct GroupItem {
    pub name: Name,
    pub number: Expr,
    /// Destination and tag.
    pub members: Vec<(Name, Option<Expr>)>,
}

#[derive(Debug)]
pub(super) enum Demand {
    Quantum(Expr),
    Rate { rate: Expr, burst: Expr },
    Queue { destination: Name, cells: Expr },
}

/// `a + b - c`, from left to right.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub first: Term,
    pub rest: Vec<(BinOp, Term)>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinOp {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

#[derive(Clone, Debug)]
pub(super) struct Term {
    pub kind: TermKind,
    /// `~` before it.
    pub inverted: bool,
    /// `-` before it.
    pub negated: bool,
    /// Shift to the left or right.
    pub shift: Option<(Shift, Box<Expr>)>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
}

#[derive(Clone, Debug)]
pub(super) enum TermKind {
    /// Value, and the hexadecimal digits of its notation.
    Number(u128, u8),
    /// Name with brackets behind it.
    Place(Place),
    /// `min(a, b)`, `max`, `rotl`.
    Call(Name, Vec<Expr>),
    /// In parentheses.
    Group(Box<Expr>),
}

/// `name[x][hi:lo]`
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub name: Name,
    pub brackets: Vec<Bracket>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct Bracket {
    pub first: Box<Expr>,
    pub second: Option<Box<Expr>>,
    pub span: Span,
}

/// A condition.
#[derive(Clone, Debug)]
pub(super) enum Bool {
    Name(Name),
    Constant(bool),
    /// `table 0b0110`
    Table(Expr),
    Compare(Box<Compare>),
    Not(Box<Bool>),
    All(Vec<Bool>),
    Any(Vec<Bool>),
}

#[derive(Clone, Debug)]
pub(super) struct Compare {
    pub left: Expr,
    pub relation: Relation,
    pub right: Expr,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct ParserItem {
    pub first: Option<SelectItem>,
    pub nodes: Vec<(Name, SelectItem)>,
    pub paths: Vec<PathItem>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct SelectItem {
    /// Offset and length.
    pub bytes: Vec<(Expr, Expr)>,
    pub alternatives: Vec<AlternativeItem>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct AlternativeItem {
    pub patterns: Vec<Pattern>,
    pub least: Option<Expr>,
    pub to: Name,
    pub span: Span,
}

/// `*`, `value` or `value/mask`.
#[derive(Debug)]
pub(super) struct Pattern {
    pub value: Option<Expr>,
    pub mask: Option<Expr>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct PathItem {
    pub name: Name,
    pub takes: Vec<(Place, Expr)>,
    /// `set c2[0] = 5`
    pub sets: Vec<(Place, Expr)>,
    pub headers: Vec<HeaderRef>,
    pub verify: Option<(Expr, Expr, Span)>,
    pub least: Option<Expr>,
}

/// A header by name or number.
#[derive(Debug)]
pub(super) struct HeaderRef {
    pub of: Expr,
}

#[derive(Debug)]
pub(super) struct StageItem {
    pub number: Expr,
    pub items: Vec<StagePart>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) enum StagePart {
    Key(Vec<Expr>, Span),
    Pieces(Vec<Place>, Span),
    Predicate(Name, Compare),
    Condition(Name, Bool),
    Memory(Name, Expr),
    Meter(MeterItem),
    Pages(Expr),
    Room { exact: bool, entries: Expr },
    Entries(EntryKind, Vec<EntryItem>, Span),
    Default(LeadsItem),
    Action(ActionItem),
}

#[derive(Debug)]
pub(super) struct MeterItem {
    pub name: Name,
    pub words: Expr,
    pub rate: Expr,
    /// By packets, otherwise by bits.
    pub packets: bool,
    pub burst: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    Exact,
    Ternary,
    Lpm,
    /// `ternary longest`
    Longest,
}

#[derive(Debug)]
pub(super) struct EntryItem {
    pub key: Vec<Pattern>,
    pub leads: LeadsItem,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct LeadsItem {
    pub action: Name,
    pub arguments: Option<Vec<Expr>>,
    pub data: Option<Expr>,
    pub number: Option<Expr>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct ActionItem {
    pub name: Name,
    /// Name and bytes.
    pub parameters: Vec<(Name, Expr)>,
    pub statements: Vec<Statement>,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub kind: StatementKind,
    pub guard: Option<Bool>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) enum StatementKind {
    Assign {
        to: Place,
        op: Option<AssignOp>,
        value: Option<Box<AssignValue>>,
        results: Box<Results>,
    },
    Send(Vec<Expr>),
    Queue(Expr),
    Group(Expr),
    ExceptIngress,
    Discard,
    Headers {
        valid: bool,
        headers: Vec<HeaderRef>,
    },
    If {
        condition: Bool,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    Picks(Box<RawPicks>),
    /// And `cut 1`.
    Cross(Expr, Option<Expr>),
    Alu(Box<RawAlu>),
    Word(Box<RawWord>),
    Access(Box<RawAccess>),
}

/// `=`, or the operation of `+=` and the like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AssignOp {
    Set,
    By(BinOp),
}

#[derive(Debug)]
pub(super) enum AssignValue {
    Expr(Expr),
    /// `if old >= 1 then 0 else old + 1`
    Choose {
        condition: Bool,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
}

/// Containers behind `-> old a, new b`.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub old: Option<Place>,
    pub new: Option<Place>,
}

#[derive(Debug)]
pub(super) struct RawPicks {
    pub class: Name,
    pub containers: Vec<Place>,
    pub rotate: Expr,
    pub mask: Expr,
    pub data: [Expr; 2],
}

#[derive(Debug)]
pub(super) struct RawAlu {
    pub own: Place,
    pub op: Name,
    pub a: Name,
    pub b: Expr,
    pub mask: Expr,
}

#[derive(Debug)]
pub(super) struct RawWord {
    pub word: Name,
    pub source: Expr,
    pub mask: Expr,
}

#[derive(Debug)]
pub(super) struct RawAccess {
    pub source: Name,
    pub mask: Expr,
    pub base: Expr,
    pub what: RawWhat,
    pub results: Results,
}

#[derive(Debug)]
pub(super) enum RawWhat {
    Atom { condition: Bool, then: Expr, otherwise: Expr },
    Meter { limit: Expr, cost: Expr, top: Expr, packets: bool, shift: Expr },
}

#[derive(Debug)]
pub(super) struct DeparserItem {
    pub patterns: Vec<WhenItem>,
    pub rows: Vec<RowItem>,
    pub span: Span,
}

#[derive(Debug)]
pub(super) struct WhenItem {
    pub tests: Vec<Test>,
    pub row: Name,
    pub span: Span,
}

#[derive(Debug)]
pub(super) enum Test {
    /// Name, or number and mask.
    Path(Pattern),
    Valid(Vec<HeaderRef>),
    Invalid(Vec<HeaderRef>),
    Headers(Vec<HeaderRef>),
    /// `headers value/mask`
    HeaderBits(Pattern),
}

#[derive(Debug)]
pub(super) struct RowItem {
    pub name: Name,
    pub puts: Vec<(Place, Expr)>,
    /// Bytes, place, removed.
    pub moves: Option<(Expr, Expr, bool, Span)>,
    /// Which of the two if said, start, length, at.
    pub checksums: Vec<(Option<Expr>, Expr, Expr, Expr, Span)>,
    pub adjust: Option<AdjustItem>,
    pub least: Option<Expr>,
}

/// `adjust 26:16 at 40 was 22:16 udp`
#[derive(Debug)]
pub(super) struct AdjustItem {
    /// Start and length in the outgoing header.
    pub bytes: (Expr, Expr),
    pub at: Expr,
    /// Start and length in the packet as it came, if said.
    pub was: Option<(Expr, Expr)>,
    pub udp: bool,
    pub span: Span,
}
