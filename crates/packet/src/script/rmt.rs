//! Statements about rmt modules.

use std::path::PathBuf;

use super::ast::{Command, Rmt};
use super::parse::Parser;
use super::setup::{first_keeps, twice, unknown_option};
use super::words::{Located, Words};

pub(super) fn load(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.declared(words.need("the name of a tenant")?)?;
    let file = words.need("the file of an rmt module")?;
    let first = parser.updates.rmt(&tenant, span)?;
    let mut kept_at = None;
    while let Some(option) = words.next() {
        match (option.text, kept_at.replace(option.span)) {
            ("keep", None) => {}
            ("keep", Some(_)) => return Err(twice("rmt", option)),
            _ => return Err(unknown_option("rmt", option)),
        }
    }
    if let (true, Some(span)) = (first, kept_at) {
        return Err((span, first_keeps("rmt", &tenant)));
    }
    let keep = kept_at.is_some();
    Ok(Command::Rmt(Rmt { tenant, file: PathBuf::from(file.text), keep }))
}
