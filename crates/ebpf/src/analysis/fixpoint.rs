//! What holds before each instruction, on every way that leads there.
//!
//! States stand at the beginnings of blocks, one for each call context; new ones are joined until
//! nothing changes. Heads of loops widen. Two more passes without widening then sharpen what
//! holds, which is sound because each starts from states that hold.

use super::graph::Graph;
use super::state::{Frame, State};
use super::transfer::{Code, Edge, Step};
use super::value::{Base, Value};
use crate::address::STACK_FRAMES;
use crate::insn::{Kind, Operand};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Most call contexts that are kept apart; with more, calls of one function at one depth are one.
const MAX_CONTEXTS: usize = 96;
/// Most thresholds that widening stops at.
const MAX_THRESHOLDS: usize = 64;
/// Passes that sharpen.
const NARROWING: u32 = 2;

/// A function as called from somewhere.
#[derive(Debug)]
struct Context {
    depth: u32,
    /// Context and slot that it returns to, and whether it is called back.
    callers: BTreeSet<(usize, u32, bool)>,
    /// First slot.
    function: u32,
    called_back: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// By caller and slot that is returned to.
    Exact(usize, u32, u32),
    /// By depth and function.
    Shared(u32, u32),
}

struct Node {
    state: State,
    changes: u32,
}

/// Why the fixpoint was not reached.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// More contexts than are kept apart.
    Contexts,
    /// More instructions followed than allowed.
    Steps,
}

/// The solver of one program.
pub(super) struct Solver<'a> {
    code: &'a Code<'a>,
    graph: &'a Graph,
    shared: bool,
    contexts: Vec<Context>,
    keys: HashMap<Key, usize>,
    nodes: HashMap<(usize, u32), Node>,
    work: BTreeSet<(Reverse<u32>, usize, u32, u32)>,
    thresholds: Vec<i64>,
    steps_left: u64,
    narrowing: bool,
}

impl<'a> Solver<'a> {
    /// `shared` joins calls of one function at one depth.
    pub fn new(code: &'a Code<'a>, graph: &'a Graph, shared: bool, steps: u64) -> Self {
        let main = Context { depth: 0, callers: BTreeSet::new(), function: 0, called_back: false };
        Self {
            code,
            graph,
            shared,
            contexts: vec![main],
            keys: HashMap::new(),
            nodes: HashMap::new(),
            work: BTreeSet::new(),
            thresholds: thresholds(code),
            steps_left: steps,
            narrowing: false,
        }
    }

    /// Instructions that may still be followed.
    pub fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// Finds what holds everywhere.
    pub fn solve(&mut self) -> Result<(), Stop> {
        self.arrive(0, 0, State::entry());
        while let Some(item) = self.work.pop_first() {
            let (_, context, _, pc) = item;
            let Some(node) = self.nodes.get(&(context, pc)) else { continue };
            let state = node.state.clone();
            self.block(context, pc, state)?;
        }
        for _ in 0..NARROWING {
            self.sharpen()?;
        }
        Ok(())
    }

    /// Follows every block once from what holds before it; what arrives is what holds then.
    fn sharpen(&mut self) -> Result<(), Stop> {
        let old = std::mem::take(&mut self.nodes);
        self.narrowing = true;
        self.arrive(0, 0, State::entry());
        let mut order: Vec<(usize, u32)> = old.keys().copied().collect();
        order.sort_unstable_by_key(|(context, pc)| (*context, self.graph.order[*pc as usize]));
        for (context, pc) in order {
            let state = old[&(context, pc)].state.clone();
            self.block(context, pc, state)?;
        }
        self.narrowing = false;
        Ok(())
    }

    /// Calls `see` with slot and state before each instruction that is reached.
    pub fn visit(&self, mut see: impl FnMut(u32, &State)) {
        let mut order: Vec<(usize, u32)> = self.nodes.keys().copied().collect();
        order.sort_unstable();
        for at in order {
            let mut state = self.nodes[&at].state.clone();
            let mut pc = at.1;
            loop {
                see(pc, &state);
                let Some(kind) = self.code.kind(pc) else { break };
                let Step::Next(next) = self.code.step(state, pc) else { break };
                pc += kind.slots();
                if self.graph.leader.get(pc as usize) != Some(&false) {
                    break;
                }
                state = next;
            }
        }
    }

    fn block(&mut self, context: usize, start: u32, mut state: State) -> Result<(), Stop> {
        let mut pc = start;
        loop {
            self.steps_left = self.steps_left.checked_sub(1).ok_or(Stop::Steps)?;
            let Some(kind) = self.code.kind(pc) else { return Ok(()) };
            match self.code.step(state, pc) {
                Step::Next(next) => {
                    pc += kind.slots();
                    match self.graph.leader.get(pc as usize) {
                        Some(false) => state = next,
                        Some(true) => {
                            self.arrive(context, pc, next);
                            return Ok(());
                        }
                        None => return Ok(()),
                    }
                }
                Step::Ways(ways) => {
                    for (edge, state) in ways {
                        self.follow(context, edge, state)?;
                    }
                    return Ok(());
                }
            }
        }
    }

    fn follow(&mut self, context: usize, edge: Edge, mut s: State) -> Result<(), Stop> {
        match edge {
            Edge::Slot(pc) => self.arrive(context, pc, s),
            Edge::Enter { function, back, callback } => {
                let depth = self.contexts[context].depth + 1;
                // The interpreter stops at a call that is too deep.
                if depth >= STACK_FRAMES {
                    return Ok(());
                }
                let called = self.context(context, function, back, depth, callback.is_some())?;
                let saved = [s.regs[6], s.regs[7], s.regs[8], s.regs[9]];
                let callback = callback.map(|args| *args);
                s.frames.push(Rc::new(Frame { saved, callback, ..Frame::new() }));
                enter(&mut s, callback);
                self.arrive(called, function, s);
            }
            Edge::Return => {
                let Some(frame) = s.frames.pop().filter(|_| !s.frames.is_empty()) else { return Ok(()) };
                s.regs[6..10].copy_from_slice(&frame.saved);
                s.regs[1..6].fill(Value::unknown());
                s.regs[10] = Value::pointer(Base::Stack(s.frames.len() as u8 - 1));
                for (caller, back, called_back) in self.contexts[context].callers.clone() {
                    let mut s = s.clone();
                    if called_back {
                        s.regs[0] = Value::unknown();
                        let mut again = s.clone();
                        again.frames.push(frame.clone());
                        // The frame is zero again, of which nothing is kept.
                        if let Some(top) = again.frames.last_mut() {
                            Rc::make_mut(top).slots.clear();
                        }
                        enter(&mut again, frame.callback);
                        let function = self.contexts[context].function;
                        self.arrive(context, function, again);
                    }
                    self.arrive(caller, back, s);
                }
            }
        }
        Ok(())
    }

    fn context(
        &mut self,
        caller: usize,
        function: u32,
        back: u32,
        depth: u32,
        called_back: bool,
    ) -> Result<usize, Stop> {
        let key = if self.shared { Key::Shared(depth, function) } else { Key::Exact(caller, back, function) };
        let index = match self.keys.get(&key) {
            Some(index) => *index,
            None if !self.shared && self.contexts.len() >= MAX_CONTEXTS => return Err(Stop::Contexts),
            None => {
                self.contexts.push(Context { depth, callers: BTreeSet::new(), function, called_back });
                self.keys.insert(key, self.contexts.len() - 1);
                self.contexts.len() - 1
            }
        };
        let context = &mut self.contexts[index];
        context.called_back |= called_back;
        if context.callers.insert((caller, back, called_back)) {
            // What returned already has to return here too.
            let exits: Vec<u32> = self.nodes.keys().filter(|(c, _)| *c == index).map(|(_, pc)| *pc).collect();
            for pc in exits {
                self.queue(index, pc);
            }
        }
        Ok(index)
    }

    fn queue(&mut self, context: usize, pc: u32) {
        if !self.narrowing {
            let depth = Reverse(self.contexts[context].depth);
            self.work.insert((depth, context, self.graph.order[pc as usize], pc));
        }
    }

    /// Joins a state to what holds at a slot.
    fn arrive(&mut self, context: usize, pc: u32, state: State) {
        if pc as usize >= self.graph.leader.len() {
            return;
        }
        let c = &self.contexts[context];
        let entry = pc == c.function && (self.shared || c.called_back);
        let widens = self.graph.head[pc as usize] || entry;
        let Some(node) = self.nodes.get_mut(&(context, pc)) else {
            self.nodes.insert((context, pc), Node { state, changes: 0 });
            self.queue(context, pc);
            return;
        };
        let thresholds = match node.changes {
            _ if self.narrowing => None,
            0..2 => None,
            2..8 if widens => Some(&self.thresholds[..]),
            8.. if widens => Some(&[][..]),
            // However the ways run, what is joined often enough settles.
            48.. => Some(&[][..]),
            _ => None,
        };
        let mut joined = node.state.clone();
        joined.join(state, pc, thresholds);
        if joined != node.state {
            node.state = joined;
            node.changes += 1;
            self.queue(context, pc);
        }
    }
}

/// Registers at the start of a function. Of a call they are those of the caller.
fn enter(s: &mut State, callback: Option<[Value; 5]>) {
    if let Some(args) = callback {
        s.regs[1..6].copy_from_slice(&args);
    }
    s.regs[0] = Value::unknown();
    s.regs[6..10].fill(Value::unknown());
    s.regs[10] = Value::pointer(Base::Stack(s.frames.len() as u8 - 1));
}

/// Numbers that bounds are likely to stop at: those that the program compares with.
fn thresholds(code: &Code<'_>) -> Vec<i64> {
    let mut counts: BTreeMap<i64, u32> = BTreeMap::new();
    for kind in code.kinds.iter().flatten() {
        if let Kind::Branch { src: Operand::Imm(i), .. } = kind {
            for k in [-1, 0, 1] {
                *counts.entry(i64::from(*i) + k).or_default() += 1;
            }
        }
    }
    let mut kept: Vec<i64> = counts.into_keys().collect();
    let step = kept.len().div_ceil(MAX_THRESHOLDS).max(1);
    kept = kept.into_iter().step_by(step).collect();
    kept.extend([0, 1, 0xff, 0xffff, i64::from(i32::MAX), i64::from(u32::MAX)]);
    kept.sort_unstable();
    kept.dedup();
    kept
}
