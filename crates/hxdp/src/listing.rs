//! Bundles as text: a row a line and lane, with the slot and source line that each came from.

use crate::{Bundles, Op};
use sluice_ebpf::insn::{AtomicOp, Operand, Order, WideValue, alu_text, cond_text, helper_name};
use sluice_ebpf::{MapSpec, Program};
use std::fmt::Write;

/// All rows of a compiled program.
pub fn listing(bundles: &Bundles, program: &Program, maps: &[MapSpec]) -> String {
    let map = |index: u32| maps.get(index as usize).map_or_else(|| format!("#{index}"), |m| m.name.clone());
    let mut out = String::new();
    for (row, bundle) in bundles.rows.iter().enumerate() {
        for (slot, _) in bundles.functions.iter().filter(|(_, first)| **first as usize == row) {
            let name = program.functions.iter().find(|f| f.start == *slot).map_or(&program.name, |f| &f.name);
            let _ = writeln!(out, "{name}:");
        }
        for (lane, step) in bundle.lanes.iter().enumerate() {
            let number = if lane == 0 { format!("{row:5}") } else { " ".repeat(5) };
            let line = program.line_of(step.slot);
            let place = line.map_or_else(String::new, |line| format!("  ; {}:{}", line.file, line.line));
            let text = text(&step.op, &map);
            let _ = writeln!(out, "{number} .{lane}  {text:40} [{}]{place}", step.slot);
        }
    }
    out
}

fn letter(wide: bool) -> char {
    if wide { 'r' } else { 'w' }
}

fn operand(wide: bool, operand: Operand) -> String {
    match operand {
        Operand::Reg(r) => format!("{}{r}", letter(wide)),
        Operand::Imm(number) => number.to_string(),
    }
}

/// One instruction; targets are rows.
pub fn text(op: &Op, map: &dyn Fn(u32) -> String) -> String {
    match *op {
        Op::Alu { op, wide, dst, a, b } => {
            let w = letter(wide);
            format!("{w}{dst} = {w}{a} {} {}", alu_text(op).trim_end_matches('='), operand(wide, b))
        }
        Op::Move { wide, dst, src } => format!("{}{dst} = {}", letter(wide), operand(wide, src)),
        Op::Extend { wide, bits, dst, src } => format!("{0}{dst} = (s{bits}){0}{src}", letter(wide)),
        Op::Negate { wide, dst, src } => format!("{0}{dst} = -{0}{src}", letter(wide)),
        Op::Rotate { wide, dst, src, right } => format!("{0}{dst} = {0}{src} ror {right}", letter(wide)),
        Op::Swap { order, bits, dst, src } => {
            let name = match order {
                Order::Little => "le",
                Order::Big => "be",
                Order::Swap => "bswap",
            };
            format!("r{dst} = {name}{bits} r{src}")
        }
        Op::Constant { dst, value } => match value {
            WideValue::Number(number) => format!("r{dst} = {number:#x}"),
            WideValue::Map(index) => format!("r{dst} = map[{}]", map(index)),
            WideValue::MapValue { map: index, offset } => format!("r{dst} = map[{}][0]+{offset}", map(index)),
            WideValue::Function(slot) => format!("r{dst} = function[{slot}]"),
        },
        Op::Copy { dst, map: index } => format!("r{dst} = own copy of map[{}]", map(index)),
        Op::Element { dst, map: index, index: value } => format!("r{dst} = map[{}][{value}]", map(index)),
        Op::Pack { dst, low, high, bits } => format!("r{dst} = pack{bits}(r{low}, r{high})"),
        Op::Indexed { dst, index, base, shift, most } => {
            format!("r{dst} = w{index} <= {most} ? r{base} + (w{index} << {shift}) : 0")
        }
        Op::AddPair { base, off, number, src, swapped, quiet } => {
            let quiet = if quiet { "?" } else { "" };
            let number = number.to_string();
            let register = format!("r{src}");
            let (first, second) = if swapped { (register, number) } else { (number, register) };
            format!("add({quiet}(u64 *)(r{base} {off:+}), {first}; {second})")
        }
        Op::Load { bytes, signed, dst, base, off, quiet } => {
            let quiet = if quiet { "?" } else { "" };
            format!("r{dst} = {quiet}*({}{} *)(r{base} {off:+})", if signed { 's' } else { 'u' }, u32::from(bytes) * 8)
        }
        Op::Store { bytes, base, off, src } => {
            format!("*(u{} *)(r{base} {off:+}) = {}", u32::from(bytes) * 8, operand(true, src))
        }
        Op::Atomic { bytes, op, fetch, quiet, base, off, src } => {
            let quiet = if quiet { "?" } else { "" };
            let place = format!("{quiet}(u{} *)(r{base} {off:+})", u32::from(bytes) * 8);
            let src = operand(true, src);
            let name = match op {
                AtomicOp::Add => "add",
                AtomicOp::Or => "or",
                AtomicOp::And => "and",
                AtomicOp::Xor => "xor",
                AtomicOp::Xchg => "xchg",
                AtomicOp::Cmpxchg => return format!("r0 = cmpxchg({place}, r0, {src})"),
            };
            if fetch { format!("{src} = fetch_{name}({place}, {src})") } else { format!("{name}({place}, {src})") }
        }
        Op::Jump { to, .. } => format!("goto {to}"),
        Op::Branch { cond, wide, a, b, to, .. } => {
            format!("if {}{a} {} {} goto {to}", letter(wide), cond_text(cond), operand(wide, b))
        }
        Op::Clear { wide, a, b, to, .. } => format!("if !({}{a} & {}) goto {to}", letter(wide), operand(wide, b)),
        Op::Length { base, bytes, within, to, .. } => {
            let base = base.map_or("data".to_owned(), |base| format!("r{base}"));
            format!("if {base} {bytes:+} {} data_end goto {to}", if within { "<=" } else { ">" })
        }
        Op::Helper { id, handle, second, third } => {
            let handle = handle.map_or("r1".to_owned(), |index| format!("map[{}]", map(index)));
            let second = second.map_or("r2".to_owned(), |(base, more)| format!("r{base} {more:+}"));
            let third = third.map_or_else(String::new, |third| format!(", {third}"));
            let plain = handle == "r1" && second == "r2" && third.is_empty();
            let args = if plain { String::new() } else { format!("({handle}, {second}{third})") };
            format!("call bpf_{}{args}", helper_name(id).unwrap_or("unknown"))
        }
        Op::Call { to } => format!("call {to}"),
        Op::Exit { value: None, .. } => "exit".to_owned(),
        Op::Exit { value: Some(value), .. } => format!("exit {}", operand(true, value)),
    }
}
