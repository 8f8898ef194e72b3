//! The XDP engine in RTL does what the interpreter does: random programs and packets, several packets under way.

mod support;

#[path = "../../ebpf/tests/analysis_support/packets.rs"]
#[allow(dead_code)]
mod packets;
#[path = "../../ebpf/tests/analysis_support/programs.rs"]
#[allow(dead_code)]
mod programs;

use sluice_ebpf::vm::{Ingress, Outcome};
use sluice_ebpf::address::MAP_VALUES;
use sluice_ebpf::{Image, MapSpec, MapType, Packet, Runtime, Verdict};
use sluice_formats::limits::packet_id;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::rows::{SidebandRow, VerdictTraceRow};
use sluice_formats::xdp::rows::{
    XdpInterfacesRow, XdpMapRow, XdpPageRow, XdpProgramRow, XdpRegionRow, XdpValueRow,
};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_formats::{Message, Node, Op, Reason, Status, Table, Target, target};
use sluice_hxdp::rows::{MapPlace, Rows, rows};
use sluice_rtlsim::event::{What, decode};
use sluice_rtlsim::plugin::{Instance, Until};
use sluice_rtlsim::{Plugin, Variant, top};
use std::collections::BTreeMap;

const MODULE: u8 = 3;
const WORK: u32 = 300;
/// Where the module's pages begin in the region table.
const REGIONS: u32 = 5;
/// Destinations that the module may use.
const GRANTED: u8 = 0b0011_1101;
/// Interface of each destination.
const INTERFACES: [u32; 8] = [1, 2, 77, 0, 5, 6, 7, 8];

/// The engine in its top.
struct Engine {
    nic: Instance,
    target: &'static Target,
    sequence: u16,
    /// Packets that left, by ID.
    routed: BTreeMap<u32, (SidebandRow, Vec<u8>)>,
    verdicts: Vec<VerdictTraceRow>,
    order: Vec<u32>,
}

impl Engine {
    fn open(target: &'static Target, seed: u64) -> Self {
        let plugin = Plugin::find(&top::XDP, target.name, Variant::Test).unwrap_or_else(|e| panic!("{e}"));
        let nic = plugin.open(seed).unwrap_or_else(|e| panic!("{e}"));
        Self { nic, target, sequence: 0, routed: BTreeMap::new(), verdicts: Vec::new(), order: Vec::new() }
    }

    /// Writes a row and waits for the answer.
    fn write(&mut self, table: Table, index: u32, row: &impl Row) {
        self.ask(Op::Write, table, index, row.pack().unwrap());
    }

    /// The words of a row.
    fn read(&mut self, table: Table, index: u32) -> Vec<u32> {
        self.ask(Op::Read, table, index, Vec::new())
    }

    fn ask(&mut self, op: Op, table: Table, index: u32, data: Vec<u32>) -> Vec<u32> {
        self.sequence = self.sequence.wrapping_add(1);
        let asked = Message {
            op,
            status: Status::Ok,
            node: Node::Xdp.number(),
            sequence: self.sequence,
            table: table.number(),
            index,
            data,
        };
        self.nic.send(&asked.encode(), true);
        let replies = self.run(Until { replies: 1, max_cycles: 5000, ..Until::default() });
        let [reply] = &replies[..] else { panic!("{} replies", replies.len()) };
        let reply = Message::decode(reply).unwrap();
        assert_eq!((reply.sequence, reply.status), (self.sequence, Status::Ok), "{}", table.name());
        reply.data
    }

    /// Gives the replies of the ring.
    fn run(&mut self, until: Until) -> Vec<Vec<u32>> {
        self.nic.run(&until).unwrap_or_else(|e| panic!("{e}"));
        let mut replies = Vec::new();
        let (routed, verdicts, order) = (&mut self.routed, &mut self.verdicts, &mut self.order);
        let events = self.nic.take_events().to_vec();
        decode(&top::XDP, &events, |event| { if std::env::var_os("DEBUG_EVENTS").is_some() { println!("{event:?}"); } match event.what {
            What::Reply(words) => replies.push(words),
            What::Routed { sideband, bytes, .. } => {
                order.push(sideband.id);
                assert!(routed.insert(sideband.id, (sideband, bytes)).is_none());
            }
            What::Verdict(row) => verdicts.push(row),
            _ => {}
        } })
        .unwrap_or_else(|e| panic!("{e}"));
        replies
    }

    fn load(&mut self, rows: &Rows, start: u16) {
        for (row, code) in (u32::from(start)..).zip(&rows.code) {
            self.write(Table::XdpCode, row, code);
        }
        for (page, row) in (u32::from(start) / PAGE_ROWS as u32..).zip(&rows.pages) {
            self.write(Table::XdpPage, page, &XdpPageRow { module_id: MODULE, ..*row });
        }
        self.write(Table::XdpInterfaces, 2 * u32::from(MODULE), &XdpInterfacesRow { ifindex: INTERFACES });
        let program = XdpProgramRow {
            valid: true,
            start,
            pass_valid: true,
            pass: 5,
            granted: GRANTED,
            work: WORK,
            grows: rows.grows,
            regions: REGIONS as u16,
            writable: 8,
            read_only: 0,
        };
        self.write(Table::XdpProgram, 2 * u32::from(MODULE), &program);
    }
}

impl Engine {
    /// Runs until so many packets have their verdicts. A program may go round silently for long.
    fn end(&mut self, packets: usize) {
        let begin = self.nic.cycles();
        while self.verdicts.len() < packets && self.nic.cycles() - begin < 5_000_000 {
            self.run(Until { quiet_cycles: 100, max_cycles: 20_000, ..Until::default() });
        }
    }

    /// Bytes of a map's values, and their shift.
    fn size(map: &MapSpec) -> (u32, u8) {
        let shift = map.value_size.max(8).next_power_of_two().trailing_zeros();
        (map.max_entries << shift, shift as u8)
    }

    /// The maps of an image, one behind the other from 4 KiB of value memory on, all zero.
    fn load_maps(&mut self, image: &Image, first: &dyn Fn(u32) -> u32) {
        for (index, map) in (0..).zip(&image.maps) {
            let (bytes, shift) = Self::size(map);
            let first = first(index);
            let row =
                XdpMapRow { valid: true, module_id: MODULE, shift, entries: map.max_entries, first };
            self.write(Table::XdpMap, index + 2, &row);
            let page = (first - MAP_VALUES) >> 16;
            let size = map.value_size as u16;
            let region = XdpRegionRow {
                valid: true,
                module_id: MODULE,
                base: index as u16 + 1,
                bytes,
                shift,
                readable: size,
                writable: size,
            };
            self.write(Table::XdpRegion, REGIONS + page, &region);
            for row in 0..bytes.div_ceil(32) {
                self.write(Table::XdpValue, (index + 1) * 128 + row, &XdpValueRow::default());
            }
        }
    }

    /// What is in the maps now.
    fn compare_maps(&mut self, image: &Image, read: &dyn Fn(u64, usize) -> Vec<u8>, first: &dyn Fn(u32) -> u32) {
        for (index, map) in (0..).zip(&image.maps) {
            let (bytes, shift) = Self::size(map);
            let mut memory = Vec::new();
            for row in 0..bytes.div_ceil(32) {
                memory.extend(self.read(Table::XdpValue, (index + 1) * 128 + row).iter().flat_map(|w| w.to_le_bytes()));
            }
            for entry in 0..map.max_entries {
                let (at, size) = ((entry << shift) as usize, map.value_size as usize);
                let expected = read(u64::from(first(index)) + at as u64, size);
                assert_eq!(memory[at..at + size], expected, "map {index}, entry {entry}");
            }
        }
    }
}

/// The program shows all its registers in the packet, where that is long enough, and lets it go on.
fn showing(mut image: Image, verdict: i32) -> Option<Image> {
    image.maps.iter_mut().for_each(|map| map.kind = MapType::Array);
    let program = &mut image.programs[0];
    if program.insns.iter().any(|i| (i.op, i.src) == (0x85, 1) || (i.op, i.src) == (0x18, 4)) {
        return None;
    }
    // Nobody calls the others.
    let end = program.functions.get(1).map_or(program.insns.len(), |f| f.start as usize);
    program.insns.truncate(end - 1);
    program.functions.truncate(1);
    let text = format!(
        "*(u64 *)(r10 -72) = r1\n*(u64 *)(r10 -80) = r2\n*(u64 *)(r10 -88) = r3\nr1 = 0x10000000\n\
         r2 = *(u32 *)(r1 +0)\nr1 = *(u32 *)(r1 +4)\nr3 = r2\nr3 += 80\nif r3 > r1 goto end\n\
         *(u64 *)(r2 +0) = r0\n*(u64 *)(r2 +8) = r4\n*(u64 *)(r2 +16) = r5\n*(u64 *)(r2 +24) = r6\n\
         *(u64 *)(r2 +32) = r7\n*(u64 *)(r2 +40) = r8\n*(u64 *)(r2 +48) = r9\nr3 = *(u64 *)(r10 -72)\n\
         *(u64 *)(r2 +56) = r3\nr3 = *(u64 *)(r10 -80)\n*(u64 *)(r2 +64) = r3\nr3 = *(u64 *)(r10 -88)\n\
         *(u64 *)(r2 +72) = r3\nend:\nr0 = {verdict}\nexit\n"
    );
    let shown = sluice_ebpf::insn::assemble("shown", &text, &[]).unwrap_or_else(|e| panic!("{e}")).insns;
    program.insns.extend(shown);
    Some(image)
}

/// What has to become of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expected {
    Dropped(Reason),
    To(u8, Vec<u8>),
}

fn expected(outcome: &Outcome, frame: &[u8], port: u8) -> Expected {
    let granted = |mask: u8| match mask & GRANTED {
        0 => Expected::Dropped(Reason::NoDestination),
        mask => Expected::To(mask, frame.to_vec()),
    };
    match outcome.verdict {
        Verdict::Aborted => Expected::Dropped(Reason::XdpAborted),
        Verdict::Drop => Expected::Dropped(Reason::XdpDrop),
        Verdict::Pass => granted(1 << 5),
        Verdict::Tx => granted(1 << port),
        Verdict::Redirect => match outcome.redirect {
            Some(sluice_ebpf::Redirect::Interface(ifindex)) if ifindex != 0 => {
                let to = INTERFACES.iter().position(|i| *i == ifindex);
                granted(to.map_or(0, |d| 1 << d))
            }
            _ => Expected::Dropped(Reason::NoDestination),
        },
    }
}

/// Runs an image's first program on random packets; gives how many went on, or nothing where hardware cannot run it.
fn run(engine: &mut Engine, image: &Image, rng: &mut Rng, packets: usize, first: u32) -> Option<usize> {
    let target = sluice_hxdp::Target::new(2).unwrap();
    let compiled = sluice_hxdp::compile(image, &image.programs[0], &target).unwrap_or_else(|e| panic!("{e}"));
    let start = PAGE_ROWS as u16;
    let mut runtime = Runtime::new(1, 0);
    runtime.work_limit = WORK.into();
    let installed = runtime.install_unchecked(image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
    let place = |index: u32| {
        let first = runtime.maps.first_value(runtime.map(installed, index as usize)?)?;
        Some(MapPlace { number: index as u16 + 2, first })
    };
    let rows = rows(&compiled.bundles, start, &place).ok()?;
    if rows.code.len() > 512 {
        return None;
    }
    let uses_maps = image.programs[0].insns.iter().any(|i| i.op == 0x18 && i.src != 0);
    engine.load_maps(image, &|index| place(index).unwrap().first);
    let listing = sluice_ebpf::insn::listing(&image.programs[0], &image.maps);
    engine.load(&rows, start);
    let mut sent = Vec::new();
    let mut packet = Packet::new(&[]);
    for n in 0..packets as u32 {
        let port = rng.below(engine.target.ports.into()) as u8;
        let frame = packets::frame(rng);
        packet.set(&frame);
        let ingress = Ingress { ifindex: INTERFACES[usize::from(port)], queue: 0 };
        let outcome = runtime.run(installed, 0, &mut packet, ingress);
        let id = packet_id(port, first + n);
        let sideband = SidebandRow { id, module_id: MODULE, length: frame.len() as u16, ..SidebandRow::default() };
        let now = engine.nic.now();
        engine.nic.offer_with(&sideband, now, &frame).unwrap();
        if uses_maps {
            // One after the other: in which order several reach the maps is not told yet.
            engine.end(sent.len() + 1);
        }
        sent.push((id, frame, expected(&outcome, packet.frame(), port), outcome));
    }
    engine.end(packets);
    engine.run(Until { quiet_cycles: 600, max_cycles: 20_000, ..Until::default() });
    let verdicts = std::mem::take(&mut engine.verdicts);
    let mut passed = 0;
    assert_eq!(verdicts.len(), sent.len(), "{listing}\nnot every packet ended");
    for (verdict, (id, frame, expected, outcome)) in verdicts.iter().zip(&sent) {
        assert_eq!(verdict.id, *id, "in their order");
        let found = if verdict.dropped {
            Expected::Dropped(Reason::from_code(verdict.reason).unwrap())
        } else {
            let (sideband, bytes) = engine.routed.remove(id).expect("it left");
            passed += 1;
            Expected::To(sideband.destinations, bytes)
        };
        assert_eq!(found, *expected, "{listing}\n{}\npacket {frame:02x?}\n{outcome:?}", sluice_hxdp::listing::listing(&compiled.bundles, &image.programs[0], &image.maps));
    }
    assert!(engine.routed.is_empty());
    if uses_maps {
        engine.compare_maps(image, &|address, bytes| runtime.maps.read(address, bytes).unwrap().to_vec(), &|index| {
            runtime.maps.first_value(runtime.map(installed, index as usize).unwrap()).unwrap()
        });
    }
    Some(passed)
}

#[test]
fn random_programs_do_the_same() {
    let target = &target::TINY;
    if !support::has_top(&top::XDP, target.name, Variant::Test) {
        return;
    }
    let seed = test_seed("xdp_core");
    let mut rng = Rng::new(seed);
    let mut engine = Engine::open(target, seed);
    let (mut ran, mut passed, mut first) = (0, 0, 0);
    let wanted = if support::long() { 20_000 } else { 150 };
    while ran < wanted {
        let statements = 1 + rng.below(40) as u32;
        let Some(image) = showing(programs::random(&mut rng, statements), 2 + rng.below(2) as i32) else { continue };
        let packets = 8;
        if let Some(on) = run(&mut engine, &image, &mut rng, packets, first) {
            ran += 1;
            passed += on;
            first += packets as u32;
        }
    }
    println!("{ran} programs, {} packets, {passed} went on", 8 * ran);
    assert!(passed > 0);
}
