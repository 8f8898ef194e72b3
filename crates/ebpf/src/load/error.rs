//! Why objects, maps and programs are refused. Pages: docs/errors/E0401.md to E0428.md.

use crate::map::MapError;
use std::fmt;

/// Where in a program something was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Function; for the program's own code the program itself.
    pub function: String,
    /// Section of the function.
    pub section: String,
    /// Slot in the function, from 0.
    pub instruction: Option<u32>,
    /// File and line, where BTF has them.
    pub source: Option<(String, u32)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (section `{}`)", self.function, self.section)?;
        if let Some(instruction) = self.instruction {
            write!(f, ", instruction {instruction}")?;
        }
        if let Some((file, line)) = &self.source {
            write!(f, " at {file}:{line}")?;
        }
        Ok(())
    }
}

/// Why an object, map or program was refused; each with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The bytes are no ELF file.
    #[error("offset 0: found {found}, expected an ELF file (7f 45 4c 46)")]
    NotElf {
        /// First bytes.
        found: String,
    },
    /// An ELF file of another kind.
    #[error("{what} is {found}, an XDP object has {allowed}")]
    Machine {
        /// Which field of the header.
        what: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        allowed: &'static str,
    },
    /// Cut off, or parts contradict each other.
    #[error("{place}: {found}, expected {expected}")]
    Malformed {
        /// Section, symbol or header.
        place: String,
        /// Found.
        found: String,
        /// Allowed.
        expected: String,
    },
    /// Code that is not whole instructions, or a function that is not inside of it.
    #[error("{place}: {found}, expected {expected}")]
    Code {
        /// Section or function.
        place: String,
        /// Found.
        found: String,
        /// Allowed.
        expected: &'static str,
    },
    /// Nothing to run.
    #[error("the object has no program that could run: {why}")]
    NoProgram {
        /// Why not.
        why: String,
    },
    /// A relocation that does not exist, or whose instruction cannot take it.
    #[error("{place}: relocation {found}, expected {expected}")]
    Relocation {
        /// Where.
        place: Box<Place>,
        /// Found.
        found: String,
        /// Allowed.
        expected: &'static str,
    },
    /// A relocation against something that is neither map, data nor function.
    #[error("{place}: refers to {found}, expected {expected}")]
    Target {
        /// Where.
        place: Box<Place>,
        /// Found.
        found: String,
        /// Allowed.
        expected: &'static str,
    },
    /// An extern that only a running kernel has.
    #[error("{place}: extern {kind} `{name}` needs a running kernel")]
    Extern {
        /// Where.
        place: Box<Place>,
        /// "kconfig", "ksym" or "symbol".
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// A kernel function.
    #[error("{place}: kernel function `{name}` (kfunc) cannot be called, only helpers can")]
    Kfunc {
        /// Where.
        place: Box<Place>,
        /// Its name, or BTF ID.
        name: String,
    },
    /// A helper that Sluice does not have.
    #[error("{place}: helper {id} ({name}) is not available")]
    Helper {
        /// Where.
        place: Box<Place>,
        /// Number.
        id: i32,
        /// The kernel's name of it.
        name: &'static str,
    },
    /// `LD_ABS` and `LD_IND`.
    #[error("{place}: legacy packet access (opcode {op:#04x}), XDP programs read the packet through `data`")]
    PacketAccess {
        /// Where.
        place: Box<Place>,
        /// Opcode.
        op: u8,
    },
    /// A CO-RE relocation that only a kernel's types can answer.
    #[error("{place}: CO-RE relocation {kind} of `{name}` needs a kernel's types, and none are given (`--btf FILE`)")]
    Core {
        /// Where.
        place: Box<Place>,
        /// The kernel's name of the kind.
        kind: &'static str,
        /// Type and access.
        name: String,
    },
    /// A CO-RE relocation that the types of the kernel do not answer.
    #[error("{place}: CO-RE relocation {kind} of `{name}`: found {why}, expected one that the kernel's types answer")]
    CoreKernel {
        /// Where.
        place: Box<Place>,
        /// The kernel's name of the kind.
        kind: &'static str,
        /// Type and access.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
    /// BTF that cannot be read.
    #[error("section `{section}`, offset {offset}: {found}, expected {expected}")]
    Btf {
        /// `.BTF` or `.BTF.ext`.
        section: &'static str,
        /// Byte offset.
        offset: u64,
        /// Found.
        found: String,
        /// Allowed.
        expected: &'static str,
    },
    /// A map declaration in `.maps` that libbpf would not take.
    #[error("map `{map}`: `{field}` is {found}, expected {expected}")]
    BtfMap {
        /// Name.
        map: String,
        /// Field of the declaration.
        field: String,
        /// Found.
        found: String,
        /// Allowed.
        expected: String,
    },
    /// A declaration in `maps` (`struct bpf_map_def`, `struct bpf_elf_map`).
    #[error("map `{map}` of section `maps`: `{field}` is {found}, expected {expected}")]
    LegacyMap {
        /// Name.
        map: String,
        /// Field of the declaration.
        field: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        expected: &'static str,
    },
    /// A map type that Sluice does not have.
    #[error("map `{map}`: type {number} ({name}) is not available, allowed: {allowed}")]
    MapType {
        /// Name.
        map: String,
        /// Number.
        number: u32,
        /// The kernel's name of it.
        name: &'static str,
        /// Names of those there are.
        allowed: String,
    },
    /// An instruction uses a map that was refused; the code is that of the map's refusal.
    #[error("{place}: uses a map that was refused: {error}")]
    UsesRefused {
        /// Where.
        place: Box<Place>,
        /// Why the map was refused.
        error: Box<LoadError>,
    },
    /// An initialiser of a map of maps or program array.
    #[error("map `{map}`, initial entry at byte {offset}: {found}, expected {expected}")]
    Initial {
        /// Name.
        map: String,
        /// Byte in its declaration.
        offset: u64,
        /// Found.
        found: String,
        /// Allowed.
        expected: &'static str,
    },
    /// A call that does not lead to the start of a function.
    #[error("{place}: calls {found}, expected the start of a function")]
    Call {
        /// Where.
        place: Box<Place>,
        /// Found.
        found: String,
    },
    /// A 64-bit immediate whose source means something only in a running kernel.
    #[error("{place}: 64-bit immediate of source {source_register} ({what}), expected {expected}")]
    Immediate {
        /// Where.
        place: Box<Place>,
        /// Source register.
        source_register: u8,
        /// What it means.
        what: &'static str,
        /// Allowed.
        expected: &'static str,
    },
    /// A program for another hook.
    #[error("{place}: section names a {kind} program, expected an XDP one (`xdp`, `xdp/...`, `xdp.frags`, `prog`)")]
    OtherHook {
        /// Where.
        place: Box<Place>,
        /// Kind, by libbpf's section names.
        kind: &'static str,
    },
    /// A section, program or object that is too large.
    #[error("{what}: {found} {unit}, at most {allowed} are allowed")]
    TooLarge {
        /// Section or program.
        what: String,
        /// Found.
        found: u64,
        /// Allowed.
        allowed: u64,
        /// Of what.
        unit: &'static str,
    },
    /// A program array that the object fills with a program which was refused.
    #[error("program array `{map}`, entry {index}: program `{program}` was refused")]
    Entry {
        /// Name.
        map: String,
        /// Key.
        index: u32,
        /// Program.
        program: String,
    },
    /// Two with one name.
    #[error("{what} `{name}` is declared twice, expected names of their own")]
    Duplicate {
        /// "map" or "program".
        what: &'static str,
        /// Name.
        name: String,
    },
    /// `Image::set_max_entries` of something that cannot be set.
    #[error("map `{map}`: max_entries cannot be set to {found}: {why}")]
    MaxEntries {
        /// Name.
        map: String,
        /// Asked.
        found: u32,
        /// Why not.
        why: &'static str,
    },
    /// `Image::set_variable` of a name that the object does not have.
    #[error("variable `{name}`: {found}, allowed: {allowed}")]
    NoVariable {
        /// Name.
        name: String,
        /// Found.
        found: String,
        /// What there is.
        allowed: String,
    },
    /// A value that a variable cannot hold.
    #[error("variable `{name}` ({kind}): found {found}, allowed: {allowed}")]
    VariableValue {
        /// Name.
        name: String,
        /// Its type.
        kind: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// `Image::set_inner_map` of maps that do not fit.
    #[error("inner map of `{map}`: found {found}, allowed: {allowed}")]
    Template {
        /// The map of maps.
        map: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// A map cannot be made.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A program can never run.
    #[error(transparent)]
    Refused(#[from] crate::validate::Refusal),
}

impl LoadError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotElf { .. } => "E0401",
            Self::Machine { .. } => "E0402",
            Self::Malformed { .. } => "E0403",
            Self::Code { .. } => "E0404",
            Self::NoProgram { .. } => "E0405",
            Self::Relocation { .. } => "E0406",
            Self::Target { .. } => "E0407",
            Self::Extern { .. } => "E0408",
            Self::Kfunc { .. } => "E0409",
            Self::Helper { .. } => "E0410",
            Self::PacketAccess { .. } => "E0411",
            Self::Core { .. } => "E0412",
            Self::CoreKernel { .. } => "E0428",
            Self::Btf { .. } => "E0413",
            Self::BtfMap { .. } => "E0414",
            Self::LegacyMap { .. } => "E0415",
            Self::MapType { .. } => "E0416",
            Self::UsesRefused { error, .. } => error.code(),
            Self::Initial { .. } => "E0417",
            Self::Call { .. } => "E0418",
            Self::Immediate { .. } => "E0419",
            Self::OtherHook { .. } => "E0420",
            Self::TooLarge { .. } => "E0421",
            Self::Entry { .. } => "E0422",
            Self::Duplicate { .. } => "E0423",
            Self::MaxEntries { .. } => "E0424",
            Self::NoVariable { .. } => "E0425",
            Self::VariableValue { .. } => "E0426",
            Self::Template { .. } => "E0427",
            Self::Map(error) => error.code(),
            Self::Refused(error) => error.code(),
        }
    }

    /// Where in a program, if it is about an instruction or function.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Relocation { place, .. }
            | Self::Target { place, .. }
            | Self::Extern { place, .. }
            | Self::Kfunc { place, .. }
            | Self::Helper { place, .. }
            | Self::PacketAccess { place, .. }
            | Self::Core { place, .. }
            | Self::CoreKernel { place, .. }
            | Self::Call { place, .. }
            | Self::Immediate { place, .. }
            | Self::UsesRefused { place, .. }
            | Self::OtherHook { place, .. } => Some(place),
            _ => None,
        }
    }
}

/// Shorthand of [`LoadError::Malformed`].
pub(super) fn malformed(place: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> LoadError {
    LoadError::Malformed { place: place.into(), found: found.into(), expected: expected.into() }
}
