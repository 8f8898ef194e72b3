//! The published engine in front of the interpreter: what a packet's rule says is done, and the program goes on from there.

use super::{Action, Table};
use crate::warp::bits::Seen;
use crate::warp::value::{Base, Value};
use sluice_ebpf::address::{CONTEXT, frame_pointer};
use sluice_ebpf::vm::{Cpu, Installed, Machine};
use sluice_ebpf::{FaultReason, Image, MapId, Runtime, map};
use std::cell::Cell;

/// A program with its rules.
pub struct Engine {
    number: u32,
    table: Table,
    maps: Vec<Option<MapId>>,
    last: Cell<Option<usize>>,
}

impl Engine {
    /// Of an image's program with this index.
    pub fn new(table: Table, image: &Image, index: usize, runtime: &Runtime, installed: Installed) -> Option<Self> {
        let maps = (0..image.maps.len()).map(|map| runtime.map(installed, map)).collect();
        Some(Self { number: runtime.program_number(installed, index)?, table, maps, last: Cell::new(None) })
    }

    /// The rule of the last packet.
    pub fn last(&self) -> Option<usize> {
        self.last.get()
    }

    /// Puts a value into a register or the stack.
    fn of(&self, cpu: &Cpu<'_>, seen: &Seen, value: &Value) -> Option<u64> {
        let field = |offset: u32| cpu.load_bytes((CONTEXT + offset).into(), 4).ok();
        Some(match value {
            Value::Number { bits, add } => bits.of(seen).wrapping_add(*add),
            Value::Wrapped { bits, add, width } => bits.of(seen).wrapping_add(*add) & ((1 << width) - 1),
            Value::Either(a, b) => a.of(seen) | b.of(seen),
            Value::Place { base, offset, more } => {
                let base = match base {
                    Base::Start => field(0)?,
                    Base::End => field(4)?,
                    Base::Stack => frame_pointer(0),
                    Base::Context => CONTEXT.into(),
                };
                base.wrapping_add(*offset as u64).wrapping_add(more.map_or(0, |more| more.of(seen)))
            }
            Value::Length(more) => (seen.length as u64).wrapping_add(*more as u64),
            Value::Map(index) => map::handle(self.maps.get(*index as usize).copied().flatten()?).into(),
            Value::Element { .. } | Value::Cell { .. } | Value::Found | Value::Opaque => return None,
        })
    }
}

impl Machine for Engine {
    fn execute(&self, cpu: &mut Cpu<'_>, slot: u32) -> Result<(), FaultReason> {
        if slot != 0 || cpu.frame() != 0 || cpu.program() != self.number {
            return cpu.interpret(slot);
        }
        let seen = Seen::new(cpu.packet.frame(), cpu.ingress);
        self.last.set(self.table.rule(&seen));
        let Some(rule) = self.last.get().map(|at| &self.table.rules[at]) else { return cpu.interpret(0) };
        match &rule.action {
            Action::Forward(r0) => {
                cpu.registers[0] = *r0;
                Ok(())
            }
            Action::Restore { pc, registers, stack, .. } => {
                for (r, value) in registers.iter().enumerate() {
                    cpu.registers[r] = self.of(cpu, &seen, value).unwrap_or_default();
                }
                for (offset, bytes, value) in stack {
                    let number = self.of(cpu, &seen, value).unwrap_or_default();
                    cpu.store_bytes(frame_pointer(0).wrapping_add(*offset as u64), *bytes, number)?;
                }
                cpu.interpret(*pc)
            }
        }
    }
}
