//! Stamps of pcapng interfaces, whatever their resolution.

use super::error::CaptureProblem;

/// Resolution and origin of an interface's stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    /// if_tsresol: a negative power of ten, or of two if the top bit is set.
    pub resolution: u8,
    /// if_tsoffset: seconds to be added.
    pub offset: i64,
}

impl Default for Clock {
    fn default() -> Self {
        // Microseconds, unless the interface says otherwise.
        Clock { resolution: 6, offset: 0 }
    }
}

const NANOSECONDS: u128 = 1_000_000_000;

impl Clock {
    /// The stamp in nanoseconds since 1970, rounded down.
    pub fn nanoseconds(self, ticks: u64) -> Result<u64, CaptureProblem> {
        let exponent = u32::from(self.resolution & 0x7f);
        let wide = u128::from(ticks);
        let since = if self.resolution & 0x80 != 0 {
            // 64 + 30 bits: no overflow, and 127 is a legal shift.
            Some((wide * NANOSECONDS) >> exponent)
        } else if exponent <= 9 {
            Some(wide * 10u128.pow(9 - exponent))
        } else {
            // A power beyond 128 bits is finer than any 64-bit count of ticks can reach.
            Some(10u128.checked_pow(exponent - 9).map_or(0, |p| wide / p))
        };
        let offset = i128::from(self.offset) * NANOSECONDS as i128;
        since
            .and_then(|since| i128::try_from(since).ok())
            .and_then(|since| u64::try_from(since + offset).ok())
            .ok_or_else(|| CaptureProblem::Stamp {
                found: format!("{ticks} (if_tsresol {:#04x}, if_tsoffset {})", self.resolution, self.offset),
                expected: "nanoseconds since 1970 below 2^64, which is the year 2554",
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(resolution: u8, ticks: u64) -> Option<u64> {
        let clock = Clock { resolution, offset: 0 };
        clock.nanoseconds(ticks).ok()
    }

    #[test]
    fn powers_of_ten_and_of_two_become_nanoseconds() {
        assert_eq!(at(6, 1_500_000), Some(1_500_000_000));
        assert_eq!(at(9, 7), Some(7));
        assert_eq!(at(0, 3), Some(3_000_000_000));
        assert_eq!(at(12, 1_999), Some(1));
        assert_eq!(at(0x80, 2), Some(2_000_000_000));
        // 2^-10 s: 1024 ticks are a second.
        assert_eq!(at(0x8a, 1536), Some(1_500_000_000));
        assert_eq!(at(0x80 | 32, 1 << 31), Some(500_000_000));
    }

    #[test]
    fn absurd_resolutions_are_zero_or_refused_but_never_overflow() {
        assert_eq!(at(127, u64::MAX), Some(0));
        assert_eq!(at(0xff, u64::MAX), Some(0));
        assert_eq!(at(0, u64::MAX), None);
        assert_eq!(at(0x80, u64::MAX), None);
    }

    #[test]
    fn an_offset_moves_the_stamp_and_may_not_make_it_negative() {
        let clock = |offset| Clock { resolution: 9, offset };
        assert_eq!(clock(-1).nanoseconds(1_000_000_005).unwrap(), 5);
        assert_eq!(clock(2).nanoseconds(1).unwrap(), 2_000_000_001);
        assert!(clock(-1).nanoseconds(5).is_err());
        assert!(clock(i64::MIN).nanoseconds(u64::MAX).is_err());
        assert!(clock(i64::MAX).nanoseconds(u64::MAX).is_err());
    }
}
