//! Macros: what a name stands for, with arguments, `#` and `##`.

use super::lex::Lexer;
use super::token::{Kind, Mark, Token};
use super::{How, Sources, Span, Text};
use crate::error::{Notes, Problem};
use std::collections::HashMap;
use std::rc::Rc;

/// Most words that macros may become in a program, and most uses of macros.
const MOST_WORDS: usize = 1 << 20;
/// Deepest nesting of macros in arguments of macros.
const DEEPEST: usize = 32;

/// What a name stands for.
#[derive(Debug)]
pub(super) struct Macro {
    /// Names of arguments; `None` where it takes none.
    pub parameters: Option<Vec<Rc<str>>>,
    /// Words in place of it.
    pub body: Vec<Token>,
}

/// All macros that are defined.
#[derive(Debug)]
pub(super) struct Macros {
    defined: HashMap<Rc<str>, Rc<Macro>>,
    /// Lists of macros: a name, and the rest of its list; the first one is empty.
    hidden: Vec<(Rc<str>, u32)>,
    words: usize,
}

impl Macros {
    pub fn new() -> Macros {
        Macros { defined: HashMap::new(), hidden: vec![("".into(), 0)], words: 0 }
    }

    pub fn define(&mut self, name: Rc<str>, to: Macro) {
        self.defined.insert(name, Rc::new(to));
    }

    pub fn undefine(&mut self, name: &str) {
        self.defined.remove(name);
    }

    pub fn is_defined(&self, name: &str) -> bool {
        self.defined.contains_key(name)
    }

    /// Whether so much was expanded that nothing more is.
    pub fn full(&self) -> bool {
        self.words > MOST_WORDS
    }

    fn is_hidden(&self, mut list: u32, name: &str) -> bool {
        while list != 0 {
            let (hidden, rest) = &self.hidden[list as usize];
            if &**hidden == name {
                return true;
            }
            list = *rest;
        }
        false
    }
}

/// What expansion needs beside the macros.
pub(super) struct Context<'a> {
    pub sources: &'a mut Sources,
    pub lexer: &'a mut Lexer,
    pub notes: &'a mut Notes,
}

impl Macros {
    /// The words with all macros expanded.
    pub fn expand(&mut self, words: Vec<Token>, context: &mut Context<'_>, depth: usize) -> Vec<Token> {
        if self.defined.is_empty() {
            return words;
        }
        let mut out = Vec::with_capacity(words.len());
        let mut left = words;
        left.reverse();
        while let Some(word) = left.pop() {
            let Kind::Word { text, .. } = &word.kind else {
                out.push(word);
                continue;
            };
            let Some(found) = self.defined.get(text).filter(|_| !self.full()).cloned() else {
                out.push(word);
                continue;
            };
            let name = text.clone();
            let takes_none = found.parameters.is_some() && !left.last().is_some_and(|next| next.is(Mark::LeftParen));
            if takes_none || self.is_hidden(word.hidden, &name) {
                out.push(word);
                continue;
            }
            let arguments = match &found.parameters {
                None => Vec::new(),
                Some(parameters) => match arguments(&mut left, parameters.len()) {
                    Ok(arguments) => arguments,
                    Err(what) => {
                        context.notes.push(word.span, Problem::Macro { name: name.to_string(), what });
                        continue;
                    }
                },
            };
            let mut becomes = self.substitute(&found, &name, &word, arguments, context, depth);
            self.words += becomes.len() + 1;
            if self.full() {
                let what = format!("macros become more than {MOST_WORDS} words");
                context.notes.push(word.span, Problem::Macro { name: name.to_string(), what });
                return out;
            }
            if let Some(begin) = becomes.first_mut() {
                (begin.first, begin.spaced) = (word.first, word.spaced);
            }
            left.extend(becomes.into_iter().rev());
        }
        out
    }

    /// The body with arguments in their places.
    fn substitute(
        &mut self,
        found: &Macro,
        name: &Rc<str>,
        word: &Token,
        arguments: Vec<Vec<Token>>,
        context: &mut Context<'_>,
        depth: usize,
    ) -> Vec<Token> {
        self.hidden.push((name.clone(), word.hidden));
        let list = self.hidden.len() as u32 - 1;
        let mut used: HashMap<u32, u32> = HashMap::new();
        let mut out: Vec<Token> = Vec::new();
        let mut paste = false;
        let mut at = 0;
        while let Some(part) = found.body.get(at) {
            at += 1;
            let next_pastes = found.body.get(at).is_some_and(|next| next.is(Mark::Paste));
            if part.is(Mark::Paste) {
                paste = true;
                continue;
            }
            let argument = |part: &Token| match &part.kind {
                Kind::Word { text, .. } => found.parameters.iter().flatten().position(|p| p == text),
                _ => None,
            };
            let mut piece: Vec<Token> = match (argument(part), found.body.get(at).and_then(argument)) {
                (None, Some(index)) if part.is(Mark::Hash) => {
                    at += 1;
                    let text = written(&arguments[index]);
                    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
                    vec![Token { kind: Kind::Text(context.lexer.intern(&text)), ..part.clone() }]
                }
                (Some(index), _) if paste || next_pastes => arguments[index].clone(),
                (Some(index), _) if depth < DEEPEST => self.expand(arguments[index].clone(), context, depth + 1),
                (Some(index), _) => {
                    let what = format!("it is nested in arguments of macros more than {DEEPEST} deep");
                    context.notes.push(word.span, Problem::Macro { name: name.to_string(), what });
                    arguments[index].clone()
                }
                (None, _) => {
                    let text = *used.entry(part.span.text).or_insert_with(|| {
                        let written = context.sources.text(part.span.text).clone();
                        context.sources.add(Text { from: Some((word.span, How::Macro(name.clone()))), ..written })
                    });
                    let span = Span { text, ..part.span };
                    vec![Token { span, hidden: list, first: false, ..part.clone() }]
                }
            };
            if argument(part).is_some() {
                for token in &mut piece {
                    self.hidden.push((name.clone(), token.hidden));
                    token.hidden = self.hidden.len() as u32 - 1;
                    token.first = false;
                }
            }
            if std::mem::take(&mut paste) {
                join(&mut out, &mut piece, word, context);
            }
            self.words += piece.len();
            if self.full() {
                return out;
            }
            out.append(&mut piece);
        }
        out
    }
}

/// Makes one word of the last one of `out` and the first one of `piece`.
fn join(out: &mut Vec<Token>, piece: &mut Vec<Token>, used: &Token, context: &mut Context<'_>) {
    if out.is_empty() || piece.is_empty() {
        return;
    }
    let (left, right) = (out.remove(out.len() - 1), piece.remove(0));
    let text = written(std::slice::from_ref(&left)) + &written(&[right]);
    let (kind, length) = context.lexer.word(&text);
    if length < text.len() {
        let what = format!("`##` makes `{text}`, which is not one word");
        context.notes.push(used.span, Problem::Macro { name: text, what });
    }
    out.push(Token { kind, ..left });
}

/// Words as they are written, one blank where there are some.
fn written(words: &[Token]) -> String {
    let mut out = String::new();
    for (i, word) in words.iter().enumerate() {
        if i > 0 && word.spaced {
            out.push(' ');
        }
        match &word.kind {
            Kind::Word { text, .. } | Kind::Number(text) => out.push_str(text),
            Kind::Text(text) => out.push_str(&format!("\"{text}\"")),
            Kind::Mark(mark) => out.push_str(mark.text()),
            Kind::Bad(_) | Kind::End => {}
        }
    }
    out
}

/// Takes arguments in parentheses off what is left.
fn arguments(left: &mut Vec<Token>, expected: usize) -> Result<Vec<Vec<Token>>, String> {
    left.pop();
    let mut all = vec![Vec::new()];
    let mut depth = 0usize;
    loop {
        let Some(word) = left.pop() else { return Err("its arguments have no `)`".to_string()) };
        match word.kind {
            Kind::Mark(Mark::RightParen) if depth == 0 => break,
            Kind::Mark(Mark::Comma) if depth == 0 => {
                all.push(Vec::new());
                continue;
            }
            Kind::Mark(Mark::LeftParen) => depth += 1,
            Kind::Mark(Mark::RightParen) => depth -= 1,
            _ => {}
        }
        all.last_mut().expect("it begins with one").push(word);
    }
    if expected == 0 && all.len() == 1 && all[0].is_empty() {
        all.clear();
    }
    if all.len() != expected {
        return Err(format!("found {} arguments, it takes {expected}", all.len()));
    }
    Ok(all)
}
