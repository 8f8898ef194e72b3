//! Each region, one byte either side of its edges.

use super::{fault, image, r0, run, run_on};
use crate::address::{CONTEXT, PACKET, Region, STACK};
use crate::vm::{HEADROOM, Ingress, Packet, Runtime};
use crate::{FaultReason, Verdict};

fn denied(access: &'static str, address: u64, bytes: u32, region: Region) -> FaultReason {
    FaultReason::Access { access, address, bytes, region }
}

#[test]
fn the_context_gives_32_bit_device_addresses_and_where_the_packet_came_in() {
    let start = u64::from(PACKET + HEADROOM);
    for (offset, value) in [(0, start), (4, start + 64), (8, start), (12, 3), (16, 2), (20, 0)] {
        assert_eq!(r0(&format!("r0 = *(u32 *)(r1 +{offset})\nexit")), value);
    }
}

#[test]
fn the_context_is_read_in_whole_fields_and_never_written() {
    let at = u64::from(CONTEXT);
    for (load, address, bytes) in [
        ("u32 *)(r1 +24)", at + 24, 4),
        ("u32 *)(r1 -4)", at - 4, 4),
        ("u32 *)(r1 +2)", at + 2, 4),
        ("u8 *)(r1 +0)", at, 1),
        ("u16 *)(r1 +0)", at, 2),
        ("u64 *)(r1 +0)", at, 8),
    ] {
        let region = Region::of(address);
        assert_eq!(fault(&format!("r0 = *({load}\nexit")), denied("load", address, bytes, region));
    }
    assert_eq!(fault("*(u32 *)(r1 +16) = 1\nr0 = 0\nexit"), denied("store", at + 16, 4, Region::Context));
}

#[test]
fn the_packet_ends_where_it_ends() {
    let (start, end) = (u64::from(PACKET + HEADROOM), u64::from(PACKET + HEADROOM) + 64);
    for bytes in [1, 2, 4, 8] {
        let program = |field: u32, offset: i64, access: &str| {
            let access = access.replace('@', &format!("*(u{} *)(r2 {offset:+})", bytes * 8));
            format!("r2 = *(u32 *)(r1 +{field})\nr0 = 0\n{access}\nexit")
        };
        for (access, name) in [("r0 = @", "load"), ("@ = r0", "store")] {
            r0(&program(0, 0, access));
            r0(&program(4, -i64::from(bytes), access));
            assert_eq!(fault(&program(0, -1, access)), denied(name, start - 1, bytes, Region::Packet));
            let address = end + 1 - u64::from(bytes);
            assert_eq!(fault(&program(4, 1 - i64::from(bytes), access)), denied(name, address, bytes, Region::Packet));
        }
    }
}

#[test]
fn an_empty_frame_has_no_bytes() {
    let outcome = run_on("r2 = *(u32 *)(r1 +0)\nr0 = *(u8 *)(r2 +0)\nexit", &mut Packet::new(&[]));
    assert_eq!(outcome.verdict, Verdict::Aborted);
}

#[test]
fn the_stack_frame_ends_where_it_ends() {
    let top = u64::from(STACK) + 1024;
    for bytes in [1u32, 2, 4, 8] {
        // Over a copy of r10, which validation does not follow.
        let program = |offset: i64, access: &str| {
            let access = access.replace('@', &format!("*(u{} *)(r2 {offset:+})", bytes * 8));
            format!("r2 = r10\nr0 = 0\n{access}\nexit")
        };
        for (access, name) in [("r0 = @", "load"), ("@ = r0", "store")] {
            let (first, last) = (-512, -i64::from(bytes));
            assert_eq!((r0(&program(first, access)), r0(&program(last, access))), (0, 0));
            let below = fault(&program(first - 1, access));
            assert_eq!(below, denied(name, top - 513, bytes, Region::Stack));
            let above = fault(&program(last + 1, access));
            assert_eq!(above, denied(name, top + 1 - u64::from(bytes), bytes, Region::Stack));
        }
    }
}

#[test]
fn nothing_is_at_null_in_handles_or_above_32_bits() {
    for (address, region) in [
        (0, Region::Null),
        (0xfff_ffff, Region::Null),
        (0x4000_0000, Region::MapValue),
        (0x8000_0000, Region::ReadOnly),
        (0x9000_0000, Region::Record),
        (0xa000_0000, Region::MapHandle),
        (0xb000_0000, Region::Function),
        (0xc000_0000, Region::Unmapped),
        (0x1_2000_0100, Region::Unmapped),
        (u64::MAX, Region::Unmapped),
    ] {
        let load = fault(&format!("r2 = {address:#x}\nr0 = *(u8 *)(r2 +0)\nexit"));
        assert_eq!(load, denied("load", address, 1, region));
        let store = fault(&format!("r2 = {address:#x}\n*(u8 *)(r2 +0) = 1\nr0 = 0\nexit"));
        assert_eq!(store, denied("store", address, 1, region));
    }
}

#[test]
fn stores_of_each_width_change_their_bytes_only() {
    let around = |store: &str| {
        r0(&format!(
            "r1 = 0xaaaaaaaaaaaaaaaa\n*(u64 *)(r10 -8) = r1\nr2 = 0x1122334455667788\n{store}\nr0 = *(u64 *)(r10 -8)\nexit"
        ))
    };
    assert_eq!(around("*(u8 *)(r10 -7) = r2"), 0xaaaa_aaaa_aaaa_88aa);
    assert_eq!(around("*(u16 *)(r10 -7) = r2"), 0xaaaa_aaaa_aa77_88aa);
    assert_eq!(around("*(u32 *)(r10 -7) = r2"), 0xaaaa_aa55_6677_88aa);
    assert_eq!(around("*(u64 *)(r10 -8) = r2"), 0x1122_3344_5566_7788);
    assert_eq!(around("*(u64 *)(r10 -8) = -2"), 0xffff_ffff_ffff_fffe);
    assert_eq!(around("*(u32 *)(r10 -8) = -2"), 0xaaaa_aaaa_ffff_fffe);
    assert_eq!(around("*(u16 *)(r10 -8) = 258"), 0xaaaa_aaaa_aaaa_0102);
    assert_eq!(around("*(u8 *)(r10 -8) = 258"), 0xaaaa_aaaa_aaaa_aa02);
}

#[test]
fn loads_extend_by_zero_or_by_sign() {
    let load =
        |load: &str| r0(&format!("r1 = 0x81828384f5f6f7f8\n*(u64 *)(r10 -8) = r1\nr0 = *({load} *)(r10 -8)\nexit"));
    assert_eq!(load("u8"), 0xf8);
    assert_eq!(load("u16"), 0xf7f8);
    assert_eq!(load("u32"), 0xf5f6_f7f8);
    assert_eq!(load("u64"), 0x8182_8384_f5f6_f7f8);
    assert_eq!(load("s8"), -8i64 as u64);
    assert_eq!(load("s16"), -0x808i64 as u64);
    assert_eq!(load("s32"), 0xffff_ffff_f5f6_f7f8);
}

#[test]
fn atomics_change_memory_and_fetch_the_old_value() {
    // (operation, memory afterwards, r2 afterwards, r0 afterwards), from memory 0x1_8000_000c, r2 10, r0 12.
    let (wide, narrow) = (0x1_8000_000c_u64, 0x8000_000c_u64);
    let high = wide - narrow;
    for (op, memory, r2, r0_after) in [
        ("lock *(u64 *)(r10 -8) += r2", wide + 10, 10, 12),
        ("lock *(u64 *)(r10 -8) |= r2", wide | 10, 10, 12),
        ("lock *(u64 *)(r10 -8) &= r2", wide & 10, 10, 12),
        ("lock *(u64 *)(r10 -8) ^= r2", wide ^ 10, 10, 12),
        ("r2 = atomic64_fetch_add((u64 *)(r10 -8), r2)", wide + 10, wide, 12),
        ("r2 = atomic64_fetch_or((u64 *)(r10 -8), r2)", wide | 10, wide, 12),
        ("r2 = atomic64_fetch_and((u64 *)(r10 -8), r2)", wide & 10, wide, 12),
        ("r2 = atomic64_fetch_xor((u64 *)(r10 -8), r2)", wide ^ 10, wide, 12),
        ("r2 = atomic64_xchg((u64 *)(r10 -8), r2)", 10, wide, 12),
        ("r0 = atomic64_cmpxchg((u64 *)(r10 -8), r0, r2)", wide, 10, wide),
        ("lock *(u32 *)(r10 -8) += r2", wide + 10, 10, 12),
        ("lock *(u32 *)(r10 -8) &= r2", high | 8, 10, 12),
        ("r2 = atomic_fetch_add((u32 *)(r10 -8), r2)", wide + 10, narrow, 12),
        ("r2 = atomic_fetch_or((u32 *)(r10 -8), r2)", wide | 10, narrow, 12),
        ("r2 = atomic_fetch_xor((u32 *)(r10 -8), r2)", wide ^ 10, narrow, 12),
        ("r2 = atomic_xchg((u32 *)(r10 -8), r2)", high | 10, narrow, 12),
        ("r0 = atomic_cmpxchg((u32 *)(r10 -8), r0, r2)", wide, 10, narrow),
    ] {
        let setup = format!("r1 = {wide:#x}\n*(u64 *)(r10 -8) = r1\nr2 = 10\nr0 = 12\n{op}\n");
        assert_eq!(r0(&format!("{setup}r0 = *(u64 *)(r10 -8)\nexit")), memory, "{op}");
        assert_eq!(r0(&format!("{setup}r0 = r2\nexit")), r2, "{op}");
        assert_eq!(r0(&format!("{setup}exit")), r0_after, "{op}");
    }
    // The comparison that holds; of 32 bits only the lower half of r0 counts.
    for (width, op, expected, memory) in
        [("u64", "atomic64_cmpxchg", wide, 10), ("u32", "atomic_cmpxchg", narrow | 0xff << 32, high | 10)]
    {
        let text = format!(
            "r1 = {wide:#x}\n*(u64 *)(r10 -8) = r1\nr2 = 10\nr0 = {expected:#x}\n\
             r0 = {op}(({width} *)(r10 -8), r0, r2)\nr0 = *(u64 *)(r10 -8)\nexit"
        );
        assert_eq!(r0(&text), memory);
    }
}

#[test]
fn a_32_bit_atomic_add_does_not_carry() {
    let text =
        "r1 = 0xffffffff\n*(u64 *)(r10 -8) = r1\nr2 = 1\nlock *(u32 *)(r10 -8) += r2\nr0 = *(u64 *)(r10 -8)\nexit";
    assert_eq!(r0(text), 0);
}

#[test]
fn atomics_are_aligned_and_not_on_packets_or_the_context() {
    let top = u64::from(STACK) + 1024;
    let unaligned = "r2 = 1\nlock *(u64 *)(r10 -12) += r2\nr0 = 0\nexit";
    assert_eq!(fault(unaligned), denied("atomic", top - 12, 8, Region::Stack));
    assert_eq!(r0("r2 = 1\nlock *(u32 *)(r10 -12) += r2\nr0 = *(u32 *)(r10 -12)\nexit"), 1);
    let unaligned = "r2 = 1\nlock *(u32 *)(r10 -10) += r2\nr0 = 0\nexit";
    assert_eq!(fault(unaligned), denied("atomic", top - 10, 4, Region::Stack));
    let packet = "r3 = *(u32 *)(r1 +0)\nr2 = 1\nlock *(u32 *)(r3 +0) += r2\nr0 = 0\nexit";
    assert_eq!(fault(packet), denied("atomic", u64::from(PACKET + HEADROOM), 4, Region::Packet));
    let context = "r2 = 1\nlock *(u32 *)(r1 +0) += r2\nr0 = 0\nexit";
    assert_eq!(fault(context), denied("atomic", CONTEXT.into(), 4, Region::Context));
}

#[test]
fn what_a_program_writes_is_in_the_frame() {
    let mut packet = Packet::new(&[0; 64]);
    run_on("r2 = *(u32 *)(r1 +0)\n*(u16 *)(r2 +1) = 513\nr0 = 3\nexit", &mut packet);
    assert_eq!(packet.frame()[..4], [0, 1, 2, 0]);
}

#[test]
fn every_register_starts_from_zero_but_r1_and_r10() {
    for register in [0, 2, 3, 4, 5, 6, 7, 8, 9] {
        assert_eq!(r0(&format!("r0 = r{register}\nexit")), 0);
    }
    assert_eq!(run("r0 = r1\nexit").r0, u64::from(CONTEXT));
    assert_eq!(run("r0 = r10\nexit").r0, u64::from(STACK) + 1024);
}

#[test]
fn long_frames_are_seen_whole() {
    let mut packet = Packet::new(&[7; 9000]);
    let outcome = run_on("r2 = *(u32 *)(r1 +0)\nr0 = *(u8 *)(r2 +8999)\nexit", &mut packet);
    assert_eq!(outcome.r0, 7);
    let mut runtime = Runtime::new(1, 1);
    let installed =
        runtime.install(&image(&["r2 = *(u32 *)(r1 +0)\nr0 = *(u8 *)(r2 +9000)\nexit"]), &|_| None).unwrap();
    assert!(runtime.run(installed, 0, &mut packet, Ingress::default()).fault.is_some());
}
