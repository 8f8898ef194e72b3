//! Images come and go, maps stay where they are used; runs are watched.

use crate::insn::assemble;
use crate::vm::{Access, At, Ingress, Packet, Runtime, Tracer};
use crate::{Image, MapSpec, MapType};
use std::cell::RefCell;

fn map(name: &str, kind: MapType) -> MapSpec {
    MapSpec { initial: vec![], ..MapSpec::new(name, kind, 4, 8, 4) }
}

/// Adds one to the first value of `counts`; r0 is the new value.
const COUNT: &str = "
    *(u32 *)(r10 -4) = 0
    r1 = map[counts]
    r2 = r10
    r2 += -4
    call bpf_map_lookup_elem#1
    if r0 == 0x0 goto out
    r1 = *(u64 *)(r0 +0)
    r1 += 1
    *(u64 *)(r0 +0) = r1
    r0 = r1
    out:
    exit";

fn counting() -> Image {
    let program = assemble("count", COUNT, &["counts"]).unwrap();
    Image { programs: vec![program], maps: vec![map("counts", MapType::Array)], ..Image::default() }
}

#[test]
fn a_map_that_another_image_keeps_outlives_the_first() {
    let mut runtime = Runtime::new(1, 1);
    let mut packet = Packet::new(&[0; 64]);
    let first = runtime.install(&counting(), &|_| None).unwrap();
    assert_eq!(runtime.run(first, 0, &mut packet, Ingress::default()).r0, 1);
    let kept = runtime.map(first, 0);
    let second = runtime.install(&counting(), &|_| kept).unwrap();
    let fresh = runtime.install(&counting(), &|_| None).unwrap();
    runtime.remove(first);
    assert_eq!(runtime.run(first, 0, &mut packet, Ingress::default()).r0, 0);
    assert_eq!(runtime.run(second, 0, &mut packet, Ingress::default()).r0, 2);
    assert_eq!(runtime.run(fresh, 0, &mut packet, Ingress::default()).r0, 1);
    runtime.remove(second);
    assert!(runtime.maps.spec(kept.unwrap()).is_none());
    assert_eq!(runtime.maps.ids().len(), 1);
}

#[test]
fn an_image_that_cannot_be_installed_leaves_nothing_behind() {
    let mut runtime = Runtime::new(1, 1);
    let mut image = counting();
    // The second map has no entries, which the kernel does not take.
    image.maps.push(MapSpec { max_entries: 0, ..map("none", MapType::Array) });
    assert!(runtime.install(&image, &|_| None).is_err());
    let mut image = counting();
    image.programs[0].insns.pop();
    assert!(runtime.install(&image, &|_| None).is_err());
    assert!(runtime.maps.ids().is_empty());
}

#[derive(Default)]
struct Watch(RefCell<Vec<String>>);

impl Tracer for Watch {
    fn before(&self, at: At, registers: &[u64; 16]) {
        self.0.borrow_mut().push(format!("{}: r1 {:#x}", at.pc, registers[1]));
    }

    fn access(&self, kind: Access, address: u64, bytes: u32) {
        self.0.borrow_mut().push(format!("{kind:?} {address:#x} {bytes}"));
    }

    fn after(&self, at: At, registers: &[u64; 16]) {
        self.0.borrow_mut().push(format!("{}: r0 {:#x}", at.pc, registers[0]));
    }
}

#[test]
fn a_tracer_sees_every_instruction_and_access_helpers_included() {
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&counting(), &|_| None).unwrap();
    let map = runtime.map(installed, 0).unwrap();
    let (handle, value) = (0xa000_0000 + map.0, runtime.maps.first_value(map).unwrap());
    let watch = Watch::default();
    let mut packet = Packet::new(&[0; 64]);
    let traced = runtime.run_traced(installed, 0, &mut packet, Ingress::default(), &watch);
    assert_eq!((traced.r0, traced.instructions), (1, 11));
    let lines = watch.0.borrow();
    let wanted = [
        "0: r1 0x10000000".to_owned(),
        "Store 0x300003fc 4".to_owned(),
        "0: r0 0x0".to_owned(),
        "1: r1 0x10000000".to_owned(),
        "1: r0 0x0".to_owned(),
        format!("3: r1 {handle:#x}"),
        "3: r0 0x0".to_owned(),
        format!("4: r1 {handle:#x}"),
        "4: r0 0x0".to_owned(),
        format!("5: r1 {handle:#x}"),
        "HelperRead 0x300003fc 4".to_owned(),
        format!("5: r0 {value:#x}"),
    ];
    assert_eq!(lines[..wanted.len()], wanted);
    assert!(lines.contains(&format!("Load {value:#x} 8")) && lines.contains(&format!("Store {value:#x} 8")));
    assert_eq!(lines.last().unwrap(), "11: r0 0x1");
}
