//! Action rows as flat lists of operations over the frame.

use super::frame::{DATA, Frame, R, WORD, X, ZERO, bits};
use super::state::State;
use sluice_formats::rmt::codes::{self, AluA, AluB, AluOp, When, WordSource};
use sluice_formats::rmt::rows::ActionRow;

const HASH: u8 = codes::Cross::Hash.code();
const NUMBER: u8 = codes::Cross::Number.code();

/// DA of the 2-byte class; of class k 2 * k above.
pub const DA: u8 = DATA;
/// DB likewise.
pub const DB: u8 = DATA + 1;

/// A value: a slot of the frame or an immediate beside the slot that is always zero.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Slot.
    pub slot: u8,
    /// Immediate, 0 if the slot counts.
    pub immediate: u64,
}

impl Operand {
    /// A slot's value.
    pub fn of(slot: u8) -> Self {
        Self { slot, immediate: 0 }
    }

    /// Its value.
    #[inline]
    pub fn value(&self, frame: &Frame) -> u64 {
        frame.get(self.slot) | self.immediate
    }
}

/// Bit c is set if it is done where condition 0 is bit 0 and condition 1 bit 1 of c; codes above 4: never.
pub fn when(code: u8) -> u8 {
    match When::from_code(code) {
        Some(When::Always) => 0b1111,
        Some(When::If0) => 0b1010,
        Some(When::Unless0) => 0b0101,
        Some(When::If1) => 0b1100,
        Some(When::Unless1) => 0b0011,
        None => 0,
    }
}

/// A write of a container or of a metadata word.
#[derive(Clone, Copy, Debug)]
struct Write {
    op: AluOp,
    when: u8,
    to: u8,
    a: u8,
    b: Operand,
    mask: u64,
}

impl Write {
    #[inline]
    fn result(&self, frame: &Frame, conditions: u8) -> u64 {
        let own = frame.get(self.to);
        let (whole_a, whole_b) = (frame.get(self.a), self.b.value(frame));
        let (a, b) = (whole_a & self.mask, whole_b & self.mask);
        let (value, write) = match self.op {
            AluOp::Add => (a.wrapping_add(b), true),
            AluOp::Sub => (a.wrapping_sub(b), true),
            AluOp::And => (a & b, true),
            AluOp::Or => (a | b, true),
            AluOp::Xor => (a ^ b, true),
            AluOp::Move => (b, true),
            AluOp::AndNot => (a & !b, true),
            AluOp::Ge => (b, a >= b),
            // No write has none.
            AluOp::Lt | AluOp::None => (b, a < b),
        };
        let changed = (own & !self.mask) | (value & self.mask);
        if write && self.when >> conditions & 1 == 1 { changed } else { own }
    }
}

/// DA or DB of a class: cut out of the action data, first byte most significant.
#[derive(Clone, Copy, Debug)]
struct Data {
    slot: u8,
    left: u32,
    right: u32,
}

/// R of a class.
#[derive(Clone, Copy, Debug)]
struct Rotated {
    slot: u8,
    from: u8,
    bits: u32,
    amount: u32,
    mask: u64,
}

/// Where the cross value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cross {
    Unused,
    Container(u8),
    Words(u8),
    Hash,
    Number,
    Zero,
}

/// What a packet brings to an action.
pub struct Context<F: Fn() -> u32> {
    /// Action data, first byte most significant.
    pub data: u128,
    /// Logical number of the entry.
    pub number: u16,
    /// CRC-32C of the masked key, if it is wanted.
    pub hash: F,
}

/// An action row.
#[derive(Clone, Debug)]
pub struct Action {
    /// Module that it belongs to.
    pub owner: u8,
    /// State access.
    pub state: Option<State>,
    data: Vec<Data>,
    rotated: Vec<Rotated>,
    cross: Cross,
    cross_shift: u32,
    cross_mask: u64,
    /// The system's words last.
    writes: Vec<Write>,
    /// Writes of stages that are not the system module's.
    tenant_writes: usize,
}

struct ClassRow {
    pick: [u8; 3],
    data: [u8; 2],
    amount: u8,
    rotate_mask: u64,
}

impl Action {
    /// From its row. Operands that are not there are zero, and operations that are not there are none.
    pub fn compile(row: &ActionRow) -> Self {
        let class = |pick, data, amount, rotate_mask| ClassRow { pick, data, amount, rotate_mask };
        let classes = [
            class(row.class2.pick, row.class2.data, row.class2.amount, row.class2.rotate_mask.into()),
            class(row.class4.pick, row.class4.data, row.class4.amount, row.class4.rotate_mask.into()),
            class(row.class6.pick, row.class6.data, row.class6.amount, row.class6.rotate_mask),
        ];
        let mut used = 0u64;
        let mut writes = Vec::new();
        for (n, alu) in row.alus.iter().enumerate() {
            let Some(op) = AluOp::from_code(alu.op).filter(|op| *op != AluOp::None) else { continue };
            let (k, i) = (n / 8, n % 8);
            let pick = |p: usize| 8 * k as u8 + classes[k].pick[p] % 8;
            let immediate = [u64::from(row.immediate2[i]), u64::from(row.immediate4[i]), row.immediate6[i]][k];
            let mask = [u64::from(row.mask2[i]), u64::from(row.mask4[i]), row.mask6[i]][k];
            let data = 2 * k as u8;
            let b = match AluB::from_code(alu.b) {
                Some(AluB::Immediate) => Operand { slot: ZERO, immediate },
                Some(AluB::DataA) => Operand::of(DA + data),
                Some(AluB::DataB) => Operand::of(DB + data),
                Some(AluB::P0) => Operand::of(pick(0)),
                Some(AluB::P1) => Operand::of(pick(1)),
                Some(AluB::R) => Operand::of(R + k as u8),
                Some(AluB::X) => Operand::of(X),
                None => Operand::of(ZERO),
            };
            let a = match AluA::from_code(alu.a) {
                Some(AluA::Own) => n as u8,
                Some(AluA::P0) => pick(0),
                Some(AluA::P1) => pick(1),
                Some(AluA::X) | None => X,
            };
            writes.push(Write { op, when: when(alu.when), to: n as u8, a, b, mask });
        }
        for (i, word) in row.words.iter().enumerate().rev().filter(|(_, w)| w.mask != 0) {
            let b = match WordSource::from_code(word.source) {
                Some(WordSource::Immediate) => Operand { slot: ZERO, immediate: word.immediate.into() },
                Some(WordSource::DataA) => Operand::of(DA),
                Some(WordSource::P0) => Operand::of(classes[0].pick[0] % 8),
                Some(WordSource::X) | None => Operand::of(X),
            };
            let to = WORD + 9 + i as u8;
            writes.push(Write { op: AluOp::Move, when: when(word.when), to, a: ZERO, b, mask: word.mask.into() });
        }
        writes.iter().for_each(|w| used |= 1 << w.a | 1 << w.b.slot);
        let (pick1, pick2) = (8 + classes[1].pick[1] % 8, classes[0].pick[2] % 8);
        let state = State::compile(&row.state, pick1, pick2, &mut |slot| used |= 1 << slot);
        let is_used = |slot: u8| used >> slot & 1 == 1;
        let cross = match row.cross_source {
            _ if !is_used(X) => Cross::Unused,
            n if n < codes::Cross::Words.code() => Cross::Container(n),
            k if k < codes::Cross::Hash.code() => Cross::Words(k - codes::Cross::Words.code()),
            HASH => Cross::Hash,
            NUMBER => Cross::Number,
            _ => Cross::Zero,
        };
        let positions = (0..6u8).map(|i| (DATA + i, classes[usize::from(i / 2)].data[usize::from(i % 2)], i / 2));
        let data = positions.filter(|&(slot, ..)| is_used(slot)).map(|(slot, at, k)| Data {
            slot,
            left: 16 * u32::from(at),
            right: 128 - 16 * (u32::from(k) + 1),
        });
        let rotated = (0..3u8).filter(|&k| is_used(R + k)).map(|k| {
            let class = &classes[usize::from(k)];
            let bits = bits(8 * k);
            let (amount, mask) = (u32::from(class.amount) % bits, class.rotate_mask);
            Rotated { slot: R + k, from: 8 * k + class.pick[2] % 8, bits, amount, mask }
        });
        Self {
            owner: row.owner,
            state,
            data: data.collect(),
            rotated: rotated.collect(),
            cross,
            cross_shift: 16 * u32::from(row.cross_shift),
            cross_mask: (1 << (48 - 16 * u32::from(row.cross_cut))) - 1,
            tenant_writes: writes.iter().filter(|w| !(WORD + 9..WORD + 11).contains(&w.to)).count(),
            writes,
        }
    }

    /// Puts the shared operands into the frame.
    #[inline]
    pub fn prepare<F: Fn() -> u32>(&self, frame: &mut Frame, context: &Context<F>) {
        for d in &self.data {
            frame.set(d.slot, ((context.data << d.left) >> d.right) as u64);
        }
        for r in &self.rotated {
            let value = frame.get(r.from);
            frame.set(r.slot, (value << r.amount | value >> (r.bits - r.amount)) & r.mask);
        }
        let cross = match self.cross {
            Cross::Unused => return,
            Cross::Container(n) => frame.get(n),
            Cross::Words(k) => frame.three_words(k),
            Cross::Hash => (context.hash)().into(),
            Cross::Number => context.number.into(),
            Cross::Zero => 0,
        };
        frame.set(X, (cross & self.cross_mask) >> self.cross_shift);
    }

    /// ALUs and metadata writes; all operands are of the frame as it came in.
    #[inline]
    pub fn write(&self, frame: &mut Frame, conditions: u8, system: bool) {
        let writes = if system { &self.writes } else { &self.writes[..self.tenant_writes] };
        for (i, w) in writes.iter().enumerate() {
            frame.results[i % 32] = w.result(frame, conditions);
        }
        for (i, w) in writes.iter().enumerate() {
            frame.set(w.to, frame.results[i % 32]);
        }
    }
}
