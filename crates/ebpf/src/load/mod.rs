//! Reads object files as clang writes them for Linux. Codes E0401 to E0429.
//!
//! What breaks only one program or map refuses that one, in [`Image::refused`] and
//! [`Image::refused_maps`]; [`load`] fails when the file is broken or nothing can be run.
//!
//! The way an object takes: [`elf`] reads sections, [`btf`] and [`btf_ext`] types and lines,
//! [`maps`] the declarations ([`btf_maps`], [`legacy_maps`], [`data`]), [`code`] finds functions,
//! [`relocate`] resolves each one's references, [`link`] puts each program together with what
//! it calls, [`btf_fix`] completes the type information for the kernel.

mod btf;
mod btf_ext;
mod btf_fix;
mod btf_maps;
mod code;
mod core;
mod core_fixed;
mod core_kernel;
mod core_patch;
mod core_spec;
mod data;
mod elf;
mod error;
mod hook;
mod legacy_maps;
mod link;
mod maps;
pub mod names;
mod notes;
mod relocate;
pub mod report;
mod variables;

pub use core_kernel::KernelTypes;
pub use error::{LoadError, Place};
pub use report::{Report, report};
pub use variables::Variable;

use crate::image::{Initial, RefusedMap, RefusedProgram};
use crate::{Image, MapType, helper};
use code::{Code, FunctionId, Places};
use std::collections::{HashMap, HashSet};

/// Reads an ELF object; programs that call helpers that there are not are refused.
pub fn load(elf: &[u8]) -> Result<Image, LoadError> {
    load_with(elf, &|id| helper::find(id).is_some())
}

/// The same, with another list of helpers.
pub fn load_with(bytes: &[u8], has_helper: &dyn Fn(i32) -> bool) -> Result<Image, LoadError> {
    runnable(read(bytes, has_helper, None)?)
}

/// Reads an ELF object whose CO-RE relocations are resolved against a kernel's types.
pub fn load_for(elf: &[u8], kernel: Option<&KernelTypes<'_>>) -> Result<Image, LoadError> {
    runnable(inspect_for(elf, kernel)?)
}

/// The same for [`report`], also where each of its programs is refused.
pub fn inspect_for(elf: &[u8], kernel: Option<&KernelTypes<'_>>) -> Result<Image, LoadError> {
    read(elf, &|id| helper::find(id).is_some(), kernel)
}

fn runnable(image: Image) -> Result<Image, LoadError> {
    match image.refused.as_slice() {
        _ if !image.programs.is_empty() => Ok(image),
        [only] => Err(only.error.clone()),
        all => {
            let first = all.first().map_or(String::new(), |first| first.error.to_string());
            Err(LoadError::NoProgram { why: format!("all {} are refused, the first one: {first}", all.len()) })
        }
    }
}

/// Reads an ELF object for [`report`], also where each of its programs is refused.
pub fn inspect(elf: &[u8]) -> Result<Image, LoadError> {
    inspect_for(elf, None)
}

fn read(bytes: &[u8], has_helper: &dyn Fn(i32) -> bool, kernel: Option<&KernelTypes<'_>>) -> Result<Image, LoadError> {
    let elf = elf::Elf::parse(bytes)?;
    let types = elf.section(".BTF").map(|(_, s)| s.data).filter(|d| !d.is_empty());
    let btf = types.map(btf::Btf::parse).transpose()?;
    let ext = match (&btf, elf.section(".BTF.ext").filter(|(_, s)| !s.data.is_empty())) {
        (Some(btf), Some((_, section))) => btf_ext::BtfExt::parse(section.data, btf)?,
        _ => btf_ext::BtfExt::default(),
    };
    let maps = maps::Maps::read(&elf, btf.as_ref())?;
    let code = Code::read(&elf, &ext)?;
    let places = Places { elf: &elf, btf: btf.as_ref(), ext: &ext };
    let core = core::Core::new(&places, kernel);
    let relocator =
        relocate::Relocator { elf: &elf, code: &code, maps: &maps, places: &places, core: &core, has_helper };
    let bodies: Vec<_> = code.functions.iter().map(|f| relocator.body(f)).collect();
    let mut linker = link::Linker {
        code: &code,
        bodies: &bodies,
        places: &places,
        slots_left: link::MAX_ALL_SLOTS,
        text_left: bytes.len().saturating_mul(16).saturating_add(1 << 20),
    };
    let mut image = Image { license: license(&elf), ..Image::default() };
    let mut names = HashSet::new();
    for id in programs(&elf, &code) {
        let function = code.get(id);
        let place = places.of(function, None);
        let linked = match hook::other(&place.section) {
            Some(kind) => Err(LoadError::OtherHook { place: place.clone(), kind }),
            None if !names.insert(function.name) => {
                Err(LoadError::Duplicate { what: "program", name: function.name.to_string() })
            }
            None => linker.link(id),
        };
        match linked {
            Ok(program) => image.programs.push(program),
            Err(error) => {
                image.refused.push(RefusedProgram { name: place.function, section: place.section, error });
            }
        }
    }
    if let Some(btf) = &btf {
        image.btf = Some(btf_fix::fixed(btf, types.unwrap_or_default(), &elf));
    }
    image.notes = notes::local_functions(&elf, &code, &image.programs);
    image.notes.extend(maps.notes());
    image.notes.extend(core.note());
    let ids = maps.iter().filter(|m| m.spec.is_ok()).map(|m| m.id).collect::<Vec<_>>();
    let (maps, refused) = maps.into_parts();
    image.maps = maps;
    image.refused_maps = refused.into_iter().map(|(name, error)| RefusedMap { name, error }).collect();
    tails(&mut image, &ids);
    refuse_entries(&mut image);
    if image.programs.is_empty() && image.refused.is_empty() {
        let mut why = "no executable section holds a global function".to_string();
        if let Some(note) = image.notes.first() {
            why = format!("{why}: {}", note.text);
        }
        return Err(LoadError::NoProgram { why });
    }
    Ok(image)
}

/// The license section's text.
fn license(elf: &elf::Elf<'_>) -> String {
    let bytes = elf.section("license").map_or(&[][..], |(_, s)| s.data);
    let end = bytes.iter().take(128).position(|b| *b == 0).unwrap_or(bytes.len().min(128));
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Functions that are programs: global ones outside of `.text`. In an object that has nothing
/// but `.text` those that no other function calls.
fn programs(elf: &elf::Elf<'_>, code: &Code<'_>) -> Vec<FunctionId> {
    let is_text = |f: &code::Function<'_>| elf.sections[f.section].name == ".text";
    let ids = || (0..code.functions.len()).map(FunctionId);
    let outside: Vec<FunctionId> = ids().filter(|id| !is_text(code.get(*id)) && code.get(*id).is_global).collect();
    if !outside.is_empty() {
        return outside;
    }
    let called = code.called_functions(elf);
    ids().filter(|id| code.get(*id).is_global && !called.contains(id)).collect()
}

/// Puts programs of iproute2's sections, such as `2/0`, into the program array with that id.
fn tails(image: &mut Image, ids: &[u32]) {
    for program in &image.programs {
        let Some((id, index)) = hook::tail(&program.section) else { continue };
        let of_id = |(map, of): &(&mut crate::MapSpec, &u32)| **of == id && map.kind == MapType::ProgArray;
        if let Some((map, _)) = image.maps.iter_mut().zip(ids).find(of_id).filter(|(m, _)| index < m.max_entries) {
            map.initial.push((index, Initial::Program(program.name.clone())));
        }
    }
}

/// Refuses programs whose program array would hold a refused program, until there are none.
/// Arrays that no program uses lose such entries.
fn refuse_entries(image: &mut Image) {
    let programs = std::mem::take(&mut image.programs).into_iter();
    let mut programs: Vec<_> = programs.map(|program| (program.maps(), program)).collect();
    loop {
        let here: HashSet<&str> = programs.iter().map(|(_, p)| p.name.as_str()).collect();
        let mut bad: HashMap<usize, LoadError> = HashMap::new();
        for (at, map) in image.maps.iter_mut().enumerate() {
            let missing = |i: &Initial| matches!(i, Initial::Program(program) if !here.contains(program.as_str()));
            if let Some((index, Initial::Program(program))) = map.initial.iter().find(|(_, i)| missing(i)) {
                let error = LoadError::Entry { map: map.name.clone(), index: *index, program: program.clone() };
                bad.insert(at, error);
                map.initial.retain(|(_, i)| !missing(i));
            }
        }
        if bad.is_empty() {
            image.programs = programs.into_iter().map(|(_, program)| program).collect();
            return;
        }
        let mut kept = Vec::new();
        for (maps, program) in programs {
            match maps.iter().find_map(|m| bad.get(m)) {
                None => kept.push((maps, program)),
                Some(error) => image.refused.push(RefusedProgram {
                    name: program.name,
                    section: program.section,
                    error: error.clone(),
                }),
            }
        }
        programs = kept;
    }
}
