//! Parameters of an engine.

/// An engine. Times are cycles; *from issue to issue* is from the cycle in which a context issues a bundle to the
/// first in which it can issue its next.
///
/// The pipeline is: pick a context, fetch, decode and read registers, execute 1, execute 2 (branches, faults and
/// squash are decided), read memory, align, write back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Cores.
    pub cores: usize,
    /// Contexts of a core.
    pub contexts: usize,
    /// Frames that the packet memory of a core holds: those that are loaded, executed, and wait to leave.
    pub slots: usize,
    /// From issue to issue of a bundle with arithmetic and branches only.
    pub alu: u64,
    /// Of one with a load of packet, stack or context.
    pub load: u64,
    /// Of one with a store to packet or stack.
    pub store: u64,
    /// Of one with a multiplication.
    pub multiply: u64,
    /// Of one with a division.
    pub divide: u64,
    /// Cycles that a division occupies the one divider of its core.
    pub divider: u64,
    /// From the issue of the exit to the end of the packet, when the context is free.
    pub exit: u64,
    /// From the first issue of a bundle with a map access or helper to its arrival at the unit.
    pub launch: u64,
    /// From its second issue, which takes the result, to the next bundle's.
    pub result: u64,
    /// Answer of the value port: loads, stores and atomics of map values. All cores share it.
    pub value_port: u64,
    /// Cycles from one access there to the next.
    pub value_every: u64,
    /// Answer of the map engine: helpers with a map. All cores share it.
    pub map_engine: u64,
    /// Cycles from one search there to the next.
    pub map_every: u64,
    /// Answer of the unit for other helpers, one a core, one begins a cycle.
    pub helper: u64,
    /// What was waited for is written by a second issue of its bundle. Without, it is written when it comes, by ports of its
    /// own, and the bundle takes the issue once.
    pub reissue: bool,
    /// Stores to values, and atomics that give nothing, are issued once and not waited for.
    pub posted: bool,
    /// Helpers that no unit is needed for are issued once; they take as long as a multiplication.
    pub quick: bool,
    /// Packet and stack memory of a core.
    pub memory: Memory,
    /// One cycle of so many is for loading and unloading, if they wait for the memory; 0 is never.
    pub reserve: u64,
    /// From the last row in memory, or a context's becoming free, to the first issue.
    pub start: u64,
    /// From the last row read to the last beat on the output.
    pub leave: u64,
    /// Rows of stack that are written with zeros before a packet begins.
    pub stack_rows: u32,
    /// When packets may leave.
    pub order: Order,
    /// Which core gets a packet.
    pub dispatch: Dispatch,
}

/// Ports of a packet memory. A bundle with more accesses than there are ports takes the issue for as many cycles more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Loads a cycle.
    pub reads: u8,
    /// Stores a cycle.
    pub writes: u8,
    /// Loads and stores take the same port, of which there are `reads`.
    pub shared: bool,
}

impl Memory {
    /// One port for loads and stores.
    pub const ONE: Self = Self { reads: 1, writes: 1, shared: true };
    /// A read port and a write port.
    pub const READ_AND_WRITE: Self = Self { reads: 1, writes: 1, shared: false };
    /// Two of each.
    pub const TWO: Self = Self { reads: 2, writes: 2, shared: false };

    /// Cycles that accesses take the ports.
    pub fn cycles(&self, loads: u8, stores: u8) -> u64 {
        let cycles = match self.shared {
            true => (loads + stores).div_ceil(self.reads),
            false => loads.div_ceil(self.reads).max(stores.div_ceil(self.writes)),
        };
        u64::from(cycles.max(1))
    }
}

/// When a finished packet may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As soon as it is finished.
    None,
    /// Behind the packets before it that have the same remainder of the flow by this number, which is not 0.
    Tickets(u32),
    /// Behind all packets before it.
    Arrival,
}

/// Which core gets a packet, of those that have a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// The one with the fewest packets that are not finished.
    LeastWork,
    /// The next one; the packet waits until it has a free slot.
    RoundRobin,
}

impl Default for Engine {
    /// The engine of the design: 2 cores of 8 contexts.
    fn default() -> Self {
        Self {
            cores: 2,
            contexts: 8,
            slots: 16,
            alu: 5,
            load: 6,
            store: 5,
            multiply: 7,
            divide: 40,
            divider: 34,
            exit: 5,
            launch: 5,
            result: 6,
            value_port: 8,
            value_every: 1,
            map_engine: 8,
            map_every: 1,
            helper: 8,
            reissue: true,
            posted: false,
            quick: false,
            memory: Memory::READ_AND_WRITE,
            reserve: 8,
            start: 2,
            leave: 2,
            stack_rows: 0,
            order: Order::Tickets(256),
            dispatch: Dispatch::LeastWork,
        }
    }
}

impl Engine {
    /// One with so many contexts a core, and two slots for each.
    pub fn with_contexts(self, contexts: usize) -> Self {
        Self { contexts, slots: 2 * contexts, ..self }
    }

    /// One whose map engine and value port answer after so many cycles.
    pub fn with_map_latency(self, cycles: u64) -> Self {
        Self { value_port: cycles, map_engine: cycles, ..self }
    }
}
