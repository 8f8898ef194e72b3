//! The L3 router on the default target, against a router written down separately.

use sluice_formats::random::{Rng, test_seed};
use sluice_rmt::pipeline::Memory;
use sluice_rmt::programs::l3_router::{self, Route};
use sluice_rmt::target::DEFAULT;
use sluice_rmt::{Arrival, Copy, Outcome, Pipeline, Reason};

const MODULE: u8 = 63;

fn arrival(packet: &[u8]) -> Arrival<'_> {
    Arrival { packet, module: MODULE, generation: 1, system_generation: 0, tenant: 7, port: 2, arrival: 1, queueing: 2 }
}

fn pipeline(routes: &[Route]) -> Pipeline {
    let mut pipeline = Pipeline::new(DEFAULT);
    pipeline.load(MODULE, 1, l3_router::program(2, routes), Memory::Zeroed).unwrap();
    pipeline.grant(MODULE, 0xff);
    pipeline
}

fn route(prefix: [u8; 4], length: u32, destination: u8) -> Route {
    Route { prefix, length, destination, next_hop: [2, 0, 0, 0, 1, destination], own: [2, 0, 0, 0, 2, destination] }
}

/// The sum of RFC 1071 over a header, straight from its definition.
fn header_sum(header: &[u8]) -> u32 {
    let total: u32 = header.chunks(2).map(|w| u32::from(w[0]) * 256 + u32::from(w[1])).sum();
    (total % 0xffff).max(u32::from(total > 0))
}

fn packet(to: [u8; 4], ttl: u8, length: usize) -> Vec<u8> {
    let mut p = vec![0x02, 9, 9, 9, 9, 9, 0x02, 8, 8, 8, 8, 8, 0x08, 0x00, 0x45, 0, 0, 0];
    p.extend([1, 2, 0x40, 0, ttl, 17, 0, 0, 192, 168, 0, 1]);
    p.extend(to);
    p.extend((p.len()..length).map(|i| i as u8));
    set_checksum(&mut p);
    p
}

fn set_checksum(p: &mut [u8]) {
    p[24..26].fill(0);
    let sum = 0xffff - header_sum(&p[14..34]) as u16;
    p[24..26].copy_from_slice(&sum.to_be_bytes());
}

#[test]
fn the_longest_prefix_decides_and_ttl_checksum_and_addresses_are_new() {
    let routes = [route([10, 0, 0, 0], 8, 1), route([10, 1, 0, 0], 16, 2), route([10, 1, 2, 3], 32, 3)];
    let mut pipeline = pipeline(&routes);
    for (to, destination) in [([10, 9, 9, 9], 1u8), ([10, 1, 9, 9], 2), ([10, 1, 2, 3], 3)] {
        for length in [34, 60, 64, 65, 127, 128, 129, 1500] {
            let mut expected = packet(to, 63, length);
            expected[..6].copy_from_slice(&[2, 0, 0, 0, 1, destination]);
            expected[6..12].copy_from_slice(&[2, 0, 0, 0, 2, destination]);
            let copies = vec![Copy { destination, queue: 0, tag: 0 }];
            let found = pipeline.run(&arrival(&packet(to, 64, length)));
            assert_eq!(found, Outcome::Sent { packet: expected, copies });
        }
    }
}

#[test]
fn no_route_old_packets_and_wrong_checksums_are_discarded_and_options_rejected() {
    let mut pipeline = pipeline(&[route([10, 0, 0, 0], 8, 1)]);
    let mut reason = |p: &[u8]| match pipeline.run(&arrival(p)) {
        Outcome::Dropped(reason) => Some(reason),
        Outcome::Sent { .. } => None,
    };
    assert_eq!(reason(&packet([10, 0, 0, 1], 2, 64)), None);
    assert_eq!(reason(&packet([11, 0, 0, 1], 64, 64)), Some(Reason::Discard));
    assert_eq!(reason(&packet([10, 0, 0, 1], 1, 64)), Some(Reason::Discard));
    assert_eq!(reason(&packet([10, 0, 0, 1], 0, 64)), Some(Reason::Discard));
    let mut bad = packet([10, 0, 0, 1], 64, 64);
    bad[25] ^= 1;
    assert_eq!(reason(&bad), Some(Reason::Discard));
    let mut options = packet([10, 0, 0, 1], 64, 64);
    options[14] = 0x46;
    assert_eq!(reason(&options), Some(Reason::ParseReject));
    assert_eq!(reason(&packet([10, 0, 0, 1], 64, 64)[..33]), Some(Reason::ParseShort));
}

#[test]
fn random_routes_and_packets_go_where_a_plain_search_says() {
    let mut rng = Rng::new(test_seed("rmt_l3_router_random"));
    for _ in 0..20 {
        let mut routes: Vec<Route> = Vec::new();
        for _ in 0..rng.range(1, 64) {
            let length = rng.below(33) as u32;
            let new =
                route([10, rng.below(4) as u8, rng.below(4) as u8, rng.below(4) as u8], length, rng.below(8) as u8);
            routes.push(new);
        }
        let mut pipeline = pipeline(&routes);
        for _ in 0..50 {
            let to = [10, rng.below(4) as u8, rng.below(4) as u8, rng.below(5) as u8];
            let ttl = rng.below(256) as u8;
            let inside = |r: &Route| {
                (0..r.length).all(|b| (to[b as usize / 8] ^ r.prefix[b as usize / 8]) >> (7 - b % 8) & 1 == 0)
            };
            let mut best: Option<&Route> = None;
            for r in routes.iter().filter(|r| inside(r)) {
                if best.is_none_or(|b| r.length > b.length) {
                    best = Some(r);
                }
            }
            let got = pipeline.run(&arrival(&packet(to, ttl, 60)));
            match best.filter(|_| ttl > 1) {
                None => assert_eq!(got, Outcome::Dropped(Reason::Discard)),
                Some(r) => {
                    let mut expected = packet(to, ttl - 1, 60);
                    expected[..6].copy_from_slice(&r.next_hop);
                    expected[6..12].copy_from_slice(&r.own);
                    let copies = vec![Copy { destination: r.destination, queue: 0, tag: 0 }];
                    assert_eq!(got, Outcome::Sent { packet: expected, copies });
                }
            }
        }
    }
}
