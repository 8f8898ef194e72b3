//! An XDP part as people read it.

use super::{Xdp, XdpMemory};
use std::fmt::Write;

/// Its lines of `sluice object show`.
pub(super) fn render(xdp: &Xdp, out: &mut String) -> std::fmt::Result {
    for (i, program) in xdp.programs.iter().enumerate() {
        let main = if i == xdp.main as usize { ", the one that packets run" } else { "" };
        writeln!(out, "{:<9} {}: {} slots{main}", "program", program.name, program.slots.len())?;
    }
    for (interface, port) in &xdp.interfaces {
        writeln!(out, "{:<9} {interface} = port{port}", "interface")?;
    }
    let wide = xdp.maps.iter().map(|m| m.name.len()).max().unwrap_or(0).max(4);
    // Only where somebody says where a map lies.
    let says_places = xdp.maps.iter().any(|map| map.place.is_some());
    let place = if says_places { "  place" } else { "" };
    writeln!(
        out,
        "\n{:<wide$}  {:>4}  {:>5}  {:>6}  {:>8}  {:>6}  kept{place}",
        "map", "type", "key", "value", "entries", "flags"
    )?;
    for (i, map) in xdp.maps.iter().enumerate() {
        let kept = if xdp.keeps(i) { "yes" } else { "no" };
        let (key, value, entries) = (map.key_size, map.value_size, map.max_entries);
        let place = map.place.map_or("", XdpMemory::name);
        let last = format!("{kept:<4}  {place}");
        writeln!(
            out,
            "{:<wide$}  {:>4}  {key:>5}  {value:>6}  {entries:>8}  {:>#6x}  {}",
            map.name,
            map.kind,
            map.flags,
            last.trim_end()
        )?;
    }
    Ok(())
}
