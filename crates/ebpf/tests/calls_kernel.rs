//! Calls and tail calls against the kernel.

use sluice_ebpf::image::Initial;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::kernel::{self, Differential, Pinned, TestInput};
use sluice_ebpf::{Image, MapSpec, MapType};

/// Type information of two functions `int main()` and `int f()`, types 3 and 4: the kernel wants it
/// for tail calls in functions.
fn btf() -> Vec<u8> {
    let strings = b"\0int\0main\0f\0";
    let types: [u32; 13] = [
        // int: signed, 32 bits.
        1,
        1 << 24,
        4,
        1 << 24 | 32,
        // int (*)().
        0,
        13 << 24,
        1,
        // static main, static f.
        5,
        12 << 24,
        2,
        10,
        12 << 24,
        2,
    ];
    let bytes = 4 * types.len() as u32;
    let header = [0x1_eb9f, 24, 0, bytes, bytes, strings.len() as u32];
    header.iter().chain(&types).flat_map(|w| w.to_le_bytes()).chain(strings.iter().copied()).collect()
}

/// Programs p0, p1 ... with a program array `jumps`: entry n + 1 is program n, entry 0 is empty.
fn image(texts: &[&str]) -> Image {
    let program = |(n, text): (usize, &&str)| {
        let mut program = assemble(&format!("p{n}"), text, &["jumps"]).unwrap_or_else(|e| panic!("{e} in\n{text}"));
        if let [main, f] = &mut program.functions[..] {
            (main.btf_type, f.btf_type) = (3, 4);
        }
        program
    };
    let jumps = MapSpec {
        initial: (0..texts.len()).map(|n| (n as u32 + 1, Initial::Program(format!("p{n}")))).collect(),
        ..MapSpec::new("jumps", MapType::ProgArray, 4, 4, 8)
    };
    Image {
        programs: texts.iter().enumerate().map(program).collect(),
        maps: vec![jumps],
        license: "GPL".into(),
        btf: Some(btf()),
        ..Image::default()
    }
}

/// Runs p0 of both on the same frame; the frame's first bytes afterwards.
fn both(texts: &[&str]) -> Option<(u64, Vec<u8>)> {
    if let Err(why) = kernel::available() {
        println!("skipped: {why}");
        return None;
    }
    let _pinned = Pinned::to(0).unwrap();
    let mut differential = Differential::new(&image(texts)).unwrap_or_else(|d| panic!("{d}"));
    let mut frame = vec![0; 64];
    frame[12] = 8;
    let outcome = differential.run(0, &TestInput::frame(&frame)).unwrap_or_else(|d| panic!("{d}"));
    Some((outcome.r0, frame))
}

/// Adds one to the frame's byte at `offset`; r6 keeps the context.
fn count(offset: u32) -> String {
    format!(
        "r6 = r1\nr2 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r2\nr4 += 40\nif r4 > r3 goto skip{offset}\n\
         r4 = *(u8 *)(r2 +{offset})\nr4 += 1\n*(u8 *)(r2 +{offset}) = r4\nskip{offset}:\n"
    )
}

const TAIL: &str = "r1 = r6\nr2 = map[jumps]\nr3 = ENTRY\ncall bpf_tail_call#12\n";

#[test]
fn a_program_that_tail_calls_itself_runs_34_times() {
    // Differential::run compares the frame, which counts the runs, and r0.
    let text = count(20)
        + &TAIL.replace("ENTRY", "1")
        + "r2 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r2\nr4 += 40\nr0 = 0\nif r4 > r3 goto out\nr0 = *(u8 *)(r2 +20)\nout:\nexit";
    if let Some((r0, _)) = both(&[&text]) {
        assert_eq!(r0, 34);
    }
}

#[test]
fn empty_entries_and_entries_out_of_range_do_not_count() {
    let mut text = count(20);
    for _ in 0..40 {
        text += &TAIL.replace("ENTRY", "0");
        text += &TAIL.replace("ENTRY", "8");
    }
    text += &TAIL.replace("ENTRY", "1");
    text += "r0 = 2\nexit";
    both(&[&text]);
}

#[test]
fn a_tail_call_in_a_function_returns_to_its_caller_and_counts_with_the_others() {
    let main = format!(
        "{}r1 = r6\ncall f\nr0 += 100\nexit\nf:\nr6 = r1\n{}r0 = 1\nexit",
        count(20),
        TAIL.replace("ENTRY", "2")
    );
    let other = format!("{}{}r0 = 7\nexit", count(21), TAIL.replace("ENTRY", "2"));
    if let Some((r0, _)) = both(&[&main, &other]) {
        assert_eq!(r0, 107);
    }
}

#[test]
fn two_functions_that_tail_call_share_one_count() {
    let main = format!(
        "{}r1 = r6\ncall f\nr7 = r0\nr1 = r6\ncall f\nr0 += r7\nexit\nf:\nr6 = r1\n{}r0 = 1\nexit",
        count(20),
        TAIL.replace("ENTRY", "2")
    );
    let other = format!("{}{}r0 = 7\nexit", count(21), TAIL.replace("ENTRY", "2"));
    both(&[&main, &other]);
}

#[test]
fn eight_frames_keep_their_registers_and_stacks() {
    let mut text = String::new();
    for f in 0..8 {
        text += &format!("r6 = {f}\n*(u64 *)(r10 -8) = {f}\n");
        if f < 7 {
            text += &format!("call f{}\n", f + 1);
        } else {
            text += "r0 = 0\n";
        }
        text += "r0 <<= 3\nr0 += r6\nr1 = *(u64 *)(r10 -8)\nr0 ^= r1\nr0 += r6\nexit\n";
        if f < 7 {
            text += &format!("f{}:\n", f + 1);
        }
    }
    both(&[&text]);
}
