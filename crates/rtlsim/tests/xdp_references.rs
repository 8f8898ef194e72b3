//! Maps whose entries stand for something else on a device whose XDP engine is hardware: processors and sockets, programs, maps.
//! The software NIC beside it in lockstep.

use crate::support;
use crate::xdp::device::{Nic, array, frame, object, object_of};
use sluice_device::{Device, MapId, Outcome, Verdict};
use sluice_ebpf::image::Initial;
use sluice_ebpf::{MapSpec, MapType};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY;
use sluice_formats::{Reason, limits};
use sluice_object::Object;
use sluice_rtlsim::{Comparison, Ready, RtlOptions, Stalls, Variant, top};
use std::collections::BTreeMap;

/// r6 is the frame, of which 60 bytes are there.
const BEGIN: &str =
    "r9 = r1\nr6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 60\nr0 = 1\nif r3 > r2 goto out\n";
const END: &str = "out:\nexit\n";
/// What the byte behind the type is, and what follows it.
const FIRST: i32 = 14;

/// The tiny engine and the interpreter, with stalls.
fn lockstep(name: &str) -> Option<(Nic<Comparison>, Rng)> {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return None;
    }
    let seed = test_seed(name);
    let stalls =
        Stalls { port_gaps: 30, ready: Ready::Bursts { chance: 200, longest: 20 }, config_gaps: 20, config_stalls: 20 };
    let options = RtlOptions { top: &top::XDP, seed, stalls, check_accounting: true, ..RtlOptions::default() };
    Some((Nic::new(Comparison::open(TINY.name, options, support::waves_folder()).unwrap()), Rng::new(seed)))
}

fn rounds() -> u32 {
    if support::long() { 2_000 } else { 60 }
}

/// Frames of tenant 1 whose bytes behind the type are random below these.
fn offer(nic: &mut Nic<Comparison>, rng: &mut Rng, count: usize, below: &[u64]) {
    let frames: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let mut rest: Vec<u8> = below[1..].iter().map(|most| rng.below(*most) as u8).collect();
            rest.resize(60, 0);
            frame(1, rng.below(below[0]) as u8, &rest)
        })
        .collect();
    let port = rng.below(4) as u8;
    nic.offer(port, frames);
}

/// The host's operation, on both; errors have to be alike, which the comparison sees.
fn change(nic: &mut Nic<Comparison>, rng: &mut Rng, map: MapId, key: &[u8], value: &[u8]) -> bool {
    let module = nic.module(1);
    let flags = [0, 0, 0, 0, 1, 2][rng.below(6) as usize];
    let maps = nic.device.maps().unwrap();
    if rng.below(4) == 0 {
        maps.delete(module, map, key).is_ok()
    } else {
        maps.update(module, map, key, value, flags).is_ok()
    }
}

#[test]
fn processors_and_sockets_lead_to_host_queues() {
    let name = "processors_and_sockets_lead_to_host_queues";
    let Some((mut nic, mut rng)) = lockstep(name) else { return };
    let maps = vec![
        MapSpec::new("workers", MapType::Cpumap, 4, 8, 8),
        MapSpec::new("sockets", MapType::Xskmap, 4, 4, 12),
        MapSpec::new("ports", MapType::Devmap, 4, 4, 4),
        array("behind", 8, 512),
    ];
    // The first byte chooses the map, the second the index, the third the flags; with a fourth one a further redirect follows that may fail. From 4
    // on what the redirect gives is the verdict.
    let redirect = |label: &str, map: &str| {
        format!(
            // Of indices from 8 on the entry would be in the pages behind.
            "r1 = map[{map}]\nr2 = *(u8 *)(r6 +{})\nif r2 < 8 goto {label}_near\nr2 <<= 6\n{label}_near:\nr3 = *(u8 *)(r6 +{})\n\
             call bpf_redirect_map\n",
            FIRST + 1,
            FIRST + 2
        )
    };
    let text = format!(
        "{BEGIN}r7 = *(u8 *)(r6 +{FIRST})\nif r7 == 1 goto sockets\nif r7 == 2 goto ports\nif r7 == 3 goto seen\nif r7 == 4 goto by_workers\n\
         if r7 == 5 goto by_sockets\nif r7 == 6 goto by_ports\n{}goto again\n\
         by_workers:\n{}exit\nby_sockets:\n{}exit\nby_ports:\n{}exit\n\
         sockets:\n{}goto again\nports:\n{}again:\nr8 = *(u8 *)(r6 +{})\nif r8 == 0 goto out\nr1 = map[workers]\nr2 = r8\nr3 = 2\n\
         call bpf_redirect_map\nr0 = 4\ngoto out\n\
         seen:\nr7 = *(u8 *)(r6 +{})\n*(u32 *)(r10 -4) = r7\nr2 = r10\nr2 += -4\nr1 = map[sockets]\ncall bpf_map_lookup_elem\n\
         if r0 != 0 goto out\nr0 = 3\n{END}",
        redirect("workers", "workers"),
        redirect("by_workers", "workers"),
        redirect("by_sockets", "sockets"),
        redirect("by_ports", "ports"),
        redirect("sockets", "sockets"),
        redirect("ports", "ports"),
        FIRST + 3,
        FIRST + 1
    );
    nic.put(1, &object("spread", &text, maps, &[])).unwrap();
    let [workers, sockets, ports] = ["workers", "sockets", "ports"].map(|name| nic.map(1, name));
    // What would be an interface.
    let (behind, module) = (nic.map(1, "behind"), nic.module(1));
    for index in 0..512u32 {
        nic.device.maps().unwrap().update(module, behind, &index.to_le_bytes(), &1u64.to_le_bytes(), 0).unwrap();
    }
    let mut changed = 0;
    for _ in 0..rounds() {
        for _ in 0..3 {
            let (map, most, value) = match rng.below(3) {
                0 => (workers, 10, [rng.below(3) as u32 * 64, 0].map(u32::to_le_bytes).concat()),
                1 => (sockets, 14, (rng.below(3) as u32).to_le_bytes().to_vec()),
                _ => (ports, 5, (rng.below(6) as u32).to_le_bytes().to_vec()),
            };
            let key = (rng.below(most) as u32).to_le_bytes();
            changed += u32::from(change(&mut nic, &mut rng, map, &key, &value));
        }
        offer(&mut nic, &mut rng, 16, &[7, 14, 6, 10]);
        nic.device.quiesce().unwrap();
    }
    let outcomes = nic.ended();
    let to_host = |o: &&Outcome| matches!(o.verdict, Verdict::Delivered { .. });
    let lost = |o: &&Outcome| matches!(o.verdict, Verdict::Dropped { reason: Reason::NoDestination, .. });
    let counts = (outcomes.iter().filter(to_host).count(), outcomes.iter().filter(lost).count(), changed);
    assert!(counts.0 > 30 && counts.1 > 20 && counts.2 > 40, "{counts:?}");
    let hosts = (0..4).filter(|h| outcomes.iter().any(|o| o.verdict == Verdict::Delivered { queue: *h }));
    assert_eq!(hosts.count(), TINY.hosts as usize, "to every host queue");
}

/// Redirects to an entry or to all of a devmap, by bytes of the frame: which map, index, flags, an index in `workers` that is asked for first.
fn several(keep: &[&str], ports: BTreeMap<u32, u8>) -> Object {
    let maps = vec![
        MapSpec::new("ports", MapType::Devmap, 4, 4, 6),
        MapSpec::new("keyed", MapType::DevmapHash, 4, 8, 6),
        MapSpec::new("workers", MapType::Cpumap, 4, 8, 2),
        array("behind", 8, 64),
    ];
    // Of the first two the call names the map; of the others it has a handle.
    let call = |map: &str| {
        format!("{map}\nr2 = *(u8 *)(r6 +{})\nr3 = *(u8 *)(r6 +{})\ncall bpf_redirect_map\n", FIRST + 1, FIRST + 2)
    };
    let text = format!(
        "{BEGIN}r8 = *(u8 *)(r6 +{})\nif r8 == 0 goto first\nr1 = map[workers]\nr2 = r8\nr3 = 2\ncall bpf_redirect_map\n\
         first:\nr7 = *(u8 *)(r6 +{FIRST})\nif r7 == 0 goto ports\nif r7 == 1 goto keyed\nr1 = map[ports]\nif r7 == 2 goto any\nr1 = map[keyed]\n\
         any:\n{}goto show\nports:\n{}goto show\nkeyed:\n{}show:\n*(u8 *)(r6 +40) = r0\nif r8 == 0 goto out\nr0 = 4\n{END}",
        FIRST + 3,
        call("r4 = 0"),
        call("r1 = map[ports]"),
        call("r1 = map[keyed]"),
    );
    let mut object = object("several", &text, maps, keep);
    object.parts.xdp.as_mut().unwrap().interfaces = ports;
    object
}

#[test]
fn a_packet_goes_to_all_entries_of_a_devmap_and_not_back_where_that_is_asked_for() {
    let name = "a_packet_goes_to_all_entries_of_a_devmap_and_not_back_where_that_is_asked_for";
    let Some((mut nic, mut rng)) = lockstep(name) else { return };
    let ports = || BTreeMap::from([(40, 2), (3, 3)]);
    nic.put(1, &several(&["ports", "keyed"], ports())).unwrap();
    let module = nic.module(1);
    let mut maps = ["ports", "keyed"].map(|name| nic.map(1, name));
    // What would be a mask.
    let behind = nic.map(1, "behind");
    for index in 0..64u32 {
        nic.device.maps().unwrap().update(module, behind, &index.to_le_bytes(), &[0xff; 8], 0).unwrap();
    }
    let mut changed = 0;
    for round in 0..rounds() {
        // What is kept over a replacement goes where it went.
        if round % 10 == 9 {
            nic.put(1, &several(if round % 20 == 9 { &["ports", "keyed"] } else { &["keyed"] }, ports())).unwrap();
            maps = ["ports", "keyed"].map(|name| nic.map(1, name));
        }
        for _ in 0..2 {
            let at = rng.index(2);
            let mut value = ([1, 2, 3, 40, 4, 900][rng.index(6)] as u32).to_le_bytes().to_vec();
            value.resize([4, 8][at], 0);
            let key = (rng.below(8) as u32).to_le_bytes();
            changed += u32::from(change(&mut nic, &mut rng, maps[at], &key, &value));
        }
        offer(&mut nic, &mut rng, 16, &[4, 8, 34, 3]);
    }
    let outcomes = nic.ended();
    let mut left: BTreeMap<u32, usize> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|o| matches!(o.verdict, Verdict::Forwarded { .. })) {
        *left.entry(outcome.id).or_default() += 1;
    }
    let copies = |n: usize| left.values().filter(|copies| **copies == n).count();
    let lost = outcomes.iter().filter(|o| matches!(o.verdict, Verdict::Dropped { reason: Reason::NoDestination, .. }));
    let seen = ([1, 2, 3].map(copies), lost.count(), changed);
    assert!(seen.0.iter().all(|n| *n > 5) && seen.1 > 15 && seen.2 > 40, "{seen:?}");
}

#[test]
fn a_devmap_is_kept_in_hardware_only_with_the_interfaces_of_the_program_before() {
    let name = "a_devmap_is_kept_in_hardware_only_with_the_interfaces_of_the_program_before";
    let Some((mut nic, _)) = lockstep(name) else { return };
    nic.put(1, &several(&["ports"], BTreeMap::from([(40, 2)]))).unwrap();
    let error = nic.put(1, &several(&["ports"], BTreeMap::from([(40, 1)]))).unwrap_err();
    assert_eq!(error.code(), "E0808");
    assert!(error.to_string().contains("map `ports`: interfaces of a devmap that is kept"), "{error}");
    nic.put(1, &several(&[], BTreeMap::from([(40, 1)]))).unwrap();
}

/// An array of programs that hold these at their indices.
fn programs(name: &str, entries: u32, held: &[(u32, &str)]) -> MapSpec {
    let initial = held.iter().map(|(index, name)| (*index, Initial::Program((*name).to_owned()))).collect();
    MapSpec { initial, ..MapSpec::new(name, MapType::ProgArray, 4, 4, entries) }
}

/// Calls the program at the index in this byte of the frame by its tail.
fn jump(byte: i32) -> String {
    format!("r2 = map[jumps]\nr3 = *(u8 *)(r6 +{byte})\nr1 = r9\ncall bpf_tail_call\n")
}

/// Programs that leave marks in the frame from byte 30 on: which of them ran, and what they found in registers and frame.
fn chain() -> Object {
    let main = format!(
        "{BEGIN}r7 = 0x1122334455667788\nr8 = 0\n*(u64 *)(r10 -16) = r7\n*(u64 *)(r10 -512) = r7\n{}r4 = *(u64 *)(r10 -512)\n*(u64 *)(r6 +32) = r4\nr4 = *(u64 *)(r10 -16)\n\
         *(u64 *)(r6 +40) = r4\nr0 = 2\n{END}",
        jump(FIRST)
    );
    // The frame is zero, r1 the context, r7 as it was left; goes on with the next index.
    let seen = format!(
        "r8 += 1\nr9 = r1\nr6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 60\nr0 = 0\nif r3 > r2 goto out\n\
         *(u8 *)(r6 +30) = r8\nr4 = *(u64 *)(r10 -16)\n*(u64 *)(r6 +32) = r4\nr4 = *(u64 *)(r10 -512)\n*(u64 *)(r6 +40) = r4\n\
         *(u64 *)(r10 -16) = r7\nr7 += 3\n*(u64 *)(r6 +48) = r7\n{}r0 = 3\n{END}",
        jump(FIRST + 1)
    );
    // Calls a function that calls a program in its place: what that one gives comes back here.
    let deep = format!(
        "r9 = r1\nr6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 60\nr0 = 0\nif r3 > r2 goto out\n\
         r7 = 77\n*(u64 *)(r10 -8) = r7\nr1 = r9\ncall inner\nr4 = *(u64 *)(r10 -8)\nr4 += r7\nr4 += r0\n*(u64 *)(r6 +48) = r4\nr0 = 3\nout:\nexit\n\
         inner:\nr9 = r1\nr6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 60\nr0 = 5\nif r3 > r2 goto end\n\
         r8 = 200\nr7 = 9\n*(u64 *)(r10 -16) = r7\n*(u64 *)(r10 -512) = r7\n{}r0 = *(u64 *)(r10 -512)\nr4 = *(u64 *)(r10 -16)\nr0 += r4\nend:\nexit\n",
        jump(FIRST + 2)
    );
    // Again and again, as often as may be, and what the last call says.
    let again = format!(
        "r9 = r1\nr6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 60\nr0 = 0\nif r3 > r2 goto out\nr8 += 1\n\
         *(u8 *)(r6 +31) = r8\nr2 = map[jumps]\nr3 = 3\nr1 = r9\ncall bpf_tail_call\n*(u32 *)(r6 +56) = r0\nr0 = 3\n{END}"
    );
    let maps = vec![programs("jumps", 6, &[(1, "seen"), (2, "deep"), (3, "again"), (4, "main")])];
    object_of("chain", &[("main", &main), ("seen", &seen), ("deep", &deep), ("again", &again)], maps, &[])
}

#[test]
fn programs_take_each_others_places() {
    let Some((mut nic, mut rng)) = lockstep("programs_take_each_others_places") else { return };
    nic.put(1, &chain()).unwrap();
    // In the place of a function, and again from there.
    nic.offer(0, [frame(1, 2, &[[0, 3].as_slice(), &[0; 60]].concat())]);
    nic.device.quiesce().unwrap();
    let jumps = nic.map(1, "jumps");
    for _ in 0..rounds() {
        // The host puts a program at an index, by its position, or takes it away.
        let (key, value) = (rng.below(7) as u32, rng.below(5) as u32);
        change(&mut nic, &mut rng, jumps, &key.to_le_bytes(), &value.to_le_bytes());
        offer(&mut nic, &mut rng, 10, &[7, 7, 7]);
        nic.device.quiesce().unwrap();
    }
    let outcomes = nic.ended();
    // The tag stands before them.
    let mark = |o: &Outcome, at: usize| o.bytes.get(at + 4).copied().unwrap_or(0);
    let marks = |at: usize| outcomes.iter().filter(|o| mark(o, at) != 0).count();
    assert!(marks(30) > 50 && marks(31) > 20, "{} {}", marks(30), marks(31));
    // 33 tail calls, the first to `deep`.
    let most = outcomes.iter().map(|o| mark(o, 31)).max();
    assert_eq!(most, Some(232), "32 times behind 200");
    assert!(outcomes.iter().any(|o| mark(o, 31) == 232 && mark(o, 56) == 0xff), "one more has no permission");
}

#[test]
fn maps_in_maps_are_found_and_put_in_others_places() {
    let name = "maps_in_maps_are_found_and_put_in_others_places";
    let Some((mut nic, mut rng)) = lockstep(name) else { return };
    let hash = |name: &str| MapSpec::new(name, MapType::Hash, 4, 8, 4);
    let of = |name: &str, kind, key, inner: &MapSpec, initial: &[(u32, usize)]| MapSpec {
        inner: Some(Box::new(inner.clone())),
        initial: initial.iter().map(|(key, map)| (*key, Initial::Map(*map))).collect(),
        ..MapSpec::new(name, kind, key, 4, 6)
    };
    let maps = vec![
        array("first", 8, 3),
        array("second", 8, 3),
        hash("third"),
        hash("fourth"),
        of("by_index", MapType::ArrayOfMaps, 4, &array("inner", 8, 3), &[(0, 0), (2, 1)]),
        of("by_key", MapType::HashOfMaps, 4, &hash("inner"), &[]),
    ];
    // The first byte chooses the map of maps, the second the entry, the third the key in what was found: counts there, or makes an entry.
    let text = format!(
        "{BEGIN}r7 = *(u8 *)(r6 +{FIRST})\nr2 = *(u8 *)(r6 +{})\n*(u32 *)(r10 -4) = r2\nr2 = *(u8 *)(r6 +{})\n*(u32 *)(r10 -8) = r2\n\
         r2 = r10\nr2 += -4\nif r7 == 0 goto index\nr1 = map[by_key]\ncall bpf_map_lookup_elem\ngoto found\n\
         index:\nr1 = map[by_index]\ncall bpf_map_lookup_elem\n\
         found:\nr8 = r0\nr0 = 1\nif r8 == 0 goto out\nr1 = r8\nr2 = r10\nr2 += -8\ncall bpf_map_lookup_elem\nif r0 == 0 goto make\n\
         r1 = 1\nr1 = atomic64_fetch_add((u64 *)(r0 +0), r1)\n*(u64 *)(r6 +40) = r1\nr0 = 3\ngoto out\n\
         make:\nr1 = 100\n*(u64 *)(r10 -16) = r1\nr1 = r8\nr2 = r10\nr2 += -8\nr3 = r10\nr3 += -16\nr4 = 0\ncall bpf_map_update_elem\n\
         *(u64 *)(r6 +48) = r0\nr0 = 3\n{END}",
        FIRST + 1,
        FIRST + 2
    );
    nic.put(1, &object("nested", &text, maps, &[])).unwrap();
    let ids = ["first", "second", "third", "fourth", "by_index", "by_key"].map(|name| nic.map(1, name));
    let mut changed = 0;
    for _ in 0..rounds() {
        let outer = ids[4 + rng.below(2) as usize];
        // Now and then one that does not fit.
        let inner = ids[rng.below(6) as usize].0.to_le_bytes();
        let key = (rng.below(7) as u32).to_le_bytes();
        // And one that is too short.
        let bytes = if rng.below(8) == 0 { 3 } else { 4 };
        changed += u32::from(change(&mut nic, &mut rng, outer, &key, &inner[..bytes]));
        offer(&mut nic, &mut rng, 10, &[2, 7, 6]);
        nic.device.quiesce().unwrap();
    }
    let outcomes = nic.ended();
    let counted = |at: usize| outcomes.iter().filter(|o| o.bytes.get(at + 4).is_some_and(|byte| *byte != 0)).count();
    assert!(counted(40) > 20 && counted(48) > 5 && changed > 10, "{} {} {changed}", counted(40), counted(48));
}

#[test]
fn clocks_show_the_stamp_and_numbers_are_random() {
    let Some((mut nic, mut rng)) = lockstep("clocks_show_the_stamp_and_numbers_are_random") else { return };
    let text = format!(
        "{BEGIN}call bpf_ktime_get_ns\n*(u64 *)(r6 +16) = r0\ncall bpf_jiffies64\n*(u64 *)(r6 +24) = r0\ncall bpf_get_prandom_u32\n\
         *(u64 *)(r6 +32) = r0\ncall bpf_get_prandom_u32\n*(u64 *)(r6 +40) = r0\ncall bpf_ktime_get_coarse_ns\n*(u64 *)(r6 +48) = r0\n\
         r0 = 3\n{END}"
    );
    nic.put(1, &object("clocks", &text, vec![], &[])).unwrap();
    for _ in 0..rounds() {
        offer(&mut nic, &mut rng, 12, &[7, 7]);
        nic.device.quiesce().unwrap();
    }
    let outcomes = nic.ended();
    let word = |o: &Outcome, at: usize| u64::from_le_bytes(o.bytes[at + 4..at + 12].try_into().unwrap());
    let mut numbers = std::collections::BTreeSet::new();
    for outcome in &outcomes {
        let now = word(outcome, 16);
        assert!(
            now % (limits::TICK_PS / 1000) == 0 && word(outcome, 24) == now / 1_000_000 && word(outcome, 48) == now
        );
        numbers.extend([word(outcome, 32), word(outcome, 40)]);
    }
    assert!(outcomes.len() == 12 * rounds() as usize && numbers.len() > outcomes.len() * 19 / 10);
    assert!(numbers.iter().all(|number| *number < 1 << 32));
}

#[test]
fn a_map_that_is_of_another_kind_ends_the_program() {
    let Some((mut nic, mut rng)) = lockstep("a_map_that_is_of_another_kind_ends_the_program") else { return };
    let maps = || {
        vec![
            array("plain", 4, 4),
            MapSpec::new("workers", MapType::Cpumap, 4, 8, 8),
            MapSpec::new("ports", MapType::Devmap, 4, 4, 4),
            programs("jumps", 4, &[(0, "main"), (1, "main")]),
        ]
    };
    let tail = |map: &str, context: &str| format!("r1 = {context}\nr2 = {map}\nr3 = 1\ncall bpf_tail_call\nr0 = 3\n");
    let redirect = |map: &str| format!("r1 = {map}\nr2 = 1\nr3 = 2\ncall bpf_redirect_map\nr0 = 3\n");
    let calls = [
        (tail("map[plain]", "r9"), true),
        (tail("map[workers]", "r9"), true),
        (tail("map[ports]", "r9"), true),
        (tail("map[jumps]", "r6"), true),
        (tail("1", "r9"), true),
        (redirect("map[plain]"), true),
        (redirect("map[jumps]"), true),
        (redirect("map[workers]"), false),
    ];
    for (call, faults) in calls {
        nic.put(1, &object("wrong", &format!("{BEGIN}{call}{END}"), maps(), &[])).unwrap();
        let workers = nic.map(1, "workers");
        let module = nic.module(1);
        // A value that a tail call would take for a row.
        let value = [64u32, 0].map(u32::to_le_bytes).concat();
        nic.device.maps().unwrap().update(module, workers, &1u32.to_le_bytes(), &value, 0).unwrap();
        offer(&mut nic, &mut rng, 3, &[7, 7]);
        let aborted = |o: &Outcome| matches!(o.verdict, Verdict::Dropped { reason: Reason::XdpAborted, .. });
        let outcomes = nic.ended();
        assert_eq!((outcomes.len(), outcomes.iter().all(aborted)), (3, faults), "{call}");
    }
}

#[test]
fn a_map_of_maps_is_not_kept_in_hardware() {
    let Some((mut nic, _)) = lockstep("a_map_of_maps_is_not_kept_in_hardware") else { return };
    let outer = MapSpec {
        inner: Some(Box::new(array("inner", 8, 3))),
        initial: vec![(0, Initial::Map(0))],
        ..MapSpec::new("outer", MapType::ArrayOfMaps, 4, 4, 2)
    };
    let program = || object("nested", "r0 = 2\nexit\n", vec![array("first", 8, 3), outer.clone()], &["outer"]);
    nic.put(1, &program()).unwrap();
    let error = nic.put(1, &program()).unwrap_err();
    assert_eq!(error.code(), "E0808");
    assert!(error.to_string().contains("map `outer`: what it keeps: found maps of the program before"), "{error}");
}

#[test]
fn values_have_the_addresses_of_the_model_over_replacements_and_kept_ones_keep_theirs() {
    let name = "values_have_the_addresses_of_the_model_over_replacements_and_kept_ones_keep_theirs";
    let Some((mut nic, mut rng)) = lockstep(name) else { return };
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..rounds() {
        // Maps in any order, some of which are kept: those that are written, those that are only read, one that has no addresses.
        let mut maps = vec![
            array("first", 8, 1),
            MapSpec::new("ports", MapType::Devmap, 4, 4, 1),
            MapSpec { flags: sluice_ebpf::image::map_flags::RDONLY_PROG, ..array("constant", 8, 1) },
        ];
        maps.push(match rng.chance(1, 2) {
            true => array("extra", 8, 2),
            false => MapSpec::new("workers", MapType::Cpumap, 4, 8, 1),
        });
        rng.shuffle(&mut maps);
        let keep: &[&str] = [&[] as &[&str], &["first"], &["constant", "ports"], &["first", "constant"]][rng.index(4)];
        let value = |map: &str, at: i32| format!("r3 = map[{map}][0]+0\n*(u64 *)(r6 +{at}) = r3\n");
        let text = format!(
            "{BEGIN}{}{}r3 = 0\n*(u32 *)(r10 -4) = r3\nr2 = r10\nr2 += -4\nr1 = map[ports]\ncall bpf_map_lookup_elem\n\
             *(u64 *)(r6 +40) = r0\nr0 = 3\n{END}",
            value("first", 16),
            value("constant", 32),
        );
        if round % 9 == 8 {
            nic.unload(1);
        }
        let object = object("addresses", &text, maps, keep);
        nic.put(1, &object).unwrap();
        let (ports, module) = (nic.map(1, "ports"), nic.module(1));
        nic.device.maps().unwrap().update(module, ports, &[0; 4], &1u32.to_le_bytes(), 0).unwrap();
        offer(&mut nic, &mut rng, 3, &[7]);
        let ended = nic.ended();
        seen.extend(ended.iter().filter_map(|o| Some((o.bytes.get(20..28)?.to_vec(), o.bytes.get(44..52)?.to_vec()))));
    }
    assert!(seen.len() > 5, "{seen:?}");
}
