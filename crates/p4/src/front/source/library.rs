//! Where files come from: the system's, or those inside the program.

use super::preprocess::MOST_BYTES;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Files that `#include` finds wherever nothing else of that name is found.
const BUILT_IN: &[(&str, &str)] = &[
    ("core.p4", include_str!("../../../include/core.p4")),
    ("v1model.p4", include_str!("../../../include/v1model.p4")),
    ("sluice.p4", include_str!("../../../include/sluice.p4")),
];

/// Files by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Library {
    /// Folders that are looked in, in their order.
    pub folders: Vec<PathBuf>,
    /// Texts that stand for files.
    pub texts: HashMap<PathBuf, String>,
}

impl Library {
    /// Bytes of a file.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        if let Some(text) = self.texts.get(path) {
            return Ok(text.clone().into_bytes());
        }
        sluice_packet::bounded::read(path, MOST_BYTES as u64).map_err(|e| e.to_string())
    }

    /// The file that an include means, with its name: beside the file `from` unless `angled`, then in the folders, then
    /// inside the program.
    pub fn find(&self, name: &str, angled: bool, from: &str) -> Option<(String, Result<Vec<u8>, String>)> {
        let beside = Path::new(from).parent().filter(|_| !angled);
        let places = beside.into_iter().chain(self.folders.iter().map(PathBuf::as_path));
        for path in places.map(|folder| folder.join(name)) {
            if self.texts.contains_key(&path) || path.is_file() {
                return Some((path.display().to_string(), self.read(&path)));
            }
        }
        let (name, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        Some((format!("<{name}>"), Ok(text.as_bytes().to_vec())))
    }
}
