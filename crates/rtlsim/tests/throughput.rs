//! Cycles per packet, who shares them, and what one queue can do to another: on the bare NIC, and one case on the whole one.

use crate::support::{self, BARE_DEFAULT, BARE_TINY, FULL_TINY, builds};
use crate::traffic::rates::{self, From, LENGTHS};
use crate::traffic::rig::{Module, Rig, To};
use crate::traffic::shares::{self, Claim};
use sluice_device::Device;
use sluice_formats::Reason;
use sluice_formats::random::{Rng, test_seed};
use sluice_packet::generate::Sizes;
use sluice_rtlsim::RtlOptions;

/// More than the start-up of a run.
const SLACK: f64 = 1.005;

/// Packets of a length, so that a run has about as many cycles as others.
fn packets(length: usize) -> u64 {
    (64_000 / length as u64).clamp(40, 1_000) * 2
}

#[test]
fn a_packet_takes_the_cycles_of_its_beats_and_none_between() {
    let seed = test_seed("a_packet_takes_the_cycles_of_its_beats_and_none_between");
    for build in builds(&[BARE_TINY]) {
        let fixed = LENGTHS.map(|n| (format!("{n} B"), Sizes::Fixed(n), packets(n)));
        for (name, sizes, packets) in fixed.into_iter().chain([("IMIX".into(), Sizes::Imix, 1_000)]) {
            for from in [From::OnePort, From::AllPorts] {
                let rate = rates::rate(build, &sizes, from, packets, seed);
                println!("{build} {name} {from:?}: {rate:?}, {:.4} merge, {:.4} out", rate.merge(), rate.out());
                assert_eq!(rate.merge_cycles, rate.beats, "{build}, {name}, {from:?}: empty cycles in the pipeline");
                assert!(rate.out() <= rate.ideal() * SLACK, "{build}, {name}, {from:?}: {:?}", rate);
                assert!(rate.packets >= packets / 2, "{build}, {name}, {from:?}: {rate:?}");
                assert_eq!(from == From::AllPorts, rate.overload > 0, "{build}, {name}, {from:?}: {rate:?}");
            }
        }
    }
}

#[test]
fn one_queue_of_one_tenant_gets_a_packet_a_cycle() {
    let seed = test_seed("one_queue_of_one_tenant_gets_a_packet_a_cycle");
    for build in builds(&[BARE_TINY, FULL_TINY, BARE_DEFAULT]) {
        let mut rig = Rig::open(build.target, build.options(seed), &[Module::new(1, To::One(5))]);
        for _ in 0..3_000 {
            rig.offer(0, None, 0, 60);
        }
        rig.quiesce();
        assert!(rig.dropped.is_empty(), "{build}: {:?}", rig.dropped);
        let cycles = rig.left[rig.left.len() - 1].first_out - rig.left[0].first_out;
        println!("{build}: {} packets, {cycles} cycles", rig.left.len());
        assert_eq!(rig.left.len(), 3_000);
        assert!(cycles as f64 <= 2_999.0 * f64::from(rig.target.beats(60)) * SLACK, "{build}: {cycles} cycles");
    }
}

/// One packet a cycle comes in, so that the buffer never empties again once packets wait.
#[test]
fn the_output_is_never_idle_while_packets_wait() {
    let seed = test_seed("the_output_is_never_idle_while_packets_wait");
    let mut found = Vec::new();
    for build in builds(&[BARE_TINY]) {
        let modules =
            [Module::new(1, To::Spread([0, 1, 5, 6])), Module::new(2, To::One(1)), Module::new(3, To::One(6))];
        let mut rig = Rig::open(build.target, build.options(seed), &modules);
        let mut rng = Rng::new(seed);
        let beats = u64::from(rig.target.beats(60));
        let begin = rig.nic.now() + 64;
        for destination in 0..8 {
            rig.nic.set_blocked(destination, true).unwrap();
        }
        for i in 0..40_000 {
            let (module, choice) = (rng.range(1, 3) as u8, rng.below(4) as u8);
            rig.offer_at(begin + i * beats, (i % 4) as u8, Some(module), choice, 60);
        }
        // Enough packets wait from the beginning.
        rig.advance(64 + 60 * beats);
        for destination in 0..8 {
            rig.nic.set_blocked(destination, false).unwrap();
        }
        // What left until now went no further than the output registers.
        let open = rig.leaves.len() + 1;
        rig.quiesce();
        let (leaves, target) = (&rig.leaves[open..], rig.target);
        let (idle, first) = shares::idle_output(leaves, &target, 12);
        let cycles = leaves[leaves.len() - 1].tick - leaves[0].tick;
        println!("{build}: {idle} of {cycles} cycles idle; {:?}", rig.dropped);
        found.extend(first.map(|first| format!("{build}: {first}")));
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_blocked_destination_slows_nobody() {
    let seed = test_seed("a_blocked_destination_slows_nobody");
    for build in builds(&[BARE_TINY]) {
        for length in [60, 256, 1500] {
            let run = |blocked| shares::neighbours(build, length, packets(length) * 4, blocked, seed);
            let (free, blocked) = (run(false), run(true));
            println!("{build} {length} B: free {free:?}, blocked {blocked:?}");
            assert!(free.dropped.is_empty());
            let tail = [Reason::TailLimit, Reason::TailPackets];
            assert!(blocked.dropped.keys().all(|(module, reason)| *module == 1 && tail.contains(reason)));
            assert!(!blocked.dropped.is_empty(), "the blocked queue was never full");
            assert_eq!(blocked.cycles[0], None);
            assert_eq!((free.merge_cycles, blocked.merge_cycles), (free.beats, free.beats));
            for (free, blocked) in free.cycles[1..].iter().zip(&blocked.cycles[1..]) {
                let (free, blocked) = (free.unwrap(), blocked.unwrap());
                assert!((blocked / free - 1.0).abs() < 0.005, "{build}, {length} B: {free} became {blocked}");
            }
        }
    }
}

#[test]
fn ports_that_want_it_all_get_equal_beats() {
    let seed = test_seed("ports_that_want_it_all_get_equal_beats");
    for build in builds(&[BARE_TINY]) {
        for lengths in [&[60, 1500][..], &[60, 65, 256, 1500]] {
            // Long against the turns of the merge: a longest packet for each port.
            let shares = shares::ports(build, lengths, 75_000, seed);
            println!("{build} {lengths:?}: {shares:?}");
            assert!(shares.error() < 0.01, "{build}, {lengths:?}: {shares:?}");
            assert!(shares.overload > 0);
        }
    }
}

#[test]
fn tenants_at_one_destination_share_it_by_weight_in_bytes() {
    let seed = test_seed("tenants_at_one_destination_share_it_by_weight_in_bytes");
    for build in builds(&[BARE_TINY]) {
        // A queue must hold more than a turn, or it runs empty within it.
        let (unit, [short, middle, long]) =
            if build.target == "tiny" { (60, [60, 200, 500]) } else { (500, [60, 256, 1500]) };
        for lengths in [[short, middle, long], [long, short, middle], [middle, long, short], [short; 3]] {
            let quanta = [unit, 2 * unit, 4 * unit];
            let claims = std::array::from_fn(|i| Claim { quantum: quanta[i], length: lengths[i] });
            let shares = shares::tenants(build, &claims, 50_000, seed);
            println!("{build} {claims:?}: {shares:?}");
            // Packets beyond those that the scheduler has chosen already.
            assert!(shares.least.iter().all(|n| *n > 5), "{build}, {claims:?}: a queue ran empty, {shares:?}");
            assert!(shares.error() < 0.02, "{build}, {claims:?}: {shares:?}");
        }
    }
}

/// Every snapshot is compared with a recount of the trace by the NIC's own driver, and closes.
#[test]
fn the_accounting_closes_at_every_moment() {
    let seed = test_seed("the_accounting_closes_at_every_moment");
    for build in builds(&[BARE_TINY]) {
        let options = RtlOptions { check_accounting: true, stalls: support::stalls(), ..build.options(seed) };
        let modules = [
            Module::new(1, To::Spread([0, 3, 5, 6])),
            Module::new(2, To::One(1)),
            Module { cells: 6, ..Module::new(3, To::One(6)) },
        ];
        let mut rig = Rig::open(build.target, options, &modules);
        let mut rng = Rng::new(seed);
        let (mut samples, mut busy, mut drops) = (0, 0, 0);
        // Many counters are read for a sample, and the default target takes three times as long for one.
        for _ in 0..if build.target == "tiny" { 50 } else { 15 } {
            for _ in 0..200 {
                let (port, module) = (rng.below(4) as u8, rng.range(1, 4) as u8);
                let length = if rng.chance(3, 4) { rng.range(60, 130) } else { rng.range(60, 1500) };
                rig.offer(port, Some(module), rng.below(5) as u8, length as usize);
            }
            rig.advance(rng.range(1, 400));
            let counters = rig.counters();
            samples += 1;
            assert!(counters.modules.values().all(|m| m.closes()), "{build}: {counters:?}");
            busy += u64::from(counters.modules.values().any(|m| m.in_flight > 0));
            drops = counters.modules.values().flat_map(|m| m.dropped.values()).sum::<u64>();
        }
        rig.quiesce();
        let rest = rig.counters();
        assert!(rest.modules.values().all(|m| m.closes() && m.in_flight == 0), "{build}: {rest:?}");
        println!("{build}: {samples} samples, {busy} of them with packets in flight, {drops} drops");
        assert!(busy * 10 >= samples * 9 && drops > 100);
    }
}
