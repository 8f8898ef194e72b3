//! `--by-path`: packets that went the same way through the program are one line.
//!
//! The interpreter and the bundle model execute each packet beside the device, with maps of their own. Packets are of one path when they executed the
//! same rows in the same order and as many instructions, and got the same verdict.

use super::hardware::Ended;
use crate::failure::Failure;
use crate::output::Output;
use crate::table::{Table, group};
use serde_json::{Value, json};
use sluice_device::headers::{flow_hash, headers};
use sluice_ebpf::vm::{Ingress, Installed};
use sluice_ebpf::{Packet, Runtime, Verdict};
use sluice_formats::address::control::FLOW_SECRET_AT_RESET;
use sluice_hxdp::Cores;
use sluice_hxdp::cycles::{self, Engine, mean_alone, saturated};
use std::collections::HashMap;

/// Lines of text.
const SHOWN: usize = 16;
/// Packets of a path that the cycle model plays.
const MOST_TRACES: usize = 16;

/// Rows, instructions and verdict.
type Key = (u64, u64, Verdict);

/// The packets of one path.
#[derive(Debug, Default)]
struct OnPath {
    first: u64,
    packets: u64,
    bundles: u64,
    traces: Vec<cycles::Trace>,
    /// Those that the engine executed: how many, and sum, least and most of their cycles from in to out.
    engine: Option<(u64, u64, u64, u64)>,
}

/// One model with its maps.
pub type Model = (Runtime, Installed);

/// All paths of a program's packets.
pub struct ByPath {
    interpreter: Model,
    bundles: Model,
    cores: Cores,
    program: usize,
    ingress: Ingress,
    paths: Vec<(Key, OnPath)>,
    places: HashMap<Key, usize>,
    /// The path of each packet that the engine has yet to tell of, from `told` on.
    waiting: Vec<usize>,
    packets: u64,
    /// Packets that the engine's queue dropped.
    not_run: u64,
}

impl ByPath {
    /// For one program, with a runtime for each model; the cores record and tell paths.
    pub fn new((interpreter, bundles): (Model, Model), cores: Cores, program: usize, ingress: Ingress) -> Self {
        let (paths, places, waiting) = (Vec::new(), HashMap::new(), Vec::new());
        Self { interpreter, bundles, cores, program, ingress, paths, places, waiting, packets: 0, not_run: 0 }
    }

    /// The next packet.
    pub fn take(&mut self, bytes: &[u8], stamp: u64) {
        let (runtime, installed) = &mut self.interpreter;
        runtime.world.now_ns = stamp;
        let outcome = runtime.run(*installed, self.program, &mut Packet::new(bytes), self.ingress);
        let (runtime, installed) = &mut self.bundles;
        runtime.world.now_ns = stamp;
        let mut packet = Packet::new(bytes);
        let bundled = runtime.run_on(&self.cores, *installed, self.program, &mut packet, self.ingress);
        let executed = self.cores.take_executed();
        let trace = cycles::Trace::new(
            self.cores.take_issues(),
            bytes.len(),
            &packet,
            bundled.verdict,
            flow_hash(&headers(bytes), FLOW_SECRET_AT_RESET),
        );
        let key = (self.cores.take_path(), outcome.instructions, outcome.verdict);
        let place = *self.places.entry(key).or_insert_with(|| {
            self.paths.push((key, OnPath { first: self.packets, bundles: executed.bundles, ..OnPath::default() }));
            self.paths.len() - 1
        });
        let path = &mut self.paths[place].1;
        path.packets += 1;
        if path.traces.len() < MOST_TRACES {
            path.traces.push(trace);
        }
        self.waiting.push(place);
        self.packets += 1;
    }

    /// What the engine made of the packets taken since this was last told.
    pub fn ended(&mut self, ended: &[Ended]) {
        let first = self.packets - self.waiting.len() as u64;
        for end in ended {
            let place = end.packet.checked_sub(first).and_then(|at| self.waiting.get(at as usize));
            let Some(path) = place.map(|place| &mut self.paths[*place].1) else { continue };
            if !end.executed {
                self.not_run += 1;
                continue;
            }
            let (packets, sum, least, most) = path.engine.get_or_insert((0, 0, u64::MAX, 0));
            (*packets, *sum) = (*packets + 1, *sum + end.cycles);
            (*least, *most) = ((*least).min(end.cycles), (*most).max(end.cycles));
        }
        self.waiting.clear();
    }

    /// Paths, those of most packets first.
    fn sorted(&self) -> Vec<&(Key, OnPath)> {
        let mut sorted: Vec<_> = self.paths.iter().collect();
        sorted.sort_by_key(|(_, path)| (std::cmp::Reverse(path.packets), path.first));
        sorted
    }

    /// What the engine had otherwise than the models, from the bundles that it has counted.
    fn apart(&self, counted: Option<u64>) -> Option<String> {
        let bundles: u64 = self.paths.iter().map(|(_, path)| path.bundles * path.packets).sum();
        let counted = counted?;
        let same = self.not_run == 0 && counted == bundles;
        (!same).then(|| {
            format!(
                "paths are those of the models: {bundles} bundles, {counted} counted by the engine, {} packets lost at its queue",
                self.not_run
            )
        })
    }

    /// Lines of text; `counted` are the bundles that an engine has counted.
    pub fn text(&self, counted: Option<u64>, out: &mut Output) -> Result<(), Failure> {
        let on_engine = self.paths.iter().any(|(_, path)| path.engine.is_some());
        let mut heads = vec!["first packet", "packets", "verdict", "insns", "bundles", "model alone", "model a packet"];
        if on_engine {
            heads.push("engine in to out");
        }
        let mut table = Table::new(heads).left(2);
        let engine = Engine::default();
        for ((_, instructions, verdict), path) in self.sorted().into_iter().take(SHOWN) {
            let mut cells = vec![path.first.to_string(), group(path.packets), verdict.name().to_owned()];
            cells.extend([*instructions, path.bundles].map(group));
            cells.push(format!("{:.0}", mean_alone(&engine, &path.traces)));
            cells.push(format!("{:.1}", saturated(&engine, &path.traces).cycles_per_packet()));
            if on_engine {
                let of = |(packets, sum, least, most): (u64, u64, u64, u64)| {
                    format!("{:.0} ({least} to {most})", sum as f64 / packets as f64)
                };
                cells.push(path.engine.map_or("-".to_owned(), of));
            }
            table.row(cells);
        }
        let unit = if self.paths.len() == 1 { "path" } else { "paths" };
        out.line(format!("{} {unit}; model and engine in cycles:", self.paths.len()))?;
        out.text(&table.to_string())?;
        if self.paths.len() > SHOWN {
            out.line(format!("  and {} more", self.paths.len() - SHOWN))?;
        }
        self.apart(counted).map_or(Ok(()), |apart| out.line(apart))
    }

    /// One list.
    pub fn json(&self) -> Value {
        let engine = Engine::default();
        let path = |((_, instructions, verdict), path): &(Key, OnPath)| {
            let on_engine = path.engine.map(|(packets, sum, least, most)| {
                json!({ "packets": packets, "latency_mean": sum as f64 / packets as f64, "latency_least": least,
                        "latency_most": most })
            });
            json!({ "first_packet": path.first, "packets": path.packets, "verdict": verdict.name(),
                    "instructions": instructions, "bundles": path.bundles,
                    "model_cycles_alone": mean_alone(&engine, &path.traces),
                    "model_cycles_per_packet": saturated(&engine, &path.traces).cycles_per_packet(),
                    "engine": on_engine })
        };
        self.sorted().into_iter().map(path).collect()
    }
}
