//! Meters of two colours of sluice.p4: the pipeline's give the colours that the reference's arithmetic gives, at any time.

use crate::compare::{ALONE, Came, LONG, Place, TENANT, on_header, run};
use sluice_formats::random::{Rng, test_seed};
use sluice_p4::stf::{Carrier, Script};
use sluice_p4::{Model, Program, Reader, Reference, Traffic, Undefined};
use std::path::Path;

const PACKETS: usize = 2_000;
/// Nanoseconds after which each meter here is as new.
const REST: u64 = 1_000_000_000;
/// Packets at the end, all at once.
const MANY: usize = 64;

/// A program that colours packets of a meter which they name, and keeps the words for comparison.
fn program(locals: &str, apply: &str) -> String {
    let ingress = format!("standard.egress_spec = 1; if (hdr.h.isValid()) {{ {apply} }}");
    on_header("bit<8> what; bit<8> at; bit<7> rest; bit<1> color;", locals, &ingress, "")
}

fn checked(text: &str) -> Program {
    Reader::new()
        .text("police.p4", text)
        .check(Path::new("police.p4"))
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// A pause in nanoseconds: none, about as long as a packet of the rate takes, rounds of the meter's clock.
fn pause(rng: &mut Rng, about: u64) -> u64 {
    match rng.below(100) {
        0..50 => 0,
        50..96 => rng.below(2 * about),
        96..99 => rng.below(1 << 20) * 64,
        _ => rng.below(1 << 40),
    }
}

fn waits(reference: &mut Reference, nanoseconds: u64) {
    let script = Script::parse("wait.stf", &format!("wait {:.9}", nanoseconds as f64 / 1e9)).unwrap();
    assert!(script.run(reference).passed());
}

/// Sends packets with pauses through both, and then many at once; how many of those were red.
fn reds(text: &str, place: Place, about: u64) -> usize {
    let mut rng = Rng::new(test_seed("police"));
    let program = checked(text);
    let mut reference = program.reference(Undefined::Zero, 1).unwrap();
    let (target, first, last) = place;
    let arrivals: Vec<u16> = (0..8).collect();
    let traffic = Traffic { entries: &reference, script: None, arrivals: &arrivals };
    let compiled = program.compile_for(target, (first, last), Some(&traffic), &mut |_| ());
    let compiled = compiled.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    assert!(compiled.reads_time());
    compiled.teach(&mut reference);
    let mut model = Model::new(compiled);
    model.load(&reference).unwrap();
    let mut time = 0;
    for _ in 0..PACKETS {
        let wait = pause(&mut rng, about) / 4 * 4;
        time += wait;
        if wait > 0 {
            waits(&mut reference, wait);
            model.set_time(time);
        }
        let mut packet = vec![rng.below(4) as u8, rng.below(20) as u8, rng.next_u32() as u8];
        packet.extend((0..rng.below(200)).map(|_| rng.next_u32() as u8));
        let port = rng.below(8) as u16;
        let sent = reference.packet(port, &packet).unwrap();
        assert_eq!(model.packet(port, &packet).as_ref(), Ok(&sent), "{packet:02x?} at {time} ns\n{text}");
    }
    assert_eq!(model.differs(&reference), None);
    // After a rest, many at once: those beyond the burst are red.
    waits(&mut reference, REST);
    model.set_time(time + REST);
    let red = |_: &usize| {
        let packet = [1, 2, 0, 9, 9];
        let sent = reference.packet(3, &packet).unwrap();
        assert_eq!(model.packet(3, &packet).as_ref(), Ok(&sent));
        sent.first().is_none_or(|sent| sent.bytes[2] & 1 == 1)
    };
    (0..MANY).filter(red).count()
}

#[test]
fn colours_are_those_of_the_rate_whatever_passes_between_packets() {
    let at = "(bit<32>) hdr.h.at";
    for (meters, about, green) in [
        // A packet in a microsecond, three at once; in ten milliseconds; in four ticks.
        ("MeterType.packets, 1000000, 3", 1_000, 3),
        ("MeterType.packets, 100, 1", 10_000_000, 1),
        ("MeterType.packets, 60000000, 4", 16, 4),
        // Of five bytes each; one goes beyond the burst.
        ("MeterType.bytes, 80000000, 50", 1_000, 11),
        ("MeterType.bytes, 8000, 1", 1_000_000, 1),
    ] {
        for place in [ALONE, LONG] {
            let text = program(&format!("police(16, {meters}) m;"), &format!("m.execute({at}, hdr.h.color);"));
            assert_eq!(reds(&text, place, about), MANY - green, "{meters}");
        }
    }
}

#[test]
fn a_colour_decides_and_a_meter_is_chosen_by_an_entry() {
    let locals = "police(8, MeterType.packets, 1000000, 2) m;
        bit<1> color = 0;
        action of(bit<32> meter) { m.execute(meter, color); }
        table t { key = { hdr.h.what: exact; } actions = { of; NoAction; }
            const entries = { 1: of(3); 2: of(7); 3: of(0); } }";
    for apply in [
        "t.apply(); hdr.h.color = color;",
        "t.apply(); if (color == 1) { hdr.h.color = 1; hdr.h.rest = 9; } else { hdr.h.color = 0; }",
        "t.apply(); hdr.h.color = color; if (hdr.h.at == 19) { mark_to_drop(standard); }",
    ] {
        for place in [ALONE, LONG] {
            assert_eq!(reds(&program(locals, apply), place, 1_000), MANY - 2, "{apply}");
        }
    }
    // Red packets are dropped: in a tenant's three stages.
    let text = program(
        "police(32, MeterType.bytes, 80000000, 50) m;",
        "bit<1> color; m.execute((bit<32>) hdr.h.at, color); if (color == 1) { mark_to_drop(standard); }",
    );
    assert_eq!(reds(&text, TENANT, 1_000), MANY - 11);
    // A number of a meter that is not there is green and uses nothing, and a colour that nobody reads counts all the same.
    let text = program(
        "police(2, MeterType.packets, 1, 5) m;",
        "bit<1> none; m.execute(7, hdr.h.color); if (hdr.h.what == 1) { m.execute(1, none); }",
    );
    assert_eq!(reds(&text, ALONE, 1_000), 0);
}

#[test]
fn rates_that_there_are_not_are_refused_where_they_stand() {
    for (meters, found) in [
        ("MeterType.packets, 0, 3", "rate 0"),
        ("MeterType.bytes, 1000, 0", "burst 0"),
        ("MeterType.packets, 0x4000000000000, 1", "packets a second"),
        ("MeterType.packets, 1, 0xffffffff", "burst"),
    ] {
        let text = program(&format!("police(16, {meters}) m;"), "m.execute(1, hdr.h.color);");
        let why = match run(&text, "", ALONE, &[]) {
            Came::NoProgram(why) => why,
            other => panic!("{meters}: {other:?}"),
        };
        assert!(why.contains("E0794") && why.contains(found) && why.contains(meters), "{why}");
    }
}

#[test]
fn a_packet_has_one_look_at_a_meter() {
    let text =
        program("police(2, MeterType.packets, 1, 5) m;", "bit<1> x; m.execute(0, x); m.execute(1, hdr.h.color);");
    match run(&text, "", ALONE, &[]) {
        Came::Refused(why) => assert!(why.contains("E07") && why.contains("m.execute"), "{why}"),
        other => panic!("{other:?}"),
    }
}
