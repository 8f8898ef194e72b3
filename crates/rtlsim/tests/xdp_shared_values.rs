//! One value of a map that packets of all contexts load, store, change atomically and update, on the XDP engine in RTL.

use crate::support;
use crate::xdp::engine::open_tiny;
use crate::xdp::pair::Pair;
use crate::xdp::together::together;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::random::Rng;

/// Bytes of the value: an update writes it in eight words.
const VALUE: u32 = 64;
/// Bytes of a frame.
const FRAME: usize = 96;
/// What a packet does, in its first byte; its second one says how long it waits before.
const STORES: u8 = 0;
const ATOMICS: u8 = 1;
const UPDATE: u8 = 2;
const LOADS: u8 = 3;
/// A lookup in either map, by the third byte.
const LOOKUP: u8 = 4;
const OTHER: u8 = 5;

/// All of it. r6 is the frame, r7 the value, r8 a number of the frame; what was found goes into the frame.
fn program() -> String {
    let mut text = String::from(
        "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 96\nr0 = 1\nif r3 > r2 goto out\nr7 = map[values][0]+0\n\
         r8 = *(u64 *)(r6 +8)\nr9 = 0\nr5 = *(u8 *)(r6 +0)\nr4 = *(u8 *)(r6 +1)\nwait:\nr4 += -1\nif r4 s> 0 goto wait\n",
    );
    text += &format!(
        "if r5 == {ATOMICS} goto atomics\nif r5 == {UPDATE} goto update\nif r5 == {LOADS} goto loads\nif r5 == {LOOKUP} goto lookup\nif r5 == {OTHER} goto other\n"
    );
    // Stores of each size, a few instructions apart or none.
    for (at, size) in [(0, 64), (8, 64), (4, 32), (16, 8), (0, 64), (12, 32), (7, 64), (2, 16), (8, 64), (0, 32)] {
        text += &format!("*(u{size} *)(r7 +{at}) = r8\n{}", if at == 8 { "r8 *= 5\n" } else { "" });
    }
    text += "goto end\natomics:\n";
    // r3 and r0 are the operand and what is expected; the halves of what is expected differ.
    let old = "r9 <<= 7\nr9 ^= r3\nr3 = r8\n";
    text += "r3 = r8\nr0 = *(u64 *)(r6 +16)\n";
    for (form, bits, at) in [
        ("fetch_add", 64, 0),
        ("fetch_xor", 64, 8),
        ("xchg", 64, 0),
        ("fetch_or", 32, 4),
        ("fetch_and", 64, 0),
        ("fetch_add", 32, 0),
        ("xchg", 32, 12),
    ] {
        let name = if bits == 64 { "atomic64" } else { "atomic" };
        text += &format!("r3 = {name}_{form}((u{bits} *)(r7 +{at}), r3)\n{old}");
    }
    text += "r0 = *(u64 *)(r7 +8)\nr0 = atomic64_cmpxchg((u64 *)(r7 +8), r0, r3)\nr9 ^= r0\nr0 = atomic_cmpxchg((u32 *)(r7 +4), r0, r3)\nr9 ^= r0\n";
    text += "goto end\nupdate:\n*(u32 *)(r10 -4) = 0\n";
    for word in 0..8 {
        text += &format!("r8 += 3\n*(u64 *)(r10 -{}) = r8\n", 80 + 8 * word);
    }
    text += "r1 = map[values]\nr2 = r10\nr2 += -4\nr3 = r10\nr3 += -136\nr4 = 0\ncall bpf_map_update_elem\nr9 = r0\ngoto end\nloads:\n";
    for word in [7, 0, 1, 6, 0, 3, 7, 1] {
        text += &format!("r3 = *(u64 *)(r7 +{})\nr9 <<= 5\nr9 ^= r3\n", 8 * word);
    }
    for (label, map) in [("lookup", "values"), ("other", "others")] {
        text += &format!(
            "goto end\n{label}:\nr2 = *(u8 *)(r6 +2)\nr2 &= 3\n*(u32 *)(r10 -4) = r2\nr1 = map[{map}]\nr2 = r10\nr2 += -4\ncall bpf_map_lookup_elem\n\
             r9 = r0\nif r0 == 0 goto end\nr9 = *(u64 *)(r0 +8)\nr3 = r8\nr3 ^= r9\n*(u64 *)(r0 +0) = r3\n"
        );
    }
    text + "end:\n*(u64 *)(r6 +24) = r9\nr0 = 3\nout:\nexit\n"
}

fn frames(rng: &mut Rng, kinds: &[u8], count: usize) -> Vec<(u8, Vec<u8>)> {
    let one = |rng: &mut Rng| {
        let mut frame = rng.bytes(FRAME);
        (frame[0], frame[1]) = (kinds[rng.index(kinds.len())], rng.below(12) as u8);
        (rng.below(4) as u8, frame)
    };
    (0..count).map(|_| one(rng)).collect()
}

/// Packets of these kinds, all at once, with the bundle model behind them in the order that the engine tells.
fn at_once(name: &str, kinds: &[u8]) {
    let Some((mut engine, mut rng)) = open_tiny(name) else { return };
    let text = program();
    let program =
        sluice_ebpf::insn::assemble("values", &text, &["values", "others"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let programs = vec![Program { section: "xdp".into(), ..program }];
    let maps =
        vec![MapSpec::new("values", MapType::Array, 4, VALUE, 1), MapSpec::new("others", MapType::Array, 4, 16, 3)];
    let image = Image { programs, maps, ..Image::default() };
    let mut pair = Pair::new(&mut engine, image).expect("the engine has all of it");
    let mut number = 0;
    for _ in 0..if support::long() { 200 } else { 10 } {
        let frames = frames(&mut rng, kinds, 60);
        engine.steps.clear();
        together(&mut engine, &mut pair, &frames, number);
        number += frames.len() as u32;
    }
}

#[test]
fn stores_and_atomic_operations_of_one_value_have_one_order() {
    at_once("stores_and_atomic_operations_of_one_value_have_one_order", &[STORES, ATOMICS]);
}

#[test]
fn a_value_is_updated_whole() {
    at_once("a_value_is_updated_whole", &[UPDATE, LOADS]);
}

#[test]
fn lookups_of_both_cores_are_in_their_own_maps() {
    at_once("lookups_of_both_cores_are_in_their_own_maps", &[LOOKUP, OTHER]);
}

#[test]
fn all_accesses_of_one_value_have_one_order() {
    at_once("all_accesses_of_one_value_have_one_order", &[STORES, ATOMICS, UPDATE, LOADS, LOOKUP, OTHER]);
}
