//! Tenants come, go, change and grow while all of them fill the NIC: nothing is lost, mixed or left behind.
//!
//! Each program writes its version into a packet twice, from its entry's data and from its action: a packet with two versions has seen a mixture. At the end
//! every tenant goes, and every row that was ever written reads zero, page tables among them: no word can be reached.
//!
//! `SLUICE_LONG=1` makes 10,000 operations.

use crate::support::{self, BARE_TINY, Build, FULL_TINY};
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_formats::address::Access;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::{EngineId, Node, Table, Target, target};
use sluice_frontends::Reading;
use sluice_object::linker::rmt::{EntryKey, EntryLeads, RmtError};
use sluice_object::{Destination, LinkError, Linker, Load, NicSettings, Object, Step, TenantSpec, VlanGrant};
use sluice_rtlsim::RtlNic;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Tenants that there may be at once; each has the VLAN of its ID.
const TENANTS: u16 = 3;
/// Ticks of packets that are offered ahead.
const AHEAD: u64 = 400;
/// A version's entries beyond those that packets meet.
const MOST_FILLERS: u64 = 1;
/// Bytes at which it does so.
const MARKS: [usize; 2] = [14, 16];

/// A program that marks packets with `version`, with some entries that none meets, and words.
fn program(version: u16, fillers: u64, target: &Target) -> Object {
    let entries: String = (0..fillers).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, " {} -> set({version})", 0x9000 + i);
        text
    });
    let text = format!(
        "module v{version}\ncontainer kind = c2[0], first = c2[1], second = c2[2]\nparser {{\n select 12:2 {{\n 0x1234 -> all\n }}\n \
         path all {{\n take kind @12, first @14, second @16\n }}\n}}\n\
         stage 1 {{\n memory seen words 64\n key kind\n exact {{\n 0x1234 -> set({version})\n{entries} }}\n default drop\n \
         action set(v: 2) {{ first = v; second = {version}; seen[hash] += 1; send port1 }}\n action drop {{ discard }}\n}}\n\
         deparser {{\n row r {{\n put first @14, second @16\n }}\n}}\n"
    );
    let read = sluice_frontends::decode(Path::new("v.rmt"), text.as_bytes(), &Reading::new(target, "v"));
    read.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// What is known of a tenant.
struct Tenant {
    /// Version that runs; none where nothing does.
    version: Option<u16>,
    /// Versions that a packet on its way may meet: the one that runs, and one that comes.
    possible: BTreeSet<Option<u16>>,
}

struct Endurance {
    nic: RtlNic,
    linker: Linker,
    target: &'static Target,
    rng: Rng,
    tenants: BTreeMap<u16, Tenant>,
    versions: u16,
    /// Ticks up to which packets have been offered.
    offered_to: u64,
    /// Number of the next frame, and whose a frame under way is with the versions that it may meet.
    next: u32,
    under_way: BTreeMap<u32, (u16, BTreeSet<Option<u16>>)>,
    /// Rows that were ever written.
    written: BTreeSet<(Node, Table, u32)>,
    done: BTreeMap<&'static str, u64>,
    packets: u64,
}

impl Endurance {
    fn new(build: Build, target: &'static Target, seed: u64) -> Self {
        let nic = build.open(build.options(seed));
        let mut this = Self {
            nic,
            linker: Linker::new(target),
            target,
            rng: Rng::new(seed),
            tenants: BTreeMap::new(),
            versions: 0,
            offered_to: 0,
            next: 0,
            under_way: BTreeMap::new(),
            written: BTreeSet::new(),
            done: BTreeMap::new(),
            packets: 0,
        };
        let first = this.linker.nic(NicSettings::new(target)).unwrap();
        run_load(&mut this.nic, &first, &mut Vec::new()).unwrap();
        this.offered_to = this.nic.now();
        this
    }

    /// A packet in every cycle but for those of two beats, of tenants in turn.
    fn offer(&mut self) {
        let ids: Vec<u16> = self.tenants.keys().copied().collect();
        let end = self.nic.now() + AHEAD;
        let mut offers = Vec::new();
        while !ids.is_empty() && self.offered_to < end {
            let id = *self.rng.choose(&ids).unwrap();
            let length = self.rng.range(64, 68 + u64::from(self.target.bus_bytes)) as usize;
            let mut bytes = self.rng.bytes(length);
            bytes[12..18].copy_from_slice(&[0x81, 0, 0, id as u8, 0x12, 0x34]);
            self.under_way.insert(self.next, (id, self.tenants[&id].possible.clone()));
            self.next += 1;
            offers.push(Offer { port: 0, bytes, at: self.offered_to, bad: false });
            self.offered_to += u64::from(self.target.beats(length as u32 - 4));
        }
        self.offered_to = self.offered_to.max(end - AHEAD);
        self.nic.offer(&offers).unwrap();
    }

    /// Packets that are under way may meet another version from now on.
    fn allow(&mut self, id: u16, version: Option<u16>) {
        self.tenants.get_mut(&id).unwrap().possible.insert(version);
        self.under_way.values_mut().filter(|(of, _)| *of == id).for_each(|(_, possible)| possible.extend([version]));
    }

    /// From now on packets meet this version only.
    fn settle(&mut self, id: u16, version: Option<u16>) {
        let tenant = self.tenants.get_mut(&id).unwrap();
        (tenant.version, tenant.possible) = (version, BTreeSet::from([version]));
    }

    fn check(&mut self, outcome: &Outcome) {
        self.packets += 1;
        let (id, possible) = self.under_way.remove(&outcome.id).expect("it was offered and ends once");
        match outcome.verdict {
            Verdict::Forwarded { port: 1 } => {
                let mark = |at: usize| u16::from_be_bytes([outcome.bytes[at + 4], outcome.bytes[at + 5]]);
                let [first, second] = MARKS.map(mark);
                assert_eq!(first, second, "packet {:#x} of tenant {id} has seen a mixture", outcome.id);
                assert!(
                    possible.contains(&Some(first)),
                    "packet {:#x} of tenant {id}: {first}, {possible:?}",
                    outcome.id
                );
            }
            verdict => {
                assert!(possible.contains(&None), "packet {:#x} of tenant {id}: {verdict:?}, {possible:?}", outcome.id)
            }
        }
    }

    /// Runs a load while packets flow.
    fn run(&mut self, what: &'static str, load: &Load) {
        self.written.extend(load.steps.iter().filter_map(|step| match step {
            Step::Write { node, table, index, .. } => Some((*node, *table, *index)),
            _ => None,
        }));
        *self.done.entry(what).or_default() += 1;
        let op = self.nic.submit(load).unwrap();
        let mut ended = false;
        while !ended {
            self.offer();
            self.nic.advance(AHEAD / 4).unwrap();
            for event in self.nic.poll(usize::MAX) {
                match event {
                    Event::Outcome(outcome) => self.check(&outcome),
                    Event::OpDone { op: done, result } => {
                        result.unwrap();
                        ended |= done == op;
                    }
                }
            }
        }
    }

    fn program(&mut self) -> (u16, Object) {
        self.versions += 1;
        let fillers = self.rng.below(MOST_FILLERS + 1);
        let version = self.versions % 0x8000;
        (version, program(version, fillers, self.target))
    }

    fn admit(&mut self, id: u16) {
        let mut spec =
            TenantSpec { vlans: vec![VlanGrant { port: None, vlan: id }], ..TenantSpec::new(id, format!("t{id}")) };
        spec.queues = [(Destination::Port(1), (self.linker.grantable_cells() / u32::from(TENANTS)) as u16)].into();
        spec.make_room(&program(1, MOST_FILLERS + 1, self.target));
        let load = self.linker.admit(spec).unwrap();
        self.run("admit", &load);
        self.tenants.insert(id, Tenant { version: None, possible: BTreeSet::from([None]) });
    }

    /// One operation on a tenant, which is drawn.
    fn operate(&mut self) {
        let id = self.rng.range(1, TENANTS.into()) as u16;
        let Some(tenant) = self.tenants.get(&id) else { return self.admit(id) };
        match (tenant.version, self.rng.below(10)) {
            (None, 0) | (Some(_), 0) => {
                // No packet of it comes any more.
                self.tenants.remove(&id);
                let load = self.linker.remove(id).unwrap();
                self.under_way.values_mut().filter(|(of, _)| *of == id).for_each(|(_, p)| p.extend([None]));
                self.run("remove", &load);
            }
            (None, _) => {
                let (version, object) = self.program();
                let load = self.linker.load(id, &object).unwrap();
                self.allow(id, Some(version));
                self.run("load", &load);
                self.settle(id, Some(version));
            }
            (Some(_), 1) => {
                let load = self.linker.unload(id).unwrap();
                self.allow(id, None);
                self.run("unload", &load);
                self.settle(id, None);
            }
            (Some(_), 2..=5) => {
                let (version, object) = self.program();
                let load = self.linker.replace(id, &object).unwrap();
                self.allow(id, Some(version));
                self.run("replace", &load);
                self.settle(id, Some(version));
            }
            (Some(_), _) => self.entry(id),
        }
    }

    /// Adds an entry that no packet meets to a stage, or takes one away, or lets one lead elsewhere.
    fn entry(&mut self, id: u16) {
        let stage = 1;
        let all = self.linker.rmt_entries(id, stage).unwrap();
        let (_, leads) = all[0];
        let met =
            |key: &EntryKey| matches!(key, EntryKey::Exact(key) if key.0.contains(&0x12) && key.0.contains(&0x34));
        let others: Vec<EntryKey> = all.iter().map(|(key, _)| *key).filter(|key| !met(key)).collect();
        let pick = self.rng.below(3);
        let (what, load) = match others.first().copied().filter(|_| pick > 0) {
            Some(key) if pick == 1 => ("delete", self.linker.rmt_delete(id, stage, key)),
            Some(key) => {
                let leads = EntryLeads { data: Default::default(), ..leads };
                ("modify", self.linker.rmt_modify(id, stage, key, &leads))
            }
            None => {
                let EntryKey::Exact(mut key) = all.iter().find(|(key, _)| met(key)).unwrap().0 else { return };
                // Another kind, which no packet has.
                let at = key.0.iter().position(|byte| *byte == 0x34).unwrap();
                key.0[at] = self.rng.range(0x40, 0xff) as u8;
                ("insert", self.linker.rmt_insert(id, stage, EntryKey::Exact(key), &leads, None))
            }
        };
        match load {
            Ok(load) => self.run(what, &load),
            // The table is full, or the key is there.
            Err(LinkError::Rmt(RmtError::Entry { .. } | RmtError::NoPlace { .. })) if what == "insert" => {}
            Err(error) => panic!("{what}: {error:?}"),
        }
    }

    /// Every tenant goes; what was ever written reads zero, but for whose stages are and what ports do.
    fn leave_nothing(&mut self) {
        for id in self.tenants.keys().copied().collect::<Vec<_>>() {
            self.tenants.remove(&id);
            self.under_way.values_mut().for_each(|(_, possible)| possible.extend([None]));
            let load = self.linker.remove(id).unwrap();
            self.run("remove", &load);
        }
        self.nic.quiesce().unwrap();
        for event in self.nic.poll(usize::MAX) {
            if let Event::Outcome(outcome) = event {
                self.check(&outcome);
            }
        }
        assert!(self.under_way.is_empty(), "{} packets never ended", self.under_way.len());
        let counters = self.nic.counters().unwrap();
        assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
        let is_row = |table: &Table| table.access() == Access::ReadWrite;
        for (node, table, index) in self.written.clone().into_iter().filter(|(_, table, _)| is_row(table)) {
            // Words of pages that nobody has any more are zeroed for the next one who gets them.
            if table == Table::ZeroPage {
                continue;
            }
            let words = self.nic.read_row(node, table, index).unwrap();
            // The generation that would run is none's.
            let left = table != Table::Generation && words.iter().any(|word| *word != 0);
            assert!(!left, "{node:?} {}[{index}] is left with {words:x?}", table.name());
        }
        assert!(self.written.iter().any(|(node, ..)| node.engine() == Some(EngineId::RMT)));
    }
}

#[test]
fn tenants_that_come_go_and_change_lose_nothing_and_leave_nothing() {
    let seed = test_seed("tenants_that_come_go_and_change_lose_nothing_and_leave_nothing");
    for (build, operations) in [(BARE_TINY, 300), (FULL_TINY, 30)] {
        if build.is_there() {
            run(build, if support::long() { 10_000 } else { operations }, seed);
        }
    }
}

fn run(build: Build, operations: u64, seed: u64) {
    let mut endurance = Endurance::new(build, &target::TINY, seed);
    for _ in 0..operations {
        endurance.operate();
    }
    endurance.leave_nothing();
    let done: u64 = endurance.done.values().sum();
    println!(
        "{build}: {done} operations, {:?}, {} packets in {} cycles",
        endurance.done,
        endurance.packets,
        endurance.nic.now()
    );
    assert!(done >= operations * 9 / 10);
}
