//! Spin locks of the XDP engine in RTL: with the interpreter beside it, and of many packets at once.

use crate::support;
use crate::xdp::accounts::last_fault;
use crate::xdp::device::{Nic, frame, object_of};
use crate::xdp::engine::{Engine, MODULE, open_tiny};
use crate::xdp::pair::Pair;
use crate::xdp::together::together;
use sluice_device::{Device, Outcome, Verdict};
use sluice_ebpf::image::Initial;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY;
use sluice_formats::xdp::codes::XdpFault;
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, Variant, top};

/// Bytes of a value, where its lock is, and two counters.
const VALUE: u32 = 24;
const LOCK: u32 = 4;
const PACKETS: usize = 8;
const SUM: usize = 16;

/// r6 is the frame, of at least 64 bytes; r9 the context.
const BEGIN: &str =
    "r9 = r1\nr6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 64\nr0 = 1\nif r3 > r2 goto out\n";
const END: &str = "r0 = 3\nout:\nexit\n";
/// r7 is a value's address: of the first one, or of the one that the frame's first byte names.
const FIRST: &str = "r1 = 0\n*(u32 *)(r10 -4) = r1\nr1 = map[values]\nr2 = r10\nr2 += -4\ncall bpf_map_lookup_elem\nr7 = r0\nr0 = 1\nif r7 == 0 goto out\n";
const NAMED: &str = "r1 = *(u8 *)(r6 +0)\n*(u32 *)(r10 -4) = r1\nr1 = map[values]\nr2 = r10\nr2 += -4\ncall bpf_map_lookup_elem\nr7 = r0\nr0 = 1\nif r7 == 0 goto out\n";

/// Counts a packet and adds its second byte, in two words that belong together.
const COUNT: &str = "r2 = *(u64 *)(r7 +8)\nr3 = *(u64 *)(r7 +16)\nr4 = *(u8 *)(r6 +1)\nr2 += 1\nr3 += r4\n*(u64 *)(r7 +8) = r2\n\
     *(u64 *)(r7 +16) = r3\n*(u64 *)(r6 +8) = r2\n*(u64 *)(r6 +16) = r3\n";

fn take(register: &str, offset: i32) -> String {
    format!("r1 = {register}\nr1 += {offset}\ncall bpf_spin_lock\n")
}

fn give(register: &str, offset: i32) -> String {
    format!("r1 = {register}\nr1 += {offset}\ncall bpf_spin_unlock\n")
}

fn image(kind: MapType, text: &str) -> Image {
    let values = MapSpec { spin_lock: Some(LOCK), ..MapSpec::new("values", kind, 4, VALUE, 4) };
    let plain = MapSpec::new("plain", MapType::Array, 4, VALUE, 1);
    let program =
        sluice_ebpf::insn::assemble("locks", text, &["values", "plain"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Image {
        programs: vec![Program { section: "xdp".into(), ..program }],
        maps: vec![values, plain],
        ..Image::default()
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Frames that name one of so many values.
fn frames(rng: &mut Rng, count: usize, values: u64) -> Vec<(u8, Vec<u8>)> {
    let frame = |rng: &mut Rng| {
        let mut frame = rng.bytes(64 + rng.clone().below(80) as usize);
        frame[0] = rng.below(values) as u8;
        (rng.below(4) as u8, frame)
    };
    (0..count).map(|_| frame(rng)).collect()
}

fn counted(name: &str, kind: MapType, find: &str, values: u64) {
    let Some((mut engine, mut rng)) = open_tiny(name) else { return };
    let text = format!("{BEGIN}{find}{}{COUNT}{}{END}", take("r7", 4), give("r7", 4));
    let mut pair = Pair::new(&mut engine, image(kind, &text)).expect("the engine has locks");
    if kind == MapType::Hash {
        for key in 0..4u32 {
            let op = sluice_formats::xdp::codes::XdpMapOp::Update;
            pair.host(&mut engine, op, 0, &key.to_le_bytes(), &[0; VALUE as usize], 0);
        }
    }
    let (mut packets, mut sum, mut number) = (0, 0, 0);
    let rounds = if support::long() { 100 } else { 6 };
    for _ in 0..rounds {
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        let frames = frames(&mut rng, 60, values);
        packets += frames.len() as u64;
        sum += frames.iter().map(|(_, frame)| u64::from(frame[1])).sum::<u64>();
        engine.steps.clear();
        together(&mut engine, &mut pair, &frames, number);
        number += frames.len() as u32;
    }
    let memory = pair.memory(&mut engine, 0);
    let total = |at: usize| memory.chunks_exact(32).map(|value| word(value, at)).sum::<u64>();
    assert_eq!((total(PACKETS), total(SUM)), (packets, sum), "changes were lost");
}

#[test]
fn what_a_lock_guards_loses_no_change() {
    counted("what_a_lock_guards_loses_no_change", MapType::Array, FIRST, 1);
}

#[test]
fn locks_of_several_values_are_apart() {
    counted("locks_of_several_values_are_apart", MapType::Array, NAMED, 4);
}

#[test]
fn values_of_a_hash_map_have_locks() {
    counted("values_of_a_hash_map_have_locks", MapType::Hash, NAMED, 4);
}

#[test]
fn without_the_lock_changes_are_lost() {
    let name = "without_the_lock_changes_are_lost";
    let Some((mut engine, mut rng)) = open_tiny(name) else { return };
    let text = format!("{BEGIN}{FIRST}{COUNT}{END}");
    let mut pair = Pair::new(&mut engine, image(MapType::Array, &text)).unwrap();
    let frames = frames(&mut rng, 120, 1);
    together(&mut engine, &mut pair, &frames, 0);
    let memory = pair.memory(&mut engine, 0);
    assert!(
        word(&memory, PACKETS) < frames.len() as u64,
        "packets were one after the other: the tests above show nothing"
    );
}

/// Sends a packet, and gives what its program's fault was.
fn fault(engine: &mut Engine, pair: &mut Pair, number: u32) -> Option<u8> {
    pair.send(engine, 0, number, &[1; 80]);
    let faults = pair.last_fault().is_some();
    pair.compare(engine);
    faults.then(|| last_fault(engine, MODULE).kind)
}

#[test]
fn wrong_uses_fault_and_leave_no_lock_behind() {
    let Some((mut engine, _)) = open_tiny("wrong_uses_fault_and_leave_no_lock_behind") else { return };
    let (taken, given) = (take("r7", 4), give("r7", 4));
    let other = "r8 = r7\nr8 += 32\n";
    let cases = [
        // What is no lock.
        (take("r7", 0), XdpFault::Argument),
        (take("r7", 8), XdpFault::Argument),
        (take("r7", 5), XdpFault::Argument),
        (take("r7", 20), XdpFault::Argument),
        (take("r7", 4 + 4 * 32), XdpFault::Argument),
        (take("r7", 1 << 16 | 4), XdpFault::Argument),
        (take("r6", 4), XdpFault::Argument),
        (take("r10", -4), XdpFault::Argument),
        (take("r9", 0), XdpFault::Argument),
        (format!("r8 = map[plain][0]+0\n{}", take("r8", 4)), XdpFault::Argument),
        (format!("r8 = 1\nr8 <<= 32\nr8 += r7\n{}", take("r8", 4)), XdpFault::Argument),
        (give("r7", 0), XdpFault::Argument),
        (format!("{taken}{}", give("r7", 8)), XdpFault::Argument),
        (format!("{taken}{}", take("r7", 8)), XdpFault::Argument),
        // A lock at the wrong time.
        (given.clone(), XdpFault::Lock),
        (format!("{taken}{taken}"), XdpFault::Lock),
        (format!("{other}{taken}{}", take("r8", 4)), XdpFault::Lock),
        (format!("{other}{taken}{}", give("r8", 4)), XdpFault::Lock),
        (format!("{taken}{given}{given}"), XdpFault::Lock),
        (taken.clone(), XdpFault::Lock),
        (format!("{taken}r1 = 0\nif r6 != 0 goto out\n"), XdpFault::Lock),
        // Other faults while it is held.
        (format!("{taken}r1 = 7\nr1 = *(u64 *)(r1 +0)\n*(u64 *)(r6 +0) = r1\n"), XdpFault::Access),
        (format!("{taken}r1 = *(u64 *)(r7 +200)\n*(u64 *)(r6 +0) = r1\n"), XdpFault::Access),
        (format!("{taken}again:\nr2 += 1\nif r6 != 0 goto again\n"), XdpFault::Work),
    ];
    let good = format!("{taken}{COUNT}{given}");
    for (number, (wrong, kind)) in (0..).zip(cases) {
        // Packets whose second byte is 1 do the wrong, others take the lock: of them each finds it free.
        let text =
            format!("{BEGIN}{FIRST}r1 = *(u8 *)(r6 +1)\nif r1 != 1 goto good\n{wrong}r0 = 3\nexit\ngood:\n{good}{END}");
        let Some(mut pair) = Pair::new(&mut engine, image(MapType::Array, &text)) else { panic!("{text}") };
        for round in 0..3 {
            let found = fault(&mut engine, &mut pair, 10 * number + round);
            assert_eq!(found, Some(kind.code()), "{kind:?}: {wrong}");
        }
        // More of them than there are contexts, all at once.
        let frames: Vec<_> = (0..40u8).map(|n| (n % 4, vec![n % 3; 80])).collect();
        engine.steps.clear();
        together(&mut engine, &mut pair, &frames, 100);
        let memory = pair.memory(&mut engine, 0);
        let others = frames.iter().filter(|(_, frame)| frame[1] != 1).count();
        assert_eq!(word(&memory, PACKETS), others as u64, "{wrong}");
    }
}

#[test]
fn a_function_takes_a_lock_that_its_caller_gives_back() {
    let Some((mut engine, mut rng)) = open_tiny("a_function_takes_a_lock_that_its_caller_gives_back") else { return };
    let text = format!(
        "{BEGIN}{FIRST}r1 = r7\ncall enter\n{COUNT}{}{END}enter:\nr1 += 4\ncall bpf_spin_lock\nr0 = 0\nexit\n",
        give("r7", 4)
    );
    let mut pair = Pair::new(&mut engine, image(MapType::Array, &text)).unwrap();
    for number in 0..20 {
        pair.send(&mut engine, 0, number, &rng.bytes(80));
        engine.end(pair.waiting());
    }
    assert_eq!(pair.compare(&mut engine), 20);
    let frames = frames(&mut rng, 100, 1);
    engine.steps.clear();
    together(&mut engine, &mut pair, &frames, 100);
    assert_eq!(word(&pair.memory(&mut engine, 0), PACKETS), 120);
}

/// Rounds between one ask for the lock and the next; those of the first one while it holds it.
const APART: u16 = 40;
const HELD: u16 = 250;

#[test]
fn a_lock_is_given_in_the_order_in_which_it_was_asked_for() {
    let Some((mut engine, mut rng)) = open_tiny("a_lock_is_given_in_the_order_in_which_it_was_asked_for") else {
        return;
    };
    // A packet goes round as often as its bytes 4 and 5 say, notes its number under the lock, and goes round there as bytes 6 and 7 say.
    let text = format!(
        "{BEGIN}{FIRST}r8 = *(u16 *)(r6 +4)\nbefore:\nr8 += -1\nif r8 != 0 goto before\n{}r2 = *(u64 *)(r7 +8)\nr2 += 1\n*(u64 *)(r7 +8) = r2\n\
         r3 = *(u64 *)(r7 +16)\nr3 <<= 4\nr4 = *(u8 *)(r6 +1)\nr3 |= r4\n*(u64 *)(r7 +16) = r3\n\
         r8 = *(u16 *)(r6 +6)\nheld:\nr8 += -1\nif r8 != 0 goto held\n{}{END}",
        take("r7", 4),
        give("r7", 4)
    );
    let mut number = 0;
    for _ in 0..if support::long() { 100 } else { 12 } {
        // As many packets as there are contexts, in any order of places and asks.
        let mut pair = Pair::new(&mut engine, image(MapType::Array, &text)).expect("the engine has locks");
        let mut ranks: Vec<u16> = (0..pair.contexts() as u16).collect();
        rng.shuffle(&mut ranks);
        let frame = |rank: &u16| {
            let mut frame = vec![0; 64];
            frame[1] = *rank as u8 + 1;
            frame[4..6].copy_from_slice(&(1 + rank * APART).to_le_bytes());
            frame[6..8].copy_from_slice(&(if *rank == 0 { HELD } else { 1 }).to_le_bytes());
            (0, frame)
        };
        let frames: Vec<(u8, Vec<u8>)> = ranks.iter().map(frame).collect();
        engine.steps.clear();
        together(&mut engine, &mut pair, &frames, number);
        number += frames.len() as u32;
        let asked = (1..=ranks.len() as u64).fold(0, |all, rank| all << 4 | rank);
        let given = word(&pair.memory(&mut engine, 0), SUM);
        assert_eq!(given, asked, "{given:x} in place of {asked:x}, packets came as {ranks:?}");
    }
}

#[test]
fn an_update_leaves_the_lock_alone() {
    let Some((mut engine, mut rng)) = open_tiny("an_update_leaves_the_lock_alone") else { return };
    for kind in [MapType::Array, MapType::Hash] {
        // The whole frame behind its first bytes is the new value, the word of its lock among it.
        let update = "r1 = *(u8 *)(r6 +0)\n*(u32 *)(r10 -4) = r1\nr1 = map[values]\nr2 = r10\nr2 += -4\nr3 = r6\nr3 += 8\nr4 = 0\n\
             call bpf_map_update_elem\n*(u64 *)(r6 +40) = r0\n";
        let text = format!("{BEGIN}{update}{NAMED}{}{COUNT}{}{END}", take("r7", 4), give("r7", 4));
        let mut pair = Pair::new(&mut engine, image(kind, &text)).unwrap();
        for number in 0..40 {
            let mut frame = rng.bytes(80);
            frame[0] = rng.below(4) as u8;
            pair.send(&mut engine, 0, number, &frame);
            engine.end(pair.waiting());
        }
        assert_eq!(pair.compare(&mut engine), 40);
    }
}

/// Bytes of a frame on the device, behind the type: which way, the number that is added, rounds with the lock.
const WAY: usize = 14;

/// A program on the device that counts under the lock of a map that is kept; and one for its place that does the same.
fn on_device(rounds: bool) -> sluice_object::Object {
    let begin = BEGIN.replace("r0 = 1", "r0 = 2");
    let round = "r8 = *(u8 *)(r6 +16)\nround:\nr8 += -1\nif r8 s> 0 goto round\n";
    // COUNT notes what it found in bytes 8 to 23 of the frame; here that is behind the address.
    let count = COUNT.replace("(r6 +1)", "(r6 +15)").replace("(r6 +8)", "(r6 +24)").replace("(r6 +16)", "(r6 +32)");
    let counted = format!("{}{count}{}{}", take("r7", 4), if rounds { round } else { "" }, give("r7", 4));
    let tail = |index: u32| format!("r1 = r9\nr2 = map[jumps]\nr3 = {index}\ncall bpf_tail_call\n");
    let main = format!(
        "{begin}{FIRST}r5 = *(u8 *)(r6 +{WAY})\nif r5 == 1 goto held\nif r5 == 2 goto empty\nif r5 == 3 goto tail\n{counted}r0 = 3\nexit\n\
         held:\n{}{}r0 = 3\nexit\nempty:\n{}{}{}r0 = 3\nexit\ntail:\n{}{END}",
        take("r7", 4),
        tail(0),
        take("r7", 4),
        tail(1),
        give("r7", 4),
        tail(0)
    );
    let other = format!("{begin}{FIRST}{counted}{END}");
    let values = MapSpec { spin_lock: Some(LOCK), ..MapSpec::new("values", MapType::Array, 4, VALUE, 4) };
    let initial = vec![(0, Initial::Program("other".to_owned()))];
    let jumps = MapSpec { initial, ..MapSpec::new("jumps", MapType::ProgArray, 4, 4, 2) };
    object_of("locks", &[("main", &main), ("other", &other)], vec![values, jumps], &["values"])
}

fn on_tiny(name: &str) -> Option<(RtlOptions, Rng)> {
    let seed = test_seed(name);
    let there = support::has_top(&top::XDP, TINY.name, Variant::Test);
    there
        .then(|| (RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() }, Rng::new(seed)))
}

/// Frames of tenant 1 of these ways.
fn device_frames(rng: &mut Rng, count: usize, ways: u64) -> Vec<Vec<u8>> {
    let one = |rng: &mut Rng| {
        frame(1, rng.below(ways) as u8, &[&[rng.next_u32() as u8, 1 + rng.below(200) as u8], &[0; 60][..]].concat())
    };
    (0..count).map(|_| one(rng)).collect()
}

#[test]
fn the_device_does_with_locks_what_the_software_nic_does_over_tail_calls_and_replacements() {
    let name = "the_device_does_with_locks_what_the_software_nic_does_over_tail_calls_and_replacements";
    let Some((options, mut rng)) = on_tiny(name) else { return };
    let mut nic = Nic::new(Comparison::open(TINY.name, options, support::waves_folder()).unwrap());
    let mut sent = 0;
    for round in 0..12 {
        nic.put(1, &on_device(round % 2 == 0)).unwrap();
        let frames = device_frames(&mut rng, 20, 4);
        sent += frames.len();
        nic.offer(rng.below(4) as u8, frames);
    }
    let outcomes = nic.ended();
    let aborted = |o: &&Outcome| matches!(o.verdict, Verdict::Dropped { .. });
    let faults = outcomes.iter().filter(aborted).count();
    assert!(outcomes.len() == sent && faults > sent / 8 && faults < sent / 2, "{faults} of {sent} ended with a lock");
    nic.device.counters().unwrap();
}

#[test]
fn a_program_that_is_replaced_while_its_lock_is_held_and_waited_for_loses_no_change() {
    let name = "a_program_that_is_replaced_while_its_lock_is_held_and_waited_for_loses_no_change";
    let Some((options, mut rng)) = on_tiny(name) else { return };
    let mut nic = Nic::new(RtlNic::open(TINY.name, options).unwrap());
    nic.put(1, &on_device(true)).unwrap();
    let (mut packets, mut sum) = (0, 0);
    for round in 0..if support::long() { 100 } else { 10 } {
        // They wait for one lock when the next program comes; some end with it, by a fault.
        let frames = device_frames(&mut rng, 16, 2);
        let counted: Vec<_> = frames.iter().filter(|frame| frame[WAY + 4] == 0).collect();
        packets += counted.len() as u64;
        sum += counted.iter().map(|frame| u64::from(frame[WAY + 5])).sum::<u64>();
        for (port, frames) in (0..).zip(frames.chunks(4)) {
            nic.offer(port, frames.to_vec());
        }
        nic.device.advance(rng.below(1500)).unwrap();
        nic.put(1, &on_device(round % 3 != 0)).unwrap();
    }
    nic.device.quiesce().unwrap();
    let (module, map) = (nic.module(1), nic.map(1, "values"));
    let value = nic.device.maps().unwrap().lookup(module, map, &[0; 4]).unwrap();
    assert_eq!((word(&value, PACKETS), word(&value, SUM)), (packets, sum), "changes were lost");
}
