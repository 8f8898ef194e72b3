//! What can be wrong with a P4 program. The pages of the codes are docs/errors/E07xx.md.

use crate::front::source::{How, Sources, Span, Text};
use sluice_packet::mistake::{Mistake, Problem as _};
use sluice_packet::text;
use std::fmt;

/// Mistakes of a program that are shown; behind them reading ends.
pub const MOST_ERRORS: usize = 50;
/// Most steps of includes and macros that an error shows.
const MOST_STEPS: usize = 8;

macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident $code:literal $text:literal { $($field:ident),* })*) => {
        /// What is wrong, without the place.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        #[allow(missing_docs, reason = "the fields are the words of the message that stands above them")]
        #[non_exhaustive]
        pub enum Problem {
            $($(#[$doc])* #[error($text)] $name { $($field: String),* },)*
        }

        impl sluice_packet::mistake::Problem for Problem {
            const CODE: &'static str = "E0707";

            fn code(&self) -> &'static str {
                match self { $(Self::$name { .. } => $code),* }
            }
        }
    };
}

problems! {
    /// A file that cannot be read.
    Unreadable "E0700" "{name} cannot be read: {why}" { name, why }
    /// Includes without end.
    IncludeLoop "E0701" "{name}: {what}" { name, what }
    /// A directive that is none, or has no end.
    Directive "E0702" "directive: {what}" { what }
    /// `#error`.
    UserError "E0703" "#error {text}" { text }
    /// A macro that cannot be expanded.
    Macro "E0704" "macro `{name}`: {what}" { name, what }
    /// No word.
    Word "E0705" "found {found}, expected a word of P4" { found }
    /// A number that is none.
    Number "E0706" "{found} is no number: {why}" { found, why }
    /// The text does not go on like that.
    Expected "E0707" "found {found}, expected {expected}" { found, expected }
    /// Nested too deeply, or too long.
    Nested "E0708" "{what}" { what }
    /// A statement or declaration that does not stand there.
    Place "E0709" "{what} is not allowed {place}" { what, place }
    /// A name that is not there.
    Unknown "E0720" "unknown name {name}{hint}" { name, hint }
    /// Declared before.
    Twice "E0721" "{what} is declared twice; the first is at {first}" { what, first }
    /// A name of another kind than is needed.
    Kind "E0722" "{name} is {found}, expected {expected}" { name, found, expected }
    /// Another type than is needed.
    Mismatch "E0723" "{what}: found {found}, expected {expected}" { what, found, expected }
    /// Types that an operator does not take.
    Operator "E0724" "`{operator}` is not defined for {found}; {allowed}" { operator, found, allowed }
    /// A cast that is none.
    Cast "E0725" "{found} cannot be cast to {wanted}: {why}" { found, wanted, why }
    /// Arguments that do not fit.
    Arguments "E0726" "{callee}: {what}" { callee, what }
    /// What cannot be written to.
    ReadOnly "E0727" "{what} cannot be written: {why}" { what, why }
    /// Type arguments that do not fit, or cannot be found.
    TypeArguments "E0728" "{name}: {what}" { name, what }
    /// A field or method that is not there.
    Member "E0729" "{owner} has no `{member}`{hint}" { owner, member, hint }
    /// A type that does not stand there.
    TypeUse "E0730" "{found} is not allowed as {role}: {allowed}" { found, role, allowed }
    /// A parameter that cannot be as it is.
    Parameter "E0731" "parameter `{name}`: {what}" { name, what }
    /// Properties of a table.
    Table "E0732" "table `{table}`: {what}" { table, what }
    /// Actions of a table.
    TableAction "E0733" "action {action}: {what}" { action, what }
    /// Keys, match kinds and what is compared with them.
    Key "E0734" "{what}: {why}" { what, why }
    /// States of a parser.
    State "E0735" "{parser}: {what}" { parser, what }
    /// Labels of a switch.
    Label "E0736" "switch: {what}" { what }
    /// Results of functions.
    Return "E0737" "{function}: {what}" { function, what }
    /// Abstract methods.
    Abstract "E0738" "{object}: {what}" { object, what }
    /// A call or an instance that does not stand there.
    Call "E0739" "{what} cannot be {done} {place}" { what, done, place }
    /// No compile-time constant.
    Constant "E0740" "{what} is no compile-time constant, {why}" { what, why }
    /// A constant out of its range.
    Range "E0741" "{what} is {found}, allowed: {allowed}" { what, found, allowed }
    /// A constant too large to compute with.
    Huge "E0742" "{what} has {found} bits, at most {most} are computed" { what, found, most }
    /// `static_assert`.
    Assertion "E0744" "static_assert does not hold{text}" { text }
    /// Two with one name for the control plane.
    ControlName "E0745" "{what}: {why}" { what, why }
    /// Programs that are no sequence.
    Sequence "E0746" "programs in sequence: {what}" { what }
    /// What the pipeline does not have.
    NotThere "E0750" "not on the pipeline: {what}" { what }
    /// What does not fit.
    TooMuch "E0770" "does not fit the pipeline: {what}" { what }
    /// What the reference does not run.
    Reference "E0794" "the reference does not run {what}" { what }
    /// Entries to reserve that a table cannot have.
    Reserve "E0799" "reserve: {what}" { what }
    /// The compiler is wrong, and has seen it.
    Mistaken "E0798" "a mistake of the compiler, not of the program: {what}" { what }
    /// What P4Info cannot say.
    Info "E0796" "P4Info, {what}: {why}" { what, why }
}

/// What belongs to a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `FILE:LINE:COLUMN`, if it is about a place.
    pub place: Option<String>,
    /// In words.
    pub text: String,
}

/// One mistake, where it is, and how the text there came into the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct P4Error {
    /// The mistake with its line.
    pub mistake: Mistake<Problem>,
    /// Includes and macros from that line outwards, in words.
    pub from: Vec<String>,
    /// Of a program that does not fit: who needs how much, and what would fit.
    pub notes: Vec<Note>,
}

impl P4Error {
    /// Code by which the mistake is explained.
    pub fn code(&self) -> &'static str {
        self.mistake.code()
    }
}

impl fmt::Display for P4Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.mistake)?;
        self.from.iter().try_for_each(|step| write!(f, "\n  {step}"))?;
        self.notes.iter().try_for_each(|note| match &note.place {
            Some(place) => write!(f, "\n  {place}: {}", note.text),
            None => write!(f, "\n  {}", note.text),
        })
    }
}

impl std::error::Error for P4Error {}

/// All mistakes of a program that were found, at least one and at most [`MOST_ERRORS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct P4Errors(pub Vec<P4Error>);

impl P4Errors {
    /// Code of the first one.
    pub fn code(&self) -> &'static str {
        self.0.first().map_or(Problem::CODE, P4Error::code)
    }
}

impl fmt::Display for P4Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if i > 0 { "\n\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for P4Errors {}

/// Mistakes so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    found: Vec<(Span, Problem)>,
}

/// A result of reading.
pub(crate) type Read<T> = Result<T, (Span, Problem)>;

impl Notes {
    /// Takes note of a mistake; a second one at the same place says nothing new.
    pub fn push(&mut self, span: Span, problem: Problem) {
        if !self.full() && self.found.iter().all(|(at, _)| !at.is_at(span)) {
            self.found.push((span, problem));
        }
    }

    /// Takes note of one mistake in place of all others.
    pub fn only(&mut self, span: Span, problem: Problem) {
        self.found = vec![(span, problem)];
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// Whether no more will be taken.
    pub fn full(&self) -> bool {
        self.found.len() >= MOST_ERRORS
    }

    /// The mistakes in the order of their places.
    pub fn into_errors(mut self, sources: &Sources) -> P4Errors {
        self.found.sort_by_key(|(span, _)| (span.text, span.start));
        P4Errors(self.found.into_iter().map(|(span, problem)| located(span, problem, sources)).collect())
    }
}

/// Where a place is, as `FILE:LINE:COLUMN`.
pub(crate) fn place(span: Span, sources: &Sources) -> String {
    let text = sources.text(span.text);
    let at = text::position(&text.text, span.start as usize);
    format!("{}:{}:{}", text.name, at.line, at.column)
}

fn located(span: Span, problem: Problem, sources: &Sources) -> P4Error {
    let text = sources.text(span.text);
    let inside = text::Span { start: span.start as usize, end: span.end as usize };
    let mistake = Mistake::new(&text.name, &text.text, inside, problem);
    P4Error { mistake, from: come_from(text, sources), notes: Vec::new() }
}

/// How a text came into the program, from inside outwards.
pub(crate) fn come_from(text: &Text, sources: &Sources) -> Vec<String> {
    let mut from = Vec::new();
    let mut next = &text.from;
    while let Some((at, how)) = next {
        if from.len() == MOST_STEPS {
            from.push("and so on".to_string());
            break;
        }
        let at_place = place(*at, sources);
        from.push(match how {
            How::Include => format!("included at {at_place}"),
            How::Macro(name) => format!("in macro `{name}`, used at {at_place}"),
        });
        next = &sources.text(at.text).from;
    }
    from
}
