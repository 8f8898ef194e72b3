//! Tables for a NIC: of the size that it has, and so that nothing is lost beside its cores.

use crate::support::{Twins, image, objects, target};
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapSpec, MapType};
use sluice_formats::xdp::codes::XdpWarpKind;
use sluice_hxdp::rows::compiler;
use sluice_hxdp::warp::walk::{End, Why};
use sluice_hxdp::warp::{Action, Leaf, Table, warp};
use sluice_hxdp::{Stored, compile};
use sluice_object::{Xdp, XdpMap, XdpProgram, XdpWarpRoom};

const TINY: XdpWarpRoom = XdpWarpRoom { rules: 16, steps: 32 };

fn table(image: &Image, room: Option<XdpWarpRoom>) -> Table {
    let target = room.map_or(target(2), |room| target(2).with_warp(room));
    let plain = compile(image, &image.programs[0], &target).unwrap();
    warp(image, 0, &plain, &target).unwrap().table
}

fn steps(leaves: &[Leaf]) -> usize {
    let of = |leaf: &Leaf| match &leaf.action {
        Action::Resume { entry, .. } => entry.steps(),
        _ => 0,
    };
    leaves.iter().map(of).sum()
}

#[test]
fn a_smaller_engine_has_the_leaves_that_save_most() {
    let (mut less, mut all) = (0, 0);
    for object in objects() {
        let image = image(&object);
        let [whole, small] = [None, Some(TINY)].map(|room| table(&image, room).leaves);
        assert!(small.len() <= 16 && steps(&small) <= 32, "{}: {} leaves", object.display(), small.len());
        less += usize::from(small.len() < whole.len() || steps(&small) < steps(&whole));
        // What fits stays as it is.
        if whole.len() <= 16 && steps(&whole) <= 32 {
            assert_eq!(small, whole, "{}", object.display());
            all += 1;
        }
    }
    assert!(less >= 3 && all >= 10, "{less} with less, {all} with all");
}

#[test]
fn no_leaf_gives_r5() {
    let mut resumed = 0;
    for object in objects() {
        for leaf in table(&image(&object), None).leaves {
            let Action::Resume { entry, .. } = leaf.action else { continue };
            assert!(entry.registers.iter().all(|(r, _)| *r != 5), "{}: {:?}", object.display(), entry.registers);
            resumed += 1;
        }
    }
    assert!(resumed > 100, "{resumed}");
    // A fifth argument is read in r5 and nowhere else.
    let text = "r2 = *(u32 *)(r1 +0)
        r3 = *(u32 *)(r1 +4)
        r4 = r2
        r4 += 34
        if r4 > r3 goto out
        r5 = *(u8 *)(r2 +20)
        r6 = *(u8 *)(r2 +21)
        r6 <<= 8
        r5 |= r6
        r3 = r2
        r3 += 4
        r1 = 0
        r2 = 0
        r4 = 8
        call bpf_csum_diff
        exit
    out:
        r0 = 1
        exit";
    let image = Image { programs: vec![assemble("sums", text, &[]).unwrap()], ..Image::default() };
    let leaves = table(&image, None).leaves;
    let resumes = leaves.iter().filter_map(|leaf| match &leaf.action {
        Action::Resume { entry, .. } => Some(entry),
        _ => None,
    });
    let entries: Vec<_> = resumes.collect();
    assert!(!entries.is_empty(), "{leaves:#?}");
    assert!(entries.iter().all(|entry| entry.registers.iter().all(|(r, _)| *r != 5)), "{entries:#?}");
    let mut twins = Twins::warped(image, &target(2)).unwrap();
    for seed in 0..64 {
        let frame: Vec<u8> = (0..64u8).map(|at| at.wrapping_mul(7) ^ seed).collect();
        twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 }).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// A program that counts packets of IPv4 in `counts`, and does something else of others.
fn counting(other: &str) -> Image {
    let text = format!(
        "r2 = *(u32 *)(r1 +0)
        r3 = *(u32 *)(r1 +4)
        r6 = 0
        *(u32 *)(r10 -4) = r6
        r4 = r2
        r4 += 34
        if r4 > r3 goto out
        r6 = *(u16 *)(r2 +12)
        r7 = *(u8 *)(r2 +20)
        if r6 != 8 goto other
        r2 = r10
        r2 += -4
        r1 = map[counts]
        call bpf_map_lookup_elem
        if r0 == 0 goto out
        r1 = *(u64 *)(r0 +0)
        r1 += 1
        *(u64 *)(r0 +0) = r1
        r0 = 2
        exit
    other:
        r2 = r10
        r2 += -4
        {other}
    out:
        r0 = 1
        exit"
    );
    let array = |name: &str| MapSpec::new(name, MapType::PercpuArray, 4, 8, 1);
    let maps = vec![array("counts"), array("others")];
    Image { programs: vec![assemble("counting", &text, &["counts", "others"]).unwrap()], maps, ..Image::default() }
}

/// Leaves that count, and those whose path ends at a map's value.
fn counted(image: &Image) -> (usize, usize) {
    let leaves = table(image, None).leaves;
    let counts = |leaf: &&Leaf| matches!(&leaf.action, Action::Verdict { counts, .. } if !counts.is_empty());
    let cut = |leaf: &&Leaf| matches!(leaf.end, End::Cut { why: Why::Value, .. });
    (leaves.iter().filter(counts).count(), leaves.iter().filter(cut).count())
}

/// Stores, and how many leaves count beside each.
fn lookup(map: &str, store: &str) -> String {
    format!("r1 = map[{map}]\n call bpf_map_lookup_elem\n if r0 == 0 goto out\n {store}\n")
}

#[test]
fn a_leaf_counts_in_no_map_that_a_core_stores_to() {
    let set = "*(u64 *)(r0 +0) = r7";
    let double = "r1 = *(u64 *)(r0 +0)\n r1 <<= 1\n *(u64 *)(r0 +0) = r1";
    let more = "r1 = *(u64 *)(r0 +0)\n r1 += 3\n *(u64 *)(r0 +0) = r1\n if r7 s> r0 goto out";
    let update = "r3 = r10\n r3 += -16\n *(u64 *)(r10 -16) = r7\n r4 = 0\n r1 = map[MAP]\n call bpf_map_update_elem\n";
    let read = "r7 = r0\n r2 = r0\n r1 = *(u64 *)(r0 +0)\n r0 = r1\n exit";
    for (store, spoils) in [(set, true), (double, true), (more, false), (read, false)] {
        assert_eq!(counted(&counting(&lookup("counts", store))).0, usize::from(!spoils), "{store}");
        assert_eq!(counted(&counting(&lookup("others", store))).0, 1, "{store} to another map");
    }
    assert_eq!(counted(&counting(&update.replace("MAP", "counts"))).0, 0);
    assert_eq!(counted(&counting(&update.replace("MAP", "others"))).0, 1);
    // It is not known which map it is.
    let either = "r1 = map[counts]\n if r7 == 0 goto both\n r1 = map[others]\n both:\n call bpf_map_lookup_elem\n if r0 == 0 goto out\n *(u64 *)(r0 +0) = r7\n";
    assert_eq!(counted(&counting(either)).0, 0);
}

#[test]
fn a_program_that_counts_and_stores_counts_every_packet() {
    for store in ["*(u64 *)(r0 +0) = r7", "r1 = *(u64 *)(r0 +0)\n r1 <<= 1\n *(u64 *)(r0 +0) = r1"] {
        let mut twins = Twins::warped(counting(&lookup("counts", store)), &target(2)).unwrap();
        for n in 0..200u8 {
            let mut frame = vec![n; 64];
            frame[12..14].copy_from_slice(if n % 3 == 0 { &[8, 0] } else { &[0x86, 0xdd] });
            twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 }).unwrap_or_else(|e| panic!("{e}"));
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{store}: {e}"));
    }
}

/// The part of an object with this image's programs.
fn part(image: &Image) -> Xdp {
    let program = |program: &sluice_ebpf::Program| XdpProgram {
        name: program.name.clone(),
        slots: program.insns.iter().map(|insn| u64::from_le_bytes(insn.to_bytes())).collect(),
        functions: Vec::new(),
    };
    let map = |map: &MapSpec| XdpMap {
        name: map.name.clone(),
        kind: map.kind as u32,
        key_size: map.key_size,
        value_size: map.value_size,
        max_entries: map.max_entries,
        ..XdpMap::default()
    };
    Xdp {
        main: 0,
        programs: image.programs.iter().map(program).collect(),
        maps: image.maps.iter().map(map).collect(),
        keep: Vec::new(),
        entries: Vec::new(),
        interfaces: Default::default(),
    }
}

#[test]
fn a_linker_gets_the_main_programs_table_with_rows_where_they_lie() {
    let simple = assemble("simple", "r0 = 2\n exit", &[]).unwrap();
    let mut image = counting(&lookup("others", "*(u64 *)(r0 +0) = r7"));
    image.programs.push(simple);
    let mut xdp = part(&image);
    let first = compiler(&xdp, Some(TINY)).unwrap();
    let table = first.warp.clone().unwrap();
    assert_eq!(table.counts.iter().map(|count| count.map).collect::<Vec<_>>(), [0]);
    assert_eq!(first.stored.iter().copied().collect::<Vec<_>>(), [1]);
    let plain = compiler(&xdp, None).unwrap();
    assert_eq!((plain.warp, &plain.stored), (None, &first.stored));
    // As the second program: all of its rows are further behind, by the first one's single row.
    xdp.programs.reverse();
    xdp.main = 1;
    let second = compiler(&xdp, Some(TINY)).unwrap();
    let behind = second.starts[1];
    assert!(behind > 0 && second.rows.len() == first.rows.len());
    let moved = second.warp.unwrap();
    let resumes = |leaf: &&sluice_formats::xdp::rows::XdpWarpLeafRow| leaf.kind == XdpWarpKind::Resume.code();
    let starts = |table: &sluice_object::xdp::XdpWarp| {
        let leaves = table.leaves.iter().filter(resumes);
        leaves.map(|leaf| (u32::from(leaf.start), leaf.counts[0])).collect::<Vec<_>>()
    };
    for ((one, missed), (other, other_missed)) in starts(&table).into_iter().zip(starts(&moved)) {
        assert_eq!(other, one + behind);
        assert_eq!(other_missed.address, missed.address + if missed.valid { behind } else { 0 });
    }
    // A program that is called by its tail, and stores where the main one counts.
    let stores = counting(&lookup("counts", "*(u64 *)(r0 +0) = r7")).programs.remove(0);
    xdp.programs[0] = part(&Image { programs: vec![stores], ..Image::default() }).programs.remove(0);
    let third = compiler(&xdp, Some(TINY)).unwrap();
    assert_eq!(third.stored.into_iter().collect::<Vec<_>>(), [0, 1]);
    assert!(third.warp.is_none_or(|table| table.counts.is_empty()));
}

#[test]
fn what_is_not_known_stores_to_all_maps() {
    let mut stored = Stored::default();
    assert!(!stored.has(3) && stored.is_within(&Stored::default()));
    stored.add(&Stored::any());
    assert!(stored.has(3) && !stored.is_within(&Stored::default()) && stored.is_within(&Stored::any()));
}
