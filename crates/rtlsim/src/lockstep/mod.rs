//! RTL and model in lockstep, as one device.
//!
//! Every packet's verdict, reason, bytes and sideband, every row written and every counter
//! read are compared in the cycle in which the RTL shows them. The first difference ends the
//! comparison with an error that names packet, cycle and both sides; where the plug-in with
//! waves is there, the same inputs then run again with waves around that cycle.
//!
//! Loads that packets see at once (anything but a replacement of a program's rows behind a commit)
//! are only applied at rest: `submit` lets the device come to rest before and after such a load,
//! because the instant at which a single row changes is not in the trace.
//! Replacements run at any moment, between packets.

pub mod follow;
pub(crate) mod maps;
pub mod recount;
pub(crate) mod rings;

use crate::device::RtlNic;
use crate::lockstep::follow::{Compared, Difference, Follower};
use crate::lockstep::maps::MapOp;
use crate::plugin::boundary::Plugin;
use crate::plugin::error::RtlError;
use crate::plugin::locate::Variant;
use crate::plugin::options::{RtlOptions, Stalls, Waves};
use sluice_device::Rows;
use sluice_device::{
    Capabilities, Counters, Device, DeviceError, Event, Maps, Offer, OpId, RingDriver, RingHost, Rings,
};
use sluice_formats::Row;
use sluice_formats::address::Access;
use sluice_formats::l7::rows::L7PortRow;
use sluice_formats::l7::target::Target as L7Target;
use sluice_formats::{EngineId, Node, Status, Table};
use sluice_object::{Load, Step};
use std::path::{Path, PathBuf};

/// Ticks of waves before and after a difference.
const WAVES_BEFORE: u64 = 300;
const WAVES_AFTER: u64 = 60;

/// An input, as the RTL was given it.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    Offer(Vec<Offer>),
    Submit(Load),
    Block(u8, bool),
    Stalls(Stalls),
    Advance(u64),
    Quiesce,
    Counters,
    ReadRow(Node, Table, u32),
    Snapshot,
    Map(u8, MapOp),
    RingRow(Table, u32, Vec<u32>),
    Memory(u64, Vec<u8>),
}

/// RTL and model in lockstep.
pub struct Comparison {
    capabilities: Capabilities,
    rtl: RtlNic,
    follower: Follower,
    /// All inputs since the start; a simulation has no other way back.
    journal: Vec<Input>,
    waves_folder: PathBuf,
    rings: RingDriver,
    failed: Option<DeviceError>,
}

impl Comparison {
    /// Starts both. Waves of a difference go to `waves_folder`.
    pub fn open(config: &str, options: RtlOptions, waves_folder: impl Into<PathBuf>) -> Result<Self, RtlError> {
        let mut rtl = RtlNic::open(config, RtlOptions { in_turns: true, ..options })?;
        rtl.start_tap();
        let capabilities = Capabilities { kind: "compare", ..rtl.capabilities().clone() };
        let follower = Follower::new(capabilities.target, rtl.plugin().top());
        let (journal, waves_folder) = (Vec::new(), waves_folder.into());
        let rings = RingDriver::new(L7Target::by_name(capabilities.target.name).rings);
        Ok(Self { capabilities, rtl, follower, journal, waves_folder, rings, failed: None })
    }

    /// What has been compared so far.
    pub fn compared(&self) -> Compared {
        self.follower.compared()
    }

    /// The simulated NIC.
    pub fn rtl(&self) -> &RtlNic {
        &self.rtl
    }

    pub(crate) fn rings_mut(&mut self) -> &mut RingDriver {
        &mut self.rings
    }

    pub(crate) fn rtl_mut(&mut self) -> &mut RtlNic {
        &mut self.rtl
    }

    pub(crate) fn follower_mut(&mut self) -> &mut Follower {
        &mut self.follower
    }

    /// The model's words of a row.
    pub fn model_row(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        self.follower.model().tables().row(node, table, index)
    }

    /// Other gaps and stalls from now on.
    pub fn set_stalls(&mut self, stalls: Stalls) -> Result<(), DeviceError> {
        self.input(Input::Stalls(stalls.clone()), |rtl, _| Ok(rtl.set_stalls(stalls).map_err(DeviceError::from)?))
    }

    /// Where waves of a difference go.
    pub fn waves_folder(&self) -> &Path {
        &self.waves_folder
    }

    /// Hands an input to the RTL and keeps it for a second run.
    pub(crate) fn input<T>(
        &mut self,
        input: Input,
        run: impl FnOnce(&mut RtlNic, &mut Follower) -> Result<T, Halt>,
    ) -> Result<T, DeviceError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.journal.push(input);
        let result = run(&mut self.rtl, &mut self.follower);
        // What the RTL told before it failed may hold the difference that came first.
        let followed = self.follower.follow(self.rtl.take_tapped());
        match (followed, result) {
            (Ok(()), Ok(value)) => Ok(value),
            (Err(difference), _) | (_, Err(Halt::Different(difference))) => Err(self.different(difference)),
            (_, Err(Halt::Device(error @ DeviceError::Unavailable(_)))) => {
                let text = self.with_waves(error.to_string(), self.rtl.now(), None);
                Err(self.fail(text))
            }
            (_, Err(Halt::Device(error))) => Err(error),
        }
    }

    fn different(&mut self, difference: Difference) -> DeviceError {
        let tick = difference.tick;
        let text = format!("RTL and model differ at tick {tick}: {}", difference.mismatch);
        let text = self.with_waves(text, tick, Some(difference));
        self.fail(text)
    }

    fn fail(&mut self, text: String) -> DeviceError {
        let error = DeviceError::Unavailable(text);
        self.failed = Some(error.clone());
        error
    }

    /// Adds where the waves are, or why there are none.
    fn with_waves(&self, text: String, tick: u64, expected: Option<Difference>) -> String {
        let seed = self.rtl.options().seed;
        match self.run_again(tick, expected) {
            Ok(waves) => format!("{text}\nseed {seed}; {waves}"),
            Err(error) => format!("{text}\nseed {seed}; no waves: {error}"),
        }
    }

    /// Runs all inputs again with waves around `tick`.
    fn run_again(&self, tick: u64, expected: Option<Difference>) -> Result<String, DeviceError> {
        let target = self.capabilities.target;
        let plugin = Plugin::find(self.rtl.plugin().top(), target.name, Variant::Trace)?;
        let seed = self.rtl.options().seed;
        let path = self.waves_folder.join(format!("difference-{}-seed{seed}-tick{tick}.fst", target.name));
        std::fs::create_dir_all(&self.waves_folder)
            .map_err(|e| DeviceError::Unavailable(format!("{}: {e}", self.waves_folder.display())))?;
        let waves = Waves { path: path.clone(), from: tick.saturating_sub(WAVES_BEFORE), to: tick + WAVES_AFTER };
        let end = waves.to;
        let options = RtlOptions { waves: Some(waves), ..self.rtl.options().clone() };
        let mut rtl = RtlNic::start(plugin, options)?;
        rtl.start_tap();
        let mut follower = Follower::new(target, rtl.plugin().top());
        let mut found = None;
        for input in &self.journal {
            // The first difference is looked for again, but the run goes on behind it.
            if let Err(Halt::Different(difference)) = repeat(&mut rtl, &mut follower, input, end) {
                found.get_or_insert(difference);
            }
            if rtl.now() >= end {
                break;
            }
        }
        if rtl.now() < end {
            // A failed simulation stays where it is; otherwise let the window fill.
            let _ = rtl.advance(end - rtl.now());
        }
        if let Err(difference) = follower.follow(rtl.take_tapped()) {
            found.get_or_insert(difference);
        }
        let again = if expected.is_none() || found == expected { "" } else { " (the second run did not show it)" };
        let ns = (rtl.cycles() - rtl.now() + tick) * 4;
        Ok(format!("waves around it: {} at {ns} ns{again}", path.display()))
    }

    fn quiesce_now(&mut self) -> Result<(), DeviceError> {
        self.input(Input::Quiesce, quiesce_following)
    }
}

/// Why an input was not carried out to its end.
#[derive(Debug)]
pub(crate) enum Halt {
    Device(DeviceError),
    Different(Difference),
}

impl From<DeviceError> for Halt {
    fn from(error: DeviceError) -> Self {
        Self::Device(error)
    }
}

impl From<Difference> for Halt {
    fn from(difference: Difference) -> Self {
        Self::Different(difference)
    }
}

fn advance_following(rtl: &mut RtlNic, follower: &mut Follower, ticks: u64) -> Result<(), Halt> {
    let end = rtl.now().saturating_add(ticks);
    while rtl.now() < end {
        rtl.step(end - rtl.now())?;
        follower.follow(rtl.take_tapped())?;
    }
    Ok(())
}

fn quiesce_following(rtl: &mut RtlNic, follower: &mut Follower) -> Result<(), Halt> {
    let mut different = None;
    let result = rtl.quiesce_with(|rtl| {
        follower.follow(rtl.take_tapped()).map_err(|difference| {
            let stop = DeviceError::Unavailable("difference".into());
            different = Some(difference);
            stop
        })
    });
    match different {
        Some(difference) => Err(difference.into()),
        None => Ok(result?),
    }
}

/// Repeats one input of the journal, no longer than to tick `end`.
fn repeat(rtl: &mut RtlNic, follower: &mut Follower, input: &Input, end: u64) -> Result<(), Halt> {
    match input {
        Input::Offer(packets) => {
            follower.offered(packets);
            rtl.offer(packets)?;
        }
        Input::Submit(load) => {
            rtl.submit(load)?;
        }
        Input::Block(destination, blocked) => rtl.set_blocked(*destination, *blocked)?,
        Input::Stalls(stalls) => rtl.set_stalls(stalls.clone()).map_err(DeviceError::from)?,
        Input::Advance(ticks) => advance_following(rtl, follower, (*ticks).min(end.saturating_sub(rtl.now())))?,
        Input::Quiesce => quiesce_following(rtl, follower)?,
        Input::Counters => {
            let counters = rtl.counters()?;
            follower.follow(rtl.take_tapped())?;
            follower.compare_counters(&counters)?;
            if !rtl.has_loads() && rtl.is_at_rest() {
                maps::compare_all(rtl, follower)?;
            }
        }
        Input::ReadRow(node, table, index) => {
            let _ = rtl.read_row(*node, *table, *index)?;
        }
        Input::Snapshot => {
            let _ = rtl.snapshot()?;
        }
        Input::RingRow(table, index, words) => RingHost::write_row(rtl, *table, *index, words)?,
        Input::Memory(address, bytes) => RingHost::write_memory(rtl, *address, bytes)?,
        Input::Map(module, op) => {
            if let Err(Halt::Different(difference)) = op.on_both(rtl, follower, *module) {
                return Err(difference.into());
            }
        }
    }
    Ok(follower.follow(rtl.take_tapped())?)
}

/// Whether packets in flight could see a load's rows change one by one.
fn acts_at_once(load: &Load) -> bool {
    let commits = load.steps.iter().any(|s| matches!(s, Step::Commit { .. }));
    // Groups, their names and grants are the same for both generations.
    let guarded = |table: &Table| match table.engine() {
        Some(EngineId::RMT) => !matches!(*table, Table::Group | Table::Granted | Table::GroupName),
        Some(EngineId::L7) => {
            matches!(*table, Table::L7Match | Table::L7Start | Table::L7Group | Table::L7Port)
        }
        engine => engine == Some(EngineId::XDP),
    };
    // A mark on a live port row is seen at once.
    let marks = |table: &Table, words: &[u32]| *table == Table::L7Port && L7PortRow::of_words(words).updating;
    let at_once = |s: &Step| matches!(s, Step::Write { table, words, .. } if !guarded(table) || marks(table, words));
    let plain = load.steps.iter().any(at_once);
    plain || !commits
}

/// Whether the model has the same words as the device while no load runs.
fn is_comparable(table: Table) -> bool {
    // What programs have in values is compared as maps.
    table.access() == Access::ReadWrite && !matches!(table, Table::Control | Table::XdpValue)
}

/// Whether packets change the row.
fn moves(table: Table) -> bool {
    matches!(table, Table::Generation | Table::StateWord)
}

impl Device for Comparison {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError> {
        if !acts_at_once(load) {
            return self.input(Input::Submit(load.clone()), |rtl, _| Ok(rtl.submit(load)?));
        }
        self.quiesce_now()?;
        let op = self.input(Input::Submit(load.clone()), |rtl, _| Ok(rtl.submit(load)?))?;
        self.quiesce_now()?;
        Ok(op)
    }

    fn offer(&mut self, packets: &[Offer]) -> Result<(), DeviceError> {
        self.input(Input::Offer(packets.to_vec()), |rtl, follower| {
            rtl.offer(packets)?;
            follower.offered(packets);
            Ok(())
        })
    }

    fn now(&self) -> u64 {
        self.rtl.now()
    }

    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError> {
        self.input(Input::Advance(ticks), |rtl, follower| advance_following(rtl, follower, ticks))
    }

    fn poll(&mut self, max: usize) -> Vec<Event> {
        self.rtl.poll(max)
    }

    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError> {
        self.input(Input::Block(destination, blocked), |rtl, _| Ok(rtl.set_blocked(destination, blocked)?))
    }

    fn quiesce(&mut self) -> Result<(), DeviceError> {
        self.quiesce_now()
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.input(Input::Counters, |rtl, follower| {
            let counters = rtl.counters()?;
            follower.follow(rtl.take_tapped())?;
            follower.compare_counters(&counters)?;
            if !rtl.has_loads() && rtl.is_at_rest() {
                maps::compare_all(rtl, follower)?;
            }
            Ok(counters)
        })
    }

    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        self.input(Input::ReadRow(node, table, index), |rtl, follower| {
            let words = rtl.read_row(node, table, index)?;
            follower.follow(rtl.take_tapped())?;
            if !rtl.has_loads() && is_comparable(table) && !moves(table) {
                follower.compare_row(node, table, index, &words)?;
            }
            Ok(words)
        })
    }

    fn maps(&mut self) -> Result<&mut dyn Maps, DeviceError> {
        self.rtl.maps()?;
        Ok(self)
    }

    fn rings(&mut self) -> Result<&mut dyn Rings, DeviceError> {
        self.rtl.rings()?;
        Ok(self)
    }

    fn snapshot(&mut self) -> Result<Rows, DeviceError> {
        self.quiesce_now()?;
        self.input(Input::Snapshot, |rtl, follower| {
            let rows = rtl.snapshot()?;
            follower.follow(rtl.take_tapped())?;
            let target = rtl.capabilities().target;
            for (&(node, table, index), words) in &rows {
                let place = Node::from_number(node, &target).and_then(|n| Some((n, Table::from_number(n, table)?)));
                if let Some((node, table)) = place.filter(|(_, table)| is_comparable(*table)) {
                    follower.compare_row(node, table, index, words)?;
                }
            }
            Ok(rows)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::rmt::rows::{GroupRow, KeyRow};
    use sluice_formats::row::Row;
    use sluice_formats::rows::{PortPolicyRow, QuantumRow};
    use sluice_nic::conformance::sender;
    use sluice_object::linker::rmt::{Placer, Quota, RowWrite};
    use sluice_rmt::programs::send::Send;

    fn write(node: Node, table: Table, index: u32, row: &impl Row) -> Step {
        Step::Write { node, table, index, words: row.pack().unwrap() }
    }

    fn load(steps: Vec<Step>) -> Load {
        let target_hash = sluice_formats::target::TINY.hash();
        Load {
            format_version: sluice_formats::limits::FORMAT_VERSION,
            target_hash,
            tenant: 0,
            label: "test".into(),
            steps,
        }
    }

    /// Untagged frames of port 0 leave through port 1.
    fn set_up(nic: &mut Comparison) {
        let policy = PortPolicyRow { untagged_valid: true, untagged_module: 1, max_frame: 9216, ..Default::default() };
        let limit = sluice_formats::rows::LimitRow { cells: 100, reserve: 0 };
        let target = nic.capabilities().target;
        let mut placer = Placer::new(target.rmt);
        let part = sender(&Send::to(2), &target);
        let mut rows = placer.stage_owners();
        rows.extend(placer.admit(1, "one", Quota::of(&part, 0xff)).unwrap());
        rows.extend(placer.place(1, 0, &part).unwrap().rows);
        let step = |RowWrite { node, table, index, words }| Step::Write { node, table, index, words };
        let mut steps: Vec<Step> = rows.into_iter().map(step).collect();
        steps.extend([
            write(Node::Port(0), Table::PortPolicy, 0, &policy),
            write(Node::Port(1), Table::PortPolicy, 0, &policy),
            write(Node::Egress, Table::Quantum, 1, &QuantumRow { bytes: 1500 }),
            write(Node::Egress, Table::Limit, 8 + 1, &limit),
        ]);
        nic.submit(&load(steps)).unwrap();
    }

    #[test]
    fn only_replacements_run_while_packets_flow() {
        let write_of = |node, table, words| Step::Write { node, table, index: 2, words };
        let key = || write_of(Node::Stage(1), Table::Key, KeyRow::default().pack().unwrap());
        let group = || write_of(Node::Deparser, Table::Group, GroupRow::default().pack().unwrap());
        let commit = || Step::Commit { module: 1, generation: 1 };
        let quantum = write(Node::Egress, Table::Quantum, 1, &QuantumRow::default());
        assert!(!acts_at_once(&load(vec![key(), commit()])));
        assert!(acts_at_once(&load(vec![key()])));
        assert!(acts_at_once(&load(vec![key(), group(), commit()])));
        assert!(acts_at_once(&load(vec![key(), commit(), quantum])));
    }

    #[test]
    fn a_difference_names_packet_tick_and_both_sides_and_leaves_waves() {
        let folder = tempfile::tempdir().unwrap();
        let mut nic = match Comparison::open("tiny", RtlOptions::default(), folder.path()) {
            Ok(nic) => nic,
            Err(error) => return println!("skipped: {error}"),
        };
        set_up(&mut nic);
        let offer = Offer { port: 0, bytes: (0..100).collect(), at: 0, bad: false };
        nic.offer(&[offer.clone(), offer]).unwrap();
        // The model is told another second packet than the RTL.
        nic.follower.sabotage(0, 1, 70);
        let error = nic.quiesce().unwrap_err().to_string();
        assert!(error.contains("packet 1 of port 0 (id 0x00000001) at output"), "{error}");
        assert!(error.contains("RTL and model differ at tick"), "{error}");
        assert!(error.contains("seed 1"), "{error}");
        if Plugin::find(&crate::plugin::top::NIC, "tiny", Variant::Trace).is_ok() {
            // The second run is told the truth.
            assert!(error.contains(".fst at") && error.contains("did not show it"), "{error}");
            let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap();
            assert!(file.metadata().unwrap().len() > 10_000);
        } else {
            assert!(error.contains("make plugins"), "{error}");
        }
        // It stays failed.
        assert_eq!(nic.advance(1).unwrap_err().to_string(), error);
    }
}
