//! The table of docs/hxdp-bundles.md: `UPDATE_DOCS=1 cargo test -p sluice-hxdp --test all figures::` writes it.

use crate::support::{LANES, Replay, image, objects, scripts, steps, target};
use sluice_hxdp::{Executed, Pass, Passes, compile, gain};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

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

/// Mean bundles of a packet with some passes, and packets; of the objects of [`ALIKE`], each counting as much as any other.
fn executed(lanes: usize, passes: Passes) -> f64 {
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let wanted = |file: &Path| ALIKE.contains(&name(file).as_str());
    for path in scripts() {
        for steps in steps::steps(&path) {
            if !steps.iter().any(|step| matches!(step, steps::Step::Load(load) if wanted(&load.file))) {
                continue;
            }
            for (file, packets, executed, _) in Replay::count(&steps, &target(lanes), passes).done {
                let sum = sums.entry(name(&file)).or_default();
                *sum = (sum.0 + executed.bundles, sum.1 + packets);
            }
        }
    }
    let means = sums.iter().filter(|(file, _)| ALIKE.contains(&file.as_str())).map(|(_, (b, p))| *b as f64 / *p as f64);
    means.sum::<f64>() / ALIKE.len() as f64
}

/// Figure 4.4 of the dissertation for our passes.
fn gains() -> String {
    let mut out = String::from(
        "\n| pass | rows, 4 lanes | instructions in them | rows without it | executed without it, 2 / 4 lanes |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    let mut sums: BTreeMap<usize, (&str, [usize; 3])> = BTreeMap::new();
    for path in objects().iter().filter(|path| ALIKE.contains(&name(path).as_str())) {
        let image = image(path);
        for program in &image.programs {
            for (index, gain) in gain::gains(&image, program, &target(4)).unwrap().into_iter().enumerate() {
                let sum = &mut sums.entry(index).or_insert((gain.pass, [0; 3])).1;
                let numbers = [gain.rows, gain.instructions, gain.rows_without];
                sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
            }
        }
    }
    for (index, (pass, [rows, instructions, without])) in sums {
        let passes = match index.checked_sub(1) {
            Some(pass) => Passes::ALL.without(Pass::ALL[pass]),
            None => Passes::ALL,
        };
        let [two, four] = [2, 4].map(|lanes| executed(lanes, passes));
        let name = if index == 0 { "(none; all)".to_owned() } else { format!("`{pass}`") };
        let _ = writeln!(out, "| {name} | {rows} | {instructions} | {without} | {two:.1} / {four:.1} |");
    }
    let [two, four] = [2, 4].map(|lanes| executed(lanes, Passes::NONE));
    let _ = writeln!(out, "| without any | | | | {two:.1} / {four:.1} |");
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
    let fresh = with_table(&fresh, "gains", &gains());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page == fresh, "stale: UPDATE_DOCS=1 cargo test -p sluice-hxdp --test all figures::");
}
