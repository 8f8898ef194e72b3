//! Files that commands write: what was there stays until a run begins, what is read is not written, `-` is standard output.

use crate::common::Folder;
use std::fs;
use std::process::{Command, Stdio};

const CAPTURE: &str = "programs/nic/mixed.pcapng";
const DROP: &str = "programs/xdp/drop/drop.o";
const NIC: &str = "programs/nic/nic.toml";
const OLD: &str = "what was there";

/// A call that fails before its run begins: exit code 2, these words, files as they were, and none more.
fn fails(folder: &Folder, arguments: &[&str], words: &[&str]) {
    let listed = |folder: &Folder| {
        let mut all: Vec<_> = fs::read_dir(folder.path("")).unwrap().map(|e| e.unwrap().path()).collect();
        all.sort();
        all
    };
    let before = listed(folder);
    let called = folder.sluice(arguments);
    assert_eq!(called.code, 2, "{arguments:?}: {}{}", called.out, called.err);
    for word in words {
        assert!(called.err.contains(word), "{arguments:?}: no {word:?} in\n{}", called.err);
    }
    assert_eq!(listed(folder), before, "{arguments:?}");
    for old in ["old.pcap", "old.jsonl", "old.json"] {
        assert_eq!(fs::read_to_string(folder.path(old)).unwrap(), OLD, "{arguments:?}");
    }
}

fn folder() -> Folder {
    let folder = Folder::new();
    for old in ["old.pcap", "old.jsonl", "old.json"] {
        folder.write(old, OLD);
    }
    folder
}

#[test]
fn a_command_that_fails_before_its_run_leaves_every_output_as_it_was() {
    let folder = folder();
    for output in [["--out", "old.pcap"], ["--out", "new.pcap"], ["--packets", "old.jsonl"], ["--state", "old.json"]] {
        fails(&folder, &[&["xdp", "run", DROP, "--in", "nosuch.pcap"][..], &output].concat(), &["nosuch.pcap"]);
        let first = ["xdp", "run", DROP, "--in", CAPTURE, "--in", "nosuch.pcap"];
        fails(&folder, &[&first[..], &output].concat(), &["nosuch.pcap"]);
        let map = ["xdp", "run", DROP, "--in", CAPTURE, "--map", "nosuchmap=nosuch"];
        fails(&folder, &[&map[..], &output].concat(), &["nosuchmap"]);
    }
    let run = ["run", "--config", NIC, "--in", CAPTURE, "--out", "port0=old.pcap"];
    fails(&folder, &[&run[..], &["--out", "port1=/proc/none/x.pcap"]].concat(), &["/proc/none"]);
    fails(&folder, &[&run[..], &["--out", "port1=new.txt"]].concat(), &["new.txt"]);
    fails(&folder, &[&run[..], &["--replace", "red=nosuch.json@5"]].concat(), &["nosuch.json"]);
    // A run that does begin writes them.
    let called = folder.sluice(&run);
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(fs::metadata(folder.path("old.pcap")).unwrap().len() > 1000);
}

#[test]
fn a_folder_that_was_made_for_an_output_goes_when_the_call_is_refused() {
    let folder = folder();
    fs::create_dir(folder.path("there")).unwrap();
    let run = ["run", "--config", NIC, "--in", CAPTURE, "--out", "port0=new/deep/a.pcap"];
    let refused = ["--out", "port1=/proc/none/x.pcap"];
    fails(&folder, &[&run[..], &refused].concat(), &["/proc/none"]);
    let beside = ["--out", "port2=new/deep/b.pcap", "--out", "host0=there/c.pcap"];
    fails(&folder, &[&run[..], &beside, &refused].concat(), &["/proc/none"]);
    fails(&folder, &[&run[..], &["--out", "port1=new/deep"]].concat(), &["new/deep"]);
    let play = ["xdp", "run", DROP, "--in", CAPTURE, "--packets", "new/p.jsonl", "--out", "/proc/none/x.pcap"];
    fails(&folder, &play, &["/proc/none"]);
    let long = format!("new/{}.slob", "x".repeat(300));
    fails(&folder, &["object", "build", "programs/nic/red.json", "-o", &long], &["new/xxx"]);
    folder.write("live.toml", "[device]\ntarget = \"default\"\n[[port]]\nnumber = 0\niface = \"nosuch0\"\n");
    fails(&folder, &["run", "--config", "live.toml", "--out", "port0=new/x.pcap"], &["nosuch0"]);
    fails(&folder, &["run", "--config", "live.toml", "--out", "port9=new/x.pcap"], &["port9"]);
    assert!(folder.path("there").is_dir());
    // A run that does begin has its folder.
    folder.sluice(&run).ok();
    assert!(fs::metadata(folder.path("new/deep/a.pcap")).unwrap().len() > 1000);
}

#[test]
fn a_file_that_the_description_names_is_not_written_over() {
    let folder = folder();
    let object = fs::read(folder.path("programs/nic/red.json")).unwrap();
    folder.write("red.json", &object);
    fs::hard_link(folder.path("red.json"), folder.path("also.pcap")).unwrap();
    let tenant = "[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\nqueues = { port0 = 160, port1 = 160, port2 = 160, port3 = 160 }\n";
    folder.write("n.toml", format!("[device]\ntarget = \"default\"\n{tenant}object = \"red.json\"\n"));
    let run = ["run", "--config", "n.toml", "--in", CAPTURE];
    fails(&folder, &[&run[..], &["--events", "red.json"]].concat(), &["E0502", "--events", "red.json"]);
    fails(&folder, &[&run[..], &["--out", "port0=also.pcap"]].concat(), &["E0502", "also.pcap", "is read"]);
    assert_eq!(fs::read(folder.path("red.json")).unwrap(), object);
}

#[test]
fn one_map_or_variable_has_one_value() {
    let folder = folder();
    let run = ["xdp", "run", DROP, "--in", CAPTURE];
    let twice = ["--max-entries", "protocols=256", "--max-entries", "protocols=300"];
    fails(&folder, &[&run[..], &twice].concat(), &["E0502", "`protocols`", "256 and 300"]);
    let twice = ["--set", "a=1", "--set", "a=1"];
    fails(&folder, &[&run[..], &twice].concat(), &["E0502", "--set", "`a`"]);
}

#[test]
fn a_dash_is_standard_output_wherever_a_command_writes() {
    let folder = folder();
    let state = folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--state", "-"]);
    assert_eq!(state.code, 0, "{}", state.err);
    assert!(state.out.starts_with('{') && state.err.contains("packets"), "{}", state.out);
    let mut build = Command::new(env!("CARGO_BIN_EXE_sluice"));
    let object = folder.path("programs/nic/red.json");
    let built = build.args(["object", "build"]).arg(object).args(["-o", "-"]).output().unwrap();
    assert!(built.status.success() && built.stdout.starts_with(b"SLOB"), "{built:?}");
    assert!(String::from_utf8_lossy(&built.stderr).contains("entries"), "{built:?}");
    let built = folder.sluice(&["rmt", "build", "programs/rmt/calc.rmt", "-o", "-", "--json"]);
    assert!(built.code == 0 && built.out.starts_with('{') && built.err.contains("calc"), "{}", built.err);
    let events = folder.sluice(&["run", "--config", "programs/xdp/nic.toml", "--in", CAPTURE, "--events", "-"]);
    assert!(events.code == 0 && events.out.is_empty() && events.err.contains("accounting"), "{}", events.err);
    assert!(!folder.path("-").exists());
    fails(&folder, &["xdp", "run", DROP, "--in", CAPTURE, "--state", "-", "--out", "-"], &["E0502", "2 times"]);
}

#[test]
fn a_target_that_an_object_is_not_for_is_refused() {
    let folder = folder();
    let built = folder.sluice(&["rmt", "build", "programs/rmt/calc.rmt", "-o", "c.slob"]);
    assert_eq!(built.code, 0, "{}", built.err);
    fails(&folder, &["rmt", "show", "c.slob", "--target", "tiny"], &["E0502", "--target tiny", "default"]);
    assert_eq!(folder.sluice(&["rmt", "show", "c.slob", "--target", "default"]).code, 0);
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for arguments in [&["--help"][..], &["--version"], &["run", "--help"], &["explain", "E0201"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut call = Command::new(env!("CARGO_BIN_EXE_sluice"));
        let called = call.args(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&called.stderr);
        assert_eq!(called.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains("E0501") && told.contains("standard output"), "{arguments:?}: {told}");
    }
}

#[test]
fn a_replacement_that_is_refused_is_so_before_an_output_changes() {
    let folder = folder();
    folder.write("part.rmt", fs::read(folder.path("programs/rmt/calc.rmt")).unwrap());
    let run = ["run", "--config", NIC, "--in", CAPTURE, "--out", "port0=old.pcap", "--replace"];
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("red=part.rmt@5", &[], &["E0671"]),
        ("red=programs/nic/blue.json@5", &[], &["E0222"]),
        ("red=programs/nic/red-2.json@5", &["--limit", "3"], &["E0510", "packet 5", "expected 0 to 3"]),
        ("red=programs/nic/red-2.json@5000", &[], &["E0510", "packet 5000", "expected 0 to 3000"]),
        ("red=programs/nic/red-2.json@3001", &[], &["E0510", "packet 3001", "the end"]),
        ("nobody=programs/nic/red-2.json@5", &[], &["E0509"]),
    ];
    for (replacement, more, words) in cases {
        fails(&folder, &[&run[..], &[replacement], more].concat(), words);
    }
    fails(&folder, &["run", "--config", NIC, "--in", CAPTURE, "--grow"], &["E0504", "--replace"]);
    for good in
        ["red=programs/nic/red-2.json@2999", "red=programs/nic/red-2.json@3000", "red=programs/nic/red-2.json@100%"]
    {
        let called = folder.sluice(&[&run[..], &[good]].concat());
        assert!(called.code == 0 && called.out.contains("replace red"), "{good}: {}{}", called.out, called.err);
    }
    // What he lacks is given to him, if it is asked for.
    let called = folder.sluice(&[&run[..], &["red=part.rmt@5", "--grow"]].concat());
    assert!(called.code == 0 && called.out.contains("regrant red"), "{}{}", called.out, called.err);
}

#[test]
fn a_moment_behind_the_end_of_a_pipe_is_told_when_what_came_is_written() {
    for moment in ["101", "200"] {
        let folder = folder();
        let line = format!(
            "sluice generate --vlan 10,20 --packets 100 -o - | sluice run --config {NIC} --in port0=- \
             --out port1=old.pcap --replace red=programs/nic/red-2.json@{moment}"
        );
        let called = folder.shell(&line);
        assert_eq!(called.code, 2, "{}", called.err);
        assert!(called.err.contains("E0510") && called.err.contains("expected 0 to 100"), "{}", called.err);
        assert!(!sluice_packet::capture::read_all(&folder.path("old.pcap")).unwrap().is_empty());
    }
    let folder = folder();
    let limited = format!(
        "cat {CAPTURE} | sluice run --config {NIC} --in port0=- --limit 5 --out port1=old.pcap \
         --replace red=programs/nic/red-2.json@6"
    );
    let called = folder.shell(&limited);
    assert!(called.code == 2 && called.err.contains("E0510"), "{}", called.err);
    assert_eq!(fs::read_to_string(folder.path("old.pcap")).unwrap(), OLD);
}

/// Whatever its size: of a file nothing is played, of a pipe what came before the damage.
#[test]
fn a_damaged_file_leaves_outputs_and_a_damaged_pipe_is_played_up_to_the_damage() {
    let whole = fs::read(Folder::new().path(CAPTURE)).unwrap();
    for left in [20_000, whole.len() - 3] {
        let folder = folder();
        folder.write("damaged.pcapng", &whole[..left]);
        let run = ["run", "--config", NIC, "--in", "damaged.pcapng", "--out", "port1=old.pcap"];
        fails(&folder, &run, &["damaged.pcapng", "the file ends in"]);
        let limited = ["xdp", "run", DROP, "--in", "damaged.pcapng", "--out", "left.pcapng", "--limit", "5"];
        folder.sluice(&limited).ok();
        let pass = "programs/xdp/swap/swap.o";
        fs::remove_file(folder.path("left.pcapng")).unwrap();
        for output in [["--out", "new.pcapng"], ["--packets", "old.jsonl"], ["--state", "old.json"]] {
            fails(
                &folder,
                &[&["xdp", "run", pass, "--in", "damaged.pcapng"][..], &output].concat(),
                &["damaged.pcapng"],
            );
        }
        let line = format!("cat damaged.pcapng | sluice run --config {NIC} --in - --out port1=old.pcap");
        let called = folder.shell(&line);
        assert!(called.code == 2 && called.err.contains("the file ends in"), "{}", called.err);
        assert!(sluice_packet::capture::read_all(&folder.path("old.pcap")).unwrap().len() > 10);
    }
}

#[test]
fn what_a_pipe_brought_before_its_damage_is_played_and_written() {
    let folder = folder();
    let mut damaged = fs::read(folder.path("programs/xdp/mixed.pcap")).unwrap();
    damaged.extend([0xff; 20]);
    folder.write("damaged.pcap", damaged);
    let outputs = |capture: &str, name: &str| {
        let line = format!(
            "cat {capture} | sluice xdp run programs/xdp/swap/swap.o --in - --out {name}.pcap --packets {name}.jsonl"
        );
        let called = folder.shell(&line);
        let written = [format!("{name}.pcap"), format!("{name}.jsonl")].map(|file| fs::read(folder.path(&file)));
        (called, written.map(|bytes| bytes.unwrap_or_default()))
    };
    let (whole, expected) = outputs("programs/xdp/mixed.pcap", "whole");
    assert_eq!(whole.code, 0, "{}", whole.err);
    let (cut, found) = outputs("damaged.pcap", "cut");
    let lines = expected[1].iter().filter(|byte| **byte == b'\n').count();
    let said = format!("packet {} at byte", lines + 1);
    assert_eq!((cut.code, cut.err.contains("E0156") && cut.err.contains(&said)), (2, true), "{}", cut.err);
    assert!(expected[0].len() > 1000 && (100..512).contains(&lines), "{lines} packets, less than a batch");
    assert!(found == expected, "{} and {} bytes, not {}", found[0].len(), found[1].len(), expected[0].len());
}

#[test]
fn a_state_that_is_changed_keeps_its_rights_and_its_place_behind_a_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--state", "maps.json"]).ok();
    let before = fs::read(folder.path("maps.json")).unwrap();
    fs::set_permissions(folder.path("maps.json"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("maps.json", folder.path("link.json")).unwrap();
    let value = "u64:5,u64:6";
    folder.sluice(&["map", "--state", "link.json", "set", "protocols", "u32:3", value]).ok();
    assert!(fs::symlink_metadata(folder.path("link.json")).unwrap().is_symlink());
    assert_ne!(fs::read(folder.path("maps.json")).unwrap(), before, "what the link leads to is changed");
    // Also where a whole output takes the place of what was there.
    for _ in 0..2 {
        let rights = fs::metadata(folder.path("maps.json")).unwrap().permissions().mode();
        assert_eq!(rights & 0o777, 0o640, "{rights:o}");
        folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--state", "maps.json"]).ok();
    }
}
