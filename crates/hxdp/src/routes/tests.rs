use super::*;
use sluice_ebpf::helper::fib::rows::{Numbers, entries};
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::image::map_flags::NO_PREALLOC;
use sluice_ebpf::vm::{Ingress, Outcome};
use sluice_ebpf::{Packet, Runtime};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::xdp::target::PAGE_ROWS;

#[path = "../../tests/support/routes.rs"]
mod random;

use random::{ASK_LENGTH, ASK_ROUTES, file, frame, length_frame};

struct Twin {
    runtime: Runtime,
    installed: sluice_ebpf::vm::Installed,
}

impl Twin {
    fn new(text: &str, maps: Vec<MapSpec>) -> Self {
        let program = assemble("test", text, &[NAME]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let image = Image { programs: vec![program], maps, ..Image::default() };
        let mut runtime = Runtime::new(1, 0);
        let installed = runtime.install(&image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
        Self { runtime, installed }
    }

    fn run(&mut self, frame: &[u8], ifindex: u32) -> (Outcome, Vec<u8>) {
        let mut packet = Packet::new(frame);
        let outcome = self.runtime.run(self.installed, 0, &mut packet, Ingress { ifindex, queue: 0 });
        (outcome, packet.frame().to_vec())
    }
}

/// The helper, and the function in its place with the map.
fn twins(ask: &str, helper: &str, function: &str) -> [Twin; 2] {
    let called = Twin::new(&ask.replace("CALLED", helper), Vec::new());
    let map = MapSpec {
        flags: NO_PREALLOC,
        ..MapSpec::new(NAME, MapType::LpmTrie, KEY_BYTES as u32, VALUE_BYTES as u32, 1 << 16)
    };
    // Labels of the program around do not stand in the function.
    let around = ask.replace("CALLED", "own").replace("end", "around");
    [called, Twin::new(&format!("{around}own:\n{function}"), vec![map])]
}

/// Routes of a random file, on both.
fn routes(rng: &mut Rng, [helper, function]: &mut [Twin; 2], numbers: &mut Numbers) {
    let text = file(rng);
    let routes = Routes::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let map = function.runtime.map(function.installed, 0).unwrap();
    while let Some(key) = function.runtime.maps.next_key(map, None).unwrap() {
        function.runtime.maps.user_delete(map, &key).unwrap();
    }
    let all = entries(&routes, numbers).unwrap();
    for (key, value) in &all {
        // Each key comes once.
        function.runtime.maps.user_update(map, key, value, sluice_ebpf::map::update_flags::NOEXIST).unwrap();
    }
    helper.runtime.world.routes = routes;
}

#[test]
fn lookups_by_the_map_are_the_helpers() {
    let mut rng = Rng::new(test_seed("lookups_by_the_map_are_the_helpers"));
    let mut twins = twins(ASK_ROUTES, "bpf_fib_lookup", &lookup());
    let (mut numbers, mut results) = (Numbers::default(), std::collections::BTreeMap::<i64, u32>::new());
    let mut files = 0;
    while files < 400 {
        if files % 50 == 0 {
            numbers = Numbers::default();
        }
        routes(&mut rng, &mut twins, &mut numbers);
        files += 1;
        for _ in 0..100 {
            let frame = frame(&mut rng);
            let [helper, function] = &mut twins;
            let (expected, bytes) = helper.run(&frame, 3);
            let (found, other) = function.run(&frame, 3);
            assert_eq!(found.fault, None);
            assert_eq!(bytes, other, "{frame:02x?}\n{expected:?}\n{:#?}", helper.runtime.world.routes);
            *results.entry(i64::from_le_bytes(bytes[..8].try_into().unwrap())).or_default() += 1;
        }
    }
    println!("{results:?}");
    for result in [0, 1, 2, 3, 4, 5, 7, 8, 9, -22, -19, -97] {
        assert!(results.get(&result).is_some_and(|n| *n > 9), "{result}: {results:?}");
    }
}

#[test]
fn lengths_by_the_map_are_the_helpers() {
    let mut rng = Rng::new(test_seed("lengths_by_the_map_are_the_helpers"));
    let mut twins = twins(ASK_LENGTH, "bpf_check_mtu", &check_mtu());
    let (mut numbers, mut results) = (Numbers::default(), std::collections::BTreeMap::<i64, u32>::new());
    for _ in 0..100 {
        routes(&mut rng, &mut twins, &mut numbers);
        for _ in 0..100 {
            let frame = length_frame(&mut rng);
            let ifindex = [1, 2, 5, 77, 3][rng.index(5)];
            let [helper, function] = &mut twins;
            let (_, bytes) = helper.run(&frame, ifindex);
            let (found, other) = function.run(&frame, ifindex);
            assert_eq!(found.fault, None);
            assert_eq!(bytes, other, "{frame:02x?}");
            *results.entry(i64::from_le_bytes(bytes[..8].try_into().unwrap())).or_default() += 1;
        }
    }
    println!("{results:?}");
    for result in [0, 1, -22, -19] {
        assert!(results.get(&result).is_some_and(|n| *n > 9), "{result}: {results:?}");
    }
}

#[test]
fn the_functions_take_few_pages() {
    let rows = CALLS.map(|id| bundles(id, 0, 0, 0).len());
    println!("{rows:?}");
    assert!(rows[0] <= 2 * PAGE_ROWS && rows[1] <= PAGE_ROWS, "{rows:?}");
}
