//! Frames of hostile tenants: every length, every fault, and bytes that their programs know.

use super::field::tagged;
use sluice_formats::Target;
use sluice_formats::l7::qnp::Header;
use sluice_formats::random::Rng;
use sluice_l7::message::Addresses;
use sluice_l7::testing::ping_pong_payload;
use sluice_rmt::Program;
use sluice_rmt::testing::aim;

/// What a stream of frames is made of, for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Shortest frames without a gap: as many packets as a port takes.
    Shortest,
    /// A byte more than a beat, or what becomes so when a program adds to it.
    JustOver,
    /// Longest frames.
    Longest,
    /// Any length, from 60 to 9,216 bytes.
    Any,
    /// What ports and entrance refuse, between good ones.
    Bad,
}

impl Style {
    pub fn draw(rng: &mut Rng) -> Self {
        *rng.choose(&[Self::Shortest, Self::Shortest, Self::JustOver, Self::Longest, Self::Any, Self::Bad]).unwrap()
    }
}

/// A frame as it arrives.
pub struct Frame {
    pub bytes: Vec<u8>,
    pub bad: bool,
}

/// A frame of VLAN `vlan`, of no more than `most` bytes; most is at least 64.
pub fn frame(rng: &mut Rng, style: Style, vlan: u16, program: Option<&Program>, most: usize, target: &Target) -> Frame {
    let bus = u64::from(target.bus_bytes);
    let length = match style {
        Style::Shortest => 60,
        // Bytes of a beat more or less, before or behind the tag, before or behind 64 bytes more.
        Style::JustOver => bus * rng.range(1, 6) + rng.range(0, 6),
        Style::Longest => 9216 - rng.below(66),
        Style::Any if rng.chance(1, 8) => rng.range(60, 9216),
        Style::Any | Style::Bad => rng.range(60, 600),
    };
    let length = (length as usize).clamp(60, most);
    let mut bytes = rng.bytes(length);
    if rng.chance(1, 2) {
        // A header that tables know.
        bytes[16..18].copy_from_slice(&[0x08, 0x00]);
        bytes[18] = 0x45;
        bytes[27] = if rng.chance(1, 2) { 17 } else { 6 };
    }
    // Programs see the frame without its tag.
    if let Some(program) = program {
        bytes.drain(12..16);
        aim(rng, &program.parser, &mut bytes);
        bytes.splice(12..12, [0; 4]);
    }
    let [high, low] = vlan.to_be_bytes();
    bytes[12..16].copy_from_slice(&[0x81, 0x00, high | (rng.below(16) as u8) << 4, low]);
    let mut frame = Frame { bytes, bad: false };
    if style == Style::Bad {
        spoil(rng, &mut frame, most);
    }
    frame
}

/// A packet of a message, as a flood of first ones with new IDs, or with IDs that were chosen to meet in the message table.
pub fn message(rng: &mut Rng, vlan: u16) -> Frame {
    let first = rng.chance(3, 4);
    let header = Header {
        app_id: 1,
        msg_id: if rng.chance(1, 2) { rng.next_u32() } else { (rng.below(8) as u32) << 20 },
        msg_len_in_pkts: rng.range(1, 3) as u8,
        pkt_seq_num_in_msg: if first { 0 } else { rng.below(4) as u8 },
        ..Header::default()
    };
    let bytes = sluice_l7::message::frame(&Addresses::to_port(9000), header, &ping_pong_payload(6, rng.below(3) as u8));
    Frame { bytes: tagged(vlan, bytes), bad: false }
}

/// Makes a frame one that a port or the pipeline's entrance refuses, or that seems to be another's.
fn spoil(rng: &mut Rng, frame: &mut Frame, most: usize) {
    match rng.below(8) {
        0 => frame.bad = true,
        1 => frame.bytes.truncate(rng.range(1, 59) as usize),
        2 if most > 9216 => frame.bytes.resize(most.min(9217 + rng.index(7000)), 0),
        // No tag.
        3 => drop(frame.bytes.drain(12..16)),
        // A VLAN of nobody, or of another on other ports.
        4 => frame.bytes[15] ^= rng.range(1, 255) as u8,
        // A second tag.
        5 => frame.bytes[16..18].copy_from_slice(&[0x81, 0x00]),
        // A reconfiguration packet.
        6 => {
            frame.bytes[16..18].copy_from_slice(&[0x08, 0x00]);
            frame.bytes[18] = 0x45;
            (frame.bytes[24], frame.bytes[25]) = (0x40, 0);
            frame.bytes[27] = 17;
            frame.bytes[40..42].copy_from_slice(&[0xf1, 0xf2]);
        }
        _ => {}
    }
}
