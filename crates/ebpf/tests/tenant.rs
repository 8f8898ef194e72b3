//! Images as tenants' objects: what is picked, what is refused, and what comes back on the device.

use sluice_ebpf::image::Initial;
use sluice_ebpf::tenant::{self, Options};
use sluice_ebpf::{Image, MapSpec, MapType, Program, load};
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
    // A program array is no state.
    assert_eq!(pick(|o| o.keep.push("calls".to_owned())).code(), "E0205");
    assert_eq!(pick(|o| o.max_entries.push(("named".to_owned(), 0))).code(), "E0430");
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
