//! Corners where an interpreter may differ from the kernel: scripts of random operations on maps,
//! packets, rings and callbacks, run by both with state carried over.
//!
//! The programs are `objects/corners/*.c`; each runs a script that user space sets and writes the
//! result of each operation to a map. What is compared, and how, is docs/design/xdp-oracle.md.

use sluice_ebpf::image::Image;
use sluice_ebpf::insn::EXIT;
use sluice_ebpf::kernel::{Differential, MAX_FRAME, MAX_METADATA, MIN_FRAME, Pinned, Sandbox, TestInput, available};
use sluice_ebpf::{Insn, MapType, Program, Verdict, load};
use sluice_formats::random::{Rng, test_seed};

/// Opcode of a 64-bit immediate load.
const WIDE: u8 = 0x18;
/// Operations of a script.
const OPS: usize = 24;
/// Interfaces that packets come from.
const INTERFACES: u32 = 4;

fn image(name: &str) -> Image {
    let path = format!("{}/tests/objects/corners/{name}.o", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let image = load::load(&bytes).unwrap_or_else(|e| panic!("{path}: {e}"));
    assert!(image.refused.is_empty() && image.refused_maps.is_empty(), "{name}: {:?}", image.refused);
    image
}

/// A number that is often at an edge.
fn number(rng: &mut Rng) -> u32 {
    const EDGES: [u32; 10] = [0, 1, 2, 13, 14, 3520, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX];
    match rng.below(4) {
        0 => EDGES[rng.index(EDGES.len())],
        1 => rng.below(4096) as u32,
        2 => (rng.below(512) as u32).wrapping_sub(256),
        _ => rng.next_u32(),
    }
}

/// A script of operations 0 to `codes` - 1.
fn script(rng: &mut Rng, codes: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let keys = if rng.chance(1, 2) { 255 } else { 7 };
    for _ in 0..OPS {
        out.extend([rng.below(codes) as u8, rng.range(0, keys) as u8, rng.next_u32() as u8, rng.next_u32() as u8]);
        out.extend(number(rng).to_le_bytes());
    }
    out
}

fn frame(rng: &mut Rng) -> Vec<u8> {
    let length = match rng.below(6) {
        0 => MIN_FRAME,
        1 => MAX_FRAME,
        2 => MAX_FRAME - rng.index(40),
        3 => MIN_FRAME + rng.index(60),
        _ => rng.range(MIN_FRAME as u64, MAX_FRAME as u64) as usize,
    };
    rng.bytes(length)
}

/// What user space does between two packets.
type Between = fn(&mut Differential, &mut Rng);

/// Runs scripts of `codes` operations through one program, maps compared after every packet.
fn compare(object: &str, program: &str, codes: u64, packets: usize, between: Between) {
    if let Err(why) = available() {
        return println!("skipped: {why}");
    }
    let began = std::time::Instant::now();
    let _pinned = Pinned::to(0).expect("processor 0 is there");
    let _sandbox = match Sandbox::enter(INTERFACES) {
        Ok(sandbox) => sandbox,
        Err(e) => return println!("skipped: {e}"),
    };
    let mut image = image(object);
    if object == "split" {
        // As libbpf does with type information that the kernel refuses and no program needs.
        image.btf = None;
    }
    // Programs of program arrays stay, behind the one that is run.
    image.programs.sort_by_key(|p| p.name != program);
    image.programs.retain(|p| p.name == program || p.name.starts_with("tail"));
    assert_eq!(image.programs[0].name, program);
    let mut both = Differential::new(&image).unwrap_or_else(|e| panic!("{program}: {e}"));
    both.restore().unwrap_or_else(|e| panic!("{program}: {e}"));
    let seed = test_seed(program);
    let mut rng = Rng::new(seed);
    let to = both.map("script").expect("every object has it");
    for packet in 0..packets {
        between(&mut both, &mut rng);
        let ops = script(&mut rng, codes);
        both.set(to, &[0; 4], &ops, 0).unwrap_or_else(|e| panic!("{e}")).expect("an array takes its entry");
        let frame = frame(&mut rng);
        let metadata = rng.index(MAX_METADATA / 4 + 1) * 4 * rng.index(2);
        let metadata = rng.bytes(metadata);
        let (ifindex, queue) = (rng.range(0, INTERFACES.into()) as u32, rng.index(4) as u32);
        let queue = if ifindex < 2 { 0 } else { queue };
        let input = TestInput { frame: &frame, metadata: &metadata, ifindex, queue };
        let failed = |e| -> ! {
            let ops: Vec<String> = ops.chunks(8).enumerate().map(|(i, o)| format!("{i}: {o:?}")).collect();
            panic!("{program}, packet {packet}, seed {seed}: {e}\n{}", ops.join("\n"))
        };
        both.run(0, &input).unwrap_or_else(|e| failed(e));
        both.compare_maps().unwrap_or_else(|e| failed(e));
    }
    let hits = both.hits(0);
    let missed = hits.iter().filter(|h| **h == 0).count();
    println!(
        "{program:18} {packets} packets, {} slots, {missed} not executed, {:.1} s",
        hits.len(),
        began.elapsed().as_secs_f64()
    );
}

/// Any map of the object that takes entries from user space: sets, deletes.
fn entries(both: &mut Differential, rng: &mut Rng) {
    let maps = both.image().maps.clone();
    for _ in 0..rng.index(4) {
        let map = rng.index(maps.len());
        let spec = &maps[map];
        if matches!(spec.name.as_str(), "script" | "results") || spec.initial.len() + spec.inner.iter().count() > 0 {
            continue;
        }
        if spec.value_size == 0 {
            continue;
        }
        let mut key = vec![0; spec.key_size as usize];
        key[0] = rng.index(10) as u8;
        let size = spec.value_size as usize;
        // Numbers that the kernel knows too; its sockets are not there.
        let reference = match spec.kind {
            MapType::Xskmap | MapType::PerfEventArray => continue,
            MapType::Devmap | MapType::DevmapHash => Some(rng.below(u64::from(INTERFACES) + 1)),
            MapType::Cpumap => Some([0, 1, 192, 16384, 16385][rng.index(5)]),
            _ => None,
        };
        let value = if let Some(number) = reference {
            number.to_le_bytes()[..size].to_vec()
        } else if spec.kind.is_per_cpu() {
            let cpus = sluice_ebpf::kernel::possible_cpus() as usize;
            (0..cpus)
                .flat_map(|_| {
                    let mut v = rng.bytes(size);
                    v.resize(size.next_multiple_of(8), 0);
                    v
                })
                .collect()
        } else {
            rng.bytes(size)
        };
        let done = match rng.below(5) {
            0 => both.delete(map, &key).map(drop),
            1 => both.get(map, &key).map(drop),
            _ => {
                let flags = rng.below(6);
                both.set(map, &key, &value, flags).map(drop)
            }
        };
        done.unwrap_or_else(|e| panic!("{e}"));
    }
}

fn nothing(_: &mut Differential, _: &mut Rng) {}

/// Exchanges the programs of the program array, so that no more than eight frames are in use.
fn programs(both: &mut Differential, rng: &mut Rng) {
    let targets = both.map("targets").expect("it is there");
    match rng.below(6) {
        0 => both.delete(targets, &(rng.index(6) as u32).to_le_bytes()),
        1 => both.set_program(targets, &(rng.index(6) as u32).to_le_bytes(), "tail_short"),
        2 => both.set_program(targets, &(rng.index(6) as u32).to_le_bytes(), "tail_long"),
        3 => both.set_program(targets, &(rng.index(2) as u32 + 3).to_le_bytes(), "tail_again"),
        _ => Ok(Ok(())),
    }
    .map(drop)
    .unwrap_or_else(|e| panic!("{e}"));
}

/// Exchanges the maps in both maps of maps, with ones that fit and ones that do not.
fn inner_maps(both: &mut Differential, rng: &mut Rng) {
    for _ in 0..rng.index(3) {
        let outer = both.map(["by_index", "by_key"][rng.index(2)]).expect("it is there");
        let key = (rng.index(6) as u32).to_le_bytes();
        if rng.chance(1, 4) {
            both.delete(outer, &key).map(drop)
        } else {
            let all = ["h0", "h1", "h2", "h3", "h4", "a0", "a1", "a2", "a3", "by_key"];
            let inner = both.map(all[rng.index(all.len())]).expect("it is there");
            both.set_inner(outer, &key, inner).map(drop)
        }
        .unwrap_or_else(|e| panic!("{e}"));
    }
    entries(both, rng);
}

/// The same with maps of five kinds.
fn nested_maps(both: &mut Differential, rng: &mut Rng) {
    let all = ["lru0", "lru1", "trie0", "trie1", "ring0", "ring1", "cpus0", "cpus1", "lens0", "lens1", "lens2"];
    if rng.chance(1, 3) {
        let outer = both.map(["lrus", "tries", "rings", "counts", "lengths"][rng.index(5)]).expect("it is there");
        let inner = both.map(all[rng.index(all.len())]).expect("it is there");
        let key = (rng.index(4) as u32).to_le_bytes();
        both.set_inner(outer, &key, inner).map(drop).unwrap_or_else(|e| panic!("{e}"));
    }
    entries(both, rng);
}

#[test]
fn the_verdict_is_the_lower_half_of_r0() {
    if let Err(why) = available() {
        return println!("skipped: {why}");
    }
    let _pinned = Pinned::to(0).expect("processor 0 is there");
    let mut rng = Rng::new(test_seed("verdict"));
    let edges = [0, 1, 2, 3, 4, 5, 6, 1 << 31, 1 << 32, 1 << 63, u64::MAX, u64::MAX - 1];
    let garbage: Vec<u64> = (0..20).map(|n| rng.next_u64() << 32 | n).collect();
    for r0 in edges.into_iter().chain(garbage) {
        let (lower, upper) = (r0 as u32 as i32, (r0 >> 32) as i32);
        let load = [Insn { op: WIDE, imm: lower, ..Insn::default() }, Insn { imm: upper, ..Insn::default() }];
        let insns = load.into_iter().chain([Insn { op: EXIT, ..Insn::default() }]).collect();
        let program = Program::from_insns("verdict", insns);
        let image = Image { programs: vec![program], license: "GPL".into(), ..Image::default() };
        let mut both = Differential::new(&image).unwrap_or_else(|e| panic!("{e}"));
        let outcome = both.run(0, &TestInput::frame(&[0; MIN_FRAME])).unwrap_or_else(|e| panic!("{e}"));
        let verdicts = [Verdict::Aborted, Verdict::Drop, Verdict::Pass, Verdict::Tx, Verdict::Redirect];
        let expected = verdicts.get(r0 as u32 as usize).copied().unwrap_or(Verdict::Aborted);
        assert_eq!((outcome.r0, outcome.verdict), (r0, expected), "{r0:#x}");
    }
}

macro_rules! corners {
    ($($test:ident: $object:literal $program:literal $codes:literal $packets:literal $between:ident;)*) => {$(
        #[test]
        fn $test() {
            compare($object, $program, $codes, $packets, $between);
        }
    )*};
}

corners! {
    pointers_kept_over_changes_of_a_hash_map: "stale" "stale_hash" 13 1000 entries;
    pointers_kept_over_changes_of_an_array: "stale" "stale_array" 13 300 entries;
    pointers_kept_over_changes_of_a_per_cpu_hash_map: "stale" "stale_percpu_hash" 13 500 entries;
    pointers_kept_over_changes_of_a_per_cpu_array: "stale" "stale_percpu_array" 13 300 entries;
    pointers_kept_over_changes_with_odd_sizes: "stale" "stale_odd" 13 1000 entries;
    pointers_kept_over_changes_of_a_map_of_one_entry: "stale" "stale_one" 13 1000 entries;
    a_map_without_preallocation_that_is_full: "stale" "churn_lazy" 9 500 entries;
    an_lru_map_below_its_capacity: "stale" "churn_lru" 9 500 entries;
    redirects_by_every_kind_of_map: "jumps" "redirects" 10 2000 entries;
    tail_calls_from_functions_with_stack: "jumps" "dispatch" 6 1000 programs;
    variables_that_the_compiler_took_apart: "split" "split" 5 300 nothing;
    thousands_of_instructions: "long" "hashes" 1 300 nothing;
    prefixes_of_4_bytes: "prefixes" "trie4" 9 1000 entries;
    prefixes_of_16_bytes: "prefixes" "trie16" 9 1000 entries;
    prefixes_of_1_byte: "prefixes" "trie1" 9 500 entries;
    prefixes_of_3_bytes: "prefixes" "trie3" 9 1000 entries;
    prefixes_of_9_bytes: "prefixes" "trie9" 9 1000 entries;
    head_tail_and_metadata_in_any_order: "moves" "moves" 12 3000 nothing;
    head_tail_and_metadata_of_programs_that_take_fragments: "moves.v2" "moves" 12 3000 nothing;
    packet_pointers_on_the_stack: "moves" "spilled" 1 1000 nothing;
    ring_buffers_with_records_outstanding: "rings" "rings" 12 2000 nothing;
    callbacks_in_callbacks: "rounds" "rounds" 10 250 entries;
    as_many_rounds_as_there_can_be: "rounds" "most" 1 1 nothing;
    maps_in_maps_that_are_exchanged: "inner" "inner" 10 500 inner_maps;
    maps_of_maps_of_other_kinds: "nested" "nested" 12 400 nested_maps;
    functions_and_memory_handed_through_frames: "functions" "functions" 19 1500 entries;
    values_with_locks: "state" "locks" 9 1000 entries;
    copies_of_processors: "state" "copies" 11 1000 entries;
    atomics_of_all_widths: "state" "atomics" 15 1000 entries;
    data_sections_and_arithmetic: "state" "globals" 13 1000 nothing;
}
