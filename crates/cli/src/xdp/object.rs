//! Object files and the programs in them that a command means.

use crate::failure::Failure;
use crate::files;
use crate::printable;
use clap::Args;
use sluice_ebpf::Image;
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::load::{KernelTypes, LoadError, inspect_for, load_for};
use sluice_ebpf::map::file;
use sluice_ebpf::state::State;
use sluice_ebpf::vm::Installed;
use sluice_ebpf::{MapSpace, MapType, Runtime};
use std::path::{Path, PathBuf};

/// Types of the kernel that runs.
const RUNNING: &str = "/sys/kernel/btf/vmlinux";
/// Code of a refusal for want of a kernel's types.
const NO_TYPES: &str = "E0412";

/// The kernel whose types CO-RE relocations are against.
#[derive(Args, Debug, Default)]
pub struct KernelFile {
    /// BTF of the kernel that CO-RE relocations are against, such as /sys/kernel/btf/vmlinux
    #[arg(long, value_name = "FILE")]
    pub(super) btf: Option<PathBuf>,
}

impl KernelFile {
    /// Reads an object file; what the loader took otherwise than it says goes to standard error.
    pub fn read(&self, path: &Path) -> Result<Image, Failure> {
        told(self.load(&files::read(path)?, path, load_for)?, path)
    }

    /// The same; without a file of types the running kernel's are asked where the object needs any.
    pub fn read_here(&self, path: &Path) -> Result<Image, Failure> {
        let elf = files::read(path)?;
        let needs_types = |image: Image| image.refused.iter().any(|refused| refused.error.code() == NO_TYPES);
        let running = Path::new(RUNNING);
        if self.btf.is_none() && running.exists() && inspect_for(&elf, None).is_ok_and(needs_types) {
            return told(Self { btf: Some(running.to_owned()) }.load(&elf, path, load_for)?, path);
        }
        told(self.load(&elf, path, load_for)?, path)
    }

    /// Reads an object file, also where each of its programs is refused.
    pub fn inspect(&self, path: &Path) -> Result<Image, Failure> {
        self.load(&files::read(path)?, path, inspect_for)
    }

    fn load(&self, elf: &[u8], path: &Path, load: Load) -> Result<Image, Failure> {
        let failure = |path: &Path, e: LoadError| Failure::input(e.code(), format!("{}: {e}", path.display()));
        let Some(file) = &self.btf else { return load(elf, None).map_err(|e| failure(path, e)) };
        let types = files::read(file)?;
        let kernel = KernelTypes::parse(&types).map_err(|e| failure(file, e))?;
        load(elf, Some(&kernel)).map_err(|e| failure(path, e))
    }
}

/// One of the loader's ways to read an object.
type Load = fn(&[u8], Option<&KernelTypes<'_>>) -> Result<Image, LoadError>;

/// Reads an object file without types of a kernel.
#[cfg(test)]
pub fn read(path: &Path) -> Result<Image, Failure> {
    KernelFile::default().read(path)
}

/// Tells notes, and programs that are refused for want of a kernel's types.
fn told(image: Image, path: &Path) -> Result<Image, Failure> {
    let refused = image.refused.iter().filter(|refused| refused.error.code() == NO_TYPES);
    let refused = refused.map(|refused| format!("program `{}` is refused: {}", refused.name, refused.error));
    for text in image.notes.iter().map(|note| note.text.clone()).chain(refused) {
        let text = format!("{}: {text}", path.display());
        printable::tell(format_args!("note: {}", printable::message(&text)));
    }
    Ok(image)
}

/// Indices of the programs meant by `section` and `program`; without either, of all that the
/// object does not itself put into a program array.
pub fn choose(image: &Image, path: &Path, section: Option<&str>, program: Option<&str>) -> Result<Vec<usize>, Failure> {
    let chosen = image.chosen(section, program);
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let found = [section.map(|s| format!("section `{s}`")), program.map(|p| format!("program `{p}`"))];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let there: Vec<String> =
        image.programs.iter().map(|p| format!("`{}` in section `{}`", p.name, p.section)).collect();
    let what = format!("{}: there is no {}, there are {}", path.display(), found.join(" with "), there.join(", "));
    Err(Failure::input("E0490", what))
}

/// The size of a map that the object leaves to user space.
pub fn set_max_entries(image: &mut Image, path: &Path, map: &str, entries: u32) -> Result<(), Failure> {
    image.set_max_entries(map, entries).map_err(|e| Failure::input(e.code(), format!("{}: {e}", path.display())))
}

/// Keeps maps for `sluice map`.
pub fn save_state(maps: &MapSpace, path: &Path) -> Result<(), Failure> {
    files::write(path, State::of(maps).to_json().as_bytes())
}

/// Sets a map's entries from a file.
pub fn fill_map(
    runtime: &mut Runtime,
    installed: Installed,
    image: &Image,
    name: &str,
    path: &Path,
) -> Result<(), Failure> {
    let of = |name: &str| runtime.map(installed, image.maps.iter().position(|m| m.name == name)?);
    let Some(map) = of(name) else {
        let there: Vec<String> = image.maps.iter().map(|m| format!("`{}`", m.name)).collect();
        let what = format!("--map {name}={}: there is no such map, there are {}", path.display(), there.join(", "));
        return Err(Failure::input("E0490", what));
    };
    if runtime.maps.spec(map).is_some_and(|spec| spec.kind == MapType::ProgArray) {
        let what = format!("--map {name}={}: `{name}` holds programs, which the object puts there", path.display());
        return Err(Failure::input("E0490", what).help("a map that holds data"));
    }
    let all: Vec<(String, Option<sluice_ebpf::MapId>)> =
        image.maps.iter().map(|m| (m.name.clone(), of(&m.name))).collect();
    let named = |name: &str| all.iter().find(|(n, _)| n == name).and_then(|(_, id)| *id);
    let text = text(path, file::MOST_FILE_BYTES)?;
    let failure = |e: file::MapFileError| Failure::input(e.code(), format!("{}: {e}", path.display()));
    file::read(&mut runtime.maps, map, &text, &named).map_err(failure).map(drop)
}

/// A text file of at most so many bytes.
fn text(path: &Path, most: u64) -> Result<String, Failure> {
    String::from_utf8(files::read_at_most(path, most)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Failure::input("E0501", format!("{}: cannot be read: byte {at} is no UTF-8 text", path.display()))
    })
}

/// The text of a file of a map's entries.
pub fn map_text(path: &Path) -> Result<String, Failure> {
    text(path, file::MOST_FILE_BYTES)
}

/// Longest routes file that is read.
const MOST_ROUTES_BYTES: u64 = 64 << 20;

/// Routes, neighbours and interfaces from a file, and its text.
pub fn routes(path: &Path) -> Result<(String, Routes), Failure> {
    let failure =
        |e: sluice_ebpf::helper::routes::RoutesError| Failure::input(e.code(), format!("{}: {e}", path.display()));
    let text = text(path, MOST_ROUTES_BYTES)?;
    let routes = Routes::parse(&text).map_err(failure)?;
    Ok((text, routes))
}
