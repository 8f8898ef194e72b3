//! `sluice script`: the shipped scripts pass, and failures are told with their line.

use crate::common::{Folder, has_plugin};
use serde_json::Value;

const SCRIPTS: [&str; 3] = ["programs/nic/red.pkt", "programs/nic/green.pkt", "programs/nic/blue.pkt"];

#[test]
fn the_shipped_scripts_pass_on_every_device() {
    let folder = Folder::new();
    let mut devices = vec!["model", "dataplane"];
    if has_plugin("bare_default") {
        devices.extend(["rtl", "both"]);
    }
    for device in devices {
        let on = ["--device", device, "--engines", "rmt"];
        let text = folder.sluice(&[&["script"], &SCRIPTS[..], &on].concat()).ok();
        assert!(text.ends_with("3 passed, 0 failed, 0 skipped\n"), "{text}");
    }
}

/// Entries, state, maps, rings, rates, replacements: what a script says of the model holds for it.
#[test]
fn every_shipped_script_passes_on_the_data_plane() {
    let called = Folder::new().shell("sluice script --device dataplane programs/*/*.pkt programs/*/*/*.pkt").ok();
    let scripts: usize = called.lines().last().and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0);
    assert!(called.ends_with("passed, 0 failed, 0 skipped\n") && scripts >= 87, "{called}");
}

#[test]
fn scripts_for_another_target_are_skipped_and_said_so() {
    let text = Folder::new().sluice(&["script", SCRIPTS[0], SCRIPTS[1], "--target", "tiny"]).ok();
    assert!(text.ends_with("0 passed, 0 failed, 2 skipped\n"), "{text}");
}

#[test]
fn a_failed_expectation_has_its_line_and_exit_code_1() {
    let folder = Folder::new();
    folder.write(
        "wrong.pkt",
        "tenant red id=3 vlan=7\n\
         table red key=dmac default=port 2\n\
         send 0 eth/vlan(vid=7)/ipv4/pad(to=64)\n\
         expect port 1 eth/vlan(vid=7)/ipv4/...\n",
    );
    let called = folder.sluice(&["script", "wrong.pkt", SCRIPTS[0]].map(|a| a));
    assert_eq!(called.code, 1, "{}", called.err);
    assert!(called.out.contains("wrong.pkt:4:1: [E0311]"), "{}", called.out);
    assert!(called.out.contains("1 passed, 1 failed"), "{}", called.out);
    let called = folder.sluice(&["script", "wrong.pkt", "--json"]);
    assert_eq!(called.code, 1);
    let report: Value = serde_json::from_str(&called.out).unwrap();
    assert_eq!((&report["failed"], &report["scripts"][0]["failures"][0]["line"]), (&1.into(), &4.into()));
}

#[test]
fn a_script_that_the_nic_cannot_carry_out_has_exit_code_2() {
    let folder = Folder::new();
    let tenant = "tenant red id=3 vlan=7\n";
    let table = format!("{tenant}table red key=dmac default=port 2\n");
    folder.write("nic.pkt", &table);
    let called = folder.sluice(&["script", "nic.pkt", "--top", "rmt"]);
    assert_eq!(called.code, 2, "{}{}", called.out, called.err);
    assert!(called.err.contains("--top") && called.err.contains("--device rtl or both"), "{}", called.err);
    for (text, said) in [
        (format!("{table}load red no.json\n"), "no.json"),
        (format!("{tenant}xdp red no.o interfaces=1:9\n"), "[E0310] interfaces: found 1:9, allowed: ports 0 to 3"),
        (format!("{tenant}xdp red old.json pass=port 1\n"), "[E0310] xdp: found pass= with the object"),
    ] {
        folder.write("bad.pkt", &text);
        folder.write("old.json", "{}");
        let called = folder.sluice(&["script", "bad.pkt"]);
        assert_eq!(called.code, 2, "{}{}", called.out, called.err);
        assert!(called.out.contains(said), "{}", called.out);
    }
    folder.write("unmet.pkt", "send 0 eth/vlan(vid=7)/ipv4/pad(to=64)\nexpect none\n");
    assert_eq!(folder.sluice(&["script", "unmet.pkt"]).code, 1);
    for text in ["", "# nothing\n", "device any\n"] {
        folder.write("empty.pkt", text);
        let called = folder.sluice(&["script", "empty.pkt"]);
        assert_eq!(called.code, 2, "{}{}", called.out, called.err);
        assert!(called.err.contains("error[E0113]") && called.err.contains("empty.pkt:1:1"), "{}", called.err);
    }
}

#[test]
fn a_module_that_is_too_long_is_refused_alike_by_every_command() {
    let folder = Folder::new();
    folder.write("long.rmt", "# line\n".repeat((16 << 20) / 7 + 1));
    let check = folder.sluice(&["rmt", "check", "long.rmt"]);
    let run = folder.sluice(&["rmt", "run", "long.rmt", "--in", "programs/nic/mixed.pcapng"]);
    for called in [check, run] {
        assert_eq!(called.code, 2, "{}{}", called.out, called.err);
        let said = "allowed: at most 16777216";
        assert!(called.err.contains("error[E0614]") && called.err.contains(said), "{}", called.err);
    }
}

#[test]
fn the_pipeline_alone_runs_scripts_and_says_which_it_cannot() {
    if !has_plugin("rmt_tiny") {
        return;
    }
    let folder = Folder::new();
    let head = "device tiny\ntenant red id=3 vlan=7\ntable red key=dmac default=port 2\n";
    let passes = "send 0 eth/vlan(vid=7)/ipv4/pad(to=64)\nexpect port 2 eth/vlan(vid=7)/ipv4/pad(to=64)\n";
    folder.write("passes.pkt", format!("{head}{passes}"));
    folder.write("blocks.pkt", format!("{head}block port 2\n{passes}"));
    let scripts = ["script", "passes.pkt", "blocks.pkt", "--target", "tiny", "--top", "rmt", "--device", "both"];
    let called = folder.sluice(&scripts);
    assert_eq!(called.code, 0, "{}{}", called.out, called.err);
    assert!(called.out.contains("passes.pkt: ok on compare (tiny)"), "{}", called.out);
    assert!(called.out.contains("blocks.pkt: skipped on compare: the device has no queues"), "{}", called.out);
}
