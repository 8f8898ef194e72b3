//! Where alternatives of a state go: into one row, or into many by a hash.

use crate::step::wide_row;
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::L7TargetPart;
use sluice_formats::l7::target::{HASH_BYTES, MOST_WIDE_LOG};

/// What is compared: bytes, and whether the field has to end behind them.
pub(crate) type Key = (Vec<u8>, bool);

/// Alternatives by row. Those that have no place are tried when the others have missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The target that leads here, for a first row 0.
    pub target: L7TargetPart,
    /// Rows with the numbers of their alternatives.
    pub rows: Vec<Vec<usize>>,
    /// Those that have no place.
    pub over: Vec<usize>,
}

/// Places alternatives of one length, all different, in at most `room` rows of `most` alternatives; one row is always there.
/// Of a long one the first 8 bytes are hashed.
pub(crate) fn place(keys: &[Key], length: usize, most: usize, room: usize) -> Placed {
    let one = || Placed {
        target: L7TargetPart::new(L7Goal::Row, 0),
        rows: vec![(0..keys.len().min(most)).collect()],
        over: (most.min(keys.len())..keys.len()).collect(),
    };
    if keys.len() <= most || length == 0 {
        return one();
    }
    let least = keys.len().div_ceil(most).next_power_of_two().trailing_zeros().min(MOST_WIDE_LOG);
    let length = length.min(HASH_BYTES) as u8;
    // Twice as many rows as would do if all were full are worth a place for all; after that the fullest.
    let logs = (least..=(least + 1).min(MOST_WIDE_LOG)).filter(|log| 1 << log <= room);
    let mut best: Option<Placed> = None;
    for (log, turn) in logs.flat_map(|log| (0..32).map(move |turn| (log, turn))) {
        let kind = L7Goal::Rows.code();
        let target = L7TargetPart { kind, number: 0, log: log as u8, turn, length };
        let placed = hashed(keys, target, most);
        if best.as_ref().is_none_or(|b| placed.over.len() < b.over.len()) {
            let done = placed.over.is_empty();
            best = Some(placed);
            if done {
                break;
            }
        }
    }
    best.unwrap_or_else(one)
}

fn hashed(keys: &[Key], target: L7TargetPart, most: usize) -> Placed {
    let mut rows = vec![Vec::new(); 1 << target.log];
    let mut over = Vec::new();
    for (n, (bytes, _)) in keys.iter().enumerate() {
        let mut ahead = [0; HASH_BYTES];
        ahead.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let row = &mut rows[wide_row(ahead, target)];
        if row.len() < most { row.push(n) } else { over.push(n) }
    }
    Placed { target, rows, over }
}
