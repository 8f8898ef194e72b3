//! What programs on the engine tell the host: perf events, records of ring buffers, numbers for formats.

use crate::xdp::accounts::last_fault;
use crate::xdp::engine::{Engine, MODULE, open_tiny};
use crate::xdp::events::{plain, ring, take};
use crate::xdp::pair::Pair;
use sluice_ebpf::image::map_flags::RDONLY_PROG;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::world::Event;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::limits::packet_id;
use sluice_formats::xdp::codes::{XdpFault, XdpStep};
use sluice_formats::xdp::target::{EVENT_WORDS, RECORD_BYTES};
use std::collections::BTreeMap;

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

/// A program that writes a format to its stack and prints by it the numbers that `numbers` puts into r3 to r5.
fn on_stack(format: &str, numbers: &str) -> String {
    let mut bytes = format!("{format}\0").into_bytes();
    let size = bytes.len();
    bytes.resize(size.next_multiple_of(8), 0);
    let at = bytes.len();
    let stores = bytes.chunks_exact(8).enumerate().map(|(word, chunk)| {
        let number = u64::from_le_bytes(chunk.try_into().unwrap());
        format!("r1 = {number:#x}\n*(u64 *)(r10 -{}) = r1\n", at - 8 * word)
    });
    let stores: String = stores.collect();
    format!("{stores}{numbers}r1 = r10\nr1 += -{at}\nr2 = {size}\ncall bpf_trace_printk\nr0 = 2\nend:\nexit\n")
}

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
        "r1 = *(u64 *)(r6 +0)\n*(u64 *)(r10 -16) = r1\nr1 = r9\nr2 = map[perf]\nw3 = -1\nr4 = r10\nr4 += -16\nr5 = 12\n\
         *(u64 *)(r10 -8) = r5\ncall bpf_perf_event_output\nr0 += 2\nend:\nexit\n"
            .to_owned(),
        "r8 = r3\nr1 = 9\n*(u64 *)(r10 -8) = r1\nr1 = r9\nr2 = map[perf]\nif r3 < 200 goto small\nr3 = 200\nsmall:\nr3 <<= 32\n\
         w4 = -1\nr3 |= r4\nr4 = r10\nr4 += -8\nr5 = 7\ncall bpf_perf_event_output\nr0 += 2\nend:\nexit\n"
            .to_owned(),
        // More than the packet has, and flags that are none.
        "r8 = r3\nr3 += 1\nr1 = r9\nr2 = map[perf]\nr3 <<= 32\nw4 = -1\nr3 |= r4\nr4 = r6\nr5 = 1\ncall bpf_perf_event_output\n\
         r0 += 16\nend:\nexit\n"
            .to_owned(),
        "r1 = r9\nr2 = map[perf]\nr3 = -1\nr4 = r6\nr5 = 1\ncall bpf_perf_event_output\nr0 += 24\nend:\nexit\n".to_owned(),
        // Numbers.
        "r1 = map[formats][0]+0\nr2 = 19\nr3 = 8\ncall bpf_trace_printk\nr1 = map[formats][0]+19\nr2 = 16\nr3 = *(u64 *)(r6 +0)\nr4 = r7\nr5 = -5\n\
         call bpf_trace_printk\nr0 = 2\nend:\nexit\n"
            .to_owned(),
        // The same by formats on the stack.
        on_stack("%08lx %-7lld|% d%%", "r3 = r7\nr3 <<= 40\nr4 = *(u64 *)(r6 +0)\nr5 = -65\n"),
        on_stack("%x", "r3 = r7\nr3 -= r6\nr4 = 0\nr5 = 0\n"),
        on_stack("%px %c %+li", "r3 = *(u64 *)(r6 +0)\nr4 = 65\nr5 = *(u64 *)(r6 +8)\n"),
    ];
    for text in cases {
        let image = image(&format!("{LONG}{text}"));
        let mut pair = Pair::new(&mut engine, image).unwrap_or_else(|| panic!("refused: {text}"));
        let told = run(&mut pair, &mut engine, &frames(EDGES));
        println!("{told} events");
    }
}

/// A program that reserves a record of so many bytes, writes the frame's first 8 bytes to its end, and submits it.
fn record(bytes: usize) -> String {
    let at = bytes.saturating_sub(8);
    let store = if bytes < 8 { String::new() } else { format!("r1 = *(u64 *)(r6 +0)\n*(u64 *)(r0 +{at}) = r1\n") };
    format!(
        "{LONG}r1 = map[ring]\nr2 = {bytes}\nr3 = 0\ncall bpf_ringbuf_reserve\nif r0 == 0 goto end\n{store}r1 = r0\nr2 = 0\n\
         call bpf_ringbuf_submit\nr0 = 2\nend:\nexit\n"
    )
}

#[test]
fn records_and_outputs_have_all_lengths_and_go_over_the_rings_end() {
    let Some((mut engine, mut rng)) = open_tiny("records_and_outputs_have_all_lengths") else { return };
    let lengths = [0, 1, 7, 8, 9, 63, 64, 65, 72, 511, 512, 513, 1024, 1025, RECORD_BYTES - 1, RECORD_BYTES];
    let mut words = 0;
    for bytes in lengths {
        let mut pair = Pair::new(&mut engine, image(&record(bytes))).expect("a record");
        // The longest with each place in the ring's last words, some over its end.
        let told = run(&mut pair, &mut engine, &frames([64 + rng.index(60), 64, 100, 1500]));
        assert_eq!(told, 4, "{bytes} bytes");
        words += 4 * (1 + bytes.div_ceil(8));
    }
    // The packet's bytes behind none of its own, at all lengths of the frame.
    let text = format!(
        "{LONG}r5 = 0\nr3 <<= 32\nw4 = -1\nr3 |= r4\nr4 = 0\nr1 = r9\nr2 = map[perf]\ncall bpf_perf_event_output\nr0 += 2\nend:\nexit\n"
    );
    let mut pair = Pair::new(&mut engine, image(&text)).expect("a perf event");
    let sizes: Vec<usize> = (64..=140).chain([511, 512, 513, 1024, 2039, 2040]).collect();
    assert_eq!(run(&mut pair, &mut engine, &frames(sizes.iter().copied())), sizes.len());
    words += sizes.iter().map(|bytes| 1 + bytes.div_ceil(8)).sum::<usize>();
    println!("{words} words, {} times round the ring", words / EVENT_WORDS);
    assert!(words > 6 * EVENT_WORDS);
}

/// Packets whose events the host does not take, compared with the interpreter that is told which found room.
fn unread(engine: &mut Engine, text: &str, packets: u32, lengths: usize) -> (u32, Vec<u64>) {
    let mut pair = Pair::new(engine, image(text)).unwrap_or_else(|| panic!("refused: {text}"));
    let before = ring(engine, MODULE).lost;
    let frame = &frames([lengths])[0];
    engine.steps.clear();
    for number in 0..packets {
        engine.offer(packet_id(0, number), MODULE, frame);
    }
    engine.end(packets as usize);
    engine.quiesce();
    let (mut slots, mut running, mut given) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::<u64, Vec<u32>>::new());
    for (step, row) in std::mem::take(&mut engine.steps) {
        match step {
            XdpStep::Packet => drop(slots.insert(row.slot, row.value)),
            XdpStep::Start => drop(running.insert(row.processor, slots[&row.slot])),
            XdpStep::Number => given.entry(running[&row.processor]).or_default().push(row.value as u32),
            XdpStep::Value | XdpStep::Map => {}
        }
    }
    let fates: BTreeMap<u32, _> =
        std::mem::take(&mut engine.verdicts).iter().map(|verdict| (verdict.id, pair.found(engine, verdict))).collect();
    let mut rooms = Vec::new();
    for number in 0..packets {
        let id = packet_id(0, number);
        let numbers = given.remove(&id.into()).unwrap_or_default();
        rooms.extend(numbers.iter().map(|room| u64::from(*room)));
        pair.runtime.world.given = numbers.into();
        let fate = pair.interpret(0, frame);
        assert_eq!(fates[&id], fate, "packet {number}\n{}", pair.listing());
        let left = &pair.runtime.world.given;
        assert!(left.is_empty(), "told, and not asked for: {left:?}\npacket {number}\n{}", pair.listing());
    }
    compare(&mut pair, engine);
    engine.forget();
    let lost = ring(engine, MODULE).lost - before;
    assert_eq!(u64::from(lost), pair.runtime.world.lost_events);
    (lost, rooms)
}

#[test]
fn what_finds_no_room_is_told_to_the_program_and_counted() {
    let Some((mut engine, _)) = open_tiny("what_finds_no_room_is_told_to_the_program") else { return };
    // 33 words each: 7 of them have room.
    let (lost, rooms) = unread(&mut engine, &record(256), 12, 64);
    assert_eq!((lost, rooms.iter().sum::<u64>()), (5, 7));
    let output =
        format!("{LONG}r1 = map[ring]\nr2 = r6\nr3 = 64\nr4 = 0\ncall bpf_ringbuf_output\nr0 += 13\nend:\nexit\n");
    let (lost, rooms) = unread(&mut engine, &output, 40, 64);
    assert_eq!((lost, rooms.len()), (40 - 256 / 9, 40));
    let perf = format!(
        "{LONG}r1 = r9\nr2 = map[perf]\nw3 = -1\nr4 = r6\nr5 = 60\ncall bpf_perf_event_output\nr0 += 30\nend:\nexit\n"
    );
    let (lost, _) = unread(&mut engine, &perf, 40, 64);
    assert_eq!(lost, 40 - 256 / 9);
    let print = format!("{LONG}r1 = map[formats][0]+0\nr2 = 19\ncall bpf_trace_printk\nr0 = 2\nend:\nexit\n");
    let (lost, _) = unread(&mut engine, &print, 70, 64);
    assert_eq!(lost, 70 - 256 / 4);
    // Longer than all words.
    let long = output.replace("r3 = 64", "r3 = 2041");
    let (lost, rooms) = unread(&mut engine, &long, 3, 2100);
    assert_eq!((lost, rooms), (3, vec![0; 3]));
    // A second record beside the first one; that is not counted, for no event has asked.
    let second = "r1 = map[ring]\nr2 = 8\nr3 = 0\ncall bpf_ringbuf_reserve\nif r0 == 0 goto end\nr8 = r0\nr1 = map[ring]\nr2 = 8\nr3 = 0\n\
                  call bpf_ringbuf_reserve\nif r0 != 0 goto both\nr1 = r8\nr2 = 0\ncall bpf_ringbuf_submit\nr0 = 2\nend:\nexit\nboth:\n\
                  r1 = r8\nr2 = 0\ncall bpf_ringbuf_discard\nr0 = 1\nexit\n";
    let mut pair = Pair::new(&mut engine, image(&format!("{LONG}{second}"))).expect("two reservations");
    engine.offer(packet_id(0, 0), MODULE, &[7; 64]);
    engine.end(1);
    pair.runtime.world.given = [1, 0].into();
    let fate = pair.interpret(0, &[7; 64]);
    let verdict = engine.verdicts.remove(0);
    assert_eq!(pair.found(&mut engine, &verdict), fate);
    assert_eq!(compare(&mut pair, &mut engine), 1);
}

#[test]
fn a_fault_gives_the_record_back_and_an_end_with_one_is_a_fault() {
    let Some((mut engine, _)) = open_tiny("a_fault_gives_the_record_back") else { return };
    let reserve = "r1 = map[ring]\nr2 = 24\nr3 = 0\ncall bpf_ringbuf_reserve\nif r0 == 0 goto end\nr8 = r0\n";
    let submit = "r1 = r8\nr2 = 0\ncall bpf_ringbuf_submit\n";
    let cases = [
        // It ends with it: by exit, by a fault elsewhere, by its work.
        (format!("{reserve}r0 = 2\nend:\nexit\n"), XdpFault::Lock),
        (format!("{reserve}r1 = 0\nr0 = *(u8 *)(r1 +0)\nend:\nexit\n"), XdpFault::Access),
        (format!("{reserve}again:\nr8 += 1\nif r8 != 0 goto again\nend:\nexit\n"), XdpFault::Work),
        // One byte beyond it, on both ends, and over the end.
        (format!("{reserve}r1 = *(u8 *)(r8 +24)\n{submit}r0 = 2\nend:\nexit\n"), XdpFault::Access),
        (format!("{reserve}*(u64 *)(r8 +17) = r1\n{submit}r0 = 2\nend:\nexit\n"), XdpFault::Access),
        (format!("{reserve}r1 = *(u8 *)(r8 -1)\n{submit}r0 = 2\nend:\nexit\n"), XdpFault::Access),
        (format!("{reserve}r2 = 1\nlock *(u64 *)(r8 +20) += r2\n{submit}r0 = 2\nend:\nexit\n"), XdpFault::Access),
        // It was submitted, or never was one.
        (format!("{reserve}{submit}*(u8 *)(r8 +0) = r1\nr0 = 2\nend:\nexit\n"), XdpFault::Access),
        (format!("{reserve}{submit}{submit}r0 = 2\nend:\nexit\n"), XdpFault::Argument),
        (format!("{reserve}r8 += 8\n{submit}r0 = 2\nend:\nexit\n"), XdpFault::Argument),
        ("r8 = r10\nr1 = r8\nr2 = 0\ncall bpf_ringbuf_discard\nr0 = 2\nend:\nexit\n".to_owned(), XdpFault::Argument),
        // What it reads is no memory.
        ("r1 = map[ring]\nr2 = r6\nr3 = 65\nr4 = 0\ncall bpf_ringbuf_output\nr0 = 2\nend:\nexit\n".to_owned(), XdpFault::Argument),
        (format!("{reserve}r1 = map[other]\nr2 = r8\nr3 = 25\nr4 = 0\ncall bpf_ringbuf_output\nr0 = 2\nend:\nexit\n"), XdpFault::Argument),
        ("r1 = 8\nr2 = map[perf]\nw3 = -1\nr4 = r6\nr5 = 1\ncall bpf_perf_event_output\nr0 = 2\nend:\nexit\n".to_owned(), XdpFault::Argument),
        // In a value, whose unit says so only when the event has begun.
        ("r1 = 2\n*(u32 *)(r10 -4) = r1\nr1 = map[values]\nr2 = r10\nr2 += -4\ncall bpf_map_lookup_elem\nif r0 == 0 goto end\n\
          r1 = map[ring]\nr2 = r0\nr2 += 60\nr3 = 5\nr4 = 0\ncall bpf_ringbuf_output\nr0 = 2\nend:\nexit\n".to_owned(), XdpFault::Argument),
    ];
    for (text, kind) in cases {
        let mut pair =
            Pair::new(&mut engine, image(&format!("{LONG}{text}"))).unwrap_or_else(|| panic!("refused: {text}"));
        for number in 0..6 {
            pair.send(&mut engine, 0, number, &frames([64])[0]);
        }
        assert_eq!(pair.faults(), 6, "{text}");
        pair.compare(&mut engine);
        engine.forget();
        compare(&mut pair, &mut engine);
        assert_eq!(XdpFault::from_code(last_fault(&mut engine, MODULE).kind), Some(kind), "{text}");
    }
    // Another record may be reserved, and helpers read and write the one that there is.
    let text = format!(
        "{LONG}{reserve}r1 = r9\nr2 = 3\nr3 = r8\nr3 += 5\nr4 = 19\ncall bpf_xdp_load_bytes\nr1 = 0\nr2 = 0\nr3 = r8\nr4 = 24\nr5 = 0\n\
         call bpf_csum_diff\n*(u16 *)(r8 +0) = r0\nr1 = r9\nr2 = 40\nr3 = r8\nr4 = 24\ncall bpf_xdp_store_bytes\nr1 = map[other]\nr2 = r8\n\
         r3 = 24\nr4 = 0\ncall bpf_ringbuf_output\n{submit}r0 = 2\nend:\nexit\n"
    );
    let mut pair = Pair::new(&mut engine, image(&text)).expect("helpers take records");
    assert_eq!(run(&mut pair, &mut engine, &frames(EDGES)), 2 * EDGES.len());
}
