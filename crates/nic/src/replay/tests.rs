use super::*;
use crate::conformance::sender;
use crate::engines;
use sluice_formats::rows::{ExcessRow, PortPolicyRow, RateRow, ShareRow, VlanRow};
use sluice_formats::target::TINY;
use sluice_formats::{Node, Row, Table};
use sluice_object::linker::rmt::{Placer, Quota};
use sluice_rmt::programs::send::Send;

const MODULE: u8 = 2;

fn set<R: Row>(replay: &mut Replay, node: Node, table: Table, index: u32, row: &R) {
    replay.apply_write(node, table, index, &row.pack().unwrap()).unwrap();
}

/// VLAN 7 of port 0 is module 2: port 1 and host queue 0, new MAC; two cells a queue.
fn replay() -> Replay {
    let mut replay = Replay::new(TINY, engines::these(&[&engines::RMT], &TINY));
    let policy = PortPolicyRow { max_frame: 1518, ..Default::default() };
    set(&mut replay, Node::Port(0), Table::PortPolicy, 0, &policy);
    let vlan = VlanRow { valid: true, keep_tag: false, module_id: MODULE, tenant: 70 };
    set(&mut replay, Node::Port(0), Table::Vlan, 7, &vlan);
    let mut placer = Placer::new(TINY.rmt);
    let part = sender(&Send { destinations: 0b1_0010, dmac: Some([9; 6]), ..Send::default() }, &TINY);
    let mut rows = placer.stage_owners();
    rows.extend(placer.admit(MODULE, "two", Quota::of(&part, 0xff)).unwrap());
    for generation in 0..2 {
        rows.extend(placer.place(MODULE, generation, &part).unwrap().rows);
    }
    for row in rows {
        replay.apply_write(row.node, row.table, row.index, &row.words).unwrap();
    }
    for destination in [1, 4] {
        let queue = destination * TINY.modules + u32::from(MODULE);
        replay.apply_write(Node::Egress, Table::Limit, queue, &[2]).unwrap();
    }
    replay
}

fn frame() -> Vec<u8> {
    let mut bytes = vec![1; 12];
    bytes.extend([0x81, 0x00, 0x20, 0x07, 0x12, 0x34]);
    bytes.resize(36, 5);
    bytes
}

fn port_row(id: u32) -> PortTraceRow {
    PortTraceRow { id, module_id: MODULE, dropped: false, reason: 0, length: 36, beyond: false, arrival: 990 }
}

fn merge_row(id: u32, generation: bool) -> MergeTraceRow {
    MergeTraceRow { id, module_id: MODULE, generation, system_generation: false, stamp: 1000, arrival: 990 }
}

fn verdict_row(id: u32) -> VerdictTraceRow {
    VerdictTraceRow { id, module_id: MODULE, dropped: false, reason: 0, destinations: 0b1_0010 }
}

fn queue_row(id: u32, destination: u8, drop: Option<Reason>) -> QueueTraceRow {
    let reason = drop.map_or(0, |r| r.code());
    QueueTraceRow { id, module_id: MODULE, destination, dropped: drop.is_some(), reason }
}

fn leave_row(id: u32, destination: u8) -> LeaveTraceRow {
    LeaveTraceRow { id, module_id: MODULE, destination, length: 32 }
}

fn sideband(id: u32) -> SidebandRow {
    SidebandRow {
        id,
        stamp: 990,
        tenant: 70,
        module_id: MODULE,
        generation: false,
        length: 32,
        tci: 0x2007,
        tag_off: true,
        flow_hash: 0,
        destinations: 0b1_0010,
        egress_queue: 0,
        tag: 0,
    }
}

/// Brings packet `id` to its verdict.
fn through(replay: &mut Replay, id: u32) {
    replay.port(&port_row(id), &frame(), false).unwrap();
    replay.merge(&merge_row(id, false)).unwrap();
    replay.verdict(&verdict_row(id), 0).unwrap();
}

fn port_bytes() -> Vec<u8> {
    let mut bytes = frame();
    bytes[..6].fill(9);
    bytes
}

fn host_bytes() -> Vec<u8> {
    let mut bytes = port_bytes();
    bytes.drain(12..16);
    bytes
}

#[test]
fn a_right_trace_passes_and_the_accounting_closes_at_every_event() {
    let mut replay = replay();
    let close = |replay: &Replay| {
        let counters = replay.counters(0);
        assert!(counters.modules.values().all(|c| c.closes()), "{counters:?}");
    };
    replay.port(&port_row(0), &frame(), false).unwrap();
    close(&replay);
    replay.merge(&merge_row(0, false)).unwrap();
    assert_eq!(replay.tables().generation(MODULE).in_flight, [1, 0]);
    close(&replay);
    replay.verdict(&verdict_row(0), 0).unwrap();
    close(&replay);
    for destination in [1, 4] {
        replay.queue(&queue_row(0, destination, None)).unwrap();
        close(&replay);
    }
    for (destination, bytes) in [(4, host_bytes()), (1, port_bytes())] {
        replay.leave(&leave_row(0, destination)).unwrap();
        close(&replay);
        replay.output(destination, &bytes, &sideband(0), None).unwrap();
    }
    assert_eq!(replay.outstanding(), [] as [u32; 0]);
    let c = &replay.counters(0).modules[&MODULE];
    assert_eq!((c.offered, c.copies, c.forwarded, c.delivered, c.in_flight), (1, 1, 1, 1, 0));
}

#[test]
fn a_wrong_owner_reason_or_length_at_the_port_is_found() {
    let wrong_owner = PortTraceRow { module_id: 3, ..port_row(0) };
    let text = replay().port(&wrong_owner, &frame(), false).unwrap_err().to_string();
    assert_eq!(
        text,
        "packet 0 of port 0 (id 0x00000000) at port: the model has module 2, stored, the device has module 3, stored"
    );
    let dropped = PortTraceRow { dropped: true, reason: Reason::Runt.code(), ..port_row(0) };
    assert!(replay().port(&dropped, &frame(), false).is_err());
    assert!(replay().port(&port_row(0), &frame(), true).is_err(), "a bad frame is not stored");
    assert!(replay().port(&port_row(0), &frame()[..35], false).is_err());
    assert!(replay().port(&port_row(1), &frame(), false).is_err(), "the first frame has number 0");
    assert!(replay().port(&port_row(7 << 28), &frame(), false).is_err());
    let unknown = PortTraceRow { dropped: true, reason: 7, ..port_row(0) };
    assert!(replay().port(&unknown, &frame(), false).is_err());
}

#[test]
fn overload_is_taken_from_the_trace_and_counted() {
    let mut replay = replay();
    let overload = PortTraceRow { dropped: true, reason: Reason::Overload.code(), ..port_row(0) };
    replay.port(&overload, &frame(), false).unwrap();
    assert_eq!(replay.counters(0).modules[&MODULE].dropped, BTreeMap::from([(Reason::Overload, 1)]));
    assert!(replay.merge(&merge_row(0, false)).is_err());
}

#[test]
fn packets_of_a_port_do_not_overtake() {
    let mut replay = replay();
    replay.port(&port_row(0), &frame(), false).unwrap();
    replay.port(&port_row(1), &frame(), false).unwrap();
    assert!(replay.merge(&merge_row(1, false)).is_err());
}

#[test]
fn a_generation_nobody_committed_is_found() {
    let mut replay = replay();
    replay.port(&port_row(0), &frame(), false).unwrap();
    assert!(replay.merge(&merge_row(0, true)).is_err());
}

#[test]
fn a_commit_under_way_may_take_effect_and_not_go_back() {
    let mut replay = replay();
    for id in 0..3 {
        replay.port(&port_row(id), &frame(), false).unwrap();
    }
    replay.announce_write(Node::Stamp, Table::Generation, u32::from(MODULE), &[1]);
    replay.merge(&merge_row(0, false)).unwrap();
    replay.merge(&merge_row(1, true)).unwrap();
    assert!(replay.merge(&merge_row(2, false)).is_err());
    replay.apply_write(Node::Stamp, Table::Generation, u32::from(MODULE), &[1]).unwrap();
}

#[test]
fn a_commit_to_a_generation_in_flight_is_found() {
    let mut replay = replay();
    for id in 0..2 {
        replay.port(&port_row(id), &frame(), false).unwrap();
        replay.merge(&merge_row(id, id == 1)).unwrap();
        if id == 0 {
            replay.apply_write(Node::Stamp, Table::Generation, u32::from(MODULE), &[1]).unwrap();
        }
    }
    let early = replay.apply_write(Node::Stamp, Table::Generation, u32::from(MODULE), &[0]);
    assert!(early.is_err());
}

#[test]
fn the_system_modules_generation_is_checked_with_every_packet() {
    let mut replay = replay();
    for id in 0..3 {
        replay.port(&port_row(id), &frame(), false).unwrap();
    }
    let system = |id, system_generation| MergeTraceRow { system_generation, ..merge_row(id, false) };
    replay.merge(&system(0, false)).unwrap();
    replay.announce_write(Node::Stamp, Table::Generation, 0, &[1]);
    replay.merge(&system(1, true)).unwrap();
    assert_eq!(replay.tables().generation(0).in_flight, [1, 1]);
    assert!(replay.merge(&system(2, false)).is_err(), "nobody has gone back");
}

#[test]
fn a_wrong_verdict_is_found() {
    let mut replay = replay();
    replay.port(&port_row(0), &frame(), false).unwrap();
    replay.merge(&merge_row(0, false)).unwrap();
    let wrong = VerdictTraceRow { destinations: 2, ..verdict_row(0) };
    let text = replay.verdict(&wrong, 0).unwrap_err().to_string();
    assert!(text.contains("destinations 0x12") && text.contains("destinations 0x02"), "{text}");
}

#[test]
fn an_early_tail_drop_and_a_late_admission_are_found() {
    let mut replay = replay();
    through(&mut replay, 0);
    assert!(replay.queue(&queue_row(0, 1, Some(Reason::TailLimit))).is_err());
    replay.queue(&queue_row(0, 1, None)).unwrap();
    replay.queue(&queue_row(0, 4, None)).unwrap();
    for id in 1..3 {
        through(&mut replay, id);
    }
    replay.queue(&queue_row(1, 1, None)).unwrap();
    replay.queue(&queue_row(1, 4, None)).unwrap();
    // Two cells are used; the third does not fit before a leave.
    assert!(replay.queue(&queue_row(2, 1, None)).is_err());
    assert!(replay.queue(&queue_row(2, 1, Some(Reason::TailPackets))).is_err());
    replay.queue(&queue_row(2, 1, Some(Reason::TailLimit))).unwrap();
    assert!(replay.queue(&queue_row(2, 4, None)).is_err());
    replay.leave(&leave_row(0, 4)).unwrap();
    replay.queue(&queue_row(2, 4, None)).unwrap();
    assert!(replay.counters(0).modules[&MODULE].closes());
}

/// Brings packets to their verdicts, those of `high` with queue 5, and queues them everywhere.
fn queued(replay: &mut Replay, ids: std::ops::Range<u32>, high: &[u32]) {
    for destination in [1, 4] {
        let queue = destination * TINY.modules + u32::from(MODULE);
        replay.apply_write(Node::Egress, Table::Limit, queue, &[100]).unwrap();
    }
    for id in ids {
        through(replay, id);
        if high.contains(&id) {
            replay.packets.get_mut(&id).unwrap().inside.route.queue = 5;
        }
        for destination in [1, 4] {
            replay.queue(&queue_row(id, destination, None)).unwrap();
        }
    }
}

#[test]
fn a_high_copy_may_leave_first_and_each_queue_keeps_its_order() {
    let with_three = || {
        let mut replay = replay();
        queued(&mut replay, 0..4, &[2, 3]);
        replay
    };
    let mut right = with_three();
    for id in [2, 3, 0, 1] {
        right.leave(&leave_row(id, 1)).unwrap();
    }
    let side = SidebandRow { egress_queue: 5, ..sideband(2) };
    right.output(1, &port_bytes(), &side, None).unwrap();
    assert!(right.output(1, &port_bytes(), &sideband(0), None).is_err(), "packet 3 is before it");
    // Chosen before the high ones came.
    with_three().leave(&leave_row(0, 1)).unwrap();
    assert!(with_three().leave(&leave_row(1, 1)).is_err(), "low packet 0 is before it");
    assert!(with_three().leave(&leave_row(3, 1)).is_err(), "high packet 2 is before it");
}

#[test]
fn a_low_copy_that_came_later_never_leaves_first() {
    let mut replay = replay();
    queued(&mut replay, 0..2, &[0]);
    let text = replay.leave(&leave_row(1, 1)).unwrap_err().to_string();
    assert!(text.contains("packet 0x00000000 of the high queue first"), "{text}");
}

#[test]
fn a_high_copy_is_passed_by_no_more_low_ones_than_were_chosen_before() {
    let mut replay = replay();
    queued(&mut replay, 0..13, &[12]);
    // At the other destination it has left: it is in its queue here, too.
    replay.leave(&leave_row(12, 4)).unwrap();
    for id in 0..9 {
        replay.leave(&leave_row(id, 1)).unwrap();
    }
    let text = replay.leave(&leave_row(9, 1)).unwrap_err().to_string();
    assert!(text.contains("packet 0x0000000c of the high queue first, passed by 10 low ones"), "{text}");
}

#[test]
fn the_reserve_is_for_high_copies_only() {
    let mut replay = replay();
    let queue = TINY.modules + u32::from(MODULE);
    replay.apply_write(Node::Egress, Table::Limit, queue, &[2 | 1 << 16]).unwrap();
    through(&mut replay, 0);
    replay.queue(&queue_row(0, 1, None)).unwrap();
    replay.queue(&queue_row(0, 4, None)).unwrap();
    for (id, high) in [(1, false), (2, true)] {
        through(&mut replay, id);
        let [right, wrong] = match high {
            true => [None, Some(Reason::TailLimit)],
            false => [Some(Reason::TailLimit), None],
        };
        if high {
            replay.packets.get_mut(&id).unwrap().inside.route.queue = 4;
        }
        assert!(replay.queue(&queue_row(id, 1, wrong)).is_err());
        replay.queue(&queue_row(id, 1, right)).unwrap();
        let at_4 = if high { Some(Reason::TailLimit) } else { None };
        replay.queue(&queue_row(id, 4, at_4)).unwrap();
    }
    assert!(replay.counters(0).modules[&MODULE].closes());
}

#[test]
fn copies_are_judged_lowest_destination_first_and_all_of_them() {
    let mut replay = replay();
    through(&mut replay, 0);
    assert!(replay.queue(&queue_row(0, 4, None)).is_err());
    assert!(replay.queue(&queue_row(0, 1, None)).is_ok());
    assert_eq!(replay.outstanding(), [0]);
}

#[test]
fn wrong_bytes_sideband_or_order_at_the_output_are_found() {
    let with_two = || {
        let mut replay = replay();
        for id in 0..2 {
            through(&mut replay, id);
            for destination in [1, 4] {
                replay.queue(&queue_row(id, destination, None)).unwrap();
            }
        }
        replay.leave(&leave_row(0, 1)).unwrap();
        replay
    };
    assert!(with_two().output(1, &port_bytes(), &sideband(0), None).is_ok());
    assert!(with_two().output(1, &port_bytes(), &sideband(1), None).is_err());
    assert!(with_two().output(4, &host_bytes(), &sideband(0), None).is_err(), "it has not left queue 4");
    for wrong in [
        SidebandRow { tci: 7, ..sideband(0) },
        SidebandRow { stamp: 1000, ..sideband(0) },
        SidebandRow { egress_queue: 1, ..sideband(0) },
        SidebandRow { tag: 1, ..sideband(0) },
    ] {
        assert!(with_two().output(1, &port_bytes(), &wrong, None).is_err());
    }
    let mut bytes = port_bytes();
    bytes[20] ^= 1;
    let text = with_two().output(1, &bytes, &sideband(0), None).unwrap_err().to_string();
    assert!(text.contains("from byte 12: 81 00 20 07"), "{text}");
    assert!(with_two().leave(&leave_row(1, 4)).is_err(), "packet 0 is before it");
}

#[test]
fn a_frame_that_was_arriving_during_a_write_may_have_seen_either_row() {
    let mut replay = replay();
    let unmapped = PortTraceRow { module_id: 0, dropped: true, reason: Reason::Unmapped.code(), ..port_row(0) };
    replay.announce_write(Node::Port(0), Table::Vlan, 7, &[0]);
    replay.port(&unmapped, &frame(), false).unwrap();
    replay.apply_write(Node::Port(0), Table::Vlan, 7, &[0]).unwrap();
    replay.port(&port_row(1), &frame(), false).unwrap();
    assert!(replay.port(&port_row(2), &frame(), false).is_err(), "only one frame can have been under way");
}

#[test]
fn a_limiter_left_alone_for_half_a_round_of_the_stamps_and_more_is_full() {
    for pause in [1u64, 2, 3, 5].map(|quarters| quarters << 46) {
        let mut replay = replay();
        let rate = RateRow { cost_per_byte: 1 << 16, burst: 0 };
        set(&mut replay, Node::Stamp, Table::Rate, u32::from(MODULE), &rate);
        let untagged =
            PortPolicyRow { max_frame: 1518, untagged_valid: true, untagged_module: 1, ..Default::default() };
        set(&mut replay, Node::Port(0), Table::PortPolicy, 0, &untagged);
        let mut next = 0;
        let mut conforms = |replay: &mut Replay, module_id, ticks: u64| {
            let id = next;
            next += 1;
            let bytes = if module_id == MODULE { frame() } else { [1; 36].to_vec() };
            replay.port(&PortTraceRow { module_id, ..port_row(id) }, &bytes, false).unwrap();
            let stamp = ticks & ((1 << 48) - 1);
            replay.merge(&MergeTraceRow { module_id, stamp, ..merge_row(id, false) }).unwrap();
            replay.packets[&id].inside.conform
        };
        let begin = (1 << 48) - 100;
        assert!(conforms(&mut replay, MODULE, begin));
        assert!(!conforms(&mut replay, MODULE, begin + 31), "32 bytes at a tick a byte");
        // Another module's packet, so that no whole round goes by without a stamp.
        assert!(conforms(&mut replay, 1, begin + pause / 2));
        assert!(conforms(&mut replay, MODULE, begin + pause), "pause {pause:#x}");
        assert!(!conforms(&mut replay, MODULE, begin + pause + 31));
        assert!(conforms(&mut replay, MODULE, begin + pause + 32));
    }
}

#[test]
fn the_packet_that_enters_counts_in_its_ports_fifo_until_the_next_one_has_entered() {
    let refused = |id| PortTraceRow { dropped: true, reason: Reason::OverShare.code(), beyond: true, ..port_row(id) };
    let mut replay = replay();
    // Nothing is within the share, and there is room for one packet of a beat.
    let share = ShareRow { ticks_per_beat: 1, burst: 0, growth: 0 };
    set(&mut replay, Node::Port(0), Table::Share, u32::from(MODULE), &share);
    set(&mut replay, Node::Port(0), Table::Excess, 0, &ExcessRow { beats: 1 });
    let stored = |id| PortTraceRow { beyond: true, ..port_row(id) };
    replay.port(&stored(0), &frame(), false).unwrap();
    replay.port(&refused(1), &frame(), false).unwrap();
    replay.merge(&merge_row(0, false)).unwrap();
    // The device may refuse or store while it still sends the beats of the first one.
    replay.port(&refused(2), &frame(), false).unwrap();
    replay.port(&stored(3), &frame(), false).unwrap();
    replay.port(&stored(4), &frame(), false).unwrap();
    replay.merge(&merge_row(3, false)).unwrap();
    replay.merge(&merge_row(4, false)).unwrap();
    // One packet, the last to enter, fills the room; two would too, but the first has left by now.
    set(&mut replay, Node::Port(0), Table::Excess, 0, &ExcessRow { beats: 2 });
    let text = replay.port(&refused(5), &frame(), false).unwrap_err().to_string();
    assert!(text.contains("1 cost beats stored, room for 2, and a packet of 1"), "{text}");
}

#[test]
fn a_packet_of_another_port_that_enters_takes_no_room_of_this_one() {
    let mut replay = replay();
    for port in [0, 1] {
        let policy = PortPolicyRow { max_frame: 1518, ..Default::default() };
        set(&mut replay, Node::Port(port), Table::PortPolicy, 0, &policy);
        let vlan = VlanRow { valid: true, keep_tag: false, module_id: MODULE, tenant: 70 };
        set(&mut replay, Node::Port(port), Table::Vlan, 7, &vlan);
    }
    let share = ShareRow { ticks_per_beat: 1, burst: 0, growth: 0 };
    set(&mut replay, Node::Port(0), Table::Share, u32::from(MODULE), &share);
    set(&mut replay, Node::Port(0), Table::Excess, 0, &ExcessRow { beats: 1 });
    let (here, other) = (packet_id(0, 0), packet_id(1, 0));
    replay.port(&PortTraceRow { beyond: true, ..port_row(here) }, &frame(), false).unwrap();
    replay.port(&port_row(other), &frame(), false).unwrap();
    replay.merge(&merge_row(here, false)).unwrap();
    replay.merge(&merge_row(other, false)).unwrap();
    let next = packet_id(0, 1);
    let refused = PortTraceRow { dropped: true, reason: Reason::OverShare.code(), beyond: true, ..port_row(next) };
    let text = replay.port(&refused, &frame(), false).unwrap_err().to_string();
    assert!(text.contains("0 cost beats stored, room for 1, and a packet of 1"), "{text}");
}
