//! `sluice xdp bench`: what a packet of a program costs, by the interpreter, compiled, and in the kernel.

use super::bench_kernel::{self, InKernel};
use super::jit::Switch;
use super::object;
use super::prepare::{Prepare, named_file};
use crate::captures;
use crate::failure::Failure;
use crate::output::Output;
use crate::table::Table;
use clap::Args;
use serde_json::{Value, json};
use sluice_ebpf::map::as_libbpf_creates;
use sluice_ebpf::vm::{Ingress, Installed, Machine, Outcome};
use sluice_ebpf::{Image, Packet, Program, Runtime, Verdict};
use sluice_jit::Jit;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Packets that are timed together. Their frames are put back between two such times.
pub(super) const BATCH: usize = 64;
/// Ethernet, IPv4 from 10.0.0.1 to 192.0.2.1, UDP to port 53: what runs if no frame is given.
const USUAL: &str = "020000000001020000000002080045000032000000004011000000000000000000000000000000350000";

/// Says what a packet costs: set-up, program, helpers and maps, without captures around it
///
/// Frames are put back between the runs, outside of the time. The times are medians of rounds of 64 packets. Each executor has
/// maps of its own, which begin with the same entries and go on from packet to packet.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice xdp bench programs/xdp/drop/drop.o --repeat 20000
  sluice xdp bench programs/xdp/flow_filter/flow_filter.o --in programs/xdp/mixed.pcap \\
    --repeat 20000 --json
  sluice xdp bench programs/xdp/header_filter/header_filter.o --in programs/xdp/mixed.pcap \\
    --repeat 20000 --frames 4 --kernel")]
pub struct XdpBench {
    /// Object file that clang wrote for the target bpf
    object: PathBuf,
    #[command(flatten)]
    types: object::KernelFile,
    /// Only the program of this section
    #[arg(long)]
    section: Option<String>,
    /// Only the program with this name
    #[arg(long)]
    program: Option<String>,
    /// Capture whose frames run in turn
    #[arg(long = "in", visible_alias = "capture", value_name = "CAPTURE", conflicts_with = "packet")]
    input: Option<PathBuf>,
    /// Frame that runs, in hexadecimal [default: UDP to port 53]
    #[arg(long, value_name = "HEX", value_parser = frame)]
    packet: Option<Frame>,
    /// Frames of the capture that run, evenly spread
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536))]
    frames: u32,
    /// Entries of a map, before the first packet (docs/guide/xdp.md)
    #[arg(long = "map", value_name = "NAME=FILE", value_parser = named_file)]
    maps: Vec<(String, PathBuf)>,
    #[command(flatten)]
    prepare: Prepare,
    /// Routes, neighbours and interfaces of fib_lookup
    #[arg(long, value_name = "FILE")]
    routes: Option<PathBuf>,
    /// Index of the interface that packets come in on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    ifindex: u32,
    /// Packets that each runs
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    repeat: u64,
    /// Whether the compiled program runs, too
    #[arg(long, value_enum, default_value_t = Switch::On)]
    jit: Switch,
    /// Runs it in the kernel, too: by its JIT, in test runs (root)
    #[arg(long)]
    kernel: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

/// A frame as it is given in hexadecimal.
#[derive(Clone, Debug)]
struct Frame(Vec<u8>);

fn frame(text: &str) -> Result<Frame, String> {
    let bytes = sluice_ebpf::plugin::hex("frame", text)?;
    if bytes.len() < 14 {
        Err(format!("a frame of {} bytes, expected 14 or more", bytes.len()))
    } else {
        Ok(Frame(bytes))
    }
}

/// What one executor took.
#[derive(Debug)]
struct Took {
    nanoseconds: f64,
    /// Verdicts, by number.
    verdicts: [u64; 5],
    instructions: u64,
    faults: u64,
}

/// All of one program.
struct Measured<'a> {
    program: &'a Program,
    interpreter: Took,
    compiled: Option<Took>,
    /// Why it is not compiled.
    refused: Option<String>,
    code_bytes: Option<usize>,
    compile_ms: f64,
    kernel: Option<Result<InKernel, String>>,
}

impl XdpBench {
    /// Measures and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let mut image = self.types.read(&self.object)?;
        self.prepare.apply(&mut image, &self.object)?;
        for spec in &mut image.maps {
            *spec = as_libbpf_creates(spec, 1);
        }
        let programs = object::choose(&image, &self.object, self.section.as_deref(), self.program.as_deref())?;
        let frames = self.chosen()?;
        let mut all = Vec::new();
        for index in programs {
            all.push(self.measure(&image, index, &frames)?);
        }
        if self.json {
            let programs: Vec<Value> = all.iter().map(|measured| self.value(measured, frames.len())).collect();
            out.json(&json!({ "object": self.object, "programs": programs }))?;
        } else {
            all.iter().try_for_each(|measured| self.text(measured, frames.len(), out))?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn chosen(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(path) = &self.input else {
            let usual = || {
                let mut usual = sluice_ebpf::plugin::hex("frame", USUAL).unwrap_or_default();
                usual.resize(64, 0);
                usual
            };
            return Ok(vec![self.packet.as_ref().map_or_else(usual, |frame| frame.0.clone())]);
        };
        let all = captures::frames(path)?;
        if all.is_empty() {
            let what = format!("--in {}: the capture has no packets, expected at least one", path.display());
            return Err(Failure::input("E0502", what));
        }
        let wanted = all.len().min(self.frames as usize);
        Ok((0..wanted).map(|n| all[n * all.len() / wanted].1.clone()).collect())
    }

    fn install(&self, image: &Image) -> Result<(Runtime, Installed), Failure> {
        let mut runtime = Runtime::new(1, 1);
        if let Some(path) = &self.routes {
            (_, runtime.world.routes) = object::routes(path)?;
        }
        let failure =
            |e: sluice_ebpf::load::LoadError| Failure::input(e.code(), format!("{}: {e}", self.object.display()));
        let installed = runtime.install(image, &|_| None).map_err(failure)?;
        for (name, file) in &self.maps {
            object::fill_map(&mut runtime, installed, image, name, file)?;
        }
        Ok((runtime, installed))
    }

    fn measure<'a>(&self, image: &'a Image, index: usize, frames: &[Vec<u8>]) -> Result<Measured<'a>, Failure> {
        let (mut runtime, installed) = self.install(image)?;
        let number = runtime.program_number(installed, index).unwrap_or(u32::MAX);
        let kernel =
            self.kernel.then(|| bench_kernel::measure((image, index), (&runtime, installed), frames, self.repeat));
        let interpreter = self.time(&mut runtime, number, None, frames);
        let (mut refused, mut compiled, mut code_bytes, mut compile_ms) = (None, None, None, 0.0);
        if self.jit == Switch::On {
            let (mut runtime, installed) = self.install(image)?;
            let mut jit = Jit::new();
            let began = Instant::now();
            let all = jit.compile(&runtime, image, installed);
            compile_ms = began.elapsed().as_secs_f64() * 1e3;
            code_bytes = jit.code_bytes(number);
            refused = all.iter().find(|r| r.program == image.programs[index].name).map(ToString::to_string);
            if code_bytes.is_some() {
                compiled = Some(self.time(&mut runtime, number, Some(&jit), frames));
            }
        }
        Ok(Measured { program: &image.programs[index], interpreter, compiled, refused, code_bytes, compile_ms, kernel })
    }

    /// Runs the packets.
    fn time(&self, runtime: &mut Runtime, number: u32, machine: Option<&dyn Machine>, frames: &[Vec<u8>]) -> Took {
        let ingress = Ingress { ifindex: self.ifindex, queue: 0 };
        let mut packets: Vec<Packet> = (0..BATCH).map(|_| Packet::new(&[])).collect();
        let mut took = Took { nanoseconds: 0.0, verdicts: [0; 5], instructions: 0, faults: 0 };
        let mut next = frames.iter().cycle();
        let mut left = self.repeat;
        let mut rounds = Vec::new();
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(BATCH);
        while left > 0 {
            let now = BATCH.min(usize::try_from(left).unwrap_or(BATCH));
            left -= now as u64;
            packets.iter_mut().zip(&mut next).take(now).for_each(|(packet, frame)| packet.set(frame));
            let began = Instant::now();
            for packet in &mut packets[..now] {
                let outcome = match machine {
                    Some(machine) => runtime.run_number_on(machine, number, packet, ingress),
                    None => runtime.run_number(number, packet, ingress, None),
                };
                took.verdicts[outcome.verdict as usize % 5] += 1;
                took.instructions += outcome.instructions;
                if black_box(&outcome).fault.is_some() {
                    outcomes.push(outcome);
                }
            }
            rounds.push(began.elapsed().as_secs_f64() * 1e9 / now as f64);
            took.faults += outcomes.drain(..).len() as u64;
            runtime.world.events.clear();
        }
        took.nanoseconds = bench_kernel::median(rounds);
        took
    }

    fn text(&self, measured: &Measured<'_>, frames: usize, out: &mut Output) -> Result<(), Failure> {
        let Measured { program, interpreter, .. } = measured;
        out.line(format!(
            "program {} ({}), {frames} frames, {} packets each",
            program.name, program.section, self.repeat
        ))?;
        let kernel = measured.kernel.as_ref().and_then(|kernel| kernel.as_ref().ok());
        let beside = |ns: f64| kernel.map_or("-".to_owned(), |kernel| format!("{:.2}", ns / kernel.nanoseconds));
        let mut table = Table::new(["", "ns a packet", "beside the kernel"]);
        let mut row = |name: &str, ns: f64| table.row([name.to_owned(), format!("{ns:.1}"), beside(ns)]);
        row("interpreter", interpreter.nanoseconds);
        if let Some(compiled) = &measured.compiled {
            row("jit", compiled.nanoseconds);
        }
        if let Some(kernel) = kernel {
            row("kernel", kernel.nanoseconds);
        }
        out.text(&table.to_string())?;
        let verdicts = named(&interpreter.verdicts).into_iter().filter(|(_, n)| *n > 0);
        let verdicts: Vec<String> = verdicts.map(|(name, n)| format!("{name} {n}")).collect();
        let each = interpreter.instructions as f64 / self.repeat as f64;
        out.line(format!("{}; {each:.1} instructions a packet, {} faults", verdicts.join(", "), interpreter.faults))?;
        if let Some(bytes) = measured.code_bytes {
            let slots = program.insns.len();
            out.line(format!(
                "{slots} slots are {bytes} bytes of machine code, made in {:.1} ms",
                measured.compile_ms
            ))?;
        }
        if let Some(refused) = &measured.refused {
            out.line(refused)?;
        }
        match &measured.kernel {
            Some(Ok(kernel)) => out.line(format!("kernel: {}", kernel.how())),
            Some(Err(why)) => out.line(format!("kernel: skipped: {why}")),
            None => Ok(()),
        }
    }

    fn value(&self, measured: &Measured<'_>, frames: usize) -> Value {
        let Measured { program, interpreter, compiled, .. } = measured;
        let kernel = measured.kernel.as_ref();
        let found = kernel.and_then(|kernel| kernel.as_ref().ok());
        let beside = |took: &Took| found.map(|kernel| took.nanoseconds / kernel.nanoseconds);
        let verdicts: serde_json::Map<String, Value> =
            named(&interpreter.verdicts).into_iter().map(|(name, n)| (name.to_owned(), n.into())).collect();
        json!({
            "name": program.name, "section": program.section, "frames": frames, "packets": self.repeat,
            "interpreter_ns": interpreter.nanoseconds, "jit_ns": compiled.as_ref().map(|took| took.nanoseconds),
            "kernel_ns": found.map(|kernel| kernel.nanoseconds), "kernel_fresh_frames": found.map(|kernel| kernel.fresh),
            "kernel_skipped": kernel.and_then(|kernel| kernel.as_ref().err()),
            "interpreter_beside_kernel": beside(interpreter), "jit_beside_kernel": compiled.as_ref().and_then(beside),
            "verdicts": verdicts, "faults": interpreter.faults,
            "instructions_per_packet": interpreter.instructions as f64 / self.repeat as f64,
            "jit_same": compiled.as_ref().map(|took| same(interpreter, took)),
            "jit_refused": measured.refused, "jit_code_bytes": measured.code_bytes, "jit_compile_ms": measured.compile_ms,
        })
    }
}

/// Whether both said and did the same.
fn same(a: &Took, b: &Took) -> bool {
    (a.verdicts, a.instructions, a.faults) == (b.verdicts, b.instructions, b.faults)
}

fn named(verdicts: &[u64; 5]) -> Vec<(&'static str, u64)> {
    Verdict::ALL.iter().map(|verdict| (verdict.name(), verdicts[*verdict as usize % 5])).collect()
}
