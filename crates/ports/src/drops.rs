//! Frames that a port lost, by reason.

/// Frames that were lost at a port since it was opened, over all times that its interface was away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortDrops {
    /// They came faster than they were taken: the receive ring was full.
    pub receive_ring_full: u64,
    /// AF_XDP: the kernel found no free chunk to receive into. Not frames but failed attempts with some drivers.
    pub fill_ring_empty: u64,
    /// Received frames longer than the port takes: merged ones, or the MTU of the other side is larger.
    pub receive_oversize: u64,
    /// The kernel had another reason not to give a frame: no memory, or more pieces than a socket takes.
    pub receive_other: u64,
    /// AF_XDP: descriptors that point where no frame is.
    pub invalid_descriptor: u64,
    /// Frames to be sent that found no room in the send ring.
    pub send_ring_full: u64,
    /// Frames to be sent that are longer than the interface's MTU, or than the port was opened for.
    pub send_oversize: u64,
    /// Frames to be sent shorter than an Ethernet header.
    pub send_short: u64,
    /// Frames to be sent while the interface was down or away.
    pub send_away: u64,
    /// Frames to be sent that the kernel refused.
    pub send_refused: u64,
}

impl PortDrops {
    /// Reasons and counts, in a fixed order.
    pub fn by_reason(&self) -> [(&'static str, u64); 10] {
        [
            ("receive_ring_full", self.receive_ring_full),
            ("fill_ring_empty", self.fill_ring_empty),
            ("receive_oversize", self.receive_oversize),
            ("receive_other", self.receive_other),
            ("invalid_descriptor", self.invalid_descriptor),
            ("send_ring_full", self.send_ring_full),
            ("send_oversize", self.send_oversize),
            ("send_short", self.send_short),
            ("send_away", self.send_away),
            ("send_refused", self.send_refused),
        ]
    }

    /// What to do against packets that are longer than the port takes, where some came.
    pub fn advice(&self) -> Option<&'static str> {
        (self.receive_oversize > 0).then_some(
            "frames came that are longer than the MTU: raise it here, or switch merging off where they come from: ethtool -K IFACE tso \
             off gso off gro off lro off",
        )
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.by_reason().iter().map(|(_, count)| count).sum()
    }

    /// Adds those of a socket that was closed.
    pub(crate) fn add(&mut self, other: &Self) {
        self.receive_ring_full += other.receive_ring_full;
        self.fill_ring_empty += other.fill_ring_empty;
        self.receive_oversize += other.receive_oversize;
        self.receive_other += other.receive_other;
        self.invalid_descriptor += other.invalid_descriptor;
        self.send_ring_full += other.send_ring_full;
        self.send_oversize += other.send_oversize;
        self.send_short += other.send_short;
        self.send_away += other.send_away;
        self.send_refused += other.send_refused;
    }
}
