//! Programs that are no sequence are refused with both places, and what is one stays what it was in its file.

use crate::sequence::ready;
use sluice_p4::{Program, Reader, Sent};
use std::path::Path;

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
    refused(&b, &other("", "", "packet.advance(24);"), "E0746", &["bytes that the other program takes in another way"]);
    // One header of one program, two of the other.
    let of_two = |second: &str| {
        after_a("header x_t { bit<8> v; }", "x_t x; x_t y;", &format!("transition select(hdr.a.kind) {{ 1: x; 2: y; default: accept; }} }}
            state x {{ packet.extract(hdr.x); transition accept; }}\nstate y {{ packet.extract(hdr.{second}); transition accept; }}"))
    };
    refused(&of_two("y"), &of_two("x"), "E0746", &["`x` is extracted with", "and with", "at another place", "one.p4:"]);
    refused(&of_two("x"), &of_two("y"), "E0746", &["`x` of the other program is extracted with", "one.p4:"]);
    assert!(joined(&of_two("x"), &of_two("x")).is_ok());
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

/// `a`, an `x` behind it for kind 1, and what a parser, ingress and the deparser do beside it.
fn with_x(before: &str, in_x: &str, ingress: &str, emits: &str) -> String {
    let types = format!("header x_t {{ bit<8> v; bit<8> w; }}\n{before}");
    let states = format!(
        "state start {{ packet.extract(hdr.a); transition select(hdr.a.kind) {{ 1: x; default: accept; }} }}
        state x {{\n{in_x} }}"
    );
    let emits = if emits.is_empty() { "packet.emit(hdr.a);\npacket.emit(hdr.x); // emitted\n" } else { emits };
    program(&types, "a_t a; x_t x; x_t y;", &states, ingress, emits)
}

#[test]
fn what_programs_would_see_of_each_other_is_refused() {
    const X: &str = "packet.extract(hdr.x); transition accept;";
    let good = with_x("", X, "apply { standard.egress_spec = 1; }", "");
    assert!(joined(&good, &good).is_ok());
    let takes = |in_x: &str| with_x("const bit<32> K = 8;", in_x, "apply { }", "");
    for (in_x, words) in [
        // Steps of which it is not seen which bytes they take, or that only look the same.
        (
            "packet.extract(hdr.x);\nif (hdr.x.v == 1) { packet.extract(hdr.y); } // here\ntransition accept;",
            "nothing else takes bytes",
        ),
        ("packet.extract(hdr.x);\n{ packet.extract(hdr.y); } // here\ntransition accept;", "nothing else takes bytes"),
        (
            "packet.extract(hdr.x);\npacket.extract(hdr.x); // here\ntransition accept;",
            "was extracted before on this way",
        ),
        // What a parser writes is there before the first program runs.
        ("packet.extract(hdr.x);\nhdr.x.w = 7; // here\ntransition accept;", "writes its own metadata"),
        ("packet.extract(hdr.x);\nstandard.egress_spec = 511; // here\ntransition accept;", "writes its own metadata"),
        ("packet.extract(hdr.x);\nhdr.y.setValid(); // here\ntransition accept;", "writes its own metadata"),
    ] {
        refused(&good, &takes(in_x), "E0746", &[words]);
        let errors = joined(&takes(in_x), &good).unwrap_err();
        assert!(errors.code() == "E0746" && errors.to_string().contains(words), "{errors}");
    }
    let by = |number: u32| {
        takes("packet.extract(hdr.x);\npacket.advance(K); // here\ntransition accept;")
            .replace("K = 8", &format!("K = {number}"))
    };
    refused(&by(8).replace("// here", ""), &by(16), "E0746", &["takes in another way"]);
    assert!(joined(&by(8), &by(8)).is_ok());
    // Functions and variables of one name are each program's own.
    let computed = |number: u32| {
        takes("packet.extract(hdr.x);\npacket.advance(far()); // here\ntransition accept;")
            .replace("const bit<32> K = 8;", &format!("bit<32> far() {{ return {number}; }}"))
    };
    refused(&computed(8).replace("// here", ""), &computed(16), "E0746", &["takes in another way"]);
    // A header that one program takes out of the packet by not emitting it; one that leaves twice, or in parts.
    let strips = with_x("", X, "apply { }", "packet.emit(hdr.a);");
    refused(&good, &strips, "E0746", &["`x` is extracted here and not emitted", "one.p4:"]);
    refused(&strips, &good, "E0746", &["takes it out of the packet by not emitting it", "one.p4:"]);
    assert!(joined(&strips, &strips).is_ok());
    let twice = with_x("", X, "apply { }", "packet.emit(hdr.a); packet.emit({hdr.x, hdr.x});");
    refused(&good, &twice, "E0746", &["a header that the second program emits before, too"]);
    let listed = with_x("", X, "apply { }", "packet.emit(hdr.a); packet.emit({hdr.x, hdr.y});");
    assert_eq!(joined(&good, &listed).unwrap().to_string().matches("emit(hdr.x)").count(), 1);
    // A packet that begins again, lists of fields, and an error that is one for all.
    let again = with_x("", X, "apply {\nresubmit_preserving_field_list(1); // here\n}", "");
    refused(&good, &again, "E0746", &["would meet all programs again"]);
    let keeps = with_x("", X, "apply {\nclone_preserving_field_list(CloneType.I2E, 5, 1); // here\n}", "");
    let lists = good.replace("bit<8> m;", "@field_list(1) bit<8> m;");
    refused(&lists, &keeps, "E0746", &["numbers of lists are those of all programs"]);
    assert!(joined(&good, &keeps).is_ok());
    let verifies = good.replace("control V(inout headers_t hdr, inout meta_t meta) { apply { } }", "control V(inout headers_t hdr, inout meta_t meta) { apply { verify_checksum(hdr.x.isValid(), { hdr.x.v }, hdr.x.w, HashAlgorithm.csum16); } }");
    let verifies = verifies.replace("bit<8> v; bit<8> w;", "bit<16> v; bit<16> w;");
    let asks = "apply {\nif (standard.checksum_error == 1) { mark_to_drop(standard); } // here\n}";
    let asks = with_x("", X, asks, "").replace("bit<8> v; bit<8> w;", "bit<16> v; bit<16> w;");
    refused(&verifies, &asks, "E0746", &["`checksum_error` is one for all programs", "one.p4:"]);
    // Other shapes.
    let made = good
        .replace("standard_metadata_t standard) {\nstate", "standard_metadata_t standard)(bit<8> k) {\nstate")
        .replace("V1Switch(P()", "V1Switch(P(1)");
    assert!(joined(&good, &made).unwrap_err().to_string().contains("parameters of its constructor"));
    let one = good
        .replace("out headers_t hdr", "out a_t hdr")
        .replace("inout headers_t hdr", "inout a_t hdr")
        .replace("in headers_t hdr", "in a_t hdr")
        .replace("hdr.a.", "hdr.")
        .replace("hdr.a)", "hdr)");
    let one = one
        .replace("1: x; ", "")
        .replace(&format!("state x {{\n{X} }}"), "")
        .replace("packet.emit(hdr.x); // emitted", "");
    assert!(joined(&good, &one).unwrap_err().to_string().contains("no struct of the program's own"));
}

#[test]
fn an_error_of_a_parser_is_one_for_all_and_copies_of_a_dropped_packet_go_on() {
    let x = "packet.extract(hdr.x); transition select(hdr.x.v) { 5: accept; }";
    let marks = |field: &str| {
        with_x(
            "",
            x,
            &format!(
                "apply {{ standard.egress_spec = 1; if (standard.parser_error == error.NoMatch) {{ hdr.a.{field} = 9; }} }}"
            ),
            "",
        )
    };
    let program = joined(&marks("kind"), &marks("n")).unwrap_or_else(|errors| panic!("{errors}"));
    let sent = |bytes: &[u8]| ready(&program, "").packet(0, bytes).unwrap()[0].bytes.clone();
    assert_eq!((sent(&[1, 0, 4, 4]), sent(&[1, 0, 5, 4])), (vec![9, 9, 4, 4], vec![1, 0, 5, 4]), "{program}");
    // One of both has a case for all packets.
    let all = with_x("", "packet.extract(hdr.x); transition accept;", "apply { }", "");
    let program = joined(&marks("n"), &all).unwrap();
    assert_eq!(ready(&program, "").packet(0, &[1, 0, 4, 4]).unwrap()[0].bytes, [1, 9, 4, 4], "{program}");
    // The first drops the packet and sends copies: the second sees these.
    let copies = with_x(
        "",
        "packet.extract(hdr.x); transition accept;",
        "apply { mark_to_drop(standard); standard.mcast_grp = 1; }",
        "",
    );
    let writes = with_x("", "packet.extract(hdr.x); transition accept;", "apply { hdr.x.w = 7; }", "");
    let program = joined(&copies, &writes).unwrap();
    let mut reference = ready(&program, "mc_mgrp_create 1\nmc_node_create 0 4\nmc_node_associate 1 0");
    assert_eq!(reference.packet(0, &[1, 0, 5, 4]).unwrap(), [Sent { port: 4, bytes: vec![1, 0, 5, 7] }]);
    // Files whose names are words of the language.
    let reader = Reader::new().text("switch.p4", &all).text("_.p4", &all).text("9.p4", &all);
    for files in ["switch.p4+_.p4", "_.p4+switch.p4", "9.p4+switch.p4"] {
        assert!(reader.check(Path::new(files)).is_ok(), "{files}");
    }
    // One control in two places.
    let shared = all.replace("V1Switch(P(), V(), I(), E(), C(), D())", "V1Switch(P(), C(), I(), E(), C(), D())");
    assert!(joined(&shared, &shared).is_ok());
}

#[test]
fn large_parsers_are_joined_or_refused_in_time() {
    let cases = |key: &str, count: u32| {
        let cases: String = (0..count).map(|n| format!("{n} &&& 0x7fff: accept;\n")).collect();
        program(
            "",
            "a_t a;",
            &format!(
                "state start {{ packet.extract(hdr.a); transition select(hdr.a.{key} ++ hdr.a.{key}) {{ {cases} default: accept; }} }}"
            ),
            "apply { }",
            "packet.emit(hdr);",
        )
    };
    let begun = std::time::Instant::now();
    let errors = joined(&cases("kind", 300), &cases("n", 300)).unwrap_err();
    assert!(errors.to_string().contains("more than 4096 cases together"), "{errors}");
    assert!(joined(&cases("kind", 50), &cases("n", 50)).is_ok());
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
