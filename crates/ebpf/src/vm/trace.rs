//! What a run shows to those who watch it.

use std::cell::{Cell, RefCell};

/// Kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A load instruction.
    Load,
    /// A store instruction.
    Store,
    /// An atomic instruction: load and store.
    Atomic,
    /// A helper read.
    HelperRead,
    /// A helper got the bytes to write (it may also have read them).
    HelperWrite,
}

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct At {
    /// Program number: of a `Runtime`, as in program arrays.
    pub program: u32,
    /// Slot in the program's `insns`.
    pub pc: u32,
    /// Stack frame, 0 for the program itself.
    pub frame: u32,
}

/// Watches a run. Costs nothing when none is given. Methods take `&self`: an implementation
/// keeps what it sees in cells.
pub trait Tracer {
    /// Before an instruction: r0 to r10.
    fn before(&self, at: At, registers: &[u64; 16]) {
        let _ = (at, registers);
    }

    /// A memory access that succeeded, between `before` and `after` of its instruction.
    fn access(&self, kind: Access, address: u64, bytes: u32) {
        let _ = (kind, address, bytes);
    }

    /// After an instruction: r0 to r10. Not called when it faulted. Of a call of a function it
    /// comes when the function begins, of a helper when it returned, of the last exit at the end.
    fn after(&self, at: At, registers: &[u64; 16]) {
        let _ = (at, registers);
    }
}

/// Counts how often each slot of one program was executed.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    program: Cell<u32>,
    hits: RefCell<Vec<u64>>,
}

impl Coverage {
    /// Of program number `program`, with `slots` slots.
    pub fn new(program: u32, slots: usize) -> Self {
        Self { program: Cell::new(program), hits: RefCell::new(vec![0; slots]) }
    }

    /// Executions by slot; second slots of wide loads have none.
    pub fn hits(&self) -> Vec<u64> {
        self.hits.borrow().clone()
    }
}

impl Tracer for Coverage {
    fn before(&self, at: At, _: &[u64; 16]) {
        if at.program == self.program.get()
            && let Some(hit) = self.hits.borrow_mut().get_mut(at.pc as usize)
        {
            *hit += 1;
        }
    }
}
