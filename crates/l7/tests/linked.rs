//! Rules behind the linker: in every moment of every load a tenant's messages go by all of his old rules or by all of his new
//! ones, to his own rings, and what leaves leaves nothing.

use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::{
    L7GroupRow, L7MatchRow, L7PortRow, L7QuotaRow, L7RingRow, L7SecretRow, L7ShareRow, L7StartRow, L7TargetPart,
};
use sluice_formats::l7::target::Target as Engine;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{EngineId, Node, Reason, Row, Table, Target};
use sluice_l7::engine::{self, Fate};
use sluice_l7::message::{Ports, Sort, filter};
use sluice_l7::object::object;
use sluice_l7::oracle::{Message, decide};
use sluice_l7::rules::{Goal, Kind, Rules, read};
use sluice_l7::tables::Tables;
use sluice_l7::testing::{self, Limits};
use sluice_object::linker::unsafe_order;
use sluice_object::{Destination, L7Given, LinkError, Linker, Load, Object, RingMemory, Step, TenantSpec};
use std::collections::BTreeMap;

const HOST: Destination = Destination::Host(3);

/// Rows of the l7 node, and the generations.
struct Rows {
    rows: BTreeMap<(Table, u32), Vec<u32>>,
    generations: BTreeMap<u8, u8>,
}

impl Rows {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Write { node: Node::L7, table, index, words } => {
                if words.iter().all(|word| *word == 0) {
                    self.rows.remove(&(*table, *index));
                } else {
                    self.rows.insert((*table, *index), words.clone());
                }
            }
            Step::Commit { module, generation } => drop(self.generations.insert(*module, *generation)),
            _ => {}
        }
    }

    fn all<R: Row + Default>(&self, table: Table, count: usize) -> Vec<R> {
        let row = |index| self.rows.get(&(table, index)).map_or(R::default(), |words| R::unpack(words).unwrap());
        (0..count as u32).map(row).collect()
    }

    fn tables(&self, target: &Engine) -> (Tables, Vec<L7PortRow>) {
        let tables = Tables {
            rows: self.all::<L7MatchRow>(Table::L7Match, target.rows),
            starts: self.all::<L7StartRow>(Table::L7Start, target.starts),
            groups: self.all::<L7GroupRow>(Table::L7Group, target.groups),
            shape: target.match_shape(),
        };
        (tables, self.all(Table::L7Port, target.ports))
    }
}

/// What becomes of a message by the rules as written; queues are the tenant's.
fn wanted(rules: &Rules, frame: &[u8]) -> Option<Option<u8>> {
    match filter(frame, &Ports::of(rules)) {
        Sort::Packet(packet) => {
            let application = &rules.applications[packet.application];
            if packet.kind == Kind::Endpoint {
                let Goal::Queue(queue) = application.default else { return None };
                return Some(Some(queue));
            }
            let header = packet.header;
            let (session, msg_id) = (header.session, header.msg_id);
            let message = Message { msg_type: header.msg_type, session, msg_id, view: packet.view.as_ref() };
            packet.view.as_ref()?;
            Some(decide(rules, application, &message).queue)
        }
        _ => None,
    }
}

struct Tenant {
    rules: Option<Rules>,
    given: L7Given,
}

struct World {
    target: &'static Target,
    linker: Linker,
    rows: Rows,
    tenants: BTreeMap<u16, Tenant>,
    rng: Rng,
    messages: u64,
    ruled: u64,
}

impl World {
    fn new(target: &'static Target, seed: u64) -> Self {
        let linker = Linker::of(target, &[EngineId::RMT, EngineId::L7], None);
        let rows = Rows { rows: BTreeMap::new(), generations: BTreeMap::new() };
        let mut world =
            Self { target, linker, rows, tenants: BTreeMap::new(), rng: Rng::new(seed), messages: 0, ruled: 0 };
        let given = L7Given { ports: 1, starts: 1, rows: 1, groups: 1, rings: 1, ..L7Given::default() };
        let spec = TenantSpec { l7: Some(given), ..TenantSpec::new(9, "first") };
        let load = world.linker.admit(spec).unwrap();
        world.run(&load, 9, None);
        world.tenants.insert(9, Tenant { rules: None, given });
        world
    }

    /// Messages of all tenants go by their rules.
    fn messages(&mut self, in_load: bool) {
        let (tables, ports) = self.rows.tables(Engine::by_name(self.target.name));
        for (id, tenant) in &self.tenants {
            let Some(rules) = &tenant.rules else { continue };
            let module = self.linker.tenant(*id).unwrap().module;
            let generation = self.rows.generations.get(&module) == Some(&1);
            let mut engine = engine::Engine::new(Engine::by_name(self.target.name));
            engine.ports = ports.clone().into();
            let quotas: Vec<L7QuotaRow> = self.rows.all(Table::L7Quota, self.target.modules as usize);
            engine.table.set_quota(module, quotas[usize::from(module)].messages);
            let rings = self.linker.rings(*id).unwrap();
            for _ in 0..4 {
                let header = Header { msg_id: self.rng.next_u32(), session: self.rng.next_u32(), ..Header::default() };
                let frames = testing::frames(&mut self.rng, rules, header);
                let Some(frame) = frames.first() else { continue };
                let Some(wanted) = wanted(rules, frame) else { continue };
                let got = engine.packet(frame, module, generation, |job| job.run(&tables));
                let wanted = wanted.map(|queue| rings.start + u32::from(queue));
                match got.fate {
                    Fate::Queue(ring) => {
                        assert_eq!(Some(u32::from(ring)), wanted);
                        assert!(rings.contains(&u32::from(ring)));
                    }
                    Fate::Dropped(Reason::L7Updating) => {
                        let asked = rules.applications.iter().any(|application| application.discard_while_updating);
                        assert!(asked && in_load, "only while rules change, and where it was asked for");
                    }
                    Fate::Dropped(Reason::L7NoState) if self.target.name == "tiny" => {}
                    fate => {
                        assert!(wanted.is_none() && matches!(fate, Fate::Dropped(_)), "{fate:?}, wanted {wanted:?}")
                    }
                }
                assert!(!got.fault);
                self.messages += 1;
                self.ruled += u64::from(wanted.is_some());
            }
        }
    }

    /// Runs a load, with messages between its steps; the rules of its tenant change with the commit.
    fn run(&mut self, load: &Load, id: u16, rules: Option<Option<Rules>>) {
        let mut rules = rules;
        for step in &load.steps {
            self.rows.step(step);
            if matches!(step, Step::Commit { .. })
                && let Some(rules) = rules.take()
                && let Some(tenant) = self.tenants.get_mut(&id)
            {
                tenant.rules = rules;
            }
            if self.rng.chance(1, 4) {
                self.messages(true);
            }
        }
        self.messages(false);
    }

    fn operation(&mut self) -> Result<(), LinkError> {
        // The small target has rings for few.
        let tiny = self.target.name == "tiny";
        let id = self.rng.range(1, if tiny { 2 } else { 5 }) as u16;
        let Some(tenant) = self.tenants.get(&id) else {
            let part = |all: usize| (all / 16).max(2) as u32;
            let engine = Engine::by_name(self.target.name);
            let wide = if tiny { 2 } else { 1 + self.rng.below(3) as u32 };
            let given = L7Given {
                ports: wide * part(engine.ports),
                starts: wide * part(engine.starts),
                rows: wide * part(engine.rows),
                groups: if tiny { 1 } else { wide * part(engine.groups) },
                rings: if tiny { 7 } else { 12 * wide },
                ..L7Given::default()
            };
            let mut spec = TenantSpec { l7: Some(given), ..TenantSpec::new(id, format!("t{id}")) };
            spec.queues.insert(HOST, 16);
            spec.max_entries = 1;
            let load = self.linker.admit(spec)?;
            self.run(&load, id, None);
            self.tenants.insert(id, Tenant { rules: None, given });
            return Ok(());
        };
        let running = tenant.rules.is_some();
        if self.rng.chance(1, 8) {
            let load = self.linker.remove(id)?;
            self.tenants.get_mut(&id).unwrap().rules = None;
            self.run(&load, id, None);
            self.tenants.remove(&id);
            return Ok(());
        }
        if running && self.rng.chance(1, 6) {
            let load = self.linker.unload(id)?;
            self.run(&load, id, Some(None));
            return Ok(());
        }
        let mut rules = testing::rules(&mut self.rng, &Limits { applications: 2, rules: 3, ..Limits::default() });
        // Few rings are given.
        for application in &mut rules.applications {
            if let Goal::Queue(queue) = &mut application.default {
                *queue %= 7;
            }
        }
        let Ok(object) = object("rules", &rules, self.target) else { return Ok(()) };
        // As a file has it.
        let object = match self.rng.chance(1, 2) {
            true => Object::from_binary(&object.to_binary()).unwrap(),
            false => Object::from_json(&object.to_json()).unwrap(),
        };
        let before = self.linker.clone();
        let load = if running { self.linker.replace(id, &object) } else { self.linker.load(id, &object) };
        let load = load.inspect_err(|error| {
            let part = object.parts.l7.as_ref().unwrap();
            let needs = L7Given::default().or(part);
            assert!(matches!(error, LinkError::Demand { .. }), "{error}");
            assert_ne!(self.tenants[&id].given.or(part), self.tenants[&id].given, "{error}, needs {needs:?}");
        })?;
        if running && !self.broken_is_refused(&before, &load) {
            panic!("a load in an unsafe order passes");
        }
        self.run(&load, id, Some(Some(rules)));
        Ok(())
    }

    /// The load with its commit first, and with a row moved to somebody else's place.
    fn broken_is_refused(&mut self, linker: &Linker, load: &Load) -> bool {
        let mut moved = load.clone();
        let own = |step: &&mut Step| matches!(step, Step::Write { node: Node::L7, .. });
        if let Some(Step::Write { index, .. }) = moved.steps.iter_mut().find(own) {
            // The first rows are those of the tenant who came first.
            *index = 0;
            if linker.check(&moved).is_ok() {
                return false;
            }
        }
        linker.check(&unsafe_order(load)).is_err()
    }
}

#[test]
fn every_moment_of_a_load_is_old_or_new_and_nothing_stays_behind() {
    for target in [&TINY, &DEFAULT] {
        let name = "every_moment_of_a_load_is_old_or_new_and_nothing_stays_behind";
        let mut world = World::new(target, test_seed(name));
        let (mut done, mut refused) = (0, 0);
        while done < 150 || world.messages < 600 {
            match world.operation() {
                Ok(()) => done += 1,
                Err(_) => refused += 1,
            }
            assert!(refused < 20_000, "{done} operations done");
        }
        for id in world.tenants.keys().copied().collect::<Vec<_>>() {
            let load = world.linker.remove(id).unwrap();
            world.tenants.get_mut(&id).unwrap().rules = None;
            world.run(&load, id, None);
        }
        assert!(world.rows.rows.is_empty(), "{:?}", world.rows.rows.keys());
        assert!(world.messages > 500 && world.ruled > world.messages / 4, "{} of {}", world.ruled, world.messages);
        eprintln!("{}: {done} operations, {refused} refused, {} messages", target.name, world.messages);
    }
}

const DISCARDED: &str = "application a {
    port 9000
    id 1
    default queue 0
    update discard
    expire 250ms
    message m = 1 { field f = 1 rule x: f ~ \"x\" -> queue 1 }
}
application b { port 9001 id 1 default queue 0 message m = 1 { field f = 1 rule x: f ~ \"x\" -> queue 1 } }
endpoint 9002 -> queue 2
";

#[test]
fn packets_are_discarded_during_an_update_only_where_it_was_asked_for() {
    let rules = read("a.l7", DISCARDED).unwrap();
    let mut linker = Linker::of(&DEFAULT, &[EngineId::RMT, EngineId::L7], None);
    let mut rows = Rows { rows: BTreeMap::new(), generations: BTreeMap::new() };
    let object = object("rules", &rules, &DEFAULT).unwrap();
    let mut spec = TenantSpec::new(3, "red");
    spec.queues.insert(HOST, 16);
    spec.make_room(&object);
    linker.admit(spec).unwrap().steps.iter().for_each(|step| rows.step(step));
    linker.load(3, &object).unwrap().steps.iter().for_each(|step| rows.step(step));
    let ports = |rows: &Rows, generation: bool| -> BTreeMap<u16, L7PortRow> {
        let all = rows.tables(Engine::by_name("default")).1.into_iter();
        all.filter(|row| row.valid && row.generation == generation).map(|row| (row.port, row)).collect()
    };
    // 250 ms are 976,562.5 ticks of 256 ns.
    assert_eq!(ports(&rows, true)[&9000].expiry, 976_563);
    assert_eq!(ports(&rows, true)[&9001].expiry, 0);
    let load = linker.replace(3, &object).unwrap();
    let mut updating = false;
    for step in &load.steps {
        rows.step(step);
        if let Step::Commit { .. } = step {
            assert!(updating, "marked before the commit");
            assert!(ports(&rows, false).values().all(|row| !row.updating), "the new ones are not");
        }
        let old = ports(&rows, true);
        let marks: Vec<bool> = [9000, 9001, 9002].iter().filter_map(|p| old.get(p)).map(|row| row.updating).collect();
        assert!(!marks[1.min(marks.len())..].contains(&true), "b and the endpoint asked for nothing");
        updating |= marks.first() == Some(&true);
    }
    assert!(ports(&rows, true).is_empty(), "cleared behind the commit");
}

#[test]
fn what_does_not_fit_is_told_with_what_is_left_and_who_holds_it() {
    let mut linker = Linker::of(&TINY, &[EngineId::RMT, EngineId::L7], None);
    let tenant = |id: u16, given: L7Given| TenantSpec { l7: Some(given), ..TenantSpec::new(id, format!("t{id}")) };
    linker.admit(tenant(1, L7Given { rows: 20, rings: 10, ..L7Given::default() })).unwrap();
    let refused = |linker: &mut Linker, given| linker.admit(tenant(2, given)).unwrap_err().to_string();
    let rows = refused(&mut linker, L7Given { rows: 20, ..L7Given::default() });
    assert_eq!(rows, "40 match rows of l7 asked for, 24 left; held by t1 40");
    let all = refused(&mut linker, L7Given { rows: 33, ..L7Given::default() });
    assert!(all.contains("33 match rows of l7") && all.contains("at most 32"), "{all}");
    let rings = refused(&mut linker, L7Given { rings: 7, ..L7Given::default() });
    assert!(rings.contains("7 rings") && rings.contains("6 left") && rings.contains("t1 10"), "{rings}");
    let messages = refused(&mut linker, L7Given { messages: Some(29), ..L7Given::default() });
    assert!(messages.contains("29 messages") && messages.contains("28 left"), "{messages}");
    // Without a number it is as many as his packets, where these are more than an eighth of all.
    let messages = refused(&mut linker, L7Given { packets: 29, ..L7Given::default() });
    assert!(messages.contains("29 messages") && messages.contains("28 left"), "{messages}");
    linker
        .admit(TenantSpec { l7: Some(L7Given { packets: 8, ..L7Given::default() }), ..TenantSpec::new(4, "t4") })
        .unwrap();
    let messages = refused(&mut linker, L7Given { messages: Some(21), ..L7Given::default() });
    assert!(messages.contains("20 left") && messages.contains("t4 8, t1 4"), "{messages}");
    linker.remove(4).unwrap();
    let beats = refused(&mut linker, L7Given { beats: 449, ..L7Given::default() });
    assert!(beats.contains("449") && beats.contains("at most 448"), "{beats}");
    // A tenant that was given nothing runs no rules, and a device without the engine has none.
    let rules = read("a.l7", DISCARDED).unwrap();
    let object = object("rules", &rules, &TINY).unwrap();
    let mut spec = TenantSpec::new(3, "blue");
    spec.queues.insert(HOST, 16);
    linker.admit(spec.clone()).unwrap();
    let none = linker.load(3, &object).unwrap_err().to_string();
    assert_eq!(none, "object `rules` needs 3 UDP ports of l7, tenant `blue` was given 0");
    let mut without = Linker::new(&TINY);
    without.admit(spec).unwrap();
    assert_eq!(without.load(3, &object).unwrap_err().code(), "E0238");
}

#[test]
fn rows_that_are_not_the_tenants_or_that_packets_use_are_refused() {
    let rules =
        read("a.l7", &format!("{DISCARDED}group g {{ queue 0 queue 1 }}\nraw r {{ port 9003 default group g }}\n"))
            .unwrap();
    let mut linker = Linker::of(&DEFAULT, &[EngineId::RMT, EngineId::L7], None);
    let object = object("rules", &rules, &DEFAULT).unwrap();
    for (id, name) in [(2, "blue"), (3, "red")] {
        let mut spec = TenantSpec::new(id, name);
        spec.queues.insert(HOST, 16);
        spec.make_room(&object);
        linker.admit(spec).unwrap();
    }
    let mut rows = Rows { rows: BTreeMap::new(), generations: BTreeMap::new() };
    linker.load(3, &object).unwrap().steps.iter().for_each(|step| rows.step(step));
    let one = |(table, index): (Table, u32), words: Vec<u32>| Load {
        steps: vec![Step::Write { node: Node::L7, table, index, words }],
        ..linker.clone().replace(3, &object).unwrap()
    };
    let refused = |at, words, code: &str| {
        let error = linker.check(&one(at, words)).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        error.to_string()
    };
    let (space, order) = ("E0231", "E0232");
    for (&at, words) in &rows.rows {
        // Packets use it. A port may be written as it stands: that changes nothing.
        if at.0 != Table::L7Port {
            refused(at, words.clone(), order);
        }
        refused(at, vec![0; words.len()], order);
        // To another module, or in another place.
        refused((at.0, at.1 + 100), words.clone(), space);
        let other = |text: String| assert!(text.contains("of module 1, tenant `red` has module 2"), "{text}");
        macro_rules! stolen {
            ($row:ty) => {
                <$row>::unpack(words).map(|row| <$row>::pack(&<$row>::from_module(row, 1)).unwrap()).unwrap()
            };
        }
        other(match at.0 {
            Table::L7Port => refused(at, stolen!(L7PortRow), space),
            Table::L7Start => refused(at, stolen!(L7StartRow), space),
            Table::L7Match => refused(at, stolen!(L7MatchRow), space),
            _ => refused(at, stolen!(L7GroupRow), space),
        });
    }
    let (at, row) = port(&rows, 9000);
    let words = |row: L7PortRow| row.pack().unwrap();
    linker.check(&one(at, words(L7PortRow { updating: true, ..row }))).unwrap();
    refused(at, words(L7PortRow { updating: true, port: 7, ..row }), order);
    refused(at, words(L7PortRow { generation: false, ..row }), space);
    refused(at, words(L7PortRow { start: row.start - 1, ..row }), space);
    refused(at, words(L7PortRow { types: 9, ..row }), space);
    let queue = |number| L7TargetPart { number, ..row.otherwise };
    refused(at, words(L7PortRow { otherwise: queue(row.otherwise.number - 1), ..row }), space);
    refused(at, words(L7PortRow { otherwise: queue(row.otherwise.number + 3), ..row }), space);
    let ((table, index), group) =
        rows.rows.iter().find(|((table, _), _)| *table == Table::L7Group).map(|(at, words)| (*at, words)).unwrap();
    let mut group = L7GroupRow::unpack(group).unwrap();
    group.slots[5] = 255;
    refused((table, index), group.pack().unwrap(), space);
    let share = L7ShareRow { packets: 1, beats: 0, weight: 0 };
    refused((Table::L7Share, 2), share.pack().unwrap(), space);
    refused((Table::L7Quota, 2), L7QuotaRow { messages: 65 }.pack().unwrap(), space);
    refused((Table::L7Quota, 1), L7QuotaRow { messages: 64 }.pack().unwrap(), space);
    // Rings: his own only, whole, and where descriptors can lie. Doorbells are the driver's.
    let rings = linker.rings(3).unwrap();
    let ring = |change: fn(&mut L7RingRow)| {
        let mut row = RingMemory { log_size: 4, descriptors: 0x1000, completions: 0x2000 }.row(2);
        change(&mut row);
        row.pack().unwrap()
    };
    linker.check(&one((Table::L7Ring, rings.end - 1), ring(|_| {}))).unwrap();
    linker.check(&one((Table::L7Ring, rings.end - 1), vec![0; 5])).unwrap();
    let other = refused((Table::L7Ring, rings.start - 1), ring(|_| {}), space);
    assert!(other.contains("ring 2, tenant `red` has rings 3 to 6, the last one not"), "{other}");
    refused((Table::L7Ring, rings.end), vec![0; 5], space);
    let at = (Table::L7Ring, rings.start);
    refused(at, ring(|row| row.module_id = 1), space);
    refused(at, ring(|row| row.valid = false), space);
    refused(at, ring(|row| row.log_size = 1), space);
    refused(at, ring(|row| row.descriptors += 8), space);
    refused(at, ring(|row| row.completions += 32), space);
    refused((Table::L7Doorbell, rings.start), vec![1], space);
    refused((Table::L7Secret, 1), vec![0; 4], space);
    refused((Table::L7Secret, 0), L7SecretRow { words: [1; 4] }.pack().unwrap(), space);
}

#[test]
fn rings_are_opened_and_closed_once_and_what_cannot_be_is_refused() {
    let mut linker = Linker::of(&TINY, &[EngineId::RMT, EngineId::L7], None);
    let given = L7Given { rings: 4, ..L7Given::default() };
    for id in [1, 2] {
        linker.admit(TenantSpec { l7: Some(given), ..TenantSpec::new(id, format!("t{id}")) }).unwrap();
    }
    let memory = RingMemory { log_size: 4, descriptors: 0x1000, completions: 0x2000 };
    let load = linker.open_ring(2, 1, memory).unwrap();
    let ring = linker.rings(2).unwrap().start + 1;
    let words = memory.row(2).pack().unwrap();
    assert_eq!(load.steps, [Step::Write { node: Node::L7, table: Table::L7Ring, index: ring, words }]);
    let said = |result: Result<Load, LinkError>| result.map(|_| ()).unwrap_err().to_string();
    assert!(said(linker.open_ring(2, 1, memory)).contains("it is open"));
    assert!(said(linker.close_ring(2, 0)).contains("it is closed"));
    assert!(said(linker.open_ring(2, 4, memory)).contains("queues 0 to 3"));
    assert!(said(linker.open_ring(2, 0, RingMemory { log_size: 16, ..memory })).contains("2^2 to 2^15"));
    assert!(said(linker.open_ring(2, 0, RingMemory { completions: 0x2010, ..memory })).contains("multiples of 64"));
    linker.admit(TenantSpec::new(3, "t3")).unwrap();
    assert!(said(linker.open_ring(3, 0, memory)).contains("was given no rings"));
    linker.close_ring(2, 1).unwrap();
    linker.open_ring(2, 1, memory).unwrap();
    linker.open_ring(2, 3, memory).unwrap();
    let zero = |index| Step::Write { node: Node::L7, table: Table::L7Ring, index, words: vec![0; 5] };
    let gone = linker.remove(2).unwrap().steps;
    assert!(gone.contains(&zero(ring)) && gone.contains(&zero(ring + 2)) && !gone.contains(&zero(ring + 1)));
}

fn port(rows: &Rows, number: u16) -> ((Table, u32), L7PortRow) {
    let mut all = rows.rows.iter().filter(|((table, _), _)| *table == Table::L7Port);
    all.find_map(|(at, words)| {
        let row = L7PortRow::unpack(words).unwrap();
        (row.port == number).then_some((*at, row))
    })
    .unwrap()
}

/// A row as another module's.
trait OfModule: Sized {
    fn from_module(row: Self, module: u8) -> Self;
}

macro_rules! of_module {
    ($($row:ident),*) => {
        $(impl OfModule for $row {
            fn from_module(row: Self, module: u8) -> Self {
                Self { module_id: module, ..row }
            }
        })*
    };
}
of_module!(L7PortRow, L7StartRow, L7MatchRow, L7GroupRow);
