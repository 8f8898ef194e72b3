//! Loads against rmt.md's lookup: old packets see all of the old, new ones all of the new,
//! at every moment of every order of writes that a device may choose.

use crate::common::*;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::rows::SelectRow;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{Node, Table, Target};
use sluice_object::linker::spaces::Region;
use sluice_object::linker::{unsafe_live_bank, unsafe_order};
use sluice_object::{KeyBytes, KeyKind, KeySpec, LinkError, Linker, Load, Object, Step};

/// One tenant on a device of tables.
struct Bench {
    linker: Linker,
    rows: Rows,
    module: u8,
    current: u8,
    rng: Rng,
}

impl Bench {
    fn new(target: &'static Target, entries: u32, rng: &mut Rng) -> Self {
        let (mut linker, mut rows) = (Linker::new(target), Rows::new(target));
        rows.run(&linker.admit(tenant(7, "red", entries, target)).unwrap());
        let module = linker.tenant(7).unwrap().module;
        Self { linker, rows, module, current: 0, rng: rng.fork() }
    }

    fn run(&mut self, load: &Load, before: &Expected, after: &Expected, packets: &[KeyBytes]) -> Result<(), String> {
        run_checked(&mut self.rows, load, self.module, &mut self.current, (before, after), packets, &mut self.rng)
    }

    /// After an operation the device holds one generation and nothing else.
    fn is_at_rest(&self) {
        assert_eq!(self.current, self.linker.generation(7).unwrap());
        let other = 2 * u32::from(self.module) + u32::from(1 - self.current);
        assert_eq!(self.rows.layout::<SelectRow>(Node::Parser, Table::First, other), SelectRow::default());
        let is_entry = |t: &Table| t.exact().is_some();
        let used = self.rows.rows.iter().filter(|((_, t, _), w)| is_entry(t) && w.iter().any(|x| *x != 0)).count();
        assert_eq!(used, self.linker.entries(7).unwrap().len());
    }
}

fn some_key(rng: &mut Rng) -> KeySpec {
    match rng.below(4) {
        0 => KeySpec::DMAC,
        1 => KeySpec::of_fields(KeyKind::FiveTuple, &["src", "dport"]).unwrap(),
        2 => KeySpec::of_fields(KeyKind::FiveTuple, &["dst", "sport", "src[0]"]).unwrap(),
        _ => KeySpec::FIVE_TUPLE,
    }
}

/// Old and new with some keys in common when their key is the same.
fn pair(rng: &mut Rng, n: usize, target: &Target) -> (Object, Object) {
    let (key, new_key) = (some_key(rng), some_key(rng));
    let old = random_object(rng, "old", key, n, target);
    let mut new = random_object(rng, "new", new_key, n, target);
    if new.key == old.key {
        for entry in old.entries.iter().take(n / 4) {
            new.entries.pop();
            new.push(entry.key, random_action(rng, target));
        }
    }
    (old, new)
}

fn life(target: &'static Target, entries: usize, rounds: u32, rng: &mut Rng) -> u32 {
    let mut refused = 0;
    for _ in 0..rounds {
        let mut bench = Bench::new(target, entries as u32, rng);
        let (old, new) = pair(rng, entries, target);
        let packets = packets_for(&[&old, &new], rng);
        let nothing = Expected::nothing();
        let (o, n) = (Expected::of(&old), Expected::of(&new));

        let Ok(load) = bench.linker.load(7, &old) else {
            refused += 1;
            continue;
        };
        bench.run(&load, &nothing, &o, &packets).unwrap();
        bench.is_at_rest();
        let Ok(load) = bench.linker.replace(7, &new) else {
            refused += 1;
            continue;
        };
        bench.run(&load, &o, &n, &packets).unwrap();
        bench.is_at_rest();
        let load = bench.linker.unload(7).unwrap();
        bench.run(&load, &n, &nothing, &packets).unwrap();
        bench.is_at_rest();
        bench.rows.run(&bench.linker.remove(7).unwrap());
        assert_eq!(bench.linker.left(), Linker::new(target).left());
    }
    refused
}

#[test]
fn packets_see_one_whole_program_at_every_moment() {
    let mut rng = Rng::new(test_seed("packets_see_one_whole_program_at_every_moment"));
    for (target, entries, rounds) in [(&TINY, 4, 20), (&TINY, 12, 40), (&TINY, 24, 40), (&DEFAULT, 60, 6)] {
        let refused = life(target, entries, rounds, &mut rng);
        println!("{} target, {entries} entries: {rounds} lives, {refused} refused", target.name);
        assert!(refused < rounds / 4, "most replacements find their place");
    }
}

#[test]
fn a_table_of_256_entries_with_all_keys_different_is_replaced() {
    let mut rng = Rng::new(test_seed("a_table_of_256_entries_with_all_keys_different_is_replaced"));
    let target = &DEFAULT;
    let mut bench = Bench::new(target, 256, &mut rng);
    let old = random_object(&mut rng, "old", KeySpec::FIVE_TUPLE, 256, target);
    let mut last = Expected::of(&old);
    let load = bench.linker.load(7, &old).unwrap();
    let packets = packets_for(&[&old], &mut rng);
    bench.run(&load, &Expected::nothing(), &last, &packets).unwrap();
    for round in 0..8 {
        let key = if round % 2 == 0 { KeySpec::DMAC } else { KeySpec::FIVE_TUPLE };
        let new = random_object(&mut rng, "new", key, 256, target);
        let load = bench.linker.replace(7, &new).unwrap();
        let expected = Expected::of(&new);
        if round < 2 {
            let packets = packets_for(&[&old, &new], &mut rng);
            bench.run(&load, &last, &expected, &packets).unwrap();
        } else {
            bench.rows.run(&load);
            bench.current = bench.linker.generation(7).unwrap();
            let packets = packets_for(&[&new], &mut rng);
            see_exactly(&bench.rows, bench.module, &[(bench.current, &expected)], &packets, "round").unwrap();
        }
        bench.is_at_rest();
        last = expected;
    }
}

#[test]
fn unsafe_orders_are_seen_by_packets_and_refused_by_the_check() {
    let mut rng = Rng::new(test_seed("unsafe_orders_are_seen_by_packets_and_refused_by_the_check"));
    for variant in [unsafe_order, unsafe_live_bank] {
        let mut bench = Bench::new(&TINY, 12, &mut rng);
        let (old, new) = pair(&mut rng, 8, &TINY);
        let (o, n) = (Expected::of(&old), Expected::of(&new));
        let packets = packets_for(&[&old, &new], &mut rng);
        let load = bench.linker.load(7, &old).unwrap();
        bench.run(&load, &Expected::nothing(), &o, &packets).unwrap();
        let before = bench.linker.clone();
        let load = variant(&bench.linker.replace(7, &new).unwrap());
        let refused = before.check(&load);
        assert!(matches!(refused, Err(LinkError::Order { .. } | LinkError::Space { .. })), "{refused:?}");
        let seen = bench.run(&load, &o, &n, &packets);
        assert!(seen.is_err(), "{} changed nothing that packets see", load.label);
    }
}

/// A key with both its sets among the region's first three, so that insertion has to move.
fn crowded_key(rng: &mut Rng, spec: KeySpec, region: Region) -> KeyBytes {
    loop {
        let key = spec.masked(random_key(rng));
        if slots(region, &spec, &key).iter().all(|s| s.set < region.base + 3) {
            return key;
        }
    }
}

#[test]
fn entries_come_and_go_without_one_missed() {
    let mut rng = Rng::new(test_seed("entries_come_and_go_without_one_missed"));
    let (mut moves, mut full) = (0, 0);
    for _ in 0..12 {
        let target = &TINY;
        let mut bench = Bench::new(target, 24, &mut rng);
        let key = some_key(&mut rng);
        let object = random_object(&mut rng, "base", key, 4, target);
        let mut want = Expected::of(&object);
        let mut keys: Vec<KeyBytes> = object.entries.iter().map(|e| e.key).collect();
        let load = bench.linker.load(7, &object).unwrap();
        bench.run(&load, &Expected::nothing(), &want, &keys).unwrap();
        for _ in 0..80 {
            let action = random_action(&mut rng, target);
            let (load, changed) = match (rng.below(4), rng.choose(&keys).copied()) {
                (0, Some(k)) => {
                    keys.retain(|other| *other != k);
                    want.entries.remove(&k);
                    (bench.linker.delete(7, &k), k)
                }
                (1, Some(k)) => {
                    want.entries.insert(k, action);
                    (bench.linker.modify(7, &k, &action), k)
                }
                _ => {
                    let k = crowded_key(&mut rng, key, region(&bench.linker, 7).half(bench.current));
                    let load = bench.linker.insert(7, &k, &action);
                    if load.is_err() {
                        full += 1;
                        continue;
                    }
                    want.entries.insert(k, action);
                    keys.push(k);
                    (load, k)
                }
            };
            let load = load.unwrap();
            moves += load.steps.iter().filter(|s| matches!(s, Step::Barrier)).count() / 2;
            let others: Vec<KeyBytes> = keys.iter().filter(|k| **k != changed).copied().collect();
            bench.run(&load, &want, &want, &others).unwrap();
            see_exactly(&bench.rows, bench.module, &[(bench.current, &want)], &keys, &load.label).unwrap();
            bench.is_at_rest();
        }
    }
    println!("{moves} moves, {full} refused for want of room");
    assert!(moves > 0 && full > 0);
}

#[test]
fn the_same_operations_give_the_same_loads() {
    let run = || {
        let mut rng = Rng::new(11);
        let mut linker = Linker::new(&TINY);
        let mut loads = vec![linker.admit(tenant(7, "red", 20, &TINY)).unwrap()];
        loads.push(linker.load(7, &random_object(&mut rng, "a", KeySpec::DMAC, 20, &TINY)).unwrap());
        loads.push(linker.replace(7, &random_object(&mut rng, "b", KeySpec::DMAC, 16, &TINY)).unwrap());
        loads.push(linker.insert(7, &KeySpec::DMAC.masked([9; 13]), &random_action(&mut rng, &TINY)).unwrap());
        loads
    };
    assert_eq!(run(), run());
}
