//! One door for programs: a file's content and its ending say what it is, and what comes out is an object.
//!
//! | file | told by |
//! | --- | --- |
//! | object file of clang's with XDP programs | its first bytes, `7f 45 4c 46` |
//! | binary object | its first bytes, `SLOB` |
//! | text of an rmt module | the ending `.rmt` |
//! | rules of message dispatch | the ending `.l7` |
//! | P4-16 program for the rmt pipeline | the ending `.p4`; `A.p4+B.p4` are several in sequence |
//! | object in JSON | anything else |
//!
//! `nic.toml`, `--replace`, packet scripts and commands read programs here and nowhere else. Devices do not know it.

mod clones;
mod p4;

pub use p4::{P4Told, TableChange, Tables, fill};
pub use sluice_p4::{Allowed, CounterCells, P4Warning, files as p4_files};

use sluice_ebpf::tenant;
use sluice_formats::Target;
use sluice_object::{KeySpec, Object, ObjectError};
use sluice_packet::bounded;
use sluice_rmt::encode::object::object;
use sluice_rmt::text;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// Ending of files with the text of an rmt module.
const MODULE_ENDING: &str = "rmt";
/// Ending of files with rules of message dispatch.
const RULES_ENDING: &str = "l7";
/// Ending of files with a P4-16 program.
const P4_ENDING: &str = "p4";
/// Code of entries that are none of the program's.
const NO_ENTRIES: &str = "E0797";

/// What stands in the place of a file of entries where those of the program that runs go.
pub const NO_FILE: &str = "none";
/// First bytes of an ELF file.
const ELF: &[u8] = b"\x7fELF";

/// What a program file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text of an rmt module.
    Module,
    /// Rules of message dispatch.
    Rules,
    /// A P4-16 program.
    P4,
    /// An object file of clang's.
    Elf,
    /// An object in one of its forms.
    Object,
}

impl Kind {
    /// What a file is by its name and its bytes.
    pub fn of(path: &Path, bytes: &[u8]) -> Self {
        let ends = |with| path.extension().is_some_and(|ending| ending == with);
        if bytes.starts_with(ELF) {
            Self::Elf
        } else if ends(MODULE_ENDING) {
            Self::Module
        } else if ends(RULES_ENDING) {
            Self::Rules
        } else if ends(P4_ENDING) {
            Self::P4
        } else {
            Self::Object
        }
    }
}

/// What is known beside the file.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// The NIC's target: the text of a module, a P4 program, and rules, become rows for it.
    pub target: &'a Target,
    /// Name of the object that an object file of clang's, a P4 program or a file of rules becomes.
    pub name: &'a str,
    /// What is said about an XDP program; none is said about other files.
    pub xdp: tenant::Options,
    /// What is said about a P4 program; none is said about other files.
    pub p4: P4Options<'a>,
}

/// What is known beside a P4 program.
#[derive(Clone, Debug, Default)]
pub struct P4Options<'a> {
    /// File with the entries of its tables, in STF.
    pub entries: Option<&'a Path>,
    /// Without such a file: entries that a program in its place has go, and are not kept.
    pub entries_go: bool,
    /// What of it may be had in part.
    pub allowed: Allowed,
    /// Tables of which it is said how many entries rows are reserved for.
    pub reserve: BTreeMap<String, u32>,
    /// Where it is kept what is told of it beside the object.
    pub told: Option<&'a RefCell<P4Told>>,
}

impl<'a> Reading<'a> {
    /// With nothing said about an XDP program.
    pub fn new(target: &'a Target, name: &'a str) -> Self {
        Self { target, name, xdp: tenant::Options::default(), p4: P4Options::default() }
    }
}

/// Why a file holds no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ProgramFileError {
    /// Code for `sluice explain`.
    pub code: &'static str,
    /// The file and what is wrong with it, with places where there are some.
    pub what: String,
}

/// Reads a file.
pub fn read(path: &Path, reading: &Reading) -> Result<Object, ProgramFileError> {
    decode(path, &bytes_of(path)?, reading)
}

/// Bytes of a program file; none of P4 programs in sequence, whose files are read one by one.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, ProgramFileError> {
    if p4_files(path).len() > 1 {
        return Ok(Vec::new());
    }
    let unread = |e| ProgramFileError { code: "E0305", what: format!("{}: {e}", path.display()) };
    bounded::read(path, bounded::MOST_OBJECT).map_err(unread)
}

/// The same from the file's bytes.
pub fn decode(path: &Path, bytes: &[u8], reading: &Reading) -> Result<Object, ProgramFileError> {
    let file = path.display();
    let wrong = |code, what: String| ProgramFileError { code, what: format!("{file}: {what}") };
    let kind = Kind::of(path, bytes);
    if kind != Kind::P4 {
        said_nothing_of_p4(&reading.p4).map_err(|what| wrong(NO_ENTRIES, what))?;
    }
    match kind {
        Kind::Object => said_nothing(&reading.xdp)
            .map_err(|what| wrong("E0471", what))
            .and_then(|()| Object::decode(bytes).map_err(|e| wrong(e.code(), no_program(e)))),
        Kind::Elf => tenant::read(reading.name, bytes, &reading.xdp).map_err(|e| wrong(e.code(), e.to_string())),
        Kind::Module => {
            said_nothing(&reading.xdp).map_err(|what| wrong("E0471", what))?;
            module(&file.to_string(), bytes, &reading.target.rmt)
        }
        Kind::Rules => {
            said_nothing(&reading.xdp).map_err(|what| wrong("E0471", what))?;
            rules(&file.to_string(), bytes, reading)
        }
        Kind::P4 => {
            said_nothing(&reading.xdp).map_err(|what| wrong("E0471", what))?;
            Tables::decode(path, bytes, reading, None)?.object()
        }
    }
}

/// Reads a program that takes the place of a running one; of an XDP program the maps named in `keep` go on, as those do
/// that are pinned. What it has no program for stays, where a tenant runs several.
pub fn successor(
    path: &Path,
    running: Option<&Object>,
    keep: &[String],
    sizes: &[(String, u32)],
    p4: P4Options<'_>,
    target: &Target,
) -> Result<Object, ProgramFileError> {
    let file = path.display();
    let bytes = bytes_of(path)?;
    let Some(running) = running else { return first(path, &bytes, sizes, p4, target) };
    let name = &running.name;
    let object = match Kind::of(path, &bytes) {
        Kind::Elf => said_nothing_of_p4(&p4)
            .map_err(|what| (NO_ENTRIES, what))
            .and_then(|()| tenant::successor(name, &bytes, running, keep, sizes).map_err(|e| (e.code(), e.to_string())))
            .map_err(|(code, what)| ProgramFileError { code, what: format!("{file}: {what}") })?,
        Kind::P4 => {
            let reading = Reading { p4, ..Reading::new(target, name) };
            Tables::decode(path, &bytes, &reading, Some(running))?.object()?
        }
        _ => decode(path, &bytes, &Reading { p4, ..Reading::new(target, name) })?,
    };
    let Some(stays) = what_stays(running, &object) else { return Ok(object) };
    object.join(stays).map_err(|e| ProgramFileError { code: e.code(), what: format!("{file}: {e}") })
}

/// What of a running program a new one does not replace. Rules stay beside a new table or new programs, and these beside
/// new rules; of an rmt and an XDP program one stays beside the other's successor.
fn what_stays(running: &Object, object: &Object) -> Option<Object> {
    if running.is_rules() {
        return None;
    }
    let mut stays = running.clone();
    if object.parts.l7.is_some() {
        stays.parts.l7 = None;
    }
    if object.is_rules() {
        return running.parts.l7.is_some().then_some(stays);
    }
    let both = |object: &Object| object.parts.rmt.is_some() && object.parts.xdp.is_some();
    let one = object.parts.rmt.is_some() != object.parts.xdp.is_some();
    let (rmt, xdp) =
        if both(running) && one { (object.parts.rmt.is_some(), object.parts.xdp.is_some()) } else { (true, true) };
    if rmt {
        stays.parts.rmt = None;
    }
    if xdp {
        stays.parts.xdp = None;
    }
    match (stays.parts.is_empty(), stays.parts.l7.is_some() && stays.parts.engines().len() == 1) {
        (true, _) => None,
        // Without the table, if there was one.
        (_, true) => Some(Object { parts: stays.parts, ..Object::new(&running.name, KeySpec::NONE, object.default) }),
        _ => Some(stays),
    }
}

/// The program of a tenant who ran none.
fn first(
    path: &Path,
    bytes: &[u8],
    sizes: &[(String, u32)],
    p4: P4Options<'_>,
    target: &Target,
) -> Result<Object, ProgramFileError> {
    let mut reading = Reading { p4, ..Reading::new(target, "program") };
    if Kind::of(path, bytes) == Kind::Elf {
        reading.xdp.max_entries = sizes.to_vec();
    }
    decode(path, bytes, &reading)
}

/// What is wrong with a file that begins as no object: it may have been meant as any program.
fn no_program(error: ObjectError) -> String {
    match error {
        ObjectError::Binary { offset: 0, found, .. } if found.starts_with("bytes") => {
            let expected =
                "an object (`SLOB` or `{`), an object file of clang's (ELF), a module (*.rmt, *.p4), or rules (*.l7)";
            format!("found {found}, expected {expected}")
        }
        error => error.to_string(),
    }
}

/// Options of an XDP program mean nothing to another file.
fn said_nothing(options: &tenant::Options) -> Result<(), String> {
    if *options == tenant::Options::default() {
        return Ok(());
    }
    Err("options of an XDP program for a file that is no object file of clang's".to_owned())
}

/// The same of a P4 program's.
fn said_nothing_of_p4(options: &P4Options<'_>) -> Result<(), String> {
    let given = match options.entries {
        Some(entries) => format!("entries of {}", entries.display()),
        None if options.entries_go => "that entries go".to_owned(),
        None if options.allowed != Allowed::default() => "what may be had in part".to_owned(),
        None if !options.reserve.is_empty() => "entries to reserve".to_owned(),
        None => return Ok(()),
    };
    Err(format!("{given}, expected with a P4 program (*.p4) only"))
}

fn rules(file: &str, bytes: &[u8], reading: &Reading) -> Result<Object, ProgramFileError> {
    let rules = sluice_l7::rules::read_bytes(file, bytes)
        .map_err(|e| ProgramFileError { code: e.code(), what: e.to_string() })?;
    let wrong = |code, what: String| ProgramFileError { code, what: format!("{file}: {what}") };
    let object =
        sluice_l7::object::object(reading.name, &rules, reading.target).map_err(|e| wrong(e.code(), e.to_string()))?;
    object.check().map_err(|e| wrong(e.code(), e.to_string()))?;
    Ok(object)
}

fn module(file: &str, bytes: &[u8], target: &sluice_rmt::Target) -> Result<Object, ProgramFileError> {
    let unit =
        text::read_bytes(file, bytes, target).map_err(|e| ProgramFileError { code: e.code(), what: e.to_string() })?;
    let wrong = |code, what: String| ProgramFileError { code, what: format!("{file}: {what}") };
    let part = unit.part(target).map_err(|e| wrong("E0650", e.to_string()))?;
    let object = object(&unit.names.module, part, unit.demands, target);
    object.check().map_err(|e| wrong(e.code(), e.to_string()))?;
    Ok(object)
}

#[cfg(test)]
mod tests;
