//! Selections and paths.

use crate::parser::{Alternative, Path, Select, Span};
use sluice_formats::rmt::rows::{AlternativePart, ExtractPart, PathRow, SelectRow, VerifyPart};
use sluice_formats::row::Wide;

pub(super) fn encode_select(select: &Select) -> SelectRow {
    let mut row = SelectRow { valid: true, offsets: select.offsets, ..SelectRow::default() };
    for (part, a) in row.alternatives.iter_mut().zip(&select.alternatives) {
        *part = AlternativePart { valid: true, value: Wide(a.value), mask: Wide(a.mask), to: a.to };
    }
    row
}

pub(super) fn decode_select(row: &SelectRow) -> Select {
    let alternative = |a: &AlternativePart| Alternative { value: a.value.0, mask: a.mask.0, to: a.to };
    let alternatives = row.alternatives.iter().filter(|a| a.valid).map(alternative).collect();
    Select { offsets: row.offsets, alternatives }
}

pub(super) fn encode_path(path: &Path) -> PathRow {
    let verify = path.verify.map(|s| VerifyPart { valid: true, start: s.start, words: s.words });
    PathRow {
        extract: path.extract.map(|o| ExtractPart { taken: o.is_some(), offset: o.unwrap_or(0) }),
        headers: path.headers,
        least: path.least,
        verify: verify.unwrap_or_default(),
    }
}

pub(super) fn decode_path(row: &PathRow) -> Path {
    let extract = std::array::from_fn(|n| row.extract[n].taken.then_some(row.extract[n].offset));
    let verify = row.verify.valid.then_some(Span { start: row.verify.start, words: row.verify.words });
    Path { extract, headers: row.headers, least: row.least, verify }
}
