//! A module is handed on only when nothing of its last owner is in the software NIC.

use sluice_device::{Device, Event, Offer};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::rows::{PortPolicyRow, VlanRow};
use sluice_formats::target::TINY;
use sluice_formats::{Node, Row, Table};
use sluice_nic::software::{Options, SoftwareNic};
use sluice_object::{Load, Step};

const MODULE: u8 = 1;
const VLAN: u8 = 10;

fn load(label: &str, steps: Vec<Step>) -> Load {
    Load { format_version: FORMAT_VERSION, target_hash: TINY.hash(), tenant: 0, label: label.to_owned(), steps }
}

fn write(port: u8, table: Table, index: u32, row: &impl Row) -> Step {
    Step::Write { node: Node::Port(port), table, index, words: row.pack().unwrap() }
}

/// Starts to wait at tick 10 for the `frames` that came to each port before; gives the order of
/// the ends: false for a packet's, true for the load's.
fn ends(options: Options, frames: usize) -> Vec<bool> {
    let mut nic = SoftwareNic::with_options(TINY, options);
    // No program: every packet is dropped at its verdict, no queue ever holds one.
    let vlan = VlanRow { valid: true, keep_tag: false, module_id: MODULE, tenant: 7 };
    let policy = PortPolicyRow { min_frame: 14, max_frame: 9216, ..Default::default() };
    let rows = |port| [write(port, Table::PortPolicy, 0, &policy), write(port, Table::Vlan, VLAN.into(), &vlan)];
    nic.submit(&load("set up", (0..TINY.ports as u8).flat_map(rows).collect())).unwrap();
    nic.quiesce().unwrap();
    assert!(nic.poll(10).iter().all(|e| matches!(e, Event::OpDone { result: Ok(()), .. })));

    let mut bytes = vec![0; TINY.bus_bytes as usize];
    bytes[12..16].copy_from_slice(&[0x81, 0x00, 0, VLAN]);
    let offer = |port| Offer { port, bytes: bytes.clone(), at: nic.now(), bad: false };
    let offers: Vec<Offer> = (0..TINY.ports as u8).flat_map(|port| vec![offer(port); frames]).collect();
    nic.offer_owned(offers).unwrap();
    nic.advance(10).unwrap();
    nic.submit(&load("wait", vec![Step::WaitQueuesEmpty { module: MODULE }])).unwrap();
    nic.quiesce().unwrap();
    nic.poll(1000).iter().map(|e| matches!(e, Event::OpDone { result: Ok(()), .. })).collect()
}

fn all_packets_then_the_load(frames: usize) -> Vec<bool> {
    let mut order = vec![false; frames * TINY.ports as usize];
    order.push(true);
    order
}

#[test]
fn a_removal_waits_for_packets_in_the_ports_fifos() {
    // All ports bring a frame a tick and the merge takes one: most still wait there at tick 10.
    assert_eq!(ends(Options { pipeline_ticks: 1, ..Options::default() }, 20), all_packets_then_the_load(20));
}

#[test]
fn a_removal_waits_for_packets_in_the_pipeline() {
    assert_eq!(ends(Options { pipeline_ticks: 50, ..Options::default() }, 1), all_packets_then_the_load(1));
}
