//! Table programs of which any two neighbours differ in everything: the parser and the key, every
//! entry, every action. Each output names the program and the entry that made it.

use super::frames::{self, Tuple};
use sluice_formats::Target;
use sluice_formats::limits::KEY_BYTES;
use sluice_object::{Action, Destination, KeyBytes, KeyKind, KeySpec, Object};

/// Keys of programs 0, 1, 2, 3, and again: kind or mask differ from one to the next.
const KEYS: [KeySpec; 4] = [
    KeySpec::DMAC,
    KeySpec::FIVE_TUPLE,
    // src[1] and dport
    KeySpec { kind: KeyKind::FiveTuple, mask: 1 << 1 | 0b11 << 10 },
    // dmac[1], dmac[4], dmac[5]
    KeySpec { kind: KeyKind::Dmac, mask: 0b110010 },
];

/// First byte of a destination MAC that an entry has written, that a default action has, and
/// that frames arrive with.
const OF_ENTRY: u8 = 0x02;
const OF_DEFAULT: u8 = 0x0e;
const ARRIVING: u8 = 0x06;
/// In place of the entry's number.
const NO_ENTRY: u16 = 0xffff;

/// Destination MAC of flow `flow` as it arrives. No byte of it is 0, so that a key under one mask
/// is no key under another.
pub fn flow_dmac(flow: u16) -> [u8; 6] {
    [ARRIVING, 1 + (flow >> 8) as u8, 0x33, 0x44, 1 + (flow as u8) / 16, 1 + (flow as u8) % 16]
}

/// 5-tuple of flow `flow`.
pub fn flow_tuple(flow: u16) -> Tuple {
    let low = flow as u8;
    Tuple {
        src: [10, 1 + low / 2, 7, 1 + low % 2],
        dst: [172, 16, 5, low | 1],
        sport: 3_000 + flow,
        dport: 5_000 + flow,
    }
}

/// The shortest frame of a flow, tagged: 60 bytes without the tag.
pub fn flow_frame(flow: u16, vlan: u16) -> Vec<u8> {
    frames::with_tag(frames::udp(flow_dmac(flow), &flow_tuple(flow), 60), vlan)
}

/// What program `program` writes into the destination MAC of flow `flow`.
pub fn entry_dmac(program: u32, flow: u16) -> [u8; 6] {
    stamp(OF_ENTRY, program, flow)
}

/// Destination number of flow `flow` in program `program`: never the one of the program before.
pub fn entry_destination(program: u32, flow: u16, target: &Target) -> u8 {
    ((u32::from(flow) + 3 * program) % target.destinations()) as u8
}

/// Who made an output: the program, and its entry or its default action.
pub fn maker(dmac: &[u8]) -> Option<(u32, Option<u16>)> {
    let [first, a, b, c, high, low] = *dmac else { return None };
    let program = u32::from_be_bytes([0, a, b, c]);
    match (first, u16::from_be_bytes([high, low])) {
        (OF_ENTRY, flow) => Some((program, Some(flow))),
        (OF_DEFAULT, NO_ENTRY) => Some((program, None)),
        _ => None,
    }
}

/// Program number `program` with `flows` entries. No packet of the flows ever needs the default
/// action: where it shows, a packet has seen a part of a table.
pub fn program(program: u32, flows: u16, target: &Target) -> Object {
    let spec = KEYS[program as usize % KEYS.len()];
    let host = Action::to([Destination::Host(0)]).set_dmac(stamp(OF_DEFAULT, program, NO_ENTRY));
    let mut object = Object::new(format!("program{program}"), spec, host);
    for flow in 0..flows {
        let number = entry_destination(program, flow, target);
        let to = Destination::from_number(number, target).expect("the remainder is in range");
        object.push(flow_key(spec.kind, flow), Action::to([to]).set_dmac(entry_dmac(program, flow)));
    }
    object
}

fn flow_key(kind: KeyKind, flow: u16) -> KeyBytes {
    let mut key = [0; KEY_BYTES];
    if kind == KeyKind::Dmac {
        key[..6].copy_from_slice(&flow_dmac(flow));
    } else {
        let Tuple { src, dst, sport, dport } = flow_tuple(flow);
        key[..4].copy_from_slice(&src);
        key[4..8].copy_from_slice(&dst);
        key[8..10].copy_from_slice(&sport.to_be_bytes());
        key[10..12].copy_from_slice(&dport.to_be_bytes());
        key[12] = 17;
    }
    key
}

fn stamp(first: u8, program: u32, entry: u16) -> [u8; 6] {
    let [_, a, b, c] = program.to_be_bytes();
    let [high, low] = entry.to_be_bytes();
    [first, a, b, c, high, low]
}
