//! The fast model: a port's program, prepared for dispatch in software. It gives what [`step::run`](crate::step::run) gives, but for cycles.

use crate::step::{Decision, Identity, Verdict, of_field, of_message, wide_row};
use crate::tables::Tables;
use crate::view::View;
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::{L7GroupRow, L7MovePart, L7PortRow, L7TargetPart};
use sluice_formats::l7::target::{HASH_BYTES, MOST_MATCH_BYTES, MOST_STEPS, MOST_WIDE_LOG, SLOTS};

/// Where a step goes.
#[derive(Clone, Copy, Debug)]
enum Next {
    Done(End),
    Row(u16),
    Rows(L7TargetPart),
    Fault,
}

/// What ends the walk.
#[derive(Clone, Copy, Debug)]
enum End {
    Queue(u8),
    Drop,
    Group(u16),
}

#[derive(Clone, Copy, Debug)]
struct Row {
    length: u8,
    /// Its alternatives: from this one on, so many.
    first: u32,
    count: u8,
    mask: u64,
    go: Go,
    miss: Next,
}

#[derive(Clone, Copy, Debug)]
struct Alternative {
    /// The first 8 bytes.
    bytes: u64,
    /// Bytes behind them, where the row compares more.
    rest: [u8; MOST_MATCH_BYTES - HASH_BYTES],
    ends: bool,
    always: bool,
    next: Next,
}

#[derive(Clone, Copy, Debug)]
struct Go {
    field: u8,
    skip: u8,
    stop: Stop,
}

#[derive(Clone, Copy, Debug)]
enum Stop {
    None,
    At(u8),
    /// One that the application does not have: it never comes.
    Never,
}

/// A port with all that its messages may meet.
#[derive(Clone, Debug)]
pub struct Fast {
    rows: Vec<Option<Row>>,
    /// Of all rows, one row's behind the other's.
    alternatives: Vec<Alternative>,
    /// Bytes that a row compares at most.
    compare_bytes: usize,
    /// By message type.
    starts: Vec<Option<(Go, Next)>>,
    groups: Vec<Option<L7GroupRow>>,
    otherwise: Option<End>,
}

struct Place {
    position: usize,
    end: usize,
    past: bool,
}

impl Fast {
    /// Prepares a port's program. Rows of other modules are faults, as in the tables.
    pub fn new(tables: &Tables, port: &L7PortRow) -> Self {
        // A default that is a row, or the default again, drops.
        let otherwise = match port.otherwise.goal() {
            None => None,
            Some(L7Goal::Queue) => Some(End::Queue(port.otherwise.number as u8)),
            Some(L7Goal::Group) => Some(End::Group(port.otherwise.number)),
            Some(_) => Some(End::Drop),
        };
        let go = |step: L7MovePart| Go {
            field: step.field,
            skip: step.skip,
            stop: match usize::from(step.stop) {
                0 => Stop::None,
                n if step.stop <= port.stop_count => port.stops.get(n - 1).map_or(Stop::Never, |&b| Stop::At(b)),
                _ => Stop::Never,
            },
        };
        let own = |module: u8| module == port.module_id;
        let mut alternatives = Vec::new();
        let rows = tables.rows.iter().map(|row| {
            own(row.module_id).then(|| {
                let first = alternatives.len();
                alternatives.extend(row.alternatives.iter().filter(|a| a.valid).map(|a| Alternative {
                    bytes: a.bytes.low(),
                    rest: std::array::from_fn(|n| a.bytes.0[HASH_BYTES + n]),
                    ends: a.ends,
                    always: a.anyway,
                    next: next(a.target, otherwise),
                }));
                Row {
                    length: row.length,
                    first: first as u32,
                    count: (alternatives.len() - first) as u8,
                    mask: match 8 * u32::from(row.length) {
                        0 => 0,
                        bits => u64::MAX >> 64_u32.saturating_sub(bits),
                    },
                    go: go(row.step),
                    miss: next(row.miss, otherwise),
                }
            })
        });
        let rows = rows.collect();
        let starts = (0..port.types).map(|n| {
            let row = tables.starts.get(usize::from(port.start) + usize::from(n))?;
            own(row.module_id).then(|| (go(row.step), next(row.target, otherwise)))
        });
        let groups = tables.groups.iter().map(|g| own(g.module_id).then_some(*g));
        let (starts, groups, compare_bytes) = (starts.collect(), groups.collect(), tables.shape.bytes);
        Self { rows, alternatives, compare_bytes, starts, groups, otherwise }
    }

    /// Dispatches a message; cycles are 0.
    pub fn run(&self, message_type: u8, identity: Identity, view: &View) -> Verdict {
        let (mut steps, mut hashed) = (0, 0);
        let end = match self.starts.get(usize::from(message_type)) {
            Some(start) => self.walk(*start, view, &mut steps),
            None => self.otherwise,
        };
        let decided = end.and_then(|end| self.decision(end, identity, view, &mut hashed));
        let decision = decided.or_else(|| self.decision(self.otherwise?, identity, view, &mut hashed));
        let fault = decided.is_none();
        Verdict { decision: decision.unwrap_or(Decision::Drop), steps: steps + hashed, cycles: 0, fault }
    }

    fn walk(&self, start: Option<(Go, Next)>, view: &View, steps: &mut u32) -> Option<End> {
        let (go, mut next) = start?;
        let mut place = Place { position: 0, end: 0, past: true };
        place.go(go, 0, view);
        loop {
            let number = match next {
                Next::Done(end) => return Some(end),
                Next::Row(row) => usize::from(row),
                Next::Rows(target) => usize::from(target.number) + wide_row(place.ahead(view).to_le_bytes(), target),
                Next::Fault => return None,
            };
            let row = self.rows.get(number)?.as_ref()?;
            *steps += 1;
            if *steps > MOST_STEPS || usize::from(row.length) > self.compare_bytes {
                return None;
            }
            let behind = place.position + usize::from(row.length);
            let inside = !place.past && behind <= place.end;
            let at_end = behind == place.end && !view.is_open();
            let bytes = place.ahead(view) & row.mask;
            let first = row.first as usize;
            let is_hit = |a: &&Alternative| {
                a.always
                    || inside
                        && a.bytes == bytes
                        && (!a.ends || at_end)
                        && (usize::from(row.length) <= HASH_BYTES || place.goes_on(view, behind, &a.rest))
            };
            next = match self.alternatives[first..first + usize::from(row.count)].iter().find(is_hit) {
                Some(hit) => {
                    place.go(row.go, usize::from(row.length), view);
                    hit.next
                }
                None => row.miss,
            };
        }
    }

    fn decision(&self, end: End, identity: Identity, view: &View, hashed: &mut u32) -> Option<Decision> {
        let group = match end {
            End::Queue(queue) => return Some(Decision::Queue(queue)),
            End::Drop => return Some(Decision::Drop),
            End::Group(group) => self.groups.get(usize::from(group))?.as_ref()?,
        };
        let hash = match group.field {
            0 => of_message(identity),
            field => {
                let value = view.value(field).unwrap_or(&[]);
                *hashed += value.len().div_ceil(HASH_BYTES).max(1) as u32;
                of_field(value)
            }
        };
        Some(Decision::Queue(group.slots[hash as usize % SLOTS]))
    }
}

/// What a target stands for, once. `otherwise` is the default; none where the default itself is at fault.
fn next(target: L7TargetPart, otherwise: Option<End>) -> Next {
    match target.goal() {
        Some(L7Goal::Default) => otherwise.map_or(Next::Fault, Next::Done),
        Some(L7Goal::Queue) => Next::Done(End::Queue(target.number as u8)),
        Some(L7Goal::Group) => Next::Done(End::Group(target.number)),
        Some(L7Goal::Drop) => Next::Done(End::Drop),
        Some(L7Goal::Row) => Next::Row(target.number),
        Some(L7Goal::Rows) if u32::from(target.log) <= MOST_WIDE_LOG => Next::Rows(target),
        _ => Next::Fault,
    }
}

impl Place {
    /// The 8 bytes at the position, the first in the lowest bits, zeros beyond the view.
    fn ahead(&self, view: &View) -> u64 {
        let bytes = view.bytes();
        match bytes.get(self.position..self.position + HASH_BYTES) {
            Some(all) => u64::from_le_bytes(all.try_into().expect("8 bytes")),
            None => {
                let mut ahead = [0; HASH_BYTES];
                let rest = bytes.get(self.position..).unwrap_or(&[]);
                ahead[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(ahead)
            }
        }
    }

    /// Whether the bytes behind the first 8 are these, up to the end of the compare, which lies in the view, and zeros beyond it.
    fn goes_on(&self, view: &View, end: usize, rest: &[u8]) -> bool {
        let compared = view.bytes().get(self.position + HASH_BYTES..end).unwrap_or(&[]);
        rest.starts_with(compared) && rest[compared.len()..].iter().all(|&byte| byte == 0)
    }

    fn go(&mut self, go: Go, compared: usize, view: &View) {
        let mut position = self.position + compared;
        if go.field != 0 {
            match view.field(go.field) {
                Some(field) => {
                    (position, self.position, self.end, self.past) = (field.start, field.start, field.end, false);
                }
                None => {
                    *self = Place { position: 0, end: 0, past: true };
                    return;
                }
            }
        } else if self.past {
            return;
        }
        position += usize::from(go.skip);
        match go.stop {
            Stop::None => {}
            Stop::Never => self.past = true,
            Stop::At(stop) => {
                let rest = view.bytes().get(position..self.end).unwrap_or(&[]);
                match rest.iter().position(|&b| b == stop) {
                    Some(at) => position += at + 1,
                    None => self.past = true,
                }
            }
        }
        self.past |= position > self.end;
        if !self.past {
            self.position = position;
        }
    }
}
