//! Checksums that a host leaves to its interface.

use crate::lab::{KINDS, ip, is_inside, port, receive_until, veth};
use sluice_ports::{Sender, Wanted};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(bytes[at]) << 8 | u32::from(*bytes.get(at + 1).unwrap_or(&0))
}

/// Where IP begins, behind any tags.
fn ip_at(frame: &[u8]) -> usize {
    let mut at = 12;
    while word(frame, at) == 0x8100 {
        at += 4;
    }
    at + 2
}

/// Whether the TCP or UDP checksum of a frame holds, in the plainest way.
fn holds(frame: &[u8]) -> bool {
    let ip = ip_at(frame);
    let (addresses, protocol, start, end) = if frame[ip] >> 4 == 4 {
        (ip + 12..ip + 20, frame[ip + 9], ip + 20, ip + word(frame, ip + 2) as usize)
    } else {
        (ip + 8..ip + 40, frame[ip + 6], ip + 40, ip + 40 + word(frame, ip + 4) as usize)
    };
    let mut sum = u32::from(protocol) + (end - start) as u32;
    sum += addresses.step_by(2).map(|at| word(frame, at)).sum::<u32>();
    sum += (start..end).step_by(2).map(|at| word(&frame[..end], at)).sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == 0xffff
}

/// Whether it is a packet of this protocol to this port.
fn is(frame: &[u8], protocol: u8, port: u16) -> bool {
    let ip = ip_at(frame);
    let (found, start) = match (word(frame, ip - 2), frame[ip] >> 4) {
        (0x0800, 4) => (frame[ip + 9], ip + 20),
        (0x86dd, 6) => (frame[ip + 6], ip + 40),
        _ => return false,
    };
    found == protocol && word(frame, start + 2) == u32::from(port)
}

#[test]
fn packets_of_a_host_with_offloads_come_with_whole_checksums() {
    if !is_inside("checksums::packets_of_a_host_with_offloads_come_with_whole_checksums") {
        return;
    }
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "0");
    veth(0, "");
    let _ = std::fs::write("/proc/sys/net/ipv6/conf/wire0/disable_ipv6", "0");
    ip("address add 10.9.0.1/24 dev wire0");
    ip("address add fd09::1/64 dev wire0 nodad");
    ip("neigh add 10.9.0.2 lladdr 02:00:00:00:00:09 dev wire0");
    ip("neigh add fd09::2 lladdr 02:00:00:00:00:09 dev wire0");
    for (wanted, kind) in KINDS {
        let mut nic = port("nic0", wanted);
        for (from, to) in [("10.9.0.1:0", "10.9.0.2:53"), ("[fd09::1]:0", "[fd09::2]:53")] {
            let socket = UdpSocket::bind(from).unwrap();
            let to: SocketAddr = to.parse().unwrap();
            for length in (0..40).chain([1000, 1450]) {
                socket.send_to(&vec![length as u8 ^ 0x5a; length], to).unwrap();
                let count = |frames: &[Vec<u8>]| frames.iter().any(|f| is(f, 17, 53));
                let frames = receive_until(&mut nic, count);
                let frame = frames.iter().find(|f| is(f, 17, 53)).unwrap();
                assert!(holds(frame), "{kind}: UDP to {to} with {length} bytes: {frame:02x?}");
            }
            // Nobody answers: what is seen is the first segment.
            let connecting =
                std::thread::spawn(move || TcpStream::connect_timeout(&to, Duration::from_millis(200)).is_err());
            let frames = receive_until(&mut nic, |frames| frames.iter().any(|f| is(f, 6, 53)));
            assert!(holds(frames.iter().find(|f| is(f, 6, 53)).unwrap()), "{kind}: TCP to {to}");
            assert!(connecting.join().unwrap());
        }
    }
}

/// A UDP frame with a tag, whose checksum is the pseudo header's sum.
fn partial() -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 7, 8, 0];
    frame.extend([0x45, 0, 0, 41, 0, 0, 0x40, 0, 64, 17, 0x66, 0x9e, 10, 9, 0, 1, 10, 9, 0, 2]);
    frame.extend([4, 0, 0, 53, 0, 21, 0x14, 0x3b]);
    frame.extend(0..13);
    frame
}

#[test]
fn a_tagged_packet_comes_with_a_whole_checksum_wherever_its_tag_is() {
    if !is_inside("checksums::a_tagged_packet_comes_with_a_whole_checksum_wherever_its_tag_is") {
        return;
    }
    veth(0, "");
    veth(1, "");
    ip("link add br0 type bridge");
    ip("link set wire0 master br0");
    ip("link set nic1 master br0");
    ip("link set br0 up");
    // Into the frame's place directly, and through a bridge that takes the tag out.
    for (wanted, kind) in KINDS {
        for (from, to) in [("wire1", "nic0"), ("wire0", "nic0")] {
            if (wanted, from) == (Wanted::XdpGeneric, "wire1") {
                // It loses the tag: see tags.rs.
                continue;
            }
            let (mut nic, mut sender) = (port(to, wanted), Sender::open(from, 64).unwrap());
            let sent = partial();
            let begun = std::time::Instant::now();
            let mut frames = Vec::new();
            while frames.is_empty() {
                assert!(sender.send_partial(&sent, 38, 6));
                sender.flush().unwrap();
                std::thread::sleep(Duration::from_millis(10));
                // The bridge says something of its own, too.
                let mut take = |frame: &[u8], _: &_| frames.extend((frame[..12] == sent[..12]).then(|| frame.to_vec()));
                nic.receive(64, &mut take).unwrap();
                assert!(begun.elapsed() < crate::lab::PATIENCE, "{kind}: nothing comes from {from}");
            }
            let came = &frames[0];
            assert_eq!((&came[..44], &came[46..]), (&sent[..44], &sent[46..]), "{kind} from {from}");
            assert!(holds(came), "{kind} from {from}: {came:02x?}");
        }
    }
}

#[test]
fn a_wrong_checksum_stays_wrong() {
    if !is_inside("checksums::a_wrong_checksum_stays_wrong") {
        return;
    }
    veth(0, "");
    for (wanted, kind) in KINDS {
        let (mut nic, mut wire) = (port("nic0", wanted), port("wire0", Wanted::Packet));
        let mut sent = partial();
        sent[44] ^= 1;
        crate::lab::send(&mut wire, &sent);
        assert_eq!(crate::lab::receive(&mut nic, 1), [sent], "{kind}");
    }
}
