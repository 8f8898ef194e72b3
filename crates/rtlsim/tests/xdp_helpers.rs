//! Helpers of the XDP engine in RTL that have memory as arguments do what the interpreter does.

use crate::support;
use crate::xdp::engine::open_tiny;
use crate::xdp::pair::Pair;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::random::Rng;

/// Bytes of a value: the next one lies right behind it.
const VALUE: u32 = 64;

/// A program with a map of values.
fn image(text: &str) -> Image {
    let program = sluice_ebpf::insn::assemble("test", text, &["values"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let map = MapSpec::new("values", MapType::Array, 4, VALUE, 4);
    Image { programs: vec![Program { section: "xdp".into(), ..program }], maps: vec![map], ..Image::default() }
}

/// A memory argument and its size: mostly one that fits, of each region and at each alignment.
fn memory(rng: &mut Rng, register: u8, room: u32) -> (String, u32) {
    let most = match rng.below(4) {
        0 => 8,
        1 => 24,
        _ => room,
    };
    let size = rng.below(u64::from(most) + 1) as u32;
    let wrong = rng.chance(1, 16);
    let (base, slack) = match rng.below(4) {
        0 => ("r7".to_owned(), 80 - size),
        1 => ("r9".to_owned(), VALUE.saturating_sub(size)),
        _ => {
            let at = size + rng.below(u64::from(513 - size)) as u32;
            (format!("r10\nr{register} += -{at}"), at - size)
        }
    };
    let plus =
        if wrong { slack as i32 + 1 - 2 * rng.below(100) as i32 } else { rng.below(u64::from(slack) + 1) as i32 };
    (format!("r{register} = {base}\nr{register} += {plus}\n"), size)
}

/// What is in front of the call: the context in r6, the frame in r7, its end in r8, a value in r9, some words on the stack.
fn prologue(rng: &mut Rng) -> String {
    let mut text = format!(
        "r6 = r1\n*(u32 *)(r10 -4) = {}\nr2 = r10\nr2 += -4\nr1 = map[values]\ncall bpf_map_lookup_elem\n\
         if r0 == 0 goto end\nr9 = r0\nr7 = *(u32 *)(r6 +0)\nr8 = *(u32 *)(r6 +4)\nr0 = r7\nr0 += 80\n\
         if r0 > r8 goto end\n",
        rng.below(4)
    );
    for _ in 0..rng.below(12) {
        let (at, from) = (1 + rng.below(504), rng.below(72));
        text += &format!("r0 = *(u64 *)(r7 +{from})\n*(u64 *)(r10 -{}) = r0\n", at + 8);
        text += &format!("*(u{} *)(r9 +{}) = r0\n", [8, 16, 32, 64][rng.index(4)], rng.below(57));
    }
    text
}

fn run(test: &str, call: impl Fn(&mut Rng) -> String) {
    let Some((mut engine, mut rng)) = open_tiny(test) else { return };
    let (mut sent, mut passed) = (0, 0);
    let wanted = if support::long() { 40_000 } else { 1_200 };
    while sent < wanted {
        let mut text = prologue(&mut rng) + &call(&mut rng) + "*(u64 *)(r7 +0) = r0\n";
        // Some of the stack and of the value shows in the frame.
        for n in 1..8 {
            text += &format!("r0 = *(u64 *)(r10 -{})\n*(u64 *)(r7 +{}) = r0\n", 8 + rng.below(504), 8 * n);
        }
        let mut pair =
            Pair::new(&mut engine, image(&(text + "end:\nr0 = 3\nexit\n"))).expect("the engine has all of it");
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100)][rng.index(3)];
        engine.stall(ready, gaps);
        for n in 0..6 {
            let length = 60 + rng.below(300) as usize;
            let frame = rng.bytes(length);
            pair.send(&mut engine, 0, sent + n, &frame);
            engine.end(n as usize + 1);
        }
        passed += pair.compare(&mut engine);
        sent += 6;
    }
    println!("{sent} packets, {passed} went on");
    assert!(passed > sent as usize * 2 / 3 && passed < sent as usize, "{passed} of {sent}");
}

#[test]
fn differences_of_checksums_are_the_same() {
    run("differences_of_checksums_are_the_same", |rng| {
        let (from, from_size) = memory(rng, 1, 80);
        let (to, to_size) = memory(rng, 3, 80);
        let seed = ["r5 = 0", "r5 = -1", "r5 = 0xffff", "r5 = *(u32 *)(r7 +12)", "r5 = *(u64 *)(r7 +40)"];
        let high = [0, 1u64 << 32][rng.index(2)];
        format!(
            "{from}r2 = {:#x}\n{to}r4 = {to_size}\n{}\ncall bpf_csum_diff\n",
            u64::from(from_size) | high,
            seed[rng.index(seed.len())]
        )
    });
}

/// A call that copies between the frame and memory.
fn copies(rng: &mut Rng, helper: &str) -> String {
    let (buffer, size) = memory(rng, 3, 80);
    let offset = match rng.below(12) {
        0 => 0xffff,
        1 => 0x1_0000,
        2 => 60 + rng.below(300),
        3 => rng.next_u32().into(),
        _ => rng.below(81 - u64::from(size)),
    };
    let size = if rng.chance(1, 20) { [0xffff, 0x1_0000, 0x7fff_ffff][rng.index(3)] } else { size };
    let first = if rng.chance(1, 30) { "r1 = r7" } else { "r1 = r6" };
    format!("{buffer}{first}\nr2 = {offset:#x}\nr4 = {size}\ncall bpf_xdp_{helper}_bytes\n")
}

#[test]
fn bytes_of_the_frame_are_loaded_the_same() {
    run("bytes_of_the_frame_are_loaded_the_same", |rng| copies(rng, "load"));
}

#[test]
fn bytes_of_the_frame_are_stored_the_same() {
    run("bytes_of_the_frame_are_stored_the_same", |rng| copies(rng, "store"));
}

#[test]
fn packets_come_in_whole_while_helpers_write() {
    let Some((mut engine, mut rng)) = open_tiny("packets_come_in_whole_while_helpers_write") else { return };
    let mut text =
        String::from("r6 = r1\nr7 = *(u32 *)(r6 +0)\nr8 = *(u32 *)(r6 +4)\nr0 = r7\nr0 += 400\nif r0 > r8 goto end\n");
    for word in 0..32 {
        text += &format!("r1 = *(u64 *)(r7 +{})\n*(u64 *)(r10 -{}) = r1\n", 8 * word + 3, 256 - 8 * word);
    }
    for at in [14, 101, 140] {
        text += &format!("r1 = r6\nr2 = {at}\nr3 = r10\nr3 += -256\nr4 = 256\ncall bpf_xdp_store_bytes\n");
    }
    text += "r0 = 3\nexit\nend:\nr0 = 1\nexit\n";
    let mut pair = Pair::new(&mut engine, image(&text)).expect("the engine has all of it");
    let mut number = 0;
    for _ in 0..if crate::support::long() { 100 } else { 6 } {
        for _ in 0..40 {
            let length = 400 + rng.index(1100);
            pair.send(&mut engine, 0, number, &rng.bytes(length));
            number += 1;
        }
        assert_eq!(pair.compare(&mut engine), 40);
    }
}
