//! `sluice object`: both forms, there and back.

use crate::common;
use crate::common::Folder;

#[test]
fn json_to_binary_and_back_is_the_same_object() {
    let folder = Folder::new();
    for name in ["red", "red-2", "green", "blue"] {
        let json = format!("programs/nic/{name}.json");
        folder.sluice(&["object", "build", &json, "-o", "out/object.slob"]).ok();
        let binary = folder.sluice(&["object", "show", "out/object.slob"]).ok();
        assert_eq!(binary, folder.sluice(&["object", "show", &json]).ok());
        let long = folder.sluice(&["object", "show", "out/object.slob", "--json"]).ok();
        folder.write("again.json", &long);
        folder.sluice(&["object", "build", "again.json", "-o", "again.slob"]).ok();
        let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert_eq!(bytes("out/object.slob"), bytes("again.slob"));
    }
}

#[test]
fn show_has_every_entry_in_words() {
    let text = Folder::new().sluice(&["object", "show", "programs/nic/green.json"]).ok();
    assert!(text.contains("key      five_tuple src dst protocol"), "{text}");
    assert!(text.contains("src=10.0.0.12 dst=10.0.0.3 protocol=6"), "{text}");
    assert!(text.contains("symbol   backend-a = port2"), "{text}");
}

#[test]
fn ring_prints_messages_that_decode_and_ends_a_change_with_commit_and_wait() {
    let change = ["--replace", "red=programs/nic/red-2.json"];
    let arguments = [&["object", "ring", "--config", "programs/nic/nic.toml"][..], &change].concat();
    let text = Folder::new().sluice(&arguments).ok();
    let mut numbers = std::collections::BTreeSet::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#') && !l.starts_with("barrier")) {
        let (step, rest) = line.split_once(' ').unwrap();
        let words = rest.split(" mask ").next().unwrap().split("  #").next().unwrap();
        let words: Vec<u32> = words.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
        let message = sluice_formats::Message::decode(&words).unwrap();
        let read = matches!(step, "check" | "wait");
        assert_eq!(message.op, if read { sluice_formats::Op::Read } else { sluice_formats::Op::Write }, "{line}");
        assert!(numbers.insert(message.sequence), "{line}");
    }
    let change = text.split("# section change_1").nth(1).unwrap();
    let steps: Vec<&str> = change.lines().filter(|l| !l.starts_with('#')).filter_map(|l| l.split(' ').next()).collect();
    let commit = steps.iter().position(|s| *s == "commit").unwrap();
    assert_eq!(steps[commit + 1], "wait", "the old rows are cleared when nobody reads them any more");
    assert!(steps[..commit].contains(&"write") && steps[commit..].contains(&"write"));
}

#[test]
fn ring_gives_the_same_words_as_lines_as_json_and_as_c() {
    let folder = Folder::new();
    let load = common::root().join("crates/object/tests/golden/red.v7.slld").display().to_string();
    let text = folder.sluice(&["object", "ring", &load]).ok();
    let json: serde_json::Value =
        serde_json::from_str(&folder.sluice(&["object", "ring", &load, "--json"]).ok()).unwrap();
    let header = folder.sluice(&["object", "ring", &load, "--c"]).ok();
    let loads = json["sections"][0]["loads"].as_array().unwrap();
    let steps: Vec<_> = loads.iter().flat_map(|l| l["steps"].as_array().unwrap()).collect();
    assert!(steps.len() > 20);
    for step in steps.iter().filter(|s| s["step"] != "barrier") {
        let words: Vec<u64> = step["words"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap()).collect();
        let line: Vec<String> = words.iter().map(|w| format!("{w:08x}")).collect();
        let record: Vec<String> = words.iter().map(|w| format!("0x{w:08x}u,")).collect();
        assert!(text.contains(&format!("{} {}", step["step"].as_str().unwrap(), line.join(" "))), "{step}");
        assert!(header.contains(&record.join(" ")), "{step}");
    }
}

#[test]
fn ring_refuses_what_no_message_stands_for_and_loads_that_do_not_belong_together() {
    let folder = Folder::new();
    let called = folder.sluice(&["object", "ring", "--config", "programs/xdp/nic.toml"]);
    assert!(
        called.code == 2 && called.err.contains("E0234") && called.err.contains("a program of the engine xdp"),
        "{}",
        called.err
    );
    let golden = |name: &str| common::root().join("crates/object/tests/golden").join(name).display().to_string();
    let old = folder.sluice(&["object", "ring", &golden("red.v1.slld")]);
    assert!(old.code == 2 && old.err.contains("E0202"), "{}", old.err);
    let none = folder.sluice(&["object", "ring"]);
    assert!(none.code == 2 && none.err.contains("--config"), "{}", none.err);
    let both = folder.sluice(&["object", "ring", "--config", "programs/nic/nic.toml", "--replace", "mauve=x.json"]);
    assert!(both.code == 2 && both.err.contains("E0509"), "{}", both.err);
}
