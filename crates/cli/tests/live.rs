//! `sluice run` between live interfaces, in a network namespace of its own. Where that is not permitted the test says
//! so and checks nothing.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "what the ports' own tests need more")]
#[path = "../../ports/tests/lab.rs"]
pub mod lab;

use crate::common::Folder;
use lab::{ip, veth};
use sluice_packet::capture::read_all;
use sluice_packet::notation::packet;
use sluice_ports::{Options, Port, Wanted};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const NIC: &str = r#"
[device]
target = "default"
[[port]]
number = 0
iface = "nic0"
[[port]]
number = 1
iface = "nic1"
output = "copy.pcapng"
[[host]]
number = 0
tap = "tap0"
[[tenant]]
name = "red"
id = 1
vlans = [10]
queues = { port1 = 64 }
[tenant.table]
key = "none"
default = { to = ["port1"] }
"#;

/// Whether the test of this module goes on in here; otherwise it has run in a namespace of its own, or cannot.
pub fn is_inside(module: &str, test: &str) -> bool {
    lab::is_inside(&format!("{module}::{test}"))
}

/// The wire's end of an interface.
pub fn wire(name: &str) -> Port {
    lab::with(name, &Options { kind: Wanted::Packet, queues: Some(1), ..Options::default() })
}

fn send(port: &mut Port, frame: &[u8]) {
    // A ring that is full or an interface that is down loses it, as a wire does.
    port.send(&[frame]).expect("the interface works");
    port.flush().expect("the interface works");
}

/// A running NIC; its messages are in a file.
pub struct Nic<'a> {
    folder: &'a Folder,
    pub child: Child,
}

impl<'a> Nic<'a> {
    pub fn start(folder: &'a Folder, arguments: &[&str]) -> Self {
        let errors = std::fs::File::create(folder.path("errors")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sluice"));
        command.args(["run", "--config", "nic.toml", "--json"]).args(arguments).current_dir(folder.path(""));
        Self { folder, child: command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap() }
    }

    pub fn errors(&self) -> String {
        std::fs::read_to_string(self.folder.path("errors")).unwrap()
    }

    pub fn wait_for(&mut self, message: &str) {
        let begun = Instant::now();
        while !self.errors().contains(message) {
            assert!(self.child.try_wait().unwrap().is_none(), "the NIC ended: {}", self.errors());
            assert!(begun.elapsed() < PATIENCE, "`{message}` is not told: {}", self.errors());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a frame into wire0 until it comes out of wire1.
    fn forwards(&mut self) {
        let (mut from, mut to) = (wire("wire0"), wire("wire1"));
        let frame = packet("eth/vlan(vid=10)/ipv4/udp(dport=53)/payload(len=123, seed=1)").unwrap();
        let begun = Instant::now();
        loop {
            send(&mut from, &frame);
            std::thread::sleep(Duration::from_millis(20));
            let mut came = false;
            to.receive(usize::MAX, &mut |bytes, _| came |= bytes == frame).expect("the interface works");
            if came {
                return;
            }
            assert!(self.child.try_wait().unwrap().is_none(), "the NIC ended: {}", self.errors());
            assert!(begun.elapsed() < PATIENCE, "no packet comes through: {}", self.errors());
        }
    }

    /// Ends it and gives its report.
    pub fn end(mut self) -> serde_json::Value {
        assert!(Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success());
        let mut report = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut report).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(143), "{}", self.errors());
        serde_json::from_str(&report).unwrap()
    }
}

impl Drop for Nic<'_> {
    fn drop(&mut self) {
        // It has ended where the test passed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_capture_beside_an_interface_gets_a_copy() {
    if !is_inside("live", "a_capture_beside_an_interface_gets_a_copy") {
        return;
    }
    (0..2).for_each(|port| veth(port, ""));
    let folder = Folder::new();
    folder.write("nic.toml", NIC);
    // First as the description says it, then as the command line does, in its place.
    for (arguments, file) in
        [(&[][..], "copy.pcapng"), (&["--out", "port1=other.pcap", "--out", "host0=host.pcap"], "other.pcap")]
    {
        let mut nic = Nic::start(&folder, arguments);
        nic.forwards();
        let report = nic.end();
        let kept = read_all(&folder.path(file)).unwrap();
        assert!(!kept.is_empty() && kept.iter().all(|p| p.bytes.len() == 14 + 4 + 20 + 8 + 123), "{file}");
        assert_eq!(report["outputs"][0]["packets"], kept.len(), "{report}");
        assert_eq!(report["live"]["sent"], kept.len(), "the interface gets all of them too: {report}");
    }
}

#[test]
fn a_capture_is_written_while_the_nic_runs() {
    if !is_inside("live", "a_capture_is_written_while_the_nic_runs") {
        return;
    }
    (0..2).for_each(|port| veth(port, ""));
    let folder = Folder::new();
    folder.write("nic.toml", NIC);
    folder.write("copy.pcapng", "what was there");
    let mut nic = Nic::start(&folder, &[]);
    nic.forwards();
    // More than is collected before a write, and less than may wait for a run to begin.
    let frame = packet("eth/vlan(vid=10)/ipv4/udp(dport=53)/payload(len=123, seed=1)").unwrap();
    let mut wire = wire("wire0");
    for _ in 0..100 {
        send(&mut wire, &frame);
    }
    let begun = Instant::now();
    while std::fs::metadata(folder.path("copy.pcapng")).unwrap().len() < 8_000 {
        assert!(begun.elapsed() < PATIENCE, "nothing is written: {}", nic.errors());
        std::thread::sleep(Duration::from_millis(10));
    }
    nic.end();
}

#[test]
fn interfaces_that_go_are_told_and_taken_up_again() {
    if !is_inside("live", "interfaces_that_go_are_told_and_taken_up_again") {
        return;
    }
    (0..2).for_each(|port| veth(port, ""));
    let folder = Folder::new();
    folder.write("nic.toml", NIC);
    let mut nic = Nic::start(&folder, &[]);
    nic.forwards();
    ip("link set nic1 down");
    nic.wait_for("interface `nic1` is down");
    ip("link set nic1 up");
    nic.wait_for("interface `nic1` is back");
    nic.forwards();
    ip("link del nic0");
    nic.wait_for("interface `nic0` is gone");
    veth(0, "");
    nic.wait_for("interface `nic0` is back");
    nic.forwards();
    ip("link del nic1");
    nic.wait_for("interface `nic1` is gone");
    veth(1, "");
    nic.forwards();
    ip("link del tap0");
    nic.wait_for("interface `tap0` is gone");
    ip("tuntap add tap0 mode tap");
    nic.wait_for("interface `tap0` is back");
    ip("link set nic0 down");
    nic.wait_for("interface `nic0` is down");
    let report = nic.end();
    let interfaces = report["live"]["interfaces"].as_array().unwrap();
    let seen: Vec<_> = interfaces
        .iter()
        .map(|i| (i["name"].as_str().unwrap(), i["outages"].as_u64().unwrap(), i["state"].as_str().unwrap()))
        .collect();
    assert_eq!(seen, [("nic0", 2, "down"), ("nic1", 2, "up"), ("tap0", 1, "up")], "{report}");
    assert!(interfaces.iter().all(|i| i["outage_seconds"].as_f64().unwrap() > 0.0), "{report}");
    assert_eq!(report["accounting_closed"], true);
}

#[test]
fn a_capture_cannot_be_the_input_of_a_port_with_an_interface() {
    let folder = Folder::new();
    folder.write("nic.toml", NIC);
    let called = folder.sluice(&["run", "--config", "nic.toml", "--in", "port0=programs/nic/mixed.pcapng"]);
    assert_eq!(called.code, 2);
    assert!(called.err.contains("E0520") && called.err.contains("`nic0`"), "{}", called.err);
}

#[test]
fn an_interface_given_twice_is_refused() {
    let folder = Folder::new();
    for arguments in [&["--iface", "lo,lo"][..], &["--iface", "lo=3,lo=4"], &["--iface", "lo", "--tap", "lo"]] {
        let called = folder.sluice(&[&["xdp", "run", "programs/xdp/swap/swap.o", "--limit", "1"], arguments].concat());
        assert_eq!(called.code, 2, "{arguments:?}");
        assert!(called.err.contains("E0521") && called.err.contains("`lo` twice"), "{}", called.err);
    }
    folder.write("nic.toml", NIC.replace("nic1", "nic0"));
    let called = folder.sluice(&["run", "--config", "nic.toml"]);
    assert!(
        called.code == 2 && called.err.contains("nic.toml:9:") && called.err.contains("`nic0` twice"),
        "{}",
        called.err
    );
}
