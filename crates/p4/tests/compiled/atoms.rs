//! Atoms and `crc32c` of sluice.p4: words that a packet reads and changes at once, and the hash of a stage's key.

use crate::compare::{ALONE, Came, LONG, Place, on_header, run};
use sluice_formats::random::{Rng, test_seed};

const PACKETS: usize = 2_000;

/// A program on a header with a number of a word, two operands, and room for what comes of them.
fn program(locals: &str, apply: &str) -> String {
    let ingress = format!("standard.egress_spec = 1; {apply}");
    on_header("bit<8> what; bit<8> at; bit<32> a; bit<32> b; bit<32> old; bit<32> now;", locals, &ingress, "")
}

/// Packets whose operands are small, or any, so that both sides of a limit are met.
fn packets(rng: &mut Rng) -> Vec<(u16, Vec<u8>)> {
    let packet = |_| {
        let mut packet: Vec<u8> = (0..18 + rng.below(3)).map(|_| rng.next_u32() as u8).collect();
        packet[0] = rng.below(8) as u8;
        packet[1] = rng.below(20) as u8;
        for first in [2, 6] {
            if rng.below(4) > 0 {
                packet[first..first + 3].fill(0);
                packet[first + 3] = rng.below(6) as u8;
            }
        }
        if rng.below(20) == 0 {
            packet.truncate(rng.below(18) as usize + 1);
        }
        (rng.below(8) as u16, packet)
    };
    (0..PACKETS).map(packet).collect()
}

fn agree(locals: &str, apply: &str, entries: &str, places: &[Place]) {
    let mut rng = Rng::new(test_seed("atoms"));
    for place in places {
        let packets = packets(&mut rng);
        match run(&program(locals, apply), entries, *place, &packets) {
            Came::Agreed(sent) => assert!(sent >= PACKETS / 2, "{apply}: {sent}"),
            other => panic!("{locals} {apply}: {other:?}"),
        }
    }
}

#[test]
fn each_method_gives_what_the_reference_gives() {
    let at = "(bit<32>) hdr.h.at";
    for apply in [
        format!("w.read({at}, hdr.h.old); hdr.h.now = 1;"),
        format!("w.write({at}, hdr.h.a, hdr.h.old);"),
        format!("w.add({at}, hdr.h.a, hdr.h.old, hdr.h.now);"),
        format!("bit<32> x; w.add({at}, (bit<32>) hdr.h.what, x, hdr.h.now);"),
        "w.write(3, 0xffffffff, hdr.h.old); hdr.h.now = (bit<32>) hdr.h.at;".to_string(),
    ] {
        agree("atom(16) w;", &apply, "", &[ALONE, LONG]);
    }
}

#[test]
fn what_a_word_becomes_is_chosen_by_what_it_is() {
    let at = "(bit<32>) hdr.h.at";
    let values = ["old", "old_plus_operand", "old_minus_operand", "operand", "minus_operand"];
    for (yes, no) in values.iter().flat_map(|yes| values.iter().map(move |no| (yes, no))) {
        let apply = format!(
            "w.choose({at}, hdr.h.a, AtomValue.{yes}, hdr.h.b, AtomValue.{no}, hdr.h.a, hdr.h.old, hdr.h.now);"
        );
        agree("atom(16) w;", &apply, "", &[LONG]);
    }
    for apply in [
        // A counter that ends at ten and begins again, one that stays at its end, the largest value so far.
        format!("w.choose({at}, 10, AtomValue.operand, 0, AtomValue.old_plus_operand, 1, hdr.h.old, hdr.h.now);"),
        format!(
            "w.choose({at}, 0xfffffffe, AtomValue.old, 0, AtomValue.old_plus_operand, hdr.h.b, hdr.h.old, hdr.h.now);"
        ),
        format!("w.choose({at}, hdr.h.a, AtomValue.old, 0, AtomValue.operand, hdr.h.a, hdr.h.old, hdr.h.now);"),
    ] {
        agree("atom(16) w;", &apply, "", &[ALONE]);
    }
}

#[test]
fn operands_come_from_entries_and_from_other_atoms() {
    let table = |parameters: &str, choose: &str, entries: &str| {
        format!(
            "atom(16) w; atom(4) total;
            action pass({parameters}) {{ w.choose({choose}, hdr.h.old, hdr.h.now); }}
            table t {{ key = {{ hdr.h.what: exact; }} actions = {{ pass; NoAction; }} const entries = {{ {entries} }} }}"
        )
    };
    let counts = "AtomValue.operand, 0, AtomValue.old_plus_operand";
    let locals = table(
        "bit<32> index, bit<32> limit",
        &format!("index, limit, {counts}, 3"),
        "1: pass(2, 7); 2: pass(15, 100); 3: pass(0, 1);",
    );
    agree(&locals, "t.apply(); total.add(1, hdr.h.now, hdr.h.old, hdr.h.now);", "", &[ALONE]);
    let locals = table(
        "bit<32> limit, bit<32> step",
        &format!("(bit<32>) hdr.h.at, limit, {counts}, step"),
        "1: pass(7, 3); 2: pass(100, 9); 3: pass(1, 1);",
    );
    agree(&locals, "t.apply();", "", &[LONG]);
}

#[test]
fn the_hash_of_a_key_is_the_same_for_the_same_data() {
    agree("", "crc32c(hdr.h.now, { hdr.h.a, hdr.h.b });", "", &[ALONE, LONG]);
    agree(
        "atom(64) w;",
        "if (hdr.h.isValid()) {
            bit<32> h; crc32c(h, { hdr.h.a, hdr.h.at }); w.add((bit<32>) h[5:0], 1, hdr.h.old, hdr.h.now);
        }",
        "",
        &[LONG],
    );
}

#[test]
fn a_packet_has_one_access_to_an_atom() {
    let apply = "w.add(1, 1, hdr.h.old, hdr.h.now); w.add(2, 1, hdr.h.old, hdr.h.now);";
    match run(&program("atom(16) w;", apply), "", ALONE, &packets(&mut Rng::new(1))) {
        Came::Refused(why) => assert!(why.contains("E07") && why.contains("w.add"), "{why}"),
        other => panic!("{other:?}"),
    }
}
