//! All ways through a program, as a graph.
//!
//! A way is followed from its beginning each time, behind the parser from its end, by the list of what was decided on it; what is asked next
//! makes two ways of it, or one for each action of a table. Ways that are at the same place with the same values are one from there on, and so
//! are visits that do the same: what nobody reads any more is left out before they are compared.
//!
//! Before: a program's instances as a tree. After: a graph that gives for each packet, entries and cells what the reference gives. It keeps: what
//! the program writes, counts and sends, in its order. Verifier: `verify/follow.rs`.

use super::ends::{Ends, NO_ENDS};
use super::symbolic::{Event, Follower, Need, Refusal, RefusalKind, Stop};
use super::value::V;
use crate::compiler::ir::{Alt, Bits, Change, Graph, Leaf, Loc, Next, Node, ParserPath, Tree};
use crate::front::interpret::DROP;
use crate::front::interpret::code::{Code, St, System, Table};
use crate::front::source::Span;
use foldhash::{HashMap, HashMapExt};
use std::collections::{BTreeMap, BTreeSet};

/// Most ways that are followed.
pub(crate) const MOST_WAYS: usize = 6_000;
/// Most ways through a parser: more are never so alike that its few paths tell them apart.
const MOST_PARSED: usize = 1_000;
/// Most fields of a packet's headers and metadata: each way has all of them.
const MOST_FIELDS: u64 = 32_768;
/// Most nested decisions, so that a program of a thousand conditions is refused in words.
const MOST_DEPTH: usize = 400;

/// What a way is at the end of a visit.
#[derive(PartialEq, Eq, Hash)]
struct Place {
    trail: Vec<u32>,
    slots: Vec<V>,
    pending: Vec<(Bits, bool)>,
    sums: Vec<super::symbolic::Sum>,
    refs: BTreeMap<usize, (usize, Vec<u32>)>,
    returned: V,
    taken: BTreeMap<Loc, u32>,
    at: u32,
    verified: Option<super::symbolic::Verified>,
    hash: Option<(Bits, Bits)>,
    indices: Vec<(Bits, usize, bool)>,
    drop: bool,
    out: Vec<(usize, Vec<u32>)>,
    clone: (Option<super::clone::Asked>, bool, bool, Option<u16>),
}

impl Place {
    fn of(follower: Follower<'_>) -> Place {
        Place {
            trail: follower.trail,
            slots: follower.slots,
            pending: follower.pending,
            sums: follower.sums,
            refs: follower.refs.into_iter().collect(),
            returned: follower.returned,
            taken: follower.taken,
            at: follower.at,
            verified: follower.verified,
            hash: follower.hash,
            indices: follower.indices,
            drop: follower.drop,
            out: follower.out,
            clone: (follower.asked, follower.asked_before, follower.clone_of_egress, follower.cloned),
        }
    }
}

struct Explorer<'c> {
    code: &'c Code,
    /// Where ways are followed from: the beginning, or the end of the parser's way that is followed now.
    from: Follower<'c>,
    graph: Graph,
    known: HashMap<Node, usize>,
    memo: HashMap<Place, Next>,
    ways: usize,
    /// Most of them.
    most: usize,
    /// How often each place asked for something, and which.
    asked: HashMap<(u32, u32), (usize, Span)>,
}

/// What following came to.
enum Came {
    Need(Need),
    Leaf(Leaf),
}

/// The graph of a program, or why there is none.
pub(crate) fn explore(code: &Code) -> Result<Graph, Refusal> {
    explore_within(code, None, &NO_ENDS, &mut { MOST_WAYS })
}

/// The same without a statement, with visits that end where they need not, and with at most so many ways, of which is left what was not
/// followed.
pub(crate) fn explore_within(
    code: &Code,
    without: Option<Span>,
    ends: &Ends,
    left: &mut usize,
) -> Result<Graph, Refusal> {
    let fields = code.of_packets().map(|parameter| parameter.shape.leaves()).fold(0, u64::saturating_add);
    if fields > MOST_FIELDS {
        let states = code.parsers.get(code.pipeline.parser).into_iter().flat_map(|parser| &parser.states);
        let begins = |one: &St| if let St::Here(at) = one { Some(*at) } else { None };
        let span = states.flat_map(|state| &state.body).find_map(begins).unwrap_or_default();
        let what = format!(
            "{fields} fields of headers and metadata, elements of stacks each; up to {MOST_FIELDS} are followed"
        );
        return Err(Refusal::new(span, RefusalKind::TooMuch, what));
    }
    let mut explorer = Explorer::new(Follower { without, ..Follower::new(code, ends) }, *left);
    let came = explorer.parser(&mut Vec::new(), BTreeMap::new(), BTreeMap::new());
    *left = left.saturating_sub(explorer.ways);
    came.map(|()| explorer.graph)
}

/// The graph of a system program, and for each of its visits whether it is of the first stage or the last.
pub(crate) fn explore_system(code: &Code, system: &System) -> Result<(Graph, Vec<usize>), Refusal> {
    let mut explorer = Explorer::new(Follower::new(code, &NO_ENDS), MOST_WAYS);
    explorer.graph.is_system = true;
    let mut stages = Vec::new();
    for (stage, control) in system.controls.iter().enumerate() {
        explorer.from = Follower { system: Some(*control), ..Follower::new(code, &NO_ENDS) };
        explorer.known.clear();
        explorer.memo.clear();
        let before = explorer.graph.nodes.len();
        explorer.visit(&mut Vec::new())?;
        if explorer.graph.nodes.len() > before + 1 {
            // What comes first is what is known last.
            let what = "a stage of a system program that looks or acts twice; here it would do so the second time";
            return Err(Refusal::new(explorer.graph.spans[before], RefusalKind::TooMuch, what));
        }
        stages.resize(explorer.graph.nodes.len(), stage);
    }
    Ok((explorer.graph, stages))
}

impl<'c> Explorer<'c> {
    /// Nothing is followed yet.
    fn new(from: Follower<'c>, most: usize) -> Self {
        Explorer {
            code: from.code,
            from,
            graph: Graph::default(),
            known: HashMap::new(),
            memo: HashMap::new(),
            ways: 0,
            most,
            asked: HashMap::new(),
        }
    }

    /// What a way comes to, and how it is there.
    fn follow(&mut self, script: &[Event]) -> Result<(Came, Follower<'c>), Refusal> {
        self.ways += 1;
        if self.ways > self.most || script.len() > MOST_DEPTH {
            return Err(self.too_many(script.len()));
        }
        let mut follower = self.from.clone();
        follower.script.extend_from_slice(&script[follower.done..]);
        std::mem::swap(&mut follower.locs, &mut self.graph.locs);
        let ended = follower.packet();
        std::mem::swap(&mut follower.locs, &mut self.graph.locs);
        let span = follower.span;
        let came = match ended {
            Ok(leaf) => Came::Leaf(leaf),
            Err(Stop::Need(need)) => {
                if !matches!(*need, Need::Parsed | Need::Cut(_)) {
                    self.asked.entry((span.text, span.start)).or_insert((0, span)).0 += 1;
                }
                Came::Need(*need)
            }
            Err(Stop::Refused(refusal)) => return Err(*refusal),
            Err(Stop::Exit | Stop::Parser(_) | Stop::Drop) => {
                let what = "a block that ends in a way that it cannot".to_string();
                return Err(Refusal::new(span, RefusalKind::NotThere, what));
            }
        };
        Ok((came, follower))
    }

    /// The refusal of a program that nobody can follow to its end, where most of its ways part.
    fn too_many(&self, depth: usize) -> Refusal {
        let most = self.asked.values().max_by_key(|(times, span)| (*times, std::cmp::Reverse((span.text, span.start))));
        let (times, span) = most.copied().unwrap_or_default();
        let what = match depth > MOST_DEPTH {
            true => format!("a program with more than {MOST_DEPTH} decisions on one way through it"),
            false if self.graph.paths.len() > MOST_PARSED => {
                format!("a parser with more than {MOST_PARSED} ways through it; {times} times they are parted here")
            }
            false => {
                format!("a program with more than {MOST_WAYS} ways through it; {times} of them are parted here")
            }
        };
        Refusal::new(span, RefusalKind::TooMuch, what)
    }

    /// The parser's ways, in the order in which they are tried.
    fn parser(
        &mut self,
        script: &mut Vec<Event>,
        bytes: BTreeMap<u32, (u8, u8)>,
        has: BTreeMap<u32, (u8, u8)>,
    ) -> Result<(), Refusal> {
        let (came, mut follower) = self.follow(script)?;
        let Came::Need(need) = came else { return Ok(()) };
        let resume = follower.resume.take().filter(|_| matches!(need, Need::Packet(_) | Need::Least));
        let before = resume.map(|resume| std::mem::replace(&mut self.from, *resume));
        match need {
            Need::Packet(wanted) => {
                let both = (with(&bytes, &wanted), with(&has, &wanted));
                let is_sure = both.1.as_ref() == Some(&has);
                if let (Some(with), Some(has)) = both {
                    script.push(Event::Yes);
                    self.parser(script, with, has)?;
                    script.pop();
                }
                if !is_sure {
                    script.push(Event::No);
                    let has = without(&has, &wanted).unwrap_or(has);
                    self.parser(script, bytes, has)?;
                    script.pop();
                }
            }
            Need::Least => {
                for event in [Event::Yes, Event::No] {
                    script.push(event);
                    self.parser(script, bytes.clone(), has.clone())?;
                    script.pop();
                }
            }
            Need::Parsed => {
                let (least, taken, span) = (follower.least, follower.taken.clone(), follower.parsed_at);
                let verify = follower.verified.as_ref().map(|verified| verified.span);
                let behind = std::mem::replace(&mut self.from, follower);
                script.push(Event::Parsed);
                let mut next = self.visit(script)?;
                script.pop();
                // What the program drops, and what is beyond a bound of its parser, is dropped by an action, so that it counts as that.
                if next == Next::Drop {
                    next =
                        Next::Node(self.add(Node { tree: Tree::Leaf(Leaf::to(Next::Drop)), needs: Vec::new() }, span));
                }
                self.from = behind;
                self.graph.paths.push(ParserPath {
                    bytes,
                    has,
                    least,
                    taken,
                    verify,
                    ways: BTreeMap::new(),
                    next,
                    span,
                });
                if self.graph.paths.len() > MOST_PARSED {
                    return Err(self.too_many(script.len()));
                }
            }
            _ => {}
        }
        if let Some(before) = before {
            self.from = before;
        }
        Ok(())
    }

    /// The visit that a way begins.
    fn visit(&mut self, script: &mut Vec<Event>) -> Result<Next, Refusal> {
        let mut span = Span::default();
        let tree = self.tree(script, &mut span)?;
        if let Tree::Leaf(leaf) = &tree
            && leaf.assigns.is_empty()
            && leaf.access.is_none()
            && leaf.bounds.is_empty()
        {
            match &leaf.next {
                Next::End(end) if end.port.known() != Some(0) || end.group.known() != Some(0) => {}
                Next::End(end) if end.clone.is_some() => {}
                next => return Ok(next.clone()),
            }
        }
        let mut needs = BTreeSet::new();
        self.needs(&tree, &mut needs);
        let node = Node { tree, needs: needs.into_iter().collect() };
        Ok(Next::Node(self.add(node, span)))
    }

    /// The number of a visit, which is new if there is none like it.
    fn add(&mut self, node: Node, span: Span) -> usize {
        if let Some(at) = self.known.get(&node) {
            return *at;
        }
        let at = self.graph.nodes.len();
        self.graph.nodes.push(node.clone());
        self.graph.spans.push(span);
        self.known.insert(node, at);
        at
    }

    fn tree(&mut self, script: &mut Vec<Event>, span: &mut Span) -> Result<Tree, Refusal> {
        let (came, follower) = self.follow(script)?;
        let at = follower.span;
        match came {
            Came::Leaf(leaf) => {
                if let Next::End(end) = &leaf.next {
                    if let Some(session) = end.clone {
                        let clones = self.graph.clones.entry(session).or_default();
                        clones.span = follower.cloned_at;
                        clones.are_beside |= end.port.known() != Some(DROP);
                    }
                    self.graph.port_spans.entry(end.port.clone()).or_insert(follower.port_span);
                }
                let lines = &self.graph.locs;
                let looked = leaf.access.as_ref().and_then(|access| lines.lines.cells(access.array));
                let written = leaf.assigns.iter().find_map(|(loc, bits)| lines.line(*loc, Some(bits)));
                *span = looked.or(written).unwrap_or(at);
                Ok(Tree::Leaf(leaf))
            }
            Came::Need(Need::Test(test)) => {
                *span = at;
                self.graph.locs.lines.ask(&test, at);
                script.push(Event::Yes);
                let yes = self.tree(script, span)?;
                script.pop();
                script.push(Event::No);
                let no = self.tree(script, span)?;
                script.pop();
                *span = at;
                Ok(if yes == no { yes } else { Tree::Test(test, Box::new(yes), Box::new(no)) })
            }
            Came::Need(Need::Table(table, keys)) => {
                let mut all = Vec::new();
                for alt in alternatives(&self.code.tables[table]) {
                    script.push(Event::Alt(alt));
                    all.push((alt, self.tree(script, span)?));
                    script.pop();
                }
                *span = at;
                // What is found is no matter, to nobody.
                if self.code.tables[table].direct.is_empty()
                    && let Some((_, first)) = all.first()
                    && all.iter().all(|(_, tree)| tree == first)
                    && !has_data(first)
                {
                    return Ok(all.swap_remove(0).1);
                }
                Ok(Tree::Table(table, keys, all))
            }
            Came::Need(Need::Cut(mut leaf)) => {
                *span = at;
                let place = Place::of(follower);
                let next = match self.memo.get(&place) {
                    Some(next) => next.clone(),
                    None => {
                        script.push(Event::Cut);
                        let next = self.visit(script)?;
                        script.pop();
                        self.memo.insert(place, next.clone());
                        next
                    }
                };
                let mut live = BTreeSet::new();
                self.live(&next, &mut live);
                leaf.assigns.retain(|loc, _| live.contains(loc));
                let is_read = leaf.assigns.values().any(Bits::has_cell);
                if !is_read && leaf.access.as_ref().is_some_and(|access| access.change == Change::Keep) {
                    leaf.access = None;
                }
                Ok(Tree::Leaf(Leaf { next, ..*leaf }))
            }
            Came::Need(..) => Ok(Tree::Leaf(Leaf::to(Next::Drop))),
        }
    }

    /// What has to be kept for what comes next.
    fn live(&self, next: &Next, into: &mut BTreeSet<Loc>) {
        match next {
            Next::Node(at) => into.extend(self.graph.nodes[*at].needs.iter().copied()),
            Next::Drop | Next::Onward => {}
            Next::End(end) => {
                for bits in [&end.port, &end.group] {
                    bits.locs(&mut |loc| {
                        into.insert(loc);
                    });
                }
                into.extend(end.deparse.outs.iter().map(|out| out.loc));
            }
        }
    }

    /// What a visit and those behind it look at, or compute with, of what was there before.
    fn needs(&self, tree: &Tree, into: &mut BTreeSet<Loc>) {
        tree.decides_by(&mut |loc| {
            into.insert(loc);
        });
        tree.each_leaf(&mut |leaf| {
            let mut live = BTreeSet::new();
            self.live(&leaf.next, &mut live);
            live.retain(|loc| !leaf.assigns.contains_key(loc));
            into.extend(live);
            leaf.reads(&mut |loc| {
                into.insert(loc);
            });
        });
    }
}

/// What a table may come to.
fn alternatives(table: &Table) -> Vec<Alt> {
    let mut all = Vec::new();
    let listed = table.actions.iter().enumerate();
    if !table.keys.is_empty() {
        for (action, listed) in listed.clone() {
            let used = !table.constant || table.entries.iter().any(|entry| entry.action == action);
            if used && !listed.default_only || table.entries.iter().any(|entry| entry.action == action) {
                all.push(Alt { hit: true, action });
            }
        }
    }
    for (action, listed) in listed {
        let possible = !table.default_constant && !listed.table_only;
        if possible || table.default.0 == action {
            all.push(Alt { hit: false, action });
        }
    }
    all
}

/// The packet's bytes with what is wanted of them; nothing if they have something else.
fn with(bytes: &BTreeMap<u32, (u8, u8)>, wanted: &[(u32, Bits, Bits)]) -> Option<BTreeMap<u32, (u8, u8)>> {
    let mut all = bytes.clone();
    give(&mut all, wanted).then_some(all)
}

/// The packet's bytes where they are not what is wanted, if that is about a single bit which they may have.
fn without(bytes: &BTreeMap<u32, (u8, u8)>, wanted: &[(u32, Bits, Bits)]) -> Option<BTreeMap<u32, (u8, u8)>> {
    let mut single = BTreeMap::new();
    give(&mut single, wanted);
    // Bits that the packet has anyway are not asked for.
    for (byte, (mask, value)) in &mut single {
        let (known, has) = bytes.get(byte).copied().unwrap_or_default();
        let sure = known & *mask & !(has ^ *value);
        (*mask, *value) = (*mask & !sure, *value & !sure);
    }
    single.retain(|_, (mask, _)| *mask != 0);
    if single.len() != 1 {
        return None;
    }
    let (byte, (mask, value)) = single.into_iter().next().filter(|(_, (mask, _))| mask.is_power_of_two())?;
    let mut all = bytes.clone();
    let (known, has) = all.entry(byte).or_default();
    if *known & mask != 0 {
        return None;
    }
    *known |= mask;
    *has |= mask & !value;
    Some(all)
}

/// Adds what is wanted to what the packet has; false if that is something else.
pub(super) fn give(all: &mut BTreeMap<u32, (u8, u8)>, wanted: &[(u32, Bits, Bits)]) -> bool {
    for (first, mask, value) in wanted {
        let width = mask.width();
        for i in 0..width {
            let low = width - 1 - i;
            if mask.slice(low, 1).known() == Some(0) {
                continue;
            }
            let wanted = value.slice(low, 1).known().unwrap_or(0) as u8;
            let (byte, bit) = ((first + i) / 8, 7 - (first + i) % 8);
            let (mask, value) = all.entry(byte).or_default();
            if *mask >> bit & 1 == 1 && *value >> bit & 1 != wanted {
                return false;
            }
            *mask |= 1 << bit;
            *value |= wanted << bit;
        }
    }
    true
}

/// Whether anything of an entry's data is looked at.
fn has_data(tree: &Tree) -> bool {
    let mut has = false;
    tree.each_leaf(&mut |leaf| has |= leaf.has_data());
    has
}
