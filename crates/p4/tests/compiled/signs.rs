//! Saturation with signs, over all pairs of small numbers and random ones of more bits.

use crate::compare::{Came, LONG, compare, framed};
use sluice_formats::random::{Rng, test_seed};

fn agree(apply: &str, packets: &[(u16, Vec<u8>)]) {
    match compare(&framed("", apply), "", LONG, packets) {
        Came::Agreed(sent) => assert_eq!(sent, packets.len()),
        other => panic!("{apply}: {other:?}"),
    }
}

#[test]
fn sums_and_differences_with_signs_stop_at_their_ends() {
    let all: Vec<(u16, Vec<u8>)> = (0..=255).map(|pair| (0, vec![pair, 0, 0])).collect();
    let mut rng = Rng::new(test_seed("p4_signs"));
    let random: Vec<(u16, Vec<u8>)> = (0..2_000).map(|_| (0, (0..3).map(|_| rng.below(256) as u8).collect())).collect();
    for op in ["|+|", "|-|"] {
        agree(&format!("hdr.h.b[3:0] = (bit<4>) ((int<4>) hdr.h.a[7:4] {op} (int<4>) hdr.h.a[3:0]);"), &all);
        agree(&format!("hdr.h.c = (bit<8>) ((int<8>) hdr.h.a {op} (int<8>) hdr.h.b);"), &random);
        agree(&format!("hdr.h.c = (bit<8>) ((int<8>) hdr.h.a {op} 100);"), &random);
        agree(&format!("hdr.h.c = (bit<8>) ((int<8>) -100 {op} (int<8>) hdr.h.b);"), &random);
    }
}
