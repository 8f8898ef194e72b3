//! The XDP engine in its top.

use sluice_ebpf::MapSpec;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::rows::{GenerationRow, SidebandRow, VerdictTraceRow};
use sluice_formats::xdp::codes::{XdpMapOp, XdpStep};
use sluice_formats::xdp::map::{MapPlacement, MapShape};
use sluice_formats::xdp::rows::{
    XdpCodeRow, XdpHostRow, XdpInterfacesRow, XdpPageRow, XdpProgramRow, XdpSearchRow, XdpStepTraceRow, XdpValueRow,
    XdpWarpKeyRow, XdpWarpLeafRow,
};
use sluice_formats::xdp::target::{
    KEY_BYTES, PAGE_ROWS, Target as XdpTarget, WARP_CHUNK_VALUES, WARP_RULES, WARP_STEPS,
};
use sluice_formats::{Message, Node, Op, Status, Table, Target, target};
use sluice_hxdp::rows::{FLAG, Unsupported, code};
use sluice_hxdp::{Compiled, Target as LaneTarget, compile};
use sluice_object::xdp::XdpMapPlace;
use sluice_object::xdp::warp::XdpWarp;
use sluice_rtlsim::plugin::boundary::{Instance, Until};
use sluice_rtlsim::plugin::event::{What, decode};
use sluice_rtlsim::plugin::options::Ready;
use sluice_rtlsim::{Plugin, Variant, top};
use std::collections::BTreeMap;

/// The module that tests are about.
pub const MODULE: u8 = 3;
/// Back edges of a packet.
pub const WORK: u32 = 300;
/// Where the module's pages begin in the region table.
pub const REGIONS: u16 = 5;
/// Destinations that the module may use.
pub const GRANTED: u8 = 0b0011_1101;
/// Interface of each destination.
pub const INTERFACES: [u32; 8] = [1, 2, 77, 0, 5, 6, 7, 8];
/// Where `XDP_PASS` goes.
pub const PASS: u8 = 5;

/// Rows of one program in pages that follow each other, and these pages without their owner.
#[derive(Clone)]
pub struct Rows {
    pub code: Vec<XdpCodeRow>,
    pub pages: Vec<XdpPageRow>,
    pub grows: bool,
    /// Packets of a flow are not executed at the same time.
    pub serial: bool,
    /// A packet may wait for another one with a context: for its turn in their flow, or for a lock.
    pub waits: bool,
    pub frames: u8,
    pub records: u8,
    /// Its table in front of the cores, with the leaves as they are placed.
    pub warp: Option<(XdpWarp, Vec<XdpWarpLeafRow>)>,
}

impl Rows {
    /// The rows of a program in text without maps, whose first one is `start`.
    pub fn compiled(text: &str, start: u16) -> Self {
        let image = super::pair::image(text);
        let compiled =
            compile(&image, &image.programs[0], &LaneTarget::new(2).unwrap()).unwrap_or_else(|e| panic!("{e}"));
        Self::new(&compiled, start, &[], |_| None).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The same without a word of sections: packets of a flow do not wait for each other.
    pub fn new(
        compiled: &Compiled,
        start: u16,
        maps: &[MapSpec],
        map: impl Fn(u32) -> Option<XdpMapPlace>,
    ) -> Result<Self, Unsupported> {
        let mut rows = Self::marked(compiled, None, start, maps, map)?;
        rows.code.iter_mut().flat_map(|row| &mut row.lanes).for_each(|lane| lane.op &= !FLAG);
        Ok(Self { serial: false, ..rows })
    }

    /// The rows of a program whose first one is `start`, the first of a page; and of its table.
    pub fn marked(
        compiled: &Compiled,
        table: Option<&XdpWarp>,
        start: u16,
        maps: &[MapSpec],
        map: impl Fn(u32) -> Option<XdpMapPlace>,
    ) -> Result<Self, Unsupported> {
        let code = code(compiled, maps)?;
        let first = u32::from(start) / PAGE_ROWS as u32;
        let numbers: Vec<u32> = (first..).take(code.pages()).collect();
        let pages = numbers.iter().enumerate().map(|(i, page)| {
            let next = *numbers.get(i + 1).unwrap_or(page) as u8;
            XdpPageRow { valid: true, module_id: 0, next }
        });
        let pages = pages.collect();
        let warp = table.map(|table| {
            let leaves = table.placed(&numbers, &map).expect("every map has its place");
            (table.clone(), leaves)
        });
        Ok(Self {
            warp,
            code: code.placed(&numbers, map).expect("every map has its place"),
            pages,
            grows: code.grows,
            frames: code.frames,
            records: code.records,
            serial: code.serial,
            waits: code.waits,
        })
    }
}

/// An engine of the tiny target, and the random numbers of a test; none where there is no plug-in.
pub fn open_tiny(test: &str) -> Option<(Engine, Rng)> {
    open(&target::TINY, test)
}

/// The same of any target.
pub fn open(target: &'static Target, test: &str) -> Option<(Engine, Rng)> {
    let seed = test_seed(test);
    let there = crate::support::has_top(&top::XDP, target.name, Variant::Test);
    there.then(|| (Engine::open(target, seed), Rng::new(seed)))
}

/// The engine, its ring, and what became of its packets.
pub struct Engine {
    pub nic: Instance,
    pub target: &'static Target,
    sequence: u16,
    /// Packets that left, by ID.
    pub routed: BTreeMap<u32, (SidebandRow, Vec<u8>)>,
    /// IDs of packets in the order in which they left.
    pub order: Vec<u32>,
    /// Verdicts that nobody has taken.
    pub verdicts: Vec<VerdictTraceRow>,
    /// Their ticks.
    pub verdict_ticks: Vec<u64>,
    /// Steps towards what packets share, that nobody has taken.
    pub steps: Vec<(XdpStep, XdpStepTraceRow)>,
    /// Lookups and counts among those that were followed, of packets that no context had.
    pub early: usize,
    /// Tick of the last beat that came in, and of the first beat of the last packet that left.
    pub last_in: u64,
    pub first_out: u64,
    /// Generations of packets by ID, as the stamp gave them.
    pub generations: BTreeMap<u32, bool>,
    /// Rows of the queues that packets without a verdict may take, by ID.
    waiting: BTreeMap<u32, usize>,
}

impl Engine {
    pub fn open(target: &'static Target, seed: u64) -> Self {
        Self::open_variant(target, seed, Variant::Test)
    }

    /// With a plug-in of this kind.
    pub fn open_variant(target: &'static Target, seed: u64, variant: Variant) -> Self {
        let plugin = Plugin::find(&top::XDP, target.name, variant).unwrap_or_else(|e| panic!("{e}"));
        let nic = plugin.open(seed).unwrap_or_else(|e| panic!("{e}"));
        let (routed, generations) = (BTreeMap::new(), BTreeMap::new());
        let (order, verdicts, verdict_ticks) = (Vec::new(), Vec::new(), Vec::new());
        let (last_in, first_out, sequence, waiting) = (0, 0, 0, BTreeMap::new());
        let steps = Vec::new();
        Self {
            nic,
            target,
            sequence,
            routed,
            order,
            verdicts,
            verdict_ticks,
            steps,
            early: 0,
            last_in,
            first_out,
            generations,
            waiting,
        }
    }

    /// Chance of 256 that the output is ready, in bursts, and that the input pauses; 0 for neither.
    pub fn stall(&mut self, ready: u8, gaps: u8) {
        let pattern = if ready == 0 { Ready::Always } else { Ready::Bursts { chance: ready, longest: 30 } };
        self.nic.set_ready(0, pattern).unwrap();
        self.nic.set_gaps(0, gaps).unwrap();
    }

    /// The output takes nothing, until `stall` says otherwise.
    pub fn hold(&mut self) {
        self.nic.set_ready(0, Ready::Never).unwrap();
    }

    /// Writes a row of the engine and waits for the answer.
    pub fn write(&mut self, table: Table, index: u32, row: &impl Row) {
        let (status, _) = self.ask(Op::Write, Node::Xdp, table, index, row.pack().unwrap());
        assert_eq!(status, Status::Ok, "{} {index}", table.name());
    }

    /// The words of a row of the engine.
    pub fn read(&mut self, table: Table, index: u32) -> Vec<u32> {
        let (status, words) = self.ask(Op::Read, Node::Xdp, table, index, Vec::new());
        assert_eq!(status, Status::Ok, "{} {index}", table.name());
        words
    }

    pub fn ask(&mut self, op: Op, node: Node, table: Table, index: u32, data: Vec<u32>) -> (Status, Vec<u32>) {
        self.sequence = self.sequence.wrapping_add(1);
        let (status, sequence) = (Status::Ok, self.sequence);
        let asked = Message { op, status, node: node.number(), sequence, table: table.number(), index, data };
        self.nic.send(&asked.encode(), true);
        let replies = self.run(Until { replies: 1, max_cycles: 150_000, ..Until::default() });
        let [reply] = &replies[..] else { panic!("{} replies", replies.len()) };
        let reply = Message::decode(reply).unwrap();
        assert_eq!(reply.sequence, sequence);
        (reply.status, reply.data)
    }

    /// An operation of the host on a map: error number, slot and 1, chain to go on with.
    pub fn map(&mut self, op: XdpMapOp, map: u16, key: &[u8], value: &[u8], flags: u8, cpu: u8) -> (u8, u32, u32) {
        self.map_from(op, map, key, value, &XdpHostRow { flags, cpu, ..XdpHostRow::default() })
    }

    /// The host writes the value of a slot.
    pub fn put(&mut self, map: u16, slot: u32, value: &[u8]) -> u8 {
        let with = XdpHostRow { chain: slot, ..XdpHostRow::default() };
        self.map_from(XdpMapOp::Put, map, &[], value, &with).0
    }

    fn map_from(&mut self, op: XdpMapOp, map: u16, key: &[u8], value: &[u8], with: &XdpHostRow) -> (u8, u32, u32) {
        for (first, bytes) in [(0, key), (KEY_BYTES as u32 / 32, value)] {
            for (row, chunk) in (first..).zip(bytes.chunks(32)) {
                self.write(Table::XdpHostData, row, &value_row(chunk));
            }
        }
        self.write(Table::XdpHost, 0, &XdpHostRow { op: op.code(), map, ..*with });
        let words = self.read(Table::XdpHost, 0);
        let answer = XdpHostRow::unpack(&words).unwrap();
        (answer.error, answer.slot, answer.chain)
    }

    /// The value that a lookup of the host left.
    pub fn host_value(&mut self, bytes: usize) -> Vec<u8> {
        let rows = (0..bytes.div_ceil(32)).map(|row| (KEY_BYTES / 32 + row) as u32);
        let words: Vec<u32> = rows.flat_map(|row| self.read(Table::XdpHostData, row)).collect();
        words.iter().flat_map(|word| word.to_le_bytes()).take(bytes).collect()
    }

    /// Keys and slots of a map's entries, in the order of its chains.
    pub fn entries(&mut self, map: u16, shape: &MapShape, place: &MapPlacement) -> Vec<(Vec<u8>, u32)> {
        let (mut entries, mut with, mut behind): (Vec<(Vec<u8>, u32)>, _, _) =
            (Vec::new(), XdpHostRow::default(), Vec::new());
        loop {
            let (error, slot, chain) = self.map_from(XdpMapOp::Next, map, &behind, &[], &with);
            match (error, slot.checked_sub(1)) {
                (0, None) => with = XdpHostRow { chain, ..XdpHostRow::default() },
                (0, Some(slot)) => {
                    let rows: Vec<XdpSearchRow> = shape
                        .entry(place, slot)
                        .map(|row| XdpSearchRow::unpack(&self.read(Table::XdpSearch, row)).unwrap())
                        .collect();
                    behind = shape.key(&rows);
                    entries.push((behind.clone(), slot));
                    with = XdpHostRow { key: true, ..XdpHostRow::default() };
                }
                _ => return entries,
            }
        }
    }

    /// Makes a generation the one of new packets, as soon as none of it is under way.
    pub fn commit(&mut self, generation: u8) {
        let row = GenerationRow { current: generation == 1, ..GenerationRow::default() };
        for _ in 0..200 {
            let index = u32::from(MODULE);
            let (status, _) = self.ask(Op::Write, Node::Stamp, Table::Generation, index, row.pack().unwrap());
            if status == Status::Ok {
                return;
            }
            assert_eq!(status, Status::Busy);
            self.run(Until { max_cycles: 500, ..Until::default() });
        }
        panic!("packets of generation {generation} do not end");
    }

    /// Runs, and gives the replies of the ring.
    pub fn run(&mut self, until: Until) -> Vec<Vec<u32>> {
        self.nic.run(&until).unwrap_or_else(|e| panic!("{e}"));
        let mut replies = Vec::new();
        let events = self.nic.take_events().to_vec();
        let mut take = |tick: u64, what: What| match what {
            What::Arrived { .. } => self.last_in = tick,
            What::Reply(words) => replies.push(words),
            What::Merge(row) => {
                self.generations.insert(row.id, row.generation);
            }
            What::Routed { sideband, bytes, first, .. } => {
                self.first_out = first;
                self.order.push(sideband.id);
                assert!(self.routed.insert(sideband.id, (sideband, bytes)).is_none(), "it leaves once");
            }
            What::Step { step, row } => self.steps.push((step, row)),
            What::Verdict(row) => {
                self.waiting.remove(&row.id);
                self.verdicts.push(row);
                self.verdict_ticks.push(tick);
            }
            _ => {}
        };
        decode(&top::XDP, &events, |event| take(event.tick, event.what)).unwrap_or_else(|e| panic!("{e}"));
        replies
    }

    /// Runs until so many packets have their verdicts and what goes on has left. A program may go round silently for long.
    pub fn end(&mut self, packets: usize) {
        let begin = self.nic.cycles();
        let inside = |engine: &Self| engine.verdicts.iter().any(|v| !v.dropped && !engine.routed.contains_key(&v.id));
        while (self.verdicts.len() < packets || inside(self)) && self.nic.cycles() - begin < 5_000_000 {
            self.run(Until { quiet_cycles: 100, max_cycles: 20_000, ..Until::default() });
        }
    }

    /// Runs until nothing is inside.
    pub fn quiesce(&mut self) {
        self.run(Until { quiet_cycles: 600, max_cycles: 100_000, ..Until::default() });
    }

    /// Forgets what has left, so that numbers of packets may come again.
    pub fn forget(&mut self) {
        self.verdicts.clear();
        self.routed.clear();
        self.order.clear();
    }

    /// A program for a module and generation, from the first row of a page on.
    pub fn load(&mut self, module: u8, generation: u8, rows: &Rows, start: u16) {
        for (row, code) in (u32::from(start)..).zip(&rows.code) {
            self.write(Table::XdpCode, row, code);
        }
        for (page, row) in (u32::from(start) / PAGE_ROWS as u32..).zip(&rows.pages) {
            self.write(Table::XdpPage, page, &XdpPageRow { module_id: module, ..*row });
        }
        let index = 2 * u32::from(module) + u32::from(generation);
        self.write(Table::XdpInterfaces, index, &XdpInterfacesRow { ifindex: INTERFACES });
        self.write(Table::XdpProgram, index, &Self::program(rows, start));
        self.load_table(index, rows.warp.as_ref());
    }

    /// A table in front of the cores, or none.
    fn load_table(&mut self, bank: u32, table: Option<&(XdpWarp, Vec<XdpWarpLeafRow>)>) {
        self.write(Table::XdpWarpKey, bank, &XdpWarpKeyRow::default());
        let Some((table, leaves)) = table else { return };
        let xdp = XdpTarget::by_name(self.target.name);
        for (half, row) in (2 * bank..).zip(&table.predicates) {
            self.write(Table::XdpWarpPredicates, half, row);
        }
        for (place, row) in (0..).zip(&table.chunks) {
            let (chunk, value) = (place / WARP_CHUNK_VALUES as u32, place % WARP_CHUNK_VALUES as u32);
            let index = (2 * self.target.modules * chunk + bank) * WARP_CHUNK_VALUES as u32 + value;
            self.write(Table::XdpWarpChunk, index, row);
        }
        let plain = XdpWarpLeafRow::default();
        for rule in 0..xdp.warp_rules {
            let index = bank * WARP_RULES as u32 + rule as u32;
            self.write(Table::XdpWarpLeaf, index, leaves.get(rule).unwrap_or(&plain));
        }
        for (step, row) in (bank * WARP_STEPS as u32..).zip(&table.steps) {
            self.write(Table::XdpWarpStep, step, row);
        }
        self.write(Table::XdpWarpKey, bank, &table.key);
    }

    /// The row of such a program.
    pub fn program(rows: &Rows, start: u16) -> XdpProgramRow {
        XdpProgramRow {
            valid: true,
            start,
            pass_valid: true,
            pass: PASS,
            granted: GRANTED,
            work: WORK,
            grows: rows.grows,
            growth: 0,
            regions: REGIONS,
            writable: 8,
            large_writable: 0,
            read_only: 8,
            large_read_only: 0,
            serial: rows.serial,
            frames: rows.frames,
            records: rows.records,
            waits: rows.waits,
        }
    }

    /// A packet of a module, as soon as the queue has room for it.
    pub fn offer(&mut self, id: u32, module: u8, frame: &[u8]) {
        self.offer_flow(id, module, 0, frame);
    }

    /// The same of a flow with this hash.
    pub fn offer_flow(&mut self, id: u32, module: u8, flow_hash: u32, frame: &[u8]) {
        let rows = frame.len().div_ceil(self.target.bus_bytes as usize);
        let (begin, room) = (self.nic.cycles(), XdpTarget::by_name(self.target.name).queue_rows * 3 / 4);
        while self.waiting.values().sum::<usize>() + rows > room && self.nic.cycles() - begin < 5_000_000 {
            self.run(Until { max_cycles: 100, ..Until::default() });
        }
        self.offer_with(&SidebandRow { flow_hash, ..sideband(id, module, frame.len() as u16) }, frame);
    }

    /// A packet of a module whose sideband says this length.
    pub fn offer_now(&mut self, id: u32, module: u8, length: u16, frame: &[u8]) {
        self.offer_with(&sideband(id, module, length), frame);
    }

    fn offer_with(&mut self, sideband: &SidebandRow, frame: &[u8]) {
        let now = self.nic.now();
        self.waiting.insert(sideband.id, frame.len().div_ceil(self.target.bus_bytes as usize));
        self.nic.offer_with(sideband, now, frame).unwrap();
    }
}

fn sideband(id: u32, module_id: u8, length: u16) -> SidebandRow {
    SidebandRow { id, module_id, length, ..SidebandRow::default() }
}

/// Up to 32 bytes of value memory.
pub fn value_row(bytes: &[u8]) -> XdpValueRow {
    let mut row = [0; 32];
    row[..bytes.len()].copy_from_slice(bytes);
    XdpValueRow { words: [0, 8, 16, 24].map(|at| u64::from_le_bytes(row[at..at + 8].try_into().unwrap())) }
}
