//! The interpreter, instruction by instruction and edge by edge.

mod alu;
mod calls;
mod fuzz;
mod leaks;
mod memory;
mod runtime;

use crate::insn::assemble;
use crate::vm::{Ingress, Outcome, Packet, Runtime};
use crate::{FaultReason, Image, Program, Verdict};

/// An image of programs written as text, without maps.
fn image(texts: &[&str]) -> Image {
    let program = |text: &&str| assemble("test", text, &[]).unwrap_or_else(|e| panic!("{e} in\n{text}"));
    Image { programs: texts.iter().map(program).collect(), ..Image::default() }
}

/// Validates and runs a program on a frame.
fn run_on(text: &str, packet: &mut Packet) -> Outcome {
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&image(&[text]), &|_| None).unwrap_or_else(|e| panic!("{e} in\n{text}"));
    runtime.run(installed, 0, packet, Ingress { ifindex: 3, queue: 2 })
}

/// The same on 64 bytes of zero.
fn run(text: &str) -> Outcome {
    run_on(text, &mut Packet::new(&[0; 64]))
}

/// r0 of a program that must not fault.
fn r0(text: &str) -> u64 {
    let outcome = run(text);
    assert_eq!(outcome.fault, None, "{text}");
    outcome.r0
}

/// Reason of a program that must fault.
fn fault(text: &str) -> FaultReason {
    run(text).fault.unwrap_or_else(|| panic!("no fault in\n{text}")).reason
}

#[test]
fn a_program_that_returns_one_drops() {
    let outcome = run("r0 = 1\nexit");
    assert_eq!((outcome.verdict, outcome.instructions, outcome.fault), (Verdict::Drop, 2, None));
}

#[test]
fn a_wide_load_counts_once() {
    assert_eq!(run("r0 = 0x1\nexit").instructions, 2);
}

#[test]
fn only_the_lower_half_of_r0_is_the_verdict() {
    assert_eq!(run("r0 = 0x500000002\nexit").verdict, Verdict::Pass);
    assert_eq!(run("r0 = 5\nexit").verdict, Verdict::Aborted);
}

#[test]
fn a_program_that_does_not_exist_faults() {
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&image(&["r0 = 1\nexit"]), &|_| None).unwrap();
    let outcome = runtime.run(installed, 1, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!(outcome.fault.unwrap().reason, FaultReason::NoInstruction(0));
    runtime.remove(installed);
    let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!(outcome.verdict, Verdict::Aborted);
}

#[test]
fn a_fault_says_program_instruction_and_registers() {
    let outcome = run("r6 = 7\nr0 = *(u8 *)(r6 +1)\nexit");
    let fault = outcome.fault.unwrap();
    assert_eq!((fault.program.as_str(), fault.pc, fault.registers[6]), ("test", 1, 7));
    assert_eq!((outcome.verdict, outcome.r0, outcome.instructions), (Verdict::Aborted, 0, 2));
}

#[test]
fn malformed_slots_fault_where_validation_was_skipped() {
    let insns = [crate::Insn { op: 0xff, ..crate::Insn::default() }];
    let program = Program { insns: insns.to_vec(), ..Program::default() };
    let image = Image { programs: vec![program], ..Image::default() };
    let mut runtime = Runtime::new(1, 1);
    assert!(runtime.install(&image, &|_| None).is_err());
    let installed = runtime.install_unchecked(&image, &|_| None).unwrap();
    let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!(outcome.fault.unwrap().reason, FaultReason::NoInstruction(0));
}
