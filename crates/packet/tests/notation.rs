//! The packet notation, packets built from it, and an independent parser's view of them.

use sluice_formats::random::{Rng, test_seed};
use sluice_packet::layers::{LayerKind, dissect};
use sluice_packet::notation::{Pattern, diff, packet, parse, print_packet};

fn built(text: &str) -> Vec<u8> {
    packet(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn code(text: &str) -> &'static str {
    parse(text).expect_err(text).problem.code()
}

#[test]
fn the_example_of_the_style_guide_builds_byte_for_byte() {
    let bytes = built("eth/vlan(vid=7)/ipv4(dst=10.1.2.3, ttl=1)");
    let want = [
        "020000000002",
        "020000000001",
        "8100",
        "0007",
        "0800", // Ethernet and tag
        "4500",
        "0014",
        "0000",
        "0000",
        "01",
        "fd",
        "a3e7",
        "0a000001",
        "0a010203",
    ];
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    // Header sum checked by hand: 4500 + 0014 + 01fd + 0a00 + 0001 + 0a01 + 0203 = 5d16;
    // the complement is in the packet.
    assert_eq!(hex, want.concat().replace("a3e7", "a2e9"));
}

#[test]
fn lengths_numbers_and_checksums_are_filled_in() {
    let bytes = built("eth/vlan/ipv6/udp(sport=5, dport=6)/payload(len=100, seed=3)");
    let parsed = etherparse::SlicedPacket::from_ethernet(&bytes).unwrap();
    let udp = match parsed.transport {
        Some(etherparse::TransportSlice::Udp(udp)) => udp,
        other => panic!("{other:?}"),
    };
    assert_eq!((udp.source_port(), udp.destination_port(), udp.length()), (5, 6, 108));
    assert_eq!(udp.payload(), Rng::new(3).bytes(100));
}

#[test]
fn padding_is_outside_every_length_and_checksum() {
    let plain = built("eth/ipv4/udp/payload(hex=0102)");
    let padded = built("eth/ipv4/udp/payload(hex=0102)/pad(to=60)");
    assert_eq!(padded.len(), 60);
    assert_eq!(padded[..plain.len()], plain);
    assert!(padded[plain.len()..].iter().all(|b| *b == 0));
    // A packet that is long enough stays as it is.
    assert_eq!(built("eth/ipv4/udp/payload(len=100)/pad(to=60)").len(), 142);
}

#[test]
fn what_is_given_stands_even_when_it_is_wrong() {
    let bytes = built("eth(type=0x1234)/ipv4(ver=5, ihl=3, len=7, csum=0xdead, proto=99)/udp(len=1, csum=0xbeef)");
    assert_eq!(bytes[12..14], [0x12, 0x34]);
    assert_eq!(bytes[14], 0x53);
    assert_eq!(bytes[16..18], [0, 7]);
    assert_eq!(bytes[23], 99);
    assert_eq!(bytes[24..26], [0xde, 0xad]);
    assert_eq!(bytes[38..42], [0, 1, 0xbe, 0xef]);
}

#[test]
fn a_udp_sum_of_zero_is_sent_as_ffff() {
    // The payload is chosen such that the sum comes to 0xffff before it is complemented.
    let bare = built("eth/ipv4/udp/payload(hex=0000)");
    let sum = u16::from_be_bytes([bare[40], bare[41]]);
    let exact = built(&format!("eth/ipv4/udp/payload(hex={sum:04x})"));
    assert_eq!(exact[40..42], [0xff, 0xff]);
}

#[test]
fn tunnels_nest() {
    let text = "eth/ipv4/udp/vxlan(vni=77)/eth/ipv4/tcp/payload(text=\"hi there\")";
    let bytes = built(text);
    assert_eq!(bytes[36..38], 4789u16.to_be_bytes());
    let kinds: Vec<&str> = dissect(&bytes).layers.iter().map(|l| l.kind.name()).collect();
    assert_eq!(kinds, ["eth", "ipv4", "udp", "vxlan", "eth", "ipv4", "tcp", "payload"]);
    for text in ["eth/ipv4/ipv4/udp", "eth/ipv4/ipv6/icmp6", "eth/ipv4/gre/ipv4/icmp", "eth/ipv6/gre/eth/arp"] {
        assert_eq!(built(&print_packet(&built(text))), built(text), "{text}");
    }
}

#[test]
fn only_what_matters_is_printed() {
    let text = "eth(dst=02:00:00:00:00:02, src=02:00:00:00:00:01)/vlan(vid=7)/ipv4(ttl=1, src=10.0.0.1, dst=10.1.2.3)/udp(sport=1024, dport=9)/payload(len=100)";
    assert_eq!(print_packet(&built(text)), text);
    let text = "eth(dst=02:00:00:00:00:02, src=02:00:00:00:00:01)/ipv4(csum=0x1234, src=10.0.0.1, dst=10.0.0.2)/payload(text=\"a\\\"b\\r\\n\")/pad(to=60)";
    assert_eq!(print_packet(&built(text)), text);
}

#[test]
fn a_cut_header_is_printed_as_raw_bytes() {
    let bytes = &built("eth/ipv4/tcp")[..40];
    assert!(print_packet(bytes).ends_with("/raw(hex=040000500000)"), "{}", print_packet(bytes));
    assert_eq!(print_packet(&[1, 2, 3]), "raw(hex=010203)");
    assert_eq!(print_packet(&[]), "raw(hex=\"\")");
}

#[test]
fn a_lying_header_length_is_shown_as_such() {
    let bytes = built("eth/ipv4(ihl=3)/udp/payload(hex=01)");
    let text = print_packet(&bytes);
    assert!(text.contains("/ipv4(ihl=3, "), "{text}");
    assert_eq!(built(&text), bytes);
}

#[test]
fn a_whole_pattern_wants_every_byte_and_an_open_one_what_is_written() {
    let sent = built("eth/vlan(vid=7)/ipv4(ttl=9)/udp(dport=53)/payload(len=20)");
    let whole = Pattern::parse("eth/vlan(vid=7)/ipv4(ttl=9)/udp(dport=53)/payload(len=20)").unwrap();
    assert!(whole.matches(&sent));
    assert!(!whole.matches(&sent[..sent.len() - 1]));
    for (text, matches) in [
        ("eth/vlan/...", true),
        ("eth/vlan(vid=7)/ipv4/...", true),
        ("eth/vlan(vid=7)/ipv4(ttl=9)/udp/...", true),
        ("eth/vlan/ipv4/udp(dport=53)/payload(hex=0000)/...", true),
        ("eth/vlan(vid=8)/...", false),
        ("eth/vlan/ipv6/...", false),
        ("eth/ipv4/...", false),
        ("eth/vlan/ipv4/tcp/...", false),
        ("eth/vlan/ipv4(ttl=8)/...", false),
        ("eth/vlan/ipv4/udp/payload(len=21)/...", false),
        ("eth/vlan/ipv4/udp/vxlan/...", false),
    ] {
        let pattern = Pattern::parse(text).unwrap();
        assert_eq!(pattern.matches(&sent), matches, "{text}");
        assert_eq!(pattern.to_string(), text);
    }
}

#[test]
fn a_difference_is_told_by_layer_and_field() {
    let a = built("eth/vlan(vid=7)/ipv4(ttl=9)/udp");
    let b = built("eth/vlan(vid=8)/ipv4(ttl=9, csum=0x0102)/udp");
    let text = diff(&a, &b);
    assert!(text.contains("vlan.vid: expected 7, found 8"), "{text}");
    assert!(text.contains("ipv4.csum: expected as computed, found 0x0102"), "{text}");
    assert!(text.contains("first difference at byte 15"), "{text}");
    assert_eq!(diff(&a, &a), "");
    let text = diff(&a, &a[..20]);
    assert!(text.contains("length: expected 46, found 20"), "{text}");
}

#[test]
fn mistakes_are_answered_with_what_was_found_and_what_is_allowed() {
    for (text, want, says) in [
        ("eth/ipv5", "E0101", "`ipv5`, expected one of eth, vlan"),
        ("eth/ipv4(tll=3)", "E0102", "`ipv4` has no field `tll`, expected one of ver, ihl"),
        ("eth/vlan(vid=4096)", "E0103", "`vlan.vid` is `4096`, expected a number up to 4095"),
        ("eth(src=10.0.0.1)", "E0103", "expected an Ethernet address"),
        ("eth/ipv4(src=::1)", "E0103", "expected an IPv4 address"),
        ("eth/ipv4/tcp(flags=SX)", "E0103", "letters of CEUAPRSF"),
        ("eth/ipv4(opts=012)", "E0103", "pairs of hexadecimal digits"),
        ("", "E0104", "found the end, expected a layer such as `eth`"),
        ("eth/", "E0104", "found the end"),
        ("eth(", "E0104", "the name of a field"),
        ("eth(src", "E0104", "expected `=` and a value"),
        ("eth(src=", "E0104", "expected a value"),
        ("eth/payload(text=\"a", "E0104", "a closing quote"),
        ("eth/payload(text=\"\\x\")", "E0104", "one of \\n"),
        ("eth ipv4", "E0104", "found `ipv4`"),
        ("eth/...", "E0104", "only a pattern"),
        ("eth/vlan(vid=1, vid=2)", "E0105", "`vlan.vid` is given twice"),
        ("eth/payload/udp", "E0106", "`udp` cannot stand after `payload`"),
        ("pad(to=60)", "E0106", "`pad` cannot stand after the start"),
        ("eth/payload(hex=00, len=3)", "E0107", "`payload` has `hex=`, `len=`"),
        ("eth/pad", "E0107", "`pad` has nothing"),
        ("eth/ipv4/udp/payload(len=65536)", "E0108", "`udp` would hold len=65544"),
        ("eth/payload(len=262144)", "E0108", "allowed are at most 262144"),
    ] {
        assert_eq!(code(text), want, "{text}");
        let error = parse(text).unwrap_err().to_string();
        let says = says.replace("after the start", "after `the start`");
        assert!(error.contains(&says), "{text}: {error}");
    }
}

#[test]
fn an_independent_parser_agrees_with_random_stacks() {
    let mut rng = Rng::new(test_seed("random stacks"));
    let choices: [&[&str]; 4] = [
        &["", "/vlan(vid=5)", "/svlan/vlan", "/vlan/vlan"],
        &["/ipv4", "/ipv4(opts=01010101)", "/ipv6", "/ipv6/hbh", "/ipv6/dstopts"],
        &["/udp", "/tcp", "/tcp(opts=020405b4)"],
        &["", "/payload(len=1)", "/payload(len=300, seed=1)"],
    ];
    for _ in 0..500 {
        let parts = choices.map(|c| c[rng.index(c.len())]);
        let text = format!("eth{}", parts.concat());
        let bytes = built(&text);
        let parsed = etherparse::PacketHeaders::from_ethernet_slice(&bytes).unwrap_or_else(|e| panic!("{text}: {e}"));
        let net = parsed.net.unwrap();
        let payload = parsed.payload.slice();
        let (found, computed) = match (&net, parsed.transport.unwrap()) {
            (etherparse::NetHeaders::Ipv4(ip, _), transport) => {
                assert_eq!(ip.header_checksum, ip.calc_header_checksum(), "{text}");
                match transport {
                    etherparse::TransportHeader::Udp(udp) => {
                        (udp.checksum, udp.calc_checksum_ipv4(ip, payload).unwrap())
                    }
                    etherparse::TransportHeader::Tcp(tcp) => {
                        (tcp.checksum, tcp.calc_checksum_ipv4(ip, payload).unwrap())
                    }
                    other => panic!("{other:?}"),
                }
            }
            (etherparse::NetHeaders::Ipv6(ip, _), transport) => match transport {
                etherparse::TransportHeader::Udp(udp) => (udp.checksum, udp.calc_checksum_ipv6(ip, payload).unwrap()),
                etherparse::TransportHeader::Tcp(tcp) => (tcp.checksum, tcp.calc_checksum_ipv6(ip, payload).unwrap()),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!(found, computed, "{text}");
    }
}

#[test]
fn every_layer_survives_its_own_text() {
    for kind in LayerKind::ALL {
        let text = match kind {
            LayerKind::Pad => "raw(hex=00)/pad(len=3)".to_string(),
            kind => kind.name().to_string(),
        };
        let spec = parse(&text).unwrap();
        assert_eq!(parse(&spec.to_string()).unwrap(), spec);
    }
}

#[test]
fn messages_for_dispatch_are_written_by_their_fields() {
    let text = "eth/ipv4/udp(dport=9000)/qnp(app=2, type=3, id=0x01020304, packets=2)/tlv(index=1, text=\"a b\")/tlv(index=2, opts=00ff)";
    let packet = parse(text).unwrap();
    let bytes = packet.build().unwrap();
    assert_eq!(bytes[42..56], [2, 3, 1, 2, 3, 4, 0, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!(bytes[64..], [1, 3, b'a', b' ', b'b', 2, 2, 0, 0xff]);
    assert_eq!(parse(&packet.to_string()).unwrap(), packet);
    // A quote and a backslash stand with a backslash.
    let quoted = parse("raw(hex=00)").is_ok().then(|| parse("tlv(index=1, text=\"\\\"\\\\\")").unwrap()).unwrap();
    assert_eq!(quoted.build().unwrap(), [1, 2, b'"', b'\\']);
    assert_eq!(parse(&quoted.to_string()).unwrap(), quoted);
    // A length that lies.
    assert_eq!(parse("tlv(index=1, len=200, text=x)").unwrap().build().unwrap(), [1, 200, b'x']);
    for (text, wrong) in [
        ("tlv(index=256)", "255"),
        ("tlv(value=1)", "index, len, opts, text"),
        ("tlv(text=a, opts=00)", "`tlv.opts`"),
        ("qnp(ids=1)", "acked_id"),
        ("ipv4(text=abc)", "ttl"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(wrong), "{text}: {error}");
    }
    let long = format!("tlv(text={})", "x".repeat(256));
    assert!(parse(&long).unwrap_err().to_string().contains("at most 255 bytes"));
}
