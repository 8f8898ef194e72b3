//! How a program is compiled so that its tables get as many entries as can be. What a visit decides beside a table has the table's rows more than
//! once, and what other visits of its stage look at makes rows of an exact key ternary. So a program is followed with visits that end before
//! or behind its tables, and placed with visits that wait for a later stage; of all that fits, that is taken which gives the tables most.

use crate::compiler::back::{ALIKE, Delays, FEWER, SHARED, Wishes, has_ways, plan};
use crate::compiler::compile::{Compiled, errors};
use crate::compiler::ir::Graph;
use crate::compiler::middle::{Ends, MOST_WAYS, NO_ENDS, Refusal, explore_within};
use crate::compiler::ports::Ports;
use crate::compiler::traffic::{Traffic, numbered};
use crate::error::P4Errors;
use crate::front::interpret::Code;
use crate::{Program, Reference};
use sluice_object::rmt::{Logical, USUAL_SIZE};
use sluice_rmt::Target;
use std::collections::{BTreeMap, BTreeSet};

/// Most ways that are followed for all tries together, beside the first.
const MOST_WAYS_OF_TRIES: usize = 6_000;
/// Most tries; and most visits that all of them place together.
const MOST_TRIES: usize = 64;
const MOST_VISITS: usize = 1_500;
/// Most tables for which each way is tried by itself.
const MOST_TABLES: usize = 3;

/// What an entry twice as many is worth where a table's keys are all exact, and where they are not; what a stage costs, and a ternary row.
const EXACT: i64 = 16;
const OTHER: i64 = 4;
const STAGE: i64 = 512;
const ROW: i64 = 16;

/// What is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub ends: Ends,
    pub wishes: Wishes,
}

impl Compiled {
    /// What was done so that tables have fewer rows for each entry, or exact ones.
    pub fn cuts(&self) -> Vec<&'static str> {
        let (Ends { before, behind, found }, fewer) = (&self.choice.ends, &self.plan.fewer);
        let all = [
            (fewer.contains(&ALIKE), "visits that do the same are one"),
            (fewer.contains(&SHARED), "ways to a table share its rows"),
            (fewer.contains(&FEWER), "what several rows say is said by one, or by exact ones"),
            (!before.is_empty(), "what is decided before a table is a visit of its own"),
            (!behind.is_empty(), "what is decided behind a table is a visit of its own"),
            (!found.is_empty(), "the action of an entry is a visit of its own"),
            (!self.choice.wishes.delays.is_empty(), "visits wait for a stage in which no exact table is"),
        ];
        all.into_iter().filter(|(is, _)| *is).map(|(_, cut)| cut).collect()
    }
}

/// What a program gives its tables, compiled in one way.
struct Tried {
    compiled: Compiled,
    gives: Gives,
}

/// What tables get.
#[derive(Clone, Debug, Default)]
struct Gives {
    worth: i64,
    /// What it would be worth if these stages gave all that they could.
    most: i64,
    /// Entries of each table that may get some.
    entries: BTreeMap<usize, u32>,
    /// Tables that have not all that a stage could give them.
    short: Vec<usize>,
}

impl Gives {
    /// Whether it is better, and no table gets fewer entries than at first.
    fn is_more(&self, than: &Gives, first: &Gives) -> bool {
        let fewer = |(table, entries): (&usize, &u32)| self.entries.get(table).is_some_and(|found| found < entries);
        self.worth > than.worth && !first.entries.iter().any(fewer)
    }
}

/// Ways to compile one program.
struct Tries<'p> {
    program: &'p Program,
    code: &'p Code,
    target: &'p Target,
    stages: (usize, usize),
    traffic: Option<&'p Traffic<'p>>,
    entries: Reference,
    /// The program, followed with visits that end so; nothing if it cannot be.
    graphs: BTreeMap<Ends, Option<(Graph, Ports)>>,
    ways: usize,
    tries: usize,
    visits: usize,
}

impl Program {
    /// Compiles a program in the way that gives its tables most.
    pub(super) fn best(
        &self,
        code: &Code,
        target: &Target,
        stages: (usize, usize),
        traffic: Option<&Traffic>,
    ) -> Result<Compiled, P4Errors> {
        let entries = self.reference(crate::Undefined::Zero, 1)?;
        let mut tries = Tries {
            program: self,
            code,
            target,
            stages,
            traffic,
            entries,
            graphs: BTreeMap::new(),
            ways: MOST_WAYS_OF_TRIES,
            tries: MOST_TRIES,
            visits: MOST_VISITS,
        };
        let refused = |refusal| errors(refusal, &self.sources);
        let followed = tries.followed(&NO_ENDS, &mut { MOST_WAYS }).map_err(refused)?;
        tries.graphs.insert(Ends::default(), Some(followed));
        let first = tries.tried(Choice::default()).map_err(refused)?;
        Ok(tries.best(first).compiled)
    }
}

impl Tries<'_> {
    fn followed(&self, ends: &Ends, left: &mut usize) -> Result<(Graph, Ports), Refusal> {
        let mut graph = explore_within(self.code, None, ends, left)?;
        let ports = numbered(&mut graph, self.code, self.traffic)?;
        Ok((graph, ports))
    }

    /// The program compiled in one way, which was followed.
    fn tried(&mut self, choice: Choice) -> Result<Tried, Refusal> {
        let Some(Some((graph, ports))) = self.graphs.get(&choice.ends) else {
            unreachable!("it was followed with these ends");
        };
        self.visits = self.visits.saturating_sub(graph.nodes.len());
        self.tries = self.tries.saturating_sub(1);
        let plan = plan(self.code, graph.clone(), self.target, self.stages, &choice.wishes, None)?;
        let sources = self.program.sources.clone();
        let compiled = Compiled::new(plan, self.code, sources, self.target, self.stages, ports.clone()).chosen(choice);
        let gives = self.gives(&compiled);
        Ok(Tried { compiled, gives })
    }

    fn is_over(&self) -> bool {
        self.tries == 0 || self.visits == 0
    }

    /// The same where there may be too much to try already.
    fn maybe(&mut self, choice: Choice) -> Option<Tried> {
        if self.is_over() {
            return None;
        }
        if !self.graphs.contains_key(&choice.ends) {
            let mut left = self.ways;
            let followed = self.followed(&choice.ends, &mut left).ok();
            self.ways = left;
            self.graphs.insert(choice.ends.clone(), followed);
        }
        self.graphs[&choice.ends].as_ref()?;
        self.tried(choice).ok()
    }

    /// The best of what is tried.
    fn best(&mut self, first: Tried) -> Tried {
        let least = first.gives.clone();
        // Where one gets more, another one may get less.
        let others = least.entries.keys().filter(|table| !least.short.contains(table));
        let tables: Vec<usize> = least.short.iter().chain(others).copied().collect();
        let ends = if least.short.is_empty() { Vec::new() } else { self.ends(&tables) };
        let mut all = vec![first];
        for ends in ends {
            // The very first once more, for visits that wait.
            all.extend(self.maybe(Choice { ends: ends.clone(), wishes: Wishes::default() }));
            let has_ways = |tries: &Self| {
                let graph = tries.graphs.get(&ends).and_then(Option::as_ref);
                graph.is_some_and(|(graph, _)| has_ways(graph, tries.code))
            };
            if has_ways(self) {
                let wishes = Wishes { shared: true, ..Wishes::default() };
                all.extend(self.maybe(Choice { ends, wishes }));
            }
        }
        // What came first is as it is compiled where nothing else gives more.
        all[1..].sort_by_key(|tried| std::cmp::Reverse(tried.gives.worth));
        let best = all.into_iter().reduce(|best, other| {
            if other.gives.most <= best.gives.worth {
                return best;
            }
            let other = self.waited(other);
            if other.gives.is_more(&best.gives, &least) { other } else { best }
        });
        best.unwrap_or_else(|| unreachable!("the first was tried"))
    }

    /// Ways to end visits at these tables: at each by itself, and at all of them.
    fn ends(&self, tables: &[usize]) -> Vec<Ends> {
        let each = tables.iter().take(MOST_TABLES).map(|table| vec![*table]);
        let sets = std::iter::once(tables.to_vec()).chain(each.filter(|_| tables.len() > 1));
        let kinds = [
            [true, false, false],
            [false, true, false],
            [true, true, false],
            [false, false, true],
            [true, false, true],
        ];
        let of = |set: Vec<usize>| {
            kinds.map(|kind| {
                let [before, behind, found] =
                    kind.map(|is| if is { set.iter().copied().collect() } else { BTreeSet::new() });
                Ends { before, behind, found }
            })
        };
        std::iter::once(Ends::default()).chain(sets.flat_map(of)).collect()
    }

    /// The same with visits that wait for a later stage, as long as that gives more.
    fn waited(&mut self, mut best: Tried) -> Tried {
        loop {
            let mut better: Option<Tried> = None;
            for delays in self.delays(&best) {
                let mut choice = best.compiled.choice.clone();
                choice.wishes.delays = delays;
                let tried = self.maybe(choice);
                let Some(tried) = tried else { continue };
                if tried.gives.worth > better.as_ref().unwrap_or(&best).gives.worth {
                    better = Some(tried);
                }
            }
            match better {
                Some(better) => best = better,
                None => return best,
            }
        }
    }

    /// Where a table shares its stage: the others wait, or those that apply it do.
    fn delays(&self, tried: &Tried) -> Vec<Delays> {
        let plan = &tried.compiled.plan;
        let mut all = Vec::new();
        for table in &tried.gives.short {
            for (own, others) in plan.beside(*table) {
                for set in [others, own] {
                    let mut delays = tried.compiled.choice.wishes.delays.clone();
                    delays.extend(set.iter().map(|at| (*at, plan.stages[*at] + 1 - self.stages.0)));
                    if !set.is_empty() && !all.contains(&delays) {
                        all.push(delays);
                    }
                }
            }
        }
        all
    }

    /// What a program as it is compiled gives its tables.
    fn gives(&self, compiled: &Compiled) -> Gives {
        let nothing = || Gives { worth: i64::MIN, most: i64::MAX, short: self.tables(), ..Gives::default() };
        let Ok(logical) = compiled.reserved(&self.entries) else { return nothing() };
        if compiled.unit_of(&logical, &self.entries).is_err() {
            return nothing();
        }
        let share = compiled.share();
        let mut gives = Gives::default();
        for (at, table) in logical.tables.iter().enumerate() {
            let Some(reserved) = table.reserved else { continue };
            let exact = is_exact(&logical, at);
            let wish = if table.size == 0 { USUAL_SIZE } else { table.size };
            let room = wish.min(if exact { share.exact } else { share.ternary } as u32);
            let each = if exact { EXACT } else { OTHER };
            gives.worth += each * logarithm(reserved.min(wish));
            gives.most += each * logarithm(room.max(reserved.min(wish)));
            gives.entries.insert(at, reserved);
            // A ternary entry less is no matter, for rows that miss take some.
            if reserved < if exact { room } else { room / 2 } {
                gives.short.push(at);
            }
        }
        let rows = |stage: &u8| logical.rows(*stage).map_or(0, |rows| rows.ternary.len() as i64);
        let stages = STAGE * compiled.stages() as i64;
        gives.worth -= stages + ROW * logical.stages.keys().map(rows).sum::<i64>();
        gives.most -= stages;
        gives
    }

    fn tables(&self) -> Vec<usize> {
        (0..self.code.tables.len()).filter(|at| !self.code.tables[*at].keys.is_empty()).collect()
    }
}

/// Whether all keys of a table are exact.
fn is_exact(logical: &Logical, table: usize) -> bool {
    use sluice_object::rmt::logical::LogicalKind;
    logical.tables[table].keys.iter().all(|key| key.kind == LogicalKind::Exact)
}

/// How often a number, and one, can be halved, in parts of 64.
fn logarithm(number: u32) -> i64 {
    let number = u64::from(number) + 1;
    let whole = number.ilog2();
    // Between powers of two it is a straight line.
    let rest = (number << 32 >> whole) - (1 << 32);
    i64::from(64 * whole) + ((64 * rest) >> 32) as i64
}
