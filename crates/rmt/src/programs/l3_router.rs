//! An IPv4 router: longest prefix, TTL, header checksum, MAC addresses of the next hop.
//!
//! Headers of 20 bytes without options behind Ethernet. What is no such packet, has a wrong checksum,
//! a TTL of 0 or 1, or no route, is dropped.

use crate::action::{Action, Alu, B, Op, When, WordOp, WordSource};
use crate::deparser::{DeparseRow, Deparser, Update};
use crate::parser::{Alternative, Parser, Path, Select, Span};
use crate::phv::{Container, DISCARD, Word, c2, c4, c6};
use crate::program::{Program, Stage};
use crate::stage::{Key, KeySpec, Leads, Left, Order, PIECE_AT, Predicate, Right, Tables, Ternary};
use crate::state::Relation;
use crate::target::DATA;

/// Bytes of Ethernet and IPv4 header.
pub const HEADER_BYTES: usize = 34;

const TTL_AND_PROTOCOL: Container = c2(0);
const DESTINATION: Container = c4(0);
const TO: Container = c6(0);
const FROM: Container = c6(1);
const DROP: u16 = 1;

/// A route.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// Prefix.
    pub prefix: [u8; 4],
    /// Its length in bits.
    pub length: u32,
    /// Destination number to send to.
    pub destination: u8,
    /// MAC address of the next hop.
    pub next_hop: [u8; 6],
    /// MAC address of the router there.
    pub own: [u8; 6],
}

/// The program, on one stage of the target.
pub fn program(stage: usize, routes: &[Route]) -> Program {
    let first = Select {
        offsets: [12, 13, 14, 0, 0, 0, 0, 0],
        alternatives: vec![Alternative {
            value: [0x08, 0x00, 0x45, 0, 0, 0, 0, 0],
            mask: [0xff, 0xff, 0xff, 0, 0, 0, 0, 0],
            least: 0,
            to: 0,
        }],
    };
    let any = Select { alternatives: vec![Alternative::default()], ..Select::default() };
    let mut path = Path { headers: 0b11, least: HEADER_BYTES as u8, ..Path::default() };
    path.verify = Some(Span { start: 14, words: 10 });
    for (container, offset) in [(TO, 0), (FROM, 6), (TTL_AND_PROTOCOL, 22), (DESTINATION, 30)] {
        path.extract[usize::from(container.0)] = Some(offset);
    }
    let mut row = DeparseRow { least: HEADER_BYTES as u8, ..DeparseRow::default() };
    row.put(TO, 0).put(FROM, 6).put(TTL_AND_PROTOCOL, 22);
    row.checksums[0] = Some(Update { start: 14, words: 10, at: 24 });

    let mut stages = vec![None; stage];
    stages.push(Some(route(routes)));
    Program {
        parser: Parser { first, nodes: vec![any], paths: vec![path], port_numbers: false },
        stages,
        deparser: Deparser::single(row),
    }
}

fn route(routes: &[Route]) -> Stage {
    let address = |v: u32| Key::default().with(PIECE_AT[2], 32, v.into());
    // Condition 0: to be dropped, for its checksum or its TTL. It is part of the key, so that such
    // packets match no route.
    let refused = |k: Key| k.with(192, 1, 1);
    let ternary = routes.iter().enumerate().map(|(i, r)| {
        let mask = u32::MAX.checked_shl(32 - r.length.min(32)).unwrap_or(0);
        let mut data = [0; DATA];
        data[..6].copy_from_slice(&r.next_hop);
        data[6..12].copy_from_slice(&r.own);
        data[13] = 1 << r.destination;
        Ternary {
            value: address(u32::from_be_bytes(r.prefix) & mask),
            mask: refused(address(mask)),
            leads: Leads { action: 0, data, number: i as u16 },
        }
    });
    let checksum = Predicate { a: Left::Word(Word::Status as u8), b: Right::Imm(1), mask: 1, relation: Relation::Eq };
    let ttl =
        Predicate { a: Left::Container(TTL_AND_PROTOCOL), b: Right::Imm(0x0100), mask: 0xff00, relation: Relation::Le };
    let discard =
        WordOp { word: Word::Egress as u8, source: WordSource::Imm(DISCARD), mask: DISCARD, when: When::Always };
    Stage {
        key: KeySpec {
            pieces: [0; 6],
            mask: refused(address(u32::MAX)),
            predicates: [Some(checksum), Some(ttl)],
            truth: [0b1110, 0],
        },
        tables: Tables {
            ternary: ternary.collect(),
            order: Order::Longest,
            default: Some(Leads { action: DROP, data: [0; DATA], number: routes.len() as u16 }),
            ..Tables::default()
        },
        actions: vec![forward(), Action { words: vec![discard], ..Action::default() }],
        pages: 0,
    }
}

/// Action data: next hop (6), own address (6), destination mask (2).
fn forward() -> Action {
    let to = WordOp { word: Word::Egress as u8, source: WordSource::Data, mask: 0xff, when: When::Always };
    let mut action = Action {
        alus: vec![
            Alu::whole(TO, Op::Move, B::DataA),
            Alu::whole(FROM, Op::Move, B::DataB),
            Alu::field(TTL_AND_PROTOCOL, Op::Sub, B::Imm(0x0100), 0xff00),
        ],
        words: vec![to],
        ..Action::default()
    };
    action.picks[2].data = [0, 3];
    action.picks[0].data = [6, 0];
    action
}
