//! TAP devices: the kernel's stack is at the other end.

use crate::lab::{PATIENCE, frame, ip, is_inside, port, receive_until, send, with};
use sluice_ports::{LinkState, Meta, Options, Port, PortKind, Wanted, open};
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

fn addressed(name: &str) {
    ip(&format!("address add 10.8.0.1/24 dev {name}"));
    ip(&format!("neigh add 10.8.0.2 lladdr 02:00:00:00:00:09 dev {name}"));
}

/// Whether it is UDP to port 53, with a checksum that holds.
fn is_whole(frame: &[u8]) -> bool {
    if frame[12..14] != [8, 0] || frame[23] != 17 || frame[36..38] != [0, 53] {
        return false;
    }
    let word = |at: usize| u32::from(frame[at]) << 8 | u32::from(*frame.get(at + 1).unwrap_or(&0));
    let mut sum = 17 + (frame.len() - 34) as u32;
    sum += (26..34).step_by(2).map(word).sum::<u32>() + (34..frame.len()).step_by(2).map(word).sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == 0xffff
}

#[test]
fn frames_come_whole_from_the_stack_and_go_to_it() {
    if !is_inside("taps::frames_come_whole_from_the_stack_and_go_to_it") {
        return;
    }
    for mtu in [1500u32, 9000] {
        let mut tap = with("tap0", &Options { kind: Wanted::Tap, mtu: Some(mtu), ..Options::default() });
        assert_eq!((tap.kind(), tap.longest(), tap.state()), (PortKind::Tap, mtu as usize + 22, LinkState::Up));
        addressed("tap0");
        let socket = UdpSocket::bind("10.8.0.1:54").unwrap();
        for length in [0, 1, 100, mtu as usize - 28] {
            socket.send_to(&vec![7; length], "10.8.0.2:53").unwrap();
            receive_until(&mut tap, |frames| frames.iter().any(|f| is_whole(f) && f.len() == 42 + length));
        }
        // To the stack: what the socket gets is what a datagram's frame has.
        let mut datagram = Vec::new();
        datagram.extend(own_mac("tap0"));
        datagram.extend([2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, 0, 32, 0, 0, 0x40, 0, 64, 17, 0, 0]);
        datagram.extend([10, 8, 0, 2, 10, 8, 0, 1, 0, 53, 0, 54, 0, 12, 0, 0]);
        datagram.extend(*b"ping");
        let sum: u32 = datagram[14..34].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
        datagram[24..26].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
        assert!(tap.send(&[&datagram[..14], &datagram[14..]]).unwrap());
        tap.flush().unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut bytes = [0; 16];
        assert_eq!(socket.recv(&mut bytes).unwrap(), 4);
        assert_eq!(&bytes[..4], b"ping");
        assert_eq!(tap.drops().total(), 0, "{:?}", tap.drops());
    }
}

/// The address of an interface, as `ip` says it.
fn own_mac(name: &str) -> Vec<u8> {
    let output = std::process::Command::new("ip").args(["-o", "link", "show", name]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mac = text.split("link/ether ").nth(1).unwrap().split(' ').next().unwrap();
    mac.split(':').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn several_queues_share_the_flows() {
    if !is_inside("taps::several_queues_share_the_flows") {
        return;
    }
    let mut ports = open("tap0", &Options { kind: Wanted::Tap, queues: Some(2), ..Options::default() }).unwrap();
    assert_eq!(ports.len(), 2);
    addressed("tap0");
    for flow in 0..64u8 {
        UdpSocket::bind(("10.8.0.1", 6000 + u16::from(flow))).unwrap().send_to(&[flow], "10.8.0.2:53").unwrap();
    }
    let mut seen = [BTreeSet::new(), BTreeSet::new()];
    let begun = Instant::now();
    while seen.iter().map(BTreeSet::len).sum::<usize>() < 64 {
        for (port, seen) in ports.iter_mut().zip(&mut seen) {
            port.receive(64, &mut |frame: &[u8], _: &Meta| {
                if is_whole(frame) {
                    seen.insert(frame[42]);
                }
            })
            .unwrap();
        }
        assert!(begun.elapsed() < PATIENCE, "{seen:?}");
    }
    assert!(seen.iter().all(|queue| queue.len() > 10), "{seen:?}");
}

/// Looks until it is in this state.
fn wait_for(port: &mut Port, state: LinkState) {
    let begun = Instant::now();
    while port.state() != state {
        port.look();
        assert!(begun.elapsed() < PATIENCE, "{:?}", port.state());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn one_that_is_there_keeps_its_kind_and_comes_back() {
    if !is_inside("taps::one_that_is_there_keeps_its_kind_and_comes_back") {
        return;
    }
    for kind in ["mode tap", "mode tap multi_queue", "mode tap vnet_hdr"] {
        ip(&format!("tuntap add tap0 {kind}"));
        let mut tap = port("tap0", Wanted::Tap);
        addressed("tap0");
        let socket = UdpSocket::bind("10.8.0.1:54").unwrap();
        socket.send_to(b"1234", "10.8.0.2:53").unwrap();
        receive_until(&mut tap, |frames| frames.iter().any(|f| is_whole(f)));
        let mut nobody = frame(60);
        nobody[0] = 2;
        send(&mut tap, &nobody);
        ip("link set tap0 down");
        wait_for(&mut tap, LinkState::Down);
        assert!(!tap.send(&[&nobody]).unwrap());
        ip("link set tap0 up");
        wait_for(&mut tap, LinkState::Up);
        send(&mut tap, &nobody);
        ip("link del tap0");
        wait_for(&mut tap, LinkState::Gone);
        assert!(tap.as_fd().is_none());
        ip(&format!("tuntap add tap0 {kind}"));
        ip("link set tap0 up");
        wait_for(&mut tap, LinkState::Up);
        send(&mut tap, &nobody);
        drop(tap);
        ip("link del tap0");
    }
}

#[test]
fn what_a_full_device_loses_is_counted() {
    if !is_inside("taps::what_a_full_device_loses_is_counted") {
        return;
    }
    let mut tap = port("tap0", Wanted::Tap);
    addressed("tap0");
    let socket = UdpSocket::bind("10.8.0.1:54").unwrap();
    // The queue of the device holds 1,000 or 500 frames.
    for _ in 0..5000 {
        let _ = socket.send_to(b"1234", "10.8.0.2:53");
    }
    let mut came = 0;
    while tap.receive(64, &mut |f: &[u8], _: &Meta| came += usize::from(is_whole(f))).unwrap() > 0 {}
    let drops = tap.drops();
    assert!((400..5000).contains(&came) && drops.receive_ring_full > 0, "{came} came, {drops:?}");
    assert_eq!(tap.drops(), drops, "counted once");
}
