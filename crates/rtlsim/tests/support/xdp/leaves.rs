//! Tables of programs that a linker has put on a device, and what is counted by their leaves.

use super::device::Nic;
use sluice_device::Device;
use sluice_ebpf::Image;
use sluice_formats::row::Row;
use sluice_formats::xdp::rows::XdpWarpHitsRow;
use sluice_formats::xdp::target::{LANES, Target as XdpTarget};
use sluice_formats::{Node, Table, Target};
use sluice_hxdp::compile;
use sluice_hxdp::warp::{Table as WarpTable, warp};
use sluice_object::xdp::XdpWarpRoom;

/// A program's table as the engine has it, and how many rows the program has with it.
pub fn table_of(image: &Image, target: &Target) -> (WarpTable, usize) {
    let sizes = XdpTarget::by_name(target.name);
    let room = XdpWarpRoom { rules: sizes.warp_rules, steps: sizes.warp_steps };
    let lanes = sluice_hxdp::Target::new(LANES).expect("an engine's lanes").with_warp(room);
    let compiled = compile(image, &image.programs[0], &lanes).unwrap_or_else(|e| panic!("{e}"));
    let warped = warp(image, 0, &compiled, &lanes).unwrap_or_else(|e| panic!("{e}"));
    (warped.table.clone(), warped.compiled(&compiled).bundles.rows.len())
}

/// The frame as its port takes it, with its tenant's tag.
pub fn tagged(vlan: u16, frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0], &vlan.to_be_bytes(), &frame[12..]].concat()
}

/// Packets of each leaf of a tenant's program that runs, as the device has counted them.
pub fn hits<D: Device>(nic: &mut Nic<D>, rows: &[u32]) -> Vec<u64> {
    let mut row =
        |row: &u32| nic.device.read_row(Node::Xdp, Table::XdpWarpHits, *row).unwrap_or_else(|e| panic!("{e}"));
    rows.iter().map(|n| XdpWarpHitsRow::unpack(&row(n)).unwrap().packets).collect()
}
