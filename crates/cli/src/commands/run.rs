//! `sluice run`: captures in, captures out.

mod checks;

use crate::captures;
use crate::failure::Failure;
use crate::output::Output;
use crate::p4::{AllowArgs, WarnArgs};
use crate::run::assign::{self, Input, Moment, OutputFile, Replacement};
use crate::run::bring_up::{self, Nic};
use crate::run::cell_counts;
use crate::run::device::{self, Choice, Plane, Set, TopChoice};
use crate::run::entry_counts;
use crate::run::host::Host;
use crate::run::interrupt;
use crate::run::live::{self, LiveNic, Until};
use crate::run::pace::{Clock, Pace};
use crate::run::play::{Change, Play, Played, not_reached};
use crate::run::progress::Progress;
use crate::run::rehearse::rehearse;
use crate::run::report::Report;
use crate::run::rings;
use crate::run::sink::{self, Sinks, Written};
use crate::run::source::Source;
use crate::xdp::jit::Switch;
use crate::xdp::leaf_counts;
use crate::xdp::prepare::named_number;
use clap::Args;
use sluice_device::Device;
use sluice_formats::EngineId;
use sluice_formats::Target;
use sluice_frontends::{Allowed, CounterCells, P4Options, successor};
use sluice_object::Linker;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Packets of a port follow each other at this rate unless said otherwise: four such ports
/// are below what one pipeline of the default target carries.
const GIGABITS: f64 = 25.0;

/// Plays captures through the tenants' programs of a NIC
///
/// Prints a table per tenant: packets offered, forwarded to ports, delivered to host queues,
/// copies made by multicast, drops by reason. Exits with 0 when all is well, 1 when the
/// devices differ or the accounting does not close, 2 when the input cannot be used, 130
/// after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP: outputs are whole then, too.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice run --config programs/nic/nic.toml --in programs/nic/mixed.pcapng \\
      --out port1=out/port1.pcapng --out host0=out/host0.pcapng
  sluice run --config programs/nic/nic.toml --in port0=programs/nic/mixed.pcapng \\
      --replace red=programs/nic/red-2.json@50% --device both --engines rmt --json
  tcpdump -w - | sluice run --config programs/nic/nic.toml --in port0=- --out port1=- | tcpdump -r -")]
pub struct Run {
    /// Description of the NIC and its tenants (docs/guide/nic-toml.md)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Capture that arrives on a port; without a port, on those its interfaces are named after; `-` is standard input.
    /// Several are played together, the earliest stamp first
    #[arg(long = "in", value_name = "[PORT=]FILE", value_parser = assign::input)]
    inputs: Vec<Input>,
    /// Capture of what leaves a port or reaches a host queue, .pcap or .pcapng; beside a live interface it gets a
    /// copy; `-` is standard output, the table then goes to standard error
    #[arg(long = "out", value_name = "PORT|HOST=FILE", value_parser = assign::output)]
    outputs: Vec<OutputFile>,
    /// Which device [default: model, with live interfaces dataplane]
    #[arg(long, value_enum)]
    device: Option<Choice>,
    /// XDP programs of the data plane as machine code [default: on]
    #[arg(long, value_enum)]
    jit: Option<Switch>,
    /// Threads of the data plane: each has the ports and destinations whose number modulo N is its own; more than one play captures as
    /// fast as they can, in an order of their own [default: 1]
    #[arg(long, value_name = "N", value_parser = device::workers)]
    workers: Option<usize>,
    /// Which top of the RTL
    #[arg(long, value_enum, default_value = "nic")]
    top: TopChoice,
    /// Target, default, tiny, far, tiny_far or soft; otherwise the one that the description says
    #[arg(long, value_parser = device::target)]
    target: Option<&'static Target>,
    /// Engines of the NIC: rmt and, after commas, xdp, l7 or both; otherwise those that the description says
    #[arg(long, value_name = "ENGINE,...", value_parser = device::engines)]
    engines: Option<Set>,
    /// Replaces a tenant's program (object, *.rmt, *.p4 or XDP object file; PROGRAM.p4,ENTRIES with the entries of its tables) before a packet or after a part of all packets
    #[arg(long, value_name = "TENANT=FILE@MOMENT", value_parser = assign::replacement)]
    replace: Vec<Replacement>,
    /// Gives a tenant what he lacks of the pipeline for a program of --replace, if nobody holds it
    #[arg(long, requires = "replace")]
    grow: bool,
    /// Maps that go on when an XDP program is replaced, beside those that are pinned by name
    #[arg(long, value_name = "MAP,...", value_delimiter = ',', requires = "replace")]
    keep_maps: Vec<String>,
    /// Entries of a map of the XDP object files behind --replace, more or fewer than they declare; may be given several times
    #[arg(long, value_name = "MAP=N", requires = "replace", value_parser = named_number)]
    max_entries: Vec<(String, u32)>,
    /// Of P4 programs behind --replace
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    warn: WarnArgs,
    /// Plays at most so many packets
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    #[arg(long, value_parser = gigabits, conflicts_with = "stamps", help = format!("Gbit/s at which each port's packets follow each other [default: {GIGABITS}]"))]
    gbps: Option<f64>,
    /// Packets arrive at their stamps instead
    #[arg(long)]
    stamps: bool,
    /// What XDP programs tell the host, a JSON object a line; `-` is standard output
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Local socket on which `sluice map` finds the tenants' maps while it runs
    #[arg(long, value_name = "FILE")]
    socket: Option<PathBuf>,
    /// Waves of the RTL, FST
    #[arg(long, value_name = "FILE")]
    waves: Option<PathBuf>,
    /// Seed of the RTL's initial values [default: 1], and of the secrets of hash tables, which are new ones without it and without `seed` of
    /// the description
    #[arg(long)]
    seed: Option<u64>,
    /// One JSON document instead of the table
    #[arg(short = 'j', long)]
    json: bool,
}

fn gigabits(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected a number as in 25 or 0.1".to_owned())?;
    if (0.001..=1000.0).contains(&rate) { Ok(rate) } else { Err("expected 0.001 to 1000".to_owned()) }
}

/// Counters of the P4 programs that tenants run in the end.
fn counters(nic: &Nic, changes: &[Change]) -> BTreeMap<u16, Vec<CounterCells>> {
    let specs = nic.config.tenants.iter().map(|tenant| &tenant.spec);
    let mut all: BTreeMap<u16, _> = specs.map(|spec| (spec.id, nic.config.p4.counters(&spec.name))).collect();
    all.extend(changes.iter().map(|change| (change.tenant, change.told.counters(&change.object.name))));
    all
}

impl Run {
    /// Plays and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        self.check_options()?;
        interrupt::listen();
        // All that can be wrong with the input is found before anything is written or run.
        let nic = bring_up::read(&self.config, self.target, self.engines, self.seed)?;
        self.warn.tell_all(&nic.config.p4.warnings)?;
        let top = self.top.top(nic.config.engines);
        self.check_maps(top)?;
        let (inputs, outputs) = (nic.inputs(&self.inputs), nic.outputs(&self.outputs));
        self.check_apart(&nic, &inputs, &outputs)?;
        self.check_tells(&nic)?;
        let events = self.events.as_deref().map(|file| ("--events", file));
        let standard = outputs.iter().map(|output| ("--out", output.file.as_path())).chain(events);
        captures::check_standard(standard.clone())?;
        let mut beside = standard.into_iter().any(|(_, file)| captures::is_standard(file)).then(Output::stderr);
        let out = beside.as_mut().unwrap_or(out);
        let live = live::is_live(&nic.config);
        device::check_workers(
            self.workers,
            self.device.unwrap_or(if live { Choice::Dataplane } else { Choice::Model }),
        )?;
        if live || self.plane().workers > 1 {
            return self.run_live(&nic, &inputs, &outputs, out);
        }
        captures::check_standard(inputs.iter().map(|input| ("--in", input.file.as_path())))?;
        if inputs.is_empty() {
            return Err(Failure::input(
                "E0502",
                "no packets: there is no --in, and no port of the description has input",
            )
            .help("--in port0=FILE plays a capture; `iface` of a port in the description takes a live interface"));
        }
        if self.device() == Choice::Both {
            Source::check_twice(&inputs, "--device both")?;
        }
        // Who may ask for maps does not wait until a pipe has something; it is opened when the socket is.
        let waits = self.socket.is_some() && inputs.iter().any(|input| captures::is_pipe(&input.file));
        let mut first = if waits { None } else { Some(Source::open(&inputs, nic.target)?) };
        let packets = self.packets(&nic, &inputs, !outputs.is_empty())?;
        let changes = self.changes(&nic, packets)?;
        let replaced: Vec<PathBuf> = self.replace.iter().flat_map(Replacement::files).collect();
        let read = inputs.iter().map(|i| i.file.as_path()).chain(replaced.iter().map(PathBuf::as_path));
        let read = read.chain([self.config.as_path()]).chain(nic.config.files.iter().map(PathBuf::as_path));
        sink::check_apart(&outputs, read)?;
        rehearse(&nic, &changes)?;
        let engines = nic.config.engines;
        let model = match (self.device(), self.gbps) {
            (Choice::Rtl, _) => None,
            (Choice::Model | Choice::Both, Some(_)) => Some(device::model_at_line_rate(nic.target, engines)),
            (Choice::Both, None) => Some(device::model(nic.target, engines)),
            (choice, _) => choice.software(nic.target, engines, self.plane()),
        };
        let rtl = match self.device() {
            Choice::Model | Choice::Dataplane => None,
            choice => Some(device::rtl(choice, top, nic.target, self.seed(), self.waves.as_deref())?),
        };
        let mut sinks = Some(Sinks::create(&outputs, nic.target)?);
        // What a device refuses is told before any of them plays: until then outputs are as they were.
        let start = |mut device: Box<dyn Device>| Ok::<_, Failure>((nic.start(&mut *device)?, device));
        let (model, rtl) = (model.map(start).transpose()?, rtl.map(start).transpose()?);
        if let Some((linker, _)) = model.as_ref().or(rtl.as_ref()) {
            nic.warn(linker, &[]);
        }
        let source = |first: &mut Option<Source>| match first.take() {
            Some(source) => Ok(source),
            None if waits => Source::feed(&inputs, nic.target),
            None => Source::open(&inputs, nic.target),
        };
        let (mut model_run, mut rtl_run, mut written) = (None, None, Vec::new());
        let mut linker = None;
        if let Some(started) = model {
            // With both, the RTL's outputs are kept: they are the same, and have its stamps.
            let own = if rtl.is_none() { sinks.take().unwrap_or_default() } else { Sinks::default() };
            let (played, files, used) = self.play(&nic, started, source(&mut first)?, &changes, packets, own)?;
            model_run = Some(played);
            written.extend(files);
            linker = Some(used);
        }
        if let Some(started) = rtl {
            let sinks = sinks.take().unwrap_or_default();
            let (played, files, used) = self.play(&nic, started, source(&mut first)?, &changes, packets, sinks)?;
            rtl_run = Some(played);
            written.extend(files);
            linker = Some(used);
        }
        let Some(linker) = linker else { return Ok(ExitCode::SUCCESS) };
        self.report(
            &Report {
                target: nic.target.name,
                seed: self.seed(),
                linker: &linker,
                software: model_run.as_ref(),
                rtl: rtl_run.as_ref(),
                compared: self.device() == Choice::Both,
                written: &written,
                live: None,
            },
            out,
        )
    }

    /// Live interfaces, which only software keeps up with, and captures of several workers: packets there have no numbers.
    fn run_live(
        &self,
        nic: &Nic,
        inputs: &[Input],
        outputs: &[OutputFile],
        out: &mut Output,
    ) -> Result<ExitCode, Failure> {
        let of_captures = [
            ("--device rtl", self.device().has_rtl()),
            ("--replace", !self.replace.is_empty()),
            ("--stamps", self.stamps),
            ("--gbps", self.gbps.is_some()),
        ];
        if let Some((option, _)) = of_captures.iter().find(|(_, given)| *given) {
            if !live::is_live(&nic.config) {
                let what = format!(
                    "{option}: {} workers play captures as they come, {option} needs one",
                    self.plane().workers
                );
                return Err(Failure::input("E0502", what).help("--workers 1"));
            }
            let what = format!("{option}: {} has live interfaces, {option} needs captures only", self.config.display());
            return Err(Failure::input("E0502", what).help("take `iface` and `tap` out of the description"));
        }
        live::check_captures(inputs, outputs)?;
        let read = inputs.iter().map(|input| input.file.as_path());
        let read = read.chain([self.config.as_path()]).chain(nic.config.files.iter().map(PathBuf::as_path));
        sink::check_apart(outputs, read)?;
        let mut device = LiveNic::new(self.device.unwrap_or(Choice::Dataplane), nic, self.plane())?;
        let linker = nic.start(device.device())?;
        nic.warn(&linker, &[]);
        let bindings = live::open(nic, &self.inputs, &self.outputs)?;
        let progress = Progress::new("live", None);
        let mut host = Host::open(&linker, self.events.as_deref(), self.socket.as_deref(), rings::of(nic, &linker)?)?;
        let until = Until { packets: self.limit.unwrap_or(u64::MAX), time: None };
        let (mut played, seen) = live::run(&mut device, bindings, until, &progress, &mut host)?;
        let device = device.device();
        played.leaves = leaf_counts::of_tenants(device, &linker);
        played.entries = entry_counts::of_tenants(device, &linker, &[]);
        played.cells = cell_counts::of_tenants(device, &linker, &counters(nic, &[]));
        drop(progress);
        self.report(
            &Report {
                target: nic.target.name,
                seed: self.seed(),
                linker: &linker,
                software: Some(&played),
                rtl: None,
                compared: false,
                written: &seen.written,
                live: Some(&seen),
            },
            out,
        )
    }

    /// The device that plays captures.
    fn device(&self) -> Choice {
        self.device.unwrap_or(Choice::Model)
    }

    /// How the data plane runs.
    fn plane(&self) -> Plane {
        Plane { jit: self.jit.unwrap_or(Switch::On), workers: self.workers.unwrap_or(1) }
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    fn report(&self, report: &Report<'_>, out: &mut Output) -> Result<ExitCode, Failure> {
        if self.json {
            out.json(&report.json())?
        } else {
            report.text(out)?
        }
        if let Some(what) = report.open_account() {
            return Err(Failure::difference("E0506", format!("the accounting does not close: {what}")));
        }
        out.flush()?;
        Ok(interrupt::exit_code(ExitCode::SUCCESS))
    }

    fn play(
        &self,
        nic: &Nic,
        (mut linker, mut device): (Linker, Box<dyn Device>),
        mut source: Source,
        changes: &[Change],
        packets: Option<u64>,
        mut sinks: Sinks,
    ) -> Result<(Played, Vec<Written>, Linker), Failure> {
        let pace = if self.stamps { Pace::Stamps } else { Pace::Line(self.gbps.unwrap_or(GIGABITS) * 1e9) };
        let start = device.now();
        // The model alone runs what tells events; with both devices there is one list.
        let tells = device.capabilities().engines.contains(&EngineId::XDP);
        let events = self.events.as_deref().filter(|_| tells);
        let mut host = Host::open(&linker, events, self.socket.as_deref(), rings::of(nic, &linker)?)?;
        let stamp = loop {
            match source.first_stamp()? {
                Some(stamp) => break stamp,
                None => host.serve(&mut *device)?,
            }
        };
        sinks.start(stamp, start);
        let mut played = Play {
            clock: Clock::new(pace, nic.target.ports as usize, start),
            limit: self.limit.unwrap_or(u64::MAX),
            changes: changes.to_vec(),
            sinks: &mut sinks,
            progress: &Progress::new(device.capabilities().kind, packets),
            host: &mut host,
            device: &mut *device,
            linker: &mut linker,
        }
        .run(&mut source)?;
        // What a signal kept from being replaced is not known here.
        let is_known = changes.is_empty() || !played.interrupted;
        let counters = if is_known { counters(nic, changes) } else { BTreeMap::new() };
        played.cells = cell_counts::of_tenants(&mut *device, &linker, &counters);
        Ok((played, sinks.finish()?, linker))
    }

    /// Packets that will be played, where somebody asks. Files are read to their end before an output changes: what is
    /// wrong with one is told while outputs are as they were. A pipe's packets are not known.
    fn packets(&self, nic: &Nic, inputs: &[Input], writes: bool) -> Result<Option<u64>, Failure> {
        let shares = self.replace.iter().any(|r| matches!(r.at, Moment::Share(_)));
        if shares {
            Source::check_twice(inputs, "--replace with a percentage")?;
        }
        if !writes && self.replace.is_empty() && !std::io::stderr().is_terminal() {
            return Ok(None);
        }
        let limit = self.limit.unwrap_or(u64::MAX);
        let files: Vec<Input> = inputs.iter().filter(|input| !captures::is_pipe(&input.file)).cloned().collect();
        let packets = Source::count(&files, nic.target, limit)?;
        Ok((files.len() == inputs.len()).then_some(packets))
    }

    fn changes(&self, nic: &Nic, packets: Option<u64>) -> Result<Vec<Change>, Failure> {
        let mut changes: Vec<Change> = Vec::new();
        let mut kept = self.keep_maps.iter().enumerate();
        if let Some((_, map)) = kept.find(|(at, map)| self.keep_maps[..*at].contains(map)) {
            return Err(Failure::input(
                "E0502",
                format!("--keep-maps: `{map}` is given twice, expected each map once"),
            ));
        }
        let allowed = self.allow.allowed()?;
        let is_p4 = |replacement: &Replacement| replacement.file.extension().is_some_and(|ending| ending == "p4");
        if allowed != Allowed::default() && !self.replace.iter().any(is_p4) {
            let what = "--bound, --cells, --hash, --power-of-two: expected a --replace with a P4 program";
            return Err(
                Failure::input("E0502", what).help("`[tenant.p4]` in the description is for the first programs")
            );
        }
        let moment = |replacement: &&Replacement| match replacement.at {
            Moment::Packet(number) => number,
            Moment::Share(share) => (packets.unwrap_or(0) as f64 * share) as u64,
        };
        let mut replacements: Vec<&Replacement> = self.replace.iter().collect();
        replacements.sort_by_key(moment);
        for replacement in replacements {
            let before = moment(&replacement);
            if let Some(played) = packets.or(self.limit).filter(|played| before > *played && !interrupt::asked()) {
                return Err(not_reached(before, played));
            }
            let tenant = nic.tenant(&replacement.tenant)?;
            let configured = nic.config.tenants.iter().find(|t| t.spec.id == tenant);
            let replaced = changes.iter().rfind(|change| change.tenant == tenant).map(|change| &change.object);
            let running = replaced.or(configured.and_then(|t| t.object.as_ref()));
            let (keep, sizes) = (&self.keep_maps, &self.max_entries);
            let allowed = if is_p4(replacement) { allowed.clone() } else { Allowed::default() };
            let (entries, entries_go) = (replacement.entries.as_deref(), replacement.entries_go);
            let told = RefCell::default();
            let p4 = P4Options { entries, entries_go, allowed, told: Some(&told), ..P4Options::default() };
            let object = successor(&replacement.file, running, keep, sizes, p4, nic.target)
                .map_err(|e| Failure::input(e.code, e.what))?;
            let (file, grow, told) = (replacement.file.clone(), self.grow, told.into_inner());
            changes.push(Change { before, tenant, object, file, grow, told });
        }
        let new = changes.iter().flat_map(|change| &change.told.warnings);
        self.warn.tell_new(new, &mut nic.config.p4.warnings.clone())?;
        let has = |map: &String| {
            let xdp = changes.iter().filter_map(|c| c.object.parts.xdp.as_ref());
            xdp.flat_map(|xdp| &xdp.maps).any(|declared| declared.name == *map)
        };
        for (at, (map, _)) in self.max_entries.iter().enumerate() {
            if self.max_entries[..at].iter().any(|(before, _)| before == map) {
                return Err(Failure::input(
                    "E0502",
                    format!("--max-entries: `{map}` is given twice, expected each map once"),
                ));
            }
            if !has(map) {
                let what =
                    format!("--max-entries: no program has `{map}`, expected a --replace with an XDP object file");
                return Err(
                    Failure::input("E0502", what).help("`map_sizes` in the description is for the first programs")
                );
            }
        }
        let keeps =
            |map: &String| changes.iter().any(|c| c.object.parts.xdp.as_ref().is_some_and(|x| x.keep.contains(map)));
        if let Some(map) = self.keep_maps.iter().find(|map| !keeps(map)) {
            let what = format!("--keep-maps: nothing keeps `{map}`, expected a --replace with an XDP object file");
            return Err(Failure::input("E0502", what).help("--replace TENANT=FILE.o@MOMENT"));
        }
        Ok(changes)
    }
}
