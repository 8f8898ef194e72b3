//! The RTL as a device: packets and configuration go in and out while the caller advances time.

pub mod config_driver;
pub(crate) mod events;
pub mod idle;
pub(crate) mod maps;
pub mod requester;
pub(crate) mod rings;
pub mod row_write;
pub mod snapshot_read;
pub mod track;
pub(crate) mod turns;

use crate::device::config_driver::{ConfigDriver, Done, RowWrite};
use crate::device::events::HostEvents;
use crate::device::idle::Idle;
use crate::device::requester::{Answer, RequestId, RequesterCounts};
use crate::device::snapshot_read::SnapshotCounters;
use crate::device::track::Tracker;
use crate::device::turns::Turns;
use crate::lockstep::recount::Recount;
use crate::plugin::around::Around;
use crate::plugin::boundary::{Instance, Plugin, Stop, Until};
use crate::plugin::error::RtlError;
use crate::plugin::event::{self, RtlEvent, What};
use crate::plugin::fault::{FaultCounts, FaultInjector, Transmission};
use crate::plugin::locate::Variant;
use crate::plugin::options::{Ready, RtlOptions, Stalls};
use crate::xdp::host_maps::HostMaps;
use sluice_device::device::{check_destination, check_engines, check_load, check_offer};
use sluice_device::{
    Capabilities, Counters, Device, DeviceError, Event, Maps, Offer, OpId, ReadError, RingDriver, Rings, Rows, Waited,
    stop,
};
use sluice_formats::address::{Access, info};
use sluice_formats::l7::rows::L7PortRow;
use sluice_formats::l7::target::Target as L7Target;
use sluice_formats::limits::{FORMAT_VERSION, SEQUENCE_MASK, TICK_PS};
use sluice_formats::xdp::target::Target as Engine;
use sluice_formats::{EngineId, Message, Node, Row, Table};
use sluice_object::{Install, Load};
use std::collections::{HashMap, VecDeque};

/// Longest stretch in one call: bounds memory, and the delay of an interrupt. On the default target, with waves, 1,024 cycles take
/// half a second.
const STRETCH: u64 = 1024;
const EVENT_BYTES: u32 = 1 << 20;
/// Cycles without an event after which `quiesce` looks whether it is done.
const QUIET: u32 = 16;
/// The same where messages may be on their way into host memory: an engine does nothing for so long between a packet and its completion.
const MEMORY_QUIET: u32 = 64;
/// Cycles without any progress after which `quiesce` gives up, beside those that a program may work without a word, and a
/// synchronous read too.
const PATIENCE: u64 = 500_000;

/// Cycles beyond one a cell until the pipeline runs after a reset.
const CLEAR_MARGIN: u64 = 64;

/// Something that happened inside, in order, for whoever follows the device in lockstep.
#[derive(Clone, Debug, PartialEq)]
pub enum Tapped {
    /// A trace row, a frame in or out, or a snapshot.
    Event(RtlEvent),
    /// A load's write is about to be sent.
    Announced(RowWrite),
    /// It has been acknowledged.
    Applied(RowWrite),
    /// The host's driver of rings is about to write a row.
    Asked(RowWrite),
    /// The host has written to its memory.
    Memory(u64, Vec<u8>),
    /// A load has come to a program of an engine: module, generation, program.
    Installed(EngineId, u8, u8, Option<Install>),
}

/// A NIC in RTL simulation.
///
/// Time passes only within `advance`, `quiesce`, `counters`, `read_row` and `snapshot`: the
/// latter three talk to the NIC over its configuration ring, which takes cycles.
pub struct RtlNic {
    capabilities: Capabilities,
    plugin: Plugin,
    instance: Instance,
    /// What the top does not have.
    around: Option<Around>,
    options: RtlOptions,
    driver: ConfigDriver,
    faults: FaultInjector,
    tracker: Tracker,
    recount: Recount,
    /// Those of now; the options have those of the start.
    stalls: Stalls,
    happened: VecDeque<Event>,
    blocked: Vec<bool>,
    next_op: u64,
    latest_offer: u64,
    /// Of the whole NIC: frames that wait until none is inside.
    turns: Turns,
    idle: Idle,
    left_out: u64,
    /// Events that show progress: all but replies.
    progress: u64,
    rows: HashMap<RequestId, Answer>,
    counters: Option<Result<SnapshotCounters, String>>,
    tap: Option<VecDeque<Tapped>>,
    host: HostMaps,
    events: HostEvents,
    rings: RingDriver,
    /// The l7 engine has told something since the device was at rest: host memory may be busy.
    memory_busy: bool,
    failed: Option<DeviceError>,
}

impl RtlNic {
    /// Starts the NIC of a configuration ("default", "tiny") and checks who it says it is.
    pub fn open(config: &str, options: RtlOptions) -> Result<Self, RtlError> {
        let variant = if options.waves.is_some() { Variant::Trace } else { options.variant };
        Self::start(Plugin::find(options.top, config, variant)?, options)
    }

    /// Sizes of the NIC.
    pub(crate) fn nic_target(&self) -> &sluice_formats::Target {
        self.plugin.target()
    }

    /// Starts a NIC of a loaded plug-in.
    pub fn start(plugin: Plugin, options: RtlOptions) -> Result<Self, RtlError> {
        let is_around = options.all_ports && !plugin.top().is_nic;
        let target = if is_around { plugin.target().all_ports() } else { *plugin.target() };
        let mut instance = plugin.open(options.seed)?;
        if let Some(waves) = &options.waves {
            instance.waves(&waves.path, waves.from, waves.to)?;
        }
        let mut nic = Self {
            capabilities: Capabilities {
                kind: "rtl",
                target,
                tick_ps: TICK_PS,
                has_cycles: true,
                engines: plugin.top().engine_ids(),
                queues: plugin.top().is_nic,
                xdp_in_hardware: plugin.top().engine_ids().contains(&EngineId::XDP),
            },
            instance,
            around: (!plugin.top().is_nic).then(|| Around::new(target, plugin.top())),
            driver: ConfigDriver::new(target, plugin.top().engine_ids()),
            faults: FaultInjector::new(options.faults, options.seed),
            tracker: Tracker::new(target),
            recount: Recount::new(target, plugin.top().is_behind()),
            stalls: Stalls::default(),
            happened: VecDeque::new(),
            blocked: vec![false; target.destinations() as usize],
            next_op: 0,
            latest_offer: 0,
            turns: Turns::default(),
            left_out: 0,
            idle: Idle::new(
                target.ports,
                L7Target::by_name(target.name).entries as u64,
                !options.idle_jumps || !plugin.top().is_nic,
            ),
            progress: 0,
            rows: HashMap::new(),
            counters: None,
            tap: None,
            host: HostMaps::new(Engine::by_name(target.name)),
            events: HostEvents::default(),
            rings: RingDriver::new(L7Target::by_name(target.name).rings),
            memory_busy: false,
            failed: None,
            plugin,
            options,
        };
        nic.set_stalls(nic.options.stalls.clone())?;
        nic.check_identity()?;
        // The buffer's cells are cleared one a cycle; packets before that would wait at the ports.
        let cells = if nic.around.is_some() { 0 } else { u64::from(target.cells) };
        nic.advance(cells + CLEAR_MARGIN).map_err(|e| RtlError::Identity { what: e.to_string() })?;
        Ok(nic)
    }

    /// The plug-in it runs in.
    pub fn plugin(&self) -> &Plugin {
        &self.plugin
    }

    /// Its options.
    pub fn options(&self) -> &RtlOptions {
        &self.options
    }

    /// Clock cycles since the start, reset included.
    pub fn cycles(&self) -> u64 {
        self.instance.cycles()
    }

    /// Of these the cycles that were left out, for nothing could happen in them.
    pub fn cycles_left_out(&self) -> u64 {
        self.left_out
    }

    /// What the fault injector has done.
    pub fn fault_counts(&self) -> FaultCounts {
        self.faults.counts()
    }

    /// What the configuration driver has done.
    pub fn requester_counts(&self) -> RequesterCounts {
        self.driver.requester().counts()
    }

    /// Other gaps and stalls from now on; what is blocked stays so.
    pub fn set_stalls(&mut self, stalls: Stalls) -> Result<(), RtlError> {
        let layout = self.plugin.top().layout(&self.capabilities.target);
        for port in 0..layout.ports as u8 {
            self.instance.set_gaps(port, stalls.port_gaps)?;
        }
        for destination in (0..layout.destinations as u8).filter(|d| !self.blocked[usize::from(*d)]) {
            self.instance.set_ready(destination, stalls.ready)?;
        }
        self.instance.set_config_stalls(stalls.config_gaps, stalls.config_stalls);
        self.stalls = stalls;
        Ok(())
    }

    /// When external memory for values of maps answers, how often it takes what is offered, and how often it answers nothing, in 256ths, until that is 0 again.
    pub fn set_values_memory(
        &mut self,
        cycles: std::ops::RangeInclusive<u32>,
        ready: u32,
        lost: u32,
    ) -> Result<(), RtlError> {
        self.instance.set_values_memory(cycles, ready, 0, lost)
    }

    /// Keeps what happens inside for `take_tapped`, from now on.
    pub fn start_tap(&mut self) {
        self.tap.get_or_insert_default();
    }

    /// What happened inside since the last call.
    pub fn take_tapped(&mut self) -> VecDeque<Tapped> {
        self.tap.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Lets at most `ticks` pass, less when there is something to look at.
    pub fn step(&mut self, ticks: u64) -> Result<(), DeviceError> {
        self.pump(ticks, 0).map(|_| ())
    }

    /// Whether loads run or wait.
    pub fn has_loads(&self) -> bool {
        self.driver.has_loads()
    }

    /// The step of the running load that begins next.
    pub fn load_step(&self) -> Option<usize> {
        self.driver.step()
    }

    /// `quiesce`, looking at the device each time something may have happened.
    pub fn quiesce_with(
        &mut self,
        mut look: impl FnMut(&mut Self) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let (mut seen, mut since) = (self.progress, self.now());
        while !self.at_rest() || self.memory_busy {
            let busy = std::mem::replace(&mut self.memory_busy, false);
            // Host memory is idle when nothing was told for a while.
            let quiet = if busy { MEMORY_QUIET } else { QUIET };
            let stop = self.pump(u64::MAX, quiet)?;
            self.memory_busy |= busy && !stop.quiet();
            look(self)?;
            if self.progress != seen || self.now() <= self.latest_offer {
                (seen, since) = (self.progress, self.now());
            }
            if self.now() - since <= PATIENCE {
                continue;
            }
            let patience = PATIENCE.saturating_add(self.host.longest_work());
            if self.now() - since > patience {
                let position = self.driver.position().unwrap_or_else(|| "packets".into());
                let what = format!("{position} ({})", self.tracker.describe());
                return Err(DeviceError::Timeout { what: Waited::Device(what), ticks: patience });
            }
        }
        Ok(())
    }

    fn check_identity(&mut self) -> Result<(), RtlError> {
        let identity = |e: DeviceError| RtlError::Identity { what: e.to_string() };
        let (hash, engines) = (self.plugin.target().hash(), self.plugin.top().engine_ids());
        for (index, what, allowed) in [
            (info::VERSION, "format version", FORMAT_VERSION),
            (info::TARGET_HASH, "target hash", hash),
            (info::ENGINES, "set of engines", EngineId::set(engines)),
        ] {
            let found = self.read_row(Node::System, Table::Info, index).map_err(identity)?;
            if found.first() != Some(&allowed) {
                let found = format!("{:08x}", found.first().copied().unwrap_or(0));
                return Err(self.plugin.mismatch(what, found, format!("{allowed:08x}")));
            }
        }
        Ok(())
    }

    /// Runs until something is to be decided, at most `ticks`.
    fn pump(&mut self, ticks: u64, quiet_cycles: u32) -> Result<Stop, DeviceError> {
        let end = self.now().saturating_add(ticks);
        self.or_failed(Self::look_at_events)?;
        // The look at events takes time itself.
        let left = end.saturating_sub(self.now());
        self.or_failed(|nic| nic.try_pump(left, quiet_cycles))
    }

    /// Does it, unless the device has failed before; a failure stays.
    fn or_failed<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, DeviceError>) -> Result<T, DeviceError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        stop::check()?;
        let result = act(self);
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    fn try_pump(&mut self, ticks: u64, quiet_cycles: u32) -> Result<Stop, DeviceError> {
        let now = self.instance.now();
        for words in self.faults.due(now) {
            self.driver.receive(&words, now);
        }
        while let Some(words) = self.driver.next_message(now) {
            for sent in self.faults.request(words) {
                match self.answer_around(&sent) {
                    Some(answer) => {
                        for words in self.faults.reply(answer, now) {
                            self.driver.receive(&words, now);
                        }
                    }
                    None => {
                        self.idle.stir(now);
                        self.instance.send(&sent.words, sent.ended);
                    }
                }
            }
        }
        self.settle();
        self.feed(now)?;
        let none_inside = self.tracker.at_rest(&self.blocked);
        let due = self.around.as_ref().map_or_else(|| self.turns.next_due(none_inside), Around::next_due);
        let wake = [self.driver.wake(), self.faults.next_due(), due].into_iter().flatten().min();
        let until_wake = wake.map_or(u64::MAX, |tick| tick.saturating_sub(now).max(1));
        let left_out = self.leave_out(now, ticks.min(until_wake));
        let (ticks, until_wake) = (ticks.saturating_sub(left_out), until_wake.saturating_sub(left_out));
        // Packets that wait for others go in soon after these have left.
        let waits = self.around.as_ref().map_or_else(|| self.turns.waits(none_inside), Around::waits);
        let until = Until {
            max_cycles: ticks.min(STRETCH).min(until_wake),
            replies: u32::from(!self.driver.is_idle()),
            quiet_cycles: if waits && quiet_cycles == 0 { QUIET } else { quiet_cycles },
            event_bytes: EVENT_BYTES,
            frames: 0,
        };
        let ran = self.instance.run(&until);
        // Also after a failure: what came before it is true, and helps to find it.
        let mut events = Vec::new();
        let decoded = event::decode(self.plugin.top(), self.instance.take_events(), |event| match &mut self.around {
            Some(around) => around.translate(event, |e| events.push(e)),
            None => events.push(event),
        });
        for event in events {
            self.take_event(event)?;
        }
        decoded.map_err(|e| DeviceError::Unavailable(e.to_string()))?;
        Ok(ran?)
    }

    /// Leaves cycles out in which nothing can happen, fewer than `ticks`; how much time has passed.
    fn leave_out(&mut self, now: u64, ticks: u64) -> u64 {
        let at_rest = self.driver.is_idle() && self.tracker.is_empty_but_for(self.idle.coming());
        let cycles = if at_rest { self.idle.may_skip(now, now.saturating_add(ticks)) } else { None };
        let has_messages = self.capabilities.engines.contains(&EngineId::L7);
        match cycles {
            Some(cycles) if self.instance.skip(cycles, has_messages) => {
                self.left_out += cycles;
                self.instance.now() - now
            }
            _ => 0,
        }
    }

    /// The answer to a whole message for a node that is not in the top.
    fn answer_around(&mut self, sent: &Transmission) -> Option<Vec<u32>> {
        let around = self.around.as_mut().filter(|_| sent.ended)?;
        let message = Message::decode(&sent.words).ok()?;
        let node = Node::from_number(message.node, &self.capabilities.target)?;
        if self.plugin.top().has(node) {
            around.hears(node, &message);
            return None;
        }
        Some(around.answer(node, &message))
    }

    /// Gives the top the frames that are due.
    fn feed(&mut self, now: u64) -> Result<(), DeviceError> {
        let Some(around) = &mut self.around else { return self.feed_turns(now) };
        let mut events = Vec::new();
        let buffer = around.feed(now, |event| events.push(event));
        for event in events {
            self.take_event(event)?;
        }
        match buffer.map_err(|e| DeviceError::Unavailable(e.to_string()))? {
            Some(buffer) => Ok(self.instance.offer_buffer(&buffer)?),
            None => Ok(()),
        }
    }

    /// Gives the NIC's ports frames.
    fn give(&mut self, packets: &[Offer]) -> Result<(), DeviceError> {
        self.tracker.offered(packets.len() as u64);
        self.idle.offered(packets);
        Ok(self.instance.offer(packets)?)
    }

    /// Gives the NIC's ports the frames whose turn it is.
    fn feed_turns(&mut self, now: u64) -> Result<(), DeviceError> {
        while let Some(packet) = self.turns.next(now, self.tracker.at_rest(&self.blocked)) {
            self.give(&[packet])?;
        }
        Ok(())
    }

    fn take_event(&mut self, event: RtlEvent) -> Result<(), DeviceError> {
        self.idle.stir(event.tick);
        if let What::Reply(words) = event.what {
            for words in self.faults.reply(words, event.tick) {
                self.driver.receive(&words, event.tick);
            }
            self.settle();
            return Ok(());
        }
        self.progress += 1;
        self.memory_busy |=
            matches!(event.what, What::Dispatched(row) if row.consumed) || matches!(event.what, What::Ring(_));
        match &event.what {
            What::Port(row) => self.idle.arrived((row.id >> SEQUENCE_MASK.trailing_ones()) as u8),
            What::Dispatched(_) => self.idle.touches(event.tick),
            _ => {}
        }
        self.recount.count(&event).map_err(DeviceError::Unavailable)?;
        let outcome = self.tracker.take(&event).map_err(|e| DeviceError::Unavailable(e.to_string()))?;
        if let Some(tap) = self.tap.as_mut() {
            tap.push_back(Tapped::Event(event));
        }
        self.happened.extend(outcome.map(Event::Outcome));
        Ok(())
    }

    /// Sorts out what the driver has finished.
    fn settle(&mut self) {
        while let Some(done) = self.driver.take_done() {
            match done {
                Done::Announced(write) => self.tap_push(Tapped::Announced(write)),
                Done::Applied(write) => {
                    self.progress += 1;
                    if write.table == Table::L7Port {
                        self.idle.has_expiry(L7PortRow::of_words(&write.words).expiry);
                    }
                    self.host.wrote(write.table, write.index, &write.words);
                    self.tap_push(Tapped::Applied(write));
                }
                Done::Installed { module, generation, install } => {
                    let placed = install.as_ref().map(|Install::Xdp(placed)| &**placed);
                    // A program whose maps cannot be made is no program of the linker's.
                    let image = self.host.install(module, generation, placed).unwrap_or_else(|what| {
                        self.failed.get_or_insert(DeviceError::Unavailable(what));
                        None
                    });
                    let last = !self.host.modules().contains(&module);
                    self.events.install(module, generation, image.as_ref(), last);
                    let in_turns = self.options.in_turns && self.host.any_sees_others();
                    match &mut self.around {
                        Some(around) => around.take_turns(in_turns),
                        None => self.turns.take_turns(in_turns),
                    }
                    self.tap_push(Tapped::Installed(EngineId::XDP, module, generation, install));
                }
                Done::Load { op, result } => self.happened.push_back(Event::OpDone { op, result }),
                Done::Read { id, answer } => {
                    self.rows.insert(id, answer);
                }
                Done::Snapshot(result) => self.counters = Some(result),
            }
        }
    }

    pub(crate) fn tap_push(&mut self, item: Tapped) {
        if let Some(tap) = self.tap.as_mut() {
            tap.push_back(item);
        }
    }

    /// Maps of programs as the host knows them.
    pub fn host(&self) -> &HostMaps {
        &self.host
    }

    pub(crate) fn rings_mut(&mut self) -> &mut RingDriver {
        &mut self.rings
    }

    pub(crate) fn instance_mut(&mut self) -> &mut Instance {
        &mut self.instance
    }

    pub(crate) fn events_mut(&mut self) -> &mut HostEvents {
        &mut self.events
    }

    pub(crate) fn host_mut(&mut self) -> &mut HostMaps {
        &mut self.host
    }

    /// Writes a row beside all loads, and waits for the answer.
    pub(crate) fn write_row(
        &mut self,
        node: Node,
        table: Table,
        index: u32,
        words: Vec<u32>,
    ) -> Result<(), DeviceError> {
        let id = self.driver.write(node, table, index, words);
        let answer = self.wait_for(|| Self::row_name("write", node, table, index), |nic| nic.rows.remove(&id))?;
        answer.map(drop).map_err(|e| DeviceError::Unavailable(e.to_string()))
    }

    /// Reads rows, many under way at a time.
    pub(crate) fn read_rows(
        &mut self,
        node: Node,
        table: Table,
        rows: std::ops::Range<u32>,
    ) -> Result<Vec<Vec<u32>>, DeviceError> {
        let asked: Vec<(u32, RequestId)> = rows.map(|row| (row, self.driver.read(node, table, row))).collect();
        let mut all = Vec::with_capacity(asked.len());
        for (row, id) in asked {
            let answer = self.wait_for(|| Self::row_name("read", node, table, row), |nic| nic.rows.remove(&id))?;
            all.push(answer.map_err(|e| Self::read_error(node, table, row, &e.to_string()))?);
        }
        Ok(all)
    }

    /// Lets time pass until `ready` gives something, `what` it is that is waited for.
    fn wait_for<T>(
        &mut self,
        what: impl Fn() -> String,
        mut ready: impl FnMut(&mut Self) -> Option<T>,
    ) -> Result<T, DeviceError> {
        let end = self.now() + PATIENCE;
        loop {
            if let Some(value) = ready(self) {
                return Ok(value);
            }
            if self.now() >= end {
                return Err(DeviceError::Timeout { what: Waited::Device(what()), ticks: PATIENCE });
            }
            // The look at events is requests of its own, beside which the answer may come: nothing would end a run then.
            self.or_failed(Self::look_at_events)?;
            if let Some(value) = ready(self) {
                return Ok(value);
            }
            let left = end.saturating_sub(self.now());
            self.or_failed(|nic| nic.try_pump(left, 0))?;
        }
    }

    fn check_counters(&self, read: &SnapshotCounters) -> Result<u64, DeviceError> {
        let unavailable = |what: String| DeviceError::Unavailable(what);
        let frozen = self.recount.frozen(read.epoch);
        let frozen = frozen.ok_or_else(|| unavailable(format!("the trace shows no snapshot {}", read.epoch)))?;
        if !self.options.check_accounting {
            return Ok(frozen.tick);
        }
        for module in frozen.modules.keys().chain(read.modules.keys()) {
            let (counted, found) = (frozen.modules.get(module), read.modules.get(module));
            if counted != found {
                let at = format!("snapshot {} at tick {}, module {module}", read.epoch, frozen.tick);
                return Err(unavailable(format!("{at}: counters say {found:?}, the trace says {counted:?}")));
            }
        }
        Ok(frozen.tick)
    }

    /// Whether nothing moves.
    pub fn is_at_rest(&self) -> bool {
        self.at_rest()
    }

    fn at_rest(&self) -> bool {
        !self.driver.has_loads() && self.turns.is_empty() && self.tracker.at_rest(&self.blocked)
    }

    /// What is waited for: `read of row 3 of xdp_map (xdp)`.
    fn row_name(what: &str, node: Node, table: Table, index: u32) -> String {
        format!("{what} of row {index} of {} ({})", table.name(), format!("{node:?}").to_lowercase())
    }

    fn read_error(node: Node, table: Table, index: u32, what: &str) -> DeviceError {
        DeviceError::Read { node, table: table.name(), index, error: ReadError::Ring(what.into()) }
    }
}

impl Device for RtlNic {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError> {
        check_load(load, &self.capabilities.target)?;
        check_engines(load, &self.capabilities)?;
        let op = OpId(self.next_op);
        self.next_op += 1;
        self.driver.submit(op, load.clone());
        Ok(op)
    }

    fn offer(&mut self, packets: &[Offer]) -> Result<(), DeviceError> {
        check_offer(packets, &self.capabilities.target)?;
        self.fill_routes()?;
        match &mut self.around {
            Some(around) => {
                around.offer(packets);
                self.tracker.offered(packets.len() as u64);
            }
            None if self.turns.holds_back() => self.turns.push(packets.iter().cloned()),
            None => self.give(packets)?,
        }
        self.latest_offer = packets.iter().map(|p| p.at).fold(self.latest_offer, u64::max);
        Ok(())
    }

    fn now(&self) -> u64 {
        self.instance.now()
    }

    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError> {
        let end = self.now().saturating_add(ticks);
        while self.now() < end {
            self.pump(end - self.now(), 0)?;
        }
        Ok(())
    }

    fn poll(&mut self, max: usize) -> Vec<Event> {
        let count = max.min(self.happened.len());
        self.happened.drain(..count).collect()
    }

    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError> {
        check_destination(destination, &self.capabilities.target)?;
        if !self.capabilities.queues {
            return Err(DeviceError::NoQueues { device: self.capabilities.kind });
        }
        let pattern = if blocked { Ready::Never } else { self.stalls.ready };
        self.instance.set_ready(destination, pattern)?;
        self.idle.stir(self.instance.now());
        self.blocked[usize::from(destination)] = blocked;
        Ok(())
    }

    fn quiesce(&mut self) -> Result<(), DeviceError> {
        self.quiesce_with(|_| Ok(()))
    }

    /// Where work is to end, what the trace has counted: reading all rows over the ring takes seconds.
    fn counters(&mut self) -> Result<Counters, DeviceError> {
        if stop::due() {
            let (tick, modules) = (self.now(), self.recount.modules().clone());
            return Ok(Counters { tick, modules, wedges: 0 });
        }
        self.counters = None;
        self.driver.snapshot();
        let read = self.wait_for(|| "snapshot of the counters".to_owned(), |nic| nic.counters.take())?;
        let read = read.map_err(DeviceError::Unavailable)?;
        let tick = self.check_counters(&read)?;
        Ok(Counters { tick, modules: read.modules, wedges: read.wedges })
    }

    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        if !table.is_of(node) {
            return Err(Self::read_error(node, table, index, "the node has no such table"));
        }
        let id = self.driver.read(node, table, index);
        let answer = self.wait_for(|| Self::row_name("read", node, table, index), |nic| nic.rows.remove(&id))?;
        answer.map_err(|e| Self::read_error(node, table, index, &e.to_string()))
    }

    fn maps(&mut self) -> Result<&mut dyn Maps, DeviceError> {
        if !self.capabilities.engines.contains(&EngineId::XDP) {
            return Err(DeviceError::NoMaps { device: self.capabilities.kind });
        }
        Ok(self)
    }

    fn rings(&mut self) -> Result<&mut dyn Rings, DeviceError> {
        if !self.capabilities.engines.contains(&EngineId::L7) {
            return Err(DeviceError::NoRings { device: self.capabilities.kind });
        }
        Ok(self)
    }

    /// All rows, many reads under way at a time.
    fn snapshot(&mut self) -> Result<Rows, DeviceError> {
        let target = self.capabilities.target;
        let mut asked = HashMap::new();
        let has = |node: &Node| node.engine().is_none_or(|engine| self.capabilities.engines.contains(&engine));
        for node in Node::every(&target).into_iter().filter(has) {
            for table in Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::ReadWrite) {
                for index in 0..table.rows(&target) {
                    asked.insert(self.driver.read(node, table, index), (node, table, index));
                }
            }
        }
        let mut rows = Rows::new();
        let mut left = asked.len();
        while left > 0 {
            let first =
                || asked.values().next().map(|(node, table, index)| Self::row_name("read", *node, *table, *index));
            let (id, answer) = self.wait_for(
                || first().unwrap_or_default(),
                |nic| {
                    let id = *nic.rows.keys().next()?;
                    nic.rows.remove(&id).map(|answer| (id, answer))
                },
            )?;
            let Some((node, table, index)) = asked.remove(&id) else { continue };
            let words = answer.map_err(|e| Self::read_error(node, table, index, &e.to_string()))?;
            rows.insert((node.number(), table.number(), index), words);
            left -= 1;
        }
        Ok(rows)
    }
}
