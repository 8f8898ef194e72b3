//! What the engine has counted of a module, read over the configuration ring.

use crate::device::RtlNic;
use sluice_device::{Device, DeviceError, EngineCounts, EngineFault, Spent};
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::{XdpFault, XdpPass};
use sluice_formats::xdp::rows::{XdpFaultRow, XdpPageRow, XdpProgramRow, XdpSpentRow};
use sluice_formats::xdp::target::{PAGE_ROWS, Target as XdpTarget};
use sluice_formats::{Node, Table};

/// Kinds of passes and ends of a module.
const KINDS: u32 = 8;

fn unpacked<R: Row>(words: &[u32]) -> Result<R, DeviceError> {
    R::unpack(words).map_err(|e| DeviceError::Unavailable(e.to_string()))
}

impl RtlNic {
    /// Counters of all cores, and the last fault.
    pub(crate) fn read_engine_counts(&mut self, module: u8) -> Result<EngineCounts, DeviceError> {
        let target = self.capabilities().target;
        let (first, cores) = (u32::from(module) * KINDS, XdpTarget::by_name(target.name).cores as u32);
        let mut counts = EngineCounts::default();
        for core in 0..cores {
            let begin = core * target.modules * KINDS + first;
            let rows = self.read_rows(Node::Xdp, Table::XdpPasses, begin..begin + KINDS)?;
            for (kind, words) in XdpPass::ALL.into_iter().zip(rows) {
                let spent = counts.passes.entry(kind).or_default();
                *spent = spent.plus(unpacked::<XdpSpentRow>(&words)?);
            }
        }
        let rows = self.read_rows(Node::Xdp, Table::XdpEnds, first..first + KINDS)?;
        for kind in XdpFault::ALL {
            let row = unpacked(&rows[usize::from(kind.code())])?;
            counts.ends.insert(kind, Spent::default().plus(row));
        }
        counts.last_fault = self.last_fault(module)?;
        Ok(counts)
    }

    fn last_fault(&mut self, module: u8) -> Result<Option<EngineFault>, DeviceError> {
        let fault: XdpFaultRow = unpacked(&self.read_row(Node::Xdp, Table::XdpFault, module.into())?)?;
        let XdpFaultRow { kind, generation, row, lane } = fault;
        let Some(kind) = XdpFault::from_code(kind).filter(|kind| *kind != XdpFault::None) else { return Ok(None) };
        let row = self.program_row(module, generation, u32::from(row))?;
        Ok(Some(EngineFault { kind, generation, row, lane }))
    }

    /// The row of a module's program that lies in this row of the instruction memory: its pages are followed.
    fn program_row(&mut self, module: u8, generation: u8, row: u32) -> Result<Option<u32>, DeviceError> {
        let index = 2 * u32::from(module) + u32::from(generation);
        let program: XdpProgramRow = unpacked(&self.read_row(Node::Xdp, Table::XdpProgram, index)?)?;
        let rows = PAGE_ROWS as u32;
        let mut page = u32::from(program.start) / rows;
        let pages = Table::XdpPage.rows(&self.capabilities().target);
        for number in 0..if program.valid { pages } else { 0 } {
            let owner: XdpPageRow = unpacked(&self.read_row(Node::Xdp, Table::XdpPage, page)?)?;
            if !owner.valid || owner.module_id != module {
                break;
            }
            if page == row / rows {
                return Ok(Some(number * rows + row % rows));
            }
            page = owner.next.into();
        }
        Ok(None)
    }
}
