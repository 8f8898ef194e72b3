//! Writes the generated files, or with `--check` fails when a committed one is stale.

use sluice_formats::engine::FOLDERS;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let check = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!(
                "usage: sluice-gen [--check]\nwrites rtl/gen/*.sv, tb/*/codes.py, docs/design/formats.md and *-rows.md"
            );
            return ExitCode::from(2);
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, text) in FOLDERS.iter().flat_map(|folder| (folder.generated)()) {
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
