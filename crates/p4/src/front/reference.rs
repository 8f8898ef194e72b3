//! The reference as others use it: a program that packets go through.

use crate::error::{Notes, P4Errors, Problem, place};
use crate::front::interpret::tables::Rows;
use crate::front::interpret::{Event, Sent, Switch, lower, ports};
use crate::front::source::{Sources, Span};
use crate::{Program, front::check, front::stf};

/// What is read that the specification leaves undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undefined {
    /// Zero.
    #[default]
    Zero,
    /// Noise.
    Random,
}

/// A program on v1model, with what it keeps from packet to packet.
#[derive(Debug)]
pub struct Reference {
    pub(crate) switch: Switch,
    sources: Sources,
}

impl Program {
    /// Makes a program run; `seed` is that of `random` and of noise. One that v1model cannot run is refused.
    pub fn reference(&self, undefined: Undefined, seed: u64) -> Result<Reference, P4Errors> {
        self.runs(undefined, seed, false)
    }

    /// The same, and scripts tell what each packet does: statements, tables, and what is written.
    pub fn traced(&self, undefined: Undefined, seed: u64) -> Result<Reference, P4Errors> {
        let mut reference = self.runs(undefined, seed, true)?;
        reference.switch.machine.trace = Some(Vec::new());
        Ok(reference)
    }

    fn runs(&self, undefined: Undefined, seed: u64, traced: bool) -> Result<Reference, P4Errors> {
        let nothing = check::Facts::default();
        let facts = self.facts.as_ref().unwrap_or(&nothing);
        match lower(&self.tree, facts, &self.allowed, traced) {
            Ok(code) => {
                let mut switch = Switch::new(code, seed, undefined == Undefined::Random);
                // What the pipeline's are is told when it is compiled.
                switch.machine.hashes_as_target = self.allowed.target_hash;
                Ok(Reference { switch, sources: self.sources.clone() })
            }
            Err(refused) => {
                let mut notes = Notes::default();
                notes.push(refused.span, Problem::Reference { what: refused.what });
                Err(notes.into_errors(&self.sources))
            }
        }
    }
}

/// Entries of the tables of a [`Reference`].
#[derive(Clone, Debug)]
pub struct Entries(Vec<Rows>);

impl Reference {
    /// Carries a packet through the program; what comes back are the packets that leave, in their order, or why it was
    /// not carried to its end.
    pub fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, String> {
        if self.switch.code.system.is_some() {
            return Err("a system program serves packets that tenants' programs take and put together".to_string());
        }
        let sent = self.switch.packet(port, bytes);
        sent.map_err(|stopped| format!("{}{}", stopped.what, self.place(stopped.span)))
    }

    /// Has it drop what goes to a port that is not there, as a device does: there are 0 to 7, and those that the program, its entries and a
    /// script name. A reference that was told by a compiled program has those of the pipeline.
    pub fn bound_ports(&mut self, script: Option<&stf::Script>) {
        let switch = &self.switch;
        let mut ports = ports::there(&switch.code, &switch.machine.tables);
        let replication = &switch.replication;
        ports.extend(replication.nodes.iter().flat_map(|node| node.ports.iter().copied()));
        let sessions = replication.sessions.keys().flat_map(|session| replication.clones(*session));
        ports.extend(sessions.map(|(port, _)| port));
        if let Some(script) = script {
            ports.extend(script.arrivals());
            ports.extend(script.destinations());
            for given in script.given(self) {
                ports::data_of(&switch.code, &switch.code.tables[given.table], given.action, &given.data, &mut ports);
            }
        }
        self.switch.ports.get_or_insert(ports);
    }

    /// Copies of packets that went to ports that are not there.
    pub fn nowhere(&self) -> u64 {
        self.switch.nowhere
    }

    /// The entries and default actions of its tables, to be given back.
    pub fn tables(&self) -> Entries {
        Entries(self.switch.machine.tables.clone())
    }

    /// Gives it entries that it had.
    pub fn set_tables(&mut self, entries: Entries) {
        self.switch.machine.tables = entries.0;
    }

    /// What happened since this was asked last, a line each.
    pub fn events(&mut self) -> Vec<String> {
        let Some(trace) = &mut self.switch.machine.trace else { return Vec::new() };
        let events = std::mem::take(trace);
        let first = |span: Span| self.sources.slice(span).lines().next().unwrap_or_default().trim_end();
        let line = |event: &Event| match event {
            Event::Statement(span) => format!("{}: {}", place(*span, &self.sources), first(*span)),
            Event::Value(span, value) => format!("    {} = {value}", first(*span)),
            Event::Table(at, hit, action) => {
                let code = &self.switch.code;
                let word = if *hit { "hit" } else { "miss" };
                format!("    table {}: {word}, {}", code.tables[*at].name, code.actions[*action].name)
            }
        };
        events.iter().map(line).collect()
    }

    /// ` at FILE:LINE:COLUMN`, if a place is known.
    pub(crate) fn place(&self, span: Span) -> String {
        match span.end {
            0 => String::new(),
            _ => format!(", at {}", place(span, &self.sources)),
        }
    }
}
