//! `-W`: which warnings of programs are shown, and which are errors.

use crate::failure::Failure;
use crate::printable;
use clap::Args;
use serde_json::{Value, json};
use sluice_p4::{Level, Levels, P4Warning, Program};

/// What is done with warnings
#[derive(Args, Debug)]
pub struct WarnArgs {
    /// Warnings: NAME shows one, no-NAME does not, error makes all of them errors, error=NAME one; may be given again. `sluice explain CODE` has the name of each
    #[arg(short = 'W', value_name = "WORD", value_parser = word)]
    words: Vec<String>,
}

impl WarnArgs {
    /// Warnings of a program that are shown, and whether each counts as an error.
    pub fn of(&self, program: &Program) -> Vec<(P4Warning, bool)> {
        self.shown(program.warnings())
    }

    /// Those of some warnings that are shown, and whether each counts as an error.
    pub fn shown(&self, all: Vec<P4Warning>) -> Vec<(P4Warning, bool)> {
        let levels = self.levels();
        let shown = |warning: P4Warning| match levels.of(warning.name()) {
            Level::Off => None,
            level => Some((warning, level == Level::Error)),
        };
        all.into_iter().filter_map(shown).collect()
    }

    /// Shows warnings on standard error; fails if one of them counts as an error.
    pub fn tell(&self, program: &Program) -> Result<(), Failure> {
        tell(&self.of(program))
    }

    /// Shows those of programs that come with something else; fails if one of them counts as an error.
    pub fn tell_all(&self, all: &[P4Warning]) -> Result<(), Failure> {
        tell(&self.shown(all.to_vec()))
    }

    /// The same of those that were read later, each once; `told` are those that were shown already, and becomes all.
    pub fn tell_new<'a>(
        &self,
        all: impl IntoIterator<Item = &'a P4Warning>,
        told: &mut Vec<P4Warning>,
    ) -> Result<(), Failure> {
        let before = told.len();
        for warning in all {
            if !told.contains(warning) {
                told.push(warning.clone());
            }
        }
        self.tell_all(&told[before..])
    }

    fn levels(&self) -> Levels {
        let mut levels = Levels::default();
        for word in &self.words {
            // Each was looked at when it was read.
            let _ = levels.word(word);
        }
        levels
    }
}

/// Shows warnings on standard error; those that count as errors come back as a failure.
pub fn tell(all: &[(P4Warning, bool)]) -> Result<(), Failure> {
    all.iter().filter(|(_, is_error)| !is_error).for_each(|(warning, _)| printable::tell(warning));
    match refusal(all) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// The warnings that count as errors.
pub fn refusal(all: &[(P4Warning, bool)]) -> Option<Failure> {
    let errors: Vec<&P4Warning> = all.iter().filter(|(_, is_error)| *is_error).map(|(warning, _)| warning).collect();
    let first = errors.first()?;
    let text: Vec<String> = errors.iter().map(|warning| warning.text(true)).collect();
    let mistakes = errors.iter().map(|warning| {
        let mut mistake = super::place_json(&warning.mistake);
        mistake["from"] = json!(warning.from);
        mistake
    });
    Some(Failure::input(first.code(), text.join("\n\n")).mistakes(mistakes.collect()))
}

/// A warning as programs read it.
pub fn warning_json((warning, is_error): &(P4Warning, bool)) -> Value {
    json!({
        "code": warning.code(),
        "name": warning.name(),
        "error": is_error,
        "file": warning.mistake.file,
        "line": warning.mistake.position.line,
        "column": warning.mistake.position.column,
        "what": warning.mistake.problem.to_string(),
        "from": warning.from,
    })
}

fn word(text: &str) -> Result<String, String> {
    Levels::default().word(text).map(|()| text.to_string())
}
