//! Random routes and frames whose programs ask for them, for tests of every device.

use sluice_formats::random::Rng;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of the frame that tell the call what to do, and behind them the parameters.
const FLAGS: usize = 14;
const SIZE: usize = 18;
const PARAMS: usize = 22;

/// Copies the parameters to the stack, calls, and puts result and parameters back.
pub const ASK_ROUTES: &str = "r6 = r1\nr1 = r6\nr2 = 22\nr3 = r10\nr3 += -64\nr4 = 64\ncall bpf_xdp_load_bytes\nr7 = *(u32 *)(r6 +0)\nr8 = *(u32 *)(r6 +4)\n\
    r0 = r7\nr0 += 86\nif r0 > r8 goto end\nr1 = r6\nr2 = r10\nr2 += -64\nr3 = *(u32 *)(r7 +18)\nr4 = *(u32 *)(r7 +14)\ncall CALLED\n\
    *(u64 *)(r7 +0) = r0\n\
    r1 = r6\nr2 = 22\nr3 = r10\nr3 += -64\nr4 = 64\ncall bpf_xdp_store_bytes\nend:\nr0 = 2\nexit\n";

/// The same of a length that lies in front of the parameters.
pub const ASK_LENGTH: &str = "r6 = r1\nr7 = *(u32 *)(r6 +0)\nr8 = *(u32 *)(r6 +4)\nr0 = r7\nr0 += 86\nif r0 > r8 goto end\nr1 = *(u32 *)(r7 +22)\n\
    *(u32 *)(r10 -4) = r1\nr1 = r6\nr2 = *(u32 *)(r7 +30)\nr3 = r10\nr3 += -4\nr4 = *(u32 *)(r7 +18)\nr5 = *(u32 *)(r7 +14)\nr5 >>= 3\ncall CALLED\n\
    *(u64 *)(r7 +0) = r0\nr1 = *(u32 *)(r10 -4)\n*(u32 *)(r7 +8) = r1\nend:\nr0 = 2\nexit\n";

/// Interfaces by number.
const LINKS: [u32; 4] = [1, 77, 2, 5];

/// Addresses close to each other, so that routes meet them.
fn address(rng: &mut Rng, v6: bool) -> String {
    let (a, b, c) = (rng.below(2), rng.below(2) * 64, 1 + rng.below(3));
    match v6 {
        false => format!("10.{a}.{b}.{c}"),
        true if rng.chance(1, 12) => ["ff02::1", "fe80::1", "::1", "fec0::1", "::2"][rng.index(5)].to_owned(),
        true => format!("fd{a:02x}:{b}::{c}"),
    }
}

/// A file of routes in which everything stands that lookups look at.
pub fn file(rng: &mut Rng) -> String {
    let (mut text, mut known) = (String::new(), BTreeSet::new());
    let links = 1 + rng.below(4);
    for n in 1..=links {
        let forwarding = ["on", "on", "on", "on", "on", "off", "ipv4", "ipv6"][rng.index(8)];
        let mtu = [500, 1000, 1280, 1500, 9000, 65_535, 70_000][rng.index(7)];
        text += &format!("{}: eth{n}: <UP> mtu {mtu}\n    link/ether 02:00:00:00:00:0{n}\n", LINKS[n as usize - 1]);
        for _ in 0..rng.below(6) {
            let v6 = rng.chance(2, 3);
            let (word, length) =
                if v6 { ("inet6", [64, 128, 10, 20][rng.index(4)]) } else { ("inet", [24, 16][rng.index(2)]) };
            let own = if rng.chance(1, 6) && v6 { format!("fe80::{n}") } else { address(rng, v6) };
            if known.insert(own.clone()) {
                text += &format!("    {word} {own}/{length} scope global eth{n}\n");
            }
        }
        text += &format!("forwarding eth{n} {forwarding}\n");
    }
    for _ in 0..rng.below(14) {
        let v6 = rng.chance(1, 2);
        let (bits, dev) = (if v6 { 128 } else { 32 }, 1 + rng.below(links));
        let length = [0, 8, 9, 16, 24, 25, bits][rng.index(7)].min(bits);
        let kind = ["", "", "", "", "blackhole ", "unreachable ", "prohibit ", "throw ", "local "][rng.index(9)];
        let prefix = match address(rng, v6).parse::<IpAddr>().unwrap() {
            IpAddr::V4(a) => {
                let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
                Ipv4Addr::from_bits(a.to_bits() & mask).to_string()
            }
            IpAddr::V6(a) => {
                let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
                Ipv6Addr::from_bits(a.to_bits() & mask).to_string()
            }
        };
        text += &format!("{kind}{prefix}/{length}");
        if kind.is_empty() {
            if rng.chance(1, 2) {
                let other = !v6 && rng.chance(1, 6);
                text += &format!(" via {}{}", if other { "inet6 " } else { "" }, address(rng, v6 || other));
            }
            text += &format!(" dev eth{dev}");
            if rng.chance(1, 4) {
                text += &format!(" src {}", address(rng, v6));
            }
            if rng.chance(1, 4) {
                text += &format!(" mtu lock {}", [0, 900, 1400, 66_000][rng.index(4)]);
            }
        }
        let table = ["", "", "", "", " table 77", " table 253", " table 255", " table 4000000000"][rng.index(8)];
        let tos = if v6 { "" } else { ["", "", "", " tos 0x10", " tos 0x20", " tos 0x3"][rng.index(6)] };
        text += &format!(" metric {}{table}{tos}\n", rng.below(3));
    }
    for _ in 0..rng.below(40) {
        let v6 = rng.chance(1, 2);
        let near = format!("{} dev eth{}", address(rng, v6), 1 + rng.below(links));
        if known.insert(near.clone()) {
            text += &format!("{near} lladdr 02:00:00:00:01:0{}\n", rng.below(9));
        }
    }
    text
}

/// A frame that asks for a route.
pub fn frame(rng: &mut Rng) -> Vec<u8> {
    let mut frame = rng.bytes(96);
    let mut put = |at: usize, bytes: &[u8]| frame[at..at + bytes.len()].copy_from_slice(bytes);
    let flags = if rng.chance(1, 30) { rng.next_u32() } else { rng.below(64) as u32 & rng.next_u32() };
    let size = if rng.chance(1, 30) { [63, 65, 0, 0x8000_0040, 1 << 16][rng.index(5)] } else { 64u32 };
    put(FLAGS, &flags.to_le_bytes());
    put(SIZE, &size.to_le_bytes());
    let v6 = rng.chance(1, 2);
    put(PARAMS, &[if rng.chance(1, 30) { 7 } else { [2, 10][usize::from(v6)] }]);
    let length = [0, 500, 899, 900, 901, 1280, 1281, 1400, 1500, 1501, 9001, 65_535][rng.index(12)] as u16;
    put(PARAMS + 6, &length.to_le_bytes());
    let most = rng.range(1, 4) as usize;
    let ifindex = if rng.chance(1, 20) { 3 } else { LINKS[rng.index(most)] };
    put(PARAMS + 8, &ifindex.to_le_bytes());
    put(PARAMS + 12, &[[0, 0x10, 0x13, 0x20, 3, 0xff][rng.index(6)]]);
    for at in [16, 32] {
        let text = address(rng, v6);
        match text.parse::<IpAddr>().unwrap() {
            IpAddr::V4(a) => put(PARAMS + at, &a.octets()),
            IpAddr::V6(a) => put(PARAMS + at, &a.octets()),
        }
    }
    put(PARAMS + 48, &[0u32, 77, 253, 254, 255, 1, 4_000_000_000][rng.index(7)].to_le_bytes());
    frame
}

/// A frame that asks for a length.
pub fn length_frame(rng: &mut Rng) -> Vec<u8> {
    let mut frame = frame(rng);
    let mut put = |at: usize, number: u32| frame[at..at + 4].copy_from_slice(&number.to_le_bytes());
    put(PARAMS, [0, 0, 1, 500, 986, 1499, 1500, 1501, 8999, 9001, 65_536, u32::MAX, 0x7fff_ffff][rng.index(13)]);
    put(PARAMS + 8, [0, 0, 77, 1, 2, 5, 99][rng.index(7)]);
    put(FLAGS, if rng.chance(1, 10) { 8 } else { 0 });
    put(SIZE, [0, 0, 1, 4, 400, u32::MAX, 0x7fff_ffff, 0x8000_0000][rng.index(8)]);
    frame
}
