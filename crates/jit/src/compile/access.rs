//! Loads, stores and atomic operations.
//!
//! What the region analysis proves is one instruction on the host's memory. All else is checked: packets here, the rest by
//! the interpreter's own functions, which say why it faults.

use super::function::{Body, CONSTANT, MEMORY};
use crate::bind::Row;
use crate::native::{ATOMICS, Callee, Frame};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use sluice_ebpf::address::{CONTEXT, PACKET, PAGE_BYTES};
use sluice_ebpf::analysis::{Access, Base, MapRef};
use sluice_ebpf::insn::{AtomicOp, Operand};
use sluice_ebpf::vm::native::{CPU_IFINDEX, CPU_PACKET, CPU_QUEUE, PACKET_DATA, PACKET_END, PACKET_META};
use std::mem::{offset_of, size_of};

/// How an access is done.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// A field of the context.
    Field(u64),
    /// At this place of the packet, stack or a value: it cannot fault.
    Host(Host),
    /// Perhaps in the packet.
    Packet,
    /// Wherever it is.
    Anywhere,
}

/// A place in the host's memory.
#[derive(Clone, Copy, Debug)]
struct Host {
    address: Value,
    offset: i32,
    /// Where a store is marked.
    mark: Mark,
}

#[derive(Clone, Copy, Debug)]
enum Mark {
    /// Nowhere, or it is done already.
    None,
    /// In the lowest bytes of stack frames.
    Stack,
    /// In the pages of the map with this index.
    Map(u32),
}

impl Body<'_> {
    fn way(&mut self, register: u8, off: i16) -> Way {
        let Some(at) = self.context.known.get(self.slot as usize) else { return Way::Packet };
        let Some(access) = at.access.as_deref() else { return Way::Anywhere };
        let own = at.before.as_ref().map(|before| before[10].base);
        if !access.in_bounds {
            let perhaps = matches!(access.address.base, Base::Packet(_) | Base::Meta(_) | Base::End(_) | Base::Number);
            return if perhaps { Way::Packet } else { Way::Anywhere };
        }
        let offset = i32::from(off);
        match access.address.base {
            Base::Number => match access.address.as_constant() {
                Some(address) => Way::Field(address.wrapping_sub(CONTEXT.into())),
                None => Way::Anywhere,
            },
            Base::Packet(_) | Base::Meta(_) => {
                let bias = self.of_frame(offset_of!(Frame<'_, '_>, packet));
                Way::Host(self.host(bias, register, offset, Mark::None))
            }
            base @ Base::Stack(_) => {
                let bias = self.of_frame(offset_of!(Frame<'_, '_>, stack));
                let mark = if own == Some(base) { Mark::None } else { Mark::Stack };
                match (own == Some(base)).then(|| access.address.offset.as_constant()).flatten() {
                    Some(known) => Way::Host(self.host(bias, 10, known as i64 as i32, mark)),
                    None => Way::Host(self.host(bias, register, offset, mark)),
                }
            }
            Base::Map(MapRef::Map(index)) if self.is_plain(access, index) => {
                let bias = self.of_row(index, offset_of!(Row, bias));
                Way::Host(self.host(bias, register, offset, Mark::Map(index)))
            }
            _ => Way::Anywhere,
        }
    }

    /// Whether a value of a map lies in one page, so that a store marks one.
    fn is_plain(&self, _: &Access, index: u32) -> bool {
        self.context
            .maps
            .get(index as usize)
            .is_some_and(|map| map.shape.first != 0 && 1 << map.shape.shift <= PAGE_BYTES)
    }

    fn host(&mut self, bias: Value, register: u8, offset: i32, mark: Mark) -> Host {
        let address = self.get(register);
        Host { address: self.builder.ins().iadd(bias, address), offset, mark }
    }

    /// A field of a map's row.
    pub(super) fn of_row(&mut self, index: u32, field: usize) -> Value {
        let rows = self.of_frame(offset_of!(Frame<'_, '_>, rows));
        let at = index as usize * size_of::<Row>() + field;
        self.builder.ins().load(types::I64, CONSTANT, rows, at as i32)
    }

    /// What a register says, with an offset.
    fn address(&mut self, register: u8, off: i16) -> Value {
        let base = self.get(register);
        if off == 0 { base } else { self.builder.ins().iadd_imm_s(base, i64::from(off)) }
    }

    pub(super) fn load(&mut self, size: u8, signed: bool, dst: u8, (src, off): (u8, i16)) {
        let value = match self.way(src, off) {
            Way::Field(field) => self.field(field),
            Way::Host(host) => {
                let value = self.load_host(size, (host.address, host.offset));
                self.signed_load(size, signed, value)
            }
            Way::Packet => {
                let address = self.address(src, off);
                let value = self.checked(
                    size,
                    address,
                    |body, host| body.load_host(size, (host, 0)),
                    |body| body.load_anywhere(size, address),
                );
                self.signed_load(size, signed, value)
            }
            Way::Anywhere => {
                let address = self.address(src, off);
                let value = self.load_anywhere(size, address);
                self.signed_load(size, signed, value)
            }
        };
        self.set(dst, value);
    }

    fn signed_load(&mut self, size: u8, signed: bool, value: Value) -> Value {
        if !signed || size == 8 {
            return value;
        }
        let narrow = self.narrow(super::alu::width(size * 8), value);
        self.builder.ins().sextend(types::I64, narrow)
    }

    fn load_host(&mut self, size: u8, (address, offset): (Value, i32)) -> Value {
        let ins = self.builder.ins();
        match size {
            1 => ins.uload8(types::I64, MEMORY, address, offset),
            2 => ins.uload16(types::I64, MEMORY, address, offset),
            4 => ins.uload32(MEMORY, address, offset),
            _ => ins.load(types::I64, MEMORY, address, offset),
        }
    }

    fn store_host(&mut self, size: u8, (address, offset): (Value, i32), value: Value) {
        let ins = self.builder.ins();
        match size {
            1 => ins.istore8(MEMORY, value, address, offset),
            2 => ins.istore16(MEMORY, value, address, offset),
            4 => ins.istore32(MEMORY, value, address, offset),
            _ => ins.store(MEMORY, value, address, offset),
        };
    }

    fn load_anywhere(&mut self, size: u8, address: Value) -> Value {
        let bytes = self.number(size.into());
        let Ok(results) = self.call(Callee::Load, &[address, bytes]) else { return address };
        self.unlikely(results[1], Self::fault);
        results[0]
    }

    fn store_anywhere(&mut self, size: u8, address: Value, value: Value) {
        let bytes = self.number(size.into());
        let Ok(results) = self.call(Callee::Store, &[address, bytes, value]) else { return };
        self.unlikely(results[0], Self::fault);
    }

    /// Does it in the packet where it lies there, and by `else_` where not.
    fn checked(
        &mut self,
        size: u8,
        address: Value,
        inside: impl FnOnce(&mut Self, Value) -> Value,
        elsewhere: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let offset = self.builder.ins().iadd_imm_s(address, -i64::from(PACKET));
        let low = self.bound(PACKET_META);
        let end = self.bound(PACKET_END);
        // No bound is below the bytes at the buffer's start that no program gets, so this does not go below 0.
        let high = self.builder.ins().iadd_imm_s(end, -i64::from(size));
        let below = self.builder.ins().icmp(IntCC::UnsignedLessThan, offset, low);
        let above = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, offset, high);
        let out = self.builder.ins().bor(below, above);
        let (hit, miss, done) = (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(miss);
        let result = self.builder.append_block_param(done, types::I64);
        self.builder.ins().brif(out, miss, &[], hit, &[]);
        self.builder.switch_to_block(hit);
        let bias = self.of_frame(offset_of!(Frame<'_, '_>, packet));
        let host = self.builder.ins().iadd(bias, address);
        let value = inside(self, host);
        self.builder.ins().jump(done, &[BlockArg::Value(value)]);
        self.builder.switch_to_block(miss);
        let value = elsewhere(self);
        self.builder.ins().jump(done, &[BlockArg::Value(value)]);
        self.builder.switch_to_block(done);
        result
    }

    /// A bound of the packet, counted from the buffer's start.
    fn bound(&mut self, offset: usize) -> Value {
        let packet = self.builder.ins().load(types::I64, CONSTANT, self.cpu, CPU_PACKET as i32);
        self.builder.ins().uload32(MEMORY, packet, offset as i32)
    }

    /// A field of the context.
    fn field(&mut self, field: u64) -> Value {
        let bound = match field {
            0 => PACKET_DATA,
            4 => PACKET_END,
            8 => PACKET_META,
            12 => return self.builder.ins().uload32(MEMORY, self.cpu, CPU_IFINDEX as i32),
            16 => return self.builder.ins().uload32(MEMORY, self.cpu, CPU_QUEUE as i32),
            _ => return self.number(0),
        };
        let bound = self.bound(bound);
        self.builder.ins().iadd_imm_s(bound, i64::from(PACKET))
    }

    pub(super) fn store(&mut self, size: u8, (dst, off): (u8, i16), src: Operand) {
        let value = self.operand(src, types::I64);
        match self.way(dst, off) {
            Way::Host(host) => {
                self.store_host(size, (host.address, host.offset), value);
                self.mark(host, dst, off);
            }
            Way::Packet => {
                let address = self.address(dst, off);
                let inside = |body: &mut Self, host| {
                    body.store_host(size, (host, 0), value);
                    value
                };
                self.checked(size, address, inside, |body| {
                    body.store_anywhere(size, address, value);
                    value
                });
            }
            Way::Field(_) | Way::Anywhere => {
                let address = self.address(dst, off);
                self.store_anywhere(size, address, value);
            }
        }
    }

    /// Marks a store where others look for what was written.
    fn mark(&mut self, host: Host, register: u8, off: i16) {
        match host.mark {
            Mark::None => {}
            Mark::Map(index) => {
                let Some(map) = self.context.maps.get(index as usize) else { return };
                let (first, slots) = (map.shape.first, u64::from(map.shape.slots) << map.shape.shift);
                let one = self.builder.ins().iconst(types::I8, 1);
                let mut marks = self.of_row(index, offset_of!(Row, touched));
                if map.shape.kind.is_per_cpu() || slots > u64::from(PAGE_BYTES) {
                    let address = self.address(register, off);
                    let relative = self.builder.ins().iadd_imm_s(address, -i64::from(first));
                    let page = self.builder.ins().ushr_imm_u(relative, i64::from(PAGE_BYTES.trailing_zeros()));
                    marks = self.builder.ins().iadd(marks, page);
                }
                self.builder.ins().store(MEMORY, one, marks, 0);
            }
            Mark::Stack => {
                // Of another function's frame: its number and its lowest byte are known only here.
                let address = self.address(register, off);
                let frame = self.builder.ins().iadd_imm_s(address, -i64::from(sluice_ebpf::address::STACK));
                let frame = self.builder.ins().ushr_imm_u(frame, 10);
                let inner = self.builder.ins().band_imm_u(address, 0x3ff);
                let inner = self.builder.ins().iadd_imm_s(inner, -512);
                let low = self.of_frame(offset_of!(Frame<'_, '_>, low));
                let twice = self.builder.ins().ishl_imm_u(frame, 1);
                let low = self.builder.ins().iadd(low, twice);
                let before = self.builder.ins().uload16(types::I64, MEMORY, low, 0);
                let least = self.builder.ins().umin(before, inner);
                self.builder.ins().istore16(MEMORY, least, low, 0);
            }
        }
    }

    pub(super) fn atomic(&mut self, size: u8, (op, fetch): (AtomicOp, bool), (dst, off): (u8, i16), src: u8) {
        let of = super::alu::width(size * 8);
        let operand = self.get(src);
        let old = match self.way(dst, off) {
            Way::Host(host) => {
                // One thread has the maps: nobody is between the load and the store.
                let old = self.builder.ins().load(of, MEMORY, host.address, host.offset);
                let operand = self.narrow(of, operand);
                let new = match op {
                    AtomicOp::Add => self.builder.ins().iadd(old, operand),
                    AtomicOp::Or => self.builder.ins().bor(old, operand),
                    AtomicOp::And => self.builder.ins().band(old, operand),
                    AtomicOp::Xor => self.builder.ins().bxor(old, operand),
                    AtomicOp::Xchg => operand,
                    AtomicOp::Cmpxchg => {
                        let expected = self.get(0);
                        let expected = self.narrow(of, expected);
                        let same = self.builder.ins().icmp(IntCC::Equal, old, expected);
                        self.builder.ins().select(same, operand, old)
                    }
                };
                self.builder.ins().store(MEMORY, new, host.address, host.offset);
                self.mark(host, dst, off);
                self.widen(old)
            }
            _ => {
                let address = self.address(dst, off);
                let number = ATOMICS.iter().position(|known| *known == op).unwrap_or_default() as i64;
                let kind = self.number(number << 1 | i64::from(size == 8));
                let expected = if op == AtomicOp::Cmpxchg { self.get(0) } else { operand };
                let Ok(results) = self.call(Callee::Atomic, &[address, kind, operand, expected]) else { return };
                self.unlikely(results[1], Self::fault);
                results[0]
            }
        };
        if op == AtomicOp::Cmpxchg {
            self.set(0, old);
        } else if fetch {
            self.set(src, old);
        }
    }
}
