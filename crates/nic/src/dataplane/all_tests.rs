//! What several workers have between them.

use super::*;
use crate::dataplane::core::Arrived;
use crate::dataplane::lanes::Counted;
use crate::dataplane::out::Events;
use crate::engines;
use sluice_device::{Event, Packet, Passed, Route, Verdict};
use sluice_formats::Reason;
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::rmt::rows::PageRow;
use sluice_formats::rows::{PortPolicyRow, RateRow, VlanRow};
use sluice_formats::target::DEFAULT;
use std::borrow::Cow;
use std::collections::VecDeque;

/// Two workers; module 1 has VLAN 10 of port 0. The last destination, with message dispatch, is the second one's.
fn all() -> All {
    let mut all = All::new(DEFAULT, 2, || engines::all(&DEFAULT));
    let policy = PortPolicyRow { min_frame: 14, max_frame: 9216, ..Default::default() };
    all.write(Node::Port(0), Table::PortPolicy, 0, &policy.pack().unwrap());
    let row = VlanRow { valid: true, keep_tag: false, module_id: 1, tenant: 7 };
    all.write(Node::Port(0), Table::Vlan, 10, &row.pack().unwrap());
    all
}

fn late(all: &All) -> u8 {
    all.cores[0].queues.late().expect("dispatch is there")
}

/// A packet of module 1 has been through the engines at the first worker.
fn passed(all: &mut All, events: &mut VecDeque<Event>, destinations: u8) {
    let mut packet = Box::<Packet>::default();
    packet.begin(Cow::Owned(vec![0; 60]), false);
    (packet.module, packet.route) = (1, Route::to(destinations));
    packet.stamped = all.cores[0].tables.enter(1);
    all.cores[0].passed(packet, Passed::Through, &mut Events { events, ports: DEFAULT.ports });
}

fn exchange(all: &mut All, events: &mut VecDeque<Event>) {
    all.cores.iter_mut().for_each(|core| {
        core.flush();
    });
    all.cores.iter_mut().for_each(|core| {
        core.collect(&mut Events { events, ports: DEFAULT.ports });
    });
}

/// In flight of generation 0 of module 1, as the host reads it.
fn read_in_flight(all: &All) -> u8 {
    let capabilities = Capabilities {
        kind: "test",
        target: DEFAULT,
        tick_ps: 4000,
        has_cycles: false,
        engines: engines::ids(engines::ALL).collect(),
        queues: true,
        xdp_in_hardware: false,
    };
    let row = all.row(&capabilities, (Node::Stamp, Table::Generation, 1)).unwrap();
    GenerationRow::of_words(&row).in_flight_0
}

#[test]
fn a_token_goes_out_at_the_worker_of_dispatch_and_commits_wait_for_it() {
    let (mut all, mut events) = (all(), VecDeque::new());
    let to = late(&all);
    for cells in [64, 0] {
        all.write(Node::Egress, Table::Limit, u32::from(to) * DEFAULT.modules + 1, &[cells]);
        passed(&mut all, &mut events, 1 << to);
        assert_eq!((all.in_flight(1), all.is_inside(1), all.is_idle(), read_in_flight(&all)), (1, true, false, 1));
        assert!(!all.drained(1, 0) && all.drained(1, 1) && all.drained(0, 1));
        let commit = |all: &mut All, generation| all.write(Node::Stamp, Table::Generation, 1, &[generation]);
        assert_eq!(commit(&mut all, 1), Status::Ok);
        assert_eq!(commit(&mut all, 0), Status::Busy, "a packet of generation 0 is on its way to the other worker");
        exchange(&mut all, &mut events);
        assert_eq!((all.in_flight(1), all.is_idle(), read_in_flight(&all)), (0, true, 0), "{cells} cells");
        assert!(all.drained(1, 0));
        assert_eq!(commit(&mut all, 0), Status::Ok, "{cells} cells");
        assert!(all.cores.iter().all(|core| core.under_way(1, 0) == 0), "the workers' counts are settled");
    }
    let ends: Vec<_> = events
        .iter()
        .map(|event| matches!(event, Event::Outcome(o) if matches!(o.verdict, Verdict::Dropped { .. })))
        .collect();
    assert_eq!(ends, [false, true], "the second one found no room in its queue");
}

#[test]
fn copies_go_to_the_workers_of_their_destinations_each_once() {
    let (mut all, mut events) = (all(), VecDeque::new());
    for destination in 0..DEFAULT.destinations() {
        all.write(Node::Egress, Table::Limit, destination * DEFAULT.modules + 1, &[64]);
    }
    assert_eq!(all.write(Node::Egress, Table::Vids, 1, &[1]), Status::Ok);
    passed(&mut all, &mut events, 0xff);
    all.cores[0].drain(&mut Events { events: &mut events, ports: DEFAULT.ports });
    assert_eq!((events.len(), all.in_flight(1)), (4, 4), "those of even numbers have left");
    exchange(&mut all, &mut events);
    assert_eq!((events.len(), all.in_flight(1), all.is_idle()), (8, 0, true));
    let counters = all.counters()[&1].clone();
    assert_eq!((counters.delivered, counters.forwarded), (4, 4), "{counters:?}, {events:?}");
}

#[test]
fn packets_of_a_tenant_with_state_go_home_also_those_that_came_before_it_had_some() {
    let (mut all, mut events) = (all(), VecDeque::new());
    let arrive = |all: &mut All, events: &mut VecDeque<Event>| {
        let mut bytes = vec![0; 64];
        bytes[12..16].copy_from_slice(&[0x81, 0, 0, 10]);
        let arrived = Arrived { port: 0, bytes: Cow::Owned(bytes), bad: false };
        all.cores[0].arrive(arrived, &mut Events { events, ports: DEFAULT.ports });
    };
    arrive(&mut all, &mut events);
    let rate = RateRow { cost_per_byte: 1, burst: 60 }.pack().unwrap();
    all.write(Node::Stamp, Table::Rate, 1, &rate);
    all.find_homes();
    assert_eq!((all.cores[0].in_flight(1), all.home(1)), (1, 1));
    all.cores[0].serve(&mut Counted::default(), usize::MAX, &mut Events { events: &mut events, ports: DEFAULT.ports });
    arrive(&mut all, &mut events);
    assert_eq!((all.cores[0].in_flight(1), all.in_flight(1), events.len()), (0, 2, 0), "both are on their way");
    // Without state it stays at home until nothing of it is inside.
    all.write(Node::Stamp, Table::Rate, 1, &[0; 2]);
    all.find_homes();
    arrive(&mut all, &mut events);
    exchange(&mut all, &mut events);
    assert_eq!((all.cores[0].in_flight(1), all.cores[1].in_flight(1)), (0, 3));
    all.cores[1].serve(&mut Counted::default(), usize::MAX, &mut Events { events: &mut events, ports: DEFAULT.ports });
    all.find_homes();
    arrive(&mut all, &mut events);
    assert_eq!((events.len(), all.cores[0].in_flight(1)), (3, 1), "it runs where it arrives");
}

#[test]
fn a_tenant_has_so_many_packets_on_the_way_and_takes_no_room_from_others() {
    let (mut all, mut events) = (all(), VecDeque::new());
    let send = |all: &mut All, events: &mut VecDeque<Event>, module: u8| {
        let mut packet = Box::<Packet>::default();
        packet.begin(Cow::Owned(vec![0; 60]), false);
        (packet.module, packet.route) = (module, Route::to(2));
        packet.stamped = all.cores[0].tables.enter(module);
        all.cores[0].passed(packet, Passed::Through, &mut Events { events, ports: DEFAULT.ports });
    };
    let most = crate::dataplane::post::MOST_UNDER_WAY;
    all.be_patient(false);
    (0..most + 3).for_each(|_| send(&mut all, &mut events, 1));
    send(&mut all, &mut events, 2);
    assert_eq!((all.in_flight(1), all.in_flight(2), events.len()), (most.into(), 1, 3));
    let Some(Event::Outcome(outcome)) = events.front() else { panic!("{events:?}") };
    let reason = Reason::TailPackets;
    assert_eq!((outcome.module, outcome.verdict), (1, Verdict::Dropped { reason, destination: Some(1) }));
    // Where sources wait nothing is turned away.
    all.be_patient(true);
    (0..3).for_each(|_| send(&mut all, &mut events, 1));
    assert_eq!((all.in_flight(1), events.len(), all.cores[0].room_to_run()), (u64::from(most) + 3, 3, 0));
}

#[test]
fn state_of_the_system_module_is_first_or_refused() {
    let mut all = all();
    let page = PageRow { valid: true, page: 1 }.pack().unwrap();
    let of = |module: u32| module * 2 * MODULE_PAGES as u32;
    let load = |index: u32| Load {
        format_version: FORMAT_VERSION,
        target_hash: DEFAULT.hash(),
        tenant: 0,
        label: "test".to_owned(),
        steps: vec![
            Step::Barrier,
            Step::Write { node: Node::Stage(1), table: Table::Page, index, words: page.clone() },
        ],
    };
    assert_eq!(all.check(&load(0)), Ok(()));
    all.write(Node::Stage(1), Table::Page, of(2), &page);
    assert_eq!(all.check(&load(0)), Ok(()), "module 2 has its state where the system module would have all");
    all.write(Node::Stage(1), Table::Page, of(3), &page);
    let refused = all.check(&load(0)).unwrap_err();
    assert_eq!((refused.code(), refused.to_string().contains("step 1")), ("E0314", true), "{refused}");
    assert_eq!(all.check(&load(of(5))), Ok(()), "another tenant may");
    all.write(Node::Stage(1), Table::Page, of(3), &[0]);
    all.write(Node::Stage(1), Table::Page, of(0), &page);
    all.find_homes();
    assert_eq!((all.home(3), all.check(&load(0))), (0, Ok(())));
}
