//! A load as messages of the configuration ring, in the order in which a driver sends them.
//!
//! The driver needs no knowledge of tables: it sends each message, takes its answer and looks at that as the step says.
//! Every message is absolute and may be sent again until it is answered. One message under way at a time keeps every
//! order that a load asks for; a driver with more of them waits at each [`RingStep::Barrier`] and before and after
//! every step that is not a write.

use crate::load::{Load, Step};
use sluice_formats::address::info;
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::row::Row;
use sluice_formats::rows::GenerationRow;
use sluice_formats::{Message, Node, Op, Status, Table, Target};

/// A message with the address in it, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingMessage {
    /// Node.
    pub node: Node,
    /// Table.
    pub table: Table,
    /// Row index.
    pub index: u32,
    /// All words, CRC-32C last.
    pub words: Vec<u32>,
}

/// What the first word of a read's answer has to be: `word & mask == value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Bits that are looked at.
    pub mask: u32,
    /// Their value.
    pub value: u32,
}

/// One step of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RingStep {
    /// Read; another value than the expected one ends the whole: this is another NIC.
    Check(RingMessage, Expected),
    /// Write; the answer is `ok`.
    Write(RingMessage),
    /// All writes before are answered before anything after is sent.
    Barrier,
    /// Read, and again until the expected value comes.
    Wait(RingMessage, Expected),
    /// Write, and again while the answer is `busy`.
    Commit(RingMessage),
}

/// A step that no message of the ring stands for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("load `{label}`, step {step}: {found}; the ring carries writes, barriers, waits for a generation and commits")]
pub struct NotOnTheRing {
    /// The load's label.
    pub label: String,
    /// The step.
    pub step: usize,
    /// What it is.
    pub found: String,
}

impl NotOnTheRing {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        "E0234"
    }
}

/// Makes messages, each with a sequence number of its own.
#[derive(Clone, Debug, Default)]
pub struct RingWriter {
    sequence: u16,
}

impl RingWriter {
    /// What comes before every load: the NIC has this format version and this target.
    pub fn checks(&mut self, target: &Target) -> Vec<RingStep> {
        let whole = |value| Expected { mask: u32::MAX, value };
        let version = self.message(Op::Read, Node::System, Table::Info, info::VERSION, &[]);
        let hash = self.message(Op::Read, Node::System, Table::Info, info::TARGET_HASH, &[]);
        vec![RingStep::Check(version, whole(FORMAT_VERSION)), RingStep::Check(hash, whole(target.hash()))]
    }

    /// The steps of a load.
    pub fn load(&mut self, load: &Load) -> Result<Vec<RingStep>, NotOnTheRing> {
        let refused = |step, found| NotOnTheRing { label: load.label.clone(), step, found };
        let steps = load.steps.iter().enumerate().map(|(i, step)| match step {
            Step::Write { node, table, index, words } => {
                Ok(RingStep::Write(self.message(Op::Write, *node, *table, *index, words)))
            }
            Step::Barrier => Ok(RingStep::Barrier),
            Step::WaitDrained { module, generation } => {
                let read = self.message(Op::Read, Node::Stamp, Table::Generation, (*module).into(), &[]);
                Ok(RingStep::Wait(read, Expected { mask: in_flight_mask(*generation), value: 0 }))
            }
            Step::Commit { module, generation } => {
                let words = [u32::from(*generation & 1)];
                Ok(RingStep::Commit(self.message(Op::Write, Node::Stamp, Table::Generation, (*module).into(), &words)))
            }
            Step::WaitQueuesEmpty { .. } => {
                Err(refused(i, "a wait for empty queues, which takes snapshots of counters".to_owned()))
            }
            Step::Install { engine, .. } => Err(refused(i, format!("a program of the engine {engine}"))),
        });
        steps.collect()
    }

    fn message(&mut self, op: Op, node: Node, table: Table, index: u32, data: &[u32]) -> RingMessage {
        // 0 is never used, so that an answer of all zeros is nobody's.
        self.sequence = self.sequence.checked_add(1).unwrap_or(1);
        let message = Message {
            op,
            status: Status::Ok,
            node: node.number(),
            sequence: self.sequence,
            table: table.number(),
            index,
            data: data.to_vec(),
        };
        RingMessage { node, table, index, words: message.encode() }
    }
}

/// Where a generation row counts the packets of `generation` in flight.
fn in_flight_mask(generation: u8) -> u32 {
    let all = match generation {
        0 => GenerationRow { in_flight_0: u8::MAX, ..GenerationRow::default() },
        _ => GenerationRow { in_flight_1: u8::MAX, ..GenerationRow::default() },
    };
    all.pack().ok().and_then(|words| words.first().copied()).unwrap_or(u32::MAX)
}

// Kinds of records for the C driver (integration/driver/sluice_ring.h).
const CHECK: u32 = 1;
const WRITE: u32 = 2;
const BARRIER: u32 = 3;
const WAIT: u32 = 4;
const COMMIT: u32 = 5;

impl RingStep {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Check(..) => "check",
            Self::Write(_) => "write",
            Self::Barrier => "barrier",
            Self::Wait(..) => "wait",
            Self::Commit(_) => "commit",
        }
    }

    /// What is sent.
    pub fn message(&self) -> Option<&RingMessage> {
        match self {
            Self::Check(message, _) | Self::Write(message) | Self::Wait(message, _) | Self::Commit(message) => {
                Some(message)
            }
            Self::Barrier => None,
        }
    }

    /// What a read has to give.
    pub fn expected(&self) -> Option<Expected> {
        match self {
            Self::Check(_, expected) | Self::Wait(_, expected) => Some(*expected),
            _ => None,
        }
    }

    /// The record for the C driver: kind in bits 31:24 and words of the message below, the message, mask and value.
    pub fn record(&self) -> Vec<u32> {
        let kind = match self {
            Self::Check(..) => CHECK,
            Self::Write(_) => WRITE,
            Self::Barrier => BARRIER,
            Self::Wait(..) => WAIT,
            Self::Commit(_) => COMMIT,
        };
        let message = self.message().map_or(&[][..], |m| &m.words);
        let mut words = vec![kind << 24 | message.len() as u32];
        words.extend(message);
        words.extend(self.expected().into_iter().flat_map(|e| [e.mask, e.value]));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::EngineId;
    use sluice_formats::target::DEFAULT;

    fn load(steps: Vec<Step>) -> Load {
        let label = "test".to_owned();
        Load { format_version: FORMAT_VERSION, target_hash: DEFAULT.hash(), tenant: 1, label, steps }
    }

    #[test]
    fn each_message_decodes_to_its_step_and_no_number_comes_twice() {
        let write = Step::Write { node: Node::Egress, table: Table::Quantum, index: 3, words: vec![1500] };
        let steps = vec![write, Step::Barrier, Step::Commit { module: 3, generation: 1 }];
        let mut writer = RingWriter::default();
        let mut all = writer.checks(&DEFAULT);
        all.extend(writer.load(&load(steps)).unwrap());
        let messages: Vec<_> = all.iter().filter_map(RingStep::message).collect();
        let decoded: Vec<_> = messages.iter().map(|m| Message::decode(&m.words).unwrap()).collect();
        assert_eq!(decoded.iter().map(|m| m.sequence).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!((decoded[2].op, decoded[2].index, &decoded[2].data[..]), (Op::Write, 3, &[1500][..]));
        assert_eq!((decoded[3].table, &decoded[3].data[..]), (Table::Generation.number(), &[1][..]));
        assert_eq!(
            all.iter().map(RingStep::name).collect::<Vec<_>>(),
            ["check", "check", "write", "barrier", "commit"]
        );
    }

    #[test]
    fn a_wait_looks_at_the_count_of_its_generation_alone() {
        for (generation, row) in [
            (0, GenerationRow { current: true, in_flight_0: 0x5a, in_flight_1: 0 }),
            (1, GenerationRow { current: true, in_flight_0: 0, in_flight_1: 0x5a }),
        ] {
            let word = row.pack().unwrap()[0];
            assert_ne!(word & in_flight_mask(generation), 0);
            assert_eq!(word & in_flight_mask(1 - generation), 0);
        }
    }

    #[test]
    fn sequence_numbers_go_round_without_zero() {
        let mut writer = RingWriter { sequence: u16::MAX };
        let message = writer.checks(&DEFAULT)[0].message().unwrap().words[0];
        assert_eq!(message & 0xffff, 1);
    }

    #[test]
    fn steps_that_are_no_message_are_refused() {
        let remove = Step::Install { engine: EngineId::XDP, module: 1, generation: 0, install: None };
        for step in [Step::WaitQueuesEmpty { module: 1 }, remove] {
            let error = RingWriter::default().load(&load(vec![Step::Barrier, step])).unwrap_err();
            assert_eq!((error.code(), error.step), ("E0234", 1));
        }
    }

    #[test]
    fn a_record_says_how_many_words_follow() {
        let mut writer = RingWriter::default();
        let record = writer.checks(&DEFAULT)[0].record();
        assert_eq!((record[0], record.len()), (CHECK << 24 | 3, 6));
        assert_eq!(RingStep::Barrier.record(), [BARRIER << 24]);
    }
}
