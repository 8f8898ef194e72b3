//! Marks loads that may be tried too early.
//!
//! A load that surely succeeds where it stands is made quiet: where it fails it gives 0. Then it may stand before the branch
//! that leads to it, a bounds check too, as long as nobody reads its register on the other way. Needs: the region analysis.
//! Leaves alone: values of maps and records, which other packets write.

use super::Code;
use crate::Op;
use crate::effect::Effect;

/// Marks them.
pub fn quiet(code: &mut Code) {
    let regions = &code.regions;
    for step in code.traces.values_mut().flat_map(|trace| &mut trace.steps) {
        let effect = Effect::of(step, regions);
        if let Op::Load { quiet, .. } = &mut step.op {
            *quiet |= !effect.may_fault && !effect.shared;
        }
    }
}
