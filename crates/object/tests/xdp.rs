//! XDP programs in objects and loads: what the linker places, keeps and refuses.

use crate::common;
use crate::common::tenant;
use sluice_formats::EngineId;
use sluice_formats::target::TINY;
use sluice_object::linker::rmt::Quota;
use sluice_object::{
    Action, Destination, Install, KeySpec, LinkError, Linker, Load, Object, ObjectError, PlacedXdp, Step, TenantSpec,
    Xdp, XdpInitial, XdpMap, XdpProgram,
};
use std::collections::BTreeMap;

fn map(name: &str, value_size: u32) -> XdpMap {
    XdpMap { name: name.to_owned(), kind: 1, key_size: 4, value_size, max_entries: 8, ..XdpMap::default() }
}

fn object(maps: Vec<XdpMap>) -> Object {
    let program = XdpProgram { name: "xdp".to_owned(), slots: vec![0x95], functions: Vec::new() };
    let mut object = Object::new("program", KeySpec::NONE, Action::to([Destination::Host(0)]));
    object.parts.xdp = Some(Box::new(Xdp {
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
            Step::Install { generation, install: Some(Install::Xdp(program)), .. } => {
                Some((i, *generation, Some(program)))
            }
            Step::Install { generation, .. } => Some((i, *generation, None)),
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
    assert_eq!(program.pass, Some(Destination::Host(0)));
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
        cleared.parts.xdp.as_mut().unwrap().maps[0].pinned = false;
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
    kept.parts.xdp.as_mut().unwrap().keep = vec!["count".to_owned()];
    let mut linker = running(&object(maps()));
    let load = linker.replace(7, &kept).unwrap();
    assert_eq!(program_steps(&load)[0].2.unwrap().kept, [(0, 0)].into());
    for (name, words) in
        [("calls", "a program array belong to the program"), (".rodata", "belong"), ("none", "count, .rodata, calls")]
    {
        kept.parts.xdp.as_mut().unwrap().keep = vec![name.to_owned()];
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
            if let Step::Install { module, generation, install: Some(Install::Xdp(program)), .. } = step {
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
    assert!(space(refused(&|_, _, p| p.pass = Some(Destination::Port(7)))));
    assert!(space(refused(&|_, _, p| p.xdp.maps[0].value_size = 9)));
    assert!(space(refused(&|_, _, p| p.xdp.main = 1)));
    let mut early = load.clone();
    early.steps.retain(|s| !matches!(s, Step::WaitDrained { .. }));
    assert!(matches!(before.check(&early), Err(LinkError::Order { .. })));
}

#[test]
fn what_no_program_may_be_is_refused_with_its_place() {
    type Change = dyn Fn(&mut Object);
    let xdp = |change: fn(&mut Xdp)| move |o: &mut Object| change(o.parts.xdp.as_mut().unwrap());
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

/// The rmt part of the tests of that engine, and this program behind it.
fn both() -> Object {
    let mut object = common::rmt::object(common::rmt::part());
    object.demands.queues.insert(Destination::Host(1), 4);
    object.parts.join(self::object(vec![pinned(map("flows", 8))]).parts).unwrap();
    object
}

#[test]
fn an_object_has_a_part_for_each_engine_in_both_forms() {
    let object = both();
    assert_eq!(object.parts.engines(), [EngineId::XDP, EngineId::RMT]);
    assert_eq!(Object::from_binary(&object.to_binary()), Ok(object.clone()));
    assert_eq!(Object::from_json(&object.to_json()), Ok(object.clone()));
    let shown = sluice_object::show::table(&object);
    assert!(shown.contains("where the rmt program sends") && shown.contains("flows"), "{shown}");
    let again = object.clone().parts.join(object.parts.clone());
    assert_eq!(again, Err(EngineId::XDP), "one part for each engine");
    // What the rmt part asks of an object holds beside a program too.
    let passing = Object { default: Action::to([Destination::Host(1)]), ..object };
    assert!(matches!(passing.check(), Err(ObjectError::Value { path, .. }) if path == "rmt"));
}

#[test]
fn a_program_beside_an_rmt_part_has_no_destination_of_its_own_for_what_it_passes() {
    let mut linker = Linker::new(&TINY);
    let mut system = common::rmt::part();
    system.stages.clear();
    system.groups.clear();
    linker.admit(TenantSpec { rmt: Some(Quota::default()), ..common::tenant(0, "system", 0, &TINY) }).unwrap();
    linker.load(0, &common::rmt::object(system)).unwrap();
    let mut spec = common::tenant(7, "red", 0, &TINY);
    spec.make_room(&both());
    linker.admit(spec).unwrap();
    let load = linker.load(7, &both()).unwrap();
    let [(at, _, Some(program))] = program_steps(&load)[..] else { panic!("{load:?}") };
    assert_eq!(program.pass, None);
    let commit = load.steps.iter().position(|s| matches!(s, Step::Commit { .. })).unwrap();
    let rows = load.steps.iter().rposition(|s| matches!(s, Step::Write { .. })).unwrap();
    assert!(rows < at && at < commit, "rows, then the program, then the commit");
    assert_eq!(Load::from_binary(&load.to_binary()), Ok(load.clone()));
    assert_eq!(Load::from_json(&load.to_json()), Ok(load.clone()));
    // The next program is the rmt part alone: the old one goes with its generation.
    let mut alone = both();
    alone.parts.xdp = None;
    let load = linker.replace(7, &alone).unwrap();
    assert!(matches!(program_steps(&load)[..], [(_, _, None)]), "{load:?}");
}

/// Failed before: the rmt program's quota was all that the tenant had, and a program alone takes two numbers and a row of the first stage.
#[test]
fn a_tenant_with_room_for_an_rmt_program_and_for_a_program_alone_runs_either() {
    let mut part = common::rmt::part();
    part.shared.clear();
    part.keep_state = false;
    let (alone, module) = (object(vec![map("flows", 8)]), common::rmt::object(part));
    for order in [[&alone, &module], [&module, &alone]] {
        let mut spec = common::tenant(7, "red", 0, &TINY);
        order.iter().for_each(|object| spec.make_room(object));
        let mut linker = Linker::new(&TINY);
        linker.admit(spec).unwrap();
        linker.load(7, order[0]).unwrap();
        linker.replace(7, order[1]).unwrap_or_else(|e| panic!("{e}"));
        linker.replace(7, order[0]).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn an_install_for_an_engine_without_installs_or_of_another_engine_is_refused() {
    let mut linker = running(&object(vec![pinned(map("flows", 8))]));
    let before = linker.clone();
    let load = linker.replace(7, &object(vec![pinned(map("flows", 8))])).unwrap();
    let for_rmt = |with: bool| {
        let mut load = load.clone();
        for step in &mut load.steps {
            if let Step::Install { engine, install, .. } = step {
                *engine = EngineId::RMT;
                if !with {
                    *install = None;
                }
            }
        }
        load
    };
    assert!(matches!(before.check(&for_rmt(true)), Err(LinkError::Space { .. })));
    let error = Load::from_binary(&for_rmt(true).to_binary()).unwrap_err();
    assert!(error.to_string().contains("engine 1"), "{error}");
    // Taking away what an engine without installs has says nothing new, and has a form.
    let removes = for_rmt(false);
    assert_eq!(Load::from_json(&removes.to_json()), Ok(removes.clone()));
    assert_eq!(Load::from_binary(&removes.to_binary()), Ok(removes));
}
