//! Texts of a program: files, what they include, macros; every word knows where it was written and how it came here.

mod condition;
mod lex;
mod library;
mod macros;
mod preprocess;
mod token;

pub(crate) use library::declares;
pub(crate) use preprocess::{Define, Settings, preprocess};
pub(crate) use token::{Kind, Mark, Token};

use std::rc::Rc;

/// A piece of a text. Spans are all equal: where something was written is no part of what it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    /// Index of the text in [`Sources`].
    pub text: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Eq for Span {}

impl std::hash::Hash for Span {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl PartialEq for Span {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Span {
    /// From the beginning of this to the end of `last`, as far as both stand in one text.
    pub fn to(self, last: Span) -> Span {
        if self.text == last.text && last.end >= self.start { Span { end: last.end, ..self } } else { self }
    }

    /// Whether both are the same piece of the same text.
    pub fn is_at(self, other: Span) -> bool {
        (self.text, self.start, self.end) == (other.text, other.start, other.end)
    }
}

/// How a text came to be read.
#[derive(Clone, Debug)]
pub(crate) enum How {
    /// By `#include`.
    Include,
    /// As the body of this macro.
    Macro(Rc<str>),
}

/// A text: a file each time it is included, and a macro's file each time the macro is used.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// Name of the file.
    pub name: Rc<str>,
    /// What stands in it.
    pub text: Rc<str>,
    /// The place that asked for it.
    pub from: Option<(Span, How)>,
}

/// All texts of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    texts: Vec<Text>,
}

impl Sources {
    /// Takes a text.
    pub fn add(&mut self, text: Text) -> u32 {
        self.texts.push(text);
        self.texts.len() as u32 - 1
    }

    /// Takes all texts of another program; the index of its first one.
    pub fn append(&mut self, others: Sources) -> u32 {
        let by = self.texts.len() as u32;
        self.texts.extend(others.texts.into_iter().map(|mut text| {
            if let Some((span, _)) = &mut text.from {
                span.text += by;
            }
            text
        }));
        by
    }

    /// The text of that index.
    pub fn text(&self, index: u32) -> &Text {
        &self.texts[index as usize]
    }

    /// What is written there.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.text).text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}
