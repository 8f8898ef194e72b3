//! STF: the scripts in which public P4 programs say which packets go in and which come out.
//!
//! A line is a command. Entries, groups and packets take effect in the order of the lines; what is expected is compared
//! at the end, in order for each port.

mod change;
mod command;
mod compare;
mod entries;
mod error;
mod line;
mod names;
mod parse;
mod ports;
mod run;

pub(crate) use change::Changed;
pub use change::EntryChange;
pub use compare::Failure;
pub use error::{StfErrors, StfProblem};
pub(crate) use run::GIVEN_UP;
pub use run::{Carrier, CarrierError, Report};

use command::{Command, CommandKind};

/// A script that was read.
#[derive(Clone, Debug)]
pub struct Script {
    text: String,
    commands: Vec<Command>,
}

impl Script {
    /// Reads a script; `name` is that of its file.
    pub fn parse(name: &str, text: &str) -> Result<Script, StfErrors> {
        let commands = parse::parse(name, text)?;
        Ok(Script { text: text.to_string(), commands })
    }

    /// Whether it has no command: nothing runs, and nothing can fail.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Reads one change of a table's entries: `add`, `setdefault` and `remove` as in a script, and `change`, which is an `add` in place
    /// of the entry with these keys.
    pub fn change(text: &str) -> Result<Script, StfErrors> {
        let (is_change, line) = match text.strip_prefix("change ") {
            Some(rest) => (true, format!("add {rest}")),
            None => (false, text.to_string()),
        };
        let mut script = Script::parse("entry", &line)?;
        if is_change
            && let [Command { kind: CommandKind::Add { table, priority, keys, .. }, span }] = &script.commands[..]
        {
            let (table, priority, keys) = (table.clone(), *priority, keys.clone());
            let kind = CommandKind::Remove { table, priority, keys, id: None };
            script.commands.insert(0, Command { kind, span: *span });
        }
        Ok(script)
    }
}
