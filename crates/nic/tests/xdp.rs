//! XDP tenants: replacements under traffic, refusals before anything changes, what the host reads.

use crate::xdp_support::{Nic, frame, object};
use sluice_device::mock::MockDevice;
use sluice_device::{Device, DeviceError, Offer, Outcome, Verdict};
use sluice_ebpf::tenant::Options;
use sluice_ebpf::{Insn, MapId};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{Reason, Target};
use sluice_nic::software::{Options as Pace, SoftwareNic};
use sluice_nic::{DataPlane, engines};
use sluice_object::linker::unsafe_order;
use sluice_object::{Install, Load, Object, Step};
use std::collections::BTreeMap;

/// Versions of the program, by the mark that they leave.
const FILES: [&str; 2] = ["version_1.o", "version_2.o"];

/// Mark in `version_90.o`.
const MARK: u8 = 90;

/// The program whose mark is `mark`.
fn version(mark: u8) -> Object {
    let options = Options { keep: vec!["named".to_owned()], ..Options::default() };
    let mut object = object("version_90.o", &options);
    let mut marks = 0;
    for slot in object.parts.xdp.as_mut().unwrap().programs.iter_mut().flat_map(|p| &mut p.slots) {
        let mut insn = Insn::from_bytes(slot.to_le_bytes());
        if insn.imm == i32::from(MARK) {
            insn.imm = mark.into();
            marks += 1;
        }
        *slot = u64::from_le_bytes(insn.to_bytes());
    }
    assert_eq!(marks, 2, "the main program and the one behind the tail call");
    object
}

/// The mark of version n: unlike those of the versions around it.
fn mark(n: usize) -> u8 {
    (n % 200) as u8 + 1
}

/// Replaces a program `replacements` times under random traffic of three tenants, and checks every
/// packet: none is lost, each bears both marks of one version that was current when it was stamped,
/// versions follow each other, kept counters counted every packet and the last version's own only
/// its packets, and the other tenants see nothing of it.
fn replaced_under_traffic(device: &mut dyn Device, replacements: usize, seed: u64, change: fn(&Load) -> Load) {
    let mut rng = Rng::new(seed);
    let mut nic = Nic::new(device, &[(1, 10), (2, 20), (3, 30)]);
    nic.load(1, &version(mark(0)));
    nic.load(2, &object(FILES[1], &Options::default()));
    nic.load(3, &object("tag.o", &Options::default()));
    let first = nic.linker.generation(1).unwrap();
    let mut sent: BTreeMap<u32, (u16, Vec<u8>)> = BTreeMap::new();
    let mut numbers = [0u32; 8];
    // Of each version: when its load was submitted, and when it had ended.
    let mut times = vec![(0, 0)];
    let mut counted = [0u64; 3];
    for n in 1..=replacements {
        let load = change(&nic.linker.replace(1, &version(mark(n))).unwrap());
        let begun = nic.device.now();
        let op = nic.device.submit(&load).unwrap();
        while !nic.ended(op) {
            for _ in 0..rng.below(12) {
                let (tenant, port) = (1 + rng.below(3) as u16, rng.below(u64::from(nic.ports())) as u8);
                let length = if rng.chance(1, 8) { 14 + rng.below(600) } else { 14 + rng.below(60) } as usize;
                let bytes = frame(10 * tenant, length, rng.next_u32());
                let number = &mut numbers[usize::from(port)];
                sent.insert(u32::from(port) << 28 | *number, (tenant, bytes.clone()));
                *number += 1;
                counted[usize::from(tenant) - 1] += 1;
                nic.device.offer_owned(vec![Offer { port, bytes, at: 0, bad: false }]).unwrap();
            }
            nic.device.advance(rng.range(1, 40)).unwrap();
            nic.poll();
        }
        times.push((begun, nic.device.now()));
    }
    nic.rest();

    // None lost: every packet left by its port, once.
    let mut outcomes = std::mem::take(&mut nic.outcomes);
    outcomes.sort_by_key(|o| o.stamp);
    assert_eq!(outcomes.len(), sent.len(), "seed {seed}");
    let (mut oldest, mut last) = (0, 0);
    let mut of_version = vec![0u64; replacements + 1];
    for Outcome { id, verdict, bytes, generation, stamp, .. } in &outcomes {
        let (tenant, before) = sent.remove(id).unwrap_or_else(|| panic!("packet {id:08x} came twice, seed {seed}"));
        assert_eq!(*verdict, Verdict::Forwarded { port: (*id >> 28) as u8 }, "packet {id:08x}, seed {seed}");
        let mut expected = before.clone();
        match tenant {
            1 => {
                // Current at the stamp: the last one that was there by then, or the one on its way.
                let stamp = stamp.unwrap();
                while times.get(oldest + 1).is_some_and(|(_, ended)| *ended <= stamp) {
                    oldest += 1;
                }
                let is_it = |n: &usize| times.get(*n).is_some_and(|(begun, _)| *begun <= stamp) && mark(*n) == bytes[4];
                let n = [oldest, oldest + 1].into_iter().find(is_it);
                let n = n.unwrap_or_else(|| panic!("packet {id:08x} at {stamp}: mark {}, version {oldest}", bytes[4]));
                assert_eq!(usize::from(generation.unwrap() ^ first), n % 2, "packet {id:08x}, seed {seed}");
                assert!(n >= last, "packet {id:08x} of version {n} behind one of {last}, seed {seed}");
                last = n;
                of_version[n] += 1;
                expected[4..6].fill(mark(n));
            }
            2 => expected[4..6].fill(2),
            _ => expected[10..12].copy_from_slice(&before[16..18]),
        }
        assert_eq!(*bytes, expected, "packet {id:08x} of tenant {tenant}, seed {seed}");
    }
    assert_eq!([nic.count(1, "pinned"), nic.count(1, "named")], [counted[0]; 2]);
    assert_eq!(nic.count(1, "fresh"), of_version[replacements]);
    assert_eq!([nic.count(2, "pinned"), nic.count(2, "fresh")], [counted[1]; 2]);
    let counters = nic.device.counters().unwrap();
    assert!(counters.modules.values().all(|c| c.closes() && c.dropped.is_empty() && c.in_flight == 0));
    let seen = of_version.iter().filter(|n| **n > 0).count();
    println!("{replacements} replacements, {} packets, {seen} versions seen, seed {seed}", outcomes.len());
    assert!(seen > replacements / 2, "too little traffic to tell");
}

#[test]
fn a_thousand_replacements_under_traffic_lose_and_mix_nothing() {
    let seed = test_seed("a_thousand_replacements_under_traffic_lose_and_mix_nothing");
    replaced_under_traffic(&mut SoftwareNic::new(DEFAULT), 1000, seed, Load::clone);
}

#[test]
fn replacements_are_whole_on_a_slow_pipeline_and_on_a_reordering_device() {
    let seed = test_seed("replacements_are_whole_on_a_slow_pipeline_and_on_a_reordering_device");
    let pace = Pace { pipeline_ticks: 100, step_ticks: 1, ..Pace::default() };
    replaced_under_traffic(&mut SoftwareNic::with_options(TINY, pace), 200, seed, Load::clone);
    replaced_under_traffic(&mut MockDevice::new(SoftwareNic::new(TINY), seed), 50, seed, Load::clone);
}

#[test]
fn replacements_are_whole_on_the_data_plane() {
    let seed = test_seed("replacements_are_whole_on_the_data_plane");
    for (workers, replacements) in [(1, 1000), (2, 300), (3, 300)] {
        let mut plane = DataPlane::with_workers(DEFAULT, engines::ALL, workers);
        replaced_under_traffic(&mut plane, replacements, seed, Load::clone);
    }
    replaced_under_traffic(&mut MockDevice::new(DataPlane::new(TINY), seed), 50, seed, Load::clone);
}

/// The same test finds a commit that comes before the program.
#[test]
#[should_panic(expected = "packet")]
fn a_load_that_commits_too_early_is_found() {
    // Steps so slow that packets reach their verdict between them.
    let pace = Pace { step_ticks: 40, ..Pace::default() };
    replaced_under_traffic(&mut SoftwareNic::with_options(DEFAULT, pace), 100, 1, unsafe_order);
}

/// The same test finds a program in the place of the running one.
#[test]
#[should_panic(expected = "packet")]
fn a_load_that_replaces_the_running_program_is_found() {
    let live = |load: &Load| {
        let mut load = load.clone();
        for step in &mut load.steps {
            if let Step::Install { generation, install: Some(Install::Xdp(program)), .. } = step {
                *generation ^= 1;
                program.kept.clear();
            }
        }
        load
    };
    replaced_under_traffic(&mut SoftwareNic::new(DEFAULT), 100, 1, live);
}

/// A device with tenant 1, and what it runs.
fn one(target: Target, file: &str, check: impl FnOnce(&mut Nic<'_>)) {
    let mut device = SoftwareNic::new(target);
    let mut nic = Nic::new(&mut device, &[(1, 10)]);
    nic.load(1, &object(file, &Options::default()));
    check(&mut nic);
}

#[test]
fn a_kept_map_of_another_size_refuses_the_replacement_and_the_old_program_goes_on() {
    one(DEFAULT, FILES[0], |nic| {
        nic.send(0, frame(10, 60, 1));
        let error = nic.linker.replace(1, &object("version_wide.o", &Options::default())).unwrap_err();
        assert_eq!(error.code(), "E0470");
        let text = error.to_string();
        assert!(text.contains("map `pinned`") && text.contains("value size is 8") && text.contains("16"), "{text}");
        nic.send(0, frame(10, 60, 2));
        assert_eq!(nic.count(1, "pinned"), 2);
        assert!(nic.outcomes.iter().all(|o| o.bytes[4..6] == [1, 1]));
    });
}

#[test]
fn maps_that_are_not_kept_and_programs_that_are_gone_leave_nothing() {
    one(DEFAULT, FILES[0], |nic| {
        nic.send(0, frame(10, 60, 1));
        let id = |nic: &mut Nic<'_>, name| nic.map(1, name).id;
        let (pinned, fresh) = (id(nic, "pinned"), id(nic, "fresh"));
        nic.replace(1, &object(FILES[1], &Options::default()));
        assert_eq!(id(nic, "pinned"), pinned);
        assert_ne!(id(nic, "fresh"), fresh);
        let module = nic.module(1);
        let gone = nic.device.maps().unwrap().lookup(module, fresh, &[0; 4]);
        assert!(matches!(gone, Err(DeviceError::Map { errno: 9, .. })), "{gone:?}");
        // Without a program there are no maps, and another one begins with new ones.
        let load = nic.linker.unload(1).unwrap();
        nic.run(&load);
        assert_eq!(nic.device.maps().unwrap().list(module), Err(DeviceError::NoProgram { module }));
        assert_eq!(
            nic.device.maps().unwrap().lookup(module, MapId(0), &[0; 4]),
            Err(DeviceError::NoProgram { module })
        );
        nic.send(0, frame(10, 60, 2));
        assert!(nic.outcomes.iter().any(|o| matches!(o.verdict, Verdict::Dropped { reason: Reason::NoModule, .. })));
        nic.load(1, &object(FILES[1], &Options::default()));
        assert_eq!(nic.count(1, "pinned"), 0);
    });
}

#[test]
fn the_host_reads_writes_and_lists_entries_as_bpf_does() {
    one(TINY, "verdicts.o", |nic| {
        let module = nic.module(1);
        let names: Vec<String> =
            nic.device.maps().unwrap().list(module).unwrap().into_iter().map(|m| m.declared.name).collect();
        assert_eq!(names.len(), 8, "{names:?}");
        let flows = nic.map(1, "flows").id;
        for key in [7u32, 8, 9] {
            nic.device.maps().unwrap().update(module, flows, &key.to_le_bytes(), &[key as u8; 8], 1).unwrap();
        }
        let again = nic.device.maps().unwrap().update(module, flows, &7u32.to_le_bytes(), &[0; 8], 1);
        assert!(matches!(again, Err(DeviceError::Map { operation: "update", errno: 17, .. })), "{again:?}");
        let mut keys = Vec::new();
        let mut key: Option<Vec<u8>> = None;
        while let Some(next) = nic.device.maps().unwrap().next_key(module, flows, key.as_deref()).unwrap() {
            keys.push(next[0]);
            key = Some(next);
        }
        keys.sort_unstable();
        assert_eq!(keys, [7, 8, 9]);
        assert_eq!(nic.device.maps().unwrap().lookup(module, flows, &8u32.to_le_bytes()).unwrap(), [8; 8]);
        nic.device.maps().unwrap().delete(module, flows, &8u32.to_le_bytes()).unwrap();
        let missing = nic.device.maps().unwrap().lookup(module, flows, &8u32.to_le_bytes());
        assert!(matches!(missing, Err(DeviceError::Map { errno: 2, .. })), "{missing:?}");
        let other = nic.device.maps().unwrap().list(module + 1);
        assert_eq!(other, Err(DeviceError::NoProgram { module: module + 1 }));
    });
}

#[test]
fn a_program_that_a_device_cannot_take_fails_its_load_and_the_old_one_goes_on() {
    one(DEFAULT, FILES[0], |nic| {
        let mut bad = object(FILES[1], &Options::default());
        // A map that Linux would not make.
        bad.parts.xdp.as_mut().unwrap().maps[2].key_size = 7;
        let load = nic.linker.clone().replace(1, &bad).unwrap();
        let failed = nic.try_run(&load).unwrap_err();
        assert!(matches!(&failed, DeviceError::Step { error, .. } if error.to_string().contains("key")), "{failed}");
        nic.send(0, frame(10, 60, 1));
        assert_eq!(nic.outcomes[0].bytes[4..6], [1, 1]);
    });
}
