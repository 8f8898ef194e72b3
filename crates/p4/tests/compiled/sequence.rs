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
fn ready(program: &Program, entries: &str) -> Reference {
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

/// A program of these types, headers, states, statements of ingress and of the deparser.
fn program(types: &str, headers: &str, states: &str, ingress: &str, emits: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header a_t {{ bit<8> kind; bit<8> n; }}
{types}
struct headers_t {{ {headers} }}
struct meta_t {{ bit<8> m; }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
{states}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
{ingress}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ {emits} }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

/// `a`, and behind it these headers.
fn after_a(types: &str, headers: &str, states: &str) -> String {
    let states = format!("state start {{ packet.extract(hdr.a); {states}");
    program(types, &format!("a_t a; {headers}"), &states, "apply { }", "packet.emit(hdr);")
}

fn joined(one: &str, two: &str) -> Result<Program, sluice_p4::P4Errors> {
    Reader::new().text("one.p4", one).text("two.p4", two).check(Path::new("one.p4+two.p4"))
}

/// They are no sequence: at the second one's line with `// here`, with the line of the first that has `// there`.
fn refused(one: &str, two: &str, code: &str, words: &[&str]) {
    let errors = match joined(one, two) {
        Ok(program) => panic!("{words:?} is joined:\n{program}"),
        Err(errors) => errors,
    };
    let shown = errors.to_string();
    let line = |text: &str, mark: &str| text.lines().position(|line| line.contains(mark)).map(|at| at + 1);
    assert_eq!(errors.code(), code, "{shown}");
    let mut words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
    words.extend(line(two, "// here").map(|line| format!("two.p4:{line}:")));
    words.extend(line(one, "// there").map(|line| format!("one.p4:{line}:")));
    words.iter().for_each(|word| assert!(shown.contains(word.as_str()), "{word} is not in\n{shown}"));
}

#[test]
fn what_cannot_be_joined_is_said_with_both_lines() {
    let b = after_a(
        "header b_t { bit<16> x; bit<8> y; }",
        "b_t b;",
        "transition b; }\nstate b {\npacket.extract(hdr.b); // there\ntransition accept; }",
    );
    let other = |types: &str, headers: &str, take: &str| {
        after_a(types, headers, &format!("transition next; }}\nstate next {{\n{take} // here\ntransition accept; }}"))
    };
    let widths = other("header b_t { bit<8> x; bit<16> y; }", "b_t b;", "packet.extract(hdr.b);");
    refused(
        &b,
        &widths,
        "E0746",
        &["`b` takes the bytes that are `b` of the other program", "field `x` with `x`: bit<8> is met with bit<16>"],
    );
    let counts = other("header c_t { bit<24> x; }", "c_t c;", "packet.extract(hdr.c);");
    refused(
        &b,
        &counts,
        "E0746",
        &["`c` takes the bytes that are `b`", "`c_t` with 1 fields is met with `b_t` with 2"],
    );
    refused(&b, &other("", "", "packet.advance(24);"), "E0746", &["two different steps through the packet"]);
    let twice = after_a(
        "",
        "a_t again;",
        "transition again; }\nstate again {\npacket.extract(hdr.again); // there\ntransition accept; }",
    );
    let again = &["`a` is extracted with `again` here, and with `a` at another place", "one.p4:8:"];
    refused(&twice.replace("// there", ""), &other("", "", "packet.extract(hdr.a);"), "E0746", again);
    let one = other("", "", "packet.extract(hdr.a);").replace("// here", "");
    refused(
        &one,
        &twice.replace("// there", "// here"),
        "E0746",
        &["`a` of the other program is extracted with `again` here, and with `a`"],
    );
    let stack = |size: u32, mark: &str| {
        after_a(
            "header s_t { bit<1> last; bit<7> l; }",
            &format!("s_t[{size}] s;"),
            &format!(
                "transition s; }}\nstate s {{\npacket.extract(hdr.s.next); {mark}\ntransition select(hdr.s.last.last) {{ 1: accept; default: s; }} }}"
            ),
        )
    };
    refused(&stack(2, "// there"), &stack(3, "// here"), "E0746", &["a stack of 3 is met with one of 2"]);
    assert!(joined(&stack(3, ""), &stack(3, "")).is_ok());
    // Another end of the labels: one program has elements that the other has not.
    let other_end = stack(3, "// here")
        .replace("1: accept;", "1: accept; 0: more;")
        .replace("default: s; } }", "default: s; } }\nstate more { transition accept; }");
    refused(&other_end.replace("// here", ""), &stack(3, "// here"), "E0746", &["only a header can be"]);
}

#[test]
fn what_leaves_in_no_order_is_refused() {
    let types = "header b_t { bit<16> x; } header c_t { bit<8> y; }";
    let states = "state start { packet.extract(hdr.a); transition select(hdr.a.kind) { 1: b; 2: c; default: accept; } }
        state b { packet.extract(hdr.b); transition accept; } state c { packet.extract(hdr.c); transition accept; }";
    let with = |apply: &str, emits: &str| {
        program(types, "a_t a; b_t b; c_t c;", states, &format!("apply {{ {apply} }}"), emits)
    };
    let one = with("", "packet.emit(hdr.a);\npacket.emit(hdr.b); // there\npacket.emit(hdr.c);");
    let two = with("", "packet.emit(hdr.a); packet.emit(hdr.c);\npacket.emit(hdr.b); // here\n");
    // No packet has both, so that their order does not matter; it does if one may follow the other.
    assert!(joined(&one, &two).is_ok());
    let follow =
        |text: &str| text.replace("packet.extract(hdr.b); transition accept;", "packet.extract(hdr.b); transition c;");
    let error = joined(&follow(&one), &follow(&two)).unwrap_err();
    assert!(error.to_string().contains("emits in another order"), "{error}");
    refused(
        &follow(&one).replace("// there", ""),
        &follow(&two).replace("// here", ""),
        "E0746",
        &["emits in another order", "one.p4:", "two.p4:"],
    );
    let two = with("", "packet.emit(hdr.a);\nif (hdr.b.isValid()) { packet.emit(hdr.b); } // here\n");
    refused(&one.replace("// there", ""), &two, "E0746", &["emits headers, and does nothing else"]);
    // One adds its header behind `a`, the other may add its own there or have extracted it.
    let one = |add: &str| {
        program(
            "header d_t { bit<8> z; }",
            "a_t a; d_t d;",
            "state start { packet.extract(hdr.a); transition accept; }",
            &format!("apply {{ {add} }}"),
            "packet.emit(hdr.a);\npacket.emit(hdr.d); // there\n",
        )
    };
    let two = with("hdr.b.setValid();", "packet.emit(hdr.a);\npacket.emit(hdr.b); // here\npacket.emit(hdr.c);");
    refused(&one("hdr.d.setValid();"), &two, "E0746", &["may have to leave before or after"]);
    assert!(joined(&one(""), &two).is_ok());
    // What the first adds stands before what the second has extracted, and behind what the second adds.
    let apply = "hdr.b.setValid(); hdr.b.x = 0x0102; standard.egress_spec = 3;";
    let adds = program(
        "header b_t { bit<16> x; }",
        "a_t a; b_t b;",
        "state start { packet.extract(hdr.a); transition accept; }",
        &format!("apply {{ {apply} }}"),
        "packet.emit(hdr);",
    );
    let extracts = with("standard.egress_spec = 4;", "packet.emit(hdr);");
    let first = one("hdr.d.setValid(); hdr.d.z = 0xdd;");
    for (two, packet, wanted) in
        [(&adds, vec![2, 0, 7], vec![2, 0, 1, 2, 0xdd, 7]), (&extracts, vec![1, 0, 7, 8, 9], vec![1, 0, 0xdd, 7, 8, 9])]
    {
        let program = joined(&first, two).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(ready(&program, "").packet(1, &packet).unwrap()[0].bytes, wanted, "{program}");
    }
}

#[test]
fn cases_that_no_packet_meets_are_no_conflict() {
    let types = "header b_t { bit<16> x; } header c_t { bit<8> y; bit<8> z; }";
    let one = after_a(
        types,
        "b_t b; c_t c;",
        "transition select(hdr.a.kind) { 1 &&& 0x03: b; default: c; } }
        state b { packet.extract(hdr.b); transition accept; } state c { packet.extract(hdr.c); transition accept; }",
    );
    let two = after_a(types, "b_t x; c_t y;", "transition select(hdr.a.kind, hdr.a.n) { (5, 9): x; (5, _): x; (2 &&& 0x06, _): y; (0, _): y; default: accept; } }
        state x { packet.extract(hdr.x); transition accept; } state y { packet.extract(hdr.y); transition accept; }");
    let program = joined(&one, &two).unwrap_or_else(|errors| panic!("{errors}"));
    let text = program.to_string();
    assert!(text.contains("a_t a;\n    b_t b;\n    c_t c;\n}"), "{text}");
    // 2 and 6 have bit 1, and 1 of the mask 3 has not: a case for 3 or 7 would extract `b` with `y`.
    let two = two.replace("2 &&& 0x06", "1 &&& 0x01");
    refused(&one, &two, "E0746", &["`y` is extracted with `b` here, and with `c` at another place"]);
}

#[test]
fn what_is_no_part_of_a_sequence_is_refused() {
    let good = after_a("", "", "transition accept; }");
    let old = program(
        "",
        "a_t a;",
        "state start { packet.extract(hdr.a); transition accept; }",
        "apply {\nmark_to_drop(); // here\n}",
        "packet.emit(hdr);",
    );
    refused(&good, &old, "E0746", &["is not seen by the next program"]);
    let none = good.replace("V1Switch(P(), V(), I(), E(), C(), D()) main;", "");
    refused(&good, &none, "E0746", &["no `main`"]);
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/system.p4");
    refused(&good, &std::fs::read_to_string(system).unwrap(), "E0746", &["programs for `V1Switch`"]);
    let missing = Reader::new().text("one.p4", &good).check(Path::new("one.p4+nobody.p4")).unwrap_err();
    assert!(missing.code() == "E0700" && missing.to_string().contains("nobody.p4"), "{missing}");
    let wrong = good.replace("bit<8> m;", "bit<8> m; bit<8> m;");
    let errors = joined(&good, &wrong).unwrap_err();
    assert!(errors.code() == "E0721" && errors.to_string().contains("two.p4:"), "{errors}");
    // Both want one name of the control plane.
    let table = "@name(\".t\") table t { actions = { NoAction; } } apply { t.apply(); }";
    let named =
        program("", "a_t a;", "state start { packet.extract(hdr.a); transition accept; }", table, "packet.emit(hdr);");
    refused(&named, &named, "E0745", &["one.p4:", "two.p4:"]);
}

#[test]
fn names_of_tables_keys_and_actions_are_those_of_their_files() {
    let table = "action set(bit<8> n) { hdr.a.n = n; standard.egress_spec = 2; }
        table t { key = { hdr.a.kind: exact; } actions = { set; } } apply { t.apply(); }";
    let one =
        program("", "a_t a;", "state start { packet.extract(hdr.a); transition accept; }", table, "packet.emit(hdr);");
    // Other words for the same header: type, field and header.
    let mut two = one.replace(" a_t ", " b_t ").replace("hdr.a", "hdr.b").replace("b_t a", "b_t b");
    two = two.replace("kind", "sort").replace("hdr.b.n", "hdr.b.number").replace("bit<8> n; }\n", "bit<8> number; }\n");
    let program = joined(&one, &two).unwrap_or_else(|errors| panic!("{errors}\n{two}"));
    let entries = "add one.I.t hdr.a.kind:1 set(n:5)\nadd two.I.t hdr.b.sort:1 two.I.set(n:9)\nadd one.I.t hdr.a.kind:2 one.I.set(n:6)";
    let mut reference = ready(&program, entries);
    let mut sent = |kind: u8| reference.packet(0, &[kind, 0]).unwrap().pop().map(|sent| (sent.port, sent.bytes));
    assert_eq!(sent(1), Some((2, vec![1, 9])));
    assert_eq!(sent(2), Some((2, vec![2, 6])));
    // A sequence prints as a program, which reads back as the same.
    let text = program.to_string();
    let again = Reader::new()
        .text("again.p4", &text)
        .check(Path::new("again.p4"))
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    assert_eq!(again.to_string(), text);
    assert_eq!(ready(&again, entries).packet(0, &[1, 0]).unwrap()[0].bytes, [1, 9]);
}

#[test]
fn a_checksum_that_both_compute_is_computed_wherever_one_of_them_has_its_header() {
    let types = "header b_t { bit<8> x; bit<8> y; bit<16> sum; }";
    let compute = |cases: &str| {
        let states = format!(
            "state start {{ packet.extract(hdr.a); transition select(hdr.a.kind) {{ {cases} default: accept; }} }}
            state b {{ packet.extract(hdr.b); transition accept; }}"
        );
        let text = program(
            types,
            "a_t a; b_t b;",
            &states,
            "apply { standard.egress_spec = 1; hdr.a.n = hdr.a.n + 1; }",
            "packet.emit(hdr);",
        );
        let apply = "update_checksum(hdr.b.isValid(), { hdr.b.x, hdr.b.y }, hdr.b.sum, HashAlgorithm.csum16);";
        text.replace(
            "control C(inout headers_t hdr, inout meta_t meta) { apply { } }",
            &format!("control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ {apply} }} }}"),
        )
    };
    let (narrow, broad) = (compute("1: b;"), compute("1: b; 2: b;"));
    // Once where both have it on every way; otherwise by each.
    for (one, two, times) in [(&broad, &broad, 1), (&narrow, &broad, 2), (&broad, &narrow, 1)] {
        let program = joined(one, two).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(program.to_string().matches("update_checksum(hdr.b").count(), times, "{program}");
        for kind in [1, 2] {
            let sent = ready(&program, "").packet(0, &[kind, 5, 0x12, 0x34, 0, 0]).unwrap();
            assert_eq!(sent[0].bytes, [kind, 7, 0x12, 0x34, 0xed, 0xcb], "{kind}: {program}");
        }
    }
}

#[test]
fn names_that_meet_by_chance_stay_apart() {
    let one = after_a("", "", "transition accept; }");
    // Files whose words meet that of the sequence before them, and a file twice.
    let reader = ["a.p4", "b.p4", "a_and_b.p4"].into_iter().fold(Reader::new(), |reader, name| reader.text(name, &one));
    for files in ["a.p4+b.p4+a_and_b.p4", "a.p4+a.p4+a.p4"] {
        let program = reader.check(Path::new(files)).unwrap_or_else(|errors| panic!("{files}: {errors}"));
        assert_eq!(program.counts().parsers, 1);
    }
    // One library in two versions.
    let other = format!("#define V1MODEL_VERSION 20200408\n{one}");
    refused(&one, &other, "E0746", &["of another version of the library", "<v1model.p4>:"]);
    assert!(joined(&other, &other).is_ok());
    // Headers by another name of their type.
    let alias = one.replace(
        "parser P(packet_in packet, out headers_t hdr",
        "typedef headers_t all_t;\nparser P(packet_in packet, out all_t hdr",
    );
    assert!(joined(&one, &alias).is_ok() && joined(&alias, &one).is_ok());
}
