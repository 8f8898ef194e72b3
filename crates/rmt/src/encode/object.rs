//! Objects that carry the rows of a program.

use super::decode;
use crate::check::{Problem, Role};
use crate::program::Program;
use crate::target::Target;
use sluice_object::{Action, Demands, KeySpec, Object, RmtPart, TargetNeed};

/// An object with these rows for a target. Whether its name is one, `Object::check` says.
pub fn object(name: &str, part: RmtPart, demands: Demands, target: &Target) -> Object {
    let mut object = Object::new(name, KeySpec::NONE, Action::DROP);
    object.target = TargetNeed::Exact { name: target.name.to_owned(), hash: target.hash() };
    object.demands = demands;
    object.parts.rmt = Some(Box::new(part));
    object
}

/// The target that an object's rows are for.
pub fn target_of(object: &Object) -> Option<&'static Target> {
    let TargetNeed::Exact { hash, .. } = &object.target else { return None };
    Target::every().find(|t| t.hash() == *hash)
}

/// Whose program the rows are.
pub fn role_of(part: &RmtPart) -> Role {
    if part.system { Role::System } else { Role::Tenant }
}

/// The program that an object carries; none if it is of another kind. What no checked program has is refused.
pub fn program_of(object: &Object) -> Result<Option<Program>, Problem> {
    match (&object.parts.rmt, target_of(object)) {
        (Some(part), Some(target)) => decode(part, target, role_of(part)).map(Some),
        _ => Ok(None),
    }
}
