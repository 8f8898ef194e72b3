//! Names that a text may have: those that are known, if they are good ones, and others for the rest.

use crate::phv::Container;
use crate::text::Unit;
use crate::text::lexer::MOST_NAME;
use crate::text::lower::reserved;
use crate::text::names::{Bits, MemoryName, Parameter, StageNames};
use std::collections::HashSet;

/// Names of one unit.
pub(super) struct Namer<'u> {
    pub module: String,
    pub headers: Vec<(String, u8)>,
    pub containers: Vec<(String, Bits)>,
    pub nodes: Vec<Option<String>>,
    pub paths: Vec<String>,
    pub rows: Vec<String>,
    groups: Vec<(String, u16)>,
    unit: &'u Unit,
    stages: Vec<StageNames>,
}

/// Whether a text may declare the name.
fn good(name: &str) -> bool {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    let first = name.as_bytes().first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    letters && first && name.len() <= MOST_NAME && !name.ends_with('.') && !name.contains("..") && !reserved(name)
}

/// The name, or one with a number, that is good and not taken yet.
fn fresh(taken: &mut HashSet<String>, name: Option<&str>, kind: &str, number: usize) -> String {
    let made = format!("{kind}{number}");
    let mut chosen = name.filter(|n| good(n) && !taken.contains(*n)).map_or(made, str::to_owned);
    while !taken.insert(chosen.clone()) {
        chosen.push('_');
    }
    chosen
}

impl<'u> Namer<'u> {
    pub fn new(unit: &'u Unit) -> Self {
        let names = &unit.names;
        let module = if good(&names.module) { names.module.clone() } else { "unnamed".into() };
        let mut taken = HashSet::new();
        let containers = names.containers.iter().filter(|(n, b)| {
            let inside =
                b.container.0 < 24 && b.width > 0 && u32::from(b.lo) + u32::from(b.width) <= b.container.class().bits();
            inside && good(n) && taken.insert(n.clone())
        });
        let mut containers: Vec<(String, Bits)> = containers.cloned().collect();
        // What is exchanged has its name whatever else is known.
        for (name, &n) in unit.shared.iter().filter(|(n, _)| good(n)) {
            let bits = Bits::whole(Container(n.min(23)));
            if taken.insert(name.clone()) {
                containers.push((name.clone(), bits));
            }
        }
        let known = |n: u16| names.groups.iter().find(|g| g.1 == n).map(|g| g.0.as_str());
        let groups = unit.groups.keys().map(|&n| (fresh(&mut taken, known(n), "group", n.into()), n)).collect();
        let mut header_names = HashSet::new();
        let headers = names.headers.iter().filter(|(n, h)| *h < 16 && good(n) && header_names.insert(n.clone()));
        let headers = headers.cloned().collect();
        let program = &unit.program;
        let mut taken = HashSet::new();
        let of = |all: &'u [String], i: usize| all.get(i).map(String::as_str);
        let paths =
            (0..program.parser.paths.len()).map(|i| fresh(&mut taken, of(&names.paths, i), "path", i)).collect();
        let nodes = (0..program.parser.nodes.len())
            .map(|i| {
                let known = names.nodes.get(i)?.as_deref();
                known.map(|n| fresh(&mut taken, Some(n), "node", i))
            })
            .collect();
        let mut taken = HashSet::new();
        let rows = (0..program.deparser.rows.len()).map(|i| fresh(&mut taken, of(&names.rows, i), "row", i)).collect();
        let mut namer = Self { module, headers, containers, nodes, paths, rows, groups, unit, stages: Vec::new() };
        namer.stages = (0..program.stages.len()).map(|n| namer.stage_names(n)).collect();
        namer
    }

    /// Names of a stage that a text may have.
    fn stage_names(&self, number: usize) -> StageNames {
        let known = self.unit.names.stages.get(number).cloned().unwrap_or_default();
        let declared = |n: &str| self.containers.iter().any(|c| c.0 == n) || self.groups.iter().any(|g| g.0 == n);
        let mut taken: HashSet<String> = HashSet::new();
        let mut one =
            |name: &Option<String>| name.clone().filter(|n| good(n) && !declared(n) && taken.insert(n.clone()));
        let conditions = [0, 1].map(|i| one(&known.conditions[i]));
        let predicates = [0, 1].map(|i| one(&known.predicates[i]));
        // Memories stand one behind the other, as they are read again.
        let mut next = 0;
        let memories: Vec<MemoryName> = known
            .memories
            .into_iter()
            .filter(|m| {
                let place = m.base == next && m.words.is_power_of_two() && next + m.words <= 4096;
                let row = m.meter.is_none_or(|rate| crate::text::lower::meter_row(&rate).is_ok());
                let all = place && row && good(&m.name) && !declared(&m.name) && taken.insert(m.name.clone());
                next += if all { m.words } else { 0 };
                all
            })
            .collect();
        let mut taken = HashSet::new();
        let count = self.unit.program.stages.get(number).and_then(Option::as_ref).map_or(0, |s| s.actions.len());
        let actions = (0..count).map(|i| {
            let mut names = known.actions.get(i).cloned().unwrap_or_default();
            let name = Some(names.name.as_str()).filter(|n| !n.is_empty());
            names.name = fresh(&mut taken, name, "action", i);
            if !parameters_good(&names.parameters) {
                names.parameters.clear();
            }
            names
        });
        StageNames { conditions, predicates, memories, actions: actions.collect() }
    }

    pub fn stage(&self, number: usize) -> &StageNames {
        &self.stages[number]
    }

    /// Condition by its place.
    pub fn condition(&self, stage: usize, i: u8) -> String {
        let named = self.stages[stage].conditions.get(usize::from(i)).cloned().flatten();
        named.unwrap_or_else(|| format!("c{i}"))
    }

    pub fn group(&self, number: u16) -> String {
        self.groups.iter().find(|g| g.1 == number).map_or_else(|| number.to_string(), |g| g.0.clone())
    }

    pub fn header(&self, number: u8) -> String {
        self.headers.iter().find(|h| h.1 == number).map_or_else(|| number.to_string(), |h| h.0.clone())
    }

    /// Headers of a mask.
    pub fn header_list(&self, mask: u16) -> String {
        let all: Vec<String> = (0..16).filter(|h| mask >> h & 1 == 1).map(|h| self.header(h)).collect();
        all.join(", ")
    }
}

/// One behind the other, as they are laid out again.
fn parameters_good(all: &[Parameter]) -> bool {
    let mut next = 0;
    let mut taken = HashSet::new();
    all.iter().all(|p| {
        let place = p.at == next && matches!(p.bytes, 2 | 4 | 6);
        next = next.saturating_add(p.bytes);
        place && next <= 16 && good(&p.name) && taken.insert(&p.name)
    })
}
