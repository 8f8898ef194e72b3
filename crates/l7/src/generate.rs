//! Random rules and messages that often meet them, for tests and benches of everything that dispatches.

use crate::rules::{Application, FieldMatch, Goal, Group, Kind, MessageType, Pattern, Rule, Rules, Step};
use crate::tables::Tables;
use sluice_formats::l7::rows::{L7PortRow, L7TargetPart};
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

/// The published set-up (figures 4.16 and 4.17): rules whose field has a stop byte and is matched behind it in `compares` pieces of 4 bytes, one
/// byte apart, the last of which is another one for each rule. Rule n sends to queue n.
pub fn ping_pong(compares: usize, rules: u8) -> Rules {
    let rule = |number: u8| {
        let mut steps = vec![Step::Until(b'/')];
        for piece in ping_pong_pieces(compares, number) {
            steps.extend([Step::Text(piece), Step::Skip(1)]);
        }
        steps.pop();
        let matches = vec![FieldMatch { field: 1, patterns: vec![Pattern { steps, end: false }] }];
        Rule { name: number.to_string(), matches, goal: Goal::Queue(number), line: 1 }
    };
    let fields = vec![("field".into(), 1)];
    let message = MessageType { name: "ping".into(), number: 0, fields, rules: (0..rules).map(rule).collect() };
    let application = Application {
        name: "ping_pong".into(),
        port: 9000,
        kind: Kind::Application(1),
        stops: vec![b'/'],
        default: Goal::Drop,
        discard_while_updating: false,
        expiry_ns: None,
        types: vec![message],
        line: 1,
    };
    Rules { applications: vec![application], groups: vec![] }
}

fn ping_pong_pieces(compares: usize, number: u8) -> Vec<Vec<u8>> {
    let common = (1..compares).map(|n| format!("p{n:03}").into_bytes());
    common.chain([format!("r{number:03}").into_bytes()]).collect()
}

/// Payload of a message for a rule of [`ping_pong`]; 48 compares take 246 bytes.
pub fn ping_pong_payload(compares: usize, number: u8) -> Vec<u8> {
    let value = [&b"host/"[..], &ping_pong_pieces(compares, number).join(&b'-')].concat();
    on_the_wire(&[(1, value)])
}

/// Changes tables at random in so many places: rows of others, targets that are none, loops.
pub fn break_tables(rng: &mut Rng, tables: &mut Tables, ports: &mut [L7PortRow], places: u64) {
    for _ in 0..places {
        let logs = if rng.chance(1, 4) { 16 } else { 3 };
        let target = L7TargetPart {
            kind: rng.below(8) as u8,
            number: rng.below(tables.rows.len() as u64 + 4) as u16,
            log: rng.below(logs) as u8,
            turn: rng.below(32) as u8,
            length: rng.below(16) as u8,
        };
        let at = rng.index(tables.rows.len().max(1));
        let choice = rng.below(10);
        if let Some(row) = tables.rows.get_mut(at) {
            let alternative = &mut row.alternatives[rng.index(4)];
            match choice {
                0 => row.module_id = rng.below(64) as u8,
                1 => row.length = rng.below(16) as u8,
                2 => row.miss = target,
                3 => row.step.stop = rng.below(4) as u8,
                4 => row.step.field = rng.below(16) as u8,
                5 => (alternative.valid, alternative.always) = (true, rng.chance(1, 2)),
                6 => alternative.ends = !alternative.ends,
                _ => alternative.target = target,
            }
        }
        if choice == 7 {
            let at = rng.index(tables.starts.len());
            tables.starts[at].target = target;
        }
        if choice == 8 {
            let at = rng.index(tables.groups.len());
            tables.groups[at].module_id ^= rng.below(2) as u8;
        }
        if choice == 9 {
            let at = rng.index(ports.len());
            match rng.below(3) {
                0 => ports[at].otherwise = target,
                1 => ports[at].types = rng.below(512) as u16,
                _ => ports[at].stop_count = rng.below(4) as u8,
            }
        }
    }
}
