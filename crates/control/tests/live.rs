//! The software NIC between live interfaces, in a network namespace of its own. Where that is
//! not permitted the test says so and checks nothing.
#![cfg(target_os = "linux")]

use sluice_control::config::{NicConfig, bring_up};
use sluice_device::Device;
use sluice_nic::SoftwareNic;
use sluice_nic::ports::{Bindings, Input, PacketSocket, PortError, Sink, Source, run_live};
use sluice_object::Linker;
use sluice_packet::notation::packet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const INSIDE: &str = "SLUICE_TEST_IN_NAMESPACE";

const CONFIG: &str = r#"
[device]
target = "default"
[[port]]
number = 0
iface = "nic0"
[[port]]
number = 1
iface = "nic1"
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
[[tenant]]
name = "blue"
id = 2
vlans = [20]
queues = { host0 = 64 }
[tenant.table]
key = "none"
default = { to = ["host0"] }
"#;

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().expect("the command `ip` runs");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs `test` of this binary again in a network namespace of its own; false where that cannot be.
fn in_namespace(test: &str) -> bool {
    let permitted = Command::new("unshare").args(["--net", "ip", "link"]).output().is_ok_and(|o| o.status.success());
    if !permitted || !Path::new("/dev/net/tun").exists() {
        println!("{test}: skipped: needs `unshare --net`, `ip` and /dev/net/tun, as root");
        return false;
    }
    let exe = std::env::current_exe().expect("the test has a path");
    let name = format!("live::{test}");
    let arguments = ["--net".as_ref(), exe.as_os_str(), "--exact".as_ref(), name.as_ref(), "--nocapture".as_ref()];
    let output = Command::new("unshare").args(arguments).env(INSIDE, "1").output().expect("unshare runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    true
}

/// The next frame that satisfies `wanted`, within five seconds.
fn receive(socket: &mut PacketSocket, wanted: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        match socket.next().expect("the interface works") {
            Input::Packet(packet) if wanted(&packet.bytes) => return Some(packet.bytes),
            Input::Packet(_) => {}
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    None
}

#[test]
fn frames_go_through_interfaces_with_their_tags() {
    let test = "frames_go_through_interfaces_with_their_tags";
    if std::env::var_os(INSIDE).is_none() {
        in_namespace(test);
        return;
    }
    for port in 0..2 {
        ip(&format!("link add nic{port} type veth peer name wire{port}"));
        ip(&format!("link set nic{port} up"));
        ip(&format!("link set wire{port} up"));
    }
    let config = NicConfig::parse("live.toml", CONFIG, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    let mut nic = SoftwareNic::new(*config.target);
    let mut linker = Linker::new(config.target);
    bring_up(&config, &mut nic, &mut linker).unwrap_or_else(|e| panic!("{e}"));
    let mut bindings = Bindings::open(&config.ports, &config.hosts, || false).unwrap_or_else(|e| panic!("{e}"));
    let mut wires = [PacketSocket::open("wire0").unwrap(), PacketSocket::open("wire1").unwrap()];
    let mut host = PacketSocket::open("tap0").unwrap();

    let red = packet("eth/vlan(vid=10, pcp=5)/ipv4/udp(dport=53)/payload(len=80, seed=1)").unwrap();
    let blue = packet("eth/vlan(vid=20)/ipv4/udp(dport=54)/payload(len=90, seed=2)").unwrap();
    let blue_untagged = packet("eth/ipv4/udp(dport=54)/payload(len=90, seed=2)").unwrap();
    for frame in [&red, &blue] {
        assert!(wires[0].send(frame, 0).unwrap());
    }
    let begun = Instant::now();
    let counts =
        run_live(&mut nic, &mut bindings, |_, counts| counts.sent >= 2 || begun.elapsed() > Duration::from_secs(5));
    let counts = counts.unwrap_or_else(|e| panic!("{e}"));
    assert!(counts.received >= 2 && counts.sent >= 2, "{counts:?}");
    let through = receive(&mut wires[1], |bytes| bytes.len() == red.len());
    assert_eq!(through.as_ref(), Some(&red), "the tag is where it was");
    let delivered = receive(&mut host, |bytes| bytes.len() == blue_untagged.len());
    assert_eq!(delivered.as_ref(), Some(&blue_untagged));
    let counters = nic.counters().unwrap();
    for tenant in [1, 2] {
        let c = &counters.modules[&linker.tenant(tenant).unwrap().module];
        assert!(c.closes());
        assert_eq!((c.offered, c.forwarded + c.delivered), (1, 1), "tenant {tenant}: {c:?}");
    }
    bindings.finish().unwrap();
}

#[test]
fn an_interface_that_is_not_there_is_told_in_words() {
    let error = PacketSocket::open("nonesuch0").unwrap_err();
    assert!(matches!(error, PortError::Interface { .. }));
    assert_eq!(error.code(), "E0308");
    assert!(error.to_string().starts_with("interface `nonesuch0`: is not there: No such device"), "{error}");
}
