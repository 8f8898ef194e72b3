//! The clock in jiffies of the XDP engine in RTL, where a millisecond ends.

use crate::xdp::engine::{MODULE, Rows, open_tiny};
use sluice_formats::limits::{TICK_PS, packet_id};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_rtlsim::plugin::boundary::Until;

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
