//! Words to the syntax tree. A statement that cannot be read is skipped; reading goes on behind it.

use super::error::{Located, Notes, Problem, Read};
use super::lexer::{Lexeme, MOST_BYTES, Token, words};
use super::syntax::{Application, By, File, Goal, Group, Message, Name, Number, Port, Rule, Setting, Text, Value};
use sluice_packet::text::Span;

/// Words that begin what stands in no block.
const OUTER: [&str; 4] = ["application", "raw", "endpoint", "group"];
const SETTINGS: [&str; 6] = ["port", "id", "stop", "default", "update", "expire"];

/// The file, with mistakes noted; what cannot be read is left out.
pub(super) fn file<'t>(text: &'t str, notes: &mut Notes) -> File<'t> {
    let mut file = File::default();
    if text.len() > MOST_BYTES {
        let what = "bytes of the file".to_string();
        notes.push((Span::default(), Problem::Size { what, found: text.len(), most: MOST_BYTES }));
        return file;
    }
    let words = words(text, notes);
    let mut p = Parser { words, at: 0, notes };
    while p.token() != Token::End && !p.notes.full() {
        if let Err(e) = p.item(&mut file) {
            p.skip(e, &[]);
            // A brace too many.
            while p.mark("}") {}
        }
    }
    file
}

struct Parser<'t, 'n> {
    words: Vec<Lexeme<'t>>,
    at: usize,
    notes: &'n mut Notes,
}

impl<'t> Parser<'t, '_> {
    /// The next word; the last one is the end, behind which nothing goes.
    fn next(&self) -> &Lexeme<'t> {
        &self.words[self.at]
    }

    fn token(&self) -> Token<'t> {
        self.next().token
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.words.len() - 1);
    }

    fn is(&self, name: &str) -> bool {
        self.token() == Token::Name(name)
    }

    /// Takes a mark if it comes next.
    fn mark(&mut self, mark: &str) -> bool {
        let found = matches!(self.token(), Token::Mark(m) if m == mark);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a word of the language if it comes next.
    fn take(&mut self, name: &str) -> bool {
        let found = self.is(name);
        if found {
            self.advance();
        }
        found
    }

    /// The error that something else was expected here.
    fn expected(&self, expected: impl ToString) -> Located {
        let found = self.token().describe();
        (self.next().span, Problem::Expected { found, expected: expected.to_string() })
    }

    fn need(&mut self, mark: &'static str) -> Read<()> {
        if self.mark(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    fn name(&mut self, what: &str) -> Read<Name<'t>> {
        let Lexeme { token: Token::Name(text), span, line, .. } = *self.next() else {
            return Err(self.expected(what));
        };
        self.advance();
        Ok(Name { text, span, line })
    }

    fn number(&mut self, what: &str) -> Read<Number> {
        let Lexeme { token: Token::Number(value), span, line, .. } = *self.next() else {
            return Err(self.expected(what));
        };
        self.advance();
        Ok(Number { value, span, line })
    }

    fn text(&mut self, what: &str) -> Read<Text<'t>> {
        let Lexeme { token: Token::Text(raw), span, line, .. } = *self.next() else {
            return Err(self.expected(what));
        };
        self.advance();
        Ok(Text { raw, span, line })
    }

    /// Whether an outer statement begins a line here: then a brace is missing before it.
    fn at_outer(&self) -> bool {
        self.next().first && OUTER.iter().any(|word| self.is(word))
    }

    /// Notes the mistake and goes on to a line that one of these words or an outer statement begins, behind a block, or to the
    /// end of this one.
    fn skip(&mut self, problem: Located, begins: &[&str]) {
        self.notes.push(problem);
        let mut open = 0usize;
        loop {
            match self.token() {
                Token::End => return,
                Token::Mark("}") if open == 0 => return,
                Token::Mark("}") => {
                    open -= 1;
                    if open == 0 {
                        // A block is a statement's end.
                        self.advance();
                        return;
                    }
                }
                Token::Mark("{") => open += 1,
                _ if self.at_outer() => return,
                Token::Name(name) if open == 0 && self.next().first && begins.contains(&name) => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// `{ statement ... }`; `begins` are words that a statement begins with. Says whether one could not be read.
    fn block(&mut self, begins: &[&str], mut statement: impl FnMut(&mut Self) -> Read<()>) -> Read<bool> {
        self.need("{")?;
        let mut broken = false;
        loop {
            if self.notes.full() {
                // Nothing more is reported.
                self.at = self.words.len() - 1;
                return Ok(true);
            }
            if self.mark("}") {
                return Ok(broken);
            }
            if self.token() == Token::End || self.at_outer() {
                let problem = self.expected("`}`");
                self.notes.push(problem);
                return Ok(true);
            }
            let before = self.at;
            if let Err(e) = statement(self) {
                broken = true;
                // A word that does not stand here may begin a line with what does.
                if self.at == before && matches!(self.token(), Token::Name(_)) {
                    self.advance();
                }
                self.skip(e, begins);
            }
        }
    }

    fn item(&mut self, file: &mut File<'t>) -> Read<()> {
        const ITEMS: &str = "`application`, `raw`, `endpoint` or `group`";
        let Lexeme { token, span, line, .. } = *self.next();
        let Token::Name(word) = token else { return Err(self.expected_and_go_on(ITEMS)) };
        match word {
            "application" | "raw" => {
                self.advance();
                let application = self.application(word == "raw")?;
                file.ports.push(Port::Application(application));
            }
            "endpoint" => {
                self.advance();
                let port = self.number("the endpoint's UDP port")?;
                self.need("->")?;
                let at = self.next().span;
                let goal = self.goal()?;
                if !matches!(goal, Goal::Queue(_)) {
                    let found = if matches!(goal, Goal::Drop) { "`drop`" } else { "`group`" };
                    let expected = "`queue N`: an endpoint is one process's".to_string();
                    self.notes.push((at, Problem::Expected { found: found.to_string(), expected }));
                }
                file.ports.push(Port::Endpoint { port, goal, line });
            }
            "group" => {
                self.advance();
                let group = self.group()?;
                file.groups.push(group);
            }
            _ => {
                self.advance();
                return Err((span, Problem::Expected { found: token.describe(), expected: ITEMS.to_string() }));
            }
        }
        Ok(())
    }

    fn expected_and_go_on(&mut self, expected: &str) -> Located {
        let problem = self.expected(expected);
        self.advance();
        problem
    }

    fn application(&mut self, raw: bool) -> Read<Application<'t>> {
        let name = self.name("the application's name")?;
        let mut found =
            Application { raw, name, settings: Vec::new(), messages: Vec::new(), rules: Vec::new(), broken: false };
        let own = if raw { "rule" } else { "message" };
        let begins: Vec<&str> = SETTINGS.into_iter().chain([own]).collect();
        found.broken = self.block(&begins, |p| {
            let expected = if raw {
                "`port`, `stop`, `default`, `update`, `rule` or `}`: a raw application has no ID, types and expiry"
            } else {
                "`port`, `id`, `stop`, `default`, `update`, `expire`, `message` or `}`"
            };
            if !begins.iter().any(|word| p.is(word)) || raw && (p.is("id") || p.is("expire")) {
                return Err(p.expected(expected));
            }
            if raw && p.is("rule") {
                let rule = p.rule(true)?;
                found.rules.push(rule);
            } else if p.take("message") {
                let message = p.message()?;
                found.messages.push(message);
            } else {
                let setting = p.setting()?;
                found.settings.push(setting);
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn setting(&mut self) -> Read<Setting<'t>> {
        let word = self.name("a setting")?;
        let value = match word.text {
            "port" => Value::Port(self.number("a UDP port")?),
            "id" => Value::Id(self.number("an application ID")?),
            "default" => Value::Default(self.goal()?),
            "stop" => {
                let mut all = vec![self.text("a stop byte as in \"/\"")?];
                while let Token::Text(_) = self.token() {
                    all.push(self.text("")?);
                }
                Value::Stop(all)
            }
            "update" => {
                if !self.take("discard") {
                    return Err(self.expected("`discard`"));
                }
                Value::Update
            }
            _ => {
                let Lexeme { token: Token::Time(value), span, line, .. } = *self.next() else {
                    return Err(self.expected("a time as in 250ms"));
                };
                self.advance();
                Value::Expire(Number { value, span, line })
            }
        };
        Ok(Setting { word, value })
    }

    fn message(&mut self) -> Read<Message<'t>> {
        let name = self.name("the name of the message type")?;
        self.need("=")?;
        let number = self.number("the number of the message type")?;
        let mut found = Message { name, number, fields: Vec::new(), rules: Vec::new(), broken: false };
        found.broken = self.block(&["field", "rule"], |p| {
            if p.take("field") {
                let name = p.name("the name of the field")?;
                p.need("=")?;
                found.fields.push((name, p.number("the index of the field")?));
            } else if p.is("rule") {
                let rule = p.rule(false)?;
                found.rules.push(rule);
            } else {
                return Err(p.expected("`field`, `rule` or `}`"));
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn rule(&mut self, raw: bool) -> Read<Rule<'t>> {
        let line = self.next().line;
        self.advance();
        let ahead = self.words.get(self.at + 1).map(|l| l.token);
        let name = match ahead {
            Some(Token::Mark(":")) => {
                let name = self.name("the rule's name")?;
                self.need(":")?;
                Some(name)
            }
            _ => None,
        };
        let mut matches = Vec::new();
        loop {
            let field = if raw {
                None
            } else {
                let name = self.name("the name of a field")?;
                self.need("~")?;
                Some(name)
            };
            let mut patterns = vec![self.text("a pattern in quotes")?];
            while self.mark("|") {
                patterns.push(self.text("a pattern in quotes")?);
            }
            matches.push((field, patterns));
            if raw || !self.take("and") {
                break;
            }
        }
        if !self.mark("->") {
            return Err(self.expected(if raw { "`|` or `->`" } else { "`|`, `and` or `->`" }));
        }
        Ok(Rule { name, matches, goal: self.goal()?, line })
    }

    fn goal(&mut self) -> Read<Goal<'t>> {
        if self.take("drop") {
            Ok(Goal::Drop)
        } else if self.take("queue") {
            Ok(Goal::Queue(self.number("the number of a queue")?))
        } else if self.take("group") {
            Ok(Goal::Group(self.name("the name of a group")?))
        } else {
            Err(self.expected("`queue N`, `group NAME` or `drop`"))
        }
    }

    fn group(&mut self) -> Read<Group<'t>> {
        let name = self.name("the group's name")?;
        let mut by = By::Message;
        if self.take("by") {
            by = match self.token() {
                Token::Name("message") => {
                    self.advance();
                    By::Message
                }
                Token::Number(_) => By::Index(self.number("")?),
                _ => By::Name(self.name("`message`, or a field by name or index")?),
            };
        }
        let mut queues = Vec::new();
        let broken = self.block(&["queue"], |p| {
            if !p.take("queue") {
                return Err(p.expected("`queue N` or `}`"));
            }
            queues.push(p.number("the number of a queue")?);
            Ok(())
        })?;
        Ok(Group { name, by, queues, broken })
    }
}
