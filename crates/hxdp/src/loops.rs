//! `bpf_loop` as rows: a function of the engine's own that calls the program's function again and again.
//!
//! The call of the helper becomes a call of these rows, which has a frame of its own. Only calls of the program's function count as work,
//! as in the interpreter. Source: kernel, `bpf_loop` in kernel/bpf/bpf_iter.c.

use crate::{Bundle, Op, Step};
use sluice_ebpf::Errno;
use sluice_ebpf::insn::{AluOp, Cond, Operand};

/// Number of the helper `loop`.
pub const LOOP: i32 = 181;
/// Most rounds: the kernel's `BPF_MAX_LOOPS`.
const MOST_ROUNDS: i32 = 1 << 23;
/// The row with the call of the program's function, which r8 names, behind the first one.
pub const CALL: u32 = 6;

/// The rows, where the first one is row `first` of the program: r1 rounds, r2 the function, r3 what it is given, r4 flags.
///
/// r6 is the number of rounds, r7 the round, r8 the function, r9 what it is given. Row [`CALL`] is left empty: it calls what no row names.
pub fn rows(first: u32, slot: u32) -> Vec<Bundle> {
    let row = |lanes: &[Op]| Bundle { lanes: lanes.iter().map(|op| Step { slot, op: *op }).collect() };
    let set = |dst, src| Op::Move { wide: true, dst, src };
    let branch = |cond, a, b, to: u32| Op::Branch { cond, wide: true, a, b, to: first + to, back: false };
    let gives = |value| Op::Exit { value: Some(value), back: false };
    let error = |errno: Errno| gives(Operand::Imm(errno.result() as i32));
    let (reg, number) = (Operand::Reg, Operand::Imm);
    vec![
        // The kernel takes a u32: higher bits are cut off.
        row(&[Op::Move { wide: false, dst: 6, src: reg(1) }, set(8, reg(2))]),
        row(&[branch(Cond::Ne, 4, number(0), 9), set(7, number(0))]),
        row(&[branch(Cond::Gt, 6, number(MOST_ROUNDS), 10), set(9, reg(3))]),
        row(&[branch(Cond::Ge, 7, reg(6), 8), set(1, reg(7))]),
        row(&[set(2, reg(9)), set(3, number(0))]),
        row(&[set(4, number(0)), set(5, number(0))]),
        Bundle::default(),
        row(&[Op::Alu { op: AluOp::Add, wide: true, dst: 7, a: 7, b: number(1) }, branch(Cond::Eq, 0, number(0), 3)]),
        row(&[gives(reg(7))]),
        row(&[error(Errno::INVAL)]),
        row(&[error(Errno::TOOBIG)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_stay_among_the_rows_and_the_call_is_left_out() {
        let rows = rows(100, 7);
        assert!(rows[CALL as usize].lanes.is_empty());
        let targets = rows.iter().flat_map(|row| &row.lanes).filter_map(|step| step.op.target());
        assert!(targets.into_iter().all(|to| (100..100 + rows.len() as u32).contains(&to)));
    }
}
