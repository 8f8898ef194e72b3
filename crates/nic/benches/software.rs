//! Packets a second through the software NIC: 64-byte frames of three tenants, looked up by
//! 5-tuple, and the pure functions alone.

use divan::counter::ItemsCount;
use sluice_formats::hash::set_hashes;
use sluice_formats::rows::{EntryRow, OverlayRow};
use sluice_formats::{Node, Table, target};
use sluice_nic::conformance::{BLUE, Bench, RED, RawLoad};
use sluice_nic::device::{Device, Event, Offer};
use sluice_nic::{SoftwareNic, forward};

const BATCH: usize = 1024;

fn main() {
    divan::main();
}

/// A tagged UDP frame whose source port is `flow`.
fn frame(vid: u16, length: usize, flow: u16) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    bytes.extend([0x81, 0x00]);
    bytes.extend(vid.to_be_bytes());
    bytes.extend([0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(flow.to_be_bytes());
    bytes.extend([0, 53]);
    bytes.resize(length, 0);
    bytes
}

/// Two tenants whose 64 flows all hit entries.
fn device() -> SoftwareNic {
    let mut nic = SoftwareNic::new(target::DEFAULT);
    let mut bench = Bench::with_tenants(&mut nic);
    let mut load = RawLoad::new(&target::DEFAULT, "entries");
    for (module, base) in [(RED.0, 0u16), (BLUE.0, 128)] {
        let overlay = OverlayRow {
            valid: true,
            key_kind: 2,
            key_mask: 0x1fff,
            set_base: base,
            set_bits: 7,
            ..Default::default()
        };
        load = load.row(Node::Match, Table::Overlay, 2 * u32::from(module), &overlay);
        for flow in 0..32u16 {
            let headers = forward::headers(&{
                let mut plain = frame(10, 64, flow);
                plain.drain(12..16);
                plain
            });
            let Some(key) = headers.tuple else { continue };
            let entry = EntryRow {
                generations: 1,
                module_id: module,
                key: EntryRow::key_from_bytes(&key),
                destinations: 1 << (flow % 8),
                ..Default::default()
            };
            let set = u32::from(base | (set_hashes(&key).0 & 127));
            load = load.row(Node::Match, Table::Way0, set, &entry);
        }
    }
    bench.run_load(&load.load());
    nic
}

fn batch(length: usize) -> Vec<Offer> {
    (0..BATCH)
        .map(|i| Offer {
            port: (i % 4) as u8,
            bytes: frame(if i % 2 == 0 { 10 } else { 20 }, length, (i % 32) as u16),
            at: 0,
            bad: false,
        })
        .collect()
}

#[divan::bench(args = [64, 256, 1518])]
fn packets_through_the_nic(bencher: divan::Bencher, length: usize) {
    let mut nic = device();
    let batch = batch(length);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        nic.offer(&batch).ok();
        nic.quiesce().ok();
        let events = nic.poll(usize::MAX);
        let left = events.iter().filter(|e| matches!(e, Event::Outcome(o) if !o.bytes.is_empty())).count();
        assert!(left > BATCH / 2, "{left} of {BATCH} packets left");
        events
    });
}

#[divan::bench]
fn verdicts(bencher: divan::Bencher) {
    let nic = device();
    let mut plain = frame(10, 64, 7);
    plain.drain(12..16);
    bencher
        .counter(ItemsCount::new(1usize))
        .bench_local(|| forward::verdict(nic.tables(), RED.0, 0, 0, true, divan::black_box(&plain)));
}
