//! The shipped programs.

use std::path::{Path, PathBuf};

/// Files under `programs/xdp` that end so, in the order of their names.
pub fn shipped(extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let folders = list(&root).into_iter().filter(|path| path.is_dir());
    let mut all: Vec<PathBuf> = folders.flat_map(|folder| list(&folder)).collect();
    all.retain(|path| path.extension().is_some_and(|e| e == extension));
    all.sort();
    assert!(!all.is_empty(), "nothing ends with .{extension} under {}", root.display());
    all
}
