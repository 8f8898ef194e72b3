//! A packet's way, step by step.

use super::*;
use crate::dataplane::all::All;
use crate::dataplane::lanes::Counted;
use crate::dataplane::out::Events;
use crate::engines;
use crate::loads::Loads;
use sluice_device::{Event, Route, Verdict};
use sluice_formats::limits::{COST_FRACTION_BITS, FORMAT_VERSION};
use sluice_formats::rows::{PortPolicyRow, RateRow, VlanRow};
use sluice_formats::target::DEFAULT;
use sluice_formats::{Node, Reason, Row, Table};
use sluice_object::{Load, Step};
use std::collections::VecDeque;

/// Modules 1 and 2 have VLANs 10 and 20 of port 0; they have no program, and no room in any queue.
fn core() -> Core {
    let mut core = Core::new(DEFAULT, engines::all(&DEFAULT));
    let policy = PortPolicyRow { min_frame: 14, max_frame: 9216, ..Default::default() };
    core.tables.write(Node::Port(0), Table::PortPolicy, 0, &policy.pack().unwrap());
    for module_id in [1, 2] {
        let row = VlanRow { valid: true, keep_tag: false, module_id, tenant: 7 };
        core.tables.write(Node::Port(0), Table::Vlan, 10 * u32::from(module_id), &row.pack().unwrap());
    }
    core
}

fn arrive(core: &mut Core, events: &mut VecDeque<Event>, module: u8) {
    let mut bytes = vec![0; 64];
    bytes[12..16].copy_from_slice(&[0x81, 0, 0, 10 * module]);
    let arrived = Arrived { port: 0, bytes: Cow::Owned(bytes), bad: false };
    core.arrive(arrived, &mut Events { events, ports: DEFAULT.ports });
}

fn serve(core: &mut Core, events: &mut VecDeque<Event>) -> usize {
    core.serve(&mut Counted::default(), usize::MAX, &mut Events { events, ports: DEFAULT.ports })
}

fn load(steps: Vec<Step>) -> Load {
    let label = "test".to_owned();
    Load { format_version: FORMAT_VERSION, target_hash: DEFAULT.hash(), tenant: 0, label, steps }
}

/// Packets of the outcomes by module, in their order.
fn outcomes(events: &mut VecDeque<Event>) -> Vec<(u8, u32)> {
    let each = events.drain(..).filter_map(|event| match event {
        Event::Outcome(outcome) => Some((outcome.module, outcome.id)),
        Event::OpDone { .. } => None,
    });
    each.collect()
}

#[test]
fn a_stopped_entrance_keeps_packets_in_their_order_and_a_removal_waiting() {
    let (mut all, mut events) = (All { cores: vec![core()], cpus: 1 }, VecDeque::new());
    let core = &mut all.cores[0];
    core.tables.write(Node::System, Table::Control, control::HOLD, &[1]);
    for module in [1, 2, 1, 1, 2, 1] {
        arrive(core, &mut events, module);
    }
    let (mut loads, mut steps) = (Loads::default(), 0);
    loads.push(load(vec![Step::WaitQueuesEmpty { module: 1 }]), steps);
    let mut ended = 0;
    assert!(!all.step_loads((&mut loads, &mut steps), |_, _| ended += 1));
    let core = &mut all.cores[0];
    assert_eq!((serve(core, &mut events), core.has_work(), core.is_idle(), ended), (0, false, false, 0));
    assert_eq!((core.in_flight(1), core.in_flight(2), events.len()), (4, 2, 0));
    core.tables.write(Node::System, Table::Control, control::HOLD, &[0]);
    assert_eq!((core.has_work(), serve(core, &mut events)), (true, 6));
    all.step_loads((&mut loads, &mut steps), |_, result| ended += usize::from(result.is_ok()));
    let core = &mut all.cores[0];
    assert_eq!((ended, core.is_idle(), core.in_flight(1)), (1, true, 0));
    let seen = outcomes(&mut events);
    for (module, ids) in [(1, [0, 2, 3, 5].as_slice()), (2, &[1, 4])] {
        assert!(seen.iter().filter(|(m, _)| *m == module).map(|(_, id)| id).eq(ids), "{seen:?}");
    }
}

#[test]
fn a_packet_that_finds_no_room_in_front_of_dispatch_gives_its_token_back() {
    let (mut core, mut events) = (core(), VecDeque::new());
    let late = core.queues.late().expect("dispatch is there");
    for (cells, destinations) in [(0, 1 << late), (0, 1 << late | 1), (64, 1 << late | 1)] {
        core.tables.write(Node::Egress, Table::Limit, u32::from(late) * DEFAULT.modules + 1, &[cells]);
        let mut packet = Box::<Packet>::default();
        packet.begin(Cow::Owned(vec![0; 60]), false);
        (packet.module, packet.route) = (1, Route::to(destinations));
        packet.stamped = core.tables.enter(1);
        core.queues.set_blocked(late, true);
        core.passed(packet, Passed::Through, &mut Events { events: &mut events, ports: DEFAULT.ports });
        let waits = u32::from(cells > 0);
        assert_eq!(core.tables.generation(1).in_flight, [waits, 0], "{cells} cells, destinations {destinations:b}");
        core.queues.set_blocked(late, false);
        core.drain(&mut Events { events: &mut events, ports: DEFAULT.ports });
        assert_eq!(core.tables.generation(1).in_flight, [0, 0], "after it has left");
    }
    let dropped = events.iter().filter(|event| {
        let Event::Outcome(outcome) = event else { return false };
        matches!(outcome.verdict, Verdict::Dropped { destination: Some(_), .. })
    });
    // Nobody has room, or the VLAN, at destination 0.
    assert_eq!(dropped.count(), 1 + 2 + 1);
}

#[test]
fn a_lane_that_is_full_is_counted_for_its_tenant_alone() {
    let (mut core, mut events) = (core(), VecDeque::new());
    core.tables.write(Node::System, Table::Control, control::HOLD, &[1]);
    let mut offered = 0;
    while events.is_empty() {
        arrive(&mut core, &mut events, 1);
        offered += 1;
    }
    arrive(&mut core, &mut events, 2);
    let Some(Event::Outcome(outcome)) = events.pop_front() else { panic!("{events:?}") };
    assert_eq!(outcome.verdict, Verdict::Dropped { reason: Reason::OverShare, destination: None });
    assert_eq!((outcome.module, core.in_flight(1), core.in_flight(2), events.len()), (1, offered - 1, 1, 0));
}

#[test]
fn a_tenant_beyond_its_rate_loses_packets_until_time_has_passed() {
    let (mut core, mut events) = (core(), VecDeque::new());
    // 60 bytes, without the tag, cost 60 ticks; two are within the burst.
    let rate = RateRow { cost_per_byte: 1 << COST_FRACTION_BITS, burst: 60 };
    core.tables.write(Node::Stamp, Table::Rate, 1, &rate.pack().unwrap());
    let mut reasons = |core: &mut Core, now: u64| {
        core.elapse(now);
        for _ in 0..3 {
            arrive(core, &mut events, 1);
        }
        serve(core, &mut events);
        let dropped = events.drain(..).map(|event| match event {
            Event::Outcome(outcome) => outcome.verdict == Verdict::Dropped { reason: Reason::Rate, destination: None },
            Event::OpDone { .. } => panic!("no load"),
        });
        dropped.collect::<Vec<_>>()
    };
    assert_eq!(reasons(&mut core, 1_000), [false, false, true]);
    assert_eq!(reasons(&mut core, 1_059), [true, true, true]);
    assert_eq!(reasons(&mut core, 1_060), [false, true, true]);
}
