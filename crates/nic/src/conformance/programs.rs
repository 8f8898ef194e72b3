//! What the host sees of a program of the rmt pipeline: tags, queue, state words, hit counters.

use super::bench::{BLUE, Bench, RED, RawLoad, tagged_frame};
use sluice_device::{Device, Verdict};
use sluice_formats::rmt::rows::{KeyRow, PageRow};
use sluice_formats::rmt::target::{MODULE_PAGES, PAGE_WORDS};
use sluice_formats::row::Row;
use sluice_formats::{Node, Table};
use sluice_object::linker::rmt::Quota;
use sluice_rmt::text;
use std::sync::Arc;

/// Counts its packets in a state word, and sends each to a group.
const COUNTER: &str = "\
module counter
group both = 1 { port1 tag 11; host0 tag 22 }
parser {
    select 12:2 { 0x88b5 -> plain }
    path plain { least 14 }
}
stage 1 {
    memory seen words 64
    default count
    action count {
        group both
        queue 5
        seen[0] += 1
    }
}
deparser { row same {} }
";

/// Packets that the program sees.
const PACKETS: u32 = 7;

pub(super) fn tags_state_and_hits(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let unit = text::read("counter.rmt", COUNTER, &target.rmt).unwrap_or_else(|e| panic!("{e}"));
    let part = Arc::new(unit.part(&target.rmt).unwrap_or_else(|e| panic!("{e}")));
    // Another module than those of the other checks: with room for state.
    let module = 3;
    let mut load = RawLoad::new(&target, "counter");
    let quota = Quota::of(&part, 0xff);
    load = load.rows(bench.placer.admit(module, "counter", quota).unwrap_or_else(|e| panic!("{e}")));
    let placed = bench.placer.place(module, 0, &part).unwrap_or_else(|e| panic!("{e}"));
    load = load.rows(placed.zero).step(sluice_object::Step::Barrier).rows(placed.rows);
    let vlan = sluice_formats::rows::VlanRow { valid: true, keep_tag: false, module_id: module, tenant: 300 };
    load = load.row(Node::Port(0), Table::Vlan, 30, &vlan);
    for destination in 0..target.destinations() {
        let queue = destination * target.modules + u32::from(module);
        load = load.row(Node::Egress, Table::Limit, queue, &sluice_formats::rows::LimitRow { cells: 100, reserve: 0 });
    }
    bench.run_load(&load.load());
    let stage = Node::Stage(1);
    let read = |bench: &mut Bench<'_>, table, index| -> Vec<u32> {
        bench.device.read_row(stage, table, index).unwrap_or_else(|e| panic!("{e}"))
    };
    let bank = 2 * u32::from(module);
    let key = KeyRow::unpack(&read(&mut bench, Table::Key, bank)).unwrap_or_default();
    let counter = u32::from(key.hits_base + key.default_number);
    let hits = read(&mut bench, Table::Hits, counter)[0];
    bench.offer(
        0,
        (0..PACKETS).flat_map(|i| [tagged_frame(30, 60, i), tagged_frame(10, 60, i), tagged_frame(20, 60, i)]),
    );
    bench.rest();

    let of = |outcome: &&sluice_device::Outcome| outcome.module == module;
    let copies: Vec<_> = bench.outcomes.iter().filter(of).map(|o| (o.verdict, o.queue, o.tag)).collect();
    let port = (Verdict::Forwarded { port: 1 }, 5, 11);
    let host = (Verdict::Delivered { queue: 0 }, 5, 22);
    for wanted in [port, host] {
        let found = copies.iter().filter(|copy| **copy == wanted).count();
        assert_eq!(found, PACKETS as usize, "{wanted:?} of {copies:?}");
    }
    assert_eq!(copies.len(), 2 * PACKETS as usize);
    let plain = bench.outcomes.iter().filter(|o| o.module == RED.0 || o.module == BLUE.0);
    assert!(plain.into_iter().all(|o| (o.queue, o.tag) == (0, 0)), "no group, no tag");

    let page = PageRow::unpack(&read(&mut bench, Table::Page, MODULE_PAGES as u32 * bank)).unwrap_or_default();
    assert!(page.valid);
    let word = |i| PAGE_WORDS as u32 * u32::from(page.page) + i;
    let words = [0, 1].map(|i| read(&mut bench, Table::StateWord, word(i)));
    assert_eq!(words, [[PACKETS], [0]]);
    // Counters outlive a reset.
    assert_eq!(read(&mut bench, Table::Hits, counter)[0].wrapping_sub(hits), PACKETS);
}
