//! Objects as people read them.

use crate::failure::Failure;
use crate::output::Output;
use crate::table::Table;
use sluice_object::object::SymbolOf;
use sluice_object::{Object, TargetNeed};

/// Prints an object.
pub fn object(object: &Object, out: &mut Output) -> Result<(), Failure> {
    if object.parts.rmt.is_some() {
        return out.text(&sluice_object::show::table(object));
    }
    let target = match &object.target {
        TargetNeed::Any => "any".to_owned(),
        TargetNeed::Exact { name, hash } => format!("{name} ({hash:08x})"),
    };
    let fields = object.key.field_names().join(" ");
    out.line(format!("object   {}", object.name))?;
    out.line(format!("target   {target}"))?;
    out.line(format!("key      {}", format!("{} {fields}", object.key.kind.name()).trim_end()))?;
    out.line(format!("default  {}", object.default))?;
    let queues: Vec<String> = object.demands.queues.iter().map(|(d, cells)| format!("{d} {cells}")).collect();
    out.line(format!("demands  {} entries; cells {}", object.demands.entries, list(&queues)))?;
    if object.demands.quantum > 0 {
        out.line(format!("         quantum {} bytes", object.demands.quantum))?;
    }
    if let Some(rate) = object.demands.rate {
        out.line(format!("         {} bit/s, burst {} bytes", rate.bits_per_second, rate.burst_bytes))?;
    }
    for symbol in &object.symbols {
        let of = match symbol.of {
            SymbolOf::Entry(n) => format!("entry {n}"),
            SymbolOf::Destination(d) => d.to_string(),
        };
        out.line(format!("symbol   {} = {of}", symbol.name))?;
    }
    let mut table = Table::new(["entry", "match", "action"]);
    for (i, entry) in object.entries.iter().enumerate() {
        let key = sluice_object::key::describe(&object.key, &entry.key);
        table.row([i.to_string(), key, entry.action.to_string()]);
    }
    if !object.entries.is_empty() {
        out.text("\n")?;
        out.text(&table.left(1).left(2).to_string())?;
    }
    Ok(())
}

fn list(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}
