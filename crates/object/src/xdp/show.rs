//! An XDP part as people read it.

use super::Xdp;
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
    writeln!(
        out,
        "\n{:<wide$}  {:>4}  {:>5}  {:>6}  {:>8}  {:>6}  kept",
        "map", "type", "key", "value", "entries", "flags"
    )?;
    for (i, map) in xdp.maps.iter().enumerate() {
        let kept = if xdp.keeps(i) { "yes" } else { "no" };
        let (key, value, entries) = (map.key_size, map.value_size, map.max_entries);
        writeln!(
            out,
            "{:<wide$}  {:>4}  {key:>5}  {value:>6}  {entries:>8}  {:>#6x}  {kept}",
            map.name, map.kind, map.flags
        )?;
    }
    Ok(())
}
