//! The binary form of an rmt part. A row is its words, as on the configuration ring.

use super::logical::{read_logical, write_logical};
use super::part::{RmtData, RmtExact, RmtGroup, RmtPart, RmtStage, RmtTernary};
use crate::binary::read_flags;
use crate::bytes::{Reader, Writer, wrong};
use crate::error::ObjectError;
use crate::rows::{bytes, read_row, read_rows, write_row, write_rows};
use sluice_formats::rmt::rows::{ActionRow, DeparseRow, ExactRow, PathRow, SelectRow, TernaryRow};
use sluice_formats::row::Wide;
use std::collections::BTreeMap;
use std::fmt::Display;

const LONGEST: u8 = 1;
const KEEP_STATE: u8 = 1;
const SYSTEM: u8 = 2;
const WITH_LOGICAL: u8 = 4;

/// Fewest bytes of a group, a stage, a shared container, a list.
const GROUP_BYTES: usize = 19;
const STAGE_BYTES: usize = 102;
const SHARED_BYTES: usize = 2;
const COUNT_BYTES: usize = 4;

pub(crate) fn write_rmt(w: &mut Writer, part: &RmtPart) {
    write_row(w, &part.first);
    write_rows(w, &part.nodes);
    write_rows(w, &part.paths);
    write_row(w, &part.patterns);
    w.u32(part.deparse.len() as u32);
    part.deparse.iter().for_each(|beats| write_rows(w, beats));
    w.u32(part.stages.len() as u32);
    for (number, stage) in &part.stages {
        w.u8(*number);
        write_stage(w, stage);
    }
    w.u32(part.groups.len() as u32);
    for (number, group) in &part.groups {
        w.u16(*number);
        w.u8(group.destinations);
        group.tags.iter().for_each(|tag| w.u16(*tag));
    }
    w.u32(part.shared.len() as u32);
    for (name, container) in &part.shared {
        w.name(name);
        w.u8(*container);
    }
    let flags = [(part.keep_state, KEEP_STATE), (part.system, SYSTEM), (part.logical.is_some(), WITH_LOGICAL)];
    w.u8(flags.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum());
    if let Some(logical) = &part.logical {
        write_logical(w, logical);
    }
}

fn write_stage(w: &mut Writer, stage: &RmtStage) {
    w.u8(if stage.longest { LONGEST } else { 0 });
    for n in [stage.pages, stage.numbers, stage.exact_room, stage.ternary_room] {
        w.u16(n);
    }
    write_row(w, &stage.key);
    w.put(&stage.default_data.0);
    w.u32(stage.exact.len() as u32);
    for entry in &stage.exact {
        write_row(w, &entry.row);
        w.put(&entry.data.0);
    }
    w.u32(stage.ternary.len() as u32);
    for entry in &stage.ternary {
        write_row(w, &entry.row);
        w.put(&entry.data.0);
    }
    write_rows(w, &stage.actions);
}

pub(crate) fn read_rmt(r: &mut Reader) -> Result<RmtPart, ObjectError> {
    let first = read_row(r)?;
    let nodes = read_rows::<SelectRow>(r)?;
    let paths = read_rows::<PathRow>(r)?;
    let patterns = read_row(r)?;
    let deparse = (0..r.count(COUNT_BYTES, "deparse rows")?).map(|_| read_rows::<DeparseRow>(r));
    let deparse = deparse.collect::<Result<_, _>>()?;
    let stages = rising(r, STAGE_BYTES, "stages", |r| Ok((r.u8("stage")?, read_stage(r)?)))?;
    let groups = rising(r, GROUP_BYTES, "groups", |r| {
        let (number, destinations) = (r.u16("group")?, r.u8("destinations")?);
        let mut tags = [0; 8];
        for tag in &mut tags {
            *tag = r.u16("tag")?;
        }
        Ok((number, RmtGroup { destinations, tags }))
    })?;
    let shared = rising(r, SHARED_BYTES, "shared containers", |r| Ok((r.name("name")?, r.u8("container")?)))?;
    let flags = read_flags(r, KEEP_STATE | SYSTEM | WITH_LOGICAL, "flags")?;
    let (keep_state, system) = (flags & KEEP_STATE != 0, flags & SYSTEM != 0);
    let logical = if flags & WITH_LOGICAL != 0 { Some(Box::new(read_logical(r)?)) } else { None };
    Ok(RmtPart { first, nodes, paths, patterns, deparse, stages, groups, shared, keep_state, system, logical })
}

fn read_stage(r: &mut Reader) -> Result<RmtStage, ObjectError> {
    let longest = read_flags(r, LONGEST, "flags of a stage")? & LONGEST != 0;
    let [pages, numbers, exact_room, ternary_room] =
        [r.u16("pages")?, r.u16("numbers")?, r.u16("room for exact entries")?, r.u16("room for ternary entries")?];
    let key = read_row(r)?;
    let default_data = read_data(r)?;
    let exact = (0..r.count(bytes::<ExactRow>() + 16, "exact entries")?)
        .map(|_| Ok(RmtExact { row: read_row(r)?, data: read_data(r)? }))
        .collect::<Result<_, _>>()?;
    let ternary = (0..r.count(bytes::<TernaryRow>() + 16, "ternary entries")?)
        .map(|_| Ok(RmtTernary { row: read_row(r)?, data: read_data(r)? }))
        .collect::<Result<_, _>>()?;
    let actions = read_rows::<ActionRow>(r)?;
    Ok(RmtStage { key, default_data, exact, ternary, longest, actions, pages, numbers, exact_room, ternary_room })
}

fn read_data(r: &mut Reader) -> Result<RmtData, ObjectError> {
    r.array("action data").map(Wide)
}

/// A map whose keys stand in rising order.
pub(super) fn rising<K: Ord + Display, V>(
    r: &mut Reader,
    least: usize,
    what: &str,
    mut read: impl FnMut(&mut Reader) -> Result<(K, V), ObjectError>,
) -> Result<BTreeMap<K, V>, ObjectError> {
    let mut all = BTreeMap::new();
    for _ in 0..r.count(least, what)? {
        let at = r.at();
        let (key, value) = read(r)?;
        if all.last_key_value().is_some_and(|(last, _)| *last >= key) {
            return Err(wrong(at, key, format!("{what} in rising order, each once")));
        }
        all.insert(key, value);
    }
    Ok(all)
}
