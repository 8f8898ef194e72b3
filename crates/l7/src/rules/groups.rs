//! Groups of queues, and the field by which a group chooses: a name that has one index wherever messages go to the group.

use super::ast::{self, Application, MessageType};
use super::check::{Seen, number};
use super::error::{Notes, Problem, unknown};
use super::syntax::{By, Goal, Group, Name};
use sluice_formats::l7::target::{FIELDS, SLOTS};
use sluice_packet::text::Span;
use std::collections::{HashMap, HashSet};

/// Groups of a file: their numbers have 8 bits.
const MOST_GROUPS: usize = 256;

/// The groups that are declared.
#[derive(Debug, Default)]
pub(super) struct Groups {
    numbers: HashMap<String, u8>,
    all: Vec<Declared>,
}

#[derive(Debug)]
struct Declared {
    group: ast::Group,
    /// The field's name and its place, where it is a name.
    by: Option<(String, Span)>,
}

impl Groups {
    /// Takes all groups of a file.
    pub fn declare(&mut self, written: &[Group<'_>], notes: &mut Notes) {
        let mut seen = Seen::default();
        for (count, group) in written.iter().enumerate() {
            let name = group.name;
            if count == MOST_GROUPS {
                let what = "groups of a file".to_string();
                notes.push((name.span, Problem::Size { what, found: written.len(), most: MOST_GROUPS }));
                return;
            }
            if !seen.note(name.text, "group", name, notes) {
                continue;
            }
            let mut queues = Vec::new();
            for queue in &group.queues {
                queues.extend(notes.ok(number("queue", *queue, 0..=255)).map(|n| n as u8));
            }
            if let Some(queue) = group.queues.get(SLOTS) {
                let what = format!("queues of group `{}`", name.text);
                notes.push((queue.span, Problem::Size { what, found: group.queues.len(), most: SLOTS }));
            }
            if group.queues.is_empty() && !group.broken {
                let owner = format!("group `{}`", name.text);
                notes
                    .push((name.span, Problem::Missing { owner, part: "queue", expected: "`queue N`, 1 to 16 times" }));
            }
            let (field, by) = match group.by {
                By::Message => (None, None),
                By::Name(field) => (None, Some((field.text.to_string(), field.span))),
                By::Index(n) => (notes.ok(number("index of a field", n, 1..=FIELDS as u64)).map(|n| n as u8), None),
            };
            let slots = std::array::from_fn(|slot| queues.get(slot % queues.len().max(1)).copied().unwrap_or_default());
            self.numbers.insert(name.text.to_string(), self.all.len() as u8);
            let group = ast::Group { name: name.text.to_string(), field, slots, line: name.line };
            self.all.push(Declared { group, by });
        }
    }

    /// The number of a group.
    pub fn find(&self, name: Name<'_>, notes: &mut Notes) -> Option<u8> {
        let found = self.numbers.get(name.text).copied();
        if found.is_none() {
            notes.push(unknown(name.span, "group", name.text, self.all.iter().map(|g| g.group.name.as_str())));
        }
        found
    }

    /// A rule of a message type with these fields has the group as its goal.
    pub fn used(&self, group: u8, fields: &HashMap<&str, u8>, goal: &Goal<'_>, notes: &mut Notes) {
        let declared = &self.all[usize::from(group)];
        let there = match (&declared.by, declared.group.field) {
            (Some((name, _)), _) => fields.contains_key(name.as_str()),
            (None, Some(index)) => fields.values().any(|field| *field == index),
            (None, None) => true,
        };
        if let (false, Goal::Group(at)) = (there, goal) {
            let field = declared.field();
            let found = "the rule's message type has no such field".to_string();
            notes.push((at.span, Problem::GroupField { group: declared.group.name.clone(), field, found }));
        }
    }

    /// The groups, with the indices of the fields that they name.
    pub fn resolve(self, applications: &[Application], notes: &mut Notes) -> Vec<ast::Group> {
        let users = Users::of(applications);
        let mut all = Vec::new();
        for (number, declared) in self.all.into_iter().enumerate() {
            let mut group = declared.group.clone();
            if let Some((name, span)) = &declared.by {
                let mut indices: Vec<(u8, &str)> =
                    users.of_group(number as u8).filter_map(|m| Some((index(m, name)?, m.name.as_str()))).collect();
                indices.sort_unstable();
                indices.dedup_by_key(|(index, _)| *index);
                match indices[..] {
                    [] => {
                        let mut names = HashSet::new();
                        let fields = users.all.iter().flat_map(|m| m.fields.iter().map(|(name, _)| name.as_str()));
                        let fields = fields.filter(|name| names.insert(*name));
                        notes.push(unknown(*span, "field", name, fields));
                    }
                    [(index, _)] => group.field = Some(index),
                    [(a, first), (b, second), ..] => {
                        let found = format!("it is {a} of message type `{first}` and {b} of `{second}`");
                        let field = declared.field();
                        notes.push((*span, Problem::GroupField { group: group.name.clone(), field, found }));
                    }
                }
            }
            all.push(group);
        }
        all
    }
}

impl Declared {
    fn field(&self) -> String {
        match (&self.by, self.group.field) {
            (Some((name, _)), _) => format!("`{name}`"),
            (None, index) => index.unwrap_or_default().to_string(),
        }
    }
}

/// Index of the field of this name.
pub(super) fn index(message: &MessageType, name: &str) -> Option<u8> {
    message.fields.iter().find(|(field, _)| field == name).map(|(_, index)| *index)
}

/// Message types by the groups that their messages go to.
#[derive(Debug)]
pub(super) struct Users<'r> {
    all: Vec<&'r MessageType>,
    by_group: HashMap<u8, Vec<&'r MessageType>>,
}

impl<'r> Users<'r> {
    pub fn of(applications: &'r [Application]) -> Self {
        let mut users = Self { all: Vec::new(), by_group: HashMap::new() };
        for application in applications {
            for message in &application.types {
                users.all.push(message);
                let goals = message.rules.iter().map(|rule| rule.goal).chain([application.default]);
                let groups: HashSet<u8> =
                    goals.filter_map(|goal| if let ast::Goal::Group(g) = goal { Some(g) } else { None }).collect();
                for group in groups {
                    users.by_group.entry(group).or_default().push(message);
                }
            }
        }
        users
    }

    /// Those whose messages go to a group; of a group without any, all of the file.
    pub fn of_group(&self, group: u8) -> impl Iterator<Item = &'r MessageType> + '_ {
        self.by_group.get(&group).unwrap_or(&self.all).iter().copied()
    }
}
