//! The shipped XDP programs on the engine in hardware, with the interpreter in lockstep.

mod support;

use sluice_control::scripts::run_script;
use sluice_formats::target::TINY;
use sluice_packet::script::Script;
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};
use std::path::{Path, PathBuf};

/// Folders of programs, and scripts of the NIC, that need what the engine has not, and what that is: every such script is refused
/// with it. The list shrinks as the engine grows.
const REFUSED: &[(&str, &str)] = &[
    ("drop", "percpu_array"),
    ("firewall", "lru_hash"),
    ("icmp_echo", "(hash)"),
    ("icmp_too_big", "percpu_array"),
    ("iptunnel", "(hash)"),
    ("l2_acl", "(hash)"),
    ("load_balancer", "percpu_array"),
    ("lru_conntrack", "lru_hash"),
    ("nat", "(hash)"),
    ("rate_limit", "lpm_trie"),
    ("redirect_map", "helper `redirect_map`"),
    ("router", "(hash)"),
    ("rxq_info", "percpu_array"),
    ("sampler", "percpu_array"),
    ("swap", "percpu_array"),
    ("tail_chain", "handles of maps in registers"),
    ("vlan_filter", "percpu_hash"),
    ("xdp_behind_rmt", "no rmt pipeline"),
];

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let folders = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> =
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "pkt"));
    let nic = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nic/scripts");
    let own = std::fs::read_dir(nic).unwrap().map(|entry| entry.unwrap().path());
    files.extend(own.filter(|path| path.to_str().is_some_and(|p| p.ends_with(".pkt") && p.contains("/xdp_"))));
    files.sort();
    assert!(files.len() >= 30, "{} scripts", files.len());
    files
}

#[test]
fn every_script_within_the_engine_runs_as_in_the_interpreter_and_the_others_are_refused() {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    let mut wrong = Vec::new();
    for path in scripts() {
        let of_nic = path.parent().is_some_and(|folder| folder.ends_with("scripts"));
        let named = if of_nic { path.file_stem() } else { path.parent().and_then(Path::file_name) };
        let named = named.and_then(|name| name.to_str()).unwrap();
        let script = Script::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let options = RtlOptions { top: &top::XDP, check_accounting: true, ..RtlOptions::default() };
        let mut nic = Comparison::open(TINY.name, options, support::waves_folder()).unwrap();
        let report = run_script(&script, &mut nic);
        let expected = REFUSED.iter().find(|(name, _)| *name == named).map(|(_, what)| *what);
        let found = match (&report.skipped, &report.failures[..]) {
            (Some(why), _) => Some(why.clone()),
            (None, [first, ..]) => Some(format!("[{}] {}", first.failure.code(), first.failure)),
            (None, []) => None,
        };
        // A script that passes must not be on the list either.
        let as_expected = match (expected, &found) {
            (None, None) => true,
            (Some(what), Some(found)) => found.contains(what) && (report.skipped.is_some() || found.contains("[E08")),
            _ => false,
        };
        if !as_expected {
            wrong.push(format!("{named}: {report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
