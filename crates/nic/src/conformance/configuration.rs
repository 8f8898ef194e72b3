//! Loads, rows and replacements.

use super::bench::{Bench, RED, RawLoad, tagged_frame};
use sluice_device::{Device, DeviceError, Verdict};
use sluice_formats::address::Access;
use sluice_formats::rmt::rows::{ActionRow, ExactRow};
use sluice_formats::row::Wide;
use sluice_formats::rows::{GenerationRow, QuantumRow, VlanRow};
use sluice_formats::{EngineId, Node, Row, Table};
use sluice_object::Step;
use sluice_rmt::programs::send::Send;

pub(super) fn rows_read_back(device: &mut dyn Device) {
    let mut bench = Bench::with_tenants(device);
    let target = bench.target();
    let (stage, set) = (Node::Stage(1), Table::Exact(3).rows(&target) - 1);
    let mut key = Wide([0; 25]);
    key.0[..10].copy_from_slice(&[0x34, 0x12, 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12]);
    let entry = ExactRow { generations: 0, module_id: 3, key, action: 5, number: 17 };
    // A row of many messages' worth of words.
    let mut action = ActionRow { owner: 3, immediate2: [7; 8], mask6: [0xffff_ffff_ffff; 8], ..ActionRow::default() };
    action.words[6].mask = 0x8001;
    let row = target.rmt.actions as u32 - 1;
    let vlan = VlanRow { valid: false, keep_tag: true, module_id: 3, tenant: 4095 };
    let load = RawLoad::new(&target, "rows")
        .layout(stage, Table::Exact(3), set, &entry)
        .layout(stage, Table::Action, row, &action)
        .row(Node::Port(2), Table::Vlan, 4095, &vlan)
        .row(Node::Egress, Table::Quantum, 3, &QuantumRow { bytes: 77 })
        .load();
    bench.run_load(&load);
    let mut read = |node, table, index| bench.device.read_row(node, table, index).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(ExactRow::unpack(&read(stage, Table::Exact(3), set)), Ok(entry));
    assert_eq!(ActionRow::unpack(&read(stage, Table::Action, row)), Ok(action));
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
        Some(Err(DeviceError::Step { label, step: 2, error })) => {
            assert_eq!(label, "bad");
            assert!(error.to_string().contains("bad_address"), "{error}");
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
    let replace = |bench: &mut Bench<'_>, side: usize| {
        let (generation, (port, mac)) = (side as u8, sides[side]);
        let send = Send { destinations: 1 << port, dmac: Some(mac), ..Send::default() };
        RawLoad::new(&target, "replace")
            .step(Step::WaitDrained { module, generation })
            .rows(bench.sends(module, generation, &send))
            .step(Step::Barrier)
            .step(Step::Commit { module, generation })
            .step(Step::WaitDrained { module, generation: 1 - generation })
            .rows(bench.clears(module, 1 - generation))
            .load()
    };
    for side in [1, 0] {
        let load = replace(&mut bench, side);
        bench.run_load(&load);
    }
    let (rounds, each) = (18usize, 10u32);
    let mut ops = Vec::new();
    for round in 0..rounds {
        bench.offer(1, (0..each).map(|i| tagged_frame(10, 60, round as u32 * each + i)));
        let load = replace(&mut bench, 1 - round % 2);
        ops.push(bench.device.submit(&load).unwrap_or_else(|e| panic!("{e}")));
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
    let has = bench.device.capabilities().clone();
    let nodes = Node::every(&target).into_iter().filter(|node| match node.engine() {
        Some(EngineId::XDP) => has.xdp_in_hardware,
        engine => engine.is_none_or(|engine| has.engines.contains(&engine)),
    });
    let count: u32 = nodes
        .flat_map(|node| Table::ALL.into_iter().filter(move |t| t.is_of(node) && t.access() == Access::ReadWrite))
        .map(|table| table.rows(&target))
        .sum();
    assert_eq!(rows.len(), count as usize);
    let at = |node: Node, table: Table, index| rows.get(&(node.number(), table.number(), index)).cloned();
    assert_eq!(at(Node::Egress, Table::Quantum, 1), Some(vec![1500]));
    let vlan = VlanRow { valid: true, keep_tag: false, module_id: RED.0, tenant: RED.1 };
    assert_eq!(at(Node::Port(3), Table::Vlan, 10), vlan.pack().ok());
    let owner = at(Node::Stage(0), Table::StageOwner, 0);
    assert_eq!(owner, Some(vec![1]));
    assert_eq!(at(Node::Stage(1), Table::Action, 0).map(|row| row.len()), Some(Table::Action.words()));
}
