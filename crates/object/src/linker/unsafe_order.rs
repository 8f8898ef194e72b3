//! Loads that packets in flight do notice.
//!
//! Only to show that a test of hitless updates can fail. Nothing else may use them.

use crate::load::{Load, Step};
use sluice_formats::Table;
use sluice_formats::row::Row;
use sluice_formats::rows::EntryRow;

/// The load with its commit before the writes that the commit should make visible; a load
/// without a commit in reverse order, so that moves delete before they copy.
pub fn unsafe_order(load: &Load) -> Load {
    let mut load = Load { label: format!("unsafe {}", load.label), ..load.clone() };
    let first_write = load.steps.iter().position(|s| matches!(s, Step::Write { .. } | Step::Row { .. }));
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. }));
    match (first_write, commit) {
        (Some(write), Some(commit)) if write < commit => {
            let step = load.steps.remove(commit);
            load.steps.insert(write, step);
        }
        _ => load.steps.reverse(),
    }
    load
}

/// The load with every entry and overlay before its commit written into the live bank.
pub fn unsafe_live_bank(load: &Load) -> Load {
    let mut load = Load { label: format!("unsafe {}", load.label), ..load.clone() };
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).unwrap_or(0);
    for step in &mut load.steps[..commit] {
        let Step::Write { table, index, words, .. } = step else { continue };
        match table {
            Table::Overlay => *index ^= 1,
            Table::Way0 | Table::Way1 | Table::Way2 | Table::Way3 => {
                if let Ok(row) = EntryRow::unpack(words)
                    && row.generations != 0
                {
                    let both = EntryRow { generations: 0b11, ..row };
                    *words = both.pack().unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    load
}
