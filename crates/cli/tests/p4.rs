//! `sluice p4`: programs are checked, printed and run with scripts.

use crate::common::{Folder, has_plugin, root};

#[test]
fn check_says_what_programs_have_and_print_prints_what_reads_back() {
    let f = Folder::new();
    let text = f.sluice(&["p4", "check", "programs/p4/reflector.p4"]).ok();
    assert_eq!(text, "programs/p4/reflector.p4: OK, parsers 1, controls 5, tables 0, actions 1, types 8\n");
    let printed = f.sluice(&["p4", "print", "programs/p4/reflector.p4"]).ok();
    f.write("again.p4", &printed);
    assert_eq!(f.sluice(&["p4", "print", "again.p4"]).ok(), printed);
    let json = f.sluice(&["p4", "check", "again.p4", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["passed"], &value["files"][0]["controls"]), (&true.into(), &5.into()));
    assert_eq!(value["files"][0]["main"], true);
}

#[test]
fn architectures_are_found_with_folders_and_macros_are_defined() {
    let f = Folder::new();
    let own = "programs/p4/own_architecture.p4";
    let folder = ["-I", "programs/p4/include"];
    f.sluice(&[&["p4", "check", "-D", "WIDTH=16"], &folder[..], &[own]].concat()).ok();
    let called = f.sluice(&[&["p4", "check", own], &folder[..]].concat());
    assert!(called.code == 2 && called.err.contains("error[E0703]"), "{}", called.err);
    assert!(called.err.contains("included at programs/p4/own_architecture.p4:3:1"), "{}", called.err);
    let called = f.sluice(&["p4", "check", own]);
    assert!(called.code == 2 && called.err.contains("error[E0700]"), "{}", called.err);
    let called = f.sluice(&["p4", "check", own, "-D", "1X=3"]);
    assert!(called.code == 2 && called.err.contains("letters, digits"), "{}", called.err);
}

#[test]
fn mistakes_of_all_programs_are_shown_with_their_lines_and_exit_code_2() {
    let f = Folder::new();
    f.write("a.p4", "#define BAD true\nconst bit<8> x = BAD;\nconst bit<8> y = z;\n");
    f.write("b.p4", "const bit<8> = 3;\n");
    f.write("c.p4", [0x6d, 0xff]);
    let called = f.sluice(&["p4", "check", "a.p4", "programs/p4/reflector.p4", "b.p4", "c.p4", "no.p4"]);
    assert_eq!(called.code, 2);
    assert!(called.out.starts_with("programs/p4/reflector.p4: OK"), "{}", called.out);
    for words in
        ["error[E0723]", "in macro `BAD`, used at a.p4:2:18", "error[E0720]", "a.p4:3:18", "b.p4:1:14", "c.p4", "no.p4"]
    {
        assert!(called.err.contains(words), "{words}:\n{}", called.err);
    }
    let called = f.sluice(&["p4", "check", "a.p4", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    let all = value["files"][0]["errors"].as_array().unwrap();
    assert_eq!((called.code, all.len()), (2, 2));
    assert!(all.iter().any(|e| e["line"] == 3 && e["code"] == "E0720"), "{}", called.out);
    assert_eq!(f.sluice(&["p4", "print", "b.p4"]).code, 2);
}

#[test]
fn test_tells_by_its_exit_code_what_became_of_the_script() {
    let f = Folder::new();
    let basic = "programs/p4/basic.p4";
    let called = f.sluice(&["p4", "test", basic]);
    assert_eq!(
        (called.code, called.out.as_str()),
        (0, "programs/p4/basic.stf: passed, packets in 7, out 2, expectations 2\n")
    );
    f.write("wrong.stf", "packet 0 00\nexpect 1 01\n");
    let called = f.sluice(&["p4", "test", basic, "wrong.stf"]);
    assert!(called.code == 1 && called.out.contains("wrong.stf:2: port 1: no packet, expected 01"), "{}", called.out);
    let called = f.sluice(&["p4", "test", basic, "wrong.stf", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    assert_eq!((called.code, &value["passed"], &value["failures"][0]["line"]), (1, &false.into(), &2.into()));
    f.write("bad.stf", "packet 0 00\nadd nothing x()\n");
    let called = f.sluice(&["p4", "test", basic, "bad.stf"]);
    assert!(called.code == 1 && called.out.contains("bad.stf:2: error[E0791]"), "{}", called.out);
    f.write("none.stf", "paket 0 00\n");
    let called = f.sluice(&["p4", "test", basic, "none.stf"]);
    assert!(called.code == 2 && called.err.contains("error[E0790]") && called.err.contains("none.stf:1:1"));
    let called = f.sluice(&["p4", "test", basic, "--trace"]);
    assert!(called.code == 0 && called.out.contains("    table Forward.routes: hit, Forward."), "{}", called.out);
    f.write("noise.stf", [0xff, 0xfe]);
    assert_eq!(f.sluice(&["p4", "test", basic, "noise.stf"]).code, 2);
    assert_eq!(f.sluice(&["p4", "test", basic, "no.stf"]).code, 2);
    let folder = ["-I", "programs/p4/include", "-D", "WIDTH=16"];
    let called = f.sluice(&[&["p4", "test", "programs/p4/own_architecture.p4", "wrong.stf"], &folder[..]].concat());
    assert!(called.code == 3 && called.err.contains("E0794"), "{}", called.err);
    let called = f.sluice(&["p4", "test", basic, "--undefined", "random", "--seed", "3"]);
    assert!(called.code == 0 && called.out.starts_with("seed: 3\n"), "{}", called.out);
}

#[test]
fn info_writes_what_a_controller_may_name_in_three_forms() {
    let f = Folder::new();
    let text = f.sluice(&["p4", "info", "programs/p4/basic.p4"]).ok();
    assert!(text.contains("tables {\n  preamble {\n    id: ") && text.contains("arch: \"v1model\""), "{text}");
    let json = f.sluice(&["p4", "info", "programs/p4/basic.p4", "--format", "json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let id = value["tables"][0]["preamble"]["id"].as_u64().unwrap();
    assert!(text.contains(&format!("id: {id}\n")), "{text}");
    f.sluice(&["p4", "info", "programs/p4/basic.p4", "--format", "binary", "-o", "basic.pb"]).ok();
    let binary = std::fs::read(f.path("basic.pb")).unwrap();
    assert!(binary.windows(7).any(|seven| seven == b"v1model"));
    f.write("bad.p4", "#include <core.p4>\n");
    let called = f.sluice(&["p4", "info", "bad.p4"]);
    // It was read, and is refused: as `test` ends.
    assert!(called.code == 3 && called.err.contains("error[E0794]"), "{}", called.err);
}

#[test]
fn a_system_program_is_compiled_for_its_own_stages_and_runs_beside_tenants_only() {
    let f = Folder::new();
    let system = "programs/p4/system.p4";
    f.sluice(&["p4", "check", system]).ok();
    let text = f.sluice(&["p4", "compile", system]).ok();
    for line in ["system program", "container ipv4.dst = c4[7]", "share ipv4.dst", "stage 0 {", "stage 4 {"] {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }
    let wide = f.sluice(&["p4", "compile", "--target", "wide", system]).ok();
    assert!(wide.contains("\nstage 11 {\n") && !wide.contains("\nstage 4 {\n"), "{wide}");
    assert!(f.sluice(&["p4", "info", system]).ok().contains("arch: \"sluice\""));
    let drawn = f.sluice(&["p4", "graph", system]).ok();
    assert!(drawn.contains("c4[7]  shared.ipv4.dst [31:0]<") && !drawn.contains("which visit"), "{drawn}");
    let called = f.sluice(&["p4", "compile", "--stages", "1-3", system]);
    let words = "--stages: a system program has stages 0 and 4, and no others";
    assert!(called.code == 3 && called.err.contains("error[E0770]") && called.err.contains(words), "{}", called.err);
    for words in [&["p4", "test", system, "programs/p4/basic.stf"][..], &["p4", "run", system, "--in", "no.pcap"]] {
        let called = f.sluice(words);
        assert!(called.code == 3 && called.err.contains("error[E0794]: a system program"), "{}", called.err);
    }
    f.sluice(&["script", "programs/p4/system.pkt"]).ok();
    // What is no entry and no group does not belong to a file of entries.
    f.write("bad.entries", "mc_mgrp_create 9\nwait\n");
    f.write("bad.pkt", format!("device default\nrmt system {} entries=bad.entries\n", root().join(system).display()));
    let called = f.sluice(&["script", "bad.pkt"]);
    assert!(
        called.code != 0 && called.out.contains("groups mc_..., sessions mirroring_"),
        "{}{}",
        called.out,
        called.err
    );
}

#[test]
fn a_program_is_compiled_and_runs_on_the_pipelines_model() {
    let f = Folder::new();
    let text = f.sluice(&["p4", "compile", "--stages", "0-4", "programs/p4/calc.p4"]).ok();
    f.write("calc.rmt", &text);
    f.sluice(&["rmt", "check", "calc.rmt"]).ok();
    let model = ["p4", "test", "--device", "model", "--stages", "0-4"];
    let said = f.sluice(&[&model[..], &["programs/p4/calc.p4"]].concat()).ok();
    assert!(said.contains("calc.stf: passed"), "{said}");
    // What the pipeline does not have is said where it stands; what is no place on it, too.
    for (words, expected) in [
        (&["p4", "compile", "programs/p4/load_balance.p4"][..], "E0750"),
        (&["p4", "test", "--device", "model", "programs/p4/load_balance.p4"], "programs/p4/load_balance.p4:60:9"),
        (&["p4", "compile", "--stages", "1-9", "programs/p4/calc.p4"], "target default has stages 0 to 4"),
    ] {
        let called = f.sluice(words);
        assert_eq!(called.code, 3, "{}", called.err);
        assert!(called.err.contains(expected), "{}", called.err);
    }
    assert_eq!(f.sluice(&["p4", "compile", "--stages", "4-0", "programs/p4/calc.p4"]).code, 2);
}

/// Four tables in a row, which three stages do not hold.
const CHAIN: &str = r"#include <v1model.p4>
header h_t { bit<16> a; bit<8> b; bit<8> c; }
struct headers_t { h_t h; }
struct meta_t { }
parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.h); transition accept; }
}
control Verify(inout headers_t hdr, inout meta_t meta) { apply { } }
control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action set(bit<8> x) { hdr.h.b = x; }
    table first { key = { hdr.h.a: exact; } actions = { set; NoAction; } }
    table second { key = { hdr.h.b: exact; } actions = { set; NoAction; } }
    table third { key = { hdr.h.b: exact; } actions = { set; NoAction; } }
    table fourth { key = { hdr.h.b: exact; } actions = { set; NoAction; } }
    apply {
        first.apply();
        second.apply();
        third.apply();
        fourth.apply();
    }
}
control Out(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control Update(inout headers_t hdr, inout meta_t meta) { apply { } }
control Deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(Parse(), Verify(), In(), Out(), Update(), Deparse()) main;
";

#[test]
fn what_does_not_fit_is_told_with_its_chain_and_what_would_fit() {
    let f = Folder::new();
    f.write("chain.p4", CHAIN);
    let called = f.sluice(&["p4", "compile", "chain.p4"]);
    assert_eq!(called.code, 3, "{}", called.err);
    for words in [
        "error[E0770]: does not fit the pipeline: a chain of 4 stages, and there are 3",
        " --> chain.p4:19:9",
        "  chain.p4:16:9: table `In.first`",
        "  chain.p4:19:9: table `In.fourth`",
        "  --stages 0-4 takes it as it is",
        "  --target wide --stages 1-10 takes it as it is",
        "  chain.p4:18:9: without this statement it fits",
    ] {
        assert!(called.err.lines().any(|line| line.starts_with(words)), "{words}\n{}", called.err);
    }
    let called = f.sluice(&["p4", "compile", "chain.p4", "--json"]);
    assert_eq!(called.code, 3, "{}", called.err);
    let value: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    assert_eq!((&value["passed"], &value["errors"][0]["line"]), (&false.into(), &19.into()));
    let notes = value["errors"][0]["notes"].as_array().unwrap();
    let has = |place: Option<&str>, what: &str| notes.iter().any(|n| n["place"].as_str() == place && n["what"] == what);
    assert!(has(Some("chain.p4:17:9"), "table `In.second`"), "{notes:?}");
    assert!(has(None, "--stages 0-4 takes it as it is"), "{notes:?}");
    assert!(has(Some("chain.p4:18:9"), "without this statement it fits"), "{notes:?}");
    let called = f.sluice(&["p4", "compile", "chain.p4", "--stages", "0-4", "--json", "-o", "chain.slob"]).ok();
    let value: serde_json::Value = serde_json::from_str(&called).unwrap();
    assert_eq!((&value["passed"], &value["stages"]), (&true.into(), &4.into()));
    f.sluice(&["object", "show", "chain.slob"]).ok();
}

/// Alone on the pipeline, and in the stages of tenants; on a small pipeline.
#[test]
fn a_program_runs_on_the_pipeline_in_rtl_and_all_devices_agree() {
    if !has_plugin("rmt_default") || !has_plugin("rmt_tiny") {
        return;
    }
    let f = Folder::new();
    let test = |words: &[&str]| f.sluice(&[&["p4", "test", "programs/p4/calc.p4"], words].concat());
    let passed = "programs/p4/calc.stf: passed, packets in 8, out 5, expectations 5\n";
    for device in ["rtl", "both", "all"] {
        assert_eq!(test(&["--device", device, "--stages", "0-4"]).ok(), passed);
    }
    assert_eq!(test(&["--device", "all"]).ok(), passed);
    assert_eq!(test(&["--device", "all", "--target", "tiny", "--stages", "1-1"]).ok(), passed);
    // Every port of the eight, bytes that look like a tag of a VLAN, and a packet too short for one.
    f.write("reflector.stf", REFLECTED);
    let called = f.sluice(&["p4", "test", "programs/p4/reflector.p4", "reflector.stf", "--device", "all", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&called.ok()).unwrap();
    assert_eq!((&value["device"], &value["passed"], &value["sent"]), (&"all".into(), &true.into(), &4.into()));
    let called = f.sluice(&["p4", "test", "programs/p4/reflector.p4", "reflector.stf", "--device", "rtl", "--trace"]);
    assert!(called.ok().contains("reflector.stf:1: packet\n"));
    // Ports that the pipeline does not have, in both directions.
    f.write("ports.stf", PORTS);
    let ports = ["p4", "test", "programs/p4/reflector.p4", "ports.stf", "--device"];
    let map = "ports of the pipeline: 2 is 2, 9 is 0, 100 is 1, 510 is 3\n";
    for device in ["model", "rtl", "both", "all"] {
        let said = f.sluice(&[&ports[..], &[device]].concat()).ok();
        assert_eq!(said, format!("{map}ports.stf: passed, packets in 4, out 4, expectations 4\n"), "{device}");
    }
    let said = f.sluice(&[&ports[..], &["all", "--json"]].concat()).ok();
    let value: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(value["port_map"], serde_json::json!({"2": 2, "9": 0, "100": 1, "510": 3}));
    let run = ["p4", "run", "programs/p4/reflector.p4", "--in", "programs/xdp/mixed.pcap", "--port", "300"];
    let said = f.sluice(&[&run[..], &["--device", "all"]].concat()).ok();
    assert!(said.starts_with("ports of the pipeline: 300 is 0\n") && said.contains("(port 300: "), "{said}");
    let json = f.sluice(&[&run[..], &["--device", "rtl", "--json"]].concat()).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["port_map"], serde_json::json!({"300": 0}));
    f.write("many.stf", (10..19).map(|port| format!("packet {port} 00\n")).collect::<String>());
    let called = f.sluice(&["p4", "test", "programs/p4/reflector.p4", "many.stf", "--device", "rtl"]);
    assert!(called.code == 3 && called.err.contains("9 different ports (10, 11"), "{}", called.err);
    f.write("from_packet.stf", "packet 9 00\n");
    let called = f.sluice(&["p4", "test", "programs/p4/source_routing.p4", "from_packet.stf", "--device", "rtl"]);
    assert!(called.code == 3 && called.err.contains("programs/p4/source_routing.p4:"), "{}", called.err);
    assert!(called.err.contains("a port that") && called.err.contains("9 is "), "{}", called.err);
    let called = f.sluice(&["p4", "test", "programs/p4/load_balance.p4", "--device", "rtl"]);
    assert!(called.code == 3 && called.err.contains("error[E0750]"), "{}", called.err);
}

const PORTS: &str = "\
packet 9 0200000000fe 0200000000aa 0800 01
expect 9 0200000000aa 0200000000fe 0800 01$
packet 510 0200000000fe 0200000000ab 0800 02
expect 510 0200000000ab 0200000000fe 0800 02$
packet 2 0200000000fe 0200000000ac 0800 03
expect 2 0200000000ac 0200000000fe 0800 03$
packet 100 0200000000fe 0200000000ad 0800 04
expect 100 0200000000ad 0200000000fe 0800 04$
";

const REFLECTED: &str = "\
packet 7 0200000000fe 0200000000aa 0800 0102030405
expect 7 0200000000aa 0200000000fe 0800 0102030405$
packet 4 0200000000fe 0200000000aa 8100 0007 0800 01
expect 4 0200000000aa 0200000000fe 8100 0007 0800 01$
packet 0 0200000000fe 0200000000aa 0800
expect 0 0200000000aa 0200000000fe 0800$
packet 0 0200000000fe 0200000000aa 81
packet 1 0200000000fe 0200000000aa 8100 0001 8100 0001 0000
expect 1 0200000000aa 0200000000fe 8100 0001 8100 0001 0000$
packet 2 0102
";

#[test]
fn an_object_has_the_tables_of_the_program_and_the_entries_of_a_file() {
    let f = Folder::new();
    let compile = ["p4", "compile", "programs/p4/qos.p4", "--entries", "programs/p4/qos.entries", "--time"];
    for file in ["qos.slob", "qos.json"] {
        let called = f.sluice(&[&compile[..], &["-o", file]].concat());
        assert!(called.code == 0 && called.err.contains(" ms  place"), "{}", called.err);
        let shown = f.sluice(&["object", "show", file]).ok();
        assert!(shown.contains("Forward.routes: keys hdr.ipv4.dst (32 bits); 3 entries, 2 actions"), "{shown}");
    }
    f.write("wrong.entries", "add routes hdr.ipv4.dst:0x0a000000/8 to_port(port:1)\npacket 0 00\n");
    let called = f.sluice(&["p4", "compile", "programs/p4/qos.p4", "--entries", "wrong.entries"]);
    assert!(called.code == 2 && called.err.contains("wrong.entries:2: a command of another kind"), "{}", called.err);
    assert!(called.err.contains("error[E0797]"), "{}", called.err);
}

#[test]
fn a_p4_tenant_runs_beside_others_and_is_replaced_with_its_entries() {
    let f = Folder::new();
    let run = ["run", "--config", "programs/p4/nic.toml", "--in", "programs/nic/mixed.pcapng", "--json"];
    let delivered = |more: &[&str]| {
        let text = f.sluice(&[&run[..], more].concat()).ok();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let blue = value["tenants"].as_array().unwrap().iter().find(|tenant| tenant["name"] == "blue").unwrap().clone();
        (blue["delivered"].as_u64().unwrap(), blue["forwarded"].as_u64().unwrap())
    };
    assert_eq!(delivered(&[]), (269, 647));
    // From half of the packets on nothing reaches the host.
    let (half, forwarded) = delivered(&["--replace", "blue=programs/p4/qos.p4,programs/p4/all.entries@50%"]);
    assert!((100..200).contains(&half) && forwarded > 700, "{half} {forwarded}");
    let called = f.sluice(&[&run[..], &["--replace", "blue=programs/p4/qos.p4,programs/nic/nic.toml@50%"]].concat());
    assert!(called.code == 2 && called.err.contains("error[E0790]"), "{}", called.err);
}

#[test]
fn a_tenants_program_may_be_had_in_part() {
    let f = Folder::new();
    f.sluice(&["script", "programs/p4/parts.pkt"]).ok();
    let nic = |p4: &str| {
        let text = std::fs::read_to_string(root().join("programs/p4/nic.toml")).unwrap();
        let folder = root().join("programs/p4").display().to_string();
        let red = root().join("programs/nic").display().to_string();
        let text =
            text.replace("../nic", &red).replace("object = \"qos.p4\"", &format!("object = \"{folder}/mri.p4\""));
        f.write("nic.toml", &(text.replace("entries = \"qos.entries\"\n", "") + p4));
        f.sluice(&["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng", "--json"])
    };
    let called = nic("");
    assert!(called.code == 2 && called.err.contains("error[E0770]"), "{}", called.err);
    nic("[tenant.p4]\nbound = { traces = 8 }\n").ok();
    for (p4, expected) in [
        ("bound = { traces = 0 }", "allowed: a whole number from 1"),
        ("bound = { none = 1 }", "`none`"),
        ("hash = \"crc\"", "allowed: `target`"),
        ("hush = \"target\"", "unknown field `hush`"),
    ] {
        let called = nic(&format!("[tenant.p4]\n{p4}\n"));
        assert!(called.code == 2 && called.err.contains(expected), "{p4}: {}", called.err);
    }
    nic("[tenant.p4]\nbound = { traces = 8 }\n").ok();
    let run = ["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng"];
    let run = |more: &[&str]| f.sluice(&[&run[..], more].concat());
    let mri = ["--replace", "blue=programs/p4/mri.p4,programs/p4/mri.entries@50%"];
    let called = run(&mri);
    assert!(called.code == 2 && called.err.contains("error[E0770]"), "{}", called.err);
    run(&[&mri[..], &["--bound", "traces=8"]].concat()).ok();
    for (more, expected) in [
        (&["--bound", "traces=8"][..], "a --replace with a P4 program"),
        (&["--replace", "red=programs/nic/red-2.json@50%", "--power-of-two"], "a --replace with a P4 program"),
        (&[&mri[..], &["--bound", "traces=8", "--bound", "traces=7"]].concat(), "given twice"),
    ] {
        let called = run(more);
        assert!(called.code == 2 && called.err.contains(expected), "{}", called.err);
    }
}

#[test]
fn packet_scripts_name_p4_programs() {
    let f = Folder::new();
    f.sluice(&["script", "programs/p4/qos.pkt"]).ok();
    let called = f.sluice(&["p4", "test", "programs/p4/qos.p4", "programs/p4/qos.pkt", "--device", "model"]);
    assert_eq!((called.code, called.out.contains("qos.pkt: ok")), (0, true), "{}{}", called.out, called.err);
    let called = f.sluice(&["p4", "test", "programs/p4/calc.p4", "programs/p4/qos.pkt", "--device", "model"]);
    assert!(called.code == 2 && called.err.contains("does not run programs/p4/calc.p4"), "{}", called.err);
    let called = f.sluice(&["p4", "test", "programs/p4/qos.p4", "programs/p4/qos.pkt"]);
    assert!(called.code == 2 && called.err.contains("--device model, rtl or both"), "{}", called.err);
    if has_plugin("rmt_default") {
        f.sluice(&["p4", "test", "programs/p4/qos.p4", "programs/p4/qos.pkt", "--device", "both"]).ok();
    }
}

#[test]
fn captures_run_through_a_program() {
    let f = Folder::new();
    let qos = ["p4", "run", "programs/p4/qos.p4", "--entries", "programs/p4/all.entries"];
    let run = |more: &[&str]| f.sluice(&[&qos[..], &["--in", "programs/xdp/mixed.pcap", "--json"], more].concat()).ok();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let reference = value(&run(&["--out", "reference.pcapng"]));
    let sent = reference["sent"].as_u64().unwrap();
    assert!(sent > 0 && reference["ports"]["2"] == sent && reference["failures"].as_array().unwrap().is_empty());
    let model = value(&run(&["--device", "model", "--out", "model.pcapng"]));
    assert_eq!((&model["sent"], &model["dropped"]), (&reference["sent"], &reference["dropped"]));
    assert!(std::fs::read(f.path("model.pcapng")).unwrap() == std::fs::read(f.path("reference.pcapng")).unwrap());
    let traced = value(&run(&["--trace"]));
    assert!(traced["traces"].to_string().contains("table Forward.routes: miss, Forward.to_port"));
    let refused = ["p4", "run", "programs/p4/load_balance.p4", "--in", "programs/xdp/mixed.pcap", "--device", "model"];
    assert_eq!(f.sluice(&refused).code, 3);
}

#[test]
fn graph_draws_what_compiles_and_exits_with_3_otherwise() {
    let f = Folder::new();
    f.sluice(&["p4", "graph", "programs/p4/tunnel.p4", "-o", "tunnel.svg"]).ok();
    let drawn = std::fs::read_to_string(f.path("tunnel.svg")).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("table Forward.routes"), "{drawn}");
    assert_eq!(f.sluice(&["p4", "graph", "programs/p4/tunnel.p4"]).ok(), drawn);
    let called = f.sluice(&["p4", "graph", "programs/p4/firewall.p4"]);
    assert!(called.code == 3 && called.err.contains("E0750"), "{}", called.err);
    assert_eq!(f.sluice(&["p4", "graph", "no.p4"]).code, 2);
}

#[test]
fn programs_in_sequence_may_stand_wherever_one_may() {
    let f = Folder::new();
    let both = "programs/p4/gate.p4+basic.p4";
    let passed = "programs/p4/gate.p4+basic.stf: passed, packets in 7, out 2, expectations 2\n";
    assert_eq!(f.sluice(&["p4", "test", both]).ok(), passed);
    assert_eq!(f.sluice(&["p4", "test", both, "--device", "model"]).ok(), passed);
    assert!(f.sluice(&["p4", "check", both]).ok().starts_with(&format!("{both}: OK, parsers 1")));
    assert!(f.sluice(&["p4", "info", both]).ok().contains("name: \"basic.Forward.routes\""));
    // What is printed is a program, and says the same.
    f.write("printed.p4", f.sluice(&["p4", "print", both]).ok());
    let script = std::fs::read_to_string(root().join("programs/p4/gate.p4+basic.stf")).unwrap();
    f.write("printed.stf", &script);
    assert!(f.sluice(&["p4", "test", "printed.p4", "printed.stf", "--device", "model"]).ok().contains("passed"));
    f.sluice(&["p4", "compile", both, "-o", "both.slob"]).ok();
    assert!(f.sluice(&["object", "show", "both.slob"]).ok().contains("gate-basic"));
    let admitted = f.sluice(&["object", "admit", both, "programs/p4/basic.p4"]).ok();
    assert!(admitted.contains("gate-basic") && admitted.contains("basic.Forward.routes"), "{admitted}");
    f.sluice(&["script", "programs/p4/gate.pkt"]).ok();
    assert!(f.sluice(&["p4", "test", both, "programs/p4/gate.pkt", "--device", "model"]).ok().contains("ok on model"));
    // In nic.toml, and in the place of a program that runs.
    let text = std::fs::read_to_string(root().join("programs/p4/nic.toml")).unwrap();
    let text = text.replace("../nic/", "").replace("host0 = 160", "port3 = 160");
    let folder = root().join("programs/p4").display().to_string();
    let nic = |program: &str, entries: &str| {
        let text = text
            .replace("\"qos.p4\"", &format!("\"{folder}/{program}\""))
            .replace("\"qos.entries\"", &format!("\"{folder}/{entries}\""));
        text.replace("red.json", &format!("{folder}/../nic/red.json"))
            .replace("green.json", &format!("{folder}/../nic/green.json"))
    };
    f.write("nic.toml", nic("gate.p4+basic.p4", "gate.entries"));
    let run = ["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng"];
    f.sluice(&run).ok();
    f.write("nic.toml", nic("basic.p4", "routes.entries"));
    let replace = ["--grow", "--replace", "blue=programs/p4/gate.p4+basic.p4,programs/p4/gate.entries@50%"];
    f.sluice(&[&run[..], &replace].concat()).ok();
    // No output is one of the files that are read, whichever.
    for name in ["one.p4", "two.p4"] {
        f.write(name, std::fs::read_to_string(root().join("programs/p4/basic.p4")).unwrap());
    }
    let called = f.sluice(&["p4", "compile", "one.p4+two.p4", "-o", "two.p4"]);
    assert!(called.code == 2 && called.err.contains("E0502"), "{}", called.err);
    for (words, code) in [
        (&["p4", "check", "one.p4+nobody.p4"][..], "E0700"),
        (&["p4", "check", "one.p4+programs/p4/system.p4"], "E0746"),
    ] {
        let called = f.sluice(words);
        assert!(called.code == 2 && called.err.contains(code), "{}", called.err);
    }
    f.write("script.pkt", "tenant a id=1 vlan=1\nrmt a one.p4+nobody.p4\n");
    let called = f.sluice(&["script", "script.pkt"]);
    assert!(called.code != 0 && called.out.contains("nobody.p4 cannot be read"), "{}{}", called.out, called.err);
    if has_plugin("rmt_default") {
        assert_eq!(f.sluice(&["p4", "test", both, "--device", "all"]).ok(), passed);
        f.sluice(&["p4", "test", both, "programs/p4/gate.pkt", "--device", "both"]).ok();
    }
}
