//! `bpf_loop` on the XDP engine in RTL with the interpreter beside it.

use crate::xdp::engine::{Engine, WORK, open_tiny};
use crate::xdp::pair::{Pair, image};
use sluice_formats::random::Rng;

/// r8 is the frame, of at least 96 bytes; the program ends with verdict 3, or 1 for a short frame.
const BEGIN: &str =
    "r8 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r8\nr3 += 96\nr0 = 1\nif r3 > r2 goto end\nr9 = r1\n";
const END: &str = "r0 = 3\nend:\nexit\n";

/// A loop: rounds, the function's label, the flags; what it gave goes to this byte of the frame.
fn repeat(rounds: &str, function: &str, flags: &str, to: u32) -> String {
    format!(
        "{rounds}r2 = subprog[{function}]\nr3 = r10\nr3 += -64\nr4 = {flags}\ncall bpf_loop\n*(u64 *)(r8 +{to}) = r0\n"
    )
}

/// Sends frames whose first 8 bytes are these numbers. Gives how many went on.
fn each(engine: &mut Engine, rng: &mut Rng, text: &str, cases: &[u64]) -> usize {
    let mut pair = Pair::new(engine, image(text)).expect("the engine has all of it");
    for (number, case) in (0..).zip(cases) {
        let mut frame = rng.bytes(96 + rng.clone().below(40) as usize);
        frame[..8].copy_from_slice(&case.to_le_bytes());
        pair.send(engine, 0, number, &frame);
    }
    pair.compare(engine)
}

/// Adds round and what is in the frame of the one that calls, and ends behind round 9.
const ADD: &str = "add:\nr6 = *(u64 *)(r2 +0)\nr6 += r1\nr6 += r3\nr6 += r4\nr6 += r5\n*(u64 *)(r2 +0) = r6\nr0 = 0\nif r1 < 9 goto over\nr0 = 1\nover:\nexit\n";

#[test]
fn a_loop_ends_as_its_function_says() {
    let Some((mut engine, mut rng)) = open_tiny("a_loop_ends_as_its_function_says") else { return };
    // Registers that the program keeps stay as they were, and its frame is what the function has made of it.
    let text = format!(
        "{BEGIN}r1 = 5\n*(u64 *)(r10 -64) = r1\nr6 = 0x1234567890\nr7 = r6\nr7 <<= 3\n{}r1 = *(u64 *)(r10 -64)\n\
         *(u64 *)(r8 +16) = r1\n*(u64 *)(r8 +24) = r6\n*(u64 *)(r8 +32) = r7\n{}{END}{ADD}",
        repeat("r1 = *(u64 *)(r8 +0)\n", "add", "0", 8),
        repeat("r1 = *(u8 *)(r8 +0)\n", "add", "1", 40)
    );
    // The upper half of the number of rounds is cut off; more than 2^23 are refused.
    let cases = [0, 1, 2, 8, 9, 10, 11, 200, 1 << 23, (1 << 23) + 1, u64::from(u32::MAX), 1 << 32, (7 << 32) | 3];
    assert_eq!(each(&mut engine, &mut rng, &text, &cases), cases.len());
}

#[test]
fn loops_in_loops_have_their_own_rounds() {
    let Some((mut engine, mut rng)) = open_tiny("loops_in_loops_have_their_own_rounds") else { return };
    // The outer one's function goes round as often as its round says, each time calling a function, and a loop behind the first one.
    let text = format!(
        "{BEGIN}r1 = 0\n*(u64 *)(r10 -64) = r1\n{}r1 = *(u64 *)(r10 -64)\n*(u64 *)(r8 +16) = r1\n{}{END}{ADD}\
         outer:\nr6 = r2\nr7 = r1\nr2 = subprog[add]\nr3 = r6\nr4 = 0\ncall bpf_loop\nr1 = *(u64 *)(r6 +0)\nr1 *= 3\nr1 += r0\nr1 += r7\n\
         *(u64 *)(r6 +0) = r1\ncall twice\nr0 = 0\nexit\n\
         twice:\nr0 = r1\nr0 += r0\nexit\n",
        repeat("r1 = *(u8 *)(r8 +0)\n", "outer", "0", 8),
        repeat("r1 = *(u8 *)(r8 +1)\n", "add", "0", 24)
    );
    let cases: Vec<u64> = (0..14).map(|n| n | rng.below(16) << 8).collect();
    assert_eq!(each(&mut engine, &mut rng, &text, &cases), cases.len());
}

#[test]
fn calls_of_the_function_count_as_work_and_nothing_else() {
    let Some((mut engine, mut rng)) = open_tiny("calls_of_the_function_count_as_work_and_nothing_else") else { return };
    let text = format!("{BEGIN}{}{END}nothing:\nr0 = 0\nexit\n", repeat("r1 = *(u64 *)(r8 +0)\n", "nothing", "0", 8));
    let limit = u64::from(WORK);
    let cases = [limit - 1, limit, limit + 1, limit + 2, 1 << 20];
    assert_eq!(each(&mut engine, &mut rng, &text, &cases), 2);
}

#[test]
fn what_is_no_function_and_faults_in_it_end_the_program() {
    let Some((mut engine, mut rng)) = open_tiny("what_is_no_function_and_faults_in_it_end_the_program") else { return };
    for wrong in ["r2 = 7\n", "r2 = r8\n", "r2 = 0x5000\nr2 <<= 17\n"] {
        let text = format!("{BEGIN}r1 = *(u8 *)(r8 +0)\n{wrong}r3 = 0\nr4 = 0\ncall bpf_loop\n{END}");
        // Without a round nobody looks.
        assert_eq!(each(&mut engine, &mut rng, &text, &[0, 1, 2]), 1, "{wrong}");
    }
    // Rows of the program by their numbers alone, that of a function among them.
    let text = format!(
        "{BEGIN}{}r1 = 1\nr2 = *(u8 *)(r8 +0)\nr3 = 0\nr4 = 0\ncall bpf_loop\n{END}last:\nr0 = 0\nexit\n",
        repeat("r1 = 0\n", "last", "0", 8)
    );
    assert_eq!(each(&mut engine, &mut rng, &text, &(60..110).collect::<Vec<_>>()), 0);
    let text = format!(
        "{BEGIN}{}{END}late:\nr0 = 0\nif r1 != 3 goto over\nr0 = *(u64 *)(r0 +0)\nover:\nexit\n",
        repeat("r1 = *(u8 *)(r8 +0)\n", "late", "0", 8)
    );
    assert_eq!(each(&mut engine, &mut rng, &text, &[0, 1, 3, 4, 5]), 3);
}
