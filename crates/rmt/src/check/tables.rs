//! Rules of keys and tables.

use super::{Checked, at_most, container, ensure};
use crate::phv::Class;
use crate::program::Stage;
use crate::stage::{KEY_BITS, Key, Leads, Left, Right};
use crate::target::{NUMBERS, Target};
use std::collections::HashSet;

pub(super) fn check(at: &str, stage: &Stage, target: &Target) -> Checked {
    let mask = &stage.key.mask;
    let above = mask.0[(KEY_BITS / 8) as usize] >> (KEY_BITS % 8);
    ensure(above == 0, format!("{at}.key.mask"), "bits above 193", "194 bits")?;
    for (i, &piece) in stage.key.pieces.iter().enumerate() {
        at_most(format!("{at}.key.pieces[{i}]"), piece.into(), 7)?;
        at_most(format!("{at}.key.truth"), stage.key.truth[i % 2].into(), 15)?;
    }
    for (i, p) in stage.key.predicates.iter().enumerate() {
        let Some(p) = p else { continue };
        let at = format!("{at}.key.predicates[{i}]");
        match p.a {
            Left::Container(c) => container(&at, c)?,
            Left::Word(w) => at_most(&at, w.into(), 15)?,
        }
        let immediate = match p.b {
            Right::Container(c) => container(&at, c).map(|()| 0)?,
            Right::Imm(v) => v,
        };
        let wide = (p.mask | immediate) & !Class::C6.ones();
        ensure(wide == 0, &at, "a mask or immediate above 48 bits", "48 bits")?;
    }
    tables(&format!("{at}.tables"), stage, target)
}

fn tables(at: &str, stage: &Stage, target: &Target) -> Checked {
    let tables = &stage.tables;
    at_most(format!("{at}.exact"), tables.exact.len(), target.exact)?;
    at_most(format!("{at}.ternary"), tables.ternary.len(), target.ternary)?;
    let mut keys = HashSet::new();
    for (i, e) in tables.exact.iter().enumerate() {
        let at = format!("{at}.exact[{i}]");
        within(&at, &e.key, &stage.key.mask, "the key mask")?;
        ensure(keys.insert(e.key), &at, "a key that stands before", "each key once")?;
        leads(&at, &e.leads, stage)?;
    }
    for (i, e) in tables.ternary.iter().enumerate() {
        let at = format!("{at}.ternary[{i}]");
        within(&at, &e.mask, &stage.key.mask, "the key mask")?;
        within(&at, &e.value, &e.mask, "its mask")?;
        leads(&at, &e.leads, stage)?;
    }
    tables.default.iter().try_for_each(|l| leads(&format!("{at}.default"), l, stage))
}

fn within(at: &str, value: &Key, mask: &Key, what: &str) -> Checked {
    ensure(value.and(mask) == *value, at, format!("bits outside {what}"), format!("bits within {what}"))
}

fn leads(at: &str, leads: &Leads, stage: &Stage) -> Checked {
    let there = usize::from(leads.action) < stage.actions.len();
    ensure(there, format!("{at}.action"), leads.action, format!("below {}", stage.actions.len()))?;
    at_most(format!("{at}.number"), leads.number.into(), NUMBERS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;
    use crate::stage::{Exact, Ternary};
    use crate::target::TINY;

    fn stage() -> Stage {
        let mut s = Stage { actions: vec![Action::default()], ..Stage::default() };
        s.key.mask.put(0, 16, 0xffff);
        s
    }

    fn exact(value: u64) -> Exact {
        Exact { key: Key::default().with(0, 32, value), leads: Leads::default() }
    }

    fn problem(s: &Stage) -> String {
        super::check("stage", s, &TINY).unwrap_err().to_string()
    }

    #[test]
    fn keys_within_the_mask_and_different_pass() {
        let mut s = stage();
        s.tables.exact = (0..64).map(exact).collect();
        assert_eq!(super::check("stage", &s, &TINY), Ok(()));
        s.tables.exact.push(exact(64));
        assert_eq!(problem(&s), "stage.tables.exact: found 65, allowed: at most 64");
    }

    #[test]
    fn equal_keys_keys_outside_the_mask_and_missing_actions_are_refused() {
        let mut s = stage();
        s.tables.exact = vec![exact(1), exact(1)];
        assert_eq!(problem(&s), "stage.tables.exact[1]: found a key that stands before, allowed: each key once");
        s.tables.exact = vec![exact(0x10000)];
        assert!(problem(&s).contains("bits outside the key mask"));
        s.tables.exact = vec![];
        s.tables.default = Some(Leads { action: 1, ..Leads::default() });
        assert_eq!(problem(&s), "stage.tables.default.action: found 1, allowed: below 1");
        let value = Key::default().with(0, 2, 3);
        let mask = Key::default().with(0, 2, 1);
        s.tables.ternary = vec![Ternary { value, mask, leads: Leads::default() }];
        assert!(problem(&s).contains("bits outside its mask"));
        s.key.mask.put(194, 1, 1);
        assert!(problem(&s).contains("above 193"));
    }
}
