//! Faults on the configuration ring, by seed: what a driver must live with.
//!
//! Requests are lost, corrupted or repeated, but never overtake each other: a ring is a wire.
//! Replies are in addition delayed, by which they do overtake each other.

use sluice_formats::random::Rng;

/// Chances in 256ths, each for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The message disappears.
    pub drop: u8,
    /// Bits flip, a word is lost or doubled, or the end of the message is lost.
    pub corrupt: u8,
    /// The message comes twice.
    pub duplicate: u8,
    /// A reply comes later.
    pub delay: u8,
    /// Longest delay in ticks.
    pub longest_delay: u16,
}

impl Faults {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.drop | self.corrupt | self.duplicate | self.delay != 0
    }
}

/// Words on the ring; without `ended` the receiver still waits for the end of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Words.
    pub words: Vec<u32>,
    /// The last word is marked as such.
    pub ended: bool,
}

/// What the injector has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Messages seen.
    pub messages: u64,
    /// Lost.
    pub dropped: u64,
    /// Corrupted.
    pub corrupted: u64,
    /// Doubled.
    pub duplicated: u64,
    /// Delayed.
    pub delayed: u64,
}

/// Puts faults into messages of both directions.
#[derive(Clone, Debug)]
pub struct FaultInjector {
    faults: Faults,
    rng: Rng,
    delayed: Vec<(u64, Vec<u32>)>,
    counts: FaultCounts,
}

impl FaultInjector {
    /// An injector whose choices follow from the seed.
    pub fn new(faults: Faults, seed: u64) -> Self {
        Self { faults, rng: Rng::new(seed), delayed: Vec::new(), counts: FaultCounts::default() }
    }

    /// What it has done so far.
    pub fn counts(&self) -> FaultCounts {
        self.counts
    }

    /// What becomes of a request on its way to the NIC.
    pub fn request(&mut self, words: Vec<u32>) -> Vec<Transmission> {
        if !self.faults.any() {
            return vec![Transmission { words, ended: true }];
        }
        let mut sent = Vec::new();
        for words in self.lose_or_double(words) {
            if self.hit(self.faults.corrupt) {
                self.counts.corrupted += 1;
                // A lost end glues the next message to this one; both are then discarded.
                let ended = !self.rng.chance(1, 8);
                let words = if ended { corrupted(words, &mut self.rng) } else { words };
                sent.push(Transmission { words, ended });
            } else {
                sent.push(Transmission { words, ended: true });
            }
        }
        sent
    }

    /// What becomes at tick `now` of a reply on its way to the host; delayed ones come by `due`.
    pub fn reply(&mut self, words: Vec<u32>, now: u64) -> Vec<Vec<u32>> {
        if !self.faults.any() {
            return vec![words];
        }
        let mut arrived = Vec::new();
        for mut words in self.lose_or_double(words) {
            if self.hit(self.faults.corrupt) {
                self.counts.corrupted += 1;
                words = corrupted(words, &mut self.rng);
            }
            if self.hit(self.faults.delay) {
                self.counts.delayed += 1;
                let until = now + self.rng.range(1, self.faults.longest_delay.max(1).into());
                self.delayed.push((until, words));
            } else {
                arrived.push(words);
            }
        }
        arrived
    }

    /// Delayed replies whose time has come.
    pub fn due(&mut self, now: u64) -> Vec<Vec<u32>> {
        let (due, later) = std::mem::take(&mut self.delayed).into_iter().partition(|(at, _)| *at <= now);
        self.delayed = later;
        let mut due: Vec<(u64, Vec<u32>)> = due;
        due.sort_by_key(|(at, _)| *at);
        due.into_iter().map(|(_, words)| words).collect()
    }

    /// When the next delayed reply comes.
    pub fn next_due(&self) -> Option<u64> {
        self.delayed.iter().map(|(at, _)| *at).min()
    }

    fn hit(&mut self, chance: u8) -> bool {
        chance != 0 && self.rng.chance(chance.into(), 256)
    }

    fn lose_or_double(&mut self, words: Vec<u32>) -> Vec<Vec<u32>> {
        self.counts.messages += 1;
        if self.hit(self.faults.drop) {
            self.counts.dropped += 1;
            return Vec::new();
        }
        if self.hit(self.faults.duplicate) {
            self.counts.duplicated += 1;
            return vec![words.clone(), words];
        }
        vec![words]
    }
}

/// Up to four flipped bits (CRC-32C finds every such message), or a word too few or too many.
fn corrupted(mut words: Vec<u32>, rng: &mut Rng) -> Vec<u32> {
    if words.is_empty() {
        return words;
    }
    let at = rng.index(words.len());
    match rng.below(8) {
        0 => {
            words.remove(at);
        }
        1 => words.insert(at, rng.next_u32()),
        2 => words.truncate(at),
        _ => {
            let before = words.clone();
            // Two flips of one bit would undo each other.
            while words == before {
                for _ in 0..rng.range(1, 4) {
                    let bit = rng.index(words.len() * 32);
                    words[bit / 32] ^= 1 << (bit % 32);
                }
            }
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::random::test_seed;
    use sluice_formats::{Message, Op, Status};

    fn message(sequence: u16) -> Vec<u32> {
        let data = vec![sequence.into(), 7];
        Message { op: Op::Write, status: Status::Ok, node: 2, sequence, table: 1, index: 5, data }.encode()
    }

    #[test]
    fn without_faults_messages_pass_as_they_are() {
        let mut injector = FaultInjector::new(Faults::default(), 1);
        assert_eq!(injector.request(message(1)), [Transmission { words: message(1), ended: true }]);
        assert_eq!(injector.reply(message(1), 9), [message(1)]);
        assert_eq!(injector.counts(), FaultCounts::default());
    }

    #[test]
    fn every_corrupted_message_is_refused() {
        let seed = test_seed("every_corrupted_message_is_refused");
        let mut injector = FaultInjector::new(Faults { corrupt: 255, ..Faults::default() }, seed);
        for sequence in 0..5_000 {
            for words in injector.reply(message(sequence), 0) {
                if words != message(sequence) {
                    assert!(Message::decode(&words).is_err(), "{words:08x?}");
                }
            }
        }
        assert!(injector.counts().corrupted > 4_900);
    }

    #[test]
    fn the_shares_are_those_asked_for() {
        let seed = test_seed("the_shares_are_those_asked_for");
        let faults = Faults { drop: 26, corrupt: 26, duplicate: 26, delay: 51, longest_delay: 100 };
        let mut injector = FaultInjector::new(faults, seed);
        let mut arrived = 0;
        for i in 0..10_000 {
            arrived += injector.reply(message(i as u16), i).len() + injector.due(i).len();
        }
        arrived += injector.due(20_000).len();
        let counts = injector.counts();
        assert_eq!(arrived as u64, 10_000 - counts.dropped + counts.duplicated);
        // 10 % and 20 % of 10,000; six standard deviations are 180 and 240.
        for (count, expected, slack) in [
            (counts.dropped, 1_016, 190),
            (counts.corrupted, 1_016, 190),
            (counts.duplicated, 914, 190),
            (counts.delayed, 1_992, 250),
        ] {
            assert!(count.abs_diff(expected) < slack, "{counts:?}");
        }
    }

    #[test]
    fn delayed_replies_come_at_their_time_and_once() {
        let mut injector = FaultInjector::new(Faults { delay: 255, longest_delay: 50, ..Faults::default() }, 3);
        let mut waiting = 0;
        for i in 0..100 {
            waiting += 1 - injector.reply(message(i), 1_000).len();
        }
        assert!(waiting > 90);
        let first = injector.next_due().unwrap();
        assert!(injector.due(first - 1).is_empty());
        assert!(!injector.due(first).is_empty());
        injector.due(1_050);
        assert_eq!(injector.next_due(), None);
    }
}
