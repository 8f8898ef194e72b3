//! What would be ignored is refused, files without an end are left, and nothing of a file is obeyed by a terminal.

use crate::common::Folder;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Each call must be refused with exit code 2 and say all of these.
fn refused(folder: &Folder, arguments: &[&str], words: &[&str]) {
    let called = folder.sluice(arguments);
    assert_eq!(called.code, 2, "{arguments:?}: {}{}", called.out, called.err);
    for word in words {
        assert!(called.err.contains(word), "{arguments:?}: no {word:?} in\n{}", called.err);
    }
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let folder = Folder::new();
    let capture = "programs/nic/mixed.pcapng";
    let xdp = ["xdp", "run", "programs/xdp/drop/drop.o", "--in", capture];
    for option in [["--seconds", "3"], ["--tap", "sluice0"], ["--socket", "maps.sock"]] {
        refused(&folder, &[&xdp[..], &option].concat(), &[option[0], "--in"]);
    }
    let rmt = ["rmt", "run", "programs/rmt/calc.rmt", "--in", capture, "--trace", "0"];
    refused(&folder, &[&rmt[..], &["--json"]].concat(), &["--trace", "--json"]);
    refused(&folder, &[&rmt[..], &["--repeat", "2"]].concat(), &["--trace", "--repeat"]);
    refused(&folder, &[&xdp[..], &["--trace", "--json"]].concat(), &["--trace", "--json"]);
    refused(&folder, &[&xdp[..], &["--trace", "--out", "-"]].concat(), &["--trace", "--out"]);
    folder.write("live.toml", "[device]\ntarget = \"default\"\n\n[[port]]\nnumber = 0\niface = \"no-such-iface\"\n");
    for option in [&["--gbps", "10"][..], &["--stamps"], &["--device", "rtl"]] {
        let call = [&["run", "--config", "live.toml"][..], option].concat();
        refused(&folder, &call, &[option[0], "has live interfaces"]);
    }
    refused(&folder, &[&rmt[..], &["--device", "both"]].concat(), &["--trace", "--device"]);
    let seed = ["rmt", "run", "programs/rmt/calc.rmt", "--in", capture, "--seed", "9"];
    refused(&folder, &seed, &["--seed", "--device rtl"]);
    refused(&folder, &["xdp", "run", "programs/xdp/drop/drop.o"], &["--in CAPTURE", "--iface IFACE"]);
}

#[test]
fn a_capture_that_a_live_run_reads_or_writes_already_is_refused_and_left_as_it_was() {
    let folder = Folder::new();
    folder.write("live.toml", "[device]\ntarget = \"default\"\n\n[[port]]\nnumber = 0\niface = \"no-such-iface\"\n");
    let capture = std::fs::read(folder.path("programs/nic/mixed.pcapng")).unwrap();
    folder.write("in.pcapng", &capture);
    let live = |words: &[&str], says: &[&str]| {
        refused(&folder, &[&["run", "--config", "live.toml"][..], words].concat(), says);
    };
    live(&["--in", "port2=in.pcapng", "--out", "port1=./in.pcapng"], &["E0502", "in.pcapng", "is read"]);
    live(&["--in", "port2=in.pcapng", "--in", "port2=other.pcap"], &["E0502", "port2", "in.pcapng", "other.pcap"]);
    live(&["--in", "port2=-"], &["E0502", "port2", "live interfaces expected a file"]);
    live(&["--out", "port1=a.pcap", "--out", "port1=b.pcap"], &["E0502", "port1", "a.pcap and b.pcap"]);
    live(&["--out", "port1=a.pcap", "--out", "host0=a.pcap"], &["E0502", "a.pcap", "port1", "host0"]);
    assert_eq!(std::fs::read(folder.path("in.pcapng")).unwrap(), capture);
    assert!(!folder.path("a.pcap").exists());
}

#[test]
fn a_share_of_too_few_packets_and_maps_that_nothing_keeps_are_refused() {
    let folder = Folder::new();
    const GENERATE: &[&str] = &["generate", "--vlan", "10", "-o", "new.pcapng"];
    refused(&folder, &[GENERATE, &["--packets", "49", "--untagged"]].concat(), &["E0502", "--untagged", "49", "50"]);
    refused(&folder, &[GENERATE, &["--packets", "24", "--seldom", "20"]].concat(), &["E0502", "--seldom", "24", "25"]);
    refused(&folder, &[GENERATE, &["--seldom", "10"]].concat(), &["E0502", "--seldom 10", "--vlan"]);
    assert!(!folder.path("new.pcapng").exists());
    for words in [&["--packets", "50", "--untagged"][..], &["--packets", "25", "--seldom", "20"]] {
        folder.sluice(&[GENERATE, words].concat()).ok();
    }
    let replace = ["run", "--config", "programs/nic/nic.toml", "--in", "programs/nic/mixed.pcapng", "--replace"];
    let kept = [&replace[..], &["red=programs/nic/red-2.json@50%", "--keep-maps", "flows"]].concat();
    refused(&folder, &kept, &["E0502", "--keep-maps", "`flows`", "XDP object file"]);
    let sized = [&replace[..], &["red=programs/nic/red-2.json@50%", "--max-entries", "flows=9"]].concat();
    refused(&folder, &sized, &["E0502", "--max-entries", "`flows`", "XDP object file"]);
}

#[test]
fn a_capture_of_a_format_that_cannot_hold_it_leaves_the_file_that_was_there() {
    let folder = Folder::new();
    folder.write("mine.pcap", "mine");
    refused(&folder, &["generate", "--vlan", "10", "-o", "mine.pcap"], &["E0161", "mine.pcap"]);
    assert_eq!(std::fs::read(folder.path("mine.pcap")).unwrap(), b"mine");
}

#[test]
fn a_capture_in_the_place_of_a_module_is_called_one() {
    let folder = Folder::new();
    let capture = "programs/nic/mixed.pcapng";
    let call = ["rmt", "run", "programs/rmt/calc.rmt", "--in", capture, capture];
    refused(&folder, &call, &["E0502", "mixed.pcapng is a capture", "--in before each"]);
}

#[test]
fn arguments_that_the_command_line_refuses_are_escaped_and_cut() {
    let folder = Folder::new();
    let evil = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";
    let long = "x".repeat(100_000);
    for arguments in [&["run", "--config", "x", "--gbps", evil][..], &[evil], &["generate", "--vlan", evil], &[&long]] {
        let called = folder.sluice(arguments);
        assert_eq!(called.code, 2, "{arguments:?}");
        let obeyed = called.err.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(obeyed, None, "{:?}", called.err);
        assert!(called.err.contains("\\u{1b}") || arguments == [long.as_str()], "{}", called.err);
        assert!(called.err.len() < 2_000 && called.err.contains("--help"), "{} bytes", called.err.len());
    }
}

/// A file without an end must cost neither memory nor time: 1 GB of addresses is all that the call may have.
#[test]
fn files_without_an_end_are_left_at_their_limit() {
    let folder = Folder::new();
    let calls: [&[&str]; 8] = [
        &["run", "--config", "/dev/zero", "--in", "programs/nic/mixed.pcapng"],
        &["script", "/dev/zero"],
        &["rmt", "check", "/dev/zero"],
        &["rmt", "run", "/dev/zero", "--in", "programs/nic/mixed.pcapng"],
        &["object", "show", "/dev/zero"],
        &["xdp", "check", "/dev/zero"],
        &["map", "--state", "/dev/zero", "list"],
        &[
            "xdp",
            "run",
            "programs/xdp/rate_limit/rate_limit.o",
            "--in",
            "programs/xdp/mixed.pcap",
            "--map",
            "classes=/dev/zero",
        ],
    ];
    for arguments in calls {
        let line = format!("ulimit -v 1000000; exec {} {}", env!("CARGO_BIN_EXE_sluice"), arguments.join(" "));
        let output = Command::new("sh").arg0("sh").args(["-c", &line]).current_dir(folder.path("")).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {err}");
        assert!(err.contains("/dev/zero") && err.contains("longer than"), "{arguments:?}: {err}");
    }
}

#[test]
fn control_characters_of_files_and_names_are_escaped_and_long_lines_cut() {
    let folder = Folder::new();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}2J\u{202e}";
    folder.write("evil.toml", format!("[device]\ntarget = \"{evil}\"\n"));
    folder.write("long.toml", format!("[device]\ntarget = {}\n", "x".repeat(1_000_000)));
    folder.write("evil.pkt", format!("send 0 {evil}\n"));
    folder.write("evil.rmt", format!("module m\nstage 1 {{ key {evil} }}\n"));
    folder.write(&format!("{evil}.pcap"), "no capture");
    let file = format!("port0={evil}.pcap");
    let calls: [&[&str]; 6] = [
        &["run", "--config", "evil.toml", "--in", "programs/nic/mixed.pcapng"],
        &["run", "--config", "long.toml", "--in", "programs/nic/mixed.pcapng"],
        &["run", "--config", "programs/nic/nic.toml", "--in", &file],
        &["script", "evil.pkt"],
        &["rmt", "check", "evil.rmt"],
        &["map", "--state", "evil.toml", "list"],
    ];
    for arguments in calls {
        let called = folder.sluice(arguments);
        assert_ne!(called.code, 0, "{arguments:?}");
        let shown = format!("{}{}", called.out, called.err);
        let obeyed = shown.chars().find(|c| (c.is_control() && *c != '\n' && *c != '\t') || *c == '\u{202e}');
        assert_eq!(obeyed, None, "{arguments:?}: {shown:?}");
        let longest = shown.lines().map(str::len).max().unwrap_or(0);
        assert!(longest < 4_100, "{arguments:?}: a line of {longest} bytes");
    }
}

#[test]
fn a_json_report_has_no_control_characters_and_a_failed_statement_is_cut() {
    let folder = Folder::new();
    let name = "a\u{9b}\u{202e}.pkt";
    folder.write(name, "device default\nidle\n");
    let text = folder.sluice(&["script", name, "--json"]).ok();
    assert!(text.contains("\\u009b") && !text.contains('\u{9b}') && !text.contains('\u{202e}'), "{text}");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["scripts"][0]["file"], name);
}

#[test]
fn a_description_may_name_standard_output_and_the_table_gives_way() {
    let folder = Folder::new();
    let capture = folder.path("programs/nic/mixed.pcapng").display().to_string();
    let text = std::fs::read_to_string(folder.path("programs/nic/nic.toml")).unwrap();
    let text = text.replace("object = \"", &format!("object = \"{}/", folder.path("programs/nic").display()));
    folder.write("dash.toml", format!("{text}\n[[host]]\nnumber = 0\noutput = \"-\"\n"));
    for config in ["dash.toml", "./dash.toml"] {
        let line = format!("sluice run --config {config} --in {capture} > left.pcapng");
        let called = folder.shell(&line);
        assert!(called.code == 0 && called.err.contains("accounting: closed"), "{config}: {}", called.err);
        assert!(!sluice_packet::capture::read_all(&folder.path("left.pcapng")).unwrap().is_empty());
    }
}

#[test]
fn what_is_read_is_never_written_over() {
    let folder = Folder::new();
    let copy = |from: &str, to: &str| std::fs::copy(folder.path(from), folder.path(to)).map(drop).unwrap();
    copy("programs/rmt/calc.rmt", "calc.rmt");
    copy("programs/nic/red.json", "red.json");
    copy("programs/nic/mixed.pcapng", "in.pcapng");
    std::fs::hard_link(folder.path("in.pcapng"), folder.path("link.pcapng")).unwrap();
    let run = ["run", "--config", "programs/nic/nic.toml", "--in", "in.pcapng"];
    let before = |name: &str| std::fs::read(folder.path(name)).unwrap();
    let (calc, red, capture) = (before("calc.rmt"), before("red.json"), before("in.pcapng"));
    refused(&folder, &["rmt", "build", "calc.rmt", "-o", "./calc.rmt"], &["E0502", "calc.rmt is read"]);
    refused(&folder, &["object", "build", "red.json", "-o", "red.json"], &["E0502", "red.json is read"]);
    for events in ["in.pcapng", "link.pcapng", "red.json", "calc.rmt"] {
        refused(&folder, &[&run[..], &["--events", events]].concat(), &["E0502", events]);
    }
    refused(&folder, &[&run[..], &["--out", "port0=link.pcapng"]].concat(), &["E0502", "link.pcapng"]);
    refused(&folder, &[&run[..], &["--out", "port0=q.pcap", "--events", "./q.pcap"]].concat(), &["E0502", "q.pcap"]);
    let xdp = ["xdp", "run", "programs/xdp/swap/swap.o", "--in", "in.pcapng"];
    for option in ["--out", "--packets", "--state"] {
        refused(&folder, &[&xdp[..], &[option, "link.pcapng"]].concat(), &["E0502", "link.pcapng"]);
    }
    assert!(calc == before("calc.rmt") && red == before("red.json") && capture == before("in.pcapng"));
}

#[test]
fn an_error_that_nobody_can_be_told_keeps_its_exit_code() {
    let folder = Folder::new();
    for line in ["rmt check none", "script none", "xdp check none", "run --config none", "explain E9999"] {
        let called = folder.shell(&format!("sluice {line} 2>/dev/full"));
        assert_eq!(called.code, 2, "{line}");
    }
}

#[test]
fn messages_name_the_packet_the_option_and_the_predicate() {
    let folder = Folder::new();
    // Two frames, the second of 0 bytes.
    let mut pcap = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
    for length in [60u32, 0] {
        for word in [0, 0, length, length] {
            pcap.extend(word.to_le_bytes());
        }
        pcap.extend(vec![2; length as usize]);
    }
    folder.write("empty.pcap", pcap);
    let call = ["run", "--config", "programs/nic/nic.toml", "--in", "port0=empty.pcap"];
    refused(&folder, &call, &["E0508", "empty.pcap", "packet 2", "0 bytes"]);
    let module = std::fs::read_to_string(folder.path("programs/rmt/l3_router.rmt")).unwrap();
    folder.write("p.rmt", module.replace("condition refused = status.bad == 1 or", "predicate refused ="));
    refused(&folder, &["rmt", "check", "p.rmt"], &["predicate `refused`", "condition"]);
}

#[test]
fn a_map_is_named_as_bpftool_names_it_and_json_has_a_short_option() {
    let folder = Folder::new();
    let run = ["xdp", "run", "programs/xdp/drop/drop.o", "--in", "programs/nic/mixed.pcapng", "--state", "maps.json"];
    folder.sluice(&run).ok();
    let map = |words: &[&str]| folder.sluice(&[&["map", "--state", "maps.json"][..], words].concat());
    let plain = map(&["dump", "protocols"]).ok();
    assert_eq!(map(&["dump", "name", "protocols"]).ok(), plain);
    let key = ["key", "17", "0", "0", "0"];
    let one = map(&[&["get", "protocols"][..], &key].concat()).ok();
    assert_eq!(map(&[&["lookup", "name", "protocols"][..], &key].concat()).ok(), one);
    assert_eq!(map(&["-j", "dump", "protocols"]).ok(), map(&["--json", "dump", "protocols"]).ok());
    // As bpftool -j says that it was done.
    assert_eq!(map(&[&["-j", "set", "protocols"][..], &key, &["value", "hex"], &["01"; 16]].concat()).ok(), "null\n");
    let unknown = map(&["dump", "name", "nobody"]);
    assert!(unknown.code == 2 && unknown.err.contains("`nobody`") && unknown.err.contains("`protocols`"));
    for call in [&["script", "programs/nic/blue.pkt", "-j"][..], &["xdp", "check", "programs/xdp/drop/drop.o", "-j"]] {
        let text = folder.sluice(call).ok();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{call:?}: {text}");
    }
}

#[test]
fn what_is_said_twice_or_cannot_be_is_refused_by_its_option() {
    let folder = Folder::new();
    let capture = "programs/nic/mixed.pcapng";
    let drop = "programs/xdp/drop/drop.o";
    let run = ["xdp", "run", drop, "--in", capture];
    folder.sluice(&[&run[..], &["--state", "a.json"]].concat()).ok();
    folder.sluice(&[&run[..], &["--state", "b.json"]].concat()).ok();
    refused(&folder, &["map", "--state", "a.json", "list", "--state", "b.json"], &["E0490", "--state stands 2 times"]);
    let tenant = ["map", "--socket", "s", "--tenant=red", "list", "--tenant", "blue"];
    refused(&folder, &tenant, &["E0490", "--tenant stands 2 times"]);
    let maps = ["--map", "protocols=a.map", "--map", "protocols=b.map"];
    refused(&folder, &[&run[..], &maps].concat(), &["E0502", "--map", "`protocols`", "given twice"]);
    refused(&folder, &[&run[..], &["--ifindex", "0"]].concat(), &["--ifindex", "1.."]);
    refused(&folder, &["generate", "--vlan", "10,20,10", "-o", "g.pcapng"], &["E0502", "--vlan", "10 is given twice"]);
    assert!(!folder.path("g.pcapng").exists());
}
