//! Callbacks and locks against the kernel, and faults of helpers that no verifier lets pass.

use crate::helpers_support::{Asm, Pair, image, map, skipped};
use sluice_ebpf::{Image, MapSpec, MapType, Packet, Runtime};
use sluice_formats::random::{Rng, test_seed};

const OBJECT: &[u8] = include_bytes!("objects/helpers_callbacks.o");
const FRAME: [u8; 64] = [5; 64];

struct Case {
    pair: Pair,
    image: Image,
}

impl Case {
    fn new() -> Self {
        let image = sluice_ebpf::load::load(OBJECT).expect("loads");
        Self { pair: Pair::of(&image), image }
    }

    fn map(&self, name: &str) -> usize {
        self.image.maps.iter().position(|m| m.name == name).expect(name)
    }

    fn request(&mut self, times: u64, stop_at: u64, flags: u64) {
        let value: Vec<u8> = [times, stop_at, flags].iter().flat_map(|n| n.to_le_bytes()).collect();
        let map = self.map("request");
        self.pair.set(map, &[0; 4], &value);
    }

    /// Runs a program on both sides; the results must be the same.
    fn run(&mut self, name: &str, what: &str) -> Vec<u64> {
        let program = self.image.programs.iter().position(|p| p.name == name).expect(name);
        self.pair.run(program, &FRAME, what);
        let results = self.map("results");
        let result = |i: u32| {
            let value = self.pair.get(results, &i.to_le_bytes()).expect("there");
            u64::from_le_bytes(value.try_into().expect("8 bytes"))
        };
        (0..8).map(result).collect()
    }
}

#[test]
fn loops_run_as_often_as_the_kernels() {
    if skipped() {
        return;
    }
    let mut case = Case::new();
    let limit = 1 << 23;
    for times in [0, 1, 2, 100, limit + 1, 1 << 32, (1 << 32) + 3, u64::MAX] {
        for stop_at in [0, 1, 50, 100, 101] {
            for flags in [0, 1, u64::MAX] {
                case.request(times, stop_at, flags);
                case.run("looping", &format!("loop({times}) to {stop_at}, flags {flags}"));
            }
        }
    }
    assert_eq!(case.run("nested", "nested loops")[..3], [40, 40, (0..40).map(|i| i * (i - 1) / 2).sum::<i64>() as u64]);
    case.pair.ours.work_limit = 1 << 24;
    case.request(limit, 0, 0);
    assert_eq!(case.run("looping", "the longest loop")[..2], [limit, limit]);
}

#[test]
fn a_loop_above_the_bound_of_work_is_a_fault() {
    let image = sluice_ebpf::load::load(OBJECT).expect("loads");
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&image, &|_| None).expect("installs");
    let index = |name: &str| image.maps.iter().position(|m| m.name == name).expect("there");
    let request = runtime.map(installed, index("request")).expect("there");
    let value: Vec<u8> = [1u64 << 23, 0, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    runtime.maps.user_update(request, &[0; 4], &value, 0).expect("taken");
    runtime.work_limit = 1000;
    let program = image.programs.iter().position(|p| p.name == "looping").expect("there");
    let out = runtime.run(installed, program, &mut Packet::new(&FRAME), Default::default());
    assert!(out.fault.is_some_and(|f| f.reason.to_string().contains("more than 1000 taken back edges and calls")));
}

#[test]
fn every_entry_is_met_once() {
    if skipped() {
        return;
    }
    let pinned = sluice_ebpf::kernel::Pinned::to(0).expect("processor 0 is there");
    let seed = test_seed("helpers_each");
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let mut case = Case::new();
    let cpus = sluice_ebpf::kernel::possible_cpus() as usize;
    for name in ["array", "percpu", "hash", "lru"] {
        let map = case.map(name);
        let (entries, copies) = match name {
            "array" => (5, 1),
            "percpu" => (3, cpus),
            _ => (rng.range(0, 20) as u32, 1),
        };
        for n in 0..entries {
            let key = if entries <= 5 { n } else { rng.next_u32() };
            let value: Vec<u8> = (0..copies).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
            case.pair.set(map, &key.to_le_bytes(), &value);
        }
        for stop_at in [0, 1, 2, 3, 1000, 0] {
            for flags in [0, 1] {
                case.request(0, stop_at, flags);
                let results = case.run(&format!("each_{name}"), &format!("{name} to {stop_at}, flags {flags}"));
                if flags == 0 && stop_at == 0 && name == "array" {
                    assert_eq!(results[..3], [5, 5, 10]);
                }
                // Which entries were met first is the map's own matter: start from equal ones again.
                if stop_at != 0 && !matches!(name, "array" | "percpu") {
                    let keys = case.pair.kernel.maps[map].keys().expect("keys");
                    for key in keys {
                        case.pair.set(map, &key, &7u64.to_le_bytes());
                    }
                }
            }
        }
        for key in case.pair.kernel.maps[map].keys().expect("keys") {
            case.pair.get(map, &key);
        }
    }
    drop(pinned);
}

#[test]
fn entries_may_be_deleted_while_they_are_met() {
    if skipped() {
        return;
    }
    let mut case = Case::new();
    let map = case.map("hash");
    for key in 0u32..40 {
        case.pair.set(map, &key.to_le_bytes(), &1u64.to_le_bytes());
    }
    assert_eq!(case.run("each_erase", "deleting the odd ones")[..3], [40, 40, 780]);
    for key in 0u32..40 {
        assert_eq!(case.pair.get(map, &key.to_le_bytes()).is_some(), key % 2 == 0);
    }
}

#[test]
fn values_are_changed_under_their_lock() {
    if skipped() {
        return;
    }
    let mut case = Case::new();
    let map = case.map("guarded");
    assert_eq!(case.pair.run(case.image.programs.len() - 1, &FRAME, "no entry").r0, 1);
    case.pair.set(map, &2u32.to_le_bytes(), &[0; 16]);
    for _ in 0..3 {
        case.run("locking", "locked");
    }
    assert_eq!(case.pair.get(map, &2u32.to_le_bytes()).expect("there")[..12], [0, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0]);
}

/// What a program that no verifier would take is stopped with.
fn fault(asm: Asm, maps: Vec<MapSpec>) -> String {
    let mut runtime = Runtime::new(2, 1);
    let installed = runtime.install_unchecked(&image(vec![asm.exit().program("bad")], maps), &|_| None).expect("made");
    let out = runtime.run(installed, 0, &mut Packet::new(&FRAME), Default::default());
    assert_eq!(out.r0, 0);
    out.fault.expect("a fault").reason.to_string()
}

#[test]
fn wrong_arguments_are_faults_that_name_them() {
    let hash = || vec![map("hash", MapType::Hash, 4, 8, 4)];
    for helper in [44, 54, 65, 188, 189, 190, 69, 163] {
        let told = fault(Asm::default().mov(1, 5).call(helper), Vec::new());
        assert!(told.ends_with("argument 1 is 0x5, expected the context"), "{told}");
    }
    for (helper, argument, expected) in [
        (51, 1, "a devmap, devmap_hash, cpumap or xskmap"),
        (130, 1, "a ring buffer"),
        (131, 1, "a ring buffer"),
        (134, 1, "a ring buffer"),
        (12, 2, "a program array"),
        (25, 2, "a perf event array"),
        (195, 1, "a per-CPU map"),
    ] {
        let asm = if argument == 1 { Asm::default().map(1, 0) } else { Asm::default().map(2, 0) };
        let told = fault(asm.mov(3, 0).mov(4, 0).mov(5, 0).call(helper), hash());
        assert!(told.contains(&format!("argument {argument} is ")) && told.ends_with(expected), "{helper}: {told}");
    }
    for helper in [1, 2, 3, 51, 130, 131, 134, 164, 195] {
        let told = fault(Asm::default().mov(1, 7).call(helper), hash());
        assert!(told.contains("argument 1 is 0x7"), "{helper}: {told}");
    }
    let devmap = vec![map("to", MapType::Devmap, 4, 4, 4)];
    assert!(fault(Asm::default().map(1, 0).mov(2, 0).mov(4, 0).call(164), devmap).ends_with("an array or hash"));
    // Keys, values and memory that are not there.
    for helper in [1, 2, 3] {
        let told = fault(Asm::default().map(1, 0).mov(2, 0).mov(3, 0).call(helper), hash());
        assert!(told.contains("of 4 bytes at 0x0"), "{told}");
    }
    let told = fault(Asm::default().mov(1, 0).mov(2, 8).mov(3, 0).mov(4, 0).mov(5, 0).call(28), Vec::new());
    assert!(told.contains("csum_diff of 8 bytes at 0x0"), "{told}");
    let told = fault(Asm::default().mov(1, 0).mov(2, -1).call(6), Vec::new());
    assert!(told.contains("trace_printk of 4294967295 bytes at 0x0"), "{told}");
    let told = fault(Asm::default().mov(2, 0).mov_reg(3, 10).mov(4, 8).call(189), Vec::new());
    assert!(told.contains("xdp_load_bytes of 8 bytes"), "{told}");
    assert!(fault(Asm::default().mov(1, 1).call(93), Vec::new()).contains("a struct bpf_spin_lock in a map value"));
    for helper in [132, 133] {
        assert!(
            fault(Asm::default().mov(1, 1).call(helper), Vec::new()).contains("a record that ringbuf_reserve gave")
        );
    }
}

#[test]
fn locks_and_records_must_be_given_back() {
    let locked = || {
        let mut spec = map("locked", MapType::Array, 4, 16, 2);
        spec.spin_lock = Some(0);
        vec![spec]
    };
    let lock = |offset| Asm::default().map_value(1, 0, offset).call(93);
    assert!(fault(lock(0), locked()).contains("ended while it held a spin lock"));
    assert!(fault(lock(0).map_value(1, 0, 0).call(93), locked()).contains("taken while one is held"));
    assert!(fault(Asm::default().map_value(1, 0, 0).call(94), locked()).contains("that is not held"));
    assert!(fault(lock(4), locked()).contains("a struct bpf_spin_lock in a map value"));

    let ring = || vec![map("ring", MapType::Ringbuf, 0, 0, 4096)];
    let reserve = Asm::default().map(1, 0).mov(2, 8).mov(3, 0).call(131);
    assert!(fault(reserve.clone(), ring()).contains("held a reserved record"));
    let told = fault(reserve.clone().raw(0x7a, 0, 0, 8, 1), ring());
    assert!(told.contains("store of 8 bytes"), "{told}");
    let twice = reserve.clone().mov_reg(6, 0).mov_reg(1, 6).call(132).mov_reg(1, 6).call(132);
    assert!(fault(twice, ring()).contains("a record that ringbuf_reserve gave"));

    // After the fault the record is discarded: the ring takes the next one as the first.
    let mut runtime = Runtime::new(1, 1);
    let bad = runtime.install(&image(vec![reserve.exit().program("bad")], ring()), &|_| None).expect("made");
    let map = runtime.map(bad, 0).expect("there");
    for _ in 0..1000 {
        let out = runtime.run(bad, 0, &mut Packet::new(&FRAME), Default::default());
        assert!(out.fault.is_some_and(|f| f.reason.to_string().contains("reserved record")));
    }
    assert_eq!(runtime.maps.ring_query(map, 0), 0);
    assert!(runtime.world.take_events().is_empty());
}
