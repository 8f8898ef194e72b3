//! The tunnel: headers added and removed on the default and the tiny target.

use sluice_rmt::pipeline::Memory;
use sluice_rmt::programs::tunnel::{self, Ends, Entry};
use sluice_rmt::target::{DEFAULT, TINY};
use sluice_rmt::{Arrival, Copy, Outcome, Pipeline, Reason};

const HERE: [u8; 4] = [172, 16, 0, 1];
const THERE: [u8; 4] = [172, 16, 0, 2];
const FAR: [u8; 4] = [10, 0, 0, 9];

fn pipelines() -> [Pipeline; 2] {
    let entries = [Entry { address: FAR, destination: 1 }];
    [DEFAULT, TINY].map(|target| {
        let mut p = Pipeline::new(target);
        p.load(2, 0, tunnel::program(1, Ends { here: HERE, there: THERE }, &entries, 3), Memory::Zeroed).unwrap();
        p.grant(2, 0xff);
        p
    })
}

fn arrival(packet: &[u8]) -> Arrival<'_> {
    Arrival { packet, module: 2, generation: 0, system_generation: 0, tenant: 1, port: 0, arrival: 0, queueing: 0 }
}

/// An IPv4 header; its checksum by the definition in RFC 791.
fn ipv4(length: usize, protocol: u8, from: [u8; 4], to: [u8; 4]) -> Vec<u8> {
    let mut h = vec![0x45, 0];
    h.extend((length as u16).to_be_bytes());
    h.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    h.extend(from);
    h.extend(to);
    let total: u32 = h.chunks(2).map(|w| u32::from(w[0]) * 256 + u32::from(w[1])).sum();
    let sum = 0xffff - (total % 0xffff) as u16;
    h[10..12].copy_from_slice(&sum.to_be_bytes());
    h
}

const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];

fn plain(to: [u8; 4], payload: usize) -> Vec<u8> {
    let mut p = ETHERNET.to_vec();
    p.extend(ipv4(20 + payload, 17, [192, 168, 1, 1], to));
    p.extend((0..payload).map(|i| (i * 7) as u8));
    p
}

fn tunnelled(to: [u8; 4], payload: usize) -> Vec<u8> {
    let inner = plain(to, payload);
    let mut p = ETHERNET.to_vec();
    p.extend(ipv4(40 + payload, 4, HERE, THERE));
    p.extend(&inner[14..]);
    p
}

fn sent(packet: Vec<u8>, destination: u8) -> Outcome {
    Outcome::Sent { packet, copies: vec![Copy { destination, queue: 0, tag: 0 }] }
}

#[test]
fn packets_into_the_tunnel_get_an_outer_header_with_its_length_and_checksum() {
    for mut p in pipelines() {
        for payload in [0, 1, 26, 30, 73, 74, 93, 94, 95, 222, 1466, 8982 - 20] {
            assert_eq!(p.run(&arrival(&plain(FAR, payload))), sent(tunnelled(FAR, payload), 1), "{payload}");
        }
    }
}

#[test]
fn packets_out_of_the_tunnel_lose_it() {
    for mut p in pipelines() {
        for payload in [0, 1, 26, 53, 54, 73, 74, 75, 1466] {
            let mut packet = tunnelled(FAR, payload);
            // The outer header of the way back: to this end.
            packet.splice(14..34, ipv4(40 + payload, 4, THERE, HERE));
            assert_eq!(p.run(&arrival(&packet)), sent(plain(FAR, payload), 3), "{payload}");
        }
    }
}

#[test]
fn packets_that_belong_to_neither_way_are_dropped() {
    for mut p in pipelines() {
        assert_eq!(p.run(&arrival(&plain([9, 9, 9, 9], 40))), Outcome::Dropped(Reason::Discard));
        // To this end but with nothing to take off: no pattern for what the program left.
        assert_eq!(p.run(&arrival(&plain(HERE, 40))), Outcome::Dropped(Reason::DeparseReject));
        // A second header on top of the first would be needed: there is no such pattern either.
        let mut packet = tunnelled(FAR, 40);
        packet.splice(14..34, ipv4(80, 4, THERE, FAR));
        assert_eq!(p.run(&arrival(&packet)), Outcome::Dropped(Reason::DeparseReject));
        assert_eq!(p.run(&arrival(&plain(FAR, 9200))), Outcome::Dropped(Reason::DeparseLong));
    }
}
