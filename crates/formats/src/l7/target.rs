//! Sizes of the l7 engine.

use super::compare::MatchShape;
use crate::limits::MAX_FRAME_BYTES;

/// Alternatives of a row on all targets, and in the layout that objects have.
pub const ALTERNATIVES: usize = 4;
/// Most of them that an engine may be built with.
pub const MOST_ALTERNATIVES: usize = 8;
/// Most bytes that a row compares on all targets, and in the layout that objects have.
pub const MATCH_BYTES: usize = 8;
/// Most of them that an engine may be built with.
pub const MOST_MATCH_BYTES: usize = 32;
/// Most segments of a message that rules see, on all targets.
pub const VIEW_SEGMENTS: usize = 8;
/// Most of them that an engine may be built with: an MTU of 1,500 bytes.
pub const MOST_VIEW_SEGMENTS: usize = 24;
/// Most bytes of a message that rules see, on all targets.
pub const VIEW_BYTES: usize = VIEW_SEGMENTS * SEGMENT_BYTES;
/// Bytes of a segment, which `seg_cnt` counts.
pub const SEGMENT_BYTES: usize = 64;
/// Fields that rules may look at: indices 1 to this.
pub const FIELDS: usize = 15;
/// Slots of a group.
pub const SLOTS: usize = 16;
/// Steps after which a message is a fault.
pub const MOST_STEPS: u32 = 255;
/// Weight of a tenant who has none, among those whose packets wait for the engine.
pub const WEIGHT: u16 = 16;
/// Longest packets whose room in the staging buffer nobody has for himself.
pub const SHARED_PACKETS: usize = 2;
/// Steps of a turn for each of a tenant's weight.
pub const STEPS_A_TURN: u32 = 4;
/// Most rows of a state with many alternatives, as a power of two.
pub const MOST_WIDE_LOG: u32 = 9;
/// Bytes of a field's value that a group hashes in a step.
pub const HASH_BYTES: usize = 8;
/// Hashes of the message table; each has its own half of the entries.
pub const TABLE_HASHES: usize = 2;
/// Entries of a half with one hash value.
pub const TABLE_WAYS: usize = 4;
/// Most rings of an engine, and so queues of all tenants: their numbers have 8 bits.
pub const RINGS: usize = 256;
/// Expiry of a message where its application says none, in nanoseconds.
pub const EXPIRY_NS: u64 = 1_000_000_000;
/// A tick of a message's age in nanoseconds.
pub const EXPIRY_TICK_NS: u64 = 256;
/// Cycles of such a tick.
pub const EXPIRY_TICK_CYCLES: u64 = 64;
/// Bits of the engine's count of ticks, which wraps.
pub const AGE_BITS: u32 = 24;
/// Most ticks of an expiry: a longer one counts as so much. What is left up to the wrap is time for the pass over all entries.
pub const MOST_EXPIRY: u32 = (1 << AGE_BITS) - (1 << 14);
/// The count of ticks behind a reset: the first wrap comes soon, so that every test passes it.
pub const FIRST_AGE: u32 = (1 << AGE_BITS) - 100;
/// Fewest descriptors of a ring, as a power of two.
pub const LEAST_RING_LOG: u8 = 2;
/// Most of them.
pub const MOST_RING_LOG: u8 = 15;
/// Bytes of a descriptor.
pub const DESCRIPTOR_BYTES: usize = 16;
/// Bytes of a completion.
pub const COMPLETION_BYTES: usize = 32;

/// A size that an engine cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {found}, expected {allowed}")]
pub struct SizeError {
    /// Resource.
    pub name: &'static str,
    /// Its size.
    pub found: usize,
    /// What is allowed.
    pub allowed: String,
}

/// Resources of one l7 engine; RTL parameters, models, linker and compiler take them from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Target {
    /// Name of the NIC's target.
    pub name: &'static str,
    /// Bytes of one beat.
    pub bus_bytes: usize,
    /// Modules, the system module 0 included.
    pub modules: usize,
    /// Matchers.
    pub matchers: usize,
    /// Messages that a matcher has at a time.
    pub places: usize,
    /// Bytes that a match row compares: 8, 16 or 32.
    pub compare_bytes: usize,
    /// Alternatives of a match row: 4 or 8.
    pub alternatives: usize,
    /// Segments of a message that rules see at most: 8 to [`MOST_VIEW_SEGMENTS`].
    pub view_segments: usize,
    /// Match rows.
    pub rows: usize,
    /// Start rows.
    pub starts: usize,
    /// UDP ports of all modules' generations.
    pub ports: usize,
    /// Groups.
    pub groups: usize,
    /// Packets in the staging buffer.
    pub packets: usize,
    /// Beats in the staging buffer.
    pub beats: usize,
    /// Messages that are on their way.
    pub messages: usize,
    /// Entries of the message table.
    pub entries: usize,
    /// Rings; their numbers are those of queues.
    pub rings: usize,
    /// Packets of a message at most, up to [`super::qnp::MOST_PACKETS`].
    pub message_packets: usize,
    /// Descriptors of a ring that are fetched before they are needed.
    pub prefetch: usize,
    /// Reads of descriptors that are on their way.
    pub reads: usize,
    /// Packets on their way into host memory.
    pub writes: usize,
}

/// The configuration to build on.
pub const DEFAULT: Target = Target {
    name: "default",
    bus_bytes: 64,
    modules: 64,
    matchers: 4,
    places: 4,
    compare_bytes: MATCH_BYTES,
    alternatives: ALTERNATIVES,
    view_segments: VIEW_SEGMENTS,
    rows: 512,
    starts: 1024,
    ports: 64,
    groups: 64,
    packets: 256,
    beats: 1024,
    messages: 512,
    entries: 2048,
    rings: 256,
    message_packets: 64,
    prefetch: 8,
    reads: 16,
    writes: 64,
};

/// A small one that reaches every corner soon.
pub const TINY: Target = Target {
    name: "tiny",
    bus_bytes: 32,
    modules: 8,
    matchers: 2,
    places: 4,
    compare_bytes: MATCH_BYTES,
    alternatives: ALTERNATIVES,
    view_segments: VIEW_SEGMENTS,
    rows: 64,
    starts: 64,
    ports: 16,
    groups: 8,
    packets: 32,
    beats: 1024,
    messages: 32,
    entries: 128,
    rings: 16,
    message_packets: 64,
    prefetch: 4,
    reads: 4,
    writes: 8,
};

/// That of the NICs with external memory, which the l7 engine does not see.
pub const FAR: Target = Target { name: "far", ..DEFAULT };

/// The same of the small one.
pub const TINY_FAR: Target = Target { name: "tiny_far", ..TINY };

/// All that differ. The position is the `Target` parameter of the RTL top.
pub const ALL: [Target; 2] = [DEFAULT, TINY];

/// The host queue of a NIC that leads through l7: the last one.
pub fn host(nic: &crate::target::Target) -> u8 {
    (nic.hosts - 1) as u8
}

impl Target {
    /// The target of this name; the first one where there is none.
    pub fn by_name(name: &str) -> &'static Target {
        ALL.iter().chain(&[FAR, TINY_FAR]).find(|t| t.name == name).unwrap_or(&ALL[0])
    }

    /// Packets of the staging buffer that tenants may have for themselves.
    pub fn own_packets(&self) -> usize {
        self.packets - SHARED_PACKETS
    }

    /// Beats of the staging buffer that tenants may have for themselves.
    pub fn own_beats(&self) -> usize {
        self.beats - SHARED_PACKETS * (MAX_FRAME_BYTES as usize).div_ceil(self.bus_bytes)
    }

    /// What its match rows hold.
    pub fn match_shape(&self) -> MatchShape {
        MatchShape { bytes: self.compare_bytes, alternatives: self.alternatives }
    }

    /// Most bytes of a message that rules see.
    pub fn view_bytes(&self) -> usize {
        self.view_segments * SEGMENT_BYTES
    }

    /// Whether an engine can be built so, as far as targets may differ from these two.
    pub fn check(&self) -> Result<(), SizeError> {
        let sizes = [
            ("compare_bytes", self.compare_bytes, &[8, 16, 32][..], "8, 16 or 32"),
            ("alternatives", self.alternatives, &[4, 8], "4 or 8"),
        ];
        for (name, found, some, allowed) in sizes {
            if !some.contains(&found) {
                return Err(SizeError { name, found, allowed: allowed.to_owned() });
            }
        }
        let ranges = [
            ("view_segments", self.view_segments, VIEW_SEGMENTS, MOST_VIEW_SEGMENTS),
            ("message_packets", self.message_packets, 1, super::qnp::MOST_PACKETS),
        ];
        for (name, found, least, most) in ranges {
            if !(least..=most).contains(&found) {
                return Err(SizeError { name, found, allowed: format!("{least} to {most}") });
            }
        }
        Ok(())
    }

    /// Every resource by name, in the order of the RTL's configuration struct.
    pub fn resources(&self) -> [(&'static str, u32); 17] {
        [
            ("bus_bytes", self.bus_bytes as u32),
            ("modules", self.modules as u32),
            ("matchers", self.matchers as u32),
            ("places", self.places as u32),
            ("rows", self.rows as u32),
            ("starts", self.starts as u32),
            ("ports", self.ports as u32),
            ("groups", self.groups as u32),
            ("packets", self.packets as u32),
            ("beats", self.beats as u32),
            ("messages", self.messages as u32),
            ("entries", self.entries as u32),
            ("rings", self.rings as u32),
            ("message_packets", self.message_packets as u32),
            ("prefetch", self.prefetch as u32),
            ("reads", self.reads as u32),
            ("writes", self.writes as u32),
        ]
    }

    /// Hash of the NIC's target of the same name; objects, loads and plug-ins carry it.
    pub fn hash(&self) -> u32 {
        crate::target::Target::by_name(self.name).unwrap_or(&crate::target::DEFAULT).hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_what_can_be_built_are_refused() {
        ALL.iter().for_each(|target| target.check().unwrap());
        let large = Target { compare_bytes: 32, alternatives: 8, view_segments: 24, message_packets: 255, ..TINY };
        large.check().unwrap();
        assert_eq!((large.match_shape().row_bits(), large.view_bytes()), (2350, 1536));
        let refused = [
            (Target { compare_bytes: 12, ..TINY }, "compare_bytes is 12, expected 8, 16 or 32"),
            (Target { compare_bytes: 64, ..TINY }, "compare_bytes is 64, expected 8, 16 or 32"),
            (Target { alternatives: 6, ..TINY }, "alternatives is 6, expected 4 or 8"),
            (Target { view_segments: 7, ..TINY }, "view_segments is 7, expected 8 to 24"),
            (Target { view_segments: 25, ..TINY }, "view_segments is 25, expected 8 to 24"),
            (Target { message_packets: 256, ..TINY }, "message_packets is 256, expected 1 to 255"),
        ];
        for (target, text) in refused {
            assert_eq!(target.check().unwrap_err().to_string(), text);
        }
    }
}
