//! Entries of the message table on a tiny engine.

use crate::bench::Bench;
use crate::dispatching::FLOW;
use crate::l7::frames;
use crate::l7::rows::Rows;
use crate::l7::tenants::{quota, secrets};
use sluice_formats::Table;
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::{L7GroupRow, L7PortRow, L7TargetPart};
use sluice_formats::l7::target::Target;
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::tables::Tables;
use sluice_rtlsim::plugin::boundary::Until;

/// One packet after the other, so that the order of everything is known: entries are given out, kept, and lost by
/// finished messages exactly as in the model.
pub fn come_and_go_as_in_the_model() {
    let Some(mut bench) = Bench::open("tiny", 13) else { return };
    let mut rng = Rng::new(test_seed("l7_entries"));
    let sizes = Target::by_name("tiny");
    // The queue says which message it was.
    let group = |module| L7GroupRow { module_id: module, field: 0, slots: std::array::from_fn(|n| n as u8) };
    let tables = Tables { groups: (0..7).map(group).collect(), ..Tables::default() };
    (0..).zip(&tables.groups).for_each(|(index, row)| bench.write(Table::L7Group, index, row));
    for module in 1..7u8 {
        let otherwise = L7TargetPart::new(L7Goal::Group, module.into());
        let row = L7PortRow { valid: true, module_id: module, port: 9000, id: 7, otherwise, ..L7PortRow::default() };
        bench.write(Table::L7Port, module.into(), &row);
        bench.model.ports.push(row);
        quota(&mut bench, module, [4, 6, 8, 16, 20, 32][usize::from(module) - 1]);
    }
    secrets(&mut bench, &mut rng);
    let (mut messages, mut open, mut full) = (Vec::<(u8, u32, u8)>::new(), Vec::<(usize, u8)>::new(), 0);
    for _ in 0..4_000 {
        let turn = rng.below(10);
        let (module, message, packets, number) = if messages.is_empty() || turn < 4 && open.len() < 40 {
            let (module, packets) = (1 + rng.below(6) as u8, 1 + rng.below(3) as u8);
            // The same identity in several modules.
            let message = messages.len() as u32 / 2;
            open.push((messages.len(), 1));
            messages.push((module, message, packets));
            (module, message, packets, 0)
        } else if turn < 9 && !open.is_empty() {
            let at = rng.index(open.len());
            let (which, number) = open[at];
            let (module, message, packets) = messages[which];
            if number + 1 >= packets {
                open.swap_remove(at);
            } else {
                open[at].1 += 1;
            }
            (module, message, packets, number % packets)
        } else {
            let back = if rng.chance(1, 4) { 400 } else { 30 };
            let at = messages.len() - 1 - rng.index(messages.len().min(back));
            let (module, message, packets) = messages[at];
            (module, message, packets, rng.below(packets.into()) as u8)
        };
        let header = Header { app_id: 7, msg_id: message, msg_len_in_pkts: packets, ..Header::default() };
        let header = Header { pkt_seq_num_in_msg: number, ..header };
        // Some of them are malformed.
        let body = [1 + rng.below(100) as u8, rng.next_u32() as u8];
        bench.send(module, frames::packet(FLOW, header, &body), 0, |job| job.run(&tables));
        while bench.waiting() > 0 {
            bench.run(&Until { max_cycles: 40, ..Until::default() }, &mut None);
        }
        full += usize::from(bench.model.table.live(None) == sizes.messages);
    }
    println!("{:?}, {} evicted, {full} times full", bench.counts, bench.model.table.evicted);
    assert!(bench.model.table.evicted > 100 && full > 10 && bench.counts["l7_no_state"] > 100);
    bench.compare_counters(8);
}
