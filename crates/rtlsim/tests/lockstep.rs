//! RTL and model in lockstep, packet by packet.

use crate::support::{self, BARE_TINY};
use sluice_device::{Device, Event};
use sluice_formats::EngineId;
use sluice_formats::random::{Rng, test_seed};
use sluice_rtlsim::{Comparison, Faults, Ready, RtlOptions, Stalls, Top, top};

fn comparison(config: &str, options: RtlOptions) -> Option<Comparison> {
    support::has_top(options.top, config, options.variant)
        .then(|| Comparison::open(config, options, support::waves_folder()).unwrap())
}

#[test]
fn random_packets_of_all_modules_agree() {
    let seed = test_seed("random_packets_of_all_modules_agree");
    // Of the default target the bare NIC stands for the others, which run in `make long`.
    let short: &[(&'static Top, &str)] = &[
        (&top::NIC, "tiny"),
        (&top::BARE, "tiny"),
        (&top::BARE, "default"),
        (&top::RMT, "tiny"),
        (&top::RMT, "default"),
    ];
    let more = [(&top::NIC, "default"), (&top::WITH_XDP, "tiny"), (&top::WITH_L7, "tiny")];
    for &(top, config) in short.iter().chain(more.iter().filter(|_| support::long())) {
        let options = RtlOptions { top, seed, stalls: support::stalls(), ..RtlOptions::default() };
        let Some(mut nic) = comparison(config, options) else { continue };
        support::set_up(&mut nic);
        // Few rounds: the counters of all modules are read in each.
        for round in 0..4 {
            support::offer_some(&mut nic, 250, seed.wrapping_add(round));
            nic.advance(300).unwrap();
            let counters = nic.counters().unwrap();
            assert!(counters.modules.values().all(|m| m.closes()));
        }
        nic.quiesce().unwrap();
        let counters = nic.counters().unwrap();
        assert!(counters.modules.values().all(|m| m.in_flight == 0));
        let compared = nic.compared();
        println!("{}: {compared:?}", top.config(config));
        assert_eq!(compared.packets, 1_000);
        let outcomes = nic.poll(usize::MAX).into_iter().filter(|e| matches!(e, Event::Outcome(_))).count() as u64;
        let total: u64 = counters.modules.values().map(|m| m.offered + m.copies).sum();
        assert_eq!(outcomes, total);
    }
}

#[test]
fn a_blocked_destination_fills_its_queues_and_nothing_else() {
    let Some(mut nic) = comparison("tiny", BARE_TINY.options(1)) else { return };
    support::set_up(&mut nic);
    nic.set_blocked(1, true).unwrap();
    support::offer_some(&mut nic, 1_000, 3);
    nic.quiesce().unwrap();
    let waiting: u64 = nic.counters().unwrap().modules.values().map(|m| m.in_flight).sum();
    assert!(waiting > 0);
    assert!(nic.compared().tail_drops > 0);
    nic.set_blocked(1, false).unwrap();
    nic.quiesce().unwrap();
    assert!(nic.counters().unwrap().modules.values().all(|m| m.in_flight == 0));
}

#[test]
fn a_ring_that_loses_and_corrupts_messages_only_costs_time() {
    let seed = test_seed("a_ring_that_loses_and_corrupts_messages_only_costs_time");
    let faults = Faults { drop: 26, corrupt: 26, duplicate: 13, delay: 26, longest_delay: 2_000 };
    let stalls = Stalls { ready: Ready::Random { chance: 200 }, ..support::stalls() };
    for top in [&top::BARE, &top::RMT] {
        let options = RtlOptions { top, seed, faults, stalls: stalls.clone(), ..RtlOptions::default() };
        let Some(mut nic) = comparison("tiny", options) else { continue };
        support::set_up(&mut nic);
        let mut rng = Rng::new(seed);
        for _ in 0..5 {
            support::offer_some(&mut nic, 40, rng.next_u64());
            let counters = nic.counters().unwrap();
            assert!(counters.modules.values().all(|m| m.closes()));
        }
        nic.quiesce().unwrap();
        let (counts, asked) = (nic.rtl().fault_counts(), nic.rtl().requester_counts());
        println!("{counts:?} {asked:?} {:?}", nic.compared());
        assert!(counts.dropped > 50 && counts.corrupted > 50 && asked.repeated > 50);
    }
}

#[test]
fn every_row_reads_back_as_the_model_has_it() {
    let pipeline = |stages: usize| {
        let parser = 16 + 4 * 16 + 16 * 16;
        let stage = 1 + 16 + 64 + 8 + (64 + 8 + 16) + 32 + 64 * 16 + 512 + 8;
        let deparser = 16 + 4 * 16 * 16 + 16 + 8 + 8;
        parser + stages * stage + deparser
    };
    for top in [&top::NIC, &top::BARE, &top::RMT] {
        let Some(mut nic) = comparison("tiny", RtlOptions { top, ..RtlOptions::default() }) else { continue };
        support::set_up(&mut nic);
        let rows = nic.snapshot().unwrap();
        let port = 4096 + 1 + 8 + 1; // VLANs, policy, shares, excess
        // Programs, interfaces, pages, code, regions, maps, values, search memory, the host's operation and data, how far events are read,
        // shares, what is reserved of packet memory, packets by leaf.
        let xdp = 16 + 16 + 16 + 1024 + 32 + 16 + 1024 + 1024 + 1 + 18 + 8 + 8 + 1 + 16 * 64;
        let xdp = if top.engine_ids().contains(&EngineId::XDP) { xdp } else { 0 };
        // Match, start, port and group rows, shares, quotas, secrets, rings, doorbells.
        let l7 = 64 + 64 + 16 + 8 + 8 + 8 + 2 + 16 + 16;
        let l7 = if top.engine_ids().contains(&EngineId::L7) { l7 } else { 0 };
        // Rates and generations; limits, quanta and VLANs that leave; registers, of which four are the secret of flows.
        assert_eq!(rows.len(), 4 * port + 2 * 8 + (64 + 8 + 8) + 7 + pipeline(3) + xdp + l7);
    }
}
