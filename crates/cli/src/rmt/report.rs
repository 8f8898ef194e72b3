//! What a run of the pipeline came to.

use super::pipeline::Module;
use crate::run::device::Choice;
use crate::table::{Table, group};
use serde_json::{Value, json};
use sluice_device::{Counters, Outcome, Verdict};
use sluice_formats::Target;
use sluice_formats::limits::SYSTEM_MODULE;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Packets of one module.
#[derive(Clone, Debug, Default)]
struct Counts {
    name: String,
    packets: u64,
    copies: BTreeMap<String, u64>,
    dropped: BTreeMap<&'static str, u64>,
}

/// All packets of a run.
pub struct Tally {
    modules: BTreeMap<Option<u8>, Counts>,
    packets: u64,
    outcomes: u64,
    /// Of the packets that left a pipeline with cycles: first and last beat out after the first in.
    first: Vec<u64>,
    last: Vec<u64>,
    /// First output beats of the first and the last packet.
    ends: Option<(u64, u64)>,
    has_cycles: bool,
    /// The last packet that left: its other copies have the same cycles.
    latest: Option<u32>,
}

/// Median and ends of a list that is not empty.
fn spread(values: &[u64]) -> Option<Value> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (least, most) = (sorted.first()?, sorted.last()?);
    Some(json!({ "least": least, "median": sorted[sorted.len() / 2], "most": most }))
}

impl Tally {
    /// Nothing yet.
    pub fn new(modules: &[Module], has_cycles: bool) -> Self {
        let named = |module: &Module| (Some(module.number), Counts { name: module.name.clone(), ..Counts::default() });
        let modules = modules.iter().map(named).collect();
        let (first, last) = (Vec::new(), Vec::new());
        Self { modules, packets: 0, outcomes: 0, first, last, ends: None, has_cycles, latest: None }
    }

    /// Outcomes so far.
    pub fn outcomes(&self) -> u64 {
        self.outcomes
    }

    /// Takes an outcome.
    pub fn take(&mut self, outcome: &Outcome) {
        self.outcomes += 1;
        // Frames that are nobody's are counted for the system module, which has none of its own.
        let module = (outcome.module != SYSTEM_MODULE).then_some(outcome.module);
        let counts = self.modules.entry(module).or_default();
        let to = match outcome.verdict {
            Verdict::Dropped { reason, .. } => {
                *counts.dropped.entry(reason.name()).or_default() += 1;
                counts.packets += u64::from(module.is_none());
                return;
            }
            Verdict::Forwarded { port } => format!("port{port}"),
            Verdict::Delivered { queue } => format!("host{queue}"),
            Verdict::Consumed { ring } => format!("ring {ring}"),
        };
        *counts.copies.entry(to).or_default() += 1;
        if let (Some(first_in), Some(first_out), Some(last_out)) =
            (outcome.first_in, outcome.first_out, outcome.last_out)
            && self.has_cycles
            && self.latest.replace(outcome.id) != Some(outcome.id)
        {
            self.first.push(first_out - first_in);
            self.last.push(last_out - first_in);
            let begin = self.ends.map_or(first_out, |e| e.0);
            self.ends = Some((begin, first_out));
        }
    }

    /// Takes the packets of each module, when all have ended.
    pub fn count(&mut self, counters: &Counters) {
        for (&module, found) in &counters.modules {
            if let Some(counts) = self.modules.get_mut(&Some(module)) {
                counts.packets = if module == SYSTEM_MODULE { 0 } else { found.offered };
            }
        }
        self.packets = self.modules.values().map(|counts| counts.packets).sum();
    }

    fn cycles_per_packet(&self) -> Option<f64> {
        let (begin, end) = self.ends?;
        let more = self.first.len().checked_sub(1).filter(|n| *n > 0)?;
        Some((end - begin) as f64 / more as f64)
    }
}

/// One run.
pub struct Report<'a> {
    pub target: &'static Target,
    pub device: Choice,
    pub tally: &'a Tally,
    pub wall: Duration,
}

impl Report<'_> {
    fn rate(&self) -> Option<f64> {
        let seconds = self.wall.as_secs_f64();
        (self.device == Choice::Model && seconds > 0.0).then(|| self.tally.packets as f64 / seconds)
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let module = |(number, c): (&Option<u8>, &Counts)| json!({ "module": number, "name": c.name, "packets": c.packets, "copies": c.copies, "dropped": c.dropped });
        json!({
            "target": self.target.name,
            "device": format!("{:?}", self.device).to_lowercase(),
            "packets": self.tally.packets,
            "cycles_per_packet": self.tally.cycles_per_packet(),
            "latency_first_beat": spread(&self.tally.first),
            "latency_last_beat": spread(&self.tally.last),
            "packets_per_second": self.rate(),
            "modules": self.tally.modules.iter().map(module).collect::<Vec<_>>(),
        })
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut table = Table::new(["module", "name", "packets", "left", "dropped", "why"]).left(1).left(5);
        for (number, c) in &self.tally.modules {
            let list = |entries: Vec<(String, u64)>| {
                entries.iter().map(|(name, n)| format!("{name} {}", group(*n))).collect::<Vec<_>>().join(", ")
            };
            let left = c.copies.iter().map(|(to, n)| (to.clone(), *n)).collect();
            let why = c.dropped.iter().map(|(r, n)| ((*r).to_owned(), *n)).collect();
            let number = number.map_or("nobody".to_owned(), |m| m.to_string());
            let dropped = group(c.dropped.values().sum());
            table.row([number, c.name.clone(), group(c.packets), list(left), dropped, list(why)]);
        }
        let mut text = table.to_string();
        if let Some(cycles) = self.tally.cycles_per_packet() {
            let _ = writeln!(text, "{cycles:.3} cycles per packet");
        }
        let latency = [("first", &self.tally.first), ("last", &self.tally.last)];
        for (which, values) in latency {
            if let Some(s) = spread(values) {
                let _ = writeln!(
                    text,
                    "{which} beat out {} to {} cycles after the first in, median {}",
                    s["least"], s["most"], s["median"]
                );
            }
        }
        if let Some(rate) = self.rate() {
            let _ = writeln!(text, "{} packets a second", group(rate as u64));
        }
        text
    }
}
