//! Packet scripts on any device, through the linker.
//!
//! What the statements mean is in `docs/guide/scripts.md`. A statement that expects something
//! and does not find it is noted and the script goes on; one that cannot be carried out ends it.

mod checks;
mod entries;
mod plan;
mod programs;
mod rings;
mod runner;
mod settings;
mod tables;
mod traffic;

use runner::Runner;
use sluice_device::{Device, DeviceError};
use sluice_formats::{EngineId, Target};
use sluice_frontends::{P4Warning, ProgramFileError};
use sluice_object::{Destination, LinkError, ObjectError, Warning};
use sluice_packet::script::{Command, Script, Statement, Target as ScriptTarget};
use std::cell::RefCell;
use std::fmt;

/// Why a statement failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFailure {
    /// The linker refuses it.
    #[error(transparent)]
    Link(Box<LinkError>),
    /// The device refuses or failed it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// An object file cannot be used.
    #[error("object `{file}`: {what}")]
    Object {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
        /// Code of the object's error.
        code: &'static str,
    },
    /// A file holds no program.
    #[error(transparent)]
    Program(#[from] ProgramFileError),
    /// A key or value of a map that is none.
    #[error("{what}: {error}")]
    Notation {
        /// Which.
        what: &'static str,
        /// Why.
        error: sluice_ebpf::map::notation::NotationError,
    },
    /// An operation that the map refuses, as bpf(2) would.
    #[error("map `{map}`, {operation}: {why}")]
    Map {
        /// Which.
        map: String,
        /// What was asked, with the key.
        operation: String,
        /// What the error number means for it.
        why: String,
    },
    /// Routes that are none.
    #[error("{file}: {what}")]
    Routes {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
        /// Its code.
        code: &'static str,
    },
    /// A value that this NIC cannot have.
    #[error("{what}: found {found}, allowed: {allowed}")]
    Value {
        /// What it is for.
        what: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// Something was expected and did not happen.
    #[error("expected {expected}, found {found}")]
    Expectation {
        /// Expected.
        expected: String,
        /// Found.
        found: String,
    },
    /// The accounting does not close: a fault of the device.
    #[error("the accounting of module {module} does not close: {counters}")]
    Accounting {
        /// Module.
        module: u8,
        /// Its counters.
        counters: String,
    },
}

impl From<LinkError> for ScriptFailure {
    fn from(error: LinkError) -> Self {
        Self::Link(Box::new(error))
    }
}

impl ScriptFailure {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Link(error) => error.code(),
            Self::Device(error) => error.code(),
            Self::Map { .. } => "E0307",
            Self::Object { code, .. } => code,
            Self::Program(error) => error.code,
            Self::Notation { error, .. } => error.code(),
            Self::Routes { code, .. } => code,
            Self::Value { .. } => "E0310",
            Self::Expectation { .. } => "E0311",
            Self::Accounting { .. } => "E0312",
        }
    }

    /// Whether the device did what it must not; else the script is one that it cannot carry out.
    pub fn is_finding(&self) -> bool {
        match self {
            Self::Device(error) => !error.is_refusal(),
            Self::Map { .. } => true,
            _ => self.is_expectation(),
        }
    }

    /// Whether the script can go on after it.
    fn is_expectation(&self) -> bool {
        matches!(self, Self::Expectation { .. } | Self::Accounting { .. })
    }

    /// The same with the place that sends where the tenant has no queue, if it is known.
    fn sent_from(self, place: impl Fn(Destination) -> Option<String>) -> Self {
        match self {
            Self::Link(error) => Self::Link(Box::new(error.sent_from(place))),
            other => other,
        }
    }

    pub(crate) fn value(what: impl Into<String>, found: impl ToString, allowed: impl Into<String>) -> Self {
        Self::Value { what: what.into(), found: found.to_string(), allowed: allowed.into() }
    }

    fn object(file: &std::path::Path, error: &ObjectError) -> Self {
        Self::Object { file: file.display().to_string(), what: error.to_string(), code: error.code() }
    }
}

/// A failure and the statement it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedStatement {
    /// The statement; None for what was found after the last one.
    pub statement: Option<Statement>,
    /// Why.
    pub failure: ScriptFailure,
}

/// How a script went on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Name of the script.
    pub file: String,
    /// Kind of the device.
    pub device: &'static str,
    /// Its target.
    pub target: &'static str,
    /// Why it was not run at all: it is for another target.
    pub skipped: Option<String>,
    /// Statements carried out.
    pub statements: usize,
    /// Packets offered.
    pub sent: u64,
    /// Packets and copies that came out.
    pub received: u64,
    /// Messages taken out of rings.
    pub messages: u64,
    /// Packets and copies dropped.
    pub dropped: u64,
    /// What failed.
    pub failures: Vec<FailedStatement>,
    /// A signal ended it in this statement, or after the last one: nothing that comes later was looked at.
    pub stopped: Option<Option<Statement>>,
    /// What the linker warns of, each once, with the statement behind which it did.
    pub warnings: Vec<(Statement, Warning)>,
    /// What is warned of in its P4 programs, each once.
    pub p4_warnings: Vec<P4Warning>,
}

impl Report {
    /// Whether nothing failed and all was looked at.
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.stopped.is_none()
    }
}

impl Report {
    /// Whether it ended at a statement that this NIC cannot carry out.
    pub fn unusable(&self) -> bool {
        self.failures.iter().any(|failed| !failed.failure.is_finding())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failed in &self.failures {
            let FailedStatement { statement, failure } = failed;
            let code = failure.code();
            // What is wrong in a file of the script may say its code itself.
            let failure = failure.to_string().replacen(&format!("error[{code}]: "), "", 1);
            match statement {
                None => writeln!(f, "{}: after the last statement: [{code}] {failure}", self.file)?,
                Some(statement) => {
                    let at = statement.position;
                    writeln!(f, "{}:{}:{}: [{code}] {failure}", self.file, at.line, at.column)?;
                    writeln!(f, "  {} | {}", at.line, statement.text)?;
                }
            }
        }
        if let Some(why) = &self.skipped {
            return write!(f, "{}: skipped on {}: {why}", self.file, self.device);
        }
        let verdict = match &self.stopped {
            _ if !self.failures.is_empty() => "FAILED".to_owned(),
            None => "ok".to_owned(),
            Some(None) => "ended by a signal after the last statement".to_owned(),
            Some(Some(statement)) => format!("ended by a signal in line {}", statement.position.line),
        };
        write!(
            f,
            "{}: {verdict} on {} ({}): {} statements, {} packets sent, {} came out, {} dropped",
            self.file, self.device, self.target, self.statements, self.sent, self.received, self.dropped
        )?;
        if self.messages > 0 { write!(f, ", {} messages in rings", self.messages) } else { Ok(()) }
    }
}

/// Whether a script is for this target: what its `device` statement says.
pub fn is_for(script: &Script, target: &Target) -> bool {
    let wanted = script.statements.iter().rev().find_map(|s| match s.command {
        Command::Device(wanted) => Some(wanted),
        _ => None,
    });
    match wanted {
        Some(ScriptTarget::Default) => target.name == "default",
        Some(ScriptTarget::Tiny) => target.name == "tiny",
        Some(ScriptTarget::Any) | None => true,
    }
}

/// Runs a script on a device after reset.
pub fn run_script(script: &Script, device: &mut dyn Device) -> Report {
    let (kind, target) = (device.capabilities().kind, device.capabilities().target);
    let mut report = Report {
        file: script.file.clone(),
        device: kind,
        target: target.name,
        skipped: None,
        statements: 0,
        sent: 0,
        received: 0,
        messages: 0,
        dropped: 0,
        failures: Vec::new(),
        stopped: None,
        warnings: Vec::new(),
        p4_warnings: Vec::new(),
    };
    if !is_for(script, &target) {
        report.skipped = Some(format!("the script is for another target than {}", target.name));
        return report;
    }
    // An engine alone shows what it can. On a NIC the linker refuses what asks for an engine that is not there.
    if !device.capabilities().queues {
        let xdp = |s: &Statement| matches!(s.command, Command::Xdp(_));
        if !device.capabilities().engines.contains(&EngineId::XDP) && script.statements.iter().any(xdp) {
            report.skipped = Some("the device has no XDP engine".to_owned());
            return report;
        }
        let rmt = |s: &Statement| match &s.command {
            Command::Rmt(_) | Command::Table(_) | Command::Load { .. } | Command::Rules { .. } => true,
            Command::Xdp(xdp) => xdp.rmt.is_some(),
            _ => false,
        };
        if !device.capabilities().engines.contains(&EngineId::RMT) && script.statements.iter().any(rmt) {
            report.skipped = Some("the device has no rmt pipeline".to_owned());
            return report;
        }
        let rules = |s: &Statement| matches!(s.command, Command::Rules { .. } | Command::Ring { .. });
        if !device.capabilities().engines.contains(&EngineId::L7) && script.statements.iter().any(rules) {
            report.skipped = Some("the device has no l7 engine".to_owned());
            return report;
        }
    }
    let blocks = |s: &Statement| matches!(s.command, Command::Block(_) | Command::Unblock(_));
    if !device.capabilities().queues && script.statements.iter().any(blocks) {
        report.skipped = Some("the device has no queues that could be blocked".to_owned());
        return report;
    }
    let told = RefCell::default();
    let runner = Runner::new(script, device, &told);
    report.p4_warnings = told.take().warnings;
    let mut runner = match runner {
        Ok(runner) => runner,
        Err(failed) => {
            match failed.failure {
                ScriptFailure::Device(DeviceError::Stopped) => {
                    report.stopped = Some(script.statements.first().cloned())
                }
                _ => report.failures.push(*failed),
            }
            return report;
        }
    };
    let mut ended_early = false;
    for statement in &script.statements {
        report.statements += 1;
        let places = matches!(
            statement.command,
            Command::Tenant(_)
                | Command::Rmt(_)
                | Command::Rules { .. }
                | Command::Load { .. }
                | Command::Xdp(_)
                | Command::Nic(_)
        );
        let result = runner.run(&statement.command);
        if let Err(ScriptFailure::Device(DeviceError::Stopped)) = result {
            report.stopped = Some(Some(statement.clone()));
            ended_early = true;
            break;
        }
        if let Err(failure) = result {
            ended_early = !failure.is_expectation();
            report.failures.push(FailedStatement { statement: Some(statement.clone()), failure });
            if ended_early {
                break;
            }
        } else if places {
            let new = runner.warnings().into_iter().filter(|w| report.warnings.iter().all(|(_, before)| before != w));
            let new: Vec<_> = new.map(|warning| (statement.clone(), warning)).collect();
            report.warnings.extend(new);
        }
    }
    if !ended_early {
        for failure in runner.finish() {
            match failure {
                ScriptFailure::Device(DeviceError::Stopped) => report.stopped = Some(None),
                failure => report.failures.push(FailedStatement { statement: None, failure }),
            }
        }
    }
    (report.sent, report.received, report.dropped) = runner.seen.totals();
    report.messages = runner.messages.taken;
    report
}

#[cfg(test)]
mod tests;
