//! What is recorded of executed bundles, for the cycle model.

use crate::support::{Replay, scripts, steps, target};
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Packet, Runtime};
use sluice_hxdp::cycles::Issue;
use sluice_hxdp::{Cores, Executed, Passes, compile_with};

/// The recorded bundles of a program on a frame of 60 bytes, compiled with these passes.
fn recorded(text: &str, lanes: usize, passes: Passes) -> Vec<Issue> {
    let program = assemble("recorded", text, &[]).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let image = Image { programs: vec![program], ..Image::default() };
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let mut cores = Cores::new();
    cores.record();
    let compiled = compile_with(&image, &image.programs[0], &target(lanes), passes).unwrap();
    cores.bind(compiled.bundles, runtime.program_number(installed, 0).unwrap(), &runtime, installed);
    runtime.run_on(&cores, installed, 0, &mut Packet::new(&[1; 60]), Ingress { ifindex: 3, queue: 0 });
    cores.take_issues().issues
}

#[test]
fn each_kind_of_instruction_is_recorded_as_such() {
    let text =
        "r6 = *(u32 *)(r1 +12)\n*(u64 *)(r10 -8) = r6\nr7 = *(u64 *)(r10 -8)\nr7 *= r6\nr7 /= r6\ncall bpf_ktime_get_ns
        r0 += r7\nexit";
    let none = Issue::default();
    let one = Issue { results: 1, ..none };
    let expected = [
        Issue { loads: 1, last_lane: true, ..one },
        Issue { stores: 1, ..none },
        Issue { loads: 1, last_lane: true, ..one },
        Issue { multiplies: 1, late: true, ..one },
        Issue { divides: 1, late: true, ..one },
        Issue { helpers: 1, twice: true, ..one },
        Issue { last_lane: true, ..one },
        Issue { exit: true, ..none },
    ];
    assert_eq!(recorded(text, 1, Passes::NONE), expected);
    assert_eq!(recorded("r0 = 1\nexit", 2, Passes::ALL), [Issue { exit: true, ..none }]);
}

#[test]
fn lanes_behind_a_taken_branch_count_where_decode_cannot_know() {
    // The frame's length is not known, so the load may fault and stays behind the branch.
    let text =
        "r6 = *(u32 *)(r1 +0)\nr7 = *(u32 *)(r1 +12)\nif r7 > 0 goto pc+2\nr0 = *(u8 *)(r6 +40)\nexit\nr0 = 2\nexit";
    let issues = recorded(text, 4, Passes::ALL);
    let branch = Issue { loads: 1, ..Issue::default() };
    assert_eq!(issues[1], branch, "a load, and no register written: {issues:?}");
    assert_eq!(issues.last(), Some(&Issue { exit: true, ..Issue::default() }));
}

#[test]
fn what_is_recorded_of_the_scripts_is_what_was_counted() {
    let mut all = Executed::default();
    for path in scripts() {
        for steps in steps::steps(&path) {
            let replay = Replay::record(&steps, &target(2));
            for ((_, packets, executed, _), (_, traces)) in replay.done.iter().zip(&replay.traces) {
                let issues = || traces.iter().flat_map(|(trace, _)| &trace.issues);
                let shared: u64 = issues().map(|issue| u64::from(issue.shared())).sum();
                assert_eq!(traces.len() as u64, *packets, "{}", path.display());
                assert_eq!(issues().count() as u64, executed.bundles, "{}", path.display());
                assert_eq!(shared, executed.helpers + executed.map_accesses, "{}", path.display());
                all += *executed;
            }
        }
    }
    assert!(all.helpers > 1000 && all.map_accesses > 1000, "{all:?}");
}
