//! Where a tenant may send.

use super::LinkError;
use super::tenants::TenantSpec;
use crate::action::Action;
use crate::destination::{Destination, Destinations};
use sluice_formats::Target;

/// Refuses an action that the tenant may not have.
pub(super) fn check_action(target: &Target, spec: &TenantSpec, what: &str, action: &Action) -> Result<(), LinkError> {
    action.check().map_err(|error| LinkError::Object { object: what.to_owned(), error })?;
    check(target, spec, what, action.to)
}

/// Refuses a destination that the tenant may not have.
pub(super) fn check(target: &Target, spec: &TenantSpec, what: &str, to: Destinations) -> Result<(), LinkError> {
    for found in to.iter() {
        if found.number(target).is_none() {
            return Err(no_destination(target, what.to_owned(), found));
        }
        if !spec.queues.contains_key(&found) {
            let allowed = spec.destinations().to_string();
            let (what, tenant) = (what.to_owned(), spec.name.clone());
            return Err(LinkError::NotGranted { what, found, tenant, allowed });
        }
    }
    Ok(())
}

/// A destination that the target does not have.
pub(super) fn no_destination(target: &Target, what: String, found: Destination) -> LinkError {
    let allowed = format!("port0 to port{} and host0 to host{}", target.ports - 1, target.hosts - 1);
    LinkError::NoDestination { what, found, target: target.name, allowed }
}
