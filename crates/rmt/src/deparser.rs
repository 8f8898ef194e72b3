//! Deparser: a pattern gives a row, the row makes the outgoing packet.

use crate::parser::ones_complement_sum;
use crate::phv::{Container, Phv, Word};
use crate::reason::Reason;
use crate::target::WINDOW;
use sluice_formats::limits::MAX_FRAME_BYTES;

/// Over path (bits 3:0) and valid headers (bits 19:4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Value.
    pub value: u32,
    /// Bits that count.
    pub mask: u32,
    /// Deparse row.
    pub row: u8,
}

impl Pattern {
    /// Whether a packet of this path with these headers is meant.
    pub fn matches(&self, path: u8, headers: u16) -> bool {
        ((u32::from(path) | u32::from(headers) << 4) ^ self.value) & self.mask == 0
    }
}

/// A checksum over outgoing bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// First byte.
    pub start: u8,
    /// Number of 16-bit words.
    pub words: u8,
    /// First of the two bytes that it is written to; they count as zero.
    pub at: u8,
}

/// The span that the second checksum had in the packet as it came: it is adjusted by what changed (RFC 1624).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjust {
    /// First byte.
    pub start: u8,
    /// Number of 16-bit words, the old checksum among them.
    pub words: u8,
    /// 0 means that there is no checksum: it stays, and a checksum that comes out as 0 becomes 0xffff.
    pub udp: bool,
}

/// How the outgoing packet is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeparseRow {
    /// Bytes that the packet grows by, -64 to 64.
    pub delta: i8,
    /// Bytes of the packet from here on move by `delta`.
    pub split: u8,
    /// Fewest bytes of an outgoing packet.
    pub least: u8,
    /// Bytes of the outgoing header that come from containers: (container, byte of it).
    pub lanes: [Option<(Container, u8)>; WINDOW],
    /// Checksums.
    pub checksums: [Option<Update>; 2],
    /// Makes the second checksum an incremental one.
    pub adjust: Option<Adjust>,
}

impl Default for DeparseRow {
    fn default() -> Self {
        Self { delta: 0, split: 0, least: 14, lanes: [None; WINDOW], checksums: [None; 2], adjust: None }
    }
}

impl DeparseRow {
    /// Puts a whole container at byte `at` of the outgoing header, if it ends in the window.
    pub fn put(&mut self, container: Container, at: usize) -> &mut Self {
        for b in 0..container.bytes() {
            if let Some(lane) = self.lanes.get_mut(at + b) {
                *lane = Some((container, b as u8));
            }
        }
        self
    }

    /// Where these bytes of the outgoing header begin in the packet as it came, if none were added or removed among them.
    pub fn came_from(&self, start: u8, words: u8) -> Option<u8> {
        let (split, delta) = (i32::from(self.split), i32::from(self.delta));
        let (first, end) = (i32::from(start), i32::from(start) + 2 * i32::from(words));
        if delta == 0 || end <= split {
            return Some(start);
        }
        (first >= split + delta.max(0)).then(|| (first - delta).clamp(0, 255) as u8)
    }

    /// The outgoing packet.
    pub fn build(&self, packet: &[u8], phv: &Phv) -> Result<Vec<u8>, Reason> {
        let delta = isize::from(self.delta);
        let length = packet.len() as isize + delta;
        if length < isize::from(self.least) {
            return Err(Reason::DeparseShort);
        }
        if length > MAX_FRAME_BYTES as isize {
            return Err(Reason::DeparseLong);
        }
        let byte = |i: isize| match self.lanes.get(i as usize).copied().flatten() {
            Some((container, b)) => phv.byte(container, usize::from(b)),
            None if i < isize::from(self.split) => packet[i as usize],
            None => packet[(i - delta) as usize],
        };
        let mut out: Vec<u8> = (0..length).map(byte).collect();
        let [first, second] = self.checksums;
        let sums = [
            first.map(|u| (u.at, u.value(&out))),
            second.and_then(|u| match self.adjust {
                None => Some((u.at, u.value(&out))),
                Some(adjust) => adjust.value(u, packet, &out).map(|value| (u.at, value)),
            }),
        ];
        for (at, sum) in sums.into_iter().flatten() {
            out[usize::from(at)..usize::from(at) + 2].copy_from_slice(&sum.to_be_bytes());
        }
        Ok(out)
    }
}

impl Update {
    /// The checksum of these bytes.
    fn value(&self, out: &[u8]) -> u16 {
        let (start, at) = (usize::from(self.start), usize::from(self.at));
        let mut bytes = out[start..start + 2 * usize::from(self.words)].to_vec();
        bytes[at - start..at - start + 2].fill(0);
        !ones_complement_sum(&bytes)
    }
}

impl Adjust {
    /// The checksum as it becomes, `HC' = ~(~HC + ~m + m')` of RFC 1624; none if it stays. The old checksum is one of
    /// the incoming span's words, all of which are `m`; all of the outgoing span's but the checksum are `m'`.
    fn value(&self, update: Update, packet: &[u8], out: &[u8]) -> Option<u16> {
        let (start, at) = (usize::from(update.start), usize::from(update.at));
        if self.udp && out[at..at + 2] == [0, 0] {
            return None;
        }
        let mut terms = out[start..start + 2 * usize::from(update.words)].to_vec();
        terms[at - start..at - start + 2].fill(0);
        let old = usize::from(self.start)..usize::from(self.start) + 2 * usize::from(self.words);
        terms.extend(packet[old].iter().map(|byte| !byte));
        match !ones_complement_sum(&terms) {
            0 if self.udp => Some(0xffff),
            value => Some(value),
        }
    }
}

/// Deparser rows of one module and generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deparser {
    /// The lowest that matches counts.
    pub patterns: Vec<Pattern>,
    /// Rows.
    pub rows: Vec<DeparseRow>,
}

impl Deparser {
    /// The outgoing packet, or why it is dropped.
    pub fn deparse(&self, packet: &[u8], path: u8, phv: &Phv) -> Result<Vec<u8>, Reason> {
        let headers = phv.word(Word::Headers);
        let pattern = self.patterns.iter().find(|p| p.matches(path, headers)).ok_or(Reason::DeparseReject)?;
        self.rows[usize::from(pattern.row)].build(packet, phv)
    }

    /// A deparser with one row for every packet.
    pub fn single(row: DeparseRow) -> Self {
        Self { patterns: vec![Pattern::default()], rows: vec![row] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phv::{c2, c4};

    fn packet(n: usize) -> Vec<u8> {
        (0..n).map(|i| i as u8).collect()
    }

    #[test]
    fn without_lanes_and_delta_the_packet_leaves_as_it_came() {
        for n in [14, 64, 127, 128, 129, 1500] {
            assert_eq!(DeparseRow::default().build(&packet(n), &Phv::default()), Ok(packet(n)));
        }
    }

    #[test]
    fn a_container_replaces_its_bytes_and_no_others() {
        let mut phv = Phv::default();
        phv.set(c4(2), 0xaabb_ccdd);
        let mut row = DeparseRow::default();
        row.put(c4(2), 61);
        let mut expected = packet(100);
        expected[61..65].copy_from_slice(&[0xaa, 0xbb, 0xcc, 0xdd]);
        assert_eq!(row.build(&packet(100), &phv), Ok(expected));
    }

    #[test]
    fn a_header_is_added_at_the_split() {
        let mut phv = Phv::default();
        phv.set(c2(0), 0xeeee);
        phv.set(c2(1), 0xffff);
        let mut row = DeparseRow { delta: 4, split: 12, least: 18, ..DeparseRow::default() };
        row.put(c2(0), 12).put(c2(1), 14);
        for n in [14, 60, 126, 130, 300] {
            let mut expected = packet(n);
            expected.splice(12..12, [0xee, 0xee, 0xff, 0xff]);
            assert_eq!(row.build(&packet(n), &phv), Ok(expected));
        }
    }

    #[test]
    fn a_header_is_removed_behind_the_split() {
        let row = DeparseRow { delta: -64, split: 14, ..DeparseRow::default() };
        for n in [78, 79, 142, 1500] {
            let mut expected = packet(n);
            expected.drain(14..78);
            assert_eq!(row.build(&packet(n), &Phv::default()), Ok(expected));
        }
    }

    #[test]
    fn odd_numbers_of_bytes_are_added_and_removed_down_to_packets_of_one_byte() {
        let mut phv = Phv::default();
        phv.set(c2(0), 0xeeff);
        phv.set(c4(0), 0xaabb_ccdd);
        let mut row = DeparseRow { delta: 3, split: 5, least: 8, ..DeparseRow::default() };
        row.put(c2(0), 5);
        row.lanes[7] = Some((c4(0), 1));
        for n in [5, 60, 61, 300] {
            let mut expected = packet(n);
            expected.splice(5..5, [0xee, 0xff, 0xbb]);
            assert_eq!(row.build(&packet(n), &phv), Ok(expected));
        }
        let row = DeparseRow { delta: -13, split: 1, least: 1, ..DeparseRow::default() };
        assert_eq!(row.build(&packet(13), &phv), Err(Reason::DeparseShort));
        assert_eq!(row.build(&packet(14), &phv), Ok(vec![0]));
        assert_eq!(row.build(&packet(16), &phv), Ok(vec![0, 14, 15]));
    }

    #[test]
    fn too_short_and_too_long_packets_are_dropped() {
        let shrink = DeparseRow { delta: -8, split: 14, ..DeparseRow::default() };
        assert_eq!(shrink.build(&packet(21), &Phv::default()), Err(Reason::DeparseShort));
        let grow = DeparseRow { delta: 2, split: 0, ..DeparseRow::default() };
        let mut grow = grow;
        grow.put(c2(0), 0);
        assert!(grow.build(&packet(9214), &Phv::default()).is_ok());
        assert_eq!(grow.build(&packet(9215), &Phv::default()), Err(Reason::DeparseLong));
    }

    #[test]
    fn checksums_cover_the_outgoing_bytes_and_do_not_see_each_other() {
        let row = DeparseRow {
            checksums: [Some(Update { start: 0, words: 4, at: 2 }), Some(Update { start: 9, words: 3, at: 13 })],
            least: 20,
            ..DeparseRow::default()
        };
        let out = row.build(&packet(40), &Phv::default()).unwrap();
        assert_eq!(ones_complement_sum(&out[0..8]), 0xffff);
        assert_eq!(ones_complement_sum(&out[9..15]), 0xffff);
        let untouched = |i: &usize| ![2, 3, 13, 14].contains(i);
        assert!((0..40).filter(untouched).all(|i| out[i] == i as u8));
    }

    /// `words` from byte 10 on, the second one the checksum, of which `new` replaces the first.
    fn adjusted(words: [u16; 3], new: u16, udp: bool) -> u16 {
        let mut packet = vec![0xa5; 10];
        packet.extend(words.iter().flat_map(|w| w.to_be_bytes()));
        packet.resize(40, 0x5a);
        let mut phv = Phv::default();
        phv.set(c2(0), new.into());
        let mut row = DeparseRow { least: 16, ..DeparseRow::default() };
        row.put(c2(0), 10);
        row.checksums[1] = Some(Update { start: 10, words: 3, at: 12 });
        row.adjust = Some(Adjust { start: 10, words: 3, udp });
        let out = row.build(&packet, &phv).unwrap();
        assert_eq!((&out[..10], &out[14..]), (&packet[..10], &packet[14..]));
        assert_eq!(out[10..12], new.to_be_bytes());
        u16::from_be_bytes([out[12], out[13]])
    }

    #[test]
    fn an_incremental_checksum_is_that_of_rfc_1624() {
        // Section 4 of the RFC: HC = 0xdd2f, m = 0x5555, m' = 0x3285.
        assert_eq!(adjusted([0x5555, 0xdd2f, 0], 0x3285, false), 0x0000);
        assert_eq!(adjusted([0x5555, 0xdd2f, 0], 0x3285, true), 0xffff);
        // A carry comes around, and what does not change cancels out.
        assert_eq!(adjusted([0x0001, 0x0000, 0xbeef], 0x0002, false), 0xfffe);
        assert_eq!(adjusted([0x0002, 0xfffe, 0xbeef], 0x0001, false), 0x0000);
        assert_eq!(adjusted([0x1234, 0x5678, 0xbeef], 0x1234, false), 0x5678);
    }

    #[test]
    fn of_udp_a_checksum_of_0_stays_and_of_others_it_counts() {
        assert_eq!(adjusted([0x0001, 0x0000, 0], 0x0002, true), 0x0000);
        assert_eq!(adjusted([0x0001, 0x0000, 0], 0x0002, false), 0xfffe);
        // All terms are 0: zero and its complement are the same number.
        assert_eq!(adjusted([0xffff, 0xffff, 0xffff], 0x0000, false), 0x0000);
    }

    #[test]
    fn the_incoming_span_may_be_longer_and_elsewhere() {
        // 8 bytes of addresses become 4, and 4 bytes are removed in front of them.
        let mut packet = packet(60);
        let mut phv = Phv::default();
        phv.set(c4(0), 0xdead_beef);
        let mut row = DeparseRow { delta: -8, split: 14, least: 42, ..DeparseRow::default() };
        row.put(c4(0), 14);
        row.checksums[1] = Some(Update { start: 14, words: 5, at: 20 });
        row.adjust = Some(Adjust { start: 18, words: 7, udp: false });
        let whole = |bytes: &[u8]| !ones_complement_sum(bytes);
        packet[28..30].fill(0);
        let old = whole(&packet[18..60]);
        packet[28..30].copy_from_slice(&old.to_be_bytes());
        let mut out = row.build(&packet, &phv).unwrap();
        let found = u16::from_be_bytes([out[20], out[21]]);
        out[20..22].fill(0);
        assert_eq!(found, whole(&out[14..52]));
    }

    #[test]
    fn the_lowest_matching_pattern_picks_the_row_and_none_is_a_drop() {
        let row = |delta| DeparseRow { delta, split: 14, ..DeparseRow::default() };
        let deparser = Deparser {
            patterns: vec![
                Pattern { value: 0x0010 | 3, mask: 0x001f, row: 1 },
                Pattern { value: 3, mask: 0x000f, row: 0 },
            ],
            rows: vec![row(0), row(-2)],
        };
        let length = |path, headers| {
            let mut phv = Phv::default();
            phv.set_word(Word::Headers, headers);
            deparser.deparse(&packet(60), path, &phv).map(|p| p.len())
        };
        assert_eq!(length(3, 0b1), Ok(58));
        assert_eq!(length(3, 0b10), Ok(60));
        assert_eq!(length(2, 0b1), Err(Reason::DeparseReject));
    }
}
