//! Names that no other has.

use super::part::Part;
use crate::front::syntax::ast::{Declaration, Name};
use crate::front::syntax::change::{self, Change, Role};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

/// Names that the second program has in the sequence, where they are others.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Declarations.
    pub renamed: HashMap<Rc<str>, Rc<str>>,
    /// Fields of headers.
    pub fields: HashMap<Rc<str>, Rc<str>>,
}

/// All words that are taken.
#[derive(Default)]
pub(super) struct Taken(HashSet<Rc<str>>);

impl Taken {
    /// All names of some programs.
    pub fn of(parts: [&Part; 2]) -> Taken {
        let mut taken = Taken::default();
        for declaration in parts.iter().flat_map(|part| &part.tree.declarations) {
            change::declaration(&mut taken, &mut declaration.clone());
        }
        taken
    }

    /// The word, or the word with a number behind it.
    pub fn fresh(&mut self, word: &str) -> Rc<str> {
        let mut found: Rc<str> = word.into();
        let mut number = 1;
        while !self.0.insert(found.clone()) {
            number += 1;
            found = format!("{word}_{number}").into();
        }
        found
    }
}

impl Change for Taken {
    fn name(&mut self, name: &mut Name, _: Role) {
        self.0.insert(name.text.clone());
    }
}

/// Words for files, each another one.
#[derive(Default)]
pub(crate) struct Words {
    taken: Taken,
    all: Vec<Rc<str>>,
}

impl Words {
    /// A word of letters, digits and `_` for a file.
    pub fn of(&mut self, file: &Path) -> Rc<str> {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let word: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let is_word =
            word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word != "_" && !is_keyword(&word);
        let word = self.taken.fresh(&if is_word { word } else { format!("p_{word}") });
        self.all.push(word.clone());
        word
    }

    /// One for all files so far together.
    pub fn joined(&mut self) -> Rc<str> {
        self.taken.fresh(&self.all.join("_and_"))
    }
}

/// Words of the language.
fn is_keyword(word: &str) -> bool {
    const ALL: &str = "abstract action actions apply bit bool break const continue control default else entries enum error exit extern false for header \
                       header_union if in inout int key list match_kind out package parser pragma priority return select state string struct switch \
                       table this transition true tuple type typedef value_set varbit void";
    ALL.split_ascii_whitespace().any(|known| known == word)
}

/// Names that a declaration declares outside of all blocks.
pub(super) fn declared(declaration: &Declaration) -> Option<&Name> {
    use crate::front::syntax::ast::DeclarationKind as K;
    match &declaration.kind {
        K::Constant { name, .. } | K::Variable { name, .. } | K::Action { name, .. } | K::Extern { name, .. } => {
            Some(name)
        }
        K::Fields { name, .. } | K::Enum { name, .. } | K::Alias { name, .. } | K::Package { name, .. } => Some(name),
        K::Table { name, .. } | K::ValueSet { name, .. } => Some(name),
        K::Instance(instance) => Some(&instance.name),
        K::Function { prototype, .. } | K::ExternFunction(prototype) => Some(&prototype.name),
        K::Block(block) => Some(&block.name),
        K::Error(_) | K::MatchKind(_) | K::Empty => None,
    }
}
