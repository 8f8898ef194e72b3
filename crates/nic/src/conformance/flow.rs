//! Packets from port to destination.

use super::bench::{BLUE, Bench, LIMIT_CELLS, OUTPUT_STAGE_PACKETS, RED, RawLoad, tagged_frame};
use sluice_device::{Device, Offer, Outcome, Verdict};
use sluice_formats::rows::LimitRow;
use sluice_formats::{Node, Reason, Table};
use sluice_rmt::programs::send::Send;
use std::collections::BTreeMap;

/// The number that `tagged_frame` put at the end.
fn number(outcome: &Outcome) -> u32 {
    match outcome.bytes.last_chunk::<4>() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => panic!("packet {:#x} left without bytes: {:?}", outcome.id, outcome.verdict),
    }
}

pub(super) fn every_packet_has_one_outcome(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let lengths = [22, 60, 64, 65, 67, 68, 69, 127, 128, 132, 133, 256, 1518, 9000, 9216];
    for (i, length) in lengths.iter().enumerate() {
        bench.offer(0, [tagged_frame(10, *length, i as u32)]);
        bench.offer(3, [tagged_frame(20, *length, i as u32)]);
        bench.rest();
    }
    assert_eq!(bench.outcomes.len(), 2 * lengths.len());
    for (port, vid, (module, tenant)) in [(0u32, 10, RED), (3, 20, BLUE)] {
        for (i, length) in lengths.iter().enumerate() {
            let id = port << 28 | i as u32;
            let outcome = bench.outcomes.iter().find(|o| o.id == id);
            let outcome = outcome.unwrap_or_else(|| panic!("packet {id:#x} of {length} bytes has no outcome"));
            let mut bytes = tagged_frame(vid, *length, i as u32);
            let verdict = if vid == 10 {
                Verdict::Forwarded { port: 1 }
            } else {
                bytes.drain(12..16);
                Verdict::Delivered { queue: 0 }
            };
            assert_eq!(outcome.verdict, verdict);
            assert_eq!((outcome.module, outcome.tenant, outcome.generation), (module, Some(tenant), Some(0)));
            assert!(outcome.stamp.is_some());
            assert_eq!(outcome.bytes, bytes, "{length} bytes");
        }
    }
}

pub(super) fn one_queue_keeps_order(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let count = 40;
    for i in 0..count {
        let length = 60 + 37 * i as usize % 900;
        bench.offer(0, [tagged_frame(10, length, i), tagged_frame(20, length, i)]);
        bench.offer(2, [tagged_frame(10, 60, i)]);
        // Slow enough that nothing is lost on any device.
        bench.advance(100);
    }
    bench.rest();
    let mut numbers: BTreeMap<(u32, u8), Vec<u32>> = BTreeMap::new();
    for outcome in &bench.outcomes {
        numbers.entry((outcome.id >> 28, outcome.module)).or_default().push(number(outcome));
    }
    let all: Vec<u32> = (0..count).collect();
    for flow in [(0, RED.0), (0, BLUE.0), (2, RED.0)] {
        assert_eq!(numbers.get(&flow), Some(&all), "port {} module {}", flow.0, flow.1);
    }
}

pub(super) fn multicast_has_every_copy(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let everywhere = Send {
        destinations: ((1u32 << target.destinations()) - 1) as u8,
        except_ingress: true,
        dmac: Some([2, 9, 9, 9, 9, 9]),
    };
    let load = RawLoad::new(&target, "multicast").rows(bench.sends(RED.0, 0, &everywhere)).load();
    bench.run_load(&load);
    bench.offer(2, [tagged_frame(10, 100, 7)]);
    bench.rest();
    let mut at_port = tagged_frame(10, 100, 7);
    at_port[..6].copy_from_slice(&[2, 9, 9, 9, 9, 9]);
    let mut at_host = at_port.clone();
    at_host.drain(12..16);
    for destination in 0..target.destinations() as u8 {
        let (verdict, bytes) = if u32::from(destination) < target.ports {
            (Verdict::Forwarded { port: destination }, &at_port)
        } else {
            (Verdict::Delivered { queue: destination - target.ports as u8 }, &at_host)
        };
        let copies: Vec<&Outcome> = bench.outcomes.iter().filter(|o| o.verdict == verdict).collect();
        assert_eq!(copies.len(), usize::from(destination != 2), "destination {destination}");
        assert!(copies.iter().all(|o| o.bytes == *bytes), "destination {destination}");
    }
    assert_eq!(bench.outcomes.len(), target.destinations() as usize - 1);
    let c = &bench.counters().modules[&RED.0];
    assert_eq!((c.offered, c.copies, c.in_flight), (1, u64::from(target.destinations()) - 2, 0));
}

pub(super) fn packets_start_at_their_tick(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let at = bench.device.now() + 5000;
    let offer = Offer { port: 0, bytes: tagged_frame(10, 60, 1), at, bad: false };
    bench.device.offer(&[offer]).unwrap_or_else(|e| panic!("{e}"));
    bench.advance(4000);
    assert!(bench.outcomes.is_empty(), "the packet came early: {:?}", bench.outcomes);
    // Reading counters takes time on a ring that loses messages.
    let counters = bench.counters();
    assert!(counters.tick >= at || counters.modules.get(&RED.0).is_none_or(|c| c.offered == 0));
    bench.rest();
    assert_eq!(bench.outcomes.len(), 1);
    let stamp = bench.outcomes[0].stamp.unwrap_or(0);
    assert!((at..at + 1000).contains(&stamp), "stamp {stamp}, offered for {at}");
    assert!(bench.device.now() >= at);
}

pub(super) fn poll_is_bounded(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    bench.offer(0, (0..10).map(|i| tagged_frame(10, 60, i)));
    bench.device.quiesce().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(bench.device.poll(0), []);
    assert_eq!(bench.device.poll(3).len(), 3);
    assert_eq!(bench.device.poll(100).len(), 7);
    assert_eq!(bench.device.poll(100), []);
}

pub(super) fn blocked_destination(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    bench.device.set_blocked(1, true).unwrap_or_else(|e| panic!("{e}"));
    bench.offer(0, (0..8).map(|i| tagged_frame(10, 60, i)));
    bench.offer(1, (0..8).map(|i| tagged_frame(20, 60, i)));
    bench.rest();
    assert!(bench.outcomes.iter().all(|o| o.module == BLUE.0), "a packet passed the blocked destination");
    assert_eq!(bench.outcomes.len(), 8, "the other destination's packets all left");
    let in_flight = bench.counters().modules[&RED.0].in_flight;
    assert!((8u64.saturating_sub(OUTPUT_STAGE_PACKETS)..=8).contains(&in_flight), "{in_flight} of 8 are in flight");
    bench.device.set_blocked(1, false).unwrap_or_else(|e| panic!("{e}"));
    bench.rest();
    let red: Vec<u32> = bench.outcomes.iter().filter(|o| o.module == RED.0).map(number).collect();
    assert_eq!(red, (0..8).collect::<Vec<_>>());
    assert_eq!(bench.counters().modules[&RED.0].in_flight, 0);
}

pub(super) fn tail_drop_is_exact(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let slots = bench.target().queue_packets;
    // Ten packets of four cells fill the cells, single cells fill the slots.
    fill_a_blocked_queue(&mut bench, 40, 4, 10.min(slots), Reason::TailLimit);
    let cells = LIMIT_CELLS.max(slots as u16 + 100);
    fill_a_blocked_queue(&mut bench, cells, 1, slots, Reason::TailPackets);
}

/// Offers more packets than a blocked queue holds and lets it go again.
fn fill_a_blocked_queue(bench: &mut Bench, limit: u16, cells: usize, room: u32, reason: Reason) {
    let target = bench.target();
    let queue = target.modules + u32::from(RED.0);
    let load = RawLoad::new(&target, "limit")
        .row(Node::Egress, Table::Limit, queue, &LimitRow { cells: limit, reserve: 0 })
        .load();
    bench.run_load(&load);
    bench.outcomes.clear();
    let before = bench.counters().modules.get(&RED.0).and_then(|c| c.dropped.get(&reason).copied()).unwrap_or(0);
    bench.device.set_blocked(1, true).unwrap_or_else(|e| panic!("{e}"));
    let beyond = OUTPUT_STAGE_PACKETS + 8;
    let offered = room + beyond as u32;
    for i in 0..offered {
        bench.offer(0, [tagged_frame(10, cells * target.bus_bytes as usize + 4, i)]);
        bench.advance(50);
    }
    bench.rest();
    let verdict = Verdict::Dropped { reason, destination: Some(1) };
    assert!(bench.outcomes.iter().all(|o| o.verdict == verdict), "{:?}", bench.outcomes);
    let dropped = bench.outcomes.len() as u64;
    assert!((8..=beyond).contains(&dropped), "{dropped} drops, room for {room} packets of {offered}");
    bench.counters();
    bench.device.set_blocked(1, false).unwrap_or_else(|e| panic!("{e}"));
    bench.rest();
    let left: Vec<u32> = bench.outcomes.iter().filter(|o| !o.bytes.is_empty()).map(number).collect();
    assert_eq!(left.len() as u64, u64::from(offered) - dropped);
    assert!(left.is_sorted());
    let counted = bench.counters().modules[&RED.0].dropped.get(&reason).copied();
    assert_eq!(counted, Some(before + dropped));
}
