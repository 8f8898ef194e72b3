//! What the loader tells about functions that are neither programs nor refused.

use super::code::Code;
use super::elf::Elf;
use crate::Program;
use crate::image::Note;

/// Functions with local binding (`static`) in sections of programs: libbpf refuses an object that has any.
/// Here they belong to the programs that call them; what nobody calls is left out.
pub(super) fn local_functions(elf: &Elf<'_>, code: &Code<'_>, programs: &[Program]) -> Vec<Note> {
    let sections = |section: usize| elf.sections[section].name;
    // An object of nothing but `.text` has its programs there.
    let local = code.functions.iter().filter(|f| !f.is_global && !f.name.is_empty() && sections(f.section) != ".text");
    let note = |function: &super::code::Function<'_>| {
        let calls = |p: &&Program| p.functions.iter().skip(1).any(|f| f.name == function.name);
        let callers: Vec<String> = programs.iter().filter(calls).map(|p| format!("`{}`", p.name)).collect();
        let done = match callers.as_slice() {
            [] => "no program calls it: it is left out; without `static` it is a program".to_owned(),
            callers => format!("taken as a function of {}", callers.join(", ")),
        };
        let (name, section) = (function.name, sections(function.section));
        let text = format!(
            "function `{name}` of section `{section}` has local binding (`static`): {done} (libbpf refuses the object)"
        );
        Note { name: name.to_owned(), text }
    };
    local.map(note).collect()
}
