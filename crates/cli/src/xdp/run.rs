//! `sluice xdp run`: a capture through a program, packet by packet.

use super::bundle_trace::BundleTrace;
use super::counts::Counts;
use super::hardware::{Hardware, Seen};
use super::jit::Switch;
use super::live;
use super::object;
use super::options::packet_number;
use super::packets::{Arrived, PacketLog, read_batch};
use super::paths::ByPath;
use super::prepare::{Prepare, named_file, placed};
use super::report::{Ran, Report};
use super::sink::Sink;
use super::trace::{Programs, Trace};
use crate::captures::{self, Capture};
use crate::failure::Failure;
use crate::output::Output;
use crate::run::device::engine_target;
use crate::run::interrupt;
use crate::run::progress::Progress;
use clap::Args;
use serde_json::{Value, json};
use sluice_device::headers::{flow_hash, headers};
use sluice_ebpf::map::as_libbpf_creates;
use sluice_ebpf::vm::{Ingress, Installed, WORK_LIMIT};
use sluice_ebpf::{Image, Packet, Runtime};
use sluice_formats::Target as NicTarget;
use sluice_formats::address::control::FLOW_SECRET_AT_RESET;
use sluice_formats::xdp::target::{MOST_WORK, WORK};
use sluice_hxdp::{Cores, Target, cycles};
use sluice_object::XdpMemory;
use sluice_packet::capture;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Packets read and run before any is written.
const BATCH: usize = 512;
/// Lanes of the cores unless said otherwise.
const LANES: usize = 2;

/// Plays captures or live interfaces through an XDP program
///
/// Prints verdicts, why packets were lost, instructions per packet, packets per second, and
/// what the maps hold afterwards. Without --section and --program every program of the object
/// has a run of its own over all captures, with maps of its own. On live interfaces one program
/// runs until Ctrl-C, --limit or --seconds.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice xdp run programs/xdp/swap/swap.o --in programs/nic/mixed.pcapng --out out/left.pcapng
  sluice xdp run programs/xdp/rate_limit/rate_limit.o --in programs/xdp/mixed.pcap --json \\
    --map classes=programs/xdp/rate_limit/classes.map --state out/maps.json
  sluice xdp run programs/xdp/swap/swap.o --in programs/nic/mixed.pcapng --device bundles --lanes 4
  sluice xdp run programs/xdp/swap/swap.o --in programs/nic/mixed.pcapng --device bundles --trace 0
  sluice xdp run programs/xdp/drop/drop.o --in programs/xdp/mixed.pcap --device both --target tiny --limit 100
  sluice xdp run programs/xdp/redirect_map/redirect_map.o --iface eth1,eth2 --seconds 60 \\
    --map patches=patches.txt --map ports=ports.txt")]
pub struct XdpRun {
    /// Object file that clang wrote for the target bpf
    pub(super) object: PathBuf,
    #[command(flatten)]
    pub(super) kernel: object::KernelFile,
    /// Only the program of this section
    #[arg(long)]
    pub(super) section: Option<String>,
    /// Only the program with this name
    #[arg(long)]
    pub(super) program: Option<String>,
    /// Capture to play, `-` is standard input; several are played one after the other
    #[arg(long = "in", value_name = "CAPTURE")]
    pub(super) inputs: Vec<PathBuf>,
    /// Interfaces whose packets the program gets, instead of captures; the first has index 1
    #[arg(long, value_name = "IFACE[=IFINDEX]", value_delimiter = ',', value_parser = live::interface,
          conflicts_with_all = ["inputs", "output", "ifindex", "queue", "cpu", "cpus", "seed", "trace"])]
    pub(super) iface: Vec<live::Interface>,
    /// TAP device that gets what the program passes, made if it is not there
    #[arg(long, value_name = "NAME", requires = "iface", conflicts_with = "inputs", value_parser = live::device_name)]
    pub(super) tap: Option<String>,
    /// Ends after this time
    #[arg(long, value_name = "N", requires = "iface", conflicts_with = "inputs",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(super) seconds: Option<u64>,
    /// Local socket on which `sluice map` finds the maps while it runs
    #[arg(long, value_name = "FILE", requires = "iface", conflicts_with = "inputs")]
    pub(super) socket: Option<PathBuf>,
    /// Capture of what leaves: interfaces pass, tx, redirect in .pcapng; `-` is standard output
    #[arg(long = "out", value_name = "CAPTURE")]
    pub(super) output: Option<PathBuf>,
    /// Entries of a map, before the first packet (docs/guide/xdp.md)
    #[arg(long = "map", value_name = "NAME=FILE", value_parser = named_file)]
    pub(super) maps: Vec<(String, PathBuf)>,
    #[command(flatten)]
    pub(super) prepare: Prepare,
    /// Routes, neighbours and interfaces of fib_lookup
    #[arg(long, value_name = "FILE")]
    pub(super) routes: Option<PathBuf>,
    /// Index of the interface that packets come in on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) ifindex: u32,
    /// Receive queue that packets come in on
    #[arg(long, value_name = "N", default_value_t = 0)]
    queue: u32,
    /// Processor that the program runs on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) cpu: u32,
    /// Processors of per-CPU maps
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) cpus: u32,
    /// Seed of the program's random numbers, and of the simulation's initial values
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Keeps the maps in a file, for sluice map; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
    /// What became of each packet: verdict, instructions, path through programs and destination, a JSON
    /// object a line; `-` is standard output, the report then goes to standard error
    #[arg(long, value_name = "FILE", conflicts_with = "iface")]
    pub(super) packets: Option<PathBuf>,
    /// Most taken back edges and calls of a packet [default: 16777216; with --device rtl or both 65536]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_WORK)))]
    pub(super) work: Option<u32>,
    /// Plays at most so many packets
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) limit: Option<u64>,
    /// What carries the program out
    #[arg(long, value_enum, default_value_t = Executor::Interpreter, conflicts_with = "iface")]
    pub(super) device: Executor,
    /// Whether programs run as machine code in the place of the interpreter; packets that are traced are interpreted
    #[arg(long, value_enum, default_value_t = Switch::On)]
    pub(super) jit: Switch,
    /// Target of the engine, with --device rtl or both: default, tiny, or with external memory far, tiny_far
    #[arg(long, value_parser = engine_target, default_value = "default")]
    pub(super) target: &'static NicTarget,
    /// Where a map lies, with --device rtl or both: chip or outside; otherwise on the chip while it fits
    #[arg(long, value_name = "MAP=MEMORY", value_parser = placed)]
    pub(super) place: Vec<(String, XdpMemory)>,
    /// Lanes of the cores, with --device bundles: 1, 2 or 4 [default: 2]
    #[arg(long, value_name = "N")]
    pub(super) lanes: Option<usize>,
    /// Whether packets pass the program's table before a core has them, with --device bundles, rtl or both [default: on, but for --trace and --by-path]
    #[arg(long, value_enum, conflicts_with = "iface")]
    pub(super) warp: Option<super::warp::Warps>,
    /// Prints every instruction, or bundle, of every packet or of one, with its registers; the first packet is 0
    #[arg(long, value_name = "PACKET", num_args = 0..=1, value_parser = packet_number)]
    pub(super) trace: Option<Option<u64>>,
    /// Prints packets, bundles and cycles of each path that packets went
    #[arg(long, conflicts_with = "iface")]
    pub(super) by_path: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    pub(super) json: bool,
}

/// What is looked at beside a run.
struct Watching {
    by_path: Option<ByPath>,
    /// The packet of --trace, for --json.
    traced: Option<Value>,
}

/// What carries a program out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Executor {
    /// The interpreter, instruction by instruction: the specification
    #[value(name = "model", alias = "interpreter")]
    Interpreter,
    /// The model of the cores, bundle by bundle, with counts and a cycle model
    Bundles,
    /// The XDP engine in hardware, in simulation: what becomes of packets, and their cycles
    Rtl,
    /// The engine with the interpreter in lockstep: a difference is an error
    Both,
}

impl XdpRun {
    /// Plays and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        self.check_options()?;
        interrupt::listen();
        if !self.iface.is_empty() {
            return self.run_live(out);
        }
        let mut image = self.kernel.read_here(&self.object)?;
        self.prepare.apply(&mut image, &self.object)?;
        for spec in &mut image.maps {
            *spec = as_libbpf_creates(spec, self.cpus);
        }
        let programs = object::choose(&image, &self.object, self.section.as_deref(), self.program.as_deref())?;
        self.check_programs(programs.len())?;
        if self.device == Executor::Rtl {
            return self.run_rtl(&image, &programs, out);
        }
        let packets = self.count()?;
        let mut log = None;
        let mut runs = Vec::new();
        let mut on_engine = Vec::new();
        let mut written = None;
        for program in programs {
            if interrupt::asked() && !runs.is_empty() {
                break;
            }
            let mut runtime = Runtime::new(self.cpus, self.seed);
            let installed = self.install(&mut runtime, &image)?;
            let cores = self.cores(&image, &runtime, installed)?;
            let both = self.device == Executor::Both;
            let mut engine = both.then(|| Hardware::open(self, &image, &image.programs[program], true)).transpose()?;
            if runs.is_empty() {
                log = self.packets.as_deref().map(PacketLog::create).transpose()?;
            }
            let sink = self.output.as_deref().map(Sink::create).transpose()?;
            let by_path = self.by_path(&image, program)?;
            let mut watching = Watching { by_path, traced: None };
            let (counts, sink) = self.play(
                &mut runtime,
                installed,
                (&image, program, cores, engine.as_mut()),
                (sink, &mut log, &mut watching),
                packets,
                out,
            )?;
            if let Some(only) = self.trace.flatten().filter(|only| *only >= counts.packets && !interrupt::asked()) {
                let what = format!("--trace {only}: --in has {} packets, the first is 0", counts.packets);
                return Err(Failure::input("E0502", what));
            }
            let seen = engine.map(Hardware::finish).transpose()?;
            let counted = seen.as_ref().map(Seen::bundles);
            on_engine.extend(seen);
            written = sink.map(Sink::finish).transpose()?;
            if let Some(path) = &self.state {
                object::save_state(&runtime.maps, path)?;
            }
            let sluice_ebpf::Program { name, section, .. } = image.programs[program].clone();
            let paths = watching.by_path.map(|by_path| (by_path, counted));
            runs.push(Ran { name, section, counts, runtime, paths, traced: watching.traced });
        }
        let report = Report { object: &self.object, runs, written, state: self.state.as_deref() };
        let mut beside = self.on_standard_output().map(|_| Output::stderr());
        log.map(PacketLog::finish).transpose()?;
        let report_to = beside.as_mut().unwrap_or(out);
        if self.json {
            let mut value = report.json();
            if self.device == Executor::Both {
                value["engine"] = on_engine.iter().map(|seen| seen.json(self.target)).collect();
            }
            report_to.json(&value)?;
        } else {
            report.text(report_to)?;
            on_engine.iter().try_for_each(|seen| seen.text(self.target, report_to))?;
        }
        report_to.flush()?;
        Ok(interrupt::exit_code(ExitCode::SUCCESS))
    }

    /// The models that tell paths apart, where they are asked for.
    fn by_path(&self, image: &Image, program: usize) -> Result<Option<ByPath>, Failure> {
        if !self.by_path {
            return Ok(None);
        }
        let model = || {
            let mut runtime = Runtime::new(self.cpus, self.seed);
            let installed = self.install(&mut runtime, image)?;
            Ok::<_, Failure>((runtime, installed))
        };
        let (interpreter, bundles) = (model()?, model()?);
        let mut cores = self.compiled(image, &bundles.0, bundles.1)?;
        cores.tell_paths();
        let ingress = Ingress { ifindex: self.ifindex, queue: self.queue };
        Ok(Some(ByPath::new((interpreter, bundles), cores, program, ingress)))
    }

    /// The engine alone: what became of packets, and their cycles.
    fn run_rtl(&self, image: &Image, programs: &[usize], out: &mut Output) -> Result<ExitCode, Failure> {
        let mut all = Vec::new();
        let mut batch: Vec<capture::Packet> = vec![capture::Packet::default(); BATCH];
        for index in programs {
            let program = &image.programs[*index];
            if interrupt::asked() && !all.is_empty() {
                break;
            }
            let mut engine = Hardware::open(self, image, program, false)?;
            let mut by_path = self.by_path(image, *index)?;
            let mut left = self.limit.unwrap_or(u64::MAX);
            for path in &self.inputs {
                let mut reader = Capture::open(path)?;
                while !interrupt::asked() {
                    let (read, damage) = read_batch(&mut reader, &mut batch, left);
                    damage.map_or(Ok(()), Err)?;
                    if read == 0 {
                        break;
                    }
                    left -= read as u64;
                    let ended = engine.play(batch[..read].iter().map(|packet| packet.bytes.as_slice()))?;
                    if let Some(by_path) = &mut by_path {
                        batch[..read].iter().for_each(|packet| by_path.take(&packet.bytes, packet.stamp));
                        by_path.ended(&ended);
                    }
                }
            }
            all.push((program, engine.finish()?, by_path));
        }
        if self.json {
            let value = |(program, seen, by_path): &(&sluice_ebpf::Program, Seen, Option<ByPath>)| {
                let mut value =
                    json!({ "program": program.name, "section": program.section, "engine": seen.json(self.target) });
                if let Some(by_path) = by_path {
                    value["paths"] = by_path.json();
                }
                value
            };
            let programs: Vec<Value> = all.iter().map(value).collect();
            out.json(&json!({ "object": self.object.display().to_string(), "device": "rtl", "programs": programs }))?;
        } else {
            for (program, seen, by_path) in &all {
                out.line(format!("program {} ({})", program.name, program.section))?;
                seen.text(self.target, out)?;
                by_path.iter().try_for_each(|by_path| by_path.text(Some(seen.bundles()), out))?;
            }
        }
        out.flush()?;
        Ok(interrupt::exit_code(ExitCode::SUCCESS))
    }

    /// Refuses outputs that would overwrite a file that is read, or each other.
    fn install(&self, runtime: &mut Runtime, image: &Image) -> Result<Installed, Failure> {
        runtime.world.cpu = self.cpu;
        let usual = if matches!(self.device, Executor::Rtl | Executor::Both) { u64::from(WORK) } else { WORK_LIMIT };
        runtime.work_limit = self.work.map_or(usual, u64::from);
        if let Some(path) = &self.routes {
            (_, runtime.world.routes) = object::routes(path)?;
        }
        let failure = |e: sluice_ebpf::load::LoadError| {
            let failure = Failure::input(e.code(), format!("{}: {e}", self.object.display()));
            match image.maps.iter().find(|map| map.max_entries == 0) {
                Some(open) if e.code() == "E0430" => {
                    failure.help(format!("the object leaves a size open: --max-entries {}=N", open.name))
                }
                _ => failure,
            }
        };
        let installed = runtime.install(image, &|_| None).map_err(failure)?;
        for (name, file) in &self.maps {
            object::fill_map(runtime, installed, image, name, file)?;
        }
        Ok(installed)
    }

    /// The cores with the object's programs, where they are asked for.
    fn cores(&self, image: &Image, runtime: &Runtime, installed: Installed) -> Result<Option<Cores>, Failure> {
        (self.device == Executor::Bundles).then(|| self.compiled(image, runtime, installed)).transpose()
    }

    /// Cores with the object's programs, which record what they execute.
    fn compiled(&self, image: &Image, runtime: &Runtime, installed: Installed) -> Result<Cores, Failure> {
        let failure =
            |e: sluice_hxdp::CompileError| Failure::input(e.code(), format!("{}: {e}", self.object.display()));
        let mut cores = Cores::new();
        cores.record();
        let target = Target::new(self.lanes.unwrap_or(LANES)).map_err(failure)?;
        let add = if self.has_tables() { Cores::add_warped } else { Cores::add };
        add(&mut cores, image, &target, runtime, installed).map_err(failure)?;
        Ok(cores)
    }

    /// Packets that will be played, where somebody asks. Files are read to their end before an output changes: what
    /// is wrong with one is told while outputs are as they were. A pipe's packets are not known.
    fn count(&self) -> Result<Option<u64>, Failure> {
        let writes = [&self.output, &self.packets, &self.state].into_iter().any(Option::is_some);
        if !writes && !std::io::stderr().is_terminal() {
            return Ok(None);
        }
        let limit = self.limit.unwrap_or(u64::MAX);
        let (mut packets, mut is_known) = (0, true);
        for path in &self.inputs {
            if captures::is_pipe(path) {
                is_known = false;
                continue;
            }
            let mut reader = Capture::open(path)?;
            let mut packet = capture::Packet::default();
            while packets < limit && !interrupt::asked() && reader.read(&mut packet)? {
                packets += 1;
            }
        }
        Ok(is_known.then_some(packets))
    }

    fn play(
        &self,
        runtime: &mut Runtime,
        installed: Installed,
        (image, program, cores, mut engine): (&Image, usize, Option<Cores>, Option<&mut Hardware>),
        (mut sink, log, watching): (Option<Sink>, &mut Option<PacketLog>, &mut Watching),
        packets: Option<u64>,
        out: &mut Output,
    ) -> Result<(Counts, Option<Sink>), Failure> {
        let progress = Progress::new("xdp", packets);
        let alone = self.device == Executor::Interpreter;
        let jit = if alone { self.jit.compile(runtime, image, installed) } else { None };
        let mut counts = Counts::default();
        let limit = self.limit.unwrap_or(u64::MAX);
        let mut batch: Vec<capture::Packet> = vec![capture::Packet::default(); BATCH];
        let mut after: Vec<(sluice_ebpf::Verdict, Vec<u8>)> = Vec::with_capacity(BATCH);
        let mut packet = Packet::new(&[]);
        let ingress = Ingress { ifindex: self.ifindex, queue: self.queue };
        for path in &self.inputs {
            let mut reader = Capture::open(path)?;
            loop {
                let (read, damage) = read_batch(&mut reader, &mut batch, limit - counts.packets);
                let last = interrupt::asked();
                if read == 0 {
                    damage.map_or(Ok(()), Err)?;
                    break;
                }
                capture::output::begin();
                let start = Instant::now();
                for arrival in &batch[..read] {
                    runtime.world.now_ns = arrival.stamp;
                    packet.set(&arrival.bytes);
                    let number = counts.packets;
                    let traced = self.trace.is_some_and(|only| only.is_none_or(|only| only == number));
                    let outcome = match &cores {
                        Some(cores) => {
                            cores.keep_visits(traced);
                            let outcome = runtime.run_on(cores, installed, program, &mut packet, ingress);
                            if traced {
                                let trace = BundleTrace::of(Programs::of(runtime, installed, image), cores);
                                match self.json {
                                    true => watching.traced = Some(trace.json(number, &outcome)),
                                    false => out.text(&trace.text(number, &outcome))?,
                                }
                            }
                            outcome
                        }
                        None if traced => {
                            let trace = Trace::of(runtime, installed, image);
                            let outcome = runtime.run_traced(installed, program, &mut packet, ingress, &trace);
                            match self.json {
                                true => watching.traced = Some(trace.json(number, &outcome)),
                                false => out.text(&trace.text(number, &outcome))?,
                            }
                            outcome
                        }
                        None => match &jit {
                            Some(jit) => runtime.run_on(jit, installed, program, &mut packet, ingress),
                            None => runtime.run(installed, program, &mut packet, ingress),
                        },
                    };
                    if sink.is_some() {
                        after.push((outcome.verdict, packet.frame().to_vec()));
                    }
                    if let Some(log) = log {
                        let (time_ns, length) = (arrival.stamp, arrival.bytes.len());
                        let arrived = Arrived { number, capture: path, time_ns, length };
                        let left = (&outcome, packet.frame().len());
                        log.take(&arrived, (image, program), (runtime, installed), left, out)?;
                    }
                    if let Some(cores) = &cores {
                        let (issues, flow) =
                            (cores.take_issues(), flow_hash(&headers(&arrival.bytes), FLOW_SECRET_AT_RESET));
                        let length = arrival.bytes.len();
                        counts.add_trace(cycles::Trace::new(issues, length, &packet, outcome.verdict, flow));
                    }
                    counts.add(&outcome, image);
                }
                counts.wall += start.elapsed();
                if let Some(by_path) = &mut watching.by_path {
                    batch[..read].iter().for_each(|arrival| by_path.take(&arrival.bytes, arrival.stamp));
                }
                if let Some(engine) = &mut engine {
                    let ended = engine.play(batch[..read].iter().map(|arrival| arrival.bytes.as_slice()))?;
                    watching.by_path.iter_mut().for_each(|by_path| by_path.ended(&ended));
                }
                if let Some(cores) = &cores {
                    counts.add_bundles(self.lanes.unwrap_or(LANES), cores.take_executed());
                }
                progress.at(counts.packets);
                if let Some(sink) = &mut sink {
                    for (arrival, (verdict, frame)) in batch.iter().zip(after.drain(..)) {
                        sink.take(verdict, arrival.stamp, &frame)?;
                    }
                }
                // A pipe's damage is found on the way: what came before it was played, and is written.
                damage.map_or(Ok(()), Err)?;
                if last {
                    return Ok((counts, sink));
                }
            }
        }
        Ok((counts, sink))
    }
}
