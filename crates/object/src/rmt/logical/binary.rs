//! The binary form of logical tables: lists of u32 count and items, fields in their order.

use super::{
    Logical, LogicalAction, LogicalCall, LogicalCase, LogicalEntry, LogicalKey, LogicalKind, LogicalLeads,
    LogicalLookup, LogicalMatch, LogicalMove, LogicalOutcome, LogicalParameter, LogicalPiece, LogicalTable,
    LogicalValue,
};
use crate::binary::read_flags;
use crate::bytes::{Reader, Writer, wrong};
use crate::error::ObjectError;
use crate::rmt::binary::rising;
use crate::rmt::part::RmtKey;
use sluice_formats::row::Wide;

const CONSTANT: u8 = 1;
const DEFAULT_CONSTANT: u8 = 2;
const COUNTED: u8 = 4;
const RESERVED: u8 = 8;
const DEFAULT_ONLY: u8 = 1;
const TABLE_ONLY: u8 = 2;
const RANGE: u8 = 1;
const LOOKS: u8 = 1;
const HASHES: u8 = 2;
const HIT: u8 = 1;
/// A piece of a key that is known, in the place of a bit's number.
const KNOWN: u8 = 0xff;

const KINDS: [LogicalKind; 5] =
    [LogicalKind::Exact, LogicalKind::Lpm, LogicalKind::Ternary, LogicalKind::Range, LogicalKind::Optional];

/// Fewest bytes of anything in a list.
const LEAST: usize = 1;
const VALUE_BYTES: usize = 25;

fn list<T>(w: &mut Writer, all: &[T], write: impl Fn(&mut Writer, &T)) {
    w.u32(all.len() as u32);
    all.iter().for_each(|one| write(w, one));
}

fn read_list<T>(
    r: &mut Reader,
    least: usize,
    what: &str,
    read: impl Fn(&mut Reader) -> Result<T, ObjectError>,
) -> Result<Vec<T>, ObjectError> {
    (0..r.count(least, what)?).map(|_| read(r)).collect()
}

fn flags(w: &mut Writer, all: impl IntoIterator<Item = (bool, u8)>) {
    w.u8(all.into_iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum());
}

pub(crate) fn write_logical(w: &mut Writer, logical: &Logical) {
    list(w, &logical.tables, write_table);
    w.u32(logical.stages.len() as u32);
    for (number, cases) in &logical.stages {
        w.u8(*number);
        list(w, cases, |w, case| match case {
            LogicalCase::Leads(leads) => {
                w.u8(0);
                write_leads(w, leads);
            }
            LogicalCase::Looks(lookup) => {
                w.u8(LOOKS);
                write_lookup(w, lookup);
            }
            LogicalCase::Hashes(bits) => {
                w.u8(HASHES);
                w.put(&bits.0.0);
            }
        });
    }
}

fn write_table(w: &mut Writer, table: &LogicalTable) {
    w.name(&table.name);
    w.name(&table.alias);
    list(w, &table.keys, |w, key| {
        w.name(&key.name);
        w.u8(KINDS.iter().position(|kind| *kind == key.kind).unwrap_or(0) as u8);
        w.u16(key.bits);
    });
    list(w, &table.actions, |w, action| {
        w.name(&action.name);
        list(w, &action.parameters, |w, parameter| {
            w.name(&parameter.name);
            w.u16(parameter.bits);
        });
        flags(w, [(action.default_only, DEFAULT_ONLY), (action.table_only, TABLE_ONLY)]);
    });
    w.u32(table.size);
    let constants = [(table.constant, CONSTANT), (table.default_constant, DEFAULT_CONSTANT)];
    let others = [(table.counted, COUNTED), (table.reserved.is_some(), RESERVED)];
    flags(w, constants.into_iter().chain(others));
    table.reserved.into_iter().for_each(|reserved| w.u32(reserved));
    list(w, &table.entries, |w, entry| {
        list(w, &entry.matches, |w, found| {
            let (kind, one, other) = match found {
                LogicalMatch::Masked { value, mask } => (0, value, mask),
                LogicalMatch::Range { low, high } => (RANGE, low, high),
            };
            w.u8(kind);
            w.put(&one.0.0);
            w.put(&other.0.0);
        });
        write_call(w, &entry.call);
    });
    write_call(w, &table.default);
}

fn write_call(w: &mut Writer, call: &LogicalCall) {
    w.u16(call.action);
    list(w, &call.values, |w, value| w.put(&value.0.0));
}

fn write_leads(w: &mut Writer, leads: &LogicalLeads) {
    w.put(&leads.value.0);
    w.put(&leads.mask.0);
    w.u16(leads.action);
    w.put(&leads.data.0);
    list(w, &leads.moves, |w, to| {
        [to.parameter, to.low, to.bits].into_iter().for_each(|n| w.u16(n));
        w.u8(to.byte);
        w.u8(to.bit);
    });
}

fn write_lookup(w: &mut Writer, lookup: &LogicalLookup) {
    w.put(&lookup.value.0);
    w.put(&lookup.mask.0);
    w.u16(lookup.table);
    list(w, &lookup.keys, |w, pieces| {
        list(w, pieces, |w, piece| {
            w.u16(piece.low);
            w.u16(piece.bits);
            w.u8(piece.at.unwrap_or(KNOWN));
            w.u64(piece.known);
        });
    });
    list(w, &lookup.outcomes, |w, outcome| {
        w.u8(if outcome.hit { HIT } else { 0 });
        w.u16(outcome.action);
        list(w, &outcome.leads, write_leads);
    });
}

pub(crate) fn read_logical(r: &mut Reader) -> Result<Logical, ObjectError> {
    let tables = read_list(r, LEAST, "tables", read_table)?;
    let stages = rising(r, LEAST, "stages", |r| {
        let number = r.u8("stage")?;
        let cases = read_list(r, LEAST, "cases", |r| {
            let at = r.at();
            match r.u8("kind of a case")? {
                0 => Ok(LogicalCase::Leads(read_leads(r)?)),
                LOOKS => Ok(LogicalCase::Looks(read_lookup(r)?)),
                HASHES => Ok(LogicalCase::Hashes(read_value(r)?)),
                kind => Err(wrong(at, format!("kind {kind}"), "kinds of cases 0 to 2")),
            }
        })?;
        Ok((number, cases))
    })?;
    Ok(Logical { tables, stages })
}

fn read_table(r: &mut Reader) -> Result<LogicalTable, ObjectError> {
    let (name, alias) = (r.name("name of a table")?, r.name("alias of a table")?);
    let keys = read_list(r, LEAST, "keys", |r| {
        let name = r.name("name of a key")?;
        let at = r.at();
        let kind = r.u8("kind of a key")?;
        let known = KINDS.get(usize::from(kind)).copied();
        let kind = known.ok_or_else(|| wrong(at, format!("kind {kind}"), "kinds of keys 0 to 4"))?;
        Ok(LogicalKey { name, kind, bits: r.u16("bits of a key")? })
    })?;
    let actions = read_list(r, LEAST, "actions", |r| {
        let name = r.name("name of an action")?;
        let parameters = read_list(r, LEAST, "parameters", |r| {
            Ok(LogicalParameter { name: r.name("name of a parameter")?, bits: r.u16("bits of a parameter")? })
        })?;
        let flags = read_flags(r, DEFAULT_ONLY | TABLE_ONLY, "flags of an action")?;
        let (default_only, table_only) = (flags & DEFAULT_ONLY != 0, flags & TABLE_ONLY != 0);
        Ok(LogicalAction { name, parameters, default_only, table_only })
    })?;
    let size = r.u32("size of a table")?;
    let flags = read_flags(r, CONSTANT | DEFAULT_CONSTANT | COUNTED | RESERVED, "flags of a table")?;
    let (constant, default_constant) = (flags & CONSTANT != 0, flags & DEFAULT_CONSTANT != 0);
    let counted = flags & COUNTED != 0;
    let reserved = if flags & RESERVED != 0 { Some(r.u32("reserved entries of a table")?) } else { None };
    let entries = read_list(r, LEAST, "entries", |r| {
        let matches = read_list(r, 2 * VALUE_BYTES, "values", |r| {
            let kind = read_flags(r, RANGE, "kind of a value")?;
            let (one, other) = (read_value(r)?, read_value(r)?);
            Ok(match kind {
                RANGE => LogicalMatch::Range { low: one, high: other },
                _ => LogicalMatch::Masked { value: one, mask: other },
            })
        })?;
        Ok(LogicalEntry { matches, call: read_call(r)? })
    })?;
    let default = read_call(r)?;
    Ok(LogicalTable {
        name,
        alias,
        keys,
        actions,
        size,
        reserved,
        constant,
        default_constant,
        counted,
        entries,
        default,
    })
}

fn read_value(r: &mut Reader) -> Result<LogicalValue, ObjectError> {
    read_key(r).map(LogicalValue)
}

fn read_key(r: &mut Reader) -> Result<RmtKey, ObjectError> {
    r.array("value").map(Wide)
}

fn read_call(r: &mut Reader) -> Result<LogicalCall, ObjectError> {
    Ok(LogicalCall { action: r.u16("action")?, values: read_list(r, VALUE_BYTES, "values", read_value)? })
}

fn read_leads(r: &mut Reader) -> Result<LogicalLeads, ObjectError> {
    let (value, mask) = (read_key(r)?, read_key(r)?);
    let action = r.u16("action")?;
    let data = r.array("action data").map(Wide)?;
    let moves = read_list(r, LEAST, "moves", |r| {
        let [parameter, low, bits] = [r.u16("parameter")?, r.u16("lowest bit")?, r.u16("bits")?];
        Ok(LogicalMove { parameter, low, bits, byte: r.u8("byte")?, bit: r.u8("bit")? })
    })?;
    Ok(LogicalLeads { value, mask, action, data, moves })
}

fn read_lookup(r: &mut Reader) -> Result<LogicalLookup, ObjectError> {
    let (value, mask) = (read_key(r)?, read_key(r)?);
    let table = r.u16("table")?;
    let keys = read_list(r, LEAST, "keys", |r| {
        read_list(r, LEAST, "pieces of a key", |r| {
            let (low, bits) = (r.u16("lowest bit")?, r.u16("bits")?);
            let at = Some(r.u8("bit of the stage's key")?).filter(|at| *at != KNOWN);
            Ok(LogicalPiece { low, bits, at, known: r.u64("known bits")? })
        })
    })?;
    let outcomes = read_list(r, LEAST, "outcomes", |r| {
        let hit = read_flags(r, HIT, "flags of an outcome")? & HIT != 0;
        Ok(LogicalOutcome { hit, action: r.u16("action")?, leads: read_list(r, LEAST, "cases", read_leads)? })
    })?;
    Ok(LogicalLookup { value, mask, table, keys, outcomes })
}
