//! Logical tables: rows are what the entries say, and what is no such table is refused with its place.

use crate::common::met::{Key, asks, by_entries};
use crate::common::rmt;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Wide;
use sluice_object::rmt::logical::{LogicalCase, LogicalKind, LogicalLookup, LogicalMatch, LogicalPiece};
use sluice_object::rmt::{Logical, LogicalValue, RmtPart};
use sluice_object::{Object, ObjectError};

/// Action, and its data.
type Led = (u16, [u8; 16]);

/// What a packet with this key meets in the rows.
fn in_rows(part: &RmtPart, key: &Key) -> Option<Led> {
    let stage = &part.stages[&1];
    let masked = Wide(std::array::from_fn(|i| key[i] & stage.key.mask.0[i]));
    let exact = stage.exact.iter().find(|e| e.row.key == masked).map(|e| (e.row.action, e.data.0));
    let ternary = || {
        let found = stage.ternary.iter().find(|e| asks(&e.row.value, &e.row.mask, key));
        found.map(|e| (e.row.action, e.data.0))
    };
    exact.or_else(ternary)
}

#[test]
fn packets_meet_in_the_rows_what_the_entries_say() {
    let mut rng = Rng::new(test_seed("logical_rows"));
    let (mut met, mut exact, mut ternary) = (0, 0, 0);
    for _ in 0..2_000 {
        let logical = rmt::logical_with_hash(&mut rng);
        let part = rmt::with_tables(logical.clone());
        (exact, ternary) = (exact + part.stages[&1].exact.len(), ternary + part.stages[&1].ternary.len());
        for _ in 0..200 {
            let mut key: Key = std::array::from_fn(|_| rng.below(256) as u8);
            key[0] = rng.below(4) as u8;
            let expected = by_entries(&logical, &key).map(|met| (met.action, met.data));
            assert_eq!(in_rows(&part, &key), expected, "key {key:02x?}\n{logical:#?}");
            met += usize::from(expected.is_some());
        }
    }
    println!("{met} keys met something, rows: {exact} exact, {ternary} ternary");
    assert!(met > 100_000 && exact > 500 && ternary > 2_000, "{met} {exact} {ternary}");
}

#[test]
fn both_forms_of_an_object_keep_its_tables() {
    let mut rng = Rng::new(test_seed("logical_forms"));
    let mut taken = 0;
    for _ in 0..200 {
        let object = rmt::object(rmt::with_tables(rmt::logical_with_hash(&mut rng)));
        // More ternary rows than the small pipeline has are no object.
        if object.check().is_err() {
            continue;
        }
        taken += 1;
        assert_eq!(Object::from_binary(&object.to_binary()).unwrap(), object);
        assert_eq!(Object::from_json(&object.to_json()).unwrap(), object);
        assert!(sluice_object::show::table(&object).contains("table     In.t0: keys"));
    }
    assert!(taken > 100, "{taken}");
}

/// Tables of which the first has a key and an entry, and is looked up.
fn some(kind: LogicalKind) -> Logical {
    let mut rng = Rng::new(7);
    loop {
        let logical = rmt::logical(&mut rng);
        let looks = |case: &LogicalCase| matches!(case, LogicalCase::Looks(lookup) if lookup.table == 0);
        let table = &logical.tables[0];
        let fits = table.keys.first().is_some_and(|key| key.kind == kind && key.bits > 2) && !table.entries.is_empty();
        if fits
            && logical.stages[&1].first().is_some_and(looks)
            && rmt::object(rmt::with_tables(logical.clone())).check().is_ok()
        {
            return logical;
        }
    }
}

fn first(logical: &mut Logical) -> &mut LogicalLookup {
    match &mut logical.stages.get_mut(&1).unwrap()[0] {
        LogicalCase::Looks(lookup) => lookup,
        _ => unreachable!("it looks a table up"),
    }
}

#[test]
fn what_is_no_table_is_refused_with_its_place() {
    type Spoil = fn(&mut Logical);
    let cases: [(&str, LogicalKind, Spoil); 24] = [
        ("tables[1].name", LogicalKind::Exact, |l| {
            (l.tables[1].name, l.tables[1].alias) = (l.tables[0].name.clone(), l.tables[0].alias.clone());
        }),
        ("tables[0].name", LogicalKind::Exact, |l| l.tables[0].name.clear()),
        ("tables[0].alias", LogicalKind::Exact, |l| l.tables[0].alias = "n.t0".to_owned()),
        ("tables[0].keys[0]", LogicalKind::Exact, |l| l.tables[0].keys[0].bits = 201),
        ("tables[0].keys[0]", LogicalKind::Range, |l| l.tables[0].keys[0].bits = 65),
        ("tables[0].keys[0].name", LogicalKind::Exact, |l| l.tables[0].keys[0].name = "a\nb".to_owned()),
        ("tables[0].actions[0].parameters[0]", LogicalKind::Exact, |l| l.tables[0].actions[0].parameters[0].bits = 0),
        ("tables[0].entries[0].matches", LogicalKind::Exact, |l| l.tables[0].entries[0].matches.clear()),
        ("tables[0].entries[0].matches[0]", LogicalKind::Ternary, |l| {
            let (value, mask) = (LogicalValue::of(1), LogicalValue::default());
            l.tables[0].entries[0].matches[0] = LogicalMatch::Masked { value, mask };
        }),
        ("tables[0].entries[0].matches[0]", LogicalKind::Exact, |l| {
            let (value, mask) = (LogicalValue::of(1), LogicalValue::of(1));
            l.tables[0].entries[0].matches[0] = LogicalMatch::Masked { value, mask };
        }),
        ("tables[0].entries[0].matches[0]", LogicalKind::Optional, |l| {
            let (value, mask) = (LogicalValue::of(1), LogicalValue::of(1));
            l.tables[0].entries[0].matches[0] = LogicalMatch::Masked { value, mask };
        }),
        ("tables[0].entries[0].matches[0]", LogicalKind::Lpm, |l| {
            let (low, high) = (LogicalValue::of(0), LogicalValue::of(1));
            l.tables[0].entries[0].matches[0] = LogicalMatch::Range { low, high };
        }),
        ("tables[0].entries[0].matches[0]", LogicalKind::Range, |l| {
            let (low, high) = (LogicalValue::of(0), LogicalValue::of(1 << 40));
            l.tables[0].entries[0].matches[0] = LogicalMatch::Range { low, high };
        }),
        ("tables[0].entries[0].action", LogicalKind::Exact, |l| l.tables[0].entries[0].call.action = 2),
        ("tables[0].default.values", LogicalKind::Exact, |l| l.tables[0].default.values = vec![LogicalValue::of(1); 3]),
        ("stages.1[0].table", LogicalKind::Exact, |l| first(l).table = 2),
        ("stages.1[0].keys", LogicalKind::Exact, |l| first(l).keys.clear()),
        ("stages.1[0].keys[0]", LogicalKind::Exact, |l| first(l).keys[0][0].low = 300),
        ("stages.1[0].keys[0]", LogicalKind::Exact, |l| first(l).keys[0][0].at = Some(200)),
        ("stages.1[0].outcomes[0].action", LogicalKind::Exact, |l| first(l).outcomes[0].leads[0].action = 9),
        ("stages.1[0].outcomes[0].moves[0].byte", LogicalKind::Exact, |l| {
            first(l).outcomes[0].leads[0].moves[0].byte = 16;
        }),
        ("stages.1[0].outcomes[0].moves[0]", LogicalKind::Exact, |l| {
            let to = &mut first(l).outcomes[0].leads[0].moves[0];
            (to.byte, to.bits) = (0, 9);
        }),
        ("tables[0].reserved", LogicalKind::Exact, |l| l.tables[0].reserved = Some((1 << 15) + 1)),
        ("stages.9", LogicalKind::Exact, |l| {
            let cases = l.stages.remove(&1).unwrap();
            l.stages.insert(9, cases);
        }),
    ];
    let mut wrong = Vec::new();
    for (place, kind, spoil) in cases {
        let mut part = rmt::with_tables(some(kind));
        spoil(part.logical.as_mut().unwrap());
        match rmt::object(part).check() {
            Err(ObjectError::Value { path, .. }) if path.strip_prefix("rmt.logical.") == Some(place) => {}
            other => wrong.push((place, other)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Neither rows without their entries nor entries without their rows.
#[test]
fn rows_other_than_those_of_the_entries_are_refused() {
    let refused = |part: RmtPart| match rmt::object(part).check() {
        Err(ObjectError::Value { path, found, .. }) => (path, found),
        other => panic!("{other:?}"),
    };
    let expected = ("rmt.stages.1".to_owned(), "rows other than those of the tables' entries".to_owned());
    let mut part = rmt::with_tables(some(LogicalKind::Exact));
    part.logical.as_mut().unwrap().tables[0].entries.clear();
    assert_eq!(refused(part), expected);
    let mut part = rmt::with_tables(some(LogicalKind::Exact));
    part.stages.get_mut(&1).unwrap().key.mask.0[3] ^= 1;
    assert_eq!(refused(part), expected);
}

/// What is reserved is in the stage's room, and nothing else is.
#[test]
fn room_is_what_entries_take_and_what_is_reserved_for_more() {
    let mut logical = some(LogicalKind::Lpm);
    logical.tables[0].constant = false;
    let rooms = |reserved| {
        let mut logical = logical.clone();
        logical.tables[0].reserved = reserved;
        let stage = rmt::with_tables(logical).stages.remove(&1).unwrap();
        (stage.exact_room, stage.ternary_room)
    };
    let (exact, ternary) = rooms(None);
    let there = logical.tables[0].entries.len() as u32;
    assert_eq!(rooms(Some(there)), (exact, ternary));
    assert!(rooms(Some(there + 3)).1 >= ternary + 3, "{:?}", rooms(Some(there + 3)));
    let mut part = rmt::with_tables(logical.clone());
    part.logical.as_mut().unwrap().tables[0].counted = true;
    part.logical.as_mut().unwrap().tables[0].reserved = Some(there + 100);
    assert!(rmt::object(part).check().is_err(), "more numbers than the stage has");
}

/// A short file that means very many rows is refused soon.
#[test]
fn entries_without_end_are_refused() {
    let mut logical = some(LogicalKind::Range);
    let table = &mut logical.tables[0];
    let range = LogicalMatch::Range { low: LogicalValue::of(1), high: LogicalValue::of((1 << 60) - 2) };
    table.keys = vec![table.keys[0].clone(); 6];
    table.keys.iter_mut().for_each(|key| key.bits = 60);
    let entry = table.entries[0].clone();
    table.entries = vec![entry; 3];
    table.entries.iter_mut().for_each(|entry| entry.matches = vec![range; 6]);
    let lookup = first(&mut logical);
    lookup.keys = vec![vec![LogicalPiece { low: 0, bits: 60, at: Some(8), known: 0 }]; 6];
    let began = std::time::Instant::now();
    assert!(logical.rows(1).is_err());
    assert!(began.elapsed().as_secs() < 2, "{:?}", began.elapsed());
}
