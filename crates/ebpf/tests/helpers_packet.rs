//! Helpers that work on the packet alone, against the kernel.

use crate::helpers_support::{Asm, Pair, skipped};
use sluice_formats::random::{Rng, test_seed};

const ADJUST_HEAD: i32 = 44;
const ADJUST_META: i32 = 54;
const ADJUST_TAIL: i32 = 65;

/// Calls helpers on the context one after the other, marks the frame's first bytes (and those of
/// the metadata, if any) after each, and returns a digest of the results.
fn adjustments(steps: &[(i32, i32)]) -> Asm {
    let mut asm = Asm::default().mov_reg(6, 1).mov(7, 0);
    for (n, (helper, delta)) in steps.iter().enumerate() {
        asm = asm.mov_reg(1, 6).mov(2, *delta).call(*helper);
        // r7 = r7 * 37 + r0
        asm = asm.raw(0x27, 7, 0, 0, 37).raw(0x0f, 7, 0, 0, 0);
        let mark = 0x40 + n as i32;
        // if (data + 14 <= data_end) data[0], data[13] = mark
        asm = asm.load(4, 2, 6, 0).load(4, 3, 6, 4).mov_reg(4, 2).add(4, 14);
        asm = asm.raw(0x2d, 4, 3, 2, 0).store_imm(1, 2, 0, mark).store_imm(1, 2, 13, mark);
        // if (meta + 4 <= data) meta[3] = mark
        asm = asm.load(4, 2, 6, 8).load(4, 3, 6, 0).mov_reg(4, 2).add(4, 4);
        asm = asm.raw(0x2d, 4, 3, 1, 0).store_imm(1, 2, 3, mark);
    }
    asm.mov_reg(0, 7).exit()
}

fn frame(rng: &mut Rng, len: usize) -> Vec<u8> {
    (0..len).map(|_| rng.next_u32() as u8).collect()
}

fn compare(steps: &[(i32, i32)], frame: &[u8]) {
    Pair::one(adjustments(steps)).run(0, frame, &format!("{steps:?} on {} bytes", frame.len()));
}

#[test]
fn every_limit_holds_one_byte_either_side() {
    if skipped() {
        return;
    }
    let mut rng = Rng::new(1);
    let around = |n: i32| [n - 4, n - 1, n, n + 1, n + 4];
    for len in [14, 15, 60, 1514, 3519, 3520] {
        let frame = frame(&mut rng, len as usize);
        for delta in [around(0), around(-216), around(len - 14), [i32::MIN, i32::MAX, -65536, 65536, 256]].concat() {
            compare(&[(ADJUST_HEAD, delta)], &frame);
        }
        for delta in [around(0), around(14 - len), around(3520 - len), [i32::MIN, i32::MAX, -65536, 65536, 0]].concat()
        {
            compare(&[(ADJUST_TAIL, delta)], &frame);
        }
        for delta in
            [around(0), around(-32), around(-216), around(-252), around(-256), [i32::MIN, i32::MAX, 4, 8, -2]].concat()
        {
            compare(&[(ADJUST_META, delta)], &frame);
            // Head then metadata: more room for it, up to the 8 bits of its length.
            compare(&[(ADJUST_HEAD, 1), (ADJUST_META, delta)], &frame);
            compare(&[(ADJUST_HEAD, 40), (ADJUST_META, delta)], &frame);
        }
    }
}

#[test]
fn metadata_moves_with_the_head_and_takes_its_room() {
    if skipped() {
        return;
    }
    let frame = frame(&mut Rng::new(2), 200);
    for meta in [4, 32, 100, 212, 216] {
        for head in [-216 + meta - 1, -216 + meta, -216 + meta + 1, -1, 1, 4, 150, 186, 187] {
            compare(&[(ADJUST_META, -meta), (ADJUST_HEAD, head)], &frame);
            compare(&[(ADJUST_META, -meta), (ADJUST_HEAD, head), (ADJUST_META, meta), (ADJUST_META, -4)], &frame);
        }
    }
}

#[test]
fn random_adjustments_give_what_the_kernel_gives() {
    if skipped() {
        return;
    }
    let seed = test_seed("helpers_packet_adjust");
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for _ in 0..300 {
        let len = rng.range(14, 3520) as usize;
        let steps: Vec<(i32, i32)> = (0..rng.range(1, 8))
            .map(|_| {
                let helper = [ADJUST_HEAD, ADJUST_META, ADJUST_TAIL][rng.index(3)];
                let spread = [8, 64, 300, 4000][rng.index(4)];
                let delta = rng.range(0, 2 * spread) as i32 - spread as i32;
                let delta = if helper == ADJUST_META && rng.below(4) != 0 { delta & !3 } else { delta };
                (helper, delta)
            })
            .collect();
        compare(&steps, &frame(&mut rng, len));
    }
}

/// `csum_diff` on the first `from` and the next `to` bytes of the frame.
fn checksum(from: i32, to: i32, seed: u32, shift: i32) -> Asm {
    let mut asm = Asm::default().load(4, 6, 1, 0).load(4, 3, 1, 4).mov_reg(4, 6).add(4, from + to + shift);
    // if (r4 > data_end) return 0x7777
    asm = asm.raw(0xbd, 4, 3, 2, 0).mov(0, 0x7777).exit();
    asm = asm.mov_reg(1, 6).add(1, shift).mov(2, from).mov_reg(3, 6).add(3, from + shift).mov(4, to);
    asm.mov64(5, seed.into()).call(28)
}

#[test]
fn checksum_differences_are_the_kernels_for_any_sizes_and_seeds() {
    if skipped() {
        return;
    }
    let seed = test_seed("helpers_packet_csum");
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let mut sizes = vec![(0, 0), (0, 4), (4, 0), (4, 4), (1, 0), (0, 1), (3, 5), (512, 0), (516, 516), (0, 1500)];
    sizes.extend((0..200).map(|_| (rng.range(0, 600) as i32, rng.range(0, 600) as i32)));
    for (n, (from, to)) in sizes.into_iter().enumerate() {
        let seed = [0, 1, 0xffff, 0x1_0000, 0xffff_ffff, 0xfffe_ffff, rng.next_u32()][n % 7];
        let shift = rng.range(0, 3) as i32;
        let len = (from + to + shift).max(14) as usize;
        let bytes = match rng.below(4) {
            0 => vec![0; len],
            1 => vec![0xff; len],
            _ => frame(&mut rng, len),
        };
        let what = format!("csum_diff of {from} and {to} bytes, seed {seed:#x}, at {shift}");
        Pair::one(checksum(from, to, seed, shift).exit()).run(0, &bytes, &what);
        // The upper half of the result.
        Pair::one(checksum(from, to, seed, shift).raw(0x77, 0, 0, 0, 32).exit()).run(0, &bytes, &what);
    }
}

#[test]
fn frame_bytes_are_loaded_and_stored_within_the_frame_only() {
    if skipped() {
        return;
    }
    let frame = frame(&mut Rng::new(3), 100);
    let mut pairs = 0;
    for len in [1, 4, 63, 100, 101, 256] {
        for offset in [0, 1, 100 - len, 101 - len, 99, 100, 101, 0xffff, 0x1_0000, -1] {
            // Loads to the stack, then stores it at 0 (what was not loaded is 7s); returns the sum.
            let mut asm = Asm::default().mov_reg(6, 1).bytes(3, 256, &[7; 256]);
            asm = asm.mov_reg(1, 6).mov(2, offset).mov(4, len).call(189).mov_reg(7, 0);
            asm = asm.mov_reg(1, 6).mov(2, 3).mov_reg(3, 10).add(3, -256).mov(4, len).call(190);
            asm = asm.raw(0x27, 7, 0, 0, 100).raw(0x0f, 7, 0, 0, 0).mov_reg(0, 7).exit();
            Pair::one(asm).run(0, &frame, &format!("{len} bytes at {offset}"));
            pairs += 1;
        }
    }
    println!("{pairs} pairs of offset and length");
    let len = Asm::default().mov_reg(6, 1).mov(2, -40).call(ADJUST_HEAD).mov_reg(1, 6).call(188).exit();
    assert_eq!(Pair::one(len).run(0, &frame, "buff_len").r0, 140);
}
