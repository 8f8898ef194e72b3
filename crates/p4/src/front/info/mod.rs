//! P4Info: what the control plane may name in a program, with numbers, as `p4.config.v1` of P4Runtime has it.
//!
//! `build` makes the message, `ids` the numbers and aliases, `types` what is said of types. A message is a tree of
//! numbered fields, and `text`, `binary` and `json` each write any such tree. What the choices were:
//! docs/decisions/p4-info.md.

mod annotations;
mod binary;
mod build;
mod ids;
mod json;
mod message;
mod text;
mod types;

pub(crate) use ids::table_aliases;

use crate::error::{Notes, P4Errors, Problem};
use crate::front::interpret::lower;
use crate::front::source::Span;
use crate::{Program, Reservation, front::check};
use message::Message;

/// What is wrong, and where.
type Refused = (Span, Problem);

fn refused<T>(span: Span, what: impl Into<String>, why: impl Into<String>) -> Result<T, Refused> {
    Err((span, Problem::Info { what: what.into(), why: why.into() }))
}

/// The message `p4.config.v1.P4Info` of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Info {
    message: Message,
}

impl Program {
    /// What the control plane may name; a program that v1model cannot run has none. Sizes of tables are those of the source.
    pub fn info(&self) -> Result<Info, P4Errors> {
        self.info_with(&[])
    }

    /// The same, with the sizes that these tables have on a pipeline.
    pub fn info_with(&self, reserved: &[Reservation]) -> Result<Info, P4Errors> {
        let nothing = check::Facts::default();
        let facts = self.facts.as_ref().unwrap_or(&nothing);
        let told = match lower(&self.tree, facts, &self.allowed, false) {
            Ok(code) => build::message(&self.tree, facts, &code, reserved),
            Err(why) => Err((why.span, Problem::Reference { what: why.what })),
        };
        told.map(|message| Info { message }).map_err(|(span, problem)| {
            let mut notes = Notes::default();
            notes.push(span, problem);
            notes.into_errors(&self.sources)
        })
    }
}

impl Info {
    /// In protobuf's text form.
    pub fn text(&self) -> String {
        text::written(&self.message)
    }

    /// In protobuf's binary form.
    pub fn binary(&self) -> Vec<u8> {
        binary::written(&self.message)
    }

    /// In protobuf's JSON form.
    pub fn json(&self) -> String {
        json::written(&self.message)
    }
}
