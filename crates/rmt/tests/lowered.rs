//! Table objects as programs: what packets meet is what the NIC's one table did.
//!
//! The reference below works on the object itself, as docs/design/object.md, "Lowering", says it: no key of the pipeline, no row.

use crate::common::linker::Tenants;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::{EngineId, Reason};
use sluice_object::linker::rmt::Quota;
use sluice_object::lower::{self, LEAST_FIVE_TUPLE};
use sluice_object::{
    Action, Destinations, KeyKind, KeySpec, Linker, Load, Object, Step, TenantSpec, VlanGrant, Xdp, XdpProgram,
};
use sluice_rmt::fast::Fast;
use sluice_rmt::pipeline::Memory;
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::{Arrival, Copy, Outcome, Pipeline, Role, decode};
use std::collections::BTreeMap;

/// The 5-tuple of a frame: IPv4 without options, behind a tag that is there; ports of TCP and UDP in the first fragment.
fn tuple(bytes: &[u8]) -> Option<[u8; 13]> {
    let ethertype = |at: usize| bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]));
    let o = if bytes.len() >= 16 && ethertype(12) == Some(0x8100) { 4 } else { 0 };
    let ipv4 = bytes.len() >= o + 34 && ethertype(12 + o) == Some(0x0800) && bytes[14 + o] == 0x45;
    if !ipv4 {
        return None;
    }
    let fragment = u16::from_be_bytes([bytes[20 + o], bytes[21 + o]]) & 0x1fff;
    let ports = [6, 17].contains(&bytes[23 + o]) && fragment == 0 && bytes.len() >= o + 38;
    let mut tuple = [0; 13];
    tuple[..8].copy_from_slice(&bytes[26 + o..34 + o]);
    if ports {
        tuple[8..12].copy_from_slice(&bytes[34 + o..38 + o]);
    }
    tuple[12] = bytes[23 + o];
    Some(tuple)
}

/// What the one table did, but that a frame below 42 bytes has no 5-tuple.
fn reference(object: &Object, target: &Target, port: u8, bytes: &[u8]) -> Outcome {
    let key = match object.key.kind {
        KeyKind::None => None,
        KeyKind::Dmac => Some(std::array::from_fn(|i| if i < 6 { bytes[i] } else { 0 })),
        KeyKind::FiveTuple => tuple(bytes).filter(|_| bytes.len() >= usize::from(LEAST_FIVE_TUPLE)),
    };
    let entry = key.and_then(|k| object.entries.iter().find(|e| e.key == object.key.masked(k)));
    let action = entry.map_or(object.default, |e| e.action);
    let mut mask = action.to.mask(target.nic()).unwrap();
    if mask == 0 {
        return Outcome::Dropped(Reason::Discard);
    }
    if action.except_ingress {
        mask &= !(1 << port);
    }
    if mask == 0 {
        return Outcome::Dropped(Reason::NoDestination);
    }
    let mut packet = bytes.to_vec();
    if let Some(mac) = action.set_dmac {
        packet[..6].copy_from_slice(&mac);
    }
    let copies = (0..8).filter(|d| mask >> d & 1 == 1).map(|destination| Copy { destination, queue: 0, tag: 0 });
    Outcome::Sent { packet, copies: copies.collect() }
}

fn random_action(rng: &mut Rng) -> Action {
    let mask = rng.next_u32() as u8 & if rng.chance(1, 2) { 1 << rng.below(8) } else { 0xff };
    let mut action = Action::to(Destinations::from_mask(mask, DEFAULT.nic()).iter());
    if mask != 0 {
        // Only a port can be left out.
        action.except_ingress = rng.chance(1, 3) && mask & 0xf != 0;
        action.set_dmac = rng.chance(1, 3).then(|| std::array::from_fn(|_| rng.next_u32() as u8));
    }
    action
}

/// Few values, so that entries are met.
fn random_tuple(rng: &mut Rng) -> [u8; 13] {
    let mut tuple = std::array::from_fn(|_| rng.below(2) as u8);
    tuple[12] = *rng.choose(&[1, 6, 17]).unwrap();
    if tuple[12] == 1 || rng.chance(1, 8) {
        tuple[8..12].fill(0);
    }
    tuple
}

fn random_spec(rng: &mut Rng) -> KeySpec {
    match rng.below(5) {
        0 => KeySpec::NONE,
        1 => KeySpec { kind: KeyKind::Dmac, mask: rng.below(0x40) as u16 },
        2 => KeySpec::FIVE_TUPLE,
        _ => KeySpec { kind: KeyKind::FiveTuple, mask: rng.below(0x2000) as u16 },
    }
}

fn random_key(rng: &mut Rng, spec: &KeySpec) -> [u8; 13] {
    spec.masked(if spec.kind == KeyKind::FiveTuple { random_tuple(rng) } else { [rng.below(4) as u8; 13] })
}

fn random_object(rng: &mut Rng, entries: usize) -> Object {
    let spec = random_spec(rng);
    let mut object = Object::new("table", spec, random_action(rng));
    if spec.kind != KeyKind::None {
        let keys: std::collections::BTreeSet<[u8; 13]> = (0..entries).map(|_| random_key(rng, &spec)).collect();
        keys.into_iter().for_each(|key| object.push(key, random_action(rng)));
    }
    object
}

/// A frame as the tables see it: 12 bytes and more, IPv4 or nearly so, with a tag or without.
fn random_frame(rng: &mut Rng) -> Vec<u8> {
    let mut frame: Vec<u8> = vec![rng.below(4) as u8; 6];
    frame.extend([2, 0, 0, 0, 0, 1]);
    if rng.chance(1, 3) {
        frame.extend([0x81, 0x00, 0x00, rng.below(4) as u8]);
    }
    if rng.chance(1, 16) {
        frame.extend([0x88, 0xa8, 0, 1]);
    }
    let ethertype: [u8; 2] =
        if rng.chance(7, 8) { [8, 0] } else { *rng.choose(&[[0x86, 0xdd], [8, 6], [0, 8]]).unwrap() };
    frame.extend(ethertype);
    let t = random_tuple(rng);
    let fragment = if rng.chance(1, 6) { [rng.below(0x40) as u8, rng.below(2) as u8] } else { [0x40, 0] };
    frame.push(if rng.chance(9, 10) { 0x45 } else { *rng.choose(&[0x46, 0x44, 0x65]).unwrap() });
    frame.extend([0, 0, 28, 0, 7, fragment[0], fragment[1], 64, t[12], 0xab, 0xcd]);
    frame.extend(&t[..12]);
    frame.extend([0, 8, 0, 0]);
    let length = match rng.below(4) {
        0 => rng.range(12, 60) as usize,
        1 => frame.len(),
        _ => rng.range(60, 200) as usize,
    };
    frame.resize(length, rng.next_u32() as u8);
    frame
}

/// Runs a load on the fast model.
fn write(fast: &mut Fast, load: &Load) {
    for step in &load.steps {
        match step {
            Step::Write { node, table, index, words } if table.engine() == Some(EngineId::RMT) => {
                assert_eq!(fast.write(*node, *table, *index, words), sluice_formats::Status::Ok, "{step:?}");
            }
            Step::Commit { module, generation } => {
                let (node, table) = (sluice_formats::Node::Stamp, sluice_formats::Table::Generation);
                fast.write(node, table, (*module).into(), &[u32::from(*generation)]);
            }
            _ => {}
        }
    }
}

fn arrival(module: u8, port: u8, packet: &[u8]) -> Arrival<'_> {
    Arrival { packet, module, generation: 0, system_generation: 0, tenant: 1, port, arrival: 5, queueing: 9 }
}

#[test]
fn lowered_tables_do_what_the_one_table_did() {
    let mut rng = Rng::new(test_seed("lowered_tables"));
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for round in 0..400 {
        let target = if round % 2 == 0 { TINY } else { DEFAULT };
        let object = random_object(&mut rng, 12);
        let part = lower::lower(&object, target.nic(), &BTreeMap::new()).unwrap();
        // The checker takes it, so that `show` and the interpreter can read it.
        let program = decode(&part, &target, Role::Tenant).unwrap_or_else(|e| panic!("{:?}: {e}", object.key));
        let mut pipeline = Pipeline::new(target);
        pipeline.load(1, 0, program, Memory::Zeroed).unwrap();
        pipeline.grant(1, 0xff);

        let mut linker = Tenants::new(target);
        let mut fast = Fast::new(target);
        let all = Destinations::from_mask(0xff, target.nic());
        let spec = TenantSpec {
            queues: all.iter().map(|d| (d, 4)).collect(),
            max_entries: object.demands.entries,
            ..TenantSpec::new(7, "red")
        };
        write(&mut fast, &linker.0.admit(spec).unwrap());
        // Crowded keys may find no place.
        let Ok(load) = linker.0.load(7, &object) else { continue };
        write(&mut fast, &load);
        for _ in 0..60 {
            let (frame, port) = (random_frame(&mut rng), rng.below(4) as u8);
            let wanted = reference(&object, &target, port, &frame);
            let what = || format!("{:?}, port {port}, {frame:02x?}", object.key);
            assert_eq!(pipeline.run(&arrival(1, port, &frame)), wanted, "interpreter: {}", what());
            let stamped = fast.stamped(&arrival(1, port, &frame));
            assert_eq!(fast.run(&stamped), wanted, "fast model: {}", what());
            let kind = match &wanted {
                Outcome::Dropped(reason) => reason.name(),
                Outcome::Sent { packet, .. } if *packet != frame => "rewritten",
                Outcome::Sent { copies, .. } if copies.len() > 1 => "copied",
                Outcome::Sent { .. } => "sent",
            };
            *seen.entry(kind).or_default() += 1;
            let (len, tuple) = (frame.len(), tuple(&frame));
            let met = tuple.is_some_and(|t| object.entries.iter().any(|e| e.key == object.key.masked(t)));
            if met && object.key.kind == KeyKind::FiveTuple {
                let tagged = frame[12] == 0x81;
                *seen.entry(if tagged { "tuple behind a tag" } else { "tuple" }).or_default() += 1;
                *seen.entry("too short for a table").or_default() += u32::from(len < usize::from(LEAST_FIVE_TUPLE));
            }
        }
    }
    println!("{seen:?}");
    for kind in ["discard", "no_destination", "rewritten", "copied", "sent", "tuple", "tuple behind a tag"] {
        assert!(seen.get(kind).is_some_and(|&n| n > 100), "{kind}: {seen:?}");
    }
    assert!(seen["too short for a table"] > 0, "{seen:?}");
}

#[test]
fn entries_come_and_go_in_the_notation_of_tables() {
    let mut rng = Rng::new(test_seed("lowered_entries"));
    let (mut moved, mut refused) = (0, 0);
    for _ in 0..40 {
        let spec = loop {
            let spec = random_spec(&mut rng);
            if spec.kind != KeyKind::None {
                break spec;
            }
        };
        let mut object = Object::new("table", spec, random_action(&mut rng));
        let mut linker = Linker::new(TINY.nic());
        let mut fast = Fast::new(TINY);
        let all = Destinations::from_mask(0xff, TINY.nic());
        let vlans = vec![VlanGrant { port: None, vlan: 7 }];
        let queues = all.iter().map(|d| (d, 4)).collect();
        let tenant = TenantSpec { queues, vlans, max_entries: 8, ..TenantSpec::new(7, "red") };
        write(&mut fast, &linker.admit(tenant).unwrap());
        write(&mut fast, &linker.load(7, &object).unwrap());
        for _ in 0..60 {
            let (key, action) = (random_key(&mut rng, &spec), random_action(&mut rng));
            let place = object.entries.iter().position(|e| e.key == key);
            let load = match place {
                None => linker.insert(7, &key, &action),
                Some(_) if rng.chance(1, 2) => linker.modify(7, &key, &action),
                Some(_) => linker.delete(7, &key),
            };
            match (load, place) {
                (Err(e), None) => {
                    assert_eq!(e.code(), "E0230", "{e}");
                    refused += 1;
                }
                (Err(e), Some(_)) => panic!("{e}"),
                (Ok(load), place) => {
                    moved += u32::from(load.steps.len() > 3);
                    match (place, load.label.starts_with("modify")) {
                        (None, _) => object.push(key, action),
                        (Some(i), true) => {
                            // An entry that changes never needs a free row.
                            assert!(load.steps.len() <= 1, "{:?}", load.steps);
                            object.entries[i].action = action;
                        }
                        (Some(i), false) => drop(object.entries.remove(i)),
                    }
                    write(&mut fast, &load);
                }
            }
            let mut sorted = object.entries.clone();
            sorted.sort_by_key(|e| e.key);
            assert_eq!(linker.entries(7).unwrap(), sorted);
            let (frame, port) = (random_frame(&mut rng), rng.below(4) as u8);
            let stamped = fast.stamped(&arrival(1, port, &frame));
            assert_eq!(fast.run(&stamped), reference(&object, &TINY, port, &frame));
        }
    }
    println!("{moved} moves, {refused} refused");
    assert!(refused > 0);
}

#[test]
fn a_lowered_table_stays_off_the_containers_of_the_system_program() {
    let object = random_object(&mut Rng::new(1), 0);
    let object = Object { key: KeySpec::FIVE_TUPLE, entries: Vec::new(), ..object };
    let shared = |list: &[u8]| list.iter().map(|c| (format!("c{c}"), *c)).collect::<BTreeMap<_, _>>();
    let taken = [7, 6, 15, 13, 23];
    let part = lower::lower(&object, TINY.nic(), &shared(&taken)).unwrap();
    for container in taken {
        assert!(part.paths.iter().all(|p| !p.extract[usize::from(container)].taken), "container {container}");
        assert!(part.stages[&1].actions[0].alus[usize::from(container)].op == 0, "container {container}");
    }
    assert!(decode(&part, &TINY, Role::Tenant).is_ok());
    let most: Vec<u8> = (1..8).collect();
    assert!(lower::lower(&object, TINY.nic(), &shared(&most)).is_none());
}

#[test]
fn an_xdp_object_is_its_default_and_a_tenant_may_have_table_and_rmt_programs() {
    let mut object = Object::new("filter", KeySpec::NONE, Action::to([sluice_object::Destination::Host(1)]));
    let program = XdpProgram { name: "main".to_owned(), functions: vec![("main".to_owned(), 0)], slots: vec![0x95] };
    object.parts.xdp = Some(Box::new(Xdp {
        main: 0,
        programs: vec![program],
        maps: Vec::new(),
        keep: Vec::new(),
        entries: Vec::new(),
        interfaces: BTreeMap::new(),
    }));
    let mut linker = Linker::new(TINY.nic());
    let mut fast = Fast::new(TINY);
    let queues = Destinations::from_mask(0xff, TINY.nic()).iter().map(|d| (d, 4)).collect();
    let rmt = sluice_rmt::encode(&sluice_rmt::programs::calc::program(1), &TINY).unwrap();
    let rmt = sluice_rmt::encode::object::object("calc", rmt, sluice_object::Demands::default(), &TINY);
    let mut tenant = TenantSpec { queues, max_entries: 4, ..TenantSpec::new(7, "red") };
    tenant.make_room(&rmt);
    assert_eq!(tenant.rmt, rmt.parts.rmt.as_ref().map(|p| Quota::of(p, 0)));
    write(&mut fast, &linker.admit(tenant).unwrap());
    write(&mut fast, &linker.load(7, &object).unwrap());
    let frame = random_frame(&mut Rng::new(4));
    let wanted = reference(&object, &TINY, 0, &frame);
    assert_eq!(fast.run(&fast.stamped(&arrival(1, 0, &frame))), wanted);
    write(&mut fast, &linker.replace(7, &rmt).unwrap());
    assert_ne!(fast.run(&fast.stamped(&arrival(1, 0, &frame))), wanted);
    assert_eq!(linker.insert(7, &[0; 13], &Action::DROP).unwrap_err().code(), "E0229");
    assert_eq!(linker.entries(7).unwrap(), []);
    let load = linker.replace(7, &object).unwrap();
    write(&mut fast, &load);
    assert_eq!(fast.run(&fast.stamped(&arrival(1, 0, &frame))), wanted);
    let leads = linker.rmt_entries(7, 1).unwrap();
    assert_eq!(leads, [], "no entries");
}
