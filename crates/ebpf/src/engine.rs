//! The interpreter as an engine of a NIC: each tenant's programs and maps, by generation.

mod program;

use crate::helper::routes::{Routes, RoutesError};
use crate::map::file::{explain, explain_entry};
use crate::vm::{Executor, Ingress, Installed, MakeExecutor};
use crate::{Errno, Image, MapId, MapType, Packet, Runtime, Verdict, tenant};
use program::{Program, may_go_round};
use sluice_device::{
    Answer, DeviceError, Engine, InstallError, Map, Maps, Packet as NicPacket, ProgramCounts, ProgramEvent, Resumed,
    Route,
};
use sluice_formats::address::SNAPSHOT_INDEX_BIT;
use sluice_formats::limits::{MAX_FRAME_BYTES, TAG_BYTES, TICK_PS};
use sluice_formats::xdp::target::WORK;
use sluice_formats::{EngineId, Node, Reason, Row, Status, Table, Target};
use sluice_object::xdp::routes::is_routes;
use sluice_object::xdp::warp::matcher::Seen;
use sluice_object::xdp::warp::tables::WarpTables;
use sluice_object::{Destination, Install, PlacedXdp};
use std::collections::BTreeMap;

/// Kinds of drops that are counted for a module.
const KINDS: usize = 8;
/// Counters are 48 bits wide and wrap.
const COUNTER_MASK: u64 = (1 << 48) - 1;

/// Programs of every module.
#[derive(Debug)]
pub struct XdpEngine {
    target: Target,
    modules: BTreeMap<u8, Module>,
    /// Generation that new packets of a module have; 0 for those that are not in it.
    current: BTreeMap<u8, u8>,
    /// Drops and copies by module and kind: now, and at the last snapshot.
    drops: Vec<u64>,
    snapshot: Vec<u64>,
    /// Rows that an engine in hardware has; programs here are installed.
    rows: BTreeMap<(Table, u32), Vec<u32>>,
    /// Those of its warp engine: they say which leaf a packet would have had there.
    warp: WarpTables,
    /// Buffer of the packet that runs.
    packet: Packet,
    /// What carries programs out, if not the interpreter.
    executor: Option<MakeExecutor>,
}

/// What one module runs.
#[derive(Debug)]
struct Module {
    runtime: Runtime,
    executor: Option<Box<dyn Executor>>,
    /// Why programs are the interpreter's all the same, by generation.
    interpreted: [Vec<String>; 2],
    generations: [Option<Program>; 2],
    /// Names of the maps that were ever made: an event may be taken after its map is gone.
    names: BTreeMap<MapId, String>,
    counts: ProgramCounts,
}

impl XdpEngine {
    /// An engine after reset.
    pub fn new(target: Target) -> Self {
        let drops = vec![0; target.modules as usize * KINDS];
        Self {
            target,
            modules: BTreeMap::new(),
            current: BTreeMap::new(),
            rows: BTreeMap::new(),
            warp: WarpTables::new(&target),
            packet: Packet::new(&[]),
            executor: None,
            snapshot: drops.clone(),
            drops,
        }
    }

    /// The same with programs that others carry out: each module has an executor of its own.
    pub fn executed_by(self, executor: MakeExecutor) -> Self {
        Self { executor: Some(executor), ..self }
    }

    /// Why programs of a module's generation are the interpreter's, where there is an executor.
    pub fn interpreted(&self, module: u8, generation: u8) -> &[String] {
        self.modules.get(&module).map_or(&[], |slot| &slot.interpreted[usize::from(generation & 1)])
    }

    fn put(&mut self, module: u8, generation: u8, placed: &PlacedXdp) -> Result<(), InstallError> {
        self.remove(module, generation);
        let PlacedXdp { xdp, pass, granted, .. } = placed;
        let image = tenant::image(xdp).map_err(|e| refused(e.to_string(), Some(e.code())))?;
        let exists = |d: Destination| refused(format!("{d} does not exist"), None);
        let granted = granted.mask(&self.target).map_err(exists)?;
        let pass = pass.map(|d| d.number(&self.target).ok_or_else(|| exists(d))).transpose()?;
        let executor = self.executor;
        let slot = self.modules.entry(module).or_insert_with(|| Module {
            executor: executor.map(|make| make()),
            interpreted: Default::default(),
            // Each module draws numbers of its own, the same ones in every run.
            runtime: Runtime::new(tenant::CPUS, u64::from(module)),
            generations: [None, None],
            names: BTreeMap::new(),
            counts: ProgramCounts::default(),
        });
        let before = slot.generations[usize::from((generation ^ 1) & 1)].as_ref().map(|p| p.installed);
        let result = slot.put(&image, &placed.kept, before).and_then(|installed| {
            let given = slot.give(installed, placed);
            if given.is_err() {
                slot.runtime.remove(installed);
            }
            given.map(|()| installed)
        });
        let installed = match result {
            Ok(installed) => installed,
            Err(error) => {
                self.forget_if_empty(module);
                return Err(error);
            }
        };
        for index in 0..image.maps.len() {
            if let Some(id) = slot.runtime.map(installed, index) {
                slot.names.insert(id, image.maps[index].name.clone());
            }
        }
        if let Some(executor) = &mut slot.executor {
            slot.interpreted[usize::from(generation & 1)] = executor.install(&slot.runtime, &image, installed);
        }
        let (main, interfaces) = (xdp.main as usize, xdp.interfaces.clone());
        slot.generations[usize::from(generation & 1)] = Some(Program {
            installed,
            main,
            pass,
            granted,
            interfaces,
            work: placed.work.unwrap_or(WORK).into(),
            loops: image.programs.iter().any(|program| program.insns.iter().any(|insn| may_go_round(*insn))),
            growth: placed.growth,
            stateful: image.maps.iter().any(|map| !map.frozen),
        });
        Ok(())
    }

    /// A module without programs has nothing: its next owner begins with nothing.
    fn forget_if_empty(&mut self, module: u8) {
        if self.modules.get(&module).is_some_and(|slot| slot.generations.iter().all(Option::is_none)) {
            self.modules.remove(&module);
        }
    }

    /// Generation that new packets of a module have.
    fn current(&self, module: u8) -> usize {
        usize::from(self.current.get(&module).copied().unwrap_or(0))
    }

    fn module(&self, module: u8) -> Result<&Module, DeviceError> {
        self.modules.get(&module).ok_or(DeviceError::NoProgram { module })
    }

    fn module_mut(&mut self, module: u8) -> Result<&mut Module, DeviceError> {
        self.modules.get_mut(&module).ok_or(DeviceError::NoProgram { module })
    }
}

impl Engine for XdpEngine {
    fn id(&self) -> EngineId {
        EngineId::XDP
    }

    /// Keeps a row as hardware would: it means nothing to the interpreter.
    fn write(&mut self, _: Node, table: Table, index: u32, words: &[u32]) -> Status {
        if !self.warp.write(table, index, words) {
            self.rows.insert((table, index), words.to_vec());
        }
        Status::Ok
    }

    fn read(&self, _: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        if table == Table::XdpWarpHits {
            // Its bits are those that a row has.
            return self.warp.hits(index).pack().map_err(|_| Status::BadAddress);
        }
        if table != Table::XdpDrops {
            return Ok(self.rows.get(&(table, index)).cloned().unwrap_or_else(|| vec![0; table.words()]));
        }
        let drops = if index >> SNAPSHOT_INDEX_BIT & 1 == 1 { &self.snapshot } else { &self.drops };
        let row = (index & !(1 << SNAPSHOT_INDEX_BIT)) as usize;
        let value = drops.get(row).ok_or(Status::BadAddress)? & COUNTER_MASK;
        Ok(vec![value as u32, (value >> 32) as u32])
    }

    fn snapshot(&mut self) {
        self.snapshot.clone_from(&self.drops);
    }

    fn install(&mut self, module: u8, generation: u8, install: &Install) -> Result<(), InstallError> {
        let Install::Xdp(placed) = install;
        self.put(module, generation, placed)
    }

    fn remove(&mut self, module: u8, generation: u8) {
        if let Some(slot) = self.modules.get_mut(&module)
            && let Some(program) = slot.generations[usize::from(generation & 1)].take()
        {
            slot.runtime.remove(program.installed);
            slot.interpreted[usize::from(generation & 1)].clear();
            slot.executor.iter_mut().for_each(|executor| executor.forget(&slot.runtime));
        }
        self.forget_if_empty(module);
    }

    fn commit(&mut self, module: u8, generation: u8) {
        self.current.insert(module, generation & 1);
    }

    /// One whose programs have no loop runs as long as they are at most.
    fn may_run_long(&self, module: u8) -> bool {
        self.modules.get(&module).is_some_and(|slot| slot.generations.iter().flatten().any(|program| program.loops))
    }

    /// One with a map that anybody may write.
    fn is_stateful(&self, module: u8) -> bool {
        self.modules.get(&module).is_some_and(|slot| slot.generations.iter().flatten().any(|program| program.stateful))
    }

    /// Packets with a program: those without one pass beside, and flows do not wait for each other.
    fn overtakes(&self, packet: &NicPacket) -> bool {
        let programs = self.modules.get(&packet.module).map(|slot| &slot.generations);
        programs.is_some_and(|programs| programs[usize::from(packet.stamped.generation & 1)].is_some())
    }

    /// Runs the program of the packet's generation, if it has one. The frame is as the program left it.
    fn run(&mut self, packet: &mut NicPacket) -> Answer {
        let NicPacket { module, port, stamped, arrival, .. } = *packet;
        let Some(slot) = self.modules.get_mut(&module) else { return Answer::Next };
        let Some(program) = slot.generations[usize::from(stamped.generation & 1)].as_ref() else { return Answer::Next };
        let runtime = &mut slot.runtime;
        runtime.work_limit = program.work;
        runtime.world.now_ns = arrival * TICK_PS / 1000;
        runtime.world.cpu = 0;
        runtime.world.given = packet.given.iter().copied().collect();
        self.packet.set(packet.frame.bytes());
        if let Some(bytes) = program.growth {
            self.packet.limit_growth(bytes.into());
        }
        let ingress = Ingress { ifindex: program.interface_of(port), queue: 0 };
        let seen = Seen { frame: packet.frame.bytes(), ifindex: ingress.ifindex, queue: ingress.queue };
        let (of, work) = ((module, stamped.generation), program.work);
        // At the limit on work cores run the program from its start.
        let leaf = self.warp.leaf(of, &seen).filter(|leaf| u64::from(leaf.work) <= work);
        let (installed, main) = (program.installed, program.main);
        let outcome = match &slot.executor {
            Some(executor) => runtime.run_on(&**executor, installed, main, &mut self.packet, ingress),
            None => runtime.run(installed, main, &mut self.packet, ingress),
        };
        if let Some(leaf) = leaf {
            self.warp.count(of, &leaf);
            if let Some(wrong) = leaf.verdict.filter(|verdict| u32::from(*verdict) != outcome.verdict as u32) {
                let (rule, found) = (leaf.rule, outcome.verdict.name());
                let what = format!("rule {rule} of the program's table says verdict {wrong}, the program {found}");
                debug_assert!(false, "module {module}: {what}");
                slot.counts.add_fault(what);
            }
        }
        slot.counts.add(outcome.verdict as usize, outcome.instructions);
        if let Some(fault) = &outcome.fault {
            slot.counts.add_fault(format!("{} at {}:{}", fault.reason, fault.program, fault.pc));
        }
        let to = match outcome.verdict {
            Verdict::Aborted => return Answer::Drop(Reason::XdpAborted),
            Verdict::Drop => return Answer::Drop(Reason::XdpDrop),
            // Without a destination of its own it stays with what the engine before has said.
            Verdict::Pass => program.pass.map(|d| program.granted(d)),
            Verdict::Tx => Some(program.granted(port)),
            Verdict::Redirect => {
                Some(outcome.redirect.and_then(|to| program.redirected(to, port, runtime, &self.target)))
            }
        };
        let answer = match to {
            None => Answer::Next,
            Some(None) => return Answer::Drop(Reason::NoDestination),
            Some(Some(mask)) => Answer::To(Route::to(mask)),
        };
        if let (Verdict::Redirect, Some(Some(mask))) = (outcome.verdict, to) {
            *slot.counts.redirects.entry(mask).or_default() += 1;
        }
        let bytes = self.packet.frame();
        let tag = if packet.frame.tag_off() { TAG_BYTES } else { 0 };
        if bytes.len() + tag > MAX_FRAME_BYTES as usize {
            return Answer::Drop(Reason::XdpTooLong);
        }
        packet.frame.replace(bytes);
        answer
    }

    fn count(&mut self, module: u8, reason: Reason) {
        self.drops[usize::from(module) * KINDS + reason.kind() as usize] += 1;
    }

    fn counted(&self, module: u8, reason: Reason) -> u64 {
        self.drops[usize::from(module) * KINDS + reason.kind() as usize]
    }

    fn count_copies(&mut self, module: u8, copies: u64) -> bool {
        // Copies of who has no program here are those of the engine before.
        if !self.modules.contains_key(&module) {
            return false;
        }
        self.drops[copies_row(module)] += copies;
        true
    }

    fn copies(&self, module: u8) -> u64 {
        self.drops[copies_row(module)]
    }

    fn maps(&mut self) -> Option<&mut dyn Maps> {
        Some(self)
    }
}

/// Where a module's copies beyond the first are counted.
fn copies_row(module: u8) -> usize {
    EngineId::XDP.copies(module.into()).map_or(0, |(_, row)| row as usize)
}

impl Maps for XdpEngine {
    fn cpus(&self) -> u32 {
        tenant::CPUS
    }

    fn list(&mut self, module: u8) -> Result<Vec<Map>, DeviceError> {
        let current = self.current(module);
        let slot = self.module(module)?;
        let program = slot.generations[current].as_ref().ok_or(DeviceError::NoProgram { module })?;
        let ids = (0..).map_while(|index| slot.runtime.map(program.installed, index));
        let map = |id| Some(Map { id, declared: tenant::plain_map(slot.runtime.maps.spec(id)?) });
        Ok(ids.filter_map(map).filter(|map| !is_routes(&map.declared)).collect())
    }

    fn lookup(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError> {
        let current = self.current(module);
        let slot = self.module(module)?;
        let value = slot.runtime.maps.user_lookup(map, key).map_err(failed("lookup", map))?;
        match &slot.generations[current] {
            Some(program) if slot.holds_programs(map) => Ok(slot.position(program.installed, &value)),
            _ => Ok(value),
        }
    }

    /// A program array takes the position of a program of the module's, as the kernel takes a program's descriptor.
    fn update(&mut self, module: u8, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), DeviceError> {
        let current = self.current(module);
        let slot = self.module_mut(module)?;
        let mut value = value.to_vec();
        if let (true, Some(program)) = (slot.holds_programs(map), &slot.generations[current]) {
            let number = slot.program(program.installed, &value);
            value = number.ok_or(Errno::BADF).map_err(failed("update", map))?;
        }
        slot.runtime.maps.user_update(map, key, &value, flags).map_err(failed("update", map))
    }

    fn delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError> {
        self.module_mut(module)?.runtime.maps.user_delete(map, key).map_err(failed("delete", map))
    }

    fn pop(&mut self, module: u8, map: MapId) -> Result<Vec<u8>, DeviceError> {
        self.module_mut(module)?.runtime.maps.user_pop(map).map_err(failed("pop", map))
    }

    fn elements(&mut self, module: u8, map: MapId) -> Result<Vec<Vec<u8>>, DeviceError> {
        self.module(module)?.runtime.maps.elements(map).map_err(failed("elements", map))
    }

    fn next_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.module(module)?.runtime.maps.next_key(map, key).map_err(failed("next key", map))
    }

    fn order_behind(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<u64>, DeviceError> {
        self.module(module)?.runtime.maps.order_behind(map, key).map_err(failed("next key", map))
    }

    fn resume(&mut self, module: u8, map: MapId, key: Option<&[u8]>, order: u64) -> Result<Resumed, DeviceError> {
        self.module(module)?.runtime.maps.resume(map, key, order).map_err(failed("next key", map))
    }

    fn next_held_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.module(module)?.runtime.maps.next_held_key(map, key).map_err(failed("next key", map))
    }

    fn set_routes(&mut self, module: u8, routes: &str) -> Result<(), DeviceError> {
        let wrong = |e: RoutesError| DeviceError::Routes { what: e.to_string(), code: e.code() };
        self.module_mut(module)?.runtime.world.routes = Routes::parse(routes).map_err(wrong)?;
        Ok(())
    }

    fn remarks(&mut self, module: u8) -> Vec<String> {
        let generation = self.current(module) as u8;
        self.interpreted(module, generation).to_vec()
    }

    fn counts(&mut self, module: u8) -> Result<ProgramCounts, DeviceError> {
        Ok(self.module(module)?.counts.clone())
    }

    fn take_events(&mut self, module: u8) -> Vec<ProgramEvent> {
        let Some(slot) = self.modules.get_mut(&module) else { return Vec::new() };
        let lost = std::mem::take(&mut slot.runtime.world.lost_events);
        let name = |map: MapId| slot.names.get(&map).cloned().unwrap_or_default();
        let mut events: Vec<ProgramEvent> =
            std::mem::take(&mut slot.runtime.world.events).into_iter().map(|event| event.named(name)).collect();
        if lost > 0 {
            events.push(ProgramEvent::Lost { events: lost });
        }
        events
    }
}

impl Module {
    fn put(
        &mut self,
        image: &Image,
        kept: &BTreeMap<u32, u32>,
        before: Option<Installed>,
    ) -> Result<Installed, InstallError> {
        let old = |new: usize| {
            let old = kept.get(&(new as u32))?;
            self.runtime.map(before?, *old as usize)
        };
        let found: Vec<Option<MapId>> = (0..image.maps.len()).map(old).collect();
        if let Some(new) = kept.keys().find(|new| found.get(**new as usize).is_none_or(Option::is_none)) {
            let what = format!("map {new} is to be kept, but there is nothing to keep it from");
            return Err(refused(what, None));
        }
        self.runtime.install(image, &|index| found[index]).map_err(|e| refused(e.to_string(), Some(e.code())))
    }

    fn holds_programs(&self, map: MapId) -> bool {
        self.runtime.maps.spec(map).is_some_and(|spec| spec.kind == MapType::ProgArray)
    }

    /// What a program array holds of the program at this position.
    fn program(&self, installed: Installed, position: &[u8]) -> Option<Vec<u8>> {
        let position = u32::from_le_bytes(position.try_into().ok()?);
        Some(self.runtime.program_number(installed, position as usize)?.to_le_bytes().to_vec())
    }

    /// The position of a program that a program array holds.
    fn position(&self, installed: Installed, number: &[u8]) -> Vec<u8> {
        let number = number.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let position = number.wrapping_sub(self.runtime.program_number(installed, 0).unwrap_or(0));
        position.to_le_bytes().to_vec()
    }

    /// Entries that user space gives; maps that are kept have theirs.
    fn give(&mut self, installed: Installed, placed: &PlacedXdp) -> Result<(), InstallError> {
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
            let name = placed.xdp.maps.get(entry.map as usize).map_or("", |m| m.name.as_str());
            let value = match of_maps {
                true => inner(&entry.value).unwrap_or_default(),
                false if self.holds_programs(id) => self.program(installed, &entry.value).ok_or_else(|| {
                    let most = placed.xdp.programs.len() - 1;
                    let what =
                        format!("map `{name}`: an entry that it begins with names no program, allowed: 0 to {most}");
                    refused(what, None)
                })?,
                false => entry.value.clone(),
            };
            let Err(error) = self.runtime.maps.user_update(id, &entry.key, &value, 0) else { continue };
            let spec = self.runtime.maps.spec(id);
            let why = spec.map_or_else(|| explain(error), |spec| explain_entry(spec, &entry.key, error));
            return Err(refused(format!("map `{name}`: an entry that it begins with: {why}"), None));
        }
        Ok(())
    }
}

fn failed(operation: &'static str, map: MapId) -> impl FnOnce(Errno) -> DeviceError {
    move |errno| DeviceError::Map { operation, map: map.0, errno: errno.0 }
}

fn refused(what: String, code: Option<&'static str>) -> InstallError {
    InstallError { engine: EngineId::XDP, what, code }
}
