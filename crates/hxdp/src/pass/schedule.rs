//! Packs the instructions of a trace into bundles.
//!
//! List scheduling: bundle by bundle, of what may stand there first what is worth most; of equals the first in program
//! order. Several orders are tried, each with another guess of how many packets leave at a branch, one with what a profile has
//! counted, and some in which what each instruction is worth has a random part: greed alone often takes a bundle more than needed. The same program gives the same
//! rows each time. Needs: `dependence`. Ensures: `verify::order`. Leaves alone: registers.

use super::Trace;
use super::dependence::{Edge, Order, dependences};
use super::liveness::Liveness;
use crate::{Op, Step, Target};
use sluice_ebpf::analysis::Regions;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Bundles of a trace: indices of its instructions, lane 0 first.
pub type Schedule = Vec<Vec<usize>>;

/// One packet in so many leaves a trace at a branch.
const LEAVE: u64 = 4;

/// One packet in so many is shorter than its program asks for.
const SHORT: u64 = 64;

/// Other numbers in the place of [`LEAVE`] that orders are tried with.
const TRIED: [u64; 5] = [LEAVE, 1, 2, 8, 32];

/// Orders in which what each instruction is worth is more by a random part, up to twice as much; fewer where a trace has more than [`SHORT_TRACE`] instructions.
const DRAWN: usize = 64;
const SHORT_TRACE: usize = 64;

/// A number that looks random (Steele, Lea and Flood, SplitMix).
fn drawn(draw: u64, index: u64) -> u64 {
    let mut x = (draw << 32 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Bundles of these instructions: the best of several orders.
pub fn schedule(steps: &[Step], edges: &[Edge], target: &Target, counted: &Counted) -> Schedule {
    let graph = Graph::new(steps, edges);
    let guesses = TRIED.map(|leave| graph.worth(&|step, arrive| guessed(step, arrive, leave)));
    let known = (!counted.is_empty()).then(|| graph.worth(&|step, arrive| leaving(counted, step, arrive)));
    // Where nothing was counted, that is the first guess.
    let likely = known.as_ref().unwrap_or(&guesses[0]);
    let draws = DRAWN.min(DRAWN * SHORT_TRACE / steps.len().max(1)) as u64;
    let drawn = (1..=draws).map(|draw| {
        let more = |(index, worth): (usize, &u64)| {
            worth + ((u128::from(*worth) * u128::from(drawn(draw, index as u64))) >> 64) as u64
        };
        graph.order(target, &likely.iter().enumerate().map(more).collect::<Vec<u64>>())
    });
    let orders = guesses.iter().chain(&known).map(|worth| graph.order(target, worth));
    orders.chain(drawn).min_by_key(|bundles| expected(steps, bundles, counted)).unwrap_or_default()
}

/// Branches by slot, with packets that lead out of their trace and that came; only those that were counted.
pub type Counted = BTreeMap<u32, (u64, u64)>;

/// How many leave at a branch of which nothing is known. Frames are seldom too short.
fn guessed(branch: &Step, arrive: u64, leave: u64) -> u64 {
    arrive / if matches!(branch.op, Op::Length { .. }) { SHORT } else { leave }
}

/// How many of those that arrive at a branch leave: as was counted, else one in [`LEAVE`].
fn leaving(counted: &Counted, branch: &Step, arrive: u64) -> u64 {
    match counted.get(&branch.slot) {
        Some((leave, came)) => (u128::from(arrive) * u128::from(*leave) / u128::from((*came).max(1))) as u64,
        None => guessed(branch, arrive, LEAVE),
    }
}

/// What a trace costs as it stands between passes: for those that do a thing only if it saves bundles.
pub struct Cost<'a> {
    target: Target,
    regions: &'a Regions,
    live: &'a Liveness,
    counted: &'a Counted,
}

impl<'a> Cost<'a> {
    /// On a core of two lanes.
    pub fn new(regions: &'a Regions, live: &'a Liveness, counted: &'a Counted) -> Option<Self> {
        Some(Self { target: Target::new(2).ok()?, regions, live, counted })
    }

    /// Bundles that a packet executes on average, in fractions of 2^32, in one of the orders that [`schedule`] tries.
    pub fn of(&self, trace: &Trace) -> u64 {
        let edges = dependences(trace, self.regions, self.live);
        let graph = Graph::new(&trace.steps, &edges);
        let worth = graph.worth(&|step, arrive| leaving(self.counted, step, arrive));
        expected(&trace.steps, &graph.order(&self.target, &worth), self.counted)
    }
}

/// Bundles that a packet executes on average, in fractions of 2^32, if so many leave at each branch.
fn expected(steps: &[Step], bundles: &Schedule, counted: &Counted) -> u64 {
    let (mut arrive, mut sum) = (1 << 32, 0);
    for bundle in bundles {
        sum += arrive;
        for branch in bundle.iter().map(|index| &steps[*index]).filter(|step| step.op.branch().is_some()) {
            arrive -= leaving(counted, branch, arrive);
        }
    }
    sum
}

/// A trace's instructions, and who waits for whom.
struct Graph<'a> {
    steps: &'a [Step],
    /// Edges from each instruction.
    behind: Vec<Vec<Edge>>,
    /// For how many others each one waits.
    waits: Vec<usize>,
}

impl<'a> Graph<'a> {
    fn new(steps: &'a [Step], edges: &[Edge]) -> Self {
        let (mut behind, mut waits) = (vec![Vec::new(); steps.len()], vec![0; steps.len()]);
        for edge in edges {
            behind[edge.from].push(*edge);
            waits[edge.to] += 1;
        }
        Self { steps, behind, waits }
    }

    /// The order in which what is worth most goes first.
    fn order(&self, target: &Target, worth: &[u64]) -> Schedule {
        let steps = self.steps;
        let mut waits = self.waits.clone();
        let mut earliest = vec![0usize; steps.len()];
        let key = |index: usize| (Reverse(worth[index]), index);
        let mut ready: BTreeSet<_> = (0..steps.len()).filter(|index| waits[*index] == 0).map(key).collect();
        let mut bundles = Schedule::new();
        while !ready.is_empty() {
            let now = bundles.len();
            let mut bundle: Vec<usize> = Vec::with_capacity(target.lanes);
            while bundle.len() < target.lanes {
                let fits = |(_, index): &&(Reverse<u64>, usize)| {
                    earliest[*index] <= now && has_room(steps, &bundle, *index, target)
                };
                let Some(found) = ready.iter().find(fits).copied() else { break };
                ready.remove(&found);
                let index = found.1;
                bundle.push(index);
                for edge in &self.behind[index] {
                    let next = now + usize::from(edge.order == Order::Bundle);
                    earliest[edge.to] = earliest[edge.to].max(next);
                    waits[edge.to] -= 1;
                    if waits[edge.to] == 0 {
                        ready.insert(key(edge.to));
                    }
                }
            }
            // Lanes are in program order, so that the first branch or fault is the program's first.
            bundle.sort_by_key(|index| (steps[*index].op.is_last(), *index));
            bundles.push(bundle);
        }
        bundles
    }

    /// What it is worth to do each instruction early.
    ///
    /// A packet may leave a trace at each branch and at its end. What such a way out waits for is worth more the longer the chain
    /// of bundles from it to there, and the earlier that way out can be reached at all; each way out counts as often as packets
    /// take it. `rate` says how many of those that come to a branch leave.
    fn worth(&self, rate: &dyn Fn(&Step, u64) -> u64) -> Vec<u64> {
        let (steps, behind) = (self.steps, &self.behind);
        let mut worth = vec![0; steps.len()];
        let mut earliest = vec![0u64; steps.len()];
        for from in 0..steps.len() {
            for edge in &behind[from] {
                earliest[edge.to] = earliest[edge.to].max(earliest[from] + u64::from(edge.order == Order::Bundle));
            }
        }
        let last = earliest.iter().copied().max().unwrap_or(0);
        let mut arrive = 1 << 32;
        for exit in (0..steps.len()).filter(|index| steps[*index].op.branch().is_some() || index + 1 == steps.len()) {
            let leave = if steps[exit].op.branch().is_some() && exit + 1 < steps.len() {
                rate(&steps[exit], arrive)
            } else {
                arrive
            };
            arrive -= leave;
            // Bundles from an instruction to the exit.
            let mut way: Vec<Option<u64>> = vec![None; exit + 1];
            way[exit] = Some(0);
            for from in (0..=exit).rev() {
                let ahead = behind[from].iter().filter(|edge| edge.to <= exit);
                let longest =
                    ahead.filter_map(|edge| Some(way[edge.to]? + u64::from(edge.order == Order::Bundle))).max();
                way[from] = way[from].max(longest);
                worth[from] += way[from].map_or(0, |way| (leave * (last - earliest[exit] + way + 1)) >> 16);
            }
        }
        worth
    }
}

/// Whether a bundle has a port and the last lane for one more.
fn has_room(steps: &[Step], bundle: &[usize], index: usize, target: &Target) -> bool {
    let op = &steps[index].op;
    let count = |f: fn(&Op) -> bool| bundle.iter().filter(|i| f(&steps[**i].op)).count();
    let accesses = count(Op::is_access);
    let ports = match op {
        _ if op.takes_all_ports() => accesses == 0 && count(Op::takes_all_ports) == 0,
        _ if op.is_access() => accesses < target.ports && count(Op::takes_all_ports) == 0,
        _ => true,
    };
    // An exit behind what gives its verdict.
    let ends = op.is_plain_exit() && matches!(bundle, [only] if steps[*only].op.gives_verdict());
    ends || ports
        && !(op.is_last() && count(Op::is_last) > 0)
        && !(op.is_alone() && !bundle.is_empty() || count(Op::is_alone) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_ebpf::insn::{Cond, Operand};

    #[test]
    fn the_order_in_which_packets_leave_earliest_is_taken() {
        // Two ways out; what the second waits for is a chain, and the first waits for nothing.
        let number = |dst| Op::Move { wide: true, dst, src: Operand::Imm(1) };
        let branch = |a| Op::Branch { cond: Cond::Eq, wide: true, a, b: Operand::Imm(0), to: 9, back: false };
        let ops = [number(1), number(2), number(3), branch(1), branch(3), Op::Exit { value: None, back: false }];
        let steps = ops.map(|op| Step { slot: 0, op });
        let edge = |from, to, order| Edge { from, to, order };
        let edges = [
            edge(1, 2, Order::Bundle),
            edge(0, 3, Order::Bundle),
            edge(2, 4, Order::Bundle),
            edge(3, 4, Order::Lane),
            edge(4, 5, Order::Lane),
        ];
        let target = Target::new(1).unwrap();
        let none = Counted::new();
        let best = schedule(&steps, &edges, &target, &none);
        for leave in TRIED {
            let graph = Graph::new(&steps, &edges);
            let order = graph.order(&target, &graph.worth(&|_, arrive| arrive / leave));
            assert!(expected(&steps, &best, &none) <= expected(&steps, &order, &none), "{best:?} {order:?}");
        }
        let late = vec![vec![0], vec![1], vec![2], vec![3], vec![4], vec![5]];
        assert!(expected(&steps, &best, &none) < expected(&steps, &late, &none), "{best:?}");
        assert_eq!(best[..2], [vec![0], vec![3]]);
    }
}
