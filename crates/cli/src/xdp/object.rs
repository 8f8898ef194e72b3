//! Object files and the programs in them that a command means.

use crate::failure::Failure;
use crate::files;
use crate::printable;
use sluice_ebpf::Image;
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::map::file;
use sluice_ebpf::state::State;
use sluice_ebpf::vm::Installed;
use sluice_ebpf::{MapSpace, MapType, Runtime};
use std::path::Path;

/// Reads an object file; what the loader took otherwise than it says goes to standard error.
pub fn read(path: &Path) -> Result<Image, Failure> {
    let elf = files::read(path)?;
    let failure = |e: sluice_ebpf::load::LoadError| Failure::input(e.code(), format!("{}: {e}", path.display()));
    let image = sluice_ebpf::load::load(&elf).map_err(failure)?;
    for note in &image.notes {
        let text = format!("{}: {}", path.display(), note.text);
        printable::tell(format_args!("note: {}", printable::message(&text)));
    }
    Ok(image)
}

/// The same, also where each of its programs is refused.
pub fn inspect(path: &Path) -> Result<Image, Failure> {
    let elf = files::read(path)?;
    sluice_ebpf::load::inspect(&elf).map_err(|e| Failure::input(e.code(), format!("{}: {e}", path.display())))
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
