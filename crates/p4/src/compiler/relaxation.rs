//! Which flag, of those that accept a part, makes a program fit.

use crate::allowed::Allowed;
use crate::compiler::fit::{MOST_WAYS, Tries};
use crate::front::interpret::code::Less;
use sluice_rmt::Target;

/// Most tries for all flags together.
const MOST_TRIES: usize = 24;
/// After so many numbers in vain the next ones are not tried.
const MOST_FAILED: usize = 2;

impl Tries<'_> {
    /// The flag that takes least away and makes it fit: one stack, or one array if arrays are tried, with less, else all stacks with as few
    /// elements.
    pub(crate) fn flag(&mut self, target: &Target, stages: (usize, usize), arrays: bool) -> Option<String> {
        let less = self.code.less.iter().map(|(less, most)| (less.clone(), *most));
        let less: Vec<(Less, u32)> = less.filter(|(less, _)| arrays || matches!(less, Less::Bound(_))).collect();
        let mut tries = MOST_TRIES;
        self.each = MOST_WAYS / 2 / (less.len() + 1);
        for one in &less {
            if let Some(words) = self.most_of(std::slice::from_ref(one), target, stages, &mut tries) {
                return Some(words);
            }
        }
        let stacks: Vec<(Less, u32)> = less.into_iter().filter(|(less, _)| matches!(less, Less::Bound(_))).collect();
        match stacks.len() {
            0 | 1 => None,
            _ => self.most_of(&stacks, target, stages, &mut tries),
        }
    }

    /// The largest number below all that there are with which it fits, of cells a power of two.
    fn most_of(
        &mut self,
        all: &[(Less, u32)],
        target: &Target,
        stages: (usize, usize),
        tries: &mut usize,
    ) -> Option<String> {
        let most = all.iter().map(|(_, most)| *most).max().filter(|most| *most > 1)?;
        let is_cells = matches!(all, [(Less::Cells(_), _)]);
        let number = |step: u32| if is_cells { 1 << step } else { step };
        let (first, last) = if is_cells { (0, (most - 1).ilog2()) } else { (1, most - 1) };
        let (mut found, mut failed) = (None, 0);
        self.left = self.each;
        // From the smallest up: larger ones take longer to follow.
        for number in (first..=last).map(number) {
            if *tries == 0 || failed == MOST_FAILED || found.is_some() && failed > 0 {
                break;
            }
            *tries -= 1;
            match self.fits_with(&allowed(self.program.allowed.clone(), all, number), target, stages) {
                true => found = Some(number),
                false => failed += 1,
            }
        }
        found.map(|number| all.iter().map(|(less, _)| words(less, number)).collect::<Vec<_>>().join(" "))
    }
}

fn allowed(before: Allowed, all: &[(Less, u32)], number: u32) -> Allowed {
    all.iter().fold(before, |allowed, (less, _)| match less {
        Less::Bound(name) => allowed.with_bound(name, number),
        Less::Cells(name) => allowed.with_cells(name, number),
    })
}

fn words(less: &Less, number: u32) -> String {
    let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
    match less {
        Less::Bound(name) => format!("--bound {}={number}", short(name)),
        Less::Cells(name) => format!("--cells {}={number}", short(name)),
    }
}
