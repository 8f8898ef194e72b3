//! IPv4 in IPv4: packets into the tunnel get an outer header, packets out of it lose theirs.
//!
//! A packet to an address of the table (`into`) gets 20 bytes in front of its IPv4 header, with the
//! tunnel's end as destination and a checksum of its own. A packet of protocol 4 to this end loses its
//! outer header. Both go to the destination of their entry; other packets are dropped.

use crate::action::{A, Action, Alu, B, Op, When, WordOp, WordSource};
use crate::deparser::{DeparseRow, Deparser, Pattern, Update};
use crate::parser::{Alternative, Parser, Path, Select, Span};
use crate::phv::{Container, DISCARD, Word, c2, c4};
use crate::program::{Program, Stage};
use crate::stage::{Exact, Key, KeySpec, Leads, PIECE_AT, Tables};
use crate::target::DATA;

/// Bytes of the header that is added or removed.
pub const OUTER_BYTES: usize = 20;

const ETHERNET: u16 = 1;
const OUTER: u16 = 2;
const INNER: u16 = 4;

const DESTINATION: Container = c4(0);
const INNER_LENGTH: Container = c2(0);
/// The outer header, word by word.
const VERSION: Container = c2(1);
const LENGTH: Container = c2(2);
const IDENTIFICATION: Container = c4(1);
const TTL_AND_PROTOCOL: Container = c2(3);
const CHECKSUM: Container = c2(4);
const FROM: Container = c4(2);
const TO: Container = c4(3);

const PLAIN_PATH: u16 = 0;
const TUNNEL_PATH: u16 = 1;

/// Addresses that are reached through the tunnel, or this end of it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Destination address of the packet as it comes.
    pub address: [u8; 4],
    /// Destination number to send to.
    pub destination: u8,
}

/// The two ends of the tunnel.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// This one.
    pub here: [u8; 4],
    /// The other one.
    pub there: [u8; 4],
}

/// The program, on one stage of the target.
pub fn program(stage: usize, ends: Ends, into: &[Entry], out_to: u8) -> Program {
    let ipv4 = Alternative {
        value: [0x08, 0x00, 0x45, 0, 0, 0, 0, 0],
        mask: [0xff, 0xff, 0xff, 0, 0, 0, 0, 0],
        least: 0,
        to: 0,
    };
    // Protocol and the inner header's first byte decide between the paths.
    let in_ip =
        Alternative { value: [4, 0x45, 0, 0, 0, 0, 0, 0], mask: [0xff, 0xff, 0, 0, 0, 0, 0, 0], least: 0, to: 1 };
    let node = Select { offsets: [23, 34, 0, 0, 0, 0, 0, 0], alternatives: vec![in_ip, Alternative::default()] };
    let path = |headers, least| {
        let verify = Some(Span { start: 14, words: 10 });
        let mut path = Path { headers, least, verify, ..Path::default() };
        path.extract[usize::from(DESTINATION.0)] = Some(30);
        path.extract[usize::from(INNER_LENGTH.0)] = Some(16);
        path
    };
    let mut stages = vec![None; stage];
    stages.push(Some(tunnel(ends, into, out_to)));
    Program {
        parser: Parser {
            first: Select { offsets: [12, 13, 14, 0, 0, 0, 0, 0], alternatives: vec![ipv4] },
            nodes: vec![node],
            paths: vec![path(ETHERNET | INNER, 34), path(ETHERNET | OUTER | INNER, 54)],
            port_numbers: false,
        },
        stages,
        deparser: deparser(),
    }
}

fn deparser() -> Deparser {
    let mut add = DeparseRow { delta: OUTER_BYTES as i8, split: 14, least: 54, ..DeparseRow::default() };
    add.put(VERSION, 14).put(LENGTH, 16).put(IDENTIFICATION, 18).put(TTL_AND_PROTOCOL, 22);
    add.put(CHECKSUM, 24).put(FROM, 26).put(TO, 30);
    add.checksums[0] = Some(Update { start: 14, words: 10, at: 24 });
    let remove = DeparseRow { delta: -(OUTER_BYTES as i8), split: 14, least: 34, ..DeparseRow::default() };
    let pattern =
        |path: u16, headers: u16, row| Pattern { value: u32::from(path) | u32::from(headers) << 4, mask: 0xfffff, row };
    Deparser {
        patterns: vec![pattern(PLAIN_PATH, ETHERNET | OUTER | INNER, 0), pattern(TUNNEL_PATH, ETHERNET | INNER, 1)],
        rows: vec![add, remove],
    }
}

fn tunnel(ends: Ends, into: &[Entry], out_to: u8) -> Stage {
    let address = |a: [u8; 4]| Key::default().with(PIECE_AT[2], 32, u32::from_be_bytes(a).into());
    let data = |destination: u8| {
        let mut data = [0; DATA];
        data[..4].copy_from_slice(&ends.here);
        data[4..8].copy_from_slice(&ends.there);
        data[9] = 1 << destination;
        data
    };
    let mut exact: Vec<Exact> = Vec::new();
    for (i, e) in into.iter().enumerate() {
        let leads = Leads { action: 0, data: data(e.destination), number: i as u16 };
        exact.push(Exact { key: address(e.address), leads });
    }
    let leads = Leads { action: 1, data: data(out_to), number: into.len() as u16 };
    exact.push(Exact { key: address(ends.here), leads });
    let discard = word(Word::Egress, WordSource::Imm(DISCARD), DISCARD);
    Stage {
        key: KeySpec { mask: address([0xff; 4]), ..KeySpec::default() },
        tables: Tables {
            exact,
            default: Some(Leads { action: 2, data: [0; DATA], number: into.len() as u16 + 1 }),
            ..Tables::default()
        },
        actions: vec![encapsulate(), decapsulate(), Action { words: vec![discard], ..Action::default() }],
        pages: 0,
    }
}

fn word(word: Word, source: WordSource, mask: u16) -> WordOp {
    WordOp { word: word as u8, source, mask, when: When::Always }
}

/// Action data: this end (4), the other end (4), destination mask (2).
fn encapsulate() -> Action {
    let set = |c: Container, v: u64| Alu::whole(c, Op::Move, B::Imm(v));
    let mut action = Action {
        alus: vec![
            set(VERSION, 0x4500),
            Alu { a: A::P0, ..Alu::whole(LENGTH, Op::Add, B::Imm(OUTER_BYTES as u64)) },
            set(IDENTIFICATION, 0x0000_4000),
            set(TTL_AND_PROTOCOL, 64 << 8 | 4),
            Alu::whole(FROM, Op::Move, B::DataA),
            Alu::whole(TO, Op::Move, B::DataB),
        ],
        words: vec![word(Word::Egress, WordSource::Data, 0xff), word(Word::Headers, WordSource::Imm(OUTER), OUTER)],
        ..Action::default()
    };
    action.picks[0].container = [0, 0, 0];
    action.picks[0].data = [4, 0];
    action.picks[1].data = [0, 2];
    action
}

fn decapsulate() -> Action {
    let mut action = Action {
        words: vec![word(Word::Egress, WordSource::Data, 0xff), word(Word::Headers, WordSource::Imm(0), OUTER)],
        ..Action::default()
    };
    action.picks[0].data = [4, 0];
    action
}
