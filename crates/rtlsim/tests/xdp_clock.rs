//! The clocks of programs: a packet's arrival, and jiffies where a millisecond ends.

use crate::support;
use crate::xdp::device::{Nic, array, frame, object};
use crate::xdp::engine::{MODULE, Rows, open_tiny};
use sluice_device::Device;
use sluice_formats::limits::{TICK_PS, packet_id};
use sluice_formats::target::TINY;
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_nic::SoftwareNic;
use sluice_rtlsim::plugin::boundary::Until;
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};

/// Nanoseconds of a jiffy, and how far a packet's stamp may be from a jiffy's end: a divisor that is wrong by one is wrong by 64 there.
const JIFFY: u64 = 1_000_000;
const NEAR: u64 = 60;
/// Packets that pass while a jiffy ends.
const PACKETS: u32 = 200;

#[test]
fn a_jiffy_ends_with_its_millisecond() {
    let Some((mut engine, _)) = open_tiny("a_jiffy_ends_with_its_millisecond") else { return };
    let text = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 32\nr0 = 1\nif r3 > r2 goto out\ncall bpf_ktime_get_ns\n\
                *(u64 *)(r6 +8) = r0\ncall bpf_jiffies64\n*(u64 *)(r6 +16) = r0\nr0 = 3\nout:\nexit\n";
    let start = PAGE_ROWS as u16;
    engine.load(MODULE, 0, &Rows::compiled(text, start), start);
    for jiffy in [1, 2] {
        // So that the first packets come some hundred nanoseconds before its end.
        let begin = (jiffy * JIFFY - 400) * 1000 / TICK_PS;
        while engine.nic.now() < begin {
            let max_cycles = begin - engine.nic.now();
            engine.run(Until { max_cycles, ..Until::default() });
        }
        for number in 0..PACKETS {
            engine.offer(packet_id(0, number), MODULE, &[0; 32]);
        }
        engine.end(PACKETS as usize);
        let mut near = [false; 2];
        for (_, bytes) in engine.routed.values() {
            let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            let (now, jiffies) = (word(8), word(16));
            assert_eq!(jiffies, now / JIFFY, "at {now} ns");
            near[0] |= now < jiffy * JIFFY && now + NEAR >= jiffy * JIFFY;
            near[1] |= now >= jiffy * JIFFY && now < jiffy * JIFFY + NEAR;
        }
        assert_eq!(
            (engine.routed.len(), near),
            (PACKETS as usize, [true; 2]),
            "no packet was there when the jiffy ended"
        );
        engine.quiesce();
        engine.forget();
    }
}

/// Keeps what the clock shows, and sends the frame back with it.
const KEEP: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 24\nr0 = 1\nif r3 > r2 goto out\n*(u32 *)(r10 -4) = 0\n\
    r2 = r10\nr2 += -4\nr1 = map[last]\ncall bpf_map_lookup_elem\nr8 = r0\nr0 = 1\nif r8 == 0 goto out\ncall bpf_ktime_get_ns\n\
    *(u64 *)(r8 +0) = r0\nr0 = 3\nout:\nexit\n";

/// What the clock showed to the last packet of three, and the ticks of its first beat and of its stamp.
fn shown(device: impl Device) -> (u64, Option<u64>, u64) {
    let mut nic = Nic::new(device);
    nic.put(1, &object("keep", KEEP, vec![array("last", 8, 1)], &[])).unwrap();
    let mut seen = None;
    for length in [60, 1400, 300] {
        nic.offer(0, [frame(1, 0, &vec![0; length])]);
        let outcomes = nic.ended();
        let [outcome] = &outcomes[..] else { panic!("one packet") };
        seen = Some((outcome.first_in, outcome.stamp.expect("it was stamped")));
    }
    // With a model beside it, here what both have is compared.
    nic.device.counters().unwrap();
    let (first_in, stamp) = seen.unwrap();
    let (now, first_in) = (nic.number(1, "last", 0), first_in);
    println!("{} {now} ns, first beat {first_in:?}, stamp {stamp}", nic.device.capabilities().kind);
    (now, first_in, stamp)
}

#[test]
fn ktime_is_the_arrival_on_every_device() {
    let (now, _, stamp) = shown(SoftwareNic::new(TINY));
    // It is stamped when the merge takes it, which may be busy with the frame before it.
    assert!(now <= stamp * TICK_PS / 1000, "{now} of tick {stamp}");
    for top in [&top::NIC, &top::XDP] {
        if !support::has_top(top, TINY.name, Variant::Test) {
            continue;
        }
        let options = RtlOptions { top, check_accounting: true, ..RtlOptions::default() };
        let device = Comparison::open(TINY.name, options, support::waves_folder()).unwrap();
        let (now, first_in, stamp) = shown(device);
        let (arrival, first_in) = (now * 1000 / TICK_PS, first_in.expect("it has cycles"));
        if top.is_nic {
            // 318 bytes on a bus of 32: its last beat is stored behind the first nine, and it is stamped later.
            assert!((first_in + 9..stamp).contains(&arrival), "{arrival} of {first_in} to {stamp}");
        } else {
            assert_eq!(arrival, stamp, "it has no ports");
        }
    }
}
