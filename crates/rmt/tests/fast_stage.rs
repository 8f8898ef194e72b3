//! Stages of the fast model on hand-written rows: what is found, whose it is, what is counted.

use crate::device::*;
use sluice_formats::rmt::rows::*;
use sluice_formats::rmt::tables::Event;
use sluice_formats::row::Wide;
use sluice_formats::{Node, Table};
use sluice_rmt::Reason;
use sluice_rmt::target::{DATA, DEFAULT, TINY, Target};

const STAGE: Node = Node::Stage(1);

/// Module 1 takes `c2[0]` from bytes 0 and 1, its key; `c4[0]` leaves as the mark of action row n, which is n.
fn keyed(target: Target, modules: &[u8]) -> Device {
    let mut d = Device::new(target);
    for &module in modules {
        for generation in 0..2 {
            d.bank(module, generation);
            let bank = 2 * usize::from(module) + usize::from(generation);
            let mut path = PathRow { least: 14, ..PathRow::default() };
            path.extract[0].taken = true;
            d.set(Node::Parser, Table::Path, 16 * bank, &path);
            d.set(STAGE, Table::Key, bank, &KeyRow { mask: key(0, 16, 0xffff), set_bits: 1, ..KeyRow::default() });
        }
    }
    for mark in 0..8 {
        let mut action = forward(modules[0]);
        set4(&mut action, 0, mark);
        d.set(STAGE, Table::Action, mark as usize, &action);
    }
    d
}

fn packet(start: u16) -> Vec<u8> {
    let mut packet = PACKET.to_vec();
    packet[..2].copy_from_slice(&start.to_be_bytes());
    packet
}

fn entry(module: u8, value: u64, action: u16) -> ExactRow {
    ExactRow { generations: 0b11, module_id: module, key: key(0, 16, value), action, number: action }
}

#[test]
fn an_exact_entry_is_found_in_each_way_where_its_hash_leads_and_in_no_other_set() {
    for target in [DEFAULT, TINY] {
        for way in 0..4 {
            for set in 0..target.sets() {
                let mut d = keyed(target, &[1]);
                let plan = KeyRow { mask: key(0, 16, 0xffff), set_base: 2, set_bits: 1, ..KeyRow::default() };
                d.set(STAGE, Table::Key, 2, &plan);
                d.set(STAGE, Table::Exact(way), set, &entry(1, 0xabcd, 3));
                let found = d.fast.run(&of(&packet(0xabcd), 1, 0)) != d.fast.run(&of(&packet(0xabce), 1, 0));
                assert_eq!(found, set == sets(&key(0, 16, 0xabcd), 2, 1)[usize::from(way)], "way {way} set {set}");
            }
        }
    }
}

#[test]
fn entries_belong_to_their_module_and_to_the_generations_of_their_bits() {
    for generations in 0..4 {
        let mut d = keyed(DEFAULT, &[1, 2]);
        d.exact(1, 0, &ExactRow { generations, ..entry(1, 7, 3) }, (0, 1));
        for generation in 0..2 {
            let hit = generations >> generation & 1 == 1;
            let outcome = d.fast.run(&of(&packet(7), 1, generation));
            assert_eq!(outcome != sluice_rmt::Outcome::Dropped(Reason::NoDestination), hit);
            assert_eq!(d.dropped(&of(&packet(7), 2, generation)), Reason::NoDestination);
        }
    }
}

#[test]
fn of_two_ways_with_one_key_the_lower_one_counts() {
    let mut d = keyed(DEFAULT, &[1]);
    for (way, action) in [(3, 6), (1, 4), (2, 5)] {
        d.exact(1, way, &entry(1, 7, action), (0, 1));
    }
    assert_eq!(d.first(&of(&packet(7), 1, 0)), 4);
}

#[test]
fn many_exact_entries_are_found_as_few_are() {
    let mut d = keyed(DEFAULT, &[1]);
    let plan = KeyRow { mask: key(0, 16, 0xffff), set_base: 128, set_bits: 6, ..KeyRow::default() };
    d.set(STAGE, Table::Key, 2, &plan);
    let mut taken = std::collections::BTreeSet::new();
    let mut placed = Vec::new();
    for value in (0..2000).step_by(7) {
        let places = sets(&key(0, 16, value), 128, 6);
        let Some(way) = (0..4u8).find(|&w| taken.insert((w, places[usize::from(w)]))) else { continue };
        d.exact(1, way, &entry(1, value, (value % 8) as u16), (128, 6));
        placed.push(value);
    }
    assert!(placed.len() > 150, "{}", placed.len());
    for value in 0..2000 {
        let arrival = packet(value as u16);
        match placed.contains(&value) {
            true => assert_eq!(u64::from(d.first(&of(&arrival, 1, 0))), value % 8),
            false => assert_eq!(d.dropped(&of(&arrival, 1, 0)), Reason::NoDestination),
        }
    }
}

#[test]
fn exact_wins_over_ternary_the_lowest_ternary_entry_over_others_and_these_over_the_default() {
    for fill in [0, 8, 40] {
        let mut d = keyed(DEFAULT, &[1]);
        let bits = |value| key(0, 16, value);
        let row = KeyRow { mask: bits(0xffff), default_valid: true, default_action: 1, ..KeyRow::default() };
        d.set(STAGE, Table::Key, 2, &row);
        d.exact(1, 2, &entry(1, 0x1234, 2), (0, 0));
        let ternary = |value, mask, action| TernaryRow {
            generations: 1,
            module_id: 1,
            value: bits(value),
            mask: bits(mask),
            action,
            number: 0,
        };
        // Entries that match nothing of these, so that there are many; and one of another module.
        for i in 0..fill {
            d.set(STAGE, Table::Ternary, i, &ternary(0xf000 + i as u64, 0xffff, 7));
        }
        d.set(STAGE, Table::Ternary, 50, &TernaryRow { module_id: 2, ..ternary(0, 0, 7) });
        d.set(STAGE, Table::Ternary, 51, &TernaryRow { generations: 2, ..ternary(0, 0, 7) });
        d.set(STAGE, Table::Ternary, 52, &ternary(0x1200, 0xff00, 3));
        d.set(STAGE, Table::Ternary, 63, &ternary(0x1000, 0xf000, 4));
        // A value with bits that do not count.
        d.set(STAGE, Table::Ternary, 62, &ternary(0x20ff, 0xff00, 5));
        let marks = [0x1234, 0x1235, 0x1300, 0x2011, 0x3000].map(|v| d.first(&of(&packet(v), 1, 0)));
        assert_eq!(marks, [2, 3, 4, 5, 1], "{fill} others");
    }
}

#[test]
fn hits_count_the_winner_at_the_modules_base_and_a_miss_counts_nothing() {
    let mut d = keyed(DEFAULT, &[1]);
    let row = KeyRow { mask: key(0, 16, 0xffff), hits_base: 100, ..KeyRow::default() };
    d.set(STAGE, Table::Key, 2, &row);
    d.exact(1, 0, &entry(1, 9, 2), (0, 0));
    let ternary = TernaryRow { generations: 1, module_id: 1, action: 3, number: 30, ..TernaryRow::default() };
    d.set(STAGE, Table::Ternary, 5, &ternary);
    d.sent(&of(&packet(9), 1, 0));
    d.sent(&of(&packet(8), 1, 0));
    d.sent(&of(&packet(7), 1, 0));
    d.set(STAGE, Table::Ternary, 5, &TernaryRow::default());
    assert_eq!(d.dropped(&of(&packet(7), 1, 0)), Reason::NoDestination);
    let counted: Vec<_> = (0..2048).map(|i| d.hits(1, i)).enumerate().filter(|c| c.1 != 0).collect();
    assert_eq!(counted, [(102, 1), (130, 2)]);
}

#[test]
fn action_data_stands_at_the_entrys_row_the_first_byte_first() {
    for target in [DEFAULT, TINY] {
        let mut d = keyed(target, &[1]);
        let row = KeyRow {
            mask: key(0, 16, 0xffff),
            default_valid: true,
            default_action: 5,
            set_bits: 1,
            ..KeyRow::default()
        };
        d.set(STAGE, Table::Key, 2, &row);
        let mut action = forward(1);
        action.alus[8] = AluPart { op: 6, b: 1, ..AluPart::default() };
        action.mask4[0] = u32::MAX;
        action.class4.data = [3, 0];
        d.set(STAGE, Table::Action, 5, &action);
        let set = d.exact(1, 3, &entry(1, 0x77, 5), (0, 1));
        let matching = TernaryRow {
            generations: 1,
            module_id: 1,
            value: key(0, 16, 0x88),
            mask: key(0, 16, 0xff),
            action: 5,
            number: 0,
        };
        d.set(STAGE, Table::Ternary, 6, &matching);
        let data = |mark: u8| {
            let mut bytes = [0xee; DATA];
            bytes[6..10].copy_from_slice(&[mark, 2, 3, 4]);
            DataRow { data: Wide(bytes) }
        };
        d.set(STAGE, Table::Data, 3 * target.sets() + set, &data(0xa));
        d.set(STAGE, Table::Data, target.exact + 6, &data(0xb));
        d.default_data(1, 2, data(0xc).data.0);
        let marks = [0x77, 0x88, 0x99].map(|v| d.first(&of(&packet(v), 1, 0)));
        assert_eq!(marks, [0x0a02_0304, 0x0b02_0304, 0x0c02_0304]);
        // Zeros behind the end.
        action.class4.data = [7, 0];
        d.set(STAGE, Table::Action, 5, &action);
        assert_eq!(d.first(&of(&packet(0x77), 1, 0)), 0xeeee_0000);
    }
}

/// Counts in word 0 of a stage and shows the new value in `c4[0]`.
fn counting(owner: u8) -> ActionRow {
    let mut action = forward(owner);
    action.state = StatePart { kind: 1, t_old: true, t_immediate: 1, new_to: 8, ..StatePart::default() };
    action
}

fn page(d: &mut Device, stage: u8, bank: usize, of_module: usize, page: u8) {
    d.set(Node::Stage(stage), Table::Page, 64 * bank + of_module, &PageRow { valid: true, page });
}

#[test]
fn an_action_row_of_another_module_drops_the_packet_which_does_nothing_from_there_on() {
    let mut d = Device::with(DEFAULT, 1, &counting(2));
    d.set(Node::Stage(2), Table::Key, 2, &default_action(7));
    d.set(Node::Stage(2), Table::Action, 7, &counting(1));
    for stage in [1, 2] {
        page(&mut d, stage, 2, 0, 0);
    }
    assert_eq!(d.dropped(&arrival(1, 0)), Reason::RmtFault);
    assert_eq!([1, 2].map(|s| d.fast.state_word(s, 0)), [0, 0]);
    // It met the entry of the first stage; it never came to the second one.
    assert_eq!([1, 2].map(|s| d.hits(s, 0)), [1, 0]);
    assert_eq!((d.events(1, Event::RmtFault), d.events(2, Event::RmtFault)), (1, 0));
    // The same by an exact and by a ternary entry.
    d.set(STAGE, Table::Key, 2, &KeyRow::default());
    d.exact(1, 0, &ExactRow { key: key(0, 0, 0), ..entry(1, 0, 5) }, (0, 0));
    assert_eq!(d.dropped(&arrival(1, 0)), Reason::RmtFault);
    let ternary = TernaryRow { generations: 1, module_id: 1, action: 5, ..TernaryRow::default() };
    d.set(STAGE, Table::Exact(0), sets(&key(0, 0, 0), 0, 0)[0], &ExactRow::default());
    d.set(STAGE, Table::Ternary, 0, &ternary);
    assert_eq!(d.dropped(&arrival(1, 0)), Reason::RmtFault);
    d.set(STAGE, Table::Action, 5, &counting(1));
    d.sent(&arrival(1, 0));
    assert_eq!([1, 2].map(|s| d.fast.state_word(s, 0)), [1, 1]);
}

#[test]
fn packets_that_the_parser_drops_do_nothing_in_the_stages() {
    let mut d = Device::with(TINY, 1, &counting(1));
    page(&mut d, 1, 2, 0, 0);
    assert_eq!(d.dropped(&of(&[0; 13], 1, 0)), Reason::ParseShort);
    d.set(Node::Parser, Table::Node, 8, &SelectRow { valid: true, ..SelectRow::default() });
    assert_eq!(d.dropped(&arrival(1, 0)), Reason::ParseReject);
    assert_eq!((d.hits(1, 0), d.fast.state_word(1, 0)), (0, 0));
}

#[test]
fn state_is_reached_through_the_page_table_of_module_and_generation() {
    for target in [DEFAULT, TINY] {
        let mut d = Device::new(target);
        let pages = target.pages() as u8;
        // Word 70 of the module: word 6 of its page 1.
        let mut action = counting(1);
        action.state.base = 70;
        d.set(STAGE, Table::Action, 5, &action);
        for generation in 0..2u8 {
            d.bank(1, generation);
            d.set(STAGE, Table::Key, 2 + usize::from(generation), &default_action(5));
            page(&mut d, 1, 2 + usize::from(generation), 1, pages - 1 - generation);
        }
        d.set(STAGE, Table::StateWord, 64 * (target.pages() - 1) + 6, &StateWordRow { value: 1000 });
        let seen = [0, 0, 1, 0].map(|g| d.first(&arrival(1, g)));
        assert_eq!(seen, [1001, 1002, 1, 1003]);
        let word = |d: &Device, page: usize| d.fast.state_word(1, 64 * page + 6);
        assert_eq!((word(&d, target.pages() - 1), word(&d, target.pages() - 2)), (1003, 1));
        assert_eq!(d.fast.read(STAGE, Table::StateWord, 64 * u32::from(pages - 1) + 6), Ok(vec![1003]));
        // A kept page: the other generation names the same one.
        page(&mut d, 1, 3, 1, pages - 1);
        assert_eq!(d.first(&arrival(1, 1)), 1004);
        d.set(STAGE, Table::ZeroPage, usize::from(pages) - 1, &ZeroPageRow::default());
        assert_eq!((word(&d, target.pages() - 1), word(&d, target.pages() - 2)), (0, 1));
    }
}

#[test]
fn an_index_behind_the_pages_is_not_accessed_and_counted_and_the_packet_goes_on() {
    let mut d = Device::with(DEFAULT, 1, &ActionRow::default());
    page(&mut d, 1, 2, 0, 0);
    page(&mut d, 1, 2, 63, 1);
    // c4[0] is set by its ALU, and by the state access where there is one.
    let mut access = |base: u16, index_mask: u16| {
        let mut action = counting(1);
        set4(&mut action, 0, 0xbad);
        action.class2.pick = [0, 0, 3];
        action.alus[3] = AluPart::default();
        action.state = StatePart { base, index_mask, source: 3, ..action.state };
        action.cross_source = 41;
        d.set(STAGE, Table::Action, 5, &action);
        let number = KeyRow { default_number: 2047, hits_base: 0, ..default_action(5) };
        d.set(STAGE, Table::Key, 2, &number);
        (d.first(&arrival(1, 0)), d.counter(STAGE, Table::StateRange, 1))
    };
    assert_eq!(access(63, 0), (1, 0));
    assert_eq!(access(64, 0), (0xbad, 1));
    assert_eq!(access(63 * 64 + 63, 0), (1, 1));
    assert_eq!(access(4095, 1), (0xbad, 2));
    assert_eq!(access(4095, 0xfff), (0xbad, 3));
    assert_eq!((0..64).map(|m| d.counter(STAGE, Table::StateRange, m)).sum::<u64>(), 3);
    // Without its condition there is no access, and nothing to count.
    let mut action = counting(1);
    action.state = StatePart { base: 64, when: 1, ..action.state };
    d.set(STAGE, Table::Action, 5, &action);
    d.sent(&arrival(1, 0));
    assert_eq!(d.counter(STAGE, Table::StateRange, 1), 3);
}

#[test]
fn old_and_new_word_come_after_the_alus_and_the_new_one_after_the_old_one() {
    let mut action = counting(1);
    action.state = StatePart { old_to: 8, new_to: 8, ..action.state };
    set4(&mut action, 0, 5);
    let mut d = Device::with(TINY, 1, &action);
    page(&mut d, 1, 2, 0, 0);
    d.set(STAGE, Table::StateWord, 0, &StateWordRow { value: u32::MAX });
    assert_eq!([d.first(&arrival(1, 0)), d.first(&arrival(1, 0))], [0, 1]);
    action.state.new_to = 9;
    d.set(STAGE, Table::Action, 5, &action);
    assert_eq!(d.first(&arrival(1, 0)), 1);
}

#[test]
fn an_atom_updates_one_way_or_the_other_by_the_old_word_or_by_a_condition() {
    let run = |part: StatePart, truth: u8, before: u32| {
        let mut action = forward(1);
        action.state = StatePart { kind: 1, old_to: 8, ..part };
        let mut d = Device::with(TINY, 1, &action);
        page(&mut d, 1, 2, 0, 0);
        d.set(STAGE, Table::Key, 2, &KeyRow { truth: [truth, 0], ..default_action(5) });
        d.set(STAGE, Table::StateWord, 0, &StateWordRow { value: before });
        assert_eq!(d.first(&arrival(1, 0)), before);
        d.fast.state_word(1, 0)
    };
    for (relation, taken) in
        [(0, [0, 1, 0]), (1, [1, 0, 1]), (2, [1, 0, 0]), (3, [1, 1, 0]), (4, [0, 0, 1]), (5, [0, 1, 1])]
    {
        let part = StatePart {
            relation,
            condition: 5,
            o_immediate: 10,
            t_immediate: 1,
            f_old: true,
            f_negate: true,
            f_immediate: 2,
            ..StatePart::default()
        };
        for (before, taken) in [9, 10, 11].into_iter().zip(taken) {
            assert_eq!(run(part.clone(), 0, before), if taken == 1 { 1 } else { before - 2 }, "relation {relation}");
        }
    }
    let write = |condition| StatePart { condition, t_immediate: 7, f_immediate: 8, ..StatePart::default() };
    assert_eq!([0, 1, 2, 3, 4].map(|c| run(write(c), 0b1111, 0)), [7, 7, 8, 8, 7]);
}

#[test]
fn a_meter_is_green_within_its_burst_and_red_behind_it() {
    let mut action = forward(1);
    // A packet a hundred ticks, a burst of three more.
    action.state = StatePart {
        kind: 2,
        new_to: 8,
        o_immediate: 300,
        t_immediate: 100,
        f_immediate: 400,
        per_packet: true,
        shift: 8,
        ..StatePart::default()
    };
    let mut d = Device::with(TINY, 1, &action);
    page(&mut d, 1, 2, 0, 0);
    let mut colours = |stamp: u64, n: usize| -> Vec<u32> {
        (0..n).map(|_| d.first(&sluice_rmt::Arrival { queueing: stamp, ..arrival(1, 0) })).collect()
    };
    assert_eq!(colours(1000, 6), [0, 0, 0, 0, 1, 1]);
    assert_eq!(colours(1100, 2), [0, 1]);
    assert_eq!(colours(1199, 1), [1]);
    assert_eq!(colours(10_000, 5), [0, 0, 0, 0, 1]);
    // The stamp has 48 bits; the clock its low 32 behind the shift.
    assert_eq!(colours((1 << 48) + (1 << 33) + 10_050, 1), [1]);
}

#[test]
fn what_lies_further_ahead_than_the_top_is_behind() {
    let colour = |ahead: u32| {
        let mut action = forward(1);
        let state =
            StatePart { o_immediate: 300, t_immediate: 7, f_immediate: 400, per_packet: true, ..StatePart::default() };
        action.state = StatePart { kind: 2, old_to: 9, new_to: 8, shift: 8, ..state };
        let mut d = Device::with(TINY, 1, &action);
        page(&mut d, 1, 2, 0, 0);
        d.set(STAGE, Table::StateWord, 0, &StateWordRow { value: 1000u32.wrapping_add(ahead) });
        let colour = d.first(&sluice_rmt::Arrival { queueing: 1000, ..arrival(1, 0) });
        (colour, d.fast.state_word(1, 0).wrapping_sub(1000))
    };
    let seen = [0, 300, 301, 400, 401, u32::MAX].map(colour);
    assert_eq!(seen, [(0, 7), (0, 307), (1, 301), (1, 400), (0, 7), (0, 7)]);
}

#[test]
fn a_meter_by_bytes_charges_the_length_with_16_fraction_bits() {
    let mut action = forward(1);
    let state = StatePart { o_immediate: 1000, t_immediate: 0x18000, f_immediate: 9999, ..StatePart::default() };
    action.state = StatePart { kind: 2, new_to: 8, shift: 8, ..state };
    let mut d = Device::with(TINY, 1, &action);
    page(&mut d, 1, 2, 0, 0);
    let mut run = |length: usize| {
        d.set(STAGE, Table::StateWord, 0, &StateWordRow { value: 50 });
        d.first(&sluice_rmt::Arrival { queueing: 50, ..of(&vec![0; length], 1, 0) });
        d.fast.state_word(1, 0) - 50
    };
    assert_eq!([60, 61, 9000].map(&mut run), [90, 91, 13_500]);
}

#[test]
fn an_entry_that_is_overwritten_is_gone_for_its_module() {
    let mut d = keyed(DEFAULT, &[1, 2]);
    let found = |d: &mut Device| {
        [7, 8].map(|v| d.fast.run(&of(&packet(v), 1, 0)) == sluice_rmt::Outcome::Dropped(Reason::NoDestination))
    };
    let set = d.exact(1, 0, &entry(1, 7, 3), (0, 1));
    let ternary = TernaryRow {
        generations: 1,
        module_id: 1,
        value: key(0, 16, 8),
        mask: key(0, 16, 0xffff),
        action: 2,
        number: 0,
    };
    d.set(STAGE, Table::Ternary, 9, &ternary);
    assert_eq!(found(&mut d), [false, false]);
    d.set(STAGE, Table::Exact(0), set, &ExactRow { module_id: 2, ..entry(1, 7, 3) });
    assert_eq!(found(&mut d), [true, false]);
    d.set(STAGE, Table::Ternary, 9, &TernaryRow { module_id: 2, ..ternary });
    assert_eq!(found(&mut d), [true, true]);
}

/// A write of metadata word `word` in a stage, and of `c4[0]` from word 9 in the next one.
fn word_writer(d: &mut Device, stage: u8, owner: u8) {
    let mut action = ActionRow { owner, ..ActionRow::default() };
    for i in 0..2 {
        action.words[i] = WordPart { mask: 0xffff, immediate: 0x5500 + i as u16, ..WordPart::default() };
    }
    d.set(Node::Stage(stage), Table::Action, 0, &action);
    d.set(Node::Stage(stage), Table::Key, 2 * usize::from(owner), &default_action(0));
}

fn reader(d: &mut Device, module: u8) {
    let mut action = forward(module);
    action.alus[8] = AluPart { op: 6, b: 6, ..AluPart::default() };
    action.mask4[0] = u32::MAX;
    action.cross_source = 24 + 9;
    d.set(Node::Stage(2), Table::Action, 1, &action);
    d.set(Node::Stage(2), Table::Key, 2 * usize::from(module), &default_action(1));
}

#[test]
fn the_two_system_words_are_written_in_system_stages_only_whatever_the_row_says() {
    let mut d = Device::new(DEFAULT);
    d.bank(1, 0);
    reader(&mut d, 1);
    word_writer(&mut d, 1, 1);
    assert_eq!(d.first(&arrival(1, 0)), 0);
    d.set(STAGE, Table::StageOwner, 0, &StageOwnerRow { system: true });
    // Now the rows are module 0's: the tenant's do not count.
    assert_eq!(d.first(&arrival(1, 0)), 0);
    word_writer(&mut d, 1, 0);
    assert_eq!(d.first(&arrival(1, 0)), 0x5501_5500);
}

#[test]
fn a_system_stage_takes_rows_pages_and_counters_of_module_0_in_the_system_generation() {
    let mut d = Device::new(DEFAULT);
    d.bank(3, 1);
    let stage = Node::Stage(0);
    let mut action = counting(0);
    action.state.base = 64;
    d.set(stage, Table::Action, 2, &action);
    d.set(stage, Table::Key, 1, &KeyRow { hits_base: 40, ..default_action(2) });
    page(&mut d, 0, 1, 1, 9);
    // Rows of the packet's own module and generation in this stage are nobody's.
    d.set(stage, Table::Key, 7, &default_action(3));
    let run =
        |d: &mut Device, system_generation| d.fast.run(&sluice_rmt::Arrival { system_generation, ..arrival(3, 1) });
    run(&mut d, 0);
    assert_eq!((d.hits(0, 40), d.fast.state_word(0, 9 * 64)), (0, 0));
    run(&mut d, 1);
    assert_eq!((d.hits(0, 40), d.fast.state_word(0, 9 * 64)), (1, 1));
    d.set(stage, Table::Page, 64 + 1, &PageRow::default());
    run(&mut d, 1);
    assert_eq!([0, 3].map(|m| d.counter(stage, Table::StateRange, m)), [1, 0]);
    // An action row of the packet's module is a fault here.
    d.set(stage, Table::Action, 2, &counting(3));
    assert_eq!(run(&mut d, 1), sluice_rmt::Outcome::Dropped(Reason::RmtFault));
    assert_eq!([0, 3].map(|m| d.events(m, Event::RmtFault)), [0, 1]);
}

#[test]
fn operands_are_of_the_frame_as_it_came_so_two_containers_change_places() {
    let mut d = Device::new(TINY);
    d.bank(1, 0);
    let mut path = PathRow { least: 14, ..PathRow::default() };
    for n in 8..10 {
        path.extract[n] = ExtractPart { taken: true, offset: 4 * (n as u8 - 8) };
    }
    d.set(Node::Parser, Table::Path, 32, &path);
    let mut action = forward(1);
    action.class4.pick = [0, 1, 0];
    for (n, b) in [(8, 4), (9, 3)] {
        action.alus[n] = AluPart { op: 6, b, ..AluPart::default() };
        action.mask4[n - 8] = u32::MAX;
    }
    d.set(STAGE, Table::Action, 5, &action);
    d.set(STAGE, Table::Key, 2, &default_action(5));
    d.deparse(2, 0, &DeparseRow { least: 14, ..DeparseRow::default() }, &[(8, 0), (9, 4)]);
    assert_eq!(d.sent(&arrival(1, 0))[..8], [4, 5, 6, 7, 0, 1, 2, 3]);
}

#[test]
fn every_operation_of_an_alu_works_under_its_mask() {
    let run = |op: u8, own: u32, b: u32, mask: u32| {
        let mut d = Device::new(TINY);
        d.bank(1, 0);
        let mut path = PathRow { least: 14, ..PathRow::default() };
        path.extract[8].taken = true;
        d.set(Node::Parser, Table::Path, 32, &path);
        let mut action = forward(1);
        set4(&mut action, 0, b);
        action.alus[8].op = op;
        action.mask4[0] = mask;
        d.set(STAGE, Table::Action, 5, &action);
        d.set(STAGE, Table::Key, 2, &default_action(5));
        let mut bytes = PACKET.to_vec();
        bytes[..4].copy_from_slice(&own.to_be_bytes());
        d.first(&of(&bytes, 1, 0))
    };
    let (own, b, mask) = (0x4011_8000, 0x0100_9999, 0xff00_ff00);
    let results =
        [0x4011_8000, 0x4111_1900, 0x3e11_e700, 0x0011_8000, 0x4111_9900, 0x4111_1900, 0x0111_9900, 0x4011_0000];
    // What lies between two pieces of a field takes part as 0: a carry ends there, a borrow goes through.
    for (op, expected) in results.into_iter().enumerate() {
        assert_eq!(run(op as u8, own, b, mask), expected, "op {op}");
    }
    assert_eq!([run(8, 7, 5, 0xff), run(8, 5, 5, 0xff), run(8, 3, 5, 0xff)], [5, 5, 3]);
    assert_eq!([run(9, 7, 5, 0xff), run(9, 5, 5, 0xff), run(9, 3, 5, 0xff)], [7, 5, 5]);
    assert_eq!([run(10, 7, 5, 0xff), run(15, 7, 5, 0xff)], [7, 7]);
}
