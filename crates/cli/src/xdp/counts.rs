//! What the packets of one program came to.

use serde_json::{Value, json};
use sluice_device::ProgramCounts;
use sluice_ebpf::vm::Outcome;
use sluice_ebpf::{Fault, Image, Redirect, Verdict};
use sluice_hxdp::cycles::{mean_alone, saturated};
use sluice_hxdp::{Engine, Executed, Trace};
use std::collections::BTreeMap;
use std::time::Duration;

/// Packets that the cycle model plays.
const MOST_TRACES: usize = 1024;

/// Means of a packet on the cores.
struct Means {
    lanes: usize,
    bundles: f64,
    /// Helpers and map accesses.
    shared: f64,
    /// Cycles of a packet alone.
    alone: f64,
    /// Cycles from a packet to the next, back to back.
    cycles: f64,
    engine: Engine,
}

/// Sums over the packets of one program.
#[derive(Default)]
pub struct Counts {
    /// Packets.
    pub packets: u64,
    verdicts: [u64; 5],
    instructions: BTreeMap<u64, u64>,
    faults: BTreeMap<String, u64>,
    redirects: BTreeMap<String, u64>,
    /// Lanes, and what all packets together executed, where bundles were.
    bundles: Option<(usize, Executed)>,
    /// The first packets that bundles executed, for the cycle model.
    traces: Vec<Trace>,
    /// Time in the program; on live interfaces that of the whole run.
    pub wall: Duration,
}

impl Counts {
    /// Those of a NIC's module over `wall`; `name` tells a mask of destinations.
    pub fn of_device(counts: &ProgramCounts, wall: Duration, name: impl Fn(u8) -> String) -> Self {
        let mut redirects: BTreeMap<String, u64> = BTreeMap::new();
        for (mask, packets) in &counts.redirects {
            *redirects.entry(name(*mask)).or_default() += packets;
        }
        let nowhere = counts.verdicts[Verdict::Redirect as usize] - redirects.values().sum::<u64>();
        if nowhere > 0 {
            redirects.insert(NOWHERE.to_owned(), nowhere);
        }
        Self {
            packets: counts.packets,
            verdicts: counts.verdicts,
            instructions: counts.instructions().collect(),
            faults: counts.faults.clone(),
            redirects,
            bundles: None,
            traces: Vec::new(),
            wall,
        }
    }

    /// Adds a packet; `image` knows source lines.
    pub fn add(&mut self, outcome: &Outcome, image: &Image) {
        self.packets += 1;
        self.verdicts[outcome.verdict as usize] += 1;
        *self.instructions.entry(outcome.instructions).or_default() += 1;
        if let Some(fault) = &outcome.fault {
            let line = source(image, fault).map_or(String::new(), |line| format!(" ({line})"));
            let what = format!("{} at {}:{}{line}", fault.reason, fault.program, fault.pc);
            *self.faults.entry(what).or_default() += 1;
        }
        if outcome.verdict == Verdict::Redirect {
            *self.redirects.entry(destination(outcome.redirect)).or_default() += 1;
        }
    }

    /// Verdicts that occurred, with their packets.
    pub fn verdicts(&self) -> impl Iterator<Item = (Verdict, u64)> {
        Verdict::ALL.into_iter().map(|v| (v, self.verdicts[v as usize]))
    }

    /// Why packets were lost: drops, aborts and redirects to nowhere, by reason.
    pub fn drops(&self) -> BTreeMap<String, u64> {
        let mut drops = BTreeMap::new();
        let of = |v: Verdict| self.verdicts[v as usize];
        let faulted: u64 = self.faults.values().sum();
        drops.insert("xdp_drop".to_owned(), of(Verdict::Drop));
        drops.insert("xdp_aborted".to_owned(), of(Verdict::Aborted) - faulted);
        drops.insert("no_destination".to_owned(), self.redirects.get(NOWHERE).copied().unwrap_or(0));
        drops.extend(self.faults.iter().map(|(what, n)| (format!("fault: {what}"), *n)));
        drops.retain(|_, n| *n > 0);
        drops
    }

    /// Adds what packets executed on cores with so many lanes.
    pub fn add_bundles(&mut self, lanes: usize, executed: Executed) {
        let mut sum = self.bundles.map_or(Executed::default(), |(_, sum)| sum);
        sum += executed;
        self.bundles = Some((lanes, sum));
    }

    /// Adds a packet for the cycle model, which takes the first ones only.
    pub fn add_trace(&mut self, trace: Trace) {
        if self.traces.len() < MOST_TRACES {
            self.traces.push(trace);
        }
    }

    /// What the packets were on the cores, and what the cycle model makes of the first ones on the default engine.
    fn means(&self) -> Option<Means> {
        let (lanes, sum) = self.bundles.filter(|_| !self.traces.is_empty())?;
        let mean = |x: u64| x as f64 / self.packets as f64;
        let engine = Engine::default();
        Some(Means {
            lanes,
            bundles: mean(sum.bundles),
            shared: mean(sum.helpers + sum.map_accesses),
            alone: mean_alone(&engine, &self.traces),
            cycles: saturated(&engine, &self.traces).cycles_per_packet(),
            engine,
        })
    }

    /// A line about bundles, where there were any.
    pub fn bundles_text(&self) -> Option<String> {
        let Means { lanes, bundles, shared, alone, cycles, engine } = self.means()?;
        let first = match self.traces.len() as u64 {
            all if all == self.packets => String::new(),
            first => format!(" of the first {first} packets"),
        };
        Some(format!(
            "{lanes} lanes: {bundles:.1} bundles a packet, {shared:.1} helpers and map accesses; model{first}: {alone:.0} \
             cycles alone, {cycles:.1} cycles a packet on {} cores of {} contexts",
            engine.cores, engine.contexts
        ))
    }

    /// Packets by where a redirect sent them.
    pub fn redirects(&self) -> &BTreeMap<String, u64> {
        &self.redirects
    }

    /// Instructions of the packet at this share of all, ordered by instructions; 0 without packets.
    pub fn instructions_at(&self, share: f64) -> u64 {
        let rank = ((self.packets as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (instructions, packets) in &self.instructions {
            seen += packets;
            if seen >= rank {
                return *instructions;
            }
        }
        0
    }

    /// Packets a second, where time was measured.
    pub fn packets_per_second(&self) -> Option<f64> {
        let seconds = self.wall.as_secs_f64();
        (seconds > 0.0 && self.packets > 0).then(|| self.packets as f64 / seconds)
    }

    /// One document.
    pub fn json(&self) -> Value {
        let verdicts: serde_json::Map<String, Value> =
            self.verdicts().map(|(v, n)| (v.name().to_owned(), json!(n))).collect();
        let mut document = json!({
            "packets": self.packets,
            "verdicts": verdicts,
            "drops": self.drops(),
            "redirects": self.redirects,
            "instructions_per_packet": {
                "min": self.instructions_at(0.0),
                "median": self.instructions_at(0.5),
                "p99": self.instructions_at(0.99),
            },
            "packets_per_second": self.packets_per_second(),
        });
        if let Some(Means { lanes, bundles, shared, alone, cycles, engine }) = self.means() {
            document["per_packet"] = json!({
                "lanes": lanes, "bundles": bundles, "helpers_and_map_accesses": shared,
                "model_cycles_alone": alone, "model_cycles_per_packet": cycles,
                "model_cores": engine.cores, "model_contexts": engine.contexts, "model_packets": self.traces.len(),
            });
        }
        document
    }
}

/// File and line of the fault's instruction, where the object has them.
fn source(image: &Image, fault: &Fault) -> Option<String> {
    let program = image.programs.iter().find(|p| p.name == fault.program)?;
    let line = program.line_of(fault.pc)?;
    Some(format!("{}:{}", line.file, line.line))
}

const NOWHERE: &str = "nowhere";

/// Where a redirect leads.
pub fn destination(redirect: Option<Redirect>) -> String {
    match redirect {
        None => NOWHERE.to_owned(),
        Some(Redirect::Interface(index)) => format!("ifindex {index}"),
        Some(Redirect::Broadcast { exclude_ingress: true, .. }) => "broadcast but for the ingress".to_owned(),
        Some(Redirect::Broadcast { exclude_ingress: false, .. }) => "broadcast".to_owned(),
        Some(Redirect::Cpu(cpu)) => format!("cpu {cpu}"),
        Some(Redirect::Socket { index, .. }) => format!("socket {index}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_ebpf::{FaultReason, Program, image};

    fn outcome(r0: u64, instructions: u64) -> Outcome {
        Outcome { r0, verdict: Verdict::from_r0(r0), redirect: None, instructions, fault: None }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_packets() {
        let mut counts = Counts::default();
        assert_eq!(counts.instructions_at(0.5), 0);
        (1..=100).rev().for_each(|n| counts.add(&outcome(2, n), &Image::default()));
        assert_eq!([0.0, 0.5, 0.99].map(|s| counts.instructions_at(s)), [1, 50, 99]);
    }

    #[test]
    fn a_redirect_without_destination_is_a_drop() {
        let mut counts = Counts::default();
        counts.add(&outcome(4, 1), &Image::default());
        counts.add(&outcome(77, 1), &Image::default());
        let drops: Vec<_> = counts.drops().into_iter().collect();
        assert_eq!(drops, [("no_destination".to_owned(), 1), ("xdp_aborted".to_owned(), 1)]);
    }

    #[test]
    fn a_fault_is_told_with_the_source_line_that_its_instruction_belongs_to() {
        let line = |line| image::Line { file: "p.c".to_owned(), text: String::new(), line, column: 1 };
        let lines = [(0, line(5)), (2, line(6)), (9, line(7))].into();
        let program = Program { name: "p".to_owned(), lines, ..Program::default() };
        let image = Image { programs: vec![program], ..Image::default() };
        let fault = Fault { reason: FaultReason::BadOpcode(0), program: "p".to_owned(), pc: 8, registers: [0; 11] };
        let mut counts = Counts::default();
        counts.add(&Outcome { fault: Some(fault), ..outcome(0, 1) }, &image);
        assert_eq!(
            counts.drops().into_keys().collect::<Vec<_>>(),
            ["fault: opcode 0x00 does not exist at p:8 (p.c:6)"]
        );
    }
}
