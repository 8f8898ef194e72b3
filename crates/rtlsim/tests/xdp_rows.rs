//! Rows of the XDP engine in RTL: whose they are, what is none, and what they mean where programs seldom come.

use crate::programs;
use crate::xdp::engine::{Engine, MODULE, PASS, REGIONS, Rows, WORK, open_tiny};
use crate::xdp::pair::{Pair, image};
use sluice_ebpf::{Image, MapType};
use sluice_formats::limits::packet_id;
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::XdpOp;
use sluice_formats::xdp::rows::{XdpPageRow, XdpProgramRow, XdpRegionRow};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_formats::{Node, Op, Reason, Status, Table};

/// Offers one packet, and gives why it was dropped, or where it went.
fn fate_of(engine: &mut Engine, module: u8, number: u32) -> Result<u8, Reason> {
    engine.offer(packet_id(0, number), module, &[0; 64]);
    engine.end(1);
    engine.quiesce();
    let verdict = engine.verdicts.pop().expect("it ended");
    engine.routed.clear();
    if verdict.dropped { Err(Reason::from_code(verdict.reason).unwrap()) } else { Ok(verdict.destinations) }
}

#[test]
fn a_packet_without_a_program_goes_on_and_foreign_rows_end_it() {
    let Some((mut engine, _)) = open_tiny("a_packet_without_a_program_goes_on") else { return };
    let start = PAGE_ROWS as u16;
    assert_eq!(fate_of(&mut engine, MODULE, 0), Ok(0), "no program, no route");
    let rows = Rows::compiled("r0 = 2\nexit\n", start);
    engine.load(MODULE, 0, &rows, start);
    assert_eq!(fate_of(&mut engine, MODULE, 1), Ok(1 << PASS));
    assert_eq!(fate_of(&mut engine, MODULE + 1, 2), Ok(0), "another module has none");
    assert_eq!(fate_of(&mut engine, MODULE + 8, 3), Ok(0), "nor has one that the target has not");
    // Another module's rows, rows of nobody, and rows behind the last page.
    let page = XdpPageRow { valid: true, module_id: MODULE + 1, next: 1 };
    engine.write(Table::XdpPage, 1, &page);
    assert_eq!(fate_of(&mut engine, MODULE, 4), Err(Reason::XdpAborted), "a foreign page");
    engine.write(Table::XdpPage, 1, &XdpPageRow { valid: false, module_id: MODULE, next: 1 });
    assert_eq!(fate_of(&mut engine, MODULE, 5), Err(Reason::XdpAborted), "a page of nobody");
    let program = XdpProgramRow { start: 1023, ..Engine::program(&rows, start) };
    engine.write(Table::XdpProgram, 2 * u32::from(MODULE), &program);
    assert_eq!(fate_of(&mut engine, MODULE, 6), Err(Reason::XdpAborted), "the last row, of nobody");
    // What was dropped is counted by kind.
    let aborted = engine.read(Table::XdpDrops, 8 * u32::from(MODULE) + Reason::XdpAborted.kind());
    assert_eq!(aborted, [3, 0]);
    // Rows that there are not, and words that a row has not.
    let asked = engine.ask(Op::Read, Node::Xdp, Table::XdpCode, 1024, Vec::new());
    assert_eq!(asked.0, Status::BadAddress);
    assert_eq!(engine.ask(Op::Write, Node::Xdp, Table::XdpPage, 1, vec![0, 0]).0, Status::BadLength);
    assert_eq!(engine.ask(Op::Write, Node::Xdp, Table::XdpDrops, 1, vec![0, 0]).0, Status::ReadOnly);
}

#[test]
fn a_program_reaches_only_values_of_its_own_module() {
    let Some((mut engine, _)) = open_tiny("a_program_reaches_only_values_of_its_own_module") else { return };
    let start = PAGE_ROWS as u16;
    let region = XdpRegionRow {
        valid: true,
        module_id: MODULE,
        outside: false,
        base: 3,
        bytes: 64,
        shift: 4,
        readable: 12,
        writable: 8,
        lock: 0,
    };
    let row = u32::from(REGIONS);
    engine.write(Table::XdpRegion, row, &region);
    let mut number = 0;
    let mut tried = |engine: &mut Engine, statement: &str| {
        let rows = Rows::compiled(&format!("r1 = 0x40000000\n{statement}\nr0 = 2\nexit\n"), start);
        engine.load(MODULE, 0, &rows, start);
        number += 1;
        fate_of(engine, MODULE, number)
    };
    let (on, fault) = (Ok(1 << PASS), Err(Reason::XdpAborted));
    for (statement, expected) in [
        ("r0 = *(u64 *)(r1 +0)", on),
        ("r0 = *(u64 *)(r1 +4)", on),
        ("r0 = *(u64 *)(r1 +5)", fault),
        ("r0 = *(u64 *)(r1 +52)", on),
        ("r0 = *(u64 *)(r1 +64)", fault),
        ("*(u64 *)(r1 +48) = r0", on),
        ("*(u64 *)(r1 +49) = r0", fault),
        ("*(u8 *)(r1 +8) = r0", fault),
        ("lock *(u64 *)(r1 +16) += r0", on),
        ("lock *(u64 *)(r1 +20) += r0", fault),
        ("lock *(u32 *)(r1 +20) += r0", on),
        ("r1 += 65536\nr0 = *(u8 *)(r1 +0)", fault),
        ("r1 -= 1\nr0 = *(u8 *)(r1 +0)", fault),
        ("r1 += 0x40000000\nr0 = *(u8 *)(r1 +0)", fault),
    ] {
        assert_eq!(tried(&mut engine, statement), expected, "{statement}");
    }
    engine.write(Table::XdpRegion, row, &XdpRegionRow { module_id: MODULE + 1, ..region });
    assert_eq!(tried(&mut engine, "r0 = *(u64 *)(r1 +0)"), fault, "another module's");
    engine.write(Table::XdpRegion, row, &XdpRegionRow { valid: false, ..region });
    assert_eq!(tried(&mut engine, "r0 = *(u64 *)(r1 +0)"), fault, "nobody's");
    // The neighbour's page lies behind the module's own ones.
    engine.write(Table::XdpRegion, row + 8, &region);
    assert_eq!(tried(&mut engine, "r1 += 0x80000\nr0 = *(u64 *)(r1 +0)"), fault, "beyond its pages");
}

#[test]
fn rows_come_back_as_they_were_written() {
    let Some((mut engine, mut rng)) = open_tiny("rows_come_back_as_they_were_written") else { return };
    for (table, rows) in [(Table::XdpCode, 1024), (Table::XdpValue, 1024), (Table::XdpPage, 16), (Table::XdpMap, 16)] {
        for _ in 0..20 {
            let index = rng.below(rows) as u32;
            let bits = match table {
                Table::XdpCode => 160,
                Table::XdpValue => 256,
                Table::XdpPage => XdpPageRow::width(),
                _ => sluice_formats::xdp::rows::XdpMapRow::width(),
            };
            let mut words: Vec<u32> = (0..bits.div_ceil(32)).map(|_| rng.next_u32()).collect();
            if let (Some(last), 1..) = (words.last_mut(), bits % 32) {
                *last &= (1 << (bits % 32)) - 1;
            }
            assert_eq!(engine.ask(Op::Write, Node::Xdp, table, index, words.clone()).0, Status::Ok);
            assert_eq!(engine.read(table, index), words, "{} {index}", table.name());
        }
    }
}

#[test]
fn a_verdict_that_there_is_not_drops_the_packet() {
    let Some((mut engine, mut rng)) = open_tiny("a_verdict_that_there_is_not_drops_the_packet") else { return };
    for verdict in [5, 9, 10, 11, 0x103, -1] {
        let mut pair = Pair::new(&mut engine, image(&format!("r0 = {verdict}\nexit\n"))).expect("the engine has it");
        pair.send(&mut engine, 0, 0, &rng.bytes(60));
        assert_eq!(pair.compare(&mut engine), 0, "{verdict}");
    }
}

#[test]
fn pages_follow_each_other_as_their_rows_say() {
    let Some((mut engine, _)) = open_tiny("pages_follow_each_other_as_their_rows_say") else { return };
    let start = PAGE_ROWS as u16;
    // One bundle after the other, for more than a page: each needs what the one before gave.
    let text =
        "r2 = *(u32 *)(r1 +12)\n".to_owned() + &"r2 += 3\nr2 = -r2\n".repeat(50) + "r0 = r2\nr0 &= 1\nr0 += 1\nexit\n";
    let mut rows = Rows::compiled(&text, start);
    let page = usize::from(start);
    assert!(rows.code.len() > page && rows.code.len() < 2 * page, "{}", rows.code.len());
    let behind = rows.code.split_off(page);
    engine.load(MODULE, 0, &rows, start);
    for (row, code) in (5 * PAGE_ROWS as u32..).zip(&behind) {
        engine.write(Table::XdpCode, row, code);
    }
    engine.write(Table::XdpPage, 1, &XdpPageRow { valid: true, module_id: MODULE, next: 5 });
    engine.write(Table::XdpPage, 2, &XdpPageRow::default());
    engine.write(Table::XdpPage, 5, &XdpPageRow { valid: true, module_id: MODULE, next: 0 });
    assert_eq!(fate_of(&mut engine, MODULE, 0), Ok(1 << PASS), "its own page behind");
    engine.write(Table::XdpPage, 5, &XdpPageRow { valid: true, module_id: MODULE + 1, next: 0 });
    assert_eq!(fate_of(&mut engine, MODULE, 1), Err(Reason::XdpAborted), "a foreign page behind");
}

#[test]
fn a_load_that_may_not_fault_sees_nothing_of_another_packet() {
    let Some((mut engine, _)) = open_tiny("a_load_that_may_not_fault_sees_nothing") else { return };
    let start = PAGE_ROWS as u16;
    // Packets before have filled the memory.
    let rows = Rows::compiled("r0 = 1\nexit\n", start);
    engine.load(MODULE, 0, &rows, start);
    for number in 0..20 {
        engine.offer(packet_id(0, number), MODULE, &[0xff; 9000]);
        engine.end(number as usize + 1);
    }
    engine.quiesce();
    engine.verdicts.clear();
    let text = "r8 = *(u32 *)(r1 +0)\nr6 = 0x20001000\nr2 = *(u64 *)(r6 +0)\n*(u64 *)(r8 +0) = r2\nr0 = 2\nexit\n";
    let mut rows = Rows::compiled(text, start);
    engine.load(MODULE, 0, &rows, start);
    assert_eq!(fate_of(&mut engine, MODULE, 30), Err(Reason::XdpAborted), "behind the frame");
    let mut loads = 0;
    for lane in rows.code.iter_mut().flat_map(|code| &mut code.lanes) {
        if lane.op == XdpOp::Load8.code() {
            lane.wide = true;
            loads += 1;
        }
    }
    assert_eq!(loads, 1);
    engine.load(MODULE, 0, &rows, start);
    engine.offer(packet_id(0, 31), MODULE, &[0x55; 64]);
    engine.end(1);
    engine.quiesce();
    let (_, bytes) = engine.routed.remove(&packet_id(0, 31)).expect("it goes on");
    assert_eq!(bytes[..8], [0; 8], "where there is nothing, there are zeros");
}

#[test]
fn an_exit_in_the_place_of_a_jump_back_counts_as_work() {
    let Some((mut engine, _)) = open_tiny("an_exit_in_the_place_of_a_jump_back_counts_as_work") else { return };
    // As many jumps back as the frame's first bytes say, and one more, to the exit: behind a number, and in the bundle of a sum in a map.
    for (sum, map) in
        [("", None), ("lock *(u64 *)(r9 +0) += r8\n", Some(programs::map("values", MapType::Array, 8, 1)))]
    {
        let found = "r9 = r1\nr1 = map[values]\nr2 = r10\nr2 += -4\n*(u32 *)(r10 -4) = 0\ncall bpf_map_lookup_elem#1\nif r0 != 0 goto found\n\
                     exit\nfound:\nr1 = r9\nr9 = r0\n";
        let text = format!(
            "{}r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 14\nr0 = 1\nif r3 > r2 goto out\n\
             r7 = *(u16 *)(r6 +0)\ngoto round\nout:\nexit\nround:\nif r7 == 0 goto done\nr7 += -1\ngoto round\n\
             done:\nr8 = *(u8 *)(r6 +2)\nr0 = 3\n{sum}goto out\n",
            if map.is_some() { found } else { "" }
        );
        let program = sluice_ebpf::insn::assemble("rounds", &text, &["values"]).unwrap_or_else(|e| panic!("{e}"));
        let program = sluice_ebpf::Program { section: "xdp".into(), ..program };
        let image = Image { programs: vec![program], maps: map.into_iter().collect(), ..Image::default() };
        let mut pair = Pair::new(&mut engine, image).expect("the engine has all of it");
        let listing = pair.listing();
        assert!(sum.is_empty() || listing.lines().any(|line| line.contains(".1  exit 3")), "{listing}");
        for (n, rounds) in (0..).zip([0, 1, WORK as u16 - 2, WORK as u16 - 1, WORK as u16, WORK as u16 + 1]) {
            let mut frame = [0; 64];
            frame[..2].copy_from_slice(&rounds.to_le_bytes());
            frame[2] = 3;
            pair.send(&mut engine, 0, n, &frame);
        }
        assert_eq!(pair.faults(), 2);
        pair.compare(&mut engine);
    }
}

#[test]
fn compare_and_exchange_of_four_bytes_compares_four() {
    let Some((mut engine, mut rng)) = open_tiny("compare_and_exchange_of_four_bytes_compares_four") else { return };
    for expected in ["5", "0x100000005", "0x6ffffffff"] {
        let text = format!(
            "r6 = *(u32 *)(r1 +0)\nr2 = 5\n*(u32 *)(r10 -8) = r2\nr0 = {expected}\nr2 = 9\n\
             r0 = atomic_cmpxchg((u32 *)(r10 -8), r0, r2)\n*(u64 *)(r6 +0) = r0\nr2 = *(u32 *)(r10 -8)\n\
             *(u32 *)(r6 +8) = r2\nr0 = 3\nexit\n"
        );
        let mut pair = Pair::new(&mut engine, image(&text)).expect("the engine has all of it");
        pair.send(&mut engine, 0, 0, &rng.bytes(60));
        assert_eq!(pair.compare(&mut engine), 1, "{expected}");
    }
}
