//! `sluice xdp warp`, and `--warp on`.

use crate::common::{Folder, json};
use serde_json::Value;

const FILTER: &str = "programs/xdp/flow_filter/flow_filter.o";
const GATE: &str = "programs/xdp/mac_gate/mac_gate.o";
const BALANCER: &str = "programs/xdp/balancer/balancer.o";
const MIXED: &str = "programs/xdp/mixed.pcap";

#[test]
fn leaves_say_what_they_save_and_where_their_paths_are_cut() {
    let folder = Folder::new();
    let text = folder.sluice(&["xdp", "warp", GATE]).ok();
    for part in
        ["mac_gate: 4 leaves: 2 verdicts, 1 resume", "the first lookup under way", "issues become", "drop, counts 1"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("cut at ./programs/xdp/mac_gate/mac_gate.c:81 (slot 42): it calls a helper"), "{text}");
    assert!(text.contains("      at least 14 bytes\n      (byte 6 & 0x01 is 0x00)\n"), "{text}");
}

#[test]
fn a_capture_is_the_same_by_the_table_and_its_packets_are_counted_by_leaf() {
    let folder = Folder::new();
    let checked = json(&folder.sluice(&["xdp", "warp", FILTER, "--check", MIXED, "--json"]).ok());
    let program = &checked["programs"][0];
    let leaves = program["leaves"].as_array().unwrap();
    let packets: Vec<u64> = leaves.iter().map(|leaf| leaf["packets"].as_u64().unwrap()).collect();
    let all = packets.iter().sum::<u64>() + program["plain_packets"].as_u64().unwrap();
    assert_eq!((leaves.len(), all), (7, 300), "{packets:?}");
    assert!(packets.iter().filter(|packets| **packets > 0).count() > 3, "{packets:?}");
    let resumed = &leaves[0];
    assert_eq!((&resumed["why"], &resumed["cut"]), (&Value::from("call"), &Value::from(31)), "{resumed}");
    assert!(resumed["issues"]["with"].as_f64() < resumed["issues"]["without"].as_f64(), "{resumed}");
    let encoded = &program["encoded"];
    assert_eq!(encoded["chunks"].as_array().map(Vec::len), Some(24 * 32));
    assert_eq!(encoded["leaves"].as_array().map(Vec::len), Some(7));
    let none = folder.sluice(&["xdp", "warp", FILTER]).ok();
    assert!(!none.contains("packets"), "{none}");
}

#[test]
fn the_papers_rules_say_what_they_save_and_what_they_judge_wrongly() {
    let folder = Folder::new();
    let text = folder.sluice(&["xdp", "warp", FILTER, "--paper", "--check", MIXED]).ok();
    for part in
        ["flow_filter: 6 entries by the published algorithm: 4 forward, 2 restore", "a call", "instructions become"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let checked = json(&folder.sluice(&["xdp", "warp", FILTER, "--paper", "--check", MIXED, "--json"]).ok());
    let program = &checked["programs"][0];
    let (mut packets, mut saved) = (0, 0);
    for rule in program["rules"].as_array().unwrap() {
        let counts = &rule["counts"];
        packets += counts["packets"].as_u64().unwrap();
        let [without, with] = ["without", "with"].map(|side| counts["instructions"][side].as_u64().unwrap());
        if counts["wrong"] == 0 && counts["packets"] != 0 {
            let path = rule["path"].as_array().unwrap().len() as u64;
            assert!(without - with <= counts["packets"].as_u64().unwrap() * path, "{rule}");
        }
        saved += without - with;
    }
    assert_eq!(packets + program["others"]["packets"].as_u64().unwrap(), 300);
    assert!(saved > 1000, "{program}");
}

#[test]
fn a_run_with_tables_has_the_same_packets_and_fewer_bundles() {
    let folder = Folder::new();
    let run = |warp: &str, out: &str| {
        let args = ["xdp", "run", FILTER, "--in", MIXED, "--device", "bundles", "--warp", warp, "--out", out, "--json"];
        json(&folder.sluice(&args).ok())
    };
    let (off, on) = (run("off", "off.pcap"), run("on", "on.pcap"));
    assert_eq!(off["programs"][0]["verdicts"], on["programs"][0]["verdicts"]);
    assert_eq!(std::fs::read(folder.path("off.pcap")).unwrap(), std::fs::read(folder.path("on.pcap")).unwrap());
    let bundles = |run: &Value| run["programs"][0]["per_packet"]["bundles"].as_f64().unwrap();
    assert!(bundles(&on) * 1.5 < bundles(&off), "{} and {}", bundles(&off), bundles(&on));
}

#[test]
fn tables_are_for_a_target_and_on_unless_somebody_says_otherwise() {
    let folder = Folder::new();
    let leaves = |target: &str| {
        let shown = json(&folder.sluice(&["xdp", "warp", BALANCER, "--target", target, "--json"]).ok());
        shown["programs"][0]["leaves"].as_array().unwrap().len()
    };
    assert!(leaves("tiny") <= 16 && leaves("default") > 16, "{} and {}", leaves("tiny"), leaves("default"));
    let refused = folder.sluice(&["xdp", "warp", BALANCER, "--target", "none"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    for command in ["show", "compile"] {
        let shown = |more: &[&str]| folder.sluice(&[&["xdp", command, GATE, "--json"], more].concat()).ok();
        assert_eq!(shown(&[]), shown(&["--warp", "on"]), "{command}");
        assert_eq!(shown(&["--passes", "all"]), shown(&["--warp", "on"]), "{command}");
        assert_ne!(shown(&[]), shown(&["--warp", "off"]), "{command}");
    }
    let run = |more: &[&str]| {
        folder.sluice(&[&["xdp", "run", FILTER, "--in", MIXED, "--device", "bundles"], more].concat()).ok()
    };
    assert!(run(&[]).contains("bundles a packet"));
    let bundles = |text: String| text.lines().find(|line| line.contains("bundles a packet")).unwrap().to_owned();
    assert_eq!(bundles(run(&[])), bundles(run(&["--warp", "on"])));
    assert_ne!(bundles(run(&[])), bundles(run(&["--warp", "off"])));
}

#[test]
fn rows_of_leaves_stand_behind_the_programs() {
    let folder = Folder::new();
    for command in ["show", "compile"] {
        let rows = |warp: &str| {
            let shown = json(&folder.sluice(&["xdp", command, GATE, "--warp", warp, "--json"]).ok());
            let rows = &shown["programs"][0]["rows"];
            rows.as_u64().or_else(|| rows.as_array().map(|rows| rows.len() as u64)).unwrap()
        };
        assert!(rows("off") < rows("on"), "{command}");
    }
}

#[test]
fn what_has_no_table_is_refused() {
    let folder = Folder::new();
    let refused = folder.sluice(&["xdp", "run", FILTER, "--in", MIXED, "--warp", "on"]);
    assert!(
        refused.code == 2 && refused.err.contains("E0490") && refused.err.contains("--device bundles"),
        "{}",
        refused.err
    );
    let refused = folder.sluice(&["xdp", "show", FILTER, "--warp", "on", "--passes", "none"]);
    assert!(refused.code == 2 && refused.err.contains("--passes"), "{}", refused.err);
    let refused = folder.sluice(&["xdp", "warp", FILTER, "--check", "none.pcap"]);
    assert!(refused.code == 2 && refused.err.contains("none.pcap"), "{}", refused.err);
    let refused = folder.sluice(&["xdp", "warp", FILTER, "--program", "none"]);
    assert!(refused.code == 2 && refused.err.contains("E0490"), "{}", refused.err);
}
