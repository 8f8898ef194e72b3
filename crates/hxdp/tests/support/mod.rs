//! One program run twice, by the interpreter and by the bundle model, on worlds of their own that must stay alike.

#[path = "../../../ebpf/tests/analysis_support/packets.rs"]
pub mod packets;
pub mod paper;
pub mod parsers;
#[path = "../../../ebpf/tests/analysis_support/programs.rs"]
pub mod programs;
#[path = "../../../ebpf/tests/analysis_support/shipped.rs"]
mod shipped;
#[path = "../../../rtlsim/tests/support/xdp/showing.rs"]
#[allow(dead_code)]
pub mod showing;
#[path = "../../../ebpf/tests/kernel_programs/steps.rs"]
#[allow(dead_code)] // Others use more of it.
pub mod steps;

use paper::{Paper, Run};
use shipped::shipped;
use sluice_device::headers::{flow_hash, headers};
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::state::State;
use sluice_ebpf::vm::{Ingress, Installed, Outcome};
use sluice_ebpf::{Image, MapType, Packet, Program, Runtime, load};
use sluice_formats::address::control::FLOW_SECRET_AT_RESET;
use sluice_hxdp::cycles::Start;
use sluice_hxdp::sections::Serial;
use sluice_hxdp::warp::{Table, Warped, warp};
use sluice_hxdp::{Bundles, CompileError, Cores, Executed, Passes, Target, Trace, compile, compile_with};
use std::path::{Path, PathBuf};
use steps::{Load, Step};

/// A loop that the engine follows: its packets go back as often as a byte of the frame says.
pub const LOOP: &str = "r2 = *(u32 *)(r1 +0)
    r3 = *(u32 *)(r1 +4)
    r4 = r2
    r4 += 34
    if r4 > r3 goto out
    r5 = 0
again:
    r5 += 1
    r6 = *(u8 *)(r2 +14)
    if r5 < r6 goto again
    r0 = 2
    exit
out:
    r0 = 1
    exit";

/// Lanes that every test runs.
pub const LANES: [usize; 3] = [1, 2, 4];

/// The core with so many lanes.
pub fn target(lanes: usize) -> Target {
    Target::new(lanes).unwrap()
}

/// Both sides.
pub struct Twins {
    /// What both run.
    pub image: Image,
    cores: Cores,
    sides: [(Runtime, Installed, Packet); 2],
    /// Packets so far.
    pub packets: u64,
    /// What the bundle model executed so far.
    pub executed: Executed,
    /// What the interpreter executed so far.
    pub instructions: u64,
    /// The packets so far, if they are recorded, and instructions that the interpreter executed of each.
    pub traces: Vec<(Trace, u64)>,
    /// Compiled instructions that cores executed of each of them.
    pub operations: Vec<u64>,
    /// The same packets by the published rules, if they are wanted.
    pub paper: Option<Paper>,
}

impl Twins {
    /// Installs an image on both sides.
    pub fn new(image: Image, target: &Target, work: Option<u64>) -> Result<Self, CompileError> {
        Self::marked(image, work, |image, index| {
            let compiled = compile(image, &image.programs[index], target)?;
            Ok((compiled.bundles, Serial::of(compiled.flow_serial, compiled.sections), None))
        })
    }

    /// The same where packets pass the programs' tables before a core has them.
    pub fn warped(image: Image, target: &Target) -> Result<Self, CompileError> {
        Self::warped_at(image, target, None)
    }

    /// The same with another limit on work.
    pub fn warped_at(image: Image, target: &Target, work: Option<u64>) -> Result<Self, CompileError> {
        Self::marked(image, work, |image, index| {
            let Warped { bundles, serial, table } =
                warp(image, index, &compile(image, &image.programs[index], target)?, target)?;
            Ok((bundles, serial, Some(table)))
        })
    }

    /// The same with bundles that are made in another way.
    pub fn compiled(
        image: Image,
        work: Option<u64>,
        compile: impl Fn(&Image, &Program) -> Result<Bundles, CompileError>,
    ) -> Result<Self, CompileError> {
        Self::marked(image, work, |image, index| Ok((compile(image, &image.programs[index])?, Serial::No, None)))
    }

    fn marked(
        image: Image,
        work: Option<u64>,
        compile: impl Fn(&Image, usize) -> Result<(Bundles, Serial, Option<Table>), CompileError>,
    ) -> Result<Self, CompileError> {
        let side = || {
            let mut runtime = Runtime::new(2, 7);
            runtime.work_limit = work.unwrap_or(runtime.work_limit);
            let installed = runtime.install_unchecked(&image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
            (runtime, installed, Packet::new(&[]))
        };
        let sides = [side(), side()];
        let mut cores = Cores::new();
        for index in 0..image.programs.len() {
            let (bundles, serial, warp) = compile(&image, index)?;
            if let Some(number) = sides[1].0.program_number(sides[1].1, index) {
                cores.bind(bundles, number, &sides[1].0, sides[1].1);
                cores.mark(number, serial);
                if let Some(table) = warp {
                    cores.warp(number, table, &sides[1].0, sides[1].1);
                }
            }
        }
        let (executed, traces, operations) = (Executed::default(), vec![], vec![]);
        Ok(Self { image, cores, sides, packets: 0, executed, instructions: 0, traces, operations, paper: None })
    }

    /// Records packets from now on.
    pub fn record(&mut self) {
        self.cores.record();
    }

    /// Plays packets by the published rules, too, from now on.
    pub fn by_paper(&mut self) {
        self.record();
        self.cores.keep_visits(true);
        self.paper = Some(Paper::new(&self.image));
    }

    /// The next packets are this processor's.
    pub fn on(&mut self, cpu: u32) {
        self.each(|runtime, _| runtime.world.cpu = cpu);
    }

    /// Runs a packet on both sides and compares what became of it.
    pub fn run(&mut self, program: usize, frame: &[u8], ingress: Ingress) -> Result<Outcome, String> {
        let [(runtime, installed, packet), (other, other_installed, other_packet)] = &mut self.sides;
        packet.set(frame);
        other_packet.set(frame);
        let expected = match &self.paper {
            Some(paper) => runtime.run_traced(*installed, program, packet, ingress, &paper.slots),
            None => runtime.run(*installed, program, packet, ingress),
        };
        let found = other.run_on(&self.cores, *other_installed, program, other_packet, ingress);
        self.packets += 1;
        let executed = self.cores.take_executed();
        self.executed += executed;
        self.instructions += expected.instructions;
        let recorded = self.cores.take_issues();
        if let Some(paper) = &mut self.paper {
            let visits = self.cores.take_visits();
            paper.run((program, frame, ingress), (&expected, packet), (&self.cores, &visits, &recorded.issues));
        }
        if !recorded.issues.is_empty() || recorded.start == Start::Verdict {
            let flow = flow_hash(&headers(frame), FLOW_SECRET_AT_RESET);
            let trace = Trace::new(recorded, frame.len(), other_packet, found.verdict, flow);
            self.traces.push((trace, expected.instructions));
            self.operations.push(executed.instructions);
        }
        let place = |o: &Outcome| o.fault.as_ref().map(|f| (f.reason, f.program.clone(), f.pc));
        let end = |o: &Outcome| (o.r0, o.verdict, o.redirect, place(o));
        same("outcome", &end(&expected), &end(&found))?;
        same("tail calls", &runtime.tail_called(), &other.tail_called())?;
        same("events", &runtime.world.take_events(), &other.world.take_events())?;
        // A frame after a fault is dropped; nobody sees it.
        if expected.fault.is_none() {
            same("frame", &packet.frame(), &other_packet.frame())?;
            same("metadata", &packet.metadata(), &other_packet.metadata())?;
        }
        Ok(expected)
    }

    /// Compares all maps.
    pub fn compare_maps(&self) -> Result<(), String> {
        let [a, b] = [&self.sides[0].0.maps, &self.sides[1].0.maps].map(|maps| State::of(maps).to_json());
        same("maps", &a, &b)
    }

    /// The same change of both sides' maps.
    pub fn each(&mut self, change: impl Fn(&mut Runtime, Installed)) {
        self.sides.iter_mut().for_each(|(runtime, installed, _)| change(runtime, *installed));
        if let Some(paper) = &mut self.paper {
            change(&mut paper.runtime, paper.installed);
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:02x?}\nfound {found:02x?}")) }
}

/// Object files under `programs/xdp`, in the order of their names.
pub fn objects() -> Vec<PathBuf> {
    shipped("o")
}

/// Packet scripts under `programs/xdp`.
pub fn scripts() -> Vec<PathBuf> {
    shipped("pkt")
}

/// An object file, with sizes for maps that it leaves open.
pub fn image(path: &Path) -> Image {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut image = load::load(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    image.maps.iter_mut().filter(|map| map.max_entries == 0).for_each(|map| map.max_entries = 64);
    image
}

/// A script's steps on both sides.
#[derive(Default)]
pub struct Replay {
    running: Option<(Twins, usize)>,
    /// Packets, bundles and interpreted instructions of programs that were replaced, by object file.
    pub done: Vec<(PathBuf, u64, Executed, u64)>,
    /// Their packets by object file, if they are recorded.
    pub traces: Vec<(PathBuf, Vec<(Trace, u64)>)>,
    /// And compiled instructions that cores executed of each.
    pub operations: Vec<(PathBuf, Vec<u64>)>,
    /// What became of them by the published rules, if that is wanted.
    pub papers: Vec<(PathBuf, Vec<Run>)>,
    by_paper: bool,
    records: bool,
    file: PathBuf,
    passes: Passes,
    counts_only: bool,
    warps: bool,
}

impl Replay {
    /// Carries out all of them; what differs is said with its step.
    pub fn play(steps: &[Step], target: &Target) -> Self {
        let mut replay = Self::default();
        replay.all(steps, target);
        replay
    }

    /// The same with every packet recorded.
    pub fn record(steps: &[Step], target: &Target) -> Self {
        let mut replay = Self { records: true, ..Self::default() };
        replay.all(steps, target);
        replay
    }

    /// The same where packets pass the programs' tables before a core has them.
    pub fn warped(steps: &[Step], target: &Target) -> Self {
        let mut replay = Self { records: true, warps: true, ..Self::default() };
        replay.all(steps, target);
        replay
    }

    /// The same by the published rules, too.
    pub fn by_paper(steps: &[Step], target: &Target) -> Self {
        let mut replay = Self { records: true, by_paper: true, ..Self::default() };
        replay.all(steps, target);
        replay
    }

    /// The same with some passes only, to count: maps are not compared.
    pub fn count(steps: &[Step], target: &Target, passes: Passes) -> Self {
        let mut replay = Self { passes, counts_only: true, ..Self::default() };
        replay.all(steps, target);
        replay
    }

    fn all(&mut self, steps: &[Step], target: &Target) {
        for step in steps {
            self.step(step, target).unwrap_or_else(|e| panic!("{step:02x?}\n{e}"));
        }
        self.finish();
    }

    fn finish(&mut self) {
        if let Some((twins, _)) = self.running.take() {
            self.done.push((self.file.clone(), twins.packets, twins.executed, twins.instructions));
            self.traces.push((self.file.clone(), twins.traces));
            self.operations.push((self.file.clone(), twins.operations));
            self.papers.extend(twins.paper.map(|paper| (self.file.clone(), paper.runs)));
        }
    }

    fn step(&mut self, step: &Step, target: &Target) -> Result<(), String> {
        if let Step::Load(load) = step {
            self.finish();
            return self.load(load, target);
        }
        let (twins, program) = self.running.as_mut().ok_or("no program is loaded")?;
        match step {
            Step::Packet { ifindex, frame } => {
                twins.run(*program, frame, Ingress { ifindex: *ifindex, queue: 0 })?;
                if self.counts_only { Ok(()) } else { twins.compare_maps() }
            }
            Step::Set { map, key, value, inner, flags } => {
                let Some(index) = twins.image.map(map) else { return Ok(()) };
                let inner = inner.as_ref().and_then(|inner| twins.image.map(inner));
                let kind = twins.image.maps[index].kind;
                twins.each(|runtime, installed| {
                    let id = runtime.map(installed, index).unwrap();
                    let mut value = value.clone();
                    if let Some(inner) = inner.and_then(|inner| runtime.map(installed, inner)) {
                        value = inner.0.to_le_bytes().to_vec();
                    } else if kind.is_per_cpu() {
                        value.resize(value.len().next_multiple_of(8), 0);
                        value = value.repeat(2);
                    }
                    let _ = runtime.maps.user_update(id, key, &value, *flags);
                });
                Ok(())
            }
            Step::Delete { map, key } => {
                let Some(index) = twins.image.map(map) else { return Ok(()) };
                twins.each(|runtime, installed| {
                    let id = runtime.map(installed, index).unwrap();
                    let _ = runtime.maps.user_delete(id, key);
                });
                Ok(())
            }
            Step::Pop { map } => {
                let Some(index) = twins.image.map(map) else { return Ok(()) };
                twins.each(|runtime, installed| {
                    let id = runtime.map(installed, index).unwrap();
                    let _ = runtime.maps.user_pop(id);
                });
                Ok(())
            }
            Step::Routes(file) => {
                let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
                let routes = Routes::parse(&text).map_err(|e| e.to_string())?;
                twins.each(|runtime, _| runtime.world.routes = routes.clone());
                Ok(())
            }
            Step::Look | Step::Restore | Step::Load(_) => twins.compare_maps(),
        }
    }

    /// Entries that a replacement keeps are not kept here: both sides begin anew.
    fn load(&mut self, load: &Load, target: &Target) -> Result<(), String> {
        let mut image = image(&load.file);
        for (name, entries) in &load.max_entries {
            image.set_max_entries(name, *entries).map_err(|e| e.to_string())?;
        }
        let wanted = |p: &sluice_ebpf::Program| {
            load.program.as_ref().is_none_or(|n| *n == p.name) && load.section.as_ref().is_none_or(|s| *s == p.section)
        };
        let program = image.programs.iter().position(wanted).ok_or("no such program")?;
        self.file.clone_from(&load.file);
        let compile = |image: &Image, program: &Program| compile_with(image, program, target, self.passes);
        let twins = Twins::marked(image, None, |image, index| {
            let compiled = compile(image, &image.programs[index])?;
            if self.warps {
                let Warped { bundles, serial, table } = warp(image, index, &compiled, target)?;
                return Ok((bundles, serial, Some(table)));
            }
            Ok((compiled.bundles, Serial::of(compiled.flow_serial, compiled.sections), None))
        });
        let mut twins = twins.map_err(|e| e.to_string())?;
        if self.records {
            twins.record();
        }
        if self.by_paper {
            twins.by_paper();
        }
        self.running = Some((twins, program));
        Ok(())
    }
}

/// Puts entries of few different bytes into every map.
pub fn fill(twins: &mut Twins, rng: &mut sluice_formats::random::Rng) {
    let maps: Vec<(usize, MapType, u32, u32)> =
        twins.image.maps.iter().enumerate().map(|(i, m)| (i, m.kind, m.key_size, m.value_size)).collect();
    for (index, kind, key_size, value_size) in maps {
        if kind.holds_maps() || matches!(kind, MapType::ProgArray) {
            continue;
        }
        for entry in 0..16u32 {
            let few = |rng: &mut sluice_formats::random::Rng, n: u32| -> Vec<u8> {
                (0..n).map(|_| [0, 0, 0, 1, 2, 10, 80, 255][rng.index(8)]).collect()
            };
            let mut key = few(rng, key_size);
            if key_size == 4 && rng.chance(3, 4) {
                key = entry.to_le_bytes().to_vec();
            }
            let mut value = few(rng, value_size);
            if kind.is_per_cpu() {
                value.resize(value.len().next_multiple_of(8), 0);
                value = value.repeat(2);
            }
            twins.each(|runtime, installed| {
                if let Some(id) = runtime.map(installed, index) {
                    let _ = runtime.maps.user_update(id, &key, &value, 0);
                }
            });
        }
    }
}
