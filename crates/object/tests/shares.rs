//! Shares of ports: docs/decisions/isolation.md, "Share at ingress".

use crate::common::{Rows, rmt, tenant};
use sluice_formats::random::Rng;
use sluice_formats::rows::{ExcessRow, ShareRow};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{Node, Row, Table, Target};
use sluice_object::linker::rmt::Quota;
use sluice_object::{Destination, LinkError, Linker, NicSettings, Rate, Step, TenantSpec, VlanGrant};

/// A tenant with one VLAN on each of these ports, of an ID that is its VLAN.
fn on(id: u16, ports: &[u8]) -> TenantSpec {
    let mut spec = TenantSpec::new(id, format!("tenant{id}"));
    spec.vlans = ports.iter().map(|port| VlanGrant { port: Some(*port), vlan: id }).collect();
    spec
}

fn frames_up_to(linker: &mut Linker, bytes: u16) -> sluice_object::Load {
    let mut settings = NicSettings::new(linker.target());
    settings.ports.iter_mut().for_each(|port| port.max_frame = bytes);
    linker.nic(settings).unwrap()
}

fn share_rows(rows: &Rows, target: &Target) -> Vec<Vec<ShareRow>> {
    let of = |p| (0..target.modules).map(move |m| rows.row(Node::Port(p), Table::Share, m)).collect();
    (0..target.ports as u8).map(of).collect()
}

#[test]
fn shares_of_a_port_fit_what_it_has_whoever_comes_and_goes() {
    let mut rng = Rng::new(11);
    for round in 0..60 {
        let target = if round % 2 == 0 { &DEFAULT } else { &TINY };
        let (mut linker, mut rows) = (Linker::new(target), Rows::new(target));
        let longest = [64, 1518, 9216][rng.below(3) as usize];
        rows.run(&frames_up_to(&mut linker, longest));
        let mut present = Vec::new();
        for id in 1..=u16::try_from(2 + rng.below(5)).unwrap() {
            let ports: Vec<u8> = (0..4).filter(|_| rng.below(3) > 0).collect();
            let mut spec = on(id, &ports);
            if rng.below(3) == 0 {
                let burst_bytes = target.bus_bytes * (1 + rng.below(20) as u32);
                spec.share = Some(Rate { bits_per_second: 100_000_000 * (1 + rng.below(30)), burst_bytes });
            }
            spec.rmt = Some(Quota { growth: [0, 0, 64][rng.below(3) as usize], ..Quota::default() });
            match linker.admit(spec) {
                Ok(load) => {
                    rows.run(&load);
                    present.push(id);
                }
                Err(error) => assert!(matches!(error, LinkError::NoRoom { .. }), "{error}"),
            }
        }
        if !present.is_empty() && rng.below(2) == 0 {
            rows.run(&linker.remove(present.swap_remove(rng.below(present.len() as u64) as usize)).unwrap());
        }
        for port in 0..4 {
            let (node, shares) = (Node::Port(port), linker.shares(port).unwrap());
            let excess: ExcessRow = rows.row(node, Table::Excess, 0);
            let there = linker.tenants().filter(|t| t.vlans.iter().any(|(p, _)| *p == port)).count();
            assert_eq!(shares.assured.len(), there);
            let written: Vec<ShareRow> =
                share_rows(&rows, target)[usize::from(port)].iter().copied().filter(|r| r.ticks_per_beat > 0).collect();
            assert_eq!(written.len(), if there > 1 { there } else { 0 }, "a bucket for each of several");
            if there < 2 {
                continue;
            }
            // In beats: what a bucket holds, and what all get in the time that the merge may be behind.
            let active = (0..4).filter(|p| !linker.shares(*p).unwrap().assured.is_empty()).count() as u64;
            let beats = |bytes: u32| u64::from(target.beats(bytes.min(9216)));
            let grown = |p: u8| {
                let growth = share_rows(&rows, target)[usize::from(p)].iter().map(|r| r.growth).max().unwrap();
                beats(u32::from(longest) + u32::from(growth))
            };
            let others = (0..4u8).filter(|p| *p != port && !linker.shares(*p).unwrap().assured.is_empty());
            let lag: u64 = others.map(|p| beats(9216) + grown(p) + grown(port) - 2).sum();
            let bursts: u64 = written.iter().map(|r| (u64::from(r.burst) << 16) / u64::from(r.ticks_per_beat)).sum();
            let rate: f64 = written.iter().map(|r| 65_536.0 / f64::from(r.ticks_per_beat)).sum();
            assert!(rate <= 255.0 / 256.0 / active as f64, "{rate} beats a tick of {active} ports");
            let stored = u64::from(excess.beats) + bursts + (rate * lag as f64).floor() as u64;
            assert!(stored <= u64::from(target.port_beats), "{stored} beats of {}", target.port_beats);
            assert!(u64::from(excess.beats) >= grown(port), "the longest packet has room in an empty FIFO");
        }
    }
}

#[test]
fn a_port_with_one_tenant_has_no_bucket_and_his_growth_is_charged() {
    let (mut linker, mut rows) = (Linker::new(&DEFAULT), Rows::new(&DEFAULT));
    let mut spec = on(5, &[2]);
    spec.rmt = Some(Quota { growth: 40, ..Quota::default() });
    rows.run(&linker.admit(spec).unwrap());
    let module = u32::from(linker.tenant(5).unwrap().module);
    let alone = ShareRow { growth: 40, ..ShareRow::default() };
    assert_eq!(rows.row::<ShareRow>(Node::Port(2), Table::Share, module), alone);
    rows.run(&linker.admit(on(6, &[2, 3])).unwrap());
    assert!(rows.row::<ShareRow>(Node::Port(2), Table::Share, module).ticks_per_beat > 0);
    rows.run(&linker.remove(6).unwrap());
    assert_eq!(rows.row::<ShareRow>(Node::Port(2), Table::Share, module), alone, "as before the other came");
}

#[test]
fn who_asks_for_a_share_gets_it_and_the_others_even_parts_of_the_rest() {
    let mut linker = Linker::new(&DEFAULT);
    frames_up_to(&mut linker, 1518);
    let mut asks = on(1, &[0]);
    asks.share = Some(Rate { bits_per_second: 10_000_000_000, burst_bytes: 64 * 100 });
    linker.admit(asks).unwrap();
    [2, 3].iter().for_each(|id| drop(linker.admit(on(*id, &[0])).unwrap()));
    let shares = linker.shares(0).unwrap();
    let of = |id: u16| (shares.assured[&id].bits_per_second(&DEFAULT), shares.assured[&id].burst_beats);
    // One port alone has all of the pipeline but a cycle in 256, and no lag.
    assert!((9_999_000_000..=10_000_000_000).contains(&of(1).0) && of(1).1 == 100, "{:?}", of(1));
    assert_eq!(of(2), of(3));
    assert!(of(2).0 > 58_000_000_000 && of(2).1 == (512 - 24 - 100) / 2, "{:?}", of(2));
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut linker = Linker::new(&DEFAULT);
    (0..4).for_each(|port| drop(linker.admit(on(10 + u16::from(port), &[port])).unwrap()));
    let before = linker.clone();
    let asking = |bits_per_second, burst_bytes| {
        let mut spec = on(1, &[1]);
        spec.share = Some(Rate { bits_per_second, burst_bytes });
        spec
    };
    for (spec, code, said) in [
        (asking(31_000_000, 64), "E0226", "31250000 to 128000000000"),
        (asking(1_000_000_000, 63), "E0226", "64 to 32768"),
        (asking(1_000_000_000, 32_769), "E0226", "64 to 32768"),
        (asking(30_000_000_000, 64), "E0227", "30000 Mbit/s of shares"),
        (asking(1_000_000_000, 64 * 200), "E0227", "12800 bytes of bursts of shares"),
    ] {
        let error = linker.admit(spec).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(said), "`{error}` has no `{said}`");
    }
    assert_eq!(linker.shares(1), before.shares(1));
    assert_eq!(linker.tenants().count(), 4);
}

#[test]
fn a_program_that_grows_packets_by_more_than_its_tenant_was_given_is_refused() {
    let mut part = rmt::part();
    part.shared.clear();
    part.deparse.iter_mut().flatten().for_each(|beat| beat.half_delta = 2);
    assert_eq!((part.growth(), rmt::part().growth()), (4, 0), "a program that only shrinks packets has none");
    let object = rmt::object(part);
    let mut spec = tenant(7, "red", 0, &TINY);
    spec.make_room(&rmt::object(rmt::part()));
    let mut linker = Linker::new(&TINY);
    linker.admit(spec.clone()).unwrap();
    let error = linker.load(7, &object).unwrap_err();
    assert_eq!(error.code(), "E0671", "{error}");
    assert!(error.to_string().contains("up to 4 bytes longer, tenant `red` was given 0"), "{error}");
    spec.make_room(&object);
    let mut linker = Linker::new(&TINY);
    linker.admit(spec).unwrap();
    linker.load(7, &object).unwrap();
}

#[test]
fn no_load_writes_a_share_that_the_linker_did_not_give() {
    let mut linker = Linker::new(&TINY);
    [1, 2].iter().for_each(|id| drop(linker.admit(on(*id, &[0])).unwrap()));
    let module = u32::from(linker.tenant(1).unwrap().module);
    let own = linker.admit(on(3, &[0])).unwrap();
    linker.check(&own).unwrap();
    let greedy = ShareRow { ticks_per_beat: 1, burst: 1, growth: 0 };
    for (table, index, words) in [
        (Table::Share, module, greedy.pack().unwrap()),
        (Table::Share, module, ShareRow::default().pack().unwrap()),
        (Table::Excess, 0, ExcessRow { beats: 512 }.pack().unwrap()),
    ] {
        let steps = vec![Step::Write { node: Node::Port(0), table, index, words }];
        let error = linker.check(&sluice_object::Load { steps, ..own.clone() }).unwrap_err();
        assert_eq!(error.code(), "E0231", "{error}");
        assert!(error.to_string().contains("what its tenants are assured of"), "{error}");
    }
}

/// The longest turn of others, and what a queue holds, decide.
#[test]
fn what_a_queue_is_sure_to_take_falls_with_others_and_grows_with_room() {
    let to = Destination::Port(1);
    let taken = |others: u16, cells: u16, max_frame: u16, length: u32, at_once: u32| {
        let mut linker = Linker::new(&DEFAULT);
        frames_up_to(&mut linker, max_frame);
        for id in 1..=1 + others {
            let mut spec = on(id, &[0]);
            spec.queues = [(to, if id == 1 { cells } else { 32 })].into();
            linker.admit(spec).unwrap();
        }
        assert_eq!(linker.delivery(1, Destination::Port(2)).unwrap(), None);
        assert_eq!(linker.delivery(99, to).unwrap_err().code(), "E0225");
        linker.delivery(1, to).unwrap().unwrap().bits_per_second(length, at_once)
    };
    let alone = taken(0, 512, 1518, 1518, 1);
    // Alone he has the port's slots, 15 of 64, and no lag but the port's own.
    assert!((23_000_000_000..=29_800_000_000).contains(&alone), "{alone}");
    assert!(taken(1, 512, 1518, 1518, 1) < alone);
    assert!(taken(9, 512, 1518, 1518, 1) < taken(1, 512, 1518, 1518, 1));
    assert!(taken(1, 96, 9216, 64, 1) < taken(1, 96, 1518, 64, 1));
    assert!(taken(1, 96, 1518, 1518, 1) < taken(1, 512, 1518, 1518, 1));
    assert!(taken(1, 96, 1518, 64, 1) < taken(1, 512, 1518, 64, 1));
    assert!(taken(1, 96, 1518, 64, 32) < taken(1, 96, 1518, 64, 1));
    assert_eq!(taken(1, 3000, 1518, 64, 512), 0, "so many at once are not sure to find room");
    assert_eq!(taken(1, 23, 1518, 1518, 1), 0, "no cells for one");
}

#[test]
fn a_packet_leaves_later_behind_others_and_behind_more_at_once() {
    let to = Destination::Port(1);
    let delivery = |others: u16| {
        let mut linker = Linker::new(&DEFAULT);
        frames_up_to(&mut linker, 1518);
        for id in 1..=1 + others {
            let mut spec = on(id, &[0]);
            spec.queues = [(to, 256)].into();
            linker.admit(spec).unwrap();
        }
        linker.delivery(1, to).unwrap().unwrap()
    };
    let (alone, beside) = (delivery(0), delivery(3));
    assert!(alone.leaves_within(64, 1) > alone.held);
    // Alone he has 15 beats in 64 ticks, and one of 256 is the host's: a turn of 1,500 bytes is 24 packets of 64.
    let turn = alone.leaves_within(64, 25) - alone.leaves_within(64, 1);
    assert!((24 * 64 / 15..24 * 64 / 15 + 8).contains(&turn), "{turn}");
    assert!(beside.leaves_within(64, 1) > alone.leaves_within(64, 1) + 3 * 24 * 64 / 15);
    assert!(beside.leaves_within(1518, 1) > beside.leaves_within(64, 1));
}

/// A queue of 64 packets, turns of all destinations alike and turns in bytes were good for 887 Mbit/s of these 10,624.
#[test]
fn a_destination_takes_nine_tenths_of_what_a_port_is_assured_of() {
    let mut linker = Linker::new(&DEFAULT);
    frames_up_to(&mut linker, 1522);
    for id in 1..=3 {
        let mut spec = on(id, &[0, 1, 2, 3]);
        spec.queues = [(Destination::Port(1), 512), (Destination::Host(0), 512)].into();
        linker.admit(spec).unwrap();
    }
    let share = linker.shares(0).unwrap().assured[&1].bits_per_second(&DEFAULT);
    let taken = |to| linker.delivery(1, to).unwrap().unwrap().bits_per_second(64, 1);
    let (port, host) = (taken(Destination::Port(1)), taken(Destination::Host(0)));
    assert!(port * 10 >= share * 9, "{port} of {share}");
    // A host queue has a slot in 64 for certain, and three tenants share it.
    assert!((600_000_000..667_000_000).contains(&host), "{host}");
}
