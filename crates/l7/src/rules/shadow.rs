//! Rules that can never win, because an earlier one of their type takes every message that they match.
//!
//! What is told is so; not all that is so is told. A rule is compared with each earlier one alone, and a pattern with each
//! of the other's.

use super::ast::{FieldMatch, Pattern, Rule, Rules, Step};
use std::fmt;

/// A rule that no message goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// Its application.
    pub application: String,
    /// Its message type.
    pub message: String,
    /// Its name.
    pub rule: String,
    /// Its line, from 1.
    pub line: u32,
    /// The rule that takes its messages.
    pub by: String,
    /// Line of that one.
    pub by_line: u32,
}

impl Shadowed {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        "E0861"
    }
}

impl fmt::Display for Shadowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { application, message, rule, line, by, by_line } = self;
        write!(
            f,
            "line {line}: rule `{rule}` of `{application}`, `{message}` never wins: every message that it matches goes by rule `{by}` of line {by_line}"
        )
    }
}

/// What a pattern asks of a byte, or of several.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Byte(u8),
    Any,
    Until(u8),
}

fn units(pattern: &Pattern) -> Vec<Unit> {
    let of_step = |step: &Step| match step {
        Step::Text(bytes) => bytes.iter().map(|byte| Unit::Byte(*byte)).collect(),
        Step::Skip(count) => vec![Unit::Any; usize::from(*count)],
        Step::Until(stop) => vec![Unit::Until(*stop)],
    };
    pattern.steps.iter().flat_map(of_step).collect()
}

impl Pattern {
    /// Whether it matches all that the other one does.
    fn covers(&self, other: &Pattern) -> bool {
        let (wide, narrow) = (units(self), units(other));
        let each =
            |(wide, narrow): (&Unit, &Unit)| wide == narrow || *wide == Unit::Any && matches!(narrow, Unit::Byte(_));
        let ends = !self.end || other.end && wide.len() == narrow.len();
        ends && wide.len() <= narrow.len() && wide.iter().zip(&narrow).all(each)
    }
}

impl FieldMatch {
    fn covers(&self, other: &FieldMatch) -> bool {
        let one_does = |pattern: &Pattern| self.patterns.iter().any(|wide| wide.covers(pattern));
        self.field == other.field && other.patterns.iter().all(one_does)
    }
}

impl Rule {
    /// Whether it takes every message that the other one matches.
    fn covers(&self, other: &Rule) -> bool {
        self.matches.iter().all(|asked| other.matches.iter().any(|narrow| asked.covers(narrow)))
    }
}

impl Rules {
    /// Rules that can never win.
    pub fn shadowed(&self) -> Vec<Shadowed> {
        let types = self.applications.iter().flat_map(|a| a.types.iter().map(move |message| (a, message)));
        types
            .flat_map(|(application, message)| {
                message.rules.iter().enumerate().filter_map(move |(n, rule)| {
                    let by = message.rules[..n].iter().find(|earlier| earlier.covers(rule))?;
                    Some(Shadowed {
                        application: application.name.clone(),
                        message: message.name.clone(),
                        rule: rule.name.clone(),
                        line: rule.line,
                        by: by.name.clone(),
                        by_line: by.line,
                    })
                })
            })
            .collect()
    }
}
