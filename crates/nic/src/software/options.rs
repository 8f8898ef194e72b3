//! How the software NIC spends time, and what it takes.

use sluice_formats::limits::MIN_FRAME_BYTES;

/// How the buffer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// One beat a tick over all destinations, which take turns of a beat, as the hardware's shared buffer.
    Shared,
    /// Each destination at a rate of its own, as behind links of that speed.
    PerDestination {
        /// Bytes a tick.
        bytes_per_tick: u32,
    },
}

/// Options of the software NIC. The default keeps the hardware's pace, in ticks that cost no
/// real time, and never drops at a port: a capture played as fast as it comes is not a test
/// of the ports' FIFOs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How the buffer is read.
    pub service: Service,
    /// The ports' FIFOs have the target's sizes and drop what does not fit (`overload`).
    pub limit_port_fifos: bool,
    /// Ticks between a packet's stamp and its verdict; at least 1.
    pub pipeline_ticks: u64,
    /// Ticks one step of a load takes; at least 1.
    pub step_ticks: u64,
    /// Bytes of the shortest frame that the ports take, unless their policy says more; at least 1.
    pub shortest_frame: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            service: Service::Shared,
            limit_port_fifos: false,
            pipeline_ticks: 12,
            step_ticks: 4,
            shortest_frame: MIN_FRAME_BYTES,
        }
    }
}
