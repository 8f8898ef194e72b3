//! A tree as text that reads back as the same tree.

use super::ast::*;
use std::fmt::{self, Write};
use std::rc::Rc;

/// The program as text, without comments, macros and includes.
pub(crate) fn print(program: &Program) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    for (i, declaration) in program.declarations.iter().enumerate() {
        let apart = i > 0 && is_long(declaration) | is_long(&program.declarations[i - 1]);
        if apart {
            printer.out.push('\n');
        }
        printer.declaration(declaration);
    }
    printer.out
}

/// Whether a declaration has lines of its own around it.
fn is_long(declaration: &Declaration) -> bool {
    use DeclarationKind as K;
    match &declaration.kind {
        K::Constant { .. } | K::Variable { .. } | K::Alias { .. } | K::ExternFunction(_) | K::Empty => false,
        K::Block(block) => block.body.is_some(),
        K::Instance(instance) => instance.implements.is_some(),
        _ => true,
    }
}

struct Printer {
    out: String,
    indent: usize,
}

impl Write for Printer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.push_str(text);
        Ok(())
    }
}

macro_rules! put {
    ($printer:expr, $($format:tt)*) => { write!($printer, $($format)*).expect("a String takes everything") };
}

/// Binds as tightly as a unary operator, and as a member.
const UNARY: u8 = 12;
const POSTFIX: u8 = 13;

impl Printer {
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("    ", self.indent));
    }

    fn begin(&mut self) {
        self.out.extend(std::iter::repeat_n("    ", self.indent));
    }

    fn joined<T>(&mut self, all: &[T], mut print: impl FnMut(&mut Self, &T)) {
        for (i, one) in all.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            print(self, one);
        }
    }

    /// Lines in braces; what stands in each ends itself.
    fn braces<T>(&mut self, all: &[T], mut print: impl FnMut(&mut Self, &T)) {
        self.out.push('{');
        self.indent += 1;
        for one in all {
            self.line();
            print(self, one);
        }
        self.indent -= 1;
        if !all.is_empty() {
            self.line();
        }
        self.out.push('}');
    }

    fn annotations(&mut self, all: &[Annotation]) {
        for annotation in all {
            put!(self, "@{}", annotation.name.text);
            match &annotation.body {
                None => {}
                Some(AnnotationBody::Words(words)) => put!(self, "({})", words.join(" ")),
                Some(AnnotationBody::List(values)) => {
                    self.out.push('[');
                    self.joined(values, Self::expression);
                    self.out.push(']');
                }
                Some(AnnotationBody::Pairs(pairs)) => {
                    self.out.push('[');
                    self.joined(pairs, Self::pair);
                    self.out.push(']');
                }
            }
            self.out.push(' ');
        }
    }

    fn pair(&mut self, (name, value): &(Name, Expr)) {
        put!(self, "{} = ", name.text);
        self.expression(value);
    }

    fn type_parameters(&mut self, types: &[Name]) {
        if !types.is_empty() {
            self.out.push('<');
            self.joined(types, |p, name| p.out.push_str(&name.text));
            self.out.push('>');
        }
    }

    fn type_arguments(&mut self, types: &[TypeExpr]) {
        self.out.push('<');
        self.joined(types, Self::ty);
        self.out.push('>');
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Bool => self.out.push_str("bool"),
            TypeKind::Error => self.out.push_str("error"),
            TypeKind::MatchKind => self.out.push_str("match_kind"),
            TypeKind::String => self.out.push_str("string"),
            TypeKind::Void => self.out.push_str("void"),
            TypeKind::Integer => self.out.push_str("int"),
            TypeKind::Any => self.out.push('_'),
            TypeKind::Bit(None) => self.out.push_str("bit"),
            TypeKind::Bit(Some(width)) => self.width("bit", width),
            TypeKind::Int(width) => self.width("int", width),
            TypeKind::Varbit(width) => self.width("varbit", width),
            TypeKind::Named { global, name, arguments } => {
                put!(self, "{}{}", if *global { "." } else { "" }, name.text);
                if !arguments.is_empty() {
                    self.type_arguments(arguments);
                }
            }
            TypeKind::Stack(element, size) => {
                self.ty(element);
                self.out.push('[');
                self.expression(size);
                self.out.push(']');
            }
            TypeKind::Tuple(types) => {
                self.out.push_str("tuple");
                self.type_arguments(types);
            }
            TypeKind::List(element) => {
                self.out.push_str("list<");
                self.ty(element);
                self.out.push('>');
            }
        }
    }

    fn width(&mut self, of: &str, width: &Expr) {
        match &width.kind {
            ExprKind::Number(number) => put!(self, "{of}<{}>", number_text(number)),
            _ => {
                put!(self, "{of}<(");
                self.expression(width);
                self.out.push_str(")>");
            }
        }
    }

    fn expression(&mut self, value: &Expr) {
        self.at_level(value, 0);
    }

    /// An expression among operators that bind so tightly.
    fn at_level(&mut self, value: &Expr, least: u8) {
        let level = match &value.kind {
            ExprKind::Choice(..) | ExprKind::Mask(..) | ExprKind::Range(..) => 0,
            ExprKind::Binary(operator, ..) => operator.level(),
            ExprKind::Unary(..) | ExprKind::Cast(..) => UNARY,
            _ => POSTFIX,
        };
        let apart = level < least;
        if apart {
            self.out.push('(');
        }
        self.bare(value);
        if apart {
            self.out.push(')');
        }
    }

    fn bare(&mut self, value: &Expr) {
        match &value.kind {
            ExprKind::Bool(value) => put!(self, "{value}"),
            ExprKind::Number(number) => put!(self, "{}", number_text(number)),
            ExprKind::Text(text) => put!(self, "\"{text}\""),
            ExprKind::Name { global, name } => put!(self, "{}{}", if *global { "." } else { "" }, name.text),
            ExprKind::This => self.out.push_str("this"),
            ExprKind::Type(ty) => self.ty(ty),
            ExprKind::Dots => self.out.push_str("..."),
            ExprKind::Any => self.out.push('_'),
            ExprKind::Default => self.out.push_str("default"),
            ExprKind::Invalid => self.out.push_str("{#}"),
            ExprKind::List(values) => {
                self.out.push('{');
                self.joined(values, Self::expression);
                self.out.push('}');
            }
            ExprKind::Struct(fields, dots) => {
                self.out.push('{');
                self.joined(fields, Self::pair);
                self.out.push_str(if *dots { ", ...}" } else { "}" });
            }
            ExprKind::Unary(operator, value) => {
                self.out.push(match operator {
                    Unary::Minus => '-',
                    Unary::Plus => '+',
                    Unary::Not => '!',
                    Unary::Complement => '~',
                });
                // Two signs would be read as one operator.
                let sign = matches!(&value.kind, ExprKind::Unary(Unary::Minus | Unary::Plus, _));
                self.at_level(value, if sign { POSTFIX } else { UNARY });
            }
            ExprKind::Binary(operator, left, right) => {
                self.at_level(left, operator.level());
                put!(self, " {} ", operator.text());
                self.at_level(right, operator.level() + 1);
            }
            ExprKind::Choice(condition, yes, no) => {
                self.at_level(condition, 1);
                self.out.push_str(" ? ");
                self.at_level(yes, 0);
                self.out.push_str(" : ");
                self.at_level(no, 0);
            }
            ExprKind::Cast(ty, value) => {
                self.out.push('(');
                self.ty(ty);
                self.out.push(')');
                self.at_level(value, UNARY);
            }
            ExprKind::Member(owner, member) => {
                self.at_level(owner, POSTFIX);
                put!(self, ".{}", member.text);
            }
            ExprKind::Index(stack, index) => {
                self.at_level(stack, POSTFIX);
                self.out.push('[');
                self.expression(index);
                self.out.push(']');
            }
            ExprKind::Slice(value, high, low) => self.slice(value, high, ":", low),
            ExprKind::Part(value, low, width) => self.slice(value, low, " +: ", width),
            ExprKind::Call(callee, types, arguments) => {
                self.at_level(callee, POSTFIX);
                if !types.is_empty() {
                    self.type_arguments(types);
                }
                self.arguments(arguments);
            }
            ExprKind::Mask(value, mask) => {
                self.at_level(value, 1);
                self.out.push_str(" &&& ");
                self.at_level(mask, 1);
            }
            ExprKind::Range(low, high) => {
                self.at_level(low, 1);
                self.out.push_str(" .. ");
                self.at_level(high, 1);
            }
        }
    }

    fn slice(&mut self, value: &Expr, first: &Expr, between: &str, second: &Expr) {
        self.at_level(value, POSTFIX);
        self.out.push('[');
        self.expression(first);
        self.out.push_str(between);
        self.expression(second);
        self.out.push(']');
    }

    fn arguments(&mut self, all: &[Argument]) {
        self.out.push('(');
        self.joined(all, |p, argument| {
            if let Some(name) = &argument.name {
                put!(p, "{} = ", name.text);
            }
            p.expression(&argument.value);
        });
        self.out.push(')');
    }

    fn parameters(&mut self, all: &[Parameter]) {
        self.out.push('(');
        self.joined(all, |p, parameter| {
            p.annotations(&parameter.annotations);
            p.out.push_str(match parameter.direction {
                Direction::None => "",
                Direction::In => "in ",
                Direction::Out => "out ",
                Direction::InOut => "inout ",
            });
            p.ty(&parameter.ty);
            put!(p, " {}", parameter.name.text);
            if let Some(default) = &parameter.default {
                p.out.push_str(" = ");
                p.expression(default);
            }
        });
        self.out.push(')');
    }

    fn prototype(&mut self, prototype: &Prototype) {
        self.annotations(&prototype.annotations);
        if prototype.is_abstract {
            self.out.push_str("abstract ");
        }
        if let Some(result) = &prototype.result {
            self.ty(result);
            self.out.push(' ');
        }
        self.out.push_str(&prototype.name.text);
        self.type_parameters(&prototype.types);
        self.parameters(&prototype.parameters);
    }

    /// A declaration with its end of line.
    fn declaration(&mut self, declaration: &Declaration) {
        self.begin();
        self.declared(declaration);
        self.out.push('\n');
    }

    fn declared(&mut self, declaration: &Declaration) {
        // Those of an extern function stand in its prototype.
        if !matches!(declaration.kind, DeclarationKind::ExternFunction(_)) {
            self.annotations(&declaration.annotations);
        }
        match &declaration.kind {
            DeclarationKind::Constant { ty, name, value } => {
                self.out.push_str("const ");
                self.variable(ty, name, Some(value));
                self.out.push(';');
            }
            DeclarationKind::Variable { ty, name, value } => {
                self.variable(ty, name, value.as_ref());
                self.out.push(';');
            }
            DeclarationKind::Instance(instance) => self.instance(instance),
            DeclarationKind::Action { name, parameters, body } => {
                put!(self, "action {}", name.text);
                self.parameters(parameters);
                self.out.push(' ');
                self.statements(body);
            }
            DeclarationKind::Function { prototype, body, .. } => {
                self.prototype(prototype);
                self.out.push(' ');
                self.statements(body);
            }
            DeclarationKind::ExternFunction(prototype) => {
                let annotations = &prototype.annotations;
                self.annotations(annotations);
                self.out.push_str("extern ");
                self.prototype(&Prototype { annotations: Vec::new(), ..prototype.clone() });
                self.out.push(';');
            }
            DeclarationKind::Extern { name, types, methods } => {
                put!(self, "extern {}", name.text);
                self.type_parameters(types);
                self.out.push(' ');
                self.braces(methods, |p, method| {
                    p.prototype(method);
                    p.out.push(';');
                });
            }
            DeclarationKind::Fields { kind, name, types, fields } => {
                let word = match kind {
                    Fields::Struct => "struct",
                    Fields::Header => "header",
                    Fields::Union => "header_union",
                };
                put!(self, "{word} {}", name.text);
                self.type_parameters(types);
                self.out.push(' ');
                self.braces(fields, |p, field| {
                    p.annotations(&field.annotations);
                    p.ty(&field.ty);
                    put!(p, " {};", field.name.text);
                });
            }
            DeclarationKind::Enum { ty, name, members } => {
                self.out.push_str("enum ");
                if let Some(ty) = ty {
                    self.ty(ty);
                    self.out.push(' ');
                }
                put!(self, "{} ", name.text);
                self.braces(members, |p, (name, value)| {
                    p.out.push_str(&name.text);
                    if let Some(value) = value {
                        p.out.push_str(" = ");
                        p.expression(value);
                    }
                    p.out.push(',');
                });
            }
            DeclarationKind::Error(names) => self.names("error", names),
            DeclarationKind::MatchKind(names) => self.names("match_kind", names),
            DeclarationKind::Alias { new, ty, name } => {
                self.out.push_str(if *new { "type " } else { "typedef " });
                match ty {
                    AliasOf::Type(ty) => self.ty(ty),
                    AliasOf::Declared(declaration) => self.declared(declaration),
                }
                put!(self, " {};", name.text);
            }
            DeclarationKind::Block(block) => self.block(block),
            DeclarationKind::Package { name, types, parameters } => {
                put!(self, "package {}", name.text);
                self.type_parameters(types);
                self.parameters(parameters);
                self.out.push(';');
            }
            DeclarationKind::Table { name, properties } => {
                put!(self, "table {} ", name.text);
                self.braces(properties, Self::property);
            }
            DeclarationKind::ValueSet { ty, size, name } => {
                self.out.push_str("value_set<");
                self.ty(ty);
                self.out.push_str(">(");
                self.expression(size);
                put!(self, ") {};", name.text);
            }
            DeclarationKind::Empty => self.out.push(';'),
        }
    }

    fn names(&mut self, word: &str, names: &[Name]) {
        put!(self, "{word} ");
        self.braces(names, |p, name| put!(p, "{},", name.text));
    }

    fn variable(&mut self, ty: &TypeExpr, name: &Name, value: Option<&Expr>) {
        self.ty(ty);
        put!(self, " {}", name.text);
        if let Some(value) = value {
            self.out.push_str(" = ");
            self.expression(value);
        }
    }

    fn instance(&mut self, instance: &Instance) {
        self.ty(&instance.ty);
        self.arguments(&instance.arguments);
        put!(self, " {}", instance.name.text);
        if let Some(all) = &instance.implements {
            self.out.push_str(" = ");
            self.braces(all, Self::declared);
        }
        self.out.push(';');
    }

    fn block(&mut self, block: &Block) {
        put!(self, "{} {}", if block.kind == BlockKind::Parser { "parser" } else { "control" }, block.name.text);
        self.type_parameters(&block.types);
        self.parameters(&block.parameters);
        if let Some(constructor) = &block.constructor {
            self.parameters(constructor);
        }
        let Some(body) = &block.body else { return self.out.push(';') };
        self.out.push_str(" {\n");
        self.indent += 1;
        body.locals.iter().for_each(|local| self.declaration(local));
        for state in &body.states {
            self.begin();
            self.state(state);
            self.out.push('\n');
        }
        if block.kind == BlockKind::Control {
            self.begin();
            self.out.push_str("apply ");
            self.statements(&body.apply);
            self.out.push('\n');
        }
        self.indent -= 1;
        self.begin();
        self.out.push('}');
    }

    fn state(&mut self, state: &State) {
        self.annotations(&state.annotations);
        put!(self, "state {} {{", state.name.text);
        self.indent += 1;
        for statement in &state.statements {
            self.line();
            self.statement(statement);
        }
        if let Some(transition) = &state.transition {
            self.line();
            self.out.push_str("transition ");
            match transition {
                Transition::Direct(name) => put!(self, "{};", name.text),
                Transition::Select { keys, cases, .. } => {
                    self.out.push_str("select(");
                    self.joined(keys, Self::expression);
                    self.out.push_str(") ");
                    self.braces(cases, |p, case| {
                        p.key_values(&case.values);
                        put!(p, ": {};", case.state.text);
                    });
                }
            }
        }
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }

    fn key_values(&mut self, values: &[Expr]) {
        self.out.push('(');
        self.joined(values, Self::expression);
        self.out.push(')');
    }

    fn property(&mut self, property: &Property) {
        self.annotations(&property.annotations);
        put!(self, "{}{} = ", if property.constant { "const " } else { "" }, property.name.text);
        match &property.value {
            PropertyValue::Key(keys) => self.braces(keys, |p, key| {
                p.expression(&key.value);
                put!(p, ": {}", key.kind.text);
                if !key.annotations.is_empty() {
                    p.out.push(' ');
                    p.annotations(&key.annotations);
                }
                p.out.push(';');
            }),
            PropertyValue::Actions(actions) => self.braces(actions, |p, action| {
                p.annotations(&action.annotations);
                p.expression(&action.value);
                p.out.push(';');
            }),
            PropertyValue::Entries(entries) => self.braces(entries, |p, entry| {
                p.out.push_str(if entry.constant { "const " } else { "" });
                if let Some(priority) = &entry.priority {
                    p.out.push_str("priority = ");
                    p.expression(priority);
                    p.out.push_str(": ");
                }
                p.key_values(&entry.values);
                p.out.push_str(": ");
                p.annotations(&entry.action.annotations);
                p.expression(&entry.action.value);
                p.out.push(';');
            }),
            PropertyValue::Value(value) => {
                self.expression(value);
                self.out.push(';');
            }
        }
    }

    fn statements(&mut self, all: &[Statement]) {
        self.braces(all, Self::statement);
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Empty => self.out.push(';'),
            StatementKind::Assign(..) | StatementKind::Call(_) => {
                self.simple(statement);
                self.out.push(';');
            }
            StatementKind::If(condition, yes, no) => {
                self.out.push_str("if (");
                self.expression(condition);
                self.out.push_str(") ");
                // No tree has a branch that would take the `else` of another.
                self.statement(yes);
                if let Some(no) = no {
                    self.out.push_str(" else ");
                    self.statement(no);
                }
            }
            StatementKind::Block(annotations, all) => {
                self.annotations(annotations);
                self.statements(all);
            }
            StatementKind::Return(None) => self.out.push_str("return;"),
            StatementKind::Return(Some(value)) => {
                self.out.push_str("return ");
                self.expression(value);
                self.out.push(';');
            }
            StatementKind::Exit => self.out.push_str("exit;"),
            StatementKind::Break => self.out.push_str("break;"),
            StatementKind::Continue => self.out.push_str("continue;"),
            StatementKind::Switch(value, cases) => {
                self.out.push_str("switch (");
                self.expression(value);
                self.out.push_str(") ");
                self.braces(cases, |p, case| {
                    p.expression(&case.label);
                    p.out.push(':');
                    if let Some(body) = &case.body {
                        p.out.push(' ');
                        p.statement(body);
                    }
                });
            }
            StatementKind::For { init, condition, update, body } => {
                self.out.push_str("for (");
                self.joined(init, Self::simple);
                self.out.push_str("; ");
                self.expression(condition);
                self.out.push_str("; ");
                self.joined(update, Self::simple);
                self.out.push_str(") ");
                self.statement(body);
            }
            StatementKind::ForIn { declared, variable, over, body } => {
                self.out.push_str("for (");
                self.ty(declared);
                put!(self, " {} in ", variable.text);
                match over {
                    ForOver::List(value) => self.expression(value),
                    ForOver::Range(low, high) => {
                        self.at_level(low, 1);
                        self.out.push_str(" .. ");
                        self.at_level(high, 1);
                    }
                }
                self.out.push_str(") ");
                self.statement(body);
            }
            StatementKind::Declaration(declaration) => self.declared(declaration),
        }
    }

    /// A statement without its semicolon.
    fn simple(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign(left, operator, right) => {
                self.expression(left);
                put!(self, " {}= ", operator.map_or("", Binary::text));
                self.expression(right);
            }
            StatementKind::Call(call) => self.expression(call),
            StatementKind::Declaration(declaration) => {
                self.annotations(&declaration.annotations);
                if let DeclarationKind::Variable { ty, name, value } = &declaration.kind {
                    self.variable(ty, name, value.as_ref());
                }
            }
            _ => self.statement(statement),
        }
    }
}

fn number_text(number: &Number) -> Rc<str> {
    let sign = if number.signed { 's' } else { 'w' };
    match number.width {
        Some(width) => format!("{width}{sign}{}", number.value).into(),
        None => number.value.to_string().into(),
    }
}
