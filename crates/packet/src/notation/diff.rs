//! How two packets differ, layer by layer, in the notation.

use super::value;
use crate::layers::{Layer, dissect};

/// Describes how `found` differs from `expected`: one line a layer or field. Empty when they
/// are equal.
pub fn diff(expected: &[u8], found: &[u8]) -> String {
    if expected == found {
        return String::new();
    }
    let mut lines = Vec::new();
    if expected.len() != found.len() {
        lines.push(format!("length: expected {}, found {}", expected.len(), found.len()));
    }
    let (wanted, got) = (dissect(expected), dissect(found));
    let layers = wanted.layers.len().max(got.layers.len());
    for index in 0..layers {
        match (wanted.layers.get(index), got.layers.get(index)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) if a.kind == b.kind && a.kind.header().is_some() => {
                fields(a, b, &mut lines);
            }
            (a, b) => {
                let show = |l: Option<&Layer>| l.map_or("nothing".to_string(), shorten);
                lines.push(format!("expected {}, found {}", show(a), show(b)));
            }
        }
    }
    let common = expected.iter().zip(found).position(|(a, b)| a != b);
    let first = common.unwrap_or(expected.len().min(found.len()));
    lines.push(format!("first difference at byte {first}"));
    lines.join("\n")
}

fn fields(expected: &Layer, found: &Layer, lines: &mut Vec<String>) {
    let header = expected.kind.header().map_or(&[][..], |h| h.fields);
    for field in header {
        let (a, b) = (expected.given(field.name), found.given(field.name));
        if a != b {
            // A field that neither needs nor holds anything unusual is not written out.
            let show = |v: Option<u128>| v.map_or("as computed".into(), |v| value::write(field, v));
            let name = format!("{}.{}", expected.kind.name(), field.name);
            lines.push(format!("{name}: expected {}, found {}", show(a), show(b)));
        }
    }
    if expected.options != found.options {
        let show = |o: &Option<Vec<u8>>| value::write_hex(o.as_deref().unwrap_or_default());
        let (a, b) = (show(&expected.options), show(&found.options));
        lines.push(format!("{}.opts: expected {a}, found {b}", expected.kind.name()));
    }
}

fn shorten(layer: &Layer) -> String {
    const LONGEST: usize = 100;
    let text = layer.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}
