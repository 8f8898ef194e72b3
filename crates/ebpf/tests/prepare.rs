//! What user space does with an object before it loads it: variables, templates, sizes, and what the loader tells.

use sluice_ebpf::analysis::{analyze, may_be_null};
use sluice_ebpf::load::load;
use sluice_ebpf::tenant::{self, Options};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapType, Packet, Runtime, Verdict};

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/objects/{name}.o", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn image(name: &str) -> Image {
    load(&bytes(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The settings object with its template, ready to run.
fn settings() -> Image {
    let mut image = image("prepare/settings");
    image.set_inner_map("tenants", "tenant").unwrap();
    image
}

fn value(image: &Image, name: &str) -> String {
    image.variables().into_iter().find(|v| v.name == name).unwrap_or_else(|| panic!("no {name}")).value
}

fn verdict(image: &Image, program: &str) -> Verdict {
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(image, &|_| None).unwrap();
    let program = image.program(program).unwrap();
    runtime.run(installed, program, &mut Packet::new(&[0; 60]), Ingress::default()).verdict
}

#[test]
fn variables_have_type_place_and_first_value() {
    let image = image("prepare/settings");
    let list: Vec<(String, String, u32, String, String)> =
        image.variables().into_iter().map(|v| (v.name, v.kind, v.size, v.section, v.value)).collect();
    let expected = [
        ("limit", "__u32", 4, ".rodata", "7"),
        ("offset", "__s8", 1, ".rodata", "-3"),
        ("strict", "_Bool", 1, ".rodata", "true"),
        ("mode", "enum mode", 4, ".rodata", "MODE_COUNT"),
        ("label", "char[8]", 8, ".rodata", "label"),
        ("hidden", "__u64", 8, ".rodata", "40"),
        ("tuned", "__u16", 2, ".rodata.tune", "99"),
        ("policy.rate", "__u32", 4, ".data", "1000"),
        ("policy.to", "struct address[2]", 16, ".data", "hex:00000000000000000000000000000000"),
        ("policy.bias", "__s16", 2, ".data", "-5"),
        ("policy.name", "pointer", 8, ".data", "hex:0000000000000000"),
        ("table", "__u32[4]", 16, ".data", "hex:01000000020000000300000004000000"),
        ("total", "__u64", 8, ".bss", "0"),
    ];
    let expected = expected.map(|(n, k, size, s, v)| (n.to_owned(), k.to_owned(), size, s.to_owned(), v.to_owned()));
    assert_eq!(list, expected);
}

#[test]
fn a_variable_that_is_set_is_what_the_program_sees() {
    let mut image = settings();
    // `limit` is the verdict of a strict program.
    assert_eq!(verdict(&image, "settings"), Verdict::Aborted, "7 is none");
    image.set_variable("limit", "3").unwrap();
    assert_eq!(verdict(&image, "settings"), Verdict::Tx);
    image.set_variable("strict", "false").unwrap();
    assert_eq!(verdict(&image, "settings"), Verdict::Pass);
    image.set_variable("policy.rate", "0x7").unwrap();
    assert_eq!(verdict(&image, "settings"), Verdict::Drop);
    for (name, text, shown) in [
        ("offset", "-128", "-128"),
        ("mode", "MODE_BELOW", "MODE_BELOW"),
        ("label", "eth0", "eth0"),
        ("table", "u32:9,zero:12", "hex:09000000000000000000000000000000"),
        ("total", "18446744073709551615", "18446744073709551615"),
    ] {
        image.set_variable(name, text).unwrap();
        assert_eq!(value(&image, name), shown);
    }
    image.set_variable("policy.to[1].vlan", "258").unwrap();
    image.set_variable("policy.to[1].mac", "mac:02:00:00:00:00:0a").unwrap();
    image.set_variable("table[2]", "5").unwrap();
    assert_eq!(value(&image, "policy.to"), "hex:000000000000000002000000000a0201");
    assert_eq!(value(&image, "table"), "hex:09000000000000000500000000000000");
}

#[test]
fn a_variable_that_does_not_fit_is_refused_with_what_does() {
    let mut image = settings();
    let mut refused = |name: &str, text: &str| {
        let error = image.set_variable(name, text).unwrap_err();
        (error.code(), error.to_string())
    };
    for (name, text, code, part) in [
        ("nosuch", "1", "E0425", "allowed: `limit`, `offset`"),
        ("policy.rates", "1", "E0425", "no field `rates`, allowed: `rate`, `to`"),
        ("policy.to[2].vlan", "1", "E0425", "index 2, allowed: below 2"),
        ("policy.low", "1", "E0425", "bit field `low`"),
        ("limit.x", "1", "E0425", "field `x` of __u32, allowed: fields of structures"),
        ("limit[0]", "1", "E0425", "index 0 of __u32, allowed: indices of arrays"),
        ("limit", "4294967296", "E0426", "(__u32): found 4294967296, allowed: 0 to 4294967295: it has 32 bits"),
        ("limit", "-1", "E0426", "found -1"),
        ("limit", "ten", "E0426", "found `ten`, allowed: a number"),
        ("offset", "128", "E0426", "allowed: -128 to 127: it has 8 bits"),
        ("strict", "2", "E0426", "allowed: true, false, 1 or 0"),
        ("mode", "MODE_NONE", "E0426", "`MODE_OFF`, `MODE_COUNT`, `MODE_BELOW`"),
        ("label", "nine char", "E0426", "found 9 bytes, allowed: at most 8 bytes"),
        ("table", "hex:00", "E0426", "found 1 bytes, allowed: 16 bytes"),
        ("table", "1", "E0426", "an element (`name[0]`)"),
    ] {
        let (found, message) = refused(name, text);
        assert!(found == code && message.contains(part), "{name}={text}: {found}: {message}");
    }
    let error = self::image("data.v3.nog").set_variable("limit", "1").unwrap_err();
    assert!(error.to_string().contains("the object has no BTF"), "{error}");
}

#[test]
fn a_tenant_begins_with_its_variables_and_templates() {
    let options = Options {
        variables: vec![("limit".to_owned(), "3".to_owned())],
        inner_maps: vec![("tenants".to_owned(), "tenant".to_owned())],
        ..Options::default()
    };
    let object = tenant::read("red", &bytes("prepare/settings"), &options).unwrap();
    let image = tenant::image(object.parts.xdp.as_deref().unwrap()).unwrap();
    assert_eq!(verdict(&image, "settings"), Verdict::Tx);
    let without = tenant::read("red", &bytes("prepare/settings"), &Options::default()).unwrap_err();
    assert_eq!(without.code(), "E0433");
    assert!(without.to_string().contains("--inner-map tenants=MAP"), "{without}");
}

#[test]
fn a_template_is_a_map_of_the_object_that_holds_no_maps() {
    let mut image = image("prepare/settings");
    for (outer, template, part) in [
        ("shared", "tenant", "found `shared`, a array, allowed: a map of maps: `tenants`"),
        (
            "tenants",
            "tenants",
            "found `tenants`, a hash_of_maps, allowed: a map that holds no maps: `shared`, `tenant`",
        ),
        ("tenants", "none", "found `none`, which the object does not have"),
    ] {
        let error = image.set_inner_map(outer, template).unwrap_err();
        assert_eq!(error.code(), "E0427");
        assert!(error.to_string().contains(part), "{error}");
    }
    image.set_inner_map("tenants", "tenant").unwrap();
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let [outer, tenant] = ["tenants", "tenant"].map(|n| runtime.map(installed, image.map(n).unwrap()).unwrap());
    runtime.maps.user_update(outer, &[0; 4], &tenant.0.to_le_bytes(), 0).unwrap();
    runtime.run(installed, 0, &mut Packet::new(&[0; 60]), Ingress::default());
    // The program counts in what it looked up, then writes its sum over it.
    assert_ne!(runtime.maps.user_lookup(tenant, &[0; 4]).unwrap(), [0; 8]);
}

#[test]
fn a_legacy_map_of_maps_without_template_takes_one() {
    // Index 0 where the outer map is the only one before its template: nothing that could be meant.
    let mut elf = bytes("maps_legacy.24");
    let good = load(&elf).unwrap();
    let at = good.maps.iter().position(|m| m.kind == MapType::ArrayOfMaps || m.kind == MapType::HashOfMaps).unwrap();
    assert_eq!(at, 2, "flows, inner, outer, jumps");
    let kind = (good.maps[at].kind as u32).to_le_bytes();
    let declaration = |elf: &[u8]| {
        let inner_index = 1u32.to_le_bytes();
        let pattern = |w: &[u8]| w[..4] == kind && w[4..12] == [4, 0, 0, 0, 4, 0, 0, 0] && w[20..24] == inner_index;
        elf.windows(24).position(pattern).unwrap()
    };
    let outer = declaration(&elf);
    // `flows`, the first one, becomes a map of maps: index 0 names nothing that could be held.
    let flows = outer - 48;
    elf[flows..flows + 4].copy_from_slice(&kind);
    elf[flows + 4..flows + 12].copy_from_slice(&[4, 0, 0, 0, 4, 0, 0, 0]);
    elf[outer + 20..outer + 24].fill(0);
    let mut image = load(&elf).unwrap();
    let outer = good.maps[at].name.clone();
    assert!(image.maps[image.map(&outer).unwrap()].inner.is_none());
    image.set_inner_map(&outer, "inner").unwrap();
    assert!(image.maps[image.map(&outer).unwrap()].inner.is_some());
}

#[test]
fn a_size_changes_the_template_that_it_stands_for() {
    let mut image = image("maps_btf.v3");
    image.set_max_entries("first", 9).unwrap();
    image.set_max_entries("second", 9).unwrap();
    image.set_max_entries("outer_hash.inner", 33).unwrap();
    image.set_max_entries("events", 1).unwrap();
    let inner = |name: &str| image.maps[image.map(name).unwrap()].inner.as_deref().unwrap().max_entries;
    assert_eq!((inner("outer"), inner("outer_hash")), (9, 33));
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let outer = runtime.map(installed, image.map("outer").unwrap()).unwrap();
    assert!(runtime.maps.user_lookup(outer, &[1, 0, 0, 0]).is_ok(), "the object's own entries are there");
}

#[test]
fn static_functions_and_unknown_pinning_are_told() {
    let local = image("prepare/local");
    let text: Vec<&str> = local.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(text.len(), 2, "{text:?}");
    assert!(text[0].contains("`twice` of section `xdp`") && text[0].contains("a function of `program`"), "{}", text[0]);
    assert!(text[1].contains("`forgotten`") && text[1].contains("it is left out"), "{}", text[1]);
    // What is called runs: twice(1) is XDP_PASS.
    assert_eq!(verdict(&local, "program"), Verdict::Pass);
    let settings = image("prepare/settings");
    assert_eq!(settings.notes.len(), 1);
    assert!(settings.notes[0].text.contains("map `shared`: pinning 16"), "{}", settings.notes[0].text);
    assert!(settings.maps[settings.map("shared").unwrap()].pinned);
    for name in ["functions.v3", "features.v3", "maps_btf.v3", "maps_legacy.36"] {
        assert_eq!(image(name).notes, [], "{name}");
    }
}

#[test]
fn an_unchecked_lookup_given_to_a_helper_is_warned_of() {
    let image = image("prepare/local");
    let warned = |name: &str| {
        let program = &image.programs[image.program(name).unwrap()];
        may_be_null(&image, program, &analyze(&image, program))
    };
    let [warning] = &warned("unchecked")[..] else { panic!("one warning") };
    assert_eq!((warning.helper, warning.register), ("map_update_elem", 3));
    assert_eq!(warning.of, "the value of map `seen`");
    assert!(warning.source.as_deref().is_some_and(|s| s.ends_with("local.c:19")), "{warning}");
    assert_eq!(warned("checked"), []);
}
