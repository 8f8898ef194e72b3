//! Selections and paths.

use super::codes::{code_of, of_code};
use super::known;
use crate::check::{Problem, ensure};
use crate::parser::{Alternative, Known, Parser, Path, Select, Span};
use sluice_formats::rmt::codes::Known as Code;
use sluice_formats::rmt::rows::{AlternativePart, ExtractPart, PathRow, SelectRow, VerifyPart};
use sluice_formats::row::Wide;

const KNOWN: [(Option<Known>, u8); 4] = [
    (None, Code::Zero.code()),
    (Some(Known::Constant), Code::Constant.code()),
    (Some(Known::Port), Code::Port.code()),
    (Some(Known::Length), Code::Length.code()),
];

pub(super) fn encode_select(select: &Select) -> SelectRow {
    let mut row = SelectRow { valid: true, offsets: select.offsets, ..SelectRow::default() };
    for (i, a) in select.alternatives.iter().enumerate().take(row.alternatives.len()) {
        row.alternatives[i] = AlternativePart { valid: true, value: Wide(a.value), mask: Wide(a.mask), to: a.to };
        row.leasts[i] = a.least;
    }
    row
}

pub(super) fn decode_select(row: &SelectRow) -> Select {
    let alternative =
        |(a, &least): (&AlternativePart, &u8)| Alternative { value: a.value.0, mask: a.mask.0, least, to: a.to };
    let valid = row.alternatives.iter().zip(&row.leasts).filter(|(a, _)| a.valid);
    Select { offsets: row.offsets, alternatives: valid.map(alternative).collect() }
}

pub(super) fn encode_paths(parser: &Parser) -> Vec<PathRow> {
    let row = |path| PathRow { port_numbers: parser.port_numbers, ..encode_path(path) };
    parser.paths.iter().map(row).collect()
}

fn encode_path(path: &Path) -> PathRow {
    let verify = path.verify.map(|s| VerifyPart { valid: true, start: s.start, words: s.words });
    let mut row = PathRow {
        extract: path.extract.map(|o| ExtractPart { taken: o.is_some(), offset: o.unwrap_or(0) }),
        headers: path.headers,
        least: path.least,
        verify: verify.unwrap_or_default(),
        constant: path.constant,
        port_numbers: false,
    };
    for (part, known) in row.extract.iter_mut().zip(&path.known).filter(|(part, _)| !part.taken) {
        part.offset = code_of(&KNOWN, known);
    }
    row
}

/// The paths, and whether their program has numbers of destinations.
pub(super) fn decode_paths(rows: &[PathRow]) -> Result<(Vec<Path>, bool), Problem> {
    let port_numbers = rows.iter().any(|r| r.port_numbers);
    let alike = rows.iter().all(|r| r.port_numbers == port_numbers);
    ensure(alike, "parser.paths", "port_numbers in some of them", "it in all or none")?;
    let paths = rows.iter().enumerate().map(|(i, row)| decode_path(&format!("parser.paths[{i}]"), row));
    Ok((paths.collect::<Result<_, _>>()?, port_numbers))
}

fn decode_path(at: &str, row: &PathRow) -> Result<Path, Problem> {
    let extract = std::array::from_fn(|n| row.extract[n].taken.then_some(row.extract[n].offset));
    let verify = row.verify.valid.then_some(Span { start: row.verify.start, words: row.verify.words });
    let mut path = Path { extract, headers: row.headers, least: row.least, verify, ..Path::default() };
    path.constant = row.constant;
    for (i, part) in row.extract[..8].iter().enumerate().filter(|(_, part)| !part.taken) {
        path.known[i] = known(&format!("{at}.known[{i}]"), part.offset, of_code(&KNOWN, part.offset))?;
    }
    Ok(path)
}
