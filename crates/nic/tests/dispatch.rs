//! Rules for dispatch on the software NIC: hitless replacement at full load, what is in flight, and the sum of packets.

use sluice_device::run_load::run_load;
use sluice_device::{Device, DeviceError, Event, Offer, Outcome, Verdict};
use sluice_formats::l7::qnp::Header;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::DEFAULT;
use sluice_formats::{EngineId, Reason};
use sluice_l7::message::{Addresses, frame};
use sluice_l7::object::object;
use sluice_l7::rules::read;
use sluice_l7::testing::{ping_pong, ping_pong_payload};
use sluice_nic::SoftwareNic;
use sluice_object::linker::unsafe_order;
use sluice_object::{Destination, Linker, Object, PortSettings, TenantSpec};
use std::collections::{BTreeMap, VecDeque};

const HOST: Destination = Destination::Host(3);
/// Number of that destination: four ports are in front of the hosts.
const DESTINATION: u8 = 7;

/// Rules that send every message to one queue.
fn all_to(queue: u8) -> Object {
    let text = format!("application a {{ port 9000 id 1 default queue {queue} message m = 1 {{ }} }}\n");
    object("rules", &read("a.l7", &text).unwrap(), &DEFAULT).unwrap()
}

struct Bench {
    nic: SoftwareNic,
    linker: Linker,
    /// Messages by number: the queue that each packet went to.
    seen: BTreeMap<u32, Vec<(u8, Outcome)>>,
    offered: u32,
}

impl Bench {
    fn new() -> Self {
        let mut nic = SoftwareNic::new(DEFAULT);
        let engines = [EngineId::RMT, EngineId::XDP, EngineId::L7];
        assert_eq!(nic.capabilities().engines, engines);
        let mut linker = Linker::of(&DEFAULT, &engines, None);
        let mut spec = TenantSpec::new(1, "red");
        spec.queues.insert(HOST, 1000);
        spec.make_room(&all_to(1));
        let mut settings = linker.settings().clone();
        settings.ports[0] = PortSettings { untagged: Some(1), ..PortSettings::default() };
        let loads = [linker.admit(spec).unwrap(), linker.load(1, &all_to(0)).unwrap(), linker.nic(settings).unwrap()];
        loads.iter().for_each(|load| run_load(&mut nic, load, &mut Vec::new()).unwrap());
        Self { nic, linker, seen: BTreeMap::new(), offered: 0 }
    }

    /// Offers the packets of a message.
    fn message(&mut self, id: u32, packets: u8, numbers: impl IntoIterator<Item = u8>) {
        let header = |seq| Header {
            app_id: 1,
            msg_type: 1,
            msg_id: id,
            msg_len_in_pkts: packets,
            pkt_seq_num_in_msg: seq,
            ..Header::default()
        };
        let offers: Vec<Offer> = numbers
            .into_iter()
            .map(|seq| Offer { port: 0, bytes: frame(&Addresses::to_port(9000), header(seq), &[]), at: 0, bad: false })
            .collect();
        self.offered += offers.len() as u32;
        self.nic.offer(&offers).unwrap();
    }

    /// Takes what has happened; the ends of loads among it.
    fn poll(&mut self) -> u32 {
        let mut done = 0;
        for event in self.nic.poll(usize::MAX) {
            match event {
                Event::OpDone { result, .. } => {
                    result.unwrap();
                    done += 1;
                }
                Event::Outcome(outcome) => {
                    let id = u32::from_be_bytes(outcome.bytes.get(44..48).map_or([0xff; 4], |b| b.try_into().unwrap()));
                    self.seen.entry(id).or_default().push((outcome.queue, outcome));
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

#[test]
fn rules_are_replaced_a_thousand_times_at_full_load_and_every_message_goes_by_the_old_or_the_new_ones() {
    let mut bench = Bench::new();
    let mut rng = Rng::new(test_seed("rules_are_replaced_a_thousand_times"));
    let first = bench.linker.rings(1).unwrap().start as u8;
    let (mut id, mut open): (u32, VecDeque<u32>) = (0, VecDeque::new());
    for round in 0..1000u32 {
        // Queue 0 and 1 in turn, and so are the generations.
        let load = bench.linker.replace(1, &all_to(((round + 1) % 2) as u8)).unwrap();
        bench.nic.submit(&load).unwrap();
        let mut done = 0;
        while done == 0 {
            for _ in 0..rng.range(1, 12) {
                id += 1;
                let two = rng.chance(1, 8);
                bench.message(id, 1 + u8::from(two), [0]);
                if two {
                    open.push_back(id);
                }
            }
            // The second packet of a message that began long ago, under other rules.
            while open.len() > 8 {
                let begun = open.pop_front().unwrap();
                bench.message(begun, 2, [1]);
            }
            bench.nic.advance(rng.range(1, 60)).unwrap();
            assert!(bench.nic.now() < 100_000_000, "the load never ends");
            done = bench.poll();
            bench.closes();
        }
    }
    while let Some(begun) = open.pop_front() {
        bench.message(begun, 2, [1]);
    }
    bench.nic.quiesce().unwrap();
    bench.poll();
    bench.closes();
    let (mut packets, mut across) = (0, 0);
    for (id, seen) in &bench.seen {
        let (queue, begun) = &seen[0];
        // The first load went to generation 1.
        let wanted = first + u8::from(begun.generation == Some(0));
        assert_eq!(*queue, wanted, "message {id}, generation {:?}", begun.generation);
        for (queue, outcome) in seen {
            assert_eq!((*queue, outcome.verdict), (wanted, Verdict::Delivered { queue: 3 }));
            across += u32::from(outcome.generation != begun.generation);
        }
        packets += seen.len() as u32;
    }
    assert_eq!(packets, bench.offered, "none is lost, none is there twice");
    assert!(across > 50, "{across} packets followed a message of another generation");
}

#[test]
fn an_unsafe_order_of_writes_is_seen() {
    let mut bench = Bench::new();
    let mut wrong = 0;
    for round in 0..40u32 {
        let load = unsafe_order(&bench.linker.replace(1, &all_to(((round + 1) % 2) as u8)).unwrap());
        bench.nic.submit(&load).unwrap();
        let mut done = 0;
        while done == 0 {
            bench.message(1000 * round + bench.offered, 1, [0]);
            bench.nic.advance(3).unwrap();
            assert!(bench.nic.now() < 100_000_000, "the load never ends");
            done = bench.poll();
        }
    }
    let first = bench.linker.rings(1).unwrap().start as u8;
    for (queue, outcome) in bench.seen.values().flatten() {
        let wanted = first + u8::from(outcome.generation == Some(0));
        // Without its port row a message is a frame, and without a stage of the pipeline it is dropped.
        let is_frame = *queue != wanted || matches!(outcome.verdict, Verdict::Dropped { .. });
        wrong += u32::from(is_frame);
    }
    assert!(wrong > 0);
}

#[test]
fn a_generation_is_in_use_until_its_packets_are_dispatched() {
    let mut bench = Bench::new();
    bench.nic.set_blocked(DESTINATION, true).unwrap();
    (1..=5).for_each(|id| bench.message(id, 1, [0]));
    bench.nic.advance(500).unwrap();
    let load = bench.linker.replace(1, &all_to(1)).unwrap();
    bench.nic.submit(&load).unwrap();
    bench.nic.advance(5_000).unwrap();
    assert_eq!(bench.poll(), 0, "its old rows are in use");
    bench.closes();
    // New packets go by the new rules all the same.
    bench.message(6, 1, [0]);
    let waits = bench.nic.quiesce().unwrap_err();
    assert!(matches!(waits, DeviceError::Timeout { .. }), "{waits}");
    bench.nic.set_blocked(DESTINATION, false).unwrap();
    bench.nic.quiesce().unwrap();
    assert_eq!(bench.poll(), 1);
    let first = bench.linker.rings(1).unwrap().start as u8;
    let queues: Vec<u8> = bench.seen.values().flatten().map(|(queue, _)| queue - first).collect();
    assert_eq!(queues, [0, 0, 0, 0, 0, 1]);
}

#[test]
fn tail_drops_and_drops_of_dispatch_give_their_generation_back() {
    let mut bench = Bench::new();
    bench.nic.set_blocked(DESTINATION, true).unwrap();
    // More than the queue holds, and each is malformed: number 3 of 2.
    (1..=2_000).for_each(|id| bench.message(id, 2, [3]));
    bench.nic.advance(100_000).unwrap();
    bench.nic.set_blocked(DESTINATION, false).unwrap();
    bench.nic.quiesce().unwrap();
    bench.poll();
    bench.closes();
    let dropped = &bench.nic.counters().unwrap().modules[&1].dropped;
    let count = |reason| dropped.get(&reason).copied().unwrap_or(0);
    let tail = count(Reason::TailLimit) + count(Reason::TailBuffer) + count(Reason::TailPackets);
    assert!(tail > 0 && count(Reason::L7Malformed) > 0, "{dropped:?}");
    assert_eq!(tail + count(Reason::L7Malformed), 2_000);
    // Nothing is in flight: both generations can go.
    for object in [all_to(1), all_to(0), all_to(1)] {
        let load = bench.linker.replace(1, &object).unwrap();
        run_load(&mut bench.nic, &load, &mut Vec::new()).unwrap();
    }
    let load = bench.linker.remove(1).unwrap();
    run_load(&mut bench.nic, &load, &mut Vec::new()).unwrap();
}

/// Who waits in front of the engine goes in turns of the steps that his messages cost.
#[test]
fn steps_are_shared_by_weight() {
    let (steps, weights) = ([48u32, 24], [16u16, 48]);
    let mut nic = SoftwareNic::new(DEFAULT);
    let mut linker = Linker::of(&DEFAULT, &nic.capabilities().engines, None);
    let mut settings = linker.settings().clone();
    let mut loads = Vec::new();
    for number in 0..2u16 {
        let at = usize::from(number);
        let object = object("rules", &ping_pong(steps[at] as usize, 1), &DEFAULT).unwrap();
        let mut spec = TenantSpec::new(number + 1, format!("tenant{number}"));
        spec.queues.insert(HOST, 900);
        spec.make_room(&object);
        let given = spec.l7.as_mut().unwrap();
        (given.weight, given.messages) = (Some(weights[at]), Some(200));
        loads.push(linker.admit(spec).unwrap());
        loads.push(linker.load(number + 1, &object).unwrap());
        settings.ports[at] = PortSettings { untagged: Some(number + 1), ..PortSettings::default() };
    }
    loads.push(linker.nic(settings).unwrap());
    loads.iter().for_each(|load| run_load(&mut nic, load, &mut Vec::new()).unwrap());
    nic.set_blocked(DESTINATION, true).unwrap();
    for id in 0..60u32 {
        let offer = |number: usize| {
            let body = ping_pong_payload(steps[number] as usize, 0);
            let header = Header { app_id: 1, msg_id: id, msg_len_in_pkts: 1, ..Header::default() };
            let bytes = frame(&Addresses::to_port(9000), header, &body);
            Offer { port: number as u8, bytes, at: 0, bad: false }
        };
        nic.offer(&[offer(0), offer(1)]).unwrap();
    }
    nic.advance(20_000).unwrap();
    nic.set_blocked(DESTINATION, false).unwrap();
    nic.quiesce().unwrap();
    let mut done = [0u32; 2];
    for event in nic.poll(usize::MAX) {
        let Event::Outcome(outcome) = event else { panic!("{event:?}") };
        assert_eq!(outcome.verdict, Verdict::Delivered { queue: 3 });
        // As long as both have packets.
        if done[1] < 56 * steps[1] {
            let number = (outcome.id >> 28) as usize;
            done[number] += steps[number];
        }
    }
    // A turn is 4 steps for each of the weight, and a message that does not fit any more goes all the same.
    let turns = [0, 1].map(|n| f64::from(done[n]) / f64::from(4 * weights[n]));
    assert!((turns[0] - turns[1]).abs() <= 2.0, "{done:?}: {turns:?} turns");
}
