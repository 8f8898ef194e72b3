//! XDP programs of all tenants are loaded, replaced and unloaded, and their maps changed by the host, while packets come back to back: nothing is
//! lost but what a full queue counts, nothing is mixed, and no byte of another tenant, version or packet is seen.
//!
//! Each program writes whose it is and its version into the frame, and shows a value of its map, words of the stack that nobody has written, and bytes in
//! front of the frame. Values say whose they are, too. Every frame that leaves is compared byte for byte.
//!
//! `SLUICE_LONG=1` makes 10,000 operations on each target.

use crate::support;
use crate::xdp::device::{Nic, frame};
use crate::xdp::marks::{self, ENTRIES, Version};
use sluice_device::{Device, DeviceError, Event, Offer, Outcome, Verdict};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{Reason, Target};
use sluice_object::{Load, XdpShare};
use sluice_rtlsim::{RtlNic, RtlOptions, Variant, top};
use std::collections::{BTreeMap, BTreeSet};

/// Ticks of packets that are offered ahead: an operation of the host on a map takes some hundred.
const AHEAD: u64 = 1_500;

/// A map, as long as programs have it.
#[derive(Default)]
struct Map {
    /// What is in it.
    held: BTreeMap<u32, u64>,
    /// Every value that a key has had, with 0 where there was none.
    past: BTreeMap<u32, Vec<u64>>,
}

impl Map {
    fn becomes(&mut self, key: u32, value: Option<u64>) {
        match value {
            Some(value) => drop(self.held.insert(key, value)),
            None => drop(self.held.remove(&key)),
        }
        self.past.entry(key).or_insert_with(|| vec![0]).push(value.unwrap_or(0));
    }

    /// How often a key has changed.
    fn changes(&self, key: u32) -> usize {
        self.past.get(&key).map_or(0, |past| past.len() - 1)
    }

    /// Values of a key since it had changed so often.
    fn since(&self, key: u32, changes: usize) -> &[u64] {
        self.past.get(&key).map_or(&[0], |past| &past[changes.min(past.len() - 1)..])
    }
}

/// What is known of a tenant.
struct Tenant {
    /// Version that runs; none where nothing does.
    version: Option<u32>,
    /// Versions that a packet on its way may meet.
    possible: BTreeSet<Option<u32>>,
    /// First and last stamp, and generation, of packets that a version had.
    stamps: BTreeMap<u32, (u64, u64, u8)>,
}

/// A packet on its way.
struct UnderWay {
    tenant: u16,
    frame: Vec<u8>,
    possible: BTreeSet<Option<u32>>,
    /// How often its key had changed in each map that there was when it was offered.
    changes: BTreeMap<usize, usize>,
}

#[derive(Debug, Default)]
struct Counts {
    packets: u64,
    left: u64,
    without_program: u64,
    queue: u64,
    /// Values that were in the map under another key: the slot was taken while a packet looked at it.
    reused: u64,
    /// Frames with a value of the host.
    valued: u64,
    done: BTreeMap<&'static str, u64>,
}

struct Endurance {
    nic: Nic<RtlNic>,
    rng: Rng,
    target: &'static Target,
    tenants: BTreeMap<u16, Tenant>,
    versions: Vec<(Version, usize)>,
    maps: Vec<Map>,
    offered_to: u64,
    /// Number of the next frame of each port.
    next: Vec<u32>,
    under_way: BTreeMap<u32, UnderWay>,
    values: u32,
    counts: Counts,
}

impl Endurance {
    fn new(target: &'static Target, seed: u64) -> Self {
        let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
        let device = RtlNic::open(target.name, options).unwrap_or_else(|e| panic!("{e}"));
        let count: u16 = if target.name == "tiny" { 3 } else { 8 };
        let nic = Nic::of(device, count, |spec| {
            spec.xdp_share = Some(XdpShare { weight: 16, rows: 60, ..XdpShare::default() })
        });
        let none = || Tenant { version: None, possible: BTreeSet::from([None]), stamps: BTreeMap::new() };
        Self {
            offered_to: nic.device.now(),
            nic,
            rng: Rng::new(seed),
            target,
            tenants: (1..=count).map(|id| (id, none())).collect(),
            versions: Vec::new(),
            maps: Vec::new(),
            next: vec![0; target.ports as usize],
            under_way: BTreeMap::new(),
            values: 0,
            counts: Counts::default(),
        }
    }

    /// Packets one behind the other, of tenants at random.
    fn offer(&mut self) {
        let end = self.nic.device.now() + AHEAD;
        self.offered_to = self.offered_to.max(self.nic.device.now());
        let mut offers = Vec::new();
        while self.offered_to < end {
            let id = self.rng.range(1, self.tenants.len() as u64) as u16;
            let port = self.rng.index(self.next.len());
            let most = [120, 600][self.rng.index(2)];
            let length = self.rng.range(60, most) as usize;
            let key = self.rng.below(u64::from(ENTRIES) + 2) as u8;
            let rest = self.rng.bytes(length - 15);
            let bytes = frame(id, key, &rest);
            // Without its tag.
            let inside = [&bytes[..12], &bytes[16..]].concat();
            let beats = self.target.beats(inside.len() as u32);
            let possible = self.tenants[&id].possible.clone();
            let maps = possible.iter().flatten().map(|version| self.versions[*version as usize].1);
            let changes = maps.map(|map| (map, self.maps[map].changes(key.into()))).collect();
            let packet = UnderWay { tenant: id, frame: inside, possible, changes };
            self.under_way.insert((port as u32) << 28 | self.next[port], packet);
            self.next[port] += 1;
            offers.push(Offer { port: port as u8, bytes, at: self.offered_to, bad: false });
            self.offered_to += u64::from(beats);
        }
        self.nic.device.offer(&offers).unwrap_or_else(|e| panic!("{e}"));
    }

    fn allow(&mut self, id: u16, version: Option<u32>) {
        self.tenants.get_mut(&id).expect("a tenant").possible.insert(version);
        self.under_way.values_mut().filter(|p| p.tenant == id).for_each(|p| p.possible.extend([version]));
    }

    fn settle(&mut self, id: u16, version: Option<u32>) {
        let tenant = self.tenants.get_mut(&id).expect("a tenant");
        (tenant.version, tenant.possible) = (version, BTreeSet::from([version]));
    }

    fn check(&mut self, outcome: &Outcome) {
        self.counts.packets += 1;
        let packet = self.under_way.remove(&outcome.id).expect("it was offered and ends once");
        let UnderWay { tenant, frame, possible, changes } = &packet;
        match outcome.verdict {
            Verdict::Forwarded { port } if u32::from(port) == outcome.id >> 28 => {}
            Verdict::Dropped { reason: Reason::XdpQueue, .. } => {
                assert!(possible.iter().any(Option::is_some), "a queue of a tenant without a program");
                self.counts.queue += 1;
                return;
            }
            Verdict::Dropped { reason: Reason::NoDestination, .. } => {
                assert!(possible.contains(&None), "packet {:#x} of tenant {tenant}: {possible:?}", outcome.id);
                self.counts.without_program += 1;
                return;
            }
            verdict => panic!("packet {:#x} of tenant {tenant}: {verdict:?}, {possible:?}", outcome.id),
        }
        // The tag stands behind the addresses.
        let bytes = [&outcome.bytes[..12], &outcome.bytes[16..]].concat();
        let wrong = || format!("packet {:#x} of tenant {tenant}: {bytes:x?} of {frame:x?}, {possible:?}", outcome.id);
        let marks = Version::read(&bytes, *tenant);
        let found = marks.iter().find(|(number, head, value)| {
            let version = self.versions.get(*number as usize).map(|(version, _)| *version);
            version.is_some_and(|v| {
                v.head == *head && possible.contains(&Some(*number)) && v.leaves(frame, *value) == bytes
            })
        });
        let (number, _, value) = *found.unwrap_or_else(|| panic!("{}", wrong()));
        let (version, map) = self.versions[number as usize];
        let since = |key: u32| {
            self.maps[map]
                .since(key, if key == marks::key(frame) { changes.get(&map).copied().unwrap_or(0) } else { 0 })
        };
        if !since(marks::key(frame)).contains(&value) {
            let other = version.hash && (0..ENTRIES).any(|key| since(key).contains(&value));
            assert!(other, "value {value:#x}: {}", wrong());
            self.counts.reused += 1;
        }
        self.counts.left += 1;
        self.counts.valued += u64::from(value != 0);
        // A commit lies between two packets.
        let (stamp, generation) = (outcome.stamp.expect("a stamp"), outcome.generation.expect("a generation"));
        let stamps = &mut self.tenants.get_mut(tenant).expect("a tenant").stamps;
        let entry = stamps.entry(number).or_insert((stamp, stamp, generation));
        assert_eq!(entry.2, generation, "a version has one generation: {}", wrong());
        *entry = (entry.0.min(stamp), entry.1.max(stamp), generation);
        let own = *entry;
        let before = stamps.range(..number).next_back().is_none_or(|(_, other)| other.1 < own.0);
        let behind = stamps.range(number + 1..).next().is_none_or(|(_, other)| own.1 < other.0);
        assert!(before && behind, "versions of tenant {tenant} follow each other: {number}, {stamps:?}");
    }

    fn look(&mut self) {
        for outcome in self.nic.outcomes() {
            self.check(&outcome);
        }
    }

    /// Runs a load while packets flow.
    fn run(&mut self, what: &'static str, load: &Load) {
        *self.counts.done.entry(what).or_default() += 1;
        let op = self.nic.device.submit(load).unwrap_or_else(|e| panic!("{e}"));
        let mut ended = false;
        while !ended {
            self.offer();
            self.nic.device.advance(AHEAD / 4).unwrap_or_else(|e| panic!("{e}"));
            for event in self.nic.device.poll(usize::MAX) {
                match event {
                    Event::Outcome(outcome) => self.check(&outcome),
                    Event::OpDone { op: done, result } => {
                        result.unwrap_or_else(|e| panic!("{e}"));
                        ended |= done == op;
                    }
                }
            }
        }
    }

    /// One operation on a tenant, both drawn.
    fn operate(&mut self) {
        let id = self.rng.range(1, self.tenants.len() as u64) as u16;
        match (self.tenants[&id].version, self.rng.below(12)) {
            (None, _) | (Some(_), 0..=2) => self.put(id),
            (Some(_), 3) => {
                let load = self.nic.linker.unload(id).unwrap_or_else(|e| panic!("{e}"));
                self.allow(id, None);
                self.run("unload", &load);
                self.settle(id, None);
            }
            (Some(version), _) => {
                self.offer();
                self.host(id, version);
                self.look();
            }
        }
    }

    /// Loads a version, or puts it in the place of the one that runs, whose map it may keep.
    fn put(&mut self, id: u16) {
        let number = self.versions.len() as u32;
        let version = Version { tenant: id, number, hash: self.rng.chance(1, 2), head: self.rng.chance(1, 3) };
        let running = self.tenants[&id].version.map(|number| self.versions[number as usize]);
        let kept = running.filter(|(old, _)| old.hash == version.hash).filter(|_| self.rng.chance(1, 2));
        let object = version.object(kept.is_some());
        let linker = &mut self.nic.linker;
        let load = if running.is_some() { linker.replace(id, &object) } else { linker.load(id, &object) };
        let what = match (running, kept) {
            (None, _) => "load",
            (Some(_), None) => "replace",
            (Some(_), Some(_)) => "replace, with its map",
        };
        let load = load.unwrap_or_else(|e| panic!("{what}: {e}"));
        let map = kept.map_or(self.maps.len(), |(_, map)| map);
        if kept.is_none() {
            self.maps.push(Map::default());
        }
        self.versions.push((version, map));
        self.allow(id, Some(number));
        self.run(what, &load);
        self.settle(id, Some(number));
    }

    /// An operation of the host on a tenant's map, whose answer is known: nobody else changes it.
    fn host(&mut self, id: u16, version: u32) {
        let (Version { hash, .. }, map) = self.versions[version as usize];
        let (module, number) = (self.nic.module(id), self.nic.map(id, self.versions[version as usize].0.map()));
        let key = self.rng.below(u64::from(ENTRIES) + 1) as u32;
        let bytes = key.to_le_bytes();
        let maps = self.nic.device.maps().unwrap_or_else(|e| panic!("{e}"));
        let held = &mut self.maps[map];
        let there = held.held.contains_key(&key);
        let is_in = if hash { there } else { key < ENTRIES };
        let full = hash && !there && held.held.len() as u32 == ENTRIES;
        let refused = |error: &DeviceError| assert!(matches!(error, DeviceError::Map { .. }), "{error}");
        let what = match self.rng.below(8) {
            0 => {
                let found = maps.lookup(module, number, &bytes).inspect_err(refused).ok();
                let expected = is_in.then(|| held.held.get(&key).copied().unwrap_or(0).to_le_bytes().to_vec());
                assert_eq!(found, expected, "tenant {id}, key {key}");
                "lookup"
            }
            1 => {
                let mut keys = BTreeSet::new();
                let mut last = None;
                while let Some(next) = maps.next_key(module, number, last.as_deref()).unwrap_or_else(|e| panic!("{e}"))
                {
                    assert!(keys.insert(next.clone()), "a key once");
                    last = Some(next);
                }
                let all: BTreeSet<u32> =
                    if hash { held.held.keys().copied().collect() } else { (0..ENTRIES).collect() };
                assert_eq!(keys, all.iter().map(|key| key.to_le_bytes().to_vec()).collect(), "tenant {id}");
                "keys"
            }
            2 | 3 => {
                let gone = maps.delete(module, number, &bytes).inspect_err(refused).is_ok();
                assert_eq!(gone, hash && there, "tenant {id}, key {key}");
                if gone {
                    held.becomes(key, None);
                }
                "delete"
            }
            _ => {
                let flags = [0, 0, 0, 1, 2][self.rng.index(5)];
                self.values += 1;
                let value = Version::value(id, key, self.values);
                let expected = match flags {
                    1 => !is_in && hash && !full,
                    2 => is_in,
                    _ => is_in || hash && !full,
                };
                // While it is written both may be seen.
                if expected {
                    held.becomes(key, Some(value));
                }
                let done =
                    maps.update(module, number, &bytes, &value.to_le_bytes(), flags).inspect_err(refused).is_ok();
                assert_eq!(done, expected, "tenant {id}, key {key}, flags {flags}");
                "update"
            }
        };
        *self.counts.done.entry(what).or_default() += 1;
    }

    /// Every tenant's program goes, and every packet has ended and is counted.
    fn end(&mut self) {
        for id in self.tenants.keys().copied().collect::<Vec<_>>() {
            if self.tenants[&id].version.is_some() {
                let load = self.nic.linker.unload(id).unwrap_or_else(|e| panic!("{e}"));
                self.allow(id, None);
                self.run("unload", &load);
                self.settle(id, None);
            }
        }
        self.nic.device.quiesce().unwrap_or_else(|e| panic!("{e}"));
        self.look();
        assert!(self.under_way.is_empty(), "{} packets never ended", self.under_way.len());
        let counters = self.nic.device.counters().unwrap_or_else(|e| panic!("{e}"));
        assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
        let queue: u64 =
            counters.modules.values().map(|m| m.dropped.get(&Reason::XdpQueue).copied().unwrap_or(0)).sum();
        assert_eq!(queue, self.counts.queue, "what the queues dropped is counted");
    }
}

#[test]
fn programs_that_come_go_and_change_lose_nothing_and_see_nothing_of_others() {
    let test = "programs_that_come_go_and_change_lose_nothing_and_see_nothing_of_others";
    let all = if support::long() { vec![(&TINY, 10_000), (&DEFAULT, 10_000)] } else { vec![(&TINY, 800)] };
    for (target, operations) in all {
        if !support::has_top(&top::XDP, target.name, Variant::Test) {
            continue;
        }
        let mut endurance = Endurance::new(target, test_seed(test));
        for number in 0..operations {
            endurance.operate();
            if number % 1_000 == 999 {
                println!("{}: {} operations, {} packets", target.name, number + 1, endurance.counts.packets);
            }
        }
        endurance.end();
        let counts = &endurance.counts;
        println!("{}: {operations} operations, {counts:?} in {} cycles", target.name, endurance.nic.device.now());
        assert!(counts.left > counts.packets / 20 && counts.valued > counts.left / 20, "{counts:?}");
        assert!(counts.reused * 1_000 <= counts.left, "{counts:?}");
    }
}
