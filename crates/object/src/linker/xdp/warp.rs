//! A module's table in the warp engine: its rows, and whose they are.
//!
//! A generation's rows are written before packets have it, the key's row last; without a table that row is not valid.

use super::hardware::Hardware;
use super::maps::write;
use crate::linker::check::{Refusal, unpack};
use crate::linker::engine::CheckedRow;
use crate::linker::rmt::RowWrite;
use crate::linker::{LinkError, Linker};
use crate::xdp::warp::tables::place;
use crate::xdp::warp::{CHUNK_VALUES, CHUNKS, RULES, STEPS};
use crate::xdp::{Xdp, XdpWarp};
use sluice_formats::xdp::codes::XdpWarpKind;
use sluice_formats::xdp::rows::{XdpWarpCountPart, XdpWarpHitsRow, XdpWarpKeyRow, XdpWarpLeafRow};
use sluice_formats::xdp::target::Target as Engine;
use sluice_formats::{Table, Target};

/// `XDP_ABORTED`.
const ABORTED: u8 = 0;

/// Index of a row of the module's in its generation: that of the generation's first row, for so many in each.
fn first(module: u8, generation: u8, each: usize) -> u32 {
    (2 * u32::from(module) + u32::from(generation)) * each as u32
}

/// All rows of a generation that begins, for these leaves; none of a program without a table.
pub(super) fn rows(
    (target, engine): (&Target, &Engine),
    of: (u8, u8),
    table: Option<(&XdpWarp, &[XdpWarpLeafRow])>,
) -> Vec<RowWrite> {
    let mut rows = hits(engine, of);
    rows.extend(match table {
        Some(rows) => self::table((target, engine), of, rows),
        None => none(engine, of),
    });
    rows
}

fn table(
    (target, engine): (&Target, &Engine),
    (module, generation): (u8, u8),
    (table, leaves): (&XdpWarp, &[XdpWarpLeafRow]),
) -> Vec<RowWrite> {
    let mut rows = Vec::new();
    let at = |each| first(module, generation, each);
    for (half, row) in (0..).zip(&table.predicates) {
        rows.push(write(Table::XdpWarpPredicates, at(2) + half, row));
    }
    for (place, row) in (0..CHUNKS * CHUNK_VALUES).zip(&table.chunks) {
        let (chunk, value) = (place / CHUNK_VALUES, place % CHUNK_VALUES);
        let index = 2 * target.modules * (CHUNK_VALUES * chunk) as u32 + at(CHUNK_VALUES) + value as u32;
        rows.push(write(Table::XdpWarpChunk, index, row));
    }
    let plain = XdpWarpLeafRow::default();
    for rule in 0..engine.warp_rules {
        let leaf = leaves.get(rule).unwrap_or(&plain);
        rows.push(write(Table::XdpWarpLeaf, at(RULES) + rule as u32, leaf));
    }
    for (step, row) in (0..).zip(&table.steps) {
        rows.push(write(Table::XdpWarpStep, at(STEPS) + step, row));
    }
    rows.push(write(Table::XdpWarpKey, at(1), &table.key));
    rows
}

/// What says that a generation has no table.
pub(super) fn none(engine: &Engine, (module, generation): (u8, u8)) -> Vec<RowWrite> {
    if engine.warp_rules == 0 {
        return Vec::new();
    }
    vec![write(Table::XdpWarpKey, first(module, generation, 1), &XdpWarpKeyRow::default())]
}

/// Nobody was counted yet.
fn hits(engine: &Engine, (module, generation): (u8, u8)) -> Vec<RowWrite> {
    let row = |rule| write(Table::XdpWarpHits, first(module, generation, RULES) + rule, &XdpWarpHitsRow::default());
    (0..engine.warp_rules as u32).map(row).collect()
}

/// Module and generation of a row; none if the table is not the warp engine's.
pub(super) fn owner(target: &Target, table: Table, index: u32) -> Option<(u8, u8)> {
    let (bank, _) = place(target.modules, table, index)?;
    Some(((bank / 2) as u8, (bank % 2) as u8))
}

impl Linker {
    /// Rows of `xdp_warp_hits` that count packets of the leaves of a tenant's program, by rule; none if it has no table.
    pub fn warp_hits(&self, id: u16) -> Result<Vec<u32>, LinkError> {
        let (module, generation) = (self.tenant(id)?.module, self.generation(id)?);
        let leaves = self.engines.xdp.hardware.as_ref().map_or(0, |hardware| hardware.leaves(module, generation));
        Ok((first(module, generation, RULES)..).take(leaves).collect())
    }

    /// The XDP part of what a tenant runs, as the device has it.
    pub fn running_xdp(&self, id: u16) -> Option<&Xdp> {
        let (module, generation) = (self.tenant(id).ok()?.module, self.generation(id).ok()?);
        self.engines.xdp.program(module, generation)
    }
}

/// Refuses a leaf that leads to what is another's: a row, or a map. What it counts in is an address as its programs have it: the regions of its own
/// module and generation say where that lies, and are checked by themselves. It is aligned, so that it lies in one word of memory.
pub(super) fn check_leaf(hardware: &Hardware, (module, name): (u8, &str), row: CheckedRow) -> Result<(), Refusal> {
    let leaf: XdpWarpLeafRow = unpack(row.words)?;
    let own = |table: Table, index: u32, what: &str| {
        hardware.owners(module, table, index).map(|_| ()).map_err(|other| {
            Refusal::Space(format!("a leaf whose {what} {index} is module {other}'s, not tenant `{name}`'s"))
        })
    };
    match XdpWarpKind::from_code(leaf.kind) {
        Some(XdpWarpKind::Resume) => {
            own(Table::XdpCode, leaf.start.into(), "row")?;
            if leaf.counts[0].valid {
                own(Table::XdpCode, leaf.counts[0].address, "row without an entry")?;
            }
            if leaf.looks_up {
                own(Table::XdpMap, leaf.map.into(), "map")?;
            }
        }
        // Its place is told with it, which a leaf has not; a redirect has no number in the row.
        Some(XdpWarpKind::Verdict) if leaf.verdict == ABORTED => {
            return Err(Refusal::Space("a leaf with the verdict of a fault".to_owned()));
        }
        Some(XdpWarpKind::Verdict) => {
            let bytes = |wide: bool| if wide { 8 } else { 4 };
            let across = |count: &&XdpWarpCountPart| count.valid && !count.address.is_multiple_of(bytes(count.wide));
            if let Some(count) = leaf.counts.iter().find(across) {
                let (bytes, address) = (bytes(count.wide), count.address);
                return Err(Refusal::Space(format!(
                    "a leaf that counts in {bytes} bytes at {address:#x}, which is no multiple of that"
                )));
            }
        }
        Some(XdpWarpKind::Plain) => {}
        None => return Err(Refusal::Space(format!("a leaf of the kind {}, which there is not", leaf.kind))),
    }
    Ok(())
}
