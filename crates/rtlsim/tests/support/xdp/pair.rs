//! The engine and the interpreter with the same program and maps.

use super::engine::{Engine, GRANTED, INTERFACES, MODULE, PASS, REGIONS, Rows, WORK, value_row};
use sluice_ebpf::address::{MAP_VALUES, PAGE_BYTES, READ_ONLY};
use sluice_ebpf::helper::fib::rows::{Numbers, entries};
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::insn::{CALL, pseudo};
use sluice_ebpf::tenant::{map_spec, plain_map};
use sluice_ebpf::vm::{Ingress, Installed, Outcome};
use sluice_ebpf::{Fault, Image, Insn, MapId, Packet, Program, Redirect, Runtime, Verdict};
use sluice_formats::limits::{MAX_FRAME_BYTES, packet_id};
use sluice_formats::rows::VerdictTraceRow;
use sluice_formats::xdp::codes::{XdpMapKind, XdpMapOp};
use sluice_formats::xdp::map::{MapPlacement, MapShape};
use sluice_formats::xdp::rows::{XdpMapRow, XdpOutsideRow, XdpRegionRow};
use sluice_formats::xdp::target::{OUTSIDE_SEARCH, PAGE_ROWS, Target as XdpTarget};
use sluice_formats::{Reason, Table};
use sluice_hxdp::warp::encode::encode;
use sluice_hxdp::warp::{Table as WarpTable, warp};
use sluice_hxdp::{Bundles, Target, compile};
use sluice_object::xdp::layout::{OUTSIDE_UNIT_BYTES, shape};
use sluice_object::xdp::{XdpMapPlace, XdpWarpRoom, routes};
use sluice_rtlsim::xdp::trie::Trie;
use std::collections::BTreeMap;

/// Number of the first map: handles are the interpreter's.
const FIRST_MAP: u16 = 0;

/// What of a program is put on the engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Packets of a flow do not wait for each other.
    Plain,
    /// With its sections.
    Marked,
    /// With its sections and its table.
    Warped,
}

/// What becomes of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Dropped(Reason),
    To(u8, Vec<u8>),
}

/// A program on both.
pub struct Pair {
    pub image: Image,
    pub bundles: Bundles,
    /// Its table in front of the cores.
    pub table: Option<WarpTable>,
    pub runtime: Runtime,
    installed: Installed,
    /// Its maps.
    maps: Vec<(MapShape, MapPlacement)>,
    /// Tries as they stand in search memory.
    tries: BTreeMap<usize, Trie>,
    packet: Packet,
    /// What has to become of the packets that were sent: IDs, frames, fates.
    sent: Vec<(u32, Vec<u8>, Fate, Outcome)>,
}

/// A program without maps.
pub fn image(text: &str) -> Image {
    let program = sluice_ebpf::insn::assemble("test", text, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Image { programs: vec![Program { section: "xdp".into(), ..program }], ..Image::default() }
}

impl Pair {
    /// Puts an image's first program on the engine; none where the engine has not what it needs.
    pub fn new(engine: &mut Engine, image: Image) -> Option<Self> {
        Self::with_lanes(engine, image, 2)
    }

    /// The same with bundles of so many lanes.
    pub fn with_lanes(engine: &mut Engine, image: Image, lanes: usize) -> Option<Self> {
        Self::placed(engine, image, lanes, Kind::Plain)
    }

    /// The same with its sections, which packets of a flow pass one after the other.
    pub fn marked(engine: &mut Engine, image: Image) -> Option<Self> {
        Self::placed(engine, image, 2, Kind::Marked)
    }

    /// The same with its sections and its table in front of the cores.
    pub fn warped(engine: &mut Engine, image: Image) -> Option<Self> {
        Self::placed(engine, image, 2, Kind::Warped)
    }

    fn placed(engine: &mut Engine, mut image: Image, lanes: usize, kind: Kind) -> Option<Self> {
        let asks = |insn: &Insn| (insn.op, insn.src) == (CALL, pseudo::HELPER) && routes::CALLS.contains(&insn.imm);
        if image.programs[0].insns.iter().any(asks) {
            image.maps.push(map_spec(&routes::map(XdpTarget::by_name(engine.target.name))).unwrap());
        }
        let target = Target::new(lanes).unwrap();
        let hardware = XdpTarget::by_name(engine.target.name);
        let room = XdpWarpRoom { rules: hardware.warp_rules, steps: hardware.warp_steps };
        let target = target.with_warp(room);
        let mut compiled = compile(&image, &image.programs[0], &target).unwrap_or_else(|e| panic!("{e}"));
        let (mut table, mut encoded) = (None, None);
        if kind == Kind::Warped {
            let warped = warp(&image, 0, &compiled, &target).unwrap_or_else(|e| panic!("{e}"));
            encoded = Some(encode(&warped.table));
            table = Some(warped.table.clone());
            compiled = warped.compiled(&compiled);
        }
        let contexts = hardware.processors() as u32;
        let mut runtime = Runtime::new(contexts, 0);
        runtime.work_limit = WORK.into();
        let installed = runtime.install_unchecked(&image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
        let mut maps = Vec::new();
        // Rows of search memory outside lie behind 64 MiB of values.
        let (mut base, mut far_base, mut search, mut far_search) = (1, 1, 0, OUTSIDE_SEARCH + (64 << 20) / 16);
        for (index, map) in image.maps.iter().enumerate() {
            // Maps of events have no values: they stand behind the others.
            if map.kind.takes_events() {
                continue;
            }
            assert_eq!(maps.len(), index, "maps of events are the last ones");
            let shape = shape(&plain_map(map), hardware)?;
            let first = runtime.map(installed, index).and_then(|map| runtime.maps.values(map)).expect("its values");
            // With external memory all is there that may be, but for what begins with contents.
            let outside = hardware.outside > 0 && shape.may_lie_outside() && map.contents.is_none();
            let seed = 0x1234_5678 + index as u32;
            let at = if outside { far_base } else { base };
            let place = if outside { far_search } else { search };
            let placement = MapPlacement { module: MODULE, first, outside, base: at, search: place, seed };
            match outside {
                true => far_base += shape.value_memory().div_ceil(OUTSIDE_UNIT_BYTES) as u16,
                false => base += shape.value_memory().div_ceil(4096) as u16,
            }
            match outside {
                true => far_search += shape.search_rows(true).next_multiple_of(OUTSIDE_UNIT_BYTES as u32 / 16),
                false => search += shape.search_rows(false),
            }
            maps.push((shape, placement));
        }
        let (bundles, packet) = (compiled.bundles.clone(), Packet::new(&[]));
        let (tries, sent) = (BTreeMap::new(), Vec::new());
        let pair = Self { image, bundles, table, runtime, installed, maps, tries, packet, sent };
        let start = PAGE_ROWS as u16;
        let known = |index: u32| {
            let (shape, placement) = pair.maps.get(index as usize)?;
            let copies = if shape.per_cpu { shape.slots() } else { 0 };
            Some(XdpMapPlace { number: index as u16 + FIRST_MAP, first: placement.first, shift: shape.shift(), copies })
        };
        let maps = &pair.image.maps;
        let rows = match kind {
            Kind::Plain => Rows::new(&compiled, start, maps, known).ok()?,
            Kind::Marked | Kind::Warped => Rows::marked(&compiled, encoded.as_ref(), start, maps, known).ok()?,
        };
        if rows.code.len() > 512 {
            return None;
        }
        pair.load_maps(engine);
        engine.load(MODULE, 0, &rows, start);
        Some(pair)
    }

    pub fn listing(&self) -> String {
        let program = &self.image.programs[0];
        let bundles = sluice_hxdp::listing::listing(&self.bundles, program, &self.image.maps);
        format!("{:?}\n{}\n{bundles}", self.maps, sluice_ebpf::insn::listing(program, &self.image.maps))
    }

    fn execute(&mut self, port: u8, frame: &[u8]) -> (Fate, Outcome) {
        self.packet.set(frame);
        let ingress = Ingress { ifindex: INTERFACES[usize::from(port)], queue: 0 };
        let outcome = self.runtime.run(self.installed, 0, &mut self.packet, ingress);
        (fate(&outcome, self.packet.frame(), port), outcome)
    }

    /// Gives both these routes, unless they have more entries than the engine's map.
    pub fn set_routes(&mut self, engine: &mut Engine, text: &str, numbers: &mut Numbers) -> bool {
        let routes = Routes::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let index = self.image.maps.iter().position(|map| map.name == routes::NAME).expect("a program that asks");
        let all = entries(&routes, numbers).unwrap();
        if all.len() > self.image.maps[index].max_entries as usize {
            return false;
        }
        let map = self.map(index);
        while let Some(key) = self.runtime.maps.next_key(map, None).unwrap() {
            self.host(engine, XdpMapOp::Delete, index, &key, &[], 0);
        }
        for (key, value) in &all {
            self.host(engine, XdpMapOp::Update, index, key, value, 0);
        }
        self.runtime.world.routes = routes;
        true
    }

    /// Runs the interpreter alone.
    pub fn interpret(&mut self, port: u8, frame: &[u8]) -> Fate {
        self.execute(port, frame).0
    }

    /// Runs the interpreter, and gives the packet to the engine.
    pub fn send(&mut self, engine: &mut Engine, port: u8, number: u32, frame: &[u8]) {
        let (fate, outcome) = self.execute(port, frame);
        let id = packet_id(port, number);
        engine.offer(id, MODULE, frame);
        self.sent.push((id, frame.to_vec(), fate, outcome));
    }

    /// Faults of the interpreter, of packets that were not compared.
    pub fn faults(&self) -> u64 {
        self.sent.iter().filter(|(.., outcome)| outcome.fault.is_some()).count() as u64
    }

    /// The fault of the packet that was sent last.
    pub fn last_fault(&self) -> Option<Fault> {
        self.sent.last()?.3.fault.clone()
    }

    /// The frame as the packet that was sent last has to leave.
    pub fn last_left(&self) -> Option<&[u8]> {
        match &self.sent.last()?.2 {
            Fate::To(_, bytes) => Some(bytes),
            Fate::Dropped(_) => None,
        }
    }

    /// Packets that were sent and not compared.
    pub fn waiting(&self) -> usize {
        self.sent.len()
    }

    /// What became of a packet on the engine.
    pub fn found(&self, engine: &mut Engine, verdict: &VerdictTraceRow) -> Fate {
        if verdict.dropped {
            return Fate::Dropped(Reason::from_code(verdict.reason).unwrap());
        }
        let left = engine.routed.remove(&verdict.id);
        let (sideband, bytes) = left.unwrap_or_else(|| panic!("{:#x} did not leave: {:x?}", verdict.id, engine.order));
        assert_eq!(usize::from(sideband.length), bytes.len());
        assert_eq!(verdict.destinations, sideband.destinations);
        Fate::To(sideband.destinations, bytes)
    }

    /// The interpreter's number of a map.
    pub fn map(&self, index: usize) -> MapId {
        self.runtime.map(self.installed, index).expect("a map")
    }

    /// A map's row.
    pub fn row(&self, index: usize) -> XdpMapRow {
        let (shape, placement) = &self.maps[index];
        shape.row(placement)
    }

    /// Contexts of the engine.
    pub fn contexts(&self) -> u32 {
        self.runtime.maps.cpus()
    }

    /// Everything that was sent has to end as the interpreter says, in order. Gives how many packets went on.
    pub fn compare(&mut self, engine: &mut Engine) -> usize {
        engine.end(self.sent.len());
        engine.stall(0, 0);
        engine.quiesce();
        let verdicts = std::mem::take(&mut engine.verdicts);
        assert_eq!(verdicts.len(), self.sent.len(), "{}\nnot every packet ended", self.listing());
        let mut passed = 0;
        for (verdict, (id, frame, expected, outcome)) in verdicts.iter().zip(std::mem::take(&mut self.sent)) {
            assert_eq!(verdict.id, id, "in their order");
            let found = self.found(engine, verdict);
            passed += usize::from(matches!(found, Fate::To(..)));
            assert_eq!(found, expected, "{}\npacket {frame:02x?}\n{outcome:?}", self.listing());
        }
        assert!(engine.routed.is_empty());
        let order = std::mem::take(&mut engine.order);
        let left = verdicts.iter().filter(|v| !v.dropped).map(|v| v.id);
        assert_eq!(order, left.collect::<Vec<_>>(), "in their order");
        self.compare_maps(engine);
        passed
    }

    /// The maps, one behind the other from 4 KiB of value memory on, empty.
    fn load_maps(&self, engine: &mut Engine) {
        for (number, (shape, placement)) in (FIRST_MAP..).zip(&self.maps) {
            let empty = match placement.search.checked_sub(OUTSIDE_SEARCH) {
                Some(row) => {
                    let count = shape.search_rows(true).div_ceil(OUTSIDE_UNIT_BYTES as u32 / 16);
                    let unit = row / (OUTSIDE_UNIT_BYTES as u32 / 16);
                    engine.write(Table::XdpOutside, unit, &XdpOutsideRow { count, ..XdpOutsideRow::default() });
                    shape.first_rows()
                }
                None => shape.empty(),
            };
            for (row, empty) in (placement.search..).zip(empty) {
                engine.write(Table::XdpSearch, row, &empty);
            }
            let bytes = shape.value_memory() as u32;
            let contents = self.image.maps[usize::from(number - FIRST_MAP)].contents.clone().unwrap_or_default();
            let mut begins = contents.chunks(32);
            if placement.outside {
                let units = bytes.div_ceil(OUTSIDE_UNIT_BYTES as u32);
                let row = XdpOutsideRow { count: units, ..XdpOutsideRow::default() };
                engine.write(Table::XdpOutside, placement.base.into(), &row);
            }
            for row in 0..if placement.outside { 0 } else { bytes.div_ceil(32) } {
                let value = value_row(begins.next().unwrap_or_default());
                engine.write(Table::XdpValue, u32::from(placement.base) * 128 + row, &value);
            }
            engine.write(Table::XdpMap, number.into(), &shape.row(placement));
            let devices = matches!(shape.kind, XdpMapKind::Devices | XdpMapKind::KeyedReferences);
            let size = shape.value_bytes as u16;
            let writable = if devices || shape.constant { 0 } else { size };
            let page = match placement.first.checked_sub(READ_ONLY) {
                Some(above) => u32::from(REGIONS) + 8 + above / PAGE_BYTES,
                None => u32::from(REGIONS) + (placement.first - MAP_VALUES) / PAGE_BYTES,
            };
            let (valid, outside, base, shift) = (true, placement.outside, placement.base, shape.shift());
            let lock = shape.lock_word();
            let bytes = shape.all_values() as u32;
            let region =
                XdpRegionRow { valid, module_id: MODULE, outside, base, bytes, shift, readable: size, writable, lock };
            engine.write(Table::XdpRegion, page, &region);
        }
    }

    /// What the host does with a map, on both; the error numbers have to be the same.
    pub fn host(&mut self, engine: &mut Engine, op: XdpMapOp, index: usize, key: &[u8], value: &[u8], flags: u8) -> u8 {
        let number = index as u16 + FIRST_MAP;
        let map = self.runtime.map(self.installed, index).expect("a map");
        let maps = &mut self.runtime.maps;
        let size = value.len().next_multiple_of(8);
        let copies = if self.maps[index].0.per_cpu { self.maps[index].0.contexts } else { 1 };
        let mut expected_value = None;
        let expected = match op {
            XdpMapOp::Update => {
                // The same value for all processors.
                let padded = [value, &vec![0; size - value.len()]].concat();
                let all = if copies > 1 { padded.repeat(copies as usize) } else { value.to_vec() };
                maps.user_update(map, key, &all, flags.into())
            }
            XdpMapOp::Delete => maps.user_delete(map, key),
            XdpMapOp::Push => maps.user_update(map, key, value, flags.into()),
            XdpMapOp::Pop => maps.user_pop(map).map(|element| expected_value = Some(element)),
            XdpMapOp::Peek => maps.user_lookup(map, key).map(|element| expected_value = Some(element)),
            _ => maps.user_lookup(map, key).map(drop),
        };
        let expected = expected.map_or_else(|e| (-(e.result() as i64)) as u8, |()| 0);
        if self.maps[index].0.kind == XdpMapKind::Trie && op != XdpMapOp::Lookup {
            if expected == 0 {
                self.keep_trie(engine, index, key, value);
            }
            return expected;
        }
        let (mut error, ..) = engine.map(op, number, key, value, flags, 0);
        if op == XdpMapOp::Update && error == 0 {
            for cpu in 1..copies {
                error |= engine.map(op, number, key, value, 3 * u8::from(self.maps[index].0.searched()), cpu as u8).0;
            }
        }
        if let Some(element) = expected_value {
            assert_eq!(engine.host_value(element.len()), element, "{op:?} of map {index}");
        }
        assert_eq!(error, expected, "{op:?} of map {index}, key {key:02x?}, flags {flags}");
        error
    }

    /// A trie is the host's: the value first, then what leads to it.
    fn keep_trie(&mut self, engine: &mut Engine, index: usize, key: &[u8], value: &[u8]) {
        let (shape, placement) = self.maps[index];
        let map = self.runtime.map(self.installed, index).expect("a map");
        let nodes = self.runtime.maps.trie(map).expect("a trie");
        if let Some(slot) = self.runtime.maps.trie_slot(map, key).filter(|_| !value.is_empty()) {
            assert_eq!(engine.put(index as u16 + FIRST_MAP, slot, value), 0);
        }
        for (row, words) in self.tries.entry(index).or_default().becomes(nodes, &shape, &placement) {
            engine.write(Table::XdpSearch, row, &words);
        }
    }

    /// A map's bytes in value memory.
    pub fn memory(&self, engine: &mut Engine, index: u32) -> Vec<u8> {
        let (shape, placement) = &self.maps[index as usize];
        let rows = (0..shape.value_memory().div_ceil(32) as u32).map(|row| u32::from(placement.base) * 128 + row);
        let words: Vec<u32> = rows.flat_map(|row| engine.read(Table::XdpValue, row)).collect();
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// What is in the maps now: every byte of every slot, and the entries.
    pub fn compare_maps(&self, engine: &mut Engine) {
        for (index, (shape, placement)) in self.maps.iter().enumerate() {
            let memory = if placement.outside { Vec::new() } else { self.memory(engine, index as u32) };
            for slot in 0..shape.slots() * shape.copies() {
                let (at, size) = ((slot << shape.shift()) as usize, shape.value_bytes as usize);
                let address = u64::from(placement.first) + at as u64;
                let expected = self.runtime.maps.read(address, size).expect("a value");
                if !placement.outside {
                    assert_eq!(&memory[at..at + size], expected, "map {index}, slot {slot}\n{}", self.listing());
                } else if shape.kind == XdpMapKind::Array {
                    // The host reaches external memory by operations alone.
                    let (key, cpu) = ((slot % shape.slots()).to_le_bytes(), (slot / shape.slots()) as u8);
                    let found = engine.map(XdpMapOp::Lookup, index as u16 + FIRST_MAP, &key, &[], 0, cpu);
                    assert_eq!(found.0, 0);
                    let value = engine.host_value(size);
                    assert_eq!(value, expected, "map {index}, slot {slot}, outside\n{}", self.listing());
                }
            }
            let map = self.runtime.map(self.installed, index).expect("a map");
            if shape.kind.is_queue() {
                let words = engine.read(Table::XdpSearch, placement.search);
                let slots = (0..words[0]).map(|behind| (words[3] + behind) % shape.entries);
                let element =
                    |slot: u32| memory[(slot << shape.shift()) as usize..][..shape.value_bytes as usize].to_vec();
                let found: Vec<Vec<u8>> = slots.map(element).collect();
                assert_eq!(words[1], (words[3] + words[0]) % shape.entries, "map {index}: where the next one goes");
                let expected = self.runtime.maps.elements(map).expect("elements");
                assert_eq!(found, expected, "map {index}\n{}", self.listing());
            }
            if shape.kind != XdpMapKind::Hash {
                continue;
            }
            let (mut key, mut expected) = (None::<Vec<u8>>, BTreeMap::new());
            while let Ok(Some(next)) = self.runtime.maps.next_key(map, key.as_deref()) {
                expected.insert(next.clone(), self.runtime.maps.user_lookup(map, &next).expect("an entry"));
                key = Some(next);
            }
            assert_eq!(self.entries(engine, index), expected, "map {index}\n{}", self.listing());
        }
    }

    /// Entries of a map with keys, each with the values of all processors.
    pub fn entries(&self, engine: &mut Engine, index: usize) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let ((shape, placement), number) = (&self.maps[index], index as u16 + FIRST_MAP);
        let mut found = BTreeMap::new();
        for (key, slot) in engine.entries(number, shape, placement) {
            let (error, same, _) = engine.map(XdpMapOp::Lookup, number, &key, &[], 0, 0);
            assert_eq!((error, same), (0, slot + 1), "map {index}, {key:02x?}");
            let mut value = Vec::new();
            for copy in 0..shape.copies() {
                engine.map(XdpMapOp::Lookup, number, &key, &[], 0, copy as u8);
                value.extend(engine.host_value(shape.value_bytes as usize));
                value.resize(if shape.per_cpu { value.len().next_multiple_of(8) } else { value.len() }, 0);
            }
            assert!(found.insert(key, value).is_none(), "an entry once");
        }
        found
    }
}

pub fn fate(outcome: &Outcome, frame: &[u8], port: u8) -> Fate {
    let granted = |mask: u8| match mask & GRANTED {
        0 => Fate::Dropped(Reason::NoDestination),
        _ if frame.len() > MAX_FRAME_BYTES as usize => Fate::Dropped(Reason::XdpTooLong),
        mask => Fate::To(mask, frame.to_vec()),
    };
    match outcome.verdict {
        Verdict::Aborted => Fate::Dropped(Reason::XdpAborted),
        Verdict::Drop => Fate::Dropped(Reason::XdpDrop),
        Verdict::Pass => granted(1 << PASS),
        Verdict::Tx => granted(1 << port),
        Verdict::Redirect => match outcome.redirect {
            Some(Redirect::Interface(ifindex)) if ifindex != 0 => {
                granted(INTERFACES.iter().position(|i| *i == ifindex).map_or(0, |d| 1 << d))
            }
            _ => Fate::Dropped(Reason::NoDestination),
        },
    }
}
