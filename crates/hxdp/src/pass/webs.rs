//! The values of a trace: where each is written and read, and registers in which all of them have room.
//!
//! A value that another trace, a helper or a function is given or gives stays in its register.

use super::Trace;
use super::liveness::Liveness;
use crate::Op;
use crate::op::{CORE, NAMES, OWN, Registers, START};

/// A value: where it is written and read for the last time.
#[derive(Clone, Copy, Debug)]
pub struct Web {
    /// Its register.
    pub register: u8,
    /// Twice the instruction that writes it and one; 0 for what a trace is entered with.
    pub start: usize,
    /// Twice the instruction that reads it last.
    pub end: usize,
    /// It stays in its register.
    pub fixed: bool,
}

impl Web {
    /// Whether both need their registers at some time.
    pub fn meets(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// The value that each register holds.
pub type Held = [Option<usize>; NAMES];

/// The values of a trace.
#[derive(Clone, Debug)]
pub struct Webs {
    /// All of them. The first are what the registers hold where the trace is entered.
    pub all: Vec<Web>,
    /// For each instruction the values that its registers hold before and behind it.
    pub at: Vec<(Held, Held)>,
}

impl Webs {
    /// Of a trace.
    pub fn of(trace: &Trace, is_main: bool, live: &Liveness) -> Self {
        let entry = |register| Web { register, start: 0, end: 0, fixed: true };
        let mut webs = Self { all: (0..NAMES as u8).map(entry).collect(), at: Vec::with_capacity(trace.steps.len()) };
        let mut current: Held = std::array::from_fn(Some);
        for (index, step) in trace.steps.iter().enumerate() {
            let (op, before) = (&step.op, current);
            let leaves = op.branch().map_or(0, |to| live.at(to));
            webs.read(&current, op.reads() | leaves, 2 * index, op.fixed() | leaves);
            let lost = if op.is_barrier() { OWN } else { 0 };
            for register in (0..NAMES as u8).filter(|r| (op.writes() | lost) >> r & 1 == 1) {
                let fixed = (op.fixed() | lost) >> register & 1 == 1;
                current[usize::from(register)] = Some(webs.all.len());
                // Nobody may be in the register then, even if nobody reads it.
                webs.all.push(Web { register, start: 2 * index + 1, end: 2 * index + 2, fixed });
            }
            webs.at.push((before, current));
        }
        let end = live.behind(is_main, trace).last().copied().unwrap_or_default();
        webs.read(&current, end, usize::MAX, end);
        webs
    }

    fn read(&mut self, current: &Held, registers: Registers, at: usize, fixed: Registers) {
        for (register, web) in current.iter().enumerate().filter(|(r, _)| registers >> r & 1 == 1) {
            let Some(web) = web.and_then(|web| self.all.get_mut(web)) else { continue };
            web.end = web.end.max(at);
            web.fixed |= fixed >> register & 1 == 1;
        }
    }

    /// A register of the core for each value, or the value for which there is none.
    pub fn names(&self, trace: &Trace, live: &Liveness) -> Result<Vec<u8>, usize> {
        self.names_of(trace, live, |register| register < CORE as u8 && !matches!(register, 10 | START))
    }

    /// The same with registers that no core has.
    pub fn more_names(&self, trace: &Trace, live: &Liveness) -> Result<Vec<u8>, usize> {
        self.names_of(trace, live, |register| register >= CORE as u8)
    }

    fn names_of(&self, trace: &Trace, live: &Liveness, is_wanted: impl Fn(u8) -> bool) -> Result<Vec<u8>, usize> {
        let wanted: Vec<u8> = (0..NAMES as u8).filter(|register| is_wanted(*register)).collect();
        let mut held: Vec<Vec<Web>> = vec![Vec::new(); NAMES];
        for web in self.all.iter().filter(|web| web.fixed) {
            held[usize::from(web.register)].push(*web);
        }
        // Where each register is read on another way, nothing that is written passes upwards.
        let walls: Vec<(usize, Registers)> = trace
            .steps
            .iter()
            .enumerate()
            .filter_map(|(index, step)| Some((2 * index, live.at(step.op.branch()?))))
            .collect();
        let mut names: Vec<u8> = self.all.iter().map(|web| web.register).collect();
        for (index, web) in self.all.iter().enumerate().filter(|(_, web)| !web.fixed) {
            let room = |register: &u8| {
                let held = &held[usize::from(*register)];
                if held.iter().any(|other| other.meets(web)) {
                    return None;
                }
                let wall = walls.iter().rev().filter(|(at, live)| *at < web.start && live >> *register & 1 == 1);
                let before = held.iter().filter(|other| other.end <= web.start).map(|other| other.end);
                let before = before.chain(wall.map(|(at, _)| *at).take(1)).max().unwrap_or(0);
                let behind = held.iter().filter(|other| other.start >= web.end).map(|other| other.start).min();
                Some((web.start - before).min(behind.unwrap_or(usize::MAX) - web.end))
            };
            let free = wanted.iter().filter_map(|register| Some((room(register)?, std::cmp::Reverse(*register))));
            let Some((_, std::cmp::Reverse(register))) = free.max() else { return Err(index) };
            names[index] = register;
            held[usize::from(register)].push(*web);
        }
        Ok(names)
    }

    /// An instruction of the trace with these registers.
    pub fn renamed(&self, index: usize, op: Op, names: &[u8]) -> Op {
        let name = |of: &Held, r: u8| of[usize::from(r)].map_or(r, |web| names[web]);
        let (reads, writes) = &self.at[index];
        op.renamed(&|r| name(reads, r), &|r| name(writes, r))
    }
}
