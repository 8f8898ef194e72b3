//! Another executor on the interpreter's state: what it may do with registers, memory, frames and helpers.
//!
//! Whoever runs a program in another form (as bundles) implements [`Machine`] and works on the same [`Cpu`]: every
//! access, helper, frame and count is the interpreter's own.

use super::memory::denied;
use super::{Cpu, Installed, Runtime, stack};
use crate::address::{CONTEXT, STACK_FRAMES, frame_pointer};
use crate::insn::{AtomicOp, POISON_CORE, POISON_KFUNC};
use crate::{FaultReason, Image, helper};

/// Runs installed programs in another form than eBPF slots.
pub trait Machine {
    /// Runs the function at `slot` of the program [`Cpu::program`] until the frame that runs now exits, as the
    /// interpreter would. Slot 0 is the program itself.
    fn execute(&self, cpu: &mut Cpu<'_>, slot: u32) -> Result<(), FaultReason>;
}

/// A machine of one runtime, for engines that do not know which it is: it takes programs over when they are installed.
pub trait Executor: Machine + Send + std::fmt::Debug {
    /// Takes over the programs of an image that is installed; gives why some of them stay the interpreter's.
    fn install(&mut self, runtime: &Runtime, image: &Image, installed: Installed) -> Vec<String>;
    /// Lets go of programs that the runtime does not have any more.
    fn forget(&mut self, runtime: &Runtime);
}

/// Makes the executor of a new runtime.
pub type MakeExecutor = fn() -> Box<dyn Executor>;

/// What a call of a helper that is not there means.
#[cold]
fn no_helper(id: i32) -> FaultReason {
    match id {
        POISON_KFUNC => FaultReason::NotFound { what: "a weak kernel function (kfunc)" },
        POISON_CORE => FaultReason::NotFound { what: "a CO-RE relocation" },
        _ => FaultReason::UnknownHelper { id },
    }
}

impl Cpu<'_> {
    /// Number of the program that runs.
    pub fn program(&self) -> u32 {
        self.program
    }

    /// Frame that runs: 0 is the program's own.
    pub fn frame(&self) -> usize {
        self.stack.frame
    }

    /// Loads `bytes` (1 to 8) at an address, zero-extended; the context only in its fields' width.
    pub fn load_bytes(&self, address: u64, bytes: u8) -> Result<u64, FaultReason> {
        let wide = |low: &[u8]| {
            let mut all = [0; 8];
            all[..low.len()].copy_from_slice(low);
            u64::from_le_bytes(all)
        };
        match bytes {
            1 => self.load::<1>(address).map(|b| wide(&b)),
            2 => self.load::<2>(address).map(|b| wide(&b)),
            4 => self.load::<4>(address).map(|b| wide(&b)),
            6 => self.load::<6>(address).map(|b| wide(&b)),
            8 => self.load::<8>(address).map(u64::from_le_bytes),
            _ => Err(denied("load", address, bytes.into())),
        }
    }

    /// Stores the low `bytes` (1 to 8) of a value at an address.
    pub fn store_bytes(&mut self, address: u64, bytes: u8, value: u64) -> Result<(), FaultReason> {
        let [a, b, c, d, e, f, ..] = value.to_le_bytes();
        match bytes {
            1 => self.store(address, [a]),
            2 => self.store(address, [a, b]),
            4 => self.store(address, [a, b, c, d]),
            6 => self.store(address, [a, b, c, d, e, f]),
            8 => self.store(address, value.to_le_bytes()),
            _ => Err(denied("store", address, bytes.into())),
        }
    }

    /// An atomic operation of 64 or (`wide` unset) 32 bits; gives the old value.
    pub fn atomic_bytes(
        &mut self,
        address: u64,
        wide: bool,
        op: AtomicOp,
        (operand, expected): (u64, u64),
    ) -> Result<u64, FaultReason> {
        self.atomic(address, wide, op, operand, expected)
    }

    /// Calls the helper with this index in [`helper::ALL`], or none: `id` is what the call named. True when it was a
    /// tail call that is taken: the machine goes on at slot 0 of [`Cpu::program`].
    #[inline]
    pub fn call_helper(&mut self, index: Option<usize>, id: i32, args: [u64; 5]) -> Result<bool, FaultReason> {
        let Some(helper) = index.and_then(|index| helper::ALL.get(index)) else {
            return Err(no_helper(id));
        };
        self.registers[0] = (helper.run)(self, args)?;
        let programs = self.programs;
        let there = |number: &u32| programs.get(*number as usize).is_some_and(Option::is_some);
        let Some(number) = self.tail_call.take().filter(there) else { return Ok(false) };
        self.held.at_exit()?;
        self.program = number;
        self.tail_called.push(number);
        self.registers[1] = CONTEXT.into();
        let frame = self.stack.frame;
        self.stack.enter(frame);
        self.count_work()?;
        Ok(true)
    }

    /// Goes on by the interpreter from `slot` of the running program, until the frame that runs now exits.
    pub fn interpret(&mut self, slot: u32) -> Result<(), FaultReason> {
        self.execute::<false>(slot)
    }

    /// Counts a taken back edge or call.
    #[inline]
    pub fn count_work(&mut self) -> Result<(), FaultReason> {
        self.work += 1;
        if self.work > self.limit { Err(FaultReason::Work { limit: self.limit }) } else { Ok(()) }
    }

    /// Back edges and calls that may still be counted.
    pub fn work_left(&self) -> u64 {
        self.limit.saturating_sub(self.work)
    }

    /// So many back edges and calls were made elsewhere, no more than are left.
    pub fn work_done(&mut self, work: u64) {
        self.work += work;
    }

    /// Counts executed instructions.
    pub fn count_instructions(&mut self, executed: u64) {
        self.instructions += executed;
    }

    /// Opens the next frame; `back` is given back by [`Cpu::leave`].
    pub fn enter(&mut self, back: u32) -> Result<(), FaultReason> {
        let frame = self.stack.frame + 1;
        let Some(saved) = self.stack.saved.get_mut(frame) else {
            return Err(FaultReason::CallDepth { limit: STACK_FRAMES });
        };
        *saved = stack::Saved { program: self.program, pc: back, ..*saved };
        saved.registers.copy_from_slice(&self.registers[6..10]);
        self.stack.enter(frame);
        self.registers[10] = frame_pointer(frame as u32);
        Ok(())
    }

    /// Closes the frame; where to go on.
    pub fn leave(&mut self) -> u32 {
        let saved = self.stack.saved[self.stack.frame];
        self.stack.frame -= 1;
        self.program = saved.program;
        self.registers[6..10].copy_from_slice(&saved.registers);
        self.registers[10] = frame_pointer(self.stack.frame as u32);
        saved.pc
    }

    /// Says at which slot of the running program it faulted, unless a function that it called has said so.
    pub fn faulted_at(&mut self, slot: u32) {
        self.place = self.place.or(Some((self.program, slot, self.registers)));
    }
}
