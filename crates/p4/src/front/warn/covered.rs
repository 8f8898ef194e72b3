//! Matches by what they look at, so that the one that hides another is found without a look at each.
//!
//! Matches with the same masks are of one shape. One that is asked for is cut to the masks of each shape there is, and looked up: a
//! table with many entries has few shapes.

use num_bigint::BigInt;
use std::collections::HashMap;

/// What of one key matches.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Match {
    Any,
    /// A value where the mask has ones, and zeros elsewhere.
    Bits(BigInt, BigInt),
    Range(BigInt, BigInt),
    /// Not known here, as a value set.
    Unknown,
}

/// What of a key decides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Nothing,
    Bits(BigInt),
    Order,
}

type Range = (BigInt, BigInt);

/// Matches that differ in ranges only, if there are some.
#[derive(Debug, Default)]
struct Alike {
    /// Ranges of the keys that have some, in order, and which match they are of.
    all: Vec<(Vec<Range>, usize)>,
    /// Of the first key with ranges those that no other one holds: ends by beginnings, both growing.
    widest: std::collections::BTreeMap<BigInt, BigInt>,
    /// The first match, where there are no ranges.
    first: Option<usize>,
}

/// Matches that were met, by their shapes and values.
#[derive(Debug, Default)]
pub(super) struct Met {
    shapes: HashMap<Vec<Part>, HashMap<Vec<BigInt>, Alike>>,
}

impl Met {
    /// Takes note of a match, by its number. What is not known hides nothing.
    pub fn add(&mut self, number: usize, matches: &[Match]) {
        let (mut shape, mut values, mut ranges) = (Vec::with_capacity(matches.len()), Vec::new(), Vec::new());
        for one in matches {
            shape.push(match one {
                Match::Any => Part::Nothing,
                Match::Bits(value, mask) => {
                    values.push(value.clone());
                    Part::Bits(mask.clone())
                }
                Match::Range(low, high) => {
                    ranges.push((low.clone(), high.clone()));
                    Part::Order
                }
                Match::Unknown => return,
            });
        }
        self.shapes.entry(shape).or_default().entry(values).or_default().add(number, ranges);
    }

    /// The smallest number of those that match all that this one does; where `same` says so a key has to be the same.
    pub fn first_that_covers(&self, matches: &[Match], same: &[bool]) -> Option<usize> {
        let found = self.shapes.iter().filter_map(|(shape, all)| {
            let (mut values, mut ranges) = (Vec::new(), Vec::new());
            for (at, (part, one)) in shape.iter().zip(matches).enumerate() {
                let same = same.get(at).copied().unwrap_or(false);
                match (part, one) {
                    (Part::Nothing, Match::Any) => {}
                    (Part::Nothing, _) if !same => {}
                    (Part::Bits(mask), Match::Bits(value, wider))
                        if mask == wider || (!same && mask & wider == *mask) =>
                    {
                        values.push(value & mask);
                    }
                    (Part::Order, Match::Range(low, high)) => ranges.push((low, high, same)),
                    _ => return None,
                }
            }
            all.get(&values)?.first_that_covers(&ranges)
        });
        found.min()
    }
}

impl Alike {
    fn add(&mut self, number: usize, ranges: Vec<Range>) {
        let Some((low, high)) = ranges.first() else {
            self.first = Some(self.first.map_or(number, |first| first.min(number)));
            return;
        };
        // Ranges that this one holds go: those that begin behind it and end before it.
        if !self.is_held(low, high) {
            let held = self.widest.range(low..).take_while(|(_, end)| *end <= high);
            let held: Vec<BigInt> = held.map(|(begin, _)| begin.clone()).collect();
            held.iter().for_each(|begin| drop(self.widest.remove(begin)));
            self.widest.insert(low.clone(), high.clone());
        }
        self.all.push((ranges, number));
    }

    fn is_held(&self, low: &BigInt, high: &BigInt) -> bool {
        self.widest.range(..=low).next_back().is_some_and(|(_, end)| high <= end)
    }

    fn first_that_covers(&self, ranges: &[(&BigInt, &BigInt, bool)]) -> Option<usize> {
        let Some((low, high, _)) = ranges.first() else { return self.first };
        if !self.is_held(low, high) {
            return None;
        }
        let covers = |(own, number): &(Vec<Range>, usize)| {
            let mut pairs = own.iter().zip(ranges);
            let all = pairs.all(|((low, high), (from, to, same))| match same {
                true => low == *from && high == *to,
                false => low <= *from && *to <= high,
            });
            all.then_some(*number)
        };
        self.all.iter().filter_map(covers).min()
    }
}

#[cfg(test)]
mod tests {
    use super::{Match, Met};

    fn covers(one: &Match, other: &Match) -> bool {
        match (one, other) {
            (Match::Any, _) => true,
            (Match::Bits(value, mask), Match::Bits(more, wider)) => mask & wider == *mask && *value == more & mask,
            (Match::Range(low, high), Match::Range(from, to)) => low <= from && to <= high,
            _ => false,
        }
    }

    /// A small generator: every other bit of it is used.
    fn drawn(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    fn one(state: &mut u64) -> Match {
        match drawn(state, 8) {
            0 => Match::Any,
            1 => Match::Unknown,
            2..=4 => {
                let (a, b) = (drawn(state, 8), drawn(state, 8));
                Match::Range(a.min(b).into(), a.max(b).into())
            }
            _ => {
                let mask = [7, 6, 4, 5, 0][drawn(state, 5) as usize];
                Match::Bits((drawn(state, 8) & mask).into(), mask.into())
            }
        }
    }

    #[test]
    fn what_is_found_is_what_a_look_at_each_finds() {
        let mut state = 1;
        let mut hidden = 0;
        for round in 0..300 {
            let (keys, same) = (1 + round % 3, [round % 2 == 0, false, round % 5 == 0]);
            let (mut met, mut all): (Met, Vec<Vec<Match>>) = (Met::default(), Vec::new());
            for number in 0..30 {
                let these: Vec<Match> = (0..keys).map(|_| one(&mut state)).collect();
                let by_each = all.iter().position(|other| {
                    let mut pairs = other.iter().zip(&these).zip(same);
                    pairs.all(|((one, two), same)| covers(one, two) && (!same || one == two))
                });
                assert_eq!(met.first_that_covers(&these, &same), by_each, "{these:?} among {all:?}");
                hidden += usize::from(by_each.is_some());
                met.add(number, &these);
                all.push(these);
            }
        }
        assert!(hidden > 300, "{hidden}");
    }
}
