//! `sluice script`: packet scripts on any device.

use crate::apart;
use crate::failure::Failure;
use crate::output::Output;
use crate::p4::WarnArgs;
use crate::printable;
use crate::run::device::{self, Choice, Plane, Set, TopChoice};
use crate::run::interrupt;
use clap::Args;
use serde_json::{Value, json};
use sluice_control::scripts::{FailedStatement, Report, run_script};
use sluice_device::Device;
use sluice_formats::Target;
use sluice_frontends::P4Warning;
use sluice_nic::engines;
use sluice_packet::script::Script;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs packet scripts and says which expectations fail
///
/// A script says what packets are sent and what must come out (docs/guide/scripts.md). Exits
/// with 0 when all pass, 1 when a check fails, 2 when one cannot be read or carried out.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice script programs/nic/red.pkt programs/nic/green.pkt --device model
  sluice script programs/rmt/calc.pkt --device both --top rmt
  sluice script programs/xdp/drop/drop.pkt --device both --top xdp --target tiny")]
pub struct ScriptArgs {
    /// Packet scripts, *.pkt
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Which device
    #[arg(long, value_enum, default_value = "model")]
    device: Choice,
    /// Workers of the data plane, one after the other in one thread: the same comes out each time [default: 1]
    #[arg(long, value_name = "N", value_parser = device::workers)]
    workers: Option<usize>,
    /// Which top of the RTL
    #[arg(long, value_enum, default_value = "nic")]
    top: TopChoice,
    /// Target, default, tiny, far, tiny_far or soft; scripts for the other one are skipped
    #[arg(long, value_parser = device::target, default_value = "default")]
    target: &'static Target,
    /// Engines of the NIC: rmt and, after commas, xdp, l7 or both [default: all]
    #[arg(long, value_name = "ENGINE,...", value_parser = device::engines)]
    engines: Option<Set>,
    /// Waves of the RTL, FST; with one script
    #[arg(long, value_name = "FILE")]
    waves: Option<PathBuf>,
    #[command(flatten)]
    warn: WarnArgs,
    /// One JSON document instead of lines
    #[arg(short = 'j', long)]
    json: bool,
}

impl ScriptArgs {
    fn plane(&self) -> Plane {
        Plane { workers: self.workers.unwrap_or(1), ..Plane::default() }
    }

    /// Runs them, each on a device after reset.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        if self.waves.is_some() && (self.files.len() > 1 || !self.device.has_rtl()) {
            return Err(Failure::input("E0502", "--waves: expected one script, and --device rtl or both"));
        }
        if self.top != TopChoice::Nic && !self.device.has_rtl() {
            return Err(Failure::input(
                "E0502",
                "--top: the model is that of the whole NIC, expected --device rtl or both",
            ));
        }
        self.top.check(self.engines)?;
        device::check_workers(self.workers, self.device)?;
        let scripts = self.files.iter().map(|file| Script::read(file)).collect::<Result<Vec<_>, _>>();
        let scripts = scripts.map_err(|e| Failure::input(e.code(), e))?;
        let read: Vec<PathBuf> = scripts.iter().flat_map(apart::of_script).collect();
        apart::check_waves(self.waves.as_deref(), read.iter().map(PathBuf::as_path))?;
        interrupt::listen();
        let mut reports = Vec::new();
        let mut told: Vec<P4Warning> = Vec::new();
        let mut refused = None;
        for script in &scripts {
            if interrupt::asked() {
                break;
            }
            let report = self.run_one(script)?;
            if !self.json {
                out.line(printable::message(&report.to_string()))?;
                out.flush()?;
            }
            let shown = self.warn.tell_new(&report.p4_warnings, &mut told);
            refused = refused.or(shown.err());
            for (statement, warning) in &report.warnings {
                let (at, code) = (statement.position, warning.code());
                let text = format!("warning: {}:{}:{}: [{code}] {warning}", report.file, at.line, at.column);
                printable::tell(printable::message(&text));
            }
            reports.push(report);
        }
        let stopped = reports.iter().filter(|r| r.stopped.is_some() && r.failures.is_empty()).count();
        let failed = reports.iter().filter(|r| !r.failures.is_empty()).count();
        let skipped = reports.iter().filter(|r| r.skipped.is_some()).count();
        let passed = reports.len() - failed - skipped - stopped;
        let not_run = scripts.len() - reports.len() + stopped;
        if self.json {
            let scripts: Vec<Value> = reports.iter().map(report_json).collect();
            out.json(&json!({
                "passed": passed, "failed": failed, "skipped": skipped, "not_run_to_the_end": not_run, "scripts": scripts,
            }))?;
        } else if scripts.len() > 1 {
            let rest = if not_run > 0 { format!(", {not_run} not run to the end") } else { String::new() };
            out.line(format!("{passed} passed, {failed} failed, {skipped} skipped{rest}"))?;
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        let code = match reports.iter().any(Report::unusable) {
            true => 2,
            false => u8::from(failed > 0),
        };
        Ok(interrupt::exit_code(ExitCode::from(code)))
    }

    fn run_one(&self, script: &Script) -> Result<Report, Failure> {
        let engines = self.engines.map_or(engines::ALL, |engines| engines.0);
        let mut device: Box<dyn Device> = match self.device.software(self.target, engines, self.plane()) {
            Some(device) => device,
            None => device::rtl(
                self.device,
                self.top.top(engines),
                self.target,
                script.seed().unwrap_or(1),
                self.waves.as_deref(),
            )?,
        };
        Ok(run_script(script, &mut *device))
    }
}

fn report_json(report: &Report) -> Value {
    let failure = |failed: &FailedStatement| {
        let at = failed.statement.as_ref().map(|s| s.position);
        json!({
            "file": report.file,
            "line": at.map(|p| p.line),
            "column": at.map(|p| p.column),
            "statement": failed.statement.as_ref().map(|s| s.text.clone()),
            "code": failed.failure.code(),
            "what": failed.failure.to_string(),
        })
    };
    json!({
        "file": report.file,
        "device": report.device,
        "target": report.target,
        "passed": report.passed() && report.skipped.is_none(),
        "skipped": report.skipped,
        "ended_by_a_signal": report.stopped.is_some(),
        "sent": report.sent,
        "received": report.received,
        "messages": report.messages,
        "dropped": report.dropped,
        "failures": report.failures.iter().map(failure).collect::<Vec<_>>(),
    })
}
