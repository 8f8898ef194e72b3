//! Rules of action rows.

use super::{Checked, at_most, container, ensure};
use crate::action::{Action, B, Cross, When};
use crate::phv::{Class, writable};
use crate::state::{Access, Choice, StateOp};

pub(super) fn check(at: &str, action: &Action, system_stage: bool) -> Checked {
    for class in Class::ALL {
        let at = format!("{at}.picks[{}]", class as usize);
        let picks = &action.picks[class as usize];
        picks.container.iter().try_for_each(|&c| at_most(format!("{at}.container"), c.into(), 7))?;
        picks.data.iter().try_for_each(|&d| at_most(format!("{at}.data"), d.into(), 7))?;
        at_most(format!("{at}.amount"), picks.amount.into(), class.bits() as usize - 1)?;
        let inside = picks.rotate_mask & !class.ones() == 0;
        ensure(inside, format!("{at}.rotate_mask"), format!("{:#x}", picks.rotate_mask), "the container's width")?;
    }
    match action.cross {
        Cross::Container(c) => container(format!("{at}.cross"), c)?,
        Cross::Words(w) => at_most(format!("{at}.cross"), w.into(), 15)?,
        Cross::None | Cross::Hash | Cross::Number => {}
    }
    at_most(format!("{at}.cross_shift"), action.cross_shift.into(), 2)?;
    at_most(format!("{at}.cross_cut"), action.cross_cut.into(), 2)?;
    let mut seen = [false; 24];
    for (i, alu) in action.alus.iter().enumerate() {
        let at = format!("{at}.alus[{i}]");
        container(&at, alu.own)?;
        let twice = std::mem::replace(&mut seen[usize::from(alu.own.0)], true);
        ensure(!twice, &at, format!("a second operation on container {}", alu.own.0), "one a container")?;
        let immediate = if let B::Imm(v) = alu.b { v } else { 0 };
        let inside = (alu.mask | immediate) & !alu.own.class().ones() == 0;
        ensure(inside, &at, "a mask or immediate wider than the container", "the container's width")?;
        when(&at, alu.when)?;
    }
    let mut seen = [false; 16];
    for (i, op) in action.words.iter().enumerate() {
        let at = format!("{at}.words[{i}]");
        at_most(&at, op.word.into(), 15)?;
        let may = writable(op.word.into(), system_stage);
        ensure(
            may,
            &at,
            format!("a write of word {}", op.word),
            if system_stage { "words 9 to 15" } else { "words 11 to 15" },
        )?;
        let twice = std::mem::replace(&mut seen[usize::from(op.word)], true);
        ensure(!twice, &at, format!("a second write of word {}", op.word), "one a word")?;
        when(&at, op.when)?;
    }
    action.state.iter().try_for_each(|s| state(&format!("{at}.state"), s))
}

fn when(at: &str, when: When) -> Checked {
    match when {
        When::Always => Ok(()),
        When::If(i) | When::Unless(i) => at_most(format!("{at}.when"), i.into(), 1),
    }
}

fn state(at: &str, op: &StateOp) -> Checked {
    when(at, op.when)?;
    at_most(format!("{at}.index_mask"), op.index_mask.into(), 0xfff)?;
    at_most(format!("{at}.base"), op.base.into(), 0xfff)?;
    for to in [op.old_to, op.new_to].into_iter().flatten() {
        at_most(format!("{at}.to"), to.into(), 7)?;
    }
    match op.access {
        Access::Atom { choice: Choice::When(w), .. } => when(at, w),
        Access::Atom { .. } => Ok(()),
        Access::Meter { limit, top, shift, .. } => {
            at_most(format!("{at}.shift"), shift.into(), 55)?;
            let good = top >= limit && top >> 31 == 0;
            ensure(good, format!("{at}.top"), top, format!("at least the limit, {limit}, and below 2^31"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::{Alu, Op, WordOp, WordSource};
    use crate::phv::c2;
    use crate::state::Update;

    fn problem(action: Action) -> String {
        check("a", &action, false).unwrap_err().to_string()
    }

    #[test]
    fn widths_and_places_are_checked() {
        let alu = |mask, imm| Action { alus: vec![Alu::field(c2(0), Op::Add, B::Imm(imm), mask)], ..Action::default() };
        assert_eq!(check("a", &alu(0xffff, 0xffff), false), Ok(()));
        assert!(problem(alu(0x1_0000, 0)).contains("wider than the container"));
        assert!(problem(alu(1, 0x1_0000)).contains("wider than the container"));
        let mut action = Action::default();
        action.picks[0].amount = 16;
        assert_eq!(problem(action), "a.picks[0].amount: found 16, allowed: at most 15");
        let twice = Action { alus: vec![Alu::whole(c2(0), Op::Add, B::X); 2], ..Action::default() };
        assert!(problem(twice).contains("a second operation on container 0"));
        let alu = Alu { when: When::If(2), ..Alu::whole(c2(0), Op::Add, B::X) };
        assert!(problem(Action { alus: vec![alu], ..Action::default() }).contains("when"));
        let state = Some(StateOp { new_to: Some(8), ..StateOp::at(0, Update::KEEP) });
        assert_eq!(problem(Action { state, ..Action::default() }), "a.state.to: found 8, allowed: at most 7");
    }

    #[test]
    fn the_top_of_a_meter_is_no_less_than_its_limit_and_below_half_the_clock() {
        let meter = |limit, top| {
            let access = Access::Meter { limit, cost: 1, top, per_packet: true, shift: 0 };
            let state = Some(StateOp { access, ..StateOp::at(0, Update::KEEP) });
            check("a", &Action { state, ..Action::default() }, false)
        };
        assert_eq!(meter(5, (1 << 31) - 1), Ok(()));
        assert!(meter(5, 4).unwrap_err().to_string().contains("a.state.top: found 4"));
        assert!(meter(5, 1 << 31).is_err());
    }

    #[test]
    fn words_of_the_hardware_are_nobodys_and_those_of_the_system_only_its_own() {
        let write = |word| {
            let op = WordOp { word, source: WordSource::Imm(0), mask: 0, when: When::Always };
            Action { words: vec![op], ..Action::default() }
        };
        for word in 0..16 {
            assert_eq!(check("a", &write(word), false).is_ok(), word >= 11);
            assert_eq!(check("a", &write(word), true).is_ok(), word >= 9);
        }
    }
}
