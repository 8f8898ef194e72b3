//! Algorithm 1 on small programs by hand.

use super::{Action, Engine, Matches, Stop, Table, optimize};
use crate::warp::value::{Base, Value};
use sluice_ebpf::vm::{Ingress, Packet};
use sluice_ebpf::{Image, MapSpec, MapType, Runtime, Verdict};

/// Listing 5.1 of the thesis, the L2 ACL, as clang orders it.
const ACL: &str = "r2 = *(u32 *)(r1 +4)
    r1 = *(u32 *)(r1 +0)
    w0 = 1
    r3 = r1
    r3 += 14
    if r3 > r2 goto end
    r2 = *(u16 *)(r1 +12)
    if w2 == 56710 goto end
    w0 = 2
    if w2 != 8 goto end
    r2 = *(u16 *)(r1 +10)
    *(u16 *)(r10 -4) = r2
    r2 = *(u32 *)(r1 +6)
    *(u32 *)(r10 -8) = r2
    r2 = r10
    r2 += -8
    r1 = map[acl]
    call bpf_map_lookup_elem
    r1 = r0
    w0 = 2
    if r1 != 0 goto end
    w0 = 1
    end:
    exit";

fn image(text: &str) -> Image {
    let program = sluice_ebpf::insn::assemble("acl", text, &["acl"]).unwrap_or_else(|e| panic!("{e:?}"));
    let acl = MapSpec::new("acl", MapType::Hash, 6, 4, 16);
    Image { programs: vec![program], maps: vec![acl], ..Image::default() }
}

fn of(bytes: &[(u16, u8)]) -> Matches {
    bytes.iter().map(|(at, value)| (*at, (0xff, *value))).collect()
}

/// Table 5.1: IPv6 is dropped, IPv4 goes on, all else passes.
#[test]
fn the_papers_example_has_the_papers_rules() {
    let Table { rules } = optimize(&image(ACL).programs[0]);
    assert_eq!(rules.len(), 3, "{rules:#?}");
    assert_eq!((&rules[0].matches, &rules[0].action), (&of(&[(12, 0x86), (13, 0xdd)]), &Action::Forward(1)));
    assert_eq!(rules[1].matches, of(&[(12, 0x08), (13, 0)]));
    let Action::Restore { pc, why: Stop::Call, registers, stack } = &rules[1].action else { panic!("{rules:#?}") };
    // At the call, behind two slots of the map's address.
    assert_eq!((*pc, registers[1], registers[2]), (18, Value::Map(0), Value::place(Base::Stack, -8)));
    assert_eq!(stack.iter().map(|(at, ..)| *at).collect::<Vec<_>>(), [-8, -7, -6, -5, -4, -3]);
    assert_eq!((&rules[2].matches, &rules[2].action), (&Matches::new(), &Action::Forward(2)));
    assert_eq!(rules.iter().map(|rule| rule.path.len()).collect::<Vec<_>>(), [9, 17, 11]);
}

/// What a frame's verdict is, and instructions that the interpreter executes, without and with rules.
fn played(image: &Image, frame: &[u8], known: bool) -> [(Verdict, u64); 2] {
    [false, true].map(|warps| {
        let mut runtime = Runtime::new(1, 1);
        let installed = runtime.install_unchecked(image, &|_| None).unwrap();
        if known {
            let acl = runtime.map(installed, 0).unwrap();
            runtime.maps.user_update(acl, &frame[6..12], &[0; 4], 0).unwrap();
        }
        let engine = Engine::new(optimize(&image.programs[0]), image, 0, &runtime, installed).unwrap();
        let (ingress, mut packet) = (Ingress { ifindex: 1, queue: 0 }, Packet::new(frame));
        let outcome = match warps {
            true => runtime.run_on(&engine, installed, 0, &mut packet, ingress),
            false => runtime.run(installed, 0, &mut packet, ingress),
        };
        assert_eq!(outcome.fault, None);
        (outcome.verdict, outcome.instructions)
    })
}

fn frame(kind: [u8; 2], bytes: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..bytes as u8).collect();
    frame.iter_mut().skip(12).zip(kind).for_each(|(byte, kind)| *byte = kind);
    frame
}

#[test]
fn a_packet_of_each_rule_has_the_verdict_that_it_has_without() {
    let image = image(ACL);
    let of = |kind, known| played(&image, &frame(kind, 64), known);
    assert_eq!(of([0x86, 0xdd], false), [(Verdict::Drop, 9), (Verdict::Drop, 0)]);
    assert_eq!(of([8, 6], false), [(Verdict::Pass, 11), (Verdict::Pass, 0)]);
    assert_eq!(of([8, 0], true), [(Verdict::Pass, 22), (Verdict::Pass, 5)]);
    assert_eq!(of([8, 0], false), [(Verdict::Drop, 23), (Verdict::Drop, 6)]);
}

/// What the paper's rules get wrong, for none has a length.
#[test]
fn a_short_frame_is_judged_by_bytes_behind_its_end() {
    assert_eq!(
        played(&image(ACL), &frame([8, 6], 12), false).map(|(verdict, _)| verdict),
        [Verdict::Drop, Verdict::Pass]
    );
}

#[test]
fn paths_end_where_the_paper_has_no_case() {
    let cut = |text: &str| {
        let begin = "r2 = *(u32 *)(r1 +0)\n r3 = *(u8 *)(r2 +14)\n";
        let table = optimize(&image(&format!("{begin}{text}\n r0 = 2\n exit")).programs[0]);
        match &table.rules[0].action {
            Action::Restore { pc, why, .. } => Some((*pc, *why)),
            Action::Forward(_) => None,
        }
    };
    assert_eq!(cut("w3 &= 15"), None);
    assert_eq!(cut("if w3 > 5 goto pc+0"), Some((2, Stop::Branch)));
    assert_eq!(cut("again:\n r3 = 1\n goto again"), Some((3, Stop::Back)));
    assert_eq!(cut("*(u8 *)(r2 +0) = r3"), Some((2, Stop::Write)));
    // The place of a byte that hangs on another byte.
    assert_eq!(cut("r2 += r3\n r3 = *(u8 *)(r2 +0)"), Some((3, Stop::Unknown)));
    // Nine comparisons of two bytes each: the key has room for eight.
    let asks = |n: usize| format!("r4 = *(u16 *)(r2 +{})\n if w4 != 1 goto out\n", 2 * n);
    let text: String = (0..9).map(asks).collect();
    assert_eq!(cut(&format!("{text} out:\n")), Some((19, Stop::Room)));
}

#[test]
fn a_mask_is_asked_with_and() {
    let text = "r2 = *(u32 *)(r1 +0)
        r3 = *(u16 *)(r2 +20)
        r3 = be16 r3
        if w3 & 16383 goto out
        r0 = 1
        exit
        out:
        r0 = 2
        exit";
    let Table { rules } = optimize(&image(text).programs[0]);
    assert_eq!(rules[0].matches, Matches::from([(20, (0x3f, 0)), (21, (0xff, 0))]));
    assert_eq!([&rules[0].action, &rules[1].action], [&Action::Forward(1), &Action::Forward(2)]);
}
