//! What a run of programs came to, as text and as JSON.

use super::counts::Counts;
use super::engine_events;
use super::paths::ByPath;
use crate::failure::Failure;
use crate::output::Output;
use crate::run::events::line;
use crate::table::{Table, group};
use serde_json::{Value, json};
use sluice_device::ProgramEvent;
use sluice_ebpf::state::{Entry, MapState};
use sluice_ebpf::world::Event;
use sluice_ebpf::{Errno, MapId, MapType, Runtime, state};
use std::path::{Path, PathBuf};

/// Entries of a map that the text shows; --json, --state and sluice map have all.
const SHOWN_ENTRIES: usize = 8;
/// Events that the text shows.
pub const SHOWN_EVENTS: usize = 8;

/// The run of one program.
pub struct Ran {
    /// Its name.
    pub name: String,
    /// Its section.
    pub section: String,
    /// Sums.
    pub counts: Counts,
    /// Its maps and events.
    pub runtime: Runtime,
    /// Paths of its packets, and the bundles that an engine has counted.
    pub paths: Option<(ByPath, Option<u64>)>,
    /// The packet of --trace, for --json.
    pub traced: Option<Value>,
}

/// Runs of one object's programs.
pub struct Report<'a> {
    /// Object file.
    pub object: &'a Path,
    /// In the object's order.
    pub runs: Vec<Ran>,
    /// Capture that was written, and its packets.
    pub written: Option<(PathBuf, u64)>,
    /// File that keeps the maps.
    pub state: Option<&'a Path>,
}

impl Report<'_> {
    /// Prints it.
    pub fn text(&self, out: &mut Output) -> Result<(), Failure> {
        let mut table = Table::new([
            "program",
            "packets",
            "pass",
            "tx",
            "redirect",
            "drop",
            "aborted",
            "insns min",
            "median",
            "p99",
            "packets/s",
        ]);
        for ran in &self.runs {
            let c = &ran.counts;
            let by: Vec<u64> = c.verdicts().map(|(_, n)| n).collect();
            let mut cells = vec![ran.name.clone()];
            cells.extend([c.packets, by[2], by[3], by[4], by[1], by[0]].map(group));
            cells.extend([0.0, 0.5, 0.99].map(|share| group(c.instructions_at(share))));
            cells.push(c.packets_per_second().map_or("-".to_owned(), |rate| group(rate.round() as u64)));
            table.row(cells);
        }
        out.text(&table.to_string())?;
        for ran in &self.runs {
            out.text("\n")?;
            if self.runs.len() > 1 {
                out.line(format!("{}:", ran.name))?;
            }
            ran.text(out)?;
        }
        if let Some((path, packets)) = &self.written {
            out.line(format!("wrote {}: {packets} packets", path.display()))?;
        }
        if let Some(path) = self.state {
            out.line(format!("wrote {}: sluice map dump --state {}", path.display(), path.display()))?;
        }
        Ok(())
    }

    /// One document.
    pub fn json(&self) -> Value {
        json!({
            "object": self.object,
            "programs": self.runs.iter().map(Ran::json).collect::<Vec<_>>(),
            "output": self.written.as_ref().map(|(path, packets)| json!({ "file": path, "packets": packets })),
            "state": self.state,
        })
    }
}

impl Ran {
    fn text(&self, out: &mut Output) -> Result<(), Failure> {
        if let Some(bundles) = self.counts.bundles_text() {
            out.line(bundles)?;
        }
        if let Some((paths, counted)) = &self.paths {
            paths.text(*counted, out)?;
        }
        for (reason, packets) in self.counts.drops() {
            out.line(format!("lost: {packets} {reason}"))?;
        }
        for (to, packets) in self.counts.redirects() {
            out.line(format!("redirected: {packets} to {to}"))?;
        }
        let maps = &self.runtime.maps;
        for id in maps.ids() {
            let Some(spec) = maps.spec(id) else { continue };
            if spec.frozen || !state::has_entries(spec.kind) {
                continue;
            }
            // An array has all its entries always: those that hold something are of interest.
            let always_full = matches!(spec.kind, MapType::Array | MapType::PercpuArray);
            let (mut held, mut shown) = (0u64, Vec::new());
            // A map that user space may not read shows no entries.
            let _ = maps.for_each_held::<Errno>(id, &mut |key, value| {
                if !always_full || value.iter().any(|byte| *byte != 0) {
                    if shown.len() < SHOWN_ENTRIES {
                        shown.push(format!("  key {}  value {}", spaced(key), spaced(value)));
                    }
                    held += 1;
                }
                Ok(())
            });
            let all = if always_full { u64::from(spec.max_entries) } else { held };
            let not_zero = if always_full { format!(", {held} not zero") } else { String::new() };
            let unit = if all == 1 { "entry" } else { "entries" };
            out.line(format!("map {} ({}): {all} {unit}{not_zero}", spec.name, spec.kind.name()))?;
            let more = held - shown.len() as u64;
            for entry in shown {
                out.line(entry)?;
            }
            if more > 0 {
                out.line(format!("  and {more} more"))?;
            }
        }
        let world = &self.runtime.world;
        if !world.events.is_empty() {
            let lost = world.lost_events;
            out.line(format!("events: {}, and {lost} lost", world.events.len()))?;
        }
        for event in world.events.iter().take(SHOWN_EVENTS) {
            out.line(engine_events::shown(&self.told(event)))?;
        }
        Ok(())
    }

    fn map_name(&self, map: MapId) -> &str {
        self.runtime.maps.spec(map).map_or("", |spec| spec.name.as_str())
    }

    fn json(&self) -> Value {
        let mut value = self.counts.json();
        value["name"] = json!(self.name);
        value["section"] = json!(self.section);
        value["maps"] = json!(self.maps());
        value["events"] = self.runtime.world.events.iter().map(|event| line(&self.told(event))).collect();
        value["lost_events"] = json!(self.runtime.world.lost_events);
        if let Some((paths, _)) = &self.paths {
            value["paths"] = paths.json();
        }
        if let Some(traced) = &self.traced {
            value["trace"] = traced.clone();
        }
        value
    }

    /// The maps as a state has them; a map that nobody writes has its value among the entries too.
    fn maps(&self) -> Vec<MapState> {
        let mut maps = state::State::of(&self.runtime.maps).maps;
        for map in &mut maps {
            let Some(value) = map.spec.contents.as_ref().filter(|_| map.spec.frozen) else { continue };
            map.entries = vec![Entry { key: state::to_hex(&[0; 4]), value: state::to_hex(value) }];
        }
        maps
    }

    fn told(&self, event: &Event) -> ProgramEvent {
        event.clone().named(|map| self.map_name(map).to_owned())
    }
}

/// Bytes with spaces between them.
pub fn spaced(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
}
