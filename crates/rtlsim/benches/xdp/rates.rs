//! Generated programs that do one thing again and again, on the engine in RTL.

#[path = "../../../hxdp/tests/cycle_figures/rate_list.rs"]
#[allow(dead_code)] // Others use more of it.
mod rate_list;

use super::VARIANT;
use super::paths::{self, Flood, Ready};
use super::support::device::{Nic, object};
use crate::traffic::frames::with_tag;
use rate_list::{FRAME, MAP, What, families};
use sluice_device::Device;
use sluice_rtlsim::{RtlNic, RtlOptions, top};
use std::fmt::Write;

/// Tenant, and his VLAN.
const TENANT: u16 = 1;

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = String::from(
        "Programs that do one thing so many times and send the frame back ([list](../crates/hxdp/tests/cycle_figures/rate_list.rs)), on the engine alone, default target.\n\
         Frames of 64 bytes of one flow back to back: cycles from an end to the next, the mean of 1,000 behind 200 others. *Each time*: what one more costs, between the last two rows of a kind.\n\
         Beside the Linux JIT: [below](#rates-by-the-linux-jit-beside-the-engine).\n\n\
         | what | times | cycles | each time |\n| --- | --- | --- | --- |\n",
    );
    for family in families() {
        let mut before: Option<(u32, f64)> = None;
        for &times in family.times {
            let cycles = interval(family.what, times, seed);
            let slope =
                before.map_or("-".to_owned(), |(few, less)| format!("{:.2}", (cycles - less) / f64::from(times - few)));
            let _ = writeln!(out, "| {} | {times} | {cycles:.2} | {slope} |", family.what.name());
            before = Some((times, cycles));
        }
    }
    out
}

/// Cycles a packet of the program that does it so often.
fn interval(what: What, times: u32, seed: u64) -> f64 {
    let named = |why: &dyn std::fmt::Display| format!("{}, {times} times: {why}", what.name());
    let options = RtlOptions { top: &top::XDP, variant: VARIANT, seed, ..RtlOptions::default() };
    let mut nic = Nic::new(RtlNic::open("default", options).unwrap_or_else(|e| panic!("{}", named(&e))));
    let object = object("measured", &what.program(times), what.map().into_iter().collect(), &[]);
    nic.put(TENANT, &object).unwrap_or_else(|e| panic!("{}", named(&e)));
    if let Some((key, value)) = what.entry() {
        let (module, map) = (nic.module(TENANT), nic.map(TENANT, MAP));
        let maps = nic.device.maps().unwrap_or_else(|e| panic!("{}", named(&e)));
        maps.update(module, map, &key, &value, 0).unwrap_or_else(|e| panic!("{}", named(&e)));
    }
    let frames = vec![with_tag(FRAME.to_vec(), TENANT)];
    paths::interval(&mut Ready { nic, frames }, "swap", false, &Flood::default())
}
