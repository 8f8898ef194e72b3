//! `sluice rmt run`: captures through modules.

use super::pipeline::{self, Module};
use super::report::{Report, Tally};
use super::trace;
use crate::apart;
use crate::captures::{self, Capture};
use crate::failure::Failure;
use crate::output::Output;
use crate::run::device::{self, Choice};
use crate::run::interrupt;
use crate::run::play::failed;
use crate::run::progress::Progress;
use crate::xdp::options::packet_number;
use clap::Args;
use sluice_device::{Device, Event, Offer};
use sluice_formats::Target;
use sluice_packet::capture::Packet;
use sluice_rtlsim::top;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Frames under way at once.
const BATCH: usize = 256;

/// Plays captures through modules of the pipeline
///
/// The frames of VLAN 1 are the first module's, those of VLAN 2 the second's and so on; untagged ones are the
/// first module's too, and a system module serves every packet. On the RTL, cycles_per_packet are the cycles between
/// the first output beats of the first and the last packet, divided by their number less one. Packet scripts:
/// sluice script --top rmt.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice rmt run programs/rmt/l3_router.rmt --in programs/nic/mixed.pcapng --device both --json
  sluice rmt run programs/rmt/calc.rmt --in programs/nic/mixed.pcapng --in programs/xdp/mixed.pcap
  sluice rmt run programs/rmt/calc.rmt --in programs/nic/mixed.pcapng --trace 0")]
pub struct RmtRun {
    /// Modules, *.rmt
    #[arg(required = true)]
    modules: Vec<PathBuf>,
    /// Capture to play, `-` is standard input; several are played one after the other
    #[arg(long = "in", value_name = "CAPTURE", required = true)]
    inputs: Vec<PathBuf>,
    /// Which device
    #[arg(long, value_enum, default_value = "model")]
    device: Choice,
    /// Target, default, tiny, wide or soft
    #[arg(long, value_parser = device::pipeline_target, default_value = "default")]
    target: &'static Target,
    /// Plays the capture so many times, as fast as the pipeline takes it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..),
          conflicts_with = "trace")]
    repeat: u32,
    /// Shows what every stage does with this packet of the capture, the first being 0
    #[arg(long, value_name = "PACKET", conflicts_with_all = ["json", "waves", "device", "seed"],
          value_parser = packet_number)]
    trace: Option<u64>,
    /// Seed of the RTL's initial values [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Waves of the RTL, FST
    #[arg(long, value_name = "FILE")]
    waves: Option<PathBuf>,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

impl RmtRun {
    /// Runs and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        if self.waves.is_some() && self.device == Choice::Model {
            return Err(Failure::input("E0502", "--waves: the model has no waves, expected --device rtl or both"));
        }
        if self.seed.is_some() && self.device == Choice::Model {
            return Err(Failure::input("E0502", "--seed: the model draws nothing, expected --device rtl or both"));
        }
        if self.device == Choice::Dataplane {
            let what =
                "--device dataplane: it is a whole NIC, and this is the pipeline alone, expected model, rtl or both";
            return Err(
                Failure::input("E0502", what).help("sluice run --device dataplane plays captures through a NIC")
            );
        }
        captures::check_standard(self.inputs.iter().map(|file| ("--in", file.as_path())))?;
        let read = self.modules.iter().chain(&self.inputs).map(PathBuf::as_path);
        apart::check_waves(self.waves.as_deref(), read)?;
        interrupt::listen();
        self.play(out)
    }

    fn play(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let read = |path: &PathBuf| {
            Module::read(path, self.target).map_err(|e| match !captures::is_pipe(path) && Capture::open(path).is_ok() {
                true => Failure::input("E0502", format!("{} is a capture, expected a module", path.display()))
                    .help("several captures: --in before each of them"),
                false => e,
            })
        };
        let modules = pipeline::numbered(self.modules.iter().map(read).collect::<Result<Vec<_>, _>>()?);
        if let Some(packet) = self.trace {
            let frames = self.frames(Some(packet))?;
            out.text(&trace::trace(&modules, self.target, &frames)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut device = match self.device {
            Choice::Model => pipeline::model(self.target),
            choice => device::rtl(choice, &top::RMT, self.target, self.seed.unwrap_or(1), self.waves.as_deref())?,
        };
        let device = device.as_mut();
        pipeline::bring_up(device, &modules, self.target)?;
        let frames = self.frames(None)?;
        let mut tally = Tally::new(&modules, device.capabilities().has_cycles);
        // A signal that ended the reading lets what was read be played.
        let asked = interrupt::asked();
        let progress = Progress::new("rmt", Some(frames.len() as u64 * u64::from(self.repeat)));
        let start = Instant::now();
        'play: for _ in 0..self.repeat {
            for batch in frames.chunks(BATCH) {
                let offers = batch.iter().map(|bytes| Offer { port: 0, bytes: bytes.clone(), at: 0, bad: false });
                device.offer_owned(offers.collect()).map_err(failed)?;
                let beats: u64 = batch.iter().map(|f| u64::from(self.target.beats(f.len() as u32))).sum();
                // The next batch is there before this one has gone in.
                device.advance(beats / 2).map_err(failed)?;
                take(device, &mut tally);
                progress.at(tally.outcomes());
                if interrupt::asked() != asked {
                    break 'play;
                }
            }
            if asked {
                break;
            }
        }
        device.quiesce().map_err(failed)?;
        take(device, &mut tally);
        let wall = start.elapsed();
        tally.count(&device.counters().map_err(failed)?);
        let report = Report { target: self.target, device: self.device, tally: &tally, wall };
        if self.json {
            out.json(&report.json())?
        } else {
            out.text(&report.text())?
        }
        Ok(interrupt::exit_code(ExitCode::SUCCESS))
    }

    /// Frames of the captures, up to and with one of them if it is given.
    fn frames(&self, last: Option<u64>) -> Result<Vec<Vec<u8>>, Failure> {
        let mut packet = Packet::default();
        let mut frames = Vec::new();
        for path in &self.inputs {
            let mut reader = Capture::open(path)?;
            while last.is_none_or(|last| frames.len() as u64 <= last) && reader.read(&mut packet)? {
                frames.push(packet.bytes.clone());
            }
        }
        match last {
            Some(last) if frames.len() as u64 <= last => {
                let what = format!("--trace {last}: --in has {} packets, the first is 0", frames.len());
                Err(Failure::input("E0502", what))
            }
            _ => Ok(frames),
        }
    }
}

/// What became of frames meanwhile.
fn take(device: &mut dyn Device, tally: &mut Tally) {
    for event in device.poll(usize::MAX) {
        if let Event::Outcome(outcome) = event {
            tally.take(&outcome);
        }
    }
}
