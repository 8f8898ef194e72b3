//! Writes the generated files, or with `--check` fails when a committed one is stale.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: sluice-gen [--check]\nwrites rtl/gen/*.sv, docs/design/formats.md and rmt-rows.md");
            return ExitCode::from(2);
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = [
        ("rtl/gen/sluice_pkg.sv", sluice_formats::svgen::package()),
        ("rtl/gen/sluice_rmt_rows_pkg.sv", sluice_formats::rmt::svgen::package()),
        ("docs/design/formats.md", sluice_formats::docgen::document()),
        ("docs/design/rmt-rows.md", sluice_formats::rmt::docgen::document()),
    ];
    for (name, text) in files {
        let path = root.join(name);
        if check {
            if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                eprintln!("{name} is stale: run `make gen` and commit it");
                return ExitCode::FAILURE;
            }
        } else if let Err(error) = std::fs::write(&path, &text) {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        } else {
            println!("wrote {name}");
        }
    }
    ExitCode::SUCCESS
}
