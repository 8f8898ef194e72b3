//! Random numbers and sets of numbers that contain a known one.

use super::num::Num;
use super::range::Range;
use super::tnum::{Tnum, low};
use sluice_formats::random::Rng;

/// A number; edges of the widths are frequent.
pub fn any_word(rng: &mut Rng) -> u64 {
    let x = match rng.below(8) {
        0 => 0,
        1 => 1u64 << rng.below(64),
        2 => low(rng.below(65) as u32),
        3 => rng.below(300),
        4 => u64::from(rng.next_u32()),
        5 => i64::from(rng.next_u32() as i32) as u64,
        _ => rng.next_u64(),
    };
    if rng.chance(1, 4) { x.wrapping_sub(rng.below(3)) } else { x }
}

/// A set and one of its members.
pub fn any_num(rng: &mut Rng) -> (Num, u64) {
    let x = any_word(rng);
    let others: Vec<u64> = (0..rng.below(3))
        .map(|_| if rng.chance(1, 2) { x.wrapping_add(rng.below(300)).wrapping_sub(150) } else { any_word(rng) })
        .collect();
    let hull = others.iter().fold(Num::constant(x), |n, y| n.join(Num::constant(*y)));
    // Each description alone is a larger set, and reaches what hulls of few numbers do not.
    let n = match rng.below(5) {
        0 => Num { whole: hull.whole, ..Num::unknown() },
        1 => Num { half: hull.half, ..Num::unknown() },
        2 => {
            let mask = rng.next_u64() & rng.next_u64();
            Num { bits: Tnum { value: x & !mask, mask }, ..Num::unknown() }
        }
        3 => Num { whole: Range { umin: 0, umax: u64::MAX, ..hull.whole }, ..Num::unknown() },
        _ => hull,
    };
    (n.settle().expect("it holds x"), x)
}
