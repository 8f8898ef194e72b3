//! Maps on an XDP engine with external memory: what lies there, what stays on the chip, and what is refused.

use crate::common::{Rows, tenant};
use sluice_formats::target::{TINY, TINY_FAR};
use sluice_formats::xdp::rows::{XdpMapRow, XdpOutsideRow, XdpProgramRow, XdpRegionRow};
use sluice_formats::{EngineId, Node, Row, Table};
use sluice_object::{
    Action, Destination, KeySpec, LinkError, Linker, Load, Object, Step, Xdp, XdpCode, XdpEntry, XdpMap, XdpMemory,
    XdpProgram, XdpRefusal, XdpWarpRoom,
};
use std::collections::BTreeMap;

fn compiler(_: &Xdp, _: Option<XdpWarpRoom>) -> Result<XdpCode, XdpRefusal> {
    Ok(XdpCode { rows: vec![Default::default()], starts: vec![0], ..XdpCode::default() })
}

fn map(name: &str, kind: u32, value_size: u32, max_entries: u32) -> XdpMap {
    XdpMap { name: name.to_owned(), kind, key_size: 4, value_size, max_entries, ..XdpMap::default() }
}

fn array(name: &str, value_size: u32, max_entries: u32) -> XdpMap {
    map(name, 2, value_size, max_entries)
}

fn object(maps: Vec<XdpMap>, keep: &[&str], entries: Vec<XdpEntry>) -> Object {
    let program = XdpProgram { name: "main".to_owned(), slots: vec![0x95], functions: Vec::new() };
    let mut object = Object::new("program", KeySpec::NONE, Action::to([Destination::Host(1)]));
    let keep = keep.iter().map(|name| (*name).to_owned()).collect();
    let (programs, interfaces) = (vec![program], BTreeMap::new());
    object.parts.xdp = Some(Box::new(Xdp { main: 0, programs, maps, keep, entries, interfaces }));
    object
}

fn linker() -> Linker {
    let mut linker = Linker::of(&TINY_FAR, &[EngineId::XDP], Some(compiler));
    for (id, name) in [(7, "red"), (8, "blue")] {
        linker.admit(tenant(id, name, 0, &TINY_FAR)).unwrap();
    }
    linker
}

fn refused(result: Result<Load, LinkError>) -> (&'static str, String) {
    let error = result.unwrap_err();
    (error.code(), error.to_string())
}

/// Writes of a table in a load: indices and rows.
fn written<R: Row>(load: &Load, of: Table) -> Vec<(u32, R)> {
    let row = |step: &Step| match step {
        Step::Write { table, index, words, .. } if *table == of => Some((*index, R::unpack(words).unwrap())),
        _ => None,
    };
    load.steps.iter().filter_map(row).collect()
}

#[test]
fn a_map_lies_on_the_chip_while_it_fits_and_else_outside() {
    let mut linker = linker();
    // 32 KiB are on the chip: the first, and the hash map behind the large array.
    let maps = vec![array("near", 8, 2048), array("far", 8, 5 << 20), map("flows", 1, 40, 100), array("wide", 64, 400)];
    let load = linker.load(7, &object(maps, &[], Vec::new())).unwrap();
    let mut rows = Rows::new(&TINY_FAR);
    rows.run(&load);
    let maps: Vec<XdpMapRow> = (0..4).map(|map| rows.row(Node::Xdp, Table::XdpMap, map)).collect();
    assert_eq!(maps.iter().map(|map| map.outside).collect::<Vec<_>>(), [false, true, false, true]);
    // 40 MiB and 25 KiB, in units of 64 KiB; each becomes zero before anything leads to it.
    let cleared: Vec<(u32, XdpOutsideRow)> = written(&load, Table::XdpOutside);
    assert_eq!(cleared.iter().map(|(first, row)| (*first, row.count)).collect::<Vec<_>>(), [(0, 640), (640, 1)]);
    assert_eq!((maps[1].base, maps[3].base), (0, 640));
    let at =
        |of: Table| load.steps.iter().rposition(|s| matches!(s, Step::Write { table, .. } if *table == of)).unwrap();
    assert!(at(Table::XdpOutside) < at(Table::XdpRegion));
    // The large array has a row for each 16 MiB, behind those of small maps.
    let module = u32::from(linker.tenant(7).unwrap().module);
    let bank = 2 * module + u32::from(linker.generation(7).unwrap());
    let program: XdpProgramRow = rows.row(Node::Xdp, Table::XdpProgram, bank);
    assert_eq!((program.writable, program.large_writable, program.read_only, program.large_read_only), (3, 3, 0, 0));
    assert_eq!((maps[0].first, maps[1].first, maps[3].first), (0x4000_0000, 0x4100_0000, 0x4002_0000));
    let region = |at: u16| rows.row::<XdpRegionRow>(Node::Xdp, Table::XdpRegion, (program.regions + at).into());
    let large: Vec<XdpRegionRow> = (3..6).map(region).collect();
    assert!(large.iter().all(|row| row.valid && row.outside && u32::from(row.module_id) == module));
    assert_eq!(
        large.iter().map(|row| (row.base, row.bytes)).collect::<Vec<_>>(),
        [(0, 1 << 24), (256, 1 << 24), (512, 1 << 23)]
    );
    assert_eq!((region(0).outside, region(1).outside, region(2).outside, region(2).base), (false, false, true, 640));
}

#[test]
fn external_memory_comes_back_and_a_kept_map_is_not_cleared() {
    let mut linker = linker();
    let far = || array("far", 8, 33 << 20);
    for _ in 0..3 {
        linker.load(7, &object(vec![far()], &["far"], Vec::new())).unwrap();
        let kept = linker.replace(7, &object(vec![far(), array("more", 8, 8 << 20)], &["far"], Vec::new())).unwrap();
        let cleared: Vec<(u32, XdpOutsideRow)> = written(&kept, Table::XdpOutside);
        assert_eq!(cleared.iter().map(|(first, row)| (*first, row.count)).collect::<Vec<_>>(), [(33 * 128, 1024)]);
        let (code, text) = refused(linker.load(8, &object(vec![far()], &[], Vec::new())));
        assert_eq!(code, "E0807");
        assert!(
            text.contains("4224 units of 64 KiB of external memory for map `far`, 2944 left of 8192; held by red 5248"),
            "{text}"
        );
        assert!(text.ends_with("max_entries of `far` would fit up to 24117248"), "{text}");
        linker.unload(7).unwrap();
    }
}

#[test]
fn what_external_memory_cannot_have_is_refused_with_its_size() {
    let mut linker = linker();
    let (code, text) =
        refused(linker.load(7, &object(vec![array("far", 512, 1 << 21), array("one", 8, 1)], &[], Vec::new())));
    assert_eq!(code, "E0806");
    assert!(text.contains("1073741832 bytes of addresses of map values"), "{text}");
    assert!(text.ends_with("target tiny_far has 1073741824"), "{text}");
    let (code, text) = refused(linker.load(7, &object(vec![array("far", 8, (1 << 26) + 1)], &[], Vec::new())));
    assert_eq!(code, "E0806");
    assert!(text.contains("8193 units of 64 KiB of external memory for map `far`, target tiny_far has 8192"), "{text}");
    // What begins with entries stays on the chip, as what only the host changes does.
    let begins = XdpEntry { map: 0, key: vec![1, 0, 0, 0], value: vec![3; 8] };
    for object in [
        object(vec![array("far", 8, 1 << 16)], &[], vec![begins]),
        object(vec![map("cpus", 16, 4, 1 << 16)], &[], Vec::new()),
    ] {
        let (code, text) = refused(linker.load(7, &object));
        assert!(code == "E0806" && text.contains("128 pages of 4 KiB of value memory"), "{text}");
    }
}

#[test]
fn a_load_that_clears_or_reaches_what_another_has_outside_is_refused() {
    let mut linker = linker();
    linker.load(7, &object(vec![array("far", 8, 1 << 20)], &[], Vec::new())).unwrap();
    let before = linker.clone();
    let good = linker.load(8, &object(vec![array("far", 8, 1 << 20)], &[], Vec::new())).unwrap();
    before.check(&good).unwrap();
    let change = |of: Table, with: &dyn Fn(&mut u32, &mut Vec<u32>)| {
        let mut load = good.clone();
        for step in &mut load.steps {
            if let Step::Write { table, index, words, .. } = step
                && *table == of
            {
                with(index, words);
            }
        }
        before.check(&load).unwrap_err().to_string()
    };
    let clears = change(Table::XdpOutside, &|index, _| *index = 0);
    assert!(clears.contains("row 0 of xdp_outside is module"), "{clears}");
    let clears = change(Table::XdpOutside, &|index, words| {
        *index = 120;
        words[0] = 16;
    });
    assert!(clears.contains("row 120 of xdp_outside is module"), "{clears}");
    let reaches = change(Table::XdpRegion, &|_, words| {
        let row = XdpRegionRow::unpack(words).unwrap();
        *words = XdpRegionRow { base: row.base - 1, ..row }.pack().unwrap();
    });
    assert!(reaches.contains("of xdp_outside is module"), "{reaches}");
    let reaches = change(Table::XdpMap, &|_, words| {
        let row = XdpMapRow::unpack(words).unwrap();
        *words = XdpMapRow { base: row.base - 1, ..row }.pack().unwrap();
    });
    assert!(reaches.contains("of xdp_outside is module"), "{reaches}");
}

#[test]
fn rows_of_search_memory_lie_on_the_chip_while_they_fit_and_else_outside() {
    let mut linker = linker();
    let maps = vec![map("near", 1, 8, 100), map("far", 9, 8, 1 << 20), map("copies", 5, 8, 60_000)];
    let object = object(maps, &[], Vec::new());
    let load = linker.load(7, &object).unwrap();
    let mut rows = Rows::new(&TINY_FAR);
    rows.run(&load);
    let maps: Vec<XdpMapRow> = (0..3).map(|map| rows.row(Node::Xdp, Table::XdpMap, map)).collect();
    // From 2^15 on a row lies outside, in 4 KiB. They are the last ones of the first 128 MiB, but for the last 64 KiB.
    let outside: Vec<bool> = maps.iter().map(|map| (map.state & map.bucket & map.entry) >> 15 == 1).collect();
    assert_eq!((outside, maps[1].clock >> 15, maps[0].clock >> 15), (vec![false, true, true], 1, 0));
    let units = |map: &XdpMapRow| u32::from(map.state & 0x7fff) / 16;
    let cleared: Vec<(u32, XdpOutsideRow)> = written(&load, Table::XdpOutside);
    let search: Vec<(u32, u32)> =
        cleared.iter().filter(|(first, _)| *first > 1000).map(|(first, row)| (*first, row.count)).collect();
    // 2^20 and 4 entries of a row, as many chains in a quarter of that, bits of 64 in a row.
    let far = (256 + (1 << 18) + (1 << 14) + 256 + (1 << 20) + 4u32).div_ceil(4096);
    let copies = (256 + (1 << 14) + 60_000u32).div_ceil(4096);
    assert_eq!(search, [(2047 - far, far), (2047 - far - copies, copies)]);
    assert_eq!((units(&maps[1]), units(&maps[2])), (search[0].0, search[1].0));
    // Their first rows are written behind that.
    let first = |unit: u32| (1 << 23) + unit * 4096;
    let at = |of: Table, row: u32| {
        load.steps.iter().position(|s| matches!(s, Step::Write { table, index, .. } if *table == of && *index == row))
    };
    assert!(at(Table::XdpOutside, search[0].0).unwrap() < at(Table::XdpSearch, first(search[0].0)).unwrap());
    // Another tenant's map that reaches them is refused, and comes back with them.
    let others = linker.clone().load(8, &object).unwrap();
    let mut foreign = others.clone();
    let own: Vec<u16> = written::<XdpMapRow>(&others, Table::XdpMap).iter().map(|(_, row)| row.entry).collect();
    for step in &mut foreign.steps {
        let Step::Write { table: Table::XdpMap, words, .. } = step else { continue };
        let row: XdpMapRow = XdpMapRow::unpack(words).unwrap();
        if row.valid && row.entry == own[1] {
            *words = XdpMapRow { entry: maps[1].entry, ..row }.pack().unwrap();
        }
    }
    assert!(linker.check(&others).is_ok());
    let refused = linker.check(&foreign).unwrap_err();
    assert!(refused.to_string().contains("of xdp_outside is module"), "{refused}");
    linker.unload(7).unwrap();
    assert_eq!(linker.load(7, &object).unwrap().steps.len(), load.steps.len());
}

/// A map that is said to lie somewhere.
fn placed(map: XdpMap, place: XdpMemory) -> XdpMap {
    XdpMap { place: Some(place), ..map }
}

#[test]
fn a_map_lies_where_it_is_said_to_and_what_is_said_of_the_chip_goes_first() {
    let mut linker = linker();
    // Of 32 KiB on the chip the last one takes 20: the first, which nobody speaks of, has no room there any more.
    let flows = placed(map("flows", 1, 40, 100), XdpMemory::Outside);
    let maps = vec![
        array("first", 8, 2048),
        placed(array("few", 8, 4), XdpMemory::Outside),
        flows.clone(),
        placed(array("own", 8, 2560), XdpMemory::Chip),
    ];
    linker.load(7, &object(maps.clone(), &["few"], Vec::new())).unwrap();
    let lies = |linker: &Linker| -> Vec<(String, XdpMemory, Option<XdpMemory>)> {
        let places = linker.map_places(7).unwrap();
        places.into_iter().map(|(name, place)| (name, place.values, place.search.map(|search| search.0))).collect()
    };
    let outside = |name: &str, search| (name.to_owned(), XdpMemory::Outside, search);
    let own = ("own".to_owned(), XdpMemory::Chip, None);
    let all = [outside("first", None), outside("few", None), outside("flows", Some(XdpMemory::Outside)), own];
    assert_eq!(lies(&linker), all);
    let places = linker.map_places(7).unwrap();
    assert_eq!((places[1].1.bytes, places[3].1.bytes), (32, 20 << 10));
    // A kept map stays where it is, whoever says so, and is refused where somebody says something else.
    let replaced =
        object(vec![array("few", 8, 4), placed(array("own", 8, 4), XdpMemory::Outside)], &["few"], Vec::new());
    linker.replace(7, &replaced).unwrap();
    assert_eq!(lies(&linker), [outside("few", None), outside("own", None)]);
    let moved = object(vec![placed(array("few", 8, 4), XdpMemory::Chip)], &["few"], Vec::new());
    let (code, text) = refused(linker.replace(7, &moved));
    assert_eq!(code, "E0809");
    assert!(text.ends_with("map `few`: `chip` is said: found a map that is kept from the program before and lies elsewhere, allowed: where it lies"), "{text}");
    // What is refused took nothing, and all of it comes back.
    linker.unload(7).unwrap();
    linker.load(7, &object(maps, &[], Vec::new())).unwrap();
    assert_eq!(lies(&linker), all);
    // Its room on the chip is another's now.
    let late = || object(vec![placed(array("late", 8, 2560), XdpMemory::Chip)], &[], Vec::new());
    let (code, text) = refused(linker.load(8, &late()));
    assert!(code == "E0807" && text.contains("5 pages of 4 KiB of value memory for map `late`, 3 left of 8"), "{text}");
    let anywhere = object(vec![array("late", 8, 2560)], &[], Vec::new());
    linker.load(8, &anywhere).unwrap();
}

#[test]
fn a_place_that_a_map_cannot_have_is_refused_on_every_device() {
    let begins = XdpEntry { map: 0, key: vec![1, 0, 0, 0], value: vec![3; 8] };
    let outside = |map| vec![placed(map, XdpMemory::Outside)];
    let on_chip = |map| vec![placed(map, XdpMemory::Chip)];
    let data = XdpMap { contents: Some(vec![1; 8]), ..array(".data", 8, 1) };
    for compile in [None, Some(compiler as _)] {
        for (target, object, found) in [
            (
                &TINY,
                object(outside(array("few", 8, 4)), &[], Vec::new()),
                "found target tiny, which has no external memory, allowed: chip, or target far or tiny_far",
            ),
            (
                &TINY_FAR,
                object(outside(map("cpus", 16, 4, 4)), &[], Vec::new()),
                "found a map that only the host changes, which stays on the chip, allowed: chip",
            ),
            (
                &TINY_FAR,
                object(outside(array("few", 8, 4)), &[], vec![begins.clone()]),
                "found a map that begins with entries, which stays on the chip, allowed: chip",
            ),
            (
                &TINY_FAR,
                object(outside(data.clone()), &[], Vec::new()),
                "found a map that begins with entries, which stays on the chip, allowed: chip",
            ),
            (
                &TINY_FAR,
                object(on_chip(array("many", 8, 4097)), &[], Vec::new()),
                "found 9 pages of 4 KiB of values, allowed: at most 8 on target tiny_far",
            ),
            (
                &TINY_FAR,
                object(on_chip(map("keys", 1, 1, 2000)), &[], Vec::new()),
                "rows of search memory, allowed: at most 1024 on target tiny_far",
            ),
            (
                &TINY_FAR,
                object(on_chip(map("ring", 27, 0, 4096)), &[], Vec::new()),
                "found a map of a kind that lies in none of the engine's memories, allowed: nothing said",
            ),
        ] {
            let mut linker = Linker::of(target, &[EngineId::XDP], compile);
            linker.admit(tenant(7, "red", 0, target)).unwrap();
            let (code, text) = refused(linker.load(7, &object));
            assert!(code == "E0809" && text.contains(found), "{text}");
        }
    }
}
