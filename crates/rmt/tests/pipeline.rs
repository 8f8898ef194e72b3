//! Modules, generations, system stages, destinations.

use sluice_rmt::action::{Action, Alu, B, Op, When, WordOp, WordSource};
use sluice_rmt::deparser::{DeparseRow, Deparser, Pattern};
use sluice_rmt::parser::{Parser, Path};
use sluice_rmt::phv::{DISCARD, EGRESS_PORT, EXCEPT_INGRESS, Word, c2, c4};
use sluice_rmt::pipeline::{LoadError, Memory};
use sluice_rmt::program::Stage;
use sluice_rmt::stage::{Exact, Hit, Key, Leads, Tables};
use sluice_rmt::state::{Operand, StateOp, Update};
use sluice_rmt::target::{DATA, DEFAULT, TINY, Target};
use sluice_rmt::{Arrival, Copy, Group, Outcome, Pipeline, Program, Reason};

const PACKET: [u8; 60] = [0x55; 60];

fn arrival(module: u8, generation: u8) -> Arrival<'static> {
    Arrival {
        packet: &PACKET,
        module,
        generation,
        system_generation: 0,
        tenant: 0xabc,
        port: 3,
        arrival: 0x1234_5678_9abc,
        queueing: 0x1234_5678_9def,
    }
}

fn word(word: Word, value: u16) -> WordOp {
    WordOp { word: word as u8, source: WordSource::Imm(value), mask: 0xffff, when: When::Always }
}

/// A stage that does one thing with every packet.
fn always(action: Action, pages: u16) -> Stage {
    Stage {
        tables: Tables { default: Some(Leads::default()), ..Tables::default() },
        actions: vec![action],
        pages,
        ..Stage::default()
    }
}

/// Every packet to destination 1 in stage 1, with `c4[0]` in its first four bytes, and one more action.
fn program(mut action: Action, pages: u16) -> Program {
    action.words.push(word(Word::Egress, 0b10));
    let mut row = DeparseRow::default();
    row.put(c4(0), 0);
    Program {
        parser: Parser::single(Path { least: 14, ..Path::default() }),
        stages: vec![None, Some(always(action, pages))],
        deparser: Deparser::single(row),
    }
}

fn marked(mark: u64) -> Program {
    program(Action { alus: vec![Alu::whole(c4(0), Op::Move, B::Imm(mark))], ..Action::default() }, 0)
}

fn counting() -> Program {
    let state = Some(StateOp { new_to: Some(0), ..StateOp::at(5, Update::add(Operand::Imm(1))) });
    program(Action { state, ..Action::default() }, 1)
}

fn start(outcome: &Outcome) -> u32 {
    match outcome {
        Outcome::Sent { packet, .. } => u32::from_be_bytes(packet[..4].try_into().unwrap()),
        Outcome::Dropped(reason) => panic!("dropped: {}", reason.name()),
    }
}

fn with(target: Target, programs: &[(u8, u8, Program)]) -> Pipeline {
    let mut p = Pipeline::new(target);
    for (module, generation, program) in programs {
        p.load(*module, *generation, program.clone(), Memory::Zeroed).unwrap();
        p.grant(*module, 0xff);
    }
    p
}

#[test]
fn each_module_and_generation_has_its_own_rows() {
    let mut p = with(DEFAULT, &[(1, 0, marked(10)), (1, 1, marked(11)), (2, 0, marked(20)), (33, 0, marked(330))]);
    let marks = [(1, 0), (1, 1), (2, 0), (33, 0)].map(|(m, g)| start(&p.run(&arrival(m, g))));
    assert_eq!(marks, [10, 11, 20, 330]);
    assert_eq!(p.run(&arrival(2, 1)), Outcome::Dropped(Reason::NoModule));
    assert_eq!(p.run(&arrival(4, 0)), Outcome::Dropped(Reason::NoModule));
    assert_eq!(p.run(&arrival(200, 0)), Outcome::Dropped(Reason::NoModule));
    p.unload(1, 0);
    assert_eq!(p.run(&arrival(1, 0)), Outcome::Dropped(Reason::NoModule));
    assert_eq!(start(&p.run(&arrival(1, 1))), 11);
}

#[test]
fn words_are_a_modules_own_and_back_to_back_packets_count_one_by_one() {
    let mut p = with(DEFAULT, &[(1, 0, counting()), (2, 0, counting())]);
    let counts: Vec<u32> = [1, 1, 2, 1, 2].map(|m| start(&p.run(&arrival(m, 0)))).to_vec();
    assert_eq!(counts, [1, 2, 1, 3, 2]);
    assert_eq!((p.words(1, 0, 1)[5], p.words(2, 0, 1)[5]), (3, 2));
}

#[test]
fn a_replacement_keeps_the_words_or_begins_with_zeros() {
    let mut p = with(DEFAULT, &[(1, 0, counting())]);
    p.run(&arrival(1, 0));
    p.load(1, 1, counting(), Memory::Keep).unwrap();
    assert_eq!(start(&p.run(&arrival(1, 1))), 2);
    assert_eq!(start(&p.run(&arrival(1, 0))), 3);
    p.unload(1, 1);
    p.load(1, 1, counting(), Memory::Zeroed).unwrap();
    assert_eq!(start(&p.run(&arrival(1, 1))), 1);
    assert_eq!(start(&p.run(&arrival(1, 0))), 4);
    let mut larger = counting();
    larger.stages[1].as_mut().unwrap().pages = 2;
    assert!(matches!(p.load(1, 1, larger, Memory::Keep), Err(LoadError::Pages { found: 2, allowed: 1, .. })));
}

#[test]
fn accesses_behind_the_pages_are_counted_and_the_packet_goes_on() {
    let op = StateOp { new_to: Some(0), ..StateOp::at(64, Update::set(Operand::Imm(9))) };
    let mut p = with(DEFAULT, &[(1, 0, program(Action { state: Some(op), ..Action::default() }, 1))]);
    assert_eq!(start(&p.run(&arrival(1, 0))), 0);
    assert_eq!((p.state_range(1), p.state_range(0)), (1, 0));
    assert!(p.words(1, 0, 1).iter().all(|&w| w == 0));
}

#[test]
fn the_system_module_serves_every_packet_and_its_words_can_be_read_but_not_written() {
    let first = Action { words: vec![word(Word::QueueDepth, 77)], ..Action::default() };
    let system = |first: &Action| Program { stages: vec![Some(always(first.clone(), 0))], ..Program::default() };
    // Stage 1: the queue depth into the packet.
    let mut read = Action { alus: vec![Alu::whole(c4(0), Op::Move, B::X)], ..Action::default() };
    read.cross = sluice_rmt::action::Cross::Words(Word::QueueDepth as u8);
    let mut p = with(DEFAULT, &[(1, 0, program(read, 0)), (0, 0, system(&first))]);
    assert_eq!(start(&p.run(&arrival(1, 0))), 77);
    // The system module's generation is its own.
    let second = Action { words: vec![word(Word::QueueDepth, 88)], ..Action::default() };
    p.load(0, 1, system(&second), Memory::Zeroed).unwrap();
    assert_eq!(start(&p.run(&Arrival { system_generation: 1, ..arrival(1, 0) })), 88);
    assert_eq!(p.hits(0, 0, 0), 2);

    let write = Action { words: vec![word(Word::QueueDepth, 1)], ..Action::default() };
    let refused = p.load(2, 0, program(write, 0), Memory::Zeroed).unwrap_err();
    assert!(refused.to_string().contains("a write of word 9"), "{refused}");
    let refused = p.load(2, 0, system(&first), Memory::Zeroed).unwrap_err();
    assert!(refused.to_string().contains("stages[0]"), "{refused}");
}

#[test]
fn hardware_words_say_what_the_stamp_said() {
    let mut p = with(DEFAULT, &[(1, 0, marked(1))]);
    let mut seen = Vec::new();
    p.run_traced(&arrival(1, 0), &mut |t| seen.push(t));
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].stage, seen[0].hit), (1, Hit::Default));
    assert_eq!(seen[0].before.words[..9], [3, 60, 0x9abc, 0x5678, 0x1234, 0x9def, 0x5678, 0xabc, 0]);
    assert!(seen[0].before.words[9..].iter().all(|&w| w == 0));
    assert!(seen[0].before.containers.iter().all(|&c| c == 0));
    assert_eq!((seen[0].after.get(c4(0)), seen[0].after.word(Word::Egress)), (1, 0b10));
}

fn sending(egress: u16, group: u16) -> Program {
    let mut p = marked(0);
    let stage = p.stages[1].as_mut().unwrap();
    stage.actions[0].words = vec![word(Word::Egress, egress), word(Word::Group, group)];
    p
}

fn copies(p: &mut Pipeline, egress: u16, group: u16) -> Result<Vec<(u8, u8, u16)>, Reason> {
    p.load(1, 0, sending(egress, group), Memory::Zeroed).unwrap();
    match p.run(&arrival(1, 0)) {
        Outcome::Sent { copies, .. } => {
            Ok(copies.into_iter().map(|Copy { destination, queue, tag }| (destination, queue, tag)).collect())
        }
        Outcome::Dropped(reason) => Err(reason),
    }
}

#[test]
fn destinations_are_those_asked_for_and_granted() {
    let mut p = Pipeline::new(DEFAULT);
    p.grant(1, 0b0000_1110);
    assert_eq!(copies(&mut p, 0x0002, 0), Ok(vec![(1, 0, 0)]));
    assert_eq!(copies(&mut p, 0x05ff, 0), Ok(vec![(1, 5, 0), (2, 5, 0), (3, 5, 0)]));
    assert_eq!(copies(&mut p, 0x00ff | EXCEPT_INGRESS, 0), Ok(vec![(1, 0, 0), (2, 0, 0)]));
    assert_eq!(p.copies(1), 3);
    assert_eq!(copies(&mut p, 0x0001, 0), Err(Reason::NoDestination));
    assert_eq!(copies(&mut p, 0x0008 | EXCEPT_INGRESS, 0), Err(Reason::NoDestination));
    assert_eq!(copies(&mut p, 0x0002 | DISCARD, 0), Err(Reason::Discard));
}

#[test]
fn groups_send_tagged_copies_to_their_owner_only() {
    let mut p = Pipeline::new(DEFAULT);
    p.grant(1, 0xff);
    let tags = [0, 100, 0, 0, 104, 0, 0, 0];
    for (number, owner) in [(1, 1), (2, 0), (3, 2)] {
        p.set_group(number, Group { owner, destinations: 0b1_0010, tags });
    }
    let both = Ok(vec![(1, 2, 100), (4, 2, 104)]);
    assert_eq!(copies(&mut p, 0x0201, 1), both);
    assert_eq!(copies(&mut p, 0x0201, 2), both);
    // As where nobody has a group: nobody learns which others have.
    assert_eq!(copies(&mut p, 0x0201, 3), Err(Reason::NoDestination));
    assert_eq!(copies(&mut p, 0x0201, 4), Err(Reason::NoDestination));
    assert_eq!(copies(&mut p, 0x0201, 256), Err(Reason::RmtFault));
}

#[test]
fn a_header_made_valid_by_the_program_is_added_and_one_made_invalid_removed() {
    let action = |headers| Action {
        alus: vec![Alu::whole(c2(0), Op::Move, B::Imm(0xbeef))],
        words: vec![word(Word::Headers, headers)],
        ..Action::default()
    };
    let run = |headers| {
        let mut program = program(action(headers), 0);
        program.parser.paths[0].headers = 0b01;
        let mut add = DeparseRow { delta: 2, split: 12, ..DeparseRow::default() };
        add.put(c2(0), 12);
        let remove = DeparseRow { delta: -4, split: 12, ..DeparseRow::default() };
        let pattern = |headers: u32, row| Pattern { value: headers << 4, mask: 0xffff0, row };
        program.deparser = Deparser {
            patterns: vec![pattern(0b11, 0), pattern(0b01, 1), pattern(0, 2)],
            rows: vec![add, DeparseRow::default(), remove],
        };
        match with(DEFAULT, &[(1, 0, program)]).run(&arrival(1, 0)) {
            Outcome::Sent { packet, .. } => Ok(packet),
            Outcome::Dropped(reason) => Err(reason),
        }
    };
    let mut longer = PACKET.to_vec();
    longer.splice(12..12, [0xbe, 0xef]);
    assert_eq!(run(0b11), Ok(longer));
    assert_eq!(run(0b01), Ok(PACKET.to_vec()));
    assert_eq!(run(0), Ok(PACKET[4..].to_vec()));
    assert_eq!(run(0b111), Err(Reason::DeparseReject));
}

#[test]
fn a_load_that_does_not_fit_beside_the_others_is_refused_with_what_is_short() {
    let full = |n: u64| {
        let mut program = marked(1);
        let stage = program.stages[1].as_mut().unwrap();
        stage.key.mask.put(0, 16, 0xffff);
        let entry =
            |v| Exact { key: Key::default().with(0, 16, v), leads: Leads { data: [0; DATA], ..Leads::default() } };
        stage.tables.exact = (0..n).map(entry).collect();
        program
    };
    let mut p = with(TINY, &[(1, 0, full(52))]);
    let refused = p.load(2, 0, full(13), Memory::Zeroed).unwrap_err();
    assert_eq!(refused.to_string(), "stage 1: 65 exact entries with this program, the target has 64");
    p.load(2, 0, full(12), Memory::Zeroed).unwrap();
    p.load(1, 0, full(52), Memory::Zeroed).unwrap();
    assert!(matches!(p.load(8, 0, full(1), Memory::Zeroed), Err(LoadError::Module { found: 8, allowed: 8 })));
}

#[test]
fn pages_that_two_generations_share_count_once() {
    let pages = |n| {
        let mut program = counting();
        program.stages[1].as_mut().unwrap().pages = n;
        program
    };
    let mut p = with(TINY, &[(1, 0, pages(5))]);
    p.load(1, 1, pages(5), Memory::Keep).unwrap();
    let refused = p.load(2, 0, pages(4), Memory::Zeroed).unwrap_err();
    assert_eq!(refused.to_string(), "stage 1: 9 pages with this program, the target has 8");
    p.load(2, 0, pages(3), Memory::Zeroed).unwrap();
    let refused = p.load(1, 1, pages(5), Memory::Zeroed).unwrap_err();
    assert_eq!(refused.to_string(), "stage 1: 13 pages with this program, the target has 8");
}

/// Where a packet goes whose program has numbers of destinations and writes these words.
fn by_number(port_numbers: bool, words: &[(Word, u16)], granted: u8) -> Result<Vec<u8>, Reason> {
    let ops = words.iter().map(|&(w, value)| word(w, value)).collect();
    let mut number = program(Action { words: ops, ..Action::default() }, 0);
    number.parser.port_numbers = port_numbers;
    // Of what `program` writes too, the words here count.
    let own = words.len();
    number.stages[1].as_mut().unwrap().actions[0].words.truncate(own);
    let mut p = with(TINY, &[(1, 0, number)]);
    p.grant(1, granted);
    p.set_group(2, Group { owner: 1, destinations: 0b1_0000, tags: [0; 8] });
    match p.run(&arrival(1, 0)) {
        Outcome::Sent { copies, .. } => Ok(copies.iter().map(|c| c.destination).collect()),
        Outcome::Dropped(reason) => Err(reason),
    }
}

#[test]
fn a_destination_may_be_a_number_beside_those_of_the_mask() {
    let number = |n| by_number(true, &[(Word::Scratch1, n)], 0xff);
    assert_eq!([0, 3, 7].map(number), [Ok(vec![0]), Ok(vec![3]), Ok(vec![7])]);
    assert!([8, 256, 510].map(number).iter().all(|n| *n == Err(Reason::NoDestination)));
    assert_eq!(number(511), Err(Reason::Discard));
    // Bits above the number mean nothing.
    assert_eq!(number(!EGRESS_PORT | 5), Ok(vec![5]));
    assert_eq!(by_number(true, &[], 0xff), Ok(vec![0]));
    assert_eq!(by_number(true, &[], 0xfe), Err(Reason::NoDestination));
    assert_eq!(by_number(false, &[(Word::Scratch1, 3)], 0xff), Err(Reason::NoDestination));
    let both = |n| by_number(true, &[(Word::Egress, 0b10), (Word::Scratch1, n)], 0xff);
    assert_eq!([4, 511, 9].map(both), [Ok(vec![1, 4]), Ok(vec![1]), Ok(vec![1])]);
    assert_eq!(by_number(true, &[(Word::Egress, 0b10), (Word::Scratch1, 511)], 0xfd), Err(Reason::NoDestination));
    let group = |n| by_number(true, &[(Word::Group, 2), (Word::Scratch1, n)], 0xff);
    assert_eq!([3, 511].map(group), [Ok(vec![4]), Ok(vec![4])]);
    let not_back = |n| by_number(true, &[(Word::Egress, EXCEPT_INGRESS), (Word::Scratch1, n)], 0xff);
    assert_eq!([3, 2].map(not_back), [Err(Reason::NoDestination), Ok(vec![2])]);
    assert_eq!(by_number(true, &[(Word::Egress, DISCARD), (Word::Scratch1, 2)], 0xff), Err(Reason::Discard));
}
