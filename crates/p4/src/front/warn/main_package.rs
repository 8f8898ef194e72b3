//! Of the whole program: no `main`; of one for v1model: packets without a port, headers that are lost.

use super::{Looked, Warned, walk};
use crate::front::check::{DefId, Kind, Signature, Type};
use crate::front::syntax::ast::{
    Argument, Block, BlockKind, DeclarationKind, Direction, Expr, ExprKind, Instance, Statement, StatementKind,
    TypeKind,
};
use std::collections::HashSet;
use std::rc::Rc;

/// The package of v1model.
pub(super) const V1MODEL: &str = "V1Switch";

/// Parsers and controls of a program for v1model.
pub(super) struct V1model<'p> {
    pub parser: &'p Block,
    pub ingress: &'p Block,
    pub egress: &'p Block,
    pub deparser: &'p Block,
}

pub(super) fn look(looked: &mut Looked<'_>) {
    no_main(looked);
    let Some(parts) = v1model(looked) else { return };
    no_egress_spec(looked, &parts);
    not_emitted(looked, &parts);
}

pub(super) fn main<'p>(looked: &Looked<'p>) -> Option<&'p Instance> {
    looked.declarations().find_map(|declaration| match &declaration.kind {
        DeclarationKind::Instance(instance) if &*instance.name.text == "main" => Some(instance),
        _ => None,
    })
}

/// The parts of a program for v1model, if it is one and they are told by name.
pub(super) fn v1model<'p>(looked: &Looked<'p>) -> Option<V1model<'p>> {
    let main = main(looked)?;
    if looked.facts.package(main) != Some(V1MODEL) {
        return None;
    }
    let part = |at: usize, name: &str| {
        let named = main.arguments.iter().any(|argument| argument.name.is_some());
        let is = |(index, argument): &(usize, &Argument)| match &argument.name {
            Some(given) => &*given.text == name,
            None => !named && *index == at,
        };
        let (_, argument) = main.arguments.iter().enumerate().find(is)?;
        block_of(looked, &argument.value)
    };
    Some(V1model { parser: part(0, "p")?, ingress: part(2, "ig")?, egress: part(3, "eg")?, deparser: part(5, "dep")? })
}

/// The parser or control that a constructor's call makes.
fn block_of<'p>(looked: &Looked<'p>, value: &Expr) -> Option<&'p Block> {
    let ExprKind::Call(callee, _, _) = &value.kind else { return None };
    let name = match &callee.kind {
        ExprKind::Name { name, .. } => name,
        ExprKind::Type(ty) => match &ty.kind {
            TypeKind::Named { name, .. } => name,
            _ => return None,
        },
        _ => return None,
    };
    let mut all = looked.blocks().filter(|block| block.name.text == name.text);
    // Of several with one name it is not known here which is meant.
    all.next().filter(|_| all.next().is_none())
}

fn no_main(looked: &mut Looked<'_>) {
    let is_package = |declaration: &crate::front::syntax::ast::Declaration| {
        matches!(declaration.kind, DeclarationKind::Package { .. })
    };
    if main(looked).is_some() || !looked.declarations().any(is_package) {
        return;
    }
    // Files that only declare an architecture, or functions, are no programs.
    let own = looked.blocks().filter(|block| looked.is_own(block.name.span)).last();
    if let Some(block) = own {
        looked.warn(block.name.span, Warned::NoMain {});
    }
}

/// Functions of v1model and sluice.p4 after which the port is decided another way.
const DECIDES: &[&str] = &[
    "mark_to_drop",
    "multicast",
    "resubmit",
    "resubmit_preserving_field_list",
    "recirculate",
    "recirculate_preserving_field_list",
];

fn no_egress_spec(looked: &mut Looked<'_>, parts: &V1model<'_>) {
    let mut decided = false;
    let mut see = |value: &Expr| {
        if let ExprKind::Call(callee, _, arguments) = &value.kind {
            if let ExprKind::Name { name, .. } = &callee.kind {
                decided |= DECIDES.contains(&&*name.text);
            }
            decided |= arguments.iter().any(|argument| is_port(&argument.value));
            decided |= gives_metadata(looked, callee, arguments);
        }
    };
    each_expression(looked, &mut see);
    each_statement(looked, &mut |statement| {
        if let StatementKind::Assign(left, ..) = &statement.kind {
            decided |= is_port(left) || is_standard_metadata(looked, left);
        }
    });
    if !decided {
        let ingress = format!("`{}`", parts.ingress.name.text);
        looked.warn(parts.ingress.name.span, Warned::NoEgressSpec { ingress });
    }
}

/// Whether an expression is what decides where a packet goes.
pub(super) fn is_port(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Member(_, member) => matches!(&*member.text, "egress_spec" | "mcast_grp"),
        ExprKind::Slice(value, ..) | ExprKind::Part(value, ..) => is_port(value),
        _ => false,
    }
}

/// Whether a program clones packets.
pub(super) fn clones(looked: &Looked<'_>) -> bool {
    let mut found = false;
    let mut see = |value: &Expr| {
        if let ExprKind::Call(callee, _, _) = &value.kind
            && let ExprKind::Name { name, .. } = &callee.kind
        {
            found |= name.text.starts_with("clone");
        }
    };
    each_expression(looked, &mut see);
    found
}

/// All expressions of a program's parsers, controls, actions and functions.
fn each_expression<'p>(looked: &Looked<'p>, see: &mut dyn FnMut(&'p Expr)) {
    looked.declarations().for_each(|declaration| walk::expressions_of(declaration, see));
}

/// All statements of these.
fn each_statement<'p>(looked: &Looked<'p>, see: &mut dyn FnMut(&'p Statement)) {
    looked.declarations().for_each(|declaration| walk::statements_of(declaration, see));
}

/// Whether an extern may write to the metadata that it is given.
fn gives_metadata(looked: &Looked<'_>, callee: &Expr, arguments: &[Argument]) -> bool {
    let facts = looked.facts;
    let writes = |signature: &Signature| {
        let pairs = signature.parameters.iter().zip(arguments);
        pairs.into_iter().any(|(parameter, argument)| {
            matches!(parameter.direction, Direction::Out | Direction::InOut)
                && is_standard_metadata(looked, &argument.value)
        })
    };
    match &callee.kind {
        ExprKind::Member(owner, member) => match facts.types.get(owner.at.id as usize) {
            Some(Type::Named(id, _)) => match &facts.definition(*id).kind {
                Kind::Extern { methods, .. } => methods.iter().any(|m| m.name == member.text && writes(m)),
                _ => false,
            },
            _ => false,
        },
        _ => facts.name(callee).is_some_and(|id| match &facts.definition(id).kind {
            Kind::Function(signature) => writes(signature),
            _ => false,
        }),
    }
}

fn is_standard_metadata(looked: &Looked<'_>, value: &Expr) -> bool {
    match looked.facts.types.get(value.at.id as usize) {
        Some(Type::Named(id, _)) => &*looked.facts.definition(*id).name == "standard_metadata_t",
        _ => false,
    }
}

/// Members that lead from a variable to a part of it; indices count for nothing.
pub(super) fn path(looked: &Looked<'_>, value: &Expr) -> Option<(DefId, Vec<Rc<str>>)> {
    match &value.kind {
        ExprKind::Name { .. } => Some((looked.facts.name(value)?, Vec::new())),
        ExprKind::Member(owner, member) => {
            let (root, mut path) = self::path(looked, owner)?;
            let of_stack = matches!(looked.facts.types.get(owner.at.id as usize), Some(Type::Stack(..)));
            if !of_stack {
                path.push(member.text.clone());
            }
            Some((root, path))
        }
        ExprKind::Index(owner, _) => self::path(looked, owner),
        _ => None,
    }
}

/// The definition of the parameter that has headers: the first one of that type.
pub(super) fn parameter_of(looked: &Looked<'_>, block: &Block, ty: DefId) -> Option<DefId> {
    block.parameters.iter().find_map(|parameter| {
        let id = looked.declared(&parameter.name)?;
        match &looked.facts.definition(id).kind {
            Kind::Variable { ty: Type::Named(of, _), .. } if *of == ty => Some(id),
            _ => None,
        }
    })
}

/// The type of the headers of a program for v1model: that of the parser's second parameter.
pub(super) fn headers_type(looked: &Looked<'_>, parts: &V1model<'_>) -> Option<(DefId, Type)> {
    let parameter = parts.parser.parameters.get(1)?;
    match &looked.facts.definition(looked.declared(&parameter.name)?).kind {
        Kind::Variable { ty: ty @ Type::Named(id, _), .. } => Some((*id, ty.clone())),
        _ => None,
    }
}

/// Calls of a method in a parser or control, with the place of their first argument, or of what it is a method of.
fn calls<'p>(
    looked: &Looked<'p>,
    block: &'p Block,
    method: &str,
    of_owner: bool,
) -> Vec<(&'p Expr, DefId, Vec<Rc<str>>)> {
    let mut all = Vec::new();
    block.body.iter().for_each(|body| {
        walk::expressions_of_body(body, &mut |value| {
            let ExprKind::Call(callee, _, arguments) = &value.kind else { return };
            let ExprKind::Member(owner, member) = &callee.kind else { return };
            if &*member.text != method {
                return;
            }
            let place = if of_owner { Some(&**owner) } else { arguments.first().map(|argument| &argument.value) };
            if let Some(place) = place
                && let Some((root, path)) = path(looked, place)
            {
                all.push((place, root, path));
            }
        });
    });
    all
}

fn not_emitted(looked: &mut Looked<'_>, parts: &V1model<'_>) {
    let Some((ty, _)) = headers_type(looked, parts) else { return };
    let (Some(parsed), Some(deparsed)) =
        (parameter_of(looked, parts.parser, ty), parameter_of(looked, parts.deparser, ty))
    else {
        return;
    };
    // What other controls emit is not followed, nor what is emitted of variables.
    let emitted = calls(looked, parts.deparser, "emit", false);
    let applies = !calls(looked, parts.deparser, "apply", true).is_empty() || applies_anything(parts.deparser);
    if applies || emitted.iter().any(|(_, root, _)| *root != deparsed) {
        return;
    }
    let mut removed: HashSet<Rc<str>> = looked
        .blocks()
        .flat_map(|block| calls(looked, block, "setInvalid", true))
        .filter_map(|(_, _, path)| path.last().cloned())
        .collect();
    // One that is assigned `{#}` is removed, and one that is copied to what is emitted is not lost.
    let is_emitted =
        |path: &[Rc<str>]| emitted.iter().any(|(_, _, other)| path.starts_with(other) || other.starts_with(path));
    each_statement(looked, &mut |statement| {
        let StatementKind::Assign(left, None, right) = &statement.kind else { return };
        let to = path(looked, left).map(|(_, path)| path);
        let right = walk::uncast(right);
        let gone = match &right.kind {
            ExprKind::Invalid => to,
            _ if to.is_none_or(|to| is_emitted(&to)) => path(looked, right).map(|(_, path)| path),
            _ => None,
        };
        removed.extend(gone.and_then(|path| path.last().cloned()));
    });
    let mut said = HashSet::new();
    for (place, root, path) in calls(looked, parts.parser, "extract", false) {
        let is_removed = path.last().is_none_or(|name| removed.contains(name));
        if root != parsed || is_emitted(&path) || is_removed || !said.insert(path.clone()) {
            continue;
        }
        let header = path.join(".");
        let deparser = format!("`{}`", parts.deparser.name.text);
        looked.warn(place.at.span, Warned::NotEmitted { header, deparser });
    }
}

fn applies_anything(block: &Block) -> bool {
    let mut found = block.kind != BlockKind::Control;
    block.body.iter().for_each(|body| {
        walk::expressions_of_body(body, &mut |value| {
            found |= matches!(&value.kind, ExprKind::Member(_, member) if &*member.text == "apply");
        });
    });
    found
}
