//! The guides and the pages of errors say what the code does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sluice_packet::capture::{CaptureReader, ReadOptions};
use sluice_packet::notation::reference;
use sluice_packet::script::{STATEMENTS, Script};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Language and text of each fenced block.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // Every other piece between fences is within them.
    for piece in page.split("\n```").skip(1).step_by(2) {
        if let Some((language, text)) = piece.split_once('\n') {
            found.push((language.to_string(), text.to_string()));
        }
    }
    found
}

#[test]
fn the_table_of_layers_is_made_from_the_headers() {
    let path = project().join("docs/guide/scripts.md");
    let page = read(&path);
    let begin = page.find("<!-- layers").expect("the mark is in the guide");
    let begin = begin + page[begin..].find('\n').expect("the mark is a line") + 1;
    let end = page.find("<!-- end of layers -->").expect("the mark is in the guide");
    let fresh = format!("{}{}\n{}", &page[..begin], reference(), &page[end..]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &fresh).expect("the guide can be written");
    }
    assert!(read(&path) == fresh, "stale: UPDATE_DOCS=1 cargo test -p sluice-packet --test all docs::");
}

#[test]
fn the_scripts_of_the_guide_parse_and_it_names_every_statement() {
    let page = read(&project().join("docs/guide/scripts.md"));
    let scripts: Vec<String> =
        blocks(&page).into_iter().filter(|(language, _)| language == "pkt").map(|(_, text)| text).collect();
    assert!(scripts.len() >= 4, "{}", scripts.len());
    for script in scripts {
        Script::parse("scripts.md", &script).unwrap_or_else(|e| panic!("{e}"));
    }
    for statement in STATEMENTS {
        assert!(page.contains(&format!("| `{statement}")) || page.contains(&format!(", `{statement} ")), "{statement}");
    }
}

/// Codes that stand in the sources of this crate.
fn codes() -> BTreeSet<String> {
    fn visit(folder: &Path, codes: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("the sources are here") {
            let path = entry.expect("the sources can be listed").path();
            if path.is_dir() {
                visit(&path, codes);
                continue;
            }
            let text = read(&path);
            codes.extend(text.match_indices("\"E01").map(|(at, _)| text[at + 1..at + 6].to_string()));
        }
    }
    let mut codes = BTreeSet::new();
    visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut codes);
    codes
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<&str> = hex.split_whitespace().collect();
    digits.iter().map(|byte| u8::from_str_radix(byte, 16).expect("pairs of digits")).collect()
}

/// The code that an example is answered with; `None` if it is right.
fn answer(code: &str, language: &str, text: &str) -> Option<String> {
    match language {
        "pkt" => Script::parse("example.pkt", text).err().map(|e| e.code().to_string()),
        "hex" if code < "E0150" => {
            let folder = tempfile::tempdir().expect("a folder can be made");
            let path = folder.path().join("example.pkt");
            std::fs::write(&path, bytes_of(text)).expect("it can be written to");
            Script::read(&path).err().map(|e| e.code().to_string())
        }
        "hex" => {
            let bytes = bytes_of(text);
            let packets = CaptureReader::new("example", &bytes[..], ReadOptions::default())
                .and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
            packets.err().map(|e| e.code().to_string())
        }
        other => panic!("{code}: examples in {other} are not checked"),
    }
}

#[test]
fn every_code_has_a_page_whose_wrong_example_gives_it_and_whose_right_one_does_not() {
    // Of these a file or a program decides, not a text: the tests of captures, scripts and
    // generators give them.
    let elsewhere = ["E0110", "E0150", "E0160", "E0161", "E0170"];
    let codes = codes();
    assert!(codes.len() >= 32, "{codes:?}");
    for code in &codes {
        let page = read(&project().join(format!("docs/errors/{code}.md")));
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        assert!(page.contains("\nWrong:\n") && page.contains("\nRight:\n"), "{code}");
        let blocks = blocks(&page);
        assert_eq!(blocks.len(), 2, "{code}");
        if elsewhere.contains(&code.as_str()) {
            continue;
        }
        let [(language, wrong), (_, right)] = &blocks[..] else { unreachable!() };
        assert_eq!(answer(code, language, wrong).as_deref(), Some(&code[..]), "{code}, wrong example");
        assert_eq!(answer(code, language, right), None, "{code}, right example");
    }
}

#[test]
fn no_page_is_left_of_a_code_that_is_gone() {
    let codes = codes();
    for entry in std::fs::read_dir(project().join("docs/errors")).expect("the pages are here") {
        let name = entry.expect("the pages can be listed").file_name().to_string_lossy().to_string();
        if let Some(code) = name.strip_suffix(".md").filter(|code| code.starts_with("E01")) {
            assert!(codes.contains(code), "{code} is no longer in the sources");
        }
    }
}
