//! Packets for a program: most of them take one of its ways and have values that it compares with, some end too soon.

use super::headers::Header;
use super::number;
use super::parser::{Key, State};
use sluice_formats::random::Rng;
use std::collections::BTreeMap;

pub struct Packets {
    pub headers: Vec<Header>,
    pub states: Vec<State>,
    pub known: BTreeMap<u32, Vec<u128>>,
}

/// Bits of a packet, and values that have to stand at some of them.
#[derive(Default)]
struct Bits {
    all: Vec<bool>,
    later: Vec<(usize, u32, u128)>,
}

impl Bits {
    fn push(&mut self, width: u32, value: u128) {
        self.all.extend((0..width).rev().map(|bit| bit < 128 && value >> bit & 1 == 1));
    }

    fn bytes(mut self) -> Vec<u8> {
        for (first, width, value) in self.later {
            for bit in 0..width {
                if let Some(place) = self.all.get_mut(first + bit as usize) {
                    *place = value >> (width - 1 - bit) & 1 == 1;
                }
            }
        }
        self.all.chunks(8).map(|byte| byte.iter().fold(0, |all, bit| all << 1 | u8::from(*bit))).collect()
    }
}

impl Packets {
    fn value(&self, rng: &mut Rng, width: u32) -> u128 {
        let known = self.known.get(&width).map_or(&[][..], Vec::as_slice);
        match (known, rng.below(8)) {
            ([_, ..], 0..=3) => known[rng.index(known.len())],
            ([_, ..], 4) => known[rng.index(known.len())].wrapping_add(1),
            _ => number(rng, width),
        }
    }

    pub fn packet(&self, rng: &mut Rng) -> Vec<u8> {
        let mut bits = Bits::default();
        let mut at = Some(0);
        for _ in 0..8 {
            let Some(state) = at.and_then(|at| self.states.get(at)) else { break };
            let begin = bits.all.len();
            let widths = state.extracts.map_or(&[][..], |header| &self.headers[header].widths[..]);
            for width in widths {
                let value = self.value(rng, *width);
                bits.push(*width, value);
            }
            for _ in 0..state.skips {
                bits.push(1, u128::from(rng.below(2)));
            }
            let case = rng.index(state.cases.len() + 1);
            at = match state.cases.get(case) {
                None => state.otherwise,
                Some((patterns, next)) => {
                    for (key, pattern) in state.keys.iter().zip(patterns) {
                        let Some((value, mask)) = pattern else { continue };
                        let (first, width) = match key {
                            Key::Field(field) => {
                                (begin + widths[..*field].iter().sum::<u32>() as usize, widths[*field])
                            }
                            Key::Ahead(width) => (bits.all.len(), *width),
                        };
                        let value = value & mask | number(rng, width) & !mask;
                        bits.later.push((first, width, value));
                    }
                    *next
                }
            };
        }
        for _ in 0..8 * rng.below(40) {
            bits.push(1, u128::from(rng.below(2)));
        }
        let mut bytes = bits.bytes();
        if rng.chance(1, 5) {
            bytes.truncate(rng.index(bytes.len()));
        }
        if bytes.is_empty() {
            bytes.push(rng.below(256) as u8);
        }
        bytes
    }
}
