//! `sluice xdp run --trace PACKET` and `--by-path`: what one packet executed, and packets that went the same way.

use crate::common::{Folder, has_plugin, root};
use serde_json::Value;

const MIXED: &str = "programs/xdp/mixed.pcap";
const SWAP: &str = "programs/xdp/swap/swap.o";
const ROUTER: &str = "programs/xdp/router/router.o";

fn json(folder: &Folder, object: &str, more: &[&str]) -> Value {
    let line = ["xdp", "run", object, "--in", MIXED, "--limit", "60", "--json"];
    serde_json::from_str(&folder.sluice(&[&line[..], more].concat()).ok()).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Sum over paths.
fn sum(paths: &Value, of: impl Fn(&Value) -> u64) -> u64 {
    paths.as_array().unwrap().iter().map(of).sum()
}

#[test]
fn a_trace_of_one_packet_has_it_alone_and_its_bundles_stand_under_their_source_lines() {
    let folder = Folder::new();
    let line = ["xdp", "run", SWAP, "--in", MIXED, "--limit", "3", "--trace", "2"];
    for (device, words) in [
        ("model", &["Load of 4 at 0x1000", "/swap.c:"][..]),
        ("bundles", &["; ./programs/xdp/swap/swap.c:", "    0 .0  "]),
    ] {
        let text = folder.sluice(&[&line[..], &["--device", device]].concat()).ok();
        assert!(text.starts_with("packet 2\n"), "{text}");
        assert!(!text.contains("packet 0\n") && !text.contains("packet 1\n"), "{text}");
        let missing = words.iter().find(|word| !text.contains(*word));
        assert_eq!(missing, None, "{device}: {text}");
        assert!(text.contains("        r0 = 0x3\n") && text.contains("  tx, "), "{device}: {text}");
    }
}

#[test]
fn a_trace_as_json_has_the_bundles_and_instructions_that_the_path_of_its_packet_counts() {
    let folder = Folder::new();
    for object in [SWAP, ROUTER] {
        let bundles = &json(&folder, object, &["--device", "bundles", "--trace", "0", "--by-path"])["programs"][0];
        let model = &json(&folder, object, &["--trace", "0"])["programs"][0];
        let paths = bundles["paths"].as_array().unwrap();
        let path = paths.iter().find(|path| path["first_packet"] == 0).unwrap();
        let executed = bundles["trace"]["bundles"].as_array().unwrap();
        assert_eq!(executed.len() as u64, number(&path["bundles"]), "{object}");
        assert_eq!(model["trace"]["instructions"].as_array().unwrap().len() as u64, number(&path["instructions"]));
        assert!([&bundles["trace"]["verdict"], &model["trace"]["verdict"]].iter().all(|v| **v == path["verdict"]));
        // What is behind a taken branch is squashed: it never stands before a lane that was carried out.
        for bundle in executed {
            let squashed: Vec<bool> =
                bundle["lanes"].as_array().unwrap().iter().map(|lane| lane["squashed"] == true).collect();
            assert!(squashed.is_sorted() && !squashed[0], "{bundle}");
        }
        let last = |registers: &dyn Fn(&Value) -> Value, steps: &Value| {
            let of = |step| registers(step)["r0"].as_str().map(str::to_owned);
            steps.as_array().unwrap().iter().filter_map(of).next_back()
        };
        let r0 = |step: &Value| step["registers"].clone();
        assert_eq!(last(&r0, &bundles["trace"]["bundles"]), last(&r0, &model["trace"]["instructions"]), "{object}");
    }
}

#[test]
fn a_lane_behind_a_taken_branch_is_told_as_squashed() {
    let folder = Folder::new();
    // A frame to a group: the first branch of its bundle is taken.
    let bundles =
        json(&folder, SWAP, &["--device", "bundles", "--trace", "1"])["programs"][0]["trace"]["bundles"].clone();
    let squashes = |bundle: &Value| bundle["lanes"].as_array().unwrap().iter().any(|lane| lane["squashed"] == true);
    assert!(bundles.as_array().unwrap().iter().any(squashes), "{bundles}");
}

#[test]
fn traces_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let refused = |code: &str, more: &[&str]| {
        let called = folder.sluice(&[&["xdp", "run", SWAP, "--in", MIXED, "--limit", "9"][..], more].concat());
        assert!(called.code == 2 && called.err.contains(&format!("error[{code}]")), "{more:?}: {}", called.err);
    };
    refused("E0502", &["--trace", "9"]);
    refused("E0490", &["--trace", "--json"]);
    refused("E0821", &["--trace", "0", "--device", "rtl"]);
    refused("E0821", &["--trace", "0", "--device", "both"]);
}

#[test]
fn paths_have_all_packets_verdicts_and_bundles_of_the_run() {
    let folder = Folder::new();
    for device in ["model", "bundles"] {
        let program = &json(&folder, ROUTER, &["--device", device, "--by-path"])["programs"][0];
        let paths = &program["paths"];
        assert!(paths.as_array().unwrap().len() > 1, "{paths}");
        assert_eq!(sum(paths, |path| number(&path["packets"])), 60);
        for (verdict, packets) in program["verdicts"].as_object().unwrap() {
            let of = |path: &Value| if path["verdict"] == *verdict { number(&path["packets"]) } else { 0 };
            assert_eq!(sum(paths, of), number(packets), "{device}, {verdict}");
        }
        assert!(paths.as_array().unwrap().iter().all(|path| path["engine"].is_null()));
        if device == "bundles" {
            let bundles = sum(paths, |path| number(&path["packets"]) * number(&path["bundles"]));
            let mean = program["per_packet"]["bundles"].as_f64().unwrap();
            assert!((bundles as f64 / 60.0 - mean).abs() < 1e-9, "{bundles}, {mean}");
        }
    }
    let line = ["xdp", "run", ROUTER, "--in", MIXED, "--limit", "60", "--by-path"];
    let text = folder.sluice(&line).ok();
    assert!(text.contains(" paths; model and engine in cycles:\n") && text.contains("first packet"), "{text}");
}

#[test]
fn the_engine_executes_the_bundles_of_the_paths() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let folder = Folder::new();
    let object = root().join("crates/nic/scripts/xdp/tag.o").display().to_string();
    for device in ["rtl", "both"] {
        let report = json(&folder, &object, &["--device", device, "--target", "tiny", "--by-path"]);
        let program = &report["programs"][0];
        let engine = if device == "rtl" { &program["engine"] } else { &report["engine"][0] };
        let paths = &program["paths"];
        assert_eq!(sum(paths, |path| number(&path["engine"]["packets"])), 60, "{report}");
        let bundles = sum(paths, |path| number(&path["packets"]) * number(&path["bundles"]));
        assert_eq!(bundles, number(&engine["counters"]["bundles"]), "{device}: {report}");
        for path in paths.as_array().unwrap() {
            let latency = &path["engine"];
            assert_eq!(path["packets"], latency["packets"]);
            // A bundle comes every 5 cycles at the earliest, and what the program does is in between.
            assert!(number(&latency["latency_least"]) >= 5 * number(&path["bundles"]), "{path}");
        }
    }
    let line =
        ["xdp", "run", &object, "--in", MIXED, "--limit", "60", "--device", "rtl", "--target", "tiny", "--by-path"];
    let text = folder.sluice(&line).ok();
    assert!(text.contains("engine in to out") && !text.contains("paths are those of the models"), "{text}");
}
