//! P4Info: what is committed beside the programs of tests/info, which tools/tests/test_p4info.py reads with the public
//! definitions, is what comes out.

use sluice_p4::{Info, P4Errors, Reader};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn info(text: &str) -> Result<Info, P4Errors> {
    let reader = Reader::new().folder(folder().join("run")).text("p.p4", text);
    reader.check(Path::new("p.p4")).unwrap_or_else(|errors| panic!("{errors}")).info()
}

/// `SLUICE_WRITE=1` writes the files anew.
#[test]
fn what_is_committed_is_what_comes_out() {
    let program = Reader::new().check(&folder().join("info/everything.p4")).unwrap_or_else(|e| panic!("{e}"));
    let info = program.info().unwrap_or_else(|errors| panic!("{errors}"));
    let forms = [("txtpb", info.text().into_bytes()), ("pb", info.binary()), ("json", info.json().into_bytes())];
    for (extension, bytes) in forms {
        let path = folder().join("info/everything.p4info").with_extension(format!("p4info.{extension}"));
        if std::env::var_os("SLUICE_WRITE").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        let committed = std::fs::read(&path).unwrap_or_default();
        assert!(committed == bytes, "{} is stale: SLUICE_WRITE=1 writes it", path.display());
    }
}

#[test]
fn every_program_that_runs_has_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4");
    let mut count = 0;
    for entry in [root, folder().join("run")].iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        // Structs as action data, of which P4Info has no types: E0796.
        let is_beyond = path.file_stem().is_some_and(|name| name == "allowed");
        if path.extension().is_some_and(|e| e == "stf") && !is_beyond {
            let program = Reader::new().folder(folder().join("run")).check(&path.with_extension("p4"));
            let info = program.and_then(|program| program.info()).unwrap_or_else(|errors| panic!("{errors}"));
            assert!(info.text().contains("arch: \"v1model\"") && !info.binary().is_empty());
            count += 1;
        }
    }
    assert!(count > 15);
}

#[test]
fn what_p4info_cannot_say_is_refused_with_its_line() {
    for (locals, apply, words) in [
        ("@id(0x01000005) table t { actions = { NoAction; } }", "t.apply();", "0x2000001 to 0x2ffffff"),
        ("@id(5) action a() {} @id(5) action b() {}", "", "`In.a` has it already"),
        ("@id(x) action a() {}", "", "one number of 32 bits above 0"),
        ("action a(@id(1) bit<8> x, @id(1) bit<8> y) {}", "", "another one beside it"),
        ("action a(bit<8> x, @id(1) bit<8> y) {}", "", "another one beside it"),
        ("table t { key = { standard.parser_error: exact; } actions = { NoAction; } }", "t.apply();", "its type"),
        ("@list[1 + 1] action a() {}", "", "this value of an annotation"),
    ] {
        let text = format!("#define LOCALS {locals}\n#define APPLY {apply}\n#include <bytes.p4>\n");
        let errors = info(&text).expect_err(locals);
        let told = errors.to_string();
        assert!(errors.code() == "E0796" && told.contains(words) && told.contains("p.p4:1:"), "{locals}:\n{told}");
    }
    // What v1model does not run has no names to tell.
    assert_eq!(info("#include <core.p4>\n").unwrap_err().code(), "E0794");
}

#[test]
fn an_action_that_nothing_runs_leaves_its_name_to_another() {
    let locals = "@name(\"m\") action one(bit<8> x) { hdr.h.a = x; } @name(\"m\") action two(bit<8> x) { hdr.h.b = x; } \
                  table t { key = { hdr.h.c: exact; } actions = { two; NoAction; } }";
    let text = format!("#define LOCALS {locals}\n#define APPLY t.apply();\n#include <bytes.p4>\n");
    let info = info(&text).unwrap_or_else(|errors| panic!("{errors}")).text();
    assert_eq!(info.matches("name: \"In.m\"").count(), 1, "{info}");
}
