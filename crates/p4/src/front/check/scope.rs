//! Which names are there, from the innermost scope outwards.

use super::Checker;
use super::definitions::{DefId, Definition, Kind, Param};
use crate::error::Problem;
use crate::front::source::Span;
use crate::front::syntax::ast::Name;
use std::collections::HashMap;
use std::rc::Rc;

/// Scopes that are open; the first is that of the program.
pub(super) struct Scopes {
    open: Vec<HashMap<Rc<str>, Vec<DefId>>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { open: vec![HashMap::new()] }
    }
}

impl Scopes {
    pub fn declare(&mut self, name: &Rc<str>, id: DefId) {
        let scope = self.open.last_mut().expect("the outermost stays");
        scope.entry(name.clone()).or_default().push(id);
    }

    /// What the innermost scope has of that name.
    pub fn innermost(&self, name: &str) -> &[DefId] {
        self.open.last().and_then(|scope| scope.get(name)).map_or(&[], Vec::as_slice)
    }

    /// What a name stands for here; overloaded functions are several.
    pub fn find(&self, name: &str, global: bool) -> &[DefId] {
        let scopes = if global { &self.open[..1] } else { &self.open[..] };
        scopes.iter().rev().find_map(|scope| scope.get(name)).map_or(&[], Vec::as_slice)
    }

    fn names(&self) -> impl Iterator<Item = &Rc<str>> {
        self.open.iter().rev().flat_map(HashMap::keys)
    }
}

impl Checker<'_> {
    /// Does something in a scope of its own.
    pub(super) fn scoped<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.open.push(HashMap::new());
        let result = check(self);
        self.scopes.open.pop();
        result
    }

    /// What a name stands for, or a mistake.
    pub(super) fn lookup(&mut self, name: &Name, global: bool) -> Option<DefId> {
        let found = self.scopes.find(&name.text, global).last().copied();
        if found.is_none() {
            self.unknown(name);
        }
        found
    }

    pub(super) fn unknown(&mut self, name: &Name) {
        let near = || nearest(&name.text, self.scopes.names()).map(|near| format!("; did you mean `{near}`?"));
        let library = || {
            crate::front::source::declares(&name.text)
                .map(|file| format!("; {file} declares it: is `#include <{file}>` missing?"))
        };
        let hint = self.further_down(name).or_else(library).or_else(near).unwrap_or_default();
        let shown = sluice_packet::text::quote(&name.text);
        self.note(name.span, Problem::Unknown { name: shown, hint });
    }

    /// Where a name is declared behind its use, if it is.
    fn further_down(&self, name: &Name) -> Option<String> {
        let is_behind = |later: &&super::later::Later| {
            let within =
                |span: Span| span.text == name.span.text && span.start <= name.span.start && name.span.end <= span.end;
            later.inside.is_none_or(within) && later.span.text == name.span.text && later.span.start > name.span.start
        };
        let later = self.later.get(&name.text)?.iter().find(is_behind)?;
        let at = crate::error::place(later.span, self.sources);
        let why = if later.is_called { "; what is called is declared before, so there is no recursion" } else { "" };
        Some(format!("; it is declared further down, at {at}, and a name is declared before it is used{why}"))
    }

    /// Whether two definitions may have one name: functions that take different arguments.
    pub(super) fn overloads(&self, other: DefId, new: &Definition) -> bool {
        match (&self.definition(other).kind, &new.kind) {
            (Kind::Function(one), Kind::Function(two)) => {
                // A function of the program may have the name of one of the architecture that takes other types.
                let types = |s: &super::Signature| s.parameters.iter().map(|p| p.ty.clone()).collect::<Vec<_>>();
                let apart = one.external != two.external && types(one) != types(two);
                apart || differ(&one.parameters, &two.parameters)
            }
            (Kind::Package { parameters: one, .. }, Kind::Package { parameters: two, .. }) => differ(one, two),
            (
                Kind::Block { has_body: true, constructor: one, kind, .. },
                Kind::Block { has_body: true, constructor: two, kind: other, .. },
            ) => kind == other && differ(one, two),
            _ => false,
        }
    }
}

/// Whether arguments tell two functions or constructors apart: by their number or their names.
pub(super) fn differ(one: &[Param], two: &[Param]) -> bool {
    let names = |parameters: &[Param]| {
        let mut names: Vec<Rc<str>> = parameters.iter().map(|p| p.name.clone()).collect();
        names.sort();
        names
    };
    one.len() != two.len() || names(one) != names(two)
}

/// Most names that are looked at for one that is nearly the same.
const MOST_NAMES: usize = 2000;

/// A name that differs from this one in a letter or two.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n Rc<str>>) -> Option<Rc<str>> {
    if name.len() > 64 {
        return None;
    }
    let allowed = if name.len() < 5 { 1 } else { 2 };
    let near = |other: &&Rc<str>| other.len().abs_diff(name.len()) <= allowed;
    let all = names.take(MOST_NAMES).filter(near);
    let (away, found) = all.map(|other| (distance(name, other), other)).min()?;
    (away <= allowed || found.eq_ignore_ascii_case(name)).then(|| found.clone())
}

/// Letters to change, leave out or put in between two names.
fn distance(one: &str, two: &str) -> usize {
    let two = two.as_bytes();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, b) in two.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(before + 1);
        }
    }
    row[two.len()]
}
