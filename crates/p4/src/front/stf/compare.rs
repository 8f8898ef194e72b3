//! What was expected, and what came.

use super::command::Pattern;
use std::collections::BTreeMap;

/// What went otherwise than the script says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Line of the script, from 1; 0 if none says anything of it.
    pub line: usize,
    /// In words.
    pub what: String,
}

/// What a script expects of each port.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    ports: BTreeMap<u16, Port>,
}

#[derive(Clone, Debug, Default)]
struct Port {
    /// In order, with their lines.
    patterns: Vec<(usize, Pattern)>,
    /// Any number of packets may come.
    any: bool,
}

impl Expected {
    pub fn add(&mut self, port: u16, pattern: Option<Pattern>, line: usize) {
        let port = self.ports.entry(port).or_default();
        match pattern {
            Some(pattern) => port.patterns.push((line, pattern)),
            None => port.any = true,
        }
    }

    /// Compares with the packets of each port, in the order in which they left; each with the line that sent it in.
    pub fn compare(&self, sent: &BTreeMap<u16, Vec<(usize, Vec<u8>)>>) -> Vec<Failure> {
        let mut failures = Vec::new();
        for (number, port) in &self.ports {
            let came = sent.get(number).map_or(&[][..], Vec::as_slice);
            for (at, (line, pattern)) in port.patterns.iter().enumerate() {
                let what = match came.get(at) {
                    None => format!("port {number}: no packet, expected {}", pattern.text()),
                    Some((_, bytes)) if !pattern.holds(bytes) => {
                        format!("port {number}: packet {}, expected {}", hex(bytes), pattern.text())
                    }
                    Some(_) => continue,
                };
                failures.push(Failure { line: *line, what });
            }
        }
        for (number, came) in sent {
            let port = self.ports.get(number);
            let expected = port.map_or(0, |port| port.patterns.len());
            if port.is_some_and(|port| port.any) {
                continue;
            }
            for (line, bytes) in came.iter().skip(expected) {
                let what = format!("port {number}: packet {}, which nobody expects", hex(bytes));
                failures.push(Failure { line: *line, what });
            }
        }
        failures.sort_by_key(|failure| failure.line);
        failures
    }
}

impl Pattern {
    /// Whether a packet is as the pattern says, or begins like that.
    fn holds(&self, bytes: &[u8]) -> bool {
        let digits = 2 * bytes.len();
        let digit = |at: usize| if at.is_multiple_of(2) { bytes[at / 2] >> 4 } else { bytes[at / 2] & 15 };
        let enough = digits >= self.digits.len() && !(self.whole && digits > self.digits.len());
        enough && self.digits.iter().enumerate().all(|(at, wanted)| wanted.is_none_or(|wanted| wanted == digit(at)))
    }

    fn text(&self) -> String {
        let digits = self.digits.iter().map(|digit| match digit {
            Some(digit) => char::from_digit(u32::from(*digit), 16).unwrap_or('?'),
            None => '*',
        });
        let mut text: String = digits.collect();
        if self.whole {
            text.push('$');
        }
        text
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
