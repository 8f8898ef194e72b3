//! Packet scripts on a pipeline.
//!
//! What the statements mean is in docs/guide/scripts.md; those about ports' settings, tables, XDP programs and blocked
//! destinations belong to the NIC and are refused here.

use super::module_file::{ModuleError, ModuleFile};
use super::session::{Finished, Session, SessionError};
use sluice_formats::rmt::target::Target;
use sluice_object::linker::rmt::Quota;
use sluice_packet::notation::{Pattern, print_packet};
use sluice_packet::script::{Command, Destination, Script, Setting, Statement, TOTAL, Tenant};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// Why a statement failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The module's file.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The pipeline or the linker.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A value or statement that a pipeline alone does not take.
    #[error("{what}: found {found}, allowed: {allowed}")]
    Value {
        /// What it is for.
        what: &'static str,
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
}

impl Failure {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Module(error) => error.code,
            Self::Session(SessionError::Link(error)) => error.code(),
            Self::Session(_) => "E0307",
            Self::Value { .. } => "E0310",
            Self::Expectation { .. } => "E0311",
        }
    }

    /// Whether the pipeline did what it must not; else the script is one that it cannot carry out.
    pub fn is_finding(&self) -> bool {
        matches!(self, Self::Expectation { .. } | Self::Session(SessionError::Row { .. }))
    }
}

/// A script's end.
#[derive(Clone, Debug, Default)]
pub struct ScriptReport {
    /// Statements carried out.
    pub statements: usize,
    /// Frames sent.
    pub sent: u64,
    /// Copies that came out.
    pub received: u64,
    /// Frames dropped.
    pub dropped: u64,
    /// What failed, with its statement.
    pub failures: Vec<(Option<Statement>, Failure)>,
}

/// Modules of a script: number, name, and the files that it will run.
type Plan = BTreeMap<String, Vec<ModuleFile>>;

/// A port or host queue, and the module and port that a frame came from: these leave in order.
type Stream = (u8, u8);

struct Runner<'a> {
    session: &'a mut Session,
    script: &'a Script,
    target: &'a Target,
    plan: Plan,
    modules: BTreeMap<String, u8>,
    next_file: BTreeMap<String, usize>,
    streams: BTreeMap<Stream, VecDeque<Vec<u8>>>,
    drops: Vec<(Option<u8>, &'static str)>,
    counts: BTreeMap<(Option<u8>, String), u64>,
    report: ScriptReport,
    see: &'a mut dyn FnMut(&Finished),
}

/// Runs a script on an empty pipeline; `see` gets every frame that ended.
pub fn run_script(
    script: &Script,
    session: &mut Session,
    target: &Target,
    see: &mut dyn FnMut(&Finished),
) -> ScriptReport {
    let plan = match plan(script, target) {
        Ok(plan) => plan,
        Err(wrong) => {
            let (statement, failure) = *wrong;
            return ScriptReport { failures: vec![(Some(statement), failure.into())], ..ScriptReport::default() };
        }
    };
    let mut runner = Runner {
        session,
        script,
        target,
        plan,
        modules: BTreeMap::new(),
        next_file: BTreeMap::new(),
        streams: BTreeMap::new(),
        drops: Vec::new(),
        counts: BTreeMap::new(),
        report: ScriptReport::default(),
        see,
    };
    for statement in &runner.script.statements {
        runner.report.statements += 1;
        if let Err(failure) = runner.run(&statement.command) {
            let ends = !matches!(failure, Failure::Expectation { .. });
            runner.report.failures.push((Some(statement.clone()), failure));
            if ends {
                return runner.report;
            }
        }
    }
    if let Err(failure) = runner.settle().and_then(|()| runner.expect_none()) {
        runner.report.failures.push((None, failure));
    }
    runner.report
}

/// Every file of the script by tenant, read before anything runs: admission wants to know the largest.
fn plan(script: &Script, target: &Target) -> Result<Plan, Box<(Statement, ModuleError)>> {
    let mut plan = Plan::new();
    for statement in &script.statements {
        if let Command::Rmt(rmt) = &statement.command {
            let folder = Path::new(&script.file).parent().unwrap_or(Path::new(""));
            let file =
                ModuleFile::read(&folder.join(&rmt.file), target).map_err(|e| Box::new((statement.clone(), e)))?;
            plan.entry(rmt.tenant.clone()).or_default().push(file);
        }
    }
    Ok(plan)
}

fn value(what: &'static str, found: impl ToString, allowed: impl Into<String>) -> Failure {
    Failure::Value { what, found: found.to_string(), allowed: allowed.into() }
}

impl Runner<'_> {
    fn run(&mut self, command: &Command) -> Result<(), Failure> {
        match command {
            Command::Device(_) | Command::Seed(_) => Ok(()),
            Command::Nic(settings) => settings.iter().try_for_each(|s| self.set(s)),
            Command::Tenant(tenant) => self.admit(tenant),
            Command::Rmt(rmt) => {
                if !self.modules.contains_key(&rmt.tenant) {
                    self.admit_named(&rmt.tenant, &[], None)?;
                }
                let next = self.next_file.entry(rmt.tenant.clone()).or_default();
                let file = &self.plan[&rmt.tenant][*next];
                *next += 1;
                let mut part = file.part.clone();
                if rmt.keep {
                    std::sync::Arc::make_mut(&mut part).keep_state = true;
                }
                let module = self.modules[&rmt.tenant];
                self.session.load(module, &part)?;
                self.take();
                Ok(())
            }
            Command::Send(send) => {
                let frames = (0..send.count).map(|_| send.bytes.clone());
                self.report.sent += send.count;
                Ok(self.session.send(send.port, frames)?)
            }
            Command::Expect { destination, count, pattern } => {
                self.settle()?;
                self.expect(*destination, *count, pattern)
            }
            Command::ExpectNone => {
                self.settle()?;
                self.expect_none()
            }
            Command::Drop { count, reason, tenant } => {
                self.settle()?;
                let module = tenant.as_deref().map(|t| self.module(t)).transpose()?;
                self.expect_drops(*count, reason, module)
            }
            Command::Counter { tenant, name, relation, value } => {
                self.settle()?;
                let module = if tenant == TOTAL { None } else { Some(self.module(tenant)?) };
                let of = |((m, n), v): (&(Option<u8>, String), &u64)| {
                    if n == name && (module.is_none() || *m == module) { *v } else { 0 }
                };
                let found: u64 = self.counts.iter().map(of).sum();
                if relation.holds(found, *value) {
                    return Ok(());
                }
                let expected = format!("{name} of {tenant} {relation:?} {value}");
                Err(Failure::Expectation { expected, found: found.to_string() })
            }
            Command::Wait { cycles } => {
                self.session.wait(*cycles)?;
                self.take();
                Ok(())
            }
            Command::Idle => self.settle(),
            _ => Err(value(
                "statement",
                "one about tables, programs, queues or the ring",
                "those of rmt modules and packets",
            )),
        }
    }

    fn set(&mut self, setting: &Setting) -> Result<(), Failure> {
        match (setting.name.as_str(), setting.value.as_str()) {
            ("untagged", "drop") => self.session.set_untagged(None),
            ("untagged", name) => {
                let module = self.module(name)?;
                self.session.set_untagged(Some(module));
            }
            (other, _) => return Err(value("setting", format!("`{other}`"), "untagged")),
        }
        Ok(())
    }

    fn admit(&mut self, tenant: &Tenant) -> Result<(), Failure> {
        let to = tenant.to.as_ref().map(|to| to.iter().map(|d| self.bit(*d)).collect::<Result<Vec<u8>, _>>());
        let mask = to.transpose()?.map(|bits| bits.into_iter().fold(0, |mask, bit| mask | 1 << bit));
        self.admit_named(&tenant.name, &tenant.vlans, mask)
    }

    fn admit_named(&mut self, name: &str, vlans: &[u16], destinations: Option<u8>) -> Result<(), Failure> {
        let system = name == sluice_packet::script::SYSTEM;
        let taken = self.modules.values().max().copied().unwrap_or(0);
        let module = if system { 0 } else { taken + 1 };
        let files = self.plan.get(name).map_or(&[][..], |f| &f[..]);
        let target = self.target;
        let mut quota = files.iter().fold(Quota::default(), |q, f| q.or(&f.quota(target)));
        if let Some(destinations) = destinations {
            quota.destinations = destinations;
        }
        self.session.admit(module, name, vlans, quota)?;
        self.modules.insert(name.to_owned(), module);
        Ok(())
    }

    fn module(&self, name: &str) -> Result<u8, Failure> {
        let declared = || self.modules.keys().cloned().collect::<Vec<_>>().join(", ");
        self.modules.get(name).copied().ok_or_else(|| value("tenant", format!("`{name}`"), declared()))
    }

    fn bit(&self, destination: Destination) -> Result<u8, Failure> {
        use sluice_object::Destination as Named;
        let nic = self.target.nic();
        let named = match destination {
            Destination::Port(n) => Named::Port(n),
            Destination::Host(n) => Named::Host(n),
        };
        named.number(nic).ok_or_else(|| {
            value("destination", named, format!("port 0 to {}, host 0 to {}", nic.ports - 1, nic.hosts - 1))
        })
    }

    fn settle(&mut self) -> Result<(), Failure> {
        self.session.settle()?;
        self.take();
        Ok(())
    }

    /// Sorts what has ended.
    fn take(&mut self) {
        while let Some(finished) = self.session.take() {
            (self.see)(&finished);
            let mut count = |name: &str, n: u64| *self.counts.entry((finished.module, name.into())).or_default() += n;
            count("offered", 1);
            match &finished.end {
                Err(reason) => {
                    count("dropped", 1);
                    count(reason, 1);
                    self.report.dropped += 1;
                    self.drops.push((finished.module, reason));
                }
                Ok(copies) => {
                    count("copies", copies.len() as u64 - 1);
                    for leaving in copies {
                        count(
                            if u32::from(leaving.copy.destination) < self.target.nic().ports {
                                "forwarded"
                            } else {
                                "delivered"
                            },
                            1,
                        );
                        let stream = (leaving.copy.destination, finished.module.unwrap_or(0));
                        self.streams.entry(stream).or_default().push_back(leaving.bytes.clone());
                        self.report.received += 1;
                    }
                }
            }
        }
    }

    fn expect(&mut self, destination: Destination, count: u64, pattern: &Pattern) -> Result<(), Failure> {
        let bit = self.bit(destination)?;
        for i in 0..count {
            let mut heads = self.streams.iter_mut().filter(|((d, _), _)| *d == bit);
            let next = heads.find(|(_, packets)| packets.front().is_some_and(|p| pattern.matches(p)));
            if let Some((_, packets)) = next {
                packets.pop_front();
                continue;
            }
            let heads: Vec<&Vec<u8>> =
                self.streams.iter().filter(|((d, _), _)| *d == bit).filter_map(|(_, p)| p.front()).collect();
            let found = match heads[..] {
                [] => "nothing".to_owned(),
                [one] => format!("{}\n{}", print_packet(one), sluice_packet::notation::diff(&pattern.bytes, one)),
                _ => heads.iter().map(|p| print_packet(p)).collect::<Vec<_>>().join(" and "),
            };
            let expected = format!("packet {} of {count} at destination {bit}: {pattern}", i + 1);
            return Err(Failure::Expectation { expected, found });
        }
        Ok(())
    }

    fn expect_drops(&mut self, count: u64, reason: &str, module: Option<u8>) -> Result<(), Failure> {
        let mut found = 0;
        self.drops.retain(|(of, why)| {
            let taken = found < count && *why == reason && (module.is_none() || *of == module);
            found += u64::from(taken);
            !taken
        });
        if found == count {
            return Ok(());
        }
        let others: Vec<&str> = self.drops.iter().take(8).map(|d| d.1).collect();
        let found = format!("{found}, others: {}", if others.is_empty() { "none".into() } else { others.join(", ") });
        Err(Failure::Expectation { expected: format!("{count} drops with reason {reason}"), found })
    }

    fn expect_none(&mut self) -> Result<(), Failure> {
        let mut left: Vec<String> = Vec::new();
        for ((destination, module), packets) in std::mem::take(&mut self.streams) {
            if let Some(first) = packets.front() {
                let (n, first) = (packets.len(), print_packet(first));
                left.push(format!("{n} at destination {destination} of module {module}, first {first}"));
            }
        }
        let mut drops: BTreeMap<(Option<u8>, &str), u64> = BTreeMap::new();
        std::mem::take(&mut self.drops).into_iter().for_each(|d| *drops.entry(d).or_default() += 1);
        left.extend(drops.into_iter().map(|((module, reason), n)| match module {
            Some(module) => format!("{n} dropped of module {module} ({reason})"),
            None => format!("{n} dropped of nobody ({reason})"),
        }));
        if left.is_empty() {
            return Ok(());
        }
        let expected = "no packet and no drop that was not asked for".to_owned();
        Err(Failure::Expectation { expected, found: left.join("; ") })
    }
}
