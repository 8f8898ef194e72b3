//! What the engine has counted for a module.

use super::engine::Engine;
use sluice_formats::Table;
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::{XdpFault, XdpPass};
use sluice_formats::xdp::rows::{XdpFaultRow, XdpSpentRow};
use sluice_formats::xdp::target::Target as XdpTarget;

/// The counters of one module: how often, and cycles; and bundles of all passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub passes: [(u64, u64); 8],
    pub ends: [(u64, u64); 8],
    bundles: u64,
}

impl Account {
    /// Reads them; cores are added.
    pub fn read(engine: &mut Engine, module: u8) -> Self {
        let mut account = Self::default();
        let (modules, first) = (engine.target.modules, u32::from(module) * 8);
        let mut bundles = 0;
        let mut add = |sum: &mut (u64, u64), words: Vec<u32>| {
            let row = XdpSpentRow::unpack(&words).unwrap();
            (sum.0, sum.1) = (sum.0 + row.count, sum.1 + row.cycles);
            bundles += row.bundles;
        };
        for kind in 0..8u32 {
            for core in 0..XdpTarget::by_name(engine.target.name).cores as u32 {
                let words = engine.read(Table::XdpPasses, core * modules * 8 + first + kind);
                add(&mut account.passes[kind as usize], words);
            }
            let words = engine.read(Table::XdpEnds, first + kind);
            add(&mut account.ends[kind as usize], words);
        }
        Self { bundles, ..account }
    }

    /// What was added since.
    pub fn since(&self, before: &Self) -> Self {
        let less =
            |a: &[(u64, u64); 8], b: &[(u64, u64); 8]| std::array::from_fn(|i| (a[i].0 - b[i].0, a[i].1 - b[i].1));
        Self {
            passes: less(&self.passes, &before.passes),
            ends: less(&self.ends, &before.ends),
            bundles: self.bundles - before.bundles,
        }
    }

    pub fn pass(&self, kind: XdpPass) -> (u64, u64) {
        self.passes[usize::from(kind.code())]
    }

    pub fn end(&self, kind: XdpFault) -> (u64, u64) {
        self.ends[usize::from(kind.code())]
    }

    /// Bundles that were done.
    pub fn bundles(&self) -> u64 {
        self.bundles
    }

    /// Cycles in which packets had a context.
    pub fn cycles(&self) -> u64 {
        self.passes[1..].iter().map(|(_, cycles)| cycles).sum()
    }
}

/// The last fault of a module: its kind, row and lane.
pub fn last_fault(engine: &mut Engine, module: u8) -> XdpFaultRow {
    XdpFaultRow::unpack(&engine.read(Table::XdpFault, module.into())).unwrap()
}
