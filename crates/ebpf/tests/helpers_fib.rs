//! `fib_lookup` and `check_mtu` against the kernel in a network namespace of their own: what `ip`
//! prints there is the routes file here.

use crate::helpers_support::{Asm, Pair, skipped};
use sluice_ebpf::helper::routes::Routes;
use sluice_formats::random::{Rng, test_seed};
use std::process::Command;

/// Set in the process that runs in the namespace.
const INSIDE: &str = "SLUICE_TEST_IN_NAMESPACE";

const SETUP: &str = "
link set lo up
link add eth1 address 02:00:00:00:01:01 type veth peer name eth1p
link add eth2 address 02:00:00:00:02:01 type veth peer name eth2p
link add eth3 address 02:00:00:00:03:01 mtu 1280 type veth peer name eth3p
link set eth1 up
link set eth1p up
link set eth2 mtu 1400 up
link set eth2p up
link set eth3 up
link set eth3p up
addr add 10.1.1.1/24 dev eth1
addr add 10.1.1.7/24 dev eth1
addr add 10.2.0.1/16 dev eth2
addr add fd01::1/64 dev eth1 nodad
addr add fd02::1/64 dev eth2 nodad
addr add fd03::1/64 dev eth3 nodad
route add 10.8.0.0/16 via 10.1.1.2
route add 10.8.1.0/24 via 10.2.0.2 metric 5
route add 10.8.1.0/24 via 10.1.1.2 metric 50
route add 10.8.2.0/24 via 10.1.1.2 src 10.1.1.7
route add 10.8.3.0/24 via 10.1.1.2 mtu lock 1000
route add 10.8.4.0/24 via 10.1.1.2 mtu 1000
route add 10.8.5.0/24 dev eth3
route add 10.8.6.0/24 tos 0x10 via 10.2.0.2
route add 10.8.7.0/24 via inet6 fd02::2 dev eth2
route add 10.8.8.0/24 via 10.2.0.99
route add blackhole 10.9.0.0/16
route add unreachable 10.9.1.0/24
route add prohibit 10.9.2.0/24
route add throw 10.9.3.0/24
route add 10.77.0.0/16 via 10.2.0.2 table 77
route add default via 10.2.0.2 metric 100
-6 route add fd08::/32 via fd01::2
-6 route add fd08:1::/64 via fd02::2 metric 5
-6 route add fd08:1::/64 via fd01::2 metric 50
-6 route add fd08:2::/64 via fd01::2 src fd01::1
-6 route add fd08:3::/64 via fd01::2 mtu lock 1300
-6 route add fd08:4::/64 via fd01::2 mtu 1300
-6 route add fd08:5::/64 dev eth3
-6 route add fd08:8::/64 via fd02::99
-6 route add blackhole fd09::/32
-6 route add unreachable fd09:1::/64
-6 route add prohibit fd09:2::/64
-6 route add fd77::/32 via fd02::2 table 77
-6 route add default via fd02::2
neigh add 10.1.1.2 lladdr 02:00:00:00:01:02 dev eth1
neigh add 10.2.0.2 lladdr 02:00:00:00:02:02 dev eth2 nud stale
neigh add 10.8.5.9 lladdr 02:00:00:00:03:09 dev eth3 nud permanent
neigh add fd01::2 lladdr 02:00:00:00:01:02 dev eth1
neigh add fd02::2 lladdr 02:00:00:00:02:02 dev eth2 nud permanent
neigh add fd08:5::9 lladdr 02:00:00:00:03:09 dev eth3 nud permanent
";

const V4: [&str; 26] = [
    "10.1.1.2",
    "10.1.1.1",
    "10.1.1.3",
    "10.1.1.255",
    "10.2.0.2",
    "10.2.255.255",
    "10.8.0.1",
    "10.8.1.1",
    "10.8.2.1",
    "10.8.3.1",
    "10.8.4.1",
    "10.8.5.9",
    "10.8.5.8",
    "10.8.6.1",
    "10.8.7.1",
    "10.8.8.1",
    "10.9.0.1",
    "10.9.1.1",
    "10.9.2.1",
    "10.9.3.1",
    "10.77.1.1",
    "8.8.8.8",
    "127.0.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "0.0.0.0",
];
const V6: [&str; 21] = [
    "fd01::2",
    "fd01::1",
    "fd01::3",
    "fd02::2",
    "fd08::1",
    "fd08:1::1",
    "fd08:2::1",
    "fd08:3::1",
    "fd08:4::1",
    "fd08:5::9",
    "fd08:5::8",
    "fd08:8::1",
    "fd09::1",
    "fd09:1::1",
    "fd09:2::1",
    "fd77::1",
    "2001:db8::1",
    "::1",
    "ff02::1",
    "fe80::5",
    "::",
];

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let out = Command::new(program).args(arguments).output().map_err(|e| format!("{program}: {e}"))?;
    if out.status.success() {
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    } else {
        Err(format!("{program} {}: {}", arguments.join(" "), String::from_utf8_lossy(&out.stderr)))
    }
}

#[test]
fn lookups_are_the_kernels_on_what_ip_prints() {
    if skipped() {
        return;
    }
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    for (program, arguments) in [("ip", ["-V", "-V"]), ("unshare", ["-n", "true"])] {
        if let Err(reason) = run(program, &arguments) {
            println!("skipped: {reason}");
            return;
        }
    }
    let this = std::env::current_exe().expect("the test's own path");
    let out = Command::new("unshare")
        .arg("-n")
        .arg(this)
        .args(["--exact", "helpers_fib::lookups_are_the_kernels_on_what_ip_prints", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&out.stdout);
    println!("{text}");
    // A name that no test has would pass, too.
    let ran = out.status.success() && text.contains("1 passed");
    assert!(ran, "{}", String::from_utf8_lossy(&out.stderr));
}

fn inside() {
    for line in SETUP.lines().filter(|l| !l.is_empty()) {
        run("ip", &line.split(' ').collect::<Vec<_>>()).expect("set up");
    }
    let mut text = String::new();
    for (name, v4, v6) in
        [("eth1", "1", "1"), ("eth2", "1", "1"), ("eth3", "1", "0"), ("eth1p", "0", "1"), ("lo", "0", "0")]
    {
        std::fs::write(format!("/proc/sys/net/ipv4/conf/{name}/forwarding"), v4).expect("forwarding");
        std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/forwarding"), v6).expect("forwarding");
        let word = [["off", "ipv6"], ["ipv4", "on"]][usize::from(v4 == "1")][usize::from(v6 == "1")];
        text += &format!("forwarding {name} {word}\n");
    }
    for name in ["eth2p", "eth3p"] {
        text += &format!("forwarding {name} off\n");
    }
    text += &run("ip", &["addr", "show"]).unwrap();
    text += &run("ip", &["-4", "route", "show", "table", "all"]).unwrap();
    text += &run("ip", &["-6", "route", "show", "table", "all"]).unwrap();
    text += &run("ip", &["neigh", "show"]).unwrap();
    let routes = Routes::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    lookups(&routes, &text);
    lengths(&routes);
}

fn lookups(routes: &Routes, text: &str) {
    let seed = test_seed("helpers_fib");
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    // The parameters come from the frame and go back to it.
    let program = |plen: i32, flags: i32| {
        let asm = Asm::default().mov_reg(6, 1).bytes(3, 64, &[0; 64]).mov(2, 14).mov(4, 64).call(189);
        let asm = asm.mov_reg(1, 6).mov_reg(2, 10).add(2, -64).mov(3, plen).mov(4, flags).call(69).mov_reg(7, 0);
        asm.mov_reg(1, 6).mov(2, 14).mov_reg(3, 10).add(3, -64).mov(4, 64).call(190).mov_reg(0, 7).exit()
    };
    let mut programs: Vec<_> = (0..64).map(|flags| program(64, flags).program(&format!("flags{flags}"))).collect();
    programs.push(program(63, 0).program("short"));
    programs.push(program(64, 64).program("unknown"));
    let count = programs.len();
    let mut pair = Pair::new(programs, Vec::new());
    pair.ours.world.routes = routes.clone();
    let mut results = std::collections::BTreeMap::<i64, u32>::new();
    for round in 0..20_000 {
        let mut params = [0u8; 64];
        let v6 = rng.below(2) == 1;
        params[0] = if rng.below(50) == 0 { 7 } else { [2, 10][usize::from(v6)] };
        let length = [0, 60, 999, 1000, 1001, 1280, 1281, 1300, 1301, 1400, 1401, 1500, 1501, 65535][rng.index(14)];
        params[6..8].copy_from_slice(&(length as u16).to_le_bytes());
        let ifindex = if rng.below(8) == 0 { rng.below(12) as u32 } else { [3, 5, 7][rng.index(3)] };
        params[8..12].copy_from_slice(&ifindex.to_le_bytes());
        params[12] = [0, 0, 0x10, 0x13, 0x20][rng.index(5)];
        if v6 {
            let mut put = |at: usize, text: &str| {
                params[at..at + 16].copy_from_slice(&text.parse::<std::net::Ipv6Addr>().unwrap().octets());
            };
            put(16, if rng.below(10) == 0 { V6[rng.index(V6.len())] } else { "fd55::1" });
            put(32, V6[rng.index(V6.len())]);
        } else {
            let mut put = |at: usize, text: &str| {
                params[at..at + 4].copy_from_slice(&text.parse::<std::net::Ipv4Addr>().unwrap().octets());
            };
            put(16, if rng.below(10) == 0 { V4[rng.index(V4.len())] } else { "10.55.0.1" });
            put(32, V4[rng.index(V4.len())]);
        }
        params[48..52].copy_from_slice(&[0u32, 77, 78, 254, 255, 253, 1][rng.index(7)].to_le_bytes());
        params[52..64].fill(round as u8 & 3);
        let program = if rng.below(3) == 0 { 0 } else { rng.index(count) };
        let frame = [&[0; 14], &params[..]].concat();
        let to = if v6 { format!("{:x?}", &params[32..48]) } else { format!("{:?}", &params[32..36]) };
        let what = format!("program {program}, from {ifindex} to {to}, {params:?}\n{text}");
        let out = pair.run(program, &frame, &what);
        *results.entry(out.r0 as i64).or_default() += 1;
    }
    println!("results: {results:?}");
    for result in [0, 1, 2, 3, 4, 5, 7, 8, -22, -19, -97] {
        assert!(results.contains_key(&result), "no lookup gave {result}");
    }
}

fn lengths(routes: &Routes) {
    for ifindex in [0, 1, 3, 5, 7, 99, -1] {
        for asked in [0, 1, 1279, 1280, 1281, 1399, 1400, 1401, 1500, 1501, -1, i32::MAX] {
            for diff in [0, 1, -1, 1336, 1337, 1436, 1437, i32::MAX, i32::MIN] {
                for flags in [0, 1] {
                    let asm = Asm::default().store_imm(4, 10, -4, asked).mov(2, ifindex).mov_reg(3, 10).add(3, -4);
                    let asm = asm.mov(4, diff).mov(5, flags).call(163).load(4, 1, 10, -4);
                    let asm = asm.raw(0x27, 0, 0, 0, 100_000).raw(0x0f, 0, 1, 0, 0).exit();
                    let mut pair = Pair::one(asm);
                    pair.ours.world.routes = routes.clone();
                    pair.run(0, &[3; 64], &format!("check_mtu({ifindex}, {asked}, {diff}, {flags})"));
                }
            }
        }
    }
}
