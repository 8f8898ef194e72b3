//! CALC: answers a packet with the result of the operation that it asks for.
//!
//! Ethernet, type 0x1234, then `'P' '4' version op a(4) b(4) result(4)`. The result goes where it
//! stands in the packet, the MAC addresses change places and the packet goes back to its port.

use crate::action::{Action, Alu, B, Op, When, WordOp, WordSource};
use crate::deparser::{DeparseRow, Deparser};
use crate::parser::{Alternative, Parser, Path, Select};
use crate::phv::{Container, DISCARD, Word, c2, c4, c6};
use crate::program::{Program, Stage};
use crate::stage::{Exact, Key, KeySpec, Leads, Tables};
use crate::target::DATA;

/// Bytes of Ethernet and CALC header.
pub const HEADER_BYTES: usize = 30;

const OPERATION: Container = c2(0);
const A: Container = c4(0);
const B_OPERAND: Container = c4(1);
const RESULT: Container = c4(2);
const TO: Container = c6(0);
const FROM: Container = c6(1);

/// CALC's operations: the byte that asks for it, and what the ALU does.
const OPERATIONS: [(u8, Op); 5] = [(b'+', Op::Add), (b'-', Op::Sub), (b'&', Op::And), (b'|', Op::Or), (b'^', Op::Xor)];

/// The program, on one stage of the target.
pub fn program(stage: usize) -> Program {
    let first = Select {
        offsets: [12, 13, 14, 15, 16, 0, 0, 0],
        alternatives: vec![Alternative {
            value: [0x12, 0x34, b'P', b'4', 1, 0, 0, 0],
            mask: [0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0],
            least: 0,
            to: 0,
        }],
    };
    let any = Select { alternatives: vec![Alternative::default()], ..Select::default() };
    let mut path = Path { headers: 0b11, least: HEADER_BYTES as u8, ..Path::default() };
    for (container, offset) in [(TO, 0), (FROM, 6), (OPERATION, 16), (A, 18), (B_OPERAND, 22)] {
        path.extract[usize::from(container.0)] = Some(offset);
    }
    let mut row = DeparseRow { least: HEADER_BYTES as u8, ..DeparseRow::default() };
    row.put(TO, 0).put(FROM, 6).put(RESULT, 26);

    let mut stages = vec![None; stage];
    stages.push(Some(calculate()));
    Program {
        parser: Parser { first, nodes: vec![any], paths: vec![path], port_numbers: false },
        stages,
        deparser: Deparser::single(row),
    }
}

fn calculate() -> Stage {
    // The operation is the lower byte of its container, below the version.
    let key = |op: u8| Key::default().with(0, 8, op.into());
    let exact = OPERATIONS.iter().enumerate().map(|(i, &(byte, _))| Exact {
        key: key(byte),
        leads: Leads { action: i as u16, data: [0; DATA], number: i as u16 },
    });
    let mut actions: Vec<Action> = OPERATIONS.iter().map(|&(_, op)| answer(op)).collect();
    let default = Some(Leads { action: actions.len() as u16, data: [0; DATA], number: actions.len() as u16 });
    let discard = word(Word::Egress, WordSource::Imm(DISCARD), DISCARD);
    actions.push(Action { words: vec![discard], ..Action::default() });
    Stage {
        key: KeySpec { pieces: [OPERATION.0, 0, 0, 0, 0, 0], mask: key(0xff), ..KeySpec::default() },
        tables: Tables { exact: exact.collect(), default, ..Tables::default() },
        actions,
        pages: 0,
    }
}

fn word(word: Word, source: WordSource, mask: u16) -> WordOp {
    WordOp { word: word as u8, source, mask, when: When::Always }
}

/// Result, exchanged addresses, back to port 0.
fn answer(op: Op) -> Action {
    let mut action = Action {
        alus: vec![
            Alu { a: crate::action::A::P0, ..Alu::whole(RESULT, op, B::P1) },
            Alu::whole(TO, Op::Move, B::P1),
            Alu::whole(FROM, Op::Move, B::P0),
        ],
        words: vec![word(Word::Egress, WordSource::Imm(1), 0xff)],
        ..Action::default()
    };
    action.picks[1].container = [0, 1, 0];
    action.picks[2].container = [0, 1, 0];
    action
}
