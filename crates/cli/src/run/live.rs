//! A NIC on live interfaces, until Ctrl-C or the last capture's end.

use super::assign::{Input, OutputFile};
use super::bring_up::Nic;
use super::host::Host;
use super::interrupt;
use super::play::{Played, failed};
use super::progress::Progress;
use super::tally::Tally;
use crate::failure::Failure;
use crate::files;
use sluice_nic::ports::{Bindings, LiveCounts, PortError, run_live};
use sluice_nic::{Device, Event, NicConfig, Verdict};
use sluice_object::Destination;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Whether the description binds anything to an interface or TAP device.
pub fn is_live(config: &NicConfig) -> bool {
    config.ports.iter().any(|p| p.iface.is_some() || p.tap.is_some()) || config.hosts.iter().any(|h| h.tap.is_some())
}

/// Opens what the description binds, with the captures of the command line in their places.
pub fn open(nic: &Nic, inputs: &[Input], outputs: &[OutputFile]) -> Result<Bindings, Failure> {
    let mut config = nic.config.clone();
    for input in inputs {
        let Some(port) = input.port else {
            let what = format!("{}: with live interfaces a capture needs its port", input.file.display());
            return Err(Failure::input("E0502", what).help("--in port0=FILE"));
        };
        let count = config.ports.len();
        let Some(binding) = config.ports.get_mut(usize::from(port)) else {
            let what = format!("port{port} does not exist, the target has port0 to port{}", count - 1);
            return Err(Failure::input("E0502", what));
        };
        binding.input = Some(input.file.clone());
    }
    for OutputFile { from, file } in outputs {
        files::make_folder(file)?;
        let place = match from {
            Destination::Port(n) => config.ports.get_mut(usize::from(*n)).map(|p| &mut p.output),
            Destination::Host(n) => config.hosts.get_mut(usize::from(*n)).map(|h| &mut h.output),
        };
        *place.ok_or_else(|| Failure::input("E0502", format!("{from} does not exist")))? = Some(file.clone());
    }
    bind(&config)
}

/// Opens what a description binds.
pub fn bind(config: &NicConfig) -> Result<Bindings, Failure> {
    Bindings::open(config).map_err(port)
}

/// When a run ends that nobody interrupts.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// After so many packets.
    pub packets: u64,
    /// After this time.
    pub time: Option<Duration>,
}

/// Moves packets until Ctrl-C, `until`, or the end of every source; `host` sees to what else the
/// host does with the device.
pub fn run(
    device: &mut dyn Device,
    mut bindings: Bindings,
    until: Until,
    progress: &Progress,
    host: &mut Host,
) -> Result<(Played, LiveCounts), Failure> {
    let start = Instant::now();
    let mut lost = None;
    let stop = |device: &mut dyn Device, counts: &LiveCounts| {
        progress.at(counts.received);
        lost = host.serve(device).err();
        let over = counts.received >= until.packets || until.time.is_some_and(|time| start.elapsed() >= time);
        lost.is_some() || interrupt::asked() || over
    };
    let mut counts = run_live(device, &mut bindings, stop).map_err(port)?;
    if let Some(failure) = lost {
        return Err(failure);
    }
    device.quiesce().map_err(failed)?;
    host.finish(device)?;
    deliver_rest(device, &mut bindings, &mut counts)?;
    bindings.finish().map_err(port)?;
    let wall = start.elapsed();
    let counters = device.counters().map_err(failed)?;
    let open = counters.modules.iter().find(|(_, c)| !c.closes() || c.in_flight != 0);
    let played = Played {
        open_account: open.map(|(module, c)| format!("module {module}: {c:?}")),
        offered: counts.received,
        tally: Tally::default(),
        counters,
        wall,
        changes: Vec::new(),
        interrupted: interrupt::asked(),
        has_cycles: device.capabilities().has_cycles,
    };
    Ok((played, counts))
}

/// Packets that were in flight when the loop ended.
fn deliver_rest(device: &mut dyn Device, bindings: &mut Bindings, counts: &mut LiveCounts) -> Result<(), Failure> {
    let ports = device.capabilities().target.ports as usize;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos() as u64);
    for event in device.poll(usize::MAX) {
        let Event::Outcome(outcome) = event else { continue };
        let destination = match outcome.verdict {
            Verdict::Forwarded { port } => usize::from(port),
            Verdict::Delivered { queue } => ports + usize::from(queue),
            Verdict::Dropped { .. } => continue,
        };
        if let Some(Some(sink)) = bindings.sinks.get_mut(destination) {
            let taken = sink.send(&outcome.bytes, now).map_err(port)?;
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
