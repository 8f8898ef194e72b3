//! What saves a bundle: numbers that leave sums, copies that go, tests without a branch.

use crate::bundles::{of_map, rows_by};

/// Whether a row has this text.
fn has(rows: &[String], part: &str) -> bool {
    rows.iter().any(|row| row.contains(part))
}

/// A length in a header that is checked against the frame's end, and what is done with the sum then.
fn checked(then: &str) -> Vec<String> {
    let source = format!(
        "r6 = *(u32 *)(r1 +0)\nr7 = *(u32 *)(r1 +4)\nr0 = 1\nr8 = r6\nr8 += 14\nif r8 > r7 goto pc+6\nr2 = *(u8 *)(r6 +0)\nr3 = r8\nr3 += r2\n\
         if r3 > r7 goto pc+2\n{then}\nr0 = 2\nexit"
    );
    rows_by("all", 1, &source)
}

#[test]
fn a_number_leaves_a_sum_for_whoever_reads_it() {
    let rows = checked("r4 = 7");
    assert!(has(&rows, "+14 > data_end goto") && !has(&rows, "r15 + 14"), "{rows:#?}");
    // Whoever stores the sum needs it whole.
    let rows = checked("*(u64 *)(r10 -8) = r3\nr5 = *(u64 *)(r10 -8)\nr5 ^= 1\nr0 = r5\nexit");
    assert!(has(&rows, "r15 + 14"), "{rows:#?}");
}

/// A value that is found by a number, looked at, and looked at again in a trace that others lead to.
fn found(test: &str) -> Vec<String> {
    let source = format!(
        "r2 = *(u32 *)(r1 +12)\n*(u32 *)(r10 -4) = r2\nr2 = r10\nr2 += -4\nr1 = map[values]\ncall bpf_map_lookup_elem#1\n{test}\n\
         r0 = 2\nexit\nr0 = 1\nexit"
    );
    of_map("all", &source).0
}

#[test]
fn a_value_is_tested_without_a_test_of_its_address() {
    let rows = found("if r0 == 0 goto pc+5\nr1 = *(u32 *)(r0 +4)\nr1 &= 1\nif r1 == 0 goto pc+2");
    assert!(has(&rows, "= ?*(u32 *)(r") && !has(&rows, "== 0 goto"), "{rows:#?}");
    // Zero goes on, or elsewhere; the value is changed first.
    for other in [
        "if r0 == 0 goto pc+5\nr1 = *(u32 *)(r0 +4)\nr1 &= 1\nif r1 != 0 goto pc+2",
        "if r0 == 0 goto pc+3\nr1 = *(u32 *)(r0 +4)\nr1 &= 1\nif r1 == 0 goto pc+2",
        "if r0 == 0 goto pc+6\nr1 = *(u32 *)(r0 +4)\nr2 = 7\n*(u32 *)(r0 +8) = r2\nr1 &= 1\nif r1 == 0 goto pc+2",
    ] {
        let rows = found(other);
        assert!(has(&rows, "== 0 goto") || has(&rows, "!= 0 goto"), "{other}: {rows:#?}");
        assert!(!has(&rows, "= ?*(u32 *)(r0 +4)"), "{other}: {rows:#?}");
    }
}

#[test]
fn what_another_trace_reads_is_made_in_its_register() {
    // r6 is read behind a place where two ways meet.
    let source =
        "r2 = *(u32 *)(r1 +12)\nr6 = r2\nr6 *= 3\nif r6 > 7 goto pc+2\nr0 = 1\ngoto pc+1\nr0 = r2\nr0 += r6\nexit";
    let with = rows_by("-superblocks,-short", 1, source);
    let without = rows_by("-superblocks,-short,-coalesce", 1, source);
    assert!(with.len() <= without.len(), "{with:#?} {without:#?}");
    assert!(!with.iter().any(|row| row == "r6 = r0" || row == "r6 = r2"), "{with:#?}");
}

#[test]
fn nothing_is_added() {
    let rows = rows_by("all", 1, "r2 = *(u16 *)(r1 +12)\nr3 = 0\nr2 += r3\nr0 = r2\nexit");
    assert!(!has(&rows, "+ 0"), "{rows:#?}");
    let rows = rows_by("all", 1, "r2 = *(u32 *)(r1 +12)\nr2 += 0\nr2 <<= 0\nr2 ^= 0\nr0 = r2\nexit");
    assert_eq!(rows.len(), 2, "{rows:#?}");
    // An AND with nothing is nothing, and 32 bits of 64 are not all.
    let rows = rows_by("all", 1, "r2 = *(u64 *)(r10 -8)\nw2 += 0\nr0 = r2\nexit");
    assert!(has(&rows, "w"), "{rows:#?}");
}
