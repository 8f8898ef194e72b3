//! `sluice script`: the shipped scripts pass, and failures are told with their line.

mod common;

use common::{Folder, has_plugin};
use serde_json::Value;

const SCRIPTS: [&str; 3] = ["programs/nic/red.pkt", "programs/nic/green.pkt", "programs/nic/blue.pkt"];

#[test]
fn the_shipped_scripts_pass_on_the_model_and_in_lockstep() {
    let folder = Folder::new();
    let mut devices = vec!["model"];
    if has_plugin("default") {
        devices.extend(["rtl", "both"]);
    }
    for device in devices {
        let text = folder.sluice(&[&["script"], &SCRIPTS[..], &["--device", device]].concat()).ok();
        assert!(text.ends_with("3 passed, 0 failed, 0 skipped\n"), "{text}");
    }
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
