//! Shares at ports in a replay, with the doubt about the instant at which a row was written.

use crate::share::Bucket;
use sluice_formats::Target;
use sluice_formats::rows::ShareRow;

/// What each module's share at each port may be: one state but while a row is being written and until frames
/// behind that have told which frame was the first to meet it.
#[derive(Debug)]
pub(super) struct Shares {
    target: Target,
    states: Vec<Vec<Bucket>>,
}

impl Shares {
    pub fn new(target: Target) -> Self {
        Self { target, states: vec![vec![Bucket::default()]; (target.ports * target.modules) as usize] }
    }

    /// A good frame has ended, and the device says whether it is beyond its share. Gives its cost, or nothing if no state,
    /// nor a row that may have been written before the frame, agrees.
    pub fn judge(
        &mut self,
        (port, module): (u8, u8),
        ticks: u64,
        bytes: u32,
        beyond: bool,
        asked: impl Iterator<Item = ShareRow>,
    ) -> Option<u32> {
        let target = self.target;
        let mut states = self.states(port, module).clone();
        states.extend(asked.map(Bucket::new));
        let mut cost = None;
        states.retain_mut(|bucket| {
            let its_cost = bucket.cost(bytes, &target);
            let agrees = bucket.is_beyond(ticks, its_cost) == beyond;
            if agrees {
                cost = cost.max(Some(its_cost));
            }
            agrees
        });
        states.dedup();
        if cost.is_some() {
            *self.states(port, module) = states;
        }
        cost
    }

    /// A row was written, before this or before any frame since it was asked for.
    pub fn written(&mut self, port: u8, module: u8, row: ShareRow) {
        let states = self.states(port, module);
        states.retain(|bucket| bucket.row == row);
        states.push(Bucket::new(row));
    }

    fn states(&mut self, port: u8, module: u8) -> &mut Vec<Bucket> {
        &mut self.states[usize::from(port) * self.target.modules as usize + usize::from(module)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::TINY;

    const TWO_BEATS: ShareRow = ShareRow { ticks_per_beat: 8 << 16, burst: 16, growth: 0 };

    fn judge(shares: &mut Shares, ticks: u64, beyond: bool, asked: &[ShareRow]) -> bool {
        shares.judge((1, 2), ticks, 32, beyond, asked.iter().copied()).is_some()
    }

    #[test]
    fn frames_beyond_and_within_a_share_are_told_apart() {
        let mut shares = Shares::new(TINY);
        assert!(!judge(&mut shares, 0, true, &[]), "without a row nothing is beyond");
        shares.written(1, 2, TWO_BEATS);
        assert!(judge(&mut shares, 0, false, &[]) && judge(&mut shares, 0, false, &[]));
        assert!(!judge(&mut shares, 0, false, &[]), "the burst is used up");
        assert!(judge(&mut shares, 0, true, &[]) && judge(&mut shares, 8, false, &[]));
    }

    #[test]
    fn a_row_counts_from_any_frame_since_it_was_asked_for_and_is_found_out_by_what_follows() {
        let mut shares = Shares::new(TINY);
        for _ in 0..3 {
            assert!(judge(&mut shares, 0, false, &[TWO_BEATS]));
        }
        assert!(judge(&mut shares, 0, true, &[TWO_BEATS]), "written before the second frame");
        shares.written(1, 2, TWO_BEATS);
        assert!(judge(&mut shares, 0, true, &[]));
        assert!(!judge(&mut shares, 0, false, &[]), "no other moment agrees any more");
    }
}
