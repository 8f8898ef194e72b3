//! The ELF file: sections, symbols and relocations, checked and borrowed.

use super::error::{LoadError, malformed};
use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::read::{SectionIndex, SymbolIndex};

/// Longest name of a section or symbol: names are copied.
const MAX_NAME: usize = 1024;

/// A relocatable BPF object.
pub(super) struct Elf<'a> {
    /// By section index; 0 is the empty one.
    pub sections: Vec<Section<'a>>,
    /// By symbol index; 0 is the empty one.
    pub symbols: Vec<Symbol<'a>>,
}

/// One section.
pub(super) struct Section<'a> {
    /// Its name.
    pub name: &'a str,
    /// Bytes in the file; none for `.bss` and the like.
    pub data: &'a [u8],
    /// Bytes in memory. Not checked for `.bss`: no memory may be taken for it.
    pub size: u64,
    /// Holds instructions.
    pub is_code: bool,
    /// Without bytes in the file.
    pub is_bss: bool,
    /// Relocations of it, by rising offset.
    pub relocations: Vec<Relocation>,
}

/// One relocation.
#[derive(Clone, Copy)]
pub(super) struct Relocation {
    /// Byte in the section.
    pub offset: u64,
    /// Index of the symbol; it exists.
    pub symbol: usize,
    /// `R_BPF_*`.
    pub kind: u32,
}

/// One symbol.
#[derive(Clone, Copy)]
pub(super) struct Symbol<'a> {
    /// Its name; a section symbol has none.
    pub name: &'a str,
    /// Where it is.
    pub home: Home,
    /// Byte in its section.
    pub value: u64,
    /// Bytes; 0 when unknown.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// Visible only in this file.
    pub is_local: bool,
    /// An extern that may be missing.
    pub is_weak: bool,
}

/// Where a symbol is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// In the section with this index, which exists.
    Section(usize),
    /// Nowhere: an extern.
    Undefined,
    /// A common symbol, or a plain number.
    None,
}

/// What a symbol names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolKind {
    /// `STT_NOTYPE`: anything; old compilers give functions no type.
    NoType,
    /// `STT_FUNC`.
    Function,
    /// `STT_OBJECT`.
    Object,
    /// `STT_SECTION`.
    Section,
    /// Another.
    Other,
}

impl<'a> Elf<'a> {
    /// Reads all that the loader needs; every index and range in it is good.
    pub fn parse(data: &'a [u8]) -> Result<Self, LoadError> {
        check_ident(data)?;
        let bad = |what: &'static str| move |e: object::read::Error| malformed(what, e.to_string(), "a whole ELF file");
        let header = elf::FileHeader64::<LE>::parse(data).map_err(bad("ELF header"))?;
        let (kind, machine) = (header.e_type(LE).0, header.e_machine(LE).0);
        if kind != elf::ET_REL.0 {
            return Err(other("file type", kind, "1 (relocatable, as `clang -c` writes it)"));
        }
        // libbpf takes machine 0 too: compilers before the number was given wrote it.
        if machine != elf::EM_BPF.0 && machine != 0 {
            return Err(other("machine", machine, "247 (eBPF, `clang -target bpf`)"));
        }
        let table = header.sections(LE, data).map_err(bad("section headers"))?;
        let symbols = table.symbols(LE, data, elf::SHT_SYMTAB).map_err(bad("symbol table"))?;
        let mut sections = Vec::new();
        for (index, header) in table.enumerate() {
            let name = table.section_name(LE, header).map_err(bad("section names"))?;
            let name = text(name, || format!("name of section {}", index.0))?;
            let is_bss = header.sh_type(LE).0 == elf::SHT_NOBITS.0;
            let bytes = header.data(LE, data).map_err(|e| {
                let (from, size) = (header.sh_offset.get(LE), header.sh_size.get(LE));
                malformed(
                    format!("section `{name}`"),
                    format!("offset {from}, {size} bytes ({e})"),
                    format!("a range of the file's {} bytes", data.len()),
                )
            })?;
            let code = header.sh_type(LE).0 == elf::SHT_PROGBITS.0
                && header.sh_flags(LE).0 & elf::SHF_EXECINSTR.0 != 0
                && !bytes.is_empty();
            let size = header.sh_size(LE);
            sections.push(Section { name, data: bytes, size, is_code: code, is_bss, relocations: Vec::new() });
        }
        let mut elf = Elf { sections, symbols: Vec::new() };
        for (index, symbol) in symbols.enumerate() {
            elf.symbols.push(elf.symbol(&symbols, index, symbol)?);
        }
        for (index, header) in table.enumerate() {
            elf.relocations(header, index, data, symbols.section())?;
        }
        Ok(elf)
    }

    /// The section with this name.
    pub fn section(&self, name: &str) -> Option<(usize, &Section<'a>)> {
        self.sections.iter().enumerate().find(|(_, s)| s.name == name)
    }

    fn symbol(
        &self,
        table: &object::read::elf::SymbolTable<'a, elf::FileHeader64<LE>>,
        index: SymbolIndex,
        symbol: &'a elf::Sym64<LE>,
    ) -> Result<Symbol<'a>, LoadError> {
        let place = || format!("symbol {}", index.0);
        let name = table.symbol_name(LE, symbol).map_err(|e| malformed(place(), e.to_string(), "a name"))?;
        let name = text(name, place)?;
        let section = table.symbol_section(LE, symbol, index);
        let section = section.map_err(|e| malformed(place(), e.to_string(), "a section"))?;
        let home = match section {
            Some(section) if section.0 < self.sections.len() => Home::Section(section.0),
            Some(section) => {
                let last = self.sections.len().saturating_sub(1);
                let found = format!("section {}", section.0);
                return Err(malformed(format!("symbol `{name}`"), found, format!("a section up to {last}")));
            }
            None if symbol.is_undefined(LE) => Home::Undefined,
            None => Home::None,
        };
        let kind = match symbol.st_type() {
            elf::STT_NOTYPE => SymbolKind::NoType,
            elf::STT_FUNC => SymbolKind::Function,
            elf::STT_OBJECT => SymbolKind::Object,
            elf::STT_SECTION => SymbolKind::Section,
            _ => SymbolKind::Other,
        };
        let (value, size) = (symbol.st_value(LE), symbol.st_size(LE));
        Ok(Symbol { name, home, value, size, kind, is_local: symbol.is_local(), is_weak: symbol.is_weak() })
    }

    /// Adds the relocations of one section of them to the section they are for.
    fn relocations(
        &mut self,
        header: &elf::SectionHeader64<LE>,
        index: SectionIndex,
        data: &'a [u8],
        symbols: SectionIndex,
    ) -> Result<(), LoadError> {
        let place = format!("section `{}`", self.sections[index.0].name);
        let wanted = |s: &Section<'_>| s.is_code || s.name == ".maps";
        let target = header.info_link(LE).0;
        let kind = header.sh_type(LE).0;
        if kind == elf::SHT_RELA.0 && self.sections.get(target).is_some_and(wanted) {
            return Err(malformed(place, "relocations with addends (SHT_RELA)", "SHT_REL"));
        }
        let Some((relocations, link)) =
            header.rel(LE, data).map_err(|e| malformed(&place, e.to_string(), "relocations"))?
        else {
            return Ok(());
        };
        let Some(section) = self.sections.get_mut(target) else {
            return Err(malformed(place, format!("relocates section {target}"), "a section that exists"));
        };
        if !wanted(section) {
            return Ok(());
        }
        if link != symbols {
            return Err(malformed(place, format!("uses symbol table {}", link.0), format!("{}", symbols.0)));
        }
        section.relocations.reserve(relocations.len());
        for relocation in relocations {
            let (offset, symbol) = (relocation.r_offset.get(LE), relocation.r_sym(LE) as usize);
            if symbol >= self.symbols.len() || offset >= section.data.len() as u64 {
                let found = format!("a relocation of byte {offset} by symbol {symbol}");
                let expected = format!("bytes below {} and symbols below {}", section.data.len(), self.symbols.len());
                return Err(malformed(place, found, expected));
            }
            section.relocations.push(Relocation { offset, symbol, kind: relocation.r_type(LE).0 });
        }
        section.relocations.sort_by_key(|r| r.offset);
        Ok(())
    }
}

fn other(what: &'static str, found: impl ToString, allowed: &'static str) -> LoadError {
    LoadError::Machine { what, found: found.to_string(), allowed }
}

/// The 16 bytes that say what kind of ELF file it is.
fn check_ident(data: &[u8]) -> Result<(), LoadError> {
    if !data.starts_with(b"\x7fELF") {
        let shown: Vec<String> = data.iter().take(4).map(|b| format!("{b:02x}")).collect();
        let found = if shown.is_empty() { "nothing".to_string() } else { shown.join(" ") };
        return Err(LoadError::NotElf { found });
    }
    let byte = |at: usize| data.get(at).copied().unwrap_or(0);
    match (byte(4), byte(5)) {
        (2, 1) => Ok(()),
        (2, 2) => Err(other("byte order", "big-endian", "little-endian (`-target bpfel`)")),
        (2, order) => Err(other("byte order", order, "1 (little-endian)")),
        (1, _) => Err(other("ELF class", "32-bit", "64-bit")),
        (class, _) => Err(other("ELF class", class, "2 (64-bit)")),
    }
}

fn text(bytes: &[u8], place: impl Fn() -> String) -> Result<&str, LoadError> {
    if bytes.len() > MAX_NAME {
        return Err(malformed(place(), format!("{} bytes", bytes.len()), format!("at most {MAX_NAME}")));
    }
    std::str::from_utf8(bytes).map_err(|e| malformed(place(), e.to_string(), "UTF-8"))
}
