//! What an XDP engine in hardware has counted of a module's programs.

use serde::Serialize;
use sluice_formats::xdp::codes::{XdpFault, XdpPass};
use sluice_formats::xdp::rows::XdpSpentRow;
use std::collections::BTreeMap;

/// How often something was, the cycles of all together, and the bundles that it completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// How often.
    pub count: u64,
    /// Cycles.
    pub cycles: u64,
    /// Bundles. They are told of all together, not by what was waited for.
    #[serde(skip)]
    pub bundles: u64,
}

impl Spent {
    /// The sum of two counters, which wrap at 48 bits as each of them does.
    pub fn plus(self, row: XdpSpentRow) -> Self {
        let sum = |a: u64, b: u64| (a + b) & 0xffff_ffff_ffff;
        Self {
            count: sum(self.count, row.count),
            cycles: sum(self.cycles, row.cycles),
            bundles: sum(self.bundles, row.bundles),
        }
    }
}

/// Counters of a module since the reset, those of all cores together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineCounts {
    /// Passes by what the cycles before them were spent on.
    pub passes: BTreeMap<XdpPass, Spent>,
    /// Packets whose program has ended, by its fault, and their cycles in the order of their flow.
    pub ends: BTreeMap<XdpFault, Spent>,
    /// The last fault.
    pub last_fault: Option<EngineFault>,
}

/// Where a program has faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineFault {
    /// What it was.
    pub kind: XdpFault,
    /// The packet's generation.
    pub generation: u8,
    /// Row of the program, from 0; none where that generation's program does not lead there any more.
    pub row: Option<u32>,
    /// Lane of the instruction.
    pub lane: u8,
}

impl EngineCounts {
    fn pass(&self, kind: XdpPass) -> Spent {
        self.passes.get(&kind).copied().unwrap_or_default()
    }

    /// Packets that contexts have taken.
    pub fn packets(&self) -> u64 {
        self.pass(XdpPass::Start).count
    }

    /// Bundles that were done.
    pub fn bundles(&self) -> u64 {
        self.passes.values().map(|spent| spent.bundles).sum()
    }

    /// Cycles in which packets had a context.
    pub fn cycles(&self) -> u64 {
        self.passes.iter().filter(|(kind, _)| **kind != XdpPass::Start).map(|(_, spent)| spent.cycles).sum()
    }

    /// What packets have waited for, by cause.
    pub fn waits(&self) -> [(&'static str, Spent); 7] {
        let order = self.ends.values().fold(Spent::default(), |sum, spent| Spent {
            count: sum.count + spent.count,
            cycles: sum.cycles + spent.cycles,
            bundles: 0,
        });
        [
            ("queue", self.pass(XdpPass::Start)),
            ("busy", self.pass(XdpPass::Busy)),
            ("values", self.pass(XdpPass::Values)),
            ("maps", self.pass(XdpPass::Maps)),
            ("helper", self.pass(XdpPass::Helper)),
            ("arithmetic", self.pass(XdpPass::Arithmetic)),
            ("order", order),
        ]
    }

    /// Packets that faults have ended, by kind.
    pub fn faults(&self) -> impl Iterator<Item = (XdpFault, u64)> {
        let faults = self.ends.iter().filter(|(kind, spent)| **kind != XdpFault::None && spent.count > 0);
        faults.map(|(kind, spent)| (*kind, spent.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_wrap_as_the_counters_do_and_waits_are_no_bundles() {
        let most = XdpSpentRow { count: (1 << 48) - 1, cycles: 1, bundles: 1 };
        let spent = Spent::default().plus(most).plus(XdpSpentRow { count: 3, cycles: 4, bundles: 2 });
        assert_eq!(spent, Spent { count: 2, cycles: 5, bundles: 3 });
        let of = |count, cycles| Spent { count, cycles, bundles: 0 };
        let did = |spent, bundles| Spent { bundles, ..spent };
        let passes =
            [(XdpPass::Start, did(of(2, 90), 1)), (XdpPass::Bundle, did(of(7, 35), 7)), (XdpPass::Launch, of(1, 5))];
        let passes = passes
            .into_iter()
            .chain([(XdpPass::Busy, did(of(4, 20), 2)), (XdpPass::Maps, did(of(1, 30), 1))])
            .collect();
        let ends = BTreeMap::from([(XdpFault::None, of(1, 3)), (XdpFault::Work, of(1, 4))]);
        let counts = EngineCounts { passes, ends, last_fault: None };
        assert_eq!((counts.packets(), counts.bundles(), counts.cycles()), (2, 11, 90));
        assert_eq!(counts.waits()[6], ("order", of(2, 7)));
        assert_eq!(counts.faults().collect::<Vec<_>>(), [(XdpFault::Work, 1)]);
    }
}
