//! `sluice explain`: every code in the sources has its page, and every page is printed.

use crate::common::{Folder, root};
use std::collections::BTreeSet;
use std::path::Path;

/// Codes in string literals of a crate's sources.
fn codes_in(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes_in(&path, codes);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let literals = text.split('"').filter(|s| s.len() == 5 && s.starts_with('E'));
            codes.extend(literals.filter(|s| s[1..].bytes().all(|b| b.is_ascii_digit())).map(str::to_owned));
        }
    }
}

#[test]
fn every_code_in_the_sources_has_a_page_and_every_page_a_code() {
    let mut codes = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        codes_in(&entry.unwrap().path().join("src"), &mut codes);
    }
    assert!(codes.len() > 50, "{codes:?}");
    let list = Folder::new().sluice(&["explain", "--list"]).ok();
    let named = || list.lines().filter_map(|line| Some(line.split_once(": ")?.0));
    let is_code = |name: &&str| name.strip_prefix('E').is_some_and(|rest| rest.parse::<u16>().is_ok());
    let pages: BTreeSet<String> = named().filter(is_code).map(str::to_owned).collect();
    let missing: Vec<_> = codes.difference(&pages).collect();
    assert!(missing.is_empty(), "codes without a page in docs/errors: {missing:?}");
    let stale: Vec<_> = pages.difference(&codes).collect();
    assert!(stale.is_empty(), "pages of codes that nothing reports: {stale:?}");
}

#[test]
fn a_page_is_printed_whatever_the_case_of_its_code() {
    let folder = Folder::new();
    let page = folder.sluice(&["explain", "e0222"]).ok();
    assert_eq!(page, std::fs::read_to_string(root().join("docs/errors/E0222.md")).unwrap());
}

#[test]
fn every_reason_of_a_drop_is_listed_and_explained() {
    let folder = Folder::new();
    let list = folder.sluice(&["explain", "--list"]).ok();
    for reason in sluice_formats::Reason::ALL {
        let (name, doc) = (reason.name(), reason.doc());
        assert!(list.lines().any(|line| line == format!("{name}: {doc}")), "{name}");
        let page = folder.sluice(&["explain", name]).ok();
        assert!(page.starts_with(&format!("# {name}: {doc}\n")), "{page}");
        assert!(page.contains(&format!("drop reason={name}")) && page.contains(reason.table().name()), "{page}");
    }
    let queue = folder.sluice(&["explain", "tail_limit"]).ok();
    assert!(queue.contains("a queue of a destination"), "{queue}");
    let port = folder.sluice(&["explain", "over_share"]).ok();
    assert!(port.contains("a port, before"), "{port}");
    let called = folder.sluice(&["explain", "boredom"]);
    assert!(called.code == 2 && called.err.contains("E0507"), "{}", called.err);
}
