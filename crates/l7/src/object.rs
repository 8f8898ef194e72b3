//! Objects that carry rules.

use crate::compile::{CompileError, Options, compile};
use crate::rules::{Application, Kind, Rules};
use sluice_formats::Target;
use sluice_formats::l7::target::{self, Target as Engine};
use sluice_object::{Action, Destination, Destinations, KeySpec, L7Application, L7Part, Object};

/// Rows that one program may take on a target: as many are left for its replacement.
pub fn room(target: &Target) -> usize {
    Engine::by_name(target.name).rows / 2
}

/// The part with a file's rules. Whether names are such, `Object::check` says.
pub fn part(rules: &Rules, options: &Options) -> Result<L7Part, CompileError> {
    let (tables, ports) = compile(rules, options)?.tables(rules, 0);
    let named = |(application, row): (&Application, _)| {
        let name = match application.kind {
            Kind::Endpoint => format!("endpoint-{}", application.port),
            Kind::Application(_) | Kind::Raw => application.name.clone(),
        };
        L7Application { name, row, discard: application.discard_while_updating }
    };
    let applications = rules.applications.iter().zip(ports).map(named).collect();
    Ok(L7Part { applications, starts: tables.starts, rows: tables.rows, groups: tables.groups })
}

/// An object with nothing but a file's rules: all packets go where messages are dispatched.
pub fn object(name: &str, rules: &Rules, target: &Target) -> Result<Object, CompileError> {
    let to = Destinations::from_iter([Destination::Host(target::host(target))]);
    let mut object = Object::new(name, KeySpec::NONE, Action { to, ..Action::DROP });
    object.parts.l7 = Some(Box::new(part(rules, &Options { rows: room(target), ..Options::default() })?));
    Ok(object)
}
