//! Rows written to, and read from, a top that is driven by one owner alone: one after the other, each answered before the next.

use crate::plugin::boundary::{Instance, Until};
use crate::plugin::error::RtlError;
use crate::plugin::event::{What, decode};
use crate::plugin::top::Top;
use sluice_formats::row::{Row, RowError};
use sluice_formats::{Message, Op, Status, Table};

/// Cycles for an answer of the ring.
const ANSWER: u64 = 50_000;

/// Why a row was not written, or not read.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The simulation.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// A row that does not fit its layout.
    #[error(transparent)]
    Row(#[from] RowError),
    /// It was refused, or not answered.
    #[error("row {index} of {table}: {what}")]
    Refused {
        /// Table.
        table: &'static str,
        /// Row.
        index: u32,
        /// The answer.
        what: String,
    },
}

/// Writes and reads rows, each to the node that holds its table.
#[derive(Debug)]
pub(crate) struct RowWriter {
    top: &'static Top,
    sequence: u16,
}

impl RowWriter {
    /// Of a top to which nobody else sends.
    pub fn new(top: &'static Top) -> Self {
        Self { top, sequence: 0 }
    }

    /// Writes a row and waits for the answer. What else happens meanwhile is not told.
    pub fn write(&mut self, rtl: &mut Instance, table: Table, index: u32, row: &impl Row) -> Result<(), WriteError> {
        self.write_words(rtl, table, index, row.pack()?)
    }

    /// The same of a row's words.
    pub fn write_words(
        &mut self,
        rtl: &mut Instance,
        table: Table,
        index: u32,
        data: Vec<u32>,
    ) -> Result<(), WriteError> {
        self.ask(rtl, Op::Write, table, index, data).map(drop)
    }

    /// The words of a row. What else happens meanwhile is not told.
    pub fn read_words(&mut self, rtl: &mut Instance, table: Table, index: u32) -> Result<Vec<u32>, WriteError> {
        self.ask(rtl, Op::Read, table, index, Vec::new())
    }

    fn ask(
        &mut self,
        rtl: &mut Instance,
        op: Op,
        table: Table,
        index: u32,
        data: Vec<u32>,
    ) -> Result<Vec<u32>, WriteError> {
        let refused = |what: String| WriteError::Refused { table: table.name(), index, what };
        self.sequence = self.sequence.wrapping_add(1);
        let (status, node) = (Status::Ok, table.node().number());
        let message = Message { op, status, node, sequence: self.sequence, table: table.number(), index, data };
        rtl.send(&message.encode(), true);
        rtl.run(&Until { replies: 1, max_cycles: ANSWER, ..Until::default() })?;
        let mut answer = None;
        let events = rtl.take_events().to_vec();
        decode(self.top, &events, |event| {
            if let What::Reply(words) = event.what {
                answer = Some(Message::decode(&words).map_err(|e| e.to_string()));
            }
        })
        .map_err(|e| RtlError::Failed { what: e.to_string() })?;
        match answer.ok_or_else(|| refused("no answer".into()))?.map_err(refused)? {
            Message { status: Status::Ok, data, .. } => Ok(data),
            Message { status, .. } => Err(refused(format!("{status:?}"))),
        }
    }
}
