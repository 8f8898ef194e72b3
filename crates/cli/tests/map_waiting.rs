//! The map socket of a run whose input is a pipe that stalls.

use crate::common::{Folder, has_plugin, root};
use sluice_packet::capture::{CaptureWriter, Format, Packet, read_all};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const CONFIG: &str = "[device]\ntarget = \"default\"\n\n[[tenant]]\nid = 1\nname = \"red\"\nvlans = [1]\nxdp = \"programs/xdp/drop/drop.o\"\n\
    queues = { port0 = 160, host0 = 160 }\n";
/// What a part of a run may take here.
const SOON: Duration = Duration::from_secs(20);
/// Of fifty packets that have come: the last ones are in flight until the next arrives.
const MOST: RangeInclusive<u64> = 40..=49;

fn pipe(folder: &Folder, name: &str) {
    assert!(Command::new("mkfifo").arg(folder.path(name)).status().unwrap().success());
}

fn run(folder: &Folder, arguments: &[&str], stdin: Stdio) -> Child {
    let begin = ["run", "--config", "nic.toml", "--socket", "nic.sock", "--json"];
    Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args([&begin[..], arguments].concat())
        .current_dir(folder.path(""))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The run's output, messages and exit code; fails when it does not end.
fn end_of(mut child: Child) -> (String, String, Option<i32>) {
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > SOON {
            child.kill().unwrap();
            panic!("it did not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (out, err, child.wait().unwrap().code())
}

/// Waits until the map `protocols` answers and has counted as many packets as `wanted`.
fn counts(folder: &Folder, child: &mut Child, wanted: RangeInclusive<u64>) {
    let since = Instant::now();
    loop {
        let map = ["map", "--socket", "nic.sock", "--timeout", "20", "--json", "dump", "protocols"];
        let called = folder.sluice(&map);
        let counted = (called.code == 0).then(|| total(&called.out));
        if counted.is_some_and(|counted| wanted.contains(&counted)) {
            return;
        }
        if since.elapsed() > SOON || child.try_wait().unwrap().is_some() {
            child.kill().unwrap();
            panic!("{wanted:?} packets are expected, {counted:?} counted: {}", called.err);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The first 64 bits of each processor's value, over all entries.
fn total(dump: &str) -> u64 {
    let entries: serde_json::Value = serde_json::from_str(dump).unwrap();
    let values = entries.as_array().unwrap().iter().flat_map(|entry| entry["values"].as_array().unwrap());
    let count = |value: &serde_json::Value| {
        let byte = |text: &serde_json::Value| u8::from_str_radix(text.as_str().unwrap().trim_start_matches("0x"), 16);
        let bytes: Vec<u8> = value["value"].as_array().unwrap()[..8].iter().map(|b| byte(b).unwrap()).collect();
        u64::from_le_bytes(bytes.try_into().unwrap())
    };
    values.map(count).sum()
}

/// Packets of VLAN 1 as a capture, and the length of its part with the first fifty.
fn capture() -> (Vec<u8>, usize) {
    let mut writer = CaptureWriter::new("pipe", Vec::new(), Format::Pcap, &["port0"]).unwrap();
    let plain = read_all(&root().join("programs/xdp/mixed.pcap")).unwrap();
    let (mut lengths, header) = (Vec::new(), 24);
    for packet in plain.iter().take(60) {
        let mut bytes = packet.bytes.clone();
        bytes.splice(12..12, [0x81, 0, 0, 1]);
        lengths.push(bytes.len() + 16);
        writer.write(&Packet::new(packet.stamp, bytes)).unwrap();
    }
    let bytes = writer.into_inner().unwrap();
    assert_eq!(bytes.len(), header + lengths.iter().sum::<usize>());
    (bytes, header + lengths[..50].iter().sum::<usize>())
}

/// Packets that a report says were played.
fn offered(report: &str) -> u64 {
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    ["model", "rtl"].iter().find_map(|device| report[device]["packets"].as_u64()).unwrap()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("nic.toml", CONFIG);
    folder
}

/// The maps answer before the first byte, within a header, between packets and within one; then the run ends as any.
fn served_while_it_waits(folder: &Folder, mut child: Child, mut writer: impl Write) {
    let (bytes, fifty) = capture();
    counts(folder, &mut child, 0..=0);
    for (part, counted) in [(&bytes[..10], 0..=0), (&bytes[10..fifty], MOST), (&bytes[fifty..fifty + 20], MOST)] {
        writer.write_all(part).unwrap();
        counts(folder, &mut child, counted);
    }
    writer.write_all(&bytes[fifty + 20..]).unwrap();
    drop(writer);
    let (out, err, code) = end_of(child);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(offered(&out), 60, "{out}");
    assert!(!folder.path("nic.sock").exists());
}

#[test]
fn maps_answer_while_standard_input_stalls() {
    let folder = folder();
    let mut child = run(&folder, &["--in", "port0=-"], Stdio::piped());
    let writer = child.stdin.take().unwrap();
    served_while_it_waits(&folder, child, writer);
}

#[test]
fn maps_answer_while_nobody_writes_to_a_fifo_and_while_its_writer_stalls() {
    let folder = folder();
    pipe(&folder, "pipe");
    let mut child = run(&folder, &["--in", "port0=pipe"], Stdio::null());
    counts(&folder, &mut child, 0..=0);
    let writer: File = OpenOptions::new().write(true).open(folder.path("pipe")).unwrap();
    served_while_it_waits(&folder, child, writer);
}

#[test]
fn maps_of_the_nic_in_rtl_answer_and_change_while_standard_input_stalls() {
    if !has_plugin("tiny") {
        return;
    }
    let folder = Folder::new();
    folder.write("nic.toml", CONFIG.replace("\"default\"", "\"tiny\"").replace("160", "60"));
    let mut child = run(&folder, &["--device", "rtl", "--in", "port0=-"], Stdio::piped());
    counts(&folder, &mut child, 0..=0);
    // An index that no packet counts in; each context of both cores of the engine has a copy.
    let map = |words: &[&str]| folder.sluice(&[&["map", "--socket", "nic.sock"], words].concat());
    map(&["update", "protocols", "u32:258", "u64:7,u64:0"]).ok();
    let value = map(&["--json", "lookup", "protocols", "u32:258"]).ok();
    let value: serde_json::Value = serde_json::from_str(&value).unwrap();
    assert_eq!(value["values"].as_array().map(Vec::len), Some(4), "{value}");
    assert_eq!(total(&format!("[{value}]")), 28);
    map(&["update", "protocols", "u32:258", "u64:0,u64:0"]).ok();
    let writer = child.stdin.take().unwrap();
    served_while_it_waits(&folder, child, writer);
}

#[test]
fn outputs_and_reports_are_those_of_a_run_without_a_socket() {
    let folder = folder();
    let (bytes, _) = capture();
    folder.write("in.pcap", &bytes);
    let pass = CONFIG.replace("drop/drop.o", "swap/swap.o");
    folder.write("nic.toml", pass);
    folder.write(
        "plain.json",
        folder
            .sluice(&["run", "--config", "nic.toml", "--in", "port0=in.pcap", "--json", "--out", "port0=plain.pcap"])
            .ok(),
    );
    let mut child = run(&folder, &["--in", "port0=-", "--out", "port0=waited.pcap"], Stdio::piped());
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let (_, err, code) = end_of(child);
    assert_eq!(code, Some(0), "{err}");
    let (plain, waited) =
        (std::fs::read(folder.path("plain.pcap")).unwrap(), std::fs::read(folder.path("waited.pcap")).unwrap());
    assert!(plain.len() > 200, "{} bytes", plain.len());
    assert_eq!(plain, waited);
}

#[test]
fn a_pipe_that_holds_no_capture_leaves_outputs_as_they_were() {
    let folder = folder();
    folder.write("old.pcap", "what was there");
    let mut child = run(&folder, &["--in", "port0=-", "--out", "port1=old.pcap"], Stdio::piped());
    child.stdin.take().unwrap().write_all(&[7; 100]).unwrap();
    let (_, err, code) = end_of(child);
    assert!(code == Some(2) && err.contains("standard input"), "{err}");
    assert_eq!(std::fs::read(folder.path("old.pcap")).unwrap(), b"what was there");
    assert!(!folder.path("nic.sock").exists());
}

#[test]
fn a_signal_ends_a_run_that_waits_with_a_socket() {
    let folder = folder();
    let mut child = run(&folder, &["--in", "port0=-"], Stdio::piped());
    let mut writer = child.stdin.take().unwrap();
    let (bytes, fifty) = capture();
    writer.write_all(&bytes[..fifty]).unwrap();
    counts(&folder, &mut child, MOST);
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let (out, err, code) = end_of(child);
    assert_eq!(code, Some(143), "{err}");
    assert!(out.contains("\"interrupted\": true"), "{out}");
}
