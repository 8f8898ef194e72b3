//! Which rows a packet came by and what they changed: for traces, and to tell the paths of packets apart.

use crate::Cores;
use crate::cycles::trace::MOST_BUNDLES;
use sluice_ebpf::FaultReason;
use std::cell::{Cell, RefCell};
use std::hash::{DefaultHasher, Hash, Hasher};

/// One bundle that a packet executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The runtime's number of its program.
    pub program: u32,
    /// Row in the program.
    pub row: u32,
    /// Frame that runs, 0 for the program's own.
    pub frame: usize,
    /// Lanes that were carried out; those behind them were squashed.
    pub lanes: usize,
    /// Registers that hold something else now.
    pub changed: Vec<(u8, u64)>,
    /// Why the program ended here.
    pub fault: Option<FaultReason>,
}

/// The rows of one packet, where somebody asks for them.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    path: RefCell<Option<DefaultHasher>>,
    keeps: Cell<bool>,
    kept: RefCell<Vec<Visit>>,
}

impl Visits {
    /// A bundle begins; its place among those that are kept.
    pub(crate) fn begin(&self, program: u32, row: u32, frame: usize) -> Option<usize> {
        if let Some(path) = self.path.borrow_mut().as_mut() {
            (program, row).hash(path);
        }
        if !self.keeps.get() {
            return None;
        }
        let mut kept = self.kept.borrow_mut();
        (kept.len() < MOST_BUNDLES).then(|| {
            kept.push(Visit { program, row, frame, lanes: 0, changed: Vec::new(), fault: None });
            kept.len() - 1
        })
    }

    /// It has ended, with these registers before and after.
    pub(crate) fn end(
        &self,
        at: Option<usize>,
        lanes: u64,
        (before, after): (&[u64; 16], &[u64; 16]),
        fault: Option<&FaultReason>,
    ) {
        let Some(at) = at else { return };
        let visit = &mut self.kept.borrow_mut()[at];
        let changed = (0..).zip(before.iter().zip(after)).filter(|(_, (before, after))| before != after);
        visit.changed = changed.map(|(register, (_, after))| (register, *after)).collect();
        visit.lanes = lanes as usize;
        visit.fault = fault.cloned();
    }
}

impl Cores {
    /// Tells paths apart from now on.
    pub fn tell_paths(&mut self) {
        self.visits.path = RefCell::new(Some(DefaultHasher::new()));
    }

    /// A number for the rows since this was last asked, in their order: other rows, or another order, give another one.
    pub fn take_path(&self) -> u64 {
        let mut path = self.visits.path.borrow_mut();
        path.as_mut().map_or(0, |path| std::mem::take(path).finish())
    }

    /// Keeps from now on each bundle that is executed, or none any more.
    pub fn keep_visits(&self, keeps: bool) {
        self.visits.keeps.set(keeps);
    }

    /// Those that were kept since this was last asked, in their order.
    pub fn take_visits(&self) -> Vec<Visit> {
        self.visits.kept.take()
    }
}
