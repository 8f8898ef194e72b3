//! The configuration ring and the watchdog, seen from the host.

use crate::support::{self, BARE_TINY, FULL_TINY, builds};
use crate::traffic::rig::{Module, Rig, To};
use sluice_device::Device;
use sluice_formats::address::{control, info};
use sluice_formats::hash::crc32c_words;
use sluice_formats::limits::{MAINTENANCE_PERIOD, MESSAGE_DATA_WORDS, MESSAGE_TIMEOUT_CYCLES};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::rows::ExactRow;
use sluice_formats::row::{Row, Wide};
use sluice_formats::{EngineId, Message, Node, Op, Status, Table};
use sluice_object::Step;
use sluice_rtlsim::plugin::boundary::{Instance, Until};
use sluice_rtlsim::plugin::event::{self, What};
use sluice_rtlsim::{Plugin, Variant, top};

fn set(rig: &mut Rig, register: u32, value: u32) {
    rig.perform(vec![support::write(Node::System, Table::Control, register, &[value])]);
}

fn wedges(rig: &mut Rig) -> u32 {
    let words = rig.nic.read_row(Node::System, Table::Info, info::WEDGES).unwrap();
    assert_eq!(words[1], 0);
    words[0]
}

#[test]
fn a_held_merge_makes_the_watchdog_count_and_loses_nothing() {
    const PERIOD: u32 = 100;
    for build in builds(&[BARE_TINY]) {
        let modules = [Module::new(1, To::Spread([0, 1, 4, 5])), Module::new(2, To::One(6))];
        let mut rig = Rig::open(build.target, build.options(1), &modules);
        set(&mut rig, control::WATCHDOG, PERIOD);
        set(&mut rig, control::HOLD, 1);
        rig.advance(2_000);
        assert_eq!(wedges(&mut rig), 0, "{build}: without packets there is no work");

        for i in 0..100 {
            rig.offer(i % 4, Some(1), i / 4 % 4, 60);
        }
        let begin = rig.nic.now();
        rig.advance(2_000);
        assert!(rig.merged.is_empty(), "{build}: the merge is held");
        let counted = wedges(&mut rig);
        let most = (rig.nic.now() - begin) as u32 / PERIOD;
        println!("{build}: {counted} wedges in {} cycles", rig.nic.now() - begin);
        assert!((1..=most).contains(&counted), "{build}: {counted} wedges, 1 to {most} are possible");

        set(&mut rig, control::HOLD, 0);
        rig.quiesce();
        assert_eq!((rig.left.len(), rig.dropped.len()), (100, 0));
        let counted = wedges(&mut rig);
        assert_eq!(u64::from(counted), rig.counters().wedges);

        // A destination that takes nothing is no wedge.
        rig.nic.set_blocked(6, true).unwrap();
        for i in 0..20 {
            rig.offer(i % 4, Some(2), 0, 60);
        }
        rig.advance(3_000);
        assert_eq!(wedges(&mut rig), counted, "{build}: a blocked destination is no wedge");
        rig.nic.set_blocked(6, false).unwrap();
        rig.quiesce();
        assert_eq!(rig.left.len() + rig.dropped.values().sum::<u64>() as usize, 120);
    }
}

#[test]
fn requests_that_cannot_be_met_are_answered_with_the_reason() {
    for build in builds(&[BARE_TINY, FULL_TINY]) {
        let mut rig = Rig::open(build.target, build.options(1), &[Module::new(1, To::One(4))]);
        let target = rig.target;
        let says = |result: Result<(), sluice_device::DeviceError>, what: &str| {
            let text = result.unwrap_err().to_string();
            assert!(text.contains(what), "{build}: {text}, not {what}");
        };
        let nic = &mut rig.nic;
        let nobody = Node::Port(target.ports as u8);
        says(nic.read_row(nobody, Table::Vlan, 0).map(drop), "no node of this number");
        for table in Table::ALL {
            // Tables of the XDP engine are on no node of this device.
            let Some(node) = Node::all(&target).into_iter().find(|n| table.is_of(*n)) else { continue };
            let rows = table.rows(&target);
            let words = |table: Table| table.words().max(MESSAGE_DATA_WORDS);
            let longest = Table::ALL.into_iter().filter(|t| t.is_of(node)).map(words).max().unwrap_or(0);
            says(nic.read_row(node, table, rows).map(drop), "bad_address");
            says(nic.read_row(node, table, 0x7f_ffff).map(drop), "bad_address");
            assert!(nic.read_row(node, table, rows - 1).is_ok(), "{build}: {table:?}");
            let mut write = |index, words: usize, what: &str| {
                let step = Step::Write { node, table, index, words: vec![0; words] };
                says(support::run_steps(nic, vec![step]), what);
            };
            if table.access() == sluice_formats::address::Access::ReadWrite {
                write(rows, table.words(), "bad_address");
                // What is longer than every row of its node is discarded and has no answer.
                if table.words() < longest {
                    write(0, table.words() + 1, "bad_length");
                }
                write(0, table.words() - 1, "bad_length");
            } else {
                write(0, table.words(), "read_only");
            }
        }
    }
}

/// The plain instance: words in, words out.
struct Ring(Instance);

impl Ring {
    fn ask(&mut self, words: &[u32], last: bool, cycles: u64) -> Vec<Vec<u32>> {
        self.0.send(words, last);
        self.0.run(&Until { max_cycles: cycles, ..Until::default() }).unwrap();
        let mut replies = Vec::new();
        event::decode(&top::NIC, self.0.take_events(), |e| {
            if let What::Reply(words) = e.what {
                replies.push(words);
            }
        })
        .unwrap();
        replies
    }

    fn info(&mut self, index: u32) -> u32 {
        let replies = self.ask(&read(0, Table::Info.number(), index), true, 400);
        assert_eq!(replies.len(), 1, "info {index}: {replies:08x?}");
        Message::decode(&replies[0]).unwrap().data[0]
    }
}

fn read(node: u8, table: u8, index: u32) -> Vec<u32> {
    Message { op: Op::Read, status: Status::Ok, node, sequence: 77, table, index, data: vec![] }.encode()
}

#[test]
fn malformed_messages_are_discarded_and_counted_or_refused() {
    for build in builds(&[BARE_TINY]) {
        let mut ring = Ring(Plugin::find(build.top, build.target, Variant::Test).unwrap().open(1).unwrap());
        // The tables clear themselves after the reset.
        ring.0.run(&Until { max_cycles: 10_000, ..Until::default() }).unwrap();
        let (bad, late) = (ring.info(info::BAD_MESSAGES), ring.info(info::TIMEOUTS));
        assert_eq!((bad, late), (0, 0));

        let egress = Node::Egress.number();
        let mut wrong = read(egress, 0, 0);
        wrong[2] ^= 1;
        assert!(ring.ask(&wrong, true, 400).is_empty(), "{build}: a wrong checksum has no answer");
        let mut longer = read(egress, 0, 0);
        longer.splice(2..2, [0; 9]);
        assert!(ring.ask(&longer, true, 400).is_empty(), "{build}: nine data words have no answer");
        assert!(ring.ask(&read(egress, 0, 0)[..1], true, 400).is_empty());
        assert_eq!(ring.info(info::BAD_MESSAGES), 3);

        // A message whose end never comes takes the next one with it, and no other.
        let end = u64::from(MESSAGE_TIMEOUT_CYCLES) + 400;
        assert!(ring.ask(&read(0, 0, 0)[..2], false, end).is_empty());
        assert!(ring.ask(&read(0, 0, 0), true, 400).is_empty());
        assert_eq!(ring.info(info::TIMEOUTS), 1);

        // Read without op: refused, under the number it was sent with.
        let mut words = read(1, 0, 0);
        words[0] = words[0] & 0x0fff_ffff | 5 << 28;
        words[2] = crc32c_words(&words[..2]);
        let replies = ring.ask(&words, true, 400);
        assert_eq!(replies.len(), 1, "{build}: an unknown op is answered");
        let (head, status) = (replies[0][0], replies[0][0] >> 24 & 0xf);
        assert_eq!((head & 0xff_ffff, status), (1 << 16 | 77, Status::BadOp as u32), "{build}: {:08x?}", replies[0]);

        // Two identical requests, one after the other: two answers.
        let twice = [read(egress, 0, 3), read(egress, 0, 3)].concat();
        ring.0.send(&twice[..3], true);
        assert_eq!(ring.ask(&twice[3..], true, 800).len(), 2);
        assert_eq!(ring.info(info::VERSION), sluice_formats::limits::FORMAT_VERSION);
    }
}

/// The ring of a smaller NIC has all nodes: what is meant for an engine that is not there is answered, whatever its length.
#[test]
fn the_node_of_an_engine_that_is_not_there_answers_bad_address() {
    for build in builds(&[BARE_TINY]) {
        let mut ring = Ring(Plugin::find(build.top, build.target, Variant::Test).unwrap().open(1).unwrap());
        ring.0.run(&Until { max_cycles: 10_000, ..Until::default() }).unwrap();
        let engines = build.top.engine_ids();
        let absent = |table: &Table| table.engine().is_some_and(|e| e != EngineId::RMT && !engines.contains(&e));
        let tables: Vec<Table> = Table::ALL.into_iter().filter(absent).collect();
        assert_eq!(tables.is_empty(), build.top == &top::NIC);
        for table in tables {
            for (op, words) in [(Op::Read, 0), (Op::Write, table.words()), (Op::Write, MESSAGE_DATA_WORDS)] {
                let (node, number) = (table.node().number(), table.number());
                let data = vec![0; words];
                let ask = Message { op, status: Status::Ok, node, sequence: 77, table: number, index: 0, data };
                let replies = ring.ask(&ask.encode(), true, 1_000);
                assert_eq!(replies.len(), 1, "{build}: {op:?} of {table:?} is answered once");
                assert_eq!(
                    Message::decode(&replies[0]).unwrap().status,
                    Status::BadAddress,
                    "{build}: {op:?} {table:?}"
                );
            }
        }
        assert_eq!((ring.info(info::BAD_MESSAGES), ring.info(info::ENGINES)), (0, EngineId::set(engines)));
    }
}

#[test]
fn reads_of_match_rows_under_full_load_take_one_slot_in_256() {
    let seed = test_seed("reads_of_match_rows_under_full_load_take_one_slot_in_256");
    for build in builds(&[BARE_TINY]) {
        let mut rig = Rig::open(build.target, build.options(seed), &[Module::new(1, To::One(4))]);
        let mut rng = Rng::new(seed);
        let target = rig.target;
        let stage = Node::Stage(1);
        let rows: Vec<(Table, u32, ExactRow)> = (0..8u8)
            .map(|i| {
                let mut key = Wide([0; 25]);
                key.0[..8].copy_from_slice(&rng.next_u64().to_le_bytes());
                let row = ExactRow { generations: 3, module_id: 5, key, ..ExactRow::default() };
                (Table::Exact(i % 4), target.rmt.sets() as u32 - 1 - u32::from(i), row)
            })
            .collect();
        let write =
            |(table, set, row): &(Table, u32, ExactRow)| support::write(stage, *table, *set, &row.pack().unwrap());
        let writes = rows.iter().map(write).collect();
        rig.perform(writes);
        // Packets of one beat, more than the pipeline takes, for as long as 40 reads last.
        let length = target.bus_bytes.min(60);
        let each = 40 * 320 / u64::from(target.beats(length + 4));
        for _ in 0..each {
            for port in 0..4 {
                rig.offer(port, Some(1), 0, length as usize);
            }
        }
        rig.advance(200);
        let begin = rig.nic.now();
        let mut longest = 0;
        for (table, set, row) in rows.iter().cycle().take(40) {
            let asked = rig.nic.now();
            let words = rig.nic.read_row(stage, *table, *set).unwrap();
            longest = longest.max(rig.nic.now() - asked);
            assert_eq!(ExactRow::unpack(&words).unwrap(), *row);
        }
        let end = rig.nic.now();
        rig.quiesce();
        assert!(end < rig.arrived.iter().copied().min().unwrap(), "{build}: the load ended before the reads");
        let window: Vec<_> = rig.merged.iter().filter(|m| (begin..end).contains(&m.tick)).collect();
        let beats = window.len() as u64 - 1;
        let cycles = window[window.len() - 1].tick - window[0].tick;
        let lost = cycles - beats;
        println!("{build}: 40 reads in {} cycles, the longest {longest}; {lost} of {cycles} cycles lost", end - begin);
        // The wait for a slot, two cycles a node of the ring, the words of request and answer, and eleven for the node, the
        // block and its request for a slot, which is a register on the way to the entrance.
        let here = |node: &Node| node.engine().is_none_or(|engine| top::NIC.engine_ids().contains(&engine));
        let nodes = Node::every(&target).into_iter().filter(here).count();
        let ring = 2 * nodes + 3 + 3 + Table::Exact(0).words();
        let most = u64::from(MAINTENANCE_PERIOD) + ring as u64 + 11;
        assert!(longest <= most, "{build}: {longest} cycles, {most} at most");
        assert!(lost <= cycles / u64::from(MAINTENANCE_PERIOD) + 1, "{build}: {lost} of {cycles}");
        assert!(lost >= 30, "{build}: the reads took no slots, so the pipeline was not full");
        assert!(rig.dropped.keys().all(|(_, reason)| *reason == sluice_formats::Reason::Overload));
    }
}
