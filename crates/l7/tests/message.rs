//! The packet filter and messages as packets: what each check refuses, in which order, and what comes through.

use sluice_formats::Reason;
use sluice_formats::l7::qnp::Header;
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::message::{
    Addresses, BuildError, Dropped, Field, NoMessage, Packet, Ports, Sender, Sort, encode, filter, frame, raw_frame,
    segments,
};
use sluice_l7::rules::{Kind, Rules, read};
use sluice_l7::testing::{Limits, frames, rules};
use sluice_packet::checksum::{Sum, checksum};
use sluice_packet::headers::{Ipv4, Udp};
use std::net::IpAddr;
use std::time::{Duration, Instant};

const RULES: &str = "application a { port 9000 id 1 default drop message m = 1 { field f = 1 } }
application b { port 9000 id 2 default drop message m = 1 { } }
endpoint 9001 -> queue 3
raw lines { port 11211 default drop rule \"get \" -> queue 4 }";

fn known() -> Rules {
    read("m.l7", RULES).unwrap_or_else(|e| panic!("{e}"))
}

fn header() -> Header {
    Header { app_id: 1, msg_type: 1, msg_id: 7, session: 9, msg_len_in_pkts: 1, seg_cnt: 1, ..Header::default() }
}

fn fields(all: &[(u8, &[u8])]) -> Vec<Field> {
    all.iter().map(|(index, value)| Field { index: *index, value: value.to_vec() }).collect()
}

/// A packet of application a with field 1 and a byte of another field.
fn good() -> Vec<u8> {
    frame(&Addresses::to_port(9000), header(), &encode(&fields(&[(1, b"abc"), (16, b"x")])))
}

/// The sort of a frame without what is in it.
#[derive(Debug, PartialEq)]
enum Short {
    Frame(NoMessage),
    Dropped(Dropped),
    Packet(usize),
}

fn sort(frame: &[u8], ports: &Ports) -> Short {
    match filter(frame, ports) {
        Sort::Frame(why) => Short::Frame(why),
        Sort::Dropped(Dropped::Fields(_)) => Short::Dropped(FIELDS),
        Sort::Dropped(why) => Short::Dropped(why),
        Sort::Packet(packet) => Short::Packet(packet.application),
    }
}

const FIELDS: Dropped = Dropped::Fields(sluice_l7::view::Malformed { at: 0, what: "" });

/// A good packet of application a, and what will be wrong with it.
struct Draft {
    bytes: Vec<u8>,
    /// Its length, lengths in headers included.
    shortened: Option<usize>,
    /// Its length, against what headers say.
    cut: Option<usize>,
    /// IPv4 says a byte more than there is.
    longer: bool,
    bad_ipv4_sum: bool,
    bad_udp_sum: bool,
    updating: bool,
}

impl Draft {
    fn new() -> Self {
        let no = false;
        Self { bytes: good(), shortened: None, cut: None, longer: no, bad_ipv4_sum: no, bad_udp_sum: no, updating: no }
    }

    fn render(&self) -> Vec<u8> {
        let mut f = self.bytes.clone();
        f.truncate(self.shortened.unwrap_or(f.len()));
        let total = f.len() - 14 + usize::from(self.longer);
        f[16..18].copy_from_slice(&(total as u16).to_be_bytes());
        let length = f.len() - 34;
        f[38..40].copy_from_slice(&(length as u16).to_be_bytes());
        f[24..26].fill(0);
        let sum = checksum(&f[14..34]);
        f[24..26].copy_from_slice(&sum.to_be_bytes());
        set_udp_sum(&mut f);
        f[24] ^= u8::from(self.bad_ipv4_sum);
        f[40] ^= u8::from(self.bad_udp_sum);
        f.truncate(self.cut.unwrap_or(f.len()));
        f
    }
}

/// Of all bytes from the UDP header on.
fn set_udp_sum(frame: &mut [u8]) {
    frame[40..42].fill(0);
    let address = |at: usize| IpAddr::from([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let sum = Sum::new().add_pseudo_header(address(26), address(30), 17, frame.len() as u32 - 34);
    let sum = sum.add_bytes(&frame[34..]).checksum();
    frame[40..42].copy_from_slice(&(if sum == 0 { 0xffff } else { sum }).to_be_bytes());
}

type Damage = fn(&mut Draft);

/// Damages and what a packet is then, in the order of the page.
const DAMAGES: [(Damage, Short); 16] = [
    (|d| d.cut = Some(41), Short::Frame(NoMessage::Short)),
    (|d| d.bytes[12] = 0x86, Short::Frame(NoMessage::NotIpv4)),
    (|d| d.bytes[14] = 0x46, Short::Frame(NoMessage::Options)),
    (|d| d.bytes[20] |= 0x20, Short::Frame(NoMessage::Fragment)),
    (|d| d.bytes[23] = 6, Short::Frame(NoMessage::NotUdp)),
    (|d| d.bytes[36] = 1, Short::Frame(NoMessage::Port)),
    (|d| d.bad_ipv4_sum = true, Short::Dropped(Dropped::Ipv4Checksum)),
    (|d| d.longer = true, Short::Dropped(Dropped::Length)),
    (|d| d.shortened = Some(63), Short::Dropped(Dropped::Header)),
    (|d| d.bytes[52] = 0, Short::Dropped(Dropped::Count { found: 0, most: 64 })),
    (|d| d.bytes[53] = 70, Short::Dropped(Dropped::Sequence)),
    (|d| d.bytes[54] = 1, Short::Dropped(Dropped::Flag)),
    (|d| d.bytes[42] = 3, Short::Dropped(Dropped::NoApplication)),
    (|d| d.updating = true, Short::Dropped(Dropped::Updating)),
    (|d| d.bad_udp_sum = true, Short::Dropped(Dropped::UdpChecksum)),
    (|d| d.bytes[64] = 0, Short::Dropped(FIELDS)),
];

#[test]
fn each_check_has_its_answer_and_of_two_the_first_one_counts() {
    let ports = Ports::of(&known());
    assert_eq!(sort(&Draft::new().render(), &ports), Short::Packet(0));
    assert_eq!(Draft::new().render(), good(), "the builder fills in the same lengths and sums");
    for (i, (first, expected)) in DAMAGES.iter().enumerate() {
        for (k, (second, _)) in DAMAGES.iter().enumerate().skip(i) {
            let mut draft = Draft::new();
            first(&mut draft);
            second(&mut draft);
            let mut ports = ports.clone();
            ports.set_updating(0, draft.updating);
            ports.set_updating(1, draft.updating);
            assert_eq!(sort(&draft.render(), &ports), *expected, "{i} and {k}");
        }
    }
}

#[test]
fn a_message_has_1_to_64_packets_and_the_last_ones_number_is_one_less() {
    let ports = Ports::of(&known());
    for (count, number, expected) in [
        (1, 0, Short::Packet(0)),
        (1, 1, Short::Dropped(Dropped::Sequence)),
        (64, 63, Short::Packet(0)),
        (64, 64, Short::Dropped(Dropped::Sequence)),
        (65, 0, Short::Dropped(Dropped::Count { found: 65, most: 64 })),
        (255, 255, Short::Dropped(Dropped::Count { found: 255, most: 64 })),
    ] {
        let header = Header { msg_len_in_pkts: count, pkt_seq_num_in_msg: number, ..header() };
        assert_eq!(sort(&frame(&Addresses::to_port(9000), header, b""), &ports), expected, "{number} of {count}");
    }
}

#[test]
fn what_is_dropped_counts_for_its_reason() {
    let reasons = DAMAGES.iter().filter_map(|(_, short)| match short {
        Short::Dropped(why) => Some(why.reason()),
        _ => None,
    });
    let (malformed, checksum) = (Reason::L7Malformed, Reason::L7Checksum);
    let header = [malformed; 5];
    let expected: Vec<_> =
        [&[checksum][..], &header, &[Reason::L7NoApp, Reason::L7Updating, checksum, malformed]].concat();
    assert_eq!(reasons.collect::<Vec<_>>(), expected);
}

/// The packet that a frame must be.
fn packet<'a>(frame: &'a [u8], ports: &Ports) -> Packet<'a> {
    match filter(frame, ports) {
        Sort::Packet(packet) => packet,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_packet_is_seen_with_header_sender_fields_and_without_its_padding() {
    let ports = Ports::of(&known());
    let mut padded = good();
    padded.extend([0xee; 20]);
    for frame in [good(), padded] {
        let found = packet(&frame, &ports);
        assert_eq!((found.application, found.kind), (0, Kind::Application(1)));
        assert_eq!(found.sender, Sender { address: [10, 0, 0, 1], port: 40_000 });
        assert_eq!((found.header, found.payload), (header(), &b"\x01\x03abc\x10\x01x"[..]));
        assert_eq!(found.view.unwrap().value(1), Some(&b"abc"[..]));
    }
    // Later packets are not looked at, whatever their bytes are.
    let later = Header { msg_len_in_pkts: 3, pkt_seq_num_in_msg: 2, ..header() };
    let later = frame(&Addresses::to_port(9000), later, b"\x00\x00");
    assert_eq!(packet(&later, &ports).view, None);
    // The second ID of the port, a packet of headers only.
    let other = frame(&Addresses::to_port(9000), Header { app_id: 2, ..header() }, b"");
    assert_eq!((packet(&other, &ports).application, packet(&other, &ports).payload), (1, &b""[..]));
}

#[test]
fn an_endpoint_takes_data_and_acknowledgements_and_looks_at_no_field_and_no_id() {
    let ports = Ports::of(&known());
    for pkt_flag in [0, 1] {
        let frame = frame(&Addresses::to_port(9001), Header { pkt_flag, app_id: 77, ..header() }, b"\x00");
        let found = packet(&frame, &ports);
        assert_eq!((found.application, found.kind, found.view), (2, Kind::Endpoint, None));
    }
    let odd = frame(&Addresses::to_port(9001), Header { pkt_flag: 2, ..header() }, b"");
    assert_eq!(sort(&odd, &ports), Short::Dropped(Dropped::Flag));
    let short = raw_frame(&Addresses::to_port(9001), &[0; 21]);
    assert_eq!(sort(&short, &ports), Short::Dropped(Dropped::Header));
}

#[test]
fn a_raw_packet_is_a_message_whatever_it_has_and_its_sender_stands_for_the_header() {
    let ports = Ports::of(&known());
    for payload in [&b""[..], b"g", &[0xff; 600]] {
        let frame = raw_frame(&Addresses::to_port(11211), payload);
        let found = packet(&frame, &ports);
        assert_eq!((found.application, found.kind, found.payload), (3, Kind::Raw, payload));
        let view = found.view.unwrap();
        assert_eq!(view.value(1), Some(&payload[..payload.len().min(512)]));
        assert_eq!(view.is_open(), payload.len() > 512);
        let ports = 40_000 << 16 | 11_211;
        let expected = Header { session: 0x0a00_0001, msg_id: ports, msg_len_in_pkts: 1, ..Header::default() };
        assert_eq!(found.header, expected);
    }
}

#[test]
fn a_udp_checksum_of_zero_is_none_and_a_sum_of_zero_is_sent_as_ones() {
    let ports = Ports::of(&known());
    let mut frame = good();
    frame[40..42].fill(0);
    frame[46] ^= 1;
    assert_eq!(sort(&frame, &ports), Short::Packet(0));
    // The two bytes that make the sum zero stand in the message ID.
    let mut header = header();
    header.msg_id = 0;
    let build = |header| with_header(header);
    let sum = u16::from_be_bytes([build(header)[40], build(header)[41]]);
    header.msg_id = u32::from(sum);
    assert_eq!(build(header)[40..42], [0xff, 0xff]);
    assert_eq!(sort(&build(header), &ports), Short::Packet(0));
}

fn with_header(header: Header) -> Vec<u8> {
    frame(&Addresses::to_port(9000), header, b"\x01\x00")
}

#[test]
fn lengths_have_to_be_those_of_each_other_and_at_most_the_frame() {
    let ports = Ports::of(&known());
    let set = |total: u16, length: u16| {
        let mut f = good();
        f[16..18].copy_from_slice(&total.to_be_bytes());
        f[38..40].copy_from_slice(&length.to_be_bytes());
        f[24..26].fill(0);
        let sum = checksum(&f[14..34]);
        f[24..26].copy_from_slice(&sum.to_be_bytes());
        // None, so that only lengths are told.
        f[40..42].fill(0);
        sort(&f, &ports)
    };
    let there = (good().len() - 14) as u16;
    assert_eq!(set(there, there - 20), Short::Packet(0));
    for (total, length) in [
        (there + 1, there - 19),
        (there, there - 21),
        (there, there - 19),
        (there, 0),
        (27, 7),
        (20, 0),
        (0, 0),
        (0xffff, 0xffff - 20),
    ] {
        assert_eq!(set(total, length), Short::Dropped(Dropped::Length), "{total} {length}");
    }
    assert_eq!(set(28, 8), Short::Dropped(Dropped::Header));
    assert_eq!(set(49, 29), Short::Dropped(Dropped::Header));
    // All of the header, and nothing behind it.
    assert_eq!(set(50, 30), Short::Packet(0));
}

#[test]
fn a_message_is_cut_into_packets_of_one_length_and_put_together_again() {
    let ports = Ports::of(&known());
    let addresses = Addresses::to_port(9000);
    let all = fields(&[(1, &[7; 100]), (15, b""), (16, &[1; 254]), (20, &[2; 255]), (16, &[3; 1000])]);
    let body = encode(&all);
    assert_eq!(body.len(), 102 + 2 + 256 + 6 + 255 + 6 + 1000);
    assert_eq!(body[104 + 256..][..6], [20, 255, 0, 0, 0, 255], "a length of 255 announces the real one");
    for chunk in [104, 512, 1450, 4000] {
        let packets = segments(&addresses, header(), &all, chunk).unwrap();
        assert_eq!(packets.len(), body.len().div_ceil(chunk));
        let mut together: Vec<u8> = Vec::new();
        for (number, bytes) in packets.iter().enumerate() {
            let found = packet(bytes, &ports);
            assert_eq!(usize::from(found.header.pkt_seq_num_in_msg), number);
            assert_eq!((usize::from(found.header.msg_len_in_pkts), found.header.seg_cnt), (packets.len(), 2));
            assert!(number + 1 == packets.len() || found.payload.len() == chunk);
            if number == 0 {
                assert_eq!(found.view.as_ref().unwrap().value(1), Some(&[7; 100][..]));
            }
            together.extend(found.payload);
        }
        assert_eq!(together, body);
    }
    assert_eq!(segments(&addresses, header(), &[], 100).unwrap().len(), 1);
    let wrong = |list: &[(u8, &[u8])], chunk| segments(&addresses, header(), &fields(list), chunk).unwrap_err();
    assert_eq!(wrong(&[(0, b"")], 100), BuildError::Order(0));
    assert_eq!(wrong(&[(2, b""), (2, b"")], 100), BuildError::Order(2));
    assert_eq!(wrong(&[(16, b""), (2, b"")], 100), BuildError::Order(2));
    assert_eq!(wrong(&[(1, &[0; 256])], 1000), BuildError::Value { index: 1, found: 256 });
    assert_eq!(wrong(&[(1, &[0; 255])], 256), BuildError::Fields { found: 257, most: 256 });
    assert_eq!(wrong(&[(1, &[0; 255]), (2, &[0; 254])], 1000), BuildError::Fields { found: 513, most: 512 });
    assert_eq!(wrong(&[(16, &[0; 2_545])], 10), BuildError::Packets { found: 256 });
    assert_eq!(segments(&addresses, header(), &fields(&[(16, &[0; 2_544])]), 10).unwrap().len(), 255);
}

/// What the project's other readers of headers say of a packet that the filter takes, and of one that it drops for its sums.
fn checked_by_headers(frame: &[u8]) -> Option<(bool, usize)> {
    let ip = Ipv4::new_checked(frame.get(14..)?).ok()?;
    let udp = Udp::new_checked(ip.payload()).ok()?;
    let (from, to) = (IpAddr::V4(ip.src()), IpAddr::V4(ip.dst()));
    let sum = Sum::new().add_pseudo_header(from, to, 17, udp.length().into()).add_bytes(ip.payload()).folded();
    Some((ip.checksum_is_valid() && (udp.checksum() == 0 || sum == 0xffff), udp.payload().len()))
}

#[test]
fn fuzz_l7_frames() {
    let seed = test_seed("fuzz_l7_frames");
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let mut rng = Rng::new(seed);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let (mut inputs, mut taken) = (0u64, 0u64);
    while Instant::now() < end {
        let rules = rules(&mut rng, &Limits::default());
        let ports = Ports::of(&rules);
        for _ in 0..50 {
            let header = Header { msg_id: rng.next_u32(), session: rng.next_u32(), ..Header::default() };
            for mut bytes in frames(&mut rng, &rules, header) {
                let whole = sort(&bytes, &ports);
                assert!(matches!(whole, Short::Packet(_)), "{whole:?} {bytes:02x?}");
                for _ in 0..rng.below(3) {
                    match rng.below(4) {
                        0 => bytes.truncate(rng.index(bytes.len() + 1)),
                        1 => bytes.extend(rng.bytes(3)),
                        _ if bytes.is_empty() => {}
                        _ => {
                            // Mostly in the headers.
                            let most = if rng.chance(3, 4) { bytes.len().min(70) } else { bytes.len() };
                            let at = rng.index(most);
                            bytes[at] = rng.next_u64() as u8;
                        }
                    }
                }
                inputs += 1;
                match filter(&bytes, &ports) {
                    Sort::Packet(packet) => {
                        taken += 1;
                        let (good, payload) = checked_by_headers(&bytes).unwrap();
                        let qnp = if packet.kind == Kind::Raw { 0 } else { 22 };
                        assert_eq!((good, payload), (true, packet.payload.len() + qnp), "{bytes:02x?}");
                    }
                    Sort::Dropped(Dropped::UdpChecksum) => assert!(!checked_by_headers(&bytes).unwrap().0),
                    _ => {}
                }
            }
        }
    }
    println!("fuzz: {inputs} inputs, {taken} taken");
    assert!(taken > inputs / 4);
}
