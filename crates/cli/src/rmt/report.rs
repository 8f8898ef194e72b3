//! What a run of the pipeline came to.

use crate::run::device::Choice;
use crate::table::{Table, group};
use serde_json::{Value, json};
use sluice_formats::rmt::target::Target;
use sluice_rtlsim::rmt::{Cycles, Finished};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Packets of one module.
#[derive(Clone, Debug, Default)]
struct Counts {
    name: String,
    packets: u64,
    copies: BTreeMap<u8, u64>,
    dropped: BTreeMap<&'static str, u64>,
}

/// All packets of a run.
pub struct Tally {
    ports: u32,
    modules: BTreeMap<Option<u8>, Counts>,
    packets: u64,
    /// Of the packets that left a pipeline with cycles: first and last beat out after the first in.
    first: Vec<u64>,
    last: Vec<u64>,
    /// First output beats of the first and the last packet.
    ends: Option<(u64, u64)>,
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
    pub fn new(target: &Target) -> Self {
        let ports = target.nic().ports;
        let (modules, first, last) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { ports, modules, packets: 0, first, last, ends: None }
    }

    /// A module's name.
    pub fn name(&mut self, module: u8, name: &str) {
        self.modules.entry(Some(module)).or_default().name = name.to_owned();
    }

    /// Packets that ended.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Takes a packet.
    pub fn take(&mut self, finished: &Finished) {
        self.packets += 1;
        let counts = self.modules.entry(finished.module).or_default();
        counts.packets += 1;
        match &finished.end {
            Err(reason) => *counts.dropped.entry(reason).or_default() += 1,
            Ok(copies) => copies.iter().for_each(|c| *counts.copies.entry(c.copy.destination).or_default() += 1),
        }
        if let Some(Cycles { first_in, first_out, last_out }) = finished.cycles {
            self.first.push(first_out - first_in);
            self.last.push(last_out - first_in);
            let begin = self.ends.map_or(first_out, |e| e.0);
            self.ends = Some((begin, first_out));
        }
    }

    fn cycles_per_packet(&self) -> Option<f64> {
        let (begin, end) = self.ends?;
        let more = self.first.len().checked_sub(1).filter(|n| *n > 0)?;
        Some((end - begin) as f64 / more as f64)
    }

    fn destination(&self, bit: u8) -> String {
        match u32::from(bit).checked_sub(self.ports) {
            None => format!("port{bit}"),
            Some(host) => format!("host{host}"),
        }
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
        let module = |(number, c): (&Option<u8>, &Counts)| {
            let copies: BTreeMap<String, u64> =
                c.copies.iter().map(|(d, n)| (self.tally.destination(*d), *n)).collect();
            json!({ "module": number, "name": c.name, "packets": c.packets, "copies": copies, "dropped": c.dropped })
        };
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
            let left = c.copies.iter().map(|(d, n)| (self.tally.destination(*d), *n)).collect();
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
