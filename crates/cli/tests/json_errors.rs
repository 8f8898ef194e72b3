//! With `--json` an error is one document on standard output, in one shape for all commands.

use crate::common::{Called, Folder};
use serde_json::Value;

const CAPTURE: &str = "programs/nic/mixed.pcapng";

/// The first error of a call that has failed; where there is a text for people, too, it has the same code.
fn error(called: &Called) -> Value {
    let read = serde_json::from_str(&called.out);
    let mut document: Value = read.unwrap_or_else(|e| panic!("{e}: {}\n{}", called.out, called.err));
    assert_ne!(called.code, 0, "{document}");
    assert_eq!(document["passed"], false, "{document}");
    let error = document["errors"][0].take();
    let code = error["code"].as_str().unwrap_or_else(|| panic!("no code in {}", called.out));
    assert!(called.err.is_empty() || called.err.contains(&format!("error[{code}]")), "{}", called.err);
    for key in ["code", "file", "line", "column", "what", "help"] {
        assert!(error.get(key).is_some(), "{key}: {error}");
    }
    error
}

#[test]
fn files_that_are_not_there_or_no_such_files_are_told_as_json_by_every_command() {
    let f = Folder::new();
    f.write("bad", "x=");
    for file in ["no", "bad"] {
        let calls: [&[&str]; 20] = [
            &["run", "--config", file, "--in", CAPTURE],
            &["script", file],
            &["l7", "compile", file],
            &["l7", "explain-match", file, "x=y"],
            &["l7", "run", file, "--in", CAPTURE],
            &["rmt", "build", file, "-o", "out.slob"],
            &["rmt", "run", file, "--in", CAPTURE],
            &["rmt", "run", "programs/rmt/calc.rmt", "--in", file],
            &["xdp", "check", file],
            &["xdp", "compile", file],
            &["xdp", "show", file, "programs/xdp/drop/drop.o"],
            &["xdp", "run", file, "--in", CAPTURE],
            &["xdp", "run", "programs/xdp/drop/drop.o", "--in", file],
            &["object", "show", file],
            &["object", "ring", "--config", file],
            &["object", "shares", "--config", file],
            &["map", "--state", file, "list"],
            &["p4", "compile", file],
            &["p4", "run", file, "--in", CAPTURE],
            &["p4", "test", file],
        ];
        for call in calls {
            let called = f.sluice(&[call, &["--json"]].concat());
            assert!(error(&called)["what"].as_str().is_some_and(|what| !what.is_empty()), "{call:?}: {}", called.out);
        }
    }
    // Of several files one cannot be read.
    for call in [["l7", "check", "no.l7", "--json"], ["rmt", "check", "no.rmt", "--json"]] {
        let error = error(&f.sluice(&call));
        assert_eq!((&error["code"], &error["file"]), (&"E0501".into(), &call[2].into()));
        assert!(error["what"].as_str().unwrap().starts_with("cannot be read: "), "{error}");
    }
}

#[test]
fn an_error_has_the_place_that_its_text_has() {
    let f = Folder::new();
    f.write("bad.pkt", "send 0 eth\nfrobnicate\n");
    let script = error(&f.sluice(&["script", "bad.pkt", "--json"]));
    assert_eq!((&script["file"], &script["line"], &script["column"]), (&"bad.pkt".into(), &2.into(), &1.into()));
    assert!(script["what"].as_str().unwrap().starts_with("unknown statement `frobnicate`"), "{script}");
    f.write("bad.toml", "[device]\nseed = -1\n");
    let toml = error(&f.sluice(&["run", "--config", "bad.toml", "--in", CAPTURE, "-j"]));
    assert_eq!((&toml["file"], &toml["line"]), (&"bad.toml".into(), &2.into()));
    // A program that a device does not run ends with an exit code of its own.
    let run = ["p4", "run", "programs/p4/mri.p4", "--in", "programs/xdp/mixed.pcap", "--device", "model", "--json"];
    let called = f.sluice(&run);
    assert_eq!((called.code, &error(&called)["code"]), (3, &"E0770".into()));
    // Of rules that do not fit, exit code and document.
    let rows = f.sluice(&["l7", "compile", "programs/l7/urls.l7", "--json", "--rows", "1"]);
    assert_eq!((rows.code, &error(&rows)["code"]), (1, &"E0871".into()));
}

#[test]
fn a_command_line_that_is_none_is_told_as_json_too_and_captures_stay_alone_on_standard_output() {
    let f = Folder::new();
    let usage = error(&f.sluice(&["run", "--json"]));
    assert_eq!(usage["code"], "E0504");
    assert!(usage["what"].as_str().unwrap().contains("--config"), "{usage}");
    assert!(f.sluice(&["run"]).out.is_empty());
    let called = f.sluice(&["run", "--config", "no.toml", "--in", CAPTURE, "--out", "port1=-", "--json"]);
    assert_eq!((called.code, called.out.as_str()), (2, ""));
    let called = f.sluice(&["xdp", "run", "no.o", "--in", CAPTURE, "--packets", "-", "--json"]);
    assert_eq!((called.code, called.out.as_str()), (2, ""));
}
