//! Parser: two ternary selections give a path, the path fills the PHV.

use crate::phv::{CONTAINERS, Container, PORT_NUMBERS, Phv, Word, c2};
use crate::reason::Reason;
use crate::target::{SELECTORS, WINDOW};

/// One alternative of a selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alternative {
    /// Values of the selector bytes.
    pub value: [u8; SELECTORS],
    /// Bits of them that count.
    pub mask: [u8; SELECTORS],
    /// Fewest bytes of a packet that it takes.
    pub least: u8,
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

/// What a 2-byte container holds that a path does not take from the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The path's constant.
    Constant,
    /// The port of arrival.
    Port,
    /// Bytes of the packet.
    Length,
}

/// What one path does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Offset of each container that the path takes from the window.
    pub extract: [Option<u8>; CONTAINERS],
    /// What 2-byte containers hold that are not taken, by place.
    pub known: [Option<Known>; 8],
    /// Value of those that hold the path's constant.
    pub constant: u16,
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
    /// Bits 8:0 of the word `scratch1` are the number of a destination.
    pub port_numbers: bool,
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
    /// Where the lowest matching alternative leads that takes a packet of this length.
    pub fn select(&self, window: &[u8; WINDOW], length: usize) -> Option<u8> {
        let bytes = self.offsets.map(|o| window[usize::from(o)]);
        let matches = |a: &&Alternative| {
            length >= usize::from(a.least) && (0..SELECTORS).all(|k| (bytes[k] ^ a.value[k]) & a.mask[k] == 0)
        };
        self.alternatives.iter().find(matches).map(|a| a.to)
    }
}

impl Parser {
    /// Fills the PHV, or says why the packet is dropped. Returns the path's number.
    pub fn parse(&self, packet: &[u8], port: u8, phv: &mut Phv) -> Result<u8, Reason> {
        let (window, length) = (window(packet), packet.len());
        let node = self.first.select(&window, length).ok_or(Reason::ParseReject)?;
        let number = self.nodes[usize::from(node)].select(&window, length).ok_or(Reason::ParseReject)?;
        let path = &self.paths[usize::from(number)];
        if length < usize::from(path.least) {
            return Err(Reason::ParseShort);
        }
        for (n, offset) in path.extract.iter().enumerate() {
            let Some(offset) = *offset else { continue };
            let container = Container(n as u8);
            let bytes = &window[usize::from(offset)..][..container.bytes()];
            phv.set(container, bytes.iter().fold(0, |v, &b| v << 8 | u64::from(b)));
        }
        for (i, known) in path.known.iter().enumerate() {
            let value = match known {
                None => continue,
                Some(Known::Constant) => path.constant,
                Some(Known::Port) => port.into(),
                Some(Known::Length) => length as u16,
            };
            phv.set(c2(i as u8), value.into());
        }
        let wrong = path.verify.is_some_and(|s| {
            ones_complement_sum(&window[usize::from(s.start)..][..2 * usize::from(s.words)]) != 0xffff
        });
        phv.set_word(Word::Headers, path.headers);
        let numbers = if self.port_numbers { PORT_NUMBERS } else { 0 };
        phv.set_word(Word::Status, numbers | u16::from(number) << 4 | u16::from(wrong));
        Ok(number)
    }

    /// A parser with one path for every packet.
    pub fn single(path: Path) -> Self {
        let all = Select { alternatives: vec![Alternative::default()], ..Select::default() };
        Self { first: all.clone(), nodes: vec![all], paths: vec![path], port_numbers: false }
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
        assert_eq!(s.select(&window(&[0, 0, 0, 0x45]), 4), Some(1));
        assert_eq!(s.select(&window(&[0, 0, 0, 0x55]), 4), Some(3));
    }

    #[test]
    fn the_second_level_looks_where_the_first_one_says() {
        let parser = Parser {
            first: select(0, &[(1, 0xff, 0), (2, 0xff, 1)]),
            nodes: vec![select(1, &[(7, 0xff, 0)]), select(2, &[(7, 0xff, 1)])],
            paths: vec![Path { headers: 1, ..Path::default() }, Path { headers: 2, ..Path::default() }],
            port_numbers: false,
        };
        let run = |bytes: &[u8]| parser.parse(bytes, 0, &mut Phv::default());
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
        Parser::single(path).parse(&[0, 1, 2, 3, 4, 5, 6, 7, 8], 0, &mut phv).unwrap();
        assert_eq!((phv.get(c2(1)), phv.get(c4(0)), phv.get(c6(7))), (0x0102, 0x0506_0708, 0x0203_0405_0607));
        assert_eq!(phv.containers.iter().filter(|&&v| v != 0).count(), 3);
        assert_eq!(phv.word(Word::Headers), 0b101);
    }

    #[test]
    fn bytes_behind_the_end_of_the_packet_are_zero() {
        let mut path = Path::default();
        path.extract[usize::from(c4(0).0)] = Some(1);
        let mut phv = Phv::default();
        Parser::single(path).parse(&[9, 8], 0, &mut phv).unwrap();
        assert_eq!(phv.get(c4(0)), 0x0800_0000);
    }

    #[test]
    fn a_packet_shorter_than_its_path_is_parse_short() {
        let parser = Parser::single(Path { least: 3, ..Path::default() });
        assert_eq!(parser.parse(&[1, 2], 0, &mut Phv::default()), Err(Reason::ParseShort));
        assert_eq!(parser.parse(&[1, 2, 3], 0, &mut Phv::default()), Ok(0));
    }

    #[test]
    fn a_packet_shorter_than_an_alternative_asks_for_takes_the_next_one() {
        let mut s = select(0, &[(1, 0xff, 1), (1, 0xff, 2), (0, 0, 3)]);
        (s.alternatives[0].least, s.alternatives[1].least) = (34, 2);
        let to = |length| s.select(&window(&[1, 0, 0]), length);
        assert_eq!([1, 2, 33, 34, 9216].map(to), [Some(3), Some(2), Some(2), Some(1), Some(1)]);
        s.alternatives.pop();
        assert_eq!(s.select(&window(&[1]), 1), None);
    }

    #[test]
    fn a_path_says_constant_port_and_length() {
        let mut path = Path { constant: 0xbeef, ..Path::default() };
        path.extract[0] = Some(0);
        for (i, known) in [(2, Known::Constant), (3, Known::Port), (5, Known::Length), (7, Known::Constant)] {
            path.known[i] = Some(known);
        }
        let mut phv = Phv::default();
        Parser::single(path).parse(&[0x12, 0x34, 0x56], 9, &mut phv).unwrap();
        assert_eq!(phv.containers[..8], [0x1234, 0, 0xbeef, 9, 0, 3, 0, 0xbeef]);
    }

    #[test]
    fn a_wrong_checksum_shows_in_the_status_and_drops_nothing() {
        // The header of the example in RFC 1071, section 3: the words 0001 f203 f4f5 f6f7 add to ddf2.
        let good = [9, 0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7, 0x22, 0x0d];
        let parser = Parser::single(Path { verify: Some(Span { start: 1, words: 5 }), ..Path::default() });
        let status = |packet: &[u8]| {
            let mut phv = Phv::default();
            parser.parse(packet, 0, &mut phv).unwrap();
            phv.word(Word::Status)
        };
        assert_eq!(status(&good), 0);
        let mut bad = good;
        bad[4] ^= 1;
        assert_eq!(status(&bad), 1);
    }
}
