//! Fuzzers: outside bytes into the decoders, random operations into the linker.
//!
//! SLUICE_FUZZ_SECONDS (1) is the time of each, SLUICE_SEED repeats one run of it.

use crate::common::*;
use arbtest::arbitrary::{Result, Unstructured};
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::{
    L7AlternativePart, L7GroupRow, L7MatchRow, L7MovePart, L7PortRow, L7StartRow, L7TargetPart,
};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::random::{Rng, SEED_VARIABLE};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{Node, Table, hash};
use sluice_object::linker::Linker;
use sluice_object::{
    Action, Destination, KeyBytes, KeyKind, KeySpec, L7Application, L7Part, Load, NicSettings, Object, Step, Xdp,
    XdpEntry, XdpInitial, XdpMap, XdpMemory, XdpProgram,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

fn fuzz(name: &str, property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let seed = std::env::var(SEED_VARIABLE).ok();
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let test = arbtest::arbtest(property).budget(Duration::from_secs_f64(seconds));
    let number = seed.as_deref().and_then(|s| match s.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => s.parse().ok(),
    });
    match number {
        Some(seed) => {
            println!("{name}: {SEED_VARIABLE}={seed}");
            test.seed(seed).run();
        }
        None => {
            println!("{name}: a failure prints its seed, {SEED_VARIABLE}=seed repeats it");
            test.run();
        }
    }
}

fn some_object(u: &mut Unstructured<'_>) -> Result<Object> {
    let mut rng = Rng::new(u.arbitrary()?);
    let spec = match u.int_in_range(0..=3)? {
        0 => KeySpec::NONE,
        1 => KeySpec::DMAC,
        2 => KeySpec { kind: KeyKind::FiveTuple, mask: u.int_in_range(0..=0x1fff)? | 0x0110 },
        _ => KeySpec::FIVE_TUPLE,
    };
    let n = if spec.kind == KeyKind::None { 0 } else { u.int_in_range(0..=12)? };
    let mut object = random_object(&mut rng, "fuzz", spec, n, &DEFAULT);
    if spec == KeySpec::NONE && u.ratio(3, 4)? {
        object.default = Action::to([Destination::Host(0)]);
        object.demands.queues.insert(Destination::Host(0), 1);
        object.parts.xdp = Some(Box::new(some_xdp(&mut rng)));
    }
    if spec == KeySpec::NONE && u.ratio(1, 3)? {
        object = rmt::object(rmt::part());
        let with_tables = rmt::object(rmt::with_tables(rmt::logical(&mut rng)));
        if u.arbitrary()? && with_tables.check().is_ok() {
            object = with_tables;
        }
    }
    // Rules stand beside anything.
    if u.ratio(1, 3)? {
        object.parts.l7 = Some(Box::new(some_rules(&mut rng)));
    }
    Ok(object)
}

/// A program for dispatch with a few of everything, all of it within itself.
fn some_rules(rng: &mut Rng) -> L7Part {
    let (rows, starts, groups) = (rng.range(1, 4), rng.range(1, 3), rng.range(1, 2));
    let target = |rng: &mut Rng| match rng.below(5) {
        0 => L7TargetPart::new(L7Goal::Drop, 0),
        1 => L7TargetPart::new(L7Goal::Queue, rng.below(256) as u16),
        2 => L7TargetPart::new(L7Goal::Group, rng.below(groups) as u16),
        3 => L7TargetPart::new(L7Goal::Row, rng.below(rows) as u16),
        _ => L7TargetPart::default(),
    };
    let step =
        |rng: &mut Rng| L7MovePart { field: rng.below(16) as u8, skip: rng.below(256) as u8, stop: rng.below(3) as u8 };
    let alternative = |rng: &mut Rng| L7AlternativePart {
        valid: true,
        ends: rng.chance(1, 2),
        anyway: rng.chance(1, 4),
        bytes: rng.next_u64().into(),
        target: target(rng),
    };
    let row = |rng: &mut Rng| {
        let four: [_; 4] = std::array::from_fn(|_| alternative(rng));
        let alternatives = four.into();
        L7MatchRow { module_id: 0, length: rng.below(9) as u8, step: step(rng), miss: target(rng), alternatives }
    };
    let application = |n: u64, rng: &mut Rng| {
        let row = L7PortRow {
            valid: true,
            port: 9000 + n as u16,
            stops: [b'/', b'?'],
            stop_count: rng.below(3) as u8,
            otherwise: L7TargetPart::new(L7Goal::Queue, 0),
            types: starts as u16,
            expiry: rng.below(1 << 24) as u32,
            ..L7PortRow::default()
        };
        L7Application { name: format!("a{n}"), row, discard: rng.chance(1, 2) }
    };
    L7Part {
        applications: (0..rng.range(1, 3)).map(|n| application(n, rng)).collect(),
        starts: (0..starts).map(|_| L7StartRow { module_id: 0, step: step(rng), target: target(rng) }).collect(),
        rows: (0..rows).map(|_| row(rng)).collect(),
        groups: (0..groups)
            .map(|_| L7GroupRow { module_id: 0, field: rng.below(16) as u8, slots: [rng.next_u64() as u8; 16] })
            .collect(),
    }
}

/// A program with a few of everything.
fn some_xdp(rng: &mut Rng) -> Xdp {
    let programs: Vec<XdpProgram> = (0..rng.range(1, 3))
        .map(|i| XdpProgram {
            name: format!("program_{i}"),
            slots: (0..rng.range(1, 6)).map(|_| rng.next_u64()).collect(),
            functions: if rng.chance(1, 2) { vec![("f".to_owned(), 0)] } else { Vec::new() },
        })
        .collect();
    let maps = rng.below(4) as u32;
    let map = |rng: &mut Rng, name: String| {
        let value_size = rng.below(9) as u32;
        XdpMap {
            name,
            kind: 1 + rng.below(3) as u32,
            key_size: 4,
            value_size,
            max_entries: rng.next_u32(),
            flags: rng.next_u32(),
            pinned: rng.chance(1, 2),
            frozen: rng.chance(1, 4),
            spin_lock: rng.chance(1, 4).then_some(4),
            contents: rng.chance(1, 4).then(|| vec![7; value_size as usize]),
            initial: Vec::new(),
            inner: None,
            place: None,
        }
    };
    let maps: Vec<XdpMap> = (0..maps)
        .map(|i| {
            let mut one = map(rng, format!("map_{i}"));
            one.place = [None, Some(XdpMemory::Chip), Some(XdpMemory::Outside)][rng.index(3)];
            one.inner = rng.chance(1, 4).then(|| Box::new(map(rng, "inner".to_owned())));
            if rng.chance(1, 3) {
                one.initial = vec![(rng.next_u32(), XdpInitial::Map(rng.below(maps.into()) as u32))];
                one.initial.push((1, XdpInitial::Program("program_0".to_owned())));
            }
            one
        })
        .collect();
    let keep = maps.iter().filter(|m| m.is_state()).take(1).map(|m| m.name.clone()).collect();
    let entry = XdpEntry { map: 0, key: vec![1; 4], value: vec![2; 3] };
    let entries = if maps.is_empty() { Vec::new() } else { vec![entry] };
    let interfaces = (0..rng.below(3)).map(|i| (rng.next_u32(), i as u8)).collect();
    Xdp { main: rng.below(programs.len() as u64) as u32, programs, maps, keep, entries, interfaces }
}

/// Valid bytes with some changed, and the checksum made right again half of the time, so
/// that the change reaches what lies behind it.
fn mutate(u: &mut Unstructured<'_>, mut bytes: Vec<u8>, checksum: bool) -> Result<Vec<u8>> {
    for _ in 0..u.int_in_range(0..=4)? {
        let at = u.choose_index(bytes.len())?;
        match u.int_in_range(0..=3)? {
            0 => bytes[at] = u.arbitrary()?,
            1 => bytes.insert(at, u.arbitrary()?),
            2 => drop(bytes.remove(at)),
            _ => bytes[at] ^= 1 << u.int_in_range(0..=7)?,
        }
    }
    if checksum && bytes.len() >= 20 && u.ratio(7, 8)? {
        let end = bytes.len() - 4;
        let total = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&total.to_le_bytes());
        let crc = hash::crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&crc.to_le_bytes());
    }
    Ok(bytes)
}

#[test]
fn fuzz_binary_object() {
    let (mut taken, mut refused) = (0u64, BTreeMap::<&str, u64>::new());
    fuzz("fuzz_binary_object", |u| {
        let bytes = some_object(u)?.to_binary();
        let bytes = if u.ratio(1, 16)? { u.arbitrary()? } else { mutate(u, bytes, true)? };
        match Object::decode(&bytes) {
            Ok(object) => {
                taken += 1;
                if bytes.starts_with(b"SLOB") {
                    assert_eq!(object.to_binary(), bytes);
                }
                assert_eq!(Object::from_json(&object.to_json()).unwrap(), object);
                sluice_object::show::table(&object);
                link_rmt(&object);
            }
            Err(e) => *refused.entry(e.code()).or_default() += 1,
        }
        Ok(())
    });
    println!("{taken} taken, refused {refused:?}");
}

/// What is decoded is placed or refused.
fn link_rmt(object: &Object) {
    if object.parts.rmt.is_none() {
        return;
    }
    let mut linker = Linker::new(&TINY);
    let mut spec = tenant(7, "red", 0, &TINY);
    spec.make_room(object);
    if linker.admit(spec).is_ok() && linker.load(7, object).is_ok() {
        linker.replace(7, object).expect("what fits once fits again");
        linker.remove(7).expect("it can leave");
        assert_eq!(linker.left(), Linker::new(&TINY).left());
    }
}

#[test]
fn fuzz_json_object() {
    let (mut taken, mut refused) = (0u64, BTreeMap::<&str, u64>::new());
    fuzz("fuzz_json_object", |u| {
        let text = some_object(u)?.to_json();
        let bytes = if u.ratio(1, 2)? { mutate(u, text.into_bytes(), false)? } else { mutate_words(u, &text)? };
        match Object::decode(&bytes) {
            Ok(object) => {
                taken += 1;
                assert_eq!(Object::from_binary(&object.to_binary()).unwrap(), object);
                assert_eq!(Object::from_json(&object.to_json()).unwrap(), object);
            }
            Err(e) => *refused.entry(e.code()).or_default() += 1,
        }
        Ok(())
    });
    println!("{taken} taken, refused {refused:?}");
}

/// JSON with one token replaced by another.
fn mutate_words(u: &mut Unstructured<'_>, text: &str) -> Result<Vec<u8>> {
    let mut tokens: Vec<&str> = text.split_inclusive(|c: char| " ,:[]{}\"\n".contains(c)).collect();
    let others =
        ["0", "-1", "4294967296", "null", "\"drop\"", "port7", "host9", "{}", "[", "]", "dmac", "dst[4]", "\u{e9}"];
    for _ in 0..u.int_in_range(1..=3)? {
        let at = u.choose_index(tokens.len())?;
        tokens[at] = if u.ratio(1, 2)? { u.choose(&others)? } else { tokens[u.choose_index(tokens.len())?] };
    }
    Ok(tokens.concat().into_bytes())
}

#[test]
fn fuzz_load() {
    let mut linker = Linker::new(&TINY);
    let loads = [
        linker.admit(tenant(1, "red", 8, &TINY)).unwrap(),
        linker.load(1, &random_object(&mut Rng::new(1), "a", KeySpec::DMAC, 8, &TINY)).unwrap(),
    ];
    fuzz("fuzz_load", |u| {
        let load = u.choose(&loads)?;
        let decoded = if u.arbitrary()? {
            let bytes = mutate(u, load.to_binary(), true)?;
            let decoded = Load::from_binary(&bytes).ok();
            assert!(decoded.as_ref().is_none_or(|l| l.to_binary() == bytes));
            decoded
        } else {
            let bytes = mutate_words(u, &load.to_json())?;
            Load::from_json(std::str::from_utf8(&bytes).unwrap()).ok()
        };
        if let Some(load) = decoded {
            let _ = linker.check(&load);
            let _ = Load::from_json(&load.to_json()).unwrap();
        }
        Ok(())
    });
}

/// What a linker should know, kept in the plainest way.
struct Mirror {
    rows: Rows,
    /// Entries and default by tenant that runs something.
    running: BTreeMap<u16, Expected>,
}

fn check_invariants(linker: &Linker, mirror: &Mirror) {
    let (target, mut sets, mut cells, mut modules) = (linker.target(), BTreeSet::new(), 0, BTreeSet::new());
    let mut vlans = BTreeSet::new();
    for t in linker.tenants() {
        assert!(modules.insert(t.module) && (t.module == 0) == (t.spec.id == 0));
        assert!(t.vlans.iter().all(|v| vlans.insert(*v)), "a VLAN has two owners");
        let region = linker.placer().region(t.module, STAGE);
        let stage = linker.placer().stages_of(t.module).get(&STAGE).copied().unwrap_or(STAGE);
        for set in region.into_iter().flat_map(|r| r.base..r.base + r.sets()) {
            assert!(set < target.rmt.sets() as u32 && sets.insert((stage, set)), "set {set} has two owners");
        }
        cells += t.spec.cells();
        assert_eq!(t.running.is_some(), mirror.running.contains_key(&t.spec.id));
        let Some(expected) = mirror.running.get(&t.spec.id) else { continue };
        let generation = linker.generation(t.spec.id).unwrap();
        let packets: Vec<KeyBytes> = expected.entries.keys().copied().collect();
        see_exactly(&mirror.rows, t.module, &[(generation, expected)], &packets, &t.spec.name).unwrap();
        assert_eq!(linker.entries(t.spec.id).unwrap().len(), expected.entries.len());
    }
    assert!(cells + target.beats(9216) <= target.cells);
    let left = linker.left();
    for (stage, left) in (0..).zip(&left.stages) {
        let held = sets.iter().filter(|(of, _)| *of == stage).count();
        assert_eq!(left.sets, (target.rmt.sets() - held) as u32, "stage {stage}");
    }
    assert_eq!(left.cells, target.cells - target.beats(9216) - cells);
    // The device's own limits say the same.
    let limits = mirror.rows.rows.iter().filter(|((n, t, _), _)| (*n, *t) == (Node::Egress, Table::Limit));
    assert_eq!(limits.map(|(_, w)| w[0]).sum::<u32>(), cells);
}

#[test]
fn fuzz_linker_operations() {
    let (mut done, mut refused) = (0u64, BTreeMap::<&str, u64>::new());
    fuzz("fuzz_linker_operations", |u| {
        let target = if u.arbitrary()? { &TINY } else { &DEFAULT };
        let mut linker = Linker::new(target);
        let mut mirror = Mirror { rows: Rows::new(target), running: BTreeMap::new() };
        let mut rng = Rng::new(u.arbitrary()?);
        for _ in 0..u.int_in_range(1..=40)? {
            let id = u.int_in_range(0..=9u16)?;
            let key = linker.tenant(id).ok().and_then(|t| t.running.as_ref()).map_or(KeySpec::DMAC, |r| r.key);
            let some_key = key.masked([u.int_in_range(0..=20u8)?; 13]);
            let action = random_action(&mut rng, target);
            let mut next = linker.clone();
            let mut after = mirror.running.clone();
            let result = match u.int_in_range(0..=8)? {
                0 | 1 => {
                    let mut spec = tenant(id, &format!("t{id}"), u.int_in_range(0..=40)?, target);
                    spec.vlans[0].vlan = u.int_in_range(0..=12)?;
                    next.admit(spec)
                }
                2 | 3 => {
                    let mut n = u.int_in_range(0..=24)?;
                    let spec = *u.choose(&[KeySpec::NONE, KeySpec::DMAC, KeySpec::FIVE_TUPLE])?;
                    n = if spec.kind == KeyKind::None { 0 } else { n };
                    let object = random_object(&mut rng, "o", spec, n, target);
                    after.insert(id, Expected::of(&object));
                    let runs = mirror.running.contains_key(&id);
                    if runs { next.replace(id, &object) } else { next.load(id, &object) }
                }
                4 => {
                    after.remove(&id);
                    next.unload(id)
                }
                5 => {
                    after.remove(&id);
                    next.remove(id)
                }
                6 => {
                    after.entry(id).and_modify(|e| {
                        e.entries.insert(some_key, action);
                    });
                    next.insert(id, &some_key, &action)
                }
                7 => {
                    after.entry(id).and_modify(|e| {
                        e.entries.insert(some_key, action);
                    });
                    if u.arbitrary()? {
                        next.modify(id, &some_key, &action)
                    } else {
                        after.entry(id).and_modify(|e| {
                            e.entries.remove(&some_key);
                        });
                        next.delete(id, &some_key)
                    }
                }
                _ => {
                    let mut settings = NicSettings::new(target);
                    settings.ports[0].untagged = u.arbitrary::<bool>()?.then_some(id);
                    next.nic(settings)
                }
            };
            match result {
                Ok(load) => {
                    done += 1;
                    assert_eq!(load.format_version, FORMAT_VERSION);
                    assert!(load.steps.iter().all(|s| !matches!(s, Step::Write { words, .. } if words.is_empty())));
                    mirror.rows.run(&load);
                    mirror.running = after;
                    linker = next;
                }
                Err(e) => *refused.entry(e.code()).or_default() += 1,
            }
            check_invariants(&linker, &mirror);
        }
        Ok(())
    });
    println!("{done} operations done, refused {refused:?}");
}
