//! An rmt part as people read it.

use super::RmtPart;
use std::fmt::Write;

/// Its lines of `sluice object show`.
pub(super) fn render(part: &RmtPart, out: &mut String) -> std::fmt::Result {
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
    for table in part.logical.iter().flat_map(|logical| &logical.tables) {
        let (entries, actions) = (table.entries.len(), table.actions.len());
        let keys: Vec<String> = table.keys.iter().map(|key| format!("{} ({} bits)", key.name, key.bits)).collect();
        let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
        writeln!(out, "{:<9} {}: keys {keys}; {entries} entries, {actions} actions", "table", table.name)?;
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
