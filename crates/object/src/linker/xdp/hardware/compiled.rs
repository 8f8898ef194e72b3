//! A part's rows, with the main program's table where it may have one.

use super::{Hardware, Held};
use crate::linker::engine::At;
use crate::xdp::{Xdp, XdpCode, XdpRefusal, XdpWarpRoom};

/// One in so many pages is not for leaves.
const KEPT: usize = 4;

impl Hardware {
    /// The rows. `kept` says of a map that is kept what the program before has, and the map's position there.
    ///
    /// Leaves take rows: where these do not fit, the program has no table, as it would be refused for them otherwise. Nor do they take a page of the last quarter of all, so that they are
    /// not why another tenant's program is refused. It has no table either if one of its leaves counts in a map that the program before stores to: packets of both are on their way at once.
    pub(super) fn compiled<'a>(
        &self,
        at: &At,
        xdp: &Xdp,
        kept: impl Fn(u32) -> Option<(&'a Held, u32)>,
    ) -> Result<XdpCode, XdpRefusal> {
        let room = XdpWarpRoom { rules: self.engine.warp_rules, steps: self.engine.warp_steps };
        let room = Some(room).filter(|room| at.tenant.spec.xdp_warp && room.rules > 0);
        let code = (self.compile)(xdp, room)?;
        let Some(table) = &code.warp else { return Ok(code) };
        let is_stored_to = |map: u32| kept(map).is_some_and(|(old, before)| old.stored.contains(&before));
        let fits = table.leaves.len() <= self.engine.warp_rules
            && table.steps.len() <= self.engine.warp_steps
            && code.pages() <= self.pages.len()
            && !table.counts.iter().any(|count| is_stored_to(count.map));
        if fits && code.pages() + self.engine.pages() / KEPT <= self.pages.len() {
            return Ok(code);
        }
        let plain = (self.compile)(xdp, None)?;
        // Leaves in pages that the program has anyway take nothing.
        Ok(if fits && code.pages() == plain.pages() { code } else { plain })
    }
}
