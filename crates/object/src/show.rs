//! `sluice object show`: an object as people read it.

use crate::key::describe;
use crate::object::{Object, SymbolOf, TargetNeed};
use crate::rmt::RmtPart;
use crate::xdp::Xdp;
use std::fmt::Write;

/// A table of everything in the object, one line for each entry.
pub fn table(object: &Object) -> String {
    let mut out = String::new();
    render(object, &mut out).expect("writing to a string does not fail");
    out
}

/// The JSON form as a value, for `--json`.
pub fn json(object: &Object) -> serde_json::Value {
    object.to_json_value()
}

fn render(object: &Object, out: &mut String) -> std::fmt::Result {
    let target = match &object.target {
        TargetNeed::Any => "any".to_owned(),
        TargetNeed::Exact { name, hash } => format!("{name} ({hash:08x})"),
    };
    let fields = object.key.field_names().join(" ");
    let demands = &object.demands;
    let queues: Vec<String> = demands.queues.iter().map(|(d, cells)| format!("{d} ({cells} cells)")).collect();
    let rate = demands
        .rate
        .map_or("any".to_owned(), |r| format!("{} bit/s, bursts of {} bytes", r.bits_per_second, r.burst_bytes));
    let quantum = if demands.quantum == 0 { "any".to_owned() } else { format!("{} bytes", demands.quantum) };
    let kept = |survives: bool| if survives { "kept" } else { "new" };
    let lines = [
        ("object", object.name.clone()),
        ("target", target),
        ("key", format!("{} {fields}", object.key.kind.name()).trim_end().to_owned()),
        (if object.xdp.is_some() { "pass" } else { "default" }, object.default.to_string()),
        (
            "room for",
            match &object.rmt {
                Some(_) => "a replacement by a program like it".to_owned(),
                None => format!("{} entries, and as many during a replacement", demands.entries),
            },
        ),
        ("queues", if queues.is_empty() { "none".to_owned() } else { queues.join(", ") }),
        ("quantum", quantum),
        ("rate", rate),
        ("replaced", format!("table {}, counters {}", kept(object.survives.table), kept(object.survives.counters))),
    ];
    for (name, value) in lines {
        writeln!(out, "{name:<9} {value}")?;
    }
    if let Some(xdp) = &object.xdp {
        return render_xdp(xdp, out);
    }
    if let Some(part) = &object.rmt {
        return render_rmt(part, out);
    }
    for symbol in &object.symbols {
        let of = match symbol.of {
            SymbolOf::Entry(n) => format!("entry {n}"),
            SymbolOf::Destination(d) => d.to_string(),
        };
        writeln!(out, "{:<9} {} = {of}", "symbol", symbol.name)?;
    }
    let keys: Vec<String> = object.entries.iter().map(|e| describe(&object.key, &e.key)).collect();
    let wide = keys.iter().map(String::len).max().unwrap_or(0).max(3);
    writeln!(out, "\n{:>6}  {:<wide$}  action", "entry", "key")?;
    for (i, (key, entry)) in keys.iter().zip(&object.entries).enumerate() {
        writeln!(out, "{i:>6}  {key:<wide$}  {}", entry.action)?;
    }
    Ok(())
}

fn render_rmt(part: &RmtPart, out: &mut String) -> std::fmt::Result {
    let patterns = part.patterns.patterns.iter().filter(|p| p.valid).count();
    let (paths, rows) = (part.paths.len(), part.deparse.len());
    writeln!(out, "{:<9} {paths} paths, {patterns} deparse patterns, {rows} deparse rows", "rmt")?;
    writeln!(out, "{:<9} {}", "state", if part.keep_state { "kept" } else { "begins with zeros" })?;
    for (number, group) in &part.groups {
        writeln!(out, "{:<9} {number}: destinations {:#04x}", "group", group.destinations)?;
    }
    for (name, c) in &part.shared {
        writeln!(out, "{:<9} {name} in c{}[{}]", "shared", 2 * (c / 8 + 1), c % 8)?;
    }
    writeln!(
        out,
        "\n{:>5}  {:>11}  {:>11}  {:>7}  {:>5}  {:>8}",
        "stage", "exact", "ternary", "actions", "pages", "counters"
    )?;
    for (number, s) in &part.stages {
        let exact = format!("{} of {}", s.exact.len(), s.exact_room);
        let ternary = format!("{} of {}", s.ternary.len(), s.ternary_room);
        let (actions, pages, numbers) = (s.actions.len(), s.pages, s.numbers);
        writeln!(out, "{number:>5}  {exact:>11}  {ternary:>11}  {actions:>7}  {pages:>5}  {numbers:>8}")?;
    }
    Ok(())
}

fn render_xdp(xdp: &Xdp, out: &mut String) -> std::fmt::Result {
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
