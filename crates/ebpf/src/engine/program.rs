//! What the engine knows of a program beside its instructions: where its verdicts lead, and what it may cost.

use crate::insn::{CALL, Insn, helper_name, pseudo};
use crate::vm::Installed;
use crate::{Redirect, Runtime};
use sluice_formats::Target;
use sluice_object::Destination;
use sluice_object::xdp::interfaces::{ifindex_of, port_of};
use std::collections::BTreeMap;

/// A program of a module's generation.
#[derive(Debug)]
pub(super) struct Program {
    pub installed: Installed,
    pub main: usize,
    /// Where `XDP_PASS` goes; none is where the engine before has sent the packet.
    pub pass: Option<u8>,
    /// Mask of destinations that are the tenant's.
    pub granted: u8,
    pub interfaces: BTreeMap<u32, u8>,
    /// Most taken back edges and calls of a packet.
    pub work: u64,
    /// It has a loop, or calls what goes round.
    pub loops: bool,
    /// Bytes by which it may make a frame longer.
    pub growth: Option<u16>,
    /// It has a map that packets or the host may write.
    pub stateful: bool,
}

impl Program {
    /// The destination as a mask, if it is the tenant's.
    pub fn granted(&self, destination: u8) -> Option<u8> {
        let bit = 1u8.checked_shl(destination.into()).unwrap_or(0);
        (self.granted & bit != 0).then_some(bit)
    }

    /// Interface index of a port, as programs see it.
    pub fn interface_of(&self, port: u8) -> u32 {
        ifindex_of(port, &self.interfaces)
    }

    /// Port of an interface index, as a mask, if there is one and it is the tenant's.
    pub fn interface(&self, interface: u32, target: &Target) -> Option<u8> {
        self.granted(port_of(interface, &self.interfaces, target)?.number(target)?)
    }

    pub fn host(&self, queue: u32, target: &Target) -> Option<u8> {
        self.granted(Destination::Host(u8::try_from(queue).ok()?).number(target)?)
    }

    /// Where a redirect leads, as a mask; none when it leads nowhere.
    pub fn redirected(&self, to: Redirect, port: u8, runtime: &Runtime, target: &Target) -> Option<u8> {
        match to {
            Redirect::Interface(interface) => self.interface(interface, target),
            Redirect::Cpu(cpu) => self.host(cpu % target.hosts, target),
            Redirect::Socket { index, .. } => self.host(index, target),
            Redirect::Broadcast { map, exclude_ingress } => {
                let mut mask = 0;
                let mut key = None;
                while let Ok(Some(next)) = runtime.maps.next_held_key(map, key.as_deref()) {
                    let value = runtime.maps.user_lookup(map, &next).unwrap_or_default();
                    if let Some(bytes) = value.first_chunk::<4>() {
                        mask |= self.interface(u32::from_le_bytes(*bytes), target).unwrap_or(0);
                    }
                    key = Some(next);
                }
                if exclude_ingress {
                    mask &= !1u8.checked_shl(port.into()).unwrap_or(0);
                }
                (mask != 0).then_some(mask)
            }
        }
    }
}

/// Whether a program may be at this instruction more than once: a jump back, or a helper that calls a function or goes to a program.
pub(super) fn may_go_round(insn: Insn) -> bool {
    const JUMPS: [u8; 2] = [5, 6];
    // A jump over a distance that the immediate says.
    const FAR: u8 = 0x06;
    let calls = ["loop", "for_each_map_elem", "tail_call"];
    match insn.op {
        CALL => insn.src == pseudo::HELPER && helper_name(insn.imm).is_some_and(|name| calls.contains(&name)),
        FAR => insn.imm < 0,
        _ => JUMPS.contains(&insn.class()) && insn.off < 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insn::helper_number;

    #[test]
    fn what_goes_round_may_run_long_and_what_goes_on_may_not() {
        let jump = |op, off| Insn { op, off, ..Insn::default() };
        // `goto`, `if r == imm`, `if w == imm`.
        for op in [0x05, 0x15, 0x16] {
            assert!(may_go_round(jump(op, -1)) && !may_go_round(jump(op, 0)) && !may_go_round(jump(op, 9)), "{op:x}");
        }
        // `gotol` says its distance in the immediate, arithmetic has none.
        let far = |imm| Insn { op: 0x06, imm, ..Insn::default() };
        assert!(may_go_round(far(-1)) && !may_go_round(far(1)) && !may_go_round(jump(0x07, -1)));
        let call = |src, imm| Insn { op: CALL, src, imm, ..Insn::default() };
        let helper = |name| call(pseudo::HELPER, helper_number(name).unwrap());
        assert!(["loop", "tail_call", "for_each_map_elem"].into_iter().all(|name| may_go_round(helper(name))));
        assert!(!may_go_round(helper("map_lookup_elem")) && !may_go_round(call(pseudo::LOCAL, -5)));
    }
}
