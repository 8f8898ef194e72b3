//! Message dispatch in the whole NIC does what the model does: decisions, frames, what is in host memory, counters, replacements.

mod support;

use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_formats::Target;
use sluice_formats::l7::codes::L7Status;
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::target::Target as Sizes;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_l7::object::object;
use sluice_l7::rules::Rules;
use sluice_l7::testing::{Limits, frames, rules};
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
    message: u32,
}

fn limits(target: &Target) -> Limits {
    match target.name {
        "tiny" => Limits { applications: 2, types: 2, rules: 2, patterns: 2, steps: 3, groups: 1 },
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
        let mut bench = Self { nic, linker, rng, tenants: Vec::new(), counts: BTreeMap::new(), message: 0 };
        let mut settings = bench.linker.settings().clone();
        for id in 1..=3u16 {
            bench.admit(target, id);
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

    fn admit(&mut self, target: &'static Target, id: u16) {
        for _ in 0..40 {
            let (rules, object) = self.rules(target);
            let mut spec = TenantSpec::new(id, format!("tenant{id}"));
            spec.queues.insert(HOST, (target.cells / 4) as u16);
            spec.make_room(&object);
            if spec.l7.is_none_or(|given| given.rings > 5) {
                continue;
            }
            let load = match self.linker.admit(spec) { Ok(load) => load, Err(error) => { println!("{error}"); continue } };
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
                self.post(id, ring as u8, 1 << log_size);
            }
            self.tenants.push(tenant);
            return;
        }
        panic!("no rules fit");
    }

    fn post(&mut self, id: u16, ring: u8, count: usize) {
        let module = self.linker.tenant(id).unwrap().module;
        let lengths: Vec<u32> = (0..count)
            .map(|_| if self.rng.chance(1, 8) { self.rng.range(42, 300) } else { self.rng.range(300, 40_000) } as u32)
            .collect();
        self.nic.rings().unwrap().post(module, ring, &lengths).unwrap();
    }

    /// Offers some messages of all tenants.
    fn offer(&mut self, messages: usize) {
        let mut offers = Vec::new();
        for _ in 0..messages {
            let at = self.rng.index(self.tenants.len());
            let port = self.tenants[at].id as u8 - 1;
            self.message += 1;
            let header = Header { msg_id: self.message / 3, session: self.rng.below(2) as u32, ..Header::default() };
            let mut packets = frames(&mut self.rng, &self.tenants[at].rules, header);
            if self.rng.chance(1, 8) {
                self.rng.shuffle(&mut packets);
            }
            if self.rng.chance(1, 6) && !packets.is_empty() {
                let lost = self.rng.index(packets.len());
                packets.remove(lost);
            }
            for mut bytes in packets {
                if self.rng.chance(1, 20) {
                    let place = self.rng.index(bytes.len());
                    bytes[place] ^= 1 << self.rng.below(8);
                }
                offers.push(Offer { port, bytes, at: 0, bad: false });
            }
            if self.rng.chance(1, 4) {
                let length = self.rng.range(60, 400) as usize;
                offers.push(Offer { port, bytes: self.rng.bytes(length), at: 0, bad: false });
            }
        }
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
                self.post(self.tenants[at].id, ring, messages.len());
            }
        }
        done
    }

    fn closes(&mut self) {
        let counters = self.nic.counters().unwrap();
        assert!(counters.modules.values().all(|c| c.closes()), "{counters:?}");
    }
}

fn in_lockstep(target: &'static Target, name: &str, rounds: usize, turns: usize) {
    if !support::has(target.name, Variant::Test) {
        return;
    }
    let mut seeds = Rng::new(test_seed(name));
    let mut counts = BTreeMap::<String, u64>::new();
    for _ in 0..rounds {
        let mut bench = Bench::open(target, seeds.next_u64());
        for _ in 0..turns {
            let messages = 1 + bench.rng.index(12);
            bench.offer(messages);
            let ticks = bench.rng.range(1, 800);
            bench.nic.advance(ticks).unwrap();
            bench.poll();
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
    println!("{}: {counts:?}", target.name);
    let _ = Sizes::by_name(target.name);
    for name in [
        "frame",
        "queue",
        "consumed",
        "whole",
        "l7_malformed",
        "l7_checksum",
        "l7_no_first",
        "l7_rule",
        "l7_no_descriptor",
    ] {
        assert!(counts.get(name).is_some_and(|count| *count > 0), "too few: {name}: {counts:?}");
    }
}

#[test]
fn tiny_nic_in_lockstep() {
    in_lockstep(&TINY, "l7_nic_tiny", 6, 40);
}

#[test]
fn default_nic_in_lockstep() {
    in_lockstep(&DEFAULT, "l7_nic_default", 1, 30);
}
