//! Random programs on the pipeline: what the compiler takes gives the packets that the reference gives.
//!
//! SLUICE_SEED repeats a run, SLUICE_PROGRAMS is the number of programs, SLUICE_SAMPLE=N runs one of them alone.

mod generate;

use generate::{Sample, sample, shrunk};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_p4::stf::Script;
use sluice_p4::{Model, Reader, Undefined};
use sluice_rmt::target::{DEFAULT, WIDE};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Packets for each program.
const PACKETS: usize = 100;
/// The most programs of a hundred that may be refused.
const MOST_REFUSED: usize = 20;

/// What came of a program.
#[derive(Debug)]
enum Came {
    /// Packets that went through, and those that left.
    Agreed(usize),
    Refused(String),
    /// A packet of which reference and model say different things.
    Wrong(String),
    /// It is no program: the generator's mistake.
    NoProgram(String),
}

/// Ports that the pipeline has.
const PORTS: u16 = 8;

/// Compiles a program for all stages of a target, and sends packets through both.
fn run(program: &str, entries: &str, is_wide: bool, packets: &[(u16, Vec<u8>)]) -> Came {
    let (target, last) = if is_wide { (&WIDE, 11) } else { (&DEFAULT, 4) };
    let checked = match Reader::new().text("random.p4", program).check(Path::new("random.p4")) {
        Ok(checked) => checked,
        Err(errors) => return Came::NoProgram(errors.to_string()),
    };
    let mut reference = match checked.reference(Undefined::Zero, 1) {
        Ok(reference) => reference,
        Err(errors) => return Came::NoProgram(errors.to_string()),
    };
    let compiled = match checked.compile(target, 0, last) {
        Ok(compiled) => compiled,
        Err(errors) => return Came::Refused(errors.to_string()),
    };
    let script = match Script::parse("random.stf", entries) {
        Ok(script) => script,
        Err(errors) => return Came::NoProgram(errors.to_string()),
    };
    let report = script.run(&mut reference);
    if !report.passed() {
        return Came::NoProgram(format!("{:?}", report.failures));
    }
    let mut model = Model::new(compiled);
    if let Err(why) = model.load(&reference) {
        return Came::Refused(why);
    }
    let mut sent = 0;
    for (port, bytes) in packets {
        let mut expected = match reference.packet(*port, bytes) {
            Ok(expected) => expected,
            Err(why) => return Came::NoProgram(why),
        };
        // There is no such port.
        expected.retain(|copy| copy.port < PORTS);
        let found = model.packet(*port, bytes);
        if found.as_ref() != Ok(&expected) {
            return Came::Wrong(format!(
                "{bytes:02x?} from port {port}:\n  expected {expected:02x?}\n  found {found:02x?}"
            ));
        }
        sent += expected.len();
    }
    match model.differs(&reference) {
        Some(why) => Came::Wrong(why),
        None => Came::Agreed(sent),
    }
}

/// A program, made smaller, and what is wrong with it.
fn wrong(sample: &Sample, packets: &[(u16, Vec<u8>)]) -> String {
    let is_wrong =
        |program: &str, entries: &str| matches!(run(program, entries, sample.is_wide, packets), Came::Wrong(_));
    let entries = shrunk(&sample.entries, &mut |entries| is_wrong(&sample.program, entries));
    let program = shrunk(&sample.program, &mut |program| is_wrong(program, &entries));
    let entries = shrunk(&entries, &mut |entries| is_wrong(&program, entries));
    format!("{program}\n// Entries:\n{entries}\n{:?}", run(&program, &entries, sample.is_wide, packets))
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
    let (mut accepted, mut sent, mut mistakes) = (0, 0, Vec::new());
    for number in only.map_or(0..programs, |only| only..only + 1) {
        let mut rng = Rng::new(seed.wrapping_add(number as u64));
        let sample = sample(&mut rng, number % 4 == 3);
        let packets: Vec<(u16, Vec<u8>)> =
            (0..PACKETS).map(|_| (rng.below(u64::from(PORTS)) as u16, sample.packet(&mut rng))).collect();
        all.extend(sample.reached.iter().copied());
        match run(&sample.program, &sample.entries, sample.is_wide, &packets) {
            Came::Agreed(out) => {
                accepted += 1;
                sent += out;
                sample.reached.iter().for_each(|what| *reached.entry(*what).or_insert(0) += 1);
            }
            Came::Refused(why) => {
                if only.is_some() {
                    println!("{}\n{}\n{why}", sample.program, sample.entries);
                }
                *refused.entry(reason(&why)).or_insert(0) += 1;
            }
            Came::Wrong(why) => {
                println!("program {number} is wrong: {why}");
                mistakes.push(format!("program {number} of seed {seed}:\n{}", wrong(&sample, &packets)));
            }
            Came::NoProgram(why) => {
                panic!("program {number} of seed {seed}: {why}\n{}\n{}", sample.program, sample.entries)
            }
        }
    }
    println!("{programs} programs: {accepted} compiled, {PACKETS} packets each, {sent} sent");
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
