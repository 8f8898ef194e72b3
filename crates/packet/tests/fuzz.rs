//! Short fuzzing of everything that reads outside bytes: nothing panics, nothing hangs, and
//! what is accepted comes back the same.
//!
//! Each test runs for `SLUICE_FUZZ_SECONDS` (1 if not set) from the seed that it prints;
//! `SLUICE_SEED` repeats a run. Inputs are valid ones that were damaged at random.

use std::io::Read;
use std::time::{Duration, Instant};

use sluice_formats::random::{Rng, test_seed};
use sluice_packet::capture::{CaptureReader, CaptureWriter, Format, Packet, ReadOptions};
use sluice_packet::flow::{FiveTuple, untagged, vlan_id};
use sluice_packet::generate::{FlowOrder, Gaps, Generator, Malformation, Sizes, Traffic, mixed_capture};
use sluice_packet::headers::*;
use sluice_packet::layers::dissect;
use sluice_packet::notation::{Pattern, diff, packet, parse, print_packet};
use sluice_packet::script::Script;

/// Names the round if it panics.
struct Round<'a> {
    name: &'a str,
    seed: u64,
    round: u64,
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: failed in round {} of SLUICE_SEED={}", self.name, self.round, self.seed);
        }
    }
}

/// Longest that one input may take, far above what any needs.
const HANG: Duration = Duration::from_secs(20);

fn fuzz(name: &str, mut one: impl FnMut(&mut Rng) -> bool) {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let seed = test_seed(name);
    let mut rng = Rng::new(seed);
    let start = Instant::now();
    let (mut round, mut accepted) = (0, 0);
    while start.elapsed().as_secs_f64() < seconds {
        let _named = Round { name, seed, round };
        let began = Instant::now();
        accepted += u64::from(one(&mut rng.fork()));
        assert!(began.elapsed() < HANG, "one input took {:?}", began.elapsed());
        round += 1;
    }
    println!("{name}: {round} inputs, {accepted} accepted");
    // Neither always refused nor always accepted, or little would be tested. On a machine so
    // busy that few rounds fit into the time, chance may decide.
    let usual = accepted > 0 && accepted < round;
    assert!(usual || round < 500, "{accepted} of {round} inputs were accepted");
}

/// Damages bytes in up to `times` places.
fn damage(bytes: &mut Vec<u8>, times: u64, rng: &mut Rng) {
    const ODD: [u8; 6] = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
    for _ in 0..rng.below(times + 1) {
        if bytes.is_empty() {
            bytes.push(rng.next_u32() as u8);
        }
        let at = rng.index(bytes.len());
        let end = (at + 1 + rng.index(12)).min(bytes.len());
        match rng.below(7) {
            0 => bytes[at] = rng.next_u32() as u8,
            1 => bytes[at] = ODD[rng.index(ODD.len())],
            2 => bytes[at] ^= 1 << rng.below(8),
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            5 => {
                let piece = bytes[at..end].to_vec();
                let to = rng.index(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes[at..end].fill(ODD[rng.index(ODD.len())]),
        }
    }
}

/// A reader that gives few bytes at a time.
struct Dribble<'a>(&'a [u8], Rng);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = (1 + self.1.index(9)).min(buffer.len()).min(self.0.len());
        buffer[..len].copy_from_slice(&self.0[..len]);
        self.0 = &self.0[len..];
        Ok(len)
    }
}

/// Packets up to the first error, and whether there was none.
fn read_capture(reader: impl Read, options: ReadOptions) -> (Vec<Packet>, Option<String>) {
    let mut packets = Vec::new();
    let capture = match CaptureReader::new("fuzz", reader, options) {
        Ok(capture) => capture,
        Err(error) => return (packets, Some(error.to_string())),
    };
    for packet in capture {
        match packet {
            Ok(packet) => packets.push(packet),
            Err(error) => return (packets, Some(error.to_string())),
        }
    }
    (packets, None)
}

fn fuzz_capture(format: Format, rng: &mut Rng) -> bool {
    let names: &[&str] = if format == Format::PcapNg { &["a", "b"] } else { &["a"] };
    let mut writer = CaptureWriter::new("fuzz", Vec::new(), format, names).unwrap();
    for _ in 0..rng.below(5) {
        let len = rng.index(60);
        let stamp = rng.below(1 << 61);
        let interface = rng.index(names.len()) as u32;
        let bytes = rng.bytes(len);
        let wire_len = len as u32 + if rng.chance(1, 8) { 9 } else { 0 };
        writer.write(&Packet { stamp, interface, bytes, wire_len }).unwrap();
    }
    let mut bytes = writer.into_inner().unwrap();
    damage(&mut bytes, 3, rng);
    let options = ReadOptions { allow_truncated: rng.chance(1, 2) };
    let (packets, error) = read_capture(&bytes[..], options);
    let dribbled = read_capture(Dribble(&bytes, rng.fork()), options);
    assert_eq!(dribbled, (packets.clone(), error.clone()));
    if let Some(error) = &error {
        assert!(error.starts_with("[E01") && error.contains("fuzz: "), "{error}");
    }
    // What was read can be written and comes back.
    let interfaces = packets.iter().map(|p| p.interface as usize + 1).max().unwrap_or(0);
    let names = vec!["x"; interfaces];
    let mut writer = CaptureWriter::new("fuzz", Vec::new(), Format::PcapNg, &names).unwrap();
    packets.iter().for_each(|p| writer.write(p).unwrap());
    let again = writer.into_inner().unwrap();
    assert_eq!(read_capture(&again[..], ReadOptions { allow_truncated: true }), (packets, None));
    error.is_none()
}

#[test]
fn fuzz_pcap() {
    fuzz("fuzz_pcap", |rng| fuzz_capture(Format::Pcap, rng));
}

#[test]
fn fuzz_pcapng() {
    fuzz("fuzz_pcapng", |rng| fuzz_capture(Format::PcapNg, rng));
}

#[test]
fn fuzz_capture_of_noise() {
    const STARTS: [&[u8]; 4] = [
        &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0],
        &[0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 28, 0, 0, 0],
        &[],
    ];
    fuzz("fuzz_capture_of_noise", |rng| {
        let mut bytes = STARTS[rng.index(STARTS.len())].to_vec();
        let len = if rng.chance(1, 8) { 0 } else { rng.index(200) };
        // Mostly small numbers, so that lengths and types are met.
        bytes.extend((0..len).map(|_| if rng.chance(2, 3) { 0 } else { rng.below(40) as u8 }));
        read_capture(&bytes[..], ReadOptions { allow_truncated: true }).1.is_none()
    });
}

const PACKETS: [&str; 8] = [
    "eth/vlan(vid=7)/ipv4(dst=10.1.2.3, ttl=1)/udp(sport=4, dport=5)/payload(len=100, seed=3)",
    "eth(src=02:00:00:00:00:09)/svlan(vid=2)/vlan(pcp=3, dei=1)/arp(op=2, tpa=1.2.3.4)/pad(to=64)",
    "eth/ipv6(src=fe80::1, flow=0xabcde)/hbh(opts=0102)/tcp(flags=SA, opts=020405b4)",
    "eth/ipv6/frag6(off=3, more=1, id=9)/payload(hex=0011)",
    "eth/ipv4(opts=01010101, ihl=3)/icmp(type=0)/payload(text=\"a\\\"\\n\")",
    "eth/ipv4/udp/vxlan(vni=0xffffff)/eth/ipv4/gre/ipv6/icmp6",
    "eth / ipv4 / tcp( seq = 1 )",
    "raw(hex=\"00 11:22\")",
];

const TOKENS: [&str; 40] = [
    "eth",
    "vlan",
    "ipv4",
    "ipv6",
    "udp",
    "tcp",
    "payload",
    "pad",
    "raw",
    "hbh",
    "/",
    "(",
    ")",
    ",",
    "=",
    "...",
    "hex=",
    "len=",
    "seed=",
    "fill=",
    "to=",
    "text=\"",
    "\"",
    "\\",
    "\n",
    "#",
    " ",
    "65535",
    "65536",
    "0x",
    "-1",
    "\u{e9}",
    "\u{1f600}",
    "10.0.0.1",
    "::",
    "02:00:00:00:00:01",
    "opts=",
    "csum=0",
    "4294967296",
    "{",
];

/// Damages text: whole tokens, and single characters.
fn damage_text(text: &str, times: u64, tokens: &[&str], rng: &mut Rng) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..rng.below(times + 1) {
        let at = rng.index(characters.len() + 1);
        let end = (at + rng.index(8)).min(characters.len());
        let token = tokens[rng.index(tokens.len())].chars();
        match rng.below(4) {
            0 => drop(characters.splice(at..at, token)),
            1 => drop(characters.splice(at..end, token)),
            2 => drop(characters.drain(at..end)),
            _ => {
                let piece = characters[at..end].to_vec();
                let to = rng.index(characters.len() + 1);
                characters.splice(to..to, piece);
            }
        }
    }
    characters.into_iter().collect()
}

#[test]
fn fuzz_packet_notation() {
    fuzz("fuzz_packet_notation", |rng| {
        let text = damage_text(PACKETS[rng.index(PACKETS.len())], 4, &TOKENS, rng);
        let pattern = Pattern::parse(&text);
        let Ok(spec) = parse(&text) else { return false };
        assert_eq!(parse(&spec.to_string()).unwrap(), spec, "{text}");
        let bytes = spec.build().unwrap();
        let printed = print_packet(&bytes);
        assert_eq!(packet(&printed).unwrap(), bytes, "{text}\n{printed}");
        assert!(pattern.unwrap().matches(&bytes), "{text}");
        if !bytes.is_empty() {
            let open = Pattern::parse(&format!("{text}/..."));
            assert!(open.is_ok_and(|p| p.matches(&bytes)), "{text}");
        }
        true
    });
}

/// Calls what every view can be asked for.
macro_rules! exercise {
    ($bytes:expr, $($View:ident),*) => {{
        let mut known = false;
        $(if let Ok(mut view) = $View::new_checked($bytes.to_vec()) {
            let _ = format!("{view:?}");
            let _ = (view.header_len(), view.rest().len(), view.rest_mut().len());
            known = true;
        })*
        known
    }};
}

#[test]
fn fuzz_headers() {
    let mixed = mixed_capture(1, &[10], 500);
    fuzz("fuzz_headers", |rng| {
        let mut bytes = match rng.below(3) {
            0 => Malformation::ALL[rng.index(Malformation::ALL.len())].packet(Some(10), rng),
            1 => packet(PACKETS[rng.index(PACKETS.len())]).unwrap(),
            _ => mixed[rng.index(mixed.len())].bytes.clone(),
        };
        let before = bytes.clone();
        damage(&mut bytes, 4, rng);
        let printed = print_packet(&bytes);
        assert_eq!(packet(&printed).unwrap(), bytes, "{printed}");
        assert_eq!(dissect(&bytes).build().unwrap(), bytes);
        assert_eq!(diff(&before, &bytes).is_empty(), before == bytes);
        let _ = (FiveTuple::of(&bytes), untagged(&bytes), vlan_id(&bytes));
        let tail = &bytes[rng.index(bytes.len() + 1)..];
        exercise!(
            tail,
            Ethernet,
            Vlan,
            ServiceVlan,
            Arp,
            Ipv4,
            Ipv6,
            HopByHop,
            DestinationOptions,
            Fragment,
            Tcp,
            Udp,
            Icmp,
            Icmp6,
            Vxlan,
            Gre
        );
        if let Ok(mut ip) = Ipv4::new_checked(tail.to_vec()) {
            let _ = (ip.payload().len(), ip.is_fragment(), ip.checksum_is_valid());
            ip.fill_checksum();
            assert!(ip.checksum_is_valid());
            // A length spoilt after the check may not make any accessor panic.
            ip.set_ihl(rng.below(16) as u8);
            let _ = (ip.header_len(), ip.payload().len(), ip.rest_mut().len());
            ip.fill_checksum();
        }
        if let Ok(ip) = Ipv6::new_checked(tail) {
            let _ = (ip.payload().len(), ip.transport());
        }
        if let Ok(udp) = Udp::new_checked(tail) {
            let _ = udp.payload().len();
        }
        !printed.contains("raw(")
    });
}

const SCRIPT: &str = "\
device any # either
seed 7
nic untagged=drop min_frame=14
tenant red id=3 vlan=7,8 keep_tag rate=10G burst=16k weight=2 limit=100 reserve=20 xdp_work=9 xdp_growth=7 xdp_weight=4 xdp_rows=60 xdp_contexts=2 xdp_memory=3 warp=on xdp_contexts=2 xdp_memory=3
tenant blue id=4 vlan=9
table red key=dmac mask=ff:ff:ff:00:00:00 default=host 1 set_dmac=02:00:00:00:00:09
table blue key=five_tuple mask=src/24,dport,proto default=drop
add red dst=02:00:00:00:00:01 -> multicast port 1,2 host 0 except_ingress
begin blue
add blue 10.0.0.1:80 > 10.0.0.2:90 udp -> port 3
commit blue
replace red {
    table red key=five_tuple default=drop
    del red 10.0.0.1:80 > 10.0.0.2:90 6
}
load blue blue.json
send 0 *3 eth/vlan(vid=7)/ipv4(dst=10.1.2.3, \\
    ttl=1) gap=5
expect port 2 *3 eth/vlan/ipv4/...
expect none
drop *2 reason=runt tenant=system
counter total offered >= 3
wait 5
idle
block port 1
unblock host 1
fault config drop=20% corrupt=0%
";

const SCRIPT_TOKENS: [&str; 36] = [
    "red",
    "blue",
    "green",
    "system",
    "total",
    "port",
    "host",
    "drop",
    "multicast",
    "->",
    ">",
    "{",
    "}",
    "replace",
    "begin ",
    "commit red\n",
    "commit blue\n",
    "\n",
    "\\\n",
    "\\",
    "#",
    " ",
    "*2",
    "...",
    "=",
    ",",
    "/",
    "4096",
    "-1",
    "1_0",
    "0x",
    "key=dmac ",
    "default=drop",
    "\u{e9}",
    "\r\n",
    "send 0 eth\n",
];

#[test]
fn fuzz_script() {
    let lines: Vec<&str> = SCRIPT.split_inclusive('\n').collect();
    fuzz("fuzz_script", |rng| {
        let text = if rng.chance(1, 3) {
            let picked: Vec<&str> = (0..rng.below(12)).map(|_| lines[rng.index(lines.len())]).collect();
            damage_text(&picked.concat(), 2, &SCRIPT_TOKENS, rng)
        } else {
            damage_text(SCRIPT, 3, &SCRIPT_TOKENS, rng)
        };
        let script = match Script::parse("fuzz.pkt", &text) {
            Ok(script) => script,
            Err(error) => {
                let shown = error.to_string();
                assert!(shown.starts_with("error[E01") && shown.contains("fuzz.pkt:"), "{shown}");
                return false;
            }
        };
        // The texts of the statements are a script of their own that says the same.
        let texts: Vec<&str> = script.statements.iter().map(|s| s.text.as_str()).collect();
        let again = Script::parse("fuzz.pkt", &texts.join("\n")).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let commands = |s: &Script| {
            // Settings hold their position, which has moved.
            let shown = s.statements.iter().map(|s| format!("{:?}", s.command));
            shown.filter(|s| !s.starts_with("Nic")).collect::<Vec<_>>()
        };
        assert_eq!(commands(&again), commands(&script), "{text}");
        true
    });
}

#[test]
fn fuzz_generator() {
    fuzz("fuzz_generator", |rng| {
        let odd = |rng: &mut Rng| {
            const SOME: [u64; 8] = [0, 1, 2, 60, 1514, 65_549, 65_550, u64::MAX];
            SOME[rng.index(SOME.len())]
        };
        let sizes = match rng.below(4) {
            0 => Sizes::Fixed(odd(rng) as usize),
            1 => Sizes::List((0..rng.below(3)).map(|_| odd(rng) as usize).collect()),
            2 => Sizes::Uniform { min: odd(rng) as usize, max: odd(rng) as usize },
            _ => Sizes::Imix,
        };
        let gaps = match rng.below(4) {
            0 => Gaps::BackToBack,
            1 => Gaps::Fixed(odd(rng)),
            2 => Gaps::Uniform { min: odd(rng), max: odd(rng) },
            _ => Gaps::Bursts { packets: odd(rng), gap: odd(rng) },
        };
        let vlans = (0..rng.below(4)).map(|_| rng.chance(2, 3).then(|| rng.below(4100) as u16)).collect();
        let traffic = Traffic {
            sizes,
            gaps,
            flows: rng.below(20) as usize,
            order: if rng.chance(1, 2) { FlowOrder::Zipf } else { FlowOrder::RoundRobin },
            vlans,
            malformed: (rng.below(3), rng.below(4)),
            rate: odd(rng),
            start: odd(rng),
        };
        let Ok(generator) = Generator::new(rng.next_u64(), traffic) else { return false };
        let packets: Vec<_> = generator.take(10).collect();
        assert_eq!(packets.len(), 10);
        assert!(packets.windows(2).all(|w| w[0].packet.stamp <= w[1].packet.stamp));
        true
    });
}
