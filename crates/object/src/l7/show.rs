//! An l7 part as people read it.

use super::L7Part;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use std::fmt::Write;

/// Its lines of `sluice object show`.
pub(super) fn render(part: &L7Part, out: &mut String) -> std::fmt::Result {
    let (rows, starts, groups) = (part.rows.len(), part.starts.len(), part.groups.len());
    writeln!(out, "{:<9} {rows} match rows, {starts} start rows, {groups} groups, {} queues", "l7", part.queues())?;
    let wide = part.applications.iter().map(|a| a.name.len()).max().unwrap_or(0).max(11);
    writeln!(out, "\n{:<wide$}  {:>5}  {:<11}  {:>3}  {:>5}  default", "application", "port", "kind", "ID", "types")?;
    for application in &part.applications {
        let row = &application.row;
        let kind = L7PortKind::from_code(row.kind).map_or("?", L7PortKind::name);
        let id = if kind == L7PortKind::Application.name() { row.id.to_string() } else { "-".to_owned() };
        let default = match row.otherwise.goal() {
            Some(L7Goal::Queue) => format!("queue {}", row.otherwise.number),
            Some(L7Goal::Group) => format!("group {}", row.otherwise.number),
            _ => "drop".to_owned(),
        };
        let update = if application.discard { ", dropped while its rules change" } else { "" };
        let (name, port, types) = (&application.name, row.port, row.types);
        writeln!(out, "{name:<wide$}  {port:>5}  {kind:<11}  {id:>3}  {types:>5}  {default}{update}")?;
    }
    Ok(())
}
