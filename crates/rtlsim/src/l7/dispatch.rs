//! The l7 engine's own top as a dispatcher of messages: rows in, packets in, decisions with their ticks out.

use crate::device::row_write::{RowWriter, WriteError};
use crate::plugin::boundary::{Instance, Plugin, Until};
use crate::plugin::error::RtlError;
use crate::plugin::event::{What, decode};
use crate::plugin::locate::Variant;
use crate::top;
use sluice_device::RingDriver;
use sluice_formats::Table;
use sluice_formats::l7::rows::L7TraceRow;
use sluice_formats::l7::target::Target as L7Target;
use sluice_formats::rows::{GenerationRow, SidebandRow};
use std::collections::{BTreeSet, HashMap};

/// Cycles without an event after which nothing more is expected.
const QUIET_CYCLES: u32 = 2_000;

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatched {
    /// The decision as the engine told it.
    pub decision: L7TraceRow,
    /// Tick of its first beat at the engine.
    pub came: u64,
    /// Tick of its decision.
    pub decided: u64,
}

/// An engine with rules.
pub struct Dispatcher {
    rtl: Instance,
    rows: RowWriter,
    rings: RingDriver,
}

fn failed(what: impl Into<String>) -> RtlError {
    RtlError::Failed { what: what.into() }
}

fn unwritten(error: WriteError) -> RtlError {
    match error {
        WriteError::Rtl(error) => error,
        other => failed(other.to_string()),
    }
}

impl Dispatcher {
    /// Opens the plug-in of a target and writes the engine's rows, in their order.
    pub fn open(target: &str, variant: Variant, seed: u64, rows: &[(Table, u32, Vec<u32>)]) -> Result<Self, RtlError> {
        let plugin = Plugin::find(&top::L7, target, variant)?;
        let rings = RingDriver::new(L7Target::by_name(target).rings);
        let mut dispatcher = Self { rtl: plugin.open(seed)?, rows: RowWriter::new(&top::L7), rings };
        for (table, index, words) in rows {
            let is_of_rules = matches!(
                *table,
                Table::L7Match
                    | Table::L7Start
                    | Table::L7Port
                    | Table::L7Group
                    | Table::L7Share
                    | Table::L7Quota
                    | Table::L7Secret
            );
            if !is_of_rules {
                return Err(failed(format!("a row of {}, which a dispatcher has no use for", table.name())));
            }
            let written = dispatcher.rows.write_words(&mut dispatcher.rtl, *table, *index, words.clone());
            written.map_err(unwritten)?;
        }
        Ok(dispatcher)
    }

    pub(crate) fn rings_mut(&mut self) -> &mut RingDriver {
        &mut self.rings
    }

    pub(crate) fn parts_mut(&mut self) -> (&mut Instance, &mut RowWriter) {
        (&mut self.rtl, &mut self.rows)
    }

    fn events(&mut self) -> Result<Vec<(u64, What)>, RtlError> {
        let bytes = self.rtl.take_events().to_vec();
        let mut all = Vec::new();
        decode(&top::L7, &bytes, |event| all.push((event.tick, event.what))).map_err(|e| failed(e.to_string()))?;
        Ok(all)
    }

    /// Packets of modules in a generation, back to back or with so many ticks from one's begin to the next's, and what became of each.
    /// Behind it nothing is on its way into host memory.
    pub fn run(&mut self, packets: &[(u8, Vec<u8>)], generation: bool, gap: u64) -> Result<Vec<Dispatched>, RtlError> {
        // The entrance of the top stamps packets.
        let modules: BTreeSet<u8> = packets.iter().map(|(module, _)| *module).collect();
        for module in modules {
            let row = GenerationRow { current: generation, ..GenerationRow::default() };
            self.rows.write(&mut self.rtl, Table::Generation, module.into(), &row).map_err(unwritten)?;
        }
        let begin = self.rtl.now();
        for (number, (module, frame)) in packets.iter().enumerate() {
            let sideband = SidebandRow {
                id: number as u32,
                module_id: *module,
                generation,
                length: frame.len() as u16,
                ..SidebandRow::default()
            };
            self.rtl.offer_with(&sideband, begin + gap * number as u64, frame)?;
        }
        let mut came: Vec<u64> = Vec::new();
        let mut decided: HashMap<u32, (L7TraceRow, u64)> = HashMap::new();
        loop {
            let before = (came.len(), decided.len());
            let stop = self.rtl.run(&Until { quiet_cycles: QUIET_CYCLES, max_cycles: 100_000, ..Until::default() })?;
            for (tick, what) in self.events()? {
                match what {
                    What::Arrived { first, .. } => came.push(first),
                    What::Dispatched(row) => drop(decided.insert(row.id, (row, tick))),
                    _ => {}
                }
            }
            let waits = self.rtl.now() < begin + gap * packets.len() as u64;
            if (decided.len() == packets.len() && !stop.cycles()) || (before == (came.len(), decided.len()) && !waits) {
                break;
            }
        }
        (0..packets.len())
            .map(|number| match (decided.remove(&(number as u32)), came.get(number)) {
                (Some((decision, decided)), Some(&came)) => Ok(Dispatched { decision, came, decided }),
                _ => Err(failed(format!("packet {number}: the engine has not decided"))),
            })
            .collect()
    }

    /// Cycles of the engine so far.
    pub fn cycles(&self) -> u64 {
        self.rtl.cycles()
    }
}
