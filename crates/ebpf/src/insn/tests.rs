//! Slots, meanings and text agree.

use super::{Insn, Kind, Malformed, WideValue, assemble, listing, text};
use sluice_formats::random::{Rng, test_seed};

/// A slot with this opcode, often well formed: small fields, and half of them 0.
fn random_insn(rng: &mut Rng, op: u8) -> Insn {
    let mut insn = Insn::from_bytes(rng.next_u64().to_le_bytes());
    let half = |rng: &mut Rng| rng.index(2) as u8;
    insn.op = op;
    insn.dst = half(rng) * rng.index(11) as u8;
    insn.src = half(rng) * rng.index(11) as u8;
    if half(rng) == 0 {
        insn.off = [0, 0, 0, 1, 8, 16, 32, -4][rng.index(8)];
    }
    if half(rng) == 0 {
        insn.imm = 0;
    } else if half(rng) == 0 {
        insn.imm = [16, 32, 64, 0x40, 0x50, 0xa0, 0xe1, 0xf1, 1, 0x41, 0x51, 0xa1, -1][rng.index(13)];
    }
    insn
}

#[test]
fn what_is_decoded_encodes_to_the_same_slots_and_text_reads_back() {
    let seed = test_seed("insn_round_trip");
    let mut rng = Rng::new(seed);
    let (mut kinds, mut opcodes) = (0, std::collections::BTreeSet::new());
    let maps: Vec<String> = (0..4).map(|i| format!("map_{i}")).collect();
    let names: Vec<&str> = maps.iter().map(String::as_str).collect();
    for n in 0..200_000u32 {
        let insn = random_insn(&mut rng, n as u8);
        let next = Insn { imm: rng.next_u32() as i32, ..Insn::default() };
        let Ok(kind) = insn.kind(Some(next)) else { continue };
        if let Kind::Wide { value: WideValue::Map(map) | WideValue::MapValue { map, .. }, .. } = kind
            && map >= 4
        {
            continue;
        }
        let (first, second) = kind.encode();
        assert_eq!((first, second.unwrap_or(next)), (insn, next), "seed {seed}");
        let text = text(kind, &|i| maps[i as usize].clone());
        let program = assemble("p", &text, &names).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let mut slots = vec![insn];
        slots.extend(second);
        assert_eq!(program.insns, slots, "seed {seed}: {text}");
        kinds += 1;
        opcodes.insert(insn.op);
    }
    println!("{kinds} instructions, {} opcodes", opcodes.len());
    // 2 x (12 x 2 + neg) arithmetic, 3 swaps, 2 x 11 x 2 branches, 2 gotos, call, exit, 4 + 3 loads,
    // 8 stores, 2 atomics, wide load.
    assert_eq!(opcodes.len(), 48 + 2 + 3 + 44 + 2 + 2 + 7 + 8 + 2 + 1, "seed {seed}");
}

#[test]
fn the_notation_is_the_kernels() {
    let lines = "   0: (b7) r0 = -1
   1: (18) r1 = 0xffffffff00000001
   3: (61) r2 = *(u32 *)(r1 +4)
   4: (91) r2 = *(s8 *)(r1 -4)
   5: (7b) *(u64 *)(r10 -8) = r2
   6: (62) *(u32 *)(r10 -4) = -7
   7: (db) lock *(u64 *)(r1 +0) += r2
   8: (db) r2 = atomic64_fetch_add((u64 *)(r1 +0), r2)
   9: (c3) r0 = atomic_cmpxchg((u32 *)(r1 +8), r0, r2)
  10: (db) r2 = atomic64_xchg((u64 *)(r1 +0), r2)
  11: (56) if w1 != 0x8 goto pc+4
  12: (6d) if r1 s> r2 goto pc-3
  13: (45) if r1 & 0x80000000 goto pc+0
  14: (05) goto pc+1
  15: (06) gotol pc+0
  16: (dc) r2 = be16 r2
  17: (d7) r2 = bswap64 r2
  18: (bf) r3 = (s16)r2
  19: (3c) w3 s/= w2
  20: (c7) r3 s>>= 7
  21: (87) r3 = -r3
  22: (85) call bpf_map_lookup_elem#1
  23: (85) call pc+1
  24: (95) exit
function_25:
  25: (95) exit
";
    let program = assemble("p", lines, &[]).unwrap();
    assert_eq!(listing(&program, &[]), format!("p:\n{lines}"));
}

#[test]
fn labels_name_targets_and_functions() {
    let program = assemble(
        "p",
        "goto end // over the call
         call f
         end:
         r1 = subprog[f]
         exit
         f:
         r0 = 1
         exit",
        &[],
    )
    .unwrap();
    let starts: Vec<_> = program.functions.iter().map(|f| (f.name.as_str(), f.start)).collect();
    assert_eq!(starts, [("p", 0), ("f", 5)]);
    let error = assemble("p", "r0 = 1\ngoto nowhere", &[]).unwrap_err();
    assert_eq!(error.to_string(), "line 2: found `nowhere`, expected a label, or an offset that fits");
    assert_eq!(assemble("p", "r11 = 1", &[]).unwrap_err().line, 1);
}

#[test]
fn what_the_kernel_knows_and_the_rfc_does_not_is_named() {
    let insn = |op, src, off, imm| Insn { op, dst: 0, src, off, imm }.kind(None);
    for (found, name) in [
        (insn(0xe5, 0, 1, 0), "may_goto"),
        (insn(0x8d, 0, 0, 0), "call through a register (callx)"),
        (insn(0x85, 2, 0, 7), "call of a kernel function (kfunc)"),
        (insn(0x30, 0, 0, 0), "legacy packet access (LD_ABS, LD_IND)"),
        (insn(0x40, 1, 0, 0), "legacy packet access (LD_ABS, LD_IND)"),
        (insn(0xdb, 1, 0, 0x100), "load-acquire"),
        (insn(0xd3, 1, 0, 0x110), "store-release"),
        (insn(0xbf, 1, 1, 1), "address-space cast (BPF arena)"),
    ] {
        assert_eq!(found, Err(Malformed::Unsupported(name)));
    }
}
