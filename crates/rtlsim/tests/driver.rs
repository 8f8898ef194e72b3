//! The configuration driver against a ring that is a few lines of Rust: no plug-in needed.

use sluice_device::{DeviceError, OpId};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::{EngineId, Message, Node, Op, Status, Table, target};
use sluice_object::{Load, Step};
use sluice_rtlsim::Faults;
use sluice_rtlsim::device::config_driver::{ConfigDriver, Done};
use sluice_rtlsim::device::requester::{ATTEMPTS, WINDOW};
use sluice_rtlsim::plugin::fault::FaultInjector;
use std::collections::{HashMap, VecDeque};

type Address = (u8, u8, u32);

/// A ring: discards what is no message, keeps rows, answers in order after some ticks.
struct FakeRing {
    rows: HashMap<Address, Vec<u32>>,
    /// Writes in the order in which they took effect.
    effects: Vec<(Address, Vec<u32>)>,
    replies: VecDeque<(u64, Vec<u32>)>,
    /// Words of a message whose end was lost.
    unfinished: Vec<u32>,
    latency: u64,
    /// Ticks between two answers.
    pace: u64,
    busy_commits: u32,
    /// In-flight counts that successive reads of a generation row give.
    in_flight: VecDeque<u32>,
    refuse: Option<(Address, Status)>,
    deaf: bool,
    most_under_way: usize,
}

impl FakeRing {
    fn new() -> Self {
        Self {
            rows: HashMap::new(),
            effects: Vec::new(),
            replies: VecDeque::new(),
            unfinished: Vec::new(),
            latency: 30,
            pace: 0,
            busy_commits: 0,
            in_flight: VecDeque::new(),
            refuse: None,
            deaf: false,
            most_under_way: 0,
        }
    }

    fn take(&mut self, words: &[u32], ended: bool, now: u64) {
        self.unfinished.extend(words);
        if !ended || self.deaf {
            return;
        }
        let words = std::mem::take(&mut self.unfinished);
        let Ok(request) = Message::decode(&words) else { return };
        if matches!(request.op, Op::ReadReply | Op::WriteReply) {
            return;
        }
        let reply = self.answer(request);
        let turn = self.replies.back().map_or(0, |(before, _)| before + self.pace);
        self.replies.push_back((turn.max(now + self.latency), reply.encode()));
        self.most_under_way = self.most_under_way.max(self.replies.len());
    }

    fn answer(&mut self, request: Message) -> Message {
        let address = (request.node, request.table, request.index);
        let is_generation = address.0 == Node::Stamp.number() && address.1 == Table::Generation.number();
        let mut reply = Message { status: Status::Ok, data: Vec::new(), ..request.clone() };
        reply.op = if request.op == Op::Read { Op::ReadReply } else { Op::WriteReply };
        if let Some((refused, status)) = self.refuse
            && refused == address
        {
            reply.status = status;
        } else if request.op == Op::Write && is_generation && self.busy_commits > 0 {
            self.busy_commits -= 1;
            reply.status = Status::Busy;
        } else if request.op == Op::Write {
            self.rows.insert(address, request.data.clone());
            self.effects.push((address, request.data));
        } else if is_generation {
            reply.data = vec![self.in_flight.pop_front().unwrap_or(0) << 1];
        } else {
            let node = Node::from_number(address.0, &target::TINY).unwrap();
            let words = Table::from_number(node, address.1).unwrap().words();
            reply.data = self.rows.get(&address).cloned().unwrap_or(vec![0; words]);
        }
        reply
    }
}

/// Runs the driver on the ring until it is idle; gives what it told and the ticks it took.
fn run(driver: &mut ConfigDriver, ring: &mut FakeRing, faults: &mut FaultInjector, ticks: u64) -> (Vec<Done>, u64) {
    let mut told = Vec::new();
    for now in 0..ticks {
        for words in faults.due(now) {
            driver.receive(&words, now);
        }
        while let Some(words) = driver.next_message(now) {
            for sent in faults.request(words) {
                ring.take(&sent.words, sent.ended, now);
            }
        }
        while ring.replies.front().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, words)) = ring.replies.pop_front() {
                for words in faults.reply(words, now) {
                    driver.receive(&words, now);
                }
            }
        }
        told.extend(std::iter::from_fn(|| driver.take_done()));
        if driver.is_idle() {
            return (told, now);
        }
    }
    (told, ticks)
}

fn no_faults() -> FaultInjector {
    FaultInjector::new(Faults::default(), 0)
}

fn driver() -> ConfigDriver {
    ConfigDriver::new(target::TINY, vec![EngineId::RMT])
}

fn load(steps: Vec<Step>) -> Load {
    Load { format_version: FORMAT_VERSION, target_hash: target::TINY.hash(), tenant: 1, label: "test".into(), steps }
}

fn quantum(index: u32, value: u32) -> Step {
    Step::Write { node: Node::Egress, table: Table::Quantum, index, words: vec![value] }
}

fn ends(told: &[Done]) -> Vec<(OpId, Result<(), DeviceError>)> {
    told.iter()
        .filter_map(|d| match d {
            Done::Load { op, result } => Some((*op, result.clone())),
            _ => None,
        })
        .collect()
}

#[test]
fn writes_between_barriers_share_the_window_and_barriers_keep_the_order() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    let mut steps: Vec<Step> = (0..20).map(|i| quantum(i, 1)).collect();
    steps.push(Step::Barrier);
    steps.extend((0..20).map(|i| quantum(i, 2)));
    driver.submit(OpId(7), load(steps));
    let (told, ticks) = run(&mut driver, &mut ring, &mut no_faults(), 10_000);
    assert_eq!(ends(&told), [(OpId(7), Ok(()))]);
    assert_eq!(ring.most_under_way, WINDOW);
    assert!(ring.effects[..20].iter().all(|(_, words)| words == &[1]));
    assert!(ring.effects[20..].iter().all(|(_, words)| words == &[2]));
    // One at a time would take 40 round trips of 30 ticks.
    assert!(ticks < 300, "{ticks}");
}

#[test]
fn of_two_writes_of_a_row_the_later_one_stays_however_the_ring_loses_them() {
    let faults = Faults { drop: 60, corrupt: 20, duplicate: 20, delay: 60, longest_delay: 500 };
    for seed in 0..20 {
        let (mut driver, mut ring, mut faults) = (driver(), FakeRing::new(), FaultInjector::new(faults, seed));
        driver.submit(OpId(0), load((0..40).map(|i| quantum(i % 8, i)).collect()));
        let (told, _) = run(&mut driver, &mut ring, &mut faults, 200_000);
        assert_eq!(ends(&told), [(OpId(0), Ok(()))], "seed {seed}");
        let applied = |index: u32| {
            let of = told.iter().filter_map(|d| match d {
                Done::Applied(write) if write.index == index => Some(write.words[0]),
                _ => None,
            });
            of.collect::<Vec<_>>()
        };
        for index in 0..8 {
            let address = (Node::Egress.number(), Table::Quantum.number(), index);
            assert_eq!(ring.rows[&address], [32 + index], "seed {seed}, row {index}");
            assert_eq!(applied(index), [index, 8 + index, 16 + index, 24 + index, 32 + index], "seed {seed}");
        }
    }
}

#[test]
fn loads_run_one_after_the_other() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    driver.submit(OpId(0), load((0..8).map(|i| quantum(i, 1)).collect()));
    driver.submit(OpId(1), load((0..8).map(|i| quantum(i, 2)).collect()));
    driver.submit(OpId(2), load(vec![]));
    let (told, _) = run(&mut driver, &mut ring, &mut no_faults(), 10_000);
    assert_eq!(ends(&told), [(OpId(0), Ok(())), (OpId(1), Ok(())), (OpId(2), Ok(()))]);
    assert!(ring.effects[..8].iter().all(|(_, words)| words == &[1]));
}

#[test]
fn a_busy_commit_is_asked_again_and_announced_once() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    ring.busy_commits = 5;
    driver.submit(OpId(0), load(vec![Step::Commit { module: 3, generation: 1 }]));
    let (told, _) = run(&mut driver, &mut ring, &mut no_faults(), 10_000);
    assert_eq!(ends(&told), [(OpId(0), Ok(()))]);
    assert_eq!(ring.effects, [((Node::Stamp.number(), 1, 3), vec![1])]);
    assert_eq!(told.iter().filter(|d| matches!(d, Done::Announced(_))).count(), 1);
    assert_eq!(told.iter().filter(|d| matches!(d, Done::Applied(_))).count(), 1);
}

#[test]
fn nothing_is_written_before_the_old_generation_has_drained() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    ring.in_flight = [9, 4, 1, 0].into();
    driver.submit(OpId(0), load(vec![Step::WaitDrained { module: 1, generation: 0 }, quantum(0, 1)]));
    let (told, ticks) = run(&mut driver, &mut ring, &mut no_faults(), 10_000);
    assert_eq!(ends(&told), [(OpId(0), Ok(()))]);
    assert!(ring.in_flight.is_empty());
    assert!(ticks > 4 * 30);
}

#[test]
fn empty_queues_are_waited_for_by_snapshots_of_the_module() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    let offered = (Node::Port(2).number(), Table::PortPackets.number(), 1 << 23 | 5);
    let left = (Node::Egress.number(), Table::QueuePackets.number(), 1 << 23 | (6 * 8 + 5));
    ring.rows.insert(offered, vec![10, 0]);
    ring.rows.insert(left, vec![9, 0]);
    driver.submit(OpId(0), load(vec![Step::WaitQueuesEmpty { module: 5 }, quantum(5, 0)]));
    let (told, _) = run(&mut driver, &mut ring, &mut no_faults(), 5_000);
    assert!(ends(&told).is_empty());
    let epochs = ring.effects.len();
    assert!(epochs > 1 && ring.effects.iter().all(|(at, _)| at.0 == Node::System.number()), "{:?}", ring.effects);
    // The driver's clock went on; the last packet leaves.
    ring.rows.insert(left, vec![10, 0]);
    let (told, _) = run(&mut driver, &mut ring, &mut no_faults(), 50_000);
    assert_eq!(ends(&told), [(OpId(0), Ok(()))]);
    assert_eq!(ring.effects.last().unwrap().0, (Node::Egress.number(), 1, 5));
}

#[test]
fn a_refused_write_ends_the_load_with_its_step_and_the_next_load_runs() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    ring.refuse = Some(((Node::Egress.number(), 1, 2), Status::BadAddress));
    driver.submit(OpId(0), load(vec![quantum(0, 1), quantum(1, 1), quantum(2, 1), Step::Barrier, quantum(3, 1)]));
    driver.submit(OpId(1), load(vec![quantum(4, 1)]));
    let (told, _) = run(&mut driver, &mut ring, &mut no_faults(), 10_000);
    let ends = ends(&told);
    let Err(DeviceError::Step { step, error, .. }) = &ends[0].1 else { panic!("{ends:?}") };
    assert_eq!(*step, 2);
    assert!(error.to_string().contains("quantum[2]") && error.to_string().contains("bad_address"), "{error}");
    assert_eq!(ends[1], (OpId(1), Ok(())));
    assert!(ring.effects.iter().all(|(at, _)| at.2 != 3));
}

#[test]
fn a_ring_that_never_answers_is_an_error_and_no_hang() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    ring.deaf = true;
    driver.submit(OpId(0), load(vec![quantum(0, 1)]));
    let (told, ticks) = run(&mut driver, &mut ring, &mut no_faults(), 10_000_000);
    let ends = ends(&told);
    let Err(DeviceError::Step { error, .. }) = &ends[0].1 else { panic!("{ends:?}") };
    assert!(error.to_string().contains(&format!("{ATTEMPTS} times")), "{error}");
    assert!(ticks < 3_000_000);
}

#[test]
fn an_answer_round_the_whole_ring_says_that_no_node_is_there() {
    let mut driver = driver();
    let id = driver.read(Node::Port(3), Table::Vlan, 0);
    // Once or twice may be two faults that undo each other.
    for now in [0, 100, 200] {
        assert_eq!(driver.take_done(), None);
        let words = driver.next_message(now).unwrap();
        driver.receive(&words, now + 50);
    }
    let Some(Done::Read { id: ended, answer }) = driver.take_done() else { panic!("no answer") };
    assert_eq!(ended, id);
    assert!(answer.unwrap_err().to_string().contains("no node"));
}

#[test]
fn a_lost_message_is_repeated_as_soon_as_a_later_one_is_answered() {
    let (mut driver, mut ring) = (driver(), FakeRing::new());
    driver.submit(OpId(0), load((0..8).map(|i| quantum(i, 1)).collect()));
    // The first one disappears.
    let _ = driver.next_message(0).unwrap();
    let (told, ticks) = run(&mut driver, &mut ring, &mut no_faults(), 10_000);
    assert_eq!(ends(&told), [(OpId(0), Ok(()))]);
    assert!(ticks < 100, "waited for the timeout: {ticks}");
    assert_eq!(driver.requester().counts().repeated, 1);
}

#[test]
fn what_waits_behind_slow_writes_is_not_sent_again() {
    let (mut driver, mut ring) = (driver(), FakeRing { latency: 90, pace: 90, ..FakeRing::new() });
    driver.submit(OpId(0), load((0..64).map(|i| quantum(i, 1)).collect()));
    let (told, ticks) = run(&mut driver, &mut ring, &mut no_faults(), 10_000);
    assert_eq!(ends(&told), [(OpId(0), Ok(()))]);
    assert_eq!(driver.requester().counts().repeated, 0);
    assert!((64 * 90..65 * 90).contains(&ticks), "{ticks}");
}

#[test]
fn with_every_fault_a_load_ends_and_its_order_holds() {
    let seed = test_seed("with_every_fault_a_load_ends_and_its_order_holds");
    let mut rng = Rng::new(seed);
    for _ in 0..30 {
        let faults = Faults { drop: 40, corrupt: 40, duplicate: 40, delay: 40, longest_delay: 5_000 };
        let mut injector = FaultInjector::new(faults, rng.next_u64());
        let (mut driver, mut ring) = (driver(), FakeRing::new());
        ring.busy_commits = 2;
        ring.in_flight = [3, 0].into();
        let mut steps: Vec<Step> = (0..30).map(|i| quantum(i, 1)).collect();
        steps.push(Step::WaitDrained { module: 1, generation: 0 });
        steps.push(Step::Commit { module: 1, generation: 1 });
        steps.extend((0..30).map(|i| quantum(i, 2)));
        driver.submit(OpId(0), load(steps));
        driver.snapshot();
        let (told, _) = run(&mut driver, &mut ring, &mut injector, 3_000_000);
        assert_eq!(ends(&told), [(OpId(0), Ok(()))]);
        assert!(told.iter().any(|d| matches!(d, Done::Snapshot(Ok(_)))));
        let of = |table: Table, words: u32| {
            let at = |(a, w): &(Address, Vec<u32>)| (a.0, a.1, w[0]) == (3, table.number(), words);
            (ring.effects.iter().position(at), ring.effects.iter().rposition(at))
        };
        let commit = ring.effects.iter().position(|(a, _)| (a.0, a.1) == (1, 1)).unwrap();
        assert!(of(Table::Quantum, 1).1.unwrap() < commit, "an old write after the commit");
        assert!(of(Table::Quantum, 2).0.unwrap() > commit, "a new write before the commit");
        for i in 0..30 {
            assert_eq!(ring.rows[&(3, 1, i)], [2]);
        }
    }
}
