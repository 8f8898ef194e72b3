//! The tables and plots of docs/hxdp-cycles.md: `UPDATE_DOCS=1 cargo test -p sluice-hxdp --test all cycle_figures::` writes them.
//!
//! Without UPDATE_DOCS only the tables of the default engine are made anew and compared, and one field of the sweep.

#[allow(dead_code)] // This one draws lines only.
#[path = "../../../rtlsim/benches/plot/mod.rs"]
mod plot;

mod aims;
mod mixes;
mod paper;
mod paper_paths;
#[allow(dead_code)] // Benches use more of it.
mod path_list;
mod paths;
mod sweeps;
mod variants;
mod warp;

use mixes::Mixes;
use std::path::Path;

/// A core as programs are compiled for it: lanes, and accesses a bundle.
type Shape = (usize, usize);
/// That of the default engine.
const DEFAULT: Shape = (2, 1);

/// The page with a fresh table between its marks.
fn with_table(page: &str, mark: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let begin = page.find(&begin).unwrap_or_else(|| panic!("no mark {mark}")) + begin.len();
    let end = page.find(&end).unwrap_or_else(|| panic!("no end of {mark}"));
    format!("{}\n{table}\n{}", &page[..begin], &page[end..])
}

#[test]
fn the_tables_of_cycles_are_what_the_model_makes_of_the_scripts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hxdp-cycles.md");
    // A mark, or anything else for all.
    let update = std::env::var("UPDATE_DOCS").ok();
    let mut page = std::fs::read_to_string(&path).unwrap();
    let mixes = Mixes::new(if update.is_some() { &mixes::ALL } else { &mixes::DEFAULT_ENGINE });
    let mut put = |mark: &str, make: sweeps::Make| {
        let fresh = with_table(&page, mark, &make(&mixes));
        let stale = "is stale: UPDATE_DOCS=1 cargo test -p sluice-hxdp --test all cycle_figures::";
        assert!(update.is_some() || page == fresh, "{mark} {stale}");
        page = fresh;
        if update.is_some() {
            std::fs::write(&path, &page).unwrap();
        }
    };
    put("objects", sweeps::objects);
    put("flows", sweeps::flows);
    put("paths", |_| paths::table());
    put("warp", |_| warp::table());
    put("aims", aims::table);
    if let Some(wanted) = &update {
        let one = sweeps::TABLES.iter().any(|(mark, _)| mark == wanted);
        sweeps::TABLES.iter().filter(|(mark, _)| !one || mark == wanted).for_each(|(mark, make)| put(mark, *make));
        if !one {
            sweeps::plots(&mixes);
        }
    }
    let (line, field) = sweeps::a_point_of_the_sweep(&mixes);
    let is_there = |found: &str| found.starts_with(&line) && found.contains(&field);
    assert!(page.lines().any(is_there), "the sweep is stale: {line} has no{field}");
}

#[test]
fn every_path_is_within_its_limit_with_a_warp_engine() {
    println!("{}", warp::table());
}

#[test]
fn every_path_executes_as_many_instructions_as_the_published_one() {
    println!("{}", paths::table());
}
