//! Numbers and short names of what a program tells.

use super::{Refused, refused};
use crate::front::source::Span;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The first byte of a number says what has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Prefix {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ControllerHeader = 0x04,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
}

/// What needs a number.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub prefix: Prefix,
    pub name: String,
    /// What the number is made of: the name, but for headers of the controller.
    pub hashed: String,
    /// `@id`.
    pub given: Option<u32>,
    pub span: Span,
}

/// Numbers for all, in their order: those that are given first, then by hash, names in their order.
pub(super) fn numbers(all: &[Wanted]) -> Result<Vec<u32>, Refused> {
    let mut taken: HashMap<u32, &Wanted> = HashMap::new();
    let mut ids = vec![0; all.len()];
    for (at, wanted) in all.iter().enumerate() {
        let Some(given) = wanted.given else { continue };
        let prefix = (wanted.prefix as u32) << 24;
        let id = if given >> 24 == 0 { prefix | given } else { given };
        if id & 0xff00_0000 != prefix || id & 0x00ff_ffff == 0 {
            let why = format!("here it is 0x{:x} to 0x{:x}", prefix | 1, prefix | 0x00ff_ffff);
            return refused(wanted.span, format!("@id(0x{given:x})"), why);
        }
        if let Some(other) = taken.insert(id, wanted) {
            return refused(wanted.span, format!("@id(0x{id:x})"), format!("`{}` has it already", other.name));
        }
        ids[at] = id;
    }
    let mut order: Vec<usize> = (0..all.len()).filter(|at| all[*at].given.is_none()).collect();
    order.sort_by(|a, b| all[*a].hashed.cmp(&all[*b].hashed));
    for at in order {
        let wanted = &all[at];
        let mut low = hash(&wanted.hashed) & 0x00ff_ffff;
        let id = loop {
            let id = ((wanted.prefix as u32) << 24) | low;
            if low != 0 && !taken.contains_key(&id) {
                break id;
            }
            low = (low + 1) & 0x00ff_ffff;
        };
        taken.insert(id, wanted);
        ids[at] = id;
    }
    Ok(ids)
}

/// Jenkins' one-at-a-time hash.
fn hash(text: &str) -> u32 {
    let mut hash = 0u32;
    for byte in text.bytes() {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// The shortest last parts of each name that no other of its kind has.
pub(super) fn aliases(all: &[Wanted]) -> Vec<String> {
    let mut counts: BTreeMap<(Prefix, &str), usize> = BTreeMap::new();
    for wanted in all {
        let own: HashSet<&str> = suffixes(&wanted.name).collect();
        own.into_iter().for_each(|suffix| *counts.entry((wanted.prefix, suffix)).or_default() += 1);
    }
    let alias = |wanted: &Wanted| {
        let found = suffixes(&wanted.name).find(|suffix| counts[&(wanted.prefix, *suffix)] == 1);
        found.unwrap_or(&wanted.name).to_string()
    };
    all.iter().map(alias).collect()
}

/// The same of tables.
pub(crate) fn table_aliases<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = |name: &str| {
        let (name, hashed) = (name.to_string(), String::new());
        Wanted { prefix: Prefix::Table, name, hashed, given: None, span: Span::default() }
    };
    aliases(&names.map(wanted).collect::<Vec<_>>())
}

/// From the shortest to the whole name.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let dots = name.char_indices().rev().filter(|(_, c)| *c == '.').map(|(at, _)| &name[at + 1..]);
    dots.chain(std::iter::once(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(prefix: Prefix, name: &str, given: Option<u32>) -> Wanted {
        Wanted { prefix, name: name.to_string(), hashed: name.to_string(), given, span: Span::default() }
    }

    #[test]
    fn numbers_are_those_that_the_public_compiler_gives() {
        let all = [
            wanted(Prefix::Action, "NoAction", None),
            wanted(Prefix::Table, "ingressImpl.t1", None),
            wanted(Prefix::ActionProfile, "IngressI.as", None),
            wanted(Prefix::Digest, "test_digest_t", None),
        ];
        assert_eq!(numbers(&all).unwrap(), [21257015, 49173205, 291652621, 387015589]);
    }

    #[test]
    fn what_is_taken_leads_to_the_next_and_given_numbers_come_first() {
        let all = [
            wanted(Prefix::Action, "NoAction", None),
            wanted(Prefix::Action, "other", Some(21257015)),
            wanted(Prefix::Action, "third", Some(7)),
        ];
        assert_eq!(numbers(&all).unwrap(), [21257016, 21257015, 0x01000007]);
        for given in [0x02000001, 0x01000000, 0] {
            assert!(numbers(&[wanted(Prefix::Action, "a", Some(given))]).is_err());
        }
        assert!(numbers(&[wanted(Prefix::Table, "a", Some(1)), wanted(Prefix::Table, "b", Some(0x02000001))]).is_err());
    }

    #[test]
    fn an_alias_is_the_shortest_end_that_is_alone() {
        let all = [
            wanted(Prefix::Table, "s.c1.t", None),
            wanted(Prefix::Table, "s.c2.t", None),
            wanted(Prefix::Action, "s.c2.t", None),
            wanted(Prefix::Table, "u", None),
            wanted(Prefix::Table, "x.u", None),
        ];
        assert_eq!(aliases(&all), ["c1.t", "c2.t", "t", "u", "x.u"]);
    }
}
