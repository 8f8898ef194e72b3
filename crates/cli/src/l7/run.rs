//! `sluice l7 run`: packets of a capture through rules, on the model or on the engine in RTL.

use super::compile::misfit;
use super::{failure, read};
use crate::captures::Capture;
use crate::failure::Failure;
use crate::output::Output;
use crate::run::device::unavailable;
use crate::run::interrupt;
use crate::table::Table;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sluice_formats::l7::rows::L7TraceRow;
use sluice_formats::l7::target::{ALL, Target};
use sluice_formats::limits::TAG_BYTES;
use sluice_formats::{EngineId, Reason};
use sluice_l7::compile::{Options, compile};
use sluice_l7::engine::{Engine, Fate, Outcome};
use sluice_l7::placed::Placed;
use sluice_packet::flow::vlan_id;
use sluice_rtlsim::Variant;
use sluice_rtlsim::dispatch::{Dispatched, Dispatcher};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where rules run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Device {
    /// The model.
    Model,
    /// The l7 engine's RTL, by a plug-in that `make plugins` builds
    Rtl,
    /// The RTL, held to the model
    Both,
}

/// Dispatches the packets of a capture by rules
///
/// Each file of rules is a tenant's. A frame with VLAN ID n is for the n-th one, and its tag is taken off; one without a tag is for the first. Prints what
/// becomes of packets by queue and reason; on the RTL also cycles a message and the latency of decisions, in cycles from a packet's
/// first beat. Exits with 0; with 1 when --device both finds a difference.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice l7 run programs/l7/course_reviews.l7 --in programs/l7/course_reviews.pcap
  sluice l7 run programs/l7/course_reviews.l7 --in programs/l7/course_reviews.pcap --device both --packets
  sluice l7 run programs/l7/course_reviews.l7 programs/l7/urls.l7 --in programs/l7/course_reviews.pcap --device rtl --gap 200 --json")]
pub struct RunArgs {
    /// Rules, *.l7, one file a tenant
    #[arg(required = true)]
    rules: Vec<PathBuf>,
    /// Capture of Ethernet frames; `-` is standard input
    #[arg(long = "in", value_name = "CAPTURE")]
    input: PathBuf,
    /// Where the rules run
    #[arg(long, value_enum, default_value = "model")]
    device: Device,
    /// Target of the engine, default or tiny
    #[arg(long, default_value = "default")]
    target: String,
    /// On the RTL, cycles from one packet's begin to the next one's; 0 is back to back
    #[arg(long, value_name = "CYCLES", default_value_t = 0)]
    gap: u64,
    /// Packets at most
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Prints what becomes of each packet
    #[arg(long)]
    packets: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

/// What is known of a packet.
struct Seen {
    module: u8,
    fate: Fate,
    fault: bool,
    /// Steps that its rules were charged.
    steps: Option<u32>,
    /// Cycles from its first beat to its decision, on the RTL.
    latency: Option<u64>,
}

impl RunArgs {
    /// Runs and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let names = || ALL.map(|t| t.name).join(", ");
        let target: &'static Target = ALL
            .iter()
            .find(|t| t.name == self.target)
            .ok_or_else(|| Failure::input("E0502", format!("--target {}: expected one of {}", self.target, names())))?;
        let most = target.modules - 1;
        if self.rules.len() > most {
            let what = format!("{} files of rules, the target {} has {most} tenants", self.rules.len(), target.name);
            return Err(Failure::input("E0875", what));
        }
        let mut placed = Placed::new(target);
        for (module, path) in (1..).zip(&self.rules) {
            let rules = read(path)?.map_err(|errors| failure(&errors))?;
            let program = compile(&rules, &Options { rows: placed.room() }).map_err(|e| misfit(path, &e))?;
            let add = placed.add(module, &program, &rules);
            add.map_err(|e| Failure::input(e.code(), format!("{}: {e}", path.display())))?;
        }
        let frames = self.frames()?;
        let mut seen = model(target, &placed, &frames);
        let (mut differences, mut cycles) = (Vec::new(), None);
        if self.device != Device::Model {
            let mut rtl = Dispatcher::open(target.name, Variant::Test, 0, &placed).map_err(unavailable)?;
            let before = rtl.cycles();
            let decided = rtl.run(&frames, self.gap).map_err(unavailable)?;
            let (first, last) = (decided.first().map(|d| d.came), decided.iter().map(|d| d.decided).max());
            cycles = first.zip(last).map(|(first, last)| last - first + 1).or(Some(rtl.cycles() - before));
            for (number, (packet, rtl)) in seen.iter_mut().zip(&decided).enumerate() {
                let fate = fate(&rtl.decision);
                if self.device == Device::Both && (fate, rtl.decision.fault) != (Some(packet.fate), packet.fault) {
                    differences.push((number, text(packet.fate), fate.map_or("an unknown reason".to_string(), text)));
                }
                took(packet, rtl, fate);
            }
        }
        self.report(&seen, cycles, &differences, out)?;
        Ok(ExitCode::from(u8::from(!differences.is_empty())))
    }

    /// Module and bytes of each frame.
    fn frames(&self) -> Result<Vec<(u8, Vec<u8>)>, Failure> {
        interrupt::listen();
        let mut capture = Capture::open(&self.input)?;
        let mut packet = Default::default();
        let mut all = Vec::new();
        while all.len() < self.limit.unwrap_or(usize::MAX) && !interrupt::asked() && capture.read(&mut packet)? {
            let bytes = &packet.bytes;
            let (module, frame) = match vlan_id(bytes) {
                Some(vid) => (vid, [&bytes[..12], &bytes[12 + TAG_BYTES..]].concat()),
                None => (1, bytes.clone()),
            };
            if module == 0 || usize::from(module) > self.rules.len() {
                let what = format!(
                    "packet {}: VLAN ID {module}, expected 1 to {}: one for each file of rules",
                    all.len(),
                    self.rules.len()
                );
                return Err(Failure::input("E0502", what));
            }
            if frame.len() < 14 {
                let what =
                    format!("packet {}: {} bytes, expected 14 at least: an Ethernet header", all.len(), frame.len());
                return Err(Failure::input("E0502", what));
            }
            all.push((module as u8, frame));
        }
        Ok(all)
    }

    fn report(
        &self,
        seen: &[Seen],
        cycles: Option<u64>,
        differences: &[(usize, String, String)],
        out: &mut Output,
    ) -> Result<(), Failure> {
        let steps: Vec<u64> = seen.iter().filter_map(|s| s.steps).map(u64::from).collect();
        let mut latencies: Vec<u64> = seen.iter().filter(|s| s.steps.is_some()).filter_map(|s| s.latency).collect();
        latencies.sort_unstable();
        let mut fates: BTreeMap<(u8, String), u64> = BTreeMap::new();
        seen.iter().for_each(|s| *fates.entry((s.module, text(s.fate))).or_default() += 1);
        if self.json {
            return out.json(&self.value(seen, &fates, &steps, &latencies, cycles, differences));
        }
        if self.packets {
            for (number, packet) in seen.iter().enumerate() {
                let fault = if packet.fault { ", a fault" } else { "" };
                let steps = packet.steps.map_or(String::new(), |n| format!(", steps {n}"));
                let latency = packet.latency.map_or(String::new(), |n| format!(", after {n} cycles"));
                out.line(format!("packet {number}: {}{fault}{steps}{latency}", text(packet.fate)))?;
            }
        }
        let mut table = Table::new(["rules", "goes to", "packets"]).left(1);
        for ((module, fate), count) in &fates {
            let file = self.rules[usize::from(*module) - 1].display().to_string();
            table.row([file, fate.clone(), count.to_string()]);
        }
        out.text(&table.to_string())?;
        out.line(format!("messages {}, steps {}", steps.len(), steps.iter().sum::<u64>()))?;
        if let Some(cycles) = cycles {
            let each = cycles as f64 / seen.len().max(1) as f64;
            out.line(format!("cycles {cycles}, {each:.2} a packet"))?;
        }
        if let (Some(least), Some(most)) = (latencies.first(), latencies.last()) {
            let median = latencies[latencies.len() / 2];
            out.line(format!("decided after {least} to {most} cycles, half of them within {median}"))?;
        }
        for (number, model, rtl) in differences {
            out.line(format!("packet {number} differs: the model says {model}, the RTL {rtl}"))?;
        }
        if self.device == Device::Both && differences.is_empty() {
            out.line("model and RTL agree")?;
        }
        Ok(())
    }

    fn value(
        &self,
        seen: &[Seen],
        fates: &BTreeMap<(u8, String), u64>,
        steps: &[u64],
        latencies: &[u64],
        cycles: Option<u64>,
        differences: &[(usize, String, String)],
    ) -> Value {
        let packets = seen.iter().map(|s| {
            json!({ "module": s.module, "to": text(s.fate), "fault": s.fault, "steps": s.steps, "latency": s.latency })
        });
        json!({
            "target": self.target,
            "packets": seen.len(),
            "messages": steps.len(),
            "steps": steps.iter().sum::<u64>(),
            "cycles": cycles,
            "latency": {
                "least": latencies.first(),
                "median": latencies.get(latencies.len() / 2),
                "most": latencies.last(),
            },
            "goes_to": fates.iter().map(|((module, to), count)| json!({
                "rules": self.rules[usize::from(*module) - 1].display().to_string(), "to": to, "packets": count,
            })).collect::<Vec<_>>(),
            "each": if self.packets { packets.collect() } else { Vec::new() },
            "differences": differences.iter().map(|(number, model, rtl)| json!({ "packet": number, "model": model, "rtl": rtl })).collect::<Vec<_>>(),
        })
    }
}

/// What the model says of all packets.
fn model(target: &Target, placed: &Placed, frames: &[(u8, Vec<u8>)]) -> Vec<Seen> {
    let mut engine = Engine::new(target);
    engine.ports = placed.ports.clone().into();
    (1..target.modules).for_each(|module| engine.table.set_quota(module as u8, target.messages as u16));
    let one = |(module, frame): &(u8, Vec<u8>)| {
        let mut steps = None;
        let Outcome { fate, fault } = engine.packet(frame, *module, false, |job| {
            let verdict = job.run(&placed.tables);
            steps = verdict.filter(|_| u16::from(job.message_type) < job.port.types).map(|v| v.steps);
            verdict
        });
        Seen { module: *module, fate, fault, steps, latency: None }
    };
    frames.iter().map(one).collect()
}

/// What the engine told; none for a reason that is none.
fn fate(decision: &L7TraceRow) -> Option<Fate> {
    if decision.dropped {
        let of = |r: &Reason| r.engine() == Some(EngineId::L7) && r.kind() == u32::from(decision.kind);
        return Reason::ALL.into_iter().find(of).map(Fate::Dropped);
    }
    Some(if decision.message { Fate::Queue(decision.queue_id) } else { Fate::Frame })
}

fn took(packet: &mut Seen, rtl: &Dispatched, fate: Option<Fate>) {
    packet.latency = Some(rtl.decided - rtl.came);
    packet.fault = rtl.decision.fault;
    if let Some(fate) = fate {
        packet.fate = fate;
    }
}

fn text(fate: Fate) -> String {
    match fate {
        Fate::Frame => "goes on as a frame".to_string(),
        Fate::Queue(queue) => format!("queue {queue}"),
        Fate::Dropped(reason) => format!("dropped, {}", reason.name()),
    }
}
