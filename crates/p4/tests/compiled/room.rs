//! What is reserved for entries to come: as many as are told can be added, whatever they ask for, within what a tenant was given at first.

use crate::compare::framed;
use sluice_formats::random::{Rng, test_seed};
use sluice_object::linker::rmt::Quota;
use sluice_p4::stf::Script;
use sluice_p4::{Compiled, Program, Reference, Reservation, Undefined};
use sluice_rmt::target::{DEFAULT, TINY, Target, WIDE};

const ACTIONS: &str = "action to(bit<8> x) { hdr.h.c = x; } action back() { hdr.h.c = 1; }";

fn table(name: &str, keys: &str, more: &str) -> String {
    format!("table {name} {{ key = {{ {keys} }} actions = {{ to; back; NoAction; }} {more} }}")
}

fn reservations(compiled: &Compiled, of: &Reference) -> Vec<(String, u32, u32)> {
    let name = |r: Reservation| (r.table.rsplit('.').next().unwrap_or("").to_string(), r.size, r.reserved);
    compiled.reservations(of).unwrap().into_iter().map(name).collect()
}

fn filled(program: &Program, entries: &str) -> Reference {
    let mut reference = program.reference(Undefined::Zero, 1).unwrap();
    let script = Script::parse("room.stf", entries).unwrap_or_else(|errors| panic!("{errors}"));
    script.fill(&mut reference).unwrap_or_else(|failures| panic!("{failures:?}\n{entries}"));
    reference
}

/// Whether a module with these entries needs no more than one that was given that.
fn is_within(compiled: &Compiled, given: &Quota, empty: &Reference, full: &Reference) -> Result<(), String> {
    let reserved = compiled.reservations(empty).unwrap();
    let object = compiled.object_within("room", full, &reserved).map_err(|errors| errors.to_string())?;
    let needs = Quota::of(object.parts.rmt.as_ref().unwrap(), 0);
    for (stage, needs) in &needs.stages {
        let given = given.stages[stage];
        if (needs.exact, needs.ternary, needs.numbers) > (given.exact, given.ternary, given.numbers)
            || needs.ternary > given.ternary
            || needs.numbers > given.numbers
        {
            return Err(format!("stage {stage} needs {needs:?} of {given:?}"));
        }
    }
    Ok(())
}

/// What a key of a kind may ask for: `count` entries that differ.
fn entries(rng: &mut Rng, table: &str, kinds: &[&str], count: u32) -> String {
    let mut all = std::collections::BTreeSet::new();
    let mut tries = 0;
    while (all.len() as u32) < count {
        tries += 1;
        assert!(tries < 100_000, "{table}: {count} entries that differ");
        let key = |(at, kind): (usize, &&str)| {
            let name = format!("hdr.h.{}", ["a", "b"][at]);
            let value = rng.below(256);
            match *kind {
                "exact" => format!("{name}:{value}"),
                "lpm" => {
                    let length = 1 + rng.below(8);
                    format!("{name}:{}/{length}", value >> (8 - length) << (8 - length))
                }
                _ => {
                    let mask = rng.below(256);
                    format!("{name}:{}&&&{mask}", value & mask)
                }
            }
        };
        let keys: Vec<String> = kinds.iter().enumerate().map(key).collect();
        all.insert(keys.join(" "));
    }
    let priority = if kinds.contains(&"ternary") { Some(()) } else { None };
    let line = |(at, keys): (usize, String)| {
        let priority = priority.map_or_else(String::new, |()| format!("{} ", at + 1));
        let action = if at % 3 == 0 { "back()".to_string() } else { format!("to(x:{})", at % 256) };
        format!("add {table} {priority}{keys} {action}\n")
    };
    all.into_iter().enumerate().map(line).collect()
}

#[test]
fn as_many_entries_as_are_reserved_can_be_added() {
    let mut rng = Rng::new(test_seed("p4_room"));
    let key = |kinds: &[&str]| -> String {
        kinds.iter().zip(["a", "b"]).map(|(kind, field)| format!("hdr.h.{field} : {kind}; ")).collect()
    };
    let kinds: &[&[&str]] =
        &[&["exact"], &["lpm"], &["ternary"], &["exact", "exact"], &["lpm", "exact"], &["ternary", "exact"]];
    for target in [&DEFAULT, &TINY, &WIDE] {
        for (one, other) in kinds.iter().flat_map(|one| kinds.iter().map(move |other| (*one, *other))) {
            for (stages, apply) in [
                ((1, target.stages - 2), "if (hdr.h.c == 1) { t.apply(); } else { u.apply(); }"),
                ((0, target.stages - 1), "t.apply(); if (hdr.h.c == 7) { u.apply(); }"),
            ] {
                let counted = if rng.below(2) == 0 { "counters = n;" } else { "" };
                let locals = format!(
                    "direct_counter(CounterType.packets) n; {ACTIONS} {} {}",
                    table("t", &key(one), &format!("size = {}; {counted}", 1 + rng.below(40))),
                    table("u", &key(other), "")
                );
                let program = framed(&locals, apply);
                let Ok(compiled) = program.compile(target, stages.0, stages.1) else {
                    panic!("{} {stages:?} {locals} {apply}", target.name)
                };
                let empty = program.reference(Undefined::Zero, 1).unwrap();
                let given = Quota::of(compiled.object("room", &empty).unwrap().parts.rmt.as_ref().unwrap(), 0);
                let reserved = reservations(&compiled, &empty);
                let (count, text) =
                    reserved.iter().fold((0, String::new()), |(count, text), (table, size, reserved)| {
                        // A quarter of tiny is two ternary rows, which misses may fill.
                        assert!(
                            (*reserved > 0 || target.name == TINY.name) && (*size == 0 || reserved <= size),
                            "{table}: {reserved} of {size}"
                        );
                        let kinds = if table == "t" { one } else { other };
                        // No more than there are that differ.
                        let some = (*reserved).min(if kinds.len() == 1 { 200 } else { 400 });
                        (count + some, text + &entries(&mut rng, table, kinds, some))
                    });
                assert!(count > 0 || target.name == TINY.name);
                let full = filled(&program, &text);
                if let Err(what) = is_within(&compiled, &given, &empty, &full) {
                    panic!("{} {stages:?} {reserved:?} {locals} {apply}: {what}\n{text}", target.name);
                }
            }
        }
    }
}

/// What is reserved for the tables of a program.
fn reserved_on(
    target: &Target,
    stages: (usize, usize),
    locals: &str,
    apply: &str,
    entries: &str,
) -> Vec<(String, u32, u32)> {
    let program = framed(&format!("{ACTIONS} {locals}"), apply);
    let compiled = program.compile(target, stages.0, stages.1).unwrap_or_else(|errors| panic!("{errors}"));
    reservations(&compiled, &filled(&program, entries))
}

fn told(all: &[(String, u32, u32)]) -> Vec<(&str, u32, u32)> {
    all.iter().map(|(table, size, reserved)| (table.as_str(), *size, *reserved)).collect()
}

#[test]
fn a_wish_is_met_as_far_as_the_share_goes() {
    let lpm = table("t", "hdr.h.a : lpm;", "size = 1024;");
    // Of 32 ternary rows a generation a tenant has a quarter; one of them is the miss.
    assert_eq!(told(&reserved_on(&DEFAULT, (1, 3), &lpm, "t.apply();", "")), [("t", 1024, 7)]);
    assert_eq!(told(&reserved_on(&DEFAULT, (0, 4), &lpm, "t.apply();", "")), [("t", 1024, 31)]);
    // A wish that is small is met, and what is there counts.
    let small = table("t", "hdr.h.a : lpm;", "size = 3;");
    assert_eq!(told(&reserved_on(&DEFAULT, (1, 3), &small, "t.apply();", "add t hdr.h.a:1/8 back()")), [("t", 3, 3)]);
    let many: String = (0..12).map(|at| format!("add t {at} hdr.h.a:{at}&&&0x3f back()\n")).collect();
    let large = table("t", "hdr.h.a : ternary;", "size = 100;");
    assert_eq!(told(&reserved_on(&DEFAULT, (1, 3), &large, "t.apply();", &many)), [("t", 100, 12)]);
    // Tables of one stage get the same part of what they ask for.
    let two = table("t", "hdr.h.a : ternary;", "size = 300;") + &table("u", "hdr.h.b : ternary;", "size = 100;");
    let apply = "if (hdr.h.c == 1) { t.apply(); } else { u.apply(); }";
    let found = reserved_on(&DEFAULT, (1, 3), &two, apply, "");
    let of = |name: &str| found.iter().find(|(table, ..)| table == name).unwrap().2;
    assert!(of("t") >= 3 * of("u") - 2 && of("t") + of("u") <= 8 && of("u") > 0, "{found:?}");
    // Constant tables have what they have.
    let constant = table("t", "hdr.h.a : exact;", "const entries = { 1 : back(); }");
    assert!(reserved_on(&DEFAULT, (1, 3), &constant, "t.apply();", "").is_empty());
}

/// A case that leaves out a bit of its stage's key is two exact rows, and no ternary one, of which a stage has few; one that leaves out many is ternary.
#[test]
fn cases_that_leave_out_a_bit_are_exact_rows() {
    for (test, is_exact) in [("hdr.h.a[3:3] == 1", true), ("hdr.h.a[4:3] == 2", true), ("hdr.h.a == 7", false)] {
        let apply = format!("if ({test}) {{ hdr.h.c = 1; }} else {{ hdr.h.c = 2; }}");
        let program = framed("", &apply);
        let compiled = program.compile(&DEFAULT, 1, 3).unwrap();
        let object = compiled.object("room", &program.reference(Undefined::Zero, 1).unwrap()).unwrap();
        let ternary: usize = object.parts.rmt.unwrap().stages.values().map(|stage| stage.ternary.len()).sum();
        assert_eq!(ternary == 0, is_exact, "{test}: {ternary} ternary rows");
    }
}

#[test]
fn what_is_said_is_reserved_or_refused() {
    let locals = format!(
        "{ACTIONS} {} {} {}",
        table("t", "hdr.h.a: exact;", "size = 300;"),
        table("u", "hdr.h.b: ternary;", ""),
        table("own", "hdr.h.b: exact;", "const entries = { 1: back(); }")
    );
    let program = framed(&locals, "t.apply(); u.apply(); own.apply();");
    let empty = program.reference(Undefined::Zero, 1).unwrap();
    let reserving = |said: &[(&str, u32)]| {
        let said = said.iter().map(|(table, entries)| ((*table).to_string(), *entries)).collect();
        program.compile(&DEFAULT, 1, 3).unwrap().reserving(&said)
    };
    let usual = reservations(&reserving(&[]), &empty);
    for said in [1, 17, 300] {
        let all = reservations(&reserving(&[("t", said)]), &empty);
        let found = all.iter().find(|(table, ..)| table == "t").unwrap();
        assert_eq!((found.1, found.2), (300, said), "{all:?}, without a word {usual:?}");
    }
    let full = filled(&program, "add t hdr.h.a:1 to(x:1)\nadd t hdr.h.a:2 to(x:1)\n");
    for (said, of, words) in [
        (("nothing", 1), &empty, "table `nothing`"),
        (("own", 4), &empty, "no entries but the program's own"),
        (("t", 1), &full, "in which 2 are"),
        (("t", 5000), &empty, "exact rows"),
        (("u", 40), &empty, "32 ternary rows"),
    ] {
        let error = reserving(&[said]).reservations(of).unwrap_err();
        assert!(error.code() == "E0799" && error.to_string().contains(words), "{said:?}: {error}");
    }
}
