//! The tables and plots of docs/hxdp-cycles.md: `UPDATE_DOCS=1 cargo test -p sluice-hxdp --test cycle_figures` writes them.
//!
//! Without UPDATE_DOCS only the tables of the default engine are made anew and compared, and one point of each sweep.

#[allow(dead_code)] // This one draws lines only.
#[path = "../../../rtlsim/benches/plot/mod.rs"]
mod plot;
#[path = "../support/mod.rs"]
mod support;

mod aims;
mod mixes;
mod sweeps;

use mixes::Mixes;
use std::path::Path;
use std::time::Instant;

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
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut page = std::fs::read_to_string(&path).unwrap();
    let mixes = Mixes::new(if update { &mixes::ALL } else { &mixes::DEFAULT_ENGINE });
    let mut tables = vec![("objects", sweeps::objects(&mixes)), ("aims", aims::table(&mixes))];
    if update {
        let began = Instant::now();
        tables.push(("reach", aims::reach(&mixes)));
        tables.extend(sweeps::tables(&mixes));
        sweeps::plots(&mixes);
        println!("sweeps took {:?}", began.elapsed());
    }
    for (mark, table) in tables {
        let fresh = with_table(&page, mark, &table);
        assert!(
            update || page == fresh,
            "{mark} is stale: UPDATE_DOCS=1 cargo test -p sluice-hxdp --test cycle_figures"
        );
        page = fresh;
    }
    if update {
        std::fs::write(&path, &page).unwrap();
    }
    let point = sweeps::a_row_of_the_sweep(&mixes);
    assert!(page.contains(&point), "the sweep is stale, it has no line\n{point}");
}
