//! Warnings: what a program says that is right by the rules, and hardly meant.
//!
//! They come from the checked tree: names and types are those of [`Facts`]. A file has a kind of warning, or a family that one
//! walk finds. Nothing here refuses a program; whether a warning is shown, or counts as an error, is said by [`Levels`].
//! What is in a library (`#include <FILE>`, or text inside of `sluice`) is not looked at, and nothing is said of what a macro writes.

mod constants;
mod covered;
mod entries;
mod kinds;
mod levels;
mod main_package;
mod properties;
mod reads;
mod states;
mod unused;
mod validity;
pub(super) mod walk;

pub use kinds::{P4Warning, Warned};
pub use levels::{Level, Levels};

use crate::front::check::{DefId, Facts};
use crate::front::source::{How, Sources, Span};
use crate::front::syntax::ast::{Annotation, AnnotationBody, Block, Declaration, DeclarationKind, Name, Program};
use sluice_packet::mistake::Problem as _;

/// All warnings of a program, in the order of their places.
pub(crate) fn warnings(tree: &Program, facts: &Facts, sources: &Sources) -> Vec<P4Warning> {
    let mut looked = Looked { tree, facts, sources, found: Vec::new() };
    unused::look(&mut looked);
    states::look(&mut looked);
    constants::look(&mut looked);
    entries::look(&mut looked);
    properties::look(&mut looked);
    reads::look(&mut looked);
    main_package::look(&mut looked);
    validity::look(&mut looked);
    looked.found.sort_by_key(|(span, warned)| (span.text, span.start, warned.code()));
    looked.found.dedup_by(|(a, one), (b, two)| a.is_at(*b) && one == two);
    looked.found.into_iter().map(|(span, warned)| P4Warning::new(span, warned, sources)).collect()
}

/// A program that is looked at, and what was found.
struct Looked<'p> {
    tree: &'p Program,
    facts: &'p Facts,
    sources: &'p Sources,
    found: Vec<(Span, Warned)>,
}

impl<'p> Looked<'p> {
    fn warn(&mut self, span: Span, warned: Warned) {
        if self.is_own(span) {
            self.found.push((span, warned));
        }
    }

    /// Whether a place is in the program's own text: neither in a library nor in a macro.
    fn is_own(&self, span: Span) -> bool {
        let mut text = self.sources.text(span.text);
        loop {
            match &text.from {
                None => return true,
                Some((_, How::Macro(_))) => return false,
                Some((at, How::Include)) if text.name.starts_with('<') || self.sources.slice(*at).contains('<') => {
                    return false;
                }
                Some((at, How::Include)) => text = self.sources.text(at.text),
            }
        }
    }

    /// Declarations of the outermost level that are the program's own.
    fn declarations(&self) -> impl Iterator<Item = &'p Declaration> + use<'p> {
        self.tree.declarations.iter()
    }

    /// Parsers and controls with a body, with their annotations.
    fn blocks(&self) -> impl Iterator<Item = &'p Block> + use<'p> {
        self.declarations().filter_map(|declaration| match &declaration.kind {
            DeclarationKind::Block(block) if block.body.is_some() => Some(block),
            _ => None,
        })
    }

    fn declared(&self, name: &Name) -> Option<DefId> {
        self.facts.declared(name)
    }
}

/// Whether a name says that it is not used: it begins with `_`.
fn is_unused_by_name(name: &Name) -> bool {
    // The language's own action, which programs without core.p4 write down.
    name.text.starts_with('_') || &*name.text == "NoAction"
}

/// Whether annotations ask for silence: `@noWarn("NAME")`, where `unused` stands for all warnings of what is not used.
fn is_silenced(annotations: &[Annotation], warning: &str) -> bool {
    annotations.iter().filter(|a| &*a.name.text == "noWarn").any(|a| match &a.body {
        Some(AnnotationBody::Words(words)) => words.iter().any(|word| {
            let word = word.trim_matches('"');
            word == warning || (word == "unused" && warning.starts_with("unused-"))
        }),
        _ => false,
    })
}
