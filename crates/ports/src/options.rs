//! How a port is opened.

/// Which kind is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The best that is possible: AF_XDP with zero-copy, native, generic, then AF_PACKET, then TAP where it is one.
    #[default]
    Auto,
    /// AF_XDP, in the same order.
    Xdp,
    /// AF_XDP behind the driver alone: for tests, and for drivers with faults.
    XdpGeneric,
    /// AF_PACKET.
    Packet,
    /// A TAP device, made where it is not there.
    Tap,
}

/// Busy polling of AF_XDP: the thread that asks runs the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyPoll {
    /// For how long a call that finds nothing goes on.
    pub microseconds: u32,
    /// Frames that the driver takes each time.
    pub frames: u32,
}

/// How a port is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Kind.
    pub kind: Wanted,
    /// Queues, one port each; as many as the interface has where none is given, and one of a TAP device.
    pub queues: Option<u32>,
    /// Off where none is given.
    pub busy_poll: Option<BusyPoll>,
    /// Set on the interface where one is given and it has another.
    pub mtu: Option<u32>,
    /// Slots of each ring; a power of two, 65,536 at most.
    pub slots: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { kind: Wanted::Auto, queues: None, busy_poll: None, mtu: None, slots: 2048 }
    }
}
