//! A program's table: rules, and what each leads to.

use super::bits::Seen;
use super::check::{check, first};
use super::key::{Asks, Key, LANES, Predicate, asks};
use super::path::{Answer, Path, path};
use super::peel::{self, Entry};
use super::placed::placed;
use super::rows::Rows;
use super::test::Test;
use super::tree::{Node, Tree};
use super::trial::Trial;
use super::walk::{Count, End, State, Taken};
use super::witness::{Witness, witness};
use crate::compile::{CompiledLeaf, compile_leaf};
use crate::pass;
use crate::sections::Serial;
use crate::{Bundles, CompileError, Compiled, Stored, Target, compile};
use sluice_ebpf::{Image, Program};
use sluice_formats::random::Rng;
use std::collections::BTreeMap;

/// What becomes of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A core runs the program from its start.
    Plain,
    /// The program ends, and no core runs it.
    Verdict {
        /// r0.
        r0: u64,
        /// What is counted before.
        counts: Vec<Count>,
    },
    /// A core begins at this row, with this.
    Resume {
        /// Row.
        row: u32,
        /// Row where the lookup finds nothing, if that is another one.
        missed: Option<u32>,
        /// Registers and lookup.
        entry: Entry,
    },
}

/// One rule: a frame matches it where all that it says is so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Mask and value of each of the key's lanes.
    pub lanes: [(u8, u8); LANES],
    /// Which predicates are asked, and their answers.
    pub predicates: (u8, u8),
}

/// Slots of a path, in order; of branches whether they are taken.
pub type Slots = Vec<(u32, Option<bool>)>;

/// One leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Which frames it has, of those that no leaf before it has.
    pub rule: Rule,
    /// What becomes of them.
    pub action: Action,
    /// How the path ends.
    pub end: End,
    /// Ways back that the path has taken, which count as work.
    pub work: u64,
    /// The path, its instructions' slots in order; of branches whether they are taken.
    pub slots: Slots,
    /// Where code depends on what the lookup finds, how the path goes on from there if it finds something, and if not.
    pub answered: Option<[Slots; 2]>,
    /// What its packets' tests are, and their answers.
    pub tests: Vec<(Test, bool)>,
    /// Issues of a packet without and with the leaf, the mean of those that it was tried with.
    pub issues: Option<(f64, f64)>,
}

/// A program's table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What is gathered of a frame.
    pub key: Key,
    /// In the order in which rules are asked.
    pub leaves: Vec<Leaf>,
}

impl Rule {
    fn new(key: &Key, tests: &[(Test, bool)]) -> Self {
        let mut rule = Self::default();
        for (test, answer) in tests {
            match asks(test) {
                Some(Asks::Bytes(bytes)) if *answer => {
                    for (byte, (mask, value)) in bytes {
                        if let Some(at) = key.lane(byte) {
                            rule.lanes[at].0 |= mask;
                            rule.lanes[at].1 |= value;
                        }
                    }
                }
                Some(Asks::Predicate(byte, predicate)) => {
                    if let Some(at) = key.predicate(byte, &predicate) {
                        rule.predicates.0 |= 1 << at;
                        rule.predicates.1 |= u8::from(*answer) << at;
                    }
                }
                // Frames that fail a test of bits come behind those that pass it.
                _ => {}
            }
        }
        rule
    }

    /// Whether a frame's key matches.
    pub fn matches(&self, lanes: &[u8], predicates: u8) -> bool {
        self.lanes.iter().zip(lanes).all(|((mask, value), lane)| lane & mask == *value)
            && predicates & self.predicates.0 == self.predicates.1
    }
}

impl Table {
    /// The leaf of a packet.
    pub fn leaf(&self, seen: &Seen) -> Option<usize> {
        let lanes = self.key.gather(seen);
        let holds = |predicate: &Predicate| u8::from(predicate.holds(&lanes, seen.length));
        let predicates = (0..).zip(&self.key.predicates).fold(0, |all, (at, predicate)| all | holds(predicate) << at);
        self.leaves.iter().position(|leaf| leaf.rule.matches(&lanes, predicates))
    }
}

/// A program with its table.
#[derive(Clone, Debug)]
pub struct Warped {
    /// Its table.
    pub table: Table,
    /// Its rows, and those of the leaves behind them.
    pub bundles: Bundles,
    /// What packets of a flow do one after the other.
    pub serial: Serial,
}

impl Warped {
    /// The same program as compiled, with the rows of its leaves.
    pub fn compiled(self, plain: &Compiled) -> Compiled {
        let sections = match self.serial {
            Serial::Sections(sections) => Some(sections),
            _ => None,
        };
        Compiled { bundles: self.bundles, sections, ..plain.clone() }
    }
}

/// Most ways back of a leaf.
pub const WORK: u64 = 255;
/// Rows that leaves may add to any program, besides half of its own.
const FREE: usize = 512;
/// Packets that a leaf is tried with.
const TRIED: usize = 2;

/// Leaves that code is made for at most.
const TRIES: usize = 24;
/// A leaf with fewer steps is not tried.
const FEWEST: usize = 2;
/// How far cycles jitter, from where the measured time begins and ends.
const JITTER: f64 = 1.01;

/// A leaf's code.
struct Code {
    /// What it is made of, and its slots; two of them where it depends on what the lookup finds.
    compiled: Vec<(Compiled, Vec<u32>)>,
    entry: Entry,
    gain: Gain,
}

/// What a leaf's packets take: issues of one without and with it.
#[derive(Clone, Copy, Debug, Default)]
struct Gain {
    issues: (f64, f64),
    /// Some of them take more cycles, or issues: the engine may make registers for longer than cores need them.
    worse: bool,
}

impl Code {
    /// Of a path that is cut, with at most so many steps; and one for each thing that its lookup finds.
    fn new(
        image: &Image,
        program: &Program,
        state: &State,
        (target, steps, ordered): (&Target, usize, bool),
    ) -> Result<Vec<Self>, CompileError> {
        let made =
            |state: &State, answer| path(program, state, state.slot).map(|path| Path { answer, ordered, ..path });
        let of = |state: &State, answer, given: &Entry| match made(state, answer) {
            Some(path) => compile_leaf(image, &path, target, (given, steps)).map(|leaf| Some((leaf, path.slots))),
            None => Ok(None),
        };
        let none = Entry::default();
        let Some(code) = of(state, Answer::Either, &none)? else { return Ok(Vec::new()) };
        let entry = code.0.entry.clone();
        let mut codes = vec![(vec![code], entry)];
        let answered = |found| state.answered(image, program, found).filter(|on| on.work == state.work);
        if let (Some(found), Some(missed)) = (answered(true), answered(false))
            && let Some(on_found) = of(&found, Answer::Found, &none)?
            && on_found.0.entry.lookup.is_some()
            && let Some(on_missed) = of(&missed, Answer::Missed, &on_found.0.entry)?
            && on_missed.0.entry.lookup == on_found.0.entry.lookup
        {
            let entry = on_missed.0.entry.clone();
            codes.push((vec![on_found, on_missed], entry));
        }
        // What the checker does not find right stays as it is.
        codes.retain(|(leaves, entry)| {
            let answers = if leaves.len() > 1 { &[Answer::Found, Answer::Missed][..] } else { &[Answer::Either] };
            leaves.iter().zip(answers).all(|((leaf, _), answer)| is_right(&leaf.peeled, (entry, *answer), image))
        });
        let of = |(leaves, entry): (Vec<(CompiledLeaf, Vec<u32>)>, Entry)| {
            let compiled = leaves.into_iter().map(|(leaf, slots)| (leaf.compiled, slots)).collect();
            Self { compiled, entry, gain: Gain::default() }
        };
        Ok(codes.into_iter().map(of).collect())
    }

    /// Puts its rows behind others; gives what becomes of its packets.
    fn append(&self, rows: &mut Rows) -> Action {
        let before = rows.starts.len();
        for (compiled, slots) in &self.compiled {
            rows.append(compiled, slots);
        }
        let start = |at: usize| rows.starts.get(before + at).copied();
        Action::Resume { row: start(0).unwrap_or_default(), missed: start(1), entry: self.entry.clone() }
    }
}

/// Whether a leaf's code does the same behind `peel` as before, and in registers of a core.
fn is_right([before, after, renamed]: &[pass::Code; 3], entry: (&Entry, Answer), image: &Image) -> bool {
    check(before, after, entry, image).and_then(|()| first(before, renamed, entry, image)).is_ok()
}

/// A program with its table; `plain` is the program without. All programs of the image may run beside it.
pub fn warp(image: &Image, number: usize, plain: &Compiled, target: &Target) -> Result<Warped, CompileError> {
    let mut stored = plain.stored.clone();
    for other in (0..image.programs.len()).filter(|other| *other != number) {
        let other = compile(image, &image.programs[other], target);
        stored.add(&other.map_or_else(|_| Stored::any(), |other| other.stored));
    }
    warp_beside(image, number, plain, target, &stored)
}

/// The same where cores store to these maps: the program, and those that run beside it.
pub fn warp_beside(
    image: &Image,
    number: usize,
    plain: &Compiled,
    target: &Target,
    stored: &Stored,
) -> Result<Warped, CompileError> {
    let program = &image.programs[number];
    let mut tree = Tree::of(image, program, stored);
    let mut rows = Rows::new(plain.clone());
    let trial = Trial::new(image, number);
    let (mut rng, mut tries) = (Rng::new(1), 0);
    let mut actions: BTreeMap<usize, (Action, Option<(f64, f64)>)> = BTreeMap::new();
    // What leaves would save.
    let mut codes: Vec<(usize, Code)> = Vec::new();
    for (at, tests) in tree.leaves() {
        let (Node::Leaf(end), state) = &tree.nodes[at] else { continue };
        let packets: Vec<Witness> = (0..TRIED).filter_map(|_| witness(&tests, &mut rng)).collect();
        if state.work > WORK || packets.is_empty() {
            continue;
        }
        match *end {
            End::Exit(r0) => {
                let action = Action::Verdict { r0, counts: state.counts.clone() };
                let without = trial.run((&rows.bundles, &rows.serial), None, &packets, None);
                actions.insert(at, (action, without.map(|taken| (taken.issues, 0.0))));
            }
            End::Cut { slot, .. } => {
                debug_assert_eq!(state.slot, slot);
                if state.path.is_empty() || tries == TRIES {
                    continue;
                }
                tries += 1;
                let mut steps = peel::STEPS;
                let mut again = true;
                while again && steps >= FEWEST {
                    again = false;
                    for code in Code::new(image, program, state, (target, steps, plain.flow_serial))? {
                        // Compiled anew it may store where the program adds.
                        if !code.compiled.iter().all(|(leaf, _)| leaf.stored.is_within(stored)) {
                            continue;
                        }
                        let Some(gain) = gain(&trial, &rows, &code, &packets) else { continue };
                        again |= gain.worse;
                        steps = steps.min(code.entry.steps());
                        if !gain.worse && gain.issues.1 < gain.issues.0 {
                            codes.push((at, Code { gain, ..code }));
                        }
                    }
                    steps = steps * 2 / 3;
                }
            }
        }
    }
    // Those that save most have room first: rules, and then rows and steps.
    let saved = |code: &Code| code.gain.issues.0 - code.gain.issues.1;
    let mut saves: BTreeMap<usize, f64> =
        actions.iter().map(|(at, (_, issues))| (*at, issues.map_or(0.0, |i| i.0))).collect();
    for (at, code) in &codes {
        let most = saves.entry(*at).or_default();
        *most = most.max(saved(code));
    }
    while tree.rules(&|at| !saves.contains_key(&at)) > target.rules {
        let least = saves.iter().min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| *at);
        let Some(least) = least else { break };
        saves.remove(&least);
    }
    actions.retain(|at, _| saves.contains_key(at));
    codes.retain(|(at, _)| saves.contains_key(at));
    codes.sort_by(|(a, one), (b, other)| saved(other).total_cmp(&saved(one)).then(a.cmp(b)));
    let most = rows.bundles.rows.len() * 3 / 2 + FREE;
    let (mut kept, mut steps): (Vec<(usize, Code)>, usize) = (Vec::new(), 0);
    for (at, code) in codes {
        if kept.iter().any(|(kept, _)| *kept == at) {
            continue;
        }
        let mut more = rows.clone();
        code.append(&mut more);
        if more.bundles.rows.len() <= most && steps + code.entry.steps() <= target.steps {
            steps += code.entry.steps();
            rows = more;
            kept.push((at, code));
        }
    }
    let mut codes = kept.iter().flat_map(|(_, code)| &code.compiled).zip(&rows.starts);
    let is_placed = |((leaf, slots), start): (&(Compiled, Vec<u32>), &u32)| placed(leaf, slots, *start, &rows).is_ok();
    if placed(plain, &[], 0, &rows).is_err() || !codes.all(is_placed) {
        debug_assert!(false, "{}: rows of leaves are not what they were", program.name);
        (rows, kept) = (Rows::new(plain.clone()), Vec::new());
    }
    let mut starts = rows.starts.iter();
    for (at, code) in kept {
        let row = starts.next().copied().unwrap_or_default();
        let missed = if code.compiled.len() > 1 { starts.next().copied() } else { None };
        actions.insert(at, (Action::Resume { row, missed, entry: code.entry }, Some(code.gain.issues)));
    }
    tree.prune(&|at| !actions.contains_key(&at));
    let mut leaves: Vec<Leaf> = Vec::new();
    for (at, tests) in tree.leaves() {
        let (Node::Leaf(end), state) = &tree.nodes[at] else { continue };
        let (action, issues) = actions.get(&at).cloned().unwrap_or((Action::Plain, None));
        let slots = |path: &[Taken]| path.iter().map(|taken| (taken.slot, taken.branch)).collect();
        let behind = |found| {
            let on = state.answered(image, program, found)?;
            Some(slots(&on.path[state.path.len()..]))
        };
        let depends = matches!(action, Action::Resume { missed: Some(_), .. });
        let answered = if depends { behind(true).zip(behind(false)).map(<[_; 2]>::from) } else { None };
        let slots = slots(&state.path);
        let rule = Rule::new(&tree.key, &tests);
        // From its start the program counts its ways back itself.
        let work = if action == Action::Plain { 0 } else { state.work };
        leaves.push(Leaf { rule, action, end: *end, work, slots, answered, tests, issues });
    }
    // What no rule matches is plain.
    while leaves.pop_if(|leaf| leaf.action == Action::Plain).is_some() {}
    Ok(Warped { table: Table { key: tree.key, leaves }, bundles: rows.bundles, serial: rows.serial })
}

/// What a leaf saves, the mean of packets whose lookup finds something, and nothing; none if one of them is not tried.
fn gain(trial: &Trial, rows: &Rows, code: &Code, packets: &[Witness]) -> Option<Gain> {
    let mut with = rows.clone();
    let action = code.append(&mut with);
    let mut gain = Gain::default();
    let cases = [None, code.entry.lookup.as_ref()];
    let cases = if cases[1].is_some() { &cases[..] } else { &cases[..1] };
    for known in cases {
        let plain = trial.run((&rows.bundles, &rows.serial), None, packets, *known)?;
        let warped = trial.run((&with.bundles, &with.serial), Some(&action), packets, *known)?;
        gain.worse |= warped.issues > plain.issues || warped.cycles > plain.cycles * JITTER;
        gain.issues.0 += plain.issues / cases.len() as f64;
        gain.issues.1 += warped.issues / cases.len() as f64;
    }
    Some(gain)
}
