//! What is made from the probe's folder of `sluice-formats` is current. `SLUICE_WRITE_GOLDEN=1` writes it.

use sluice_formats::EngineId;
use sluice_formats::engine::FOLDERS;

#[test]
fn the_package_of_its_rows_is_current() {
    let folder = FOLDERS.iter().find(|f| f.engine == Some(EngineId::PROBE)).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for (name, text) in (folder.generated)() {
        let path = format!("{root}/{name}");
        if std::env::var_os("SLUICE_WRITE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert!(std::fs::read_to_string(&path).unwrap_or_default() == text, "{name} is stale: SLUICE_WRITE_GOLDEN=1");
    }
}
