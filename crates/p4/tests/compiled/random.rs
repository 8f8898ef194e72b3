//! Random programs on the pipeline: what the compiler takes gives the packets that the reference gives.
//!
//! SLUICE_SEED repeats a run, SLUICE_PROGRAMS is the number of programs, SLUICE_SAMPLE=N runs one of them alone.

use crate::compare::{ALONE, Came, LONG, Place, TENANT, run_with};
use crate::generate::{Sample, Size, sample, shrunk};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_p4::Allowed;
use std::collections::{BTreeMap, BTreeSet};

/// Packets for each program.
const PACKETS: usize = 100;
/// The most programs of a hundred that may be refused.
const MOST_REFUSED: usize = 20;

/// A program that hashes is content with the target's hash.
fn run(program: &str, entries: &str, place: Place, packets: &[(u16, Vec<u8>)]) -> Came {
    let hashes = program.contains("hash(");
    let allowed = if hashes { Allowed::default().with_target_hash() } else { Allowed::default() };
    run_with(program, allowed, entries, place, packets)
}

/// A program, made smaller, and what is wrong with it.
fn wrong(sample: &Sample, place: Place, packets: &[(u16, Vec<u8>)]) -> String {
    let is_wrong = |program: &str, entries: &str| matches!(run(program, entries, place, packets), Came::Wrong(_));
    let entries = shrunk(&sample.entries, &mut |entries| is_wrong(&sample.program, entries));
    let program = shrunk(&sample.program, &mut |program| is_wrong(program, &entries));
    let entries = shrunk(&entries, &mut |entries| is_wrong(&program, entries));
    format!("{program}\n// Entries:\n{entries}\n{:?}", run(&program, &entries, place, packets))
}

/// Why a program is refused, without what differs from one to the next.
fn reason(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    first.chars().map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect::<String>().replace("NN", "N")
}

#[test]
fn random_programs_give_the_references_packets() {
    let seed = test_seed("random_programs");
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let programs = variable("SLUICE_PROGRAMS").unwrap_or(if test_is_long() { 2_000 } else { 300 });
    let only = variable("SLUICE_SAMPLE");
    let (mut refused, mut reached, mut all) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    let (mut accepted, mut tenants, mut sent, mut mistakes) = (0, 0, 0, Vec::new());
    for number in only.map_or(0..programs, |only| only..only + 1) {
        let mut rng = Rng::new(seed.wrapping_add(number as u64));
        let (size, all_of) = if number % 4 == 3 { (Size::Wide, LONG) } else { (Size::Default, ALONE) };
        let sample = sample(&mut rng, size);
        let packets: Vec<(u16, Vec<u8>)> = (0..PACKETS).map(|_| sample.arrival(&mut rng)).collect();
        all.extend(sample.reached.iter().copied());
        let mut place = all_of;
        if only.is_some() {
            println!("{}\n{}", sample.program, sample.entries);
        }
        let mut came = run(&sample.program, &sample.entries, place, &packets);
        if let (Came::Agreed(_), 0) = (&came, number % 4) {
            match run(&sample.program, &sample.entries, TENANT, &packets) {
                Came::Agreed(_) => tenants += 1,
                Came::Refused(_) => {}
                other => (place, came) = (TENANT, other),
            }
        }
        match came {
            Came::Agreed(out) => {
                accepted += 1;
                sent += out;
                sample.reached.iter().for_each(|what| *reached.entry(*what).or_insert(0) += 1);
            }
            Came::Refused(why) => {
                if only.is_some() {
                    println!("{why}");
                }
                *refused.entry(reason(&why)).or_insert(0) += 1;
            }
            Came::Wrong(why) => {
                println!("program {number} is wrong: {why}");
                // A few of them are made smaller; where there are many, there is one cause.
                if mistakes.len() < 3 {
                    mistakes.push(format!("program {number} of seed {seed}:\n{}", wrong(&sample, place, &packets)));
                }
            }
            Came::NoProgram(why) => {
                panic!("program {number} of seed {seed}: {why}\n{}\n{}", sample.program, sample.entries)
            }
        }
    }
    println!(
        "{programs} programs: {accepted} compiled, {PACKETS} packets each, {sent} sent; {tenants} as tenants, too"
    );
    let mut sorted: Vec<(&String, &usize)> = refused.iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    sorted.iter().for_each(|(why, count)| println!("  refused {count}: {why}"));
    reached.iter().for_each(|(what, count)| println!("  reached {count}: {what}"));
    assert!(mistakes.is_empty(), "{} programs give wrong packets\n{}", mistakes.len(), mistakes.join("\n\n"));
    if only.is_none() && programs >= 300 {
        let missing: Vec<&str> = all.iter().copied().filter(|what| !reached.contains_key(what)).collect();
        assert!(missing.is_empty(), "never in a program that compiles: {missing:?}");
        let refused: usize = refused.values().sum();
        assert!(refused * 100 <= programs * MOST_REFUSED, "{refused} of {programs} are refused");
    }
}
