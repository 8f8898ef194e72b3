//! From the entries that packets run to others of the same program, in one operation on one entry where that is all.
//!
//! One operation is never met in half (see `entries`). Two would be: a packet could meet what the first of them did
//! and the next packet all, so what takes more is for a new generation.

use super::entries::{Batches, EntryAt, EntryKey, EntryLeads};
use super::placer::Placer;
use crate::rmt::{RmtPart, RmtStage};
use std::collections::BTreeMap;

/// Entries of a stage.
type Entries = Vec<(EntryKey, EntryLeads)>;

/// One operation on an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Before the ternary entry at a position, if it is one.
    Insert(EntryKey, EntryLeads, Option<usize>),
    Modify(EntryKey, EntryLeads),
    Delete(EntryKey),
}

impl Placer {
    /// The writes after which packets run the entries of `part`; nothing if they differ in more than one row from those
    /// of the generation, if the part is another program, or if the entry has no room.
    pub(in crate::linker) fn change(&mut self, module: u8, generation: u8, part: &RmtPart) -> Option<Batches> {
        let holding = self.holders.get(&module)?;
        let bank = holding.banks[usize::from(generation & 1)].as_ref()?;
        if without_entries(&bank.part) != without_entries(part).moved(&holding.at) {
            return None;
        }
        let mut steps = Vec::new();
        for (stage, rows) in &part.stages {
            if rows.longest && !rows.ternary.is_empty() {
                return None;
            }
            let of_stage = steps_of(&self.entries(module, generation, *stage), &entries_of(rows))?;
            steps.extend(of_stage.into_iter().map(|step| (*stage, step)));
        }
        let (stage, step) = match steps[..] {
            [] => return Some(Batches::new()),
            [one] => one,
            _ => return None,
        };
        let at = |key| EntryAt { module, generation, stage, key };
        let done = match step {
            Step::Insert(key, leads, before) => self.insert(at(key), &leads, before),
            Step::Modify(key, leads) => self.modify(at(key), &leads),
            Step::Delete(key) => self.delete(at(key)),
        };
        done.ok()
    }
}

/// The program alone: what it reserves for entries goes with their number.
fn without_entries(part: &RmtPart) -> RmtPart {
    let blank = |stage: &RmtStage| RmtStage {
        exact: Vec::new(),
        ternary: Vec::new(),
        numbers: 0,
        exact_room: 0,
        ternary_room: 0,
        ..stage.clone()
    };
    let stages: BTreeMap<u8, RmtStage> = part.stages.iter().map(|(number, stage)| (*number, blank(stage))).collect();
    RmtPart { stages, keep_state: false, logical: None, ..part.clone() }
}

fn entries_of(stage: &RmtStage) -> Entries {
    let exact = stage.exact.iter().map(|entry| {
        let leads = EntryLeads { action: entry.row.action, number: entry.row.number, data: entry.data };
        (EntryKey::Exact(entry.row.key), leads)
    });
    let ternary = stage.ternary.iter().map(|entry| {
        let leads = EntryLeads { action: entry.row.action, number: entry.row.number, data: entry.data };
        (EntryKey::Ternary { value: entry.row.value, mask: entry.row.mask }, leads)
    });
    exact.chain(ternary).collect()
}

/// What makes one of the other; nothing if it is more than one entry.
fn steps_of(old: &Entries, new: &Entries) -> Option<Vec<Step>> {
    let is_exact = |entry: &&(EntryKey, EntryLeads)| matches!(entry.0, EntryKey::Exact(_));
    let (mut steps, mut after) = (Vec::new(), Vec::new());
    for (key, leads) in new.iter().filter(is_exact) {
        match old.iter().find(|(other, _)| other == key) {
            None => steps.push(Step::Insert(*key, *leads, None)),
            Some((_, before)) if before != leads => steps.push(Step::Modify(*key, *leads)),
            Some(_) => {}
        }
        after.push(*key);
    }
    let gone = old.iter().filter(is_exact).filter(|(key, _)| !after.contains(key));
    steps.extend(gone.map(|(key, _)| Step::Delete(*key)));
    let [old, new] = [old, new].map(|all| all.iter().filter(|entry| !is_exact(entry)).copied().collect::<Entries>());
    steps.extend(ternary_step(&old, &new)?);
    (steps.len() < 2).then_some(steps)
}

/// The order of these counts.
fn ternary_step(old: &Entries, new: &Entries) -> Option<Option<Step>> {
    let same = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (left, right) = (&old[same..], &new[same..]);
    match (left, right) {
        ([], []) => Some(None),
        (_, [(key, leads), rest @ ..]) if rest == left => {
            let before = (!left.is_empty()).then_some(same);
            Some(Some(Step::Insert(*key, *leads, before)))
        }
        // The first of two with one key is the one that is found.
        ([(key, _), rest @ ..], _) if rest == right && old[..same].iter().all(|(other, _)| other != key) => {
            Some(Some(Step::Delete(*key)))
        }
        ([(key, _), one @ ..], [(other, leads), rest @ ..])
            if key == other && one == rest && old[..same].iter().all(|(other, _)| other != key) =>
        {
            Some(Some(Step::Modify(*key, *leads)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::row::Wide;

    fn entry(key: u8, is_exact: bool, number: u16) -> (EntryKey, EntryLeads) {
        let mut bits = Wide::default();
        bits.0[0] = key;
        let key = if is_exact { EntryKey::Exact(bits) } else { EntryKey::Ternary { value: bits, mask: bits } };
        (key, EntryLeads { action: 0, number, data: Wide::default() })
    }

    #[test]
    fn what_differs_in_one_entry_is_one_step_and_all_else_is_none() {
        let exact = |key, number| entry(key, true, number);
        let ternary = |key, number| entry(key, false, number);
        let old = vec![exact(1, 0), exact(2, 0), ternary(1, 0), ternary(2, 0)];
        let steps = |new: &[(EntryKey, EntryLeads)]| steps_of(&old, &new.to_vec());
        assert_eq!(steps(&old), Some(vec![]));
        // In another order exact entries are the same.
        assert_eq!(steps(&[exact(2, 0), exact(1, 0), ternary(1, 0), ternary(2, 0)]), Some(vec![]));
        let (key, leads) = exact(3, 0);
        let all = [exact(1, 0), exact(3, 0), exact(2, 0), ternary(1, 0), ternary(2, 0)];
        assert_eq!(steps(&all), Some(vec![Step::Insert(key, leads, None)]));
        let (key, leads) = exact(2, 5);
        assert_eq!(
            steps(&[exact(1, 0), exact(2, 5), ternary(1, 0), ternary(2, 0)]),
            Some(vec![Step::Modify(key, leads)])
        );
        assert_eq!(steps(&[exact(1, 0), ternary(1, 0), ternary(2, 0)]), Some(vec![Step::Delete(exact(2, 0).0)]));
        let (key, leads) = ternary(3, 0);
        let between = [exact(1, 0), exact(2, 0), ternary(1, 0), ternary(3, 0), ternary(2, 0)];
        assert_eq!(steps(&between), Some(vec![Step::Insert(key, leads, Some(1))]));
        let last = [exact(1, 0), exact(2, 0), ternary(1, 0), ternary(2, 0), ternary(3, 0)];
        assert_eq!(steps(&last), Some(vec![Step::Insert(key, leads, None)]));
        assert_eq!(steps(&[exact(1, 0), exact(2, 0), ternary(2, 0)]), Some(vec![Step::Delete(ternary(1, 0).0)]));
        let (key, leads) = ternary(2, 4);
        assert_eq!(
            steps(&[exact(1, 0), exact(2, 0), ternary(1, 0), ternary(2, 4)]),
            Some(vec![Step::Modify(key, leads)])
        );
        for more in [
            vec![exact(1, 0), ternary(1, 0), ternary(2, 0), ternary(3, 0)],
            vec![exact(1, 0), exact(2, 0), ternary(2, 0), ternary(1, 0)],
            vec![exact(1, 1), exact(2, 1), ternary(1, 0), ternary(2, 0)],
            vec![exact(1, 0), exact(2, 0)],
        ] {
            assert_eq!(steps(&more), None, "{more:?}");
        }
    }
}
