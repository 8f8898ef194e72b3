//! A program's rows, and those of its leaves behind them.

use crate::bundle::reached;
use crate::sections::{Sections, Serial};
use crate::{Bundles, Compiled, Op, Step};
use sluice_ebpf::insn::WideValue;
use std::collections::{BTreeMap, HashMap};

/// Rows of a program, and of leaves.
#[derive(Clone, Debug)]
pub struct Rows {
    /// All of them.
    pub bundles: Bundles,
    /// What packets of a flow do one after the other.
    pub serial: Serial,
    /// First rows of leaves, in the order in which they came.
    pub starts: Vec<u32>,
}

impl Rows {
    /// Of a program without leaves.
    pub fn new(plain: Compiled) -> Self {
        let serial = Serial::of(plain.flow_serial, plain.sections);
        Self { bundles: plain.bundles, serial, starts: Vec::new() }
    }

    /// Puts a leaf's rows behind, which call the program's functions. `slots` are the program's by the leaf's.
    /// What stands there already is not there twice, as far as no row would have to jump for it.
    pub fn append(&mut self, leaf: &Compiled, slots: &[u32]) {
        let original = |slot: u32| slots.get(slot as usize).copied().unwrap_or(slot);
        let first = self.bundles.rows.len() as u32;
        let functions: BTreeMap<u32, u32> = leaf
            .bundles
            .functions
            .iter()
            .filter_map(|(slot, row)| Some((*row, *self.bundles.functions.get(&original(*slot))?)))
            .collect();
        let serial = Serial::of(leaf.flow_serial, leaf.sections.clone());
        for (row, bundle) in (0..).zip(&leaf.bundles.rows) {
            let mut bundle = bundle.clone();
            for step in &mut bundle.lanes {
                step.slot = original(step.slot);
                match &mut step.op {
                    Op::Call { to } => *to = functions.get(to).copied().unwrap_or(u32::MAX),
                    Op::Constant { value: WideValue::Function(slot), .. } => *slot = original(*slot as u32) as i32,
                    op => {
                        if let Some(to) = op.target_mut() {
                            *to += first;
                        }
                    }
                }
            }
            self.mark(serial.at(row));
            self.bundles.rows.push(bundle);
        }
        self.starts.push(first);
        self.share();
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

    /// Leads to the first of the rows from which on the same is done, and drops those that nothing leads to.
    fn share(&mut self) {
        let classes = self.classes();
        let mut first: HashMap<u32, u32> = HashMap::new();
        for (row, class) in (0..).zip(&classes) {
            first.entry(*class).or_insert(row);
        }
        let same = |row: u32| first[&classes[row as usize]];
        let is_call = |op: &Op| matches!(op, Op::Call { .. });
        for step in self.bundles.rows.iter_mut().flat_map(|bundle| &mut bundle.lanes) {
            if !is_call(&step.op)
                && let Some(to) = step.op.target_mut()
            {
                *to = same(*to);
            }
        }
        self.starts.iter_mut().for_each(|start| *start = same(*start));
        let begins = self.bundles.functions.values().chain(&self.starts).copied().collect();
        let kept = reached(&self.bundles.rows, begins);
        let places: Vec<u32> =
            kept.iter().scan(0, |next, kept| Some(std::mem::replace(next, *next + u32::from(*kept)))).collect();
        for step in self.bundles.rows.iter_mut().flat_map(|bundle| &mut bundle.lanes) {
            if let Some(to) = step.op.target_mut() {
                *to = places[*to as usize];
            }
        }
        self.bundles.functions.values_mut().chain(&mut self.starts).for_each(|row| *row = places[*row as usize]);
        let mut stays = kept.iter();
        self.bundles.rows.retain(|_| stays.next() == Some(&true));
        if let Serial::Sections(Sections { enters, leaves }) = &mut self.serial {
            for marks in [enters, leaves] {
                marks.resize(kept.len(), false);
                let mut stays = kept.iter();
                marks.retain(|_| stays.next() == Some(&true));
            }
        }
    }

    /// A number for each row: rows with one number do the same, and so does all that follows them.
    fn classes(&self) -> Vec<u32> {
        let rows = &self.bundles.rows;
        let label = |row: usize| {
            let plain = |step: &Step| {
                let mut op = step.op;
                if !matches!(op, Op::Call { .. })
                    && let Some(to) = op.target_mut()
                {
                    *to = 0;
                }
                Step { op, ..*step }
            };
            let lanes: Vec<Step> = rows[row].lanes.iter().map(plain).collect();
            (lanes, self.serial.at(row as u32))
        };
        let mut numbers = HashMap::new();
        let mut classes: Vec<u32> = (0..rows.len())
            .map(|row| {
                let next = numbers.len() as u32;
                *numbers.entry(label(row)).or_insert(next)
            })
            .collect();
        let mut count = numbers.len();
        loop {
            let mut numbers = HashMap::new();
            let finer: Vec<u32> = (0..rows.len())
                .map(|row| {
                    let on: Vec<u32> = rows[row]
                        .successors(row as u32)
                        .map(|to| classes.get(to as usize).copied().unwrap_or(u32::MAX))
                        .collect();
                    let next = numbers.len() as u32;
                    *numbers.entry((classes[row], on)).or_insert(next)
                })
                .collect();
            classes = finer;
            if numbers.len() == count {
                return classes;
            }
            count = numbers.len();
        }
    }
}
