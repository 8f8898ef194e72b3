//! A device with hand-written rows: one path, one deparse row, everything granted, until a test says otherwise.

use sluice_formats::Status;
use sluice_formats::address::SNAPSHOT_INDEX_BIT;
use sluice_formats::hash::crc32c;
use sluice_formats::rmt::rows::*;
use sluice_formats::rmt::tables::Event;
use sluice_formats::row::{Row, Wide};
use sluice_formats::{Node, Table};
use sluice_rmt::fast::Fast;
use sluice_rmt::target::{DATA, KEY_BYTES, Target};
use sluice_rmt::{Arrival, Outcome, Reason};

/// 60 bytes, each its own number.
pub const PACKET: [u8; 60] = {
    let mut packet = [0; 60];
    let mut i = 0;
    while i < 60 {
        packet[i] = i as u8;
        i += 1;
    }
    packet
};

/// A packet of [`PACKET`]'s bytes.
pub fn arrival(module: u8, generation: u8) -> Arrival<'static> {
    Arrival { packet: &PACKET, ..of(&[], module, generation) }
}

/// A packet of these bytes from port 3.
pub fn of(packet: &[u8], module: u8, generation: u8) -> Arrival<'_> {
    Arrival {
        packet,
        module,
        generation,
        system_generation: 0,
        tenant: 0xabc,
        port: 3,
        arrival: 0x1234_5678_9abc,
        queueing: 0x1234_5678_9def,
    }
}

/// Key bits from bit `at` of a key.
pub fn key(at: u32, bits: u32, value: u64) -> Wide<KEY_BYTES> {
    let mut bytes = [0; KEY_BYTES];
    for i in 0..bits {
        bytes[((at + i) / 8) as usize] |= ((value >> i & 1) as u8) << ((at + i) % 8);
    }
    Wide(bytes)
}

/// An alternative that always matches.
pub fn always(to: u8) -> AlternativePart {
    AlternativePart { valid: true, to, ..AlternativePart::default() }
}

/// Lanes of whole containers, by number, at these bytes of the outgoing header; rotations as the lanes want them.
pub fn beats(target: &Target, row: &DeparseRow, containers: &[(u8, usize)]) -> Vec<DeparseRow> {
    let packet = LanePart { size: 3, place: 0 };
    let mut bare = row.clone();
    bare.lanes.fill(packet);
    let mut beats = vec![bare; target.window_beats()];
    for &(n, at) in containers {
        let (class, place) = (n / 8, n % 8);
        let size = 2 * usize::from(class + 1);
        for b in 0..size {
            let (beat, lane) = (&mut beats[(at + b) / target.bus_bytes], (at + b) % target.bus_bytes);
            beat.lanes[lane] = LanePart { size: class, place };
            let rotation = ((lane + size - b) % size) as u8;
            match class {
                0 => beat.rotate2[usize::from(place)] = rotation,
                1 => beat.rotate4[usize::from(place)] = rotation,
                _ => beat.rotate6[usize::from(place)] = rotation,
            }
        }
    }
    beats
}

/// An action that sends to destination 1 and does nothing else.
pub fn forward(owner: u8) -> ActionRow {
    let mut action = ActionRow { owner, ..ActionRow::default() };
    action.words[2] = WordPart { mask: 0xff, immediate: 0b10, ..WordPart::default() };
    action
}

/// A move of an immediate into `c4[place]`.
pub fn set4(action: &mut ActionRow, place: usize, value: u32) {
    action.alus[8 + place] = AluPart { op: 6, ..AluPart::default() };
    action.immediate4[place] = value;
    action.mask4[place] = u32::MAX;
}

/// A key row whose default is this action, with number 0.
pub fn default_action(action: u16) -> KeyRow {
    KeyRow { default_valid: true, default_action: action, ..KeyRow::default() }
}

/// The set of each way that a key is looked up in.
pub fn sets(key: &Wide<KEY_BYTES>, base: usize, bits: u32) -> [usize; 4] {
    let h = crc32c(&key.0);
    let mixed = h ^ (h.rotate_left(7) & h.rotate_left(18)) ^ (h.rotate_left(13) & h.rotate_left(29));
    let set = |half: u32| base | (half & 0xffff) as usize & ((1 << bits) - 1);
    [set(mixed), set(mixed), set(mixed >> 16), set(mixed >> 16)]
}

/// A device under test.
pub struct Device {
    /// The model.
    pub fast: Fast,
    /// Its sizes.
    pub target: Target,
}

impl Device {
    /// After reset.
    pub fn new(target: Target) -> Self {
        Self { fast: Fast::new(target), target }
    }

    /// Writes a row.
    pub fn set<R: Row>(&mut self, node: Node, table: Table, index: usize, row: &R) {
        let words = row.pack().expect("a row whose values fit");
        assert_eq!(self.fast.write(node, table, index as u32, &words), Status::Ok, "{node:?} {table:?} {index}");
    }

    /// Parser and deparser of a bank: every packet takes path 0; `c4[0]` leaves in the first four bytes.
    pub fn bank(&mut self, module: u8, generation: u8) {
        let bank = 2 * usize::from(module) + usize::from(generation);
        let mut select = SelectRow { valid: true, ..SelectRow::default() };
        select.alternatives[0] = always(0);
        self.set(Node::Parser, Table::First, bank, &select);
        self.set(Node::Parser, Table::Node, 4 * bank, &select);
        self.set(Node::Parser, Table::Path, 16 * bank, &PathRow { least: 14, ..PathRow::default() });
        let mut patterns = PatternsRow::default();
        patterns.patterns[0].valid = true;
        self.set(Node::Deparser, Table::Patterns, bank, &patterns);
        self.deparse(bank, 0, &DeparseRow { least: 14, ..DeparseRow::default() }, &[(8, 0)]);
        self.set(Node::Deparser, Table::Granted, module.into(), &GrantedRow { destinations: 0xff });
    }

    /// All beats of a deparse row.
    pub fn deparse(&mut self, bank: usize, row: usize, fields: &DeparseRow, containers: &[(u8, usize)]) {
        for (beat, row_of_beat) in beats(&self.target, fields, containers).iter().enumerate() {
            let index = self.target.window_beats() * (16 * bank + row) + beat;
            self.set(Node::Deparser, Table::Deparse, index, row_of_beat);
        }
    }

    /// A device with one module whose packets all meet this action, row 5 of stage 1.
    pub fn with(target: Target, module: u8, action: &ActionRow) -> Self {
        let mut device = Self::new(target);
        device.bank(module, 0);
        device.set(Node::Stage(1), Table::Key, 2 * usize::from(module), &default_action(5));
        device.set(Node::Stage(1), Table::Action, 5, action);
        device
    }

    /// Action data of a bank's default in a stage.
    pub fn default_data(&mut self, stage: u8, bank: usize, bytes: [u8; DATA]) {
        let row = self.target.exact + self.target.ternary + bank;
        self.set(Node::Stage(stage), Table::Data, row, &DataRow { data: Wide(bytes) });
    }

    /// An exact entry in this way of its set.
    pub fn exact(&mut self, stage: u8, way: u8, entry: &ExactRow, (base, bits): (usize, u32)) -> usize {
        let set = sets(&entry.key, base, bits)[usize::from(way)];
        self.set(Node::Stage(stage), Table::Exact(way), set, entry);
        set
    }

    /// A counter now.
    pub fn counter(&self, node: Node, table: Table, index: usize) -> u64 {
        let words = self.fast.read(node, table, index as u32).expect("a counter");
        u64::from(words[0]) | u64::from(words[1]) << 32
    }

    /// A counter at the last snapshot.
    pub fn at_snapshot(&self, node: Node, table: Table, index: usize) -> u64 {
        self.counter(node, table, index | 1 << SNAPSHOT_INDEX_BIT)
    }

    /// Packets that met the entry of this counter.
    pub fn hits(&self, stage: u8, index: usize) -> u64 {
        self.counter(Node::Stage(stage), Table::Hits, index)
    }

    /// Events of a module.
    pub fn events(&self, module: u8, kind: Event) -> u64 {
        self.counter(Node::Deparser, Table::Events, 16 * usize::from(module) + kind as usize)
    }

    /// The bytes of a packet that leaves.
    pub fn sent(&mut self, arrival: &Arrival) -> Vec<u8> {
        match self.fast.run(arrival) {
            Outcome::Sent { packet, .. } => packet,
            Outcome::Dropped(reason) => panic!("dropped: {}", reason.name()),
        }
    }

    /// Its first four bytes, where [`Self::bank`] puts `c4[0]`.
    pub fn first(&mut self, arrival: &Arrival) -> u32 {
        u32::from_be_bytes(self.sent(arrival)[..4].try_into().expect("four bytes"))
    }

    /// Why a packet is dropped.
    pub fn dropped(&mut self, arrival: &Arrival) -> Reason {
        match self.fast.run(arrival) {
            Outcome::Sent { packet, .. } => panic!("sent: {packet:02x?}"),
            Outcome::Dropped(reason) => reason,
        }
    }
}
