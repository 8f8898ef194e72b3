//! Rules that can never win, because an earlier one of their type takes every message that they match.
//!
//! What is told is so; not all that is so is told. A rule is compared with earlier ones, each alone, and a pattern with each of the other's.
//! Which earlier ones may take its messages says a tree of their patterns, so time grows with the text of the rules, not with its square.

use super::ast::{Pattern, Rule, Rules, Step};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// Earlier rules that a rule is compared with, and as many of those that end with a pattern: the first ones.
const MOST_CANDIDATES: usize = 64;
/// Places of the tree that are looked at for a rule: `.` makes two of one.
const MOST_PLACES: usize = 1 << 12;

/// A rule that no message goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// Its application.
    pub application: String,
    /// Its message type.
    pub message: String,
    /// Its name.
    pub rule: String,
    /// Its line, from 1.
    pub line: u32,
    /// The rule that takes its messages.
    pub by: String,
    /// Line of that one.
    pub by_line: u32,
}

impl Shadowed {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        "E0861"
    }
}

impl fmt::Display for Shadowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { application, message, rule, line, by, by_line } = self;
        write!(
            f,
            "line {line}: rule `{rule}` of `{application}`, `{message}` never wins: every message that it matches goes by rule `{by}` of line {by_line}"
        )
    }
}

/// What a pattern asks of a byte, or of several.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Unit {
    Byte(u8),
    Any,
    Until(u8),
}

/// A pattern, unit by unit.
struct Units {
    all: Vec<Unit>,
    end: bool,
}

impl Units {
    fn of(pattern: &Pattern) -> Self {
        let of_step = |step: &Step| match step {
            Step::Text(bytes) => bytes.iter().map(|byte| Unit::Byte(*byte)).collect(),
            Step::Skip(count) => vec![Unit::Any; usize::from(*count)],
            Step::Until(stop) => vec![Unit::Until(*stop)],
        };
        Self { all: pattern.steps.iter().flat_map(of_step).collect(), end: pattern.end }
    }

    /// Whether it matches all that the other one does.
    fn covers(&self, other: &Self) -> bool {
        let (wide, narrow) = (&self.all, &other.all);
        let each =
            |(wide, narrow): (&Unit, &Unit)| wide == narrow || *wide == Unit::Any && matches!(narrow, Unit::Byte(_));
        let ends = !self.end || other.end && wide.len() == narrow.len();
        ends && wide.len() <= narrow.len() && wide.iter().zip(narrow).all(each)
    }
}

/// What a rule asks of a field.
struct Asked {
    field: u8,
    patterns: Vec<Units>,
}

impl Asked {
    fn covers(&self, other: &Self) -> bool {
        let one_does = |pattern: &Units| self.patterns.iter().any(|wide| wide.covers(pattern));
        self.field == other.field && other.patterns.iter().all(one_does)
    }

    /// The length of its shortest pattern: the longer, the fewer rules ask for it.
    fn least(&self) -> usize {
        self.patterns.iter().map(|pattern| pattern.all.len()).min().unwrap_or(0)
    }
}

fn asked(rule: &Rule) -> Vec<Asked> {
    let one =
        |m: &super::ast::FieldMatch| Asked { field: m.field, patterns: m.patterns.iter().map(Units::of).collect() };
    rule.matches.iter().map(one).collect()
}

/// Whether a rule takes every message that another one matches.
fn covers(wide: &[Asked], narrow: &[Asked]) -> bool {
    wide.iter().all(|asked| narrow.iter().any(|other| asked.covers(other)))
}

/// The place of a tree: the first rules whose pattern ends here, and those whose pattern ends here with the field.
#[derive(Default)]
struct Place {
    open: Vec<usize>,
    ended: Vec<usize>,
}

/// Patterns of earlier rules of a type, by their units: of each rule those of one field.
struct Tree {
    places: Vec<Place>,
    edges: HashMap<(usize, Unit), usize>,
    /// Where those of a field begin.
    fields: HashMap<u8, usize>,
}

impl Tree {
    fn new() -> Self {
        Self { places: Vec::new(), edges: HashMap::new(), fields: HashMap::new() }
    }

    fn place(&mut self) -> usize {
        self.places.push(Place::default());
        self.places.len() - 1
    }

    /// A rule whose number is higher than all that are there.
    fn add(&mut self, number: usize, rule: &[Asked]) {
        // What a rule takes, its field of the longest patterns takes.
        let Some(asked) = rule.iter().max_by_key(|asked| asked.least()) else { return };
        let first = self.fields.get(&asked.field).copied().unwrap_or_else(|| self.place());
        self.fields.insert(asked.field, first);
        for pattern in &asked.patterns {
            let mut at = first;
            for unit in &pattern.all {
                at = match self.edges.get(&(at, *unit)) {
                    Some(&next) => next,
                    None => {
                        let next = self.place();
                        self.edges.insert((at, *unit), next);
                        next
                    }
                };
            }
            let place = &mut self.places[at];
            let numbers = if pattern.end { &mut place.ended } else { &mut place.open };
            if numbers.len() < MOST_CANDIDATES && numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
    }

    /// The first rules that may take all that a rule matches.
    fn candidates(&self, rule: &[Asked]) -> Vec<usize> {
        let mut found = BTreeSet::new();
        for asked in rule {
            // All of its patterns are covered, so the longest is, which the fewest do.
            let pattern = asked.patterns.iter().max_by_key(|pattern| pattern.all.len());
            let (Some(pattern), Some(&first)) = (pattern, self.fields.get(&asked.field)) else { continue };
            let (mut here, mut looked) = (vec![first], 0);
            for unit in pattern.all.iter().map(Some).chain([None]) {
                looked += here.len();
                here.iter().for_each(|&at| found.extend(&self.places[at].open));
                let Some(&unit) = unit.filter(|_| looked <= MOST_PLACES) else { break };
                let any = matches!(unit, Unit::Byte(_)).then_some(Unit::Any);
                here = here
                    .iter()
                    .flat_map(|&at| [Some(unit), any].into_iter().flatten().map(move |unit| (at, unit)))
                    .filter_map(|edge| self.edges.get(&edge).copied())
                    .collect();
            }
            if pattern.end && looked <= MOST_PLACES {
                here.iter().for_each(|&at| found.extend(&self.places[at].ended));
            }
        }
        found.into_iter().take(MOST_CANDIDATES).collect()
    }
}

impl Rules {
    /// Rules that can never win.
    pub fn shadowed(&self) -> Vec<Shadowed> {
        let mut all = Vec::new();
        for (application, message) in self.applications.iter().flat_map(|a| a.types.iter().map(move |m| (a, m))) {
            let asked: Vec<Vec<Asked>> = message.rules.iter().map(asked).collect();
            let mut tree = Tree::new();
            for (n, rule) in message.rules.iter().enumerate() {
                let by = tree.candidates(&asked[n]).into_iter().find(|&earlier| covers(&asked[earlier], &asked[n]));
                all.extend(by.map(|by| &message.rules[by]).map(|by| Shadowed {
                    application: application.name.clone(),
                    message: message.name.clone(),
                    rule: rule.name.clone(),
                    line: rule.line,
                    by: by.name.clone(),
                    by_line: by.line,
                }));
                tree.add(n, &asked[n]);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::read;
    use crate::testing::{self, Limits};
    use sluice_formats::random::{Rng, test_seed};

    /// By comparing each rule with all earlier ones.
    fn by_all_pairs(rules: &Rules) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        for message in rules.applications.iter().flat_map(|a| &a.types) {
            let asked: Vec<_> = message.rules.iter().map(asked).collect();
            for (n, narrow) in asked.iter().enumerate() {
                let by = asked[..n].iter().position(|wide| covers(wide, narrow));
                all.extend(by.map(|by| (message.rules[n].line, message.rules[by].line)));
            }
        }
        all
    }

    #[test]
    fn what_is_told_is_what_all_pairs_tell() {
        let mut rng = Rng::new(test_seed("l7_shadow_pairs"));
        let mut told = 0;
        for _ in 0..400 {
            let limits = Limits { rules: *rng.choose(&[6, 40]).expect("a number"), ..Limits::default() };
            let rules = read("x.l7", &testing::rules(&mut rng, &limits).to_string()).unwrap();
            let found: Vec<_> = rules.shadowed().iter().map(|s| (s.line, s.by_line)).collect();
            assert_eq!(found, by_all_pairs(&rules), "{rules}");
            told += found.len();
        }
        assert!(told > 100, "{told}");
    }

    /// Comparisons for a file of so many rules.
    fn compared(rule: impl Fn(usize) -> String, count: usize) -> usize {
        let rules: Vec<String> = (0..count).map(|n| format!("rule {} -> queue 1\n", rule(n))).collect();
        let rules = rules.concat();
        let text = format!(
            "application a {{ port 9000 id 1 default drop message m = 1 {{ field f = 1 field g = 2\n{rules}}} }}"
        );
        let rules = read("x.l7", &text).unwrap_or_else(|e| panic!("{e}"));
        let (mut tree, mut compared) = (Tree::new(), 0);
        for (n, rule) in rules.applications[0].types[0].rules.iter().enumerate() {
            let asked = asked(rule);
            compared += tree.candidates(&asked).len();
            tree.add(n, &asked);
        }
        compared
    }

    #[test]
    fn a_rule_is_compared_with_few_others_however_many_there_are() {
        assert_eq!(compared(|n| format!("f ~ \"user:{n:06}\""), 20_000), 0);
        assert_eq!(compared(|n| format!("f ~ \"GET\" and g ~ \"/item/{n:06}$\""), 20_000), 0);
        assert!(compared(|n| format!("f ~ \"x\" | \"user:{n:06}\""), 20_000) < 20_000);
        // The worst: each may take the messages of all behind it, and no one does.
        assert!(
            compared(|n| format!("f ~ \"x\" and g ~ \"{}\"", (b'a' + (n % 26) as u8) as char), 2_000) <= 64 * 2_000
        );
    }
}
