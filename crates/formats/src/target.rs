//! Targets: the resources of one configuration of the NIC.

use crate::limits::{FORMAT_VERSION, TICK_PS};
use crate::rmt::target as rmt;
use crate::xdp::target as xdp;
use serde::Serialize;

/// Resources of one RTL configuration; models, linker and RTL parameters all come from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Name on the command line and of the plug-in.
    pub name: &'static str,
    /// Bytes of one bus beat, which is also one cell of the shared buffer.
    pub bus_bytes: u32,
    /// Network ports.
    pub ports: u32,
    /// Host queues.
    pub hosts: u32,
    /// Modules, the system module 0 included.
    pub modules: u32,
    /// Cells of the shared egress buffer.
    pub cells: u32,
    /// Packets one egress queue can hold.
    pub queue_packets: u32,
    /// Beats of one port's ingress FIFO.
    pub port_beats: u32,
    /// Packets of one port's ingress FIFO.
    pub port_packets: u32,
    /// Its rmt pipeline.
    pub rmt: rmt::Target,
}

/// What the generators know of a target, or of an engine's part of it.
pub(crate) struct Sizes {
    /// Name of the target.
    pub name: &'static str,
    /// Resources in the order of the RTL's configuration struct.
    pub resources: Vec<(&'static str, u32)>,
    /// Hash of the whole target.
    pub hash: u32,
}

/// The configuration to build on: 512-bit bus, 64 modules, 5 stages.
pub const DEFAULT: Target = Target {
    name: "default",
    bus_bytes: 64,
    ports: 4,
    hosts: 4,
    modules: 64,
    cells: 4096,
    queue_packets: 512,
    port_beats: 512,
    port_packets: 512,
    rmt: rmt::DEFAULT,
};

/// A small one that reaches every corner soon: 256-bit bus, 8 modules, 3 stages.
pub const TINY: Target = Target {
    name: "tiny",
    bus_bytes: 32,
    ports: 4,
    hosts: 4,
    modules: 8,
    cells: 1024,
    queue_packets: 16,
    port_beats: 512,
    port_packets: 512,
    rmt: rmt::TINY,
};

/// What stands around a pipeline of 12 stages that is alone: as the default one.
pub const WIDE: Target = Target { name: "wide", rmt: rmt::WIDE, ..DEFAULT };

/// The default one with external memory for maps of its XDP engine.
pub const FAR: Target = Target { name: "far", rmt: rmt::FAR, ..DEFAULT };

/// The small one with external memory.
pub const TINY_FAR: Target = Target { name: "tiny_far", rmt: rmt::TINY_FAR, ..TINY };

/// One of the software NICs alone, whose tables no hardware bounds; all else is as of the default one.
pub const SOFT: Target = Target { name: "soft", rmt: rmt::SOFT, ..DEFAULT };

/// Targets of the NIC that differ in more than their memory: what is built and tested of every block.
pub const ALL: [Target; 2] = [DEFAULT, TINY];

/// All targets of the NIC. The position is the `Target` parameter of the RTL top; the second two are the first two with external memory.
pub const NIC: [Target; 4] = [DEFAULT, TINY, FAR, TINY_FAR];

/// Targets of one engine alone. No NIC in RTL has them.
pub const ALONE: [Target; 1] = [WIDE];

/// Targets of the software NICs alone. No RTL has them.
pub const SOFTWARE: [Target; 1] = [SOFT];

impl Target {
    /// The target of this name.
    pub fn by_name(name: &str) -> Option<&'static Target> {
        Target::every().find(|t| t.name == name)
    }

    /// Those of the NIC, then those of one engine alone, then those of software alone.
    pub fn every() -> impl Iterator<Item = &'static Target> {
        NIC.iter().chain(&ALONE).chain(&SOFTWARE)
    }

    /// Those that a whole NIC can have, in RTL or in software.
    pub fn nics() -> impl Iterator<Item = &'static Target> {
        NIC.iter().chain(&SOFTWARE)
    }

    /// Names of the targets that a whole NIC can have, with commas between them.
    pub fn nic_names() -> String {
        Target::nics().map(|nic| nic.name).collect::<Vec<_>>().join(", ")
    }

    /// Whether no RTL has it.
    pub fn is_software(&self) -> bool {
        SOFTWARE.iter().any(|target| target.name == self.name)
    }

    /// The same with a port for each destination and no host queue: what may stand around an engine that is alone.
    pub fn all_ports(self) -> Target {
        Target { ports: self.destinations(), hosts: 0, ..self }
    }

    /// Ports and host queues.
    pub fn destinations(&self) -> u32 {
        self.ports + self.hosts
    }

    /// Beats of a packet of `bytes`.
    #[inline]
    pub fn beats(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.bus_bytes).max(1)
    }

    /// Bits a second that the bus carries, and with it all ports together.
    pub fn bits_per_second(&self) -> u64 {
        8 * u64::from(self.bus_bytes) * (1_000_000_000_000 / TICK_PS)
    }

    /// Every resource but those of the rmt pipeline by name, in the order of the RTL's configuration struct.
    pub fn resources(&self) -> [(&'static str, u32); 8] {
        [
            ("bus_bytes", self.bus_bytes),
            ("ports", self.ports),
            ("hosts", self.hosts),
            ("modules", self.modules),
            ("cells", self.cells),
            ("queue_packets", self.queue_packets),
            ("port_beats", self.port_beats),
            ("port_packets", self.port_packets),
        ]
    }

    /// Hash of the format version and every resource, the rmt pipeline's and external memory too; objects, loads and plug-ins carry it.
    pub fn hash(&self) -> u32 {
        let mut words = vec![FORMAT_VERSION];
        words.extend(self.resources().iter().map(|r| r.1));
        words.extend(self.rmt.resources().iter().map(|r| r.1));
        words.extend(Some(xdp::Target::by_name(self.name).outside as u32).filter(|bytes| *bytes > 0));
        crate::hash::crc32c_words(&words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{Node, SLICE_INDEX_BIT, SLICE_WORDS, SNAPSHOT_INDEX_BIT, Table};
    use crate::l7::target as l7;

    #[test]
    fn targets_have_names_and_hashes_of_their_own() {
        assert_ne!(DEFAULT.hash(), TINY.hash());
        assert_eq!(Target::by_name("tiny"), Some(&TINY));
        assert_eq!((Target::by_name("wide"), Target::by_name("huge")), (Some(&WIDE), None));
    }

    #[test]
    fn the_target_of_software_has_what_fields_and_indexes_can_say() {
        let rows = SOFT.rmt;
        // A module's half of the sets has a number of 4 bits, its first set 8 bits in units.
        assert_eq!((rows.sets() >> 1, rows.base_unit()), (1 << 15, 256));
        assert_eq!(ALL.map(|target| target.rmt.base_unit()), [1, 1]);
        let all = Node::every(&SOFT);
        assert_eq!(all.iter().map(|node| node.number()).collect::<std::collections::BTreeSet<_>>().len(), all.len());
        for table in Table::ALL {
            let bits = if table.words() > SLICE_WORDS { SLICE_INDEX_BIT } else { SNAPSHOT_INDEX_BIT };
            assert!(table.rows(&SOFT) <= 1 << bits, "{}", table.name());
        }
        let hashes = Target::every().map(Target::hash).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(hashes.len(), Target::every().count());
    }

    #[test]
    fn every_target_holds_the_longest_frame() {
        for t in NIC {
            assert!(t.beats(crate::limits::MAX_FRAME_BYTES) <= t.port_beats);
            assert!(t.beats(crate::limits::MAX_FRAME_BYTES) <= t.cells);
        }
    }

    #[test]
    fn external_memory_is_all_that_the_second_two_have_more() {
        for (at, far) in NIC.iter().enumerate().skip(ALL.len()) {
            let near = &NIC[at - ALL.len()];
            assert_eq!((far.resources(), far.rmt.resources()), (near.resources(), near.rmt.resources()));
            assert_eq!(
                l7::Target { name: near.name, ..*l7::Target::by_name(far.name) },
                *l7::Target::by_name(near.name)
            );
            let (far, near) = (xdp::Target::by_name(far.name), xdp::Target::by_name(near.name));
            assert!(far.has_outside() && !near.has_outside());
            assert_eq!(xdp::ALL.iter().position(|t| t == far), Some(at));
        }
    }

    #[test]
    fn a_target_and_its_rmt_pipeline_belong_together() {
        for t in Target::every() {
            assert_eq!((t.rmt.name, t.rmt.bus_bytes as u32, t.rmt.modules as u32), (t.name, t.bus_bytes, t.modules));
            assert_eq!((t.rmt.nic(), t.rmt.hash()), (Target::by_name(t.name).unwrap(), t.hash()));
            assert!(t.destinations() as usize <= rmt::DESTINATIONS);
        }
    }
}
