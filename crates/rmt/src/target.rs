//! Sizes of a pipeline.

/// Bytes that the parser sees and the deparser places: the window.
pub const WINDOW: usize = 128;
/// Headers whose validity a packet carries.
pub const HEADERS: usize = 16;
/// Second-level rows of a module.
pub const NODES: usize = 4;
/// Parse paths of a module.
pub const PATHS: usize = 16;
/// Selector bytes, and alternatives, of one selection.
pub const SELECTORS: usize = 8;
/// Deparse patterns, and deparse rows, of a module.
pub const PATTERNS: usize = 16;
/// Most bytes that a packet may grow or shrink by.
pub const DELTA: i32 = 64;
/// Bytes of action data of an entry.
pub const DATA: usize = 16;
/// State words of one page.
pub const PAGE_WORDS: usize = 64;
/// Pages that a module can name in a stage.
pub const MODULE_PAGES: usize = 64;
/// Logical numbers of entries, for hit counters.
pub const NUMBERS: usize = 2048;

/// What one pipeline has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name.
    pub name: &'static str,
    /// Bytes of one beat.
    pub bus_bytes: usize,
    /// Modules, the system module 0 included.
    pub modules: usize,
    /// Stages.
    pub stages: usize,
    /// Stages of the system module: bit s.
    pub system_stages: u32,
    /// Exact entries of a stage.
    pub exact: usize,
    /// Ternary entries of a stage.
    pub ternary: usize,
    /// Action rows of a stage.
    pub actions: usize,
    /// State words of a stage.
    pub words: usize,
    /// Multicast groups.
    pub groups: usize,
}

/// The configuration to build on.
pub const DEFAULT: Target = Target {
    name: "default",
    bus_bytes: 64,
    modules: 64,
    stages: 5,
    system_stages: 0b1_0001,
    exact: 1024,
    ternary: 64,
    actions: 512,
    words: 4096,
    groups: 256,
};

/// A small one that reaches every corner soon.
pub const TINY: Target = Target {
    name: "tiny",
    bus_bytes: 32,
    modules: 8,
    stages: 3,
    system_stages: 0b101,
    exact: 32,
    ternary: 8,
    actions: 32,
    words: 512,
    groups: 16,
};

impl Target {
    /// Whether the system module owns the stage.
    pub fn is_system(&self, stage: usize) -> bool {
        self.system_stages >> stage & 1 == 1
    }
}
