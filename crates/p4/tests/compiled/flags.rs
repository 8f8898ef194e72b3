//! What is had in part where a flag allows it: the reference then does the same as the pipeline.

use crate::compare::{ALONE, Came, LONG, PORTS, Place, compare, framed};
use sluice_formats::random::{Rng, test_seed};
use sluice_p4::{Allowed, Program, Reader, Undefined};
use sluice_rmt::target::DEFAULT;
use std::path::Path;

/// Packets for each program.
const PACKETS: usize = 2_000;

/// A program on headers of three bytes.
fn program(locals: &str, apply: &str, allowed: Allowed) -> Program {
    let mut program = framed(locals, apply);
    program.allow(allowed);
    program
}

fn came(program: &Program, entries: &str, place: Place) -> Came {
    let mut rng = Rng::new(test_seed("p4_flags"));
    let mut bytes = || (0..1 + rng.below(6)).map(|_| rng.below(256) as u8).collect();
    let packets: Vec<(u16, Vec<u8>)> = (0..PACKETS).map(|number| (number as u16 % PORTS, bytes())).collect();
    compare(program, entries, place, &packets)
}

fn agree(program: &Program, entries: &str) {
    match came(program, entries, LONG) {
        Came::Agreed(sent) => assert!(sent > 0),
        other => panic!("{other:?}"),
    }
}

fn refused(program: &Program, entries: &str, why: &str) {
    match came(program, entries, LONG) {
        Came::Refused(found) => assert!(found.contains(why), "{found}"),
        other => panic!("{other:?}, expected {why}"),
    }
}

fn target() -> Allowed {
    Allowed::default().with_target_hash()
}

#[test]
fn the_targets_hash_is_the_references_too() {
    for apply in [
        "hash(hdr.h.c, HashAlgorithm.crc32, 8w0, { hdr.h.a, hdr.h.b }, 16w16);",
        "hash(hdr.h.c, HashAlgorithm.crc16, 8w3, { hdr.h.a, hdr.h.b }, 16w256);",
        // Of one list, two algorithms.
        "bit<8> x; bit<8> y; hash(x, HashAlgorithm.crc16, 8w0, { hdr.h.a }, 16w64);
            hash(y, HashAlgorithm.crc32, 8w0, { hdr.h.a }, 16w64); hdr.h.b = x; hdr.h.c = y;",
        // Of what was computed, beside constants, and among decisions.
        "hdr.h.a = hdr.h.a + 1; hash(hdr.h.c, HashAlgorithm.crc32, 8w0, { hdr.h.a, 8w7, hdr.h.b }, 16w128);",
        "if (hdr.h.a < 100) { hash(hdr.h.c, HashAlgorithm.crc32, 8w0, { hdr.h.b }, 16w8); } else { hdr.h.c = 5; }",
        "bit<8> x; hash(x, HashAlgorithm.crc32, 8w0, { hdr.h.b }, 16w4); if (x == 2) { hdr.h.a = 0; }",
        "hash(hdr.h.c, HashAlgorithm.crc32, 8w9, { hdr.h.b }, 16w1); hash(hdr.h.a, HashAlgorithm.crc32, 8w8, { hdr.h.b }, 16w0);",
    ] {
        println!("{apply}");
        agree(&program("", apply, target()), "");
    }
    let apply = "hash(hdr.h.c, HashAlgorithm.crc32, 8w0, { hdr.h.a, hdr.h.b }, 16w16);";
    assert!(matches!(came(&program("", apply, target()), "", ALONE), Came::Agreed(_)));
    // Two lists are one hash, as a connection and its answer are.
    let apply = "bit<8> x; hash(x, HashAlgorithm.crc32, 8w0, { hdr.h.b, hdr.h.a }, 16w16);
        bit<8> y; hash(y, HashAlgorithm.crc32, 8w0, { hdr.h.a, hdr.h.b }, 16w16); hdr.h.b = x; hdr.h.c = y;";
    agree(&program("", apply, target()), "");
    // One list is two where a header may be invalid, whose fields are zero: two ways to one hash.
    let apply = "if (hdr.h.a < 100) { hash(hdr.h.c, HashAlgorithm.crc16, 8w0, { hdr.h.a, hdr.h.b, hdr.h.c }, 16w4); }
        else { hash(hdr.h.c, HashAlgorithm.crc16, 8w0, { hdr.h.a, 16w0 }, 16w4); }";
    agree(&program("", apply, target()), "");
    // Another way looks at something else in the hash's stage.
    let locals = "table t { key = { hdr.h.c: exact; } actions = { NoAction; } }";
    let apply = "if (hdr.h.a < 100) { hash(hdr.h.c, HashAlgorithm.crc32, 8w0, { hdr.h.b }, 16w256); }
        else { hdr.h.c = hdr.h.c + 1; if (t.apply().hit) { hdr.h.a = 0; } }";
    let entries = "add t hdr.h.c:1 NoAction()\nadd t hdr.h.c:7 NoAction()";
    agree(&program(locals, apply, target()), entries);
    // So it does beside a hash of constants, which itself looks at nothing.
    agree(&program(locals, &apply.replace("{ hdr.h.b }", "{ 8w5 }"), target()), entries);
    // The values are spread.
    let mut seen = std::collections::BTreeSet::new();
    let program = program("", "hash(hdr.h.c, HashAlgorithm.crc32, 8w0, { hdr.h.a, hdr.h.b }, 16w64);", target());
    let mut reference = program.reference(Undefined::Zero, 1).unwrap();
    program.compile(&DEFAULT, 0, 4).unwrap().teach(&mut reference);
    for at in 0..=255 {
        seen.insert(reference.packet(0, &[at, 0, 0]).unwrap()[0].bytes[2]);
    }
    assert_eq!(seen.len(), 64);
}

#[test]
fn hashes_that_cannot_be_had_are_refused() {
    let modulo = |by: &str| {
        let locals = "action a(bit<16> many) { hash(hdr.h.c, HashAlgorithm.crc32, 8w1, { hdr.h.b }, many); }
            table t { key = { hdr.h.a: exact; } actions = { a; NoAction; } }";
        (locals.to_string(), format!("add t hdr.h.a:1 a({by})\nadd t hdr.h.a:2 a(32)"))
    };
    let (locals, entries) = modulo("16");
    let both = target().with_power_of_two();
    agree(&program(&locals, "t.apply();", both.clone()), &entries);
    refused(&program(&locals, "t.apply();", target()), &entries, "--power-of-two");
    for by in ["3", "0"] {
        refused(&program(&locals, "t.apply();", both.clone()), &modulo(by).1, "powers of two");
    }
    for (apply, why) in [
        ("hash(hdr.h.c, HashAlgorithm.crc32, 8w1, { hdr.h.b }, 16w10);", "no power of two"),
        ("hash(hdr.h.c, HashAlgorithm.xor16, 8w1, { hdr.h.b }, 16w8);", "another algorithm"),
        ("hash(hdr.h.c, HashAlgorithm.crc32, 8w1, { hdr.h.b }, hdr.h.a);", "the packet decides"),
        // Lists that part within bytes: what brings them to one place takes more stages than there are.
        (
            "bit<8> x; hash(x, HashAlgorithm.crc32, 8w0, { hdr.h.b, hdr.h.a[7:4] }, 16w4);
            hash(hdr.h.c, HashAlgorithm.crc32, 8w0, { hdr.h.a[7:4], hdr.h.b }, 16w4); hdr.h.c = hdr.h.c + x;",
            "a chain of 13 stages",
        ),
    ] {
        refused(&program("", apply, both.clone()), "", why);
    }
    let apply = "hash(hdr.h.c, HashAlgorithm.crc16, 8w1, { hdr.h.b }, 16w8);";
    refused(&program("", apply, Allowed::default()), "", "--hash target");
    // What is known needs no hardware.
    agree(&program("", "hash(hdr.h.c, HashAlgorithm.crc16, 8w1, { 8w5, 4w1 }, 16w50);", Allowed::default()), "");
}

#[test]
fn registers_and_counters_have_the_cells_that_they_may_have() {
    let locals = "register<bit<8>>(65536) r; counter(65536, CounterType.packets) c;";
    let apply = "bit<8> x; r.read(x, (bit<32>) hdr.h.a); hdr.h.c = x; r.write((bit<32>) hdr.h.a, hdr.h.b);
        c.count((bit<32>) hdr.h.a);";
    refused(&program(locals, apply, Allowed::default()), "", "cells");
    agree(&program(locals, apply, Allowed::default().with_cells("r", 100).with_cells("In.c", 64)), "");
    // All cells of a stage leave no room for those of a replacement, so they are kept.
    let most = "register<bit<8>>(4096) r;";
    let apply = "bit<8> x; r.read(x, (bit<32>) hdr.h.a); hdr.h.c = x; r.write((bit<32>) hdr.h.a, hdr.h.b);";
    agree(&program(most, apply, Allowed::default()), "");
    let unknown = program(locals, apply, Allowed::default().with_cells("s", 100));
    assert!(unknown.reference(Undefined::Zero, 1).unwrap_err().to_string().contains("`s`"));
}

#[test]
fn packets_with_more_headers_than_a_bound_are_dropped() {
    let frame = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4")).unwrap();
    let (begin, rest) = frame.split_once("    state start {").unwrap();
    let (_, end) = rest.split_once("    }\n").unwrap();
    let states = "state start { packet.extract(hdr.s.next); transition select(hdr.s.last.a) { 0 &&& 1: start; default: accept; } }";
    let text = format!("{begin}{states}{end}")
        .replace("h_t h;", "h_t[6] s;")
        .replace("packet.emit(hdr.h);", "packet.emit(hdr.s);");
    let apply = "hdr.s[1].b = 9;";
    let reader = Reader::new().define("LOCALS", "").define("APPLY", apply).text("frame.p4", text);
    let mut program = reader.check(Path::new("frame.p4")).unwrap_or_else(|errors| panic!("{errors}"));
    let mut rng = Rng::new(test_seed("p4_bound"));
    let mut bytes = || (0..3 + rng.below(20)).map(|_| rng.below(4) as u8).collect();
    let packets: Vec<(u16, Vec<u8>)> = (0..PACKETS).map(|_| (0, bytes())).collect();
    let mut sent = Vec::new();
    for bound in [1, 2, 4, 6] {
        program.allow(Allowed::default().with_bound("s", bound));
        match compare(&program, "", ALONE, &packets) {
            Came::Agreed(number) => sent.push(number),
            other => panic!("{bound}: {other:?}"),
        }
    }
    assert!(sent.windows(2).all(|pair| pair[0] < pair[1]), "{sent:?}");
    program.allow(Allowed::default().with_bound("t", 2));
    assert!(program.compile(&DEFAULT, 0, 4).unwrap_err().to_string().contains("`t`"));
}
