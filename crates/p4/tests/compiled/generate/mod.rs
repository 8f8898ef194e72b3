//! Random programs for v1model, their entries and packets steered at them. Nothing here looks at what a program should do: it has to
//! be well typed, and of a size that the pipeline may hold.

mod blocks;
#[allow(dead_code, reason = "each test that includes this makes programs of some kinds")]
mod chained;
mod clones;
mod entries;
mod expressions;
mod guarded;
mod headers;
mod packets;
mod parser;
mod shrink;
mod state;
mod statements;
mod tables;
mod whole;

#[allow(unused_imports, reason = "each test that includes this makes programs of some kinds")]
pub use chained::{Chained, chained, chained_packet};
pub use guarded::{guarded, guarded_packet};
pub use shrink::shrunk;

use entries::Table;
use headers::Header;
use packets::Packets;
use sluice_formats::random::Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Targets that a program may be made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Three stages with few rows each.
    #[allow(dead_code, reason = "each test that includes this makes programs of some sizes")]
    Tiny,
    #[allow(dead_code, reason = "each test that includes this makes programs of some sizes")]
    Default,
    #[allow(dead_code, reason = "each test that includes this makes programs of some sizes")]
    Wide,
}

impl Size {
    /// Statements of ingress.
    fn statements(self) -> u64 {
        match self {
            Size::Tiny => 2,
            Size::Default => 3,
            Size::Wide => 7,
        }
    }
}

/// A program with what is sent through it.
pub struct Sample {
    pub program: String,
    /// Entries, as a script adds them.
    pub entries: String,
    /// Constructs in it.
    pub reached: BTreeSet<&'static str>,
    /// Ports that it has to do with.
    pub ports: [u16; 8],
    packets: Packets,
}

impl Sample {
    /// A packet with its port.
    pub fn arrival(&self, rng: &mut Rng) -> (u16, Vec<u8>) {
        (self.ports[rng.index(8)], self.packet(rng))
    }

    /// The bytes of a packet.
    pub fn packet(&self, rng: &mut Rng) -> Vec<u8> {
        self.packets.packet(rng)
    }
}

/// Something with bits that a program can read.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub text: String,
    pub width: u32,
    /// Whether it can be written to.
    pub is_variable: bool,
}

/// A program while it is made.
pub struct Maker<'r> {
    rng: &'r mut Rng,
    reached: BTreeSet<&'static str>,
    headers: Vec<Header>,
    /// What can be read where statements are being made.
    places: Vec<Place>,
    /// What was written last in the control: it is looked at again more often.
    recent: Vec<Place>,
    /// Values that the program compares with, by width: packets have them, too.
    known: BTreeMap<u32, Vec<u128>>,
    /// Tables and actions of the control that is being made.
    declarations: Vec<String>,
    /// Statements.
    lines: Vec<String>,
    tables: Vec<Table>,
    kept: Vec<state::Kept>,
    /// The control that is being made.
    control: &'static str,
    /// Statements that may still be made in it.
    budget: u32,
    names: u32,
    /// Whether the port may be written here.
    has_port: bool,
    ports: [u16; 8],
    functions: Vec<blocks::Callee>,
    /// Widths of the arguments of the control `Plain`, if there is one.
    plain_widths: Option<[u32; 3]>,
    /// What takes headers as arguments.
    whole: Option<whole::Whole>,
    clones: Option<clones::Clones>,
    /// Whether what is made may look at the clock: on the RTL it is another one.
    has_time: bool,
    /// Whether the control within ingress has all headers twice.
    sub_has_old: bool,
    /// Parsers within the parser, and their instances.
    parsers: (String, String),
    /// Whether a checksum is verified.
    has_verified: bool,
}

/// Makes a program of a size.
pub fn sample(rng: &mut Rng, size: Size) -> Sample {
    let ports = ports(rng);
    let mut maker = Maker {
        rng,
        reached: BTreeSet::new(),
        headers: Vec::new(),
        places: Vec::new(),
        recent: Vec::new(),
        known: BTreeMap::new(),
        declarations: Vec::new(),
        lines: Vec::new(),
        tables: Vec::new(),
        kept: Vec::new(),
        control: "",
        budget: 0,
        names: 0,
        has_port: false,
        ports,
        functions: Vec::new(),
        plain_widths: None,
        whole: None,
        clones: None,
        has_time: size != Size::Tiny,
        sub_has_old: false,
        parsers: Default::default(),
        has_verified: false,
    };
    if maker.ports[7] > 7 {
        maker.mark("ports: others than the pipeline's");
    }
    if size != Size::Tiny {
        maker.clones();
    }
    maker.headers = headers::headers(&mut maker);
    maker.metadata();
    let (parser, states) = maker.parser();
    let verify = maker.verified();
    let functions = maker.functions();
    let plain = maker.plain_control();
    let wholes = maker.wholes();
    let sub = maker.sub_control();
    let ingress = maker.ingress(sub.is_some(), size.statements());
    let egress = maker.egress();
    let sums = maker.sums();
    let deparser = maker.deparser();
    let mut program = "#include <core.p4>\n#include <v1model.p4>\n\n".to_string();
    program += &headers::text(&maker.headers);
    program += headers::METADATA;
    program += "error { Odd }\n";
    program += statements::FUNCTION;
    program += &functions;
    program += &plain;
    program += &wholes;
    program += &parser;
    program += &verify;
    program += &sub.unwrap_or_default();
    program += &ingress;
    program += &egress;
    program += &sums;
    program += &deparser;
    program += "V1Switch(Parse(), Verify(), Enter(), Leave(), Update(), Deparse()) main;\n";
    let entries = maker.entries();
    let packets = Packets { headers: maker.headers, states, known: maker.known };
    Sample { program, entries, reached: maker.reached, ports, packets }
}

impl Maker<'_> {
    fn mark(&mut self, what: &'static str) {
        self.reached.insert(what);
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.rng.chance(1, one_in)
    }

    fn name(&mut self, kind: &str) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    fn line(&mut self, depth: usize, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}\n", "    ".repeat(depth), text.as_ref()));
    }

    /// A port that packets themselves leave by.
    fn any_port(&mut self) -> u16 {
        let count = if self.clones.is_some() { clones::ORIGINALS } else { 8 };
        self.ports[self.rng.index(count)]
    }

    /// A value of so many bits, and packets with it.
    fn known_value(&mut self, width: u32) -> u128 {
        let all = self.known.entry(width).or_default();
        if !all.is_empty() && self.rng.chance(1, 4) {
            return all[self.rng.index(all.len())];
        }
        let is_port = width == 9 && self.rng.chance(1, 2);
        let value = if is_port { self.ports[self.rng.index(8)].into() } else { number(self.rng, width) };
        all.push(value);
        value
    }
}

/// Those of the pipeline, or others. 0 is that of packets whose port nobody writes.
fn ports(rng: &mut Rng) -> [u16; 8] {
    let mut ports = std::array::from_fn(|at| at as u16);
    if rng.chance(1, 4) {
        // Some of them may keep their numbers.
        let first = 1 + rng.index(7);
        for at in first..8 {
            while ports[..at].contains(&ports[at]) || ports[at] < 8 {
                ports[at] = rng.below(511) as u16;
            }
        }
    }
    ports
}

/// A number of so many bits, small ones and those near the largest more often.
pub fn number(rng: &mut Rng, width: u32) -> u128 {
    let most = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
    let wide = (u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64())) & most;
    match rng.below(6) {
        0 => u128::from(rng.below(5)) & most,
        1 => most - (u128::from(rng.below(3)) & most),
        2 => 1 << rng.below(u64::from(width.min(128))),
        _ => wide,
    }
}
