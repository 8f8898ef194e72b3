//! Sizes of the rmt pipeline.

/// Bytes that the parser sees and the deparser places: the window.
pub const WINDOW: usize = 128;
/// Containers.
pub const CONTAINERS: usize = 24;
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
/// Logical numbers of entries, for hit counters, in a stage.
pub const NUMBERS: usize = 2048;
/// Bits of the first set of a module in its key row.
pub const SET_BASE_BITS: u32 = 8;
/// Ways of the exact table.
pub const EXACT_WAYS: usize = 4;
/// Bits of a key.
pub const KEY_BITS: u32 = 194;
/// Bytes of a key; the hash covers them.
pub const KEY_BYTES: usize = 25;
/// Destinations: ports, then host queues.
pub const DESTINATIONS: usize = 8;

/// Resources of one rmt pipeline; RTL parameters, models, linker and compilers take them from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Target {
    /// Name on the command line and of the plug-in.
    pub name: &'static str,
    /// Bytes of one beat.
    pub bus_bytes: usize,
    /// Modules, the system module 0 included.
    pub modules: usize,
    /// Stages.
    pub stages: usize,
    /// Stages of the system module, unless the host says otherwise: bit s.
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
    exact: 64,
    ternary: 8,
    actions: 32,
    words: 512,
    groups: 16,
};

/// A long one, of the pipeline alone: ten stages for tenants.
pub const WIDE: Target = Target { name: "wide", stages: 12, system_stages: 1 << 11 | 1, ..DEFAULT };

/// That of the NICs with external memory, which the pipeline does not see.
pub const FAR: Target = Target { name: "far", ..DEFAULT };

/// The same of the small one.
pub const TINY_FAR: Target = Target { name: "tiny_far", ..TINY };

/// One without hardware's sizes, of software alone: as much as fields of rows and indexes can say.
pub const SOFT: Target =
    Target { name: "soft", stages: 32, system_stages: 1 << 31 | 1, exact: 1 << 18, ternary: 1 << 16, ..DEFAULT };

/// All of the RTL that differ. The position is the `Target` parameter of the RTL top.
pub const ALL: [Target; 3] = [DEFAULT, TINY, WIDE];

impl Target {
    /// The target of this name.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        Target::every().find(|t| t.name == name)
    }

    /// All, by the names of NICs too, and that of software alone.
    pub fn every() -> impl Iterator<Item = &'static Target> {
        ALL.iter().chain(&[FAR, TINY_FAR, SOFT])
    }

    /// The NIC's target of the same name: it knows ports and host queues.
    pub fn nic(&self) -> &'static crate::target::Target {
        crate::target::Target::by_name(self.name).unwrap_or(&crate::target::DEFAULT)
    }

    /// Whether the system module owns the stage.
    pub fn is_system(&self, stage: usize) -> bool {
        stage < 32 && self.system_stages >> stage & 1 == 1
    }

    /// Sets of each way of the exact table.
    pub fn sets(&self) -> usize {
        self.exact / EXACT_WAYS
    }

    /// What `set_base` of a key row counts in: its bits name this many sets at a time where there are more sets than they can name.
    pub fn base_unit(&self) -> usize {
        (self.sets() >> SET_BASE_BITS).max(1)
    }

    /// Beats of the window.
    pub fn window_beats(&self) -> usize {
        WINDOW / self.bus_bytes
    }

    /// Pages of state of a stage.
    pub fn pages(&self) -> usize {
        self.words / PAGE_WORDS
    }

    /// Beats of a packet of `bytes`.
    pub fn beats(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.bus_bytes).max(1)
    }

    /// Every resource by name, in the order of the RTL's configuration struct.
    pub fn resources(&self) -> [(&'static str, u32); 9] {
        [
            ("bus_bytes", self.bus_bytes as u32),
            ("modules", self.modules as u32),
            ("stages", self.stages as u32),
            ("system_stages", self.system_stages),
            ("sets", self.sets() as u32),
            ("ternary", self.ternary as u32),
            ("actions", self.actions as u32),
            ("words", self.words as u32),
            ("groups", self.groups as u32),
        ]
    }

    /// Hash of the NIC's target of the same name; objects, loads and plug-ins carry it.
    pub fn hash(&self) -> u32 {
        self.nic().hash()
    }
}
