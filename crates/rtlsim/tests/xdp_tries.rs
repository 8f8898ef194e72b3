//! LPM tries of programs in hardware: with the entries that a load brings, the host's changes and replacements, in lockstep.

use crate::support;
use crate::xdp::device::{Nic, frame, object};
use sluice_device::Device;
use sluice_ebpf::image::map_flags::NO_PREALLOC;
use sluice_ebpf::{MapSpec, MapType};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY;
use sluice_object::Object;
use sluice_object::xdp::XdpEntry;
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};

/// Looks the four bytes behind the type up, and sends the frame back with the number that it finds; drops it without one.
const ROUTE: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 26\nr0 = 1\nif r3 > r2 goto out\n*(u32 *)(r10 -8) = 32\n\
    r1 = *(u32 *)(r6 +14)\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -8\nr1 = map[routes]\ncall bpf_map_lookup_elem\nif r0 == 0 goto drop\n\
    r1 = *(u64 *)(r0 +0)\n*(u64 *)(r6 +18) = r1\nr0 = 3\nexit\ndrop:\nr0 = 1\nout:\nexit\n";

/// A prefix and its number.
type Route = (u32, [u8; 4], u64);

fn key(bits: u32, address: [u8; 4]) -> Vec<u8> {
    [bits.to_le_bytes(), address].concat()
}

fn router(routes: &[Route], keep: &[&str]) -> Object {
    let trie = MapSpec { flags: NO_PREALLOC, ..MapSpec::new("routes", MapType::LpmTrie, 8, 8, 8) };
    let mut object = object("router", ROUTE, vec![trie], keep);
    let entry = |(bits, address, number): &Route| XdpEntry {
        map: 0,
        key: key(*bits, *address),
        value: number.to_le_bytes().to_vec(),
    };
    object.parts.xdp.as_mut().unwrap().entries = routes.iter().map(entry).collect();
    object
}

/// Sends a packet to each address: the numbers that they come back with, 0 where they are dropped.
fn found(nic: &mut Nic<Comparison>, addresses: &[[u8; 4]]) -> Vec<u64> {
    let frames = addresses.iter().map(|address| frame(1, address[0], &[&address[1..], &[0; 40]].concat()));
    nic.offer(0, frames.collect::<Vec<_>>());
    let mut outcomes = nic.ended();
    outcomes.sort_by_key(|outcome| outcome.id);
    let number = |bytes: &[u8]| bytes.get(22..30).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap()));
    outcomes.iter().map(|outcome| number(&outcome.bytes)).collect()
}

#[test]
fn a_trie_begins_with_the_entries_of_its_load() {
    let name = "a_trie_begins_with_the_entries_of_its_load";
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    let options = RtlOptions { top: &top::XDP, seed: test_seed(name), check_accounting: true, ..RtlOptions::default() };
    let mut nic = Nic::new(Comparison::open(TINY.name, options, support::waves_folder()).unwrap());
    // A prefix that comes again has its last number, in a slot of its own.
    let routes = [
        (8, [10, 0, 0, 0], 2),
        (16, [10, 1, 0, 0], 3),
        (0, [0; 4], 1),
        (16, [10, 1, 9, 9], 4),
        (32, [10, 1, 2, 3], 5),
        (9, [192, 128, 0, 0], 6),
    ];
    nic.put(1, &router(&routes, &["routes"])).unwrap();
    let addresses = [[10, 1, 2, 3], [10, 1, 2, 4], [10, 2, 0, 0], [11, 0, 0, 0], [192, 168, 0, 1], [192, 1, 0, 0]];
    assert_eq!(found(&mut nic, &addresses), [5, 4, 2, 1, 6, 1]);
    // The host goes on with what stands there.
    let (module, map) = (nic.module(1), nic.map(1, "routes"));
    let maps = nic.device.maps().unwrap();
    maps.update(module, map, &key(24, [10, 1, 2, 0]), &7u64.to_le_bytes(), 0).unwrap();
    maps.delete(module, map, &key(0, [0; 4])).unwrap();
    maps.update(module, map, &key(9, [192, 128, 0, 0]), &8u64.to_le_bytes(), 0).unwrap();
    assert_eq!(found(&mut nic, &addresses), [5, 7, 2, 0, 8, 0]);
    // Kept over a replacement it stays; one that begins anew has the entries of its own load.
    nic.put(1, &router(&routes, &["routes"])).unwrap();
    assert_eq!(found(&mut nic, &addresses), [5, 7, 2, 0, 8, 0]);
    nic.put(1, &router(&[(12, [10, 0, 0, 0], 9)], &[])).unwrap();
    assert_eq!(found(&mut nic, &addresses), [9, 9, 9, 0, 0, 0]);
    let mut rng = Rng::new(test_seed(name));
    for _ in 0..4 {
        // As many as it holds, of few addresses.
        let mut draw =
            || (rng.below(33) as u32, [10, rng.below(2) as u8 * 128, rng.below(2) as u8, rng.below(4) as u8]);
        let routes: Vec<Route> =
            (1..9).map(|number| (draw(), number)).map(|((bits, a), number)| (bits, a, number)).collect();
        nic.put(1, &router(&routes, &[])).unwrap();
        let addresses: Vec<[u8; 4]> = (0..12).map(|_| draw().1).collect();
        found(&mut nic, &addresses);
        nic.device.counters().unwrap();
    }
}
