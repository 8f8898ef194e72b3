//! A second engine in line behind the pipeline, in lockstep with its model: out of order, with drops, copies and commits
//! of its own.

use sluice_device::{Counters, Device, DeviceError, Event, Offer, Verdict};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rows::GenerationRow;
use sluice_formats::{Node, Reason, Row, Table, Target};
use sluice_object::key::Match;
use sluice_object::linker::VlanGrant;
use sluice_object::linker::{Linker, TenantSpec};
use sluice_object::probe::ProbePart;
use sluice_object::{Action, Destination, Destinations, KeySpec, Load, Object};
use sluice_rtlsim::{Comparison, Faults, Plugin, Ready, RtlNic, RtlOptions, Stalls, Variant};

const TENANTS: u16 = 4;
const ROUNDS: u64 = 45;
const PACKETS: u64 = 40;

fn comparison(config: &str, options: RtlOptions) -> Option<Comparison> {
    let options = RtlOptions { top: &sluice_probe::TOP, ..options };
    if let Err(error) = Plugin::find(options.top, config, Variant::Test) {
        assert!(std::env::var_os("SLUICE_REQUIRE_PLUGINS").is_none(), "{error}");
        println!("skipped: {error}");
        return None;
    }
    let waves = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("waves");
    Some(Comparison::open(config, options, waves).unwrap())
}

/// Destination address that the pipeline drops.
const DROPPED: [u8; 6] = [0xfe; 6];

/// Sends packets to these destinations, but for those that the pipeline drops; the probe lets so many bytes through.
fn object(destinations: u8, limit: Option<u32>, target: &Target) -> Object {
    let all = (0..8).filter(|d| destinations >> d & 1 == 1).filter_map(|d| Destination::from_number(d, target));
    let to: Destinations = all.collect();
    let mut object = Object::new("probed", KeySpec::DMAC, Action { to, ..Action::DROP });
    let dropped = Match { dmac: Some(DROPPED), ..Match::default() };
    object.push(dropped.key(&KeySpec::DMAC).unwrap(), Action::DROP);
    object.parts.probe = limit.map(|limit| Box::new(ProbePart { limit }));
    object
}

fn spec(tenant: u16, target: &'static Target) -> TenantSpec {
    let mut spec = TenantSpec::new(tenant, format!("tenant-{tenant}"));
    spec.vlans = vec![VlanGrant { port: None, vlan: 10 + tenant }];
    let all = (0..target.destinations() as u8).filter_map(|d| Destination::from_number(d, target));
    let cells = Linker::new(target).grantable_cells() / (u32::from(TENANTS) * target.destinations());
    spec.queues = all.map(|d| (d, cells as u16)).collect();
    spec.max_entries = 1;
    spec
}

fn perform(nic: &mut dyn Device, load: &Load) -> Result<(), DeviceError> {
    let op = nic.submit(load)?;
    for _ in 0..10_000 {
        let done = nic.poll(usize::MAX).into_iter().find_map(|event| match event {
            Event::OpDone { op: ended, result } if ended == op => Some(result),
            _ => None,
        });
        match done {
            Some(result) => return result,
            None => nic.advance(100)?,
        }
    }
    panic!("a load does not end");
}

fn tagged(tenant: u16, length: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = rng.bytes(length);
    if rng.chance(1, 4) {
        bytes[..6].copy_from_slice(&DROPPED);
    }
    bytes[12..14].copy_from_slice(&[0x81, 0x00]);
    bytes[14..16].copy_from_slice(&(10 + tenant).to_be_bytes());
    bytes
}

/// Lengths at and around beats of both targets, and the longest.
fn length(rng: &mut Rng) -> usize {
    match rng.below(8) {
        0 => 9_216,
        1..=3 => (64 * rng.range(1, 4) + rng.range(0, 8)) as usize,
        _ => rng.range(60, 400) as usize,
    }
}

/// Admits the tenants, and gives each its first program.
fn set_up(nic: &mut dyn Device) -> Linker {
    let target = Target::by_name(nic.capabilities().target.name).unwrap();
    let mut linker = Linker::new(target);
    let settings = linker.settings().clone();
    perform(nic, &linker.nic(settings).unwrap()).unwrap();
    for tenant in 1..=TENANTS {
        perform(nic, &linker.admit(spec(tenant, target)).unwrap()).unwrap();
        let limit = (tenant == 2).then_some(20_000);
        let destinations = if tenant == 3 { 0x13 } else { 1 << (tenant - 1) };
        perform(nic, &linker.load(tenant, &object(destinations, limit, target)).unwrap()).unwrap();
    }
    linker
}

fn total(counters: &Counters, of: impl Fn(&sluice_device::ModuleCounters) -> u64) -> u64 {
    counters.modules.values().map(of).sum()
}

/// Random packets of all tenants and replacements of tenant 1's program while they run, with random stalls.
fn follows_its_model(config: &str, seed: u64) {
    let mut rng = Rng::new(seed);
    let stalls =
        Stalls { port_gaps: 40, ready: Ready::Bursts { chance: 200, longest: 20 }, config_gaps: 60, config_stalls: 60 };
    let Some(mut nic) = comparison(config, RtlOptions { seed, stalls, ..RtlOptions::default() }) else { return };
    let target = nic.capabilities().target;
    let mut linker = set_up(&mut nic);
    let (mut overtaken, mut last) = (0, None::<u64>);
    let mut look = |nic: &mut Comparison| {
        for event in nic.poll(usize::MAX) {
            let Event::Outcome(outcome) = event else { continue };
            if matches!(outcome.verdict, Verdict::Forwarded { .. }) {
                overtaken += u64::from(last.is_some_and(|stamp| outcome.stamp < Some(stamp)));
                last = outcome.stamp;
            }
        }
    };
    for round in 0..ROUNDS {
        let packets: Vec<Offer> = (0..PACKETS)
            .map(|_| {
                let tenant = rng.range(1, TENANTS.into()) as u16;
                let port = rng.below(target.ports.into()) as u8;
                Offer { port, bytes: tagged(tenant, length(&mut rng), &mut rng), at: 0, bad: false }
            })
            .collect();
        nic.offer(&packets).unwrap();
        if round % 3 == 0 {
            // From no limit to one that is never reached, and back: nothing is lost.
            let limit = (round % 2 == 0).then_some(u32::MAX);
            nic.submit(&linker.replace(1, &object(1 << (round % 4), limit, &target)).unwrap()).unwrap();
        }
        nic.advance(rng.range(1, 3_000)).unwrap();
        if round % 5 == 0 {
            assert!(nic.counters().unwrap().modules.values().all(|m| m.closes()));
        }
        look(&mut nic);
    }
    nic.quiesce().unwrap();
    look(&mut nic);
    let counters = nic.counters().unwrap();
    assert_eq!(total(&counters, |m| m.in_flight), 0);
    let limited = total(&counters, |m| m.dropped.get(&Reason::ProbeLimit).copied().unwrap_or(0));
    let copies = total(&counters, |m| m.copies);
    let discarded = total(&counters, |m| m.dropped.get(&Reason::Discard).copied().unwrap_or(0));
    println!(
        "{config}: {:?}, {discarded} discarded, {limited} above a limit, {copies} copies, {overtaken} overtaken",
        nic.compared()
    );
    assert_eq!(nic.compared().packets, ROUNDS * PACKETS);
    assert!(discarded > 100 && limited > 100 && copies > 100 && overtaken > 50);
    // The tenant whose program was replaced lost nothing.
    let module = linker.tenant(1).unwrap().module;
    assert_eq!(counters.modules[&module].dropped.get(&Reason::ProbeLimit), None);

    // Bytes let through, as the host reads them.
    for tenant in 1..=TENANTS {
        let module = linker.tenant(tenant).unwrap().module;
        let words = nic.read_row(Node::Probe, Table::LetThrough, module.into()).unwrap();
        let bytes = u64::from(words[0]) | u64::from(words[1]) << 32;
        assert!(bytes > 0 && (tenant != 2 || bytes <= 20_000), "tenant {tenant}: {bytes} bytes");
    }
    nic.snapshot().unwrap();
}

#[test]
fn it_follows_its_model_on_the_small_target() {
    let seed = test_seed("it_follows_its_model_on_the_small_target");
    follows_its_model("tiny", seed);
}

#[test]
fn it_follows_its_model_on_the_default_target() {
    let seed = test_seed("it_follows_its_model_on_the_default_target");
    follows_its_model("default", seed);
}

#[test]
fn a_packet_counts_for_its_generation_until_the_probe_lets_it_go() {
    if comparison("tiny", RtlOptions::default()).is_none() {
        return;
    }
    let options = RtlOptions { top: &sluice_probe::TOP, ..RtlOptions::default() };
    let mut nic = RtlNic::open("tiny", options).unwrap();
    let linker = set_up(&mut nic);
    let mut frame = tagged(1, 64, &mut Rng::new(1));
    frame[..6].fill(2);
    nic.offer(&vec![Offer { port: 0, bytes: frame, at: 0, bad: false }; 8]).unwrap();
    let module = linker.tenant(1).unwrap().module;
    let mut left = 0;
    let mut left_now = |nic: &mut RtlNic| {
        left += nic.poll(usize::MAX).iter().filter(|event| matches!(event, Event::Outcome(_))).count();
        left
    };
    let in_flight = |nic: &mut RtlNic| {
        let words = nic.read_row(Node::Stamp, Table::Generation, module.into()).unwrap();
        let row = GenerationRow::unpack(&words).unwrap();
        if linker.generation(1).unwrap() == 0 { row.in_flight_0 } else { row.in_flight_1 }
    };
    nic.advance(250).unwrap();
    assert_eq!((left_now(&mut nic), in_flight(&mut nic), left_now(&mut nic)), (7, 1, 7));
    nic.quiesce().unwrap();
    assert_eq!((left_now(&mut nic), in_flight(&mut nic)), (8, 0));
}

#[test]
fn a_ring_that_loses_messages_only_costs_time() {
    let faults = Faults { drop: 26, corrupt: 26, duplicate: 13, delay: 26, longest_delay: 2_000 };
    let Some(mut nic) = comparison("tiny", RtlOptions { faults, ..RtlOptions::default() }) else { return };
    let linker = set_up(&mut nic);
    let mut rng = Rng::new(5);
    let mut frame = tagged(3, 100, &mut rng);
    frame[..6].fill(2);
    let packets = (0..200).map(|_| Offer { port: 1, bytes: frame.clone(), at: 0, bad: false });
    nic.offer(&packets.collect::<Vec<_>>()).unwrap();
    nic.quiesce().unwrap();
    let counters = nic.counters().unwrap();
    assert_eq!(counters.modules[&linker.tenant(3).unwrap().module].copies, 400);
}

#[test]
fn rows_of_an_engine_that_a_device_lacks_are_refused() {
    let target = Target::by_name("tiny").unwrap();
    let mut nic = sluice_nic::SoftwareNic::new(*target);
    let mut linker = Linker::new(target);
    nic.submit(&linker.admit(spec(1, target)).unwrap()).unwrap();
    let load = linker.load(1, &object(1, Some(9), target)).unwrap();
    let refused = nic.submit(&load).map(drop);
    assert!(matches!(refused, Err(DeviceError::NoEngine { .. })), "{refused:?}");
}
