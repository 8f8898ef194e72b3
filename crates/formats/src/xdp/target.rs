//! Sizes of the XDP engine.

/// Lanes of a bundle.
pub const LANES: usize = 2;
/// Rows of a page of instruction memory.
pub const PAGE_ROWS: usize = 64;
/// Most cores of an engine.
pub const CORES: usize = 2;
/// Work of a packet up to which its module may take contexts that others own and do not use: so long their owner waits at most for
/// one to come back.
pub const BORROW_WORK: u32 = 1 << 10;
/// Rows of a unit of packet memory, in which places are given out: 1 KiB.
pub const UNIT_ROWS: usize = 16;
/// Rows of a packet in front of its frame: its stack, then the headroom.
pub const FRAME_ROW: usize = 8 + 256 / 64;
/// Rows of a frame that may grow, from its packet's first on.
pub const GROWN_ROWS: usize = FRAME_ROW + 3520 / 64;
/// Units of the largest packet: the longest frame, seven frames of functions, the longest record.
pub const PACKET_UNITS: usize =
    (FRAME_ROW + (crate::limits::MAX_FRAME_BYTES as usize).div_ceil(64) + 7 * 8 + RECORD_BYTES / 64)
        .div_ceil(UNIT_ROWS);
/// Channels of the trace of steps for each core; what all cores share is told on the first one's.
pub const CORE_STEPS: usize = 5;
/// Most taken back edges and calls of a packet, unless its tenant is given another number.
pub const WORK: u32 = 1 << 16;
/// The most that a tenant may be given.
pub const MOST_WORK: u32 = 1 << 24;
/// Bytes by which a tenant's programs make a frame longer at most, unless he is given another number.
pub const GROWTH: u16 = 128;
/// The most that a tenant may be given.
pub const MOST_GROWTH: u16 = (1 << 11) - 2;
/// Channels of the trace of steps.
pub const STEPS: usize = CORES * CORE_STEPS;
/// Rows of search memory from here on lie in external memory.
pub const OUTSIDE_SEARCH: u32 = 1 << 23;
/// Most bytes of a key.
pub const KEY_BYTES: usize = 64;
/// Most bytes of a value that helpers and the host write.
pub const VALUE_BYTES: usize = 512;
/// Rows of 32 bytes with key and value of the host's operation.
pub const HOST_ROWS: usize = (KEY_BYTES + VALUE_BYTES) / 32;

/// Rules of a module in the warp engine's tables; a target may have fewer.
pub const WARP_RULES: usize = 64;
/// Its steps.
pub const WARP_STEPS: usize = 128;
/// Chunks of a key.
pub const WARP_CHUNKS: usize = 24;
/// Values of a chunk.
pub const WARP_CHUNK_VALUES: usize = 32;

/// Words of 8 bytes of events that a module's programs may have on their way to the host.
pub const EVENT_WORDS: usize = 256;
/// Bytes in which room for a packet's record is given.
pub const RECORD_UNIT: usize = 512;
/// Most bytes of a packet's record.
pub const RECORD_BYTES: usize = 3 * RECORD_UNIT;

/// Resources of one XDP engine; RTL parameters, models, linker and compilers take them from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Target {
    /// Name of the NIC's target.
    pub name: &'static str,
    /// Bytes of one beat.
    pub bus_bytes: usize,
    /// Modules, the system module 0 included.
    pub modules: usize,
    /// Cores that programs run on.
    pub cores: usize,
    /// Packets that a core executes in turns.
    pub contexts: usize,
    /// Rows of instruction memory.
    pub rows: usize,
    /// Rows of 64 bytes of a core's packet memory.
    pub memory: usize,
    /// Packets in a core's memory.
    pub packets: usize,
    /// Rows of the bus of the queues in front of the cores.
    pub queue_rows: usize,
    /// Pages of 64 KiB of all modules' addresses of map values.
    pub regions: usize,
    /// Maps of all modules.
    pub maps: usize,
    /// Bytes of value memory.
    pub values: usize,
    /// Rows of 16 bytes of search memory.
    pub search: usize,
    /// Bytes of external memory for values; 0 is none.
    pub outside: usize,
    /// Lines of 64 bytes of the cache in front of it.
    pub lines: usize,
    /// Rules of each module, in each generation, in front of the cores: 2 to 64, a power of two; 0 is no warp engine.
    pub warp_rules: usize,
    /// Its steps, 2 to 128, a power of two.
    pub warp_steps: usize,
    /// Entries of the map with a tenant's routes.
    pub routes: usize,
}

/// The configuration to build on.
pub const DEFAULT: Target = Target {
    name: "default",
    bus_bytes: 64,
    modules: 64,
    cores: 2,
    contexts: 8,
    rows: 8192,
    memory: 1024,
    packets: 16,
    queue_rows: 1024,
    regions: 512,
    maps: 256,
    values: 1 << 20,
    search: 1 << 15,
    outside: 0,
    lines: 0,
    warp_rules: 64,
    warp_steps: 128,
    routes: 512,
};

/// A small one that reaches every corner soon.
pub const TINY: Target = Target {
    name: "tiny",
    bus_bytes: 32,
    modules: 8,
    cores: 2,
    contexts: 2,
    rows: 1024,
    memory: 256,
    packets: 8,
    queue_rows: 512,
    regions: 32,
    maps: 16,
    values: 1 << 15,
    search: 1 << 10,
    outside: 0,
    lines: 0,
    warp_rules: 16,
    warp_steps: 32,
    routes: 64,
};

/// The default one with external memory for values.
pub const FAR: Target = Target { name: "far", outside: 1 << 30, lines: 4096, ..DEFAULT };

/// The small one with external memory, and a cache that is soon too small.
pub const TINY_FAR: Target = Target { name: "tiny_far", regions: 128, outside: 1 << 29, lines: 64, ..TINY };

/// All targets. The position is the `Target` parameter of the RTL top.
pub const ALL: [Target; 4] = [DEFAULT, TINY, FAR, TINY_FAR];

impl Target {
    /// The target of this name; the first one where there is none.
    pub fn by_name(name: &str) -> &'static Target {
        ALL.iter().find(|t| t.name == name).unwrap_or(&ALL[0])
    }

    /// Pages of instruction memory.
    pub fn pages(&self) -> usize {
        self.rows / PAGE_ROWS
    }

    /// Whether there is external memory: links of entries in search memory then have a word of their own.
    pub fn has_outside(&self) -> bool {
        self.outside > 0
    }

    /// Rows of search memory as the host counts them: with external memory as many as there are numbers, with those between that there are not.
    pub fn search_index(&self) -> u32 {
        if self.has_outside() { 2 * OUTSIDE_SEARCH - 1 } else { self.search as u32 }
    }

    /// Units of a core's packet memory.
    pub fn memory_units(&self) -> u16 {
        (self.memory / UNIT_ROWS) as u16
    }

    /// Contexts of all cores: each is a processor to programs, with a copy of its own of per-CPU values.
    pub fn processors(&self) -> usize {
        self.cores * self.contexts
    }

    /// Every resource by name, in the order of the RTL's configuration struct.
    pub fn resources(&self) -> [(&'static str, u32); 16] {
        [
            ("bus_bytes", self.bus_bytes as u32),
            ("modules", self.modules as u32),
            ("cores", self.cores as u32),
            ("contexts", self.contexts as u32),
            ("rows", self.rows as u32),
            ("memory", self.memory as u32),
            ("packets", self.packets as u32),
            ("queue_rows", self.queue_rows as u32),
            ("regions", self.regions as u32),
            ("maps", self.maps as u32),
            ("values", self.values as u32),
            ("search", self.search as u32),
            ("outside", self.outside as u32),
            ("lines", self.lines as u32),
            ("warp_rules", self.warp_rules as u32),
            ("warp_steps", self.warp_steps as u32),
        ]
    }

    /// Hash of the NIC's target of the same name; objects, loads and plug-ins carry it.
    pub fn hash(&self) -> u32 {
        crate::target::Target::by_name(self.name).unwrap_or(&crate::target::DEFAULT).hash()
    }
}
