//! Random programs: what the checker lets through runs on every packet.

use sluice_formats::random::{Rng, test_seed};
use sluice_rmt::deparser::{DeparseRow, Deparser, Update};
use sluice_rmt::phv::{Container, Phv};
use sluice_rmt::pipeline::Memory;
use sluice_rmt::target::{DEFAULT, TINY, WINDOW};
use sluice_rmt::testing::{Shape, deparse_row, program};
use sluice_rmt::{Arrival, Outcome, Pipeline, Program, Role, check};

/// Each byte of the outgoing header as the hardware makes it: rotated containers, one choice a lane.
fn lanes_by_rotation(row: &DeparseRow, phv: &Phv, beat: usize) -> Vec<Option<u8>> {
    let mut bytes = vec![None; WINDOW];
    for first in (0..WINDOW).step_by(beat) {
        let lane = |i: usize| row.lanes[i].map(|(c, b)| (c, (i + c.bytes() - usize::from(b)) % c.bytes()));
        for n in 0..24 {
            let c = Container(n);
            let Some((_, r)) = (first..first + beat).find_map(|i| lane(i).filter(|l| l.0 == c)) else { continue };
            let size = c.bytes();
            let rotated: Vec<u8> = (0..size).map(|p| phv.byte(c, (p + size - r) % size)).collect();
            for i in (first..first + beat).filter(|&i| row.lanes[i].is_some_and(|l| l.0 == c)) {
                bytes[i] = Some(rotated[i % size]);
            }
        }
    }
    bytes
}

#[test]
fn programs_that_pass_the_checker_run_on_every_packet() {
    let mut rng = Rng::new(test_seed("rmt_random_programs"));
    let (mut passed, mut sent, mut odd) = (0, 0, 0);
    for round in 0..1500 {
        let target = if round % 2 == 0 { DEFAULT } else { TINY };
        let program = program(&mut rng, &target, &Shape::TENANT);
        if check(&program, &target, Role::Tenant).is_err() {
            continue;
        }
        passed += 1;
        let mut pipeline = Pipeline::new(target);
        pipeline.load(1, 0, program, Memory::Zeroed).unwrap();
        pipeline.grant(1, 0xff);
        for _ in 0..20 {
            let length = match rng.below(4) {
                0 => rng.below(64),
                1 => rng.below(140),
                2 => rng.below(1600),
                _ => rng.below(9217),
            };
            let packet = rng.bytes(length as usize);
            let arrival = Arrival {
                packet: &packet,
                module: 1,
                generation: 0,
                system_generation: 0,
                tenant: 1,
                port: rng.below(16) as u8,
                arrival: rng.next_u64() >> 16,
                queueing: rng.next_u64() >> 16,
            };
            if let Outcome::Sent { packet: out, copies } = pipeline.run(&arrival) {
                sent += 1;
                assert!(!copies.is_empty() && (1..=9216).contains(&out.len()));
                assert!(out.len().abs_diff(packet.len()) <= 64);
                odd += out.len().abs_diff(packet.len()) % 2;
            }
        }
    }
    println!(
        "{passed} programs passed the checker, {sent} packets were sent, {odd} longer or shorter by an odd number"
    );
    let enough = passed > 100 && sent > 500 && odd > 100;
    assert!(enough, "{passed} programs, {sent} packets, {odd} odd: too few to mean anything");
}

#[test]
fn one_rotation_a_beat_serves_every_lane_that_the_checker_allows() {
    let mut rng = Rng::new(test_seed("rmt_lanes"));
    let mut compared = 0;
    for _ in 0..500 {
        let target = if rng.chance(1, 2) { DEFAULT } else { TINY };
        let row = deparse_row(&mut rng, &target);
        let program = Program { deparser: Deparser::single(row.clone()), ..Program::default() };
        if check(&program, &target, Role::Tenant).is_err() {
            continue;
        }
        let mut phv = Phv::default();
        (0..24).for_each(|n| phv.set(Container(n), rng.next_u64()));
        let expected: Vec<_> = row.lanes.iter().map(|l| l.map(|(c, b)| phv.byte(c, b.into()))).collect();
        assert_eq!(lanes_by_rotation(&row, &phv, target.bus_bytes), expected);
        compared += expected.iter().flatten().count();
    }
    assert!(compared > 1000, "{compared} lanes: too few to mean anything");
}

#[test]
fn random_rows_have_incremental_checksums_of_every_kind() {
    let mut rng = Rng::new(test_seed("rmt_adjusts"));
    let (mut same, mut moved, mut longer, mut udp, mut shared, mut apart) = (0, 0, 0, 0, 0, 0);
    for _ in 0..6000 {
        let row = deparse_row(&mut rng, &DEFAULT);
        let program = Program { deparser: Deparser::single(row.clone()), ..Program::default() };
        let (Ok(()), Some(old)) = (check(&program, &DEFAULT, Role::Tenant), row.adjust) else { continue };
        let new = row.checksums[1].expect("the checker wants it");
        same += usize::from(old.start == new.start);
        moved += usize::from(row.delta != 0 && row.came_from(new.start, new.words) == Some(old.start));
        longer += usize::from(old.words != new.words);
        udp += usize::from(old.udp);
        apart += usize::from((old.start ^ new.start) & 1);
        let overlaps = |first: Update| {
            let end = |u: Update| u.start + 2 * u.words;
            first.start < end(new) && new.start < end(first)
        };
        shared += usize::from(row.checksums[0].is_some_and(overlaps));
    }
    println!("{same} in place, {moved} moved, {longer} of another length, {udp} of UDP, {shared} with shared words");
    println!("{apart} from an odd byte to an even one, or back");
    assert!([same, moved, longer, udp, shared, apart].into_iter().all(|n| n > 3));
}
