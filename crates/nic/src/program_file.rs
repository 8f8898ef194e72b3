//! Files that tenants' programs come in: objects in both forms, and the text of rmt modules.

use sluice_formats::Target;
use sluice_object::Object;
use sluice_packet::bounded;
use sluice_rmt::encode::object::object;
use sluice_rmt::text;
use std::path::Path;

/// Ending of files with the text of an rmt module.
const MODULE_ENDING: &str = "rmt";

/// Why a file holds no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ProgramFileError {
    /// Code for `sluice explain`.
    pub code: &'static str,
    /// The file and what is wrong with it, with places where there are some.
    pub what: String,
}

/// Whether the file's ending says that it is the text of an rmt module.
pub fn is_module(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == MODULE_ENDING)
}

/// Reads a file. A module becomes an object for `target`.
pub fn read(path: &Path, target: &Target) -> Result<Object, ProgramFileError> {
    let bytes = bounded::read(path, bounded::MOST_OBJECT)
        .map_err(|e| ProgramFileError { code: "E0305", what: format!("{}: {e}", path.display()) })?;
    decode(path, &bytes, target)
}

/// The same from the file's bytes.
pub fn decode(path: &Path, bytes: &[u8], target: &Target) -> Result<Object, ProgramFileError> {
    let file = path.display().to_string();
    if !is_module(path) {
        return Object::decode(bytes).map_err(|e| ProgramFileError { code: e.code(), what: format!("{file}: {e}") });
    }
    let unit = text::read_bytes(&file, bytes, &target.rmt)
        .map_err(|e| ProgramFileError { code: e.code(), what: e.to_string() })?;
    let wrong = |code, what: String| ProgramFileError { code, what: format!("{file}: {what}") };
    let part = unit.part(&target.rmt).map_err(|e| wrong("E0650", e.to_string()))?;
    let object = object(&unit.names.module, part, unit.demands, &target.rmt);
    object.check().map_err(|e| wrong(e.code(), e.to_string()))?;
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::{DEFAULT, TINY};
    use std::path::PathBuf;

    fn calc() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt/calc.rmt")
    }

    #[test]
    fn a_module_becomes_an_object_for_the_target_and_an_object_stays_one() {
        for target in [DEFAULT, TINY] {
            let object = read(&calc(), &target).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((object.name.as_str(), object.parts.rmt.is_some()), ("calc", true));
            let again = decode(Path::new("calc.slob"), &object.to_binary(), &target);
            assert_eq!(again, Ok(object.clone()));
            assert_eq!(decode(Path::new("calc.json"), object.to_json().as_bytes(), &target), Ok(object));
        }
    }

    #[test]
    fn mistakes_have_file_and_code() {
        let error = read(Path::new("/nowhere/x.rmt"), &TINY).unwrap_err();
        assert_eq!(error.code, "E0305");
        assert!(error.what.starts_with("/nowhere/x.rmt: "), "{error}");
        let error = decode(Path::new("x.rmt"), b"module x\nfoo\n", &TINY).unwrap_err();
        assert!(error.code.starts_with("E06") && error.what.contains("x.rmt:"), "{error}");
        let error = decode(Path::new("x.json"), b"{}", &TINY).unwrap_err();
        assert!(error.code.starts_with("E02") && error.what.starts_with("x.json: "), "{error}");
    }
}
