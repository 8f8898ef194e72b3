//! XDP programs in objects and loads: what the linker places, keeps and refuses.

mod common;

use common::tenant;
use sluice_formats::target::TINY;
use sluice_object::{
    Action, Destination, KeySpec, LinkError, Linker, Load, Object, PlacedXdp, Step, Xdp, XdpInitial, XdpMap, XdpProgram,
};
use std::collections::BTreeMap;

fn map(name: &str, value_size: u32) -> XdpMap {
    XdpMap { name: name.to_owned(), kind: 1, key_size: 4, value_size, max_entries: 8, ..XdpMap::default() }
}

fn object(maps: Vec<XdpMap>) -> Object {
    let program = XdpProgram { name: "xdp".to_owned(), slots: vec![0x95], functions: Vec::new() };
    let mut object = Object::new("program", KeySpec::NONE, Action::to([Destination::Host(0)]));
    object.xdp = Some(Box::new(Xdp {
        main: 0,
        programs: vec![program],
        maps,
        keep: Vec::new(),
        entries: Vec::new(),
        interfaces: BTreeMap::new(),
    }));
    object
}

fn pinned(mut map: XdpMap) -> XdpMap {
    map.pinned = true;
    map
}

/// A linker whose tenant 7 runs the object.
fn running(object: &Object) -> Linker {
    let mut linker = Linker::new(&TINY);
    linker.admit(tenant(7, "red", 0, &TINY)).unwrap();
    linker.admit(tenant(8, "blue", 0, &TINY)).unwrap();
    linker.load(7, object).unwrap();
    linker
}

fn program_steps(load: &Load) -> Vec<(usize, u8, Option<&PlacedXdp>)> {
    fn step((i, step): (usize, &Step)) -> Option<(usize, u8, Option<&PlacedXdp>)> {
        match step {
            Step::Program { generation, program, .. } => Some((i, *generation, program.as_deref())),
            _ => None,
        }
    }
    load.steps.iter().enumerate().filter_map(step).collect()
}

#[test]
fn a_replacement_installs_before_its_commit_and_takes_the_old_program_away_when_it_has_drained() {
    let first = object(vec![pinned(map("flows", 8)), map("count", 8)]);
    let mut linker = running(&first);
    let before = linker.generation(7).unwrap();
    // The new program has its maps in another order.
    let load = linker.replace(7, &object(vec![map("count", 8), pinned(map("flows", 8))])).unwrap();
    let steps = program_steps(&load);
    let [(put, new, Some(program)), (taken, old, None)] = steps[..] else { panic!("{steps:?}") };
    assert_eq!((old, new), (before, 1 - before));
    assert_eq!(program.kept, [(1, 0)].into());
    assert_eq!(program.pass, Destination::Host(0));
    let at = |wanted: &dyn Fn(&Step) -> bool| load.steps.iter().position(wanted).unwrap();
    let commit = at(&|s| matches!(s, Step::Commit { .. }));
    let drained = at(&|s| matches!(s, Step::WaitDrained { generation, .. } if *generation == old));
    assert!(put < commit && commit < drained && drained < taken, "{load:?}");

    let load = linker.unload(7).unwrap();
    assert!(matches!(program_steps(&load)[..], [(_, g, None)] if g == new));
}

#[test]
fn a_kept_map_that_differs_refuses_the_replacement_and_nothing_changes() {
    let with = |change: &dyn Fn(&mut XdpMap)| {
        let mut map = pinned(map("flows", 8));
        map.inner = Some(Box::new(XdpMap { name: "inner".to_owned(), kind: 2, ..XdpMap::default() }));
        change(&mut map);
        object(vec![map])
    };
    type Change<'a> = &'a dyn Fn(&mut XdpMap);
    let changes: [(&str, Change<'_>); 7] = [
        ("its type is 1 in the running program and 9 in the new one", &|m| m.kind = 9),
        ("key size is 4", &|m| m.key_size = 5),
        ("value size is 8 in the running program and 16", &|m| m.value_size = 16),
        ("max entries is 8", &|m| m.max_entries = 9),
        ("flags is 0", &|m| m.flags = 1),
        ("inner map's key size", &|m| m.inner.as_mut().unwrap().key_size = 4),
        ("inner map is there in the running program and none", &|m| m.inner = None),
    ];
    for (words, change) in changes {
        let mut linker = running(&with(&|_| {}));
        let before = linker.tenant(7).unwrap().clone();
        let error = linker.replace(7, &with(change)).unwrap_err();
        assert_eq!(error.code(), "E0470");
        assert!(error.to_string().contains(words) && error.to_string().contains("`flows`"), "{error}");
        assert_eq!(*linker.tenant(7).unwrap(), before);
        // A map that nobody asks to keep begins anew, whatever it was.
        let mut cleared = with(change);
        cleared.xdp.as_mut().unwrap().maps[0].pinned = false;
        let load = linker.replace(7, &cleared).unwrap();
        assert!(program_steps(&load)[0].2.unwrap().kept.is_empty());
    }
}

#[test]
fn maps_named_to_be_kept_are_kept_and_parts_of_the_program_never_are() {
    let maps = || {
        let rodata = XdpMap { frozen: true, pinned: true, ..map(".rodata", 8) };
        let calls = XdpMap { kind: 3, pinned: true, ..map("calls", 4) };
        vec![map("count", 8), rodata, calls]
    };
    let mut kept = object(maps());
    kept.xdp.as_mut().unwrap().keep = vec!["count".to_owned()];
    let mut linker = running(&object(maps()));
    let load = linker.replace(7, &kept).unwrap();
    assert_eq!(program_steps(&load)[0].2.unwrap().kept, [(0, 0)].into());
    for (name, words) in
        [("calls", "a program array belong to the program"), (".rodata", "belong"), ("none", "count, .rodata, calls")]
    {
        kept.xdp.as_mut().unwrap().keep = vec![name.to_owned()];
        let error = linker.replace(7, &kept).unwrap_err();
        assert_eq!(error.code(), "E0205");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn loads_that_reach_into_another_module_or_a_live_generation_are_refused() {
    let mut linker = running(&object(vec![pinned(map("flows", 8))]));
    let before = linker.clone();
    let load = linker.replace(7, &object(vec![pinned(map("flows", 8))])).unwrap();
    let other = before.tenant(8).unwrap().module;
    let refused = |change: &dyn Fn(&mut u8, &mut u8, &mut PlacedXdp)| {
        let mut load = load.clone();
        for step in &mut load.steps {
            if let Step::Program { module, generation, program: Some(program) } = step {
                change(module, generation, program);
            }
        }
        before.check(&load).unwrap_err()
    };
    let space = |e: LinkError| matches!(e, LinkError::Space { .. });
    assert!(before.check(&load).is_ok());
    assert!(space(refused(&|module, _, _| *module = other)));
    assert!(space(refused(&|_, generation, _| *generation = 2)));
    assert!(matches!(refused(&|_, generation, _| *generation ^= 1), LinkError::Order { .. }));
    assert!(space(refused(&|_, _, p| p.granted.insert(Destination::Host(7)))));
    assert!(space(refused(&|_, _, p| p.pass = Destination::Port(7))));
    assert!(space(refused(&|_, _, p| p.xdp.maps[0].value_size = 9)));
    assert!(space(refused(&|_, _, p| p.xdp.main = 1)));
    let mut early = load.clone();
    early.steps.retain(|s| !matches!(s, Step::WaitDrained { .. }));
    assert!(matches!(before.check(&early), Err(LinkError::Order { .. })));
}

#[test]
fn what_no_program_may_be_is_refused_with_its_place() {
    type Change = dyn Fn(&mut Object);
    let xdp = |change: fn(&mut Xdp)| move |o: &mut Object| change(o.xdp.as_mut().unwrap());
    let changes: Vec<(&str, Box<Change>)> = vec![
        ("default", Box::new(|o| o.default = Action::DROP)),
        ("key.kind", Box::new(|o| o.key = KeySpec::whole(sluice_object::KeyKind::Dmac))),
        ("xdp.main", Box::new(xdp(|x| x.main = 1))),
        ("xdp.programs[0].slots", Box::new(xdp(|x| x.programs[0].slots.clear()))),
        ("xdp.programs[0].functions[0]", Box::new(xdp(|x| x.programs[0].functions = vec![("f".to_owned(), 1)]))),
        ("xdp.maps[1].name", Box::new(xdp(|x| x.maps.push(x.maps[0].clone())))),
        ("xdp.maps[0].contents", Box::new(xdp(|x| x.maps[0].contents = Some(vec![0; 7])))),
        ("xdp.maps[0].initial[0]", Box::new(xdp(|x| x.maps[0].initial = vec![(0, XdpInitial::Map(1))]))),
        (
            "xdp.entries[0]",
            Box::new(xdp(|x| x.entries = vec![sluice_object::XdpEntry { map: 0, key: vec![], value: vec![] }])),
        ),
    ];
    for (path, change) in changes {
        let mut object = object(vec![map("flows", 8)]);
        object.check().unwrap();
        change(&mut object);
        let error = object.check().unwrap_err();
        assert!(error.to_string().starts_with(path), "{path}: {error}");
        assert_eq!(error.code(), "E0205");
    }
}
