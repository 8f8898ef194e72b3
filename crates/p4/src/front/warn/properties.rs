//! Properties of tables that nothing reads: a name that is none of P4's, and none of the architecture's.

use super::main_package::{V1MODEL, main};
use super::{Looked, Warned, is_silenced};
use crate::front::check::nearest;
use crate::front::interpret::SYSTEM;
use crate::front::syntax::ast::DeclarationKind;
use std::rc::Rc;

/// Properties that P4-16 itself names, and those of v1model and sluice.p4.
const KNOWN: [&str; 11] = [
    "key",
    "actions",
    "default_action",
    "size",
    "entries",
    "largest_priority_wins",
    "priority_delta",
    "implementation",
    "counters",
    "meters",
    "support_timeout",
];

pub(super) fn look(looked: &mut Looked<'_>) {
    let names: Vec<Rc<str>> = KNOWN.iter().map(|name| Rc::from(*name)).collect();
    // Another architecture has properties of its own; there only what is nearly one of these is told.
    let package = main(looked).and_then(|main| looked.facts.package(main));
    let all_known = matches!(package, Some(V1MODEL | SYSTEM));
    for block in looked.blocks() {
        let locals = block.body.iter().flat_map(|body| &body.locals);
        for local in locals {
            let DeclarationKind::Table { name, properties } = &local.kind else { continue };
            for property in properties {
                let silent = [&local.annotations, &property.annotations];
                let word = &*property.name.text;
                if KNOWN.contains(&word) || silent.iter().any(|all| is_silenced(all, "unknown-property")) {
                    continue;
                }
                let near = nearest(word, names.iter());
                if near.is_some() || all_known {
                    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    let (name, table) = (word.to_string(), name.text.to_string());
                    looked.warn(property.name.span, Warned::UnknownProperty { name, table, hint });
                }
            }
        }
    }
}
