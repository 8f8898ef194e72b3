//! Packets that met the entries of P4 programs, by the names that their sources have.

use serde_json::{Value, json};
use sluice_device::Device;
use sluice_object::Linker;
use sluice_object::linker::rmt::EntryHits;

/// Entries of a tenant that the text shows; `--json` has all.
const MOST_SHOWN: usize = 64;

/// A counted entry.
#[derive(Clone, Debug)]
pub struct EntryCount {
    tenant: u16,
    table: String,
    entry: String,
    packets: u64,
}

/// Those of all tenants but those whose program was replaced: both programs' entries count in the same rows.
pub fn of_tenants(device: &mut dyn Device, linker: &Linker, replaced: &[u16]) -> Vec<EntryCount> {
    let mut all = Vec::new();
    for id in linker.tenants().map(|tenant| tenant.spec.id).filter(|id| !replaced.contains(id)) {
        for EntryHits { table, entry, rows } in linker.entry_hits(id).unwrap_or_default() {
            let mut counted = rows.into_iter().map(|(node, row)| device.read_row(node, EntryHits::TABLE, row));
            let packets = counted.try_fold(0, |all: u64, words| Some(all + count_of(&words.ok()?)));
            all.extend(packets.map(|packets| EntryCount { tenant: id, table, entry, packets }));
        }
    }
    all
}

fn count_of(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |all, word| all << 32 | u64::from(*word))
}

/// Lines of a tenant's entries.
pub fn text(all: &[EntryCount], tenant: Option<u16>, name: &str) -> Vec<String> {
    let own: Vec<&EntryCount> = all.iter().filter(|count| Some(count.tenant) == tenant).collect();
    let line = |count: &&EntryCount| {
        let EntryCount { table, entry, packets, .. } = count;
        format!("entry, {name}: {table} {entry}: {packets} packets")
    };
    let mut lines: Vec<String> = own.iter().take(MOST_SHOWN).map(line).collect();
    if own.len() > MOST_SHOWN {
        lines.push(format!("entry, {name}: and {} more; --json has all", own.len() - MOST_SHOWN));
    }
    lines
}

/// The same as JSON.
pub fn value(all: &[EntryCount], tenant: Option<u16>) -> Value {
    let own = all.iter().filter(|count| Some(count.tenant) == tenant);
    own.map(|count| json!({ "table": count.table, "entry": count.entry, "packets": count.packets })).collect()
}
