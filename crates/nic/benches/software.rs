//! Packets a second through the software NIC: 64-byte frames of two tenants, looked up by
//! 5-tuple, and entrance and pipeline alone.

use divan::counter::ItemsCount;
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Frame, Offer, Packet, Route, Stamped, headers};
use sluice_formats::target;
use sluice_nic::SoftwareNic;
use sluice_object::{Action, Destination, KeyKind, KeySpec, Linker, Load, Object, TenantSpec, VlanGrant};

const BATCH: usize = 1024;
/// Tenants and their VLANs.
const VLANS: [(u16, u16); 2] = [(1, 10), (2, 20)];

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

/// Two tenants whose 32 flows each all hit entries of a table.
fn device() -> SoftwareNic {
    let mut nic = SoftwareNic::new(target::DEFAULT);
    let mut linker = Linker::new(&target::DEFAULT);
    let mut run = |load: Load| run_load(&mut nic, &load, &mut Vec::new()).unwrap_or_else(|e| panic!("{e}"));
    for (id, vlan) in VLANS {
        let mut object = Object::new(format!("flows-{id}"), KeySpec::whole(KeyKind::FiveTuple), Action::DROP);
        for flow in 0..32u16 {
            let mut plain = frame(vlan, 64, flow);
            plain.drain(12..16);
            let Some(key) = headers::headers(&plain).tuple else { continue };
            let to = Destination::from_number((flow % 8) as u8, &target::DEFAULT);
            object.push(key, Action { to: to.into_iter().collect(), ..Action::DROP });
        }
        let mut spec = TenantSpec::new(id, format!("tenant-{id}"));
        spec.vlans = vec![VlanGrant { port: None, vlan }];
        spec.queues = (0..8).filter_map(|n| Some((Destination::from_number(n, &target::DEFAULT)?, 200))).collect();
        spec.make_room(&object);
        run(linker.admit(spec).unwrap_or_else(|e| panic!("{e}")));
        run(linker.load(id, &object).unwrap_or_else(|e| panic!("{e}")));
    }
    run(linker.nic(linker.settings().clone()).unwrap_or_else(|e| panic!("{e}")));
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
    let mut tables = device().into_tables();
    let mut plain = frame(VLANS[0].1, 64, 7);
    plain.drain(12..16);
    let mut packet = Packet {
        id: 0,
        port: 0,
        module: 1,
        tenant: 1,
        tci: 0,
        stamped: Stamped { generation: tables.generation(1).current, system_generation: 0 },
        arrival: 0,
        stamp: 0,
        first_in: 0,
        conform: true,
        frame: Frame::new(plain.clone(), false),
        route: Route::default(),
        given: Vec::new(),
    };
    bencher.counter(ItemsCount::new(1usize)).bench_local(|| {
        packet.frame.replace(divan::black_box(&plain));
        tables.engines_mut().run(&mut packet)
    });
}
