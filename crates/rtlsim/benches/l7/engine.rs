//! The l7 engine on its own top: rules of tenants in, packets in at their ticks, decisions with their ticks out.

use sluice_formats::l7::rows::{L7QuotaRow, L7TraceRow};
use sluice_formats::l7::target::{DEFAULT, TINY, Target};
use sluice_formats::row::Row;
use sluice_formats::rows::SidebandRow;
use sluice_formats::{Message, Node, Op, Status, Table};
use sluice_l7::placed::Placed;
use sluice_rtlsim::plugin::boundary::{Instance, Plugin, Until};
use sluice_rtlsim::plugin::event::{What, decode};
use sluice_rtlsim::{locate, top};
use std::path::PathBuf;

/// Cycles of a second.
pub const CLOCK: f64 = 250e6;
/// Cycles in which something has to happen while packets wait.
const PATIENCE: u32 = 20_000;

/// The target `default` with the longest compares, the most alternatives and the largest view.
static WIDE: Target = Target { compare_bytes: 32, alternatives: 8, view_segments: 24, ..DEFAULT };
const WIDE_SETTINGS: [&str; 3] =
    ["SLUICE_L7_COMPARE_BYTES=32", "SLUICE_L7_ALTERNATIVES=8", "SLUICE_L7_VIEW_SEGMENTS=24"];

/// Which plug-in: of the target `default` with so many matchers, or another target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Target `default`.
    Matchers(usize),
    /// [`WIDE`] with so many.
    Wide(usize),
    /// Target `tiny`.
    Tiny,
}

impl Build {
    /// Its target.
    pub fn target(self) -> &'static Target {
        match self {
            Self::Matchers(_) => &DEFAULT,
            Self::Wide(_) => &WIDE,
            Self::Tiny => &TINY,
        }
    }

    /// What it is built with, beside its target.
    fn settings(self) -> Vec<String> {
        let matchers = match self {
            Self::Matchers(matchers) | Self::Wide(matchers) => matchers,
            Self::Tiny => TINY.matchers,
        };
        let other = (matchers != self.target().matchers).then(|| format!("Matchers={matchers}"));
        let wide = if matches!(self, Self::Wide(_)) { &WIDE_SETTINGS[..] } else { &[] };
        other.into_iter().chain(wide.iter().map(|&setting| setting.to_owned())).collect()
    }

    /// Where it lies.
    pub fn find(self) -> Option<PathBuf> {
        let config = top::L7.config(self.target().name);
        let settings = self.settings();
        if settings.is_empty() {
            return locate::find(&config, super::VARIANT).ok();
        }
        let folder = settings.join("+").replace('=', "-");
        let name = locate::file_name(&config, super::VARIANT);
        locate::directories().iter().map(|at| at.join(&folder).join(&name)).find(|path| path.is_file())
    }

    /// How to build it.
    pub fn recipe(self) -> String {
        let set: String = self.settings().iter().map(|setting| format!(" --set {setting}")).collect();
        format!("tools/plugin.py --variant bench{set} l7_{}", self.target().name)
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    /// The engine's row.
    pub row: L7TraceRow,
    /// Tick of that.
    pub at: u64,
}

/// An engine with rules.
pub struct Engine {
    rtl: Instance,
    sequence: u16,
    /// Ticks of the first beats at the top, in the order of the packets.
    pub came: Vec<u64>,
    /// By packet.
    pub decided: Vec<Option<Decided>>,
    /// Packets that have been decided.
    pub done: usize,
}

impl Engine {
    /// Opens a plug-in and writes the rows of all modules, each with the quota of all messages.
    pub fn open(build: Build, seed: u64, placed: &Placed) -> Self {
        let path = build.find().unwrap_or_else(|| panic!("no plug-in {build:?}: {}", build.recipe()));
        let rtl = Plugin::load(&top::L7, &path).and_then(|plugin| plugin.open(seed)).unwrap_or_else(|e| panic!("{e}"));
        let mut engine = Self { rtl, sequence: 0, came: Vec::new(), decided: Vec::new(), done: 0 };
        let shape = build.target().match_shape();
        for (index, row) in (0..).zip(&placed.tables.rows) {
            engine.write_words(Table::L7Match, index, row.pack_as(shape).expect("a row packs"));
        }
        engine.write(Table::L7Start, &placed.tables.starts);
        engine.write(Table::L7Group, &placed.tables.groups);
        let quota = L7QuotaRow { messages: build.target().messages as u16 };
        engine.write(Table::L7Quota, &vec![quota; build.target().modules]);
        // Ports last: nothing comes to rules that are not there.
        engine.write(Table::L7Port, &placed.ports);
        engine
    }

    /// Writes rows of a table from the first one on.
    pub fn write(&mut self, table: Table, rows: &[impl Row]) {
        self.write_from(table, 0, rows);
    }

    /// Writes rows of a table from an index on.
    pub fn write_from(&mut self, table: Table, first: u32, rows: &[impl Row]) {
        for (index, row) in (first..).zip(rows) {
            self.write_words(table, index, row.pack().expect("a row packs"));
        }
    }

    fn write_words(&mut self, table: Table, index: u32, data: Vec<u32>) {
        self.sequence = self.sequence.wrapping_add(1);
        let (node, status, sequence) = (Node::L7.number(), Status::Ok, self.sequence);
        let message = Message { op: Op::Write, status, node, sequence, table: table.number(), index, data };
        self.rtl.send(&message.encode(), true);
        self.rtl.run(&Until { replies: 1, max_cycles: 50_000, ..Until::default() }).expect("it runs");
        let mut answer = None;
        let events = self.rtl.take_events().to_vec();
        decode(&top::L7, &events, |event| {
            if let What::Reply(words) = event.what {
                answer = Message::decode(&words).ok();
            }
        })
        .expect("events decode");
        assert_eq!(answer.map(|answer| answer.status), Some(Status::Ok), "{} {index}", table.name());
    }

    /// Tick of the next cycle.
    pub fn now(&self) -> u64 {
        self.rtl.now()
    }

    /// Queues a packet of a module, not before a tick.
    pub fn offer(&mut self, module: u8, at: u64, frame: &[u8]) {
        let id = self.decided.len() as u32;
        let length = frame.len() as u16;
        let sideband = SidebandRow { id, module_id: module, length, ..SidebandRow::default() };
        self.rtl.offer_with(&sideband, at, frame).expect("it is taken");
        self.decided.push(None);
    }

    /// Runs so many cycles.
    pub fn run(&mut self, cycles: u64) {
        self.until(&Until { max_cycles: cycles, ..Until::default() });
    }

    /// Runs until all packets are decided.
    pub fn settle(&mut self) {
        while self.done < self.decided.len() {
            let before = (self.done, self.came.len());
            self.until(&Until { quiet_cycles: PATIENCE, max_cycles: u64::from(PATIENCE), ..Until::default() });
            assert_ne!(before, (self.done, self.came.len()), "the engine stands still");
        }
    }

    fn until(&mut self, until: &Until) {
        self.rtl.run(until).expect("it runs");
        let (came, decided, done) = (&mut self.came, &mut self.decided, &mut self.done);
        decode(&top::L7, self.rtl.take_events(), |event| match event.what {
            What::Arrived { first, .. } => came.push(first),
            What::Dispatched(row) => {
                let place = &mut decided[row.id as usize];
                assert!(place.is_none(), "decided twice: {row:?}");
                *place = Some(Decided { row, at: event.tick });
                *done += 1;
            }
            _ => {}
        })
        .expect("events decode");
    }

    /// The packet's decision, and cycles from its first beat at the engine, which is a cycle behind the top's entrance.
    pub fn latency(&self, packet: usize) -> u64 {
        self.decided[packet].expect("it is decided").at - (self.came[packet] + 1)
    }
}
