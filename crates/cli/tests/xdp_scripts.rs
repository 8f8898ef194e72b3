//! The shipped XDP programs on the engine in hardware, with the interpreter in lockstep.

use crate::common::{has_plugin, root};
use sluice_control::scripts::{Report, run_script};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_packet::script::Script;
use sluice_rtlsim::{Comparison, RtlOptions, top};
use std::path::{Path, PathBuf};

/// Scripts, or folders of them, that do not run on the engine of `tiny`, and what they end with. The list shrinks as the engine grows.
const REFUSED: &[(&str, &str)] = &[
    ("balancer/", "rows of search memory"),
    ("edge_balancer/", "of value memory"),
    // Two generations beside each other.
    ("firewall/replace.pkt", "rows of instructions"),
    ("load_balancer/", "of value memory"),
    ("nat/", "of value memory for map `flows`"),
    ("scripts/xdp_behind_rmt.pkt", "for another target"),
    ("scripts/xdp_lengths.pkt", "of value memory"),
    ("scripts/xdp_nested.pkt", "no map of maps that is kept in hardware"),
    ("scripts/xdp_tenants.pkt", "no rmt pipeline"),
    // Two generations beside each other.
    ("vlan_filter/", "of value memory"),
];

/// The same in the whole NIC of `default`.
const REFUSED_ON_DEFAULT: &[(&str, &str)] = &[("nat/", "rows of search memory")];

/// Scripts that the engine runs and that fail all the same, with what they end with.
const FAILING: &[(&str, &str)] = &[
    // Its packets of 3,000 bytes are larger than a queue of `tiny`, in the model too.
    ("icmp_too_big/icmp_too_big.pkt", "[E0311] expected packet 1 of 1 at host0: eth/ipv4(df=1)/udp/payload(len=3000)"),
];

fn scripts() -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let folders = inside(&root().join("programs/xdp")).into_iter().filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> = folders.flat_map(|folder| inside(&folder)).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "pkt"));
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("xdp_"));
    files.extend(inside(&root().join("crates/nic/scripts")).into_iter().filter(named));
    files.sort();
    assert!(files.len() >= 25, "{} scripts", files.len());
    files
}

/// What a list says of a script.
fn of(list: &[(&str, &'static str)], script: &str) -> Option<&'static str> {
    list.iter().find(|(name, _)| script.contains(&format!("/{name}"))).map(|(_, what)| *what)
}

/// Why a script did not pass.
fn found(report: &Report) -> Option<String> {
    match (&report.skipped, &report.failures[..]) {
        (Some(why), _) => Some(why.clone()),
        (None, [first, ..]) => Some(format!("[{}] {}", first.failure.code(), first.failure)),
        (None, []) => None,
    }
}

#[test]
fn the_guide_lists_the_programs_that_the_engine_has_no_room_for() {
    let guide = std::fs::read_to_string(root().join("docs/guide/xdp-programs.md")).unwrap();
    let listed = |target: &str| -> Vec<&str> {
        let rows = guide.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
        rows.filter(|(_, rest)| rest.split(" | ").next() == Some(target)).map(|(script, _)| script).collect()
    };
    let refused = |list: &[(&str, &str)]| -> Vec<String> {
        let programs = list.iter().filter(|(name, _)| !name.starts_with("scripts/"));
        programs.map(|(name, _)| format!("`{}`", name.trim_end_matches('/'))).collect()
    };
    assert_eq!(listed("default"), refused(REFUSED_ON_DEFAULT));
    assert_eq!(listed("tiny"), refused(REFUSED));
}

#[test]
fn every_script_of_the_programs_passes_on_the_nic_of_default_or_has_no_room() {
    if std::env::var_os("SLUICE_LONG").is_none() || !has_plugin("default") {
        return;
    }
    let mut wrong = Vec::new();
    for path in scripts().iter().filter(|path| path.starts_with(root().join("programs/xdp"))) {
        let options = RtlOptions { check_accounting: true, ..RtlOptions::default() };
        let mut nic = Comparison::open(DEFAULT.name, options, env!("CARGO_TARGET_TMPDIR")).unwrap();
        let report = run_script(&Script::read(path).unwrap_or_else(|e| panic!("{e}")), &mut nic);
        println!("{report}");
        let (found, expected) = (found(&report), of(REFUSED_ON_DEFAULT, &path.display().to_string()));
        if !match (&found, expected) {
            (None, None) => true,
            (Some(found), Some(what)) => found.contains(what) && found.starts_with("[E080"),
            _ => false,
        } {
            wrong.push(report.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_script_within_the_engine_runs_as_in_the_interpreter_and_the_others_are_refused() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for path in scripts() {
        let shown = path.display().to_string();
        let script = Script::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let options = RtlOptions { top: &top::XDP, check_accounting: true, ..RtlOptions::default() };
        let mut nic = Comparison::open(TINY.name, options, env!("CARGO_TARGET_TMPDIR")).unwrap();
        let report = run_script(&script, &mut nic);
        let found = found(&report);
        // A script that passes must not be on a list either.
        let as_expected = match (of(REFUSED, &shown), of(FAILING, &shown), &found) {
            (None, None, None) => true,
            (Some(what), None, Some(found)) => {
                found.contains(what) && (report.skipped.is_some() || found.contains("[E08"))
            }
            (None, Some(what), Some(found)) => found.contains(what),
            _ => false,
        };
        ran += usize::from(found.is_none());
        if !as_expected {
            wrong.push(report.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran >= 29, "{ran} scripts ran");
}
