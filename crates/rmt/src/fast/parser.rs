//! Parser node: selections and paths.

use super::frame::{Frame, bits};
use super::store::Store;
use crate::phv::{PORT_NUMBERS, Word};
use crate::reason::Reason;
use crate::target::{NODES, PATHS, Target, WINDOW};
use sluice_formats::Table;
use sluice_formats::rmt::codes::Known;
use sluice_formats::rmt::rows::{PathRow, SelectRow};

/// Zeros behind the window, so that any eight bytes from it can be loaded at once.
const SLACK: usize = 8;

/// The first bytes of a packet, zeros behind its end.
#[derive(Clone, Debug)]
pub struct Window {
    bytes: [u8; WINDOW + SLACK],
    /// From here on there are zeros.
    end: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { bytes: [0; WINDOW + SLACK], end: 0 }
    }
}

impl Window {
    fn fill(&mut self, packet: &[u8]) {
        let n = packet.len().min(WINDOW);
        self.bytes[..n].copy_from_slice(&packet[..n]);
        if n < self.end {
            self.bytes[n..self.end].fill(0);
        }
        self.end = n;
    }

    #[inline]
    fn load(&self, offset: u8) -> u64 {
        let at = usize::from(offset) % WINDOW;
        let mut eight = [0; SLACK];
        eight.copy_from_slice(&self.bytes[at..at + SLACK]);
        u64::from_be_bytes(eight)
    }

    fn span(&self, start: u8, words: u8) -> &[u8] {
        let start = usize::from(start).min(WINDOW);
        &self.bytes[start..WINDOW.min(start + 2 * usize::from(words))]
    }
}

/// Sum of 16-bit words that are taken with their first byte lowest; a last single byte counts as a first one.
///
/// Folded, its bytes are those of the ones' complement sum over big-endian words, exchanged (RFC 1071, section 2 B).
pub fn raw_sum(bytes: &[u8]) -> u64 {
    let (fours, rest) = bytes.as_chunks::<4>();
    let fours: u64 = fours.iter().map(|w| u64::from(u32::from_le_bytes(*w))).sum();
    fours + rest.iter().enumerate().map(|(i, &b)| u64::from(b) << (8 * i)).sum::<u64>()
}

/// A sum's carries added to it until 16 bits are left.
pub fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[derive(Clone, Copy, Debug)]
struct Alternative {
    value: u64,
    mask: u64,
    least: usize,
    to: u8,
}

/// A selection: only bytes that some alternative looks at are gathered.
#[derive(Clone, Debug, Default)]
struct Select {
    valid: bool,
    bytes: Vec<(u8, u32)>,
    alternatives: Vec<Alternative>,
}

impl Select {
    fn compile(row: &SelectRow) -> Self {
        let alternatives: Vec<_> = row
            .alternatives
            .iter()
            .zip(&row.leasts)
            .filter(|(a, _)| a.valid)
            .map(|(a, &least)| Alternative {
                value: u64::from_le_bytes(a.value.0),
                mask: u64::from_le_bytes(a.mask.0),
                least: least.into(),
                to: a.to,
            })
            .collect();
        let looked_at = alternatives.iter().fold(0, |m, a| m | a.mask);
        let places = row.offsets.iter().enumerate().map(|(k, &offset)| (offset, 8 * k as u32));
        let bytes = places.filter(|&(_, shift)| looked_at >> shift & 0xff != 0).collect();
        Self { valid: row.valid, bytes, alternatives }
    }

    #[inline]
    fn select(&self, window: &Window, length: usize) -> Option<u8> {
        let gather =
            |v, &(offset, shift): &(u8, u32)| v | u64::from(window.bytes[usize::from(offset) % WINDOW]) << shift;
        let bytes = self.bytes.iter().fold(0, gather);
        self.alternatives.iter().find(|a| (bytes ^ a.value) & a.mask == 0 && length >= a.least).map(|a| a.to)
    }
}

/// What a path does. A container that reaches behind the window has zeros there.
#[derive(Clone, Debug, Default)]
struct Path {
    /// Container, offset, and how far its first byte is shifted down from the top of 64 bits.
    extract: Vec<(u8, u8, u32)>,
    /// Containers with what is known without the packet's bytes.
    known: Vec<(u8, Known)>,
    constant: u16,
    port_numbers: bool,
    headers: u16,
    least: usize,
    verify: Option<(u8, u8)>,
}

impl Path {
    fn compile(row: &PathRow) -> Self {
        let taken = row.extract.iter().enumerate().filter(|(_, e)| e.taken);
        // Of the code two bits are looked at.
        let known = |(n, offset): (usize, u8)| Some((n as u8, Known::from_code(offset & 3)?));
        let free = row.extract[..8].iter().enumerate().filter(|(_, e)| !e.taken);
        Self {
            known: free.filter_map(|(n, e)| known((n, e.offset))).filter(|k| k.1 != Known::Zero).collect(),
            constant: row.constant,
            port_numbers: row.port_numbers,
            extract: taken.map(|(n, e)| (n as u8, e.offset, 64 - bits(n as u8))).collect(),
            headers: row.headers,
            least: row.least.into(),
            verify: row.verify.valid.then_some((row.verify.start, row.verify.words)),
        }
    }
}

/// The parser's tables, by bank (2 * module + generation).
#[derive(Clone, Debug)]
pub struct ParserNode {
    first_rows: Store<SelectRow>,
    node_rows: Store<SelectRow>,
    path_rows: Store<PathRow>,
    first: Vec<Option<Select>>,
    nodes: Vec<Option<Select>>,
    paths: Vec<Option<Path>>,
}

impl ParserNode {
    /// Rows of zeros.
    pub fn new(target: &Target) -> Self {
        let [first, nodes, paths] = [Table::First, Table::Node, Table::Path].map(|t| t.rows(target.nic()) as usize);
        Self {
            first_rows: Store::new(first),
            node_rows: Store::new(nodes),
            path_rows: Store::new(paths),
            first: vec![None; first],
            nodes: vec![None; nodes],
            paths: vec![None; paths],
        }
    }

    /// Writes a row of one of its tables.
    pub fn write(&mut self, table: Table, row: usize, words: &[u32]) {
        match table {
            Table::First => {
                self.first_rows.write(row, words);
                self.first[row] = None;
            }
            Table::Node => {
                self.node_rows.write(row, words);
                self.nodes[row] = None;
            }
            _ => {
                self.path_rows.write(row, words);
                self.paths[row] = None;
            }
        }
    }

    /// Reads a row back.
    pub fn read(&self, table: Table, row: usize, slice: usize) -> Vec<u32> {
        match table {
            Table::First => self.first_rows.read(row, slice),
            Table::Node => self.node_rows.read(row, slice),
            _ => self.path_rows.read(row, slice),
        }
    }

    /// Fills the frame from a packet; gives the path's number.
    pub fn parse(
        &mut self,
        bank: usize,
        (packet, port): (&[u8], u8),
        window: &mut Window,
        frame: &mut Frame,
    ) -> Result<u8, Reason> {
        let first = self.first[bank].get_or_insert_with(|| Select::compile(&self.first_rows.row(bank)));
        if !first.valid {
            return Err(Reason::NoModule);
        }
        window.fill(packet);
        let node = NODES * bank + usize::from(first.select(window, packet.len()).ok_or(Reason::ParseReject)?) % NODES;
        let second = self.nodes[node].get_or_insert_with(|| Select::compile(&self.node_rows.row(node)));
        let number = second.select(window, packet.len()).ok_or(Reason::ParseReject)?;
        let at = PATHS * bank + usize::from(number) % PATHS;
        let path = self.paths[at].get_or_insert_with(|| Path::compile(&self.path_rows.row(at)));
        if packet.len() < path.least {
            return Err(Reason::ParseShort);
        }
        for &(container, offset, down) in &path.extract {
            frame.set(container, window.load(offset) >> down);
        }
        for &(container, known) in &path.known {
            let value = match known {
                Known::Constant => path.constant,
                Known::Port => port.into(),
                Known::Length => packet.len() as u16,
                Known::Zero => 0,
            };
            frame.set(container, value.into());
        }
        let wrong = path.verify.is_some_and(|(start, words)| fold(raw_sum(window.span(start, words))) != 0xffff);
        frame.set_word(Word::Headers as usize, path.headers);
        let numbers = if path.port_numbers { PORT_NUMBERS } else { 0 };
        frame.set_word(Word::Status as usize, numbers | u16::from(number) << 4 | u16::from(wrong));
        Ok(number)
    }
}
