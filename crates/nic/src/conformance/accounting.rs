//! Contract 4: every packet is accounted for.

use super::bench::{BLUE, Bench, RED, RawLoad, tagged_frame};
use sluice_device::{Device, Offer, Verdict};
use sluice_formats::{Node, Reason, Table};
use sluice_rmt::programs::send::Send;
use std::collections::BTreeMap;

pub(super) fn closes_at_every_moment(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    bench.device.set_blocked(1, true).unwrap_or_else(|e| panic!("{e}"));
    for round in 0..20 {
        for port in 0..4 {
            let frames = (0..4).map(|i| tagged_frame([10, 20, 30, 10][i as usize], 60 + 90 * i as usize, i));
            bench.offer(port, frames);
        }
        if round == 10 {
            bench.device.set_blocked(1, false).unwrap_or_else(|e| panic!("{e}"));
        }
        bench.advance(7);
        bench.counters();
    }
    bench.rest();
    let counters = bench.counters();
    let offered: u64 = counters.modules.values().map(|c| c.offered).sum();
    assert_eq!(offered, 20 * 16);
    assert!(counters.modules.values().all(|c| c.in_flight == 0));
    assert_eq!(bench.outcomes.len(), 20 * 16, "each packet has one outcome");
}

pub(super) fn counts_everything(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let load = RawLoad::new(&target, "copies").rows(bench.sends(RED.0, 0, &Send::to(0b11 | 1 << target.ports))).load();
    bench.run_load(&load);
    bench.offer(0, [tagged_frame(10, 100, 0), tagged_frame(30, 80, 0), tagged_frame(20, 64, 0), vec![0; 9]]);
    let bad = Offer { port: 1, bytes: tagged_frame(20, 70, 0), at: 0, bad: true };
    bench.device.offer(&[bad]).unwrap_or_else(|e| panic!("{e}"));
    bench.rest();
    let counters = bench.counters();
    assert_eq!(counters.modules.keys().copied().collect::<Vec<_>>(), [0, RED.0, BLUE.0]);
    let red = &counters.modules[&RED.0];
    assert_eq!((red.offered, red.offered_bytes, red.copies), (1, 100, 2));
    assert_eq!((red.forwarded, red.forwarded_bytes, red.delivered, red.delivered_bytes), (2, 192, 1, 96));
    let blue = &counters.modules[&BLUE.0];
    assert_eq!((blue.offered, blue.offered_bytes, blue.delivered, blue.delivered_bytes), (2, 134, 1, 60));
    assert_eq!(blue.dropped, BTreeMap::from([(Reason::BadFrame, 1)]));
    let system = &counters.modules[&0];
    assert_eq!((system.offered, system.offered_bytes), (2, 89));
    assert_eq!(system.dropped, BTreeMap::from([(Reason::Unmapped, 1), (Reason::Runt, 1)]));
    let dropped = bench.outcomes.iter().filter(|o| matches!(o.verdict, Verdict::Dropped { .. })).count();
    assert_eq!(dropped, 3);
    let row = bench.device.read_row(Node::Port(0), Table::PortPackets, u32::from(RED.0));
    assert_eq!(row, Ok(vec![1, 0]));
}
