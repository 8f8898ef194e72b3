//! The table of docs/hxdp-bundles.md: `UPDATE_DOCS=1 cargo test -p sluice-hxdp --test figures` writes it.

mod support;

use sluice_hxdp::{Executed, compile};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use support::{LANES, Replay, image, objects, scripts, steps, target};

/// What the scripts' packets executed.
#[derive(Clone, Copy, Debug, Default)]
struct Ran {
    packets: u64,
    instructions: u64,
    executed: [Executed; 3],
}

/// By the name of the object file.
fn ran() -> BTreeMap<String, Ran> {
    let mut all: BTreeMap<String, Ran> = BTreeMap::new();
    for path in scripts() {
        for steps in steps::steps(&path) {
            for (index, lanes) in LANES.into_iter().enumerate() {
                for (file, packets, executed, instructions) in Replay::play(&steps, &target(lanes)).done {
                    let ran = all.entry(name(&file)).or_default();
                    if index == 0 {
                        ran.packets += packets;
                        ran.instructions += instructions;
                    }
                    ran.executed[index] += executed;
                }
            }
        }
    }
    all
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Static rows with each number of lanes, and eBPF instructions, of all programs of an object.
fn compiled(path: &Path) -> ([usize; 3], usize) {
    let image = image(path);
    let mut rows = [0; 3];
    let mut instructions = 0;
    for (rows, lanes) in rows.iter_mut().zip(LANES) {
        let all = image.programs.iter().map(|program| compile(&image, program, &target(lanes)).unwrap());
        (*rows, instructions) = all.fold((0, 0), |(r, i), c| (r + c.bundles.rows.len(), i + c.instructions));
    }
    (rows, instructions)
}

fn table(ran: &BTreeMap<String, Ran>) -> String {
    let mut out = String::from(
        "\n| object | eBPF insns | rows 1 / 2 / 4 | packets | executed insns | bundles 1 / 2 / 4 | helpers and map accesses |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for path in objects() {
        let Some(ran) = ran.get(&name(&path)).filter(|ran| ran.packets > 0) else { continue };
        let (rows, instructions) = compiled(&path);
        let mean = |x: u64| x as f64 / ran.packets as f64;
        let bundles = ran.executed.map(|e| mean(e.bundles));
        let shared = mean(ran.executed[1].helpers + ran.executed[1].map_accesses);
        let _ = writeln!(
            out,
            "| {} | {instructions} | {} / {} / {} | {} | {:.1} | {:.1} / {:.1} / {:.1} | {shared:.1} |",
            name(&path),
            rows[0],
            rows[1],
            rows[2],
            ran.packets,
            mean(ran.instructions),
            bundles[0],
            bundles[1],
            bundles[2],
        );
    }
    out + "\n"
}

/// Objects whose purpose a published program has.
const ALIKE: [&str; 7] =
    ["router", "iptunnel", "rxq_info.fed", "redirect_map", "l2_acl", "nat.fed", "load_balancer.fed"];

fn ratios(ran: &BTreeMap<String, Ran>) -> String {
    let mut out = String::from(
        "\n| object | insns | rows | insns a row | executed insns a bundle |\n| --- | --- | --- | --- | --- |\n",
    );
    for path in ALIKE.iter().filter_map(|alike| objects().into_iter().find(|path| name(path) == *alike)) {
        let ([.., rows], instructions) = compiled(&path);
        let ran = &ran[&name(&path)];
        let static_ratio = instructions as f64 / rows as f64;
        let executed = ran.instructions as f64 / ran.executed[2].bundles as f64;
        let _ = writeln!(out, "| {} | {instructions} | {rows} | {static_ratio:.2} | {executed:.2} |", name(&path));
    }
    out + "\n"
}

/// The page with a fresh table between its marks.
fn with_table(page: &str, mark: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- end of {mark} -->"));
    let begin = page.find(&begin).expect("the mark is in the page") + begin.len();
    let end = page.find(&end).expect("the mark is in the page");
    format!("{}{table}{}", &page[..begin], &page[end..])
}

#[test]
fn the_tables_of_bundles_are_what_the_scripts_execute() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hxdp-bundles.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let ran = ran();
    let fresh = with_table(&with_table(&page, "bundles", &table(&ran)), "ratios", &ratios(&ran));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page == fresh, "stale: UPDATE_DOCS=1 cargo test -p sluice-hxdp --test figures");
}
