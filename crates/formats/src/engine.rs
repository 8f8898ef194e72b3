//! The registry: what every NIC has and what its engines add, a folder each.
//!
//! A folder describes its nodes, tables, events, rows and codes. Everything else (addresses by number and name, reasons,
//! generated packages and pages) walks over [`FOLDERS`]. A new engine is its folder and a line in there.

use crate::address::{NodeInfo, Table, TableInfo};
use crate::codes::CodeList;
use crate::named::{self, Named};
use crate::reason::Events;
use crate::row::RowInfo;
use std::fmt;

/// An engine's identity. It does not say whether a device has the engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EngineId(u8);

/// What one folder of this crate describes.
pub struct Folder {
    /// The engine; none for what every NIC has without one.
    pub engine: Option<EngineId>,
    /// Name on the command line, in objects and docs.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What its names in SystemVerilog begin with; without, they stand in the NIC's package and page.
    pub prefix: &'static str,
    /// Every device has its nodes.
    pub everywhere: bool,
    /// Nodes of the configuration ring.
    pub nodes: &'static [NodeInfo],
    /// Their tables.
    pub tables: &'static [TableInfo],
    /// What its tables of events count, drops among them.
    pub events: &'static [Events],
    /// Rows of its tables, traces and the like, parts before those that have them.
    pub rows: &'static [RowInfo],
    /// What the numbers in fields of them stand for.
    pub codes: &'static [CodeList],
    /// Files made from this folder, by their path in the project.
    pub generated: fn() -> Vec<(&'static str, String)>,
}

impl Folder {
    /// Its tables, by their names.
    pub fn tables(&self) -> impl Iterator<Item = Table> {
        Table::ALL.into_iter().filter(|t| t.engine() == self.engine)
    }
}

/// All folders: the NIC's, then each engine's at 1 plus its number.
pub static FOLDERS: &[&Folder] = &[
    &crate::nic::FOLDER,
    &crate::xdp::FOLDER,
    &crate::rmt::FOLDER,
    &crate::l7::FOLDER,
    #[cfg(feature = "probe")]
    &crate::probe::FOLDER,
];

/// The folder of an engine, or the NIC's.
pub(crate) const fn folder(engine: Option<EngineId>) -> &'static Folder {
    match engine {
        None => FOLDERS[0],
        Some(EngineId(number)) => FOLDERS[1 + number as usize],
    }
}

impl EngineId {
    /// For the engine's own folder, which gives it a name as a constant.
    pub(crate) const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Every engine, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        FOLDERS.iter().filter_map(|f| f.engine)
    }

    /// Name on the command line, in objects and docs.
    pub fn name(self) -> &'static str {
        folder(Some(self)).name
    }

    /// Table and row of a module's copies beyond the first, if the engine counts some.
    pub fn copies(self, module: u32) -> Option<(Table, u32)> {
        folder(Some(self)).events.iter().find_map(|events| {
            let copies = events.all.iter().find(|e| !e.drop && e.name == "copies")?;
            Some((events.table, module * u32::from(events.kinds) + u32::from(copies.kind)))
        })
    }

    /// Number in binary forms.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Its bit in a set of engines: [`info::ENGINES`](crate::address::info::ENGINES), and the `Engines` of the RTL.
    pub fn bit(self) -> u32 {
        1 << self.0
    }

    /// These engines as a set, a bit each.
    pub fn set(engines: impl IntoIterator<Item = Self>) -> u32 {
        engines.into_iter().fold(0, |set, engine| set | engine.bit())
    }

    /// The engine of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::all().find(|e| e.0 == number)
    }

    /// The engine of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|e| e.name() == name)
    }
}

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Named for EngineId {
    const TYPE: &'static str = "EngineId";

    fn all() -> Vec<Self> {
        Self::all().collect()
    }
    fn name(&self) -> &'static str {
        (*self).name()
    }
}
named::serde!(EngineId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_stands_where_its_number_says() {
        assert_eq!(FOLDERS[0].engine, None);
        for (number, engine) in EngineId::all().enumerate() {
            assert_eq!(usize::from(engine.number()), number);
            assert_eq!(EngineId::from_number(engine.number()), Some(engine));
            assert_eq!(EngineId::from_name(engine.name()), Some(engine));
        }
        assert_eq!(EngineId::all().count(), FOLDERS.len() - 1);
        assert_eq!((EngineId::XDP.number(), EngineId::RMT.number()), (0, 1));
        assert_eq!(EngineId::set([EngineId::RMT, EngineId::L7]), 0b110);
        assert_eq!((EngineId::from_number(200), EngineId::from_name("nic")), (None, None));
    }
}
