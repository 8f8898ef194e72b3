//! Kernel functions that count, and helpers that write a number to the stack, as machine code.

use sluice_ebpf::insn::assemble;
use sluice_ebpf::load::load;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Packet, Runtime};

#[test]
fn iterators_are_compiled_and_give_what_the_interpreter_gives() {
    let image = load(include_bytes!("../../ebpf/tests/objects/iterators.o")).unwrap();
    let frame: Vec<u8> = (0..64).collect();
    let ingress = Ingress { ifindex: 1, queue: 0 };
    let run = |compiled: bool| {
        let mut runtime = Runtime::new(1, 0);
        let installed = runtime.install(&image, &|_| None).unwrap();
        let mut native = sluice_jit::executor();
        assert_eq!(native.install(&runtime, &image, installed), [] as [String; 0]);
        let mut answers = Vec::new();
        for program in 0..image.programs.len() {
            let mut packet = Packet::new(&frame);
            let outcome = match compiled {
                true => runtime.run_on(&*native, installed, program, &mut packet, ingress),
                false => runtime.run(installed, program, &mut packet, ingress),
            };
            answers.push((outcome.r0 as u32, outcome.fault));
        }
        let map = runtime.maps.ids()[image.map("results").unwrap()];
        (answers, sluice_ebpf::state::entries(&runtime.maps, map))
    };
    let (answers, results) = run(true);
    assert_eq!((&answers, &results), (&run(false).0, &run(false).1));
    assert!(answers.iter().all(|(_, fault)| fault.is_none()) && results[0].1 == [45, 0, 0, 0, 10, 0, 0, 0]);
}

#[test]
fn a_number_that_a_helper_has_written_to_the_stack_is_what_is_read() {
    let text = "*(u64 *)(r10 -8) = 0\n*(u8 *)(r10 -16) = 55\nr1 = r10\nr1 += -16\nr2 = 1\nr3 = 10\nr4 = r10\nr4 += -8\n\
                call bpf_strtol#105\nr0 = *(u64 *)(r10 -8)\nexit";
    let image = Image { programs: vec![assemble("reads", text, &[]).unwrap()], ..Image::default() };
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut native = sluice_jit::executor();
    assert_eq!(native.install(&runtime, &image, installed), [] as [String; 0]);
    let (mut packet, ingress) = (Packet::new(&[0; 64]), Ingress { ifindex: 1, queue: 0 });
    assert_eq!(runtime.run(installed, 0, &mut packet, ingress).r0, 7);
    assert_eq!(runtime.run_on(&*native, installed, 0, &mut packet, ingress).r0, 7);
}
