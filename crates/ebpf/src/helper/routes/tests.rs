use super::error::Mistake;
use super::*;
use sluice_formats::random::{Rng, test_seed};

const FILE: &str = "
# A router with two interfaces.
link eth1 index 1 address 02:00:00:00:00:01 mtu 1500
link eth2 index 2 address 2:0:0:0:0:2 mtu 9000 forwarding ipv4
default via 10.1.1.2 dev eth1
10.0.0.0/8 dev eth2 scope link
10.8.0.0/16 via 10.1.1.2 dev eth1 metric 20
10.8.0.0/16 via 10.1.1.3 dev eth1 metric 10
blackhole 10.9.0.0/16
fd00::/8 via fd01::2 dev eth1
default via fd01::3 dev eth2
10.1.1.2 dev eth1 lladdr 02:00:00:00:01:02 REACHABLE
neigh fd01::2 dev eth1 lladdr 02:00:00:00:01:03
10.1.1.3 dev eth1 FAILED
";

fn gateway(routes: &Routes, to: &str) -> Option<String> {
    let route = routes.lookup(MAIN, (to.parse().unwrap(), 128), 0, &|_| true)?;
    Some(route.gateway.map_or(format!("{:?} {}", route.kind, route.interface), |g| g.to_string()))
}

#[test]
fn the_longest_prefix_with_the_lowest_metric_wins() {
    let routes = Routes::parse(FILE).unwrap();
    let to = |address| gateway(&routes, address);
    assert_eq!(to("8.8.8.8").as_deref(), Some("10.1.1.2"));
    assert_eq!(to("10.7.0.1").as_deref(), Some("Unicast 2"));
    assert_eq!(to("10.8.0.1").as_deref(), Some("10.1.1.3"));
    assert_eq!(to("10.9.255.255").as_deref(), Some("Blackhole 0"));
    assert_eq!(to("fdff::1").as_deref(), Some("fd01::2"));
    assert_eq!(to("2001::1").as_deref(), Some("fd01::3"));
    assert_eq!(routes.lookup(77, ("8.8.8.8".parse().unwrap(), 32), 0, &|_| true), None);
    assert_eq!(routes.neighbour(1, "10.1.1.2".parse().unwrap()), Some([2, 0, 0, 0, 1, 2]));
    assert_eq!(routes.neighbour(1, "10.1.1.3".parse().unwrap()), None);
    assert_eq!(routes.neighbour(2, "10.1.1.2".parse().unwrap()), None);
    assert_eq!(routes.link(2).unwrap().forwarding, [true, false]);
    assert_eq!(routes.link(2).unwrap().address, [2, 0, 0, 0, 0, 2]);
}

#[test]
fn mistakes_have_their_place() {
    let links = "link eth1 index 1\n";
    let cases = [
        ("10.8.0.0/16 via 10.1.1.2", Mistake::Missing, 25),
        ("10.8.0.0/33 dev eth1", Mistake::Value, 1),
        ("10.8.0.0/16 dev eth9", Mistake::Interface, 17),
        ("  10.8.0.0/16 dev eth1 speed 3", Mistake::Word, 24),
        ("10.8.0.0/16 nexthop via 10.1.1.2", Mistake::Word, 13),
        ("10.8.0.0/16 encap mpls 3", Mistake::Word, 13),
        ("fd00::/8 via 10.1.1.2 dev eth1", Mistake::Value, 1),
        ("10.0.0.0/8 dev eth1 src fd00::1", Mistake::Value, 1),
        ("10.8.0.0/16 dev eth1 metric -1", Mistake::Value, 29),
        ("10.8.0.0/16 dev eth1 metric 4294967296", Mistake::Value, 29),
        ("10.8.0.0/16 dev eth1 metric", Mistake::Missing, 28),
        ("hello", Mistake::Word, 1),
        ("route", Mistake::Missing, 6),
        ("link eth1 index 2", Mistake::Twice, 6),
        ("link eth2 index 1", Mistake::Twice, 6),
        ("link eth2 index 0", Mistake::Value, 17),
        ("link eth2", Mistake::Missing, 10),
        ("link eth2 index 2 forwarding maybe", Mistake::Word, 30),
        ("10.1.1.2 dev eth1 lladdr 02:00", Mistake::Value, 26),
        ("10.1.1.2 dev eth1 lladdr 02:00:00:00:00:01:02", Mistake::Value, 26),
        ("neigh 10.1.1.2 dev eth1", Mistake::Missing, 24),
        ("neigh 10.1.1.2/24 dev eth1 lladdr 2:0:0:0:0:1", Mistake::Value, 7),
        ("inet 10.0.0.1/8", Mistake::Word, 1),
        ("link/ether 02:00:00:00:00:01", Mistake::Word, 1),
        ("forwarding eth1 on off", Mistake::Word, 20),
        ("forwarding eth7 on", Mistake::Interface, 12),
        ("99999999999: eth1: mtu 5", Mistake::Value, 1),
    ];
    for (line, mistake, column) in cases {
        let error = Routes::parse(&format!("{links}{line}\n")).expect_err(line);
        assert_eq!((error.mistake, error.line, error.column), (mistake, 2, column), "{line}: {error}");
        assert!(!error.found.is_empty() && !error.allowed.is_empty());
        assert!(error.code() >= "E0460" && error.code() <= "E0465");
    }
    let twice = "link a index 1\nneigh 1.1.1.1 dev a lladdr 2:0:0:0:0:1\nneigh 1.1.1.1 dev a FAILED";
    assert_eq!(Routes::parse(twice).unwrap_err().mistake, Mistake::Twice);
    let many = "throw 1.1.1.1\n".repeat(MAX_ENTRIES + 1);
    let error = Routes::parse(&many).unwrap_err();
    assert_eq!((error.mistake, error.line), (Mistake::TooMany, MAX_ENTRIES + 1));
}

#[test]
fn links_from_outside_are_known_unless_the_file_has_its_own() {
    let link = |name: &str, index| Link {
        name: name.into(),
        index,
        address: [2; 6],
        mtu: 1500,
        forwarding: [true; 2],
        addresses: Vec::new(),
    };
    let links = [link("eth1", 1), link("eth2", 2)];
    let routes = Routes::parse_with(&links, "link eth2 index 5\ndefault dev eth1\n10.0.0.0/8 dev eth2").unwrap();
    assert_eq!(gateway(&routes, "8.8.8.8").as_deref(), Some("Unicast 1"));
    assert_eq!(gateway(&routes, "10.8.8.8").as_deref(), Some("Unicast 5"));
}

#[test]
fn broken_files_give_errors_and_no_panic() {
    let seed = test_seed("routes_broken");
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let words: Vec<&str> =
        FILE.split_whitespace().chain(["é", "via", "inet", "\\", "1:", "/", ":", "mtu", "lock"]).collect();
    for _ in 0..2000 {
        let mut text = FILE.as_bytes().to_vec();
        match rng.below(3) {
            0 => text.truncate(rng.index(text.len())),
            1 => {
                let at = rng.index(text.len());
                text[at] = rng.next_u32() as u8;
            }
            _ => {
                text.clear();
                for _ in 0..rng.below(30) {
                    text.extend(words[rng.index(words.len())].bytes());
                    text.push(b" \n"[usize::from(rng.below(6) == 0)]);
                }
            }
        }
        if let Err(error) = Routes::parse(&String::from_utf8_lossy(&text)) {
            assert!(error.line >= 1 && error.column >= 1, "{error}");
        }
    }
}

#[test]
fn what_is_said_twice_in_a_line_and_bits_behind_a_prefix_are_told() {
    let link = "link a index 1\n";
    for (line, code, column) in [
        ("link b index 2 mtu 1500 mtu 1600", "E0464", 25),
        ("link b index 2 index 3", "E0464", 16),
        ("10.0.0.0/24 dev a metric 1 metric 2", "E0464", 28),
        ("10.0.0.0/24 via 10.0.0.1 via 10.0.0.2 dev a", "E0464", 26),
        ("10.0.0.0/24 dev a dev a", "E0464", 19),
        ("10.0.0.9 dev a lladdr 02:00:00:00:00:01 REACHABLE STALE", "E0464", 51),
        ("10.0.0.1/24 dev a", "E0461", 1),
        ("fd00::1/64 dev a", "E0461", 1),
    ] {
        let error = Routes::parse(&format!("{link}{line}\n")).expect_err(line);
        assert_eq!((error.code(), error.line, error.column), (code, 2, column), "{line}: {error}");
    }
    // What `ip` prints may have the same word for two things.
    for line in ["10.0.0.0/24 dev a proto kernel scope link src 10.0.0.1", "10.0.0.1/32 dev a", "default dev a"] {
        Routes::parse(&format!("{link}{line}\n")).unwrap_or_else(|e| panic!("{line}: {e}"));
    }
}
