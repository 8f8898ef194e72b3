//! Algorithm 1: `get_MAT`, a depth-first search that makes a rule at each terminal node.

use super::evaluate::{Next, State, Stop};
use super::{Action, ENTRIES, KEY, Matches, Rule, Table};
use crate::warp::bits::{Bit, Bits, FRAME};
use sluice_ebpf::Program;

/// A program's rules.
pub fn optimize(program: &Program) -> Table {
    let mut search = Search { program, table: Table::default(), fields: Vec::new() };
    search.get_mat(State::start(), Matches::new());
    search.table
}

struct Search<'a> {
    program: &'a Program,
    table: Table,
    /// `fields`: bytes that rules ask.
    fields: Vec<u16>,
}

impl Search<'_> {
    /// What begins at the state's slot. A rule's priority is its place in the list.
    fn get_mat(&mut self, mut state: State, matches: Matches) {
        if self.table.rules.len() == ENTRIES {
            return;
        }
        match state.run(self.program) {
            Next::Exit(r0) => self.rule(matches, Action::Forward(r0), state),
            Next::Terminal(why) => self.restore(matches, state, why),
            Next::Match { bits, value, holds, fails } => {
                // Mend: the paper takes the edge that is taken first. The side on which the comparison holds is the one with a match, whichever edge it is.
                let matched = match matched(&bits, value) {
                    Matched::Never => None,
                    Matched::Bytes(new) if self.has_room(&new) => Some(new),
                    _ => {
                        state.path.pop();
                        return self.restore(matches, state, Stop::Room);
                    }
                };
                if let Some(both) = matched.as_ref().and_then(|new| joined(&matches, new)) {
                    let new = matched.iter().flatten().map(|(at, _)| *at);
                    self.fields.extend(new);
                    self.fields.sort_unstable();
                    self.fields.dedup();
                    self.get_mat(State { slot: holds, ..state.clone() }, both);
                }
                self.get_mat(State { slot: fails, ..state }, matches);
            }
        }
    }

    /// At the terminal's own instruction: the registers and the stack are as they are before it.
    fn restore(&mut self, matches: Matches, state: State, why: Stop) {
        let registers = std::array::from_fn(|r| state.registers[r]);
        let action = Action::Restore { pc: state.slot, why, registers, stack: state.stack.written() };
        self.rule(matches, action, state);
    }

    fn rule(&mut self, matches: Matches, action: Action, State { path, assumed, .. }: State) {
        if self.table.rules.len() < ENTRIES {
            self.table.rules.push(Rule { matches, action, path, assumed });
        }
    }

    fn has_room(&self, new: &Matches) -> bool {
        let more = new.keys().filter(|at| !self.fields.contains(at)).count();
        self.fields.len() + more <= KEY
    }
}

enum Matched {
    /// The value is none that the bits can have.
    Never,
    Bytes(Matches),
    /// It is asked of what is no byte of the frame.
    Elsewhere,
}

/// `Match`: which bits of the frame are what.
fn matched(bits: &Bits, value: u64) -> Matched {
    let mut matches = Matches::new();
    for (n, bit) in bits.0.iter().enumerate() {
        let wanted = value >> n & 1 == 1;
        let (source, wanted) = match *bit {
            Bit::Is(source) => (source, wanted),
            Bit::Not(source) => (source, !wanted),
            Bit::Zero | Bit::One if bit.constant() == Some(wanted) => continue,
            Bit::Zero | Bit::One => return Matched::Never,
        };
        if usize::from(source / 8) >= FRAME {
            return Matched::Elsewhere;
        }
        let one = Matches::from([(source / 8, (1 << (source % 8), u8::from(wanted) << (source % 8)))]);
        match joined(&matches, &one) {
            Some(both) => matches = both,
            None => return Matched::Never,
        }
    }
    Matched::Bytes(matches)
}

/// Both; none if they contradict each other: mend, such a rule has no entry.
fn joined(a: &Matches, b: &Matches) -> Option<Matches> {
    let mut both = a.clone();
    for (at, (mask, value)) in b {
        let (known, there) = both.entry(*at).or_default();
        if (*there ^ value) & *known & mask != 0 {
            return None;
        }
        *known |= mask;
        *there |= value;
    }
    Some(both)
}
