//! Walks over statements and expressions.

use crate::front::syntax::ast::{
    Block, Body, Declaration, DeclarationKind, Expr, ExprKind, ForOver, PropertyValue, Statement, StatementKind,
    Transition,
};

/// Expressions right below one.
pub(crate) fn below(expression: &Expr) -> Vec<&Expr> {
    match &expression.kind {
        ExprKind::List(all) => all.iter().collect(),
        ExprKind::Struct(all, _) => all.iter().map(|(_, value)| value).collect(),
        ExprKind::Unary(_, value) | ExprKind::Cast(_, value) | ExprKind::Member(value, _) => vec![value],
        ExprKind::Binary(_, one, two)
        | ExprKind::Index(one, two)
        | ExprKind::Mask(one, two)
        | ExprKind::Range(one, two) => vec![one, two],
        ExprKind::Choice(one, two, three) | ExprKind::Slice(one, two, three) | ExprKind::Part(one, two, three) => {
            vec![one, two, three]
        }
        ExprKind::Call(callee, _, arguments) => {
            std::iter::once(&**callee).chain(arguments.iter().map(|argument| &argument.value)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a cast is of.
pub(crate) fn uncast(mut value: &Expr) -> &Expr {
    while let ExprKind::Cast(_, of) = &value.kind {
        value = of;
    }
    value
}

/// An expression and all below it.
pub(crate) fn expressions<'p>(expression: &'p Expr, see: &mut dyn FnMut(&'p Expr)) {
    see(expression);
    below(expression).into_iter().for_each(|one| expressions(one, see));
}

/// All statements, with those inside of others.
pub(crate) fn statements<'p>(all: &'p [Statement], see: &mut dyn FnMut(&'p Statement)) {
    for statement in all {
        see(statement);
        match &statement.kind {
            StatementKind::If(_, yes, no) => {
                statements(std::slice::from_ref(yes), see);
                no.iter().for_each(|no| statements(std::slice::from_ref(no), see));
            }
            StatementKind::Block(_, all) => statements(all, see),
            StatementKind::Switch(_, cases) => {
                cases.iter().filter_map(|case| case.body.as_ref()).for_each(|body| {
                    statements(std::slice::from_ref(body), see);
                });
            }
            StatementKind::For { init, update, body, .. } => {
                statements(init, see);
                statements(update, see);
                statements(std::slice::from_ref(body), see);
            }
            StatementKind::ForIn { body, .. } => statements(std::slice::from_ref(body), see),
            _ => {}
        }
    }
}

/// Expressions that stand in a statement itself, not in those inside of it.
pub(crate) fn of_statement(statement: &Statement) -> Vec<&Expr> {
    match &statement.kind {
        StatementKind::Assign(left, _, right) => vec![left, right],
        StatementKind::Call(value) | StatementKind::If(value, ..) | StatementKind::Return(Some(value)) => vec![value],
        StatementKind::Switch(value, cases) => {
            std::iter::once(value).chain(cases.iter().map(|case| &case.label)).collect()
        }
        StatementKind::For { condition, .. } => vec![condition],
        StatementKind::ForIn { over: ForOver::Range(one, two), .. } => vec![one, two],
        StatementKind::ForIn { over: ForOver::List(list), .. } => vec![list],
        StatementKind::Declaration(declaration) => match &declaration.kind {
            DeclarationKind::Variable { value: Some(value), .. } | DeclarationKind::Constant { value, .. } => {
                vec![value]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Statements of a declaration that has a body: an action or a function.
pub(crate) fn body(declaration: &Declaration) -> &[Statement] {
    match &declaration.kind {
        DeclarationKind::Action { body, .. } | DeclarationKind::Function { body, .. } => body,
        _ => &[],
    }
}

/// All statements of a declaration outside of others: of a parser, a control, an action or a function.
pub(crate) fn statements_of<'p>(declaration: &'p Declaration, see: &mut dyn FnMut(&'p Statement)) {
    if let DeclarationKind::Block(Block { body: Some(body), .. }) = &declaration.kind {
        of_body(body, see);
    }
    statements(body(declaration), see);
}

/// All expressions of such a declaration.
pub(crate) fn expressions_of<'p>(declaration: &'p Declaration, see: &mut dyn FnMut(&'p Expr)) {
    if let DeclarationKind::Block(Block { body: Some(body), .. }) = &declaration.kind {
        expressions_of_body(body, see);
    }
    in_statements(body(declaration), see);
}

/// All expressions of statements, and of those inside of them.
pub(crate) fn in_statements<'p>(all: &'p [Statement], see: &mut dyn FnMut(&'p Expr)) {
    statements(all, &mut |statement| of_statement(statement).into_iter().for_each(|one| expressions(one, see)));
}

/// All statements of a parser or control: of its actions, states and `apply`.
pub(crate) fn of_body<'p>(body: &'p Body, see: &mut dyn FnMut(&'p Statement)) {
    body.locals.iter().for_each(|local| statements(self::body(local), see));
    body.states.iter().for_each(|state| statements(&state.statements, see));
    statements(&body.apply, see);
}

/// All expressions of a parser or control.
pub(crate) fn expressions_of_body<'p>(body: &'p Body, see: &mut dyn FnMut(&'p Expr)) {
    of_body(body, &mut |statement| of_statement(statement).into_iter().for_each(|one| expressions(one, see)));
    for local in &body.locals {
        match &local.kind {
            DeclarationKind::Variable { value: Some(value), .. } | DeclarationKind::Constant { value, .. } => {
                expressions(value, see);
            }
            DeclarationKind::Table { properties, .. } => {
                for property in properties {
                    match &property.value {
                        PropertyValue::Key(keys) => keys.iter().for_each(|key| expressions(&key.value, see)),
                        PropertyValue::Actions(all) => all.iter().for_each(|action| expressions(&action.value, see)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    for state in &body.states {
        if let Some(Transition::Select { keys, .. }) = &state.transition {
            keys.iter().for_each(|key| expressions(key, see));
        }
    }
}
