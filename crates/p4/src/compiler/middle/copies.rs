//! Copies to a multicast group, by `mcast_grp` or by `multicast` of sluice.p4.

use super::packet::INGRESS;
use super::symbolic::{Follower, Way};
use super::value::V;
use crate::compiler::ir::{Bits, Bound, Leaf, LocInfo, Src};
use crate::front::interpret::DROP;
use crate::front::interpret::code::Call;
use crate::front::interpret::value::Value;

impl<'c> Follower<'c> {
    /// `multicast(group, except_ingress)`: in place of `mcast_grp`.
    pub fn ask_for_copies(&mut self, call: &'c Call) -> Way<()> {
        if self.in_parser || self.system.is_some() || self.trail.first() != Some(&INGRESS) {
            return self.refuse_at(call.span, "`multicast` outside of ingress");
        }
        let group = self.argument(call, 0)?;
        let except = self.argument(call, 1)?;
        self.slots[self.code.slots] = V::Parts(vec![group, except]);
        Ok(())
    }

    /// A packet that is dropped goes to no group either.
    pub fn no_copies(&mut self) {
        self.slots[self.code.slots] = V::Fixed(Value::None);
    }

    /// The multicast group that the packet goes to, if it goes to one, and whether the port of arrival gets no copy.
    pub fn group(&mut self) -> Way<Option<(Bits, bool)>> {
        let (group, except) = match self.slots[self.code.slots].parts() {
            // It is a constant.
            [V::Bits(group), V::Bits(except)] => (group.clone(), except.known() == Some(1)),
            _ => (self.standard("mcast_grp"), false),
        };
        Ok(self.group_of(group)?.map(|group| (group, except)))
    }

    /// A group, if it is one.
    fn group_of(&mut self, group: Bits) -> Way<Option<Bits>> {
        if group.width() == 0 || group.known() == Some(0) {
            return Ok(None);
        }
        if let [seg] = &group.segs[..]
            && matches!(seg.src, Src::Param(..))
        {
            self.bounds.push((group.clone(), Bound::Within(1..1 << 16)));
            return Ok(Some(group));
        }
        if group.is_known() {
            return Ok(Some(group));
        }
        let group = self.kept(group, true)?;
        let mut held = [group.clone()];
        let is_none = self.while_held(&mut held, |this| this.equal_bits(group, Bits::constant(16, 0)))?;
        let [group] = held;
        Ok((!is_none).then_some(group))
    }

    /// Copies to a group's ports: what egress does has to be the same for all, but that the one to the port of arrival may be dropped.
    pub fn copies(&mut self, group: Bits, except_arrival: bool, slots: &[usize; 3]) -> Way<Leaf> {
        let pipeline = self.code.pipeline;
        for (name, info, width) in [
            ("egress_port", LocInfo::CopyPort, 9),
            ("egress_rid", LocInfo::Opaque("egress_rid of a copy"), 16),
            ("instance_type", LocInfo::Opaque("instance_type of a copy"), 32),
        ] {
            let loc = self.locs.of(info, width);
            let bits = self.loc_bits(loc);
            self.set_standard(name, bits);
        }
        self.set_standard("egress_spec", Bits::constant(9, 0));
        self.pending.push((group, false));
        let cuts = self.cuts;
        let held = (self.slots.clone(), self.access.clone(), self.bounds.clone(), self.sums.clone(), self.has_table);
        self.for_copies = true;
        self.copy = Some((true, false));
        self.block(pipeline.egress, slots, 2)?;
        let asked = self.copy.take().is_some_and(|(_, asked)| asked);
        if asked {
            if self.cuts != cuts {
                let what = "copies of which that to the port of arrival takes more than one stage to tell apart";
                return self.refuse_at(self.standard_line("mcast_grp"), what);
            }
            let dropped = self.drop || self.standard("egress_spec").known() == Some(DROP);
            if !dropped {
                let what = "copies of which that to the port of arrival is another packet";
                return self.refuse_at(self.standard_line("mcast_grp"), what);
            }
            (self.slots, self.access, self.bounds, self.sums, self.has_table) = held;
            self.drop = false;
            self.copy = Some((false, false));
            self.block(pipeline.egress, slots, 2)?;
            self.copy = None;
        }
        self.for_copies = false;
        self.finish(slots, Some(asked || except_arrival))
    }
}
