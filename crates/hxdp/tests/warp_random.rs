//! Random parsers, shaped as public ones are, from the interpreter and by their tables.

use crate::support::parsers::parser;
use crate::support::{Twins, fill, packets, programs, target};
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_hxdp::Stored;
use sluice_hxdp::warp::tree::Tree;
use sluice_hxdp::warp::witness::witness;

/// Packets of a program.
const PACKETS: usize = 80;

#[test]
fn random_parsers_do_the_same_by_their_tables() {
    let mut rng = Rng::new(test_seed("warp_parsers"));
    let most = if test_is_long() { 1_000_000 } else { 20_000 };
    let (mut packets, mut leaves, mut hit, mut resumed, mut verdicts) = (0, 0, 0, 0u64, 0u64);
    while packets < most {
        let (image, text) = parser(&mut rng);
        let tree = Tree::of(&image, &image.programs[0], &Stored::default());
        let mut twins = Twins::warped(image, &target(2)).unwrap_or_else(|e| panic!("{text}\n{e}"));
        twins.record();
        fill(&mut twins, &mut rng);
        let tests = tree.leaves();
        let mut some = vec![false; tests.len()];
        for _ in 0..PACKETS {
            let at = rng.index(tests.len());
            let Some((mut frame, ingress)) = witness(&tests[at].1, &mut rng) else { continue };
            some[at] = true;
            match rng.index(4) {
                0 => frame.truncate(rng.index(frame.len()).max(1)),
                1 => {
                    let byte = rng.index(frame.len().min(64));
                    frame[byte] ^= 1 << rng.index(8);
                }
                _ => {}
            }
            packets += 1;
            twins.on(rng.index(2) as u32);
            let ran = twins.run(0, &frame, ingress);
            ran.unwrap_or_else(|e| panic!("{text}\n{frame:02x?} at {ingress:?}: {e}"));
        }
        for (trace, _) in &twins.traces {
            use sluice_hxdp::cycles::Start;
            resumed += u64::from(matches!(trace.start, Start::Resume { .. }));
            verdicts += u64::from(trace.start == Start::Verdict);
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{text}\n{e}"));
        leaves += tests.len();
        hit += some.iter().filter(|hit| **hit).count();
    }
    println!("{packets} packets, {resumed} resumed, {verdicts} verdicts, {hit} of {leaves} leaves");
    assert!(resumed * 10 > packets as u64 && verdicts * 10 > packets as u64, "{resumed} resumed, {verdicts} verdicts");
}

#[test]
fn random_programs_do_the_same_by_their_tables() {
    let mut rng = Rng::new(test_seed("warp_programs"));
    let rounds = if test_is_long() { 2000 } else { 20 };
    for _ in 0..rounds {
        let image = programs::random(&mut rng, 12);
        let listing = sluice_ebpf::insn::listing(&image.programs[0], &image.maps);
        let tree = Tree::of(&image, &image.programs[0], &Stored::default());
        let mut twins = Twins::warped(image, &target(2)).unwrap_or_else(|e| panic!("{listing}\n{e}"));
        fill(&mut twins, &mut rng);
        for (_, tests) in tree.leaves() {
            let packet = witness(&tests, &mut rng);
            let (frame, ingress) =
                packet.unwrap_or_else(|| (packets::frame(&mut rng), Ingress { ifindex: 1, queue: 0 }));
            twins.on(rng.index(2) as u32);
            let ran = twins.run(0, &frame, ingress);
            ran.unwrap_or_else(|e| panic!("{listing}\n{frame:02x?}: {e}"));
        }
        twins.compare_maps().unwrap_or_else(|e| panic!("{listing}\n{e}"));
    }
}
