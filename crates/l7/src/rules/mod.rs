//! Rules: what a tenant wants with which message. [`read`] makes a tree of a file, [`Rules`] prints as a file that reads back as
//! the same tree.

pub mod ast;
mod check;
mod error;
mod groups;
mod lexer;
mod parse;
mod pattern;
mod print;
mod shadow;
mod syntax;

pub use ast::{Application, FieldMatch, Goal, Group, Kind, MessageType, Pattern, Rule, Rules, Step};
pub use error::{MOST_ERRORS, Problem, RulesError, RulesErrors};
pub use lexer::{MOST_BYTES, MOST_NAME};
pub use pattern::{literal as escape, unescape};
pub use shadow::Shadowed;

use error::Notes;
use sluice_packet::mistake::Mistakes;
use sluice_packet::text::Span;

/// Reads and checks rules; `file` names them in errors.
pub fn read(file: &str, text: &str) -> Result<Rules, RulesErrors> {
    let mut notes = Notes::default();
    let tree = parse::file(text, &mut notes);
    let rules = check::check(&tree, &mut notes);
    if notes.found.is_empty() {
        return Ok(rules);
    }
    notes.found.sort_by_key(|(span, _)| span.start);
    let mistakes = notes.found.into_iter().map(|(span, problem)| RulesError::new(file, text, span, problem));
    Err(Mistakes(mistakes.collect()))
}

/// Reads the bytes of a file, which are UTF-8.
pub fn read_bytes(file: &str, bytes: &[u8]) -> Result<Rules, RulesErrors> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(file, text),
        Err(e) => {
            let at = e.valid_up_to();
            let good = String::from_utf8_lossy(&bytes[..at]);
            let problem = Problem::Word {
                found: format!("byte {:#04x}, with which the file is no UTF-8", bytes[at]),
                expected: "text; a pattern has other bytes as \\xHH".into(),
            };
            Err(Mistakes(vec![RulesError::new(file, &good, Span { start: at, end: at }, problem)]))
        }
    }
}
