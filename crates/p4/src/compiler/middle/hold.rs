//! Values that wait while others are found: a visit may end meanwhile, so they are kept, and have other names afterwards.

use super::symbolic::{Follower, Way};
use super::value::V;
use crate::compiler::ir::Bits;

impl Follower<'_> {
    /// Finds something while numbers wait, each in one piece.
    pub fn while_held<T>(&mut self, held: &mut [Bits], find: impl FnOnce(&mut Self) -> Way<T>) -> Way<T> {
        let depth = self.pending.len();
        self.pending.extend(held.iter().map(|bits| (bits.clone(), true)));
        let found = find(self)?;
        for (place, (bits, _)) in held.iter_mut().zip(self.pending.drain(depth..)) {
            *place = bits;
        }
        Ok(found)
    }

    /// Finds something while values wait.
    pub fn beside_values<T>(&mut self, values: &mut [V], find: impl FnOnce(&mut Self) -> Way<T>) -> Way<T> {
        let depth = self.pending.len();
        for value in values.iter_mut() {
            value.leaves(&mut Vec::new(), &mut |_, bits| self.pending.push((bits.clone(), false)));
        }
        let found = find(self)?;
        let mut kept = self.pending.split_off(depth).into_iter();
        for value in values {
            value.leaves(&mut Vec::new(), &mut |_, bits| {
                if let Some((now, _)) = kept.next() {
                    *bits = now;
                }
            });
        }
        Ok(found)
    }
}
