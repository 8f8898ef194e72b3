//! Configuration messages: what travels on the ring, 32-bit words with a last marker.
//!
//! word 0: op 31:28, status 27:24, node 23:16, sequence 15:0;
//! word 1: table 31:24, index 23:0; then the data words; last: CRC-32C of all before. A write has the whole row, a
//! reply to a read at most 8 words of it. A write's reply and a read's request have no data.

use crate::codes::codes;
use crate::hash::crc32c_words;
use crate::limits::MOST_ROW_WORDS;

codes! {
    /// What is asked, or what an answer answers.
    #[derive(serde::Serialize, serde::Deserialize)]
    Op, "cfg_op", "Op", 4 {
        /// Read one row.
        Read "read" = 1,
        /// Write one row; it becomes visible to packets in one cycle.
        Write "write" = 2,
        /// Answer to a read.
        ReadReply "read_reply" = 9,
        /// Answer to a write.
        WriteReply "write_reply" = 10,
    }
}

codes! {
    /// How a request ended.
    #[derive(serde::Serialize, serde::Deserialize)]
    Status, "cfg_status", "Status", 4 {
        /// Done.
        Ok "ok" = 0,
        /// Packets of the other generation are still in flight; ask again.
        Busy "busy" = 1,
        /// No such table or index.
        BadAddress "bad_address" = 2,
        /// The row has another number of words.
        BadLength "bad_length" = 3,
        /// The table cannot be written.
        ReadOnly "read_only" = 4,
        /// Unknown op.
        BadOp "bad_op" = 5,
        /// The table cannot be read.
        WriteOnly "write_only" = 6,
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub op: Op,
    /// How it ended (requests: `Ok`).
    pub status: Status,
    /// Node number.
    pub node: u8,
    /// Sequence number that an answer repeats.
    pub sequence: u16,
    /// Table number within the node.
    pub table: u8,
    /// Row index, 24 bits.
    pub index: u32,
    /// Row words.
    pub data: Vec<u32>,
}

/// Words that are no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// Too few or too many words.
    #[error("configuration message of {found} words, 3 to {max} are allowed", max = 3 + MOST_ROW_WORDS)]
    Length {
        /// Words found.
        found: usize,
    },
    /// The checksum differs.
    #[error("configuration message: checksum is {found:#010x}, its words give {expected:#010x}")]
    Checksum {
        /// Checksum in the message.
        found: u32,
        /// Checksum of its words.
        expected: u32,
    },
    /// Unknown op or status code.
    #[error("configuration message: unknown {what} code {found}")]
    Code {
        /// "op" or "status".
        what: &'static str,
        /// Code found.
        found: u32,
    },
}

impl Message {
    /// The words on the ring, checksum last.
    pub fn encode(&self) -> Vec<u32> {
        let mut words = vec![
            (self.op as u32) << 28 | (self.status as u32) << 24 | u32::from(self.node) << 16 | u32::from(self.sequence),
            u32::from(self.table) << 24 | (self.index & 0xff_ffff),
        ];
        words.extend(&self.data);
        words.push(crc32c_words(&words));
        words
    }

    /// A message from its words.
    pub fn decode(words: &[u32]) -> Result<Self, MessageError> {
        let n = words.len();
        if !(3..=3 + MOST_ROW_WORDS).contains(&n) {
            return Err(MessageError::Length { found: n });
        }
        let expected = crc32c_words(&words[..n - 1]);
        if words[n - 1] != expected {
            return Err(MessageError::Checksum { found: words[n - 1], expected });
        }
        let unknown = |what, found: u8| MessageError::Code { what, found: found.into() };
        let (op, status) = ((words[0] >> 28) as u8, (words[0] >> 24 & 0xf) as u8);
        let op = Op::from_code(op).ok_or_else(|| unknown("op", op))?;
        let status = Status::from_code(status).ok_or_else(|| unknown("status", status))?;
        Ok(Self {
            op,
            status,
            node: (words[0] >> 16) as u8,
            sequence: words[0] as u16,
            table: (words[1] >> 24) as u8,
            index: words[1] & 0xff_ffff,
            data: words[2..n - 1].to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message {
            op: Op::Write,
            status: Status::Ok,
            node: 2,
            sequence: 0xbeef,
            table: 4,
            index: 0x12_3456,
            data: vec![1, 2, 3],
        }
    }

    #[test]
    fn a_message_comes_back_from_its_words() {
        assert_eq!(Message::decode(&message().encode()).unwrap(), message());
    }

    #[test]
    fn any_single_flipped_bit_is_refused() {
        let words = message().encode();
        for bit in 0..words.len() * 32 {
            let mut bad = words.clone();
            bad[bit / 32] ^= 1 << (bit % 32);
            assert!(Message::decode(&bad).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn short_and_long_messages_are_refused() {
        assert_eq!(Message::decode(&[0, 0]), Err(MessageError::Length { found: 2 }));
        assert_eq!(Message::decode(&[0; 84]), Err(MessageError::Length { found: 84 }));
    }
}
