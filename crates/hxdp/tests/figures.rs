//! The table of docs/hxdp-bundles.md: `UPDATE_DOCS=1 cargo test -p sluice-hxdp --test figures` writes it.

mod support;

use sluice_hxdp::{Cycles, Executed, compile};
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

fn table() -> String {
    let ran = ran();
    let mut out = String::from(
        "\n| object | eBPF insns | rows 1 / 2 / 4 | packets | executed insns | bundles 1 / 2 / 4 | helpers and map accesses \
         | cycles a packet, one core, 2 / 4 |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for path in objects() {
        let image = image(&path);
        let mut rows = [0; 3];
        let mut instructions = 0;
        for (index, lanes) in LANES.into_iter().enumerate() {
            let compiled = image.programs.iter().map(|program| compile(&image, program, &target(lanes)).unwrap());
            let sums = compiled.fold((0, 0), |(r, i), c| (r + c.bundles.rows.len(), i + c.instructions));
            (rows[index], instructions) = sums;
        }
        let Some(ran) = ran.get(&name(&path)).filter(|ran| ran.packets > 0) else { continue };
        let mean = |x: u64| x as f64 / ran.packets as f64;
        let bundles = ran.executed.map(|e| mean(e.bundles));
        let cycles = |e: &Executed| {
            let model = Cycles::default();
            // The mean of packets, whose loading counts once each.
            let alone = mean(model.latency(e) + (ran.packets - 1) * model.packet);
            (alone / model.contexts as f64).max(mean(e.bundles))
        };
        let _ = writeln!(
            out,
            "| {} | {instructions} | {} / {} / {} | {} | {:.1} | {:.1} / {:.1} / {:.1} | {:.1} | {:.1} / {:.1} |",
            name(&path),
            rows[0],
            rows[1],
            rows[2],
            ran.packets,
            mean(ran.instructions),
            bundles[0],
            bundles[1],
            bundles[2],
            mean(ran.executed[1].helpers + ran.executed[1].map_accesses),
            cycles(&ran.executed[1]),
            cycles(&ran.executed[2]),
        );
    }
    out + "\n"
}

#[test]
fn the_table_of_bundles_is_what_the_scripts_execute() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hxdp-bundles.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- bundles -->\n", "<!-- end of bundles -->");
    let begin = page.find(begin).expect("the mark is in the page") + begin.len();
    let end = page.find(end).expect("the mark is in the page");
    let fresh = format!("{}{}{}", &page[..begin], table(), &page[end..]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page == fresh, "stale: UPDATE_DOCS=1 cargo test -p sluice-hxdp --test figures");
}
