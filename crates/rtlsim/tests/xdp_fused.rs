//! Instructions that the compiler makes of several: an index, sums of two words, a sum where there may be nothing, and ends with what a packet has asked for last.

use crate::packets;
use crate::programs;
use crate::xdp::engine::{Engine, open_tiny};
use crate::xdp::pair::Pair;
use crate::xdp::together::together;
use sluice_ebpf::{Image, MapSpec, MapType, Program};

/// r6 is the frame, of which 32 bytes are there; r7 its first 4 bytes, which are a key at r10 -4; r0 what is found under it in `values`.
const BEGIN: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 32\nr0 = 1\nif r3 > r2 goto end\n\
                     r7 = *(u32 *)(r6 +0)\nr8 = *(u32 *)(r6 +4)\n*(u32 *)(r10 -4) = r7\nr1 = map[values]\nr2 = r10\nr2 += -4\n\
                     call bpf_map_lookup_elem#1\n";

fn image(text: &str, map: MapSpec) -> Image {
    let program = sluice_ebpf::insn::assemble("fused", text, &["values"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Image { programs: vec![Program { section: "xdp".into(), ..program }], maps: vec![map], ..Image::default() }
}

/// A frame that begins with these numbers of 4 bytes.
fn frame(numbers: &[u32], rest: &[u8]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).chain(rest.iter().copied()).collect()
}

/// Sends so many frames without waiting for any, under each of these stalls (ready, gaps); `number` is the first one's, then the next one's.
fn flood(
    engine: &mut Engine,
    pair: &mut Pair,
    stalls: [(u8, u8); 4],
    frames: u32,
    number: &mut u32,
    one: &mut dyn FnMut() -> Vec<u8>,
) {
    for (ready, gaps) in stalls {
        engine.stall(ready, gaps);
        engine.steps.clear();
        let sent: Vec<_> = (0..frames).map(|_| (0, one())).collect();
        together(engine, pair, &sent, *number);
        *number += frames;
    }
}

#[test]
fn an_index_ends_where_its_array_does() {
    let Some((mut engine, mut rng)) = open_tiny("an_index_ends_where_its_array_does") else { return };
    let text = format!(
        "{BEGIN}if r0 == 0 goto none\nr1 = *(u64 *)(r0 +0)\nr1 ^= r8\n*(u64 *)(r0 +0) = r1\n*(u64 *)(r6 +8) = r1\nr0 = 3\nexit\n\
         none:\nr0 = 2\nend:\nexit\n"
    );
    let mut number = 0;
    for kind in [MapType::Array, MapType::PercpuArray] {
        for (bytes, entries) in [(8, 1), (8, 5), (20, 7), (40, 64), (512, 3)] {
            let map = programs::map("values", kind, bytes, entries);
            let mut pair = Pair::new(&mut engine, image(&text, map)).expect("the engine has all of it");
            assert!(pair.listing().contains(&format!("<= {} ? ", entries - 1)), "{}", pair.listing());
            let ends = [0, entries - 1, entries, entries + 1, 0x7fff_ffff, 0x8000_0000, u32::MAX];
            let others: Vec<u32> = (0..9).map(|_| rng.below(2 * u64::from(entries)) as u32).collect();
            for index in ends.into_iter().chain(others) {
                pair.send(&mut engine, 0, number, &frame(&[index, rng.next_u64() as u32], &rng.bytes(40)));
                number += 1;
                engine.end(pair.waiting());
            }
            pair.compare(&mut engine);
            pair.compare_maps(&mut engine);
        }
    }
}

#[test]
fn sums_of_two_words_lose_nothing_and_others_see_both() {
    let Some((mut engine, mut rng)) = open_tiny("sums_of_two_words_lose_nothing_and_others_see_both") else { return };
    let add = |at: i32, what: &str| format!("r1 = *(u64 *)(r0 +{at})\nr1 += {what}\n*(u64 *)(r0 +{at}) = r1\n");
    // By the frame's fifth byte: pairs, sums of one word, and loads over both words and between pairs.
    let text = format!(
        "{BEGIN}if r0 == 0 goto none\nr9 = *(u8 *)(r6 +8)\nif r9 == 1 goto swapped\nif r9 == 2 goto word\nif r9 == 3 goto half\n\
         if r9 == 4 goto across\n{}r0 = 3\nexit\nswapped:\n{}r0 = 3\nexit\n\
         word:\nlock *(u64 *)(r0 +8) += r8\nr0 = 3\nexit\nhalf:\nlock *(u32 *)(r0 +4) += r8\nr0 = 3\nexit\n\
         across:\nr1 = *(u64 *)(r0 +4)\n*(u64 *)(r6 +16) = r1\nr1 = *(u64 *)(r0 +12)\n*(u64 *)(r6 +24) = r1\nr0 = 3\nexit\n\
         none:\nr0 = 2\nend:\nexit\n",
        add(0, "1") + &add(8, "r8"),
        add(0, "r8") + &add(8, "-3") + &add(16, "r8") + &add(24, "7")
    );
    let map = programs::map("values", MapType::Array, 48, 2);
    let mut pair = Pair::new(&mut engine, image(&text, map)).expect("the engine has all of it");
    for part in ["+0), 1; r", "; -3)", "; 7)"] {
        assert!(pair.listing().contains(part), "{part}: {}", pair.listing());
    }
    let mut number = 0;
    let mut one = || {
        let numbers = [rng.below(3) as u32 % 2, rng.next_u64() as u32, rng.below(6) as u32];
        frame(&numbers, &rng.bytes(52))
    };
    flood(&mut engine, &mut pair, [(0, 0), (0, 0), (40, 0), (0, 200)], 150, &mut number, &mut one);
}

#[test]
fn packets_end_with_what_they_count_last() {
    let Some((mut engine, mut rng)) = open_tiny("packets_end_with_what_they_count_last") else { return };
    // Sums before an end, of which some have nothing to count, beside packets that only end.
    let text = format!(
        "{BEGIN}r9 = 2\nif r8 > 99 goto plain\nif r0 == 0 goto out\nlock *(u64 *)(r0 +8) += r8\nout:\nr0 = r9\nexit\n\
         plain:\nr0 = r8\nr0 &= 3\nend:\nexit\n"
    );
    let map = programs::map("values", MapType::Array, 16, 2);
    let mut pair = Pair::new(&mut engine, image(&text, map)).expect("the engine has all of it");
    assert!(pair.listing().contains("add(?(u64 *)"), "{}", pair.listing());
    assert!(pair.listing().contains(".1  exit 2"), "{}", pair.listing());
    let mut number = 0;
    let mut one = || {
        let numbers = [rng.below(4) as u32, rng.below(200) as u32];
        frame(&numbers, &rng.bytes(56))
    };
    flood(&mut engine, &mut pair, [(0, 0), (0, 0), (200, 100), (0, 100)], 200, &mut number, &mut one);
    // A frame that is too short.
    pair.send(&mut engine, 0, number, &packets::frame(&mut rng)[..14]);
    pair.compare(&mut engine);
}

#[test]
fn lookups_beside_changes_of_their_map_see_them_whole() {
    let Some((mut engine, mut rng)) = open_tiny("lookups_beside_changes_of_their_map_see_them_whole") else { return };
    // Keys of several rows that differ in their last byte alone, in few chains: a walk takes longer than what is left of a change.
    let text = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 32\nr0 = 1\nif r3 > r2 goto end\n\
                r7 = *(u8 *)(r6 +0)\nr8 = *(u8 *)(r6 +1)\n*(u64 *)(r10 -64) = r8\n*(u64 *)(r10 -8) = r8\n\
                r1 = map[values]\nr2 = r10\nr2 += -56\nif r7 == 0 goto update\nif r7 == 1 goto delete\n\
                call bpf_map_lookup_elem#1\nr1 = 0\nif r0 == 0 goto out\nr1 = 1\nout:\n*(u64 *)(r6 +8) = r1\nr0 = 3\nexit\n\
                update:\nr3 = r10\nr3 += -64\nr4 = 0\ncall bpf_map_update_elem#2\n*(u64 *)(r6 +8) = r0\nr0 = 3\nexit\n\
                delete:\ncall bpf_map_delete_elem#3\n*(u64 *)(r6 +8) = r0\nr0 = 3\nend:\nexit\n";
    let mut number = 0;
    for entries in [2, 4] {
        let map = MapSpec::new("values", MapType::Hash, 56, 8, entries);
        let mut pair = Pair::new(&mut engine, image(text, map)).expect("the engine has all of it");
        let mut one = || {
            let bytes = [rng.below(4) as u8, rng.below(u64::from(entries) + 1) as u8];
            bytes.into_iter().chain(rng.bytes(62)).collect()
        };
        flood(&mut engine, &mut pair, [(0, 0), (0, 0), (0, 60), (40, 0)], 250, &mut number, &mut one);
    }
}

#[test]
fn lookups_beside_changes_of_another_map_read_their_own_rows() {
    let Some((mut engine, mut rng)) = open_tiny("lookups_beside_changes_of_another_map_read_their_own_rows") else {
        return;
    };
    // An entry that is there gets another value, once it is known whether that may be read; meanwhile others walk through chains of another map.
    let text = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 56\nr0 = 1\nif r3 > r2 goto end\n\
                r7 = *(u8 *)(r6 +0)\nr8 = *(u8 *)(r6 +1)\n*(u64 *)(r10 -8) = r8\nr2 = r10\nr2 += -8\nr4 = 0\n\
                if r7 == 0 goto other\nif r7 == 1 goto value\nif r7 == 2 goto stack\nr1 = map[others]\n\
                call bpf_map_lookup_elem#1\nr1 = 0\nif r0 == 0 goto out\nr1 = *(u64 *)(r0 +0)\nout:\n*(u64 *)(r6 +8) = r1\nr0 = 3\nexit\n\
                other:\nr1 = map[others]\nr3 = r6\nr3 += 16\ngoto put\n\
                value:\nr1 = map[values]\nr3 = map[source][0]+8\ngoto put\n\
                stack:\n*(u64 *)(r10 -48) = r8\n*(u64 *)(r10 -16) = r8\nr1 = map[values]\nr3 = r10\nr3 += -48\n\
                put:\ncall bpf_map_update_elem#2\n*(u64 *)(r6 +8) = r0\nr0 = 3\nend:\nexit\n";
    let mut number = 0;
    for kind in [MapType::Hash, MapType::LruHash] {
        let maps = vec![
            MapSpec::new("values", kind, 8, 40, 4),
            MapSpec::new("others", MapType::Hash, 8, 40, 6),
            MapSpec::new("source", MapType::Array, 4, 64, 1),
        ];
        let names = ["values", "others", "source"];
        let program = sluice_ebpf::insn::assemble("beside", text, &names).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let image = Image { programs: vec![Program { section: "xdp".into(), ..program }], maps, ..Image::default() };
        let mut pair = Pair::new(&mut engine, image).expect("the engine has all of it");
        let mut one = || {
            let bytes = [rng.below(7) as u8, rng.below(5) as u8];
            bytes.into_iter().chain(rng.bytes(62)).collect()
        };
        flood(&mut engine, &mut pair, [(0, 0), (0, 0), (0, 60), (40, 0)], 250, &mut number, &mut one);
    }
}
