//! What a run leaves behind: frames that others wrote to, records and locks that are held.

use crate::support::Twins;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{FaultReason, Image, MapSpec, MapType};

fn twins(text: &str, maps: Vec<MapSpec>) -> Twins {
    let names: Vec<&str> = maps.iter().map(|map| map.name.as_str()).collect();
    let program = assemble("ends", text, &names).unwrap_or_else(|e| panic!("{e}"));
    let twins = Twins::new(Image { programs: vec![program], maps, ..Image::default() }, None);
    assert!(twins.refused.is_empty(), "{:?}", twins.refused);
    twins
}

#[test]
fn what_a_function_wrote_to_its_callers_frame_is_gone_with_the_packet() {
    let text = "r6 = *(u32 *)(r1 +12)\nr7 = r10\nr7 += -64\nif r6 == 1 goto read\nr1 = r7\ncall write\nread:\n\
        r1 = r7\ncall load\nexit\nwrite:\nr2 = 5\n*(u64 *)(r1 +0) = r2\nr0 = 0\nexit\nload:\n\
        r0 = *(u64 *)(r1 +0)\nexit";
    let mut twins = twins(text, Vec::new());
    let mut r0 = |ifindex| twins.run(0, &[0; 64], Ingress { ifindex, queue: 0 }).unwrap_or_else(|e| panic!("{e}")).r0;
    assert_eq!([r0(2), r0(1), r0(2), r0(1)], [5, 0, 5, 0]);
}

#[test]
fn a_record_that_is_held_at_the_end_is_a_fault() {
    let mut ring = MapSpec::new("ring", MapType::Ringbuf, 0, 0, 4096);
    ring.initial = Vec::new();
    let text = "r6 = *(u32 *)(r1 +12)\nr1 = map[ring]\nr2 = 8\nr3 = 0\ncall bpf_ringbuf_reserve#131\n\
        if r0 == 0 goto out\n*(u64 *)(r0 +0) = r6\nif r6 == 1 goto out\nr1 = r0\nr2 = 0\n\
        call bpf_ringbuf_submit#132\nout:\nr0 = 2\nexit";
    let mut twins = twins(text, vec![ring]);
    let mut fault = |ifindex| {
        let outcome = twins.run(0, &[0; 64], Ingress { ifindex, queue: 0 }).unwrap_or_else(|e| panic!("{e}"));
        outcome.fault.map(|fault| fault.reason)
    };
    assert_eq!(fault(2), None);
    assert!(matches!(fault(1), Some(FaultReason::Protocol(_))));
    assert_eq!(fault(2), None);
}
