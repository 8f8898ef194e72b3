//! Program Warping in the bundle model: what the interpreter does from the first instruction on.

use crate::support::{LOOP, Replay, Twins, fill, image, objects, scripts, steps, target};
use sluice_ebpf::Image;
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_hxdp::Stored;
use sluice_hxdp::warp::tree::Tree;
use sluice_hxdp::warp::walk::{End, Why};
use sluice_hxdp::warp::witness::witness;
use sluice_hxdp::warp::{Action, Leaf, warp};
use sluice_hxdp::{Trace, compile};
use std::path::Path;

/// The leaves of a shipped program: what each does, and where its path ends.
fn leaves(name: &str) -> Vec<Leaf> {
    let object = objects().into_iter().find(|object| object.file_stem().is_some_and(|stem| stem == name)).unwrap();
    let image = image(&object);
    let plain = compile(&image, &image.programs[0], &target(2)).unwrap();
    warp(&image, 0, &plain, &target(2)).unwrap().table.leaves
}

#[test]
fn a_filter_by_header_needs_no_core_but_behind_its_lookup() {
    let leaves = leaves("flow_filter");
    let verdicts = leaves.iter().filter(|leaf| leaf.action == Action::Verdict { r0: 2, counts: vec![] }).count();
    assert_eq!((leaves.len(), verdicts), (7, 5), "{leaves:#?}");
    for leaf in &leaves[..2] {
        // Its flows are a per-CPU map, and a packet has no processor yet: what is found has code of its own, which goes on to the processor's copy.
        let Action::Resume { missed, entry, .. } = &leaf.action else { panic!("{leaf:#?}") };
        assert!(missed.is_some() && entry.lookup.is_some(), "{leaf:#?}");
        assert!(matches!(leaf.end, End::Cut { why: Why::Call, .. }));
    }
}

#[test]
fn a_lookup_is_made_before_a_core_has_the_packet() {
    let looks_up = |leaf: &Leaf| matches!(&leaf.action, Action::Resume { entry, .. } if entry.lookup.as_ref().is_some_and(|lookup| lookup.bytes == 8));
    let leaves = leaves("mac_gate");
    assert!(leaves.iter().any(looks_up), "{leaves:#?}");
}

#[test]
fn counting_is_no_reason_for_a_core() {
    let leaves = leaves("router_basic");
    let counted = |leaf: &Leaf| matches!(&leaf.action, Action::Verdict { counts, .. } if counts.len() == 1);
    assert_eq!(leaves.iter().filter(|leaf| counted(leaf)).count(), 6, "{leaves:#?}");
}

#[test]
fn a_leaf_that_saves_nothing_is_plain() {
    // What comes first in it is decided by a value of a map.
    assert!(leaves("redirect_map").iter().all(|leaf| !matches!(leaf.action, Action::Resume { .. })));
}

#[test]
fn scripts_do_the_same_with_tables_and_no_packet_has_more_issues() {
    let passes =
        |(trace, _): &(Trace, u64)| trace.issues.len() + trace.issues.iter().filter(|issue| issue.twice).count();
    let (mut better, mut all) = (0, 0);
    for script in scripts() {
        for steps in steps::steps(&script) {
            let [plain, warped] = [Replay::record, Replay::warped].map(|play| play(&steps, &target(2)).traces);
            for ((object, plain), (_, warped)) in plain.iter().zip(&warped) {
                assert_eq!(plain.len(), warped.len(), "{}", object.display());
                for (number, (plain, warped)) in plain.iter().zip(warped).enumerate() {
                    let (before, after) = (passes(plain), passes(warped));
                    assert!(
                        after <= before,
                        "{}, packet {number}: {before} issues, {after} with its table",
                        object.display()
                    );
                    better += usize::from(after < before);
                    all += 1;
                }
            }
        }
    }
    println!("{better} of {all} packets have fewer issues");
    assert!(better * 2 > all, "{better} of {all} packets have fewer issues");
}

#[test]
fn at_the_limit_on_work_nothing_changes() {
    let program = sluice_ebpf::insn::assemble("loop", LOOP, &[]).unwrap();
    let image = Image { programs: vec![program], ..Image::default() };
    for limit in 0..6 {
        let mut twins = Twins::warped_at(image.clone(), &target(2), Some(limit)).unwrap();
        let mut faults = 0;
        for rounds in 0..8 {
            let mut frame = vec![0; 64];
            frame[14] = rounds;
            let outcome =
                twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 }).unwrap_or_else(|e| panic!("{limit}: {e}"));
            faults += usize::from(outcome.fault.is_some());
        }
        assert_eq!(faults, 7usize.saturating_sub(limit as usize + 1), "at the limit {limit}");
    }
}

/// Packets of a leaf in CI, and of each test that is off by a little.
const PACKETS: usize = 40;

#[test]
fn a_key_outside_of_frame_or_stack_is_the_cores_fault_to_tell() {
    // Tests that the kernel's verifier would ask for are missing.
    for key in ["r2 = *(u32 *)(r1 +0)", "r2 = r10\n    r2 += -4", "r2 = r10", "r2 = r10\n    r2 += -516"] {
        let text = format!(
            "{key}
            r1 = map[flows]
            call bpf_map_lookup_elem
            r0 = 2
            exit"
        );
        let program = sluice_ebpf::insn::assemble("outside", &text, &["flows"]).unwrap();
        let flows = sluice_ebpf::MapSpec::new("flows", sluice_ebpf::MapType::Hash, 8, 8, 16);
        let image = Image { programs: vec![program], maps: vec![flows], ..Image::default() };
        let mut twins = Twins::warped(image, &target(2)).unwrap();
        for bytes in [1, 7, 8, 64] {
            let outcome = twins.run(0, &vec![0; bytes], Ingress { ifindex: 1, queue: 0 });
            let outcome = outcome.unwrap_or_else(|e| panic!("{key}, {bytes} bytes: {e}"));
            assert_eq!(outcome.fault.is_some(), !key.contains("(r1 +0)") || bytes < 8, "{key}, {bytes} bytes");
        }
    }
}

#[test]
fn a_length_behind_a_helper_that_moves_the_end_is_the_new_one() {
    let text = "r6 = r1
        r2 = *(u32 *)(r1 +0)
        r3 = *(u32 *)(r1 +4)
        r4 = r2
        r4 += 34
        if r4 > r3 goto out
        r5 = *(u8 *)(r2 +20)
        if w5 != 0 goto out
        r2 = -20
        call bpf_xdp_adjust_tail
        if r0 != 0 goto out
        r2 = *(u32 *)(r6 +0)
        r3 = *(u32 *)(r6 +4)
        r3 -= r2
        r4 = r2
        r4 += 4
        r7 = *(u32 *)(r6 +4)
        if r4 > r7 goto out
        *(u32 *)(r2 +0) = r3
        r0 = 3
        exit
    out:
        r0 = 1
        exit";
    let program = sluice_ebpf::insn::assemble("shorter", text, &[]).unwrap();
    let image = Image { programs: vec![program], ..Image::default() };
    let mut twins = Twins::warped(image, &target(2)).unwrap();
    for bytes in [34, 60, 64, 100] {
        let outcome = twins.run(0, &vec![0; bytes], Ingress { ifindex: 1, queue: 0 });
        let outcome = outcome.unwrap_or_else(|e| panic!("{bytes} bytes: {e}"));
        assert_eq!(outcome.verdict, sluice_ebpf::Verdict::Tx, "{bytes} bytes");
    }
}

/// Packets, leaves that had one, and leaves.
type Played = (usize, usize, usize);

/// Packets of every leaf of an object's programs, half of them a little off.
fn play(object: &Path, image: &Image, rounds: usize, rng: &mut Rng) -> Result<Played, String> {
    let (mut packets, mut hit, mut leaves) = (0, 0, 0);
    for program in 0..image.programs.len() {
        let tree = Tree::of(image, &image.programs[program], &Stored::default());
        let mut twins = Twins::warped(image.clone(), &target(2)).map_err(|e| e.to_string())?;
        fill(&mut twins, rng);
        for (_, tests) in tree.leaves() {
            leaves += 1;
            let mut some = false;
            for _ in 0..rounds {
                let Some((mut frame, ingress)) = witness(&tests, rng) else { continue };
                some = true;
                if rng.chance(1, 2) {
                    near(&mut frame, rng);
                }
                packets += 1;
                let ran = twins.run(program, &frame, ingress);
                ran.unwrap_or_else(|e| panic!("{}, {tests:?}, {frame:02x?}: {e}", object.display()));
            }
            hit += usize::from(some);
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{}: {e}", object.display()));
    }
    Ok((packets, hit, leaves))
}

#[test]
fn witnesses_of_every_leaf_are_the_same_as_interpreted() {
    let mut rng = Rng::new(test_seed("witnesses"));
    let rounds = if test_is_long() { 100 * PACKETS } else { PACKETS };
    let mut all = (0, 0, 0);
    for object in objects() {
        let played = play(&object, &image(&object), rounds, &mut rng);
        let (packets, hit, leaves) = played.unwrap_or_else(|e| panic!("{}: {e}", object.display()));
        all = (all.0 + packets, all.1 + hit, all.2 + leaves);
    }
    println!("{} packets, {} of {} leaves", all.0, all.1, all.2);
    assert!(all.1 * 10 > all.2 * 9, "{} of {} leaves have a packet", all.1, all.2);
}

/// `SLUICE_XDP_OBJECTS`: a folder with objects of others. What the loader or compiler refuses is left out.
#[test]
fn witnesses_of_objects_of_others_are_the_same_too() {
    let Some(folder) = std::env::var_os("SLUICE_XDP_OBJECTS") else { return };
    let mut rng = Rng::new(test_seed("witnesses_of_others"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let object = entry.unwrap().path();
        let Ok(mut image) = sluice_ebpf::load::load(&std::fs::read(&object).unwrap()) else { continue };
        for map in &mut image.maps {
            map.max_entries = map.max_entries.clamp(1, 4096);
            if let Some(inner) = &mut map.inner {
                inner.max_entries = inner.max_entries.clamp(1, 4096);
            }
        }
        if sluice_ebpf::Runtime::new(2, 7).install_unchecked(&image, &|_| None).is_err() {
            continue;
        }
        let began = std::time::Instant::now();
        let played = play(&object, &image, 25 * PACKETS, &mut rng);
        println!("{}: {played:?} in {:.1?}", object.display(), began.elapsed());
    }
}

fn near(frame: &mut Vec<u8>, rng: &mut Rng) {
    match rng.index(3) {
        0 => frame.truncate(rng.index(frame.len()).max(1)),
        1 => {
            let at = rng.index(frame.len().min(64));
            frame[at] ^= 1 << rng.index(8);
        }
        _ => {
            let at = rng.index(frame.len().min(64));
            frame[at] = frame[at].wrapping_add(if rng.chance(1, 2) { 1 } else { 255 });
        }
    }
}
