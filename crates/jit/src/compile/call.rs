//! Calls: helpers, those that are done on the spot, and functions of the program.

use super::function::{Body, CONSTANT, MEMORY};
use crate::Unsupported;
use crate::flow::calls_back;
use crate::native::{Callee, DONE, FAULT, Frame, TAIL, TAIL_CALL};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use sluice_ebpf::analysis::{Base, Call, MapRef};
use sluice_ebpf::helper::{self, Arg};
use sluice_ebpf::insn::Kind;
use sluice_ebpf::vm::native::{CPU_WORLD, WORLD_CPU, WORLD_NOW};
use std::mem::offset_of;

/// Numbers of helpers that are done on the spot where that is possible.
const LOOKUP: i32 = 1;
const KTIME: i32 = 5;
const PROCESSOR: i32 = 8;

impl Body<'_> {
    pub(super) fn helper(&mut self, id: i32) -> Result<(), Unsupported> {
        if let Some(r0) = self.on_the_spot(id)? {
            self.set(0, r0);
            return Ok(());
        }
        let index = helper::ALL.iter().position(|h| h.id == id).ok_or(Unsupported::NotFound { slot: self.slot })?;
        let taken = helper::ALL[index].args.len() as u8;
        let zero = self.number(0);
        let arguments: Vec<Value> = (1..=5).map(|r| if r <= taken { self.get(r) } else { zero }).collect();
        let counts = id == TAIL_CALL || calls_back(id);
        if counts {
            self.keep_work();
        }
        let callee = if id == TAIL_CALL { Callee::TailCall } else { Callee::Helper(index) };
        let results = self.call(callee, &arguments)?;
        let [r0, status] = results[..] else { return Ok(()) };
        if counts {
            self.fetch_work();
        }
        self.unlikely(status, |body| {
            if id == TAIL_CALL {
                // The program that was called has ended, and this one with it.
                let is_end = body.builder.ins().icmp_imm_s(IntCC::Equal, status, TAIL as i64);
                let (end, fault) = (body.builder.create_block(), body.builder.create_block());
                body.builder.ins().brif(is_end, end, &[], fault, &[]);
                body.builder.switch_to_block(end);
                let done = body.number(DONE as i64);
                body.leave(r0, done);
                body.builder.switch_to_block(fault);
            }
            body.fault();
        });
        self.set(0, r0);
        Ok(())
    }

    /// What a helper gives, where that takes no call of it.
    fn on_the_spot(&mut self, id: i32) -> Result<Option<Value>, Unsupported> {
        match id {
            KTIME => {
                let world = self.world();
                Ok(Some(self.builder.ins().load(types::I64, MEMORY, world, WORLD_NOW as i32)))
            }
            PROCESSOR => Ok(Some(self.processor())),
            LOOKUP => self.lookup(),
            _ => Ok(None),
        }
    }

    fn world(&mut self) -> Value {
        self.builder.ins().load(types::I64, CONSTANT, self.cpu, CPU_WORLD as i32)
    }

    fn processor(&mut self) -> Value {
        let world = self.world();
        self.builder.ins().uload32(MEMORY, world, WORLD_CPU as i32)
    }

    /// A lookup in a map that is known, with a key on the stack.
    fn lookup(&mut self) -> Result<Option<Value>, Unsupported> {
        let Some(at) = self.context.known.get(self.slot as usize) else { return Ok(None) };
        let Some(Call { map: Some(MapRef::Map(index)), args, .. }) = &at.call else { return Ok(None) };
        let is_handle = matches!(args.first(), Some((Arg::Map, value))
            if value.base == Base::Handle(MapRef::Map(*index)) && value.offset.as_constant() == Some(0) && !value.nullable);
        let (Some(map), true) = (self.context.maps.get(*index as usize).copied(), is_handle) else { return Ok(None) };
        let Some((Arg::Key, key)) = args.get(1) else { return Ok(None) };
        let Base::Stack(_) = key.base else { return Ok(None) };
        let (low, high) = key.offsets();
        let bytes = i128::from(map.shape.key_size);
        if key.nullable || i128::from(low) < -512 || i128::from(high) + bytes > 0 {
            return Ok(None);
        }
        let stack = self.of_frame(offset_of!(Frame<'_, '_>, stack));
        let key = self.get(2);
        let key = self.builder.ins().iadd(stack, key);
        if map.shape.indexed && map.shape.key_size == 4 {
            return Ok(Some(self.element(map.shape, key)));
        }
        let number = self.number(map.id.0.into());
        let bytes = self.number(map.shape.key_size.into());
        Ok(self.call(Callee::Lookup, &[number, key, bytes])?.first().copied())
    }

    /// The address of an array's element, or 0.
    fn element(&mut self, shape: sluice_ebpf::map::native::Shape, key: Value) -> Value {
        let index = self.builder.ins().uload32(MEMORY, key, 0);
        let is_there = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, index, i64::from(shape.max_entries));
        let mut slot = index;
        if shape.kind.is_per_cpu() {
            let processor = self.processor();
            let first = self.builder.ins().imul_imm_u(processor, i64::from(shape.slots));
            slot = self.builder.ins().iadd(slot, first);
        }
        let offset = self.builder.ins().ishl_imm_u(slot, i64::from(shape.shift));
        let address = self.builder.ins().iadd_imm_u(offset, i64::from(shape.first));
        let zero = self.number(0);
        self.builder.ins().select(is_there, address, zero)
    }

    /// A call of a function of the program.
    pub(super) fn local(&mut self, kind: Kind) -> Result<(), Unsupported> {
        let missing = Unsupported::Instruction { slot: self.slot };
        let start = kind.target(self.slot).and_then(|t| u32::try_from(t).ok()).ok_or(missing.clone())?;
        let (Some(callee), Some((_, written))) = (self.callee(start), self.context.functions.get(&start)) else {
            return Err(missing);
        };
        let written = self.number((*written).into());
        let reads = self.context.flow.functions.get(&start).map_or(0, |f| f.reads);
        let zero = self.number(0);
        let mut arguments = vec![self.frame];
        arguments.extend((1..=5).map(|r| if reads >> r & 1 == 1 { self.get(r) } else { zero }));
        self.keep_work();
        let entered = self.call(Callee::Enter, &[written])?;
        self.unlikely(entered[0], Self::fault);
        let call = self.builder.ins().call(callee, &arguments);
        let &[r0, status] = self.builder.inst_results(call) else { return Err(missing) };
        // An exit's slot stands above; it is asked for of the program's own exit only.
        let status = self.builder.ins().band_imm_u(status, FAULT as i64);
        self.unlikely(status, Self::fault);
        self.call(Callee::Leave, &[])?;
        self.fetch_work();
        self.set(0, r0);
        Ok(())
    }
}
