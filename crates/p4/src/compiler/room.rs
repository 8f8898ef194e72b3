//! How a program is compiled so that its tables get as many entries as can be. What a visit decides beside a table has the table's rows more than
//! once, and what other visits of its stage look at makes rows of an exact key ternary. So a program is followed with visits that end before
//! or behind its tables, and placed with visits that wait for a later stage; of all that fits, that is taken which gives the tables most.

use crate::compiler::back::{Delays, plan};
use crate::compiler::compile::{Compiled, errors};
use crate::compiler::ir::Graph;
use crate::compiler::middle::{Ends, NO_ENDS, Refusal, explore_within};
use crate::compiler::ports::Ports;
use crate::compiler::traffic::{Traffic, numbered};
use crate::error::P4Errors;
use crate::front::interpret::Code;
use crate::{Program, Reference};
use sluice_object::rmt::{Logical, USUAL_SIZE};
use sluice_rmt::Target;
use std::collections::BTreeMap;

/// Most ways through a program that are followed.
pub(crate) const MOST_WAYS: usize = 6_000;
/// Most ways that are followed for all tries together, beside the first.
const MOST_WAYS_OF_TRIES: usize = 3_000;
/// Most tries; and most visits that all of them place together.
const MOST_TRIES: usize = 48;
const MOST_VISITS: usize = 2_000;
/// Most tables for which each way is tried by itself.
const MOST_TABLES: usize = 3;
/// Of the ways to end visits, so many of the best are tried with visits that wait.
const MOST_ENDS: usize = 3;

/// What an entry twice as many is worth where a table's keys are all exact, and where they are not; what a stage costs, and a ternary row.
const EXACT: u64 = 1024;
const OTHER: u64 = 256;
const STAGE: u64 = 512;
const ROW: u64 = 16;

/// What is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    pub ends: Ends,
    pub delays: Delays,
}

/// What a program gives its tables, compiled in one way.
struct Tried {
    choice: Choice,
    compiled: Compiled,
    worth: i64,
    /// Tables that have not all that a stage could give them.
    short: Vec<usize>,
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
    ) -> Result<(Choice, Compiled), P4Errors> {
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
        let best = tries.best(first);
        Ok((best.choice, best.compiled))
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
        let plan = plan(self.code, graph.clone(), self.target, self.stages, &choice.delays, None)?;
        let sources = self.program.sources.clone();
        let compiled = Compiled::new(plan, sources, self.target, self.stages, ports.clone());
        let (worth, short) = self.worth(&compiled);
        Ok(Tried { choice, compiled, worth, short })
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
        let mut all = vec![first];
        for ends in self.ends(&all[0].short) {
            all.extend(self.maybe(Choice { ends, delays: Delays::new() }));
        }
        // What came first is as it is compiled where nothing else gives more.
        all.sort_by_key(|tried| std::cmp::Reverse(tried.worth));
        all.truncate(MOST_ENDS);
        let waited = all.into_iter().map(|tried| self.waited(tried));
        let best = waited.reduce(|best, other| if other.worth > best.worth { other } else { best });
        best.unwrap_or_else(|| unreachable!("the first was tried"))
    }

    /// Ways to end visits at these tables: at each by itself, and at all of them.
    fn ends(&self, tables: &[usize]) -> Vec<Ends> {
        let each = tables.iter().take(MOST_TABLES).map(|table| vec![*table]);
        let sets = std::iter::once(tables.to_vec()).chain(each.filter(|_| tables.len() > 1));
        let kinds = [(true, false), (false, true), (true, true)];
        let of = |set: Vec<usize>| {
            kinds.map(|(before, behind)| {
                let some = |is: bool| if is { set.iter().copied().collect() } else { Default::default() };
                Ends { before: some(before), behind: some(behind) }
            })
        };
        sets.filter(|set| !set.is_empty()).flat_map(of).collect()
    }

    /// The same with visits that wait for a later stage, as long as that gives more.
    fn waited(&mut self, mut best: Tried) -> Tried {
        loop {
            let mut better: Option<Tried> = None;
            for delays in self.delays(&best) {
                let tried = self.maybe(Choice { ends: best.choice.ends.clone(), delays });
                let Some(tried) = tried else { continue };
                if tried.worth > better.as_ref().unwrap_or(&best).worth {
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
        for table in &tried.short {
            for (own, others) in plan.beside(*table) {
                for set in [others, own] {
                    let mut delays = tried.choice.delays.clone();
                    delays.extend(set.iter().map(|at| (*at, plan.stages[*at] + 1 - self.stages.0)));
                    if !set.is_empty() && !all.contains(&delays) {
                        all.push(delays);
                    }
                }
            }
        }
        all
    }

    /// What a program as it is compiled is worth, and tables that could have more.
    fn worth(&self, compiled: &Compiled) -> (i64, Vec<usize>) {
        let Ok(logical) = compiled.reserved(&self.entries) else { return (i64::MIN, self.tables()) };
        if compiled.unit_of(&logical, &self.entries).is_err() {
            return (i64::MIN, self.tables());
        }
        let share = compiled.share();
        let (mut worth, mut short) = (0, Vec::new());
        for (at, table) in logical.tables.iter().enumerate() {
            let Some(reserved) = table.reserved else { continue };
            let exact = is_exact(&logical, at);
            let wish = if table.size == 0 { USUAL_SIZE } else { table.size };
            worth += logarithm(reserved.min(wish)) * if exact { EXACT } else { OTHER };
            // A miss takes a row.
            let most = if exact { share.exact } else { share.ternary.saturating_sub(1) };
            if (reserved as usize) < (wish as usize).min(most) {
                short.push(at);
            }
        }
        let rows = |stage: &u8| logical.rows(*stage).map_or(0, |rows| rows.ternary.len() as u64);
        let rows: u64 = logical.stages.keys().map(rows).sum();
        let worth = worth / SCALE;
        ((worth as i64) - (STAGE * compiled.stages() as u64 + ROW * rows) as i64, short)
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

/// Of a logarithm, so many are one.
const SCALE: u64 = 64;

/// How often a number, and one, can be halved, in parts of [`SCALE`].
fn logarithm(number: u32) -> u64 {
    let number = u64::from(number) + 1;
    let whole = u64::from(number.ilog2());
    // Between powers of two it is a straight line.
    let rest = (number << 32 >> whole) - (1 << 32);
    SCALE * whole + (SCALE * rest >> 32)
}
