//! The programs that are shipped, in `programs/xdp`, each in a folder of its own name.

use sluice_ebpf::{Image, MapType, load};
use std::path::{Path, PathBuf};

/// Entries that an LRU map gets at least: so many that it never has to choose a victim, which the
/// kernel and Sluice choose differently.
const LRU_ENTRIES: u32 = 1 << 16;

/// One shipped program.
pub struct Shipped {
    /// Name of the folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// Object files: `NAME.o`, and `NAME.fed.o` where time, random numbers or the processor count.
    pub objects: Vec<PathBuf>,
    /// Packet scripts.
    pub scripts: Vec<PathBuf>,
}

impl Shipped {
    /// The object to compare: the one whose time is given, if there is one.
    pub fn compared(&self) -> &Path {
        let fed = |p: &&PathBuf| p.to_string_lossy().ends_with(".fed.o");
        self.objects.iter().find(fed).unwrap_or(&self.objects[0])
    }

    /// A text file beside the program; empty when it is not there.
    pub fn text(&self, extension: &str) -> String {
        let path = self.folder.join(format!("{}.{extension}", self.name));
        std::fs::read_to_string(path).unwrap_or_default()
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut all: Vec<PathBuf> = entries.map(|e| e.expect("a folder's entry").path()).collect();
    all.sort();
    all
}

/// Every folder that has an object, by name.
pub fn all() -> Vec<Shipped> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let mut out = Vec::new();
    for folder in files(&root).into_iter().filter(|p| p.is_dir()) {
        let with = |extension: &str| -> Vec<PathBuf> {
            files(&folder).into_iter().filter(|p| p.extension().is_some_and(|e| e == extension)).collect()
        };
        let (objects, scripts) = (with("o"), with("pkt"));
        if !objects.is_empty() {
            let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
            out.push(Shipped { name, folder, objects, scripts });
        }
    }
    assert!(!out.is_empty(), "no object in {}", root.display());
    out
}

/// An object file as it is.
pub fn image(path: &Path) -> Image {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let image = load::load(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(image.refused.is_empty() && image.refused_maps.is_empty(), "{}: {:?}", path.display(), image.refused);
    image
}

/// An object file with LRU maps that never need a victim.
pub fn roomy_image(path: &Path) -> Image {
    let mut image = image(path);
    for map in image.maps.iter_mut().filter(|m| matches!(m.kind, MapType::LruHash | MapType::LruPercpuHash)) {
        map.max_entries = map.max_entries.max(LRU_ENTRIES);
    }
    image
}
