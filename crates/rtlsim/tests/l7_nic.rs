//! Message dispatch in the whole NIC does what the model does: decisions, frames, what is in host memory, counters, replacements.

use crate::l7::traffic::Traffic;
use crate::support;
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_formats::Target;
use sluice_formats::l7::codes::{L7PortKind, L7Status};
use sluice_formats::l7::rows::L7PortRow;
use sluice_formats::l7::target::DEFAULT as L7_DEFAULT;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_l7::object::object;
use sluice_l7::rules::{Kind, Rules};
use sluice_l7::testing::{Limits, rules};
use sluice_object::{Destination, Linker, Load, Object, PortSettings, TenantSpec};
use sluice_rtlsim::{Comparison, Ready, RtlOptions, Stalls, Variant};
use std::collections::BTreeMap;

const HOST: Destination = Destination::Host(3);

/// A tenant on the port before its number, with rules for messages.
struct Tenant {
    id: u16,
    rules: Rules,
    /// Rings that are open.
    open: Vec<u8>,
}

struct Bench {
    nic: Comparison,
    linker: Linker,
    rng: Rng,
    tenants: Vec<Tenant>,
    /// By what became of packets and messages.
    counts: BTreeMap<String, u64>,
}

fn limits(target: &Target) -> Limits {
    match target.name {
        "tiny" => Limits { applications: 2, types: 2, rules: 2, patterns: 2, steps: 3, groups: 1, ..Limits::default() },
        _ => Limits::default(),
    }
}

impl Bench {
    /// A NIC with some tenants, each with rules of its own and all rings that it got open.
    fn open(target: &'static Target, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let ready = *rng
            .choose(&[Ready::Always, Ready::Random { chance: 100 }, Ready::Bursts { chance: 90, longest: 90 }])
            .unwrap();
        let stalls = Stalls { ready, port_gaps: *rng.choose(&[0, 30, 150]).unwrap(), ..Stalls::default() };
        let options = RtlOptions { seed: rng.next_u64(), stalls, ..RtlOptions::default() };
        let nic = Comparison::open(target.name, options, support::waves_folder()).unwrap();
        let linker = Linker::of(target, &nic.capabilities().engines, Some(sluice_hxdp::rows::compiler));
        let mut bench = Self { nic, linker, rng, tenants: Vec::new(), counts: BTreeMap::new() };
        let mut settings = bench.linker.settings().clone();
        for id in 1..=3u16 {
            if !bench.admit(target, id) {
                break;
            }
            settings.ports[usize::from(id) - 1] = PortSettings { untagged: Some(id), ..PortSettings::default() };
        }
        let load = bench.linker.nic(settings).unwrap();
        bench.run(&load);
        bench
    }

    fn run(&mut self, load: &Load) {
        let mut outcomes = Vec::new();
        run_load(&mut self.nic, load, &mut outcomes).unwrap_or_else(|error| panic!("{error}"));
        outcomes.iter().for_each(|outcome| self.count(outcome));
    }

    /// Rules that a tenant has room for, and what they are as an object.
    fn rules(&mut self, target: &'static Target) -> (Rules, Object) {
        loop {
            let rules = rules(&mut self.rng, &limits(target));
            if let Ok(object) = object("rules", &rules, target) {
                return (rules, object);
            }
        }
    }

    /// Whether there was room for one more.
    fn admit(&mut self, target: &'static Target, id: u16) -> bool {
        for _ in 0..200 {
            let (rules, object) = self.rules(target);
            let mut spec = TenantSpec::new(id, format!("tenant{id}"));
            spec.queues.insert(HOST, (target.cells / 5) as u16);
            spec.make_room(&object);
            spec.make_room(&self.rules(target).1);
            if spec.l7.is_none_or(|given| given.rings > if target.name == "tiny" { 8 } else { 60 }) {
                continue;
            }
            let Ok(load) = self.linker.admit(spec) else { continue };
            self.run(&load);
            let load = self.linker.load(id, &object).unwrap();
            self.run(&load);
            let mut tenant = Tenant { id, rules, open: Vec::new() };
            let rings = self.linker.rings(id).unwrap();
            for (queue, ring) in rings.enumerate() {
                if !self.rng.chance(3, 4) {
                    continue;
                }
                let (module, log_size) = (self.linker.tenant(id).unwrap().module, self.rng.range(2, 5) as u8);
                let memory = self.nic.rings().unwrap().give_memory(module, ring as u8, log_size).unwrap();
                let load = self.linker.open_ring(id, queue as u8, memory).unwrap();
                self.run(&load);
                tenant.open.push(ring as u8);
                let buffers = self.rng.index((1 << log_size) + 1);
                self.post(id, ring as u8, buffers);
            }
            self.tenants.push(tenant);
            return true;
        }
        assert!(id > 1, "no rules fit");
        false
    }

    /// Begins to put other rules in the place of a tenant's, if they fit.
    fn replace(&mut self, target: &'static Target) -> bool {
        let at = self.rng.index(self.tenants.len());
        for _ in 0..10 {
            let (rules, object) = self.rules(target);
            if let Ok(load) = self.linker.replace(self.tenants[at].id, &object) {
                self.nic.submit(&load).unwrap();
                self.tenants[at].rules = rules;
                return true;
            }
        }
        false
    }

    fn post(&mut self, id: u16, ring: u8, count: usize) {
        let module = self.linker.tenant(id).unwrap().module;
        let lengths: Vec<u32> = (0..count)
            .map(|_| if self.rng.chance(1, 8) { self.rng.range(42, 300) } else { self.rng.range(300, 40_000) } as u32)
            .collect();
        self.nic.rings().unwrap().post(module, ring, &lengths).unwrap();
    }

    /// What makes packets of all tenants' messages.
    fn traffic(&mut self) -> Traffic {
        let mut ports = Vec::new();
        for tenant in &self.tenants {
            let module_id = self.linker.tenant(tenant.id).unwrap().module;
            for application in &tenant.rules.applications {
                let (kind, id) = match application.kind {
                    Kind::Application(id) => (L7PortKind::Application, id),
                    Kind::Endpoint => (L7PortKind::Endpoint, 0),
                    Kind::Raw => (L7PortKind::Raw, 0),
                };
                let row =
                    L7PortRow { module_id, port: application.port, id, kind: kind.code(), ..L7PortRow::default() };
                ports.push((row, application.clone()));
            }
        }
        Traffic::new(self.rng.fork(), ports, &L7_DEFAULT)
    }

    /// Offers packets of all tenants.
    fn offer(&mut self, traffic: &mut Traffic, packets: usize) {
        let offers: Vec<Offer> = (0..packets)
            .map(|_| {
                let (module, bytes) = traffic.next();
                let of = |t: &&Tenant| self.linker.tenant(t.id).is_ok_and(|tenant| tenant.module == module);
                let tenant = self.tenants.iter().find(of).map_or(1, |tenant| tenant.id);
                Offer { port: tenant as u8 - 1, bytes, at: 0, bad: false }
            })
            .collect();
        self.nic.offer(&offers).unwrap();
    }

    fn count(&mut self, outcome: &Outcome) {
        let name = match outcome.verdict {
            Verdict::Dropped { reason, .. } => reason.name(),
            Verdict::Consumed { .. } => "consumed",
            Verdict::Delivered { .. } if outcome.queue != 0 => "queue",
            Verdict::Delivered { .. } => "frame",
            Verdict::Forwarded { .. } => "forwarded",
        };
        *self.counts.entry(name.to_owned()).or_default() += 1;
    }

    /// Takes what has happened, and messages out of their rings. Gives how many loads have ended.
    fn poll(&mut self) -> u32 {
        let mut done = 0;
        for event in self.nic.poll(usize::MAX) {
            match event {
                Event::OpDone { result, .. } => {
                    result.unwrap();
                    done += 1;
                }
                Event::Outcome(outcome) => self.count(&outcome),
            }
        }
        for at in 0..self.tenants.len() {
            let module = self.linker.tenant(self.tenants[at].id).unwrap().module;
            for ring in self.tenants[at].open.clone() {
                let messages = self.nic.rings().unwrap().take(module, ring, usize::MAX).unwrap();
                for message in &messages {
                    let name = if message.status == L7Status::Whole { "whole" } else { "expired" };
                    *self.counts.entry(name.to_owned()).or_default() += 1;
                }
                // Not all places are given buffers again.
                if self.rng.chance(3, 4) {
                    self.post(self.tenants[at].id, ring, messages.len());
                }
            }
        }
        done
    }

    fn closes(&mut self) {
        let counters = self.nic.counters().unwrap();
        assert!(counters.modules.values().all(|c| c.closes()), "{counters:?}");
    }
}

fn in_lockstep(target: &'static Target, name: &str, rounds: usize, turns: usize, least: &[&str]) {
    if !support::has(target.name, Variant::Test) {
        return;
    }
    let mut seeds = Rng::new(test_seed(name));
    let (mut counts, mut replaced) = (BTreeMap::<String, u64>::new(), 0);
    for _ in 0..rounds {
        let mut bench = Bench::open(target, seeds.next_u64());
        let (mut traffic, mut loads) = (bench.traffic(), 0);
        for _ in 0..turns {
            let packets = 1 + bench.rng.index(16);
            bench.offer(&mut traffic, packets);
            let ticks = bench.rng.range(1, 800);
            bench.nic.advance(ticks).unwrap();
            loads -= bench.poll();
            // Other rules while packets of the old ones are on their way.
            if loads == 0 && bench.rng.chance(1, 4) && bench.replace(target) {
                (loads, replaced) = (1, replaced + 1);
                traffic = bench.traffic();
            }
            if bench.rng.chance(1, 6) {
                bench.closes();
            }
        }
        bench.nic.quiesce().unwrap();
        bench.poll();
        bench.closes();
        for (name, count) in &bench.counts {
            *counts.entry(name.clone()).or_default() += count;
        }
    }
    println!("{}: {replaced} replacements, {counts:?}", target.name);
    assert!(replaced > 0);
    for name in least {
        assert!(counts.get(*name).is_some_and(|count| *count > 0), "too few: {name}: {counts:?}");
    }
}

#[test]
fn tiny_nic_in_lockstep() {
    let least = [
        "frame",
        "queue",
        "consumed",
        "whole",
        "l7_malformed",
        "l7_checksum",
        "l7_no_first",
        "l7_no_descriptor",
        "l7_rule",
    ];
    in_lockstep(&TINY, "l7_nic_tiny", 8, 16, &least);
}

#[test]
fn default_nic_in_lockstep() {
    in_lockstep(&DEFAULT, "l7_nic_default", 1, 40, &["frame", "queue", "consumed", "whole"]);
}
