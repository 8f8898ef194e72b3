//! XDP programs on a device whose engine is hardware, from the object on: loads, maps, replacements.

use crate::support;
use crate::xdp::device::{COUNT, Nic, SHOW, array, frame, object};
use sluice_device::{Device, DeviceError, MapId, Offer, Outcome, Verdict};
use sluice_ebpf::image::map_flags::NO_PREALLOC;
use sluice_ebpf::{MapSpec, MapType};
use sluice_formats::Reason;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY;
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_object::Object;
use sluice_rtlsim::{Comparison, Faults, Ready, RtlNic, RtlOptions, Stalls, Variant, top};

/// Drops the packet if the first byte behind the type has no entry whose value begins with 3.
const LOOK: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 15\nr0 = 1\nif r3 > r2 goto out\n\
    r4 = 8\n*(u32 *)(r10 -8) = r4\nr4 = *(u8 *)(r6 +14)\n*(u8 *)(r10 -4) = r4\nr2 = r10\nr2 += -8\nr1 = map[counts]\n\
    call bpf_map_lookup_elem\nif r0 == 0 goto drop\nr1 = *(u8 *)(r0 +0)\nr0 = 3\nif r1 == 3 goto out\ndrop:\nr0 = 1\n\
    out:\nexit\n";

fn options(seed: u64) -> RtlOptions {
    RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() }
}

/// RTL and interpreter in lockstep.
fn lockstep(name: &str, change: impl Fn(&mut RtlOptions)) -> Option<(Nic<Comparison>, Rng)> {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return None;
    }
    let seed = test_seed(name);
    let mut options = options(seed);
    change(&mut options);
    Some((Nic::new(Comparison::open(TINY.name, options, support::waves_folder()).unwrap()), Rng::new(seed)))
}

/// The RTL alone, whose packets are in the engine together.
fn alone(name: &str) -> Option<(Nic<RtlNic>, Rng)> {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return None;
    }
    let seed = test_seed(name);
    Some((Nic::new(RtlNic::open(TINY.name, options(seed)).unwrap()), Rng::new(seed)))
}

fn counts(entries: u32) -> Vec<MapSpec> {
    vec![array("counts", 8, entries)]
}

fn random_frame(vlan: u16, below: u64, rng: &mut Rng) -> Vec<u8> {
    let length = rng.below(200) as usize;
    frame(vlan, rng.below(below) as u8, &rng.bytes(length))
}

#[test]
fn packets_maps_and_the_hosts_operations_are_the_interpreters() {
    let stalls =
        Stalls { port_gaps: 30, ready: Ready::Bursts { chance: 200, longest: 20 }, config_gaps: 20, config_stalls: 20 };
    let set = |options: &mut RtlOptions| options.stalls = stalls.clone();
    let Some((mut nic, mut rng)) = lockstep("packets_maps_and_the_hosts_operations_are_the_interpreters", set) else {
        return;
    };
    // A small array, one over two pages of value memory, and one that programs only read.
    let fixed = MapSpec { flags: 1 << 7, ..array("fixed", 12, 5) };
    let maps = || vec![array("counts", 8, 6), array("wide", 100, 64), fixed.clone()];
    nic.put(1, &object("count", COUNT, maps(), &[])).unwrap();
    nic.put(2, &object("show", SHOW, maps(), &[])).unwrap();
    let module = nic.module(1);
    for round in 0..12u32 {
        for port in 0..4 {
            let vlan = rng.range(1, 3) as u16;
            let frames: Vec<Vec<u8>> = (0..6).map(|_| random_frame(vlan, 8, &mut rng)).collect();
            nic.offer(port, frames);
        }
        nic.device.advance(rng.below(400)).unwrap();
        let maps = nic.device.maps().unwrap();
        let listed = maps.list(module).unwrap();
        assert_eq!(listed.iter().map(|m| m.declared.name.as_str()).collect::<Vec<_>>(), ["counts", "wide", "fixed"]);
        let map = &listed[rng.below(3) as usize];
        let index = (rng.below(map.declared.max_entries.into()) as u32).to_le_bytes();
        let value = rng.bytes(map.declared.value_size as usize);
        maps.update(module, map.id, &index, &value, 0).unwrap();
        assert_eq!(maps.lookup(module, map.id, &index).unwrap(), value);
        // Both sides refuse what bpf(2) refuses, with its numbers.
        let errno = |result: Result<(), DeviceError>| match result {
            Err(DeviceError::Map { errno, .. }) => errno,
            other => panic!("{other:?}"),
        };
        let beyond = map.declared.max_entries.to_le_bytes();
        assert_eq!(errno(maps.update(module, map.id, &beyond, &value, 0)), 7);
        assert_eq!(errno(maps.update(module, map.id, &index, &value, 1)), 17);
        assert_eq!(errno(maps.update(module, map.id, &index[..3], &value, 0)), 22);
        assert_eq!(errno(maps.delete(module, map.id, &index)), 22);
        assert_eq!(errno(maps.lookup(module, map.id, &beyond).map(drop)), 2);
        assert!(maps.lookup(module, MapId(77 + round), &index).is_err());
        assert_eq!(maps.next_key(module, map.id, None).unwrap(), Some(vec![0; 4]));
        let last = (map.declared.max_entries - 1).to_le_bytes();
        assert_eq!(maps.next_key(module, map.id, Some(&last)).unwrap(), None);
    }
    nic.device.quiesce().unwrap();
    let counters = nic.device.counters().unwrap();
    assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
    assert_eq!(nic.outcomes().len(), 12 * 24);
    // Tenants without a program have no destination; the rows are as they were written.
    nic.offer(0, [frame(3, 1, &[]), frame(4, 1, &[])]);
    nic.device.quiesce().unwrap();
    let dropped = |o: &Outcome| matches!(o.verdict, Verdict::Dropped { reason: Reason::NoDestination, .. });
    assert_eq!(nic.outcomes().iter().filter(|o| dropped(o)).count(), 2);
    nic.device.snapshot().unwrap();
    nic.device.counters().unwrap();
    let compared = nic.device.compared();
    assert!(compared.outputs > 100 && compared.packets == 12 * 24 + 2, "{compared:?}");
}

#[test]
fn tenants_come_replace_and_go_and_nobody_sees_what_another_had() {
    let name = "tenants_come_replace_and_go_and_nobody_sees_what_another_had";
    // The ring loses and corrupts messages all the while.
    let faults = Faults { drop: 13, corrupt: 13, duplicate: 13, delay: 13, longest_delay: 500 };
    let Some((mut nic, mut rng)) = lockstep(name, |options| options.faults = faults) else { return };
    let text = |n: u64| if n.is_multiple_of(2) { COUNT } else { SHOW };
    let (mut loads, mut refused) = (0, 0);
    let steps = if support::long() { 10_000 } else { 60 };
    for _ in 0..steps {
        let id = rng.range(1, 4) as u16;
        match rng.below(5) {
            0 if nic.linker.tenant(id).unwrap().running.is_some() => nic.unload(id),
            0 | 1 => {
                let entries = rng.range(1, 1200) as u32;
                let keep: &[&str] = if rng.chance(1, 2) { &["counts"] } else { &[] };
                // A kept map has the shape that it had.
                let entries = if keep.is_empty() { entries } else { 40 };
                match nic.put(id, &object("program", text(rng.next_u64()), counts(entries), keep)) {
                    Ok(()) => loads += 1,
                    Err(error) => {
                        assert!(["E0807", "E0470"].contains(&error.code()), "{error}");
                        refused += 1;
                    }
                }
            }
            _ => {
                let frames: Vec<Vec<u8>> = (0..10).map(|_| random_frame(id, 256, &mut rng)).collect();
                nic.offer(rng.below(4) as u8, frames);
            }
        }
        if rng.chance(1, 6) {
            nic.device.quiesce().unwrap();
            nic.device.counters().unwrap();
        }
    }
    nic.device.quiesce().unwrap();
    let counters = nic.device.counters().unwrap();
    assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
    println!("{loads} loads, {refused} refused, {:?}", nic.device.compared());
    assert!(loads > steps / 6, "{loads} loads, {refused} refused");
}

#[test]
fn a_replacement_at_full_load_loses_no_packet_and_no_count_of_a_kept_map() {
    let name = "a_replacement_at_full_load_loses_no_packet_and_no_count_of_a_kept_map";
    let Some((mut nic, mut rng)) = alone(name) else { return };
    let versions: [Object; 2] = [COUNT, SHOW].map(|text| object("kept", text, counts(8), &["counts"]));
    nic.put(1, &versions[0]).unwrap();
    let packets = 160;
    for version in 1..=6 {
        for part in 0..8 {
            for port in 0..4 {
                nic.offer(
                    port,
                    (0..packets / 32).map(|_| random_frame(1, 8, &mut rng)).map(|mut frame| {
                        frame.resize(frame.len() + 10, 0);
                        frame
                    }),
                );
            }
            // As many as the module's queue has room for.
            nic.device.advance(1000 + rng.below(300)).unwrap();
            if part == 5 {
                nic.put(1, &versions[version % 2]).unwrap();
            }
        }
    }
    nic.device.quiesce().unwrap();
    let all = nic.outcomes();
    assert_eq!(all.len(), 6 * packets);
    assert!(all.iter().all(|o| !matches!(o.verdict, Verdict::Dropped { .. })), "{all:?}");
    // A version passes to the host, the other sends back, and each packet sees one.
    let generations: Vec<(u8, bool)> =
        all.iter().map(|o| (o.generation.unwrap(), matches!(o.verdict, Verdict::Delivered { .. }))).collect();
    let odd = generations.iter().filter(|(generation, passed)| (*generation == 1) != *passed).count();
    assert!(odd == 0 || odd == generations.len(), "{odd} of {}", generations.len());
    assert!((1..7).all(|_| generations.iter().any(|g| g.1) && generations.iter().any(|g| !g.1)));
    let sum: u64 = (0..8).map(|index| nic.number(1, "counts", index)).sum();
    assert_eq!(sum, 6 * packets as u64);
    let counters = nic.device.counters().unwrap();
    assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
}

#[test]
fn the_host_changes_a_value_between_others_that_packets_change() {
    let Some((mut nic, _)) = alone("the_host_changes_a_value_between_others_that_packets_change") else { return };
    nic.put(1, &object("count", COUNT, counts(4), &[])).unwrap();
    let module = nic.module(1);
    let map = nic.device.maps().unwrap().list(module).unwrap()[0].id;
    let packets = 400;
    let now = nic.device.now();
    let offer =
        |n: usize| Offer { port: 0, bytes: frame(1, (n % 2) as u8, &[0; 60]), at: now + 150 * n as u64, bad: false };
    nic.device.offer(&(0..packets).map(offer).collect::<Vec<_>>()).unwrap();
    for n in 0..20u64 {
        nic.device.advance(40).unwrap();
        nic.device.maps().unwrap().update(module, map, &[2, 0, 0, 0], &n.to_le_bytes(), 0).unwrap();
    }
    assert!(nic.outcomes().len() < packets, "packets are on their way while the host writes");
    nic.device.quiesce().unwrap();
    let all: Vec<u64> = (0..4).map(|index| nic.number(1, "counts", index)).collect();
    assert_eq!(all, [200, 200, 19, 0]);
}

#[test]
fn an_entry_of_a_trie_that_was_deleted_and_comes_back_has_its_new_value() {
    let Some((mut nic, _)) = lockstep("an_entry_of_a_trie_that_was_deleted", |_| ()) else { return };
    let tries = vec![MapSpec { flags: NO_PREALLOC, ..MapSpec::new("counts", MapType::LpmTrie, 5, 8, 4) }];
    nic.put(1, &object("look", LOOK, tries, &[])).unwrap();
    let module = nic.module(1);
    let maps = nic.device.maps().unwrap();
    let map = maps.list(module).unwrap()[0].id;
    let [wide, narrow] = [[4, 0, 0, 0, 0x10], [8, 0, 0, 0, 0x11]];
    maps.update(module, map, &wide, &[1; 8], 0).unwrap();
    maps.update(module, map, &narrow, &[2; 8], 0).unwrap();
    // Both nodes are free then. The entry that comes back takes the second one, and the first one still holds its key.
    maps.delete(module, map, &wide).unwrap();
    maps.delete(module, map, &narrow).unwrap();
    maps.update(module, map, &wide, &[3; 8], 0).unwrap();
    assert_eq!(maps.lookup(module, map, &wide).unwrap(), [3; 8]);
    nic.offer(0, [frame(1, 0x11, &[0; 40])]);
    nic.device.quiesce().unwrap();
    assert_eq!(nic.outcomes()[0].verdict, Verdict::Forwarded { port: 0 }, "a packet finds it too");
}

#[test]
fn the_host_gives_and_gets_a_copy_of_a_per_cpu_value_for_each_context() {
    let Some((mut nic, _)) = lockstep("the_host_gives_and_gets_a_copy_of_a_per_cpu_value", |_| ()) else { return };
    let maps = vec![MapSpec::new("counts", MapType::PercpuArray, 4, 8, 4)];
    nic.put(1, &object("count", COUNT, maps, &[])).unwrap();
    let module = nic.module(1);
    let maps = nic.device.maps().unwrap();
    let map = maps.list(module).unwrap()[0].id;
    let copies = XdpTarget::by_name(TINY.name).processors();
    assert_eq!(maps.cpus() as usize, copies);
    let value: Vec<u8> = (0..8 * copies as u8).collect();
    maps.update(module, map, &[2, 0, 0, 0], &value, 0).unwrap();
    assert_eq!(maps.lookup(module, map, &[2, 0, 0, 0]).unwrap(), value);
    // The interpreter alone has eight.
    for wrong in [8 * 8, 8, 0] {
        let answer = maps.update(module, map, &[2, 0, 0, 0], &vec![1; wrong], 0);
        assert!(matches!(answer, Err(DeviceError::Map { errno: 22, .. })), "{wrong} bytes: {answer:?}");
    }
}

#[test]
fn a_program_that_asks_for_its_processor_is_given_the_interpreters() {
    let text = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 24\nr0 = 1\nif r3 > r2 goto out\n\
                call bpf_get_smp_processor_id\n*(u64 *)(r6 +15) = r0\nr0 = 3\nout:\nexit\n";
    let program = || object("asks", text, Vec::new(), &[]);
    let frames = || (0..40).map(|_| frame(1, 0, &[7; 60])).collect::<Vec<_>>();
    // In lockstep one packet goes after the other, each on the first processor.
    let Some((mut nic, _)) = lockstep("a_program_that_asks_for_its_processor", |_| ()) else { return };
    nic.put(1, &program()).unwrap();
    nic.offer(0, frames());
    nic.device.quiesce().unwrap();
    assert!(nic.outcomes().iter().all(|o| o.bytes[19..27] == [0; 8]));
    // Alone they are on all of them.
    let Some((mut nic, _)) = alone("a_program_that_asks_for_its_processor") else { return };
    nic.put(1, &program()).unwrap();
    nic.offer(0, frames());
    nic.device.quiesce().unwrap();
    let seen: std::collections::BTreeSet<u8> = nic.outcomes().iter().map(|o| o.bytes[19]).collect();
    assert_eq!(seen, (0..XdpTarget::by_name(TINY.name).processors() as u8).collect());
}

#[test]
fn what_the_engine_has_not_is_refused_with_its_instruction() {
    let Some((mut nic, _)) = alone("what_the_engine_has_not_is_refused_with_its_instruction") else { return };
    let refused = |nic: &mut Nic<RtlNic>, text: &str, maps: Vec<MapSpec>| {
        let error = nic.put(1, &object("program", text, maps, &[])).unwrap_err();
        (error.code(), error.to_string())
    };
    let (code, text) =
        refused(&mut nic, "r1 = r10\nr1 += -8\nr2 = 8\nr3 = r1\ncall bpf_strncmp\nr0 &= 1\nexit\n", Vec::new());
    assert_eq!(code, "E0805");
    assert!(text.contains("program `main`, instruction 4: ") && text.contains("`strncmp`"), "{text}");
    let ring = MapSpec::new("counts", MapType::Ringbuf, 0, 0, 4096);
    let (code, text) = refused(&mut nic, COUNT, vec![ring]);
    assert_eq!(code, "E0805");
    assert!(text.contains("`counts` (ringbuf)") && text.contains("software NIC"), "{text}");
    let many: String = (0..3000).map(|n| format!("r0 *= r6\nr0 ^= {n}\n")).collect();
    let many = format!("r0 = 2\nr6 = *(u32 *)(r1 +12)\n{many}r0 &= 1\nexit\n");
    let (code, text) = refused(&mut nic, &many, Vec::new());
    assert!(["E0802", "E0806"].contains(&code), "{code} {text}");
    let (code, text) = refused(&mut nic, COUNT, counts(100_000));
    assert_eq!(code, "E0806");
    assert!(text.ends_with("max_entries of `counts` would fit up to 4096"), "{text}");
    let mut damaged = object("program", COUNT, counts(4), &[]);
    damaged.parts.xdp.as_mut().unwrap().programs[0].slots[3] = u64::MAX;
    let error = nic.put(1, &damaged).unwrap_err();
    assert!(error.code().starts_with("E04"), "{error}");
    // The device is as it was.
    assert_eq!(nic.put(1, &object("program", COUNT, counts(4), &[])), Ok(()));
    let module = nic.module(2);
    assert!(matches!(nic.device.maps().unwrap().list(module), Err(DeviceError::NoProgram { .. })));
}
