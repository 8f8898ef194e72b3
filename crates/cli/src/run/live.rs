//! A NIC on live interfaces, until Ctrl-C or the last capture's end.

use super::assign::{Input, OutputFile};
use super::bring_up::Nic;
use super::device::{self, Choice, Plane};
use super::host::Host;
use super::interrupt;
use super::play::{Played, failed};
use super::progress::Progress;
use super::sink::Written;
use super::tally::Tally;
use crate::captures;
use crate::failure::Failure;
use crate::files;
use crate::printable;
use crate::xdp::engine_counts;
use serde_json::{Value, json};
use sluice_control::NicConfig;
use sluice_device::{Device, DeviceError, Event, Verdict};
use sluice_nic::DataPlane;
use sluice_nic::ports::{Bindings, LinkReport, LinkState, LiveCounts, PortError, Watch, run_live};
use sluice_object::Destination;
use sluice_packet::capture::output::{self, unmake_folders};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Whether the description binds anything to an interface or TAP device.
pub fn is_live(config: &NicConfig) -> bool {
    config.ports.iter().any(|p| p.iface.is_some() || p.tap.is_some()) || config.hosts.iter().any(|h| h.tap.is_some())
}

/// Refuses captures that a run on live interfaces cannot have: standard input and output, and two for one port.
pub fn check_captures(inputs: &[Input], outputs: &[OutputFile]) -> Result<(), Failure> {
    let read = inputs.iter().filter_map(|input| Some((Destination::Port(input.port?), &input.file)));
    let written = outputs.iter().map(|output| (output.from, &output.file));
    if let Some((place, _)) = read.clone().chain(written).find(|(_, file)| captures::is_standard(file)) {
        let what = format!("the capture of {place} is -: with several workers or live interfaces expected a file");
        return Err(Failure::input("E0502", what));
    }
    let mut taken = BTreeMap::new();
    for (port, file) in read {
        if let Some(first) = taken.insert(port, file) {
            let what = format!("{port} would play {} and {}", first.display(), file.display());
            return Err(Failure::input(
                "E0502",
                format!("{what}; with several workers or live interfaces one capture a port is allowed"),
            ));
        }
    }
    Ok(())
}

/// Opens what the description binds, with the captures of the command line in their places.
pub fn open(nic: &Nic, inputs: &[Input], outputs: &[OutputFile]) -> Result<Bindings, Failure> {
    let mut config = nic.config.clone();
    for input in inputs {
        let Some(port) = input.port else {
            let what =
                format!("{}: with several workers or live interfaces a capture needs its port", input.file.display());
            return Err(Failure::input("E0502", what).help("--in port0=FILE"));
        };
        let count = config.ports.len();
        let Some(binding) = config.ports.get_mut(usize::from(port)) else {
            let what = format!("port{port} does not exist, the target has port0 to port{}", count - 1);
            return Err(Failure::input("E0502", what));
        };
        if let Some(name) = binding.iface.as_ref().or(binding.tap.as_ref()) {
            let what = format!(
                "--in: port{port} gets the packets of `{name}`, {} cannot be its input too",
                input.file.display()
            );
            return Err(Failure::input("E0520", what).help("play the capture into a port without iface and tap"));
        }
        binding.input = Some(input.file.clone());
    }
    for OutputFile { from, file } in outputs {
        let place = match from {
            Destination::Port(n) => config.ports.get_mut(usize::from(*n)).map(|p| &mut p.output),
            Destination::Host(n) => config.hosts.get_mut(usize::from(*n)).map(|h| &mut h.output),
        };
        *place.ok_or_else(|| Failure::input("E0502", format!("{from} does not exist")))? = Some(file.clone());
    }
    let open = || {
        outputs.iter().try_for_each(|output| files::make_folder(&output.file))?;
        bind(&config)
    };
    open().inspect_err(|_| outputs.iter().for_each(|output| unmake_folders(&output.file)))
}

/// Opens what a description binds.
pub fn bind(config: &NicConfig) -> Result<Bindings, Failure> {
    Bindings::open(&config.ports, &config.hosts, interrupt::asked).map_err(port)
}

/// A device on interfaces: only software keeps up with them.
pub enum LiveNic {
    /// The data plane.
    Plane(Box<DataPlane>),
    /// The model, tick by tick.
    Model(Box<dyn Device>),
}

impl LiveNic {
    /// The device of a description.
    pub fn new(choice: Choice, nic: &Nic, how: Plane) -> Result<Self, Failure> {
        let (target, engines) = (nic.target, nic.config.engines);
        match choice {
            Choice::Dataplane => Ok(Self::Plane(Box::new(device::data_plane(target, engines, how)))),
            Choice::Model => Ok(Self::Model(device::model(target, engines))),
            Choice::Rtl | Choice::Both => {
                let what = format!("--device {}: with live interfaces expected dataplane or model", choice.name());
                Err(Failure::input("E0502", what))
            }
        }
    }

    /// It, for the host.
    pub fn device(&mut self) -> &mut dyn Device {
        match self {
            Self::Plane(plane) => &mut **plane,
            Self::Model(model) => &mut **model,
        }
    }

    fn run(
        &mut self,
        bindings: &mut Bindings,
        stop: impl FnMut(&mut dyn Device, &LiveCounts) -> bool,
    ) -> Result<LiveCounts, PortError> {
        match self {
            Self::Plane(plane) => plane.run_live(bindings, stop),
            Self::Model(model) => run_live(&mut **model, bindings, stop),
        }
    }
}

/// When a run ends that nobody interrupts.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// After so many packets.
    pub packets: u64,
    /// After this time.
    pub time: Option<Duration>,
}

/// What the loop on live interfaces has seen.
#[derive(Debug)]
pub struct Seen {
    pub counts: LiveCounts,
    /// Interfaces and TAP devices, in the order of ports and host queues.
    pub interfaces: Vec<LinkReport>,
    /// Captures of what left.
    pub written: Vec<Written>,
}

impl Seen {
    /// As a part of a report.
    pub fn json(&self) -> Value {
        let c = &self.counts;
        let interface = |link: &LinkReport| {
            json!({
                "name": link.name, "state": state(link), "outages": link.outages,
                "outage_seconds": link.without.as_secs_f64(), "opened": link.opened,
                "lost": link.lost.iter().copied().collect::<BTreeMap<_, _>>(),
            })
        };
        json!({
            "received": c.received, "missed": c.missed, "sent": c.sent, "refused": c.refused, "oversize": c.oversize,
            "interfaces": self.interfaces.iter().map(interface).collect::<Vec<_>>(),
        })
    }

    /// A line for each interface that went away, and for each that lost frames.
    pub fn outages(&self) -> Vec<String> {
        let lost = self.interfaces.iter().filter(|link| !link.lost.is_empty()).map(|link| {
            let reasons: Vec<String> = link.lost.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
            format!("interface {}: lost there: {}", link.name, reasons.join(", "))
        });
        let gone = self.interfaces.iter().filter(|link| link.outages > 0);
        let line = |link: &LinkReport| {
            let (name, times, seconds) = (&link.name, link.outages, link.without.as_secs_f64());
            format!(
                "interface {name}: down or gone {times} times, {seconds:.1} s in all; at the end it was {}",
                state(link)
            )
        };
        gone.map(line).chain(lost).collect()
    }
}

fn state(link: &LinkReport) -> &'static str {
    match link.state {
        LinkState::Up => "up",
        LinkState::Down => "down",
        LinkState::Gone => "gone",
    }
}

/// Moves packets until Ctrl-C, `until`, or the end of every source; `host` sees to what else the
/// host does with the device.
pub fn run(
    nic: &mut LiveNic,
    mut bindings: Bindings,
    until: Until,
    progress: &Progress,
    host: &mut Host,
) -> Result<(Played, Seen), Failure> {
    let watches = bindings.watches.clone();
    for watch in &watches {
        printable::tell(format_args!("{}", watch.report().opened));
    }
    let start = Instant::now();
    output::begin();
    let mut lost = None;
    let stop = |device: &mut dyn Device, counts: &LiveCounts| {
        progress.at(counts.received);
        watches.iter().for_each(tell);
        lost = host.serve(device).err();
        let over = counts.received >= until.packets || until.time.is_some_and(|time| start.elapsed() >= time);
        lost.is_some() || interrupt::asked() || over
    };
    let mut counts = nic.run(&mut bindings, stop).map_err(port)?;
    let device = nic.device();
    if let Some(failure) = lost {
        return Err(failure);
    }
    let left = match device.quiesce() {
        Err(DeviceError::Stopped) => true,
        result => result.map(|()| false).map_err(failed)?,
    };
    match left {
        true => host.leave()?,
        false => host.finish(device)?,
    }
    deliver_rest(device, &mut bindings, &mut counts)?;
    let written = bindings.finish().map_err(port)?;
    watches.iter().for_each(tell);
    let interfaces = watches.iter().map(Watch::report).collect();
    let wall = start.elapsed();
    let counters = device.counters().map_err(failed)?;
    let engine = engine_counts::of_modules(device, counters.modules.keys().copied());
    let open = counters.modules.iter().find(|(_, c)| !c.closes() || (c.in_flight != 0 && !left));
    let played = Played {
        open_account: open.map(|(module, c)| format!("module {module}: {c:?}")),
        offered: counts.received,
        tally: Tally::default(),
        counters,
        engine,
        leaves: Vec::new(),
        entries: Vec::new(),
        cells: Vec::new(),
        wall,
        changes: Vec::new(),
        rings: host.rings.clone(),
        interrupted: interrupt::asked(),
        left,
        device: device.capabilities().kind,
    };
    let written = written.into_iter().map(|w| Written { from: w.from, path: w.path, packets: w.packets }).collect();
    Ok((played, Seen { counts, interfaces, written }))
}

/// A line for each change of an interface.
fn tell(watch: &Watch) {
    for state in watch.take_changes() {
        let name = watch.report().name;
        let text = match state {
            LinkState::Up => format!("interface `{name}` is back and taken up again"),
            LinkState::Down => format!("interface `{name}` is down: its packets wait until it is up again"),
            LinkState::Gone => format!("interface `{name}` is gone: it is taken up again when it is back"),
        };
        printable::tell(format_args!("warning: {text}"));
    }
}

/// Packets that were in flight when the loop ended.
fn deliver_rest(device: &mut dyn Device, bindings: &mut Bindings, counts: &mut LiveCounts) -> Result<(), Failure> {
    let ports = device.capabilities().target.ports as usize;
    for event in device.poll(usize::MAX) {
        let Event::Outcome(outcome) = event else { continue };
        let destination = match outcome.verdict {
            Verdict::Forwarded { port } => usize::from(port),
            Verdict::Delivered { queue } => ports + usize::from(queue),
            Verdict::Consumed { .. } | Verdict::Dropped { .. } => continue,
        };
        if let Some(Some(sink)) = bindings.sinks.get_mut(destination) {
            let taken = sink.send(&[&outcome.bytes]).map_err(port)?;
            *(if taken { &mut counts.sent } else { &mut counts.refused }) += 1;
        }
    }
    Ok(())
}

fn port(error: PortError) -> Failure {
    match error {
        PortError::Device(error) => failed(error),
        other => Failure::input(other.code(), other),
    }
}
