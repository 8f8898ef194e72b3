//! Actions: one ALU a container, metadata writes, one state access.

use crate::phv::{Class, Container, Phv, writable};
use crate::state::StateOp;
use crate::target::DATA;

/// When something is done, by the stage's two conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// For every packet.
    #[default]
    Always,
    /// Condition of this number, 0 or 1, holds.
    If(u8),
    /// It does not.
    Unless(u8),
}

impl When {
    /// Whether it is done.
    pub fn holds(self, conditions: [bool; 2]) -> bool {
        match self {
            Self::Always => true,
            Self::If(i) => conditions[usize::from(i)],
            Self::Unless(i) => !conditions[usize::from(i)],
        }
    }
}

/// Operation of an ALU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// A + B.
    Add,
    /// A - B.
    Sub,
    /// A & B.
    And,
    /// A | B.
    Or,
    /// A ^ B.
    Xor,
    /// B.
    Move,
    /// A & !B.
    AndNot,
    /// B, written only if A >= B: the minimum of self and B where A is self.
    Ge,
    /// B, written only if A < B: the maximum of self and B where A is self.
    Lt,
}

/// First operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum A {
    /// The ALU's own container.
    #[default]
    Own,
    /// First pick of the class.
    P0,
    /// Second pick of the class.
    P1,
    /// Cross value.
    X,
}

/// Second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum B {
    /// Value in the action row.
    Imm(u64),
    /// First action-data pick of the class.
    DataA,
    /// Second action-data pick of the class.
    DataB,
    /// First pick of the class.
    P0,
    /// Second pick of the class.
    P1,
    /// Rotated and masked third pick.
    R,
    /// Cross value.
    X,
}

/// What the ALU of one container does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alu {
    /// The container, operand and destination.
    pub own: Container,
    /// Operation.
    pub op: Op,
    /// First operand.
    pub a: A,
    /// Second operand.
    pub b: B,
    /// Bits that take part and are written.
    pub mask: u64,
    /// When it is written.
    pub when: When,
}

impl Alu {
    /// `own = own OP b` on the whole container.
    pub fn whole(own: Container, op: Op, b: B) -> Self {
        Self { own, op, a: A::Own, b, mask: own.class().ones(), when: When::Always }
    }

    /// The same on the bits of a mask.
    pub fn field(own: Container, op: Op, b: B, mask: u64) -> Self {
        Self { mask, ..Self::whole(own, op, b) }
    }
}

/// What the ALUs of one size share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Picks {
    /// P0, P1, P2: containers of the class, by place in it.
    pub container: [u8; 3],
    /// R is P2 rotated left by this.
    pub amount: u8,
    /// And masked by this.
    pub rotate_mask: u64,
    /// First 2-byte positions of DA and DB in the action data.
    pub data: [u8; 2],
}

/// Where the cross value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cross {
    /// Zero.
    #[default]
    None,
    /// A container.
    Container(Container),
    /// Three metadata words from this one, the first lowest.
    Words(u8),
    /// CRC-32C of the masked key.
    Hash,
    /// Logical number of the entry.
    Number,
}

/// What a metadata word gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordSource {
    /// Value in the action row.
    Imm(u16),
    /// DA of the 2-byte class.
    Data,
    /// P0 of the 2-byte class.
    P0,
    /// Low bits of the cross value.
    X,
}

/// Write of a metadata word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordOp {
    /// Number of the word.
    pub word: u8,
    /// Value.
    pub source: WordSource,
    /// Bits written.
    pub mask: u16,
    /// When it is written.
    pub when: When,
}

/// One action row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// Shared operands of the 2-, 4- and 6-byte class.
    pub picks: [Picks; 3],
    /// Cross value.
    pub cross: Cross,
    /// The cross value is shifted right by 16 times this, 0 to 2.
    pub cross_shift: u8,
    /// Of its three 16-bit words so many are cleared before, the highest first: 0 to 2.
    pub cross_cut: u8,
    /// At most one for each container.
    pub alus: Vec<Alu>,
    /// At most one for each word from 9 on.
    pub words: Vec<WordOp>,
    /// State access.
    pub state: Option<StateOp>,
}

/// What a stage knows of a packet when it acts.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The stage's conditions.
    pub conditions: [bool; 2],
    /// CRC-32C of the masked key.
    pub hash: u32,
    /// Logical number of the entry.
    pub number: u16,
    /// Action data of the entry.
    pub data: &'a [u8; DATA],
    /// The stage is the system module's.
    pub system_stage: bool,
}

/// Shared operands of an action, read from the PHV as it came into the stage.
#[derive(Clone, Debug)]
pub struct Operands {
    picks: [[u64; 3]; 3],
    rotated: [u64; 3],
    data: [[u64; 2]; 3],
    cross: u64,
}

/// `value` of `bits` bits rotated left.
fn rotate_left(value: u64, amount: u8, bits: u32) -> u64 {
    let n = u32::from(amount) % bits;
    let ones = (1u64 << bits) - 1;
    ((value << n) | (value >> (bits - n))) & ones
}

/// Big-endian number of `bytes` bytes of action data from 2-byte position `at`; zeros behind its end.
fn data_value(data: &[u8; DATA], at: u8, bytes: usize) -> u64 {
    let byte = |i: usize| u64::from(data.get(2 * usize::from(at) + i).copied().unwrap_or(0));
    (0..bytes).fold(0, |v, i| v << 8 | byte(i))
}

impl Operands {
    /// The action's shared operands.
    pub fn read(action: &Action, phv: &Phv, context: &Context) -> Self {
        let of = |class: Class, i: u8| phv.get(Container::of(class, i));
        let per_class = |class: Class| &action.picks[class as usize];
        let cross = match action.cross {
            Cross::None => 0,
            Cross::Container(c) => phv.get(c),
            Cross::Words(k) => {
                let word = |i: usize| u64::from(phv.words.get(usize::from(k) + i).copied().unwrap_or(0));
                word(0) | word(1) << 16 | word(2) << 32
            }
            Cross::Hash => u64::from(context.hash),
            Cross::Number => u64::from(context.number),
        };
        Self {
            picks: Class::ALL.map(|c| per_class(c).container.map(|i| of(c, i))),
            rotated: Class::ALL.map(|c| {
                let picks = per_class(c);
                rotate_left(of(c, picks.container[2]), picks.amount, c.bits()) & picks.rotate_mask
            }),
            data: Class::ALL.map(|c| per_class(c).data.map(|at| data_value(context.data, at, c.bytes()))),
            cross: (cross & u64::MAX >> (16 + 16 * u32::from(action.cross_cut)))
                >> (16 * u32::from(action.cross_shift)),
        }
    }

    /// P0 to P2 of a class.
    pub fn pick(&self, class: Class, i: usize) -> u64 {
        self.picks[class as usize][i]
    }

    /// DA and DB of a class.
    pub fn data(&self, class: Class, i: usize) -> u64 {
        self.data[class as usize][i]
    }

    /// The cross value, 48 bits.
    pub fn cross(&self) -> u64 {
        self.cross
    }

    fn a(&self, alu: &Alu, phv: &Phv) -> u64 {
        let class = alu.own.class();
        match alu.a {
            A::Own => phv.get(alu.own),
            A::P0 => self.pick(class, 0),
            A::P1 => self.pick(class, 1),
            A::X => self.cross & class.ones(),
        }
    }

    fn b(&self, alu: &Alu) -> u64 {
        let class = alu.own.class();
        match alu.b {
            B::Imm(value) => value & class.ones(),
            B::DataA => self.data(class, 0),
            B::DataB => self.data(class, 1),
            B::P0 => self.pick(class, 0),
            B::P1 => self.pick(class, 1),
            B::R => self.rotated[class as usize],
            B::X => self.cross & class.ones(),
        }
    }
}

impl Alu {
    /// The container's value after the ALU.
    fn result(&self, operands: &Operands, phv: &Phv, conditions: [bool; 2]) -> u64 {
        let own = phv.get(self.own);
        let (whole_a, whole_b) = (operands.a(self, phv), operands.b(self));
        let (a, b) = (whole_a & self.mask, whole_b & self.mask);
        let (value, write) = match self.op {
            Op::Add => (a.wrapping_add(b), true),
            Op::Sub => (a.wrapping_sub(b), true),
            Op::And => (whole_a & whole_b, true),
            Op::Or => (whole_a | whole_b, true),
            Op::Xor => (whole_a ^ whole_b, true),
            Op::Move => (whole_b, true),
            Op::AndNot => (whole_a & !whole_b, true),
            Op::Ge => (whole_b, a >= b),
            Op::Lt => (whole_b, a < b),
        };
        if write && self.when.holds(conditions) { (own & !self.mask) | (value & self.mask) } else { own }
    }
}

impl Action {
    /// ALUs and metadata writes; the state access is the stage's, it comes after.
    pub fn execute(&self, before: &Phv, operands: &Operands, context: &Context) -> Phv {
        let mut after = before.clone();
        for alu in &self.alus {
            after.set(alu.own, alu.result(operands, before, context.conditions));
        }
        for op in &self.words {
            let value = match op.source {
                WordSource::Imm(value) => value,
                WordSource::Data => operands.data(Class::C2, 0) as u16,
                WordSource::P0 => operands.pick(Class::C2, 0) as u16,
                WordSource::X => operands.cross() as u16,
            };
            let word = usize::from(op.word);
            if writable(word, context.system_stage) && op.when.holds(context.conditions) {
                after.words[word] = (before.words[word] & !op.mask) | (value & op.mask);
            }
        }
        after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phv::{Word, c2, c4, c6};

    fn run(action: &Action, phv: &Phv, conditions: [bool; 2], data: &[u8; DATA], system_stage: bool) -> Phv {
        let context = Context { conditions, hash: 0xdead_beef, number: 77, data, system_stage };
        action.execute(phv, &Operands::read(action, phv, &context), &context)
    }

    fn one(alu: Alu, phv: &Phv) -> u64 {
        let own = alu.own;
        let action = Action { alus: vec![alu], ..Action::default() };
        run(&action, phv, [false, false], &[0; DATA], false).get(own)
    }

    fn phv(values: &[(Container, u64)]) -> Phv {
        let mut phv = Phv::default();
        values.iter().for_each(|&(c, v)| phv.set(c, v));
        phv
    }

    #[test]
    fn a_ttl_in_the_upper_byte_goes_down_without_touching_the_protocol() {
        let ttl = |v| one(Alu::field(c2(0), Op::Sub, B::Imm(0x0100), 0xff00), &phv(&[(c2(0), v)]));
        assert_eq!(ttl(0x4011), 0x3f11);
        assert_eq!(ttl(0x0011), 0xff11);
        assert_eq!(ttl(0x0100), 0x0000);
    }

    #[test]
    fn sums_stay_within_their_field_and_their_container() {
        let p = phv(&[(c4(0), 0xffff_ffff), (c2(0), 0x0fff)]);
        assert_eq!(one(Alu::whole(c4(0), Op::Add, B::Imm(1)), &p), 0);
        assert_eq!(one(Alu::field(c2(0), Op::Add, B::Imm(1), 0x00ff), &p), 0x0f00);
    }

    #[test]
    fn bits_outside_the_mask_neither_change_nor_stop_a_carry() {
        let p = phv(&[(c2(0), 0x12f0)]);
        assert_eq!(one(Alu::field(c2(0), Op::Move, B::Imm(0xffff), 0x00ff), &p), 0x12ff);
        assert_eq!(one(Alu::field(c2(0), Op::Ge, B::Imm(0x0001), 0x00ff), &p), 0x1201);
        // Fields in two pieces: what lies between takes part as 0.
        assert_eq!(one(Alu::field(c2(0), Op::Sub, B::Imm(1), 0xf00f), &p), 0x02ff);
        assert_eq!(one(Alu::field(c2(0), Op::Add, B::Imm(1), 0xf00f), &p), 0x12f1);
    }

    #[test]
    fn a_comparison_of_other_containers_writes_b_or_keeps_self() {
        let run_with = |op, a, b| {
            let alu = Alu { a: A::P0, ..Alu::whole(c2(0), op, B::P1) };
            let mut action = Action { alus: vec![alu], ..Action::default() };
            action.picks[0].container = [1, 2, 0];
            let p = phv(&[(c2(0), 99), (c2(1), a), (c2(2), b)]);
            run(&action, &p, [false; 2], &[0; DATA], false).get(c2(0))
        };
        assert_eq!([(4, 5), (5, 5), (6, 5)].map(|(a, b)| run_with(Op::Lt, a, b)), [5, 99, 99]);
        assert_eq!([(4, 5), (5, 5), (6, 5)].map(|(a, b)| run_with(Op::Ge, a, b)), [99, 5, 5]);
    }

    #[test]
    fn logic_is_bit_by_bit() {
        let p = phv(&[(c2(0), 0b1100)]);
        let of = |op| one(Alu::whole(c2(0), op, B::Imm(0b1010)), &p);
        assert_eq!([Op::And, Op::Or, Op::Xor, Op::AndNot, Op::Move].map(of), [0b1000, 0b1110, 0b0110, 0b0100, 0b1010]);
    }

    #[test]
    fn ge_is_the_minimum_and_lt_the_maximum_of_self_and_b() {
        for (own, b) in [(3, 9), (9, 3), (5, 5), (0xffff, 0)] {
            let p = phv(&[(c2(0), own)]);
            assert_eq!(one(Alu::whole(c2(0), Op::Ge, B::Imm(b)), &p), own.min(b));
            assert_eq!(one(Alu::whole(c2(0), Op::Lt, B::Imm(b)), &p), own.max(b));
        }
    }

    #[test]
    fn all_operands_are_those_that_came_in_so_containers_can_be_exchanged() {
        let move_to = |own, b| Alu::whole(own, Op::Move, b);
        let mut action = Action { alus: vec![move_to(c6(0), B::P1), move_to(c6(1), B::P0)], ..Action::default() };
        action.picks[2].container = [0, 1, 0];
        let after = run(&action, &phv(&[(c6(0), 1), (c6(1), 2)]), [false; 2], &[0; DATA], false);
        assert_eq!((after.get(c6(0)), after.get(c6(1))), (2, 1));
    }

    #[test]
    fn a_shift_is_a_rotation_with_a_mask() {
        for (c, class) in [(c2(3), 0), (c4(3), 1), (c6(3), 2)] {
            let bits = c.class().bits();
            let value = 0x8765_4321_8765 & c.class().ones();
            for amount in 0..bits {
                let mut action = Action { alus: vec![Alu::whole(c, Op::Move, B::R)], ..Action::default() };
                let keep = c.class().ones() & !((1 << amount) - 1);
                action.picks[class] =
                    Picks { container: [0, 0, 3], amount: amount as u8, rotate_mask: keep, data: [0; 2] };
                let after = run(&action, &phv(&[(c, value)]), [false; 2], &[0; DATA], false);
                assert_eq!(after.get(c), (value << amount) & c.class().ones());
            }
        }
    }

    #[test]
    fn a_write_waits_for_its_condition() {
        let at = |when, conditions| {
            let alu = Alu { when, ..Alu::whole(c2(0), Op::Move, B::Imm(9)) };
            let action = Action { alus: vec![alu], ..Action::default() };
            run(&action, &Phv::default(), conditions, &[0; DATA], false).get(c2(0)) == 9
        };
        for c0 in [false, true] {
            for c1 in [false, true] {
                let all = [When::Always, When::If(0), When::Unless(0), When::If(1), When::Unless(1)];
                assert_eq!(all.map(|w| at(w, [c0, c1])), [true, c0, !c0, c1, !c1]);
            }
        }
    }

    #[test]
    fn action_data_is_taken_at_two_byte_positions_and_zero_behind_its_end() {
        let data: [u8; DATA] = std::array::from_fn(|i| i as u8 + 1);
        let mut action = Action { alus: vec![Alu::whole(c6(0), Op::Move, B::DataB)], ..Action::default() };
        action.picks[2].data = [0, 1];
        assert_eq!(run(&action, &Phv::default(), [false; 2], &data, false).get(c6(0)), 0x0304_0506_0708);
        action.picks[2].data = [0, 7];
        assert_eq!(run(&action, &Phv::default(), [false; 2], &data, false).get(c6(0)), 0x0f10_0000_0000);
    }

    #[test]
    fn the_cross_value_carries_containers_metadata_hash_and_number_across_sizes() {
        let mut p = phv(&[(c6(5), 0x1122_3344_5566)]);
        (p.words[2], p.words[3], p.words[15]) = (0x3333, 0x4444, 0x5555);
        let x = |cross, cross_shift| {
            let alus = vec![Alu::whole(c4(0), Op::Move, B::X)];
            let action = Action { cross, cross_shift, alus, ..Action::default() };
            run(&action, &p, [false; 2], &[0; DATA], false).get(c4(0))
        };
        assert_eq!(x(Cross::Container(c6(5)), 0), 0x3344_5566);
        assert_eq!(x(Cross::Container(c6(5)), 2), 0x1122);
        assert_eq!(x(Cross::Words(2), 0), 0x4444_3333);
        assert_eq!(x(Cross::Words(15), 0), 0x5555);
        assert_eq!(x(Cross::Hash, 1), 0xdead);
        assert_eq!(x(Cross::Number, 0), 77);
    }

    #[test]
    fn words_that_are_cut_off_the_cross_value_are_zero_before_the_shift() {
        let p = phv(&[(c6(5), 0x1122_3344_5566)]);
        let x = |cross_cut, cross_shift| {
            let alus = vec![Alu::whole(c6(0), Op::Move, B::X)];
            let action = Action { cross: Cross::Container(c6(5)), cross_shift, cross_cut, alus, ..Action::default() };
            run(&action, &p, [false; 2], &[0; DATA], false).get(c6(0))
        };
        assert_eq!([x(0, 0), x(1, 0), x(2, 0)], [0x1122_3344_5566, 0x3344_5566, 0x5566]);
        assert_eq!([x(0, 1), x(1, 1), x(2, 1), x(0, 2), x(1, 2)], [0x1122_3344, 0x3344, 0, 0x1122, 0]);
    }

    #[test]
    fn a_tenants_write_of_a_system_word_does_nothing_and_the_system_modules_does() {
        let write = |word| WordOp { word, source: WordSource::Imm(0x1234), mask: 0x0ff0, when: When::Always };
        let action = Action { words: (0..16).map(write).collect(), ..Action::default() };
        let written = |system| {
            let after = run(&action, &Phv::default(), [false; 2], &[0; DATA], system);
            (0..16).filter(|&w| after.words[w] == 0x0230).collect::<Vec<_>>()
        };
        assert_eq!(written(false), [11, 12, 13, 14, 15]);
        assert_eq!(written(true), [9, 10, 11, 12, 13, 14, 15]);
    }

    #[test]
    fn a_word_takes_action_data_a_container_or_the_cross_value() {
        let op = |word, source| WordOp { word, source, mask: 0xffff, when: When::Always };
        let mut action = Action {
            words: vec![op(11, WordSource::Data), op(14, WordSource::P0), op(15, WordSource::X)],
            cross: Cross::Words(1),
            ..Action::default()
        };
        action.picks[0] = Picks { container: [4, 0, 0], data: [1, 0], ..Picks::default() };
        let mut p = phv(&[(c2(4), 0x4444)]);
        p.set_word(Word::Length, 99);
        let data: [u8; DATA] = std::array::from_fn(|i| i as u8);
        let after = run(&action, &p, [false; 2], &data, false);
        assert_eq!([11, 14, 15].map(|w| after.words[w]), [0x0203, 0x4444, 99]);
    }
}
