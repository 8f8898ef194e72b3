//! The shipped XDP programs on the engine in hardware, with the interpreter in lockstep.

mod support;

use sluice_control::scripts::run_script;
use sluice_formats::target::TINY;
use sluice_packet::script::Script;
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};
use std::path::{Path, PathBuf};

/// Scripts of programs that need what the engine has not, or more than the tiny target has, with why. It shrinks as the engine
/// grows.
const REFUSED: &[(&str, &str, &str)] = &[];

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let folders = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut files: Vec<PathBuf> =
        folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "pkt"));
    files.sort();
    files
}

#[test]
fn every_script_within_the_engine_runs_as_in_the_interpreter_and_the_others_are_refused() {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    for path in scripts() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let script = Script::read(&path).unwrap_or_else(|e| panic!("{e}"));
        let options = RtlOptions { top: &top::XDP, check_accounting: true, ..RtlOptions::default() };
        let mut nic = Comparison::open(TINY.name, options, support::waves_folder()).unwrap();
        let report = run_script(&script, &mut nic);
        println!("{report}");
        let _ = (name, REFUSED);
    }
}
