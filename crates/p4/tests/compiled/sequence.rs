//! Programs in sequence are one program: it sends what they would send one after the other, on the reference and on the pipeline's model.
//!
//! SLUICE_SEED repeats a run, SLUICE_PROGRAMS is the number of sequences, SLUICE_SAMPLE=N runs one of them alone.

use crate::compare::{ALONE, Came, LONG, PORTS, TENANT, compare};
use crate::generate::{Chained, chained, chained_packet};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_p4::stf::Script;
use sluice_p4::{Program, Reader, Reference, Sent, Undefined};
use std::collections::BTreeMap;
use std::path::Path;

/// Packets for each sequence.
const PACKETS: usize = 120;
/// The most sequences of a hundred that may be refused.
const MOST_REFUSED: usize = 30;

const NAMES: [&str; 3] = ["one.p4", "two.p4", "three.p4"];

/// A program with entries, ready for packets.
pub fn ready(program: &Program, entries: &str) -> Reference {
    let mut reference = program.reference(Undefined::Zero, 1).unwrap_or_else(|errors| panic!("{errors}"));
    let report = Script::parse("entries.stf", entries).unwrap().run(&mut reference);
    assert!(report.passed(), "{:?}\n{entries}", report.failures);
    reference
}

/// What programs send one after the other: each gets the packet of the one before, from the port where the first got it.
fn one_after_the_other(all: &mut [Reference], port: u16, bytes: &[u8]) -> Vec<Sent> {
    let mut sent = vec![Sent { port, bytes: bytes.to_vec() }];
    for reference in all {
        sent = match &sent[..] {
            [one] => reference.packet(port, &one.bytes).unwrap(),
            [] => break,
            more => panic!("{} packets", more.len()),
        };
    }
    sent
}

fn entries(parts: &[Chained], is_sequence: bool) -> String {
    let mut text = String::new();
    for (part, name) in parts.iter().zip(NAMES) {
        for entry in &part.entries {
            let word = if is_sequence { format!("{}.", name.trim_end_matches(".p4")) } else { String::new() };
            text += &format!("add {word}{entry}\n");
        }
    }
    text
}

#[test]
fn random_sequences_send_what_their_programs_send_one_after_the_other() {
    let seed = test_seed("sequence");
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let sequences = variable("SLUICE_PROGRAMS").unwrap_or(if test_is_long() { 3_000 } else { 120 });
    let only = variable("SLUICE_SAMPLE");
    let (mut refused, mut sent, mut on_model) = (BTreeMap::new(), 0, 0);
    for number in only.map_or(0..sequences, |only| only..only + 1) {
        let mut rng = Rng::new(seed.wrapping_add(number as u64));
        let count = if rng.below(4) == 0 { 3 } else { 2 };
        let parts: Vec<Chained> = (0..count).map(|number| chained(&mut rng, number)).collect();
        let packets: Vec<(u16, Vec<u8>)> =
            (0..PACKETS).map(|_| (rng.below(PORTS.into()) as u16, chained_packet(&mut rng))).collect();
        let mut reader = Reader::new();
        for (part, name) in parts.iter().zip(NAMES) {
            reader = reader.text(name, &part.program);
        }
        let texts = || parts.iter().map(|part| &*part.program).collect::<Vec<_>>().join("\n////\n");
        let joined = match reader.check(Path::new(&NAMES[..count].join("+"))) {
            Ok(joined) => joined,
            // A stack that one program takes on more ways than the other is not joined.
            Err(errors) if errors.to_string().contains("only a header can be") => {
                *refused.entry("a stack".to_string()).or_insert(0) += 1;
                continue;
            }
            Err(errors) => panic!("sequence {number} of seed {seed}: {errors}\n{}", texts()),
        };
        if only.is_some() {
            println!("{}\n{joined}\n{}", texts(), entries(&parts, true));
        }
        let alone = |(part, name): (&Chained, &&str)| {
            let program = reader.check(Path::new(name)).unwrap_or_else(|errors| panic!("{errors}\n{}", part.program));
            ready(&program, &entries(std::slice::from_ref(part), false))
        };
        let mut each: Vec<Reference> = parts.iter().zip(&NAMES).map(alone).collect();
        let mut together = ready(&joined, &entries(&parts, true));
        for (port, bytes) in &packets {
            let wanted = one_after_the_other(&mut each, *port, bytes);
            let found = together.packet(*port, bytes).unwrap();
            assert_eq!(
                found,
                wanted,
                "sequence {number} of seed {seed}, port {port}, {bytes:02x?}\n{}\n{joined}",
                texts()
            );
            sent += found.len();
        }
        match compare(&joined, &entries(&parts, true), [TENANT, ALONE, LONG][number % 3], &packets) {
            Came::Agreed(_) => on_model += 1,
            Came::Refused(why) => {
                let first = why.lines().next().unwrap_or_default();
                *refused.entry(first.to_string()).or_insert(0) += 1;
            }
            other => panic!("sequence {number} of seed {seed}: {other:?}\n{joined}"),
        }
    }
    let count: usize = refused.values().sum();
    println!("seed {seed}: {sequences} sequences, {sent} packets sent, {on_model} on the model, {count} do not fit");
    refused.iter().for_each(|(why, count)| println!("  {count}: {why}"));
    assert!(only.is_some() || count * 100 <= sequences * MOST_REFUSED, "{count} of {sequences} are refused");
    assert!(only.is_some() || sent > sequences * PACKETS / 10, "{sent} packets are sent");
}
