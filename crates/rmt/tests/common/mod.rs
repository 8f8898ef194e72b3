//! What tests of placing share.

pub mod linker;

use sluice_formats::random::Rng;
use sluice_formats::{Node, Table};
use sluice_object::linker::rmt::RowWrite;
use sluice_object::{RmtPart, RmtStage};
use sluice_rmt::target::Target;
use sluice_rmt::testing::device::Device;
use sluice_rmt::testing::{Shape, checked_program};
use sluice_rmt::{Role, encode};
use std::collections::BTreeMap;

/// Small enough that many find room.
pub const SHAPE: Shape = Shape { exact: 5, ternary: 2, actions: 3, pages: 2, numbers: 24, role: Role::Tenant };

pub fn random_part(rng: &mut Rng, target: &Target, module: u8) -> RmtPart {
    let role = if module == 0 { Role::System } else { Role::Tenant };
    let mut part = encode(&checked_program(rng, target, &Shape { role, ..SHAPE }), target).unwrap();
    part.keep_state = rng.chance(1, 2);
    part
}

/// Whether the device's rows of a module and generation are the part's.
pub fn check_rows(device: &Device, target: &Target, module: u8, generation: u8, part: &RmtPart) {
    let there = device.part(module, generation);
    assert!(there.first == part.first && there.patterns == part.patterns);
    assert!(there.nodes[..part.nodes.len()] == part.nodes && there.paths[..part.paths.len()] == part.paths);
    assert!(there.deparse[..part.deparse.len()] == part.deparse);
    for (&number, found) in &there.stages {
        let wanted = part.stages.get(&number).cloned().unwrap_or_default();
        check_stage(found, &wanted, module);
        for entry in &wanted.exact {
            let row = device.find_exact(number, module, generation, &entry.row.key.0);
            assert_eq!(row.expect("a present entry is found").0.number, entry.row.number);
        }
        assert!(!target.is_system(usize::from(number)) || module == 0);
    }
}

fn check_stage(found: &RmtStage, wanted: &RmtStage, module: u8) {
    let action = |stage: &RmtStage, position: u16| {
        let mut row = stage.actions[usize::from(position)].clone();
        assert!(row.owner == module || row.owner == 0);
        row.owner = 0;
        row
    };
    let (mut a, mut b) = (found.exact.clone(), wanted.exact.clone());
    a.sort_by_key(|e| e.row.key.0);
    b.sort_by_key(|e| e.row.key.0);
    assert_eq!((a.len(), found.ternary.len(), found.pages), (b.len(), wanted.ternary.len(), wanted.pages));
    for (a, b) in a.iter().zip(&b) {
        assert!((a.row.key, a.row.number, a.data) == (b.row.key, b.row.number, b.data));
        assert!(action(found, a.row.action) == action(wanted, b.row.action));
    }
    for (a, b) in found.ternary.iter().zip(&wanted.ternary) {
        assert!((a.row.value, a.row.mask, a.row.number, a.data) == (b.row.value, b.row.mask, b.row.number, b.data));
        assert!(action(found, a.row.action) == action(wanted, b.row.action));
    }
    assert!(found.key.mask == wanted.key.mask && found.key.default_valid == wanted.key.default_valid);
    if wanted.key.default_valid {
        assert!(action(found, found.key.default_action) == action(wanted, wanted.key.default_action));
        assert_eq!((found.key.default_number, found.default_data), (wanted.key.default_number, wanted.default_data));
    }
}

/// Which module wrote what last, while there was something there.
#[derive(Default)]
pub struct Owners(pub BTreeMap<(Node, Table, u32), u8>);

impl Owners {
    /// Takes note of a write, and of who it is by.
    pub fn wrote(&mut self, module: u8, write: &RowWrite) {
        let place = (write.node, write.table, write.index);
        if write.table == Table::Generation {
            // It outlives the module's owner.
            return;
        }
        if write.words.iter().all(|&w| w == 0) && write.table != Table::ZeroPage {
            if let Some(owner) = self.0.remove(&place) {
                assert_eq!(owner, module, "{place:?} is taken away by another module");
            }
        } else if let Some(owner) = self.0.insert(place, module) {
            assert_eq!(owner, module, "{place:?} is written by two modules");
        }
    }

    /// The module is gone: pages and its grant are nobody's.
    pub fn left(&mut self, module: u8) {
        self.0.retain(|place, owner| *owner != module || !matches!(place.1, Table::ZeroPage));
    }
}
