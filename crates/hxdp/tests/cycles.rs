//! The cycle model against cases that were computed by hand.

use sluice_hxdp::cycles::search::What;
use sluice_hxdp::cycles::{Arrivals, Dispatch, Load, Memory, Order, Search, alone, loaded, saturated, simulate};
use sluice_hxdp::{Engine, Trace, cycles::Issue};

const ALU: Issue = Issue {
    loads: 0,
    stores: 0,
    multiplies: 0,
    divides: 0,
    half_divides: 0,
    values: 0,
    posted: 0,
    elements: 0,
    search: None,
    helpers: 0,
    calls: 0,
    results: 0,
    last_lane: false,
    late: false,
    enters: false,
    leaves: false,
    twice: false,
    refers: false,
    exit: false,
    ends_late: false,
};
const EXIT: Issue = Issue { exit: true, ..ALU };
const LOAD: Issue = Issue { loads: 1, ..ALU };
const STORE: Issue = Issue { stores: 1, ..ALU };
const MULTIPLY: Issue = Issue { multiplies: 1, late: true, ..ALU };
const DIVIDE: Issue = Issue { divides: 1, late: true, ..ALU };
const VALUE: Issue = Issue { values: 1, late: true, ..ALU };
const POSTED: Issue = Issue { posted: 1, ..ALU };
const HELPER: Issue = Issue { helpers: 1, twice: true, ..ALU };
/// A key of 8 bytes in a hash map.
const LOOKUP: Issue = Issue {
    search: Some(Search {
        what: What::Lookup,
        keyed: true,
        trie: false,
        key: 1,
        value: 1,
        only_looks: false,
        lru: false,
        map: 0,
    }),
    late: true,
    ..ALU
};

/// One core, nothing reserved, no order.
fn core(contexts: usize) -> Engine {
    Engine { cores: 1, warp: 0, reserve: 0, order: Order::None, ..Engine::default().with_contexts(contexts) }
}

/// A dropped packet of one row.
fn dropped(issues: &[Issue]) -> Trace {
    Trace { issues: issues.to_vec(), rows_in: 1, ..Trace::default() }
}

/// A packet of so many rows that leaves.
fn sent(issues: &[Issue], rows: u32) -> Trace {
    Trace { rows_in: rows, rows_out: rows, ..dropped(issues) }
}

/// Cycles of a packet alone, beyond those of one that only exits.
fn beyond_exit(engine: &Engine, issues: &[Issue]) -> u64 {
    alone(engine, &dropped(&[issues, &[EXIT]].concat())) - alone(engine, &dropped(&[EXIT]))
}

/// Whether a mean is that, but for where the measured time begins and ends.
fn near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 0.015
}

#[test]
fn one_packet_alone_takes_the_sum_of_its_parts() {
    // Cycle 0 writes the row, 11 picks the exit with the packet, 17 ends, 20 has the verdict.
    assert_eq!(alone(&core(1), &dropped(&[EXIT])), 20);
    // Its row is read in cycle 17, and is on the output 6 cycles after 18.
    assert_eq!(alone(&core(1), &sent(&[EXIT], 1)), 24);
    assert_eq!(alone(&core(1), &sent(&[EXIT], 24)), 24 + 23 + 23);
    assert_eq!(alone(&core(1), &dropped(&[ALU, ALU, EXIT])), 20 + 10);
    // The warp engine looks at it before.
    let behind = Engine { warp: Engine::default().warp, ..core(1) };
    assert_eq!(alone(&behind, &dropped(&[EXIT])), 10 + 20);
}

#[test]
fn each_class_has_its_interval() {
    let core = core(1);
    let all = [(ALU, 5), (LOAD, 5), (STORE, 5), (MULTIPLY, 10), (DIVIDE, 73)];
    for (issue, cycles) in all {
        assert_eq!(beyond_exit(&core, &[issue]), cycles, "{issue:?}");
    }
    // Launched after 5, answered after 6 with the queue in front; nobody else wants the port by which a register is written.
    assert_eq!([VALUE, POSTED].map(|issue| beyond_exit(&core, &[issue])), [11, 11]);
    // Taken in the cycle behind its launch, 6 for the key, 4 for the entry, picked behind the answer.
    assert_eq!(beyond_exit(&core, &[LOOKUP]), 5 + 1 + 6 + 4 + 1);
    // Two passes around 4 cycles.
    assert_eq!(beyond_exit(&core, &[HELPER]), 5 + 4 + 5);
    assert_eq!(beyond_exit(&core, &[Issue { twice: true, late: false, ..VALUE }]), 5 + 6 + 5);
    let call = Issue { calls: 1, twice: true, ..ALU };
    assert_eq!(beyond_exit(&core, &[call, EXIT]), 5 + 17 + 5 + 15, "a call and its return");
    assert_eq!(beyond_exit(&Engine { late: false, ..core }, &[VALUE]), 5 + 6 + 5);
    assert_eq!(beyond_exit(&Engine { posted: true, ..core }, &[POSTED]), 5);
    assert_eq!(beyond_exit(&core, &[Issue { values: 2, ..VALUE }]), 5 + 6 + 1, "two accesses, one port");
}

#[test]
fn a_context_alone_waits_and_enough_contexts_fill_the_issue() {
    let packet = [dropped(&[[ALU; 19].as_slice(), &[EXIT]].concat())];
    // 20 bundles, 5 cycles each, and one behind the exit.
    assert_eq!(saturated(&core(1), &packet).cycles_per_packet(), 101.0);
    assert_eq!(saturated(&core(2), &packet).cycles_per_packet(), 50.5);
    let full = saturated(&core(8), &packet);
    assert!(near(full.cycles_per_packet(), 20.0) && full.issue > 0.999, "{full:?}");
    let two = saturated(&Engine { cores: 2, ..core(8) }, &packet);
    assert!(near(two.cycles_per_packet(), 10.0), "{two:?}");
}

#[test]
fn a_late_result_is_picked_once_and_a_second_pass_twice() {
    let packet = [dropped(&[[VALUE; 9].as_slice(), &[EXIT]].concat())];
    assert!(near(saturated(&core(16), &packet).cycles_per_packet(), 10.0));
    let twice = saturated(&Engine { late: false, ..core(16) }, &packet);
    assert!(near(twice.cycles_per_packet(), 19.0), "{twice:?}");
}

#[test]
fn a_late_result_waits_for_the_last_lane() {
    // All bundles write by the last lane, so each result waits for four cycles, and its write for the pick that is left out.
    let writes = Issue { last_lane: true, ..ALU };
    let packet = [dropped(&[[VALUE].as_slice(), &[writes; 30], &[EXIT]].concat())];
    let shared = saturated(&core(16), &packet).cycles_per_packet();
    let own = saturated(&Engine { late_port: true, ..core(16) }, &packet).cycles_per_packet();
    assert!(near(own, 32.0), "{own}");
    assert!((32.5..34.0).contains(&shared), "a cycle is kept free for it: {shared}");
}

#[test]
fn all_cores_share_the_value_port() {
    // 4 cores have 19 accesses a packet, the port takes one a cycle.
    let packet = [dropped(&[[VALUE; 19].as_slice(), &[EXIT]].concat())];
    let timing = saturated(&Engine { cores: 4, ..core(16) }, &packet);
    assert!((18.0..21.0).contains(&timing.cycles_per_packet()), "{timing:?}");
    assert!(timing.value_port > 0.9, "{timing:?}");
}

#[test]
fn all_cores_share_the_map_engine() {
    let packet = [dropped(&[LOOKUP, LOOKUP, EXIT])];
    // The first half takes another key of 8 bytes in 3 cycles, the second one another operation in 4.
    for cores in [1, 4] {
        let cycles = saturated(&Engine { cores, ..core(8) }, &packet).cycles_per_packet();
        assert!(near(cycles, 8.0), "{cores}: {cycles}");
    }
    // Of a key of 48 bytes each of 5 words more is read in a cycle, and each 16 bytes are compared in one.
    let long = Search { key: 6, ..LOOKUP.search.unwrap() };
    let packet = [dropped(&[Issue { search: Some(long), ..LOOKUP }, EXIT])];
    for cores in [1, 4] {
        let cycles = saturated(&Engine { cores, ..core(8) }, &packet).cycles_per_packet();
        assert!(near(cycles, 8.0), "{cores}: {cycles}");
    }
}

#[test]
fn two_lookups_that_change_nothing_are_under_way_at_once() {
    // A trie of two nodes, 8 cycles in the second half.
    let trie = |only_looks| {
        let search = Some(Search {
            what: What::Lookup,
            keyed: false,
            trie: true,
            key: 1,
            value: 1,
            only_looks,
            lru: false,
            map: 0,
        });
        [dropped(&[Issue { search, late: true, ..ALU }, EXIT])]
    };
    let engine = Engine { cores: 4, ..core(8) };
    let [one, two] = [false, true].map(|only_looks| saturated(&engine, &trie(only_looks)).cycles_per_packet());
    assert!(near(one, 8.0) && near(two, 4.0), "{one} {two}");
}

#[test]
fn a_packet_that_ends_with_a_posted_access_has_one_pass() {
    let last = Issue { posted: 1, exit: true, ends_late: true, ..ALU };
    let packet = [dropped(&[[ALU; 19].as_slice(), &[last]].concat())];
    assert!(near(saturated(&core(16), &packet).cycles_per_packet(), 20.0));
    let twice = [dropped(&[[ALU; 19].as_slice(), &[Issue { twice: true, ends_late: false, ..last }]].concat())];
    assert!(near(saturated(&core(16), &twice).cycles_per_packet(), 21.0));
    // The context is free when it is answered, 6 cycles behind its launch, and that was taken note of; an exit takes 6.
    assert_eq!(alone(&core(1), &dropped(&[last])), alone(&core(1), &dropped(&[EXIT])) + 5 + 6 + 1 - 6);
}

#[test]
fn a_flow_passes_its_section_one_packet_at_a_time() {
    let (enters, leaves) = (Issue { enters: true, ..ALU }, Issue { leaves: true, ..ALU });
    let issues = [[ALU; 10].as_slice(), &[enters, enters, leaves], &[ALU; 9], &[EXIT]].concat();
    let engine = core(16);
    // From the first row of the section to what leaves it 10 cycles, and 5 more to the memory stage: less than the bundles take.
    let one = saturated(&engine, &[dropped(&issues)]).cycles_per_packet();
    assert!((23.0..25.0).contains(&one), "{one}: a pick more than bundles");
    let flows: Vec<_> = (0..64).map(|flow| Trace { flow, ..dropped(&issues) }).collect();
    let many = saturated(&engine, &flows).cycles_per_packet();
    assert!(near(many, 23.0), "{many}: as many as its bundles");
    // Longer ones are the bound.
    let long = [[enters; 20].as_slice(), &[leaves, EXIT]].concat();
    let one = saturated(&engine, &[dropped(&long)]).cycles_per_packet();
    assert!((103.0..109.0).contains(&one), "{one}");
}

#[test]
fn two_divisions_at_once_wait_for_the_one_divider() {
    // 73 for the division, 6 to exit. 2 contexts would do 39.5, the divider does 67 and is asked every 5 cycles.
    let packet = [dropped(&[DIVIDE, EXIT])];
    assert_eq!(saturated(&core(1), &packet).cycles_per_packet(), 79.0);
    let two = saturated(&core(2), &packet).cycles_per_packet();
    assert!((67.0..72.0).contains(&two), "{two}");
    let cores = saturated(&Engine { cores: 2, ..core(8) }, &packet).cycles_per_packet();
    assert!((33.5..36.0).contains(&cores), "each core has one: {cores}");
}

#[test]
fn accesses_beyond_the_ports_take_the_issue_longer() {
    let both = Issue { loads: 1, stores: 1, ..ALU };
    let packet = [dropped(&[[both; 19].as_slice(), &[EXIT]].concat())];
    let with = |memory| saturated(&Engine { memory, ..core(16) }, &packet).cycles_per_packet();
    // The row of the next packet takes the one free cycle, that of the exit.
    assert!((20.0..20.2).contains(&with(Memory::READ_AND_WRITE)));
    let one = with(Memory::ONE);
    assert!(near(one, 39.0), "{one}");
    assert_eq!(beyond_exit(&Engine { memory: Memory::ONE, ..core(1) }, &[both]), 6);
    assert_eq!(beyond_exit(&core(1), &[Issue { loads: 2, ..ALU }]), 6);
    assert_eq!(beyond_exit(&Engine { memory: Memory::TWO, ..core(1) }, &[Issue { loads: 2, ..ALU }]), 5);
}

#[test]
fn rows_that_leave_take_the_read_port_beside_the_loads() {
    // 39 loads and 24 rows: once all slots wait to leave, contexts are free, and so is the port.
    let packet = [sent(&[[LOAD; 39].as_slice(), &[EXIT]].concat(), 24)];
    assert!((63.0..63.1).contains(&saturated(&core(8), &packet).cycles_per_packet()));
    let two = Engine { memory: Memory::TWO, ..core(8) };
    assert_eq!(saturated(&two, &packet).cycles_per_packet(), 40.0);
    // A reserved cycle costs a packet no throughput; one that leaves waits less.
    let reserved = saturated(&Engine { reserve: 8, ..core(8) }, &packet);
    assert!((63.0..63.1).contains(&reserved.cycles_per_packet()), "{reserved:?}");
}

#[test]
fn packets_of_many_beats_take_the_bus() {
    let packet = [sent(&[EXIT], 24)];
    assert_eq!(saturated(&core(8), &packet).cycles_per_packet(), 24.0);
    assert_eq!(saturated(&Engine { cores: 4, ..core(8) }, &packet).cycles_per_packet(), 24.0);
}

/// A slow packet, and seven quick ones of other flows.
fn mixed() -> Vec<Trace> {
    let slow = Trace { flow: 1, ..sent(&[[ALU; 199].as_slice(), &[EXIT]].concat(), 1) };
    let quick = (2..9).map(|flow| Trace { flow, ..sent(&[[ALU; 9].as_slice(), &[EXIT]].concat(), 1) });
    std::iter::once(slow).chain(quick).collect()
}

#[test]
fn arrival_order_blocks_behind_a_slow_packet_and_tickets_do_not() {
    let with = |order, slots| saturated(&Engine { order, slots, ..core(8) }, &mixed()).cycles_per_packet();
    // 270 bundles for 8 packets are 33.75 cycles a packet at least.
    let free = with(Order::None, 16);
    let tickets = with(Order::Tickets(256), 16);
    let arrival = with(Order::Arrival, 16);
    assert!(tickets < free * 1.1, "{tickets} {free}");
    assert!(arrival > free * 1.5, "{arrival} {free}");
    assert!(with(Order::Arrival, 64) < arrival / 1.2, "slots make up for order");
    let one_flow: Vec<Trace> = mixed().into_iter().map(|trace| Trace { flow: 1, ..trace }).collect();
    let one = saturated(&Engine { order: Order::Tickets(256), ..core(8) }, &one_flow);
    assert_eq!(one.cycles_per_packet(), arrival, "one flow is in order of arrival");
}

#[test]
fn what_is_dropped_waits_for_nobody() {
    let mut packets = mixed();
    packets[1..].iter_mut().for_each(|trace| trace.rows_out = 0);
    let with = |order| saturated(&Engine { order, ..core(8) }, &packets).cycles_per_packet();
    assert_eq!(with(Order::Arrival), with(Order::None));
}

#[test]
fn a_serial_flow_is_executed_one_packet_at_a_time() {
    let packet = [Trace { serial: true, ..dropped(&[ALU, EXIT]) }];
    // Row and start, two bundles: the next is dispatched in the cycle in which this one ends.
    assert_eq!(saturated(&core(8), &packet).cycles_per_packet(), 11.0 + 5.0 + 6.0);
}

#[test]
fn a_stack_that_is_cleared_takes_the_write_port() {
    let engine = Engine { stack_rows: 8, ..core(1) };
    assert_eq!(alone(&engine, &dropped(&[EXIT])), 20 + 8);
    let packet = [dropped(&[EXIT])];
    let timing = saturated(&Engine { stack_rows: 8, ..core(16) }, &packet);
    assert!(near(timing.cycles_per_packet(), 9.0), "8 rows of stack and one of packet: {timing:?}");
    assert_eq!(saturated(&core(16), &packet).cycles_per_packet(), 1.0);
}

#[test]
fn least_work_is_no_slower_than_taking_turns() {
    let with = |dispatch| saturated(&Engine { cores: 2, dispatch, ..core(4) }, &mixed()).cycles_per_packet();
    // Eight packets in turns bring every slow one to the same core.
    assert!(with(Dispatch::LeastWork) < 0.8 * with(Dispatch::RoundRobin));
}

#[test]
fn what_comes_faster_than_it_is_carried_out_is_lost() {
    let packet = [dropped(&[[ALU; 9].as_slice(), &[EXIT]].concat())];
    let every = |period| loaded(&core(8), &packet, Arrivals::Every { period, queue: 8 });
    let slow = every(60_000);
    assert_eq!((slow.lost, slow.cycles_per_packet()), (0, 60.0));
    assert_eq!(slow.latency, 20.0 + 45.0);
    let fast = every(5_000);
    assert_eq!(fast.cycles_per_packet(), 10.0);
    let share = fast.lost as f64 / fast.came as f64;
    assert!((0.4..=0.5).contains(&share), "{share}");
}

#[test]
fn the_same_packets_give_the_same_cycles() {
    let play = || {
        let arrivals = Arrivals::BackToBack;
        simulate(&Engine::default(), &Load { traces: &mixed(), arrivals, warm: 80, measured: 800 })
    };
    assert_eq!(play(), play());
}
