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
        Self::new(Kind::BadInput, code, what)
    }

    /// The run showed something that must not be.
    pub fn difference(code: &'static str, what: impl ToString) -> Self {
        Self::new(Kind::Difference, code, what)
    }

    /// A signal ended it before there was anything to report.
    pub fn stopped(what: impl ToString) -> Self {
        Self::new(Kind::Stopped, "E0511", what)
    }

    fn new(kind: Kind, code: &'static str, what: impl ToString) -> Self {
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
            "help": self.help,
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

    /// The same about a file, which it names.
    pub fn of(mut self, path: &Path) -> Self {
        let name = path.display().to_string();
        if !self.what.contains(&name) {
            self.what = format!("{name}: {}", self.what);
        }
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

/// What programs read of errors, in one document: `{"passed": false, "errors": [{"code", "file", "line", "column", "what",
/// "help"}]}`. In the text of errors each begins with its line `error[CODE]: `.
pub fn mistakes(text: &str) -> Value {
    let mut found: Vec<Mistake> = Vec::new();
    for line in text.lines() {
        if let Some((code, what)) = line.strip_prefix("error[").and_then(|rest| rest.split_once("]: ")) {
            found.push(Mistake::new(code, what));
        } else if let Some(mistake) = found.last_mut() {
            mistake.line(line);
        }
    }
    json!({ "passed": false, "errors": found.into_iter().map(Mistake::json).collect::<Vec<_>>() })
}

/// A file, and line and column or 0.
type Place = (String, u64, u64);

/// One of an error's mistakes.
struct Mistake {
    code: String,
    what: String,
    place: Option<Place>,
    help: Option<String>,
    /// Whether an excerpt of the file has begun, or what is said behind it.
    is_told: bool,
}

impl Mistake {
    /// Some say the place in front, `FILE:LINE:COLUMN: `, or the file alone, which is there or was given.
    fn new(code: &str, what: &str) -> Self {
        let is_file = |text: &str| Path::new(text).exists() || std::env::args().skip(1).any(|word| word == text);
        let file = |text: &str| is_file(text).then(|| (text.to_owned(), 0, 0));
        let split = |of: &dyn Fn(&str) -> Option<Place>| {
            what.match_indices(": ").find_map(|(at, _)| Some((of(&what[..at])?, &what[at + 2..])))
        };
        let front = split(&place).or_else(|| split(&file));
        let (place, what) = front.map_or((None, what), |(place, what)| (Some(place), what));
        Self { code: code.to_owned(), what: what.to_owned(), place, help: None, is_told: false }
    }

    /// A line behind its first one.
    fn line(&mut self, line: &str) {
        let inner = line.trim_start();
        if let Some(help) = inner.strip_prefix("help: ") {
            self.help.get_or_insert_with(|| help.to_owned());
            self.is_told = true;
        } else if let Some(at) = inner.strip_prefix("--> ") {
            self.place = self.place.take().or_else(|| place(at)).or_else(|| Some((at.to_owned(), 0, 0)));
            self.is_told = true;
        } else if inner.starts_with("more: ") || is_excerpt(inner) || line.is_empty() {
            self.is_told = true;
        } else if !self.is_told {
            self.what = format!("{}\n{line}", self.what);
        }
    }

    fn json(self) -> Value {
        let number = |n: u64| (n > 0).then_some(n);
        let (file, line, column) = self.place.map_or((None, 0, 0), |(file, line, column)| (Some(file), line, column));
        json!({ "code": self.code, "file": file, "line": number(line), "column": number(column), "what": self.what, "help": self.help })
    }
}

/// `FILE:LINE:COLUMN`.
fn place(text: &str) -> Option<Place> {
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?, column.parse().ok()?))
}

/// A line of a file behind its number, or one that points at it.
fn is_excerpt(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with('|')
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_of_a_text_has_its_place_and_what_was_found() {
        let text = "error[E0112]: unknown statement `pass`,\nexpected one\n --> a:b.pkt:2:1\n  |\n2 | pass\n  | ^^^^\n\n\
                    error[E0304]: nic.toml:3:11: id: found 0\n  3 | id = 0\n  help: 1\n  more: sluice explain E0304";
        let errors = &mistakes(text)["errors"];
        let first = json!({ "code": "E0112", "file": "a:b.pkt", "line": 2, "column": 1,
                            "what": "unknown statement `pass`,\nexpected one", "help": null });
        let second =
            json!({ "code": "E0304", "file": "nic.toml", "line": 3, "column": 11, "what": "id: found 0", "help": "1" });
        assert_eq!(*errors, json!([first, second]));
        let plain = &mistakes("error[E0501]: a: cannot be read: it: is gone")["errors"][0];
        assert_eq!((&plain["file"], &plain["what"]), (&Value::Null, &"a: cannot be read: it: is gone".into()));
    }
}
