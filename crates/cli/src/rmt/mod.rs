//! What `sluice rmt` is made of.

pub mod check;
mod report;
pub mod run;
pub mod show;
mod trace;

use crate::failure::Failure;
use crate::files;
use sluice_rmt::target::{self, Target};
use sluice_rmt::text::{TextErrors, Unit, read_bytes};
use std::path::Path;

/// The pipeline of this name.
pub fn target(name: &str) -> Result<Target, String> {
    let all = [target::DEFAULT, target::TINY];
    all.into_iter()
        .find(|t| t.name == name)
        .ok_or_else(|| format!("expected one of {}", all.map(|t| t.name).join(", ")))
}

/// A module that passes the checker, or what is wrong with it.
pub fn read(path: &Path, target: &Target) -> Result<Result<Unit, TextErrors>, Failure> {
    Ok(read_bytes(&path.display().to_string(), &files::read(path)?, target))
}

/// All that is wrong with a module.
pub fn failure(errors: &TextErrors) -> Failure {
    Failure::input(errors.code(), errors)
}
