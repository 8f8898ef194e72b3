//! Random P4 programs on the pipeline in RTL: RTL, model and reference give the same packets.
//!
//! SLUICE_SEED repeats a run, SLUICE_PROGRAMS is the number of programs, SLUICE_SAMPLE=N runs one of them alone.

mod common;
#[path = "../../p4/tests/compiled/generate/mod.rs"]
mod generate;

use common::{Folder, has_plugin};
use generate::{Size, sample};
use sluice_formats::random::{Rng, test_is_long, test_seed};

/// Packets for each program.
const PACKETS: usize = 100;
/// The most programs that are made for one that compiles.
const MOST_MADE: usize = 4;

/// Its entries, packets, and that packets may leave anywhere: what is compared is what the reference sends.
fn script(sample: &generate::Sample, rng: &mut Rng) -> String {
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
    let (mut passed, mut made, mut sent, mut others) = (0, 0, 0, 0);
    let call = ["p4", "test", "p.p4", "p.stf", "--device", "all", "--target", "tiny", "--stages", "0-2", "--json"];
    for number in only.map_or(0..MOST_MADE * wanted, |only| only..only + 1) {
        if passed == wanted {
            break;
        }
        made += 1;
        let mut rng = Rng::new(seed.wrapping_add(number as u64));
        let sample = sample(&mut rng, Size::Tiny);
        let script = script(&sample, &mut rng);
        f.write("p.p4", &sample.program);
        f.write("p.stf", &script);
        let called = f.sluice(&call);
        let said = || format!("program {number} of seed {seed}:\n{}\n{script}\n{}{}", sample.program, called.out, called.err);
        let value: serde_json::Value = serde_json::from_str(&called.out).unwrap_or_else(|_| panic!("{}", said()));
        match called.code {
            0 => {
                passed += 1;
                sent += value["sent"].as_u64().unwrap();
                others += usize::from(value["port_map"].as_object().is_some_and(|map| !map.is_empty()));
            }
            // Entries that do not fit are refused when the script runs.
            1 if is_refused(&value) => {}
            3 => {}
            _ => panic!("{}", said()),
        }
    }
    println!(
        "{passed} of {made} programs compiled, {PACKETS} packets each, {sent} sent; {others} with other ports than the pipeline's"
    );
    assert!(only.is_some() || passed == wanted, "{passed} of {made} programs compiled");
}

/// Whether all that went wrong is that the pipeline has too little for entries.
fn is_refused(value: &serde_json::Value) -> bool {
    let failures = value["failures"].as_array().unwrap();
    let refused = |what: &str| what.starts_with("the device: error[E0750]") || what.contains("does not fit the pipeline");
    !failures.is_empty() && failures.iter().all(|failure| failure["what"].as_str().is_some_and(refused))
}
