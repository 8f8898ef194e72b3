//! `sluice xdp run --iface`: a program between live interfaces, as the only tenant of a software NIC.

use super::counts::Counts;
use super::object;
use super::report::{Ran, Report};
use super::run::XdpRun;
use crate::captures;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::run::bring_up::{self, Nic};
use crate::run::device::{Choice, Plane};
use crate::run::host::Host;
use crate::run::interrupt;
use crate::run::live::{self, LiveNic, Until};
use crate::run::play::failed;
use crate::run::progress::Progress;
use sluice_control::NicConfig;
use sluice_control::config::TenantConfig;
use sluice_device::Device;
use sluice_device::ProgramEvent;
use sluice_ebpf::state::{Entry, MapState, STATE_VERSION, State, has_entries, to_hex};
use sluice_ebpf::tenant::{self, Options};
use sluice_ebpf::world::Event;
use sluice_ebpf::{Image, Runtime};
use sluice_formats::Target;
use sluice_formats::xdp::target::MOST_WORK;
use sluice_frontends::P4Told;
use sluice_nic::ports::{HostBinding, LiveCounts, PortBinding};
use sluice_object::{Destination, Linker, NicSettings, TenantSpec, VlanGrant};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// ID of the only tenant.
const TENANT: u16 = 1;
/// VLAN IDs that a tag can hold.
const VLANS: u16 = 4096;

/// An interface of the machine, with its index as the program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its index; otherwise its place among the interfaces, from 1.
    pub index: Option<u32>,
}

/// Reads `IFACE` or `IFACE=IFINDEX`.
pub fn interface(text: &str) -> Result<Interface, String> {
    let (name, index) = match text.split_once('=') {
        None => (text, None),
        Some((name, index)) => match index.parse() {
            Ok(index) if index > 0 => (name, Some(index)),
            _ => return Err(format!("expected IFACE=IFINDEX with an index from 1, as in eth1=7, found `{index}`")),
        },
    };
    Ok(Interface { name: device_name(name)?, index })
}

/// Reads the name of a network device.
pub fn device_name(name: &str) -> Result<String, String> {
    let good = (1..=15).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic() && c != '/' && c != ':');
    if good { Ok(name.to_owned()) } else { Err("expected 1 to 15 printable characters but `/` and `:`".to_owned()) }
}

impl XdpRun {
    /// Runs the program until it is to end, and reports.
    pub(super) fn run_live(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let image = self.kernel.read_here(&self.object)?;
        self.prepare.check()?;
        let nic = self.nic(&image)?;
        let mut beside = self.state.as_deref().is_some_and(captures::is_standard).then(Output::stderr);
        let out = beside.as_mut().unwrap_or(out);
        let mut device = LiveNic::new(Choice::Dataplane, &nic, Plane { jit: self.jit, ..Plane::default() })?;
        let linker = nic.start(device.device())?;
        let module = linker.tenant(TENANT).map_err(|e| Failure::input(e.code(), e))?.module;
        let bindings = live::bind(&nic.config)?;
        interrupt::listen();
        let until = Until { packets: self.limit.unwrap_or(u64::MAX), time: self.seconds.map(Duration::from_secs) };
        let progress = Progress::new("live", None);
        let mut host = Host::open(&linker, None, self.socket.as_deref(), Vec::new())?;
        let (played, seen) = live::run(&mut device, bindings, until, &progress, &mut host)?;
        let device = device.device();
        drop(progress);
        drop(host);
        let counts = device.maps().and_then(|maps| maps.counts(module)).map_err(failed)?;
        let counts = Counts::of_device(&counts, played.wall, |mask| self.destinations(mask, nic.target));
        let state = state_of(device, module)?;
        if let Some(path) = &self.state {
            files::write(path, state.to_json().as_bytes())?;
        }
        let events = device.maps().map_err(failed)?.take_events(module);
        let runtime = runtime_of(&state, events)?;
        let (name, section) = self.names(&image, &nic);
        let runs = vec![Ran { name, section, counts, runtime, paths: None, traced: None }];
        let report = Report { object: &self.object, runs, written: None, state: self.state.as_deref() };
        if self.json {
            let mut value = report.json();
            let tenant = played.counters.modules.get(&module).cloned().unwrap_or_default();
            value["nic"] = serde_json::json!(tenant);
            value["live"] = seen.json();
            value["live"]["seconds"] = played.wall.as_secs_f64().into();
            out.json(&value)?;
        } else {
            report.text(out)?;
            let LiveCounts { received, missed, sent, refused, oversize } = seen.counts;
            out.line(format!(
                "live: {received} received, {missed} missed, {sent} sent, {refused} refused by interfaces, {oversize} longer than a \
                 port takes, in {:.1} s",
                played.wall.as_secs_f64()
            ))?;
            seen.outages().into_iter().try_for_each(|line| out.line(line))?;
        }
        if let Some(what) = played.open_account {
            return Err(Failure::difference("E0506", format!("the accounting does not close: {what}")));
        }
        Ok(interrupt::exit_code(ExitCode::SUCCESS))
    }

    /// A NIC whose ports are the interfaces, and whose only tenant gets all that comes.
    fn nic(&self, image: &Image) -> Result<Nic, Failure> {
        let target = Target::by_name("default").ok_or_else(|| Failure::input("E0490", "no target `default`"))?;
        if self.iface.len() > target.ports as usize {
            let what = format!("--iface: {} interfaces, expected at most {}", self.iface.len(), target.ports);
            return Err(Failure::input("E0490", what));
        }
        let mut config = NicConfig {
            files: Vec::new(),
            p4: P4Told::default(),
            file: self.object.display().to_string(),
            target,
            seed: None,
            engines: sluice_nic::engines::ALL,
            settings: NicSettings::new(target),
            tenants: Vec::new(),
            ports: vec![PortBinding::default(); target.ports as usize],
            hosts: vec![HostBinding::default(); target.hosts as usize],
        };
        let mut spec = TenantSpec::new(TENANT, self.object.file_stem().unwrap_or_default().to_string_lossy());
        // Nobody waits for this program but itself: it may work as it may in the kernel.
        spec.xdp_work = self.work.or(Some(MOST_WORK));
        (spec.keep_tag, spec.any_vids) = (true, true);
        let queue = (Linker::new(target).grantable_cells() as usize / (self.iface.len() + 1)) as u16;
        let mut interfaces = BTreeMap::new();
        let bound: Vec<&String> = self.iface.iter().map(|i| &i.name).chain(&self.tap).collect();
        if let Some((_, twice)) = bound.iter().enumerate().find(|(n, name)| bound[..*n].contains(name)) {
            let what = format!("--iface, --tap: interface `{twice}` twice, expected each once");
            return Err(Failure::input("E0521", what));
        }
        for (port, (number, interface)) in (0u8..).zip((1..).zip(&self.iface)) {
            config.ports[usize::from(port)].iface = Some(interface.name.clone());
            config.settings.ports[usize::from(port)].untagged = Some(TENANT);
            spec.vlans.extend((0..VLANS).map(|vlan| VlanGrant { port: Some(port), vlan }));
            spec.queues.insert(Destination::Port(port), queue);
            let index = interface.index.unwrap_or(number);
            if interfaces.insert(index, port).is_some() {
                let what = format!("--iface: interface index {index} twice, expected each once");
                return Err(Failure::input("E0490", what).help("IFACE=IFINDEX gives an interface another one"));
            }
        }
        spec.queues.insert(Destination::Host(0), queue);
        config.hosts[0].tap.clone_from(&self.tap);
        let mut options = Options {
            section: self.section.clone(),
            program: self.program.clone(),
            max_entries: self.prepare.max_entries.clone(),
            inner_maps: self.prepare.inner_map.clone(),
            variables: self.prepare.set.clone(),
            interfaces,
            ..Options::default()
        };
        for (map, path) in &self.maps {
            options.files.push((map.clone(), object::map_text(path)?));
        }
        let object = tenant::object(&spec.name, image, &options)
            .map_err(|e| Failure::input(e.code(), format!("{}: {e}", self.object.display())))?;
        let routes = self.routes.as_deref().map(object::routes).transpose()?.map(|(text, _)| text);
        config.tenants.push(TenantConfig { spec, object: Some(object), routes, rings: Vec::new() });
        Ok(Nic { config, target, secrets: bring_up::secrets(None)? })
    }

    /// Name and section of the program that runs.
    fn names(&self, image: &Image, nic: &Nic) -> (String, String) {
        let object = nic.config.tenants.first().and_then(|t| t.object.as_ref());
        let xdp = object.and_then(|o| o.parts.xdp.as_ref());
        let name = xdp.and_then(|x| x.programs.get(x.main as usize)).map(|p| p.name.clone()).unwrap_or_default();
        let section = image.programs.iter().find(|p| p.name == name).map(|p| p.section.clone());
        (name, section.unwrap_or_default())
    }

    /// A mask of destinations by the interfaces' names.
    fn destinations(&self, mask: u8, target: &Target) -> String {
        let name = |destination: u32| match self.iface.get(destination as usize) {
            Some(interface) => interface.name.clone(),
            None => format!("host{}", destination.saturating_sub(target.ports)),
        };
        let named: Vec<String> = (0..8).filter(|bit| mask >> bit & 1 == 1).map(name).collect();
        named.join(" and ")
    }
}

/// The maps of a module's program, as a run leaves them.
fn state_of(device: &mut dyn Device, module: u8) -> Result<State, Failure> {
    let mut maps = Vec::new();
    let host = device.maps().map_err(failed)?;
    for map in host.list(module).map_err(failed)? {
        let spec = tenant::map_spec(&map.declared).map_err(|e| Failure::difference(e.code(), e))?;
        let mut state = MapState { id: map.id.0, spec, entries: Vec::new() };
        if state.spec.kind.is_queue() {
            let elements = host.elements(module, map.id).unwrap_or_default();
            state.entries.extend(elements.iter().map(|value| Entry { key: String::new(), value: to_hex(value) }));
            maps.push(state);
            continue;
        }
        let mut key: Option<Vec<u8>> = None;
        while has_entries(state.spec.kind) {
            // A map that user space may not list has no entries to keep.
            let Ok(Some(next)) = host.next_held_key(module, map.id, key.as_deref()) else { break };
            // Places of an array of references that hold nothing are left out.
            if let Ok(value) = host.lookup(module, map.id, &next) {
                match state.spec.frozen {
                    true => state.spec.contents = Some(value),
                    false => state.entries.push(Entry { key: to_hex(&next), value: to_hex(&value) }),
                }
            }
            key = Some(next);
        }
        maps.push(state);
    }
    Ok(State { sluice_maps: STATE_VERSION, cpus: tenant::CPUS, maps })
}

/// The same maps and events where the report looks for them.
fn runtime_of(state: &State, events: Vec<ProgramEvent>) -> Result<Runtime, Failure> {
    let mut runtime = Runtime::new(state.cpus, 0);
    (runtime.maps, _) = state.restore().map_err(|e| Failure::difference(e.code(), e))?;
    let maps = &runtime.maps;
    let named = |name: &str| maps.ids().into_iter().find(|id| maps.spec(*id).is_some_and(|spec| spec.name == name));
    for event in events {
        let event = match event {
            ProgramEvent::Trace { line } => Some(Event::Trace(line)),
            ProgramEvent::Perf { map, cpu, data } => named(&map).map(|map| Event::Perf { map, cpu, data }),
            ProgramEvent::Ring { map, data } => named(&map).map(|map| Event::Ring { map, data }),
            ProgramEvent::Lost { events } => {
                runtime.world.lost_events += events;
                None
            }
        };
        runtime.world.events.extend(event);
    }
    Ok(runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_have_the_index_that_they_are_given() {
        assert_eq!(interface("eth1"), Ok(Interface { name: "eth1".to_owned(), index: None }));
        assert_eq!(interface("eth1=7"), Ok(Interface { name: "eth1".to_owned(), index: Some(7) }));
        for text in ["", "=1", "eth1=", "eth1=0", "eth1=x", "a/b", "sixteen-letters-"] {
            assert!(interface(text).is_err(), "{text}");
        }
    }
}
