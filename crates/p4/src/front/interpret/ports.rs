//! Ports that there are, where nobody has said it: those of a pipeline, and those that a program, its entries and its script name.

use super::code::{Argument, Call, Callee, Code, Ex, St, Target};
use super::tables::Rows;
use std::collections::BTreeSet;

/// Bits of a port.
const BITS: u32 = 9;
/// Ports that every switch has.
const PLAIN: u16 = 8;

/// Ports 0 to 7, and what a program may send to by its number: constants of a port's width that are written or passed, and values that
/// entries give to parameters of that width or more.
pub(crate) fn there(code: &Code, tables: &[Rows]) -> BTreeSet<u16> {
    let mut all: BTreeSet<u16> = (0..PLAIN).collect();
    for control in &code.controls {
        statements(&control.locals, &mut all);
        statements(&control.body, &mut all);
    }
    code.actions.iter().for_each(|action| statements(&action.body, &mut all));
    code.functions.iter().for_each(|function| statements(&function.body, &mut all));
    for parser in &code.parsers {
        statements(&parser.locals, &mut all);
        parser.states.iter().for_each(|state| statements(&state.body, &mut all));
    }
    for (table, rows) in code.tables.iter().zip(tables) {
        for action in &table.actions {
            action.bound.iter().for_each(|argument| passed(argument, &mut all));
        }
        for (action, data) in rows.calls() {
            data_of(code, table, action, data, &mut all);
        }
    }
    all
}

/// Ports among the values that an entry gives.
pub(crate) fn data_of(
    code: &Code,
    table: &super::Table,
    action: usize,
    data: &[super::Value],
    into: &mut BTreeSet<u16>,
) {
    let listed = &table.actions[action];
    let parameters = &code.actions[listed.action].parameters[listed.bound.len()..];
    let wide = parameters.iter().zip(data).filter(|(p, _)| p.shape.bits().is_some_and(|bits| bits >= BITS));
    into.extend(wide.filter_map(|(_, value)| port(value)));
}

fn port(value: &super::Value) -> Option<u16> {
    u16::try_from(value.big()).ok().filter(|port| u128::from(*port) < super::DROP)
}

fn statements(all: &[St], into: &mut BTreeSet<u16>) {
    for statement in all {
        match statement {
            St::Assign(target, ex) | St::Update(target, _, ex) if is_port(target) => constants(ex, into),
            St::Set(_, ex, shape) if shape.bits() == Some(BITS) => constants(ex, into),
            St::Assign(_, ex) | St::Update(_, _, ex) | St::Set(_, ex, _) | St::Evaluate(ex) => calls(ex, into),
            St::Return(Some(ex)) => constants(ex, into),
            St::If(condition, yes, no) => {
                calls(condition, into);
                statements(yes, into);
                statements(no, into);
            }
            St::Block(inner) | St::Program(inner) => statements(inner, into),
            St::Switch(value, cases) => {
                calls(value, into);
                cases.iter().for_each(|case| statements(&case.body, into));
            }
            St::For { init, update, body, .. } => {
                [init, update, body].into_iter().for_each(|all| statements(all, into))
            }
            St::ForRange { body, .. } | St::ForEach { body, .. } => statements(body, into),
            St::Here(_) | St::Show(..) | St::Fresh(..) | St::Return(None) | St::Exit | St::Break | St::Continue => {}
        }
    }
}

fn is_port(target: &Target) -> bool {
    target.slice.is_none() && target.place.shape.bits() == Some(BITS)
}

/// Constants that a value may be.
fn constants(ex: &Ex, into: &mut BTreeSet<u16>) {
    match ex {
        Ex::Constant(value) => into.extend(port(value)),
        Ex::Choice(all) => {
            constants(&all.1, into);
            constants(&all.2, into);
        }
        Ex::Resize(.., inner) => constants(inner, into),
        _ => calls(ex, into),
    }
}

/// Constants of a port's width that are passed to what is called as a statement or a value.
fn calls(ex: &Ex, into: &mut BTreeSet<u16>) {
    if let Ex::Call(call) = ex
        && let Call { callee: Callee::Function(_) | Callee::Action(_) | Callee::Control(_), arguments, .. } = &**call
    {
        arguments.iter().for_each(|argument| passed(argument, into));
    }
}

fn passed(argument: &Argument, into: &mut BTreeSet<u16>) {
    if let Argument::In(ex, shape) = argument
        && shape.bits() == Some(BITS)
    {
        constants(ex, into);
    }
}
