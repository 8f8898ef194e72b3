//! `policy`: how the tenants of a file share the pipeline's rows.

use super::TenantConfig;
use super::error::ConfigError;
use super::file::{ConfigFile, TenantTable};
use super::resolve::Resolver;
use sluice_formats::Target;
use sluice_object::linker::policy::{Claim, Policy, share_out};
use std::num::NonZeroU16;

impl Resolver<'_> {
    /// Gives each tenant rows for his tables, where a policy decides that over all of them.
    pub(super) fn share_rows(
        &self,
        file: &ConfigFile,
        target: &'static Target,
        tenants: &mut [TenantConfig],
    ) -> Result<(), ConfigError> {
        let policy = file.device.policy;
        if policy == Policy::Fixed {
            return Ok(());
        }
        let claims: Vec<Claim> =
            file.tenant.iter().zip(&*tenants).map(|(table, tenant)| claim(table, tenant)).collect();
        let given = share_out(target, policy, &claims);
        for ((table, tenant), given) in file.tenant.iter().zip(tenants).zip(given) {
            given.map_err(|error| self.not_linked(table, &error))?.give(&mut tenant.spec, tenant.object.as_mut());
        }
        Ok(())
    }
}

fn claim<'a>(table: &'a TenantTable, tenant: &'a TenantConfig) -> Claim<'a> {
    let p4 = table.p4.as_ref().map(|p4| p4.get_ref());
    Claim {
        weight: p4.and_then(|p4| p4.weight).map_or(1, NonZeroU16::get),
        said: p4.map(|p4| p4.reserve.keys().cloned().collect()).unwrap_or_default(),
        all_said: table.rmt.is_some(),
        ..Claim::new(&tenant.spec, tenant.object.as_ref())
    }
}
