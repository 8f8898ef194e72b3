//! Calls, tail calls, and the bound on work.

use super::{fault, image, r0, run};
use crate::address::STACK;
use crate::insn::assemble;
use crate::map::update_flags;
use crate::vm::{Coverage, Ingress, Packet, Runtime, WORK_LIMIT};
use crate::{FaultReason, Image, MapSpec, MapType};

#[test]
fn a_call_keeps_r6_to_r9_and_the_frame_of_its_caller() {
    let text = "
        r6 = 6
        r7 = 7
        r8 = 8
        r9 = 9
        *(u64 *)(r10 -8) = 100
        r1 = 1
        call f
        r0 += r6
        r0 += r7
        r0 += r8
        r0 += r9
        r1 = *(u64 *)(r10 -8)
        r0 += r1
        exit
      f:
        r6 = 60
        r7 = 60
        r8 = 60
        r9 = 60
        *(u64 *)(r10 -8) = 1
        r0 = r1
        exit";
    assert_eq!(r0(text), 131);
}

#[test]
fn a_callee_has_its_own_zeroed_frame_each_time() {
    let text = "
        call f
        call f
        exit
      f:
        r0 = *(u64 *)(r10 -512)
        *(u64 *)(r10 -512) = 5
        exit";
    assert_eq!(r0(text), 0);
    assert_eq!(r0("call f\nexit\nf:\nr0 = r10\nexit"), u64::from(STACK) + 2048);
}

#[test]
fn a_callee_reaches_its_callers_frame_but_not_the_other_way() {
    let write = "r1 = r10\ncall f\nr0 = *(u64 *)(r10 -8)\nexit\nf:\n*(u64 *)(r1 -8) = 9\nr0 = 0\nexit";
    assert_eq!(r0(write), 9);
    let stale = "call f\nr0 = *(u64 *)(r0 -8)\nexit\nf:\nr0 = r10\nexit";
    assert!(matches!(fault(stale), FaultReason::Access { access: "load", bytes: 8, .. }));
}

fn nested(functions: usize) -> String {
    let mut text = String::new();
    for f in 1..=functions {
        text += &if f < functions { format!("call f{f}\nr0 += 1\nexit\nf{f}:\n") } else { "r0 = 1\nexit\n".to_owned() };
    }
    text
}

#[test]
fn eight_frames_are_there_and_a_ninth_is_refused() {
    assert_eq!(r0(&nested(8)), 8);
    let mut runtime = Runtime::new(1, 1);
    let error = runtime.install(&image(&[&nested(9)]), &|_| None).unwrap_err();
    assert!(error.to_string().contains("9 frames deep, allowed: 8"), "{error}");
    // Not validated, it faults.
    let installed = runtime.install_unchecked(&image(&[&nested(9)]), &|_| None).unwrap();
    let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!(outcome.fault.unwrap().reason, FaultReason::CallDepth { limit: 8 });
    // The next packet starts from frame 0.
    let installed = runtime.install(&image(&["r0 = r10\nexit"]), &|_| None).unwrap();
    let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!(outcome.r0, u64::from(STACK) + 1024);
}

#[test]
fn the_bound_counts_taken_back_edges_and_calls_exactly() {
    let rounds = |n: u64| format!("r1 = {n}\nagain:\nr1 -= 1\nif r1 != 0x0 goto again\nr0 = 1\nexit");
    // n rounds take n - 1 back edges.
    assert_eq!(run(&rounds(WORK_LIMIT + 1)).instructions, 2 * (WORK_LIMIT + 1) + 3);
    assert_eq!(fault(&rounds(WORK_LIMIT + 2)), FaultReason::Work { limit: WORK_LIMIT });
    assert_eq!(
        fault("r0 = 1\nagain:\nr0 += 0\nif r0 == 0x0 goto out\ngoto again\nout:\nexit"),
        FaultReason::Work { limit: WORK_LIMIT }
    );
    let mut runtime = Runtime::new(1, 1);
    runtime.work_limit = 3;
    let calls = |n: usize| format!("{}r0 = 1\nexit\nf:\nr0 = 0\nexit", "call f\n".repeat(n));
    for (n, ends) in [(3, true), (4, false)] {
        let installed = runtime.install(&image(&[&calls(n)]), &|_| None).unwrap();
        let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
        assert_eq!(outcome.fault.is_none(), ends, "{n} calls");
    }
}

#[test]
fn a_jump_to_itself_ends() {
    let insns = assemble("test", "goto pc-1", &[]).unwrap().insns;
    let image = Image { programs: vec![crate::Program::from_insns("test", insns)], ..Image::default() };
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!(outcome.fault.unwrap().reason, FaultReason::Work { limit: WORK_LIMIT });
}

/// Programs with one program array, `jumps`, of four entries.
fn with_program_array(texts: &[&str]) -> Image {
    let program = |(n, text): (usize, &&str)| {
        assemble(&format!("p{n}"), text, &["jumps"]).unwrap_or_else(|e| panic!("{e} in\n{text}"))
    };
    let map = MapSpec { initial: vec![], ..MapSpec::new("jumps", MapType::ProgArray, 4, 4, 4) };
    Image { programs: texts.iter().enumerate().map(program).collect(), maps: vec![map], ..Image::default() }
}

/// Installs, and puts program `program` of the image at `index` of its program array.
fn install(image: &Image, entries: &[(u32, usize)]) -> (Runtime, crate::vm::Installed) {
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(image, &|_| None).unwrap();
    let map = runtime.map(installed, 0).unwrap();
    for (index, program) in entries {
        let number = runtime.program_number(installed, *program).unwrap();
        runtime.maps.user_update(map, &index.to_le_bytes(), &number.to_le_bytes(), update_flags::ANY).unwrap();
    }
    (runtime, installed)
}

const TAIL_CALL: &str = "r2 = map[jumps]\nr3 = 1\ncall bpf_tail_call#12\n";

#[test]
fn a_tail_call_goes_on_with_the_other_program_and_a_fresh_frame() {
    let first = format!("*(u64 *)(r10 -8) = 7\n{TAIL_CALL}r0 = 1\nexit");
    let second = "r2 = *(u64 *)(r10 -8)\nr0 = *(u32 *)(r1 +12)\nr0 += r2\nexit";
    let (mut runtime, installed) = install(&with_program_array(&[&first, second]), &[(1, 1)]);
    let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress { ifindex: 40, queue: 0 });
    assert_eq!((outcome.fault, outcome.r0, outcome.instructions), (None, 40, 8));
}

#[test]
fn a_tail_call_to_nothing_falls_through() {
    let first = format!("{TAIL_CALL}r0 = 2\nexit");
    let (mut runtime, installed) = install(&with_program_array(&[&first]), &[]);
    assert_eq!(runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default()).r0, 2);
}

#[test]
fn thirty_three_tail_calls_are_taken_and_no_more() {
    // Each round writes one more into the frame's first byte, over tail calls to itself.
    let text =
        format!("r6 = *(u32 *)(r1 +0)\nr7 = *(u8 *)(r6 +0)\nr7 += 1\n*(u8 *)(r6 +0) = r7\n{TAIL_CALL}r0 = 2\nexit");
    let (mut runtime, installed) = install(&with_program_array(&[&text]), &[(1, 0)]);
    for _ in 0..2 {
        let mut packet = Packet::new(&[0; 64]);
        let outcome = runtime.run(installed, 0, &mut packet, Ingress::default());
        assert_eq!((outcome.r0, packet.frame()[0]), (2, 34));
    }
}

#[test]
fn a_tail_call_in_a_function_returns_to_the_functions_caller() {
    let first = format!("r6 = 5\ncall f\nr0 += r6\nexit\nf:\nr6 = 1\n{TAIL_CALL}r0 = 0\nexit");
    let second = "r6 = 100\nr0 = 10\nexit";
    let (mut runtime, installed) = install(&with_program_array(&[&first, second]), &[(1, 1)]);
    let outcome = runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default());
    assert_eq!((outcome.fault, outcome.r0), (None, 15));
}

#[test]
fn a_removed_program_is_not_tail_called() {
    let first = format!("{TAIL_CALL}r0 = 2\nexit");
    let (mut runtime, installed) = install(&with_program_array(&[&first]), &[]);
    let other = runtime.install(&image(&["r0 = 9\nexit"]), &|_| None).unwrap();
    let map = runtime.map(installed, 0).unwrap();
    let number = runtime.program_number(other, 0).unwrap();
    runtime.maps.user_update(map, &1u32.to_le_bytes(), &number.to_le_bytes(), update_flags::ANY).unwrap();
    assert_eq!(runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default()).r0, 9);
    runtime.remove(other);
    assert_eq!(runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default()).r0, 2);
}

#[test]
fn callbacks_run_in_their_own_frame_with_what_they_were_given() {
    // loop(10, add, &sum): r0 is the number of rounds, the sum of their indices is on the stack.
    let text = "
        r1 = 10
        r2 = subprog[add]
        r3 = r10
        r3 += -8
        r4 = 0
        call bpf_loop#181
        r1 = *(u64 *)(r10 -8)
        r0 <<= 8
        r0 |= r1
        exit
      add:
        r3 = *(u64 *)(r2 +0)
        r3 += r1
        *(u64 *)(r2 +0) = r3
        r0 = 0
        exit";
    assert_eq!(r0(text), 10 << 8 | 45);
}

#[test]
fn a_fault_in_a_callback_has_the_callbacks_place() {
    let text = "r1 = 1\nr2 = subprog[f]\nr3 = 0\nr4 = 0\ncall bpf_loop#181\nexit\nf:\nr0 = *(u8 *)(r2 +0)\nexit";
    let outcome = run(text);
    let fault = outcome.fault.unwrap();
    assert_eq!(fault.pc, 7);
    assert!(matches!(fault.reason, FaultReason::Access { access: "load", address: 0, .. }));
}

#[test]
fn coverage_counts_what_ran() {
    let mut runtime = Runtime::new(1, 1);
    let text = "r1 = 3\nagain:\nr1 -= 1\nif r1 != 0x0 goto again\nif r1 == 0x0 goto out\nr0 = 0x9\nout:\nr0 = 1\nexit";
    let image = image(&[text]);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let number = runtime.program_number(installed, 0).unwrap();
    let coverage = Coverage::new(number, image.programs[0].insns.len());
    let traced = runtime.run_traced(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default(), &coverage);
    assert_eq!(coverage.hits(), [1, 3, 3, 1, 0, 0, 1, 1]);
    assert_eq!(traced, runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default()));
}
