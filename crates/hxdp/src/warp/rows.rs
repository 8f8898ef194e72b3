//! A program's rows, and those of its leaves behind them.

use crate::bundle::reached;
use crate::sections::{Sections, Serial};
use crate::{Bundle, Bundles, Compiled, Op};
use sluice_ebpf::insn::WideValue;
use std::collections::BTreeMap;

/// Rows of a program, and of leaves.
pub struct Rows {
    /// All of them.
    pub bundles: Bundles,
    /// What packets of a flow do one after the other.
    pub serial: Serial,
}

impl Rows {
    /// Of a program without leaves.
    pub fn new(plain: Compiled) -> Self {
        let serial = Serial::of(plain.flow_serial, plain.sections);
        Self { bundles: plain.bundles, serial }
    }

    /// Puts a leaf's rows behind, which call the program's functions; gives their first. `slots` are the program's by the leaf's.
    /// Rows that are there already are not put there again.
    pub fn append(&mut self, leaf: &Compiled, slots: &[u32]) -> u32 {
        let original = |slot: u32| slots.get(slot as usize).copied().unwrap_or(slot);
        let kept = reached(&leaf.bundles.rows, vec![0]);
        let first = self.bundles.rows.len() as u32;
        let places: Vec<u32> = kept
            .iter()
            .scan(first, |next, kept| Some(std::mem::replace(next, *next + u32::from(*kept))))
            .collect();
        let functions: BTreeMap<u32, u32> = leaf
            .bundles
            .functions
            .iter()
            .filter_map(|(slot, row)| Some((*row, *self.bundles.functions.get(&original(*slot))?)))
            .collect();
        let serial = Serial::of(leaf.flow_serial, leaf.sections.clone());
        for (row, bundle) in (0..).zip(&leaf.bundles.rows).filter(|(row, _)| kept[*row as usize]) {
            let mut bundle: Bundle = bundle.clone();
            for step in &mut bundle.lanes {
                step.slot = original(step.slot);
                match &mut step.op {
                    Op::Call { to } => *to = functions.get(to).copied().unwrap_or(u32::MAX),
                    Op::Constant { value: WideValue::Function(slot), .. } => *slot = original(*slot as u32) as i32,
                    op => {
                        if let Some(to) = op.target_mut() {
                            *to = places[*to as usize];
                        }
                    }
                }
            }
            self.mark(serial.at(row));
            self.bundles.rows.push(bundle);
        }
        first
    }

    /// Marks the next row.
    fn mark(&mut self, (enters, leaves): (bool, bool)) {
        if let Serial::Sections(Sections { enters: all_enters, leaves: all_leaves }) = &mut self.serial {
            let rows = self.bundles.rows.len();
            all_enters.resize(rows, false);
            all_leaves.resize(rows, false);
            all_enters.push(enters);
            all_leaves.push(leaves);
        }
    }
}
