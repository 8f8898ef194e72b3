//! The one random generator of the project: xoshiro256\*\*, seeded by splitmix64.
//!
//! Software models, packet generators, benches and the simulator's reset values all draw
//! from it, so that one printed seed repeats a whole run. Both algorithms are public domain
//! (Blackman and Vigna); the test vectors below are theirs.

/// Environment variable that fixes the seed of every random test.
pub const SEED_VARIABLE: &str = "SLUICE_SEED";

/// One step of splitmix64: advances `state` and returns the next word.
///
/// Only for seeding: its 64-bit state is too small for long runs.
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A xoshiro256\*\* generator. Same seed, same sequence, on every platform.
///
/// Not for secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// A generator whose four state words are the first four of splitmix64 from `seed`.
    ///
    /// Every seed is good, 0 too: splitmix64 never yields four zeros in a row.
    pub fn new(seed: u64) -> Self {
        let mut mix = seed;
        Rng { state: std::array::from_fn(|_| splitmix64(&mut mix)) }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// The next 32 bits: the high half of a word, which is the better one.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Uniform in `0..n`, without bias. 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // Lemire's multiplication: the high word is the result, and low words under
        // 2^64 mod n are drawn again, because they would favour small results.
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform in `0..len`, as an index. 0 when `len` is 0.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Uniform in `low..=high`, both ends included. `low` when `high` is below it.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        match high.checked_sub(low) {
            None => low,
            Some(u64::MAX) => self.next_u64(),
            Some(span) => low + self.below(span + 1),
        }
    }

    /// True with probability `num / den`; never when `num` is 0, always when `num >= den`.
    pub fn chance(&mut self, num: u64, den: u64) -> bool {
        self.below(den) < num
    }

    /// Fills `bytes`: words in order, each little-endian, the last one cut.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    /// `len` random bytes, as [`Rng::fill`] gives them.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.fill(&mut bytes);
        bytes
    }

    /// Puts `items` into a uniformly random order (Fisher and Yates, from the end).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.index(i + 1));
        }
    }

    /// One of `items`, uniformly; `None` when there is none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() {
            return None;
        }
        Some(&items[self.index(items.len())])
    }

    /// A generator of its own, so that one consumer's draws do not move another's.
    pub fn fork(&mut self) -> Rng {
        Rng::new(self.next_u64())
    }
}

/// Whether tests run at full length: `SLUICE_LONG` is set.
pub fn test_is_long() -> bool {
    std::env::var_os("SLUICE_LONG").is_some()
}

/// The seed of a random test: `SLUICE_SEED` (decimal or 0x...), one from the clock if that is
/// `random`, and one of the test's own, always the same, without it (docs/decisions/seeds.md).
///
/// Prints it, so that a failure can be repeated. Says so when the variable is no number.
pub fn test_seed(test: &str) -> u64 {
    let own = u64::from(crate::hash::crc32c(test.as_bytes()));
    let seed = match std::env::var(SEED_VARIABLE) {
        Ok(text) if text == "random" => {
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(own, |t| t.as_nanos() as u64)
        }
        Ok(text) => parse_seed(&text).unwrap_or_else(|| {
            eprintln!("{SEED_VARIABLE} is `{text}`, expected `random` or a number below 2^64: not used");
            own
        }),
        Err(_) => own,
    };
    println!("{test}: {SEED_VARIABLE}={seed}");
    seed
}

fn parse_seed(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_gives_its_published_sequence() {
        let mut state = 1_234_567;
        let got: Vec<u64> = (0..5).map(|_| splitmix64(&mut state)).collect();
        let want =
            [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821];
        assert_eq!(got, want);
    }

    #[test]
    fn xoshiro_gives_its_published_sequence_from_state_1_2_3_4() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let got: Vec<u64> = (0..10).map(|_| rng.next_u64()).collect();
        let want = [
            11520,
            0,
            1509978240,
            1215971899390074240,
            1216172134540287360,
            607988272756665600,
            16172922978634559625,
            8476171486693032832,
            10595114339597558777,
            2904607092377533576,
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn a_seed_fixes_the_sequence() {
        // Golden: other parts of the project (benches, harness) rely on these words.
        let mut rng = Rng::new(1);
        let got: Vec<u64> = (0..4).map(|_| rng.next_u64()).collect();
        assert_eq!(got, GOLDEN_SEED_1);
        assert_ne!(Rng::new(0).next_u64(), Rng::new(1).next_u64());
    }

    const GOLDEN_SEED_1: [u64; 4] =
        [12966619160104079557, 9600361134598540522, 10590380919521690900, 7218738570589545383];

    #[test]
    fn below_stays_below_and_reaches_every_value_evenly() {
        let mut rng = Rng::new(7);
        let mut seen = [0u32; 7];
        for _ in 0..70_000 {
            seen[rng.below(7) as usize] += 1;
        }
        // 10,000 expected each, standard deviation 93: six of them either way.
        assert!(seen.iter().all(|&n| (9_440..=10_560).contains(&n)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
        assert!(rng.below(u64::MAX) < u64::MAX);
    }

    #[test]
    fn range_includes_both_ends() {
        let mut rng = Rng::new(3);
        let drawn: Vec<u64> = (0..200).map(|_| rng.range(5, 8)).collect();
        for value in 5..=8 {
            assert!(drawn.contains(&value));
        }
        assert!(drawn.iter().all(|v| (5..=8).contains(v)));
        assert_eq!(rng.range(9, 9), 9);
        assert_eq!(rng.range(9, 2), 9);
        rng.range(0, u64::MAX);
    }

    #[test]
    fn chance_zero_never_and_one_always() {
        let mut rng = Rng::new(4);
        assert!((0..100).all(|_| !rng.chance(0, 5)));
        assert!((0..100).all(|_| rng.chance(5, 5)));
        let hits = (0..10_000).filter(|_| rng.chance(1, 5)).count();
        assert!((1_760..=2_240).contains(&hits), "{hits}");
    }

    #[test]
    fn fill_is_little_endian_words_in_order() {
        let mut words = Rng::new(9);
        let (first, second) = (words.next_u64(), words.next_u64());
        let bytes = Rng::new(9).bytes(11);
        assert_eq!(bytes[..8], first.to_le_bytes());
        assert_eq!(bytes[8..], second.to_le_bytes()[..3]);
    }

    #[test]
    fn shuffle_keeps_every_item_and_choose_finds_each() {
        let mut rng = Rng::new(5);
        let mut items: Vec<u32> = (0..50).collect();
        rng.shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        let mut sorted = items.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
        let picks: std::collections::BTreeSet<u32> = (0..2_000).filter_map(|_| rng.choose(&items).copied()).collect();
        assert_eq!(picks.len(), 50);
        assert_eq!(rng.choose::<u32>(&[]), None);
    }

    #[test]
    fn a_fork_does_not_move_with_its_parent() {
        let mut parent = Rng::new(6);
        let mut child = parent.fork();
        let mut again = Rng::new(6).fork();
        parent.next_u64();
        assert_eq!(child.next_u64(), again.next_u64());
    }

    #[test]
    fn seeds_are_decimal_or_hexadecimal() {
        assert_eq!(parse_seed("12"), Some(12));
        assert_eq!(parse_seed("0xff"), Some(255));
        assert_eq!(parse_seed("nine"), None);
    }
}
