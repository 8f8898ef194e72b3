//! Rings of the software NIC: messages in the buffers that processes have posted, what becomes of them, and what is refused.

use sluice_device::mock::MockDevice;
use sluice_device::run_load::run_load;
use sluice_device::{Device, DeviceError, Event, Message, ModuleCounters, Offer, Verdict};
use sluice_formats::l7::codes::L7Status;
use sluice_formats::l7::qnp::{HEADER_BYTES, Header};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::DEFAULT;
use sluice_formats::{EngineId, Node, Reason, Table};
use sluice_l7::message::{Addresses, frame, raw_frame};
use sluice_l7::object::object;
use sluice_l7::rules::read;
use sluice_nic::{DataPlane, SoftwareNic, engines};
use sluice_object::{Destination, Linker, Load, Object, PortSettings, RingMemory, Step, TenantSpec};
use std::collections::BTreeMap;

const HOST: Destination = Destination::Host(3);
const RED: u16 = 1;
/// Cycles of `expire 100us`.
const EXPIRY: u64 = 391 * 64;

/// Queue 0 for an application whose messages expire soon, 1 for another, 2 for a raw one.
fn rules() -> Object {
    let text = "application a { port 9000 id 1 default queue 0 expire 100us message m = 1 { } }\n\
                application b { port 9000 id 2 default queue 1 message m = 1 { } }\n\
                raw lines { port 9001 default queue 2 }\n";
    object("rules", &read("a.l7", text).unwrap(), &DEFAULT).unwrap()
}

/// A tenant of host 3.
fn spec(id: u16, name: &str) -> TenantSpec {
    let mut spec = TenantSpec::new(id, name);
    spec.queues.insert(HOST, 1000);
    spec.make_room(&rules());
    spec
}

struct Bench<D> {
    nic: D,
    linker: Linker,
    offered: u64,
    consumed: BTreeMap<u8, u64>,
    delivered: Vec<(u8, Vec<u8>)>,
    dropped: BTreeMap<Reason, u64>,
}

impl Bench<SoftwareNic> {
    fn new() -> Self {
        Self::on(SoftwareNic::new(DEFAULT))
    }
}

impl<D: Device> Bench<D> {
    fn on(mut nic: D) -> Self {
        let mut linker = Linker::of(&DEFAULT, &[EngineId::RMT, EngineId::XDP, EngineId::L7], None);
        let mut settings = linker.settings().clone();
        settings.ports[0] = PortSettings { untagged: Some(RED), ..PortSettings::default() };
        let loads = [linker.admit(spec(RED, "red")), linker.load(RED, &rules()), linker.nic(settings)];
        loads.into_iter().for_each(|load| run_load(&mut nic, &load.unwrap(), &mut Vec::new()).unwrap());
        let dropped = BTreeMap::new();
        Self { nic, linker, offered: 0, consumed: BTreeMap::new(), delivered: Vec::new(), dropped }
    }

    fn ring(&self, queue: u8) -> u8 {
        self.linker.rings(RED).unwrap().start as u8 + queue
    }

    fn load(&mut self, load: &Load) {
        run_load(&mut self.nic, load, &mut Vec::new()).unwrap();
    }

    /// Opens the ring of a queue.
    fn open(&mut self, queue: u8, log_size: u8) {
        let ring = self.ring(queue);
        let memory = self.nic.rings().unwrap().give_memory(1, ring, log_size).unwrap();
        let load = self.linker.open_ring(RED, queue, memory).unwrap();
        self.load(&load);
    }

    fn post(&mut self, queue: u8, lengths: &[u32]) -> Result<(), DeviceError> {
        let ring = self.ring(queue);
        self.nic.rings().unwrap().post(1, ring, lengths)
    }

    fn take(&mut self, queue: u8) -> Vec<Message> {
        let ring = self.ring(queue);
        self.nic.rings().unwrap().take(1, ring, usize::MAX).unwrap()
    }

    fn offer(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) {
        let offers: Vec<Offer> = frames.into_iter().map(|bytes| Offer { port: 0, bytes, at: 0, bad: false }).collect();
        self.offered += offers.len() as u64;
        self.nic.offer(&offers).unwrap();
    }

    /// All that was offered has its outcome; the sum of packets is looked at.
    fn rest(&mut self) {
        self.nic.quiesce().unwrap();
        self.poll();
    }

    fn poll(&mut self) {
        let (red, ring) = (self.counters(), self.ring(0));
        assert!(red.closes(), "{red:?}");
        for event in self.nic.poll(usize::MAX) {
            let Event::Outcome(outcome) = event else { continue };
            match outcome.verdict {
                Verdict::Consumed { ring: number } => {
                    assert_eq!((outcome.queue, outcome.bytes.len()), (number, 0));
                    *self.consumed.entry(number - ring).or_default() += 1;
                }
                Verdict::Delivered { queue } => {
                    assert_eq!(queue, 3);
                    self.delivered.push((outcome.queue - ring, outcome.bytes));
                }
                Verdict::Dropped { reason, .. } => *self.dropped.entry(reason).or_default() += 1,
                Verdict::Forwarded { .. } => panic!("{outcome:?}"),
            }
        }
    }

    fn counters(&mut self) -> ModuleCounters {
        self.nic.counters().unwrap().modules.get(&1).cloned().unwrap_or_default()
    }

    fn dropped(&self, reason: Reason) -> u64 {
        self.dropped.get(&reason).copied().unwrap_or(0)
    }

    /// Started, whole, expired, without a descriptor.
    fn events(&mut self, queue: u8) -> [u32; 4] {
        let ring = self.ring(queue).into();
        self.events_of(ring)
    }

    fn events_of(&mut self, ring: u32) -> [u32; 4] {
        [0, 1, 2, 3].map(|kind| self.nic.read_row(Node::L7, Table::L7Rings, 4 * ring + kind).unwrap()[0])
    }

    /// Rings a doorbell as a driver of its own would.
    fn bell(&mut self, ring: u32, words: Vec<u32>) {
        let load = Load {
            format_version: sluice_formats::limits::FORMAT_VERSION,
            target_hash: DEFAULT.hash(),
            tenant: RED,
            label: "doorbell".to_owned(),
            steps: vec![Step::Write { node: Node::L7, table: Table::L7Doorbell, index: ring, words }],
        };
        self.load(&load);
    }
}

/// A packet of a message of an application; each packet of one has as many bytes, the last one may have fewer.
fn packet(app_id: u8, msg_id: u32, packets: u8, number: u8, part: &[u8]) -> Vec<u8> {
    let header = Header {
        app_id,
        msg_type: 1,
        msg_id,
        msg_len_in_pkts: packets,
        pkt_seq_num_in_msg: number,
        ..Header::default()
    };
    frame(&Addresses::to_port(9000), header, part)
}

/// The packets of a message whose field the rules do not look at.
fn message(app_id: u8, msg_id: u32, packets: u8, chunk: usize) -> Vec<Vec<u8>> {
    (0..packets)
        .map(|n| {
            let mut part: Vec<u8> = (0..chunk).map(|i| (i as u32 * 7 + u32::from(n) * 13 + msg_id) as u8).collect();
            if n == 0 {
                part[0] = 16;
            }
            packet(app_id, msg_id, packets, n, &part)
        })
        .collect()
}

/// What its buffer has then.
fn whole(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = frames[0].clone();
    frames[1..].iter().for_each(|frame| bytes.extend(&frame[HEADER_BYTES..]));
    bytes
}

#[test]
fn a_message_is_in_its_buffer_as_it_was_sent_whatever_the_order_of_its_packets() {
    let mut bench = Bench::new();
    bench.open(0, 3);
    bench.open(2, 2);
    bench.post(0, &[4_000, 4_000]).unwrap();
    bench.post(2, &[200]).unwrap();
    let frames = message(1, 77, 4, 300);
    bench.offer([0, 3, 1, 1, 2, 0].map(|n| frames[n].clone()));
    // A queue without a ring, and a frame.
    bench.offer(message(2, 5, 1, 20));
    bench.offer([raw_frame(&Addresses::to_port(9002), b"nobody's")]);
    bench.offer([raw_frame(&Addresses::to_port(9001), b"a line")]);
    bench.rest();
    let taken = bench.take(0);
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].bytes, whole(&frames));
    let c = taken[0].completion;
    assert_eq!((c.message, c.packets, c.application, c.message_type, c.port), (77, 4, 1, 1, 40_000));
    assert_eq!((taken[0].status, c.source), (L7Status::Whole, 0x0a00_0001));
    let raw = bench.take(2);
    assert_eq!(raw[0].bytes, raw_frame(&Addresses::to_port(9001), b"a line"));
    assert_eq!((bench.take(0), bench.take(2)), (vec![], vec![]));
    assert_eq!(bench.consumed, BTreeMap::from([(0, 4), (2, 1)]));
    assert_eq!(bench.delivered.iter().map(|(queue, _)| *queue).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(bench.dropped, BTreeMap::from([(Reason::L7Duplicate, 2)]));
    let red = bench.counters();
    assert_eq!((red.offered, red.consumed, red.delivered, red.in_flight), (9, 5, 2, 0));
    // The queue in front of dispatch counts what left it.
    let left = bench.nic.read_row(Node::Egress, Table::QueuePackets, 7 * DEFAULT.modules + 1).unwrap();
    assert_eq!(left, [9, 0]);
    assert_eq!(bench.events(0), [1, 1, 0, 0]);
    // And l7 the rest of the sum, where the hardware can have it.
    let counted =
        |bench: &mut Bench<SoftwareNic>, kind: u32| bench.nic.read_row(Node::L7, Table::L7Drops, 16 + kind).unwrap()[0];
    assert_eq!([13, 14].map(|kind| counted(&mut bench, kind)), [2, 5]);
}

#[test]
fn without_a_descriptor_a_message_is_dropped_and_its_repeat_begins_it_anew() {
    let mut bench = Bench::new();
    bench.open(0, 2);
    let frames = message(1, 9, 2, 100);
    bench.offer(frames.clone());
    bench.rest();
    assert_eq!(bench.dropped, BTreeMap::from([(Reason::L7NoDescriptor, 1), (Reason::L7NoFirst, 1)]));
    assert_eq!((bench.events(0), bench.take(0).len()), ([0, 0, 0, 1], 0));
    bench.post(0, &[1_000]).unwrap();
    bench.offer(frames.clone());
    bench.rest();
    assert_eq!(bench.take(0)[0].bytes, whole(&frames));
    // A buffer that is too short takes no descriptor.
    bench.post(0, &[263]).unwrap();
    bench.offer(message(1, 10, 3, 100));
    bench.rest();
    assert_eq!((bench.dropped(Reason::L7Malformed), bench.events(0)), (3, [1, 1, 0, 1]));
    let fits = message(1, 11, 2, 99);
    bench.offer(fits.clone());
    bench.rest();
    assert_eq!(bench.take(0)[0].bytes, whole(&fits));
}

#[test]
fn a_message_whose_packet_never_comes_gives_its_buffer_back_in_time() {
    let mut bench = Bench::new();
    bench.open(0, 2);
    bench.post(0, &[1_000]).unwrap();
    let frames = message(1, 9, 3, 100);
    bench.offer([frames[0].clone()]);
    bench.rest();
    bench.nic.advance(EXPIRY - 500).unwrap();
    // It lives longer with another packet.
    bench.offer([frames[2].clone()]);
    bench.rest();
    let last = bench.nic.now();
    bench.nic.advance(EXPIRY - 200).unwrap();
    assert_eq!((bench.take(0).len(), bench.events(0)), (0, [1, 0, 0, 0]));
    bench.nic.advance(400).unwrap();
    assert!(bench.nic.now() - last < EXPIRY + 500);
    let taken = bench.take(0);
    assert_eq!((taken.len(), taken[0].status, taken[0].bytes.len()), (1, L7Status::Expired, 0));
    assert_eq!((taken[0].completion.message, bench.events(0)), (9, [1, 0, 1, 0]));
    bench.offer([frames[1].clone()]);
    bench.rest();
    assert_eq!(bench.dropped(Reason::L7NoFirst), 1);
    bench.post(0, &[1_000]).unwrap();
    bench.offer(frames.clone());
    bench.rest();
    assert_eq!(bench.take(0)[0].bytes, whole(&frames));
    assert_eq!((bench.consumed[&0], bench.counters().consumed), (5, 5));
}

#[test]
fn messages_that_are_frames_expire_too_and_free_their_quota() {
    let mut bench = Bench::new();
    let most = 64;
    (0..most + 5).for_each(|id| bench.offer([message(1, id, 2, 20)[0].clone()]));
    bench.rest();
    assert_eq!(bench.dropped(Reason::L7NoState), 5);
    bench.nic.advance(EXPIRY + 10).unwrap();
    (100..100 + most).for_each(|id| bench.offer([message(1, id, 2, 20)[0].clone()]));
    bench.rest();
    assert_eq!((bench.dropped(Reason::L7NoState), bench.delivered.len()), (5, 2 * most as usize));
}

/// Host and NIC at their own pace, many turns of a small ring.
fn many_turns(device: impl Device, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut bench = Bench::on(device);
    bench.open(0, 2);
    bench.open(2, 3);
    let mut sent: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    let (mut taken, mut lines, mut posted) = (0, 0, [0u64; 2]);
    let mut id = 0;
    for _ in 0..600 {
        for (at, queue) in [(0, 0), (1, 2)] {
            let lengths: Vec<u32> = (0..rng.range(0, 3)).map(|_| rng.range(1_000, 1_400) as u32).collect();
            match bench.post(queue, &lengths) {
                Ok(()) => posted[at] += lengths.len() as u64,
                Err(error) => assert_eq!(error.code(), "E0877", "{error}"),
            }
        }
        for _ in 0..rng.range(1, 4) {
            id += 1;
            let frames = message(1, id, rng.range(1, 4) as u8, rng.range(1, 200) as usize);
            let mut order: Vec<usize> = (1..frames.len()).collect();
            rng.shuffle(&mut order);
            bench.offer([frames[0].clone()]);
            bench.offer(order.into_iter().map(|n| frames[n].clone()));
            sent.insert(id, frames);
            bench.offer([raw_frame(&Addresses::to_port(9001), &id.to_be_bytes())]);
        }
        bench.nic.advance(rng.range(1, 500)).unwrap();
        bench.poll();
        if rng.chance(1, 2) {
            for message in bench.take(0) {
                let frames = sent.remove(&message.completion.message).expect("a message is there once");
                assert!(message.bytes == whole(&frames), "message {}", message.completion.message);
                taken += 1;
            }
            lines += bench.take(2).iter().map(|m| assert_eq!(m.bytes.len(), 46)).count() as u64;
        }
    }
    bench.rest();
    taken += bench.take(0).len() as u64;
    lines += bench.take(2).len() as u64;
    let events = bench.events(0).map(u64::from);
    assert_eq!((events[0], events[1], events[2]), (taken, taken, 0));
    assert_eq!(u64::from(bench.events(2)[1]), lines);
    assert!(taken > 200 && lines > 200 && taken <= posted[0] && lines <= posted[1]);
    assert!(bench.dropped(Reason::L7NoDescriptor) > 50);
    let outcomes: u64 = bench.consumed.values().chain(bench.dropped.values()).sum();
    assert_eq!(outcomes + bench.delivered.len() as u64, bench.offered);
    let red = bench.counters();
    assert_eq!((red.offered, red.consumed), (bench.offered, bench.consumed.values().sum()));
}

#[test]
fn many_turns_of_small_rings_lose_and_repeat_nothing() {
    many_turns(SoftwareNic::new(DEFAULT), test_seed("many_turns_of_small_rings"));
}

#[test]
fn the_same_on_the_data_plane() {
    for workers in 1..=3 {
        let plane = DataPlane::with_workers(DEFAULT, engines::ALL, workers);
        many_turns(plane, test_seed("many_turns_on_the_data_plane"));
    }
}

#[test]
fn the_same_behind_a_slow_device() {
    let seed = test_seed("many_turns_behind_a_slow_device");
    many_turns(MockDevice::new(SoftwareNic::new(DEFAULT), seed), seed);
}

#[test]
fn what_cannot_be_done_with_rings_is_refused_in_words() {
    let mut bench = Bench::new();
    let ring = bench.ring(0);
    let said = |error: DeviceError| {
        assert!(error.is_refusal());
        format!("{} {error}", error.code())
    };
    let words = |result: Result<RingMemory, DeviceError>| said(result.unwrap_err());
    assert_eq!(said(bench.post(0, &[100]).unwrap_err()), "E0876 ring 0 is none of module 1, which has none");
    let rings = bench.nic.rings().unwrap();
    assert_eq!(words(rings.give_memory(1, ring, 1)), "E0878 ring 0: 2^1 buffers, 2^2 to 2^15 are possible");
    assert_eq!(words(rings.give_memory(1, ring, 16)), "E0878 ring 0: 2^16 buffers, 2^2 to 2^15 are possible");
    let memory = rings.give_memory(1, ring, 2).unwrap();
    let closed = "E0878 ring 0 of module 1 is not open: it has memory, and no row of the linker yet";
    assert_eq!(said(bench.post(0, &[100]).unwrap_err()), closed);
    let load = bench.linker.open_ring(RED, 0, memory).unwrap();
    bench.load(&load);
    let full = "E0877 ring 0: 5 buffers, it has room for 4 of 4: completions that were not taken keep their places";
    assert_eq!(said(bench.post(0, &[100; 5]).unwrap_err()), full);
    let short = "E0877 ring 0: a buffer of 41 bytes, 42 to 1048576 are possible";
    assert_eq!(said(bench.post(0, &[100, 41]).unwrap_err()), short);
    assert_eq!(bench.nic.read_row(Node::L7, Table::L7Doorbell, ring.into()).unwrap(), [0], "nothing was posted");
    bench.post(0, &[100; 3]).unwrap();
    assert!(bench.post(0, &[100; 2]).unwrap_err().to_string().contains("2 buffers, it has room for 1 of 4"));
    let rings = bench.nic.rings().unwrap();
    assert_eq!(said(rings.post(2, ring, &[100]).unwrap_err()), "E0876 ring 0 is none of module 2, which has none");
    assert_eq!(said(rings.take(1, 3, 1).unwrap_err()), "E0876 ring 3 is none of module 1, which has 0");
    assert_eq!(words(rings.give_memory(1, ring, 2)), "E0878 ring 0 is in use: its row stands");
    let mut without =
        SoftwareNic::with_engines(DEFAULT, Default::default(), engines::these(&[&engines::RMT], &DEFAULT));
    let none = "E0307 the device `model` has no rings: no engine of it writes messages into host memory";
    assert_eq!(said(without.rings().map(|_| ()).unwrap_err()), none);
    // A small engine has fewer rings than a number can say.
    let mut tiny = SoftwareNic::new(sluice_formats::target::TINY);
    let words = words(tiny.rings().unwrap().give_memory(1, 16, 2));
    assert_eq!(words, "E0876 ring 16 does not exist, the device has rings 0 to 15");
}

#[test]
fn a_ring_that_is_closed_keeps_its_messages_and_is_opened_again_when_they_have_ended() {
    let mut bench = Bench::new();
    bench.open(0, 2);
    bench.post(0, &[1_000, 1_000]).unwrap();
    let first = message(1, 1, 2, 50);
    bench.offer([first[0].clone(), message(1, 2, 2, 50)[0].clone()]);
    bench.rest();
    let load = bench.linker.close_ring(RED, 0).unwrap();
    bench.load(&load);
    // What is on its way ends as it would have, what begins is a frame.
    bench.offer([first[1].clone(), message(1, 3, 1, 50)[0].clone()]);
    bench.rest();
    assert_eq!(bench.take(0)[0].bytes, whole(&first));
    assert_eq!(bench.delivered.len(), 1);
    let ring = bench.ring(0);
    let busy = bench.nic.rings().unwrap().give_memory(1, ring, 2).unwrap_err();
    assert_eq!(busy.to_string(), "ring 0 is in use: messages that are on their way have buffers of it");
    // Even with memory from elsewhere its row waits for them.
    let memory = RingMemory { log_size: 2, descriptors: 0x1000, completions: 0x2000 };
    let load = bench.linker.open_ring(RED, 0, memory).unwrap();
    let before = bench.nic.now();
    bench.load(&load);
    assert!(bench.nic.now() - before > EXPIRY / 2, "it has not waited");
    assert_eq!(bench.take(0)[0].status, L7Status::Expired);
    assert_eq!(bench.events(0), [2, 1, 1, 0]);
}

#[test]
fn rings_go_with_their_tenant_and_the_next_one_gets_them_empty() {
    let mut bench = Bench::new();
    bench.open(0, 2);
    bench.post(0, &[1_000; 3]).unwrap();
    let load = bench.linker.remove(RED).unwrap();
    bench.load(&load);
    let rows = bench.nic.read_row(Node::L7, Table::L7Ring, 0).unwrap();
    assert_eq!(rows[0] & 1, 0, "the ring is closed");
    let loads = [bench.linker.admit(spec(2, "blue")), bench.linker.load(2, &rules())];
    loads.into_iter().for_each(|load| bench.load(&load.unwrap()));
    let mut settings = bench.linker.settings().clone();
    settings.ports[0] = PortSettings { untagged: Some(2), ..PortSettings::default() };
    let load = bench.linker.nic(settings).unwrap();
    bench.load(&load);
    let memory = bench.nic.rings().unwrap().give_memory(1, 0, 2).unwrap();
    let load = bench.linker.open_ring(2, 0, memory).unwrap();
    bench.load(&load);
    bench.offer([message(1, 1, 1, 50)[0].clone()]);
    bench.nic.quiesce().unwrap();
    assert_eq!(bench.nic.rings().unwrap().take(1, 0, 9).unwrap(), []);
    assert_eq!(bench.events_of(0), [0, 0, 0, 1], "the tenant before had posted, this one has not");
    // The driver knows its ring by the module only, whoever that is.
    bench.nic.rings().unwrap().post(1, 0, &[1_000]).unwrap();
    bench.offer([message(1, 2, 1, 50)[0].clone()]);
    bench.nic.quiesce().unwrap();
    assert_eq!(bench.nic.rings().unwrap().take(1, 0, 9).unwrap().len(), 1);
}

/// A doorbell is the tenant's own, and may say anything.
#[test]
fn a_doorbell_that_says_nonsense_reads_places_again_and_nothing_else() {
    let mut bench = Bench::new();
    bench.open(0, 2);
    bench.post(0, &[1_000]).unwrap();
    let ring = u32::from(bench.ring(0));
    let mut rng = Rng::new(test_seed("a_doorbell_that_says_nonsense"));
    for id in 0..200 {
        bench.bell(ring, vec![rng.next_u32()]);
        bench.offer(message(1, id, 2, 30));
        bench.rest();
        let red = bench.counters();
        assert!(red.closes() && red.in_flight == 0);
    }
    let events = bench.events(0);
    assert_eq!(events[0], events[1] + events[2]);
}
