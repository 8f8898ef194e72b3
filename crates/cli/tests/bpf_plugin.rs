//! The conformance plug-in as a runner calls it.

use crate::common::has_plugin;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn plugin(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sluice-bpf-plugin"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn r0_is_printed_in_hex() {
    let output = plugin(&["", ""], b"b7 00 00 00 ff ff ff ff  95 00 00 00 00 00 00 00  \n");
    assert_eq!((output.stdout.as_slice(), output.status.success()), (&b"ffffffffffffffff\n"[..], true));
    assert!(output.stderr.is_empty());
    let output = plugin(&["0a 0b 0c 0d "], b"61100000000000009500000000000000");
    assert_eq!(output.stdout, b"d0c0b0a\n");
}

#[test]
fn what_fails_says_why_on_standard_error_and_nothing_else() {
    for (args, input, part) in [
        (&["00"][..], &b"7910000000000000 9500000000000000"[..], "load of 8 bytes"),
        (&[], b"ff00000000000000", "[E0441]"),
        (&[], b"zz", "two hex digits"),
        (&[], b"\xff\xfe", "two hex digits"),
        (&[], b"", "[E0440]"),
        (&["00", "--jit"], b"9500000000000000", "unknown option --jit"),
        (&["", "--elf"], b"7f 45 4c 46", "sluice-bpf-plugin: "),
    ] {
        let output = plugin(args, input);
        assert!(!output.status.success() && output.stdout.is_empty(), "{args:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(part), "{stderr}");
    }
}

#[test]
fn an_object_runs_on_the_memory_as_its_packet() {
    let object = include_bytes!("../../../programs/xdp/swap/swap.o");
    let hex: String = object.iter().map(|b| format!("{b:02x} ")).collect();
    let frame = "02 00 00 00 00 01 02 00 00 00 00 02 08 00 ".to_owned() + &"45 ".repeat(46);
    let output = plugin(&[&frame, "--elf"], hex.as_bytes());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "3\n", "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn debug_shows_each_instruction_on_standard_error() {
    let output = plugin(&["", "--debug"], b"b700000007000000 9500000000000000");
    assert_eq!(output.stdout, b"7\n");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("   0: (b7) r0 = 7\n") && stderr.contains("   1: exit  [7, "), "{stderr}");
}

#[test]
fn every_device_gives_r0_as_a_runner_asks_for_it() {
    // r0 = *(u16 *)(r1 +2); exit, on memory; a call of a function that gives 7.
    let (load, call) = (
        "69 10 02 00 00 00 00 00 95 00 00 00 00 00 00 00",
        "8510000001000000 9500000000000000 b700000007000000 9500000000000000",
    );
    let rtl = has_plugin("xdp_tiny");
    for device in ["model", "bundles", "rtl"].into_iter().filter(|device| *device != "rtl" || rtl) {
        // A runner gives options that are not set as empty arguments, and several in one.
        let one = format!("--device {device}");
        for args in [vec!["aa bb cc dd", &one], vec!["--device", device, "aabbccdd", "", ""]] {
            let output = plugin(&args, load.as_bytes());
            assert_eq!(String::from_utf8_lossy(&output.stdout), "ddcc\n", "{args:?} {output:?}");
        }
        assert_eq!(plugin(&["--device", device, "--program", call], b"").stdout, b"7\n", "{device}");
        let fault = plugin(&["aa", &one], load.as_bytes());
        let part = if device == "rtl" { "the program faulted" } else { "load of 2 bytes" };
        assert!(
            !fault.status.success() && String::from_utf8_lossy(&fault.stderr).contains(part),
            "{device}: {fault:?}"
        );
    }
    assert_eq!(plugin(&["--device bundles --lanes 4", "--program", call], b"").stdout, b"7\n");
}

#[test]
fn devices_and_lanes_that_there_are_not_are_refused() {
    let program = "b700000007000000 9500000000000000";
    for (args, part) in [
        (&["--device", "both"][..], "allowed are model, bundles and rtl"),
        (&["--device"], "--device takes a value"),
        (&["--lanes 2"], "--lanes is for --device bundles"),
        (&["--device bundles --lanes 3"], "allowed: 1, 2, 4"),
        (&["--device rtl --debug"], "--debug shows instructions of model and bundles"),
        (&["--device", "rtl", "--program", "8500000006000000 9500000000000000"], "helper `trace_printk`"),
    ] {
        let output = plugin(args, program.as_bytes());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty() && stderr.contains(part), "{args:?}: {stderr}");
    }
}
