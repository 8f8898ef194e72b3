//! Puts the bundles of all traces into rows.
//!
//! A trace is followed by its `next` where that has no row yet; else a jump leads there, in a lane that is free or in a
//! row of its own. Targets become rows. Ensures: `verify::structure`.

use super::Code;
use super::schedule::Schedule;
use crate::{Bundle, Bundles, CompileError, Op, Step, Target};
use std::collections::BTreeMap;

/// Rows of a program whose traces have these schedules.
pub fn layout(
    code: &Code,
    schedules: &BTreeMap<u32, Schedule>,
    target: Target,
) -> Result<(Bundles, BTreeMap<u32, u32>), CompileError> {
    let mut rows: Vec<Bundle> = Vec::new();
    let mut starts: BTreeMap<u32, u32> = BTreeMap::new();
    for first in code.traces.keys() {
        let mut next = Some(*first).filter(|first| !starts.contains_key(first));
        while let Some(label) = next.take() {
            starts.insert(label, rows.len() as u32);
            let trace = &code.traces[&label];
            let bundles = schedules.get(&label).into_iter().flatten();
            rows.extend(bundles.map(|b| Bundle { lanes: b.iter().map(|index| trace.steps[*index]).collect() }));
            if let Some(to) = trace.next {
                if starts.contains_key(&to) {
                    jump(&mut rows, starts[&label] as usize, to, target);
                } else {
                    next = Some(to);
                }
            }
        }
    }
    if rows.len() > target.rows {
        let program = code.program.clone();
        return Err(CompileError::TooLong { program, found: rows.len(), lanes: target.lanes, max: target.rows });
    }
    for step in rows.iter_mut().flat_map(|row| &mut row.lanes) {
        if let Some(to) = step.op.target_mut() {
            *to = starts.get(to).copied().unwrap_or(u32::MAX);
        }
    }
    let functions = code.functions.iter().filter_map(|f| Some((*f, *starts.get(f)?))).collect();
    Ok((Bundles { program: code.program.clone(), target, rows, functions }, starts))
}

/// Leads from the last row, at or behind `start`, to a slot.
fn jump(rows: &mut Vec<Bundle>, start: usize, to: u32, target: Target) {
    let slot = rows.last().and_then(|row| row.lanes.last()).map_or(to, |step| step.slot);
    let step = Step { slot, op: Op::Jump { to, back: false } };
    let own = rows.len() > start;
    match rows.last_mut().filter(|_| own) {
        Some(row)
            if row.lanes.len() < target.lanes
                && row.lanes.last().is_some_and(|l| !l.op.is_last() && !l.op.is_alone()) =>
        {
            row.lanes.push(step);
        }
        _ => rows.push(Bundle { lanes: vec![step] }),
    }
}
