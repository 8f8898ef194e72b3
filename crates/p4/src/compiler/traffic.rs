//! What a program is compiled for beside its source: the ports at which packets arrive, and the entries that its tables will have. They say
//! which of its ports are which of the pipeline's.

use crate::Reference;
use crate::compiler::back::logical::{asked as logical_asked, number as logical_number};
use crate::compiler::ir::Graph;
use crate::compiler::middle::{Refusal, RefusalKind, translate, uses};
use crate::compiler::ports::{DROP_PORT, PIPELINE_PORTS, PORT_BITS, PortMap, Ports, SOME_PORTS, port_of};
use crate::front::interpret::Code;
use crate::front::stf::Script;
use std::collections::BTreeSet;

/// What a program is compiled for, where its ports may have any number: what arrives, and all entries that its tables will have.
#[derive(Clone, Copy, Debug)]
pub struct Traffic<'t> {
    /// The tables' entries now.
    pub entries: &'t Reference,
    /// A script that will be run.
    pub script: Option<&'t Script>,
    /// Ports at which packets arrive beside those of the script.
    pub arrivals: &'t [u16],
}

/// Gives ports the pipeline's numbers, where a program or its traffic has others.
pub(crate) fn numbered(graph: &mut Graph, code: &Code, traffic: Option<&Traffic>) -> Result<Ports, Refusal> {
    let plain = uses(graph, code, false);
    if let Some(clones) = graph.clones.values().find(|clones| clones.are_beside) {
        // What a pipeline sends is one copy to each port.
        let why = plain.both.as_ref().map(|why| why.what.as_str());
        if let Some(why) = why.or(plain.from_arrival.then_some("a port that is that of arrival")) {
            let what =
                format!("a clone beside a packet whose port nobody knows before, for it may be the clone's: {why}");
            return Err(Refusal::new(clones.span, RefusalKind::NotThere, what));
        }
    }
    let named: BTreeSet<u16> = plain.named.keys().copied().collect();
    let foreign = plain.named.iter().find(|(port, _)| **port >= PIPELINE_PORTS);
    let Some(traffic) = traffic else {
        return match foreign {
            None => Ok(Ports { goals: plain.params, named, ..Ports::default() }),
            Some((port, span)) => {
                let what = format!("port {port}; the pipeline has ports 0 to 7");
                Err(Refusal::new(*span, RefusalKind::NotThere, what))
            }
        };
    };
    let mut arrivals: BTreeSet<u16> = traffic.arrivals.iter().copied().collect();
    arrivals.extend(traffic.script.iter().flat_map(|script| script.arrivals()));
    let mut used: BTreeSet<u16> = plain.named.keys().copied().chain(arrivals.iter().copied()).collect();
    used.extend(traffic.script.iter().flat_map(|script| script.destinations()));
    let replication = &traffic.entries.switch.replication;
    // A line for ports that the program itself does not name: where the table is applied whose entry does, or where packets are cloned.
    let mut asked_for = None;
    let sessions = replication.sessions.keys().flat_map(|session| replication.clones(*session));
    for (port, _) in sessions {
        if used.insert(port) && port >= PIPELINE_PORTS {
            asked_for = asked_for.or(graph.clones.values().next().map(|clones| clones.span));
        }
    }
    let given = traffic.script.map_or_else(Vec::new, |script| script.given(traffic.entries));
    let rows = traffic.entries.switch.machine.tables.iter().enumerate();
    let calls = rows.flat_map(|(table, rows)| rows.calls().map(move |(action, data)| (table, action, data)));
    for (table, action, data) in calls.chain(given.iter().map(|given| (given.table, given.action, &given.data[..]))) {
        let ports = data.iter().enumerate().filter(|(number, _)| plain.is_param(table, action, *number));
        for port in ports.map(|(_, value)| port_of(&logical_number(value, PORT_BITS))) {
            if used.insert(port) && port >= PIPELINE_PORTS && port != DROP_PORT {
                asked_for = asked_for.or(graph.locs.lines.applied(table));
            }
        }
    }
    let at = foreign.map(|(_, span)| *span).or(asked_for).unwrap_or_default();
    let Some(map) = PortMap::of(&used) else {
        used.remove(&DROP_PORT);
        let all = used.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
        let what = format!("{} different ports ({all}); the pipeline has {PIPELINE_PORTS}", used.len());
        return Err(Refusal::new(at, RefusalKind::TooMuch, what));
    };
    if map.is_plain() {
        return Ok(Ports { goals: plain.params, named, ..Ports::default() });
    }
    let moved = arrivals.iter().any(|port| map.to_pipeline(*port) != *port);
    let all = if moved { uses(graph, code, true) } else { plain.clone() };
    if let Some(Refusal { span, kind, what, .. }) = all.both {
        let what = format!("{what}, where ports get the pipeline's numbers: {map}");
        return Err(Refusal::new(span, kind, what));
    }
    for given in &given {
        for (key, asked) in given.matches.iter().enumerate() {
            let Some(span) = all.keys.get(&(given.table, key)) else { continue };
            let bits = code.tables[given.table].keys[key].shape.bits().unwrap_or(0);
            if map.asked(&logical_asked(asked, bits), bits).is_none() {
                let (line, table) = (given.line, &code.tables[given.table].name);
                let what = format!(
                    "{SOME_PORTS} in table `{table}`, line {line} of the script, where ports get the pipeline's numbers: {map}"
                );
                return Err(Refusal::new(*span, RefusalKind::NotThere, what));
            }
        }
    }
    translate(graph, code, &all, &map);
    Ok(Ports { map, named, params: all.params, goals: plain.params, keys: all.keys.into_keys().collect(), moved })
}
