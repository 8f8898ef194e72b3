//! What one tenant does shows in no other's packets: attacks on VLANs and on the way that all share.
//!
//! Each device: the software NIC, and the RTL beside it in lockstep.

use crate::support::{self, BARE_TINY, Build, FULL_TINY, builds};
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_formats::limits::HOST_SLOT_PERIOD;
use sluice_formats::random::Rng;
use sluice_formats::{Reason, Target, target};
use sluice_frontends::Reading;
use sluice_nic::SoftwareNic;
use sluice_object::linker::rmt::Placer;
use sluice_object::{Destination, Linker, NicSettings, Object, TenantSpec, VlanGrant};
use sluice_rmt::programs::send::Send;
use sluice_rtlsim::Comparison;
use std::collections::BTreeMap;
use std::path::Path;

/// Ticks between two frames of 64 bytes on the wire at 25 Gbit/s: preamble, check sequence and gap are 24 bytes more.
const GAP_25G: f64 = (64.0 + 24.0) * 8.0 / 25.0 / 4.0;

/// Ports that a frame leaves, and at which it would as another's.
type Ports = (&'static [u8], &'static [u8]);

/// The software NIC and the RTL with the model beside it, as far as they are there.
fn devices(target: &'static Target) -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(SoftwareNic::new(*target))];
    for build in builds(&[BARE_TINY]).filter(|build| build.target == target.name) {
        let both = Comparison::open(build.target, build.options(1), support::waves_folder()).unwrap();
        devices.push(Box::new(both));
    }
    devices
}

/// A module that does `stage` with c4[0], bytes 12 to 15 of each frame, and puts it back as `row` says.
fn module(name: &str, stage: &str, row: &str, target: &Target) -> Object {
    let text = format!(
        "module {name}\ncontainer tag = c4[0]\nparser {{\n select 0:1 {{\n * -> all\n }}\n path all {{\n take tag @12\n least 34\n }}\n}}\n\
         stage 1 {{\n default out\n action out {{ {stage}; send port1, port2 }}\n}}\ndeparser {{\n row r {{\n {row}\n }}\n}}\n"
    );
    let read = sluice_frontends::decode(Path::new("test.rmt"), text.as_bytes(), &Reading::new(target, name));
    read.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A NIC on which tenant 20 has VLAN 20 on every port but 2, tenant 30 VLAN 30 with its tag, tenant 40 what comes to port 0
/// and leaves port 1 without one.
fn shared(nic: &mut dyn Device, kept: Object, untagged: Object, any_vids: bool) {
    let target = Target::by_name(nic.capabilities().target.name).unwrap();
    let mut linker = Linker::new(target);
    let mut admit = |id: u16, vlans: Vec<VlanGrant>, keep_tag, object: Option<&Object>| {
        let mut spec = TenantSpec { vlans, keep_tag, any_vids, ..TenantSpec::new(id, format!("tenant{id}")) };
        spec.queues = [(Destination::Port(1), 40), (Destination::Port(2), 40)].into();
        object.into_iter().for_each(|object| spec.make_room(object));
        run_load(nic, &linker.admit(spec).unwrap(), &mut Vec::new()).unwrap();
        if let Some(object) = object {
            run_load(nic, &linker.load(id, object).unwrap(), &mut Vec::new()).unwrap();
        }
    };
    let but_2 = [0, 1, 3].map(|port| VlanGrant { port: Some(port), vlan: 20 });
    admit(20, but_2.into(), false, None);
    admit(30, vec![VlanGrant { port: None, vlan: 30 }], true, Some(&kept));
    admit(40, Vec::new(), false, Some(&untagged));
    let mut settings = NicSettings::new(target);
    (settings.ports[0].untagged, settings.ports[1].untagged) = (Some(40), Some(40));
    run_load(nic, &linker.nic(settings).unwrap(), &mut Vec::new()).unwrap();
}

fn frame(tag: Option<u16>) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    if let Some(vlan) = tag {
        bytes.extend([0x81, 0x00]);
        bytes.extend(vlan.to_be_bytes());
    }
    bytes.extend([0x12, 0x34]);
    bytes.resize(64, 7);
    bytes
}

/// Where a frame of port 0 leaves, and where it would as another's.
fn sent(nic: &mut dyn Device, frame: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    nic.offer(&[Offer { port: 0, bytes: frame, at: 0, bad: false }]).unwrap();
    nic.quiesce().unwrap();
    let (mut left, mut foreign) = (Vec::new(), Vec::new());
    for event in nic.poll(usize::MAX) {
        match event {
            Event::Outcome(Outcome { verdict: Verdict::Forwarded { port }, .. }) => left.push(port),
            Event::Outcome(Outcome { verdict: Verdict::Dropped { reason, destination }, .. }) => {
                assert_eq!(reason, Reason::ForeignVlan);
                foreign.extend(destination);
            }
            other => panic!("{other:?}"),
        }
    }
    // Of the copies of one packet none has to be the first to leave.
    left.sort_unstable();
    (left, foreign)
}

#[test]
fn a_frame_leaves_no_port_as_another_tenants() {
    let target = &target::TINY;
    let retag =
        |vlan: u16| module("kept", &format!("tag = {}", 0x8100_0000u32 | u32::from(vlan)), "put tag @12", target);
    let add = |vlan: u16| {
        let row = "grow 4 at 12\n put tag @12";
        module("untagged", &format!("tag = {}", 0x8100_0000u32 | u32::from(vlan)), row, target)
    };
    let untag = || module("kept", "tag = tag", "shrink 4 at 12", target);
    let as_it_is = || module("kept", "tag = tag", "put tag @12", target);
    // What tenant 30 makes of its tagged frames, what tenant 40 makes of its untagged ones: ports that they leave, and not.
    // Without the right to VLANs that nobody owns, and with it.
    let cases: [(Object, Object, [Ports; 2], [Ports; 2]); 5] = [
        // VLAN 20 is another tenant's on port 1, and nobody's on port 2.
        (retag(20), add(20), [(&[], &[1, 2]), (&[], &[1, 2])], [(&[2], &[1]), (&[2], &[1])]),
        (retag(77), add(77), [(&[], &[1, 2]), (&[], &[1, 2])], [(&[1, 2], &[]), (&[1, 2], &[])]),
        // A tenant's own VLAN is free for him only. Priority bits decide nothing.
        (retag(0xe000 | 30), add(0xe000 | 30), [(&[1, 2], &[]), (&[], &[1, 2])], [(&[1, 2], &[]), (&[], &[1, 2])]),
        // Frames without a tag are tenant 40's on port 1, and nobody's on port 2.
        (untag(), as_it_is(), [(&[], &[1, 2]), (&[1], &[2])], [(&[2], &[1]), (&[1, 2], &[])]),
        (as_it_is(), as_it_is(), [(&[1, 2], &[]), (&[1], &[2])], [(&[1, 2], &[]), (&[1, 2], &[])]),
    ];
    let with_right = cases.into_iter().flat_map(|(kept, untagged, own, any)| {
        [(kept.clone(), untagged.clone(), false, own), (kept, untagged, true, any)]
    });
    for (case, (kept, untagged, any_vids, expected)) in with_right.enumerate() {
        for mut nic in devices(target) {
            shared(nic.as_mut(), kept.clone(), untagged.clone(), any_vids);
            for (tag, (left, foreign)) in [Some(30), None].into_iter().zip(expected) {
                let found = sent(nic.as_mut(), frame(tag));
                let kind = nic.capabilities().kind;
                assert_eq!(found, (left.to_vec(), foreign.to_vec()), "{kind}, case {case}, tag {tag:?}");
            }
            let counters = nic.counters().unwrap();
            assert!(counters.modules.values().all(|m| m.closes()));
            let counted: u64 = counters.modules.values().filter_map(|m| m.dropped.get(&Reason::ForeignVlan)).sum();
            assert_eq!(counted, expected.iter().map(|(_, foreign)| foreign.len() as u64).sum::<u64>());
        }
    }
}

/// What module 2 lost, and how many copies module 1, of `packets` of 64 bytes on port 1, for port 1, a packet in `gaps[1]` ticks, while module 1 copies each of his on port 0 to
/// the destinations `copies`, a packet in `gaps[0]` ticks.
fn lost_beside_copies(
    build: Build,
    copies: u8,
    gaps: [f64; 2],
    packets: u64,
    seed: u64,
) -> (BTreeMap<Reason, u64>, u64) {
    let mut nic = build.open(build.options(seed));
    let target = nic.capabilities().target;
    support::set_up(&mut nic);
    // Both generations again, with other destinations.
    let mut placer = Placer::new(target.rmt);
    let mut steps = support::sends(&mut placer, 1, &Send::to(copies), &target);
    steps.extend(support::sends(&mut placer, 2, &Send::to(2), &target));
    support::run_steps(&mut nic, steps).unwrap();
    let begin = nic.now() as f64 + 100.0;
    let mut rng = Rng::new(seed);
    let mut offers = Vec::new();
    for (port, module, gap) in [(0, 1, gaps[0]), (1, 2, gaps[1])] {
        let count = (packets as f64 * gaps[1] / gap) as u64;
        offers.extend((0..count).map(|i| Offer {
            port,
            bytes: support::tagged(module, 64, &mut rng),
            at: (begin + i as f64 * gap) as u64,
            bad: false,
        }));
    }
    nic.offer(&offers).unwrap();
    nic.quiesce().unwrap();
    let mut counters = nic.counters().unwrap();
    let copies_lost = counters.modules[&1].dropped.values().sum();
    let module = counters.modules.remove(&2).unwrap();
    assert_eq!(module.offered, packets);
    (module.dropped.into_iter().filter(|(_, lost)| *lost > 0).collect(), copies_lost)
}

#[test]
fn copies_of_one_tenant_take_no_cycle_of_the_pipeline_from_another() {
    for build in builds(&[FULL_TINY]) {
        for (part, packets) in [(1.0, 8_000), (0.5, 8_000)] {
            let (lost, _) = lost_beside_copies(build, 0xff, [GAP_25G / part, GAP_25G], packets, 7);
            assert_eq!(lost.get(&Reason::Overload), None, "{build}: {lost:?}");
        }
    }
}

/// A port has its slots of the reads of the buffer, whatever is copied to the seven others. Before, its turn came once in eight beats.
#[test]
fn copies_to_seven_destinations_take_no_read_of_the_eighth_from_its_tenant() {
    for build in builds(&[BARE_TINY]) {
        let target = Target::by_name(build.target).unwrap();
        // A line of 25 Gbit/s, or what the port's slots give where that is less.
        let slots = f64::from(target.beats(60) * target.ports * HOST_SLOT_PERIOD) / f64::from(HOST_SLOT_PERIOD - 1);
        let packets = if support::long() { 8_000 } else { 2_000 };
        let (lost, copies_lost) = lost_beside_copies(build, 0xfd, [4.0, GAP_25G.max(slots)], packets, 7);
        println!("{build}: {lost:?} of {packets} lost, and {copies_lost} copies of the other tenant");
        assert_eq!(lost, BTreeMap::new(), "{build}");
        assert!(copies_lost > packets, "{build}: no storm, {copies_lost} copies lost");
    }
}
