//! Parameters of an engine.

use super::search::MapEngine;

/// An engine. Times are cycles. A context's bundle is picked, and comes to the memory stage `interval` cycles later, where it launches
/// what takes longer; then, if it waits for nothing, it is picked again (docs/design/hxdp-core.md, "Core").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Cores.
    pub cores: usize,
    /// Contexts of a core.
    pub contexts: usize,
    /// Frames that the packet memory of a core holds: those that are loaded, executed, and wait to leave.
    pub slots: usize,
    /// From a pick to the next, and to the memory stage.
    pub interval: u64,
    /// From the pick of the exit to the end of the packet, when the context is free.
    pub exit: u64,
    /// What takes longer and gives a register at most is done with its launch. Without, every such bundle has two passes.
    pub late: bool,
    /// Cycles that a late result takes more than one that a second pass takes, if nobody else wants the port.
    pub late_write: u64,
    /// The same of a packet's end.
    pub late_end: u64,
    /// Late results have a write port of their own, else they share the last lane's.
    pub late_port: bool,
    /// Cycles that a late result waits for the port before nobody is picked for it.
    pub late_patience: u64,
    /// From the memory stage of what leaves its flow's section to the first pick of who waits for it, less what is known before.
    pub passes_on: u64,
    /// From launch to the next pick: loads, stores and atomics of values, lookups in arrays that the call names. All cores share the port, in front of which requests wait.
    pub value_port: u64,
    /// Cycles from one access there to the next.
    pub value_every: u64,
    /// Stores to values, and atomics that give nothing, are not waited for.
    pub posted: bool,
    /// The map engine, which all cores share but for its first half.
    pub maps: MapEngine,
    /// From the end of a map engine's operation to the next pick.
    pub map_answer: u64,
    /// The same of a lookup beside another operation.
    pub seek_answer: u64,
    /// From launch to the next pick of a multiplication, of which one begins in each cycle.
    pub multiply: u64,
    /// The same of a division or remainder of 64 bits, one at a time in a core.
    pub divide: u64,
    /// Of 32 bits.
    pub divide_half: u64,
    /// Cycles less that a division keeps the unit.
    pub muldiv_behind: u64,
    /// From launch to the next pick of other helpers, one at a time in a core.
    pub helper: u64,
    /// The same of a call of a function, which clears its frame.
    pub call: u64,
    /// Passes behind the exit of a function, which restore registers.
    pub restores: u64,
    /// Packet and stack memory of a core.
    pub memory: Memory,
    /// One cycle of so many is for loading and unloading, if they wait for the memory; 0 is never.
    pub reserve: u64,
    /// From a packet's last row in memory to the first cycle in which a context may take it, which picks its first bundle.
    pub start: u64,
    /// From the last row read to the last beat on the output.
    pub leave: u64,
    /// From the end of a packet's program to its verdict, where it is dropped.
    pub verdict: u64,
    /// Cycles of the warp engine before a packet is loaded.
    pub warp: u64,
    /// From a packet's last step in the warp engine until it has its words.
    pub warp_words: u64,
    /// From the last step of a key in the warp engine to the map engine's hash.
    pub warp_key: u64,
    /// From the answer of a lookup without a context until its packet has it.
    pub warp_answer: u64,
    /// From a packet's last row in memory to its end, if its verdict is known without a context.
    pub settle: u64,
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
            interval: 5,
            exit: 6,
            late: true,
            late_write: 0,
            late_end: 1,
            late_port: false,
            late_patience: 7,
            passes_on: 0,
            value_port: 6,
            value_every: 1,
            posted: false,
            maps: MapEngine::default(),
            map_answer: 1,
            seek_answer: 0,
            multiply: 5,
            divide: 68,
            divide_half: 36,
            muldiv_behind: 1,
            helper: 4,
            call: 17,
            restores: 2,
            memory: Memory::READ_AND_WRITE,
            reserve: 8,
            start: 11,
            leave: 6,
            verdict: 3,
            warp: 10,
            warp_words: 8,
            warp_key: 9,
            warp_answer: 7,
            settle: 12,
            stack_rows: 0,
            order: Order::Tickets(16),
            dispatch: Dispatch::LeastWork,
        }
    }
}

impl Engine {
    /// One with so many contexts a core, and two slots for each.
    pub fn with_contexts(self, contexts: usize) -> Self {
        Self { contexts, slots: 2 * contexts, ..self }
    }

    /// One whose value port answers, and whose map engine finds an entry, after so many cycles.
    pub fn with_map_latency(self, cycles: u64) -> Self {
        let maps = MapEngine { index: cycles, lookup: cycles, ..self.maps };
        Self { value_port: cycles, maps, ..self }
    }
}
