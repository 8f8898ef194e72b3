//! Events of programs on a device whose engine is hardware, from the object to the host.

use crate::support;
use crate::xdp::device::{Nic, array, frame, object};
use sluice_device::{Device, ProgramEvent};
use sluice_ebpf::image::map_flags::RDONLY_PROG;
use sluice_ebpf::{MapSpec, MapType};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY;
use sluice_object::Object;
use sluice_rtlsim::{Comparison, Ready, RtlNic, RtlOptions, Stalls, Variant, top};

/// Tells by the first byte behind the type: 0 a record, 1 a perf event with the packet's first bytes, 2 a line, 3 a record that is taken
/// back; else nothing. The frame goes back.
const TELL: &str = "r9 = r1\nr6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr8 = r2\nr8 -= r6\nr3 = r6\nr3 += 23\nr0 = 3\nif r3 > r2 goto out\n\
    r7 = *(u8 *)(r6 +14)\nif r7 == 1 goto perf\nif r7 == 2 goto line\nif r7 > 3 goto out\nr1 = map[ring]\nr2 = 16\nr3 = 0\n\
    call bpf_ringbuf_reserve\nif r0 == 0 goto full\nr1 = *(u64 *)(r6 +15)\n*(u64 *)(r0 +0) = r1\n*(u32 *)(r0 +8) = r8\nr1 = r0\nr2 = 0\n\
    if r7 == 3 goto back\ncall bpf_ringbuf_submit\nr0 = 3\nexit\nback:\ncall bpf_ringbuf_discard\nr0 = 3\nexit\nfull:\nr0 = 1\nexit\n\
    perf:\n*(u64 *)(r10 -8) = r8\nr1 = r9\nr2 = map[perf]\nr3 = r8\nr3 <<= 32\nw4 = -1\nr3 |= r4\nr4 = r10\nr4 += -8\nr5 = 8\n\
    call bpf_perf_event_output\nr0 = 3\nexit\n\
    line:\nr1 = map[text][0]+0\nr2 = 15\nr3 = *(u8 *)(r6 +15)\nr4 = r8\ncall bpf_trace_printk\nr0 = 3\nout:\nexit\n";

fn teller(name: &str, text: &str, ring: &str) -> Object {
    let format = MapSpec {
        flags: RDONLY_PROG,
        frozen: true,
        contents: Some(text.as_bytes().to_vec()),
        ..MapSpec::new("text", MapType::Array, 4, text.len() as u32, 1)
    };
    let ring_map = MapSpec::new(ring, MapType::Ringbuf, 0, 0, 4096);
    let maps = vec![array("counts", 8, 4), ring_map, format, MapSpec::new("perf", MapType::PerfEventArray, 4, 4, 0)];
    object(name, &TELL.replace("map[ring]", &format!("map[{ring}]")), maps, &[])
}

const FIRST: &str = "%d of %d bytes\0";
const SECOND: &str = "%d, %d bytes!!\0";

fn lockstep(name: &str) -> Option<(Nic<Comparison>, Rng)> {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return None;
    }
    let seed = test_seed(name);
    let stalls =
        Stalls { port_gaps: 30, ready: Ready::Bursts { chance: 200, longest: 20 }, config_gaps: 20, config_stalls: 20 };
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, stalls, ..RtlOptions::default() };
    Some((Nic::new(Comparison::open(TINY.name, options, support::waves_folder()).unwrap()), Rng::new(seed)))
}

fn alone(name: &str) -> Option<Nic<RtlNic>> {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return None;
    }
    let options = RtlOptions { top: &top::XDP, seed: test_seed(name), check_accounting: true, ..RtlOptions::default() };
    Some(Nic::new(RtlNic::open(TINY.name, options).unwrap()))
}

fn random_frame(vlan: u16, rng: &mut Rng) -> Vec<u8> {
    let length = rng.below(400) as usize;
    frame(vlan, rng.below(5) as u8, &rng.bytes(length))
}

#[test]
fn events_are_the_interpreters_over_replacements() {
    let Some((mut nic, mut rng)) = lockstep("events_are_the_interpreters_over_replacements") else { return };
    let objects = [teller("first", FIRST, "one"), teller("second", SECOND, "two")];
    nic.put(1, &objects[0]).unwrap();
    nic.put(2, &objects[1]).unwrap();
    let mut counts = [0u64; 4];
    for round in 0..if support::long() { 200 } else { 16 } {
        for port in 0..4 {
            let frames: Vec<Vec<u8>> = (0..8).map(|_| random_frame(rng.range(1, 3) as u16, &mut rng)).collect();
            nic.offer(port, frames);
        }
        nic.device.advance(rng.below(600)).unwrap();
        if round % 4 == 3 {
            // The names are of the program that told it.
            nic.put(1, &objects[rng.index(2)]).unwrap();
        }
        let module = nic.module(rng.range(1, 3) as u16);
        for event in nic.device.maps().unwrap().take_events(module) {
            counts[match event {
                ProgramEvent::Ring { .. } => 0,
                ProgramEvent::Perf { .. } => 1,
                ProgramEvent::Trace { .. } => 2,
                ProgramEvent::Lost { .. } => 3,
            }] += 1;
        }
        if rng.below(3) == 0 {
            nic.device.quiesce().unwrap();
            // Both are at rest: all that was told is compared.
            nic.device.counters().unwrap_or_else(|e| panic!("{e}"));
        }
    }
    nic.device.quiesce().unwrap();
    nic.device.counters().unwrap_or_else(|e| panic!("{e}"));
    println!("records, perf events, lines, lost: {counts:?}");
    assert!(counts[..3].iter().all(|count| *count > 0));
}

#[test]
fn a_module_that_tells_too_much_takes_no_room_of_another_and_nobody_reads_what_was_left() {
    let Some(mut nic) = alone("a_module_that_tells_too_much") else { return };
    nic.put(1, &teller("first", FIRST, "one")).unwrap();
    nic.put(2, &teller("second", SECOND, "two")).unwrap();
    let told = |nic: &mut Nic<RtlNic>, id: u16| {
        let module = nic.module(id);
        nic.device.maps().unwrap().take_events(module)
    };
    // Large perf events, faster than the host reads.
    for round in 0..20u8 {
        nic.offer(0, (0..20).map(|_| frame(2, 1, &[round; 900])));
        nic.offer(1, [frame(1, 0, &[round; 40])]);
        nic.device.quiesce().unwrap();
    }
    let quiet = told(&mut nic, 1);
    assert_eq!(quiet.len(), 20, "{quiet:?}");
    for (round, event) in (0..).zip(&quiet) {
        assert!(matches!(event, ProgramEvent::Ring { map, data } if map == "one" && data[0] == round), "{event:?}");
    }
    let loud = told(&mut nic, 2);
    let lost = loud.iter().find_map(|event| match event {
        ProgramEvent::Lost { events } => Some(*events),
        _ => None,
    });
    let lost = lost.expect("some found no room");
    assert_eq!(loud.len() as u64 - 1 + lost, 400);
    println!("{lost} of 400 lost");
    // What a program told is not the next one's, who may be somebody else's.
    nic.offer(0, (0..3).map(|_| frame(2, 0, &[9; 40])));
    nic.device.quiesce().unwrap();
    nic.unload(2);
    nic.put(2, &teller("first", FIRST, "other")).unwrap();
    assert_eq!(told(&mut nic, 2), []);
    nic.offer(0, [frame(2, 2, &[77; 40])]);
    nic.device.quiesce().unwrap();
    assert_eq!(told(&mut nic, 2), [ProgramEvent::Trace { line: "77 of 55 bytes".to_owned() }]);
    // One whose program tells nothing has none.
    nic.put(3, &object("quiet", "r0 = 2\nexit\n", Vec::new(), &[])).unwrap();
    assert_eq!(told(&mut nic, 3), []);
}

/// What the lockstep asks at the end is answered beside the looks at the ring: nothing runs on once it is there, and values are not
/// asked for one by one.
#[test]
fn maps_beside_a_ring_are_compared_in_few_cycles() {
    let Some((mut nic, _)) = lockstep("maps_beside_a_ring_are_compared_in_few_cycles") else { return };
    let maps = vec![
        MapSpec::new("ring", MapType::Ringbuf, 0, 0, 4096),
        MapSpec::new("own", MapType::PercpuArray, 4, 8, 3),
        MapSpec::new("ports", MapType::Devmap, 4, 4, 64),
    ];
    let text = "*(u64 *)(r10 -8) = 7\nr1 = map[ring]\nr2 = r10\nr2 += -8\nr3 = 8\nr4 = 0\ncall bpf_ringbuf_output\nr0 = 3\nexit\n";
    nic.put(1, &object("teller", text, maps, &[])).unwrap();
    nic.offer(0, [frame(1, 0, &[0; 60])]);
    assert_eq!(nic.ended().len(), 1);
    let begin = nic.device.now();
    nic.device.counters().unwrap();
    let ticks = nic.device.now() - begin;
    println!("{ticks} ticks");
    assert!(ticks < 40_000, "{ticks} ticks");
}
