//! The model of matcher programs: step by step, as docs/design/l7.md says it, with what each step costs.

use crate::tables::Tables;
use crate::view::View;
use serde::Serialize;
use sluice_formats::hash::{crc32c, crc32c_of};
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::compare::L7Bytes;
use sluice_formats::l7::rows::{L7AlternativePart, L7MatchRow, L7MovePart, L7PortRow, L7TargetPart};
use sluice_formats::l7::target::{HASH_BYTES, MOST_MATCH_BYTES, MOST_STEPS, MOST_WIDE_LOG, SEGMENT_BYTES, SLOTS};

/// Which message it is, for groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Session of the sender.
    pub session: u32,
    /// Message ID.
    pub message: u32,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It goes to this queue.
    Queue(u8),
    /// It is dropped.
    Drop,
}

/// A decision and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What becomes of the message.
    pub decision: Decision,
    /// Steps that are charged: compares, and 8 bytes each of what a group hashes.
    pub steps: u32,
    /// Cycles in a matcher's loop.
    pub cycles: u32,
    /// A row was not the module's, or there was no end; the message went to its default.
    pub fault: bool,
}

/// One step, for whoever looks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Row that compared.
    pub row: u16,
    /// Position in the view that it compared at.
    pub position: u16,
    /// The position was past.
    pub past: bool,
    /// Alternative that was hit.
    pub hit: Option<u8>,
}

struct Fault;

/// A message in a matcher.
struct Matcher<'a> {
    tables: &'a Tables,
    port: &'a L7PortRow,
    view: &'a View<'a>,
    identity: Identity,
    position: usize,
    end: usize,
    past: bool,
    compares: u32,
    hashed: u32,
    cycles: u32,
    /// The position is past behind the last move: its window has not been read.
    unread: bool,
}

/// Dispatches a message that came to `port`. `message_type` is 0 for a raw application.
pub fn run(
    tables: &Tables,
    port: &L7PortRow,
    message_type: u8,
    identity: Identity,
    view: &View,
    mut seen: impl FnMut(Step),
) -> Verdict {
    let mut matcher = Matcher {
        tables,
        port,
        view,
        identity,
        position: 0,
        end: 0,
        past: true,
        compares: 0,
        hashed: 0,
        cycles: 0,
        unread: false,
    };
    let (decision, fault) = match matcher.walk(message_type, &mut seen) {
        Ok(decision) => (decision, false),
        Err(Fault) => (matcher.goal(port.otherwise).unwrap_or(Decision::Drop), true),
    };
    Verdict { decision, steps: matcher.compares + matcher.hashed, cycles: matcher.cycles, fault }
}

impl Matcher<'_> {
    fn walk(&mut self, message_type: u8, seen: &mut impl FnMut(Step)) -> Result<Decision, Fault> {
        if u16::from(message_type) >= self.port.types {
            return self.goal(self.port.otherwise);
        }
        let start = self.tables.starts.get(usize::from(self.port.start) + usize::from(message_type)).ok_or(Fault)?;
        self.owned(start.module_id)?;
        let mut target = start.target;
        self.go_on(target, start.step, 0);
        while let Some(number) = self.row(target)? {
            let row = self.tables.rows.get(number).ok_or(Fault)?;
            self.owned(row.module_id)?;
            self.compares += 1;
            if self.compares > MOST_STEPS || usize::from(row.length) > self.tables.shape.bytes {
                return Err(Fault);
            }
            self.cycles += 2;
            let hit = self.compare(row);
            seen(Step {
                row: number as u16,
                position: self.position as u16,
                past: self.past,
                hit: hit.map(|n| n as u8),
            });
            target = match hit {
                Some(n) => {
                    let target = row.alternatives[n].target;
                    self.go_on(target, row.step, usize::from(row.length));
                    target
                }
                None => {
                    if row.miss.is_row() {
                        self.cycles += 2;
                        self.unread = false;
                    }
                    row.miss
                }
            };
        }
        self.goal(target)
    }

    fn owned(&self, module: u8) -> Result<(), Fault> {
        if module == self.port.module_id { Ok(()) } else { Err(Fault) }
    }

    /// The row that a target names; none for one that ends the walk.
    fn row(&mut self, target: L7TargetPart) -> Result<Option<usize>, Fault> {
        match target.goal().ok_or(Fault)? {
            L7Goal::Row => Ok(Some(usize::from(target.number))),
            L7Goal::Rows if u32::from(target.log) <= MOST_WIDE_LOG => {
                // The window that was read for the move is not the one to hash.
                self.cycles += if self.unread { 4 } else { 2 };
                Ok(Some(usize::from(target.number) + wide_row(self.ahead(), target)))
            }
            L7Goal::Rows => Err(Fault),
            _ => Ok(None),
        }
    }

    /// The first bytes at the position, zeros beyond the view.
    fn ahead<const BYTES: usize>(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let rest = self.view.bytes().get(self.position..).unwrap_or(&[]);
        let some = rest.len().min(BYTES);
        bytes[..some].copy_from_slice(&rest[..some]);
        bytes
    }

    fn compare(&self, row: &L7MatchRow) -> Option<usize> {
        let behind = self.position + usize::from(row.length);
        let inside = !self.past && behind <= self.end;
        let bytes = L7Bytes::of(&self.ahead::<MOST_MATCH_BYTES>()[..usize::from(row.length)]);
        let at_end = behind == self.end && !self.view.is_open();
        let hit = |a: &L7AlternativePart| a.anyway || inside && a.bytes == bytes && (!a.ends || at_end);
        row.alternatives.iter().position(|a| a.valid && hit(a))
    }

    /// A move behind `compared` bytes, where a row comes next: nothing looks at the position otherwise.
    fn go_on(&mut self, target: L7TargetPart, step: L7MovePart, compared: usize) {
        if target.is_row() {
            self.go(step, compared);
            self.unread = self.past;
        }
    }

    fn go(&mut self, step: L7MovePart, compared: usize) {
        // Past, there is nothing to move over before the next field.
        if self.past && step.field == 0 {
            return;
        }
        let mut position = self.position + compared;
        if step.field != 0 {
            let Some(field) = self.view.field(step.field) else {
                (self.position, self.end, self.past) = (0, 0, true);
                return;
            };
            (position, self.position, self.end) = (field.start, field.start, field.end);
            self.past = false;
        }
        position += usize::from(step.skip);
        let stop = match step.stop {
            0 => None,
            n => Some(self.port.stops.get(usize::from(n) - 1).filter(|_| n <= self.port.stop_count).copied()),
        };
        if let Some(stop) = stop {
            let rest = self.view.bytes().get(position..self.end).unwrap_or(&[]);
            let found = stop.and_then(|stop| rest.iter().position(|&b| b == stop));
            let looked = found.map_or(rest.len(), |at| at + 1);
            // A segment at a time, from that of the first byte that it looks at to that of the last one.
            let last = position + looked.max(1) - 1;
            self.cycles += 2 * (last / SEGMENT_BYTES - position / SEGMENT_BYTES + 1) as u32;
            match found {
                Some(at) => position += at + 1,
                None => self.past = true,
            }
        }
        if position > self.end {
            self.past = true;
        }
        if !self.past {
            self.position = position;
        }
    }

    /// What a target that ends the walk stands for.
    fn goal(&mut self, target: L7TargetPart) -> Result<Decision, Fault> {
        let target = if target.goal() == Some(L7Goal::Default) { self.port.otherwise } else { target };
        match target.goal().ok_or(Fault)? {
            L7Goal::Queue => Ok(Decision::Queue(target.number as u8)),
            L7Goal::Group => {
                let group = self.tables.groups.get(usize::from(target.number)).ok_or(Fault)?;
                self.owned(group.module_id)?;
                let hash = match group.field {
                    0 => of_message(self.identity),
                    field => {
                        let value = self.view.value(field).unwrap_or(&[]);
                        let steps = value.len().div_ceil(HASH_BYTES).max(1) as u32;
                        self.hashed += steps;
                        self.cycles += 2 * steps;
                        of_field(value)
                    }
                };
                Ok(Decision::Queue(group.slots[hash as usize % SLOTS]))
            }
            _ => Ok(Decision::Drop),
        }
    }
}

/// The number of a row among wide ones, from the 8 bytes at the position.
pub fn wide_row(ahead: [u8; HASH_BYTES], target: L7TargetPart) -> usize {
    let mut bytes = ahead;
    bytes[usize::from(target.length).min(HASH_BYTES)..].fill(0);
    (crc32c(&bytes).rotate_right(target.turn.into()) & ((1 << target.log) - 1)) as usize
}

/// Hash of a message's identity, as on the wire.
pub fn of_message(identity: Identity) -> u32 {
    crc32c(&(u64::from(identity.session) << 32 | u64::from(identity.message)).to_be_bytes())
}

/// Hash of a field's value for a group: filled up with zeros to a multiple of 8 bytes, at least 8.
pub fn of_field(value: &[u8]) -> u32 {
    let bytes = value.len().div_ceil(HASH_BYTES).max(1) * HASH_BYTES;
    crc32c_of(value.iter().copied().chain(std::iter::repeat(0)).take(bytes))
}
