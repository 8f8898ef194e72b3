//! Random rules and messages that often meet them, for tests and benches of everything that dispatches.

use crate::rules::{Application, FieldMatch, Goal, Group, Kind, MessageType, Pattern, Rule, Rules, Step};
use sluice_formats::random::Rng;

/// Words that rules and messages are made of: some begin alike, some are longer than a row compares.
const WORDS: [&[u8]; 12] =
    [b"a", b"ab", b"abc", b"b", b"CA", b"PA", b"2024", b"2025", b"Math", b"user", b"warehouse-17", b"warehouse-18-b"];

/// Stop bytes of all applications.
pub const STOPS: [u8; 2] = [b'/', b':'];

/// Rules of some applications, endpoints and raw applications at ports from 9000 on.
pub fn rules(rng: &mut Rng) -> Rules {
    let groups = (0..rng.range(1, 3)).map(|n| group(rng, n)).collect();
    let applications = (0..rng.range(1, 3)).map(|n| application(rng, n as u16)).collect();
    Rules { applications, groups }
}

fn group(rng: &mut Rng, number: u64) -> Group {
    let field = rng.chance(1, 2).then(|| rng.range(1, 3) as u8);
    let slots = std::array::from_fn(|_| rng.below(8) as u8);
    Group { name: format!("group{number}"), field, slots, line: 1 }
}

fn goal(rng: &mut Rng) -> Goal {
    match rng.below(8) {
        0 => Goal::Drop,
        1 => Goal::Group(0),
        _ => Goal::Queue(rng.below(256) as u8),
    }
}

fn application(rng: &mut Rng, number: u16) -> Application {
    let kind = match rng.below(4) {
        0 => Kind::Raw,
        _ => Kind::Application(rng.below(4) as u8),
    };
    let stops = STOPS[..rng.range(1, 2) as usize].to_vec();
    let types = match kind {
        Kind::Raw => vec![message_type(rng, &stops, 0, 1)],
        _ => (0..rng.range(1, 2)).map(|n| message_type(rng, &stops, 3 * n as u8, 3)).collect(),
    };
    Application {
        name: format!("application{number}"),
        port: 9000 + number,
        kind,
        stops,
        default: goal(rng),
        discard_while_updating: false,
        expiry_ns: None,
        types,
        line: 1,
    }
}

/// A type with fields 1 to `fields`.
fn message_type(rng: &mut Rng, stops: &[u8], number: u8, fields: u8) -> MessageType {
    // Often a few rules, sometimes as many as need wide rows.
    let count = if rng.chance(1, 4) { rng.range(8, 40) } else { rng.range(1, 6) };
    MessageType {
        name: format!("type{number}"),
        number,
        fields: (1..=fields).map(|n| (format!("field{n}"), n)).collect(),
        rules: (0..count).map(|n| rule(rng, stops, n, fields)).collect(),
    }
}

fn rule(rng: &mut Rng, stops: &[u8], number: u64, fields: u8) -> Rule {
    let mut indices: Vec<u8> = (1..=fields).collect();
    rng.shuffle(&mut indices);
    let used = if rng.chance(2, 3) { 1 } else { rng.range(1, u64::from(fields)) as usize };
    let matches = indices[..used].iter().map(|&field| {
        let count = if rng.chance(3, 4) { 1 } else { rng.range(2, 3) };
        FieldMatch { field, patterns: (0..count).map(|_| pattern(rng, stops)).collect() }
    });
    Rule { name: number.to_string(), matches: matches.collect(), goal: goal(rng), line: 1 }
}

/// A pattern.
pub fn pattern(rng: &mut Rng, stops: &[u8]) -> Pattern {
    let mut steps: Vec<Step> = Vec::new();
    for _ in 0..rng.below(6) {
        match (rng.below(8), steps.last_mut()) {
            (0, Some(Step::Skip(_))) | (0..=1, _) => steps.push(Step::Until(*rng.choose(stops).expect("a stop byte"))),
            (2, last) => {
                let skip = if rng.chance(1, 16) { rng.range(200, 300) } else { rng.range(1, 5) } as u16;
                match last {
                    Some(Step::Skip(bytes)) => *bytes += skip,
                    _ => steps.push(Step::Skip(skip)),
                }
            }
            (_, last) => {
                let mut word = rng.choose(&WORDS).expect("a word").to_vec();
                if rng.chance(1, 2) {
                    word.insert(0, b'/');
                }
                match last {
                    Some(Step::Text(text)) => text.extend(word),
                    _ => steps.push(Step::Text(word)),
                }
            }
        }
    }
    Pattern { steps, end: rng.chance(1, 4) }
}

/// Bytes that a pattern matches, with more behind them unless it asks for an end.
pub fn matching(rng: &mut Rng, pattern: &Pattern) -> Vec<u8> {
    let mut value = Vec::new();
    for step in &pattern.steps {
        match step {
            Step::Text(text) => value.extend(text),
            Step::Skip(bytes) => value.extend((0..*bytes).map(|_| *rng.choose(b"xyz/:").expect("a byte"))),
            Step::Until(stop) => {
                let most = if rng.chance(1, 8) { 150 } else { 6 };
                value.extend((0..rng.below(most)).map(|_| *rng.choose(b"xyzab").expect("a byte")));
                value.push(*stop);
            }
        }
    }
    if !pattern.end {
        value.extend(&b"more"[..rng.below(4) as usize]);
    }
    value
}

/// Fields of a message of this type: for the most part such as one of its rules matches, or nearly does.
pub fn fields(rng: &mut Rng, message: &MessageType) -> Vec<(u8, Vec<u8>)> {
    let mut fields: Vec<(u8, Vec<u8>)> = Vec::new();
    let wanted = rng.choose(&message.rules).cloned();
    for &(_, index) in &message.fields {
        let meant = wanted.as_ref().and_then(|rule| rule.matches.iter().find(|m| m.field == index));
        let mut value = match meant {
            Some(m) => {
                let pattern = rng.choose(&m.patterns).expect("a pattern").clone();
                matching(rng, &pattern)
            }
            None if rng.chance(1, 3) => continue,
            None => rng.choose(&WORDS).expect("a word").to_vec(),
        };
        if rng.chance(1, 8) {
            let at = rng.index(value.len() + 1);
            match rng.below(3) {
                0 => value.truncate(at),
                1 => value.insert(at, b'/'),
                _ if at < value.len() => value[at] ^= 1,
                _ => {}
            }
        }
        // All of them lie in the view.
        value.truncate(168);
        fields.push((index, value));
    }
    fields
}

/// Fields as they stand on the wire.
pub fn on_the_wire(fields: &[(u8, Vec<u8>)]) -> Vec<u8> {
    fields.iter().flat_map(|(index, value)| [&[*index, value.len() as u8], &value[..]].concat()).collect()
}
