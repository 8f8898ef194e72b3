//! Words of P4, and of the preprocessor before it.

use super::Span;
use std::rc::Rc;

/// What a word is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name, or a word of the language, which `reserved` tells apart.
    Word {
        /// As it is written.
        text: Rc<str>,
        /// No name may be like that.
        reserved: bool,
    },
    /// A number as it is written.
    Number(Rc<str>),
    /// What stands between quotes, as it is written.
    Text(Rc<str>),
    /// Punctuation.
    Mark(Mark),
    /// What is no word, and why.
    Bad(&'static str),
    /// The end of the program.
    End,
}

macro_rules! marks {
    ($($name:ident $text:literal),* $(,)?) => {
        /// Punctuation. There is no `>>`: two `>` that touch are one where an expression is read.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub(crate) enum Mark { $($name),* }

        impl Mark {
            /// All of them, a longer one before what it begins with.
            pub const ALL: &[(Mark, &'static str)] = &[$((Mark::$name, $text)),*];

            /// As it is written.
            pub fn text(self) -> &'static str {
                match self { $(Mark::$name => $text),* }
            }
        }
    };
}

marks! {
    SatAddSet "|+|=", SatSubSet "|-|=",
    SatAdd "|+|", SatSub "|-|", Mask "&&&", Invalid "{#}", ShlSet "<<=", Dots "...", ConcatSet "++=",
    Le "<=", Ge ">=", Shl "<<", AndAnd "&&", OrOr "||", Ne "!=", EqEq "==", Concat "++", Range "..", Paste "##",
    AddSet "+=", SubSet "-=", MulSet "*=", DivSet "/=", ModSet "%=", AndSet "&=", OrSet "|=", XorSet "^=",
    PlusColon "+:",
    Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Or "|", And "&", Xor "^", Tilde "~",
    LeftBracket "[", RightBracket "]", LeftBrace "{", RightBrace "}", Less "<", Greater ">",
    LeftParen "(", RightParen ")", Not "!", Colon ":", Comma ",", Question "?", Dot ".", Equals "=",
    Semicolon ";", At "@", Hash "#",
}

/// A word and its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is written.
    pub span: Span,
    /// First in its line.
    pub first: bool,
    /// A blank stands before it.
    pub spaced: bool,
    /// Macros out of which it came, which it does not name again: index of a list in the preprocessor.
    pub hidden: u32,
}

impl Token {
    /// Whether it is this mark.
    pub fn is(&self, mark: Mark) -> bool {
        self.kind == Kind::Mark(mark)
    }

    /// As an error shows it.
    pub fn describe(&self) -> String {
        use sluice_packet::text::quote;
        match &self.kind {
            Kind::Word { text, .. } | Kind::Number(text) => quote(text),
            Kind::Text(text) => quote(&format!("\"{text}\"")),
            Kind::Mark(mark) => format!("`{}`", mark.text()),
            Kind::Bad(why) => (*why).to_string(),
            Kind::End => "the end of the file".to_string(),
        }
    }
}

/// Words that are no names anywhere.
pub(crate) fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "abstract"
            | "action"
            | "bit"
            | "bool"
            | "break"
            | "const"
            | "continue"
            | "control"
            | "default"
            | "else"
            | "enum"
            | "error"
            | "exit"
            | "extern"
            | "false"
            | "for"
            | "header"
            | "header_union"
            | "if"
            | "in"
            | "inout"
            | "int"
            | "match_kind"
            | "out"
            | "package"
            | "parser"
            | "return"
            | "select"
            | "string"
            | "struct"
            | "switch"
            | "table"
            | "this"
            | "transition"
            | "true"
            | "tuple"
            | "typedef"
            | "value_set"
            | "varbit"
            | "void"
            | "_"
    )
}
