//! A network namespace for a test, and what is in it.

use sluice_ports::{Meta, Options, Port, PortKind, Wanted, open};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const INSIDE: &str = "SLUICE_TEST_IN_NAMESPACE";
/// For how long something is waited for that must come.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `ip`.
pub fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().expect("the command `ip` runs");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A veth pair `nicN`, `wireN`, both up.
pub fn veth(number: u8, more: &str) {
    ip(format!("link add nic{number}{more} type veth peer name wire{number}{more}").trim());
    ip(&format!("link set nic{number} up"));
    ip(&format!("link set wire{number} up"));
}

/// Whether the test goes on in here; otherwise it has run in a namespace of its own, or cannot.
pub fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        // Nobody but the test says anything.
        for which in ["all", "default"] {
            let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1");
        }
        ip("link set lo up");
        return true;
    }
    let permitted = Command::new("unshare").args(["--net", "ip", "link"]).output().is_ok_and(|o| o.status.success());
    if !permitted || !Path::new("/dev/net/tun").exists() {
        println!("{test}: skipped: needs `unshare --net`, `ip` and /dev/net/tun, as root");
        return false;
    }
    let exe = std::env::current_exe().expect("the test has a path");
    let arguments = ["--net".as_ref(), exe.as_os_str(), "--exact".as_ref(), test.as_ref(), "--nocapture".as_ref()];
    let output = Command::new("unshare").args(arguments).env(INSIDE, "1").output().expect("unshare runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // A name that no test has would pass, too.
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    println!("{text}");
    false
}

/// The one port of an interface, of this kind and no other.
pub fn port(name: &str, wanted: Wanted) -> Port {
    with(name, &Options { kind: wanted, slots: 256, ..Options::default() })
}

/// The same with other options.
pub fn with(name: &str, options: &Options) -> Port {
    let mut ports = open(name, options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(ports.len(), 1, "queues");
    let port = ports.remove(0);
    println!("{}", port.described());
    port
}

/// The kinds that a veth has, by how they are asked for.
pub const KINDS: [(Wanted, PortKind); 3] = [
    (Wanted::Xdp, PortKind::XdpCopy),
    (Wanted::XdpGeneric, PortKind::XdpGeneric),
    (Wanted::Packet, PortKind::PacketRing),
];

/// Frames that come until `enough` says so.
pub fn receive_until(port: &mut Port, mut enough: impl FnMut(&[Vec<u8>]) -> bool) -> Vec<Vec<u8>> {
    let (begun, mut frames) = (Instant::now(), Vec::new());
    while !enough(&frames) {
        port.receive(64, &mut |frame: &[u8], _: &Meta| frames.push(frame.to_vec())).unwrap();
        assert!(begun.elapsed() < PATIENCE, "{} frames came, drops {:?}", frames.len(), port.drops());
    }
    frames
}

/// So many frames.
pub fn receive(port: &mut Port, count: usize) -> Vec<Vec<u8>> {
    receive_until(port, |frames| frames.len() >= count)
}

/// Sends one frame at once.
pub fn send(port: &mut Port, frame: &[u8]) {
    assert!(port.send(&[frame]).unwrap(), "{:?}", port.drops());
    port.flush().unwrap();
}

/// A frame of no protocol that anybody answers, with bytes that depend on the place and the length.
pub fn frame(length: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5];
    frame.extend((14..length).map(|at| (at * 7 + length) as u8));
    frame
}

/// The same with tags behind the addresses, each an EtherType and a value.
pub fn tagged(length: usize, tags: &[(u16, u16)]) -> Vec<u8> {
    let plain = frame(length);
    let tags = tags.iter().flat_map(|(kind, value)| [kind.to_be_bytes(), value.to_be_bytes()]).flatten();
    plain[..12].iter().copied().chain(tags).chain(plain[12..].iter().copied()).collect()
}
