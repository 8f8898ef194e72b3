//! What logical tables may be: every position is there, every value fits, and the rows of the stages are those of the entries.

use super::{
    Logical, LogicalCall, LogicalCase, LogicalEntry, LogicalKind, LogicalLeads, LogicalLookup, LogicalMatch,
    LogicalMove, LogicalPiece, LogicalTable, LogicalValue,
};
use crate::error::{ObjectError, bad};
use crate::rmt::check::inside;
use crate::rmt::part::{RmtPart, RmtStage};
use crate::rows::{at_most, below};
use sluice_formats::rmt::target::{DATA, KEY_BITS};
use std::collections::HashSet;

/// Widest key or parameter.
const MOST_BITS: u16 = 200;
/// Widest key that is compared with a range.
const MOST_RANGE: u16 = 64;
/// Bits of an entry's position.
const POSITION_BITS: u16 = 16;
/// Most bytes of a name.
const MOST_NAME: usize = 255;
/// Most tables, and most of what a table has of anything.
const MOST_TABLES: usize = 1024;
const MOST_OF_TABLE: usize = 1 << 15;

impl Logical {
    /// Refuses what no logical tables of this part may be.
    pub(in crate::rmt) fn check(&self, part: &RmtPart) -> Result<(), ObjectError> {
        let at = "rmt.logical";
        at_most(&format!("{at}.tables"), self.tables.len(), MOST_TABLES)?;
        let mut names = HashSet::new();
        for (i, table) in self.tables.iter().enumerate() {
            let at = format!("{at}.tables[{i}]");
            table.check(&at)?;
            if !names.insert(&table.name) {
                return Err(bad(format!("{at}.name"), format!("`{}` again", table.name), "each name once"));
            }
        }
        for (number, cases) in &self.stages {
            let at = format!("{at}.stages.{number}");
            let Some(stage) = part.stages.get(number) else {
                return Err(bad(at, number, "stages that the program does something in"));
            };
            for (i, case) in cases.iter().enumerate() {
                let at = format!("{at}[{i}]");
                match case {
                    LogicalCase::Leads(leads) => leads.check(&at, stage, &[])?,
                    LogicalCase::Looks(lookup) => lookup.check(&at, &self.tables, stage)?,
                    LogicalCase::Hashes(bits) => fits(&at, bits, KEY_BITS)?,
                }
            }
        }
        let rooms = self.rooms()?;
        for (number, stage) in part.stages.iter().filter(|(number, _)| rooms.contains_key(number)) {
            let mut meant = stage.clone();
            meant.take(&self.rows(*number)?, &rooms[number]);
            meant.exact_room = stage.exact_room;
            meant.ternary_room = stage.ternary_room;
            if meant != *stage {
                let found = "rows other than those of the tables' entries";
                return Err(bad(
                    format!("rmt.stages.{number}"),
                    found,
                    format!("those that {at}.stages.{number} gives"),
                ));
            }
        }
        Ok(())
    }
}

impl LogicalTable {
    fn check(&self, at: &str) -> Result<(), ObjectError> {
        name(&format!("{at}.name"), &self.name)?;
        name(&format!("{at}.alias"), &self.alias)?;
        if !self.is_named(&self.alias) {
            let found = format!("`{}`", self.alias);
            return Err(bad(format!("{at}.alias"), found, format!("an end of `{}` behind a dot", self.name)));
        }
        at_most(&format!("{at}.keys"), self.keys.len(), MOST_OF_TABLE)?;
        at_most(&format!("{at}.actions"), self.actions.len(), MOST_OF_TABLE)?;
        at_most(&format!("{at}.entries"), self.entries.len(), MOST_OF_TABLE)?;
        at_most(&format!("{at}.reserved"), self.reserved.unwrap_or(0) as usize, MOST_OF_TABLE)?;
        for (i, key) in self.keys.iter().enumerate() {
            let at = format!("{at}.keys[{i}]");
            name(&format!("{at}.name"), &key.name)?;
            let most = if key.kind == LogicalKind::Range { MOST_RANGE } else { MOST_BITS };
            width(&at, key.bits, most)?;
        }
        for (i, action) in self.actions.iter().enumerate() {
            let at = format!("{at}.actions[{i}]");
            name(&format!("{at}.name"), &action.name)?;
            for (i, parameter) in action.parameters.iter().enumerate() {
                let at = format!("{at}.parameters[{i}]");
                name(&format!("{at}.name"), &parameter.name)?;
                width(&at, parameter.bits, MOST_BITS)?;
            }
        }
        for (i, entry) in self.entries.iter().enumerate() {
            self.check_entry(&format!("{at}.entries[{i}]"), entry)?;
        }
        self.check_call(&format!("{at}.default"), &self.default)
    }

    pub(crate) fn check_entry(&self, at: &str, entry: &LogicalEntry) -> Result<(), ObjectError> {
        if entry.matches.len() != self.keys.len() {
            let found = format!("{} values", entry.matches.len());
            return Err(bad(format!("{at}.matches"), found, format!("{}, one a key", self.keys.len())));
        }
        for (i, (found, key)) in entry.matches.iter().zip(&self.keys).enumerate() {
            let at = format!("{at}.matches[{i}]");
            let bits = u32::from(key.bits);
            match found {
                LogicalMatch::Masked { value, mask } => {
                    fits(&at, mask, bits)?;
                    if !inside(&value.0, &mask.0) {
                        return Err(bad(at, "bits that do not count", "bits within the mask"));
                    }
                    let is_whole = matches!(key.kind, LogicalKind::Exact | LogicalKind::Optional);
                    if is_whole && *mask != LogicalValue::ones(bits) && !mask.is_zero() {
                        return Err(bad(at, "some bits of an exact or optional key", "all of them, or none for any"));
                    }
                }
                LogicalMatch::Range { .. } if key.kind != LogicalKind::Range => {
                    return Err(bad(at, "a range", "a value and a mask: the key is of another kind"));
                }
                LogicalMatch::Range { low, high } => {
                    fits(&at, low, bits)?;
                    fits(&at, high, bits)?;
                }
            }
        }
        self.check_call(at, &entry.call)
    }

    pub(crate) fn check_call(&self, at: &str, call: &LogicalCall) -> Result<(), ObjectError> {
        below(&format!("{at}.action"), call.action.into(), self.actions.len())?;
        let action = &self.actions[usize::from(call.action)];
        if call.values.len() != action.parameters.len() {
            let found = format!("{} values", call.values.len());
            let allowed = format!("{}, one a parameter of `{}`", action.parameters.len(), action.name);
            return Err(bad(format!("{at}.values"), found, allowed));
        }
        let mut pairs = call.values.iter().zip(&action.parameters).enumerate();
        pairs.try_for_each(|(i, (value, parameter))| fits(&format!("{at}.values[{i}]"), value, parameter.bits.into()))
    }
}

impl LogicalLookup {
    fn check(&self, at: &str, tables: &[LogicalTable], stage: &RmtStage) -> Result<(), ObjectError> {
        asked(at, &self.value, &self.mask)?;
        below(&format!("{at}.table"), self.table.into(), tables.len())?;
        let table = &tables[usize::from(self.table)];
        if self.keys.len() != table.keys.len() {
            let found = format!("{} keys", self.keys.len());
            return Err(bad(format!("{at}.keys"), found, format!("{}, those of the table", table.keys.len())));
        }
        for (i, (pieces, key)) in self.keys.iter().zip(&table.keys).enumerate() {
            let at = format!("{at}.keys[{i}]");
            at_most(&at, pieces.len(), MOST_BITS.into())?;
            pieces.iter().try_for_each(|piece| piece.check(&at, key.bits))?;
        }
        at_most(&format!("{at}.outcomes"), self.outcomes.len(), 2 * table.actions.len())?;
        for (i, outcome) in self.outcomes.iter().enumerate() {
            let at = format!("{at}.outcomes[{i}]");
            below(&format!("{at}.action"), outcome.action.into(), table.actions.len())?;
            let action = &table.actions[usize::from(outcome.action)];
            let mut parameters: Vec<u16> = action.parameters.iter().map(|p| p.bits).collect();
            if outcome.hit {
                parameters.push(POSITION_BITS);
            }
            outcome.leads.iter().try_for_each(|leads| leads.check(&at, stage, &parameters))?;
        }
        Ok(())
    }
}

impl LogicalPiece {
    fn check(&self, at: &str, bits: u16) -> Result<(), ObjectError> {
        part_of(at, self.low, self.bits, bits)?;
        match self.at {
            Some(first) if u32::from(first) + u32::from(self.bits) > KEY_BITS => {
                Err(bad(at, format!("{} bits from {first} on", self.bits), format!("bits below {KEY_BITS}")))
            }
            Some(_) if self.known != 0 => Err(bad(at, "a place and a value", "one of them")),
            None if self.bits > 64 => Err(bad(at, format!("{} known bits", self.bits), "at most 64")),
            _ => Ok(()),
        }
    }
}

impl LogicalLeads {
    fn check(&self, at: &str, stage: &RmtStage, parameters: &[u16]) -> Result<(), ObjectError> {
        asked(at, &self.value, &self.mask)?;
        below(&format!("{at}.action"), self.action.into(), stage.actions.len())?;
        at_most(&format!("{at}.moves"), self.moves.len(), 8 * DATA)?;
        for (i, to) in self.moves.iter().enumerate() {
            let at = format!("{at}.moves[{i}]");
            let LogicalMove { parameter, low, bits, byte, bit } = *to;
            below(&format!("{at}.parameter"), parameter.into(), parameters.len())?;
            part_of(&at, low, bits, parameters[usize::from(parameter)])?;
            below(&format!("{at}.byte"), byte.into(), DATA)?;
            below(&format!("{at}.bit"), bit.into(), 8)?;
            if (u32::from(bit) + u32::from(bits) - 1) / 8 > u32::from(byte) {
                return Err(bad(at, format!("{bits} bits up from byte {byte}"), "bits within the data"));
            }
        }
        Ok(())
    }
}

impl LogicalValue {
    /// Whether no bit is set.
    pub fn is_zero(&self) -> bool {
        self.0.0.iter().all(|byte| *byte == 0)
    }
}

fn name(at: &str, name: &str) -> Result<(), ObjectError> {
    if name.is_empty() || name.len() > MOST_NAME || name.chars().any(char::is_control) {
        let shown: String = name.chars().take(40).collect();
        let allowed = format!("1 to {MOST_NAME} bytes of text");
        return Err(bad(at, format!("`{}`", shown.escape_default()), allowed));
    }
    Ok(())
}

fn width(at: &str, bits: u16, most: u16) -> Result<(), ObjectError> {
    if (1..=most).contains(&bits) { Ok(()) } else { Err(bad(at, format!("{bits} bits"), format!("1 to {most}"))) }
}

/// Refuses bits that are not there, and none.
fn part_of(at: &str, low: u16, bits: u16, all: u16) -> Result<(), ObjectError> {
    match bits > 0 && low.checked_add(bits).is_some_and(|end| end <= all) {
        true => Ok(()),
        false => Err(bad(at, format!("{bits} bits from {low} on"), format!("at least one, below {all}"))),
    }
}

fn fits(at: &str, value: &LogicalValue, bits: u32) -> Result<(), ObjectError> {
    match inside(&value.0, &LogicalValue::ones(bits).0) {
        true => Ok(()),
        false => Err(bad(at, "a wider value", format!("{bits} bits"))),
    }
}

fn asked(at: &str, value: &crate::rmt::part::RmtKey, mask: &crate::rmt::part::RmtKey) -> Result<(), ObjectError> {
    if !inside(value, mask) || !inside(mask, &LogicalValue::ones(KEY_BITS).0) {
        return Err(bad(at, "bits that are not there", format!("a value within its mask, below bit {KEY_BITS}")));
    }
    Ok(())
}
