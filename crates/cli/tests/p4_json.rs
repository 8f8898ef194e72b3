//! What programs read of `sluice p4 compile` and `test` where something is wrong.

use crate::common::Folder;
use serde_json::Value;

/// Calls it with `--json`; what came out, where nothing else was said.
fn told(f: &Folder, arguments: &[&str], code: i32) -> Value {
    let called = f.sluice(&[arguments, &["--json"]].concat());
    assert_eq!((called.code, &*called.err), (code, ""), "{arguments:?}: {}", called.out);
    serde_json::from_str(&called.out).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {}", called.out))
}

#[test]
fn an_error_is_an_object_of_the_form_that_check_gives() {
    let f = Folder::new();
    f.write("a.p4", "const bit<8> x = y;\nconst bit<8> z = w;\n");
    let checked = told(&f, &["p4", "check", "a.p4"], 2)["files"][0].clone();
    assert_eq!(checked["errors"].as_array().map(Vec::len), Some(2), "{checked}");
    for command in ["compile", "test"] {
        assert_eq!(told(&f, &["p4", command, "a.p4"], 2), checked, "{command}");
    }
}

#[test]
fn what_has_a_place_says_it_and_what_has_none_has_a_code() {
    let f = Folder::new();
    let basic = "programs/p4/basic.p4";
    f.write("bad.stf", "packet 0 00\npaket 0 00\n");
    f.write("empty.stf", "# Nothing.\n\n");
    for (arguments, code, error, line) in [
        (vec!["p4", "test", basic, "bad.stf"], 2, "E0790", Some(2)),
        (vec!["p4", "test", basic, "empty.stf"], 2, "E0790", None),
        (vec!["p4", "test", basic, "none.stf"], 2, "E0501", None),
        (vec!["p4", "test", basic, "bad.stf", "--bound", "x=1", "--bound", "x=2"], 2, "E0502", None),
        (vec!["p4", "compile", basic, "--stages", "0-9"], 3, "E0770", None),
        (vec!["p4", "compile", basic, "--entries", "none.entries"], 2, "E0305", None),
        (vec!["p4", "compile", basic, "--bound", "none=3"], 3, "E0750", Some(1)),
        (vec!["p4", "test", basic, "--bound", "none=3"], 3, "E0794", Some(1)),
        (vec!["p4", "compile", "none.p4"], 2, "E0700", Some(1)),
    ] {
        let value = told(&f, &arguments, code);
        let found = &value["errors"][0];
        assert_eq!((&value["passed"], &value["file"]), (&false.into(), &arguments[2].into()), "{value}");
        assert_eq!((found["code"].as_str(), found["line"].as_u64()), (Some(error), line), "{value}");
        assert!(found["what"].is_string() && found["from"].is_array() && found["notes"].is_array(), "{value}");
        assert!(value["warnings"].is_array(), "{value}");
    }
    // A warning that counts as an error is one.
    f.write("cut.p4", "const bit<8> x = 300;\n");
    let value = told(&f, &["p4", "compile", "cut.p4", "-Werror"], 2);
    assert_eq!((&value["errors"][0]["code"], &value["errors"][0]["line"]), (&"E0779".into(), &1.into()), "{value}");
}

/// As `compile`, `test` and `graph` end where the program is read and not run.
#[test]
fn info_ends_with_3_where_a_flag_names_nothing_of_the_program() {
    let f = Folder::new();
    for flag in ["--bound", "--cells"] {
        for command in ["info", "compile", "graph", "test"] {
            let called = f.sluice(&["p4", command, "programs/p4/basic.p4", flag, "none=3"]);
            let said = called.err.contains("error[E0794]") || called.err.contains("error[E0750]");
            assert!(called.code == 3 && said, "{command} {flag}: {} {}", called.code, called.err);
        }
    }
}

#[test]
fn an_empty_script_is_refused() {
    let f = Folder::new();
    f.write("empty.stf", "# Nothing.\n");
    let called = f.sluice(&["p4", "test", "programs/p4/basic.p4", "empty.stf"]);
    let words = "error[E0790]: empty.stf: found no command, expected a packet at least";
    assert!(called.code == 2 && called.err.contains(words), "{} {}", called.code, called.err);
}
