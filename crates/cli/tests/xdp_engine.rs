//! `sluice xdp run --device rtl|both`: programs on the XDP engine in simulation.

mod common;

use common::{Folder, has_plugin, root};
use serde_json::Value;

const MIXED: &str = "programs/xdp/mixed.pcap";

/// An object of the NIC's scripts.
fn object(name: &str) -> String {
    root().join("crates/nic/scripts/xdp").join(name).display().to_string()
}

#[test]
fn a_missing_plug_in_is_told_with_how_to_build_it() {
    let folder = Folder::new();
    let line =
        format!("SLUICE_PLUGIN_DIR=. sluice xdp run {} --in {MIXED} --device rtl --target tiny", object("tag.o"));
    let called = folder.shell(&line);
    assert_eq!(called.code, 2, "{}", called.err);
    assert!(called.err.contains("error[E0503]") && called.err.contains("make plugins"), "{}", called.err);
}

#[test]
fn options_of_the_models_are_refused_with_the_engine() {
    let folder = Folder::new();
    let run = |more: &[&str]| folder.sluice(&[&["xdp", "run", &object("tag.o"), "--in", MIXED][..], more].concat());
    for more in [
        &["--device", "rtl", "--lanes", "4"][..],
        &["--device", "both", "--lanes", "2"],
        &["--device", "rtl", "--out", "left.pcap"],
        &["--device", "rtl", "--packets", "packets.json"],
        &["--device", "rtl", "--state", "maps.json"],
    ] {
        let called = run(more);
        assert!(called.code == 2 && called.err.contains("error[E0490]"), "{more:?}: {}", called.err);
    }
}

#[test]
fn the_engine_says_what_became_of_packets_and_in_how_many_cycles() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let run = |device: &str, more: &[&str]| {
        let object = object("tag.o");
        let all = ["xdp", "run", &object, "--in", MIXED, "--limit", "60", "--target", "tiny", "--device", device];
        folder.sluice(&[&all[..], more].concat()).ok()
    };
    let alone: Value = serde_json::from_str(&run("rtl", &["--json"])).unwrap();
    let engine = &alone["programs"][0]["engine"];
    assert_eq!((&engine["packets"], &engine["differences"]), (&60.into(), &Value::Null));
    assert!(engine["cycles_a_packet"].as_f64().unwrap() > 5.0, "{alone}");
    let fates = engine["fates"].as_array().unwrap();
    assert_eq!(fates.iter().map(|fate| fate["packets"].as_u64().unwrap()).sum::<u64>(), 60);
    assert!(fates.iter().all(|fate| fate["latency_least"].as_u64().unwrap() >= 10), "{alone}");
    let both: Value = serde_json::from_str(&run("both", &["--json"])).unwrap();
    assert_eq!((&both["engine"][0]["packets"], &both["engine"][0]["differences"]), (&60.into(), &0.into()));
    let text = run("both", &[]);
    assert!(text.contains("60 packets, verdicts, bytes and maps as in the interpreter"), "{text}");
}

#[test]
fn a_program_that_needs_more_is_refused_with_its_instruction_and_source_line() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let line = ["xdp", "run", "programs/xdp/flow_filter/flow_filter.o", "--in", MIXED, "--target", "tiny"];
    let called = folder.sluice(&[&line[..], &["--device", "rtl"]].concat());
    assert_eq!(called.code, 2, "{}", called.err);
    let said = ["error[E0805]", "program `flow_filter`, instruction ", "flow_filter.c:", "software NIC"];
    assert!(said.iter().all(|words| called.err.contains(words)), "{}", called.err);
}
