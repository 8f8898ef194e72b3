//! Random P4 programs on the pipeline in RTL: RTL, model and reference give the same packets.
//!
//! SLUICE_SEED repeats a run, SLUICE_PROGRAMS is the number of programs, SLUICE_SAMPLE=N runs one of them alone.

#[path = "../../p4/tests/compiled/generate/mod.rs"]
mod generate;

use crate::common::{Folder, has_plugin};
use generate::{Sample, Size, guarded, guarded_packet, sample, shrunk};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use std::collections::BTreeSet;

/// Packets for each program.
const PACKETS: usize = 100;
/// The most programs that are made for one that compiles.
const MOST_MADE: usize = 4;

/// What came of a program.
enum Came {
    /// Packets that left, and whether ports got other numbers.
    Passed(u64, bool),
    Refused,
    Wrong(String),
}

/// Its entries, packets, and that packets may leave anywhere: what is compared is what the reference sends.
fn script(sample: &Sample, rng: &mut Rng) -> String {
    let mut text = sample.entries.clone();
    sample.ports.iter().for_each(|port| text += &format!("expect {port}\n"));
    for _ in 0..PACKETS {
        let (port, bytes) = sample.arrival(rng);
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("packet {port} {digits}\n");
    }
    text
}

#[test]
fn random_programs_on_the_rtl_give_the_references_packets() {
    if !has_plugin("rmt_tiny") {
        return;
    }
    let seed = test_seed("random_programs_on_the_rtl");
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let wanted = variable("SLUICE_PROGRAMS").unwrap_or(if test_is_long() { 100 } else { 20 });
    let only = variable("SLUICE_SAMPLE");
    let f = Folder::new();
    let (mut passed, mut made, mut sent, mut others, mut reached) = (0, 0, 0, 0, BTreeSet::new());
    for number in only.map_or(0..2 * MOST_MADE * wanted, |only| only..only + 1) {
        if passed == wanted || made == MOST_MADE * wanted {
            break;
        }
        let mut rng = Rng::new(seed.wrapping_add(number as u64));
        let sample = sample(&mut rng, Size::Tiny);
        // What a value of the packet sends to a port that the pipeline does not have leaves on the reference only.
        if sample.reached.contains("port: a value") {
            continue;
        }
        made += 1;
        let script = script(&sample, &mut rng);
        match run(&f, &sample.program, &script) {
            Came::Passed(count, has_others) => {
                passed += 1;
                sent += count;
                others += usize::from(has_others);
                reached.extend(sample.reached);
            }
            Came::Refused => {}
            Came::Wrong(why) => {
                let is_wrong = |program: &str, script: &str| matches!(run(&f, program, script), Came::Wrong(_));
                let script = shrunk(&script, &mut |script| is_wrong(&sample.program, script));
                let program = shrunk(&sample.program, &mut |program| is_wrong(program, &script));
                panic!("program {number} of seed {seed}: {why}\nsmaller:\n{program}\n{script}");
            }
        }
    }
    println!(
        "{passed} of {made} programs compiled, {PACKETS} packets each, {sent} sent; {others} with other ports than the pipeline's"
    );
    println!("  reached: {}", reached.into_iter().collect::<Vec<_>>().join("; "));
    assert!(only.is_some() || passed == wanted, "{passed} of {made} programs compiled");
}

/// Tables with guards, ways, state and conditions around them.
#[test]
fn tables_with_something_beside_them_on_the_rtl_give_the_references_packets() {
    if !has_plugin("rmt_tiny") {
        return;
    }
    let seed = test_seed("multiplied_on_the_rtl");
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let wanted = variable("SLUICE_PROGRAMS").unwrap_or(if test_is_long() { 60 } else { 10 });
    let f = Folder::new();
    let (mut passed, mut made, mut sent) = (0, 0, 0);
    while passed < wanted && made < MOST_MADE * wanted {
        let mut rng = Rng::new(seed.wrapping_add(made as u64));
        made += 1;
        let sample = guarded(&mut rng, Size::Tiny);
        let mut script = sample.entries.clone();
        (0..8).for_each(|port| script += &format!("expect {port}\n"));
        for _ in 0..PACKETS {
            let digits: String = guarded_packet(&mut rng).iter().map(|byte| format!("{byte:02x}")).collect();
            script += &format!("packet {} {digits}\n", rng.below(8));
        }
        match run(&f, &sample.program, &script) {
            Came::Passed(count, _) => {
                passed += 1;
                sent += count;
            }
            Came::Refused => {}
            Came::Wrong(why) => panic!("program {made} of seed {seed}: {why}\n{}\n{script}", sample.program),
        }
    }
    println!("{passed} of {made} programs compiled, {PACKETS} packets each, {sent} sent");
    assert!(passed == wanted, "{passed} of {made} programs compiled");
}

/// RTL, model and reference with one program.
fn run(f: &Folder, program: &str, script: &str) -> Came {
    f.write("p.p4", program);
    f.write("p.stf", script);
    let mut call =
        vec!["p4", "test", "p.p4", "p.stf", "--device", "all", "--target", "tiny", "--stages", "0-2", "--json"];
    if program.contains("hash(") {
        call.extend(["--hash", "target"]);
    }
    let called = f.sluice(&call);
    let said = || Came::Wrong(format!("exit code {}\n{}\n{}", called.code, called.out, called.err));
    let value: serde_json::Value = serde_json::from_str(&called.out).unwrap_or_default();
    match called.code {
        0 => {
            let map = value["port_map"].as_object().is_some_and(|map| !map.is_empty());
            Came::Passed(value["sent"].as_u64().unwrap_or(0), map)
        }
        1 if is_refused(&value) => Came::Refused,
        // What is no program is smaller than one, and shows nothing.
        1 => said(),
        3 => Came::Refused,
        _ if called.err.contains("error[E07") => Came::Refused,
        _ => said(),
    }
}

/// Whether all that went wrong is that the pipeline has too little for the script's entries, before any packet.
fn is_refused(value: &serde_json::Value) -> bool {
    let Some(failures) = value["failures"].as_array() else { return false };
    let refused = |what: &str| what.contains("not on the pipeline") || what.contains("does not fit the pipeline");
    !failures.is_empty() && failures.iter().all(|failure| failure["what"].as_str().is_some_and(refused))
}
