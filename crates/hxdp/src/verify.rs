//! Checks bundles against the rules of docs/design/hxdp.md. It knows nothing of the scheduler.

use crate::effect::{Effect, SHARED};
use crate::op::{CORE, OWN, Registers, START};
use crate::pass::liveness::Liveness;
use crate::pass::{Code, Trace};
use crate::{Bundle, Bundles, Op, Step, Target};
use sluice_ebpf::insn::{AluOp, AtomicOp};
use std::collections::BTreeMap;

/// A rule that bundles break, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row}, lane {lane}: {rule}")]
pub struct Broken {
    /// Row.
    pub row: usize,
    /// Lane.
    pub lane: usize,
    /// The rule.
    pub rule: &'static str,
}

/// Checks a whole program: the form of each row, that each trace stands at its rows, and its order.
pub fn verify(code: &Code, bundles: &Bundles, starts: &BTreeMap<u32, u32>) -> Result<(), Broken> {
    structure(bundles)?;
    let live = Liveness::of(code);
    for (label, trace) in &code.traces {
        let start = starts.get(label).map_or(usize::MAX, |row| *row as usize);
        let places = places(trace, bundles, starts, start)?;
        let effects: Vec<Effect> = trace.steps.iter().map(|step| Effect::of(step, &code.regions)).collect();
        order(&trace.steps, &effects, &places, &live)?;
        for ((step, effect), (row, lane)) in trace.steps.iter().zip(&effects).zip(places) {
            let quiet = matches!(step.op, Op::Load { quiet: true, .. });
            if quiet && effect.may_fault {
                return Err(Broken { row, lane, rule: "a quiet load cannot fault where it stood" });
            }
        }
    }
    let wrong = code.functions.iter().find(|f| bundles.functions.get(f) != starts.get(f));
    match wrong {
        Some(_) => Err(Broken { row: 0, lane: 0, rule: "a function has the row of its first slot" }),
        None => Ok(()),
    }
}

/// Checks a program between two passes. Gives the trace and its rule that is broken.
pub fn traces(code: &Code) -> Result<(), String> {
    for function in &code.functions {
        if !code.traces.contains_key(function) {
            return Err(format!("function {function} has no trace"));
        }
    }
    for (label, trace) in &code.traces {
        let broken = |index: usize, rule: &str| Err(format!("trace {label}, instruction {index}: {rule}"));
        let own = OWN & !(1 << START);
        let set = code
            .entry
            .registers
            .iter()
            .filter(|_| *label == 0)
            .fold(0, |set: Registers, (register, _)| set | 1 << register);
        let mut undefined = own & !set;
        for (index, Step { op, .. }) in trace.steps.iter().enumerate() {
            if op.ends() && (index + 1 < trace.steps.len() || trace.next.is_some()) {
                return broken(index, "nothing follows a jump or exit");
            }
            if matches!(op, Op::Jump { back: false, .. }) {
                return broken(index, "what leads on is what follows the trace");
            }
            if op.target().is_some_and(|to| !code.traces.contains_key(&to)) {
                return broken(index, "targets are traces");
            }
            if let Err(rule) = alone(op) {
                return broken(index, rule);
            }
            if op.reads() & undefined != 0 {
                return broken(
                    index,
                    "r11 and those behind it are read behind what writes them in the same trace, and no call between",
                );
            }
            undefined = if op.is_barrier() { own } else { undefined & !op.writes() };
        }
        let ends = trace.steps.last().is_some_and(|step| step.op.ends());
        if !ends && trace.next.is_none_or(|next| !code.traces.contains_key(&next)) {
            return broken(trace.steps.len(), "a trace that does not end is followed by one");
        }
    }
    Ok(())
}

/// Checks the form of one instruction.
fn alone(op: &Op) -> Result<(), &'static str> {
    let written = op.writes() & !if matches!(op, Op::Helper { .. }) { 1 << START } else { 0 };
    if written & (1 << 10 | 1 << START) != 0 {
        return Err("r10 and r15 are not written");
    }
    if matches!(op, Op::Load { bytes, .. } | Op::Store { bytes, .. } if !matches!(bytes, 1 | 2 | 4 | 6 | 8)) {
        return Err("accesses have 1, 2, 4, 6 or 8 bytes");
    }
    Ok(())
}

/// Checks the form of each row by itself.
pub fn structure(bundles: &Bundles) -> Result<(), Broken> {
    let (rows, target) = (&bundles.rows, &bundles.target);
    for (row, bundle) in rows.iter().enumerate() {
        form(bundle, target, rows.len()).map_err(|(lane, rule)| Broken { row, lane, rule })?;
    }
    match rows.last() {
        None => Err(Broken { row: 0, lane: 0, rule: "a program has a row" }),
        Some(last) if !last.lanes.last().is_some_and(|step| step.op.ends()) => {
            Err(Broken { row: rows.len() - 1, lane: 0, rule: "the last row ends with a jump or exit" })
        }
        Some(_) => Ok(()),
    }
}

fn form(bundle: &Bundle, target: &Target, rows: usize) -> Result<(), (usize, &'static str)> {
    if bundle.lanes.is_empty() || bundle.lanes.len() > target.lanes {
        return Err((bundle.lanes.len(), "a bundle has an instruction, and no more than lanes"));
    }
    let (mut accesses, mut waits, mut written) = (0, 0, 0);
    for (lane, Step { op, .. }) in bundle.lanes.iter().enumerate() {
        accesses += usize::from(op.is_access());
        if accesses > target.ports {
            return Err((lane, "a bundle has no more accesses than memory ports"));
        }
        waits += usize::from(matches!(op, Op::Helper { .. }));
        waits += usize::from(matches!(op, Op::Alu { op, .. } if is_product(*op)));
        if waits > 1 || (waits > 0 && accesses > 0) {
            return Err((lane, "a helper, multiplication or division takes every memory port of its bundle"));
        }
        if bundle.lanes.len() > 1 && matches!(op, Op::Atomic { op: AtomicOp::Cmpxchg, .. }) {
            return Err((lane, "a compare-and-exchange is alone in its bundle"));
        }
        if bundle.lanes.len() > 1 && matches!(op, Op::Call { .. }) {
            return Err((lane, "a call of a function is alone in its bundle"));
        }
        let rest = &bundle.lanes[lane + 1..];
        let ends = lane == 0 && op.gives_verdict() && matches!(rest, [exit] if exit.op.is_plain_exit());
        if !ends && bundle.lanes.len() > 1 && matches!(op, Op::Helper { id, .. } if arguments(*id) > 2) {
            return Err((
                lane,
                "a helper of more than two arguments is alone in its bundle, but for an exit with what it gives",
            ));
        }
        if !ends && op.is_last() && !rest.is_empty() {
            return Err((lane, "a jump, exit or call is in the last lane, but for a redirect before an exit"));
        }
        if written & op.writes() != 0 {
            return Err((lane, "two lanes of a bundle do not write one register"));
        }
        written |= op.writes();
        alone(op).map_err(|rule| (lane, rule))?;
        if (op.reads() | op.writes()) >> CORE != 0 {
            return Err((lane, "a core has the registers r0 to r15"));
        }
        if op.target().is_some_and(|to| to as usize >= rows) {
            return Err((lane, "targets are rows of the program"));
        }
    }
    Ok(())
}

fn is_product(op: AluOp) -> bool {
    matches!(op, AluOp::Mul | AluOp::Div | AluOp::Mod | AluOp::Sdiv | AluOp::Smod)
}

fn arguments(helper: i32) -> usize {
    sluice_ebpf::helper::find_any(helper).map_or(5, |helper| helper.args.len())
}

/// Row and lane of each instruction of a trace.
fn places(
    trace: &Trace,
    bundles: &Bundles,
    starts: &BTreeMap<u32, u32>,
    start: usize,
) -> Result<Vec<(usize, usize)>, Broken> {
    let in_rows = |step: &Step| {
        let mut step = *step;
        if let Some(to) = step.op.target_mut() {
            *to = starts.get(to).copied().unwrap_or(u32::MAX);
        }
        step
    };
    let mut left: Vec<Option<Step>> = trace.steps.iter().map(|step| Some(in_rows(step))).collect();
    let mut places = vec![(0, 0); left.len()];
    let next = trace.next.and_then(|next| starts.get(&next)).map(|row| *row as usize);
    let mut row = start;
    let mut ended = false;
    while left.iter().any(Option::is_some) {
        let broken = |lane, rule| Broken { row, lane, rule };
        let Some(bundle) = bundles.rows.get(row) else { return Err(broken(0, "a trace has all its rows")) };
        for (lane, step) in bundle.lanes.iter().enumerate() {
            if let Some(index) = left.iter().position(|l| *l == Some(*step)) {
                (left[index], places[index]) = (None, (row, lane));
            } else if !matches!(step.op, Op::Jump { to, back: false } if Some(to as usize) == next) {
                return Err(broken(lane, "a trace's rows hold its instructions, and a jump to what follows"));
            } else {
                ended = true;
            }
        }
        row += 1;
        if ended && left.iter().any(Option::is_some) {
            return Err(Broken { row, lane: 0, rule: "nothing of a trace is behind its jump" });
        }
    }
    let jumps = |row: usize| {
        let only = bundles.rows.get(row).map(|bundle| bundle.lanes.as_slice());
        matches!(only, Some([Step { op: Op::Jump { to, back: false }, .. }]) if Some(*to as usize) == next)
    };
    if next.is_some() && !ended && next != Some(row) && !jumps(row) {
        return Err(Broken { row, lane: 0, rule: "what follows a trace stands behind it or is jumped to" });
    }
    Ok(places)
}

/// Checks the order of a trace: each two instructions against every rule.
pub fn order(steps: &[Step], effects: &[Effect], places: &[(usize, usize)], live: &Liveness) -> Result<(), Broken> {
    for (second, place) in places.iter().enumerate() {
        for first in 0..second {
            let rule =
                pair((&steps[first], &effects[first]), (&steps[second], &effects[second]), live, places[first], *place);
            if let Some(rule) = rule {
                return Err(Broken { row: place.0, lane: place.1, rule });
            }
        }
    }
    Ok(())
}

/// The rule that two instructions break, of which `first` comes first in the program.
fn pair(
    (step, first): (&Step, &Effect),
    (after, second): (&Step, &Effect),
    live: &Liveness,
    from: (usize, usize),
    to: (usize, usize),
) -> Option<&'static str> {
    if from.0 < to.0 {
        return None;
    }
    let behind = from < to;
    if behind && step.op.gives_verdict() && after.op.is_plain_exit() {
        return None;
    }
    if first.writes & second.reads != 0 {
        return Some("a register is read in a bundle after the one that writes it");
    }
    if first.writes & second.writes != 0 {
        return Some("a register is written in a bundle after the one that writes it before");
    }
    if from.0 > to.0 && first.reads & second.writes != 0 {
        return Some("a register is not written before the bundle that reads it");
    }
    if first.conflicts(second) && (first.stores != 0 || !behind) {
        return Some("an access comes after the one that it conflicts with");
    }
    if step.op.is_barrier() || after.op.is_barrier() && !behind {
        return Some("nothing passes a call of a function, a tail call or a helper with a callback");
    }
    if behind {
        return None;
    }
    let sinks = |to| step.op.is_harmless() && first.writes & live.at(to) == 0;
    if after.op.ends() || after.op.branch().is_some_and(|to| !sinks(to)) {
        return Some("what passes a branch downwards is harmless, and not read where the branch goes");
    }
    if let Some(to) = step.op.branch()
        && (!after.op.is_harmless() || second.writes & live.at(to) != 0)
    {
        return Some("what passes a branch upwards is harmless, and not read where the branch goes");
    }
    let calls = |op: &Op| matches!(op, Op::Helper { .. } | Op::Call { .. });
    if first.may_fault && (second.may_fault || second.stores != 0 || calls(&after.op)) {
        return Some("what may fault keeps its order, and nothing that is seen passes it");
    }
    if second.may_fault && (first.stores & SHARED != 0 || calls(&step.op)) {
        return Some("what may fault does not pass what others see");
    }
    (first.shared && second.shared).then_some("map accesses and calls keep program order")
}
