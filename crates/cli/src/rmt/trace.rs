//! `--trace`: what every stage does with a packet, by the specification interpreter.

use crate::failure::Failure;
use sluice_formats::rmt::target::Target;
use sluice_rmt::phv::{CONTAINERS, Container};
use sluice_rmt::pipeline::{Group, Memory, StageTrace};
use sluice_rmt::stage::Hit;
use sluice_rmt::{Arrival, Outcome, Phv, Pipeline};
use sluice_rtlsim::rmt::{ModuleFile, take_tag};
use std::fmt::Write;

/// Metadata words by number.
const WORDS: [&str; 16] = [
    "ingress_port",
    "length",
    "arrival",
    "arrival+1",
    "arrival+2",
    "queueing",
    "queueing+1",
    "tenant",
    "status",
    "queue_depth",
    "link_use",
    "egress",
    "group",
    "headers",
    "scratch0",
    "scratch1",
];

/// Runs all frames and tells the last one's way.
pub fn trace(files: &[ModuleFile], target: &Target, frames: &[Vec<u8>]) -> Result<String, Failure> {
    let mut pipeline = Pipeline::new(*target);
    let mut next = 1;
    for file in files {
        let module = file.module(&mut next);
        let loaded = pipeline.load(module, 0, file.program().clone(), Memory::Zeroed);
        loaded.map_err(|e| Failure::input("E0691", format!("{}: {e}", file.unit.names.module)))?;
        pipeline.grant(module, file.destinations(target));
        for (&number, group) in &file.part.groups {
            pipeline.set_group(number, Group { owner: module, destinations: group.destinations, tags: group.tags });
        }
    }
    let mut text = String::new();
    let mut clock = 0;
    for (i, frame) in frames.iter().enumerate() {
        let mut bytes = frame.clone();
        let module = take_tag(&mut bytes).map_or(1, |t| u16::from_be_bytes([t[2], t[3]]) & 0xfff);
        let last = i + 1 == frames.len();
        if module == 0 || module >= next.into() {
            if last {
                let _ = writeln!(text, "packet {i}: unmapped");
            }
            continue;
        }
        let arrival = Arrival {
            packet: &bytes,
            module: module as u8,
            generation: 0,
            system_generation: 0,
            tenant: module,
            port: 0,
            arrival: clock,
            queueing: clock,
        };
        clock += target.beats(bytes.len()) as u64;
        if !last {
            pipeline.run(&arrival);
            continue;
        }
        let name = |m: u8| {
            let mut next = 1;
            files.iter().find(|f| f.module(&mut next) == m).map_or("", |f| f.unit.names.module.as_str())
        };
        let _ = writeln!(text, "packet {i}: {} bytes, module {module} ({})", bytes.len(), name(module as u8));
        let outcome = pipeline.run_traced(&arrival, &mut |stage| tell(&mut text, &stage));
        match outcome {
            Outcome::Dropped(reason) => {
                let _ = writeln!(text, "dropped: {}", reason.name());
            }
            Outcome::Sent { packet, copies } => {
                for copy in copies {
                    let (to, queue, tag) = (copy.destination, copy.queue, copy.tag);
                    let _ = writeln!(text, "to destination {to}, queue {queue}, tag {tag}");
                }
                let _ = writeln!(text, "{} bytes: {}", packet.len(), sluice_packet::notation::print_packet(&packet));
            }
        }
    }
    Ok(text)
}

fn tell(text: &mut String, stage: &StageTrace) {
    let key: String = stage.key.0.iter().rev().map(|b| format!("{b:02x}")).collect();
    let key = key.trim_start_matches('0');
    let key = if key.is_empty() { "0" } else { key };
    let hit = match stage.hit {
        Hit::Exact(i) => format!("exact entry {i}"),
        Hit::Ternary(i) => format!("ternary entry {i}"),
        Hit::Default => "default".to_owned(),
    };
    let [c0, c1] = stage.conditions.map(u8::from);
    let _ = writeln!(text, "stage {}: key 0x{key}, conditions {c0} {c1}, {hit}", stage.stage);
    let (before, after) = (&stage.before, &stage.after);
    let name = |n: usize| ["c2", "c4", "c6"][n / 8].to_owned() + &format!("[{}]", n % 8);
    for n in 0..CONTAINERS {
        let digits = 2 * Container(n as u8).bytes();
        let value = |phv: &Phv| format!("0x{:0digits$x}", phv.containers[n]);
        show(text, &name(n), before.containers[n] != 0, value(before), value(after));
    }
    for (w, word) in WORDS.iter().enumerate() {
        let value = |phv: &Phv| format!("0x{:04x}", phv.words[w]);
        show(text, word, before.words[w] != 0, value(before), value(after));
    }
}

/// A value that is not zero, or becomes another one.
fn show(text: &mut String, name: &str, set: bool, before: String, after: String) {
    if before != after {
        let _ = writeln!(text, "    {name:<12} {before} -> {after}");
    } else if set {
        let _ = writeln!(text, "    {name:<12} {before}");
    }
}
