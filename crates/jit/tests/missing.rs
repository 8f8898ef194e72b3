//! Programs that call what a load did not find stay the interpreter's.

use sluice_ebpf::load::load;
use sluice_ebpf::vm::{Ingress, Runtime};
use sluice_ebpf::{Packet, Verdict};

#[test]
fn a_program_that_calls_what_was_not_found_runs_interpreted_and_says_so() {
    let image = load(include_bytes!("../../ebpf/tests/objects/missing/weak_called.o")).unwrap();
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut native = sluice_jit::executor();
    let refused = native.install(&runtime, &image, installed);
    assert_eq!(refused, ["`called` runs interpreted: slot 3 calls what was not found when the object was loaded"]);
    let mut run = |ifindex| {
        let (mut packet, ingress) = (Packet::new(&[0; 64]), Ingress { ifindex, queue: 0 });
        runtime.run_on(&*native, installed, 0, &mut packet, ingress)
    };
    assert_eq!(run(2).verdict, Verdict::Pass);
    assert!(run(1).fault.is_some());
}
