//! Random rules.

use crate::rules::{Application, FieldMatch, Goal, Group, Kind, MessageType, Pattern, Rule, Rules, Step};
use sluice_formats::l7::target::{FIELDS, VIEW_BYTES};
use sluice_formats::random::Rng;
use std::collections::BTreeSet;

/// How large random rules become.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Ports, one at least.
    pub applications: usize,
    /// Message types of an application.
    pub types: usize,
    /// Rules of a message type.
    pub rules: usize,
    /// Alternatives of a field in a rule.
    pub patterns: usize,
    /// Pieces of a pattern.
    pub steps: usize,
    /// Groups.
    pub groups: usize,
    /// Bytes of a text or skip, as a rule.
    pub text: usize,
    /// Bytes of a message that rules see.
    pub view: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { applications: 4, types: 3, rules: 6, patterns: 4, steps: 6, groups: 3, text: 4, view: VIEW_BYTES }
    }
}

/// Few bytes, so that patterns meet each other and values; some that a file has to escape.
const BYTES: [u8; 12] = [b'a', b'a', b'b', b'b', b'/', b'/', b':', b'.', b'*', b'{', 0, 0xc3];
const STOPS: [u8; 6] = [b'/', b':', b'a', b'.', 0, 0xff];

/// Rules that a file can have.
pub fn rules(rng: &mut Rng, limits: &Limits) -> Rules {
    let groups = rng.index(limits.groups + 1);
    let mut all: Vec<Application> = Vec::new();
    let mut taken = BTreeSet::new();
    let mut alone = BTreeSet::new();
    for number in 0..rng.range(1, limits.applications.max(1) as u64) {
        let port = rng.range(9000, 9003) as u16;
        let id = rng.range(0, 2) as u8;
        let kind = match rng.below(6) {
            0 => Kind::Endpoint,
            1 => Kind::Raw,
            _ => Kind::Application(id),
        };
        let free = match kind {
            Kind::Application(id) => !alone.contains(&port) && !taken.contains(&(port, id)),
            _ => !alone.contains(&port) && taken.range((port, 0)..=(port, 255)).next().is_none(),
        };
        if !free {
            continue;
        }
        match kind {
            Kind::Application(id) => taken.insert((port, id)),
            _ => alone.insert(port),
        };
        all.push(application(rng, limits, number, port, kind, groups));
    }
    let mut rules = Rules { applications: all, groups: Vec::new() };
    for number in 0..groups {
        rules.groups.push(group(rng, number as u8, &rules));
    }
    rules
}

fn application(rng: &mut Rng, limits: &Limits, number: u64, port: u16, kind: Kind, groups: usize) -> Application {
    let endpoint = kind == Kind::Endpoint;
    let mut stops: Vec<u8> = Vec::new();
    for _ in 0..if endpoint { 0 } else { rng.below(3) } {
        let stop = STOPS[rng.index(STOPS.len())];
        if !stops.contains(&stop) {
            stops.push(stop);
        }
    }
    let mut types = Vec::new();
    match kind {
        Kind::Endpoint => {}
        Kind::Raw => {
            let fields = vec![("payload".to_string(), 1)];
            types.push(message_type(rng, limits, "packet".into(), 0, fields, (&stops, limits.view, groups)));
        }
        Kind::Application(_) => {
            let mut number = 0;
            for _ in 0..rng.below(limits.types as u64 + 1) {
                number += rng.range(1, 3) as u8;
                let mut fields = Vec::new();
                // The same name is another index's in some types.
                let shift = u8::from(rng.chance(1, 4));
                for index in 1..=FIELDS as u8 {
                    if rng.chance(1, 5) {
                        fields.push((format!("f{}", index + shift), index));
                    }
                }
                types.push(message_type(rng, limits, format!("m{number}"), number, fields, (&stops, 255, groups)));
            }
        }
    }
    let default = if endpoint { Goal::Queue(rng.next_u64() as u8) } else { goal(rng, groups) };
    let timed = matches!(kind, Kind::Application(_)) && rng.chance(1, 2);
    Application {
        name: if endpoint { format!("endpoint {port}") } else { format!("x{number}") },
        port,
        kind,
        stops,
        default,
        discard_while_updating: !endpoint && rng.chance(1, 3),
        expiry_ns: timed.then(|| rng.range(1, 4_000) * 10_u64.pow(rng.range(3, 6) as u32)),
        types,
        line: 0,
    }
}

fn goal(rng: &mut Rng, groups: usize) -> Goal {
    match rng.below(6) {
        0 => Goal::Drop,
        1 | 2 if groups > 0 => Goal::Group(rng.index(groups) as u8),
        _ => Goal::Queue(rng.below(8) as u8),
    }
}

/// What the patterns of an application are made for: stop bytes, the longest value, groups there are.
type Context<'a> = (&'a [u8], usize, usize);

fn message_type(
    rng: &mut Rng,
    limits: &Limits,
    name: String,
    number: u8,
    fields: Vec<(String, u8)>,
    (stops, most, groups): Context<'_>,
) -> MessageType {
    let mut rules = Vec::new();
    for number in 0..if fields.is_empty() { 0 } else { rng.below(limits.rules as u64 + 1) } {
        let mut matches: Vec<FieldMatch> = Vec::new();
        for _ in 0..rng.range(1, 3) {
            let field = fields[rng.index(fields.len())].1;
            if matches.iter().all(|m| m.field != field) {
                let count = rng.range(1, limits.patterns.max(1) as u64);
                let patterns = (0..count).map(|_| pattern(rng, stops, most, limits)).collect();
                matches.push(FieldMatch { field, patterns });
            }
        }
        let name = if rng.chance(1, 2) { number.to_string() } else { format!("r{number}") };
        rules.push(Rule { name, matches, goal: goal(rng, groups), line: 0 });
    }
    MessageType { name, number, fields, rules }
}

/// A pattern for fields of at most `most` bytes.
pub fn pattern(rng: &mut Rng, stops: &[u8], most: usize, limits: &Limits) -> Pattern {
    let mut all: Vec<Step> = Vec::new();
    let mut left = most;
    for _ in 0..rng.below(limits.steps as u64 + 1) {
        // Now and then longer than what a row compares, or than a skip that a row has.
        let length = if rng.chance(1, 20) { rng.range(1, 300) } else { rng.range(1, limits.text as u64) } as usize;
        let length = length.min(left);
        let step = match (rng.below(5), all.last()) {
            _ if length == 0 => break,
            (0, _) if !stops.is_empty() => Step::Until(stops[rng.index(stops.len())]),
            (1, last) if !matches!(last, Some(Step::Skip(_))) => Step::Skip(length as u16),
            (2.., last) if !matches!(last, Some(Step::Text(_))) => {
                Step::Text((0..length).map(|_| BYTES[rng.index(BYTES.len())]).collect())
            }
            _ => continue,
        };
        left -= if let Step::Until(_) = step { 1 } else { length };
        all.push(step);
    }
    Pattern { steps: all, end: rng.chance(1, 4) }
}

/// A group: by a field that all message types have whose rules go there.
fn group(rng: &mut Rng, number: u8, rules: &Rules) -> Group {
    let types = rules.applications.iter().flat_map(|a| &a.types);
    let users: Vec<_> = types.filter(|t| t.rules.iter().any(|rule| rule.goal == Goal::Group(number))).collect();
    let has = |t: &&MessageType, field| t.fields.iter().any(|(_, index)| *index == field);
    let fields: Vec<u8> = (1..=FIELDS as u8).filter(|field| users.iter().all(|t| has(t, *field))).collect();
    let queues: Vec<u8> = (0..rng.range(1, 16)).map(|_| rng.below(8) as u8).collect();
    Group {
        name: format!("g{number}"),
        field: if rng.chance(1, 2) { rng.choose(&fields).copied() } else { None },
        slots: std::array::from_fn(|slot| queues[slot % queues.len()]),
        line: 0,
    }
}
