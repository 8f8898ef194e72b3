//! Carrying out a script, whatever carries it out.

use std::fmt;

use super::ast::{Command, Script, Statement};

/// What can carry out scripts: a device, or a pair of devices that is compared.
///
/// The order of statements is the order of calls. What a statement means is said in the
/// guide to packet scripts; how it is done is the runner's matter.
pub trait Runner {
    /// Why a statement failed.
    type Error;

    /// Carries out one statement.
    fn run(&mut self, command: &Command, statement: &Statement) -> Result<(), Self::Error>;

    /// After the last statement: checks that nothing is left that was not expected.
    fn finish(&mut self) -> Result<(), Self::Error>;
}

/// A statement that failed, and where.
#[derive(Debug)]
pub struct Failure<E> {
    /// Name of the script.
    pub file: String,
    /// The statement; `None` for what was found after the last one.
    pub statement: Option<Box<Statement>>,
    /// Why.
    pub error: E,
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.statement {
            None => write!(f, "{}: after the last statement: {}", self.file, self.error),
            Some(statement) => {
                let at = statement.position;
                let (line, column) = (at.line, at.column);
                write!(f, "{}:{line}:{column}: {}", self.file, self.error)?;
                write!(f, "\n{line} | {}", statement.text)
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for Failure<E> {}

impl Script {
    /// Carries out the statements in order, up to the first that fails.
    pub fn run<R: Runner>(&self, runner: &mut R) -> Result<(), Failure<R::Error>> {
        let failure = |statement: Option<&Statement>, error| Failure {
            file: self.file.clone(),
            statement: statement.cloned().map(Box::new),
            error,
        };
        for statement in &self.statements {
            let done = runner.run(&statement.command, statement);
            done.map_err(|error| failure(Some(statement), error))?;
        }
        runner.finish().map_err(|error| failure(None, error))
    }
}
