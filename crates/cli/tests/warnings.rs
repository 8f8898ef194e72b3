//! What is taken and warned of: on standard error, with a code, and nothing else changes.

use crate::common::Folder;

const RETAG: &str = "module retag\ncontainer tag = c4[0]\nparser {\n select 12:2 { 0x8100 -> all }\n path all { take tag @12; least 34 }\n}\n\
                     stage 1 { default out; action out { tag[11:0] = 20; send port1 } }\ndeparser { row r { put tag @12 } }\n";

fn config(red: &str) -> String {
    format!(
        "[device]\ntarget = \"tiny\"\n[[port]]\nnumber = 0\ninput = \"programs/nic/mixed.pcapng\"\n\
         [[tenant]]\nname = \"red\"\nid = 1\nvlans = [30]\n{red}\n\
         [[tenant]]\nname = \"blue\"\nid = 2\nvlans = [20]\nqueues = {{ port1 = 8 }}\n"
    )
}

#[test]
fn a_module_that_writes_a_tag_is_warned_of_with_its_line() {
    let f = Folder::new();
    f.write("retag.rmt", RETAG);
    let called = f.sluice(&["rmt", "check", "retag.rmt", "--target", "tiny"]);
    assert_eq!(called.code, 0, "{}", called.err);
    for words in ["warning[E0616]", "retag.rmt:8:", "`tag` @12: VLAN 20"] {
        assert!(called.err.contains(words), "{words}: {}", called.err);
    }
}

#[test]
fn a_nic_says_whose_vlan_a_program_writes_and_which_burst_is_small() {
    let f = Folder::new();
    f.write("retag.rmt", RETAG);
    let program = "keep_tag = true\nqueues = { port1 = 8 }\nobject = \"retag.rmt\"";
    for (red, words) in [
        (
            program,
            "[E0235] tenant `red`, object `retag`, path 0, deparse row 0: frames leave with VLAN 20 (tenant `blue`'s on port1)",
        ),
        (
            "rate = 50_000_000\nburst = 65_536",
            "[E0236] tenant `red`: burst 65536 bytes at 50000000 bit/s; TCP stays far below",
        ),
        (
            "share = { rate = 1_000_000_000, burst = 1_024 }\nqueues = { port1 = 8 }",
            "[E0237] tenant `red`: share of 1000000000 bit/s; his queue at port1 is sure to take 0 bit/s, of frames of 9216 bytes",
        ),
    ] {
        f.write("nic.toml", config(red));
        for arguments in [&["run", "--config", "nic.toml"][..], &["object", "ring", "--config", "nic.toml"]] {
            let called = f.sluice(arguments);
            assert_eq!(called.code, 0, "{}", called.err);
            assert_eq!(called.err.matches(&format!("warning: nic.toml: {words}")).count(), 1, "{}", called.err);
        }
    }
    f.write("nic.toml", config("rate = 50_000_000\nburst = 625_000"));
    let called = f.sluice(&["run", "--config", "nic.toml"]);
    assert!(called.code == 0 && !called.err.contains("warning"), "{}", called.err);
}

#[test]
fn a_script_is_warned_at_the_statement_once() {
    let f = Folder::new();
    f.write("small.pkt", "tenant red id=1 vlan=7 rate=50M burst=64k\ntenant blue id=2 vlan=8\n");
    let called = f.sluice(&["script", "small.pkt"]);
    assert_eq!(called.code, 0, "{}", called.err);
    assert_eq!(called.err.matches("warning: small.pkt:1:1: [E0236] tenant `red`").count(), 1, "{}", called.err);
    assert_eq!(called.err.matches("E0236").count(), 1, "{}", called.err);
}

#[test]
fn shipped_programs_are_not_warned_of() {
    let f = Folder::new();
    for config in ["programs/nic/nic.toml", "programs/xdp/nic.toml", "programs/xdp/behind_rmt.toml"] {
        let called = f.sluice(&["run", "--config", config, "--in", "programs/nic/mixed.pcapng", "--limit", "1"]);
        assert!(called.code == 0 && !called.err.contains("warning"), "{config}: {}", called.err);
    }
    let called = f.sluice(&["script", "programs/rmt/all.pkt"]);
    assert!(called.code == 0 && !called.err.contains("warning"), "{}", called.err);
}
