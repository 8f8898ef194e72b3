//! Arithmetic and branches at their edges. What is expected is written as the RFC says it, over
//! wide integers, and not as the interpreter computes it.

use super::r0;
use crate::insn::{AluOp, Cond};

const VALUES: [u64; 16] = [
    0,
    1,
    2,
    7,
    31,
    32,
    63,
    64,
    255,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// Result of `a op b` in `bits`, from unbounded integers.
fn expected(op: AluOp, bits: u32, a: u64, b: u64) -> u64 {
    let mask = (1u128 << bits) - 1;
    let (a, b) = (u128::from(a) & mask, u128::from(b) & mask);
    let signed = |v: u128| if v >> (bits - 1) & 1 == 1 { v as i128 - (1i128 << bits) } else { v as i128 };
    let (sa, sb) = (signed(a), signed(b));
    let shift = (b % u128::from(bits)) as u32;
    let result = match op {
        AluOp::Add => a + b,
        AluOp::Sub => a + (mask + 1) - b,
        AluOp::Mul => (a * (b & 0xffff_ffff)) + ((a * (b >> 32)) << 32),
        AluOp::Div => a.checked_div(b).unwrap_or(0),
        AluOp::Mod => a.checked_rem(b).unwrap_or(a),
        AluOp::Sdiv => sa.checked_div(sb).unwrap_or(0) as u128,
        AluOp::Smod => sa.checked_rem(sb).unwrap_or(sa) as u128,
        AluOp::Or => a | b,
        AluOp::And => a & b,
        AluOp::Xor => a ^ b,
        AluOp::Mov => b,
        AluOp::Lsh => a << shift,
        AluOp::Rsh => a >> shift,
        AluOp::Arsh => (sa >> shift) as u128,
    };
    (result & mask) as u64
}

const OPS: [(AluOp, &str); 14] = [
    (AluOp::Add, "+="),
    (AluOp::Sub, "-="),
    (AluOp::Mul, "*="),
    (AluOp::Div, "/="),
    (AluOp::Mod, "%="),
    (AluOp::Sdiv, "s/="),
    (AluOp::Smod, "s%="),
    (AluOp::Or, "|="),
    (AluOp::And, "&="),
    (AluOp::Xor, "^="),
    (AluOp::Mov, "="),
    (AluOp::Lsh, "<<="),
    (AluOp::Rsh, ">>="),
    (AluOp::Arsh, "s>>="),
];

#[test]
fn arithmetic_of_registers_is_the_rfcs_at_every_edge() {
    for (op, text) in OPS {
        for a in VALUES {
            for b in VALUES {
                let load = format!("r1 = {a:#x}\nr2 = {b:#x}\n");
                let wide = r0(&format!("{load}r1 {text} r2\nr0 = r1\nexit"));
                assert_eq!(wide, expected(op, 64, a, b), "{a:#x} {text} {b:#x}");
                let narrow = r0(&format!("{load}w1 {text} w2\nr0 = r1\nexit"));
                assert_eq!(narrow, expected(op, 32, a, b), "32 bits, {a:#x} {text} {b:#x}");
            }
        }
    }
}

#[test]
fn immediates_are_sign_extended_to_64_bits_and_shifts_masked() {
    for (op, text) in OPS {
        for a in VALUES {
            for imm in [0, 1, 31, 32, 63, 64, 255, i32::MAX, i32::MIN, -1] {
                let load = format!("r1 = {a:#x}\n");
                let wide = r0(&format!("{load}r1 {text} {imm}\nr0 = r1\nexit"));
                assert_eq!(wide, expected(op, 64, a, imm as i64 as u64), "{a:#x} {text} {imm}");
                let narrow = r0(&format!("{load}w1 {text} {imm}\nr0 = r1\nexit"));
                assert_eq!(narrow, expected(op, 32, a, imm as u64), "32 bits, {a:#x} {text} {imm}");
            }
        }
    }
}

#[test]
fn branches_compare_what_they_say() {
    let holds = |cond, a: i128, b: i128, ua: u128, ub: u128| match cond {
        Cond::Eq => a == b,
        Cond::Ne => a != b,
        Cond::Gt => ua > ub,
        Cond::Ge => ua >= ub,
        Cond::Lt => ua < ub,
        Cond::Le => ua <= ub,
        Cond::Sgt => a > b,
        Cond::Sge => a >= b,
        Cond::Slt => a < b,
        Cond::Sle => a <= b,
        Cond::Set => ua & ub != 0,
    };
    let conds = [
        (Cond::Eq, "=="),
        (Cond::Ne, "!="),
        (Cond::Gt, ">"),
        (Cond::Ge, ">="),
        (Cond::Lt, "<"),
        (Cond::Le, "<="),
        (Cond::Sgt, "s>"),
        (Cond::Sge, "s>="),
        (Cond::Slt, "s<"),
        (Cond::Sle, "s<="),
        (Cond::Set, "&"),
    ];
    for (cond, text) in conds {
        for a in VALUES {
            for b in VALUES {
                let load = format!("r1 = {a:#x}\nr2 = {b:#x}\nr0 = 1\n");
                let imm = b as i32;
                let far = |b: u64| holds(cond, (a as i64).into(), (b as i64).into(), a.into(), b.into());
                let near =
                    |b: u64| holds(cond, (a as i32).into(), (b as i32).into(), (a as u32).into(), (b as u32).into());
                for (test, taken) in [
                    (format!("if r1 {text} r2"), far(b)),
                    (format!("if r1 {text} {imm:#x}"), far(imm as i64 as u64)),
                    (format!("if w1 {text} w2"), near(b)),
                    (format!("if w1 {text} {imm:#x}"), near(b)),
                ] {
                    let result = r0(&format!("{load}{test} goto pc+1\nr0 = 0\nexit"));
                    assert_eq!(result, u64::from(taken), "{test} with {a:#x}, {b:#x}");
                }
            }
        }
    }
}

#[test]
fn moves_sign_extend_and_swaps_cut() {
    for a in VALUES {
        let one = |text: &str| r0(&format!("r1 = {a:#x}\nr2 = r1\n{text}\nr0 = r1\nexit"));
        assert_eq!(one("r1 = (s8)r2"), a as i8 as i64 as u64);
        assert_eq!(one("r1 = (s16)r2"), a as i16 as i64 as u64);
        assert_eq!(one("r1 = (s32)r2"), a as i32 as i64 as u64);
        assert_eq!(one("w1 = (s8)w2"), u64::from(a as i8 as i32 as u32));
        assert_eq!(one("w1 = (s16)w2"), u64::from(a as i16 as i32 as u32));
        assert_eq!(one("r1 = -r1"), (-i128::from(a)) as u64);
        assert_eq!(one("w1 = -w1"), u64::from((-i128::from(a)) as u32));
        let mut bytes = a.to_le_bytes();
        bytes.reverse();
        let big = u64::from_le_bytes(bytes);
        for (bits, shift) in [(16, 48), (32, 32), (64, 0)] {
            assert_eq!(one(&format!("r1 = be{bits} r1")), big >> shift);
            assert_eq!(one(&format!("r1 = bswap{bits} r1")), big >> shift);
            assert_eq!(one(&format!("r1 = le{bits} r1")), a << shift >> shift);
        }
    }
}
