//! One file a rule of the language: what it refuses is said behind the line, and all else of the file is accepted.
//!
//! `// error: [E0723] found bool` is the code, and a part of the message. The file is printed, too, and reads back as the same.

use sluice_p4::{P4Error, Reader, Warned};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == "p4"));
    all.sort();
    assert!(!all.is_empty());
    all
}

/// Lines of a file with the code and the part of the message that they expect.
fn expected(text: &str) -> BTreeMap<usize, (String, String)> {
    marked(text, "// error: [")
}

/// The same for another mark.
fn marked(text: &str, mark: &str) -> BTreeMap<usize, (String, String)> {
    let mut all = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let Some((_, mark)) = line.split_once(mark) else { continue };
        let (code, part) = mark.split_once(']').expect("a code in brackets");
        all.insert(i + 1, (code.to_string(), part.trim().to_string()));
    }
    all
}

fn differences(path: &Path, found: &[P4Error]) -> Vec<String> {
    let name = path.display().to_string();
    let mut left = expected(&std::fs::read_to_string(path).unwrap());
    let mut wrong = Vec::new();
    for error in found {
        // What stands in a macro counts for the line that uses it.
        let used = error.from.first().and_then(|from| from.rsplit_once("used at ")?.1.rsplit(':').nth(1)?.parse().ok());
        let line = used.unwrap_or(error.mistake.position.line);
        match left.remove(&line) {
            Some((code, part)) if code == error.code() && error.to_string().contains(&part) => {}
            Some((code, part)) => wrong.push(format!("{name}:{line}: expected [{code}] {part}, found\n{error}")),
            None => wrong.push(format!("{name}:{line}: not expected\n{error}")),
        }
    }
    wrong.extend(left.iter().map(|(line, (code, part))| format!("{name}:{line}: no error, expected [{code}] {part}")));
    wrong
}

#[test]
fn each_rule_accepts_and_refuses_what_its_file_says() {
    let mut wrong = Vec::new();
    for path in files("tests/files") {
        let found = Reader::new().check(&path).err().map_or_else(Vec::new, |errors| errors.0);
        wrong.extend(differences(&path, &found));
    }
    assert!(wrong.is_empty(), "{}\n{} differences", wrong.join("\n\n"), wrong.len());
}

#[test]
fn programs_are_accepted_and_print_as_programs_that_are_accepted() {
    for path in files("../../programs/p4") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/include");
        let reader = Reader::new().folder(folder).define("WIDTH", "16");
        let program = reader.check(&path).unwrap_or_else(|errors| panic!("{errors}"));
        let again = Reader::new().text("printed.p4", program.to_string()).check(Path::new("printed.p4"));
        let again = again.unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
        assert!(again == program, "{} prints as another program", path.display());
    }
}

#[test]
fn what_is_printed_reads_back_as_the_same_tree_and_prints_the_same() {
    for path in files("tests/files").into_iter().chain(files("../../programs/p4")) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/include");
        // Those whose grammar is wrong have no tree.
        let Ok(program) = Reader::new().folder(folder).define("WIDTH", "16").parse(&path) else { continue };
        let text = program.to_string();
        let again = Reader::new().text("printed.p4", text.as_str()).parse(Path::new("printed.p4"));
        let again = again.unwrap_or_else(|errors| panic!("{}: {errors}\n{text}", path.display()));
        assert!(again == program, "{} prints as another tree:\n{text}", path.display());
        assert_eq!(again.to_string(), text, "{}", path.display());
    }
}

#[test]
fn every_code_has_a_file_that_shows_it() {
    let mut codes: Vec<String> = Vec::new();
    for path in files("tests/files") {
        codes.extend(expected(&std::fs::read_to_string(path).unwrap()).into_values().map(|(code, _)| code));
    }
    // What needs many files or much text is shown in tests/limits.rs, what the reference does not run in tests/run.rs,
    // what P4Info cannot say in tests/info.rs, what the pipeline does not run in tests/model.rs, and what is not reserved or no
    // sequence in tests/compiled.
    codes.extend(["E0701", "E0708", "E0746", "E0750", "E0770", "E0794", "E0796", "E0798", "E0799"].map(str::to_string));
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/error.rs")).unwrap();
    let all = source.split('"').filter(|word| word.len() == 5 && word.starts_with("E07"));
    let missing: Vec<&str> = all.filter(|code| !codes.iter().any(|shown| shown == code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn each_kind_of_warning_is_given_where_its_file_says_and_nowhere_else() {
    let mut wrong = Vec::new();
    let mut shown = std::collections::BTreeSet::new();
    for path in files("tests/warn") {
        let program = Reader::new().check(&path).unwrap_or_else(|errors| panic!("{errors}"));
        let mut left = marked(&std::fs::read_to_string(&path).unwrap(), "// warning: [");
        shown.extend(left.values().map(|(code, _)| code.clone()));
        for warning in program.warnings() {
            let line = warning.mistake.position.line;
            match left.remove(&line) {
                Some((code, part)) if code == warning.code() && warning.to_string().contains(&part) => {}
                Some((code, part)) => wrong.push(format!("expected [{code}] {part}, found\n{warning}")),
                None => wrong.push(format!("not expected\n{warning}")),
            }
        }
        let missing = left.iter().map(|(line, (code, part))| format!("{}:{line}: no [{code}] {part}", path.display()));
        wrong.extend(missing);
    }
    assert!(wrong.is_empty(), "{}\n{} differences", wrong.join("\n\n"), wrong.len());
    // What only the compiler sees is shown in the tests of the command.
    shown.insert("E0784".to_string());
    let missing: Vec<&str> = Warned::ALL.iter().map(|(_, code)| *code).filter(|code| !shown.contains(*code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What is right to say of shipped programs: two show the grammar and use little of it, and `ecn` reads as the tutorial's does.
const RIGHT: &[(&str, &[usize])] = &[
    ("ecn.p4", &[66]),
    ("source_routes.p4", &[75, 75, 85]),
    ("tour.p4", &[29, 33, 38, 42, 45, 47, 73, 110, 114, 116, 122]),
];

#[test]
fn shipped_programs_have_no_warnings_but_those_that_are_right() {
    let mut wrong = Vec::new();
    for path in files("../../programs/p4") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/include");
        let program = Reader::new().folder(folder).define("WIDTH", "16").check(&path).unwrap();
        let all: Vec<String> = program.warnings().iter().map(ToString::to_string).collect();
        let place = |text: &String| text.split_once(" --> ")?.1.split(':').nth(1)?.parse::<usize>().ok();
        let lines: Vec<Option<usize>> = all.iter().map(place).collect();
        let right = RIGHT.iter().find(|(name, _)| path.ends_with(name)).map_or(&[][..], |(_, lines)| *lines);
        if lines != right.iter().map(|line| Some(*line)).collect::<Vec<_>>() {
            wrong.extend(all);
        }
    }
    assert!(wrong.is_empty(), "{}\n{} warnings", wrong.join("\n\n"), wrong.len());
}

/// A program for v1model around the `apply` of its ingress or its deparser.
fn around(ingress: &str, deparser: &str) -> String {
    program("", ingress, "apply { }", deparser)
}

/// The same around what its egress does, too, and declarations of its own.
fn program(own: &str, ingress: &str, egress: &str, deparser: &str) -> String {
    let standard = "inout headers_t hdr, inout meta_t m";
    format!(
        "#include <core.p4>\n#include <v1model.p4>\nheader eth_t {{ bit<16> kind; }} header ip_t {{ bit<8> ttl; }}\n\
         struct headers_t {{ eth_t eth; ip_t ip; ip_t spare; ip_t lost; }} struct meta_t {{ bit<8> ttl; }}\n\
         parser P(packet_in b, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {{\n\
         state start {{ b.extract(hdr.eth); transition select(hdr.eth.kind) {{ 0x800: ip; _: accept; }} }}\n\
         state ip {{ b.extract(hdr.ip); transition accept; }} }}\n\
         {own}\n\
         control V({standard}) {{ apply {{ }} }}\n\
         control I({standard}, inout standard_metadata_t s) {{ {ingress} }}\n\
         control E({standard}, inout standard_metadata_t s) {{ {egress} }}\n\
         control C({standard}) {{ apply {{ }} }}\n\
         control D(packet_out b, in headers_t hdr) {{ {deparser} }}\n\
         V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    )
}

#[test]
fn each_warning_has_a_page_whose_wrong_example_gives_it_and_whose_right_one_does_not() {
    const EMITS: &str = "apply { b.emit(hdr.eth); b.emit(hdr.ip); }";
    for (name, code) in Warned::ALL {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/errors/{code}.md"));
        let page = std::fs::read_to_string(path).unwrap();
        assert!(page.starts_with(&format!("# {code}: ")) && page.contains(&format!("(`{name}`)")), "{code}");
        let example = |after: &str| {
            let rest = page.split_once(after).unwrap_or_else(|| panic!("{code} has no `{after}`")).1;
            rest.split_once("```")
                .and_then(|(_, block)| Some(block.split_once("\n")?.1.split_once("```")?.0))
                .unwrap()
                .to_string()
        };
        // What the compiler sees is no warning of the checker.
        if *code == "E0784" {
            continue;
        }
        let gives = |example: String| {
            let text = match *code {
                "E0778" | "E0781" => around(&example, EMITS),
                "E0780" => around("apply { s.egress_spec = 1; }", &example),
                _ => example,
            };
            let program = Reader::new().text("page.p4", text).check(Path::new("page.p4"));
            let program = program.unwrap_or_else(|errors| panic!("{code}: {errors}"));
            program.warnings().iter().any(|warning| warning.code() == *code)
        };
        assert!(gives(example("\nWrong:\n")), "{code}: the wrong example is not warned of");
        assert!(!gives(example("\nRight:\n")), "{code}: the right example is warned of");
    }
}

/// Ingress and egress, and whether their reads of `hdr.ip` are told.
const DECIDED: &[(&str, &str, bool)] = &[
    ("apply { m.ttl = hdr.ip.ttl; }", "apply { }", true),
    ("apply { if (hdr.eth.kind != 0x800) { return; } m.ttl = hdr.ip.ttl; }", "apply { }", false),
    ("apply { if (hdr.eth.kind == 0x800) { } else { exit; } m.ttl = hdr.ip.ttl; }", "apply { }", false),
    ("apply { if (hdr.ip.isValid()) { return; } m.ttl = hdr.ip.ttl; }", "apply { }", true),
    ("action d() { exit; } apply { if (!hdr.ip.isValid()) { d(); } m.ttl = hdr.ip.ttl; }", "apply { }", false),
    ("action d() { return; } apply { if (!hdr.ip.isValid()) { d(); } m.ttl = hdr.ip.ttl; }", "apply { }", true),
    ("action d() { if (m.ttl == 1) { return; } } apply { d(); m.ttl = hdr.ip.ttl; }", "apply { }", true),
    ("apply { if (hdr.ip.isValid() == false) { exit; } m.ttl = hdr.ip.ttl; }", "apply { }", false),
    ("apply { if (true != hdr.ip.isValid()) { exit; } m.ttl = hdr.ip.ttl; }", "apply { }", false),
    ("apply { if (hdr.ip.isValid() != false) { exit; } m.ttl = hdr.ip.ttl; }", "apply { }", true),
    ("apply { bool no = !hdr.ip.isValid(); if (no) { return; } m.ttl = hdr.ip.ttl; }", "apply { }", false),
    (
        "table t { key = { hdr.ip.isValid(): exact; } actions = { NoAction; } const entries = { true: NoAction(); } }
         apply { if (!t.apply().hit) { return; } m.ttl = hdr.ip.ttl; }",
        "apply { }",
        false,
    ),
    (
        "action d() { exit; } table t { key = { hdr.ip.isValid(): exact; } actions = { NoAction; d; } default_action = d(); }
         apply { t.apply(); m.ttl = hdr.ip.ttl; }",
        "apply { }",
        false,
    ),
    ("check() c; apply { c.apply(hdr); m.ttl = hdr.ip.ttl; }", "apply { }", false),
    ("apply { if (hdr.eth.kind == 1) { hdr.ip.setValid(); } m.ttl = hdr.ip.ttl; }", "apply { }", false),
    ("apply { hdr.ip.setValid(); s.egress_spec = 1; }", "apply { m.ttl = hdr.ip.ttl; }", false),
    ("apply { s.egress_spec = 1; }", "apply { m.ttl = hdr.ip.ttl; }", true),
    ("apply { m.ttl = hdr.spare.ttl; }", "apply { }", true),
    ("apply { if (s.parser_error != error.NoError) { m.ttl = hdr.lost.ttl; } }", "apply { }", false),
    ("apply { if (!hdr.ip.isValid()) { mark_to_drop(s); } }", "apply { m.ttl = hdr.ip.ttl; }", false),
    ("apply { if (!hdr.ip.isValid()) { s.egress_spec = 511; } }", "apply { m.ttl = hdr.ip.ttl; }", false),
    ("apply { if (hdr.ip.isValid()) { mark_to_drop(s); } }", "apply { m.ttl = hdr.ip.ttl; }", true),
    ("apply { mark_to_drop(s); s.egress_spec = 1; }", "apply { m.ttl = hdr.ip.ttl; }", true),
    ("apply { if (hdr.eth.kind != 0x800) { mark_to_drop(s); } }", "apply { m.ttl = hdr.ip.ttl; }", false),
    ("apply { if (!hdr.ip.isValid()) { resubmit_preserving_field_list(1); } }", "apply { m.ttl = hdr.ip.ttl; }", false),
    (
        "apply { }",
        "apply { if (s.instance_type == 2) { m.ttl = hdr.spare.ttl; } else { hdr.spare.setValid(); clone(CloneType.E2E, 1); } }",
        false,
    ),
    ("apply { hdr.ip.setValid(); clone(CloneType.I2E, 1); }", "apply { m.ttl = hdr.ip.ttl; }", false),
];

#[test]
fn headers_are_told_only_where_nothing_but_validity_decides_that_they_are_read() {
    const CHECK: &str = "control check(inout headers_t h) { apply { if (!h.ip.isValid()) { exit; } } }";
    const LOST: &str = "state lost { b.extract(hdr.lost); transition reject; }";
    for (ingress, egress, told) in DECIDED {
        let text = program(CHECK, ingress, egress, "apply { b.emit(hdr); }");
        let text =
            text.replace("_: accept; } }", "1: lost; _: accept; } }").replace("state ip", &format!("{LOST} state ip"));
        let program = Reader::new().text("page.p4", text).check(Path::new("page.p4"));
        let program = program.unwrap_or_else(|errors| panic!("{ingress}: {errors}"));
        let found = program.warnings().iter().any(|warning| warning.code() == "E0778");
        assert_eq!(found, *told, "{ingress} {egress}");
    }
}

/// Ingress, deparser, declarations of their own, and the warning that is not given.
const SILENT: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "apply { if (hdr.ip.isValid()) { hdr.spare = hdr.ip; } }",
        "apply { b.emit(hdr.spare); b.emit(hdr.eth); }",
        "E0780",
    ),
    ("", "apply { hdr.ip = (ip_t){#}; }", "apply { b.emit(hdr.eth); }", "E0780"),
    ("", "apply { hdr.ip = {#}; }", "apply { b.emit(hdr.eth); }", "E0780"),
    ("extern void f(inout standard_metadata_t s);", "apply { f(s); }", "apply { b.emit(hdr); }", "E0781"),
    (
        "extern X { X(); void f(out standard_metadata_t s); }",
        "X() x; apply { x.f(s); }",
        "apply { b.emit(hdr); }",
        "E0781",
    ),
    (
        "control T(in bit<8> y); control S(in bit<8> y) { apply { } } control O()(T t) { apply { t.apply(1); } }",
        "S() s1; O(S()) o; apply { s1.apply(2); o.apply(); }",
        "apply { b.emit(hdr); }",
        "E0775",
    ),
];

#[test]
fn nothing_is_said_of_headers_that_are_copied_away_ports_that_an_extern_sets_and_parameters_that_a_type_has() {
    for (own, ingress, deparser, code) in SILENT {
        let text = program(own, ingress, "apply { }", deparser);
        let program = Reader::new().text("page.p4", text).check(Path::new("page.p4"));
        let program = program.unwrap_or_else(|errors| panic!("{ingress}: {errors}"));
        let found: Vec<String> =
            program.warnings().iter().filter(|w| w.code() == *code).map(ToString::to_string).collect();
        assert!(found.is_empty(), "{ingress}: {found:?}");
    }
}
