//! The messages of the published figures.

use crate::message::{Field, encode};
use crate::rules::{Application, FieldMatch, Goal, Kind, MessageType, Pattern, Rule, Rules, Step};

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
    encode(&[Field { index: 1, value }])
}
