//! Rows of the fast model: addresses, read-back, generations, counters.

use crate::device::*;
use sluice_formats::Status;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::rows::*;
use sluice_formats::rmt::tables::{Event, nodes};
use sluice_formats::rows::GenerationRow;
use sluice_formats::{Node, Table};
use sluice_formats::{Row, address::Access};
use sluice_rmt::fast::{Buffers, Fast};
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::{Outcome, Reason};

fn tables(target: &Target) -> impl Iterator<Item = (Node, Table)> {
    nodes(target).into_iter().flat_map(|node| {
        Table::ALL.into_iter().filter(move |t| t.is_of(node) && *t != Table::Rate).map(move |table| (node, table))
    })
}

#[test]
fn every_row_is_read_back_as_it_was_written_and_its_neighbours_stay() {
    let mut rng = Rng::new(test_seed("rmt_fast_read_back"));
    for target in [DEFAULT, TINY] {
        for (node, table) in tables(&target).filter(|t| t.1.access() == Access::ReadWrite) {
            let mut fast = Fast::new(target);
            let (rows, n) = (table.rows(target.nic()), table.words());
            let index = rng.below(rows.into()) as u32;
            let words: Vec<u32> = (0..n).map(|_| rng.next_u32()).collect();
            let before = [index.wrapping_sub(1), index + 1].map(|i| fast.row(node, table, i));
            assert_eq!(fast.write(node, table, index, &words), Status::Ok);
            let read = fast.row(node, table, index).unwrap();
            assert_eq!(read.len(), n);
            let expected: Vec<u32> = match table {
                Table::Generation | Table::StageOwner => vec![words[0] & 1],
                Table::ZeroPage => vec![0],
                _ => words,
            };
            assert_eq!(read[..n - 1], expected[..n - 1], "{node:?} {table:?}");
            // Bits above the layout are not kept.
            assert_eq!(read[n - 1] & !expected[n - 1], 0, "{node:?} {table:?}");
            assert_eq!([index.wrapping_sub(1), index + 1].map(|i| fast.row(node, table, i)), before);
        }
    }
}

#[test]
fn bits_above_a_layout_are_read_as_zero() {
    let mut fast = Fast::new(DEFAULT);
    assert_eq!(fast.write(Node::Deparser, Table::Granted, 7, &[0xffff_ff0f]), Status::Ok);
    assert_eq!(fast.read(Node::Deparser, Table::Granted, 7), Ok(vec![0x0f]));
    assert_eq!(fast.write(Node::Stage(0), Table::Action, 511, &[u32::MAX; 77]), Status::Ok);
    assert_eq!(fast.row(Node::Stage(0), Table::Action, 511).unwrap()[76], 0xff);
}

#[test]
fn wrong_addresses_come_before_read_only_tables_and_those_before_wrong_lengths() {
    for target in [DEFAULT, TINY] {
        let mut fast = Fast::new(target);
        for (node, table) in tables(&target) {
            let (rows, n) = (table.rows(target.nic()), table.words());
            let write = |fast: &mut Fast, index, words| fast.write(node, table, index, &vec![0; words]);
            let beyond = n.div_ceil(8) as u32;
            for index in [rows, (rows - 1) | beyond << 16, (rows - 1) | 1 << 24] {
                assert_eq!(write(&mut fast, index, n), Status::BadAddress, "{node:?} {table:?} {index:#x}");
                assert_eq!(fast.read(node, table, index), Err(Status::BadAddress), "{node:?} {table:?} {index:#x}");
            }
            let counter = table.access() == Access::Counter;
            let (whole, longer) =
                if counter { (Status::ReadOnly, Status::ReadOnly) } else { (Status::Ok, Status::BadLength) };
            assert_eq!(write(&mut fast, rows - 1, n), whole);
            assert_eq!([n + 1, 0].map(|n| write(&mut fast, rows - 1, n)), [longer; 2]);
            assert_eq!(fast.read(node, table, (rows - 1) | 1 << 23).is_ok(), counter);
        }
        let other = Node::Stage(target.stages as u8);
        assert_eq!(fast.write(other, Table::StageOwner, 0, &[0]), Status::BadAddress);
        assert_eq!(fast.write(Node::Parser, Table::Granted, 0, &[0]), Status::BadAddress);
        assert_eq!(fast.write(Node::Stage(0), Table::Exact(4), 0, &[0; 7]), Status::BadAddress);
    }
}

#[test]
fn a_read_answers_with_eight_words_and_with_what_is_left() {
    let mut fast = Fast::new(DEFAULT);
    let words: Vec<u32> = (1..=38).collect();
    assert_eq!(fast.write(Node::Parser, Table::First, 3, &words), Status::Ok);
    assert_eq!(fast.read(Node::Parser, Table::First, 3), Ok((1..=8).collect()));
    assert_eq!(fast.read(Node::Parser, Table::First, 3 | 4 << 16), Ok(vec![33, 34, 35, 36, 37, 38 & 1]));
}

#[test]
fn after_reset_there_is_no_module_and_the_targets_system_stages_are_the_system_modules() {
    for target in [DEFAULT, TINY] {
        let mut d = Device::new(target);
        for stage in 0..target.stages {
            let owner = d.fast.read(Node::Stage(stage as u8), Table::StageOwner, 0).unwrap();
            assert_eq!(owner, [u32::from(target.is_system(stage))]);
        }
        assert_eq!(d.dropped(&arrival(1, 0)), Reason::NoModule);
        assert_eq!(d.events(1, Event::NoModule), 1);
        // Modules that are not there have no counter.
        assert_eq!(d.dropped(&arrival(target.modules as u8, 0)), Reason::NoModule);
    }
}

#[test]
fn a_commit_is_one_write_and_the_stamp_gives_what_it_says() {
    let mut d = Device::new(TINY);
    for (generation, mark) in [(0, 10), (1, 11)] {
        d.bank(3, generation);
        let mut action = forward(3);
        set4(&mut action, 0, mark);
        d.set(Node::Stage(1), Table::Action, generation.into(), &action);
        d.set(Node::Stage(1), Table::Key, 6 + usize::from(generation), &default_action(generation.into()));
    }
    let stamped = |d: &Device| d.fast.stamped(&arrival(3, 0));
    let first = stamped(&d);
    assert_eq!(d.first(&first), 10);
    let row = GenerationRow { current: true, in_flight_0: 9, in_flight_1: 9 };
    assert_eq!(d.fast.write(Node::Stamp, Table::Generation, 3, &row.pack().unwrap()), Status::Ok);
    // Only `current` is written.
    assert_eq!(d.fast.read(Node::Stamp, Table::Generation, 3), Ok(vec![1]));
    let second = stamped(&d);
    assert_eq!((second.generation, second.system_generation), (1, 0));
    assert_eq!(d.first(&second), 11);
    assert_eq!(d.fast.write(Node::Stamp, Table::Generation, 0, &[1]), Status::Ok);
    assert_eq!(stamped(&d).system_generation, 1);
}

#[test]
fn a_row_written_between_two_packets_counts_for_the_second() {
    let mut d = Device::with(DEFAULT, 9, &forward(9));
    assert_eq!(d.first(&arrival(9, 0)), 0);
    let mut action = forward(9);
    set4(&mut action, 0, 0xfeed);
    d.set(Node::Stage(1), Table::Action, 5, &action);
    assert_eq!(d.first(&arrival(9, 0)), 0xfeed);
    d.set(Node::Stage(1), Table::Key, 18, &KeyRow::default());
    assert_eq!(d.dropped(&arrival(9, 0)), Reason::NoDestination);
    d.set(Node::Parser, Table::First, 18, &SelectRow::default());
    assert_eq!(d.dropped(&arrival(9, 0)), Reason::NoModule);
}

#[test]
fn a_new_epoch_keeps_every_counter_as_it_is() {
    let mut d = Device::with(TINY, 2, &forward(2));
    let counts = |d: &Device, at: fn(&Device, Node, Table, usize) -> u64| {
        [at(d, Node::Stage(1), Table::Hits, 0), at(d, Node::Deparser, Table::Events, 16 * 2 + 4)]
    };
    let run = |d: &mut Device| {
        d.sent(&arrival(2, 0));
        assert_eq!(d.dropped(&of(&[0; 13], 2, 0)), Reason::ParseShort);
    };
    run(&mut d);
    assert_eq!(counts(&d, Device::at_snapshot), [0, 0]);
    d.fast.set_epoch(5);
    run(&mut d);
    assert_eq!((counts(&d, Device::at_snapshot), counts(&d, Device::counter)), ([1, 1], [2, 2]));
    // The same value again takes none.
    d.fast.set_epoch(5);
    assert_eq!(counts(&d, Device::at_snapshot), [1, 1]);
    d.fast.set_epoch(0);
    assert_eq!(counts(&d, Device::at_snapshot), [2, 2]);
}

#[test]
fn a_batch_does_what_its_packets_do_one_by_one() {
    let mut action = forward(2);
    action.state = StatePart { kind: 1, t_old: true, t_immediate: 1, new_to: 8, ..StatePart::default() };
    let device = || {
        let mut d = Device::with(TINY, 2, &action);
        d.set(Node::Stage(1), Table::Page, 64 * 4, &PageRow { valid: true, page: 3 });
        d
    };
    let arrivals = [arrival(2, 0), arrival(1, 0), of(&[9; 200], 2, 0), arrival(2, 0), of(&[0; 4], 2, 0)];
    let mut one_by_one = device();
    let expected = arrivals.map(|a| one_by_one.fast.run(&a));
    let (mut seen, mut buffers) = (Vec::new(), Buffers::default());
    device().fast.run_batch(arrivals, &mut buffers, |_, verdict, out| {
        seen.push(match verdict {
            Ok(()) => Outcome::Sent { packet: out.packet.clone(), copies: out.copies.clone() },
            Err(reason) => Outcome::Dropped(reason),
        });
    });
    assert_eq!(seen, expected);
    assert!(matches!(&seen[3], Outcome::Sent { packet, .. } if packet[..4] == [0, 0, 0, 3]));
}

#[test]
fn drops_before_the_pipeline_are_counted_beside_its_own() {
    let mut d = Device::with(TINY, 2, &forward(2));
    for event in [Event::Rate, Event::Reconfig, Event::BadLength, Event::Misfit, Event::Rate] {
        d.fast.count(2, event, 1);
    }
    let counts = |module| Event::ALL.map(|e| d.events(module, e)).iter().sum::<u64>();
    assert_eq!((d.events(2, Event::Rate), counts(2), counts(3)), (2, 5, 0));
}
