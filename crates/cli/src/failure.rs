//! How commands fail: one form on stderr, one exit code a kind.

use crate::printable;
use crate::run::interrupt;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// Why a command did not succeed. Pages of the codes E05xx: docs/errors.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    code: &'static str,
    what: String,
    help: Option<String>,
    /// Each mistake for programs, where there are some with places.
    mistakes: Vec<Value>,
}

/// What the exit code tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 1: devices differ, accounting is not closed, or an expectation failed.
    Difference,
    /// 2: the input cannot be used.
    BadInput,
    /// 128 and the signal's number: a signal ended it.
    Stopped,
}

impl Failure {
    /// The input cannot be used.
    pub fn input(code: &'static str, what: impl ToString) -> Self {
        Self::of(Kind::BadInput, code, what)
    }

    /// The run showed something that must not be.
    pub fn difference(code: &'static str, what: impl ToString) -> Self {
        Self::of(Kind::Difference, code, what)
    }

    /// A signal ended it before there was anything to report.
    pub fn stopped(what: impl ToString) -> Self {
        Self::of(Kind::Stopped, "E0511", what)
    }

    fn of(kind: Kind, code: &'static str, what: impl ToString) -> Self {
        Self { kind, code, what: what.to_string(), help: None, mistakes: Vec::new() }
    }

    /// The same with each mistake for programs.
    pub fn mistakes(mut self, all: Vec<Value>) -> Self {
        self.mistakes = all;
        self
    }

    /// What is wrong as programs read it; without a place if none is known.
    pub fn json(&self) -> Vec<Value> {
        if !self.mistakes.is_empty() {
            return self.mistakes.clone();
        }
        let (none, empty) = (Value::Null, Value::Array(Vec::new()));
        vec![json!({
            "code": self.code,
            "file": none,
            "line": none,
            "column": none,
            "what": self.what,
            "from": empty,
            "notes": empty,
        })]
    }

    /// Whether a signal ended it.
    pub fn is_stop(&self) -> bool {
        self.kind == Kind::Stopped
    }

    /// The same with a line that says what to do.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The same, where there is something to try.
    pub fn help_if(self, text: Option<String>) -> Self {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// A file that the operating system refuses.
    pub fn file(path: &Path, action: &str, error: &std::io::Error) -> Self {
        Self::input("E0501", format!("{}: cannot be {action}: {error}", path.display()))
    }

    /// Exit code.
    pub fn exit(&self) -> ExitCode {
        match self.kind {
            Kind::Difference => ExitCode::from(1),
            Kind::BadInput => ExitCode::from(2),
            Kind::Stopped => interrupt::exit_code(ExitCode::FAILURE),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Captures, descriptions and scripts say their code themselves; here it stands once, in front.
        let what = self.what.replacen(&format!("error[{}]: ", self.code), "", 1);
        let what = what.replacen(&format!("[{}] ", self.code), "", 1);
        write!(f, "error[{}]: {}", self.code, printable::message(&what))?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", printable::message(help))?;
        }
        write!(f, "\n  more: sluice explain {}", self.code)
    }
}

impl From<sluice_packet::capture::CaptureError> for Failure {
    fn from(error: sluice_packet::capture::CaptureError) -> Self {
        Self::input(error.code(), error)
    }
}

impl From<sluice_object::LinkError> for Failure {
    fn from(error: sluice_object::LinkError) -> Self {
        Self::input(error.code(), error)
    }
}
