//! The tree of a program. Trees are equal when they say the same; where it is written does not count.

use crate::front::source::Span;
use num_bigint::BigInt;
use std::rc::Rc;

/// A name where it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub text: Rc<str>,
    pub span: Span,
}

/// Where an expression is, and the number by which its type is found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At {
    pub span: Span,
    pub id: u32,
    /// Levels of expressions below it.
    pub height: u16,
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A number: its value, and its width unless it is an `int`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub value: BigInt,
    pub width: Option<u32>,
    pub signed: bool,
}

/// `@name(...)` or `@name[...]`: what stands in it is kept as text, for it has a meaning only where the name has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Annotation {
    pub name: Name,
    pub body: Option<AnnotationBody>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AnnotationBody {
    /// In parentheses: words without meaning of their own.
    Words(Vec<Rc<str>>),
    /// In brackets: expressions.
    List(Vec<Expr>),
    /// In brackets: names with expressions.
    Pairs(Vec<(Name, Expr)>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypeExpr {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TypeKind {
    Bool,
    Error,
    MatchKind,
    String,
    Void,
    /// `int`.
    Integer,
    /// `bit<W>`; `bit` is `bit<1>`.
    Bit(Option<Box<Expr>>),
    Int(Box<Expr>),
    Varbit(Box<Expr>),
    /// `_` among type arguments.
    Any,
    Named {
        global: bool,
        name: Name,
        arguments: Vec<TypeExpr>,
    },
    Stack(Box<TypeExpr>, Box<Expr>),
    Tuple(Vec<TypeExpr>),
    List(Box<TypeExpr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Minus,
    Plus,
    Not,
    Complement,
}

macro_rules! binaries {
    ($($name:ident $text:literal $level:literal),* $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Binary { $($name),* }

        impl Binary {
            /// As it is written.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// How tightly it binds; a larger number binds more.
            pub fn level(self) -> u8 {
                match self { $(Self::$name => $level),* }
            }
        }
    };
}

binaries! {
    Or "||" 2, And "&&" 3,
    Equal "==" 4, NotEqual "!=" 4,
    Less "<" 5, LessEqual "<=" 5, Greater ">" 5, GreaterEqual ">=" 5,
    BitOr "|" 6, BitXor "^" 7, BitAnd "&" 8,
    ShiftLeft "<<" 9, ShiftRight ">>" 9,
    Concat "++" 10, Add "+" 10, Subtract "-" 10, SaturatingAdd "|+|" 10, SaturatingSubtract "|-|" 10,
    Multiply "*" 11, Divide "/" 11, Modulo "%" 11,
}

/// A value of a call: `x`, or `name = x`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub name: Option<Name>,
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    Bool(bool),
    Number(Number),
    Text(Rc<str>),
    Name {
        global: bool,
        name: Name,
    },
    This,
    /// A type where a value stands: a constructor's name with type arguments, or `error` before a dot.
    Type(Box<TypeExpr>),
    /// `...`, which asks for the default value.
    Dots,
    /// `_`.
    Any,
    /// `default` among keys.
    Default,
    /// `{#}`.
    Invalid,
    List(Vec<Expr>),
    Struct(Vec<(Name, Expr)>, bool),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Cast(Box<TypeExpr>, Box<Expr>),
    Member(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    /// High and low bit.
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Low bit and number of bits, `x[low +: width]`.
    Part(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<TypeExpr>, Vec<Argument>),
    /// `value &&& mask`.
    Mask(Box<Expr>, Box<Expr>),
    /// `low .. high`.
    Range(Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    None,
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    pub annotations: Vec<Annotation>,
    pub direction: Direction,
    pub ty: TypeExpr,
    pub name: Name,
    pub default: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fields {
    Struct,
    Header,
    Union,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub annotations: Vec<Annotation>,
    pub ty: TypeExpr,
    pub name: Name,
}

/// `RESULT NAME<TYPES>(PARAMETERS)`; a constructor has no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prototype {
    pub annotations: Vec<Annotation>,
    pub is_abstract: bool,
    pub result: Option<TypeExpr>,
    pub name: Name,
    pub types: Vec<Name>,
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    Parser,
    Control,
}

/// A parser or control, or the type of one when it has no body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Block {
    pub kind: BlockKind,
    pub name: Name,
    pub types: Vec<Name>,
    pub parameters: Vec<Parameter>,
    pub constructor: Option<Vec<Parameter>>,
    pub body: Option<Body>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub locals: Vec<Declaration>,
    /// Of a parser.
    pub states: Vec<State>,
    /// Of a control.
    pub apply: Vec<Statement>,
    pub end: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub annotations: Vec<Annotation>,
    pub name: Name,
    pub statements: Vec<Statement>,
    pub transition: Option<Transition>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Transition {
    Direct(Name),
    Select { keys: Vec<Expr>, cases: Vec<SelectCase>, span: Span },
}

/// Values and where they lead; one value for all keys stands alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectCase {
    pub values: Vec<Expr>,
    pub state: Name,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declaration {
    pub annotations: Vec<Annotation>,
    pub kind: DeclarationKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeclarationKind {
    Constant {
        ty: TypeExpr,
        name: Name,
        value: Expr,
    },
    Variable {
        ty: TypeExpr,
        name: Name,
        value: Option<Expr>,
    },
    Instance(Instance),
    Action {
        name: Name,
        parameters: Vec<Parameter>,
        body: Vec<Statement>,
    },
    Function {
        prototype: Prototype,
        body: Vec<Statement>,
        end: Span,
    },
    ExternFunction(Prototype),
    Extern {
        name: Name,
        types: Vec<Name>,
        methods: Vec<Prototype>,
    },
    Fields {
        kind: Fields,
        name: Name,
        types: Vec<Name>,
        fields: Vec<Field>,
    },
    Enum {
        ty: Option<TypeExpr>,
        name: Name,
        members: Vec<(Name, Option<Expr>)>,
    },
    Error(Vec<Name>),
    MatchKind(Vec<Name>),
    /// `typedef`, or `type` when it is new. Its type may be declared in it.
    Alias {
        new: bool,
        ty: AliasOf,
        name: Name,
    },
    Block(Block),
    Package {
        name: Name,
        types: Vec<Name>,
        parameters: Vec<Parameter>,
    },
    Table {
        name: Name,
        properties: Vec<Property>,
    },
    ValueSet {
        ty: TypeExpr,
        size: Expr,
        name: Name,
    },
    Empty,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AliasOf {
    Type(TypeExpr),
    Declared(Box<Declaration>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instance {
    pub ty: TypeExpr,
    pub arguments: Vec<Argument>,
    pub name: Name,
    /// What implements abstract methods.
    pub implements: Option<Vec<Declaration>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property {
    pub annotations: Vec<Annotation>,
    pub constant: bool,
    pub name: Name,
    pub value: PropertyValue,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PropertyValue {
    Key(Vec<KeyElement>),
    Actions(Vec<ActionRef>),
    Entries(Vec<Entry>),
    Value(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyElement {
    pub value: Expr,
    pub kind: Name,
    pub annotations: Vec<Annotation>,
}

/// An action, with arguments or without.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ActionRef {
    pub annotations: Vec<Annotation>,
    /// A name, or a call of one.
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub constant: bool,
    pub priority: Option<Expr>,
    pub values: Vec<Expr>,
    pub action: ActionRef,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StatementKind {
    Empty,
    /// `left = right`, or `left op= right`.
    Assign(Expr, Option<Binary>, Expr),
    Call(Expr),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    Block(Vec<Annotation>, Vec<Statement>),
    Return(Option<Expr>),
    Exit,
    Break,
    Continue,
    Switch(Expr, Vec<SwitchCase>),
    For {
        init: Vec<Statement>,
        condition: Expr,
        update: Vec<Statement>,
        body: Box<Statement>,
    },
    ForIn {
        declared: TypeExpr,
        variable: Name,
        over: ForOver,
        body: Box<Statement>,
    },
    Declaration(Box<Declaration>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ForOver {
    Range(Expr, Expr),
    List(Expr),
}

/// A label, and what it does unless it falls through to the next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SwitchCase {
    pub label: Expr,
    pub body: Option<Statement>,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Program {
    pub declarations: Vec<Declaration>,
    /// Expressions have numbers below this one.
    pub expressions: u32,
}

/// The name in `@name("...")`.
pub(crate) fn given_name(annotations: &[Annotation]) -> Option<&str> {
    given(annotations, "name")
}

/// `@priority(N)` behind an entry, which was there before priorities were a part of the language: the smallest wins.
pub(crate) fn annotated_priority(annotations: &[Annotation]) -> Option<i64> {
    let found = annotations.iter().find(|a| &*a.name.text == "priority")?;
    match &found.body {
        Some(AnnotationBody::Words(words)) => words.first()?.parse().ok(),
        _ => None,
    }
}

/// The text that an annotation has.
pub(crate) fn given<'a>(annotations: &'a [Annotation], annotation: &str) -> Option<&'a str> {
    let found = annotations.iter().find(|a| &*a.name.text == annotation)?;
    match &found.body {
        Some(AnnotationBody::Words(words)) => match &words[..] {
            [text] => text.strip_prefix('"')?.strip_suffix('"'),
            _ => None,
        },
        _ => None,
    }
}
