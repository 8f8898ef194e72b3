//! The compiler: rules to matcher programs (docs/design/l7.md).
//!
//! Rules are taken apart into [paths](path). A [state] says which paths are under way at the position and which have to begin again; a
//! state is a row, or wide rows by a [hash](place) where it has many alternatives. States are made as they are met, the same state once. Same
//! rules, same rows.

mod path;
pub(crate) mod place;
mod split;
mod state;

use crate::rules::{Application, Goal, Kind, MessageType, Rules};
use path::Path;
use place::{Key, Placed, place};
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::compare::{L7Bytes, MatchShape};
use sluice_formats::l7::rows::{L7AlternativePart, L7GroupRow, L7MatchRow, L7MovePart, L7StartRow, L7TargetPart};
use sluice_formats::l7::target::{EXPIRY_TICK_NS, HASH_BYTES, MOST_STEPS};
use state::{Choice, Item, State, choose};
use std::collections::{HashMap, HashSet, VecDeque};

/// Most ways of matching that the rules of a type may have, alternatives multiplied.
pub const MOST_PATHS: usize = 8192;
/// Most rows of a program: their numbers have 12 bits.
pub const MOST_ROWS: usize = 1 << 12;

/// Bounds of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Rows that the rules of one file may take.
    pub rows: usize,
    /// What a row holds.
    pub shape: MatchShape,
}

impl Default for Options {
    fn default() -> Self {
        Self { rows: MOST_ROWS, shape: MatchShape::default() }
    }
}

/// What rules become. Rows, starts and groups count from 0, queues are the tenant's; module IDs are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Match rows.
    pub rows: Vec<L7MatchRow>,
    /// Start rows.
    pub starts: Vec<L7StartRow>,
    /// Groups.
    pub groups: Vec<L7GroupRow>,
    /// Applications in the order of the rules.
    pub applications: Vec<Compiled>,
    /// What a row may hold.
    pub shape: MatchShape,
}

/// An application of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Its first start row.
    pub start: u16,
    /// Its start rows: one for each number up to the last type's.
    pub types: u16,
    /// Its default.
    pub otherwise: L7TargetPart,
    /// Most compares that a message of it takes.
    pub steps: u32,
}

/// Rules that do not become a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// Alternatives of several fields multiply.
    #[error(
        "message `{message}` of `{application}`: its rules are {found} combinations of alternatives, at most {allowed} are allowed"
    )]
    Paths {
        /// Application.
        application: String,
        /// Message type.
        message: String,
        /// Combinations.
        found: usize,
        /// How many may be.
        allowed: usize,
    },
    /// Too many rows.
    #[error(
        "message `{message}` of `{application}`: its rules take more than the {allowed} rows that are left of {all}"
    )]
    Rows {
        /// Application.
        application: String,
        /// Message type.
        message: String,
        /// Rows that are left.
        allowed: usize,
        /// Rows that the file may have.
        all: usize,
    },
    /// A message could take too many steps.
    #[error(
        "message `{message}` of `{application}`: a message could take {found} steps, at most {allowed} are allowed"
    )]
    Steps {
        /// Application.
        application: String,
        /// Message type.
        message: String,
        /// Steps.
        found: u32,
        /// How many may be.
        allowed: u32,
    },
}

impl CompileError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Paths { .. } => "E0870",
            Self::Rows { .. } => "E0871",
            Self::Steps { .. } => "E0872",
        }
    }
}

/// Makes the program of a checked file of rules.
pub fn compile(rules: &Rules, options: &Options) -> Result<Program, CompileError> {
    let groups = rules.groups.iter().map(group).collect();
    let mut program = Program { groups, shape: options.shape, ..Program::default() };
    for application in &rules.applications {
        let (start, mut most) = (program.starts.len() as u16, 0);
        for message in &application.types {
            let at = usize::from(start) + usize::from(message.number);
            program.starts.resize(at + 1, L7StartRow::default());
            let bounds = Options { rows: options.rows.min(MOST_ROWS), ..*options };
            let (row, steps) = one_type(application, message, &mut program.rows, bounds)?;
            program.starts[at] = row;
            most = most.max(steps);
        }
        let types = (program.starts.len() - usize::from(start)) as u16;
        let otherwise = target(application.default);
        program.applications.push(Compiled { start, types, otherwise, steps: most });
    }
    Ok(program)
}

/// The target of a goal.
fn target(goal: Goal) -> L7TargetPart {
    let (kind, number) = match goal {
        Goal::Drop => (L7Goal::Drop, 0),
        Goal::Queue(queue) => (L7Goal::Queue, queue),
        Goal::Group(group) => (L7Goal::Group, group),
    };
    L7TargetPart::new(kind, number.into())
}

fn group(group: &crate::rules::Group) -> L7GroupRow {
    L7GroupRow { module_id: 0, field: group.field.unwrap_or(0), slots: group.slots }
}

/// Start row of a type and most steps of its messages. All rules at once if that fits, else fewer and fewer.
fn one_type(
    application: &Application,
    message: &MessageType,
    rows: &mut Vec<L7MatchRow>,
    bounds: Options,
) -> Result<(L7StartRow, u32), CompileError> {
    let names = || (application.name.clone(), message.name.clone());
    let paths = path::paths(message, &application.stops, MOST_PATHS).map_err(|found| {
        let (application, message) = names();
        CompileError::Paths { application, message, found, allowed: MOST_PATHS }
    })?;
    let first = rows.len();
    let mut together = paths.len().max(1);
    loop {
        let mut builder =
            Builder { paths: &paths, message, together, bounds, rows, known: HashMap::new(), queue: VecDeque::new() };
        if let Some(start) = builder.all() {
            let found = longest(rows, start.target);
            if found > MOST_STEPS {
                let (application, message) = names();
                return Err(CompileError::Steps { application, message, found, allowed: MOST_STEPS });
            }
            return Ok((start, found));
        }
        rows.truncate(first);
        if together == 1 {
            let (application, message) = names();
            let all = bounds.rows;
            return Err(CompileError::Rows { application, message, allowed: all.saturating_sub(first), all });
        }
        together /= 2;
    }
}

/// Makes the rows of a type.
struct Builder<'a> {
    paths: &'a [Path],
    message: &'a MessageType,
    /// Paths that may be under way at once.
    together: usize,
    bounds: Options,
    rows: &'a mut Vec<L7MatchRow>,
    known: HashMap<State, L7TargetPart>,
    queue: VecDeque<(State, Plan)>,
}

/// How a state is laid out.
enum Plan {
    /// Its paths begin again by a row that only moves.
    Begin { row: usize, go: L7MovePart, state: State },
    /// It compares.
    Compare { first: usize, choice: Choice, keys: Vec<Key>, placed: Placed },
}

impl Builder<'_> {
    /// The start row; none if there is no room.
    fn all(&mut self) -> Option<L7StartRow> {
        let rest: Vec<usize> = (0..self.paths.len()).collect();
        if rest.is_empty() {
            return Some(L7StartRow::default());
        }
        let (step, state) = State::begun(self.paths, rest, None, self.together);
        let target = self.target(state)?;
        while let Some((state, plan)) = self.queue.pop_front() {
            match plan {
                Plan::Begin { row, go, state } => {
                    let target = self.target(state)?;
                    let alternative =
                        L7AlternativePart { valid: true, anyway: true, target, ..L7AlternativePart::default() };
                    self.rows[row] = L7MatchRow { step: go, ..L7MatchRow::default() };
                    self.rows[row].alternatives[0] = alternative;
                }
                Plan::Compare { first, choice, keys, placed } => {
                    self.compare(&state, first, &choice, &keys, &placed)?
                }
            }
        }
        Some(L7StartRow { module_id: 0, step, target })
    }

    /// The target of a state, with rows for it if it is new. None if there is no room.
    fn target(&mut self, state: State) -> Option<L7TargetPart> {
        if state.live.is_empty() && state.rest.is_empty() {
            return Some(
                state
                    .won
                    .map_or(L7TargetPart::default(), |path| target(self.message.rules[self.paths[path].rule].goal)),
            );
        }
        if let Some(&target) = self.known.get(&state) {
            return Some(target);
        }
        let first = self.rows.len();
        let (plan, mut target, count) = if state.live.is_empty() {
            let (go, begun) = State::begun(self.paths, state.rest.clone(), state.won, self.together);
            let target = L7TargetPart::new(L7Goal::Row, 0);
            (Plan::Begin { row: first, go, state: begun }, target, 1)
        } else {
            let (choice, keys, placed) = self.chosen(&state, first);
            let (target, count) = (placed.target, placed.rows.len());
            (Plan::Compare { first, choice, keys, placed }, target, count)
        };
        if first + count > self.bounds.rows {
            return None;
        }
        target.number = first as u16;
        self.rows.resize(first + count, L7MatchRow::default());
        self.known.insert(state.clone(), target);
        self.queue.push_back((state, plan));
        Some(target)
    }

    /// What a state compares, and how that lies in rows. What all alternatives have in common is compared first where [fewer rows](split) come
    /// of it, or where a compare of more than 8 bytes, of which only the first 8 are hashed, does not find a place for all of them.
    fn chosen(&self, state: &State, first: usize) -> (Choice, Vec<Key>, Placed) {
        let MatchShape { bytes, alternatives } = self.bounds.shape;
        let of = |most| {
            let choice = choose(self.paths, &state.live, most);
            let keys = keys(self.paths, &choice);
            let placed = place(&keys, choice.length, alternatives, self.bounds.rows.saturating_sub(first));
            (choice, keys, placed)
        };
        let long = of(bytes);
        if long.1.len() <= alternatives {
            return long;
        }
        let texts = || long.0.taken.iter().map(|item| item.text(self.paths)).collect();
        if let Some(common) = split::common_first(texts(), long.0.length, alternatives) {
            return of(common);
        }
        if long.0.length <= HASH_BYTES || long.2.over.is_empty() {
            return long;
        }
        match split::common_first(texts(), HASH_BYTES, alternatives) {
            Some(common) => of(common),
            None => of(split::common(&texts()).max(HASH_BYTES)),
        }
    }

    /// Fills the rows of a state that compares.
    fn compare(&mut self, state: &State, first: usize, choice: &Choice, keys: &[Key], placed: &Placed) -> Option<()> {
        let length = choice.length;
        let over: HashSet<&Key> = placed.over.iter().map(|&k| &keys[k]).collect();
        let taken: Vec<Item> =
            choice.taken.iter().copied().filter(|item| !over.contains(&key(self.paths, item, length))).collect();
        let is_taken: HashSet<Item> = taken.iter().copied().collect();
        let later: Vec<Item> = state.live.iter().copied().filter(|item| !is_taken.contains(item)).collect();
        let behind = Behind::of(self.paths, &taken, &later, length);
        let miss = self.target(State { live: later, rest: state.rest.clone(), won: state.won })?;
        let pattern = L7MatchRow { length: length as u8, step: choice.go, miss, ..L7MatchRow::default() };
        for (n, row) in placed.rows.iter().enumerate() {
            self.rows[first + n] = pattern;
            for (at, &k) in row.iter().enumerate() {
                let target = self.target(behind.hit(self.paths, state, &keys[k]))?;
                let bytes = L7Bytes::of(&keys[k].0);
                self.rows[first + n].alternatives[at] =
                    L7AlternativePart { valid: true, ends: keys[k].1, anyway: false, bytes, target };
            }
        }
        Some(())
    }
}

/// What may be behind a hit of each key of a state.
struct Behind<'a> {
    length: usize,
    /// Items that are compared, by their bytes.
    taken: HashMap<&'a [u8], Vec<Item>>,
    /// Those that are tried in turn and have as many bytes as the keys, by them, and those that have fewer.
    later: HashMap<&'a [u8], Vec<Item>>,
    short: Vec<Item>,
}

impl<'a> Behind<'a> {
    fn of(paths: &'a [Path], taken: &[Item], later: &[Item], length: usize) -> Self {
        let mut behind = Self { length, taken: HashMap::new(), later: HashMap::new(), short: Vec::new() };
        for item in taken {
            behind.taken.entry(&item.text(paths)[..length]).or_default().push(*item);
        }
        for item in later {
            match item.text(paths).get(..length) {
                Some(bytes) => behind.later.entry(bytes).or_default().push(*item),
                None => behind.short.push(*item),
            }
        }
        behind
    }

    /// The state behind the hit of a key.
    fn hit(&self, paths: &[Path], state: &State, (bytes, at_end): &Key) -> State {
        let length = self.length;
        let mut next = State { live: Vec::new(), rest: state.rest.clone(), won: state.won };
        for item in self.taken.get(&bytes[..]).into_iter().flatten() {
            if item.ends(paths, length) && !at_end {
                continue;
            }
            match item.behind(paths, length) {
                Some(behind) => next.live.push(behind),
                None => next.won = Some(next.won.map_or(item.path, |won| won.min(item.path))),
            }
        }
        // Those that are tried in turn begin again, unless these bytes are not theirs.
        next.rest.extend(self.later.get(&bytes[..]).into_iter().flatten().map(|item| item.path));
        let short = self.short.iter().filter(|item| bytes.starts_with(item.text(paths)));
        next.rest.extend(short.map(|item| item.path));
        next.rest.sort_unstable();
        next.trimmed(paths)
    }
}

/// What an item compares.
fn key(paths: &[Path], item: &Item, length: usize) -> Key {
    (item.text(paths)[..length].to_vec(), item.ends(paths, length))
}

/// What a state's rows compare: an end before the same bytes without one.
fn keys(paths: &[Path], choice: &Choice) -> Vec<Key> {
    let mut keys: Vec<Key> = choice.taken.iter().map(|item| key(paths, item, choice.length)).collect();
    keys.sort_by(|a, b| (&a.0, !a.1).cmp(&(&b.0, !b.1)));
    keys.dedup();
    keys
}

/// Most compares from a target on. Rows of a program lead to later states only, so there is an end.
fn longest(rows: &[L7MatchRow], from: L7TargetPart) -> u32 {
    let next = |row: &L7MatchRow| {
        let hits = row.alternatives.iter().filter(|a| a.valid).map(|a| a.target);
        hits.chain([row.miss]).flat_map(L7TargetPart::rows).collect::<Vec<_>>()
    };
    let mut most: HashMap<usize, u32> = HashMap::new();
    let mut stack: Vec<usize> = from.rows().collect();
    while let Some(&row) = stack.last() {
        let waiting: Vec<usize> = next(&rows[row]).into_iter().filter(|n| !most.contains_key(n)).collect();
        if waiting.is_empty() {
            let steps = 1 + next(&rows[row]).iter().map(|n| most[n]).max().unwrap_or(0);
            most.insert(row, steps);
            stack.pop();
        } else {
            stack.extend(waiting);
        }
    }
    from.rows().map(|row| most[&row]).max().unwrap_or(0)
}

/// Ticks of an expiry, rounded up.
fn ticks(ns: u64) -> u32 {
    ns.div_ceil(EXPIRY_TICK_NS) as u32
}

impl Program {
    /// The tables that an engine would have with this program alone, rows of `module`, and the UDP ports.
    pub fn tables(
        &self,
        rules: &Rules,
        module: u8,
    ) -> (crate::tables::Tables, Vec<sluice_formats::l7::rows::L7PortRow>) {
        use sluice_formats::l7::codes::L7PortKind;
        use sluice_formats::l7::rows::L7PortRow;
        let mut tables = crate::tables::Tables {
            rows: self.rows.clone(),
            starts: self.starts.clone(),
            groups: self.groups.clone(),
            shape: self.shape,
        };
        tables.rows.iter_mut().for_each(|row| row.module_id = module);
        tables.starts.iter_mut().for_each(|row| row.module_id = module);
        tables.groups.iter_mut().for_each(|row| row.module_id = module);
        let ports = rules.applications.iter().zip(&self.applications).map(|(application, compiled)| {
            let (kind, id) = match application.kind {
                Kind::Application(id) => (L7PortKind::Application, id),
                Kind::Endpoint => (L7PortKind::Endpoint, 0),
                Kind::Raw => (L7PortKind::Raw, 0),
            };
            let mut stops = [0; 2];
            stops[..application.stops.len()].copy_from_slice(&application.stops);
            L7PortRow {
                valid: true,
                module_id: module,
                port: application.port,
                kind: kind.code(),
                id,
                stops,
                stop_count: application.stops.len() as u8,
                otherwise: compiled.otherwise,
                start: compiled.start,
                types: compiled.types,
                expiry: application.expiry_ns.map_or(0, ticks),
                ..L7PortRow::default()
            }
        });
        let ports = ports.collect();
        (tables, ports)
    }
}
