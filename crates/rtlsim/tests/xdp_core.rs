//! The XDP engine in RTL does what the interpreter does, with several packets under way.

use crate::packets;
use crate::programs;
use crate::support;
use crate::xdp::engine::{GRANTED, MODULE, Rows, open_tiny};
use crate::xdp::pair::{Pair, image};
use crate::xdp::showing::{calls, showing};
use crate::xdp::together::together;
use sluice_ebpf::{Image, Insn, MapType};
use sluice_formats::limits::packet_id;
use sluice_formats::xdp::target::PAGE_ROWS;

#[test]
fn random_programs_do_the_same() {
    let Some((mut engine, mut rng)) = open_tiny("random_programs_do_the_same") else { return };
    let (mut ran, mut sent, mut passed, mut refused, mut calling) = (0, 0, 0, 0, 0);
    let wanted = if support::long() { 125_000 } else { 2_500 };
    while sent < wanted {
        let statements = 1 + rng.below(40) as u32;
        let Some(image) = showing(programs::random(&mut rng, statements), 2 + rng.below(2) as i32) else { continue };
        let uses_maps = image.programs[0].insns.iter().any(|i| i.op == 0x18 && i.src != 0);
        let Some(mut pair) = Pair::new(&mut engine, image) else {
            refused += 1;
            continue;
        };
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        for n in 0..8 {
            let port = rng.below(engine.target.ports.into()) as u8;
            pair.send(&mut engine, port, sent + n, &packets::frame(&mut rng));
            if uses_maps {
                // One after the other: in which order several reach the maps is not told yet.
                engine.end(n as usize + 1);
            }
        }
        passed += pair.compare(&mut engine);
        calling += u32::from(calls(&pair.image));
        ran += 1;
        sent += 8;
    }
    println!(
        "{ran} programs, {calling} call functions, {sent} packets, {passed} went on; {refused} need what the engine has not"
    );
    assert!(calling > ran / 10);
    assert!(passed > sent as usize / 2);
}

#[test]
fn random_programs_do_the_same_at_the_same_time() {
    let Some((mut engine, mut rng)) = open_tiny("random_programs_do_the_same_at_the_same_time") else { return };
    let (mut sent, mut accesses, mut calling) = (0, 0, 0);
    let wanted = if support::long() { 125_000 } else { 2_500 };
    while sent < wanted {
        let statements = 1 + rng.below(40) as u32;
        let Some(image) = showing(programs::random(&mut rng, statements), 2 + rng.below(2) as i32) else { continue };
        // The engine reports the read of a key that lies in a value as an access; this follower does not know it (`xdp_maps` has such keys).
        let key_in_value = |insn: &Insn| (insn.op, insn.dst, insn.src) == (0x18, 2, 6);
        if image.programs[0].insns.iter().any(key_in_value) {
            continue;
        }
        let Some(mut pair) = Pair::new(&mut engine, image) else { continue };
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        engine.steps.clear();
        let packets = 1 + rng.below(24);
        let frame = |_| (rng.below(engine.target.ports.into()) as u8, packets::frame(&mut rng));
        let frames: Vec<_> = (0..packets).map(frame).collect();
        accesses += together(&mut engine, &mut pair, &frames, sent);
        sent += frames.len() as u32;
        calling += frames.len() as u32 * u32::from(calls(&pair.image));
    }
    println!("{sent} packets, {calling} of programs that call functions, {accesses} accesses of what they share");
    assert!(calling > sent / 10);
    assert!(accesses > sent as usize / 2);
}

/// Rotations of a compiled program.
fn rotations(image: &Image) -> usize {
    let target = sluice_hxdp::Target::new(1).expect("one lane is a target");
    let compiled = sluice_hxdp::compile(image, &image.programs[0], &target).expect("it compiles");
    let steps = compiled.bundles.rows.iter().flat_map(|row| &row.lanes);
    steps.filter(|step| matches!(step.op, sluice_hxdp::Op::Rotate { .. })).count()
}

#[test]
fn every_operation_does_the_same_at_its_edges() {
    let Some((mut engine, mut rng)) = open_tiny("every_operation_does_the_same_at_its_edges") else { return };
    let ops = ["+", "-", "*", "/", "s/", "%", "s%", "|", "&", "^", "<<", ">>", "s>>", ""];
    let conditions = ["==", "!=", ">", ">=", "<", "<=", "s>", "s>=", "s<", "s<=", "&"];
    let mut texts = Vec::new();
    let load = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 128\nif r3 > r2 goto end\n\
                r7 = *(u64 *)(r6 +0)\nr8 = *(u64 *)(r6 +8)\n";
    for r in ["r", "w"] {
        for (base, ops) in [(0, &ops[..7]), (7, &ops[7..])] {
            let mut text = load.to_owned();
            for (n, op) in ops.iter().enumerate() {
                let at = 16 + 8 * n;
                text += &format!("r1 = r7\n{r}1 {op}= {r}8\n*(u64 *)(r6 +{at}) = r1\n");
            }
            let at = 16 + 8 * ops.len();
            if base == 0 {
                text += &format!("{r}1 = -{r}1\n*(u64 *)(r6 +{at}) = r1\n");
            }
            texts.push(text + "end:\nr0 = 3\nexit\n");
        }
        let mut text = load.to_owned() + "r1 = 0\n";
        for (n, condition) in conditions.iter().enumerate() {
            text += &format!("if {r}7 {condition} {r}8 goto yes{n}\nr1 += {}\nyes{n}:\n", 1 << n);
            text += &format!("if {r}7 {condition} -2 goto no{n}\nr1 += {}\nno{n}:\n", 1 << (n + 11));
        }
        texts.push(text + "*(u64 *)(r6 +16) = r1\nend:\nr0 = 3\nexit\n");
    }
    let mut text = load.to_owned();
    let swaps = ["be16", "be32", "be64", "le16", "le32", "le64", "bswap16", "bswap32", "bswap64"];
    for (n, swap) in swaps.iter().enumerate() {
        text += &format!("r1 = r7\nr1 = {swap} r1\n*(u64 *)(r6 +{}) = r1\n", 16 + 8 * n);
    }
    for (n, cast) in ["r1 = (s8)r7", "r1 = (s16)r7", "r1 = (s32)r7", "w1 = (s8)w7", "w1 = (s16)w7"].iter().enumerate() {
        text += &format!("{cast}\n*(u64 *)(r6 +{}) = r1\n", 88 + 8 * n);
    }
    texts.push(text + "end:\nr0 = 3\nexit\n");
    for (r, bits, turns) in
        [("r", 64, &[1, 4, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63][..]), ("w", 32, &[1, 4, 15, 16, 17, 30, 31][..])]
    {
        let mut text = load.to_owned();
        for (n, turn) in turns.iter().enumerate() {
            let left = bits - turn;
            let at = 16 + 8 * n;
            text +=
                &format!("r1 = r7\n{r}1 >>= {turn}\nr2 = r7\n{r}2 <<= {left}\n{r}1 |= {r}2\n*(u64 *)(r6 +{at}) = r1\n");
        }
        text += "end:\nr0 = 3\nexit\n";
        assert_eq!(rotations(&image(&text)), turns.len(), "both shifts are one instruction");
        texts.push(text);
    }

    let edges: [u64; 12] = [
        0,
        1,
        2,
        31,
        64,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        0x1_0000_0000,
        0x7fff_ffff_ffff_ffff,
        1 << 63,
        u64::MAX,
    ];
    let mut number = 0;
    for text in texts {
        let mut pair = Pair::with_lanes(&mut engine, image(&text), 1).expect("the engine has all of it");
        let mut pairs: Vec<(u64, u64)> = edges.iter().flat_map(|a| edges.map(|b| (*a, b))).collect();
        pairs.extend((0..40).map(|_| (rng.next_u64() >> rng.below(64), rng.next_u64() >> rng.below(64))));
        for (a, b) in pairs {
            let mut frame = rng.bytes(128);
            frame[..8].copy_from_slice(&a.to_le_bytes());
            frame[8..16].copy_from_slice(&b.to_le_bytes());
            pair.send(&mut engine, 0, number, &frame);
            number += 1;
        }
        let sent = 144 + 40;
        assert_eq!(pair.compare(&mut engine), sent, "all go on");
    }
}

#[test]
fn loads_and_stores_of_every_size_reach_every_byte_of_frame_and_stack() {
    let Some((mut engine, mut rng)) = open_tiny("loads_and_stores_of_every_size_reach_every_byte") else { return };
    let mut number = 0;
    for (size, bytes) in [("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8), ("s8", 1), ("s16", 2), ("s32", 4)] {
        let stored = size.replace('s', "u");
        // r7 is an offset from the packet's first bytes: of a load and a store in the frame, and of both on the stack.
        let text = format!(
            "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 16\nif r3 > r2 goto end\nr7 = *(u16 *)(r6 +0)\n\
             r8 = r6\nr8 += r7\nr4 = *({size} *)(r8 +0)\n*(u64 *)(r6 +2) = r4\nr5 = r8\nr5 += 1\n*({stored} *)(r8 +0) = r5\n\
             r7 &= 511\nr9 = r10\nr9 -= 512\nr9 += r7\n*({stored} *)(r9 +0) = r4\nr4 = *({size} *)(r9 +0)\n\
             *(u32 *)(r6 +10) = r4\nr4 = *(u64 *)(r10 -512)\nr5 = *(u64 *)(r10 -8)\nr4 ^= r5\n*(u16 *)(r6 +14) = r4\n\
             end:\nr0 = 3\nexit\n"
        );
        let mut pair = Pair::new(&mut engine, image(&text)).expect("the engine has all of it");
        let mut went_on = 0;
        for at in (0..200).chain(500..516).chain([1000, 0xffff]) {
            let length = 64 + rng.below(140) as usize;
            let mut frame = rng.bytes(length);
            frame[..2].copy_from_slice(&(at as u16).to_le_bytes());
            went_on += usize::from(at as usize + bytes <= length && (at & 511) as usize + bytes <= 512);
            pair.send(&mut engine, 0, number, &frame);
            number += 1;
        }
        assert_eq!(pair.compare(&mut engine), went_on, "{size}");
    }
}

#[test]
fn every_region_ends_where_it_says() {
    let Some((mut engine, mut rng)) = open_tiny("every_region_ends_where_it_says") else { return };
    // r7 is the program's context, r8 the frame's start, r9 its end. 4 bytes of metadata are in front of it.
    let (on, fault) = (1, 0);
    for (number, (statement, went_on)) in (0..).zip([
        ("r2 = *(u8 *)(r8 -4)", on),
        ("r2 = *(u8 *)(r8 -5)", fault),
        ("*(u32 *)(r8 -4) = r2", on),
        ("*(u32 *)(r8 -5) = r2", fault),
        ("r2 = *(u64 *)(r9 -8)", on),
        ("r2 = *(u64 *)(r9 -7)", fault),
        ("*(u16 *)(r9 -2) = r2", on),
        ("*(u16 *)(r9 -1) = r2", fault),
        ("r2 = *(u8 *)(r9 +0)", fault),
        ("r2 = *(u32 *)(r7 +20)", on),
        ("r2 = *(u32 *)(r7 +24)", fault),
        ("r2 = *(u32 *)(r7 +2)", fault),
        ("r2 = *(u64 *)(r7 +0)", fault),
        ("r2 = *(u16 *)(r7 +0)", fault),
        ("r2 = *(s32 *)(r7 +12)", on),
        ("*(u32 *)(r7 +12) = r2", fault),
        ("r6 = r10\nr6 -= 512\nr2 = *(u64 *)(r6 +0)", on),
        ("r6 = r10\nr6 -= 513\nr2 = *(u8 *)(r6 +0)", fault),
        ("r6 = r10\nr6 -= 7\nr2 = *(u64 *)(r6 +0)", fault),
        ("r6 = r10\nr6 -= 4\nlock *(u64 *)(r6 +0) += r2", fault),
        ("r6 = r10\nr6 -= 12\nlock *(u64 *)(r6 +0) += r2", fault),
        ("r6 = r10\nr6 -= 12\nlock *(u32 *)(r6 +0) += r2", on),
        ("r6 = r8\nlock *(u32 *)(r6 +0) += r2", fault),
        ("r6 = 0\nr2 = *(u8 *)(r6 +0)", fault),
        ("r6 = 0x100000000\nr6 |= r8\nr2 = *(u8 *)(r6 +0)", fault),
        ("r6 = 0x40000000\nr2 = *(u8 *)(r6 +0)", fault),
        ("r6 = 0xffffffff\nr2 = *(u8 *)(r6 +0)", fault),
    ]) {
        let text = format!(
            "r7 = r1\nr2 = -4\ncall bpf_xdp_adjust_meta\nr8 = *(u32 *)(r7 +0)\nr9 = *(u32 *)(r7 +4)\nr2 = 1\n{statement}\n\
             *(u64 *)(r8 +0) = r2\nr0 = 3\nexit\n"
        );
        let mut pair = Pair::new(&mut engine, image(&text)).expect("the engine has all of it");
        pair.send(&mut engine, 0, number, &rng.bytes(60));
        assert_eq!(pair.compare(&mut engine), went_on, "{statement}");
    }
}

#[test]
fn frames_of_every_length_leave_in_order_with_heads_moved_to_every_byte() {
    let Some((mut engine, mut rng)) = open_tiny("frames_of_every_length_leave_in_order") else { return };
    // The first byte says by how much the head moves, the second by how much the tail; some go round before.
    let text = "r6 = r1\nr2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 4\nif r4 > r3 goto end\n\
                r7 = *(s8 *)(r2 +0)\nr8 = *(s8 *)(r2 +1)\nr9 = *(u8 *)(r2 +2)\nround:\nif r9 == 0 goto go\nr9 -= 1\ngoto round\n\
                go:\nr1 = r6\nr2 = r7\ncall bpf_xdp_adjust_head\nr1 = r6\nr2 = r8\ncall bpf_xdp_adjust_tail\nend:\nr0 = 3\nexit\n";
    let mut pair = Pair::new(&mut engine, image(text)).expect("the engine has all of it");
    let mut number = 0;
    let lengths: Vec<usize> =
        (14..200).chain([255, 256, 257, 1023, 1024, 1025, 1514, 3520, 3521, 9000, 9216]).collect();
    for (ready, gaps) in [(0, 0), (60, 60)] {
        engine.stall(ready, gaps);
        for &length in &lengths {
            let mut frame = rng.bytes(length);
            frame[2] = [0, 0, 0, 40, 200][rng.index(5)];
            pair.send(&mut engine, 0, number, &frame);
            number += 1;
        }
        assert!(pair.compare(&mut engine) > lengths.len() / 2);
    }
}

#[test]
fn nothing_of_another_packet_is_seen() {
    let Some((mut engine, mut rng)) = open_tiny("nothing_of_another_packet_is_seen") else { return };
    let words = |f: &dyn Fn(i32) -> String| (1..=64).map(|n| f(-8 * n)).collect::<String>();
    // The first fills stack, headroom and registers, the second shows what it finds there.
    let fills =
        "r6 = r1\nr2 = -200\ncall bpf_xdp_adjust_head\nr2 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r2\nr4 += 200\n\
                 if r4 > r3 goto end\nr5 = -1\n"
            .to_owned()
            + &words(&|at| format!("*(u64 *)(r10 {at}) = r5\n"))
            + &(0..25).map(|n| format!("*(u64 *)(r2 +{}) = r5\n", 8 * n)).collect::<String>()
            + "r7 = r5\nr8 = r5\nr9 = r5\nr0 = 3\nexit\nend:\nr0 = 1\nexit\n";
    let shows =
        "r6 = r1\nr2 = -199\ncall bpf_xdp_adjust_head\nr2 = *(u32 *)(r6 +0)\nr3 = *(u32 *)(r6 +4)\nr4 = r2\nr4 += 199\n\
                 if r4 > r3 goto end\nr5 = 0\n"
            .to_owned()
            + &words(&|at| format!("r4 = *(u32 *)(r10 {at})\nr5 |= r4\nr4 = *(u8 *)(r10 {})\nr5 |= r4\n", at + 7))
            + "r5 |= r7\nr5 |= r8\nr5 |= r9\n*(u64 *)(r2 +190) = r5\nend:\nr0 = 3\nexit\n";
    let mut number = 0;
    for _ in 0..3 {
        for text in [&fills, &shows] {
            let mut pair = Pair::new(&mut engine, image(text)).expect("the engine has all of it");
            for _ in 0..6 {
                pair.send(&mut engine, 0, number, &rng.bytes(60));
                number += 1;
            }
            assert_eq!(pair.compare(&mut engine), 6);
        }
    }
}

#[test]
fn multiplications_of_packets_under_way_do_not_mix() {
    let Some((mut engine, mut rng)) = open_tiny("multiplications_of_packets_under_way") else { return };
    // Of 64 and of 32 bits by turns. Some divide before or between, so that contexts meet at any distance.
    let text = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 40\nif r3 > r2 goto end\n\
                r7 = *(u64 *)(r6 +16)\nr8 = *(u64 *)(r6 +24)\nr9 = *(u8 *)(r6 +32)\nr4 = *(u8 *)(r6 +33)\n\
                if w4 > 99 goto first\nw9 /= 3\nfirst:\nr5 = r7\nr5 *= r8\nw0 = w7\nw0 *= w8\n\
                if w9 > 99 goto second\nr4 /= 7\nsecond:\nr3 = r5\nr3 *= r0\nw2 = w5\nw2 *= w4\nr2 *= r3\n\
                *(u64 *)(r6 +0) = r5\n*(u64 *)(r6 +8) = r0\n*(u64 *)(r6 +16) = r3\n*(u64 *)(r6 +24) = r2\nend:\nr0 = 3\nexit\n";
    let mut pair = Pair::new(&mut engine, image(text)).expect("the engine has all of it");
    let frames: Vec<(u8, Vec<u8>)> = (0..400).map(|_| (0, rng.bytes(40))).collect();
    together(&mut engine, &mut pair, &frames, 0);
}

#[test]
fn atomic_operations_of_packets_under_way_lose_nothing() {
    let Some((mut engine, mut rng)) = open_tiny("atomic_operations_of_packets_under_way_lose_nothing") else { return };
    // Each packet takes a number, exchanges a word, and shows what it got. Some divide before, so that contexts meet at any distance.
    let text = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 16\nif r3 > r2 goto end\nr7 = map[values][0]+0\n\
                r4 = *(u8 *)(r6 +15)\nr5 = 0\nif r4 > 99 goto ready\nr5 = r4\nr5 /= 3\nr5 >>= 16\nready:\n\
                r2 = 1\nr2 += r5\nr2 = atomic64_fetch_add((u64 *)(r7 +0), r2)\n*(u64 *)(r6 +0) = r2\nr2 += 1\n\
                lock *(u32 *)(r7 +20) += r2\nr2 = atomic64_xchg((u64 *)(r7 +8), r2)\n*(u64 *)(r6 +8) = r2\nend:\nr0 = 3\nexit\n";
    let program = sluice_ebpf::insn::assemble("counts", text, &["values"]).unwrap_or_else(|e| panic!("{e}"));
    let map = programs::map("values", MapType::Array, 24, 1);
    let program = sluice_ebpf::Program { section: "xdp".into(), ..program };
    let image = Image { programs: vec![program], maps: vec![map], ..Image::default() };
    let pair = Pair::new(&mut engine, image).expect("the engine has all of it");
    let packets = 500u32;
    for n in 0..packets {
        let length = 16 + rng.below(100) as usize;
        engine.offer(packet_id(0, n), MODULE, &rng.bytes(length));
    }
    engine.end(packets as usize);
    engine.quiesce();
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let shown = std::mem::take(&mut engine.routed);
    let mut numbers: Vec<u64> = shown.values().map(|(_, bytes)| word(bytes, 0)).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..u64::from(packets)).collect::<Vec<_>>(), "each number once");
    // What one put there another found, but for the last.
    let values: Vec<u8> = pair.memory(&mut engine, 0);
    let mut found: Vec<u64> = shown.values().map(|(_, bytes)| word(bytes, 8)).collect();
    found.push(word(&values, 8));
    found.sort_unstable();
    assert_eq!(found, (0..=u64::from(packets)).collect::<Vec<_>>());
    let sum = packets * (packets + 1) / 2;
    assert_eq!((word(&values, 0), word(&values, 16) >> 32), (packets.into(), sum.into()));
}

#[test]
fn a_replacement_takes_effect_between_two_packets() {
    let Some((mut engine, mut rng)) = open_tiny("a_replacement_takes_effect_between_two_packets") else { return };
    // Each version goes round some times, and then sends to a destination of its own.
    let version = |to: u32, start: u16| {
        let text =
            format!("r6 = 0\nround:\nr6 += 1\nif r6 < 20 goto round\nr1 = {to}\nr2 = 0\ncall bpf_redirect\nexit\n");
        Rows::compiled(&text, start)
    };
    let starts = [PAGE_ROWS as u16, 4 * PAGE_ROWS as u16];
    let mut number = 0;
    let (mut old, mut new) = (0, 0);
    engine.load(MODULE, 0, &version(1, starts[0]), starts[0]);
    for round in 1..12u8 {
        let generation = round & 1;
        for _ in 0..10 + rng.below(20) {
            engine.offer(packet_id(0, number), MODULE, &rng.bytes(60));
            number += 1;
        }
        let start = starts[usize::from(generation)];
        engine.load(MODULE, generation, &version([1, 77][usize::from(generation)], start), start);
        engine.commit(generation);
        for _ in 0..10 {
            engine.offer(packet_id(0, number), MODULE, &rng.bytes(60));
            number += 1;
        }
        engine.end(number as usize);
        engine.quiesce();
        let sent = engine.verdicts.len();
        for verdict in std::mem::take(&mut engine.verdicts) {
            let expected = if engine.generations[&verdict.id] { 1 << 2 } else { 1 };
            assert_eq!((verdict.dropped, verdict.destinations), (false, expected & GRANTED), "{verdict:?}");
            if engine.generations[&verdict.id] == (generation == 1) { new += 1 } else { old += 1 }
        }
        assert!(sent > 0);
        number = 0;
        engine.routed.clear();
        engine.generations.clear();
    }
    assert!(old > 100 && new > 100, "{old} of the version before, {new} of the new one");
}
