//! The text form of modules, `.rmt`: docs/guide/rmt.md.
//!
//! [`read`] makes a [`Unit`] of a text, checked for a target; [`print`] writes one that reads back as the
//! same program.

mod ast;
mod error;
mod lexer;
mod lower;
mod names;
mod outer;
mod parse;
mod print;

pub use error::{MOST_ERRORS, TextError, TextErrors, TextProblem};
pub use lexer::MOST_BYTES;
pub use lower::meter_row;
pub use names::{ActionNames, Bits, MemoryName, MeterRate, Names, Parameter, StageNames};

pub use print::print;

use crate::check::{self, Role};
use crate::pipeline::Memory;
use crate::program::Program;
use crate::target::Target;
use error::Diagnostics;
use sluice_object::{Demands, RmtGroup, RmtPart};
use sluice_packet::mistake::Mistakes;
use std::collections::BTreeMap;

/// A module: its program, and what goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Whose program it is.
    pub role: Role,
    /// What it runs.
    pub program: Program,
    /// What a replacement does with the words of the running program.
    pub memory: Memory,
    /// Multicast groups that it brings, by number.
    pub groups: BTreeMap<u16, RmtGroup>,
    /// Containers, by name, that are exchanged with the system program.
    pub shared: BTreeMap<String, u8>,
    /// Entries to reserve, by stage, where it is said; elsewhere those that are there.
    pub rooms: BTreeMap<usize, Room>,
    /// What its tenant has to be given.
    pub demands: Demands,
    /// Names for people and tools.
    pub names: Names,
}

impl Unit {
    /// A program without names and demands.
    pub fn of(program: Program, role: Role) -> Self {
        let names = Names { module: "unnamed".into(), ..Names::default() };
        Self {
            role,
            program,
            memory: Memory::Zeroed,
            groups: BTreeMap::new(),
            shared: BTreeMap::new(),
            rooms: BTreeMap::new(),
            demands: Demands::default(),
            names,
        }
    }

    /// The rows of an object.
    pub fn part(&self, target: &Target) -> Result<RmtPart, check::Problem> {
        let mut part = crate::encode(&self.program, target)?;
        for (&number, room) in &self.rooms {
            if let Some(stage) = u8::try_from(number).ok().and_then(|n| part.stages.get_mut(&n)) {
                let at_least = |said: usize, there: u16| u16::try_from(said).unwrap_or(u16::MAX).max(there);
                stage.exact_room = at_least(room.exact, stage.exact_room);
                stage.ternary_room = at_least(room.ternary, stage.ternary_room);
            }
        }
        part.groups = self.groups.clone();
        part.shared = self.shared.clone();
        part.keep_state = self.memory == Memory::Keep;
        part.system = self.role == Role::System;
        Ok(part)
    }

    /// The unit of an object's rows, without names.
    pub fn of_part(part: &RmtPart, target: &Target, role: Role) -> Result<Self, check::Problem> {
        let mut unit = Self::of(crate::decode(part, target, role)?, role);
        unit.memory = if part.keep_state { Memory::Keep } else { Memory::Zeroed };
        (unit.groups, unit.shared) = (part.groups.clone(), part.shared.clone());
        for (&number, rows) in &part.stages {
            let room = Room { exact: rows.exact_room.into(), ternary: rows.ternary_room.into() };
            if room != (Room { exact: rows.exact.len(), ternary: rows.ternary.len() }) {
                unit.rooms.insert(number.into(), room);
            }
        }
        Ok(unit)
    }
}

/// Entries to reserve in a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Exact ones.
    pub exact: usize,
    /// Ternary ones.
    pub ternary: usize,
}

/// Reads a module for a target; `file` names it in errors.
pub fn read(file: &str, text: &str, target: &Target) -> Result<Unit, TextErrors> {
    read_warned(file, text, target).map(|(unit, _)| unit)
}

/// The same, with warnings: lines that no packet ever comes to, of which a program that a compiler made may have some, and rows that
/// make the outer VLAN tag.
pub fn read_warned(file: &str, text: &str, target: &Target) -> Result<(Unit, Vec<TextError>), TextErrors> {
    let mut notes = Diagnostics::default();
    let tree = parse::file(text, &mut notes);
    let (unit, places) = lower::lower(&tree, text, target.nic(), &mut notes);
    if notes.found.is_empty()
        && let Err(problem) = check::check(&unit.program, target, unit.role)
    {
        notes.push((places.find(&problem.at), problem.into()));
    }
    if notes.found.is_empty() {
        outer::warn(&unit, target, &places, &mut notes);
    }
    let shown = |mut all: Vec<error::Located>| -> Vec<TextError> {
        all.sort_by_key(|(span, _)| span.start);
        all.into_iter().map(|(span, problem)| TextError::new(file, text, span, problem)).collect()
    };
    if notes.found.is_empty() { Ok((unit, shown(notes.warnings))) } else { Err(Mistakes(shown(notes.found))) }
}

/// Reads the bytes of a file.
pub fn read_bytes(file: &str, bytes: &[u8], target: &Target) -> Result<Unit, TextErrors> {
    read_bytes_warned(file, bytes, target).map(|(unit, _)| unit)
}

/// The same, with what has no effect.
pub fn read_bytes_warned(file: &str, bytes: &[u8], target: &Target) -> Result<(Unit, Vec<TextError>), TextErrors> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read_warned(file, text, target),
        Err(e) => {
            let at = e.valid_up_to();
            let good = String::from_utf8_lossy(&bytes[..at]);
            let problem = TextProblem::Character {
                found: format!("byte {at} of the file, which is no UTF-8"),
                expected: "text".into(),
            };
            let span = sluice_packet::text::Span { start: at, end: at };
            Err(Mistakes(vec![TextError::new(file, &good, span, problem)]))
        }
    }
}
