//! Warns of rows that make the outer VLAN tag.

use super::error::{Diagnostics, TextProblem};
use super::lower::Places;
use super::names::Bits;
use super::{Unit, names::Names};
use crate::deparser::DeparseRow;
use crate::phv::Container;
use crate::target::Target;
use sluice_object::{Outer, OuterTag};
use std::collections::BTreeSet;

/// VLANs that a warning names; of more it says how many.
const MOST_VLANS: usize = 8;

/// Notes each row that writes a tag, or takes one away, with what it puts there.
pub(super) fn warn(unit: &Unit, target: &Target, places: &Places, notes: &mut Diagnostics) {
    let Ok(part) = unit.part(target) else { return };
    // Bytes behind a type that the program does not look at are mostly no tag.
    let told = |tag: &OuterTag| tag.certain || tag.adds || tag.outer.contains(&Outer::Untagged);
    for tag in part.outer_tags().into_iter().filter(told) {
        let name = |names: &[String], at: usize| names.get(at).cloned().unwrap_or_else(|| at.to_string());
        let found = match unit.program.deparser.rows.get(tag.row) {
            Some(row) => format!("{}: {}", put(&unit.names, row), vlans(&tag)),
            None => vlans(&tag),
        };
        let (row, path) = (name(&unit.names.rows, tag.row), name(&unit.names.paths, tag.path));
        let span = places.find(&format!("deparser.rows[{}]", tag.row));
        notes.warn((span, TextProblem::OuterTag { row, path, found }));
    }
}

/// What the row puts at bytes 12 to 15: `tag` @12.
fn put(names: &Names, row: &DeparseRow) -> String {
    let mut said = BTreeSet::new();
    let mut all = Vec::new();
    for at in 12..16 {
        if let Some((container, byte)) = row.lanes[at]
            && said.insert(container.0)
        {
            all.push(format!("`{}` @{}", named(names, container), at.saturating_sub(usize::from(byte))));
        }
    }
    match (all.is_empty(), row.delta) {
        (false, _) => all.join(", "),
        (true, ..0) => format!("shrink {} at {}", -i16::from(row.delta), row.split),
        (true, _) => format!("grow {} at {}", row.delta, row.split),
    }
}

/// Name of a container, else `c4[0]`.
fn named(names: &Names, container: Container) -> String {
    let whole = Bits::whole(container);
    let name = names.containers.iter().find(|(_, bits)| *bits == whole).map(|(name, _)| name.clone());
    name.unwrap_or_else(|| format!("c{}[{}]", container.bytes(), container.0 % 8))
}

fn vlans(tag: &OuterTag) -> String {
    let mut all: Vec<String> = tag
        .outer
        .iter()
        .take(MOST_VLANS)
        .map(|outer| match outer {
            Outer::Vlan(vlan) => format!("VLAN {vlan}"),
            Outer::Untagged => "no tag where one came".to_owned(),
            Outer::Any => "a VLAN that packets, state or later entries decide".to_owned(),
        })
        .collect();
    if tag.outer.len() > MOST_VLANS {
        all.push(format!("{} more", tag.outer.len() - MOST_VLANS));
    }
    all.join(", ")
}
