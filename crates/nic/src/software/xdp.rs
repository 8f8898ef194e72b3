//! The XDP engine of the software NIC: each tenant's programs and maps, by generation.

use crate::device::{DeviceError, XdpEvent, XdpMap};
use crate::frame::Frame;
use crate::xdp_counts::XdpCounts;
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::vm::{Ingress, Installed};
use sluice_ebpf::{Errno, MapId, MapType, Packet, Redirect, Runtime, Verdict, tenant, world};
use sluice_formats::limits::{MAX_FRAME_BYTES, TAG_BYTES};
use sluice_formats::{Reason, Target};
use sluice_object::{Destination, PlacedXdp};
use std::collections::BTreeMap;

/// Programs of every module.
#[derive(Debug)]
pub(super) struct Engine {
    target: Target,
    modules: BTreeMap<u8, Module>,
    /// Buffer of the packet that runs.
    packet: Packet,
}

/// What one module runs.
#[derive(Debug)]
struct Module {
    runtime: Runtime,
    generations: [Option<Program>; 2],
    /// Names of the maps that were ever made: an event may be taken after its map is gone.
    names: BTreeMap<MapId, String>,
    counts: XdpCounts,
}

#[derive(Debug)]
struct Program {
    installed: Installed,
    main: usize,
    pass: Option<u8>,
    /// Mask of destinations that are the tenant's.
    granted: u8,
    interfaces: BTreeMap<u32, u8>,
}

impl Engine {
    pub fn new(target: Target) -> Self {
        Self { target, modules: BTreeMap::new(), packet: Packet::new(&[]) }
    }

    /// Puts a program into a generation that no packet uses.
    pub fn install(&mut self, module: u8, generation: u8, placed: &PlacedXdp) -> Result<(), String> {
        placed.check().map_err(|e| e.to_string())?;
        self.remove(module, generation);
        let PlacedXdp { xdp, kept, pass, granted } = placed;
        let image = tenant::image(xdp).map_err(|e| e.to_string())?;
        let granted = granted.mask(&self.target).map_err(|d| format!("{d} does not exist"))?;
        let pass = pass.number(&self.target).ok_or_else(|| format!("{pass} does not exist"))?;
        let slot = self.modules.entry(module).or_insert_with(|| Module {
            // Each module draws numbers of its own, the same ones in every run.
            runtime: Runtime::new(tenant::CPUS, u64::from(module)),
            generations: [None, None],
            names: BTreeMap::new(),
            counts: XdpCounts::default(),
        });
        let before = slot.generations[usize::from((generation ^ 1) & 1)].as_ref().map(|p| p.installed);
        let result = slot.put(&image, kept, before).and_then(|installed| {
            let given = slot.give(installed, placed);
            if given.is_err() {
                slot.runtime.remove(installed);
            }
            given.map(|()| installed)
        });
        let installed = match result {
            Ok(installed) => installed,
            Err(what) => {
                self.forget_if_empty(module);
                return Err(what);
            }
        };
        for index in 0..image.maps.len() {
            if let Some(id) = slot.runtime.map(installed, index) {
                slot.names.insert(id, image.maps[index].name.clone());
            }
        }
        let (main, interfaces) = (xdp.main as usize, xdp.interfaces.clone());
        slot.generations[usize::from(generation & 1)] =
            Some(Program { installed, main, pass: Some(pass), granted, interfaces });
        Ok(())
    }

    /// Takes a generation's program away, with its maps that no other generation uses.
    pub fn remove(&mut self, module: u8, generation: u8) {
        if let Some(slot) = self.modules.get_mut(&module)
            && let Some(program) = slot.generations[usize::from(generation & 1)].take()
        {
            slot.runtime.remove(program.installed);
        }
        self.forget_if_empty(module);
    }

    /// A module without programs has nothing: its next owner begins with nothing.
    fn forget_if_empty(&mut self, module: u8) {
        if self.modules.get(&module).is_some_and(|slot| slot.generations.iter().all(Option::is_none)) {
            self.modules.remove(&module);
        }
    }

    /// Runs the program of the packet's generation, if it has one, and gives its destinations.
    /// The frame is as the program left it.
    pub fn run(
        &mut self,
        module: u8,
        generation: u8,
        port: u8,
        now_ns: u64,
        frame: &mut Frame,
    ) -> Option<Result<u8, Reason>> {
        let slot = self.modules.get_mut(&module)?;
        let program = slot.generations[usize::from(generation & 1)].as_ref()?;
        let runtime = &mut slot.runtime;
        runtime.world.now_ns = now_ns;
        runtime.world.cpu = 0;
        self.packet.set(frame.bytes());
        let ingress = Ingress { ifindex: program.interface_of(port), queue: 0 };
        let outcome = runtime.run(program.installed, program.main, &mut self.packet, ingress);
        slot.counts.add(outcome.verdict as usize, outcome.instructions);
        if let Some(fault) = &outcome.fault {
            slot.counts.add_fault(format!("{} at {}:{}", fault.reason, fault.program, fault.pc));
        }
        let to = match outcome.verdict {
            Verdict::Aborted => Err(Reason::XdpAborted),
            Verdict::Drop => Err(Reason::XdpDrop),
            Verdict::Pass => program.pass.and_then(|d| program.granted(d)).ok_or(Reason::NoDestination),
            Verdict::Tx => program.granted(port).ok_or(Reason::NoDestination),
            Verdict::Redirect => outcome
                .redirect
                .and_then(|to| program.redirected(to, port, runtime, &self.target))
                .ok_or(Reason::NoDestination),
        };
        let mask = match to {
            Ok(mask) => mask,
            Err(reason) => return Some(Err(reason)),
        };
        if outcome.verdict == Verdict::Redirect {
            *slot.counts.redirects.entry(mask).or_default() += 1;
        }
        let bytes = self.packet.frame();
        let tag = if frame.tag_off() { TAG_BYTES } else { 0 };
        if bytes.len() + tag > MAX_FRAME_BYTES as usize {
            return Some(Err(Reason::XdpTooLong));
        }
        frame.replace(bytes);
        Some(Ok(mask))
    }

    fn module(&self, module: u8) -> Result<&Module, DeviceError> {
        self.modules.get(&module).ok_or_else(|| no_program(module))
    }

    fn module_mut(&mut self, module: u8) -> Result<&mut Module, DeviceError> {
        self.modules.get_mut(&module).ok_or_else(|| no_program(module))
    }

    /// Maps of the program that new packets run, in its order.
    pub fn maps(&self, module: u8, current: u8) -> Result<Vec<XdpMap>, DeviceError> {
        let slot = self.module(module)?;
        let program = slot.generations[usize::from(current & 1)].as_ref().ok_or_else(|| no_program(module))?;
        let ids = (0..).map_while(|index| slot.runtime.map(program.installed, index));
        Ok(ids.filter_map(|id| Some(XdpMap { id, spec: slot.runtime.maps.spec(id)?.clone() })).collect())
    }

    pub fn map_lookup(&self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError> {
        self.module(module)?.runtime.maps.user_lookup(map, key).map_err(failed("lookup", map))
    }

    pub fn map_update(
        &mut self,
        module: u8,
        map: MapId,
        key: &[u8],
        value: &[u8],
        flags: u64,
    ) -> Result<(), DeviceError> {
        let maps = &mut self.module_mut(module)?.runtime.maps;
        maps.user_update(map, key, value, flags).map_err(failed("update", map))
    }

    pub fn map_delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError> {
        self.module_mut(module)?.runtime.maps.user_delete(map, key).map_err(failed("delete", map))
    }

    pub fn map_next_key(&self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.module(module)?.runtime.maps.next_key(map, key).map_err(failed("next key", map))
    }

    pub fn map_next_held_key(
        &self,
        module: u8,
        map: MapId,
        key: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, DeviceError> {
        self.module(module)?.runtime.maps.next_held_key(map, key).map_err(failed("next key", map))
    }

    pub fn set_routes(&mut self, module: u8, routes: Routes) -> Result<(), DeviceError> {
        self.module_mut(module)?.runtime.world.routes = routes;
        Ok(())
    }

    pub fn counts(&self, module: u8) -> Result<XdpCounts, DeviceError> {
        Ok(self.module(module)?.counts.clone())
    }

    pub fn take_events(&mut self, module: u8) -> Vec<XdpEvent> {
        let Some(slot) = self.modules.get_mut(&module) else { return Vec::new() };
        let lost = std::mem::take(&mut slot.runtime.world.lost_events);
        let name = |map: MapId| slot.names.get(&map).cloned().unwrap_or_default();
        let mut events: Vec<XdpEvent> = std::mem::take(&mut slot.runtime.world.events)
            .into_iter()
            .map(|event| match event {
                world::Event::Trace(line) => XdpEvent::Trace { line },
                world::Event::Perf { map, cpu, data } => XdpEvent::Perf { map: name(map), cpu, data },
                world::Event::Ring { map, data } => XdpEvent::Ring { map: name(map), data },
            })
            .collect();
        if lost > 0 {
            events.push(XdpEvent::Lost { events: lost });
        }
        events
    }
}

impl Module {
    fn put(
        &mut self,
        image: &sluice_ebpf::Image,
        kept: &BTreeMap<u32, u32>,
        before: Option<Installed>,
    ) -> Result<Installed, String> {
        let old = |new: usize| {
            let old = kept.get(&(new as u32))?;
            self.runtime.map(before?, *old as usize)
        };
        let found: Vec<Option<MapId>> = (0..image.maps.len()).map(old).collect();
        if let Some(new) = kept.keys().find(|new| found.get(**new as usize).is_none_or(Option::is_none)) {
            return Err(format!("map {new} is to be kept, but there is nothing to keep it from"));
        }
        self.runtime.install(image, &|index| found[index]).map_err(|e| e.to_string())
    }

    /// Entries that user space gives; maps that are kept have theirs.
    fn give(&mut self, installed: Installed, placed: &PlacedXdp) -> Result<(), String> {
        for entry in placed.xdp.entries.iter().filter(|e| !placed.kept.contains_key(&e.map)) {
            let Some(id) = self.runtime.map(installed, entry.map as usize) else { continue };
            let of_maps = matches!(
                self.runtime.maps.spec(id).map(|spec| spec.kind),
                Some(MapType::ArrayOfMaps | MapType::HashOfMaps)
            );
            let inner = |value: &[u8]| {
                let position = u32::from_le_bytes(*value.first_chunk()?);
                Some(self.runtime.map(installed, position as usize)?.0.to_le_bytes().to_vec())
            };
            let value = if of_maps { inner(&entry.value).unwrap_or_default() } else { entry.value.clone() };
            let name = || placed.xdp.maps.get(entry.map as usize).map_or("", |m| m.name.as_str());
            self.runtime
                .maps
                .user_update(id, &entry.key, &value, 0)
                .map_err(|e| format!("map `{}`: an entry that it begins with is refused: errno {}", name(), e.0))?;
        }
        Ok(())
    }
}

impl Program {
    /// The destination as a mask, if it is the tenant's.
    fn granted(&self, destination: u8) -> Option<u8> {
        let bit = 1u8.checked_shl(destination.into()).unwrap_or(0);
        (self.granted & bit != 0).then_some(bit)
    }

    /// Interface index of a port, as programs see it.
    fn interface_of(&self, port: u8) -> u32 {
        let named = self.interfaces.iter().find(|(_, p)| **p == port).map(|(interface, _)| *interface);
        named.unwrap_or(u32::from(port) + 1)
    }

    /// Port of an interface index, as a mask, if there is one and it is the tenant's.
    fn interface(&self, interface: u32, target: &Target) -> Option<u8> {
        let port = match self.interfaces.get(&interface) {
            Some(port) => u32::from(*port),
            None => interface.checked_sub(1)?,
        };
        self.granted(Destination::Port(u8::try_from(port).ok()?).number(target)?)
    }

    fn host(&self, queue: u32, target: &Target) -> Option<u8> {
        self.granted(Destination::Host(u8::try_from(queue).ok()?).number(target)?)
    }

    /// Where a redirect leads, as a mask; none when it leads nowhere.
    fn redirected(&self, to: Redirect, port: u8, runtime: &Runtime, target: &Target) -> Option<u8> {
        match to {
            Redirect::Interface(interface) => self.interface(interface, target),
            Redirect::Cpu(cpu) => self.host(cpu % target.hosts, target),
            Redirect::Socket { index, .. } => self.host(index, target),
            Redirect::Broadcast { map, exclude_ingress } => {
                let mut mask = 0;
                let mut key = None;
                while let Ok(Some(next)) = runtime.maps.next_held_key(map, key.as_deref()) {
                    let value = runtime.maps.user_lookup(map, &next).unwrap_or_default();
                    if let Some(bytes) = value.first_chunk::<4>() {
                        mask |= self.interface(u32::from_le_bytes(*bytes), target).unwrap_or(0);
                    }
                    key = Some(next);
                }
                if exclude_ingress {
                    mask &= !1u8.checked_shl(port.into()).unwrap_or(0);
                }
                (mask != 0).then_some(mask)
            }
        }
    }
}

fn no_program(module: u8) -> DeviceError {
    DeviceError::NoProgram { module }
}

fn failed(operation: &'static str, map: MapId) -> impl FnOnce(Errno) -> DeviceError {
    move |errno| DeviceError::Map { operation, map: map.0, errno: errno.0 }
}
