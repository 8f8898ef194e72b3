//! Where packets that met an entry of a P4 program are counted, by the names that its source has.

use super::hex;
use crate::linker::{LinkError, Linker};
use crate::rmt::logical::{LogicalEntry, LogicalKind, LogicalMatch, LogicalTable};
use sluice_formats::rmt::target::PAGE_WORDS;
use sluice_formats::{Node, Table};
use std::collections::HashMap;

/// An entry of a table whose packets are counted, and the rows that count them: one a stage that looks the table up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryHits {
    /// Table, as its source names it.
    pub table: String,
    /// Keys and action, as a file of entries has them.
    pub entry: String,
    /// Rows of [`Table::Hits`].
    pub rows: Vec<(Node, u32)>,
}

impl EntryHits {
    /// The table of these rows.
    pub const TABLE: Table = Table::Hits;
}

impl Linker {
    /// Where a word of state is that a tenant's program keeps in one of its stages: the row of [`Table::StateWord`].
    pub fn state_word(&self, id: u16, stage: u8, word: u32) -> Option<(Node, u32)> {
        let tenant = self.tenant(id).ok()?;
        let holding = self.engines.rmt.holders.get(&tenant.module)?;
        let generation = usize::from(self.generations[usize::from(tenant.module)]);
        let bank = holding.banks.get(generation)?.as_ref()?;
        let stage = *holding.at.get(&stage)?;
        let (held, quota) = (holding.stages.get(&stage)?, holding.quota.stages.get(&stage)?);
        let (at, within) = (word as usize / PAGE_WORDS, word % PAGE_WORDS as u32);
        let page = held.page_set(quota, bank.page_set).get(at)?;
        Some((Node::Stage(stage), page * PAGE_WORDS as u32 + within))
    }

    /// The counted entries of what a tenant runs: those of P4 tables with a direct counter.
    pub fn entry_hits(&self, id: u16) -> Result<Vec<EntryHits>, LinkError> {
        let tenant = self.tenant(id)?;
        let holding = self.engines.rmt.holders.get(&tenant.module);
        let generation = usize::from(self.generations[usize::from(tenant.module)]);
        let bank = holding.and_then(|holding| holding.banks[generation].as_ref());
        let live = bank.and_then(|bank| Some((bank.part.logical.as_deref()?, bank.live.as_deref()?)));
        let (Some((logical, live)), Some(holding)) = (live, holding) else { return Ok(Vec::new()) };
        let mut all: Vec<EntryHits> = Vec::new();
        let mut numbered: HashMap<(u16, u16), usize> = HashMap::new();
        for stage in logical.stages.keys() {
            let Some(held) = holding.stages.get(stage) else { continue };
            for (table, position, entry, number) in live.counted(logical, *stage) {
                let row = (Node::Stage(*stage), held.hits_base + u32::from(number));
                match numbered.get(&(table, position)) {
                    Some(known) => all[*known].rows.push(row),
                    None => {
                        let of = &logical.tables[usize::from(table)];
                        numbered.insert((table, position), all.len());
                        all.push(EntryHits { table: of.name.clone(), entry: shown(of, entry), rows: vec![row] });
                    }
                }
            }
        }
        Ok(all)
    }
}

/// An entry as a file of entries has it.
fn shown(table: &LogicalTable, entry: &LogicalEntry) -> String {
    let keys = table.keys.iter().zip(&entry.matches).map(|(key, found)| {
        let value = match found {
            LogicalMatch::Range { low, high } => format!("{}->{}", hex(&low.0), hex(&high.0)),
            LogicalMatch::Masked { mask, .. } if mask.is_zero() => "*".to_owned(),
            LogicalMatch::Masked { value, mask } => match key.kind {
                LogicalKind::Lpm => {
                    let length = (0..u32::from(key.bits)).filter(|at| mask.bit(*at)).count();
                    format!("{}/{length}", hex(&value.0))
                }
                LogicalKind::Ternary => format!("{}&&&{}", hex(&value.0), hex(&mask.0)),
                _ => hex(&value.0),
            },
        };
        format!("{}:{value} ", key.name)
    });
    let action = &table.actions[usize::from(entry.call.action)];
    let values = action.parameters.iter().zip(&entry.call.values);
    let values: Vec<String> = values.map(|(p, value)| format!("{}:{}", p.name, hex(&value.0))).collect();
    format!("{}{}({})", keys.collect::<String>(), action.name, values.join(", "))
}
