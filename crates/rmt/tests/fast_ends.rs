//! Parser, destinations and deparser of the fast model on hand-written rows.

use crate::device::*;
use sluice_device::{Answer, Engine, Frame, Packet, Route, Stamped};
use sluice_formats::address::Access;
use sluice_formats::rmt::rows::*;
use sluice_formats::rmt::tables::{Event, nodes};
use sluice_formats::{Node, Status, Table};
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::{Arrival, Copy, Outcome, Reason, RmtEngine};

fn select(offset: u8, alternatives: &[(u8, u8, u8)]) -> SelectRow {
    let mut row = SelectRow { valid: true, ..SelectRow::default() };
    row.offsets[5] = offset;
    // Behind one that is not valid and would match.
    for (place, &(value, mask, to)) in row.alternatives[1..].iter_mut().zip(alternatives) {
        *place = always(to);
        (place.value.0[5], place.mask.0[5]) = (value, mask);
    }
    row
}

/// A module 1 that marks in `c4[0]` which path it took: headers of the path, then status.
fn parsed(target: Target) -> Device {
    let mut action = forward(1);
    action.cross_source = 24 + 8;
    action.alus[8] = AluPart { op: 6, b: 6, ..AluPart::default() };
    action.mask4[0] = 0xffff;
    Device::with(target, 1, &action)
}

#[test]
fn the_lowest_valid_alternative_leads_to_a_node_and_that_to_a_path() {
    for target in [DEFAULT, TINY] {
        let mut d = parsed(target);
        d.set(Node::Parser, Table::First, 2, &select(3, &[(0x40, 0xf0, 3), (0x45, 0xff, 2), (0x50, 0xf0, 2)]));
        d.set(Node::Parser, Table::Node, 8 + 3, &select(127, &[(0, 0xff, 15), (0, 0, 14)]));
        d.set(Node::Parser, Table::Node, 8 + 2, &select(4, &[(7, 0xff, 9)]));
        for path in [9, 14, 15] {
            d.set(Node::Parser, Table::Path, 32 + path, &PathRow { headers: 1 << path, ..PathRow::default() });
        }
        let mut run = |bytes: [u8; 5], length: usize, last: u8| {
            let mut packet = bytes.to_vec();
            packet.resize(length, last);
            match d.fast.run(&of(&packet, 1, 0)) {
                Outcome::Sent { packet, .. } => Ok(packet[3] >> 4),
                Outcome::Dropped(reason) => Err(reason),
            }
        };
        assert_eq!(run([0, 0, 0, 0x45, 0], 64, 9), Ok(15));
        assert_eq!(run([0, 0, 0, 0x45, 0], 128, 9), Ok(14));
        assert_eq!(run([0, 0, 0, 0x45, 0], 127, 9), Ok(15));
        assert_eq!(run([0, 0, 0, 0x5f, 7], 64, 9), Ok(9));
        assert_eq!(run([0, 0, 0, 0x5f, 8], 64, 9), Err(Reason::ParseReject));
        assert_eq!(run([0, 0, 0, 0x60, 7], 64, 9), Err(Reason::ParseReject));
        assert_eq!(d.events(1, Event::ParseReject), 2);
    }
}

#[test]
fn containers_are_taken_from_any_offset_and_are_zero_for_the_next_packet() {
    let mut d = Device::with(DEFAULT, 1, &forward(1));
    d.bank(2, 0);
    d.set(Node::Stage(1), Table::Key, 4, &default_action(6));
    d.set(Node::Stage(1), Table::Action, 6, &forward(2));
    let mut path = PathRow { least: 14, ..PathRow::default() };
    for (n, offset) in [(1, 1), (8, 124), (23, 57)] {
        path.extract[n] = ExtractPart { taken: true, offset };
    }
    d.set(Node::Parser, Table::Path, 32, &path);
    let shown = [(1, 0), (8, 2), (23, 6), (22, 12)];
    for bank in [2, 4] {
        d.deparse(bank, 0, &DeparseRow { least: 14, ..DeparseRow::default() }, &shown);
    }
    let long: Vec<u8> = (0..140).collect();
    assert_eq!(d.sent(&of(&long, 1, 0))[..18], [1, 2, 124, 125, 126, 127, 57, 58, 59, 60, 61, 62, 0, 0, 0, 0, 0, 0]);
    // Zeros behind the end; nothing is left of the packet before.
    assert_eq!(d.sent(&arrival(1, 0))[..12], [1, 2, 0, 0, 0, 0, 57, 58, 59, 0, 0, 0]);
    assert_eq!(d.sent(&arrival(2, 0))[..18], [0; 18]);
}

#[test]
fn a_packet_shorter_than_its_path_is_parse_short() {
    let mut d = parsed(TINY);
    d.set(Node::Parser, Table::Path, 32, &PathRow { least: 128, ..PathRow::default() });
    assert_eq!(d.dropped(&of(&[0; 127], 1, 0)), Reason::ParseShort);
    d.sent(&of(&[0; 128], 1, 0));
    assert_eq!(d.events(1, Event::ParseShort), 1);
}

#[test]
fn a_wrong_checksum_is_bit_0_of_the_status() {
    // The example of RFC 1071, section 3: these words add to ddf2.
    let words = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    for (start, sum, wrong) in [(0, 0x220d, 0), (0, 0x220c, 1), (5, 0x220d, 0), (5, 0x0d22, 1)] {
        let mut packet = vec![0xee; start];
        packet.extend(words);
        packet.extend(u16::to_be_bytes(sum));
        packet.resize(64, 0xee);
        let mut d = parsed(TINY);
        let verify = VerifyPart { valid: true, start: start as u8, words: 5 };
        d.set(Node::Parser, Table::Path, 32, &PathRow { verify, ..PathRow::default() });
        assert_eq!(d.first(&of(&packet, 1, 0)), wrong, "{start} {sum:#x}");
    }
    // Zeros do not add to ffff.
    let mut d = parsed(TINY);
    let verify = VerifyPart { valid: true, start: 20, words: 4 };
    d.set(Node::Parser, Table::Path, 32, &PathRow { verify, ..PathRow::default() });
    assert_eq!([d.first(&of(&[0; 64], 1, 0)), d.first(&of(&[0xff; 64], 1, 0))], [1, 0]);
}

#[test]
fn hardware_words_say_what_the_stamp_said() {
    let read = |word: u8| {
        let mut action = forward(1);
        action.cross_source = 24 + word;
        action.alus[8] = AluPart { op: 6, b: 6, ..AluPart::default() };
        action.mask4[0] = u32::MAX;
        Device::with(DEFAULT, 1, &action).first(&arrival(1, 0))
    };
    assert_eq!([0, 2, 4, 6].map(read), [60 << 16 | 3, 0x5678_9abc, 0x9def_1234, 0x0abc_5678]);
    // Words 13 to 15 and what would follow them.
    assert_eq!([12, 15].map(read), [0, 0]);
}

/// An action that sets egress and group.
fn to(egress: u16, group: u16) -> ActionRow {
    let mut action = ActionRow { owner: 1, ..ActionRow::default() };
    action.words[2] = WordPart { mask: 0xffff, immediate: egress, ..WordPart::default() };
    action.words[3] = WordPart { mask: 0xffff, immediate: group, ..WordPart::default() };
    action
}

fn copies(d: &mut Device) -> Result<Vec<(u8, u8, u16)>, Reason> {
    match d.fast.run(&arrival(1, 0)) {
        Outcome::Sent { copies, .. } => Ok(copies.iter().map(|c: &Copy| (c.destination, c.queue, c.tag)).collect()),
        Outcome::Dropped(reason) => Err(reason),
    }
}

#[test]
fn destinations_are_those_of_the_program_that_are_granted_and_not_the_port_of_arrival() {
    let mut d = Device::with(TINY, 1, &to(0b1001_1010 | 5 << 8, 0));
    assert_eq!(copies(&mut d), Ok(vec![(1, 5, 0), (3, 5, 0), (4, 5, 0), (7, 5, 0)]));
    assert_eq!(d.events(1, Event::Copies), 3);
    d.set(Node::Deparser, Table::Granted, 1, &GrantedRow { destinations: 0b0001_1001 });
    assert_eq!(copies(&mut d), Ok(vec![(3, 5, 0), (4, 5, 0)]));
    d.set(Node::Stage(1), Table::Action, 5, &to(0b1001_1010 | 1 << 11, 0));
    assert_eq!(copies(&mut d), Ok(vec![(4, 0, 0)]));
    d.set(Node::Stage(1), Table::Action, 5, &to(0b1000 | 1 << 11, 0));
    assert_eq!(copies(&mut d), Err(Reason::NoDestination));
    // Discard comes before all others.
    d.set(Node::Stage(1), Table::Action, 5, &to(1 << 15, 9));
    assert_eq!(copies(&mut d), Err(Reason::Discard));
    assert_eq!((d.events(1, Event::Copies), d.events(1, Event::NoDestination), d.events(1, Event::Discard)), (4, 1, 1));
}

#[test]
fn a_port_of_arrival_above_the_destinations_is_in_no_mask() {
    let mut d = Device::with(TINY, 1, &to(0xff | 1 << 11, 0));
    for port in 0..16 {
        let Outcome::Sent { copies, .. } = d.fast.run(&Arrival { port, ..arrival(1, 0) }) else { panic!("dropped") };
        assert_eq!(copies.len(), if port < 8 { 7 } else { 8 });
        assert!(copies.iter().all(|c| c.destination != port));
    }
}

#[test]
fn a_group_gives_destinations_and_tags_to_its_owner_or_to_all_if_it_is_module_0s() {
    for target in [DEFAULT, TINY] {
        let mut d = Device::with(target, 1, &to(0xff | 2 << 8, 3));
        let group = |owner| GroupRow { owner, destinations: 0b0101, tags: [10, 11, 12, 13, 14, 15, 16, 17] };
        for owner in [0, 1] {
            d.set(Node::Deparser, Table::Group, 3, &group(owner));
            assert_eq!(copies(&mut d), Ok(vec![(0, 2, 10), (2, 2, 12)]));
        }
        for row in [group(2), GroupRow { owner: 0, destinations: 0, tags: [0; 8] }] {
            d.set(Node::Deparser, Table::Group, 3, &row);
            assert_eq!(copies(&mut d), Err(Reason::NoDestination));
        }
        d.set(Node::Stage(1), Table::Action, 5, &to(0xff, target.groups as u16));
        assert_eq!(copies(&mut d), Err(Reason::RmtFault));
        d.set(Node::Stage(1), Table::Action, 5, &to(0xff, 0xffff));
        assert_eq!(copies(&mut d), Err(Reason::RmtFault));
        assert_eq!(
            (d.events(1, Event::RmtFault), d.events(1, Event::NoDestination), d.events(1, Event::Copies)),
            (2, 2, 2)
        );
    }
}

#[test]
fn the_lowest_valid_pattern_over_path_and_headers_picks_the_deparse_row() {
    let mut action = forward(1);
    // Header validity: low word of the packet's first bytes.
    action.words[4] = WordPart { source: 2, mask: 0xffff, ..WordPart::default() };
    let mut d = Device::with(TINY, 1, &action);
    let mut path = PathRow { least: 14, ..PathRow::default() };
    path.extract[0].taken = true;
    for p in [0, 3] {
        d.set(Node::Parser, Table::Path, 32 + p, &path);
    }
    d.set(Node::Parser, Table::Node, 8, &select(2, &[(1, 1, 3), (0, 0, 0)]));
    let mut patterns = PatternsRow::default();
    patterns.patterns[0] = PatternPart { valid: false, ..PatternPart::default() };
    patterns.patterns[7] = PatternPart { valid: true, value: 0x00013, mask: 0x0001f, row: 15 };
    patterns.patterns[15] = PatternPart { valid: true, value: 3, mask: 0xf, row: 1 };
    d.set(Node::Deparser, Table::Patterns, 2, &patterns);
    for (row, half_delta) in [(15, 127), (1, 126)] {
        d.deparse(2, row, &DeparseRow { half_delta, split: 14, least: 14, ..DeparseRow::default() }, &[]);
    }
    let mut length = |headers: u16, odd: u8| {
        let mut packet = PACKET.to_vec();
        packet[..2].copy_from_slice(&headers.to_be_bytes());
        packet[2] = odd;
        match d.fast.run(&of(&packet, 1, 0)) {
            Outcome::Sent { packet, .. } => Ok(packet.len()),
            Outcome::Dropped(reason) => Err(reason),
        }
    };
    assert_eq!(
        [length(1, 1), length(0xfff1, 1), length(2, 1), length(1, 0)],
        [Ok(58), Ok(58), Ok(56), Err(Reason::DeparseReject)]
    );
    assert_eq!((d.events(1, Event::DeparseReject), d.events(1, Event::Copies)), (1, 0));
}

#[test]
fn lanes_carry_the_byte_that_the_rotation_of_their_beat_says() {
    for target in [DEFAULT, TINY] {
        let mut d = Device::with(target, 1, &forward(1));
        let mut path = PathRow { least: 14, ..PathRow::default() };
        for n in 0..24 {
            path.extract[n] = ExtractPart { taken: true, offset: 4 * n as u8 };
        }
        d.set(Node::Parser, Table::Path, 32, &path);
        let row = DeparseRow { least: 128, ..DeparseRow::default() };
        let placed = [(0, 127 - 2), (1, 7), (9, 61), (15, 121), (17, 30), (23, 62 + 3), (22, 93), (3, 63 + 8)];
        d.deparse(2, 0, &row, &placed);
        let packet: Vec<u8> = (0..200).map(|i| i as u8).collect();
        let mut expected = packet.clone();
        for (n, at) in placed {
            let size = 2 * (usize::from(n) / 8 + 1);
            let from = 4 * usize::from(n);
            expected[at..at + size].copy_from_slice(&packet[from..from + size]);
        }
        assert_eq!(d.sent(&of(&packet, 1, 0)), expected);
        // A lane alone carries its byte, wherever the others would stand.
        let mut beats = beats(&target, &row, &[]);
        beats[0].lanes[9] = LanePart { size: 2, place: 1 };
        beats[0].rotate6[1] = 5;
        d.set(Node::Deparser, Table::Deparse, target.window_beats() * 32, &beats[0]);
        assert_eq!(d.sent(&of(&packet, 1, 0))[8..11], [8, 4 * 17 + 4, 10]);
    }
}

#[test]
fn headers_are_added_and_removed_at_the_split_at_every_length() {
    for target in [DEFAULT, TINY] {
        let even = [(64i32, 14u8), (2, 0), (2, 126), (-2, 0), (-64, 14), (-64, 64), (-16, 40)];
        let odd = [(3, 14), (13, 51), (-1, 0), (-63, 14), (-63, 64), (-13, 1)];
        for (delta, split) in even.into_iter().chain(odd) {
            let half = (delta >> 1) as u8 & 0x7f;
            let added = (0..delta.max(0) as usize / 2).map(|i| (i as u8 % 8, usize::from(split) + 2 * i));
            let last = (delta > 0 && delta % 2 == 1).then(|| (7, usize::from(split) + delta as usize - 2));
            let added = added.chain(last);
            let mut d = Device::with(target, 1, &forward(1));
            let least = usize::from(split).max(if delta < 0 { 1 } else { 14 }) + delta.max(0) as usize;
            let (odd, least) = (delta % 2 != 0, least.min(128));
            let row = DeparseRow { half_delta: half, odd, split, least: least as u8, ..DeparseRow::default() };
            d.deparse(2, 0, &row, &added.collect::<Vec<_>>());
            // The path wants 14.
            let shortest = (least as i32 - delta).max(14) as usize;
            for length in [shortest, shortest + 1, 127, 128, 129, 191, 192, 193, 1500, 9100] {
                let packet: Vec<u8> = (0..length.max(shortest)).map(|i| (i % 251) as u8 + 1).collect();
                let split = usize::from(split);
                let mut expected = packet[..split].to_vec();
                expected.extend(vec![0; delta.max(0) as usize]);
                expected.extend(&packet[split + (-delta).max(0) as usize..]);
                assert_eq!(d.sent(&of(&packet, 1, 0)), expected, "{delta} at {split}, {length} bytes");
            }
        }
    }
}

#[test]
fn outgoing_packets_that_are_too_short_or_too_long_are_dropped() {
    let mut d = Device::with(DEFAULT, 1, &forward(1));
    let row = DeparseRow { half_delta: 124, split: 14, least: 20, ..DeparseRow::default() };
    d.deparse(2, 0, &row, &[]);
    assert_eq!(d.dropped(&of(&[1; 27], 1, 0)), Reason::DeparseShort);
    assert_eq!(d.sent(&of(&[1; 28], 1, 0)).len(), 20);
    let row = DeparseRow { half_delta: 1, least: 20, ..DeparseRow::default() };
    d.deparse(2, 0, &row, &[(0, 0)]);
    assert_eq!(d.sent(&of(&[1; 9214], 1, 0)).len(), 9216);
    assert_eq!(d.dropped(&of(&[1; 9215], 1, 0)), Reason::DeparseLong);
    assert_eq!((d.events(1, Event::DeparseShort), d.events(1, Event::DeparseLong)), (1, 1));
}

#[test]
fn checksums_cover_the_outgoing_bytes_without_the_two_that_they_are_written_to() {
    let sum = |bytes: &[u8]| {
        let words = bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
        words.fold(0, |s, w| (s + w) % 0xffff)
    };
    for target in [DEFAULT, TINY] {
        let mut d = Device::with(target, 1, &forward(1));
        let mut row = DeparseRow { least: 60, ..DeparseRow::default() };
        row.updates[0] = UpdatePart { valid: true, start: 0, words: 4, at: 2 };
        row.updates[1] = UpdatePart { valid: true, start: 9, words: 25, at: 33 };
        d.deparse(2, 0, &row, &[]);
        let out = d.sent(&arrival(1, 0));
        assert_eq!([sum(&out[..8]), sum(&out[9..59])], [0, 0]);
        let changed: Vec<usize> = (0..60).filter(|&i| out[i] != PACKET[i]).collect();
        assert!(changed.iter().all(|i| [2, 3, 33, 34].contains(i)), "{changed:?}");
        // Zeros add to zero, whose complement is ffff.
        assert_eq!(d.sent(&of(&[0; 60], 1, 0))[2..4], [0xff, 0xff]);
    }
}

#[test]
fn the_second_checksum_is_changed_by_what_changed_if_its_row_says_so() {
    for target in [DEFAULT, TINY] {
        let mut d = Device::with(target, 1, &forward(1));
        // Words at 20, 22 and 24, of which the second is the checksum; bytes 0 and 1 are removed in front of them.
        let mut row = DeparseRow { half_delta: 127, least: 58, ..DeparseRow::default() };
        row.updates[1] = UpdatePart { valid: true, start: 20, words: 2, at: 20 };
        row.adjust = AdjustPart { valid: true, udp: false, start: 20, words: 3 };
        let mut sent = |row: &DeparseRow, words: [u16; 3]| {
            d.deparse(2, 0, row, &[]);
            let mut packet = [0x77; 60];
            for (to, word) in packet[20..26].chunks_mut(2).zip(words) {
                to.copy_from_slice(&word.to_be_bytes());
            }
            let out = d.sent(&of(&packet, 1, 0));
            assert_eq!(out.len(), 58);
            assert!((0..58).all(|i| i / 2 == 10 || out[i] == packet[i + 2]));
            u16::from_be_bytes([out[20], out[21]])
        };
        // The word at 20 goes out of the sum: RFC 1624, HC' = ~(~HC + ~m + m').
        assert_eq!(sent(&row, [0x0001, 0x1000, 0xabcd]), 0x1001);
        assert_eq!(sent(&row, [0x8000, 0x8001, 0xabcd]), 0x0002);
        assert_eq!(sent(&row, [0x0001, 0x0000, 0xabcd]), 0x0001);
        assert_eq!(sent(&row, [0x0001, 0xfffe, 0xabcd]), 0x0000);
        row.adjust.udp = true;
        assert_eq!(sent(&row, [0x0001, 0x1000, 0xabcd]), 0x1001);
        assert_eq!(sent(&row, [0x0001, 0xfffe, 0xabcd]), 0xffff);
        assert_eq!(sent(&row, [0x0001, 0x0000, 0xabcd]), 0x0000);
        // Without a second checksum it says nothing.
        row.updates[1].valid = false;
        assert_eq!(sent(&row, [0x0001, 0x1000, 0xabcd]), 0x1000);
    }
}

/// A packet with this row, through the engine of a NIC's model whose ports take frames from `shortest` bytes on.
fn through_engine(shortest: Option<u32>, row: &DeparseRow, length: usize) -> Result<usize, Reason> {
    let target = sluice_formats::target::TINY;
    let mut engine = RmtEngine::new(&target);
    if let Some(shortest) = shortest {
        engine.ports_take(shortest);
    }
    let mut d = Device::with(TINY, 1, &forward(1));
    d.deparse(2, 0, row, &[]);
    for node in nodes(&TINY) {
        for table in Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::ReadWrite) {
            for index in 0..table.rows(&target) {
                let words = d.fast.row(node, table, index).unwrap_or_default();
                if words.iter().any(|word| *word != 0) {
                    assert_eq!(engine.write(node, table, index, &words), Status::Ok, "{node:?} {table:?} {index}");
                }
            }
        }
    }
    let mut packet = Packet {
        id: 0,
        port: 0,
        module: 1,
        tenant: 1,
        tci: 0,
        stamped: Stamped::default(),
        arrival: 0,
        stamp: 0,
        first_in: 0,
        conform: true,
        frame: Frame::new(vec![1; length], false),
        route: Route::default(),
        given: Vec::new(),
    };
    match engine.run(&mut packet) {
        Answer::To(_) => Ok(packet.frame.bytes().len()),
        Answer::Drop(reason) => Err(reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn in_a_nic_no_packet_leaves_shorter_than_its_tag_wants() {
    let row = DeparseRow { half_delta: 120, odd: true, least: 1, ..DeparseRow::default() };
    // 15 bytes go.
    for shortest in [None, Some(14), Some(64)] {
        assert_eq!(through_engine(shortest, &row, 27), Ok(12));
        assert_eq!(through_engine(shortest, &row, 26), Err(Reason::DeparseShort));
    }
    for (length, out) in [(26, Ok(11)), (16, Ok(1)), (15, Err(Reason::DeparseShort))] {
        assert_eq!(through_engine(Some(1), &row, length), out, "{length} bytes");
    }
}

#[test]
fn no_row_makes_the_model_panic() {
    use sluice_formats::random::{Rng, test_seed};
    let mut rng = Rng::new(test_seed("rmt_fast_any_rows"));
    for round in 0..200 {
        let target = [DEFAULT, TINY][round % 2];
        let mut d = Device::new(target);
        for bank in [0, 1, 2, 3] {
            d.bank(bank / 2, bank % 2);
        }
        for _ in 0..60 {
            let nodes = nodes(&target);
            let node = nodes[rng.index(nodes.len())];
            let tables: Vec<Table> = Table::ALL.into_iter().filter(|t| t.is_of(node) && *t != Table::Rate).collect();
            let table = tables[rng.index(tables.len())];
            let density = rng.below(3);
            let words: Vec<u32> =
                (0..table.words()).map(|_| (0..density).fold(rng.next_u32(), |w, _| w & rng.next_u32())).collect();
            // Mostly rows of the first two modules, which packets use.
            let most = if rng.chance(1, 4) { usize::MAX } else { 64 };
            let row = rng.index((table.rows(target.nic()) as usize).min(most));
            d.fast.write(node, table, row as u32, &words);
        }
        for _ in 0..40 {
            let length = if rng.chance(1, 8) { 9216 } else { rng.below(200) };
            let packet = rng.bytes(length as usize);
            let base = of(&packet, rng.below(3) as u8, rng.below(2) as u8);
            d.fast.run(&Arrival { system_generation: rng.below(2) as u8, queueing: rng.next_u64(), ..base });
        }
    }
}
