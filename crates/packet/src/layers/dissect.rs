//! From bytes back to layers.

use super::{Content, Layer, LayerKind, PacketSpec};
use crate::headers::{FieldSpec, Fill, HeaderSpec, Malformed, bits};

/// Takes a packet apart into layers of which only what differs from the defaults is given.
///
/// Total, and exact: the layers returned build the same bytes again. What cannot be
/// understood (a header cut short, a wrong version) becomes `raw`; if even that would not
/// build the same bytes, the whole packet does.
pub fn dissect(packet: &[u8]) -> PacketSpec {
    let parts = split(packet);
    let mut spec = PacketSpec { layers: parts.iter().map(terse).collect() };
    // A field given changes the checksums that cover it, so what is left open is compared
    // again until it agrees; three rounds do, as checksums nest no deeper than they are built.
    for _ in 0..4 {
        match spec.build() {
            Ok(built) if built == packet => return spec,
            Ok(built) if built.len() == packet.len() => give_what_differs(&mut spec, &parts, &built),
            _ => break,
        }
    }
    spec.layers = parts.into_iter().map(|p| p.layer).collect();
    if spec.build().is_ok_and(|built| built == packet) {
        return spec;
    }
    PacketSpec { layers: vec![Layer::plain(LayerKind::Raw, Content::Bytes(packet.to_vec()))] }
}

/// A layer with everything given, and its bytes.
struct Part<'a> {
    layer: Layer,
    bytes: &'a [u8],
}

fn split(packet: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut end = packet.len();
    let mut ip_seen = false;
    let mut start = 0;
    let mut kind = Some(LayerKind::Eth);
    let mut rest_kind = LayerKind::Raw;
    while let Some(current) = kind {
        let Some(header) = current.header() else { break };
        let left = &packet[start..end];
        if left.is_empty() && !parts.is_empty() {
            break;
        }
        let (len, whole) = match header.length_of(left) {
            Ok(len) => (len, true),
            // The fixed part is there, but lies about itself: show its fields all the same.
            Err(Malformed::Field { field, .. }) if field != "ver" => (header.base, false),
            Err(_) => {
                rest_kind = LayerKind::Raw;
                break;
            }
        };
        parts.push(header_part(current, header, &left[..len]));
        if let (false, Some(stated)) = (ip_seen, stated_end(current, &left[..len])) {
            ip_seen = true;
            // Only a shorter packet leaves padding; a longer one was cut.
            if (len..left.len()).contains(&stated) {
                end = start + stated;
            }
        }
        start += len;
        rest_kind = if whole { LayerKind::Payload } else { LayerKind::Raw };
        kind = if whole { current.next(&left[..len]) } else { None };
    }
    if start < end || parts.is_empty() {
        parts.push(plain_part(rest_kind, &packet[start..end], packet.len()));
    }
    if end < packet.len() {
        parts.push(plain_part(LayerKind::Pad, &packet[end..], packet.len()));
    }
    parts
}

/// Where an IP packet says that it ends, from its first byte.
fn stated_end(kind: LayerKind, header: &[u8]) -> Option<usize> {
    match kind {
        LayerKind::Ipv4 => Some(bits::get(header, 16, 16) as usize),
        LayerKind::Ipv6 => Some(bits::get(header, 32, 16) as usize + 40),
        LayerKind::Arp => Some(28),
        _ => None,
    }
}

fn header_part<'a>(kind: LayerKind, header: &'static HeaderSpec, bytes: &'a [u8]) -> Part<'a> {
    let mut layer = Layer::new(kind);
    for field in header.fields {
        layer.give(field, bits::get(bytes, field.at, field.bits));
    }
    if header.options_unit != 0 {
        layer.options = Some(bytes[header.base..].to_vec());
    }
    Part { layer, bytes }
}

fn plain_part(kind: LayerKind, bytes: &[u8], total: usize) -> Part<'_> {
    let first = bytes.first().copied().unwrap_or(0);
    let same = bytes.iter().all(|b| *b == first);
    let content = if kind == LayerKind::Pad && same && first == 0 {
        Content::UpTo(total)
    } else if same && bytes.len() > 4 {
        Content::Fill { len: bytes.len(), byte: first }
    } else {
        match readable(bytes) {
            Some(text) => Content::Text(text.to_string()),
            None => Content::Bytes(bytes.to_vec()),
        }
    };
    Part { layer: Layer::plain(kind, content), bytes }
}

/// The bytes as text, if it is better read as such.
fn readable(bytes: &[u8]) -> Option<&str> {
    let plain = |b: &u8| matches!(b, b' '..=b'~' | b'\r' | b'\n' | b'\t');
    if bytes.len() < 4 || !bytes.iter().all(plain) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// The layer with only the fields that are always shown or are no default.
fn terse(part: &Part<'_>) -> Layer {
    let Some(header) = part.layer.kind.header() else {
        return part.layer.clone();
    };
    let keep = |field: &FieldSpec| {
        let differs = match field.fill {
            Fill::Fixed(default) => part.layer.given(field.name) != Some(default),
            Fill::NextPort(_) => true,
            _ => false,
        };
        differs || header.always.contains(&field.name)
    };
    let mut layer = part.layer.clone();
    layer.fields.retain(|(name, _)| header.field(name).is_some_and(keep));
    let options = &part.bytes[header.base..];
    layer.options = (options != header.options_default).then(|| options.to_vec());
    layer
}

/// Gives each field whose built value is not the packet's.
fn give_what_differs(spec: &mut PacketSpec, parts: &[Part<'_>], built: &[u8]) {
    let mut start = 0;
    for (layer, part) in spec.layers.iter_mut().zip(parts) {
        let theirs = &built[start..start + part.bytes.len()];
        let fields = layer.kind.header().map_or(&[][..], |h| h.fields);
        for field in fields {
            let actual = bits::get(part.bytes, field.at, field.bits);
            if actual != bits::get(theirs, field.at, field.bits) {
                layer.give(field, actual);
            }
        }
        // As on the wire, so that the text of equal packets is equal.
        let place = |name: &str| fields.iter().position(|f| f.name == name);
        layer.fields.sort_by_key(|(name, _)| place(name));
        start += part.bytes.len();
    }
}
