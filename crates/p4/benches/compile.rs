//! Time from a program's text to the bytes of an object, or to the refusal, and with more and more const entries, which a plot shows.
//!
//! `cargo bench -p sluice-p4 --bench compile`

#[expect(dead_code, reason = "this plot has one kind of line and of axis")]
#[path = "../../rtlsim/benches/plot/mod.rs"]
mod plot;

use plot::{Axis, Look, Plot, Scale, Series};
use sluice_object::Demands;
use sluice_p4::{Allowed, Reader, Undefined};
use sluice_rmt::target::DEFAULT;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 11;
/// Const entries of the plot.
const ENTRIES: [u32; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Programs that fit with flags, and what those accept.
fn in_part() -> [(&'static str, Allowed); 5] {
    let nothing = Allowed::default;
    [
        ("firewall", nothing().with_target_hash()),
        ("link_monitor", nothing().with_bound("data", 2).with_bound("way", 2)),
        ("load_balance", nothing().with_target_hash().with_power_of_two()),
        ("mri", nothing().with_bound("traces", 8)),
        ("tunnel", nothing().with_cells("passed", 512)),
    ]
}

/// Bytes of the object, or the code with which the program is refused.
fn compiled(reader: &Reader, path: &Path, allowed: &Allowed) -> Result<usize, &'static str> {
    let mut program = reader.check(path).map_err(|errors| errors.code())?;
    program.allow(allowed.clone());
    let compiled = program.compile(&DEFAULT, 0, 4).map_err(|errors| {
        // What would fit is part of the answer.
        std::hint::black_box(program.with_what_fits(errors, &DEFAULT, (0, 4))).code()
    })?;
    let entries = program.reference(Undefined::Zero, 1).map_err(|errors| errors.code())?;
    let unit = compiled.unit(&entries).map_err(|errors| errors.code())?;
    let part = unit.part(&DEFAULT).expect("the checker of the pipeline took it");
    Ok(sluice_rmt::encode::object::object("program", part, Demands::default(), &DEFAULT).to_binary().len())
}

/// Milliseconds: the median of the rounds, and what came of it.
fn measure(reader: &Reader, path: &Path, allowed: &Allowed) -> (f64, Result<usize, &'static str>) {
    let mut came = Err("");
    let mut all: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            came = std::hint::black_box(compiled(reader, path, allowed));
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    all.sort_by(f64::total_cmp);
    (all[ROUNDS / 2], came)
}

/// A table with so many const entries.
fn entries(count: u32) -> String {
    let all: String = (0..count).map(|at| format!("{at}: set({});\n", at % 251)).collect();
    format!(
        "action set(bit<8> x) {{ hdr.h.b = x; }}
        table t {{ key = {{ hdr.h.a ++ hdr.h.c: exact @name(\"k\"); }} actions = {{ set; NoAction; }} const entries = {{ {all} }} }}"
    )
}

/// The most memory that this process had, in MB, where Linux says it.
fn memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

fn word(came: Result<usize, &'static str>) -> String {
    came.map_or_else(|code| format!("refused, {code}"), |bytes| format!("{bytes} bytes"))
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("../../programs/p4");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).expect("it is there").flatten().map(|e| e.path()).collect();
    paths.retain(|path| path.with_extension("stf").exists() && path.extension().is_some_and(|e| e == "p4"));
    paths.sort();
    println!("| program | ms | object |");
    println!("| --- | --- | --- |");
    let nothing = Allowed::default();
    for path in &paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let (ms, came) = measure(&Reader::new(), path, &nothing);
        println!("| {name} | {ms:.2} | {} |", word(came));
    }
    for (name, allowed) in &in_part() {
        let (ms, came) = measure(&Reader::new(), &folder.join(name).with_extension("p4"), allowed);
        println!("| {name} in part | {ms:.2} | {} |", word(came));
    }
    let frame = root.join("tests/run/bytes.p4");
    let mut points = Vec::new();
    for count in ENTRIES {
        let reader = Reader::new().define("LOCALS", entries(count)).define("APPLY", "t.apply();");
        let (ms, came) = measure(&reader, &frame, &nothing);
        println!("| {count} const entries | {ms:.2} | {} |", word(came));
        points.push((f64::from(count), ms));
    }
    if let Some(memory) = memory() {
        println!("\nMemory of all that, at most: {memory:.0} MB.");
    }
    let ticks = |all: &[u32]| all.iter().map(|at| f64::from(*at)).collect();
    let plot = Plot {
        title: "From P4 to an object, over const entries (above 384: refused)".into(),
        x: Axis { title: "const entries", scale: Scale::Log, ticks: ticks(&ENTRIES) },
        y: Axis { title: "milliseconds", scale: Scale::Log, ticks: ticks(&[1, 10, 100, 1000]) },
        series: vec![Series { name: "target default, stages 0-4".into(), look: Look::Line, points }],
        marks: Vec::new(),
    };
    plot.write("p4_entries");
}
