//! Parser: two ternary selections give a path, the path fills the PHV.

use crate::phv::{CONTAINERS, Container, Phv, Word};
use crate::reason::Reason;
use crate::target::{SELECTORS, WINDOW};

/// One alternative of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alternative {
    /// Values of the selector bytes.
    pub value: [u8; SELECTORS],
    /// Bits of them that count.
    pub mask: [u8; SELECTORS],
    /// Node or path that it leads to.
    pub to: u8,
}

/// A row of the first or second level; its lowest matching alternative counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// Offsets of the selector bytes in the window.
    pub offsets: [u8; SELECTORS],
    /// At most 8 alternatives.
    pub alternatives: Vec<Alternative>,
}

/// Bytes whose 16-bit words a checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u8,
    /// Number of 16-bit words.
    pub words: u8,
}

/// What one path does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Offset of each container that the path takes from the window.
    pub extract: [Option<u8>; CONTAINERS],
    /// Valid headers: bit h.
    pub headers: u16,
    /// Fewest bytes of a packet on this path: the length of its headers.
    pub least: u8,
    /// Header checksum to verify.
    pub verify: Option<Span>,
}

/// Parser rows of one module and generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parser {
    /// First row; its alternatives lead to nodes.
    pub first: Select,
    /// Second rows; their alternatives lead to paths.
    pub nodes: Vec<Select>,
    /// Paths.
    pub paths: Vec<Path>,
}

/// The first 128 bytes of a packet, zeros behind its end.
pub fn window(packet: &[u8]) -> [u8; WINDOW] {
    let mut window = [0; WINDOW];
    let n = packet.len().min(WINDOW);
    window[..n].copy_from_slice(&packet[..n]);
    window
}

/// Ones' complement sum of big-endian 16-bit words.
pub fn ones_complement_sum(bytes: &[u8]) -> u16 {
    let mut sum = bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |&b| u32::from(b))).sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

impl Select {
    /// Where the lowest matching alternative leads.
    pub fn select(&self, window: &[u8; WINDOW]) -> Option<u8> {
        let bytes = self.offsets.map(|o| window[usize::from(o)]);
        let matches = |a: &&Alternative| (0..SELECTORS).all(|k| (bytes[k] ^ a.value[k]) & a.mask[k] == 0);
        self.alternatives.iter().find(matches).map(|a| a.to)
    }
}

impl Parser {
    /// Fills the PHV, or says why the packet is dropped. Returns the path's number.
    pub fn parse(&self, packet: &[u8], phv: &mut Phv) -> Result<u8, Reason> {
        let window = window(packet);
        let node = self.first.select(&window).ok_or(Reason::ParseReject)?;
        let number = self.nodes[usize::from(node)].select(&window).ok_or(Reason::ParseReject)?;
        let path = &self.paths[usize::from(number)];
        if packet.len() < usize::from(path.least) {
            return Err(Reason::ParseShort);
        }
        for (n, offset) in path.extract.iter().enumerate() {
            let Some(offset) = *offset else { continue };
            let container = Container(n as u8);
            let bytes = &window[usize::from(offset)..][..container.bytes()];
            phv.set(container, bytes.iter().fold(0, |v, &b| v << 8 | u64::from(b)));
        }
        let wrong = path.verify.is_some_and(|s| {
            ones_complement_sum(&window[usize::from(s.start)..][..2 * usize::from(s.words)]) != 0xffff
        });
        phv.set_word(Word::Headers, path.headers);
        phv.set_word(Word::Status, u16::from(number) << 4 | u16::from(wrong));
        Ok(number)
    }

    /// A parser with one path for every packet.
    pub fn single(path: Path) -> Self {
        let all = Select { alternatives: vec![Alternative::default()], ..Select::default() };
        Self { first: all.clone(), nodes: vec![all], paths: vec![path] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phv::{c2, c4, c6};

    fn select(offset: u8, pairs: &[(u8, u8, u8)]) -> Select {
        let mut s = Select::default();
        s.offsets[0] = offset;
        for &(value, mask, to) in pairs {
            let mut a = Alternative { to, ..Alternative::default() };
            (a.value[0], a.mask[0]) = (value, mask);
            s.alternatives.push(a);
        }
        s
    }

    #[test]
    fn the_lowest_matching_alternative_counts() {
        let s = select(3, &[(0x40, 0xf0, 1), (0x45, 0xff, 2), (0, 0, 3)]);
        assert_eq!(s.select(&window(&[0, 0, 0, 0x45])), Some(1));
        assert_eq!(s.select(&window(&[0, 0, 0, 0x55])), Some(3));
    }

    #[test]
    fn the_second_level_looks_where_the_first_one_says() {
        let parser = Parser {
            first: select(0, &[(1, 0xff, 0), (2, 0xff, 1)]),
            nodes: vec![select(1, &[(7, 0xff, 0)]), select(2, &[(7, 0xff, 1)])],
            paths: vec![Path { headers: 1, ..Path::default() }, Path { headers: 2, ..Path::default() }],
        };
        let run = |bytes: &[u8]| parser.parse(bytes, &mut Phv::default());
        assert_eq!(run(&[1, 7, 0]), Ok(0));
        assert_eq!(run(&[2, 0, 7]), Ok(1));
        assert_eq!(run(&[2, 7, 0]), Err(Reason::ParseReject));
        assert_eq!(run(&[3, 7, 7]), Err(Reason::ParseReject));
    }

    #[test]
    fn a_path_fills_containers_from_any_offset_and_leaves_the_others_zero() {
        let mut path = Path { headers: 0b101, least: 9, ..Path::default() };
        path.extract[usize::from(c2(1).0)] = Some(1);
        path.extract[usize::from(c4(0).0)] = Some(5);
        path.extract[usize::from(c6(7).0)] = Some(2);
        let mut phv = Phv::default();
        Parser::single(path).parse(&[0, 1, 2, 3, 4, 5, 6, 7, 8], &mut phv).unwrap();
        assert_eq!((phv.get(c2(1)), phv.get(c4(0)), phv.get(c6(7))), (0x0102, 0x0506_0708, 0x0203_0405_0607));
        assert_eq!(phv.containers.iter().filter(|&&v| v != 0).count(), 3);
        assert_eq!(phv.word(Word::Headers), 0b101);
    }

    #[test]
    fn bytes_behind_the_end_of_the_packet_are_zero() {
        let mut path = Path::default();
        path.extract[usize::from(c4(0).0)] = Some(1);
        let mut phv = Phv::default();
        Parser::single(path).parse(&[9, 8], &mut phv).unwrap();
        assert_eq!(phv.get(c4(0)), 0x0800_0000);
    }

    #[test]
    fn a_packet_shorter_than_its_path_is_parse_short() {
        let parser = Parser::single(Path { least: 3, ..Path::default() });
        assert_eq!(parser.parse(&[1, 2], &mut Phv::default()), Err(Reason::ParseShort));
        assert_eq!(parser.parse(&[1, 2, 3], &mut Phv::default()), Ok(0));
    }

    #[test]
    fn a_wrong_checksum_shows_in_the_status_and_drops_nothing() {
        // The header of the example in RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 add to ddf2.
        let good = [9, 0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7, 0x22, 0x0d];
        let parser = Parser::single(Path { verify: Some(Span { start: 1, words: 5 }), ..Path::default() });
        let status = |packet: &[u8]| {
            let mut phv = Phv::default();
            parser.parse(packet, &mut phv).unwrap();
            phv.word(Word::Status)
        };
        assert_eq!(status(&good), 0);
        let mut bad = good;
        bad[4] ^= 1;
        assert_eq!(status(&bad), 1);
    }
}
