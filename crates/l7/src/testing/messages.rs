//! Random messages for rules: many match, many nearly do.

use crate::message::{Addresses, Field, frame, raw_frame, segments};
use crate::rules::{Application, Kind, Pattern, Rules, Step};
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::target::{FIELDS, SEGMENT_BYTES};
use sluice_formats::random::Rng;

/// A value that a pattern matches, up to a mutation in one of four.
pub fn value_for(rng: &mut Rng, pattern: &Pattern, most: usize) -> Vec<u8> {
    let mut value = Vec::new();
    for step in &pattern.steps {
        match step {
            Step::Text(text) => value.extend(text),
            Step::Skip(count) => value.extend((0..*count).map(|_| filler(rng))),
            Step::Until(stop) => {
                let other = |byte: u8| if byte == *stop { b'x' } else { byte };
                value.extend((0..rng.below(5)).map(|_| other(filler(rng))).collect::<Vec<_>>());
                value.push(*stop);
            }
        }
    }
    if !pattern.end || rng.chance(1, 8) {
        value.extend((0..rng.below(6)).map(|_| filler(rng)).collect::<Vec<_>>());
    }
    if rng.chance(1, 4) && !value.is_empty() {
        let at = rng.index(value.len());
        match rng.below(3) {
            0 => value.truncate(at),
            1 => value[at] = filler(rng),
            _ => drop(value.remove(at)),
        }
    }
    value.truncate(most);
    value
}

fn filler(rng: &mut Rng) -> u8 {
    *rng.choose(b"ab/:.*{\0\xc3\xff").unwrap_or(&0)
}

/// Dispatch fields of a message of this type, by rising index.
pub fn field_values(rng: &mut Rng, application: &Application, msg_type: u8) -> Vec<Field> {
    let message = application.types.iter().find(|t| t.number == msg_type);
    let rules = message.map_or(&[][..], |t| &t.rules);
    let rule = rng.choose(rules);
    let mut fields = Vec::new();
    for index in 1..=FIELDS as u8 {
        let named = message.is_some_and(|t| t.fields.iter().any(|(_, i)| *i == index));
        if !rng.chance(if named { 15 } else { 1 }, 16) {
            continue;
        }
        // Mostly of one rule, so that all of its fields match together.
        let of = |rule: &&crate::rules::Rule| rule.matches.iter().any(|m| m.field == index);
        let others: Vec<_> = rules.iter().filter(of).collect();
        let from = if rng.chance(3, 4) { rule.filter(of) } else { None }.or_else(|| rng.choose(&others).copied());
        let patterns = from.and_then(|rule| rule.matches.iter().find(|m| m.field == index)).map(|m| &m.patterns);
        let value = match patterns.and_then(|patterns| rng.choose(patterns)) {
            Some(pattern) => value_for(rng, pattern, 255),
            None => (0..rng.below(10)).map(|_| filler(rng)).collect(),
        };
        fields.push(Field { index, value });
    }
    fields
}

/// The packets of a message to one of the applications, its fields in front and other bytes behind; of an endpoint and a raw
/// application one packet.
pub fn frames(rng: &mut Rng, rules: &Rules, header: Header) -> Vec<Vec<u8>> {
    let Some(application) = rng.choose(&rules.applications) else { return Vec::new() };
    let addresses = Addresses::to_port(application.port);
    match application.kind {
        Kind::Endpoint => {
            let header = Header { msg_len_in_pkts: 1, pkt_flag: rng.below(2) as u8, ..header };
            vec![frame(&addresses, header, &rng.bytes(20))]
        }
        Kind::Raw => {
            let patterns: Vec<_> =
                application.types.iter().flat_map(|t| &t.rules).flat_map(|r| &r.matches[0].patterns).collect();
            let mut payload = match rng.choose(&patterns) {
                Some(pattern) => value_for(rng, pattern, 512),
                None => rng.bytes(9),
            };
            if rng.chance(1, 8) {
                payload.resize(rng.range(505, 520) as usize, b'a');
            }
            vec![raw_frame(&addresses, &payload)]
        }
        Kind::Application(app_id) => {
            let listed = rng.choose(&application.types).map(|t| t.number).filter(|_| rng.chance(15, 16));
            let msg_type = listed.unwrap_or_else(|| rng.next_u64() as u8);
            let mut fields = field_values(rng, application, msg_type);
            // What does not fit the view is left out from the back.
            while fields.iter().map(|field| 2 + field.value.len()).sum::<usize>() > 512 {
                fields.pop();
            }
            if rng.chance(1, 2) {
                let bytes = rng.below(300) as usize;
                fields.push(Field { index: rng.range(16, 255) as u8, value: rng.bytes(bytes) });
            }
            let chunk = if rng.chance(1, 2) { 512 } else { 1024 + SEGMENT_BYTES };
            segments(&addresses, Header { app_id, msg_type, ..header }, &fields, chunk).unwrap_or_default()
        }
    }
}
