//! `sluice object admit`: who fits a NIC together, and what each gets.

use crate::common::Folder;
use serde_json::Value;

fn programs() -> String {
    format!("{}/../../programs", env!("CARGO_MANIFEST_DIR"))
}

/// The document, and the exit code.
fn admit(files: &[&str], options: &[&str]) -> (i32, Value) {
    let f = Folder::new();
    let files: Vec<String> = files.iter().map(|file| format!("{}/{file}", programs())).collect();
    let mut arguments = vec!["object", "admit", "--json"];
    arguments.extend(files.iter().map(String::as_str));
    arguments.extend(options);
    let called = f.sluice(&arguments);
    (called.code, serde_json::from_str(&called.out).unwrap_or_else(|e| panic!("{e}: {} {}", called.out, called.err)))
}

/// Entries of each tenant's first table.
fn entries(document: &Value) -> Vec<u64> {
    let tenants = document["tenants"].as_array().unwrap().iter();
    tenants.map(|tenant| tenant["tables"][0]["entries"].as_u64().unwrap_or(0)).collect()
}

#[test]
fn twelve_fit_and_what_one_more_lacks_is_said() {
    let (code, document) = admit(&["p4/basic.p4"], &["--copies", "12"]);
    assert_eq!(code, 0);
    let tenants = document["tenants"].as_array().unwrap();
    assert!(tenants.len() == 12 && tenants.iter().all(|tenant| tenant["fits"] == true), "{document}");
    let names = [&tenants[0]["tenant"], &tenants[11]["tenant"]];
    assert_eq!(names, ["basic", "basic_12"]);
    let in_stage = |stage: u64| tenants.iter().filter(|tenant| tenant["stages"] == serde_json::json!([stage])).count();
    assert_eq!([1, 2, 3].map(in_stage), [4, 4, 4]);
    let next = &document["next"][0];
    let fits = next["fits"].as_bool().unwrap();
    assert!(fits || next["why"]["code"] == "E0670", "{next}");
    // Each stage of tenants, and what is left there.
    let left = document["left"].as_array().unwrap();
    assert_eq!(left.iter().map(|stage| stage["stage"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn policies_share_what_is_left_by_weight() {
    let (code, drf) = admit(&["p4/basic.p4"], &["--copies", "6", "--policy", "drf"]);
    assert_eq!((code, &drf["policy"]), (0, &"drf".into()));
    let shared = entries(&drf);
    assert!(shared.iter().all(|n| *n == shared[0] && *n > 3), "{drf}");
    // Half of a stage each.
    assert!(drf["tenants"].as_array().unwrap().iter().all(|t| t["largest_part"]["part"] == 32), "{drf}");
    let (code, weighted) =
        admit(&["p4/basic.p4", "p4/eight/firewall.p4"], &["--copies", "3", "--policy", "drf", "--weight", "basic=2"]);
    assert_eq!(code, 0);
    let weights: Vec<u64> =
        weighted["tenants"].as_array().unwrap().iter().map(|tenant| tenant["weight"].as_u64().unwrap()).collect();
    assert_eq!(weights, [2, 1, 2, 1, 2, 1]);
}

/// Tenants that fit, of so many of a program.
fn fitting(program: &str, copies: &str, policy: &str) -> (i32, usize, serde_json::Value) {
    let (code, document) = admit(&[program], &["--copies", copies, "--policy", policy]);
    let tenants = document["tenants"].as_array().unwrap();
    (code, tenants.iter().filter(|tenant| tenant["fits"] == true).count(), document)
}

#[test]
fn as_many_tenants_as_there_are_run_a_program_of_one_ternary_row() {
    for program in ["p4/calc.p4", "p4/eight/calc.p4", "p4/eight/qos.p4", "p4/eight/source_routing.p4"] {
        let (code, fitting, document) = fitting(program, "63", "fixed");
        assert_eq!((code, fitting), (0, 63), "{program}");
        // The next one lacks a module and nothing else.
        assert_eq!(document["next"][0]["why"]["code"], "E0227", "{program}: {document}");
    }
    for (program, least) in
        [("p4/eight/firewall.p4", 15), ("p4/eight/netchain.p4", 32), ("p4/eight/netcache.p4", 8), ("p4/atoms.p4", 6)]
    {
        let (_, fitting, _) = fitting(program, "63", "fixed");
        assert_eq!(fitting, least, "{program}");
    }
}

#[test]
fn who_does_not_fit_is_named_and_takes_nothing() {
    for policy in ["fixed", "drf", "utility"] {
        let (code, fitting, document) = fitting("p4/basic.p4", "63", policy);
        assert!(code == 1 && fitting >= 12, "{policy}: {fitting}");
        for tenant in document["tenants"].as_array().unwrap().iter().filter(|tenant| tenant["fits"] == false) {
            assert!(tenant["why"]["code"] == "E0670" && tenant["stages"] == serde_json::json!([]), "{tenant}");
        }
        let next = &document["next"][0]["why"];
        assert_eq!(next["code"], "E0670", "{next}");
    }
}

/// Every kind of program, with the engines that they need.
#[test]
fn programs_of_all_kinds_are_admitted_together() {
    let files = ["p4/basic.p4", "rmt/calc.rmt", "nic/red.json", "l7/lines.l7"];
    let (code, document) = admit(&files, &["--policy", "utility"]);
    assert_eq!(code, 0, "{document}");
    assert!(document["tenants"].as_array().unwrap().iter().all(|tenant| tenant["fits"] == true), "{document}");
}

#[test]
fn mistakes_say_what_is_allowed() {
    let f = Folder::new();
    let basic = format!("{}/p4/basic.p4", programs());
    for (arguments, words) in [
        (&["--policy", "most"][..], "fixed, drf or utility"),
        (&["--weight", "basic"], "--weight basic=2"),
        (&["--weight", "calc=2"], "expected the name of a file"),
        (&["--weight", "basic=2", "--weight", "basic=3"], "given twice"),
        (&["--copies", "64"], "64"),
        (&["--target", "none"], "default, tiny, far, tiny_far, soft"),
    ] {
        let called = f.sluice(&[&["object", "admit", &basic], arguments].concat());
        assert!(called.code == 2 && called.err.contains(words), "{arguments:?}: {} {}", called.code, called.err);
    }
    let called = f.sluice(&["object", "admit", "nothing.p4"]);
    assert!(called.code == 2 && called.err.contains("nothing.p4"), "{}", called.err);
}
