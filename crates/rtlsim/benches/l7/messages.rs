//! Rules and messages that are measured: so many compares, alternatives and bytes, as the published ping-pong has them.

use sluice_formats::l7::qnp::{HEADER_BYTES, Header};
use sluice_formats::l7::target::Target;
use sluice_l7::compile::{Options, compile};
use sluice_l7::message::{Addresses, Field, encode, frame};
use sluice_l7::placed::Placed;
use sluice_l7::rules::{Rules, read};
use std::fmt::Write;

/// Queues that rules lead to, one after the other.
const QUEUES: usize = 250;

/// One tenant's rules: `compares` texts of `length` bytes with a byte between, of which the last one chooses a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Compares of a message.
    pub compares: usize,
    /// Rules, which differ in the last text.
    pub rules: usize,
    /// Bytes of a text.
    pub length: usize,
    /// A stop byte is searched first.
    pub until: bool,
    /// UDP port.
    pub port: u16,
    /// Queue of the first rule.
    pub queue: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { compares: 1, rules: 32, length: 4, until: true, port: 9000, queue: 0 }
    }
}

/// What fills a message up to its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The field that the rules look at.
    Field,
    /// Another one.
    Other,
    /// Another one, and `seg_cnt` says how many segments the first one takes.
    Counted,
}

/// A number as so many letters, 32 of them.
fn letters(mut number: usize, length: usize) -> String {
    let mut text = vec![b'k'; length];
    for letter in text.iter_mut().rev() {
        let digit = (number % 32) as u8;
        *letter = if digit < 26 { b'a' + digit } else { b'A' + digit - 26 };
        number /= 32;
    }
    assert_eq!(number, 0, "so many numbers do not fit into {length} letters");
    String::from_utf8(text).expect("letters are UTF-8")
}

impl Shape {
    fn texts(self, rule: usize) -> Vec<String> {
        let common = (1..self.compares).map(|n| letters(n % 32, self.length));
        common.chain([letters(rule, self.length)]).collect()
    }

    fn rules(self) -> Rules {
        let mut text = format!("application measured {{\n port {}\n id 1\n", self.port);
        text += if self.until { " stop \"/\"\n" } else { "" };
        text += " default drop\n message ping = 0 {\n field route = 1\n";
        for rule in 0..self.rules {
            let until = if self.until { "*/" } else { "" };
            let texts = self.texts(rule).join(".");
            writeln!(text, " rule r{rule}: route ~ \"{until}{texts}\" -> queue {}", self.queue_of(rule))
                .expect("text grows");
        }
        text += " }\n}\n";
        read("measured.l7", &text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    /// A frame of a message for a rule, filled up to a length that it has not.
    pub fn frame(self, message: u32, rule: usize, length: usize, fill: Fill) -> Vec<u8> {
        let start = if self.until { "host/" } else { "" };
        let mut value = format!("{start}{}", self.texts(rule).join("-")).into_bytes();
        if fill == Fill::Field {
            value.resize(value.len().max(length - HEADER_BYTES - 2), b'z');
        }
        let mut part = encode(&[Field { index: 1, value }]);
        let segments = part.len().div_ceil(64);
        if HEADER_BYTES + part.len() < length {
            // Another field, which the engine does not look at.
            part.push(200);
            part.resize(length - HEADER_BYTES, 0x55);
        }
        let header = Header {
            app_id: 1,
            msg_id: message,
            msg_len_in_pkts: 1,
            seg_cnt: if fill == Fill::Counted { segments as u8 } else { 0 },
            ..Header::default()
        };
        frame(&Addresses::to_port(self.port), header, &part)
    }

    /// Queue of a rule.
    pub fn queue_of(self, rule: usize) -> u8 {
        ((self.queue + rule) % QUEUES) as u8
    }
}

/// Most steps of a message of such rules.
pub fn steps(target: &Target, shape: Shape) -> u32 {
    let options = Options { shape: target.match_shape(), ..Options::default() };
    compile(&shape.rules(), &options).expect("it has room").applications[0].steps
}

/// The programs of modules 1, 2, ... in an engine's tables, or why there is no room for them.
pub fn placed(target: &'static Target, shapes: &[Shape]) -> Result<Placed, String> {
    let mut placed = Placed::new(target);
    for (module, shape) in (1..).zip(shapes) {
        let rules = shape.rules();
        let program =
            compile(&rules, &Options { rows: placed.room(), shape: placed.tables.shape }).map_err(|e| e.to_string())?;
        placed.add(module, &program, &rules).map_err(|e| e.to_string())?;
    }
    Ok(placed)
}
