//! Deparser node: groups, grants, patterns, deparse rows.

use super::frame::{Frame, WORD};
use super::parser::{fold, raw_sum};
use super::store::{Counters, Store};
use crate::phv::{DISCARD, DROP_PORT, EGRESS_PORT, EXCEPT_INGRESS, PORT_NUMBERS, Word};
use crate::pipeline::Copy;
use crate::reason::Reason;
use crate::target::{PATTERNS, Target, WINDOW};
use sluice_formats::Table;
use sluice_formats::limits::MAX_FRAME_BYTES;
use sluice_formats::rmt::codes::LaneSize;
use sluice_formats::rmt::rows::{DeparseRow, GrantedRow, GroupNameRow, GroupRow, PatternsRow};

#[derive(Clone, Copy, Debug)]
struct Pattern {
    value: u32,
    mask: u32,
    row: u8,
}

/// Bytes of one container that follow each other in the outgoing header.
#[derive(Clone, Copy, Debug)]
struct Run {
    at: usize,
    slot: u8,
    /// Shift that brings the first byte to the top of 64 bits.
    shift: u32,
    bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Update {
    start: usize,
    bytes: usize,
    at: usize,
    adjust: Option<Adjust>,
}

/// The incoming span of an incremental checksum.
#[derive(Clone, Copy, Debug)]
struct Adjust {
    start: usize,
    bytes: usize,
    udp: bool,
}

/// A deparse row.
#[derive(Clone, Debug)]
struct Row {
    delta: isize,
    split: usize,
    least: isize,
    runs: Vec<Run>,
    updates: Vec<Update>,
}

impl Row {
    /// From its beats; what is not a lane's or a rotation's is the first one's. Spans end with the window.
    fn compile(beats: &[DeparseRow], bus_bytes: usize) -> Self {
        let first = &beats[0];
        let mut row = Self {
            delta: first.delta().into(),
            split: first.split.into(),
            least: first.least.into(),
            runs: Vec::new(),
            updates: Vec::new(),
        };
        for i in 0..WINDOW {
            let (beat, lane) = (&beats[i / bus_bytes], i % bus_bytes);
            let source = &beat.lanes[lane];
            let place = usize::from(source.place);
            let (rotation, size) = match LaneSize::from_code(source.size) {
                Some(LaneSize::Two) => (beat.rotate2[place], 2),
                Some(LaneSize::Four) => (beat.rotate4[place], 4),
                Some(LaneSize::Six) => (beat.rotate6[place], 6),
                Some(LaneSize::Packet) | None => continue,
            };
            let byte = (lane + size - usize::from(rotation) % size) % size;
            row.lane(i, 8 * source.size + source.place, size, byte);
        }
        let span = |start: u8, words: u8| {
            let start = usize::from(start);
            (start, (2 * usize::from(words)).min(WINDOW - start))
        };
        for (i, update) in first.updates.iter().enumerate().filter(|(_, u)| u.valid) {
            let (start, bytes) = span(update.start, update.words);
            let old = &first.adjust;
            let adjust = (i == 1 && old.valid).then(|| {
                let (start, bytes) = span(old.start, old.words);
                Adjust { start, bytes, udp: old.udp }
            });
            row.updates.push(Update { start, bytes, at: update.at.into(), adjust });
        }
        row
    }

    /// Byte `byte` of a container stands at `at`.
    fn lane(&mut self, at: usize, slot: u8, size: usize, byte: usize) {
        let shift = 64 - 8 * (size - byte) as u32;
        if let Some(last) = self.runs.last_mut()
            && last.slot == slot
            && last.at + last.bytes == at
            && last.shift + 8 * last.bytes as u32 == shift
        {
            last.bytes += 1;
            return;
        }
        self.runs.push(Run { at, slot, shift, bytes: 1 });
    }

    fn build(&self, packet: &[u8], frame: &Frame, out: &mut Vec<u8>) -> Result<(), Reason> {
        let length = packet.len() as isize + self.delta;
        if length < self.least {
            return Err(Reason::DeparseShort);
        }
        if length > MAX_FRAME_BYTES as isize {
            return Err(Reason::DeparseLong);
        }
        self.place(packet, length.max(0) as usize, out);
        for run in &self.runs {
            let bytes = (frame.get(run.slot) << run.shift).to_be_bytes();
            // Most runs are whole containers: lengths that the compiler knows.
            match (run.bytes, out.get_mut(run.at..run.at + run.bytes)) {
                (6, Some(to)) => to.copy_from_slice(&bytes[..6]),
                (4, Some(to)) => to.copy_from_slice(&bytes[..4]),
                (2, Some(to)) => to.copy_from_slice(&bytes[..2]),
                (n, Some(to)) => to.copy_from_slice(&bytes[..n % 8]),
                (_, None) => out.iter_mut().skip(run.at).zip(bytes).for_each(|(to, from)| *to = from),
            }
        }
        let mut sums = [None; 2];
        for (sum, update) in sums.iter_mut().zip(&self.updates) {
            *sum = update.value(packet, out).map(|value| (update.at, value));
        }
        for (at, sum) in sums.into_iter().flatten() {
            out.iter_mut().skip(at).zip(sum).for_each(|(to, from)| *to = from);
        }
        Ok(())
    }

    /// The packet's bytes at their places.
    fn place(&self, packet: &[u8], length: usize, out: &mut Vec<u8>) {
        out.clear();
        if self.delta == 0 {
            out.extend_from_slice(packet);
            return;
        }
        let split = self.split.min(packet.len());
        out.extend_from_slice(&packet[..split]);
        // Grown: the bytes between are containers'. Shrunk: the bytes behind the split go.
        out.resize(split + self.delta.max(0) as usize, 0);
        let behind = split + (-self.delta).max(0) as usize;
        out.extend_from_slice(packet.get(behind..).unwrap_or_default());
        out.resize(length, 0);
    }
}

impl Update {
    /// The checksum's two bytes in the order of the packet, if they are written.
    fn value(&self, packet: &[u8], out: &[u8]) -> Option<[u8; 2]> {
        let new = self.sum(out);
        let Some(old) = self.adjust else { return Some((!fold(new)).to_le_bytes()) };
        if old.udp && out.iter().skip(self.at).take(2).all(|&byte| byte == 0) {
            return None;
        }
        let end = (old.start + old.bytes).min(packet.len());
        let span = packet.get(old.start..end).unwrap_or_default();
        // The words' complements are what is missing to all ones in each.
        let complements = raw_sum(&[0xff; WINDOW][..span.len()]) - raw_sum(span);
        match !fold(new + complements) {
            0 if old.udp => Some([0xff; 2]),
            value => Some(value.to_le_bytes()),
        }
    }

    /// Sum of the outgoing span; the bytes that it is written to count as zero.
    fn sum(&self, out: &[u8]) -> u64 {
        let end = (self.start + self.bytes).min(out.len());
        let span = out.get(self.start..end).unwrap_or_default();
        match self.at.checked_sub(self.start) {
            Some(at) if at % 2 == 0 && at + 2 <= span.len() => raw_sum(&span[..at]) + raw_sum(&span[at + 2..]),
            // Rows that the checker refuses.
            _ => {
                let mut copy = span.to_vec();
                let zeroed = (self.start..end).zip(&mut copy).filter(|(i, _)| *i == self.at || *i == self.at + 1);
                zeroed.for_each(|(_, byte)| *byte = 0);
                raw_sum(&copy)
            }
        }
    }
}

/// The deparser's tables.
#[derive(Clone, Debug)]
pub struct DeparserNode {
    bus_bytes: usize,
    beats: usize,
    pattern_rows: Store<PatternsRow>,
    deparse_rows: Store<DeparseRow>,
    group_rows: Store<GroupRow>,
    granted_rows: Store<GrantedRow>,
    name_rows: Store<GroupNameRow>,
    patterns: Vec<Option<Vec<Pattern>>>,
    rows: Vec<Option<Row>>,
    groups: Vec<GroupRow>,
    granted: Vec<u8>,
    /// By module.
    names: Vec<GroupNameRow>,
    /// Drops and copies by 16 * module + kind.
    pub events: Counters,
}

impl DeparserNode {
    /// Rows of zeros.
    pub fn new(target: &Target) -> Self {
        let rows = |t: Table| t.rows(target.nic()) as usize;
        let beats = target.window_beats();
        Self {
            bus_bytes: target.bus_bytes,
            beats,
            pattern_rows: Store::new(rows(Table::Patterns)),
            deparse_rows: Store::new(rows(Table::Deparse)),
            group_rows: Store::new(rows(Table::Group)),
            granted_rows: Store::new(rows(Table::Granted)),
            name_rows: Store::new(rows(Table::GroupName)),
            patterns: vec![None; rows(Table::Patterns)],
            rows: vec![None; rows(Table::Deparse) / beats],
            groups: vec![GroupRow::default(); rows(Table::Group)],
            granted: vec![0; rows(Table::Granted)],
            names: vec![GroupNameRow::default(); rows(Table::GroupName)],
            events: Counters::new(rows(Table::Events)),
        }
    }

    /// Writes a row.
    pub fn write(&mut self, table: Table, row: usize, words: &[u32]) {
        match table {
            Table::Patterns => {
                self.pattern_rows.write(row, words);
                self.patterns[row] = None;
            }
            Table::Deparse => {
                self.deparse_rows.write(row, words);
                self.rows[row / self.beats] = None;
            }
            Table::Group => {
                self.group_rows.write(row, words);
                self.groups[row] = self.group_rows.row(row);
            }
            Table::GroupName => {
                self.name_rows.write(row, words);
                self.names[row] = self.name_rows.row(row);
            }
            _ => {
                self.granted_rows.write(row, words);
                self.granted[row] = self.granted_rows.row(row).destinations;
            }
        }
    }

    /// Reads a row back.
    pub fn read(&self, table: Table, row: usize, slice: usize) -> Vec<u32> {
        match table {
            Table::Patterns => self.pattern_rows.read(row, slice),
            Table::Deparse => self.deparse_rows.read(row, slice),
            Table::Group => self.group_rows.read(row, slice),
            Table::GroupName => self.name_rows.read(row, slice),
            _ => self.granted_rows.read(row, slice),
        }
    }

    /// Where the packet goes.
    pub fn destinations(&self, module: u8, port: u8, frame: &Frame, copies: &mut Vec<Copy>) -> Result<(), Reason> {
        copies.clear();
        let egress = frame.word(Word::Egress as usize);
        if egress & DISCARD != 0 {
            return Err(Reason::Discard);
        }
        let number = frame.word(Word::Group as usize);
        let group = match number {
            0 => None,
            n => {
                let row = self.names[usize::from(module)].row_of(n);
                Some(self.groups.get(usize::from(row)).ok_or(Reason::RmtFault)?)
            }
        };
        // Another's group leads nowhere, as one that nobody has.
        let of_group = |g: &GroupRow| if g.owner == 0 || g.owner == module { g.destinations } else { 0 };
        let mut mask = group.map_or(egress as u8, of_group);
        let by_number = group.is_none() && frame.word(Word::Status as usize) & PORT_NUMBERS != 0;
        let port_number = frame.word(Word::Scratch1 as usize) & EGRESS_PORT;
        if by_number && port_number < 8 {
            mask |= 1 << port_number;
        } else if by_number && port_number == DROP_PORT && mask == 0 {
            return Err(Reason::Discard);
        }
        mask &= self.granted[usize::from(module)];
        if egress & EXCEPT_INGRESS != 0 && port < 8 {
            mask &= !(1 << port);
        }
        if mask == 0 {
            return Err(Reason::NoDestination);
        }
        let queue = (egress >> 8 & 7) as u8;
        while mask != 0 {
            let destination = mask.trailing_zeros() as u8;
            mask &= mask - 1;
            let tag = group.map_or(0, |g| g.tags[usize::from(destination) % 8]);
            copies.push(Copy { destination, queue, tag });
        }
        Ok(())
    }

    /// The outgoing packet.
    pub fn deparse(
        &mut self,
        bank: usize,
        path: u8,
        packet: &[u8],
        frame: &Frame,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let patterns = self.patterns[bank].get_or_insert_with(|| {
            let row = self.pattern_rows.row(bank);
            let valid = row.patterns.iter().filter(|p| p.valid);
            valid.map(|p| Pattern { value: p.value, mask: p.mask, row: p.row }).collect()
        });
        let shape = u32::from(path) | (frame.get(WORD + Word::Headers as u8) as u32) << 4;
        let pattern = patterns.iter().find(|p| (shape ^ p.value) & p.mask == 0).ok_or(Reason::DeparseReject)?;
        let at = PATTERNS * bank + usize::from(pattern.row) % PATTERNS;
        let row = self.rows[at].get_or_insert_with(|| {
            let beats: Vec<_> = (0..self.beats).map(|b| self.deparse_rows.row(self.beats * at + b)).collect();
            Row::compile(&beats, self.bus_bytes)
        });
        row.build(packet, frame, out)
    }
}
