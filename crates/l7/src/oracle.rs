//! The interpreter of rules as they are written: what compilers, models and RTL have to agree with.
//!
//! It is written from docs/design/l7.md ("Rules", "Patterns") alone, and looks at one pattern after the other.

use crate::rules::{Application, Goal, Group, Kind, MessageType, Pattern, Rule, Rules, Step};
use crate::view::View;
use sluice_formats::hash::crc32c;

/// A message, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Its type.
    pub msg_type: u8,
    /// Session of its sender.
    pub session: u32,
    /// Its ID.
    pub msg_id: u32,
    /// Its fields; none are needed at an endpoint.
    pub view: Option<&'a View<'a>>,
}

/// Where a message goes, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The rule that took it, by its place in its message type; none: it went to the default, or to the endpoint.
    pub rule: Option<usize>,
    /// The goal of the rule or the default.
    pub goal: Goal,
    /// The queue, when it is not dropped.
    pub queue: Option<u8>,
}

/// What becomes of a message of this application.
pub fn decide(rules: &Rules, application: &Application, message: &Message<'_>) -> Decision {
    let rule = message_type(application, message)
        .and_then(|message_type| message_type.rules.iter().position(|rule| matches(rule, message)));
    let goal = match (rule, message_type(application, message)) {
        (Some(rule), Some(message_type)) => message_type.rules[rule].goal,
        _ => application.default,
    };
    Decision { rule, goal, queue: queue(rules, goal, message) }
}

/// The message's type; a raw application has one for all.
pub fn message_type<'r>(application: &'r Application, message: &Message<'_>) -> Option<&'r MessageType> {
    match application.kind {
        Kind::Application(_) => application.types.iter().find(|t| t.number == message.msg_type),
        Kind::Raw => application.types.first(),
        Kind::Endpoint => None,
    }
}

/// Whether all of a rule's fields match.
fn matches(rule: &Rule, message: &Message<'_>) -> bool {
    rule.matches
        .iter()
        .all(|wanted| wanted.patterns.iter().any(|pattern| match_field(pattern, message.view, wanted.field).is_ok()))
}

/// The queue that a goal is for a message; none is drop.
pub fn queue(rules: &Rules, goal: Goal, message: &Message<'_>) -> Option<u8> {
    match goal {
        Goal::Drop => None,
        Goal::Queue(queue) => Some(queue),
        Goal::Group(number) => {
            let group = rules.groups.get(usize::from(number))?;
            Some(group.slots[slot(group, message)])
        }
    }
}

/// The slot of a group that a message takes.
pub fn slot(group: &Group, message: &Message<'_>) -> usize {
    let hash = match group.field {
        None => crc32c(&(u64::from(message.session) << 32 | u64::from(message.msg_id)).to_be_bytes()),
        Some(field) => {
            let value = message.view.and_then(|view| view.value(field)).unwrap_or_default();
            let words = value.chunks(8).map(|part| std::array::from_fn::<u8, 8, _>(|n| *part.get(n).unwrap_or(&0)));
            crc32c(&if value.is_empty() { vec![0; 8] } else { words.flatten().collect::<Vec<_>>() })
        }
    };
    (hash & 15) as usize
}

/// Where and why a pattern does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Step of the pattern; as many as it has: the end.
    pub step: usize,
    /// Position in the field that the step began at.
    pub at: usize,
    /// Why.
    pub why: Why,
}

/// Why a step of a pattern does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The message does not have the field.
    Absent,
    /// So many bytes are the same, then one is another one.
    Differs(usize),
    /// The field ends before.
    Short,
    /// The stop byte does not come until the field's end.
    NoStop,
    /// The field goes on.
    NotEnd,
    /// The field's end is not in what the NIC sees.
    EndNotSeen,
}

/// How many bytes of a field a pattern takes, or why it does not match.
pub fn match_field(pattern: &Pattern, view: Option<&View<'_>>, field: u8) -> Result<usize, Mismatch> {
    match view.and_then(|view| Some((view.value(field)?, view.is_open()))) {
        Some((value, open)) => match_value(pattern, value, open),
        None => Err(Mismatch { step: 0, at: 0, why: Why::Absent }),
    }
}

/// The same of a value, whose end is not to be seen when it is `open`.
pub fn match_value(pattern: &Pattern, value: &[u8], open: bool) -> Result<usize, Mismatch> {
    let mut at = 0;
    for (step, wanted) in pattern.steps.iter().enumerate() {
        let left = &value[at..];
        let no = |why| Err(Mismatch { step, at, why });
        at += match wanted {
            Step::Text(text) => match text.iter().zip(left).position(|(wanted, found)| wanted != found) {
                Some(same) => return no(Why::Differs(same)),
                None if left.len() < text.len() => return no(Why::Short),
                None => text.len(),
            },
            Step::Skip(bytes) if left.len() < usize::from(*bytes) => return no(Why::Short),
            Step::Skip(bytes) => usize::from(*bytes),
            Step::Until(stop) => match left.iter().position(|byte| byte == stop) {
                Some(before) => before + 1,
                None => return no(Why::NoStop),
            },
        };
    }
    let no = |why| Err(Mismatch { step: pattern.steps.len(), at, why });
    match pattern.end {
        true if at < value.len() => no(Why::NotEnd),
        true if open => no(Why::EndNotSeen),
        _ => Ok(at),
    }
}
