//! What the bundle model tells of the rows that a packet came by.

use crate::support::target;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Packet, Runtime};
use sluice_hxdp::{Cores, Passes, Visit, compile_with};

/// Way and rows of a program on a frame whose first byte is this.
fn run(text: &str, first: u8) -> (u64, Vec<Visit>) {
    let program = assemble("visited", text, &[]).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let image = Image { programs: vec![program], ..Image::default() };
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut cores = Cores::new();
    cores.tell_paths();
    cores.keep_visits(true);
    let compiled = compile_with(&image, &image.programs[0], &target(2), Passes::ALL).unwrap();
    cores.bind(compiled.bundles, runtime.program_number(installed, 0).unwrap(), &runtime, installed);
    let once = |runtime: &mut Runtime| {
        let mut frame = [0; 60];
        frame[0] = first;
        runtime.run_on(&cores, installed, 0, &mut Packet::new(&frame), Ingress { ifindex: 3, queue: 0 });
        (cores.take_path(), cores.take_visits())
    };
    let seen = once(&mut runtime);
    assert_eq!(seen, once(&mut runtime), "the packet before leaves nothing behind");
    seen
}

const BRANCHES: &str = "r6 = *(u32 *)(r1 +0)\nr7 = *(u32 *)(r1 +4)\nr8 = r6\nr8 += 14\nif r8 > r7 goto drop\n\
    r2 = *(u8 *)(r6 +0)\nif r2 == 7 goto drop\nr0 = 2\nexit\ndrop:\nr0 = 1\nexit\n";

#[test]
fn packets_that_branch_otherwise_have_another_path_and_those_that_do_not_the_same_one() {
    let (pass, rows) = run(BRANCHES, 1);
    let (also_pass, _) = run(BRANCHES, 2);
    let (drop, other) = run(BRANCHES, 7);
    assert_eq!(pass, also_pass);
    assert_ne!(pass, drop);
    let last = |visits: &[Visit]| visits.last().unwrap().changed.clone();
    assert_eq!((last(&rows), last(&other)), (vec![(0, 2)], vec![(0, 1)]));
}

#[test]
fn a_fault_ends_the_rows_with_its_reason_and_the_lanes_before_it() {
    let (_, rows) = run("r2 = 0\nr3 = 5\nr4 = *(u64 *)(r2 +0)\nr0 = r4\nexit\n", 1);
    let (last, before) = rows.split_last().unwrap();
    assert!(last.fault.is_some() && last.lanes >= 1, "{last:?}");
    assert!(before.iter().all(|visit| visit.fault.is_none()), "{before:?}");
}
