//! Object files and the programs in them that a command means.

use crate::failure::Failure;
use crate::files;
use sluice_ebpf::Image;
use sluice_ebpf::image::Initial;
use sluice_ebpf::state::State;
use sluice_ebpf::MapSpace;
use std::path::Path;

/// Reads an object file.
pub fn read(path: &Path) -> Result<Image, Failure> {
    let elf = files::read(path)?;
    sluice_ebpf::load::load(&elf).map_err(|e| Failure::input(e.code(), format!("{}: {e}", path.display())))
}

/// Indices of the programs meant by `section` and `program`; without either, of all that the
/// object does not itself put into a program array.
pub fn choose(
    image: &Image,
    path: &Path,
    section: Option<&str>,
    program: Option<&str>,
) -> Result<Vec<usize>, Failure> {
    let is_tail = |name: &str| {
        let places = |initial: &Initial| matches!(initial, Initial::Program(n) if n == name);
        image.maps.iter().any(|m| m.initial.iter().any(|(_, i)| places(i)))
    };
    let meant = |p: &sluice_ebpf::Program| match (section, program) {
        (None, None) => !is_tail(&p.name),
        _ => section.is_none_or(|s| s == p.section) && program.is_none_or(|n| n == p.name),
    };
    let chosen: Vec<usize> = (0..image.programs.len()).filter(|i| meant(&image.programs[*i])).collect();
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    let found = [section.map(|s| format!("section `{s}`")), program.map(|p| format!("program `{p}`"))];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let there: Vec<String> = image.programs.iter().map(|p| format!("`{}` in section `{}`", p.name, p.section)).collect();
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
