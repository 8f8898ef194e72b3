//! Instructions that passes make of several: what they take, and what they leave alone.

use crate::bundles::{lookup, of_map, rows_by};

#[test]
fn a_value_of_an_array_needs_no_call_and_no_check() {
    let found = |passes: &str, store: &str| {
        of_map(passes, &format!("r6 = r1\n{store}\n{}", lookup("r1 = *(u64 *)(r0 +8)\nr1 += 1\n*(u64 *)(r0 +8) = r1")))
            .0
    };
    let store = "*(u32 *)(r10 -4) = 3";
    let joined = "r2 = 3\nr3 = *(u32 *)(r6 +12)\n*(u32 *)(r10 -4) = r2\nif r3 == 7 goto pc+1\n*(u32 *)(r10 -8) = r3";
    assert!(found("-rename", joined).iter().any(|row| row == "r0 = map[0][3]"), "{:#?}", found("-rename", joined));
    assert_eq!(found("-rename", store), ["r0 = map[0][3]", "add((u64 *)(r0 +8), 1)", "exit 1"]);
    assert!(found("-rename,-elements", store).iter().any(|row| row.starts_with("call bpf_map_lookup_elem")));
    for (why, store) in [
        ("there is no such value", "*(u32 *)(r10 -4) = 4"),
        ("the key's register is written", "r2 = *(u32 *)(r1 +12)\n*(u32 *)(r10 -4) = r2\nr2 = 1"),
        ("a byte of it is written", "*(u32 *)(r10 -4) = 3\n*(u8 *)(r10 -2) = 7"),
        ("a byte somewhere is written", "*(u32 *)(r10 -4) = 3\nr3 = *(u32 *)(r1 +12)\nr3 += r10\n*(u8 *)(r3 -64) = r1"),
        ("it lies elsewhere", "*(u32 *)(r10 -8) = 3"),
        ("a function may write it", "*(u32 *)(r10 -4) = 3\nr1 = r10\ncall f"),
    ] {
        let source = format!(
            "r6 = r1\n{store}\n{}\nf:\nr2 = *(u32 *)(r1 -64)\n*(u32 *)(r1 -4) = r2\nr0 = 0\nexit",
            lookup("r1 = *(u64 *)(r0 +8)")
        );
        let source = if store.contains("call f") { source } else { source.split("\nf:").next().unwrap().to_owned() };
        let rows = of_map("-values,-rename", &source).0;
        assert!(rows.iter().any(|row| row.starts_with("call bpf_map_lookup_elem")), "{why}: {rows:#?}");
    }
}

#[test]
fn a_key_in_a_register_is_an_index() {
    let source = format!(
        "r7 = *(u32 *)(r1 +12)\n*(u32 *)(r10 -4) = r7\n{}",
        lookup("r1 = *(u64 *)(r0 +8)\n*(u64 *)(r0 +0) = r1")
    );
    let rows = of_map("-values,-rename", &source).0;
    assert!(rows.iter().any(|row| row == "r0 = map[0][0]"), "{rows:#?}");
    assert!(rows.iter().any(|row| row == "r0 = w7 <= 3 ? r0 + (w7 << 4) : 0"), "{rows:#?}");
    assert!(!rows.iter().any(|row| row.starts_with("call") || row.starts_with("*(u32 *)(r10")), "{rows:#?}");
}

#[test]
fn two_sums_of_one_row_are_one() {
    let counted = |body: &str| of_map("-values,-rename,-nulls", &format!("r6 = *(u32 *)(r1 +12)\n{}", lookup(body))).0;
    let has = |body: &str, part: &str| counted(body).iter().any(|row| row == part);
    let add = |at: i32, what: &str| format!("r1 = *(u64 *)(r0 +{at})\nr1 += {what}\n*(u64 *)(r0 +{at}) = r1\n");
    let both = add(0, "1") + &add(8, "r6");
    assert!(has(&both, "add((u64 *)(r0 +0), 1; r6)"), "{:#?}", counted(&both));
    let other_way = add(8, "r6") + &add(0, "1");
    assert!(has(&other_way, "add((u64 *)(r0 +0), 1; r6)"), "{:#?}", counted(&other_way));
    let swapped = add(0, "r6") + &add(8, "-3");
    assert!(has(&swapped, "add((u64 *)(r0 +0), r6; -3)"), "{:#?}", counted(&swapped));
    for (why, body) in [
        ("two numbers", add(0, "1") + &add(8, "2")),
        ("two registers", add(0, "r6") + &add(8, "r6")),
        ("one word", add(0, "1") + &add(0, "r6")),
        ("one is told", add(0, "1") + "r1 = r6\nlock *(u64 *)(r0 +8) += r1\nr1 = *(u64 *)(r0 +8)"),
        ("others may see the first before", add(0, "1") + "r2 = *(u64 *)(r0 +0)\nr6 = r2\n" + &add(8, "r6")),
    ] {
        let pairs = counted(&body).iter().filter(|row| row.contains("; ")).count();
        assert_eq!(pairs, usize::from(why == "one is told"), "{why}: {:#?}", counted(&body));
    }
}

#[test]
fn a_mask_that_is_compared_with_zero_is_a_branch() {
    let rows = |source: &str| rows_by("-values,-rename,-forward,-stores", 1, source);
    let of = |first: &str, test: &str| {
        format!("r2 = *(u32 *)(r1 +12)\n{first}\nif {test} goto pc+2\nr0 = 2\nexit\nr0 = 1\nexit")
    };
    let clear = rows(&of("r3 = r2\nw3 &= 6", "r3 == 0"));
    assert!(clear.iter().any(|row| row.starts_with("if !(w2 & 6) goto")), "{clear:#?}");
    let set = rows(&of("r3 = r2\nr3 &= 6", "r3 != 0"));
    assert!(set.iter().any(|row| row.starts_with("if r2 & 6 goto")), "{set:#?}");
    let written = rows(&of("r3 = r2\nr3 &= 6\nr2 += 1", "r3 == 0"));
    assert!(written.iter().any(|row| row.contains("r3 == 0")), "{written:#?}");
    let other = rows(&of("r3 = r2\nr3 &= 6", "r3 == 2"));
    assert!(other.iter().any(|row| row.contains("r3 == 2")), "{other:#?}");
}

#[test]
fn a_verdict_is_not_set_before_a_branch_to_an_exit() {
    let rows = |source: &str| rows_by("-values,-rename", 2, source);
    let source = "r2 = *(u32 *)(r1 +12)\nr0 = 1\nif r2 == 7 goto pc+3\nr0 = 2\nif r2 == 8 goto pc+1\nr0 = *(u32 *)(r1 +16)\nexit";
    let found = rows(source);
    assert!(found.iter().any(|row| row == "exit 1") && found.iter().any(|row| row == "exit 2"), "{found:#?}");
    assert!(!found.iter().any(|row| row.contains("r0 = 1") || row.contains("r0 = 2")), "{found:#?}");
}

#[test]
fn a_count_before_the_end_needs_no_branch() {
    let source = |body: &str, verdict: i32| {
        format!(
            "r6 = *(u32 *)(r1 +12)\nr7 = {verdict}\nr2 = r10\nr2 += -4\n*(u32 *)(r10 -4) = r6\nr1 = map[values]\ncall bpf_map_lookup_elem#1\n{body}\nr0 = r7\nexit"
        )
    };
    let count = "if r0 == 0 goto pc+3\nr1 = *(u64 *)(r0 +8)\nr1 += 1\n*(u64 *)(r0 +8) = r1";
    let rows = of_map("all", &source(count, 2)).0;
    assert!(rows.iter().any(|row| row.starts_with("add(?(u64 *)(r")), "{rows:#?}");
    assert!(!rows.iter().any(|row| row.starts_with("if")), "{rows:#?}");
    for (why, body) in [
        ("another verdict", "if r0 == 0 goto pc+4\nr1 = *(u64 *)(r0 +8)\nr1 += 1\n*(u64 *)(r0 +8) = r1\nr7 = 1"),
        ("a store", "if r0 == 0 goto pc+1\n*(u64 *)(r0 +8) = r6"),
        ("a sum elsewhere", "if r0 == 0 goto pc+2\nr1 = 1\nlock *(u64 *)(r10 -16) += r1"),
        (
            "its result is asked for",
            "if r0 == 0 goto pc+3\nr1 = 1\nr1 = atomic64_fetch_add((u64 *)(r0 +8), r1)\nr7 = r1",
        ),
    ] {
        let rows = of_map("all", &source(body, 2)).0;
        assert!(rows.iter().any(|row| row.starts_with("if")), "{why}: {rows:#?}");
    }
}

#[test]
fn an_exit_stands_behind_the_redirect_that_gives_its_verdict() {
    let rows = |source: &str| rows_by("all", 2, source);
    let redirect = rows("r1 = 3\nr2 = 0\ncall bpf_redirect#23\nexit");
    assert!(redirect.iter().any(|row| row == "call bpf_redirect | exit"), "{redirect:#?}");
    // Another helper's result, and a redirect's that is changed.
    let other = rows("call bpf_get_prandom_u32#7\nexit");
    assert!(other.iter().any(|row| row == "call bpf_get_prandom_u32"), "{other:#?}");
    let changed = rows("r1 = 3\nr2 = 0\ncall bpf_redirect#23\nr0 &= 1\nexit");
    assert!(changed.iter().any(|row| row == "call bpf_redirect"), "{changed:#?}");
}

#[test]
fn neighbouring_stores_and_loads_are_one_where_memory_is_waited_for() {
    let rows = |source: &str| rows_by("all", 2, source);
    // Bytes of both are read afterwards.
    let key = |second: &str, between: &str| {
        format!(
            "r6 = *(u32 *)(r1 +12)\nr7 = *(u32 *)(r1 +16)\nr8 = *(u32 *)(r10 -40)\n*(u32 *)(r10 -8) = r6\n{between}*(u32 *)(r10 {second}) = r7\n\
             r0 = *(u32 *)(r10 -6)\nr0 += r8\nexit"
        )
    };
    let packed = rows(&key("-4", ""));
    assert!(packed.iter().any(|row| row.contains("pack32(")), "{packed:#?}");
    assert!(!packed.iter().any(|row| row.contains("*(u32 *)(r10 -8)")), "{packed:#?}");
    for (why, source) in [
        ("they are no neighbours", key("-24", "")),
        ("the way parts between", key("-4", "if r6 == 9 goto pc+3\nr8 = 1\n")),
        ("it is written between", key("-4", "*(u16 *)(r10 -6) = 7\n")),
    ] {
        let rows = rows(&source);
        assert!(!rows.iter().any(|row| row.contains("pack")), "{why}: {rows:#?}");
    }
}
