//! From layers to bytes: defaults, lengths, next-layer numbers and checksums filled in.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Content, Layer, LayerKind, PacketSpec};
use crate::checksum::Sum;
use crate::headers::{FieldSpec, Fill, HeaderSpec, bits, protocol};

/// Longest packet that is built, and longest that a capture may hold.
pub const MAX_PACKET_BYTES: usize = 262_144;

/// Why layers cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The packet as a whole is too long.
    #[error("the packet has {found} bytes, allowed are at most {MAX_PACKET_BYTES}")]
    PacketTooLong {
        /// Its length.
        found: usize,
    },
    /// A length does not fit into the field that tells it.
    #[error("`{layer}` would hold {field}={found}, the field ends at {max}; give {field} to lie")]
    LengthTooLarge {
        /// The layer.
        layer: &'static str,
        /// The field.
        field: &'static str,
        /// The length.
        found: usize,
        /// The largest value of the field.
        max: u128,
    },
    /// Padding up to a length that the packet has passed already.
    #[error("the packet has {packet} bytes before `pad`, `to` is {found}, allowed are {packet} and more")]
    PadTooShort {
        /// The length that is asked for.
        found: usize,
        /// Bytes before the padding.
        packet: usize,
    },
    /// Options longer than the header may have.
    #[error("`{layer}` has {found} bytes of options, allowed are at most {max}")]
    OptionsTooLong {
        /// The layer.
        layer: &'static str,
        /// Their length.
        found: usize,
        /// The most.
        max: usize,
    },
}

/// Where a layer lies in the packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// First byte.
    pub start: usize,
    /// Bytes of the header, or of plain content.
    pub len: usize,
}

impl PacketSpec {
    /// The packet's bytes.
    pub fn build(&self) -> Result<Vec<u8>, BuildError> {
        let (places, end) = self.places()?;
        let total = places.last().map_or(0, |p| p.start + p.len);
        let mut bytes = vec![0; total];
        for (layer, place) in self.layers.iter().zip(&places) {
            write_given(layer, &mut bytes[place.start..place.start + place.len]);
        }
        // Innermost first: an outer checksum covers the inner ones.
        for index in (0..self.layers.len()).rev() {
            self.fill(index, &places, end, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// That padding reaches to no fewer bytes than the packet has without it. What is made rather than written may
    /// ask for less, and gets no padding.
    pub(crate) fn check_padding(&self) -> Result<(), BuildError> {
        let (places, _) = self.places()?;
        for (layer, place) in self.layers.iter().zip(&places) {
            if let Some(Content::UpTo(to)) = layer.content
                && to < place.start
            {
                return Err(BuildError::PadTooShort { found: to, packet: place.start });
            }
        }
        Ok(())
    }

    /// Where each layer lies, and where the packet ends and padding begins.
    pub(crate) fn places(&self) -> Result<(Vec<Place>, usize), BuildError> {
        let mut start = 0;
        let mut end = 0;
        let mut places = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let len = match (layer.kind.header(), &layer.content) {
                (Some(header), _) => header.base + options_len(layer, header)?,
                (None, Some(content)) => content.len(start),
                (None, None) => 0,
            };
            places.push(Place { start, len });
            start += len;
            if start > MAX_PACKET_BYTES {
                return Err(BuildError::PacketTooLong { found: start });
            }
            if layer.kind != LayerKind::Pad {
                end = start;
            }
        }
        Ok((places, end))
    }

    /// Fills in the fields of one layer that were not given.
    fn fill(&self, index: usize, places: &[Place], end: usize, bytes: &mut [u8]) -> Result<(), BuildError> {
        let layer = &self.layers[index];
        let place = places[index];
        let Some(header) = layer.kind.header() else {
            return Ok(());
        };
        let next = self.layers.get(index + 1).map(|l| l.kind);
        let next = next.filter(|kind| *kind != LayerKind::Pad);
        let open = |field: &&FieldSpec| layer.given(field.name).is_none();
        for field in header.fields.iter().filter(open) {
            let value = match field.fill {
                Fill::Next => u128::from(layer.kind.number_of(next)),
                Fill::NextPort(other) => u128::from(LayerKind::port_of(next).unwrap_or(other)),
                Fill::HeaderLength(unit, less) => (place.len / unit - less) as u128,
                Fill::TotalLength => length(header, field, end - place.start)?,
                Fill::PayloadLength => length(header, field, end - place.start - place.len)?,
                _ => continue,
            };
            bits::put(&mut bytes[place.start..], field.at, field.bits, value);
        }
        // Checksums last: they cover the fields above.
        for field in header.fields.iter().filter(open) {
            let body = &bytes[place.start..end];
            let sum = match field.fill {
                Fill::HeaderSum => Sum::new().add_bytes(&body[..place.len]).checksum(),
                Fill::BodySum => Sum::new().add_bytes(body).checksum(),
                Fill::PseudoSum => self.pseudo_sum(index, places, bytes, body).unwrap_or(0),
                Fill::UdpSum => match self.pseudo_sum(index, places, bytes, body) {
                    Some(0) => 0xffff,
                    sum => sum.unwrap_or(0),
                },
                _ => continue,
            };
            bits::put(&mut bytes[place.start..], field.at, field.bits, u128::from(sum));
        }
        Ok(())
    }

    /// The checksum of a transport header with the pseudo-header of the IP header before it.
    fn pseudo_sum(&self, index: usize, places: &[Place], bytes: &[u8], body: &[u8]) -> Option<u16> {
        let protocol = match self.layers[index].kind {
            LayerKind::Tcp => protocol::TCP,
            LayerKind::Icmp6 => protocol::ICMP6,
            _ => protocol::UDP,
        };
        let before = self.layers[..index].iter().zip(places).rev();
        let (src, dst) = before.into_iter().find_map(|(layer, place)| {
            let header = &bytes[place.start..place.start + place.len];
            let addresses = |bits: usize, src: usize| {
                let read = |at| bits::get(header, at, bits);
                (read(src), read(src + bits))
            };
            match layer.kind {
                LayerKind::Ipv4 => {
                    let (src, dst) = addresses(32, 96);
                    let v4 = |a: u128| IpAddr::V4(Ipv4Addr::from(a as u32));
                    Some((v4(src), v4(dst)))
                }
                LayerKind::Ipv6 => {
                    let (src, dst) = addresses(128, 64);
                    let v6 = |a: u128| IpAddr::V6(Ipv6Addr::from(a));
                    Some((v6(src), v6(dst)))
                }
                _ => None,
            }
        })?;
        let sum = Sum::new().add_pseudo_header(src, dst, protocol, body.len() as u32);
        Some(sum.add_bytes(body).checksum())
    }
}

/// Writes constants, given fields, options and content.
fn write_given(layer: &Layer, bytes: &mut [u8]) {
    let Some(header) = layer.kind.header() else {
        if let Some(content) = &layer.content {
            // A length was reserved from the same content, so this fits exactly.
            let before = match content {
                Content::UpTo(to) => to.saturating_sub(bytes.len()),
                _ => 0,
            };
            bytes.copy_from_slice(&content.bytes(before));
        }
        return;
    };
    for field in header.fields {
        let fixed = match field.fill {
            Fill::Fixed(value) => Some(value),
            _ => None,
        };
        if let Some(value) = layer.given(field.name).or(fixed) {
            bits::put(bytes, field.at, field.bits, value);
        }
    }
    let options = layer.options.as_deref().unwrap_or(header.options_default);
    bytes[header.base..header.base + options.len()].copy_from_slice(options);
}

/// Bytes of options with their padding: header and options together fill whole units.
fn options_len(layer: &Layer, header: &'static HeaderSpec) -> Result<usize, BuildError> {
    if header.options_unit == 0 {
        return Ok(0);
    }
    let given = layer.options.as_deref().unwrap_or(header.options_default);
    if given.len() > header.options_max {
        return Err(BuildError::OptionsTooLong { layer: header.name, found: given.len(), max: header.options_max });
    }
    let whole = (header.base + given.len()).next_multiple_of(header.options_unit);
    Ok(whole - header.base)
}

fn length(header: &HeaderSpec, field: &FieldSpec, found: usize) -> Result<u128, BuildError> {
    if found as u128 > field.max() {
        return Err(BuildError::LengthTooLarge { layer: header.name, field: field.name, found, max: field.max() });
    }
    Ok(found as u128)
}
