//! What programs are refused for. Pages: docs/errors/E0440.md to E0455.md.

use crate::Program;
use crate::insn::Malformed;

/// Why a program was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Symbol of the program.
    pub program: String,
    /// Instruction slot, from 0.
    pub slot: u32,
    /// Source line where BTF has it: `file:line: text`.
    pub line: Option<String>,
    /// What is wrong, boxed to keep results small.
    pub reason: Box<Reason>,
}

impl Refusal {
    pub(super) fn new(program: &Program, slot: u32, reason: Reason) -> Self {
        let line = program.line_of(slot).map(|l| format!("{}:{}: {}", l.file, l.line, l.text.trim()));
        Self { program: program.name.clone(), slot, line, reason: Box::new(reason) }
    }

    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        self.reason.code()
    }
}

impl std::error::Error for Refusal {}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "program `{}`, instruction {}", self.program, self.slot)?;
        if let Some(line) = &self.line {
            write!(f, " ({line})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// What is wrong with an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// No slots, or more than the kernel takes.
    #[error("the program has {found} slots, allowed: 1 to {max}")]
    Size {
        /// Found.
        found: usize,
        /// Allowed.
        max: usize,
    },
    /// No such instruction.
    #[error("opcode {opcode:#04x} is no instruction of RFC 9669")]
    Opcode {
        /// Found.
        opcode: u8,
    },
    /// An instruction that is known and not run here.
    #[error("{what} (opcode {opcode:#04x}) is not run here; allowed: RFC 9669 without its packet group")]
    Unsupported {
        /// Its name.
        what: &'static str,
        /// Its opcode.
        opcode: u8,
    },
    /// A field with a value it must not have.
    #[error("field {field} of opcode {opcode:#04x} is {found:#x}, allowed: {allowed}")]
    Reserved {
        /// Opcode.
        opcode: u8,
        /// Field.
        field: &'static str,
        /// Found.
        found: i64,
        /// Allowed.
        allowed: &'static str,
    },
    /// A register that does not exist.
    #[error("register r{found} does not exist, allowed: r0 to r10")]
    Register {
        /// Found.
        found: u8,
    },
    /// Half a wide load.
    #[error("a 64-bit immediate load takes two slots, the program ends after the first")]
    HalfWide,
    /// r10 is read only.
    #[error("r10 is written; it is the frame pointer, allowed: r0 to r9")]
    FramePointer,
    /// A jump to nowhere.
    #[error("jump to slot {found}, {what}; allowed: instructions of the same function, slots {first} to {last}")]
    Target {
        /// Found.
        found: i64,
        /// What is there.
        what: &'static str,
        /// First slot of the function.
        first: u32,
        /// Its last slot.
        last: u32,
    },
    /// A function goes on into the next one.
    #[error("the function that begins at slot {first} falls off its end; its last instruction must be exit or a jump")]
    FallsOff {
        /// First slot of the function.
        first: u32,
    },
    /// Never executed.
    #[error("unreachable: no path from the program's start leads here")]
    Unreachable,
    /// A call or pointer to something that is no function.
    #[error("{what} slot {found}, where no function begins; functions begin at {starts}")]
    NoFunction {
        /// "call of" or "function pointer to".
        what: &'static str,
        /// Found.
        found: i64,
        /// Allowed.
        starts: String,
    },
    /// Recursion.
    #[error("recursion: the function at slot {function} is called while it runs")]
    Recursion {
        /// First slot of the function.
        function: u32,
    },
    /// Calls too deep.
    #[error("calls are nested {found} frames deep, allowed: {max}")]
    Depth {
        /// Found.
        found: u32,
        /// Allowed.
        max: u32,
    },
    /// Outside of the frame.
    #[error("{bytes} bytes at r10{found:+} are outside of the frame, allowed: r10-512 to r10-{bytes}")]
    Stack {
        /// Offset found.
        found: i16,
        /// Width.
        bytes: u8,
    },
    /// No such helper.
    #[error("helper {name}#{found} is not provided here; `sluice xdp check` lists those that are")]
    Helper {
        /// Number.
        found: i32,
        /// The kernel's name, `unknown` if it has none.
        name: &'static str,
    },
    /// No such map, or no value at that offset.
    #[error("map index {found}: {what}, allowed: {allowed}")]
    Map {
        /// Index found.
        found: u32,
        /// What is wrong.
        what: String,
        /// Allowed.
        allowed: String,
    },
}

impl Reason {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Size { .. } => "E0440",
            Self::Opcode { .. } => "E0441",
            Self::Unsupported { .. } => "E0442",
            Self::Reserved { .. } => "E0443",
            Self::Register { .. } => "E0444",
            Self::HalfWide => "E0445",
            Self::FramePointer => "E0446",
            Self::Target { .. } => "E0447",
            Self::FallsOff { .. } => "E0448",
            Self::Unreachable => "E0449",
            Self::NoFunction { .. } => "E0450",
            Self::Recursion { .. } => "E0451",
            Self::Depth { .. } => "E0452",
            Self::Stack { .. } => "E0453",
            Self::Helper { .. } => "E0454",
            Self::Map { .. } => "E0455",
        }
    }

    pub(super) fn malformed(opcode: u8, malformed: Malformed) -> Self {
        match malformed {
            Malformed::Unknown => Self::Opcode { opcode },
            Malformed::Unsupported(what) => Self::Unsupported { what, opcode },
            Malformed::Reserved { field, found, allowed } => Self::Reserved { opcode, field, found, allowed },
            Malformed::Register(found) => Self::Register { found },
            Malformed::NoSecondSlot => Self::HalfWide,
        }
    }
}
