//! What programs on the engine tell the host: perf events, records of ring buffers, numbers for formats.

mod support;

#[path = "../../ebpf/tests/analysis_support/packets.rs"]
#[allow(dead_code)]
mod packets;
#[path = "support/xdp/mod.rs"]
mod xdp;

use sluice_ebpf::image::map_flags::RDONLY_PROG;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::world::Event;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::limits::packet_id;
use sluice_formats::xdp::codes::{XdpFault, XdpStep};
use sluice_formats::xdp::target::{EVENT_WORDS, RECORD_BYTES};
use std::collections::BTreeMap;
use xdp::accounts::last_fault;
use xdp::engine::{Engine, MODULE, open_tiny};
use xdp::events::{plain, ring, take};
use xdp::pair::Pair;

/// Formats, one behind the other in the first map.
const FORMATS: &str = "packet of %d bytes\0%x, %u and %lld\0";

/// A program with formats in map 0 and an array in map 1, and behind them two ring buffers and a perf event array.
fn image(text: &str) -> Image {
    let text = format!("r9 = r1\nr6 = *(u32 *)(r1 +0)\nr7 = *(u32 *)(r1 +4)\n{text}");
    let names = ["formats", "values", "ring", "other", "perf"];
    let program = assemble("test", &text, &names).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let formats = MapSpec {
        flags: RDONLY_PROG,
        frozen: true,
        contents: Some(FORMATS.as_bytes().to_vec()),
        ..MapSpec::new("formats", MapType::Array, 4, FORMATS.len() as u32, 1)
    };
    let maps = vec![
        formats,
        MapSpec::new("values", MapType::Array, 4, 64, 4),
        MapSpec::new("ring", MapType::Ringbuf, 0, 0, 1 << 16),
        MapSpec::new("other", MapType::Ringbuf, 0, 0, 4096),
        MapSpec::new("perf", MapType::PerfEventArray, 4, 4, 128),
    ];
    Image { programs: vec![Program { section: "xdp".into(), ..program }], maps, ..Image::default() }
}

/// Events of both, by what they are: those of packets on different contexts have no order.
fn compare(pair: &mut Pair, engine: &mut Engine) -> usize {
    let found = take(engine, MODULE);
    let processors = pair.contexts();
    let mut counts = BTreeMap::<String, i64>::new();
    for event in &found {
        assert!(u32::from(event.processor) < processors && event.generation == 0);
        *counts.entry(format!("{:?}", plain(pair, event))).or_default() += 1;
    }
    for event in pair.runtime.world.take_events() {
        let event = match event {
            Event::Perf { map, data, .. } => Event::Perf { map, cpu: 0, data },
            event => event,
        };
        *counts.entry(format!("{event:?}")).or_default() -= 1;
    }
    counts.retain(|_, count| *count != 0);
    assert!(counts.is_empty(), "more (or, below zero, fewer) than the interpreter: {counts:#?}\n{}", pair.listing());
    let ring = ring(engine, MODULE);
    assert_eq!(ring.reserved, 0, "room of records comes back");
    found.len()
}

/// Sends packets one by one, and compares them and what they told.
fn run(pair: &mut Pair, engine: &mut Engine, frames: &[Vec<u8>]) -> usize {
    let mut told = 0;
    for (number, frame) in (0..).zip(frames) {
        pair.send(engine, 0, number, frame);
        pair.compare(engine);
        told += compare(pair, engine);
    }
    engine.forget();
    told
}

fn frames(lengths: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    lengths.into_iter().map(|length| (0..length).map(|at| (at * 7 + length) as u8).collect()).collect()
}

const EDGES: [usize; 9] = [64, 65, 71, 72, 73, 127, 128, 129, 1500];

/// `r3` becomes the frame's length, and r0 the verdict for packets that have no 64 bytes.
const LONG: &str = "r0 = 1\nr3 = r7\nr3 -= r6\nif r3 < 64 goto end\n";

#[test]
fn every_kind_of_event_reaches_the_host_as_the_interpreter_has_it() {
    let Some((mut engine, _)) = open_tiny("every_kind_of_event_reaches_the_host") else { return };
    let cases = [
        // A record that is reserved, written in all ways, and submitted; the frame's bytes among it.
        "r1 = map[ring]\nr2 = 40\nr3 = 0\ncall bpf_ringbuf_reserve\nif r0 == 0 goto end\nr8 = r0\n\
         r1 = *(u64 *)(r6 +3)\n*(u64 *)(r8 +0) = r1\n*(u16 *)(r8 +13) = r1\n*(u8 *)(r8 +39) = r1\nr2 = 5\n\
         lock *(u64 *)(r8 +16) += r2\nlock *(u64 *)(r8 +16) += r1\nr3 = *(u32 *)(r8 +15)\n*(u32 *)(r8 +27) = r3\n\
         r1 = r8\nr2 = 0\ncall bpf_ringbuf_submit\nr0 = 2\nend:\nexit\n"
            .to_owned(),
        // One that is taken back, and another one in another ring buffer.
        "r1 = map[ring]\nr2 = 8\nr3 = 0\ncall bpf_ringbuf_reserve\nif r0 == 0 goto end\n*(u64 *)(r0 +0) = r6\nr1 = r0\nr2 = 0\n\
         call bpf_ringbuf_discard\nr1 = map[other]\nr2 = 16\nr3 = 0\ncall bpf_ringbuf_reserve\nif r0 == 0 goto end\n\
         r1 = *(u64 *)(r6 +0)\n*(u64 *)(r0 +8) = r1\nr1 = r0\nr2 = 1\ncall bpf_ringbuf_submit\nr0 = 2\nend:\nexit\n"
            .to_owned(),
        // From the packet, from the stack, and from a value.
        "r1 = map[ring]\nr2 = r6\nr3 = 21\nr4 = 0\ncall bpf_ringbuf_output\nr8 = r0\nr1 = 77\n*(u64 *)(r10 -8) = r1\nr1 = map[other]\n\
         r2 = r10\nr2 += -11\nr3 = 11\nr4 = 2\ncall bpf_ringbuf_output\nr0 |= r8\nr0 += 2\nend:\nexit\n"
            .to_owned(),
        "r1 = 2\n*(u32 *)(r10 -4) = r1\nr1 = map[values]\nr2 = r10\nr2 += -4\ncall bpf_map_lookup_elem\nif r0 == 0 goto end\n\
         r1 = *(u64 *)(r6 +0)\n*(u64 *)(r0 +8) = r1\nr1 = map[ring]\nr2 = r0\nr2 += 3\nr3 = 50\nr4 = 1\ncall bpf_ringbuf_output\n\
         r0 += 2\nend:\nexit\n"
            .to_owned(),
        // Nothing, and wrong flags.
        "r1 = map[ring]\nr2 = r10\nr3 = 0\nr4 = 0\ncall bpf_ringbuf_output\nr8 = r0\nr1 = map[ring]\nr2 = r6\nr3 = 1\nr4 = 4\n\
         call bpf_ringbuf_output\nr0 += 24\nr0 += r8\nend:\nexit\n"
            .to_owned(),
        "r1 = map[ring]\nr2 = 8\nr3 = 1\ncall bpf_ringbuf_reserve\nif r0 != 0 goto end\nr0 = 2\nend:\nexit\n".to_owned(),
        // Perf events, alone and with the packet's bytes.
        "r1 = *(u64 *)(r6 +0)\n*(u64 *)(r10 -16) = r1\nr1 = r9\nr2 = map[perf]\nr3 = 0xffffffff ll\nr4 = r10\nr4 += -16\nr5 = 12\n\
         *(u64 *)(r10 -8) = r5\ncall bpf_perf_event_output\nr0 += 2\nend:\nexit\n"
            .to_owned(),
        "r8 = r3\nr1 = 9\n*(u64 *)(r10 -8) = r1\nr1 = r9\nr2 = map[perf]\nif r3 < 200 goto small\nr3 = 200\nsmall:\nr3 <<= 32\n\
         r4 = 0xffffffff ll\nr3 |= r4\nr4 = r10\nr4 += -8\nr5 = 7\ncall bpf_perf_event_output\nr0 += 2\nend:\nexit\n"
            .to_owned(),
        // More than the packet has, and flags that are none.
        "r8 = r3\nr3 += 1\nr1 = r9\nr2 = map[perf]\nr3 <<= 32\nr4 = 0xffffffff ll\nr3 |= r4\nr4 = r6\nr5 = 1\ncall bpf_perf_event_output\n\
         r0 += 16\nend:\nexit\n"
            .to_owned(),
        "r1 = r9\nr2 = map[perf]\nr3 = -1\nr4 = r6\nr5 = 1\ncall bpf_perf_event_output\nr0 += 24\nend:\nexit\n".to_owned(),
        // Numbers.
        "r1 = map[formats][0]+0\nr2 = 19\nr3 = 8\ncall bpf_trace_printk\nr1 = map[formats][0]+19\nr2 = 17\nr3 = *(u64 *)(r6 +0)\nr4 = r7\nr5 = -5\n\
         call bpf_trace_printk\nr0 = 2\nend:\nexit\n"
            .to_owned(),
    ];
    for text in cases {
        let image = image(&format!("{LONG}{text}"));
        let mut pair = Pair::new(&mut engine, image).unwrap_or_else(|| panic!("refused: {text}"));
        let told = run(&mut pair, &mut engine, &frames(EDGES));
        println!("{told} events");
    }
}
