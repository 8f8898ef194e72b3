//! Real objects, compiled by clang-16 from the sources in tests/objects, give the expected images.

use sluice_ebpf::image::{Initial, map_flags};
use sluice_ebpf::insn::{CALL, LD_IMM64, pseudo};
use sluice_ebpf::load::report::Feature;
use sluice_ebpf::load::{LoadError, load, report};
use sluice_ebpf::{Image, MapSpec, MapType, Program};

fn object(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/objects/{name}.o", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn image(name: &str) -> Image {
    load(&object(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn map<'a>(image: &'a Image, name: &str) -> &'a MapSpec {
    &image.maps[image.map(name).unwrap_or_else(|| panic!("no map {name}"))]
}

fn program<'a>(image: &'a Image, name: &str) -> &'a Program {
    &image.programs[image.program(name).unwrap_or_else(|| panic!("no program {name}"))]
}

fn functions(program: &Program) -> Vec<(&str, u32)> {
    program.functions.iter().map(|f| (f.name.as_str(), f.start)).collect()
}

/// Kind, key size, value size, entries, flags, pinned.
fn shape(map: &MapSpec) -> (MapType, u32, u32, u32, u32, bool) {
    (map.kind, map.key_size, map.value_size, map.max_entries, map.flags, map.pinned)
}

#[test]
fn btf_maps_have_the_sizes_and_flags_of_their_declarations() {
    use MapType::*;
    for name in ["maps_btf.v2", "maps_btf.v3"] {
        let image = image(name);
        let expected = [
            ("hash", (Hash, 4, 16, 100, map_flags::NO_PREALLOC, true)),
            ("array", (Array, 4, 12, 3, 0, false)),
            ("percpu", (PercpuArray, 4, 32, 5, 0, false)),
            ("percpu_hash", (PercpuHash, 8, 8, 6, 0, false)),
            ("lru", (LruHash, 8, 1, 7, map_flags::NUMA_NODE, false)),
            ("lru_percpu", (LruPercpuHash, 8, 1, 8, 0, false)),
            ("lpm", (LpmTrie, 8, 4, 9, map_flags::NO_PREALLOC, false)),
            ("devmap", (Devmap, 4, 8, 10, 0, false)),
            ("devmap_hash", (DevmapHash, 4, 4, 11, 0, false)),
            ("cpumap", (Cpumap, 4, 4, 12, 0, false)),
            ("xskmap", (Xskmap, 4, 4, 13, 0, false)),
            ("events", (PerfEventArray, 4, 4, 0, 0, false)),
            // Rounded up to a power of two of pages.
            ("ring", (Ringbuf, 0, 0, 8192, 0, false)),
            ("first", (Array, 4, 4, 2, 0, false)),
            ("second", (Array, 4, 4, 2, 0, false)),
            ("outer", (ArrayOfMaps, 4, 4, 4, 0, false)),
            ("outer_hash", (HashOfMaps, 4, 4, 4, 0, false)),
            ("tails", (ProgArray, 4, 4, 3, 0, false)),
        ];
        for (name, shape_of) in expected {
            assert_eq!(shape(map(&image, name)), shape_of, "{name}");
        }
        assert_eq!(image.maps.len(), expected.len());
        assert_eq!(map(&image, "hash").spin_lock, Some(4));
        assert_eq!(map(&image, "array").btf, (0, 0));
        let (key, value) = map(&image, "hash").btf;
        assert!(key != 0 && value != 0);
    }
}

#[test]
fn maps_of_maps_and_program_arrays_have_their_initial_entries() {
    let image = image("maps_btf.v2");
    let outer = map(&image, "outer");
    let (first, second) = (image.map("first").unwrap(), image.map("second").unwrap());
    assert_eq!(outer.initial, [(1, Initial::Map(second)), (3, Initial::Map(first))]);
    let inner = outer.inner.as_deref().unwrap();
    assert_eq!((inner.name.as_str(), shape(inner)), ("outer.inner", (MapType::Array, 4, 4, 2, 0, false)));
    let inner = map(&image, "outer_hash").inner.as_deref().unwrap();
    assert_eq!(shape(inner), (MapType::Hash, 8, 8, 20, 0, false));
    assert!(map(&image, "outer_hash").initial.is_empty());
    assert_eq!(map(&image, "tails").initial, [(2, Initial::Program("tail_a".into()))]);
}

#[test]
fn each_map_reference_names_its_map() {
    let image = image("maps_btf.v3");
    let program = program(&image, "uses_all");
    let named: Vec<&str> = program
        .instructions()
        .filter(|i| i.is_wide() && i.src == pseudo::MAP)
        .map(|i| image.maps[i.imm as usize].name.as_str())
        .collect();
    let source = [
        "hash",
        "array",
        "percpu",
        "percpu_hash",
        "lru",
        "lru_percpu",
        "lpm",
        "devmap",
        "devmap_hash",
        "cpumap",
        "xskmap",
        "outer",
        "outer_hash",
        "ring",
        "events",
        "tails",
    ];
    assert_eq!(named, source);
    assert!(program.instructions().all(|i| !i.is_wide() || matches!(i.src, pseudo::MAP | pseudo::NUMBER)));
}

#[test]
fn what_user_space_leaves_open_is_set_by_name() {
    let mut image = image("open.v2");
    assert_eq!(shape(map(&image, "unsized")), (MapType::Hash, 4, 4, 0, 0, false));
    image.set_max_entries("unsized", 77).unwrap();
    assert_eq!(map(&image, "unsized").max_entries, 77);
    let mut image = self::image("maps_btf.v2");
    image.set_max_entries("ring", 8193).unwrap();
    assert_eq!(map(&image, "ring").max_entries, 16384);
    for (name, entries) in [("outer", 3), ("nowhere", 1)] {
        let error = image.set_max_entries(name, entries).unwrap_err();
        assert_eq!(error.code(), "E0424", "{error}");
    }
    let mut data = self::image("data.v2");
    assert_eq!(data.set_max_entries(".bss", 2).unwrap_err().code(), "E0424");
}

#[test]
fn legacy_maps_of_every_size_are_read() {
    for form in [16, 20, 24, 28, 36, 280] {
        let image = image(&format!("maps_legacy.{form}"));
        let flags = if form >= 20 { map_flags::NO_PREALLOC } else { 0 };
        assert_eq!(shape(map(&image, "flows")), (MapType::Hash, 8, 16, 100, flags, form >= 36), "{form}");
        assert_eq!(shape(map(&image, "inner")), (MapType::Array, 4, 4, 2, 0, false), "{form}");
        let has_outer = matches!(form, 24 | 28 | 36);
        assert_eq!(image.map("outer").is_some(), has_outer, "{form}");
        if has_outer {
            let outer = map(&image, "outer");
            assert_eq!(outer.inner.as_deref().map(shape), Some((MapType::Array, 4, 4, 2, 0, false)), "{form}");
            let inner = image.map("inner").unwrap();
            let filled: &[(u32, Initial)] = if form == 36 { &[(1, Initial::Map(inner))] } else { &[] };
            assert_eq!(outer.initial, filled, "{form}");
        }
        assert_eq!(program(&image, "main_program").section, "xdp_prog1");
        assert_eq!(image.btf, None);
    }
}

#[test]
fn sections_named_by_map_id_and_index_fill_the_program_array() {
    let image = image("maps_legacy.36");
    assert_eq!(map(&image, "jumps").initial, [(1, Initial::Program("tail_program".into()))]);
    assert_eq!(program(&image, "tail_program").section, "7/1");
}

#[test]
fn functions_stand_behind_the_program_in_the_order_in_which_libbpf_appends_them() {
    for name in ["functions.v2", "functions.v3", "functions.v2.nog", "functions.v3.nog"] {
        let image = image(name);
        let names: Vec<&str> = image.programs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["two_levels", "plain", "with_static", "callback"], "{name}");
        let called = |p| functions(program(&image, p)).into_iter().map(|f| f.0).collect::<Vec<_>>();
        assert_eq!(called("two_levels"), ["two_levels", "shared", "middle", "leaf"]);
        assert_eq!(called("plain"), ["plain"]);
        assert_eq!(called("with_static"), ["with_static", "beside", "shared", "middle", "leaf"]);
        assert_eq!(called("callback"), ["callback", "step", "leaf"]);
        for program in &image.programs {
            let starts: Vec<i64> = program.functions.iter().map(|f| i64::from(f.start)).collect();
            assert!(starts.is_sorted() && starts[0] == 0);
            let mut reached = vec![0];
            for (slot, insn) in program.insns.iter().enumerate() {
                let call = insn.op == CALL && insn.src == pseudo::LOCAL;
                if call || insn.op == LD_IMM64 && insn.src == pseudo::FUNCTION {
                    let target = slot as i64 + i64::from(insn.imm) + 1;
                    assert!(starts.contains(&target), "{name} {} {slot}: {target}", program.name);
                    reached.push(target);
                }
            }
            reached.sort();
            reached.dedup();
            assert_eq!(reached, starts, "{name} {}: every function is called", program.name);
        }
    }
}

#[test]
fn functions_in_sections_of_programs_are_called_from_other_sections() {
    let image = image("beside.v2");
    let called: Vec<_> = image.programs.iter().map(|p| (p.section.as_str(), functions(p))).collect();
    let (first, second) = (vec![("with_static", 0), ("beside", 4)], vec![("from_another_section", 0), ("beside", 5)]);
    let third = vec![("calls_program", 0), ("with_static", 3), ("beside", 7)];
    assert_eq!(called, [("xdp", first), ("prog", second), ("xdp/calls", third)]);
}

#[test]
fn types_and_lines_follow_the_functions_to_where_they_stand() {
    let image = image("functions.v2");
    let program = program(&image, "two_levels");
    let types: Vec<u32> = program.functions.iter().map(|f| f.btf_type).collect();
    assert!(types.iter().all(|t| *t != 0), "{types:?}");
    for function in &program.functions {
        let line = &program.lines[&function.start];
        assert!(line.text.contains(&function.name), "{function:?} {line:?}");
        assert_eq!(line.file, "./tests/objects/functions.c");
    }
    let plain = self::image("functions.v2.nog");
    assert!(plain.programs.iter().all(|p| p.lines.is_empty() && p.functions.iter().all(|f| f.btf_type == 0)));
}

#[test]
fn data_sections_are_arrays_and_their_addresses_are_offsets() {
    for name in ["data.v2", "data.v3", "data.v2.nog", "data.v3.nog"] {
        let image = image(name);
        let names: Vec<&str> = image.maps.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, [".rodata", ".rodata.tune", ".data", ".data.special", ".bss"], "{name}");
        let rodata = map(&image, ".rodata");
        assert_eq!((rodata.kind, rodata.key_size, rodata.value_size, rodata.max_entries), (MapType::Array, 4, 49, 1));
        assert!(rodata.frozen && rodata.flags & map_flags::RDONLY_PROG != 0);
        let bytes = rodata.contents.as_deref().unwrap();
        assert_eq!((bytes[0], bytes[8], bytes[16], &bytes[40..48]), (7, 10, 20, &b"queue %u"[..]));
        assert_eq!(map(&image, ".rodata.tune").contents.as_deref(), Some(&[99, 0, 0, 0][..]));
        assert_eq!(map(&image, ".data").contents.as_deref(), Some(&[5, 0, 0, 0, 3, 0, 0, 0, 6, 0][..]));
        assert_eq!(map(&image, ".data.special").contents.as_deref(), Some(&[77, 0, 0, 0][..]));
        let bss = map(&image, ".bss");
        assert_eq!((bss.value_size, bss.frozen, &bss.contents), (20, false, &None));
        assert!(image.maps.iter().all(|m| m.flags & map_flags::MMAPABLE != 0));

        let program = program(&image, "data");
        let mut found = Vec::new();
        for (slot, insn) in program.insns.iter().enumerate().filter(|(_, i)| i.is_wide()) {
            assert_eq!(insn.src, pseudo::MAP_VALUE);
            found.push((image.maps[insn.imm as usize].name.as_str(), program.insns[slot + 1].imm));
        }
        for expected in [
            (".data", 4),
            (".rodata", 8),
            (".rodata", 0),
            (".bss", 0),
            (".bss", 8),
            (".rodata.tune", 0),
            (".data.special", 0),
            (".data", 8),
            (".data", 0),
            (".rodata", 40),
        ] {
            assert!(found.contains(&expected), "{name}: {expected:?} in {found:?}");
        }
    }
}

#[test]
fn functions_without_a_type_are_found_and_labels_are_none() {
    let image = image("notype");
    assert_eq!(image.programs.len(), 2);
    assert_eq!(functions(program(&image, "first")), [("first", 0), ("local", 6)]);
    assert_eq!(functions(program(&image, "second")), [("second", 0), ("shared", 2)]);
    assert_eq!(shape(map(&image, "counters")), (MapType::Array, 4, 8, 16, 0, false));
}

#[test]
fn kernel_types_of_one_layout_and_local_types_resolve_in_the_object() {
    for name in ["core.v2", "core.v3"] {
        let image = image(name);
        let names: Vec<&str> = image.programs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["fixed"]);
        let refused: Vec<String> = image.refused.iter().map(|r| r.error.to_string()).collect();
        assert_eq!(
            refused,
            [
                "`task` (section `xdp`), instruction 1 at ./tests/objects/core.c:22: CO-RE relocation \
                 field_byte_offset of `task_struct.in.deep[2]` needs a kernel's types, and none are given (`--btf FILE`)",
                "`exists` (section `xdp`), instruction 0 at ./tests/objects/core.c:24: CO-RE relocation \
                 field_exists of `task_struct.pid` needs a kernel's types, and none are given (`--btf FILE`)",
            ]
        );
    }
}

#[test]
fn a_program_that_cannot_run_does_not_keep_the_others_from_running() {
    for name in ["refused.v2", "refused.v3"] {
        let image = image(name);
        let names: Vec<&str> = image.programs.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["fine"]);
        // Its only variable is static: user space cannot name it.
        assert_eq!(map(&image, ".bss").flags, 0);
        let mut refused: Vec<(&str, &str, bool)> = image
            .refused
            .iter()
            .map(|r| (r.name.as_str(), r.error.code(), r.error.place().is_some_and(|p| p.source.is_some())))
            .collect();
        refused.sort();
        assert_eq!(
            refused,
            [
                ("kconfig", "E0408", true),
                ("kfunc", "E0409", true),
                ("kfunc_below", "E0409", true),
                ("ksym", "E0408", true),
                ("other_hook", "E0420", false),
                ("packet_access", "E0411", true),
                ("unknown_helper", "E0410", true),
                ("unknown_map", "E0416", true),
                ("weak_kconfig", "E0408", true),
                ("wrong_map", "E0414", true),
                ("wrong_tail", "E0422", false),
            ]
        );
        let maps: Vec<(&str, &str)> = image.refused_maps.iter().map(|r| (r.name.as_str(), r.error.code())).collect();
        assert_eq!(maps, [("beyond", "E0417"), ("sockets", "E0416"), ("bad_size", "E0414")]);
    }
}

#[test]
fn a_refusal_says_function_instruction_line_and_what() {
    let image = image("refused.v2");
    let text = |name: &str| image.refused.iter().find(|r| r.name == name).unwrap().error.to_string();
    let at = "./tests/objects/refused.c";
    assert_eq!(
        text("kfunc_below"),
        format!(
            "`deep` (section `.text`), instruction 0 at {at}:21: kernel function `bpf_kfunc_of_tests` (kfunc) cannot \
             be called, only helpers can"
        )
    );
    assert_eq!(
        text("unknown_helper"),
        format!(
            "`unknown_helper` (section `xdp`), instruction 0 at {at}:30: helper 14 (get_current_pid_tgid) is not \
             available"
        )
    );
    assert!(text("unknown_map").contains("type 15 (sockmap) is not available"), "{}", text("unknown_map"));
}

#[test]
fn helpers_are_those_that_the_caller_has() {
    let without = sluice_ebpf::load::load_with(&object("features.v2"), &|id| id == 1).unwrap();
    let refused: Vec<(&str, &str)> = without.refused.iter().map(|r| (r.name.as_str(), r.error.code())).collect();
    assert_eq!(refused, [("lock", "E0410")]);
    assert!(matches!(&without.refused[0].error, LoadError::Helper { id: 93, name: "spin_lock", .. }));
}

#[test]
fn the_report_names_features_helpers_and_maps() {
    use Feature::*;
    let report_of = |name: &str| report(&image(name));
    let features = |name: &str, program: &str| {
        let report = report_of(name);
        let found = report.programs.into_iter().find(|p| p.name == program).unwrap();
        found.features.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(features("features.v2", "atomic"), [Atomics]);
    assert_eq!(features("features.v2", "lock"), [SpinLocks]);
    assert_eq!(features("features.v2", "loop"), [Loops]);
    assert_eq!(features("features.v3", "loop"), [Loops, Alu32, Jmp32]);
    assert_eq!(features("features.v2", "none"), []);
    assert_eq!(features("functions.v2", "callback"), [LocalCalls, Callbacks]);
    assert_eq!(features("data.v2", "data"), [GlobalData]);
    assert_eq!(features("maps_btf.v2", "uses_all"), [TailCalls, MapInMap]);

    let json = serde_json::to_value(report_of("features.v2")).unwrap();
    assert_eq!(json["license"], "GPL");
    assert_eq!(json["maps"][0]["type"], "array");
    assert_eq!(json["maps"][0]["spin_lock"], 0);
    assert_eq!(json["programs"][1]["name"], "lock");
    assert_eq!(json["programs"][1]["helpers"]["spin_unlock"], 1);
    assert_eq!(json["programs"][1]["maps"][0], "values");
    assert_eq!(json["programs"][1]["features"][0], "spin_locks");
    let refused = serde_json::to_value(report_of("refused.v2")).unwrap();
    assert_eq!(refused["refused"][0]["what"], "map");
    let kfunc = refused["refused"].as_array().unwrap().iter().find(|r| r["name"] == "kfunc").unwrap();
    assert_eq!((&kfunc["code"], &kfunc["instruction"]), (&"E0409".into(), &0.into()));
    assert_eq!(kfunc["source"], "./tests/objects/refused.c:24");
}
