//! How often the instructions of a program ran, and which way its branches went.

use sluice_ebpf::vm::{At, Tracer};
use std::cell::{Cell, RefCell};

/// Counts of one program over some packets, by slot. It watches them as a [`Tracer`].
#[derive(Clone, Debug, Default)]
pub struct Profile {
    program: u32,
    hits: RefCell<Vec<u64>>,
    taken: RefCell<Vec<u64>>,
    last: Cell<Option<At>>,
}

impl Profile {
    /// Of the runtime's program with this number, which has so many slots.
    pub fn new(program: u32, slots: usize) -> Self {
        let none = RefCell::new(vec![0; slots]);
        Self { program, hits: none.clone(), taken: none, last: Cell::new(None) }
    }

    /// Times that the instruction at a slot ran.
    pub fn hits(&self, slot: u32) -> u64 {
        self.hits.borrow().get(slot as usize).copied().unwrap_or(0)
    }

    /// Times that the branch at a slot did not go on with the next slot.
    pub fn taken(&self, slot: u32) -> u64 {
        self.taken.borrow().get(slot as usize).copied().unwrap_or(0)
    }
}

impl Tracer for Profile {
    fn before(&self, at: At, _: &[u64; 16]) {
        let before = self.last.replace(Some(at));
        if at.program != self.program {
            return;
        }
        if let Some(hits) = self.hits.borrow_mut().get_mut(at.pc as usize) {
            *hits += 1;
        }
        // A branch leads on in its frame. Calls and exits count for nobody.
        if let Some(before) = before.filter(|b| (b.program, b.frame) == (at.program, at.frame) && b.pc + 1 != at.pc)
            && let Some(taken) = self.taken.borrow_mut().get_mut(before.pc as usize)
        {
            *taken += 1;
        }
    }
}
