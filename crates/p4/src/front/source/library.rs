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

/// Words of a library before a name that it declares.
const DECLARING: &[&str] = &["extern", "struct", "control", "parser", "package", "action", "enum", "match_kind"];

/// The file inside of `sluice` that declares a name for whoever includes it.
pub(crate) fn declares(name: &str) -> Option<&'static str> {
    let found = |text: &str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let mut before = ["", ""];
        let mut in_kinds = false;
        for word in lines.flat_map(|line| line.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))) {
            let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(word.len());
            let (bare, mark) = word.split_at(end);
            if !bare.is_empty() {
                let declared = DECLARING.contains(&before[1]) || before[0] == "extern" || in_kinds;
                if bare == name && declared && !DECLARING.contains(&bare) {
                    return true;
                }
                in_kinds |= bare == "match_kind";
                before = [before[1], bare];
            }
            in_kinds &= mark != "}";
        }
        false
    };
    BUILT_IN.iter().find(|(_, text)| found(text)).map(|(file, _)| *file)
}

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
