//! Published words to rows.

use super::{CamWord, MOST_SKIP, RamWord, UNTIL, Words};
use crate::compile::place;
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::compare::L7Bytes;
use sluice_formats::l7::rows::{L7AlternativePart, L7MatchRow, L7MovePart, L7StartRow, L7TargetPart};
use sluice_formats::l7::target::{ALTERNATIVES, FIELDS, MATCH_BYTES};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Words that are no program of this matcher.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A RAM word's field is none.
    #[error("RAM word {word}: field {found}, expected 1 to {FIELDS}")]
    Field {
        /// RAM word.
        word: usize,
        /// Its field.
        found: u8,
    },
    /// It skips too much.
    #[error("RAM word {word}: it skips {found} bytes, expected at most {MOST_SKIP}, or {UNTIL} for up to the next `/`")]
    Skip {
        /// RAM word.
        word: usize,
        /// Bytes that it skips.
        found: u8,
    },
    /// It looks up too much.
    #[error("RAM word {word}: it looks up {found} bytes, expected at most {MATCH_BYTES}")]
    Length {
        /// RAM word.
        word: usize,
        /// Bytes that it looks up.
        found: u8,
    },
    /// A CAM word leads to a RAM word that is not there.
    #[error("CAM word {cam} leads to RAM word {}, the RAM has {ram}", cam + 1)]
    NoWord {
        /// CAM word.
        cam: usize,
        /// Words of the RAM.
        ram: usize,
    },
    /// There is no word to begin with.
    #[error("the RAM has no word 0")]
    Empty,
    /// More rows than targets can name.
    #[error("the words take more than {0} rows")]
    Rows(usize),
}

impl ReadError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        "E0873"
    }
}

/// Rows behind those that are there, and the start row of each application ID and message type that CAM words name.
pub fn read(
    words: &Words,
    rows: &mut Vec<L7MatchRow>,
    room: usize,
) -> Result<BTreeMap<(u8, u8), L7StartRow>, ReadError> {
    check(words)?;
    let mut types: Vec<(u8, u8)> = words.cam.iter().map(|c| (c.app_id, c.msg_type)).collect();
    types.sort_unstable();
    types.dedup();
    let mut starts = BTreeMap::new();
    for of in types {
        let mut reader = Reader { words, of, rows, room, known: HashMap::new(), queue: VecDeque::new() };
        let first = words.ram[0];
        let target = reader.target(0, first.field)?;
        let step = if first.ends() { L7MovePart::default() } else { step(first, 0) };
        reader.all()?;
        starts.insert(of, L7StartRow { module_id: 0, step, target });
    }
    Ok(starts)
}

fn check(words: &Words) -> Result<(), ReadError> {
    if words.ram.is_empty() {
        return Err(ReadError::Empty);
    }
    for (word, ram) in words.ram.iter().enumerate().filter(|(_, ram)| !ram.ends()) {
        if !(1..=FIELDS).contains(&usize::from(ram.field)) {
            return Err(ReadError::Field { word, found: ram.field });
        }
        if ram.skip > MOST_SKIP && ram.skip != UNTIL {
            return Err(ReadError::Skip { word, found: ram.skip });
        }
        if usize::from(ram.length) > MATCH_BYTES {
            return Err(ReadError::Length { word, found: ram.length });
        }
    }
    match words.cam.len().checked_sub(words.ram.len()) {
        None => Ok(()),
        Some(_) => Err(ReadError::NoWord { cam: words.ram.len() - 1, ram: words.ram.len() }),
    }
}

/// The move of a RAM word behind a look-up in `field`; 0 is none.
fn step(word: RamWord, field: u8) -> L7MovePart {
    let (skip, stop) = if word.skip == UNTIL { (0, 1) } else { (word.skip, 0) };
    L7MovePart { field: if word.field == field { 0 } else { word.field }, skip, stop }
}

/// What is looked up, with which a row is the same: field, bytes, state.
type Look = (u8, u8, u8);

/// CAM words of a state with their numbers.
type Found = Vec<(usize, CamWord)>;

struct Reader<'a> {
    words: &'a Words,
    of: (u8, u8),
    rows: &'a mut Vec<L7MatchRow>,
    room: usize,
    known: HashMap<Look, L7TargetPart>,
    queue: VecDeque<(Look, usize, Found, place::Placed)>,
}

impl Reader<'_> {
    /// Where a RAM word leads whose move is done.
    fn target(&mut self, number: usize, field: u8) -> Result<L7TargetPart, ReadError> {
        let word = self.words.ram[number];
        if word.ends() {
            return Ok(L7TargetPart::new(L7Goal::Queue, word.state.into()));
        }
        debug_assert_eq!(word.field, field);
        let look = (word.field, word.length, word.state);
        if let Some(&target) = self.known.get(&look) {
            return Ok(target);
        }
        let mut keys = Vec::new();
        let mut found = Found::new();
        for (number, cam) in self.words.cam.iter().enumerate() {
            let here = (cam.app_id, cam.msg_type) == self.of && (cam.field, cam.state) == (word.field, word.state);
            let (bytes, beyond) = cam.bytes.split_at(usize::from(word.length));
            // Bytes beyond those that are looked up are zero, and of equal words the lowest counts.
            if here && beyond.iter().all(|&b| b == 0) && found.iter().all(|(_, other)| other.bytes != cam.bytes) {
                keys.push((bytes.to_vec(), false));
                found.push((number, *cam));
            }
        }
        let target = self.lay(look, found, &keys)?;
        self.known.insert(look, target);
        Ok(target)
    }

    /// Rows for alternatives; those without a place are tried on a miss.
    fn lay(
        &mut self,
        look: Look,
        found: Vec<(usize, CamWord)>,
        keys: &[place::Key],
    ) -> Result<L7TargetPart, ReadError> {
        let first = self.rows.len();
        let placed = place::place(keys, usize::from(look.1), ALTERNATIVES, self.room.saturating_sub(first));
        if first + placed.rows.len() > self.room {
            return Err(ReadError::Rows(self.room));
        }
        self.rows.resize(first + placed.rows.len(), L7MatchRow::default());
        let target = L7TargetPart { number: first as u16, ..placed.target };
        self.queue.push_back((look, first, found, placed));
        Ok(target)
    }

    fn all(&mut self) -> Result<(), ReadError> {
        while let Some((look, first, found, placed)) = self.queue.pop_front() {
            let later: Vec<_> = placed.over.iter().map(|&n| found[n]).collect();
            let miss = match later.is_empty() {
                true => L7TargetPart::default(),
                false => {
                    let keys: Vec<_> =
                        later.iter().map(|(_, cam)| (cam.bytes[..usize::from(look.1)].to_vec(), false)).collect();
                    self.lay(look, later, &keys)?
                }
            };
            let next = |n: usize| self.words.ram[found[n].0 + 1];
            let placed_here = placed.rows.iter().flatten().copied().filter(|&n| !next(n).ends());
            let mut steps: Vec<L7MovePart> = placed_here.map(|n| step(next(n), look.0)).collect();
            steps.sort_unstable_by_key(|s| (s.field, s.skip, s.stop));
            steps.dedup();
            // Alternatives that move differently do it in a row of their own.
            let common = if let [one] = steps[..] { one } else { L7MovePart::default() };
            for (n, alternatives) in placed.rows.iter().enumerate() {
                let mut row = L7MatchRow { length: look.1, step: common, miss, ..L7MatchRow::default() };
                for (at, &k) in alternatives.iter().enumerate() {
                    let (number, cam) = found[k];
                    let target = self.onward(number + 1, look.0, common)?;
                    let bytes = L7Bytes::of(&cam.bytes);
                    row.alternatives[at] =
                        L7AlternativePart { valid: true, bytes, target, ..L7AlternativePart::default() };
                }
                self.rows[first + n] = row;
            }
        }
        Ok(())
    }

    /// Where a RAM word leads behind a look-up in `field` whose row moves by `common`.
    fn onward(&mut self, number: usize, field: u8, common: L7MovePart) -> Result<L7TargetPart, ReadError> {
        let word = self.words.ram[number];
        let target = self.target(number, word.field)?;
        let own = step(word, field);
        if word.ends() || own == common {
            return Ok(target);
        }
        if self.rows.len() == self.room {
            return Err(ReadError::Rows(self.room));
        }
        let alternative = L7AlternativePart { valid: true, anyway: true, target, ..L7AlternativePart::default() };
        let mut row = L7MatchRow { step: own, ..L7MatchRow::default() };
        row.alternatives[0] = alternative;
        self.rows.push(row);
        let number = (self.rows.len() - 1) as u16;
        Ok(L7TargetPart::new(L7Goal::Row, number))
    }
}
