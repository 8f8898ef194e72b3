//! The region analysis against the interpreter: no run leaves what is claimed.

use crate::analysis_support::checker::Checked;
use crate::analysis_support::{packets, programs};
use sluice_ebpf::analysis::analyze;
use sluice_ebpf::validate::{Options, validate_program};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Packet, load};
use sluice_formats::random::{Rng, test_seed};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Least share of the shipped programs' accesses whose region (and map) is known.
const KNOWN_PERCENT: usize = 98;
/// Least share of them that is proven in bounds.
const PROVEN_PERCENT: usize = 90;

fn objects(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            objects(&path, out);
        } else if path.extension().is_some_and(|e| e == "o") {
            out.push(path);
        }
    }
    out.sort();
}

/// Every shipped program.
fn shipped() -> Vec<(String, Image)> {
    let mut paths = Vec::new();
    objects(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp"), &mut paths);
    assert!(!paths.is_empty(), "no objects under programs/xdp");
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let mut image = load::load(&std::fs::read(&path).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
            for map in image.maps.iter_mut().filter(|m| m.max_entries == 0) {
                map.max_entries = 64;
            }
            (name, image)
        })
        .collect()
}

/// Puts entries into every map, with keys and values of few different bytes.
fn fill(checked: &mut Checked<'_>, image: &Image, rng: &mut Rng) {
    for (index, spec) in image.maps.iter().enumerate() {
        let Some(map) = checked.runtime.map(checked.installed, index) else { continue };
        for entry in 0..16u32 {
            let few = |rng: &mut Rng, n: u32| -> Vec<u8> {
                (0..n).map(|_| [0, 0, 0, 1, 2, 10, 80, 255][rng.index(8)]).collect()
            };
            let mut key = few(rng, spec.key_size);
            if spec.key_size == 4 && rng.chance(3, 4) {
                key = entry.to_le_bytes().to_vec();
            }
            let bytes = if spec.kind.is_per_cpu() { spec.value_size.next_multiple_of(8) * 2 } else { spec.value_size };
            // What a map does not take is not there.
            let _ = checked.runtime.maps.user_update(map, &key, &few(rng, bytes), 0);
        }
    }
}

#[test]
fn shipped_programs_never_leave_their_claims_and_their_accesses_are_known() {
    let mut rng = Rng::new(test_seed("analysis_shipped"));
    println!(
        "{:<28}{:>7}{:>7}{:>7}{:>8}{:>8}{:>8}{:>8}{:>10}{:>12}",
        "program", "slots", "run %", "acc.", "region%", "offset%", "bounds%", "serial", "us", "checks"
    );
    let (mut accesses, mut all_known, mut proven) = (0, 0, 0);
    for (object, image) in shipped() {
        let mut checked = Checked::new(&image, rng.next_u64());
        fill(&mut checked, &image, &mut rng);
        for (number, program) in image.programs.iter().enumerate() {
            let start = Instant::now();
            analyze(&image, program);
            let time = start.elapsed().as_micros();
            let before = checked.checks();
            for _ in 0..200 {
                let mut packet = Packet::new(&packets::frame(&mut rng));
                let ingress = Ingress { ifindex: rng.below(4) as u32, queue: rng.below(4) as u32 };
                checked.runtime.world.now_ns += rng.below(1 << 32);
                checked.run(number, &mut packet, ingress).unwrap_or_else(|e| panic!("{object} {}: {e}", program.name));
            }
            let regions = &checked.regions[number];
            let s = &regions.summary;
            assert!(regions.complete, "{object} {}", program.name);
            let of = |n: usize| 100 * n / (s.accesses as usize).max(1);
            let known = s.accesses as usize - s.unknown.len();
            let bounded =
                regions.slots.iter().filter_map(|a| a.access.as_ref()).filter(|a| a.offsets().is_some()).count();
            let inside = s.accesses as usize - s.unproven.len();
            println!(
                "{:<28}{:>7}{:>7}{:>7}{:>8}{:>8}{:>8}{:>8}{:>10}{:>12}",
                format!("{object}:{}", program.name),
                program.insns.len(),
                100 * checked.executed(number as u32) / s.reached.max(1) as usize,
                s.accesses,
                of(known),
                of(bounded),
                of(inside),
                s.flow_serial,
                time,
                checked.checks() - before,
            );
            if !s.unknown.is_empty() || !s.unproven.is_empty() {
                println!("    unknown {:?}, unproven {:?}", s.unknown, s.unproven);
            }
            all_known += known;
            accesses += s.accesses as usize;
            proven += inside;
        }
    }
    println!("{accesses} accesses: {all_known} in a known region, {proven} proven in bounds");
    assert!(all_known * 100 >= accesses * KNOWN_PERCENT, "{all_known} of {accesses} in a known region");
    assert!(proven * 100 >= accesses * PROVEN_PERCENT, "{proven} of {accesses} proven in bounds");
}

#[test]
fn random_programs_never_leave_their_claims() {
    let mut rng = Rng::new(test_seed("analysis_random"));
    let (mut valid, mut checks, mut faults, mut runs) = (0, 0, 0, 0);
    let (mut known, mut proven, mut accesses) = (0, 0, 0);
    for round in 0..1500 {
        let mut own = rng.fork();
        let mut own_copy = own.clone();
        let image = programs::random(&mut own, 3 + round % 40);
        if validate_program(&image.programs[0], &image.maps, Options { unreachable: true }).is_err() {
            continue;
        }
        valid += 1;
        let mut checked = Checked::new(&image, rng.next_u64());
        assert!(checked.regions[0].complete);
        for _ in 0..8 {
            let mut packet = Packet::new(&packets::frame(&mut rng));
            let ingress = Ingress { ifindex: 1, queue: 0 };
            match checked.run(0, &mut packet, ingress) {
                Ok(outcome) => faults += u32::from(outcome.fault.is_some()),
                Err(e) => panic!(
                    "round {round}: {e}\n{}",
                    sluice_ebpf::insn::listing(
                        &programs::random(&mut own_copy, 3 + round % 40).programs[0],
                        &image.maps
                    )
                ),
            }
            runs += 1;
        }
        checks += checked.checks();
        let s = &checked.regions[0].summary;
        accesses += s.accesses as usize;
        known += s.accesses as usize - s.unknown.len();
        proven += s.accesses as usize - s.unproven.len();
    }
    println!("{valid} programs, {runs} runs, {faults} faults, {checks} checks");
    println!("{accesses} accesses, {known} known, {proven} proven");
    assert!(valid > 1000, "{valid}");
    assert!(faults * 2 < runs, "{faults} of {runs} runs fault");
}

#[test]
fn the_analysis_of_huge_programs_ends_soon() {
    let mut rng = Rng::new(test_seed("analysis_huge"));
    for statements in [400, 1200] {
        let image = programs::random(&mut rng, statements);
        let start = Instant::now();
        let regions = analyze(&image, &image.programs[0]);
        let time = start.elapsed();
        println!(
            "{} slots: {time:?}, {} steps, complete: {}",
            image.programs[0].insns.len(),
            regions.steps,
            regions.complete
        );
        assert!(time < Duration::from_secs(20));
    }
    // Ten thousand slots that are all reached: diamonds over spills in a loop.
    let mut text = String::from("r6 = r1\nr7 = *(u32 *)(r1 +12)\nagain:\n");
    for i in 0..2000 {
        let slot = 8 * (1 + i % 60);
        text += &format!("r7 += {i}\nif r7 > {} goto l{i}\n*(u64 *)(r10 -{slot}) = r7\n", i * 37 % 5000);
        text += &format!("l{i}:\nr8 = *(u64 *)(r10 -{slot})\nr7 ^= r8\n");
    }
    text += "if r7 > 9 goto done\ngotol again\ndone:\nr0 = 1\nexit\n";
    let program = sluice_ebpf::insn::assemble("huge", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let image = Image { programs: vec![program], ..Image::default() };
    let start = Instant::now();
    let regions = analyze(&image, &image.programs[0]);
    let (time, slots) = (start.elapsed(), image.programs[0].insns.len());
    println!("{slots} slots, all reached: {time:?}, {} steps, complete: {}", regions.steps, regions.complete);
    assert!(regions.complete && regions.summary.dead.is_empty());
    assert!(time < Duration::from_secs(20));
}

/// Runs a program with a map `values` (array, 24 bytes, 1 entry) on some frames, and gives its claims.
fn assembled(text: &str) -> sluice_ebpf::analysis::Regions {
    let program = sluice_ebpf::insn::assemble("test", text, &["values"]).unwrap_or_else(|e| panic!("{e}"));
    let maps = vec![programs::map("values", sluice_ebpf::MapType::Array, 24, 1)];
    let image = Image { programs: vec![program], maps, ..Image::default() };
    let mut checked = Checked::new(&image, 1);
    for bytes in [14, 15, 16, 33, 34, 35, 64, 1500, 9000] {
        let frame: Vec<u8> = (0..bytes).map(|i| (i * 7) as u8).collect();
        let ingress = Ingress { ifindex: 1, queue: 0 };
        checked.run(0, &mut Packet::new(&frame), ingress).unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
    checked.regions.remove(0)
}

#[test]
fn a_checked_packet_access_is_proven_and_one_byte_further_is_not() {
    for (offset, proven) in [(12, true), (13, false), (-1, false)] {
        let sign = if offset < 0 { "" } else { "+" };
        let r = assembled(&format!(
            "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 14\nif r4 > r3 goto out\n\
             r5 = *(u16 *)(r2 {sign}{offset})\nout:\nr0 = 1\nexit"
        ));
        let access = r.slots[5].access.as_ref().unwrap();
        assert_eq!(access.in_bounds, proven, "{offset}");
        assert_eq!(access.offsets(), Some((offset, offset)));
    }
}

#[test]
fn packet_addresses_are_stale_after_the_packet_moved() {
    let r = assembled(
        "r6 = r1\nr2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr7 = r2\nr2 += 14\nif r2 > r3 goto out\n\
         r1 = r6\nr2 = 4\ncall bpf_xdp_adjust_head#44\nr5 = *(u8 *)(r7 +0)\nout:\nr0 = 1\nexit",
    );
    assert!(!r.slots[9].access.as_ref().unwrap().in_bounds);
}

#[test]
fn what_was_proven_of_the_packet_does_not_outlive_its_move() {
    let r = assembled(
        "r6 = r1\nr2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr2 += 34\nif r2 > r3 goto out\n\
         r1 = r6\nr2 = -20\ncall bpf_xdp_adjust_tail#65\nr2 = *(u32 *)(r6 +0)\nr5 = *(u8 *)(r2 +33)\n\
         out:\nr0 = 1\nexit",
    );
    assert!(!r.slots[9].access.as_ref().unwrap().in_bounds);
}

#[test]
fn an_index_that_was_checked_stays_in_the_value() {
    let text = |last: u32| {
        format!(
            "r6 = *(u32 *)(r1 +12)\nr1 = 0\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -4\nr1 = map[values]\n\
             call bpf_map_lookup_elem#1\nif r0 == 0 goto out\nif r6 > {last} goto out\nr0 += r6\nr1 = *(u64 *)(r0 +0)\nout:\nr0 = 1\nexit"
        )
    };
    let access =
        |r: sluice_ebpf::analysis::Regions| r.slots.iter().filter_map(|s| s.access.clone()).next_back().unwrap();
    assert!(access(assembled(&text(16))).in_bounds);
    let further = access(assembled(&text(17)));
    assert!(!further.in_bounds && further.map.is_none());
}

#[test]
fn the_least_number_of_all_is_compared_without_an_overflow() {
    for condition in ["r1 > r2", "r2 > r1", "r1 == r2", "r1 s< r2"] {
        let r = assembled(&format!(
            "r1 = 0x8000000000000000\nr2 = 0x8000000000000000\nif {condition} goto out\nr0 = 1\nout:\nr0 = 1\nexit"
        ));
        assert!(r.complete, "{condition}");
    }
}

#[test]
fn a_loop_over_the_packet_is_proven_where_it_is_checked() {
    let r = assembled(
        "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr0 = 0\nagain:\nr4 = r2\nr4 += 2\nif r4 > r3 goto out\n\
         r5 = *(u8 *)(r2 +1)\nr5 &= 7\nr5 += 2\nr2 += r5\nr0 += 1\nif r0 != 8 goto again\nout:\nr0 = 1\nexit",
    );
    let access = r.slots[6].access.as_ref().unwrap();
    assert!(access.in_bounds && access.region.is_some(), "{access:?}");
    assert_eq!(r.summary.loops, [(11, 3)]);
}

#[test]
fn a_plain_count_in_a_shared_value_is_flow_serial_and_an_atomic_one_is_not() {
    let text = |count: &str| {
        format!(
            "r1 = 0\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -4\nr1 = map[values]\ncall bpf_map_lookup_elem#1\nif r0 == 0 goto out\n\
             {count}\nout:\nr0 = 1\nexit"
        )
    };
    let plain = assembled(&text("r1 = *(u64 *)(r0 +0)\nr1 += 1\n*(u64 *)(r0 +0) = r1"));
    assert!(plain.summary.flow_serial);
    let atomic = assembled(&text("r1 = 1\nlock *(u64 *)(r0 +0) += r1"));
    assert!(!atomic.summary.flow_serial);
}

#[test]
fn fuzz_analysis_of_damaged_programs() {
    let mut rng = Rng::new(test_seed("analysis_fuzz"));
    let start = Instant::now();
    let (mut programs_seen, mut worst) = (0, Duration::ZERO);
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    while start.elapsed() < Duration::from_secs(seconds) {
        let mut image = programs::random(&mut rng, 20);
        // Whatever jumps where: the analysis needs no more than slots.
        for _ in 0..rng.below(20) {
            let insns = &mut image.programs[0].insns;
            let at = rng.index(insns.len());
            let mut bytes = insns[at].to_bytes();
            bytes[rng.index(8)] = rng.next_u32() as u8;
            insns[at] = sluice_ebpf::Insn::from_bytes(bytes);
        }
        let before = Instant::now();
        let regions = analyze(&image, &image.programs[0]);
        serde_json::to_string(&regions).unwrap();
        worst = worst.max(before.elapsed());
        programs_seen += 1;
    }
    println!("fuzz: {programs_seen} inputs, longest {worst:?}");
}
