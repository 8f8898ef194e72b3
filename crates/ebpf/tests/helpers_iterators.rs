//! Iterators that count (`bpf_iter_num_*`) against the kernel, and what no verifier lets pass.

use crate::helpers_support::Asm;
use sluice_ebpf::insn::helper_number;
use sluice_ebpf::kernel::{Differential, Pinned, TestInput, available};
use sluice_ebpf::load::load;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{FaultReason, Image, Packet, Program, Runtime};

const OBJECT: &[u8] = include_bytes!("objects/iterators.o");

fn image() -> Image {
    let image = load(OBJECT).unwrap_or_else(|e| panic!("{e}"));
    assert!(image.refused.is_empty(), "{:?}", image.refused);
    image
}

fn run(image: &Image, name: &str) -> (Runtime, sluice_ebpf::vm::Outcome) {
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(image, &|_| None).unwrap();
    let frame: Vec<u8> = (0..64).collect();
    let ingress = Ingress { ifindex: 1, queue: 0 };
    let outcome = runtime.run(installed, image.program(name).unwrap(), &mut Packet::new(&frame), ingress);
    (runtime, outcome)
}

#[test]
fn iterators_give_what_the_kernels_give() {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return;
    }
    let _pinned = Pinned::to(0).unwrap();
    let image = image();
    let mut both = Differential::new(&image).unwrap_or_else(|e| panic!("{}", e.0));
    let frame: Vec<u8> = (0..64).collect();
    for program in 0..image.programs.len() {
        both.run(program, &TestInput::frame(&frame)).unwrap_or_else(|e| panic!("{}", e.0));
        both.compare_maps().unwrap_or_else(|e| panic!("{}", e.0));
    }
}

#[test]
fn rounds_and_refusals_are_those_of_the_declaration() {
    let image = image();
    let (runtime, outcome) = run(&image, "sums");
    assert_eq!(outcome.fault, None);
    let map = runtime.maps.ids()[image.map("results").unwrap()];
    let result =
        |i: u32| i64::from_le_bytes(runtime.maps.user_lookup(map, &i.to_le_bytes()).unwrap().try_into().unwrap());
    let of = |rounds: i64, sum: i64| (rounds << 32) + sum;
    let expected = [of(10, 45), of(7, 0), 0, -22, -7, -7];
    assert_eq!((0..6).map(result).collect::<Vec<_>>(), expected);
}

/// Faults when one function of an iterator is given an address.
#[track_caller]
fn refused(function: &str, make: fn(Asm) -> Asm) {
    let number = helper_number(function).unwrap();
    let asm = make(Asm::default().mov_reg(6, 1)).mov(2, 0).mov(3, 9).call(number).mov(0, 2).exit();
    let program: Program = asm.program("p");
    let image = Image { programs: vec![program], ..Image::default() };
    let (_, outcome) = run(&image, "p");
    match outcome.fault.map(|fault| fault.reason) {
        Some(FaultReason::Argument { helper, argument: 1, .. }) => assert_eq!(helper, function),
        Some(FaultReason::Access { access, .. }) => assert_eq!(access, function),
        other => panic!("{function}: {other:?}"),
    }
}

#[test]
fn what_is_no_iterator_is_a_fault() {
    for function in ["iter_num_new", "iter_num_next", "iter_num_destroy"] {
        refused(function, |asm| asm.mov(1, 0));
        refused(function, |asm| asm.mov(1, -8));
        refused(function, |asm| asm);
        // The packet; the stack, not aligned; its end; before it.
        refused(function, |asm| asm.load(4, 1, 6, 0));
        refused(function, |asm| asm.mov_reg(1, 10).add(1, -12));
        refused(function, |asm| asm.mov_reg(1, 10));
        refused(function, |asm| asm.mov_reg(1, 10).add(1, -520));
    }
}

#[test]
fn an_iterator_that_no_one_made_counts_between_its_two_numbers() {
    let next = helper_number("iter_num_next").unwrap();
    // 6 and 9: the next number is 7.
    let asm = Asm::default().store_imm(4, 10, -8, 6).store_imm(4, 10, -4, 9).mov_reg(1, 10).add(1, -8).call(next);
    let program = asm.load(4, 0, 0, 0).exit().program("p");
    let (_, outcome) = run(&Image { programs: vec![program], ..Image::default() }, "p");
    assert_eq!((outcome.r0, outcome.fault), (7, None));
}
