//! Files of every format version: today's code reads them and writes the same bytes.
//!
//! SLUICE_WRITE_GOLDEN=1 writes files that are missing; it never changes one.

use crate::common;
use crate::common::tenant;
use sluice_formats::EngineId;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::compare::L7Bytes;
use sluice_formats::l7::rows::{
    L7AlternativePart, L7GroupRow, L7MatchRow, L7MovePart, L7PortRow, L7StartRow, L7TargetPart,
};
use sluice_formats::random::Rng;
use sluice_formats::target::TINY;
use sluice_object::linker::rmt::Quota;
use sluice_object::{
    Action, Destination, KeyKind, KeySpec, L7Application, L7Part, Linker, Load, Match, Object, Rate, Symbol, SymbolOf,
    TenantSpec, Xdp, XdpEntry, XdpInitial, XdpMap, XdpProgram,
};
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn golden(name: &str, today: &[u8]) -> Vec<u8> {
    if std::env::var_os("SLUICE_WRITE_GOLDEN").is_some() && !path(name).exists() {
        std::fs::write(path(name), today).unwrap();
    }
    std::fs::read(path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn port(n: u8) -> Destination {
    Destination::Port(n)
}

/// Uses every part of the format.
fn red() -> Object {
    let key = KeySpec::of_fields(KeyKind::FiveTuple, &["dst", "dport", "src[0]"]).unwrap();
    let mut object = Object::new("red", key, Action::to([Destination::Host(1)]));
    object.target = sluice_object::TargetNeed::exact(&TINY);
    for n in 1..=6u8 {
        let m = Match {
            dst: Some([10, 0, 0, n].into()),
            dport: Some(80 + u16::from(n)),
            src: Some([10, 0, 0, 0].into()),
            ..Match::default()
        };
        let action = match n % 3 {
            0 => Action::DROP,
            1 => Action::to([port(n % 4)]).set_dmac([2, 0, 0, 0, 0, n]),
            _ => Action::to([port(0), port(1), port(2), port(3)]).except_ingress(),
        };
        object.push(m.key(&key).unwrap(), action);
    }
    object.demands.entries = 8;
    object.demands.queues.insert(port(0), 10);
    object.demands.quantum = 500;
    object.demands.rate = Some(Rate { bits_per_second: 1_000_000_000, burst_bytes: 20_000 });
    object.symbols = vec![
        Symbol { name: "gateway".to_owned(), of: SymbolOf::Entry(0) },
        Symbol { name: "uplink".to_owned(), of: SymbolOf::Destination(port(3)) },
    ];
    object
}

/// The smallest one.
fn nothing() -> Object {
    Object::new("nothing", KeySpec::NONE, Action::DROP)
}

/// Uses every part of an XDP program.
fn filter() -> Object {
    let map = |name: &str, kind, sizes: [u32; 3]| XdpMap {
        name: name.to_owned(),
        kind,
        key_size: sizes[0],
        value_size: sizes[1],
        max_entries: sizes[2],
        ..XdpMap::default()
    };
    let maps = vec![
        XdpMap { pinned: true, flags: 1, spin_lock: Some(8), ..map("flows", 1, [4, 16, 1000]) },
        XdpMap { initial: vec![(3, XdpInitial::Program("tail".to_owned()))], ..map("calls", 3, [4, 4, 8]) },
        XdpMap {
            initial: vec![(0, XdpInitial::Map(3))],
            inner: Some(Box::new(map("inner", 2, [4, 8, 2]))),
            ..map("outer", 12, [4, 4, 1])
        },
        map("count", 2, [4, 8, 2]),
        XdpMap { frozen: true, contents: Some(b"abcd".to_vec()), ..map(".rodata", 2, [4, 4, 1]) },
    ];
    let program = |name: &str, slots: Vec<u64>| XdpProgram {
        name: name.to_owned(),
        functions: vec![(name.to_owned(), 0), ("helper".to_owned(), 2)],
        slots,
    };
    let mut object = Object::new("filter", KeySpec::NONE, Action::to([Destination::Host(1)]));
    object.demands.queues.insert(port(0), 4);
    object.parts.xdp = Some(Box::new(Xdp {
        main: 1,
        programs: vec![
            program("tail", vec![0x2_0000_00b7, 0x95, 0x95]),
            program("main", vec![0x1_0000_00b7, 0x95, 0x95]),
        ],
        maps,
        keep: vec!["count".to_owned()],
        entries: vec![XdpEntry { map: 3, key: vec![1, 0, 0, 0], value: vec![9; 8] }],
        interfaces: [(7, 0), (9, 3)].into(),
    }));
    object
}

/// Uses every part of a program for the rmt pipeline.
fn router() -> Object {
    common::rmt::object(common::rmt::part())
}

/// Has its rows of logical tables.
fn tables() -> Object {
    let mut rng = Rng::new(4);
    let objects = (0..100).map(|_| common::rmt::object(common::rmt::with_tables(common::rmt::logical(&mut rng))));
    let has_both = |object: &Object| {
        let stage = &object.parts.rmt.as_ref().unwrap().stages[&1];
        object.check().is_ok() && !stage.exact.is_empty() && stage.ternary.len() > 2
    };
    objects.into_iter().find(has_both).unwrap()
}

/// Uses every part of rules for dispatch, behind a table.
fn rules() -> Object {
    let target = |goal, number| L7TargetPart::new(goal, number);
    let mut row = L7MatchRow {
        length: 3,
        step: L7MovePart { field: 2, skip: 1, stop: 1 },
        miss: target(L7Goal::Row, 1),
        ..L7MatchRow::default()
    };
    row.alternatives[0] = L7AlternativePart {
        valid: true,
        ends: true,
        bytes: L7Bytes::of(b"abc"),
        target: target(L7Goal::Group, 0),
        ..L7AlternativePart::default()
    };
    row.alternatives[1] = L7AlternativePart {
        valid: true,
        anyway: true,
        target: target(L7Goal::Queue, 5),
        ..L7AlternativePart::default()
    };
    let start = L7StartRow {
        step: L7MovePart { field: 1, ..L7MovePart::default() },
        target: target(L7Goal::Row, 0),
        module_id: 0,
    };
    let port = L7PortRow {
        valid: true,
        port: 9000,
        id: 7,
        stops: [b'/', 0],
        stop_count: 1,
        otherwise: target(L7Goal::Drop, 0),
        types: 2,
        expiry: 1000,
        ..L7PortRow::default()
    };
    let endpoint = L7PortRow {
        valid: true,
        port: 9001,
        kind: L7PortKind::Endpoint.code(),
        otherwise: target(L7Goal::Queue, 2),
        ..L7PortRow::default()
    };
    let mut slots = [0; 16];
    slots[3] = 4;
    let mut object = Object::new("rules", KeySpec::whole(KeyKind::Dmac), Action::to([Destination::Host(3)]));
    object.parts.l7 = Some(Box::new(L7Part {
        applications: vec![
            L7Application { name: "store".to_owned(), row: port, discard: true },
            L7Application { name: "endpoint-9001".to_owned(), row: endpoint, discard: false },
        ],
        starts: vec![L7StartRow::default(), start],
        rows: vec![row, L7MatchRow::default()],
        groups: vec![L7GroupRow { module_id: 0, field: 1, slots }],
    }));
    object
}

/// The load that puts them in place of themselves.
fn load_of_rules() -> Load {
    let mut linker = Linker::of(&TINY, &[EngineId::RMT, EngineId::L7], None);
    let mut spec = tenant(7, "red", 1, &TINY);
    spec.make_room(&rules());
    linker.admit(spec).unwrap();
    linker.load(7, &rules()).unwrap();
    linker.replace(7, &rules()).unwrap()
}

/// The load that puts it in place of itself, its state kept.
fn load_of_router() -> Load {
    let mut linker = Linker::new(&TINY);
    linker.admit(TenantSpec { rmt: Some(Quota::default()), ..tenant(0, "system", 0, &TINY) }).unwrap();
    let mut system = common::rmt::part();
    system.stages.clear();
    system.groups.clear();
    linker.load(0, &common::rmt::object(system)).unwrap();
    let mut spec = tenant(7, "red", 0, &TINY);
    spec.make_room(&router());
    linker.admit(spec).unwrap();
    linker.load(7, &router()).unwrap();
    linker.replace(7, &router()).unwrap()
}

/// The load that puts it in place of itself, with two maps kept.
fn load_of_filter() -> Load {
    let mut linker = Linker::new(&TINY);
    linker.admit(tenant(7, "red", 0, &TINY)).unwrap();
    linker.load(7, &filter()).unwrap();
    linker.replace(7, &filter()).unwrap()
}

fn load_of_red() -> Load {
    let mut linker = Linker::new(&TINY);
    let mut spec = tenant(7, "red", 8, &TINY);
    spec.rate = Some(Rate { bits_per_second: 2_000_000_000, burst_bytes: 40_000 });
    linker.admit(spec).unwrap();
    linker.load(7, &red()).unwrap()
}

#[test]
fn objects_of_version_7() {
    for (name, object) in [
        ("red.v7", red()),
        ("nothing.v7", nothing()),
        ("filter.v7", filter()),
        ("router.v7", router()),
        ("rules.v7", rules()),
        ("tables.v7", tables()),
    ] {
        let binary = golden(&format!("{name}.slob"), &object.to_binary());
        assert_eq!(Object::decode(&binary).unwrap(), object);
        assert_eq!(object.to_binary(), binary);
        let json = golden(&format!("{name}.json"), object.to_json().as_bytes());
        assert_eq!(Object::decode(&json).unwrap(), object);
        assert_eq!(object.to_json().into_bytes(), json);
    }
}

#[test]
fn loads_of_version_7() {
    for (name, load) in [
        ("red.v7", load_of_red()),
        ("filter.v7", load_of_filter()),
        ("router.v7", load_of_router()),
        ("rules.v7", load_of_rules()),
    ] {
        let binary = golden(&format!("{name}.slld"), &load.to_binary());
        assert_eq!(Load::from_binary(&binary).unwrap(), load);
        assert_eq!(load.to_binary(), binary);
        let json = golden(&format!("{name}.load.json"), load.to_json().as_bytes());
        assert_eq!(Load::from_json(std::str::from_utf8(&json).unwrap()).unwrap(), load);
        assert_eq!(load.to_json().into_bytes(), json);
    }
}

#[test]
fn object_show() {
    let text = sluice_object::show::table(&red());
    assert_eq!(text.into_bytes(), golden("red.v7.txt", sluice_object::show::table(&red()).as_bytes()));
    let text = sluice_object::show::table(&filter());
    assert_eq!(text.as_bytes(), golden("filter.v7.txt", text.as_bytes()));
    let text = sluice_object::show::table(&router());
    assert_eq!(text.as_bytes(), golden("router.v7.txt", text.as_bytes()));
    let text = sluice_object::show::table(&rules());
    assert_eq!(text.as_bytes(), golden("rules.v7.txt", text.as_bytes()));
    let text = sluice_object::show::table(&tables());
    assert_eq!(text.as_bytes(), golden("tables.v7.txt", text.as_bytes()));
    assert_eq!(sluice_object::show::json(&red())["entries"].as_array().unwrap().len(), 6);
}

#[test]
fn any_changed_byte_of_a_binary_is_refused() {
    for (bytes, decode) in [
        (red().to_binary(), (|b| Object::from_binary(b).is_err()) as fn(&[u8]) -> bool),
        (filter().to_binary(), |b| Object::from_binary(b).is_err()),
        (load_of_red().to_binary(), |b| Load::from_binary(b).is_err()),
        (load_of_filter().to_binary(), |b| Load::from_binary(b).is_err()),
        (router().to_binary(), |b| Object::from_binary(b).is_err()),
        (tables().to_binary(), |b| Object::from_binary(b).is_err()),
    ] {
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            assert!(decode(&bad), "byte {at}");
            assert!(decode(&bytes[..at]), "cut at {at}");
        }
    }
}

#[test]
fn other_versions_are_refused_in_both_forms() {
    let mut bytes = red().to_binary();
    bytes[4] = 1;
    assert_eq!(Object::from_binary(&bytes).unwrap_err().code(), "E0202");
    let text = red().to_json().replace("\"sluice_object\": 7", "\"sluice_object\": 0");
    assert_eq!(Object::from_json(&text).unwrap_err().code(), "E0202");
    let text = load_of_red().to_json().replace("\"format_version\": 7", "\"format_version\": 8");
    assert_eq!(Load::from_json(&text).unwrap_err().code(), "E0202");
}

#[test]
fn except_ingress_needs_a_port() {
    let refused = |text: &str, part: &str| {
        let error = Object::from_json(text).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    };
    let mut nobody = red();
    nobody.default = Action::to([Destination::Host(1)]).except_ingress();
    refused(&nobody.to_json(), "a port among the destinations");
}

/// Files of versions before this one stay, and are refused by their version.
#[test]
fn files_of_earlier_versions_are_refused() {
    let refused = |name: &str, code: Option<&str>| assert_eq!(code, Some("E0202"), "{name}");
    let read = |name: &str| std::fs::read(path(name)).unwrap();
    // Rules came with version 3.
    let rules: [(&str, &[&str]); 6] =
        [("v1", &[]), ("v2", &[]), ("v3", &["rules"]), ("v4", &["rules"]), ("v5", &["rules"]), ("v6", &["rules"])];
    for (version, since) in rules {
        for name in ["red", "nothing", "filter", "router"].iter().chain(since) {
            for name in [format!("{name}.{version}.slob"), format!("{name}.{version}.json")] {
                refused(&name, Object::decode(&read(&name)).err().map(|e| e.code()));
            }
        }
        for name in ["red", "filter", "router"].iter().chain(since) {
            let (binary, json) = (format!("{name}.{version}.slld"), format!("{name}.{version}.load.json"));
            refused(&binary, Load::from_binary(&read(&binary)).err().map(|e| e.code()));
            let text = String::from_utf8(read(&json)).unwrap();
            refused(&json, Load::from_json(&text).err().map(|e| e.code()));
        }
    }
}
