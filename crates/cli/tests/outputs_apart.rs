//! Outputs are files of their own, and whether they can be written is found before a run.

use crate::common::{Folder, has_plugin};
use std::fs;

const CAPTURE: &str = "programs/nic/mixed.pcapng";
const DROP: &str = "programs/xdp/drop/drop.o";
const NIC: &str = "programs/nic/nic.toml";
const OLD: &str = "what was there";

/// A call that is refused with exit code 2 and these words, and leaves `old.pcap` as it was.
fn refused(folder: &Folder, arguments: &[&str], words: &[&str]) {
    folder.write("old.pcap", OLD);
    let called = folder.sluice(arguments);
    assert_eq!(called.code, 2, "{arguments:?}: {}{}", called.out, called.err);
    for word in words {
        assert!(called.err.contains(word), "{arguments:?}: no {word:?} in\n{}", called.err);
    }
    assert_eq!(fs::read_to_string(folder.path("old.pcap")).unwrap(), OLD, "{arguments:?}");
}

#[test]
fn a_state_that_cannot_be_written_is_told_before_the_run() {
    let folder = Folder::new();
    fs::create_dir(folder.path("folder")).unwrap();
    for state in ["folder", "/proc/none/s.json", "old.pcap/s.json"] {
        let run = ["xdp", "run", DROP, "--in", CAPTURE, "--out", "old.pcap", "--state", state];
        refused(&folder, &run, &["E0501", state, "cannot be written"]);
    }
    // The look leaves nothing behind, and what it promises holds: also in folders that are not there yet.
    folder.sluice(&["xdp", "run", DROP, "--in", "nosuch.pcap", "--state", "new/s.json"]);
    assert!(!folder.path("new").exists());
    folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--state", "new/deep/s.json"]).ok();
    let made: Vec<_> = fs::read_dir(folder.path("new/deep")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(made, ["s.json"]);
}

#[test]
fn two_outputs_are_two_files_also_before_they_are_there() {
    let folder = Folder::new();
    std::os::unix::fs::symlink("target.pcap", folder.path("link.pcap")).unwrap();
    let xdp = ["xdp", "run", DROP, "--in", CAPTURE];
    let run = ["run", "--config", NIC, "--in", CAPTURE];
    for (one, other) in
        [("new/x.pcap", "./new/x.pcap"), ("new/x.pcap", "new/y/../x.pcap"), ("link.pcap", "target.pcap")]
    {
        refused(&folder, &[&xdp[..], &["--out", one, "--packets", other]].concat(), &["E0502", "--packets", other]);
        let (first, second) = (format!("port0={one}"), format!("host0={other}"));
        refused(&folder, &[&run[..], &["--out", &first, "--out", &second]].concat(), &["E0502", "port0", "host0"]);
        refused(&folder, &[&run[..], &["--out", &first, "--events", other]].concat(), &["E0502", "--events", other]);
    }
    // Others of one name are other files.
    folder.sluice(&[&xdp[..], &["--out", "a/x.pcap", "--packets", "b/x.pcap"]].concat()).ok();
}

#[test]
fn waves_are_a_file_that_nothing_else_of_the_run_is() {
    let folder = Folder::new();
    for (from, to) in [(NIC, "n.toml"), (CAPTURE, "c.pcapng"), ("programs/rmt/calc.rmt", "c.rmt")] {
        folder.write(to, fs::read(folder.path(from)).unwrap());
    }
    folder.write("empty.toml", "[device]\ntarget = \"default\"\n");
    folder.write("s.pkt", "device default\ntenant calc id=1 vlan=10\nrmt calc c.rmt\n");
    let run = ["run", "--config", "empty.toml", "--in", "c.pcapng", "--device", "rtl", "--out", "port0=old.pcap"];
    let rmt = ["rmt", "run", "c.rmt", "--in", "c.pcapng", "--device", "rtl"];
    let script = ["script", "s.pkt", "--device", "rtl"];
    let calls = [
        (&run[..], &["empty.toml", "c.pcapng", "old.pcap"][..]),
        (&rmt, &["c.rmt", "c.pcapng"]),
        (&script, &["s.pkt", "c.rmt"]),
    ];
    for (call, files) in calls {
        for file in files {
            let before = fs::read(folder.path(file)).ok();
            let waves = format!("./{file}");
            refused(&folder, &[call, &["--waves", &waves]].concat(), &["E0502", "--waves", file, "file of its own"]);
            assert!(*file == "old.pcap" || fs::read(folder.path(file)).ok() == before, "{call:?} {file}");
        }
        refused(&folder, &[call, &["--waves", "-"]].concat(), &["E0502", "--waves", "expected a file"]);
    }
}

#[test]
fn a_socket_is_no_standard_output_and_a_top_without_the_xdp_engine_has_no_maps_for_one() {
    let folder = Folder::new();
    let run = ["run", "--config", NIC, "--in", CAPTURE];
    refused(&folder, &[&run[..], &["--socket", "-"]].concat(), &["E0502", "--socket", "expected a file"]);
    let live = ["xdp", "run", DROP, "--iface", "no-such-iface", "--socket", "-"];
    refused(&folder, &live, &["E0502", "--socket", "expected a file"]);
    let rmt = ["--device", "rtl", "--top", "rmt", "--socket", "s.sock"];
    refused(&folder, &[&run[..], &rmt].concat(), &["E0502", "--socket", "expected --top nic or xdp", "--device model"]);
}

#[test]
fn a_trace_and_the_maps_do_not_share_standard_output() {
    let folder = Folder::new();
    let run = ["xdp", "run", DROP, "--in", CAPTURE, "--limit", "1", "--trace", "--state", "-"];
    refused(&folder, &run, &["E0490", "--state -", "--trace"]);
}

#[test]
fn a_run_whose_second_device_does_not_start_leaves_its_outputs() {
    if !has_plugin("tiny") {
        return;
    }
    let folder = Folder::new();
    folder.write("old.jsonl", "{\"trace\": \"of before\"}\n");
    // Its maps have room on the software NIC only.
    folder.write(
        "nat.toml",
        "[device]\ntarget = \"tiny\"\n[[tenant]]\nname = \"green\"\nid = 2\nvlans = [20]\n\
         queues = { port0 = 32, port1 = 32, host1 = 16 }\nxdp = \"programs/xdp/nat/nat.o\"\npass = \"host1\"\n",
    );
    let run = ["run", "--config", "nat.toml", "--in", CAPTURE, "--device", "both"];
    let outputs = ["--out", "port0=old.pcap", "--events", "old.jsonl", "--out", "port1=new.pcap"];
    refused(&folder, &[&run[..], &outputs].concat(), &["E0806", "of value memory"]);
    assert_eq!(fs::read_to_string(folder.path("old.jsonl")).unwrap(), "{\"trace\": \"of before\"}\n");
    assert!(!folder.path("new.pcap").exists());
}

#[test]
fn standard_input_and_standard_output_are_two_streams() {
    let folder = Folder::new();
    let line = format!("cat {CAPTURE} | sluice run --config programs/xdp/nic.toml --in port0=- --events -");
    let called = folder.shell(&line);
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(called.err.contains("accounting: closed"), "{}", called.err);
}
