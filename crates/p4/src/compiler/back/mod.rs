//! From the graph to rows of the pipeline. A node is a visit to a stage: which node is next stands in one 2-byte container, a key of every
//! stage, so that what is known on a way (validity of headers, what was hit, constants) is part of it. At the end the word `headers`
//! says how the packet is put together.

mod action;
mod alike;
pub(crate) mod cells;
mod chain;
mod deparse;
mod draw;
mod factors;
mod fewer;
mod hash;
mod join;
mod live;
pub(crate) mod logical;
mod names;
mod parser;
mod phv_allocation;
mod rows;
mod shared;
mod spelt;
mod split;
mod system;
mod verify;

use crate::compiler::ir::{Array, Bits, Change, Clones, Deparse, Graph, Leaf, Loc, LocInfo, Next, Tree};
use crate::compiler::middle::{Refusal, RefusalKind};
use crate::compiler::verify::Effort;
use crate::front::interpret::HashLayouts;
use crate::front::interpret::code::Code;
use crate::front::interpret::tables::Rows;
use crate::front::source::Span;
use action::Made;
use phv_allocation::Homes;
use sluice_object::rmt::Logical;
use sluice_object::rmt::logical::LogicalKind;
use sluice_rmt::Program;
use sluice_rmt::action::{Action, WordSource};
use sluice_rmt::deparser::{DeparseRow, Deparser, Pattern};
use sluice_rmt::phv::Word;
use sluice_rmt::target::{PAGE_WORDS, Target};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(crate) use system::plan_system;

/// Value of the word `headers` that no row of the deparser takes.
const NOWHERE: u16 = 0xffff;

/// A program with a place for each of its parts, which entries are put into.
#[derive(Debug)]
pub(crate) struct Plan {
    pub graph: Graph,
    homes: Homes,
    /// Stage of each node.
    pub stages: Vec<usize>,
    /// Of each node the actions of its leaves: one that hashes takes out its own node's number.
    made: Vec<HashMap<Leaf, Made>>,
    ends: Vec<Deparse>,
    rows: Vec<DeparseRow>,
    patterns: Vec<Pattern>,
    /// Where registers and counters lie.
    pub cells: BTreeMap<Array, cells::Place>,
    parser: sluice_rmt::parser::Parser,
    keys: Vec<rows::StageKey>,
    /// Where hashed bits lie.
    pub hashes: HashLayouts,
    /// Tables without entries, and what stages do with them; actions of each stage.
    pub(super) logical: Logical,
    actions: Vec<Vec<Action>>,
    /// Passes that left fewer visits, or fewer rows.
    pub fewer: Vec<&'static str>,
    target: Target,
}

pub(super) fn too_much<T>(span: Span, what: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(span, RefusalKind::TooMuch, what))
}

/// Why a stage's keys do not fit.
const TOO_MANY_KEYS: &str = "a stage whose keys lie in more containers than it looks at";
const TOO_MANY_COMPARISONS: &str = "a stage with more than two comparisons";
/// Most visits that are cut in two.
const MOST_SPLITS: usize = 200;

/// Stages of visits, behind the first, that they are not before.
pub(crate) type Delays = BTreeMap<usize, usize>;

/// Names of passes that leave fewer visits, and of the one that leaves fewer rows.
pub(crate) const ALIKE: &str = "alike";
pub(crate) const SHARED: &str = "shared";
pub(crate) const FEWER: &str = "fewer";

/// What is asked of placing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// Ways that come to one table share its rows.
    pub shared: bool,
    pub delays: Delays,
}

/// Whether there are ways to a table that can share its rows.
pub(crate) fn has_ways(graph: &Graph, code: &Code) -> bool {
    let alike = alike::alike(graph, code);
    shared::shared(alike.as_ref().unwrap_or(graph)).is_some()
}

/// Places a graph in stages `first` to `last`, with visits that do the same as one.
/// With `effort` what each pass made is checked.
pub(crate) fn plan(
    code: &Code,
    mut graph: Graph,
    target: &Target,
    stages: (usize, usize),
    wishes: &Wishes,
    mut effort: Option<&mut Effort>,
) -> Result<Plan, Refusal> {
    // What is refused anyway is not checked.
    let (mut made, mut fewer, is_checked) = (Vec::new(), Vec::new(), effort.is_some());
    let mut becomes = |graph: &mut Graph, pass: &'static str, new: Option<Graph>| {
        if let Some(new) = new {
            let before = std::mem::replace(graph, new);
            fewer.push(pass);
            made.extend(is_checked.then(|| (pass, before, graph.clone())));
        }
    };
    let new = alike::alike(&graph, code);
    becomes(&mut graph, ALIKE, new);
    if wishes.shared {
        let new = shared::shared(&graph);
        becomes(&mut graph, SHARED, new);
    }
    let mut plan = joined_or_not(code, graph, target, stages, &wishes.delays, effort.as_deref_mut())?;
    for (pass, before, after) in made {
        verify::alike(pass, &before, &after, effort.as_deref_mut())?;
    }
    plan.fewer = fewer;
    Ok(plan)
}

/// Places a graph with visits joined if it fits so.
fn joined_or_not(
    code: &Code,
    graph: Graph,
    target: &Target,
    stages: (usize, usize),
    delays: &Delays,
    mut effort: Option<&mut Effort>,
) -> Result<Plan, Refusal> {
    if let Some(joined) = join::joined(&graph) {
        verify::alike("join", &graph, &joined, effort.as_deref_mut())?;
        match search(code, joined, target, stages, delays.clone(), effort.as_deref_mut()) {
            Err(refusal) if refusal.kind != RefusalKind::Mistaken => {}
            came => return came,
        }
    }
    search(code, graph, target, stages, delays.clone(), effort)
}

fn search(
    code: &Code,
    mut graph: Graph,
    target: &Target,
    stages: (usize, usize),
    mut delays: Delays,
    mut effort: Option<&mut Effort>,
) -> Result<Plan, Refusal> {
    let mut last = Span::default();
    for _ in 0..MOST_SPLITS {
        let before = effort.is_some().then(|| graph.clone());
        let placed = place(code, graph, target, stages, &delays, effort.as_deref_mut())?;
        verify::placed(before, &placed, code, effort.as_deref_mut())?;
        match placed {
            Placed::Plan(plan) => return Ok(*plan),
            Placed::Split(again, at) => (graph, last) = (*again, at),
            Placed::Delay(again, at, level) => {
                graph = *again;
                delays.insert(at, level);
            }
        }
    }
    too_much(last, "a program whose actions are cut too often; the last time here")
}

/// What came of placing.
enum Placed {
    Plan(Box<Plan>),
    /// The graph with a visit in two parts, and where that visit is.
    Split(Box<Graph>, Span),
    /// The graph with a visit that has to be of that level at least, since others there leave no room for its key.
    Delay(Box<Graph>, usize, usize),
}

fn place(
    code: &Code,
    mut graph: Graph,
    target: &Target,
    stages: (usize, usize),
    delays: &Delays,
    effort: Option<&mut Effort>,
) -> Result<Placed, Refusal> {
    if let Some((at, leaf)) = cells::between(&graph, code)? {
        let span = graph.spans[at];
        split::later(&mut graph, at, &leaf);
        return Ok(Placed::Split(Box::new(graph), span));
    }
    let levels = levels(&graph, code, delays)?;
    let there = stages.1 + 1 - stages.0;
    if levels.iter().any(|level| *level >= there) {
        return Err(chain::refusal(&graph, code, &levels, there));
    }
    let written = written(&graph);
    let shapes = one_of_each(&mut graph, code, &written)?;
    let ends = ends(&graph);
    let mut wanted = live::read_by(&graph);
    wanted.extend(written.iter().copied());
    shapes.iter().for_each(|shape| wanted.extend(shape.carried.iter().copied()));
    let bad = |bits: &crate::compiler::ir::Bits| {
        let mut is = false;
        bits.locs(&mut |loc| is |= *graph.locs.info(loc) == crate::compiler::ir::LocInfo::Bad);
        is
    };
    let leaves = all_leaves(&graph);
    let kept = leaves.iter().find_map(|leaf| leaf.assigns.iter().find(|(_, bits)| bad(bits)));
    if let Some((loc, bits)) = kept {
        let span = graph.locs.line(*loc, Some(bits)).unwrap_or_default();
        return Err(Refusal::new(span, RefusalKind::NotThere, "`checksum_error` as a value that is kept"));
    }
    for loc in &wanted {
        let name = match graph.locs.info(*loc) {
            crate::compiler::ir::LocInfo::Opaque(name) => Some(*name),
            crate::compiler::ir::LocInfo::CopyPort => Some("egress_port of a copy"),
            _ => None,
        };
        if let Some(name) = name {
            let span = names::read(&graph, |other| other == *loc).unwrap_or_default();
            return Err(Refusal::new(span, RefusalKind::NotThere, format!("a program that reads {name}")));
        }
    }
    let mut larger: BTreeMap<Loc, usize> = BTreeMap::new();
    let stage_of: Vec<usize> = levels.iter().map(|level| stages.0 + level).collect();
    let places = cells::places(&graph, code, &stage_of, target)?;
    let live = live::Live::new(&graph, &ends, &shapes);
    let held = live.held(&graph, &ends);
    let mut last = Span::default();
    // Whether there is a stage behind its own to which a visit may still be moved.
    let may_wait = |at: usize| delays.get(&at).copied().unwrap_or(0) <= levels[at] && levels[at] + 1 < there;
    for _ in 0..24 {
        let homes = Homes::new(code, &graph, &wanted, &larger, &held)?;
        match rows::keys(&graph, &homes, &stage_of, target) {
            Ok(keys) => {
                if let Some(at) = hash::crowded(&graph, &homes, &stage_of, &keys) {
                    if may_wait(at) {
                        return Ok(Placed::Delay(Box::new(graph), at, levels[at] + 1));
                    }
                    return too_much(graph.spans[at], "`hash` in a stage that looks at something else");
                }
                let hashes = match hash::layouts(&graph, &homes, &stage_of, &keys)? {
                    Ok(hashes) => hashes,
                    Err(width) => {
                        hash::gather(&mut graph, width)?;
                        return Ok(Placed::Split(Box::new(graph), Span::default()));
                    }
                };
                let begun = Plan::begun(graph, homes, stage_of, keys, places, target);
                let mut plan = Plan { hashes, ends, ..begun };
                if let Some((at, leaf, unmade)) = plan.make() {
                    let mut graph = plan.graph;
                    let part = unmade.waits.later.first().map(|part| (part.loc, &part.bits));
                    let span = names::statement(&graph, &leaf, part).unwrap_or(graph.spans[at]);
                    return match split::split(&mut graph, at, &leaf, unmade.waits) {
                        true => Ok(Placed::Split(Box::new(graph), span)),
                        false => Err(Refusal { span, ..unmade.why }),
                    };
                }
                plan.fill(code, &shapes, &live)?;
                verify::plan(&plan, code, &shapes, &live, stages, effort)?;
                return Ok(Placed::Plan(Box::new(plan)));
            }
            Err(rows::KeyRefused::Move(at, all)) => {
                last = graph.spans[at];
                let listed = names::listed(all.iter().map(|loc| names::name(&graph, *loc, code)));
                let mut free = all.into_iter().filter(|loc| larger.get(loc).copied().unwrap_or(0) < 2);
                match free.next() {
                    Some(loc) => *larger.entry(loc).or_default() += 1,
                    None => {
                        let alone = levels.iter().filter(|level| **level == levels[at]).count() == 1;
                        if !alone && may_wait(at) {
                            return Ok(Placed::Delay(Box::new(graph), at, levels[at] + 1));
                        }
                        let span = graph.spans[at];
                        if split::decisions(&mut graph, &homes, at) {
                            return Ok(Placed::Split(Box::new(graph), span));
                        }
                        return too_much(span, format!("{TOO_MANY_KEYS}: {listed}"));
                    }
                }
            }
            Err(rows::KeyRefused::Compares(at)) => {
                let alone = levels.iter().filter(|level| **level == levels[at]).count() == 1;
                if !alone && may_wait(at) {
                    return Ok(Placed::Delay(Box::new(graph), at, levels[at] + 1));
                }
                return too_much(graph.spans[at], TOO_MANY_COMPARISONS);
            }
            Err(rows::KeyRefused::Apart(at, test)) => {
                let span = graph.spans[at];
                return match split::side_by_side(&mut graph, at, &test) {
                    true => Ok(Placed::Split(Box::new(graph), span)),
                    false => too_much(span, "a comparison of values that lie at different bits of their containers"),
                };
            }
        }
    }
    too_much(last, TOO_MANY_KEYS)
}

impl Plan {
    /// One of visits in their stages, without actions, rows and ways out.
    fn begun(
        graph: Graph,
        homes: Homes,
        stages: Vec<usize>,
        keys: Vec<rows::StageKey>,
        cells: BTreeMap<Array, cells::Place>,
        target: &Target,
    ) -> Plan {
        Plan {
            graph,
            homes,
            stages,
            made: Vec::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            patterns: Vec::new(),
            cells,
            parser: sluice_rmt::parser::Parser::default(),
            keys,
            hashes: HashLayouts::new(),
            logical: Logical::default(),
            actions: Vec::new(),
            fewer: Vec::new(),
            target: *target,
        }
    }

    /// The actions of all leaves; or the first leaf that is none.
    fn make(&mut self) -> Option<(usize, Leaf, action::Unmade)> {
        self.made = vec![HashMap::new(); self.graph.nodes.len()];
        for (at, leaves) in leaves(&self.graph).into_iter().enumerate() {
            for leaf in leaves {
                match action::make(leaf, &self.homes, &self.ends, &self.cells, (at, self.graph.spans[at])) {
                    Ok(made) => self.made[at].insert(leaf.clone(), made),
                    Err(unmade) => return Some((at, leaf.clone(), unmade)),
                };
            }
        }
        None
    }

    fn fill(&mut self, code: &Code, shapes: &[deparse::Shape], live: &live::Live) -> Result<(), Refusal> {
        for shape in shapes {
            let row = shape.row(&self.homes, self.target.bus_bytes as u32).map_err(|(loc, what)| {
                let what = format!("{what}: `{}`", names::name(&self.graph, loc, code));
                Refusal::new(names::emitted(&self.graph, loc), RefusalKind::TooMuch, what)
            });
            self.rows.push(row?);
        }
        self.parser = parser::build(&self.graph, &self.homes, &self.ends, live)?;
        self.patterns = deparse::patterns(self, code)?;
        (self.logical, self.actions) = self.logical(code)?;
        Ok(())
    }

    /// Whether something looks at the time of arrival.
    pub fn reads_time(&self) -> bool {
        let is_rate =
            |leaf: &Leaf| leaf.access.as_ref().is_some_and(|access| matches!(access.change, Change::Police(_)));
        let hardware = self.homes.hardware.values();
        hardware.into_iter().any(|of| of.word == Word::Arrival) || all_leaves(&self.graph).into_iter().any(is_rate)
    }

    /// Whether a stage's cells are more than half of what it has.
    pub fn fills_state(&self) -> bool {
        (0..self.target.stages)
            .any(|stage| 2 * PAGE_WORDS * usize::from(cells::pages(&self.cells, stage)) > self.target.words)
    }

    /// Sessions whose clones leave.
    pub fn clones(&self) -> &BTreeMap<u16, Clones> {
        &self.graph.clones
    }

    /// Puts the destinations of sessions where actions name these.
    pub fn send_clones(&self, program: &mut Program, destinations: &BTreeMap<u16, u8>) {
        if self.graph.clones.is_empty() {
            return;
        }
        let actions = program.stages.iter_mut().flatten().flat_map(|stage| &mut stage.actions);
        for op in actions.flat_map(|action| &mut action.words) {
            if let (true, WordSource::Imm(session)) = (action::is_clone(op), &mut op.source) {
                *session = destinations.get(session).copied().unwrap_or(0).into();
            }
        }
    }

    /// Whether packets go to multicast groups.
    pub fn has_groups(&self) -> bool {
        let is_group = |next: &Next| matches!(next, Next::End(end) if end.group.known() != Some(0));
        nexts(&self.graph).into_iter().any(is_group) || !self.written_groups().is_empty()
    }

    /// What a system program writes as the group.
    fn written_groups(&self) -> Vec<&Bits> {
        let group = self.graph.locs.find(&LocInfo::Word(Word::Group, 0));
        let of = |leaf: &&Leaf| group.is_some_and(|group| leaf.assigns.contains_key(&group));
        let leaves = all_leaves(&self.graph).into_iter().filter(of);
        leaves.filter_map(|leaf| leaf.assigns.get(&group?)).collect()
    }

    /// Where the multicast group of a packet is written.
    pub fn line_of_group(&self, code: &Code) -> Span {
        let Some(standard) = code.of_parser(3) else { return Span::default() };
        let names = standard.shape.fields().map_or(&[][..], |fields| &fields.names);
        let at = names.iter().position(|name| &**name == "mcast_grp").map(|at| at as u32);
        at.and_then(|at| self.graph.locs.lines.written(standard.slot, &[at])).unwrap_or_default()
    }

    /// The line that a part of the pipeline's program comes from, which the checker names: `stages[2].actions[0]`, `parser.paths[1]`.
    pub fn line_of(&self, part: &str) -> Span {
        let number = |name: &str| {
            let rest = part.split_once(name)?.1;
            rest.split_once(']')?.0.parse::<usize>().ok()
        };
        if let Some(stage) = number("stages[") {
            return self.largest(stage, &self.logical).0;
        }
        if let Some(end) = number("rows[").and_then(|row| self.ends.get(row)) {
            let mut bit = 0;
            for out in end.outs.iter().filter(|_| self.turned(part).is_some()) {
                bit += out.width;
                if self.turned(part).is_some_and(|byte| bit > 8 * byte) {
                    return names::emitted(&self.graph, out.loc);
                }
            }
            return end.outs.last().map_or(Span::default(), |out| names::emitted(&self.graph, out.loc));
        }
        self.graph.paths.first().map_or(Span::default(), |path| path.span)
    }

    /// The byte of the outgoing headers at which a container would have to be turned otherwise than for its other place, if the checker says
    /// that.
    pub fn turned(&self, problem: &str) -> Option<u32> {
        let (part, _) = problem.split_once(" at rotations ")?;
        part.split_once("lanes[")?.1.split_once(']')?.0.parse().ok()
    }

    /// Groups that the program itself names.
    pub fn groups_named(&self) -> BTreeSet<u16> {
        let group = |next: &Next| match next {
            Next::End(end) => end.group.known().and_then(|group| u16::try_from(group).ok()),
            _ => None,
        };
        let written = self.written_groups().into_iter().filter_map(|group| u16::try_from(group.known()?).ok());
        nexts(&self.graph).into_iter().filter_map(group).chain(written).filter(|group| *group != 0).collect()
    }

    /// For each end the paths of the parser whose packets may leave so.
    fn reached(&self) -> Vec<BTreeSet<usize>> {
        let mut ends = vec![BTreeSet::new(); self.ends.len()];
        for (at, path) in self.parser.paths.iter().enumerate() {
            match path.headers {
                0 if path.known[usize::from(self.homes.node)].is_some() => {
                    let number = u64::from(path.constant) & self.homes.number_mask();
                    // Whichever ways come this path, they leave the same beside the number.
                    let first = Next::Node(number as usize - 1);
                    let ways = self.graph.paths.iter().filter(|found| found.next == first);
                    let ways: BTreeSet<&BTreeMap<Loc, u64>> = ways
                        .map(|found| &found.ways)
                        .filter(|ways| self.homes.beside(&self.graph, ways) == path.constant & !(number as u16))
                        .collect();
                    ways.into_iter().for_each(|ways| self.lead(number as usize - 1, ways, at, &mut ends));
                }
                0 | NOWHERE => {}
                end => {
                    ends[usize::from(end) - 1].insert(at);
                }
            }
        }
        ends
    }

    /// Has a path reach the ends to which packets come from a visit, where this stands beside its number.
    fn lead(&self, at: usize, ways: &BTreeMap<Loc, u64>, path: usize, ends: &mut [BTreeSet<usize>]) {
        let (mut open, mut seen) = (vec![(at, ways.clone())], BTreeSet::new());
        while let Some((at, ways)) = open.pop() {
            if !seen.insert((at, ways.clone())) {
                continue;
            }
            let mut leaves = Vec::new();
            shared::leaves_on(&self.graph.nodes[at].tree, &ways, &mut leaves);
            for leaf in leaves {
                match &leaf.next {
                    Next::Node(next) => {
                        let mut ways = ways.clone();
                        shared::leave(&self.graph, leaf, &mut ways);
                        open.push((*next, ways));
                    }
                    Next::End(end) => {
                        ends[ends_at(&self.ends, &end.deparse)].insert(path);
                    }
                    Next::Drop | Next::Onward => {}
                }
            }
        }
    }

    /// Where a table shares its stage: visits that apply it, and others which look at more than these, or all others if it is not exact.
    pub fn beside(&self, table: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
        let applies = |at: &usize| names::tables(&self.graph, *at).contains(&table);
        let is_exact = self.logical.tables[table].keys.iter().all(|key| key.kind == LogicalKind::Exact);
        let stages: BTreeSet<usize> = (0..self.graph.nodes.len()).filter(applies).map(|at| self.stages[at]).collect();
        let of = |stage: usize| {
            let here = (0..self.graph.nodes.len()).filter(|at| self.stages[*at] == stage);
            let (own, others): (Vec<usize>, Vec<usize>) = here.partition(applies);
            let looked: BTreeSet<u32> = own.iter().flat_map(|at| rows::asked(self, *at)).collect();
            let more = |at: &usize| !is_exact || !rows::asked(self, *at).is_subset(&looked);
            (own, others.into_iter().filter(more).collect())
        };
        stages.into_iter().map(of).collect()
    }

    /// The tables with these entries.
    pub fn tables(&self, code: &Code, tables: &[Rows]) -> Result<Logical, Refusal> {
        self.within_cells(code, tables)?;
        Ok(logical::with_entries(&self.logical, code, tables))
    }

    /// The program with the entries of tables.
    pub fn program(&self, tables: &Logical) -> Result<Program, Refusal> {
        let deparser = Deparser { patterns: self.patterns.clone(), rows: self.rows.clone() };
        let mut program = Program { parser: self.parser.clone(), stages: Vec::new(), deparser };
        for stage in 0..self.target.stages {
            program.stages.push(self.stage(stage, tables)?);
        }
        Ok(program)
    }
}

/// How far each node is from the parser, at most, but not before its delay.
fn levels(graph: &Graph, code: &Code, delays: &Delays) -> Result<Vec<usize>, Refusal> {
    let mut levels: Vec<usize> = (0..graph.nodes.len()).map(|at| delays.get(&at).copied().unwrap_or(0)).collect();
    let mut leads = Vec::new();
    for (at, leaves) in leaves(graph).into_iter().enumerate() {
        leads.extend(leaves.iter().filter_map(|leaf| match leaf.next {
            Next::Node(next) => Some((at, next)),
            _ => None,
        }));
    }
    let looks = cells::looks(graph);
    loop {
        let before = levels.clone();
        leads.iter().for_each(|(at, next)| levels[*next] = levels[*next].max(levels[*at] + 1));
        cells::level(graph, code, &looks, &mut levels)?;
        if levels == before {
            return Ok(levels);
        }
        if let Some(at) = levels.iter().position(|level| *level > cells::MOST_LEVELS) {
            return too_much(graph.spans[at], "a visit that is cut again and again without end");
        }
    }
}

/// The leaves of a visit.
pub(super) fn leaves_of(tree: &Tree) -> Vec<&Leaf> {
    let mut leaves = Vec::new();
    tree.each_leaf(&mut |leaf| leaves.push(leaf));
    leaves
}

/// The leaves of each visit.
pub(super) fn leaves(graph: &Graph) -> Vec<Vec<&Leaf>> {
    graph.nodes.iter().map(|node| leaves_of(&node.tree)).collect()
}

fn all_leaves(graph: &Graph) -> Vec<&Leaf> {
    leaves(graph).concat()
}

/// Which of the ways a packet is put together in.
fn ends_at(ends: &[Deparse], end: &Deparse) -> usize {
    ends.iter().position(|other| other == end).unwrap_or(0)
}

/// Ends that are put together in the same way become one; the shapes are in the order of the ends that are left.
fn one_of_each(graph: &mut Graph, code: &Code, written: &BTreeSet<Loc>) -> Result<Vec<deparse::Shape>, Refusal> {
    let mut shapes: Vec<deparse::Shape> = Vec::new();
    let mut firsts: Vec<Deparse> = Vec::new();
    let mut other = HashMap::new();
    for end in ends(graph) {
        let shape = deparse::shape(&end, written).map_err(|what| deparse::growth(graph, code, &end, what))?;
        match shapes.iter().position(|other| other.is_like(&shape)) {
            Some(at) => {
                other.insert(end, firsts[at].clone());
            }
            None => {
                shapes.push(shape);
                firsts.push(end);
            }
        }
    }
    let change = |next: &mut Next| {
        if let Next::End(end) = next
            && let Some(first) = other.get(&end.deparse)
        {
            end.deparse = first.clone();
        }
    };
    graph.paths.iter_mut().for_each(|path| change(&mut path.next));
    graph.nodes.iter_mut().for_each(|node| node.tree.each_leaf_mut(&mut |leaf| change(&mut leaf.next)));
    Ok(shapes)
}

/// All ways in which packets are put together.
fn ends(graph: &Graph) -> Vec<Deparse> {
    let mut ends = Vec::new();
    let mut see = |next: &Next| {
        if let Next::End(end) = next
            && !ends.contains(&end.deparse)
        {
            ends.push(end.deparse.clone());
        }
    };
    nexts(graph).into_iter().for_each(&mut see);
    ends
}

/// Where paths of the parser and leaves lead, in their order.
fn nexts(graph: &Graph) -> Vec<&Next> {
    let paths = graph.paths.iter().map(|path| &path.next);
    paths.chain(all_leaves(graph).into_iter().map(|leaf| &leaf.next)).collect()
}

fn written(graph: &Graph) -> BTreeSet<Loc> {
    all_leaves(graph).iter().flat_map(|leaf| leaf.assigns.keys().copied()).collect()
}
