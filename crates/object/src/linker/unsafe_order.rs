//! Loads that packets in flight do notice.
//!
//! Only to show that a test of hitless updates can fail. Nothing else may use them.

use crate::load::{Load, Step};
use sluice_formats::rmt::rows::{ExactRow, TernaryRow};
use sluice_formats::rmt::target::{MODULE_PAGES, NODES, PATHS, PATTERNS};
use sluice_formats::row::Row;
use sluice_formats::{Table, Target};

/// The load with its commit before the writes that the commit should make visible; a load
/// without a commit in reverse order, so that moves delete before they copy.
pub fn unsafe_order(load: &Load) -> Load {
    let mut load = Load { label: format!("unsafe {}", load.label), ..load.clone() };
    let first_write = load.steps.iter().position(|s| matches!(s, Step::Write { .. }));
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

/// The load with all that comes before its commit written into the live generation.
pub fn unsafe_live_bank(load: &Load) -> Load {
    let mut load = Load { label: format!("unsafe {}", load.label), ..load.clone() };
    let Some(target) = Target::every().find(|t| t.hash() == load.target_hash) else { return load };
    let defaults = (target.rmt.exact + target.rmt.ternary) as u32;
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).unwrap_or(0);
    for step in &mut load.steps[..commit] {
        let Step::Write { table, index, words, .. } = step else { continue };
        match *table {
            Table::First | Table::Patterns | Table::Key => *index ^= 1,
            Table::Node => *index ^= NODES as u32,
            Table::Path => *index ^= PATHS as u32,
            Table::Page => *index ^= MODULE_PAGES as u32,
            Table::Deparse => *index ^= (target.rmt.window_beats() * PATTERNS) as u32,
            Table::Data if *index >= defaults => *index = defaults + ((*index - defaults) ^ 1),
            _ if table.exact().is_some() => {
                if let Ok(row) = ExactRow::unpack(words)
                    && row.generations != 0
                {
                    *words = ExactRow { generations: 0b11, ..row }.pack().unwrap_or_default();
                }
            }
            Table::Ternary => {
                if let Ok(row) = TernaryRow::unpack(words)
                    && row.generations != 0
                {
                    *words = TernaryRow { generations: 0b11, ..row }.pack().unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    load
}
