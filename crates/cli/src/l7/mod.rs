//! What `sluice l7` is made of.

pub mod check;
pub mod compile;
pub mod explain_match;
mod message;
mod placed;
mod ring_messages;
pub mod run;

use crate::failure::Failure;
use crate::files;
use sluice_l7::rules::{Rules, RulesErrors, read_bytes};
use std::path::Path;

/// Rules, or what is wrong with them.
pub fn read(path: &Path) -> Result<Result<Rules, RulesErrors>, Failure> {
    Ok(read_bytes(&path.display().to_string(), &files::read(path)?))
}

/// All that is wrong with a file of rules.
pub fn failure(errors: &RulesErrors) -> Failure {
    Failure::input(errors.code(), errors)
}
