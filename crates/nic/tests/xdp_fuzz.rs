//! Damaged programs on the software NIC: nothing panics or hangs, the accounting closes, and the
//! neighbour notices nothing. `SLUICE_FUZZ_SECONDS` (1) is its time, `SLUICE_SEED` repeats a run.

use crate::xdp_support::{Nic, frame, object};
use sluice_device::Verdict;
use sluice_ebpf::tenant::Options;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY;
use sluice_nic::SoftwareNic;
use sluice_object::Object;
use std::time::{Duration, Instant};

/// Changes a few bytes of slots and numbers of maps.
fn damage(object: &mut Object, rng: &mut Rng) {
    let Some(xdp) = object.parts.xdp.as_mut() else { return };
    for _ in 0..rng.range(1, 3) {
        if rng.chance(1, 8) && !xdp.maps.is_empty() {
            let at = rng.below(xdp.maps.len() as u64) as usize;
            let map = &mut xdp.maps[at];
            let numbers = [&mut map.kind, &mut map.key_size, &mut map.value_size, &mut map.max_entries, &mut map.flags];
            for number in numbers {
                if rng.chance(1, 5) {
                    *number = [0, 1, 3, 4, 8, 4096, u32::MAX][rng.below(7) as usize];
                }
            }
            continue;
        }
        let slots = &mut xdp.programs[0].slots;
        let at = rng.below(slots.len() as u64) as usize;
        match rng.below(4) {
            // Offset and immediate: most programs stay valid.
            0 | 1 => slots[at] ^= 1 << rng.range(16, 63),
            2 => slots[at] ^= 1 << rng.below(64),
            _ => slots[at] = slots[rng.below(slots.len() as u64) as usize],
        }
    }
}

#[test]
fn damaged_programs_neither_panic_nor_disturb_their_neighbour() {
    let seed = test_seed("damaged_programs_neither_panic_nor_disturb_their_neighbour");
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let mut rng = Rng::new(seed);
    let whole = ["verdicts.o", "fault.o", "version_1.o", "tag.o"].map(|file| object(file, &Options::default()));
    let (start, mut ran, mut refused) = (Instant::now(), 0u64, 0u64);
    while start.elapsed() < Duration::from_secs_f64(seconds) {
        let mut program = whole[rng.below(4) as usize].clone();
        damage(&mut program, &mut rng);
        let mut device = SoftwareNic::new(TINY);
        let mut nic = Nic::new(&mut device, &[(1, 10), (2, 20)]);
        nic.load(2, &whole[3]);
        let Ok(load) = nic.linker.load(1, &program) else {
            refused += 1;
            continue;
        };
        if nic.try_run(&load).is_err() {
            refused += 1;
            continue;
        }
        ran += 1;
        for _ in 0..8 {
            let mut bytes = frame(10, rng.below(120) as usize, rng.next_u32());
            let protocol = [0x0800u16, 0x88b5, 0x0001, 0x0002][rng.below(4) as usize];
            bytes[16..18].copy_from_slice(&protocol.to_be_bytes());
            nic.send(rng.below(4) as u8, bytes);
            nic.send(0, frame(20, 30, 1));
        }
        let neighbour = nic.module(2);
        let told = nic.outcomes.iter().filter(|o| o.module == neighbour);
        assert!(told.clone().all(|o| o.verdict == Verdict::Forwarded { port: 0 } && o.bytes[10..12] == [0x88, 0xb5]));
        assert_eq!(told.count(), 8);
        let counters = nic.device.counters().unwrap();
        assert!(counters.modules.values().all(|c| c.closes() && c.in_flight == 0), "seed {seed}: {counters:?}");
    }
    println!("{ran} ran, {refused} refused");
    assert!(ran > 0 || refused < 50, "nothing ever ran");
}
