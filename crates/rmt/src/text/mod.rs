//! The text form of modules, `.rmt`: docs/guide/rmt.md.
//!
//! [`read`] makes a [`Unit`] of a text, checked for a target; [`print`] writes one that reads back as the
//! same program.

mod ast;
mod error;
mod lexer;
mod lower;
mod names;
mod parse;

pub use error::{MOST_ERRORS, TextError, TextErrors, TextProblem};
pub use lexer::MOST_BYTES;
pub use names::{
    ActionNames, Bits, Demands, Destination, GroupRow, MemoryName, MeterRate, Names, Parameter, StageNames,
};

use crate::check::{self, Role};
use crate::pipeline::Memory;
use crate::program::Program;
use crate::target::Target;
use error::Diagnostics;

/// A module: its program, and what goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Whose program it is.
    pub role: Role,
    /// What it runs.
    pub program: Program,
    /// What a replacement does with the words of the running program.
    pub memory: Memory,
    /// Multicast groups that it brings.
    pub groups: Vec<GroupRow>,
    /// What its tenant has to be given.
    pub demands: Demands,
    /// Names for people and tools.
    pub names: Names,
}

impl Unit {
    /// A program without names and demands.
    pub fn of(program: Program, role: Role) -> Self {
        let names = Names { module: "unnamed".into(), ..Names::default() };
        Self { role, program, memory: Memory::Zeroed, groups: Vec::new(), demands: Demands::default(), names }
    }
}

/// Reads a module for a target; `file` names it in errors.
pub fn read(file: &str, text: &str, target: &Target) -> Result<Unit, TextErrors> {
    let mut notes = Diagnostics::default();
    let tree = parse::file(text, &mut notes);
    let (unit, places) = lower::lower(&tree, text, nic_target(target), &mut notes);
    if notes.found.is_empty()
        && let Err(problem) = check::check(&unit.program, target, unit.role)
    {
        notes.push((places.find(&problem.at), problem.into()));
    }
    if notes.found.is_empty() {
        return Ok(unit);
    }
    notes.found.sort_by_key(|(span, _)| span.start);
    let errors = notes.found.into_iter().map(|(span, problem)| TextError::new(file, text, span, problem));
    Err(TextErrors(errors.collect()))
}

/// The NIC's target of the same name: it knows the ports.
fn nic_target(target: &Target) -> &'static sluice_formats::Target {
    sluice_formats::Target::by_name(target.name).unwrap_or(&sluice_formats::target::DEFAULT)
}
