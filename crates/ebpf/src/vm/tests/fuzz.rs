//! Whatever a program is, it ends, and nothing panics.

use crate::vm::{Ingress, Packet, Runtime};
use crate::{Image, Insn, Program, validate};
use sluice_formats::random::{Rng, test_seed};
use std::time::{Duration, Instant};

/// Slots that often are instructions: real opcodes, small registers and near jumps.
fn likely(rng: &mut Rng, slots: usize) -> Vec<Insn> {
    let insn = |rng: &mut Rng| {
        let mut insn = Insn::from_bytes(rng.next_u64().to_le_bytes());
        (insn.dst, insn.src) = (rng.index(11) as u8, if rng.index(2) == 0 { 0 } else { rng.index(11) as u8 });
        insn.off = if rng.index(2) == 0 { 0 } else { rng.range(0, 16) as i16 - 8 };
        if rng.index(2) == 0 {
            insn.imm = rng.range(0, 200) as i32 - 20;
        }
        insn
    };
    (0..slots).map(|_| insn(rng)).collect()
}

#[test]
fn fuzz_slots_validated_or_not() {
    let seed = test_seed("vm_fuzz");
    let mut rng = Rng::new(seed);
    let started = Instant::now();
    let (mut programs, mut ended, mut accepted) = (0, 0, 0);
    let mut runtime = Runtime::new(2, seed);
    runtime.work_limit = 1000;
    let mut packet = Packet::new(&[]);
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    while started.elapsed() < Duration::from_secs(seconds) {
        let slots = rng.range(1, 40) as usize;
        let mut insns = likely(&mut rng, slots);
        if rng.index(2) == 0 {
            // Only slots that mean something, so that more is run.
            insns.retain(|i| i.kind(Some(Insn::default())).is_ok());
            insns.push(Insn { op: crate::insn::EXIT, ..Insn::default() });
        }
        let image = Image { programs: vec![Program::from_insns("fuzz", insns)], ..Image::default() };
        accepted += usize::from(validate::validate(&image).is_ok());
        let installed = runtime.install_unchecked(&image, &|_| None).expect("there are no maps");
        packet.set(&[0x5a; 100]);
        let outcome = runtime.run(installed, 0, &mut packet, Ingress::default());
        runtime.remove(installed);
        programs += 1;
        ended += usize::from(outcome.fault.is_none());
    }
    println!("fuzz: {programs} inputs, {accepted} accepted, {ended} ended without a fault");
    assert!(programs > 100 && ended > 0, "seed {seed}");
}
