//! Weak functions and variables of a kernel, which no kernel of ours has.

use sluice_ebpf::kernel::{Differential, Pinned, TestInput, available};
use sluice_ebpf::load::load;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{FaultReason, Image, Packet, Runtime, Verdict};

fn image(name: &str) -> Image {
    let path = format!("{}/tests/objects/{name}.o", env!("CARGO_MANIFEST_DIR"));
    load(&std::fs::read(&path).unwrap()).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn a_program_that_asks_for_what_is_missing_takes_the_other_way() {
    let image = image("weak");
    assert_eq!(image.refused.iter().map(|r| r.error.to_string()).collect::<Vec<_>>(), Vec::<String>::new());
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    for (name, expected) in [("function", Verdict::Tx), ("variable", Verdict::Pass), ("untyped", Verdict::Tx)] {
        let program = image.program(name).unwrap();
        let outcome = runtime.run(installed, program, &mut Packet::new(&[0; 64]), Ingress { ifindex: 1, queue: 0 });
        assert_eq!((outcome.verdict, outcome.fault), (expected, None), "{name}");
    }
}

#[test]
fn a_weak_symbol_is_missing_in_the_kernel_too() {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return;
    }
    let _pinned = Pinned::to(0).unwrap();
    let image = image("weak");
    let mut both = Differential::new(&image).unwrap_or_else(|e| panic!("{}", e.0));
    for program in 0..image.programs.len() {
        both.run(program, &TestInput::frame(&[0; 64])).unwrap_or_else(|e| panic!("{}", e.0));
    }
}

#[test]
fn a_call_of_what_is_missing_is_a_fault_only_where_it_is_executed() {
    let image = image("missing/weak_called");
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut run = |ifindex| runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress { ifindex, queue: 0 });
    let other = run(2);
    assert_eq!((other.verdict, other.fault), (Verdict::Pass, None));
    let fault = run(1).fault.expect("the call is executed");
    assert_eq!(fault.reason, FaultReason::NotFound { what: "a weak kernel function (kfunc)" });
}
