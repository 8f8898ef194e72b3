//! Two queues a tenant and destination: what a tenant's high packets do to his own low ones, and nothing to others.
//!
//! Each device: the software NIC, and the RTL, in lockstep with the model where time allows.

use crate::support::{self, BARE_TINY, FULL_TINY, builds};
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_formats::limits::HIGH_QUEUE;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::{Reason, Target, target};
use sluice_frontends::Reading;
use sluice_nic::SoftwareNic;
use sluice_nic::software::{Options, Service};
use sluice_object::{Destination, Linker, NicSettings, Object, TenantSpec, VlanGrant};
use sluice_rtlsim::{Comparison, Ready, RtlOptions, Stalls};
use std::path::Path;

/// Host queue 0.
const DESTINATION: u8 = 4;

/// A module whose packets say where they go: destinations and queue are the last bytes of their destination MAC.
fn module(target: &Target) -> Object {
    let text = "module chooses\ncontainer choice = c2[0]\ndemands { queue host0 1 }\n\
         parser {\n select 0:1 {\n * -> all\n }\n path all {\n take choice @4\n least 34\n }\n}\n\
         stage 1 {\n default out\n action out { egress = choice }\n}\n\
         deparser { row same {} }\n";
    let read = sluice_frontends::decode(Path::new("test.rmt"), text.as_bytes(), &Reading::new(target, "chooses"));
    read.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[derive(Clone, Copy)]
struct Tenant {
    quantum: u16,
    cells: u16,
    reserve: u16,
}

/// Tenant i has VLAN i from 1 on, module i, the same program, and host queue 0.
fn bring_up(nic: &mut dyn Device, tenants: &[Tenant]) {
    let target = Target::by_name(nic.capabilities().target.name).unwrap();
    let object = module(target);
    let mut linker = Linker::new(target);
    for (id, tenant) in (1..).zip(tenants) {
        let vlans = vec![VlanGrant { port: None, vlan: id }];
        let mut spec = TenantSpec { vlans, quantum: tenant.quantum, ..TenantSpec::new(id, format!("tenant{id}")) };
        spec.queues = [(Destination::Host(0), tenant.cells)].into();
        spec.reserves = [(Destination::Host(0), tenant.reserve)].into();
        spec.make_room(&object);
        run_load(nic, &linker.admit(spec).unwrap(), &mut Vec::new()).unwrap();
        run_load(nic, &linker.load(id, &object).unwrap(), &mut Vec::new()).unwrap();
        assert_eq!(u16::from(linker.tenant(id).unwrap().module), id);
    }
    run_load(nic, &linker.nic(NicSettings::new(target)).unwrap(), &mut Vec::new()).unwrap();
}

/// A frame of a tenant, `length` bytes without its tag.
fn frame(tenant: usize, queue: u8, length: usize) -> Vec<u8> {
    let mut bytes =
        vec![0x02, 0, 0, 0, queue, 1 << DESTINATION, 2, 2, 2, 2, 2, 2, 0x81, 0, 0, tenant as u8, 0x12, 0x34];
    bytes.resize(length + 4, 7);
    bytes
}

fn outcomes(nic: &mut dyn Device) -> Vec<Outcome> {
    let of = |event| match event {
        Event::Outcome(outcome) => Some(outcome),
        Event::OpDone { .. } => None,
    };
    nic.poll(usize::MAX).into_iter().filter_map(of).collect()
}

/// What leaves a destination that all tenants want more of than there is. `queue` says which queue packet i of a tenant takes.
fn crowd(
    nic: &mut dyn Device,
    tenants: &[Tenant],
    lengths: &[usize],
    ticks: u64,
    mut queue: impl FnMut(usize) -> u8,
) -> Vec<Outcome> {
    bring_up(nic, tenants);
    let target = nic.capabilities().target;
    let begin = nic.now() + 100;
    let mut offers = Vec::new();
    for (port, &length) in lengths.iter().enumerate() {
        // Each on a port of its own has its part of the pipeline, more than its due.
        let gap = u64::from(target.beats(length as u32 + 4)) * lengths.len() as u64;
        for i in 0..ticks / gap {
            let bytes = frame(port + 1, queue(port + 1), length);
            offers.push(Offer { port: port as u8, bytes, at: begin + i * gap, bad: false });
        }
    }
    nic.offer(&offers).unwrap();
    nic.quiesce().unwrap();
    let mut all = outcomes(nic);
    all.sort_by_key(|o| (o.last_out, o.id));
    assert!(nic.counters().unwrap().modules.values().all(|m| m.closes() && m.in_flight == 0));
    all
}

/// Each device, slow at the output.
fn slow(config: &'static str, seed: u64) -> Vec<Box<dyn Device>> {
    let target = Target::by_name(config).unwrap();
    let bytes_per_tick = target.bus_bytes / 4;
    let options = Options { service: Service::PerDestination { bytes_per_tick }, ..Options::default() };
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(SoftwareNic::with_options(*target, options))];
    for build in builds(&[BARE_TINY]).filter(|build| build.target == config) {
        let stalls = Stalls { ready: Ready::Random { chance: 64 }, ..Stalls::default() };
        devices.push(Box::new(build.open(RtlOptions { stalls, ..build.options(seed) })));
    }
    devices
}

fn crowded(config: &str) -> [Tenant; 3] {
    let (unit, cells) = if config == "tiny" { (60, 240) } else { (500, 1_000) };
    [1, 2, 4].map(|weight| Tenant { quantum: unit * weight, cells, reserve: 0 })
}

/// Of equal lengths, so that a tenant's packets may change places within his turn and nothing else can change.
#[test]
fn a_tenants_high_packets_change_no_tick_of_another_tenants() {
    let seed = test_seed("a_tenants_high_packets_change_no_tick_of_another_tenants");
    for config in ["tiny", "default"] {
        let length = if config == "tiny" { 500 } else { 1500 };
        let mut runs: Vec<Vec<Vec<Outcome>>> = Vec::new();
        for kind in 0..3 {
            let mut rng = Rng::new(seed);
            let mut all = Vec::new();
            for mut nic in slow(config, seed) {
                let queue = |tenant: usize| match (tenant, kind) {
                    (2, 1) => 7,
                    (2, 2) => rng.below(8) as u8,
                    _ => 0,
                };
                all.push(crowd(nic.as_mut(), &crowded(config), &[length; 3], 20_000, queue));
            }
            runs.push(all);
        }
        for (device, ((low, high), mixed)) in runs[0].iter().zip(&runs[1]).zip(&runs[2]).enumerate() {
            let others = |run: &[Outcome]| -> Vec<_> {
                let others = run.iter().filter(|o| o.module != 2);
                others.map(|o| (o.id, o.module, o.verdict, o.last_out)).collect()
            };
            let own = |run: &[Outcome]| -> Vec<_> {
                let own = run.iter().filter(|o| o.module == 2);
                let mut own: Vec<_> = own.map(|o| (o.last_out, matches!(o.verdict, Verdict::Dropped { .. }))).collect();
                own.sort_unstable();
                own
            };
            assert!(others(low).len() > 500 && others(low).iter().any(|o| matches!(o.2, Verdict::Dropped { .. })));
            assert!(others(low) == others(high) && others(low) == others(mixed), "{config}, device {device}");
            // His own packets change places with each other only, and they do.
            assert!(own(low) == own(high) && own(low) == own(mixed), "{config}, device {device}");
            let ids = |run: &[Outcome]| run.iter().map(|o| o.id).collect::<Vec<_>>();
            assert!(ids(low) != ids(mixed), "{config}, device {device}: no packet was overtaken");
        }
    }
}

/// With lengths of all kinds: the bound of `tenants_at_one_destination_share_it_by_weight_in_bytes`.
#[test]
fn shares_are_those_of_the_weights_whatever_is_high() {
    let seed = test_seed("shares_are_those_of_the_weights_whatever_is_high");
    for config in ["tiny", "default"] {
        let [short, middle, long] = if config == "tiny" { [60, 200, 500] } else { [60, 256, 1500] };
        for (lengths, high) in [([short, middle, long], 1), ([long, short, middle], 1), ([middle, long, short], 3)] {
            for mut nic in slow(config, seed) {
                let mut rng = Rng::new(seed);
                let queue = |tenant: usize| if tenant == high && rng.chance(2, 3) { 4 } else { 3 };
                let ticks = 50_000;
                let all = crowd(nic.as_mut(), &crowded(config), &lengths, ticks, queue);
                let end = all[0].first_in.unwrap() + ticks;
                let mut bytes = [0u64; 3];
                for o in all.iter().filter(|o| !matches!(o.verdict, Verdict::Dropped { .. })) {
                    if (end - ticks * 9 / 10..end - 200).contains(&o.last_out.unwrap()) {
                        bytes[usize::from(o.module) - 1] += o.bytes.len() as u64;
                    }
                }
                let total: u64 = bytes.iter().sum();
                let kind = nic.capabilities().kind;
                for (bytes, weight) in bytes.iter().zip([1.0, 2.0, 4.0]) {
                    let error = *bytes as f64 / total as f64 * 7.0 / weight - 1.0;
                    assert!(error.abs() < 0.02, "{config} {kind} {lengths:?}: {bytes} of {total}, error {error}");
                }
            }
        }
    }
}

/// The software NIC, and the RTL with the model beside it.
fn devices(target: &'static Target) -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(SoftwareNic::new(*target))];
    for build in builds(&[BARE_TINY, FULL_TINY]).filter(|build| build.target == target.name) {
        let both = Comparison::open(build.target, build.options(1), support::waves_folder()).unwrap();
        devices.push(Box::new(both));
    }
    devices
}

/// Queues 4 to 7 are high. Behind a blocked destination a high packet overtakes the low ones that are not chosen yet, and
/// each of the two keeps its order.
#[test]
fn high_packets_overtake_low_ones_behind_a_blocked_destination() {
    for target in [&target::TINY, &target::DEFAULT] {
        for mut nic in devices(target) {
            let cells = 500;
            bring_up(nic.as_mut(), &[Tenant { quantum: 1500, cells, reserve: 0 }]);
            nic.set_blocked(DESTINATION, true).unwrap();
            // More than are chosen ahead and wait in the output, then a packet of each queue, twice.
            let queues = [0; 13].into_iter().chain((0..8).rev()).chain(0..8);
            let offers: Vec<Offer> = queues
                .map(|queue| Offer {
                    port: 0,
                    bytes: frame(1, queue, target.bus_bytes as usize * 17),
                    at: 0,
                    bad: false,
                })
                .collect();
            // What is before them is stored before.
            nic.offer(&offers[..13]).unwrap();
            nic.quiesce().unwrap();
            nic.offer(&offers[13..]).unwrap();
            nic.quiesce().unwrap();
            nic.set_blocked(DESTINATION, false).unwrap();
            nic.quiesce().unwrap();
            let all = outcomes(nic.as_mut());
            let kind = nic.capabilities().kind;
            let full = |o: &Outcome| matches!(o.verdict, Verdict::Dropped { reason: Reason::TailPackets, .. });
            let left: Vec<(bool, u32)> =
                all.iter().filter(|o| !full(o)).map(|o| (o.queue >= HIGH_QUEUE, o.id & 0xfff_ffff)).collect();
            let (high, low): (Vec<_>, Vec<_>) = left.iter().copied().partition(|(high, _): &(bool, u32)| *high);
            assert_eq!(high.len(), 8, "{kind} {}: {left:?}", target.name);
            assert!(low.len() >= 16, "{kind} {}: {left:?}", target.name);
            assert!(high.is_sorted() && low.is_sorted(), "{kind} {}: {left:?}", target.name);
            let last_high = left.iter().rposition(|(high, _)| *high).unwrap();
            let before = last_high + 1 - high.len();
            assert!(before <= 10, "{kind} {}: {before} low packets went first", target.name);
            for o in &all {
                let number = (o.id & 0xfff_ffff) as usize;
                assert!(full(o) || o.queue == offers[number].bytes[4], "{kind}: packet {number} has queue {}", o.queue);
            }
        }
    }
}

/// Copies that find their queues at the limit, of packets with these queues and cells.
fn over_the_limit(nic: &mut dyn Device, packets: &[(u8, u32)]) -> usize {
    let bus_bytes = nic.capabilities().target.bus_bytes;
    let frames = packets.iter().map(|(queue, cells)| frame(1, *queue, (cells * bus_bytes) as usize));
    let offers: Vec<Offer> = frames.map(|bytes| Offer { port: 0, bytes, at: 0, bad: false }).collect();
    nic.offer(&offers).unwrap();
    nic.quiesce().unwrap();
    let limit = |o: &&Outcome| matches!(o.verdict, Verdict::Dropped { reason: Reason::TailLimit, .. });
    outcomes(nic).iter().filter(limit).count()
}

/// A full low queue leaves the reserve to the high one; what is above the limit is dropped at either.
#[test]
fn low_packets_leave_the_reserve_to_high_ones() {
    for target in [&target::TINY, &target::DEFAULT] {
        for mut nic in devices(target) {
            let nic = nic.as_mut();
            bring_up(nic, &[Tenant { quantum: 1500, cells: 90, reserve: 30 }]);
            // Alone in its queue.
            for (packet, expected) in [((0, 60), 0), ((3, 61), 1), ((4, 90), 0), ((7, 91), 1)] {
                assert_eq!(over_the_limit(nic, &[packet]), expected, "{packet:?}");
            }
            // Behind a blocked destination the first one has all that low packets may have.
            nic.set_blocked(DESTINATION, true).unwrap();
            assert_eq!(over_the_limit(nic, &[(0, 60), (0, 3), (7, 30), (5, 2)]), 2);
            nic.set_blocked(DESTINATION, false).unwrap();
            nic.quiesce().unwrap();
            assert_eq!(outcomes(nic).len(), 2);
        }
    }
}
