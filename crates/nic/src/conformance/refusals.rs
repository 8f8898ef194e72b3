//! What a device refuses.

use super::bench::{Bench, RED, RawLoad, tagged_frame};
use sluice_device::{Device, DeviceError, MAX_OFFER_BYTES, Offer, Verdict};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::{Node, Reason, Table};

pub(super) fn foreign_loads(device: &mut dyn Device) {
    let target = device.capabilities().target;
    let good = RawLoad::new(&target, "foreign").load();
    let version = sluice_object::Load { format_version: FORMAT_VERSION + 1, ..good.clone() };
    let refused =
        DeviceError::Version { label: "foreign".to_owned(), found: FORMAT_VERSION + 1, allowed: FORMAT_VERSION };
    assert_eq!(device.submit(&version), Err(refused));
    let other = sluice_object::Load { target_hash: !target.hash(), ..good };
    let refused =
        DeviceError::TargetMismatch { label: "foreign".to_owned(), found: !target.hash(), allowed: target.hash() };
    assert_eq!(device.submit(&other), Err(refused));
}

pub(super) fn bad_offers(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let ports = bench.target().ports as u8;
    let good = Offer { port: 0, bytes: tagged_frame(10, 60, 0), at: 0, bad: false };
    let no_port = Offer { port: ports, ..good.clone() };
    let refused = DeviceError::NoPort { found: ports, max: ports - 1 };
    assert_eq!(bench.device.offer(&[good.clone(), no_port]), Err(refused));
    for found in [0, MAX_OFFER_BYTES + 1] {
        let frame = Offer { bytes: vec![0; found], ..good.clone() };
        let refused = DeviceError::FrameLength { found, max: MAX_OFFER_BYTES };
        assert_eq!(bench.device.offer(&[good.clone(), frame]), Err(refused));
    }
    bench.rest();
    assert!(bench.outcomes.is_empty(), "none is taken when one is refused");
    // The longest, the shortest and a bad one can be offered, and are dropped for what they are.
    let frames = [(vec![0; MAX_OFFER_BYTES], false), (vec![0; 1], false), (tagged_frame(10, 60, 0), true)];
    let offers: Vec<Offer> = frames.into_iter().map(|(bytes, bad)| Offer { port: 0, bytes, at: 0, bad }).collect();
    bench.device.offer(&offers).unwrap_or_else(|e| panic!("{e}"));
    bench.rest();
    bench.outcomes.sort_by_key(|o| o.id);
    let seen: Vec<_> = bench.outcomes.iter().map(|o| (o.id, o.module, o.verdict)).collect();
    let drop = |reason| Verdict::Dropped { reason, destination: None };
    let expected = [(0, 0, drop(Reason::Giant)), (1, 0, drop(Reason::Runt)), (2, RED.0, drop(Reason::BadFrame))];
    assert_eq!(seen, expected);
}

pub(super) fn bad_addresses(device: &mut dyn Device) {
    let destinations = device.capabilities().target.destinations() as u8;
    let refused = DeviceError::NoDestination { found: destinations, max: destinations - 1 };
    assert_eq!(device.set_blocked(destinations, true), Err(refused));
    let target = device.capabilities().target;
    let behind = |table: Table| table.rows(&target);
    for (node, table, index) in [
        (Node::Stage(1), Table::Exact(0), behind(Table::Exact(0))),
        (Node::Parser, Table::Path, behind(Table::Path)),
        (Node::Parser, Table::Vlan, 0),
        (Node::Port(15), Table::Vlan, 0),
    ] {
        assert!(device.read_row(node, table, index).is_err(), "{node:?} {table:?} {index}");
    }
}
