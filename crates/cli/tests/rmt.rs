//! `sluice rmt`: modules are checked and shown.

use crate::common;
use crate::common::Folder;

#[test]
fn check_says_what_a_module_uses_of_each_stage() {
    let f = Folder::new();
    let text = f.sluice(&["rmt", "check", "programs/rmt/calc.rmt"]).ok();
    let expected = "programs/rmt/calc.rmt: OK, module calc\n  parser 1 nodes, 1 paths; deparser 1 patterns, 1 rows; groups 0\n  \
                    stage   exact  ternary  actions  pages\n  1      5/1024     0/64    6/512   0/64\n";
    assert_eq!(text, expected);
    let json = f.sluice(&["rmt", "check", "programs/rmt/calc.rmt", "--target", "tiny", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["passed"], &value["target"]), (&true.into(), &"tiny".into()));
    assert_eq!(value["modules"][0]["stages"][0]["exact"], 5);
}

#[test]
fn mistakes_of_all_files_are_shown_with_their_lines_and_exit_code_2() {
    let f = Folder::new();
    f.write("a.rmt", "module a\nstage 1 {\n    key nothing\n    action x { c2[0] = 70000 }\n}\n");
    f.write("b.rmt", "module b\nstage 0 {\n    action x { discard }\n}\n");
    f.write("c.rmt", [0x6d, 0xff]);
    let called = f.sluice(&["rmt", "check", "a.rmt", "programs/rmt/calc.rmt", "b.rmt", "c.rmt"]);
    assert_eq!(called.code, 2);
    assert!(called.out.starts_with("programs/rmt/calc.rmt: OK"), "{}", called.out);
    for words in [
        "error[E0604]",
        "a.rmt:3:9",
        "error[E0603]",
        "a.rmt:4:24",
        "error[E0650]",
        "b.rmt:2:7",
        "error[E0601]",
        "c.rmt:1:2",
    ] {
        assert!(called.err.contains(words), "{words}:\n{}", called.err);
    }
    let called = f.sluice(&["rmt", "check", "a.rmt", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    assert_eq!((called.code, &value["modules"][0]["errors"][1]["line"]), (2, &4.into()));
    assert_eq!(f.sluice(&["rmt", "show", "no.rmt"]).code, 2);
}

#[test]
fn what_is_shown_is_shown_the_same_again() {
    let f = Folder::new();
    let text = f.sluice(&["rmt", "show", "programs/rmt/tunnel.rmt"]).ok();
    assert!(text.contains("when path plain and headers ethernet, outer, inner -> add"), "{text}");
    f.write("again.rmt", &text);
    assert_eq!(f.sluice(&["rmt", "show", "again.rmt"]).ok(), text);
}

#[test]
fn an_object_of_a_module_is_shown_as_the_text_that_it_was_built_from() {
    let f = Folder::new();
    for (name, form) in [("calc", vec![]), ("l3_router", vec!["--json"]), ("tunnel", vec!["--target", "tiny"])] {
        let module = format!("programs/rmt/{name}.rmt");
        let mut build = vec!["rmt", "build", &module, "-o", "out/object"];
        build.extend(&form);
        let said = f.sluice(&build).ok();
        assert!(said.starts_with(&format!("out/object: object `{name}` for target ")), "{said}");
        let shown = f.sluice(&["rmt", "show", "out/object"]).ok();
        assert!(shown.contains(&format!("module {name}")), "{shown}");
        // Built again from what is shown, it is the same object but for names, which it has not.
        f.write("shown.rmt", &shown);
        let mut again = build.clone();
        (again[2], again[4]) = ("shown.rmt", "out/again");
        f.sluice(&again).ok();
        assert_eq!(f.sluice(&["rmt", "show", "out/again"]).ok(), shown);
        let table = f.sluice(&["object", "show", "out/object"]).ok();
        assert!(table.contains("deparse rows") && table.contains("stage"), "{table}");
    }
    let called = f.sluice(&["rmt", "show", "programs/nic/red.json"]);
    assert_eq!(called.code, 2);
    assert!(called.err.contains("error[E0690]") && called.err.contains("has no rmt part"), "{}", called.err);
}

/// A capture of the old format, microseconds, Ethernet.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 0xffff, 1].into_iter().flat_map(u32::to_le_bytes).collect();
    for frame in frames {
        let length = frame.len() as u32;
        bytes.extend([0, 0, length, length].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend(frame);
    }
    bytes
}

#[test]
fn frames_are_judged_as_at_a_port_of_the_nic_on_every_device() {
    let f = Folder::new();
    // Ethernet, IPv4 and UDP to the port of reconfiguration, the same of nobody's VLAN, CALC's sum of 3 and 4, and 13 bytes, which a NIC's port
    // drops and the pipeline alone takes.
    let mut reconfig = vec![2; 12];
    reconfig.extend([0x08, 0x00, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    reconfig.extend([0x12, 0x34, 0xf1, 0xf2, 0, 20, 0, 0]);
    reconfig.resize(60, 0);
    let mut stranger = reconfig.clone();
    stranger.splice(12..12, [0x81, 0, 0, 9]);
    let mut sum = vec![2; 12];
    sum.extend([0x12, 0x34, b'P', b'4', 1, b'+', 0, 0, 0, 3, 0, 0, 0, 4]);
    sum.resize(9216, 0);
    f.write("in.pcap", capture(&[reconfig, stranger, vec![2; 13], sum]));
    for device in ["model", "both"] {
        if device == "both" && !common::has_plugin("rmt_tiny") {
            continue;
        }
        let call = ["rmt", "run", "programs/rmt/calc.rmt", "--in", "in.pcap", "--target", "tiny", "--json", "--device"];
        let json = f.sluice(&[&call[..], &[device]].concat()).ok();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let module = |at: usize| (&value["modules"][at]["dropped"], &value["modules"][at]["copies"]);
        let none = serde_json::json!({});
        assert_eq!(module(0), (&serde_json::json!({ "unmapped": 1 }), &none), "{json}");
        assert_eq!(
            module(1),
            (&serde_json::json!({ "reconfig": 1, "parse_reject": 1 }), &serde_json::json!({ "port0": 1 })),
            "{json}"
        );
        assert_eq!((&value["packets"], &value["modules"][1]["packets"]), (&4.into(), &3.into()), "{json}");
    }
}

#[test]
fn an_output_that_ends_in_json_gets_the_json_form() {
    let f = Folder::new();
    f.sluice(&["rmt", "build", "programs/rmt/calc.rmt", "-o", "calc.json"]).ok();
    f.sluice(&["rmt", "build", "programs/rmt/calc.rmt", "-o", "calc.slob"]).ok();
    f.sluice(&["object", "build", "calc.slob", "-o", "again.json"]).ok();
    let json = std::fs::read_to_string(f.path("calc.json")).unwrap();
    assert!(json.starts_with('{'), "{json}");
    assert_eq!(std::fs::read_to_string(f.path("again.json")).unwrap(), json);
    assert!(std::fs::read(f.path("calc.slob")).unwrap().starts_with(b"SLOB"));
}
