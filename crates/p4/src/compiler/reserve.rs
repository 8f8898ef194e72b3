//! Entries to come: how many of each table rows are reserved for.

use crate::Reference;
use crate::compiler::compile::Compiled;
use crate::compiler::middle::RefusalKind;
use crate::error::P4Errors;
use crate::front::source::Span;
use crate::front::warn::{P4Warning, Warned};
use sluice_formats::rmt::target::NUMBERS;
use sluice_object::linker::spaces::Region;
use sluice_object::rmt::{Logical, LogicalRoom, LogicalTable};
use sluice_rmt::Role;
use std::collections::BTreeMap;

/// Tenants that each stage is reserved for in equal parts, where no program is alone.
const TENANT_PARTS: u32 = 4;

/// A table that may get more entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Name in the source, with the control's.
    pub table: String,
    /// Entries that the source asks for; 0 where it says nothing.
    pub size: u32,
    /// Entries that rows are reserved for, those that are there among them.
    pub reserved: u32,
    /// It is said how many.
    pub said: bool,
    /// Where that is less than it asks for: what an entry takes, and of what there is no more.
    pub why: Option<String>,
}

impl Compiled {
    /// Tables that may get more entries, with what they ask for (0 if nothing), and what there is room for.
    pub fn reservations(&self, entries: &Reference) -> Result<Vec<Reservation>, P4Errors> {
        let logical = self.reserved(entries)?;
        let share = self.part(self.parts());
        let of = |(at, table): (usize, &LogicalTable)| {
            let (reserved, size) = (table.reserved?, table.size);
            let why = if size > reserved { logical.short(at, &|_| share) } else { None };
            let why = why.map(|why| why + &self.lines_of(at));
            Some(Reservation { reserved, table: table.name.clone(), size, said: self.is_said(table), why })
        };
        Ok(logical.tables.iter().enumerate().filter_map(of).collect())
    }

    /// What of each stage is reserved for the program.
    pub(super) fn share(&self) -> LogicalRoom {
        self.part(self.parts())
    }

    /// In how many parts each stage is reserved.
    fn parts(&self) -> u32 {
        if self.role == Role::Tenant { TENANT_PARTS } else { 1 }
    }

    /// One of so many parts of a stage.
    fn part(&self, parts: u32) -> LogicalRoom {
        let table_bits = self.target.sets().ilog2();
        // Ternary rows are there twice, for a replacement while packets go on; numbers once.
        let bits = table_bits.saturating_sub(parts.ilog2());
        let fits = |entries: &u32| Region::bits_for(*entries, table_bits).is_some_and(|found| found <= bits);
        let exact = (0..=Region::most_entries(table_bits)).rev().find(fits).unwrap_or(0) as usize;
        let parts = parts as usize;
        LogicalRoom { exact, ternary: self.target.ternary / 2 / parts, numbers: NUMBERS / parts }
    }

    /// Warnings of tables for which rows of less than a tenth of what they ask for are reserved.
    pub fn small_tables(&self, entries: &Reference) -> Result<Vec<P4Warning>, P4Errors> {
        let code = &entries.switch.code;
        let warning = |r: Reservation| {
            let at = code.tables.iter().position(|table| *table.name == *r.table)?;
            let (reserved, size) = (r.reserved.to_string(), r.size.to_string());
            let warned = Warned::SmallTable { table: r.table, reserved, size };
            Some(P4Warning::new(code.told.tables.get(at)?.span, warned, &self.sources))
        };
        let all = self.reservations(entries)?.into_iter();
        Ok(all.filter(|r| !r.said && u64::from(r.reserved) * 10 < u64::from(r.size)).filter_map(warning).collect())
    }

    /// The same, with rows reserved for so many entries of these tables, by their names or the ends of them; for the others as always.
    #[must_use]
    pub fn reserving(mut self, said: &BTreeMap<String, u32>) -> Self {
        self.said = said.clone();
        self
    }

    /// Tables with their entries, and rows that are reserved for more: as many as is said, otherwise of each stage a tenant's part, or all of it.
    pub(super) fn reserved(&self, entries: &Reference) -> Result<Logical, P4Errors> {
        let mut tables = self.tables(entries)?;
        let (share, all) = (self.part(self.parts()), self.part(1));
        self.say(&mut tables, &all, entries)?;
        tables.reserve(&share, &all).map_err(|error| self.unfit(&error.to_string()))?;
        Ok(tables)
    }

    fn is_said(&self, table: &LogicalTable) -> bool {
        self.said.keys().any(|name| table.is_named(name))
    }

    /// Reserves what is said, if the tables can have it.
    fn say(&self, tables: &mut Logical, all: &LogicalRoom, entries: &Reference) -> Result<(), P4Errors> {
        let code = &entries.switch.code;
        let refused_at = |table: &str, what: String| {
            let at = code.tables.iter().position(|own| *own.name == *table);
            let span = at.and_then(|at| code.told.tables.get(at)).map_or(Span::default(), |told| told.span);
            self.refused(span, RefusalKind::Reserve, what)
        };
        for (name, entries) in &self.said {
            let mut named = tables.tables.iter_mut().filter(|table| table.is_named(name));
            let (Some(table), None) = (named.next(), named.next()) else {
                let names: Vec<String> = tables.tables.iter().map(|table| format!("`{}`", table.name)).collect();
                let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                return Err(refused_at("", format!("table `{name}`, the program has {names}")));
            };
            let (name, there) = (&table.name, table.entries.len());
            if table.constant || table.keys.is_empty() {
                return Err(refused_at(name, format!("table `{name}`, which gets no entries but the program's own")));
            }
            if (*entries as usize) < there {
                return Err(refused_at(name, format!("{entries} entries of table `{name}`, in which {there} are")));
            }
            table.reserved = Some(*entries);
        }
        if self.said.is_empty() {
            return Ok(());
        }
        for (stage, room) in tables.rooms().map_err(|error| self.unfit(&error.to_string()))? {
            let kinds = [
                ("exact rows", room.exact, all.exact),
                ("ternary rows", room.ternary, all.ternary),
                ("logical numbers", room.numbers, all.numbers),
            ];
            if let Some((kind, asked, there)) = kinds.into_iter().find(|(_, asked, there)| asked > there) {
                let said: Vec<String> = self.said.iter().map(|(name, n)| format!("{n} of table `{name}`")).collect();
                let said = said.join(", ");
                let table = tables.tables.iter().find(|table| self.is_said(table));
                let what =
                    format!("entries, {said}: stage {stage} has {there} {kind}, the program takes {asked} with these");
                return Err(refused_at(table.map_or("", |table| &table.name), what));
            }
        }
        Ok(())
    }
}
