//! Packets of many flows for each path, and the entries that they need: so they touch different lines of external memory.

use super::paths::path_list::Path;
use super::paths::{Flood, Ready, run, set};

/// Flows of a path. Neighbours in time are none in memory: flows come in steps of so many.
pub const FLOWS: u16 = 128;
const STEP: u16 = 47;
/// Rounds before those that are measured: so each flow has passed in most contexts, of which each has its own copy of a per-CPU map.
const ROUNDS: usize = 10;
/// Where the fields lie in a frame with its tag.
const DESTINATION_MAC: usize = 0;
const SOURCE_MAC: usize = 6;
const SOURCE: usize = 30;
const DESTINATION: usize = 34;
const ZERO: [u8; 12] = [0; 12];

/// An entry that the host sets: map, key, value.
type Entry = (&'static str, Vec<u8>, Vec<u8>);

/// An address of this flow.
fn address(first: u8, second: u8, flow: u16) -> [u8; 4] {
    let [high, low] = flow.to_be_bytes();
    [first, second, high, low]
}

/// A destination behind a route of its own.
fn routed(flow: u16) -> [u8; 4] {
    let [high, low] = flow.to_be_bytes();
    [10, 16 + high, low, 9]
}

/// What the host sets for a flow, beside what the path's script sets.
fn entries(program: &str, flow: u16) -> Vec<Entry> {
    match program {
        "mac_gate" => {
            let key = [&[2, 0][..], &address(1, 0, flow), &[0, 0]].concat();
            vec![("stations", key, vec![0; 8])]
        }
        "router_basic" => {
            let [first, second, third, _] = routed(flow);
            let key = [&24_u32.to_le_bytes()[..], &[first, second, third, 0]].concat();
            vec![("routes", key, vec![2, 0, 0, 0, 0, 0xaa, 1, 0, 2, 0, 0, 0, 2, 0, 0, 0])]
        }
        "edge_router" => {
            let [first, second, third, _] = routed(flow);
            let key = [&24_u32.to_le_bytes()[..], &[first, second, third, 0]].concat();
            vec![("routes", key, vec![2, 0, 0, 0, 0, 0xbb, 2, 0, 0, 0, 2, 0, 2, 0, 0, 0])]
        }
        "vxlan_entry" => {
            let key = [&[2, 0][..], &address(1, 0, flow), &[0, 0], &[0, 0, 0x4d, 0]].concat();
            vec![("stations", key, 1_u32.to_le_bytes().to_vec())]
        }
        "iptunnel" => {
            let key = [&address(192, 1, flow)[..], &ZERO, &[0, 0, 1, 4]].concat();
            let ends = [&[10, 0, 0, 1][..], &ZERO, &[10, 0, 0, 2], &ZERO].concat();
            let rest = [&[2, 0, 0, 0, 0, 0x99][..], &1500_u16.to_le_bytes(), &4_u32.to_le_bytes()].concat();
            vec![("services", key, [&ends[..], &rest, &u32::from(flow).to_le_bytes()].concat())]
        }
        "flow_filter" => {
            let key = [&address(10, 1, flow)[..], &[10, 0, 0, 2], &[3, 232, 0, 80], &6_u32.to_le_bytes()].concat();
            vec![("flows", key, vec![0; 16])]
        }
        "balancer" | "edge_balancer" => {
            // The service's part of the ring, over some real servers.
            let part = if program == "balancer" { 753..1004 } else { 0..753 };
            let real = u32::from(1 + flow % 63);
            let address = address(10, 0, real as u16).to_vec();
            let slot = |slot: u16| ("ring", u32::from(slot).to_le_bytes().to_vec(), real.to_le_bytes().to_vec());
            let real = ("reals", real.to_le_bytes().to_vec(), address);
            (part.start + flow..part.end).step_by(FLOWS.into()).map(slot).chain([real]).collect()
        }
        _ => Vec::new(),
    }
}

/// A packet of this flow.
fn frame(path: &Path, base: &[u8], flow: u16) -> Vec<u8> {
    let mut frame = base.to_vec();
    let mut put = |at: usize, bytes: &[u8]| frame[at..at + bytes.len()].copy_from_slice(bytes);
    match path.program {
        "mac_gate" => put(SOURCE_MAC, &[&[2, 0][..], &address(1, 0, flow)].concat()),
        "router_basic" | "edge_router" => put(DESTINATION, &routed(flow)),
        "vxlan_entry" => put(DESTINATION_MAC, &[&[2, 0][..], &address(1, 0, flow)].concat()),
        "iptunnel" => put(DESTINATION, &address(192, 1, flow)),
        "nat_basic" => {
            put(SOURCE, &address(10, 0, flow));
            put(DESTINATION, &address(192, 1, flow));
        }
        // Flows that are not judged, and those that are.
        "flow_filter" => put(SOURCE, &address(10, if path.what.ends_with("drop") { 1 } else { 2 }, flow)),
        "balancer" | "edge_balancer" => put(SOURCE, &address(198, 51, flow)),
        "udp_firewall" => put(SOURCE, &address(10, 1, flow)),
        // What a patch panel looks up is where a packet comes in.
        _ => {}
    }
    frame
}

/// Paths whose flows are known here.
const LISTED: [&str; 11] = [
    "mac_gate",
    "router_basic",
    "iptunnel",
    "nat_basic",
    "flow_filter",
    "balancer",
    "udp_firewall",
    "redirect_map",
    "edge_router",
    "vxlan_entry",
    "edge_balancer",
];

/// Whether this path's flows are known.
pub fn is_listed(path: &Path) -> bool {
    LISTED.contains(&path.program)
}

/// Gives a path that is loaded its flows, whose packets have passed.
pub fn spread(ready: &mut Ready, path: &Path) -> Result<(), String> {
    for flow in 0..FLOWS {
        for (map, key, value) in entries(path.program, flow) {
            set(&mut ready.nic, map, &key, value, 0)?;
        }
    }
    let base = ready.frames[0].clone();
    ready.frames = (0..FLOWS).map(|at| frame(path, &base, at * STEP % FLOWS)).collect();
    if !path.begins_flows() {
        let mut rounds = std::iter::repeat_n(ready.frames.clone(), ROUNDS).flatten();
        run(&mut ready.nic, &mut rounds, &Flood::default());
    }
    Ok(())
}

/// Packets that are measured alone.
pub const ALONE: usize = 16;

/// A packet alone, the mean of some.
pub fn alone(ready: &mut Ready) -> f64 {
    let all = std::mem::take(&mut ready.frames);
    ready.frames = all.iter().step_by(all.len().div_ceil(ALONE)).cloned().collect();
    let alone = super::paths::alone(ready);
    ready.frames = all;
    alone
}
