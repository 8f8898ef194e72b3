//! Both sides of a call between Rust and machine code: the frame that code works on, and what it calls.
//!
//! Machine code has one pointer, to a [`Frame`]; it reaches everything else from there. All that it calls comes in here.
#![allow(unsafe_code)] // Each use says why it is right.

use crate::bind::Row;
use crate::machine::Program;
use sluice_ebpf::analysis::MAX_BUFFER;
use sluice_ebpf::insn::AtomicOp;
use sluice_ebpf::vm::native::Native;
use sluice_ebpf::vm::{Cpu, Machine};
use sluice_ebpf::{FaultReason, MapId, helper};

/// What machine code works on. It reads these fields by their offsets.
#[repr(C)]
pub struct Frame<'a, 'c> {
    /// The run.
    pub cpu: *mut Cpu<'c>,
    /// What is added to a packet's device address.
    pub packet: u64,
    /// What is added to an address of the stack.
    pub stack: u64,
    /// Lowest byte written, by frame of the stack.
    pub low: *mut u16,
    /// Of the program's maps.
    pub rows: *const Row,
    /// r10 of the function that runs.
    pub r10: u64,
    /// What carries on with a tail-called program.
    machine: &'a dyn Machine,
    /// Why it ends, where it does.
    fault: Option<FaultReason>,
}

/// Two registers: a value, and how it came to it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pair {
    /// r0 or what was loaded.
    pub value: u64,
    /// A status.
    pub status: u64,
}

/// It went on to its end.
pub const DONE: u64 = 0;
/// It faulted, and the frame says why.
pub const FAULT: u64 = 1;
/// A helper has called another program.
pub const TAIL: u64 = 2;
/// The slot of an exit is above the status's other bits.
pub const SLOT_SHIFT: u32 = 8;

/// Machine code of a function.
type Code = extern "C" fn(*mut Frame<'_, '_>, u64, u64, u64, u64, u64) -> Pair;

/// The program that runs, if it is this one with these maps: no other may run by its code.
#[inline]
pub fn ready(program: &Program, cpu: &mut Cpu<'_>) -> bool {
    // Code takes for granted that there is a copy of each value for the processor that it runs on, and what the analysis says
    // holds of packets up to a length.
    program.stamp == cpu.stamp()
        && cpu.world.cpu < cpu.maps.cpus()
        && cpu.packet.end() <= MAX_BUFFER
        && program.maps.ready(cpu.maps)
}

/// Runs the function at a slot to its end; by the interpreter if there is no code that is right for it.
#[inline]
pub fn run(program: &Program, cpu: &mut Cpu<'_>, slot: u32, machine: &dyn Machine) -> Result<(), FaultReason> {
    let Some(function) = program.code.function(slot).filter(|_| ready(program, cpu)) else {
        return cpu.interpret(slot);
    };
    cpu.may_write_stack(function.written);
    let Native { packet, stack, low } = cpu.native();
    let [_, r1, r2, r3, r4, r5, ..] = cpu.registers;
    let (r10, rows) = (cpu.registers[10], program.maps.rows());
    let mut frame = Frame { cpu, packet, stack, low, rows, r10, machine, fault: None };
    // SAFETY: an entry is the first instruction of a function of this kind, and stays as long as the code, which is borrowed.
    // What it was compiled for is what runs: the stamps are those of the program and its maps.
    let code: Code = unsafe { std::mem::transmute(function.address()) };
    let Pair { value, status } = code(&raw mut frame, r1, r2, r3, r4, r5);
    // SAFETY: the pointer was made of a reference that is still ours: machine code has ended.
    let cpu = unsafe { &mut *frame.cpu };
    cpu.registers[0] = value;
    if status & ((1 << SLOT_SHIFT) - 1) == DONE && (cpu.holds_nothing() || cpu.frame() != 0) {
        return Ok(());
    }
    ended(&mut frame, status)
}

/// The end of a run that faulted, or may fault by what it holds.
#[cold]
fn ended(frame: &mut Frame<'_, '_>, status: u64) -> Result<(), FaultReason> {
    if status & ((1 << SLOT_SHIFT) - 1) != DONE {
        return Err(frame.fault.take().unwrap_or(FaultReason::Protocol("machine code ended without a reason")));
    }
    // SAFETY: as in `run`.
    let cpu = unsafe { &mut *frame.cpu };
    // Of all registers an exit reads r0.
    cpu.registers[1..10].fill(0);
    cpu.at_exit().inspect_err(|_| cpu.faulted_at((status >> SLOT_SHIFT) as u32))
}

/// The frame that machine code was given, and its run.
///
/// # Safety
///
/// Machine code called with the pointer it was given, and nothing else of this thread is in the frame.
unsafe fn inside<'f, 'a, 'c>(
    frame: *mut Frame<'a, 'c>,
) -> (&'f mut Cpu<'c>, &'f mut Option<FaultReason>, &'a dyn Machine) {
    // SAFETY: `run` has made both pointers of references that it holds until machine code ends.
    unsafe { (&mut *(*frame).cpu, &mut (*frame).fault, (*frame).machine) }
}

/// A result as machine code gets it.
fn pair(result: Result<u64, FaultReason>, fault: &mut Option<FaultReason>) -> Pair {
    match result {
        Ok(value) => Pair { value, status: DONE },
        Err(reason) => {
            *fault = Some(reason);
            Pair { value: 0, status: FAULT }
        }
    }
}

extern "C" fn call<const HELPER: usize>(
    frame: *mut Frame<'_, '_>,
    r1: u64,
    r2: u64,
    r3: u64,
    r4: u64,
    r5: u64,
) -> Pair {
    // SAFETY: called by machine code.
    let (cpu, fault, _) = unsafe { inside(frame) };
    pair((helper::ALL[HELPER].run)(cpu, [r1, r2, r3, r4, r5]), fault)
}

/// The helper that may go on with another program.
extern "C" fn call_tail(frame: *mut Frame<'_, '_>, r1: u64, r2: u64, r3: u64, _: u64, _: u64) -> Pair {
    // SAFETY: called by machine code.
    let (cpu, fault, machine) = unsafe { inside(frame) };
    let index = helper::ALL.iter().position(|h| h.id == TAIL_CALL);
    match cpu.call_helper(index, TAIL_CALL, [r1, r2, r3, 0, 0]) {
        Ok(false) => Pair { value: cpu.registers[0], status: DONE },
        Ok(true) => match machine.execute(cpu, 0) {
            Ok(()) => Pair { value: cpu.registers[0], status: TAIL },
            Err(reason) => pair(Err(reason), fault),
        },
        Err(reason) => pair(Err(reason), fault),
    }
}

/// Number of the helper `tail_call`.
pub const TAIL_CALL: i32 = 12;

/// A lookup whose key lies on the stack: the host's address of the key, its bytes, and the map.
extern "C" fn lookup(frame: *mut Frame<'_, '_>, map: u64, key: *const u8, bytes: u64) -> u64 {
    // SAFETY: called by machine code.
    let (cpu, ..) = unsafe { inside(frame) };
    // SAFETY: the region analysis has proven that so many bytes lie in a frame of the stack, which no lookup writes.
    let key = unsafe { std::slice::from_raw_parts(key, bytes as usize) };
    cpu.maps.lookup(MapId(map as u32), key, cpu.world.cpu).map_or(0, u64::from)
}

extern "C" fn load(frame: *mut Frame<'_, '_>, address: u64, bytes: u64) -> Pair {
    // SAFETY: called by machine code.
    let (cpu, fault, _) = unsafe { inside(frame) };
    pair(cpu.load_bytes(address, bytes as u8), fault)
}

extern "C" fn store(frame: *mut Frame<'_, '_>, address: u64, bytes: u64, value: u64) -> u64 {
    // SAFETY: called by machine code.
    let (cpu, fault, _) = unsafe { inside(frame) };
    pair(cpu.store_bytes(address, bytes as u8, value).map(|()| 0), fault).status
}

extern "C" fn atomic(frame: *mut Frame<'_, '_>, address: u64, kind: u64, operand: u64, expected: u64) -> Pair {
    // SAFETY: called by machine code.
    let (cpu, fault, _) = unsafe { inside(frame) };
    let op = ATOMICS.get((kind >> 1) as usize).copied().unwrap_or(AtomicOp::Add);
    pair(cpu.atomic_bytes(address, kind & 1 != 0, op, (operand, expected)), fault)
}

/// Atomic operations by their numbers in machine code.
pub const ATOMICS: [AtomicOp; 6] =
    [AtomicOp::Add, AtomicOp::Or, AtomicOp::And, AtomicOp::Xor, AtomicOp::Xchg, AtomicOp::Cmpxchg];

/// Work is above its bound.
extern "C" fn work(frame: *mut Frame<'_, '_>) {
    // SAFETY: called by machine code.
    let (cpu, fault, _) = unsafe { inside(frame) };
    *fault = cpu.count_work().err();
}

/// A fault is at this slot; `live` are the registers that machine code has put into the run, all others hold nothing.
extern "C" fn faulted(frame: *mut Frame<'_, '_>, slot: u64, live: u64) {
    // SAFETY: called by machine code.
    let (cpu, ..) = unsafe { inside(frame) };
    for (register, value) in cpu.registers.iter_mut().enumerate().take(10) {
        if live >> register & 1 == 0 {
            *value = 0;
        }
    }
    cpu.faulted_at(slot as u32);
}

/// Opens a frame for a function that writes to so many bytes of it.
extern "C" fn enter(frame: *mut Frame<'_, '_>, written: u64) -> u64 {
    // SAFETY: called by machine code.
    let (cpu, fault, _) = unsafe { inside(frame) };
    if let Err(reason) = cpu.count_work().and_then(|()| cpu.enter_native()) {
        return pair(Err(reason), fault).status;
    }
    cpu.may_write_stack(written as u16);
    let r10 = cpu.registers[10];
    // SAFETY: as above; no reference into the frame is used behind this.
    unsafe { (*frame).r10 = r10 };
    DONE
}

/// Closes it.
extern "C" fn leave(frame: *mut Frame<'_, '_>) {
    // SAFETY: called by machine code.
    let (cpu, ..) = unsafe { inside(frame) };
    cpu.leave_native();
    let r10 = cpu.registers[10];
    // SAFETY: as above; no reference into the frame is used behind this.
    unsafe { (*frame).r10 = r10 };
}

/// What machine code calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Callee {
    /// A helper, by its index.
    Helper(usize),
    /// The helper that may go on with another program.
    TailCall,
    /// A lookup with a key on the stack.
    Lookup,
    /// A load that nothing proves.
    Load,
    /// A store that nothing proves.
    Store,
    /// An atomic operation that nothing proves.
    Atomic,
    /// Work is above its bound.
    Work,
    /// A fault's place.
    Faulted,
    /// A function's beginning.
    Enter,
    /// A function's end.
    Leave,
}

/// Makes one function of each helper.
macro_rules! helpers {
    ($($index:literal)*) => {
        [$(call::<$index>),*]
    };
}

type Call = extern "C" fn(*mut Frame<'_, '_>, u64, u64, u64, u64, u64) -> Pair;

/// By index in `helper::ALL`; a call behind its end panics, and is never compiled.
static HELPERS: [Call; 64] = helpers!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
);

impl Callee {
    /// Its first instruction; `None` of a helper that there is not.
    pub fn address(self) -> Option<u64> {
        Some(match self {
            Self::Helper(index) => *HELPERS.get(index).filter(|_| index < helper::ALL.len())? as *const () as u64,
            Self::TailCall => call_tail as *const () as u64,
            Self::Lookup => lookup as *const () as u64,
            Self::Load => load as *const () as u64,
            Self::Store => store as *const () as u64,
            Self::Atomic => atomic as *const () as u64,
            Self::Work => work as *const () as u64,
            Self::Faulted => faulted as *const () as u64,
            Self::Enter => enter as *const () as u64,
            Self::Leave => leave as *const () as u64,
        })
    }

    /// Arguments behind the frame, and results.
    pub fn shape(self) -> (usize, usize) {
        match self {
            Self::Helper(_) | Self::TailCall => (5, 2),
            Self::Lookup => (3, 1),
            Self::Load => (2, 2),
            Self::Store => (3, 1),
            Self::Atomic => (4, 2),
            Self::Work | Self::Leave => (0, 0),
            Self::Faulted => (2, 0),
            Self::Enter => (1, 1),
        }
    }
}
