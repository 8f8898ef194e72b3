//! Rules of a tenant are replaced in the whole NIC while messages come at full load: none is lost, each goes by the old or by the new rules.

use crate::support;
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_formats::Target;
use sluice_formats::l7::qnp::Header;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_l7::message::{Addresses, frame};
use sluice_l7::object::object;
use sluice_l7::rules::read;
use sluice_object::linker::unsafe_order;
use sluice_object::{Destination, Linker, Load, Object, PortSettings, Step, TenantSpec};
use sluice_rtlsim::{RtlNic, RtlOptions, Variant};
use std::collections::BTreeMap;

const HOST: Destination = Destination::Host(3);

/// Rules that send every message to one queue.
fn all_to(queue: u8, target: &'static Target) -> Object {
    let text = format!("application a {{ port 9000 id 1 default queue {queue} message m = 1 {{ }} }}\n");
    object("rules", &read("a.l7", &text).unwrap(), target).unwrap()
}

struct Bench {
    nic: RtlNic,
    linker: Linker,
    target: &'static Target,
    /// Outcomes of each message's packets.
    seen: BTreeMap<u32, Vec<Outcome>>,
    offered: u32,
    /// Tick of the next packet.
    next: u64,
}

impl Bench {
    fn open(target: &'static Target, seed: u64) -> Self {
        let nic = RtlNic::open(target.name, RtlOptions { seed, ..RtlOptions::default() }).unwrap();
        let linker = Linker::of(target, &nic.capabilities().engines, Some(sluice_hxdp::rows::compiler));
        let mut bench = Self { nic, linker, target, seen: BTreeMap::new(), offered: 0, next: 0 };
        let mut spec = TenantSpec::new(1, "red");
        spec.queues.insert(HOST, 500);
        spec.make_room(&all_to(1, target));
        let mut settings = bench.linker.settings().clone();
        settings.ports[0] = PortSettings { untagged: Some(1), ..PortSettings::default() };
        let loads = [
            bench.linker.admit(spec).unwrap(),
            bench.linker.load(1, &all_to(0, target)).unwrap(),
            bench.linker.nic(settings).unwrap(),
        ];
        loads.iter().for_each(|load| run_load(&mut bench.nic, load, &mut Vec::new()).unwrap());
        bench
    }

    /// Offers messages of one packet, one behind the other with this many ticks between their begins.
    fn messages(&mut self, count: u32, ticks: u64) {
        self.next = self.next.max(self.nic.now());
        let offers: Vec<Offer> = (0..count)
            .map(|_| {
                self.offered += 1;
                self.next += ticks;
                let header =
                    Header { app_id: 1, msg_type: 1, msg_id: self.offered, msg_len_in_pkts: 1, ..Header::default() };
                Offer { port: 0, bytes: frame(&Addresses::to_port(9000), header, &[]), at: self.next, bad: false }
            })
            .collect();
        self.nic.offer(&offers).unwrap();
    }

    /// Takes what has happened: how many loads have ended.
    fn poll(&mut self) -> u32 {
        let mut done = 0;
        for event in self.nic.poll(usize::MAX) {
            match event {
                Event::OpDone { result, .. } => {
                    result.unwrap();
                    done += 1;
                }
                Event::Outcome(outcome) => {
                    let id = outcome.bytes.get(44..48).map_or(0, |b| u32::from_be_bytes(b.try_into().unwrap()));
                    self.seen.entry(id).or_default().push(outcome);
                }
            }
        }
        done
    }

    /// Replaces the rules many times under load; `spoil` changes the loads.
    fn replace(&mut self, times: u32, spoil: impl Fn(&Load) -> Load) {
        let ticks = 2 * u64::from(DEFAULT.bus_bytes / self.target.bus_bytes);
        for round in 0..times {
            let load = self.linker.replace(1, &all_to(((round + 1) % 2) as u8, self.target)).unwrap();
            self.nic.submit(&spoil(&load)).unwrap();
            let mut done = 0;
            while done == 0 {
                self.messages(64, ticks);
                while self.nic.now() + 32 < self.next {
                    self.nic.advance(self.next - self.nic.now()).unwrap();
                }
                done = self.poll();
            }
        }
        self.nic.quiesce().unwrap();
        self.poll();
    }

    /// Packets that did not go where the rules of their generation say; those that are missing, or there twice.
    fn wrong(&self) -> u32 {
        let first = self.linker.rings(1).unwrap().start as u8;
        // The first load went to generation 1.
        let is_right = |outcome: &Outcome| {
            let wanted = first + u8::from(outcome.generation == Some(0));
            outcome.verdict == Verdict::Delivered { queue: 3 } && outcome.queue == wanted
        };
        let wrong: usize = self.seen.values().flatten().filter(|outcome| !is_right(outcome)).count();
        let once = self.seen.iter().filter(|(id, outcomes)| **id != 0 && outcomes.len() == 1).count();
        wrong as u32 + (self.offered - once as u32)
    }
}

fn is_there(target: &Target) -> bool {
    support::has(target.name, Variant::Test)
}

#[test]
fn rules_are_replaced_at_full_load_and_no_message_is_lost_or_misdirected() {
    let mut rng = Rng::new(test_seed("l7_update"));
    for (target, short) in [(&TINY, 30), (&DEFAULT, 6)] {
        if !is_there(target) {
            continue;
        }
        let mut bench = Bench::open(target, rng.next_u64());
        let times = if support::long() { 1_000 } else { short };
        bench.replace(times, Load::clone);
        println!("{}: {times} replacements, {} messages in {} ticks", target.name, bench.offered, bench.nic.now());
        assert_eq!(bench.wrong(), 0);
        let counters = bench.nic.counters().unwrap();
        assert!(counters.modules.values().all(|c| c.closes() && c.dropped.is_empty()), "{counters:?}");
    }
}

#[test]
fn an_unsafe_order_of_writes_is_seen() {
    for target in [&TINY, &DEFAULT] {
        if is_there(target) {
            let mut bench = Bench::open(target, 3);
            bench.replace(3, unsafe_order);
            assert!(bench.wrong() > 0, "{}: the order is unsafe and nothing was found", target.name);
        }
    }
}

/// What waits in front of the engine reads its generation still.
#[test]
fn a_generation_is_in_use_until_its_packets_are_dispatched() {
    for target in [&TINY, &DEFAULT].into_iter().filter(|target| is_there(target)) {
        let mut bench = Bench::open(target, 5);
        let destination = target.destinations() as u8 - 1;
        bench.nic.set_blocked(destination, true).unwrap();
        bench.messages(12, 8);
        bench.nic.advance(10_000).unwrap();
        let load = bench.linker.replace(1, &all_to(1, target)).unwrap();
        bench.nic.submit(&load).unwrap();
        bench.nic.advance(20_000).unwrap();
        assert_eq!(bench.poll(), 0, "{}: its old rows are in use", target.name);
        bench.nic.set_blocked(destination, false).unwrap();
        bench.nic.quiesce().unwrap();
        assert_eq!(bench.poll(), 1);
        assert_eq!(bench.wrong(), 0);
    }
}

/// A commit that nobody made safe waits for them all the same.
#[test]
fn a_commit_waits_for_packets_that_are_not_dispatched() {
    for target in [&TINY, &DEFAULT].into_iter().filter(|target| is_there(target)) {
        let mut bench = Bench::open(target, 9);
        let (destination, module) = (target.destinations() as u8 - 1, bench.linker.tenant(1).unwrap().module);
        let load = bench.linker.replace(1, &all_to(0, target)).unwrap();
        // The first load is in generation 1, of which packets wait.
        let commit = |generation| Load { steps: vec![Step::Commit { module, generation }], ..load.clone() };
        bench.nic.set_blocked(destination, true).unwrap();
        bench.messages(12, 8);
        bench.nic.advance(10_000).unwrap();
        bench.nic.submit(&commit(0)).unwrap();
        bench.nic.advance(10_000).unwrap();
        assert_eq!(bench.poll(), 1, "{}: nobody uses generation 0", target.name);
        bench.nic.submit(&commit(1)).unwrap();
        bench.nic.advance(20_000).unwrap();
        assert_eq!(bench.poll(), 0, "{}: generation 1 is in use", target.name);
        bench.nic.set_blocked(destination, false).unwrap();
        bench.nic.quiesce().unwrap();
        assert_eq!(bench.poll(), 1);
    }
}

/// Tail drops, and what dispatch drops, give their generation back.
#[test]
fn drops_give_their_generation_back() {
    for target in [&TINY, &DEFAULT].into_iter().filter(|target| is_there(target)) {
        let mut bench = Bench::open(target, 7);
        let destination = target.destinations() as u8 - 1;
        bench.nic.set_blocked(destination, true).unwrap();
        bench.messages(1_500, 2);
        bench.nic.advance(20_000).unwrap();
        bench.nic.set_blocked(destination, false).unwrap();
        bench.nic.quiesce().unwrap();
        bench.poll();
        let counters = bench.nic.counters().unwrap();
        let module = &counters.modules[&bench.linker.tenant(1).unwrap().module];
        assert!(module.closes() && !module.dropped.is_empty(), "{}: {counters:?}", target.name);
        for queue in [1, 0, 1] {
            let load = bench.linker.replace(1, &all_to(queue, target)).unwrap();
            run_load(&mut bench.nic, &load, &mut Vec::new()).unwrap();
        }
        let load = bench.linker.remove(1).unwrap();
        run_load(&mut bench.nic, &load, &mut Vec::new()).unwrap();
    }
}
