//! `sluice object show`: an object as people read it.

use crate::key::{KeyKind, describe};
use crate::object::{Object, SymbolOf, TargetNeed};
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
        match (object.parts.xdp.is_some(), object.parts.rmt.is_some()) {
            (true, false) => ("pass", object.default.to_string()),
            (true, true) => ("pass", "where the rmt program sends".to_owned()),
            _ => ("default", object.default.to_string()),
        },
        (
            "room for",
            match &object.parts.rmt {
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
    object.parts.show(out)?;
    if object.key.kind == KeyKind::None && !object.parts.is_empty() {
        return Ok(());
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
