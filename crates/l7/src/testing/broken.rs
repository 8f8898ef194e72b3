//! Tables as no linker would write them.

use crate::tables::Tables;
use sluice_formats::l7::rows::{L7PortRow, L7TargetPart};
use sluice_formats::random::Rng;

/// Changes tables at random in so many places: rows of others, targets that are none, loops.
pub fn break_tables(rng: &mut Rng, tables: &mut Tables, ports: &mut [L7PortRow], places: u64) {
    for _ in 0..places {
        let logs = if rng.chance(1, 4) { 16 } else { 3 };
        let target = L7TargetPart {
            kind: rng.below(8) as u8,
            number: rng.below(tables.rows.len() as u64 + 4) as u16,
            log: rng.below(logs) as u8,
            turn: rng.below(32) as u8,
            length: rng.below(16) as u8,
        };
        let at = rng.index(tables.rows.len().max(1));
        let choice = rng.below(10);
        if let Some(row) = tables.rows.get_mut(at) {
            let alternative = &mut row.alternatives[rng.index(tables.shape.alternatives)];
            match choice {
                0 => row.module_id = rng.below(64) as u8,
                1 => row.length = rng.below(2 * tables.shape.bytes as u64) as u8,
                2 => row.miss = target,
                3 => row.step.stop = rng.below(4) as u8,
                4 => row.step.field = rng.below(16) as u8,
                5 => (alternative.valid, alternative.anyway) = (true, rng.chance(1, 2)),
                6 => alternative.ends = !alternative.ends,
                _ => alternative.target = target,
            }
        }
        if choice == 7 {
            let at = rng.index(tables.starts.len().max(1));
            tables.starts.get_mut(at).into_iter().for_each(|start| start.target = target);
        }
        if choice == 8 {
            let at = rng.index(tables.groups.len().max(1));
            tables.groups.get_mut(at).into_iter().for_each(|group| group.module_id ^= 1);
        }
        if choice == 9 {
            let Some(at) = ports.len().checked_sub(1).map(|last| rng.index(last + 1)) else { continue };
            match rng.below(3) {
                0 => ports[at].otherwise = target,
                1 => ports[at].types = rng.below(512) as u16,
                _ => ports[at].stop_count = rng.below(4) as u8,
            }
        }
    }
}
