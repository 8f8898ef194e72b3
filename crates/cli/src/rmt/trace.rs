//! `--trace`: what every stage does with a packet, by the specification interpreter.

use super::pipeline::Module;
use crate::failure::Failure;
use sluice_formats::Target;
use sluice_formats::limits::VLAN_ETHERTYPE;
use sluice_object::Destinations;
use sluice_rmt::phv::{CONTAINERS, Container};
use sluice_rmt::pipeline::{Group, Memory, StageTrace};
use sluice_rmt::stage::Hit;
use sluice_rmt::{Arrival, Outcome, Phv, Pipeline};
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
pub fn trace(modules: &[Module], target: &Target, frames: &[Vec<u8>]) -> Result<String, Failure> {
    let mut pipeline = Pipeline::new(target.rmt);
    for module in modules {
        let (number, part) = (module.number, module.part());
        let loaded = pipeline.load(number, 0, module.program()?, Memory::Zeroed);
        loaded.map_err(|e| Failure::input("E0691", format!("{}: {e}", module.name)))?;
        let granted: Destinations = module.destinations.iter().copied().collect();
        pipeline.grant(number, granted.mask(target).expect("destinations of the target"));
        for (&group, row) in &part.groups {
            pipeline.set_group(group, Group { owner: number, destinations: row.destinations, tags: row.tags });
        }
    }
    let mut text = String::new();
    let mut clock = 0;
    for (i, frame) in frames.iter().enumerate() {
        let mut bytes = frame.clone();
        let module = take_tag(&mut bytes).map_or(1, |t| u16::from_be_bytes([t[2], t[3]]) & 0xfff);
        let last = i + 1 == frames.len();
        if module == 0 || !modules.iter().any(|m| u16::from(m.number) == module) {
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
        clock += u64::from(target.beats(bytes.len() as u32));
        if !last {
            pipeline.run(&arrival);
            continue;
        }
        let name = modules.iter().find(|m| u16::from(m.number) == module).map_or("", |m| &m.name);
        let _ = writeln!(text, "packet {i}: {} bytes, module {module} ({name})", bytes.len());
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

/// Takes the outer 0x8100 tag off a frame, as ingress does.
fn take_tag(frame: &mut Vec<u8>) -> Option<[u8; 4]> {
    let tagged = frame.len() >= 16 && frame[12..14] == VLAN_ETHERTYPE.to_be_bytes();
    let tag = tagged.then(|| [frame[12], frame[13], frame[14], frame[15]])?;
    frame.drain(12..16);
    Some(tag)
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
