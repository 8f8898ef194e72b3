//! One program on the XDP engine's own top, one packet after the other: no ports, no linker, no maps.

use crate::device::row_write::{RowWriter, WriteError};
use crate::plugin::boundary::{Instance, Until};
use crate::plugin::error::RtlError;
use crate::plugin::event::{What, decode};
use crate::{Plugin, Variant, top};
use sluice_formats::limits::packet_id;
use sluice_formats::row::Row;
use sluice_formats::rows::SidebandRow;
use sluice_formats::xdp::rows::{XdpPageRow, XdpProgramRow};
use sluice_formats::xdp::target::{PAGE_ROWS, Target as XdpTarget};
use sluice_formats::{Reason, Table, Target};
use sluice_object::XdpCode;

/// Most cycles that a packet is waited for.
const PATIENCE: u64 = 1 << 28;
/// Cycles of a bundle that waits for a unit, with those behind which the unit is busy.
const BUNDLE: u64 = 1_000;

/// The engine with one program, of module 0.
pub struct Lone {
    nic: Instance,
    target: &'static Target,
    rows: RowWriter,
    packets: u32,
    /// Cycles that a packet of the program may take.
    patience: u64,
}

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was dropped.
    Dropped(Reason),
    /// It left.
    Left(Vec<u8>),
}

/// Why a program or a packet of it did not run.
#[derive(Debug, thiserror::Error)]
pub enum LoneError {
    /// The plug-in.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// A row that was not written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// More rows than the engine has.
    #[error("the program has {found} bundles, the engine of {target} holds {max}")]
    TooLong {
        /// Of the program.
        found: usize,
        /// Of the engine.
        max: usize,
        /// Configuration.
        target: &'static str,
    },
    /// Rows that name maps.
    #[error("the program needs maps; a program alone has none")]
    Maps,
    /// The packet did not end.
    #[error("the packet did not end within {0} cycles")]
    NoEnd(u64),
}

impl Lone {
    /// Starts the engine of a target; none where there is no plug-in.
    pub fn open(target: &'static Target, seed: u64) -> Result<Self, LoneError> {
        let nic = Plugin::find(&top::XDP, target.name, Variant::Test)?.open(seed)?;
        let rows = RowWriter::new(&top::XDP);
        Ok(Self { nic, target, rows, packets: 0, patience: PATIENCE })
    }

    /// Puts a program in the place of the one before, of whose packets each may take so many back edges and calls.
    pub fn load(&mut self, code: &XdpCode, work: u32) -> Result<(), LoneError> {
        let max = XdpTarget::by_name(self.target.name).rows;
        let pages: Vec<u32> = (0..code.pages() as u32).collect();
        if pages.len() * PAGE_ROWS > max {
            return Err(LoneError::TooLong { found: code.rows.len(), max, target: self.target.name });
        }
        let rows = code.placed(&pages, |_| None).ok_or(LoneError::Maps)?;
        for (index, row) in (0..).zip(&rows) {
            self.write(Table::XdpCode, index, row)?;
        }
        for page in &pages {
            let next = *pages.get(*page as usize + 1).unwrap_or(page) as u8;
            self.write(Table::XdpPage, *page, &XdpPageRow { valid: true, module_id: 0, next })?;
        }
        let program = XdpProgramRow {
            valid: true,
            granted: u8::MAX,
            work,
            grows: code.grows,
            frames: code.frames,
            ..XdpProgramRow::default()
        };
        self.patience = ((1 + u64::from(work)) * code.rows.len() as u64 * BUNDLE).min(PATIENCE);
        self.write(Table::XdpProgram, 0, &program)
    }

    /// Runs a packet from port 0 to its end.
    pub fn run(&mut self, frame: &[u8]) -> Result<Fate, LoneError> {
        let id = packet_id(0, self.packets);
        self.packets += 1;
        let sideband = SidebandRow { id, length: frame.len() as u16, ..SidebandRow::default() };
        let now = self.nic.now();
        self.nic.offer_with(&sideband, now, frame)?;
        let begin = self.nic.cycles();
        while self.nic.cycles() - begin < self.patience {
            let mut fate = None;
            self.events(&Until { quiet_cycles: 100, max_cycles: 20_000, ..Until::default() }, |what| match what {
                What::Verdict(row) if row.dropped => fate = Reason::from_code(row.reason).map(Fate::Dropped),
                What::Routed { bytes, .. } => fate = Some(Fate::Left(bytes)),
                _ => {}
            })?;
            if let Some(fate) = fate {
                return Ok(fate);
            }
        }
        Err(LoneError::NoEnd(self.patience))
    }

    fn write(&mut self, table: Table, index: u32, row: &impl Row) -> Result<(), LoneError> {
        Ok(self.rows.write(&mut self.nic, table, index, row)?)
    }

    /// Runs, and gives what has happened.
    fn events(&mut self, until: &Until, mut take: impl FnMut(What)) -> Result<(), LoneError> {
        self.nic.run(until)?;
        let events = self.nic.take_events().to_vec();
        decode(&top::XDP, &events, |event| take(event.what)).map_err(|e| RtlError::Failed { what: e.to_string() })?;
        Ok(())
    }
}
