//! Small programs, instruction by instruction.

use crate::insn::Insn;
use crate::vm::{Ingress, Outcome, Packet, Runtime};
use crate::{Image, Program, Verdict};

/// Runs slots on an empty-mapped runtime.
fn run(insns: &[Insn], frame: &[u8]) -> Outcome {
    let program = Program { name: "test".into(), insns: insns.to_vec(), ..Program::default() };
    let image = Image { programs: vec![program], ..Image::default() };
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install_unchecked(&image, &|_| None).unwrap();
    runtime.run(installed, 0, &mut Packet::new(frame), Ingress::default())
}

fn insn(op: u8, dst: u8, src: u8, off: i16, imm: i32) -> Insn {
    Insn { op, dst, src, off, imm }
}

#[test]
fn a_program_that_returns_one_drops() {
    let outcome = run(&[insn(0xb7, 0, 0, 0, 1), insn(0x95, 0, 0, 0, 0)], &[0; 60]);
    assert_eq!((outcome.verdict, outcome.instructions, outcome.fault), (Verdict::Drop, 2, None));
}
