//! Which instruction of a trace waits for which.
//!
//! The rules are those of docs/design/hxdp.md, "What the compiler keeps".

use super::Trace;
use super::liveness::Liveness;
use crate::effect::{Effect, SHARED};
use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;

/// How far the second instruction stays behind the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// Not in an earlier bundle: it writes what the first one reads.
    Same,
    /// Not in an earlier bundle, and in the same one in a later lane.
    Lane,
    /// In a later bundle.
    Bundle,
}

/// One instruction waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index in the trace.
    pub from: usize,
    /// Index in the trace, greater.
    pub to: usize,
    /// How far.
    pub order: Order,
}

/// All dependences of a trace.
pub fn dependences(trace: &Trace, regions: &Regions, live: &Liveness) -> Vec<Edge> {
    let effects: Vec<Effect> = trace.steps.iter().map(|step| Effect::of(step, regions)).collect();
    let mut edges = Vec::new();
    for to in 0..effects.len() {
        for from in 0..to {
            let (first, second) = ((&trace.steps[from], &effects[from]), (&trace.steps[to], &effects[to]));
            let order =
                by_registers(first.1, second.1).max(by_memory(first, second)).max(by_control(first, second, live));
            let ends = first.0.op.gives_verdict() && second.0.op.is_plain_exit();
            let order = if ends { Some(Order::Lane) } else { order };
            edges.extend(order.map(|order| Edge { from, to, order }));
        }
    }
    edges
}

fn by_registers(first: &Effect, second: &Effect) -> Option<Order> {
    if first.writes & (second.reads | second.writes) != 0 {
        Some(Order::Bundle)
    } else {
        (first.reads & second.writes != 0).then_some(Order::Same)
    }
}

fn by_memory((step, first): (&Step, &Effect), (_, second): (&Step, &Effect)) -> Option<Order> {
    let conflict = first.conflicts(second);
    if conflict && first.stores != 0 {
        return Some(Order::Bundle);
    }
    // Behind a helper its bundle has no lane left.
    let next = if step.op.is_last() { Order::Bundle } else { Order::Lane };
    let changes = second.stores != 0 || second.shared && second.may_fault;
    let fault = first.may_fault && (second.may_fault || changes);
    let visible = first.stores & SHARED != 0 || matches!(step.op, Op::Helper { .. } | Op::Call { .. });
    let kept = conflict || fault || first.shared && second.shared || visible && second.may_fault;
    kept.then_some(next)
}

fn by_control((step, first): (&Step, &Effect), (after, second): (&Step, &Effect), live: &Liveness) -> Option<Order> {
    if step.op.is_barrier() {
        return Some(Order::Bundle);
    }
    match step.op.branch() {
        // What is not read where the branch goes may as well be done behind it.
        _ if step.op.is_harmless() && after.op.branch().is_some_and(|to| first.writes & live.at(to) == 0) => None,
        _ if after.op.is_barrier() || after.op.ends() || after.op.branch().is_some() => {
            Some(if step.op.is_last() { Order::Bundle } else { Order::Lane })
        }
        Some(to) => {
            let moves = after.op.is_harmless() && second.writes & live.at(to) == 0;
            (!moves).then_some(Order::Lane)
        }
        _ => None,
    }
}
