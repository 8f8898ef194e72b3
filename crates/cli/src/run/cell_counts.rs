//! Counters that P4 programs index, by the names that their sources have.

use serde_json::{Value, json};
use sluice_device::Device;
use sluice_formats::Table;
use sluice_frontends::CounterCells;
use sluice_object::Linker;
use std::collections::BTreeMap;

/// Cells of a tenant that the text shows; `--json` has all.
const MOST_SHOWN: usize = 16;

/// A cell that is not zero.
#[derive(Clone, Debug)]
pub struct CellCount {
    tenant: u16,
    counter: String,
    index: u32,
    packets: Option<u32>,
    bytes: Option<u32>,
}

/// Those of the counters that each tenant's program has.
pub fn of_tenants(
    device: &mut dyn Device,
    linker: &Linker,
    counters: &BTreeMap<u16, Vec<CounterCells>>,
) -> Vec<CellCount> {
    let mut all = Vec::new();
    for (tenant, counters) in counters {
        let mut cells: BTreeMap<(&str, u32), [Option<u32>; 2]> = BTreeMap::new();
        for CounterCells { name, bytes, stage, base, cells: many } in counters {
            for index in 0..*many {
                let Some((node, row)) = linker.state_word(*tenant, *stage, base + index) else { break };
                let Ok(words) = device.read_row(node, Table::StateWord, row) else { break };
                cells.entry((name, index)).or_default()[usize::from(*bytes)] = words.first().copied();
            }
        }
        let counted = cells.into_iter().filter(|(_, counts)| counts.iter().flatten().any(|count| *count > 0));
        all.extend(counted.map(|((counter, index), [packets, bytes])| CellCount {
            tenant: *tenant,
            counter: counter.to_owned(),
            index,
            packets,
            bytes,
        }));
    }
    all
}

/// Lines of a tenant's cells.
pub fn text(all: &[CellCount], tenant: Option<u16>, name: &str) -> Vec<String> {
    let own: Vec<&CellCount> = all.iter().filter(|count| Some(count.tenant) == tenant).collect();
    let line = |count: &&CellCount| {
        let counts = [(count.packets, "packets"), (count.bytes, "bytes")].into_iter();
        let counts: Vec<String> = counts.filter_map(|(found, of)| Some(format!("{} {of}", found?))).collect();
        format!("counter, {name}: {}[{}]: {}", count.counter, count.index, counts.join(", "))
    };
    let mut lines: Vec<String> = own.iter().take(MOST_SHOWN).map(line).collect();
    if own.len() > MOST_SHOWN {
        lines.push(format!("counter, {name}: and {} more; --json has all", own.len() - MOST_SHOWN));
    }
    lines
}

/// The same as JSON.
pub fn value(all: &[CellCount], tenant: Option<u16>) -> Value {
    let own = all.iter().filter(|count| Some(count.tenant) == tenant);
    let cell = |count: &CellCount| {
        let CellCount { counter, index, packets, bytes, .. } = count;
        json!({ "counter": counter, "index": index, "packets": packets, "bytes": bytes })
    };
    own.map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::{CellCount, MOST_SHOWN, text, value};

    #[test]
    fn the_text_shows_the_first_cells_of_a_tenant_and_json_all() {
        let cell = |tenant, index| CellCount {
            tenant,
            counter: "I.seen".to_owned(),
            index,
            packets: Some(index + 1),
            bytes: None,
        };
        let many = MOST_SHOWN as u32 + 3;
        let all: Vec<CellCount> = (0..many).map(|index| cell(1, index)).chain([cell(2, 0)]).collect();
        let lines = text(&all, Some(1), "red");
        assert_eq!(lines.len(), MOST_SHOWN + 1);
        assert_eq!(lines[0], "counter, red: I.seen[0]: 1 packets");
        assert_eq!(lines[MOST_SHOWN], "counter, red: and 3 more; --json has all");
        assert_eq!(value(&all, Some(1)).as_array().map(Vec::len), Some(many as usize));
        assert_eq!(text(&all, Some(2), "blue").len(), 1);
    }
}
