//! The published Warp Optimizer and Warp Engine in the model, for the tables of docs/warp-paper.md: what they would save on our programs.
//!
//! Algorithm 1 of the thesis (M. Spaziani Brunella, 2023, section 5.2.3) with only the mends that docs/decisions/xdp-warp.md lists. Rules compare bytes of the
//! frame for equality, know no length, and a packet goes on at the call or write that ended its path, with registers and stack copied.
//! Nothing else uses this: the table that packets pass is [`super::Table`].

mod engine;
mod evaluate;
mod rules;
#[cfg(test)]
mod tests;

pub use engine::Engine;
pub use evaluate::Stop;
pub use rules::optimize;

use super::bits::Seen;
use super::value::Value;
use std::collections::BTreeMap;

/// Bytes of the key, and rules.
pub const KEY: usize = 16;
/// Entries of the published TCAM.
pub const ENTRIES: usize = 64;

/// What the frame's bytes have to be: mask and value by offset.
pub type Matches = BTreeMap<u16, (u8, u8)>;

/// One rule; its priority is its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What it asks.
    pub matches: Matches,
    /// What becomes of the packet.
    pub action: Action,
    /// Instructions that are done then, by slot.
    pub path: Vec<u32>,
    /// Those of them that ask whether the frame is long enough, which is taken for granted.
    pub assumed: Vec<u32>,
}

/// What becomes of a packet.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are few")]
pub enum Action {
    /// The program ends with this in r0.
    Forward(u64),
    /// It goes on.
    Restore {
        /// At this slot.
        pc: u32,
        /// Why.
        why: Stop,
        /// r0 to r9; what is not set stays 0.
        registers: [Value; 10],
        /// Of the stack: offset from its end, bytes, and what stands there.
        stack: Vec<(i64, u8, Value)>,
    },
}

/// A program's rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The first that matches counts. What none matches begins at the program's first instruction.
    pub rules: Vec<Rule>,
}

impl Table {
    /// The rule of a packet.
    pub fn rule(&self, seen: &Seen) -> Option<usize> {
        let is_so = |(at, (mask, value)): (&u16, &(u8, u8))| seen.bytes[usize::from(*at)] & mask == *value;
        self.rules.iter().position(|rule| rule.matches.iter().all(is_so))
    }

    /// Bytes of the frame that rules ask.
    pub fn key(&self) -> Vec<u16> {
        let all = self.rules.iter().flat_map(|rule| rule.matches.keys().copied());
        all.collect::<std::collections::BTreeSet<u16>>().into_iter().collect()
    }

    /// Most bytes of the stack that a rule restores.
    pub fn stack(&self) -> usize {
        let of = |rule: &Rule| match &rule.action {
            Action::Restore { stack, .. } => stack.iter().map(|(_, bytes, _)| usize::from(*bytes)).sum(),
            Action::Forward(_) => 0,
        };
        self.rules.iter().map(of).max().unwrap_or_default()
    }
}
