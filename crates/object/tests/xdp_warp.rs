//! Programs' tables on a device with a warp engine: where the linker writes them, when a program has none, and what it refuses.

use crate::common::{Rows, tenant};
use sluice_formats::target::TINY;
use sluice_formats::xdp::codes::XdpWarpKind;
use sluice_formats::xdp::rows::{
    XdpCodeRow, XdpLanePart, XdpMapRow, XdpProgramRow, XdpRegionRow, XdpWarpChunkRow, XdpWarpCountPart, XdpWarpHitsRow,
    XdpWarpKeyRow, XdpWarpLeafRow, XdpWarpPredicatesRow, XdpWarpStepRow,
};
use sluice_formats::xdp::target::TINY as ENGINE;
use sluice_formats::{EngineId, Node, Row, Table};
use sluice_object::xdp::warp::{CHUNK_VALUES, CHUNKS};
use sluice_object::xdp::{XdpFix, XdpPut, XdpWarp, XdpWarpCount};
use sluice_object::{
    Action, Destination, KeySpec, Linker, Load, Object, Step, TenantSpec, Xdp, XdpCode, XdpMap, XdpProgram, XdpRefusal,
    XdpWarpRoom,
};
use std::collections::BTreeSet;

const LEAVES: usize = 3;
/// Rows that leaves add.
const MORE: usize = 64;

const TABLES: [Table; 6] = [
    Table::XdpWarpKey,
    Table::XdpWarpPredicates,
    Table::XdpWarpChunk,
    Table::XdpWarpLeaf,
    Table::XdpWarpStep,
    Table::XdpWarpHits,
];

/// A row for each slot. A program of more than 2 has a table: a verdict that counts, and two leaves that resume. One whose first slot is 1 stores to its first map.
fn compiler(xdp: &Xdp, room: Option<XdpWarpRoom>) -> Result<XdpCode, XdpRefusal> {
    let slots = &xdp.programs[0].slots;
    let mut code = XdpCode { starts: vec![0], ..XdpCode::default() };
    code.stored = if slots[0] == 1 { BTreeSet::from([0]) } else { BTreeSet::new() };
    let table = room.filter(|_| slots.len() > 2).map(|room| {
        assert_eq!((room.rules, room.steps), (16, 32));
        table(slots.len() as u16, !xdp.maps.is_empty())
    });
    let rows = slots.len() + if table.is_some() { MORE } else { 0 };
    for row in 0..rows as u32 {
        let jump = XdpLanePart { op: 18, off: row as u16, ..XdpLanePart::default() };
        code.rows.push(XdpCodeRow { lanes: [jump, XdpLanePart::default()] });
        code.fixes.push(XdpFix { row, lane: 0, put: XdpPut::Row(0) });
    }
    code.warp = table;
    Ok(code)
}

fn table(behind: u16, has_maps: bool) -> XdpWarp {
    let mut warp =
        XdpWarp { key: XdpWarpKeyRow { valid: true, lanes: std::array::from_fn(|at| at as u8) }, ..XdpWarp::default() };
    warp.predicates[1].predicates[2].limit = 77;
    warp.chunks = (0..CHUNKS * CHUNK_VALUES).map(|at| XdpWarpChunkRow { rules: at as u64 }).collect();
    let missed = XdpWarpCountPart { valid: true, address: u32::from(behind) + 2, ..XdpWarpCountPart::default() };
    let verdict = XdpWarpCountPart { valid: true, wide: true, number: 1, ..XdpWarpCountPart::default() };
    let resume =
        XdpWarpLeafRow { kind: XdpWarpKind::Resume.code(), start: behind, steps: 2, ..XdpWarpLeafRow::default() };
    let mut leaves = vec![
        XdpWarpLeafRow { kind: XdpWarpKind::Verdict.code(), verdict: 1, ..XdpWarpLeafRow::default() },
        resume,
        XdpWarpLeafRow { start: behind + 1, step: 2, ..resume },
    ];
    if has_maps {
        leaves[0].counts[0] = verdict;
        warp.counts = vec![XdpWarpCount { leaf: 0, count: 0, map: 0, index: 2, offset: 8 }];
        leaves[2] = XdpWarpLeafRow { looks_up: true, map: 1, counts: [missed, Default::default()], ..leaves[2] };
    }
    assert_eq!(leaves.len(), LEAVES);
    warp.leaves = leaves;
    warp.steps = (1..5).map(|number| XdpWarpStepRow { constant: true, target: 3, number }).collect();
    warp
}

fn array(name: &str) -> XdpMap {
    XdpMap { name: name.to_owned(), kind: 2, key_size: 4, value_size: 16, max_entries: 5, ..XdpMap::default() }
}

fn kept(map: XdpMap) -> XdpMap {
    XdpMap { pinned: true, ..map }
}

fn hash(name: &str) -> XdpMap {
    XdpMap { kind: 1, ..array(name) }
}

fn object(slots: usize, maps: Vec<XdpMap>) -> Object {
    let program = XdpProgram { name: "main".to_owned(), slots: vec![0x95; slots], functions: Vec::new() };
    let mut object = Object::new("program", KeySpec::NONE, Action::to([Destination::Host(1)]));
    let (keep, entries, interfaces) = (Vec::new(), Vec::new(), Default::default());
    object.parts.xdp = Some(Box::new(Xdp { main: 0, programs: vec![program], maps, keep, entries, interfaces }));
    object
}

/// One that stores to its first map.
fn storing(object: Object) -> Object {
    let mut object = object;
    object.parts.xdp.as_mut().unwrap().programs[0].slots[0] = 1;
    object
}

fn linker() -> Linker {
    linker_of([(7, "red"), (8, "blue")].map(|(id, name)| tenant(id, name, 0, &TINY)))
}

fn linker_of(tenants: [TenantSpec; 2]) -> Linker {
    let mut linker = Linker::of(&TINY, &[EngineId::XDP], Some(compiler));
    tenants.into_iter().for_each(|spec| {
        linker.admit(spec).unwrap();
    });
    linker
}

/// Two times a tenant's module, and the generation of his program.
fn bank(linker: &Linker, id: u16) -> u32 {
    2 * u32::from(linker.tenant(id).unwrap().module) + u32::from(linker.generation(id).unwrap())
}

fn xdp<R: Row>(rows: &Rows, table: Table, index: u32) -> R {
    rows.row(Node::Xdp, table, index)
}

fn has_table(rows: &Rows, linker: &Linker, id: u16) -> bool {
    xdp::<XdpWarpKeyRow>(rows, Table::XdpWarpKey, bank(linker, id)).valid
}

/// Writes to the warp engine's tables, by their step.
fn writes(load: &Load) -> Vec<(usize, Table, u32)> {
    let of = |(at, step): (usize, &Step)| match step {
        Step::Write { table, index, .. } if TABLES.contains(table) => Some((at, *table, *index)),
        _ => None,
    };
    load.steps.iter().enumerate().filter_map(of).collect()
}

#[test]
fn a_table_lies_in_its_generations_rows_and_leads_to_the_programs_own() {
    let (mut linker, mut rows) = (linker(), Rows::new(&TINY));
    // Holes: the program's second page is not behind the first.
    rows.run(&linker.load(7, &object(1, Vec::new())).unwrap());
    rows.run(&linker.load(8, &object(1, Vec::new())).unwrap());
    rows.run(&linker.unload(7).unwrap());
    let load = linker.load(7, &object(64, vec![array("counts"), hash("flows")])).unwrap();
    rows.run(&load);
    let bank = bank(&linker, 7);
    assert_eq!(xdp::<XdpWarpKeyRow>(&rows, Table::XdpWarpKey, bank), table(64, true).key);
    for half in 0..2 {
        let row: XdpWarpPredicatesRow = xdp(&rows, Table::XdpWarpPredicates, 2 * bank + half);
        assert_eq!(row, table(64, true).predicates[half as usize]);
    }
    for chunk in 0..CHUNKS as u32 {
        for value in 0..32 {
            let row: XdpWarpChunkRow = xdp(&rows, Table::XdpWarpChunk, 32 * (2 * TINY.modules * chunk + bank) + value);
            assert_eq!(row.rules, u64::from(32 * chunk + value));
        }
    }
    for step in 0..4 {
        let row: XdpWarpStepRow = xdp(&rows, Table::XdpWarpStep, 128 * bank + step);
        assert_eq!(row.number, u64::from(step) + 1);
    }
    let program: XdpProgramRow = xdp(&rows, Table::XdpProgram, bank);
    let leaf = |rule: u32| xdp::<XdpWarpLeafRow>(&rows, Table::XdpWarpLeaf, 64 * bank + rule);
    // Values of 16 bytes lie every 16 bytes; the address counts from 0x4000_0000.
    let region: XdpRegionRow = xdp(&rows, Table::XdpRegion, program.regions.into());
    assert_eq!((region.bytes, leaf(0).counts[0].address, leaf(0).verdict), (5 * 16, 2 * 16 + 8, 1));
    // Page 0 is the program's first, page 1 is blue's.
    assert_eq!((program.start, leaf(1).start), (0, 128));
    assert_eq!((leaf(2).start, leaf(2).counts[0].address, leaf(2).step), (129, 130, 2));
    let flows: XdpMapRow = xdp(&rows, Table::XdpMap, leaf(2).map.into());
    assert!(flows.valid && flows.kind == 1 && u32::from(flows.module_id) == bank / 2, "{flows:?}");
    for rule in LEAVES as u32..16 {
        assert_eq!(leaf(rule), XdpWarpLeafRow::default());
    }
    // A row for each rule, none beyond.
    let of = |wanted| writes(&load).iter().filter(|(_, table, _)| *table == wanted).count();
    assert_eq!(TABLES.map(of), [1, 2, CHUNKS * CHUNK_VALUES, ENGINE.warp_rules, 4, ENGINE.warp_rules]);
    assert!(writes(&load).iter().all(|(_, table, index)| owner(*table, *index) == bank));
}

/// Two times the module, and the generation, that a row belongs to.
fn owner(table: Table, index: u32) -> u32 {
    match table {
        Table::XdpWarpKey => index,
        Table::XdpWarpPredicates => index / 2,
        Table::XdpWarpChunk => index / 32 % (2 * TINY.modules),
        Table::XdpWarpLeaf | Table::XdpWarpHits => index / 64,
        _ => index / 128,
    }
}

#[test]
fn rows_of_a_generation_in_force_stay_and_the_keys_row_comes_last_and_goes_first() {
    let (mut linker, mut rows) = (linker(), Rows::new(&TINY));
    let mut before = None;
    for round in 0..4 {
        let object = object(70 + round, vec![array("counts"), hash("flows")]);
        let load = match before {
            None => linker.load(7, &object).unwrap(),
            Some(_) => linker.replace(7, &object).unwrap(),
        };
        let new = bank(&linker, 7);
        let commit = load.steps.iter().position(|step| matches!(step, Step::Commit { .. })).unwrap();
        let (early, late): (Vec<_>, Vec<_>) = writes(&load).into_iter().partition(|(at, ..)| *at < commit);
        assert!(early.iter().all(|(_, table, index)| owner(*table, *index) == new));
        assert_eq!(early.last().map(|(_, table, index)| (*table, *index)), Some((Table::XdpWarpKey, new)));
        let drained = load.steps.iter().rposition(|step| matches!(step, Step::WaitDrained { .. })).unwrap();
        match before {
            None => assert_eq!(late, []),
            // Behind the last packet of the old one, before anything else of it goes.
            Some(old) => assert_eq!(late, [(drained + 1, Table::XdpWarpKey, old)]),
        }
        rows.run(&load);
        assert!(has_table(&rows, &linker, 7) && before.is_none_or(|old| old != new));
        assert!(before.is_none_or(|old| !xdp::<XdpWarpKeyRow>(&rows, Table::XdpWarpKey, old).valid));
        before = Some(new);
    }
    let load = linker.unload(7).unwrap();
    rows.run(&load);
    let all = (0..2 * TINY.modules).map(|bank| xdp::<XdpWarpKeyRow>(&rows, Table::XdpWarpKey, bank));
    assert_eq!(all.filter(|row| row.valid).count(), 0);
    assert_eq!(writes(&load).len(), 1);
}

#[test]
fn hits_begin_with_none() {
    let (mut linker, mut rows) = (linker(), Rows::new(&TINY));
    for slots in [70, 2] {
        for index in 0..Table::XdpWarpHits.rows(&TINY) {
            let many = XdpWarpHitsRow { packets: 9 }.pack().unwrap();
            rows.rows.insert((Node::Xdp, Table::XdpWarpHits, index), many);
        }
        let first = linker.tenant(7).unwrap().running.is_none();
        let object = object(slots, Vec::new());
        rows.run(&if first { linker.load(7, &object) } else { linker.replace(7, &object) }.unwrap());
        let bank = bank(&linker, 7);
        for index in 0..Table::XdpWarpHits.rows(&TINY) {
            let hits: XdpWarpHitsRow = xdp(&rows, Table::XdpWarpHits, index);
            assert_eq!(hits.packets, if index / 64 == bank && index % 64 < 16 { 0 } else { 9 }, "{index}");
        }
    }
}

#[test]
fn a_program_without_a_table_says_so() {
    let mut off = tenant(8, "blue", 0, &TINY);
    off.xdp_warp = false;
    let mut linker = linker_of([tenant(7, "red", 0, &TINY), off]);
    let mut rows = Rows::new(&TINY);
    for index in 0..Table::XdpWarpKey.rows(&TINY) {
        let key = XdpWarpKeyRow { valid: true, lanes: [0; 14] };
        rows.rows.insert((Node::Xdp, Table::XdpWarpKey, index), key.pack().unwrap());
    }
    rows.run(&linker.load(7, &object(2, Vec::new())).unwrap());
    rows.run(&linker.load(8, &object(70, Vec::new())).unwrap());
    assert!(!has_table(&rows, &linker, 7) && !has_table(&rows, &linker, 8));
    let taken = |rows: &Rows| rows.rows.keys().filter(|(_, table, _)| *table == Table::XdpCode).count();
    assert_eq!(taken(&rows), 72);
    rows.run(&linker.replace(7, &object(3, Vec::new())).unwrap());
    assert!(has_table(&rows, &linker, 7) && !has_table(&rows, &linker, 8));
}

#[test]
fn leaves_do_not_take_the_last_quarter_of_the_pages() {
    let (mut linker, mut rows) = (linker(), Rows::new(&TINY));
    let (all, quarter) = (ENGINE.pages(), ENGINE.pages() / 4);
    rows.run(&linker.load(7, &object(64 * (all - quarter - 1), Vec::new())).unwrap());
    assert!(has_table(&rows, &linker, 7));
    rows.run(&linker.unload(7).unwrap());
    rows.run(&linker.load(7, &object(64 * (all - quarter), Vec::new())).unwrap());
    assert!(!has_table(&rows, &linker, 7));
    rows.run(&linker.load(8, &object(64 * quarter, Vec::new())).unwrap());
    assert!(!has_table(&rows, &linker, 8));
    rows.run(&linker.unload(7).unwrap());
    rows.run(&linker.unload(8).unwrap());
    // A program itself may take all of them.
    rows.run(&linker.load(7, &object(64 * all, Vec::new())).unwrap());
    assert_eq!(linker.load(8, &object(1, Vec::new())).unwrap_err().code(), "E0807");
}

#[test]
fn no_leaf_counts_in_a_kept_map_that_the_program_before_stores_to() {
    let maps = |first: XdpMap| vec![first, hash("flows")];
    for (old, new, counts) in [
        (storing(object(70, maps(kept(array("counts"))))), kept(array("counts")), false),
        (object(70, maps(kept(array("counts")))), kept(array("counts")), true),
        (storing(object(70, maps(array("counts")))), array("counts"), true),
        (storing(object(70, maps(kept(array("other"))))), kept(array("counts")), true),
    ] {
        let (mut linker, mut rows) = (linker(), Rows::new(&TINY));
        rows.run(&linker.load(7, &old).unwrap());
        rows.run(&linker.replace(7, &object(80, maps(new.clone()))).unwrap());
        assert_eq!(has_table(&rows, &linker, 7), counts, "{old:?}");
        // Nobody stores any more.
        rows.run(&linker.replace(7, &object(80, maps(new))).unwrap());
        assert!(has_table(&rows, &linker, 7));
    }
}

/// A change of the first row of a table in a load.
type Change<'a> = &'a dyn Fn(&mut u32, &mut Vec<u32>);

fn with(load: &Load, wanted: Table, change: Change) -> Load {
    let mut load = load.clone();
    let mut place = load.steps.iter_mut().filter_map(|step| match step {
        Step::Write { table, index, words, .. } if *table == wanted => Some((index, words)),
        _ => None,
    });
    let (index, words) = place.next().unwrap();
    change(index, words);
    load
}

#[test]
fn rows_of_others_and_of_the_generation_in_force_are_refused() {
    let mut linker = linker();
    linker.load(7, &object(70, vec![array("counts"), hash("flows")])).unwrap();
    linker.load(8, &object(70, vec![array("counts"), hash("flows")])).unwrap();
    let (red, blue) = (bank(&linker, 7), bank(&linker, 8));
    let before = linker.clone();
    let load = linker.replace(8, &object(70, vec![array("counts"), hash("flows")])).unwrap();
    assert_eq!(before.check(&load), Ok(()));
    let step = |table: Table| match table {
        Table::XdpWarpKey => 1,
        Table::XdpWarpPredicates => 2,
        Table::XdpWarpChunk => 32,
        Table::XdpWarpLeaf | Table::XdpWarpHits => 64,
        _ => 128,
    };
    for table in TABLES {
        for (other, code) in [(red, "E0231"), (red ^ 1, "E0231"), (blue, "E0232")] {
            // A row that the load does not write twice.
            let row = other * step(table) + if table == Table::XdpWarpKey { 0 } else { 1 };
            let error = before.check(&with(&load, table, &|index, _| *index = row)).unwrap_err();
            assert_eq!(error.code(), code, "{table:?}: {error}");
        }
    }
    // The system has no table of anybody's to write.
    let mut system = load.clone();
    system.tenant = 0;
    assert!(before.check(&system).is_err());
}

#[test]
fn a_leaf_leads_to_nothing_of_others() {
    let mut linker = linker();
    let first = linker.load(7, &object(70, vec![array("counts"), hash("flows")])).unwrap();
    let before = linker.clone();
    let load = linker.load(8, &object(70, vec![array("counts"), hash("flows")])).unwrap();
    let maps = |load: &Load| {
        let of = |step: &Step| match step {
            Step::Write { table: Table::XdpMap, index, .. } => Some(*index as u16),
            _ => None,
        };
        load.steps.iter().filter_map(of).collect::<Vec<_>>()
    };
    let resume = XdpWarpLeafRow { kind: XdpWarpKind::Resume.code(), start: 64 * 3, ..XdpWarpLeafRow::default() };
    let verdict = XdpWarpLeafRow { kind: XdpWarpKind::Verdict.code(), verdict: 2, ..XdpWarpLeafRow::default() };
    let missed = |address: u32| XdpWarpCountPart { valid: true, address, ..XdpWarpCountPart::default() };
    let counts = |wide: bool, address: u32| {
        let count = XdpWarpCountPart { valid: true, wide, address, ..XdpWarpCountPart::default() };
        XdpWarpLeafRow { counts: [XdpWarpCountPart::default(), count], ..verdict }
    };
    let (own, foreign) = (maps(&load)[1], maps(&first)[1]);
    let leaves = [
        (XdpWarpLeafRow { start: 64 * 4, ..resume }, true),
        (XdpWarpLeafRow { start: 64, ..resume }, false),
        (XdpWarpLeafRow { counts: [missed(64 * 4), Default::default()], ..resume }, true),
        (XdpWarpLeafRow { counts: [missed(63), Default::default()], ..resume }, false),
        (XdpWarpLeafRow { looks_up: true, map: own, ..resume }, true),
        (XdpWarpLeafRow { looks_up: true, map: foreign, ..resume }, false),
        // Of what is plain, and of a lookup that is none, nothing else means anything.
        (XdpWarpLeafRow { start: 64, ..XdpWarpLeafRow::default() }, true),
        (XdpWarpLeafRow { map: foreign, ..resume }, true),
        (counts(true, 64), true),
        (counts(false, 68), true),
        (counts(true, 68), false),
        (counts(false, 66), false),
        // What ends with a fault is told with its place, which a leaf has not; a redirect has no number here.
        (XdpWarpLeafRow { verdict: 0, ..verdict }, false),
        (XdpWarpLeafRow { kind: 3, ..resume }, false),
    ];
    for (leaf, allowed) in leaves {
        let change = |_: &mut u32, words: &mut Vec<u32>| *words = leaf.pack().unwrap();
        let result = before.check(&with(&load, Table::XdpWarpLeaf, &change));
        match allowed {
            true => assert_eq!(result, Ok(()), "{leaf:?}"),
            false => assert_eq!(result.unwrap_err().code(), "E0231", "{leaf:?}"),
        }
    }
}
