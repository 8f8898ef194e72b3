use super::*;
use crate::conformance::sender;
use crate::engines;
use sluice_device::headers::headers;
use sluice_device::{Frame, Packet, Passed, Route, Stamped};
use sluice_formats::rows::{PortPolicyRow, RateRow, VidsRow, VlanRow};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{Node, Row, Table};
use sluice_object::linker::rmt::{Placer, Quota};
use sluice_rmt::programs::send::Send;

const PORT: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;

fn put<R: Row>(tables: &mut Tables, node: Node, table: Table, index: u32, row: &R) {
    assert_eq!(tables.write(node, table, index, &row.pack().unwrap()), sluice_formats::Status::Ok);
}

/// VLAN 7 is module 3, tenant 77; VLAN 8 the same with its tag kept; untagged frames are refused.
fn tables() -> Tables {
    let mut tables = Tables::new(DEFAULT, engines::all(&DEFAULT));
    let policy = PortPolicyRow { min_frame: 20, max_frame: 1518, drop_double_tag: true, ..Default::default() };
    put(&mut tables, Node::Port(PORT), Table::PortPolicy, 0, &policy);
    let row = VlanRow { valid: true, keep_tag: false, module_id: 3, tenant: 77 };
    put(&mut tables, Node::Port(PORT), Table::Vlan, 7, &row);
    put(&mut tables, Node::Port(PORT), Table::Vlan, 8, &VlanRow { keep_tag: true, ..row });
    tables
}

fn tagged(vid: u16, inner: u16, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    bytes.extend([0x81, 0x00]);
    bytes.extend((0x6000 | vid).to_be_bytes());
    bytes.extend(inner.to_be_bytes());
    bytes.resize(length, 0);
    bytes
}

/// 10.0.0.1:0x1111 to 10.0.0.2:`port`.
fn ipv4(protocol: u8, port: u16, length: usize) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    bytes.extend([0x08, 0x00, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend([0x11, 0x11]);
    bytes.extend(port.to_be_bytes());
    bytes.resize(length, 0);
    bytes
}

fn reason(bytes: &[u8], bad: bool) -> Option<Reason> {
    classify(PORT, bytes, bad, &tables()).result.err()
}

#[test]
fn the_vlan_names_tenant_module_and_tag() {
    let c = classify(PORT, &tagged(7, 0x0800, 64), false, &tables());
    let accepted = Accepted { module: 3, tenant: 77, tci: 0x6007, tag_off: true };
    assert_eq!(c, Classified { owner: 3, result: Ok(accepted) });
    let c = classify(PORT, &tagged(8, 0x0800, 64), false, &tables());
    assert_eq!(c.result, Ok(Accepted { tci: 0x6008, tag_off: false, ..accepted }));
}

#[test]
fn errors_have_the_documented_priority_and_owner() {
    let long_unmapped = tagged(9, 0x0800, 2000);
    assert_eq!(reason(&long_unmapped, true), Some(Reason::BadFrame));
    assert_eq!(reason(&long_unmapped, false), Some(Reason::Giant));
    assert_eq!(reason(&tagged(9, 0x0800, 19), false), Some(Reason::Runt));
    assert_eq!(reason(&tagged(9, 0x8100, 64), false), Some(Reason::Unmapped));
    assert_eq!(reason(&tagged(7, 0x8100, 64), false), Some(Reason::DoubleTag));
    assert_eq!(reason(&tagged(7, 0x88a8, 64), false), Some(Reason::DoubleTag));
    assert_eq!(reason(&tagged(7, 0x88a8, 64), true), Some(Reason::BadFrame));
    assert_eq!(classify(PORT, &tagged(7, 0, 10_000), false, &tables()).owner, 3);
    assert_eq!(classify(PORT, &tagged(9, 0, 64), false, &tables()).owner, 0);
}

#[test]
fn a_frame_without_a_whole_tag_is_untagged() {
    let mut tables = tables();
    let policy = PortPolicyRow {
        untagged_valid: true,
        untagged_module: 5,
        untagged_tenant: 50,
        max_frame: 9999,
        ..Default::default()
    };
    put(&mut tables, Node::Port(PORT), Table::PortPolicy, 0, &policy);
    for length in 14..16 {
        let bytes = &tagged(7, 0, 64)[..length];
        let accepted = Accepted { module: 5, tenant: 50, tci: 0, tag_off: false };
        assert_eq!(classify(PORT, bytes, false, &tables).result, Ok(accepted));
    }
    assert_eq!(classify(PORT, &tagged(7, 0, 16), false, &tables).owner, 3);
    assert_eq!(classify(PORT, &[0; 13], false, &tables).result, Err(Reason::Runt));
    assert_eq!(classify(PORT, &[0; 9217], false, &tables).result, Err(Reason::Giant));
    assert!(classify(PORT, &[0; 9216], false, &tables).result.is_ok());
}

#[test]
fn a_module_beyond_the_target_owns_nothing() {
    let mut tables = Tables::new(TINY, engines::all(&TINY));
    let row = VlanRow { valid: true, keep_tag: false, module_id: 13, tenant: 1 };
    put(&mut tables, Node::Port(0), Table::Vlan, 1, &row);
    let policy = PortPolicyRow { max_frame: 100, ..Default::default() };
    put(&mut tables, Node::Port(0), Table::PortPolicy, 0, &policy);
    let unmapped = Classified { owner: 0, result: Err(Reason::Unmapped) };
    assert_eq!(classify(0, &tagged(1, 0, 64), false, &tables), unmapped);
}

#[test]
fn the_tuple_has_ports_only_where_the_packet_has() {
    let full = headers(&ipv4(UDP, 53, 60)).tuple.unwrap();
    assert_eq!(full, [10, 0, 0, 1, 10, 0, 0, 2, 0x11, 0x11, 0, 53, UDP]);
    let without_ports = [10, 0, 0, 1, 10, 0, 0, 2, 0, 0, 0, 0, UDP];
    assert_eq!(headers(&ipv4(UDP, 53, 37)).tuple, Some(without_ports));
    let mut fragment = ipv4(UDP, 53, 60);
    fragment[21] = 1;
    assert_eq!(headers(&fragment).tuple, Some(without_ports));
    let mut first_fragment = ipv4(UDP, 53, 60);
    first_fragment[20] = 0x20;
    assert_eq!(headers(&first_fragment).tuple, Some(full));
    assert_eq!(headers(&ipv4(1, 53, 60)).tuple.unwrap()[8..], [0, 0, 0, 0, 1]);
    assert_eq!(headers(&ipv4(UDP, 53, 60)[..33]).tuple, None);
    let mut options = ipv4(UDP, 53, 60);
    options[14] = 0x46;
    assert_eq!(headers(&options).tuple, None);
}

#[test]
fn headers_behind_a_kept_tag_are_found() {
    let plain = ipv4(TCP, 80, 60);
    let mut kept = plain[..12].to_vec();
    kept.extend([0x81, 0x00, 0, 7]);
    kept.extend(&plain[12..]);
    assert_eq!(headers(&kept), headers(&plain));
}

/// Module 3 has a program in generation 1 only.
fn running(send: &Send) -> Tables {
    let mut tables = tables();
    let mut placer = Placer::new(DEFAULT.rmt);
    let part = sender(send, &DEFAULT);
    let mut rows = placer.stage_owners();
    rows.extend(placer.admit(3, "three", Quota::of(&part, 0b0111_1111)).unwrap());
    rows.extend(placer.place(3, 1, &part).unwrap().rows);
    for row in rows {
        let status = tables.write(row.node, row.table, row.index, &row.words);
        assert_eq!(status, sluice_formats::Status::Ok, "{row:?}");
    }
    tables
}

fn entering(generation: u8, conform: bool, bytes: &[u8]) -> Packet {
    Packet {
        id: 0,
        port: PORT,
        module: 3,
        tenant: 77,
        tci: 0,
        stamped: Stamped { generation, system_generation: 0 },
        arrival: 1,
        stamp: 2,
        first_in: 0,
        conform,
        frame: Frame::new(bytes.to_vec(), false),
        route: Route::default(),
        given: Vec::new(),
    }
}

/// Reason or destinations, and what was counted by reasons.
fn run_one(tables: &mut Tables, mut packet: Packet) -> (Result<u8, Reason>, Vec<(Reason, u64)>) {
    let result = match tables.engines_mut().run(&mut packet) {
        Passed::Dropped(reason) => Err(reason),
        passed => {
            assert_eq!(passed, Passed::Through);
            Ok(packet.route.destinations)
        }
    };
    let counted = |reason: Reason| (reason, tables.engines().counted(3, reason).unwrap_or(0));
    (result, Reason::ALL.into_iter().map(counted).filter(|(_, count)| *count != 0).collect())
}

#[test]
fn the_entrance_refuses_before_the_program_and_counts_it() {
    let udp = ipv4(UDP, 0xf1f2, 60);
    for (generation, conform, bytes, reason) in [
        (1, false, &udp, Reason::Rate),
        (1, true, &udp, Reason::Reconfig),
        (0, true, &udp, Reason::Reconfig),
        (0, true, &ipv4(TCP, 0xf1f2, 60), Reason::NoModule),
    ] {
        let seen = run_one(&mut running(&Send::to(0b10)), entering(generation, conform, bytes));
        assert_eq!(seen, (Err(reason), vec![(reason, 1)]));
    }
}

#[test]
fn a_program_runs_in_its_generation_and_its_copies_and_drops_are_counted() {
    let packet = ipv4(UDP, 53, 60);
    let send = Send { destinations: 0xff, except_ingress: true, dmac: Some([1, 2, 3, 4, 5, 6]) };
    let mut tables = running(&send);
    let mut sent = entering(1, true, &packet);
    assert_eq!(tables.engines_mut().run(&mut sent), Passed::Through);
    // Not to the port of arrival, and not to the destination that is not the module's.
    assert_eq!(sent.route.destinations, 0b0111_1101);
    assert_eq!(sent.frame.bytes()[..6], [1, 2, 3, 4, 5, 6]);
    assert_eq!(sent.frame.bytes()[6..], packet[6..]);
    assert_eq!(tables.engines().copies(3), 5);
    for (send, reason) in [
        (Send::to(0), Reason::Discard),
        (Send::to(0x80), Reason::NoDestination),
        (Send { except_ingress: true, ..Send::to(1 << PORT) }, Reason::NoDestination),
    ] {
        assert_eq!(run_one(&mut running(&send), entering(1, true, &packet)), (Err(reason), vec![(reason, 1)]));
    }
}

#[test]
fn a_snapshot_of_the_epoch_holds_the_pipelines_counters() {
    let mut tables = running(&Send::to(0));
    let events = 16 * 3 + Reason::Discard.kind();
    let then = |tables: &Tables| tables.read(Node::Deparser, Table::Events, events | 1 << 23).unwrap();
    let _ = run_one(&mut tables, entering(1, true, &ipv4(UDP, 53, 60)));
    assert_eq!(tables.write(Node::System, Table::Control, 0, &[7]), sluice_formats::Status::Ok);
    let _ = run_one(&mut tables, entering(1, true, &ipv4(UDP, 53, 60)));
    assert_eq!(tables.write(Node::System, Table::Control, 1, &[1]), sluice_formats::Status::Ok);
    assert_eq!((then(&tables), tables.read(Node::Deparser, Table::Events, events).unwrap()), (vec![1, 0], vec![2, 0]));
}

fn limited(cost_per_byte: u32, burst: u32) -> Tables {
    let mut tables = Tables::new(DEFAULT, engines::all(&DEFAULT));
    put(&mut tables, Node::Stamp, Table::Rate, 3, &RateRow { cost_per_byte, burst });
    tables
}

#[test]
fn a_rate_of_one_tick_a_byte_lets_exactly_that_through() {
    let mut tables = limited(1 << 16, 100);
    assert!(conforms(&mut tables, 3, 1000, 100));
    assert!(conforms(&mut tables, 3, 1000, 100), "100 ahead is the burst");
    assert!(!conforms(&mut tables, 3, 1000, 1), "200 ahead is not");
    assert!(!conforms(&mut tables, 3, 1099, 1));
    assert!(conforms(&mut tables, 3, 1100, 1));
    assert!(!conforms(&mut tables, 3, 1100, 1), "the byte before cost one tick more");
}

#[test]
fn fractions_of_a_tick_add_up() {
    let mut tables = limited(1 << 15, 0);
    assert!(conforms(&mut tables, 3, 0, 3));
    assert!(!conforms(&mut tables, 3, 1, 3), "1.5 ticks are not over");
    assert!(conforms(&mut tables, 3, 2, 3));
}

#[test]
fn the_wrap_of_the_ticks_changes_no_decision() {
    for start in [0u64, (1 << 48) - 150, 1 << 47, (1 << 47) - 100, u64::MAX - 400] {
        let mut tables = limited(1 << 16, 50);
        let decisions: Vec<bool> = (0..40).map(|i| conforms(&mut tables, 3, start + i * 10, 20)).collect();
        let mut reference = limited(1 << 16, 50);
        let expected: Vec<bool> = (0..40).map(|i| conforms(&mut reference, 3, 1000 + i * 10, 20)).collect();
        assert_eq!(decisions, expected, "start {start:#x}");
        assert!(expected.contains(&false));
    }
}

#[test]
fn a_limiter_left_alone_is_full_after_any_number_of_rounds_of_the_stamps() {
    const QUARTER: u64 = 1 << 46;
    let (cost, burst) = (u32::MAX >> 8, u32::MAX);
    for pause in [1, 2, 3, 4, 6, 9].into_iter().flat_map(|n| [n * QUARTER - 1, n * QUARTER, n * QUARTER + 1]) {
        let mut tables = limited(cost, burst);
        let burst_of = |tables: &mut Tables, at| (0..5000).take_while(|_| conforms(tables, 3, at, 9000)).count();
        let first = burst_of(&mut tables, 77);
        assert!(first > 1 && first < 5000 && !conforms(&mut tables, 3, 77, 1));
        assert_eq!(burst_of(&mut tables, 77 + pause), first, "pause {pause:#x}");
    }
}

#[test]
fn no_cost_is_no_limit() {
    let mut tables = limited(0, 0);
    assert!((0..100).all(|_| conforms(&mut tables, 3, 5, 9000)));
    assert_eq!(tables.rate_state_mut(3).tat, 0);
}

/// VLAN 8 of port 0 is module 3's and 9 module 4's; untagged frames there are module 3's, of port 1 nobody's.
#[test]
fn a_frame_leaves_in_its_modules_vlans_and_in_the_one_that_it_came_with() {
    let mut tables = Tables::new(TINY, engines::all(&TINY));
    let row = |module_id| VlanRow { valid: true, keep_tag: true, module_id, tenant: 9 };
    put(&mut tables, Node::Port(0), Table::Vlan, 8, &row(3));
    put(&mut tables, Node::Port(0), Table::Vlan, 9, &row(4));
    let policy = PortPolicyRow { untagged_valid: true, untagged_module: 3, max_frame: 1518, ..Default::default() };
    put(&mut tables, Node::Port(0), Table::PortPolicy, 0, &policy);
    let tagged = |vid: u16| [&[0; 12][..], &[0x81, 0], &vid.to_be_bytes(), &[8, 0]].concat();
    let bare = || [&[0; 12][..], &[8, 0], &[0; 4]].concat();
    // What it came with, whether that was taken off, and its bytes as they leave: denied ports, without the right and with it.
    for (tci, tag_off, bytes, own, any) in [
        (8, false, tagged(8), 0b00, 0b00),
        (9, false, tagged(8), 0b10, 0b00),
        (8, false, tagged(9), 0b11, 0b01),
        (8, false, tagged(77), 0b11, 0b00),
        (77, false, tagged(77), 0b00, 0b00),
        (0xe008, false, tagged(0x2000 | 8), 0b00, 0b00),
        (77, true, tagged(9), 0b00, 0b00),
        (9, true, bare(), 0b01, 0b01),
        (0, false, tagged(0), 0b11, 0b00),
        (0, false, bare(), 0b10, 0b00),
    ] {
        for (right, denied) in [(false, own), (true, any)] {
            put(&mut tables, Node::Egress, Table::Vids, 3, &VidsRow { any: right });
            let found = foreign(&tables, 0b0011_0011, Leaving { module: 3, tci, tag_off }, &bytes);
            assert_eq!(found, denied, "{tci:#x} {tag_off} {bytes:02x?} {right}");
        }
    }
}
