//! XDP tenants of a `nic.toml`: programs, first entries, routes, and mistakes with their place.

use sluice_control::{NicConfig, bring_up};
use sluice_device::{Device, Offer};
use sluice_ebpf::helper::routes::Routes;
use sluice_formats::EngineId;
use sluice_nic::SoftwareNic;
use sluice_nic::conformance::tagged_frame;
use sluice_object::Linker;
use std::path::Path;

const TENANT: &str = r#"
[device]
target = "tiny"

[[tenant]]
name = "red"
id = 1
vlans = [7]
queues = { port0 = 20, port1 = 20, host1 = 20 }
xdp = "verdicts.o"
pass = "host1"
"#;

/// Reads a file beside the objects of the scripts, with these lines at the tenant's end.
fn read(lines: &str, files: &[(&str, &str)]) -> Result<NicConfig, String> {
    let folder = tempfile::tempdir().unwrap();
    let objects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nic/scripts/xdp");
    for entry in std::fs::read_dir(objects).unwrap().map(|e| e.unwrap().path()) {
        if entry.extension().is_some_and(|e| e == "o") {
            std::fs::copy(&entry, folder.path().join(entry.file_name().unwrap())).unwrap();
        }
    }
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    NicConfig::parse("nic.toml", &format!("{TENANT}{lines}\n"), folder.path()).map_err(|e| e.to_string())
}

#[test]
fn a_program_comes_up_with_its_maps_its_interfaces_and_its_pass() {
    let lines = "keep_maps = [\"packets\"]\nmaps = { flows = \"flows.txt\", ports = \"ports.txt\", packets = \"packets.txt\" }\n\
                 map_sizes = { flows = 5 }\ninterfaces = { port1 = 77 }\nroutes = \"routes.txt\"";
    let files = [
        ("flows.txt", "# two flows\nip:10.0.0.1 u64:4\nip:10.0.0.2 u64:9 noexist\n"),
        ("ports.txt", "u32:1 u32:77\n"),
        ("packets.txt", "u32:2 u64:3\n"),
        ("routes.txt", "link eth1 index 77 address 02:00:00:00:00:01 mtu 1500\n10.0.0.0/8 dev eth1 scope link\n"),
    ];
    let config = read(lines, &files).unwrap_or_else(|e| panic!("{e}"));
    assert!(config.tenants[0].routes.as_ref().is_some_and(|routes| Routes::parse(routes).unwrap().link(77).is_some()));
    let mut nic = SoftwareNic::new(*config.target);
    let mut linker = Linker::new(config.target);
    bring_up(&config, &mut nic, &mut linker).unwrap_or_else(|e| panic!("{e}"));
    let module = linker.tenant(1).unwrap().module;
    let maps = nic.maps().unwrap().list(module).unwrap();
    let id = |name: &str| maps.iter().find(|m| m.declared.name == name).unwrap().id;
    assert_eq!(nic.maps().unwrap().lookup(module, id("flows"), &[10, 0, 0, 2]).unwrap(), 9u64.to_le_bytes());
    assert_eq!(nic.maps().unwrap().lookup(module, id("packets"), &[2, 0, 0, 0]).unwrap(), 3u64.to_le_bytes());
    assert_eq!(maps.iter().find(|m| m.declared.name == "flows").unwrap().declared.max_entries, 5);
    nic.offer(&[Offer { port: 0, bytes: tagged_frame(7, 64, 1), at: 0, bad: false }]).unwrap();
    nic.quiesce().unwrap();
    let counters = nic.counters().unwrap();
    assert_eq!((counters.modules[&module].delivered, counters.modules[&module].offered), (1, 1));
}

#[test]
fn mistakes_are_answered_with_their_place() {
    let files = [
        ("flows.txt", "u32:1 u64:2\nu32:1 u32:1\n"),
        ("routes.txt", "what is this\n"),
        ("qos.rmt", include_str!("../../../programs/rmt/qos.rmt")),
    ];
    for (lines, words) in [
        ("program = \"none\"", ["[E0471]", "`verdicts` in section `xdp`"]),
        ("keep_maps = [\"none\"]", ["[E0471]", "packets, bytes, flows"]),
        (
            "keep_maps = [\"flows\", \"flows\"]",
            ["nic.toml:12:13: [E0304] keep_maps: found `flows` twice", "each map once"],
        ),
        ("maps = { none = \"flows.txt\" }", ["[E0471]", "--map (`maps` in nic.toml): found `none`"]),
        ("maps = { flows = \"flows.txt\" }", ["[E0437]", "line 2"]),
        ("maps = { flows = \"missing.txt\" }", ["[E0305]", "missing.txt"]),
        ("map_sizes = { flows = 0 }", ["[E0430]", "flows"]),
        ("interfaces = { host0 = 7 }", ["[E0304]", "ports"]),
        ("interfaces = { port9 = 7 }", ["[E0304]", "port0 to port3"]),
        ("routes = \"routes.txt\"", ["[E046", "routes.txt"]),
        ("object = \"red.json\"", ["[E0305]", "red.json"]),
        ("object = \"qos.rmt\"", ["[E0304]", "goes where the rmt program sends"]),
        ("table = { key = \"dmac\", default = \"drop\" }", ["[E0304]", "xdp and table"]),
        ("speed = 3", ["[E0303]", "keep_maps"]),
    ] {
        let error = read(lines, &files).expect_err(lines);
        assert!(words.iter().all(|word| error.contains(word)), "{lines}: {error}");
        assert!(error.contains("nic.toml:"), "{error}");
    }
    let error = NicConfig::parse("nic.toml", &TENANT.replace("xdp = \"verdicts.o\"", ""), Path::new("")).unwrap_err();
    assert!(error.to_string().contains("`xdp` only"), "{error}");
    let error = read("", &[]).and_then(|_| {
        let text = TENANT.replace("pass = \"host1\"", "");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nic/scripts/xdp");
        NicConfig::parse("nic.toml", &text, &folder).map_err(|e| e.to_string())
    });
    assert!(error.as_ref().is_err_and(|e| e.contains("[E0222]") && e.contains("host0")), "{error:?}");
}

#[test]
fn an_object_is_any_program_file_and_an_rmt_program_may_stand_before_an_xdp_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nic/scripts/xdp");
    let parse = |text: &str| NicConfig::parse("nic.toml", text, &folder);
    let plain = TENANT.replace("pass = \"host1\"", "").replace("xdp = \"verdicts.o\"", "PROGRAMS");
    let config = parse(&plain.replace("PROGRAMS", "object = \"fault.o\"").replace("host1", "host0"))
        .unwrap_or_else(|e| panic!("{e}"));
    let object = config.tenants[0].object.as_ref().unwrap();
    assert_eq!(object.parts.engines(), [EngineId::XDP]);

    let modules = "object = \"../../../../programs/rmt/multicast.rmt\"\nxdp = \"verdicts.o\"";
    let queues = "queues = { port0 = 32, port1 = 32, port2 = 32, port3 = 32, host0 = 32 }";
    let text = plain.lines().map(|l| if l.starts_with("queues") { queues } else { l }).collect::<Vec<_>>().join("\n");
    let config = parse(&text.replace("PROGRAMS", modules)).unwrap_or_else(|e| panic!("{e}"));
    let object = config.tenants[0].object.as_ref().unwrap();
    assert_eq!(object.parts.engines(), [EngineId::XDP, EngineId::RMT]);
    let mut nic = SoftwareNic::new(*config.target);
    bring_up(&config, &mut nic, &mut Linker::new(config.target)).unwrap_or_else(|e| panic!("{e}"));
}
