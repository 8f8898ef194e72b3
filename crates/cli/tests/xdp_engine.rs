//! `sluice xdp run --device rtl|both`: programs on the XDP engine in simulation.

use crate::common::{Folder, has_plugin, root};
use serde_json::Value;
use sluice_packet::capture::{CaptureWriter, Format, Packet};

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
    assert!(text.contains("60 packets, verdicts, bytes, maps and events as in the interpreter"), "{text}");
}

#[test]
fn the_engine_says_what_it_has_counted_and_where_the_last_fault_was() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let frame = |kind: u8| {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, kind];
        frame.resize(60, 0);
        frame
    };
    let object = object("fault.o");
    let run = |kinds: &[u8], device: &str, more: &[&str]| {
        let mut writer = CaptureWriter::new("frames", Vec::new(), Format::Pcap, &["port0"]).unwrap();
        kinds.iter().for_each(|kind| writer.write(&Packet::new(0, frame(*kind))).unwrap());
        folder.write("frames.pcap", writer.into_inner().unwrap());
        let line =
            ["xdp", "run", &object, "--in", "frames.pcap", "--target", "tiny", "--work", "1000", "--device", device];
        folder.sluice(&[&line[..], more].concat()).ok()
    };
    let mut faulted = 0;
    for kind in 0..6u8 {
        let both: Value = serde_json::from_str(&run(&[9, kind], "both", &["--json"])).unwrap();
        let counters = &both["engine"][0]["counters"];
        assert_eq!(counters["packets"], 2, "{both}");
        assert!(counters["bundles"].as_u64() > Some(2) && counters["cycles"].as_u64() > Some(10), "{counters}");
        // The interpreter's words: "fault: why at program:slot (file:line)".
        let drops = both["programs"][0]["drops"].as_object().unwrap();
        let Some(fault) = drops.keys().find_map(|drop| drop.strip_prefix("fault: ")) else {
            assert_eq!(counters["last_fault"], Value::Null);
            continue;
        };
        faulted += 1;
        let last = &counters["last_fault"];
        let (_, place) = fault.rsplit_once(" at ").unwrap();
        let line = place.split_once(" (").map(|(_, line)| line.trim_end_matches(')'));
        assert_eq!(last["line"].as_str(), line, "{fault}: {last}");
        let slot = last["slot"].as_u64().unwrap();
        assert!(place.contains(&format!(":{slot}")), "{fault}: {last}");
        assert_eq!(counters["faults"][last["kind"].as_str().unwrap()], 1);
        let text = run(&[kind, kind], "rtl", &[]);
        assert!(text.contains("the last fault: ") && line.is_none_or(|line| text.contains(line)), "{text}");
        assert!(text.contains("2 packets executed, ") && text.contains("2 ended by a fault: "), "{text}");
    }
    assert!(faulted > 1, "{faulted}");
}

#[test]
fn a_program_that_needs_more_is_refused_with_its_instruction_and_source_line() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let object = root().join("crates/ebpf/tests/objects/helpers_callbacks.o").display().to_string();
    let line = ["xdp", "run", &object, "--program", "each_array", "--in", MIXED, "--target", "tiny"];
    let called = folder.sluice(&[&line[..], &["--device", "rtl"]].concat());
    assert_eq!(called.code, 2, "{}", called.err);
    let said = ["error[E0805]", "program `each_array`, instruction ", "helpers_callbacks.c:", "software NIC"];
    assert!(said.iter().all(|words| called.err.contains(words)), "{}", called.err);
}

#[test]
fn a_map_that_does_not_fit_is_told_with_the_size_that_does_and_runs_with_it() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let line = ["xdp", "run", "programs/xdp/mac_gate/mac_gate.o", "--in", MIXED, "--limit", "20", "--target", "tiny"];
    let run = |more: &[&str]| folder.sluice(&[&line[..], &["--device", "rtl"], more].concat());
    let called = run(&[]);
    assert!(called.code == 2 && called.err.contains("error[E0806]"), "{}", called.err);
    let option = called.err.lines().find_map(|line| line.trim().strip_prefix("help: ")).expect("what to say instead");
    let option: Vec<&str> = option.split(' ').collect();
    assert!(option[0] == "--max-entries" && option[1].starts_with("stations="), "{option:?}");
    assert!(run(&option).ok().contains("20 packets"));
}

#[test]
fn a_packet_works_to_the_limit_that_is_given_on_every_device() {
    let folder = Folder::new();
    // The third frame goes round without end.
    let frames = [1u8, 5, 3].map(|kind| {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, kind];
        frame.resize(60, 0);
        frame
    });
    let mut writer = CaptureWriter::new("frames", Vec::new(), Format::Pcap, &["port0"]).unwrap();
    frames.into_iter().for_each(|frame| writer.write(&Packet::new(0, frame)).unwrap());
    folder.write("frames.pcap", writer.into_inner().unwrap());
    let object = object("fault.o");
    let run = |more: &[&str]| {
        let line = ["xdp", "run", &object, "--in", "frames.pcap", "--json"];
        serde_json::from_str::<Value>(&folder.sluice(&[&line[..], more].concat()).ok()).unwrap()
    };
    let faults = |report: &Value| report.to_string().matches("more than 1000 taken back edges").count();
    for device in ["model", "bundles"] {
        let report = run(&["--device", device, "--work", "1000"]);
        assert_eq!(faults(&report), 1, "{device}: {report}");
    }
    if !has_plugin("xdp_tiny") {
        return;
    }
    let both = run(&["--device", "both", "--target", "tiny", "--work", "1000"]);
    assert_eq!((faults(&both), &both["engine"][0]["differences"]), (1, &0.into()), "{both}");
    let aborted = |report: &Value| {
        let fates = report["programs"][0]["engine"]["fates"].as_array().unwrap().clone();
        fates.into_iter().find(|fate| fate["fate"] == "dropped, xdp_aborted").unwrap()
    };
    // A round takes three bundles, of 5 cycles each; two packets are aborted, one of them at once.
    for (work, most) in [("1000", 15_000..16_000), ("2000", 30_000..31_000)] {
        let fate = aborted(&run(&["--device", "rtl", "--target", "tiny", "--work", work]));
        assert_eq!(fate["packets"], 2);
        assert!(most.contains(&fate["latency_most"].as_u64().unwrap()), "{fate}");
    }
}

#[test]
fn what_a_program_tells_is_shown_whatever_the_device() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let config = "config=programs/xdp/sampler/config.map";
    let run = |device: &str, more: &[&str]| {
        let line = ["xdp", "run", "programs/xdp/sampler/sampler.o", "--map", config, "--in", MIXED, "--limit", "60"];
        folder.sluice(&[&line[..], &["--target", "tiny", "--device", device], more].concat()).ok()
    };
    // What is random is drawn by the engine, so the number of samples is its own.
    for device in ["rtl", "both"] {
        let text = run(device, &[]);
        assert!(text.contains(", and 0 lost") && text.contains("  samples: "), "{device}: {text}");
    }
    let alone: Value = serde_json::from_str(&run("rtl", &["--json"])).unwrap();
    let engine = &alone["programs"][0]["engine"];
    let events = engine["events"].as_array().unwrap();
    assert!(!events.is_empty() && engine["lost_events"] == 0, "{alone}");
    for event in events {
        assert_eq!((&event["map"], event["data"].as_str().unwrap().len()), (&"samples".into(), 2 * 152), "{event}");
    }
}

#[test]
fn a_router_runs_with_its_routes_on_the_engine() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let router = "programs/xdp/router_basic";
    let (object, routes) = (format!("{router}/router_basic.o"), format!("routes={router}/routes.map"));
    let ports = format!("ports={router}/ports.map");
    let line =
        ["xdp", "run", &object, "--in", MIXED, "--limit", "40", "--target", "tiny", "--device", "both", "--json"];
    let called =
        folder.sluice(&[&line[..], &["--max-entries", "routes=32", "--map", &routes, "--map", &ports]].concat());
    let found: Value = serde_json::from_str(&called.ok()).unwrap();
    assert_eq!(found["engine"][0]["differences"], Value::from(0));
    assert!(found["programs"][0]["verdicts"]["redirect"].as_u64().unwrap() > 10, "{found}");
}
