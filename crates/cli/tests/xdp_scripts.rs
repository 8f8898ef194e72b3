//! The shipped XDP programs on the engine in hardware, with the interpreter in lockstep.

use crate::common::{has_plugin, root};
use sluice_control::scripts::run_script;
use sluice_formats::target::TINY;
use sluice_packet::script::Script;
use sluice_rtlsim::{Comparison, RtlOptions, top};
use std::path::{Path, PathBuf};

/// Scripts, or folders of them, that do not run on the engine of `tiny`, and what they end with. The list shrinks as the engine grows.
const REFUSED: &[(&str, &str)] = &[
    ("balancer/", "rows of search memory"),
    ("firewall/", "map values, one behind the other"),
    ("flow_filter/", "map values, one behind the other"),
    ("icmp_echo/", "of value memory"),
    ("iptunnel/", "of value memory"),
    ("l2_acl/", "of value memory"),
    ("load_balancer/", "of value memory"),
    ("lru_conntrack/", "of value memory"),
    ("mac_gate/", "of value memory"),
    ("nat/", "map values, one behind the other"),
    ("nat_basic/", "of value memory"),
    ("rate_limit/", "map values, one behind the other"),
    ("router/", "of value memory"),
    ("router_basic/", "of value memory"),
    // Per-CPU values of the four processors that two cores have.
    ("rxq_info/", "of value memory"),
    ("scripts/xdp_behind_rmt.pkt", "for another target"),
    ("scripts/xdp_lengths.pkt", "of value memory"),
    ("scripts/xdp_nested.pkt", "no map of maps that is kept in hardware"),
    ("scripts/xdp_routes.pkt", "helper `fib_lookup`"),
    ("scripts/xdp_tenants.pkt", "no rmt pipeline"),
    ("tail_chain/", "rows of search memory"),
    ("udp_firewall/", "of value memory"),
    ("vlan_filter/", "map values, one behind the other"),
];

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

#[test]
fn every_script_within_the_engine_runs_as_in_the_interpreter_and_the_others_are_refused() {
    if !has_plugin("xdp_tiny") {
        return;
    }
    let (mut wrong, mut ran) = (Vec::new(), 0);
    for path in scripts() {
        let shown = path.display().to_string();
        let of = |list: &[(&str, &'static str)]| {
            list.iter().find(|(name, _)| shown.contains(&format!("/{name}"))).map(|(_, what)| *what)
        };
        let script = Script::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let options = RtlOptions { top: &top::XDP, check_accounting: true, ..RtlOptions::default() };
        let mut nic = Comparison::open(TINY.name, options, env!("CARGO_TARGET_TMPDIR")).unwrap();
        let report = run_script(&script, &mut nic);
        let found = match (&report.skipped, &report.failures[..]) {
            (Some(why), _) => Some(why.clone()),
            (None, [first, ..]) => Some(format!("[{}] {}", first.failure.code(), first.failure)),
            (None, []) => None,
        };
        // A script that passes must not be on a list either.
        let as_expected = match (of(REFUSED), of(FAILING), &found) {
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
    assert!(ran >= 5, "{ran} scripts ran");
}
