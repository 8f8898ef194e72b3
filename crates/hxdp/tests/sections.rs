//! Sections of flow-serial programs: which rows they mark, and on all shipped objects that what they say holds on every way through the rows.

use crate::support::objects;
use sluice_ebpf::analysis::{Regions, analyze};
use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, MapSpec, MapType, load};
use sluice_hxdp::op::LOOKUP;
use sluice_hxdp::sections::Sections;
use sluice_hxdp::{Bundles, Compiled, Op, Step, Target, compile};

const KEY: &str = "r1 = 0\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -4\nr1 = map[values]\n";
/// What makes a program flow-serial, with a value's address in r0.
const CHANGE: &str = "r1 = *(u64 *)(r0 +8)\nr1 *= 3\n*(u64 *)(r0 +8) = r1\n";

fn compiled(kind: MapType, source: &str) -> Compiled {
    let maps = vec![
        MapSpec { spin_lock: (kind == MapType::Array).then_some(0), ..MapSpec::new("values", kind, 4, 16, 4) },
        MapSpec::new("programs", MapType::ProgArray, 4, 4, 1),
    ];
    let program = assemble("sections", source, &["values", "programs"]).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    let image = Image { programs: vec![program], maps, ..Image::default() };
    compile(&image, &image.programs[0], &Target::new(2).unwrap()).unwrap_or_else(|e| panic!("{source}: {e}"))
}

/// First rows that an instruction of this kind is in, that enter, and that leave.
fn firsts(compiled: &Compiled, kind: impl Fn(&Op) -> bool) -> (Option<usize>, Option<usize>, Option<usize>) {
    let sections = compiled.sections.as_ref().expect("it has a section");
    let row = compiled.bundles.rows.iter().position(|row| row.lanes.iter().any(|step| kind(&step.op)));
    (row, sections.enters.iter().position(|is| *is), sections.leaves.iter().position(|is| *is))
}

#[test]
fn a_section_is_from_the_first_look_up_to_the_last_change() {
    let hash = compiled(
        MapType::Hash,
        &format!("{KEY}call bpf_map_lookup_elem\nif r0 == 0 goto out\n{CHANGE}out:\nr0 = 1\nexit\n"),
    );
    let (lookup, enters, leaves) = firsts(&hash, |op| matches!(op, Op::Helper { id: LOOKUP, .. }));
    assert_eq!(lookup, enters);
    let (store, ..) = firsts(&hash, |op| matches!(op, Op::Store { base, .. } if *base != 10));
    assert_eq!(leaves, store.map(|row| row + 1), "{:#?}", hash.sections);
    // Where a value of an array lies, nobody changes: its load is the first.
    let array = compiled(
        MapType::Array,
        &format!("{KEY}call bpf_map_lookup_elem\nif r0 == 0 goto out\n{CHANGE}out:\nr0 = 1\nexit\n"),
    );
    let (load, enters, _) = firsts(&array, |op| matches!(op, Op::Load { bytes: 8, .. }));
    assert_eq!(load, enters);
    // Who holds a lock does not wait for his flow.
    let locked = format!(
        "{KEY}call bpf_map_lookup_elem\nif r0 == 0 goto out\nr6 = r0\nr1 = r6\ncall bpf_spin_lock\nr0 = r6\n{CHANGE}r1 = r6\ncall bpf_spin_unlock\nout:\nr0 = 1\nexit\n"
    );
    let (lock, enters, _) = firsts(&compiled(MapType::Array, &locked), |op| matches!(op, Op::Helper { id: 93, .. }));
    assert_eq!(lock, enters);
}

#[test]
fn a_function_is_of_the_section_of_its_caller() {
    let source = format!(
        "{KEY}call bpf_map_lookup_elem\nif r0 == 0 goto out\nr1 = r0\ncall change\nout:\nr0 = 1\nexit\n\
         change:\nr0 = *(u64 *)(r1 +8)\nr0 *= 3\n*(u64 *)(r1 +8) = r0\nr0 = 0\nexit\n"
    );
    let program = compiled(MapType::Hash, &source);
    let (call, _, leaves) = firsts(&program, |op| matches!(op, Op::Call { .. }));
    assert!(leaves > call, "{:#?}", program.sections);
    let function = *program.bundles.functions.values().max().unwrap() as usize;
    let sections = program.sections.unwrap();
    assert!(sections.leaves[function..].iter().all(|leaves| !leaves), "its caller leaves");
    assert!(sections.enters[function..].iter().any(|enters| *enters));
}

#[test]
fn what_cannot_be_told_is_serial_as_a_whole() {
    let lookup = format!("{KEY}call bpf_map_lookup_elem\nif r0 == 0 goto out\n{CHANGE}out:\n");
    let tail = format!("r6 = r1\n{lookup}r1 = r6\nr2 = map[programs]\nr3 = 0\ncall bpf_tail_call\nr0 = 1\nexit\n");
    // An address out of memory: of which map it is, nobody knows.
    let unknown =
        format!("{lookup}*(u64 *)(r10 -16) = r0\nr1 = *(u32 *)(r10 -16)\nr1 += 1\nr1 = *(u8 *)(r1 +0)\nr0 = 1\nexit\n");
    for source in [tail, unknown] {
        let program = compiled(MapType::Hash, &source);
        assert!(program.flow_serial && program.sections.is_none(), "{source}");
    }
    let counts = compiled(
        MapType::Hash,
        &format!(
            "{KEY}call bpf_map_lookup_elem\nif r0 == 0 goto out\nr1 = 1\nlock *(u64 *)(r0 +8) += r1\nout:\nr0 = 1\nexit\n"
        ),
    );
    assert!(!counts.flow_serial && counts.sections.is_none());
}

/// Whether an instruction changes a map that all processors share, by the analysis of its slot alone; atomic operations where the program also stores.
fn changes(image: &Image, regions: &Regions, step: &Step) -> bool {
    let at = &regions.slots[step.slot as usize];
    let is_shared = |map: sluice_ebpf::analysis::MapRef| map.spec(image).is_none_or(|spec| !spec.kind.is_per_cpu());
    match step.op {
        Op::Store { .. } => at.access.as_ref().and_then(|access| access.map).is_some_and(is_shared),
        Op::Helper { id: 2 | 3, .. } => at.call.as_ref().and_then(|call| call.map).is_some_and(is_shared),
        _ => false,
    }
}

fn reached(bundles: &Bundles, from: usize) -> Vec<usize> {
    let (mut seen, mut next) = (vec![false; bundles.rows.len()], vec![from]);
    let mut all = Vec::new();
    while let Some(row) = next.pop() {
        let Some(bundle) = bundles.rows.get(row).filter(|_| !seen[row]) else { continue };
        seen[row] = true;
        all.push(row);
        // Functions too, as if they came back from anywhere.
        next.extend(bundle.lanes.iter().filter_map(|step| step.op.target()).map(|to| to as usize));
        if !bundle.lanes.last().is_some_and(|step| step.op.ends()) {
            next.push(row + 1);
        }
    }
    all
}

#[test]
fn no_way_of_a_shipped_program_changes_anything_behind_its_section_or_in_front_of_it() {
    let mut with = Vec::new();
    for path in objects() {
        let image = load::load(&std::fs::read(&path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for program in &image.programs {
            let compiled = compile(&image, program, &Target::new(2).unwrap()).unwrap_or_else(|e| panic!("{e}"));
            let Some(Sections { enters, leaves }) = &compiled.sections else { continue };
            let regions = analyze(&image, program);
            let change =
                |row: &usize| compiled.bundles.rows[*row].lanes.iter().any(|step| changes(&image, &regions, step));
            for row in (0..leaves.len()).filter(|row| leaves[*row]) {
                let behind = reached(&compiled.bundles, row).into_iter().find(change);
                assert_eq!(behind, None, "{}: row {row} leaves", path.display());
            }
            let outside = (0..enters.len()).find(|row| change(row) && !enters[*row]);
            assert_eq!(outside, None, "{}: it changes and does not enter", path.display());
            assert!(enters.contains(&true) && leaves.contains(&true), "{}", path.display());
            with.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    for name in ["learning_switch", "firewall", "nat.fed", "lru_conntrack.fed"] {
        assert!(with.iter().any(|with| with == name), "{name} has no section; those that have: {with:?}");
    }
}
