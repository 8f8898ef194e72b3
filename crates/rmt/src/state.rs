//! State: one access a packet and stage, by an atom or a meter.

use crate::action::{Context, Operands, When};
use crate::phv::{Class, Container, Phv};

/// What indexes the module's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexSource {
    /// Zero: the base alone.
    #[default]
    None,
    /// P2 of the 2-byte class.
    P2,
    /// DA of the 2-byte class.
    Data,
    /// Cross value.
    X,
}

/// A 32-bit operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Value in the action row.
    Imm(u32),
    /// Low bits of the cross value.
    X,
    /// DB of the 4-byte class.
    DataB,
    /// P1 of the 4-byte class.
    P1,
}

/// Unsigned comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// ==
    Eq,
    /// !=
    Ne,
    /// <
    Lt,
    /// <=
    Le,
    /// >
    Gt,
    /// >=
    Ge,
}

impl Relation {
    /// Whether it holds.
    pub fn holds(self, a: u64, b: u64) -> bool {
        match self {
            Self::Eq => a == b,
            Self::Ne => a != b,
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
        }
    }
}

/// Which of the two updates is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// By the stage's conditions.
    When(When),
    /// By the word as it was.
    Old(Relation, Operand),
}

/// `(old or 0) + value`, or minus it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// The word as it was is added.
    pub old: bool,
    /// The value.
    pub value: Operand,
    /// It is subtracted.
    pub negate: bool,
}

impl Update {
    /// The word stays.
    pub const KEEP: Self = Self { old: true, value: Operand::Imm(0), negate: false };

    /// The value replaces the word.
    pub const fn set(value: Operand) -> Self {
        Self { old: false, value, negate: false }
    }

    /// The value is added to the word.
    pub const fn add(value: Operand) -> Self {
        Self { old: true, value, negate: false }
    }
}

/// What happens to the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One of two updates.
    Atom {
        /// Which one.
        choice: Choice,
        /// If it holds.
        then: Update,
        /// If it does not.
        otherwise: Update,
    },
    /// Two-colour meter: the word is the time up to which the rate is used.
    Meter {
        /// How far ahead of now it may be: the burst.
        limit: u32,
        /// Time for a packet, or for a byte with 16 fraction bits.
        cost: u32,
        /// `limit` plus the largest time of one packet; further ahead is behind.
        top: u32,
        /// `cost` is for a packet.
        per_packet: bool,
        /// Unit of time: 2^shift / 256 ticks.
        shift: u8,
    },
}

/// A state access of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateOp {
    /// When there is an access at all.
    pub when: When,
    /// Index: source, cut by `index_mask`, plus `base`.
    pub source: IndexSource,
    /// Bits of the source that count, 12.
    pub index_mask: u16,
    /// First word, 12 bits.
    pub base: u16,
    /// What is done.
    pub access: Access,
    /// Container of the 4-byte class, by place, that gets the old word.
    pub old_to: Option<u8>,
    /// And the new word; of a meter 0 for green, 1 for red.
    pub new_to: Option<u8>,
}

impl StateOp {
    /// An unconditional atom at a fixed word.
    pub fn at(base: u16, then: Update) -> Self {
        let access = Access::Atom { choice: Choice::When(When::Always), then, otherwise: Update::KEEP };
        Self { when: When::Always, source: IndexSource::None, index_mask: 0, base, access, old_to: None, new_to: None }
    }

    /// Does the access. `after` is the PHV behind the ALUs, `queueing` the stamp and `length` the packet's
    /// bytes. Returns false for an access that is not done because the index is behind the module's words.
    pub fn execute(
        &self,
        words: &mut [u32],
        operands: &Operands,
        context: &Context,
        (queueing, length): (u64, u16),
        after: &mut Phv,
    ) -> bool {
        if !self.when.holds(context.conditions) {
            return true;
        }
        let source = match self.source {
            IndexSource::None => 0,
            IndexSource::P2 => operands.pick(Class::C2, 2),
            IndexSource::Data => operands.data(Class::C2, 0),
            IndexSource::X => operands.cross(),
        };
        let index = (source as usize & usize::from(self.index_mask)) + usize::from(self.base);
        let Some(word) = words.get_mut(index) else { return false };
        let value = |o: Operand| match o {
            Operand::Imm(v) => v,
            Operand::X => operands.cross() as u32,
            Operand::DataB => operands.data(Class::C4, 1) as u32,
            Operand::P1 => operands.pick(Class::C4, 1) as u32,
        };
        let old = *word;
        let shown = match self.access {
            Access::Atom { choice, then, otherwise } => {
                let taken = match choice {
                    Choice::When(when) => when.holds(context.conditions),
                    Choice::Old(relation, o) => relation.holds(u64::from(old), u64::from(value(o))),
                };
                let update = if taken { then } else { otherwise };
                let from = if update.old { old } else { 0 };
                let by = value(update.value);
                *word = if update.negate { from.wrapping_sub(by) } else { from.wrapping_add(by) };
                *word
            }
            Access::Meter { limit, cost, top, per_packet, shift } => {
                let now = ((u128::from(queueing) << 8) >> shift) as u32;
                let inc = if per_packet { cost } else { ((u64::from(length) * u64::from(cost)) >> 16) as u32 };
                let ahead = old.wrapping_sub(now);
                let ahead = if ahead > top { 0 } else { ahead };
                let green = ahead <= limit;
                if green {
                    *word = now.wrapping_add(ahead).wrapping_add(inc);
                }
                u32::from(!green)
            }
        };
        for (to, result) in [(self.old_to, old), (self.new_to, shown)] {
            if let Some(i) = to {
                after.set(Container::of(Class::C4, i), u64::from(result));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{Action, Cross};
    use crate::phv::{Word, c4};
    use crate::target::DATA;

    struct Bench {
        words: Vec<u32>,
        conditions: [bool; 2],
        stamp: u64,
        length: u16,
        cross: u16,
    }

    impl Bench {
        fn new(words: &[u32]) -> Self {
            Self { words: words.to_vec(), conditions: [false; 2], stamp: 0, length: 0, cross: 0 }
        }

        fn run(&mut self, op: &StateOp) -> (bool, Phv) {
            let mut phv = Phv::default();
            phv.set_word(Word::Scratch0, self.cross);
            let context =
                Context { conditions: self.conditions, hash: 0, number: 0, data: &[0; DATA], system_stage: false };
            let action = Action { cross: Cross::Words(14), ..Action::default() };
            let operands = Operands::read(&action, &phv, &context);
            let done = op.execute(&mut self.words, &operands, &context, (self.stamp, self.length), &mut phv);
            (done, phv)
        }
    }

    fn shown(op: StateOp) -> StateOp {
        StateOp { old_to: Some(0), new_to: Some(1), ..op }
    }

    #[test]
    fn read_write_and_add_show_both_values() {
        let mut b = Bench::new(&[7, 8]);
        b.cross = 5;
        for (then, old, new) in
            [(Update::KEEP, 8, 8), (Update::set(Operand::X), 8, 5), (Update::add(Operand::Imm(u32::MAX)), 5, 4)]
        {
            let (done, phv) = b.run(&shown(StateOp::at(1, then)));
            assert_eq!((done, phv.get(c4(0)), phv.get(c4(1)), b.words[1] as u64), (true, old, new, new));
        }
        assert_eq!(b.words[0], 7);
    }

    #[test]
    fn the_choice_by_the_old_word_takes_one_update_or_the_other() {
        // A counter that wraps to 0 at 3.
        let choice = Choice::Old(Relation::Ge, Operand::Imm(2));
        let access =
            Access::Atom { choice, then: Update::set(Operand::Imm(0)), otherwise: Update::add(Operand::Imm(1)) };
        let op = StateOp { access, ..StateOp::at(0, Update::KEEP) };
        let mut b = Bench::new(&[0]);
        let seen: Vec<u32> = (0..5)
            .map(|_| {
                b.run(&op);
                b.words[0]
            })
            .collect();
        assert_eq!(seen, [1, 2, 0, 1, 2]);
    }

    #[test]
    fn the_choice_by_a_condition_and_subtraction() {
        let minus = Update { old: true, value: Operand::Imm(10), negate: true };
        let access = Access::Atom { choice: Choice::When(When::If(1)), then: minus, otherwise: Update::KEEP };
        let op = StateOp { access, ..StateOp::at(0, Update::KEEP) };
        let mut b = Bench::new(&[25]);
        b.run(&op);
        assert_eq!(b.words, [25]);
        b.conditions = [false, true];
        b.run(&op);
        assert_eq!(b.words, [15]);
    }

    #[test]
    fn without_its_condition_there_is_no_access_and_no_result() {
        let op = StateOp { when: When::If(0), ..shown(StateOp::at(9, Update::set(Operand::Imm(1)))) };
        let (done, phv) = Bench::new(&[4]).run(&op);
        assert_eq!((done, phv.get(c4(0))), (true, 0));
    }

    #[test]
    fn an_index_behind_the_modules_words_changes_nothing_and_says_so() {
        let mut b = Bench::new(&[1, 2]);
        let (done, phv) = b.run(&shown(StateOp::at(2, Update::set(Operand::Imm(9)))));
        assert_eq!((done, b.words.clone(), phv.get(c4(1))), (false, vec![1, 2], 0));
    }

    #[test]
    fn the_index_is_the_masked_source_plus_the_base() {
        let mut b = Bench::new(&[0; 8]);
        b.cross = 0xfff3;
        let op =
            StateOp { source: IndexSource::X, index_mask: 3, base: 4, ..StateOp::at(0, Update::set(Operand::Imm(1))) };
        b.run(&op);
        assert_eq!(b.words, [0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_meter_passes_its_burst_and_then_its_rate() {
        // One packet in 100 ticks, four at once: time in ticks (shift 8).
        let access = Access::Meter { limit: 300, cost: 100, top: 400, per_packet: true, shift: 8 };
        let op = shown(StateOp { access, ..StateOp::at(0, Update::KEEP) });
        let mut b = Bench::new(&[0]);
        let mut colours = |stamp: u64, n: usize| -> Vec<u64> {
            b.stamp = stamp;
            (0..n).map(|_| b.run(&op).1.get(c4(1))).collect()
        };
        assert_eq!(colours(1000, 6), [0, 0, 0, 0, 1, 1]);
        assert_eq!(colours(1100, 2), [0, 1]);
        assert_eq!(colours(1199, 1), [1]);
        assert_eq!(colours(10_000, 5), [0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_meter_by_bytes_charges_the_length_and_works_across_the_wrap_of_its_clock() {
        let access = Access::Meter { limit: 0, cost: 1 << 16, top: 9216, per_packet: false, shift: 8 };
        let op = shown(StateOp { access, ..StateOp::at(0, Update::KEEP) });
        let start = (1u64 << 32) - 250;
        let colours = |word: u32| {
            let mut b = Bench::new(&[word]);
            b.length = 500;
            [start, start + 499, start + 500].map(|stamp| {
                b.stamp = stamp;
                b.run(&op).1.get(c4(1))
            })
        };
        assert_eq!(colours(start as u32 - 1), [0, 1, 0]);
        // The price of 32 bits: a zeroed word is taken for used until the clock wraps.
        assert_eq!(colours(0), [1, 0, 1]);
    }
}
