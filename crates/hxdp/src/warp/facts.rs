//! What the tests of a path say of the frame.

use super::bits::Bits;
use super::test::{Asked, Test, equal};
use super::value::Value;
use std::collections::BTreeMap;

/// Bits of a number that a test is made for.
const SMALL: usize = 4;
/// Greatest of them that is asked for.
const WIDE: u64 = 255;

/// Facts about the frame.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Bits that are known.
    pub known: BTreeMap<u16, bool>,
    /// Bytes that it surely has.
    pub least: u32,
    /// And at most.
    most: u32,
    answers: Vec<(Test, bool)>,
}

impl Default for Facts {
    fn default() -> Self {
        Self { known: BTreeMap::new(), least: 1, most: u32::MAX, answers: Vec::new() }
    }
}

impl Facts {
    /// The answer of a test, if it is known.
    pub fn answer(&self, test: &Test) -> Option<bool> {
        match test {
            Test::Bits(bits) => {
                let is = |n: &u16, wanted: &bool| self.known.get(n).map(|known| known == wanted);
                if bits.iter().any(|(n, wanted)| is(n, wanted) == Some(false)) {
                    return Some(false);
                }
                let open: BTreeMap<u16, bool> =
                    bits.iter().filter(|(n, wanted)| is(n, wanted).is_none()).map(|(n, w)| (*n, *w)).collect();
                if open.is_empty() {
                    return Some(true);
                }
                // A part of it was answered with no.
                let parts = self.answers.iter().filter(|(_, answer)| !answer).filter_map(|(test, _)| match test {
                    Test::Bits(part) => Some(part),
                    _ => None,
                });
                let inside = |part: &BTreeMap<u16, bool>| {
                    part.iter().all(|(n, wanted)| bits.get(n).or(self.known.get(n)) == Some(wanted))
                };
                parts.into_iter().any(inside).then_some(false)
            }
            Test::Long(bytes) if *bytes <= self.least => Some(true),
            Test::Long(bytes) if *bytes > self.most => Some(false),
            _ => self.answers.iter().find(|(other, _)| other == test).map(|(_, answer)| *answer),
        }
    }

    /// A test was answered.
    pub fn learn(&mut self, test: &Test, answer: bool) {
        match test {
            Test::Bits(bits) if answer => self.known.extend(bits),
            Test::Bits(bits) => {
                let open: Vec<(&u16, &bool)> = bits.iter().filter(|(n, _)| !self.known.contains_key(n)).collect();
                if let [(n, wanted)] = open[..] {
                    self.known.insert(*n, !*wanted);
                }
            }
            Test::Long(bytes) if answer => self.least = self.least.max(*bytes),
            Test::Long(bytes) => self.most = self.most.min(bytes - 1),
            _ => {}
        }
        self.answers.push((test.clone(), answer));
    }

    /// The tests that make a number of few bits a constant, the least that it can be here first: packets mostly have that, a header
    /// without options.
    pub fn splits(&self, bits: &Bits) -> Vec<Test> {
        if bits.0.iter().filter(|bit| bit.source().is_some()).count() > SMALL {
            return Vec::new();
        }
        let low = self.answers.iter().filter_map(|(test, answer)| match test {
            Test::Between { bits: other, low: 0, high } if other == bits && !answer => Some(high + 1),
            Test::Between { bits: other, low, .. } if other == bits && *answer => Some(*low),
            _ => None,
        });
        let (least, most) = bits.bounds();
        let asked = |value| match equal(bits, value) {
            Asked::Test(test, _) if self.answer(&test).is_none() => Some(test),
            _ => None,
        };
        (low.max().unwrap_or(0).max(least)..=most.min(WIDE)).filter_map(asked).collect()
    }

    /// A value with what is known of its bits.
    pub fn of(&self, value: &Value) -> Value {
        value.knowing(&self.known)
    }
}
