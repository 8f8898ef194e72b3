//! Runs a script on the reference.

use super::Script;
use super::change::{self, FULL};
use super::command::{Command, CommandKind, Compare, Word};
use super::compare::{Expected, Failure};
use super::entries;
use super::error::StfProblem;
use super::line::Wrong;
use super::names;
use crate::front::interpret::{Cells, MeterRates, Node, ObjectKind, Session};
use crate::{Reference, Sent};
use sluice_packet::mistake::Problem as _;
use sluice_packet::text;
use std::collections::{BTreeMap, HashMap};

/// Code of a packet that is not carried to its end; its line in the script fails.
pub(crate) const GIVEN_UP: &str = "E0795";

/// What carries a script's packets in place of the reference.
pub trait Carrier {
    /// Runs with the entries that a reference has now.
    fn load(&mut self, entries: &Reference) -> Result<(), CarrierError>;

    /// How late it is, in nanoseconds; a carrier with a clock of its own has its own time.
    fn set_time(&mut self, _nanoseconds: u64) {}
    /// Carries a packet; what leaves, in the order of the ports.
    fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, CarrierError>;

    /// How many of the packets it carried last went to no port that there is (`no_destination`), since it was asked last.
    fn nowhere(&mut self) -> u64 {
        0
    }

    /// Brings what was counted and kept to a reference, whose entries it has.
    fn fetch(&mut self, into: &mut Reference) -> Result<(), CarrierError>;

    /// What is kept otherwise than by a reference that saw the same packets since the carrier was loaded with it, if there is something.
    fn differs(&mut self, from: &Reference) -> Result<Option<String>, CarrierError>;
}

/// Why entries or a packet are not carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarrierError {
    /// Code for `sluice explain`.
    pub code: &'static str,
    /// What happened.
    pub what: String,
}

/// What a script showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Packets that went in.
    pub packets: usize,
    /// Packets that left.
    pub sent: usize,
    /// Copies dropped for there is no such port (`no_destination`).
    pub nowhere: u64,
    /// Expectations of packets, registers and counters.
    pub expected: usize,
    /// Entries that the carrier does not take: it runs no packet with them.
    pub refused: bool,
    /// What went otherwise, in the order of the lines.
    pub failures: Vec<Failure>,
    /// Lines of the script that sent packets in, and what each packet did, if the program is traced.
    pub traces: Vec<(usize, Vec<String>)>,
}

impl Report {
    /// Whether all went as the script says.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// A script while it runs.
struct Running<'r> {
    reference: &'r mut Reference,
    /// What carries the packets, if it is not the reference.
    carrier: Option<&'r mut dyn Carrier>,
    /// The reference carries them, too, and both have to agree.
    is_compared: bool,
    /// Whether it has the entries of now.
    is_loaded: bool,
    expected: Expected,
    sent: BTreeMap<u16, Vec<(usize, Vec<u8>)>>,
    report: Report,
    /// Entries that have a name: their tables and numbers.
    ids: HashMap<String, (usize, u64)>,
    line: usize,
    /// Refusals of tables that are full, each with how often it came again.
    full: Vec<(usize, String)>,
}

/// Whether a table had no room for an entry.
fn is_full(problem: &StfProblem) -> bool {
    matches!(problem, StfProblem::State { why, .. } if why.starts_with(FULL))
}

/// Why a group is none.
const NO_GROUP: &str = "it is not there: mc_mgrp_create comes first";

impl Script {
    /// Runs the script with packets through a carrier, and entries as the reference keeps them.
    pub fn run_on(&self, reference: &mut Reference, carrier: &mut dyn Carrier) -> Report {
        self.run_with(reference, Some(carrier), false)
    }

    /// The same, and what leaves has to be what leaves the reference.
    pub fn compare(&self, reference: &mut Reference, carrier: &mut dyn Carrier) -> Report {
        self.run_with(reference, Some(carrier), true)
    }

    /// Gives a reference the entries, groups and sessions of a script that has nothing else: `add`, `setdefault`, `remove`, `mc_...`,
    /// `mirroring_...`; all of them, or none.
    pub fn fill(&self, reference: &mut Reference) -> Result<(), Vec<Failure>> {
        let is_entry = |kind: &CommandKind| {
            use CommandKind::{Add, GroupCreate, MirroringAdd, MirroringAddGroup, NodeAssociate, NodeCreate};
            use CommandKind::{Remove, RemoveAll, SetDefault};
            let of_tables = matches!(kind, Add { .. } | SetDefault { .. } | Remove { .. } | RemoveAll);
            let of_groups = matches!(kind, GroupCreate { .. } | NodeCreate { .. } | NodeAssociate { .. });
            of_tables || of_groups || matches!(kind, MirroringAdd { .. } | MirroringAddGroup { .. })
        };
        let allowed = "entries are add, setdefault and remove, groups mc_..., sessions mirroring_...";
        let wrong = |command: &Command| Failure {
            line: text::position(&self.text, command.span.start).line,
            what: format!("a command of another kind; {allowed}"),
        };
        let others: Vec<Failure> = self.commands.iter().filter(|command| !is_entry(&command.kind)).map(wrong).collect();
        if !others.is_empty() {
            return Err(others);
        }
        let (before, groups) = (reference.tables(), reference.switch.replication.clone());
        let report = self.run(reference);
        if report.passed() {
            return Ok(());
        }
        reference.set_tables(before);
        reference.switch.replication = groups;
        Err(report.failures)
    }

    /// Runs the script; what cannot be done or goes otherwise than it says stands in the report with its line.
    pub fn run(&self, reference: &mut Reference) -> Report {
        self.run_with(reference, None, false)
    }

    fn run_with<'r>(
        &self,
        reference: &'r mut Reference,
        carrier: Option<&'r mut dyn Carrier>,
        is_compared: bool,
    ) -> Report {
        let told = reference.switch.ports.is_some();
        reference.bound_ports(Some(self));
        let mut running = Running {
            reference,
            carrier,
            is_compared,
            is_loaded: false,
            expected: Expected::default(),
            sent: BTreeMap::new(),
            report: Report::default(),
            ids: HashMap::new(),
            line: 1,
            full: Vec::new(),
        };
        let mut read = 0;
        for command in &self.commands {
            // Commands stand in order: the line of each is counted from the one before.
            running.line += self.text[read..command.span.start].matches('\n').count();
            read = command.span.start;
            if let Err((_, problem)) = running.command(command) {
                let what = format!("error[{}]: {problem}", problem.code());
                match running.full.iter_mut().find(|(_, first)| *first == what) {
                    // A table that is full is so for all that come after: it is said once, with how many they are.
                    Some((more, _)) => *more += 1,
                    None => {
                        if is_full(&problem) {
                            running.full.push((0, what.clone()));
                        }
                        running.report.failures.push(Failure { line: running.line, what });
                    }
                }
            }
        }
        running.fetch();
        let Running { mut report, expected, sent, reference, full, .. } = running;
        for (more, first) in full.iter().filter(|(more, _)| *more > 0) {
            if let Some(failure) = report.failures.iter_mut().find(|failure| failure.what == *first) {
                failure.what = format!("{first}; {more} more entries for it find no room");
            }
        }
        if !told {
            reference.switch.ports = None;
        }
        report.failures.extend(expected.compare(&sent));
        report.failures.sort_by_key(|failure| failure.line);
        report
    }
}

impl Running<'_> {
    fn command(&mut self, command: &Command) -> Result<(), Wrong> {
        let state = |what: &str, why: &str| {
            let (what, why) = (what.to_string(), why.to_string());
            Err((command.span, StfProblem::State { what, why }))
        };
        if !matches!(command.kind, CommandKind::Packet { .. } | CommandKind::Expect { .. }) {
            self.fetch();
        }
        let switch = &mut self.reference.switch;
        match &command.kind {
            CommandKind::Packet { port, bytes } => self.packet(*port, bytes),
            CommandKind::Expect { port, pattern } => {
                self.report.expected += 1;
                self.expected.add(*port, pattern.clone(), self.line);
            }
            CommandKind::Add { table, priority, keys, action, id } => {
                let switch = &mut self.reference.switch;
                let at = change::table(switch, table)?;
                let entry = change::added(switch, at, (*priority, keys), action)?;
                let handle = change::add(switch, at, entry, command.span)?;
                if let Some(id) = id {
                    self.ids.insert(id.text.trim_start_matches('$').to_string(), (at, handle));
                }
            }
            CommandKind::SetDefault { table, action } => {
                change::set_default(&mut self.reference.switch, table, action)?;
            }
            CommandKind::RemoveAll => {
                let switch = &mut self.reference.switch;
                let changed = switch.code.tables.iter().zip(&mut switch.machine.tables);
                changed.filter(|(table, _)| !table.constant).for_each(|(_, rows)| rows.clear());
                self.ids.clear();
            }
            CommandKind::NoPacket => {}
            CommandKind::Remove { table, priority, keys, id } => {
                let switch = &mut self.reference.switch;
                let at = change::table(switch, table)?;
                let named = id.as_ref().map(|id| self.ids.remove(id.text.trim_start_matches('$')));
                let row = match named {
                    Some(Some((of, handle))) if of == at => switch.machine.tables[at].with_handle(handle),
                    Some(_) => None,
                    None => change::found(switch, at, (*priority, keys), command.span)?,
                };
                change::remove(switch, at, row, command.span)?;
            }
            CommandKind::MirroringAdd { session, .. } | CommandKind::MirroringAddGroup { session, .. }
                if switch.replication.sessions.contains_key(session) =>
            {
                return state(&format!("session {session}"), "it is there already: mirroring_delete comes first");
            }
            CommandKind::MirroringAddGroup { group, .. } if !switch.replication.groups.contains_key(group) => {
                return state(&format!("group {group}"), NO_GROUP);
            }
            CommandKind::MirroringAdd { session, port } => {
                switch.replication.sessions.insert(*session, Session::Port(*port));
            }
            CommandKind::MirroringAddGroup { session, group } => {
                switch.replication.sessions.insert(*session, Session::Group(*group));
            }
            CommandKind::MirroringDelete { session } => {
                if switch.replication.sessions.remove(session).is_none() {
                    return state(&format!("session {session}"), "it is not there");
                }
            }
            CommandKind::GroupCreate { group } => {
                if switch.replication.groups.insert(*group, Vec::new()).is_some() {
                    return state(&format!("group {group}"), "it is there already");
                }
            }
            CommandKind::NodeCreate { rid, ports } => {
                switch.replication.nodes.push(Node { rid: *rid, ports: ports.clone() });
            }
            CommandKind::NodeAssociate { group, node } => {
                if *node >= switch.replication.nodes.len() {
                    return state(&format!("node {node}"), "it is not there; nodes are numbered from 0");
                }
                match switch.replication.groups.get_mut(group) {
                    Some(nodes) if nodes.contains(node) => {
                        return state(&format!("node {node}"), "it is in this group already");
                    }
                    Some(nodes) => nodes.push(*node),
                    None => return state(&format!("group {group}"), NO_GROUP),
                }
            }
            CommandKind::RegisterRead { name, index, expected } => {
                self.register_read(name, *index, expected.as_ref())?
            }
            CommandKind::RegisterWrite { name, index, value } => {
                let at = self.object(name, "register", |kind| matches!(kind, ObjectKind::Register { .. }))?;
                let switch = &mut self.reference.switch;
                let ObjectKind::Register { shape, .. } = &switch.code.objects[at].kind else { return Ok(()) };
                let value = entries::value(value, &value.text, shape)?;
                match &mut switch.machine.objects[at] {
                    Cells::Register(cells) if *index < cells.len() => cells[*index] = value,
                    _ => return state(&format!("register `{}`", name.text), &format!("it has no cell {index}")),
                }
            }
            CommandKind::RegisterReset { name } => {
                let at = self.object(name, "register", |kind| matches!(kind, ObjectKind::Register { .. }))?;
                let switch = &mut self.reference.switch;
                if let (ObjectKind::Register { shape, .. }, Cells::Register(cells)) =
                    (&switch.code.objects[at].kind, &mut switch.machine.objects[at])
                {
                    cells.fill(shape.zero());
                }
            }
            CommandKind::CheckCounter { name, index, bytes, check } => {
                let (packets, all) = self.counter(name, index.as_ref())?;
                let Some((compare, value)) = check else { return Ok(()) };
                let found = if *bytes { all } else { packets };
                self.report.expected += 1;
                if !compare.holds(found, *value) {
                    let of = if *bytes { "bytes" } else { "packets" };
                    let what = format!("counter {}: {found} {of}, expected {} {value}", name.text, compare.text());
                    self.report.failures.push(Failure { line: self.line, what });
                }
            }
            CommandKind::CounterRead { name, index } => {
                let index = Word { text: index.to_string(), span: command.span };
                self.counter(name, Some(&index))?;
            }
            CommandKind::MeterRates { name, index, rates } => {
                let at = self.object(name, "meter", |kind| matches!(kind, ObjectKind::Meter { .. }))?;
                let machine = &mut self.reference.switch.machine;
                let rates = MeterRates { committed: rates[0], peak: rates[1] };
                let time = machine.time;
                let done = match &mut machine.objects[at] {
                    Cells::Meter(meters) => meters.set(*index, rates, time),
                    _ => false,
                };
                if !done {
                    return state(&format!("meter `{}`", name.text), "it has no cell of that index");
                }
            }
            CommandKind::ValueSetAdd { name, values } => {
                let at = self.value_set(name)?;
                self.reference.switch.machine.value_sets[at].push(values.clone());
            }
            CommandKind::ValueSetClear { name } => {
                let at = self.value_set(name)?;
                self.reference.switch.machine.value_sets[at].clear();
            }
            CommandKind::Wait { seconds } => switch.machine.time += (seconds * 1e9).round() as u64,
        }
        Ok(())
    }

    /// Brings what the carrier counted and kept to the reference, where commands look and write; the carrier is loaded with it again.
    /// A reference that carried the packets too has it already, and the carrier is held to it.
    fn fetch(&mut self) {
        let Some(carrier) = self.carrier.as_mut() else { return };
        if !std::mem::take(&mut self.is_loaded) {
            return;
        }
        let done = match self.is_compared {
            false => carrier.fetch(self.reference),
            true => carrier.differs(self.reference).map(|differs| {
                let failure = differs.map(|what| Failure { line: self.line, what: format!("the device: {what}") });
                self.report.failures.extend(failure);
            }),
        };
        if let Err(CarrierError { code, what }) = done {
            self.report.failures.push(Failure { line: self.line, what: format!("error[{code}]: {what}") });
        }
    }

    /// Carries a packet through the carrier, if there is one.
    fn carried(&mut self, port: u16, bytes: &[u8]) -> Option<Result<Vec<Sent>, CarrierError>> {
        let carrier = self.carrier.as_mut()?;
        if !self.is_loaded
            && let Err(why) = carrier.load(self.reference)
        {
            self.report.refused = true;
            return Some(Err(why));
        }
        self.is_loaded = true;
        carrier.set_time(self.reference.switch.machine.time);
        let carried = carrier.packet(port, bytes);
        self.report.nowhere += carrier.nowhere();
        Some(carried)
    }

    fn packet(&mut self, port: u16, bytes: &[u8]) {
        self.report.packets += 1;
        let carried = self.carried(port, bytes);
        if carried.is_none() || self.is_compared {
            let before = self.reference.switch.nowhere;
            let done = self.reference.switch.packet(port, bytes).map_err(|stopped| {
                let what = format!("{}{}", stopped.what, self.reference.place(stopped.span));
                CarrierError { code: GIVEN_UP, what }
            });
            // A device tells copies in the order of their ports.
            let done = done.map(|mut all| {
                all.sort_by_key(|sent| sent.port);
                all
            });
            self.traced();
            match carried {
                None => {
                    self.report.nowhere += self.reference.switch.nowhere - before;
                    self.take(done);
                }
                Some(carried) => {
                    if self.is_compared && done != carried {
                        let what = format!("the device: {}; the reference: {}", tell(&carried), tell(&done));
                        self.report.failures.push(Failure { line: self.line, what });
                    }
                    self.take(carried);
                }
            }
        } else if let Some(carried) = carried {
            self.take(carried);
        }
    }

    /// Takes what left with the packet of this line.
    fn take(&mut self, done: Result<Vec<Sent>, CarrierError>) {
        match done {
            Ok(all) => {
                self.report.sent += all.len();
                for sent in all {
                    self.sent.entry(sent.port).or_default().push((self.line, sent.bytes));
                }
            }
            Err(CarrierError { code, what }) => {
                let what = format!("error[{code}]: {what}");
                self.report.failures.push(Failure { line: self.line, what });
            }
        }
    }

    /// Takes what the packet of this line did.
    fn traced(&mut self) {
        let events = self.reference.events();
        if !events.is_empty() {
            self.report.traces.push((self.line, events));
        }
    }

    fn value_set(&self, word: &Word) -> Result<usize, Wrong> {
        let sets = &self.reference.switch.code.value_sets;
        names::find("value set", word, sets.iter().map(String::as_str).enumerate())
    }

    fn object(&self, word: &Word, what: &'static str, is: impl Fn(&ObjectKind) -> bool) -> Result<usize, Wrong> {
        let objects = self.reference.switch.code.objects.iter().enumerate();
        let fitting: Vec<(usize, &str)> =
            objects.filter(|(_, object)| is(&object.kind)).map(|(at, object)| (at, object.name.as_str())).collect();
        names::find(what, word, fitting.into_iter())
    }

    fn register_read(&mut self, name: &Word, index: Option<usize>, expected: Option<&Word>) -> Result<(), Wrong> {
        let at = self.object(name, "register", |kind| matches!(kind, ObjectKind::Register { .. }))?;
        let switch = &self.reference.switch;
        let (ObjectKind::Register { shape, .. }, Cells::Register(cells)) =
            (&switch.code.objects[at].kind, &switch.machine.objects[at])
        else {
            return Ok(());
        };
        let Some(index) = index else { return Ok(()) };
        let Some(found) = cells.get(index) else {
            let (what, why) = (format!("register `{}`", name.text), format!("it has no cell {index}"));
            return Err((name.span, StfProblem::State { what, why }));
        };
        let Some(word) = expected else { return Ok(()) };
        let wanted = entries::value(word, &word.text, shape)?;
        self.report.expected += 1;
        if *found != wanted {
            let what = format!("register {}[{index}]: 0x{:x}, expected {}", name.text, found.big(), word.text);
            self.report.failures.push(Failure { line: self.line, what });
        }
        Ok(())
    }

    /// Packets and bytes of a counter; of a direct one by its table's entry.
    fn counter(&self, name: &Word, index: Option<&Word>) -> Result<(u64, u64), Wrong> {
        let at = self.object(name, "counter", |kind| matches!(kind, ObjectKind::Counter { .. }))?;
        let switch = &self.reference.switch;
        let wrong = |why: String| {
            let what = format!("counter `{}`", name.text);
            Err((index.map_or(name.span, |index| index.span), StfProblem::State { what, why }))
        };
        if let (ObjectKind::Counter { direct: true, .. }, Some(word)) = (&switch.code.objects[at].kind, index) {
            let table = switch.code.tables.iter().position(|table| table.direct.contains(&at));
            let handle = match self.ids.get(word.text.trim_start_matches('$')) {
                Some((of, handle)) if Some(*of) == table => Some(*handle),
                Some(_) => None,
                None => word.text.parse::<u64>().ok(),
            };
            let mut rows = table.into_iter().flat_map(|table| switch.machine.tables[table].all());
            return match rows.find(|row| Some(row.handle) == handle) {
                Some(row) => Ok((row.packets, row.bytes)),
                None => wrong(format!("its table has no entry `{}`", word.text)),
            };
        }
        let Cells::Counter(cells) = &switch.machine.objects[at] else { return wrong("it has no cells".to_string()) };
        let number = match index {
            Some(word) => text::number(&word.text).and_then(|number| usize::try_from(number).ok()),
            None => return wrong("it needs an index, as NAME(0)".to_string()),
        };
        match number.and_then(|at| cells.get(at)) {
            Some(counts) => Ok(*counts),
            None => wrong(format!("it has {} cells, numbered from 0", cells.len())),
        }
    }
}

/// What left, in words.
fn tell(done: &Result<Vec<Sent>, CarrierError>) -> String {
    match done {
        Err(error) => error.what.clone(),
        Ok(all) if all.is_empty() => "nothing".to_string(),
        Ok(all) => {
            let one = |sent: &Sent| {
                let digits: String = sent.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("port {}: {digits}", sent.port)
            };
            all.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    }
}

impl Compare {
    fn holds(self, found: u64, wanted: u64) -> bool {
        match self {
            Compare::Equal => found == wanted,
            Compare::NotEqual => found != wanted,
            Compare::Less => found < wanted,
            Compare::LessEqual => found <= wanted,
            Compare::Greater => found > wanted,
            Compare::GreaterEqual => found >= wanted,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Compare::Equal => "",
            Compare::NotEqual => "other than",
            Compare::Less => "less than",
            Compare::LessEqual => "at most",
            Compare::Greater => "more than",
            Compare::GreaterEqual => "at least",
        }
    }
}
