//! One function: blocks, counts, faults and ends.

use super::Context;
use crate::Unsupported;
use crate::flow::{Block as Straight, Function, Registers};
use crate::native::{Callee, DONE, FAULT, Frame, SLOT_SHIFT};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, FuncRef, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use sluice_ebpf::insn::{Kind, WideValue};
use sluice_ebpf::vm::native::{CPU_INSTRUCTIONS, CPU_LIMIT, CPU_REGISTERS, CPU_WORK};
use std::collections::{BTreeMap, HashMap};
use std::mem::offset_of;

/// Memory that is there and that something may have changed.
pub(super) const MEMORY: MemFlagsData = MemFlagsData::new().with_notrap();
/// What stays the same as long as the function runs.
pub(super) const CONSTANT: MemFlagsData = MemFlagsData::trusted().with_readonly().with_can_move();

/// A function while it is compiled.
pub(super) struct Body<'a> {
    pub context: &'a Context<'a>,
    pub builder: FunctionBuilder<'a>,
    function: &'a Function,
    callees: BTreeMap<u32, FuncRef>,
    /// r0 to r10.
    registers: Vec<Variable>,
    /// Instructions that were executed, those of the block that runs included.
    count: Variable,
    /// Taken back edges and calls, where there are back edges.
    work: Variable,
    /// Pointer to the frame.
    pub frame: Value,
    /// Pointer to the run.
    pub cpu: Value,
    /// By first slot.
    blocks: BTreeMap<u32, Block>,
    /// Where faults go that have put what lives into the run: slot, registers, count.
    faults: Block,
    signatures: HashMap<(usize, usize), SigRef>,
    /// The slot that is compiled, and instructions of its block that come behind it.
    pub slot: u32,
    behind: i64,
}

impl<'a> Body<'a> {
    pub fn new(
        context: &'a Context<'a>,
        mut builder: FunctionBuilder<'a>,
        function: &'a Function,
        callees: BTreeMap<u32, FuncRef>,
    ) -> Self {
        let registers: Vec<_> = (0..11).map(|_| builder.declare_var(types::I64)).collect();
        let [count, work] = [(); 2].map(|()| builder.declare_var(types::I64));
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let parameters = builder.block_params(entry).to_vec();
        let frame = parameters[0];
        let cpu = builder.ins().load(types::I64, CONSTANT, frame, offset_of!(Frame<'_, '_>, cpu) as i32);
        let zero = builder.ins().iconst(types::I64, 0);
        for (number, register) in registers.iter().enumerate() {
            let value = match number {
                1..=5 => parameters[number],
                10 if function.reads >> 10 & 1 == 1 => {
                    builder.ins().load(types::I64, MEMORY, frame, offset_of!(Frame<'_, '_>, r10) as i32)
                }
                _ => zero,
            };
            builder.def_var(*register, value);
        }
        builder.def_var(count, zero);
        let blocks: BTreeMap<u32, Block> =
            function.blocks.keys().map(|first| (*first, builder.create_block())).collect();
        let faults = builder.create_block();
        builder.set_cold_block(faults);
        for _ in 0..3 {
            builder.append_block_param(faults, types::I64);
        }
        let mut body = Self {
            context,
            builder,
            function,
            callees,
            registers,
            count,
            work,
            frame,
            cpu,
            blocks,
            faults,
            signatures: HashMap::new(),
            slot: function.start,
            behind: 0,
        };
        body.fetch_work();
        let first = body.blocks[&function.start];
        body.builder.ins().jump(first, &[]);
        body
    }

    /// Compiles all blocks.
    pub fn compile(mut self) -> Result<FunctionBuilder<'a>, Unsupported> {
        let function = self.function;
        for block in function.blocks.values() {
            self.block(block)?;
        }
        self.fault_block();
        self.builder.seal_all_blocks();
        Ok(self.builder)
    }

    fn block(&mut self, block: &Straight) -> Result<(), Unsupported> {
        self.builder.switch_to_block(self.blocks[&block.first]);
        let length = block.slots.len() as i64;
        let before = self.builder.use_var(self.count);
        let count = self.builder.ins().iadd_imm_s(before, length);
        self.builder.def_var(self.count, count);
        for (at, &slot) in (1..).zip(&block.slots) {
            (self.slot, self.behind) = (slot, length - at);
            let kind = self.context.flow.kind(slot)?;
            self.instruction(kind)?;
        }
        let last = self.context.flow.kind(self.slot)?;
        if !matches!(last, Kind::Exit | Kind::Jump { .. } | Kind::Branch { .. }) {
            let next = self.blocks[&(self.slot + last.slots())];
            self.builder.ins().jump(next, &[]);
        }
        Ok(())
    }

    fn instruction(&mut self, kind: Kind) -> Result<(), Unsupported> {
        match kind {
            Kind::Alu { op, wide, dst, src } => self.alu(op, wide, dst, src),
            Kind::Neg { wide, dst } => self.negate(wide, dst),
            Kind::MovSx { wide, bits, dst, src } => self.extend(wide, bits, dst, src),
            Kind::Swap { order, bits, dst } => self.swap(order, bits, dst),
            Kind::Jump { .. } => self.jump(kind),
            Kind::Branch { cond, wide, dst, src, .. } => self.branch(kind, cond, wide, (dst, src)),
            Kind::CallHelper { id } => self.helper(id)?,
            Kind::CallLocal { .. } => self.local(kind)?,
            Kind::Exit => {
                let r0 = if self.function.void { self.number(0) } else { self.get(0) };
                let slot = i64::from(self.slot) << SLOT_SHIFT;
                let status = self.number(slot | DONE as i64);
                self.leave(r0, status);
            }
            Kind::Load { size, signed, dst, src, off } => self.load(size, signed, dst, (src, off)),
            Kind::Store { size, dst, off, src } => self.store(size, (dst, off), src),
            Kind::Atomic { size, op, fetch, dst, off, src } => self.atomic(size, (op, fetch), (dst, off), src),
            Kind::Wide { dst, value } => {
                let value = self.wide(value, kind)?;
                self.set(dst, value);
            }
        }
        Ok(())
    }

    fn wide(&mut self, value: WideValue, kind: Kind) -> Result<Value, Unsupported> {
        use sluice_ebpf::address::{FUNCTIONS, MAP_HANDLES};
        let map =
            |index: u32| self.context.maps.get(index as usize).ok_or(Unsupported::Instruction { slot: self.slot });
        let number = match value {
            WideValue::Number(number) => number,
            WideValue::Map(index) => u64::from(MAP_HANDLES + map(index)?.id.0),
            WideValue::MapValue { map: index, offset } => u64::from(map(index)?.shape.first) + u64::from(offset),
            WideValue::Function(_) => u64::from(FUNCTIONS) + kind.target(self.slot).unwrap_or_default() as u64,
        };
        Ok(self.number(number as i64))
    }

    /// What a register holds.
    pub fn get(&mut self, register: u8) -> Value {
        self.builder.use_var(self.registers[usize::from(register)])
    }

    /// Puts a value into a register.
    pub fn set(&mut self, register: u8, value: Value) {
        self.builder.def_var(self.registers[usize::from(register)], value);
    }

    /// A number of 64 bits.
    pub fn number(&mut self, number: i64) -> Value {
        self.builder.ins().iconst(types::I64, number)
    }

    /// A field of the frame that stays the same while the function runs.
    pub fn of_frame(&mut self, offset: usize) -> Value {
        self.builder.ins().load(types::I64, CONSTANT, self.frame, offset as i32)
    }

    /// The block at a slot.
    pub fn at(&self, slot: u32) -> Block {
        self.blocks[&slot]
    }

    /// The function that a call calls.
    pub fn callee(&self, start: u32) -> Option<FuncRef> {
        self.callees.get(&start).copied()
    }

    /// Calls Rust; gives what it returns.
    pub fn call(&mut self, callee: Callee, arguments: &[Value]) -> Result<Vec<Value>, Unsupported> {
        let (parameters, results) = callee.shape();
        let address = callee.address().ok_or(Unsupported::Generator("a helper without a number".to_owned()))?;
        let signature = *self.signatures.entry((parameters, results)).or_insert_with(|| {
            let mut signature = Signature::new(CallConv::SystemV);
            signature.params.extend(vec![AbiParam::new(types::I64); parameters + 1]);
            signature.returns.extend(vec![AbiParam::new(types::I64); results]);
            self.builder.import_signature(signature)
        });
        let address = self.builder.ins().iconst(types::I64, address as i64);
        let with_frame: Vec<Value> = [self.frame].iter().chain(arguments).copied().collect();
        let call = self.builder.ins().call_indirect(signature, address, &with_frame);
        Ok(self.builder.inst_results(call).to_vec())
    }

    /// Goes on in a cold block if a condition holds, by what `cold` says, and in a new block else. `cold` ends its block.
    pub fn unlikely(&mut self, condition: Value, cold: impl FnOnce(&mut Self)) {
        let (other, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(other);
        self.builder.ins().brif(condition, other, &[], next, &[]);
        self.builder.switch_to_block(other);
        cold(self);
        self.builder.switch_to_block(next);
    }

    /// Ends here with the fault that the frame holds, at the slot that is compiled.
    pub fn fault(&mut self) {
        let live: Registers = self.context.flow.live[self.slot as usize] & 0x3ff;
        for register in (0..10u8).filter(|r| live >> r & 1 == 1) {
            let value = self.get(register);
            let at = CPU_REGISTERS + 8 * usize::from(register);
            self.builder.ins().store(MEMORY, value, self.cpu, at as i32);
        }
        let slot = self.number(self.slot.into());
        let live = self.number(live.into());
        let count = self.builder.use_var(self.count);
        let count = self.builder.ins().iadd_imm_s(count, -self.behind);
        self.builder.ins().jump(self.faults, &[BlockArg::Value(slot), BlockArg::Value(live), BlockArg::Value(count)]);
    }

    fn fault_block(&mut self) {
        self.builder.switch_to_block(self.faults);
        let [slot, live, count] = *self.builder.block_params(self.faults) else { return };
        let _ = self.call(Callee::Faulted, &[slot, live]);
        self.add_count(count);
        let (zero, status) = (self.number(0), self.number(FAULT as i64));
        self.builder.ins().return_(&[zero, status]);
    }

    /// Ends with what r0 holds and a status.
    pub fn leave(&mut self, r0: Value, status: Value) {
        self.keep_work();
        let count = self.builder.use_var(self.count);
        let count = self.builder.ins().iadd_imm_s(count, -self.behind);
        self.add_count(count);
        self.builder.ins().return_(&[r0, status]);
    }

    fn add_count(&mut self, count: Value) {
        let before = self.builder.ins().load(types::I64, MEMORY, self.cpu, CPU_INSTRUCTIONS as i32);
        let after = self.builder.ins().iadd(before, count);
        self.builder.ins().store(MEMORY, after, self.cpu, CPU_INSTRUCTIONS as i32);
    }

    /// Counts a taken back edge.
    pub fn count_work(&mut self) {
        let work = self.builder.use_var(self.work);
        let work = self.builder.ins().iadd_imm_s(work, 1);
        let limit = self.builder.ins().load(types::I64, MEMORY, self.cpu, CPU_LIMIT as i32);
        let over = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, work, limit);
        // The fault counts it again.
        self.unlikely(over, |body| {
            body.keep_work();
            let _ = body.call(Callee::Work, &[]);
            body.fault();
        });
        self.builder.def_var(self.work, work);
    }

    /// Puts the work into the run, before others count.
    pub fn keep_work(&mut self) {
        if self.function.loops {
            let work = self.builder.use_var(self.work);
            self.builder.ins().store(MEMORY, work, self.cpu, CPU_WORK as i32);
        }
    }

    /// Takes it back.
    pub fn fetch_work(&mut self) {
        if self.function.loops {
            let work = self.builder.ins().load(types::I64, MEMORY, self.cpu, CPU_WORK as i32);
            self.builder.def_var(self.work, work);
        }
    }

    /// A value of another width.
    pub fn narrow(&mut self, to: Type, value: Value) -> Value {
        if to == types::I64 { value } else { self.builder.ins().ireduce(to, value) }
    }

    /// The same with zeros above.
    pub fn widen(&mut self, value: Value) -> Value {
        let of = self.builder.func.dfg.value_type(value);
        if of == types::I64 { value } else { self.builder.ins().uextend(types::I64, value) }
    }
}
