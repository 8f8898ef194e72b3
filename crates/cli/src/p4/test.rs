//! `sluice p4 test`: programs with their scripts.

use super::allow::AllowArgs;
use super::alone::Alone;
use super::device::Device;
use super::{
    PlaceArgs, REFUSED, ReadArgs, check_alone, failed_json, failure, place_json, ports_json, refused, tell_ports, warn,
};
use crate::apart;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::printable;
use crate::run::device::{self, Choice, Plane};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sluice_control::scripts::run_script;
use sluice_frontends::p4_files;
use sluice_nic::engines;
use sluice_p4::stf::{Report, Script};
use sluice_p4::{Model, PortMap, Program, Traffic, Undefined};
use sluice_packet::script as packet;
use sluice_rtlsim::top;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs a P4-16 program for v1model with a script of packets (STF)
///
/// The script says which packets go in, which entries tables have, and which packets come out. The reference runs the program as the specification says, without the limits of a target; the model and the pipeline in RTL, alone, run what `sluice p4 compile` makes of it. Exits with 0 when all went as the script says, 1 when it did not, 2 when program or script cannot be read, 3 when the device does not run the program.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 test programs/p4/basic.p4 programs/p4/basic.stf
  sluice p4 test programs/p4/basic.p4   # the script beside it, basic.stf
  sluice p4 test --device model --stages 0-4 programs/p4/calc.p4
  sluice p4 test --device both --stages 0-4 programs/p4/qos.p4
  sluice p4 test --undefined random programs/p4/basic.p4   # what is undefined is noise

A script, line by line:
  add routes hdr.ipv4.dst:0x0a000000/8 forward(next_hop:0x020000000008, port:1)
  packet 0 0200000000fe 0200000000aa 0800 ...
  expect 1 020000000008 0200000000fe 0800 45** ...           * is any digit, $ the end")]
pub struct Test {
    /// Program, *.p4
    program: PathBuf,
    /// Script, *.stf, or a packet script that loads the program, *.pkt; without one *.stf beside the program
    script: Option<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// What runs the program
    #[arg(long, value_enum, default_value = "reference")]
    device: Device,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// What is read that the specification leaves undefined
    #[arg(long, value_enum, default_value = "zero")]
    undefined: UndefinedArg,
    /// Seed of `random` and of noise; without one it is drawn for noise, and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Shows what each packet does: statements, tables, and what is written
    #[arg(long)]
    trace: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UndefinedArg {
    Zero,
    Random,
}

impl Test {
    /// Reads, runs and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let mut warnings = Vec::new();
        match self.test(out, &mut warnings) {
            Err(why) if self.json && !why.is_stop() => {
                out.json(&failed_json(&self.program, why.json(), &warnings))?;
                Ok(why.exit())
            }
            done => done,
        }
    }

    fn test(&self, out: &mut Output, warnings: &mut Vec<Value>) -> Result<ExitCode, Failure> {
        let program = self.allow.check(&self.read, &self.program)?;
        warnings.extend(self.read.warn.of(&program).iter().map(warn::warning_json));
        let path = self.script.clone().unwrap_or_else(|| self.program.with_extension("stf"));
        if path.extension().is_some_and(|ending| ending == "pkt") {
            return self.packet_script(out, &path);
        }
        let script = read_script(&path)?;
        let random = self.undefined == UndefinedArg::Random;
        let seed = self.seed.unwrap_or_else(|| if random { drawn() } else { 1 });
        if random && !self.json {
            out.line(format!("seed: {seed}"))?;
        }
        self.report(out, &program, &script, seed, &path)
    }

    fn report(
        &self,
        out: &mut Output,
        program: &Program,
        script: &Script,
        seed: u64,
        path: &Path,
    ) -> Result<ExitCode, Failure> {
        if let Err(why) = check_alone(program) {
            return self.refused(out, program, &why);
        }
        let undefined = match self.undefined {
            UndefinedArg::Zero => Undefined::Zero,
            UndefinedArg::Random => Undefined::Random,
        };
        let reference = match self.trace {
            false => program.reference(undefined, seed),
            true => program.traced(undefined, seed),
        };
        let mut reference = match reference {
            Ok(reference) => reference,
            Err(errors) => return self.refused(out, program, &failure(&errors)),
        };
        let mut ports = PortMap::default();
        let mut compiled = None;
        if self.device != Device::Reference || self.allow.asks_target() {
            let traffic = Traffic { entries: &reference, script: Some(script), arrivals: &[] };
            match self.place.compile(program, Some(&traffic)) {
                Ok(found) => {
                    found.teach(&mut reference);
                    compiled = Some(found);
                }
                Err(why) => return self.refused(out, program, &why),
            }
        }
        let report = if let Some(compiled) = compiled.filter(|_| self.device != Device::Reference) {
            ports = compiled.ports().clone();
            let in_lockstep = self.device != Device::Rtl;
            if let Err(why) = self.device.check_beside(self.trace, &compiled) {
                return self.refused(out, program, &why);
            }
            match self.device {
                // What is shown is the reference's, so it carries the packets, too.
                Device::Model if self.trace => script.compare(&mut reference, &mut Model::new(compiled)),
                Device::Model => script.run_on(&mut reference, &mut Model::new(compiled)),
                _ if self.trace || self.device == Device::All => {
                    script.compare(&mut reference, &mut Alone::rtl(compiled, in_lockstep, seed)?)
                }
                _ => script.run_on(&mut reference, &mut Alone::rtl(compiled, in_lockstep, seed)?),
            }
        } else {
            script.run(&mut reference)
        };
        let name = path.display().to_string();
        if self.json {
            out.json(&report_json(&name, self.device, &report, seed, &ports))?;
        } else {
            tell_ports(out, &ports)?;
            for (line, events) in &report.traces {
                out.line(format!("{name}:{line}: packet"))?;
                events.iter().try_for_each(|event| out.line(format!("  {event}")))?;
            }
            for failure in &report.failures {
                out.line(format!("{name}:{}: {}", failure.line, failure.what))?;
            }
            let word = if report.passed() { "passed" } else { "failed" };
            let Report { packets, sent, expected, .. } = &report;
            let nowhere = match report.nowhere {
                0 => String::new(),
                nowhere => format!(", to ports that are not there (no_destination) {nowhere}"),
            };
            out.line(format!("{name}: {word}, packets in {packets}, out {sent}{nowhere}, expectations {expected}"))?;
        }
        Ok(match (report.passed(), report.refused) {
            (true, _) => ExitCode::SUCCESS,
            (false, true) => ExitCode::from(REFUSED),
            (false, false) => ExitCode::from(1),
        })
    }

    /// Runs a packet script, which loads the program, on the model or on the pipeline in RTL.
    fn packet_script(&self, out: &mut Output, path: &Path) -> Result<ExitCode, Failure> {
        let choice = match self.device {
            Device::Model => Choice::Model,
            Device::Rtl => Choice::Rtl,
            Device::Both => Choice::Both,
            Device::Reference | Device::All => {
                let what = format!("--device {}: {} is a packet script", self.device.name(), path.display());
                return Err(Failure::input("E0502", format!("{what}, expected --device model, rtl or both")));
            }
        };
        let script = packet::Script::read(path).map_err(|e| Failure::input(e.code(), e))?;
        let named = apart::of_script(&script);
        let is_named = |own: &PathBuf| named.iter().any(|file| files::identity(file) == files::identity(own));
        if !p4_files(&self.program).iter().all(is_named) {
            let what = format!("{} does not run {}", path.display(), self.program.display());
            return Err(Failure::input("E0502", what).help("rmt TENANT FILE.p4 loads a program"));
        }
        let target = self.place.target.nic();
        let mut device = match choice.software(target, engines::ALL, Plane::default()) {
            Some(device) => device,
            None => device::rtl(choice, &top::RMT, target, self.seed.unwrap_or(1), None)?,
        };
        let report = run_script(&script, &mut *device);
        match self.json {
            true => {
                out.json(&json!({ "script": report.file, "device": self.device.name(), "passed": report.passed() }))?
            }
            false => out.line(printable::message(&report.to_string()))?,
        }
        Ok(match (report.unusable(), report.passed()) {
            (true, _) => ExitCode::from(2),
            (_, passed) => ExitCode::from(u8::from(!passed)),
        })
    }

    fn refused(&self, out: &mut Output, program: &Program, why: &Failure) -> Result<ExitCode, Failure> {
        if !self.json {
            return refused(out, why);
        }
        let warnings: Vec<Value> = self.read.warn.of(program).iter().map(warn::warning_json).collect();
        let mut told = failed_json(&self.program, why.json(), &warnings);
        told["refused"] = json!(why.to_string());
        out.json(&told)?;
        Ok(ExitCode::from(REFUSED))
    }
}

fn read_script(path: &Path) -> Result<Script, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::file(path, "read", &error))?;
    let name = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => {
            let script = Script::parse(&name, &text).map_err(|errors| {
                let mistakes = errors.0.iter().map(place_json).collect();
                Failure::input(errors.code(), errors).mistakes(mistakes)
            })?;
            match script.is_empty() {
                true => Err(Failure::input("E0790", format!("{name}: found no command, expected a packet at least"))),
                false => Ok(script),
            }
        }
        Err(_) => Err(Failure::input("E0790", format!("{name}: the script is no UTF-8"))),
    }
}

/// A seed out of the time.
fn drawn() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(1, |since| since.as_nanos() as u64)
}

fn report_json(name: &str, device: Device, report: &Report, seed: u64, ports: &PortMap) -> Value {
    let failures: Vec<Value> =
        report.failures.iter().map(|failure| json!({ "line": failure.line, "what": failure.what })).collect();
    let traces: Vec<Value> =
        report.traces.iter().map(|(line, events)| json!({ "line": line, "events": events })).collect();
    json!({
        "script": name,
        "device": device.name(),
        "passed": report.passed(),
        "refused": report.refused,
        "seed": seed,
        "port_map": ports_json(ports),
        "packets": report.packets,
        "sent": report.sent,
        "no_destination": report.nowhere,
        "expectations": report.expected,
        "failures": failures,
        "traces": traces,
    })
}
