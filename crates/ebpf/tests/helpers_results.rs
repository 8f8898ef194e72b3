//! Return values of helpers with maps and text, against the kernel.

use crate::helpers_support;
use crate::helpers_support::{Asm, Pair, map, skipped};
use sluice_ebpf::kernel::Kernel;
use sluice_ebpf::world::Event;
use sluice_ebpf::{MapType, Redirect};
use sluice_formats::random::{Rng, test_seed};

const FRAME: [u8; 64] = [5; 64];

#[test]
fn redirect_takes_no_flags() {
    if skipped() {
        return;
    }
    for (ifindex, flags) in [(1, 0), (0, 0), (77, 0), (1, 1), (1, 2), (1, -1), (-1, 0)] {
        let asm = Asm::default().mov(1, ifindex).mov(2, flags).call(23).exit();
        let out = Pair::one(asm).run(0, &FRAME, &format!("redirect({ifindex}, {flags})"));
        let expected = (flags == 0).then_some(Redirect::Interface(ifindex as u32));
        assert_eq!(out.redirect, expected);
    }
}

#[test]
fn redirect_map_takes_fallbacks_and_broadcast_by_kind_of_map() {
    if skipped() {
        return;
    }
    let kinds = [
        (MapType::Devmap, 4, vec![1, 0, 0, 0]),
        (MapType::DevmapHash, 8, vec![1, 0, 0, 0, 0, 0, 0, 0]),
        (MapType::Cpumap, 4, vec![64, 0, 0, 0]),
        (MapType::Xskmap, 4, vec![]),
    ];
    for (kind, value_size, value) in kinds {
        let entries = if kind == MapType::Cpumap { 2 } else { 8 };
        for key in [0i64, 1, 2, 5, 8, 9, 1 << 32, (1 << 32) + 1, -1] {
            for flags in [0, 1, 2, 3, 4, 5, 8, 9, 11, 16, 17, 24, 27, 32, 64, 1 << 16, -1] {
                let asm = Asm::default().map(1, 0).mov64(2, key as u64).mov(3, flags).call(51).exit();
                let mut pair = Pair::new(vec![asm.program("redirect")], vec![map("to", kind, 4, value_size, entries)]);
                if !value.is_empty() {
                    pair.set(0, &1u32.to_le_bytes(), &value);
                }
                let out = pair.run(0, &FRAME, &format!("redirect_map({kind:?}, {key}, {flags})"));
                assert_eq!(out.redirect.is_some(), out.r0 == 4);
            }
        }
    }
}

#[test]
fn a_failed_lookup_keeps_the_index_of_the_redirect_before() {
    // The kernel keeps it too, but only a live frame would show that.
    let programs = |asm: Asm| helpers_support::image(vec![asm.program("p")], vec![map("to", MapType::Devmap, 4, 4, 4)]);
    let missing = |asm: Asm| asm.map(1, 0).mov(2, 3).mov(3, 0).call(51).mov(0, 4).exit();
    let run = |asm: Asm| {
        let mut runtime = sluice_ebpf::Runtime::new(1, 1);
        let installed = runtime.install(&programs(asm), &|_| None).unwrap();
        let mut packet = sluice_ebpf::Packet::new(&FRAME);
        runtime.run(installed, 0, &mut packet, Default::default()).redirect
    };
    assert_eq!(run(missing(Asm::default())), None);
    assert_eq!(run(missing(Asm::default().mov(1, 7).mov(2, 0).call(23))), Some(Redirect::Interface(7)));
}

#[test]
fn tail_calls_end_after_33_and_fall_through_without_a_program() {
    if skipped() {
        return;
    }
    // Counts its runs in the frame's first byte and calls itself.
    let again = |index: i32| {
        Asm::default()
            .load(4, 2, 1, 0)
            .load(4, 3, 1, 4)
            .mov_reg(4, 2)
            .add(4, 14)
            .raw(0xbd, 4, 3, 2, 0)
            .mov(0, 9)
            .exit()
            .load(1, 5, 2, 0)
            .add(5, 1)
            .store(1, 2, 0, 5)
            .map(2, 0)
            .mov(3, index)
            .call(12)
            .mov(0, 1)
            .exit()
    };
    for index in [0, 1, 2, 3, 4, 5, -1] {
        let other = Asm::default().mov(0, 3).exit();
        let mut array = map("programs", MapType::ProgArray, 4, 4, 4);
        array.initial = vec![
            (0, sluice_ebpf::image::Initial::Program("again".into())),
            (2, sluice_ebpf::image::Initial::Program("other".into())),
        ];
        let mut pair = Pair::new(vec![again(index).program("again"), other.program("other")], vec![array]);
        pair.run(0, &[0; 64], &format!("tail call to {index}"));
    }
}

#[test]
fn map_helpers_return_what_the_kernel_returns() {
    if skipped() {
        return;
    }
    let kinds = [MapType::Array, MapType::Hash, MapType::PercpuArray, MapType::PercpuHash];
    for kind in kinds {
        for flags in [0, 1, 2, 3, 4, 5, 8, -1] {
            for key in [0, 1, 2, 77] {
                // update; then delete; each result shifted into r7.
                let asm = Asm::default()
                    .store_imm(4, 10, -4, key)
                    .raw(0x7a, 10, 0, -16, 5)
                    .map(1, 0)
                    .mov_reg(2, 10)
                    .add(2, -4)
                    .mov_reg(3, 10)
                    .add(3, -16)
                    .mov(4, flags)
                    .call(2)
                    .mov_reg(7, 0)
                    .map(1, 0)
                    .mov_reg(2, 10)
                    .add(2, -4)
                    .call(3)
                    .raw(0x27, 7, 0, 0, 100)
                    .raw(0x0f, 7, 0, 0, 0)
                    .mov_reg(0, 7)
                    .exit();
                let mut pair = Pair::new(vec![asm.program("update")], vec![map("m", kind, 4, 8, 2)]);
                if kind == MapType::Hash {
                    pair.set(0, &[1, 0, 0, 0], &[1; 8]);
                }
                pair.run(0, &FRAME, &format!("{kind:?}, key {key}, flags {flags}"));
            }
        }
    }
}

#[test]
fn lookups_of_another_cpu_end_at_the_last_one() {
    if skipped() {
        return;
    }
    let cpus = sluice_ebpf::kernel::possible_cpus() as i32;
    for of in [0, cpus - 1, cpus, cpus + 1, -1, i32::MAX] {
        let asm = Asm::default()
            .store_imm(4, 10, -4, 1)
            .map(1, 0)
            .mov_reg(2, 10)
            .add(2, -4)
            .mov(3, of)
            .call(195)
            .raw(0x15, 0, 0, 1, 0)
            .load(4, 0, 0, 0)
            .exit();
        let mut pair = Pair::new(vec![asm.program("percpu")], vec![map("m", MapType::PercpuArray, 4, 8, 2)]);
        let values: Vec<u8> = (0..cpus as u64).flat_map(|c| (c + 100).to_le_bytes()).collect();
        pair.set(0, &[1, 0, 0, 0], &values);
        pair.run(0, &FRAME, &format!("processor {of}"));
    }
}

#[test]
fn ring_buffers_fill_up_as_the_kernels_do() {
    if skipped() {
        return;
    }
    let seed = test_seed("helpers_ringbuf");
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for round in 0..12 {
        let mut programs = Vec::new();
        for _ in 0..10 {
            let size = [0, 1, 7, 8, 9, 100, 2000, 4000, 4072, 4080, 4081, 4088, 4096, 9000][rng.index(14)];
            let flags = [0, 0, 0, 1, 2, 3, 4, -1][rng.index(8)];
            let what = rng.below(3);
            let asm = Asm::default();
            let asm = match what {
                // Output of at most 200 bytes of the stack.
                0 => {
                    let asm = asm.bytes(2, 200, &[3; 200]);
                    asm.map(1, 0).mov(3, size.min(200)).mov(4, flags).call(130)
                }
                // Reserve, then submit or discard; 1 if it was reserved.
                _ => asm
                    .map(1, 0)
                    .mov(2, size)
                    .mov(3, flags)
                    .call(131)
                    .mov(7, 0)
                    .raw(0x15, 0, 0, 4, 0)
                    .mov(7, 1)
                    .mov_reg(1, 0)
                    .mov(2, 0)
                    .call(131 + what as i32)
                    .mov_reg(0, 7),
            };
            programs.push(asm.exit().program(&format!("p{}", programs.len())));
        }
        for what in 0..5 {
            let asm = Asm::default().map(1, 0).mov(2, what).call(134).exit();
            programs.push(asm.program(&format!("q{what}")));
        }
        let count = programs.len();
        let mut pair = Pair::new(programs, vec![map("ring", MapType::Ringbuf, 0, 0, 4096)]);
        pair.ours.maps.set_ring_consumer(false);
        for _ in 0..60 {
            let p = rng.index(count);
            pair.run(p, &FRAME, &format!("round {round}, program {p}"));
        }
        for p in count - 5..count {
            pair.run(p, &FRAME, &format!("round {round}, program {p}"));
        }
    }
}

#[test]
fn perf_events_go_to_the_own_processor_with_as_much_of_the_packet_as_asked() {
    if skipped() {
        return;
    }
    use sluice_ebpf::kernel::{PerfReader, Pinned};
    let pinned = Pinned::to(0).expect("processor 0 is there");
    let cpus = sluice_ebpf::kernel::possible_cpus();
    let current = 0xffff_ffffu64;
    let flags = [
        current,
        0,
        1,
        2,
        cpus.into(),
        7,
        8,
        100,
        current | 1 << 32,
        current | 64 << 32,
        current | 65 << 32,
        current | 0xf_ffff << 32,
        1 << 52,
        1 << 63,
    ];
    for flags in flags {
        for size in [0, 1, 8, 100] {
            let asm = Asm::default().mov_reg(6, 1).bytes(4, 128, &[9; 128]).mov_reg(1, 6);
            let asm = asm.map(2, 0).mov64(3, flags).mov(5, size).call(25).exit();
            let events = map("events", MapType::PerfEventArray, 4, 4, 8);
            let mut pair = Pair::new(vec![asm.program("perf")], vec![events]);
            let mut readers: Vec<PerfReader> =
                (0..cpus.min(8)).map(|c| PerfReader::new(&pair.kernel.maps[0], c).expect("opens")).collect();
            pair.run(0, &FRAME, &format!("flags {flags:#x}, {size} bytes"));
            let theirs: Vec<Vec<u8>> = readers.iter_mut().flat_map(PerfReader::take).collect();
            let ours: Vec<Vec<u8>> = pair.ours.world.take_events().into_iter().map(bytes).collect();
            assert_eq!(ours.len(), theirs.len(), "flags {flags:#x}, {size} bytes");
            for (ours, theirs) in ours.iter().zip(&theirs) {
                // The kernel rounds the record up; what is behind the data is not the program's.
                assert_eq!(ours[..], theirs[..ours.len()], "flags {flags:#x}, {size} bytes");
            }
        }
    }
    drop(pinned);
}

fn bytes(event: Event) -> Vec<u8> {
    match event {
        Event::Perf { data, .. } | Event::Ring { data, .. } => data,
        Event::Trace(line) => line.into_bytes(),
    }
}

#[test]
fn formats_are_taken_and_refused_as_by_the_kernel() {
    if skipped() {
        return;
    }
    let arguments = [0x1234_5678_9abc_def0u64, (-42i64) as u64, 7];
    let texts: &[&[u8]] = &[
        b"plain\0",
        b"no end",
        b"\0",
        b"%d %u %x\0",
        b"%d %u %x %d\0",
        b"%i|%5d|%-5d|\0",
        b"%05d|%+d|% d\0",
        b"%ld %lld %llx\0",
        b"%lu %lli %lX\0",
        b"%X\0",
        b"%hd\0",
        b"%llld\0",
        b"%zd\0",
        b"%n\0",
        b"%f\0",
        b"%o\0",
        b"%#x\0",
        b"%.3d\0",
        b"%*d\0",
        b"%%\0",
        b"%d%%d\0",
        b"%\0",
        b"100%\0",
        b"%1\0",
        b"%c%c\0",
        b"%5c|%-5c|\0",
        b"%lc\0",
        b"%s\0",
        b"[%10s] [%-10s]\0",
        b"%sd\0",
        b"%s,%s;\0",
        b"%px %px\0",
        b"%20px|%-20px|\0",
        b"%pI4 %pi4\0",
        b"%pI6 %pi6\0",
        b"%pI5\0",
        b"%pI4x\0",
        b"%pM\0",
        b"%30pI4|%-30pI6|\0",
        b"%pI4d%d\0",
        b"%px1z %d\0",
        b"%pks %pus\0",
        b"%pksx\0",
        b"%p%\0",
        b"%p,\0",
        b"%pa\0",
        b"%70d\0",
        b"\x01\0",
        b"tab\tnew\nline\r\x0b\x0c\0",
        b"\x7f\0",
        b"\x80\0",
        b"\xc3\xa9\0",
        b"%s\xc3\0",
        b"%s\xa0|\0",
        b"%s\xbf\0",
        b"%px\xe9\xd7\xff\0",
        b"%\xc3\0",
        b"%d\0%f\0",
        b"%0-5d|\0",
        b"%-05d|\0",
        b"%  d\0",
        b"%+u %+x\0",
        b"%0x|%08x|%8lx\0",
    ];
    for text in texts {
        // Unhashed pointers only where they are ours: `%p` prints as many digits in any case.
        let mut asm = Asm::default().bytes(1, 64, text);
        for (n, argument) in arguments.iter().enumerate() {
            asm = asm.mov64(3 + n as u8, *argument);
        }
        // Addresses of nothing: strings and IP addresses read as empty or zero.
        if text.windows(2).any(|w| w == b"%s" || w == b"ks" || w == b"pI" || w == b"pi" || w == b"0s") {
            asm = asm.mov(3, 0).mov(4, 0).mov(5, 0);
        }
        let asm = asm.mov(2, text.len() as i32).call(6).exit();
        let shown = String::from_utf8_lossy(text);
        Pair::one(asm).run(0, &FRAME, &format!("{shown:?}"));
        // The same by trace_vprintk, arguments on the stack.
        for count in 0..4 {
            let mut asm = Asm::default().bytes(1, 64, text);
            for (n, argument) in arguments.iter().take(count).enumerate() {
                let zero = shown.contains('s') || shown.contains('I') || shown.contains('i');
                asm = asm.mov64(3, if zero { 0 } else { *argument }).store(8, 10, -128 + 8 * n as i16, 3);
            }
            let asm = asm.mov(2, text.len() as i32).mov_reg(3, 10).add(3, -128).mov(4, 8 * count as i32);
            let asm = if count == 0 { asm.mov(3, 0) } else { asm };
            Pair::one(asm.call(177).exit()).run(0, &FRAME, &format!("{shown:?} with {count}"));
        }
    }
}

#[test]
fn numbers_in_text_are_read_as_by_the_kernel() {
    if skipped() {
        return;
    }
    let seed = test_seed("helpers_strtol");
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let mut texts: Vec<Vec<u8>> = [
        "0",
        "-0",
        "1",
        " 12",
        "\t\n-12x",
        "--1",
        "+1",
        "0x1f",
        "0x",
        "0xg",
        "08",
        "077",
        "x",
        "-",
        " ",
        "- 1",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "0xffffffffffffffff",
        "0x10000000000000000",
        "-0x10",
        "1\x002",
    ]
    .iter()
    .map(|t| t.as_bytes().to_vec())
    .collect();
    texts.push([b"0".repeat(70), b"1".to_vec()].concat());
    texts.push(b"1".repeat(80));
    texts.extend((0..60).map(|_| (0..rng.range(1, 24)).map(|_| b" -+0123456789abcdefxX"[rng.index(21)]).collect()));
    for text in texts {
        for flags in [0, 8, 10, 16, 2, 32, -1] {
            for helper in [105, 106] {
                // Returns result * 1000 + low and high half of the number.
                let asm = Asm::default().mov64(3, 77).store(8, 10, -8, 3).bytes(1, 128, &text);
                let asm = asm.mov(2, text.len() as i32).mov(3, flags).mov_reg(4, 10).add(4, -8).call(helper);
                let asm = asm.raw(0x27, 0, 0, 0, 1000).load(4, 1, 10, -8).raw(0x0f, 0, 1, 0, 0);
                let asm = asm.load(4, 1, 10, -4).raw(0x27, 1, 0, 0, 31).raw(0x0f, 0, 1, 0, 0).exit();
                let what = format!("{helper} of {:?} with {flags}", String::from_utf8_lossy(&text));
                Pair::one(asm).run(0, &FRAME, &what);
            }
        }
    }
}

#[test]
fn text_in_frozen_maps_is_compared_and_formatted() {
    if skipped() {
        return;
    }
    let constant = |text: &[u8]| {
        let mut spec = map(".rodata", MapType::Array, 4, 64, 1);
        let mut contents = text.to_vec();
        contents.resize(64, 0);
        (spec.contents, spec.frozen) = (Some(contents), true);
        spec.flags = sluice_ebpf::image::map_flags::RDONLY_PROG;
        spec
    };
    for (a, b) in
        [("abc", "abc"), ("abc", "abd"), ("abd", "abc"), ("ab", "abc"), ("abc", "ab"), ("\u{e9}", "z"), ("", "")]
    {
        for len in 0..5 {
            let mut text = a.as_bytes().to_vec();
            text.resize(8, 0);
            let asm = Asm::default().bytes(1, 8, &text).mov(2, len).map_value(3, 0, 0).call(182).exit();
            let image = helpers_support::image(vec![asm.program("cmp")], vec![constant(b.as_bytes())]);
            if len == 0 {
                assert!(Kernel::load(&image).is_err(), "the kernel refuses no bytes");
                continue;
            }
            Pair::of(&image).run(0, &FRAME, &format!("{a:?} and {b:?}, {len} bytes"));
        }
    }
    for (text, count, size) in
        [("%d-%d", 2, 20), ("%d-%d", 2, 3), ("%d-%d", 2, 1), ("", 0, 20), ("%llx%c", 2, 20), ("%d", 2, 0)]
    {
        // The text goes to the frame; a kept byte behind it shows where it ends.
        let mut asm = Asm::default().mov_reg(6, 1).mov(7, 0);
        for n in 0..count as i16 {
            asm = asm.mov64(3, 0xffff_ffff_0000_0041 + n as u64).store(8, 10, -32 + 8 * n, 3);
        }
        asm = asm.bytes(1, 64, &[0x55; 24]).mov(2, size).map_value(3, 0, 0).mov_reg(4, 10).add(4, -32);
        asm = asm.mov(5, 8 * count).call(165).mov_reg(7, 0);
        asm = asm.mov_reg(1, 6).mov(2, 0).mov_reg(3, 10).add(3, -64).mov(4, 24).call(190).mov_reg(0, 7).exit();
        let image = helpers_support::image(vec![asm.program("print")], vec![constant(text.as_bytes())]);
        Pair::of(&image).run(0, &FRAME, &format!("{text:?}, {count} arguments, {size} bytes"));
    }
}

#[test]
fn texts_and_addresses_in_memory_are_formatted_as_by_the_kernel() {
    if skipped() {
        return;
    }
    let formats = [
        "%s",
        "[%10s]",
        "[%-10s]",
        "%s.%s",
        "%pks",
        "%pI4",
        "%pi4",
        "%pI6",
        "%pi6",
        "[%20pI4]",
        "%pI4z|",
        "%s%pI6!%d",
        "%d %5d|%-5d|%05d|%+d|% d",
        "%u|%x|%X|%ld|%lx",
        "%08lx|%-20lx|%+ld",
        "%c|%5c|%-5c|",
        "%%|%d",
        "%0-8d|%-08d|",
    ];
    let mut rng = Rng::new(4);
    for format in formats {
        for round in 0..4 {
            // fp-64: the result; fp-80: a text; fp-96: 16 bytes; fp-144: six arguments.
            let text: [u8; 16] = *[
                b"\0 23456789abcd\0\0",
                b"hello\0 world!\0\0\0",
                b"x\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                b"fifteen bytes..\0",
            ][round];
            let address: Vec<u8> = (0..16).map(|_| rng.next_u32() as u8).collect();
            let mut asm =
                Asm::default().mov_reg(6, 1).bytes(1, 64, &[0x55; 50]).bytes(1, 80, &text).bytes(1, 96, &address);
            let pointers: Vec<bool> = format
                .split('%')
                .skip(1)
                .filter(|c| !c.is_empty() && !c.starts_with('|'))
                .map(|c| c.contains(['s', 'p']))
                .collect();
            for n in 0..6 {
                let text = format.contains('s') && (n == 0 || format == "%s.%s");
                asm = match pointers.get(n) {
                    Some(true) => asm.mov_reg(3, 10).add(3, if text { -80 } else { -96 }),
                    _ => asm.mov64(3, if round == 0 { n as u64 } else { rng.next_u64() | 0x21 }),
                };
                asm = asm.store(8, 10, -144 + 8 * n as i16, 3);
            }
            // Behind an address that found no room the kernel misreads what follows: not compared.
            let size = if format.contains('!') { 50 } else { [50, 7, 1, 33][rng.index(4)] };
            asm = asm.mov_reg(1, 10).add(1, -64).mov(2, size).map_value(3, 0, 0).mov_reg(4, 10).add(4, -144);
            asm = asm.mov(5, 8 * pointers.len() as i32).call(165).mov_reg(7, 0);
            asm = asm.mov_reg(1, 6).mov(2, 0).mov_reg(3, 10).add(3, -64).mov(4, 50).call(190).mov_reg(0, 7).exit();
            let mut spec = map(".rodata", MapType::Array, 4, 64, 1);
            let mut contents = format.as_bytes().to_vec();
            contents.resize(64, 0);
            (spec.contents, spec.frozen, spec.flags) =
                (Some(contents), true, sluice_ebpf::image::map_flags::RDONLY_PROG);
            let image = helpers_support::image(vec![asm.program("print")], vec![spec]);
            Pair::of(&image).run(0, &FRAME, &format!("{format:?} of {text:?} and {address:?} in {size} bytes"));
        }
    }
}
