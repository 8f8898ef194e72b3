//! What `sluice rmt` is made of.

pub mod build;
pub mod check;
mod pipeline;
mod report;
pub mod run;
pub mod show;
mod trace;

use crate::failure::Failure;
use crate::files;
use crate::printable;
use sluice_rmt::encode::object::{role_of, target_of};
use sluice_rmt::target::{self, Target};
use sluice_rmt::text::{TextError, TextErrors, Unit, read_bytes, read_bytes_warned};
use std::path::Path;

/// The pipeline of this name.
pub fn target(name: &str) -> Result<Target, String> {
    let known = || {
        format!(
            "expected one of {}",
            target::ALL.iter().chain([&target::SOFT]).map(|t| t.name).collect::<Vec<_>>().join(", ")
        )
    };
    Target::by_name(name).copied().ok_or_else(known)
}

/// A module that passes the checker with what has no effect in it, or what is wrong with it.
pub fn read(path: &Path, target: &Target) -> Result<Result<(Unit, Vec<TextError>), TextErrors>, Failure> {
    Ok(read_bytes_warned(&path.display().to_string(), &files::read(path)?, target))
}

/// Shows what has no effect in a module.
pub fn warn(warnings: &[TextError]) {
    warnings.iter().for_each(|w| printable::tell(w.to_string().replacen("error", "warning", 1)));
}

/// A module's text, or an object that carries the rows of one; an object is for its own target.
pub fn read_any(path: &Path, target: &Target) -> Result<(Unit, Target), Failure> {
    let bytes = files::read(path)?;
    let text = std::str::from_utf8(&bytes).is_ok_and(|t| !t.trim_start().starts_with('{'));
    if text && !bytes.starts_with(b"SLOB") {
        let unit = read_bytes(&path.display().to_string(), &bytes, target).map_err(|e| failure(&e))?;
        return Ok((unit, *target));
    }
    let object = files::object(path)?;
    let place = path.display();
    let (Some(part), Some(target)) = (&object.parts.rmt, target_of(&object)) else {
        let name = &object.name;
        let what = format!("{place}: object `{name}` has no rmt part, expected a module or the object of one");
        return Err(Failure::input("E0690", what));
    };
    let wrong = |e| Failure::input("E0650", format!("{place}: {e}"));
    let mut unit = Unit::of_part(part, target, role_of(part)).map_err(wrong)?;
    (unit.names.module, unit.demands) = (object.name.clone(), object.demands.clone());
    Ok((unit, *target))
}

/// All that is wrong with a module.
pub fn failure(errors: &TextErrors) -> Failure {
    Failure::input(errors.code(), errors)
}
