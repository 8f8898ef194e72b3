//! `sluice xdp run --device rtl|both`: the program on the XDP engine in simulation.
//!
//! A NIC with one tenant, who gets every frame as it is. Frames come in on port 0; `XDP_PASS` goes to host queue 0.

use super::engine_counts;
use super::engine_events;
use super::leaf_counts::{self, LeafCount};
use super::object;
use super::places;
use super::run::XdpRun;
use crate::failure::Failure;
use crate::output::Output;
use crate::run::bring_up;
use crate::run::device::{self, Choice};
use crate::run::play::failed;
use crate::run::tally::Tally;
use serde_json::{Value, json};
use sluice_control::config::{self, BringUpError, NicConfig, TenantConfig};
use sluice_device::{Device, EngineCounts, Event, Offer, Outcome, ProgramEvent, Verdict};
use sluice_ebpf::tenant::{self, Options};
use sluice_ebpf::{Image, Program};
use sluice_formats::limits::{MAX_FRAME_BYTES, MIN_FRAME_BYTES, VLAN_ROWS};
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_formats::{Reason, Target};
use sluice_frontends::P4Told;
use sluice_hxdp::Bundles;
use sluice_nic::ports::{HostBinding, PortBinding};
use sluice_object::linker::{MapPlace, XdpError};
use sluice_object::{Destination, Linker, NicSettings, TenantSpec, VlanGrant};
use sluice_rtlsim::top;
use std::collections::BTreeMap;

/// The tenant's ID.
const TENANT: u16 = 1;

/// The device, and what became of its packets.
pub struct Hardware {
    device: Box<dyn Device>,
    module: u8,
    /// What the device holds.
    linker: Linker,
    seen: Seen,
}

/// When a packet ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its number among all packets, from 0.
    pub packet: u64,
    /// Whether its program ran; not those that found the queue full.
    pub executed: bool,
    /// Cycles from its first beat in to its first beat out, or to its drop.
    pub cycles: u64,
}

/// What a run on the engine came to.
#[derive(Debug, Default)]
pub struct Seen {
    packets: u64,
    /// Those that found the queue in front of the core full.
    not_run: u64,
    /// Packets by what became of them, and sum, least and most of their cycles from the first beat in to the first beat out or the drop.
    fates: BTreeMap<String, (u64, u64, u64, u64)>,
    tally: Tally,
    compared: bool,
    /// What the engine has counted.
    counts: EngineCounts,
    /// Packets by leaf of its table.
    leaves: Vec<LeafCount>,
    /// What the program told.
    events: Vec<ProgramEvent>,
    /// Where its maps lie.
    places: Vec<(String, MapPlace)>,
    /// The program as the engine has it.
    compiled: Option<(Bundles, Program)>,
}

impl Hardware {
    /// Starts the engine and loads a program of the image. `both` has the interpreter in lockstep.
    pub fn open(run: &XdpRun, image: &Image, program: &Program, both: bool) -> Result<Self, Failure> {
        let target = run.target;
        let choice = if both { Choice::Both } else { Choice::Rtl };
        let mut spec = TenantSpec::new(TENANT, "program");
        (spec.keep_tag, spec.any_vids) = (true, true);
        spec.xdp_work = run.work;
        spec.xdp_warp = run.has_tables();
        spec.vlans = (0..VLAN_ROWS as u16).map(|vlan| VlanGrant { port: Some(0), vlan }).collect();
        let ports = (0..target.ports as u8).map(Destination::Port);
        let cells = Linker::new(target).grantable_cells() / (target.ports + 1);
        spec.queues = ports.chain([Destination::Host(0)]).map(|to| (to, cells.min(0xffff) as u16)).collect();
        let mut options = Options {
            section: Some(program.section.clone()),
            program: Some(program.name.clone()),
            interfaces: BTreeMap::from([(run.ifindex, 0)]),
            ..Options::default()
        };
        options.places.clone_from(&run.place);
        for (map, path) in &run.maps {
            options.files.push((map.clone(), object::map_text(path)?));
        }
        let wrong = |e: tenant::TenantError| Failure::input(e.code(), format!("{}: {e}", run.object.display()));
        let object = tenant::object(&spec.name, image, &options).map_err(wrong)?;
        let routes = run.routes.as_deref().map(object::routes).transpose()?.map(|(text, _)| text);
        let mut settings = NicSettings::new(target);
        settings.ports[0].untagged = Some(TENANT);
        let config = NicConfig {
            files: Vec::new(),
            p4: P4Told::default(),
            file: run.object.display().to_string(),
            target,
            seed: Some(run.seed),
            engines: sluice_nic::engines::ALL,
            settings,
            tenants: vec![TenantConfig { spec, object: Some(object), routes, rings: Vec::new() }],
            ports: vec![PortBinding::default(); target.ports as usize],
            hosts: vec![HostBinding::default(); target.hosts as usize],
        };
        let mut device = device::rtl(choice, &top::XDP, target, run.seed, None)?;
        let mut linker = sluice_control::linker(target, device.capabilities());
        config::bring_up(&config, &mut *device, &mut linker).map_err(|error| refused(error, program))?;
        let module = linker.tenant(TENANT).map_or(0, |tenant| tenant.module);
        let places = linker.map_places(TENANT).map_err(|e| Failure::input(e.code(), e))?;
        let compiled = compiled(&linker, program);
        Ok(Self { device, module, linker, seen: Seen { compared: both, compiled, places, ..Seen::default() } })
    }

    /// Plays frames, one behind the other, and waits until all have their fate.
    pub fn play<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Ended>, Failure> {
        let at = self.device.now();
        let mut offers = Vec::new();
        for bytes in frames {
            let number = self.seen.packets;
            if !(MIN_FRAME_BYTES as usize..=MAX_FRAME_BYTES as usize).contains(&bytes.len()) {
                let what = format!(
                    "packet {number}: {} bytes, the engine takes {MIN_FRAME_BYTES} to {MAX_FRAME_BYTES}",
                    bytes.len()
                );
                return Err(Failure::input("E0508", what).help("--device model takes every length"));
            }
            self.seen.packets += 1;
            offers.push(Offer { port: 0, bytes: bytes.to_vec(), at, bad: false });
        }
        self.device.offer_owned(offers).map_err(failed)?;
        self.device.quiesce().map_err(failed)?;
        let mut ended = Vec::new();
        for event in self.device.poll(usize::MAX) {
            if let Event::Outcome(outcome) = event {
                ended.push(self.seen.take(&outcome));
            }
        }
        Ok(ended)
    }

    /// After the last packet: the accounting closes, and with both devices all maps are alike.
    pub fn finish(mut self) -> Result<Seen, Failure> {
        let counters = self.device.counters().map_err(failed)?;
        let counted = self.device.maps().and_then(|maps| maps.engine_counts(self.module)).map_err(failed)?;
        self.seen.counts = counted.unwrap_or_default();
        self.seen.leaves = leaf_counts::of_tenant(&mut *self.device, &self.linker, TENANT);
        self.seen.events = self.device.maps().map_err(failed)?.take_events(self.module);
        let closes = self.seen.tally.audit(&counters, self.seen.packets);
        closes.map(|()| self.seen).map_err(|open| Failure::difference("E0506", open))
    }
}

/// The program's bundles, as the linker has them made: slots are those of the image.
fn compiled(linker: &Linker, program: &Program) -> Option<(Bundles, Program)> {
    let (plain, warped) = leaf_counts::program(linker, TENANT)?;
    let has_table = linker.warp_hits(TENANT).is_ok_and(|rows| !rows.is_empty());
    Some((if has_table { warped.bundles } else { plain.bundles }, program.clone()))
}

/// Why the program was not loaded, with the source line of the instruction that the engine has not.
fn refused(error: BringUpError, program: &Program) -> Failure {
    let line = refused_slot(&error).and_then(|slot| program.line_of(slot));
    let help = line.map(|line| format!("{}:{}: {}", line.file, line.line, line.text.trim()));
    let help = help.or_else(|| bring_up::fit(&error).map(|(map, entries)| format!("--max-entries {map}={entries}")));
    bring_up::failed(error).help_if(help)
}

fn refused_slot(error: &BringUpError) -> Option<u32> {
    let XdpError::Refused { refusal, .. } = bring_up::xdp_error(error)? else { return None };
    refusal.slot
}

impl Seen {
    fn take(&mut self, outcome: &Outcome) -> Ended {
        let fate = match outcome.verdict {
            Verdict::Dropped { reason, .. } => format!("dropped, {}", reason.name()),
            Verdict::Delivered { .. } => "passed to host0".to_owned(),
            Verdict::Consumed { ring } => format!("in a buffer of ring {ring}"),
            Verdict::Forwarded { port: 0 } => "sent back to port0".to_owned(),
            Verdict::Forwarded { port } => format!("sent to port{port}"),
        };
        let executed = !matches!(outcome.verdict, Verdict::Dropped { reason: Reason::XdpQueue, .. });
        self.not_run += u64::from(!executed);
        let end = outcome.first_out.or(outcome.last_out).unwrap_or(0);
        let begin = outcome.first_in.unwrap_or(end);
        let cycles = end.saturating_sub(begin);
        let (packets, sum, least, most) = self.fates.entry(fate).or_insert((0, 0, u64::MAX, 0));
        (*packets, *sum) = (*packets + 1, *sum + cycles);
        (*least, *most) = ((*least).min(cycles), (*most).max(cycles));
        self.tally.add(outcome);
        // All frames come in on port 0, so that the number on the port is the packet's.
        Ended { packet: u64::from(outcome.id & 0x0fff_ffff), executed, cycles }
    }

    /// Bundles that the engine has counted.
    pub fn bundles(&self) -> u64 {
        self.counts.bundles()
    }

    /// Cycles for each packet that the program ran on, gaps between batches included; none where packets went one at a time.
    fn cycles(&self) -> Option<f64> {
        let (first, last) = self.tally.total().seen?;
        let cycles = last - first;
        let ran = self.packets - self.not_run;
        (!self.compared && ran > 0).then(|| cycles as f64 / ran as f64)
    }

    fn compiled(&self) -> engine_counts::Compiled<'_> {
        self.compiled.as_ref().map(|(bundles, program)| (bundles, program))
    }

    /// One object.
    pub fn json(&self, target: &Target) -> Value {
        let fate = |(fate, (packets, sum, least, most)): (&String, &(u64, u64, u64, u64))| {
            json!({ "fate": fate, "packets": packets, "latency_mean": *sum as f64 / *packets as f64,
                    "latency_least": least, "latency_most": most })
        };
        let fates: Vec<Value> = self.fates.iter().map(fate).collect();
        let (events, lost) = engine_events::value(&self.events);
        json!({ "events": events, "lost_events": lost, "target": target.name, "packets": self.packets, "differences": if self.compared { Some(0) } else { None },
                "cycles_a_packet": self.cycles(), "fates": fates,
                "leaves": leaf_counts::value(&self.leaves, Some(TENANT)),
                "maps": places::value(&self.places),
                "counters": engine_counts::value(&self.counts, self.compiled()) })
    }

    /// Lines of text.
    pub fn text(&self, target: &Target, out: &mut Output) -> Result<(), Failure> {
        let equal = if self.compared { ", verdicts, bytes, maps and events as in the interpreter" } else { "" };
        out.line(format!("XDP engine in simulation ({}): {} packets{equal}", target.name, self.packets))?;
        if let Some(cycles) = self.cycles() {
            out.line(format!("  {cycles:.1} cycles for each packet that the program ran on"))?;
        }
        if XdpTarget::by_name(target.name).has_outside() {
            places::lines(&self.places).into_iter().try_for_each(|line| out.line(format!("  {line}")))?;
        }
        for (fate, (packets, sum, least, most)) in &self.fates {
            let mean = *sum as f64 / *packets as f64;
            out.line(format!("  {packets} {fate}: {mean:.0} cycles from in to out ({least} to {most})"))?;
        }
        // With both they stand in the interpreter's report.
        let events = if self.compared { Vec::new() } else { engine_events::text(&self.events) };
        let leaves = leaf_counts::text(&self.leaves, Some(TENANT));
        let lines = engine_counts::text(&self.counts, self.compiled()).into_iter().chain(leaves).chain(events);
        lines.into_iter().try_for_each(|line| out.line(format!("  {line}")))
    }
}
