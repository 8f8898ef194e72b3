//! The words of the published matcher (dissertation, 4.5.1 and figure 4.8): what each means, and programs from and to them.
//!
//! A message begins with RAM word 0. A RAM word moves and says how many bytes are looked up; the CAM word that has them leads to the RAM word
//! behind its own number. A RAM word that moves over 0 bytes and looks up 0 ends the walk; its state is the queue. What the text leaves open: words
//! of bits are as its list of fields, the first one highest; an inspection reads over its bytes; bytes beyond it are zero; the lowest CAM word counts;
//! a miss goes to the default.

mod read;
mod write;

pub use read::{ReadError, read};
pub use write::{WriteError, write};

use crate::step::Decision;
use crate::view::View;

/// RAM and CAM have so many words each.
pub const WORDS: usize = 512;
/// Bytes to skip that stand for: up to the next `/`, and over it.
pub const UNTIL: u8 = 0xff;
/// More bytes than this no word skips.
pub const MOST_SKIP: u8 = 63;
/// The stop byte.
pub const STOP: u8 = b'/';

/// A word of the RAM, 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RamWord {
    /// Field that is looked at, in bits 31:24.
    pub field: u8,
    /// Bytes to skip, or [`UNTIL`], in bits 23:16.
    pub skip: u8,
    /// Bytes to look up, in bits 15:8.
    pub length: u8,
    /// State to look up with; of an ending word the queue. Bits 7:0.
    pub state: u8,
}

/// A word of the CAM, 96 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CamWord {
    /// Application ID, in bits 95:88.
    pub app_id: u8,
    /// Message type, in bits 87:80.
    pub msg_type: u8,
    /// Field, in bits 79:72.
    pub field: u8,
    /// State, in bits 71:64.
    pub state: u8,
    /// Bytes, the first in bits 63:56.
    pub bytes: [u8; 8],
}

/// Both memories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// RAM words.
    pub ram: Vec<RamWord>,
    /// CAM words; the RAM word that a word leads to is the one behind its number.
    pub cam: Vec<CamWord>,
}

impl RamWord {
    /// From its bits.
    pub fn from_bits(bits: u32) -> Self {
        let [field, skip, length, state] = bits.to_be_bytes();
        Self { field, skip, length, state }
    }

    /// Its bits.
    pub fn bits(self) -> u32 {
        u32::from_be_bytes([self.field, self.skip, self.length, self.state])
    }

    /// Whether the walk ends here.
    pub fn ends(self) -> bool {
        self.skip == 0 && self.length == 0
    }
}

impl CamWord {
    /// From its bits; those above bit 95 do not count.
    pub fn from_bits(bits: u128) -> Self {
        let all = bits.to_be_bytes();
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&all[8..]);
        Self { app_id: all[4], msg_type: all[5], field: all[6], state: all[7], bytes }
    }

    /// Its bits.
    pub fn bits(self) -> u128 {
        let high = u32::from_be_bytes([self.app_id, self.msg_type, self.field, self.state]);
        u128::from(high) << 64 | u128::from(u64::from_be_bytes(self.bytes))
    }
}

impl Words {
    /// What the published matcher does with a message; none is its default. It gives up after so many words.
    pub fn run(&self, app_id: u8, msg_type: u8, view: &View, most: usize) -> Option<Decision> {
        let (mut at, mut field, mut end) = (0, 0, 0);
        let mut number = 0;
        for _ in 0..most {
            let word = self.ram.get(number)?;
            if word.ends() {
                return Some(Decision::Queue(word.state));
            }
            if word.field != field {
                let range = view.field(word.field)?;
                (field, at, end) = (word.field, range.start, range.end);
            }
            at += match word.skip {
                UNTIL => view.bytes().get(at..end)?.iter().position(|&b| b == STOP)? + 1,
                skip => usize::from(skip),
            };
            let value = view.bytes().get(at..end)?.get(..usize::from(word.length))?;
            at += value.len();
            let mut bytes = [0; 8];
            bytes.get_mut(..value.len())?.copy_from_slice(value);
            let key = CamWord { app_id, msg_type, field, state: word.state, bytes };
            number = 1 + self.cam.iter().position(|cam| *cam == key)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 8 of the paper: `*/AAA.BB`.
    pub(super) fn figure_8() -> Words {
        let ram = |field, skip, length, state| RamWord { field, skip, length, state };
        let cam = |state, text: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..text.len()].copy_from_slice(text);
            CamWord { app_id: 1, msg_type: 2, field: 3, state, bytes }
        };
        Words {
            ram: vec![ram(3, UNTIL, 3, 0), ram(3, 1, 2, 1), ram(3, 0, 0, 2)],
            cam: vec![cam(0, b"AAA"), cam(1, b"BB")],
        }
    }

    #[test]
    fn the_example_of_the_paper_goes_to_its_queue() {
        let words = figure_8();
        for (value, queue) in [
            (&b"xy/AAAzBB"[..], Some(2)),
            (b"/AAA.BBmore", Some(2)),
            (b"AAA.BB", None),
            (b"/AAABB", None),
            (b"/AAA", None),
        ] {
            let payload = [&[3, value.len() as u8], value].concat();
            let view = View::of_message(&payload, 0).unwrap();
            assert_eq!(words.run(1, 2, &view, 100), queue.map(Decision::Queue), "{value:?}");
            assert_eq!(words.run(1, 1, &view, 100), None);
        }
    }

    #[test]
    fn bits_stand_as_the_list_of_fields() {
        let cam = CamWord { app_id: 1, msg_type: 2, field: 3, state: 4, bytes: *b"ABCDEFGH" };
        assert_eq!(cam.bits(), 0x0102_0304_4142_4344_4546_4748);
        assert_eq!(CamWord::from_bits(cam.bits()), cam);
        let ram = RamWord { field: 1, skip: 2, length: 3, state: 4 };
        assert_eq!((ram.bits(), RamWord::from_bits(0x0102_0304)), (0x0102_0304, ram));
    }
}
