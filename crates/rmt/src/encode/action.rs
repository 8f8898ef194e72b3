//! Action rows.

use super::codes::{code_of, decode_when, encode_when, of_code};
use super::{known, state, unused};
use crate::action::{A, Action, Alu, B, Cross, Op, Picks, WordOp, WordSource};
use crate::check::{Checked, Problem};
use crate::phv::{CONTAINERS, Class, Container};
use sluice_formats::rmt::codes::{self, AluA, AluB, AluOp};
use sluice_formats::rmt::rows::{ActionRow, AluPart, Class2Part, Class4Part, Class6Part, WordPart};

const OPS: [(Op, u8); 9] = [
    (Op::Add, AluOp::Add.code()),
    (Op::Sub, AluOp::Sub.code()),
    (Op::And, AluOp::And.code()),
    (Op::Or, AluOp::Or.code()),
    (Op::Xor, AluOp::Xor.code()),
    (Op::Move, AluOp::Move.code()),
    (Op::AndNot, AluOp::AndNot.code()),
    (Op::Ge, AluOp::Ge.code()),
    (Op::Lt, AluOp::Lt.code()),
];
const A_SOURCES: [(A, u8); 4] =
    [(A::Own, AluA::Own.code()), (A::P0, AluA::P0.code()), (A::P1, AluA::P1.code()), (A::X, AluA::X.code())];
const B_SOURCES: [(B, u8); 7] = [
    (B::Imm(0), AluB::Immediate.code()),
    (B::DataA, AluB::DataA.code()),
    (B::DataB, AluB::DataB.code()),
    (B::P0, AluB::P0.code()),
    (B::P1, AluB::P1.code()),
    (B::R, AluB::R.code()),
    (B::X, AluB::X.code()),
];
const WORD_SOURCES: [(WordSource, u8); 4] = [
    (WordSource::Imm(0), codes::WordSource::Immediate.code()),
    (WordSource::Data, codes::WordSource::DataA.code()),
    (WordSource::P0, codes::WordSource::P0.code()),
    (WordSource::X, codes::WordSource::X.code()),
];
/// First metadata word that an action may write.
const FIRST_WORD: u8 = 9;

const CROSS_WORDS: u8 = codes::Cross::Words.code();
const CROSS_HASH: u8 = codes::Cross::Hash.code();
const CROSS_NUMBER: u8 = codes::Cross::Number.code();
const CROSS_NONE: u8 = codes::Cross::Zero.code();

pub(super) fn encode(action: &Action) -> ActionRow {
    let [p2, p4, p6] = action.picks;
    let (pick, data, amount) = (p2.container, p2.data, p2.amount);
    let class2 = Class2Part { pick, data, amount, rotate_mask: p2.rotate_mask as u16 };
    let (pick, data, amount) = (p4.container, p4.data, p4.amount);
    let class4 = Class4Part { pick, data, amount, rotate_mask: p4.rotate_mask as u32 };
    let (pick, data, amount) = (p6.container, p6.data, p6.amount);
    let class6 = Class6Part { pick, data, amount, rotate_mask: p6.rotate_mask };
    let cross_source = match action.cross {
        Cross::None => CROSS_NONE,
        Cross::Container(c) => c.0,
        Cross::Words(w) => CROSS_WORDS + w,
        Cross::Hash => CROSS_HASH,
        Cross::Number => CROSS_NUMBER,
    };
    let mut row = ActionRow {
        class2,
        class4,
        class6,
        cross_source,
        cross_shift: action.cross_shift,
        cross_cut: action.cross_cut,
        state: action.state.as_ref().map(state::encode).unwrap_or_default(),
        ..ActionRow::default()
    };
    for alu in &action.alus {
        let (b, immediate) = match alu.b {
            B::Imm(v) => (AluB::Immediate.code(), v),
            other => (code_of(&B_SOURCES, &other), 0),
        };
        row.alus[usize::from(alu.own.0)] =
            AluPart { op: code_of(&OPS, &alu.op), a: code_of(&A_SOURCES, &alu.a), b, when: encode_when(alu.when) };
        set_wide(&mut row, alu.own, immediate, alu.mask);
    }
    for op in action.words.iter().filter(|w| w.mask != 0) {
        let (source, immediate) = match op.source {
            WordSource::Imm(v) => (codes::WordSource::Immediate.code(), v),
            other => (code_of(&WORD_SOURCES, &other), 0),
        };
        if let Some(part) = op.word.checked_sub(FIRST_WORD).and_then(|i| row.words.get_mut(usize::from(i))) {
            *part = WordPart { source, mask: op.mask, immediate, when: encode_when(op.when) };
        }
    }
    row
}

/// Immediate and mask of a container's ALU.
fn set_wide(row: &mut ActionRow, container: Container, immediate: u64, mask: u64) {
    let i = usize::from(container.0 % 8);
    match container.class() {
        Class::C2 => (row.immediate2[i], row.mask2[i]) = (immediate as u16, mask as u16),
        Class::C4 => (row.immediate4[i], row.mask4[i]) = (immediate as u32, mask as u32),
        Class::C6 => (row.immediate6[i], row.mask6[i]) = (immediate, mask),
    }
}

fn wide(row: &ActionRow, container: Container) -> (u64, u64) {
    let i = usize::from(container.0 % 8);
    match container.class() {
        Class::C2 => (row.immediate2[i].into(), row.mask2[i].into()),
        Class::C4 => (row.immediate4[i].into(), row.mask4[i].into()),
        Class::C6 => (row.immediate6[i], row.mask6[i]),
    }
}

pub(super) fn decode(at: &str, row: &ActionRow) -> Result<Action, Problem> {
    let Class2Part { pick, data, amount, rotate_mask } = row.class2;
    let p2 = Picks { container: pick, data, amount, rotate_mask: rotate_mask.into() };
    let Class4Part { pick, data, amount, rotate_mask } = row.class4;
    let p4 = Picks { container: pick, data, amount, rotate_mask: rotate_mask.into() };
    let Class6Part { pick, data, amount, rotate_mask } = row.class6;
    let p6 = Picks { container: pick, data, amount, rotate_mask };
    let cross = match row.cross_source {
        n if n < CROSS_WORDS => Some(Cross::Container(Container(n))),
        n if n < CROSS_HASH => Some(Cross::Words(n - CROSS_WORDS)),
        CROSS_HASH => Some(Cross::Hash),
        CROSS_NUMBER => Some(Cross::Number),
        CROSS_NONE => Some(Cross::None),
        _ => None,
    };
    Ok(Action {
        picks: [p2, p4, p6],
        cross: known(&format!("{at}.cross"), row.cross_source, cross)?,
        cross_shift: row.cross_shift,
        cross_cut: row.cross_cut,
        alus: alus(at, row)?,
        words: words(at, row)?,
        state: state::decode(&format!("{at}.state"), &row.state)?,
    })
}

fn alus(at: &str, row: &ActionRow) -> Result<Vec<Alu>, Problem> {
    let mut all = Vec::new();
    for n in 0..CONTAINERS {
        let (part, own) = (&row.alus[n], Container(n as u8));
        let at = format!("{at}.alus[{n}]");
        let (immediate, mask) = wide(row, own);
        if part.op == AluOp::None.code() {
            let zero = *part == AluPart::default() && (immediate, mask) == (0, 0);
            unused(&at, "part of an ALU", zero)?;
            continue;
        }
        let b = match known(&at, part.b, of_code(&B_SOURCES, part.b))? {
            B::Imm(_) => B::Imm(immediate),
            other => no_immediate(&at, immediate).map(|()| other)?,
        };
        all.push(Alu {
            own,
            op: known(&at, part.op, of_code(&OPS, part.op))?,
            a: known(&at, part.a, of_code(&A_SOURCES, part.a))?,
            b,
            mask,
            when: known(&at, part.when, decode_when(part.when))?,
        });
    }
    Ok(all)
}

fn words(at: &str, row: &ActionRow) -> Result<Vec<WordOp>, Problem> {
    let mut all = Vec::new();
    for (i, part) in row.words.iter().enumerate() {
        let word = FIRST_WORD + i as u8;
        let at = format!("{at}.words[{word}]");
        let source = match known(&at, part.source, of_code(&WORD_SOURCES, part.source))? {
            WordSource::Imm(_) => WordSource::Imm(part.immediate),
            other => no_immediate(&at, part.immediate.into()).map(|()| other)?,
        };
        let when = known(&at, part.when, decode_when(part.when))?;
        if part.mask != 0 {
            all.push(WordOp { word, source, mask: part.mask, when });
        }
    }
    Ok(all)
}

fn no_immediate(at: &str, immediate: u64) -> Checked {
    unused(at, "immediate", immediate == 0)
}
