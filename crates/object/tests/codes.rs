//! The pages of the error codes say what the code does.

use sluice_formats::target::{DEFAULT, TINY};
use sluice_object::{Object, ObjectError};

fn examples(page: &str) -> Vec<&str> {
    page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_wrong_json_example_gives_the_code_and_the_right_one_is_taken() {
    let mut checked = 0;
    for (code, page) in sluice_object::codes() {
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        assert!(page.contains("\nWrong:\n") && page.contains("\nRight:\n"), "{code}");
        if let [wrong, right] = examples(page)[..] {
            assert_eq!(Object::from_json(wrong).map_err(|e| e.code()), Err(*code), "{wrong}");
            Object::from_json(right).unwrap_or_else(|e| panic!("{code}: {e}"));
            checked += 1;
        }
    }
    assert_eq!(checked, 5);
}

#[test]
fn codes_rise_and_every_page_is_listed() {
    let listed: Vec<&str> = sluice_object::codes().iter().map(|c| c.0).collect();
    assert!(listed.is_sorted());
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
    let names = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names.filter(|n| n.starts_with("E02")).collect();
    pages.sort();
    assert_eq!(pages, listed.iter().map(|c| format!("{c}.md")).collect::<Vec<_>>());
}

#[test]
fn messages_say_where_what_was_found_and_what_is_allowed() {
    let e = Object::from_json("{\"sluice_object\": 7,\n \"nam\": 3}").unwrap_err();
    let text = "line 2, column 6: unknown field `nam`, expected one of `sluice_object`, `name`, `target`, `key`, \
                `default`, `entries`, `demands`, `symbols`, `survives`, `xdp`, `rmt`";
    // Builds for tests have the probe's part behind these.
    assert!(e.to_string().starts_with(text), "{e}");
    let e = Object::from_binary(b"SLOB\x01\0\0\0").unwrap_err();
    assert_eq!(e.to_string(), "object of format version 1; this build reads version 7");
    assert!(matches!(Object::decode(b"ELF"), Err(ObjectError::Binary { offset: 0, .. })));
    let error = Object::decode(b"{\n \"name\": \"r\xffd\"}").unwrap_err();
    assert_eq!(error.code(), "E0204");
    let said = "found no UTF-8 at byte offset 13, allowed: UTF-8 text";
    assert!(error.to_string().contains(said) && error.to_string().contains("line 2"), "{error}");
}

#[test]
fn an_object_that_contradicts_itself_is_none() {
    let text = |target: &str, action: &str| {
        format!(
            "{{\"sluice_object\": 7, \"name\": \"red\", \"target\": {target}, \"key\": {{\"kind\": \"dmac\", \"fields\": \
             [\"dmac\"]}}, \"default\": {action}, \"entries\": [], \"demands\": {{\"entries\": 1, \"queues\": \
             {{\"port0\": 0, \"host0\": 0}}}}, \"survives\": {{\"table\": false, \"counters\": true}}}}"
        )
    };
    let [default, tiny] = [&DEFAULT, &TINY].map(|t| format!("{:08x}", t.hash()));
    let named = |name: &str, hash: &str| format!("{{\"name\": \"{name}\", \"hash\": \"{hash}\"}}");
    for (target, action, said) in [
        (
            named("tiny", &default),
            "\"drop\"",
            format!("target.hash: found {default} for target tiny, allowed: that for target default"),
        ),
        (named("small", &tiny), "\"drop\"", "that for target tiny only".to_owned()),
        (named("tiny", &tiny), "{\"to\": []}", "`to` without a destination".to_owned()),
    ] {
        let error = Object::from_json(&text(&target, action)).unwrap_err().to_string();
        assert!(error.contains(&said), "{error}");
    }
    for (name, hash) in [("tiny", &*tiny), ("default", &*default), ("huge", "01234567")] {
        let action = "{\"to\": [\"port0\", \"host0\"], \"except_ingress\": true}";
        Object::from_json(&text(&named(name, hash), action)).unwrap_or_else(|e| panic!("{e}"));
    }
}
