//! Programs as relocatable rows and back.

use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_rmt::pipeline::Memory;
use sluice_rmt::programs::l3_router::Route;
use sluice_rmt::programs::{calc, l3_router, tunnel};
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::testing::{Shape, checked_program};
use sluice_rmt::{Arrival, Pipeline, Program, Role, decode, encode};

fn pipeline(target: Target, program: &Program) -> Pipeline {
    let mut pipeline = Pipeline::new(target);
    pipeline.load(1, 0, program.clone(), Memory::Zeroed).unwrap();
    pipeline.grant(1, 0xff);
    pipeline
}

#[test]
fn a_program_read_back_from_its_rows_does_the_same_to_every_packet() {
    let mut rng = Rng::new(test_seed("rmt_encode"));
    let mut sent = 0;
    for round in 0..200 {
        let target = if round % 2 == 0 { DEFAULT } else { TINY };
        let program = checked_program(&mut rng, &target, &Shape::TENANT);
        let part = encode(&program, &target).unwrap();
        let again = decode(&part, &target, Role::Tenant).unwrap();
        assert!(encode(&again, &target).unwrap() == part, "rows of the program that was read back differ");
        let (mut a, mut b) = (pipeline(target, &program), pipeline(target, &again));
        for _ in 0..40 {
            let length = if rng.chance(1, 2) { rng.below(140) } else { rng.below(1600) };
            let packet = rng.bytes(length as usize);
            let arrival = Arrival {
                packet: &packet,
                module: 1,
                generation: 0,
                system_generation: 0,
                tenant: 1,
                port: rng.below(8) as u8,
                arrival: rng.next_u64() >> 16,
                queueing: rng.next_u64() >> 16,
            };
            let outcome = a.run(&arrival);
            sent += usize::from(matches!(outcome, sluice_rmt::Outcome::Sent { .. }));
            assert_eq!(b.run(&arrival), outcome);
        }
        for stage in 0..target.stages {
            assert_eq!(a.words(1, 0, stage), b.words(1, 0, stage));
            assert!((0..2048).all(|n| a.hits(1, stage, n) == b.hits(1, stage, n)));
        }
        assert_eq!(a.state_range(1), b.state_range(1));
    }
    assert!(sent > 500, "{sent} packets were sent: too few to mean anything");
}

#[test]
fn programs_built_in_rust_come_back_as_they_were() {
    let route = |length, prefix| Route { prefix, length, destination: 1, next_hop: [2; 6], own: [3; 6] };
    let router = l3_router::program(1, &[route(8, [10, 0, 0, 0]), route(0, [0; 4]), route(16, [10, 1, 0, 0])]);
    let part = encode(&router, &DEFAULT).unwrap();
    let ones = |e: &sluice_object::RmtTernary| e.row.mask.0.iter().map(|b| b.count_ones()).sum::<u32>();
    let lengths: Vec<u32> = part.stages[&1].ternary.iter().map(ones).collect();
    assert!(lengths.is_sorted_by(|a, b| a >= b) && part.stages[&1].longest, "{lengths:?}: longest prefixes first");
    let ends = tunnel::Ends { here: [10, 0, 0, 1], there: [10, 0, 0, 2] };
    for program in [calc::program(1), tunnel::program(1, ends, &[], 1)] {
        let part = encode(&program, &DEFAULT).unwrap();
        let mut again = decode(&part, &DEFAULT, Role::Tenant).unwrap();
        // ALUs come back in the order of their containers, which nothing depends on.
        for action in again.stages.iter_mut().flatten().flat_map(|s| &mut s.actions) {
            let place = |c| {
                program.stages.iter().flatten().flat_map(|s| &s.actions).flat_map(|a| &a.alus).position(|a| a.own == c)
            };
            action.alus.sort_by_key(|a| place(a.own));
        }
        assert!(again == program, "{again:?}");
    }
}

#[test]
fn codes_that_mean_nothing_are_refused_with_their_place() {
    let mut part = encode(&calc::program(1), &DEFAULT).unwrap();
    let problem = |part: &_| decode(part, &DEFAULT, Role::Tenant).unwrap_err().to_string();
    let stage = part.stages.get_mut(&1).unwrap();
    let good = stage.clone();
    stage.actions[0].alus[10].op = 10;
    assert_eq!(
        problem(&part),
        "stages[1].actions[0].alus[10]: found code 10, allowed: the codes of docs/design/rmt-rows.md"
    );
    let stage = part.stages.get_mut(&1).unwrap();
    *stage = good.clone();
    stage.key.predicates[1].a = 40;
    assert!(problem(&part).starts_with("stages[1].key.predicates[1]: found code 40"));
    let stage = part.stages.get_mut(&1).unwrap();
    *stage = good.clone();
    stage.actions[0].mask2[7] = 1;
    assert!(problem(&part).contains("part of an ALU that nothing looks at"), "{}", problem(&part));
    let stage = part.stages.get_mut(&1).unwrap();
    *stage = good;
    stage.exact[0].row.action = 99;
    assert!(problem(&part).contains("rmt.stages.1.exact[0].action: found 99, allowed: below 6"));
}

#[test]
fn every_row_of_random_programs_packs() {
    let mut rng = Rng::new(test_seed("rmt_encode_packs"));
    for _ in 0..100 {
        let part = encode(&checked_program(&mut rng, &TINY, &Shape::TENANT), &TINY).unwrap();
        assert_eq!(part.check(&TINY), Ok(()));
        assert!(part.stages.values().flat_map(|s| &s.actions).all(|a| a.pack().unwrap().len() == 77));
    }
}
