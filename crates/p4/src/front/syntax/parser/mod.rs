//! Recursive descent. What names are types is known while reading, so `(T) x` and `T x;` are read as what they are.

mod braces;
mod declarations;
mod expressions;
mod members;
mod scope;
mod statements;
mod types;

use super::ast::{Annotation, AnnotationBody, Argument, Name, Program};
use crate::error::{Notes, Problem, Read};
use crate::front::source::{Kind, Mark, Sources, Span, Token};
use scope::Scopes;
use std::rc::Rc;

/// Deepest nesting of what is read.
const DEEPEST: usize = 256;

/// Makes a tree of words; the last one is the end.
pub(crate) fn parse(words: Vec<Token>, sources: &Sources, notes: &mut Notes) -> Program {
    let mut parser = Parser { words, at: 0, notes, scopes: Scopes::default(), depth: 0, ids: 0 };
    let mut declarations = Vec::new();
    while !parser.at_end() && !parser.notes.full() {
        let before = parser.at;
        match parser.top() {
            Ok(declaration) => declarations.push(declaration),
            Err(problem) => {
                parser.note(problem);
                parser.recover();
                // Nothing that is left begins a declaration with a brace.
                while parser.take(Mark::RightBrace) {}
                if parser.at == before {
                    parser.at += 1;
                }
            }
        }
    }
    let (words, expressions) = (parser.words, parser.ids);
    if !notes.is_empty() {
        braces::told_as_one(&words, sources, notes);
    }
    Program { declarations, expressions }
}

struct Parser<'a> {
    words: Vec<Token>,
    at: usize,
    notes: &'a mut Notes,
    scopes: Scopes,
    depth: usize,
    /// Expressions so far.
    ids: u32,
}

impl Parser<'_> {
    fn word(&self) -> &Token {
        &self.words[self.at.min(self.words.len() - 1)]
    }

    fn ahead(&self, by: usize) -> &Token {
        &self.words[(self.at + by).min(self.words.len() - 1)]
    }

    fn span(&self) -> Span {
        self.word().span
    }

    /// The word before this one.
    fn last(&self) -> Span {
        self.words[self.at.saturating_sub(1)].span
    }

    fn at_end(&self) -> bool {
        self.word().kind == Kind::End
    }

    fn is(&self, mark: Mark) -> bool {
        self.word().is(mark)
    }

    fn take(&mut self, mark: Mark) -> bool {
        let found = self.is(mark);
        self.at += usize::from(found);
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.word().kind, Kind::Word { text, .. } if &**text == word)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// The word ahead by so many, if it is one.
    fn word_ahead(&self, by: usize) -> Option<(&Rc<str>, bool)> {
        match &self.ahead(by).kind {
            Kind::Word { text, reserved } => Some((text, *reserved)),
            _ => None,
        }
    }

    fn expected<T>(&self, expected: impl Into<String>) -> Read<T> {
        let word = self.word();
        let found = word.describe();
        Err(match word.kind {
            Kind::Bad(_) => (word.span, Problem::Word { found }),
            _ => (word.span, Problem::Expected { found, expected: expected.into() }),
        })
    }

    fn expect(&mut self, mark: Mark) -> Read<()> {
        if self.take(mark) { Ok(()) } else { self.expected(format!("`{}`", mark.text())) }
    }

    fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.take_word(word) { Ok(()) } else { self.expected(format!("`{word}`")) }
    }

    /// A name: no word of the language.
    fn name(&mut self, of: &str) -> Read<Name> {
        match &self.word().kind {
            Kind::Word { text, reserved: false } => {
                let name = Name { text: text.clone(), span: self.span() };
                self.at += 1;
                Ok(name)
            }
            Kind::Word { reserved: true, .. } => self.expected(format!("{of}, which is no word of the language")),
            _ => self.expected(of),
        }
    }

    /// Does something one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEEPEST {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&self) -> (Span, Problem) {
        (self.span(), Problem::Nested { what: format!("this is nested more than {DEEPEST} deep") })
    }

    /// Tries a reading; where it fails nothing was read.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Option<T> {
        let (at, depth) = (self.at, self.depth);
        let result = read(self).ok();
        if result.is_none() {
            (self.at, self.depth) = (at, depth);
        }
        result
    }

    fn note(&mut self, (span, problem): (Span, Problem)) {
        self.notes.push(span, problem);
    }

    /// Goes on behind the next `;` or `{...}`, or before the next `}`, of this level.
    fn recover(&mut self) {
        let mut open = 0usize;
        while !self.at_end() {
            match self.word().kind {
                Kind::Mark(Mark::LeftBrace) => open += 1,
                Kind::Mark(Mark::RightBrace) if open == 0 => return,
                Kind::Mark(Mark::RightBrace) => {
                    open -= 1;
                    if open == 0 {
                        self.at += 1;
                        return;
                    }
                }
                Kind::Mark(Mark::Semicolon) if open == 0 => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Things with commas between them, up to a mark that is taken; none are allowed.
    fn list<T>(&mut self, close: Mark, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut all = Vec::new();
        while !self.take(close) {
            if !all.is_empty() {
                if !self.take(Mark::Comma) {
                    return self.expected(format!("`,` or `{}`", close.text()));
                }
                // A comma may stand behind the last one, but not in parentheses.
                if close != Mark::RightParen && self.take(close) {
                    break;
                }
            }
            all.push(read(self)?);
        }
        Ok(all)
    }

    /// Things in braces; a mistake in one is noted, and the next one is read.
    fn braced<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        self.expect(Mark::LeftBrace)?;
        let mut all = Vec::new();
        while !self.take(Mark::RightBrace) {
            if self.at_end() {
                return self.expected("`}`");
            }
            let (before, depth) = (self.at, self.depth);
            match read(self) {
                Ok(one) => all.push(one),
                Err(problem) if self.notes.full() => return Err(problem),
                Err(problem) => {
                    self.note(problem);
                    self.depth = depth;
                    self.recover();
                    if self.at == before && !self.is(Mark::RightBrace) {
                        self.at += 1;
                    }
                }
            }
        }
        Ok(all)
    }

    fn annotations(&mut self) -> Read<Vec<Annotation>> {
        let mut all = Vec::new();
        while self.take(Mark::At) {
            let Some((text, _)) = self.word_ahead(0) else { return self.expected("the name of an annotation") };
            let mut name = Name { text: text.clone(), span: self.span() };
            self.at += 1;
            if &*name.text == "pragma" {
                // The older form has its words up to the end of the line.
                if let Some((text, _)) = self.word_ahead(0).filter(|_| !self.word().first) {
                    name = Name { text: text.clone(), span: self.span() };
                    self.at += 1;
                }
                let mut words = Vec::new();
                while !self.word().first && !self.at_end() {
                    words.push(self.raw()?);
                }
                let body = (!words.is_empty()).then_some(AnnotationBody::Words(words));
                all.push(Annotation { name, body });
                continue;
            }
            let body = match self.word().kind {
                Kind::Mark(Mark::LeftParen) => {
                    self.at += 1;
                    let words = self.raw_words()?;
                    let is_name = &*name.text == "name";
                    Some(AnnotationBody::Words(if is_name { joined(words) } else { words }))
                }
                Kind::Mark(Mark::LeftBracket) => {
                    self.at += 1;
                    Some(self.structured()?)
                }
                _ => None,
            };
            all.push(Annotation { name, body });
        }
        Ok(all)
    }

    /// One word, as it is written.
    fn raw(&mut self) -> Read<Rc<str>> {
        let text = match &self.word().kind {
            Kind::Word { text, .. } | Kind::Number(text) => text.clone(),
            Kind::Text(text) => format!("\"{text}\"").into(),
            Kind::Mark(mark) => mark.text().into(),
            Kind::Bad(_) | Kind::End => return self.expected("`)`"),
        };
        self.at += 1;
        Ok(text)
    }

    /// Words up to the parenthesis that closes, which is taken.
    fn raw_words(&mut self) -> Read<Vec<Rc<str>>> {
        let mut all = Vec::new();
        let mut open = 0usize;
        loop {
            match self.word().kind {
                Kind::Mark(Mark::LeftParen) => open += 1,
                Kind::Mark(Mark::RightParen) if open == 0 => break,
                Kind::Mark(Mark::RightParen) => open -= 1,
                _ => {}
            }
            all.push(self.raw()?);
        }
        self.at += 1;
        Ok(all)
    }

    fn structured(&mut self) -> Read<AnnotationBody> {
        let pairs = self.word_ahead(0).is_some() && self.ahead(1).is(Mark::Equals);
        if !pairs {
            return Ok(AnnotationBody::List(self.list(Mark::RightBracket, Self::expression)?));
        }
        let all = self.list(Mark::RightBracket, |p| {
            let name = p.name("a name")?;
            p.expect(Mark::Equals)?;
            Ok((name, p.expression()?))
        })?;
        Ok(AnnotationBody::Pairs(all))
    }

    /// Arguments behind the opening parenthesis.
    fn arguments(&mut self) -> Read<Vec<Argument>> {
        self.list(Mark::RightParen, |p| {
            let named = p.word_ahead(0).is_some_and(|(_, reserved)| !reserved) && p.ahead(1).is(Mark::Equals);
            let name = if named { Some(p.name("a name")?) } else { None };
            if named {
                p.expect(Mark::Equals)?;
            }
            Ok(Argument { name, value: p.expression()? })
        })
    }
}

/// Text in quotes with `++` between its parts as one text, and other words as they are.
fn joined(words: Vec<Rc<str>>) -> Vec<Rc<str>> {
    let text = |word: &Rc<str>| word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(str::to_string);
    let parts: Option<Vec<String>> = words.iter().step_by(2).map(text).collect();
    let between = words.iter().skip(1).step_by(2).all(|word| &**word == "++");
    match parts {
        Some(parts) if between && words.len() % 2 == 1 => vec![format!("\"{}\"", parts.concat()).into()],
        _ => words,
    }
}
