//! Maps of programs on an XDP engine in hardware, as the host sees them: which there are, and where their values lie.
//!
//! What bpf(2) answers to a wrong key, size or flag is asked of maps of the same declarations that hold no values; the values are
//! in the device.

use crate::xdp::trie::Trie;
use sluice_ebpf::helper::fib::rows::Numbers;
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::insn::{CALL, pseudo};
use sluice_ebpf::{Image, MapSpace, MapSpec, helper, tenant};
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::XdpMapKind;
use sluice_formats::xdp::rows::{XdpMapRow, XdpPageRow, XdpProgramRow, XdpRegionRow};
use sluice_formats::xdp::target::{PAGE_ROWS, Target as Engine};
use sluice_formats::{Table, Target};
use sluice_object::PlacedXdp;
use sluice_object::xdp::entry::{self, Word, first_entries};
use sluice_object::xdp::interfaces::sent_to;
use sluice_object::xdp::layout::VALUE_PAGE_BYTES;
use sluice_object::xdp::{LaidMap, Layout, routes};
use std::collections::{BTreeMap, HashMap};

use sluice_device::{DeviceError, Map, MapId};

/// Bytes of a row of value memory.
pub const ROW_BYTES: usize = 32;

/// Cycles of a row in a program that goes round: 5, 8 with all contexts at work, and in the mean over all rows of the program as
/// much again for units that it waits for.
const CYCLES_A_ROW: u64 = 16;

/// Programs of every module, and what their rows say.
#[derive(Debug)]
pub struct HostMaps {
    engine: &'static Engine,
    modules: BTreeMap<u8, Module>,
    current: BTreeMap<u8, u8>,
    /// Rows of programs, pages, regions and maps as the device has acknowledged them.
    rows: HashMap<(Table, u32), Vec<u32>>,
}

/// What one module runs.
#[derive(Debug)]
struct Module {
    /// Declarations by ID: numbers are never given twice while the module has a program, as in the model.
    shadow: MapSpace,
    /// Tries as they stand in search memory.
    tries: BTreeMap<u32, Trie>,
    routes: KnownRoutes,
    generations: [Option<Program>; 2],
}

/// Routes of a module.
#[derive(Debug, Default)]
pub struct KnownRoutes {
    /// What the host said last.
    pub said: Routes,
    /// Numbers in the map that holds them.
    pub numbers: Numbers,
    /// That map.
    pub filled: Option<MapId>,
}

#[derive(Debug)]
struct Program {
    maps: Vec<(MapId, MapSpec, Option<LaidMap>)>,
    /// First rows of programs, by position.
    starts: Vec<u16>,
    layout: Layout,
    /// Ports of interface indices.
    interfaces: BTreeMap<u32, u8>,
    /// It asks for the number of its processor.
    asks_processor: bool,
}

/// A map in the device.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Its declaration.
    pub spec: MapSpec,
    /// Its values.
    pub laid: LaidMap,
    /// They lie in external memory, which the host reaches by operations alone.
    pub outside: bool,
    /// Its first row of the region table.
    region: u32,
}

impl HostMaps {
    /// Of an engine.
    pub fn new(engine: &'static Engine) -> Self {
        Self { engine, modules: BTreeMap::new(), current: BTreeMap::new(), rows: HashMap::new() }
    }

    /// Contexts of the engine: copies of per-CPU values.
    pub fn contexts(&self) -> u32 {
        self.engine.processors() as u32
    }

    /// A row was written.
    pub fn wrote(&mut self, table: Table, index: u32, words: &[u32]) {
        match table {
            Table::XdpProgram | Table::XdpPage | Table::XdpRegion | Table::XdpMap => {
                drop(self.rows.insert((table, index), words.to_vec()))
            }
            Table::Generation => {
                let generation = words.first().map_or(0, |word| word & 1) as u8;
                self.current.insert(index as u8, generation);
            }
            _ => {}
        }
    }

    /// A load has come to a program of a generation, which is given as an image, or takes it away.
    pub fn install(&mut self, module: u8, generation: u8, placed: Option<&PlacedXdp>) -> Result<Option<Image>, String> {
        let generation = usize::from(generation & 1);
        let Some(placed) = placed else {
            if let Some(known) = self.modules.get_mut(&module) {
                let gone = known.generations[generation].take();
                let stays = known.generations[1 - generation].as_ref();
                let kept = |id: &MapId| stays.is_some_and(|program| program.maps.iter().any(|(other, ..)| other == id));
                let ids: Vec<MapId> = gone.iter().flat_map(|p| &p.maps).map(|(id, ..)| *id).collect();
                ids.into_iter().filter(|id| !kept(id)).for_each(|id| known.shadow.remove(id));
                if known.generations.iter().all(Option::is_none) {
                    self.modules.remove(&module);
                }
            }
            return Ok(None);
        };
        let image = tenant::image(&placed.xdp).map_err(|e| e.to_string())?;
        let contexts = self.contexts();
        let known = self.modules.entry(module).or_insert_with(|| Module {
            shadow: MapSpace::with_workers(contexts, tenant::CPUS),
            tries: BTreeMap::new(),
            routes: KnownRoutes::default(),
            generations: [None, None],
        });
        let before = known.generations[1 - generation].as_ref().map(|program| &program.layout);
        let layout = Layout::of(&placed.xdp.maps, self.engine, before, &placed.kept);
        let mut maps = Vec::new();
        for (index, spec) in image.maps.iter().enumerate() {
            let old = placed.kept.get(&(index as u32)).and_then(|old| {
                let before = known.generations[1 - generation].as_ref()?;
                before.maps.get(*old as usize).map(|(id, ..)| *id)
            });
            let id = match old {
                Some(id) => id,
                None => known.shadow.create(spec).map_err(|e| e.to_string())?,
            };
            maps.push((id, spec.clone(), layout.maps.get(index).copied().flatten()));
        }
        // What only the host changes is known here as the device has it.
        let ids: Vec<MapId> = maps.iter().map(|(id, ..)| *id).collect();
        for (index, map) in (0..).zip(&placed.xdp.maps) {
            let shape = maps[index as usize].2.map(|laid| laid.shape);
            let names = shape.is_some_and(|shape| shape.sent_to_slot().is_some());
            let trie = shape.is_some_and(|shape| shape.kind == XdpMapKind::Trie);
            if !(entry::is_host_kept(map.kind) || names || trie) || placed.kept.contains_key(&index) {
                continue;
            }
            let holds_maps = map.inner.is_some();
            for (key, value) in first_entries(&placed.xdp, index) {
                let inner = value.first_chunk().and_then(|bytes| ids.get(u32::from_le_bytes(*bytes) as usize));
                let value = inner.filter(|_| holds_maps).map_or(value.clone(), |id| id.0.to_le_bytes().to_vec());
                let done = known.shadow.user_update(ids[index as usize], &key, &value, 0);
                done.map_err(|errno| format!("map `{}`: an entry that it begins with: {errno:?}", map.name))?;
            }
            let id = ids[index as usize];
            if let Some(nodes) = known.shadow.trie(id) {
                known.tries.entry(id.0).or_default().begins(nodes);
            }
        }
        let starts = placed.starts.clone();
        let asks_processor = image.programs.iter().flat_map(|program| program.instructions()).any(|insn| {
            (insn.op, insn.src) == (CALL, pseudo::HELPER)
                && helper::find(insn.imm).is_some_and(|helper| helper.name == "get_smp_processor_id")
        });
        known.generations[generation] =
            Some(Program { maps, starts, layout, interfaces: placed.xdp.interfaces.clone(), asks_processor });
        Ok(Some(image))
    }

    /// Cycles that a packet may take between two things that the host sees: programs that go round work to their limit, and tell
    /// nothing meanwhile.
    pub fn longest_work(&self) -> u64 {
        let programs = self.rows.keys().filter(|(table, _)| *table == Table::XdpProgram);
        let longest = programs.filter_map(|(table, bank)| {
            let row: XdpProgramRow = self.row(*table, *bank).ok().filter(|row: &XdpProgramRow| row.valid)?;
            // Each round goes through the program's rows once at most.
            let rows = self.pages((bank / 2) as u8) * PAGE_ROWS as u64;
            Some((u64::from(row.work) + 1) * rows * CYCLES_A_ROW)
        });
        longest.max().unwrap_or(0)
    }

    /// Pages of instructions of a module.
    fn pages(&self, module: u8) -> u64 {
        let rows = self.rows.iter().filter(|((table, _), _)| *table == Table::XdpPage);
        let own = |words: &&Vec<u32>| {
            XdpPageRow::unpack(words.as_slice()).is_ok_and(|row| row.valid && row.module_id == module)
        };
        rows.filter(|(_, words)| own(words)).count() as u64
    }

    /// Whether any program shows which packets are under way with its own: it has maps that it may write, or asks for its processor.
    pub fn any_sees_others(&self) -> bool {
        let mut programs = self.modules.values().flat_map(|module| module.generations.iter().flatten());
        let written = |(_, _, laid): &(MapId, MapSpec, Option<LaidMap>)| laid.is_some_and(|laid| laid.writable > 0);
        programs.any(|program| program.asks_processor || program.maps.iter().any(written))
    }

    /// Modules that run programs.
    pub fn modules(&self) -> Vec<u8> {
        self.modules.keys().copied().collect()
    }

    /// Maps of the program that new packets of a module run.
    pub fn list(&self, module: u8) -> Result<Vec<Map>, DeviceError> {
        let maps = self.program(module)?.1.maps.iter().filter(|(_, spec, _)| spec.name != routes::NAME);
        Ok(maps.map(|(id, spec, _)| Map { id: *id, declared: tenant::plain_map(spec) }).collect())
    }

    /// The map with the routes of a module, if its program asks for any.
    pub fn routes_map(&self, module: u8) -> Result<Option<(MapId, Placed)>, DeviceError> {
        let maps = &self.program(module)?.1.maps;
        let Some((id, ..)) = maps.iter().find(|(_, spec, _)| spec.name == routes::NAME) else { return Ok(None) };
        Ok(self.placed(module, *id)?.map(|placed| (*id, placed)))
    }

    /// What the host said last of a module's routes.
    pub fn known_routes(&mut self, module: u8) -> Result<&mut KnownRoutes, DeviceError> {
        self.modules.get_mut(&module).map(|known| &mut known.routes).ok_or(DeviceError::NoProgram { module })
    }

    /// Modules whose map of routes does not hold what the host said last.
    pub fn without_routes(&self) -> Vec<u8> {
        let lacks = |module: &u8| {
            let id = self.routes_map(*module).ok().flatten().map(|(id, _)| id);
            id.is_some() && self.modules.get(module).is_some_and(|known| known.routes.filled != id)
        };
        self.modules.keys().copied().filter(lacks).collect()
    }

    /// Declarations of a module's maps.
    pub fn shadow(&mut self, module: u8) -> Result<&mut MapSpace, DeviceError> {
        self.modules.get_mut(&module).map(|known| &mut known.shadow).ok_or(DeviceError::NoProgram { module })
    }

    fn program(&self, module: u8) -> Result<(u8, &Program), DeviceError> {
        let none = || DeviceError::NoProgram { module };
        let generation = self.current.get(&module).copied().unwrap_or(0);
        let known = self.modules.get(&module).ok_or_else(none)?;
        Ok((generation, known.generations[usize::from(generation)].as_ref().ok_or_else(none)?))
    }

    /// A map of the program that runs now; none if the device does not hold it.
    pub fn placed(&self, module: u8, map: MapId) -> Result<Option<Placed>, DeviceError> {
        let (generation, program) = self.program(module)?;
        let Some((_, spec, Some(laid))) = program.maps.iter().find(|(id, ..)| *id == map) else { return Ok(None) };
        let bank = 2 * u32::from(module) + u32::from(generation);
        let row: XdpProgramRow = self.row(Table::XdpProgram, bank)?;
        let region = u32::from(row.regions) + program.layout.region(laid);
        let outside = self.row::<XdpRegionRow>(Table::XdpRegion, region)?.outside;
        Ok(Some(Placed { spec: spec.clone(), laid: *laid, outside, region }))
    }

    fn row<R: Row>(&self, table: Table, index: u32) -> Result<R, DeviceError> {
        let zero = vec![0; R::words()];
        let words = self.rows.get(&(table, index)).unwrap_or(&zero);
        R::unpack(words).map_err(|e| DeviceError::Unavailable(format!("row {index} of {}: {e}", table.name())))
    }

    /// The word of an entry that only the host changes; none where it names a program or a map that the device has not.
    pub fn word(&self, module: u8, map: &Placed, key: &[u8], value: &[u8], target: &Target) -> Option<Word> {
        let program = |position: u32| self.program(module).ok()?.1.starts.get(position as usize).copied();
        let inner = |id: u32| {
            let inner = self.placed(module, MapId(id)).ok()??;
            Some(self.engine_map(module, &inner).ok()?.0)
        };
        entry::word(map.spec.kind as u32, (key, value), target, program, inner).ok()
    }

    /// Where a redirect to all entries of a devmap goes.
    pub fn sent_to(&self, module: u8, map: MapId, target: &Target) -> Result<u8, DeviceError> {
        let (_, program) = self.program(module)?;
        let shadow = &self.modules.get(&module).ok_or(DeviceError::NoProgram { module })?.shadow;
        let (mut named, mut key) = (Vec::new(), None);
        while let Ok(Some(next)) = shadow.next_held_key(map, key.as_deref()) {
            let value = shadow.user_lookup(map, &next).unwrap_or_default();
            named.extend(value.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)));
            key = Some(next);
        }
        Ok(sent_to(named, &program.interfaces, target))
    }

    /// Number of a map in the engine, and its row.
    pub fn engine_map(&self, module: u8, map: &Placed) -> Result<(u16, XdpMapRow), DeviceError> {
        let region: XdpRegionRow = self.row(Table::XdpRegion, map.region)?;
        let rows = self.rows.keys().filter(|(table, _)| *table == Table::XdpMap);
        for (_, number) in rows {
            let row: XdpMapRow = self.row(Table::XdpMap, *number)?;
            if row.valid
                && row.module_id == module
                && (row.outside, row.base, row.first) == (region.outside, region.base, map.laid.first())
            {
                return Ok((*number as u16, row));
            }
        }
        Err(DeviceError::Unavailable(format!("map `{}` has no row", map.spec.name)))
    }

    /// The trie of a map as it stands in search memory.
    pub fn trie(&mut self, module: u8, map: MapId) -> Result<&mut Trie, DeviceError> {
        let known = self.modules.get_mut(&module).ok_or(DeviceError::NoProgram { module })?;
        Ok(known.tries.entry(map.0).or_default())
    }

    /// Rows of value memory from a byte of a map's values on, and the byte's place in the first of them.
    pub fn value_rows(
        &self,
        map: &Placed,
        at: u64,
        bytes: usize,
    ) -> Result<(std::ops::Range<u32>, usize), DeviceError> {
        let region: XdpRegionRow = self.row(Table::XdpRegion, map.region + (at / map.laid.row_bytes()) as u32)?;
        let first = u64::from(region.base) * VALUE_PAGE_BYTES + at % map.laid.row_bytes();
        let row = (first / ROW_BYTES as u64) as u32;
        let within = (first % ROW_BYTES as u64) as usize;
        Ok((row..row + (within + bytes).div_ceil(ROW_BYTES) as u32, within))
    }
}
