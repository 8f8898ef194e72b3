//! Compiles the pages of docs/errors in: `sluice explain` needs no file at run time.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let pages = root.join("../../docs/errors");
    println!("cargo::rerun-if-changed={}", pages.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("pages.rs");
    fs::write(out, table(&pages)).expect("OUT_DIR can be written");
}

/// A slice of (code, page) in the order of the codes.
fn table(pages: &Path) -> String {
    let mut codes: Vec<String> = fs::read_dir(pages)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .filter(|code| code.starts_with('E') && code.len() == 5)
        .collect();
    codes.sort();
    let mut text = String::from("&[\n");
    for code in codes {
        let path = pages.join(format!("{code}.md"));
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(text, "    ({code:?}, include_str!({path:?})),").expect("a String takes everything");
    }
    text.push(']');
    text
}
