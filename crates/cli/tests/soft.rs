//! The target of software alone: a program with more routes than hardware has rows, and who takes its name.

use super::common::{Folder, root};

const ROUTES: u32 = 1024;

/// Prefix, its length, and the port of route `n`: four lengths, those of one /16 within each other.
fn route(n: u32) -> (u32, u32, u32) {
    let length = [24, 20, 18, 16][n as usize % 4];
    let address = 0x0a00_0000 | (n / 4) << 16 | 0x8080;
    (address >> (32 - length) << (32 - length), length, n % 3 + 1)
}

/// An address that only route `n` has of those with as long or longer a prefix.
fn address(n: u32) -> u32 {
    let (prefix, length, _) = route(n);
    // Behind the bits of the prefix, where the next longer one differs.
    match length {
        24 => prefix | 7,
        20 => prefix | 0x0207,
        18 => prefix | 0x2007,
        _ => prefix | 0x0107,
    }
}

fn entries() -> String {
    let line = |n| {
        let (prefix, length, port) = route(n);
        format!("add routes hdr.ipv4.dst:{prefix:#010x}/{length} forward(next_hop:{:#014x}, port:{port})\n", hop(n))
    };
    (0..ROUTES).map(line).collect()
}

fn hop(n: u32) -> u64 {
    0x0200_0000_0000 | u64::from(n)
}

fn mac(n: u64) -> String {
    n.to_be_bytes()[2..].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

fn packet(to: String, from: &str, ttl: u8, address: u32) -> String {
    let [a, b, c, d] = address.to_be_bytes();
    format!("eth(src={from}, dst={to})/vlan(vid=30)/ipv4(src=10.0.9.9, dst={a}.{b}.{c}.{d}, ttl={ttl})/udp")
}

fn script() -> String {
    let mut text = String::from("device any\ntenant blue id=3 vlan=30 to=port0,port1,port2,port3\n");
    text += "rmt blue basic.p4 entries=a.entries\n";
    for n in 0..ROUTES {
        let own = "02:00:00:00:00:fe";
        text += &format!("send 0 {}\n", packet(own.to_owned(), "02:00:00:00:00:aa", 64, address(n)));
        text += &format!("expect port {} {}\n", route(n).2, packet(mac(hop(n)), own, 63, address(n)));
    }
    text
}

fn folder() -> Folder {
    let f = Folder::new();
    f.write("basic.p4", std::fs::read_to_string(root().join("programs/p4/basic.p4")).unwrap());
    f.write("a.entries", entries());
    f
}

#[test]
fn a_thousand_routes_of_one_tenant_are_each_hit_on_both_software_nics() {
    let f = folder();
    f.write("a.pkt", script());
    for device in ["model", "dataplane"] {
        f.sluice(&["script", "a.pkt", "--target", "soft", "--device", device]).ok();
    }
    // One route less is one packet less: the test sees each of them.
    let all = entries();
    f.write("a.entries", all.lines().filter(|line| !line.contains("0x0a5a8000/24")).collect::<Vec<_>>().join("\n"));
    let called = f.sluice(&["script", "a.pkt", "--target", "soft", "--device", "dataplane"]);
    assert_eq!(called.code, 1, "{}{}", called.out, called.err);
}

#[test]
fn rtl_devices_refuse_the_target_by_its_name() {
    let f = folder();
    f.write("a.pkt", script());
    for device in ["rtl", "both"] {
        let called = f.sluice(&["script", "a.pkt", "--target", "soft", "--device", device]);
        assert_eq!(called.code, 2, "{}", called.out);
        assert!(called.err.contains("--target soft: no RTL has it"), "{}", called.err);
    }
}
