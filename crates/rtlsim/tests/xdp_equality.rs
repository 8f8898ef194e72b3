//! The XDP engine in RTL against interpreter and bundle model for long: random programs and packets, stalls, the host's operations, replacements.
//!
//! A run consists of parts with a seed and an engine of their own, so that a difference can be repeated without what came before it:
//! `SLUICE_XDP_PART` is the seed of the one part to run. `SLUICE_LONG=1` makes a million packets on the default target.

use crate::packets;
use crate::programs;
use crate::support;
use crate::xdp::device::{Nic, all_maps};
use crate::xdp::engine::Engine;
use crate::xdp::pair::Pair;
use crate::xdp::showing::{forgetting, showing};
use crate::xdp::together::together;
use sluice_device::{Device, Outcome, Verdict};
use sluice_ebpf::tenant;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::{Target, limits};
use sluice_object::Object;
use sluice_rtlsim::{Comparison, Ready, RtlOptions, Stalls, Variant, top};

/// Packets of a part.
const PART: u32 = 20_000;
/// The seed of the one part to run.
const PART_VARIABLE: &str = "SLUICE_XDP_PART";

/// What a run has compared.
#[derive(Default, Debug)]
struct Compared {
    packets: u32,
    programs: u32,
    /// Accesses of what packets share.
    accesses: usize,
    /// Operations of the host, those among them that answered with an error number.
    host: u32,
    errors: u32,
    cycles: u64,
}

/// Parts of a run until so many packets are compared.
fn parts(test: &str, target: &'static Target, wanted: u32, part: impl Fn(u64, u32, &mut Compared)) -> Option<Compared> {
    if !support::has_top(&top::XDP, target.name, Variant::Test) {
        return None;
    }
    // Other programs on each target.
    let mut seeds = Rng::new(test_seed(test) ^ u64::from(target.name == TINY.name));
    let mut compared = Compared::default();
    if let Some(seed) = std::env::var(PART_VARIABLE).ok().and_then(|seed| seed.parse().ok()) {
        part(seed, wanted.min(PART), &mut compared);
        return Some(compared);
    }
    while compared.packets < wanted {
        let seed = seeds.next_u64();
        let end = wanted.min(compared.packets + PART);
        println!("{test}, {}: {PART_VARIABLE}={seed} from packet {} on", target.name, compared.packets);
        part(seed, end, &mut compared);
    }
    println!("{test}, {}: {compared:?}", target.name);
    Some(compared)
}

/// What the host does with one of the random programs' maps; model and engine answer alike.
fn host(engine: &mut Engine, pair: &mut Pair, rng: &mut Rng, compared: &mut Compared) {
    // The array, the hash map and the per-CPU array of such a program, with an index beyond the arrays now and then; its queue and its stack.
    let map = rng.index(5);
    if map > 2 {
        let (value, flags) = (rng.bytes(12), [0, 0, 0, 1, 2][rng.index(5)]);
        let op = [XdpMapOp::Push, XdpMapOp::Push, XdpMapOp::Pop, XdpMapOp::Peek][rng.index(4)];
        compared.host += 1;
        compared.errors += u32::from(pair.host(engine, op, map, &[], &value, flags) != 0);
        return;
    }
    let key = (rng.below([2, 7, 5][map]) as u32).to_le_bytes();
    let value = rng.bytes([48, 16, 16][map]);
    let flags = [0, 0, 0, 1, 2][rng.index(5)];
    let error = match rng.below(4) {
        0 if map == 1 => pair.host(engine, XdpMapOp::Delete, map, &key, &[], 0),
        0 => pair.host(engine, XdpMapOp::Lookup, map, &key, &[], 0),
        _ => pair.host(engine, XdpMapOp::Update, map, &key, &value, flags),
    };
    compared.host += 1;
    compared.errors += u32::from(error != 0);
}

/// Packets in all contexts at once; the host's operations come between bursts of them.
fn at_once(target: &'static Target, seed: u64, end: u32, compared: &mut Compared) {
    let (mut engine, mut rng) = (Engine::open(target, seed), Rng::new(seed));
    let mut number = 0;
    while compared.packets < end {
        let statements = 1 + rng.below(24) as u32;
        let verdict = 2 + rng.below(2) as i32;
        let Some(image) = showing(programs::random(&mut rng, statements), verdict) else { continue };
        let Some(mut pair) = Pair::new(&mut engine, image) else { continue };
        compared.programs += 1;
        for _ in 0..1 + rng.below(3) {
            let (ready, gaps) = [(0, 0), (0, 0), (40, 0), (200, 100), (0, 200)][rng.index(5)];
            engine.stall(ready, gaps);
            engine.steps.clear();
            let packets = 1 + rng.below(60);
            let frame = |_| (rng.below(target.ports.into()) as u8, packets::frame(&mut rng));
            let frames: Vec<_> = (0..packets).map(frame).collect();
            compared.accesses += together(&mut engine, &mut pair, &frames, number);
            number += frames.len() as u32;
            compared.packets += frames.len() as u32;
            for _ in 0..rng.below(6) {
                host(&mut engine, &mut pair, &mut rng, compared);
            }
        }
    }
    compared.cycles += engine.nic.cycles();
}

#[test]
fn random_programs_stay_equal_in_all_contexts() {
    let test = "random_programs_stay_equal_in_all_contexts";
    let all = if support::long() { vec![(&DEFAULT, 1_000_000), (&TINY, 100_000)] } else { vec![(&TINY, 12_000)] };
    for (target, wanted) in all {
        let part = |seed, end, compared: &mut Compared| at_once(target, seed, end, compared);
        let Some(compared) = parts(test, target, wanted, part) else { continue };
        let Compared { packets, accesses, host, errors, .. } = compared;
        assert!(accesses > packets as usize / 2 && host > packets / 100 && errors > host / 20, "{compared:?}");
    }
}

/// An object of a random program, which may use its maps or not. Validation refuses functions that nobody calls, so it is drawn until it passes.
fn random_object(rng: &mut Rng, with_maps: bool) -> Object {
    loop {
        let statements = 1 + rng.below(24) as u32;
        let verdict = 2 + rng.below(2) as i32;
        let mut image = programs::random(rng, statements);
        // Value memory of tiny has no room for five maps of three tenants in two versions.
        if image.programs[0].insns.iter().any(|i| (i.op, i.src) == (0x18, 5) && i.imm > 2) {
            continue;
        }
        image.maps.truncate(3);
        if !with_maps && image.programs[0].insns.iter().any(|i| i.op == 0x18 && i.src != 0) {
            continue;
        }
        let image = showing(forgetting(image), verdict);
        let object = image.and_then(|image| {
            let options = tenant::Options { files: all_maps(&image.maps), ..tenant::Options::default() };
            tenant::object("random", &image, &options).ok()
        });
        if let Some(object) = object {
            return object;
        }
    }
}

/// Programs of three tenants that are replaced, unloaded and loaded while packets are on their way, on the device; the linker places them.
fn replaced(target: &'static Target, with_maps: bool, seed: u64, end: u32, compared: &mut Compared) {
    let stalls =
        Stalls { port_gaps: 30, ready: Ready::Bursts { chance: 200, longest: 20 }, config_gaps: 20, config_stalls: 20 };
    let options = RtlOptions { top: &top::XDP, seed, stalls, check_accounting: true, ..RtlOptions::default() };
    let device = Comparison::open(target.name, options, support::waves_folder()).unwrap_or_else(|e| panic!("{e}"));
    // A loop of a random program ends soon.
    let mut nic = Nic::given(device, |spec| spec.xdp_work = Some(300));
    let mut rng = Rng::new(seed);
    while compared.packets < end {
        let id = rng.range(1, 3) as u16;
        let running = nic.linker.tenant(id).unwrap().running.is_some();
        match rng.below(6) {
            0 if running && rng.chance(1, 3) => nic.unload(id),
            0 | 1 => match nic.put(id, &random_object(&mut rng, with_maps)) {
                Ok(()) => compared.programs += 1,
                Err(error) => assert!(["E0806", "E0807", "E0470"].contains(&error.code()), "{error}"),
            },
            2 | 3 if running => {
                let (map, module) = (["values", "hash", "percpu"][rng.index(3)], nic.module(id));
                let map = nic.map(id, map);
                let key = (rng.below(6) as u32).to_le_bytes();
                let maps = nic.device.maps().unwrap();
                // Sizes of the wrong kind are refused too.
                let bytes = [24, 16, 16 * maps.cpus() as usize][rng.index(3)];
                let value = rng.bytes(bytes);
                let wrong = match rng.below(4) {
                    0 => maps.delete(module, map, &key).is_err(),
                    1 => maps.lookup(module, map, &key).is_err(),
                    2 => maps.next_key(module, map, Some(&key)).is_err(),
                    _ => maps.update(module, map, &key, &value, rng.below(3)).is_err(),
                };
                compared.host += 1;
                compared.errors += u32::from(wrong);
            }
            _ => {
                let frames: Vec<Vec<u8>> = (0..10)
                    .map(|_| {
                        let mut frame = packets::frame(&mut rng);
                        let id = rng.range(1, 3) as u8;
                        let at = frame.len().min(12);
                        frame.splice(at..at, [0x81, 0, 0, id]);
                        frame.resize(frame.len().max(limits::MIN_FRAME_BYTES as usize), 0);
                        frame
                    })
                    .collect();
                compared.packets += frames.len() as u32;
                nic.offer(rng.below(target.ports.into()) as u8, frames);
                nic.device.advance(rng.below(400)).unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }
    let left = |o: &&Outcome| !matches!(o.verdict, Verdict::Dropped { .. });
    let outcomes = nic.ended();
    compared.accesses += outcomes.iter().filter(left).count();
    nic.device.counters().unwrap_or_else(|e| panic!("{e}"));
    compared.cycles += nic.device.now();
}

fn stay_equal_when_replaced(test: &str, with_maps: bool) {
    let all = if support::long() { vec![(&DEFAULT, 100_000), (&TINY, 100_000)] } else { vec![(&TINY, 3_000)] };
    for (target, wanted) in all {
        let part = |seed, end, compared: &mut Compared| replaced(target, with_maps, seed, end, compared);
        let Some(compared) = parts(test, target, wanted, part) else { continue };
        let Compared { packets, programs, accesses: left, host, .. } = compared;
        assert!(programs > packets / 200 && left > packets as usize / 4 && host > packets / 200, "{compared:?}");
    }
}

#[test]
fn random_programs_that_replace_each_other_stay_equal() {
    stay_equal_when_replaced("random_programs_that_replace_each_other_stay_equal", false);
}

#[test]
fn random_programs_that_use_maps_and_replace_each_other_stay_equal() {
    stay_equal_when_replaced("random_programs_that_use_maps_and_replace_each_other_stay_equal", true);
}
