//! Jumps and branches; those that lead back count as work.

use super::function::Body;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use sluice_ebpf::insn::{Cond, Kind, Operand};

impl Body<'_> {
    pub(super) fn jump(&mut self, kind: Kind) {
        let target = kind.target(self.slot).unwrap_or_default() as u32;
        if target <= self.slot {
            self.count_work();
        }
        let to = self.at(target);
        self.builder.ins().jump(to, &[]);
    }

    pub(super) fn branch(&mut self, kind: Kind, cond: Cond, wide: bool, (dst, src): (u8, Operand)) {
        let target = kind.target(self.slot).unwrap_or_default() as u32;
        let of = if wide { types::I64 } else { types::I32 };
        let a = self.get(dst);
        let a = self.narrow(of, a);
        let b = self.operand(src, of);
        let holds = match compared(cond) {
            Some(code) => self.builder.ins().icmp(code, a, b),
            None => self.builder.ins().band(a, b),
        };
        let next = self.at(self.slot + 1);
        let to = self.at(target);
        if target > self.slot {
            self.builder.ins().brif(holds, to, &[], next, &[]);
            return;
        }
        let back: Block = self.builder.create_block();
        self.builder.ins().brif(holds, back, &[], next, &[]);
        self.builder.switch_to_block(back);
        self.count_work();
        self.builder.ins().jump(to, &[]);
    }
}

/// How two values are compared; `None` where bits in common count.
fn compared(cond: Cond) -> Option<IntCC> {
    Some(match cond {
        Cond::Eq => IntCC::Equal,
        Cond::Ne => IntCC::NotEqual,
        Cond::Gt => IntCC::UnsignedGreaterThan,
        Cond::Ge => IntCC::UnsignedGreaterThanOrEqual,
        Cond::Lt => IntCC::UnsignedLessThan,
        Cond::Le => IntCC::UnsignedLessThanOrEqual,
        Cond::Sgt => IntCC::SignedGreaterThan,
        Cond::Sge => IntCC::SignedGreaterThanOrEqual,
        Cond::Slt => IntCC::SignedLessThan,
        Cond::Sle => IntCC::SignedLessThanOrEqual,
        Cond::Set => return None,
    })
}
