//! A NIC on live interfaces at full load, while its host does what comes to its mind: maps are read and written, interfaces go down, away
//! and come back, the process is stopped and goes on. For `SLUICE_LIVE_SECONDS` (2 when not set).
//!
//! Each packet that comes out is the one that its number says, in the order of its tenant's numbers; what does not come out is counted;
//! and the process does not grow.
#![cfg(target_os = "linux")]

use crate::common::Folder;
use crate::live::lab::{ip, veth};
use crate::live::{Nic, is_inside, wire};
use sluice_formats::random::{Rng, test_seed};
use sluice_ports::Port;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const NIC: &str = r#"
[device]
target = "default"
[[port]]
number = 0
iface = "nic0"
[[port]]
number = 1
iface = "nic1"
[[tenant]]
name = "red"
id = 1
vlans = [10]
queues = { port1 = 256 }
[tenant.table]
key = "none"
default = { to = ["port1"] }
[[tenant]]
name = "green"
id = 2
vlans = [20]
queues = { port0 = 256, host0 = 64 }
xdp = "programs/xdp/swap/swap.o"
pass = "host0"
[[tenant]]
name = "blue"
id = 3
vlans = [30]
queues = { port0 = 256 }
object = "programs/rmt/calc.rmt"
"#;

/// Frames that are sent at once.
const BATCH: u32 = 32;
/// Most kilobytes by which the process grows after its first second: less than a packet that is lost each millisecond would take.
const GROWTH_KB: u64 = 8 << 10;

/// The frame of a tenant with this number, and as it comes out.
fn frames(tenant: u32, number: u32) -> [Vec<u8>; 2] {
    let (to, from) = ([2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]);
    let vlan = 10 * tenant as u8;
    // From the shortest frame to more than a beat.
    let padding = vec![number as u8; 46 + number as usize % 70];
    let frame = |to: [u8; 6], from: [u8; 6], kind: [u8; 2], body: &[u8]| {
        [&to[..], &from, &[0x81, 0, 0, vlan], &kind, body, &padding].concat()
    };
    let plain = |body: &[u8]| frame(to, from, [0x88, 0xb5], body);
    match tenant {
        1 => [plain(&number.to_be_bytes()), plain(&number.to_be_bytes())],
        2 => {
            // Protocol 253 has no ports; the checksum is that of both orders of addresses.
            let mut header = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, 253, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            let sum: u32 = header.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
            header[10..12].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
            let sent = [&header[..], &number.to_be_bytes()].concat();
            header[12..20].copy_from_slice(&[10, 0, 0, 2, 10, 0, 0, 1]);
            let back = [&header[..], &number.to_be_bytes()].concat();
            [frame(to, from, [8, 0], &sent), frame(from, to, [8, 0], &back)]
        }
        _ => {
            let question = |result: u32| {
                [b"P4\x01+", &number.to_be_bytes()[..], &7u32.to_be_bytes(), &result.to_be_bytes()].concat()
            };
            let answer = question(number.wrapping_add(7));
            [frame(to, from, [0x12, 0x34], &question(0)), frame(from, to, [0x12, 0x34], &answer)]
        }
    }
}

/// The number in a frame that came out of a tenant.
fn number(tenant: u32, frame: &[u8]) -> u32 {
    let at = [18, 38, 22][tenant as usize - 1];
    frame.get(at..at + 4).map_or(0, |bytes| u32::from_be_bytes(bytes.try_into().unwrap()))
}

#[derive(Default)]
struct Seen {
    sent: [u64; 3],
    back: [u64; 3],
    /// The next number that may come.
    next: [u32; 3],
}

impl Seen {
    /// A frame that came out of a port.
    fn take(&mut self, port: u8, frame: &[u8]) {
        let vlan = u16::from_be_bytes([frame[14], frame[15]]) & 0xfff;
        if frame.len() < 60 || frame[12..14] != [0x81, 0] || ![10, 20, 30].contains(&vlan) {
            return;
        }
        let tenant = u32::from(vlan) / 10;
        let (number, i) = (number(tenant, frame), tenant as usize - 1);
        assert_eq!(port, u8::from(tenant == 1), "tenant {tenant}, number {number}: the port");
        assert_eq!(frame, frames(tenant, number)[1], "tenant {tenant}, number {number}");
        assert!(number >= self.next[i], "tenant {tenant}: {number} behind {}", self.next[i]);
        self.next[i] = number + 1;
        self.back[i] += 1;
    }
}

/// Sends and takes until it is told to stop, and then what still comes.
fn traffic(stop: &AtomicBool) -> Seen {
    let (mut wires, mut seen) = ([wire("wire0"), wire("wire1")], Seen::default());
    let (mut first, mut last) = (0, None::<Instant>);
    while last.is_none_or(|last| last.elapsed() < Duration::from_millis(300)) {
        if stop.load(Relaxed) {
            last.get_or_insert_with(Instant::now);
        } else {
            for number in first..first + BATCH {
                for tenant in 1..=3 {
                    let sent = wires[0].send(&[&frames(tenant, number)[0]]).expect("the wire works");
                    seen.sent[tenant as usize - 1] += u64::from(sent);
                }
            }
            first += BATCH;
        }
        let take = |port: usize, wire: &mut Port, seen: &mut Seen| {
            wire.flush().expect("the wire works");
            wire.receive(1024, &mut |frame, _| seen.take(port as u8, frame)).expect("the wire works");
            wire.look();
        };
        wires.iter_mut().enumerate().for_each(|(port, wire)| take(port, wire, &mut seen));
    }
    seen
}

/// Kilobytes of a process that are in memory.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Does something that a host does; what.
fn operate(rng: &mut Rng, folder: &Folder, nic: &Nic<'_>) -> &'static str {
    let map = |words: &[&str]| {
        let called = folder.sluice(&[&["map", "--socket", "nic.sock", "--tenant", "green"], words].concat());
        assert_eq!(called.code, 0, "{words:?}: {}", called.err);
    };
    let kill = |signal: &str| {
        assert!(Command::new("kill").args([signal, &nic.child.id().to_string()]).status().unwrap().success());
    };
    match rng.below(20) {
        0..8 => map(&["dump", "counters"]),
        8..14 => map(&["set", "counters", "u32:1", "u64:0"]),
        14 | 15 => {
            ip("link set nic1 down");
            std::thread::sleep(Duration::from_millis(150));
            ip("link set nic1 up");
            return "nic1 down and up";
        }
        16 => {
            ip("link del nic1");
            std::thread::sleep(Duration::from_millis(rng.below(300)));
            veth(1, "");
            return "nic1 deleted and made again";
        }
        17 => {
            ip("link set wire1 down");
            ip("link set wire1 up");
            return "the wire down and up";
        }
        _ => {
            kill("-STOP");
            std::thread::sleep(Duration::from_millis(20));
            kill("-CONT");
            return "stopped and continued";
        }
    }
    "map"
}

#[test]
fn full_load_and_random_operations_lose_nothing_uncounted_and_change_nothing() {
    if is_inside("live_soak", "full_load_and_random_operations_lose_nothing_uncounted_and_change_nothing") {
        soak("1");
    }
}

#[test]
fn full_load_and_random_operations_with_two_workers() {
    if is_inside("live_soak", "full_load_and_random_operations_with_two_workers") {
        soak("2");
    }
}

fn soak(workers: &str) {
    (0..2).for_each(|port| veth(port, ""));
    let folder = Folder::new();
    folder.write("nic.toml", NIC);
    let seconds: u64 = std::env::var("SLUICE_LIVE_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let seed = test_seed("live_soak");
    let (mut rng, stop) = (Rng::new(seed), AtomicBool::new(false));
    let mut nic = Nic::start(&folder, &["--socket", "nic.sock", "--workers", workers]);
    nic.wait_for("nic1: ");
    let (seen, operations, grown) = std::thread::scope(|scope| {
        let traffic = scope.spawn(|| traffic(&stop));
        std::thread::sleep(Duration::from_secs(1));
        let (begun, before, mut operations) = (Instant::now(), resident(nic.child.id()), 0);
        while begun.elapsed() < Duration::from_secs(seconds) && !traffic.is_finished() {
            let done = operate(&mut rng, &folder, &nic);
            operations += 1;
            assert!(nic.child.try_wait().unwrap().is_none(), "after `{done}` the NIC ended: {}", nic.errors());
            std::thread::sleep(Duration::from_millis(60));
        }
        let grown = resident(nic.child.id()).saturating_sub(before);
        stop.store(true, Relaxed);
        (traffic.join().expect("what came out was right"), operations, grown)
    });
    let errors = nic.errors();
    let report = nic.end();
    let live = &report["live"];
    let count = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let lost: u64 = live["interfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["lost"].as_object().map_or(0, |lost| lost.values().map(count).sum()))
        .sum();
    println!(
        "{seconds} s, seed {seed}: sent {:?}, back {:?}, {operations} operations, grown by {grown} kB, lost at interfaces {lost}\n{}",
        seen.sent, seen.back, report["tenants"]
    );
    assert_eq!(report["accounting_closed"], true, "{report}");
    // What the NIC received it had, has sent or counted; nobody's packets came that were not sent.
    let of = |name: &str| report["tenants"].as_array().unwrap().iter().find(|t| t["name"] == name).unwrap().clone();
    for (i, name) in ["red", "green", "blue"].into_iter().enumerate() {
        let tenant = of(name);
        let (offered, forwarded) = (count(&tenant["offered"]), count(&tenant["forwarded"]));
        assert!(offered <= seen.sent[i], "{name}: {offered} of {} sent", seen.sent[i]);
        assert!(seen.back[i] <= forwarded, "{name}: {} of {forwarded} came", seen.back[i]);
        assert!(seen.back[i] > 100, "{name}: too little traffic to tell: {errors}");
    }
    assert!(grown < GROWTH_KB, "the process has grown by {grown} kB");
}
