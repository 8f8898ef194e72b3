//! Packets to compare with: whole, or only in what was written.

use std::fmt;

use super::error::{NotationError, Problem};
use super::parse::{Written, parse_whole};
use crate::headers::{Fill, bits};
use crate::layers::{BuildError, LayerKind, PacketSpec};

/// What a packet is expected to be.
///
/// Without `/...` the packet is compared whole, after defaults. With it, only the fields
/// written are compared, with the numbers and lengths that tell which layers there are; what
/// follows the last layer is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The packet with its defaults filled in.
    pub bytes: Vec<u8>,
    /// The bits that count, as long as `bytes`; `None` when the packet is compared whole.
    pub mask: Option<Vec<u8>>,
    /// The layers as they were written.
    pub written: PacketSpec,
}

impl Pattern {
    /// Parses `text`, all of which must be one pattern.
    pub fn parse(text: &str) -> Result<Pattern, NotationError> {
        let written = parse_whole(text)?;
        Pattern::from_written(&written)
    }

    /// The pattern of a packet as it was written.
    pub(crate) fn from_written(written: &Written) -> Result<Pattern, NotationError> {
        let located = |error: BuildError| NotationError { span: written.span, problem: Problem::Build(error) };
        let packet = &written.packet;
        let bytes = packet.build().map_err(located)?;
        if !written.open {
            return Ok(Pattern { bytes, mask: None, written: packet.clone() });
        }
        let (places, _) = packet.places().map_err(located)?;
        let mut mask = vec![0; bytes.len()];
        let layers = &packet.layers;
        for (index, (layer, place)) in layers.iter().zip(&places).enumerate() {
            let mask = &mut mask[place.start..place.start + place.len];
            let Some(header) = layer.kind.header() else {
                mask.fill(0xff);
                continue;
            };
            for field in header.fields {
                let told = match field.fill {
                    Fill::Next => index + 1 < layers.len(),
                    Fill::NextPort(_) => {
                        let next = layers.get(index + 1).map(|l| l.kind);
                        LayerKind::port_of(next).is_some()
                    }
                    Fill::HeaderLength(..) => index + 1 < layers.len() || layer.options.is_some(),
                    Fill::Fixed(_) => field.name == "ver",
                    _ => false,
                };
                if told || layer.given(field.name).is_some() {
                    bits::put(mask, field.at, field.bits, u128::MAX);
                }
            }
            if layer.options.is_some() {
                mask[header.base..].fill(0xff);
            }
        }
        Ok(Pattern { bytes, mask: Some(mask), written: packet.clone() })
    }

    /// Whether `packet` is as expected.
    pub fn matches(&self, packet: &[u8]) -> bool {
        match &self.mask {
            None => self.bytes == packet,
            Some(mask) => {
                packet.len() >= self.bytes.len()
                    && (packet.iter().zip(&self.bytes).zip(mask))
                        .all(|((found, wanted), mask)| (found ^ wanted) & mask == 0)
            }
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = if self.mask.is_some() { "/..." } else { "" };
        write!(f, "{}{open}", self.written)
    }
}
