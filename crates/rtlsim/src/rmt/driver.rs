//! Drives one instance of the rmt top.

use crate::error::RtlError;
use crate::event::{self, RtlEvent, What};
use crate::options::{Ready, RtlOptions};
use crate::plugin::{Instance, OfferBuffer, Plugin, Stop, Until};
use crate::top;
use sluice_formats::address::SLICE_INDEX_BIT;
use sluice_formats::rmt::target::Target;
use sluice_formats::row::Row;
use sluice_formats::rows::{GenerationRow, SidebandRow};
use sluice_formats::{Message, Node, Op, Status, Table};
use std::collections::VecDeque;

/// Words of a row that one read answers.
const SLICE_WORDS: usize = 8;
/// Cycles that a batch of requests may take beyond those of its words.
const PATIENCE: u64 = 200_000;

/// A packet on its way to the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RmtOffer {
    /// ID, arrival stamp, tenant, module, length and what travels with the packet.
    pub sideband: SidebandRow,
    /// Bytes, without the tag that ingress took off.
    pub bytes: Vec<u8>,
    /// Earliest tick of the first beat.
    pub at: u64,
}

/// A simulated rmt pipeline.
pub struct RmtRtl {
    instance: Instance,
    target: Target,
    sequence: u16,
    events: VecDeque<RtlEvent>,
    replies: VecDeque<Message>,
}

impl RmtRtl {
    /// A pipeline of a target after its reset. Of the options, stalls of port 0 and of one destination count.
    pub fn open(target: &Target, options: &RtlOptions) -> Result<Self, RtlError> {
        let plugin = Plugin::find(&top::RMT, target.name, options.variant)?;
        if options.waves.is_some() && !plugin.has_waves() {
            return Err(RtlError::Waves {
                path: plugin.path().display().to_string(),
                what: "the plug-in has none".into(),
            });
        }
        let mut instance = plugin.open(options.seed)?;
        if let Some(waves) = &options.waves {
            instance.waves(&waves.path, waves.from, waves.to)?;
        }
        instance.set_gaps(0, options.stalls.port_gaps)?;
        instance.set_ready(0, options.stalls.ready)?;
        instance.set_config_stalls(options.stalls.config_gaps, options.stalls.config_stalls);
        let mut this =
            Self { instance, target: *target, sequence: 0, events: VecDeque::new(), replies: VecDeque::new() };
        let found = this.info(sluice_formats::address::info::TARGET_HASH)?;
        if found != target.hash() {
            return Err(plugin.mismatch("target hash", format!("{found:08x}"), format!("{:08x}", target.hash())));
        }
        Ok(this)
    }

    /// What it is.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Tick of the cycle that comes next.
    pub fn now(&self) -> u64 {
        self.instance.now()
    }

    /// Chance in 256ths of a gap before each beat in.
    pub fn set_gaps(&mut self, chance: u8) -> Result<(), RtlError> {
        self.instance.set_gaps(0, chance)
    }

    /// When the output is ready.
    pub fn set_ready(&mut self, ready: Ready) -> Result<(), RtlError> {
        self.instance.set_ready(0, ready)
    }

    /// Queues packets.
    pub fn offer(&mut self, packets: &[RmtOffer]) -> Result<(), RtlError> {
        let mut buffer = OfferBuffer::default();
        for packet in packets {
            let user = packet.sideband.pack().map_err(|e| RtlError::Failed { what: e.to_string() })?;
            buffer.push(0, false, packet.at, &user, &packet.bytes);
        }
        self.instance.offer_buffer(&buffer)
    }

    /// Runs until a condition holds; events are there to be taken afterwards.
    pub fn run(&mut self, until: &Until) -> Result<Stop, RtlError> {
        let stop = self.instance.run(until);
        let (events, replies) = (&mut self.events, &mut self.replies);
        let mut wrong = None;
        event::decode(&top::RMT, self.instance.take_events(), |event| match &event.what {
            What::Reply(words) => match Message::decode(words) {
                Ok(message) => replies.push_back(message),
                Err(error) => wrong = Some(error.to_string()),
            },
            _ => events.push_back(event),
        })
        .map_err(|e| RtlError::Failed { what: e.to_string() })?;
        match wrong {
            Some(what) => Err(RtlError::Failed { what }),
            None => stop,
        }
    }

    /// Runs until all is sent and nothing has happened for `cycles`.
    pub fn run_until_quiet(&mut self, cycles: u32, most: u64) -> Result<(), RtlError> {
        let stop = self.run(&Until { max_cycles: most, quiet_cycles: cycles, ..Until::default() })?;
        if stop.quiet() {
            return Ok(());
        }
        Err(RtlError::Failed { what: format!("not quiet after {most} cycles") })
    }

    /// The oldest event that nobody took.
    pub fn take_event(&mut self) -> Option<RtlEvent> {
        self.events.pop_front()
    }

    /// Queues a write on the ring; `take_reply` has its answer when the pipeline has run.
    pub fn send_write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> u16 {
        self.send(Op::Write, node.number(), table.number(), index, words.to_vec())
    }

    /// The oldest answer that nobody took: sequence number and status.
    pub fn take_reply(&mut self) -> Option<(u16, Status)> {
        self.replies.pop_front().map(|m| (m.sequence, m.status))
    }

    /// Writes rows, one message after another, and waits for the answers. Returns the cycles from the first
    /// word in to the last answer. An answer other than ok is an error that names the row.
    pub fn write_all<'a>(
        &mut self,
        rows: impl IntoIterator<Item = (Node, Table, u32, &'a [u32])>,
    ) -> Result<u64, RtlError> {
        let begin = self.now();
        let mut asked = VecDeque::new();
        let mut words = 0;
        for (node, table, index, row) in rows {
            let sequence = self.send_write(node, table, index, row);
            asked.push_back((sequence, node, table, index));
            words += row.len() as u64 + 3;
        }
        let count = asked.len();
        self.await_replies(count, 8 * words)?;
        for (sequence, node, table, index) in asked {
            let what = || format!("write of {node:?} {}[{index}]", table.name());
            match self.take_reply() {
                Some((found, Status::Ok)) if found == sequence => {}
                Some((_, status)) => {
                    return Err(RtlError::Failed { what: format!("{} answered {status:?}", what()) });
                }
                None => return Err(RtlError::Failed { what: format!("{} was not answered", what()) }),
            }
        }
        Ok(self.now() - begin)
    }

    /// Reads a row, 8 words at a time.
    pub fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, RtlError> {
        let count = table.words().div_ceil(SLICE_WORDS);
        for slice in 0..count as u32 {
            self.send(Op::Read, node.number(), table.number(), index | slice << SLICE_INDEX_BIT, Vec::new());
        }
        self.await_replies(count, 64)?;
        let mut words = Vec::with_capacity(table.words());
        for _ in 0..count {
            let reply = self.replies.pop_front();
            let status = reply.as_ref().map(|m| m.status);
            match reply {
                Some(message) if message.status == Status::Ok => words.extend(message.data),
                _ => {
                    let what = format!("read of {node:?} {}[{index}] answered {status:?}", table.name());
                    return Err(RtlError::Failed { what });
                }
            }
        }
        if words.len() != table.words() {
            let what = format!("{} row of {} words, it has {}", table.name(), words.len(), table.words());
            return Err(RtlError::Failed { what });
        }
        Ok(words)
    }

    /// A counter's present value.
    pub fn counter(&mut self, node: Node, table: Table, index: u32) -> Result<u64, RtlError> {
        let words = self.read_row(node, table, index)?;
        Ok(u64::from(words[0]) | u64::from(words[1]) << 32)
    }

    /// Makes a generation of a module current; false while packets of it are in flight.
    pub fn commit(&mut self, module: u8, generation: u8) -> Result<bool, RtlError> {
        let row = GenerationRow { current: generation & 1 == 1, ..GenerationRow::default() };
        let words = row.pack().map_err(|e| RtlError::Failed { what: e.to_string() })?;
        self.send_write(Node::Stamp, Table::Generation, module.into(), &words);
        self.await_replies(1, 64)?;
        match self.take_reply() {
            Some((_, Status::Ok)) => Ok(true),
            Some((_, Status::Busy)) => Ok(false),
            other => Err(RtlError::Failed { what: format!("commit of module {module} answered {other:?}") }),
        }
    }

    /// Current generation of a module and packets in flight of both.
    pub fn generation(&mut self, module: u8) -> Result<GenerationRow, RtlError> {
        let words = self.read_row(Node::Stamp, Table::Generation, module.into())?;
        GenerationRow::unpack(&words).map_err(|e| RtlError::Failed { what: e.to_string() })
    }

    fn info(&mut self, index: u32) -> Result<u32, RtlError> {
        self.send(Op::Read, Node::System.number(), Table::Info.number(), index, Vec::new());
        self.await_replies(1, 64)?;
        match self.replies.pop_front() {
            Some(m) if m.status == Status::Ok && !m.data.is_empty() => Ok(m.data[0]),
            other => Err(RtlError::Failed { what: format!("the identity answered {other:?}") }),
        }
    }

    /// Writes a register of the system node (`sluice_formats::address::control`).
    pub fn control(&mut self, index: u32, value: u32) -> Result<(), RtlError> {
        self.send(Op::Write, Node::System.number(), Table::Control.number(), index, vec![value]);
        self.await_replies(1, 64)?;
        match self.take_reply() {
            Some((_, Status::Ok)) => Ok(()),
            other => Err(RtlError::Failed { what: format!("control register {index} answered {other:?}") }),
        }
    }

    fn send(&mut self, op: Op, node: u8, table: u8, index: u32, data: Vec<u32>) -> u16 {
        self.sequence = self.sequence.wrapping_add(1);
        let message = Message { op, status: Status::Ok, node, sequence: self.sequence, table, index, data };
        self.instance.send(&message.encode(), true);
        self.sequence
    }

    fn await_replies(&mut self, count: usize, cycles: u64) -> Result<(), RtlError> {
        let most = self.now() + cycles + PATIENCE;
        while self.replies.len() < count {
            let missing = (count - self.replies.len()) as u32;
            let left = most.saturating_sub(self.now());
            if left == 0 {
                return Err(RtlError::Failed { what: format!("{missing} requests on the ring were not answered") });
            }
            self.run(&Until { max_cycles: left, replies: missing, event_bytes: 1 << 24, ..Until::default() })?;
        }
        Ok(())
    }
}
