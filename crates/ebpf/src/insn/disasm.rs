//! Instructions as text, in the notation of the kernel's verifier log and bpftool.

use super::{AluOp, AtomicOp, Cond, Kind, Operand, Order, WideValue, helper_name};
use crate::{MapSpec, Program};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Operator of an arithmetic instruction, with its `=`.
pub fn alu_text(op: AluOp) -> &'static str {
    match op {
        AluOp::Add => "+=",
        AluOp::Sub => "-=",
        AluOp::Mul => "*=",
        AluOp::Div => "/=",
        AluOp::Or => "|=",
        AluOp::And => "&=",
        AluOp::Lsh => "<<=",
        AluOp::Rsh => ">>=",
        AluOp::Mod => "%=",
        AluOp::Xor => "^=",
        AluOp::Mov => "=",
        AluOp::Arsh => "s>>=",
        AluOp::Sdiv => "s/=",
        AluOp::Smod => "s%=",
    }
}

/// Operator of a branch.
pub fn cond_text(cond: Cond) -> &'static str {
    match cond {
        Cond::Eq => "==",
        Cond::Gt => ">",
        Cond::Ge => ">=",
        Cond::Set => "&",
        Cond::Ne => "!=",
        Cond::Sgt => "s>",
        Cond::Sge => "s>=",
        Cond::Lt => "<",
        Cond::Le => "<=",
        Cond::Slt => "s<",
        Cond::Sle => "s<=",
    }
}

/// Word of an atomic operation that fetches, and operator of one that does not.
pub(super) fn atomic_text(op: AtomicOp) -> (&'static str, &'static str) {
    match op {
        AtomicOp::Add => ("fetch_add", "+="),
        AtomicOp::Or => ("fetch_or", "|="),
        AtomicOp::And => ("fetch_and", "&="),
        AtomicOp::Xor => ("fetch_xor", "^="),
        AtomicOp::Xchg => ("xchg", ""),
        AtomicOp::Cmpxchg => ("cmpxchg", ""),
    }
}

fn letter(wide: bool) -> char {
    if wide { 'r' } else { 'w' }
}

/// One instruction, as the kernel writes it behind the opcode. Maps are named by `map`.
pub fn text(kind: Kind, map: &dyn Fn(u32) -> String) -> String {
    match kind {
        Kind::Alu { op, wide, dst, src } => {
            let (w, op) = (letter(wide), alu_text(op));
            match src {
                Operand::Reg(src) => format!("{w}{dst} {op} {w}{src}"),
                Operand::Imm(imm) => format!("{w}{dst} {op} {imm}"),
            }
        }
        Kind::Neg { wide, dst } => {
            let w = letter(wide);
            format!("{w}{dst} = -{w}{dst}")
        }
        Kind::MovSx { wide, bits, dst, src } => {
            let w = letter(wide);
            format!("{w}{dst} = (s{bits}){w}{src}")
        }
        Kind::Swap { order, bits, dst } => {
            let order = match order {
                Order::Little => "le",
                Order::Big => "be",
                Order::Swap => "bswap",
            };
            format!("r{dst} = {order}{bits} r{dst}")
        }
        Kind::Jump { off, long } => format!("goto{} pc{off:+}", if long { "l" } else { "" }),
        Kind::Branch { cond, wide, dst, src, off } => {
            let (w, cond) = (letter(wide), cond_text(cond));
            match src {
                Operand::Reg(src) => format!("if {w}{dst} {cond} {w}{src} goto pc{off:+}"),
                Operand::Imm(imm) => format!("if {w}{dst} {cond} {imm:#x} goto pc{off:+}"),
            }
        }
        Kind::CallHelper { id } => match helper_name(id) {
            Some(name) => format!("call bpf_{name}#{id}"),
            None => format!("call unknown#{id}"),
        },
        Kind::CallLocal { off } => format!("call pc{off:+}"),
        Kind::Exit => "exit".to_owned(),
        Kind::Load { size, signed, dst, src, off } => {
            let sign = if signed { 's' } else { 'u' };
            format!("r{dst} = *({sign}{} *)(r{src} {off:+})", size * 8)
        }
        Kind::Store { size, dst, off, src } => {
            let src = match src {
                Operand::Reg(src) => format!("r{src}"),
                Operand::Imm(imm) => imm.to_string(),
            };
            format!("*(u{} *)(r{dst} {off:+}) = {src}", size * 8)
        }
        Kind::Atomic { size, op, fetch, dst, off, src } => {
            let (word, operator) = atomic_text(op);
            let (bits, width) = (size * 8, if size == 8 { "64" } else { "" });
            match (op, fetch) {
                (AtomicOp::Cmpxchg, _) => {
                    format!("r0 = atomic{width}_cmpxchg((u{bits} *)(r{dst} {off:+}), r0, r{src})")
                }
                (_, true) => format!("r{src} = atomic{width}_{word}((u{bits} *)(r{dst} {off:+}), r{src})"),
                (_, false) => format!("lock *(u{bits} *)(r{dst} {off:+}) {operator} r{src}"),
            }
        }
        Kind::Wide { dst, value } => match value {
            WideValue::Number(number) => format!("r{dst} = {number:#x}"),
            WideValue::Map(index) => format!("r{dst} = map[{}]", map(index)),
            WideValue::MapValue { map: index, offset } => format!("r{dst} = map[{}][0]+{offset}", map(index)),
            // bpftool counts from the function pointer itself.
            WideValue::Function(off) => format!("r{dst} = subprog[{:+}]", i64::from(off) + 1),
        },
    }
}

/// A whole program: function names, source lines, `slot: (opcode) text`.
pub fn listing(program: &Program, maps: &[MapSpec]) -> String {
    let name = |index: u32| maps.get(index as usize).map_or_else(|| format!("#{index}"), |m| m.name.clone());
    let mut names: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for function in &program.functions {
        names.entry(function.start).or_default().push(&function.name);
    }
    let mut out = String::new();
    let mut slot = 0;
    while slot < program.insns.len() {
        let at = slot as u32;
        for name in names.get(&at).into_iter().flatten() {
            let _ = writeln!(out, "{name}:");
        }
        if let Some(line) = program.lines.get(&at) {
            let _ = writeln!(out, "; {} @ {}:{}", line.text.trim(), line.file, line.line);
        }
        let insn = program.insns[slot];
        let kind = insn.kind(program.insns.get(slot + 1).copied());
        let text = kind.map_or_else(|_| "unknown".to_owned(), |kind| text(kind, &name));
        let _ = writeln!(out, "{slot:4}: ({:02x}) {text}", insn.op);
        slot += kind.map_or(1, Kind::slots) as usize;
    }
    out
}
