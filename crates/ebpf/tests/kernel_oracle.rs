//! The oracle itself: what bpf(2) gives, and the limits of test runs that docs/design/xdp-oracle.md states.

use crate::helpers_support::skipped;
use sluice_ebpf::image::{Function, Initial, map_flags};
use sluice_ebpf::insn::{CALL, EXIT, LD_IMM64, pseudo};
use sluice_ebpf::kernel::{
    HEADROOM, Kernel, KernelMap, KernelProgram, MAX_FRAME, MIN_FRAME, PerfReader, Pinned, QUEUES, RingReader, Sandbox,
    TestInput, possible_cpus,
};
use sluice_ebpf::{Errno, Image, Insn, MapSpec, MapType, Program};

fn i(op: u8, dst: u8, src: u8, off: i16, imm: i32) -> Insn {
    Insn { op, dst, src, off, imm }
}

fn wide(dst: u8, src: u8, low: i32, high: i32) -> [Insn; 2] {
    [i(LD_IMM64, dst, src, 0, low), i(0, 0, 0, 0, high)]
}

fn program(name: &str, parts: &[&[Insn]]) -> Program {
    Program { name: name.into(), section: "xdp".into(), insns: parts.concat(), ..Program::default() }
}

fn map(name: &str, kind: MapType, key_size: u32, value_size: u32, max_entries: u32) -> MapSpec {
    MapSpec::new(name, kind, key_size, value_size, max_entries)
}

fn image(programs: Vec<Program>, maps: Vec<MapSpec>) -> Image {
    Image { programs, maps, license: "GPL".into(), ..Image::default() }
}

const CALL_HELPER: fn(i32) -> Insn = |id| i(CALL, 0, pseudo::HELPER, 0, id);
const RETURN: fn(i32) -> [Insn; 2] = |v| [i(0xb7, 0, 0, 0, v), i(EXIT, 0, 0, 0, 0)];

/// Calls helper `id` on the context with `amount` and returns what it says.
fn adjust(id: i32, amount: i32) -> KernelProgram {
    let p = program("adjust", &[&[i(0xb7, 2, 0, 0, amount), CALL_HELPER(id), i(EXIT, 0, 0, 0, 0)]]);
    KernelProgram::load(&p, &[], None, "GPL").expect("accepted")
}

#[test]
fn head_and_metadata_reach_216_bytes_back_and_no_further() {
    if skipped() {
        return;
    }
    let frame = [7u8; 64];
    let head = |n: usize| adjust(44, -(n as i32)).test_run(&TestInput::frame(&frame)).unwrap();
    assert_eq!(head(HEADROOM).r0, 0);
    assert_eq!(head(HEADROOM).frame.len(), 64 + HEADROOM);
    assert_eq!(head(HEADROOM + 1).r0 as i32, -22);
    assert_eq!(head(HEADROOM + 1).frame, frame);
    let meta = |n: usize| adjust(54, -(n as i32)).test_run(&TestInput::frame(&frame)).unwrap();
    assert_eq!(meta(HEADROOM).r0, 0);
    assert_eq!(meta(HEADROOM).metadata.len(), HEADROOM);
    assert_eq!(meta(HEADROOM + 4).r0 as i32, -22);
    // Headroom less metadata.
    let input = TestInput { frame: &frame, metadata: &[9; 16], ..TestInput::default() };
    assert_eq!(adjust(44, -(HEADROOM as i32 - 16)).test_run(&input).unwrap().r0, 0);
    assert_eq!(adjust(44, -(HEADROOM as i32 - 15)).test_run(&input).unwrap().r0 as i32, -22);
}

#[test]
fn frames_are_14_to_3520_bytes_and_grow_to_3520() {
    if skipped() {
        return;
    }
    let run = |p: &KernelProgram, n: usize| p.test_run(&TestInput::frame(&vec![1; n])).map(|o| o.r0 as i32);
    let same = adjust(65, 0);
    assert_eq!(run(&same, MIN_FRAME), Ok(0));
    assert_eq!(run(&same, MIN_FRAME - 1).unwrap_err().errno, Errno::INVAL);
    assert_eq!(run(&same, MAX_FRAME), Ok(0));
    assert_eq!(run(&adjust(65, 1), MAX_FRAME - 1), Ok(0));
    assert_eq!(run(&adjust(65, 1), MAX_FRAME), Ok(-22));
    assert_eq!(run(&adjust(65, -50), 64), Ok(0));
    assert_eq!(run(&adjust(65, -51), 64), Ok(-22));
}

#[test]
fn metadata_goes_in_and_comes_out() {
    if skipped() {
        return;
    }
    let frame: Vec<u8> = (0..80).collect();
    let input = TestInput { frame: &frame, metadata: &[1, 2, 3, 4, 5, 6, 7, 8], ifindex: 1, queue: 0 };
    let out = adjust(44, -4).test_run(&input).unwrap();
    assert_eq!(out.metadata, [1, 2, 3, 4, 5, 6, 7, 8], "it moves with the frame's start");
    assert_eq!(out.frame.len(), 84);
    assert_eq!(out.frame[4..], frame);
    let ifindex = program("ifindex", &[&[i(0x61, 0, 1, 12, 0), i(EXIT, 0, 0, 0, 0)]]);
    let ifindex = KernelProgram::load(&ifindex, &[], None, "GPL").unwrap();
    assert_eq!(ifindex.test_run(&input).unwrap().r0, 1);
}

#[test]
fn every_kind_of_map_is_made_and_answers_the_user_side() {
    if skipped() {
        return;
    }
    let cpus = possible_cpus() as usize;
    for (kind, key, value, entries, flags) in [
        (MapType::Hash, 4, 12, 8, 0),
        (MapType::Array, 4, 12, 8, 0),
        (MapType::PercpuHash, 4, 12, 8, 0),
        (MapType::PercpuArray, 4, 12, 8, 0),
        (MapType::LruHash, 4, 12, 8, 0),
        (MapType::LruPercpuHash, 4, 12, 8, 0),
        (MapType::LpmTrie, 8, 12, 8, map_flags::NO_PREALLOC),
    ] {
        let spec = MapSpec { flags, ..map("m", kind, key, value, entries) };
        let m = KernelMap::create(&spec, None).unwrap_or_else(|e| panic!("{e}"));
        let copies = if kind.is_per_cpu() { 16 * cpus } else { 12 };
        let mut key = vec![0u8; key as usize];
        key[0] = 3;
        let mut written = vec![0u8; copies];
        written[5] = 77;
        m.update(&key, &written, 0).unwrap();
        assert_eq!(m.lookup(&key).unwrap(), written, "{kind:?}");
        let entries = m.entries().unwrap();
        assert!(entries.contains(&(key.clone(), written)), "{kind:?}");
        let expected = if matches!(kind, MapType::Array | MapType::PercpuArray) { 8 } else { 1 };
        assert_eq!(entries.len(), expected);
        let gone = m.delete(&key);
        assert_eq!(gone, if expected == 8 { Err(Errno::INVAL) } else { Ok(()) });
        assert_eq!(m.lookup(&key[1..]), Err(Errno::INVAL), "a key of another length");
    }
    for (kind, key, value, entries) in [
        (MapType::ProgArray, 4, 4, 8),
        (MapType::PerfEventArray, 4, 4, 0),
        (MapType::Devmap, 4, 8, 8),
        (MapType::DevmapHash, 4, 4, 8),
        (MapType::Cpumap, 4, 8, possible_cpus()),
        (MapType::Xskmap, 4, 4, 8),
        (MapType::Ringbuf, 0, 0, 4096),
    ] {
        KernelMap::create(&map("m", kind, key, value, entries), None).unwrap_or_else(|e| panic!("{e}"));
    }
    let inner = map("inner", MapType::Array, 4, 8, 2);
    for kind in [MapType::ArrayOfMaps, MapType::HashOfMaps] {
        let spec = MapSpec { inner: Some(Box::new(inner.clone())), ..map("outer", kind, 4, 4, 4) };
        let outer = KernelMap::create(&spec, None).unwrap();
        let held = KernelMap::create(&inner, None).unwrap();
        outer.update(&[1, 0, 0, 0], &held.fd().to_le_bytes(), 0).unwrap();
        assert_eq!(outer.entries().unwrap().len(), 1);
    }
}

#[test]
fn an_image_is_loaded_with_contents_inner_maps_and_program_arrays() {
    if skipped() {
        return;
    }
    let data = MapSpec {
        contents: Some(3u64.to_le_bytes().to_vec()),
        frozen: true,
        flags: map_flags::RDONLY_PROG,
        ..map(".rodata", MapType::Array, 4, 8, 1)
    };
    let tails =
        MapSpec { initial: vec![(2, Initial::Program("second".into()))], ..map("tails", MapType::ProgArray, 4, 4, 4) };
    let first = program("first", &[&wide(2, pseudo::MAP, 1, 0), &[i(0xb7, 3, 0, 0, 2), CALL_HELPER(12)], &RETURN(0)]);
    let second = program("second", &[&wide(1, pseudo::MAP_VALUE, 0, 0), &[i(0x79, 0, 1, 0, 0), i(EXIT, 0, 0, 0, 0)]]);
    let kernel = Kernel::load(&image(vec![first, second], vec![data, tails])).unwrap_or_else(|e| panic!("{e}"));
    let out = kernel.program("first").unwrap().test_run(&TestInput::frame(&[0; 60])).unwrap();
    assert_eq!(out.r0, 3, "through the tail call, from the frozen value");
    let rodata = kernel.map(".rodata").unwrap();
    assert_eq!(rodata.lookup(&[0; 4]).unwrap(), 3u64.to_le_bytes());
    assert_eq!(rodata.update(&[0; 4], &[0; 8], 0), Err(Errno::PERM));
}

#[test]
fn a_refusal_says_what_the_verifier_said() {
    if skipped() {
        return;
    }
    let e = KernelProgram::load(&program("bad", &[&[i(0xbf, 0, 5, 0, 0), i(EXIT, 0, 0, 0, 0)]]), &[], None, "GPL");
    let e = e.err().expect("r5 is not set");
    assert_eq!(e.errno, Errno(13));
    assert_eq!(e.reason(), "R5 !read_ok", "{e}");
    let unmade = program("unmade", &[&wide(1, pseudo::MAP, 3, 0), &RETURN(0)]);
    assert_eq!(KernelProgram::load(&unmade, &[], None, "GPL").err().unwrap().errno, Errno::INVAL);
    let functions = vec![Function { name: "f".into(), start: 0, btf_type: 0 }];
    let untyped = Program { functions, ..program("f", &[&RETURN(1)]) };
    KernelProgram::load(&untyped, &[], None, "GPL").expect("no types are needed without callbacks");
}

#[test]
fn ring_records_and_perf_events_arrive_in_order() {
    if skipped() {
        return;
    }
    let _pinned = Pinned::to(0).unwrap();
    // r10 - 8 holds the frame's length; it goes to the ring and, with 4 bytes of the packet, to perf.
    let write = program(
        "write",
        &[
            &[
                i(0xbf, 6, 1, 0, 0),
                i(0x61, 7, 1, 4, 0),
                i(0x61, 2, 1, 0, 0),
                i(0x1f, 7, 2, 0, 0),
                i(0x7b, 10, 7, -8, 0),
            ],
            &wide(1, pseudo::MAP, 0, 0),
            &[i(0xbf, 2, 10, 0, 0), i(0x07, 2, 0, 0, -8), i(0xb7, 3, 0, 0, 8), i(0xb7, 4, 0, 0, 0), CALL_HELPER(130)],
            &[i(0xbf, 1, 6, 0, 0)],
            &wide(2, pseudo::MAP, 1, 0),
            &wide(3, 0, -1, 4),
            &[i(0xbf, 4, 10, 0, 0), i(0x07, 4, 0, 0, -8), i(0xb7, 5, 0, 0, 8), CALL_HELPER(25)],
            &RETURN(2),
        ],
    );
    let maps = vec![map("ring", MapType::Ringbuf, 0, 0, 4096), map("perf", MapType::PerfEventArray, 4, 4, 0)];
    let kernel = Kernel::load(&image(vec![write], maps)).unwrap_or_else(|e| panic!("{e}"));
    let mut ring = RingReader::new(&kernel.maps[0]).unwrap();
    let mut perf = PerfReader::new(&kernel.maps[1], 0).unwrap();
    for round in 0..100u64 {
        for n in 14..20u64 {
            let frame: Vec<u8> = (0..n as u8).collect();
            kernel.programs[0].test_run(&TestInput::frame(&frame)).unwrap();
        }
        let want: Vec<Vec<u8>> = (14..20u64).map(|n| n.to_le_bytes().to_vec()).collect();
        assert_eq!(ring.take(), want, "round {round}");
        let got = perf.take();
        assert_eq!(got.len(), 6);
        for (n, event) in (14..20u64).zip(&got) {
            assert_eq!(event[..8], n.to_le_bytes());
            assert_eq!(event[8..12], [0, 1, 2, 3], "bytes of the packet");
        }
    }
    assert_eq!(perf.lost, 0);
}

#[test]
fn a_sandbox_has_its_own_interfaces_and_queues() {
    if skipped() {
        return;
    }
    let p = program(
        "both",
        &[&[i(0x61, 0, 1, 12, 0), i(0x61, 2, 1, 16, 0), i(0x67, 0, 0, 0, 8), i(0x4f, 0, 2, 0, 0), i(EXIT, 0, 0, 0, 0)]],
    );
    let p = KernelProgram::load(&p, &[], None, "GPL").unwrap();
    let run = |ifindex, queue| {
        p.test_run(&TestInput { frame: &[0; 60], metadata: &[], ifindex, queue }).map(|o| o.r0).map_err(|e| e.errno)
    };
    {
        let _sandbox = Sandbox::enter(8).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(run(0, 0), Ok(0x100));
        assert_eq!(run(5, QUEUES - 1), Ok(0x500 + QUEUES - 1));
        assert_eq!(run(8, QUEUES), Err(Errno::INVAL));
        assert_eq!(run(9, 0), Err(Errno::NODEV));
    }
    assert_eq!(run(0, 0), Ok(0x100), "back where the thread was");
}
