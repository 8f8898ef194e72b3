//! TCP between two hosts with all their offloads, through ports in both ways.

use crate::lab::{ip, is_inside, with};
use sluice_ports::{Meta, Options, Port, PortDrops, Wanted};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "SLUICE_TEST_PEER";
const BYTES: usize = 16 << 20;
const PORT: u16 = 4000;

/// A process that is there as long as this: one that holds a namespace, or a peer.
struct Host(Child);

impl Host {
    fn new(wire: &str, address: &str) -> Self {
        let mut command = Command::new("unshare");
        let host = Self(command.args(["--net", "sleep", "600"]).stdin(Stdio::null()).spawn().unwrap());
        let begun = Instant::now();
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        while std::fs::read_link(format!("/proc/{}/ns/net", host.0.id())).is_ok_and(|ns| ns == own) {
            assert!(begun.elapsed() < Duration::from_secs(5));
            std::thread::sleep(Duration::from_millis(2));
        }
        ip(&format!("link set {wire} netns {}", host.0.id()));
        for line in [format!("address add {address}/24 dev {wire}"), format!("link set {wire} up")] {
            let status = host.run().arg("ip").args(line.split(' ')).status();
            assert!(status.unwrap().success(), "{line}");
        }
        host
    }

    fn run(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net=/proc/{}/ns/net", self.0.id()));
        command
    }

    /// Plays [`is_a_peer`] there.
    fn play(&self, role: &str) -> Host {
        let mut command = self.run();
        command.arg(own().get_program()).args(["--exact", "transfer::is_a_peer", "--nocapture"]);
        Self(command.env(ROLE, role).stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This program again.
fn own() -> Command {
    Command::new(std::env::current_exe().unwrap())
}

/// Byte number `at` of the stream.
fn byte(at: usize) -> u8 {
    (at ^ at >> 8 ^ at >> 16) as u8
}

/// Not a test of its own: one end of a stream.
#[test]
fn is_a_peer() {
    let Ok(role) = std::env::var(ROLE) else { return };
    if role == "serve" {
        let (mut stream, _) = TcpListener::bind(("0.0.0.0", PORT)).unwrap().accept().unwrap();
        let mut bytes = Vec::with_capacity(BYTES);
        stream.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len(), BYTES);
        assert!(bytes.iter().enumerate().all(|(at, b)| *b == byte(at)), "other bytes came");
        return;
    }
    let to: SocketAddr = format!("{role}:{PORT}").parse().unwrap();
    let begun = Instant::now();
    let mut stream = loop {
        match TcpStream::connect_timeout(&to, Duration::from_secs(1)) {
            Ok(stream) => break stream,
            Err(e) => assert!(begun.elapsed() < Duration::from_secs(10), "{e}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    stream.write_all(&(0..BYTES).map(byte).collect::<Vec<u8>>()).unwrap();
}

fn forward(from: &mut Port, to: &mut Port, longest: &mut usize) {
    let mut frames = Vec::new();
    from.receive(64, &mut |frame: &[u8], _: &Meta| frames.push(frame.to_vec())).unwrap();
    for frame in frames {
        *longest = frame.len().max(*longest);
        to.send(&[&frame]).unwrap();
    }
    to.flush().unwrap();
}

/// A stream through two ports, the first of this kind; what they have lost. A TAP device's host is this one.
fn transfer(wanted: Wanted, mtu: u32) -> (PortDrops, PortDrops) {
    for number in 0..2 {
        ip(&format!("link add nic{number} mtu {mtu} type veth peer name wire{number} mtu {mtu}"));
        ip(&format!("link set nic{number} up"));
    }
    let (left, right) = (Host::new("wire0", "10.9.0.1"), Host::new("wire1", "10.9.0.2"));
    let options = Options { kind: wanted, mtu: Some(mtu), ..Options::default() };
    let is_tap = wanted == Wanted::Tap;
    let mut nic0 = with(if is_tap { "tap0" } else { "nic0" }, &options);
    let mut nic1 = with("nic1", &Options { kind: if is_tap { Wanted::Auto } else { wanted }, ..options });
    let mut server = right.play("serve");
    let client = if is_tap {
        ip("address add 10.9.0.3/24 dev tap0");
        Host(
            own().args(["--exact", "transfer::is_a_peer"]).env(ROLE, "10.9.0.2").stdout(Stdio::null()).spawn().unwrap(),
        )
    } else {
        left.play("10.9.0.2")
    };
    let (begun, mut longest) = (Instant::now(), 0);
    let status = loop {
        forward(&mut nic0, &mut nic1, &mut longest);
        forward(&mut nic1, &mut nic0, &mut longest);
        nic0.look();
        nic1.look();
        if let Some(status) = server.0.try_wait().unwrap() {
            break status;
        }
        let drops = (nic0.drops(), nic1.drops());
        assert!(begun.elapsed() < Duration::from_secs(30), "{wanted:?}: not done, longest {longest}, {drops:?}");
    };
    assert!(status.success(), "{wanted:?}");
    let drops = (nic0.drops(), nic1.drops());
    println!("{wanted:?}, MTU {mtu}: {:?}, longest {longest}, {drops:?}", begun.elapsed());
    assert!(longest <= mtu as usize + 14, "{wanted:?}: a frame of {longest} bytes");
    drop((client, nic0, nic1));
    ip("link del nic0");
    ip("link del nic1");
    drops
}

#[test]
fn a_stream_comes_whole_whatever_hosts_leave_to_their_interfaces() {
    if !is_inside("transfer::a_stream_comes_whole_whatever_hosts_leave_to_their_interfaces") {
        return;
    }
    // Generic AF_XDP is refused on these interfaces but for those who insist: behind the driver packets are not cut.
    for wanted in [Wanted::Xdp, Wanted::Packet, Wanted::Tap] {
        for mtu in [1500, 9000] {
            let (left, right) = transfer(wanted, mtu);
            assert_eq!((left.receive_oversize, right.receive_oversize), (0, 0), "{wanted:?}");
        }
    }
}
