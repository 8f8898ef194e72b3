//! What an operation on an entry costs, and where the entry stands, whatever there is beside it.

use crate::common::rmt;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Wide;
use sluice_formats::target::DEFAULT;
use sluice_object::RmtPart;
use sluice_object::linker::rmt::{EntryKey, Placer, Quota, StageQuota};
use sluice_object::rmt::logical::{
    LogicalAction, LogicalCall, LogicalCase, LogicalChange, LogicalEntry, LogicalKey, LogicalKind, LogicalLeads,
    LogicalLookup, LogicalMatch, LogicalMove, LogicalOutcome, LogicalParameter, LogicalPiece,
};
use sluice_object::rmt::{Logical, LogicalTable, LogicalValue};
use std::sync::Arc;

/// A program with one table of a key of 32 bits in stage 1, which has entries already.
fn one_table(kind: LogicalKind, entries: Vec<LogicalEntry>) -> RmtPart {
    let key = LogicalKey { name: "h.a".to_owned(), kind, bits: 32 };
    let parameters = vec![LogicalParameter { name: "port".to_owned(), bits: 9 }];
    let actions = vec![
        LogicalAction { name: "to".to_owned(), parameters, ..LogicalAction::default() },
        LogicalAction { name: "drop".to_owned(), ..LogicalAction::default() },
    ];
    let default = LogicalCall { action: 1, values: vec![] };
    let (name, alias) = ("In.t".to_owned(), "t".to_owned());
    let table = LogicalTable { name, alias, keys: vec![key], actions, entries, default, ..LogicalTable::default() };
    let outcome = |hit: bool, action: u16| {
        let moves = vec![LogicalMove { parameter: 0, low: 0, bits: 9, byte: 11, bit: 0 }];
        let moves = if action == 0 { moves } else { vec![] };
        let leads = LogicalLeads { action, moves, ..LogicalLeads::default() };
        LogicalOutcome { hit, action, leads: vec![leads] }
    };
    let lookup = LogicalLookup {
        keys: vec![vec![LogicalPiece { low: 0, bits: 32, at: Some(64), known: 0 }]],
        outcomes: vec![outcome(true, 0), outcome(true, 1), outcome(false, 1)],
        ..LogicalLookup::default()
    };
    let stages = [(1, vec![LogicalCase::Looks(lookup)])].into();
    let mut part = rmt::part();
    part.shared.clear();
    part.deparse.iter_mut().for_each(|beats| beats.truncate(2));
    part.stages.get_mut(&1).unwrap().key.default_valid = false;
    part.with_tables(Logical { tables: vec![table], stages }).unwrap()
}

fn asks_for(kind: LogicalKind, number: u32, bits: u32) -> LogicalEntry {
    let mask = if kind == LogicalKind::Exact { u32::MAX } else { u32::MAX << (32 - bits) };
    let [value, mask] = [number & mask, mask].map(|number| LogicalValue::of(number.into()));
    let call = LogicalCall { action: 0, values: vec![LogicalValue::of(2)] };
    LogicalEntry { matches: vec![LogicalMatch::Masked { value, mask }], call }
}

/// A placer that runs a program with one table.
fn placer_of(part: &Arc<RmtPart>, exact: u32) -> Placer {
    let mut placer = Placer::new(sluice_formats::rmt::target::Target { exact: exact as usize, ..DEFAULT.rmt });
    let given = StageQuota { exact: exact / 4, ternary: 32, actions: 2, pages: 2, fresh_pages: false, numbers: 4 };
    let quota = Quota { stages: [(1, given)].into(), groups: [3].into(), growth: part.growth(), ..Quota::default() };
    placer.admit(1, "one", quota).unwrap();
    placer.place(1, 0, part).unwrap();
    placer
}

/// Writes of an operation of each kind, and of one that is taken back, with so many exact rows and so many ternary ones there.
fn writes(kind: LogicalKind, exact: u32, ternary: u32) -> [usize; 4] {
    // So many that no entry has to move for another: that depends on how full a table is, not on how large.
    const EXACT: u32 = 1 << 17;
    let mut entries: Vec<LogicalEntry> = (0..exact).map(|n| asks_for(kind, n.wrapping_mul(0x9e37_79b1), 32)).collect();
    entries.extend((0..ternary).map(|n| asks_for(kind, n << 8 | 0xf000_0000, 24)));
    let part = Arc::new(one_table(kind, entries));
    let mut placer = placer_of(&part, EXACT);
    let before = placer.entries(1, 0, 1);
    assert_eq!(before.len() as u32, exact + ternary + 1, "entries, and what is met by no entry");
    let mut done = |change: LogicalChange| {
        let batches = placer.change_entries(1, 0, &[change]).unwrap().expect("it is one row");
        batches.iter().map(Vec::len).sum::<usize>()
    };
    let (at, new) = match ternary {
        0 => (exact as usize, asks_for(kind, 0xffff_ffff, 32)),
        _ => ((exact + ternary) as usize, asks_for(kind, 0xffff_ff00, 24)),
    };
    let call = LogicalCall { action: 0, values: vec![LogicalValue::of(3)] };
    let other = LogicalCall { action: 1, values: vec![] };
    let all = [
        done(LogicalChange::Insert { table: 0, at, entry: new }),
        done(LogicalChange::Modify { table: 0, at, call }),
        done(LogicalChange::Modify { table: 0, at, call: other }),
        done(LogicalChange::Delete { table: 0, at }),
    ];
    assert_eq!(placer.entries(1, 0, 1), before);
    all
}

#[test]
fn an_operation_makes_as_many_writes_in_a_table_of_ten_as_in_one_of_ten_thousand() {
    for kind in [LogicalKind::Exact, LogicalKind::Lpm, LogicalKind::Ternary] {
        let few = writes(kind, 10, 0);
        // Data and entry; one of them; a copy and what it is a copy of; entry and data.
        assert_eq!(few, [2, 1, 4, 2], "{kind:?}");
        assert_eq!(writes(kind, 10_000, 0), few, "{kind:?}");
    }
    // The row of a miss makes room, one row further.
    let few = writes(LogicalKind::Lpm, 10, 2);
    assert_eq!(few, [5, 1, 10, 2]);
    assert_eq!(writes(LogicalKind::Lpm, 10_000, 20), few);
}

#[test]
fn entries_stand_in_their_order_wherever_they_come() {
    let mut rng = Rng::new(test_seed("object_entries_order"));
    let kind = LogicalKind::Ternary;
    // One of all bits, so that the others are ternary.
    let mut all: Vec<u32> = vec![0, 1, 2];
    let entry = |number: u32| asks_for(kind, number << 8, if number == 0 { 32 } else { 24 });
    let part = Arc::new(one_table(kind, all.iter().map(|number| entry(*number)).collect()));
    let mut placer = placer_of(&part, 1024);
    let mut new = 3;
    for round in 0..3_000 {
        // Before the same one again and again, behind the last that came, anywhere: between two there is room for one more.
        let at = match round / 500 {
            0 => 2,
            1 => all.len() - 1,
            2 => 2 + (round % 2) * (all.len() - 2),
            _ => rng.range(1, all.len() as u64) as usize,
        };
        let insert = LogicalChange::Insert { table: 0, at, entry: entry(new) };
        all.insert(at, new);
        new += 1;
        let mut changes = vec![insert];
        if all.len() > 12 {
            let gone = rng.range(1, all.len() as u64 - 1) as usize;
            let gone = if round < 1_500 { 3 + usize::from(gone > 5) } else { gone };
            all.remove(gone);
            changes.push(LogicalChange::Delete { table: 0, at: gone });
        }
        for change in changes {
            assert!(placer.change_entries(1, 0, &[change]).unwrap().is_some(), "round {round}");
        }
        let ternary = placer.entries(1, 0, 1).into_iter().filter_map(|(key, _)| match key {
            EntryKey::Ternary { value, mask } => (mask.0[10] != 0).then(|| number_of(&value)),
            EntryKey::Exact(_) => None,
        });
        assert_eq!(ternary.collect::<Vec<_>>(), all[1..], "round {round}");
    }
    // Many at once, in either order.
    for reverse in [false, true] {
        let begin = all.len() - 1;
        let many = 0..15;
        let place = |n: usize| if reverse { begin } else { begin + n };
        let add: Vec<LogicalChange> = many
            .clone()
            .map(|n| LogicalChange::Insert { table: 0, at: place(n), entry: entry(new + n as u32) })
            .collect();
        assert!(placer.change_entries(1, 0, &add).unwrap().is_some());
        let gone: Vec<LogicalChange> = many.map(|_| LogicalChange::Delete { table: 0, at: begin }).collect();
        assert!(placer.change_entries(1, 0, &gone).unwrap().is_some());
    }
}

/// The number of an entry by its row.
fn number_of(value: &Wide<25>) -> u32 {
    (0..24).filter(|bit| value.0[(72 + bit) / 8] >> ((72 + bit) % 8) & 1 == 1).fold(0, |all, bit| all | 1 << bit)
}
