//! Loads, rows and replacements.

use super::bench::{Bench, RED, RawLoad, tagged_frame};
use crate::device::{Device, DeviceError, Verdict};
use sluice_formats::address::Access;
use sluice_formats::rows::{EntryRow, GenerationRow, OverlayRow, QuantumRow, VlanRow, mac_bits};
use sluice_formats::{Node, Row, Table};
use sluice_object::Step;

pub(super) fn rows_read_back(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let entry = EntryRow {
        generations: 0,
        module_id: 3,
        key: 0x1234_5678_9abc_def0_1234,
        destinations: 0x55,
        except_ingress: true,
        set_dmac: true,
        dmac: mac_bits([1, 2, 3, 4, 5, 6]),
    };
    let set = target.sets - 1;
    let vlan = VlanRow { valid: false, keep_tag: true, module_id: 3, tenant: 4095 };
    let load = RawLoad::new(&target, "rows")
        .row(Node::Match, Table::Way3, set, &entry)
        .row(Node::Port(2), Table::Vlan, 4095, &vlan)
        .row(Node::Egress, Table::Quantum, 3, &QuantumRow { bytes: 77 })
        .load();
    bench.run_load(&load);
    let mut read = |node, table, index| bench.device.read_row(node, table, index).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(EntryRow::unpack(&read(Node::Match, Table::Way3, set)), Ok(entry));
    assert_eq!(VlanRow::unpack(&read(Node::Port(2), Table::Vlan, 4095)), Ok(vlan));
    assert_eq!(VlanRow::unpack(&read(Node::Port(1), Table::Vlan, 4095)), Ok(VlanRow::default()));
    assert_eq!(read(Node::Egress, Table::Quantum, 3), [77]);
}

pub(super) fn loads_run_in_order(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let quantum =
        |bytes| RawLoad::new(&target, "quantum").row(Node::Egress, Table::Quantum, 1, &QuantumRow { bytes }).load();
    let ops: Vec<_> =
        (1..=5).map(|bytes| bench.device.submit(&quantum(bytes)).unwrap_or_else(|e| panic!("{e}"))).collect();
    let mut sorted = ops.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 5, "operations have numbers of their own");
    bench.rest();
    for op in ops {
        assert_eq!(bench.done.get(&op), Some(&Ok(())));
    }
    assert_eq!(bench.device.read_row(Node::Egress, Table::Quantum, 1), Ok(vec![5]));
}

pub(super) fn a_failing_load_says_where(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let bad = RawLoad::new(&target, "bad")
        .row(Node::Egress, Table::Quantum, 1, &QuantumRow { bytes: 9 })
        .step(Step::Barrier)
        .row(Node::Egress, Table::Quantum, target.modules, &QuantumRow { bytes: 9 })
        .step(Step::Barrier)
        .row(Node::Egress, Table::Quantum, 2, &QuantumRow { bytes: 9 })
        .load();
    let good = RawLoad::new(&target, "good").row(Node::Egress, Table::Quantum, 3, &QuantumRow { bytes: 8 }).load();
    let (bad, good) = (bench.device.submit(&bad), bench.device.submit(&good));
    bench.rest();
    let result = |op: Result<_, DeviceError>| op.ok().and_then(|op| bench.done.get(&op).cloned());
    match result(bad) {
        Some(Err(DeviceError::Step { label, step: 2, what })) => {
            assert_eq!(label, "bad");
            assert!(what.contains("bad_address"), "{what}");
        }
        other => panic!("a write to a row that does not exist ended with {other:?}"),
    }
    assert_eq!(result(good), Some(Ok(())));
    let mut quantum = |module| bench.device.read_row(Node::Egress, Table::Quantum, module);
    assert_eq!(quantum(1), Ok(vec![9]), "the steps before the bad one are done");
    assert_eq!(quantum(2), Ok(vec![1500]), "the steps behind it are not");
    assert_eq!(quantum(3), Ok(vec![8]));
}

/// Packets that may be under way when more are offered; with these a round fits into the smallest queue.
const MOST_BEHIND: usize = 6;
/// Waits of ten ticks for a slow device, then more is offered all the same.
const MAX_WAITS: usize = 10_000;

/// Old and new differ in destination and MAC, so that a mixture shows.
pub(super) fn replacement_is_consistent(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let module = RED.0;
    let sides = [(0u8, [2, 0, 0, 0, 0, 0xaa]), (3, [2, 0, 0, 0, 0, 0xbb])];
    let overlay = |side: usize| OverlayRow {
        valid: true,
        destinations: 1 << sides[side].0,
        set_dmac: true,
        dmac: mac_bits(sides[side].1),
        ..Default::default()
    };
    let replace = |side: usize| {
        let generation = side as u8;
        RawLoad::new(&target, "replace")
            .step(Step::WaitDrained { module, generation })
            .row(Node::Match, Table::Overlay, 2 * u32::from(module) + side as u32, &overlay(side))
            .step(Step::Barrier)
            .step(Step::Commit { module, generation })
            .step(Step::WaitDrained { module, generation: 1 - generation })
            .row(Node::Match, Table::Overlay, 2 * u32::from(module) + 1 - side as u32, &OverlayRow::default())
            .load()
    };
    bench.run_load(&replace(1));
    bench.run_load(&replace(0));
    let (rounds, each) = (18usize, 10u32);
    let mut ops = Vec::new();
    for round in 0..rounds {
        bench.offer(1, (0..each).map(|i| tagged_frame(10, 60, round as u32 * each + i)));
        ops.push(bench.device.submit(&replace(1 - round % 2)).unwrap_or_else(|e| panic!("{e}")));
        bench.advance(60);
        // A device whose outputs stall may drop what exceeds a queue: that is another check's matter.
        let offered = (round + 1) * each as usize;
        for _ in 0..MAX_WAITS {
            if bench.outcomes.len() + MOST_BEHIND >= offered {
                break;
            }
            bench.advance(10);
        }
    }
    bench.rest();
    assert!(ops.iter().all(|op| bench.done.get(op) == Some(&Ok(()))), "{:?}", bench.done);
    assert_eq!(bench.outcomes.len(), rounds * each as usize, "no packet is lost");
    for outcome in &bench.outcomes {
        let side = usize::from(outcome.generation.unwrap_or(9));
        let (port, mac) = sides[side];
        assert_eq!(outcome.verdict, Verdict::Forwarded { port }, "generation {side}");
        assert_eq!(outcome.bytes[..6], mac, "generation {side}");
    }
    let row =
        bench.device.read_row(Node::Stamp, Table::Generation, u32::from(module)).unwrap_or_else(|e| panic!("{e}"));
    let expected = GenerationRow { current: rounds % 2 == 1, in_flight_0: 0, in_flight_1: 0 };
    assert_eq!(GenerationRow::unpack(&row), Ok(expected));
}

pub(super) fn snapshot_holds_every_row(device: &mut dyn Device) {
    let bench = Bench::with_tenants(device);
    let target = bench.target();
    let rows = bench.device.snapshot().unwrap_or_else(|e| panic!("{e}"));
    let count: u32 = Node::all(&target)
        .into_iter()
        .flat_map(|node| Table::ALL.into_iter().filter(move |t| t.is_of(node) && t.access() == Access::ReadWrite))
        .map(|table| table.rows(&target))
        .sum();
    assert_eq!(rows.len(), count as usize);
    let at = |node: Node, table: Table, index| rows.get(&(node.number(), table.number(), index)).cloned();
    assert_eq!(at(Node::Egress, Table::Quantum, 1), Some(vec![1500]));
    let vlan = VlanRow { valid: true, keep_tag: false, module_id: RED.0, tenant: RED.1 };
    assert_eq!(at(Node::Port(3), Table::Vlan, 10), vlan.pack().ok());
    assert_eq!(at(Node::Match, Table::Way2, 0), Some(vec![0; 6]));
}
