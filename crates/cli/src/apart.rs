//! Outputs of a command are files of their own, and not among those that it reads.

use crate::captures;
use crate::failure::Failure;
use crate::files::identity;
use sluice_frontends::p4_files;
use sluice_packet::script::{Command, Script};
use std::path::{Path, PathBuf};

/// Refuses an output that is another file of the run, read or written; `-` is none.
pub fn check_own<'a>(option: &str, path: &Path, others: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    if captures::is_standard(path) {
        return Ok(());
    }
    let own = identity(path);
    let same = |other: &&Path| !captures::is_standard(other) && identity(other) == own;
    let Some(other) = others.into_iter().find(same) else { return Ok(()) };
    let (path, other) = (path.display(), other.display());
    let what = format!("{option}: {path} is read or written already as {other}, expected a file of its own");
    Err(Failure::input("E0502", what))
}

/// Refuses `-` of an option whose file is no stream: it would be a file of that name.
pub fn check_named(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    if !path.is_some_and(captures::is_standard) {
        return Ok(());
    }
    let what = format!("{option}: - is standard output, expected a file");
    Err(Failure::input("E0502", what).help(format!("{option} ./- is a file of that name")))
}

/// Refuses waves that are no file of their own.
pub fn check_waves<'a>(waves: Option<&Path>, others: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let Some(waves) = waves else { return Ok(()) };
    check_named("--waves", Some(waves))?;
    check_own("--waves", waves, others)
}

/// A packet script and the files that it names.
pub fn of_script(script: &Script) -> Vec<PathBuf> {
    let own = PathBuf::from(&script.file);
    let folder = own.parent().unwrap_or(Path::new("")).to_owned();
    let mut all = vec![own];
    for statement in &script.statements {
        let named = match &statement.command {
            Command::Load { file, .. } | Command::Rules { file, .. } | Command::Routes { file, .. } => vec![file],
            Command::Rmt(rmt) => [&rmt.file].into_iter().chain(&rmt.entries).collect(),
            Command::Xdp(xdp) => [&xdp.file].into_iter().chain(xdp.rmt.as_ref().map(|rmt| &rmt.file)).collect(),
            _ => Vec::new(),
        };
        all.extend(named.into_iter().flat_map(|file| p4_files(&folder.join(file))));
    }
    all
}
