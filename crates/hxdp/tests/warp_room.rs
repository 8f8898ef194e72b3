//! Tests of a program that ask more than the tables hold, and numbers that become constants on a path.

use crate::support::{Twins, target};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Verdict};
use sluice_hxdp::warp::test::Test;
use sluice_hxdp::warp::{Action, Table, warp};
use std::fmt::Write;

fn image(text: &str) -> Image {
    let program = sluice_ebpf::insn::assemble("room", text, &[]).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Image { programs: vec![program], ..Image::default() }
}

fn table(text: &str) -> Table {
    let image = image(text);
    let plain = sluice_hxdp::compile(&image, &image.programs[0], &target(2)).unwrap();
    warp(&image, 0, &plain, &target(2)).unwrap().table
}

const BEGIN: &str = "r2 = *(u32 *)(r1 +0)
    r3 = *(u32 *)(r1 +4)
    r4 = r2
    r4 += 34
    if r4 > r3 goto pass
    r5 = *(u16 *)(r2 +12)\n";
const END: &str = "pass:
    r0 = 2
    exit
    drop:
    r0 = 1
    exit";

/// Frames of one EtherType are asked for many lengths at once, those of the other for few, far on.
fn two_sides() -> String {
    let mut text = BEGIN.to_owned();
    let _ = writeln!(text, "if w5 == 8 goto far");
    let asked = |text: &mut String, bytes: u32| {
        let _ = writeln!(text, "r4 = r2\nr4 += {bytes}\nif r4 > r3 goto pass");
    };
    (1..8).for_each(|n| asked(&mut text, 34 + n));
    let _ = writeln!(text, "goto drop\nfar:");
    for n in 1..8 {
        let _ = writeln!(text, "r5 = *(u8 *)(r2 +{})\nif w5 == {n} goto pass", 13 + n % 2);
    }
    (1..8).for_each(|n| asked(&mut text, 50 + n));
    text + "goto drop\n" + END
}

#[test]
fn tests_that_least_hangs_on_are_given_up_wherever_they_stand() {
    let text = two_sides();
    let table = table(&text);
    let asked = |bytes: u32| table.leaves.iter().any(|leaf| leaf.tests.contains(&(Test::Long(bytes), true)));
    let far = (1..8).filter(|n| asked(50 + n)).count();
    let near = (1..8).filter(|n| asked(34 + n)).count();
    assert_eq!((far, far + near), (7, 7), "{:#?}", table.leaves);
    // Whatever is given up, each frame has its verdict.
    let mut twins = Twins::warped(image(&text), &target(2)).unwrap();
    for (kind, bytes) in [(8, 33), (8, 50), (8, 57), (8, 58), (9, 34), (9, 40), (9, 41), (9, 60)] {
        let mut frame = vec![0; bytes];
        frame[12..13].copy_from_slice(&[kind]);
        let expected = if bytes >= if kind == 8 { 57 } else { 41 } { Verdict::Drop } else { Verdict::Pass };
        assert_eq!(twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 }).unwrap().verdict, expected, "{kind} {bytes}");
    }
}

#[test]
fn a_header_length_is_asked_for_what_the_program_goes_on_with() {
    // Whether the header lies in the frame is asked before whether it is long enough.
    let text = format!(
        "{BEGIN}if w5 != 8 goto pass
        r5 = *(u8 *)(r2 +14)
        w5 &= 15
        w5 <<= 2
        r4 = r2
        r4 += 15
        r4 += r5
        if r4 > r3 goto pass
        if w5 < 20 goto pass
        r5 = *(u8 *)(r4 -1)
        if w5 == 7 goto drop
        {END}"
    );
    let table = table(&text);
    let dropped: Vec<_> =
        table.leaves.iter().filter(|leaf| leaf.action == Action::Verdict { r0: 1, counts: vec![] }).collect();
    let [leaf] = dropped[..] else { panic!("{:#?}", table.leaves) };
    let Test::Bits(five) = &leaf.tests.iter().find(|(test, answer)| *answer && is_of(test, 14)).unwrap().0 else {
        panic!("{leaf:#?}")
    };
    let value = five.iter().fold(0, |value, (n, wanted)| value | u8::from(*wanted) << (n % 8));
    assert_eq!(value, 5, "{leaf:#?}");
}

/// Whether a test asks bits of this byte only.
fn is_of(test: &Test, byte: u16) -> bool {
    matches!(test, Test::Bits(bits) if bits.keys().all(|n| n / 8 == byte))
}

#[test]
fn a_range_is_asked_as_compilers_write_it() {
    // `port - 6000 > 63`, in 32 bits of which 16 count, and the same where the sum begins anew within the range.
    for (less, most, width, first, last) in
        [(6000, 63, "w5 &= 65535", 6000, 6063), (65535, 2, "w5 &= 65535", 65535, 1), (6000, 63, "w6 = w6", 6000, 6063)]
    {
        let text = format!(
            "{BEGIN}r5 = *(u16 *)(r2 +22)
            r5 = be16 r5
            w5 += -{less}
            {width}
            if w5 > {most} goto pass
            r0 = 1
            exit
            {END}"
        );
        let text = text.replace("w6 = w6", "w6 = w5");
        let table = table(&text);
        assert!(table.leaves.iter().any(|leaf| matches!(leaf.action, Action::Verdict { r0: 1, .. })), "{table:#?}");
        let mut twins = Twins::warped(image(&text), &target(2)).unwrap();
        for port in [0u16, 1, 2, 3, 5999, 6000, 6001, 6063, 6064, 65533, 65534, 65535] {
            let mut frame = vec![0; 60];
            frame[22..24].copy_from_slice(&port.to_be_bytes());
            let inside = if first <= last { (first..=last).contains(&port) } else { port >= first || port <= last };
            let outcome = twins.run(0, &frame, Ingress { ifindex: 1, queue: 0 }).unwrap();
            assert_eq!(outcome.verdict == Verdict::Drop, inside, "{port} of {first} to {last}");
        }
    }
}
