//! What the shipped modules do, on the specification interpreter.

use sluice_formats::random::{Rng, test_seed};
use sluice_rmt::pipeline::Memory;
use sluice_rmt::target::DEFAULT;
use sluice_rmt::text::{Unit, read};
use sluice_rmt::{Arrival, Group, Outcome, Pipeline, Reason};
use std::path::Path;

fn unit(name: &str) -> Unit {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt").join(format!("{name}.rmt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    read(name, &text, &DEFAULT).unwrap_or_else(|e| panic!("{e}"))
}

fn load(pipeline: &mut Pipeline, module: u8, unit: &Unit) {
    pipeline.load(module, 0, unit.program.clone(), Memory::Zeroed).unwrap();
    pipeline.grant(module, 0xff);
    for (&number, g) in &unit.groups {
        pipeline.set_group(number, Group { owner: module, destinations: g.destinations, tags: g.tags });
    }
}

fn pipeline(name: &str) -> Pipeline {
    let mut pipeline = Pipeline::new(DEFAULT);
    load(&mut pipeline, 1, &unit(name));
    pipeline
}

fn at(pipeline: &mut Pipeline, packet: &[u8], port: u8, ticks: u64) -> Outcome {
    let (module, generation, system_generation, tenant) = (1, 0, 0, 5);
    let (arrival, queueing) = (ticks, ticks);
    pipeline.run(&Arrival { packet, module, generation, system_generation, tenant, port, arrival, queueing })
}

/// Outgoing bytes, and (destination, queue, tag) of each copy.
fn sent(outcome: Outcome) -> (Vec<u8>, Vec<(u8, u8, u16)>) {
    match outcome {
        Outcome::Sent { packet, copies } => (packet, copies.iter().map(|c| (c.destination, c.queue, c.tag)).collect()),
        Outcome::Dropped(reason) => panic!("dropped: {}", reason.name()),
    }
}

const DISCARD: Outcome = Outcome::Dropped(Reason::Discard);

fn checksum(packet: &mut [u8]) {
    packet[24..26].fill(0);
    let total: u32 = packet[14..34].chunks(2).map(|w| u32::from(w[0]) * 256 + u32::from(w[1])).sum();
    packet[24..26].copy_from_slice(&(0xffff - (total % 0xffff) as u16).to_be_bytes());
}

fn ipv4(protocol: u8, src: [u8; 4], dst: [u8; 4], sport: u16, dport: u16, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0, 0x45, 0, 0, 60, 0, 0, 0, 0, 64, protocol, 0, 0];
    p.extend(src.into_iter().chain(dst));
    p.extend(sport.to_be_bytes().into_iter().chain(dport.to_be_bytes()));
    p.extend([0, 20, 7, 7]);
    p.extend(payload);
    p.resize(p.len().max(60), 0);
    checksum(&mut p);
    p
}

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [10, 0, 0, 2];

#[test]
fn the_firewall_blocks_a_host_a_port_and_a_network_and_passes_the_rest() {
    let mut p = pipeline("firewall");
    for blocked in [
        ipv4(17, [10, 0, 0, 66], B, 5, 6, &[]),
        ipv4(6, [10, 0, 0, 66], B, 5, 6, &[]),
        ipv4(6, A, B, 5, 23, &[]),
        ipv4(17, [192, 168, 9, 9], B, 5, 6, &[]),
    ] {
        assert_eq!(at(&mut p, &blocked, 0, 0), DISCARD);
    }
    for passed in [ipv4(17, A, B, 5, 23, &[]), ipv4(6, [192, 168, 9, 9], B, 5, 6, &[]), ipv4(1, A, B, 0x0800, 23, &[])]
    {
        assert_eq!(sent(at(&mut p, &passed, 0, 0)), (passed.clone(), vec![(1, 0, 0)]));
    }
}

#[test]
fn the_load_balancer_keeps_a_flow_on_its_server_and_uses_all_four() {
    let mut p = pipeline("load_balancing");
    let mut servers = [0; 4];
    for port in 0..200u16 {
        let before = port.wrapping_mul(777);
        let packet = ipv4(6, A, [10, 0, 0, 100], port, 80, &[&[0; 8][..], &before.to_be_bytes()].concat());
        let (out, copies) = sent(at(&mut p, &packet, 0, 0));
        assert_eq!(sent(at(&mut p, &packet, 0, 0)), (out.clone(), copies.clone()));
        let server = out[33];
        let mut expected = packet.clone();
        expected[..6].copy_from_slice(&[2, 0, 0, 0, 1, server]);
        expected[30..34].copy_from_slice(&[10, 0, 1, server]);
        // RFC 1624: the old address comes out of the sum, the new one goes in.
        let sum = u32::from(before) + 0x0064 + 0xffff - (0x0100 + u32::from(server));
        let folded = (sum & 0xffff) + (sum >> 16);
        expected[50..52].copy_from_slice(&(folded as u16).to_be_bytes());
        checksum(&mut expected);
        assert_eq!(out, expected);
        assert_eq!(copies, [(if server <= 2 { 1 } else { 2 }, 0, 0)]);
        servers[usize::from(server) - 1] += 1;
    }
    assert!(servers.iter().all(|n| *n > 20), "{servers:?}");
    assert_eq!(at(&mut p, &ipv4(6, A, [10, 0, 0, 100], 1, 81, &[]), 0, 0), DISCARD);
}

/// The checksum of TCP (at 50) or UDP (at 40) by its definition: pseudo header and segment.
fn l4_checksum(packet: &mut [u8]) {
    let udp = packet[23] == 17;
    let at = if udp { 40 } else { 50 };
    packet[at..at + 2].fill(0);
    let length = (packet.len() - 34) as u32;
    let words = packet[26..].chunks(2).map(|w| u32::from(w[0]) * 256 + w.get(1).map_or(0, |b| u32::from(*b)));
    let sum = (words.sum::<u32>() + u32::from(packet[23]) + length) % 0xffff;
    let value = if udp && sum == 0 { 0xffff } else { !(if sum == 0 { 0xffff } else { sum }) as u16 };
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[test]
fn translated_packets_have_the_checksums_that_a_sender_would_have_computed() {
    let mut rng = Rng::new(test_seed("rmt_nat"));
    let mut system = pipeline("system/plain");
    system.load(0, 0, unit("system").program, Memory::Zeroed).unwrap();
    let mut nat = pipeline("nat");
    let mut zeros = 0;
    for _ in 0..2000 {
        let protocol = [6, 17][rng.index(2)];
        let length = rng.range(26, 300) as usize;
        let mut payload = rng.bytes(length);
        let far = [198, 51, rng.next_u32() as u8, rng.next_u32() as u8];
        let near = [[10, 0, 0, 1], [10, 0, 0, 9]][rng.index(2)];
        if rng.chance(1, 3) {
            // Nearly nothing in the sum, so that it is 0 now and then.
            payload.fill(0);
        }
        let (src, dst, port) = if rng.chance(1, 2) { (near, far, 5000) } else { (far, [10, 99, 0, 1], 5001) };
        let outgoing = src == near;
        let mut packet = ipv4(protocol, src, dst, port, 53, &payload);
        let mut expected = packet.clone();
        if !outgoing {
            expected[30..34].copy_from_slice(&[172, 16, 0, 1]);
        } else if near == [10, 0, 0, 1] {
            expected[26..30].copy_from_slice(&[203, 0, 113, 1]);
            expected[34..36].copy_from_slice(&40000u16.to_be_bytes());
        } else {
            expected[26..30].copy_from_slice(&[203, 0, 113, 9]);
        }
        if rng.chance(1, 2) {
            // One word more is what is missing: the new checksum comes out as 0.
            l4_checksum(&mut expected);
            let at = if protocol == 17 { 40 } else { 50 };
            let missing = [expected[at], expected[at + 1]];
            let spare = [packet[58], packet[59]];
            let sum = u32::from(u16::from_be_bytes(missing)) + u32::from(u16::from_be_bytes(spare));
            let word = ((sum & 0xffff) + (sum >> 16)) as u16;
            packet[58..60].copy_from_slice(&word.to_be_bytes());
            expected[58..60].copy_from_slice(&word.to_be_bytes());
        }
        checksum(&mut expected);
        l4_checksum(&mut packet);
        l4_checksum(&mut expected);
        let value = if protocol == 17 { &expected[40..42] } else { &expected[50..52] };
        zeros += usize::from(value == [0, 0] || value == [0xff, 0xff]);
        let through = if outgoing { &mut nat } else { &mut system };
        assert_eq!(sent(at(through, &packet, 0, 0)).0, expected);
        // Without a checksum, and as a later fragment.
        if protocol == 17 {
            packet[40..42].fill(0);
            expected[40..42].fill(0);
            assert_eq!(sent(at(through, &packet, 0, 0)).0, expected);
        }
    }
    assert!(zeros > 300, "{zeros} results of 0: too few to mean anything");
}

#[test]
fn qos_marks_and_queues_by_kind_of_traffic() {
    let mut p = pipeline("qos");
    for (protocol, dscp, queue) in [(17, 46, 7), (6, 10, 3), (1, 0, 0)] {
        let mut packet = ipv4(protocol, A, B, 1, 2, &[]);
        packet[15] = 0x81;
        checksum(&mut packet);
        let mut expected = packet.clone();
        // The two ECN bits stay.
        expected[15] = dscp << 2 | 1;
        checksum(&mut expected);
        assert_eq!(sent(at(&mut p, &packet, 0, 0)), (expected, vec![(1, queue, 0)]));
    }
}

#[test]
fn source_routing_takes_a_hop_off_and_the_last_one_makes_ipv4_again() {
    let mut p = pipeline("source_routing");
    let inner = ipv4(17, A, B, 1, 2, &[]);
    let packet = |hops: &[u16]| {
        let mut packet = inner[..12].to_vec();
        packet.extend([0x12, 0x34]);
        hops.iter().for_each(|h| packet.extend(h.to_be_bytes()));
        packet.extend(&inner[14..]);
        packet
    };
    assert_eq!(sent(at(&mut p, &packet(&[2, 0x8003]), 0, 0)), (packet(&[0x8003]), vec![(2, 0, 0)]));
    assert_eq!(sent(at(&mut p, &packet(&[0x8003]), 0, 0)), (inner.clone(), vec![(3, 0, 0)]));
    assert_eq!(at(&mut p, &packet(&[9, 0x8001]), 0, 0), DISCARD);
    assert_eq!(at(&mut p, &inner, 0, 0), Outcome::Dropped(Reason::ParseReject));
}

#[test]
fn netcache_answers_reads_of_what_was_written_and_sends_the_rest_to_the_server() {
    let mut p = pipeline("netcache");
    let ask = |op: u16, key: u32, value: u32| {
        let body: Vec<u8> = op.to_be_bytes().into_iter().chain(key.to_be_bytes()).chain(value.to_be_bytes()).collect();
        ipv4(17, A, B, 1111, 50000, &body)
    };
    let to_server = |p: &mut Pipeline, packet: &[u8]| {
        let (out, copies) = sent(at(p, packet, 0, 0));
        assert_eq!((&out[42..52], copies), (&packet[42..52], vec![(1, 0, 0)]));
    };
    to_server(&mut p, &ask(0, 1002, 0));
    to_server(&mut p, &ask(0, 77, 0));
    to_server(&mut p, &ask(1, 1002, 0xabcd));
    to_server(&mut p, &ask(1, 77, 5));
    let (out, copies) = sent(at(&mut p, &ask(0, 1002, 0), 0, 0));
    assert_eq!(copies, [(0, 0, 0)]);
    assert_eq!(out[42..52], [0, 2, 0, 0, 3, 0xea, 0, 0, 0xab, 0xcd]);
    assert_eq!((&out[26..30], &out[30..34], &out[34..38]), (&B[..], &A[..], &[0xc3, 0x50, 0x04, 0x57][..]));
    assert_eq!((&out[..6], &out[6..12]), (&[2, 0, 0, 0, 0, 2][..], &[2, 0, 0, 0, 0, 1][..]));
    assert_eq!(out[40..42], [0, 0]);
    to_server(&mut p, &ask(0, 1001, 0));
}

#[test]
fn netchain_numbers_writes_and_answers_reads() {
    let mut p = pipeline("netchain");
    let ask = |op: u16, key: u16, value: u32| {
        let body = op.to_be_bytes().into_iter().chain(key.to_be_bytes()).chain([9; 4]).chain(value.to_be_bytes());
        ipv4(17, A, B, 1, 40000, &body.collect::<Vec<u8>>())
    };
    let mut run = |op, key, value| {
        let (out, copies) = sent(at(&mut p, &ask(op, key, value), 0, 0));
        let number = |i: usize| u32::from_be_bytes(out[i..i + 4].try_into().unwrap());
        (number(46), number(50), copies[0].0)
    };
    assert_eq!(run(0, 3, 0), (0, 0, 0));
    assert_eq!(run(1, 3, 0x55), (1, 0x55, 1));
    assert_eq!(run(1, 3, 0x66), (2, 0x66, 1));
    assert_eq!(run(1, 4, 0x77), (1, 0x77, 1));
    assert_eq!(run(0, 3, 0), (2, 0x66, 0));
    assert_eq!(at(&mut p, &ask(0, 64, 0), 0, 0), DISCARD);
    assert_eq!(at(&mut p, &ask(2, 3, 0), 0, 0), DISCARD);
}

#[test]
fn multicast_sends_tagged_copies_but_not_back() {
    let mut p = pipeline("multicast");
    let to = |dst| ipv4(17, A, dst, 1, 2, &[]);
    assert_eq!(sent(at(&mut p, &to([239, 0, 0, 1]), 0, 0)).1, [(1, 0, 11), (2, 0, 12), (3, 0, 13)]);
    assert_eq!(sent(at(&mut p, &to([239, 0, 0, 1]), 2, 0)).1, [(1, 0, 11), (3, 0, 13)]);
    assert_eq!(sent(at(&mut p, &to([239, 0, 0, 2]), 0, 0)).1, [(2, 0, 0), (4, 0, 20)]);
    assert_eq!(sent(at(&mut p, &to(B), 0, 0)).1, [(0, 0, 0)]);
}

#[test]
fn the_flow_meter_counts_and_drops_a_flow_above_its_rate_only() {
    let mut p = pipeline("flow_meter");
    let (fast, slow) = (ipv4(17, A, B, 1, 2, &[]), ipv4(17, B, A, 3, 4, &[]));
    // Ticks are 4 ns: a million of them are 4 ms, 4 packets.
    let start = 1 << 40;
    let passed: Vec<bool> = (0..6).map(|_| at(&mut p, &fast, 0, start) != DISCARD).collect();
    assert_eq!(passed, [true, true, true, true, false, false]);
    assert_eq!(sent(at(&mut p, &slow, 0, start)).1, [(1, 0, 0)]);
    let later: Vec<bool> = (0..5).map(|_| at(&mut p, &fast, 0, start + 1_010_000) != DISCARD).collect();
    assert_eq!(later, [true, true, true, true, false]);
    let sum = |p: &Pipeline, stage| p.words(1, 0, stage).iter().copied().collect::<std::collections::BTreeSet<u32>>();
    assert!(sum(&p, 1).is_superset(&[1, 11].into()), "{:?}", sum(&p, 1));
    assert!(sum(&p, 3).is_superset(&[60, 8 * 60].into()), "{:?}", sum(&p, 3));
}

#[test]
fn the_system_module_translates_routes_copies_and_counts() {
    let mut p = Pipeline::new(DEFAULT);
    load(&mut p, 0, &unit("system"));
    // A tenant that leaves everything to the system module.
    let tenant = "module t\ncontainer ipv4.dst = c4[7]\nshare ipv4.dst\nparser {\n select { * -> all }\n \
                  path all { take ipv4.dst @30 }\n}\ndeparser { row all { put ipv4.dst @30 } }\n";
    load(&mut p, 1, &read("t.rmt", tenant, &DEFAULT).unwrap());
    let mut to = |dst, port| {
        let outcome = at(&mut p, &ipv4(17, A, dst, 1, 2, &[]), port, 0);
        match outcome {
            Outcome::Sent { packet, copies } => {
                Ok((packet[30..34].to_vec(), copies.iter().map(|c| c.destination).collect::<Vec<_>>()))
            }
            Outcome::Dropped(reason) => Err(reason),
        }
    };
    assert_eq!(to([10, 99, 0, 1], 0), Ok((vec![172, 16, 0, 1], vec![1])));
    assert_eq!(to([10, 99, 0, 2], 0), Ok((vec![172, 16, 0, 2], vec![2])));
    assert_eq!(to([172, 16, 5, 5], 3), Ok((vec![172, 16, 5, 5], vec![2])));
    assert_eq!(to([239, 255, 255, 255], 1), Ok((vec![239, 255, 255, 255], vec![0, 2, 3])));
    assert_eq!(to([9, 9, 9, 9], 1), Err(Reason::NoDestination));
    assert_eq!((p.words(0, 0, 0)[5], p.words(0, 0, 4)[..4].to_vec()), (5, vec![2, 2, 0, 1]));
}
