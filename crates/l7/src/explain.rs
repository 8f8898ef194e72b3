//! Why each rule took a message or not.

use crate::oracle::{self, Decision, Message, Mismatch, Why};
use crate::rules::{Application, FieldMatch, Goal, MessageType, Pattern, Rules, Step, escape};
use serde::Serialize;
use std::fmt;

/// What became of a message, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Name of the application.
    pub application: String,
    /// Name of the message type; none: it is not listed, or the port is an endpoint.
    pub message_type: Option<String>,
    /// Rules in their order, up to the one that took it and beyond.
    pub rules: Vec<RuleTried>,
    /// Name of the rule that took it.
    pub rule: Option<String>,
    /// The goal as a file writes it.
    pub goal: String,
    /// The slot, where the goal is a group.
    pub slot: Option<usize>,
    /// The queue; none: it is dropped.
    pub queue: Option<u8>,
}

/// A rule and a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleTried {
    /// Its name.
    pub rule: String,
    /// Line of the file.
    pub line: u32,
    /// All of its fields match.
    pub matched: bool,
    /// It matches, and so did one before it.
    pub too_late: bool,
    /// Its fields.
    pub fields: Vec<FieldTried>,
}

/// A field and a rule's patterns for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldTried {
    /// Its name.
    pub field: String,
    /// Its value, with escapes; none: it is absent.
    pub value: Option<String>,
    /// One of its patterns matches.
    pub matched: bool,
    /// Its patterns in their order.
    pub patterns: Vec<PatternTried>,
}

/// A pattern and a field's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PatternTried {
    /// As a file writes it.
    pub pattern: String,
    /// It matches.
    pub matched: bool,
    /// Bytes of the field that it took, or that it had come to.
    pub bytes: usize,
    /// Why it does not match.
    pub why: Option<String>,
}

/// Why each rule took a message or not.
pub fn explain(rules: &Rules, application: &Application, message: &Message<'_>) -> Explanation {
    let Decision { rule, goal, queue } = oracle::decide(rules, application, message);
    let message_type = oracle::message_type(application, message);
    let all = message_type.map_or(&[][..], |t| &t.rules).iter().enumerate().map(|(number, tried)| {
        let fields = tried.matches.iter().map(|wanted| try_field(message_type, wanted, message)).collect::<Vec<_>>();
        let matched = fields.iter().all(|field| field.matched);
        let too_late = matched && rule.is_some_and(|taken| taken < number);
        RuleTried { rule: tried.name.clone(), line: tried.line, matched, too_late, fields }
    });
    let all = all.collect();
    let rule = rule.and_then(|number| Some(message_type?.rules[number].name.clone()));
    let group = |number: u8| rules.groups.get(usize::from(number));
    Explanation {
        application: application.name.clone(),
        message_type: message_type.map(|t| t.name.clone()),
        rules: all,
        rule,
        goal: rules.goal_text(goal),
        slot: if let Goal::Group(number) = goal { group(number).map(|g| oracle::slot(g, message)) } else { None },
        queue,
    }
}

fn try_field(message_type: Option<&MessageType>, wanted: &FieldMatch, message: &Message<'_>) -> FieldTried {
    let one = |pattern| try_pattern(pattern, oracle::match_field(pattern, message.view, wanted.field));
    let patterns: Vec<_> = wanted.patterns.iter().map(one).collect();
    FieldTried {
        field: message_type.map_or_else(String::new, |t| t.field_name(wanted.field)),
        value: message.view.and_then(|view| view.value(wanted.field)).map(escape),
        matched: patterns.iter().any(|pattern| pattern.matched),
        patterns,
    }
}

fn try_pattern(pattern: &Pattern, result: Result<usize, Mismatch>) -> PatternTried {
    let (bytes, why) = match result {
        Ok(bytes) => (bytes, None),
        Err(mismatch) => (mismatch.at, Some(why(pattern, mismatch))),
    };
    PatternTried { pattern: pattern.to_string(), matched: why.is_none(), bytes, why }
}

/// One sentence.
fn why(pattern: &Pattern, Mismatch { step, at, why }: Mismatch) -> String {
    let wanted = match pattern.steps.get(step) {
        Some(Step::Text(text)) => format!("\"{}\"", escape(text)),
        Some(Step::Skip(1)) => "a byte".to_string(),
        Some(Step::Skip(bytes)) => format!("{bytes} bytes"),
        Some(Step::Until(stop)) => format!("\"{}\"", escape(&[*stop])),
        None => "the end".to_string(),
    };
    match why {
        Why::Absent => "the message does not have the field".to_string(),
        Why::Differs(same) => format!("byte {} is not that of {wanted}", at + same),
        Why::Short => format!("the field ends before {wanted} from byte {at}"),
        Why::NoStop => format!("no {wanted} comes from byte {at} on"),
        Why::NotEnd => format!("the field goes on at byte {at}"),
        Why::EndNotSeen => "the field's end is not in what the NIC sees".to_string(),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.application)?;
        match &self.message_type {
            Some(name) => writeln!(f, ", message type {name}")?,
            None => writeln!(f, ", no message type with rules")?,
        }
        for rule in &self.rules {
            let verdict = match rule {
                RuleTried { too_late: true, .. } => "matches, but one before it took the message",
                RuleTried { matched: true, .. } => "takes the message",
                _ => "does not match",
            };
            writeln!(f, "  rule {} (line {}): {verdict}", rule.rule, rule.line)?;
            for field in &rule.fields {
                let value = field.value.as_ref().map_or("absent".to_string(), |value| format!("\"{value}\""));
                writeln!(f, "    {} is {value}", field.field)?;
                for pattern in &field.patterns {
                    let PatternTried { pattern, bytes, why, .. } = pattern;
                    match why {
                        None => writeln!(f, "      \"{pattern}\" matches its first {bytes} bytes")?,
                        Some(why) => writeln!(f, "      \"{pattern}\" does not match: {why}")?,
                    }
                }
            }
        }
        let by = self.rule.as_ref().map_or("no rule takes it".to_string(), |rule| format!("by rule {rule}"));
        write!(f, "  -> {}, {by}", self.goal)?;
        match (self.slot, self.queue) {
            (Some(slot), Some(queue)) => write!(f, ": slot {slot}, queue {queue}"),
            _ => Ok(()),
        }
    }
}
