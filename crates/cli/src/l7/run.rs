//! `sluice l7 run`: packets of a capture through rules, on the model or on the engine in RTL.

use super::placed::Placed;
use super::ring_messages::{InRing, Only, apart};
use crate::captures::Capture;
use crate::failure::Failure;
use crate::output::Output;
use crate::run::device::unavailable;
use crate::run::interrupt;
use crate::table::Table;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sluice_formats::l7::rows::L7TraceRow;
use sluice_formats::l7::target::MOST_RING_LOG;
use sluice_formats::limits::TAG_BYTES;
use sluice_formats::target::ALL;
use sluice_formats::{EngineId, Reason, Target};
use sluice_l7::device::L7Engine;
use sluice_l7::engine::Fate;
use sluice_l7::receive::Delivery;
use sluice_packet::flow::vlan_id;
use sluice_rtlsim::Variant;
use sluice_rtlsim::l7::dispatch::{Dispatched, Dispatcher};
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
/// first beat. With --rings each queue has a ring with buffers in host memory, and the messages in them are shown; --device both compares them byte for byte. Exits with 0; with 1 when --device both finds a
/// difference.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice l7 run programs/l7/course_reviews.l7 --in programs/l7/course_reviews.pcap
  sluice l7 run programs/l7/course_reviews.l7 --in programs/l7/course_reviews.pcap --device both --packets
  sluice l7 run programs/l7/course_reviews.l7 --in programs/l7/course_reviews.pcap --rings --device both
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
    /// Messages go into rings of their queues; prints each
    #[arg(long)]
    rings: bool,
    /// Prints what becomes of each packet
    #[arg(long)]
    packets: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

/// Where model and RTL differ.
struct Differences {
    /// Number of a packet, what the model says, what the RTL says.
    packets: Vec<(usize, String, String)>,
    /// Messages in rings that only one of them has.
    messages: Vec<(InRing, Only)>,
}

/// What is known of a packet.
struct Seen {
    module: u8,
    /// Queues are the tenant's.
    delivery: Delivery,
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
        let most = target.modules as usize - 1;
        if self.rules.len() > most {
            let what = format!("{} files of rules, the target {} has {most} tenants", self.rules.len(), target.name);
            return Err(Failure::input("E0875", what));
        }
        let mut placed = Placed::new(target, &self.rules)?;
        let frames = self.frames()?;
        let mut engine = placed.engine()?;
        if self.rings {
            placed.open_rings(&mut engine, log_buffers(frames.len()))?;
        }
        let mut messages = Vec::new();
        let mut seen = Vec::with_capacity(frames.len());
        for (module, frame) in &frames {
            seen.push(model(&placed, &mut engine, *module, frame));
            messages.extend(placed.take(&mut engine)?);
        }
        let (mut differences, mut only, mut cycles) = (Vec::new(), Vec::new(), None);
        if self.device != Device::Model {
            let mut rtl = Dispatcher::open(target.name, Variant::Test, 0, &placed.rows).map_err(unavailable)?;
            let before = rtl.cycles();
            let (decided, taken) = self.simulate(&mut placed, &mut rtl, &frames)?;
            let (first, last) = (decided.first().map(|d| d.came), decided.iter().map(|d| d.decided).max());
            cycles = first.zip(last).map(|(first, last)| last - first + 1).or(Some(rtl.cycles() - before));
            for (number, (packet, rtl)) in seen.iter_mut().zip(&decided).enumerate() {
                let told = told(&rtl.decision).map(|told| placed.own(packet.module, told));
                if self.device == Device::Both && (told, rtl.decision.fault) != (Some(packet.delivery), packet.fault) {
                    let rtl = told.map_or("an unknown reason".to_string(), text);
                    differences.push((number, text(packet.delivery), rtl));
                }
                took(packet, rtl, told);
            }
            if self.device == Device::Both {
                only = apart(&messages, &taken);
            }
            messages = taken;
        }
        let agree = differences.is_empty() && only.is_empty();
        self.report(&seen, &messages, cycles, &Differences { packets: differences, messages: only }, out)?;
        Ok(ExitCode::from(u8::from(!agree)))
    }

    /// What the RTL does with the packets, and the messages in its rings. A ring has buffers for as many packets as come between two looks at it.
    fn simulate(
        &self,
        placed: &mut Placed,
        rtl: &mut Dispatcher,
        frames: &[(u8, Vec<u8>)],
    ) -> Result<(Vec<Dispatched>, Vec<InRing>), Failure> {
        if !self.rings {
            return Ok((rtl.run(frames, true, self.gap).map_err(unavailable)?, Vec::new()));
        }
        placed.open_rings(rtl, log_buffers(frames.len()))?;
        let (mut decided, mut taken) = (Vec::with_capacity(frames.len()), Vec::new());
        for some in frames.chunks(1 << MOST_RING_LOG) {
            decided.extend(rtl.run(some, true, self.gap).map_err(unavailable)?);
            taken.extend(placed.take(rtl)?);
        }
        Ok((decided, taken))
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
        messages: &[InRing],
        cycles: Option<u64>,
        differences: &Differences,
        out: &mut Output,
    ) -> Result<(), Failure> {
        let steps: Vec<u64> = seen.iter().filter_map(|s| s.steps).map(u64::from).collect();
        let mut latencies: Vec<u64> = seen.iter().filter(|s| s.steps.is_some()).filter_map(|s| s.latency).collect();
        latencies.sort_unstable();
        let mut fates: BTreeMap<(u8, String), u64> = BTreeMap::new();
        seen.iter().for_each(|s| *fates.entry((s.module, text(s.delivery))).or_default() += 1);
        if self.json {
            return out.json(&self.value(seen, messages, &fates, (&steps, &latencies), cycles, differences));
        }
        if self.packets {
            for (number, packet) in seen.iter().enumerate() {
                let fault = if packet.fault { ", a fault" } else { "" };
                let steps = packet.steps.map_or(String::new(), |n| format!(", steps {n}"));
                let latency = packet.latency.map_or(String::new(), |n| format!(", after {n} cycles"));
                out.line(format!("packet {number}: {}{fault}{steps}{latency}", text(packet.delivery)))?;
            }
        }
        let mut table = Table::new(["rules", "goes to", "packets"]).left(1);
        for ((module, fate), count) in &fates {
            let file = self.rules[usize::from(*module) - 1].display().to_string();
            table.row([file, fate.clone(), count.to_string()]);
        }
        out.text(&table.to_string())?;
        for (module, queue, message) in messages {
            let file = self.rules[usize::from(*module) - 1].display();
            let c = &message.completion;
            out.line(format!(
                "message {} in ring {queue} of {file}: {} bytes, {} packets",
                c.message,
                message.bytes.len(),
                c.packets
            ))?;
        }
        out.line(format!("messages {}, steps {}", steps.len(), steps.iter().sum::<u64>()))?;
        if let Some(cycles) = cycles {
            let each = cycles as f64 / seen.len().max(1) as f64;
            out.line(format!("cycles {cycles}, {each:.2} a packet"))?;
        }
        if let (Some(least), Some(most)) = (latencies.first(), latencies.last()) {
            let median = latencies[latencies.len() / 2];
            out.line(format!("decided after {least} to {most} cycles, half of them within {median}"))?;
        }
        for (number, model, rtl) in &differences.packets {
            out.line(format!("packet {number} differs: the model says {model}, the RTL {rtl}"))?;
        }
        for ((module, queue, message), device) in &differences.messages {
            let file = self.rules[usize::from(*module) - 1].display();
            let (number, bytes) = (message.completion.message, message.bytes.len());
            out.line(format!(
                "message {number} in ring {queue} of {file} differs: only the {device} has it with these {bytes} bytes"
            ))?;
        }
        if self.device == Device::Both && differences.packets.is_empty() && differences.messages.is_empty() {
            out.line("model and RTL agree")?;
        }
        Ok(())
    }

    fn value(
        &self,
        seen: &[Seen],
        messages: &[InRing],
        fates: &BTreeMap<(u8, String), u64>,
        (steps, latencies): (&[u64], &[u64]),
        cycles: Option<u64>,
        differences: &Differences,
    ) -> Value {
        let packets = seen.iter().map(|s| {
            json!({ "module": s.module, "to": text(s.delivery), "fault": s.fault, "steps": s.steps, "latency": s.latency })
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
            "rings": messages.iter().map(|(module, queue, message)| json!({
                "rules": self.rules[usize::from(*module) - 1].display().to_string(),
                "queue": queue,
                "message": message.completion.message,
                "session": message.completion.session,
                "packets": message.completion.packets,
                "bytes": message.bytes.len(),
            })).collect::<Vec<_>>(),
            "each": if self.packets { packets.collect() } else { Vec::new() },
            "differences": differences.packets.iter().map(|(number, model, rtl)| json!({ "packet": number, "model": model, "rtl": rtl })).collect::<Vec<_>>(),
            "ring_differences": differences.messages.iter().map(|((module, queue, message), device)| json!({
                "rules": self.rules[usize::from(*module) - 1].display().to_string(),
                "queue": queue,
                "message": message.completion.message,
                "bytes": message.bytes.len(),
                "only": device.to_string(),
            })).collect::<Vec<_>>(),
        })
    }
}

/// Buffers of a ring, as a power of two: the RTL gets so many packets at once.
fn log_buffers(packets: usize) -> u8 {
    (packets.max(16).next_power_of_two().ilog2() as u8).min(MOST_RING_LOG)
}

/// What the model says of a packet.
fn model(placed: &Placed, engine: &mut L7Engine, module: u8, frame: &[u8]) -> Seen {
    let judged = engine.judge(module, true, frame);
    let delivery = placed.own(module, judged.delivery);
    Seen { module, delivery, fault: judged.fault, steps: judged.steps, latency: None }
}

/// What the engine told; none for a reason that is none.
fn told(decision: &L7TraceRow) -> Option<Delivery> {
    if decision.dropped {
        let of = |r: &Reason| r.engine() == Some(EngineId::L7) && r.kind() == u32::from(decision.kind);
        return Reason::ALL.into_iter().find(of).map(Delivery::Dropped);
    }
    if decision.consumed {
        return Some(Delivery::Consumed(decision.queue_id));
    }
    let fate = if decision.message { Fate::Queue(decision.queue_id) } else { Fate::Frame };
    Some(Delivery::Left(fate))
}

fn took(packet: &mut Seen, rtl: &Dispatched, told: Option<Delivery>) {
    packet.latency = Some(rtl.decided - rtl.came);
    packet.fault = rtl.decision.fault;
    if let Some(told) = told {
        packet.delivery = told;
    }
}

fn text(delivery: Delivery) -> String {
    match delivery {
        Delivery::Left(Fate::Frame) => "goes on as a frame".to_string(),
        Delivery::Left(Fate::Queue(queue)) => format!("queue {queue}"),
        Delivery::Consumed(queue) => format!("ring {queue}"),
        Delivery::Dropped(reason) | Delivery::Left(Fate::Dropped(reason)) => format!("dropped, {}", reason.name()),
    }
}
