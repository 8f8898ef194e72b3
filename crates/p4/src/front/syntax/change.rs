//! A walk through a tree that may change what it meets.

use super::ast::*;
use crate::front::source::Span;

/// What a name does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It declares something that others name.
    Declares,
    /// It stands for what was declared, or is the name of an argument.
    Uses,
    /// It is a part of something: a field, method, label, state or property.
    Part,
}

/// What is done with a tree; what is not said leaves all as it is.
pub(crate) trait Change {
    /// A place.
    fn span(&mut self, _: &mut Span) {}
    /// A name.
    fn name(&mut self, _: &mut Name, _: Role) {}
    /// An expression. Whoever has an own one decides whether and when its parts are met, by [`expression`].
    fn expression(&mut self, value: &mut Expr) {
        expression(self, value);
    }
    /// A statement, in the same way.
    fn statement(&mut self, value: &mut Statement) {
        statement(self, value);
    }
}

fn name<C: Change + ?Sized>(c: &mut C, name: &mut Name, role: Role) {
    c.name(name, role);
    c.span(&mut name.span);
}

fn expressions<C: Change + ?Sized>(c: &mut C, all: &mut [Expr]) {
    all.iter_mut().for_each(|value| c.expression(value));
}

fn pairs<C: Change + ?Sized>(c: &mut C, all: &mut [(Name, Expr)]) {
    for (field, value) in all {
        name(c, field, Role::Part);
        c.expression(value);
    }
}

fn annotations<C: Change + ?Sized>(c: &mut C, all: &mut [Annotation]) {
    for annotation in all {
        name(c, &mut annotation.name, Role::Part);
        match &mut annotation.body {
            None | Some(AnnotationBody::Words(_)) => {}
            Some(AnnotationBody::List(values)) => expressions(c, values),
            Some(AnnotationBody::Pairs(values)) => pairs(c, values),
        }
    }
}

/// The parts of a type.
pub(crate) fn ty<C: Change + ?Sized>(c: &mut C, of: &mut TypeExpr) {
    c.span(&mut of.span);
    match &mut of.kind {
        TypeKind::Bool | TypeKind::Error | TypeKind::MatchKind | TypeKind::String | TypeKind::Void => {}
        TypeKind::Integer | TypeKind::Any | TypeKind::Bit(None) => {}
        TypeKind::Bit(Some(width)) | TypeKind::Int(width) | TypeKind::Varbit(width) => c.expression(width),
        TypeKind::Named { name: named, arguments, .. } => {
            name(c, named, Role::Uses);
            arguments.iter_mut().for_each(|argument| ty(c, argument));
        }
        TypeKind::Stack(element, size) => {
            ty(c, element);
            c.expression(size);
        }
        TypeKind::Tuple(all) => all.iter_mut().for_each(|one| ty(c, one)),
        TypeKind::List(element) => ty(c, element),
    }
}

fn arguments<C: Change + ?Sized>(c: &mut C, all: &mut [Argument]) {
    for argument in all {
        if let Some(named) = &mut argument.name {
            name(c, named, Role::Uses);
        }
        c.expression(&mut argument.value);
    }
}

/// The parts of an expression.
pub(crate) fn expression<C: Change + ?Sized>(c: &mut C, value: &mut Expr) {
    c.span(&mut value.at.span);
    match &mut value.kind {
        ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::This | ExprKind::Dots => {}
        ExprKind::Any | ExprKind::Default | ExprKind::Invalid => {}
        ExprKind::Name { name: named, .. } => name(c, named, Role::Uses),
        ExprKind::Type(of) => ty(c, of),
        ExprKind::List(all) => expressions(c, all),
        ExprKind::Struct(all, _) => pairs(c, all),
        ExprKind::Unary(_, one) => c.expression(one),
        ExprKind::Cast(of, one) => {
            ty(c, of);
            c.expression(one);
        }
        ExprKind::Member(owner, member) => {
            c.expression(owner);
            name(c, member, Role::Part);
        }
        ExprKind::Binary(_, one, two)
        | ExprKind::Index(one, two)
        | ExprKind::Mask(one, two)
        | ExprKind::Range(one, two) => {
            c.expression(one);
            c.expression(two);
        }
        ExprKind::Choice(one, two, three) | ExprKind::Slice(one, two, three) | ExprKind::Part(one, two, three) => {
            [one, two, three].into_iter().for_each(|part| c.expression(part));
        }
        ExprKind::Call(callee, types, given) => {
            c.expression(callee);
            types.iter_mut().for_each(|one| ty(c, one));
            arguments(c, given);
        }
    }
}

/// The parts of a statement.
pub(crate) fn statement<C: Change + ?Sized>(c: &mut C, of: &mut Statement) {
    c.span(&mut of.span);
    match &mut of.kind {
        StatementKind::Empty | StatementKind::Return(None) | StatementKind::Exit => {}
        StatementKind::Break | StatementKind::Continue => {}
        StatementKind::Assign(left, _, right) => {
            c.expression(left);
            c.expression(right);
        }
        StatementKind::Call(value) | StatementKind::Return(Some(value)) => c.expression(value),
        StatementKind::If(condition, yes, no) => {
            c.expression(condition);
            c.statement(yes);
            if let Some(no) = no {
                c.statement(no);
            }
        }
        StatementKind::Block(noted, all) => {
            annotations(c, noted);
            statements(c, all);
        }
        StatementKind::Switch(value, cases) => {
            c.expression(value);
            for case in cases {
                c.expression(&mut case.label);
                if let Some(body) = &mut case.body {
                    c.statement(body);
                }
            }
        }
        StatementKind::For { init, condition, update, body } => {
            statements(c, init);
            c.expression(condition);
            statements(c, update);
            c.statement(body);
        }
        StatementKind::ForIn { declared, variable, over, body } => {
            ty(c, declared);
            name(c, variable, Role::Declares);
            match over {
                ForOver::Range(low, high) => {
                    c.expression(low);
                    c.expression(high);
                }
                ForOver::List(list) => c.expression(list),
            }
            c.statement(body);
        }
        StatementKind::Declaration(inner) => declaration(c, inner),
    }
}

/// All of them.
pub(crate) fn statements<C: Change + ?Sized>(c: &mut C, all: &mut [Statement]) {
    all.iter_mut().for_each(|one| c.statement(one));
}

fn parameters<C: Change + ?Sized>(c: &mut C, all: &mut [Parameter]) {
    for parameter in all {
        annotations(c, &mut parameter.annotations);
        ty(c, &mut parameter.ty);
        name(c, &mut parameter.name, Role::Declares);
        if let Some(value) = &mut parameter.default {
            c.expression(value);
        }
    }
}

fn declares<C: Change + ?Sized>(c: &mut C, all: &mut [Name]) {
    all.iter_mut().for_each(|one| name(c, one, Role::Declares));
}

fn prototype<C: Change + ?Sized>(c: &mut C, of: &mut Prototype, role: Role) {
    annotations(c, &mut of.annotations);
    if let Some(result) = &mut of.result {
        ty(c, result);
    }
    name(c, &mut of.name, role);
    declares(c, &mut of.types);
    parameters(c, &mut of.parameters);
}

fn action<C: Change + ?Sized>(c: &mut C, of: &mut ActionRef) {
    annotations(c, &mut of.annotations);
    c.expression(&mut of.value);
}

fn property<C: Change + ?Sized>(c: &mut C, of: &mut Property) {
    annotations(c, &mut of.annotations);
    name(c, &mut of.name, Role::Part);
    match &mut of.value {
        PropertyValue::Key(all) => {
            for key in all {
                c.expression(&mut key.value);
                name(c, &mut key.kind, Role::Part);
                annotations(c, &mut key.annotations);
            }
        }
        PropertyValue::Actions(all) => all.iter_mut().for_each(|one| action(c, one)),
        PropertyValue::Entries(all) => {
            for entry in all {
                c.span(&mut entry.span);
                if let Some(priority) = &mut entry.priority {
                    c.expression(priority);
                }
                expressions(c, &mut entry.values);
                action(c, &mut entry.action);
            }
        }
        PropertyValue::Value(value) => c.expression(value),
    }
}

fn body<C: Change + ?Sized>(c: &mut C, of: &mut Body) {
    of.locals.iter_mut().for_each(|local| declaration(c, local));
    of.states.iter_mut().for_each(|one| state(c, one));
    statements(c, &mut of.apply);
    c.span(&mut of.end);
}

/// A state of a parser.
pub(crate) fn state<C: Change + ?Sized>(c: &mut C, of: &mut State) {
    annotations(c, &mut of.annotations);
    name(c, &mut of.name, Role::Part);
    statements(c, &mut of.statements);
    match &mut of.transition {
        None => {}
        Some(Transition::Direct(next)) => name(c, next, Role::Part),
        Some(Transition::Select { keys, cases, span }) => {
            expressions(c, keys);
            for case in cases {
                expressions(c, &mut case.values);
                name(c, &mut case.state, Role::Part);
            }
            c.span(span);
        }
    }
}

/// A declaration with all that stands in it.
pub(crate) fn declaration<C: Change + ?Sized>(c: &mut C, of: &mut Declaration) {
    annotations(c, &mut of.annotations);
    c.span(&mut of.span);
    match &mut of.kind {
        DeclarationKind::Empty => {}
        DeclarationKind::Constant { ty: typed, name: named, value } => {
            ty(c, typed);
            c.expression(value);
            name(c, named, Role::Declares);
        }
        DeclarationKind::Variable { ty: typed, name: named, value } => {
            ty(c, typed);
            if let Some(value) = value {
                c.expression(value);
            }
            name(c, named, Role::Declares);
        }
        DeclarationKind::Instance(instance) => {
            ty(c, &mut instance.ty);
            arguments(c, &mut instance.arguments);
            name(c, &mut instance.name, Role::Declares);
            instance.implements.iter_mut().flatten().for_each(|inner| declaration(c, inner));
        }
        DeclarationKind::Action { name: named, parameters: given, body } => {
            name(c, named, Role::Declares);
            parameters(c, given);
            statements(c, body);
        }
        DeclarationKind::Function { prototype: of, body, end } => {
            prototype(c, of, Role::Declares);
            statements(c, body);
            c.span(end);
        }
        DeclarationKind::ExternFunction(of) => prototype(c, of, Role::Declares),
        DeclarationKind::Extern { name: named, types, methods } => {
            name(c, named, Role::Declares);
            declares(c, types);
            // A constructor has the name of what it makes.
            for method in methods {
                let role = if method.result.is_none() { Role::Declares } else { Role::Part };
                prototype(c, method, role);
            }
        }
        DeclarationKind::Fields { name: named, types, fields, .. } => {
            name(c, named, Role::Declares);
            declares(c, types);
            for field in fields {
                annotations(c, &mut field.annotations);
                ty(c, &mut field.ty);
                name(c, &mut field.name, Role::Part);
            }
        }
        DeclarationKind::Enum { ty: typed, name: named, members } => {
            if let Some(typed) = typed {
                ty(c, typed);
            }
            name(c, named, Role::Declares);
            for (member, value) in members {
                name(c, member, Role::Part);
                if let Some(value) = value {
                    c.expression(value);
                }
            }
        }
        DeclarationKind::Error(all) | DeclarationKind::MatchKind(all) => {
            all.iter_mut().for_each(|one| name(c, one, Role::Part));
        }
        DeclarationKind::Alias { ty: of, name: named, .. } => {
            match of {
                AliasOf::Type(typed) => ty(c, typed),
                AliasOf::Declared(inner) => declaration(c, inner),
            }
            name(c, named, Role::Declares);
        }
        DeclarationKind::Block(block) => {
            name(c, &mut block.name, Role::Declares);
            declares(c, &mut block.types);
            parameters(c, &mut block.parameters);
            parameters(c, block.constructor.as_deref_mut().unwrap_or_default());
            if let Some(inner) = &mut block.body {
                body(c, inner);
            }
        }
        DeclarationKind::Package { name: named, types, parameters: given } => {
            name(c, named, Role::Declares);
            declares(c, types);
            parameters(c, given);
        }
        DeclarationKind::Table { name: named, properties } => {
            name(c, named, Role::Declares);
            properties.iter_mut().for_each(|one| property(c, one));
        }
        DeclarationKind::ValueSet { ty: typed, size, name: named } => {
            ty(c, typed);
            c.expression(size);
            name(c, named, Role::Declares);
        }
    }
}
