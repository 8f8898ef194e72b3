//! An engine of a test behind the rmt pipeline: it drops above a limit of bytes and holds every eighth packet for a while. It
//! has the XDP engine's number and table of drops, for it stands in that one's place.

use sluice_device::run_load::run_load;
use sluice_device::{Answer, Device, Engine, Engines, Event, Offer, OpId, Outcome, Packet, Verdict};
use sluice_formats::target::TINY;
use sluice_formats::{EngineId, Node, Reason, Status, Table};
use sluice_nic::SoftwareNic;
use sluice_nic::software::Options;
use sluice_object::{Action, Destination, KeySpec, Linker, Object, TenantSpec, VlanGrant};
use sluice_rmt::RmtEngine;
use std::collections::VecDeque;

/// Bytes of a packet above which it is dropped.
const LIMIT: usize = 200;
/// Ticks that a held packet waits: longer than any other packet is in the NIC.
const WAIT: u64 = 5_000;

#[derive(Debug, Default)]
struct Holding {
    seen: u64,
    dropped: u64,
    /// Held packets: their numbers, and the tick at which each goes on.
    held: VecDeque<(u32, u64)>,
}

impl Engine for Holding {
    fn id(&self) -> EngineId {
        EngineId::XDP
    }

    fn read(&self, _: Node, _: Table, _: u32) -> Result<Vec<u32>, Status> {
        Err(Status::BadAddress)
    }

    fn snapshot(&mut self) {}

    fn run(&mut self, packet: &mut Packet) -> Answer {
        self.seen += 1;
        if packet.frame.bytes().len() > LIMIT {
            return Answer::Drop(Reason::XdpDrop);
        }
        if !self.seen.is_multiple_of(8) {
            return Answer::Next;
        }
        self.held.push_back((packet.id, packet.stamp + WAIT));
        Answer::Held
    }

    fn late(&mut self, now: u64) -> Option<(u32, Answer)> {
        let (id, at) = *self.held.front()?;
        (at <= now).then(|| {
            self.held.pop_front();
            (id, Answer::Next)
        })
    }

    fn next_event(&self) -> Option<u64> {
        self.held.front().map(|(_, at)| *at)
    }

    fn count(&mut self, _: u8, _: Reason) {
        self.dropped += 1;
    }

    fn counted(&self, _: u8, reason: Reason) -> u64 {
        if reason == Reason::XdpDrop { self.dropped } else { 0 }
    }
}

/// A NIC with the pipeline and that engine, and tenant 1 on VLAN 7, whose packets go to port 1.
fn nic() -> (SoftwareNic, Linker) {
    let engines = Engines::new(vec![Box::new(RmtEngine::new(&TINY)), Box::new(Holding::default())]);
    let (mut nic, mut linker) = (SoftwareNic::with_engines(TINY, Options::default(), engines), Linker::new(&TINY));
    let mut spec = TenantSpec::new(1, "red");
    spec.vlans = vec![VlanGrant { port: None, vlan: 7 }];
    spec.queues = [(Destination::Port(1), 200), (Destination::Port(2), 200)].into();
    let loads = [linker.admit(spec), linker.load(1, &to(Destination::Port(1))), linker.nic(linker.settings().clone())];
    for load in loads {
        run_load(&mut nic, &load.unwrap(), &mut Vec::new()).unwrap();
    }
    (nic, linker)
}

fn to(destination: Destination) -> Object {
    Object::new("to", KeySpec::NONE, Action::to([destination]))
}

fn frame(number: u32, length: usize) -> Offer {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, 0, 7, 0x88, 0xb5];
    bytes.extend(number.to_be_bytes());
    bytes.resize(length + 4, 0);
    Offer { port: 0, bytes, at: 0, bad: false }
}

fn split(events: Vec<Event>) -> (Vec<Outcome>, Vec<OpId>) {
    let (mut outcomes, mut done) = (Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Outcome(outcome) => outcomes.push(outcome),
            Event::OpDone { op, result } => {
                result.unwrap();
                done.push(op);
            }
        }
    }
    (outcomes, done)
}

#[test]
fn held_packets_go_on_later_and_are_accounted_for_meanwhile() {
    let (mut nic, _) = nic();
    let frames: Vec<Offer> = (0..64).map(|n| frame(n, if n % 16 == 3 { LIMIT + 1 } else { 60 })).collect();
    nic.offer(&frames).unwrap();
    nic.advance(WAIT / 2).unwrap();
    let (first, _) = split(nic.poll(usize::MAX));
    let counters = nic.counters().unwrap();
    let red = &counters.modules[&1];
    assert_eq!((first.len(), red.in_flight), (56, 8), "every eighth is inside");
    assert!(red.closes(), "{red:?}");
    nic.quiesce().unwrap();
    let (late, _) = split(nic.poll(usize::MAX));
    assert_eq!(late.len(), 8);
    assert!(late.iter().all(|o| o.verdict == Verdict::Forwarded { port: 1 } && o.bytes.len() == 64));
    assert!(late.iter().all(|o| o.first_out.unwrap() >= o.stamp.unwrap() + WAIT));
    let counters = nic.counters().unwrap();
    let red = &counters.modules[&1];
    assert_eq!((red.forwarded, red.dropped.get(&Reason::XdpDrop), red.in_flight), (60, Some(&4), 0));
    assert!(red.closes(), "{red:?}");
}

#[test]
fn a_generation_is_used_until_its_last_held_packet_has_gone_on() {
    let (mut nic, mut linker) = nic();
    nic.offer(&(0..8).map(|n| frame(n, 60)).collect::<Vec<_>>()).unwrap();
    nic.advance(200).unwrap();
    let op = nic.submit(&linker.replace(1, &to(Destination::Port(2))).unwrap()).unwrap();
    nic.advance(WAIT / 2).unwrap();
    // Packets of the new program pass the held one of the old; the old generation is not cleared.
    nic.offer(&(8..12).map(|n| frame(n, 60)).collect::<Vec<_>>()).unwrap();
    nic.advance(200).unwrap();
    let (outcomes, done) = split(nic.poll(usize::MAX));
    let ports: Vec<Verdict> = outcomes.iter().map(|o| o.verdict).collect();
    assert_eq!(ports[..7], [Verdict::Forwarded { port: 1 }; 7]);
    assert_eq!(ports[7..], [Verdict::Forwarded { port: 2 }; 4]);
    assert!(done.is_empty(), "the load waits until the old generation is drained");
    nic.quiesce().unwrap();
    let (outcomes, done) = split(nic.poll(usize::MAX));
    assert_eq!((outcomes.len(), outcomes[0].verdict, done), (1, Verdict::Forwarded { port: 1 }, vec![op]));
}
