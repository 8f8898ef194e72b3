//! What cannot be used is refused with exit code 2, in words, with a code.

use crate::common::{Called, Folder};
use sluice_packet::capture::{CaptureWriter, Format, Packet};
use std::fs;

const NIC: &str = "programs/nic/nic.toml";
const CAPTURE: &str = "programs/nic/mixed.pcapng";

fn refused(called: &Called, words: &[&str]) {
    assert_eq!(called.code, 2, "{}{}", called.out, called.err);
    for word in words {
        assert!(called.err.contains(word), "`{word}` is not in:\n{}", called.err);
    }
}

/// The same, by the command itself: it has a code with a page.
fn refused_with_code(folder: &Folder, arguments: &[&str], words: &[&str]) {
    let called = folder.sluice(arguments);
    refused(&called, words);
    let code = called.err.split_once("error[").and_then(|(_, rest)| rest.split_once(']'));
    let code = code.unwrap_or_else(|| panic!("no code in {}", called.err)).0.to_owned();
    assert!(called.err.contains(&format!("sluice explain {code}")), "{}", called.err);
    folder.sluice(&["explain", &code]).ok();
}

#[test]
fn files_that_are_not_there() {
    let f = Folder::new();
    refused_with_code(&f, &["run", "--config", "no.toml", "--in", CAPTURE], &["no.toml"]);
    refused_with_code(&f, &["run", "--config", NIC, "--in", "port0=no.pcap"], &["no.pcap"]);
    refused_with_code(&f, &["script", "no.pkt"], &["no.pkt"]);
    refused_with_code(&f, &["object", "show", "no.json"], &["no.json"]);
    refused_with_code(&f, &["object", "check", "."], &["."]);
    refused_with_code(&f, &["run", "--config", NIC, "--in", CAPTURE, "--replace", "red=no.json@5"], &["no.json"]);
    refused_with_code(&f, &["object", "build", "programs/nic/red.json", "-o", "/dev/null/x"], &["/dev/null"]);
}

#[test]
fn malformed_files() {
    let f = Folder::new();
    f.write("bad.toml", "this is [ no TOML");
    refused_with_code(&f, &["run", "--config", "bad.toml", "--in", CAPTURE], &["bad.toml"]);
    f.write("strange.toml", "colour = \"red\"\n");
    refused_with_code(&f, &["run", "--config", "strange.toml", "--in", CAPTURE], &["strange.toml", "colour"]);
    f.write("bad.pcap", b"\x00\x01\x02\x03\x04\x05");
    refused_with_code(&f, &["run", "--config", NIC, "--in", "port0=bad.pcap"], &["bad.pcap", "00010203"]);
    let cut = &std::fs::read(f.path(CAPTURE)).unwrap()[..5_000];
    f.write("cut.pcapng", cut);
    refused_with_code(&f, &["run", "--config", NIC, "--in", "cut.pcapng"], &["cut.pcapng", "packet"]);
    f.write("bad.json", "{\"sluice_object\": 1, \"name\": }");
    refused_with_code(&f, &["object", "check", "bad.json"], &["bad.json", "line 1"]);
    f.write("old.json", "{\"sluice_object\": 99}");
    refused_with_code(&f, &["object", "show", "old.json"], &["version 99", "version 7"]);
    f.write("bad.slob", b"SLOB\xff\xff\xff\xff");
    refused_with_code(&f, &["object", "show", "bad.slob"], &["bad.slob"]);
    f.write("bad.pkt", "send 0 eth\nfrobnicate\n");
    refused_with_code(&f, &["script", "bad.pkt"], &["bad.pkt:2:1", "frobnicate"]);
}

fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--config", NIC][..], more].concat()
}

#[test]
fn ports_tenants_and_options_that_do_not_exist() {
    let f = Folder::new();
    refused_with_code(&f, &run(&["--in", &format!("port7={CAPTURE}")]), &["port7", "port0 to port3"]);
    refused_with_code(&f, &run(&["--in", CAPTURE, "--out", "host6=o.pcap"]), &["host6", "host0 to host3"]);
    refused_with_code(&f, &run(&["--in", CAPTURE, "--out", "port0=a.txt"]), &["a.txt", "pcapng"]);
    let twice = ["--in", CAPTURE, "--out", "port0=a.pcap", "--out", "port0=b.pcap"];
    refused_with_code(&f, &run(&twice), &["port0", "a.pcap", "b.pcap"]);
    refused_with_code(&f, &run(&[]), &["--in"]);
    let pink = ["--in", CAPTURE, "--replace", "pink=programs/nic/red-2.json@5"];
    refused_with_code(&f, &run(&pink), &["pink", "red", "green", "blue"]);
    refused_with_code(&f, &run(&["--in", CAPTURE, "--waves", "w.fst"]), &["--waves", "rtl"]);
    refused_with_code(&f, &["explain", "E9999"], &["E9999", "--list"]);
}

#[test]
fn an_interface_of_a_capture_is_a_port_by_its_whole_name() {
    let f = Folder::new();
    for name in ["port00", "port", "port+1", "PORT0"] {
        let mut writer = CaptureWriter::new("x", Vec::new(), Format::PcapNg, &[name]).unwrap();
        writer.write(&Packet::new(0, vec![0; 60])).unwrap();
        f.write("named.pcapng", writer.into_inner().unwrap());
        refused_with_code(&f, &run(&["--in", "named.pcapng"]), &[name, "port0, port1"]);
    }
}

#[test]
fn a_file_that_is_read_or_written_already_is_never_overwritten() {
    let folder = Folder::new();
    let capture = std::fs::read(folder.path("programs/nic/mixed.pcapng")).unwrap();
    folder.write("in.pcapng", &capture);
    for more in [["--in", "in.pcapng", "--out", "port0=in.pcapng"], ["--in", "in.pcapng", "--out", "port0=./in.pcapng"]]
    {
        let arguments: Vec<&str> = ["run", "--config", "programs/nic/nic.toml"].into_iter().chain(more).collect();
        refused_with_code(&folder, &arguments, &["E0502", "in.pcapng", "is read", "port0"]);
    }
    assert!(std::fs::read(folder.path("in.pcapng")).unwrap() == capture);
    let twice = ["--in", "in.pcapng", "--out", "port0=a.pcap", "--out", "host1=a.pcap"];
    let arguments: Vec<&str> = ["run", "--config", "programs/nic/nic.toml"].into_iter().chain(twice).collect();
    refused_with_code(&folder, &arguments, &["E0502", "a.pcap", "port0", "host1"]);
    assert!(!folder.path("a.pcap").exists());
}

#[test]
fn usage_errors_say_what_is_allowed() {
    let f = Folder::new();
    refused(&f.sluice(&["run", "--config", NIC, "--in", "host0=a.pcap"]), &["host0", "port"]);
    refused(&f.sluice(&["run", "--config", NIC, "--in", "a", "--out", "x"]), &["port0=FILE"]);
    refused(&f.sluice(&["run", "--config", NIC, "--in", "a", "--replace", "red=x@200%"]), &["200%", "100%"]);
    refused(
        &f.sluice(&["run", "--config", NIC, "--in", "a", "--target", "huge"]),
        &["huge", "default, tiny, far, tiny_far, soft"],
    );
    refused(&f.sluice(&["run", "--config", NIC, "--in", "a", "--device", "board"]), &["model", "rtl", "both"]);
    refused(&f.sluice(&["run", "--config", NIC, "--in", "a", "--gbps", "0"]), &["0.001 to 1000"]);
    refused(&f.sluice(&["generate", "--vlan", "0", "-o", "x.pcap"]), &["1..=4094"]);
    refused(&f.sluice(&["run", "--config", NIC, "--in", "a", "--gbps", "-1"]), &["'-1'", "0.001 to 1000"]);
    refused(&f.sluice(&["explain"]), &["CODE"]);
    refused(&f.sluice(&["completions", "tcsh"]), &["bash", "zsh", "fish"]);
}

#[test]
fn live_interfaces_that_are_not_there_and_what_needs_captures() {
    let f = Folder::new();
    f.write("live.toml", "[device]\ntarget = \"default\"\n[[port]]\nnumber = 0\niface = \"no-such-0\"\n");
    refused_with_code(&f, &["run", "--config", "live.toml"], &["no-such-0", "is not there"]);
    let replace = ["run", "--config", "live.toml", "--replace", "red=programs/nic/red.json@5"];
    refused_with_code(&f, &replace, &["live interfaces"]);
    refused_with_code(&f, &["run", "--config", "live.toml", "--device", "rtl"], &["live interfaces", "--device rtl"]);
}

#[test]
fn another_target_that_the_tenants_do_not_fit_is_refused() {
    let f = Folder::new();
    refused_with_code(&f, &run(&["--in", CAPTURE, "--target", "tiny"]), &["nic.toml for target tiny", "left"]);
}

#[test]
fn a_replacement_that_is_never_reached() {
    let f = Folder::new();
    let late = ["--in", CAPTURE, "--limit", "10", "--replace", "red=programs/nic/red-2.json@11"];
    refused_with_code(&f, &run(&late), &["packet 11", "10 are played"]);
}

#[test]
fn a_missing_plug_in_says_how_to_get_it() {
    let f = Folder::new();
    let called = f.shell("SLUICE_PLUGIN_DIR=/nowhere sluice script programs/nic/red.pkt --device rtl");
    refused(&called, &["E0503", "/nowhere", "make plugins", "SLUICE_PLUGIN_DIR"]);
}

#[test]
fn a_command_line_that_is_none_has_a_code_like_every_other_mistake() {
    let folder = Folder::new();
    for (arguments, said) in [
        (&["fly"][..], "error[E0504]: unrecognized subcommand 'fly'"),
        (&["run", "--speed", "9"], "error[E0504]: unexpected argument '--speed' found"),
        (&["run"], "error[E0504]: the following required arguments were not provided"),
        (&["run", "--config", "a", "--limit", "0"], "error[E0504]: invalid value '0' for '--limit"),
        (&["run", "--config", "a", "--config", "b"], "error[E0504]: the argument '--config"),
        (&["xdp", "run", "a\u{1b}[31m", "b"], "error[E0504]: unexpected argument 'b' found"),
        (&["run", "--\u{1b}[31m"], "error[E0504]: unexpected argument '--\\u{1b}[31m' found"),
        (&["map", "get", "a"], "error[E0504]: "),
    ] {
        let called = folder.sluice(arguments);
        assert_eq!(called.code, 2, "{arguments:?}: {}{}", called.out, called.err);
        assert!(called.err.starts_with(said), "{arguments:?}: {}", called.err);
        assert!(called.err.ends_with("\n  more: sluice explain E0504\n"), "{arguments:?}: {}", called.err);
    }
    // No command at all is asked for help, and told to say something.
    let called = folder.sluice(&[]);
    assert_eq!((called.code, called.err.contains("Usage: sluice <COMMAND>")), (2, true), "{}", called.err);
}

#[test]
fn a_message_names_what_was_given_and_has_its_code_once() {
    let folder = Folder::new();
    let module = fs::read_to_string(folder.path("programs/rmt/calc.rmt")).unwrap();
    folder.write("bad.rmt", module.replace("-> add", "-> add number 4095"));
    folder.write("bad.pkt", "tenant calc id=3 vlan=7\nrmt calc bad.rmt\n");
    let called = folder.sluice(&["script", "bad.pkt"]);
    assert_eq!((called.code, called.out.matches("E0603").count()), (2, 1), "{}", called.out);
    fs::copy(folder.path("programs/rmt/system.rmt"), folder.path("system.rmt")).unwrap();
    folder.write("system.pkt", "tenant calc id=3 vlan=7\nrmt calc system.rmt\n");
    let called = folder.sluice(&["script", "system.pkt"]);
    let said = "system.pkt:2:1: [E0310] rmt calc: found the system module system.rmt, allowed: a tenant's module";
    assert!(called.code == 2 && called.out.contains(said), "{}", called.out);
    let nic = ["run", "--config", "programs/nic/nic.toml", "--in", "programs/nic/mixed.pcapng"];
    let xdp = ["xdp", "run", "programs/xdp/drop/drop.o", "--in", "programs/nic/mixed.pcapng"];
    let firewall = "red=programs/xdp/firewall/firewall.o@5";
    folder.write("text.c", "// a program");
    for (arguments, said) in [
        (&[&nic[..], &["--out", "port1=-", "--out", "port2=-"]].concat()[..], "--out: - stands 2 times"),
        (
            &[&xdp[..], &["--out", "x.pcapng", "--packets", "-", "--state", "-"]].concat(),
            "--packets and --state: - stands 2 times",
        ),
        (
            &[&nic[..], &["--keep-maps", "flows,flows", "--replace", firewall]].concat(),
            "--keep-maps: `flows` is given twice",
        ),
        (
            &[&nic[..], &["--replace", "red=text.c@5"]].concat(),
            "text.c: found bytes [2f, 2f, 20, 61], expected an object (`SLOB` or `{`), an object file of clang's (ELF), a module (*.rmt, *.p4), or rules (*.l7)",
        ),
    ] {
        let called = folder.sluice(arguments);
        assert!(called.code == 2 && called.err.contains(said), "{arguments:?}: {}", called.err);
    }
}

#[test]
fn a_text_file_of_a_program_that_is_no_text_is_refused_with_its_byte() {
    let folder = Folder::new();
    folder.write("bad.txt", b"link a\xff index 1\n");
    let run = ["xdp", "run", "programs/xdp/router/router.o", "--in", "programs/xdp/mixed.pcap"];
    for option in [["--routes", "bad.txt"], ["--map", "ports=bad.txt"]] {
        let called = folder.sluice(&[&run[..], &option].concat());
        refused(&called, &["error[E0501]", "bad.txt: cannot be read: byte 6 is no UTF-8 text"]);
    }
    folder.write("router.o", fs::read(folder.path("programs/xdp/router/router.o")).unwrap());
    folder.write("s.pkt", "tenant red id=3 vlan=7\nxdp red router.o\nroutes red bad.txt\n");
    let called = folder.sluice(&["script", "s.pkt"]);
    let said = "s.pkt:3:1: [E0305] object `bad.txt`: byte 6 is no UTF-8 text";
    assert!(called.code == 2 && called.out.contains(said), "{}", called.out);
}

#[test]
fn what_the_linker_refuses_of_a_replacement_names_its_file() {
    let f = Folder::new();
    let run = ["run", "--config", NIC, "--in", CAPTURE, "--replace", "red=programs/nic/green.json@5"];
    let ring = ["object", "ring", "--config", NIC, "--replace", "red=programs/nic/green.json"];
    for call in [&run[..], &ring] {
        let words = ["error[E0223]: programs/nic/green.json: object `green-balancer` needs 46 entries"];
        refused_with_code(&f, call, &words);
    }
}

#[test]
fn a_byte_order_mark_in_front_of_a_text_is_passed_over() {
    let f = Folder::new();
    let text = |name: &str| std::fs::read_to_string(f.path("programs").join(name)).unwrap();
    for (name, file) in [
        (
            "nic.toml",
            text("nic/nic.toml")
                .replace("object = \"", "object = \"programs/nic/")
                .replace("input = \"", "input = \"programs/nic/"),
        ),
        ("red.json", text("nic/red.json")),
        ("calc.rmt", text("rmt/calc.rmt")),
        ("calc.pkt", text("rmt/calc.pkt")),
        ("lines.l7", text("l7/lines.l7")),
        ("reflector.p4", text("p4/reflector.p4")),
    ] {
        f.write(name, format!("\u{feff}{file}"));
    }
    f.sluice(&["run", "--config", "nic.toml", "--in", CAPTURE]).ok();
    f.sluice(&["object", "check", "red.json"]).ok();
    f.sluice(&["rmt", "check", "calc.rmt"]).ok();
    f.sluice(&["script", "calc.pkt"]).ok();
    f.sluice(&["l7", "check", "lines.l7"]).ok();
    f.sluice(&["p4", "check", "reflector.p4"]).ok();
    f.write("bad.toml", "\u{feff}[device]\ntarget = 3\n");
    refused_with_code(&f, &["run", "--config", "bad.toml"], &["bad.toml:2:10", "found 3, allowed: text in quotes"]);
}
