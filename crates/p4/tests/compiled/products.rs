//! Products with constants: powers of two that are added and subtracted.

use crate::compare::{ALONE, Came, LONG, compare, framed};

/// Every byte, with two others.
fn packets() -> Vec<(u16, Vec<u8>)> {
    (0..=255u8).map(|a| (0, vec![a, a.wrapping_mul(37), a ^ 0x5a])).collect()
}

fn agree(place: crate::compare::Place, apply: &str) {
    match compare(&framed("", apply), "", place, &packets()) {
        Came::Agreed(sent) => assert_eq!(sent, 256),
        other => panic!("{apply}: {other:?}"),
    }
}

#[test]
fn products_with_constants_of_eight_bits_are_those_of_the_reference() {
    // At most four terms have all of them.
    for k in (0..=255).step_by(5).chain([1, 2, 3, 127, 128, 129, 171, 254]) {
        agree(LONG, &format!("hdr.h.c = hdr.h.a * {k};"));
    }
    for k in [3, 7, 10, 255] {
        agree(ALONE, &format!("hdr.h.c = {k} * hdr.h.a;"));
    }
}

#[test]
fn products_stand_among_other_operations() {
    for apply in [
        "bit<16> x = (bit<16>) hdr.h.a * 10 + (bit<16>) hdr.h.b; hdr.h.b = x[15:8]; hdr.h.c = x[7:0];",
        "hdr.h.c = (hdr.h.a + hdr.h.b) * 5;",
        "hdr.h.c = hdr.h.a * 3 + hdr.h.b * 3;",
        "hdr.h.c = (bit<8>) ((int<8>) hdr.h.a * -3);",
        "if (hdr.h.a * 3 == hdr.h.b) { hdr.h.c = 1; } else { hdr.h.c = 2; }",
        "bit<32> x = (bit<32>) hdr.h.a * 65537; hdr.h.b = x[23:16]; hdr.h.c = x[7:0];",
    ] {
        agree(LONG, apply);
    }
}

#[test]
fn a_product_of_too_many_powers_of_two_or_of_two_fields_is_refused() {
    for (apply, words) in [
        (
            "bit<16> x = (bit<16>) hdr.h.a * 0b0101010101010101; hdr.h.c = x[15:8];",
            "8 powers of two added and subtracted, at most 4",
        ),
        ("hdr.h.c = hdr.h.a * hdr.h.b;", "a product of two values"),
    ] {
        match compare(&framed("", apply), "", LONG, &packets()) {
            Came::Refused(why) => assert!(why.contains(words) && why.contains("E0750"), "{why}"),
            other => panic!("{apply}: {other:?}"),
        }
    }
}
