//! Images as tenants' objects: what is picked, what is refused, and what comes back on the device.

use sluice_ebpf::image::Initial;
use sluice_ebpf::tenant::{self, Options};
use sluice_ebpf::{Image, Insn, MapSpec, MapType, Program, insn, load};
use sluice_object::{Object, XdpMemory};
use std::path::Path;

fn read(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn version() -> Image {
    load::load(&read("crates/nic/scripts/xdp/version_1.o")).unwrap_or_else(|e| panic!("{e}"))
}

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

#[test]
fn programs_and_maps_come_back_as_they_were() {
    let image = version();
    let object = tenant::object("red", &image, &Options::default()).unwrap();
    let xdp = object.parts.xdp.as_deref().unwrap();
    let back = tenant::image(xdp).unwrap();
    assert_eq!(xdp.main, 0);
    let names: Vec<&str> = back.programs.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    for program in &back.programs {
        let before = image.programs.iter().find(|p| p.name == program.name).unwrap();
        assert_eq!(program.insns, before.insns);
    }
    let plain = |spec: &MapSpec| MapSpec { btf: (0, 0), ..spec.clone() };
    assert_eq!(back.maps, image.maps.iter().map(plain).collect::<Vec<_>>());
    assert!(back.maps.iter().any(|m| m.initial.iter().any(|(_, i)| *i == Initial::Program("second".to_owned()))));
    assert!(back.maps.iter().any(|m| m.name == "pinned" && m.pinned));
    // The same object, the same bytes.
    assert_eq!(object.to_binary(), tenant::object("red", &version(), &Options::default()).unwrap().to_binary());
}

#[test]
fn a_program_is_picked_by_name_or_section_and_maps_are_named_as_in_the_file() {
    let two = Image {
        programs: ["a", "b"]
            .map(|name| Program {
                name: name.to_owned(),
                section: format!("xdp/{name}"),
                ..version().programs[0].clone()
            })
            .to_vec(),
        ..version()
    };
    let picked = |o: Options| tenant::object("red", &two, &o).map(|o| o.parts.xdp.unwrap().programs[0].name.clone());
    assert_eq!(picked(options(|o| o.program = Some("b".to_owned()))).unwrap(), "b");
    assert_eq!(picked(options(|o| o.section = Some("xdp/a".to_owned()))).unwrap(), "a");
    for (wrong, words) in [
        (Options::default(), "which picks several, allowed: one of `a` in section `xdp/a`, `b` in section `xdp/b`"),
        (options(|o| o.program = Some("c".to_owned())), "found `c`, which picks none"),
        (options(|o| o.section = Some("xdp".to_owned())), "found section `xdp`, which picks none"),
    ] {
        let error = picked(wrong).unwrap_err();
        assert_eq!(error.code(), "E0471");
        assert!(error.to_string().contains(words), "{error}");
    }
    let pick = |change: fn(&mut Options)| {
        let options = options(|o| {
            o.program = Some("a".to_owned());
            change(o);
        });
        picked(options).unwrap_err()
    };
    for (error, words) in [
        (
            pick(|o| o.keep.push("none".to_owned())),
            "--keep-maps (`keep_maps` in nic.toml): found `none`, allowed: calls, pinned, named, fresh",
        ),
        (pick(|o| o.max_entries.push(("none".to_owned(), 4))), "--max-entries (`map_sizes` in nic.toml): found `none`"),
        (pick(|o| o.files.push(("none".to_owned(), String::new()))), "--map (`maps` in nic.toml): found `none`"),
        (pick(|o| o.files.push(("calls".to_owned(), String::new()))), "--map (`maps` in nic.toml): found `calls`"),
    ] {
        assert_eq!(error.code(), "E0471");
        assert!(error.to_string().contains(words), "{error}");
    }
    // It is one of those that the tenant says something of, so it stays.
    let no_room = |o: &mut Options| {
        o.keep.push("named".to_owned());
        o.max_entries.push(("named".to_owned(), 0));
    };
    // A program array is no state.
    assert_eq!(pick(|o| o.keep.push("calls".to_owned())).code(), "E0205");
    assert_eq!(pick(no_room).code(), "E0430");
}

#[test]
fn first_entries_are_what_the_files_give() {
    let given = options(|o| {
        o.files.push(("named".to_owned(), "u32:0 u64:7\n".to_owned()));
        // Zeros are there anyway.
        o.files.push(("fresh".to_owned(), "u32:0 u64:0\n".to_owned()));
    });
    let object = tenant::object("red", &version(), &given).unwrap();
    let xdp = object.parts.xdp.unwrap();
    let [entry] = &xdp.entries[..] else { panic!("{:?}", xdp.entries) };
    assert_eq!(xdp.maps[entry.map as usize].name, "named");
    assert_eq!((entry.key.as_slice(), entry.value.as_slice()), (&[0; 4][..], &7u64.to_le_bytes()[..]));
    let wrong = options(|o| o.files.push(("named".to_owned(), "u32:0 u64:7\nu32:1 u64:1\n".to_owned())));
    let error = tenant::object("red", &version(), &wrong).unwrap_err();
    assert_eq!(error.code(), "E0437");
    assert!(error.to_string().contains("map `named`: line 2"), "{error}");
}

#[test]
fn an_object_with_an_unknown_type_of_map_is_refused_by_the_device() {
    let object = tenant::object("red", &version(), &Options::default()).unwrap();
    let mut xdp = *object.parts.xdp.unwrap();
    xdp.maps[1].kind = 99;
    let error = tenant::image(&xdp).unwrap_err();
    assert!(error.to_string().contains("found 99") && error.to_string().contains("27 (ringbuf)"), "{error}");
    assert!(MapType::from_number(99).is_none());
}

/// A program that looks at these maps.
fn naming(name: &str, maps: &[i32]) -> Program {
    let wide = |map: &i32| {
        let first = Insn { op: insn::LD_IMM64, dst: 1, src: insn::pseudo::MAP, off: 0, imm: *map };
        // The second half says nothing of maps, whatever it looks like.
        [first, Insn { op: 0, dst: 0, src: 0, off: 0, imm: 0 }]
    };
    let end = [(0xb7, 2), (0x95, 0)].map(|(op, imm)| Insn { op, dst: 0, src: 0, off: 0, imm });
    let insns = maps.iter().flat_map(wide).chain(end).collect();
    Program { section: format!("xdp/{name}"), ..Program::from_insns(name, insns) }
}

#[test]
fn only_maps_that_a_program_names_are_its_tenants() {
    let map = |name: &str, kind, value, entries| MapSpec::new(name.to_owned(), kind, 4, value, entries);
    let inner = map("fits", MapType::Array, 8, 2);
    let image = Image {
        programs: vec![
            naming("other", &[0, 7]),
            naming("main", &[3, 1, 3]),
            naming("called", &[2]),
            naming("far", &[7]),
        ],
        maps: vec![
            map("huge", MapType::Array, 64, 33_000_000),
            MapSpec {
                initial: vec![(1, Initial::Program("called".to_owned()))],
                ..map("calls", MapType::ProgArray, 4, 4)
            },
            MapSpec {
                initial: vec![(0, Initial::Map(5))],
                inner: Some(Box::new(inner.clone())),
                ..map("outer", MapType::ArrayOfMaps, 4, 2)
            },
            map("counts", MapType::Array, 8, 4),
            map("pinned", MapType::Hash, 8, 4),
            MapSpec { name: "first".to_owned(), ..inner.clone() },
            inner,
            MapSpec {
                initial: vec![(0, Initial::Program("far".to_owned()))],
                ..map("others", MapType::ProgArray, 4, 4)
            },
        ],
        ..Image::default()
    };
    let of = |change: fn(&mut Options)| {
        let options = options(|o| {
            o.program = Some("main".to_owned());
            change(o);
        });
        let object = tenant::object("red", &image, &options).unwrap_or_else(|e| panic!("{e}"));
        let back = tenant::image(object.parts.xdp.as_deref().unwrap()).unwrap();
        let names = |all: Vec<&str>| all.join(" ");
        let maps = names(back.maps.iter().map(|map| &*map.name).collect());
        let programs = names(back.programs.iter().map(|program| &*program.name).collect());
        (programs, maps, back)
    };
    let (programs, maps, back) = of(|_| ());
    assert_eq!((&*programs, &*maps), ("main called", "calls outer counts first fits"));
    // Instructions and first entries name the same maps as before, by their places now.
    assert_eq!(back.programs.iter().map(|p| p.maps()).collect::<Vec<_>>(), [[0, 2].into(), [1].into()]);
    assert_eq!(back.programs[0].insns[0].imm, 2);
    assert_eq!(back.maps[1].initial, [(0, Initial::Map(3))]);
    // What the tenant says something of stays.
    assert_eq!(of(|o| o.keep = vec!["pinned".to_owned()]).1, "calls outer counts pinned first fits");
    assert_eq!(of(|o| o.files = vec![("pinned".to_owned(), String::new())]).1, "calls outer counts pinned first fits");
    assert_eq!(of(|o| o.max_entries = vec![("pinned".to_owned(), 9)]).1, maps);
    // A name that is asked for stays another program's if nobody names it.
    let other = tenant::object("red", &image, &options(|o| o.program = Some("far".to_owned()))).unwrap();
    let xdp = other.parts.xdp.unwrap();
    assert_eq!(xdp.programs.iter().map(|p| &*p.name).collect::<Vec<_>>(), ["far"]);
    assert_eq!(xdp.maps.iter().map(|map| &*map.name).collect::<Vec<_>>(), ["others"]);
    // A map that is not there is refused as ever.
    let broken = Image { programs: vec![naming("main", &[9])], ..image.clone() };
    assert!(tenant::object("red", &broken, &Options::default()).is_err());
}

#[test]
fn what_is_said_of_where_a_map_lies_goes_on_with_the_program_that_takes_its_place() {
    let elf = read("programs/xdp/learning_switch/learning_switch.o");
    let outside = vec![("stations".to_owned(), XdpMemory::Outside)];
    let running = tenant::read("switch", &elf, &options(|options| options.places = outside)).unwrap();
    let places = |object: &Object| -> Vec<(String, XdpMemory)> {
        let maps = object.parts.xdp.as_deref().unwrap().maps.iter();
        maps.filter_map(|map| Some((map.name.clone(), map.place?))).collect()
    };
    assert_eq!(places(&running), [("stations".to_owned(), XdpMemory::Outside)]);
    let next = tenant::successor("next", &elf, &running, &[], &[]).unwrap();
    assert_eq!(places(&next), places(&running));
    // Another program without such a map.
    let other = read("programs/xdp/drop/drop.o");
    assert!(places(&tenant::successor("other", &other, &running, &[], &[]).unwrap()).is_empty());
    let places = vec![("flows".to_owned(), XdpMemory::Chip)];
    let error = tenant::read("switch", &elf, &options(|options| options.places = places)).unwrap_err();
    assert_eq!(error.code(), "E0471");
    assert!(error.to_string().contains("--place (`map_places` in nic.toml): found `flows`, allowed: "), "{error}");
}
