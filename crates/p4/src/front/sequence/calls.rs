//! What programs do that is one for all of a sequence, and is refused where they would see each other by it.

use super::joint::Missed;
use super::part::Part;
use super::{Conflict, Joined};
use crate::front::source::Span;
use crate::front::syntax::ast::{Annotation, DeclarationKind, Expr, ExprKind};
use crate::front::warn::walk;
use std::collections::BTreeSet;

/// Calls after which a packet begins again.
const AGAIN: [&str; 4] =
    ["resubmit", "resubmit_preserving_field_list", "recirculate", "recirculate_preserving_field_list"];
/// Calls that keep the fields of a list.
const KEEPING: [&str; 2] = ["clone_preserving_field_list", "clone3"];

/// Where a program does something that concerns the others.
#[derive(Default)]
struct Found {
    old_drop: Option<Span>,
    again: Option<Span>,
    keeps: Option<Span>,
    checked: Option<Span>,
    after_egress: Option<Span>,
}

fn found(part: &Part) -> Found {
    let mut found = Found::default();
    let mut see = |value: &Expr| {
        let at = match &value.kind {
            ExprKind::Member(_, member) => match &*member.text {
                "checksum_error" => &mut found.checked,
                "E2E" => &mut found.after_egress,
                _ => return,
            },
            ExprKind::Call(callee, _, arguments) => match &callee.kind {
                ExprKind::Name { name, .. } if &*name.text == "mark_to_drop" && arguments.is_empty() => {
                    &mut found.old_drop
                }
                ExprKind::Name { name, .. } if AGAIN.contains(&&*name.text) => &mut found.again,
                ExprKind::Name { name, .. } if KEEPING.contains(&&*name.text) => &mut found.keeps,
                _ => return,
            },
            _ => return,
        };
        at.get_or_insert(value.at.span);
    };
    part.tree.declarations.iter().for_each(|declaration| walk::expressions_of(declaration, &mut see));
    found
}

/// Refuses what no program of a sequence does.
pub(super) fn check(part: &Part) -> Joined<()> {
    let Found { old_drop, again, .. } = found(part);
    if let Some(span) = old_drop {
        let what = "`mark_to_drop()` is not seen by the next program; `mark_to_drop(STANDARD)` is";
        return Err(Conflict::new(span, what));
    }
    match again {
        Some(span) => Err(Conflict::new(span, "a packet that begins again would meet all programs again")),
        None => Ok(()),
    }
}

/// Refuses lists of fields that one program keeps and the other has.
pub(super) fn check_both(one: &Part, two: &Part) -> Joined<()> {
    let (first, second) = (found(one), found(two));
    for (keeps, other) in [(first.keeps, two), (second.keeps, one)] {
        if let Some((span, list)) = keeps.zip(field_list(other)) {
            let what = "a list of fields that a program keeps, and the numbers of lists are those of all programs";
            return Err(Conflict::with(span, what, list));
        }
    }
    Ok(())
}

/// Refuses an error of checksums that one program asks for and the other finds by checksums that this one does not verify: where each has such, if any.
pub(super) fn check_error(parts: [&Part; 2], alone: [Option<Span>; 2]) -> Joined<()> {
    let asks = parts.map(|part| found(part).checked);
    let both = [asks[0].zip(alone[1]), asks[1].zip(alone[0])];
    match both.into_iter().flatten().next() {
        Some((asks, finds)) => {
            let what = "`checksum_error` is one for all programs, and the other one verifies a checksum that this one does not";
            Err(Conflict::with(asks, what, finds))
        }
        None => Ok(()),
    }
}

/// Refuses clones after egress where a program misses a header: they lose what says so.
pub(super) fn check_missed(missed: &BTreeSet<Missed>, parts: [&Part; 2]) -> Joined<()> {
    let Some(one) = missed.iter().next() else { return Ok(()) };
    match parts.into_iter().find_map(|part| found(part).after_egress) {
        Some(span) => {
            let what = format!(
                "a clone after egress, where `{}` is a header that only one program has on some ways",
                one.field
            );
            Err(Conflict::new(span, what))
        }
        None => Ok(()),
    }
}

/// The first `@field_list` of a program's metadata.
fn field_list(part: &Part) -> Option<Span> {
    let is_list = |annotation: &&Annotation| &*annotation.name.text == "field_list";
    part.tree.declarations.iter().find_map(|declaration| match &declaration.kind {
        DeclarationKind::Fields { fields, .. } => {
            fields.iter().flat_map(|field| &field.annotations).find(is_list).map(|list| list.name.span)
        }
        _ => None,
    })
}
