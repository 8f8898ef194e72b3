//! P4-16 programs, in two halves. `front` reads them, checks them, prints them and runs them as P4-16 says; `compiler` brings them onto the
//! rmt pipeline.
//!
//! Front end with reference: a program goes through `source` (files, directives, macros: tokens), `syntax` (a tree) and `check` (names, types,
//! constants); docs/decisions/p4-front-end.md has the choices. `interpret` executes what is checked, behind `Reference`
//! (docs/decisions/p4-reference.md). `stf` are packet scripts for it, `info` is P4Info (docs/decisions/p4-info.md).
//!
//! Compiler (docs/decisions/p4-compiler.md): `middle` executes the program symbolically into a graph of visits to stages (`ir`), `back` makes rows of
//! the graph, `verify` checks each pass by another way, `fit` and `relaxation` find what a program that does not fit would need.
//!
//! Both halves share `error` (codes, positions) and `allowed` (flags for what may be had in part).

mod allowed;
mod compiler;
mod error;
mod front;

pub use allowed::Allowed;
pub use compiler::compile::{Compiled, Model};
pub use compiler::ports::PortMap;
pub use compiler::reserve::Reservation;
pub use compiler::told::CounterCells;
pub use compiler::traffic::Traffic;
pub use error::{MOST_ERRORS, Note, P4Error, P4Errors, Problem};
pub use front::info::Info;
pub use front::interpret::Sent;
pub use front::reference::{Entries, Reference, Undefined};
pub use front::sequence::files;
pub use front::stf;
pub use front::warn::{Level, Levels, P4Warning, Warned};

use error::Notes;
use front::source::{Define, Settings, Sources};
use front::syntax::ast::{self, DeclarationKind};
use front::{check, interpret, sequence, source, syntax};
use std::path::{Path, PathBuf};

/// How programs are read: where `#include` looks, and which macros are there from the beginning.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    settings: Settings,
}

impl Reader {
    /// One that knows core.p4, v1model.p4 and sluice.p4, and no folder.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Looks in this folder, too, behind those that were named before.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Reader {
        self.settings.library.folders.push(folder.into());
        self
    }

    /// Defines a macro.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Reader {
        self.settings.defines.push(Define { name: name.into(), value: value.into() });
        self
    }

    /// Has a text stand for a file, whatever is on the disk.
    #[must_use]
    pub fn text(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Reader {
        self.settings.library.texts.insert(path.into(), text.into());
        self
    }

    /// Reads and checks a program, or several in sequence that are one ([`files`]).
    pub fn check(&self, path: &Path) -> Result<Program, P4Errors> {
        self.read_all(path, true)
    }

    /// Reads a program, and no more: its names and types may be wrong. Programs in sequence are checked.
    pub fn parse(&self, path: &Path) -> Result<Program, P4Errors> {
        self.read_all(path, false)
    }

    fn read_all(&self, path: &Path, check: bool) -> Result<Program, P4Errors> {
        let files = files(path);
        let [first, others @ ..] = &files[..] else { unreachable!("a path is one file at least") };
        let mut program = self.read(first, check || !others.is_empty())?;
        let mut names = sequence::Words::default();
        let mut name = names.of(first);
        for (at, file) in others.iter().enumerate() {
            let second = (self.read(file, true)?, names.of(file));
            program = sequence::join((program, name), second, path, at > 0)?;
            name = names.joined();
        }
        Ok(program)
    }

    fn read(&self, path: &Path, check: bool) -> Result<Program, P4Errors> {
        let (mut sources, mut notes) = (Sources::default(), Notes::default());
        let words = source::preprocess(path, &self.settings, &mut sources, &mut notes);
        let mut tree = ast::Program::default();
        if notes.is_empty() {
            tree = syntax::parse(words, &sources, &mut notes);
        }
        let mut facts = None;
        if check && notes.is_empty() {
            facts = Some(check::check(&tree, &sources, &mut notes));
        }
        if notes.is_empty() {
            Ok(Program { tree, facts, sources, allowed: Allowed::default(), warned: None })
        } else {
            Err(notes.into_errors(&sources))
        }
    }
}

/// A program that was read. Two are equal if they say the same, wherever it is written.
#[derive(Clone, Debug)]
pub struct Program {
    tree: ast::Program,
    /// What the checker found; nothing of a program that was only parsed.
    facts: Option<check::Facts>,
    sources: Sources,
    allowed: Allowed,
    /// Warnings of the programs that a sequence is made of.
    warned: Option<Vec<P4Warning>>,
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

/// What a program has, by kinds, with what it includes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Headers, structs, unions, enums and names of types.
    pub types: usize,
    /// Parsers with a body.
    pub parsers: usize,
    /// Controls with a body.
    pub controls: usize,
    /// Tables.
    pub tables: usize,
    /// Actions.
    pub actions: usize,
}

impl Program {
    /// What the program has.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for declaration in &self.tree.declarations {
            count(declaration, &mut counts);
        }
        counts
    }

    /// What is right in it and hardly meant, in the order of the places; nothing of a program that was only parsed.
    pub fn warnings(&self) -> Vec<P4Warning> {
        match (&self.warned, &self.facts) {
            (Some(warned), _) => warned.clone(),
            (None, Some(facts)) => front::warn::warnings(&self.tree, facts, &self.sources),
            (None, None) => Vec::new(),
        }
    }

    /// Has parts of what it asks for be enough.
    pub fn allow(&mut self, allowed: Allowed) {
        self.allowed = allowed;
    }

    /// Whether it has a package of the name `main`, as a program that runs has.
    pub fn has_main(&self) -> bool {
        self.main().is_some()
    }

    /// Whether that package is `System` of sluice.p4.
    pub fn is_system(&self) -> bool {
        let package = self.facts.as_ref().zip(self.main()).and_then(|(facts, main)| facts.package(main));
        package == Some(interpret::SYSTEM)
    }

    fn main(&self) -> Option<&ast::Instance> {
        self.tree.declarations.iter().find_map(|declaration| match &declaration.kind {
            DeclarationKind::Instance(instance) if &*instance.name.text == "main" => Some(instance),
            _ => None,
        })
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&syntax::print(&self.tree))
    }
}

fn count(declaration: &ast::Declaration, counts: &mut Counts) {
    match &declaration.kind {
        DeclarationKind::Fields { .. } | DeclarationKind::Enum { .. } | DeclarationKind::Alias { .. } => {
            counts.types += 1
        }
        DeclarationKind::Action { .. } => counts.actions += 1,
        DeclarationKind::Table { .. } => counts.tables += 1,
        DeclarationKind::Block(ast::Block { body: Some(body), kind, .. }) => {
            match kind {
                ast::BlockKind::Parser => counts.parsers += 1,
                ast::BlockKind::Control => counts.controls += 1,
            }
            body.locals.iter().for_each(|local| count(local, counts));
        }
        _ => {}
    }
}
