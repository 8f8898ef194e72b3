//! Rows to published words.

use super::{CamWord, MOST_SKIP, RamWord, STOP, UNTIL, WORDS, Words};
use crate::compile::Program;
use crate::rules::{Application, Goal, Kind, Rules};
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::{L7AlternativePart, L7MatchRow, L7MovePart, L7TargetPart};
use sluice_formats::l7::target::MATCH_BYTES;
use std::collections::{BTreeMap, VecDeque};

/// A program that the published matcher cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct WriteError {
    /// Row, application or message type.
    pub place: String,
    /// What its words cannot say.
    pub what: String,
}

impl WriteError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        "E0874"
    }

    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }

    fn row(row: usize, what: impl Into<String>) -> Self {
        Self::new(format!("row {row}"), what)
    }
}

/// The words of a program. Defaults are not in them: a message that no rule takes is a miss.
pub fn write(program: &Program, rules: &Rules) -> Result<Words, WriteError> {
    let mut words = Words::default();
    let mut begin: Option<RamWord> = None;
    for (application, compiled) in rules.applications.iter().zip(&program.applications) {
        let Kind::Application(app_id) = application.kind else {
            let what = "only applications have words: it is an endpoint or a raw application";
            return Err(WriteError::new(format!("`{}`", application.name), what));
        };
        for message in application.types.iter().filter(|m| !m.rules.is_empty()) {
            let start = &program.starts[usize::from(compiled.start) + usize::from(message.number)];
            let mut writer = Writer {
                program,
                application,
                of: (app_id, message.number),
                words: &mut words,
                states: BTreeMap::new(),
                queue: VecDeque::new(),
            };
            let place = format!("message `{}` of `{}`", message.name, application.name);
            let word = writer.word(start.step, start.step.field, start.target, &place)?;
            match begin {
                // All types begin with RAM word 0.
                Some(other) if other != word => {
                    return Err(WriteError::new(
                        place,
                        "it begins otherwise than the types before, and there is one first word for all",
                    ));
                }
                None => begin = Some(word),
                Some(_) => {}
            }
            if words_begin(&mut writer, word) {
                writer.all()?;
            }
        }
    }
    words.ram.truncate(1 + words.cam.len());
    if words.ram.is_empty() {
        words.ram.push(begin.unwrap_or_default());
    }
    if words.ram.len() > WORDS || words.cam.len() > WORDS {
        let what =
            format!("{} RAM words and {} CAM words, there are {WORDS} of each", words.ram.len(), words.cam.len());
        return Err(WriteError::new("the program", what));
    }
    Ok(words)
}

/// Puts the first word; whether more follow.
fn words_begin(writer: &mut Writer<'_>, word: RamWord) -> bool {
    if writer.words.ram.is_empty() {
        writer.words.ram.push(word);
    }
    !word.ends()
}

struct Writer<'a> {
    program: &'a Program,
    application: &'a Application,
    of: (u8, u8),
    words: &'a mut Words,
    /// Number of a state by its first row and the field that it is in.
    states: BTreeMap<(u16, u8), u8>,
    queue: VecDeque<(L7TargetPart, u8)>,
}

impl Writer<'_> {
    /// The RAM word of a move that leads to a target; the position is then in `field`.
    fn word(&mut self, step: L7MovePart, field: u8, target: L7TargetPart, place: &str) -> Result<RamWord, WriteError> {
        let no = |what: &str| Err(WriteError::new(place, what));
        let rows = match target.goal() {
            Some(L7Goal::Queue) => return Ok(RamWord { field, skip: 0, length: 0, state: target.number as u8 }),
            Some(L7Goal::Default) => match self.application.default {
                Goal::Queue(queue) => return Ok(RamWord { field, skip: 0, length: 0, state: queue }),
                _ => return no("a rule leads to a default that is no queue"),
            },
            Some(L7Goal::Row | L7Goal::Rows) => target,
            _ => return no("only queues are goals of words"),
        };
        let first = &self.program.rows[usize::from(rows.number)];
        if let [L7AlternativePart { valid: true, anyway: true, target, .. }, ..] = *first.alternatives {
            if step == L7MovePart::default() || first.step.field != 0 {
                let field = if first.step.field == 0 { field } else { first.step.field };
                return self.word(first.step, field, target, place);
            }
            return no("it moves twice");
        }
        let skip = match (step.skip, step.stop) {
            (skip, 0) if skip <= MOST_SKIP => skip,
            (0, stop) if self.application.stops.get(usize::from(stop) - 1) == Some(&STOP) => UNTIL,
            (_, 0) => return no("it skips more than 63 bytes"),
            (0, _) => return no("its stop byte is not `/`"),
            _ => return no("it skips bytes and then to a stop byte"),
        };
        if skip == 0 && first.length == 0 {
            return no("it neither skips nor compares, which ends a walk");
        }
        let next = self.states.len();
        let state = *self.states.entry((rows.number, field)).or_insert_with(|| {
            self.queue.push_back((rows, field));
            next as u8
        });
        if self.states.len() > 256 {
            return no("it has more than 256 states");
        }
        Ok(RamWord { field, skip, length: first.length, state })
    }

    /// The words of all states.
    fn all(&mut self) -> Result<(), WriteError> {
        while let Some((rows, field)) = self.queue.pop_front() {
            let state = self.states[&(rows.number, field)];
            let mut at = rows;
            loop {
                let first = at.rows().start;
                for n in at.rows() {
                    self.row(n, &self.program.rows[n], state, field)?;
                }
                let row = &self.program.rows[first];
                // What is tried in turn at the same place are more words of the state.
                let length = row.length;
                at = match row.miss.goal() {
                    Some(L7Goal::Default) => break,
                    Some(L7Goal::Row | L7Goal::Rows) => row.miss,
                    _ => return Err(WriteError::row(first, "a miss that goes on, not to the default")),
                };
                let next = &self.program.rows[usize::from(at.number)];
                if next.length != length || next.alternatives[0].anyway {
                    return Err(WriteError::row(first, "a miss that goes on to compare other bytes"));
                }
            }
        }
        Ok(())
    }

    fn row(&mut self, number: usize, row: &L7MatchRow, state: u8, field: u8) -> Result<(), WriteError> {
        for alternative in row.alternatives.iter().filter(|a| a.valid) {
            if alternative.ends {
                return Err(WriteError::row(number, "an end of the field"));
            }
            let behind = if row.step.field == 0 { field } else { row.step.field };
            let word = self.word(row.step, behind, alternative.target, &format!("row {number}"))?;
            let (app_id, msg_type) = self.of;
            if usize::from(row.length) > MATCH_BYTES {
                return Err(WriteError::row(number, "more than 8 bytes"));
            }
            let bytes = alternative.bytes.low().to_le_bytes();
            self.words.cam.push(CamWord { app_id, msg_type, field, state, bytes });
            self.words.ram.push(word);
        }
        Ok(())
    }
}
