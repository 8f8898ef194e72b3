//! Calls go to functions, never in circles, and not too deep.

use super::{Check, Reason, Refusal};
use crate::address::STACK_FRAMES;
use crate::insn::{Kind, WideValue};

/// A call, or a pointer that a helper may call.
#[derive(Clone, Copy)]
struct Edge {
    slot: u32,
    caller: usize,
    callee: usize,
}

pub(super) fn check(check: &Check<'_>) -> Result<(), Refusal> {
    let edges = edges(check)?;
    let functions = check.starts.len();
    let mut waiting = vec![0u32; functions];
    let mut calls = vec![Vec::new(); functions];
    for edge in &edges {
        waiting[edge.callee] += 1;
        calls[edge.caller].push(*edge);
    }
    // In an order in which callers come before those they call.
    let mut depth = vec![1; functions];
    let mut open: Vec<usize> = (0..functions).filter(|f| waiting[*f] == 0).collect();
    while let Some(caller) = open.pop() {
        for edge in &calls[caller] {
            depth[edge.callee] = depth[edge.callee].max(depth[caller] + 1);
            if depth[edge.callee] > STACK_FRAMES {
                let reason = Reason::Depth { found: depth[edge.callee], max: STACK_FRAMES };
                return Err(check.refuse(edge.slot, reason));
            }
            waiting[edge.callee] -= 1;
            if waiting[edge.callee] == 0 {
                open.push(edge.callee);
            }
        }
    }
    let Some(mut function) = (0..functions).find(|f| waiting[*f] > 0) else { return Ok(()) };
    // Every function left is called by another one left: going back ends in a circle.
    let mut back = vec![None; functions];
    for edge in edges.iter().filter(|e| waiting[e.caller] > 0) {
        back[edge.callee] = Some(*edge);
    }
    let mut seen = vec![false; functions];
    while let Some(edge) = back[function] {
        if std::mem::replace(&mut seen[function], true) {
            let reason = Reason::Recursion { function: check.starts[function] };
            return Err(check.refuse(edge.slot, reason));
        }
        function = edge.caller;
    }
    Ok(())
}

fn edges(check: &Check<'_>) -> Result<Vec<Edge>, Refusal> {
    let mut edges = Vec::new();
    for (slot, kind) in check.instructions() {
        let what = match kind {
            Kind::CallLocal { .. } => "call of",
            Kind::Wide { value: WideValue::Function(_), .. } => "function pointer to",
            _ => continue,
        };
        let found = kind.target(slot).unwrap_or(-1);
        let callee = u32::try_from(found).ok().and_then(|t| check.starts.binary_search(&t).ok());
        let Some(callee) = callee else {
            return Err(check.refuse(slot, Reason::NoFunction { what, found, starts: check.starts_text() }));
        };
        edges.push(Edge { slot, caller: check.function(slot), callee });
    }
    Ok(edges)
}
