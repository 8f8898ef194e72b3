//! Which stages of the pipeline a module's programs run in. They ask for stages in an order; it is chosen here, when the module is
//! admitted, which ones these are (docs/design/object.md#stages).

use super::error::RmtError;
use super::placer::{Holding, Placer};
use super::quota::{Quota, StageQuota};
use crate::rmt::RmtPart;
use sluice_formats::rmt::target::Target;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Windows that a refusal names at most.
const MOST_NAMED: usize = 6;

/// The pipeline's stage by the program's.
pub type Stages = BTreeMap<u8, u8>;

/// What lacks in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Stages, in the order of the program's.
    pub stages: Vec<u8>,
    /// The first thing that is short, and where.
    pub lacks: String,
}

/// What is by stage, in other stages; those that are not named stay.
pub(super) fn moved<T>(all: BTreeMap<u8, T>, stages: &Stages) -> BTreeMap<u8, T> {
    all.into_iter().map(|(stage, one)| (stages.get(&stage).copied().unwrap_or(stage), one)).collect()
}

impl RmtPart {
    /// The same program in other stages; those that are not named stay.
    #[must_use]
    pub fn moved(&self, stages: &Stages) -> Self {
        let mut part = self.clone();
        part.stages = moved(part.stages, stages);
        if let Some(logical) = &mut part.logical {
            logical.stages = moved(std::mem::take(&mut logical.stages), stages);
        }
        part
    }
}

impl Holding {
    /// A program in the stages that were chosen for it.
    pub fn placed(&self, part: &Arc<RmtPart>) -> Arc<RmtPart> {
        match self.at.iter().all(|(own, at)| own == at) {
            true => part.clone(),
            false => Arc::new(part.moved(&self.at)),
        }
    }
}

impl Placer {
    /// Stages that have room for what is asked for: those that a policy chose or that are named, else the first ones in the same order.
    pub(super) fn choose(&self, module: u8, name: &str, quota: &Quota) -> Result<Stages, RmtError> {
        let is_system = |stage: u8| self.target.is_system(stage.into());
        let foreign = |stage: &u8| module != 0 && is_system(*stage);
        let wrong = quota.stages.iter().find(|(stage, asked)| foreign(stage) && **asked != StageQuota::default());
        if let Some((&stage, _)) = wrong {
            return Err(RmtError::SystemStage { stage, tenant: name.to_owned(), found: "resources" });
        }
        let asked: Vec<_> = quota.stages.iter().filter(|(stage, _)| !foreign(stage)).map(|(s, q)| (*s, q)).collect();
        let lacks = |stage: u8, asked: &StageQuota| self.fitted(stage, name, asked).err();
        let chosen: Option<Stages> = quota.stages.keys().map(|s| Some((*s, *quota.chosen.get(s)?))).collect();
        let is_own = |(stage, at): (&u8, &u8)| foreign(stage) == foreign(at);
        let fits = |at: &Stages| asked.iter().all(|(stage, quota)| lacks(at[stage], quota).is_none());
        if let Some(chosen) = chosen.filter(|at| at.iter().all(is_own) && fits(at)) {
            return Ok(chosen);
        }
        let Some(mut error) = asked.iter().find_map(|(stage, quota)| lacks(*stage, quota)) else {
            return Ok(quota.stages.keys().map(|stage| (*stage, *stage)).collect());
        };
        // A stage that the pipeline does not have is no other one.
        if asked.iter().any(|(stage, _)| usize::from(*stage) >= self.target.stages) {
            return Err(error);
        }
        // The system program's visits are before and after all others.
        let own = if module == 0 { Vec::new() } else { stages_of_tenants(&self.target) };
        // What each stage lacks for each that is asked for.
        let short: Vec<BTreeMap<u8, RmtError>> = asked
            .iter()
            .map(|(_, quota)| own.iter().filter_map(|at| Some((*at, lacks(*at, quota)?))).collect())
            .collect();
        let mut free = own.iter().copied();
        // The earliest stage for each leaves most for those after it.
        let chosen = asked.iter().zip(&short).map(|((stage, _), short)| {
            let at = free.find(|at| !short.contains_key(at))?;
            Some((*stage, at))
        });
        if let Some(chosen) = chosen.collect() {
            return Ok(chosen);
        }
        if let RmtError::NoRoom { elsewhere, .. } = &mut error {
            let named: Vec<u8> = asked.iter().map(|(stage, _)| *stage).collect();
            let others = windows(&own, asked.len()).into_iter().filter(|window| *window != named);
            let lacking = others.filter_map(|stages| {
                let lacks = stages.iter().zip(&short).find_map(|(at, short)| short.get(at))?.lack();
                Some(Window { stages, lacks })
            });
            *elsewhere = lacking.collect();
        }
        Err(error)
    }
}

/// Stages that are not the system module's.
pub(in crate::linker) fn stages_of_tenants(target: &Target) -> Vec<u8> {
    (0..target.stages as u8).filter(|stage| !target.is_system((*stage).into())).collect()
}

/// All choices of so many stages in their order.
pub(in crate::linker) fn windows(own: &[u8], count: usize) -> Vec<Vec<u8>> {
    match (own, count) {
        (_, 0) => vec![Vec::new()],
        ([], _) => Vec::new(),
        ([first, rest @ ..], _) => {
            let with = windows(rest, count - 1).into_iter().map(|tail| [&[*first][..], &tail].concat());
            with.chain(windows(rest, count)).collect()
        }
    }
}

/// What lacks elsewhere, at the end of a refusal.
pub(super) struct Elsewhere<'a>(pub &'a [Window]);

impl fmt::Display for Elsewhere<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Window { stages, lacks } in self.0.iter().take(MOST_NAMED) {
            let stages: Vec<String> = stages.iter().map(u8::to_string).collect();
            write!(f, "; in stage{} {}: {lacks}", if stages.len() == 1 { "" } else { "s" }, stages.join(", "))?;
        }
        match self.0.len().saturating_sub(MOST_NAMED) {
            0 => Ok(()),
            more => write!(f, "; and likewise in {more} other choices of stages"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_keep_the_order() {
        assert_eq!(windows(&[1, 2, 3], 2), [[1, 2], [1, 3], [2, 3]]);
        assert_eq!(windows(&[1, 2], 3), Vec::<Vec<u8>>::new());
        assert_eq!(windows(&[], 0), [Vec::<u8>::new()]);
    }
}
