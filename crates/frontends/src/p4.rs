//! P4-16 programs as modules of tenants, and the entries of their tables.

use crate::clones::Sessions;
use crate::{Kind, NO_ENTRIES, NO_FILE, ProgramFileError, Reading, bytes_of};
use sluice_object::rmt::logical::LogicalChange;
use sluice_object::{Destination, Object};
use sluice_p4::stf::{EntryChange, Script};
use sluice_p4::{Compiled, CounterCells, P4Errors, P4Warning, Reader, Reference, Reservation, Undefined};
use sluice_packet::bounded;
use std::path::Path;

/// What is told of P4 programs beside their objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct P4Told {
    /// Warnings of the programs, each once.
    pub warnings: Vec<P4Warning>,
    /// Destinations that entries and default actions send to, with the name of the object and the place that says so.
    senders: Vec<(String, Destination, String)>,
    /// Counters that the programs index, with the name of the object.
    counters: Vec<(String, CounterCells)>,
}

impl P4Told {
    fn warn(&mut self, all: Vec<P4Warning>) {
        for warning in all {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// A program of a name takes the place of another one.
    fn tell(&mut self, name: &str, senders: &[(Destination, String)], counters: Vec<CounterCells>) {
        self.senders.retain(|(other, ..)| other != name);
        self.counters.retain(|(other, _)| other != name);
        self.senders.extend(senders.iter().map(|(to, place)| (name.to_owned(), *to, place.clone())));
        self.counters.extend(counters.into_iter().map(|cells| (name.to_owned(), cells)));
    }

    /// Counters that the program of that name indexes.
    pub fn counters(&self, name: &str) -> Vec<CounterCells> {
        self.counters.iter().filter(|(of, _)| of == name).map(|(_, cells)| cells.clone()).collect()
    }

    /// The place in the program of that name, or in the file of its entries, that sends to a destination.
    pub fn sender(&self, name: &str, to: Destination) -> Option<String> {
        let found = self.senders.iter().find(|(of, other, _)| of == name && *other == to);
        found.map(|(.., place)| place.clone())
    }
}

/// A change of an entry.
#[derive(Debug)]
pub struct TableChange {
    /// Operations for the linker; nothing where only the whole module has the change.
    pub operations: Option<Vec<LogicalChange>>,
    /// Destinations that packets go to by it.
    pub sends: Vec<Destination>,
    /// Whether it needs no more rows than those that were reserved.
    pub is_reserved: bool,
    done: EntryChange,
}

/// A program for the stages of tenants with the entries that its tables have now.
#[derive(Debug)]
pub struct Tables {
    name: String,
    compiled: Compiled,
    entries: Reference,
    /// Of the entries that were there at first.
    reserved: Vec<Reservation>,
    /// Who sent where at first.
    senders: Vec<(Destination, String)>,
    /// Sessions of clones that are kept of a program that ran before.
    sessions: Option<Sessions>,
}

fn refused(errors: P4Errors) -> ProgramFileError {
    ProgramFileError { code: errors.code(), what: errors.to_string() }
}

impl Tables {
    /// Reads a program with the entries of its file; nothing if the file is no P4 program. Where nothing is said of entries, those
    /// that a running program has are kept.
    pub fn read(path: &Path, reading: &Reading, running: Option<&Object>) -> Result<Option<Self>, ProgramFileError> {
        let bytes = bytes_of(path)?;
        match Kind::of(path, &bytes) {
            Kind::P4 => Self::decode(path, &bytes, reading, running).map(Some),
            _ => Ok(None),
        }
    }

    /// The same from the file's bytes.
    pub(crate) fn decode(
        path: &Path,
        bytes: &[u8],
        reading: &Reading,
        running: Option<&Object>,
    ) -> Result<Self, ProgramFileError> {
        let text = String::from_utf8(bytes.to_vec()).map_err(|e| {
            let what = format!("{}: byte {} is no UTF-8 text", path.display(), e.utf8_error().valid_up_to());
            ProgramFileError { code: "E0700", what }
        })?;
        let mut program = Reader::new().text(path, text).check(path).map_err(refused)?;
        program.allow(reading.p4.allowed.clone());
        if let Some(told) = reading.p4.told {
            told.borrow_mut().warn(program.warnings());
        }
        let target = &reading.target.rmt;
        let compiled = program.compile(target, 1, target.stages.saturating_sub(2)).map_err(refused)?;
        let compiled = compiled.reserving(&reading.p4.reserve);
        let mut entries = program.reference(Undefined::Zero, 1).map_err(refused)?;
        let mut script = None;
        if let Some(file) = reading.p4.entries {
            script = Some((file.display().to_string(), fill(&mut entries, file)?));
        }
        let kept = running.filter(|_| reading.p4.entries.is_none() && !reading.p4.entries_go);
        let part = kept.and_then(|object| object.parts.rmt.as_ref());
        if let Some((part, logical)) = part.and_then(|part| Some((part, part.logical.as_deref()?))) {
            compiled.keep_groups(&mut entries, &part.groups);
            let gone = compiled.keep_entries(&mut entries, logical).map_err(refused)?;
            if !gone.is_empty() {
                let tables = gone.iter().map(|(table, number, why)| match number {
                    0 => format!("the default action of table `{table}`: {why}"),
                    number => format!("{number} of table `{table}`: {why}"),
                });
                let tables = tables.collect::<Vec<_>>().join("; ");
                let gone = format!("those of the running program would go ({tables})");
                return Err(needs_entries(path, &gone));
            }
        }
        let reserved = compiled.reservations(&entries).map_err(refused)?;
        let senders = compiled.senders(&entries, script.as_ref().map(|(file, script)| (&**file, script)));
        if let Some(told) = reading.p4.told {
            told.borrow_mut().tell(reading.name, &senders, compiled.counters(&entries));
        }
        let mut read = Self { name: reading.name.to_owned(), compiled, entries, reserved, senders, sessions: None };
        if let Some(sessions) = kept.and_then(|object| Sessions::of(object, reading.target)) {
            if !sessions.give(&mut read.object()?) {
                let gone =
                    "the running program's sessions of clones would go, for the actions of the new one are others";
                return Err(needs_entries(path, gone));
            }
            read.sessions = Some(sessions);
        }
        Ok(read)
    }

    /// The place in the program or in the file of its entries that sends to a destination.
    pub fn sender(&self, to: Destination) -> Option<String> {
        self.senders.iter().find(|(other, _)| *other == to).map(|(_, place)| place.clone())
    }

    /// The module with the entries.
    pub fn object(&self) -> Result<Object, ProgramFileError> {
        let mut object = self.compiled.object_within(&self.name, &self.entries, &self.reserved).map_err(refused)?;
        if let Some(sessions) = &self.sessions {
            sessions.give(&mut object);
        }
        Ok(object)
    }

    /// Adds, changes or removes an entry: `add`, `setdefault` and `remove` as in a file of entries, and `change`, another action for the
    /// entry with these keys. What is refused changes nothing; [`Tables::undo`] takes back what nobody else took.
    pub fn change(&mut self, entry: &str) -> Result<TableChange, ProgramFileError> {
        let script = Script::change(entry)
            .map_err(|errors| ProgramFileError { code: errors.code(), what: errors.to_string() })?;
        let done = script.change_entry(&mut self.entries);
        let done = done.map_err(|failure| ProgramFileError { code: NO_ENTRIES, what: failure.what })?;
        match self.compiled.changed(&self.entries, &done) {
            Ok(operations) => {
                let sends = self.compiled.sends(&self.entries, &done);
                let is_reserved = self.compiled.is_reserved(&self.entries, &done, &self.reserved);
                Ok(TableChange { operations, sends, is_reserved, done })
            }
            Err(errors) => {
                self.entries.undo(done);
                Err(refused(errors))
            }
        }
    }

    /// Takes the last change back.
    pub fn undo(&mut self, change: TableChange) {
        self.entries.undo(change.done);
    }
}

/// A program in the place of another, of which something would be lost in silence.
fn needs_entries(path: &Path, gone: &str) -> ProgramFileError {
    let what = format!(
        "{}: without entries {gone}; expected a file of entries for it, or `{NO_FILE}` in the place of that file: that they go",
        path.display()
    );
    ProgramFileError { code: NO_ENTRIES, what }
}

/// Gives a program's tables the entries of a file, which comes back.
pub fn fill(reference: &mut Reference, file: &Path) -> Result<Script, ProgramFileError> {
    let name = file.display().to_string();
    let wrong = |code, what: String| ProgramFileError { code, what };
    let bytes = bounded::read(file, bounded::MOST_OBJECT).map_err(|e| wrong("E0305", format!("{name}: {e}")))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("E0790", format!("{name}: the entries are no UTF-8")))?;
    let script = Script::parse(&name, &text).map_err(|e| wrong(e.code(), e.to_string()))?;
    script.fill(reference).map_err(|failures| {
        let lines: Vec<String> = failures.iter().map(|f| format!("{name}:{}: {}", f.line, f.what)).collect();
        wrong(NO_ENTRIES, lines.join("\n"))
    })?;
    Ok(script)
}
