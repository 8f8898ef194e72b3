//! Control flow inside functions: where blocks begin, their order, and heads of loops.

use super::transfer::Code;
use crate::insn::Kind;
use std::collections::BTreeSet;

/// Shape of a program, all functions together.
pub(super) struct Graph {
    /// Slots where a block begins.
    pub leader: Vec<bool>,
    /// Slots that a jump comes back to.
    pub head: Vec<bool>,
    /// Place in reverse postorder of its function; only compared within a function.
    pub order: Vec<u32>,
    /// Slots that are reached if every branch may go both ways.
    pub reached: Vec<bool>,
    /// Jumps back: from and to, by rising slots.
    pub back_edges: Vec<(u32, u32)>,
}

impl Graph {
    pub fn new(code: &Code<'_>) -> Self {
        let n = code.kinds.len();
        let mut g = Self {
            leader: vec![false; n],
            head: vec![false; n],
            order: vec![u32::MAX; n],
            reached: vec![false; n],
            back_edges: Vec::new(),
        };
        let mut starts: BTreeSet<u32> = code.program.functions.iter().map(|f| f.start).collect();
        starts.insert(0);
        for pc in 0..n as u32 {
            let Some(kind) = code.kind(pc) else { continue };
            let after = (pc + kind.slots()) as usize;
            let ends = !matches!(
                kind,
                Kind::Alu { .. }
                    | Kind::Neg { .. }
                    | Kind::MovSx { .. }
                    | Kind::Swap { .. }
                    | Kind::Load { .. }
                    | Kind::Store { .. }
                    | Kind::Atomic { .. }
                    | Kind::Wide { .. }
            );
            if let Some(target) = code.target(pc) {
                g.leader[target as usize] = true;
                if matches!(kind, Kind::CallLocal { .. }) {
                    starts.insert(target);
                }
            }
            if ends && after < n {
                g.leader[after] = true;
            }
        }
        for start in starts {
            if (start as usize) < n {
                g.leader[start as usize] = true;
                g.visit(code, start);
            }
        }
        g.back_edges.sort_unstable();
        g.back_edges.dedup();
        g
    }

    /// Depth first from a function's start.
    fn visit(&mut self, code: &Code<'_>, start: u32) {
        if self.reached[start as usize] {
            return;
        }
        let mut open = vec![false; self.leader.len()];
        let mut postorder = Vec::new();
        let mut stack = vec![(start, 0)];
        self.reached[start as usize] = true;
        open[start as usize] = true;
        while let Some((pc, way)) = stack.last_mut() {
            let (at, index) = (*pc, *way);
            *way += 1;
            match successors(code, at)[..].get(index).copied().flatten() {
                Some(to) if (to as usize) < open.len() => {
                    if open[to as usize] {
                        self.head[to as usize] = true;
                        self.back_edges.push((at, to));
                    } else if !self.reached[to as usize] {
                        self.reached[to as usize] = true;
                        open[to as usize] = true;
                        stack.push((to, 0));
                    }
                }
                _ if index < 2 => {}
                _ => {
                    open[at as usize] = false;
                    postorder.push(at);
                    stack.pop();
                }
            }
        }
        for (place, pc) in postorder.into_iter().rev().enumerate() {
            self.order[pc as usize] = place as u32;
        }
    }
}

/// Slots of the same function that control may go to; a call comes back.
pub(super) fn successors(code: &Code<'_>, pc: u32) -> [Option<u32>; 2] {
    let Some(kind) = code.kind(pc) else { return [None; 2] };
    let next = Some(pc + kind.slots());
    match kind {
        Kind::Exit => [None; 2],
        Kind::Jump { .. } => [code.target(pc), None],
        Kind::Branch { .. } => [code.target(pc), next],
        _ => [next, None],
    }
}
