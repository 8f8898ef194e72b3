//! What an l7 part may be: every value fits its field, every position is there, nothing is said that only the linker
//! knows.

use super::part::{L7Application, L7Part};
use crate::bytes::{Reader, Writer};
use crate::error::{ObjectError, bad};
use crate::object::{Object, check_name};
use crate::part::Part;
use crate::rows::{at_most, below, packs};
use sluice_formats::EngineId;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::rows::{L7GroupRow, L7MatchRow, L7MovePart, L7PortRow, L7StartRow, L7TargetPart};
use sluice_formats::l7::target::{FIELDS, MATCH_BYTES, MOST_WIDE_LOG, RINGS};
use std::collections::HashSet;
use std::fmt;

/// Most rows of each kind: their numbers have 12 bits.
const MOST_ROWS: usize = 1 << 12;
/// Most message types of an application, and stop bytes.
const MOST_TYPES: u16 = 256;
const MOST_STOPS: u8 = 2;

impl Part for L7Part {
    const ENGINE: EngineId = EngineId::L7;
    const SECTION: u32 = 10;

    /// The rest of the object says what comes to it: a table, other parts, or the default alone.
    fn check_in(&self, _: &Object) -> Result<(), ObjectError> {
        self.check()
    }

    fn write(&self, w: &mut Writer) {
        super::binary::write(w, self);
    }

    fn read(r: &mut Reader) -> Result<Self, ObjectError> {
        super::binary::read(r)
    }

    fn show(&self, out: &mut String) -> fmt::Result {
        super::show::render(self, out)
    }
}

impl L7Part {
    /// Refuses what no l7 part may be. Everything that is decoded or linked has passed it.
    pub fn check(&self) -> Result<(), ObjectError> {
        at_most("l7.rows", self.rows.len(), MOST_ROWS)?;
        at_most("l7.starts", self.starts.len(), MOST_ROWS)?;
        at_most("l7.groups", self.groups.len(), RINGS)?;
        self.check_applications()?;
        for (i, row) in self.starts.iter().enumerate() {
            let at = format!("l7.starts[{i}]");
            packs(&at, row)?;
            virtual_only(&at, *row == L7StartRow { module_id: 0, ..*row })?;
            moves(&at, row.step)?;
            self.leads(&format!("{at}.target"), row.target)?;
        }
        for (i, row) in self.rows.iter().enumerate() {
            self.check_row(&format!("l7.rows[{i}]"), row)?;
        }
        for (i, group) in self.groups.iter().enumerate() {
            let at = format!("l7.groups[{i}]");
            packs(&at, group)?;
            virtual_only(&at, *group == L7GroupRow { module_id: 0, ..*group })?;
        }
        Ok(())
    }

    fn check_applications(&self) -> Result<(), ObjectError> {
        if self.applications.is_empty() {
            return Err(bad("l7.applications", 0, "1 and more: without a UDP port nothing comes"));
        }
        let mut names = HashSet::new();
        for (i, application) in self.applications.iter().enumerate() {
            let at = format!("l7.applications[{i}]");
            check_name(&format!("{at}.name"), &application.name)?;
            if !names.insert(&application.name) {
                return Err(bad(format!("{at}.name"), format!("`{}` again", application.name), "each name once"));
            }
            self.check_port(&at, application)?;
            let same = |other: &&L7Application| clash(&other.row, &application.row);
            if let Some(other) = self.applications[..i].iter().find(same) {
                let found = format!("UDP port {} as of `{}`", application.row.port, other.name);
                return Err(bad(format!("{at}.row.port"), found, "applications of one port with different IDs"));
            }
        }
        Ok(())
    }

    fn check_port(&self, at: &str, application: &L7Application) -> Result<(), ObjectError> {
        let row = &application.row;
        packs(at, row)?;
        let plain = L7PortRow { valid: true, module_id: 0, generation: false, updating: false, ..*row };
        virtual_only(at, *row == plain)?;
        let kind = L7PortKind::from_code(row.kind)
            .ok_or_else(|| bad(format!("{at}.row.kind"), row.kind, "a kind of port: 0 to 2"))?;
        if kind != L7PortKind::Application && row.id != 0 {
            return Err(bad(format!("{at}.row.id"), row.id, "0: only applications have an ID"));
        }
        if row.stop_count > MOST_STOPS {
            return Err(bad(format!("{at}.row.stop_count"), row.stop_count, format!("0 to {MOST_STOPS}")));
        }
        if row.types > MOST_TYPES {
            return Err(bad(format!("{at}.row.types"), row.types, format!("0 to {MOST_TYPES}")));
        }
        at_most(&format!("{at}.row.start"), usize::from(row.start) + usize::from(row.types), self.starts.len())?;
        let otherwise = format!("{at}.row.otherwise");
        match row.otherwise.goal() {
            Some(L7Goal::Queue | L7Goal::Group | L7Goal::Drop) => self.leads(&otherwise, row.otherwise),
            _ => Err(bad(otherwise, row.otherwise.kind, "a queue, a group, or drop")),
        }
    }

    fn check_row(&self, at: &str, row: &L7MatchRow) -> Result<(), ObjectError> {
        packs(at, row)?;
        virtual_only(at, *row == L7MatchRow { module_id: 0, ..*row })?;
        at_most(&format!("{at}.length"), row.length.into(), MATCH_BYTES)?;
        moves(at, row.step)?;
        self.leads(&format!("{at}.miss"), row.miss)?;
        for (n, alternative) in row.alternatives.iter().enumerate().filter(|(_, a)| a.valid) {
            self.leads(&format!("{at}.alternatives[{n}].target"), alternative.target)?;
        }
        Ok(())
    }

    /// A target that is there.
    fn leads(&self, at: &str, target: L7TargetPart) -> Result<(), ObjectError> {
        let number = usize::from(target.number);
        match target.goal() {
            Some(L7Goal::Queue) => below(at, number, RINGS),
            Some(L7Goal::Group) => below(at, number, self.groups.len()),
            Some(L7Goal::Rows) if u32::from(target.log) > MOST_WIDE_LOG => {
                Err(bad(at, format!("2^{} wide rows", target.log), format!("at most 2^{MOST_WIDE_LOG}")))
            }
            Some(L7Goal::Row | L7Goal::Rows) => at_most(at, target.rows().end, self.rows.len()),
            Some(L7Goal::Default | L7Goal::Drop) => Ok(()),
            None => Err(bad(at, target.kind, "a kind of target: 0 to 5")),
        }
    }
}

/// Whether two rows would have one key: an endpoint or a raw application has its port alone.
fn clash(a: &L7PortRow, b: &L7PortRow) -> bool {
    let application = |row: &L7PortRow| row.kind == L7PortKind::Application.code();
    a.port == b.port && (!application(a) || !application(b) || a.id == b.id)
}

fn moves(at: &str, step: L7MovePart) -> Result<(), ObjectError> {
    at_most(&format!("{at}.step.field"), step.field.into(), FIELDS)?;
    at_most(&format!("{at}.step.stop"), step.stop.into(), MOST_STOPS.into())
}

fn virtual_only(at: &str, good: bool) -> Result<(), ObjectError> {
    let allowed = "0 in what the linker fills in: module, generation; and a valid row";
    if good { Ok(()) } else { Err(bad(at, "a place", allowed)) }
}
