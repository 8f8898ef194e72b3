//! What a script has of ports, and all entries that tables have while it runs.

use super::command::CommandKind;
use super::{Script, entries, names};
use crate::Reference;
use crate::front::interpret::{Entry, Match};
use std::collections::BTreeSet;

/// An entry of a script, or a default action; what names nothing fails when the script runs.
pub(crate) struct Given {
    pub line: usize,
    pub sets_default: bool,
    pub table: usize,
    pub matches: Vec<Match>,
    pub action: usize,
    pub data: Vec<crate::front::interpret::Value>,
}

impl Script {
    /// Ports at which packets arrive.
    pub(crate) fn arrivals(&self) -> BTreeSet<u16> {
        let port = |kind: &CommandKind| match kind {
            CommandKind::Packet { port, .. } => Some(*port),
            _ => None,
        };
        self.commands.iter().filter_map(|command| port(&command.kind)).collect()
    }

    /// Ports at which packets are expected, or to which copies go.
    pub(crate) fn destinations(&self) -> BTreeSet<u16> {
        let mut all = BTreeSet::new();
        for command in &self.commands {
            match &command.kind {
                CommandKind::Expect { port, .. } | CommandKind::MirroringAdd { port, .. } => {
                    all.insert(*port);
                }
                CommandKind::NodeCreate { ports, .. } => all.extend(ports),
                _ => {}
            }
        }
        all
    }

    /// All entries and default actions that it gives.
    pub(crate) fn given(&self, reference: &Reference) -> Vec<Given> {
        let code = &reference.switch.code;
        let mut all = Vec::new();
        let (mut line, mut read) = (1, 0);
        for command in &self.commands {
            line += self.text[read..command.span.start].matches('\n').count();
            read = command.span.start;
            let word = match &command.kind {
                CommandKind::Add { table, .. } | CommandKind::SetDefault { table, .. } => table,
                _ => continue,
            };
            let tables = code.tables.iter().enumerate().map(|(at, table)| (at, table.name.as_str()));
            let Ok(table) = names::find("table", word, tables) else { continue };
            let described = &code.tables[table];
            let found = match &command.kind {
                CommandKind::Add { priority, keys, action, .. } => {
                    entries::entry(*priority, keys, action, described, code)
                }
                CommandKind::SetDefault { action, .. } => entries::action(action, described, code)
                    .map(|(action, data)| Entry { matches: Vec::new(), rank: 0, action, data }),
                _ => continue,
            };
            if let Ok(Entry { matches, action, data, .. }) = found {
                let sets_default = matches!(command.kind, CommandKind::SetDefault { .. });
                all.push(Given { line, sets_default, table, matches, action, data });
            }
        }
        all
    }
}
