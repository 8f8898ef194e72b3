//! CALC on the default target.

use sluice_rmt::pipeline::Memory;
use sluice_rmt::programs::calc;
use sluice_rmt::target::DEFAULT;
use sluice_rmt::{Arrival, Copy, Outcome, Pipeline, Reason};

const MODULE: u8 = 3;

fn pipeline() -> Pipeline {
    let mut pipeline = Pipeline::new(DEFAULT);
    pipeline.load(MODULE, 0, calc::program(1), Memory::Zeroed).unwrap();
    pipeline.grant(MODULE, 0b1111);
    pipeline
}

fn arrival(packet: &[u8]) -> Arrival<'_> {
    Arrival { packet, module: MODULE, generation: 0, system_generation: 0, tenant: 7, port: 0, arrival: 1, queueing: 2 }
}

fn question(op: u8, a: u32, b: u32, payload: usize) -> Vec<u8> {
    let mut p = vec![1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 0x12, 0x34, b'P', b'4', 1, op];
    p.extend(a.to_be_bytes());
    p.extend(b.to_be_bytes());
    p.extend([0xee; 4]);
    p.extend((0..payload).map(|i| i as u8));
    p
}

#[test]
fn every_operation_is_answered_in_its_place_and_the_rest_is_untouched() {
    let mut pipeline = pipeline();
    let cases: [(u8, u32, u32, u32); 7] = [
        (b'+', 1, 2, 3),
        (b'+', u32::MAX, 1, 0),
        (b'-', 1, 2, u32::MAX),
        (b'-', 9, 2, 7),
        (b'&', 0b1100, 0b1010, 0b1000),
        (b'|', 0b1100, 0b1010, 0b1110),
        (b'^', 0b1100, 0b1010, 0b0110),
    ];
    for (op, a, b, result) in cases {
        for payload in [0, 30, 34, 98, 99, 1470] {
            let packet = question(op, a, b, payload);
            let mut expected = packet.clone();
            expected[..6].copy_from_slice(&packet[6..12]);
            expected[6..12].copy_from_slice(&packet[..6]);
            expected[26..30].copy_from_slice(&result.to_be_bytes());
            let copies = vec![Copy { destination: 0, queue: 0, tag: 0 }];
            assert_eq!(pipeline.run(&arrival(&packet)), Outcome::Sent { packet: expected, copies }, "{}", op as char);
        }
    }
    assert_eq!((pipeline.hits(MODULE, 1, 0), pipeline.hits(MODULE, 1, 4)), (12, 6));
}

#[test]
fn other_packets_are_dropped_with_their_reason() {
    let mut pipeline = pipeline();
    let mut reason = |packet: &[u8]| match pipeline.run(&arrival(packet)) {
        Outcome::Dropped(reason) => Some(reason),
        Outcome::Sent { .. } => None,
    };
    assert_eq!(reason(&question(b'*', 1, 2, 34)), Some(Reason::Discard));
    assert_eq!(reason(&question(b'+', 1, 2, 0)), None);
    assert_eq!(reason(&question(b'+', 1, 2, 0)[..29]), Some(Reason::ParseShort));
    let mut other = question(b'+', 1, 2, 34);
    other[12] = 0x08;
    assert_eq!(reason(&other), Some(Reason::ParseReject));
    assert_eq!(reason(&[]), Some(Reason::ParseReject));
}
