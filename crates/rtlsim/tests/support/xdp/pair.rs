//! The engine and the interpreter with the same program and maps.

use super::engine::{Engine, GRANTED, INTERFACES, MODULE, PASS, REGIONS, Rows, WORK};
use sluice_ebpf::address::MAP_VALUES;
use sluice_ebpf::vm::{Ingress, Installed, Outcome};
use sluice_ebpf::{Image, MapSpec, Packet, Program, Redirect, Runtime, Verdict};
use sluice_formats::limits::{MAX_FRAME_BYTES, packet_id};
use sluice_formats::xdp::rows::{XdpMapRow, XdpRegionRow, XdpValueRow};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_formats::{Reason, Table};
use sluice_hxdp::{Bundles, Target, compile};
use sluice_object::xdp::XdpMapPlace;

/// Number of the first map.
const FIRST_MAP: u16 = 2;
/// Rows of value memory between two maps' first bytes.
const MAP_ROWS: u32 = 128;

/// What has to become of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Dropped(Reason),
    To(u8, Vec<u8>),
}

/// A program on both.
pub struct Pair {
    pub image: Image,
    pub bundles: Bundles,
    runtime: Runtime,
    installed: Installed,
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
        let target = Target::new(lanes).unwrap();
        let compiled = compile(&image, &image.programs[0], &target).unwrap_or_else(|e| panic!("{e}"));
        let mut runtime = Runtime::new(1, 0);
        runtime.work_limit = WORK.into();
        let installed = runtime.install_unchecked(&image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
        let pair =
            Self { image, bundles: compiled.bundles, runtime, installed, packet: Packet::new(&[]), sent: Vec::new() };
        let start = PAGE_ROWS as u16;
        let place = |index: u32| {
            let (first, (_, shift)) = (pair.first(index), Self::size(&pair.image.maps[index as usize]));
            Some(XdpMapPlace { number: index as u16 + FIRST_MAP, first, shift })
        };
        let rows = Rows::new(&pair.bundles, start, &pair.image.maps, place).ok()?;
        if rows.code.len() > 512 {
            return None;
        }
        pair.load_maps(engine);
        engine.load(MODULE, 0, &rows, start);
        Some(pair)
    }

    /// Address of a map's first value.
    fn first(&self, index: u32) -> u32 {
        let map = self.runtime.map(self.installed, index as usize);
        map.and_then(|map| self.runtime.maps.first_value(map)).expect("an array has values")
    }

    fn listing(&self) -> String {
        let program = &self.image.programs[0];
        let bundles = sluice_hxdp::listing::listing(&self.bundles, program, &self.image.maps);
        format!("{}\n{bundles}", sluice_ebpf::insn::listing(program, &self.image.maps))
    }

    /// Runs the interpreter, and gives the packet to the engine.
    pub fn send(&mut self, engine: &mut Engine, port: u8, number: u32, frame: &[u8]) {
        self.packet.set(frame);
        let ingress = Ingress { ifindex: INTERFACES[usize::from(port)], queue: 0 };
        let outcome = self.runtime.run(self.installed, 0, &mut self.packet, ingress);
        let fate = fate(&outcome, self.packet.frame(), port);
        let id = packet_id(port, number);
        engine.offer(id, MODULE, frame);
        self.sent.push((id, frame.to_vec(), fate, outcome));
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
            let found = if verdict.dropped {
                Fate::Dropped(Reason::from_code(verdict.reason).unwrap())
            } else {
                let (sideband, bytes) = engine
                    .routed
                    .remove(&id)
                    .unwrap_or_else(|| panic!("{id:#x} of {} did not leave: {:x?}", verdicts.len(), engine.order));
                assert_eq!(usize::from(sideband.length), bytes.len());
                assert_eq!(verdict.destinations, sideband.destinations);
                passed += 1;
                Fate::To(sideband.destinations, bytes)
            };
            assert_eq!(found, expected, "{}\npacket {frame:02x?}\n{outcome:?}", self.listing());
        }
        assert!(engine.routed.is_empty());
        let order = std::mem::take(&mut engine.order);
        let left = verdicts.iter().filter(|v| !v.dropped).map(|v| v.id);
        assert_eq!(order, left.collect::<Vec<_>>(), "in their order");
        self.compare_maps(engine);
        passed
    }

    /// Bytes of a map's values, and their shift.
    fn size(map: &MapSpec) -> (u32, u8) {
        let shift = map.value_size.max(8).next_power_of_two().trailing_zeros();
        (map.max_entries << shift, shift as u8)
    }

    /// The maps, one behind the other from 4 KiB of value memory on, with what they hold at first.
    fn load_maps(&self, engine: &mut Engine) {
        for (index, map) in (0..).zip(&self.image.maps) {
            let (bytes, shift) = Self::size(map);
            let first = self.first(index);
            let number = u32::from(FIRST_MAP) + index;
            let row = XdpMapRow { valid: true, module_id: MODULE, shift, entries: map.max_entries, first };
            engine.write(Table::XdpMap, number, &row);
            let page = u32::from(REGIONS) + (first - MAP_VALUES) / 0x1_0000;
            let (base, size) = (index as u16 + 1, map.value_size as u16);
            let valid = true;
            let region = XdpRegionRow { valid, module_id: MODULE, base, bytes, shift, readable: size, writable: size };
            engine.write(Table::XdpRegion, page, &region);
            for row in 0..bytes.div_ceil(32) {
                engine.write(Table::XdpValue, (index + 1) * MAP_ROWS + row, &XdpValueRow::default());
            }
        }
    }

    /// A map's bytes in value memory.
    pub fn memory(&self, engine: &mut Engine, index: u32) -> Vec<u8> {
        let (bytes, _) = Self::size(&self.image.maps[index as usize]);
        let rows = (0..bytes.div_ceil(32)).map(|row| (index + 1) * MAP_ROWS + row);
        let words: Vec<u32> = rows.flat_map(|row| engine.read(Table::XdpValue, row)).collect();
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// What is in the maps now.
    fn compare_maps(&self, engine: &mut Engine) {
        for (index, map) in (0..).zip(&self.image.maps) {
            let (_, shift) = Self::size(map);
            let memory = self.memory(engine, index);
            for entry in 0..map.max_entries {
                let (at, size) = ((entry << shift) as usize, map.value_size as usize);
                let address = u64::from(self.first(index)) + at as u64;
                let expected = self.runtime.maps.read(address, size).expect("a value");
                assert_eq!(&memory[at..at + size], expected, "map {index}, entry {entry}\n{}", self.listing());
            }
        }
    }
}

fn fate(outcome: &Outcome, frame: &[u8], port: u8) -> Fate {
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
