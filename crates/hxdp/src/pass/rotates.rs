//! Makes one rotation of two shifts.
//!
//! Before: `w2 = w1 >> 28; w3 = w1 << 4; w4 = w3 | w2`, as clang writes what hashes and ciphers turn; a sum or exclusive or of
//! both parts is the same. After: `w4 = w1 ror 28`; `dead` removes the shifts if nobody else reads them. Needs: `copies`, so
//! that both shifts read one register, which still holds that value. Leaves alone: every register's value.

use super::{Code, Trace};
use crate::Op;
use crate::op::{NAMES, OWN};
use sluice_ebpf::insn::{AluOp, Operand};

/// What a register holds: what another one still has, shifted.
#[derive(Clone, Copy, Debug)]
struct Shifted {
    of: u8,
    wide: bool,
    right: bool,
    /// 1 to 63.
    bits: i32,
}

/// Rewrites every trace.
pub fn rotates(code: &mut Code) {
    code.traces.values_mut().for_each(rewrite);
}

fn rewrite(trace: &mut Trace) {
    let mut known: [Option<Shifted>; NAMES] = [None; NAMES];
    for step in &mut trace.steps {
        if let Some(rotate) = rotated(&step.op, &known) {
            step.op = rotate;
        }
        let op = step.op;
        let found = match op {
            Op::Alu { op: op @ (AluOp::Lsh | AluOp::Rsh), wide, a, b: Operand::Imm(bits @ 1..64), .. } => {
                Some(Shifted { of: a, wide, right: op == AluOp::Rsh, bits })
            }
            _ => None,
        };
        let written = op.writes() | if op.is_barrier() { OWN } else { 0 };
        for (register, shifted) in known.iter_mut().enumerate() {
            if written >> register & 1 == 1 {
                *shifted = found;
            }
            *shifted = shifted.filter(|shifted| written >> shifted.of & 1 == 0);
        }
    }
}

/// The rotation that an instruction does, if its operands are what two shifts of one value gave.
fn rotated(op: &Op, known: &[Option<Shifted>; NAMES]) -> Option<Op> {
    let Op::Alu { op: AluOp::Or | AluOp::Xor | AluOp::Add, wide, dst, a, b: Operand::Reg(b) } = *op else {
        return None;
    };
    let (a, b) = (known[usize::from(a)]?, known[usize::from(b)]?);
    let (right, left) = if a.right { (a, b) } else { (b, a) };
    let is_turned = right.right && !left.right && (right.of, right.wide) == (left.of, left.wide);
    let whole = right.bits + left.bits == if right.wide { 64 } else { 32 };
    // Narrow parts have no upper half, so that their wide sum has none; of wide parts a narrow sum keeps a half.
    let is_kept = wide || !right.wide;
    (is_turned && whole && is_kept).then_some(Op::Rotate {
        wide: right.wide,
        dst,
        src: right.of,
        right: right.bits as u8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;

    fn shift(op: AluOp, wide: bool, dst: u8, a: u8, bits: i32) -> Op {
        Op::Alu { op, wide, dst, a, b: Operand::Imm(bits) }
    }

    fn or(wide: bool, dst: u8, a: u8, b: u8) -> Op {
        Op::Alu { op: AluOp::Or, wide, dst, a, b: Operand::Reg(b) }
    }

    fn last(ops: &[Op]) -> Op {
        let steps = ops.iter().map(|op| Step { slot: 0, op: *op }).collect();
        let mut trace = Trace { steps, next: None };
        rewrite(&mut trace);
        trace.steps[ops.len() - 1].op
    }

    #[test]
    fn both_parts_of_one_value_are_a_rotation() {
        let parts = [shift(AluOp::Rsh, false, 2, 1, 28), shift(AluOp::Lsh, false, 3, 1, 4)];
        let rotate = Op::Rotate { wide: false, dst: 4, src: 1, right: 28 };
        assert_eq!(last(&[parts[0], parts[1], or(false, 4, 3, 2)]), rotate);
        assert_eq!(last(&[parts[0], parts[1], or(true, 4, 2, 3)]), rotate);
        let wide = [shift(AluOp::Lsh, true, 2, 1, 1), shift(AluOp::Rsh, true, 3, 1, 63)];
        let rotate = Op::Rotate { wide: true, dst: 4, src: 1, right: 63 };
        assert_eq!(last(&[wide[0], wide[1], or(true, 4, 3, 2)]), rotate);
    }

    #[test]
    fn parts_that_lose_or_double_bits_stay() {
        let stays = |ops: &[Op]| assert_eq!(last(ops), ops[ops.len() - 1]);
        let right = shift(AluOp::Rsh, false, 2, 1, 28);
        stays(&[right, shift(AluOp::Lsh, false, 3, 1, 5), or(false, 4, 3, 2)]);
        stays(&[right, shift(AluOp::Lsh, true, 3, 1, 4), or(true, 4, 3, 2)]);
        stays(&[right, shift(AluOp::Lsh, false, 3, 5, 4), or(false, 4, 3, 2)]);
        stays(&[right, shift(AluOp::Rsh, false, 3, 1, 4), or(false, 4, 3, 2)]);
        let wide = [shift(AluOp::Lsh, true, 2, 1, 32), shift(AluOp::Rsh, true, 3, 1, 32)];
        stays(&[wide[0], wide[1], or(false, 4, 3, 2)]);
        // By 32 in 32 bits a count is none.
        stays(&[shift(AluOp::Rsh, false, 2, 1, 32), shift(AluOp::Lsh, false, 3, 1, 0), or(false, 4, 3, 2)]);
        stays(&[shift(AluOp::Rsh, false, 2, 1, i32::MAX), shift(AluOp::Lsh, false, 3, 1, 33), or(false, 4, 3, 2)]);
    }

    #[test]
    fn a_value_that_was_overwritten_is_not_rotated() {
        let left = shift(AluOp::Lsh, false, 3, 1, 4);
        let stays = [shift(AluOp::Rsh, false, 1, 1, 28), left, or(false, 4, 3, 1)];
        assert_eq!(last(&stays), stays[2]);
        let set = Op::Move { wide: true, dst: 1, src: Operand::Imm(7) };
        let late = [shift(AluOp::Rsh, false, 2, 1, 28), left, set, or(false, 4, 3, 2)];
        assert_eq!(last(&late), late[3]);
    }
}
