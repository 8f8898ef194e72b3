//! Generated packets: what was asked for, from a seed, and well formed unless asked otherwise.

use std::collections::{BTreeMap, BTreeSet};

use sluice_formats::random::{Rng, test_seed};
use sluice_packet::checksum::{Sum, is_valid};
use sluice_packet::flow::{FiveTuple, untagged, vlan_id};
use sluice_packet::generate::{
    FlowOrder, Gaps, Generator, IMIX, MIXED_START, Malformation, Sizes, Traffic, mixed_capture, mixed_host,
};
use sluice_packet::headers::{Ethernet, Ipv4, Ipv6, ethertype, protocol};
use sluice_packet::layers::{LayerKind, dissect};

fn lengths(traffic: Traffic, count: usize) -> Vec<usize> {
    let generator = Generator::new(1, traffic).unwrap();
    generator.take(count).map(|g| g.packet.bytes.len()).collect()
}

fn sized(sizes: Sizes) -> Traffic {
    Traffic { sizes, ..Traffic::default() }
}

#[test]
fn the_same_seed_gives_the_same_packets_and_another_seed_others() {
    let traffic =
        Traffic { sizes: Sizes::Imix, flows: 20, order: FlowOrder::Zipf, malformed: (1, 5), ..Traffic::default() };
    let packets = |seed| {
        let generator = Generator::new(seed, traffic.clone()).unwrap();
        generator.take(300).collect::<Vec<_>>()
    };
    assert_eq!(packets(5), packets(5));
    assert_ne!(packets(5), packets(6));
}

#[test]
fn sizes_count_without_the_tag() {
    assert_eq!(lengths(sized(Sizes::Fixed(9000)), 2), [9000, 9000]);
    assert_eq!(lengths(sized(Sizes::List(vec![60, 64, 65])), 4), [60, 64, 65, 60]);
    let tagged = Traffic { vlans: vec![Some(7)], ..sized(Sizes::Fixed(60)) };
    assert_eq!(lengths(tagged, 1), [64]);
    // Below its headers a packet is cut.
    assert_eq!(lengths(sized(Sizes::Fixed(20)), 1), [20]);
    let uniform = lengths(sized(Sizes::Uniform { min: 60, max: 64 }), 200);
    let seen: BTreeSet<usize> = uniform.into_iter().collect();
    assert_eq!(seen, (60..=64).collect());
}

#[test]
fn imix_has_its_shares() {
    let lengths = lengths(sized(Sizes::Imix), 12_000);
    for (weight, size) in IMIX {
        let count = lengths.iter().filter(|l| **l == size).count() as i64;
        // Of 12,000 packets a weight means 1,000; 55 is the largest standard deviation.
        assert!((count - weight as i64 * 1_000).abs() < 330, "{size}: {count}");
    }
}

#[test]
fn stamps_follow_the_wire_and_the_gaps() {
    let stamps = |gaps| {
        let traffic = Traffic { gaps, start: 100, rate: 10_000_000_000, ..Traffic::default() };
        let generator = Generator::new(1, traffic).unwrap();
        generator.take(5).map(|g| g.packet.stamp).collect::<Vec<_>>()
    };
    // 84 bytes on the wire at 10 Gbit/s are 67.2 ns; fractions are not lost.
    assert_eq!(stamps(Gaps::BackToBack), [100, 167, 234, 301, 368]);
    assert_eq!(stamps(Gaps::Fixed(10)), [110, 187, 264, 341, 418]);
    assert_eq!(stamps(Gaps::Bursts { packets: 2, gap: 1000 }), [100, 167, 1234, 1301, 2368]);
    let random = stamps(Gaps::Uniform { min: 5, max: 9 });
    assert!(random.windows(2).all(|w| (72..=77).contains(&(w[1] - w[0]))), "{random:?}");
}

#[test]
fn flows_go_round_over_their_vlans_with_five_tuples_of_their_own() {
    let traffic =
        Traffic { flows: 7, vlans: vec![Some(10), Some(20), None], sizes: Sizes::Fixed(100), ..Traffic::default() };
    let generator = Generator::new(3, traffic).unwrap();
    let flows = generator.flows().all().to_vec();
    let mut tuples = BTreeSet::new();
    for (index, generated) in generator.take(14).enumerate() {
        let flow = &flows[generated.flow.unwrap()];
        assert_eq!(generated.flow, Some(index % 7));
        let bytes = &generated.packet.bytes;
        assert_eq!(vlan_id(bytes), flow.vlan);
        let tuple = FiveTuple::of(bytes).unwrap();
        assert_eq!((tuple.src, tuple.dst), (flow.src.into(), flow.dst.into()));
        assert_eq!((tuple.sport, tuple.dport, tuple.protocol), (flow.sport, flow.dport, flow.protocol));
        let ethernet = Ethernet::new_checked(&bytes[..]).unwrap();
        assert_eq!((ethernet.src(), ethernet.dst()), (flow.src_mac, flow.dst_mac));
        tuples.insert(tuple);
    }
    assert_eq!(tuples.len(), 7);
}

#[test]
fn zipf_gives_the_first_flow_twice_the_packets_of_the_second() {
    let traffic = Traffic { flows: 100, order: FlowOrder::Zipf, ..Traffic::default() };
    let mut counts = BTreeMap::new();
    for generated in Generator::new(9, traffic).unwrap().take(20_000) {
        *counts.entry(generated.flow.unwrap()).or_insert(0i64) += 1;
    }
    // The harmonic number of 100 is 5.187.
    assert!((counts[&0] - 3_855).abs() < 350, "{}", counts[&0]);
    assert!((counts[&1] - 1_928).abs() < 250, "{}", counts[&1]);
    assert_eq!(counts.len(), 100);
}

#[test]
fn traffic_that_cannot_be_is_refused_in_words() {
    let base = Traffic::default;
    for (traffic, says) in [
        (Traffic { flows: 0, ..base() }, "the number of flows is 0"),
        (Traffic { vlans: vec![], ..base() }, "the list of VLANs is empty"),
        (Traffic { vlans: vec![Some(4096)], ..base() }, "a VLAN ID is 4096"),
        (sized(Sizes::List(vec![])), "the list of sizes is empty"),
        (sized(Sizes::Fixed(65_550)), "a size is 65550, expected at most 65549"),
        (sized(Sizes::Uniform { min: 9, max: 8 }), "the smallest size is 9"),
        (Traffic { gaps: Gaps::Uniform { min: 9, max: 8 }, ..base() }, "the shortest gap is 9"),
        (Traffic { gaps: Gaps::Bursts { packets: 0, gap: 1 }, ..base() }, "the length of a burst is 0"),
        (Traffic { malformed: (0, 0), ..base() }, "the share of malformed"),
        (Traffic { rate: 0, ..base() }, "the rate is 0"),
    ] {
        let error = Generator::new(1, traffic).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

/// The IPv4 header of a frame, if it is one.
fn ipv4(frame: &[u8]) -> Option<Ipv4<&[u8]>> {
    match untagged(frame)? {
        (ethertype::IPV4, body) => Ipv4::new_checked(body).ok(),
        _ => None,
    }
}

#[test]
fn each_malformation_is_wrong_in_its_way() {
    let mut rng = Rng::new(test_seed("malformations"));
    for _ in 0..200 {
        for vlan in [None, Some(5)] {
            for way in Malformation::ALL {
                let frame = way.packet(vlan, &mut rng);
                let outer = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
                let said = format!("{way:?} {vlan:?} {frame:02x?}");
                let ip = ipv4(&frame);
                let udp_sum = |ip: &Ipv4<&[u8]>| {
                    let body = ip.payload();
                    let sum = Sum::new().add_pseudo_header(
                        ip.src().into(),
                        ip.dst().into(),
                        protocol::UDP,
                        body.len() as u32,
                    );
                    sum.add_bytes(body).folded() == 0xffff
                };
                let right = match way {
                    Malformation::Runt => frame.len() < 60,
                    Malformation::Giant => frame.len() > 9_018,
                    Malformation::CutHeader => {
                        let headers = if vlan.is_some() { 46 } else { 42 };
                        frame.len() < headers
                    }
                    Malformation::BadIpChecksum => !ip.unwrap().checksum_is_valid(),
                    Malformation::BadUdpChecksum => {
                        let ip = ip.unwrap();
                        ip.checksum_is_valid() && !udp_sum(&ip)
                    }
                    Malformation::DoubleTag => match vlan {
                        None => outer(12) == 0x8100,
                        Some(_) => outer(12) == 0x8100 && outer(16) == 0x8100,
                    },
                    Malformation::ServiceTag => outer(12) == 0x88a8,
                    Malformation::PriorityTag => vlan_id(&frame) == Some(0),
                    Malformation::ReservedVlan => vlan_id(&frame) == Some(4095),
                    Malformation::Untagged => outer(12) == 0x0800,
                    Malformation::BadIhl | Malformation::BadVersion => ip.is_none(),
                    Malformation::BadTotalLength => {
                        let ip = ip.unwrap();
                        let stated = usize::from(ip.total_len());
                        stated < 20 || stated > 20 + ip.rest().len()
                    }
                    Malformation::Fragment => ip.unwrap().is_fragment(),
                    Malformation::Reconfiguration => FiveTuple::of(&frame).unwrap().dport == 61_938,
                };
                assert!(right, "{said}");
            }
        }
    }
}

#[test]
fn every_malformation_comes_up_at_the_share_asked_for() {
    let traffic = Traffic { malformed: (1, 4), vlans: vec![Some(3)], ..Traffic::default() };
    let ways: Vec<Malformation> = Generator::new(2, traffic).unwrap().take(4_000).filter_map(|g| g.malformed).collect();
    assert!((ways.len() as i64 - 1_000).abs() < 170, "{}", ways.len());
    assert!(Malformation::ALL.iter().all(|way| ways.contains(way)));
}

#[test]
fn a_mixed_capture_holds_every_protocol_on_every_vlan() {
    let vlans = [10, 20, 30];
    let capture = mixed_capture(1, &vlans, 6_000);
    let mut seen: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
    for packet in &capture {
        let spec = dissect(&packet.bytes);
        let kinds = seen.entry(vlan_id(&packet.bytes).unwrap()).or_default();
        kinds.extend(spec.layers.iter().map(|l| l.kind.name()));
        for layer in &spec.layers {
            let ports = [layer.given("sport"), layer.given("dport")];
            let port = |n: u128| ports.contains(&Some(n));
            match layer.kind {
                LayerKind::Udp if port(67) => _ = kinds.insert("dhcp"),
                LayerKind::Udp if port(53) => _ = kinds.insert("dns"),
                LayerKind::Udp if port(5353) => _ = kinds.insert("mdns"),
                LayerKind::Tcp if port(80) => _ = kinds.insert("http"),
                LayerKind::Tcp if port(443) => _ = kinds.insert("tls"),
                LayerKind::Icmp6 if layer.given("type") == Some(135) => _ = kinds.insert("nd"),
                LayerKind::Ipv4 if layer.given("mf") == Some(1) => _ = kinds.insert("fragment"),
                _ => {}
            }
        }
    }
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), vlans);
    for (vlan, kinds) in seen {
        for kind in [
            "arp", "ipv4", "ipv6", "icmp", "icmp6", "udp", "tcp", "vxlan", "frag6", "dhcp", "dns", "mdns", "http",
            "tls", "nd", "fragment",
        ] {
            assert!(kinds.contains(kind), "VLAN {vlan} has no {kind}");
        }
    }
    assert_eq!(capture[0].stamp, MIXED_START);
    // Nothing in it is printed as bytes that were not understood.
    assert!(capture.iter().all(|p| !dissect(&p.bytes).to_string().contains("raw(")));
}

#[test]
fn every_checksum_of_a_mixed_capture_is_right() {
    let mut checked = 0;
    for packet in mixed_capture(7, &[1, 2], 3_000) {
        let Some((kind, body)) = untagged(&packet.bytes) else { panic!() };
        let (src, dst, proto, payload) = match kind {
            ethertype::IPV4 => {
                let ip = Ipv4::new_checked(body).unwrap();
                assert!(ip.checksum_is_valid());
                if ip.is_fragment() {
                    continue;
                }
                let payload = ip.payload().to_vec();
                (ip.src().into(), ip.dst().into(), ip.protocol(), payload)
            }
            ethertype::IPV6 => {
                let ip = Ipv6::new_checked(body).unwrap();
                if ip.next() == protocol::FRAGMENT {
                    continue;
                }
                let (proto, payload) = ip.transport().unwrap();
                (ip.src().into(), ip.dst().into(), proto, payload.to_vec())
            }
            _ => continue,
        };
        let pseudo = Sum::new().add_pseudo_header(src, dst, proto, payload.len() as u32);
        match proto {
            protocol::ICMP => assert!(is_valid(&payload)),
            // VXLAN leaves the checksum out.
            protocol::UDP if payload[6..8] == [0, 0] => assert_eq!(payload[2..4], 4789u16.to_be_bytes()),
            protocol::TCP | protocol::UDP | protocol::ICMP6 => {
                assert_eq!(pseudo.add_bytes(&payload).folded(), 0xffff, "{}", dissect(&packet.bytes));
            }
            _ => continue,
        }
        checked += 1;
    }
    assert!(checked > 2_500, "{checked}");
}

#[test]
fn fragments_of_a_mixed_capture_join_to_a_datagram_with_a_right_checksum() {
    /// Offset, whether more follow, bytes.
    type Piece = (u16, bool, Vec<u8>);
    let mut datagrams: BTreeMap<(u16, u16), Vec<Piece>> = BTreeMap::new();
    let mut addresses = BTreeMap::new();
    for packet in mixed_capture(7, &[1, 2], 5_000) {
        let Some(ip) = ipv4(&packet.bytes).filter(Ipv4::is_fragment) else { continue };
        let key = (vlan_id(&packet.bytes).unwrap(), ip.id());
        addresses.insert(key, (ip.src(), ip.dst()));
        let piece = (ip.fragment_offset(), ip.more_fragments(), ip.payload().to_vec());
        datagrams.entry(key).or_default().push(piece);
    }
    let mut whole = 0;
    for (key, pieces) in datagrams {
        if pieces.iter().all(|(_, more, _)| *more) {
            continue; // The capture ends in its midst.
        }
        let joined: Vec<u8> = pieces.iter().flat_map(|(_, _, bytes)| bytes.clone()).collect();
        let (src, dst) = addresses[&key];
        let sum = Sum::new().add_pseudo_header(src.into(), dst.into(), 17, joined.len() as u32);
        assert_eq!(sum.add_bytes(&joined).folded(), 0xffff);
        assert!(pieces.len() > 1 && pieces.iter().skip(1).all(|(offset, ..)| *offset > 0));
        whole += 1;
    }
    assert!(whole >= 4, "{whole}");
}

#[test]
fn tcp_sequence_numbers_of_a_mixed_capture_go_on_without_holes() {
    let mut expected: BTreeMap<(u16, FiveTuple), u32> = BTreeMap::new();
    let mut followed = 0;
    for packet in mixed_capture(11, &[4], 3_000) {
        let Some(ip) = ipv4(&packet.bytes).filter(|ip| ip.protocol() == protocol::TCP) else { continue };
        let tcp = sluice_packet::headers::Tcp::new_checked(ip.payload()).unwrap();
        let key = (4, FiveTuple::of(&packet.bytes).unwrap());
        let (syn, fin) = (tcp.flags() & 2, tcp.flags() & 1);
        if let Some(expected) = expected.get(&key).filter(|_| syn == 0) {
            assert_eq!(tcp.seq(), *expected);
            followed += 1;
        }
        let used = tcp.rest().len() as u32 + u32::from(syn != 0) + u32::from(fin);
        expected.insert(key, tcp.seq().wrapping_add(used));
    }
    assert!(followed > 1_000, "{followed}");
}

#[test]
fn hosts_share_ip_addresses_between_vlans_but_not_ethernet_addresses() {
    let ((mac_a, ip_a), (mac_b, ip_b)) = (mixed_host(10, 5), mixed_host(20, 5));
    assert_eq!(ip_a, ip_b);
    assert_ne!(mac_a, mac_b);
    let capture = mixed_capture(1, &[10, 20], 2_000);
    let hosts: BTreeSet<_> = [10, 20].iter().flat_map(|v| (1..=12).map(|n| mixed_host(*v, n).0)).collect();
    for packet in &capture {
        let ethernet = Ethernet::new_checked(&packet.bytes[..]).unwrap();
        assert!(hosts.contains(&ethernet.src()));
        assert!(ethernet.dst().is_multicast() || hosts.contains(&ethernet.dst()));
    }
}
