//! The syntax tree to the tree of rules: names are resolved, ranges and what stands twice are checked.

use super::ast::{self, FieldMatch, Kind, MessageType, Rules};
use super::error::{Notes, Problem, Read, unknown, value};
use super::groups::Groups;
use super::pattern::{self, pattern};
use super::syntax::{Application, File, Goal, Message, Name, Number, Port, Rule, Text, Value};
use sluice_formats::l7::target::{EXPIRY_TICK_NS, FIELDS, VIEW_BYTES};
use sluice_packet::text::Span;
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::RangeInclusive;

/// Stop bytes of an application.
const MOST_STOPS: usize = 2;
/// Longest value of a field.
const MOST_VALUE: usize = 255;
/// Longest expiry: 24 bits of ticks.
const MOST_EXPIRY_NS: u64 = ((1 << 24) - 1) * EXPIRY_TICK_NS;
/// What the parts of a raw application are called that it does not name.
const RAW_TYPE: &str = "packet";
const RAW_FIELD: &str = "payload";

/// The rules, with mistakes noted; what is wrong is left out.
pub(super) fn check(file: &File<'_>, notes: &mut Notes) -> Rules {
    let mut checker = Checker { notes, groups: Groups::default(), ports: HashMap::new() };
    checker.groups.declare(&file.groups, checker.notes);
    let mut names = Seen::default();
    let mut applications = Vec::new();
    for port in &file.ports {
        if checker.notes.full() {
            break;
        }
        applications.extend(match port {
            Port::Application(application) => {
                names.note(application.name.text, "application", application.name, checker.notes);
                Some(checker.application(application))
            }
            Port::Endpoint { port, goal, line } => checker.endpoint(*port, *goal, *line),
        });
    }
    let Checker { notes, groups, .. } = checker;
    let groups = groups.resolve(&applications, notes);
    if applications.is_empty() && notes.found.is_empty() {
        let expected = "`application`, `raw` or `endpoint`, one at least";
        notes
            .push((Span::default(), Problem::Missing { owner: "the file".to_string(), part: "application", expected }));
    }
    Rules { applications, groups }
}

/// What was there before, with the line of it.
#[derive(Debug)]
pub(super) struct Seen<K>(HashMap<K, u32>);

impl<K> Default for Seen<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq> Seen<K> {
    /// Takes note of a name, or of the mistake that it was there.
    pub fn note(&mut self, key: K, what: &str, name: Name<'_>, notes: &mut Notes) -> bool {
        self.note_as(key, || format!("{what} `{}`", name.text), name.span, name.line, notes)
    }

    fn note_as(&mut self, key: K, what: impl Fn() -> String, span: Span, line: u32, notes: &mut Notes) -> bool {
        match self.0.get(&key) {
            Some(&first) => {
                notes.push((span, Problem::Twice { what: what(), line: first }));
                false
            }
            None => self.0.insert(key, line).is_none(),
        }
    }
}

/// A number in its range.
pub(super) fn number(what: &str, number: Number, allowed: RangeInclusive<u64>) -> Read<u64> {
    let found = u64::try_from(number.value).ok().filter(|n| allowed.contains(n));
    found.ok_or_else(|| {
        let allowed = format!("{} to {}", allowed.start(), allowed.end());
        value(number.span, what, number.value, allowed)
    })
}

/// Fields of a message type.
struct Fields<'t> {
    /// Their indices; 0 where that is a mistake already.
    by_name: HashMap<&'t str, u8>,
    /// There may be more, in what could not be read.
    broken: bool,
}

struct Checker<'n> {
    notes: &'n mut Notes,
    groups: Groups,
    /// Lines of those at a port, by ID; none is one that has its port alone.
    ports: HashMap<u16, HashMap<Option<u8>, u32>>,
}

/// What the settings of an application say.
#[derive(Default)]
struct Settings {
    port: Option<u16>,
    id: Option<u8>,
    stops: Vec<u8>,
    default: Option<ast::Goal>,
    update: bool,
    expire: Option<u64>,
}

impl Checker<'_> {
    fn endpoint(&mut self, port: Number, goal: Goal<'_>, line: u32) -> Option<ast::Application> {
        let number = self.notes.ok(number("the endpoint's port", port, 1..=65535));
        let default = self.goal(goal);
        let number = number? as u16;
        self.take_port(number, None, port.span, line);
        Some(ast::Application {
            name: format!("endpoint {number}"),
            port: number,
            kind: Kind::Endpoint,
            stops: Vec::new(),
            default: default?,
            discard_while_updating: false,
            expiry_ns: None,
            types: Vec::new(),
            line,
        })
    }

    /// Notes a port and ID that are taken.
    fn take_port(&mut self, port: u16, id: Option<u8>, span: Span, line: u32) {
        let there = self.ports.entry(port).or_default();
        let other = match id {
            // An endpoint and a raw application have their port alone.
            None => there.values().min(),
            Some(_) => there.get(&id).or_else(|| there.get(&None)),
        };
        if let Some(&line) = other {
            let alone = id.is_none() || there.contains_key(&None);
            let what = match id.filter(|_| !alone) {
                Some(id) => format!("port {port} with ID {id}"),
                None => format!("port {port}, which an endpoint or raw application has alone,"),
            };
            self.notes.push((span, Problem::Twice { what, line }));
        }
        there.entry(id).or_insert(line);
    }

    fn application(&mut self, written: &Application<'_>) -> ast::Application {
        let name = written.name;
        let settings = self.settings(written);
        let owner = || format!("{} `{}`", if written.raw { "raw" } else { "application" }, name.text);
        let missing = |part, expected| (name.span, Problem::Missing { owner: owner(), part, expected });
        // One mistake a place: the first part that is missing.
        let said = |word| written.settings.iter().any(|setting| setting.word.text == word);
        if written.broken {
            // What seems to be missing may be in what could not be read.
        } else if !said("port") {
            self.notes.push(missing("port", "`port N`"));
        } else if !written.raw && !said("id") {
            self.notes.push(missing("ID", "`id N`"));
        } else if !said("default") {
            self.notes.push(missing("default", "`default queue N`, `default group NAME` or `default drop`"));
        }
        let types = if written.raw {
            let by_name = HashMap::from([(RAW_FIELD, 1)]);
            let rules = self.rules(&written.rules, &Fields { by_name, broken: false }, &settings.stops, VIEW_BYTES);
            vec![MessageType { name: RAW_TYPE.into(), number: 0, fields: vec![(RAW_FIELD.into(), 1)], rules }]
        } else {
            self.messages(&written.messages, &settings.stops)
        };
        ast::Application {
            name: name.text.to_string(),
            port: settings.port.unwrap_or_default(),
            kind: if written.raw { Kind::Raw } else { Kind::Application(settings.id.unwrap_or_default()) },
            stops: settings.stops,
            default: settings.default.unwrap_or(ast::Goal::Drop),
            discard_while_updating: settings.update,
            expiry_ns: settings.expire,
            types,
            line: name.line,
        }
    }

    fn settings(&mut self, written: &Application<'_>) -> Settings {
        let mut settings = Settings::default();
        let mut seen = Seen::default();
        let mut port_at = written.name.span;
        for setting in &written.settings {
            seen.note(setting.word.text, "setting", setting.word, self.notes);
            match &setting.value {
                Value::Port(n) => {
                    port_at = n.span;
                    settings.port = self.notes.ok(number("port", *n, 1..=65535)).map(|n| n as u16);
                }
                Value::Id(n) => settings.id = self.notes.ok(number("id", *n, 0..=255)).map(|n| n as u8),
                Value::Stop(all) => settings.stops = self.stops(all),
                Value::Default(goal) => settings.default = self.goal(*goal),
                Value::Update => settings.update = true,
                Value::Expire(ns) => settings.expire = self.notes.ok(expiry(*ns)),
            }
        }
        let id = if written.raw { Some(None) } else { settings.id.map(Some) };
        if let (Some(port), Some(id)) = (settings.port, id) {
            self.take_port(port, id, port_at, written.name.line);
        }
        settings
    }

    fn stops(&mut self, written: &[Text<'_>]) -> Vec<u8> {
        let mut all = Vec::new();
        let mut seen = Seen::default();
        for text in written {
            let Some(byte) = pattern::stop(*text, self.notes) else { continue };
            let what = || format!("stop byte \"{}\"", pattern::literal(&[byte]));
            if seen.note_as(byte, what, text.span, text.line, self.notes) {
                all.push(byte);
            }
        }
        if let Some(text) = written.get(MOST_STOPS) {
            let what = "stop bytes of an application".to_string();
            self.notes.push((text.span, Problem::Size { what, found: written.len(), most: MOST_STOPS }));
            all.truncate(MOST_STOPS);
        }
        all
    }

    fn goal(&mut self, goal: Goal<'_>) -> Option<ast::Goal> {
        match goal {
            Goal::Drop => Some(ast::Goal::Drop),
            Goal::Queue(n) => self.notes.ok(number("queue", n, 0..=255)).map(|n| ast::Goal::Queue(n as u8)),
            Goal::Group(name) => self.groups.find(name, self.notes).map(ast::Goal::Group),
        }
    }

    fn messages(&mut self, written: &[Message<'_>], stops: &[u8]) -> Vec<MessageType> {
        let (mut names, mut numbers) = (Seen::default(), Seen::default());
        let mut all = Vec::new();
        for message in written {
            names.note(message.name.text, "message type", message.name, self.notes);
            let n = self.notes.ok(number("number of the message type", message.number, 0..=255));
            if let Some(n) = n {
                let Number { span, line, .. } = message.number;
                numbers.note_as(n, || format!("message type {n}"), span, line, self.notes);
            }
            let fields = self.fields(message);
            let rules = self.rules(&message.rules, &fields, stops, MOST_VALUE);
            let mut fields: Vec<_> =
                fields.by_name.into_iter().map(|(name, index)| (name.to_string(), index)).collect();
            fields.sort_by_key(|(_, index)| *index);
            all.push(MessageType {
                name: message.name.text.to_string(),
                number: n.unwrap_or_default() as u8,
                fields,
                rules,
            });
        }
        all.sort_by_key(|message| message.number);
        all
    }

    /// Indices of a message type's fields by their names.
    fn fields<'t>(&mut self, message: &Message<'t>) -> Fields<'t> {
        let (mut names, mut indices) = (Seen::default(), Seen::default());
        let mut all = HashMap::new();
        for (name, index) in &message.fields {
            let new = names.note(name.text, "field", *name, self.notes);
            let Some(n) = self.notes.ok(number("index of a field", *index, 1..=FIELDS as u64)) else {
                // Rules that name it are no further mistake.
                all.entry(name.text).or_insert(0);
                continue;
            };
            indices.note_as(n, || format!("field {n}"), index.span, index.line, self.notes);
            if new {
                all.insert(name.text, n as u8);
            }
        }
        Fields { by_name: all, broken: message.broken }
    }

    fn rules(&mut self, written: &[Rule<'_>], fields: &Fields<'_>, stops: &[u8], most: usize) -> Vec<ast::Rule> {
        let mut names = Seen::default();
        let mut all = Vec::new();
        for (number, rule) in written.iter().enumerate() {
            if self.notes.full() {
                break;
            }
            if let Some(name) = rule.name {
                names.note(name.text, "rule", name, self.notes);
            }
            let mut seen = Seen::default();
            let mut matches = Vec::new();
            for (field, patterns) in &rule.matches {
                let index = match field {
                    None => Some(1),
                    Some(name) => {
                        seen.note(name.text, "field", *name, self.notes);
                        let found = fields.by_name.get(name.text).copied();
                        if found.is_none() && !fields.broken {
                            let mut names: Vec<_> = fields.by_name.iter().map(|(name, index)| (index, *name)).collect();
                            names.sort_unstable();
                            self.notes.push(unknown(name.span, "field", name.text, names.into_iter().map(|n| n.1)));
                        }
                        found
                    }
                };
                let patterns = patterns.iter().map(|text| pattern(*text, stops, most, self.notes)).collect();
                matches.extend(index.map(|field| FieldMatch { field, patterns }));
            }
            let goal = self.goal(rule.goal);
            let name = rule.name.map_or_else(|| number.to_string(), |name| name.text.to_string());
            if let (Some(ast::Goal::Group(group)), false) = (goal, fields.broken) {
                self.groups.used(group, &fields.by_name, &rule.goal, self.notes);
            }
            all.extend(goal.map(|goal| ast::Rule { name, matches, goal, line: rule.line }));
        }
        all
    }
}

fn expiry(time: Number) -> Read<u64> {
    let found = u64::try_from(time.value).ok().filter(|ns| (EXPIRY_TICK_NS..=MOST_EXPIRY_NS).contains(ns));
    found.ok_or_else(|| {
        let allowed = format!("{EXPIRY_TICK_NS}ns to {MOST_EXPIRY_NS}ns, a bit more than 4 s");
        value(time.span, "expire", format!("{}ns", time.value), allowed)
    })
}
