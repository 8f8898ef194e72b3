//! Programs on an XDP engine in hardware: where the linker puts them, what it frees, and what it refuses.

use crate::common::{Rows, tenant};
use sluice_formats::target::TINY;
use sluice_formats::xdp::codes::XdpMapKind;
use sluice_formats::xdp::rows::{
    XdpCodeRow, XdpInterfacesRow, XdpLanePart, XdpMapRow, XdpPageRow, XdpProgramRow, XdpRegionRow, XdpValueRow,
};
use sluice_formats::{EngineId, Node, Row, Table};
use sluice_object::xdp::{XdpFix, XdpPut};
use sluice_object::{
    Action, Destination, KeySpec, LinkError, Linker, Load, Object, Secrets, Step, Xdp, XdpCode, XdpEntry, XdpMap,
    XdpProgram, XdpRefusal, XdpWarpRoom,
};
use std::collections::{BTreeMap, BTreeSet};

const RDONLY_PROG: u32 = 1 << 7;

/// A row for each slot: one that names itself, and one that names map 0, if there is one; a slot of 7 is refused.
fn compiler(xdp: &Xdp, _: Option<XdpWarpRoom>) -> Result<XdpCode, XdpRefusal> {
    let slots = &xdp.programs[xdp.main as usize].slots;
    if let Some(slot) = slots.iter().position(|slot| *slot == 7) {
        let what = format!("program `main`, instruction {slot}: no such helper");
        return Err(XdpRefusal { code: "E0805", what, slot: Some(slot as u32) });
    }
    let mut code = XdpCode { starts: vec![0], grows: slots.len() > 64, ..XdpCode::default() };
    for row in 0..slots.len() as u32 {
        let jump = XdpLanePart { op: 18, off: row as u16, ..XdpLanePart::default() };
        let constant = XdpLanePart { op: 28, dst: 3, ..XdpLanePart::default() };
        code.rows.push(XdpCodeRow { lanes: [jump, constant] });
        code.fixes.push(XdpFix { row, lane: 0, put: XdpPut::Row(0) });
        if !xdp.maps.is_empty() {
            let put = if row == 0 { XdpPut::Element { map: 0, index: 2 } } else { XdpPut::Value { map: 0, offset: 4 } };
            code.fixes.push(XdpFix { row, lane: 1, put });
        }
    }
    Ok(code)
}

fn array(name: &str, value_size: u32, max_entries: u32) -> XdpMap {
    XdpMap { name: name.to_owned(), kind: 2, key_size: 4, value_size, max_entries, ..XdpMap::default() }
}

fn pinned(map: XdpMap) -> XdpMap {
    XdpMap { pinned: true, ..map }
}

fn object(slots: usize, maps: Vec<XdpMap>) -> Object {
    let program = XdpProgram { name: "main".to_owned(), slots: vec![0x95; slots], functions: Vec::new() };
    let mut object = Object::new("program", KeySpec::NONE, Action::to([Destination::Host(1)]));
    let (keep, entries, interfaces) = (Vec::new(), Vec::new(), BTreeMap::from([(9, 2)]));
    object.parts.xdp = Some(Box::new(Xdp { main: 0, programs: vec![program], maps, keep, entries, interfaces }));
    object
}

fn linker() -> Linker {
    linker_with(Secrets::default())
}

fn linker_with(secrets: Secrets) -> Linker {
    let mut linker = Linker::of(&TINY, &[EngineId::XDP], Some(compiler)).with_secrets(secrets);
    for (id, name) in [(7, "red"), (8, "blue"), (9, "green")] {
        linker.admit(tenant(id, name, 0, &TINY)).unwrap();
    }
    linker
}

fn refused(result: Result<Load, LinkError>) -> (&'static str, String) {
    let error = result.unwrap_err();
    (error.code(), error.to_string())
}

fn xdp<R: Row>(rows: &Rows, table: Table, index: u32) -> R {
    rows.row(Node::Xdp, table, index)
}

/// Pages of a program in their order.
fn pages(rows: &Rows, program: &XdpProgramRow) -> Vec<u32> {
    let mut all = vec![u32::from(program.start) / 64];
    loop {
        let page: XdpPageRow = xdp(rows, Table::XdpPage, all[all.len() - 1]);
        assert!(page.valid);
        if u32::from(page.next) == all[all.len() - 1] {
            return all;
        }
        all.push(page.next.into());
    }
}

#[test]
fn a_program_lies_in_chained_pages_and_its_branches_and_addresses_are_absolute() {
    let mut linker = linker();
    let mut rows = Rows::new(&TINY);
    // Holes in the instruction memory: pages 0 and 2 to 3 are free.
    for (id, slots) in [(7, 1), (8, 65), (9, 1)] {
        rows.run(&linker.load(id, &object(slots, Vec::new())).unwrap());
    }
    rows.run(&linker.unload(7).unwrap());
    rows.run(&linker.unload(9).unwrap());
    let maps = vec![array("counts", 12, 3), XdpMap { flags: RDONLY_PROG, ..array("fixed", 8, 2) }];
    rows.run(&linker.load(7, &object(130, maps)).unwrap());
    let module = u32::from(linker.tenant(7).unwrap().module);
    let bank = 2 * module + u32::from(linker.generation(7).unwrap());
    let program: XdpProgramRow = xdp(&rows, Table::XdpProgram, bank);
    let granted = linker.tenant(7).unwrap().spec.destinations().mask(&TINY).unwrap();
    assert_eq!((program.valid, program.pass_valid, program.pass, program.granted), (true, true, 5, granted));
    assert_eq!((program.work, program.grows, program.writable, program.read_only), (65_536, true, 1, 1));
    let own = pages(&rows, &program);
    assert_eq!(own, [0, 3, 4]);
    for row in 0..130u32 {
        let at = own[row as usize / 64] * 64 + row % 64;
        let code: XdpCodeRow = xdp(&rows, Table::XdpCode, at);
        assert_eq!(u32::from(code.lanes[0].off), at);
        // Values of 12 bytes lie every 16 bytes; the number is in bits 79:16 of the lane.
        let number = u64::from(code.lanes[1].imm) << 24
            | u64::from(code.lanes[1].off) << 8
            | u64::from(code.lanes[1].b)
            | u64::from(code.lanes[1].immediate) << 4
            | u64::from(code.lanes[1].wide) << 5;
        assert_eq!(number, if row == 0 { 0x4000_0020 } else { 0x4000_0004 });
    }
    let interfaces: XdpInterfacesRow = xdp(&rows, Table::XdpInterfaces, bank);
    assert_eq!(interfaces.ifindex, [1, 2, 9, 4, 0, 0, 0, 0]);
    let first: XdpRegionRow = xdp(&rows, Table::XdpRegion, program.regions.into());
    let second: XdpRegionRow = xdp(&rows, Table::XdpRegion, u32::from(program.regions) + 1);
    assert_eq!((first.bytes, first.shift, first.readable, first.writable), (48, 4, 12, 12));
    assert_eq!((second.bytes, second.shift, second.readable, second.writable), (16, 3, 8, 0));
    assert_ne!(first.base, second.base);
    assert!([first, second].iter().all(|region| region.valid && u32::from(region.module_id) == module));
}

/// All rows that lead anywhere, and the free space that a linker reports by what it can still take.
fn alive(rows: &Rows) -> usize {
    let used = |(_, table, _): &(Node, Table, u32), words: &Vec<u32>| {
        !matches!(*table, Table::XdpCode | Table::XdpValue) && words[0] & 1 == 1
    };
    let xdp = rows.rows.iter().filter(|((node, ..), _)| *node == Node::Xdp);
    xdp.filter(|((_, table, _), _)| *table != Table::XdpInterfaces).filter(|(place, words)| used(place, words)).count()
}

#[test]
fn a_thousand_replacements_leak_nothing_and_kept_values_stay_where_they_are() {
    let mut linker = linker();
    let mut rows = Rows::new(&TINY);
    let maps = |n: u32| vec![array("other", 8, 100 + n % 400), pinned(array("kept", 8, 512))];
    rows.run(&linker.load(7, &object(100, maps(0))).unwrap());
    let module = u32::from(linker.tenant(7).unwrap().module);
    let base = |rows: &Rows, linker: &Linker, at: u32| {
        let bank = 2 * module + u32::from(linker.generation(7).unwrap());
        let program: XdpProgramRow = xdp(rows, Table::XdpProgram, bank);
        let region: XdpRegionRow = xdp(rows, Table::XdpRegion, u32::from(program.regions) + at);
        assert!(region.valid);
        region.base
    };
    let (kept, count) = (base(&rows, &linker, 1), alive(&rows));
    for n in 0..1000 {
        let load = linker.replace(7, &object(40 + (n as usize * 7) % 100, maps(n))).unwrap();
        let values: BTreeSet<u32> = load
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Write { table: Table::XdpValue, index, .. } => Some(index / 128),
                _ => None,
            })
            .collect();
        assert!(!values.contains(&kept.into()), "the host writes what the running program has");
        rows.run(&load);
        assert_eq!(base(&rows, &linker, 1), kept);
    }
    assert!(alive(&rows).abs_diff(count) <= 1);
    rows.run(&linker.unload(7).unwrap());
    assert_eq!(alive(&rows), 0);
    // All of it is there again.
    linker.load(8, &object(1024, vec![array("all", 8, 4096)])).unwrap();
}

#[test]
fn values_begin_with_what_is_given_and_zeros_before_any_row_names_them() {
    let mut linker = linker();
    let mut rows = Rows::new(&TINY);
    rows.run(
        &linker.load(7, &object(1, vec![XdpMap { contents: Some(vec![0xff; 8]), ..array("secret", 8, 1) }])).unwrap(),
    );
    rows.run(&linker.unload(7).unwrap());
    let mut given = object(1, vec![array("values", 8, 6)]);
    given.parts.xdp.as_mut().unwrap().entries =
        vec![XdpEntry { map: 0, key: vec![5, 0, 0, 0], value: vec![1, 2, 3, 4, 5, 6, 7, 8] }];
    let load = linker.load(8, &given).unwrap();
    let position = |wanted: &dyn Fn(&Step) -> bool| load.steps.iter().position(wanted).unwrap();
    let last_value = load.steps.iter().rposition(|s| matches!(s, Step::Write { table: Table::XdpValue, .. })).unwrap();
    let region = position(&|s| matches!(s, Step::Write { table: Table::XdpRegion, .. }));
    let barrier = load.steps.iter().skip(last_value).position(|s| *s == Step::Barrier).unwrap() + last_value;
    assert!(last_value < barrier && barrier < region, "{load:?}");
    rows.run(&load);
    let module = u32::from(linker.tenant(8).unwrap().module);
    let bank = 2 * module + u32::from(linker.generation(8).unwrap());
    let program: XdpProgramRow = xdp(&rows, Table::XdpProgram, bank);
    let region: XdpRegionRow = xdp(&rows, Table::XdpRegion, program.regions.into());
    let value = |row: u32| xdp::<XdpValueRow>(&rows, Table::XdpValue, u32::from(region.base) * 128 + row).words;
    // The secret of the tenant before lay in the same page.
    assert_eq!((region.base, value(0), value(1)), (0, [0; 4], [0, 0x0807_0605_0403_0201, 0, 0]));
}

#[test]
fn what_does_not_fit_is_refused_with_who_holds_it_and_what_would_fit() {
    let mut linker = linker();
    let (code, text) = refused(linker.load(7, &object(1025, Vec::new())));
    assert_eq!(code, "E0806");
    assert!(text.contains("17 pages of 64 rows of instructions for 1025 rows, target tiny has 16"), "{text}");
    let (code, text) = refused(linker.load(7, &object(1, vec![array("wide", 16, 100_000)])));
    assert_eq!(code, "E0806");
    assert!(
        text.contains("391 pages of 4 KiB") && text.ends_with("max_entries of `wide` would fit up to 2048"),
        "{text}"
    );
    linker.load(7, &object(1, vec![array("wide", 16, 2048)])).unwrap();
    let (code, text) = refused(linker.load(8, &object(1, vec![array("one", 8, 1)])));
    assert_eq!(code, "E0807");
    assert!(text.contains("1 pages of 4 KiB of value memory for map `one`, 0 left of 8; held by red 8"), "{text}");
    assert!(text.ends_with("no number of entries would fit"), "{text}");
    let (_, text) =
        refused(linker.load(8, &object(1, ["one", "two", "wide"].map(|name| array(name, 16, 1 << 16)).to_vec())));
    assert!(
        text.contains("48 pages of addresses of map values, one behind the other, 16 of them for map `wide`"),
        "{text}"
    );
    // The linker is as it was: the same after less.
    linker.unload(7).unwrap();
    linker.load(7, &object(600, vec![array("wide", 16, 1536)])).unwrap();
    let (code, text) = refused(linker.load(8, &object(1, vec![array("more", 8, 4000)])));
    assert_eq!(code, "E0807");
    assert!(text.contains("2 left of 8; held by red 6") && text.ends_with("`more` would fit up to 1024"), "{text}");
    linker.load(8, &object(1, vec![array("more", 8, 1024)])).unwrap();
    linker.unload(8).unwrap();
    // What is left is little because of the program's own other maps.
    let (code, text) = refused(linker.load(8, &object(1, vec![array("first", 8, 512), array("second", 8, 1024)])));
    assert_eq!(code, "E0807");
    assert!(text.contains("1 left of 8; 1 taken by the program's other maps, held by red 6"), "{text}");
    linker.load(8, &object(1, vec![array("more", 8, 1024)])).unwrap();
    let (code, text) = refused(linker.load(9, &object(600, Vec::new())));
    assert_eq!(code, "E0807");
    assert!(text.contains("10 pages of 64 rows") && text.contains("5 left of 16; held by red 10, blue 1"), "{text}");
    let (code, text) = refused(linker.load(9, &object(1, vec![array("far", 512, 1 << 17)])));
    assert_eq!(code, "E0806");
    assert!(text.contains("16384 pages of 4 KiB of value memory for map `far`"), "{text}");
    let many = |count| (0..count).map(|n| array(&format!("map{n}"), 8, 1)).collect();
    let (code, text) = refused(linker.load(9, &object(1, many(10))));
    assert!(code == "E0807" && text.contains("pages of 4 KiB"), "{text}");
    let (code, text) = refused(linker.load(9, &object(1, many(17))));
    assert!(code == "E0807" && text.contains("1 maps, `map14` among them, 0 left of 16"), "{text}");
}

#[test]
fn as_many_entries_as_are_named_fit_beside_the_other_maps_and_not_one_more() {
    let hash = |entries| XdpMap { kind: 1, ..array("flows", 24, entries) };
    let all = |entries| object(1, vec![array("before", 16, 200), hash(entries), array("behind", 8, 600)]);
    // Alone, and beside a tenant who holds some of either memory.
    for beside in [None, Some(object(1, vec![XdpMap { kind: 1, ..array("h", 8, 100) }, array("a", 8, 900)]))] {
        let mut linker = linker();
        beside.iter().for_each(|object| drop(linker.load(8, object).unwrap()));
        let named = |text: &str| text.rsplit(' ').next().and_then(|n| n.parse::<u32>().ok()).expect("a number");
        let mut asked = 100_000;
        // What would fit into an empty engine is named first.
        let fits = loop {
            match linker.clone().load(7, &all(asked)) {
                Ok(_) => break asked,
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("max_entries of `flows` would fit up to"), "{text}");
                    assert!(named(&text) < asked, "{text}");
                    asked = named(&text);
                }
            }
        };
        assert!(fits > 50, "{fits}");
        let (code, text) = refused(linker.load(7, &all(fits + 1)));
        assert_eq!(code, "E0807");
        // Now one of the maps behind it is the one that has no room.
        assert!(text.contains("of `behind` would fit up to 512") || named(&text) == fits, "{text}");
    }
}

#[test]
fn what_the_engine_has_not_is_refused_and_nothing_changes() {
    let mut linker = linker();
    linker.load(7, &object(3, vec![array("a", 8, 4)])).unwrap();
    let before = linker.tenant(7).unwrap().clone();
    let mut unsupported = object(3, Vec::new());
    unsupported.parts.xdp.as_mut().unwrap().programs[0].slots[1] = 7;
    let (code, text) = refused(linker.replace(7, &unsupported));
    assert_eq!(code, "E0805");
    assert!(text.contains("tenant `red`, object `program`: program `main`, instruction 1"), "{text}");
    let (code, text) = refused(linker.replace(7, &object(1, vec![array("big", 513, 1)])));
    assert_eq!(code, "E0808");
    assert!(text.contains("map `big`: value size: found 513, allowed: 1 to 512"), "{text}");
    let mut beyond = object(1, vec![array("a", 8, 4)]);
    beyond.parts.xdp.as_mut().unwrap().entries = vec![XdpEntry { map: 0, key: vec![4, 0, 0, 0], value: vec![0; 8] }];
    let (code, text) = refused(linker.replace(7, &beyond));
    assert!(code == "E0808" && text.contains("found 4, allowed: 0 to 3"), "{text}");
    // Four processors: what an object has for more has to be zero, and what it has for fewer is added as zeros.
    let begins = |bytes: &[u8]| {
        let mut counts = object(1, vec![XdpMap { kind: 6, ..array("counts", 8, 4) }]);
        let value = bytes.to_vec();
        counts.parts.xdp.as_mut().unwrap().entries = vec![XdpEntry { map: 0, key: vec![1, 0, 0, 0], value }];
        counts
    };
    for (bytes, allowed) in
        [(vec![0; 12], "8 for each processor"), (vec![1; 64], "zeros behind the 32"), (vec![], "8 for")]
    {
        let (code, text) = refused(linker.replace(7, &begins(&bytes)));
        assert!(code == "E0808" && text.contains(allowed), "{text}");
    }
    for bytes in [[vec![1; 32], vec![0; 32]].concat(), vec![1; 8]] {
        linker.clone().replace(7, &begins(&bytes)).unwrap();
    }
    // A trie begins with entries, but not with those that bpf(2) would not take.
    let routes = |keys: &[&[u8]]| {
        let trie = XdpMap { kind: 11, key_size: 8, flags: 1, ..array("routes", 8, 2) };
        let mut routes = object(1, vec![trie]);
        let entries = keys.iter().map(|key| XdpEntry { map: 0, key: key.to_vec(), value: vec![0; 8] });
        routes.parts.xdp.as_mut().unwrap().entries = entries.collect();
        routes
    };
    linker.clone().replace(7, &routes(&[&[8, 0, 0, 0, 10, 0, 0, 0], &[0; 8], &[8, 0, 0, 0, 10, 1, 1, 1]])).unwrap();
    for (keys, what) in [
        (
            &[&[33, 0, 0, 0, 10, 0, 0, 0][..]][..],
            "prefix of an entry that it begins with: found 33 bits, allowed: 0 to 32",
        ),
        (
            &[&[0; 8], &[1, 0, 0, 0, 0, 0, 0, 0], &[2, 0, 0, 0, 0, 0, 0, 0]],
            "entries that it begins with: found 3 or more, allowed: 2",
        ),
    ] {
        let (code, text) = refused(linker.replace(7, &routes(keys)));
        assert!(code == "E0808" && text.contains("map `routes`") && text.contains(what), "{text}");
    }
    // What fits no map is refused as an object, before a target is asked.
    let (_, text) = refused(linker.replace(7, &routes(&[&[8, 0, 0, 0, 10]])));
    assert!(text.contains("found 5 bytes of key, allowed: 8, the key size of `routes`"), "{text}");
    for (value_size, max_entries) in [(0, 1), (u32::MAX, u32::MAX), (8, 0), (512, u32::MAX)] {
        let (code, _) = refused(linker.replace(7, &object(1, vec![array("odd", value_size, max_entries)])));
        assert!(["E0806", "E0808"].contains(&code), "{value_size} {max_entries}");
    }
    // A table needs the pipeline, which is not there.
    let (code, text) = refused(linker.load(8, &Object::new("table", KeySpec::NONE, Action::DROP)));
    assert_eq!(code, "E0238");
    assert!(text.contains("`table`") && text.ends_with("it has xdp"), "{text}");
    assert_eq!(*linker.tenant(7).unwrap(), before);
}

/// The load with one row changed.
fn with(load: &Load, table: Table, change: &dyn Fn(&mut u32, &mut Vec<u32>)) -> Load {
    let mut load = load.clone();
    let step = load.steps.iter_mut().find(|s| matches!(s, Step::Write { table: t, .. } if *t == table));
    let Some(Step::Write { index, words, .. }) = step else { panic!("no row of {}", table.name()) };
    change(index, words);
    load
}

#[test]
fn a_load_that_names_what_is_anothers_or_what_runs_is_refused() {
    let mut linker = linker();
    let hash = XdpMap { kind: 1, ..array("h", 8, 20) };
    let victim = object(70, vec![array("v", 8, 600), hash]);
    linker.load(7, &victim).unwrap();
    let before = linker.clone();
    let load = linker.load(8, &object(70, vec![array("w", 8, 600)])).unwrap();
    assert_eq!(before.check(&load), Ok(()));
    let red = before.tenant(7).unwrap().module;
    let bank = 2 * u32::from(red) + u32::from(before.generation(7).unwrap());
    type Change<'a> = &'a dyn Fn(&mut u32, &mut Vec<u32>);
    let row = |words: Vec<u32>| move |_: &mut u32, to: &mut Vec<u32>| to.clone_from(&words);
    let page = XdpPageRow { valid: true, module_id: red, next: 0 }.pack().unwrap();
    let own = before.tenant(8).unwrap().module;
    let next = XdpPageRow { valid: true, module_id: own, next: 0 }.pack().unwrap();
    let region = XdpRegionRow {
        valid: true,
        module_id: own,
        outside: false,
        base: 1,
        bytes: 8,
        shift: 3,
        readable: 8,
        writable: 8,
        lock: 0,
    };
    let region = region.pack().unwrap();
    let map = XdpMapRow { valid: true, module_id: red, first: 0x4000_0000, ..XdpMapRow::default() }.pack().unwrap();
    let start = XdpProgramRow { valid: true, start: 64, ..XdpProgramRow::default() }.pack().unwrap();
    let regions = XdpProgramRow { valid: true, start: 640, regions: 0, writable: 2, ..XdpProgramRow::default() };
    let regions = regions.pack().unwrap();
    let known: XdpMapRow = load
        .steps
        .iter()
        .find_map(|s| match s {
            Step::Write { table: Table::XdpMap, words, .. } => XdpMapRow::unpack(words).ok(),
            _ => None,
        })
        .expect("the row of its map");
    let leads = |row: XdpMapRow| row.pack().unwrap();
    let values = leads(XdpMapRow { base: 0, ..known });
    let further = leads(XdpMapRow { entries: known.entries * 8, slots: known.slots * 8, ..known });
    let search = leads(XdpMapRow { kind: XdpMapKind::Hash.code(), ..known });
    let changes: [(Table, Change); 14] = [
        (Table::XdpMap, &row(values)),
        (Table::XdpMap, &row(further)),
        (Table::XdpMap, &row(search)),
        (Table::XdpCode, &|index, _| *index = 0),
        (Table::XdpPage, &|index, _| *index = 1),
        (Table::XdpPage, &row(page)),
        (Table::XdpPage, &row(next)),
        (Table::XdpValue, &|index, _| *index = 130),
        (Table::XdpRegion, &|index, _| *index = 0),
        (Table::XdpRegion, &row(region)),
        (Table::XdpMap, &row(map)),
        (Table::XdpProgram, &|index, _| *index = bank),
        (Table::XdpProgram, &row(start)),
        (Table::XdpProgram, &row(regions)),
    ];
    for (n, (table, change)) in changes.into_iter().enumerate() {
        let error = before.check(&with(&load, table, change)).unwrap_err();
        assert_eq!(error.code(), "E0231", "change {n}: {error}");
    }
    // Rows of what the tenant itself runs are not written under its packets either.
    let before = linker.clone();
    let load = linker.replace(8, &object(70, vec![array("w", 8, 600)])).unwrap();
    assert_eq!(before.check(&load), Ok(()));
    for (table, index) in [(Table::XdpCode, 128), (Table::XdpPage, 2), (Table::XdpRegion, 2), (Table::XdpValue, 384)] {
        let error = before.check(&with(&load, table, &|at, _| *at = index)).unwrap_err();
        assert_eq!(error.code(), "E0232", "{}: {error}", table.name());
    }
}

#[test]
fn seeds_of_hash_maps_are_the_nics_secrets_and_stay_with_the_values_of_a_map() {
    let hash = |name: &str| XdpMap { kind: 1, ..array(name, 8, 16) };
    let seeds = |load: &Load| -> Vec<u32> {
        let rows = load.steps.iter().filter_map(|step| match step {
            Step::Write { table: Table::XdpMap, words, .. } => Some(XdpMapRow::unpack(words).unwrap()),
            _ => None,
        });
        rows.map(|row| row.seed).collect()
    };
    let of = |secrets: Secrets| {
        let mut linker = linker_with(secrets);
        let first = seeds(&linker.load(7, &object(1, vec![pinned(hash("kept")), hash("new")])).unwrap());
        let other = seeds(&linker.load(8, &object(1, vec![hash("kept")])).unwrap());
        let next = seeds(&linker.replace(7, &object(1, vec![pinned(hash("kept")), hash("new")])).unwrap());
        [first, other, next].concat()
    };
    let one = of(Secrets::of_seed(1));
    assert_eq!(one, of(Secrets::of_seed(1)));
    let (two, drawn, again) = (of(Secrets::of_seed(2)), of(Secrets::drawn().unwrap()), of(Secrets::drawn().unwrap()));
    assert!(one[..3].iter().zip(&two).all(|(a, b)| a != b) && drawn[..3].iter().zip(&again).all(|(a, b)| a != b));
    // Modules and maps have each their own; a map that is kept keeps its chains.
    assert!(one[0] != one[1] && one[0] != one[2] && one[3..].contains(&one[0]), "{one:?}");
}

#[test]
fn a_program_that_asks_for_routes_has_a_map_of_its_own_which_is_kept() {
    let mut linker = linker();
    let mut rows = Rows::new(&TINY);
    let asking = |call: u64| {
        let mut asking = object(2, vec![array("counts", 8, 3)]);
        asking.parts.xdp.as_mut().unwrap().programs[0].slots[0] = call;
        asking
    };
    let maps = |rows: &Rows| -> Vec<XdpMapRow> {
        (0..16)
            .map(|map| xdp(rows, Table::XdpMap, map))
            .filter(|row: &XdpMapRow| row.valid && row.kind == XdpMapKind::Trie.code())
            .collect()
    };
    // fib_lookup and check_mtu; the same number is no call of a helper where a function or no call stands.
    rows.run(&linker.load(7, &asking(69 << 32 | 0x85)).unwrap());
    rows.run(&linker.load(8, &asking(163 << 32 | 0x85)).unwrap());
    rows.run(&linker.load(9, &asking(69 << 32 | 0x1085)).unwrap());
    let both = maps(&rows);
    assert_eq!(both.len(), 2);
    let owners = BTreeSet::from([7, 8].map(|id| linker.tenant(id).unwrap().module));
    assert_eq!(both.iter().map(|map| map.module_id).collect::<BTreeSet<_>>(), owners);
    assert!(both[0].base != both[1].base && both[0].state != both[1].state && both.iter().all(|map| map.constant));
    let all = |row: &XdpMapRow| (row.key_bytes, row.value_bytes, row.entries);
    assert_eq!(both.iter().map(all).collect::<Vec<_>>(), [(24, 64, 64); 2]);
    // A replacement has the same entries; the values of other maps begin anew.
    let load = linker.replace(7, &asking(69 << 32 | 0x85)).unwrap();
    rows.run(&load);
    let red = linker.tenant(7).unwrap().module;
    let kept: Vec<_> = maps(&rows).into_iter().filter(|map| map.module_id == red).collect();
    assert!(kept.iter().all(|map| (map.base, map.state) == (both[0].base, both[0].state)), "{kept:?} {both:?}");
    // Without hardware nothing is added.
    let mut software = Linker::new(&TINY);
    software.admit(tenant(7, "red", 0, &TINY)).unwrap();
    let load = software.load(7, &asking(69 << 32 | 0x85)).unwrap();
    let installs = load.steps.iter().filter_map(|step| match step {
        Step::Install { install: Some(sluice_object::Install::Xdp(placed)), .. } => Some(placed.xdp.maps.len()),
        _ => None,
    });
    assert_eq!(installs.collect::<Vec<_>>(), [1]);
}
