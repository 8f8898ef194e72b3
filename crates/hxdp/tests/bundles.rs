//! What the compiler makes of small programs.

use crate::support::target;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, MapSpec, MapType};
use sluice_hxdp::compile_with;
use sluice_hxdp::listing::text;

/// Rows of a program, lanes joined by ` | `. Registers and the stack stay what they are, so that tests can name them.
fn rows(lanes: usize, source: &str) -> Vec<String> {
    rows_by("-values,-rename,-forward,-stores", lanes, source)
}

/// The same by these passes.
pub fn rows_by(passes: &str, lanes: usize, source: &str) -> Vec<String> {
    let program = assemble("small", source, &[]).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    let image = Image { programs: vec![program], ..Image::default() };
    let bundles = compile_with(&image, &image.programs[0], &target(lanes), passes.parse().unwrap());
    let bundles = bundles.unwrap_or_else(|e| panic!("{e}")).bundles;
    let row = |row: &sluice_hxdp::Bundle| {
        let lanes: Vec<String> = row.lanes.iter().map(|step| text(&step.op, &|map| map.to_string())).collect();
        lanes.join(" | ")
    };
    bundles.rows.iter().map(row).collect()
}

#[test]
fn an_exit_takes_its_value() {
    assert_eq!(rows(1, "r0 = 2\nexit"), ["exit 2"]);
    assert_eq!(rows(2, "r6 = *(u32 *)(r1 +12)\nr0 = r6\nexit"), ["r6 = ?*(u32 *)(r1 +12)", "exit r6"]);
}

#[test]
fn copies_and_sums_become_three_operands_and_folded_addresses() {
    let source = "r2 = r10\nr2 += -8\nr3 = *(u32 *)(r1 +12)\n*(u64 *)(r2 +0) = r3\nr0 = *(u32 *)(r2 +4)\nexit";
    assert_eq!(rows(1, source), ["r3 = ?*(u32 *)(r1 +12)", "*(u64 *)(r10 -8) = r3", "r0 = ?*(u32 *)(r10 -4)", "exit"]);
    let source = "r2 = *(u32 *)(r1 +12)\nr0 = r2\nr0 *= 3\nr0 += r2\nexit";
    assert_eq!(rows(1, source), ["r2 = ?*(u32 *)(r1 +12)", "r0 = r2 * 3", "r0 = r0 + r2", "exit"]);
}

#[test]
fn branches_in_one_bundle_are_taken_by_their_lanes() {
    let source = "
        r2 = *(u32 *)(r1 +12)
        r3 = *(u32 *)(r1 +16)
        if r2 > 0x7 goto pc+3
        if r3 > 0x7 goto pc+4
        r0 = 2
        exit
        r0 = 1
        exit
        r0 = 3
        exit";
    let rows = rows(4, source);
    assert_eq!(rows[1], "if r2 > 7 goto 2 | if r3 > 7 goto 3 | exit 2", "{rows:#?}");
    assert_eq!(rows[2..], ["exit 1", "exit 3"]);
}

#[test]
fn a_frame_is_zero_and_needs_no_zeros() {
    let source = "r2 = 0\n*(u64 *)(r10 -8) = r2\nr0 = *(u64 *)(r10 -8)\nexit";
    assert_eq!(rows(1, source), ["r0 = ?*(u64 *)(r10 -8)", "exit"]);
    // The second zero overwrites a seven.
    let source = "r2 = 0\nr3 = 7\n*(u64 *)(r10 -8) = r3\n*(u64 *)(r10 -8) = r2\nr0 = *(u64 *)(r10 -8)\nexit";
    assert_eq!(rows(1, source).len(), 4);
}

#[test]
fn arithmetic_passes_a_branch_and_a_store_does_not() {
    let source = "
        r2 = *(u32 *)(r1 +12)
        r2 *= 3
        r2 ^= 9
        if r2 > 0x7 goto pc+4
        r4 = *(u32 *)(r10 -4)
        r4 *= 5
        *(u32 *)(r10 -8) = r4
        r0 = *(u32 *)(r10 -8)
        exit";
    let rows = rows(2, source);
    let row =
        |part: &str| rows.iter().position(|row| row.contains(part)).unwrap_or_else(|| panic!("{part}: {rows:#?}"));
    assert!(row("r4 * 5") <= row("if r2"), "{rows:#?}");
    assert!(row("(r10 -8) = r4") >= row("if r2"), "{rows:#?}");
}

#[test]
fn what_nobody_reads_goes_but_what_may_fault_stays() {
    assert_eq!(rows(1, "r2 = 7\nr3 = *(u8 *)(r1 +40)\nr4 = *(u8 *)(r10 -1)\nr0 = 2\nexit").len(), 2);
}

#[test]
fn two_copies_of_neighbouring_bytes_are_one_of_six() {
    let stores = "*(u32 *)(r10 -16) = r2\n*(u16 *)(r10 -12) = r3\nr0 = *(u64 *)(r10 -16)\nexit";
    let loads = "r2 = *(u32 *)(r10 -32)\nr3 = *(u16 *)(r10 -28)\n";
    let first = "*(u64 *)(r10 -32) = r1\n";
    let expected = [
        // The context's address is a number.
        "*(u64 *)(r10 -32) = 268435456",
        "r2 = ?*(u48 *)(r10 -32)",
        "*(u48 *)(r10 -16) = r2",
        "r0 = ?*(u64 *)(r10 -16)",
        "exit",
    ];
    assert_eq!(rows(1, &format!("{first}{loads}{stores}")), expected);
    // One register for both, in turn.
    let turns = "r2 = *(u32 *)(r10 -32)\n*(u32 *)(r10 -16) = r2\nr2 = *(u16 *)(r10 -28)\n*(u16 *)(r10 -12) = r2\n";
    assert_eq!(rows(1, &format!("{first}{turns}r0 = *(u64 *)(r10 -16)\nexit")), expected);
    // The second load reads what the first store wrote.
    let overlap = "r2 = *(u32 *)(r10 -32)\n*(u32 *)(r10 -28) = r2\nr2 = *(u32 *)(r10 -28)\n*(u32 *)(r10 -24) = r2\n";
    assert_eq!(rows(1, &format!("{first}{overlap}r0 = *(u64 *)(r10 -24)\nexit")).len(), 7);
    // What was loaded is read behind.
    assert_eq!(
        rows(1, &format!("{first}{loads}*(u32 *)(r10 -16) = r2\n*(u16 *)(r10 -12) = r3\nr0 = r3\nexit")).len(),
        6
    );
}

#[test]
fn both_halves_of_an_exchange_are_joined() {
    let source = "
        r6 = *(u32 *)(r1 +0)
        r7 = *(u32 *)(r1 +4)
        r2 = r6
        r2 += 12
        if r2 > r7 goto pc+8
        r2 = *(u32 *)(r6 +0)
        r3 = *(u16 *)(r6 +4)
        r4 = *(u32 *)(r6 +6)
        r5 = *(u16 *)(r6 +10)
        *(u32 *)(r6 +0) = r4
        *(u16 *)(r6 +4) = r5
        *(u32 *)(r6 +6) = r2
        *(u16 *)(r6 +10) = r3
        r0 = 2
        exit";
    let rows = rows(1, source);
    assert_eq!(rows.iter().filter(|row| row.contains("u48")).count(), 4, "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.contains("u16")).count(), 0, "{rows:#?}");
}

#[test]
fn a_branch_that_is_decided_goes() {
    let source = "r2 = *(u32 *)(r1 +0)\nr0 = 1\nif r2 == 0x0 goto pc+1\nr0 = 2\nexit";
    assert_eq!(rows(1, source), ["exit 2"]);
}

#[test]
fn a_load_is_tried_before_the_bounds_check_that_allows_it() {
    let source = "
        r2 = *(u32 *)(r1 +0)
        r3 = *(u32 *)(r1 +4)
        r6 = *(u32 *)(r1 +12)
        r6 ^= 3
        r0 = 1
        if r6 == 0x9 goto pc+6
        r4 = r2
        r4 += 14
        if r4 > r3 goto pc+3
        r5 = *(u8 *)(r2 +12)
        r5 += 1
        r0 = r5
        exit";
    let rows = rows(4, source);
    let row =
        |part: &str| rows.iter().position(|row| row.contains(part)).unwrap_or_else(|| panic!("{part}: {rows:#?}"));
    assert!(row("?*(u8 *)(r15 +12)") < row("if data +14"), "{rows:#?}");
}

#[test]
fn an_address_that_is_folded_out_of_the_frame_still_faults_in_its_place() {
    // Nobody reads r2, but the load is a fault: it neither goes nor passes the branch.
    let source = "r6 = r10\nr3 = *(u32 *)(r1 +12)\nif r3 == 0x7 goto pc+1\nr2 = *(u32 *)(r6 +0)\nr0 = 1\nexit";
    let rows = rows(2, source);
    let row =
        |part: &str| rows.iter().position(|row| row.contains(part)).unwrap_or_else(|| panic!("{part}: {rows:#?}"));
    assert!(row("r2 = *(u32 *)(r10 +0)") >= row("if r3"), "{rows:#?}");
}

#[test]
fn what_a_core_has_once_is_used_once_a_bundle() {
    let count = |rows: &[String], part: &str| rows.iter().map(|row| row.matches(part).count()).max().unwrap_or(0);
    let source = "
        r2 = *(u32 *)(r1 +12)
        r3 = *(u32 *)(r1 +16)
        r4 = r2
        r4 *= r3
        r5 = r2
        r5 /= r3
        r0 = r4
        r0 ^= r5
        exit";
    let products = rows(4, source);
    assert_eq!(count(&products, " * r3").max(count(&products, " / r3")), 1, "{products:#?}");
    assert!(products.iter().all(|row| !(row.contains("r2 * r3") && row.contains("r2 / r3"))), "{products:#?}");
    // The clock needs nothing, and nothing of it is needed by the load; still both want the ports.
    let source = "r6 = *(u32 *)(r1 +12)\ncall bpf_ktime_get_ns#5\nr7 = *(u8 *)(r10 -1)\nr0 += r6\nr0 += r7\nexit";
    let clock = rows(4, source);
    assert!(clock.iter().all(|row| !(row.contains("call") && row.contains("*)("))), "{clock:#?}");
    // csum_diff takes five arguments.
    let source = "
        r6 = *(u32 *)(r1 +12)
        r1 = 0
        r2 = 0
        r3 = r10
        r3 += -8
        r4 = 8
        r5 = 0
        call bpf_csum_diff#28
        r6 += 7
        r0 += r6
        exit";
    let sums = rows(4, source);
    assert!(sums.iter().any(|row| row == "call bpf_csum_diff"), "{sums:#?}");
}

#[test]
fn a_comparison_with_the_packets_end_is_one_instruction_that_reads_no_register() {
    let check = |comparison: &str| {
        let source = format!(
            "r2 = *(u32 *)(r1 +4)\nr3 = *(u32 *)(r1 +0)\nr4 = r3\nr4 += 14\n{comparison} goto pc+2\nr0 = 2\nexit\nr0 = 1\nexit"
        );
        rows(1, &source)[0].clone()
    };
    assert_eq!(check("if r4 > r2"), "if data +14 > data_end goto 2");
    assert_eq!(check("if r2 < r4"), "if data +14 > data_end goto 2");
    assert_eq!(check("if r4 >= r2"), "if data +15 > data_end goto 2");
    assert_eq!(check("if r2 >= r4"), "if data +14 <= data_end goto 2");
    assert_eq!(check("if r4 < r2"), "if data +15 <= data_end goto 2");
    // Half of an address is a number, and equality says nothing of order: these need what they compare.
    for other in ["if w4 > w2", "if r4 == r2", "if r4 s> r2"] {
        assert!(check(other).contains("*(u32 *)(r1"), "{other}: {}", check(other));
    }
    // The address is the start plus what a register holds.
    let source = "
        r2 = *(u32 *)(r1 +4)
        r3 = *(u32 *)(r1 +0)
        r5 = *(u32 *)(r1 +12)
        r5 &= 15
        r3 += r5
        r4 = r3
        r4 += 20
        if r4 > r2 goto pc+2
        r0 = 2
        exit
        r0 = 1
        exit";
    assert!(rows(1, source).contains(&"if r3 +20 > data_end goto 5".to_owned()), "{:#?}", rows(1, source));
    // The end was loaded before the helper that moved it.
    let source = "
        r6 = r1
        r7 = *(u32 *)(r1 +4)
        r2 = -1
        call bpf_xdp_adjust_tail#65
        r3 = *(u32 *)(r6 +0)
        r3 += 14
        if r3 > r7 goto pc+2
        r0 = 2
        exit
        r0 = 1
        exit";
    assert!(rows(1, source).iter().all(|row| !row.contains("data_end")), "{:#?}", rows(1, source));
}

#[test]
fn bytes_that_are_put_together_are_loaded_at_once() {
    let checked = |body: &str| {
        let source = format!(
            "r9 = *(u32 *)(r1 +4)\nr6 = *(u32 *)(r1 +0)\nr0 = 1\nr8 = r6\nr8 += 14\nif r8 > r9 goto pc+{}\n{body}\nexit",
            body.lines().filter(|line| !line.trim().is_empty()).count()
        );
        rows(1, &source)
    };
    let has = |rows: &[String], part: &str| rows.iter().filter(|row| row.contains(part)).count();
    let little = "r0 = *(u8 *)(r6 +3)\nr3 = *(u8 *)(r6 +4)\nr3 <<= 8\nr0 |= r3";
    let joined = checked(little);
    assert_eq!((has(&joined, "*(u16 *)(r15 +3)"), has(&joined, "u8"), has(&joined, "<<")), (1, 0, 0), "{joined:#?}");
    let big = "
        r2 = *(u8 *)(r6 +0)
        w2 <<= 24
        r3 = *(u8 *)(r6 +1)
        w3 <<= 16
        w2 |= w3
        r4 = *(u8 *)(r6 +2)
        w4 <<= 8
        w2 |= w4
        r0 = *(u8 *)(r6 +3)
        w0 |= w2";
    let joined = checked(big);
    assert_eq!((has(&joined, "r0 = ?*(u32 *)(r15 +0)"), has(&joined, "r0 = be32 r0")), (1, 1), "{joined:#?}");
    assert_eq!(has(&joined, "u8"), 0, "{joined:#?}");
    let stored = |store: &str| format!("r0 = *(u8 *)(r6 +3)\n{store}\nr3 = *(u8 *)(r6 +4)\nr3 <<= 8\nr0 |= r3");
    // What lies between: a byte that was loaded is written; one beside it is; the stack is.
    assert_eq!(has(&checked(&stored("*(u8 *)(r6 +3) = r8")), "u16"), 0);
    assert_eq!(has(&checked(&stored("*(u8 *)(r6 +5) = r8")), "u16"), 1);
    assert_eq!(has(&checked(&stored("*(u8 *)(r10 -3) = r8")), "u16"), 1);
    // The base is another address; the second byte may be beyond the end; one byte is missing.
    assert_eq!(has(&checked(&stored("r6 += 1")), "u16"), 0);
    assert_eq!(has(&checked("r0 = *(u8 *)(r6 +13)\nr3 = *(u8 *)(r6 +14)\nr3 <<= 8\nr0 |= r3"), "u16"), 0);
    assert_eq!(has(&checked("r0 = *(u8 *)(r6 +3)\nr3 = *(u8 *)(r6 +5)\nr3 <<= 8\nr0 |= r3"), "u16"), 0);
    // A shift that is not by whole bytes, and parts that overlap.
    assert_eq!(has(&checked("r0 = *(u8 *)(r6 +3)\nr3 = *(u8 *)(r6 +4)\nr3 <<= 7\nr0 |= r3"), "u16"), 0);
    assert_eq!(has(&checked("r0 = *(u16 *)(r6 +3)\nr3 = *(u8 *)(r6 +4)\nr3 <<= 8\nr0 |= r3"), "u16 *)(r15 +3)"), 1);
}

#[test]
fn shifts_that_turn_a_value_are_one_rotation() {
    let source = "r9 = r1\ncall bpf_get_prandom_u32\nr6 = r0\nw6 >>= 19\nw0 <<= 13\nw0 |= w6\nexit";
    let rows = rows_by("all", 1, source);
    assert_eq!(rows.iter().filter(|row| row.contains("ror 19")).count(), 1, "{rows:#?}");
    assert!(rows.iter().all(|row| !row.contains("<<") && !row.contains(">>")), "{rows:#?}");
}

#[test]
fn the_longer_way_goes_on_and_the_short_one_is_branched_to() {
    let source = "
        r2 = *(u32 *)(r1 +12)
        if r2 == 0x7 goto pc+2
        r0 = 1
        exit
        r0 = *(u32 *)(r1 +16)
        r0 *= 3
        r0 += r2
        exit";
    let has = |rows: Vec<String>, part: &str| rows.iter().any(|row| row.starts_with(part));
    assert!(has(rows(1, source), "if r2 != 7 goto"), "{:#?}", rows(1, source));
    assert!(has(rows_by("-values,-rename,-forward,-stores,-predict", 1, source), "if r2 == 7 goto"));
}

#[test]
fn a_value_of_one_trace_takes_a_register_that_nobody_waits_for() {
    let source = "
        r2 = *(u8 *)(r10 -1)
        r2 += 1
        *(u8 *)(r10 -2) = r2
        r2 = *(u8 *)(r10 -3)
        r2 += 1
        *(u8 *)(r10 -4) = r2
        r0 = *(u32 *)(r10 -4)
        exit";
    let (one, own) = (rows(4, source), rows_by("all", 4, source));
    assert!(own.len() < one.len(), "{one:#?} {own:#?}");
}

/// A lookup in `values` with a key at r10 -4, and what is done with the value in r0.
pub fn lookup(body: &str) -> String {
    let steps = body.lines().filter(|line| !line.trim().is_empty()).count();
    format!(
        "r2 = r10\nr2 += -4\nr1 = map[values]\ncall bpf_map_lookup_elem#1\nif r0 == 0 goto pc+{steps}\n{body}\nr0 = 1\nexit"
    )
}

/// Rows of a program with a map of 16-byte values, `values`, and whether it is flow-serial.
pub fn of_map(passes: &str, source: &str) -> (Vec<String>, bool) {
    let maps = vec![MapSpec::new("values", MapType::Array, 4, 16, 4)];
    let program = assemble("counted", source, &["values"]).unwrap_or_else(|e| panic!("{source}: {e:?}"));
    let image = Image { programs: vec![program], maps, ..Image::default() };
    let compiled = compile_with(&image, &image.programs[0], &target(1), passes.parse().unwrap()).unwrap();
    let text = |row: &sluice_hxdp::Bundle| text(&row.lanes[0].op, &|map| map.to_string());
    (compiled.bundles.rows.iter().map(text).collect(), compiled.flow_serial)
}

/// Rows of a program that has found a value in r0.
fn counted(body: &str) -> (Vec<String>, bool) {
    of_map("-values,-rename", &format!("r6 = *(u32 *)(r1 +12)\n{}", lookup(body)))
}

#[test]
fn a_plain_count_becomes_one_atomic_operation_and_the_program_is_not_flow_serial() {
    let has = |body: &str, part: &str| counted(body).0.iter().any(|row| row == part);
    let count = "r1 = *(u64 *)(r0 +8)\nr1 += 1\n*(u64 *)(r0 +8) = r1";
    assert!(has(count, "add((u64 *)(r0 +8), 1)"), "{:#?}", counted(count));
    assert!(!counted(count).1);
    let of_register = "r1 = *(u32 *)(r0 +4)\nw1 |= w6\n*(u32 *)(r0 +4) = r1";
    assert!(has(of_register, "or((u32 *)(r0 +4), r6)"), "{:#?}", counted(of_register));
    // The loaded value is the second operand.
    let exchanged = "r7 = r6\nr1 = *(u64 *)(r0 +8)\nr7 += r1\n*(u64 *)(r0 +8) = r7";
    assert!(has(exchanged, "add((u64 *)(r0 +8), r6)"), "{:#?}", counted(exchanged));
    for (why, body) in [
        ("not aligned", "r1 = *(u64 *)(r0 +4)\nr1 += 1\n*(u64 *)(r0 +4) = r1"),
        ("other bytes", "r1 = *(u64 *)(r0 +8)\nr1 += 1\n*(u64 *)(r0 +0) = r1"),
        ("half of the sum", "r1 = *(u64 *)(r0 +8)\nw1 += 1\n*(u64 *)(r0 +8) = r1"),
        (
            "read behind",
            "r1 = *(u64 *)(r0 +8)\nr1 += 1\n*(u64 *)(r0 +8) = r1\n*(u64 *)(r10 -16) = r1\nr7 = *(u64 *)(r10 -16)\n*(u64 *)(r0 +0) = r7",
        ),
        (
            "a load between",
            "r1 = *(u64 *)(r0 +8)\nr7 = *(u32 *)(r0 +0)\nr1 += 1\n*(u64 *)(r0 +8) = r1\n*(u32 *)(r0 +0) = r7",
        ),
        ("not a sum", "r1 = *(u64 *)(r0 +8)\nr1 <<= 1\n*(u64 *)(r0 +8) = r1"),
        ("outside", "r1 = *(u64 *)(r0 +16)\nr1 += 1\n*(u64 *)(r0 +16) = r1"),
    ] {
        let (rows, flow_serial) = counted(body);
        assert!(
            rows.iter().all(|row| !row.starts_with("add(")) && flow_serial == (why != "other bytes"),
            "{why}: {rows:#?}"
        );
    }
    // One counter became atomic, the other stays.
    let both = format!("{count}\nr1 = *(u64 *)(r0 +0)\nr1 *= 3\n*(u64 *)(r0 +0) = r1");
    assert!(has(&both, "add((u64 *)(r0 +8), 1)") && counted(&both).1, "{:#?}", counted(&both));
}

#[test]
fn arithmetic_that_changes_nothing_goes() {
    let source = "r2 = *(u8 *)(r10 -1)\nr2 &= 255\nw3 = w2\nr0 = r3\nexit";
    assert_eq!(rows(1, source), ["r2 = ?*(u8 *)(r10 -1)", "exit r2"]);
    assert_eq!(rows_by("-rename,-forward,-stores,-plain", 1, source).len(), 4);
    // A bit may go.
    assert_eq!(rows(1, "r2 = *(u16 *)(r10 -2)\nr2 &= 255\nr0 = r2\nexit").len(), 3);
    assert_eq!(rows(1, "r2 = *(u64 *)(r10 -8)\nw3 = w2\nr0 = r3\nexit").len(), 3);
}

#[test]
fn what_is_known_on_the_way_of_a_trace_is_not_asked_again() {
    let checks = |second: &str| {
        let source = format!(
            "r2 = *(u32 *)(r1 +4)\nr3 = *(u32 *)(r1 +0)\nr4 = r3\nr4 += 34\nr0 = 1\nif r4 > r2 goto pc+7\nr4 = r3\nr4 += {second}\nif r4 > r2 goto pc+3\n\
             r0 = *(u8 *)(r3 +0)\nr0 += 9\nexit\nr0 = 3\nexit"
        );
        rows(1, &source).iter().filter(|row| row.contains("data_end")).count()
    };
    assert_eq!((checks("14"), checks("34"), checks("35")), (1, 1, 2));
    // A helper that may move the end is in between.
    let source = "
        r6 = r1
        r2 = *(u32 *)(r1 +4)
        r3 = *(u32 *)(r1 +0)
        r3 += 34
        r0 = 1
        if r3 > r2 goto pc+11
        r1 = r6
        r2 = -20
        call bpf_xdp_adjust_tail#65
        r2 = *(u32 *)(r6 +4)
        r3 = *(u32 *)(r6 +0)
        r4 = r3
        r4 += 14
        r0 = 2
        if r4 > r2 goto pc+2
        r0 = *(u8 *)(r3 +0)
        r0 += 9
        exit";
    let found = rows(1, source);
    assert_eq!(found.iter().filter(|row| row.contains("data_end")).count(), 2, "{found:#?}");
}

#[test]
fn what_was_stored_or_loaded_is_taken_from_its_register() {
    let has = |rows: &[String], part: &str| rows.iter().filter(|row| row.contains(part)).count();
    // A value is kept in the frame while r2 is something else.
    let kept = |between: &str| {
        let source = format!(
            "r2 = *(u64 *)(r10 -64)\nr2 += 3\n*(u64 *)(r10 -8) = r2\nr2 = 0\n{between}\nr0 = *(u64 *)(r10 -8)\nr0 += 1\nexit"
        );
        rows_by("-rename", 1, &source)
    };
    let forwarded = kept("call bpf_ktime_get_ns#5");
    assert_eq!((has(&forwarded, "(r10 -8)"), forwarded.len()), (0, 5), "{forwarded:#?}");
    assert_eq!(has(&rows(1, &kept_source()), "(r10 -8)"), 2);
    // Half of it is written; an unknown address may be it.
    assert_eq!(has(&kept("*(u32 *)(r10 -8) = r1"), "= ?*(u64 *)(r10 -8)"), 1);
    assert_eq!(has(&kept("r3 = *(u32 *)(r1 +12)\nr3 += r10\n*(u8 *)(r3 -64) = r1"), "= ?*(u64 *)(r10 -8)"), 1);
    // A byte of a longer value, and a number.
    let part = rows_by("-rename", 1, "r2 = *(u64 *)(r10 -64)\n*(u8 *)(r10 -1) = r2\nr0 = *(u8 *)(r10 -1)\nexit");
    assert_eq!(part, ["r0 = ?*(u64 *)(r10 -64)", "r0 = r0 & 255", "exit"]);
    assert_eq!(
        rows_by("-rename", 1, "r2 = -2\n*(u32 *)(r10 -4) = r2\nr0 = *(u32 *)(r10 -4)\nexit"),
        ["w0 = -2", "exit"]
    );
    // A field of the packet again behind a call that writes no packet.
    let field = |call: &str| {
        let source = format!(
            "r6 = *(u32 *)(r1 +0)\nr7 = *(u32 *)(r1 +4)\nr8 = r6\nr8 += 14\nr0 = 0\nif r8 > r7 goto pc+5\nr9 = *(u16 *)(r6 +12)\nr9 += 5\n\
             {call}\nr2 = *(u16 *)(r6 +12)\nr0 += r2\nr0 += r9\nexit"
        );
        rows_by("-rename", 1, &source)
    };
    assert_eq!(has(&field("call bpf_ktime_get_ns#5"), "*(u16 *)("), 1);
    assert_eq!(has(&field("*(u8 *)(r6 +13) = r9"), "*(u16 *)("), 2);
    // A value of a map is loaded again behind any other access that others see, for it may have changed with that.
    let loads = |between: &str| {
        let (shared, _) =
            counted(&format!("r7 = *(u64 *)(r0 +8)\n{between}r8 = *(u64 *)(r0 +8)\nr7 += r8\n*(u64 *)(r0 +0) = r7"));
        has(&shared, "*(u64 *)(r0 +8)")
    };
    assert_eq!(loads(""), 1);
    assert_eq!(loads("*(u64 *)(r10 -8) = r7\n"), 1);
    assert_eq!(loads("r6 = *(u64 *)(r0 +0)\n*(u64 *)(r10 -8) = r6\n"), 2);
    assert_eq!(loads("*(u64 *)(r0 +0) = r7\n"), 2);
    assert_eq!(loads("r6 = 1\nlock *(u64 *)(r0 +0) += r6\n"), 2);
}

/// A value that is kept in the frame.
fn kept_source() -> String {
    "r2 = *(u64 *)(r10 -64)\nr2 += 3\n*(u64 *)(r10 -8) = r2\nr2 = 0\ncall bpf_ktime_get_ns#5\nr0 = *(u64 *)(r10 -8)\nr0 += 1\nexit".to_owned()
}

#[test]
fn parts_of_what_was_stored_are_taken_from_its_register() {
    let source = "
        r6 = *(u32 *)(r1 +12)
        r6 *= r6
        *(u64 *)(r10 -8) = r6
        r0 = *(u32 *)(r10 -4)
        r2 = *(u16 *)(r10 -8)
        r0 += r2
        exit";
    let rows = rows_by("forward,stores", 1, source);
    let has = |part: &str| rows.iter().any(|row| row.ends_with(part));
    assert!(has(" >> 32") && has(" & 65535") && rows.iter().all(|row| !row.contains("r10")), "{rows:#?}");
    // What lies in the middle stays a load, and so does what was written again meanwhile.
    let middle = "r6 = *(u32 *)(r1 +12)\n*(u64 *)(r10 -8) = r6\nr0 = *(u16 *)(r10 -6)\nexit";
    assert!(rows_by("forward", 1, middle).iter().any(|row| row.contains("= *(u16 *)(r10 -6)")));
    let again = "r6 = *(u32 *)(r1 +12)\n*(u64 *)(r10 -8) = r6\n*(u8 *)(r10 -3) = 1\nr0 = *(u32 *)(r10 -4)\nexit";
    assert!(rows_by("forward", 1, again).iter().any(|row| row.contains("= *(u32 *)(r10 -4)")));
}

#[test]
fn a_store_to_the_frame_that_nobody_reads_goes() {
    let stores =
        |source: &str| rows_by("-rename,-forward", 1, source).iter().filter(|row| row.starts_with("*(")).count();
    assert_eq!(stores("r0 = *(u32 *)(r1 +12)\n*(u32 *)(r10 -4) = r0\nexit"), 0);
    assert_eq!(stores("r0 = *(u32 *)(r1 +12)\n*(u32 *)(r10 -4) = r0\nr0 = *(u32 *)(r10 -4)\nexit"), 1);
    // A part of it is read; all of it is written again first.
    assert_eq!(stores("r0 = *(u32 *)(r1 +12)\n*(u64 *)(r10 -8) = r0\nr0 = *(u8 *)(r10 -1)\nexit"), 1);
    assert_eq!(
        stores("r0 = *(u32 *)(r1 +12)\n*(u32 *)(r10 -4) = r0\n*(u64 *)(r10 -8) = r1\nr0 = *(u64 *)(r10 -8)\nexit"),
        1
    );
    // It is read on one of two ways.
    let either = "
        r0 = *(u32 *)(r1 +12)
        *(u32 *)(r10 -4) = r0
        if r0 == 0x7 goto pc+1
        exit
        r0 = *(u32 *)(r10 -4)
        exit";
    assert_eq!(stores(either), 1);
    // A function reads what it is given the address of; an address that is not known may be its.
    let function = "
        r2 = *(u32 *)(r1 +12)
        *(u32 *)(r10 -4) = r2
        r1 = r10
        call f
        exit
        f:
        r0 = *(u32 *)(r1 -4)
        exit";
    assert_eq!(stores(function), 1);
    let computed = "r2 = *(u32 *)(r1 +12)\n*(u32 *)(r10 -4) = r2\nr2 += r10\nr0 = *(u32 *)(r2 -19)\nexit";
    assert_eq!(stores(computed), 1);
    // A helper reads its key, and not what lies beside it.
    let keyed = |at: i32| {
        let body = "r0 = 1".to_owned();
        let source = format!("r2 = *(u32 *)(r1 +12)\n*(u32 *)(r10 {at}) = r2\n{}", lookup(&body));
        of_map("-rename,-forward,-elements", &source).0.iter().filter(|row| row.starts_with("*(")).count()
    };
    assert_eq!((keyed(-4), keyed(-8)), (1, 0));
}
