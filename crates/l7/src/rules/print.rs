//! Rules as text that reads back as the same rules.

use super::ast::{Application, FieldMatch, Goal, Group, Kind, MessageType, Pattern, Rule, Rules, Step};
use super::groups::{Users, index};
use super::lexer::UNITS;
use super::pattern::{MOST_SKIP, literal};
use std::fmt::{self, Display, Formatter};

impl Display for Rules {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, application) in self.applications.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            self.application(f, application)?;
        }
        let users = Users::of(&self.applications);
        for (number, group) in self.groups.iter().enumerate() {
            writeln!(f, "\ngroup {}{} {{", group.name, by(group, number as u8, &users))?;
            // As many as are repeated to fill the slots.
            let slots = &group.slots;
            let period = (1..=slots.len()).find(|n| (*n..slots.len()).all(|i| slots[i] == slots[i - n]));
            for queue in &slots[..period.unwrap_or(slots.len())] {
                writeln!(f, "    queue {queue}")?;
            }
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}

/// The field of a group: by its name where that reads back as its index.
fn by(group: &Group, number: u8, users: &Users<'_>) -> String {
    let Some(field) = group.field else { return String::new() };
    let names = |message: &MessageType| message.fields.iter().find(|(_, i)| *i == field).map(|(name, _)| name.clone());
    let name = users.of_group(number).next().and_then(names).filter(|name| name != "message");
    match name {
        Some(name) if users.of_group(number).all(|message| index(message, &name) == Some(field)) => {
            format!(" by {name}")
        }
        _ => format!(" by {field}"),
    }
}

impl Rules {
    /// The same rules without lines of a file, for comparisons.
    #[must_use]
    pub fn without_lines(mut self) -> Self {
        self.groups.iter_mut().for_each(|group| group.line = 0);
        for application in &mut self.applications {
            application.line = 0;
            application.types.iter_mut().flat_map(|message| &mut message.rules).for_each(|rule| rule.line = 0);
        }
        self
    }

    /// A goal as a file writes it.
    pub fn goal_text(&self, goal: Goal) -> String {
        match goal {
            Goal::Drop => "drop".to_string(),
            Goal::Queue(queue) => format!("queue {queue}"),
            Goal::Group(number) => match self.groups.get(usize::from(number)) {
                Some(group) => format!("group {}", group.name),
                None => format!("group {number}, which is not there"),
            },
        }
    }

    fn application(&self, f: &mut Formatter<'_>, application: &Application) -> fmt::Result {
        let Application { name, port, .. } = application;
        match application.kind {
            Kind::Endpoint => return writeln!(f, "endpoint {port} -> {}", self.goal_text(application.default)),
            Kind::Raw => writeln!(f, "raw {name} {{\n    port {port}")?,
            Kind::Application(id) => writeln!(f, "application {name} {{\n    port {port}\n    id {id}")?,
        }
        if !application.stops.is_empty() {
            let stops: Vec<_> = application.stops.iter().map(|stop| format!("\"{}\"", literal(&[*stop]))).collect();
            writeln!(f, "    stop {}", stops.join(" "))?;
        }
        writeln!(f, "    default {}", self.goal_text(application.default))?;
        if application.discard_while_updating {
            writeln!(f, "    update discard")?;
        }
        if let Some(ns) = application.expiry_ns {
            let (unit, factor) = UNITS.into_iter().find(|(_, factor)| ns % factor == 0).unwrap_or(("ns", 1));
            writeln!(f, "    expire {}{unit}", ns / factor)?;
        }
        for message in &application.types {
            if application.kind == Kind::Raw {
                self.rules(f, message, true, "    ")?;
                continue;
            }
            writeln!(f, "    message {} = {} {{", message.name, message.number)?;
            for (name, index) in &message.fields {
                writeln!(f, "        field {name} = {index}")?;
            }
            self.rules(f, message, false, "        ")?;
            writeln!(f, "    }}")?;
        }
        writeln!(f, "}}")
    }

    fn rules(&self, f: &mut Formatter<'_>, message: &MessageType, raw: bool, indent: &str) -> fmt::Result {
        for (number, rule) in message.rules.iter().enumerate() {
            let Rule { name, matches, goal, .. } = rule;
            write!(f, "{indent}rule ")?;
            if *name != number.to_string() {
                write!(f, "{name}: ")?;
            }
            let shown = |FieldMatch { field, patterns }: &FieldMatch| {
                let all: Vec<_> = patterns.iter().map(|pattern| format!("\"{pattern}\"")).collect();
                let all = all.join(" | ");
                if raw { all } else { format!("{} ~ {all}", message.field_name(*field)) }
            };
            let all: Vec<_> = matches.iter().map(shown).collect();
            writeln!(f, "{} -> {}", all.join(" and "), self.goal_text(*goal))?;
        }
        Ok(())
    }
}

impl MessageType {
    /// The name of a field; its index where it has none.
    pub fn field_name(&self, field: u8) -> String {
        let found = self.fields.iter().find(|(_, index)| *index == field);
        found.map_or_else(|| field.to_string(), |(name, _)| name.clone())
    }
}

/// What stands between the quotes.
impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                Step::Text(bytes) => f.write_str(&literal(bytes))?,
                Step::Until(stop) => write!(f, "*{}", literal(&[*stop]))?,
                Step::Skip(n) => {
                    // A bare point does not stand before `*` or `{`, with which it is something else.
                    let bare = match self.steps.get(i + 1) {
                        Some(Step::Text(bytes)) => bytes.first() != Some(&b'{'),
                        Some(_) => false,
                        None => true,
                    };
                    let mut left = *n;
                    while left > 0 {
                        let part = left.min(MOST_SKIP);
                        left -= part;
                        if part == 1 && bare { f.write_str(".")? } else { write!(f, ".{{{part}}}")? }
                    }
                }
            }
        }
        f.write_str(if self.end { "$" } else { "" })
    }
}
