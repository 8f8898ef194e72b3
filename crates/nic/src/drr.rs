//! Deficit round robin by balance with overdraft (docs/design/nic.md, "Queues").

/// A scheduler over at most 64 members.
#[derive(Clone, Debug)]
pub struct Drr {
    balance: Vec<i64>,
    /// Whose turn it is, or was last.
    last: usize,
    in_turn: bool,
}

impl Drr {
    /// A scheduler of `members`, all without debt; member 0 is asked first.
    pub fn new(members: usize) -> Self {
        Self { balance: vec![0; members], last: members.saturating_sub(1), in_turn: false }
    }

    /// The member to serve next, of those with a bit in `active`.
    pub fn next(&mut self, active: u64, quantum: impl Fn(usize) -> u32) -> Option<usize> {
        if active == 0 {
            return None;
        }
        if self.in_turn && active >> self.last & 1 == 1 && self.balance[self.last] > 0 {
            return Some(self.last);
        }
        self.in_turn = true;
        loop {
            let start = self.last;
            let mut member = start;
            loop {
                member = next_bit(active, member);
                let balance = &mut self.balance[member];
                *balance = (*balance).min(0) + i64::from(quantum(member).max(1));
                if *balance > 0 {
                    self.last = member;
                    return Some(member);
                }
                if member == last_before_wrap(active, start) {
                    break;
                }
            }
            self.skip_rounds(active, &quantum);
        }
    }

    /// After a round in which nobody could send: the rounds that would change nothing but the
    /// balances, at once.
    fn skip_rounds(&mut self, active: u64, quantum: impl Fn(usize) -> u32) {
        let members = || (0..self.balance.len()).filter(|m| active >> m & 1 == 1);
        let gain = |m: usize| i64::from(quantum(m).max(1));
        // Every balance is at most 0 here. It becomes positive in round -balance / gain + 1.
        let rounds = members().map(|m| -self.balance[m] / gain(m)).min().unwrap_or(0);
        for m in members().collect::<Vec<_>>() {
            self.balance[m] += rounds * gain(m);
        }
    }

    /// Charges what was served. `empty`: the member has nothing more, so its turn ends.
    pub fn charge(&mut self, member: usize, cost: u32, empty: bool) {
        self.balance[member] -= i64::from(cost);
        if empty && member == self.last {
            self.in_turn = false;
        }
    }
}

/// The first set bit above `after`, or the lowest one.
fn next_bit(active: u64, after: usize) -> usize {
    let above = if after >= 63 { 0 } else { active & (u64::MAX << (after + 1)) };
    (if above == 0 { active } else { above }).trailing_zeros() as usize
}

/// The last set bit of a round that starts after `start`: `start` itself or the next below.
fn last_before_wrap(active: u64, start: usize) -> usize {
    let below = if start >= 63 { active } else { active & ((1 << (start + 1)) - 1) };
    63 - (if below == 0 { active } else { below }).leading_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves packets of fixed sizes for `rounds` and counts the bytes of each member.
    fn shares(quanta: &[u32], sizes: &[u32], packets: usize) -> Vec<u64> {
        let mut drr = Drr::new(quanta.len());
        let mut bytes = vec![0u64; quanta.len()];
        for _ in 0..packets {
            let member = drr.next((1 << quanta.len()) - 1, |m| quanta[m]).unwrap();
            drr.charge(member, sizes[member], false);
            bytes[member] += u64::from(sizes[member]);
        }
        bytes
    }

    #[test]
    fn shares_follow_the_quanta_whatever_the_packet_sizes() {
        let bytes = shares(&[1500, 3000, 1500], &[64, 1500, 9000], 100_000);
        let total: u64 = bytes.iter().sum();
        for (member, share) in [(0, 4), (1, 2), (2, 4)] {
            let expected = total / share;
            assert!(bytes[member].abs_diff(expected) <= 4 * 9000, "{bytes:?}");
        }
    }

    #[test]
    fn skipped_rounds_give_what_single_rounds_give() {
        // The pseudocode of nic.md, round by round.
        let (quanta, sizes) = ([1u32, 3, 2], [70u32, 500, 9000]);
        let mut balance = [0i64; 3];
        let mut member = 2;
        let mut expected = Vec::new();
        while expected.len() < 200 {
            member = (member + 1) % 3;
            balance[member] = balance[member].min(0) + i64::from(quanta[member]);
            while balance[member] > 0 {
                balance[member] -= i64::from(sizes[member]);
                expected.push(member);
            }
        }
        let mut drr = Drr::new(3);
        let served: Vec<usize> = (0..200)
            .map(|_| {
                let m = drr.next(0b111, |m| quanta[m]).unwrap();
                drr.charge(m, sizes[m], false);
                m
            })
            .collect();
        assert_eq!(served, expected);
    }

    #[test]
    fn a_turn_ends_with_the_last_packet_and_unused_credit_is_lost() {
        let mut drr = Drr::new(64);
        assert_eq!(drr.next(1 << 63, |_| 1000), Some(63));
        drr.charge(63, 10, true);
        assert_eq!(drr.next(1 << 63 | 1, |_| 1000), Some(0));
        drr.charge(0, 1000, false);
        assert_eq!(drr.next(1 << 63 | 1, |_| 1000), Some(63));
        drr.charge(63, 1000, false);
        assert_eq!(drr.next(1 << 63 | 1, |_| 1000), Some(0), "990 bytes of credit were not kept");
        assert_eq!(drr.next(0, |_| 1), None);
    }
}
