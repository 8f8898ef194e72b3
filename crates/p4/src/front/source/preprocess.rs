//! Directives: `#include`, `#define`, `#if` and their kin. What comes out are the words of the program.

use super::lex::Lexer;
use super::library::Library;
use super::macros::{Context, Macro, Macros};
use super::token::{Kind, Mark, Token};
use super::{How, Sources, Span, Text, condition};
use crate::error::{Notes, Problem};
use sluice_packet::text::quote;
use std::path::Path;
use std::rc::Rc;

/// Longest file, in bytes.
pub(crate) const MOST_BYTES: usize = 1 << 24;
/// Deepest nesting of includes.
const DEEPEST: usize = 64;
/// Most includes of a program.
const MOST_INCLUDES: usize = 4096;
/// Most words of a program.
const MOST_WORDS: usize = 1 << 23;

/// A macro from outside: name and value.
#[derive(Clone, Debug)]
pub(crate) struct Define {
    /// Name.
    pub name: String,
    /// What it stands for.
    pub value: String,
}

/// What a program is read with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Where files are.
    pub library: Library,
    /// Macros that are there from the beginning.
    pub defines: Vec<Define>,
}

/// The words of the program in file `path`, with the end of it last.
pub(crate) fn preprocess(path: &Path, settings: &Settings, sources: &mut Sources, notes: &mut Notes) -> Vec<Token> {
    let mut reader = Preprocessor {
        settings,
        sources,
        notes,
        lexer: Lexer::default(),
        macros: Macros::new(),
        out: Vec::new(),
        includes: 0,
        depth: 0,
        stopped: false,
    };
    for define in &settings.defines {
        reader.define_from_outside(define);
    }
    let name: Rc<str> = path.display().to_string().into();
    reader.file(name, settings.library.read(path), None);
    let end = reader.sources.text(reader.main_text()).text.len() as u32;
    let span = Span { text: reader.main_text(), start: end, end };
    let mut out = reader.out;
    out.push(Token { kind: Kind::End, span, first: true, spaced: true, hidden: 0 });
    out
}

struct Preprocessor<'a> {
    settings: &'a Settings,
    sources: &'a mut Sources,
    notes: &'a mut Notes,
    lexer: Lexer,
    macros: Macros,
    out: Vec<Token>,
    includes: usize,
    depth: usize,
    stopped: bool,
}

/// A `#if` that is open.
struct Branch {
    span: Span,
    /// What stands here is read.
    live: bool,
    /// A part of it was read already, or nothing around it is read.
    done: bool,
    /// `#else` was there.
    last: bool,
}

impl Preprocessor<'_> {
    fn main_text(&self) -> u32 {
        self.settings.defines.len() as u32
    }

    fn define_from_outside(&mut self, define: &Define) {
        let text: Rc<str> = define.value.as_str().into();
        let index = self.sources.add(Text { name: format!("<-D {}>", define.name).into(), text, from: None });
        let body = self.lexer.words(self.sources, index);
        let name = self.lexer.intern(&define.name);
        self.macros.define(name, Macro { parameters: None, body });
    }

    /// Reads a file to its end.
    fn file(&mut self, name: Rc<str>, bytes: Result<Vec<u8>, String>, from: Option<Span>) {
        let at = from.unwrap_or_default();
        let index = match bytes.map(String::from_utf8) {
            Ok(Ok(text)) => {
                self.sources.add(Text { name, text: text.into(), from: from.map(|span| (span, How::Include)) })
            }
            wrong => {
                let why = match wrong {
                    Err(why) => why,
                    _ => "it is no UTF-8 text".to_string(),
                };
                if from.is_none() {
                    self.sources.add(Text { name: name.clone(), text: "".into(), from: None });
                }
                let at = if from.is_none() { Span { text: self.main_text(), ..at } } else { at };
                return self.notes.push(at, Problem::Unreadable { name: name.to_string(), why });
            }
        };
        let words = self.lexer.words(self.sources, index);
        self.lines(&words);
    }

    fn lines(&mut self, words: &[Token]) {
        let mut open: Vec<Branch> = Vec::new();
        let mut at = 0;
        while at < words.len() && !self.stopped {
            let live = open.iter().all(|branch| branch.live);
            if words[at].is(Mark::Hash) && words[at].first {
                let end = end_of_line(words, at);
                self.directive(&words[at], &words[at + 1..end], live, &mut open);
                at = end;
                continue;
            }
            let next = words[at..].iter().position(|word| word.first && word.is(Mark::Hash));
            let end = next.map_or(words.len(), |n| at + n);
            if live {
                let piece = words[at..end].to_vec();
                let mut context =
                    Context { sources: &mut *self.sources, lexer: &mut self.lexer, notes: &mut *self.notes };
                let mut piece = self.macros.expand(piece, &mut context, 0);
                self.out.append(&mut piece);
                self.stopped |= self.macros.full();
                if self.out.len() > MOST_WORDS {
                    let what = format!("the program has more than {MOST_WORDS} words");
                    self.notes.push(words[at].span, Problem::Nested { what });
                    self.stopped = true;
                }
            }
            at = end;
        }
        for branch in open.iter().filter(|_| !self.stopped) {
            self.notes.push(branch.span, Problem::Directive { what: "it has no `#endif`".to_string() });
        }
    }

    fn directive(&mut self, hash: &Token, words: &[Token], live: bool, open: &mut Vec<Branch>) {
        let Some((word, rest)) = words.split_first() else { return };
        let Kind::Word { text, .. } = &word.kind else {
            // `# 1 "file"` is what a preprocessor before this one has left.
            if live && !matches!(word.kind, Kind::Number(_)) {
                self.notes.push(word.span, wrong(&format!("{} is no directive", word.describe())));
            }
            return;
        };
        match &**text {
            "if" | "ifdef" | "ifndef" => {
                let holds = live
                    && match &**text {
                        "if" => self.condition(word, rest),
                        is => self.names(word, rest) == (is == "ifdef"),
                    };
                open.push(Branch { span: word.span, live: holds, done: holds || !live, last: false });
            }
            "elif" | "else" | "endif" => {
                let Some(branch) = open.last() else {
                    return self.notes.push(word.span, wrong(&format!("`#{text}` without `#if`")));
                };
                if &**text == "endif" {
                    open.pop();
                    return;
                }
                if branch.last {
                    return self.notes.push(word.span, wrong(&format!("`#{text}` behind `#else`")));
                }
                let is_else = &**text == "else";
                let holds = !branch.done && (is_else || self.condition(word, rest));
                let branch = open.last_mut().expect("it was there");
                *branch = Branch { live: holds, done: branch.done || holds, last: is_else, span: branch.span };
            }
            _ if !live => {}
            "include" => self.include(hash, word, rest),
            "define" => self.define(word, rest),
            "undef" => match rest {
                [Token { kind: Kind::Word { text, .. }, .. }] => self.macros.undefine(text),
                _ => self.notes.push(word.span, wrong("`#undef` takes one name")),
            },
            "error" => {
                let line = self.line_behind(word.span);
                self.notes.push(hash.span.to(word.span), Problem::UserError { text: line });
            }
            "warning" | "pragma" | "line" | "ident" => {}
            _ => self.notes.push(
                word.span,
                wrong(&format!(
                    "{} is no directive: they are include, define, undef, if, ifdef, ifndef, elif, else, endif, error",
                    quote(text)
                )),
            ),
        }
    }

    /// The rest of the line behind a word, as it is written.
    fn line_behind(&self, span: Span) -> String {
        let text = &self.sources.text(span.text).text;
        let rest = text.get(span.end as usize..).unwrap_or_default();
        rest.lines().next().unwrap_or_default().trim().to_string()
    }

    /// Whether the one name of `#ifdef` is defined.
    fn names(&mut self, word: &Token, rest: &[Token]) -> bool {
        match rest.first().map(|first| &first.kind) {
            Some(Kind::Word { text, .. }) => self.macros.is_defined(text),
            _ => {
                self.notes.push(word.span, wrong("a name is expected behind it"));
                false
            }
        }
    }

    fn condition(&mut self, word: &Token, rest: &[Token]) -> bool {
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(part) = rest.get(at) {
            at += 1;
            let is_defined = matches!(&part.kind, Kind::Word { text, .. } if &**text == "defined");
            if !is_defined {
                words.push(part.clone());
                continue;
            }
            let parenthesis = rest.get(at).is_some_and(|next| next.is(Mark::LeftParen));
            at += usize::from(parenthesis);
            let defined = match rest.get(at).map(|next| &next.kind) {
                Some(Kind::Word { text, .. }) => self.macros.is_defined(text),
                _ => {
                    self.notes.push(part.span, wrong("a name is expected behind `defined`"));
                    return false;
                }
            };
            at += 1 + usize::from(parenthesis);
            let digit = self.lexer.intern(if defined { "1" } else { "0" });
            words.push(Token { kind: Kind::Number(digit), ..part.clone() });
        }
        let mut context = Context { sources: &mut *self.sources, lexer: &mut self.lexer, notes: &mut *self.notes };
        let words = self.macros.expand(words, &mut context, 0);
        condition::value(&words).map(|value| value != 0).unwrap_or_else(|found| {
            self.notes.push(word.span, wrong(&format!("found {found}, expected a condition of numbers and macros")));
            false
        })
    }

    fn define(&mut self, word: &Token, rest: &[Token]) {
        let Some((name, body)) = rest.split_first() else {
            return self.notes.push(word.span, wrong("a name is expected behind `#define`"));
        };
        let Kind::Word { text, .. } = &name.kind else {
            return self.notes.push(name.span, wrong(&format!("found {}, expected a name", name.describe())));
        };
        let takes = body.first().is_some_and(|next| next.is(Mark::LeftParen) && !next.spaced);
        if !takes {
            self.macros.define(text.clone(), Macro { parameters: None, body: body.to_vec() });
            return;
        }
        let close = body.iter().position(|word| word.is(Mark::RightParen));
        let Some(close) = close else {
            return self.notes.push(name.span, wrong("its arguments have no `)`"));
        };
        let mut parameters = Vec::new();
        for (i, part) in body[1..close].iter().enumerate() {
            match &part.kind {
                Kind::Word { text, .. } if i % 2 == 0 => parameters.push(text.clone()),
                Kind::Mark(Mark::Comma) if i % 2 == 1 => {}
                _ => {
                    let found = format!("found {}, expected names with commas between them", part.describe());
                    return self.notes.push(part.span, wrong(&found));
                }
            }
        }
        self.macros.define(text.clone(), Macro { parameters: Some(parameters), body: body[close + 1..].to_vec() });
    }

    fn include(&mut self, hash: &Token, word: &Token, rest: &[Token]) {
        let mut line = self.line_behind(word.span);
        if let Some(Token { kind: Kind::Word { .. }, .. }) = rest.first() {
            let mut context = Context { sources: &mut *self.sources, lexer: &mut self.lexer, notes: &mut *self.notes };
            let words = self.macros.expand(rest.to_vec(), &mut context, 0);
            line = words
                .iter()
                .map(|word| match &word.kind {
                    Kind::Text(text) => format!("\"{text}\""),
                    Kind::Word { text, .. } | Kind::Number(text) => text.to_string(),
                    Kind::Mark(mark) => mark.text().to_string(),
                    _ => String::new(),
                })
                .collect();
        }
        let named = match line.chars().next() {
            Some('"') => line[1..].split_once('"').map(|(name, _)| (name.to_string(), false)),
            Some('<') => line[1..].split_once('>').map(|(name, _)| (name.to_string(), true)),
            _ => None,
        };
        let span = hash.span.to(rest.last().unwrap_or(word).span);
        let Some((name, angled)) = named else {
            let what = format!("found {}, expected \"FILE\" or <FILE>", quote(&line));
            return self.notes.push(span, wrong(&what));
        };
        self.includes += 1;
        if self.depth == DEEPEST || self.includes > MOST_INCLUDES {
            let what = match self.depth == DEEPEST {
                true => format!("files include each other more than {DEEPEST} deep: is a guard missing?"),
                false => format!("the program includes more than {MOST_INCLUDES} files: is a guard missing?"),
            };
            self.notes.push(span, Problem::IncludeLoop { name, what });
            self.stopped = true;
            return;
        }
        let from = self.sources.text(span.text).name.clone();
        let Some((path, bytes)) = self.settings.library.find(&name, angled, &from) else {
            let folders: Vec<String> = self.settings.library.folders.iter().map(|f| f.display().to_string()).collect();
            let folders = if folders.is_empty() { "no folder with -I".to_string() } else { folders.join(", ") };
            let why = format!("it is not there; looked in {folders}; core.p4, v1model.p4 and sluice.p4 always are");
            return self.notes.push(span, Problem::Unreadable { name, why });
        };
        self.depth += 1;
        self.file(path.into(), bytes, Some(span));
        self.depth -= 1;
    }
}

fn wrong(what: &str) -> Problem {
    Problem::Directive { what: what.to_string() }
}

/// Index of the first word behind the line that begins at `at`.
fn end_of_line(words: &[Token], at: usize) -> usize {
    words[at + 1..].iter().position(|word| word.first).map_or(words.len(), |n| at + 1 + n)
}
