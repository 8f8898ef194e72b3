//! `--engines`: a NIC with fewer engines refuses what needs the others, before anything is written.

use crate::common::Folder;
use sluice_formats::target::TINY;
use sluice_formats::{EngineId, Node, Table};
use sluice_object::{Linker, NicSettings, Step};

/// A refusal with these words.
fn refused(folder: &Folder, arguments: &[&str], words: &[&str]) {
    let called = folder.sluice(arguments);
    assert_eq!(called.code, 2, "{arguments:?}: {}{}", called.out, called.err);
    let said = called.out + &called.err;
    for word in words {
        assert!(said.contains(word), "{arguments:?}: no {word:?} in\n{said}");
    }
}

#[test]
fn programs_for_an_engine_that_is_not_there_are_refused_on_every_way() {
    let folder = Folder::new();
    let (xdp, l7) = ("programs/xdp/nic.toml", "programs/l7/nic.toml");
    let run = ["--in", "port0=programs/nic/mixed.pcapng", "--out", "port1=out.pcap"];
    refused(&folder, &[&["run", "--config", xdp, "--engines", "rmt"], &run[..]].concat(), &["[E0238]", "engine xdp"]);
    refused(&folder, &[&["run", "--config", l7, "--engines", "rmt,xdp"], &run[..]].concat(), &["[E0238]", "engine l7"]);
    assert!(!folder.path("out.pcap").exists());
    refused(&folder, &["object", "ring", "--config", l7, "--engines", "rmt"], &["[E0238]", "it has rmt"]);
    refused(&folder, &["object", "shares", "--config", xdp, "--engines", "rmt,l7"], &["[E0238]", "it has rmt, l7"]);
    for (script, code) in [("programs/l7/lines.pkt", "l7"), ("programs/xdp/drop/drop.pkt", "xdp")] {
        refused(&folder, &["script", script, "--engines", "rmt"], &["[E0238]", &format!("the engine {code}")]);
    }
    // What needs none of them runs, and so does an engine that is there.
    for (script, engines) in [("programs/nic/red.pkt", "rmt"), ("programs/l7/lines.pkt", "l7,rmt")] {
        folder.sluice(&["script", script, "--engines", engines]).ok();
    }
    folder.sluice(&["object", "ring", "--config", "programs/nic/nic.toml", "--engines", "rmt"]).ok();
}

#[test]
fn a_load_for_an_engine_that_is_not_there_is_refused_with_its_step() {
    let folder = Folder::new();
    let mut linker = Linker::new(&TINY);
    let mut load = linker.nic(NicSettings::new(&TINY)).unwrap();
    load.steps.retain(|step| !matches!(step, Step::Write { node, .. } if node.engine() == Some(EngineId::XDP)));
    folder.write("plain.slld", load.to_binary());
    folder.sluice(&["object", "ring", "plain.slld", "--engines", "rmt"]).ok();
    let step = load.steps.len();
    let words = vec![0; Table::L7Match.words()];
    load.steps.push(Step::Write { node: Node::L7, table: Table::L7Match, index: 0, words });
    folder.write("rules.slld", load.to_binary());
    let at = format!("step {step}: found a row for the engine l7");
    refused(&folder, &["object", "ring", "rules.slld", "--engines", "rmt,xdp"], &["[E0309]", "rules.slld", &at]);
    folder.sluice(&["object", "ring", "rules.slld", "--engines", "rmt,l7"]).ok();
}

#[test]
fn sets_that_no_nic_has_are_refused_with_those_that_there_are() {
    let folder = Folder::new();
    let script = ["script", "programs/nic/red.pkt", "--engines"];
    for set in ["xdp", "rmt,", "", "l7,xdp", "rmt;xdp"] {
        refused(&folder, &[&script[..], &[set]].concat(), &["expected rmt,xdp,l7 or rmt or rmt,xdp or rmt,l7"]);
    }
    refused(&folder, &[&script[..], &["rmt", "--top", "rmt", "--device", "rtl"]].concat(), &["E0502", "--top nic"]);
    let described = |engines: &str, tenant: &str| {
        let tenant = format!("[[tenant]]\nname = \"red\"\nid = 1\nvlans = [7]\n{tenant}");
        folder.write("nic.toml", format!("[device]\ntarget = \"tiny\"\nengines = [{engines}]\n{tenant}"));
    };
    let ring = ["object", "ring", "--config", "nic.toml"];
    for engines in ["", "\"xdp\"", "\"rmt\", \"dpi\""] {
        described(engines, "");
        refused(&folder, &ring, &["nic.toml:3:", "[E0304]", "device.engines", "`rmt`"]);
    }
    described("\"rmt\"", "xdp_share = { weight = 2 }\n");
    refused(&folder, &ring, &["nic.toml:8:", "[E0238]", "share of the engine xdp", "it has rmt"]);
    // The command line has the last word.
    folder.sluice(&[&ring[..], &["--engines", "rmt,xdp"]].concat()).ok();
    described("\"rmt\", \"xdp\"", "xdp_share = { weight = 2 }\n");
    folder.sluice(&ring).ok();
    refused(&folder, &[&ring[..], &["--engines", "rmt"]].concat(), &["for engines rmt", "[E0238]"]);
}
