//! Programs with scripts: those of programs/p4, and one file a rule of the language or a feature of v1model.

use sluice_p4::stf::{Carrier, CarrierError, Report, Script};
use sluice_p4::{Allowed, Program, Reader, Reference, Sent, Undefined};
use std::path::{Path, PathBuf};

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "stf"));
    all.sort();
    assert!(!all.is_empty());
    all
}

fn program(text: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let reader = Reader::new().folder(folder).text("p.p4", text);
    reader.check(Path::new("p.p4")).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A program whose ingress is this, on packets of three bytes `hdr.h.a`, `b` and `c`.
fn ingress(locals: &str, apply: &str) -> Program {
    program(&format!("#define LOCALS {locals}\n#define APPLY {apply}\n#include <bytes.p4>\n"))
}

fn run(program: &Program, script: &str) -> Report {
    let mut reference = program.reference(Undefined::Zero, 1).unwrap_or_else(|errors| panic!("{errors}"));
    let script = Script::parse("s.stf", script).unwrap_or_else(|errors| panic!("{errors}"));
    script.run(&mut reference)
}

#[test]
fn every_script_beside_a_program_passes() {
    for path in scripts("../../programs/p4").into_iter().chain(scripts("tests/run")) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
        let checked = Reader::new().folder(folder).check(&path.with_extension("p4"));
        let report =
            run(&checked.unwrap_or_else(|errors| panic!("{errors}")), &std::fs::read_to_string(&path).unwrap());
        assert!(report.passed() && report.expected > 0, "{}: {:#?}", path.display(), report.failures);
    }
}

/// What passes on zeros and on noise does not depend on what is undefined.
#[test]
fn scripts_of_programs_pass_on_noise_too() {
    for path in scripts("../../programs/p4") {
        let program = Reader::new().check(&path.with_extension("p4")).unwrap_or_else(|errors| panic!("{errors}"));
        let script = Script::parse("s.stf", &std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut reference = program.reference(Undefined::Random, 7).unwrap();
        let report = script.run(&mut reference);
        assert!(report.passed(), "{}: {:#?}", path.display(), report.failures);
    }
}

#[test]
fn noise_shows_what_depends_on_a_variable_that_was_not_written() {
    let program = ingress("", "bit<8> x; hdr.h.a = x;");
    let script = Script::parse("s.stf", "packet 0 112233\nexpect 0 002233$\n").unwrap();
    assert!(script.run(&mut program.reference(Undefined::Zero, 1).unwrap()).passed());
    assert!(!script.run(&mut program.reference(Undefined::Random, 1).unwrap()).passed());
}

#[test]
fn what_goes_otherwise_is_told_with_its_line() {
    let program = ingress("", "");
    let report = run(&program, "packet 0 112233\npacket 0 aabbcc\nexpect 0 11**34\nexpect 1 00\n");
    let told: Vec<(usize, &str)> = report.failures.iter().map(|f| (f.line, f.what.as_str())).collect();
    assert_eq!(
        told,
        [
            (2, "port 0: packet aabbcc, which nobody expects"),
            (3, "port 0: packet 112233, expected 11**34"),
            (4, "port 1: no packet, expected 00"),
        ]
    );
    // Without `$` a packet may be longer; with it not; without a pattern any number may come.
    assert!(run(&program, "packet 0 112233\nexpect 0 1122\n").passed());
    assert!(!run(&program, "packet 0 112233\nexpect 0 1122$\n").passed());
    assert!(!run(&program, "packet 0 112233\nexpect 0 11223344\n").passed());
    assert!(run(&program, "packet 0 112233\npacket 0 445566\nexpect 0\n").passed());
    // The order counts within a port.
    assert!(!run(&program, "packet 0 112233\npacket 0 445566\nexpect 0 44\nexpect 0 11\n").passed());
}

#[test]
fn loops_and_packets_without_end_are_given_up() {
    for (apply, words) in [
        ("for (bit<8> i = 0; i < 2; i = i & 1) {}", "steps"),
        ("resubmit_preserving_field_list(0);", "more than 1000 times"),
        ("assert(hdr.h.a == 0);", "`assert` does not hold, at p.p4:2:"),
    ] {
        let report = run(&ingress("", apply), "packet 0 112233\n");
        let told = &report.failures[0].what;
        assert!(told.starts_with("error[E0795]") && told.contains(words), "{told}");
    }
}

#[test]
fn other_architectures_and_externs_are_refused_with_their_line() {
    let refused = |text: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
        let program = Reader::new().folder(folder).text("p.p4", text).check(Path::new("p.p4")).unwrap();
        program.reference(Undefined::Zero, 1).unwrap_err()
    };
    let errors = refused("#include <core.p4>\ncontrol C();\npackage P(C c);\ncontrol M() { apply {} }\nP(M()) main;\n");
    assert!(errors.code() == "E0794" && errors.to_string().contains("package `P`"), "{errors}");
    let errors =
        refused("extern void f(in bit<8> x);\n#define LOCALS\n#define APPLY f(hdr.h.a);\n#include <bytes.p4>\n");
    assert!(errors.code() == "E0794" && errors.to_string().contains("`f`, which v1model has not"), "{errors}");
    assert_eq!(refused("#include <core.p4>\n").code(), "E0794");
}

#[test]
fn bad_scripts_are_refused_with_code_and_line() {
    let locals = "action set(bit<8> x) { hdr.h.b = x; } @defaultonly action no() {} register<bit<8>>(4) r; \
                  counter(4, CounterType.packets) c; \
                  table t { key = { hdr.h.a: exact; } actions = { set; NoAction; } size = 1; } \
                  table u { key = { hdr.h.a: lpm; hdr.h.c: ternary; } actions = { set; } const default_action = set(1); } \
                  int<8> sign = 0; table s { key = { sign: exact @name(\"s.a\"); } actions = { set; } } \
                  table k { key = { hdr.h.a: exact; } actions = { set; } const entries = { 1: set(2); } }";
    let program = ingress(locals, "t.apply(); u.apply(); s.apply(); k.apply(); r.write(32w0, 1); c.count(32w0);");
    for (line, code, words) in [
        ("paket 0 00", "E0790", "expected a command"),
        ("packet x 00", "E0790", "the number of a port"),
        ("packet 511 00", "E0790", "found `511`, expected the number of a port, from 0 to 510"),
        ("expect 600 00", "E0790", "from 0 to 510"),
        ("mirroring_add 1 65535", "E0790", "from 0 to 510"),
        ("mc_node_create 1 2 512", "E0790", "found `512`"),
        ("add t -1 hdr.h.a:1 set(x:1)", "E0790", "found `-1`, expected a priority"),
        ("packet 0 0", "E0790", "two digits for each byte"),
        ("packet 0 0g", "E0790", "found `g`"),
        ("expect 0 0g", "E0790", "`*` for any digit"),
        ("add t", "E0790", "a key, as NAME:VALUE"),
        ("add t hdr.h.a:", "E0790", "a value"),
        ("add t hdr.h.a:1 set(x:1", "E0790", "`,` or `)`"),
        ("add t hdr.h.a:1 set(x:1) more", "E0790", "the end of the line"),
        ("wait long", "E0790", "seconds"),
        ("check_counter c(0) 3", "E0790", "`==`"),
        ("meter_set_rates m 0 1", "E0790", "RATE:BURST"),
        ("mc_node_associate 1", "E0790", "the end of the line"),
        ("add v hdr.h.a:1 set(x:1)", "E0791", "none of that name, but"),
        ("add t hdr.h.x:1 set(x:1)", "E0791", "hdr.h.a"),
        ("add t hdr.h.a:1 hdr.h.a:1 set(x:1)", "E0791", "twice"),
        ("add t hdr.h.a:1 drop()", "E0791", "action `drop`"),
        ("add t hdr.h.a:1 set()", "E0791", "parameter `x` has no value"),
        ("add t hdr.h.a:1 set(y:1)", "E0791", "parameter `y`"),
        ("add t hdr.h.a:1 set(x:1, x:2)", "E0791", "parameter `x`: it stands twice"),
        ("register_read q 0", "E0791", "register `q`"),
        ("meter_set_rates m 0 1:1 1:1", "E0791", "the program has none"),
        ("add t hdr.h.a:0x100 set(x:1)", "E0792", "9 bits, here are 8"),
        ("add t hdr.h.a:x set(x:1)", "E0792", "no number"),
        ("add t hdr.h.a:1 set(x:-1)", "E0792", "below zero, and here are 8 bits without a sign"),
        ("add s s.a:-129 set(x:1)", "E0792", "8 bits with a sign"),
        ("add t hdr.h.a:1 set(1, 2)", "E0792", "takes 1 values"),
        ("add u hdr.h.a:1/9 set(x:1)", "E0792", "0 to 8 bits"),
        ("add t hdr.h.a:1/8 set(x:1)", "E0792", "it is a prefix, for keys of lpm, and `hdr.h.a` is of another kind"),
        ("add u hdr.h.a:1&&&1 set(x:1)", "E0792", "a value and a mask, for keys of ternary"),
        ("add t hdr.h.a:1->3 set(x:1)", "E0792", "a range, for keys of range"),
        ("add t hdr.h.a:1..3 set(x:1)", "E0792", "a range, for keys of range"),
        ("add t hdr.h.a:1&&&3 set(x:1)", "E0792", "a value and a mask, for keys of ternary"),
        ("add t hdr.h.a:0x1* set(x:1)", "E0792", "no number"),
        ("add u 1 hdr.h.c:1* set(x:1)", "E0792", "hexadecimal, octal or binary"),
        ("add k hdr.h.a:3 set(x:1)", "E0793", "const"),
        ("setdefault u set(x:2)", "E0793", "const"),
        ("add t hdr.h.a:1 set(x:1)\nadd t hdr.h.a:1 set(x:1)", "E0793", "these keys"),
        ("add t hdr.h.a:1 set(x:1)\nadd t hdr.h.a:2 set(x:1)", "E0793", "full"),
        ("remove t hdr.h.a:1", "E0793", "no entry"),
        ("register_write r 4 0", "E0793", "no cell 4"),
        ("check_counter c(4) == 0", "E0793", "4 cells"),
        ("mc_node_create 0 1\nmc_node_associate 3 0", "E0793", "mc_mgrp_create comes first"),
        ("mc_mgrp_create 3\nmc_node_associate 3 0", "E0793", "numbered from 0"),
        ("mirroring_delete 9", "E0793", "not there"),
        (
            "mirroring_add 5 1\nmirroring_add 5 2",
            "E0793",
            "session 5: it is there already: mirroring_delete comes first",
        ),
        ("mirroring_add 5 1\nmirroring_add_mc 5 2", "E0793", "session 5: it is there already"),
        ("mirroring_add_mc 5 2", "E0793", "group 2: it is not there: mc_mgrp_create comes first"),
        ("mirroring_add_mc 5 0", "E0790", "found `0`, expected the number of a group, from 1 to 65535"),
        ("mc_mgrp_create 0", "E0790", "found `0`, expected the number of a group"),
        ("mc_node_associate 0 0", "E0790", "found `0`, expected the number of a group"),
    ] {
        let text = format!("# a comment\n\n{line}\n");
        let told = match Script::parse("s.stf", &text) {
            Ok(script) => {
                let report = script.run(&mut program.reference(Undefined::Zero, 1).unwrap());
                report.failures.iter().map(|failure| format!("s.stf:{}: {}", failure.line, failure.what)).collect()
            }
            Err(errors) => errors.to_string(),
        };
        assert!(told.contains(&format!("error[{code}]")) && told.contains(words), "{line}:\n{told}");
        let last = 2 + line.lines().count();
        assert!(told.contains(&format!("s.stf:{last}:")), "{line}:\n{told}");
    }
}

/// As the public driver has it: it hands a priority on to tables with ternary keys or ranges, and to no others.
#[test]
fn a_priority_of_a_table_without_ternary_keys_changes_nothing() {
    let locals =
        "action set(bit<8> x) { hdr.h.c = x; } table l { key = { hdr.h.a: lpm; } actions = { set; NoAction; } }";
    let program = ingress(locals, "l.apply();");
    let script = "add l 9 hdr.h.a:0x10/4 set(x:1)\nadd l 1 hdr.h.a:0x12/8 set(x:2)\n\
                  packet 0 120000\nexpect 0 120002\npacket 0 130000\nexpect 0 130001\n\
                  remove l 3 hdr.h.a:0x12/8\npacket 0 120000\nexpect 0 120001\n";
    let report = run(&program, script);
    assert!(report.passed(), "{:#?}", report.failures);
    // Nor does it make another entry of one.
    let report = run(&program, "add l 9 hdr.h.a:0x10/4 set(x:1)\nadd l 1 hdr.h.a:0x10/4 set(x:2)\n");
    assert!(report.failures.iter().any(|failure| failure.what.contains("these keys")), "{:#?}", report.failures);
    let removed = run(&program, "mirroring_add 5 1\nmirroring_delete 5\nmirroring_add 5 2\n");
    assert!(removed.passed(), "{:#?}", removed.failures);
}

#[test]
fn of_two_names_for_one_thing_the_longer_one_counts() {
    let mut program = ingress("register<bit<8>>(8) r;", "r.write(32w0, 1);");
    program.allow(Allowed::default().with_cells("r", 4).with_cells("In.r", 2));
    let report = run(&program, "register_write r 1 0\nregister_write r 2 0\n");
    let told: Vec<usize> = report.failures.iter().map(|failure| failure.line).collect();
    assert_eq!(told, [2], "{:#?}", report.failures);
}

#[test]
fn a_script_goes_on_behind_a_command_that_cannot_be_done() {
    let report =
        run(&ingress("", ""), "add none x:1 y()\npacket 0 112233\nexpect 0 112233$\nwait\nmirroring_delete 1\n");
    let lines: Vec<usize> = report.failures.iter().map(|failure| failure.line).collect();
    assert_eq!((lines, report.sent), (vec![1, 5], 1), "{:?}", report.failures);
}

#[test]
fn a_trace_says_which_lines_ran_what_they_wrote_and_what_tables_found() {
    let locals =
        "action set(bit<8> x) { hdr.h.b = x; } table t { key = { hdr.h.a: exact; } actions = { set; NoAction; } }";
    let program = ingress(locals, "if (hdr.h.c == 0) { t.apply(); }");
    let script =
        Script::parse("s.stf", "add t hdr.h.a:1 set(x:7)\npacket 0 010200\npacket 0 020001\nexpect 0\n").unwrap();
    let report = script.run(&mut program.traced(Undefined::Zero, 1).unwrap());
    let [(2, hit), (3, other)] = &report.traces[..] else { panic!("{:?}", report.traces) };
    let told = |events: &[String], words: &str| events.iter().any(|event| event.contains(words));
    for words in [
        "bytes.p4:20:9: packet.extract(hdr.h);",
        "hdr.h = {a 0x1, b 0x2, c 0x0}",
        "table In.t: hit, In.set",
        "hdr.h.b = 0x7",
        "p.p4:1:",
    ] {
        assert!(told(hit, words), "{words}: {hit:#?}");
    }
    assert!(!told(other, "table In.t") && told(other, "hdr.h = {a 0x2, b 0x0, c 0x1}"), "{other:#?}");
    // Who does not ask is told nothing.
    assert!(script.run(&mut program.reference(Undefined::Zero, 1).unwrap()).traces.is_empty());
}

/// As the public driver has it: a decimal number counts whole, of other digits those that are written.
#[test]
fn of_a_ternary_key_count_the_digits_that_are_written() {
    let locals = "action hit() { hdr.h.c = 1; } \
                  table t { key = { hdr.h.a ++ hdr.h.b: ternary @name(\"k\"); } actions = { hit; NoAction; } }";
    let program = ingress(locals, "t.apply();");
    for (value, matching, other) in [
        ("0x34", "1234", "1235"),
        ("0x*4", "1274", "1275"),
        ("0b101", "123d", "123c"),
        ("0o17", "12cf", "12c7"),
        ("0x0034", "0034", "1234"),
        ("52", "0034", "1234"),
        ("0x34&&&0xff", "1234", "1235"),
    ] {
        let script = format!(
            "add t 1 k:{value} hit()\npacket 0 {matching}00\nexpect 0 {matching}01\npacket 0 {other}00\nexpect 0 {other}00\n"
        );
        let report = run(&program, &script);
        assert!(report.passed(), "{value}: {:?}", report.failures);
    }
}

#[test]
fn the_rates_of_meters_colour_packets_and_time_passes_with_wait() {
    let program =
        ingress("meter(2, MeterType.packets) m;", "bit<8> color; m.execute_meter(32w1, color); hdr.h.a = color;");
    let script = "packet 0 ff0000\nexpect 0 000000\nmeter_set_rates m 1 0.000001:1 0.000001:2\n\
                  packet 0 ff0000\nexpect 0 000000\npacket 0 ff0000\nexpect 0 010000\npacket 0 ff0000\nexpect 0 020000\n\
                  wait 1\npacket 0 ff0000\nexpect 0 000000\n";
    let report = run(&program, script);
    assert!(report.passed(), "{:#?}", report.failures);
}

/// A carrier that sends everything to port 1.
struct ToOne;

impl Carrier for ToOne {
    fn load(&mut self, _entries: &Reference) -> Result<(), CarrierError> {
        Ok(())
    }

    fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, CarrierError> {
        match port {
            7 => Err(CarrierError { code: "E0795", what: "no port 7".to_string() }),
            _ => Ok(vec![Sent { port: 1, bytes: bytes.to_vec() }]),
        }
    }

    fn fetch(&mut self, _into: &mut Reference) -> Result<(), CarrierError> {
        Ok(())
    }

    fn differs(&mut self, _from: &Reference) -> Result<Option<String>, CarrierError> {
        Ok(Some("a cell".to_string()))
    }
}

#[test]
fn a_carrier_is_held_to_the_reference_where_that_is_asked_for() {
    let program = ingress("", "");
    let script = "packet 0 112233\nexpect 1 112233\npacket 7 112233\n";
    let script = Script::parse("s.stf", script).unwrap();
    let reference = || program.reference(Undefined::Zero, 1).unwrap();
    let lines = |report: &Report| -> Vec<usize> { report.failures.iter().map(|failure| failure.line).collect() };
    // What the carrier does not carry fails with and without.
    assert_eq!(lines(&script.run_on(&mut reference(), &mut ToOne)), [3]);
    let compared = script.compare(&mut reference(), &mut ToOne);
    // What it keeps is compared at the end.
    assert_eq!(lines(&compared), [1, 3, 3, 3]);
    assert!(compared.failures.iter().any(|failure| failure.what == "the device: a cell"));
    let what = "the device: port 1: 112233; the reference: port 0: 112233";
    assert_eq!(compared.failures[0].what, what);
}
