//! Text back to programs: what [`super::disasm`] writes, with labels if wanted.
//!
//! Beside the listing's own lines (`  12: (b7) r0 = 1`) it takes labels (`out:` on a line of its
//! own, `goto out`, `call out`, `r2 = subprog[out]`) and comments from `;` or `//` to the end of
//! the line. `r1 = 0x5` is a 64-bit immediate load, as the listing writes it, `r1 = 5` a move.

use super::disasm::{alu_text, atomic_text, cond_text};
use super::{AluOp, AtomicOp, Cond, Insn, Kind, Operand, Order, WideValue, helper_number};
use crate::Program;
use crate::image::Function;
use std::collections::BTreeMap;

const ALU: [AluOp; 14] = [
    AluOp::Arsh,
    AluOp::Lsh,
    AluOp::Rsh,
    AluOp::Sdiv,
    AluOp::Smod,
    AluOp::Add,
    AluOp::Sub,
    AluOp::Mul,
    AluOp::Div,
    AluOp::Or,
    AluOp::And,
    AluOp::Mod,
    AluOp::Xor,
    AluOp::Mov,
];
/// Longer operators before those they begin with.
const COND: [Cond; 11] =
    [Cond::Eq, Cond::Ne, Cond::Sge, Cond::Sle, Cond::Sgt, Cond::Slt, Cond::Ge, Cond::Le, Cond::Gt, Cond::Lt, Cond::Set];
const ATOMIC: [AtomicOp; 5] = [AtomicOp::Add, AtomicOp::Or, AtomicOp::And, AtomicOp::Xor, AtomicOp::Xchg];

/// Text that is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found `{found}`, expected {expected}")]
pub struct AssembleError {
    /// Line, from 1.
    pub line: usize,
    /// Found.
    pub found: String,
    /// Allowed.
    pub expected: &'static str,
}

/// Target of a jump as written.
#[derive(Clone)]
enum Target {
    Offset(i64),
    Label(String),
}

struct Line<'a> {
    rest: &'a str,
}

impl<'a> Line<'a> {
    fn eat(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn eat_all(&mut self, tokens: &[&str]) -> Option<()> {
        tokens.iter().all(|t| self.eat(t)).then_some(())
    }

    fn word(&mut self, allowed: impl Fn(char) -> bool) -> Option<&'a str> {
        let text = self.rest.trim_start();
        let end = text.find(|c| !allowed(c)).unwrap_or(text.len());
        self.rest = &text[end..];
        (end > 0).then(|| &text[..end])
    }

    fn name(&mut self) -> Option<&'a str> {
        self.word(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$'))
    }

    /// A number, decimal or `0x`, with or without sign.
    fn number(&mut self) -> Option<i64> {
        let negative = self.eat("-");
        if !negative {
            self.eat("+");
        }
        let word = self.word(|c| c.is_ascii_alphanumeric())?;
        let value = match word.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()? as i64,
            None => word.parse::<u32>().ok()?.into(),
        };
        Some(if negative { value.wrapping_neg() } else { value })
    }

    fn imm(&mut self) -> Option<i32> {
        let value = self.number()?;
        i32::try_from(value).ok().or_else(|| u32::try_from(value).ok().map(|v| v as i32))
    }

    /// A register: its number and whether all of it is meant.
    fn register(&mut self) -> Option<(u8, bool)> {
        let wide = self.eat("r");
        if !wide && !self.eat("w") {
            return None;
        }
        let number: u8 = self.word(|c| c.is_ascii_digit())?.parse().ok()?;
        (number <= 10).then_some((number, wide))
    }

    fn operand(&mut self, wide: bool) -> Option<Operand> {
        let before = self.rest;
        match self.register() {
            Some((register, width)) => (width == wide).then_some(Operand::Reg(register)),
            None => {
                self.rest = before;
                self.imm().map(Operand::Imm)
            }
        }
    }

    /// `(r1 +4)`.
    fn place(&mut self) -> Option<(u8, i16)> {
        self.eat_all(&["("])?;
        let (base, _) = self.register()?;
        let off = self.number()?.try_into().ok()?;
        self.eat_all(&[")"])?;
        Some((base, off))
    }

    /// `u32 *)` behind an opening parenthesis: bytes and sign.
    fn pointee(&mut self) -> Option<(u8, bool)> {
        let signed = self.eat("s");
        if !signed && !self.eat("u") {
            return None;
        }
        let bits: u8 = self.word(|c| c.is_ascii_digit())?.parse().ok()?;
        self.eat_all(&["*", ")"])?;
        matches!(bits, 8 | 16 | 32 | 64).then_some((bits / 8, signed))
    }

    fn target(&mut self) -> Option<Target> {
        let before = self.rest;
        if self.eat("pc") && self.rest.starts_with(['+', '-']) {
            return self.number().map(Target::Offset);
        }
        self.rest = before;
        self.name().map(|name| Target::Label(name.to_owned()))
    }
}

struct Parser<'a> {
    maps: &'a [&'a str],
}

impl Parser<'_> {
    /// An instruction, and where it jumps to.
    fn instruction(&self, line: &mut Line<'_>) -> Option<(Kind, Option<Target>)> {
        if line.eat("exit") {
            return Some((Kind::Exit, None));
        }
        if line.eat("gotol ") {
            return Some((Kind::Jump { off: 0, long: true }, Some(line.target()?)));
        }
        if line.eat("goto ") {
            return Some((Kind::Jump { off: 0, long: false }, Some(line.target()?)));
        }
        if line.eat("call ") {
            return self.call(line);
        }
        if line.eat("if ") {
            let (dst, wide) = line.register()?;
            let cond = COND.into_iter().find(|c| line.eat(cond_text(*c)))?;
            let src = line.operand(wide)?;
            line.eat_all(&["goto "])?;
            return Some((Kind::Branch { cond, wide, dst, src, off: 0 }, Some(line.target()?)));
        }
        if line.eat("lock ") {
            line.eat_all(&["*", "("])?;
            let (size, _) = line.pointee()?;
            let (dst, off) = line.place()?;
            let op = ATOMIC[..4].iter().copied().find(|op| line.eat(atomic_text(*op).1))?;
            let (src, _) = line.register()?;
            return Some((Kind::Atomic { size, op, fetch: false, dst, off, src }, None));
        }
        if line.eat("*") {
            line.eat_all(&["("])?;
            let (size, _) = line.pointee()?;
            let (dst, off) = line.place()?;
            line.eat_all(&["="])?;
            return Some((Kind::Store { size, dst, off, src: line.operand(true)? }, None));
        }
        let (dst, wide) = line.register()?;
        let op = ALU.into_iter().find(|op| line.eat(alu_text(*op)))?;
        if op == AluOp::Mov {
            return self.assignment(line, dst, wide);
        }
        Some((Kind::Alu { op, wide, dst, src: line.operand(wide)? }, None))
    }

    fn call(&self, line: &mut Line<'_>) -> Option<(Kind, Option<Target>)> {
        let before = line.rest;
        let name = line.name()?;
        if line.eat("#") {
            return Some((Kind::CallHelper { id: line.imm()? }, None));
        }
        if let Some(id) = name.strip_prefix("bpf_").and_then(helper_number) {
            return Some((Kind::CallHelper { id }, None));
        }
        line.rest = before;
        Some((Kind::CallLocal { off: 0 }, Some(line.target()?)))
    }

    fn assignment(&self, line: &mut Line<'_>, dst: u8, wide: bool) -> Option<(Kind, Option<Target>)> {
        if line.eat("*") {
            line.eat_all(&["("])?;
            let (size, signed) = line.pointee()?;
            let (src, off) = line.place()?;
            return Some((Kind::Load { size, signed, dst, src, off }, None));
        }
        if line.eat("(s") {
            let bits = line.word(|c| c.is_ascii_digit())?.parse().ok()?;
            line.eat_all(&[")"])?;
            let (src, _) = line.register()?;
            return Some((Kind::MovSx { wide, bits, dst, src }, None));
        }
        for (word, order) in [("le", Order::Little), ("be", Order::Big), ("bswap", Order::Swap)] {
            if line.eat(word) {
                let bits = line.word(|c| c.is_ascii_digit())?.parse().ok()?;
                let (same, _) = line.register()?;
                return (same == dst).then_some((Kind::Swap { order, bits, dst }, None));
            }
        }
        if line.eat("atomic") {
            return Self::fetch(line, dst);
        }
        if line.eat("map[") {
            let name = line.word(|c| c != ']')?;
            let map = self.maps.iter().position(|m| *m == name)? as u32;
            line.eat_all(&["]"])?;
            let value = if line.eat("[0]") {
                WideValue::MapValue { map, offset: line.number()?.try_into().ok()? }
            } else {
                WideValue::Map(map)
            };
            return Some((Kind::Wide { dst, value }, None));
        }
        if line.eat("subprog[") {
            let target = if line.rest.starts_with(['+', '-']) {
                Target::Offset(line.number()? - 1)
            } else {
                Target::Label(line.name()?.to_owned())
            };
            line.eat_all(&["]"])?;
            return Some((Kind::Wide { dst, value: WideValue::Function(0) }, Some(target)));
        }
        if line.eat("-r") || line.eat("-w") {
            let same: u8 = line.word(|c| c.is_ascii_digit())?.parse().ok()?;
            return (same == dst).then_some((Kind::Neg { wide, dst }, None));
        }
        if wide && line.rest.trim_start().starts_with("0x") {
            let number = line.number()? as u64;
            return Some((Kind::Wide { dst, value: WideValue::Number(number) }, None));
        }
        Some((Kind::Alu { op: AluOp::Mov, wide, dst, src: line.operand(wide)? }, None))
    }

    /// Behind `rN = atomic`.
    fn fetch(line: &mut Line<'_>, result: u8) -> Option<(Kind, Option<Target>)> {
        let wide = line.eat("64");
        line.eat_all(&["_"])?;
        let exchange = line.eat("cmpxchg");
        let op =
            if exchange { AtomicOp::Cmpxchg } else { ATOMIC.into_iter().find(|op| line.eat(atomic_text(*op).0))? };
        line.eat_all(&["(", "("])?;
        let (size, _) = line.pointee()?;
        let (dst, off) = line.place()?;
        line.eat_all(&[","])?;
        if exchange {
            line.eat_all(&["r0", ","])?;
        }
        let (src, _) = line.register()?;
        line.eat_all(&[")"])?;
        let fits = (size == 8) == wide && size >= 4 && result == if exchange { 0 } else { src };
        fits.then_some((Kind::Atomic { size, op, fetch: true, dst, off, src }, None))
    }
}

fn with_offset(kind: Kind, to: i64) -> Option<Kind> {
    let (short, long) = (i16::try_from(to).ok(), i32::try_from(to).ok());
    Some(match kind {
        Kind::Jump { long: true, .. } => Kind::Jump { off: long?, long: true },
        Kind::Jump { long: false, .. } => Kind::Jump { off: short?.into(), long: false },
        Kind::Branch { cond, wide, dst, src, .. } => Kind::Branch { cond, wide, dst, src, off: short? },
        Kind::CallLocal { .. } => Kind::CallLocal { off: long? },
        Kind::Wide { dst, .. } => Kind::Wide { dst, value: WideValue::Function(long?) },
        other => other,
    })
}

/// Assembles a program. `maps` names the maps of the image by index. Functions are slot 0 and
/// what is called or pointed to.
pub fn assemble(name: &str, text: &str, maps: &[&str]) -> Result<Program, AssembleError> {
    let parser = Parser { maps };
    let mut labels = BTreeMap::new();
    let mut parsed = Vec::new();
    let mut slot = 0u32;
    for (line, whole) in text.lines().enumerate() {
        let bad = |found: &str, expected| AssembleError { line: line + 1, found: found.to_owned(), expected };
        let code = whole.split("//").next().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if let Some(label) = code.strip_suffix(':') {
            labels.insert(label.to_owned(), slot);
            continue;
        }
        // `12: (b7) ` of a listing.
        let code = code.split_once(": (").and_then(|(_, rest)| rest.split_once(") ")).map_or(code, |(_, rest)| rest);
        if code.is_empty() {
            continue;
        }
        let mut rest = Line { rest: code };
        let found = parser.instruction(&mut rest);
        let Some((kind, target)) = found.filter(|_| rest.rest.trim().is_empty()) else {
            return Err(bad(code, "an instruction in the kernel's notation"));
        };
        parsed.push((line + 1, slot, kind, target));
        slot += kind.slots();
    }
    let mut insns: Vec<Insn> = Vec::new();
    let mut starts = vec![0];
    for (line, slot, mut kind, target) in parsed {
        if let Some(target) = target {
            let (to, found) = match target {
                Target::Offset(to) => (Some(to), to.to_string()),
                Target::Label(l) => (labels.get(&l).map(|to| i64::from(*to) - i64::from(slot) - 1), l),
            };
            let expected = "a label, or an offset that fits";
            let resolved = to.and_then(|to| with_offset(kind, to));
            kind = resolved.ok_or(AssembleError { line, found, expected })?;
            if matches!(kind, Kind::CallLocal { .. } | Kind::Wide { .. }) {
                starts.extend(kind.target(slot).and_then(|t| u32::try_from(t).ok()));
            }
        }
        let (first, second) = kind.encode();
        insns.push(first);
        insns.extend(second);
    }
    starts.sort_unstable();
    starts.dedup();
    let function = |start: u32| {
        let label = labels.iter().find(|(_, at)| **at == start && start != 0).map(|(l, _)| l.clone());
        let name = label.unwrap_or_else(|| if start == 0 { name.to_owned() } else { format!("function_{start}") });
        Function { name, start, btf_type: 0 }
    };
    let functions = starts.into_iter().map(function).collect();
    Ok(Program { name: name.to_owned(), section: "xdp".to_owned(), insns, functions, lines: BTreeMap::new() })
}
