//! Table objects as programs of the rmt pipeline.
//!
//! One exact table in the first stage that tenants have. All entries and the default lead to one action, which takes
//! everything from its data: bits 15:0 of the word `egress`, with bit 12 for a new destination MAC, and the MAC. So an
//! entry that changes is one write. The MAC waits in a container; bit 12 becomes the header that makes the deparser
//! put it in front. An XDP object is its default action alone.

use crate::action::Action;
use crate::destination::Destinations;
use crate::key::{KeyBytes, KeyKind, KeySpec};
use crate::linker::rmt::StageQuota;
use crate::object::Object;
use crate::rmt::part::{RmtData, RmtKey};
use crate::rmt::{RmtExact, RmtPart, RmtStage};
use sluice_formats::Target;
use sluice_formats::limits::{KEY_BYTES, LEAST_PACKET_BYTES};
use sluice_formats::rmt::codes::{AluB, AluOp, Cross, LaneSize, PredicateOperand, Relation, WordSource};
use sluice_formats::rmt::rows::{
    ActionRow, AlternativePart, AluPart, Class6Part, DeparseRow, ExactRow, ExtractPart, KeyRow, LanePart, PathRow,
    PatternPart, PatternsRow, PredicatePart, SelectRow, WordPart,
};
use std::collections::BTreeMap;

/// Fewest bytes, as the table sees them, of a packet that has a 5-tuple: a tag, Ethernet, IPv4, ports.
pub const LEAST_FIVE_TUPLE: u16 = 42;
/// Logical number of packets that met no entry.
pub const DEFAULT_NUMBER: u16 = 0;
/// Logical number of packets that met an entry.
pub const ENTRY_NUMBER: u16 = 1;

const NUMBERS: u16 = 2;
/// Header that says that the packet has a 5-tuple.
const IPV4: u16 = 0;
/// Header that says that the destination MAC is a new one. In the action data, bit 12 of the word `egress`.
const NEW_DMAC: u16 = 12;
/// Bits of `egress` that are not the header's.
const EGRESS: u16 = 0x8fff;
const EXCEPT_INGRESS: u16 = 1 << 11;
const DISCARD: u16 = 1 << 15;
/// Metadata words; an action writes those from 9 on.
const LENGTH_WORD: u8 = 1;
const EGRESS_WORD: usize = 11 - 9;
const HEADERS_WORD: usize = 13 - 9;
const PREDICATE_WORDS: u8 = PredicateOperand::Words.code();
const PREDICATE_IMMEDIATE: u8 = PredicateOperand::Immediate.code();
const HEADERS_METADATA: u8 = 13;
const NE: u8 = Relation::Ne.code();
const GE: u8 = Relation::Ge.code();
/// A frame of 16 bytes whose tag came off.
const LEAST_PACKET: u8 = LEAST_PACKET_BYTES as u8;
/// Byte of the key that has condition 0 in its lowest bit.
const CONDITION_BYTE: usize = 24;

/// Paths by number.
const OTHER: u8 = 0;
const PORTS: u8 = 1;
const NO_PORTS: u8 = 2;
const TAGGED_PORTS: u8 = 3;
const TAGGED_NO_PORTS: u8 = 4;

/// The stage of the table.
pub fn stage_of(target: &Target) -> u8 {
    (0..target.rmt.stages).find(|&s| !target.rmt.is_system(s)).unwrap_or(0) as u8
}

/// What a table of so many entries takes in its stage.
pub fn quota(entries: u32) -> StageQuota {
    StageQuota { exact: entries, actions: 1, numbers: NUMBERS.into(), ..StageQuota::default() }
}

/// Containers of the program, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Places {
    ports: [u8; 2],
    addresses: [u8; 2],
    /// Its last byte is the protocol; or the destination MAC of the key.
    last: u8,
    dmac: u8,
}

impl Places {
    /// The highest containers of each class that are not taken.
    fn beside(taken: &[u8]) -> Option<Self> {
        let two = |class: u8| {
            let mut free = (8 * class..8 * class + 8).rev().filter(|c| !taken.contains(c));
            Some([free.next()?, free.next()?])
        };
        let [last, dmac] = two(2)?;
        Some(Self { ports: two(0)?, addresses: two(1)?, last, dmac })
    }
}

/// The program of a table or XDP object; none if the system program takes so many containers that too few are left.
/// `mask` says what destinations are on the target.
pub fn lower(object: &Object, target: &Target, system: &BTreeMap<String, u8>) -> Option<RmtPart> {
    let taken: Vec<u8> = system.values().copied().collect();
    let places = Places::beside(&taken)?;
    let stage = RmtStage {
        key: key_row(&object.key, places),
        default_data: data_of(&object.default, target),
        exact: object.entries.iter().map(|e| exact(&object.key, &e.key, &e.action, target)).collect(),
        actions: vec![action_row(places)],
        numbers: NUMBERS,
        exact_room: object.demands.entries as u16,
        ..RmtStage::default()
    };
    let (first, nodes, paths) = match object.key.kind {
        KeyKind::None => (always(0), vec![always(OTHER)], vec![PathRow::default()]),
        KeyKind::Dmac => {
            let mut path = PathRow::default();
            extract(&mut path, places.last, 0);
            (always(0), vec![always(OTHER)], vec![path])
        }
        KeyKind::FiveTuple => five_tuple(places),
    };
    let pattern = |value, mask, row| PatternPart { valid: true, value, mask, row };
    let new_dmac = 1 << (4 + NEW_DMAC);
    let mut patterns = PatternsRow::default();
    patterns.patterns[0] = pattern(new_dmac, new_dmac, 1);
    patterns.patterns[1] = pattern(0, 0, 0);
    Some(RmtPart {
        first,
        nodes,
        paths,
        patterns,
        deparse: vec![deparse(target, None), deparse(target, Some(places.dmac))],
        stages: BTreeMap::from([(stage_of(target), stage)]),
        ..RmtPart::default()
    })
}

/// A selection that leads everything to one place.
fn always(to: u8) -> SelectRow {
    let mut row = SelectRow { valid: true, ..SelectRow::default() };
    row.alternatives[0] = AlternativePart { valid: true, to, ..AlternativePart::default() };
    row
}

/// A selection by bytes: alternatives of (value, mask) for each offset, the first that agrees.
fn select(offsets: &[u8], alternatives: &[(&[(u8, u8)], u8)]) -> SelectRow {
    let mut row = SelectRow { valid: true, ..SelectRow::default() };
    row.offsets[..offsets.len()].copy_from_slice(offsets);
    for (part, (bytes, to)) in row.alternatives.iter_mut().zip(alternatives) {
        *part = AlternativePart { valid: true, to: *to, ..AlternativePart::default() };
        for (i, (value, mask)) in bytes.iter().enumerate() {
            (part.value.0[i], part.mask.0[i]) = (*value, *mask);
        }
    }
    row
}

/// Offsets are 4 further behind a tag that is still in the frame. IPv4 has no options; TCP and UDP have ports in the
/// first fragment.
fn five_tuple(places: Places) -> (SelectRow, Vec<SelectRow>, Vec<PathRow>) {
    const UNTAGGED: u8 = 0;
    const TAGGED: u8 = 1;
    const REST: u8 = 2;
    let is = |byte: u8| (byte, 0xff);
    let header = [is(0x08), is(0x00), is(0x45)];
    let first = select(&[12, 13, 14], &[(&header, UNTAGGED), (&[is(0x81), is(0x00)], TAGGED), (&[], REST)]);
    let (no_offset, tcp, udp) = ([(0, 0x1f), is(0)], is(6), is(17));
    let untagged = select(
        &[20, 21, 23],
        &[(&[no_offset[0], no_offset[1], tcp], PORTS), (&[no_offset[0], no_offset[1], udp], PORTS), (&[], NO_PORTS)],
    );
    let with = |more: [(u8, u8); 3]| [header[0], header[1], header[2], more[0], more[1], more[2]];
    let tagged = select(
        &[16, 17, 18, 24, 25, 27],
        &[
            (&with([no_offset[0], no_offset[1], tcp]), TAGGED_PORTS),
            (&with([no_offset[0], no_offset[1], udp]), TAGGED_PORTS),
            (&header, TAGGED_NO_PORTS),
            (&[], OTHER),
        ],
    );
    let path = |number: u8| {
        let mut path = PathRow::default();
        let o = if matches!(number, TAGGED_PORTS | TAGGED_NO_PORTS) { 4 } else { 0 };
        if number != OTHER {
            path.headers = 1 << IPV4;
            extract(&mut path, places.addresses[0], 26 + o);
            extract(&mut path, places.addresses[1], 30 + o);
            extract(&mut path, places.last, 18 + o);
        }
        if matches!(number, PORTS | TAGGED_PORTS) {
            extract(&mut path, places.ports[0], 34 + o);
            extract(&mut path, places.ports[1], 36 + o);
        }
        path
    };
    (first, vec![untagged, tagged, always(OTHER)], (OTHER..=TAGGED_NO_PORTS).map(path).collect())
}

fn extract(path: &mut PathRow, container: u8, offset: u8) {
    path.extract[usize::from(container)] = ExtractPart { taken: true, offset };
}

/// The key of a 5-tuple has condition 0 beside its bytes: the packet has one, and is long enough for all of it.
fn key_row(spec: &KeySpec, places: Places) -> KeyRow {
    let none = PredicatePart { op: NE, b: PREDICATE_IMMEDIATE, ..PredicatePart::default() };
    let mut row = KeyRow {
        predicates: [none.clone(), none],
        default_valid: true,
        default_number: DEFAULT_NUMBER,
        ..KeyRow::default()
    };
    if spec.kind == KeyKind::None {
        return row;
    }
    let place = |container: u8| container % 8;
    row.pieces = [
        place(places.ports[0]),
        place(places.ports[1]),
        place(places.addresses[0]),
        place(places.addresses[1]),
        place(places.last),
        0,
    ];
    row.mask = key_bits(spec, &std::array::from_fn(|i| if spec.keeps(i) { 0xff } else { 0 }));
    if spec.kind == KeyKind::FiveTuple {
        let word = |a: u8, op: u8, mask: u64, immediate: u64| PredicatePart {
            a: PREDICATE_WORDS + a,
            b: PREDICATE_IMMEDIATE,
            op,
            mask,
            immediate,
        };
        row.predicates =
            [word(LENGTH_WORD, GE, 0xffff, LEAST_FIVE_TUPLE.into()), word(HEADERS_METADATA, NE, 1 << IPV4, 0)];
        // Both.
        row.truth[0] = 0b1000;
    }
    row
}

/// Byte of the pipeline's key that has this byte of an object's: containers stand with their last byte lowest.
fn key_byte(kind: KeyKind, i: usize) -> usize {
    match (kind, i) {
        (KeyKind::FiveTuple, 0..4) => 7 - i,
        (KeyKind::FiveTuple, 4..8) => 15 - i,
        (KeyKind::FiveTuple, 8..10) => 9 - i,
        (KeyKind::FiveTuple, 10..12) => 13 - i,
        (KeyKind::FiveTuple, _) => 12,
        (KeyKind::Dmac | KeyKind::None, i) => 17usize.saturating_sub(i),
    }
}

fn length(kind: KeyKind) -> usize {
    match kind {
        KeyKind::None => 0,
        KeyKind::Dmac => 6,
        KeyKind::FiveTuple => KEY_BYTES,
    }
}

/// An object's masked key, or mask, in the pipeline's key.
pub fn key_bits(spec: &KeySpec, key: &KeyBytes) -> RmtKey {
    let mut bits = RmtKey::default();
    (0..length(spec.kind)).for_each(|i| bits.0[key_byte(spec.kind, i)] = key[i]);
    bits.0[CONDITION_BYTE] = u8::from(spec.kind == KeyKind::FiveTuple);
    bits
}

/// The object's key of one of the pipeline.
pub fn key_bytes(spec: &KeySpec, bits: &RmtKey) -> KeyBytes {
    std::array::from_fn(|i| if i < length(spec.kind) { bits.0[key_byte(spec.kind, i)] } else { 0 })
}

/// The action data of an action. Destinations that the target has not are left out; the linker refuses them.
pub fn data_of(action: &Action, target: &Target) -> RmtData {
    let existing = action.to.iter().filter_map(|d| d.number(target)).fold(0, |mask, n| mask | 1u16 << n);
    let mut egress = if existing == 0 { DISCARD } else { existing };
    if action.except_ingress {
        egress |= EXCEPT_INGRESS;
    }
    if action.set_dmac.is_some() {
        egress |= 1 << NEW_DMAC;
    }
    let mut data = RmtData::default();
    data.0[..2].copy_from_slice(&egress.to_be_bytes());
    data.0[2..8].copy_from_slice(&action.set_dmac.unwrap_or_default());
    data
}

/// The action of action data.
pub fn action_of(data: &RmtData, target: &Target) -> Action {
    let egress = u16::from_be_bytes([data.0[0], data.0[1]]);
    if egress & DISCARD != 0 {
        return Action::DROP;
    }
    let mac = || [data.0[2], data.0[3], data.0[4], data.0[5], data.0[6], data.0[7]];
    Action {
        to: Destinations::from_mask(egress as u8, target),
        except_ingress: egress & EXCEPT_INGRESS != 0,
        set_dmac: (egress >> NEW_DMAC & 1 == 1).then(mac),
    }
}

/// The entry of a table.
pub fn exact(spec: &KeySpec, key: &KeyBytes, action: &Action, target: &Target) -> RmtExact {
    let row = ExactRow { key: key_bits(spec, key), number: ENTRY_NUMBER, ..ExactRow::default() };
    RmtExact { row, data: data_of(action, target) }
}

fn action_row(places: Places) -> ActionRow {
    let data = |mask| WordPart { source: WordSource::DataA.code(), mask, ..WordPart::default() };
    let mut row = ActionRow {
        // The MAC stands behind the word.
        class6: Class6Part { data: [1, 0], ..Class6Part::default() },
        cross_source: Cross::Zero.code(),
        ..ActionRow::default()
    };
    row.words[EGRESS_WORD] = data(EGRESS);
    row.words[HEADERS_WORD] = data(1 << NEW_DMAC);
    row.alus[usize::from(places.dmac)] =
        AluPart { op: AluOp::Move.code(), b: AluB::DataA.code(), ..AluPart::default() };
    row.mask6[usize::from(places.dmac % 8)] = (1 << 48) - 1;
    row
}

/// The packet as it is, or with a container in front.
fn deparse(target: &Target, dmac: Option<u8>) -> Vec<DeparseRow> {
    let beat = |n: usize| {
        let mut row = DeparseRow { least: LEAST_PACKET, ..DeparseRow::default() };
        row.lanes[..target.rmt.bus_bytes].fill(LanePart { place: 0, size: LaneSize::Packet.code() });
        if let Some(container) = dmac.filter(|_| n == 0) {
            row.lanes[..6].fill(LanePart { place: container % 8, size: LaneSize::Six.code() });
        }
        row
    };
    (0..target.rmt.window_beats()).map(beat).collect()
}
