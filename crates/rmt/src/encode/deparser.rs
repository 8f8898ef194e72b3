//! Patterns and deparse rows: lanes of a beat, with one rotation for each container in it.

use super::codes::{code_of, of_code};
use crate::deparser::{Adjust, DeparseRow, Pattern, Update};
use crate::phv::{Class, Container};
use crate::target::{Target, WINDOW};
use sluice_formats::rmt::codes::LaneSize;
use sluice_formats::rmt::rows::{self, AdjustPart, LanePart, PatternPart, PatternsRow, UpdatePart};

/// Size code of a lane that is the packet's byte.
const PACKET: u8 = LaneSize::Packet.code();
const SIZES: [(Class, u8); 3] =
    [(Class::C2, LaneSize::Two.code()), (Class::C4, LaneSize::Four.code()), (Class::C6, LaneSize::Six.code())];

pub(super) fn encode_patterns(patterns: &[Pattern]) -> PatternsRow {
    let mut row = PatternsRow::default();
    for (part, p) in row.patterns.iter_mut().zip(patterns) {
        *part = PatternPart { valid: true, value: p.value, mask: p.mask, row: p.row };
    }
    row
}

pub(super) fn decode_patterns(row: &PatternsRow) -> Vec<Pattern> {
    let pattern = |p: &PatternPart| Pattern { value: p.value, mask: p.mask, row: p.row };
    row.patterns.iter().filter(|p| p.valid).map(pattern).collect()
}

pub(super) fn encode_row(row: &DeparseRow, target: &Target) -> Vec<rows::DeparseRow> {
    (0..target.window_beats()).map(|beat| encode_beat(row, target.bus_bytes, beat * target.bus_bytes)).collect()
}

/// The row of the beat whose first byte is `first`.
fn encode_beat(row: &DeparseRow, bytes: usize, first: usize) -> rows::DeparseRow {
    let update = |u: Update| UpdatePart { valid: true, start: u.start, words: u.words, at: u.at };
    let adjust = |a: Adjust| AdjustPart { valid: true, udp: a.udp, start: a.start, words: a.words };
    let mut to = rows::DeparseRow {
        half_delta: (row.delta >> 1) as u8 & 0x7f,
        odd: row.delta & 1 == 1,
        split: row.split,
        least: row.least,
        updates: row.checksums.map(|u| u.map(update).unwrap_or_default()),
        adjust: row.adjust.map(adjust).unwrap_or_default(),
        ..rows::DeparseRow::default()
    };
    for lane in 0..bytes {
        to.lanes[lane] = match row.lanes[first + lane] {
            None => LanePart { place: 0, size: PACKET },
            Some((c, byte)) => {
                // The checker has seen to it that every other lane of the container says the same.
                let size = c.bytes();
                let rotation = ((lane + size - usize::from(byte)) % size) as u8;
                let place = c.0 % 8;
                let rotations = [&mut to.rotate2, &mut to.rotate4, &mut to.rotate6];
                rotations[c.class() as usize][usize::from(place)] = rotation;
                LanePart { place, size: code_of(&SIZES, &c.class()) }
            }
        };
    }
    to
}

pub(super) fn decode_row(beats: &[rows::DeparseRow], target: &Target) -> DeparseRow {
    let first = beats.first().cloned().unwrap_or_default();
    let a = &first.adjust;
    let mut row = DeparseRow {
        delta: first.delta(),
        split: first.split,
        least: first.least,
        lanes: [None; WINDOW],
        checksums: first.updates.map(|u| u.valid.then_some(Update { start: u.start, words: u.words, at: u.at })),
        adjust: a.valid.then_some(Adjust { start: a.start, words: a.words, udp: a.udp }),
    };
    for (beat, from) in beats.iter().enumerate() {
        for (lane, part) in from.lanes.iter().enumerate().take(target.bus_bytes) {
            let Some(class) = of_code(&SIZES, part.size) else { continue };
            let rotations = [&from.rotate2, &from.rotate4, &from.rotate6];
            let rotation = usize::from(rotations[class as usize][usize::from(part.place % 8)]);
            let size = class.bytes();
            let byte = (lane + 2 * size - rotation) % size;
            row.lanes[beat * target.bus_bytes + lane] = Some((Container::of(class, part.place % 8), byte as u8));
        }
    }
    row
}
